// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Keys of regions: what they allow, what leads to their pages, and only one at a time. */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"
#include "fake_fw.h"

#define KEY		0x1200
#define PDN		0x77
#define OTHER_PDN	0x78
#define START		0x10000
#define LIST_ALIGN	2048	/* mlx5_ib: MLX5_UMR_ALIGN */
#define OLD_RIGHTS	IB_ACCESS_LOCAL_WRITE
#define NEW_RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC)

/**
 * struct ib_mr_world - a region, and a device that cannot change atomic rights
 * @fw: firmware
 * @ib: verbs device
 * @pds: protection domain of the region, and another
 * @mr: the region
 * @umem: its memory
 * @sg: where that is
 * @cmds_at_revoke: commands that the device had seen when the key was revoked
 * @revoked: key that was revoked, or 0
 * @revived: key that was given its meaning back, or 0
 * @revived_pdn: with that protection domain
 * @revoke_err: what revoking says
 * @load_key: key that a list is brought to
 * @loaded: translations that came in order
 * @fail_at: the piece that ends there fails
 * @last_mtt: the last translation
 */
struct ib_mr_world {
	struct fake_fw *fw;
	struct crnic_ib ib;
	struct crnic_ib_pd pds[2];
	struct crnic_ib_mr mr;
	struct ib_umem umem;
	struct scatterlist sg;
	unsigned int cmds_at_revoke;
	u32 revoked;
	u32 revived;
	u32 revived_pdn;
	int revoke_err;
	u32 load_key;
	u32 loaded;
	u32 fail_at;
	u64 last_mtt;
};

static int ib_mr_revoke(struct crnic_ib *ib, u32 key)
{
	struct ib_mr_world *w = container_of(ib, struct ib_mr_world, ib);

	w->revoked = key;
	w->cmds_at_revoke = w->fw->num_cmds;
	return w->revoke_err;
}

static int ib_mr_revive(struct crnic_ib *ib, u32 key, u32 pdn)
{
	struct ib_mr_world *w = container_of(ib, struct ib_mr_world, ib);

	w->revived = key;
	w->revived_pdn = pdn;
	return 0;
}

static void ib_mr_fill(struct ib_mr_world *w)
{
	sg_init_table(&w->sg, 1);
	sg_dma_address(&w->sg) = 0x5000;
	sg_dma_len(&w->sg) = PAGE_SIZE;
	w->sg.length = PAGE_SIZE;
	w->umem = (struct ib_umem) {
		.sgt_append.sgt = { .sgl = &w->sg, .nents = 1, .orig_nents = 1 },
		.address = START, .iova = START, .length = PAGE_SIZE, .writable = 1,
	};
	w->mr.umem = &w->umem;
	w->mr.access = OLD_RIGHTS;
	w->mr.ibmr.device = &w->ib.ibdev;
	w->mr.ibmr.pd = &w->pds[0].ibpd;
	w->mr.ibmr.lkey = KEY;
	w->mr.ibmr.iova = START;
}

static struct ib_mr_world *ib_mr_world(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct ib_mr_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->fw = fw;
	w->ib.dev = fw->dev;
	w->pds[0].pdn = PDN;
	w->pds[1].pdn = OTHER_PDN;
	w->pds[0].ibpd.device = &w->ib.ibdev;
	w->pds[1].ibpd.device = &w->ib.ibdev;
	MLX5_SET(cmd_hca_cap, fw->dev->caps->cur[CRNIC_CAPS_GENERAL],
		 umr_modify_atomic_disabled, 1);
	ib_mr_fill(w);
	kunit_activate_static_stub(test, crnic_umr_revoke, ib_mr_revoke);
	kunit_activate_static_stub(test, crnic_umr_revive, ib_mr_revive);
	return w;
}

static struct ib_mr *ib_mr_rereg(struct ib_mr_world *w)
{
	return crnic_ib_rereg_user_mr(&w->mr.ibmr, IB_MR_REREG_ACCESS | IB_MR_REREG_PD, 0, 0, 0,
				      NEW_RIGHTS, &w->pds[1].ibpd, NULL);
}

static void old_key_is_revoked_before_there_is_a_new_one(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);
	struct ib_mr *new = ib_mr_rereg(w);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR_OR_NULL(new), "%pe", new);
	KUNIT_EXPECT_EQ(test, w->revoked, KEY);
	KUNIT_EXPECT_EQ(test, w->cmds_at_revoke, 0);
	KUNIT_EXPECT_EQ(test, w->fw->last_opcode, MLX5_CMD_OP_CREATE_MKEY);
	KUNIT_EXPECT_PTR_EQ(test, to_cmr(new)->umem, &w->umem);
	KUNIT_EXPECT_NULL(test, w->mr.umem);
	KUNIT_EXPECT_EQ(test, w->revived, 0);
	kfree(to_cmr(new));
}

