// SPDX-License-Identifier: GPL-2.0-or-later
/* Verifier mode: objects and pages that were left, memory that is not there. */
#include "dev.h"
#include "heap.h"
#include "page.h"
#include "verify_state.h"

#define PAGE_SHIFT  12

/* Left behind */

void mocx_verify_teardown(MocxDev *dev)
{
    for (unsigned i = 0; i < MOCX_OBJ_TYPES; i++) {
        if (dev->live[i]) {
            mocx_breach(dev, MOCX_RULE_OBJECT_LEFT, i,
                        "teardown with %u %s alive", dev->live[i],
                        mocx_obj_type_name(i));
        }
    }
}

void mocx_verify_pages(MocxDev *dev)
{
    uint32_t held = mocx_pages_held(dev);

    if (held) {
        mocx_breach(dev, MOCX_RULE_PAGE_LEFT, 0,
                    "disabled with %u firmware pages not taken back", held);
    }
    mocx_verify_forget_pages(dev);
}

/* Nobody can put dead firmware in order. */
void mocx_verify_reset(MocxDev *dev)
{
    if (dev->state == MOCX_ST_INITIALIZED && !dev->health_rfr &&
        !dev->nic_interface) {
        mocx_verify_teardown(dev);
    }
}

/* Pages of the firmware, which are nobody else's */

static MocxPageMap *piece_of(const MocxVerify *v, uint64_t frame)
{
    MocxPageMap *map = v->pages;

    while (map && map->piece != frame / MOCX_MAP_FRAMES) {
        map = map->next;
    }
    return map;
}

static bool page_known(const MocxVerify *v, uint64_t addr)
{
    uint64_t frame = addr >> PAGE_SHIFT;
    const MocxPageMap *map = piece_of(v, frame);
    uint32_t i = frame % MOCX_MAP_FRAMES;

    return map && map->bits[i / 8] >> (i % 8) & 1;
}

static void page_set(MocxVerify *v, uint64_t addr, bool on)
{
    uint64_t frame = addr >> PAGE_SHIFT;
    MocxPageMap *map = piece_of(v, frame);
    uint32_t i = frame % MOCX_MAP_FRAMES;

    if (!map) {
        map = mocx_calloc(mocx_heap_of(v), 1, sizeof(*map));
        if (!map) {
            return;     /* the rule misses what it cannot remember */
        }
        map->piece = frame / MOCX_MAP_FRAMES;
        map->next = v->pages;
        v->pages = map;
    }
    map->bits[i / 8] &= ~(1u << i % 8);
    map->bits[i / 8] |= on << i % 8;
}

void mocx_verify_forget_pages(MocxDev *dev)
{
    MocxPageMap *map = dev->verify->pages, *next;

    for (; map; map = next) {
        next = map->next;
        mocx_free(map);
    }
    dev->verify->pages = NULL;
}

void mocx_verify_page(MocxDev *dev, uint64_t addr, bool given)
{
    if (given) {
        mocx_verify_addr(dev, addr, "a page given again");
    }
    page_set(dev->verify, addr, given);
}

void mocx_verify_addr(MocxDev *dev, uint64_t addr, const char *what)
{
    if (page_known(dev->verify, addr)) {
        mocx_breach(dev, MOCX_RULE_FIRMWARE_PAGE, addr >> PAGE_SHIFT,
                    "%s is at 0x%llx, in a page that the firmware holds",
                    what, (unsigned long long)addr);
    }
}

/*
 * A driver lists the pages from the ring's start to its end: one too many, and
 * it takes the start for another place than its offset tells.
 */
void mocx_verify_page_list(MocxDev *dev, uint32_t given, uint32_t needed)
{
    if (given != needed) {
        mocx_breach(dev, MOCX_RULE_PAGE_LIST, given,
                    "a command lists %u pages for a ring that spans %u",
                    given, needed);
    }
}

/* Access */

void mocx_verify_no_dma(MocxDev *dev, uint64_t addr, size_t len,
                        const char *verb)
{
    if (mocx_dma_on(dev)) {
        mocx_breach(dev, MOCX_RULE_DMA_NOWHERE, addr >> PAGE_SHIFT,
                    "%zu bytes at 0x%llx cannot be %s: no memory there", len,
                    (unsigned long long)addr, verb);
    }
}

void mocx_verify_key(MocxDev *dev, uint32_t key, uint32_t qpn)
{
    if (mocx_table_was(&dev->mkeys, key >> 8)) {
        mocx_breach(dev, MOCX_RULE_DESTROYED_KEY, key,
                    "queue %u uses lkey 0x%x, which was destroyed", qpn, key);
    }
}

void mocx_verify_foreign(MocxDev *dev, const char *what, uint32_t id,
                         uint32_t uar)
{
    mocx_breach(dev, MOCX_RULE_FOREIGN_DOORBELL, (uint64_t)uar << 32 | id,
                "doorbell of %s %u on UAR %u, which is not its own", what, id,
                uar);
}
