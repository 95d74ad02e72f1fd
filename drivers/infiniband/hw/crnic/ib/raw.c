// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raw packet QPs.  The device has no such thing: a send queue on a transport
 * interface and a receive queue behind a receive endpoint play the part.
 * Frames come in as soon as a flow rule leads to the endpoint, see flow.c.
 */
#include <linux/log2.h>

#include <crnic/obj/rq.h>
#include <crnic/obj/sq.h>
#include <crnic/obj/tir.h>
#include <crnic/obj/tis.h>

#include "ib.h"

#define CRNIC_LOG_SQ_STRIDE	6

/**
 * struct crnic_raw - what a raw packet QP is made of
 * @qp: the QP
 * @sq_umem: the user's send ring, or NULL for no send queue
 * @tisn: transport interface of the send queue
 * @sqn: send queue
 * @has_rq: there is a receive queue; its ring is the QP's
 * @rqn: receive queue
 * @has_tir: and an endpoint that leads to it
 * @tirn: its number
 * @sq_rsc: for the send queue's events
 * @rq_rsc: for the receive queue's events
 */
struct crnic_raw {
	struct crnic_ib_qp *qp;
	struct ib_umem *sq_umem;
	u32 tisn;
	u32 sqn;
	bool has_rq;
	u32 rqn;
	bool has_tir;
	u32 tirn;
	struct crnic_rsc sq_rsc;
	struct crnic_rsc rq_rsc;
};

static void crnic_raw_sq_event(struct crnic_rsc *rsc, u8 type)
{
	crnic_ib_qp_tell(&container_of(rsc, struct crnic_raw, sq_rsc)->qp->ibqp, type);
}

static void crnic_raw_rq_event(struct crnic_rsc *rsc, u8 type)
{
	crnic_ib_qp_tell(&container_of(rsc, struct crnic_raw, rq_rsc)->qp->ibqp, type);
}

static void crnic_raw_fill_wq(const struct crnic_ib_qp *qp, struct crnic_wq_params *wq)
{
	wq->dbr = crnic_ring_dbr(&qp->ring);
	wq->pdn = to_cpd(qp->ibqp.pd)->pdn;
}

static int crnic_raw_create_sq(struct crnic_dev *dev, struct crnic_raw *raw,
			       const struct crnic_raw_request *req, const struct crnic_pas *pas)
{
	struct crnic_ib_qp *qp = raw->qp;
	struct crnic_sq_params p = {
		.wq = {
			.pas = *pas,
			.uar = crnic_ring_uar(dev, &qp->ring),
			.log_size = ilog2(req->sq_bbs),
			.log_stride = CRNIC_LOG_SQ_STRIDE,
		},
		.cqn = to_ccq(qp->ibqp.send_cq)->core.cqn,
		.user_index = req->uidx,
		.inline_mode = to_cib(qp->ibqp.device)->nic.min_inline,
		.flush_in_error = true,
	};
	int err;

	err = crnic_tis_create(dev, 0, req->tdn, &raw->tisn);
	if (err)
		return err;

	crnic_raw_fill_wq(qp, &p.wq);
	p.tisn = raw->tisn;
	err = crnic_sq_create(dev, &p, &raw->sqn);
	if (err)
		goto err_tis;

	raw->sq_rsc.event = crnic_raw_sq_event;
	raw->sq_rsc.type = CRNIC_RSC_SQ;
	raw->sq_rsc.num = raw->sqn;
	err = crnic_rsc_add(dev, &raw->sq_rsc);
	if (err)
		goto err_sq;
	return 0;

err_sq:
	crnic_sq_destroy(dev, raw->sqn);
err_tis:
	crnic_tis_destroy(dev, raw->tisn);
	return err;
}

static int crnic_raw_destroy_sq(struct crnic_dev *dev, struct crnic_raw *raw)
{
	int err;

	crnic_rsc_del(dev, &raw->sq_rsc);
	err = crnic_sq_destroy(dev, raw->sqn);
	if (err)
		return err;

	crnic_tis_destroy(dev, raw->tisn);
	ib_umem_release(raw->sq_umem);
	raw->sq_umem = NULL;
	return 0;
}

