/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Send WQEs of Ethernet queues: from bytes in guest memory to something
 * checked.  The guest's memory is copied once and never looked at again.
 */
#ifndef MOCX_ETH_WQE_H
#define MOCX_ETH_WQE_H

#include "eth_pkt.h"
#include "mem.h"

typedef struct MocxDev MocxDev;
typedef struct MocxSq MocxSq;

#define MOCX_ETH_WQE_BB     64      /* basic block */
#define MOCX_ETH_WQE_MAX    1008    /* 63 units of 16 bytes, a 6-bit size */
#define MOCX_ETH_WQE_SEGS   61      /* behind control and Ethernet segment */

/* Bytes of payload one large send may have; the kernel's most is 512 KiB. */
#define MOCX_LSO_MAX        (1u << 20)

/**
 * struct MocxEthWqe - a send WQE, and how far it has been sent
 * @counter: index of its first basic block
 * @blocks: basic blocks it takes
 * @opcode: MLX5_OPCODE_*
 * @signalled: a CQE is asked for
 * @solicited: the CQE raises a solicited event
 * @cs_flags: MLX5_ETH_WQE_L3_CSUM, MLX5_ETH_WQE_L4_CSUM
 * @mss: large send: bytes of payload of a frame
 * @hdr_len: bytes of inlined header, in @raw at MOCX_ETH_WQE_HDR
 * @tag: VLAN tag to insert, type and TCI; 0 for none
 * @len: bytes of all segments
 * @num_segs: entries of @segs
 * @inline_segs: bit n: segment n is inline, its address an offset in @raw
 * @segs: the gather list
 * @template: large send: the headers, with data in @raw
 * @off: bytes of segments sent; @seg and @seg_off say where that is
 * @seg: segment at which @off lies
 * @seg_off: and the byte in it
 * @frames: sent of it
 * @raw: the WQE as copied from the guest
 */
typedef struct MocxEthWqe {
    uint16_t counter;
    uint8_t blocks;
    uint8_t opcode;
    bool signalled;
    bool solicited;
    uint8_t cs_flags;
    uint16_t mss;
    uint16_t hdr_len;
    uint32_t tag;
    uint64_t len;
    unsigned num_segs;
    uint64_t inline_segs;
    MocxSge segs[MOCX_ETH_WQE_SEGS];
    MocxEthPkt template;
    uint64_t off;
    unsigned seg;
    uint32_t seg_off;
    uint32_t frames;
    _Alignas(8) uint8_t raw[MOCX_ETH_WQE_MAX];
} MocxEthWqe;

#define MOCX_ETH_WQE_HDR    30      /* inline_hdr_start, behind 16 + 14 bytes */

typedef enum MocxEthWqeResult {
    MOCX_ETH_WQE_OK,
    MOCX_ETH_WQE_BAD,           /* malformed: an operation error */
    MOCX_ETH_WQE_BAD_LEN,       /* a length no frame can have */
    MOCX_ETH_WQE_NO_MEMORY,     /* the ring cannot be read */
} MocxEthWqeResult;

/**
 * mocx_eth_wqe_fetch() - read and check the WQE at @sq->ci
 * @dev: the device
 * @sq: the send queue
 * @avail: basic blocks posted from there on, at least 1
 * @wqe: @counter, @blocks and @opcode are filled even if it is malformed, so
 *     that it can complete in error
 */
MocxEthWqeResult mocx_eth_wqe_fetch(MocxDev *dev, const MocxSq *sq,
                                    uint16_t avail, MocxEthWqe *wqe);

/**
 * mocx_eth_wqe_gather() - the next @len bytes of the segments
 * @dev: the device
 * @sq: the send queue
 * @wqe: the WQE, whose place moves on by @len
 * @buf: room for @len bytes
 * @len: no more than is left
 */
MocxMemResult mocx_eth_wqe_gather(MocxDev *dev, const MocxSq *sq,
                                  MocxEthWqe *wqe, uint8_t *buf, size_t len);

#endif /* MOCX_ETH_WQE_H */
