// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Polling kernel CQs.  A CQE is copied once and then believed only as far as it
 * was checked: it must name a live QP of this CQ and a WQE that is outstanding.
 */
#include <rdma/ib_cache.h>

#include "ib.h"

/* flags_rqpn: source QP, kind of network header, GRH */
#define CRNIC_CQE_RQPN		GENMASK(23, 0)
#define CRNIC_CQE_L3_SHIFT	24
#define CRNIC_CQE_GRH		GENMASK(29, 28)

static const u8 crnic_cqe_statuses[] = {
	[MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR]		= IB_WC_LOC_LEN_ERR,
	[MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR]		= IB_WC_LOC_QP_OP_ERR,
	[MLX5_CQE_SYNDROME_LOCAL_PROT_ERR]		= IB_WC_LOC_PROT_ERR,
	[MLX5_CQE_SYNDROME_WR_FLUSH_ERR]		= IB_WC_WR_FLUSH_ERR,
	[MLX5_CQE_SYNDROME_MW_BIND_ERR]			= IB_WC_MW_BIND_ERR,
	[MLX5_CQE_SYNDROME_BAD_RESP_ERR]		= IB_WC_BAD_RESP_ERR,
	[MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR]		= IB_WC_LOC_ACCESS_ERR,
	[MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR]	= IB_WC_REM_INV_REQ_ERR,
	[MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR]		= IB_WC_REM_ACCESS_ERR,
	[MLX5_CQE_SYNDROME_REMOTE_OP_ERR]		= IB_WC_REM_OP_ERR,
	[MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR]	= IB_WC_RETRY_EXC_ERR,
	[MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR]		= IB_WC_RNR_RETRY_EXC_ERR,
	[MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR]		= IB_WC_REM_ABORT_ERR,
};

static u8 crnic_cqe_opcode(const struct mlx5_cqe64 *cqe)
{
	return cqe->op_own >> 4;
}

static u32 crnic_cqe_qpn(const struct mlx5_cqe64 *cqe)
{
	return be32_to_cpu(cqe->sop_drop_qpn) & CRNIC_CQE_RQPN;
}

static bool crnic_cqe_is_requester(const struct mlx5_cqe64 *cqe)
{
	const u8 opcode = crnic_cqe_opcode(cqe);

	return opcode == MLX5_CQE_REQ || opcode == MLX5_CQE_REQ_ERR;
}

static struct mlx5_cqe64 *crnic_cq_slot(const struct crnic_ib_cq *cq, u32 ci)
{
	return (struct mlx5_cqe64 *)cq->ring.buf.addr + (ci & cq->ibcq.cqe);
}

/* the owner bit of a CQE changes with each round of the ring */
static bool crnic_cq_owned(const struct crnic_ib_cq *cq, u32 ci)
{
	const u8 op_own = READ_ONCE(crnic_cq_slot(cq, ci)->op_own);
	const bool round = ci & (cq->ibcq.cqe + 1);

	return op_own >> 4 != MLX5_CQE_INVALID && (op_own & MLX5_CQE_OWNER_MASK) == round;
}

/**
 * crnic_ib_cq_pending - is there a CQE to poll?
 * @cq: kernel CQ, its lock held
 *
 * Return: true if the device has written one.
 */
bool crnic_ib_cq_pending(struct crnic_ib_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	return crnic_cq_owned(cq, cq->ci);
}

static void crnic_cqe_parse_error(const struct mlx5_cqe64 *cqe, struct ib_wc *wc)
{
	const struct mlx5_err_cqe *err = (const void *)cqe;

	wc->status = IB_WC_GENERAL_ERR;
	if (err->syndrome < ARRAY_SIZE(crnic_cqe_statuses) && crnic_cqe_statuses[err->syndrome])
		wc->status = crnic_cqe_statuses[err->syndrome];
	wc->vendor_err = err->vendor_err_synd;
}

