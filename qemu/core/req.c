// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requester: from send WQEs to packets.
 *
 * WQEs are fetched in order, one at a time; each has a record until it has
 * completed.  @cur walks over the records, and sending is whatever @nxt says:
 * to go back, both are put back to the oldest record and the oldest PSN that is
 * not acknowledged, and everything from there on is read from guest memory and
 * sent again (IBTA 9.7.5.1.1, go-back-N).
 */
#include "heap.h"
#include "roce.h"

#include "psn.h"

/*
 * Packets of SEND and WRITE in flight.  Deep enough for the round trip between
 * two emulated hosts, shallow enough that a loss does not repeat much.
 */
#define WINDOW          512
/* Ask for an ACK at least this often inside a long message. */
#define ACK_BURST       64

typedef enum Step {
    STEP_DONE,              /* one unit of work */
    STEP_IDLE,              /* nothing to do, or not before something else */
    STEP_WAIT_TX,
} Step;

static void verify_record(MocxDev *dev, const MocxQp *qp, uint16_t pi)
{
    const MocxReq *r = &qp->req;
    MocxRecordCheck check = {
        .qpn = mocx_qpn(qp), .kind = "send", .was = r->pi, .now = pi,
        .oldest = r->head != r->tail ? mocx_req_rec(qp, r->head)->counter
                                     : r->fetch,
        .size = qp->sq_span / MOCX_WQE_BB,
    };

    mocx_verify_record(dev, &check);
}

static bool read_record(MocxDev *dev, MocxQp *qp)
{
    MocxReq *r = &qp->req;
    uint8_t be[4];

    if (!qp->sq_span) {
        return false;
    }
    if (!mocx_dma_read(dev, qp->dbr + 4, be, sizeof(be))) {
        mocx_qp_fatal(dev, qp);
        return false;
    }
    if (dev->verify) {
        verify_record(dev, qp, mocx_get_be32(be));
    }
    r->pi = (uint16_t)mocx_get_be32(be);
    if ((uint16_t)(r->pi - r->fetch) > qp->sq_span / MOCX_WQE_BB) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR,
                 "QP %u: send producer %u is beyond the ring (next WQE %u)",
                 mocx_qpn(qp), r->pi, r->fetch);
        r->pi = r->fetch;
        mocx_qp_fatal(dev, qp);
        return false;
    }
    return true;
}

void mocx_req_start(MocxDev *dev, MocxQp *qp)
{
    MocxReq *r = &qp->req;

    (void)dev;
    r->una = r->nxt = r->max = DEVX_GET(qpc, qp->ctx, next_send_psn);
    r->retries = qp->retry_count;
    r->rnr_retries = qp->rnr_retry;
}

void mocx_req_stop(MocxQp *qp)
{
    mocx_free(qp->req.buf);
    qp->req = (MocxReq) { 0 };
}

bool mocx_req_load(MocxDev *dev, MocxQp *qp, const MocxSendRec *rec,
                   MocxWqe *wqe)
{
    if (wqe->valid && wqe->counter == rec->counter) {
        return true;
    }
    if (mocx_wqe_fetch(dev, qp, rec->counter, rec->blocks, wqe) ==
        MOCX_WQE_OK && wqe->opcode == rec->opcode && wqe->len == rec->len) {
        return true;
    }
    wqe->valid = false;
    return false;
}

static void set_error(MocxSendRec *rec, MocxErr err)
{
    rec->syndrome = err.syndrome;
    rec->vendor = err.vendor;
}

static bool is_read(uint8_t opcode)
{
    return opcode == MLX5_OPCODE_RDMA_READ || opcode == MLX5_OPCODE_ATOMIC_CS ||
           opcode == MLX5_OPCODE_ATOMIC_FA;
}

static bool is_local(uint8_t opcode)
{
    return opcode == MLX5_OPCODE_NOP || opcode == MLX5_OPCODE_UMR;
}

static uint32_t psns_of(const MocxQp *qp, const MocxWqe *wqe)
{
    return is_local(wqe->opcode) ? 0 : mocx_psn_count(wqe->len, qp->mtu);
}

