/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packet sequence numbers: 24 bits that wrap.  The only place where they are
 * added or compared.
 */
#ifndef MOCX_PSN_H
#define MOCX_PSN_H

#include <stdint.h>

#define MOCX_PSN_MASK   0xffffffu
/* Half the number space: what is further ahead counts as behind. */
#define MOCX_PSN_HALF   0x800000u

/** mocx_psn_add() - the PSN @n after @psn */
static inline uint32_t mocx_psn_add(uint32_t psn, uint32_t n)
{
    return (psn + n) & MOCX_PSN_MASK;
}

/**
 * mocx_psn_diff() - signed distance from @b to @a, -2^23 to 2^23 - 1
 * @a: a PSN
 * @b: another
 *
 * Positive: @a is ahead.  At exactly 2^23 it counts as behind, so that the
 * first PSN of a READ of 2^31 bytes at a path MTU of 256 is still a duplicate.
 */
static inline int32_t mocx_psn_diff(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

/** mocx_psn_dist() - unsigned distance from @base forward to @psn */
static inline uint32_t mocx_psn_dist(uint32_t psn, uint32_t base)
{
    return (psn - base) & MOCX_PSN_MASK;
}

/** mocx_psn_count() - PSNs that @len bytes take; an empty message takes one */
static inline uint32_t mocx_psn_count(uint64_t len, uint32_t mtu)
{
    return len ? (uint32_t)((len + mtu - 1) / mtu) : 1;
}

#endif /* MOCX_PSN_H */
