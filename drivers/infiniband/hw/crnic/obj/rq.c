// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive queues.
 */
#include <linux/mm.h>

#include <crnic/crnic.h>
#include <crnic/obj/rq.h>

#include "wq.h"

static void crnic_rq_fill(struct crnic_dev *dev, void *rqc, const struct crnic_rq_params *p)
{
	MLX5_SET(rqc, rqc, ts_format, crnic_wq_ts_format(CRNIC_CAP_GEN(dev, rq_ts_format)));
	MLX5_SET(rqc, rqc, vsd, p->keep_vlan);
	MLX5_SET(rqc, rqc, scatter_fcs, p->scatter_fcs);
	MLX5_SET(rqc, rqc, mem_rq_type, MLX5_RQC_MEM_RQ_TYPE_MEMORY_RQ_INLINE);
	MLX5_SET(rqc, rqc, flush_in_error_en, p->flush_in_error);
	MLX5_SET(rqc, rqc, user_index, p->user_index);
	MLX5_SET(rqc, rqc, cqn, p->cqn);
	MLX5_SET(rqc, rqc, counter_set_id, p->counter_set);
	crnic_wq_fill(MLX5_ADDR_OF(rqc, rqc, wq), CRNIC_WQ_CYCLIC, &p->wq);
}

/**
 * crnic_rq_create - create a receive queue in RESET
 * @dev: device
 * @p: what it is to be
 * @rqn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rq_create(struct crnic_dev *dev, const struct crnic_rq_params *p, u32 *rqn)
{
	u32 out[MLX5_ST_SZ_DW(create_rq_out)] = {};
	size_t inlen = MLX5_ST_SZ_BYTES(create_rq_in) + crnic_pas_bytes(&p->wq.pas);
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_rq_in, in, opcode, MLX5_CMD_OP_CREATE_RQ);
	crnic_rq_fill(dev, MLX5_ADDR_OF(create_rq_in, in, ctx), p);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*rqn = MLX5_GET(create_rq_out, out, rqn);
	kvfree(in);
	return err;
}

/**
 * crnic_rq_modify - move a receive queue to another state
 * @dev: device
 * @rqn: its number
 * @from: state that it is in, MLX5_RQC_STATE_*
 * @to: state that it shall be in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rq_modify(struct crnic_dev *dev, u32 rqn, u8 from, u8 to)
{
	CRNIC_CMD(modify_rq);

	MLX5_SET(modify_rq_in, in, opcode, MLX5_CMD_OP_MODIFY_RQ);
	MLX5_SET(modify_rq_in, in, rqn, rqn);
	MLX5_SET(modify_rq_in, in, rq_state, from);
	MLX5_SET(modify_rq_in, in, ctx.state, to);
	return CRNIC_EXEC(dev, modify_rq);
}

/**
 * crnic_rq_query - state of a receive queue
 * @dev: device
 * @rqn: its number
 * @state: MLX5_RQC_STATE_*
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rq_query(struct crnic_dev *dev, u32 rqn, u8 *state)
{
	CRNIC_CMD(query_rq);
	int err;

	MLX5_SET(query_rq_in, in, opcode, MLX5_CMD_OP_QUERY_RQ);
	MLX5_SET(query_rq_in, in, rqn, rqn);
	err = CRNIC_EXEC(dev, query_rq);
	*state = MLX5_GET(query_rq_out, out, rq_context.state);
	return err;
}

/**
 * crnic_rq_destroy - destroy a receive queue
 * @dev: device
 * @rqn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rq_destroy(struct crnic_dev *dev, u32 rqn)
{
	CRNIC_CMD(destroy_rq);

	MLX5_SET(destroy_rq_in, in, opcode, MLX5_CMD_OP_DESTROY_RQ);
	MLX5_SET(destroy_rq_in, in, rqn, rqn);
	return CRNIC_EXEC(dev, destroy_rq);
}
