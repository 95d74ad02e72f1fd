// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* WQEs, byte by byte, and nothing but the WQE's own blocks touched. */
#include <kunit/test.h>
#include <linux/unaligned.h>

#include "../drivers/infiniband/hw/crnic/ib/wqe.h"

#define RING_BBS	8
#define RING_BYTES	(RING_BBS * CRNIC_WQE_BB)
#define GUARD		0xa5
#define QPN		0x1234
#define END_KEY		0x4711	/* not the one that older firmware has */

/**
 * struct ib_wqe_state - a send queue
 * @ring: its memory, full of GUARD
 * @sq: queue around it
 * @ctx: an RC QP
 */
struct ib_wqe_state {
	u8 ring[RING_BYTES];
	struct crnic_sq sq;
	struct crnic_sq_ctx ctx;
};

static int ib_wqe_init(struct kunit *test)
{
	struct ib_wqe_state *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	memset(s->ring, GUARD, sizeof(s->ring));
	s->sq.buf = s->ring;
	s->sq.bbs = RING_BBS;
	s->ctx = (struct crnic_sq_ctx) {
		.type = IB_QPT_RC, .qpn = QPN, .max_sge = 4, .max_inline = 100,
	};
	test->priv = s;
	return 0;
}

static u32 word(const struct ib_wqe_state *s, u32 at)
{
	return get_unaligned_be32(&s->ring[at % RING_BYTES]);
}

static void expect_words(struct kunit *test, u32 at, const u32 *want, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++)
		KUNIT_EXPECT_EQ_MSG(test, word(test->priv, at + 4 * i), want[i], "word %u", i);
}

#define EXPECT_WORDS(test, at, ...)					\
	expect_words(test, at, (const u32[]){ __VA_ARGS__ },		\
		     sizeof((const u32[]){ __VA_ARGS__ }) / sizeof(u32))

/* all of the ring but @num bytes from @at on is as it was */
static void expect_guard(struct kunit *test, u32 at, u32 num)
{
	const struct ib_wqe_state *s = test->priv;
	u32 i;

	for (i = 0; i < RING_BYTES - num; i++)
		KUNIT_EXPECT_EQ(test, s->ring[(at + num + i) % RING_BYTES], GUARD);
}

static struct ib_sge sges[] = {
	{ .addr = 0x1122334455667788, .length = 0x100, .lkey = 0xabcd },
	{ .addr = 0x1000, .length = 0, .lkey = 0xdead },
	{ .addr = 0x2000, .length = 3, .lkey = 0xef01 },
};

static void builds_a_send(struct kunit *test)
{
	struct ib_wqe_state *s = test->priv;
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_IMM, .sg_list = sges, .num_sge = 1,
		.send_flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED,
		.ex.imm_data = cpu_to_be32(0xcafe),
	};

	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr), 2);
	EXPECT_WORDS(test, 0, 0x0000000b, QPN << 8 | 2, 0x0000000a, 0xcafe,
		     0x100, 0xabcd, 0x11223344, 0x55667788);
	expect_guard(test, 0, 32);
}

static void leaves_out_empty_sges(struct kunit *test)
{
	struct ib_wqe_state *s = test->priv;
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sges, .num_sge = 3 };

	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr), 3);
	EXPECT_WORDS(test, 16, 0x100, 0xabcd, 0x11223344, 0x55667788, 3, 0xef01, 0, 0x2000);
	expect_guard(test, 0, 48);
}

static void builds_a_write_that_wraps(struct kunit *test)
{
	struct ib_wqe_state *s = test->priv;
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = sges, .num_sge = 3,
			.send_flags = IB_SEND_FENCE },
		.remote_addr = 0x8877665544332211, .rkey = 0x77,
	};
	u32 at = (RING_BBS - 1) * CRNIC_WQE_BB;
	struct ib_sge four[] = { sges[0], sges[0], sges[0], sges[2] };

	wr.wr.sg_list = four;
	wr.wr.num_sge = 4;
	s->ctx.pc = 2 * RING_BBS - 1;
	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr.wr), 6);
	EXPECT_WORDS(test, at, (2 * RING_BBS - 1) << 8 | 8, QPN << 8 | 6, 0x00000040, 0,
		     0x88776655, 0x44332211, 0x77, 0,
		     0x100, 0xabcd, 0x11223344, 0x55667788);
	/* the last entry lies in the first block of the ring */
	EXPECT_WORDS(test, 16, 3, 0xef01, 0, 0x2000);
	expect_guard(test, at, 96);
}

