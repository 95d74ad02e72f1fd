// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What is let in: MAC addresses, VLANs, and the table of a NIC that hosts share. */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "net_fixture.h"

#define RULES		(VLAN_N_VID + 2)
#define ANY_VLAN	(VLAN_N_VID + 1)
#define UNTAGGED	VLAN_N_VID
#define MULTI		CRNIC_L2_ADDRS
#define ALL		(CRNIC_L2_ADDRS + 1)
#define MPFS		4

/* Rules and entries that the firmware has, and what it was told of VLANs */
struct steer_log {
	DECLARE_BITMAP(vlan, RULES);
	DECLARE_BITMAP(l2, RULES);
	u8 mpfs[MPFS][ETH_ALEN];
	unsigned int sets;
	unsigned int fewest;
	unsigned int vlans;
};

static unsigned long *steer_table(struct net_fixture *f, u32 table)
{
	struct steer_log *log = f->priv;

	if (table == f->net->steer.vlan)
		return log->vlan;
	return table == f->net->steer.l2 ? log->l2 : NULL;
}

static int steer_rule(struct net_fixture *f, const void *in)
{
	unsigned long *rules = steer_table(f, MLX5_GET(set_fte_in, in, table_id));
	struct steer_log *log = f->priv;

	if (rules)
		set_bit(MLX5_GET(set_fte_in, in, flow_index), rules);
	log->sets++;
	return 0;
}

static int steer_rule_deleted(struct net_fixture *f, const void *in)
{
	unsigned long *rules = steer_table(f, MLX5_GET(delete_fte_in, in, table_id));
	struct steer_log *log = f->priv;

	if (rules)
		clear_bit(MLX5_GET(delete_fte_in, in, flow_index), rules);
	log->fewest = min(log->fewest, bitmap_weight(log->l2, RULES));
	return 0;
}

static int steer_mpfs(struct net_fixture *f, const void *in)
{
	struct steer_log *log = f->priv;
	u32 index = MLX5_GET(set_l2_table_entry_in, in, table_index);

	if (index >= MPFS)
		return MLX5_CMD_STAT_BAD_PARAM_ERR;
	ether_addr_copy(log->mpfs[index],
			(u8 *)MLX5_ADDR_OF(set_l2_table_entry_in, in, mac_address) + 2);
	return 0;
}

static int steer_hook(struct net_fixture *f, u16 opcode, const void *in, void *out)
{
	struct steer_log *log = f->priv;

	switch (opcode) {
	case MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY:
		return steer_rule(f, in);
	case MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY:
		return steer_rule_deleted(f, in);
	case MLX5_CMD_OP_SET_L2_TABLE_ENTRY:
		return steer_mpfs(f, in);
	case MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY:
		eth_zero_addr(log->mpfs[MLX5_GET(delete_l2_table_entry_in, in, table_index)]);
		return 0;
	case MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT:
		if (MLX5_GET(modify_nic_vport_context_in, in, nic_vport_context.allowed_list_type)
		    == CRNIC_LIST_VLAN)
			log->vlans = MLX5_GET(modify_nic_vport_context_in, in,
					      nic_vport_context.allowed_list_size);
		return 0;
	default:
		return FAKE_NOT_MINE;
	}
}

static struct net_fixture *steer_create(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	struct steer_log *log = kunit_kzalloc(test, sizeof(*log), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, log);
	log->fewest = RULES;
	/* what bring-up has set */
	set_bit(UNTAGGED, log->vlan);
	set_bit(0, log->vlan);
	f->priv = log;
	f->hook = steer_hook;
	MLX5_SET(cmd_hca_cap, f->dev->caps->cur[CRNIC_CAPS_GENERAL], log_max_vlan_list, 1);
	return f;
}

/* --- MAC addresses --- */

static unsigned int l2_rules(const struct net_fixture *f)
{
	const struct steer_log *log = f->priv;

	return bitmap_weight(log->l2, CRNIC_L2_ADDRS);
}

/* The netdev's own address, broadcast, and what IP has joined by itself */
static unsigned int usual(const struct net_fixture *f)
{
	return 2 + netdev_mc_count(f->netdev);
}

