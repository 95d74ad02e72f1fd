/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash functions of a TIR. */
#ifndef MOCX_TOEPLITZ_H
#define MOCX_TOEPLITZ_H

#include <stddef.h>
#include <stdint.h>

#define MOCX_TOEPLITZ_KEY   40      /* bytes, as in tirc */
/* What the key is long enough for: IPv6 addresses and ports. */
#define MOCX_TOEPLITZ_INPUT 36

/**
 * mocx_toeplitz() - the Toeplitz hash
 * @key: MOCX_TOEPLITZ_KEY bytes
 * @in: addresses and ports in the order of the hash
 * @len: bytes of @in, at most MOCX_TOEPLITZ_INPUT
 */
uint32_t mocx_toeplitz(const uint8_t *key, const uint8_t *in, size_t len);
/** mocx_hash_xor8() - inverted exclusive or of all bytes */
uint32_t mocx_hash_xor8(const uint8_t *in, size_t len);

#endif /* MOCX_TOEPLITZ_H */
