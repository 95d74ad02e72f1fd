// SPDX-License-Identifier: GPL-2.0-or-later
/* Buffers that a command gives as a list of pages. */
#include "dev.h"
#include "heap.h"

#define RING_SHIFT_MIN  12
#define RING_SHIFT_MAX  43      /* log_page_size has 5 bits */

MocxStatus mocx_ring_init(MocxDev *dev, MocxRing *r, const uint8_t *pas,
                          uint32_t npas, unsigned log_page_size,
                          unsigned page_offset, uint64_t size)
{
    unsigned shift = RING_SHIFT_MIN + log_page_size;
    uint64_t need, offset;

    if (shift > RING_SHIFT_MAX || page_offset > 63 || !size ||
        size > 1ULL << 40) {
        return MOCX_BAD_PARAM;
    }
    offset = (uint64_t)page_offset << (shift - 6);
    need = (offset + size + (1ULL << shift) - 1) >> shift;
    if (need > npas) {
        return MOCX_BAD_PARAM;
    }
    if (dev->verify) {
        mocx_verify_page_list(dev, npas, need);
    }
    r->pages = mocx_malloc(&dev->heap, need * sizeof(*r->pages));
    if (!r->pages) {
        return MOCX_NO_RES;
    }
    for (uint64_t i = 0; i < need; i++) {
        r->pages[i] = mocx_get_be64(pas + i * 8);
        if (r->pages[i] & ((1ULL << shift) - 1)) {
            mocx_ring_fini(r);
            return MOCX_BAD_PARAM;
        }
    }
    r->npages = need;
    r->page_shift = shift;
    r->page_offset = offset;
    r->size = size;
    return MOCX_OK;
}

void mocx_ring_fini(MocxRing *r)
{
    mocx_free(r->pages);
    *r = (MocxRing) { 0 };
}

uint64_t mocx_ring_addr(const MocxRing *r, uint64_t off, size_t *contiguous)
{
    uint64_t pos = off + r->page_offset;
    uint64_t in_page = pos & ((1ULL << r->page_shift) - 1);

    *contiguous = (1ULL << r->page_shift) - in_page;
    return r->pages[pos >> r->page_shift] + in_page;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool mocx_ring_read(MocxDev *dev, const MocxRing *r, uint64_t base,
                    uint64_t span, uint64_t off, void *buf, size_t len)
{
    uint8_t *to = buf;

    if (!span || base + span > r->size) {
        return false;
    }
    for (off %= span; len;) {
        size_t run;
        uint64_t addr = mocx_ring_addr(r, base + off, &run);
        size_t n = min_size(min_size(run, span - off), len);

        if (!mocx_dma_read(dev, addr, to, n)) {
            return false;
        }
        to += n;
        len -= n;
        off = off + n == span ? 0 : off + n;
    }
    return true;
}

bool mocx_ring_publish(MocxDev *dev, const MocxRing *r, uint64_t off,
                       const void *entry, size_t len)
{
    size_t run;
    uint64_t addr;

    if (off + len > r->size) {
        return false;
    }
    addr = mocx_ring_addr(r, off, &run);
    if (run >= len && mocx_dma_on(dev) &&
        dev->ops->publish(dev->opaque, addr, entry, len)) {
        return true;
    }
    if (dev->verify) {
        mocx_verify_no_dma(dev, addr, len, "written");
    }
    return false;
}
