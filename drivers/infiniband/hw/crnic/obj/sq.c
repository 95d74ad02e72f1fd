// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raw Ethernet send queues.
 */
#include <linux/mm.h>

#include <crnic/crnic.h>
#include <crnic/obj/sq.h>
#include <crnic/obj/vport.h>

#include "wq.h"

static void crnic_sq_fill(struct crnic_dev *dev, void *sqc, const struct crnic_sq_params *p)
{
	/* elsewhere the field is reserved: the device itself says what it needs */
	if (CRNIC_CAP_ETH(dev, wqe_inline_mode) == CRNIC_CAP_INLINE_VPORT)
		MLX5_SET(sqc, sqc, min_wqe_inline_mode, p->inline_mode);
	MLX5_SET(sqc, sqc, ts_format, crnic_wq_ts_format(CRNIC_CAP_GEN(dev, sq_ts_format)));
	MLX5_SET(sqc, sqc, flush_in_error_en, p->flush_in_error);
	MLX5_SET(sqc, sqc, allow_multi_pkt_send_wqe, p->multi_packet);
	MLX5_SET(sqc, sqc, user_index, p->user_index);
	MLX5_SET(sqc, sqc, cqn, p->cqn);
	MLX5_SET(sqc, sqc, tis_lst_sz, 1);
	MLX5_SET(sqc, sqc, tis_num_0, p->tisn);
	crnic_wq_fill(MLX5_ADDR_OF(sqc, sqc, wq), CRNIC_WQ_CYCLIC, &p->wq);
}

/**
 * crnic_sq_create - create a send queue in RESET
 * @dev: device
 * @p: what it is to be
 * @sqn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_sq_create(struct crnic_dev *dev, const struct crnic_sq_params *p, u32 *sqn)
{
	u32 out[MLX5_ST_SZ_DW(create_sq_out)] = {};
	size_t inlen = MLX5_ST_SZ_BYTES(create_sq_in) + crnic_pas_bytes(&p->wq.pas);
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_sq_in, in, opcode, MLX5_CMD_OP_CREATE_SQ);
	crnic_sq_fill(dev, MLX5_ADDR_OF(create_sq_in, in, ctx), p);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*sqn = MLX5_GET(create_sq_out, out, sqn);
	kvfree(in);
	return err;
}

/**
 * crnic_sq_modify - move a send queue to another state
 * @dev: device
 * @sqn: its number
 * @from: state that it is in, MLX5_SQC_STATE_*
 * @to: state that it shall be in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_sq_modify(struct crnic_dev *dev, u32 sqn, u8 from, u8 to)
{
	CRNIC_CMD(modify_sq);

	MLX5_SET(modify_sq_in, in, opcode, MLX5_CMD_OP_MODIFY_SQ);
	MLX5_SET(modify_sq_in, in, sqn, sqn);
	MLX5_SET(modify_sq_in, in, sq_state, from);
	MLX5_SET(modify_sq_in, in, ctx.state, to);
	return CRNIC_EXEC(dev, modify_sq);
}

/**
 * crnic_sq_query - state of a send queue
 * @dev: device
 * @sqn: its number
 * @state: MLX5_SQC_STATE_*
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_sq_query(struct crnic_dev *dev, u32 sqn, u8 *state)
{
	CRNIC_CMD(query_sq);
	int err;

	MLX5_SET(query_sq_in, in, opcode, MLX5_CMD_OP_QUERY_SQ);
	MLX5_SET(query_sq_in, in, sqn, sqn);
	err = CRNIC_EXEC(dev, query_sq);
	*state = MLX5_GET(query_sq_out, out, sq_context.state);
	return err;
}

/**
 * crnic_sq_destroy - destroy a send queue
 * @dev: device
 * @sqn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_sq_destroy(struct crnic_dev *dev, u32 sqn)
{
	CRNIC_CMD(destroy_sq);

	MLX5_SET(destroy_sq_in, in, opcode, MLX5_CMD_OP_DESTROY_SQ);
	MLX5_SET(destroy_sq_in, in, sqn, sqn);
	return CRNIC_EXEC(dev, destroy_sq);
}
