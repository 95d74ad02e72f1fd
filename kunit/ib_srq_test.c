// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The free list of a kernel SRQ: each WQE is in it once, or outstanding. */
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"
#include "fake_fw.h"

#define ENTRIES		16
#define QPN		0x56
#define ROOM		3	/* of four WQEs one is never given out */

/**
 * struct ib_srq_world - an SRQ, a QP that takes from it, and the QP's CQ
 * @fw: firmware
 * @ib: verbs device
 * @pd: protection domain
 * @cq: the CQ
 * @cqes: its ring
 * @db: its doorbell record
 * @qp: the QP
 * @srq: the SRQ
 * @pi: CQEs written
 */
struct ib_srq_world {
	struct fake_fw *fw;
	struct crnic_ib ib;
	struct crnic_ib_pd pd;
	struct crnic_ib_cq cq;
	struct mlx5_cqe64 cqes[ENTRIES];
	__be32 db[2];
	struct crnic_ib_qp qp;
	struct crnic_ib_srq srq;
	u32 pi;
};

static void ib_srq_open(struct kunit *test, struct ib_srq_world *w)
{
	struct ib_srq_init_attr init = {
		.srq_type = IB_SRQT_BASIC, .attr = { .max_wr = ROOM, .max_sge = 1 },
	};
	__be32 *cap = w->fw->dev->caps->cur[CRNIC_CAPS_GENERAL];

	MLX5_SET(cmd_hca_cap, cap, log_max_srq_sz, 8);
	MLX5_SET(cmd_hca_cap, cap, max_wqe_sz_rq, 512);
	w->srq.ibsrq.device = &w->ib.ibdev;
	w->srq.ibsrq.pd = &w->pd.ibpd;
	KUNIT_ASSERT_EQ(test, crnic_ib_create_srq(&w->srq.ibsrq, &init, NULL), 0);
	KUNIT_ASSERT_EQ(test, init.attr.max_wr, ROOM);
}

static struct ib_srq_world *ib_srq_world(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct ib_srq_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->fw = fw;
	w->ib.dev = fw->dev;
	xa_init_flags(&w->ib.qps, XA_FLAGS_LOCK_IRQ);
	w->cq.ibcq.device = &w->ib.ibdev;
	w->cq.ibcq.cqe = ENTRIES - 1;
	w->cq.ring.buf.addr = w->cqes;
	w->cq.ring.dbr.db = w->db;
	spin_lock_init(&w->cq.lock);
	for (i = 0; i < ENTRIES; i++)
		w->cqes[i].op_own = MLX5_CQE_INVALID << 4 | MLX5_CQE_OWNER_MASK;
	ib_srq_open(test, w);
	w->qp.qpn = QPN;
	w->qp.ibqp.device = &w->ib.ibdev;
	w->qp.ibqp.send_cq = &w->cq.ibcq;
	w->qp.ibqp.recv_cq = &w->cq.ibcq;
	w->qp.ibqp.srq = &w->srq.ibsrq;
	KUNIT_ASSERT_EQ(test, xa_insert_irq(&w->ib.qps, QPN, &w->qp, GFP_KERNEL), 0);
	return w;
}

static void ib_srq_close(struct ib_srq_world *w)
{
	crnic_ib_destroy_srq(&w->srq.ibsrq, NULL);
	xa_destroy(&w->ib.qps);
}

/* post until there is no room: the number that went in */
static int ib_srq_fill(struct ib_srq_world *w, int most)
{
	const struct ib_recv_wr *bad;
	struct ib_recv_wr wr = {};
	int n;

	for (n = 0; n < most; n++) {
		wr.wr_id = 0x100 + n;
		if (crnic_ib_post_srq_recv(&w->srq.ibsrq, &wr, &bad))
			break;
	}
	return n;
}

/* the device receives a message into a WQE */
static void ib_srq_receive(struct ib_srq_world *w, u16 index)
{
	w->cqes[w->pi % ENTRIES] = (struct mlx5_cqe64) {
		.sop_drop_qpn = cpu_to_be32(QPN),
		.wqe_counter = cpu_to_be16(index),
		.op_own = MLX5_CQE_RESP_SEND << 4 | (w->pi / ENTRIES & 1),
	};
	w->pi++;
}

