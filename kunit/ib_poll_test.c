// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Polling a kernel CQ that several QPs share. */
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"
#include "fake_fw.h"

#define ENTRIES		8
#define QPN_GSI		0x55
#define QPN_DATA	0x56

/**
 * struct ib_poll_world - a CQ and two QPs
 * @ib: verbs device
 * @cq: the CQ
 * @cqes: its ring
 * @db: its doorbell record
 * @qps: QP1 and another
 * @wr_ids: cookies of their receives
 * @pi: CQEs written
 */
struct ib_poll_world {
	struct crnic_ib ib;
	struct crnic_ib_cq cq;
	struct mlx5_cqe64 cqes[ENTRIES];
	__be32 db[2];
	struct crnic_ib_qp qps[2];
	u64 wr_ids[2][ENTRIES];
	u32 pi;
};

static void ib_poll_add_qp(struct kunit *test, struct ib_poll_world *w, int i, u32 qpn, u32 num)
{
	struct crnic_ib_qp *qp = &w->qps[i];
	int n;

	qp->qpn = qpn;
	qp->ibqp.qp_num = num;
	qp->ibqp.device = &w->ib.ibdev;
	qp->ibqp.send_cq = &w->cq.ibcq;
	qp->ibqp.recv_cq = &w->cq.ibcq;
	qp->rq.size = ENTRIES;
	qp->rq.pc = ENTRIES;
	qp->rq.wr_ids = w->wr_ids[i];
	for (n = 0; n < ENTRIES; n++)
		w->wr_ids[i][n] = qpn << 8 | n;
	KUNIT_ASSERT_EQ(test, xa_insert_irq(&w->ib.qps, qpn, qp, GFP_KERNEL), 0);
}

static struct ib_poll_world *ib_poll_world(struct kunit *test)
{
	struct ib_poll_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->ib.dev = fake_dev_create(test);
	xa_init_flags(&w->ib.qps, XA_FLAGS_LOCK_IRQ);
	w->cq.ibcq.device = &w->ib.ibdev;
	w->cq.ibcq.cqe = ENTRIES - 1;
	w->cq.ring.buf.addr = w->cqes;
	w->cq.ring.dbr.db = w->db;
	spin_lock_init(&w->cq.lock);
	for (i = 0; i < ENTRIES; i++)
		w->cqes[i].op_own = MLX5_CQE_INVALID << 4 | MLX5_CQE_OWNER_MASK;
	ib_poll_add_qp(test, w, 0, QPN_GSI, 1);
	ib_poll_add_qp(test, w, 1, QPN_DATA, QPN_DATA);
	return w;
}

/* the device receives a message for a QP */
static void ib_poll_receive(struct ib_poll_world *w, u32 qpn)
{
	struct mlx5_cqe64 *cqe = &w->cqes[w->pi % ENTRIES];

	*cqe = (struct mlx5_cqe64) {
		.sop_drop_qpn = cpu_to_be32(qpn),
		.byte_cnt = cpu_to_be32(64),
		.op_own = MLX5_CQE_RESP_SEND << 4 | (w->pi / ENTRIES & 1),
	};
	w->pi++;
}

static void case_52_device_number_is_mapped_to_the_verbs_one(struct kunit *test)
{
	struct ib_poll_world *w = ib_poll_world(test);
	struct ib_wc wc[4];

	ib_poll_receive(w, QPN_DATA);
	ib_poll_receive(w, QPN_GSI);
	ib_poll_receive(w, 1);		/* nobody's */
	KUNIT_ASSERT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, 4, wc), 2);
	KUNIT_EXPECT_EQ(test, wc[0].qp->qp_num, QPN_DATA);
	KUNIT_EXPECT_EQ(test, wc[1].qp->qp_num, 1);
	KUNIT_EXPECT_EQ(test, wc[1].wr_id, QPN_GSI << 8);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(w->db[0]), 3);
	xa_destroy(&w->ib.qps);
}

static void case_12_reset_takes_only_its_own_cqes(struct kunit *test)
{
	struct ib_poll_world *w = ib_poll_world(test);
	struct ib_wc wc[ENTRIES];
	int i, n;

	/* over the ring's end, where the owner bit changes */
	for (i = 0; i < ENTRIES - 2; i++)
		ib_poll_receive(w, QPN_DATA);
	KUNIT_ASSERT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, ENTRIES, wc), ENTRIES - 2);
	w->qps[1].rq.pc += ENTRIES;

	for (i = 0; i < 3; i++) {
		ib_poll_receive(w, QPN_GSI);
		ib_poll_receive(w, QPN_DATA);
	}
	crnic_ib_cq_clean(&w->cq, QPN_GSI, NULL);
	n = crnic_ib_poll_cq(&w->cq.ibcq, ENTRIES, wc);
	KUNIT_ASSERT_EQ(test, n, 3);
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_PTR_EQ(test, wc[i].qp, &w->qps[1].ibqp);
		KUNIT_EXPECT_EQ(test, wc[i].wr_id,
				QPN_DATA << 8 | ((ENTRIES - 2 + i) & (ENTRIES - 1)));
	}
	KUNIT_EXPECT_EQ(test, be32_to_cpu(w->db[0]), w->pi);

	/* what comes next is found, too */
	ib_poll_receive(w, QPN_GSI);
	KUNIT_ASSERT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, ENTRIES, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].qp->qp_num, 1);
	xa_destroy(&w->ib.qps);
}

static struct kunit_case ib_poll_cases[] = {
	KUNIT_CASE(case_52_device_number_is_mapped_to_the_verbs_one),
	KUNIT_CASE(case_12_reset_takes_only_its_own_cqes),
	{}
};

static struct kunit_suite ib_poll_suite = {
	.name = "crnic_ib_poll",
	.test_cases = ib_poll_cases,
};

kunit_test_suite(ib_poll_suite);

MODULE_LICENSE("Dual BSD/GPL");
