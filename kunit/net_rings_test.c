// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rings that the device refuses to make or to destroy, or that are in error. */
#include <kunit/test.h>
#include <linux/rtnetlink.h>

#include <crnic/wqe.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "net_fixture.h"

/* --- what the device may still reach is kept --- */

/**
 * struct keep_case - a command that is refused while the netdev is closed
 * @name: what is shown
 * @opcode: command
 * @tx: it is about the send ring
 */
struct keep_case {
	const char *name;
	u16 opcode;
	bool tx;
};

static const struct keep_case keep_cases[] = {
	{ "receive_queue_that_stays", MLX5_CMD_OP_DESTROY_RQ },
	{ "receive_queue_that_packets_are_led_to", MLX5_CMD_OP_MODIFY_RQT },
	{ "send_queue_that_stays", MLX5_CMD_OP_DESTROY_SQ, .tx = true },
	{ "completion_queue_that_stays", MLX5_CMD_OP_DESTROY_CQ },
};

KUNIT_ARRAY_PARAM_DESC(keep, keep_cases, name);

/* Does anybody get that doorbell record next, or one of its page? */
static bool dbr_is_free(struct kunit *test, struct crnic_dev *dev, dma_addr_t dma)
{
	struct crnic_dbr dbr[16];
	bool found = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dbr); i++) {
		KUNIT_ASSERT_EQ(test, crnic_dbr_alloc(dev, &dbr[i]), 0);
		found |= dbr[i].dma == dma;
	}
	while (i--)
		crnic_dbr_free(dev, &dbr[i]);
	return found;
}

static void keeps_memory_of(struct kunit *test)
{
	const struct keep_case *c = test->param_value;
	struct net_fixture *f = net_fixture_create(test);
	struct crnic_channel *ch;
	int objects = f->fw->objects;
	dma_addr_t dbr;

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	ch = f->net->channels[0];
	dbr = c->tx ? ch->tx.dbr.dma : ch->rx.dbr.dma;
	if (c->opcode == MLX5_CMD_OP_DESTROY_CQ)
		dbr = ch->rx.cq.dbr.dma;
	f->fw->refuse = c->opcode;
	f->fw->refusals = 1;
	net_fixture_close(f);
	KUNIT_EXPECT_EQ(test, f->fw->refusals, 0);
	KUNIT_EXPECT_FALSE(test, dbr_is_free(test, f->dev, dbr));
	KUNIT_EXPECT_GT(test, f->fw->objects, objects);
	KUNIT_EXPECT_EQ(test, net_fixture_open(f), 0);
}

/* --- a ring in error is made anew --- */

static void receive_queue_in_error_is_recovered(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	struct crnic_channel *ch;

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	ch = f->net->channels[0];
	net_fixture_cqe(&ch->rx.cq, 0, MLX5_CQE_RESP_ERR);
	net_fixture_cqe(&ch->rx.cq, 1, MLX5_CQE_RESP_ERR);
	net_fixture_poll(ch);
	net_fixture_settle(f);
	KUNIT_EXPECT_EQ(test, f->recoveries, 1);
	KUNIT_EXPECT_EQ(test, u64_stats_read(&ch->rx.stats->errors), 2);
}

static void send_queue_in_error_is_recovered(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	struct crnic_channel *ch;

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	ch = f->net->channels[0];
	net_fixture_cqe(&ch->tx.cq, 0, MLX5_CQE_REQ_ERR);
	net_fixture_poll(ch);
	net_fixture_settle(f);
	KUNIT_EXPECT_EQ(test, f->recoveries, 1);
}

static void queue_event_leads_to_recovery(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	struct mlx5_eqe eqe = { .type = MLX5_EVENT_TYPE_WQ_CATAS_ERROR };

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	eqe.data.qp_srq.type = MLX5_EVENT_QUEUE_TYPE_RQ;
	eqe.data.qp_srq.qp_srq_n = cpu_to_be32(f->net->channels[0]->rx.rqn);
	crnic_async_dispatch(f->dev, &eqe);
	net_fixture_settle(f);
	KUNIT_EXPECT_EQ(test, f->recoveries, 1);
	eqe.data.qp_srq.type = MLX5_EVENT_QUEUE_TYPE_SQ;
	eqe.data.qp_srq.qp_srq_n = cpu_to_be32(f->net->channels[0]->tx.sqn);
	crnic_async_dispatch(f->dev, &eqe);
	net_fixture_settle(f);
	KUNIT_EXPECT_EQ(test, f->recoveries, 2);
}

