/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_EVENT_H
#define CRNIC_EVENT_H

#include <linux/cpumask.h>
#include <linux/notifier.h>

#include <crnic/hw.h>

struct crnic_dev;

/*
 * Completion vectors.  Each has an EQ, an MSI-X vector and an affinity of its own.
 */
unsigned int crnic_comp_vectors(const struct crnic_dev *dev);
int crnic_comp_irqn(const struct crnic_dev *dev, unsigned int vector);
const struct cpumask *crnic_comp_affinity(const struct crnic_dev *dev, unsigned int vector);

/* What kind of queue an asynchronous event names; numbers are the device's */
enum crnic_rsc_type {
	CRNIC_RSC_QP	= MLX5_EVENT_QUEUE_TYPE_QP,
	CRNIC_RSC_RQ	= MLX5_EVENT_QUEUE_TYPE_RQ,
	CRNIC_RSC_SQ	= MLX5_EVENT_QUEUE_TYPE_SQ,
	CRNIC_RSC_DCT	= MLX5_EVENT_QUEUE_TYPE_DCT,
	CRNIC_RSC_SRQ	= 0x20,		/* ours: SRQ events carry no queue type */
};

/**
 * struct crnic_rsc - a queue that wants its asynchronous events
 * @event: called in hard interrupt context with an enum mlx5_event
 * @type: kind of queue
 * @num: its number
 *
 * Embedded in the owner's object, between crnic_rsc_add() and crnic_rsc_del().
 */
struct crnic_rsc {
	void (*event)(struct crnic_rsc *rsc, u8 event);
	enum crnic_rsc_type type;
	u32 num;
};

int crnic_rsc_add(struct crnic_dev *dev, struct crnic_rsc *rsc);
void crnic_rsc_del(struct crnic_dev *dev, struct crnic_rsc *rsc);

/* What happens to the device as a whole; data is NULL */
enum crnic_dev_event {
	CRNIC_EVENT_PORT_UP = 1,
	CRNIC_EVENT_PORT_DOWN,
	CRNIC_EVENT_PORT_OTHER,		/* GUID, P_Key, re-register */
	CRNIC_EVENT_FATAL,		/* the health poll gave up on the device */
};

/*
 * Notifiers are called in atomic context, hard interrupt included; none is
 * running any more when crnic_notifier_del() returns.
 */
int crnic_notifier_add(struct crnic_dev *dev, struct notifier_block *nb);
void crnic_notifier_del(struct crnic_dev *dev, struct notifier_block *nb);

#endif /* CRNIC_EVENT_H */
