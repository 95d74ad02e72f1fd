/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mocx: guest memory, as the model's host operations see it.
 *
 * Pages are mapped once per entry into the core and dropped when it returns.
 * A write mapping is marked dirty only then, which also drops TCG's
 * translations of what was overwritten.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "hw/pci/pci_device.h"
#include "trace.h"
#include "state.h"

#define MOCX_PAGE_BITS  12
#define MOCX_PAGE_SIZE  (1ULL << MOCX_PAGE_BITS)

void mocx_hw_dma_init(MocxState *s)
{
    s->maps = g_array_new(false, false, sizeof(MocxMap));
}

void mocx_hw_dma_exit(MocxState *s)
{
    g_array_free(s->maps, true);
    s->maps = NULL;
}

static unsigned *mocx_map_slot(MocxState *s, uint64_t addr, bool write)
{
    return &s->map_slot[write][(addr >> MOCX_PAGE_BITS) % MOCX_MAP_SLOTS];
}

void mocx_hw_dma_done(MocxState *s)
{
    AddressSpace *as = pci_get_address_space(PCI_DEVICE(s));

    if (!s->maps->len) {
        return;
    }
    for (unsigned i = 0; i < s->maps->len; i++) {
        MocxMap *map = &g_array_index(s->maps, MocxMap, i);

        address_space_unmap(as, map->host, map->len, map->write, map->len);
    }
    g_array_set_size(s->maps, 0);
    memset(s->map_slot, 0, sizeof(s->map_slot));
}

static MocxMap *mocx_map_find(MocxState *s, uint64_t addr, bool write)
{
    unsigned slot = *mocx_map_slot(s, addr, write);
    MocxMap *map;

    if (!slot) {
        return NULL;
    }
    map = &g_array_index(s->maps, MocxMap, slot - 1);
    return addr - map->addr < map->len ? map : NULL;
}

static MocxMap *mocx_map_new(MocxState *s, uint64_t addr, bool write)
{
    /*
     * The whole page, since rings, records and payload come back to it.  What
     * is not RAM has no mapping, since bounce buffers are off (see
     * instance_init), and without a mapping there is no access: a register of
     * a device, or of a bridge, may end or reset this device while it runs.
     */
    MocxMap map = {
        .addr = addr & ~(MOCX_PAGE_SIZE - 1),
        .len = MOCX_PAGE_SIZE,
        .write = write,
    };

    map.host = address_space_map(pci_get_address_space(PCI_DEVICE(s)),
                                 map.addr, &map.len, write,
                                 MEMTXATTRS_UNSPECIFIED);
    if (!map.host) {
        return NULL;
    }
    g_array_append_val(s->maps, map);
    *mocx_map_slot(s, addr, write) = s->maps->len;
    return &g_array_index(s->maps, MocxMap, s->maps->len - 1);
}

/*
 * One page at most: guest pages that follow each other in a mkey need not do so
 * in memory, and callers loop anyway.
 */
void *mocx_hw_dma_map(void *opaque, uint64_t addr, size_t *len, bool write)
{
    MocxState *s = opaque;
    MocxMap *map;
    uint64_t offset;

    if (mocx_hw_quiet(s)) {
        return NULL;
    }
    map = mocx_map_find(s, addr, write);
    if (!map) {
        map = mocx_map_new(s, addr, write);
    }
    if (!map) {
        return NULL;
    }
    offset = addr - map->addr;
    if (offset >= map->len) {
        return NULL;
    }
    *len = MIN(*len, map->len - offset);
    return map->host + offset;
}

/*
 * memcpy() may split a word; a vCPU may be storing it right now.  Doorbell
 * records are read through here, and what they announce is read after.
 */
static void mocx_copy_from(void *buf, const uint8_t *host, size_t len)
{
    if (len == 4 && QEMU_PTR_IS_ALIGNED(host, 4)) {
        uint32_t word = qatomic_read((const uint32_t *)host);

        memcpy(buf, &word, sizeof(word));
    } else if (len == 8 && QEMU_PTR_IS_ALIGNED(host, 8)) {
        uint64_t word = qatomic_read((const uint64_t *)host);

        memcpy(buf, &word, sizeof(word));
    } else {
        memcpy(buf, host, len);
    }
    /* A record before what it announces; pairs with the driver's dma_wmb(). */
    smp_rmb();
}

bool mocx_hw_dma_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
    MocxState *s = opaque;
    uint8_t *dst = buf;

    while (len) {
        size_t part = len;
        uint8_t *host = mocx_hw_dma_map(s, addr, &part, false);

        if (!host) {
            trace_mocx_dma_error(addr, len, "read");
            return false;
        }
        mocx_copy_from(dst, host, part);
        dst += part;
        addr += part;
        len -= part;
    }
    return true;
}

bool mocx_hw_dma_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
    MocxState *s = opaque;
    const uint8_t *src = buf;

    while (len) {
        size_t part = len;
        uint8_t *host = mocx_hw_dma_map(s, addr, &part, true);

        if (!host) {
            trace_mocx_dma_error(addr, len, "write");
            return false;
        }
        memcpy(host, src, part);
        src += part;
        addr += part;
        len -= part;
    }
    return true;
}

bool mocx_hw_dma_publish(void *opaque, uint64_t addr, const void *buf,
                         size_t len)
{
    const uint8_t *src = buf;
    size_t body = len - sizeof(uint32_t);
    size_t part = sizeof(uint32_t);
    uint32_t last;
    void *host;

    if (body && !mocx_hw_dma_write(opaque, addr, src, body)) {
        return false;
    }
    host = mocx_hw_dma_map(opaque, addr + body, &part, true);
    /* A page of RAM is never cut within an aligned dword. */
    if (!host || part < sizeof(last)) {
        return false;
    }
    memcpy(&last, src + body, sizeof(last));
    /* The body before its owner bit; pairs with the driver's dma_rmb(). */
    smp_wmb();
    qatomic_set((uint32_t *)host, last);
    return true;
}

bool mocx_hw_dma_cmpxchg64(void *opaque, uint64_t addr, uint64_t cmp,
                        uint64_t swap, uint64_t *old)
{
    size_t len = sizeof(uint64_t);
    void *host = mocx_hw_dma_map(opaque, addr, &len, true);

    if (!host || len < sizeof(uint64_t)) {
        return false;
    }
    *old = qatomic_cmpxchg((uint64_t *)host, cmp, swap);
    return true;
}
