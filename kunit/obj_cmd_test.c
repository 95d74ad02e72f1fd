// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands of objects: what their mailboxes say of the less common wishes. */
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "../drivers/infiniband/hw/crnic/ib/ib.h"
#include "fake_fw.h"

#define WINDOW_OCTWORDS	4

static void resize_names_the_new_ring(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct crnic_cq cq = { .cqn = 0x123 };
	const struct crnic_cq_params p = {
		.pas = { .dma = 0x40000000, .page_shift = 14, .page_offset = 512, .npages = 3 },
		.log_size = 9,
		.cqe_128 = true,
	};
	const void *in = fw->last_in;
	const __be64 *pas = MLX5_ADDR_OF(modify_cq_in, in, pas);

	KUNIT_ASSERT_EQ(test, crnic_cq_resize(fw->dev, &cq, &p), 0);
	KUNIT_EXPECT_EQ(test, fw->last_opcode, MLX5_CMD_OP_MODIFY_CQ);
	KUNIT_EXPECT_EQ(test, MLX5_GET(modify_cq_in, in, op_mod), 1);
	KUNIT_EXPECT_EQ(test, MLX5_GET(modify_cq_in, in, cqn), 0x123);
	KUNIT_EXPECT_EQ(test, MLX5_GET(modify_cq_in, in, cq_context.log_cq_size), 9);
	KUNIT_EXPECT_EQ(test, MLX5_GET(modify_cq_in, in, cq_context.cqe_sz), 1);
	KUNIT_EXPECT_EQ(test, MLX5_GET(modify_cq_in, in, cq_context.log_page_size), 2);
	KUNIT_EXPECT_EQ(test, MLX5_GET(modify_cq_in, in, cq_context.page_offset), 2);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(pas[0]), 0x40000000);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(pas[2]), 0x40008000);
}

static void resize_passes_a_refusal_on(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct crnic_cq cq = { .cqn = 1 };
	const struct crnic_cq_params p = { .pas = { .page_shift = 12, .npages = 1 } };

	fw->fail_nth = 1;
	fw->fail_status = MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR;
	KUNIT_EXPECT_EQ(test, crnic_cq_resize(fw->dev, &cq, &p), -EINVAL);
}

static void window_is_free_until_it_is_bound(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	const struct crnic_mkey_params p = {
		.pdn = 7,
		.mode = CRNIC_MKEY_KLM,
		.free = true,
		.umr = true,
		.remote_inval = true,
		.octwords = WINDOW_OCTWORDS,
		.variant = 0x5a,
	};
	const void *in = fw->last_in;
	const void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
	u32 key = 0;

	KUNIT_ASSERT_EQ(test, crnic_mkey_create(fw->dev, &p, &key), 0);
	KUNIT_EXPECT_EQ(test, key & 0xff, 0x5a);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, free), 1);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, umr_en), 1);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, en_rinval), 1);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, pd), 7);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, qpn), 0xffffff);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, access_mode_1_0), MLX5_MKC_ACCESS_MODE_KLMS);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, translations_octword_size), WINDOW_OCTWORDS);
	KUNIT_EXPECT_EQ(test, MLX5_GET(create_mkey_in, in, translations_octword_actual_size), 0);
}

static void change_of_a_key_has_its_rights_and_its_domain(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct mlx5_mkey_seg seg = {};
	const void *mkc = &seg;

	crnic_mkey_fill_change(fw->dev, &seg, 9,
			       CRNIC_MKEY_LOCAL_READ | CRNIC_MKEY_REMOTE_WRITE);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, pd), 9);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, qpn), 0xffffff);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, lr), 1);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, lw), 0);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, rr), 0);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, rw), 1);
	KUNIT_EXPECT_EQ(test, MLX5_GET(mkc, mkc, a), 0);
	/* where mlx5_ib's headers put the same */
	KUNIT_EXPECT_EQ(test, seg.flags, MLX5_PERM_LOCAL_READ | MLX5_PERM_REMOTE_WRITE);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(seg.flags_pd) & 0xffffff, 9);
}

static void keeps_the_key_unless_the_device_cannot(struct kunit *test)
{
	const u32 none = CRNIC_MKEY_LOCAL_READ, atomic = none | CRNIC_MKEY_ATOMIC;
	struct fake_fw *fw = fake_fw_with_caps(test);
	void *cap = fw->dev->caps->cur[CRNIC_CAPS_GENERAL];

	KUNIT_EXPECT_TRUE(test, crnic_umr_can_change(fw->dev, none, atomic));
	KUNIT_EXPECT_TRUE(test, crnic_umr_can_change(fw->dev, none,
						     none | CRNIC_MKEY_REMOTE_WRITE));
	KUNIT_EXPECT_TRUE(test, crnic_umr_can_change(fw->dev, none, none | CRNIC_MKEY_RELAXED));
	MLX5_SET(cmd_hca_cap, cap, relaxed_ordering_write, 1);
	KUNIT_EXPECT_FALSE(test, crnic_umr_can_change(fw->dev, none, none | CRNIC_MKEY_RELAXED));
	MLX5_SET(cmd_hca_cap, cap, umr_modify_atomic_disabled, 1);
	KUNIT_EXPECT_FALSE(test, crnic_umr_can_change(fw->dev, atomic, none));
	KUNIT_EXPECT_TRUE(test, crnic_umr_can_change(fw->dev, atomic, atomic));
}

static struct kunit_case obj_cmd_cases[] = {
	KUNIT_CASE(resize_names_the_new_ring),
	KUNIT_CASE(resize_passes_a_refusal_on),
	KUNIT_CASE(window_is_free_until_it_is_bound),
	KUNIT_CASE(change_of_a_key_has_its_rights_and_its_domain),
	KUNIT_CASE(keeps_the_key_unless_the_device_cannot),
	{}
};

static struct kunit_suite obj_cmd_suite = {
	.name = "crnic_obj_cmd",
	.test_cases = obj_cmd_cases,
};

kunit_test_suite(obj_cmd_suite);

MODULE_LICENSE("Dual BSD/GPL");