static int crnic_raw_create_rq(struct crnic_dev *dev, struct crnic_raw *raw,
			       const struct crnic_raw_request *req)
{
	struct crnic_ib_qp *qp = raw->qp;
	struct crnic_rq_params p = {
		.wq = {
			.pas = *req->rq_pas,
			.log_size = ilog2(qp->rq.size),
			.log_stride = qp->rq.shift,
		},
		.cqn = to_ccq(qp->ibqp.recv_cq)->core.cqn,
		.user_index = req->uidx,
		.keep_vlan = true,
		.flush_in_error = true,
	};
	struct crnic_tir_params t = { .tdn = req->tdn };
	int err;

	crnic_raw_fill_wq(qp, &p.wq);
	err = crnic_rq_create(dev, &p, &raw->rqn);
	if (err)
		return err;

	t.rqn = raw->rqn;
	err = crnic_tir_create(dev, &t, &raw->tirn);
	if (err)
		goto err_rq;

	raw->rq_rsc.event = crnic_raw_rq_event;
	raw->rq_rsc.type = CRNIC_RSC_RQ;
	raw->rq_rsc.num = raw->rqn;
	err = crnic_rsc_add(dev, &raw->rq_rsc);
	if (err)
		goto err_tir;
	raw->has_rq = true;
	raw->has_tir = true;
	return 0;

err_tir:
	crnic_tir_destroy(dev, raw->tirn);
err_rq:
	crnic_rq_destroy(dev, raw->rqn);
	return err;
}

static int crnic_raw_destroy_rq(struct crnic_dev *dev, struct crnic_raw *raw)
{
	int err;

	/* called again after a failure: the number may be another's endpoint by then */
	if (raw->has_tir) {
		crnic_rsc_del(dev, &raw->rq_rsc);
		err = crnic_tir_destroy(dev, raw->tirn);
		if (err)
			return err;
		raw->has_tir = false;
	}

	err = crnic_rq_destroy(dev, raw->rqn);
	if (!err)
		raw->has_rq = false;
	return err;
}

static int crnic_raw_pin_sq(struct crnic_raw *raw, u64 addr, u32 bbs, struct crnic_pas *pas)
{
	struct ib_umem *umem;
	int err;

	umem = ib_umem_get(raw->qp->ibqp.device, addr, (size_t)bbs << CRNIC_WQE_BB_SHIFT, 0);
	if (IS_ERR(umem))
		return PTR_ERR(umem);

	err = crnic_pas_of_ring(umem, __mlx5_bit_sz(wq, page_offset), pas);
	if (err) {
		ib_umem_release(umem);
		return err;
	}
	raw->sq_umem = umem;
	return 0;
}

/* both queues, as far as the user asked for them */
static int crnic_raw_create_queues(struct crnic_dev *dev, struct crnic_raw *raw,
				   const struct crnic_raw_request *req)
{
	struct crnic_pas sq_pas = {};
	int err;

	if (req->sq_bbs) {
		err = crnic_raw_pin_sq(raw, req->sq_addr, req->sq_bbs, &sq_pas);
		if (err)
			return err;
		err = crnic_raw_create_sq(dev, raw, req, &sq_pas);
		if (err)
			goto err_umem;
	}
	if (!raw->qp->rq.size)
		return 0;

	err = crnic_raw_create_rq(dev, raw, req);
	if (err && raw->sq_umem) {
		crnic_raw_destroy_sq(dev, raw);
		return err;
	}
	return err;

err_umem:
	ib_umem_release(raw->sq_umem);
	return err;
}

/**
 * crnic_raw_create - make the queues of a raw packet QP
 * @qp: QP; its ring, which is the receive queue's, is pinned
 * @req: what the user gave
 *
 * Return: 0 or errno.
 */
int crnic_raw_create(struct crnic_ib_qp *qp, const struct crnic_raw_request *req)
{
	struct crnic_dev *dev = to_cdev(qp->ibqp.device);
	struct crnic_raw *raw;
	int err;

	raw = kzalloc(sizeof(*raw), GFP_KERNEL);
	if (!raw)
		return -ENOMEM;

	raw->qp = qp;
	err = crnic_raw_create_queues(dev, raw, req);
	if (err) {
		kfree(raw);
		return err;
	}
	qp->raw = raw;
	qp->qpn = raw->sq_umem ? raw->sqn : raw->rqn;
	return 0;
}

/**
 * crnic_raw_destroy - undo crnic_raw_create()
 * @qp: raw packet QP
 *
 * Return: 0, or errno with what is left of it still there.
 */
