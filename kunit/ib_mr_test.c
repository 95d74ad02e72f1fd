// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Regions that are registered again: one key at a time leads to their pages. */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/scatterlist.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"
#include "fake_fw.h"

#define KEY		0x1200
#define PDN		0x77
#define OTHER_PDN	0x78
#define START		0x10000
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

static struct kunit_case ib_mr_cases[] = {
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
