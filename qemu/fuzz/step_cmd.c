/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands: a template, with numbers of what is alive, and then spoiled. */
#include "core/dev.h"
#include "core/names.h"
#include "core/steer.h"
#include "grammar.h"
#include "step.h"

#define MESSAGE_MAX     8192
#define PICKS           4
#define SPOILS          3

enum {                          /* of a step's flags */
    LENGTHS = 0x0f,             /* 0: they are right; see pick_len() */
    SPOIL_ENTRY = 0x10,
    NO_RING = 0x20,             /* the doorbell comes with the next */
    SECOND_SLOT = 0x40,
};

uint32_t pick_object(Bed *bed, unsigned type, uint8_t pick)
{
    const MocxTable *t = mocx_table_of(bed->h->dev, type);
    uint32_t n = bed->h->dev->live[type], i;

    if (!t || !n) {
        return 0;
    }
    n = pick % n;
    for (i = 0; i < t->cap; i++) {
        if (t->slots[i] && t->slots[i]->type == type && !n--) {
            return t->slots[i]->id;
        }
    }
    return 0;
}

uint64_t pick_address(Bed *bed, uint8_t pick)
{
    static const uint64_t odd[] = {
        0, 1, 0xfff, HOST_MEM_BASE - 1, HOST_MEM_BASE + HOST_MEM_SIZE - 8,
        HOST_MEM_BASE + HOST_MEM_SIZE, UINT64_MAX - 7, 1ULL << 63,
    };

    if (pick >= 248) {
        return odd[pick - 248];
    }
    if (pick >= 240 && bed->d->num_pages) {
        return bed->d->pages[pick % bed->d->num_pages];
    }
    return bed->scratch + pick % BED_SCRATCH * HOST_PAGE +
           (pick >= 192 ? pick : 0);
}

static void put_number(Bed *bed, const MocxName *name, uint8_t *in,
                       uint32_t len, uint8_t pick)
{
    uint64_t value;

    for (uint32_t i = 0; i < 32 && mocx_name_get(name, in, len, i, &value);
         i++) {
        if (!value && name->stride) {
            continue;
        }
        value = pick >= 240 ? pick - 240u
                : pick < 224 ? pick_object(bed, name->kind, pick + i) : value;
        mocx_name_put(name, in, i, value);
    }
}

static void put_names(Bed *bed, const Template *t, uint8_t *in, uint32_t len,
                      const uint8_t pick[PICKS])
{
    const MocxName *name = mocx_name_first(mocx_get_be16(in));
    uint64_t old;

    for (unsigned k = 0; name; name = mocx_name_next(name)) {
        if (name->output) {
            continue;
        }
        if (name->kind < MOCX_OBJ_TYPES) {
            put_number(bed, name, in, len, pick[k++ % PICKS]);
        } else if (name->kind == MOCX_NAME_ADDR &&
                   mocx_name_get(name, in, len, 0, &old)) {
            mocx_name_put(name, in, 0, pick_address(bed, pick[PICKS - 1]));
        }
    }
    for (uint32_t i = 0; t->list && t->list + i * 8 + 8 <= len; i++) {
        mocx_put_be64(in + t->list + i * 8,
                      pick_address(bed, pick[PICKS - 2]) + i * HOST_PAGE);
    }
}

static size_t pick_len(uint8_t how, uint8_t by, size_t len)
{
    switch (how % 16) {
    case 1:
        return by;
    case 2:
        return len + by * 8;
    case 3:
        return len > by % 16 ? len - by % 16 : len;
    case 4:
        return by * 32;
    default:
        return len;
    }
}

static void issue(Bed *bed, uint8_t flags, const uint8_t *in, size_t inlen,
                  size_t outlen, Bytes *b)
{
    unsigned slot = flags & SECOND_SLOT ? 1 : 0;

    drv_cmd_fill(bed->d, slot, in, inlen, outlen);
    if (flags & SPOIL_ENTRY) {
        bytes_spoil(b, drv_cmd_entry(bed->d, slot), 64);
    }
    if (flags & NO_RING) {
        return;
    }
    drv_cmd_ring(bed->d, 1u << slot | (flags & SECOND_SLOT ? 1 : 0));
    CHECK(bed->deaf || drv_cmd_poll(bed->d, slot) != DRV_PENDING,
          "command 0x%x was not answered", mocx_get_be16(in));
}

void step_command(Bed *bed, Bytes *b)
{
    const Template *t = grammar_pick(bytes_u8(b));
    uint8_t flags = bytes_u8(b), by = bytes_u8(b), pick[PICKS];
    uint8_t in[MESSAGE_MAX] = { 0 };
    size_t inlen = pick_len(flags & LENGTHS, by, t->inlen);
    size_t outlen = pick_len(flags & LENGTHS, by, t->outlen);

    for (unsigned i = 0; i < PICKS; i++) {
        pick[i] = bytes_u8(b);
    }
    inlen = inlen < sizeof(in) ? inlen : sizeof(in);
    outlen = outlen < sizeof(in) ? outlen : sizeof(in);
    memcpy(in, t->in, t->inlen < inlen ? t->inlen : inlen);
    put_names(bed, t, in, inlen, pick);
    for (unsigned i = 0; i < SPOILS && inlen > 4; i++) {
        bytes_spoil(b, in + 4, inlen - 4);
    }
    issue(bed, flags, in, inlen, outlen, b);
}
