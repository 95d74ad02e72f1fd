// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs: creation, destruction, events */
#include <linux/vmalloc.h>

#include <crnic/obj/qp.h>

#include "ib.h"

/* QP types that crnic has, as the device calls them */
static const u8 crnic_qp_sts[] = {
	[IB_QPT_RC] = MLX5_QP_ST_RC,
	[IB_QPT_UC] = MLX5_QP_ST_UC,
	[IB_QPT_UD] = MLX5_QP_ST_UD,
	[IB_QPT_GSI] = MLX5_QP_ST_QP1,
	[IB_QPT_XRC_INI] = MLX5_QP_ST_XRC,
	[IB_QPT_XRC_TGT] = MLX5_QP_ST_XRC,
};

/**
 * crnic_qp_st - service type of a QP type
 * @type: QP type
 *
 * Return: MLX5_QP_ST_*, or -EOPNOTSUPP.
 */
int crnic_qp_st(enum ib_qp_type type)
{
	if (type >= ARRAY_SIZE(crnic_qp_sts) || !(BIT(type) & CRNIC_T_ALL))
		return -EOPNOTSUPP;
	return crnic_qp_sts[type];
}

static const struct {
	u8 event;
	u8 ibevent;
} crnic_qp_events[] = {
	{ MLX5_EVENT_TYPE_COMM_EST,		IB_EVENT_COMM_EST },
	{ MLX5_EVENT_TYPE_SQ_DRAINED,		IB_EVENT_SQ_DRAINED },
	{ MLX5_EVENT_TYPE_SRQ_LAST_WQE,		IB_EVENT_QP_LAST_WQE_REACHED },
	{ MLX5_EVENT_TYPE_WQ_CATAS_ERROR,	IB_EVENT_QP_FATAL },
	{ MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR,	IB_EVENT_QP_REQ_ERR },
	{ MLX5_EVENT_TYPE_WQ_ACCESS_ERROR,	IB_EVENT_QP_ACCESS_ERR },
};

/**
 * crnic_ib_qp_tell - pass an event of a QP on
 * @ibqp: QP
 * @type: MLX5_EVENT_TYPE_*
 *
 * Context: hard interrupt.
 */
void crnic_ib_qp_tell(struct ib_qp *ibqp, u8 type)
{
	struct ib_event event = { .device = ibqp->device, .element.qp = ibqp };
	size_t i;

	if (!ibqp->event_handler)
		return;

	for (i = 0; i < ARRAY_SIZE(crnic_qp_events); i++) {
		if (crnic_qp_events[i].event != type)
			continue;
		event.event = crnic_qp_events[i].ibevent;
		ibqp->event_handler(&event, ibqp->qp_context);
		return;
	}
}

static void crnic_ib_qp_event(struct crnic_rsc *rsc, u8 type)
{
	crnic_ib_qp_tell(&container_of(rsc, struct crnic_ib_qp, rsc)->ibqp, type);
}

/* the kernel sends no raw packets through QPs: it has the netdev */
static bool crnic_qp_is_raw(const struct crnic_dev *dev, const struct ib_qp_init_attr *attr,
			    bool user)
{
	return attr->qp_type == IB_QPT_RAW_PACKET && user &&
	       CRNIC_CAP_GEN(dev, eth_net_offloads);
}

static u32 crnic_qp_create_flags(const struct crnic_dev *dev)
{
	return CRNIC_CAP_GEN(dev, block_lb_mc) ? IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0;
}

