// SPDX-License-Identifier: GPL-2.0-or-later
/* Responder: what a request that passed the checks does. */
#include "resp.h"

static uint8_t recv_opcode(const MocxPkt *pkt)
{
    if (pkt->op.op == MOCX_PKT_WRITE) {
        return MLX5_CQE_RESP_WR_IMM;
    }
    return pkt->op.hdrs & MOCX_HDR_IMM ? MLX5_CQE_RESP_SEND_IMM
           : pkt->op.hdrs & MOCX_HDR_IETH ? MLX5_CQE_RESP_SEND_INV
           : MLX5_CQE_RESP_SEND;
}

static void complete(MocxRequest *c, uint32_t bytes)
{
    MocxResp *resp = &c->qp->resp;
    MocxRecvComp comp = {
        .opcode = recv_opcode(c->pkt), .counter = resp->wqe.counter,
        .bytes = bytes, .srq = c->srq, .pkt = c->pkt,
    };

    resp->wqe.bound = false;
    mocx_comp_recv(c->dev, c->qp, &comp);
}

static MocxVerdict put_send_data(MocxRequest *c)
{
    MocxResp *resp = &c->qp->resp;
    MocxAccess acc = mocx_qp_access(c->qp, MOCX_LOCAL_WRITE);

    acc.pdn = c->srq ? c->srq->pdn : acc.pdn;
    if (resp->off + (uint64_t)c->pkt->len > resp->wqe.room) {
        return MOCX_V_TOO_LONG;
    }
    if (mocx_sgl_write(c->dev, &acc, resp->wqe.sges, resp->wqe.num_sges,
                       resp->off, c->pkt->payload, c->pkt->len)) {
        return MOCX_V_RECV_PROT;
    }
    resp->off += c->pkt->len;
    return MOCX_V_OK;
}

MocxVerdict mocx_resp_send(MocxRequest *c)
{
    MocxResp *resp = &c->qp->resp;
    MocxVerdict v;

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
        return MOCX_V_INVALIDATE;
    }
    resp->msg = MOCX_RESP_IDLE;
    resp->msn = mocx_psn_add(resp->msn, 1);
    complete(c, resp->off);
    return MOCX_V_OK;
}

MocxVerdict mocx_resp_write(MocxRequest *c)
{
    MocxResp *resp = &c->qp->resp;
    MocxAccess acc = mocx_remote_access(c, MOCX_REMOTE_WRITE);
    MocxVerdict v;

    if (c->pkt->op.pos & MOCX_PKT_FIRST) {
        mocx_qp_count(c->dev, c->qp)->rx_write_requests++;
    }
    resp->msg = MOCX_RESP_WRITE;
    v = mocx_verdict_of(mocx_mem_write(c->dev, &acc, resp->rkey, resp->va,
                                       c->pkt->payload, c->pkt->len));
    if (v) {
        return v;
    }
    resp->va += c->pkt->len;
    resp->left -= c->pkt->len;
    if (!(c->pkt->op.pos & MOCX_PKT_LAST)) {
        return MOCX_V_OK;
    }
    resp->msg = MOCX_RESP_IDLE;
    resp->msn = mocx_psn_add(resp->msn, 1);
    if (c->pkt->op.hdrs & MOCX_HDR_IMM) {
        complete(c, resp->total);
    }
    return MOCX_V_OK;
}

/*
 * The oldest entry makes room, unless its answer is still due: then the peer
 * has sent more than it may.
 */
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

MocxVerdict mocx_resp_read(MocxRequest *c)
{
    const MocxBth *bth = &c->pkt->bth;
    MocxResp *resp = &c->qp->resp;
    MocxReplay *e = new_replay(c->qp);

    if (!e) {
        return MOCX_V_INVALID;
    }
    mocx_qp_count(c->dev, c->qp)->rx_read_requests++;
    resp->msn = mocx_psn_add(resp->msn, 1);
    *e = (MocxReplay) {
        .psn = bth->psn, .npsn = mocx_psn_count(bth->dma_len, c->qp->mtu),
        .msn = resp->msn, .rkey = bth->rkey, .va = bth->va,
        .len = bth->dma_len, .pdn = c->pdn, .used = true, .pending = true,
    };
    mocx_work_queue(c->dev, &c->qp->resp_work);
    return MOCX_V_OK;
}

/*
 * Guest memory holds the value in the byte order of its CPU, which is
 * little-endian for every machine this device is plugged into.  A vCPU may
 * change the word while we look, so it is compared and exchanged until it held
 * still.
 */
#define ATOMIC_TRIES    10000

static bool atomic_word(MocxRequest *c, uint64_t bus, uint64_t *orig)
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

MocxVerdict mocx_resp_atomic(MocxRequest *c)
{
    const MocxBth *bth = &c->pkt->bth;
    MocxResp *resp = &c->qp->resp;
    MocxAccess acc = mocx_remote_access(c, MOCX_REMOTE_ATOMIC);
    uint64_t bus, orig;
    MocxReplay *e;

    if (bth->va & 7 ||
        mocx_mem_addr(c->dev, &acc, bth->rkey, bth->va, &bus) || bus & 7) {
        return MOCX_V_INVALID;
    }
    e = new_replay(c->qp);
    if (!e) {
        return MOCX_V_INVALID;
    }
    if (!mocx_dma_on(c->dev) || !atomic_word(c, bus, &orig)) {
        resp->pending--;
        e->used = false;
        return MOCX_V_WRITE_FAULT;
    }
    mocx_qp_count(c->dev, c->qp)->rx_atomic_requests++;
    resp->msn = mocx_psn_add(resp->msn, 1);
    *e = (MocxReplay) {
        .psn = bth->psn, .npsn = 1, .msn = resp->msn, .orig = orig,
        .used = true, .atomic = true, .pending = true,
    };
    mocx_work_queue(c->dev, &c->qp->resp_work);
    return MOCX_V_OK;
}
