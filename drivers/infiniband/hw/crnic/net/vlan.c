// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * VLAN filter: the table that received packets start at.  Packets without a C-tag
 * pass, those with one if its VLAN is wanted, or all of them when the filter is off
 * or the netdev is promiscuous.
 */
#include <linux/bitmap.h>

#include <crnic/obj/flow.h>
#include <crnic/obj/vport.h>

#include "net.h"

#define CRNIC_VLAN_LOG_SIZE	13

/* Flow indices; those of VLANs are their numbers */
#define CRNIC_VLAN_UNTAGGED	VLAN_N_VID
#define CRNIC_VLAN_ANY		(VLAN_N_VID + 1)

enum crnic_vlan_group {
	CRNIC_VLAN_GROUP_VID,
	CRNIC_VLAN_GROUP_UNTAGGED,
	CRNIC_VLAN_GROUP_ANY,
};

static const struct crnic_group_range crnic_vlan_ranges[] = {
	[CRNIC_VLAN_GROUP_VID]		= { 0, VLAN_N_VID - 1 },
	[CRNIC_VLAN_GROUP_UNTAGGED]	= { CRNIC_VLAN_UNTAGGED, CRNIC_VLAN_UNTAGGED },
	[CRNIC_VLAN_GROUP_ANY]		= { CRNIC_VLAN_ANY, CRNIC_VLAN_ANY },
};

static int crnic_vlan_rule_set(struct crnic_net *net, enum crnic_vlan_group group, u32 index)
{
	struct crnic_flow_dest dest = { CRNIC_FLOW_TO_TABLE, net->steer.l2 };
	struct crnic_flow_match value = {};
	struct crnic_flow_rule r = {
		.table = net->steer.vlan,
		.group = net->steer.vlan_groups[group],
		.index = index,
		.value = &value,
		.dests = &dest,
		.num_dests = 1,
	};

	if (group == CRNIC_VLAN_GROUP_VID) {
		value.cvlan_tag = 1;
		value.vid = index;
	}
	return crnic_flow_rule_set(net->dev, &r);
}

/* The vport's list is for an e-switch in front of us: as much of it as fits */
static void crnic_vlan_list_set(struct crnic_net *net)
{
	unsigned int max = BIT(CRNIC_CAP_GEN(net->dev, log_max_vlan_list)), num = 0, vid;
	u16 *vids;
	int err;

	vids = kcalloc(VLAN_N_VID, sizeof(*vids), GFP_KERNEL);
	if (!vids)
		return;
	for_each_set_bit(vid, net->steer.vids, VLAN_N_VID) {
		if (num < max)
			vids[num++] = vid;
	}
	err = crnic_vport_vlans_set(net->dev, vids, num);
	if (err)
		netdev_dbg(net->netdev, "the vport's VLANs were not set: %d\n", err);
	kfree(vids);
}

/**
 * crnic_vlan_add - let a VLAN in
 * @net: netdev
 * @vid: VLAN
 *
 * Context: process, RTNL held.
 *
 * Return: 0 or a negative errno.
 */
int crnic_vlan_add(struct crnic_net *net, u16 vid)
{
	int err;

	if (test_bit(vid, net->steer.vids))
		return 0;
	err = crnic_vlan_rule_set(net, CRNIC_VLAN_GROUP_VID, vid);
	if (err)
		return err;
	set_bit(vid, net->steer.vids);
	crnic_vlan_list_set(net);
	return 0;
}

/**
 * crnic_vlan_del - let a VLAN in no more
 * @net: netdev
 * @vid: VLAN; number 0 is a priority without a VLAN, and stays
 *
 * Context: process, RTNL held.  A rule that the device keeps is found again by the
 * next crnic_vlan_add().
 */
void crnic_vlan_del(struct crnic_net *net, u16 vid)
{
	int err;

	if (!vid || !test_bit(vid, net->steer.vids))
		return;
	err = crnic_flow_rule_delete(net->dev, net->steer.vlan, vid);
	if (err) {
		netdev_warn(net->netdev, "VLAN %u still comes in: %d\n", vid, err);
		return;
	}
	clear_bit(vid, net->steer.vids);
	crnic_vlan_list_set(net);
}

static int crnic_vlan_any_locked(struct crnic_net *net)
{
	struct crnic_steer *s = &net->steer;
	bool any = s->vlan_promisc || !s->vlan_filter;
	int err;

	lockdep_assert_held(&s->vlan_lock);
	if (any == s->any_vlan)
		return 0;
	if (any)
		err = crnic_vlan_rule_set(net, CRNIC_VLAN_GROUP_ANY, CRNIC_VLAN_ANY);
	else
		err = crnic_flow_rule_delete(net->dev, s->vlan, CRNIC_VLAN_ANY);
	if (err)
		netdev_warn(net->netdev, "the VLAN filter stays %s: %d\n", any ? "on" : "off", err);
	else
		s->any_vlan = any;
	return err;
}