static int crnic_qp_check(const struct crnic_dev *dev, const struct ib_qp_init_attr *attr,
			  bool user)
{
	if (!crnic_qp_is_raw(dev, attr, user) && crnic_qp_st(attr->qp_type) < 0)
		return -EOPNOTSUPP;
	if (attr->create_flags & ~crnic_qp_create_flags(dev) || attr->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (BIT(attr->qp_type) & CRNIC_T_XRC && !CRNIC_CAP_GEN(dev, xrc))
		return -EOPNOTSUPP;
	if (attr->qp_type == IB_QPT_GSI && user)
		return -EINVAL;
	return 0;
}

/* With CQE version 1 the library chooses what CQEs carry; it alone looks at it */
static int crnic_qp_uidx(const struct crnic_ib_ctx *ctx, u32 want, u32 *uidx)
{
	*uidx = CRNIC_NO_UIDX;
	if (!ctx->cqe_version)
		return want == CRNIC_NO_UIDX ? 0 : -EINVAL;
	if (want >= CRNIC_NO_UIDX)
		return -EINVAL;

	*uidx = want;
	return 0;
}

static int crnic_qp_ucmd(struct ib_udata *udata, struct mlx5_ib_create_qp *ucmd)
{
	int err;

	if (udata->inlen < offsetof(struct mlx5_ib_create_qp, ece_options))
		return -EINVAL;
	if (udata->inlen > sizeof(*ucmd) &&
	    !ib_is_udata_cleared(udata, sizeof(*ucmd), udata->inlen - sizeof(*ucmd)))
		return -EINVAL;
	err = ib_copy_from_udata(ucmd, udata, min(udata->inlen, sizeof(*ucmd)));
	if (err)
		return err;

	/*
	 * Data in CQEs is a permission, so it can be granted without being
	 * used.  Signatures, DC types and the like are not there.
	 */
	if (ucmd->flags & ~(MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE |
			    MLX5_QP_FLAG_UAR_PAGE_INDEX))
		return -EINVAL;
	return ucmd->flags & MLX5_QP_FLAG_UAR_PAGE_INDEX ? 0 : -EINVAL;
}

static int crnic_qp_pin(struct crnic_ib_qp *qp, const struct ib_qp_init_attr *attr,
			struct ib_udata *udata, struct crnic_qp_size *size,
			struct crnic_qp_params *p)
{
	struct crnic_qp_limits lim = crnic_qp_limits(to_cdev(qp->ibqp.device));
	struct crnic_ib_ctx *ctx = crnic_udata_ctx(udata);
	struct mlx5_ib_create_qp ucmd = {};
	struct crnic_ring_user u = { .has_uar = true };
	int err;

	err = crnic_qp_ucmd(udata, &ucmd);
	if (err)
		return err;
	err = crnic_qp_size_user(&lim, attr, &ucmd, size);
	if (err)
		return err;
	err = crnic_qp_uidx(ctx, ucmd.uidx, &p->user_index);
	if (err)
		return err;

	u.buf_addr = ucmd.buf_addr;
	u.db_addr = ucmd.db_addr;
	crnic_qp_ring_shape(attr->qp_type, size, &u);
	size->sq_addr = ucmd.sq_buf_addr;
	u.uar = ucmd.bfreg_index;
	return crnic_ring_pin(ctx, &u, &qp->ring, &p->pas);
}

static void crnic_qp_free_wrs(struct crnic_ib_qp *qp)
{
	kvfree(qp->sq.wrs);
	kvfree(qp->rq.wr_ids);
}

static int crnic_qp_alloc_wrs(struct crnic_ib_qp *qp)
{
	qp->sq.wrs = kvcalloc(qp->sq.bbs, sizeof(*qp->sq.wrs), GFP_KERNEL);
	qp->rq.wr_ids = kvcalloc(qp->rq.size, sizeof(*qp->rq.wr_ids), GFP_KERNEL);
	if (qp->sq.wrs && qp->rq.wr_ids)
		return 0;

	crnic_qp_free_wrs(qp);
	return -ENOMEM;
}

static void crnic_qp_init_queues(struct crnic_ib_qp *qp, const struct ib_qp_init_attr *attr,
				 const struct crnic_qp_size *size)
{
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	qp->rq.size = size->rq_size;
	qp->rq.shift = size->rq_shift;
	qp->rq.max_sge = size->rq_size ?
		BIT(size->rq_shift) / sizeof(struct mlx5_wqe_data_seg) : 0;
	qp->sq.bbs = size->sq_bbs;
	qp->sq.max_bbs = size->wqe_bbs;
	qp->sq.max_sge = attr->cap.max_send_sge;
	qp->sq.max_inline = attr->cap.max_inline_data;
	qp->sq.sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
}

static int crnic_qp_alloc(struct crnic_dev *dev, struct crnic_ib_qp *qp,
			  struct ib_qp_init_attr *attr, struct crnic_qp_size *size,
			  struct crnic_qp_params *p)
{
	struct crnic_qp_limits lim = crnic_qp_limits(dev);
	int err;

	err = crnic_qp_size_kernel(&lim, attr, size);
	if (err)
		return err;

	crnic_qp_init_queues(qp, attr, size);
	p->user_index = CRNIC_NO_UIDX;
	p->rlky = true;
	p->fre = lim.frwr;
	if (!crnic_qp_bytes(size))
		return -EINVAL;

	err = crnic_ring_alloc(dev, crnic_qp_bytes(size), &qp->ring, &p->pas);
	if (err)
		return err;

	err = crnic_qp_alloc_wrs(qp);
	if (err) {
		crnic_ring_free(dev, NULL, &qp->ring);
		return err;
	}

	qp->rq.buf = qp->ring.buf.addr;
	qp->sq.buf = qp->ring.buf.addr + ((size_t)size->rq_size << size->rq_shift);
	return 0;
}

/* A QP that only receives for an XRC domain: the device's part of it is all there is */
static int crnic_qp_bare(struct crnic_qp_params *p)
{
	p->user_index = 0;
	return 0;
}

static void crnic_qp_set_rq(const struct ib_qp_init_attr *attr, const struct crnic_qp_size *size,
			    struct crnic_qp_params *p)
{
	if (attr->srq) {
		p->rq_type = MLX5_SRQ_RQ;
		p->srqn = to_csrq(attr->srq)->srqn;
	} else if (BIT(attr->qp_type) & CRNIC_T_XRC) {
		p->rq_type = MLX5_SRQ_RQ;
	} else if (size->rq_size) {
		p->rq_type = MLX5_NON_ZERO_RQ;
		p->log_rq_size = ilog2(size->rq_size);
		p->log_rq_stride = size->rq_shift;
	} else {
		p->rq_type = MLX5_ZERO_LEN_RQ;
	}
}

/* An XRC QP names something even where verbs do not */
static void crnic_qp_set_names(const struct crnic_ib *ib, const struct ib_qp_init_attr *attr,
			       struct crnic_qp_params *p)
{
	if (BIT(attr->qp_type) & CRNIC_T_XRC) {
		p->scqn = ib->idle.cq.cqn;
		p->rcqn = ib->idle.cq.cqn;
		p->xrcdn = ib->idle.xrcdn;
		p->srqn = ib->idle.srqn;
	}
	if (attr->send_cq)
		p->scqn = to_ccq(attr->send_cq)->core.cqn;
	if (attr->recv_cq)
		p->rcqn = to_ccq(attr->recv_cq)->core.cqn;
	if (attr->xrcd)
		p->xrcdn = to_cxrcd(attr->xrcd)->xrcdn;
}

static void crnic_qp_set_params(struct crnic_ib_qp *qp, const struct ib_qp_init_attr *attr,
				const struct crnic_qp_size *size, struct crnic_qp_params *p)
{
	struct crnic_dev *dev = to_cdev(qp->ibqp.device);

	p->st = crnic_qp_st(attr->qp_type);
	p->pdn = qp->ibqp.pd ? to_cpd(qp->ibqp.pd)->pdn : dev->pdn;
	p->block_loopback = attr->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	p->dbr = crnic_ring_dbr(&qp->ring);
	p->uar = crnic_ring_uar(dev, &qp->ring);
	crnic_qp_set_names(to_cib(qp->ibqp.device), attr, p);
	crnic_qp_set_rq(attr, size, p);
	p->no_sq = !size->sq_bbs;
	if (size->sq_bbs)
		p->log_sq_size = ilog2(size->sq_bbs);
}

static int crnic_qp_respond(struct ib_udata *udata)
{
	struct mlx5_ib_create_qp_resp resp = {};

	return ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp)));
}

