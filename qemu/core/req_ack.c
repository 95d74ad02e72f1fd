// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requester: what comes back.  ACKs, the data of READs and atomics, NAKs, and
 * the silence that the timer ends (IBTA 9.7.5 and 9.9.2).
 *
 * PSNs are compared as distances forward from the oldest that is not
 * acknowledged; what is not in flight is a ghost of an earlier life.
 */
#include "psn.h"
#include "roce.h"

#define NSEC_PER_USEC       1000ull
/*
 * 4.096 us << timeout.  A shorter wait than 2^14 (67 ms) would only measure how
 * busy the host of the emulator is; a ConnectX does not go below 2^16.
 */
#define TIMEOUT_UNIT_NS     4096ull
#define TIMEOUT_MIN         14
/* IBTA lets a timeout last four times what it says; later ones do. */
#define BACKOFF_MAX         2

enum {                      /* top bits of the syndrome of an AETH */
    AETH_ACK = 0, AETH_RNR = 1, AETH_NAK = 3,
    NAK_SEQUENCE = 0, NAK_INVALID = 1, NAK_ACCESS = 2, NAK_OPERATION = 3,
};

#define RNR_RETRY_FOREVER   7

/* IBTA table 45, microseconds. */
static const uint32_t rnr_usec[32] = {
    655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280,
    1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440,
    81920, 122880, 163840, 245760, 327680, 491520,
};

static uint64_t timeout_ns(const MocxQp *qp)
{
    unsigned t = qp->ack_timeout < TIMEOUT_MIN ? TIMEOUT_MIN : qp->ack_timeout;

    return TIMEOUT_UNIT_NS << (t + qp->req.backoff);
}

void mocx_req_arm(MocxDev *dev, MocxQp *qp)
{
    if (!qp->ack_timeout || qp->req.rnr_wait) {
        return;             /* zero: wait for ever */
    }
    /* A timer that runs is left alone and put right when it fires. */
    qp->req.deadline = mocx_now(dev) + timeout_ns(qp);
    if (!qp->timer.pos || qp->timer.deadline > qp->req.deadline) {
        mocx_timer_arm(dev, &qp->timer, qp->req.deadline);
    }
}

void mocx_req_progress(MocxDev *dev, MocxQp *qp)
{
    MocxReq *r = &qp->req;

    r->retries = qp->retry_count;
    r->rnr_retries = qp->rnr_retry;
    r->backoff = 0;
    r->recovering = false;
    if (r->una != r->max) {
        mocx_req_arm(dev, qp);
    }
    mocx_work_queue(dev, &qp->req_work);
}

/* Send everything from the oldest PSN again. */
static void go_back(MocxDev *dev, MocxQp *qp)
{
    MocxReq *r = &qp->req;

    for (uint32_t i = r->head; i != r->tail; i++) {
        mocx_req_rec(qp, i)->on_wire = false;
    }
    r->reads = 0;
    r->read_psns = 0;
    r->nxt = r->una;
    r->cur = r->head;
    mocx_work_queue(dev, &qp->req_work);
}

/* Return: false if that was the last try. */
static bool retry(MocxDev *dev, MocxQp *qp)
{
    MocxReq *r = &qp->req;

    if (!r->retries) {
        mocx_req_fail(dev, qp, MOCX_ERR_RETRY);
        return false;
    }
    r->retries--;
    go_back(dev, qp);
    return true;
}

/* The data of a READ or atomic is missing although a later answer came. */
static void implied_nak(MocxDev *dev, MocxQp *qp)
{
    if (qp->req.recovering || qp->req.rnr_wait) {
        return;
    }
    mocx_qp_count(dev, qp)->implied_nak_seq_err++;
    qp->req.recovering = true;
    if (retry(dev, qp)) {
        mocx_req_arm(dev, qp);
    }
}

/* Everything before @psn; Return: false if the packet leads no further. */
static bool acknowledge(MocxDev *dev, MocxQp *qp, uint32_t psn)
{
    uint32_t before = qp->req.una;
    uint32_t head = qp->req.head;
    bool complete = mocx_req_advance(dev, qp, psn);

    if (qp->state != MOCX_QP_RTS) {
        return false;
    }
    if (qp->req.una != before || qp->req.head != head) {
        mocx_req_progress(dev, qp);
    }
    if (!complete) {
        implied_nak(dev, qp);
    }
    return complete;
}

