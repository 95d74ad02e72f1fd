// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Asynchronous events: who wants to know?
 */
#include <linux/notifier.h>

#include <crnic/cq.h>

#include "core.h"
#include "trace.h"

/* Queue kind and number in one key */
static unsigned long crnic_rsc_key(enum crnic_rsc_type type, u32 num)
{
	return (unsigned long)type << 24 | (num & 0xffffff);
}

/**
 * crnic_rsc_add - let a queue hear its events
 * @dev: device
 * @rsc: queue
 *
 * Context: process.
 * Return: 0; -EBUSY if the device gave out the same number twice; -ENOMEM.
 */
int crnic_rsc_add(struct crnic_dev *dev, struct crnic_rsc *rsc)
{
	return xa_insert(&dev->rscs, crnic_rsc_key(rsc->type, rsc->num), rsc, GFP_KERNEL);
}

/**
 * crnic_rsc_del - let a queue hear no more events
 * @dev: device
 * @rsc: queue
 *
 * Context: process.  Its callback does not run any more on return.
 */
void crnic_rsc_del(struct crnic_dev *dev, struct crnic_rsc *rsc)
{
	xa_erase(&dev->rscs, crnic_rsc_key(rsc->type, rsc->num));
	crnic_irq_sync(dev, CRNIC_IRQ_ASYNC);
}

/**
 * crnic_notifier_add - hear what happens to the device as a whole
 * @dev: device
 * @nb: called with an enum crnic_dev_event
 *
 * Return: 0, or -EEXIST if it is there already.
 */
int crnic_notifier_add(struct crnic_dev *dev, struct notifier_block *nb)
{
	return atomic_notifier_chain_register(&dev->notifiers, nb);
}

/**
 * crnic_notifier_del - hear it no more
 * @dev: device
 * @nb: the same
 *
 * Context: process.
 */
void crnic_notifier_del(struct crnic_dev *dev, struct notifier_block *nb)
{
	atomic_notifier_chain_unregister(&dev->notifiers, nb);
}

static void crnic_async_rsc(struct crnic_dev *dev, enum crnic_rsc_type type,
			    const struct mlx5_eqe *eqe)
{
	u32 num = be32_to_cpu(eqe->data.qp_srq.qp_srq_n);
	struct crnic_rsc *rsc = xa_load(&dev->rscs, crnic_rsc_key(type, num));

	if (rsc)
		rsc->event(rsc, eqe->type);
}

static void crnic_async_queue(struct crnic_dev *dev, const struct mlx5_eqe *eqe)
{
	/* the low bits tell QP, RQ and SQ apart */
	crnic_async_rsc(dev, eqe->data.qp_srq.type & 0xf, eqe);
}

static void crnic_async_srq(struct crnic_dev *dev, const struct mlx5_eqe *eqe)
{
	crnic_async_rsc(dev, CRNIC_RSC_SRQ, eqe);
}

static void crnic_async_cq(struct crnic_dev *dev, const struct mlx5_eqe *eqe)
{
	u32 cqn = be32_to_cpu(eqe->data.cq_err.cqn) & 0xffffff;
	struct crnic_cq *cq = xa_load(&dev->cqs, cqn);

	if (cq && cq->event)
		cq->event(cq, eqe->type);
}

static void crnic_async_port(struct crnic_dev *dev, const struct mlx5_eqe *eqe)
{
	enum crnic_dev_event event = CRNIC_EVENT_PORT_OTHER;

	if (eqe->sub_type == MLX5_PORT_CHANGE_SUBTYPE_ACTIVE)
		event = CRNIC_EVENT_PORT_UP;
	else if (eqe->sub_type == MLX5_PORT_CHANGE_SUBTYPE_DOWN)
		event = CRNIC_EVENT_PORT_DOWN;
	atomic_notifier_call_chain(&dev->notifiers, event, NULL);
}

static void crnic_async_pages(struct crnic_dev *dev, const struct mlx5_eqe *eqe)
{
	crnic_pages_request(dev, be16_to_cpu(eqe->data.req_pages.func_id),
			    be32_to_cpu(eqe->data.req_pages.num_pages));
}

typedef void (*crnic_async_fn)(struct crnic_dev *dev, const struct mlx5_eqe *eqe);

/* Also what the device is asked to report */
static const crnic_async_fn crnic_async_fns[] = {
	[MLX5_EVENT_TYPE_PATH_MIG]		= crnic_async_queue,
	[MLX5_EVENT_TYPE_COMM_EST]		= crnic_async_queue,
	[MLX5_EVENT_TYPE_SQ_DRAINED]		= crnic_async_queue,
	[MLX5_EVENT_TYPE_PATH_MIG_FAILED]	= crnic_async_queue,
	[MLX5_EVENT_TYPE_WQ_CATAS_ERROR]	= crnic_async_queue,
	[MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR]	= crnic_async_queue,
	[MLX5_EVENT_TYPE_WQ_ACCESS_ERROR]	= crnic_async_queue,
	[MLX5_EVENT_TYPE_SRQ_LAST_WQE]		= crnic_async_queue,
	[MLX5_EVENT_TYPE_SRQ_CATAS_ERROR]	= crnic_async_srq,
	[MLX5_EVENT_TYPE_SRQ_RQ_LIMIT]		= crnic_async_srq,
	[MLX5_EVENT_TYPE_CQ_ERROR]		= crnic_async_cq,
	[MLX5_EVENT_TYPE_PORT_CHANGE]		= crnic_async_port,
	[MLX5_EVENT_TYPE_PAGE_REQUEST]		= crnic_async_pages,
};

/**
 * crnic_async_mask - the events that the asynchronous EQ asks for
 *
 * Return: bit per event type.
 */
u64 crnic_async_mask(void)
{
	u64 mask = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(crnic_async_fns); i++)
		if (crnic_async_fns[i])
			mask |= BIT_ULL(i);
	return mask;
}

/**
 * crnic_async_dispatch - hand an event to whom it concerns
 * @dev: device
 * @eqe: event
 *
 * Context: hard interrupt.
 */
void crnic_async_dispatch(struct crnic_dev *dev, const struct mlx5_eqe *eqe)
{
	trace_crnic_event(dev->device, eqe->type, eqe->sub_type, be32_to_cpu(eqe->data.raw[0]));

	if (eqe->type < ARRAY_SIZE(crnic_async_fns) && crnic_async_fns[eqe->type])
		crnic_async_fns[eqe->type](dev, eqe);
	else
		crnic_dbg(dev, "event 0x%x is of no interest\n", eqe->type);
}
