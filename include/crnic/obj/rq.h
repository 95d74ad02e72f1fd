/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_RQ_H
#define CRNIC_OBJ_RQ_H

#include <linux/types.h>

#include <crnic/obj/sq.h>

/**
 * struct crnic_rq_params - a receive queue to be
 * @wq: ring (cyclic)
 * @cqn: completion queue
 * @user_index: what its CQEs carry with CQE version 1
 * @keep_vlan: do not strip the VLAN tag
 * @scatter_fcs: hand over the FCS
 * @flush_in_error: WQEs are flushed in the error state
 * @counter_set: queue counter, 0 for none
 */
struct crnic_rq_params {
	struct crnic_wq_params wq;
	u32 cqn;
	u32 user_index;
	bool keep_vlan;
	bool scatter_fcs;
	bool flush_in_error;
	u8 counter_set;
};

int crnic_rq_create(struct crnic_dev *dev, const struct crnic_rq_params *p, u32 *rqn);
int crnic_rq_modify(struct crnic_dev *dev, u32 rqn, u8 from, u8 to);
int crnic_rq_query(struct crnic_dev *dev, u32 rqn, u8 *state);
int crnic_rq_destroy(struct crnic_dev *dev, u32 rqn);

#endif /* CRNIC_OBJ_RQ_H */
