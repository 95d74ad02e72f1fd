// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Asynchronous events: who hears what. */
#include <kunit/test.h>

#include <crnic/cq.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "fake_fw.h"

/* A listener of each kind */
struct ears {
	struct crnic_dev *dev;
	struct crnic_rsc rsc;
	struct crnic_cq cq;
	struct notifier_block nb;
	unsigned int rsc_events;
	unsigned int cq_events;
	unsigned long dev_event;
	u8 last;
};

static void ears_rsc(struct crnic_rsc *rsc, u8 event)
{
	struct ears *e = container_of(rsc, struct ears, rsc);

	e->rsc_events++;
	e->last = event;
}

static void ears_cq(struct crnic_cq *cq, u8 event)
{
	container_of(cq, struct ears, cq)->cq_events++;
}

static int ears_dev(struct notifier_block *nb, unsigned long event, void *data)
{
	container_of(nb, struct ears, nb)->dev_event = event;
	return NOTIFY_OK;
}

static struct ears *ears_setup(struct kunit *test, enum crnic_rsc_type type)
{
	struct ears *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->dev = fake_dev_create(test);
	e->rsc = (struct crnic_rsc) { .event = ears_rsc, .type = type, .num = 0x123 };
	e->cq.event = ears_cq;
	e->cq.cqn = 0x123;
	e->nb.notifier_call = ears_dev;
	KUNIT_ASSERT_EQ(test, crnic_rsc_add(e->dev, &e->rsc), 0);
	KUNIT_ASSERT_EQ(test, crnic_cq_attach(e->dev, &e->cq), 0);
	KUNIT_ASSERT_EQ(test, crnic_notifier_add(e->dev, &e->nb), 0);
	return e;
}

static void ears_close(struct ears *e)
{
	crnic_notifier_del(e->dev, &e->nb);
	crnic_cq_detach(e->dev, &e->cq);
	crnic_rsc_del(e->dev, &e->rsc);
}

static void ears_hear(struct ears *e, u8 event, u8 queue_type, u32 num)
{
	struct mlx5_eqe eqe = { .type = event };

	eqe.data.qp_srq.type = queue_type;
	eqe.data.qp_srq.qp_srq_n = cpu_to_be32(num);
	crnic_async_dispatch(e->dev, &eqe);
}

static void queue_hears_events_of_its_kind_and_number(struct kunit *test)
{
	struct ears *e = ears_setup(test, CRNIC_RSC_SQ);

	ears_hear(e, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, CRNIC_RSC_QP, 0x123);
	ears_hear(e, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, CRNIC_RSC_SQ, 0x124);
	ears_hear(e, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, CRNIC_RSC_SQ, 0x123);
	KUNIT_EXPECT_EQ(test, e->rsc_events, 0);
	ears_hear(e, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, CRNIC_RSC_SQ, 0x123);
	KUNIT_EXPECT_EQ(test, e->rsc_events, 1);
	KUNIT_EXPECT_EQ(test, e->last, MLX5_EVENT_TYPE_WQ_CATAS_ERROR);
	ears_close(e);
}

static void srq_hears_its_limit_whatever_the_queue_type(struct kunit *test)
{
	struct ears *e = ears_setup(test, CRNIC_RSC_SRQ);

	ears_hear(e, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, 0, 0x123);
	ears_hear(e, MLX5_EVENT_TYPE_SRQ_CATAS_ERROR, 1, 0x123);
	KUNIT_EXPECT_EQ(test, e->rsc_events, 2);
	ears_close(e);
}

static void queue_that_left_hears_nothing(struct kunit *test)
{
	struct ears *e = ears_setup(test, CRNIC_RSC_QP);

	crnic_rsc_del(e->dev, &e->rsc);
	ears_hear(e, MLX5_EVENT_TYPE_COMM_EST, CRNIC_RSC_QP, 0x123);
	KUNIT_EXPECT_EQ(test, e->rsc_events, 0);
	ears_close(e);
}

