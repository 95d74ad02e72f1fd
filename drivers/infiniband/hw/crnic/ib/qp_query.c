// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Attributes of a QP, as the device tells them */
#include <rdma/ib_cache.h>

#include <crnic/obj/qp.h>

#include "ib.h"

static const u8 crnic_qp_states[] = {
	[MLX5_QP_STATE_RST]		= IB_QPS_RESET,
	[MLX5_QP_STATE_INIT]		= IB_QPS_INIT,
	[MLX5_QP_STATE_RTR]		= IB_QPS_RTR,
	[MLX5_QP_STATE_RTS]		= IB_QPS_RTS,
	[MLX5_QP_STATE_SQER]		= IB_QPS_SQE,
	[MLX5_QP_STATE_SQD]		= IB_QPS_SQD,
	[MLX5_QP_STATE_ERR]		= IB_QPS_ERR,
	[MLX5_QP_STATE_SQ_DRAINING]	= IB_QPS_SQD,
};

static enum ib_qp_state crnic_qp_state(u8 state)
{
	return state < ARRAY_SIZE(crnic_qp_states) ? crnic_qp_states[state] : IB_QPS_ERR;
}

static void crnic_qp_get_path(const struct crnic_ib_qp *qp, const struct crnic_qp_path *path,
			      struct rdma_ah_attr *ah)
{
	ah->type = rdma_ah_find_type(qp->ibqp.device, CRNIC_PORT);
	rdma_ah_set_port_num(ah, CRNIC_PORT);
	rdma_ah_set_sl(ah, path->eth_prio);
	rdma_ah_set_grh(ah, NULL, path->flow_label, path->sgid_index, path->hop_limit,
			path->tclass);
	rdma_ah_set_dgid_raw(ah, (void *)path->dgid);
	memcpy(ah->roce.dmac, path->dmac, sizeof(path->dmac));
}

static int crnic_qp_get_rights(const struct crnic_qp_attr *a)
{
	return (a->rre ? IB_ACCESS_REMOTE_READ : 0) | (a->rwe ? IB_ACCESS_REMOTE_WRITE : 0) |
	       (a->rae ? IB_ACCESS_REMOTE_ATOMIC : 0);
}

static void crnic_qp_get_numbers(const struct crnic_qp_attr *a, struct ib_qp_attr *attr)
{
	attr->qp_state = crnic_qp_state(a->state);
	attr->cur_qp_state = attr->qp_state;
	attr->path_mtu = a->mtu;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->qkey = a->qkey;
	attr->rq_psn = a->rq_psn;
	attr->sq_psn = a->sq_psn;
	attr->dest_qp_num = a->remote_qpn;
	attr->qp_access_flags = crnic_qp_get_rights(a);
	attr->max_rd_atomic = 1 << a->log_sra_max;
	attr->max_dest_rd_atomic = 1 << a->log_rra_max;
	attr->min_rnr_timer = a->min_rnr_nak;
	attr->retry_cnt = a->retry_count;
	attr->rnr_retry = a->rnr_retry;
	attr->pkey_index = a->path.pkey_index;
	attr->port_num = CRNIC_PORT;
	attr->timeout = a->path.ack_timeout;
}

static int crnic_qp_get_numbers_locked(struct crnic_ib_qp *qp, struct crnic_qp_attr *a,
				       struct ib_qp_attr *attr)
{
	int err;

	if (qp->raw) {
		attr->port_num = CRNIC_PORT;
		err = crnic_raw_state(qp, &attr->qp_state);
		attr->cur_qp_state = attr->qp_state;
		return err;
	}
	err = crnic_qp_query(to_cdev(qp->ibqp.device), qp->qpn, a);
	if (!err)
		crnic_qp_get_numbers(a, attr);
	return err;
}

/* a user's send queue is known to the library only, which fills these in */
static void crnic_qp_get_caps(const struct crnic_ib_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_recv_wr = qp->rq.size;
	cap->max_recv_sge = qp->rq.max_sge;
	if (qp->ibqp.uobject)
		return;
	cap->max_send_wr = qp->sq.max_bbs ? qp->sq.bbs / qp->sq.max_bbs : 0;
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_inline_data = qp->sq.max_inline;
}

/**
 * crnic_ib_query_qp - tell a QP's attributes
 * @ibqp: QP
 * @attr: answer
 * @mask: what is asked; everything is told
 * @init: answer: attributes of its creation
 *
 * Return: 0 or errno.
 */
int crnic_ib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_qp_init_attr *init)
{
	struct crnic_ib_qp *qp = to_cqp(ibqp);
	struct crnic_qp_attr a = {};
	int err;

	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	mutex_lock(&qp->lock);
	err = crnic_qp_get_numbers_locked(qp, &a, attr);
	mutex_unlock(&qp->lock);
	if (err)
		return err;

	if (BIT(ibqp->qp_type) & (CRNIC_T(RC) | CRNIC_T(UC) | CRNIC_T_XRC))
		crnic_qp_get_path(qp, &a.path, &attr->ah_attr);
	crnic_qp_get_caps(qp, &attr->cap);

	init->qp_type = ibqp->qp_type;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->cap = attr->cap;
	return 0;
}
