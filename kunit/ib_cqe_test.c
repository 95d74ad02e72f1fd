// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* CQEs: what they say, which WQE they retire, and CQEs that must not be believed. */
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"

static struct mlx5_cqe64 cqe_of(u8 opcode)
{
	return (struct mlx5_cqe64) { .op_own = opcode << 4 };
}

/**
 * struct ib_syndrome_case - an error CQE
 * @name: what is shown
 * @syndrome: of the CQE
 * @vendor: of the CQE
 * @status: of the completion
 */
struct ib_syndrome_case {
	const char *name;
	u8 syndrome;
	u8 vendor;
	enum ib_wc_status status;
};

static const struct ib_syndrome_case ib_syndrome_cases[] = {
	{ "length", 0x01, 0x8e, IB_WC_LOC_LEN_ERR },
	{ "qp_operation", 0x02, 0x68, IB_WC_LOC_QP_OP_ERR },
	{ "protection", 0x04, 0x51, IB_WC_LOC_PROT_ERR },
	{ "flush", 0x05, 0xf9, IB_WC_WR_FLUSH_ERR },
	{ "window_bind", 0x06, 0, IB_WC_MW_BIND_ERR },
	{ "bad_response", 0x10, 0, IB_WC_BAD_RESP_ERR },
	{ "local_access", 0x11, 0, IB_WC_LOC_ACCESS_ERR },
	{ "remote_invalid_request", 0x12, 0x8a, IB_WC_REM_INV_REQ_ERR },
	{ "remote_access", 0x13, 0x88, IB_WC_REM_ACCESS_ERR },
	{ "remote_operation", 0x14, 0x89, IB_WC_REM_OP_ERR },
	{ "retries", 0x15, 0x81, IB_WC_RETRY_EXC_ERR },
	{ "rnr_retries", 0x16, 0x87, IB_WC_RNR_RETRY_EXC_ERR },
	{ "aborted", 0x22, 0, IB_WC_REM_ABORT_ERR },
	{ "zero_is_no_success", 0x00, 0, IB_WC_GENERAL_ERR },
	{ "gap_in_the_table", 0x03, 0, IB_WC_GENERAL_ERR },
	{ "beyond_the_table", 0xff, 0, IB_WC_GENERAL_ERR },
};

KUNIT_ARRAY_PARAM_DESC(ib_syndrome, ib_syndrome_cases, name);

static void maps_syndromes(struct kunit *test)
{
	const struct ib_syndrome_case *c = test->param_value;
	struct mlx5_err_cqe err = {
		.syndrome = c->syndrome, .vendor_err_synd = c->vendor,
		.op_own = MLX5_CQE_REQ_ERR << 4,
	};
	struct ib_wc wc = {};

	crnic_cqe_parse((const struct mlx5_cqe64 *)&err, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, c->status);
	KUNIT_EXPECT_EQ(test, wc.vendor_err, c->vendor);
}

static void tells_the_length_of_a_read(struct kunit *test)
{
	struct mlx5_cqe64 cqe = cqe_of(MLX5_CQE_REQ);
	struct ib_wc wc = {};

	cqe.sop_drop_qpn = cpu_to_be32(MLX5_OPCODE_RDMA_READ << 24 | 0x55);
	cqe.byte_cnt = cpu_to_be32(1000);
	crnic_cqe_parse(&cqe, &wc);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 1000);
}

static void tells_a_received_immediate(struct kunit *test)
{
	struct mlx5_cqe64 cqe = cqe_of(MLX5_CQE_RESP_WR_IMM);
	struct ib_wc wc = {};

	cqe.immediate = cpu_to_be32(0x12345678);
	cqe.byte_cnt = cpu_to_be32(64);
	crnic_cqe_parse(&cqe, &wc);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x12345678);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 64);
}

static void tells_an_invalidated_key(struct kunit *test)
{
	struct mlx5_cqe64 cqe = cqe_of(MLX5_CQE_RESP_SEND_INV);
	struct ib_wc wc = {};

	cqe.inval_rkey = cpu_to_be32(0x777);
	crnic_cqe_parse(&cqe, &wc);
	KUNIT_EXPECT_TRUE(test, wc.wc_flags & IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey, 0x777);
}

struct ib_network_case {
	const char *name;
	u32 rqpn;
	u8 vlan;
	enum rdma_network_type type;
	int flags;
};

static const struct ib_network_case ib_network_cases[] = {
	{ "roce_v1", 0x10000001, 0, RDMA_NETWORK_ROCE_V1, IB_WC_GRH },
	{ "ipv6", 0x11000001, 0, RDMA_NETWORK_IPV6, IB_WC_GRH },
	{ "ipv4", 0x12000001, 0, RDMA_NETWORK_IPV4, IB_WC_GRH },
	{ "ipv4_in_a_vlan", 0x12000001, 1, RDMA_NETWORK_IPV4, IB_WC_GRH | IB_WC_WITH_VLAN },
	{ "no_grh", 0x02000001, 0, RDMA_NETWORK_IPV4, 0 },
	{ "unknown_header", 0x13000001, 0, RDMA_NETWORK_ROCE_V1, IB_WC_GRH },
};

KUNIT_ARRAY_PARAM_DESC(ib_network, ib_network_cases, name);

