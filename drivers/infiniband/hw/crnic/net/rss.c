// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive side scaling: the RQ table and a TIR per traffic type. */
#include <crnic/obj/rqt.h>
#include <crnic/obj/tir.h>

#include "net.h"

#define CRNIC_HASH_L3	(CRNIC_TIR_HASH_SRC_IP | CRNIC_TIR_HASH_DST_IP)
#define CRNIC_HASH_L4	(CRNIC_HASH_L3 | CRNIC_TIR_HASH_L4_SPORT | CRNIC_TIR_HASH_L4_DPORT)

/* What each traffic type is hashed over; a type without fields goes to entry 0 */
static const struct crnic_tt_hash {
	u32 fields;
	bool ipv6;
	bool udp;
} crnic_tt_hashes[CRNIC_TT_NUM] = {
	[CRNIC_TT_IPV4_TCP] = { .fields = CRNIC_HASH_L4 },
	[CRNIC_TT_IPV6_TCP] = { .fields = CRNIC_HASH_L4, .ipv6 = true },
	[CRNIC_TT_IPV4_UDP] = { .fields = CRNIC_HASH_L4, .udp = true },
	[CRNIC_TT_IPV6_UDP] = { .fields = CRNIC_HASH_L4, .ipv6 = true, .udp = true },
	[CRNIC_TT_IPV4]     = { .fields = CRNIC_HASH_L3 },
	[CRNIC_TT_IPV6]     = { .fields = CRNIC_HASH_L3, .ipv6 = true },
	[CRNIC_TT_ANY]      = { .fields = CRNIC_HASH_L3 },
};

static int crnic_tir_open(struct crnic_net *net, enum crnic_traffic_type tt)
{
	const struct crnic_tt_hash *h = &crnic_tt_hashes[tt];
	struct crnic_tir_params p = {
		.tdn = net->dev->tdn,
		.rqtn = net->rqtn,
		.indirect = true,
		.hash_fields = h->fields,
		.ipv6 = h->ipv6,
		.udp = h->udp,
	};

	memcpy(p.key, net->rss_key, sizeof(p.key));
	return crnic_tir_create(net->dev, &p, &net->tirn[tt]);
}

/* Point the RQ table at the channels' RQs, or at the drop RQ */
static int crnic_rqt_point(struct crnic_net *net, bool live)
{
	u32 *rqns;
	unsigned int i;
	int err;

	rqns = kcalloc(CRNIC_NET_RSS_ENTRIES, sizeof(*rqns), GFP_KERNEL);
	if (!rqns)
		return -ENOMEM;
	for (i = 0; i < CRNIC_NET_RSS_ENTRIES; i++)
		rqns[i] = live ? net->channels[net->rss_table[i]]->rx.rqn : net->drop_rqn;
	err = crnic_rqt_modify(net->dev, net->rqtn, rqns, CRNIC_NET_RSS_ENTRIES);
	kfree(rqns);
	return err;
}

/** crnic_rss_init - what is in force until somebody sets another key or table */
void crnic_rss_init(struct crnic_net *net)
{
	netdev_rss_key_fill(net->rss_key, sizeof(net->rss_key));
	crnic_rss_default_table(net);
}

/** crnic_rss_default_table - spread the RQ table evenly over the channels */
void crnic_rss_default_table(struct crnic_net *net)
{
	unsigned int i;

	for (i = 0; i < CRNIC_NET_RSS_ENTRIES; i++)
		net->rss_table[i] = i % net->num_channels;
}

static int crnic_rqt_open(struct crnic_net *net)
{
	u32 *rqns;
	unsigned int i;
	int err;

	rqns = kcalloc(CRNIC_NET_RSS_ENTRIES, sizeof(*rqns), GFP_KERNEL);
	if (!rqns)
		return -ENOMEM;
	for (i = 0; i < CRNIC_NET_RSS_ENTRIES; i++)
		rqns[i] = net->drop_rqn;
	err = crnic_rqt_create(net->dev, rqns, CRNIC_NET_RSS_ENTRIES, &net->rqtn);
	kfree(rqns);
	return err;
}

/**
 * crnic_rss_create - make the RQ table and the TIRs, all leading to the drop RQ
 * @net: netdev
 *
 * Context: process.
 *
 * Return: 0 or a negative errno, with nothing left behind.
 */
int crnic_rss_create(struct crnic_net *net)
{
	int err, tt;

	err = crnic_rqt_open(net);
	if (err)
		return err;
	for (tt = 0; tt < CRNIC_TT_NUM; tt++) {
		err = crnic_tir_open(net, tt);
		if (err)
			goto destroy;
	}
	return 0;

destroy:
	while (tt--)
		crnic_tir_destroy(net->dev, net->tirn[tt]);
	crnic_rqt_destroy(net->dev, net->rqtn);
	return err;
}

/** crnic_rss_destroy - undo crnic_rss_create() */
void crnic_rss_destroy(struct crnic_net *net)
{
	int tt;

	for (tt = CRNIC_TT_NUM - 1; tt >= 0; tt--)
		crnic_tir_destroy(net->dev, net->tirn[tt]);
	crnic_rqt_destroy(net->dev, net->rqtn);
}

/** crnic_rss_activate - let packets into the channels' RQs */
int crnic_rss_activate(struct crnic_net *net)
{
	return crnic_rqt_point(net, true);
}

/** crnic_rss_deactivate - keep packets out of the channels' RQs */
int crnic_rss_deactivate(struct crnic_net *net)
{
	return crnic_rqt_point(net, false);
}
