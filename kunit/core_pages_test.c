// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Firmware pages: what the device holds is always known. */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/dma-mapping.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "fake_fw.h"

static struct fake_fw *pages_setup(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_create(test);

	KUNIT_ASSERT_EQ(test, crnic_pages_create(fw->dev), 0);
	return fw;
}

static void counts_what_it_gives_and_takes(struct kunit *test)
{
	struct fake_fw *fw = pages_setup(test);

	KUNIT_EXPECT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_BOOT), 0);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), FAKE_BOOT_PAGES);
	KUNIT_EXPECT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_INIT), 0);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), FAKE_BOOT_PAGES + FAKE_INIT_PAGES);
	KUNIT_EXPECT_EQ(test, crnic_pages_reclaim_all(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, fw->num_pages, 0);
	crnic_pages_destroy(fw->dev);
}

static void gives_each_page_once(struct kunit *test)
{
	struct fake_fw *fw = pages_setup(test);
	unsigned int i, j, same = 0;

	KUNIT_ASSERT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_INIT), 0);
	for (i = 0; i < fw->num_pages; i++) {
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED(fw->pages[i], CRNIC_ADAPTER_PAGE_SIZE));
		for (j = 0; j < i; j++)
			same += fw->pages[i] == fw->pages[j];
	}
	KUNIT_EXPECT_EQ(test, same, 0);
	crnic_pages_reclaim_all(fw->dev);
	crnic_pages_destroy(fw->dev);
}

static void refused_pages_are_freed(struct kunit *test)
{
	struct fake_fw *fw = pages_setup(test);

	/* QUERY_PAGES, the first batch, and then the second one is refused */
	fw->fail_nth = 3;
	fw->fail_status = MLX5_CMD_STAT_LIM_ERR;
	KUNIT_EXPECT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_INIT), -ENOMEM);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), fw->num_pages);
	KUNIT_EXPECT_LT(test, fw->num_pages, FAKE_INIT_PAGES);
	KUNIT_EXPECT_EQ(test, crnic_pages_reclaim_all(fw->dev), 0);
	crnic_pages_destroy(fw->dev);
}

/* The firmware forgets what it holds, returns one wrong address, and refuses after that */
static void expect_not_freed(struct kunit *test, struct fake_fw *fw, u64 addr)
{
	fw->num_pages = 0;
	fw->lie_addr = addr;
	fw->fail_nth = fw->num_cmds + 2;
	fw->fail_status = MLX5_CMD_STAT_INT_ERR;
	KUNIT_EXPECT_EQ(test, crnic_pages_reclaim_all(fw->dev), -EIO);
	KUNIT_EXPECT_EQ(test, fw->lie_addr, 0);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), FAKE_BOOT_PAGES);
}

static void page_that_was_never_given_is_not_freed(struct kunit *test)
{
	struct fake_fw *fw = pages_setup(test);

	KUNIT_ASSERT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_BOOT), 0);
	expect_not_freed(test, fw, 0x1234567000ULL);
	crnic_pages_destroy(fw->dev);
}

static void page_off_its_start_is_not_freed(struct kunit *test)
{
	struct fake_fw *fw = pages_setup(test);

	KUNIT_ASSERT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_BOOT), 0);
	expect_not_freed(test, fw, fw->pages[0] + 8);
	crnic_pages_destroy(fw->dev);
}

static void more_than_was_asked_for_is_refused(struct kunit *test)
{
	struct fake_fw *fw = pages_setup(test);

	KUNIT_ASSERT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_BOOT), 0);
	fw->lie_count = 1;
	KUNIT_EXPECT_EQ(test, crnic_pages_reclaim_all(fw->dev), -EPROTO);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), FAKE_BOOT_PAGES);
	crnic_pages_destroy(fw->dev);
}

static void dead_device_is_not_asked(struct kunit *test)
{
	struct fake_fw *fw = pages_setup(test);
	unsigned int cmds;

	KUNIT_ASSERT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_BOOT), 0);
	cmds = fw->num_cmds;
	fw->dev->broken = true;
	KUNIT_EXPECT_EQ(test, crnic_pages_reclaim_all(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, fw->num_cmds, cmds);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), FAKE_BOOT_PAGES);
	crnic_pages_destroy(fw->dev);
}

/* An IOMMU that starts at the bottom */
static dma_addr_t map_from_zero(struct crnic_dev *dev, struct page *page)
{
	struct fake_fw *fw = kunit_get_current_test()->priv;

	return (dma_addr_t)fw->next_dma++ << PAGE_SHIFT;
}

static void address_zero_is_no_page(struct kunit *test)
{
	struct fake_fw *fw = pages_setup(test);
	unsigned int i;

	kunit_activate_static_stub(test, crnic_page_dma_map, map_from_zero);
	KUNIT_EXPECT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_BOOT), 0);
	KUNIT_EXPECT_EQ(test, fw->num_pages, FAKE_BOOT_PAGES);
	for (i = 0; i < fw->num_pages; i++)
		KUNIT_EXPECT_NE(test, fw->pages[i], 0);
	KUNIT_EXPECT_EQ(test, crnic_pages_reclaim_all(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), 0);
	crnic_pages_destroy(fw->dev);
}

static void page_comes_back_once(struct kunit *test)
{
	struct fake_fw *fw = pages_setup(test);
	u64 first;

	KUNIT_ASSERT_EQ(test, crnic_pages_satisfy(fw->dev, CRNIC_PAGES_BOOT), 0);
	first = fw->pages[0];
	/* it gives back one twice, and the others */
	fw->lie_addr = first;
	KUNIT_EXPECT_EQ(test, crnic_pages_reclaim_all(fw->dev), 0);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), 0);
	crnic_pages_destroy(fw->dev);
}

static struct kunit_case pages_cases[] = {
	KUNIT_CASE(counts_what_it_gives_and_takes),
	KUNIT_CASE(gives_each_page_once),
	KUNIT_CASE(refused_pages_are_freed),
	KUNIT_CASE(page_that_was_never_given_is_not_freed),
	KUNIT_CASE(page_off_its_start_is_not_freed),
	KUNIT_CASE(more_than_was_asked_for_is_refused),
	KUNIT_CASE(dead_device_is_not_asked),
	KUNIT_CASE(address_zero_is_no_page),
	KUNIT_CASE(page_comes_back_once),
	{}
};

static struct kunit_suite pages_suite = {
	.name = "crnic_core_pages",
	.test_cases = pages_cases,
};

kunit_test_suite(pages_suite);
