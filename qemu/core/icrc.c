// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CRC-32 at the speed of memory.
 *
 * Every payload byte passes here twice, once when it is sent and once when it
 * is received, so this sets the ceiling of the transport.  Two ways: folding by
 * carry-less multiplication (V. Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction", Intel 2009), and eight tables that
 * take eight bytes a step.
 */
#include "icrc.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#define POLY    0xedb88320u
#define SLICES  8

static uint32_t table[SLICES][256];

__attribute__((constructor))
static void crc32_make_tables(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (unsigned bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? POLY : 0);
        }
        table[0][i] = crc;
    }
    for (unsigned s = 1; s < SLICES; s++) {
        for (unsigned i = 0; i < 256; i++) {
            uint32_t crc = table[s - 1][i];

            table[s][i] = crc >> 8 ^ table[0][crc & 0xff];
        }
    }
}

static uint32_t load_le32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return le32toh(v);
}

uint32_t mocx_crc32_tables(uint32_t crc, const void *buf, size_t len)
{
    const uint8_t *p = buf;

    for (; len >= 8; p += 8, len -= 8) {
        uint32_t a = load_le32(p) ^ crc;
        uint32_t b = load_le32(p + 4);

        crc = table[7][a & 0xff] ^ table[6][a >> 8 & 0xff] ^
              table[5][a >> 16 & 0xff] ^ table[4][a >> 24] ^
              table[3][b & 0xff] ^ table[2][b >> 8 & 0xff] ^
              table[1][b >> 16 & 0xff] ^ table[0][b >> 24];
    }
    while (len--) {
        crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
    }
    return crc;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define CLMUL __attribute__((target("pclmul,sse4.1")))
#define FOLD_MIN 64

/*
 * x^n mod P for the distance n that a fold bridges, bit-reflected and shifted
 * by one, as the multiplication of reflected operands needs it.
 */
#define K_512_LO    0x154442bd4     /* x^(4*128+32) */
#define K_512_HI    0x1c6e41596     /* x^(4*128-32) */
#define K_128_LO    0x1751997d0     /* x^(128+32) */
#define K_128_HI    0x0ccaa009e     /* x^(128-32) */
#define K_64        0x163cd6124     /* x^64 */
#define BARRETT_MU  0x1f7011641     /* floor(x^64 / P) */
#define BARRETT_P   0x1db710641

static inline CLMUL __m128i fold(__m128i acc, __m128i k, __m128i next)
{
    __m128i lo = _mm_clmulepi64_si128(acc, k, 0x00);
    __m128i hi = _mm_clmulepi64_si128(acc, k, 0x11);

    return _mm_xor_si128(_mm_xor_si128(lo, hi), next);
}

static inline CLMUL __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* 128 bits to 64, to 32, and the remainder by Barrett's reduction. */
static CLMUL uint32_t reduce(__m128i acc)
{
    const __m128i low32 = _mm_setr_epi32(-1, 0, -1, 0);
    const __m128i k128 = _mm_set_epi64x(K_128_HI, K_128_LO);
    const __m128i barrett = _mm_set_epi64x(BARRETT_MU, BARRETT_P);
    __m128i t;

    t = _mm_clmulepi64_si128(acc, k128, 0x10);
    acc = _mm_xor_si128(_mm_srli_si128(acc, 8), t);

    t = _mm_clmulepi64_si128(_mm_and_si128(acc, low32),
                             _mm_set_epi64x(0, K_64), 0x00);
    acc = _mm_xor_si128(_mm_srli_si128(acc, 4), t);

    t = _mm_clmulepi64_si128(_mm_and_si128(acc, low32), barrett, 0x10);
    t = _mm_clmulepi64_si128(_mm_and_si128(t, low32), barrett, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(acc, t), 1);
}

/* @len is a multiple of 16 and at least FOLD_MIN. */
static CLMUL uint32_t crc32_fold(uint32_t crc, const uint8_t *p, size_t len)
{
    const __m128i k512 = _mm_set_epi64x(K_512_HI, K_512_LO);
    const __m128i k128 = _mm_set_epi64x(K_128_HI, K_128_LO);
    __m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)crc));
    __m128i b = load(p + 16);
    __m128i c = load(p + 32);
    __m128i d = load(p + 48);

    for (p += 64, len -= 64; len >= 64; p += 64, len -= 64) {
        a = fold(a, k512, load(p));
        b = fold(b, k512, load(p + 16));
        c = fold(c, k512, load(p + 32));
        d = fold(d, k512, load(p + 48));
    }
    a = fold(a, k128, b);
    a = fold(a, k128, c);
    a = fold(a, k128, d);
    for (; len; p += 16, len -= 16) {
        a = fold(a, k128, load(p));
    }
    return reduce(a);
}

static bool have_clmul;

__attribute__((constructor))
static void crc32_look_at_cpu(void)
{
    __builtin_cpu_init();
    have_clmul = __builtin_cpu_supports("pclmul") &&
                 __builtin_cpu_supports("sse4.1");
}

uint32_t mocx_crc32(uint32_t crc, const void *buf, size_t len)
{
    const uint8_t *p = buf;

    if (have_clmul && len >= FOLD_MIN) {
        size_t whole = len & ~(size_t)15;

        crc = crc32_fold(crc, p, whole);
        p += whole;
        len -= whole;
    }
    return mocx_crc32_tables(crc, p, len);
}

#else

uint32_t mocx_crc32(uint32_t crc, const void *buf, size_t len)
{
    return mocx_crc32_tables(crc, buf, len);
}

#endif