int crnic_raw_destroy(struct crnic_ib_qp *qp)
{
	struct crnic_dev *dev = to_cdev(qp->ibqp.device);
	struct crnic_raw *raw = qp->raw;
	int err;

	if (raw->has_rq) {
		err = crnic_raw_destroy_rq(dev, raw);
		if (err)
			return err;
	}
	if (raw->sq_umem) {
		err = crnic_raw_destroy_sq(dev, raw);
		if (err)
			return err;
	}
	kfree(raw);
	qp->raw = NULL;
	return 0;
}

/**
 * crnic_raw_tirn - endpoint that frames for a QP are led to
 * @qp: QP, of any type
 * @tirn: answer
 *
 * Return: 0, or -EINVAL if it is no raw packet QP or has no receive queue.
 */
int crnic_raw_tirn(const struct crnic_ib_qp *qp, u32 *tirn)
{
	if (!qp->raw || !qp->raw->has_tir)
		return -EINVAL;
	*tirn = qp->raw->tirn;
	return 0;
}

/* the device may have gone to the error state by itself, so it is asked first */
static int crnic_raw_move_sq(struct crnic_dev *dev, const struct crnic_raw *raw, u8 to)
{
	u8 from;
	int err;

	if (!raw->sq_umem)
		return 0;
	err = crnic_sq_query(dev, raw->sqn, &from);
	if (err || from == to)
		return err;
	return crnic_sq_modify(dev, raw->sqn, from, to);
}

static int crnic_raw_move_rq(struct crnic_dev *dev, const struct crnic_raw *raw, u8 to)
{
	u8 from;
	int err;

	if (!raw->has_rq)
		return 0;
	err = crnic_rq_query(dev, raw->rqn, &from);
	if (err || from == to)
		return err;
	return crnic_rq_modify(dev, raw->rqn, from, to);
}

/**
 * crnic_raw_step - make a transition of a raw packet QP
 * @qp: QP, its lock held
 * @next: state that it shall be in
 *
 * The receive queue works from INIT on, the send queue from RTS on.
 *
 * Return: 0 or errno.
 */
int crnic_raw_step(struct crnic_ib_qp *qp, enum ib_qp_state next)
{
	static const struct {
		u8 rq;
		u8 sq;
	} states[] = {
		[IB_QPS_RESET]	= { MLX5_RQC_STATE_RST, MLX5_SQC_STATE_RST },
		[IB_QPS_INIT]	= { MLX5_RQC_STATE_RDY, MLX5_SQC_STATE_RST },
		[IB_QPS_RTR]	= { MLX5_RQC_STATE_RDY, MLX5_SQC_STATE_RST },
		[IB_QPS_RTS]	= { MLX5_RQC_STATE_RDY, MLX5_SQC_STATE_RDY },
		[IB_QPS_ERR]	= { MLX5_RQC_STATE_ERR, MLX5_SQC_STATE_ERR },
	};
	struct crnic_dev *dev = to_cdev(qp->ibqp.device);
	int err;

	lockdep_assert_held(&qp->lock);
	if (next >= ARRAY_SIZE(states))
		return -EINVAL;
	err = crnic_raw_move_rq(dev, qp->raw, states[next].rq);
	return err ? err : crnic_raw_move_sq(dev, qp->raw, states[next].sq);
}

/**
 * crnic_raw_state - state of a raw packet QP, as the device has it
 * @qp: QP, its lock held
 * @state: answer: the state last asked for, or an error that the device met
 *
 * Return: 0 or errno.
 */
int crnic_raw_state(struct crnic_ib_qp *qp, enum ib_qp_state *state)
{
	struct crnic_dev *dev = to_cdev(qp->ibqp.device);
	u8 rq = MLX5_RQC_STATE_RST, sq = MLX5_SQC_STATE_RST;
	int err;

	lockdep_assert_held(&qp->lock);
	err = qp->raw->has_rq ? crnic_rq_query(dev, qp->raw->rqn, &rq) : 0;
	if (!err && qp->raw->sq_umem)
		err = crnic_sq_query(dev, qp->raw->sqn, &sq);
	if (err)
		return err;

	*state = qp->state;
	if (rq == MLX5_RQC_STATE_ERR)
		*state = IB_QPS_ERR;
	else if (sq == MLX5_SQC_STATE_ERR)
		*state = qp->state == IB_QPS_ERR ? IB_QPS_ERR : IB_QPS_SQE;
	return 0;
}