static MocxSendRec *oldest(const MocxQp *qp)
{
    return qp->req.head != qp->req.tail ? mocx_req_rec(qp, qp->req.head) : NULL;
}

static void sequence_nak(MocxDev *dev, MocxQp *qp, uint32_t psn)
{
    mocx_qp_count(dev, qp)->packet_seq_err++;
    /*
     * A responder that waits after its RNR NAK may complain about what comes
     * behind; that is no reason to resume early.
     */
    if (!acknowledge(dev, qp, psn) || qp->req.rnr_wait ||
        qp->req.recovering) {
        return;
    }
    qp->req.recovering = true;
    if (retry(dev, qp)) {
        mocx_req_arm(dev, qp);
    }
}

static void rnr_nak(MocxDev *dev, MocxQp *qp, uint32_t psn, uint8_t code)
{
    MocxReq *r = &qp->req;

    mocx_qp_count(dev, qp)->rnr_nak_retry_err++;
    if (!acknowledge(dev, qp, psn) || r->rnr_wait) {
        return;
    }
    if (!r->rnr_retries) {
        mocx_req_fail(dev, qp, MOCX_ERR_RNR_RETRY);
        return;
    }
    if (qp->rnr_retry != RNR_RETRY_FOREVER) {
        r->rnr_retries--;
    }
    go_back(dev, qp);
    r->rnr_wait = true;
    r->deadline = mocx_now(dev) + rnr_usec[code] * NSEC_PER_USEC;
    mocx_timer_arm(dev, &qp->timer, r->deadline);
}

static void fatal_nak(MocxDev *dev, MocxQp *qp, uint32_t psn, MocxErr err)
{
    if (acknowledge(dev, qp, psn)) {
        mocx_req_fail(dev, qp, err);
    }
}

static void nak(MocxDev *dev, MocxQp *qp, uint32_t psn, uint8_t code)
{
    switch (code) {
    case NAK_SEQUENCE:
        sequence_nak(dev, qp, psn);
        break;
    case NAK_INVALID:
        fatal_nak(dev, qp, psn, MOCX_ERR_REM_INV_REQ);
        break;
    case NAK_ACCESS:
        fatal_nak(dev, qp, psn, MOCX_ERR_REM_ACCESS);
        break;
    case NAK_OPERATION:
        fatal_nak(dev, qp, psn, MOCX_ERR_REM_OP);
        break;
    }
}

static void on_ack(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt)
{
    uint32_t psn = pkt->bth.psn;
    uint8_t code = pkt->bth.syndrome & 0x1f;

    switch (pkt->bth.syndrome >> 5) {
    case AETH_ACK:
        acknowledge(dev, qp, mocx_psn_add(psn, 1));
        break;
    case AETH_RNR:
        rnr_nak(dev, qp, psn, code);
        break;
    case AETH_NAK:
        nak(dev, qp, psn, code);
        break;
    }
}

/*
 * The record that an answer with data belongs to; NULL if it comes too early,
 * or for a WQE that asked for none.
 */
static MocxSendRec *answered(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt,
                             bool read)
{
    MocxSendRec *rec;

    if (!acknowledge(dev, qp, pkt->bth.psn)) {
        return NULL;
    }
    rec = oldest(qp);
    if (!rec || !rec->npsn) {
        return NULL;
    }
    if (!rec->read || (rec->opcode == MLX5_OPCODE_RDMA_READ) != read) {
        mocx_req_fail(dev, qp, MOCX_ERR_BAD_RESP);
        return NULL;
    }
    if (pkt->bth.psn != qp->req.una) {
        implied_nak(dev, qp);
        return NULL;
    }
    if (!mocx_req_load(dev, qp, rec, &qp->req.buf->rx)) {
        mocx_req_fail(dev, qp, MOCX_ERR_QP_OP);
        return NULL;
    }
    return rec;
}

/* One PSN of a READ or atomic has brought what it should. */
static void take_answer(MocxDev *dev, MocxQp *qp, MocxSendRec *rec)
{
    MocxReq *r = &qp->req;
    uint32_t next = mocx_psn_add(r->una, 1);

    rec->done = next == mocx_psn_add(rec->psn, rec->npsn);
    if (rec->done) {
        mocx_req_advance(dev, qp, next);
    } else {
        if (r->nxt == r->una) {
            r->nxt = next;
        }
        r->una = next;
    }
    mocx_req_progress(dev, qp);
}

