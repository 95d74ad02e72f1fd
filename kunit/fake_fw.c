// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The firmware that the suites talk to.
 */
#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <linux/dma-mapping.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "fake_fw.h"

/* The stub knows only the device: find the firmware by the running test */
static struct fake_fw *fake_fw_of(struct crnic_dev *dev)
{
	struct kunit *test = kunit_get_current_test();

	return test->priv;
}

static int fake_answer(void *out, u8 status)
{
	MLX5_SET(enable_hca_out, out, status, status);
	MLX5_SET(enable_hca_out, out, syndrome, status ? 0xfa15e : 0);
	return crnic_cmd_status_errno(status);
}

static int fake_enable(struct fake_fw *fw, const void *in, void *out)
{
	fw->enabled = true;
	return 0;
}

static int fake_disable(struct fake_fw *fw, const void *in, void *out)
{
	fw->enabled = false;
	return 0;
}

static int fake_init(struct fake_fw *fw, const void *in, void *out)
{
	fw->inited = true;
	return 0;
}

static int fake_teardown(struct fake_fw *fw, const void *in, void *out)
{
	fw->inited = false;
	return 0;
}

static int fake_query_issi(struct fake_fw *fw, const void *in, void *out)
{
	MLX5_SET(query_issi_out, out, supported_issi_dw0, BIT(0) | BIT(1));
	return 0;
}

static int fake_set_issi(struct fake_fw *fw, const void *in, void *out)
{
	fw->issi = MLX5_GET(set_issi_in, in, current_issi);
	return 0;
}

static int fake_query_pages(struct fake_fw *fw, const void *in, void *out)
{
	bool boot = MLX5_GET(query_pages_in, in, op_mod) == CRNIC_PAGES_BOOT;

	MLX5_SET(query_pages_out, out, num_pages, boot ? FAKE_BOOT_PAGES : FAKE_INIT_PAGES);
	return 0;
}

static int fake_pages_give(struct fake_fw *fw, const void *in, unsigned int num)
{
	const __be64 *pas = MLX5_ADDR_OF(manage_pages_in, in, pas);
	unsigned int i;

	for (i = 0; i < num && fw->num_pages < FAKE_MAX_PAGES; i++)
		fw->pages[fw->num_pages++] = be64_to_cpu(pas[i]);
	return i == num ? 0 : MLX5_CMD_STAT_LIM_ERR;
}

static int fake_pages_take(struct fake_fw *fw, void *out, unsigned int num)
{
	__be64 *pas = MLX5_ADDR_OF(manage_pages_out, out, pas);
	unsigned int n = 0;

	if (fw->lie_addr) {
		pas[n++] = cpu_to_be64(fw->lie_addr);
		fw->lie_addr = 0;
	}
	while (n < num && fw->num_pages && !fw->miser)
		pas[n++] = cpu_to_be64(fw->pages[--fw->num_pages]);
	MLX5_SET(manage_pages_out, out, output_num_entries, n + fw->lie_count);
	return 0;
}

static int fake_manage_pages(struct fake_fw *fw, const void *in, void *out)
{
	unsigned int num = MLX5_GET(manage_pages_in, in, input_num_entries);

	switch (MLX5_GET(manage_pages_in, in, op_mod)) {
	case MLX5_MANAGE_PAGES_IN_OP_MOD_ALLOCATION_SUCCESS:
		return fake_pages_give(fw, in, num);
	case MLX5_MANAGE_PAGES_IN_OP_MOD_HCA_RETURN_PAGES:
		return fake_pages_take(fw, out, num);
	default:
		return 0;
	}
}

