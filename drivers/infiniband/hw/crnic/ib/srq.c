// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues: the device's RMP, or an XRC SRQ with a CQ of its own */
#include <linux/bitmap.h>
#include <linux/vmalloc.h>

#include <crnic/obj/srq.h>

#include "wqe.h"

/* the smallest WQE holds the link and one entry */
#define CRNIC_SRQ_MIN_STRIDE	32U

static void crnic_ib_srq_event(struct crnic_rsc *rsc, u8 type)
{
	struct ib_srq *ibsrq = &container_of(rsc, struct crnic_ib_srq, rsc)->ibsrq;
	struct ib_event event = { .device = ibsrq->device, .element.srq = ibsrq };

	if (!ibsrq->event_handler)
		return;

	switch (type) {
	case MLX5_EVENT_TYPE_SRQ_RQ_LIMIT:
		event.event = IB_EVENT_SRQ_LIMIT_REACHED;
		break;
	case MLX5_EVENT_TYPE_SRQ_CATAS_ERROR:
		event.event = IB_EVENT_SRQ_ERR;
		break;
	default:
		return;
	}
	ibsrq->event_handler(&event, ibsrq->srq_context);
}

/*
 * The library computes the same from the same numbers and does not tell: what
 * it sends as max_wr is one less than its ring.
 */
static int crnic_srq_size(const struct crnic_dev *dev, struct crnic_ib_srq *srq,
			  const struct ib_srq_attr *attr)
{
	u32 stride;

	if (attr->max_wr >= 1U << CRNIC_CAP_GEN(dev, log_max_srq_sz) ||
	    attr->max_sge > crnic_ib_max_srq_sge(dev))
		return -EINVAL;

	stride = sizeof(struct mlx5_wqe_srq_next_seg) +
		 attr->max_sge * sizeof(struct mlx5_wqe_data_seg);
	stride = max(roundup_pow_of_two(stride), CRNIC_SRQ_MIN_STRIDE);
	if (stride > CRNIC_CAP_GEN(dev, max_wqe_sz_rq))
		return -EINVAL;

	srq->size = roundup_pow_of_two(attr->max_wr + 1);
	srq->shift = ilog2(stride);
	srq->max_sge = (stride - sizeof(struct mlx5_wqe_srq_next_seg)) /
		       sizeof(struct mlx5_wqe_data_seg);
	return 0;
}

static size_t crnic_srq_bytes(const struct crnic_ib_srq *srq)
{
	return (size_t)srq->size << srq->shift;
}

static struct mlx5_wqe_srq_next_seg *crnic_srq_wqe(const struct crnic_ib_srq *srq, u16 index)
{
	return srq->ring.buf.addr + ((size_t)index << srq->shift);
}

static u16 crnic_srq_next(const struct crnic_ib_srq *srq, u16 index)
{
	return be16_to_cpu(crnic_srq_wqe(srq, index)->next_wqe_index) & (srq->size - 1);
}

/**
 * crnic_srq_retire - complete a WQE: it becomes the last one of the free list
 * @srq: kernel SRQ
 * @index: WQE, as the device told
 * @wr_id: answer: its cookie
 *
 * Context: any; takes the SRQ's lock.
 * Return: false, with nothing done, if that WQE is not outstanding.
 */
bool crnic_srq_retire(struct crnic_ib_srq *srq, u16 index, u64 *wr_id)
{
	unsigned long irq;
	bool posted;

	if (index >= srq->size)
		return false;

	spin_lock_irqsave(&srq->lock, irq);
	/* one that is in the free list already would make a ring of it */
	posted = __test_and_clear_bit(index, srq->posted);
	if (posted) {
		*wr_id = srq->wr_ids[index];
		crnic_srq_wqe(srq, srq->tail)->next_wqe_index = cpu_to_be16(index);
		srq->tail = index;
	}
	spin_unlock_irqrestore(&srq->lock, irq);
	return posted;
}

static int crnic_srq_pin(struct crnic_ib_srq *srq, struct ib_udata *udata,
			 struct crnic_srq_params *p)
{
	struct crnic_ib_ctx *ctx = crnic_udata_ctx(udata);
	struct mlx5_ib_create_srq ucmd = {};
	/* of the two contexts that an SRQ can have, the narrower field */
	struct crnic_ring_user u = { .offset_bits = __mlx5_bit_sz(wq, page_offset) };
	int err;

	if (udata->inlen < offsetof(struct mlx5_ib_create_srq, uidx))
		return -EINVAL;
	err = ib_copy_from_udata(&ucmd, udata, min(udata->inlen, sizeof(ucmd)));
	if (err)
		return err;
	if (ucmd.flags || ucmd.reserved0 || ucmd.reserved1)
		return -EINVAL;