static void crnic_cqe_parse_request(const struct mlx5_cqe64 *cqe, struct ib_wc *wc)
{
	switch (be32_to_cpu(cqe->sop_drop_qpn) >> 24) {
	case MLX5_OPCODE_RDMA_WRITE_IMM:
	case MLX5_OPCODE_SEND_IMM:
		wc->wc_flags = IB_WC_WITH_IMM;
		break;
	case MLX5_OPCODE_RDMA_READ:
		wc->byte_len = be32_to_cpu(cqe->byte_cnt);
		break;
	case MLX5_OPCODE_ATOMIC_CS:
	case MLX5_OPCODE_ATOMIC_FA:
		wc->byte_len = sizeof(u64);
		break;
	}
}

static void crnic_cqe_parse_network(const struct mlx5_cqe64 *cqe, struct ib_wc *wc)
{
	static const u8 types[] = {
		[MLX5_CQE_ROCE_L3_HEADER_TYPE_GRH]	= RDMA_NETWORK_ROCE_V1,
		[MLX5_CQE_ROCE_L3_HEADER_TYPE_IPV6]	= RDMA_NETWORK_IPV6,
		[MLX5_CQE_ROCE_L3_HEADER_TYPE_IPV4]	= RDMA_NETWORK_IPV4,
		[3]					= RDMA_NETWORK_ROCE_V1,
	};
	const u32 rqpn = be32_to_cpu(cqe->flags_rqpn);

	wc->src_qp = rqpn & CRNIC_CQE_RQPN;
	wc->network_hdr_type = types[rqpn >> CRNIC_CQE_L3_SHIFT & 3];
	wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
	if (rqpn & CRNIC_CQE_GRH)
		wc->wc_flags |= IB_WC_GRH;
	if (!(cqe->l4_l3_hdr_type & 1))
		return;

	wc->vlan_id = be16_to_cpu(cqe->vlan_info) & 0xfff;
	wc->sl = be16_to_cpu(cqe->vlan_info) >> 13;
	wc->wc_flags |= IB_WC_WITH_VLAN;
}

static void crnic_cqe_parse_response(const struct mlx5_cqe64 *cqe, struct ib_wc *wc)
{
	wc->opcode = IB_WC_RECV;
	wc->byte_len = be32_to_cpu(cqe->byte_cnt);
	switch (crnic_cqe_opcode(cqe)) {
	case MLX5_CQE_RESP_WR_IMM:
		wc->opcode = IB_WC_RECV_RDMA_WITH_IMM;
		fallthrough;
	case MLX5_CQE_RESP_SEND_IMM:
		wc->wc_flags = IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->immediate;
		break;
	case MLX5_CQE_RESP_SEND_INV:
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = be32_to_cpu(cqe->inval_rkey);
		break;
	}
	crnic_cqe_parse_network(cqe, wc);
}

/**
 * crnic_cqe_parse - what a CQE says by itself
 * @cqe: CQE, a private copy
 * @wc: answer, zeroed; QP, cookie and a request's opcode are the caller's to add
 */
void crnic_cqe_parse(const struct mlx5_cqe64 *cqe, struct ib_wc *wc)
{
	wc->status = IB_WC_SUCCESS;
	wc->port_num = CRNIC_PORT;
	switch (crnic_cqe_opcode(cqe)) {
	case MLX5_CQE_REQ:
		crnic_cqe_parse_request(cqe, wc);
		break;
	case MLX5_CQE_REQ_ERR:
	case MLX5_CQE_RESP_ERR:
		crnic_cqe_parse_error(cqe, wc);
		break;
	default:
		crnic_cqe_parse_response(cqe, wc);
	}
}

/**
 * crnic_sq_retire - complete a send WQE and all before it
 * @sq: send queue; the caller holds the CQ's lock
 * @counter: first basic block of the WQE, as the device told
 * @wr: answer: what was remembered of it
 *
 * Return: false, with nothing done, if no outstanding WQE begins there.
 */