static bool crnic_qp_is_bare(const struct crnic_ib_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_XRC_TGT;
}

/* from here on events and, for the kernel, CQEs find the QP */
static int crnic_qp_publish(struct crnic_ib *ib, struct crnic_ib_qp *qp, bool user)
{
	int err;

	if (qp->raw)
		return 0;
	qp->rsc.event = crnic_ib_qp_event;
	qp->rsc.type = CRNIC_RSC_QP;
	qp->rsc.num = qp->qpn;
	err = crnic_rsc_add(ib->dev, &qp->rsc);
	if (err || user || crnic_qp_is_bare(qp))
		return err;

	err = xa_insert_irq(&ib->qps, qp->qpn, qp, GFP_KERNEL);
	if (err)
		crnic_rsc_del(ib->dev, &qp->rsc);
	return err;
}

static void crnic_qp_unpublish(struct crnic_ib *ib, struct crnic_ib_qp *qp)
{
	if (!qp->raw)
		crnic_rsc_del(ib->dev, &qp->rsc);
}

static int crnic_qp_create_raw(struct crnic_ib_qp *qp, struct ib_udata *udata,
			       const struct crnic_qp_size *size, const struct crnic_qp_params *p)
{
	struct crnic_raw_request req = {
		.sq_addr = size->sq_addr,
		.sq_bbs = size->sq_bbs,
		.rq_pas = &p->pas,
		.uidx = p->user_index,
	};
	int err;

	err = crnic_ib_ctx_tdn(crnic_udata_ctx(udata), &req.tdn);
	return err ? err : crnic_raw_create(qp, &req);
}

