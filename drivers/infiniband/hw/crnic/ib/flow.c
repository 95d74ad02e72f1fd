// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flow rules of users.  While there are any, received frames start at one table of
 * theirs, and what no rule matches goes on to the netdev's.  That table is cut into
 * ranges of equal size, one for a group: the device looks at groups in the order of
 * their indices, so the ranges of a priority come before those of the next.
 */
#include <linux/mm.h>

#include "ib.h"

#define CRNIC_FLOW_GROUPS	(CRNIC_FLOW_PRIOS * CRNIC_FLOW_MASKS)
#define CRNIC_FLOW_LOG_SIZE	ilog2(CRNIC_FLOW_GROUPS * CRNIC_FLOW_RULES)

/**
 * struct crnic_flow_group - rules of one priority that compare the same bits
 * @live: the device has the group
 * @id: its number
 * @used: rules in it
 * @mask: what they compare
 * @rules: the rules by their place, or NULL
 */
struct crnic_flow_group {
	bool live;
	u32 id;
	unsigned int used;
	struct crnic_flow_match mask;
	struct crnic_ib_flow *rules[CRNIC_FLOW_RULES];
};

/**
 * struct crnic_ib_flows - all rules of a device's users
 * @dev: device
 * @lock: protects all below; commands are executed under it
 * @live: the device has the table
 * @table: its number
 * @used: groups in it
 * @groups: the groups by their place
 */
struct crnic_ib_flows {
	struct crnic_dev *dev;
	struct mutex lock;	/* all below */
	bool live;
	u32 table;
	unsigned int used;
	struct crnic_flow_group groups[CRNIC_FLOW_GROUPS];
};

/* --- the table --- */

static int crnic_flow_table_up(struct crnic_ib_flows *flows)
{
	const struct crnic_flow_table_params p = {
		.level = CRNIC_FLOW_LEVEL_USER,
		.log_size = CRNIC_FLOW_LOG_SIZE,
		.miss = flows->dev->rx_table,
	};
	int err;

	if (flows->live)
		return 0;
	err = crnic_flow_table_create(flows->dev, &p, &flows->table);
	if (err)
		return err;

	err = crnic_flow_root_set(flows->dev, flows->table);
	if (err) {
		crnic_flow_table_destroy(flows->dev, flows->table);
		return err;
	}
	flows->live = true;
	return 0;
}

/* A table that cannot be taken away lets all frames through, and waits for rules */
static void crnic_flow_table_down(struct crnic_ib_flows *flows)
{
	struct crnic_dev *dev = flows->dev;
	int err;

	if (!flows->live || flows->used)
		return;
	err = crnic_dead(dev) ? 0 : crnic_flow_root_set(dev, dev->rx_table);
	if (!err)
		err = crnic_flow_table_destroy(dev, flows->table);
	if (err)
		crnic_warn(dev, "flow table of users stays: %pe\n", ERR_PTR(err));
	else
		flows->live = false;
}

/* --- groups --- */

static int crnic_flow_group_up(struct crnic_ib_flows *flows, unsigned int index,
			       const struct crnic_flow_match *mask)
{
	struct crnic_flow_group *g = &flows->groups[index];
	const struct crnic_flow_group_params p = {
		.table = flows->table,
		.first = index * CRNIC_FLOW_RULES,
		.last = index * CRNIC_FLOW_RULES + CRNIC_FLOW_RULES - 1,
		.mask = memchr_inv(mask, 0, sizeof(*mask)) ? mask : NULL,
	};
	int err;

	if (g->live)
		return 0;
	err = crnic_flow_group_create(flows->dev, &p, &g->id);
	if (err)
		return err;
	g->live = true;
	g->mask = *mask;
	flows->used++;
	return 0;
}

static void crnic_flow_group_down(struct crnic_ib_flows *flows, struct crnic_flow_group *g)
{
	int err;

	if (!g->live || g->used)
		return;
	err = crnic_flow_group_destroy(flows->dev, flows->table, g->id);
	if (err) {
		crnic_warn(flows->dev, "flow group %u stays: %pe\n", g->id, ERR_PTR(err));
		return;
	}
	g->live = false;
	flows->used--;
}

/* Return: the first free place, or CRNIC_FLOW_RULES; -EEXIST if the value is there */
static int crnic_flow_find_slot(const struct crnic_flow_group *g,
				const struct crnic_flow_match *value)
{
	unsigned int i, slot = CRNIC_FLOW_RULES;

	for (i = 0; i < CRNIC_FLOW_RULES; i++) {
		if (!g->rules[i])
			slot = min(slot, i);
		else if (!memcmp(&g->rules[i]->value, value, sizeof(*value)))
			return -EEXIST;
	}
	return slot;
}

/*
 * A rule's place: among those with its mask if there is room, else in a group of
 * its own.  Two rules of a priority that match the same would leave it to the
 * device which one counts, so there is one only.
 */
static int crnic_flow_find(const struct crnic_ib_flows *flows,
			   const struct crnic_flow_request *req, struct crnic_ib_flow *flow)
{
	const unsigned int first = req->prio * CRNIC_FLOW_MASKS;
	unsigned int i, found = CRNIC_FLOW_GROUPS, spare = CRNIC_FLOW_GROUPS;
	int slot;

	for (i = first; i < first + CRNIC_FLOW_MASKS; i++) {
		const struct crnic_flow_group *g = &flows->groups[i];

		if (!g->live) {
			spare = min(spare, i);
			continue;
		}
		if (memcmp(&g->mask, &req->mask, sizeof(g->mask)))
			continue;
		slot = crnic_flow_find_slot(g, &req->value);
		if (slot < 0)
			return slot;
		if (slot < CRNIC_FLOW_RULES && found == CRNIC_FLOW_GROUPS) {
			found = i;
			flow->slot = slot;
		}
	}
	if (found == CRNIC_FLOW_GROUPS) {
		found = spare;
		flow->slot = 0;
	}
	flow->group = found;
	return found < CRNIC_FLOW_GROUPS ? 0 : -ENOSPC;
}

