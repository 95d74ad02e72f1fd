// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting to kernel QPs: the lock, the loop and the doorbell around the builders */
#include "wqe.h"

/* room for the longest WQE: no shorter one is measured beforehand */
static bool crnic_sq_has_room(const struct crnic_sq *sq)
{
	return sq->bbs - (u16)(sq->pc - READ_ONCE(sq->cc)) >= sq->max_bbs;
}

static int crnic_sq_post_one(struct crnic_ib_qp *qp, const struct ib_send_wr *wr)
{
	struct crnic_sq *sq = &qp->sq;
	const struct crnic_sq_ctx c = {
		.type = qp->ibqp.qp_type,
		.qpn = qp->qpn,
		.pc = sq->pc,
		.max_sge = sq->max_sge,
		.max_inline = sq->max_inline,
		.fence = sq->fence,
		.signal = sq->sig_all,
	};
	struct crnic_sq_wr *rec = &sq->wrs[sq->pc & (sq->bbs - 1)];
	int ds;

	lockdep_assert_held(&sq->lock);
	if (!sq->bbs || !crnic_sq_has_room(sq))
		return -ENOMEM;

	ds = crnic_wqe_build(sq, &c, wr);
	if (ds < 0)
		return ds;

	rec->wr_id = wr->wr_id;
	rec->opcode = crnic_wqe_completion(wr->opcode);
	rec->next = sq->pc + DIV_ROUND_UP(ds, CRNIC_WQE_BB / MLX5_SEND_WQE_DS);
	sq->fence = crnic_wqe_owes_fence(wr->opcode) ? MLX5_FENCE_MODE_INITIATOR_SMALL : 0;
	sq->pc = rec->next;
	return 0;
}

/**
 * crnic_ib_post_send - post send work requests
 * @ibqp: kernel QP
 * @wr: list of work requests
 * @bad_wr: the first one that was not posted
 *
 * On a dead device requests are taken, and flushed by polling (dead.c).
 *
 * Context: any.
 * Return: 0 or errno; those before @bad_wr are posted.
 */
int crnic_ib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr)
{
	struct crnic_dev *dev = to_cdev(ibqp->device);
	struct crnic_ib_qp *qp = to_cqp(ibqp);
	struct crnic_sq *sq = &qp->sq;
	const void *last = NULL;
	unsigned long irq;
	int err = 0;

	spin_lock_irqsave(&sq->lock, irq);
	for (; wr; wr = wr->next) {
		const void *ctrl = sq->buf +
				   ((sq->pc & (sq->bbs - 1)) << CRNIC_WQE_BB_SHIFT);

		err = crnic_sq_post_one(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		last = ctrl;
	}
	if (last)
		crnic_sq_ring(&dev->uar, &qp->ring.dbr.db[MLX5_SND_DBR], sq->pc, last);
	spin_unlock_irqrestore(&sq->lock, irq);

	if (unlikely(crnic_dead(dev)))
		crnic_ib_kick_all(to_cib(ibqp->device));
	return err;
}

static int crnic_rq_post_one(struct crnic_rq *rq, const struct ib_recv_wr *wr, __be32 end)
{
	const u32 at = rq->pc & (rq->size - 1);

	lockdep_assert_held(&rq->lock);
	if ((u16)(rq->pc - READ_ONCE(rq->cc)) >= rq->size)
		return -ENOMEM;
	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;

	crnic_rwqe_build(rq->buf + ((size_t)at << rq->shift), rq->max_sge, wr, end);
	rq->wr_ids[at] = wr->wr_id;
	rq->pc++;
	return 0;
}

/**
 * crnic_ib_post_recv - post receive work requests
 * @ibqp: kernel QP
 * @wr: list of work requests
 * @bad_wr: the first one that was not posted
 *
 * Context: any.
 * Return: 0 or errno; those before @bad_wr are posted.
 */
int crnic_ib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	const __be32 end = to_cdev(ibqp->device)->terminate_lkey;
	struct crnic_ib_qp *qp = to_cqp(ibqp);
	struct crnic_rq *rq = &qp->rq;
	unsigned long irq;
	int err = 0;
	u16 first;

	spin_lock_irqsave(&rq->lock, irq);
	first = rq->pc;
	for (; wr; wr = wr->next) {
		err = crnic_rq_post_one(rq, wr, end);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (rq->pc != first)
		crnic_rq_ring(&qp->ring.dbr.db[MLX5_RCV_DBR], rq->pc);
	spin_unlock_irqrestore(&rq->lock, irq);

	if (unlikely(crnic_dead(to_cdev(ibqp->device))))
		crnic_ib_kick_all(to_cib(ibqp->device));
	return err;
}
