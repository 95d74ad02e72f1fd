// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Transitions of a QP.  One table says which command makes a transition, for
 * which types, and which attributes it wants, may have and refuses; it is the
 * IBTA's (C10-16 and on, as ib_core keeps it too) less what crnic has not:
 * alternate paths, path migration and the SQD state.
 */
#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>

#include <crnic/obj/qp.h>

#include "ib.h"

#define T_UC	CRNIC_T(UC)
#define T_RC	CRNIC_T(RC)
#define T_UD	CRNIC_T(UD)
#define T_GSI	CRNIC_T(GSI)
#define T_INI	CRNIC_T(XRC_INI)
#define T_TGT	CRNIC_T(XRC_TGT)
#define T_CONN	(T_RC | T_UC | T_INI | T_TGT)
#define T_RAW	CRNIC_T_RAW
#define T_ALL	(CRNIC_T_ALL | CRNIC_T_RAW)

/* Attributes that go together */
#define A_CONNECT	(IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)
#define A_RESPOND	(IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define A_RETRY		(IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
			 IB_QP_MAX_QP_RD_ATOMIC)

#define STEP(from, to, t, op, req, opt)					\
	{ IB_QPS_##from, IB_QPS_##to, t, MLX5_CMD_OP_##op, req, opt }

static const struct crnic_qp_step crnic_qp_steps[] = {
	STEP(RESET, RESET, T_ALL, 2RST_QP, 0, 0),
	STEP(INIT, RESET, T_ALL, 2RST_QP, 0, 0),
	STEP(RTR, RESET, T_ALL, 2RST_QP, 0, 0),
	STEP(RTS, RESET, T_ALL, 2RST_QP, 0, 0),
	STEP(SQE, RESET, T_ALL, 2RST_QP, 0, 0),
	STEP(ERR, RESET, T_ALL, 2RST_QP, 0, 0),

	STEP(INIT, ERR, T_ALL, 2ERR_QP, 0, 0),
	STEP(RTR, ERR, T_ALL, 2ERR_QP, 0, 0),
	STEP(RTS, ERR, T_ALL, 2ERR_QP, 0, 0),
	STEP(SQE, ERR, T_ALL, 2ERR_QP, 0, 0),
	STEP(ERR, ERR, T_ALL, 2ERR_QP, 0, 0),

	STEP(RESET, INIT, T_CONN, RST2INIT_QP,
	     IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS, 0),
	STEP(RESET, INIT, T_UD, RST2INIT_QP, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY, 0),
	STEP(RESET, INIT, T_GSI, RST2INIT_QP, IB_QP_PKEY_INDEX | IB_QP_QKEY, 0),

	STEP(RESET, INIT, T_RAW, RST2INIT_QP, IB_QP_PORT, 0),

	STEP(INIT, INIT, T_CONN, INIT2INIT_QP,
	     0, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS),
	STEP(INIT, INIT, T_UD, INIT2INIT_QP, 0, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY),
	STEP(INIT, INIT, T_GSI, INIT2INIT_QP, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY),

	STEP(INIT, INIT, T_RAW, INIT2INIT_QP, 0, 0),

	STEP(INIT, RTR, T_RC | T_TGT, INIT2RTR_QP,
	     A_CONNECT | A_RESPOND, IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX),
	STEP(INIT, RTR, T_UC | T_INI, INIT2RTR_QP,
	     A_CONNECT, IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX),
	STEP(INIT, RTR, T_UD | T_GSI, INIT2RTR_QP, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY),

	STEP(INIT, RTR, T_RAW, INIT2RTR_QP, 0, 0),

	STEP(RTR, RTS, T_RC, RTR2RTS_QP, IB_QP_SQ_PSN | A_RETRY,
	     IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER),
	STEP(RTR, RTS, T_INI, RTR2RTS_QP, IB_QP_SQ_PSN | A_RETRY,
	     IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS),
	STEP(RTR, RTS, T_TGT, RTR2RTS_QP, IB_QP_SQ_PSN | IB_QP_TIMEOUT,
	     IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER),
	STEP(RTR, RTS, T_UC, RTR2RTS_QP, IB_QP_SQ_PSN, IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS),
	STEP(RTR, RTS, T_UD | T_GSI, RTR2RTS_QP, IB_QP_SQ_PSN, IB_QP_CUR_STATE | IB_QP_QKEY),

	STEP(RTR, RTS, T_RAW, RTR2RTS_QP, 0, 0),

	STEP(RTS, RTS, T_RC | T_TGT, RTS2RTS_QP, 0,
	     IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER),
	STEP(RTS, RTS, T_UC | T_INI, RTS2RTS_QP, 0, IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS),
	STEP(RTS, RTS, T_UD | T_GSI, RTS2RTS_QP, 0, IB_QP_CUR_STATE | IB_QP_QKEY),

	STEP(RTS, RTS, T_RAW, RTS2RTS_QP, 0, 0),

	STEP(SQE, RTS, T_UD | T_GSI, SQERR2RTS_QP, 0, IB_QP_CUR_STATE | IB_QP_QKEY),
	STEP(SQE, RTS, T_UC, SQERR2RTS_QP, 0, IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS),
};

static bool crnic_qp_step_fits(const struct crnic_qp_step *s, enum ib_qp_type type, int mask)
{
	const u32 given = mask & ~IB_QP_STATE;

	return s->types & BIT(type) && (given & s->required) == s->required &&
	       !(given & ~(s->required | s->optional));
}

/**
 * crnic_qp_step_find - is this transition with these attributes legal?
 * @cur: state
 * @next: state wanted
 * @type: QP type that crnic has
 * @mask: attributes given
 *
 * Return: row of the table, or NULL.
 */
const struct crnic_qp_step *crnic_qp_step_find(enum ib_qp_state cur, enum ib_qp_state next,
					       enum ib_qp_type type, int mask)
{
	const struct crnic_qp_step *s;

	for (s = crnic_qp_steps; s < crnic_qp_steps + ARRAY_SIZE(crnic_qp_steps); s++)
		if (s->cur == cur && s->next == next && crnic_qp_step_fits(s, type, mask))
			return s;
	return NULL;
}

/* Optional attributes count for the device only with their bit in the mask */
static const struct {
	int attr;
	u32 opt;
} crnic_qp_opts[] = {
	{ IB_QP_ACCESS_FLAGS,
	  MLX5_QP_OPTPAR_RRE | MLX5_QP_OPTPAR_RWE | MLX5_QP_OPTPAR_RAE },
	{ IB_QP_MAX_DEST_RD_ATOMIC,
	  MLX5_QP_OPTPAR_RRE | MLX5_QP_OPTPAR_RWE | MLX5_QP_OPTPAR_RAE },
	{ IB_QP_PKEY_INDEX,	MLX5_QP_OPTPAR_PKEY_INDEX },
	{ IB_QP_PORT,		MLX5_QP_OPTPAR_PRI_PORT },
	{ IB_QP_QKEY,		MLX5_QP_OPTPAR_Q_KEY },
	{ IB_QP_MIN_RNR_TIMER,	MLX5_QP_OPTPAR_RNR_TIMEOUT },
};

/*
 * The device names few optional fields in the commands that set up a QP: it
 * takes the rest from the context (mlx5_ib's opt_mask[] says which).
 */
static u32 crnic_qp_opt_allowed(u16 opcode)
{
	const u32 rights = MLX5_QP_OPTPAR_RRE | MLX5_QP_OPTPAR_RWE | MLX5_QP_OPTPAR_RAE;

	switch (opcode) {
	case MLX5_CMD_OP_RST2INIT_QP:
	case MLX5_CMD_OP_2RST_QP:
	case MLX5_CMD_OP_2ERR_QP:
		return 0;
	case MLX5_CMD_OP_INIT2INIT_QP:
		return rights | MLX5_QP_OPTPAR_PKEY_INDEX | MLX5_QP_OPTPAR_PRI_PORT |
		       MLX5_QP_OPTPAR_Q_KEY;
	case MLX5_CMD_OP_INIT2RTR_QP:
		return rights | MLX5_QP_OPTPAR_PKEY_INDEX | MLX5_QP_OPTPAR_Q_KEY;
	default:
		return rights | MLX5_QP_OPTPAR_RNR_TIMEOUT | MLX5_QP_OPTPAR_Q_KEY;
	}
}

static u32 crnic_qp_opt_mask(u16 opcode, enum ib_qp_type type, int mask)
{
	u32 opt = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(crnic_qp_opts); i++)
		if (mask & crnic_qp_opts[i].attr)
			opt |= crnic_qp_opts[i].opt;
	opt &= crnic_qp_opt_allowed(opcode);
	if (type == IB_QPT_UC)
		opt &= ~(MLX5_QP_OPTPAR_RRE | MLX5_QP_OPTPAR_RAE);
	return opt;
}