/**
 * crnic_vlan_promisc_set - let all VLANs in, or leave it to the filter
 * @net: netdev
 * @promisc: the netdev is promiscuous
 *
 * Context: process; the netdev's ordered workqueue.
 */
void crnic_vlan_promisc_set(struct crnic_net *net, bool promisc)
{
	struct crnic_steer *s = &net->steer;

	mutex_lock(&s->vlan_lock);
	s->vlan_promisc = promisc;
	crnic_vlan_any_locked(net);
	mutex_unlock(&s->vlan_lock);
}

/**
 * crnic_vlan_filter_set - switch the filter on or off
 * @net: netdev
 * @on: only VLANs of crnic_vlan_add() come in
 *
 * Context: process, RTNL held.
 *
 * Return: 0, or a negative errno with the filter as it was.
 */
int crnic_vlan_filter_set(struct crnic_net *net, bool on)
{
	struct crnic_steer *s = &net->steer;
	bool old = s->vlan_filter;
	int err;

	mutex_lock(&s->vlan_lock);
	s->vlan_filter = on;
	err = crnic_vlan_any_locked(net);
	if (err)
		s->vlan_filter = old;
	mutex_unlock(&s->vlan_lock);
	return err;
}

static int crnic_vlan_restore_one(struct net_device *netdev, int vid, void *net)
{
	return crnic_vlan_add(net, vid);
}

/**
 * crnic_vlan_restore - have a device that forgot its rules let in what the stack wants
 * @net: netdev, after crnic_vlan_create()
 *
 * Context: process, RTNL held.
 *
 * Return: 0 or a negative errno.
 */
int crnic_vlan_restore(struct crnic_net *net)
{
	int err = vlan_for_each(net->netdev, crnic_vlan_restore_one, net);

	if (err)
		return err;
	return crnic_vlan_filter_set(net, net->netdev->features & NETIF_F_HW_VLAN_CTAG_FILTER);
}

static void crnic_vlan_rules_delete(struct crnic_net *net)
{
	struct crnic_steer *s = &net->steer;
	unsigned int vid;

	for_each_set_bit(vid, s->vids, VLAN_N_VID)
		crnic_flow_rule_delete(net->dev, s->vlan, vid);
	if (s->any_vlan)
		crnic_flow_rule_delete(net->dev, s->vlan, CRNIC_VLAN_ANY);
	crnic_flow_rule_delete(net->dev, s->vlan, CRNIC_VLAN_UNTAGGED);
}

static int crnic_vlan_rules_set(struct crnic_net *net)
{
	int err;

	err = crnic_vlan_rule_set(net, CRNIC_VLAN_GROUP_UNTAGGED, CRNIC_VLAN_UNTAGGED);
	if (err)
		return err;
	err = crnic_vlan_add(net, 0);
	if (err)
		crnic_flow_rule_delete(net->dev, net->steer.vlan, CRNIC_VLAN_UNTAGGED);
	return err;
}

/**
 * crnic_vlan_create - make the table, and let received packets start at it
 * @net: netdev; the L2 table exists
 *
 * Context: process.
 *
 * Return: 0 or a negative errno, with nothing left behind.
 */
int crnic_vlan_create(struct crnic_net *net)
{
	static const struct crnic_flow_match masks[2] = {
		[CRNIC_VLAN_GROUP_VID]		= { .cvlan_tag = 1, .vid = VLAN_VID_MASK },
		[CRNIC_VLAN_GROUP_UNTAGGED]	= { .cvlan_tag = 1 },
	};
	struct crnic_steer *s = &net->steer;
	int err;

	mutex_init(&s->vlan_lock);
	s->vlan_filter = true;
	err = crnic_steer_table_create(net, CRNIC_FLOW_LEVEL_VLAN, CRNIC_VLAN_LOG_SIZE, &s->vlan);
	if (err)
		return err;
	err = crnic_groups_create(net, s->vlan, crnic_vlan_ranges, masks, s->vlan_groups);
	if (err)
		goto destroy_table;
	err = crnic_vlan_rules_set(net);
	if (err)
		goto destroy_groups;
	err = crnic_flow_root_set(net->dev, s->vlan);
	if (err)
		goto delete_rules;
	net->dev->rx_table = s->vlan;
	return 0;

delete_rules:
	crnic_vlan_rules_delete(net);
destroy_groups:
	crnic_groups_destroy(net, s->vlan, s->vlan_groups);
destroy_table:
	crnic_flow_table_destroy(net->dev, s->vlan);
	return err;
}

/** crnic_vlan_destroy - undo crnic_vlan_create() */
void crnic_vlan_destroy(struct crnic_net *net)
{
	crnic_vlan_rules_delete(net);
	crnic_groups_destroy(net, net->steer.vlan, net->steer.vlan_groups);
	crnic_flow_table_destroy(net->dev, net->steer.vlan);
}
