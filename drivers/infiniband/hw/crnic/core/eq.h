/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_EQ_H
#define CRNIC_EQ_H

#include <linux/interrupt.h>

#include <crnic/crnic.h>

/* Byte 0x3f of an EQE: bit 0 says whose it is */
#define CRNIC_EQE_OWNER		BIT(0)

/* EQEs handled in one interrupt before the queue is armed again */
#define CRNIC_EQ_BUDGET		128

/**
 * struct crnic_eq - event queue
 * @dev: device
 * @buf: ring
 * @handle: called for each EQE, with @lock held and interrupts off
 * @lock: one at a time consumes; protects @ci.  Outside of all locks of the handlers
 * @ci: consumer counter
 * @log_size: log2 of the entries
 * @eqn: number
 * @vector: MSI-X vector
 * @name: for /proc/interrupts
 */
struct crnic_eq {
	struct crnic_dev *dev;
	struct crnic_buf buf;
	void (*handle)(struct crnic_eq *eq, const struct mlx5_eqe *eqe);
	spinlock_t lock;	/* protects ci; outside of all locks of the handlers */
	u32 ci;
	u8 log_size;
	u8 eqn;
	u16 vector;
	char name[32];
};

/**
 * struct crnic_eq_setup - what distinguishes one EQ from the others
 * @name: short, for /proc/interrupts
 * @handle: called for each EQE
 * @mask: bit per event type, 0 for a completion EQ
 * @log_size: log2 of the entries
 * @vector: MSI-X vector
 */
struct crnic_eq_setup {
	const char *name;
	void (*handle)(struct crnic_eq *eq, const struct mlx5_eqe *eqe);
	u64 mask;
	u8 log_size;
	u16 vector;
};

int crnic_eq_open(struct crnic_dev *dev, struct crnic_eq *eq, const struct crnic_eq_setup *s);
void crnic_eq_close(struct crnic_eq *eq);
void crnic_eq_init_ring(struct crnic_eq *eq);
const struct mlx5_eqe *crnic_eq_next(const struct crnic_eq *eq);
unsigned int crnic_eq_poll(struct crnic_eq *eq, unsigned int budget);
void crnic_eq_arm(struct crnic_eq *eq);
unsigned int crnic_eq_service(struct crnic_eq *eq);

#endif /* CRNIC_EQ_H */
