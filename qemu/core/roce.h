/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the transport keeps per device, and the way a packet takes out of it. */
#ifndef MOCX_ROCE_H
#define MOCX_ROCE_H

#include "comp.h"
#include "qp.h"

#define MOCX_PKEY_DEFAULT       0xffffu
#define MOCX_GSI_QKEY           0x80010000u

/* Send buffers kept for whoever has work next: one is 12 KiB. */
#define MOCX_SPARE_BUFS         16

typedef struct MocxMcast MocxMcast;

struct MocxRoce {
    MocxQp *gsi;            /* QP1, whatever its number */
    uint16_t ip_id;
    MocxSendBuf *spare[MOCX_SPARE_BUFS];    /* of requesters without work */
    unsigned num_spare;
    uint32_t pollers;       /* QPs in error that look for receive WQEs */
    MocxMcast *mcasts;      /* multicast groups (mcast.c) */
};

/** mocx_roce_gid() - entry of the address table, or NULL if it serves nobody */
const MocxGid *mocx_roce_gid(const MocxDev *dev, uint32_t index);

/**
 * mocx_roce_path() - the path of a connected QP, source address as it is now
 * @dev: the device
 * @qp: the queue pair
 *
 * Return: NULL when the GID is gone; what would be sent is lost then.
 */
const MocxPath *mocx_roce_path(const MocxDev *dev, MocxQp *qp);
/** mocx_path_source() - source address and VLAN from an entry of the table */
void mocx_path_source(MocxPath *path, const MocxGid *gid, uint8_t prio);

/**
 * struct MocxTxPkt - a packet being built
 * @path: headers below the transport
 * @frame: the frame, in the batch of the port
 * @payload: where its @len bytes go
 * @size: bytes of @frame, ICRC included
 */
typedef struct MocxTxPkt {
    const MocxPath *path;
    uint8_t *frame;
    uint8_t *payload;
    size_t size;
} MocxTxPkt;

/** mocx_roce_deliver() - a packet to a QP, if it may have it */
void mocx_roce_deliver(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt);

/** mocx_pkt_begin() - headers; mocx_tx_room() has said yes */
void mocx_pkt_begin(MocxDev *dev, MocxTxPkt *tx, const MocxPath *path,
                    const MocxBth *bth, uint32_t len);
/**
 * mocx_pkt_end() - the payload is there: ICRC, and off it goes
 * @dev: the device
 * @tx: what mocx_pkt_begin() filled
 *
 * If it loops back, the peer may have handled it before this returns.
 */
void mocx_pkt_end(MocxDev *dev, const MocxTxPkt *tx);

/* Requester (req.c, req_ack.c) */

/** mocx_req_start() - RTS: PSNs and counters from the context */
void mocx_req_start(MocxDev *dev, MocxQp *qp);
/** mocx_req_stop() - forget all that is in flight */
void mocx_req_stop(MocxQp *qp);
MocxWorkFn mocx_req_work;
/** mocx_req_fail() - the oldest WQE in flight fails, and the QP with it */
void mocx_req_fail(MocxDev *dev, MocxQp *qp, MocxErr err);
/**
 * mocx_req_advance() - what is done up to PSN @upto (exclusive) completes
 * @dev: the device
 * @qp: the queue pair
 * @upto: first PSN that is not covered
 *
 * Return: false at a READ or atomic before it whose data has not come.
 */
bool mocx_req_advance(MocxDev *dev, MocxQp *qp, uint32_t upto);
/** mocx_req_arm() - the ACK timer starts anew, if anything is in flight */
void mocx_req_arm(MocxDev *dev, MocxQp *qp);
/** mocx_req_progress() - something was acknowledged: retries start anew */
void mocx_req_progress(MocxDev *dev, MocxQp *qp);

static inline MocxSendRec *mocx_req_rec(const MocxQp *qp, uint32_t i)
{
    return &qp->req.buf->rec[i % MOCX_SEND_RECS];
}

/**
 * mocx_req_load() - @wqe becomes the WQE of @rec
 * @dev: the device
 * @qp: the queue pair
 * @rec: a record in flight
 * @wqe: filled from guest memory, unless it holds that WQE already
 *
 * Return: false if the guest changed it behind our back, or it cannot be read.
 */
bool mocx_req_load(MocxDev *dev, MocxQp *qp, const MocxSendRec *rec,
                   MocxWqe *wqe);
/** mocx_req_packet() - ACK, NAK, or the answer to a READ or atomic */
void mocx_req_packet(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt);
/** mocx_req_timeout() - the timer ran out in a state that sends */
void mocx_req_timeout(MocxDev *dev, MocxQp *qp);

/* Responder (resp.c, resp_ack.c) */

/** mocx_resp_start() - RTR: PSN and replay memory; false without memory */
bool mocx_resp_start(MocxQp *qp);
/**
 * mocx_resp_resize() - another number of READs and atomics may be under way
 * @qp: a reliable QP that mocx_resp_start() has seen
 * @depth: how many; more are kept while their answers are due
 *
 * Return: false without memory; nothing has changed then.
 */
bool mocx_resp_resize(MocxQp *qp, unsigned depth);
/** mocx_resp_stop() - forget messages in progress and answers due */
void mocx_resp_stop(MocxQp *qp);
/** mocx_resp_mute() - 2ERR: nothing more is said to the peer */
void mocx_resp_mute(MocxQp *qp);
MocxWorkFn mocx_resp_work;
/** mocx_resp_answers() - send what is due; Return: false if it must wait */
bool mocx_resp_answers(MocxDev *dev, MocxQp *qp, unsigned budget,
                       unsigned *used);
/** mocx_resp_srq() - where the WQE of the message in progress came from */
MocxSrq *mocx_resp_srq(MocxDev *dev, const MocxQp *qp);
/** mocx_resp_packet() - a request */
void mocx_resp_packet(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt);

/* Datagrams (ud.c) */

/** mocx_ud_receive() - a datagram that passed the checks of roce.c */
void mocx_ud_receive(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt);


/**
 * mocx_ud_send() - one datagram; mocx_tx_room() has said yes
 * @dev: the device
 * @qp: the queue pair
 * @wqe: a checked send WQE
 *
 * Return: syndrome 0 if it is on its way (or lost for want of a GID).
 */
MocxErr mocx_ud_send(MocxDev *dev, MocxQp *qp, const MocxWqe *wqe);

/** mocx_umr_execute() - change a memory key; Return: syndrome 0 if done */
MocxErr mocx_umr_execute(MocxDev *dev, MocxQp *qp, const MocxWqe *wqe);
/** mocx_umr_invalidate() - SEND with invalidate; false if the key refuses */
bool mocx_umr_invalidate(MocxDev *dev, const MocxQp *qp, uint32_t pdn,
                         uint32_t rkey);

/**
 * mocx_recv_record() - read how many receive WQEs are posted
 * @dev: the device
 * @qp: has an RQ of its own; its @rq_posted is set
 *
 * Return: false if the record is not in memory, or is more than a ring ahead.
 */
bool mocx_recv_record(MocxDev *dev, MocxQp *qp);
/** mocx_recv_peek() - the receive WQE that @srq (or the QP's RQ) gives next */
MocxWqeResult mocx_recv_peek(MocxDev *dev, MocxQp *qp, MocxSrq *srq,
                             MocxRecvWqe *wqe);
/** mocx_recv_take() - what was peeked is used */
void mocx_recv_take(MocxDev *dev, MocxQp *qp, MocxSrq *srq, MocxRecvWqe *wqe);

#endif /* MOCX_ROCE_H */
