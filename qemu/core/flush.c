// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queues in error give their WQEs back, in order, as flushed.
 *
 * A send queue is told of later WQEs by its doorbell.  A receive queue is not:
 * its producer lies in memory only, and a driver that drains (ib_drain_qp())
 * posts one more WQE to a QP in error and waits for its completion without
 * limit.  So the record is looked at again and again, less and less often, and
 * never more often in all than LOOKS_PER_SEC.  A driver that drains says so
 * before (it sends the QP to error once more), and so does one that posts a
 * send: then the looks start anew.
 */
#include "roce.h"

#define POLL_MS_MAX     64
#define POLL_MS_IDLE    1024
#define POLLS_IDLE      1024    /* looks for nothing until it is idle: 65 s */
#define LOOKS_PER_SEC   1000
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

void mocx_flush_anew(MocxDev *dev, MocxQp *qp)
{
    qp->poll_ms = 0;
    qp->polls = 0;
    mocx_work_queue(dev, &qp->resp_work);
}

void mocx_flush_stop(MocxDev *dev, MocxQp *qp)
{
    dev->roce->pollers -= qp->poller;
    qp->poller = false;
    qp->poll_ms = 0;
    qp->polls = 0;
}

/* The first looks are quick; of those that find nothing each has its share. */
static uint32_t wait_ms(const MocxDev *dev, MocxQp *qp)
{
    uint32_t most = qp->polls < POLLS_IDLE ? POLL_MS_MAX : POLL_MS_IDLE;
    uint32_t share = dev->roce->pollers * 1000 / LOOKS_PER_SEC;

    qp->polls += qp->polls < POLLS_IDLE;
    qp->poll_ms = qp->poll_ms ? qp->poll_ms * 2 : 1;
    if (qp->poll_ms < most) {
        return qp->poll_ms;
    }
    qp->poll_ms = most;
    return most > share ? most : share;
}

static void look_again_later(MocxDev *dev, MocxQp *qp)
{
    dev->roce->pollers += !qp->poller;
    qp->poller = true;
    mocx_timer_arm(dev, &qp->timer,
                   mocx_now(dev) + wait_ms(dev, qp) * NSEC_PER_MSEC);
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
        qp->polls = 0;
    }
    return true;
}