static void builds_a_compare_and_swap(struct kunit *test)
{
	struct ib_wqe_state *s = test->priv;
	struct ib_atomic_wr wr = {
		.wr = { .opcode = IB_WR_ATOMIC_CMP_AND_SWP, .sg_list = sges, .num_sge = 1 },
		.remote_addr = 0x10, .rkey = 0x20, .compare_add = 3, .swap = 4,
	};

	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr.wr), 4);
	EXPECT_WORDS(test, 0, 0x11, QPN << 8 | 4, 0, 0, 0, 0x10, 0x20, 0, 0, 4, 0, 3);
}

static void builds_a_fetch_and_add(struct kunit *test)
{
	struct ib_wqe_state *s = test->priv;
	struct ib_atomic_wr wr = {
		.wr = { .opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .sg_list = sges, .num_sge = 1 },
		.remote_addr = 0x10, .rkey = 0x20, .compare_add = 5,
	};

	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr.wr), 4);
	EXPECT_WORDS(test, 32, 0, 5, 0, 0);
}

static void builds_a_datagram(struct kunit *test)
{
	struct crnic_ib_ah ah = { .av = { .tclass = 0x20, .hop_limit = 64 } };
	struct ib_wqe_state *s = test->priv;
	struct ib_ud_wr wr = {
		.wr = { .opcode = IB_WR_SEND, .sg_list = sges, .num_sge = 1 },
		.ah = &ah.ibah, .remote_qpn = 1, .remote_qkey = 0x80010000,
	};

	s->ctx.type = IB_QPT_GSI;
	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr.wr), 5);
	EXPECT_WORDS(test, 16, 0x80010000, 0, 0x80000001, 0, 0, 0, 0x00002040);
	EXPECT_WORDS(test, 64, 0x100, 0xabcd, 0x11223344, 0x55667788);
	expect_guard(test, 0, 80);
}

static void copies_inline_data_and_pads_it(struct kunit *test)
{
	u8 data[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct ib_sge parts[] = {
		{ .addr = (uintptr_t)data, .length = 3 },
		{ .addr = (uintptr_t)data + 3, .length = 4 },
	};
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .sg_list = parts, .num_sge = 2,
		.send_flags = IB_SEND_INLINE,
	};
	struct ib_wqe_state *s = test->priv;

	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr), 2);
	EXPECT_WORDS(test, 16, 0x80000007, 0x01020304, 0x05060700, 0);
	expect_guard(test, 0, 32);
}

static void inline_without_data_has_no_segment(struct kunit *test)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_INLINE };
	struct ib_wqe_state *s = test->priv;

	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr), 1);
	EXPECT_WORDS(test, 0, 0x0a, QPN << 8 | 1, 0, 0);
	expect_guard(test, 0, 16);
}

static void case_20_rejects_inline_lengths_that_overflow(struct kunit *test)
{
	struct ib_sge big[] = { { .length = 0x80000000 }, { .length = 0x80000000 } };
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .sg_list = big, .num_sge = 2, .send_flags = IB_SEND_INLINE,
	};
	struct ib_wqe_state *s = test->priv;

	KUNIT_EXPECT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr), -EINVAL);
}

static void rejects_too_many_sges(struct kunit *test)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sges, .num_sge = 5 };
	struct ib_wqe_state *s = test->priv;

	KUNIT_EXPECT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr), -EINVAL);
	expect_guard(test, 0, 0);
}

static void rejects_opcodes_that_a_type_has_not(struct kunit *test)
{
	struct ib_rdma_wr wr = { .wr = { .opcode = IB_WR_RDMA_READ, .sg_list = sges } };
	struct ib_wqe_state *s = test->priv;

	s->ctx.type = IB_QPT_UC;
	KUNIT_EXPECT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr.wr), -EOPNOTSUPP);
	wr.wr.opcode = 0xf000;
	KUNIT_EXPECT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr.wr), -EOPNOTSUPP);
}