static int fake_query_cap(struct fake_fw *fw, const void *in, void *out)
{
	void *cap = MLX5_ADDR_OF(query_hca_cap_out, out, capability);

	/* every type gets the same bits: only GENERAL is looked at here */
	MLX5_SET(cmd_hca_cap, cap, port_type, MLX5_CAP_PORT_TYPE_ETH);
	MLX5_SET(cmd_hca_cap, cap, num_ports, 1);
	MLX5_SET(cmd_hca_cap, cap, eth_net_offloads, 1);
	MLX5_SET(cmd_hca_cap, cap, nic_flow_table, 1);
	MLX5_SET(cmd_hca_cap, cap, log_max_qp, fw->log_max_qp ?: 14);
	MLX5_SET(cmd_hca_cap, cap, roce, 1);
	MLX5_SET(cmd_hca_cap, cap, roce_rw_supported, !fw->roce_is_fixed);
	MLX5_SET(cmd_hca_cap, cap, uar_4k, 1);
	MLX5_SET(cmd_hca_cap, cap, pkey_table_size, 3);
	MLX5_SET(cmd_hca_cap, cap, log_max_cq, 14);
	MLX5_SET(cmd_hca_cap, cap, log_max_transport_domain, 5);
	MLX5_SET(cmd_hca_cap, cap, cmdif_checksum, 3);
	MLX5_SET(cmd_hca_cap, cap, terminate_scatter_list_mkey, 1);
	return 0;
}

static int fake_special_contexts(struct fake_fw *fw, const void *in, void *out)
{
	MLX5_SET(query_special_contexts_out, out, terminate_scatter_list_mkey,
		 FAKE_TERMINATE_LKEY);
	return 0;
}

static int fake_set_cap(struct fake_fw *fw, const void *in, void *out)
{
	if (MLX5_GET(set_hca_cap_in, in, op_mod) == MLX5_CAP_GENERAL << 1)
		memcpy(fw->set_cap, MLX5_ADDR_OF(set_hca_cap_in, in, capability),
		       sizeof(fw->set_cap));
	return 0;
}

struct fake_cmd {
	u16 opcode;
	int (*handle)(struct fake_fw *fw, const void *in, void *out);
};

static const struct fake_cmd fake_cmds[] = {
	{ MLX5_CMD_OP_ENABLE_HCA,	fake_enable },
	{ MLX5_CMD_OP_DISABLE_HCA,	fake_disable },
	{ MLX5_CMD_OP_INIT_HCA,		fake_init },
	{ MLX5_CMD_OP_TEARDOWN_HCA,	fake_teardown },
	{ MLX5_CMD_OP_QUERY_ISSI,	fake_query_issi },
	{ MLX5_CMD_OP_SET_ISSI,		fake_set_issi },
	{ MLX5_CMD_OP_QUERY_PAGES,	fake_query_pages },
	{ MLX5_CMD_OP_MANAGE_PAGES,	fake_manage_pages },
	{ MLX5_CMD_OP_QUERY_HCA_CAP,	fake_query_cap },
	{ MLX5_CMD_OP_SET_HCA_CAP,	fake_set_cap },
	{ MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS, fake_special_contexts },
};

/* Objects come and go in pairs */
static const u16 fake_creates[] = {
	MLX5_CMD_OP_ALLOC_PD,
	MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN,
	MLX5_CMD_OP_CREATE_CQ,
	MLX5_CMD_OP_CREATE_QP,
	MLX5_CMD_OP_CREATE_MKEY,
	MLX5_CMD_OP_ALLOC_Q_COUNTER,
	MLX5_CMD_OP_CREATE_TIS,
	MLX5_CMD_OP_CREATE_TIR,
	MLX5_CMD_OP_CREATE_RQT,
	MLX5_CMD_OP_CREATE_SQ,
	MLX5_CMD_OP_CREATE_RQ,
	MLX5_CMD_OP_CREATE_FLOW_TABLE,
	MLX5_CMD_OP_CREATE_FLOW_GROUP,
	MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY,
};

