// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Doorbell records: a cache line each, and none left behind. */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
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

/* A host whose memory is in pieces */
static int no_linear(struct crnic_dev *dev, struct crnic_buf *buf)
{
	return -ENOMEM;
}

#define FRAGS	5

/* Pages are made up here, so that their bus addresses have gaps; the nth is missing */
struct scatter {
	unsigned int got;
	unsigned int put;
	unsigned int fail_nth;
};

static struct page *scatter_get(struct crnic_dev *dev, dma_addr_t *dma)
{
	struct scatter *s = kunit_get_current_test()->priv;

	if (s->got + 1 == s->fail_nth)
		return NULL;
	*dma = (dma_addr_t)(100 - 2 * s->got++) << PAGE_SHIFT;
	return alloc_page(GFP_KERNEL | __GFP_ZERO);
}

static void scatter_put(struct crnic_dev *dev, struct page *page, dma_addr_t dma)
{
	struct scatter *s = kunit_get_current_test()->priv;

	s->put++;
	__free_page(page);
}

static void scatter_setup(struct kunit *test, struct scatter *s)
{
	test->priv = s;
	kunit_activate_static_stub(test, crnic_buf_alloc_linear, no_linear);
	kunit_activate_static_stub(test, crnic_buf_page_get, scatter_get);
	kunit_activate_static_stub(test, crnic_buf_page_put, scatter_put);
}

static void ring_in_pieces_is_one_for_the_cpu_and_a_list_for_the_device(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	unsigned int per_page = PAGE_SIZE / CRNIC_ADAPTER_PAGE_SIZE, i;
	__be64 *list = kunit_kcalloc(test, FRAGS * per_page, sizeof(*list), GFP_KERNEL);
	struct crnic_buf buf;
	struct crnic_pas pas;
	struct scatter s = {};
	struct page *page;

	KUNIT_ASSERT_NOT_NULL(test, list);
	scatter_setup(test, &s);
	KUNIT_ASSERT_EQ(test, crnic_buf_alloc(dev, FRAGS * PAGE_SIZE, &buf), 0);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(buf.addr, 0, FRAGS * PAGE_SIZE), NULL);
	memset(buf.addr, 0xa5, FRAGS * PAGE_SIZE);
	for (i = 0; i < FRAGS; i++) {
		page = vmalloc_to_page(buf.addr + i * PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, *(u8 *)page_address(page), 0xa5);
	}

	pas = crnic_pas_of_buf(&buf);
	KUNIT_ASSERT_EQ(test, pas.npages, FRAGS * per_page);
	crnic_pas_fill(&pas, list, 0);
	for (i = 0; i < pas.npages; i++)
		KUNIT_EXPECT_EQ(test, be64_to_cpu(list[i]),
				((u64)(100 - 2 * (i / per_page)) << PAGE_SHIFT) +
				i % per_page * CRNIC_ADAPTER_PAGE_SIZE);
	/* a part that starts in the middle */
	pas = crnic_pas_of_subbuf(&buf, 2 * PAGE_SIZE, 1);
	KUNIT_ASSERT_EQ(test, pas.npages, 1);
	crnic_pas_fill(&pas, list, 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(list[0]), 96ULL << PAGE_SHIFT);

	crnic_buf_free(dev, &buf);
	KUNIT_EXPECT_EQ(test, s.put, FRAGS);
}

static void ring_in_pieces_whose_memory_ends_leaves_nothing(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	struct crnic_buf buf;
	unsigned int nth;

	for (nth = 1; nth <= FRAGS; nth++) {
		struct scatter s = { .fail_nth = nth };

		scatter_setup(test, &s);
		KUNIT_EXPECT_EQ(test, crnic_buf_alloc(dev, FRAGS * PAGE_SIZE, &buf), -ENOMEM);
		KUNIT_EXPECT_EQ(test, s.got, nth - 1);
		KUNIT_EXPECT_EQ(test, s.put, nth - 1);
		KUNIT_EXPECT_PTR_EQ(test, buf.frags, NULL);
		kunit_deactivate_static_stub(test, crnic_buf_alloc_linear);
		kunit_deactivate_static_stub(test, crnic_buf_page_get);
		kunit_deactivate_static_stub(test, crnic_buf_page_put);
	}
}

static void fragmented_host_gets_its_ring(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	struct crnic_buf buf;

	kunit_activate_static_stub(test, crnic_buf_alloc_linear, no_linear);
	KUNIT_ASSERT_EQ(test, crnic_buf_alloc(dev, 64 * PAGE_SIZE, &buf), 0);
	memset(buf.addr, 1, 64 * PAGE_SIZE);
	crnic_buf_free(dev, &buf);
	KUNIT_EXPECT_PTR_EQ(test, buf.addr, NULL);
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
	KUNIT_CASE(ring_in_pieces_is_one_for_the_cpu_and_a_list_for_the_device),
	KUNIT_CASE(ring_in_pieces_whose_memory_ends_leaves_nothing),
	KUNIT_CASE(fragmented_host_gets_its_ring),
	{}
};

static struct kunit_suite dbr_suite = {
	.name = "crnic_core_dma",
	.test_cases = dbr_cases,
};

kunit_test_suite(dbr_suite);
