// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Page sizes of regions and rings: the largest that fits, and far ends. */
#include <kunit/test.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"

#define MAX_RUNS	4

/**
 * struct ib_run - contiguous memory
 * @dma: bus address
 * @len: bytes
 */
struct ib_run {
	u64 dma;
	u32 len;
};

/**
 * struct ib_region_case - a region to be
 * @name: what is shown
 * @runs: its memory
 * @addr: the user's address, low bits as the first run's
 * @iova: address in work requests
 * @len: bytes
 * @err: result
 * @shift: page size
 * @npages: number of pages
 */
struct ib_region_case {
	const char *name;
	struct ib_run runs[MAX_RUNS];
	u64 addr;
	u64 iova;
	u64 len;
	int err;
	u8 shift;
	u32 npages;
};

static const struct ib_region_case ib_region_cases[] = {
	{ "one_page", { { 0x5000, SZ_4K } }, 0x10000, 0x10000, SZ_4K, 0, 12, 1 },
	{ "scattered_pages", { { 0x5000, SZ_4K }, { 0x9000, SZ_4K } },
	  0x10000, 0x10000, SZ_8K, 0, 12, 2 },
	{ "huge_page", { { 0x40000000, SZ_2M } }, 0x7f0000200000, 0x7f0000200000, SZ_2M,
	  0, 21, 1 },
	{ "two_huge_pages_apart", { { 0x40000000, SZ_2M }, { 0x50000000, SZ_2M } },
	  0x7f0000200000, 0x7f0000200000, SZ_4M, 0, 21, 2 },
	{ "small_page_spoils_huge_ones", { { 0x40000000, SZ_2M }, { 0x50001000, SZ_4K } },
	  0x7f0000200000, 0x7f0000200000, SZ_2M + SZ_4K, 0, 12, 513 },
	{ "address_out_of_step_with_memory", { { 0x40000000, SZ_2M } },
	  0x7f0000201000, 0x7f0000201000, SZ_1M, 0, 12, 256 },
	/* 4 GiB of 1 GiB pages: counts and sizes beyond 32 bits */
	{ "four_gigabytes", { { 0x100000000, SZ_1G }, { 0x180000000, SZ_1G },
			      { 0x200000000, SZ_1G }, { 0x280000000, SZ_1G } },
	  0x7f0000000000, 0x7f0000000000, 4ULL * SZ_1G, 0, 30, 4 },
	{ "unaligned_start_and_length", { { 0x5000, SZ_4K }, { 0x6000, SZ_4K } },
	  0x10123, 0x123, 0x1000, 0, 12, 2 },
	/* no page begins where both do */
	{ "rejects_an_offset_unlike_the_memorys", { { 0x5000, SZ_4K } },
	  0x10100, 0x10200, 0x100, -EINVAL, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(ib_region, ib_region_cases, name);

static struct ib_umem *umem_of(struct kunit *test, const struct ib_region_case *c)
{
	struct ib_umem *umem = kunit_kzalloc(test, sizeof(*umem), GFP_KERNEL);
	struct scatterlist *sg = kunit_kcalloc(test, MAX_RUNS, sizeof(*sg), GFP_KERNEL);
	int n = 0;

	KUNIT_ASSERT_NOT_NULL(test, umem);
	KUNIT_ASSERT_NOT_NULL(test, sg);
	while (n < MAX_RUNS && c->runs[n].len)
		n++;
	sg_init_table(sg, n);
	umem->sgt_append.sgt = (struct sg_table) { .sgl = sg, .nents = n, .orig_nents = n };
	umem->address = c->addr;
	umem->iova = c->iova;
	umem->length = c->len;
	for (n = 0; sg; sg = sg_next(sg), n++) {
		sg_dma_address(sg) = c->runs[n].dma;
		sg_dma_len(sg) = c->runs[n].len;
		sg->length = c->runs[n].len;
	}
	return umem;
}

static void uses_the_largest_page_that_fits(struct kunit *test)
{
	const struct ib_region_case *c = test->param_value;
	struct crnic_pas pas = {};
	struct ib_umem *umem = umem_of(test, c);

	KUNIT_ASSERT_EQ(test, crnic_pas_of_region(NULL, umem, c->iova, &pas), c->err);
	KUNIT_EXPECT_EQ(test, pas.page_shift, c->shift);
	KUNIT_EXPECT_EQ(test, pas.npages, c->npages);
}

static void case_46_lists_the_far_end(struct kunit *test)
{
	const struct ib_region_case *c = &ib_region_cases[6];
	struct ib_umem *umem = umem_of(test, c);
	struct crnic_pas pas = {};
	__be64 list[4];

	KUNIT_ASSERT_EQ(test, crnic_pas_of_region(NULL, umem, c->iova, &pas), 0);
	KUNIT_ASSERT_EQ(test, pas.npages, 4);
	crnic_pas_fill(&pas, list, 3);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(list[0]), 0x100000003);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(list[3]), 0x280000003);
}

/* It starts in the second half of a page of 8 KiB. */
static const struct ib_region_case ib_ring = {
	.runs = { { 0x5000, SZ_4K }, { 0x12000, SZ_8K }, { 0x20000, SZ_4K } },
	.addr = 0x7f0000201000,
	.len = SZ_16K,
};

/**
 * struct ib_offset_case - a field for that offset
 * @name: what is shown
 * @bits: its width
 * @shift: page size that is described
 * @units: offset in 64ths of such a page
 * @npages: number of such pages
 */
struct ib_offset_case {
	const char *name;
	u8 bits;
	u8 shift;
	u32 units;
	u32 npages;
};

static const struct ib_offset_case ib_offset_cases[] = {
	{ "of_a_qp", 6, 13, 32, 3 },
	{ "of_an_rq", 5, 12, 0, 4 },
};

KUNIT_ARRAY_PARAM_DESC(ib_offset, ib_offset_cases, name);

/* One that is cut off would name the memory before the ring. */
static void ring_offset_fits_its_field(struct kunit *test)
{
	const struct ib_offset_case *c = test->param_value;
	struct ib_umem *umem = umem_of(test, &ib_ring);
	struct crnic_pas pas = {};

	KUNIT_ASSERT_EQ(test, crnic_pas_of_ring(umem, c->bits, &pas), 0);
	KUNIT_EXPECT_EQ(test, pas.page_shift, c->shift);
	KUNIT_EXPECT_EQ(test, crnic_pas_offset_units(&pas), c->units);
	KUNIT_EXPECT_EQ(test, pas.npages, c->npages);
}

static struct kunit_case ib_page_size_cases[] = {
	KUNIT_CASE_PARAM(uses_the_largest_page_that_fits, ib_region_gen_params),
	KUNIT_CASE(case_46_lists_the_far_end),
	KUNIT_CASE_PARAM(ring_offset_fits_its_field, ib_offset_gen_params),
	{}
};

static struct kunit_suite ib_page_size_suite = {
	.name = "crnic_ib_page_size",
	.test_cases = ib_page_size_cases,
};

kunit_test_suite(ib_page_size_suite);

MODULE_LICENSE("Dual BSD/GPL");