static void old_key_that_stays_means_no_new_one(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);

	w->revoke_err = -EIO;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mr_rereg(w)), -EIO);
	KUNIT_EXPECT_EQ(test, w->fw->num_cmds, 0);
	KUNIT_EXPECT_PTR_EQ(test, w->mr.umem, &w->umem);
}

static void old_key_serves_again_if_there_is_no_new_one(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);

	w->fw->fail_nth = 1;
	w->fw->fail_status = MLX5_CMD_STAT_LIM_ERR;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mr_rereg(w)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, w->revived, KEY);
	KUNIT_EXPECT_EQ(test, w->revived_pdn, PDN);
	KUNIT_EXPECT_PTR_EQ(test, w->mr.umem, &w->umem);
	KUNIT_EXPECT_EQ(test, w->mr.access, OLD_RIGHTS);
}

/* the bit of a key that CREATE_MKEY brought */
#define CREATED(fw, field)						\
	MLX5_GET(mkc, MLX5_ADDR_OF(create_mkey_in, (fw)->last_in,	\
				   memory_key_mkey_entry), field)

static struct ib_mr *ib_mr_dma(struct kunit *test, struct ib_mr_world *w, int access)
{
	struct ib_mr *ibmr = crnic_ib_get_dma_mr(&w->pds[0].ibpd, access);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(ibmr), "%pe", ibmr);
	return ibmr;
}

static void key_is_relaxed_if_asked_for_and_possible(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);
	__be32 *cap = w->fw->dev->caps->cur[CRNIC_CAPS_GENERAL];

	kfree(to_cmr(ib_mr_dma(test, w, IB_ACCESS_RELAXED_ORDERING)));
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, relaxed_ordering_write), 0);
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, relaxed_ordering_read), 0);

	MLX5_SET(cmd_hca_cap, cap, relaxed_ordering_write, 1);
	kfree(to_cmr(ib_mr_dma(test, w, IB_ACCESS_RELAXED_ORDERING)));
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, relaxed_ordering_write), 1);
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, relaxed_ordering_read), 0);

	MLX5_SET(cmd_hca_cap, cap, relaxed_ordering_read, 1);
	kfree(to_cmr(ib_mr_dma(test, w, IB_ACCESS_RELAXED_ORDERING | IB_ACCESS_LOCAL_WRITE)));
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, relaxed_ordering_read), 1);
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, lw), 1);

	kfree(to_cmr(ib_mr_dma(test, w, IB_ACCESS_LOCAL_WRITE)));
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, relaxed_ordering_write), 0);
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, relaxed_ordering_read), 0);
}

/**
 * struct ib_change_case - rights that a region gets
 * @name: what is shown
 * @write: relaxed_ordering_write
 * @write_umr: relaxed_ordering_write_umr
 * @read: relaxed_ordering_read
 * @read_umr: relaxed_ordering_read_umr
 * @fixed_atomic: umr_modify_atomic_disabled
 * @changed: mask of enum crnic_mkey_access
 * @can: a work request can do it
 */
struct ib_change_case {
	const char *name;
	bool write, write_umr, read, read_umr, fixed_atomic;
	u32 changed;
	bool can;
};

static const struct ib_change_case ib_change_cases[] = {
	{ "plain_rights", 0, 0, 0, 0, 1, CRNIC_MKEY_LOCAL_WRITE | CRNIC_MKEY_REMOTE_READ, 1 },
	{ "atomic", 0, 0, 0, 0, 0, CRNIC_MKEY_ATOMIC, 1 },
	{ "atomic_that_is_fixed", 0, 0, 0, 0, 1, CRNIC_MKEY_ATOMIC, 0 },
	{ "hint_that_nobody_takes", 0, 0, 0, 0, 0, CRNIC_MKEY_RELAXED, 1 },
	{ "hint_that_is_fixed", 1, 0, 0, 0, 0, CRNIC_MKEY_RELAXED, 0 },
	{ "hint_half_of_which_is_fixed", 1, 1, 1, 0, 0, CRNIC_MKEY_RELAXED, 0 },
	{ "hint", 1, 1, 1, 1, 0, CRNIC_MKEY_RELAXED, 1 },
	{ "hint_and_fixed_atomic", 1, 1, 1, 1, 1, CRNIC_MKEY_RELAXED | CRNIC_MKEY_ATOMIC, 0 },
};

KUNIT_ARRAY_PARAM_DESC(ib_change, ib_change_cases, name);

