// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Send WQEs of the netdev: shape and Ethernet segment for a given packet. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "../drivers/infiniband/hw/crnic/net/tx.h"

#define HEADERS		(ETH_HLEN + sizeof(struct iphdr) + sizeof(struct tcphdr))
#define FRAG_LEN	100
#define CSUM_BOTH	(MLX5_ETH_WQE_L3_CSUM | MLX5_ETH_WQE_L4_CSUM)

/**
 * struct net_tx_case - a packet and the plan for it
 * @name: what is shown
 * @head: bytes in the linear part
 * @frags: fragments of FRAG_LEN bytes
 * @min_inline: what the device asks for
 * @mss: segment size, 0 for a plain packet
 * @vlan: it has a tag
 * @csum: it wants checksums
 * @err: result
 * @want: plan, if @err is 0
 */
struct net_tx_case {
	const char *name;
	u32 head;
	u8 frags;
	u8 min_inline;
	u16 mss;
	bool vlan;
	bool csum;
	int err;
	struct crnic_tx_plan want;
};

static const struct net_tx_case net_tx_cases[] = {
	{
		.name = "linear_packet_takes_one_block",
		.head = 200,
		.want = { .num_ds = 3, .num_bb = 1, .wire_bytes = 200, .segs = 1 },
	}, {
		.name = "short_packet_counts_as_padded",
		.head = 42,
		.want = { .num_ds = 3, .num_bb = 1, .wire_bytes = ETH_ZLEN, .segs = 1 },
	}, {
		.name = "fragments_take_a_segment_each",
		.head = 100, .frags = 4,
		.want = { .num_ds = 7, .num_bb = 2, .wire_bytes = 500, .segs = 1 },
	}, {
		/* 2 of the 18 bytes fit into the Ethernet segment, 16 behind it */
		.name = "layer_2_headers_go_inline_when_asked",
		.head = 100, .min_inline = MLX5_INLINE_MODE_L2,
		.want = { .inline_len = VLAN_ETH_HLEN, .num_ds = 4, .num_bb = 1,
			  .wire_bytes = 100, .segs = 1 },
	}, {
		.name = "tag_is_pushed_into_inline_headers",
		.head = 100, .min_inline = MLX5_INLINE_MODE_L2, .vlan = true,
		.want = { .inline_len = VLAN_ETH_HLEN, .insert_vlan = true, .num_ds = 5,
			  .num_bb = 2, .wire_bytes = 100, .segs = 1 },
	}, {
		.name = "tag_is_left_to_the_device_without_inline_headers",
		.head = 100, .vlan = true,
		.want = { .num_ds = 3, .num_bb = 1, .wire_bytes = 100, .segs = 1 },
	}, {
		.name = "checksums_are_asked_for",
		.head = 100, .csum = true,
		.want = { .num_ds = 3, .num_bb = 1, .wire_bytes = 100, .segs = 1,
			  .cs_flags = CSUM_BOTH },
	}, {
		/* 52 of 54 header bytes lie behind the segment: 4 units */
		.name = "tso_carries_its_headers_inline",
		.head = HEADERS, .frags = 3, .mss = FRAG_LEN, .csum = true,
		.want = { .opcode = MLX5_OPCODE_LSO, .inline_len = HEADERS, .mss = FRAG_LEN,
			  .num_ds = 9, .num_bb = 3, .wire_bytes = 3 * (HEADERS + FRAG_LEN),
			  .segs = 3, .cs_flags = CSUM_BOTH },
	}, {
		.name = "tso_headers_outside_of_the_linear_part_are_refused",
		.head = 20, .frags = 3, .mss = FRAG_LEN, .csum = true,
		.err = -EMSGSIZE,
	},
};

static void net_tx_case_name(const struct net_tx_case *c, char *name)
{
	strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(net_tx, net_tx_cases, net_tx_case_name);

static void net_tx_free_skb(void *skb)
{
	kfree_skb(skb);
}

static void net_tx_add_frags(struct kunit *test, struct sk_buff *skb, unsigned int num)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < num; i++) {
		page = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, page);
		skb_add_rx_frag(skb, i, page, 0, FRAG_LEN, PAGE_SIZE);
	}
}

