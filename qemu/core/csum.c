// SPDX-License-Identifier: GPL-2.0-or-later
/* The Internet checksum. */
#include <endian.h>
#include <string.h>

#include "csum.h"

static uint16_t fold(uint64_t sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

/*
 * Words are added in the byte order of the CPU, four bytes at a time into an
 * accumulator that cannot overflow: the sum of swapped words is the swapped
 * sum (RFC 1071 2(B)), so one swap at the end does.
 */
uint16_t mocx_csum(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint64_t sum = 0;
    uint32_t word;
    uint16_t half = 0;

    for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        sum += word;
    }
    if (len >= sizeof(half)) {
        memcpy(&half, p, sizeof(half));
        sum += half;
        len -= sizeof(half);
        p += sizeof(half);
    }
    if (len) {
        half = 0;
        memcpy(&half, p, 1);
        sum += half;
    }
    return be16toh(fold(sum));
}

uint16_t mocx_csum_pseudo(const void *addrs, size_t addrs_len, uint8_t proto,
                          uint32_t l4_len)
{
    uint32_t sum = mocx_csum_add(l4_len & 0xffff, l4_len >> 16);

    sum = mocx_csum_add(sum, proto);
    return mocx_csum_add(sum, mocx_csum(addrs, addrs_len));
}
