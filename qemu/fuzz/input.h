/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An input is a row of steps of STEP bytes each.  A step is the same whatever
 * stands before it, so that the engine may move, drop and double it.
 */
#ifndef MOCX_FUZZ_INPUT_H
#define MOCX_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "core/ifc.h"

#define STEP        24      /* bytes */
#define STEPS_MAX   24      /* of an input */

typedef struct Bytes {
    const uint8_t *p, *end;
} Bytes;

static inline uint8_t bytes_u8(Bytes *b)
{
    return b->p < b->end ? *b->p++ : 0;
}

static inline uint16_t bytes_u16(Bytes *b)
{
    uint16_t v = bytes_u8(b);

    return v << 8 | bytes_u8(b);
}

static inline uint32_t bytes_u32(Bytes *b)
{
    uint32_t v = bytes_u16(b);

    return v << 16 | bytes_u16(b);
}

/* Values on which checks turn. */
static inline uint32_t bytes_interesting(Bytes *b)
{
    static const uint32_t values[] = {
        0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 0x7f, 0x80, 0xff, 0x100,
        0x101, 0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0xffff, 0x10000,
        0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0,
        0xffffffff,
    };

    return values[bytes_u8(b) % (sizeof(values) / sizeof(values[0]))];
}

/**
 * bytes_spoil() - change one place, or nothing, by four bytes of the input
 * @b: the input
 * @data: what to spoil
 * @len: bytes of it
 */
static inline void bytes_spoil(Bytes *b, uint8_t *data, size_t len)
{
    uint16_t place = bytes_u16(b);
    uint8_t how = bytes_u8(b);
    uint8_t value = bytes_u8(b);
    Bytes one = { &value, &value + 1 };
    size_t at;

    if (len < 4) {
        return;
    }
    at = place % len;
    switch (how % 8) {
    case 1:
        data[at] ^= 1 << value % 8;
        break;
    case 2:
        data[at] = value;
        break;
    case 3:
        data[at] += (int8_t)value;
        break;
    case 4:
        mocx_put_be32(data + at / 4 * 4 % (len - 3), bytes_interesting(&one));
        break;
    case 5:
        mocx_put_be32(data + at / 4 * 4 % (len - 3), value << 8 | value >> 4);
        break;
    default:
        break;
    }
}

#endif /* MOCX_FUZZ_INPUT_H */
