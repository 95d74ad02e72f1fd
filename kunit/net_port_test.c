// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The port and the queues' contexts: what a device may refuse, what it is told. */
#include <kunit/test.h>
#include <linux/ethtool.h>
#include <linux/mlx5/port.h>
#include <linux/rtnetlink.h>

#include <crnic/obj/port.h>
#include <crnic/obj/rq.h>
#include <crnic/obj/sq.h>
#include <crnic/wqe.h>

#include "net_fixture.h"

/* --- what is not this function's to decide --- */

static void port_of_others_can_be_used(struct kunit *test)
{
	struct net_fixture *f = net_fixture_prepare(test);

	f->fw->refuse = MLX5_CMD_OP_ACCESS_REG;
	f->fw->refusals = 100;
	net_fixture_add(test, f);
	KUNIT_EXPECT_EQ(test, net_fixture_open(f), 0);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(f->netdev));
	KUNIT_EXPECT_LT(test, f->fw->refusals, 100);
}

static void mtu_of_the_vport_may_be_refused(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	int err;

	f->fw->refuse = MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT;
	f->fw->refusals = 100;
	rtnl_lock();
	err = dev_set_mtu(f->netdev, 1400);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, f->netdev->mtu, 1400);
	KUNIT_EXPECT_EQ(test, f->fw->refusals, 99);
}

static void mtu_of_the_port_may_not(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	int err;

	f->fw->refuse = MLX5_CMD_OP_ACCESS_REG;
	f->fw->refusals = 1;
	rtnl_lock();
	err = dev_set_mtu(f->netdev, 1400);
	rtnl_unlock();
	KUNIT_EXPECT_NE(test, err, 0);
	KUNIT_EXPECT_EQ(test, f->netdev->mtu, ETH_DATA_LEN);
}

/* --- pause frames --- */

struct pause_reg {
	bool rx;
	bool tx;
};

static int pause_hook(struct net_fixture *f, u16 opcode, const void *in, void *out)
{
	const void *set = MLX5_ADDR_OF(access_register_in, in, register_data);
	void *get = MLX5_ADDR_OF(access_register_out, out, register_data);
	struct pause_reg *reg = f->priv;

	if (opcode != MLX5_CMD_OP_ACCESS_REG ||
	    MLX5_GET(access_register_in, in, register_id) != CRNIC_REG_PFCC)
		return FAKE_NOT_MINE;
	if (MLX5_GET(access_register_in, in, op_mod) == 0) {
		reg->rx = MLX5_GET(pfcc_reg, set, pprx);
		reg->tx = MLX5_GET(pfcc_reg, set, pptx);
	}
	MLX5_SET(pfcc_reg, get, pprx, reg->rx);
	MLX5_SET(pfcc_reg, get, pptx, reg->tx);
	return 0;
}

static void pause_is_set_by_the_ports_manager(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	const struct ethtool_ops *ops = f->netdev->ethtool_ops;
	struct ethtool_pauseparam p = { .rx_pause = 1 };
	struct pause_reg reg = {};

	f->priv = &reg;
	f->hook = pause_hook;
	KUNIT_EXPECT_EQ(test, ops->set_pauseparam(f->netdev, &p), -EOPNOTSUPP);
	MLX5_SET(cmd_hca_cap, f->dev->caps->cur[CRNIC_CAPS_GENERAL], vport_group_manager, 1);
	KUNIT_EXPECT_EQ(test, ops->set_pauseparam(f->netdev, &p), 0);
	KUNIT_EXPECT_TRUE(test, reg.rx);
	KUNIT_EXPECT_FALSE(test, reg.tx);
	memset(&p, 0, sizeof(p));
	ops->get_pauseparam(f->netdev, &p);
	KUNIT_EXPECT_TRUE(test, p.rx_pause);
	KUNIT_EXPECT_FALSE(test, p.tx_pause);
	p.autoneg = AUTONEG_ENABLE;
	KUNIT_EXPECT_EQ(test, ops->set_pauseparam(f->netdev, &p), -EINVAL);
	f->hook = NULL;
}

