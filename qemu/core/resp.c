// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Responder: requests of RC, XRC and UC.
 *
 * A packet is checked in the order that IBTA 9.7.4 gives and rdma_rxe has, each
 * check a function that answers with a verdict; a verdict is a row that says
 * what follows.  Nothing is sent from here: what is due is noted, and
 * resp_ack.c sends it when the slice's packets are through, which is what
 * coalesces ACKs.
 */
#include "heap.h"
#include "resp.h"

#define LEN_MAX         (1u << 31)      /* IBTA C9-92, C9-94 */

/**
 * struct Outcome - what a verdict leads to (RC; both sides of table 4.3)
 * @nak: syndrome sent, 0: none
 * @err: CQE if a receive WQE is held
 * @event: if none is
 */
typedef struct Outcome {
    uint8_t nak;
    MocxErr err;
    uint8_t event;
} Outcome;

static const Outcome outcomes[] = {
    [MOCX_V_INVALID] = { MOCX_SYN_INVALID, { 0x12, 0x8a }, MOCX_EV_QP_REQ_ERR },
    [MOCX_V_TOO_LONG] = { MOCX_SYN_INVALID, { 0x01, 0x8e }, 0 },
    [MOCX_V_ACCESS] = { MOCX_SYN_ACCESS, { 0x11, 0x00 },
                        MOCX_EV_QP_ACCESS_ERR },
    [MOCX_V_WRITE_FAULT] = { MOCX_SYN_OPERATION, { 0x11, 0x00 },
                        MOCX_EV_QP_ACCESS_ERR },
    [MOCX_V_RECV_PROT] = { MOCX_SYN_OPERATION, { 0x04, 0x51 }, 0 },
    [MOCX_V_RECV_WQE] = { MOCX_SYN_OPERATION, { 0x02, 0xd6 }, 0 },
    [MOCX_V_INVALIDATE] = { 0, { 0x12, 0x8a }, 0 },
};

/* Entries are laid out anew with the newest last. */
static void keep_newest(MocxReplay *to, unsigned depth, const MocxResp *resp)
{
    unsigned n = depth < resp->depth ? depth : resp->depth;

    for (unsigned age = 0; age < n; age++) {
        to[depth - 1 - age] = resp->replay[(resp->newest + resp->depth - age) %
                                           resp->depth];
    }
}

static unsigned oldest_pending(const MocxResp *resp)
{
    for (unsigned age = resp->depth; resp->pending && age; age--) {
        if (resp->replay[(resp->newest + resp->depth - age + 1) %
                         resp->depth].pending) {
            return age;
        }
    }
    return 1;
}

bool mocx_resp_resize(MocxQp *qp, unsigned depth)
{
    MocxResp *resp = &qp->resp;
    unsigned due = oldest_pending(resp);
    MocxReplay *replay;

    depth = depth < due ? due : depth;
    if (depth == resp->depth) {
        return true;
    }
    replay = mocx_calloc(mocx_heap_of(qp), depth, sizeof(*replay));
    if (!replay) {
        return false;
    }
    keep_newest(replay, depth, resp);
    mocx_free(resp->replay);
    resp->replay = replay;
    resp->depth = (uint8_t)depth;
    resp->newest = (uint8_t)(depth - 1);
    return true;
}

bool mocx_resp_start(MocxQp *qp)
{
    MocxResp *resp = &qp->resp;
    unsigned depth = 0;

    mocx_resp_stop(qp);
    if (mocx_qp_reliable(qp)) {
        depth = 1u << DEVX_GET(qpc, qp->ctx, log_rra_max);
        resp->replay = mocx_calloc(mocx_heap_of(qp), depth,
                                   sizeof(*resp->replay));
        if (!resp->replay) {
            return false;
        }
    }
    resp->depth = (uint8_t)depth;
    resp->epsn = DEVX_GET(qpc, qp->ctx, next_rcv_psn);
    return true;
}

