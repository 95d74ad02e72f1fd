// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A device in error: who waits is woken, who posted gets its requests back. */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/jiffies.h>

#include <crnic/cq.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"
#include "fake_fw.h"

#define BBS		8
#define RECVS		4
#define SENDS		2

/**
 * struct ib_error_world - a kernel QP whose CQ has a user
 * @fw: firmware
 * @ib: verbs device
 * @cq: the CQ
 * @cqes: its ring, which stays empty
 * @db: doorbell record of all
 * @qp: the QP
 * @sq: its send queue
 * @rq: its receive queue
 * @wrs: what it remembers of sends
 * @wr_ids: and of receives
 * @uar: doorbell page
 * @fatal: kills the device later
 * @posting: the user is about to post, and holds its lock
 * @calls: of the completion handler
 * @nested: of these, while the user posted
 */
struct ib_error_world {
	struct fake_fw *fw;
	struct crnic_ib ib;
	struct crnic_ib_cq cq;
	struct mlx5_cqe64 cqes[4];
	__be32 db[2];
	struct crnic_ib_qp qp;
	u8 sq[BBS * CRNIC_WQE_BB];
	u8 rq[RECVS * 16];
	struct crnic_sq_wr wrs[BBS];
	u64 wr_ids[RECVS];
	u8 uar[CRNIC_ADAPTER_PAGE_SIZE];
	struct delayed_work fatal;
	bool posting;
	int calls;
	int nested;
};

static void ib_error_comp(struct ib_cq *cq, void *context)
{
	struct ib_error_world *w = context;

	w->calls++;
	w->nested += w->posting;
}

static void ib_error_fatal(struct work_struct *work)
{
	struct ib_error_world *w = container_of(work, struct ib_error_world, fatal.work);

	WRITE_ONCE(w->fw->dev->broken, true);
	crnic_ib_kick_all(&w->ib);
}

static void ib_error_add_qp(struct kunit *test, struct ib_error_world *w)
{
	struct crnic_ib_qp *qp = &w->qp;

	qp->ibqp.device = &w->ib.ibdev;
	qp->ibqp.qp_type = IB_QPT_RC;
	qp->ibqp.send_cq = &w->cq.ibcq;
	qp->ibqp.recv_cq = &w->cq.ibcq;
	qp->ring.dbr.db = w->db;
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	qp->sq.buf = w->sq;
	qp->sq.wrs = w->wrs;
	qp->sq.bbs = BBS;
	qp->sq.max_bbs = 1;
	qp->rq.buf = w->rq;
	qp->rq.wr_ids = w->wr_ids;
	qp->rq.size = RECVS;
	qp->rq.shift = 4;
	qp->rq.max_sge = 1;
	KUNIT_ASSERT_EQ(test, xa_insert_irq(&w->ib.qps, 1, qp, GFP_KERNEL), 0);
}

static struct ib_error_world *ib_error_world(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct ib_error_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->fw = fw;
	w->ib.dev = fw->dev;
	fw->dev->uar.map = (void __iomem *)w->uar;
	xa_init_flags(&w->ib.qps, XA_FLAGS_LOCK_IRQ);
	INIT_WORK(&w->ib.kick, crnic_ib_kick_work);
	w->ib.wq = system_wq;
	INIT_DELAYED_WORK(&w->fatal, ib_error_fatal);
	KUNIT_ASSERT_EQ(test, crnic_ib_umr_create(&w->ib), 0);
	w->cq.ibcq.device = &w->ib.ibdev;
	w->cq.ibcq.comp_handler = ib_error_comp;
	w->cq.ibcq.cq_context = w;
	w->cq.ibcq.poll_ctx = IB_POLL_SOFTIRQ;
	w->cq.ibcq.cqe = ARRAY_SIZE(w->cqes) - 1;
	w->cq.ring.buf.addr = w->cqes;
	w->cq.ring.dbr.db = w->db;
	spin_lock_init(&w->cq.lock);
	for (i = 0; i < ARRAY_SIZE(w->cqes); i++)
		w->cqes[i].op_own = MLX5_CQE_INVALID << 4 | MLX5_CQE_OWNER_MASK;
	ib_error_add_qp(test, w);
	return w;
}

static void ib_error_close(struct ib_error_world *w)
{
	cancel_delayed_work_sync(&w->fatal);
	cancel_work_sync(&w->ib.kick);
	crnic_ib_umr_destroy(&w->ib);
	xa_destroy(&w->ib.qps);
}