static void add_unicast(struct kunit *test, struct net_fixture *f, unsigned int num)
{
	u8 mac[ETH_ALEN] = { 2 };
	unsigned int i;

	for (i = 0; i < num; i++) {
		put_unaligned_be32(i + 1, mac + 2);
		KUNIT_ASSERT_EQ(test, dev_uc_add(f->netdev, mac), 0);
	}
}

static void own_address_and_broadcast_are_let_in(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);

	crnic_steer_sync(f->net);
	KUNIT_EXPECT_EQ(test, l2_rules(f), usual(f));
	add_unicast(test, f, 3);
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_EQ(test, l2_rules(f), usual(f) + 3);
	dev_uc_flush(f->netdev);
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_EQ(test, l2_rules(f), usual(f));
}

static void new_address_comes_before_the_old_one_goes(struct kunit *test)
{
	static const u8 mac[ETH_ALEN] = { 2, 9, 9, 9, 9, 9 };
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;

	crnic_steer_sync(f->net);
	log->fewest = RULES;
	rtnl_lock();
	eth_hw_addr_set(f->netdev, mac);
	rtnl_unlock();
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_EQ(test, l2_rules(f), usual(f));
	KUNIT_EXPECT_EQ(test, log->fewest, usual(f));
}

static void unchanged_lists_cost_no_rule(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;
	unsigned int sets;

	crnic_steer_sync(f->net);
	sets = log->sets;
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_EQ(test, log->sets, sets);
}

static void more_addresses_than_rules_become_one_for_all(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;

	add_unicast(test, f, CRNIC_L2_ADDRS);
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_TRUE(test, test_bit(ALL, log->l2));
	dev_uc_flush(f->netdev);
	crnic_steer_sync(f->net);
	/* there is room for the multicast addresses once the others are gone */
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_FALSE(test, test_bit(ALL, log->l2));
	KUNIT_EXPECT_EQ(test, l2_rules(f), usual(f));
}

static void promiscuous_netdev_gets_all(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;

	rtnl_lock();
	dev_set_promiscuity(f->netdev, 1);
	dev_set_allmulti(f->netdev, 1);
	rtnl_unlock();
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_TRUE(test, test_bit(ALL, log->l2));
	KUNIT_EXPECT_TRUE(test, test_bit(MULTI, log->l2));
	KUNIT_EXPECT_TRUE(test, test_bit(ANY_VLAN, log->vlan));
	rtnl_lock();
	dev_set_promiscuity(f->netdev, -1);
	dev_set_allmulti(f->netdev, -1);
	rtnl_unlock();
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_FALSE(test, test_bit(ALL, log->l2));
	KUNIT_EXPECT_FALSE(test, test_bit(MULTI, log->l2));
	KUNIT_EXPECT_FALSE(test, test_bit(ANY_VLAN, log->vlan));
}

static void refused_rule_is_tried_again(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);

	f->fw->refuse = MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY;
	f->fw->refusals = 2;
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_EQ(test, l2_rules(f), usual(f) - 2);
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_EQ(test, l2_rules(f), usual(f));
}

/* --- VLANs --- */

static int vlan_call(struct net_fixture *f, bool add, u16 vid)
{
	const struct net_device_ops *ops = f->netdev->netdev_ops;
	int err;

	rtnl_lock();
	err = add ? ops->ndo_vlan_rx_add_vid(f->netdev, htons(ETH_P_8021Q), vid) :
		    ops->ndo_vlan_rx_kill_vid(f->netdev, htons(ETH_P_8021Q), vid);
	rtnl_unlock();
	return err;
}

static void vlans_are_let_in_by_name(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;

	KUNIT_EXPECT_EQ(test, vlan_call(f, true, 7), 0);
	KUNIT_EXPECT_EQ(test, vlan_call(f, true, 4094), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(7, log->vlan));
	KUNIT_EXPECT_TRUE(test, test_bit(4094, log->vlan));
	/* of three, as many as the vport's list holds */
	KUNIT_EXPECT_EQ(test, log->vlans, 2);
	KUNIT_EXPECT_EQ(test, vlan_call(f, false, 7), 0);
	KUNIT_EXPECT_FALSE(test, test_bit(7, log->vlan));
	KUNIT_EXPECT_TRUE(test, test_bit(4094, log->vlan));
}