void mocx_resp_stop(MocxQp *qp)
{
    mocx_free(qp->resp.replay);
    qp->resp = (MocxResp) { 0 };
}

MocxSrq *mocx_resp_srq(MocxDev *dev, const MocxQp *qp)
{
    return qp->type == MOCX_QP_XRC ? mocx_srq_find(dev, qp->resp.srqn)
                                   : qp->srq;
}

static void send_nak(const MocxRequest *c, uint8_t syndrome)
{
    MocxResp *resp = &c->qp->resp;

    if (!mocx_qp_reliable(c->qp)) {
        return;
    }
    resp->silent = true;
    resp->nak = true;
    resp->nak_syndrome = syndrome;
    resp->nak_psn = resp->epsn;
    mocx_work_queue(c->dev, &c->qp->resp_work);
}

static void send_ack(const MocxRequest *c)
{
    c->qp->resp.ack = true;
    mocx_work_queue(c->dev, &c->qp->resp_work);
}

/* Checks, in order */

/*
 * XRC: the SRQ that the packet names must be of the QP's domain, and be the
 * same in all packets of a message.
 */
static MocxVerdict check_srq(MocxRequest *c)
{
    c->srq = c->qp->srq;
    c->pdn = c->qp->pdn;
    if (c->qp->type != MOCX_QP_XRC) {
        return MOCX_V_OK;
    }
    if (c->pkt->op.pos & MOCX_PKT_FIRST) {
        c->qp->resp.srqn = c->pkt->bth.srqn;
    } else if (c->qp->resp.srqn != c->pkt->bth.srqn) {
        return MOCX_V_INVALID;
    }
    c->srq = mocx_srq_find(c->dev, c->pkt->bth.srqn);
    if (!c->srq || c->srq->kind != MOCX_SRQ_XRC ||
        c->srq->xrcd != c->qp->xrcd) {
        return MOCX_V_INVALID;
    }
    c->pdn = c->srq->pdn;
    return MOCX_V_OK;
}

static MocxVerdict check_sequence(MocxRequest *c)
{
    uint8_t op = c->pkt->op.op, msg = c->qp->resp.msg;
    bool first = c->pkt->op.pos & MOCX_PKT_FIRST;

    if (msg == MOCX_RESP_SKIP) {
        return MOCX_V_DROP; /* UC; a first packet would have ended this */
    }
    if (first) {
        return msg == MOCX_RESP_IDLE ? MOCX_V_OK : MOCX_V_INVALID;
    }
    return (op == MOCX_PKT_SEND && msg == MOCX_RESP_SEND) ||
           (op == MOCX_PKT_WRITE && msg == MOCX_RESP_WRITE)
           ? MOCX_V_OK : MOCX_V_INVALID;
}

static MocxVerdict check_right(MocxRequest *c)
{
    static const uint8_t need[] = {
        [MOCX_PKT_WRITE] = MOCX_REMOTE_WRITE,
        [MOCX_PKT_READ_REQ] = MOCX_REMOTE_READ,
        [MOCX_PKT_CMP_SWAP] = MOCX_REMOTE_ATOMIC,
        [MOCX_PKT_FETCH_ADD] = MOCX_REMOTE_ATOMIC,
    };

    return need[c->pkt->op.op] & ~c->qp->rights ? MOCX_V_INVALID : MOCX_V_OK;
}

/*
 * Does this packet bind a receive WQE?  SEND with its first packet, WRITE with
 * immediate data with its last.
 */
static bool binds_wqe(const MocxPkt *pkt)
{
    return pkt->op.op == MOCX_PKT_SEND
           ? pkt->op.pos & MOCX_PKT_FIRST
           : pkt->op.op == MOCX_PKT_WRITE && pkt->op.hdrs & MOCX_HDR_IMM;
}

