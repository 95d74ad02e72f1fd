/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzzers share: a stream of bytes that decides, and a mutator.
 *
 * Each fuzzer starts from what a driver or a peer really sends and spoils it a
 * little, since noise alone does not get past the first check.
 */
#ifndef MOCX_TESTS_FUZZ_H
#define MOCX_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

typedef struct Bytes {
    const uint8_t *p, *end;
} Bytes;

static inline uint8_t bytes_u8(Bytes *b)
{
    return b->p < b->end ? *b->p++ : 0;
}

static inline uint32_t bytes_u32(Bytes *b)
{
    uint32_t v = bytes_u8(b);

    v = v << 8 | bytes_u8(b);
    v = v << 8 | bytes_u8(b);
    return v << 8 | bytes_u8(b);
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

/* Spoil up to seven places; mostly few. */
static inline void bytes_mutate(Bytes *b, uint8_t *data, size_t len)
{
    unsigned n = bytes_u8(b);

    for (n = n < 64 ? 0 : n % 8; n && len >= 4; n--) {
        size_t at = (bytes_u8(b) << 8 | bytes_u8(b)) % len;

        switch (bytes_u8(b) % 4) {
        case 0:
            data[at] ^= 1 << bytes_u8(b) % 8;
            break;
        case 1:
            data[at] = bytes_u8(b);
            break;
        case 2:
            mocx_put_be32(data + at / 4 * 4 % (len - 3), bytes_interesting(b));
            break;
        default:
            mocx_put_be32(data + at / 4 * 4 % (len - 3), bytes_u32(b));
        }
    }
}

/* Little to set up, since that is done anew for every input. */
static inline MocxConfig fuzz_config(void)
{
    MocxConfig cfg;

    mocx_config_default(&cfg);
    cfg.boot_pages = cfg.init_pages = 2;
    return cfg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* MOCX_TESTS_FUZZ_H */