static int crnic_qp_set_path(const struct crnic_ib_qp *qp, const struct ib_qp_attr *attr,
			     struct crnic_qp_path *path)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);

	if (!(rdma_ah_get_ah_flags(&attr->ah_attr) & IB_AH_GRH))
		return -EINVAL;

	path->sgid_index = grh->sgid_index;
	path->hop_limit = grh->hop_limit;
	path->tclass = grh->traffic_class;
	path->flow_label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	memcpy(path->dgid, grh->dgid.raw, sizeof(path->dgid));
	ether_addr_copy(path->dmac, attr->ah_attr.roce.dmac);
	path->eth_prio = rdma_ah_get_sl(&attr->ah_attr) & 7;
	if (grh->sgid_attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP) {
		path->dscp = grh->traffic_class >> 2;
		path->udp_sport = rdma_get_udp_sport(path->flow_label, qp->ibqp.qp_num,
						     attr->dest_qp_num);
	}
	return 0;
}

/*
 * The device has three bits for rights, users have flags and a depth: without
 * a depth nothing that needs an answer is allowed.  Rights that the device
 * lacks are left out and not refused, since rdma_cm asks for atomics always.
 */
static void crnic_qp_set_rights(const struct crnic_ib_qp *qp, const struct ib_qp_attr *attr,
				int mask, struct crnic_qp_attr *a)
{
	u32 access = mask & IB_QP_ACCESS_FLAGS ? attr->qp_access_flags : qp->access;
	u8 depth = mask & IB_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic : qp->resp_depth;

	a->rwe = access & IB_ACCESS_REMOTE_WRITE;
	a->rre = depth && access & IB_ACCESS_REMOTE_READ;
	a->rae = depth && access & IB_ACCESS_REMOTE_ATOMIC &&
		 crnic_ib_atomics(to_cdev(qp->ibqp.device));
	if (a->rae)
		a->atomic_mode = MLX5_ATOMIC_MODE_IB_COMP;
}