/* offsets in the WQE: UMR control at 16, key at 64, list at 128 */
static void builds_a_registration(struct kunit *test)
{
	struct ib_pd pd = { .local_dma_lkey = 0x500 };
	struct crnic_ib_mr mr = {
		.ibmr = { .pd = &pd, .iova = 0x7000, .length = 0x3000, .page_size = 4096 },
		.descs_dma = 0x90000, .ndescs = 3,
	};
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR }, .mr = &mr.ibmr, .key = 0x4242,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ,
	};
	struct ib_wqe_state *s = test->priv;

	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr.wr), 9);
	EXPECT_WORDS(test, 0, 0x25, QPN << 8 | 9, 0, 0x4242, 0x20000000, 4 << 16);
	EXPECT_WORDS(test, 64, 0x00009d00, 0xffffff42);
	EXPECT_WORDS(test, 128, 64, 0x500, 0, 0x90000);
	expect_guard(test, 0, 144);
	KUNIT_EXPECT_TRUE(test, crnic_wqe_owes_fence(IB_WR_REG_MR));
	KUNIT_EXPECT_FALSE(test, crnic_wqe_owes_fence(IB_WR_SEND));
}

/* the page size of the list, not the CPU's, is what addresses are cut by */
static void case_47_registers_pages_of_64_kib(struct kunit *test)
{
	struct ib_pd pd = { .local_dma_lkey = 0x500 };
	struct crnic_ib_mr mr = {
		.ibmr = { .pd = &pd, .iova = 0x7000, .length = 0x30000, .page_size = 65536 },
		.descs_dma = 0x90000, .ndescs = 4,
	};
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR }, .mr = &mr.ibmr, .key = 0x4242,
		.access = IB_ACCESS_LOCAL_WRITE,
	};
	struct ib_wqe_state *s = test->priv;
	const struct mlx5_mkey_seg *mkey = (void *)s->ring + 64;

	KUNIT_ASSERT_EQ(test, crnic_wqe_build(&s->sq, &s->ctx, &wr.wr), 9);
	KUNIT_EXPECT_EQ(test, mkey->log2_page_size, 16);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(mkey->start_addr), 0x7000);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(mkey->len), 0x30000);
}

static void ends_a_short_receive_list(struct kunit *test)
{
	struct ib_recv_wr wr = { .sg_list = sges, .num_sge = 3 };
	struct ib_wqe_state *s = test->priv;

	crnic_rwqe_build(s->ring, 4, &wr, cpu_to_be32(END_KEY));
	EXPECT_WORDS(test, 0, 0x100, 0xabcd, 0x11223344, 0x55667788, 3, 0xef01, 0, 0x2000,
		     0, END_KEY, 0, 0);
	expect_guard(test, 0, 48);
}

static void full_receive_list_has_no_end(struct kunit *test)
{
	struct ib_recv_wr wr = { .sg_list = sges, .num_sge = 1 };
	struct ib_wqe_state *s = test->priv;

	crnic_rwqe_build(s->ring, 1, &wr, cpu_to_be32(END_KEY));
	expect_guard(test, 0, 16);
}

static struct kunit_case ib_wqe_cases[] = {
	KUNIT_CASE(builds_a_send),
	KUNIT_CASE(leaves_out_empty_sges),
	KUNIT_CASE(builds_a_write_that_wraps),
	KUNIT_CASE(builds_a_compare_and_swap),
	KUNIT_CASE(builds_a_fetch_and_add),
	KUNIT_CASE(builds_a_datagram),
	KUNIT_CASE(copies_inline_data_and_pads_it),
	KUNIT_CASE(inline_without_data_has_no_segment),
	KUNIT_CASE(case_20_rejects_inline_lengths_that_overflow),
	KUNIT_CASE(rejects_too_many_sges),
	KUNIT_CASE(rejects_opcodes_that_a_type_has_not),
	KUNIT_CASE(builds_a_registration),
	KUNIT_CASE(case_47_registers_pages_of_64_kib),
	KUNIT_CASE(ends_a_short_receive_list),
	KUNIT_CASE(full_receive_list_has_no_end),
	{}
};

static struct kunit_suite ib_wqe_suite = {
	.name = "crnic_ib_wqe",
	.init = ib_wqe_init,
	.test_cases = ib_wqe_cases,
};

kunit_test_suite(ib_wqe_suite);

MODULE_LICENSE("Dual BSD/GPL");
