/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The published layouts: every command, register and context field comes from
 * the kernel's mlx5_ifc.h, every WQE segment and CQE from rdma-core's
 * mlx5dv.h.  Both are found at build time; this is the only file that
 * includes them.
 *
 * DEVX_GET(typ, p, field) and DEVX_SET(typ, p, field, value) of mlx5dv.h work
 * on the layouts of mlx5_ifc.h (all big-endian in memory).
 */
#ifndef MOCX_IFC_H
#define MOCX_IFC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <endian.h>

#include <infiniband/mlx5dv.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#ifndef BIT
#define BIT(n)          (1UL << (n))
#endif
#ifndef BIT_ULL
#define BIT_ULL(n)      (1ULL << (n))
#endif
#ifndef DECLARE_FLEX_ARRAY
#define DECLARE_FLEX_ARRAY(type, name) type name[0]
#endif

#include <linux/mlx5/mlx5_ifc.h>

static inline uint16_t mocx_get_be16(const void *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return be16toh(v);
}

static inline uint32_t mocx_get_be32(const void *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return be32toh(v);
}

static inline uint64_t mocx_get_be64(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return be64toh(v);
}

static inline void mocx_put_be16(void *p, uint16_t v)
{
    v = htobe16(v);
    memcpy(p, &v, sizeof(v));
}

static inline void mocx_put_be32(void *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof(v));
}

static inline void mocx_put_be64(void *p, uint64_t v)
{
    v = htobe64(v);
    memcpy(p, &v, sizeof(v));
}

#endif /* MOCX_IFC_H */