/* --- rules --- */

/**
 * crnic_flow_check - may a user ask for that?
 * @req: what was asked for
 *
 * Return: 0, or -EINVAL for a priority or a tag out of range and for a value with
 * bits that its mask has not.
 */
int crnic_flow_check(const struct crnic_flow_request *req)
{
	if (req->prio >= CRNIC_FLOW_PRIOS || req->tag >> CRNIC_FLOW_TAG_BITS)
		return -EINVAL;
	return crnic_flow_match_covers(&req->mask, &req->value) ? 0 : -EINVAL;
}

static int crnic_flow_write(struct crnic_ib_flows *flows, const struct crnic_flow_request *req,
			    const struct crnic_ib_flow *flow)
{
	const struct crnic_flow_rule rule = {
		.table = flows->table,
		.group = flows->groups[flow->group].id,
		.index = flow->group * CRNIC_FLOW_RULES + flow->slot,
		.tag = req->tag,
		.drop = req->drop,
		.value = &req->value,
		.dests = &req->dest,
		.num_dests = req->drop ? 0 : 1,
	};

	return crnic_flow_rule_set(flows->dev, &rule);
}

static int crnic_flow_insert(struct crnic_ib_flows *flows, const struct crnic_flow_request *req,
			     struct crnic_ib_flow *flow)
{
	struct crnic_flow_group *g;
	int err;

	lockdep_assert_held(&flows->lock);
	err = crnic_flow_find(flows, req, flow);
	if (err)
		return err;
	err = crnic_flow_table_up(flows);
	if (err)
		return err;

	g = &flows->groups[flow->group];
	err = crnic_flow_group_up(flows, flow->group, &req->mask);
	if (!err)
		err = crnic_flow_write(flows, req, flow);
	if (err) {
		crnic_flow_group_down(flows, g);
		crnic_flow_table_down(flows);
		return err;
	}
	g->rules[flow->slot] = flow;
	g->used++;
	return 0;
}

/**
 * crnic_flow_add - put a rule in force
 * @flows: the device's rules
 * @req: what is wanted; crnic_flow_check() liked it
 *
 * Context: process.
 * Return: the rule; -EEXIST if there is one that matches the same, -ENOSPC if its
 * priority is full, or another errno.
 */
struct crnic_ib_flow *crnic_flow_add(struct crnic_ib_flows *flows,
				     const struct crnic_flow_request *req)
{
	struct crnic_ib_flow *flow = kzalloc(sizeof(*flow), GFP_KERNEL);
	int err;

	if (!flow)
		return ERR_PTR(-ENOMEM);

	flow->value = req->value;
	mutex_lock(&flows->lock);
	err = crnic_flow_insert(flows, req, flow);
	mutex_unlock(&flows->lock);
	if (err) {
		kfree(flow);
		return ERR_PTR(err);
	}
	return flow;
}

/**
 * crnic_flow_del - undo crnic_flow_add()
 * @flows: the device's rules
 * @flow: rule; gone afterwards
 *
 * Context: process.
 * Return: 0, or errno with the rule still in force.
 */
int crnic_flow_del(struct crnic_ib_flows *flows, struct crnic_ib_flow *flow)
{
	struct crnic_flow_group *g = &flows->groups[flow->group];
	int err;

	mutex_lock(&flows->lock);
	err = crnic_flow_rule_delete(flows->dev, flows->table,
				     flow->group * CRNIC_FLOW_RULES + flow->slot);
	if (!err) {
		g->rules[flow->slot] = NULL;
		g->used--;
		crnic_flow_group_down(flows, g);
		crnic_flow_table_down(flows);
	}
	mutex_unlock(&flows->lock);
	if (err)
		return err;
	kfree(flow);
	return 0;
}

/**
 * crnic_ib_destroy_flow - take a rule out of force
 * @ibflow: rule, however it was made
 *
 * Return: 0, or errno with the rule still in force.
 */
int crnic_ib_destroy_flow(struct ib_flow *ibflow)
{
	struct crnic_ib_flow *flow = container_of(ibflow, struct crnic_ib_flow, ibflow);
	atomic_t *users = flow->matcher_users;
	int err;

	err = crnic_flow_del(to_cib(ibflow->device)->flows, flow);
	if (!err && users)
		atomic_dec(users);
	return err;
}

/**
 * crnic_flows_create - no rules yet
 * @dev: device
 *
 * Return: room for rules, or NULL.
 */
struct crnic_ib_flows *crnic_flows_create(struct crnic_dev *dev)
{
	struct crnic_ib_flows *flows = kvzalloc(sizeof(*flows), GFP_KERNEL);

	if (!flows)
		return NULL;
	flows->dev = dev;
	mutex_init(&flows->lock);
	return flows;
}

/**
 * crnic_flows_destroy - undo crnic_flows_create()
 * @flows: room for rules; there are none
 */
void crnic_flows_destroy(struct crnic_ib_flows *flows)
{
	crnic_flow_table_down(flows);
	mutex_destroy(&flows->lock);
	kvfree(flows);
}