static void net_tx_set_tcp(struct sk_buff *skb, u16 mss)
{
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(struct iphdr));
	/* behind the linear part, but still in the buffer */
	tcp_hdr(skb)->doff = sizeof(struct tcphdr) / 4;
	if (!mss)
		return;
	skb_shinfo(skb)->gso_size = mss;
	skb_shinfo(skb)->gso_segs = skb_shinfo(skb)->nr_frags;
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
}

static struct sk_buff *net_tx_skb(struct kunit *test, const struct net_tx_case *c)
{
	struct sk_buff *skb = alloc_skb(2048, GFP_KERNEL);
	unsigned int i;
	u8 *data;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, net_tx_free_skb, skb), 0);
	data = skb_put(skb, c->head);
	for (i = 0; i < c->head; i++)
		data[i] = i;
	net_tx_add_frags(test, skb, c->frags);
	if (c->mss)
		net_tx_set_tcp(skb, c->mss);
	if (c->csum)
		skb->ip_summed = CHECKSUM_PARTIAL;
	if (c->vlan)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), 0x6123);
	return skb;
}

static void net_tx_plans(struct kunit *test)
{
	const struct net_tx_case *c = test->param_value;
	struct sk_buff *skb = net_tx_skb(test, c);
	struct crnic_tx_plan plan;

	KUNIT_ASSERT_EQ(test, crnic_tx_plan(skb, c->min_inline, &plan), c->err);
	if (c->err)
		return;
	KUNIT_EXPECT_EQ(test, plan.opcode, c->want.opcode ?: MLX5_OPCODE_SEND);
	KUNIT_EXPECT_EQ(test, plan.inline_len, c->want.inline_len);
	KUNIT_EXPECT_EQ(test, plan.insert_vlan, c->want.insert_vlan);
	KUNIT_EXPECT_EQ(test, plan.mss, c->want.mss);
	KUNIT_EXPECT_EQ(test, plan.cs_flags, c->want.cs_flags);
	KUNIT_EXPECT_EQ(test, plan.num_ds, c->want.num_ds);
	KUNIT_EXPECT_EQ(test, plan.num_bb, c->want.num_bb);
	KUNIT_EXPECT_EQ(test, plan.wire_bytes, c->want.wire_bytes);
	KUNIT_EXPECT_EQ(test, plan.segs, c->want.segs);
}

/* Headers so long that, with the fragments, the WQE's size field would overflow */
static void net_tx_refuses_what_exceeds_a_wqe(struct kunit *test)
{
	static const struct net_tx_case c = {
		.head = 1000, .frags = 16, .mss = FRAG_LEN, .csum = true,
	};
	struct sk_buff *skb = net_tx_skb(test, &c);
	struct crnic_tx_plan plan;

	skb_set_transport_header(skb, 900);
	tcp_hdr(skb)->doff = sizeof(struct tcphdr) / 4;
	KUNIT_EXPECT_EQ(test, crnic_tx_plan(skb, MLX5_INLINE_MODE_NONE, &plan), -EMSGSIZE);
}

static void net_tx_inserts_tag_behind_the_addresses(struct kunit *test)
{
	static const struct net_tx_case c = {
		.head = 100, .min_inline = MLX5_INLINE_MODE_L2, .vlan = true,
	};
	static const u8 want[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,	/* addresses */
		0x81, 0x00, 0x61, 0x23,			/* tag */
		12, 13, 14, 15, 16, 17,
	};
	struct sk_buff *skb = net_tx_skb(test, &c);
	u8 wqe[64] = {};
	struct mlx5_wqe_eth_seg *eth = (void *)wqe;
	size_t start = offsetof(struct mlx5_wqe_eth_seg, inline_hdr.data);
	struct crnic_tx_plan plan;

	KUNIT_ASSERT_EQ(test, crnic_tx_plan(skb, c.min_inline, &plan), 0);
	crnic_tx_fill_eth(eth, skb, &plan);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(eth->inline_hdr.sz), sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, wqe + start, want, sizeof(want));
	KUNIT_EXPECT_EQ(test, wqe[start + sizeof(want)], 0);
}

