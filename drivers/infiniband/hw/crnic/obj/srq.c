// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: basic ones, which are RMPs of the device, and XRC ones.
 */
#include <linux/mm.h>

#include <crnic/crnic.h>
#include <crnic/obj/srq.h>

#include "wq.h"

#define CRNIC_SRQ_LOG_STRIDE_BASE	4	/* log_rq_stride counts from 16 bytes */

static struct crnic_wq_params crnic_rmp_wq(const struct crnic_srq_params *p)
{
	return (struct crnic_wq_params) {
		.pas = p->pas,
		.dbr = p->dbr,
		.pdn = p->pdn,
		.uar = p->uar,
		.log_size = p->log_size,
		.log_stride = p->log_stride,
	};
}

/**
 * crnic_rmp_create - create a basic SRQ, ready to use
 * @dev: device
 * @p: what it is to be
 * @rmpn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rmp_create(struct crnic_dev *dev, const struct crnic_srq_params *p, u32 *rmpn)
{
	u32 out[MLX5_ST_SZ_DW(create_rmp_out)] = {};
	size_t inlen = MLX5_ST_SZ_BYTES(create_rmp_in) + crnic_pas_bytes(&p->pas);
	struct crnic_wq_params wq = crnic_rmp_wq(p);
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_rmp_in, in, opcode, MLX5_CMD_OP_CREATE_RMP);
	MLX5_SET(create_rmp_in, in, ctx.state, MLX5_RMPC_STATE_RDY);
	crnic_wq_fill(MLX5_ADDR_OF(create_rmp_in, in, ctx.wq), CRNIC_WQ_LINKED_LIST, &wq);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*rmpn = MLX5_GET(create_rmp_out, out, rmpn);
	kvfree(in);
	return err;
}

/**
 * crnic_rmp_destroy - destroy a basic SRQ
 * @dev: device
 * @rmpn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rmp_destroy(struct crnic_dev *dev, u32 rmpn)
{
	CRNIC_CMD(destroy_rmp);

	MLX5_SET(destroy_rmp_in, in, opcode, MLX5_CMD_OP_DESTROY_RMP);
	MLX5_SET(destroy_rmp_in, in, rmpn, rmpn);
	return CRNIC_EXEC(dev, destroy_rmp);
}

/**
 * crnic_rmp_arm - ask for an event when few WQEs are left
 * @dev: device
 * @rmpn: number of a basic SRQ
 * @limit: event below that many; 0 for none
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rmp_arm(struct crnic_dev *dev, u32 rmpn, u16 limit)
{
	CRNIC_CMD(modify_rmp);

	MLX5_SET(modify_rmp_in, in, opcode, MLX5_CMD_OP_MODIFY_RMP);
	MLX5_SET(modify_rmp_in, in, rmp_state, MLX5_RMPC_STATE_RDY);
	MLX5_SET(modify_rmp_in, in, rmpn, rmpn);
	MLX5_SET(modify_rmp_in, in, bitmask.lwm, 1);
	MLX5_SET(modify_rmp_in, in, ctx.state, MLX5_RMPC_STATE_RDY);
	MLX5_SET(modify_rmp_in, in, ctx.wq.lwm, limit);
	return CRNIC_EXEC(dev, modify_rmp);
}

/**
 * crnic_rmp_query - limit of a basic SRQ
 * @dev: device
 * @rmpn: its number
 * @limit: 0 if it is not armed
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rmp_query(struct crnic_dev *dev, u32 rmpn, u16 *limit)
{
	CRNIC_CMD(query_rmp);
	int err;

	MLX5_SET(query_rmp_in, in, opcode, MLX5_CMD_OP_QUERY_RMP);
	MLX5_SET(query_rmp_in, in, rmpn, rmpn);
	err = CRNIC_EXEC(dev, query_rmp);
	*limit = MLX5_GET(query_rmp_out, out, rmp_context.wq.lwm);
	return err;
}

static void crnic_xrc_srq_fill(void *srqc, const struct crnic_srq_params *p)
{
	MLX5_SET(xrc_srqc, srqc, log_xrc_srq_size, p->log_size);
	MLX5_SET(xrc_srqc, srqc, log_rq_stride, p->log_stride - CRNIC_SRQ_LOG_STRIDE_BASE);
	MLX5_SET(xrc_srqc, srqc, xrcd, p->xrcdn);
	MLX5_SET(xrc_srqc, srqc, page_offset,
		 crnic_pas_offset_field(&p->pas, __mlx5_bit_sz(xrc_srqc, page_offset)));
	MLX5_SET(xrc_srqc, srqc, cqn, p->cqn);
	MLX5_SET(xrc_srqc, srqc, log_page_size, p->pas.page_shift - CRNIC_ADAPTER_PAGE_SHIFT);
	MLX5_SET(xrc_srqc, srqc, user_index, p->user_index);
	MLX5_SET(xrc_srqc, srqc, pd, p->pdn);
	/* the field holds the address without its two low bits */
	MLX5_SET(xrc_srqc, srqc, db_record_addr_h, upper_32_bits(p->dbr));
	MLX5_SET(xrc_srqc, srqc, db_record_addr_l, lower_32_bits(p->dbr) >> 2);
}

