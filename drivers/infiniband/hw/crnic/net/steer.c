// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive steering.  Three tables: the root (vlan.c) matches the VLAN, the second
 * one the destination MAC, the third one the traffic type, whose rules lead to the
 * TIRs.
 */
#include <linux/etherdevice.h>

#include <crnic/obj/flow.h>
#include <crnic/obj/vport.h>

#include "net.h"

/* Flow indices of the L2 table: addresses first, so that they win over the rest */
#define CRNIC_L2_LOG_SIZE	9
#define CRNIC_L2_MULTI		CRNIC_L2_ADDRS
#define CRNIC_L2_ALL		(CRNIC_L2_MULTI + 1)

#define CRNIC_TTC_LOG_SIZE	4

/* A traffic type as a rule of the TTC table; the enum is the flow index */
static const struct crnic_tt_rule {
	u8 group;
	u8 ip_version;
	u8 ip_protocol;
} crnic_tt_rules[CRNIC_TT_NUM] = {
	[CRNIC_TT_IPV4_TCP] = { 0, 4, IPPROTO_TCP },
	[CRNIC_TT_IPV6_TCP] = { 0, 6, IPPROTO_TCP },
	[CRNIC_TT_IPV4_UDP] = { 0, 4, IPPROTO_UDP },
	[CRNIC_TT_IPV6_UDP] = { 0, 6, IPPROTO_UDP },
	[CRNIC_TT_IPV4]     = { 1, 4, 0 },
	[CRNIC_TT_IPV6]     = { 1, 6, 0 },
	[CRNIC_TT_ANY]      = { 2, 0, 0 },
};

/* Ranges of the groups, in crnic_steer.l2_groups and .ttc_groups */
static const struct crnic_group_range crnic_l2_ranges[] = {
	{ 0, CRNIC_L2_ADDRS - 1 },
	{ CRNIC_L2_MULTI, CRNIC_L2_MULTI },
	{ CRNIC_L2_ALL, CRNIC_L2_ALL },
};

static const struct crnic_group_range crnic_ttc_ranges[] = {
	{ CRNIC_TT_IPV4_TCP, CRNIC_TT_IPV6_UDP },
	{ CRNIC_TT_IPV4, CRNIC_TT_IPV6 },
	{ CRNIC_TT_ANY, CRNIC_TT_ANY },
};

static const u8 crnic_mcast_bit[ETH_ALEN] = { 0x01 };

/* --- groups --- */

/**
 * crnic_groups_create - part a table into three groups
 * @net: netdev
 * @table: flow table
 * @r: the three ranges of flow indices
 * @masks: what the first two compare; the third one matches everything
 * @groups: their numbers
 *
 * Context: process.
 *
 * Return: 0 or a negative errno, with nothing left behind.
 */
int crnic_groups_create(struct crnic_net *net, u32 table, const struct crnic_group_range *r,
			const struct crnic_flow_match masks[2], u32 groups[3])
{
	int err, i;

	for (i = 0; i < 3; i++) {
		struct crnic_flow_group_params p = {
			.table = table,
			.first = r[i].first,
			.last = r[i].last,
			.mask = i < 2 ? &masks[i] : NULL,
		};

		err = crnic_flow_group_create(net->dev, &p, &groups[i]);
		if (err)
			goto destroy;
	}
	return 0;

destroy:
	while (i--)
		crnic_flow_group_destroy(net->dev, table, groups[i]);
	return err;
}

/** crnic_groups_destroy - undo crnic_groups_create() */
void crnic_groups_destroy(struct crnic_net *net, u32 table, const u32 groups[3])
{
	int i;

	for (i = 2; i >= 0; i--)
		crnic_flow_group_destroy(net->dev, table, groups[i]);
}

/**
 * crnic_steer_table_create - create a receive table that nothing leads out of by itself
 * @net: netdev
 * @level: CRNIC_FLOW_LEVEL_*
 * @log_size: log2 of its entries
 * @table: its number
 *
 * Context: process.
 *
 * Return: 0 or a negative errno.
 */
int crnic_steer_table_create(struct crnic_net *net, u8 level, u8 log_size, u32 *table)
{
	struct crnic_flow_table_params p = {
		.level = level,
		.log_size = log_size,
		.miss = CRNIC_FLOW_NO_MISS,
	};

	return crnic_flow_table_create(net->dev, &p, table);
}