/* log2 of a count, rounded up; none is coded as one, and the rights say so */
static u8 crnic_qp_log_depth(u8 n)
{
	return n ? fls(n - 1) : 0;
}

static void crnic_qp_set_size(const struct crnic_ib_qp *qp, const struct ib_qp_attr *attr,
			      int mask, struct crnic_qp_attr *a)
{
	switch (qp->ibqp.qp_type) {
	case IB_QPT_GSI:
		a->mtu = IB_MTU_256;
		a->log_msg_max = 8;
		break;
	case IB_QPT_UD:
		a->mtu = IB_MTU_4096;
		a->log_msg_max = 12;
		break;
	default:
		if (!(mask & IB_QP_PATH_MTU))
			break;
		a->mtu = attr->path_mtu;
		a->log_msg_max = CRNIC_CAP_GEN(to_cdev(qp->ibqp.device), log_max_msg);
	}
}

/* what the context needs whatever the transition: it is written as a whole */
static void crnic_qp_set_fixed(const struct crnic_ib_qp *qp, struct crnic_qp_attr *a)
{
	const struct ib_qp *ibqp = &qp->ibqp;
	const struct crnic_ib *ib = to_cib(ibqp->device);

	a->st = crnic_qp_st(ibqp->qp_type);
	a->pm_state = MLX5_QP_PM_MIGRATED;
	a->pdn = ibqp->pd ? to_cpd(ibqp->pd)->pdn : ib->dev->pdn;
	if (ibqp->send_cq)
		a->scqn = to_ccq(ibqp->send_cq)->core.cqn;
	if (ibqp->recv_cq)
		a->rcqn = to_ccq(ibqp->recv_cq)->core.cqn;
	a->counter_set = ib->counter_set;
	a->log_ack_req_freq = 8;
	a->path.port = CRNIC_PORT;
}

static void crnic_qp_set_numbers(const struct ib_qp_attr *attr, int mask, struct crnic_qp_attr *a)
{
	if (mask & IB_QP_DEST_QPN)
		a->remote_qpn = attr->dest_qp_num;
	if (mask & IB_QP_SQ_PSN)
		a->sq_psn = attr->sq_psn;
	if (mask & IB_QP_RQ_PSN)
		a->rq_psn = attr->rq_psn;
	if (mask & IB_QP_QKEY)
		a->qkey = attr->qkey;
	if (mask & IB_QP_RETRY_CNT)
		a->retry_count = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		a->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		a->min_rnr_nak = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		a->log_sra_max = crnic_qp_log_depth(attr->max_rd_atomic);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		a->log_rra_max = crnic_qp_log_depth(attr->max_dest_rd_atomic);
	if (mask & IB_QP_PKEY_INDEX)
		a->path.pkey_index = attr->pkey_index;
	if (mask & IB_QP_TIMEOUT)
		a->path.ack_timeout = attr->timeout;
}

/* values that the context has no room for, or that the device cannot serve */
static int crnic_qp_check_values(const struct crnic_dev *dev, const struct ib_qp_attr *attr,
				 int mask)
{
	if (mask & IB_QP_PORT && attr->port_num != CRNIC_PORT)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > IB_MTU_4096))
		return -EINVAL;
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num > 0xffffff)
		return -EINVAL;
	if (mask & IB_QP_TIMEOUT && attr->timeout > 31)
		return -EINVAL;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return -EINVAL;
	if ((mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7))
		return -EINVAL;
	/* as mlx5_ib: "res" bounds what a QP starts, "req" what it answers */
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > 1 << CRNIC_CAP_GEN(dev, log_max_ra_res_qp))
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > 1 << CRNIC_CAP_GEN(dev, log_max_ra_req_qp))
		return -EINVAL;
	return 0;
}

