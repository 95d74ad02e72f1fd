// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Doorbell records: a cache line each, and none left behind. */
#include <kunit/test.h>

#include "fake_fw.h"

#define LINE	64
#define MANY	300	/* more than any page holds */

static void records_share_no_cache_line(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	struct crnic_dbr *dbr = kunit_kcalloc(test, MANY, sizeof(*dbr), GFP_KERNEL);
	unsigned int i, j, near = 0;

	KUNIT_ASSERT_NOT_NULL(test, dbr);
	for (i = 0; i < MANY; i++) {
		KUNIT_ASSERT_EQ(test, crnic_dbr_alloc(dev, &dbr[i]), 0);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED(dbr[i].dma, LINE));
		for (j = 0; j < i; j++)
			near += abs_diff(dbr[i].dma, dbr[j].dma) < LINE;
	}
	KUNIT_EXPECT_EQ(test, near, 0);
	for (i = 0; i < MANY; i++)
		crnic_dbr_free(dev, &dbr[i]);
	KUNIT_EXPECT_TRUE(test, list_empty(&dev->dbr_pages));
}

static void full_page_is_used_again_after_a_free(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	unsigned int per_page = PAGE_SIZE / LINE, i;
	struct crnic_dbr *dbr = kunit_kcalloc(test, per_page, sizeof(*dbr), GFP_KERNEL);
	dma_addr_t hole;

	KUNIT_ASSERT_NOT_NULL(test, dbr);
	for (i = 0; i < per_page; i++)
		KUNIT_ASSERT_EQ(test, crnic_dbr_alloc(dev, &dbr[i]), 0);
	hole = dbr[7].dma;
	crnic_dbr_free(dev, &dbr[7]);
	KUNIT_ASSERT_EQ(test, crnic_dbr_alloc(dev, &dbr[7]), 0);
	KUNIT_EXPECT_EQ(test, dbr[7].dma, hole);
	for (i = 0; i < per_page; i++)
		crnic_dbr_free(dev, &dbr[i]);
	KUNIT_EXPECT_TRUE(test, list_empty(&dev->dbr_pages));
}

static void record_is_zero_each_time(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	struct crnic_dbr keep, dbr;

	KUNIT_ASSERT_EQ(test, crnic_dbr_alloc(dev, &keep), 0);
	KUNIT_ASSERT_EQ(test, crnic_dbr_alloc(dev, &dbr), 0);
	dbr.db[0] = cpu_to_be32(0xdead);
	dbr.db[1] = cpu_to_be32(0xbeef);
	crnic_dbr_free(dev, &dbr);
	KUNIT_ASSERT_EQ(test, crnic_dbr_alloc(dev, &dbr), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(dbr.db[0]), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(dbr.db[1]), 0);
	crnic_dbr_free(dev, &dbr);
	crnic_dbr_free(dev, &keep);
}

static void kernel_ring_is_listed_page_by_page(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	struct crnic_buf buf;
	struct crnic_pas pas;
	__be64 list[3];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, crnic_buf_alloc(dev, 2 * CRNIC_ADAPTER_PAGE_SIZE + 1, &buf), 0);
	pas = crnic_pas_of_buf(&buf);
	KUNIT_ASSERT_EQ(test, pas.npages, 3);
	KUNIT_EXPECT_EQ(test, crnic_pas_bytes(&pas), sizeof(list));
	crnic_pas_fill(&pas, list, 3);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, be64_to_cpu(list[i]),
				(buf.dma + i * CRNIC_ADAPTER_PAGE_SIZE) | 3);
	crnic_buf_free(dev, &buf);
}

static void ring_of_no_or_absurd_size_is_refused(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	struct crnic_buf buf;

	KUNIT_EXPECT_EQ(test, crnic_buf_alloc(dev, 0, &buf), -EINVAL);
	KUNIT_EXPECT_EQ(test, crnic_buf_alloc(dev, SIZE_MAX, &buf), -EINVAL);
}

static struct kunit_case dbr_cases[] = {
	KUNIT_CASE(records_share_no_cache_line),
	KUNIT_CASE(full_page_is_used_again_after_a_free),
	KUNIT_CASE(record_is_zero_each_time),
	KUNIT_CASE(kernel_ring_is_listed_page_by_page),
	KUNIT_CASE(ring_of_no_or_absurd_size_is_refused),
	{}
};

static struct kunit_suite dbr_suite = {
	.name = "crnic_core_dma",
	.test_cases = dbr_cases,
};

kunit_test_suite(dbr_suite);
