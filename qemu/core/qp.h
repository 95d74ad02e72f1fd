/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs.  A QP is a context, a requester (req*.c) and a responder
 * (resp*.c), each a state machine that runs as a work item and is fed by
 * packets; ud.c serves the datagram types.
 */
#ifndef MOCX_QP_H
#define MOCX_QP_H

#include "dev.h"
#include "srq.h"
#include "wire.h"
#include "wqe.h"

/* qpc.state */
typedef enum MocxQpState {
    MOCX_QP_RST = 0, MOCX_QP_INIT = 1, MOCX_QP_RTR = 2, MOCX_QP_RTS = 3,
    MOCX_QP_SQER = 4, MOCX_QP_SQD = 5, MOCX_QP_ERR = 6,
} MocxQpState;

/* qpc.st */
enum {
    MOCX_QP_RC = 0, MOCX_QP_UC = 1, MOCX_QP_UD = 2, MOCX_QP_XRC = 3,
    MOCX_QP_GSI = 8, MOCX_QP_UMR = 0xc,
};

/* WQEs that may be in flight.  More would only lengthen what a loss repeats. */
#define MOCX_SEND_RECS      256

/**
 * struct MocxSendRec - a send WQE from its fetch to its completion
 * @psn: the first PSN it takes
 * @npsn: how many PSNs it takes; none if it sends nothing
 * @len: bytes of the message
 * @counter: index of its first block, for the CQE
 * @opcode: MLX5_OPCODE_*
 * @blocks: basic blocks it takes in the ring
 * @signalled: a CQE was asked for
 * @read: its answer is data (READ, atomic)
 * @on_wire: READ or atomic request is out, answer not complete
 * @done: nothing is left but the completion of those before it
 * @syndrome: non-zero: it fails as soon as those before it have completed
 * @vendor: vendor syndrome that goes with @syndrome
 */
typedef struct MocxSendRec {
    uint32_t psn;
    uint32_t npsn;
    uint32_t len;
    uint16_t counter;
    uint8_t opcode;
    uint8_t blocks;
    bool signalled;
    bool read;
    bool on_wire;
    bool done;
    uint8_t syndrome;
    uint8_t vendor;
} MocxSendRec;

/*
 * Memory of a requester that has work.  @tx is the WQE being sent, @rx the READ
 * or atomic being answered; both are fetched again when they are not the one
 * that is needed.
 */
typedef struct MocxSendBuf {
    MocxSendRec rec[MOCX_SEND_RECS];
    MocxWqe tx, rx;
} MocxSendBuf;

/**
 * struct MocxReq - requester
 * @buf: records and WQEs, while there is work; else NULL
 * @pi: producer of the doorbell record, in blocks
 * @fetch: first block that was not fetched yet
 * @head: oldest record in flight.  This and the next two are never masked.
 * @cur: record being sent
 * @tail: next free record
 * @una: oldest PSN that is not acknowledged
 * @nxt: next PSN to send
 * @max: first PSN never sent
 * @reads: READs and atomics on the wire
 * @read_psns: PSNs that they take
 * @burst: packets since the last that asked for an ACK
 * @retries: time-outs and sequence NAKs left before the QP gives up
 * @rnr_retries: RNR NAKs left; 7 in the context is for ever
 * @backoff: doublings of the ACK time-out so far
 * @recovering: went back and has made no progress since
 * @rnr_wait: the timer waits for the receiver, not for an ACK
 * @deadline: when the timer is due, in ns
 */
typedef struct MocxReq {
    MocxSendBuf *buf;
    uint16_t pi;
    uint16_t fetch;
    uint32_t head, cur, tail;
    uint32_t una, nxt, max;
    uint32_t reads;
    uint32_t read_psns;
    uint16_t burst;
    uint8_t retries;
    uint8_t rnr_retries;
    uint8_t backoff;
    bool recovering;
    bool rnr_wait;
    uint64_t deadline;
} MocxReq;

/**
 * struct MocxReplay - a READ or atomic that was accepted, and may be asked for
 * again
 * @psn: first PSN of the answer
 * @npsn: packets of the answer
 * @msn: message sequence number for its AETH
 * @rkey: READ: key of the memory
 * @pdn: READ: PD to which that key belongs
 * @va: READ: first byte of the answer, as the request had it
 * @orig: atomic: what was in memory before
 * @len: READ: bytes
 * @next: packet of the answer to send next
 * @first: where this answer began; its first packet is a FIRST
 * @used: the slot holds a request
 * @atomic: atomic, not READ
 * @pending: packets of it have to be sent
 */
typedef struct MocxReplay {
    uint32_t psn;
    uint32_t npsn;
    uint32_t msn;
    uint32_t rkey;
    uint32_t pdn;
    uint64_t va;
    uint64_t orig;
    uint32_t len;
    uint32_t next;
    uint32_t first;
    bool used;
    bool atomic;
    bool pending;
} MocxReplay;

/* What a message in progress is, on the receiving side. */
typedef enum MocxRespMsg {
    MOCX_RESP_IDLE, MOCX_RESP_SEND, MOCX_RESP_WRITE, MOCX_RESP_SKIP,
} MocxRespMsg;

