// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Flow rules of users: what is let in, where it goes in the table, what is left behind. */
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"
#include "fake_fw.h"

#define OUTER	1
#define TIRN	0x123
#define NETDEV	0x77	/* table that frames start at without rules */

/**
 * struct mask_case - a user's mask: one byte of it, the rest is zero
 * @name: what is shown
 * @offset: which byte
 * @byte: its value
 * @len: bytes that the user gives
 * @criteria: match_criteria_enable
 * @err: result
 */
struct mask_case {
	const char *name;
	unsigned int offset;
	u8 byte;
	size_t len;
	u8 criteria;
	int err;
};

static const struct mask_case mask_cases[] = {
	{ "takes_an_empty_mask_of_full_length", 0, 0, 0x180, 0, 0 },
	{ "takes_an_empty_mask_of_outer_headers", 0, 0, 1, OUTER, 0 },
	{ "takes_a_source_mac_alone", 5, 0xff, 6, OUTER, 0 },
	{ "takes_part_of_a_field", 0x10, 0x0f, 64, OUTER, 0 },
	{ "takes_the_last_byte_of_the_outer_headers", 63, 0x01, 64, OUTER, 0 },
	{ "rejects_a_mask_that_does_not_count", 0, 0xff, 64, 0, -EINVAL },
	{ "rejects_misc_parameters", 64, 0x01, 0x180, OUTER, -EOPNOTSUPP },
	{ "rejects_the_last_byte_that_may_be", 639, 0x80, 640, OUTER, -EOPNOTSUPP },
	{ "rejects_criteria_of_misc_parameters", 0, 0, 64, 3, -EOPNOTSUPP },
	{ "rejects_criteria_of_inner_headers", 0, 0, 64, 4, -EOPNOTSUPP },
	{ "rejects_criteria_that_are_not_defined", 0, 0, 64, 0x80, -EOPNOTSUPP },
	{ "rejects_a_reserved_bit", 0x19, 0x01, 64, OUTER, -EOPNOTSUPP },
	{ "rejects_the_hop_limit", 0x1b, 0xff, 64, OUTER, -EOPNOTSUPP },
	{ "rejects_the_canonical_bit_of_a_tag", 0x0e, 0x10, 64, OUTER, -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(mask, mask_cases, name);

static void checks_masks(struct kunit *test)
{
	const struct mask_case *c = test->param_value;
	struct crnic_flow_match mask;
	u8 *param = kunit_kzalloc(test, c->len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, param);
	param[c->offset] = c->byte;
	KUNIT_EXPECT_EQ(test, crnic_flow_mask_parse(param, c->len, c->criteria, &mask), c->err);
}

static void reads_what_the_device_would(struct kunit *test)
{
	u32 param[MLX5_ST_SZ_DW(fte_match_param)] = {};
	struct crnic_flow_match m;

	MLX5_SET(fte_match_param, param, outer_headers.smac_47_16, 0x248a07a5);
	MLX5_SET(fte_match_param, param, outer_headers.smac_15_0, 0x28c8);
	MLX5_SET(fte_match_param, param, outer_headers.ethertype, 0x86dd);
	MLX5_SET(fte_match_param, param, outer_headers.first_vid, 0xabc);
	MLX5_SET(fte_match_param, param, outer_headers.tcp_flags, 0x1ff);
	MLX5_SET(fte_match_param, param, outer_headers.udp_dport, 4791);
	MLX5_SET(fte_match_param, param,
		 outer_headers.dst_ipv4_dst_ipv6.ipv4_layout.ipv4, 0x0a000002);
	KUNIT_ASSERT_EQ(test, crnic_flow_match_parse(param, sizeof(param), &m), 0);
	KUNIT_EXPECT_MEMEQ(test, m.smac, "\x24\x8a\x07\xa5\x28\xc8", 6);
	KUNIT_EXPECT_EQ(test, m.ethertype, 0x86dd);
	KUNIT_EXPECT_EQ(test, m.vid, 0xabc);
	KUNIT_EXPECT_EQ(test, m.tcp_flags, 0x1ff);
	KUNIT_EXPECT_EQ(test, m.udp_dport, 4791);
	KUNIT_EXPECT_MEMEQ(test, m.dst_ip + 12, "\x0a\x00\x00\x02", 4);
}

static struct crnic_flow_request request(u16 prio, u16 mask, u16 value)
{
	return (struct crnic_flow_request) {
		.mask.udp_dport = mask,
		.value.udp_dport = value,
		.prio = prio,
		.dest = { CRNIC_FLOW_TO_TIR, TIRN },
	};
}

static void checks_requests(struct kunit *test)
{
	struct crnic_flow_request req = request(CRNIC_FLOW_PRIOS - 1, 0xff00, 0x1200);

	req.tag = 0xffffff;
	KUNIT_EXPECT_EQ(test, crnic_flow_check(&req), 0);
	req.tag = 0x1000000;
	KUNIT_EXPECT_EQ(test, crnic_flow_check(&req), -EINVAL);
	req = request(CRNIC_FLOW_PRIOS, 0xff00, 0x1200);
	KUNIT_EXPECT_EQ(test, crnic_flow_check(&req), -EINVAL);
	req = request(0, 0xff00, 0x1201);
	KUNIT_EXPECT_EQ(test, crnic_flow_check(&req), -EINVAL);
	req = request(0, 0, 0);
	req.value.dst_ip[15] = 1;
	KUNIT_EXPECT_EQ(test, crnic_flow_check(&req), -EINVAL);
}

static struct crnic_ib_flows *flows_create(struct kunit *test, struct fake_fw *fw)
{
	struct crnic_ib_flows *flows;

	MLX5_SET(flow_table_nic_cap, fw->dev->caps->cur[CRNIC_CAPS_FLOW_TABLE],
		 flow_table_properties_nic_receive.modify_root, 1);
	fw->dev->rx_table = NETDEV;
	flows = crnic_flows_create(fw->dev);
	KUNIT_ASSERT_NOT_NULL(test, flows);
	return flows;
}

/* Add a rule that has to be let in */
static struct crnic_ib_flow *add(struct kunit *test, struct crnic_ib_flows *flows,
				 const struct crnic_flow_request *req)
{
	struct crnic_ib_flow *flow = crnic_flow_add(flows, req);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(flow), "%pe", flow);
	return flow;
}

static void last_rule_takes_all_with_it(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct crnic_ib_flows *flows = flows_create(test, fw);
	struct crnic_flow_request req = request(3, 0xffff, 7);
	struct crnic_ib_flow *flow;
	const void *in = fw->last_in;

	KUNIT_EXPECT_EQ(test, fw->num_cmds, 0);
	flow = add(test, flows, &req);
	/* table, group, entry */
	KUNIT_EXPECT_EQ(test, fw->objects, 3);
	KUNIT_EXPECT_EQ(test, fw->last_opcode, MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY);
	KUNIT_EXPECT_EQ(test, MLX5_GET(set_fte_in, in, flow_index),
			3 * CRNIC_FLOW_MASKS * CRNIC_FLOW_RULES);
	KUNIT_EXPECT_EQ(test, MLX5_GET(set_fte_in, in, flow_context.destination_list_size), 1);

	KUNIT_EXPECT_EQ(test, crnic_flow_del(flows, flow), 0);
	KUNIT_EXPECT_EQ(test, fw->objects, 0);
	crnic_flows_destroy(flows);
}

static void rules_of_a_mask_share_a_group(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct crnic_ib_flows *flows = flows_create(test, fw);
	struct crnic_flow_request reqs[] = {
		request(0, 0xffff, 1), request(0, 0xffff, 2), request(0, 0xff00, 0x100),
		request(1, 0xffff, 1),
	};
	static const unsigned int groups[] = { 0, 0, 1, CRNIC_FLOW_MASKS };
	struct crnic_ib_flow *made[ARRAY_SIZE(reqs)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reqs); i++) {
		made[i] = add(test, flows, &reqs[i]);
		KUNIT_EXPECT_EQ(test, made[i]->group, groups[i]);
	}
	KUNIT_EXPECT_EQ(test, made[1]->slot, 1);
	/* a table, three groups, four entries */
	KUNIT_EXPECT_EQ(test, fw->objects, 8);
	KUNIT_EXPECT_PTR_EQ(test, crnic_flow_add(flows, &reqs[1]), ERR_PTR(-EEXIST));

	/* a place that is free again is taken again */
	KUNIT_EXPECT_EQ(test, crnic_flow_del(flows, made[0]), 0);
	made[0] = add(test, flows, &reqs[0]);
	KUNIT_EXPECT_EQ(test, made[0]->slot, 0);

	for (i = 0; i < ARRAY_SIZE(made); i++)
		KUNIT_EXPECT_EQ(test, crnic_flow_del(flows, made[i]), 0);
	KUNIT_EXPECT_EQ(test, fw->objects, 0);
	crnic_flows_destroy(flows);
}

