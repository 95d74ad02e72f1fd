// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Recovery: how often a device is started anew. */
#include <kunit/test.h>
#include <linux/jiffies.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"

#define WINDOW	(600 * HZ)

static void three_times_in_ten_minutes(struct kunit *test)
{
	struct crnic_recovery r = {};
	unsigned long now = INITIAL_JIFFIES;
	unsigned int i;

	for (i = 0; i < 3; i++, now += HZ)
		KUNIT_EXPECT_TRUE(test, crnic_recover_try(&r, now));
	KUNIT_EXPECT_FALSE(test, crnic_recover_try(&r, now));
	KUNIT_EXPECT_FALSE(test, crnic_recover_try(&r, INITIAL_JIFFIES + WINDOW));
}

static void time_heals(struct kunit *test)
{
	struct crnic_recovery r = {};
	unsigned long now = INITIAL_JIFFIES;
	unsigned int i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, crnic_recover_try(&r, now));
	now += WINDOW + 1;
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, crnic_recover_try(&r, now));
	KUNIT_EXPECT_FALSE(test, crnic_recover_try(&r, now));
}

static void one_a_day_never_ends(struct kunit *test)
{
	struct crnic_recovery r = {};
	unsigned long now = INITIAL_JIFFIES;
	unsigned int i;

	for (i = 0; i < 10; i++, now += 24 * 3600 * HZ)
		KUNIT_EXPECT_TRUE(test, crnic_recover_try(&r, now));
}

static struct kunit_case recover_cases[] = {
	KUNIT_CASE(three_times_in_ten_minutes),
	KUNIT_CASE(time_heals),
	KUNIT_CASE(one_a_day_never_ends),
	{}
};

static struct kunit_suite recover_suite = {
	.name = "crnic_core_recover",
	.test_cases = recover_cases,
};

kunit_test_suite(recover_suite);