	p->user_index = CRNIC_NO_UIDX;
	if (srq->ibsrq.srq_type == IB_SRQT_XRC && ctx->cqe_version) {
		if (ucmd.uidx >= CRNIC_NO_UIDX)
			return -EINVAL;
		p->user_index = ucmd.uidx;
	}

	u.buf_addr = ucmd.buf_addr;
	u.db_addr = ucmd.db_addr;
	u.bytes = crnic_srq_bytes(srq);
	return crnic_ring_pin(ctx, &u, &srq->ring, &p->pas);
}

static void crnic_srq_free_wrs(struct crnic_ib_srq *srq)
{
	kvfree(srq->wr_ids);
	bitmap_free(srq->posted);
}

static int crnic_srq_alloc_wrs(struct crnic_ib_srq *srq)
{
	srq->wr_ids = kvcalloc(srq->size, sizeof(*srq->wr_ids), GFP_KERNEL);
	srq->posted = bitmap_zalloc(srq->size, GFP_KERNEL);
	if (srq->wr_ids && srq->posted)
		return 0;

	crnic_srq_free_wrs(srq);
	return -ENOMEM;
}

static int crnic_srq_alloc(struct crnic_dev *dev, struct crnic_ib_srq *srq,
			   struct crnic_srq_params *p)
{
	u32 i;
	int err;

	err = crnic_srq_alloc_wrs(srq);
	if (err)
		return err;

	err = crnic_ring_alloc(dev, crnic_srq_bytes(srq), &srq->ring, &p->pas);
	if (err) {
		crnic_srq_free_wrs(srq);
		return err;
	}

	for (i = 0; i < srq->size; i++)
		crnic_srq_wqe(srq, i)->next_wqe_index = cpu_to_be16((i + 1) & (srq->size - 1));
	srq->tail = srq->size - 1;
	p->user_index = CRNIC_NO_UIDX;
	return 0;
}

static void crnic_srq_free(struct crnic_dev *dev, struct crnic_ib_srq *srq,
			   struct ib_udata *udata)
{
	crnic_ring_free(dev, crnic_udata_ctx(udata), &srq->ring);
	crnic_srq_free_wrs(srq);
}

static int crnic_srq_create_hw(struct crnic_dev *dev, struct crnic_ib_srq *srq,
			       const struct ib_srq_init_attr *init, struct crnic_srq_params *p)
{
	p->dbr = crnic_ring_dbr(&srq->ring);
	p->pdn = to_cpd(srq->ibsrq.pd)->pdn;
	p->uar = dev->uar.index;
	p->log_size = ilog2(srq->size);
	p->log_stride = srq->shift;
	if (init->srq_type != IB_SRQT_XRC)
		return crnic_rmp_create(dev, p, &srq->srqn);

	p->cqn = to_ccq(init->ext.cq)->core.cqn;
	p->xrcdn = to_cxrcd(init->ext.xrc.xrcd)->xrcdn;
	return crnic_xrc_srq_create(dev, p, &srq->srqn);
}

static int crnic_srq_destroy_hw(struct crnic_dev *dev, const struct crnic_ib_srq *srq)
{
	if (srq->ibsrq.srq_type == IB_SRQT_XRC)
		return crnic_xrc_srq_destroy(dev, srq->srqn);
	return crnic_rmp_destroy(dev, srq->srqn);
}

static int crnic_srq_publish(struct crnic_dev *dev, struct crnic_ib_srq *srq)
{
	srq->rsc.event = crnic_ib_srq_event;
	srq->rsc.type = CRNIC_RSC_SRQ;
	srq->rsc.num = srq->srqn;
	return crnic_rsc_add(dev, &srq->rsc);
}

static int crnic_srq_respond(struct ib_udata *udata, const struct crnic_ib_srq *srq)
{
	struct mlx5_ib_create_srq_resp resp = { .srqn = srq->srqn };

	return ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp.srqn)));
}

/**
 * crnic_ib_create_srq - create a shared receive queue
 * @ibsrq: SRQ
 * @init: what is wanted, and then what was given
 * @udata: NULL for the kernel
 *
 * Return: 0, -EOPNOTSUPP for tag matching, -EINVAL for sizes, or errno.
 */
int crnic_ib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
			struct ib_udata *udata)
{
	struct crnic_dev *dev = to_cdev(ibsrq->device);
	struct crnic_ib_srq *srq = to_csrq(ibsrq);
	struct crnic_srq_params p = {};
	int err;

	if (init->srq_type != IB_SRQT_BASIC && init->srq_type != IB_SRQT_XRC)
		return -EOPNOTSUPP;

	spin_lock_init(&srq->lock);
	err = crnic_srq_size(dev, srq, &init->attr);
	if (err)
		return err;