static void a_priority_has_an_end(struct kunit *test)
{
	static struct crnic_ib_flow *made[CRNIC_FLOW_MASKS * CRNIC_FLOW_RULES];
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct crnic_ib_flows *flows = flows_create(test, fw);
	struct crnic_flow_request req;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(made); i++) {
		req = request(2, 0xffff, i);
		made[i] = add(test, flows, &req);
		KUNIT_EXPECT_EQ(test, made[i]->group,
				2 * CRNIC_FLOW_MASKS + i / CRNIC_FLOW_RULES);
	}
	/* the value is looked for in all groups of the mask */
	KUNIT_EXPECT_PTR_EQ(test, crnic_flow_add(flows, &req), ERR_PTR(-EEXIST));
	req = request(2, 0xffff, i);
	KUNIT_EXPECT_PTR_EQ(test, crnic_flow_add(flows, &req), ERR_PTR(-ENOSPC));
	req = request(2, 0xff00, 0);
	KUNIT_EXPECT_PTR_EQ(test, crnic_flow_add(flows, &req), ERR_PTR(-ENOSPC));

	for (i = 0; i < ARRAY_SIZE(made); i++)
		KUNIT_EXPECT_EQ(test, crnic_flow_del(flows, made[i]), 0);
	KUNIT_EXPECT_EQ(test, fw->objects, 0);
	crnic_flows_destroy(flows);
}

