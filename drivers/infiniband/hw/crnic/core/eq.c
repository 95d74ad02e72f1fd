// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One event queue: a ring that the device fills and an interrupt that says so.
 */
#include <linux/slab.h>

#include "../compat/compat.h"
#include "core.h"
#include "eq.h"

static_assert(sizeof(struct mlx5_eqe) == 64);

static struct mlx5_eqe *crnic_eq_entry(const struct crnic_eq *eq, u32 index)
{
	return (struct mlx5_eqe *)eq->buf.addr + (index & (BIT(eq->log_size) - 1));
}

/**
 * crnic_eq_init_ring - mark all entries as not yet written
 * @eq: event queue, before the device knows it
 */
void crnic_eq_init_ring(struct crnic_eq *eq)
{
	u32 i;

	for (i = 0; i < BIT(eq->log_size); i++)
		crnic_eq_entry(eq, i)->owner = CRNIC_EQE_OWNER;
}

/**
 * crnic_eq_next - the next entry, if the device has written it
 * @eq: event queue
 *
 * The owner bit that the device writes changes with each round of the ring.
 *
 * Return: the entry, or NULL.
 */
const struct mlx5_eqe *crnic_eq_next(const struct crnic_eq *eq)
{
	const struct mlx5_eqe *eqe = crnic_eq_entry(eq, eq->ci);
	u8 round = (eq->ci >> eq->log_size) & 1;

	if ((READ_ONCE(eqe->owner) & CRNIC_EQE_OWNER) != round)
		return NULL;
	/* the rest of the entry was written before its owner bit */
	dma_rmb();
	return eqe;
}

/**
 * crnic_eq_poll - handle what is there
 * @eq: event queue
 * @budget: at most that many entries
 *
 * Context: one caller at a time, see crnic_eq_service().
 * Return: number of entries handled.
 */
unsigned int crnic_eq_poll(struct crnic_eq *eq, unsigned int budget)
{
	const struct mlx5_eqe *eqe;
	unsigned int n = 0;

	while (n < budget && (eqe = crnic_eq_next(eq))) {
		eq->handle(eq, eqe);
		eq->ci++;
		n++;
	}
	return n;
}

/**
 * crnic_eq_arm - ask for an interrupt for entries that are not handled yet
 * @eq: event queue
 *
 * Context: as crnic_eq_poll().
 */
void crnic_eq_arm(struct crnic_eq *eq)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_eq_arm, eq);

	crnic_eq_ci_db(&eq->dev->uar, eq->eqn, eq->ci, true);
}

/**
 * crnic_eq_service - handle what is there, and ask for an interrupt for the rest
 * @eq: event queue
 *
 * Its interrupt calls this, and beside it whoever fears that one got lost.
 *
 * Context: any.
 * Return: number of entries handled.
 */
unsigned int crnic_eq_service(struct crnic_eq *eq)
{
	unsigned long flags;
	unsigned int n;

	spin_lock_irqsave(&eq->lock, flags);
	n = crnic_eq_poll(eq, CRNIC_EQ_BUDGET);
	/* entries beyond the budget make the device interrupt again at once */
	crnic_eq_arm(eq);
	spin_unlock_irqrestore(&eq->lock, flags);
	return n;
}

static irqreturn_t crnic_eq_irq(int irq, void *data)
{
	return crnic_eq_service(data) ? IRQ_HANDLED : IRQ_NONE;
}

static int crnic_eq_request_irq(struct crnic_eq *eq, const char *name)
{
	struct crnic_dev *dev = eq->dev;
	/* several queues may share the asynchronous vector */
	unsigned long flags = eq->vector == CRNIC_IRQ_ASYNC ? IRQF_SHARED : 0;
	int irq = crnic_irq_number(dev, eq->vector);
	int err;

	snprintf(eq->name, sizeof(eq->name), "crnic-%s@%s", name, pci_name(dev->pdev));
	err = request_irq(irq, crnic_eq_irq, flags, eq->name, eq);
	if (!err && eq->vector >= CRNIC_IRQ_COMP_BASE)
		irq_set_affinity_and_hint(irq, crnic_comp_affinity(dev, eq->vector -
								   CRNIC_IRQ_COMP_BASE));
	return err;
}

static void crnic_eq_free_irq(struct crnic_eq *eq)
{
	int irq = crnic_irq_number(eq->dev, eq->vector);

	if (eq->vector >= CRNIC_IRQ_COMP_BASE)
		irq_update_affinity_hint(irq, NULL);
	free_irq(irq, eq);
}

/**
 * crnic_eq_open - create an event queue and arm it
 * @dev: device
 * @eq: filled in
 * @s: what it is to be
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_eq_open(struct crnic_dev *dev, struct crnic_eq *eq, const struct crnic_eq_setup *s)
{
	struct crnic_eq_params p = {};
	int err;

	*eq = (struct crnic_eq) {
		.dev = dev,
		.handle = s->handle,
		.log_size = s->log_size,
		.vector = s->vector,
	};
	spin_lock_init(&eq->lock);

	err = crnic_buf_alloc(dev, sizeof(struct mlx5_eqe) << s->log_size, &eq->buf);
	if (err)
		return err;
	crnic_eq_init_ring(eq);

	p.pas = crnic_pas_of_buf(&eq->buf);
	p.log_size = s->log_size;
	p.vector = s->vector;
	p.mask = s->mask;
	err = crnic_fw_eq_create(dev, &p, &eq->eqn);
	if (err)
		goto free_buf;

	err = crnic_eq_request_irq(eq, s->name);
	if (err)
		goto destroy_eq;

	/* whatever came in between interrupts now */
	crnic_eq_arm(eq);
	return 0;

destroy_eq:
	crnic_fw_eq_destroy(dev, eq->eqn);
free_buf:
	crnic_buf_free(dev, &eq->buf);
	return err;
}

/**
 * crnic_eq_close - destroy an event queue
 * @eq: event queue
 *
 * Context: process.  No handler of it runs any more on return.
 */
void crnic_eq_close(struct crnic_eq *eq)
{
	int err;

	crnic_eq_free_irq(eq);
	err = crnic_fw_eq_destroy(eq->dev, eq->eqn);
	if (err) {
		crnic_err(eq->dev, "EQ %u cannot be destroyed: %pe\n", eq->eqn, ERR_PTR(err));
		/* whatever it has to report must not go to memory that is not its own */
		crnic_dev_break(eq->dev, "it keeps an event queue");
	}
	crnic_buf_free(eq->dev, &eq->buf);
}