/* --- speeds --- */

/**
 * struct speed_case - a link mode by the name that the kernel gives it
 * @name: what is shown
 * @mode: bit of PTYS
 * @ext: of the extended mask
 * @mbps: Mb/s
 */
struct speed_case {
	const char *name;
	u8 mode;
	bool ext;
	u32 mbps;
};

static const struct speed_case speed_cases[] = {
	{ "sgmii", MLX5E_1000BASE_CX_SGMII, false, 1000 },
	{ "1000base_kx", MLX5E_1000BASE_KX, false, 1000 },
	{ "10gbase_cx4", MLX5E_10GBASE_CX4, false, 10000 },
	{ "10gbase_kr", MLX5E_10GBASE_KR, false, 10000 },
	{ "20gbase_kr2", MLX5E_20GBASE_KR2, false, 20000 },
	{ "40gbase_cr4", MLX5E_40GBASE_CR4, false, 40000 },
	{ "56gbase_r4", MLX5E_56GBASE_R4, false, 56000 },
	{ "10gbase_sr", MLX5E_10GBASE_SR, false, 10000 },
	{ "40gbase_sr4", MLX5E_40GBASE_SR4, false, 40000 },
	{ "50gbase_sr2", MLX5E_50GBASE_SR2, false, 50000 },
	{ "100gbase_cr4", MLX5E_100GBASE_CR4, false, 100000 },
	{ "100gbase_lr4", MLX5E_100GBASE_LR4, false, 100000 },
	{ "100base_tx", MLX5E_100BASE_TX, false, 100 },
	{ "10gbase_t", MLX5E_10GBASE_T, false, 10000 },
	{ "25gbase_sr", MLX5E_25GBASE_SR, false, 25000 },
	{ "50gbase_kr2", MLX5E_50GBASE_KR2, false, 50000 },
	{ "ext_100base_x", MLX5E_SGMII_100M, true, 100 },
	{ "ext_1000base_x", MLX5E_1000BASE_X_SGMII, true, 1000 },
	{ "ext_5gbase_r", MLX5E_5GBASE_R, true, 5000 },
	{ "ext_10gbase_xfi", MLX5E_10GBASE_XFI_XAUI_1, true, 10000 },
	{ "ext_40gbase", MLX5E_40GBASE_XLAUI_4_XLPPI_4, true, 40000 },
	{ "ext_25gaui", MLX5E_25GAUI_1_25GBASE_CR_KR, true, 25000 },
	{ "ext_50gaui_2", MLX5E_50GAUI_2_LAUI_2_50GBASE_CR2_KR2, true, 50000 },
	{ "ext_50gaui_1", MLX5E_50GAUI_1_LAUI_1_50GBASE_CR_KR, true, 50000 },
	{ "ext_100gaui_2", MLX5E_100GAUI_2_100GBASE_CR2_KR2, true, 100000 },
	{ "ext_200gaui_4", MLX5E_200GAUI_4_200GBASE_CR4_KR4, true, 200000 },
	{ "ext_400gaui_8", MLX5E_400GAUI_8_400GBASE_CR8, true, 400000 },
	{ "ext_100gaui_1", MLX5E_100GAUI_1_100GBASE_CR_KR, true, 100000 },
	{ "ext_200gaui_2", MLX5E_200GAUI_2_200GBASE_CR2_KR2, true, 200000 },
	{ "ext_400gaui_4", MLX5E_400GAUI_4_400GBASE_CR4_KR4, true, 400000 },
	{ "ext_800gaui_8", MLX5E_800GAUI_8_800GBASE_CR8_KR8, true, 800000 },
};

KUNIT_ARRAY_PARAM_DESC(speed, speed_cases, name);