static void every_command_of_a_rule_may_be_refused(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct crnic_ib_flows *flows = flows_create(test, fw);
	struct crnic_flow_request req = request(0, 0xffff, 1);
	struct crnic_ib_flow *flow = add(test, flows, &req);
	unsigned int n, total = fw->num_cmds;

	KUNIT_EXPECT_EQ(test, crnic_flow_del(flows, flow), 0);
	fw->fail_status = MLX5_CMD_STAT_LIM_ERR;
	for (n = 1; n <= total; n++) {
		fw->num_cmds = 0;
		fw->fail_nth = n;
		KUNIT_EXPECT_PTR_EQ(test, crnic_flow_add(flows, &req), ERR_PTR(-ENOMEM));
		KUNIT_EXPECT_EQ_MSG(test, fw->objects, 0, "command %u of %u", n, total);
	}
	fw->fail_nth = 0;
	crnic_flows_destroy(flows);
}

static void a_rule_that_stays_is_still_there(struct kunit *test)
{
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct crnic_ib_flows *flows = flows_create(test, fw);
	struct crnic_flow_request req = request(0, 0xffff, 1);
	struct crnic_ib_flow *flow = add(test, flows, &req);

	fw->fail_status = MLX5_CMD_STAT_RES_BUSY;
	fw->fail_nth = fw->num_cmds + 1;
	KUNIT_EXPECT_EQ(test, crnic_flow_del(flows, flow), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, crnic_flow_add(flows, &req), ERR_PTR(-EEXIST));
	KUNIT_EXPECT_EQ(test, crnic_flow_del(flows, flow), 0);
	KUNIT_EXPECT_EQ(test, fw->objects, 0);
	crnic_flows_destroy(flows);
}

/**
 * struct spec_case - a rule of verbs
 * @name: what is shown
 * @attr: the rule
 * @specs: its headers, all of the size of the union
 * @err: result
 * @proto: IP protocol that is matched
 */
struct spec_case {
	const char *name;
	struct { u8 type; u8 num; u16 prio; u32 flags; } attr;
	union ib_flow_spec specs[3];
	int err;
	u8 proto;
};

#define SPEC(member, kind, ...) { .member = {			\
	.type = IB_FLOW_SPEC_##kind,				\
	.size = sizeof(union ib_flow_spec), __VA_ARGS__ } }
#define MAC	{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }

