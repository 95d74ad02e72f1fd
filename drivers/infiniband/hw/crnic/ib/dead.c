// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A dead device completes nothing, but kernel users wait for each of their work
 * requests: polling flushes them, and a call of the completion handler makes
 * users poll.
 */
#include "ib.h"

/* pretend a completion event; CQs that their users poll on their own want none */
static void crnic_ib_kick_cq(struct ib_cq *ibcq)
{
	if (ibcq && ibcq->comp_handler && ibcq->poll_ctx != IB_POLL_DIRECT)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
}

/**
 * crnic_ib_kick_work - let all kernel users see that the device died
 * @work: of the verbs device
 *
 * Context: process, with interrupts off for the handlers, as they expect it;
 * xa_lock keeps the QPs, and with them their CQs, alive.
 */
void crnic_ib_kick_work(struct work_struct *work)
{
	struct crnic_ib *ib = container_of(work, struct crnic_ib, kick);
	struct crnic_ib_qp *qp;
	unsigned long i, irq;

	xa_lock_irqsave(&ib->qps, irq);
	xa_for_each(&ib->qps, i, qp) {
		crnic_ib_kick_cq(qp->ibqp.send_cq);
		crnic_ib_kick_cq(qp->ibqp.recv_cq);
	}
	xa_unlock_irqrestore(&ib->qps, irq);
}

/**
 * crnic_ib_kick_all - have all kernel users see that the device died
 * @ib: verbs device
 *
 * A handler takes locks of its user, and whoever posts may hold them: handlers
 * are never called from here.  Who waits for a change of a key is woken.
 *
 * Context: any, hard interrupt included.
 */
void crnic_ib_kick_all(struct crnic_ib *ib)
{
	crnic_ib_umr_wake(ib);
	queue_work(ib->wq, &ib->kick);
}

static void crnic_wc_flush(struct ib_wc *wc, struct crnic_ib_qp *qp, u64 wr_id)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->status = IB_WC_WR_FLUSH_ERR;
	wc->vendor_err = MLX5_CQE_SYNDROME_WR_FLUSH_ERR;
	wc->qp = &qp->ibqp;
}

/* no CQE proves here that a posting CPU is done with the entry: its lock does */
static int crnic_sq_flush(struct crnic_ib_qp *qp, int num, struct ib_wc *wc)
{
	struct crnic_sq *sq = &qp->sq;
	int n;

	spin_lock(&sq->lock);
	for (n = 0; n < num && sq->cc != sq->pc; n++) {
		const struct crnic_sq_wr *rec = &sq->wrs[sq->cc & (sq->bbs - 1)];

		crnic_wc_flush(&wc[n], qp, rec->wr_id);
		WRITE_ONCE(sq->cc, rec->next);
	}
	spin_unlock(&sq->lock);
	return n;
}

static int crnic_rq_flush(struct crnic_ib_qp *qp, int num, struct ib_wc *wc)
{
	struct crnic_rq *rq = &qp->rq;
	int n;

	spin_lock(&rq->lock);
	for (n = 0; n < num && rq->cc != rq->pc; n++) {
		crnic_wc_flush(&wc[n], qp, rq->wr_ids[rq->cc & (rq->size - 1)]);
		WRITE_ONCE(rq->cc, rq->cc + 1);
	}
	spin_unlock(&rq->lock);
	return n;
}

/**
 * crnic_ib_flush_cq - complete what a dead device will not
 * @cq: kernel CQ, its lock held: QPs that are found stay until it is let go
 * @num: room in @wc
 * @wc: answer
 *
 * Return: number of completions.
 */
int crnic_ib_flush_cq(struct crnic_ib_cq *cq, int num, struct ib_wc *wc)
{
	struct crnic_ib *ib = to_cib(cq->ibcq.device);
	struct crnic_ib_qp *qp;
	unsigned long i;
	int n = 0;

	lockdep_assert_held(&cq->lock);
	xa_for_each(&ib->qps, i, qp) {
		if (qp->ibqp.send_cq == &cq->ibcq)
			n += crnic_sq_flush(qp, num - n, wc + n);
		if (qp->ibqp.recv_cq == &cq->ibcq)
			n += crnic_rq_flush(qp, num - n, wc + n);
	}
	return n;
}