static int speed_hook(struct net_fixture *f, u16 opcode, const void *in, void *out)
{
	void *reg = MLX5_ADDR_OF(access_register_out, out, register_data);
	const struct speed_case *c = f->priv;

	if (opcode != MLX5_CMD_OP_ACCESS_REG ||
	    MLX5_GET(access_register_in, in, register_id) != CRNIC_REG_PTYS)
		return FAKE_NOT_MINE;
	if (c->ext) {
		MLX5_SET(ptys_reg, reg, ext_eth_proto_capability, U32_MAX);
		MLX5_SET(ptys_reg, reg, ext_eth_proto_oper, BIT(c->mode));
	} else {
		MLX5_SET(ptys_reg, reg, eth_proto_capability, U32_MAX);
		MLX5_SET(ptys_reg, reg, eth_proto_oper, BIT(c->mode));
	}
	return 0;
}

static void knows_the_speed_of(struct kunit *test)
{
	const struct speed_case *c = test->param_value;
	struct net_fixture *f = net_fixture_prepare(test);
	struct crnic_port_type type;

	f->priv = (void *)c;
	f->hook = speed_hook;
	KUNIT_ASSERT_EQ(test, crnic_port_type_query(f->dev, &type), 0);
	KUNIT_EXPECT_EQ(test, type.speed, c->mbps);
}

/* --- contexts --- */

static const struct crnic_wq_params one_page = { .pas = { .page_shift = 12, .npages = 1 } };

static void set_gen_cap(struct fake_fw *fw, u8 sq_ts, u8 rq_ts)
{
	void *cap = fw->dev->caps->cur[CRNIC_CAPS_GENERAL];

	MLX5_SET(cmd_hca_cap, cap, sq_ts_format, sq_ts);
	MLX5_SET(cmd_hca_cap, cap, rq_ts_format, rq_ts);
}

static void set_inline_cap(struct fake_fw *fw, u8 mode)
{
	MLX5_SET(per_protocol_networking_offload_caps, fw->dev->caps->cur[CRNIC_CAPS_ETH],
		 wqe_inline_mode, mode);
}

static void inline_mode_is_told_only_where_the_vport_decides(struct kunit *test)
{
	const struct crnic_sq_params p = { .wq = one_page, .inline_mode = MLX5_INLINE_MODE_L2 };
	struct fake_fw *fw = fake_fw_with_caps(test);
	const void *in = fw->last_in;
	u32 sqn;

	set_inline_cap(fw, CRNIC_CAP_INLINE_L2);
	KUNIT_ASSERT_EQ(test, crnic_sq_create(fw->dev, &p, &sqn), 0);
	KUNIT_EXPECT_EQ(test, MLX5_GET(create_sq_in, in, ctx.min_wqe_inline_mode), 0);
	set_inline_cap(fw, CRNIC_CAP_INLINE_NONE);
	KUNIT_ASSERT_EQ(test, crnic_sq_create(fw->dev, &p, &sqn), 0);
	KUNIT_EXPECT_EQ(test, MLX5_GET(create_sq_in, in, ctx.min_wqe_inline_mode), 0);
	set_inline_cap(fw, CRNIC_CAP_INLINE_VPORT);
	KUNIT_ASSERT_EQ(test, crnic_sq_create(fw->dev, &p, &sqn), 0);
	KUNIT_EXPECT_EQ(test, MLX5_GET(create_sq_in, in, ctx.min_wqe_inline_mode),
			MLX5_INLINE_MODE_L2);
}