static const struct spec_case spec_cases[] = {
	{ "takes_a_rule_without_headers", { .num = 0 }, {}, 0, 0 },
	{ "takes_three_headers", { .num = 3 },
	  { SPEC(eth, ETH, .val.src_mac = MAC, .mask.src_mac = MAC),
	    SPEC(ipv4, IPV4, .val.src_ip = 1, .mask.src_ip = ~0),
	    SPEC(tcp_udp, UDP, .val.dst_port = 1, .mask.dst_port = 0xffff) }, 0, IPPROTO_UDP },
	{ "takes_transport_before_network", { .num = 2 },
	  { SPEC(tcp_udp, TCP), SPEC(ipv6, IPV6, .val.next_hdr = IPPROTO_TCP,
				     .mask.next_hdr = 0xff) }, 0, IPPROTO_TCP },
	{ "takes_a_tag_and_a_drop", { .num = 2 },
	  { SPEC(flow_tag, ACTION_TAG, .tag_id = 0xffffff), SPEC(drop, ACTION_DROP) }, 0, 0 },
	{ "rejects_a_tag_that_is_too_wide", { .num = 1 },
	  { SPEC(flow_tag, ACTION_TAG, .tag_id = 0x1000000) }, -EINVAL, 0 },
	{ "rejects_two_network_headers", { .num = 2 },
	  { SPEC(ipv4, IPV4), SPEC(ipv6, IPV6) }, -EINVAL, 0 },
	{ "rejects_protocols_that_differ", { .num = 2 },
	  { SPEC(ipv4, IPV4, .val.proto = IPPROTO_TCP, .mask.proto = 0xff),
	    SPEC(tcp_udp, UDP) }, -EINVAL, 0 },
	{ "rejects_a_hop_limit", { .num = 1 }, { SPEC(ipv6, IPV6, .mask.hop_limit = 1) },
	  -EOPNOTSUPP, 0 },
	{ "rejects_a_time_to_live", { .num = 1 }, { SPEC(ipv4, IPV4, .mask.ttl = 1) },
	  -EOPNOTSUPP, 0 },
	{ "rejects_the_canonical_bit_of_a_tag", { .num = 1 },
	  { SPEC(eth, ETH, .mask.vlan_tag = cpu_to_be16(0x1000)) }, -EOPNOTSUPP, 0 },
	{ "rejects_tunnels", { .num = 1 }, { SPEC(tunnel, VXLAN_TUNNEL) }, -EOPNOTSUPP, 0 },
	{ "rejects_inner_headers", { .num = 1 }, { SPEC(eth, ETH | IB_FLOW_SPEC_INNER) },
	  -EOPNOTSUPP, 0 },
	{ "rejects_a_priority_out_of_range", { .prio = CRNIC_FLOW_PRIOS }, {}, -EINVAL, 0 },
	{ "rejects_a_sniffer", { .type = IB_FLOW_ATTR_SNIFFER }, {}, -EOPNOTSUPP, 0 },
	{ "rejects_flags", { .flags = IB_FLOW_ATTR_FLAGS_DONT_TRAP }, {}, -EOPNOTSUPP, 0 },
};

KUNIT_ARRAY_PARAM_DESC(spec, spec_cases, name);

static void checks_rules_of_verbs(struct kunit *test)
{
	const struct spec_case *c = test->param_value;
	struct fake_fw *fw = fake_fw_with_caps(test);
	struct crnic_flow_request req = {};
	struct ib_flow_attr *attr = kunit_kzalloc(test, sizeof(*attr) + sizeof(c->specs),
						  GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, attr);
	attr->type = c->attr.type;
	attr->num_of_specs = c->attr.num;
	attr->priority = c->attr.prio;
	attr->flags = c->attr.flags;
	memcpy(attr->flows, c->specs, sizeof(c->specs));
	KUNIT_EXPECT_EQ(test, crnic_flow_spec_parse(fw->dev, attr, &req), c->err);
	if (!c->err)
		KUNIT_EXPECT_EQ(test, req.value.ip_protocol, c->proto);
}

static struct kunit_case ib_flow_cases[] = {
	KUNIT_CASE_PARAM(checks_masks, mask_gen_params),
	KUNIT_CASE(reads_what_the_device_would),
	KUNIT_CASE(checks_requests),
	KUNIT_CASE(last_rule_takes_all_with_it),
	KUNIT_CASE(rules_of_a_mask_share_a_group),
	KUNIT_CASE(a_priority_has_an_end),
	KUNIT_CASE(every_command_of_a_rule_may_be_refused),
	KUNIT_CASE(a_rule_that_stays_is_still_there),
	KUNIT_CASE_PARAM(checks_rules_of_verbs, spec_gen_params),
	{}
};

static struct kunit_suite ib_flow_suite = {
	.name = "crnic_ib_flow",
	.test_cases = ib_flow_cases,
};

kunit_test_suite(ib_flow_suite);

MODULE_LICENSE("Dual BSD/GPL");
