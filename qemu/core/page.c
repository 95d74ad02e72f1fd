// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Firmware pages.
 *
 * A card keeps its contexts in memory that the driver lends it.  The model has
 * memory of its own and never touches these pages, but asks, counts and
 * returns as a card does: at boot, at init, and while objects are made.
 */
#include "dev.h"
#include "heap.h"
#include "page.h"

#define PAGE_SIZE           4096u
#define OBJECTS_PER_PAGE    32
#define PAGES_STEP          16      /* asked for, or offered, at once */

enum { QUERY_BOOT = 1, QUERY_INIT = 2, QUERY_REGULAR = 3 };
enum { MANAGE_CANT_GIVE = 0, MANAGE_GIVE = 1, MANAGE_TAKE = 2 };

#define SYND_PAGES_OP       0x9a9e0001u
#define SYND_PAGES_LEN      0x9a9e0002u
#define SYND_PAGES_MANY     0x9a9e0003u
#define SYND_PAGES_ADDR     0x9a9e0004u
#define SYND_PAGES_ROOM     0x9a9e0005u

struct MocxPages {
    uint64_t *addrs;
    uint32_t held, cap;
    uint32_t want;          /* what the device may hold as things stand */
    uint32_t runtime;       /* share of @want that follows the objects */
};

uint32_t mocx_pages_held(const MocxDev *dev)
{
    return dev->pages->held;
}

bool mocx_pages_ready(const MocxDev *dev)
{
    return dev->pages->held >= dev->cfg.boot_pages + dev->cfg.init_pages;
}

void mocx_pages_release(MocxDev *dev)
{
    dev->pages->want = 0;
    dev->pages->runtime = 0;
}

void mocx_pages_forget(MocxDev *dev)
{
    if (dev->verify) {
        mocx_verify_pages(dev);
    }
    if (dev->pages->held) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR,
                 "disabled with %u firmware pages not taken back",
                 dev->pages->held);
    }
    dev->pages->held = 0;
    mocx_pages_release(dev);
}

/* Run-time pages */

static void page_request(MocxDev *dev, int32_t pages)
{
    uint8_t data[28] = { 0 };

    mocx_put_be32(data + 4, pages);     /* function 0 */
    mocx_event(dev, MOCX_EV_PAGE_REQ, 0, data);
}

static uint32_t runtime_need(const MocxDev *dev)
{
    uint64_t objects = 0;

    for (unsigned i = 0; i < MOCX_OBJ_TYPES; i++) {
        objects += dev->live[i];
    }
    return objects / OBJECTS_PER_PAGE;
}

void mocx_pages_balance(MocxDev *dev)
{
    MocxPages *p = dev->pages;
    uint32_t need;

    if (dev->state != MOCX_ST_INITIALIZED ||
        !mocx_event_wanted(dev, MOCX_EV_PAGE_REQ)) {
        return;
    }
    need = runtime_need(dev);
    if (need > p->runtime) {
        p->runtime += PAGES_STEP;
        p->want += PAGES_STEP;
        page_request(dev, PAGES_STEP);
    } else if (p->runtime >= need + 2 * PAGES_STEP) {
        p->runtime -= PAGES_STEP;
        p->want -= PAGES_STEP;
        page_request(dev, -PAGES_STEP);
    }
}

/* Commands */

static MocxStatus pages_query(MocxDev *dev, MocxCmd *cmd)
{
    MocxPages *p = dev->pages;

    switch (cmd->op_mod) {
    case QUERY_BOOT:
        p->want = dev->cfg.boot_pages;
        break;
    case QUERY_INIT:
        p->want = dev->cfg.boot_pages + dev->cfg.init_pages;
        break;
    case QUERY_REGULAR:
        break;
    default:
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_PAGES_OP,
                        "QUERY_PAGES knows no op_mod %u", cmd->op_mod);
    }
    DEVX_SET(query_pages_out, cmd->out, num_pages, p->want - p->held);
    return MOCX_OK;
}

static bool pages_room(MocxPages *p, uint32_t n)
{
    uint64_t *addrs;

    if (p->cap >= n) {
        return true;
    }
    addrs = mocx_realloc(mocx_heap_of(p), p->addrs, n * sizeof(*addrs));
    if (!addrs) {
        return false;
    }
    p->addrs = addrs;
    p->cap = n;
    return true;
}