/* Errors that can be told from the WQE alone. */
static MocxErr check_wqe(const MocxQp *qp, const MocxWqe *wqe, MocxWqeResult r)
{
    if (r != MOCX_WQE_OK) {
        return MOCX_ERR_QP_OP;
    }
    if (wqe->len > 1ULL << qp->log_msg_max ||
        (mocx_qp_datagram(qp) && wqe->len > qp->mtu)) {
        return MOCX_ERR_SEND_LEN;
    }
    return (MocxErr) { 0 };
}

static Step fetch_next(MocxDev *dev, MocxQp *qp)
{
    MocxReq *r = &qp->req;
    MocxWqe *wqe = &r->buf->tx;
    MocxSendRec *rec = mocx_req_rec(qp, r->tail);
    MocxWqeResult result;

    if (r->fetch == r->pi || r->tail - r->head == MOCX_SEND_RECS) {
        return STEP_IDLE;
    }
    result = mocx_wqe_fetch(dev, qp, r->fetch, (uint16_t)(r->pi - r->fetch),
                            wqe);
    if (result == MOCX_WQE_NO_MEMORY) {
        mocx_qp_fatal(dev, qp);
        return STEP_IDLE;
    }
    if (dev->verify) {
        mocx_verify_wqe(dev, mocx_qpn(qp), wqe->counter, wqe->raw);
    }
    *rec = (MocxSendRec) {
        .counter = wqe->counter, .opcode = wqe->opcode, .blocks = wqe->blocks,
        .signalled = wqe->signalled, .read = is_read(wqe->opcode),
        .psn = r->nxt,
    };
    set_error(rec, check_wqe(qp, wqe, result));
    if (!rec->syndrome) {
        rec->len = (uint32_t)wqe->len;
        rec->npsn = psns_of(qp, wqe);
    }
    r->fetch += wqe->blocks;
    r->tail++;
    return STEP_DONE;
}

/*
 * To SQE where only the send side is at fault and nobody else can be
 * (IBTA 10.3.1.5); a reliable QP ends.
 */
static void end_send_side(MocxDev *dev, MocxQp *qp)
{
    if (qp->type == MOCX_QP_UC || mocx_qp_datagram(qp)) {
        qp->state = MOCX_QP_SQER;
        mocx_work_queue(dev, &qp->req_work);
    } else {
        mocx_qp_error(dev, qp);
    }
}

static void pop(MocxQp *qp)
{
    MocxReq *r = &qp->req;
    MocxSendRec *rec = mocx_req_rec(qp, r->head);

    if (rec->on_wire) {
        rec->on_wire = false;
        r->reads--;
        r->read_psns -= rec->npsn;
    }
    if (rec->read) {
        r->buf->rx.valid = false;   /* its number comes again */
    }
    if (r->cur == r->head) {
        r->cur++;
    }
    r->head++;
}

void mocx_req_fail(MocxDev *dev, MocxQp *qp, MocxErr err)
{
    MocxReq *r = &qp->req;
    const MocxSendRec *rec;

    if (r->head == r->tail) {
        return;
    }
    rec = mocx_req_rec(qp, r->head);
    pop(qp);
    end_send_side(dev, qp);
    mocx_comp_send_err(dev, qp, rec->counter, rec->opcode, err);
}

static void set_una(MocxReq *r, uint32_t psn)
{
    if (mocx_psn_dist(r->nxt, r->una) < mocx_psn_dist(psn, r->una)) {
        r->nxt = psn;
    }
    r->una = psn;
}