static void knows_what_a_work_request_can_change(struct kunit *test)
{
	const struct ib_change_case *c = test->param_value;
	struct ib_mr_world *w = ib_mr_world(test);
	__be32 *cap = w->fw->dev->caps->cur[CRNIC_CAPS_GENERAL];

	MLX5_SET(cmd_hca_cap, cap, relaxed_ordering_write, c->write);
	MLX5_SET(cmd_hca_cap, cap, relaxed_ordering_write_umr, c->write_umr);
	MLX5_SET(cmd_hca_cap, cap, relaxed_ordering_read, c->read);
	MLX5_SET(cmd_hca_cap, cap, relaxed_ordering_read_umr, c->read_umr);
	MLX5_SET(cmd_hca_cap, cap, umr_modify_atomic_disabled, c->fixed_atomic);
	KUNIT_EXPECT_EQ(test, crnic_umr_can_change(w->ib.dev, 0, c->changed), c->can);
	KUNIT_EXPECT_EQ(test, crnic_umr_can_change(w->ib.dev, c->changed, 0), c->can);
	KUNIT_EXPECT_TRUE(test, crnic_umr_can_change(w->ib.dev, c->changed, c->changed));
}

static const u32 list_lengths[] = { 1, 2, 8, 9, 200, 256, 257, 700 };

/* Lists of many sizes beside each other: none begins where it must not by luck. */
static void lists_begin_where_the_device_reads(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);
	struct ib_mr *mrs[ARRAY_SIZE(list_lengths) * 2];
	int i;

	MLX5_SET(cmd_hca_cap, w->fw->dev->caps->cur[CRNIC_CAPS_GENERAL],
		 log_max_klm_list_size, 12);
	for (i = 0; i < ARRAY_SIZE(mrs); i++) {
		mrs[i] = crnic_ib_alloc_mr(&w->pds[0].ibpd, IB_MR_TYPE_MEM_REG,
					   list_lengths[i / 2]);
		KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(mrs[i]), "%pe", mrs[i]);
		KUNIT_EXPECT_EQ(test, to_cmr(mrs[i])->descs_dma % LIST_ALIGN, 0);
		KUNIT_EXPECT_GE(test, to_cmr(mrs[i])->max_descs, list_lengths[i / 2]);
	}
	for (i = 0; i < ARRAY_SIZE(mrs); i++)
		KUNIT_EXPECT_EQ(test, crnic_ib_dereg_mr(mrs[i], NULL), 0);
}

/* What a unit holds behind a short list goes into the key. */
static void short_list_leaves_nothing_of_a_longer_one(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);
	struct scatterlist sg[5];
	struct ib_mr *ibmr;
	int i;

	MLX5_SET(cmd_hca_cap, w->fw->dev->caps->cur[CRNIC_CAPS_GENERAL],
		 log_max_klm_list_size, 12);
	ibmr = crnic_ib_alloc_mr(&w->pds[0].ibpd, IB_MR_TYPE_MEM_REG, 8);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(ibmr), "%pe", ibmr);
	ibmr->page_size = PAGE_SIZE;
	sg_init_table(sg, ARRAY_SIZE(sg));
	for (i = 0; i < ARRAY_SIZE(sg); i++) {
		sg_dma_address(&sg[i]) = 0x100000 * (i + 1);
		sg_dma_len(&sg[i]) = PAGE_SIZE;
	}
	KUNIT_ASSERT_EQ(test, crnic_ib_map_mr_sg(ibmr, sg, 5, NULL), 5);
	KUNIT_ASSERT_EQ(test, crnic_ib_map_mr_sg(ibmr, sg, 1, NULL), 1);
	for (i = 1; i < 8; i++)
		KUNIT_EXPECT_EQ(test, be64_to_cpu(to_cmr(ibmr)->descs[i]), 0);
	KUNIT_EXPECT_EQ(test, crnic_ib_dereg_mr(ibmr, NULL), 0);
}

/* 36 GiB, no two pages of it in a larger one: beyond what a command carries */
#define FAR_RUNS	9
#define FAR_RUN		(SZ_4G - SZ_4K)
#define FAR_PAGES	(FAR_RUNS * (FAR_RUN / SZ_4K))

static void ib_mr_grow(struct kunit *test, struct ib_mr_world *w, int runs, u64 run)
{
	struct scatterlist *sg = kunit_kcalloc(test, runs, sizeof(*sg), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, sg);
	sg_init_table(sg, runs);
	for (i = 0; i < runs; i++) {
		sg_dma_address(&sg[i]) = 0x100001000 * (i + 1);
		sg_dma_len(&sg[i]) = run;
		sg[i].length = run;
	}
	w->umem.sgt_append.sgt = (struct sg_table) { sg, runs, runs };
	w->umem.length = runs * run;
}

static int ib_mr_load(struct crnic_ib *ib, u32 key, const struct crnic_umr_list *list)
{
	struct ib_mr_world *w = container_of(ib, struct ib_mr_world, ib);

	if (list->first == w->loaded && list->num && w->load_key == key &&
	    !(list->dma % LIST_ALIGN))
		w->loaded += list->num;
	w->last_mtt = be64_to_cpu(list->mtts[list->num - 1]);
	return w->loaded == w->fail_at ? -EIO : 0;
}