static void ib_error_post(struct kunit *test, struct ib_error_world *w)
{
	const struct ib_recv_wr *bad_recv;
	const struct ib_send_wr *bad_send;
	struct ib_send_wr send = { .opcode = IB_WR_SEND };
	struct ib_recv_wr recv = {};
	int i;

	w->posting = true;
	for (i = 0; i < SENDS; i++) {
		send.wr_id = 0x100 + i;
		KUNIT_EXPECT_EQ(test, crnic_ib_post_send(&w->qp.ibqp, &send, &bad_send), 0);
	}
	for (i = 0; i < RECVS; i++) {
		recv.wr_id = 0x200 + i;
		KUNIT_EXPECT_EQ(test, crnic_ib_post_recv(&w->qp.ibqp, &recv, &bad_recv), 0);
	}
	w->posting = false;
}

/* The user's lock is held while it posts, and taken by its handler. */
static void posting_calls_no_handler(struct kunit *test)
{
	struct ib_error_world *w = ib_error_world(test);

	w->fw->dev->broken = true;
	/* the work item waits for its turn as long as this CPU is ours */
	preempt_disable();
	ib_error_post(test, w);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, w->nested, 0);
	flush_work(&w->ib.kick);
	KUNIT_EXPECT_GT(test, w->calls, 0);
	ib_error_close(w);
}

static void polling_gives_all_requests_back(struct kunit *test)
{
	struct ib_error_world *w = ib_error_world(test);
	struct ib_wc wc[SENDS + RECVS + 1];
	int i;

	ib_error_post(test, w);
	KUNIT_EXPECT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, ARRAY_SIZE(wc), wc), 0);
	w->fw->dev->broken = true;
	/* in two steps, as room allows */
	KUNIT_ASSERT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, SENDS + 1, wc), SENDS + 1);
	KUNIT_ASSERT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, RECVS, wc + SENDS + 1), RECVS - 1);
	for (i = 0; i < SENDS + RECVS; i++) {
		KUNIT_EXPECT_EQ(test, wc[i].status, IB_WC_WR_FLUSH_ERR);
		KUNIT_EXPECT_PTR_EQ(test, wc[i].qp, &w->qp.ibqp);
		KUNIT_EXPECT_EQ(test, wc[i].wr_id,
				i < SENDS ? 0x100 + i : 0x200 + i - SENDS);
	}
	KUNIT_EXPECT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, 1, wc), 0);
	ib_error_close(w);
}

static void room_comes_back_with_the_requests(struct kunit *test)
{
	struct ib_error_world *w = ib_error_world(test);
	struct ib_wc wc[SENDS + RECVS];
	int round;

	w->fw->dev->broken = true;
	/* more rounds than the rings have places */
	for (round = 0; round < 2 * BBS; round++) {
		ib_error_post(test, w);
		KUNIT_ASSERT_EQ(test, crnic_ib_poll_cq(&w->cq.ibcq, ARRAY_SIZE(wc), wc),
				SENDS + RECVS);
	}
	ib_error_close(w);
}

static int ib_error_eqn(struct crnic_dev *dev, unsigned int vector, u8 *eqn)
{
	*eqn = 1;
	return 0;
}

static void who_waits_for_a_key_waits_no_longer(struct kunit *test)
{
	struct ib_error_world *w = ib_error_world(test);
	unsigned long start = jiffies;

	kunit_activate_static_stub(test, crnic_comp_eqn, ib_error_eqn);
	schedule_delayed_work(&w->fatal, msecs_to_jiffies(100));
	KUNIT_EXPECT_EQ(test, crnic_umr_change(&w->ib, 0x100, 1, CRNIC_MKEY_LOCAL_READ), -EIO);
	KUNIT_EXPECT_LT(test, jiffies_to_msecs(jiffies - start), 5000);
	ib_error_close(w);
}

static struct kunit_case ib_error_cases[] = {
	KUNIT_CASE(posting_calls_no_handler),
	KUNIT_CASE(polling_gives_all_requests_back),
	KUNIT_CASE(room_comes_back_with_the_requests),
	KUNIT_CASE(who_waits_for_a_key_waits_no_longer),
	{}
};

static struct kunit_suite ib_error_suite = {
	.name = "crnic_ib_error",
	.test_cases = ib_error_cases,
};

kunit_test_suite(ib_error_suite);

MODULE_LICENSE("Dual BSD/GPL");