static void number_given_out_twice_is_refused(struct kunit *test)
{
	struct ears *e = ears_setup(test, CRNIC_RSC_QP);
	struct crnic_rsc twin = { .event = ears_rsc, .type = CRNIC_RSC_QP, .num = 0x123 };
	struct crnic_rsc kin = { .event = ears_rsc, .type = CRNIC_RSC_RQ, .num = 0x123 };

	KUNIT_EXPECT_EQ(test, crnic_rsc_add(e->dev, &twin), -EBUSY);
	KUNIT_EXPECT_EQ(test, crnic_rsc_add(e->dev, &kin), 0);
	crnic_rsc_del(e->dev, &kin);
	ears_close(e);
}

static void cq_hears_its_error(struct kunit *test)
{
	struct ears *e = ears_setup(test, CRNIC_RSC_QP);
	struct mlx5_eqe eqe = { .type = MLX5_EVENT_TYPE_CQ_ERROR };

	eqe.data.cq_err.cqn = cpu_to_be32(0x124);
	crnic_async_dispatch(e->dev, &eqe);
	KUNIT_EXPECT_EQ(test, e->cq_events, 0);
	eqe.data.cq_err.cqn = cpu_to_be32(0x123);
	crnic_async_dispatch(e->dev, &eqe);
	KUNIT_EXPECT_EQ(test, e->cq_events, 1);
	ears_close(e);
}

static void port_events_are_told_apart(struct kunit *test)
{
	static const u8 sub[] = {
		MLX5_PORT_CHANGE_SUBTYPE_ACTIVE, MLX5_PORT_CHANGE_SUBTYPE_DOWN,
		MLX5_PORT_CHANGE_SUBTYPE_GUID,
	};
	static const enum crnic_dev_event want[] = {
		CRNIC_EVENT_PORT_UP, CRNIC_EVENT_PORT_DOWN, CRNIC_EVENT_PORT_OTHER,
	};
	struct ears *e = ears_setup(test, CRNIC_RSC_QP);
	struct mlx5_eqe eqe = { .type = MLX5_EVENT_TYPE_PORT_CHANGE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sub); i++) {
		eqe.sub_type = sub[i];
		crnic_async_dispatch(e->dev, &eqe);
		KUNIT_EXPECT_EQ(test, e->dev_event, want[i]);
	}
	ears_close(e);
}

/* What a device must be asked for, by hand: rdma's events, ports, pages */
static void device_is_asked_for_what_has_a_listener(struct kunit *test)
{
	u64 want = BIT_ULL(0x01) | BIT_ULL(0x02) | BIT_ULL(0x03) | BIT_ULL(0x04) | BIT_ULL(0x05) |
		   BIT_ULL(0x07) | BIT_ULL(0x09) | BIT_ULL(0x0b) | BIT_ULL(0x10) | BIT_ULL(0x11) |
		   BIT_ULL(0x12) | BIT_ULL(0x13) | BIT_ULL(0x14);

	KUNIT_EXPECT_EQ(test, crnic_async_mask(), want);
}

static void event_that_nobody_knows_is_passed_over(struct kunit *test)
{
	struct ears *e = ears_setup(test, CRNIC_RSC_QP);
	unsigned int type;

	/* 0x00 is a completion, 0x06 and 0x08 are its errors, 0x0a is a command's, all of others */
	for (type = 0; type < 256; type++)
		if (type > 0x14 || !type || type == 0x06 || type == 0x08 || type == 0x0a)
			ears_hear(e, type, CRNIC_RSC_QP, 0x123);
	KUNIT_EXPECT_EQ(test, e->rsc_events + e->cq_events + e->dev_event, 0);
	ears_close(e);
}

static struct kunit_case async_cases[] = {
	KUNIT_CASE(queue_hears_events_of_its_kind_and_number),
	KUNIT_CASE(srq_hears_its_limit_whatever_the_queue_type),
	KUNIT_CASE(queue_that_left_hears_nothing),
	KUNIT_CASE(number_given_out_twice_is_refused),
	KUNIT_CASE(cq_hears_its_error),
	KUNIT_CASE(port_events_are_told_apart),
	KUNIT_CASE(device_is_asked_for_what_has_a_listener),
	KUNIT_CASE(event_that_nobody_knows_is_passed_over),
	{}
};

static struct kunit_suite async_suite = {
	.name = "crnic_core_async",
	.test_cases = async_cases,
};

kunit_test_suite(async_suite);