static void ib_mr_stream(struct kunit *test, struct ib_mr_world *w)
{
	MLX5_SET(cmd_hca_cap, w->fw->dev->caps->cur[CRNIC_CAPS_GENERAL],
		 umr_extended_translation_offset, 1);
	w->load_key = w->fw->next_id << 8 | 1;
	kunit_activate_static_stub(test, crnic_umr_write_list, ib_mr_load);
}

static void long_list_comes_in_pieces(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);
	struct ib_mr *new;

	ib_mr_grow(test, w, FAR_RUNS, FAR_RUN);
	ib_mr_stream(test, w);
	new = ib_mr_rereg(w);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR_OR_NULL(new), "%pe", new);
	KUNIT_EXPECT_LE(test, w->fw->last_inlen, 1024);
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, free), 1);
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, umr_en), 1);
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, log_page_size), 12);
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, translations_octword_size),
			ALIGN(FAR_PAGES, 8) / 2);
	KUNIT_EXPECT_EQ(test, w->loaded, FAR_PAGES);
	KUNIT_EXPECT_EQ(test, w->last_mtt,
			(0x100001000 * FAR_RUNS + FAR_RUN - SZ_4K) | 3);
	/* it means something only when all of it is there */
	KUNIT_EXPECT_EQ(test, w->revived, new->lkey);
	KUNIT_EXPECT_EQ(test, w->revived_pdn, OTHER_PDN);
	kfree(to_cmr(new));
}

static void list_that_breaks_off_leaves_no_key(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);

	ib_mr_grow(test, w, 1, SZ_128M);
	ib_mr_stream(test, w);
	w->fail_at = 2 * CRNIC_UMR_LIST_LEN;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mr_rereg(w)), -EIO);
	KUNIT_EXPECT_EQ(test, w->fw->objects, 0);
	KUNIT_EXPECT_PTR_EQ(test, w->mr.umem, &w->umem);
}

static void short_list_comes_with_the_command(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);
	struct ib_mr *new;

	ib_mr_grow(test, w, 1, SZ_32M);
	ib_mr_stream(test, w);
	new = ib_mr_rereg(w);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR_OR_NULL(new), "%pe", new);
	KUNIT_EXPECT_EQ(test, w->loaded, 0);
	KUNIT_EXPECT_EQ(test, CREATED(w->fw, free), 0);
	KUNIT_EXPECT_GT(test, w->fw->last_inlen, SZ_32M / SZ_4K * 8);
	kfree(to_cmr(new));
}

/* place in the key in 16 bits: 64 Ki octwords, two pages each */
static void place_beyond_16_bits_needs_a_device_that_has_them(struct kunit *test)
{
	struct ib_mr_world *w = ib_mr_world(test);
	__be32 *cap = w->fw->dev->caps->cur[CRNIC_CAPS_GENERAL];

	KUNIT_EXPECT_TRUE(test, crnic_umr_can_load(w->ib.dev, 0x10000));
	KUNIT_EXPECT_FALSE(test, crnic_umr_can_load(w->ib.dev, 0x10001));
	MLX5_SET(cmd_hca_cap, cap, umr_extended_translation_offset, 1);
	KUNIT_EXPECT_TRUE(test, crnic_umr_can_load(w->ib.dev, 0x10001));
	MLX5_SET(cmd_hca_cap, cap, umr_modify_entity_size_disabled, 1);
	KUNIT_EXPECT_FALSE(test, crnic_umr_can_load(w->ib.dev, 1));
}

static struct kunit_case ib_mr_cases[] = {
	KUNIT_CASE_SLOW(long_list_comes_in_pieces),
	KUNIT_CASE(list_that_breaks_off_leaves_no_key),
	KUNIT_CASE(short_list_comes_with_the_command),
	KUNIT_CASE(place_beyond_16_bits_needs_a_device_that_has_them),
	KUNIT_CASE(key_is_relaxed_if_asked_for_and_possible),
	KUNIT_CASE_PARAM(knows_what_a_work_request_can_change, ib_change_gen_params),
	KUNIT_CASE(lists_begin_where_the_device_reads),
	KUNIT_CASE(short_list_leaves_nothing_of_a_longer_one),
	KUNIT_CASE(old_key_is_revoked_before_there_is_a_new_one),
	KUNIT_CASE(old_key_that_stays_means_no_new_one),
	KUNIT_CASE(old_key_serves_again_if_there_is_no_new_one),
	{}
};

static struct kunit_suite ib_mr_suite = {
	.name = "crnic_ib_mr",
	.test_cases = ib_mr_cases,
};

kunit_test_suite(ib_mr_suite);

MODULE_LICENSE("Dual BSD/GPL");
