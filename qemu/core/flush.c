// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queues in error give their WQEs back, in order, as flushed.
 *
 * A send queue is told of later WQEs by its doorbell.  A receive queue is not:
 * its producer lies in memory only, and a driver that drains (ib_drain_qp())
 * posts one more WQE to a QP in error and waits for its completion without
 * limit.  So the record is looked at again and again, less and less often.
 */
#include "roce.h"

#define POLL_MS_MAX     64
#define NSEC_PER_MSEC   1000000ull

/* Opcode and size of a WQE that was never fetched. */
static bool peek_ctrl(MocxDev *dev, const MocxQp *qp, uint8_t *opcode,
                      unsigned *blocks)
{
    uint8_t ctrl[8];

    if (!mocx_ring_read(dev, &qp->ring, qp->rq_span, qp->sq_span,
                        (uint64_t)qp->req.fetch * MOCX_WQE_BB, ctrl,
                        sizeof(ctrl))) {
        return false;
    }
    *opcode = ctrl[3];
    *blocks = ((ctrl[7] & 0x3fu) + 3) / 4;
    return true;
}

static void flush_unfetched(MocxDev *dev, MocxQp *qp)
{
    MocxReq *r = &qp->req;
    uint16_t counter = r->fetch, avail = (uint16_t)(r->pi - r->fetch);
    uint8_t opcode;
    unsigned blocks;

    if (!peek_ctrl(dev, qp, &opcode, &blocks)) {
        r->fetch = r->pi;   /* there is nothing to go by */
        return;
    }
    blocks = blocks ? blocks : 1;
    r->fetch += (uint16_t)(blocks < avail ? blocks : avail);
    mocx_comp_send_err(dev, qp, counter, opcode, MOCX_ERR_FLUSH);
}

bool mocx_flush_sq(MocxDev *dev, MocxQp *qp, unsigned budget, unsigned *used)
{
    MocxReq *r = &qp->req;

    for (; *used < budget; ++*used) {
        if (r->head != r->tail) {
            const MocxSendRec *rec = mocx_req_rec(qp, r->head++);

            mocx_comp_send_err(dev, qp, rec->counter, rec->opcode,
                               MOCX_ERR_FLUSH);
        } else if (r->fetch != r->pi) {
            flush_unfetched(dev, qp);
        } else {
            r->cur = r->head;
            return false;
        }
    }
    return true;
}

/* A WQE that a message had taken goes first; on an SRQ it is the only one. */
static void flush_bound(MocxDev *dev, MocxQp *qp)
{
    MocxResp *resp = &qp->resp;

    if (resp->wqe.bound) {
        resp->wqe.bound = false;
        mocx_comp_recv_err(dev, qp, mocx_resp_srq(dev, qp), resp->wqe.counter,
                           MOCX_ERR_FLUSH);
    }
    if (resp->last_wqe_due) {
        resp->last_wqe_due = false;
        mocx_event_queue(dev, MOCX_EV_SRQ_LAST_WQE, 0, mocx_qpn(qp));
    }
}

static void look_again_later(MocxDev *dev, MocxQp *qp)
{
    qp->poll_ms = qp->poll_ms ? qp->poll_ms * 2 : 1;
    if (qp->poll_ms > POLL_MS_MAX) {
        qp->poll_ms = POLL_MS_MAX;
    }
    mocx_timer_arm(dev, &qp->timer,
                   mocx_now(dev) + qp->poll_ms * NSEC_PER_MSEC);
}

bool mocx_flush_rq(MocxDev *dev, MocxQp *qp, unsigned budget, unsigned *used)
{
    flush_bound(dev, qp);
    if (!qp->rq_span || !mocx_recv_record(dev, qp)) {
        return false;
    }
    for (; *used < budget; ++*used) {
        if (qp->rq_taken == qp->rq_posted) {
            look_again_later(dev, qp);
            return false;
        }
        mocx_comp_recv_err(dev, qp, NULL, qp->rq_taken++, MOCX_ERR_FLUSH);
        qp->poll_ms = 0;
    }
    return true;
}