/* --- traffic types --- */

static int crnic_ttc_rule_set(struct crnic_net *net, enum crnic_traffic_type tt)
{
	const struct crnic_tt_rule *t = &crnic_tt_rules[tt];
	struct crnic_flow_dest dest = { CRNIC_FLOW_TO_TIR, net->tirn[tt] };
	struct crnic_flow_match mask, value = { .ip_protocol = t->ip_protocol };
	struct crnic_flow_rule r = {
		.table = net->steer.ttc,
		.group = net->steer.ttc_groups[t->group],
		.index = tt,
		.value = &value,
		.dests = &dest,
		.num_dests = 1,
	};

	if (t->ip_version)
		crnic_flow_match_ip(net->dev, t->ip_version, &mask, &value);
	return crnic_flow_rule_set(net->dev, &r);
}

static int crnic_ttc_rules_set(struct crnic_net *net)
{
	int err, tt;

	for (tt = 0; tt < CRNIC_TT_NUM; tt++) {
		err = crnic_ttc_rule_set(net, tt);
		if (err)
			goto delete;
	}
	return 0;

delete:
	while (tt--)
		crnic_flow_rule_delete(net->dev, net->steer.ttc, tt);
	return err;
}

static void crnic_ttc_rules_delete(struct crnic_net *net)
{
	int tt;

	for (tt = 0; tt < CRNIC_TT_NUM; tt++)
		crnic_flow_rule_delete(net->dev, net->steer.ttc, tt);
}

static int crnic_ttc_create(struct crnic_net *net)
{
	struct crnic_flow_match masks[3] = { { .ip_protocol = 0xff } }, value;
	struct crnic_steer *s = &net->steer;
	int err;

	crnic_flow_match_ip(net->dev, 4, &masks[0], &value);
	crnic_flow_match_ip(net->dev, 4, &masks[1], &value);
	err = crnic_steer_table_create(net, CRNIC_FLOW_LEVEL_TTC, CRNIC_TTC_LOG_SIZE, &s->ttc);
	if (err)
		return err;
	err = crnic_groups_create(net, s->ttc, crnic_ttc_ranges, masks, s->ttc_groups);
	if (err)
		goto destroy_table;
	err = crnic_ttc_rules_set(net);
	if (err)
		goto destroy_groups;
	return 0;

destroy_groups:
	crnic_groups_destroy(net, s->ttc, s->ttc_groups);
destroy_table:
	crnic_flow_table_destroy(net->dev, s->ttc);
	return err;
}

static void crnic_ttc_destroy(struct crnic_net *net)
{
	crnic_ttc_rules_delete(net);
	crnic_groups_destroy(net, net->steer.ttc, net->steer.ttc_groups);
	crnic_flow_table_destroy(net->dev, net->steer.ttc);
}

/* --- MAC addresses --- */

static int crnic_l2_rule_set(struct crnic_net *net, u8 group, u32 index, const u8 *mac)
{
	struct crnic_flow_dest dest = { CRNIC_FLOW_TO_TABLE, net->steer.ttc };
	struct crnic_flow_match value = {};
	struct crnic_flow_rule r = {
		.table = net->steer.l2,
		.group = net->steer.l2_groups[group],
		.index = index,
		.value = &value,
		.dests = &dest,
		.num_dests = 1,
	};

	if (mac)
		ether_addr_copy(value.dmac, mac);
	return crnic_flow_rule_set(net->dev, &r);
}

static int crnic_l2_create(struct crnic_net *net)
{
	struct crnic_flow_match masks[3] = {};
	struct crnic_steer *s = &net->steer;
	int err;

	eth_broadcast_addr(masks[0].dmac);
	ether_addr_copy(masks[1].dmac, crnic_mcast_bit);
	err = crnic_steer_table_create(net, CRNIC_FLOW_LEVEL_L2, CRNIC_L2_LOG_SIZE, &s->l2);
	if (err)
		return err;
	err = crnic_groups_create(net, s->l2, crnic_l2_ranges, masks, s->l2_groups);
	if (err)
		crnic_flow_table_destroy(net->dev, s->l2);
	return err;
}

/* --- the table of a NIC that several hosts share --- */