bool mocx_req_advance(MocxDev *dev, MocxQp *qp, uint32_t upto)
{
    MocxReq *r = &qp->req;

    while (r->head != r->tail && qp->state != MOCX_QP_ERR) {
        MocxSendRec *rec = mocx_req_rec(qp, r->head);
        uint32_t end = mocx_psn_add(rec->psn, rec->npsn);

        if (!rec->npsn && !rec->done) {
            return true;
        }
        if (mocx_psn_dist(end, r->una) > mocx_psn_dist(upto, r->una)) {
            if (!rec->read) {
                set_una(r, upto);
            }
            return true;
        }
        if (rec->read && !rec->done) {
            return false;
        }
        set_una(r, end);
        pop(qp);
        mocx_comp_send(dev, qp, rec);
    }
    return true;
}

static bool fenced(const MocxQp *qp, uint8_t fence)
{
    switch (fence) {
    case MOCX_FENCE_READS:
    case MOCX_FENCE_SMALL_AND_READS:
        return qp->req.reads;
    case MOCX_FENCE_ALL:
        return qp->req.head != qp->req.cur;
    default:
        return false;       /* UMRs are done in order and at once */
    }
}

static bool window_open(const MocxQp *qp, const MocxSendRec *rec)
{
    const MocxReq *r = &qp->req;
    uint32_t out = mocx_psn_dist(r->nxt, r->una);

    if (!mocx_qp_reliable(qp) || r->head == r->cur) {
        return !mocx_qp_reliable(qp) || rec->read || out < WINDOW;
    }
    if (rec->read) {
        return r->reads < qp->sra_max && out + rec->npsn < MOCX_PSN_HALF;
    }
    return out < WINDOW + r->read_psns && out < MOCX_PSN_HALF - 1;
}

/* Headers that every packet of a connected QP has. */
static MocxBth bth_of(const MocxQp *qp, uint8_t low)
{
    return (MocxBth) {
        .opcode = qp->service | low, .migrated = true,
        .pkey = MOCX_PKEY_DEFAULT, .qpn = qp->remote_qpn,
        .psn = qp->req.nxt,
    };
}

/* @n PSNs go out, @whole: and with them all of the WQE. */
static void sent(MocxDev *dev, MocxQp *qp, uint32_t n, bool whole)
{
    MocxReq *r = &qp->req;

    if (r->nxt == r->una && mocx_qp_reliable(qp)) {
        mocx_req_arm(dev, qp);
    }
    r->nxt = mocx_psn_add(r->nxt, n);
    if (mocx_psn_dist(r->nxt, r->una) > mocx_psn_dist(r->max, r->una)) {
        r->max = r->nxt;
    }
    r->cur += whole;
}

/* Low bits of the opcode by place in the message. */
typedef struct DataOps {
    uint8_t first, middle, last, only;
} DataOps;

static const DataOps data_ops[] = {
    [MLX5_OPCODE_SEND] = { 0x00, 0x01, 0x02, 0x04 },
    [MLX5_OPCODE_SEND_IMM] = { 0x00, 0x01, 0x03, 0x05 },
    [MLX5_OPCODE_SEND_INVAL] = { 0x00, 0x01, 0x16, 0x17 },
    [MLX5_OPCODE_RDMA_WRITE] = { 0x06, 0x07, 0x08, 0x0a },
    [MLX5_OPCODE_RDMA_WRITE_IMM] = { 0x06, 0x07, 0x09, 0x0b },
};

static uint8_t data_op(uint8_t opcode, bool first, bool last)
{
    const DataOps *ops = &data_ops[opcode];

    return first ? (last ? ops->only : ops->first)
                 : (last ? ops->last : ops->middle);
}

static MocxBth data_bth(MocxQp *qp, const MocxWqe *wqe, bool first, bool last)
{
    MocxBth bth = bth_of(qp, data_op(wqe->opcode, first, last));
    MocxReq *r = &qp->req;

    bth.va = wqe->raddr;
    bth.rkey = wqe->rkey;
    bth.dma_len = (uint32_t)wqe->len;
    bth.imm = wqe->imm;
    bth.srqn = wqe->srqn;
    bth.solicited = last && wqe->solicited &&
                    wqe->opcode != MLX5_OPCODE_RDMA_WRITE;
    if (mocx_qp_reliable(qp)) {
        bth.ack_req = last || ++r->burst >= ACK_BURST;
        r->burst = bth.ack_req ? 0 : r->burst;
    }
    return bth;
}