bool crnic_sq_retire(struct crnic_sq *sq, u16 counter, struct crnic_sq_wr *wr)
{
	const u16 pc = READ_ONCE(sq->pc);
	u16 at = sq->cc;

	while (at != pc) {
		const struct crnic_sq_wr *rec = &sq->wrs[at & (sq->bbs - 1)];

		if (at == counter) {
			*wr = *rec;
			WRITE_ONCE(sq->cc, rec->next);
			return true;
		}
		at = rec->next;
	}
	return false;
}

static bool crnic_rq_retire(struct crnic_rq *rq, u64 *wr_id)
{
	if (rq->cc == READ_ONCE(rq->pc))
		return false;

	*wr_id = rq->wr_ids[rq->cc & (rq->size - 1)];
	WRITE_ONCE(rq->cc, rq->cc + 1);
	return true;
}

static bool crnic_wc_set_send(struct crnic_ib_qp *qp, const struct mlx5_cqe64 *cqe,
			      struct ib_wc *wc)
{
	struct crnic_sq_wr wr;

	if (!crnic_sq_retire(&qp->sq, be16_to_cpu(cqe->wqe_counter), &wr))
		return false;

	wc->wr_id = wr.wr_id;
	wc->opcode = wr.opcode;
	return true;
}

static bool crnic_wc_set_recv(struct crnic_ib_qp *qp, const struct mlx5_cqe64 *cqe,
			      struct ib_wc *wc)
{
	if (qp->ibqp.srq)
		return crnic_srq_retire(to_csrq(qp->ibqp.srq), be16_to_cpu(cqe->wqe_counter),
					&wc->wr_id);
	return crnic_rq_retire(&qp->rq, &wc->wr_id);
}

static bool crnic_cqe_opcode_known(const struct mlx5_cqe64 *cqe)
{
	return crnic_cqe_opcode(cqe) <= MLX5_CQE_RESP_SEND_INV ||
	       crnic_cqe_opcode(cqe) == MLX5_CQE_REQ_ERR ||
	       crnic_cqe_opcode(cqe) == MLX5_CQE_RESP_ERR;
}

/* QPs leave the table before they die, and they die only after this lock was free */
static struct crnic_ib_qp *crnic_cqe_qp(struct crnic_ib_cq *cq, const struct mlx5_cqe64 *cqe)
{
	struct crnic_ib_qp *qp;

	qp = xa_load(&to_cib(cq->ibcq.device)->qps, crnic_cqe_qpn(cqe));
	if (!qp)
		return NULL;
	if ((crnic_cqe_is_requester(cqe) ? qp->ibqp.send_cq : qp->ibqp.recv_cq) != &cq->ibcq)
		return NULL;
	return qp;
}

/* false for a CQE that says nothing: a QP that is being destroyed, or a device gone mad */
static bool crnic_cqe_to_wc(struct crnic_ib_cq *cq, const struct mlx5_cqe64 *cqe,
			    struct ib_wc *wc)
{
	struct crnic_ib_qp *qp = crnic_cqe_qp(cq, cqe);

	if (!qp || !crnic_cqe_opcode_known(cqe))
		return false;

	memset(wc, 0, sizeof(*wc));
	wc->qp = &qp->ibqp;
	crnic_cqe_parse(cqe, wc);
	if (crnic_cqe_is_requester(cqe) ? crnic_wc_set_send(qp, cqe, wc) :
					  crnic_wc_set_recv(qp, cqe, wc))
		return true;

	crnic_err_rl(to_cdev(cq->ibcq.device), "CQ 0x%x: QP 0x%x has no such WQE: %32phN\n",
		     cq->core.cqn, qp->qpn, &cqe->timestamp_h);
	return false;
}

