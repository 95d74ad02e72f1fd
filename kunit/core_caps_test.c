// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Capabilities: what the driver puts in force. */
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "fake_fw.h"

#define IN_FORCE(fw, field)	MLX5_GET(cmd_hca_cap, (fw)->set_cap, field)

static void what_is_not_understood_stays(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_create(test);

	KUNIT_ASSERT_EQ(test, crnic_caps_negotiate(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, IN_FORCE(fw, port_type), MLX5_CAP_PORT_TYPE_ETH);
	KUNIT_EXPECT_EQ(test, IN_FORCE(fw, num_ports), 1);
	KUNIT_EXPECT_EQ(test, IN_FORCE(fw, log_max_cq), 14);
}

static void signatures_and_pkeys_are_not_wanted(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_create(test);

	KUNIT_ASSERT_EQ(test, crnic_caps_negotiate(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, IN_FORCE(fw, cmdif_checksum), 0);
	KUNIT_EXPECT_EQ(test, IN_FORCE(fw, pkey_table_size), 0);
}

static void doorbell_page_fills_a_page_of_the_kernel(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_create(test);

	KUNIT_ASSERT_EQ(test, crnic_caps_negotiate(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, 1UL << (12 + IN_FORCE(fw, log_uar_page_sz)), PAGE_SIZE);
}

/* Queue pairs that a device has, and what is asked for */
struct qps_case {
	const char *name;
	u8 has;
	u8 want;
};

static const struct qps_case qps_cases[] = {
	{ "few_are_all_taken", 5, 5 },
	{ "the_limit_is_taken", 18, 18 },
	{ "more_are_left", 24, 18 },
};

KUNIT_ARRAY_PARAM_DESC(qps, qps_cases, name);

static void queue_pairs_are_bounded(struct kunit *test)
{
	const struct qps_case *c = test->param_value;
	struct fake_fw *fw = fake_fw_create(test);

	fw->log_max_qp = c->has;
	KUNIT_ASSERT_EQ(test, crnic_caps_negotiate(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, IN_FORCE(fw, log_max_qp), c->want);
}

static void roce_is_what_its_owner_wants(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_create(test);

	KUNIT_ASSERT_EQ(test, crnic_caps_negotiate(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, IN_FORCE(fw, roce), 1);
	fw->dev->cfg.roce = false;
	KUNIT_ASSERT_EQ(test, crnic_caps_negotiate(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, IN_FORCE(fw, roce), 0);
	KUNIT_EXPECT_TRUE(test, fw->dev->has_roce);
	/* firmware that cannot be told is not told */
	fw->roce_is_fixed = true;
	KUNIT_ASSERT_EQ(test, crnic_caps_negotiate(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, IN_FORCE(fw, roce), 1);
}

static struct kunit_case caps_cases[] = {
	KUNIT_CASE(what_is_not_understood_stays),
	KUNIT_CASE(signatures_and_pkeys_are_not_wanted),
	KUNIT_CASE(doorbell_page_fills_a_page_of_the_kernel),
	KUNIT_CASE_PARAM(queue_pairs_are_bounded, qps_gen_params),
	KUNIT_CASE(roce_is_what_its_owner_wants),
	{}
};

static struct kunit_suite caps_suite = {
	.name = "crnic_core_caps",
	.test_cases = caps_cases,
};

kunit_test_suite(caps_suite);
