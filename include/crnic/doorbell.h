/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_DOORBELL_H
#define CRNIC_DOORBELL_H

/*
 * Barriers and doorbells of the data path.  Nothing outside of this file and of
 * the command queue orders memory against the device.
 */
#include <linux/io.h>

#include <crnic/hw.h>
#include <crnic/uar.h>

/*
 * Two stores of half a doorbell could meet those of another CPU, and the kernel's
 * queues share one doorbell page.
 */
#ifndef CONFIG_64BIT
#error "crnic needs a 64-bit kernel: a doorbell is one store of 64 bits"
#endif

/*
 * crnic_uar_write64 - ring a doorbell of two big-endian words
 *
 * The device must see both words at once.
 */
static inline void crnic_uar_write64(const __be32 val[2], void __iomem *reg)
{
	u64 raw = (u64)be32_to_cpu(val[0]) << 32 | be32_to_cpu(val[1]);

	__raw_writeq((__force u64)cpu_to_be64(raw), reg);
}

/**
 * crnic_sq_ring - tell the device about new send WQEs
 * @uar: doorbell page of the queue
 * @db: send word of the doorbell record
 * @pc: producer counter after the last WQE, in basic blocks
 * @ctrl: control segment of the last WQE
 *
 * Context: any; the caller holds the queue's lock, so that the record and the
 * register see the same order.
 */
static inline void crnic_sq_ring(const struct crnic_uar *uar, __be32 *db, u16 pc, const void *ctrl)
{
	/* the WQE is in memory before the record that lets the device read it */
	dma_wmb();
	*db = cpu_to_be32(pc);
	/* the record is in memory before the register write that makes the device look */
	wmb();
	crnic_uar_write64(ctrl, uar->map + CRNIC_UAR_SQ);
}

/**
 * crnic_rq_ring - tell the device about new receive WQEs
 * @db: receive word of the doorbell record
 * @pc: producer counter after the last WQE, in WQEs
 *
 * There is no register: the device reads the record when a packet arrives.
 */
static inline void crnic_rq_ring(__be32 *db, u16 pc)
{
	/* the WQE is in memory before the record that lets the device read it */
	dma_wmb();
	*db = cpu_to_be32(pc);
}

/**
 * crnic_cq_ci_update - give consumed CQEs back to the device
 * @db: consumer word of the doorbell record
 * @ci: consumer counter
 *
 * The CQEs must have been read before the device may write them again: an mb()
 * class problem that dma_wmb() does not solve, hence the full barrier.
 */
static inline void crnic_cq_ci_update(__be32 *db, u32 ci)
{
	/* CQE loads complete before the device may overwrite those CQEs */
	mb();
	*db = cpu_to_be32(ci & 0xffffff);
}

enum crnic_cq_arm_cmd {
	CRNIC_CQ_ARM_ANY	= 0,
	CRNIC_CQ_ARM_SOLICITED	= BIT(24),
};

/**
 * crnic_cq_arm_db - ask for an event for the next CQE
 * @uar: doorbell page of the CQ
 * @db: the CQ's doorbell record (both words)
 * @cqn: the CQ
 * @sn_ci_cmd: sequence number, command and consumer counter
 *
 * The device raises the event at once if it holds CQEs beyond the counter.
 */
static inline void crnic_cq_arm_db(const struct crnic_uar *uar, __be32 *db, u32 cqn, u32 sn_ci_cmd)
{
	__be32 val[2] = { cpu_to_be32(sn_ci_cmd), cpu_to_be32(cqn) };

	db[1] = val[0];
	/* the arm word is in memory before the device is told to read it */
	wmb();
	crnic_uar_write64(val, uar->map + CRNIC_UAR_CQ_ARM);
}

/**
 * crnic_eq_ci_db - give consumed EQEs back to the device
 * @uar: doorbell page of the EQ
 * @eqn: the EQ
 * @ci: consumer counter
 * @arm: raise an interrupt for the next EQE
 */
static inline void crnic_eq_ci_db(const struct crnic_uar *uar, u8 eqn, u32 ci, bool arm)
{
	u32 val = (ci & 0xffffff) | (u32)eqn << 24;

	/* EQE loads complete before the device may overwrite those EQEs */
	mb();
	__raw_writel((__force u32)cpu_to_be32(val),
		     uar->map + (arm ? CRNIC_UAR_EQ_ARM : CRNIC_UAR_EQ_CI));
}

#endif /* CRNIC_DOORBELL_H */
