/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_CQ_H
#define CRNIC_CQ_H

#include <crnic/doorbell.h>
#include <crnic/hw.h>
#include <crnic/uar.h>

struct crnic_dev;
struct crnic_eq;

/**
 * struct crnic_cq - what core needs to know of a completion queue
 * @comp: a completion event came; hard interrupt context
 * @event: the CQ failed (MLX5_EVENT_TYPE_CQ_ERROR); hard interrupt context
 * @eq: event queue of its vector
 * @uar: doorbell page that the kernel arms through
 * @cqn: number
 * @vector: completion vector
 * @arm_sn: completion events delivered so far; its two low bits go into the arm word
 * @db: doorbell record, kernel CQs only
 *
 * Embedded in the owner's object.  The owner sets @comp, @event and, if it
 * arms in the kernel, @db before crnic_cq_create().  No callback runs any more
 * when crnic_cq_destroy() returns.
 */
struct crnic_cq {
	void (*comp)(struct crnic_cq *cq);
	void (*event)(struct crnic_cq *cq, u8 event);
	struct crnic_eq *eq;
	const struct crnic_uar *uar;
	u32 cqn;
	unsigned int vector;
	u32 arm_sn;
	__be32 *db;
};

/*
 * Dispatch of events by number.  crnic_cq_create() and crnic_cq_destroy() of
 * <crnic/obj/cq.h> call these.
 */
int crnic_cq_attach(struct crnic_dev *dev, struct crnic_cq *cq);
void crnic_cq_detach(struct crnic_dev *dev, struct crnic_cq *cq);
int crnic_comp_eqn(struct crnic_dev *dev, unsigned int vector, u8 *eqn);

/**
 * crnic_cq_arm - ask for an event for the next CQE of a kernel CQ
 * @cq: CQ
 * @cmd: any CQE, or only a solicited or failed one
 * @ci: consumer counter
 *
 * Context: any; the caller serializes with its own polling.
 */
static inline void crnic_cq_arm(struct crnic_cq *cq, enum crnic_cq_arm_cmd cmd, u32 ci)
{
	u32 sn = READ_ONCE(cq->arm_sn) & 3;

	crnic_cq_arm_db(cq->uar, cq->db, cq->cqn, sn << 28 | cmd | (ci & 0xffffff));
}

#endif /* CRNIC_CQ_H */