/* As the manager of the embedded switch we say ourselves which addresses come here */
static unsigned int crnic_mpfs_size(struct crnic_net *net)
{
	if (!CRNIC_CAP_GEN(net->dev, eswitch_manager))
		return 0;
	return min_t(u32, BIT(CRNIC_CAP_GEN(net->dev, log_max_l2_table)), CRNIC_L2_ADDRS);
}

static void crnic_mpfs_add(struct crnic_net *net, struct crnic_l2_addr *a)
{
	unsigned int size = crnic_mpfs_size(net), i;
	struct crnic_steer *s = &net->steer;
	int err = -ENOSPC;

	if (!size || is_multicast_ether_addr(a->mac))
		return;
	i = find_first_zero_bit(s->mpfs, size);
	if (i < size)
		err = crnic_l2_table_set(net->dev, i, a->mac);
	if (err) {
		netdev_warn(net->netdev, "%pM is not led to this host: %d\n", a->mac, err);
		return;
	}
	set_bit(i, s->mpfs);
	a->mpfs = i + 1;
}

static void crnic_mpfs_del(struct crnic_net *net, struct crnic_l2_addr *a)
{
	if (!a->mpfs || crnic_l2_table_delete(net->dev, a->mpfs - 1))
		return;
	clear_bit(a->mpfs - 1, net->steer.mpfs);
	a->mpfs = 0;
}

static void crnic_l2_rules_delete(struct crnic_net *net)
{
	struct crnic_steer *s = &net->steer;
	u32 i;

	for (i = 0; i < CRNIC_L2_ADDRS; i++) {
		if (s->addrs[i].used)
			crnic_flow_rule_delete(net->dev, s->l2, i);
		crnic_mpfs_del(net, &s->addrs[i]);
	}
	if (s->allmulti)
		crnic_flow_rule_delete(net->dev, s->l2, CRNIC_L2_MULTI);
	if (s->promisc)
		crnic_flow_rule_delete(net->dev, s->l2, CRNIC_L2_ALL);
}

static void crnic_l2_destroy(struct crnic_net *net)
{
	crnic_l2_rules_delete(net);
	crnic_groups_destroy(net, net->steer.l2, net->steer.l2_groups);
	crnic_flow_table_destroy(net->dev, net->steer.l2);
}

/* Mark @mac as wanted. Return: false when the table is full. */
static bool crnic_l2_want(struct crnic_steer *s, const u8 *mac)
{
	struct crnic_l2_addr *a, *spare = NULL;

	for (a = s->addrs; a < s->addrs + CRNIC_L2_ADDRS; a++) {
		if ((a->used || a->wanted) && ether_addr_equal(a->mac, mac)) {
			a->wanted = true;
			return true;
		}
		if (!a->used && !a->wanted && !spare)
			spare = a;
	}
	if (!spare)
		return false;
	ether_addr_copy(spare->mac, mac);
	spare->wanted = true;
	return true;
}

/* Collect the addresses; a list that does not fit turns into a wider rule */
static void crnic_l2_collect(struct crnic_net *net, bool *allmulti, bool *promisc)
{
	struct net_device *netdev = net->netdev;
	struct crnic_steer *s = &net->steer;
	struct netdev_hw_addr *ha;
	u8 broadcast[ETH_ALEN];
	u32 i;

	for (i = 0; i < CRNIC_L2_ADDRS; i++)
		s->addrs[i].wanted = false;
	eth_broadcast_addr(broadcast);
	netif_addr_lock_bh(netdev);
	*promisc = netdev->flags & IFF_PROMISC;
	*allmulti = netdev->flags & IFF_ALLMULTI;
	*promisc |= !crnic_l2_want(s, netdev->dev_addr);
	*promisc |= !crnic_l2_want(s, broadcast);
	netdev_for_each_uc_addr(ha, netdev) {
		if (!crnic_l2_want(s, ha->addr))
			*promisc = true;
	}
	netdev_for_each_mc_addr(ha, netdev) {
		if (!crnic_l2_want(s, ha->addr))
			*allmulti = true;
	}
	netif_addr_unlock_bh(netdev);
}

