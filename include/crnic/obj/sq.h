/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_SQ_H
#define CRNIC_OBJ_SQ_H

#include <linux/types.h>

#include <crnic/dma.h>

struct crnic_dev;

/**
 * struct crnic_wq_params - the ring of an SQ or an RQ
 * @pas: pages
 * @dbr: bus address of its doorbell record
 * @pdn: protection domain
 * @uar: doorbell page
 * @log_size: log2 of its entries (basic blocks for an SQ)
 * @log_stride: log2 of an entry's size in bytes
 * @end_pad: pad the end of a packet to a cache line
 */
struct crnic_wq_params {
	struct crnic_pas pas;
	dma_addr_t dbr;
	u32 pdn;
	u32 uar;
	u8 log_size;
	u8 log_stride;
	bool end_pad;
};

/**
 * struct crnic_sq_params - a raw Ethernet send queue to be
 * @wq: ring
 * @cqn: completion queue
 * @tisn: transport interface
 * @user_index: what its CQEs carry with CQE version 1
 * @inline_mode: minimal inline headers, MLX5_INLINE_MODE_*
 * @flush_in_error: WQEs are flushed in the error state
 * @multi_packet: multi-packet WQEs allowed
 */
struct crnic_sq_params {
	struct crnic_wq_params wq;
	u32 cqn;
	u32 tisn;
	u32 user_index;
	u8 inline_mode;
	bool flush_in_error;
	bool multi_packet;
};

int crnic_sq_create(struct crnic_dev *dev, const struct crnic_sq_params *p, u32 *sqn);
int crnic_sq_modify(struct crnic_dev *dev, u32 sqn, u8 from, u8 to);
int crnic_sq_query(struct crnic_dev *dev, u32 sqn, u8 *state);
int crnic_sq_destroy(struct crnic_dev *dev, u32 sqn);

#endif /* CRNIC_OBJ_SQ_H */