/* The next packet of a SEND or WRITE. */
static Step send_data(MocxDev *dev, MocxQp *qp, MocxSendRec *rec)
{
    MocxReq *r = &qp->req;
    const MocxWqe *wqe = &r->buf->tx;
    const MocxPath *path = mocx_roce_path(dev, qp);
    uint64_t off = (uint64_t)mocx_psn_dist(r->nxt, rec->psn) * qp->mtu;
    uint32_t left = (uint32_t)(rec->len - off);
    uint32_t n = left < qp->mtu ? left : qp->mtu;
    bool last = n == left;
    MocxBth bth = data_bth(qp, wqe, !off, last);
    MocxTxPkt tx;

    if (path) {
        mocx_pkt_begin(dev, &tx, path, &bth, n);
        if (mocx_wqe_read(dev, qp, wqe, off, tx.payload, n)) {
            set_error(rec, MOCX_ERR_PROT);
            return STEP_DONE;
        }
    }
    sent(dev, qp, 1, last);
    if (path) {
        mocx_pkt_end(dev, &tx);
    }
    if (qp->type == MOCX_QP_UC && last) {
        mocx_req_advance(dev, qp, r->nxt);
    }
    return STEP_DONE;
}

static MocxBth read_bth(const MocxQp *qp, const MocxWqe *wqe, uint64_t off)
{
    static const uint8_t low[] = {
        [MLX5_OPCODE_RDMA_READ] = MOCX_LOW_READ_REQ,
        [MLX5_OPCODE_ATOMIC_CS] = MOCX_LOW_CMP_SWAP,
        [MLX5_OPCODE_ATOMIC_FA] = MOCX_LOW_FETCH_ADD,
    };
    MocxBth bth = bth_of(qp, low[wqe->opcode]);

    bth.ack_req = true;
    bth.va = wqe->raddr + off;
    bth.rkey = wqe->rkey;
    bth.dma_len = (uint32_t)(wqe->len - off);
    bth.swap_add = wqe->swap_add;
    bth.compare = wqe->compare;
    bth.srqn = wqe->srqn;
    return bth;
}

/* A READ or atomic, or what a READ still lacks. */
static Step send_read(MocxDev *dev, MocxQp *qp, MocxSendRec *rec)
{
    MocxReq *r = &qp->req;
    const MocxPath *path = mocx_roce_path(dev, qp);
    uint32_t done = mocx_psn_dist(r->nxt, rec->psn);
    MocxBth bth = read_bth(qp, &r->buf->tx, (uint64_t)done * qp->mtu);
    MocxTxPkt tx;

    rec->on_wire = true;
    r->reads++;
    r->read_psns += rec->npsn;
    r->burst = 0;
    sent(dev, qp, rec->npsn - done, true);
    if (path) {
        mocx_pkt_begin(dev, &tx, path, &bth, 0);
        mocx_pkt_end(dev, &tx);
    }
    return STEP_DONE;
}

static Step send_datagram(MocxDev *dev, MocxQp *qp, MocxSendRec *rec)
{
    MocxErr err = mocx_ud_send(dev, qp, &qp->req.buf->tx);

    if (err.syndrome) {
        set_error(rec, err);
        return STEP_DONE;
    }
    sent(dev, qp, 1, true);
    mocx_req_advance(dev, qp, qp->req.nxt);
    return STEP_DONE;
}

static Step execute_local(MocxDev *dev, MocxQp *qp, MocxSendRec *rec)
{
    MocxErr err = { 0 };

    if (!rec->done && rec->opcode == MLX5_OPCODE_UMR) {
        err = mocx_umr_execute(dev, qp, &qp->req.buf->tx);
    }
    if (err.syndrome) {
        set_error(rec, err);
        return STEP_DONE;
    }
    rec->done = true;
    qp->req.cur++;
    mocx_req_advance(dev, qp, qp->req.una);
    return STEP_DONE;
}

