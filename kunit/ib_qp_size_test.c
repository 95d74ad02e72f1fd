// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sizes of QP rings: what users may give, and what the kernel chooses. */
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"

static const struct crnic_qp_limits ib_lim = {
	.max_wr = 8192,
	.max_send_sge = 30,
	.max_recv_sge = 30,
	.max_ring = 32768,
	.max_sq_desc = 1008,
	.max_rq_desc = 512,
};

/**
 * struct ib_size_case - a user's request
 * @name: what is shown
 * @type: QP type
 * @send: max_send_wr
 * @recv: max_recv_wr
 * @sge: max_recv_sge
 * @ucmd: the library's numbers
 * @err: result
 */
struct ib_size_case {
	const char *name;
	enum ib_qp_type type;
	u32 send;
	u32 recv;
	u32 sge;
	struct mlx5_ib_create_qp ucmd;
	int err;
};

#define UCMD(sq, rq, shift)						\
	{ .buf_addr = 0x10000, .sq_wqe_count = sq, .rq_wqe_count = rq, .rq_wqe_shift = shift }

static const struct ib_size_case ib_size_cases[] = {
	{ "takes_powers_of_two", IB_QPT_RC, 100, 100, 1, UCMD(256, 128, 4), 0 },
	{ "takes_the_largest", IB_QPT_RC, 8192, 8192, 30, UCMD(32768, 32768, 9), 0 },
	{ "takes_no_receive_queue", IB_QPT_RC, 1, 0, 0, UCMD(4, 0, 0), 0 },
	{ "takes_no_send_queue", IB_QPT_UD, 0, 1, 1, UCMD(0, 4, 4), 0 },
	{ "rejects_odd_send_count", IB_QPT_RC, 1, 1, 1, UCMD(3, 4, 4), -EINVAL },
	{ "rejects_odd_receive_count", IB_QPT_RC, 1, 1, 1, UCMD(4, 6, 4), -EINVAL },
	{ "rejects_send_count_beyond_limit", IB_QPT_RC, 1, 1, 1, UCMD(65536, 4, 4), -EINVAL },
	{ "rejects_receive_count_beyond_limit", IB_QPT_RC, 1, 1, 1, UCMD(4, 65536, 4), -EINVAL },
	{ "case_19_rejects_count_of_2_to_31", IB_QPT_RC, 1, 1, 1, UCMD(0x80000000, 4, 4), -EINVAL },
	{ "rejects_fewer_blocks_than_requests", IB_QPT_RC, 5, 1, 1, UCMD(4, 4, 4), -EINVAL },
	{ "rejects_fewer_wqes_than_requests", IB_QPT_RC, 1, 5, 1, UCMD(4, 4, 4), -EINVAL },
	{ "rejects_sends_beyond_what_was_told", IB_QPT_RC, 8193, 1, 1, UCMD(32768, 4, 4), -EINVAL },
	{ "rejects_receives_beyond_what_was_told", IB_QPT_RC, 1, 8193, 1, UCMD(4, 16384, 4),
	  -EINVAL },
	{ "rejects_sges_beyond_what_was_told", IB_QPT_RC, 1, 1, 31, UCMD(4, 4, 9), -EINVAL },
	{ "case_19_rejects_shift_31", IB_QPT_RC, 1, 1, 1, UCMD(4, 4, 31), -EINVAL },
	{ "case_19_rejects_shift_32", IB_QPT_RC, 1, 1, 1, UCMD(4, 4, 32), -EINVAL },
	{ "rejects_shift_of_all_ones", IB_QPT_RC, 1, 1, 1, UCMD(4, 4, ~0U), -EINVAL },
	{ "rejects_shift_below_one_entry", IB_QPT_RC, 1, 1, 1, UCMD(4, 4, 3), -EINVAL },
	{ "rejects_stride_beyond_limit", IB_QPT_RC, 1, 1, 1, UCMD(4, 4, 10), -EINVAL },
	{ "rejects_stride_too_short_for_sges", IB_QPT_RC, 1, 1, 3, UCMD(4, 4, 5), -EINVAL },
	{ "case_19_rejects_sges_that_overflow", IB_QPT_RC, 1, 1, ~0U, UCMD(4, 4, 9), -EINVAL },
	{ "rejects_count_without_requests", IB_QPT_RC, 1, 0, 0, UCMD(4, 4, 4), -EINVAL },
	{ "rejects_receive_queue_of_xrc", IB_QPT_XRC_INI, 1, 1, 1, UCMD(4, 4, 4), -EINVAL },
	{ "rejects_missing_send_queue", IB_QPT_RC, 1, 1, 1, UCMD(0, 4, 4), -EINVAL },
	{ "takes_raw_with_two_buffers", IB_QPT_RAW_PACKET, 1, 1, 1,
	  { .buf_addr = 0x10000, .sq_buf_addr = 0x20000, .sq_wqe_count = 4, .rq_wqe_count = 4,
	    .rq_wqe_shift = 4 }, 0 },
	{ "takes_raw_that_only_sends", IB_QPT_RAW_PACKET, 1, 0, 0,
	  { .sq_buf_addr = 0x20000, .sq_wqe_count = 4 }, 0 },
	{ "rejects_raw_without_send_buffer", IB_QPT_RAW_PACKET, 1, 1, 1, UCMD(4, 4, 4), -EINVAL },
	{ "rejects_raw_without_receive_buffer", IB_QPT_RAW_PACKET, 1, 1, 1,
	  { .sq_buf_addr = 0x20000, .sq_wqe_count = 4, .rq_wqe_count = 4, .rq_wqe_shift = 4 },
	  -EINVAL },
	{ "rejects_raw_without_queues", IB_QPT_RAW_PACKET, 0, 0, 0, { .buf_addr = 0x10000 },
	  -EINVAL },
	{ "rejects_missing_buffer", IB_QPT_RC, 1, 1, 1,
	  { .sq_wqe_count = 4, .rq_wqe_count = 4, .rq_wqe_shift = 4 }, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(ib_size, ib_size_cases, name);

static void checks_what_users_give(struct kunit *test)
{
	const struct ib_size_case *c = test->param_value;
	struct ib_qp_init_attr attr = {
		.qp_type = c->type,
		.cap = { .max_send_wr = c->send, .max_recv_wr = c->recv, .max_recv_sge = c->sge },
	};
	struct crnic_qp_size size;

	KUNIT_EXPECT_EQ(test, crnic_qp_size_user(&ib_lim, &attr, &c->ucmd, &size), c->err);
	if (c->err)
		return;
	KUNIT_EXPECT_EQ(test, crnic_qp_bytes(&size),
			((size_t)c->ucmd.rq_wqe_count << c->ucmd.rq_wqe_shift) +
			c->ucmd.sq_wqe_count * 64UL);
}

/**
 * struct ib_choice_case - a kernel user's request
 * @name: what is shown
 * @type: QP type
 * @cap: what is asked
 * @frwr: the device has fast registration
 * @err: result
 * @want: sizes
 */
struct ib_choice_case {
	const char *name;
	enum ib_qp_type type;
	struct ib_qp_cap cap;
	bool frwr;
	int err;
	struct crnic_qp_size want;
};

#define CAP(swr, rwr, ssge, rsge, inl)					\
	{ .max_send_wr = swr, .max_recv_wr = rwr, .max_send_sge = ssge,	\
	  .max_recv_sge = rsge, .max_inline_data = inl }

static const struct ib_choice_case ib_choice_cases[] = {
	/* 16 + 16 + 16 + 16 bytes are one block */
	{ "rc_of_one_sge_takes_a_block", IB_QPT_RC, CAP(128, 128, 1, 1, 0), false, 0,
	  { .sq_bbs = 128, .wqe_bbs = 1, .rq_size = 128, .rq_shift = 4 } },
	{ "rc_of_two_sges_takes_two", IB_QPT_RC, CAP(100, 100, 2, 2, 0), false, 0,
	  { .sq_bbs = 256, .wqe_bbs = 2, .rq_size = 128, .rq_shift = 5 } },
	/* 16 + 48 + 64 + 16 bytes */
	{ "registration_takes_three", IB_QPT_RC, CAP(64, 1, 1, 1, 0), true, 0,
	  { .sq_bbs = 256, .wqe_bbs = 3, .rq_size = 1, .rq_shift = 4 } },
	/* what ib_mad asks for QP1: 16 + 48 + 2 * 16 */
	{ "gsi_has_room_for_an_address", IB_QPT_GSI, CAP(128, 512, 2, 1, 0), false, 0,
	  { .sq_bbs = 256, .wqe_bbs = 2, .rq_size = 512, .rq_shift = 4 } },
	/* 32 + align(4 + 29, 16) = 80 */
	{ "inline_data_counts_its_header", IB_QPT_UC, CAP(1, 0, 1, 0, 29), false, 0,
	  { .sq_bbs = 2, .wqe_bbs = 2 } },
	{ "three_receive_sges_round_up", IB_QPT_UD, CAP(0, 3, 0, 3, 0), false, 0,
	  { .rq_size = 4, .rq_shift = 6 } },
	{ "rejects_too_many_sges", IB_QPT_RC, CAP(1, 1, 64, 1, 0), false, -EINVAL, {} },
	{ "case_19_rejects_sges_that_overflow", IB_QPT_RC, CAP(1, 1, 0x10000001, 1, 0), false,
	  -EINVAL, {} },
	{ "rejects_inline_that_overflows", IB_QPT_RC, CAP(1, 1, 1, 1, ~0U), false, -EINVAL, {} },
	{ "rejects_a_ring_that_is_too_long", IB_QPT_RC, CAP(8192, 1, 30, 1, 0), false,
	  -ENOMEM, {} },
	{ "rejects_receive_requests_beyond_limit", IB_QPT_RC, CAP(1, 8193, 1, 1, 0), false,
	  -EINVAL, {} },
	{ "rejects_receive_sges_beyond_limit", IB_QPT_RC, CAP(1, 1, 1, 31, 0), false, -EINVAL, {} },
};

KUNIT_ARRAY_PARAM_DESC(ib_choice, ib_choice_cases, name);

static void chooses_sizes_for_the_kernel(struct kunit *test)
{
	const struct ib_choice_case *c = test->param_value;
	struct ib_qp_init_attr attr = { .qp_type = c->type, .cap = c->cap };
	struct crnic_qp_limits lim = ib_lim;
	struct crnic_qp_size size;

	lim.frwr = c->frwr;
	KUNIT_ASSERT_EQ(test, crnic_qp_size_kernel(&lim, &attr, &size), c->err);
	if (c->err)
		return;
	KUNIT_EXPECT_EQ(test, size.sq_bbs, c->want.sq_bbs);
	KUNIT_EXPECT_EQ(test, size.wqe_bbs, c->want.wqe_bbs);
	KUNIT_EXPECT_EQ(test, size.rq_size, c->want.rq_size);
	KUNIT_EXPECT_EQ(test, size.rq_shift, c->want.rq_shift);
	KUNIT_EXPECT_GE(test, attr.cap.max_send_wr, c->cap.max_send_wr);
	KUNIT_EXPECT_GE(test, attr.cap.max_recv_wr, c->cap.max_recv_wr);
}

/* An RQ's context has 5 bits for where its ring starts in a page, a QP's 6. */
static void raw_ring_is_shaped_as_an_rq(struct kunit *test)
{
	const struct crnic_qp_size size = { .sq_bbs = 4, .rq_size = 8, .rq_shift = 5 };
	struct crnic_ring_user u = {};

	crnic_qp_ring_shape(IB_QPT_RAW_PACKET, &size, &u);
	KUNIT_EXPECT_EQ(test, u.bytes, 256);
	KUNIT_EXPECT_EQ(test, u.offset_bits, 5);
	crnic_qp_ring_shape(IB_QPT_RC, &size, &u);
	KUNIT_EXPECT_EQ(test, u.bytes, 512);
	KUNIT_EXPECT_EQ(test, u.offset_bits, 6);
}

static struct kunit_case ib_qp_size_cases[] = {
	KUNIT_CASE_PARAM(checks_what_users_give, ib_size_gen_params),
	KUNIT_CASE_PARAM(chooses_sizes_for_the_kernel, ib_choice_gen_params),
	KUNIT_CASE(raw_ring_is_shaped_as_an_rq),
	{}
};

static struct kunit_suite ib_qp_size_suite = {
	.name = "crnic_ib_qp_size",
	.test_cases = ib_qp_size_cases,
};

kunit_test_suite(ib_qp_size_suite);

MODULE_LICENSE("Dual BSD/GPL");
