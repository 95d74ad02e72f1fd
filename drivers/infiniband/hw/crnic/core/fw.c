// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of bring-up, and of the objects that core itself owns.
 */
#include <linux/slab.h>

#include "core.h"

/**
 * crnic_fw_enable - ENABLE_HCA
 * @dev: device
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_enable(struct crnic_dev *dev)
{
	CRNIC_CMD(enable_hca);

	MLX5_SET(enable_hca_in, in, opcode, MLX5_CMD_OP_ENABLE_HCA);
	return CRNIC_EXEC(dev, enable_hca);
}

/**
 * crnic_fw_disable - DISABLE_HCA
 * @dev: device
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_disable(struct crnic_dev *dev)
{
	CRNIC_CMD(disable_hca);

	MLX5_SET(disable_hca_in, in, opcode, MLX5_CMD_OP_DISABLE_HCA);
	return CRNIC_EXEC(dev, disable_hca);
}

/**
 * crnic_fw_init - INIT_HCA
 * @dev: device
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_init(struct crnic_dev *dev)
{
	CRNIC_CMD(init_hca);

	MLX5_SET(init_hca_in, in, opcode, MLX5_CMD_OP_INIT_HCA);
	return CRNIC_EXEC(dev, init_hca);
}

/**
 * crnic_fw_teardown - TEARDOWN_HCA
 * @dev: device
 * @profile: MLX5_TEARDOWN_HCA_IN_PROFILE_*: graceful after all objects are gone, or forced
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_teardown(struct crnic_dev *dev, u16 profile)
{
	CRNIC_CMD(teardown_hca);
	int err;

	MLX5_SET(teardown_hca_in, in, opcode, MLX5_CMD_OP_TEARDOWN_HCA);
	MLX5_SET(teardown_hca_in, in, profile, profile);
	err = CRNIC_EXEC(dev, teardown_hca);
	/* force is not always enough, and that is no refusal */
	if (!err && profile == MLX5_TEARDOWN_HCA_IN_PROFILE_FORCE_CLOSE &&
	    MLX5_GET(teardown_hca_out, out, state) == MLX5_TEARDOWN_HCA_OUT_FORCE_STATE_FAIL)
		err = -EIO;
	return err;
}

/**
 * crnic_fw_issi_query - which interface revisions does the firmware offer?
 * @dev: device
 * @supported: bit per revision
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_issi_query(struct crnic_dev *dev, u32 *supported)
{
	CRNIC_CMD(query_issi);
	int err;

	MLX5_SET(query_issi_in, in, opcode, MLX5_CMD_OP_QUERY_ISSI);
	err = CRNIC_EXEC(dev, query_issi);
	*supported = MLX5_GET(query_issi_out, out, supported_issi_dw0);
	return err;
}

/**
 * crnic_fw_issi_set - choose an interface revision
 * @dev: device
 * @issi: revision
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_issi_set(struct crnic_dev *dev, u16 issi)
{
	CRNIC_CMD(set_issi);

	MLX5_SET(set_issi_in, in, opcode, MLX5_CMD_OP_SET_ISSI);
	MLX5_SET(set_issi_in, in, current_issi, issi);
	return CRNIC_EXEC(dev, set_issi);
}

/**
 * crnic_fw_cap_query - read one type of capabilities
 * @dev: device
 * @type: enum mlx5_cap_type
 * @max: what the device could do, rather than what is in force
 * @cap: raw bits, room for a hca_cap_union
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_fw_cap_query(struct crnic_dev *dev, u16 type, bool max, __be32 *cap)
{
	u32 in[MLX5_ST_SZ_DW(query_hca_cap_in)] = {};
	int outlen = MLX5_ST_SZ_BYTES(query_hca_cap_out);
	u32 *out;
	int err;

	out = kzalloc(outlen, GFP_KERNEL);
	if (!out)
		return -ENOMEM;

	/* the low bit of op_mod is the mode: 0 maximal, 1 current */
	MLX5_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	MLX5_SET(query_hca_cap_in, in, op_mod, type << 1 | (max ? 0 : 1));
	err = crnic_cmd_exec(dev, in, sizeof(in), out, outlen);
	if (!err)
		memcpy(cap, MLX5_ADDR_OF(query_hca_cap_out, out, capability),
		       MLX5_UN_SZ_BYTES(hca_cap_union));
	kfree(out);
	return err;
}