static Step send_one(MocxDev *dev, MocxQp *qp, MocxSendRec *rec)
{
    if (!mocx_req_load(dev, qp, rec, &qp->req.buf->tx)) {
        set_error(rec, MOCX_ERR_QP_OP);
        return STEP_DONE;
    }
    if (fenced(qp, qp->req.buf->tx.fence) || !window_open(qp, rec)) {
        return STEP_IDLE;   /* an ACK starts us again */
    }
    if (is_local(rec->opcode)) {
        return execute_local(dev, qp, rec);
    }
    if (!mocx_tx_room(dev, 1)) {
        return STEP_WAIT_TX;
    }
    if (mocx_qp_datagram(qp)) {
        return send_datagram(dev, qp, rec);
    }
    return rec->read ? send_read(dev, qp, rec) : send_data(dev, qp, rec);
}

static Step step(MocxDev *dev, MocxQp *qp)
{
    MocxReq *r = &qp->req;
    MocxSendRec *rec;

    if (r->rnr_wait) {
        return STEP_IDLE;
    }
    if (r->cur == r->tail) {
        Step fetched = fetch_next(dev, qp);

        if (fetched != STEP_DONE) {
            return fetched;
        }
    }
    rec = mocx_req_rec(qp, r->cur);
    if (!rec->syndrome) {
        return send_one(dev, qp, rec);
    }
    /* CQEs come in order: those before it must have theirs. */
    if (r->cur == r->head) {
        mocx_req_fail(dev, qp, (MocxErr) { rec->syndrome, rec->vendor });
    }
    return STEP_IDLE;
}

/*
 * A guest can have more queue pairs than a host has memory for buffers: only
 * those that have work hold one.
 */
static bool have_buf(MocxDev *dev, MocxQp *qp)
{
    MocxRoce *roce = dev->roce;
    MocxSendBuf *buf = qp->req.buf;

    if (buf) {
        return true;
    }
    buf = roce->num_spare ? roce->spare[--roce->num_spare]
                          : mocx_malloc(&dev->heap, sizeof(*buf));
    if (!buf) {
        mocx_qp_fatal(dev, qp);
        return false;
    }
    buf->tx.valid = buf->rx.valid = false;
    qp->req.buf = buf;
    return true;
}

static void give_buf_back(MocxDev *dev, MocxQp *qp)
{
    MocxRoce *roce = dev->roce;

    if (!qp->req.buf) {
        return;
    }
    if (roce->num_spare < MOCX_SPARE_BUFS) {
        roce->spare[roce->num_spare++] = qp->req.buf;
    } else {
        mocx_free(qp->req.buf);
    }
    qp->req.buf = NULL;
}

static bool idle(const MocxReq *r)
{
    return r->head == r->tail && r->fetch == r->pi;
}

bool mocx_req_work(MocxDev *dev, MocxWork *work, unsigned budget,
                   unsigned *used)
{
    MocxQp *qp = MOCX_CONTAINER_OF(work, MocxQp, req_work);

    bool told = qp->state >= MOCX_QP_RTS && read_record(dev, qp);

    if (qp->state == MOCX_QP_ERR || qp->state == MOCX_QP_SQER) {
        if (mocx_flush_sq(dev, qp, budget, used)) {
            return true;
        }
        give_buf_back(dev, qp);
        return false;
    }
    if (!told || qp->state != MOCX_QP_RTS) {
        return false;
    }
    if (idle(&qp->req)) {
        give_buf_back(dev, qp);
        return false;
    }
    if (!have_buf(dev, qp)) {
        return false;
    }
    while (*used < budget) {
        switch (step(dev, qp)) {
        case STEP_DONE:
            ++*used;
            break;
        case STEP_WAIT_TX:
            mocx_work_wait_tx(dev, work);
            return false;
        case STEP_IDLE:
            if (idle(&qp->req)) {
                give_buf_back(dev, qp);
            }
            return false;
        }
        if (qp->state != MOCX_QP_RTS) {
            return true;
        }
    }
    return true;
}
