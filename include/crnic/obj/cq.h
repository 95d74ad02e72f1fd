/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_CQ_H
#define CRNIC_OBJ_CQ_H

#include <linux/types.h>

#include <crnic/cq.h>
#include <crnic/dma.h>

struct crnic_dev;

/**
 * struct crnic_cq_params - a completion queue to be
 * @pas: ring
 * @dbr: bus address of its doorbell record
 * @uar: doorbell page that arms it (dev->uar.index for the kernel's)
 * @vector: completion vector, below crnic_comp_vectors()
 * @log_size: log2 of its entries
 * @cqe_128: 128-byte CQEs
 * @pad_128: pad 64-byte CQEs to 128 bytes
 * @overrun_ignore: do not check for overrun
 * @period_us: moderation: event no later than this; 0 for none
 * @count: moderation: event after that many CQEs; 0 for none
 */
struct crnic_cq_params {
	struct crnic_pas pas;
	dma_addr_t dbr;
	u32 uar;
	unsigned int vector;
	u8 log_size;
	bool cqe_128;
	bool pad_128;
	bool overrun_ignore;
	u16 period_us;
	u16 count;
};

int crnic_cq_create(struct crnic_dev *dev, struct crnic_cq *cq, const struct crnic_cq_params *p);
int crnic_cq_destroy(struct crnic_dev *dev, struct crnic_cq *cq);
int crnic_cq_moderate(struct crnic_dev *dev, const struct crnic_cq *cq, u16 period_us, u16 count);
int crnic_cq_resize(struct crnic_dev *dev, const struct crnic_cq *cq,
		    const struct crnic_cq_params *p);

#endif /* CRNIC_OBJ_CQ_H */