static int crnic_qp_create_hw(struct crnic_ib_qp *qp, const struct ib_qp_init_attr *attr,
			      struct ib_udata *udata, const struct crnic_qp_size *size,
			      struct crnic_qp_params *p)
{
	if (attr->qp_type == IB_QPT_RAW_PACKET)
		return crnic_qp_create_raw(qp, udata, size, p);

	crnic_qp_set_params(qp, attr, size, p);
	return crnic_qp_create(to_cdev(qp->ibqp.device), p, &qp->qpn);
}

static int crnic_qp_destroy_hw(struct crnic_ib_qp *qp)
{
	if (qp->raw)
		return crnic_raw_destroy(qp);
	return crnic_qp_destroy(to_cdev(qp->ibqp.device), qp->qpn);
}

static void crnic_qp_free_memory(struct crnic_dev *dev, struct crnic_ib_qp *qp,
				 struct ib_udata *udata)
{
	if (crnic_qp_is_bare(qp))
		return;
	if (!udata)
		crnic_qp_free_wrs(qp);
	crnic_ring_free(dev, crnic_udata_ctx(udata), &qp->ring);
}

static int crnic_qp_get_memory(struct crnic_dev *dev, struct crnic_ib_qp *qp,
			       struct ib_qp_init_attr *attr, struct ib_udata *udata,
			       struct crnic_qp_size *size, struct crnic_qp_params *p)
{
	if (crnic_qp_is_bare(qp))
		return crnic_qp_bare(p);
	if (udata)
		return crnic_qp_pin(qp, attr, udata, size, p);
	return crnic_qp_alloc(dev, qp, attr, size, p);
}

/**
 * crnic_ib_create_qp - create a queue pair
 * @ibqp: QP; type, CQs and PD are set
 * @attr: what is wanted, and for the kernel what was given
 * @udata: NULL for the kernel and for XRC targets
 *
 * Return: 0 or errno.
 */
int crnic_ib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct crnic_ib *ib = to_cib(ibqp->device);
	struct crnic_ib_qp *qp = to_cqp(ibqp);
	struct crnic_qp_params p = {};
	struct crnic_qp_size size = {};
	int err;

	err = crnic_qp_check(ib->dev, attr, udata);
	if (err)
		return err;

	mutex_init(&qp->lock);
	qp->state = IB_QPS_RESET;
	err = crnic_qp_get_memory(ib->dev, qp, attr, udata, &size, &p);
	if (err)
		return err;

	if (udata)
		crnic_qp_init_queues(qp, attr, &size);
	err = crnic_qp_create_hw(qp, attr, udata, &size, &p);
	if (err)
		goto err_memory;

	ibqp->qp_num = attr->qp_type == IB_QPT_GSI ? 1 : qp->qpn;
	err = crnic_qp_publish(ib, qp, udata);
	if (err)
		goto err_qp;

	err = udata ? crnic_qp_respond(udata) : 0;
	if (err)
		goto err_publish;
	return 0;

err_publish:
	crnic_qp_unpublish(ib, qp);
err_qp:
	crnic_qp_destroy_hw(qp);
err_memory:
	crnic_qp_free_memory(ib->dev, qp, udata);
	return err;
}

/*
 * The device is quiet after the reset; whoever polls either finds the QP's last
 * CQEs before they are cleaned away, under the same lock, or does not find the
 * QP.  Its number may be given out again only after that.
 */
static void crnic_qp_forget(struct crnic_ib *ib, struct crnic_ib_qp *qp)
{
	xa_erase_irq(&ib->qps, qp->qpn);
	crnic_ib_qp_clean(qp);
}

/**
 * crnic_ib_destroy_qp - destroy a queue pair
 * @ibqp: QP
 * @udata: NULL for the kernel
 *
 * A device that is dead takes no commands and counts as having done them, so
 * failure means that the device still uses the memory.
 *
 * Return: 0, or errno with the QP, now without events, still there.
 */
int crnic_ib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct crnic_ib *ib = to_cib(ibqp->device);
	struct crnic_ib_qp *qp = to_cqp(ibqp);
	int err;

	mutex_lock(&qp->lock);
	err = qp->raw ? 0 : crnic_qp_to_reset(ib->dev, qp);
	mutex_unlock(&qp->lock);
	if (err)
		return err;

	if (!udata && !crnic_qp_is_bare(qp))
		crnic_qp_forget(ib, qp);
	crnic_qp_unpublish(ib, qp);
	err = crnic_qp_destroy_hw(qp);
	if (err)
		return err;

	crnic_qp_free_memory(ib->dev, qp, udata);
	mutex_destroy(&qp->lock);
	return 0;
}