static MocxVerdict check_resource(MocxRequest *c)
{
    MocxResp *resp = &c->qp->resp;

    if (!binds_wqe(c->pkt) || resp->wqe.bound) {
        return MOCX_V_OK;
    }
    switch (mocx_recv_peek(c->dev, c->qp, c->srq, &resp->wqe)) {
    case MOCX_WQE_EMPTY:
        mocx_qp_count(c->dev, c->qp)->out_of_buffer++;
        return MOCX_V_RNR;
    case MOCX_WQE_NO_MEMORY:
        return MOCX_V_FATAL;
    case MOCX_WQE_MALFORMED:
        mocx_recv_take(c->dev, c->qp, c->srq, &resp->wqe);
        return MOCX_V_RECV_WQE;
    case MOCX_WQE_OK:
        break;
    }
    mocx_recv_take(c->dev, c->qp, c->srq, &resp->wqe);
    return MOCX_V_OK;
}

static MocxVerdict check_length(MocxRequest *c)
{
    const MocxPkt *pkt = c->pkt;
    uint32_t mtu = c->qp->mtu;

    if (pkt->op.hdrs & MOCX_HDR_RETH && pkt->bth.dma_len > LEN_MAX) {
        return MOCX_V_INVALID;
    }
    if (pkt->op.op != MOCX_PKT_SEND && pkt->op.op != MOCX_PKT_WRITE) {
        return pkt->len ? MOCX_V_INVALID : MOCX_V_OK;
    }
    if (!(pkt->op.pos & MOCX_PKT_LAST)) {
        return pkt->len == mtu ? MOCX_V_OK : MOCX_V_INVALID;
    }
    if (!(pkt->op.pos & MOCX_PKT_FIRST) && !pkt->len) {
        return MOCX_V_INVALID;
    }
    return pkt->len <= mtu ? MOCX_V_OK : MOCX_V_INVALID;
}

static MocxVerdict check_write_key(MocxRequest *c)
{
    const MocxBth *bth = &c->pkt->bth;
    MocxResp *resp = &c->qp->resp;
    MocxAccess acc = mocx_remote_access(c, MOCX_REMOTE_WRITE);

    if (c->pkt->op.pos & MOCX_PKT_FIRST) {
        MocxVerdict v;

        v = mocx_verdict_of(mocx_mem_check(c->dev, &acc, bth->rkey, bth->va,
                                           bth->dma_len));
        if (v) {
            return v;
        }
        resp->va = bth->va;
        resp->rkey = bth->rkey;
        resp->left = resp->total = bth->dma_len;
    }
    if (c->pkt->op.pos & MOCX_PKT_LAST) {
        return c->pkt->len == resp->left ? MOCX_V_OK : MOCX_V_INVALID;
    }
    return c->pkt->len < resp->left ? MOCX_V_OK : MOCX_V_INVALID;
}

/*
 * The whole range at the first packet; a length of zero is looked at by none
 * (IBTA C9-88).
 */
static MocxVerdict check_key(MocxRequest *c)
{
    const MocxBth *bth = &c->pkt->bth;
    MocxAccess read = mocx_remote_access(c, MOCX_REMOTE_READ);
    MocxAccess atomic = mocx_remote_access(c, MOCX_REMOTE_ATOMIC);

    switch (c->pkt->op.op) {
    case MOCX_PKT_WRITE:
        return check_write_key(c);
    case MOCX_PKT_READ_REQ:
        return mocx_verdict_of(mocx_mem_check(c->dev, &read, bth->rkey,
                                              bth->va, bth->dma_len));
    case MOCX_PKT_CMP_SWAP:
    case MOCX_PKT_FETCH_ADD:
        return mocx_verdict_of(mocx_mem_check(c->dev, &atomic, bth->rkey,
                                              bth->va, sizeof(uint64_t)));
    default:
        return MOCX_V_OK;
    }
}

typedef MocxVerdict CheckFn(MocxRequest *c);

