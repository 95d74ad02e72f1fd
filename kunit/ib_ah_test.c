// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address vectors: what a datagram is sent with. */
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"
#include "fake_fw.h"

#define MIN_PORT	0xc000
#define ECN_CAPABLE	2

/**
 * struct ib_av_case - an address, and its vector
 * @name: what is shown
 * @gid_type: of the source
 * @tclass: traffic class
 * @flow_label: flow label
 * @want_tclass: in the vector
 * @want_port: UDP source port in the vector
 */
struct ib_av_case {
	const char *name;
	enum ib_gid_type gid_type;
	u8 tclass;
	u32 flow_label;
	u8 want_tclass;
	u16 want_port;
};

static const struct ib_av_case ib_av_cases[] = {
	{ "v2_can_be_marked", IB_GID_TYPE_ROCE_UDP_ENCAP, 0x60, 0, 0x60 | ECN_CAPABLE, MIN_PORT },
	{ "v2_has_a_port_of_its_label", IB_GID_TYPE_ROCE_UDP_ENCAP, 0, 0x12345, ECN_CAPABLE,
	  0xc000 | ((0x12345 & 0x3fff) ^ (0x12345 >> 14)) },
	{ "v1_has_neither", IB_GID_TYPE_ROCE, 0x60, 0x12345, 0x60, 0 },
};

KUNIT_ARRAY_PARAM_DESC(ib_av, ib_av_cases, name);

static void fills_the_vector(struct kunit *test)
{
	const struct ib_av_case *c = test->param_value;
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct crnic_ib *ib = kunit_kzalloc(test, sizeof(*ib), GFP_KERNEL);
	struct ib_gid_attr sgid = { .gid_type = c->gid_type };
	struct crnic_ib_ah ah = {};
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_ROCE, .ah_flags = IB_AH_GRH, .sl = 3,
		.roce.dmac = { 2, 3, 4, 5, 6, 7 },
		.grh = { .sgid_attr = &sgid, .sgid_index = 5, .hop_limit = 64,
			 .traffic_class = c->tclass, .flow_label = c->flow_label },
	}, told;
	struct rdma_ah_init_attr init = { .ah_attr = &attr };

	KUNIT_ASSERT_NOT_NULL(test, ib);
	ib->dev = fw->dev;
	MLX5_SET(roce_cap, fw->dev->caps->cur[CRNIC_CAPS_ROCE], r_roce_min_src_udp_port,
		 MIN_PORT);
	ah.ibah.device = &ib->ibdev;
	KUNIT_ASSERT_EQ(test, crnic_ib_create_ah(&ah.ibah, &init, NULL), 0);
	KUNIT_EXPECT_EQ(test, ah.av.tclass, c->want_tclass);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(ah.av.udp_sport), c->want_port);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(ah.av.grh_gid_fl), BIT(30) | 5 << 20 | c->flow_label);
	KUNIT_EXPECT_EQ(test, ah.av.stat_rate_sl, 3 << 1);
	KUNIT_EXPECT_MEMEQ(test, ah.av.rmac, attr.roce.dmac, 6);

	/* the user hears what he said */
	KUNIT_ASSERT_EQ(test, crnic_ib_query_ah(&ah.ibah, &told), 0);
	KUNIT_EXPECT_EQ(test, told.grh.traffic_class, c->tclass);
	KUNIT_EXPECT_EQ(test, told.grh.flow_label, c->flow_label);
	KUNIT_EXPECT_EQ(test, told.grh.sgid_index, 5);
	KUNIT_EXPECT_EQ(test, told.grh.hop_limit, 64);
	KUNIT_EXPECT_EQ(test, told.sl, 3);
}

static void rejects_addresses_without_a_grh(struct kunit *test)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	struct rdma_ah_init_attr init = { .ah_attr = &attr };
	struct crnic_ib_ah ah = {};

	KUNIT_EXPECT_EQ(test, crnic_ib_create_ah(&ah.ibah, &init, NULL), -EINVAL);
}

static struct kunit_case ib_ah_cases[] = {
	KUNIT_CASE_PARAM(fills_the_vector, ib_av_gen_params),
	KUNIT_CASE(rejects_addresses_without_a_grh),
	{}
};

static struct kunit_suite ib_ah_suite = {
	.name = "crnic_ib_ah",
	.test_cases = ib_ah_cases,
};

kunit_test_suite(ib_ah_suite);

MODULE_LICENSE("Dual BSD/GPL");