/**
 * crnic_fw_cap_set - put one type of capabilities in force
 * @dev: device
 * @type: enum mlx5_cap_type
 * @cap: raw bits, a hca_cap_union
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_fw_cap_set(struct crnic_dev *dev, u16 type, const __be32 *cap)
{
	u32 out[MLX5_ST_SZ_DW(set_hca_cap_out)] = {};
	int inlen = MLX5_ST_SZ_BYTES(set_hca_cap_in);
	u32 *in;
	int err;

	in = kzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(set_hca_cap_in, in, opcode, MLX5_CMD_OP_SET_HCA_CAP);
	MLX5_SET(set_hca_cap_in, in, op_mod, type << 1);
	memcpy(MLX5_ADDR_OF(set_hca_cap_in, in, capability), cap,
	       MLX5_UN_SZ_BYTES(hca_cap_union));
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	kfree(in);
	return err;
}

/**
 * crnic_fw_adapter_query - read vendor ID and board ID
 * @dev: device; @dev->vendor_id and @dev->board_id are filled in
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_adapter_query(struct crnic_dev *dev)
{
	CRNIC_CMD(query_adapter);
	int err;

	MLX5_SET(query_adapter_in, in, opcode, MLX5_CMD_OP_QUERY_ADAPTER);
	err = CRNIC_EXEC(dev, query_adapter);
	if (err)
		return err;

	dev->vendor_id = MLX5_GET(query_adapter_out, out, query_adapter_struct.ieee_vendor_id);
	memcpy(dev->board_id,
	       MLX5_ADDR_OF(query_adapter_out, out, query_adapter_struct.vsd_contd_psid),
	       CRNIC_BOARD_ID_LEN);
	dev->board_id[CRNIC_BOARD_ID_LEN] = 0;
	return 0;
}

static int crnic_reg_access(struct crnic_dev *dev, u16 id, u16 op_mod, void *data, size_t len)
{
	int inlen = MLX5_ST_SZ_BYTES(access_register_in) + len;
	int outlen = MLX5_ST_SZ_BYTES(access_register_out) + len;
	int err = -ENOMEM;
	u32 *in, *out;

	in = kzalloc(inlen, GFP_KERNEL);
	out = kzalloc(outlen, GFP_KERNEL);
	if (!in || !out)
		goto free;

	MLX5_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
	MLX5_SET(access_register_in, in, op_mod, op_mod);
	MLX5_SET(access_register_in, in, register_id, id);
	memcpy(MLX5_ADDR_OF(access_register_in, in, register_data), data, len);
	err = crnic_cmd_exec(dev, in, inlen, out, outlen);
	if (!err)
		memcpy(data, MLX5_ADDR_OF(access_register_out, out, register_data), len);
free:
	kfree(out);
	kfree(in);
	return err;
}

/**
 * crnic_reg_read - read an access register
 * @dev: device
 * @id: MLX5_REG_*
 * @data: its index fields; overwritten by the answer
 * @len: length of the register in bytes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_reg_read(struct crnic_dev *dev, u16 id, void *data, size_t len)
{
	return crnic_reg_access(dev, id, MLX5_ACCESS_REGISTER_IN_OP_MOD_READ, data, len);
}

/**
 * crnic_reg_write - write an access register
 * @dev: device
 * @id: MLX5_REG_*
 * @data: register; overwritten by the answer
 * @len: length of the register in bytes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_reg_write(struct crnic_dev *dev, u16 id, void *data, size_t len)
{
	return crnic_reg_access(dev, id, MLX5_ACCESS_REGISTER_IN_OP_MOD_WRITE, data, len);
}

/**
 * crnic_fw_host_endianness_set - tell the firmware how the host orders bytes
 * @dev: device
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_host_endianness_set(struct crnic_dev *dev)
{
	u32 reg[MLX5_ST_SZ_DW(register_host_endianness)] = {};

	MLX5_SET(register_host_endianness, reg, he, IS_ENABLED(CONFIG_CPU_BIG_ENDIAN));
	return crnic_reg_write(dev, CRNIC_REG_HOST_ENDIANNESS, reg, sizeof(reg));
}

/**
 * crnic_fw_pages_query - how many pages does the firmware want?
 * @dev: device
 * @when: for which step of bring-up
 * @func: function that they are for
 * @num: number; the firmware may answer a negative one
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_pages_query(struct crnic_dev *dev, enum crnic_pages_when when, u16 *func, s32 *num)
{
	CRNIC_CMD(query_pages);
	int err;

	MLX5_SET(query_pages_in, in, opcode, MLX5_CMD_OP_QUERY_PAGES);
	MLX5_SET(query_pages_in, in, op_mod, when);
	err = CRNIC_EXEC(dev, query_pages);
	*func = MLX5_GET(query_pages_out, out, function_id);
	*num = MLX5_GET(query_pages_out, out, num_pages);
	return err;
}

/**
 * crnic_fw_pages_give - give pages to the firmware
 * @dev: device
 * @func: function that they are for
 * @addrs: bus addresses of adapter pages
 * @num: how many
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_fw_pages_give(struct crnic_dev *dev, u16 func, const u64 *addrs, unsigned int num)
{
	u32 out[MLX5_ST_SZ_DW(manage_pages_out)] = {};
	int inlen = MLX5_ST_SZ_BYTES(manage_pages_in) + num * sizeof(__be64);
	unsigned int i;
	__be64 *pas;
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(manage_pages_in, in, opcode, MLX5_CMD_OP_MANAGE_PAGES);
	MLX5_SET(manage_pages_in, in, op_mod, MLX5_MANAGE_PAGES_IN_OP_MOD_ALLOCATION_SUCCESS);
	MLX5_SET(manage_pages_in, in, function_id, func);
	MLX5_SET(manage_pages_in, in, input_num_entries, num);
	pas = MLX5_ADDR_OF(manage_pages_in, in, pas);
	for (i = 0; i < num; i++)
		pas[i] = cpu_to_be64(addrs[i]);
	err = crnic_cmd_exec_pages(dev, in, inlen, out, sizeof(out));
	kvfree(in);
	return err;
}

/**
 * crnic_fw_pages_refuse - tell the firmware that it gets no pages
 * @dev: device
 * @func: function that they were for
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_pages_refuse(struct crnic_dev *dev, u16 func)
{
	CRNIC_CMD(manage_pages);

	MLX5_SET(manage_pages_in, in, opcode, MLX5_CMD_OP_MANAGE_PAGES);
	MLX5_SET(manage_pages_in, in, op_mod, MLX5_MANAGE_PAGES_IN_OP_MOD_ALLOCATION_FAIL);
	MLX5_SET(manage_pages_in, in, function_id, func);
	return crnic_cmd_exec_pages(dev, in, sizeof(in), out, sizeof(out));
}

/**
 * crnic_fw_pages_take - ask the firmware to give pages back
 * @dev: device
 * @func: function that they were for
 * @addrs: bus addresses of what came back
 * @num: how many to ask for; how many came back
 *
 * Context: process.
 * Return: 0 or a negative errno; -EPROTO if more came back than was asked for.
 */
