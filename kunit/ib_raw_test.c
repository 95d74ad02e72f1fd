// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Raw packet QPs: what they are made of goes once, also when it takes two attempts. */
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"
#include "fake_fw.h"

/**
 * struct ib_raw_world - a raw packet QP that only receives
 * @fw: firmware
 * @ib: verbs device
 * @pd: protection domain
 * @cq: completion queue
 * @qp: the QP
 */
struct ib_raw_world {
	struct fake_fw *fw;
	struct crnic_ib ib;
	struct crnic_ib_pd pd;
	struct crnic_ib_cq cq;
	struct crnic_ib_qp qp;
};

static struct ib_raw_world *ib_raw_world(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct ib_raw_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	const struct crnic_pas pas = { .dma = 0x1000, .page_shift = 12, .npages = 1 };
	const struct crnic_raw_request req = { .rq_pas = &pas };

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->fw = fw;
	w->ib.dev = fw->dev;
	w->qp.ibqp.device = &w->ib.ibdev;
	w->qp.ibqp.pd = &w->pd.ibpd;
	w->qp.ibqp.recv_cq = &w->cq.ibcq;
	w->qp.rq.size = 4;
	w->qp.rq.shift = 4;
	KUNIT_ASSERT_EQ(test, crnic_raw_create(&w->qp, &req), 0);
	return w;
}

/* by the second attempt the number may be that of somebody else's endpoint */
static void endpoint_goes_once_if_its_queue_cannot(struct kunit *test)
{
	struct ib_raw_world *w = ib_raw_world(test);
	struct fake_fw *fw = w->fw;
	unsigned int before = fw->num_cmds;

	fw->fail_nth = before + 2;
	fw->fail_status = MLX5_CMD_STAT_RES_BUSY;
	KUNIT_EXPECT_EQ(test, crnic_raw_destroy(&w->qp), -EBUSY);
	KUNIT_EXPECT_EQ(test, fw->num_cmds - before, 2);
	KUNIT_EXPECT_EQ(test, fw->last_opcode, MLX5_CMD_OP_DESTROY_RQ);

	KUNIT_EXPECT_EQ(test, crnic_raw_destroy(&w->qp), 0);
	KUNIT_EXPECT_EQ(test, fw->num_cmds - before, 3);
	KUNIT_EXPECT_EQ(test, fw->last_opcode, MLX5_CMD_OP_DESTROY_RQ);
}

static void queue_stays_if_its_endpoint_does(struct kunit *test)
{
	struct ib_raw_world *w = ib_raw_world(test);
	struct fake_fw *fw = w->fw;
	unsigned int before = fw->num_cmds;
	u32 tirn;

	fw->fail_nth = before + 1;
	fw->fail_status = MLX5_CMD_STAT_RES_BUSY;
	KUNIT_EXPECT_EQ(test, crnic_raw_destroy(&w->qp), -EBUSY);
	KUNIT_EXPECT_EQ(test, fw->num_cmds - before, 1);
	KUNIT_EXPECT_EQ(test, crnic_raw_tirn(&w->qp, &tirn), 0);
	KUNIT_EXPECT_EQ(test, crnic_raw_destroy(&w->qp), 0);
	KUNIT_EXPECT_EQ(test, fw->num_cmds - before, 3);
}

static struct kunit_case ib_raw_cases[] = {
	KUNIT_CASE(endpoint_goes_once_if_its_queue_cannot),
	KUNIT_CASE(queue_stays_if_its_endpoint_does),
	{}
};

static struct kunit_suite ib_raw_suite = {
	.name = "crnic_ib_raw",
	.test_cases = ib_raw_cases,
};

kunit_test_suite(ib_raw_suite);

MODULE_LICENSE("Dual BSD/GPL");