/**
 * struct MocxResp - responder
 * @epsn: expected PSN
 * @msn: message sequence number, 24 bits
 * @silent: a NAK is out; nothing is said until the expected PSN comes
 * @seen_packet: a valid packet came; the first in RTR raises COMM_EST
 * @msg: message in progress; _SKIP: UC drops the rest of one
 * @ack: the work item has an ACK to send
 * @nak: the work item has a NAK to send
 * @nak_syndrome: syndrome of its AETH
 * @nak_psn: its PSN; of a sequence NAK the furthest PSN that came too early
 * @rkey: key of the RDMA WRITE in progress
 * @va: RDMA WRITE in progress: address of the next byte
 * @left: bytes of it that have not come
 * @total: bytes of all of it
 * @off: bytes of the SEND in progress
 * @depth: entries of @replay
 * @newest: slot of @replay written last
 * @pending: entries of @replay with packets to send
 * @last_wqe_due: raise LAST_WQE_REACHED when the bound WQE is flushed
 * @srqn: XRC: what the message in progress names; @wqe is from there
 * @replay: @depth entries, @newest is the slot written last, @pending of them
 *     have packets to send
 * @wqe: receive WQE of the message in progress
 */
typedef struct MocxResp {
    uint32_t epsn;
    uint32_t msn;
    bool silent;
    bool seen_packet;
    uint8_t msg;
    bool ack;
    bool nak;
    uint8_t nak_syndrome;
    uint32_t nak_psn;
    uint32_t rkey;
    uint64_t va;
    uint32_t left;
    uint32_t total;
    uint32_t off;
    uint8_t depth;
    uint8_t newest;
    uint8_t pending;
    bool last_wqe_due;
    uint32_t srqn;
    MocxReplay *replay;
    MocxRecvWqe wqe;
} MocxResp;

struct MocxQp {
    MocxQueue queue;
    MocxWork req_work, resp_work;
    MocxTimer timer;        /* ACK or RNR wait; in ERR: look for posted WQEs */

    uint8_t type;           /* MOCX_QP_* */
    uint8_t state;          /* MocxQpState */
    uint8_t service;        /* MOCX_SVC_* */
    uint8_t rights;         /* MOCX_REMOTE_* of rre, rwe, rae */
    bool reserved_lkey;
    bool wq_signature;
    uint8_t rnr_retry, retry_count;
    uint8_t min_rnr;
    uint8_t ack_timeout;
    uint8_t log_msg_max;
    uint8_t sra_max;
    uint8_t gid_index;
    uint8_t counter_set;
    uint32_t mtu;           /* bytes */
    uint32_t remote_qpn;
    uint32_t qkey;
    uint32_t user_index;
    uint32_t pdn;
    bool poller;            /* ERR: looks for receive WQEs now and then */
    uint16_t polls;         /* how often it found none */
    uint32_t poll_ms;       /* how long it waited last */

    MocxRing ring;
    uint64_t dbr;
    uint64_t rq_span, sq_span;  /* bytes; the RQ comes first */
    uint8_t log_rq_stride;
    uint16_t rq_posted;     /* as last read from the record */
    uint16_t rq_taken;

    MocxObj *pd, *xrcd;
    MocxCq *scq, *rcq;
    MocxSrq *srq;

    MocxPath path;          /* of RC, UC, XRC; source refreshed before use */
    MocxReq req;
    MocxResp resp;
    uint8_t ctx[DEVX_ST_SZ_BYTES(qpc)];
};

/** mocx_qp_find() - by number, or NULL */
MocxQp *mocx_qp_find(MocxDev *dev, uint32_t qpn);

/** mocx_qp_decode() - take over the fields that the data path uses from @ctx */
void mocx_qp_decode(MocxQp *qp);

/**
 * mocx_qp_error() - to ERR, by command or by fault
 * @dev: the device
 * @qp: the queue pair; may be in ERR already
 *
 * What is posted is flushed by the work items; a NAK that is due still goes
 * out before.
 */
void mocx_qp_error(MocxDev *dev, MocxQp *qp);
/** mocx_qp_fatal() - an error that no CQE can carry: QP_FATAL, then ERR */
void mocx_qp_fatal(MocxDev *dev, MocxQp *qp);
/** mocx_qp_timer() - the QP's one timer has run out */
void mocx_qp_timer(MocxDev *dev, MocxTimer *timer);
/** mocx_qp_stop() - no work, no timer, nothing in flight: RESET and DESTROY */
void mocx_qp_stop(MocxDev *dev, MocxQp *qp);

/* qp_modify.c: the transitions, listed by qp.c */
MocxCmdFn mocx_qp_modify, mocx_qp_2err, mocx_qp_2rst;

/* flush.c: an SQ or RQ in error gives its WQEs back, as a work item */
bool mocx_flush_sq(MocxDev *dev, MocxQp *qp, unsigned budget, unsigned *used);
bool mocx_flush_rq(MocxDev *dev, MocxQp *qp, unsigned budget, unsigned *used);
/** mocx_flush_anew() - something may have been posted to a QP in error */
void mocx_flush_anew(MocxDev *dev, MocxQp *qp);
/** mocx_flush_stop() - it is in error no more */
void mocx_flush_stop(MocxDev *dev, MocxQp *qp);

static inline uint32_t mocx_qpn(const MocxQp *qp)
{
    return qp->queue.obj.id;
}

static inline bool mocx_qp_reliable(const MocxQp *qp)
{
    return qp->type == MOCX_QP_RC || qp->type == MOCX_QP_XRC;
}

static inline bool mocx_qp_datagram(const MocxQp *qp)
{
    return qp->type == MOCX_QP_UD || qp->type == MOCX_QP_GSI;
}

static inline MocxQCounter *mocx_qp_count(MocxDev *dev, const MocxQp *qp)
{
    return mocx_q_counter(dev, qp->counter_set);
}

/** mocx_qp_access() - how this QP reaches memory by its own keys */
static inline MocxAccess mocx_qp_access(const MocxQp *qp, uint8_t need)
{
    return (MocxAccess) {
        .pdn = qp->pdn, .qpn = mocx_qpn(qp), .need = need,
        .reserved_lkey = qp->reserved_lkey,
    };
}

#endif /* MOCX_QP_H */