static CheckFn *const checks[] = {
    check_sequence, check_srq, check_right, check_resource, check_length,
    check_key,
};

static CheckFn *const actions[] = {
    [MOCX_PKT_SEND] = mocx_resp_send, [MOCX_PKT_WRITE] = mocx_resp_write,
    [MOCX_PKT_READ_REQ] = mocx_resp_read,
    [MOCX_PKT_CMP_SWAP] = mocx_resp_atomic,
    [MOCX_PKT_FETCH_ADD] = mocx_resp_atomic,
};

static MocxVerdict execute(MocxRequest *c)
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        MocxVerdict v = checks[i](c);

        if (v) {
            return v;
        }
    }
    return actions[c->pkt->op.op](c);
}

/*
 * An error ends the QP; who had a WQE is told by a CQE, who had none by an
 * event.
 */
static void conclude_error(MocxRequest *c, MocxVerdict v)
{
    const Outcome *o = &outcomes[v];
    MocxResp *resp = &c->qp->resp;
    bool bound = resp->wqe.bound;
    MocxSrq *srq = mocx_resp_srq(c->dev, c->qp);

    if (o->nak) {
        send_nak(c, o->nak);
    } else {
        resp->epsn = mocx_psn_add(resp->epsn, 1);
        send_ack(c);
    }
    if (o->nak == MOCX_SYN_ACCESS) {
        mocx_qp_count(c->dev, c->qp)->resp_remote_access_errors++;
    }
    resp->wqe.bound = false;
    mocx_qp_error(c->dev, c->qp);
    if (bound) {
        mocx_comp_recv_err(c->dev, c->qp, srq, resp->wqe.counter, o->err);
    } else if (o->event) {
        mocx_event_queue(c->dev, o->event, 0, mocx_qpn(c->qp));
    }
}

static void conclude(MocxRequest *c, MocxVerdict v)
{
    switch (v) {
    case MOCX_V_OK:
    case MOCX_V_DROP:
        return;
    case MOCX_V_RNR:
        send_nak(c, (uint8_t)(MOCX_SYN_RNR | c->qp->min_rnr));
        return;
    case MOCX_V_FATAL:
        mocx_qp_fatal(c->dev, c->qp);
        return;
    default:
        conclude_error(c, v);
    }
}

/* PSNs that the request itself takes. */
static uint32_t psns_of(const MocxRequest *c)
{
    return c->pkt->op.op == MOCX_PKT_READ_REQ
           ? mocx_psn_count(c->pkt->bth.dma_len, c->qp->mtu) : 1;
}

static bool wants_ack(const MocxPkt *pkt)
{
    return pkt->bth.ack_req &&
           (pkt->op.op == MOCX_PKT_SEND || pkt->op.op == MOCX_PKT_WRITE);
}

static void expected(MocxRequest *c)
{
    MocxResp *resp = &c->qp->resp;
    MocxVerdict v;

    if (resp->nak_syndrome != MOCX_SYN_SEQUENCE) {
        resp->nak = false;
    }
    resp->silent = resp->nak;
    v = execute(c);
    if (v == MOCX_V_OK) {
        resp->epsn = mocx_psn_add(resp->epsn, psns_of(c));
        if (wants_ack(c->pkt)) {
            send_ack(c);
        }
    }
    conclude(c, v);
}

/*
 * The NAK names the PSN that is expected when it leaves: packets that were
 * overtaken within one slice may have closed the gap by then.
 */
static void ahead(MocxRequest *c)
{
    MocxResp *resp = &c->qp->resp;

    mocx_qp_count(c->dev, c->qp)->out_of_sequence++;
    if (!resp->silent) {
        send_nak(c, MOCX_SYN_SEQUENCE);
        resp->nak_psn = c->pkt->bth.psn;
    } else if (resp->nak && resp->nak_syndrome == MOCX_SYN_SEQUENCE &&
               mocx_psn_diff(c->pkt->bth.psn, resp->nak_psn) > 0) {
        resp->nak_psn = c->pkt->bth.psn;
    }
}