static int crnic_cq_poll_locked(struct crnic_ib_cq *cq, int num, struct ib_wc *wc)
{
	const u32 first = cq->ci;
	struct mlx5_cqe64 cqe;
	int n = 0;

	lockdep_assert_held(&cq->lock);
	while (n < num && crnic_cq_owned(cq, cq->ci)) {
		/* the owner bit is read before the rest of the CQE */
		dma_rmb();
		memcpy(&cqe, crnic_cq_slot(cq, cq->ci), sizeof(cqe));
		cq->ci++;
		if (crnic_cqe_to_wc(cq, &cqe, &wc[n]))
			n++;
	}
	if (cq->ci != first)
		crnic_cq_ci_update(&cq->ring.dbr.db[0], cq->ci);
	return n;
}

/**
 * crnic_ib_poll_cq - take completions
 * @ibcq: kernel CQ
 * @num: room in @wc
 * @wc: answer
 *
 * Context: any.
 * Return: number of completions.
 */
int crnic_ib_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct crnic_ib_cq *cq = to_ccq(ibcq);
	unsigned long irq;
	int n;

	spin_lock_irqsave(&cq->lock, irq);
	n = crnic_cq_poll_locked(cq, num, wc);
	if (unlikely(crnic_dead(to_cdev(ibcq->device))))
		n += crnic_ib_flush_cq(cq, num - n, wc + n);
	spin_unlock_irqrestore(&cq->lock, irq);
	return n;
}

/* copy a CQE over a later one, which keeps the owner bit of its place */
static void crnic_cqe_move(const struct crnic_ib_cq *cq, u32 to, u32 from)
{
	struct mlx5_cqe64 *dst = crnic_cq_slot(cq, to);
	const u8 owner = dst->op_own & MLX5_CQE_OWNER_MASK;

	*dst = *crnic_cq_slot(cq, from);
	dst->op_own = (dst->op_own & ~MLX5_CQE_OWNER_MASK) | owner;
}

static void crnic_cqe_drop(const struct mlx5_cqe64 *cqe, struct crnic_ib_srq *srq)
{
	u64 wr_id;

	if (srq && !crnic_cqe_is_requester(cqe))
		crnic_srq_retire(srq, be16_to_cpu(cqe->wqe_counter), &wr_id);
}

/**
 * crnic_ib_cq_clean - take a QP's CQEs out of a CQ
 * @cq: kernel CQ
 * @qpn: the QP, quiet in the device
 * @srq: where its receive WQEs come from, or NULL
 *
 * The other CQEs keep their order: those that stay move towards the newest.
 */
void crnic_ib_cq_clean(struct crnic_ib_cq *cq, u32 qpn, struct crnic_ib_srq *srq)
{
	unsigned long irq;
	u32 end, at, gone = 0;

	spin_lock_irqsave(&cq->lock, irq);
	for (end = cq->ci; end - cq->ci <= cq->ibcq.cqe; end++)
		if (!crnic_cq_owned(cq, end))
			break;
	/* the owner bits are read before the rest of the CQEs */
	dma_rmb();
	for (at = end; at != cq->ci; at--) {
		const struct mlx5_cqe64 *cqe = crnic_cq_slot(cq, at - 1);

		if (crnic_cqe_qpn(cqe) == qpn) {
			crnic_cqe_drop(cqe, srq);
			gone++;
		} else if (gone) {
			crnic_cqe_move(cq, at - 1 + gone, at - 1);
		}
	}
	cq->ci += gone;
	if (gone)
		crnic_cq_ci_update(&cq->ring.dbr.db[0], cq->ci);
	spin_unlock_irqrestore(&cq->lock, irq);
}

/**
 * crnic_ib_qp_clean - take a QP's CQEs out of its CQs
 * @qp: kernel QP, quiet in the device
 */
void crnic_ib_qp_clean(struct crnic_ib_qp *qp)
{
	struct ib_cq *send = qp->ibqp.send_cq, *recv = qp->ibqp.recv_cq;

	/* an XRC initiator has no CQ to receive with */
	if (recv)
		crnic_ib_cq_clean(to_ccq(recv), qp->qpn,
				  qp->ibqp.srq ? to_csrq(qp->ibqp.srq) : NULL);
	if (send && send != recv)
		crnic_ib_cq_clean(to_ccq(send), qp->qpn, NULL);
}
