// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: creation, moderation, arming */
#include "ib.h"

#define UVERBS_MODULE_NAME crnic
#include <rdma/uverbs_named_ioctl.h>

static void crnic_ib_cq_comp(struct crnic_cq *core)
{
	struct ib_cq *ibcq = &container_of(core, struct crnic_ib_cq, core)->ibcq;

	ibcq->comp_handler(ibcq, ibcq->cq_context);
}

static void crnic_ib_cq_event(struct crnic_cq *core, u8 type)
{
	struct ib_cq *ibcq = &container_of(core, struct crnic_ib_cq, core)->ibcq;
	struct ib_event event = {
		.device = ibcq->device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = ibcq,
	};

	if (type == MLX5_EVENT_TYPE_CQ_ERROR && ibcq->event_handler)
		ibcq->event_handler(&event, ibcq->cq_context);
}

/* checks that need no device; fills @log_size and the flags of @p */
static int crnic_cq_check(const struct crnic_dev *dev, const struct ib_cq_init_attr *attr,
			  struct crnic_cq_params *p)
{
	/* each CQE has its timestamp, wanted or not */
	if (attr->flags & ~(IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN |
			    IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION))
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe >= 1U << CRNIC_CAP_GEN(dev, log_max_cq_sz))
		return -EINVAL;

	p->log_size = order_base_2(attr->cqe + 1);
	p->vector = attr->comp_vector;
	p->overrun_ignore = attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	return 0;
}

static int crnic_cq_user_flags(const struct crnic_dev *dev, const struct mlx5_ib_create_cq *ucmd,
			       struct crnic_cq_params *p)
{
	if (ucmd->flags & ~(MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD |
			    MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX))
		return -EINVAL;
	if (ucmd->reserved0 || ucmd->reserved1)
		return -EINVAL;
	if (ucmd->cqe_size != CRNIC_CQE_SIZE && ucmd->cqe_size != CRNIC_CQE_SIZE_128)
		return -EINVAL;
	/* mini CQEs, which ibv_poll_cq() does not expand */
	if (ucmd->cqe_comp_en)
		return -EOPNOTSUPP;

	p->cqe_128 = ucmd->cqe_size == CRNIC_CQE_SIZE_128;
	p->pad_128 = ucmd->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
	if (p->pad_128 && (!p->cqe_128 || !CRNIC_CAP_GEN(dev, cqe_128_always)))
		return -EOPNOTSUPP;
	return 0;
}

/* a page number above 16 bits has its own attribute */
static int crnic_cq_user_uar(struct uverbs_attr_bundle *attrs,
			     const struct mlx5_ib_create_cq *ucmd, u32 *uar)
{
	if (uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX))
		return uverbs_copy_from(uar, attrs, MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX);
	if (!(ucmd->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX))
		return -EINVAL;

	*uar = ucmd->uar_page_index;
	return 0;
}

static int crnic_cq_pin(struct crnic_dev *dev, struct uverbs_attr_bundle *attrs,
			struct crnic_ring *ring, struct crnic_cq_params *p)
{
	struct ib_udata *udata = &attrs->driver_udata;
	struct mlx5_ib_create_cq ucmd = {};
	struct crnic_ring_user u = {
		.access = IB_ACCESS_LOCAL_WRITE,
		.has_uar = true,
		.offset_bits = __mlx5_bit_sz(cqc, page_offset),
	};
	int err;

	if (udata->inlen < offsetof(struct mlx5_ib_create_cq, flags))
		return -EINVAL;
	err = ib_copy_from_udata(&ucmd, udata, min(udata->inlen, sizeof(ucmd)));
	if (err)
		return err;

	err = crnic_cq_user_flags(dev, &ucmd, p);
	if (err)
		return err;
	err = crnic_cq_user_uar(attrs, &ucmd, &u.uar);
	if (err)
		return err;

	u.buf_addr = ucmd.buf_addr;
	u.db_addr = ucmd.db_addr;
	u.bytes = (size_t)ucmd.cqe_size << p->log_size;
	return crnic_ring_pin(crnic_udata_ctx(udata), &u, ring, &p->pas);
}

static void crnic_cq_init_cqes(struct crnic_ib_cq *cq, u32 num)
{
	struct mlx5_cqe64 *cqe = cq->ring.buf.addr;
	u32 i;

	for (i = 0; i < num; i++)
		cqe[i].op_own = MLX5_CQE_INVALID << 4 | MLX5_CQE_OWNER_MASK;
}

static int crnic_cq_alloc(struct crnic_dev *dev, struct crnic_ib_cq *cq,
			  struct crnic_cq_params *p)
{
	int err;

	err = crnic_ring_alloc(dev, (size_t)CRNIC_CQE_SIZE << p->log_size, &cq->ring, &p->pas);
	if (err)
		return err;

