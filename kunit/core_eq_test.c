// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Event queues: whose an entry is, over many rounds of the ring. */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "../drivers/infiniband/hw/crnic/core/eq.h"
#include "fake_fw.h"

#define LOG_SIZE	3
#define SIZE		BIT(LOG_SIZE)

/* A queue, the device's side of it, and what was handled */
struct eq_test {
	struct crnic_eq eq;
	u32 produced;
	u32 handled;
	u32 wrong;
	u32 armed_at;
	bool slow;
};

static void eq_count(struct crnic_eq *eq, const struct mlx5_eqe *eqe)
{
	struct eq_test *t = container_of(eq, struct eq_test, eq);

	if (be32_to_cpu(eqe->data.raw[0]) != t->handled)
		t->wrong++;
	/* let others run wherever they may: one CPU shows what several would do */
	if (t->slow && !irqs_disabled())
		usleep_range(1000, 2000);
	t->handled++;
}

/* As the device does it: owner bit last, its value that of the round */
static void eq_produce(struct eq_test *t)
{
	struct mlx5_eqe *eqe = t->eq.buf.addr;

	eqe += t->produced % SIZE;
	eqe->data.raw[0] = cpu_to_be32(t->produced);
	eqe->owner = (t->produced / SIZE) & 1;
	t->produced++;
}

static struct eq_test *eq_setup(struct kunit *test)
{
	struct eq_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct crnic_dev *dev = fake_dev_create(test);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->eq.dev = dev;
	t->eq.log_size = LOG_SIZE;
	spin_lock_init(&t->eq.lock);
	t->eq.handle = eq_count;
	KUNIT_ASSERT_EQ(test, crnic_buf_alloc(dev, SIZE * sizeof(struct mlx5_eqe), &t->eq.buf), 0);
	crnic_eq_init_ring(&t->eq);
	return t;
}

static void eq_done(struct eq_test *t)
{
	crnic_buf_free(t->eq.dev, &t->eq.buf);
}

static void fresh_ring_is_empty(struct kunit *test)
{
	struct eq_test *t = eq_setup(test);

	KUNIT_EXPECT_PTR_EQ(test, crnic_eq_next(&t->eq), NULL);
	KUNIT_EXPECT_EQ(test, crnic_eq_poll(&t->eq, SIZE), 0);
	eq_done(t);
}

static void entries_come_in_order_over_many_rounds(struct kunit *test)
{
	struct eq_test *t = eq_setup(test);
	unsigned int i, j;

	/* 7 at a time through a ring of 8: each slot sees each position of a batch */
	for (i = 0; i < 50; i++) {
		for (j = 0; j < SIZE - 1; j++)
			eq_produce(t);
		KUNIT_EXPECT_EQ(test, crnic_eq_poll(&t->eq, SIZE), SIZE - 1);
		KUNIT_EXPECT_PTR_EQ(test, crnic_eq_next(&t->eq), NULL);
	}
	KUNIT_EXPECT_EQ(test, t->handled, t->produced);
	KUNIT_EXPECT_EQ(test, t->wrong, 0);
	eq_done(t);
}

static void entry_of_the_last_round_is_not_taken_twice(struct kunit *test)
{
	struct eq_test *t = eq_setup(test);
	unsigned int i;

	for (i = 0; i < SIZE; i++)
		eq_produce(t);
	KUNIT_EXPECT_EQ(test, crnic_eq_poll(&t->eq, 10 * SIZE), SIZE);
	KUNIT_EXPECT_EQ(test, crnic_eq_poll(&t->eq, 10 * SIZE), 0);
	eq_done(t);
}

static void budget_is_kept(struct kunit *test)
{
	struct eq_test *t = eq_setup(test);
	unsigned int i;

	for (i = 0; i < 5; i++)
		eq_produce(t);
	KUNIT_EXPECT_EQ(test, crnic_eq_poll(&t->eq, 3), 3);
	KUNIT_EXPECT_EQ(test, crnic_eq_poll(&t->eq, 3), 2);
	eq_done(t);
}

#define POLLERS		3

struct eq_poller {
	struct kunit *test;
	struct eq_test *t;
	struct completion done;
};

static void eq_arm(struct crnic_eq *eq)
{
	struct eq_test *t = container_of(eq, struct eq_test, eq);

	t->armed_at = eq->ci;
}

static int eq_poller_main(void *data)
{
	struct eq_poller *p = data;

	current->kunit_test = p->test;
	crnic_eq_service(&p->t->eq);
	current->kunit_test = NULL;
	complete(&p->done);
	return 0;
}

/* Commands that time out together all look at the command EQ, beside its interrupt */
static void pollers_take_each_entry_once(struct kunit *test)
{
	struct eq_test *t = eq_setup(test);
	struct eq_poller p[POLLERS];
	unsigned int i;

	kunit_activate_static_stub(test, crnic_eq_arm, eq_arm);
	t->slow = true;
	for (i = 0; i < 5; i++)
		eq_produce(t);
	for (i = 0; i < POLLERS; i++) {
		p[i] = (struct eq_poller) { .test = test, .t = t };
		init_completion(&p[i].done);
		kthread_run(eq_poller_main, &p[i], "crnic_poller");
	}
	for (i = 0; i < POLLERS; i++)
		wait_for_completion(&p[i].done);
	KUNIT_EXPECT_EQ(test, t->wrong, 0);
	KUNIT_EXPECT_EQ(test, t->handled, t->produced);
	KUNIT_EXPECT_EQ(test, t->eq.ci, t->produced);
	/* and what comes next is still seen */
	eq_produce(t);
	crnic_eq_service(&t->eq);
	KUNIT_EXPECT_EQ(test, t->handled, t->produced);
	KUNIT_EXPECT_EQ(test, t->armed_at, t->produced);
	eq_done(t);
}

static struct kunit_case eq_cases[] = {
	KUNIT_CASE(fresh_ring_is_empty),
	KUNIT_CASE(entries_come_in_order_over_many_rounds),
	KUNIT_CASE(entry_of_the_last_round_is_not_taken_twice),
	KUNIT_CASE(budget_is_kept),
	KUNIT_CASE(pollers_take_each_entry_once),
	{}
};

static struct kunit_suite eq_suite = {
	.name = "crnic_core_eq",
	.test_cases = eq_cases,
};

kunit_test_suite(eq_suite);
