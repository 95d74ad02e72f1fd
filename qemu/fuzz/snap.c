/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "snap.h"

#define PAGES   (HOST_MEM_SIZE / HOST_PAGE)

/* @page: copies of the first @n pages of known[]; what is alike is shared. */
struct Snap {
    ArenaCopy *arena;
    uint8_t *mem;
    uint32_t n;
    uint8_t **page;
};

static uint8_t zeros[HOST_PAGE];
static uint32_t known[PAGES], num_known;    /* pages that some snap has */
static uint32_t place[PAGES];               /* in known[], and one more; or 0 */
static uint32_t dirty[PAGES], num_dirty;
static bool is_dirty[PAGES];
static const Snap *now;                     /* what memory is, but for @dirty */

void snap_touched(Host *h, uint64_t gpa, size_t len)
{
    uint64_t first = (gpa - HOST_MEM_BASE) / HOST_PAGE;
    uint64_t last = (gpa - HOST_MEM_BASE + len - 1) / HOST_PAGE;

    (void)h;
    for (uint64_t i = first; len && i <= last && i < PAGES; i++) {
        if (!is_dirty[i]) {
            is_dirty[i] = true;
            dirty[num_dirty++] = i;
        }
    }
}

static uint8_t *page_of(const Snap *snap, uint32_t i)
{
    uint32_t at = place[i];

    return snap && at && at <= snap->n ? snap->page[at - 1] : zeros;
}

static uint8_t *page_copy(const uint8_t *mem, uint8_t *like)
{
    uint8_t *copy;

    if (!memcmp(mem, like, HOST_PAGE)) {
        return like;
    }
    copy = malloc(HOST_PAGE);
    return memcpy(copy, mem, HOST_PAGE);
}

static void clean(void)
{
    while (num_dirty) {
        is_dirty[dirty[--num_dirty]] = false;
    }
}

Snap *snap_take(Host *h)
{
    Snap *snap = calloc(1, sizeof(*snap));

    for (uint32_t i = 0; i < num_dirty; i++) {
        if (!place[dirty[i]]) {
            known[num_known++] = dirty[i];
            place[dirty[i]] = num_known;
        }
    }
    snap->mem = h->mem;
    snap->n = num_known;
    snap->page = calloc(num_known + 1, sizeof(*snap->page));
    for (uint32_t i = 0; i < num_known; i++) {
        snap->page[i] = page_copy(h->mem + known[i] * (size_t)HOST_PAGE,
                                  page_of(now, known[i]));
    }
    clean();
    now = snap;
    snap->arena = arena_copy();
    return snap;
}

static void page_restore(const Snap *snap, uint32_t i)
{
    memcpy(snap->mem + i * (size_t)HOST_PAGE, page_of(snap, i), HOST_PAGE);
}

void snap_restore(const Snap *snap)
{
    if (arena_plain()) {
        return;
    }
    for (uint32_t i = 0; i < num_dirty; i++) {
        page_restore(snap, dirty[i]);
    }
    for (uint32_t i = 0; now != snap && i < num_known; i++) {
        if (page_of(snap, known[i]) != page_of(now, known[i])) {
            page_restore(snap, known[i]);
        }
    }
    clean();
    now = snap;
    arena_restore(snap->arena);
}
