/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_IB_WQE_H
#define CRNIC_IB_WQE_H

#include "ib.h"

/**
 * struct crnic_sq_wqe - a send WQE being written
 * @ring: start of the send queue
 * @mask: its length in bytes, a power of two, less one
 * @pos: where the next byte goes; wrapped by @mask
 */
struct crnic_sq_wqe {
	void *ring;
	u32 mask;
	u32 pos;
};

/**
 * struct crnic_sq_ctx - what a send WQE depends on beside its work request
 * @type: QP type
 * @qpn: the device's number
 * @pc: producer counter at its first block
 * @max_sge: limit of the QP
 * @max_inline: limit of the QP
 * @fence: fence mode owed to an earlier WQE
 * @signal: a CQE even if the work request does not ask
 */
struct crnic_sq_ctx {
	enum ib_qp_type type;
	u32 qpn;
	u16 pc;
	u32 max_sge;
	u32 max_inline;
	u8 fence;
	bool signal;
};

void crnic_wqe_put(struct crnic_sq_wqe *wqe, const void *data, u32 len);
int crnic_wqe_build(const struct crnic_sq *sq, const struct crnic_sq_ctx *c,
		    const struct ib_send_wr *wr);
void crnic_rwqe_build(void *wqe, u32 max_sge, const struct ib_recv_wr *wr, __be32 end);
u8 crnic_wqe_completion(enum ib_wr_opcode opcode);
bool crnic_wqe_owes_fence(enum ib_wr_opcode opcode);

#endif /* CRNIC_IB_WQE_H */
