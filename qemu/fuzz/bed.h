/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fuzzer starts from: one device in verifier mode with objects of every
 * kind, and a mirror at the far end of its wire.
 *
 * The mirror is the peer: a frame to its MAC comes back with both addresses of
 * each layer exchanged.  So one device is both sides of a connection, and all
 * of its frames can be spoiled on their way.
 */
#ifndef MOCX_FUZZ_BED_H
#define MOCX_FUZZ_BED_H

#include "drveth.h"
#include "driver.h"
#include "input.h"

#define BED_MR_LEN      (4 * HOST_PAGE)
#define BED_MR_VA       0x7000000000ULL
#define BED_SCRATCH     64      /* pages for what the input makes */
#define BED_QKEY        0x11111111

/* Of Bed.qp; pairs are each other's peer by way of the mirror. */
enum {
    BED_RC_A, BED_RC_B, BED_UC_A, BED_UC_B, BED_UD, BED_GSI, BED_UMR,
    BED_SELF,                   /* RC, its own peer, without the mirror */
    BED_RC_SRQ, BED_RC_TO_SRQ, BED_RC_V6, BED_RC_V6_B, BED_XRC_INI,
    BED_XRC_TGT, BED_RC_RTR, BED_RC_ERR, BED_QPS
};

/* SRQs: a linked list of WQEs in guest memory. */
enum { BED_RMP, BED_XRC_SRQ, BED_SRQ, BED_SRQS };

typedef struct BedSrq {
    uint32_t srqn;
    uint64_t buf, dbr;
    uint16_t posted;
} BedSrq;

/**
 * struct Bed - the device, its driver, what that has made
 * @w: world of one host
 * @h: the host
 * @d: its driver
 * @far: the host that the driver believes to be at the other end
 * @far_drv: its driver, for connections
 * @cq: completion queues: of requesters, of responders, of Ethernet
 * @mr: a region with every right
 * @klm: a key over two pieces of @mr
 * @umr_key: a free key that UMR may fill
 * @qp: queue pairs, BED_*
 * @srq: shared receive queues
 * @xrcd: XRC domain of the XRC SRQ and QPs
 * @sq: Ethernet send queues
 * @rq: Ethernet receive queues
 * @tirs: one to a queue, one to @rqt
 * @rqt: the receive queues
 * @root: the root flow table
 * @second: where it leads what it has no entry for
 * @counter: flow counter
 * @group: of @root
 * @any_group: of @second
 * @scratch: pages that belong to nothing, one after the other
 * @spoil: what the mirror does to the next frames
 * @spoil_frames: how many of them
 * @mirrored: frames so far
 * @others: bytes that devices made before hold
 * @up: all of this is there
 * @deaf: the device may not answer a command
 */
typedef struct Bed {
    World *w;
    Host *h;
    Drv *d;
    Host far;
    Drv far_drv;
    DrvCq *cq[3];
    DrvMr *mr;
    uint32_t klm, umr_key;
    DrvQp qp[BED_QPS];
    BedSrq srq[BED_SRQS];
    DrvSq *sq[2];
    DrvRq *rq[2];
    uint32_t tirs[2], rqt, root, second, counter, group, any_group;
    uint32_t xrcd;
    uint64_t scratch;
    Bytes spoil;
    unsigned spoil_frames;
    unsigned mirrored;
    size_t others;
    bool up;
    bool deaf;
} Bed;

/** bed_config() - small limits, so that an input can reach them */
MocxConfig bed_config(void);
/** bed_new() - a device that is powered on, and nothing more */
Bed *bed_new(void);
/** bed_up() - everything that Bed has */
void bed_up(Bed *bed);

/**
 * bed_end() - let the world come to rest, and take the device away; what it
 * has held must be gone
 * @bed: the bed, of no more use
 */
void bed_end(Bed *bed);

/** bed_in() - put a frame on the wire towards the device */
void bed_in(Bed *bed, const uint8_t *frame, size_t len);

/**
 * frame_fix() - make lengths, checksums and ICRC of a frame right again
 * @frame: of any kind
 * @len: bytes of it
 */
void frame_fix(uint8_t *frame, size_t len);

#endif /* MOCX_FUZZ_BED_H */