static void timestamps_are_of_a_format_that_the_device_has(struct kunit *test)
{
	const struct crnic_sq_params sq = { .wq = one_page };
	const struct crnic_rq_params rq = { .wq = one_page };
	struct fake_fw *fw = fake_fw_with_caps(test);
	const void *in = fw->last_in;
	u32 num;

	set_gen_cap(fw, MLX5_TIMESTAMP_FORMAT_CAP_REAL_TIME,
		    MLX5_TIMESTAMP_FORMAT_CAP_FREE_RUNNING_AND_REAL_TIME);
	KUNIT_ASSERT_EQ(test, crnic_sq_create(fw->dev, &sq, &num), 0);
	KUNIT_EXPECT_EQ(test, MLX5_GET(create_sq_in, in, ctx.ts_format),
			MLX5_TIMESTAMP_FORMAT_REAL_TIME);
	KUNIT_ASSERT_EQ(test, crnic_rq_create(fw->dev, &rq, &num), 0);
	KUNIT_EXPECT_EQ(test, MLX5_GET(create_rq_in, in, ctx.ts_format),
			MLX5_TIMESTAMP_FORMAT_FREE_RUNNING);
	set_gen_cap(fw, MLX5_TIMESTAMP_FORMAT_CAP_FREE_RUNNING,
		    MLX5_TIMESTAMP_FORMAT_CAP_REAL_TIME);
	KUNIT_ASSERT_EQ(test, crnic_sq_create(fw->dev, &sq, &num), 0);
	KUNIT_EXPECT_EQ(test, MLX5_GET(create_sq_in, in, ctx.ts_format),
			MLX5_TIMESTAMP_FORMAT_FREE_RUNNING);
	KUNIT_ASSERT_EQ(test, crnic_rq_create(fw->dev, &rq, &num), 0);
	KUNIT_EXPECT_EQ(test, MLX5_GET(create_rq_in, in, ctx.ts_format),
			MLX5_TIMESTAMP_FORMAT_REAL_TIME);
}

static int rq_counter_hook(struct net_fixture *f, u16 opcode, const void *in, void *out)
{
	/* the drop RQ is made before the netdev is there, and its drops are no news */
	if (opcode == MLX5_CMD_OP_CREATE_RQ && f->net)
		*(u32 *)f->priv = MLX5_GET(create_rq_in, in, ctx.counter_set_id);
	return FAKE_NOT_MINE;
}

static void receive_queues_count_what_they_drop(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	u32 counter = 0;

	f->priv = &counter;
	f->hook = rq_counter_hook;
	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	KUNIT_EXPECT_NE(test, f->net->q_counter, 0);
	KUNIT_EXPECT_EQ(test, counter, f->net->q_counter);
	f->hook = NULL;
}

static void netdev_does_without_a_counter(struct kunit *test)
{
	struct net_fixture *f = net_fixture_prepare(test);

	f->fw->refuse = MLX5_CMD_OP_ALLOC_Q_COUNTER;
	f->fw->refusals = 1;
	net_fixture_add(test, f);
	KUNIT_EXPECT_EQ(test, net_fixture_open(f), 0);
	KUNIT_EXPECT_EQ(test, f->net->q_counter, 0);
}

/* Three segments of four: the list ends with the key that this device gave */
static void receive_list_ends_with_the_devices_key(struct kunit *test)
{
	struct net_fixture *f = net_fixture_prepare(test);
	struct mlx5_wqe_data_seg *seg;
	struct crnic_net_settings to;
	int err;

	f->dev->terminate_lkey = cpu_to_be32(0x4242);
	net_fixture_add(test, f);
	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	rtnl_lock();
	to = crnic_net_settings(f->net);
	to.mtu = 9000;
	err = crnic_net_change(f->net, &to);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, f->net->channels[0]->rx.frags, 3);
	seg = f->net->channels[0]->rx.buf.addr;
	KUNIT_EXPECT_EQ(test, be32_to_cpu(seg[2].lkey), f->net->lkey);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(seg[3].lkey), 0x4242);
}

static struct kunit_case net_port_cases[] = {
	KUNIT_CASE(port_of_others_can_be_used),
	KUNIT_CASE(mtu_of_the_vport_may_be_refused),
	KUNIT_CASE(mtu_of_the_port_may_not),
	KUNIT_CASE(pause_is_set_by_the_ports_manager),
	KUNIT_CASE_PARAM(knows_the_speed_of, speed_gen_params),
	KUNIT_CASE(inline_mode_is_told_only_where_the_vport_decides),
	KUNIT_CASE(timestamps_are_of_a_format_that_the_device_has),
	KUNIT_CASE(receive_queues_count_what_they_drop),
	KUNIT_CASE(netdev_does_without_a_counter),
	KUNIT_CASE(receive_list_ends_with_the_devices_key),
	{}
};

static struct kunit_suite net_port_suite = {
	.name = "crnic_net_port",
	.test_cases = net_port_cases,
};

kunit_test_suite(net_port_suite);