static MocxReplay *find_replay(MocxResp *resp, const MocxPkt *pkt)
{
    for (unsigned i = 0; i < resp->depth; i++) {
        MocxReplay *e = &resp->replay[i];

        if (e->used && mocx_psn_dist(pkt->bth.psn, e->psn) < e->npsn) {
            return e;
        }
    }
    return NULL;
}

/* What is asked for again must lie within what was granted. */
static bool same_read(const MocxReplay *e, const MocxBth *bth, uint32_t mtu)
{
    uint32_t skip = mocx_psn_dist(bth->psn, e->psn);
    uint64_t off = (uint64_t)skip * mtu;

    return !e->atomic && bth->rkey == e->rkey && bth->va == e->va + off &&
           bth->dma_len == e->len - off;
}

static void replay(MocxRequest *c, MocxReplay *e, uint32_t from)
{
    c->qp->resp.pending += !e->pending;
    e->pending = true;
    e->next = e->first = from;
    mocx_work_queue(c->dev, &c->qp->resp_work);
}

/*
 * Executed before.  SEND and WRITE have no effect again; a READ is read again;
 * an atomic gets the answer it got, and is never done twice.
 */
static void duplicate(MocxRequest *c)
{
    MocxReplay *e;

    mocx_qp_count(c->dev, c->qp)->duplicate_request++;
    if (c->pkt->op.op == MOCX_PKT_SEND || c->pkt->op.op == MOCX_PKT_WRITE) {
        send_ack(c);
        return;
    }
    e = find_replay(&c->qp->resp, c->pkt);
    if (!e) {
        return;
    }
    if (c->pkt->op.op != MOCX_PKT_READ_REQ) {
        if (e->atomic) {
            replay(c, e, 0);
        }
    } else if (same_read(e, &c->pkt->bth, c->qp->mtu)) {
        replay(c, e, mocx_psn_dist(c->pkt->bth.psn, e->psn));
    }
}

static void reliable(MocxRequest *c)
{
    int32_t diff = mocx_psn_diff(c->pkt->bth.psn, c->qp->resp.epsn);

    if (!diff) {
        expected(c);
    } else if (diff > 0) {
        ahead(c);
    } else {
        duplicate(c);
    }
}

static void unreliable(MocxRequest *c)
{
    MocxResp *resp = &c->qp->resp;
    MocxVerdict v;

    if (c->pkt->op.pos & MOCX_PKT_FIRST) {
        /* The WQE of a message that was not finished serves this one. */
        resp->msg = MOCX_RESP_IDLE;
    } else if (c->pkt->bth.psn != resp->epsn) {
        resp->msg = MOCX_RESP_SKIP;
    }
    resp->epsn = mocx_psn_add(c->pkt->bth.psn, 1);
    v = execute(c);
    switch (v) {
    case MOCX_V_OK:
    case MOCX_V_DROP:
        return;
    case MOCX_V_TOO_LONG:
    case MOCX_V_RECV_PROT:
    case MOCX_V_RECV_WQE:
    case MOCX_V_FATAL:
        conclude(c, v);
        return;
    default:
        /* Nobody to tell: the rest of the message is dropped. */
        resp->msg = MOCX_RESP_SKIP;
    }
}

void mocx_resp_packet(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt)
{
    MocxRequest c = { .dev = dev, .qp = qp, .pkt = pkt };

    if (qp->state == MOCX_QP_RTR && !qp->resp.seen_packet) {
        mocx_event_queue(dev, MOCX_EV_COMM_EST, 0, mocx_qpn(qp));
    }
    qp->resp.seen_packet = true;
    if (mocx_qp_reliable(qp)) {
        reliable(&c);
    } else {
        unreliable(&c);
    }
}