/* Bring one rule in line. @set tells whether it is there. */
static void crnic_l2_toggle(struct crnic_net *net, u8 group, u32 index, bool want, bool *set,
			    const u8 *mac)
{
	int err;

	if (*set == want)
		return;
	if (want)
		err = crnic_l2_rule_set(net, group, index, mac);
	else
		err = crnic_flow_rule_delete(net->dev, net->steer.l2, index);
	if (err)
		netdev_warn(net->netdev, "MAC filter rule %u could not be %s: %d\n", index,
			    want ? "set" : "deleted", err);
	else
		*set = want;
}

/* One address, in our own table and in the one that hosts share */
static void crnic_l2_addr_sync(struct crnic_net *net, u32 index)
{
	struct crnic_l2_addr *a = &net->steer.addrs[index];

	crnic_l2_toggle(net, 0, index, a->wanted, &a->used, a->mac);
	if (a->used && !a->mpfs)
		crnic_mpfs_add(net, a);
	else if (!a->used && a->mpfs)
		crnic_mpfs_del(net, a);
}

/* The vport's own lists, which a switch in front of the port may look at */
static void crnic_vport_lists_set(struct crnic_net *net, bool multi)
{
	struct crnic_steer *s = &net->steer;
	u8 max = multi ? CRNIC_CAP_GEN(net->dev, log_max_current_mc_list) :
			 CRNIC_CAP_GEN(net->dev, log_max_current_uc_list);
	unsigned int i, num = 0;
	u8 (*macs)[ETH_ALEN];

	macs = kcalloc(CRNIC_L2_ADDRS, sizeof(*macs), GFP_KERNEL);
	if (!macs)
		return;
	for (i = 0; i < CRNIC_L2_ADDRS && num < BIT(min_t(u8, max, 8)); i++) {
		if (s->addrs[i].used && is_multicast_ether_addr(s->addrs[i].mac) == multi)
			ether_addr_copy(macs[num++], s->addrs[i].mac);
	}
	crnic_vport_macs_set(net->dev, multi ? CRNIC_LIST_MC : CRNIC_LIST_UC,
			     macs[0], num);
	kfree(macs);
}

/**
 * crnic_steer_sync - bring the MAC filter in line with the netdev's lists
 * @net: netdev
 *
 * New addresses are let in before old ones are shut out, so that a change of
 * the device's own address loses nothing.
 *
 * Context: process; the netdev's ordered workqueue.
 */
void crnic_steer_sync(struct crnic_net *net)
{
	struct crnic_steer *s = &net->steer;
	bool allmulti, promisc;
	struct crnic_l2_addr *a;
	u32 pass, i;

	crnic_l2_collect(net, &allmulti, &promisc);
	crnic_vlan_promisc_set(net, promisc);
	crnic_l2_toggle(net, 2, CRNIC_L2_ALL, promisc, &s->promisc, NULL);
	crnic_l2_toggle(net, 1, CRNIC_L2_MULTI, allmulti, &s->allmulti, crnic_mcast_bit);
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < CRNIC_L2_ADDRS; i++) {
			a = &s->addrs[i];
			if (a->wanted == !pass)
				crnic_l2_addr_sync(net, i);
		}
	}
	crnic_vport_promisc_set(net->dev, (promisc ? CRNIC_PROMISC_ALL : 0) |
				(allmulti ? CRNIC_PROMISC_MC : 0));
	crnic_vport_lists_set(net, false);
	crnic_vport_lists_set(net, true);
}

/**
 * crnic_steer_create - make the flow tables; the TIRs exist
 * @net: netdev
 *
 * Context: process.
 *
 * Return: 0 or a negative errno, with nothing left behind.
 */
int crnic_steer_create(struct crnic_net *net)
{
	int err;

	err = crnic_ttc_create(net);
	if (err)
		return err;
	err = crnic_l2_create(net);
	if (err)
		goto destroy_ttc;
	err = crnic_vlan_create(net);
	if (err)
		goto destroy_l2;
	return 0;

destroy_l2:
	crnic_l2_destroy(net);
destroy_ttc:
	crnic_ttc_destroy(net);
	return err;
}

/** crnic_steer_destroy - undo crnic_steer_create() */
void crnic_steer_destroy(struct crnic_net *net)
{
	crnic_vlan_destroy(net);
	crnic_l2_destroy(net);
	crnic_ttc_destroy(net);
}