static void net_tx_hands_tag_to_the_device(struct kunit *test)
{
	static const struct net_tx_case c = { .head = 100, .vlan = true };
	struct sk_buff *skb = net_tx_skb(test, &c);
	struct mlx5_wqe_eth_seg eth = {};
	struct crnic_tx_plan plan;

	KUNIT_ASSERT_EQ(test, crnic_tx_plan(skb, c.min_inline, &plan), 0);
	crnic_tx_fill_eth(&eth, skb, &plan);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(eth.insert.type), MLX5_ETH_WQE_INSERT_VLAN);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(eth.insert.vlan_tci), 0x6123);
}

/* --- headers that the device wants inline --- */

enum net_tx_kind { ARP, TCP4, UDP4, TCP6 };

static const struct {
	__be16 ethertype;
	u8 l3;
	u8 l4;
	u8 protocol;
} net_tx_kinds[] = {
	[ARP]	= { htons(ETH_P_ARP), 28, 0, 0 },
	[TCP4]	= { htons(ETH_P_IP), sizeof(struct iphdr), sizeof(struct tcphdr), IPPROTO_TCP },
	[UDP4]	= { htons(ETH_P_IP), sizeof(struct iphdr), sizeof(struct udphdr), IPPROTO_UDP },
	[TCP6]	= { htons(ETH_P_IPV6), sizeof(struct ipv6hdr), sizeof(struct tcphdr),
		    IPPROTO_TCP },
};

/**
 * struct net_inline_case - a packet and its bytes that go inline
 * @name: what is shown
 * @min_inline: what the device asks for
 * @kind: packet
 * @head: bytes in the linear part, 0 for all
 * @raw: nobody said where its transport header is
 * @want: bytes, or a negative errno
 */
struct net_inline_case {
	const char *name;
	u8 min_inline;
	enum net_tx_kind kind;
	u8 head;
	bool raw;
	int want;
};

static const struct net_inline_case net_inline_cases[] = {
	{ "nothing_of_arp", MLX5_INLINE_MODE_NONE, ARP, .want = 0 },
	{ "layer_2_of_arp", MLX5_INLINE_MODE_L2, ARP, .want = VLAN_ETH_HLEN },
	{ "layer_2_of_arp_in_mode_ip", MLX5_INLINE_MODE_IP, ARP, .raw = true,
	  .want = VLAN_ETH_HLEN },
	{ "layer_2_of_arp_in_mode_tcp_udp", MLX5_INLINE_MODE_TCP_UDP, ARP, .raw = true,
	  .want = VLAN_ETH_HLEN },
	{ "layer_3_of_ipv4", MLX5_INLINE_MODE_IP, TCP4, .want = 34 },
	{ "layer_3_of_ipv6", MLX5_INLINE_MODE_IP, TCP6, .want = 54 },
	{ "layer_4_of_tcp", MLX5_INLINE_MODE_TCP_UDP, TCP4, .want = 54 },
	{ "layer_4_of_udp", MLX5_INLINE_MODE_TCP_UDP, UDP4, .want = 42 },
	{ "layer_4_of_tcp_over_ipv6", MLX5_INLINE_MODE_TCP_UDP, TCP6, .want = 74 },
	{ "layer_4_of_a_packet_socket", MLX5_INLINE_MODE_TCP_UDP, UDP4, .raw = true, .want = 42 },
	{ "headers_in_a_fragment_have_to_be_linear", MLX5_INLINE_MODE_IP, TCP4, ETH_HLEN,
	  .want = -EMSGSIZE },
	{ "layer_4_in_a_fragment_has_to_be_linear", MLX5_INLINE_MODE_TCP_UDP, TCP4, 34,
	  .want = -EMSGSIZE },
};

