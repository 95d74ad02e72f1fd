// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The set of event queues: one for commands, one for everything asynchronous,
 * and one for each completion vector.
 */
#include <linux/interrupt.h>
#include <linux/slab.h>

#include <crnic/cq.h>

#include "../compat/compat.h"
#include "core.h"
#include "eq.h"

#define CRNIC_EQ_LOG_CMD	8
#define CRNIC_EQ_LOG_ASYNC	10
#define CRNIC_EQ_LOG_COMP	11

/**
 * struct crnic_eqs - all event queues
 * @cmd: command completions
 * @async: port, page and error events
 * @num_comp: number of completion EQs
 * @comp: completion EQs, by completion vector
 */
struct crnic_eqs {
	struct crnic_eq cmd;
	struct crnic_eq async;
	unsigned int num_comp;
	struct crnic_eq comp[];
};

static void crnic_eq_handle_cmd(struct crnic_eq *eq, const struct mlx5_eqe *eqe)
{
	crnic_cmdq_completed(eq->dev, be32_to_cpu(eqe->data.cmd.vector));
}

static void crnic_eq_handle_async(struct crnic_eq *eq, const struct mlx5_eqe *eqe)
{
	crnic_async_dispatch(eq->dev, eqe);
}

static void crnic_eq_handle_comp(struct crnic_eq *eq, const struct mlx5_eqe *eqe)
{
	u32 cqn = be32_to_cpu(eqe->data.comp.cqn) & 0xffffff;
	struct crnic_cq *cq;

	/*
	 * A CQ that is not there has just been destroyed.  One that is stays
	 * until this handler returns: crnic_cq_detach() waits for it.
	 */
	cq = xa_load(&eq->dev->cqs, cqn);
	if (!cq || cq->eq != eq)
		return;
	WRITE_ONCE(cq->arm_sn, cq->arm_sn + 1);
	cq->comp(cq);
}

static const struct crnic_eq_setup crnic_eq_setup_cmd = {
	.name = "cmd",
	.handle = crnic_eq_handle_cmd,
	.mask = BIT_ULL(MLX5_EVENT_TYPE_CMD),
	.log_size = CRNIC_EQ_LOG_CMD,
	.vector = CRNIC_IRQ_ASYNC,
};

static int crnic_eqs_open_async(struct crnic_dev *dev)
{
	struct crnic_eq_setup s = {
		.name = "async",
		.handle = crnic_eq_handle_async,
		.mask = crnic_async_mask(),
		.log_size = CRNIC_EQ_LOG_ASYNC,
		.vector = CRNIC_IRQ_ASYNC,
	};

	return crnic_eq_open(dev, &dev->eqs->async, &s);
}

static void crnic_eqs_close_comp(struct crnic_dev *dev)
{
	while (dev->eqs->num_comp)
		crnic_eq_close(&dev->eqs->comp[--dev->eqs->num_comp]);
}

static int crnic_eqs_open_comp(struct crnic_dev *dev)
{
	struct crnic_eq_setup s = {
		.handle = crnic_eq_handle_comp,
		.log_size = CRNIC_EQ_LOG_COMP,
	};
	struct crnic_eqs *eqs = dev->eqs;
	char name[16];
	int err;

	while (eqs->num_comp < crnic_comp_vectors(dev)) {
		snprintf(name, sizeof(name), "comp%u", eqs->num_comp);
		s.name = name;
		s.vector = CRNIC_IRQ_COMP_BASE + eqs->num_comp;
		err = crnic_eq_open(dev, &eqs->comp[eqs->num_comp], &s);
		if (err) {
			crnic_eqs_close_comp(dev);
			return err;
		}
		eqs->num_comp++;
	}
	return 0;
}

/* From here on page requests are no longer heard, and none is being served */
static void crnic_eqs_close_async(struct crnic_dev *dev)
{
	crnic_eq_close(&dev->eqs->async);
	crnic_pages_drain(dev);
}

static void crnic_eqs_close_cmd(struct crnic_dev *dev)
{
	crnic_cmdq_use_events(dev, false);
	crnic_eq_close(&dev->eqs->cmd);
}

/**
 * crnic_eqs_create - create all event queues
 * @dev: device; commands complete by events from here on
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_eqs_create(struct crnic_dev *dev)
{
	int err;

	dev->eqs = kvzalloc(struct_size(dev->eqs, comp, crnic_comp_vectors(dev)), GFP_KERNEL);
	if (!dev->eqs)
		return -ENOMEM;

	err = crnic_eq_open(dev, &dev->eqs->cmd, &crnic_eq_setup_cmd);
	if (err)
		goto free_eqs;
	crnic_cmdq_use_events(dev, true);

	err = crnic_eqs_open_async(dev);
	if (err)
		goto close_cmd;
	err = crnic_eqs_open_comp(dev);
	if (err)
		goto close_async;
	return 0;

close_async:
	crnic_eqs_close_async(dev);
close_cmd:
	crnic_eqs_close_cmd(dev);
free_eqs:
	kvfree(dev->eqs);
	dev->eqs = NULL;
	return err;
}

/**
 * crnic_eqs_destroy - undo crnic_eqs_create()
 * @dev: device; commands are polled from here on
 */
void crnic_eqs_destroy(struct crnic_dev *dev)
{
	crnic_eqs_close_comp(dev);
	crnic_eqs_close_async(dev);
	crnic_eqs_close_cmd(dev);
	kvfree(dev->eqs);
	dev->eqs = NULL;
}

/**
 * crnic_eqs_poll_cmd - look at the command EQ without an interrupt
 * @dev: device
 *
 * For a command that timed out: should its interrupt have got lost, then so that
 * the queue does not fill up.
 *
 * Context: process; any number of callers, and the interrupt beside them.
 */
void crnic_eqs_poll_cmd(struct crnic_dev *dev)
{
	if (dev->eqs)
		crnic_eq_service(&dev->eqs->cmd);
}

/**
 * crnic_comp_eqn - event queue of a completion vector
 * @dev: device
 * @vector: completion vector
 * @eqn: its number
 *
 * Return: 0, or -EINVAL if there is no such vector.
 */
int crnic_comp_eqn(struct crnic_dev *dev, unsigned int vector, u8 *eqn)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_comp_eqn, dev, vector, eqn);

	if (!dev->eqs || vector >= dev->eqs->num_comp)
		return -EINVAL;
	*eqn = dev->eqs->comp[vector].eqn;
	return 0;
}

/**
 * crnic_cq_attach - let a CQ hear its events
 * @dev: device
 * @cq: CQ; number and vector are known
 *
 * Context: process.
 * Return: 0; -EBUSY if the device gave out the same number twice; -ENOMEM.
 */
int crnic_cq_attach(struct crnic_dev *dev, struct crnic_cq *cq)
{
	cq->eq = dev->eqs ? &dev->eqs->comp[cq->vector] : NULL;
	return xa_insert(&dev->cqs, cq->cqn, cq, GFP_KERNEL);
}

/**
 * crnic_cq_detach - let a CQ hear no more events
 * @dev: device
 * @cq: CQ
 *
 * Context: process.  None of its callbacks runs any more on return.
 */
void crnic_cq_detach(struct crnic_dev *dev, struct crnic_cq *cq)
{
	xa_erase(&dev->cqs, cq->cqn);
	crnic_irq_sync(dev, CRNIC_IRQ_COMP_BASE + cq->vector);
	crnic_irq_sync(dev, CRNIC_IRQ_ASYNC);
}
