/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work queue elements: from bytes in guest memory to something checked.  The
 * guest's memory is copied once and never looked at again.
 */
#ifndef MOCX_WQE_H
#define MOCX_WQE_H

#include <stddef.h>

#include "mem.h"

typedef struct MocxQp MocxQp;
typedef struct MocxSrq MocxSrq;

#define MOCX_WQE_BB             64      /* bytes of a basic block */
#define MOCX_WQE_BYTES_MAX      1024    /* 6 bits of 16-byte units */
#define MOCX_WQE_SEGS_MAX       62
#define MOCX_RECV_STRIDE_MAX    512     /* cap max_wqe_sz_rq */
#define MOCX_RECV_SGES_MAX      (MOCX_RECV_STRIDE_MAX / 16)

/* Bits 7:5 of fm_ce_se (mlx5/qp.h: MLX5_FENCE_MODE_*). */
enum {
    MOCX_FENCE_NONE = 0, MOCX_FENCE_SMALL = 1, MOCX_FENCE_READS = 2,
    MOCX_FENCE_ALL = 3, MOCX_FENCE_SMALL_AND_READS = 4,
};

typedef enum MocxWqeResult {
    MOCX_WQE_OK,
    MOCX_WQE_EMPTY,         /* nothing is posted */
    MOCX_WQE_MALFORMED,     /* completes in error */
    MOCX_WQE_NO_MEMORY,     /* the ring itself cannot be read: fatal */
} MocxWqeResult;

/**
 * struct MocxWqe - a send WQE
 * @valid: the fields are those of the WQE at @counter
 * @counter: index of its first block, modulo 2^16
 * @blocks: basic blocks it takes
 * @opcode: MLX5_OPCODE_*
 * @fence: MOCX_FENCE_*
 * @signalled: a CQE is asked for
 * @solicited: the message carries a solicited event
 * @size: bytes of the WQE, control segment included
 * @av: offset of the address vector in @raw (UD)
 * @umr: offset of the UMR control segment in @raw
 * @imm: immediate data or key to invalidate, in host order
 * @rkey: key of the remote memory
 * @raddr: remote address
 * @swap_add: atomic: what to store or to add
 * @compare: atomic: what to compare with
 * @srqn: XRC: the SRQ at the destination
 * @num_segs: entries of @segs
 * @len: bytes it gathers or scatters
 * @inline_segs: bit n: segment n is inline
 * @segs: the list; an inline segment has its offset in @raw as address
 * @raw: the WQE as copied from the guest, @size bytes
 */
typedef struct MocxWqe {
    bool valid;
    uint16_t counter;
    uint8_t blocks;
    uint8_t opcode;
    uint8_t fence;
    bool signalled;
    bool solicited;
    uint16_t size;
    uint16_t av;
    uint16_t umr;
    uint32_t imm;
    uint32_t rkey;
    uint64_t raddr;
    uint64_t swap_add;
    uint64_t compare;
    uint32_t srqn;
    uint32_t num_segs;
    uint64_t len;
    uint64_t inline_segs;
    MocxSge segs[MOCX_WQE_SEGS_MAX];
    uint8_t raw[MOCX_WQE_BYTES_MAX];
} MocxWqe;

/**
 * struct MocxRecvWqe - a receive WQE that a message has taken
 * @bound: a message in progress has taken it
 * @counter: its index in the RQ, or in the SRQ
 * @next: SRQ: the one to take after it
 * @num_sges: entries of @sges
 * @room: bytes it can hold
 * @sges: the scatter list
 */
typedef struct MocxRecvWqe {
    bool bound;
    uint16_t counter;
    uint16_t next;
    uint8_t num_sges;
    uint64_t room;
    MocxSge sges[MOCX_RECV_SGES_MAX];
} MocxRecvWqe;

/**
 * mocx_wqe_fetch() - read and check the send WQE at block @counter
 * @dev: the device
 * @qp: the queue pair
 * @counter: index of its first block, modulo 2^16
 * @avail: blocks that are posted from there on
 * @wqe: filled as far as it could be read; @counter, @blocks and @opcode are
 *     right even if it is malformed, so that it can complete in error
 */
MocxWqeResult mocx_wqe_fetch(MocxDev *dev, MocxQp *qp, uint16_t counter,
                             uint16_t avail, MocxWqe *wqe);

/** mocx_wqe_read() - gather @len bytes at @off of what the WQE sends */
MocxMemResult mocx_wqe_read(MocxDev *dev, const MocxQp *qp, const MocxWqe *wqe,
                            uint64_t off, uint8_t *buf, size_t len);
/** mocx_wqe_write() - scatter the result of a READ or an atomic */
MocxMemResult mocx_wqe_write(MocxDev *dev, const MocxQp *qp, const MocxWqe *wqe,
                             uint64_t off, const uint8_t *buf, size_t len);

/**
 * mocx_recv_parse() - the scatter list of a receive WQE
 * @dev: the device
 * @wqe: its scatter list is filled
 * @raw: @len bytes, without the next segment of an SRQ
 * @len: bytes of @raw
 *
 * Return: MOCX_WQE_OK; an empty list is no error.
 */
MocxWqeResult mocx_recv_parse(MocxDev *dev, MocxRecvWqe *wqe,
                              const uint8_t *raw, size_t len);

#endif /* MOCX_WQE_H */