static void gives_out_all_but_one(struct kunit *test)
{
	struct ib_srq_world *w = ib_srq_world(test);
	struct ib_wc wc[4];

	KUNIT_EXPECT_EQ(test, ib_srq_fill(w, 9), ROOM);
	/* out of order, as messages of several QPs end */
	ib_srq_receive(w, 2);
	ib_srq_receive(w, 0);
	KUNIT_ASSERT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, 4, wc), 2);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 0x102);
	KUNIT_EXPECT_EQ(test, wc[1].wr_id, 0x100);
	KUNIT_EXPECT_EQ(test, ib_srq_fill(w, 9), 2);
	ib_srq_close(w);
}

/* segments of a WQE: the link, then what is scattered to */
static void short_list_ends_with_the_devices_key(struct kunit *test)
{
	struct ib_srq_world *w = ib_srq_world(test);
	const struct mlx5_wqe_data_seg *end = w->srq.ring.buf.addr +
					      sizeof(struct mlx5_wqe_srq_next_seg);

	w->fw->dev->terminate_lkey = cpu_to_be32(0x4711);
	KUNIT_ASSERT_EQ(test, ib_srq_fill(w, 1), 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(end->lkey), 0x4711);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(end->byte_count), 0);
	ib_srq_close(w);
}

static void cqe_that_comes_twice_counts_once(struct kunit *test)
{
	struct ib_srq_world *w = ib_srq_world(test);
	struct ib_wc wc[8];

	KUNIT_ASSERT_EQ(test, ib_srq_fill(w, 2), 2);
	ib_srq_receive(w, 0);
	ib_srq_receive(w, 1);
	ib_srq_receive(w, 0);
	KUNIT_EXPECT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, 8, wc), 2);
	KUNIT_EXPECT_EQ(test, ib_srq_fill(w, 9), ROOM);
	ib_srq_close(w);
}

static void cqe_of_a_free_wqe_is_dropped(struct kunit *test)
{
	struct ib_srq_world *w = ib_srq_world(test);
	struct ib_wc wc[8];

	KUNIT_ASSERT_EQ(test, ib_srq_fill(w, 1), 1);
	ib_srq_receive(w, 2);		/* never posted */
	ib_srq_receive(w, 4);		/* not there */
	ib_srq_receive(w, 0xffff);
	KUNIT_EXPECT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, 8, wc), 0);
	KUNIT_EXPECT_EQ(test, ib_srq_fill(w, 9), ROOM - 1);
	ib_srq_close(w);
}

static void cleaning_a_cq_gives_each_wqe_back_once(struct kunit *test)
{
	struct ib_srq_world *w = ib_srq_world(test);

	KUNIT_ASSERT_EQ(test, ib_srq_fill(w, 2), 2);
	ib_srq_receive(w, 0);
	ib_srq_receive(w, 1);
	ib_srq_receive(w, 0);
	crnic_ib_cq_clean(&w->cq, QPN, &w->srq);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(w->db[0]), 3);
	KUNIT_EXPECT_EQ(test, ib_srq_fill(w, 9), ROOM);
	ib_srq_close(w);
}

static struct kunit_case ib_srq_cases[] = {
	KUNIT_CASE(gives_out_all_but_one),
	KUNIT_CASE(short_list_ends_with_the_devices_key),
	KUNIT_CASE(cqe_that_comes_twice_counts_once),
	KUNIT_CASE(cqe_of_a_free_wqe_is_dropped),
	KUNIT_CASE(cleaning_a_cq_gives_each_wqe_back_once),
	{}
};

static struct kunit_suite ib_srq_suite = {
	.name = "crnic_ib_srq",
	.test_cases = ib_srq_cases,
};

kunit_test_suite(ib_srq_suite);

MODULE_LICENSE("Dual BSD/GPL");