static MocxStatus pages_give(MocxDev *dev, MocxCmd *cmd, uint32_t n)
{
    const uint8_t *pas = cmd->in + DEVX_ST_SZ_BYTES(manage_pages_in);
    MocxPages *p = dev->pages;

    if (n > (cmd->inlen - DEVX_ST_SZ_BYTES(manage_pages_in)) / 8) {
        return mocx_bad(dev, cmd, MOCX_BAD_INPUT_LEN, SYND_PAGES_LEN,
                        "%u pages in %u bytes", n, cmd->inlen);
    }
    if (p->held > p->want || n > p->want - p->held) {
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_PAGES_MANY,
                        "%u pages given, %u held of %u", n, p->held, p->want);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t pa = mocx_get_be64(pas + i * 8);

        if (!pa || pa & (PAGE_SIZE - 1)) {
            return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_PAGES_ADDR,
                            "page %u is at 0x%llx", i, (unsigned long long)pa);
        }
    }
    if (!pages_room(p, p->held + n)) {
        return MOCX_NO_RES;
    }
    for (uint32_t i = 0; i < n; i++) {
        p->addrs[p->held++] = mocx_get_be64(pas + i * 8);
    }
    return MOCX_OK;
}

static MocxStatus pages_take(MocxDev *dev, MocxCmd *cmd, uint32_t n)
{
    uint8_t *pas = cmd->out + DEVX_ST_SZ_BYTES(manage_pages_out);
    MocxPages *p = dev->pages;
    uint32_t room = (cmd->outlen - DEVX_ST_SZ_BYTES(manage_pages_out)) / 8;
    /* Between ENABLE_HCA and INIT_HCA a driver may turn back. */
    uint32_t keep = dev->state == MOCX_ST_INITIALIZED ? p->want : 0;
    uint32_t spare = p->held > keep ? p->held - keep : 0;

    if (n > room) {
        return mocx_bad(dev, cmd, MOCX_BAD_OUTPUT_LEN, SYND_PAGES_ROOM,
                        "room for %u pages of %u", room, n);
    }
    n = n < spare ? n : spare;
    for (uint32_t i = 0; i < n; i++) {
        mocx_put_be64(pas + i * 8, p->addrs[--p->held]);
    }
    DEVX_SET(manage_pages_out, cmd->out, output_num_entries, n);
    cmd->defined = DEVX_ST_SZ_BYTES(manage_pages_out) + n * 8;
    return MOCX_OK;
}

static MocxStatus pages_manage(MocxDev *dev, MocxCmd *cmd)
{
    uint32_t n = DEVX_GET(manage_pages_in, cmd->in, input_num_entries);

    switch (cmd->op_mod) {
    case MANAGE_CANT_GIVE:
        /* The driver has none: do without those that were asked for. */
        dev->pages->want = dev->pages->held;
        return MOCX_OK;
    case MANAGE_GIVE:
        return pages_give(dev, cmd, n);
    case MANAGE_TAKE:
        return pages_take(dev, cmd, n);
    default:
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_PAGES_OP,
                        "MANAGE_PAGES knows no op_mod %u", cmd->op_mod);
    }
}

#define ST (MOCX_ST_ENABLED | MOCX_ST_INITIALIZED)

static const MocxCmdRow rows[] = {
    MOCX_ROW(QUERY_PAGES, query_pages, ST, pages_query),
    MOCX_ROW(MANAGE_PAGES, manage_pages, ST, pages_manage),
};

const MocxCmdRows mocx_rows_page = { rows, sizeof(rows) / sizeof(rows[0]) };

/* Life cycle */

static bool page_create(MocxDev *dev)
{
    dev->pages = mocx_calloc(&dev->heap, 1, sizeof(*dev->pages));
    return dev->pages;
}

static void page_reset(MocxDev *dev)
{
    dev->pages->held = 0;
    mocx_pages_release(dev);
}

static void page_destroy(MocxDev *dev)
{
    if (dev->pages) {
        mocx_free(dev->pages->addrs);
        mocx_free(dev->pages);
        dev->pages = NULL;
    }
}

const MocxModule mocx_mod_page = {
    .name = "page",
    .create = page_create,
    .reset = page_reset,
    .destroy = page_destroy,
};