	err = udata ? crnic_srq_pin(srq, udata, &p) : crnic_srq_alloc(dev, srq, &p);
	if (err)
		return err;

	err = crnic_srq_create_hw(dev, srq, init, &p);
	if (err)
		goto err_memory;
	err = crnic_srq_publish(dev, srq);
	if (err)
		goto err_hw;
	err = udata ? crnic_srq_respond(udata, srq) : 0;
	if (err)
		goto err_publish;

	ibsrq->ext.xrc.srq_num = srq->srqn;
	init->attr.max_wr = srq->size - 1;
	init->attr.max_sge = srq->max_sge;
	return 0;

err_publish:
	crnic_rsc_del(dev, &srq->rsc);
err_hw:
	crnic_srq_destroy_hw(dev, srq);
err_memory:
	crnic_srq_free(dev, srq, udata);
	return err;
}

/**
 * crnic_ib_modify_srq - arm the limit event
 * @ibsrq: SRQ
 * @attr: limit
 * @mask: only the limit can be modified
 * @udata: nothing is exchanged
 *
 * Return: 0, -EINVAL for another attribute or a limit as large as the SRQ, or errno.
 */
int crnic_ib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
			struct ib_udata *udata)
{
	struct crnic_dev *dev = to_cdev(ibsrq->device);
	struct crnic_ib_srq *srq = to_csrq(ibsrq);

	if (mask & ~IB_SRQ_LIMIT)
		return -EINVAL;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit >= srq->size)
		return -EINVAL;
	if (ibsrq->srq_type == IB_SRQT_XRC)
		return crnic_xrc_srq_arm(dev, srq->srqn, attr->srq_limit);
	return crnic_rmp_arm(dev, srq->srqn, attr->srq_limit);
}

/**
 * crnic_ib_query_srq - tell an SRQ's attributes
 * @ibsrq: SRQ
 * @attr: answer; the limit is 0 after its event
 *
 * Return: 0 or errno.
 */
int crnic_ib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct crnic_dev *dev = to_cdev(ibsrq->device);
	struct crnic_ib_srq *srq = to_csrq(ibsrq);
	u16 limit;
	int err;

	if (ibsrq->srq_type == IB_SRQT_XRC)
		err = crnic_xrc_srq_query(dev, srq->srqn, &limit);
	else
		err = crnic_rmp_query(dev, srq->srqn, &limit);
	if (err)
		return err;

	attr->srq_limit = limit;
	attr->max_wr = srq->size - 1;
	attr->max_sge = srq->max_sge;
	return 0;
}

/**
 * crnic_ib_destroy_srq - destroy a shared receive queue
 * @ibsrq: SRQ
 * @udata: NULL for the kernel
 *
 * Return: 0, or errno with the SRQ, now without events, still there.
 */
int crnic_ib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct crnic_dev *dev = to_cdev(ibsrq->device);
	struct crnic_ib_srq *srq = to_csrq(ibsrq);
	int err;

	crnic_rsc_del(dev, &srq->rsc);
	err = crnic_srq_destroy_hw(dev, srq);
	if (err)
		return err;

	crnic_srq_free(dev, srq, udata);
	return 0;
}

static int crnic_srq_post_one(struct crnic_ib_srq *srq, const struct ib_recv_wr *wr)
{
	lockdep_assert_held(&srq->lock);
	if (srq->head == srq->tail)
		return -ENOMEM;
	if (wr->num_sge < 0 || wr->num_sge > srq->max_sge)
		return -EINVAL;

	crnic_rwqe_build(crnic_srq_wqe(srq, srq->head) + 1, srq->max_sge, wr,
			 to_cdev(srq->ibsrq.device)->terminate_lkey);
	srq->wr_ids[srq->head] = wr->wr_id;
	__set_bit(srq->head, srq->posted);
	srq->head = crnic_srq_next(srq, srq->head);
	srq->pc++;
	return 0;
}

/**
 * crnic_ib_post_srq_recv - post receive work requests
 * @ibsrq: kernel SRQ
 * @wr: list of work requests
 * @bad_wr: the first one that was not posted
 *
 * Context: any.
 * Return: 0 or errno; those before @bad_wr are posted.
 */
int crnic_ib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			   const struct ib_recv_wr **bad_wr)
{
	struct crnic_ib_srq *srq = to_csrq(ibsrq);
	unsigned long irq;
	int err = 0;
	u16 first;

	spin_lock_irqsave(&srq->lock, irq);
	first = srq->pc;
	for (; wr; wr = wr->next) {
		err = crnic_srq_post_one(srq, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (srq->pc != first)
		crnic_rq_ring(&srq->ring.dbr.db[MLX5_RCV_DBR], srq->pc);
	spin_unlock_irqrestore(&srq->lock, irq);
	return err;
}