static void tells_how_a_datagram_came(struct kunit *test)
{
	const struct ib_network_case *c = test->param_value;
	struct mlx5_cqe64 cqe = cqe_of(MLX5_CQE_RESP_SEND);
	struct ib_wc wc = {};

	cqe.flags_rqpn = cpu_to_be32(c->rqpn);
	cqe.l4_l3_hdr_type = c->vlan;
	cqe.vlan_info = cpu_to_be16(5 << 13 | 100);
	crnic_cqe_parse(&cqe, &wc);
	KUNIT_EXPECT_EQ(test, wc.src_qp, 1);
	KUNIT_EXPECT_EQ(test, wc.network_hdr_type, c->type);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, c->flags | IB_WC_WITH_NETWORK_HDR_TYPE);
	KUNIT_EXPECT_EQ(test, wc.vlan_id, c->vlan ? 100 : 0);
	KUNIT_EXPECT_EQ(test, wc.sl, c->vlan ? 5 : 0);
}

/* three WQEs of 1, 2 and 1 blocks that begin just before the counter wraps */
#define FIRST		0xfffe

static struct crnic_sq *sq_with_three(struct kunit *test)
{
	struct crnic_sq *sq = kunit_kzalloc(test, sizeof(*sq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sq);
	sq->bbs = 8;
	sq->wrs = kunit_kcalloc(test, sq->bbs, sizeof(*sq->wrs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sq->wrs);
	sq->cc = FIRST;
	sq->wrs[6] = (struct crnic_sq_wr) { .wr_id = 10, .next = 0xffff };
	sq->wrs[7] = (struct crnic_sq_wr) { .wr_id = 11, .next = 1 };
	sq->wrs[1] = (struct crnic_sq_wr) { .wr_id = 12, .next = 2 };
	sq->pc = 2;
	return sq;
}

static void retires_in_order(struct kunit *test)
{
	struct crnic_sq *sq = sq_with_three(test);
	struct crnic_sq_wr wr;

	KUNIT_ASSERT_TRUE(test, crnic_sq_retire(sq, FIRST, &wr));
	KUNIT_EXPECT_EQ(test, wr.wr_id, 10);
	KUNIT_ASSERT_TRUE(test, crnic_sq_retire(sq, 0xffff, &wr));
	KUNIT_EXPECT_EQ(test, wr.wr_id, 11);
	KUNIT_ASSERT_TRUE(test, crnic_sq_retire(sq, 1, &wr));
	KUNIT_EXPECT_EQ(test, wr.wr_id, 12);
	KUNIT_EXPECT_EQ(test, sq->cc, sq->pc);
}

static void retires_unsignalled_ones_before(struct kunit *test)
{
	struct crnic_sq *sq = sq_with_three(test);
	struct crnic_sq_wr wr;

	KUNIT_ASSERT_TRUE(test, crnic_sq_retire(sq, 1, &wr));
	KUNIT_EXPECT_EQ(test, wr.wr_id, 12);
	KUNIT_EXPECT_EQ(test, sq->cc, sq->pc);
}

static void does_not_retire_twice(struct kunit *test)
{
	struct crnic_sq *sq = sq_with_three(test);
	struct crnic_sq_wr wr;

	KUNIT_ASSERT_TRUE(test, crnic_sq_retire(sq, 0xffff, &wr));
	KUNIT_EXPECT_FALSE(test, crnic_sq_retire(sq, 0xffff, &wr));
	KUNIT_EXPECT_FALSE(test, crnic_sq_retire(sq, FIRST, &wr));
	KUNIT_EXPECT_EQ(test, sq->cc, 1);
}

static void does_not_retire_the_middle_of_a_wqe(struct kunit *test)
{
	struct crnic_sq *sq = sq_with_three(test);
	struct crnic_sq_wr wr;

	KUNIT_EXPECT_FALSE(test, crnic_sq_retire(sq, 0, &wr));
	KUNIT_EXPECT_EQ(test, sq->cc, FIRST);
}

static void does_not_retire_what_was_not_posted(struct kunit *test)
{
	struct crnic_sq *sq = sq_with_three(test);
	struct crnic_sq_wr wr;

	KUNIT_EXPECT_FALSE(test, crnic_sq_retire(sq, 2, &wr));
	KUNIT_EXPECT_FALSE(test, crnic_sq_retire(sq, 0x8000, &wr));
	KUNIT_EXPECT_EQ(test, sq->cc, FIRST);
}

static struct kunit_case ib_cqe_cases[] = {
	KUNIT_CASE_PARAM(maps_syndromes, ib_syndrome_gen_params),
	KUNIT_CASE(tells_the_length_of_a_read),
	KUNIT_CASE(tells_a_received_immediate),
	KUNIT_CASE(tells_an_invalidated_key),
	KUNIT_CASE_PARAM(tells_how_a_datagram_came, ib_network_gen_params),
	KUNIT_CASE(retires_in_order),
	KUNIT_CASE(retires_unsignalled_ones_before),
	KUNIT_CASE(does_not_retire_twice),
	KUNIT_CASE(does_not_retire_the_middle_of_a_wqe),
	KUNIT_CASE(does_not_retire_what_was_not_posted),
	{}
};

static struct kunit_suite ib_cqe_suite = {
	.name = "crnic_ib_cqe",
	.test_cases = ib_cqe_cases,
};

kunit_test_suite(ib_cqe_suite);

MODULE_LICENSE("Dual BSD/GPL");
