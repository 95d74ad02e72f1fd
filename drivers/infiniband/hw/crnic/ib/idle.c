// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an XRC QP has to name though it has no use for it.  Verbs give an
 * initiator no domain and no receive CQ, and a target no CQ at all; the device's
 * context has a field for each, and a card may refuse a number that does not
 * exist (mlx5_ib keeps such objects as well: main.c:mlx5_ib_dev_res_init).
 */
#include <crnic/obj/pd.h>
#include <crnic/obj/srq.h>

#include "ib.h"

/* a ring of the least size: one page */
#define CRNIC_IDLE_LOG_CQ	2
#define CRNIC_IDLE_LOG_SRQ	2
#define CRNIC_IDLE_LOG_STRIDE	5

/* no queue completes into the CQ, and nobody arms it */
static void crnic_idle_comp(struct crnic_cq *cq)
{
}

static void crnic_idle_event(struct crnic_cq *cq, u8 type)
{
}

static int crnic_idle_cq_create(struct crnic_dev *dev, struct crnic_ib_idle *idle)
{
	struct crnic_cq_params p = { .log_size = CRNIC_IDLE_LOG_CQ, .uar = dev->uar.index };
	int err;

	err = crnic_ring_alloc(dev, CRNIC_CQE_SIZE << CRNIC_IDLE_LOG_CQ, &idle->cq_ring, &p.pas);
	if (err)
		return err;

	p.dbr = crnic_ring_dbr(&idle->cq_ring);
	idle->cq.db = idle->cq_ring.dbr.db;
	idle->cq.comp = crnic_idle_comp;
	idle->cq.event = crnic_idle_event;
	err = crnic_cq_create(dev, &idle->cq, &p);
	if (err)
		crnic_ring_free(dev, NULL, &idle->cq_ring);
	return err;
}

static int crnic_idle_srq_create(struct crnic_dev *dev, struct crnic_ib_idle *idle)
{
	struct crnic_srq_params p = {
		.pdn = dev->pdn,
		.uar = dev->uar.index,
		.log_size = CRNIC_IDLE_LOG_SRQ,
		.log_stride = CRNIC_IDLE_LOG_STRIDE,
		.cqn = idle->cq.cqn,
		.xrcdn = idle->xrcdn,
		.user_index = CRNIC_NO_UIDX,
	};
	int err;

	err = crnic_ring_alloc(dev, 1 << (CRNIC_IDLE_LOG_SRQ + CRNIC_IDLE_LOG_STRIDE),
			       &idle->srq_ring, &p.pas);
	if (err)
		return err;

	p.dbr = crnic_ring_dbr(&idle->srq_ring);
	err = crnic_xrc_srq_create(dev, &p, &idle->srqn);
	if (err)
		crnic_ring_free(dev, NULL, &idle->srq_ring);
	return err;
}

static void crnic_idle_cq_destroy(struct crnic_dev *dev, struct crnic_ib_idle *idle)
{
	if (!crnic_cq_destroy(dev, &idle->cq))
		crnic_ring_free(dev, NULL, &idle->cq_ring);
}

/**
 * crnic_ib_idle_create - make what XRC QPs name
 * @ib: verbs device
 *
 * Return: 0, also for a device without XRC, or errno.
 */
int crnic_ib_idle_create(struct crnic_ib *ib)
{
	struct crnic_ib_idle *idle = &ib->idle;
	struct crnic_dev *dev = ib->dev;
	int err;

	if (!CRNIC_CAP_GEN(dev, xrc))
		return 0;
	err = crnic_xrcd_alloc(dev, &idle->xrcdn);
	if (err)
		return err;
	err = crnic_idle_cq_create(dev, idle);
	if (err)
		goto err_xrcd;
	err = crnic_idle_srq_create(dev, idle);
	if (err)
		goto err_cq;
	return 0;

err_cq:
	crnic_idle_cq_destroy(dev, idle);
err_xrcd:
	crnic_xrcd_dealloc(dev, idle->xrcdn);
	return err;
}

/**
 * crnic_ib_idle_destroy - undo crnic_ib_idle_create()
 * @ib: verbs device; no QP is left
 */
void crnic_ib_idle_destroy(struct crnic_ib *ib)
{
	struct crnic_ib_idle *idle = &ib->idle;
	struct crnic_dev *dev = ib->dev;

	if (!CRNIC_CAP_GEN(dev, xrc))
		return;
	/* memory that the device might still use is better lost than reused */
	if (!crnic_xrc_srq_destroy(dev, idle->srqn))
		crnic_ring_free(dev, NULL, &idle->srq_ring);
	crnic_idle_cq_destroy(dev, idle);
	crnic_xrcd_dealloc(dev, idle->xrcdn);
}
