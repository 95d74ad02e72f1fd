// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Receive side scaling.  The Toeplitz hash and its published vectors are in
 * Microsoft's "RSS Hashing Functions" and "Verifying the RSS Hash
 * Calculation".
 */
#include "toeplitz.h"

/*
 * Each set bit of the input adds the 32 key bits that start at its place.
 * @window holds the key from the present byte on, 40 bits are enough for the
 * eight places in it.
 */
uint32_t mocx_toeplitz(const uint8_t *key, const uint8_t *in, size_t len)
{
    uint64_t window = 0;
    uint32_t hash = 0;

    for (unsigned i = 0; i < 4; i++) {
        window = window << 8 | key[i];
    }
    for (size_t i = 0; i < len && i < MOCX_TOEPLITZ_INPUT; i++) {
        window = window << 8 | key[i + 4];
        for (unsigned bit = 0; bit < 8; bit++) {
            uint32_t on = -(uint32_t)(in[i] >> (7 - bit) & 1);

            hash ^= (uint32_t)(window >> (8 - bit)) & on;
        }
    }
    return hash;
}

uint32_t mocx_hash_xor8(const uint8_t *in, size_t len)
{
    uint8_t x = 0;

    for (size_t i = 0; i < len; i++) {
        x ^= in[i];
    }
    return (uint8_t)~x;
}
