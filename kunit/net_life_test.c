// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The netdev's life: up, down, a device in error, netpoll. */
#include <kunit/test.h>
#include <linux/rtnetlink.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "net_fixture.h"

static void opens_and_closes_without_a_rest(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	int objects = f->fw->objects;

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	KUNIT_EXPECT_TRUE(test, crnic_net_is_open(f->net));
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(f->netdev));
	KUNIT_EXPECT_GT(test, f->fw->objects, objects);
	net_fixture_close(f);
	KUNIT_EXPECT_FALSE(test, netif_carrier_ok(f->netdev));
	KUNIT_EXPECT_EQ(test, f->fw->objects, objects);
}

static void device_in_error_has_no_carrier(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	crnic_dev_break(f->dev, "a test says so");
	net_fixture_settle(f);
	KUNIT_EXPECT_FALSE(test, netif_carrier_ok(f->netdev));
	KUNIT_EXPECT_FALSE(test, netif_device_present(f->netdev));
}

static void device_in_error_cannot_be_opened(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);

	crnic_dev_break(f->dev, "a test says so");
	net_fixture_settle(f);
	KUNIT_EXPECT_EQ(test, net_fixture_open(f), -ENODEV);
}

/* napi.rst: a budget of 0 is netpoll's, which may hold any lock: no page pool then */
static void netpoll_posts_no_receive_buffers(struct kunit *test)
{
	struct net_fixture *f = net_fixture_create(test);
	struct crnic_channel *ch;
	u16 pc;

	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	ch = f->net->channels[0];
	pc = ch->rx.pc;
	KUNIT_ASSERT_EQ(test, pc, BIT(f->net->log_rx));
	ch->rx.cc += BIT(f->net->log_rx) / 2;
	KUNIT_EXPECT_EQ(test, ch->napi.poll(&ch->napi, 0), 0);
	KUNIT_EXPECT_EQ(test, ch->rx.pc, pc);
	ch->rx.cc = 0;
}

static struct kunit_case net_life_cases[] = {
	KUNIT_CASE(opens_and_closes_without_a_rest),
	KUNIT_CASE(device_in_error_has_no_carrier),
	KUNIT_CASE(device_in_error_cannot_be_opened),
	KUNIT_CASE(netpoll_posts_no_receive_buffers),
	{}
};

static struct kunit_suite net_life_suite = {
	.name = "crnic_net_life",
	.test_cases = net_life_cases,
};

kunit_test_suite(net_life_suite);