/**
 * crnic_xrc_srq_create - create an XRC SRQ
 * @dev: device
 * @p: what it is to be
 * @srqn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_xrc_srq_create(struct crnic_dev *dev, const struct crnic_srq_params *p, u32 *srqn)
{
	u32 out[MLX5_ST_SZ_DW(create_xrc_srq_out)] = {};
	size_t inlen = MLX5_ST_SZ_BYTES(create_xrc_srq_in) + crnic_pas_bytes(&p->pas);
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_xrc_srq_in, in, opcode, MLX5_CMD_OP_CREATE_XRC_SRQ);
	crnic_xrc_srq_fill(MLX5_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry), p);
	crnic_pas_fill(&p->pas, MLX5_ADDR_OF(create_xrc_srq_in, in, pas), 0);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*srqn = MLX5_GET(create_xrc_srq_out, out, xrc_srqn);
	kvfree(in);
	return err;
}

/**
 * crnic_xrc_srq_destroy - destroy an XRC SRQ
 * @dev: device
 * @srqn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_xrc_srq_destroy(struct crnic_dev *dev, u32 srqn)
{
	CRNIC_CMD(destroy_xrc_srq);

	MLX5_SET(destroy_xrc_srq_in, in, opcode, MLX5_CMD_OP_DESTROY_XRC_SRQ);
	MLX5_SET(destroy_xrc_srq_in, in, xrc_srqn, srqn);
	return CRNIC_EXEC(dev, destroy_xrc_srq);
}

/**
 * crnic_xrc_srq_arm - ask for an event when few WQEs are left
 * @dev: device
 * @srqn: number of an XRC SRQ
 * @limit: event below that many; 0 for none
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_xrc_srq_arm(struct crnic_dev *dev, u32 srqn, u16 limit)
{
	CRNIC_CMD(arm_xrc_srq);

	MLX5_SET(arm_xrc_srq_in, in, opcode, MLX5_CMD_OP_ARM_XRC_SRQ);
	MLX5_SET(arm_xrc_srq_in, in, op_mod, MLX5_ARM_XRC_SRQ_IN_OP_MOD_XRC_SRQ);
	MLX5_SET(arm_xrc_srq_in, in, xrc_srqn, srqn);
	MLX5_SET(arm_xrc_srq_in, in, lwm, limit);
	return CRNIC_EXEC(dev, arm_xrc_srq);
}

/**
 * crnic_xrc_srq_query - limit of an XRC SRQ
 * @dev: device
 * @srqn: its number
 * @limit: 0 if it is not armed
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_xrc_srq_query(struct crnic_dev *dev, u32 srqn, u16 *limit)
{
	CRNIC_CMD(query_xrc_srq);
	int err;

	MLX5_SET(query_xrc_srq_in, in, opcode, MLX5_CMD_OP_QUERY_XRC_SRQ);
	MLX5_SET(query_xrc_srq_in, in, xrc_srqn, srqn);
	err = CRNIC_EXEC(dev, query_xrc_srq);
	*limit = MLX5_GET(query_xrc_srq_out, out, xrc_srq_context_entry.lwm);
	return err;
}
