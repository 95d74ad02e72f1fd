/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CRC under the invariant CRC of RoCE: CRC-32, reflected, as in zlib. */
#ifndef MOCX_ICRC_H
#define MOCX_ICRC_H

#include <stddef.h>
#include <stdint.h>

/* The register after the eight ones that stand for the missing LRH. */
#define MOCX_ICRC_SEED  0xdebb20e3u

/**
 * mocx_crc32() - run @len bytes through the register
 * @crc: register before; it is neither inverted on entry nor on return
 * @buf: the bytes
 * @len: how many
 *
 * Uses the CPU's carry-less multiply where there is one.
 */
uint32_t mocx_crc32(uint32_t crc, const void *buf, size_t len);

/** mocx_crc32_tables() - the same, with tables only */
uint32_t mocx_crc32_tables(uint32_t crc, const void *buf, size_t len);

#endif /* MOCX_ICRC_H */
