/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receive queues of the Ethernet side. */
#ifndef MOCX_RQ_H
#define MOCX_RQ_H

#include "dev.h"
#include "eth_pkt.h"
#include "wq.h"

typedef struct MocxRq {
    MocxQueue queue;            /* never rung */
    MocxWork flush;             /* in the error state */
    MocxWq wq;
    MocxCq *cq;
    uint8_t state;              /* MOCX_WQ_* */
    uint8_t counter_set;        /* Q counter, 0 for none */
    bool keep_vlan;             /* vsd */
    bool rlky;
    bool flush_in_error;
    uint32_t user_index;
    uint16_t ci;                /* WQEs consumed */
    uint16_t pi;                /* as last read from the doorbell record */
    uint8_t ctx[DEVX_ST_SZ_BYTES(rqc)];
} MocxRq;

/**
 * struct MocxRxHash - what RSS found, as the CQE tells it
 * @value: the hash
 * @type: rss_hash_type; 0 if no hash was made
 */
typedef struct MocxRxHash {
    uint32_t value;
    uint8_t type;
} MocxRxHash;

/** mocx_rq_find() - by number, or NULL */
MocxRq *mocx_rq_find(MocxDev *dev, uint32_t rqn);
/** mocx_rq_error() - to the error state; flushes what is posted if asked to */
void mocx_rq_error(MocxDev *dev, MocxRq *rq);
/** mocx_rq_flush() - work function: complete posted WQEs with a flush error */
MocxWorkFn mocx_rq_flush;

/**
 * mocx_rq_receive() - scatter a packet to the next WQE and complete it
 * @dev: the device
 * @rq: the receive queue
 * @pkt: the packet
 * @hash: what RSS found
 * @flow_tag: of the entry that forwarded it
 *
 * Without a WQE, or out of the RDY state, the packet is dropped; the former is
 * counted as out_of_buffer.
 */
void mocx_rq_receive(MocxDev *dev, MocxRq *rq, const MocxEthPkt *pkt,
                     const MocxRxHash *hash, uint32_t flow_tag);

#endif /* MOCX_RQ_H */