/* --- a new value, or the old one --- */

static int change_mtu(struct net_device *netdev)
{
	return netdev->netdev_ops->ndo_change_mtu(netdev, 1400);
}

static int change_vlan(struct net_device *netdev)
{
	return netdev->netdev_ops->ndo_set_features(netdev, netdev->features ^
						    NETIF_F_HW_VLAN_CTAG_RX);
}

static int change_rings(struct net_device *netdev)
{
	struct ethtool_ringparam p = { .rx_pending = 256, .tx_pending = 128 };

	return netdev->ethtool_ops->set_ringparam(netdev, &p, NULL, NULL);
}

static int change_channels(struct net_device *netdev)
{
	struct ethtool_channels c = { .combined_count = 2 };

	return netdev->ethtool_ops->set_channels(netdev, &c);
}

/**
 * struct change_case - something that is changed while the netdev is open
 * @name: what is shown
 * @change: does it
 */
struct change_case {
	const char *name;
	int (*change)(struct net_device *netdev);
};

static const struct change_case change_cases[] = {
	{ "mtu", change_mtu },
	{ "vlan_offload", change_vlan },
	{ "rings", change_rings },
	{ "channels", change_channels },
};

KUNIT_ARRAY_PARAM_DESC(change, change_cases, name);

/* All that can be changed, in one line */
static void settings_of(const struct net_fixture *f, char text[128])
{
	snprintf(text, 128, "mtu %u features %llx rings %u %u channels %u queues %u",
		 f->netdev->mtu, (u64)f->netdev->features, f->net->log_rx, f->net->log_tx,
		 f->net->num_channels, f->netdev->real_num_rx_queues);
}

static int change_it(struct net_fixture *f, const struct change_case *c)
{
	int err;

	rtnl_lock();
	err = c->change(f->netdev);
	rtnl_unlock();
	return err;
}

static void sets_a_new_value(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	char before[128], after[128];

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	settings_of(f, before);
	KUNIT_EXPECT_EQ(test, change_it(f, test->param_value), 0);
	settings_of(f, after);
	KUNIT_EXPECT_STRNEQ(test, before, after);
	KUNIT_EXPECT_TRUE(test, crnic_net_is_open(f->net));
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(f->netdev));
}

static void takes_the_old_value_back(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	char before[128], after[128];

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	settings_of(f, before);
	f->fw->refuse = MLX5_CMD_OP_CREATE_RQ;
	f->fw->refusals = 1;
	KUNIT_EXPECT_NE(test, change_it(f, test->param_value), 0);
	settings_of(f, after);
	KUNIT_EXPECT_STREQ(test, before, after);
	KUNIT_EXPECT_TRUE(test, crnic_net_is_open(f->net));
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(f->netdev));
}

/* Not even the old rings can be had: the netdev is closed, and can be opened again */
static void closes_without_rings(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	int objects = f->fw->objects;
	char before[128], after[128];

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	settings_of(f, before);
	f->fw->refuse = MLX5_CMD_OP_CREATE_RQ;
	f->fw->refusals = 2;
	KUNIT_EXPECT_NE(test, change_it(f, test->param_value), 0);
	settings_of(f, after);
	KUNIT_EXPECT_STREQ(test, before, after);
	KUNIT_EXPECT_FALSE(test, crnic_net_is_open(f->net));
	KUNIT_EXPECT_FALSE(test, netif_carrier_ok(f->netdev));
	net_fixture_close(f);
	KUNIT_EXPECT_EQ(test, f->fw->objects, objects);
	KUNIT_EXPECT_EQ(test, net_fixture_open(f), 0);
}

static struct kunit_case net_rings_cases[] = {
	KUNIT_CASE_PARAM(keeps_memory_of, keep_gen_params),
	KUNIT_CASE(receive_queue_in_error_is_recovered),
	KUNIT_CASE(send_queue_in_error_is_recovered),
	KUNIT_CASE(queue_event_leads_to_recovery),
	KUNIT_CASE_PARAM(sets_a_new_value, change_gen_params),
	KUNIT_CASE_PARAM(takes_the_old_value_back, change_gen_params),
	KUNIT_CASE_PARAM(closes_without_rings, change_gen_params),
	{}
};

static struct kunit_suite net_rings_suite = {
	.name = "crnic_net_rings",
	.test_cases = net_rings_cases,
};

kunit_test_suite(net_rings_suite);