static void on_read_response(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt)
{
    MocxSendRec *rec = answered(dev, qp, pkt, true);
    uint32_t left, want;
    uint64_t off;

    if (!rec) {
        return;
    }
    off = (uint64_t)mocx_psn_dist(pkt->bth.psn, rec->psn) * qp->mtu;
    left = (uint32_t)(rec->len - off);
    want = left < qp->mtu ? left : qp->mtu;
    /*
     * An answer that was asked for again may begin with a MIDDLE or a FIRST;
     * only its end is certain.
     */
    if (pkt->len != want || !(pkt->op.pos & MOCX_PKT_LAST) != (want < left)) {
        mocx_req_fail(dev, qp, MOCX_ERR_SEND_LEN);
        return;
    }
    if (mocx_wqe_write(dev, qp, &qp->req.buf->rx, off, pkt->payload, want)) {
        mocx_req_fail(dev, qp, MOCX_ERR_PROT_RESULT);
        return;
    }
    take_answer(dev, qp, rec);
}

/*
 * The original value lands in the requester's memory in the byte order of the
 * host, as atomic_req_8B_endianness_mode 1 has it.
 */
static void on_atomic_ack(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt)
{
    MocxSendRec *rec = answered(dev, qp, pkt, false);
    uint64_t orig = htole64(pkt->bth.orig);

    if (!rec) {
        return;
    }
    if (mocx_wqe_write(dev, qp, &qp->req.buf->rx, 0, (uint8_t *)&orig,
                       sizeof(orig))) {
        mocx_req_fail(dev, qp, MOCX_ERR_PROT_RESULT);
        return;
    }
    take_answer(dev, qp, rec);
}

/*
 * A NAK for a READ should have the PSN of the answer it stands for; rdma_rxe
 * gives that of the request, which is older than what was acknowledged since.
 */
static bool nak_of_read(const MocxQp *qp, const MocxPkt *pkt)
{
    const MocxSendRec *rec = oldest(qp);

    return rec && rec->read && pkt->op.op == MOCX_PKT_ACK &&
           pkt->bth.syndrome >> 5 == AETH_NAK &&
           (pkt->bth.syndrome & 0x1f) != NAK_SEQUENCE &&
           mocx_psn_dist(pkt->bth.psn, rec->psn) < rec->npsn;
}

static bool in_flight(const MocxQp *qp, uint32_t psn)
{
    return mocx_psn_dist(psn, qp->req.una) <
           mocx_psn_dist(qp->req.max, qp->req.una);
}

void mocx_req_packet(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt)
{
    MocxPkt fixed;

    if (qp->state != MOCX_QP_RTS) {
        return;
    }
    if (!in_flight(qp, pkt->bth.psn)) {
        if (!nak_of_read(qp, pkt)) {
            return;
        }
        fixed = *pkt;
        fixed.bth.psn = qp->req.una;
        pkt = &fixed;
    }
    if (pkt->op.op == MOCX_PKT_READ_RESP) {
        on_read_response(dev, qp, pkt);
    } else if (pkt->op.op == MOCX_PKT_ATOMIC_ACK) {
        on_atomic_ack(dev, qp, pkt);
    } else {
        on_ack(dev, qp, pkt);
    }
}

void mocx_req_timeout(MocxDev *dev, MocxQp *qp)
{
    MocxReq *r = &qp->req;

    if (r->rnr_wait && mocx_now(dev) >= r->deadline) {
        r->rnr_wait = false;
        mocx_work_queue(dev, &qp->req_work);
        return;
    }
    if (r->una == r->max && !r->rnr_wait) {
        return;
    }
    if (mocx_now(dev) < r->deadline) {
        mocx_timer_arm(dev, &qp->timer, r->deadline);
        return;
    }
    if (!mocx_tx_room(dev, 1)) {
        mocx_req_arm(dev, qp);      /* the wire is what we wait for */
        return;
    }
    mocx_qp_count(dev, qp)->local_ack_timeout_err++;
    r->recovering = false;
    if (retry(dev, qp)) {
        r->backoff += r->backoff < BACKOFF_MAX;
        mocx_req_arm(dev, qp);
    }
}
