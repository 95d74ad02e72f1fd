/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_EQ_H
#define CRNIC_OBJ_EQ_H

#include <linux/types.h>

#include <crnic/dma.h>

struct crnic_dev;

/**
 * struct crnic_eq_params - an event queue to be
 * @pas: ring
 * @log_size: log2 of its entries
 * @uar: doorbell page
 * @vector: MSI-X vector
 * @mask: bit per event type; 0 for a completion EQ
 */
struct crnic_eq_params {
	struct crnic_pas pas;
	u8 log_size;
	u32 uar;
	u16 vector;
	u64 mask;
};

int crnic_eq_create(struct crnic_dev *dev, const struct crnic_eq_params *p, u8 *eqn);
int crnic_eq_destroy(struct crnic_dev *dev, u8 eqn);

#endif /* CRNIC_OBJ_EQ_H */
