// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tables of receive queues, for RSS.
 */
#include <linux/mm.h>

#include <crnic/crnic.h>
#include <crnic/obj/rqt.h>

/* The context ends with the list, an entry per dword */
static void crnic_rqt_fill(void *rqtc, const u32 *rqns, u16 num)
{
	__be32 *list = MLX5_ADDR_OF(rqtc, rqtc, rq_num);
	unsigned int i;

	MLX5_SET(rqtc, rqtc, rqt_max_size, num);
	MLX5_SET(rqtc, rqtc, rqt_actual_size, num);
	for (i = 0; i < num; i++)
		list[i] = cpu_to_be32(rqns[i]);
}

/**
 * crnic_rqt_create - create a table
 * @dev: device
 * @rqns: receive queues
 * @num: how many, a power of two; it never changes
 * @rqtn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rqt_create(struct crnic_dev *dev, const u32 *rqns, u16 num, u32 *rqtn)
{
	u32 out[MLX5_ST_SZ_DW(create_rqt_out)] = {};
	size_t inlen = MLX5_ST_SZ_BYTES(create_rqt_in) + num * sizeof(u32);
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_rqt_in, in, opcode, MLX5_CMD_OP_CREATE_RQT);
	crnic_rqt_fill(MLX5_ADDR_OF(create_rqt_in, in, rqt_context), rqns, num);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*rqtn = MLX5_GET(create_rqt_out, out, rqtn);
	kvfree(in);
	return err;
}

/**
 * crnic_rqt_modify - replace all entries of a table
 * @dev: device
 * @rqtn: its number
 * @rqns: receive queues
 * @num: how many, as at creation
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rqt_modify(struct crnic_dev *dev, u32 rqtn, const u32 *rqns, u16 num)
{
	u32 out[MLX5_ST_SZ_DW(modify_rqt_out)] = {};
	size_t inlen = MLX5_ST_SZ_BYTES(modify_rqt_in) + num * sizeof(u32);
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(modify_rqt_in, in, opcode, MLX5_CMD_OP_MODIFY_RQT);
	MLX5_SET(modify_rqt_in, in, rqtn, rqtn);
	MLX5_SET(modify_rqt_in, in, bitmask.rqn_list, 1);
	crnic_rqt_fill(MLX5_ADDR_OF(modify_rqt_in, in, ctx), rqns, num);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	kvfree(in);
	return err;
}

/**
 * crnic_rqt_destroy - destroy a table
 * @dev: device
 * @rqtn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_rqt_destroy(struct crnic_dev *dev, u32 rqtn)
{
	CRNIC_CMD(destroy_rqt);

	MLX5_SET(destroy_rqt_in, in, opcode, MLX5_CMD_OP_DESTROY_RQT);
	MLX5_SET(destroy_rqt_in, in, rqtn, rqtn);
	return CRNIC_EXEC(dev, destroy_rqt);
}
