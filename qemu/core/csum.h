/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Internet checksum (RFC 1071).  A sum is kept folded, not inverted, and as
 * the number whose big-endian bytes stand in a header.
 */
#ifndef MOCX_CSUM_H
#define MOCX_CSUM_H

#include <stddef.h>
#include <stdint.h>

/**
 * mocx_csum() - ones' complement sum of 16-bit big-endian words
 * @data: the bytes, of any alignment
 * @len: bytes, below 1 GiB; an odd last byte is padded with a zero
 */
uint16_t mocx_csum(const void *data, size_t len);

/** mocx_csum_add() - sum of two sums */
static inline uint16_t mocx_csum_add(uint32_t a, uint32_t b)
{
    a += b;
    return a + (a >> 16);
}

/**
 * mocx_csum_pseudo() - sum of the pseudo header of TCP and UDP
 * @addrs: source and destination, adjacent, as they are in the IP header
 * @addrs_len: bytes of both: 8 for IPv4 (RFC 793), 32 for IPv6 (RFC 8200)
 * @proto: 6 or 17
 * @l4_len: bytes of the L4 header and its payload
 */
uint16_t mocx_csum_pseudo(const void *addrs, size_t addrs_len, uint8_t proto,
                          uint32_t l4_len);

#endif /* MOCX_CSUM_H */