int crnic_fw_pages_take(struct crnic_dev *dev, u16 func, u64 *addrs, unsigned int *num)
{
	u32 in[MLX5_ST_SZ_DW(manage_pages_in)] = {};
	int outlen = MLX5_ST_SZ_BYTES(manage_pages_out) + *num * sizeof(__be64);
	unsigned int i, got;
	__be64 *pas;
	u32 *out;
	int err;

	out = kvzalloc(outlen, GFP_KERNEL);
	if (!out)
		return -ENOMEM;

	MLX5_SET(manage_pages_in, in, opcode, MLX5_CMD_OP_MANAGE_PAGES);
	MLX5_SET(manage_pages_in, in, op_mod, MLX5_MANAGE_PAGES_IN_OP_MOD_HCA_RETURN_PAGES);
	MLX5_SET(manage_pages_in, in, function_id, func);
	MLX5_SET(manage_pages_in, in, input_num_entries, *num);
	err = crnic_cmd_exec_pages(dev, in, sizeof(in), out, outlen);
	if (err)
		goto free;

	got = MLX5_GET(manage_pages_out, out, output_num_entries);
	if (got > *num) {
		err = -EPROTO;
		goto free;
	}
	pas = MLX5_ADDR_OF(manage_pages_out, out, pas);
	for (i = 0; i < got; i++)
		addrs[i] = be64_to_cpu(pas[i]);
	*num = got;
free:
	kvfree(out);
	return err;
}

/**
 * crnic_fw_eq_create - CREATE_EQ
 * @dev: device
 * @p: what it is to be
 * @eqn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_fw_eq_create(struct crnic_dev *dev, const struct crnic_eq_params *p, u8 *eqn)
{
	u32 out[MLX5_ST_SZ_DW(create_eq_out)] = {};
	int inlen = MLX5_ST_SZ_BYTES(create_eq_in) + crnic_pas_bytes(&p->pas);
	void *eqc;
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_eq_in, in, opcode, MLX5_CMD_OP_CREATE_EQ);
	MLX5_ARRAY_SET64(create_eq_in, in, event_bitmask, 0, p->mask);
	eqc = MLX5_ADDR_OF(create_eq_in, in, eq_context_entry);
	MLX5_SET(eqc, eqc, log_eq_size, p->log_size);
	MLX5_SET(eqc, eqc, uar_page, dev->uar.index);
	MLX5_SET(eqc, eqc, intr, p->vector);
	MLX5_SET(eqc, eqc, log_page_size, p->pas.page_shift - CRNIC_ADAPTER_PAGE_SHIFT);
	crnic_pas_fill(&p->pas, MLX5_ADDR_OF(create_eq_in, in, pas), 0);

	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*eqn = MLX5_GET(create_eq_out, out, eq_number);
	kvfree(in);
	return err;
}

/**
 * crnic_fw_eq_destroy - DESTROY_EQ
 * @dev: device
 * @eqn: its number
 *
 * Return: 0 or a negative errno.
 */
int crnic_fw_eq_destroy(struct crnic_dev *dev, u8 eqn)
{
	CRNIC_CMD(destroy_eq);

	MLX5_SET(destroy_eq_in, in, opcode, MLX5_CMD_OP_DESTROY_EQ);
	MLX5_SET(destroy_eq_in, in, eq_number, eqn);
	return CRNIC_EXEC(dev, destroy_eq);
}
