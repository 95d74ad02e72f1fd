// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Doorbell pages: what a process maps is its own, whatever a system page is. */
#include <kunit/test.h>
#include <linux/sizes.h>

#include <crnic/crnic.h>

/**
 * struct ib_uar_case - a doorbell page
 * @name: what is shown
 * @page_shift: log2 of a system page
 * @uar_4k: numbers count 4 KiB
 * @index: its number
 * @err: result
 * @offset: offset in a BAR of 1 MiB
 */
struct ib_uar_case {
	const char *name;
	u8 page_shift;
	bool uar_4k;
	u32 index;
	int err;
	u64 offset;
};

static const struct ib_uar_case ib_uar_cases[] = {
	{ "small_pages", 12, false, 9, 0, 0x9000 },
	{ "small_pages_in_units_of_4k", 12, true, 9, 0, 0x9000 },
	{ "last_page", 12, false, 255, 0, 0xff000 },
	{ "beyond_the_bar", 12, false, 256, -EPROTO, 0 },
	{ "initialization_segment", 12, false, 0, -EPROTO, 0 },
	{ "large_pages", 16, false, 3, 0, 0x30000 },
	{ "large_pages_in_units_of_4k", 16, true, 48, 0, 0x30000 },
	{ "last_large_page", 16, true, 240, 0, 0xf0000 },
	{ "large_page_beyond_the_bar", 16, false, 16, -EPROTO, 0 },
	{ "large_page_of_the_initialization_segment", 16, false, 0, -EPROTO, 0 },
	/* what one process gets if pages are given out one by one */
	{ "beside_the_initialization_segment", 16, true, 9, -EPROTO, 0 },
	{ "beside_another_process", 16, true, 49, -EPROTO, 0 },
	{ "largest_number", 16, false, U32_MAX, -EPROTO, 0 },
};

KUNIT_ARRAY_PARAM_DESC(ib_uar, ib_uar_cases, name);

static void finds_pages_that_hold_nothing_else(struct kunit *test)
{
	const struct ib_uar_case *c = test->param_value;
	const struct crnic_uar_place at = {
		.page_shift = c->page_shift, .uar_4k = c->uar_4k, .bar_len = SZ_1M,
	};
	u64 offset;

	KUNIT_ASSERT_EQ(test, crnic_uar_place(&at, c->index, &offset), c->err);
	if (!c->err)
		KUNIT_EXPECT_EQ(test, offset, c->offset);
}

static struct kunit_case ib_uar_test_cases[] = {
	KUNIT_CASE_PARAM(finds_pages_that_hold_nothing_else, ib_uar_gen_params),
	{}
};

static struct kunit_suite ib_uar_suite = {
	.name = "crnic_ib_uar",
	.test_cases = ib_uar_test_cases,
};

kunit_test_suite(ib_uar_suite);

MODULE_LICENSE("Dual BSD/GPL");
