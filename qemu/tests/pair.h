/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two hosts with a connected QP and a memory region each, which is what most
 * tests of the transport begin with.
 */
#ifndef MOCX_TESTS_PAIR_H
#define MOCX_TESTS_PAIR_H

#include "driver.h"

#define PAIR_MR_LEN     (1u << 20)
#define PAIR_VA_A       0x7f0000001000ULL
#define PAIR_VA_B       0x550000002000ULL

typedef struct Side {
    Drv *d;
    DrvCq *scq, *rcq;
    DrvQp *qp;
    DrvMr *mr;
} Side;

typedef struct Pair {
    World *w;
    Side a, b;
    bool loopback;          /* both sides are one device */
} Pair;

/** pair_new() - connect; @path NULL: defaults */
Pair *pair_new(uint8_t type, const DrvPath *path);
/** pair_new_of() - the same with models made from @cfg */
Pair *pair_new_of(uint8_t type, const DrvPath *path, const MocxConfig *cfg);
/** pair_new_loopback() - the same between two QPs of one device */
Pair *pair_new_loopback(uint8_t type, const DrvPath *path);
/** pair_free() - tears everything down; every object and page must come back */
void pair_free(Pair *p);
/** pair_reconnect() - both QPs through RESET to RTS again */
void pair_reconnect(Pair *p, const DrvPath *path);

/** sge_of() - @len bytes of a side's region at @off */
DrvSge sge_of(const Side *s, uint64_t off, uint32_t len);
/** post_recv_at() - one receive WQE with one SGE */
uint16_t post_recv_at(Side *s, uint64_t off, uint32_t len);

/** pair_send() - post one WR on @s and ring */
uint16_t pair_post(Side *s, const DrvWr *wr);

/** pair_fail() - the QP's ERR state, for assertions */
bool side_in_error(Side *s);

/**
 * struct Msg - one operation between the sides, data checked
 * @opcode: MLX5_OPCODE_*
 * @len: bytes
 * @off_a: where in a's region
 * @off_b: where in b's
 * @seed: of the pattern of bytes
 */
typedef struct Msg {
    uint8_t opcode;
    uint32_t len;
    uint64_t off_a, off_b;
    uint64_t seed;
} Msg;

/**
 * pair_run() - do it, and check data, guard bytes and completions on both sides
 * @p: the pair
 * @m: the operation
 *
 * SEND* and WRITE* go from a to b, READ brings from b to a.
 */
void pair_run(Pair *p, const Msg *m);

#endif /* MOCX_TESTS_PAIR_H */