static int crnic_qp_set_attr(const struct crnic_ib_qp *qp, const struct ib_qp_attr *attr,
			     int mask, struct crnic_qp_attr *a)
{
	crnic_qp_set_fixed(qp, a);
	crnic_qp_set_size(qp, attr, mask, a);
	crnic_qp_set_numbers(attr, mask, a);
	if (mask & (IB_QP_ACCESS_FLAGS | IB_QP_MAX_DEST_RD_ATOMIC))
		crnic_qp_set_rights(qp, attr, mask, a);
	return mask & IB_QP_AV ? crnic_qp_set_path(qp, attr, &a->path) : 0;
}

/* after a reset both rings start anew; nobody posts, and CQEs are cleaned under the CQ's lock */
static void crnic_qp_rewind(struct crnic_ib_qp *qp)
{
	crnic_ib_qp_clean(qp);
	qp->rq.pc = 0;
	qp->rq.cc = 0;
	qp->sq.pc = 0;
	qp->sq.cc = 0;
	qp->sq.fence = 0;
	qp->ring.dbr.db[MLX5_RCV_DBR] = 0;
	qp->ring.dbr.db[MLX5_SND_DBR] = 0;
}

/**
 * crnic_qp_to_reset - take a QP to RESET
 * @dev: device
 * @qp: QP, its lock held
 *
 * Return: 0 or errno.
 */
int crnic_qp_to_reset(struct crnic_dev *dev, struct crnic_ib_qp *qp)
{
	struct crnic_qp_attr a = {};
	int err;

	lockdep_assert_held(&qp->lock);
	if (qp->state == IB_QPS_RESET)
		return 0;

	err = crnic_qp_modify(dev, qp->qpn, MLX5_CMD_OP_2RST_QP, 0, &a);
	if (!err)
		qp->state = IB_QPS_RESET;
	return err;
}

static int crnic_raw_step_locked(struct crnic_ib_qp *qp, const struct crnic_qp_step *step)
{
	int err;

	err = crnic_raw_step(qp, step->next);
	if (!err)
		qp->state = step->next;
	return err;
}

static int crnic_qp_step_locked(struct crnic_ib_qp *qp, const struct crnic_qp_step *step,
				const struct ib_qp_attr *attr, int mask)
{
	struct crnic_dev *dev = to_cdev(qp->ibqp.device);
	struct crnic_qp_attr a = {};
	int err;

	lockdep_assert_held(&qp->lock);
	err = crnic_qp_set_attr(qp, attr, mask, &a);
	if (err)
		return err;
	/* the kernel's send ring tells its QPs from users' */
	a.rlky = step->opcode == MLX5_CMD_OP_RST2INIT_QP && qp->sq.wrs;

	err = crnic_qp_modify(dev, qp->qpn, step->opcode,
			      crnic_qp_opt_mask(step->opcode, qp->ibqp.qp_type, mask), &a);
	if (err)
		return err;

	qp->state = step->next;
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->resp_depth = attr->max_dest_rd_atomic;
	if (step->next == IB_QPS_RESET && qp->sq.wrs)
		crnic_qp_rewind(qp);
	return 0;
}

static int crnic_qp_modify_locked(struct crnic_ib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state cur = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;
	const struct crnic_qp_step *step;
	int err;

	step = crnic_qp_step_find(cur, next, qp->ibqp.qp_type, mask);
	if (!step)
		return -EINVAL;

	err = crnic_qp_check_values(to_cdev(qp->ibqp.device), attr, mask);
	if (err)
		return err;
	/* the device has no command for staying in RESET */
	if (qp->state == IB_QPS_RESET && next == IB_QPS_RESET)
		return 0;
	if (qp->raw)
		return crnic_raw_step_locked(qp, step);
	return crnic_qp_step_locked(qp, step, attr, mask);
}

/**
 * crnic_ib_modify_qp - take a QP to another state or change its attributes
 * @ibqp: QP
 * @attr: attributes; ib_core has resolved the path
 * @mask: which of them are given
 * @udata: the library's extras, none of which crnic has
 *
 * Return: 0, -EINVAL for what the table refuses or a value out of range,
 * -EOPNOTSUPP for extras, or errno.
 */
int crnic_ib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		       struct ib_udata *udata)
{
	struct crnic_ib_qp *qp = to_cqp(ibqp);
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EOPNOTSUPP;

	mutex_lock(&qp->lock);
	err = crnic_qp_modify_locked(qp, attr, mask);
	mutex_unlock(&qp->lock);
	return err;
}
