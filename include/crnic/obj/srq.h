/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_SRQ_H
#define CRNIC_OBJ_SRQ_H

#include <linux/types.h>

#include <crnic/dma.h>

struct crnic_dev;

/**
 * struct crnic_srq_params - a shared receive queue to be
 * @pas: ring of linked-list WQEs
 * @dbr: bus address of its doorbell record
 * @pdn: protection domain
 * @uar: doorbell page
 * @log_size: log2 of its WQEs
 * @log_stride: log2 of their size in bytes
 * @cqn: completion queue, XRC only
 * @xrcdn: XRC domain, XRC only
 * @user_index: what its CQEs carry, XRC only
 */
struct crnic_srq_params {
	struct crnic_pas pas;
	dma_addr_t dbr;
	u32 pdn;
	u32 uar;
	u8 log_size;
	u8 log_stride;
	u32 cqn;
	u32 xrcdn;
	u32 user_index;
};

/* A basic SRQ is an RMP of the device */
int crnic_rmp_create(struct crnic_dev *dev, const struct crnic_srq_params *p, u32 *rmpn);
int crnic_rmp_destroy(struct crnic_dev *dev, u32 rmpn);
int crnic_rmp_arm(struct crnic_dev *dev, u32 rmpn, u16 limit);
int crnic_rmp_query(struct crnic_dev *dev, u32 rmpn, u16 *limit);

int crnic_xrc_srq_create(struct crnic_dev *dev, const struct crnic_srq_params *p, u32 *srqn);
int crnic_xrc_srq_destroy(struct crnic_dev *dev, u32 srqn);
int crnic_xrc_srq_arm(struct crnic_dev *dev, u32 srqn, u16 limit);
int crnic_xrc_srq_query(struct crnic_dev *dev, u32 srqn, u16 *limit);

#endif /* CRNIC_OBJ_SRQ_H */
