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
#include "roce.h"

#include <stdlib.h>

#include "psn.h"

#define LEN_MAX         (1u << 31)      /* IBTA C9-92, C9-94 */

typedef enum Verdict {
    V_OK,
    V_DROP,
    V_RNR,
    V_INVALID,              /* request makes no sense here */
    V_TOO_LONG,             /* SEND longer than the receive WQE */
    V_ACCESS,               /* remote key */
    V_WRITE_FAULT,          /* remote key is right, memory behind it is not */
    V_RECV_PROT,            /* local key of the receive WQE */
    V_RECV_WQE,             /* receive WQE makes no sense */
    V_INVALIDATE,           /* SEND with invalidate of a key that refuses */
    V_FATAL,                /* ring unreadable */
} Verdict;

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
    [V_INVALID] = { MOCX_SYN_INVALID, { 0x12, 0x8a }, MOCX_EV_QP_REQ_ERR },
    [V_TOO_LONG] = { MOCX_SYN_INVALID, { 0x01, 0x8e }, 0 },
    [V_ACCESS] = { MOCX_SYN_ACCESS, { 0x11, 0x00 }, MOCX_EV_QP_ACCESS_ERR },
    [V_WRITE_FAULT] = { MOCX_SYN_OPERATION, { 0x11, 0x00 }, MOCX_EV_QP_ACCESS_ERR },
    [V_RECV_PROT] = { MOCX_SYN_OPERATION, { 0x04, 0x51 }, 0 },
    [V_RECV_WQE] = { MOCX_SYN_OPERATION, { 0x02, 0xd6 }, 0 },
    [V_INVALIDATE] = { 0, { 0x12, 0x8a }, 0 },
};

/* The packet being looked at, with what the checks found out. */
typedef struct Ctx {
    MocxDev *dev;
    MocxQp *qp;
    const MocxPkt *pkt;
    MocxSrq *srq;
    uint32_t pdn;           /* whose remote keys count */
} Ctx;