	crnic_cq_init_cqes(cq, 1U << p->log_size);
	cq->core.db = cq->ring.dbr.db;
	return 0;
}

static int crnic_cq_respond(struct ib_udata *udata, const struct crnic_ib_cq *cq)
{
	struct mlx5_ib_create_cq_resp resp = { .cqn = cq->core.cqn };

	return ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp.cqn)));
}

/**
 * crnic_ib_create_cq - create a completion queue
 * @ibcq: CQ
 * @attr: what is wanted
 * @request: the user's request; NULL for the kernel
 *
 * Return: 0 or errno.  The library takes cqe as its ring mask, so it is always
 * one less than the power of two.
 */
int crnic_ib_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		       struct crnic_cq_request *request)
{
	struct uverbs_attr_bundle *attrs = crnic_cq_attrs(request);
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct crnic_ib_ctx *ctx = crnic_udata_ctx(udata);
	struct crnic_dev *dev = to_cdev(ibcq->device);
	struct crnic_ib_cq *cq = to_ccq(ibcq);
	struct crnic_cq_params p = {};
	int err;

	err = crnic_cq_check(dev, attr, &p);
	if (err)
		return err;

	err = udata ? crnic_cq_pin(dev, attrs, &cq->ring, &p) : crnic_cq_alloc(dev, cq, &p);
	if (err)
		return err;

	mutex_init(&cq->resize_lock);
	spin_lock_init(&cq->lock);
	cq->cqe_size = p.cqe_128 ? CRNIC_CQE_SIZE_128 : CRNIC_CQE_SIZE;
	cq->pad_128 = p.pad_128;
	cq->core.comp = crnic_ib_cq_comp;
	cq->core.event = crnic_ib_cq_event;
	p.dbr = crnic_ring_dbr(&cq->ring);
	p.uar = crnic_ring_uar(dev, &cq->ring);
	ibcq->cqe = (1 << p.log_size) - 1;
	err = crnic_cq_create(dev, &cq->core, &p);
	if (err)
		goto err_ring;

	err = udata ? crnic_cq_respond(udata, cq) : 0;
	if (err)
		goto err_cq;
	return 0;

err_cq:
	crnic_cq_destroy(dev, &cq->core);
err_ring:
	crnic_ring_free(dev, ctx, &cq->ring);
	return err;
}

/**
 * crnic_ib_destroy_cq - destroy a completion queue
 * @ibcq: CQ
 * @udata: NULL for the kernel
 *
 * Return: 0, or errno with the CQ still there.
 */
int crnic_ib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct crnic_dev *dev = to_cdev(ibcq->device);
	struct crnic_ib_cq *cq = to_ccq(ibcq);
	int err;

	err = crnic_cq_destroy(dev, &cq->core);
	if (err)
		return err;

	crnic_ring_free(dev, crnic_udata_ctx(udata), &cq->ring);
	return 0;
}

/**
 * crnic_ib_modify_cq - set interrupt moderation
 * @ibcq: CQ
 * @count: event after so many CQEs
 * @period: event no later than so many microseconds
 *
 * Return: 0, -EOPNOTSUPP, -EINVAL for a period beyond the field, or errno.
 */
int crnic_ib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct crnic_dev *dev = to_cdev(ibcq->device);

	if (!CRNIC_CAP_GEN(dev, cq_moderation))
		return -EOPNOTSUPP;
	if (period > MLX5_MAX_CQ_PERIOD)
		return -EINVAL;
	return crnic_cq_moderate(dev, &to_ccq(ibcq)->core, period, count);
}

/**
 * crnic_ib_req_notify_cq - ask for an event
 * @ibcq: kernel CQ
 * @flags: for any CQE or for solicited ones, and whether to tell of missed ones
 *
 * The device raises the event at once for CQEs beyond the consumer counter, so
 * none is ever missed; the answer only saves the caller an interrupt.
 *
 * Context: any.
 * Return: 1 if there are CQEs to poll and the caller wanted to know, else 0.
 */
int crnic_ib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	const bool solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	struct crnic_ib_cq *cq = to_ccq(ibcq);
	unsigned long irq;
	int ret;

	spin_lock_irqsave(&cq->lock, irq);
	crnic_cq_arm(&cq->core, solicited ? CRNIC_CQ_ARM_SOLICITED : CRNIC_CQ_ARM_ANY, cq->ci);
	ret = (flags & IB_CQ_REPORT_MISSED_EVENTS) && crnic_ib_cq_pending(cq);
	spin_unlock_irqrestore(&cq->lock, irq);
	return ret;
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(
	crnic_ib_cq_create_attrs,
	UVERBS_OBJECT_CQ,
	UVERBS_METHOD_CQ_CREATE,
	UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, UVERBS_ATTR_TYPE(u32), UA_OPTIONAL));

const struct uapi_definition crnic_ib_cq_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_CQ, &crnic_ib_cq_create_attrs),
	{},
};