KUNIT_ARRAY_PARAM_DESC(net_inline, net_inline_cases, name);

static void net_tx_free_netdev(void *netdev)
{
	free_netdev(netdev);
}

static void net_tx_fill_headers(u8 *data, enum net_tx_kind kind)
{
	struct ethhdr *eth = (void *)data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct iphdr *ip = (void *)(eth + 1);
	struct tcphdr *tcp = (void *)(eth + 1) + net_tx_kinds[kind].l3;

	eth->h_proto = net_tx_kinds[kind].ethertype;
	if (kind == TCP6) {
		ip6->version = 6;
		ip6->nexthdr = IPPROTO_TCP;
	} else if (kind != ARP) {
		ip->version = 4;
		ip->ihl = 5;
		ip->tot_len = htons(200);
		ip->protocol = net_tx_kinds[kind].protocol;
	}
	if (kind == TCP4 || kind == TCP6)
		tcp->doff = sizeof(*tcp) / 4;
}

/* Headers, and 100 bytes behind them; what is not in the linear part is in a fragment */
static struct sk_buff *net_tx_packet(struct kunit *test, const struct net_inline_case *c)
{
	u32 headers = ETH_HLEN + net_tx_kinds[c->kind].l3 + net_tx_kinds[c->kind].l4;
	u32 len = headers + (c->kind == ARP ? 0 : 100), head = c->head ?: len;
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	struct sk_buff *skb = alloc_skb(2048, GFP_KERNEL);
	struct net_device *netdev = alloc_etherdev(0);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, net_tx_free_skb, skb), 0);
	KUNIT_ASSERT_NOT_NULL(test, netdev);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, net_tx_free_netdev, netdev), 0);
	skb_reserve(skb, NET_SKB_PAD);
	net_tx_fill_headers(page_address(page), c->kind);
	skb_put_data(skb, page_address(page), head);
	skb->dev = netdev;
	skb->protocol = net_tx_kinds[c->kind].ethertype;
	skb_set_network_header(skb, ETH_HLEN);
	if (!c->raw)
		skb_set_transport_header(skb, ETH_HLEN + net_tx_kinds[c->kind].l3);
	if (head < len)
		skb_add_rx_frag(skb, 0, page, head, len - head, PAGE_SIZE);
	else
		put_page(page);
	return skb;
}

static void net_tx_inlines(struct kunit *test)
{
	const struct net_inline_case *c = test->param_value;
	struct sk_buff *skb = net_tx_packet(test, c);
	struct crnic_tx_plan plan;
	int err = crnic_tx_plan(skb, c->min_inline, &plan);

	KUNIT_EXPECT_EQ(test, err ?: plan.inline_len, c->want);
	if (c->want >= 0)
		return;
	/* what crnic_net_xmit() does then */
	KUNIT_ASSERT_EQ(test, skb_linearize(skb), 0);
	KUNIT_EXPECT_EQ(test, crnic_tx_plan(skb, c->min_inline, &plan), 0);
	KUNIT_EXPECT_EQ(test, plan.inline_len, c->min_inline == MLX5_INLINE_MODE_IP ? 34 : 54);
}

static struct kunit_case net_tx_test_cases[] = {
	KUNIT_CASE_PARAM(net_tx_inlines, net_inline_gen_params),
	KUNIT_CASE_PARAM(net_tx_plans, net_tx_gen_params),
	KUNIT_CASE(net_tx_refuses_what_exceeds_a_wqe),
	KUNIT_CASE(net_tx_inserts_tag_behind_the_addresses),
	KUNIT_CASE(net_tx_hands_tag_to_the_device),
	{}
};

static struct kunit_suite net_tx_suite = {
	.name = "crnic_net_tx",
	.test_cases = net_tx_test_cases,
};

kunit_test_suite(net_tx_suite);