bool mocx_resp_start(MocxQp *qp)
{
    MocxResp *resp = &qp->resp;
    unsigned depth = 0;

    mocx_resp_stop(qp);
    if (mocx_qp_reliable(qp)) {
        depth = 1u << DEVX_GET(qpc, qp->ctx, log_rra_max);
        resp->replay = calloc(depth, sizeof(*resp->replay));
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
    free(qp->resp.replay);
    qp->resp = (MocxResp) { 0 };
}

MocxSrq *mocx_resp_srq(MocxDev *dev, const MocxQp *qp)
{
    return qp->type == MOCX_QP_XRC ? mocx_srq_find(dev, qp->resp.srqn)
                                   : qp->srq;
}

static void send_nak(const Ctx *c, uint8_t syndrome)
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

static void send_ack(const Ctx *c)
{
    c->qp->resp.ack = true;
    mocx_work_queue(c->dev, &c->qp->resp_work);
}

/* Checks, in order */

/* XRC: the SRQ that the packet names must be of the QP's domain. */
static Verdict check_srq(Ctx *c)
{
    c->srq = c->qp->srq;
    c->pdn = c->qp->pdn;
    if (c->qp->type != MOCX_QP_XRC) {
        return V_OK;
    }
    c->srq = mocx_srq_find(c->dev, c->pkt->bth.srqn);
    if (!c->srq || c->srq->kind != MOCX_SRQ_XRC ||
        c->srq->xrcd != c->qp->xrcd) {
        return V_INVALID;
    }
    c->pdn = c->srq->pdn;
    return V_OK;
}

static Verdict check_sequence(Ctx *c)
{
    uint8_t op = c->pkt->op.op, msg = c->qp->resp.msg;
    bool first = c->pkt->op.pos & MOCX_PKT_FIRST;

    if (msg == MOCX_RESP_SKIP) {
        return V_DROP;      /* UC; a first packet ended the skipping before */
    }
    if (first) {
        return msg == MOCX_RESP_IDLE ? V_OK : V_INVALID;
    }
    return (op == MOCX_PKT_SEND && msg == MOCX_RESP_SEND) ||
           (op == MOCX_PKT_WRITE && msg == MOCX_RESP_WRITE) ? V_OK : V_INVALID;
}

static Verdict check_right(Ctx *c)
{
    static const uint8_t need[] = {
        [MOCX_PKT_WRITE] = MOCX_REMOTE_WRITE,
        [MOCX_PKT_READ_REQ] = MOCX_REMOTE_READ,
        [MOCX_PKT_CMP_SWAP] = MOCX_REMOTE_ATOMIC,
        [MOCX_PKT_FETCH_ADD] = MOCX_REMOTE_ATOMIC,
    };

    return need[c->pkt->op.op] & ~c->qp->rights ? V_INVALID : V_OK;
}

/* Does this packet bind a receive WQE?  SEND with its first packet, WRITE with
 * immediate data with its last. */
static bool binds_wqe(const MocxPkt *pkt)
{
    return pkt->op.op == MOCX_PKT_SEND
           ? pkt->op.pos & MOCX_PKT_FIRST
           : pkt->op.op == MOCX_PKT_WRITE && pkt->op.hdrs & MOCX_HDR_IMM;
}

static Verdict check_resource(Ctx *c)
{
    MocxResp *resp = &c->qp->resp;

    if (!binds_wqe(c->pkt) || resp->wqe.bound) {
        return V_OK;
    }
    switch (mocx_recv_peek(c->dev, c->qp, c->srq, &resp->wqe)) {
    case MOCX_WQE_EMPTY:
        mocx_qp_count(c->dev, c->qp)->out_of_buffer++;
        return V_RNR;
    case MOCX_WQE_NO_MEMORY:
        return V_FATAL;
    case MOCX_WQE_MALFORMED:
        mocx_recv_take(c->dev, c->qp, c->srq, &resp->wqe);
        return V_RECV_WQE;
    case MOCX_WQE_OK:
        break;
    }
    resp->srqn = c->srq ? c->srq->obj.id : 0;
    mocx_recv_take(c->dev, c->qp, c->srq, &resp->wqe);
    return V_OK;
}

static Verdict check_length(Ctx *c)
{
    const MocxPkt *pkt = c->pkt;
    uint32_t mtu = c->qp->mtu;

    if (pkt->op.hdrs & MOCX_HDR_RETH && pkt->bth.dma_len > LEN_MAX) {
        return V_INVALID;
    }
    if (pkt->op.op != MOCX_PKT_SEND && pkt->op.op != MOCX_PKT_WRITE) {
        return pkt->len ? V_INVALID : V_OK;
    }
    if (!(pkt->op.pos & MOCX_PKT_LAST)) {
        return pkt->len == mtu ? V_OK : V_INVALID;
    }
    if (!(pkt->op.pos & MOCX_PKT_FIRST) && !pkt->len) {
        return V_INVALID;
    }
    return pkt->len <= mtu ? V_OK : V_INVALID;
}

static Verdict verdict_of(MocxMemResult r)
{
    return r == MOCX_MEM_OK ? V_OK
           : r == MOCX_MEM_BAD_DMA ? V_WRITE_FAULT : V_ACCESS;
}

static MocxAccess remote_access(const Ctx *c, uint8_t need)
{
    return (MocxAccess) {
        .pdn = c->pdn, .qpn = mocx_qpn(c->qp), .need = need,
    };
}

static Verdict check_write_key(Ctx *c)
{
    const MocxBth *bth = &c->pkt->bth;
    MocxResp *resp = &c->qp->resp;
    MocxAccess acc = remote_access(c, MOCX_REMOTE_WRITE);

    if (c->pkt->op.pos & MOCX_PKT_FIRST) {
        Verdict v = verdict_of(mocx_mem_check(c->dev, &acc, bth->rkey, bth->va,
                                              bth->dma_len));

        if (v) {
            return v;
        }
        resp->va = bth->va;
        resp->rkey = bth->rkey;
        resp->left = resp->total = bth->dma_len;
    }
    if (c->pkt->op.pos & MOCX_PKT_LAST) {
        return c->pkt->len == resp->left ? V_OK : V_INVALID;
    }
    return c->pkt->len < resp->left ? V_OK : V_INVALID;
}

/* The whole range at the first packet; a length of zero is looked at by none
 * (IBTA C9-88). */
static Verdict check_key(Ctx *c)
{
    const MocxBth *bth = &c->pkt->bth;
    MocxAccess read = remote_access(c, MOCX_REMOTE_READ);
    MocxAccess atomic = remote_access(c, MOCX_REMOTE_ATOMIC);

    switch (c->pkt->op.op) {
    case MOCX_PKT_WRITE:
        return check_write_key(c);
    case MOCX_PKT_READ_REQ:
        return verdict_of(mocx_mem_check(c->dev, &read, bth->rkey, bth->va,
                                         bth->dma_len));
    case MOCX_PKT_CMP_SWAP:
    case MOCX_PKT_FETCH_ADD:
        return verdict_of(mocx_mem_check(c->dev, &atomic, bth->rkey, bth->va,
                                         sizeof(uint64_t)));
    default:
        return V_OK;
    }
}

/* Execution */

static uint8_t recv_opcode(const MocxPkt *pkt)
{
    if (pkt->op.op == MOCX_PKT_WRITE) {
        return MLX5_CQE_RESP_WR_IMM;
    }
    return pkt->op.hdrs & MOCX_HDR_IMM ? MLX5_CQE_RESP_SEND_IMM
           : pkt->op.hdrs & MOCX_HDR_IETH ? MLX5_CQE_RESP_SEND_INV
           : MLX5_CQE_RESP_SEND;
}

static void complete(Ctx *c, uint32_t bytes)
{
    MocxResp *resp = &c->qp->resp;
    MocxRecvComp comp = {
        .opcode = recv_opcode(c->pkt), .counter = resp->wqe.counter,
        .bytes = bytes, .srq = c->srq, .pkt = c->pkt,
    };

    resp->wqe.bound = false;
    mocx_comp_recv(c->dev, c->qp, &comp);
}

static Verdict put_send_data(Ctx *c)
{
    MocxResp *resp = &c->qp->resp;
    MocxAccess acc = mocx_qp_access(c->qp, MOCX_LOCAL_WRITE);

    acc.pdn = c->srq ? c->srq->pdn : acc.pdn;
    if (resp->off + (uint64_t)c->pkt->len > resp->wqe.room) {
        return V_TOO_LONG;
    }
    if (mocx_sgl_write(c->dev, &acc, resp->wqe.sges, resp->wqe.num_sges,
                       resp->off, c->pkt->payload, c->pkt->len)) {
        return V_RECV_PROT;
    }
    resp->off += c->pkt->len;
    return V_OK;
}

static Verdict do_send(Ctx *c)
{
    MocxResp *resp = &c->qp->resp;
    Verdict v;

    if (c->pkt->op.pos & MOCX_PKT_FIRST) {
        resp->off = 0;
    }
    resp->msg = MOCX_RESP_SEND;
    v = put_send_data(c);
    if (v || !(c->pkt->op.pos & MOCX_PKT_LAST)) {
        return v;
    }
    if (c->pkt->op.hdrs & MOCX_HDR_IETH &&
        !mocx_umr_invalidate(c->dev, c->qp, c->pdn, c->pkt->bth.imm)) {
        return V_INVALIDATE;
    }
    resp->msg = MOCX_RESP_IDLE;
    resp->msn = mocx_psn_add(resp->msn, 1);
    complete(c, resp->off);
    return V_OK;
}

static Verdict do_write(Ctx *c)
{
    MocxResp *resp = &c->qp->resp;
    MocxAccess acc = remote_access(c, MOCX_REMOTE_WRITE);
    Verdict v;

    if (c->pkt->op.pos & MOCX_PKT_FIRST) {
        mocx_qp_count(c->dev, c->qp)->rx_write_requests++;
    }
    resp->msg = MOCX_RESP_WRITE;
    v = verdict_of(mocx_mem_write(c->dev, &acc, resp->rkey, resp->va,
                                  c->pkt->payload, c->pkt->len));
    if (v) {
        return v;
    }
    resp->va += c->pkt->len;
    resp->left -= c->pkt->len;
    if (!(c->pkt->op.pos & MOCX_PKT_LAST)) {
        return V_OK;
    }
    resp->msg = MOCX_RESP_IDLE;
    resp->msn = mocx_psn_add(resp->msn, 1);
    if (c->pkt->op.hdrs & MOCX_HDR_IMM) {
        complete(c, resp->total);
    }
    return V_OK;
}

/* The oldest entry makes room, unless its answer is still due: then the peer
 * has sent more than it may. */
static MocxReplay *new_replay(MocxQp *qp)
{
    MocxResp *resp = &qp->resp;
    uint8_t slot = (uint8_t)((resp->newest + 1) % resp->depth);
    MocxReplay *e = &resp->replay[slot];

    if (e->pending) {
        return NULL;
    }
    resp->newest = slot;
    resp->pending++;
    return e;
}

static Verdict do_read(Ctx *c)
{
    const MocxBth *bth = &c->pkt->bth;
    MocxResp *resp = &c->qp->resp;
    MocxReplay *e = new_replay(c->qp);

    if (!e) {
        return V_INVALID;
    }
    mocx_qp_count(c->dev, c->qp)->rx_read_requests++;
    resp->msn = mocx_psn_add(resp->msn, 1);
    *e = (MocxReplay) {
        .psn = bth->psn, .npsn = mocx_psn_count(bth->dma_len, c->qp->mtu),
        .msn = resp->msn, .rkey = bth->rkey, .va = bth->va,
        .len = bth->dma_len, .pdn = c->pdn, .used = true, .pending = true,
    };
    mocx_work_queue(c->dev, &c->qp->resp_work);
    return V_OK;
}

/*
 * Guest memory holds the value in the byte order of its CPU, which is
 * little-endian for every machine this device is plugged into.  A vCPU may
 * change the word while we look, so it is compared and exchanged until it held
 * still.
 */
#define ATOMIC_TRIES    10000

static bool atomic_word(Ctx *c, uint64_t bus, uint64_t *orig)
{
    const MocxBth *bth = &c->pkt->bth;
    MocxDev *dev = c->dev;
    uint64_t seen = 0;

    /* Compare with anything and store the same: a load. */
    if (!dev->ops->cmpxchg64(dev->opaque, bus, 0, 0, &seen)) {
        return false;
    }
    for (unsigned i = 0; i < ATOMIC_TRIES; i++) {
        uint64_t value = le64toh(seen), next = value, old;

        if (c->pkt->op.op == MOCX_PKT_FETCH_ADD) {
            next = value + bth->swap_add;
        } else if (value == bth->compare) {
            next = bth->swap_add;
        }
        if (!dev->ops->cmpxchg64(dev->opaque, bus, seen, htole64(next),
                                 &old)) {
            return false;
        }
        if (old == seen) {
            *orig = value;
            return true;
        }
        seen = old;
    }
    return false;
}

static Verdict do_atomic(Ctx *c)
{
    const MocxBth *bth = &c->pkt->bth;
    MocxResp *resp = &c->qp->resp;
    MocxAccess acc = remote_access(c, MOCX_REMOTE_ATOMIC);
    uint64_t bus, orig;
    MocxReplay *e;

    if (bth->va & 7 ||
        mocx_mem_addr(c->dev, &acc, bth->rkey, bth->va, &bus) || bus & 7) {
        return V_INVALID;
    }
    e = new_replay(c->qp);
    if (!e) {
        return V_INVALID;
    }
    if (!mocx_dma_on(c->dev) || !atomic_word(c, bus, &orig)) {
        resp->pending--;
        e->used = false;
        return V_WRITE_FAULT;
    }
    mocx_qp_count(c->dev, c->qp)->rx_atomic_requests++;
    resp->msn = mocx_psn_add(resp->msn, 1);
    *e = (MocxReplay) {
        .psn = bth->psn, .npsn = 1, .msn = resp->msn, .orig = orig,
        .used = true, .atomic = true, .pending = true,
    };
    mocx_work_queue(c->dev, &c->qp->resp_work);
    return V_OK;
}

typedef Verdict CheckFn(Ctx *c);

static CheckFn *const checks[] = {
    check_sequence, check_srq, check_right, check_resource, check_length,
    check_key,
};

static CheckFn *const actions[] = {
    [MOCX_PKT_SEND] = do_send, [MOCX_PKT_WRITE] = do_write,
    [MOCX_PKT_READ_REQ] = do_read, [MOCX_PKT_CMP_SWAP] = do_atomic,
    [MOCX_PKT_FETCH_ADD] = do_atomic,
};

static Verdict execute(Ctx *c)
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        Verdict v = checks[i](c);

        if (v) {
            return v;
        }
    }
    return actions[c->pkt->op.op](c);
}