static void priority_without_a_vlan_is_always_let_in(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;

	KUNIT_EXPECT_EQ(test, vlan_call(f, true, 0), 0);
	KUNIT_EXPECT_EQ(test, vlan_call(f, false, 0), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(0, log->vlan));
}

static void refused_vlan_is_told(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);

	f->fw->refuse = MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY;
	f->fw->refusals = 1;
	KUNIT_EXPECT_NE(test, vlan_call(f, true, 7), 0);
	KUNIT_EXPECT_EQ(test, vlan_call(f, true, 7), 0);
}

static int set_filter(struct net_fixture *f, bool on)
{
	netdev_features_t features = f->netdev->features & ~NETIF_F_HW_VLAN_CTAG_FILTER;
	int err;

	if (on)
		features |= NETIF_F_HW_VLAN_CTAG_FILTER;
	rtnl_lock();
	err = f->netdev->netdev_ops->ndo_set_features(f->netdev, features);
	rtnl_unlock();
	return err;
}

static void filter_that_is_off_lets_all_vlans_in(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;

	KUNIT_EXPECT_EQ(test, set_filter(f, false), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(ANY_VLAN, log->vlan));
	KUNIT_EXPECT_EQ(test, set_filter(f, true), 0);
	KUNIT_EXPECT_FALSE(test, test_bit(ANY_VLAN, log->vlan));
	f->fw->refuse = MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY;
	f->fw->refusals = 1;
	KUNIT_EXPECT_NE(test, set_filter(f, false), 0);
	KUNIT_EXPECT_FALSE(test, test_bit(ANY_VLAN, log->vlan));
}

/* --- the table that hosts share --- */

static void mpfs_enable(struct net_fixture *f, u8 log_size)
{
	void *cap = f->dev->caps->cur[CRNIC_CAPS_GENERAL];

	MLX5_SET(cmd_hca_cap, cap, eswitch_manager, 1);
	MLX5_SET(cmd_hca_cap, cap, log_max_l2_table, log_size);
}

static void unicast_addresses_are_led_to_this_host(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;

	mpfs_enable(f, 1);
	add_unicast(test, f, 1);
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_TRUE(test, ether_addr_equal(log->mpfs[0], f->netdev->dev_addr));
	KUNIT_EXPECT_EQ(test, log->mpfs[1][5], 1);
	dev_uc_flush(f->netdev);
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_TRUE(test, is_zero_ether_addr(log->mpfs[1]));
}

static void address_waits_for_an_entry(struct kunit *test)
{
	static const u8 first[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;

	mpfs_enable(f, 1);
	add_unicast(test, f, 2);
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_EQ(test, log->mpfs[1][5], 1);
	KUNIT_ASSERT_EQ(test, dev_uc_del(f->netdev, first), 0);
	crnic_steer_sync(f->net);
	crnic_steer_sync(f->net);
	KUNIT_EXPECT_EQ(test, log->mpfs[1][5], 2);
}

static void no_entry_without_the_capability(struct kunit *test)
{
	struct net_fixture *f = steer_create(test);
	struct steer_log *log = f->priv;

	crnic_steer_sync(f->net);
	KUNIT_EXPECT_TRUE(test, is_zero_ether_addr(log->mpfs[0]));
}

static struct kunit_case net_steer_cases[] = {
	KUNIT_CASE(own_address_and_broadcast_are_let_in),
	KUNIT_CASE(new_address_comes_before_the_old_one_goes),
	KUNIT_CASE(unchanged_lists_cost_no_rule),
	KUNIT_CASE(more_addresses_than_rules_become_one_for_all),
	KUNIT_CASE(promiscuous_netdev_gets_all),
	KUNIT_CASE(refused_rule_is_tried_again),
	KUNIT_CASE(vlans_are_let_in_by_name),
	KUNIT_CASE(priority_without_a_vlan_is_always_let_in),
	KUNIT_CASE(refused_vlan_is_told),
	KUNIT_CASE(filter_that_is_off_lets_all_vlans_in),
	KUNIT_CASE(unicast_addresses_are_led_to_this_host),
	KUNIT_CASE(address_waits_for_an_entry),
	KUNIT_CASE(no_entry_without_the_capability),
	{}
};

static struct kunit_suite net_steer_suite = {
	.name = "crnic_net_steer",
	.test_cases = net_steer_cases,
};

kunit_test_suite(net_steer_suite);