static const u16 fake_destroys[] = {
	MLX5_CMD_OP_DEALLOC_PD,
	MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN,
	MLX5_CMD_OP_DESTROY_CQ,
	MLX5_CMD_OP_DESTROY_QP,
	MLX5_CMD_OP_DESTROY_MKEY,
	MLX5_CMD_OP_DEALLOC_Q_COUNTER,
	MLX5_CMD_OP_DESTROY_TIS,
	MLX5_CMD_OP_DESTROY_TIR,
	MLX5_CMD_OP_DESTROY_RQT,
	MLX5_CMD_OP_DESTROY_SQ,
	MLX5_CMD_OP_DESTROY_RQ,
	MLX5_CMD_OP_DESTROY_FLOW_TABLE,
	MLX5_CMD_OP_DESTROY_FLOW_GROUP,
	MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY,
};

static void fake_count_objects(struct fake_fw *fw, u16 opcode, void *out)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fake_creates); i++) {
		if (fake_creates[i] == opcode) {
			fw->objects++;
			MLX5_SET(alloc_pd_out, out, pd, fw->next_id++);
		}
		if (fake_destroys[i] == opcode)
			fw->objects--;
	}
}

static int fake_handle(struct fake_fw *fw, const void *in, void *out)
{
	unsigned int i;
	int status;

	fake_count_objects(fw, fw->last_opcode, out);
	status = fw->hook ? fw->hook(fw, fw->last_opcode, in, out) : FAKE_NOT_MINE;
	if (status != FAKE_NOT_MINE)
		return status;
	for (i = 0; i < ARRAY_SIZE(fake_cmds); i++)
		if (fake_cmds[i].opcode == fw->last_opcode)
			return fake_cmds[i].handle(fw, in, out);
	return 0;
}

static int fake_exec(struct crnic_dev *dev, const void *in, int inlen, void *out, int outlen)
{
	struct fake_fw *fw = fake_fw_of(dev);

	memset(out, 0, outlen);
	fw->num_cmds++;
	fw->last_opcode = MLX5_GET(enable_hca_in, in, opcode);
	fw->last_inlen = inlen;
	memcpy(fw->last_in, in, min_t(size_t, inlen, sizeof(fw->last_in)));
	if (fw->num_cmds == fw->fail_nth)
		return fake_answer(out, fw->fail_status);
	if (fw->refusals && fw->last_opcode == fw->refuse) {
		fw->refusals--;
		return fake_answer(out, fw->fail_status ?: MLX5_CMD_STAT_INT_ERR);
	}
	return fake_answer(out, fake_handle(fw, in, out));
}

static void fake_dev_free(void *data)
{
	crnic_dev_free(data);
}

/**
 * fake_dev_create - a device without hardware and without firmware
 * @test: test; frees it at its end
 *
 * Return: the device.
 */
struct crnic_dev *fake_dev_create(struct kunit *test)
{
	struct device *device = kunit_device_register(test, "crnic_fake");
	struct crnic_dev *dev;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, device);
	KUNIT_ASSERT_EQ(test, 0, dma_coerce_mask_and_coherent(device, DMA_BIT_MASK(64)));
	dev = crnic_dev_alloc(device);
	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_dev_free, dev));
	return dev;
}

/**
 * fake_fw_create - a device without hardware, and its firmware
 * @test: test; its priv points to the firmware from here on
 *
 * Return: the firmware.
 */
struct fake_fw *fake_fw_create(struct kunit *test)
{
	struct fake_fw *fw = kunit_kzalloc(test, sizeof(*fw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fw);
	fw->test = test;
	fw->next_id = 1;
	fw->dev = fake_dev_create(test);
	test->priv = fw;
	kunit_activate_static_stub(test, crnic_cmd_exec, fake_exec);
	kunit_activate_static_stub(test, crnic_cmd_exec_pages, fake_exec);
	return fw;
}

/**
 * fake_fw_with_caps - the same, whose capabilities are known, and all zero
 * @test: test
 *
 * Return: the firmware.
 */
struct fake_fw *fake_fw_with_caps(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_create(test);

	fw->dev->caps = kunit_kzalloc(test, sizeof(*fw->dev->caps), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fw->dev->caps);
	return fw;
}