/* An error ends the QP; who had a WQE is told by a CQE, who had none by an
 * event. */
static void conclude_error(Ctx *c, Verdict v)
{
    const Outcome *o = &outcomes[v];
    MocxResp *resp = &c->qp->resp;
    bool bound = resp->wqe.bound;
    MocxSrq *srq = c->srq;

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

static void conclude(Ctx *c, Verdict v)
{
    switch (v) {
    case V_OK:
    case V_DROP:
        return;
    case V_RNR:
        send_nak(c, (uint8_t)(MOCX_SYN_RNR | c->qp->min_rnr));
        return;
    case V_FATAL:
        mocx_qp_fatal(c->dev, c->qp);
        return;
    default:
        conclude_error(c, v);
    }
}

/* PSNs that the request itself takes. */
static uint32_t psns_of(const Ctx *c)
{
    return c->pkt->op.op == MOCX_PKT_READ_REQ
           ? mocx_psn_count(c->pkt->bth.dma_len, c->qp->mtu) : 1;
}

static bool wants_ack(const MocxPkt *pkt)
{
    return pkt->bth.ack_req &&
           (pkt->op.op == MOCX_PKT_SEND || pkt->op.op == MOCX_PKT_WRITE);
}

static void expected(Ctx *c)
{
    MocxResp *resp = &c->qp->resp;
    Verdict v;

    if (resp->nak_syndrome != MOCX_SYN_SEQUENCE) {
        resp->nak = false;
    }
    resp->silent = resp->nak;
    v = execute(c);
    if (v == V_OK) {
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
static void ahead(Ctx *c)
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

static void replay(Ctx *c, MocxReplay *e, uint32_t from)
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
static void duplicate(Ctx *c)
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

static void reliable(Ctx *c)
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

static void unreliable(Ctx *c)
{
    MocxResp *resp = &c->qp->resp;
    Verdict v;

    if (c->pkt->op.pos & MOCX_PKT_FIRST) {
        /* The WQE of a message that was not finished serves this one. */
        resp->msg = MOCX_RESP_IDLE;
    } else if (c->pkt->bth.psn != resp->epsn) {
        resp->msg = MOCX_RESP_SKIP;
    }
    resp->epsn = mocx_psn_add(c->pkt->bth.psn, 1);
    v = execute(c);
    switch (v) {
    case V_OK:
    case V_DROP:
        return;
    case V_TOO_LONG:
    case V_RECV_PROT:
    case V_RECV_WQE:
    case V_FATAL:
        conclude(c, v);
        return;
    default:
        /* Nobody to tell: the rest of the message is dropped. */
        resp->msg = MOCX_RESP_SKIP;
    }
}

void mocx_resp_packet(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt)
{
    Ctx c = { .dev = dev, .qp = qp, .pkt = pkt };

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
