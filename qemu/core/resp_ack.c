// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Responder: what goes back.  Answers with data leave in the order of their
 * requests, then one ACK or NAK for all that came since; the answers
 * acknowledge what lies before them.
 */
#include "psn.h"
#include "roce.h"

static MocxBth bth_of(const MocxQp *qp, uint8_t low, uint32_t psn)
{
    return (MocxBth) {
        .opcode = qp->service | low, .migrated = true,
        .pkey = MOCX_PKEY_DEFAULT, .qpn = qp->remote_qpn, .psn = psn,
    };
}

/* ACK or NAK; a GID that is gone swallows it. */
static void send_aeth(MocxDev *dev, MocxQp *qp, uint8_t syndrome, uint32_t psn)
{
    const MocxPath *path = mocx_roce_path(dev, qp);
    MocxBth bth = bth_of(qp, MOCX_LOW_ACK, psn);
    MocxTxPkt tx;

    bth.syndrome = syndrome;
    bth.msn = qp->resp.msn;
    if (path) {
        mocx_pkt_begin(dev, &tx, path, &bth, 0);
        mocx_pkt_end(dev, &tx);
    }
}

static uint8_t read_low(bool first, bool last)
{
    return first ? (last ? MOCX_LOW_READ_ONLY : MOCX_LOW_READ_FIRST)
                 : (last ? MOCX_LOW_READ_LAST : MOCX_LOW_READ_MIDDLE);
}

/* The key is looked up for every packet: it may have been taken away since. */
static bool read_memory(MocxDev *dev, const MocxQp *qp, const MocxReplay *e,
                        uint8_t *buf, uint32_t n)
{
    MocxAccess acc = {
        .pdn = e->pdn, .qpn = mocx_qpn(qp), .need = MOCX_REMOTE_READ,
    };

    return mocx_mem_read(dev, &acc, e->rkey,
                         e->va + (uint64_t)e->next * qp->mtu, buf, n) ==
           MOCX_MEM_OK;
}

/* The NAK stands for the answer that cannot be given. */
static void read_failed(MocxDev *dev, MocxQp *qp, uint32_t psn)
{
    MocxResp *resp = &qp->resp;

    for (unsigned i = 0; i < resp->depth; i++) {
        resp->replay[i].pending = false;
    }
    resp->pending = 0;
    resp->ack = false;
    resp->nak = true;
    resp->nak_syndrome = MOCX_SYN_ACCESS;
    resp->nak_psn = psn;
    if (qp->state != MOCX_QP_ERR) {
        mocx_qp_count(dev, qp)->resp_remote_access_errors++;
        mocx_event_queue(dev, MOCX_EV_QP_ACCESS_ERR, 0, mocx_qpn(qp));
        mocx_qp_error(dev, qp);
    }
}

static void finished(MocxQp *qp, MocxReplay *e)
{
    if (++e->next == e->npsn) {
        e->pending = false;
        qp->resp.pending--;
    }
}

static void send_read_answer(MocxDev *dev, MocxQp *qp, MocxReplay *e)
{
    uint32_t psn = mocx_psn_add(e->psn, e->next);
    uint32_t left = (uint32_t)(e->len - (uint64_t)e->next * qp->mtu);
    uint32_t n = left < qp->mtu ? left : qp->mtu;
    MocxBth bth = bth_of(qp, read_low(e->next == e->first, n == left), psn);
    const MocxPath *path = mocx_roce_path(dev, qp);
    MocxTxPkt tx;

    bth.syndrome = MOCX_SYN_ACK;
    bth.msn = e->msn;
    if (path) {
        mocx_pkt_begin(dev, &tx, path, &bth, n);
        if (!read_memory(dev, qp, e, tx.payload, n)) {
            read_failed(dev, qp, psn);
            return;
        }
    }
    finished(qp, e);
    if (path) {
        mocx_pkt_end(dev, &tx);
    }
}

static void send_atomic_answer(MocxDev *dev, MocxQp *qp, MocxReplay *e)
{
    const MocxPath *path = mocx_roce_path(dev, qp);
    MocxBth bth = bth_of(qp, MOCX_LOW_ATOMIC_ACK, e->psn);
    MocxTxPkt tx;

    bth.syndrome = MOCX_SYN_ACK;
    bth.msn = e->msn;
    bth.orig = e->orig;
    finished(qp, e);
    if (path) {
        mocx_pkt_begin(dev, &tx, path, &bth, 0);
        mocx_pkt_end(dev, &tx);
    }
}

/* The oldest request whose answer is due. */
static MocxReplay *next_answer(MocxResp *resp)
{
    for (unsigned i = 1; resp->pending && i <= resp->depth; i++) {
        MocxReplay *e = &resp->replay[(resp->newest + i) % resp->depth];

        if (e->pending) {
            return e;
        }
    }
    return NULL;
}

static void send_verdict(MocxDev *dev, MocxQp *qp)
{
    MocxResp *resp = &qp->resp;

    bool sequence = resp->nak_syndrome == MOCX_SYN_SEQUENCE;

    if (resp->nak && sequence &&
        mocx_psn_diff(resp->epsn, resp->nak_psn) > 0) {
        resp->nak = resp->silent = false;   /* nothing is missing after all */
    }
    if (resp->nak) {
        send_aeth(dev, qp, resp->nak_syndrome,
                  sequence ? resp->epsn : resp->nak_psn);
    } else if (resp->ack) {
        send_aeth(dev, qp, MOCX_SYN_ACK, mocx_psn_add(resp->epsn, -1u));
    }
    resp->nak = resp->ack = false;
}

static bool due(const MocxResp *resp)
{
    return resp->pending || resp->nak || resp->ack;
}

bool mocx_resp_answers(MocxDev *dev, MocxQp *qp, unsigned budget,
                       unsigned *used)
{
    MocxResp *resp = &qp->resp;

    while (due(resp) && *used < budget) {
        MocxReplay *e = next_answer(resp);

        if (!mocx_tx_room(dev, 1)) {
            mocx_work_wait_tx(dev, &qp->resp_work);
            return false;
        }
        if (!e) {
            resp->pending = 0;
            send_verdict(dev, qp);
        } else if (e->atomic) {
            send_atomic_answer(dev, qp, e);
        } else {
            send_read_answer(dev, qp, e);
        }
        ++*used;
    }
    return true;
}

void mocx_resp_mute(MocxQp *qp)
{
    MocxResp *resp = &qp->resp;

    for (unsigned i = 0; i < resp->depth; i++) {
        resp->replay[i].pending = false;
    }
    resp->pending = 0;
    resp->nak = resp->ack = false;
}

bool mocx_resp_work(MocxDev *dev, MocxWork *work, unsigned budget,
                    unsigned *used)
{
    MocxQp *qp = MOCX_CONTAINER_OF(work, MocxQp, resp_work);

    if (!mocx_resp_answers(dev, qp, budget, used)) {
        return false;
    }
    if (due(&qp->resp)) {
        return true;
    }
    return qp->state == MOCX_QP_ERR && mocx_flush_rq(dev, qp, budget, used);
}
