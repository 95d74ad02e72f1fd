// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What becomes of packets: taken off a receive ring, put on a send ring, completed. */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include <crnic/wqe.h>

#include "../drivers/infiniband/hw/crnic/net/tx.h"
#include "net_fixture.h"

/* An Ethernet type that no protocol of the kernel takes: for local experiments */
#define ETH_P_TEST	0x88b5

/* --- receiving --- */

/* Packets that came to the stack, and pages that went back to the device */
struct traffic {
	struct sk_buff_head skbs;
	unsigned int synced;
};

static rx_handler_result_t traffic_take(struct sk_buff **pskb)
{
	struct traffic *t = rcu_dereference((*pskb)->dev->rx_handler_data);

	if ((*pskb)->protocol != htons(ETH_P_TEST))
		return RX_HANDLER_PASS;
	skb_queue_tail(&t->skbs, *pskb);
	return RX_HANDLER_CONSUMED;
}

static void traffic_count_sync(struct crnic_rxq *q, struct page *page)
{
	struct fake_fw *fw = kunit_get_current_test()->priv;
	struct net_fixture *f = fw->hook_priv;
	struct traffic *t = f->priv;

	t->synced++;
}

static void traffic_end(void *data)
{
	struct net_fixture *f = data;
	struct traffic *t = f->priv;

	rtnl_lock();
	netdev_rx_handler_unregister(f->netdev);
	rtnl_unlock();
	skb_queue_purge(&t->skbs);
}

static struct net_fixture *traffic_create(struct kunit *test, unsigned int mtu)
{
	struct net_fixture *f = net_fixture_create(test);
	struct traffic *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct crnic_net_settings to;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, t);
	skb_queue_head_init(&t->skbs);
	f->priv = t;
	KUNIT_ASSERT_EQ(test, net_fixture_open(f), 0);
	rtnl_lock();
	err = netdev_rx_handler_register(f->netdev, traffic_take, t);
	to = crnic_net_settings(f->net);
	to.mtu = mtu;
	to.log_tx = CRNIC_NET_RING_LOG_MIN;
	to.log_rx = CRNIC_NET_RING_LOG_MIN;
	err = err ?: crnic_net_change(f->net, &to);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, traffic_end, f), 0);
	kunit_activate_static_stub(test, crnic_rx_sync_page, traffic_count_sync);
	return f;
}

static u8 traffic_byte(u32 pos)
{
	return pos * 7 + (pos >> 8);
}

/* The device writes a frame for the netdev into the next WQE's pages, and its CQE */
static struct mlx5_cqe64 *traffic_arrives(struct net_fixture *f, u32 len)
{
	struct crnic_rxq *q = &f->net->channels[0]->rx;
	struct page **pages = &q->pages[(q->cc & (BIT(q->log_size) - 1)) * q->frags];
	struct ethhdr *eth = page_address(pages[0]);
	struct mlx5_cqe64 *cqe;
	u32 i;

	for (i = ETH_HLEN; i < len && i < q->frags * PAGE_SIZE; i++)
		((u8 *)page_address(pages[i / PAGE_SIZE]))[i % PAGE_SIZE] = traffic_byte(i);
	ether_addr_copy(eth->h_dest, f->netdev->dev_addr);
	eth_zero_addr(eth->h_source);
	eth->h_proto = htons(ETH_P_TEST);
	cqe = net_fixture_cqe(&q->cq, 0, MLX5_CQE_RESP_SEND);
	cqe->byte_cnt = cpu_to_be32(len);
	return cqe;
}

static struct sk_buff *traffic_received(struct net_fixture *f)
{
	struct traffic *t = f->priv;

	net_fixture_poll(f->net->channels[0]);
	return skb_dequeue(&t->skbs);
}

/**
 * struct rx_case - a frame that arrives
 * @name: what is shown
 * @mtu: of the netdev
 * @len: bytes of the frame
 * @frags: fragments of the packet that it becomes
 */
struct rx_case {
	const char *name;
	u32 mtu;
	u32 len;
	u8 frags;
};

static const struct rx_case rx_cases[] = {
	{ "shortest_frame_is_copied", 1500, ETH_ZLEN, 0 },
	{ "frame_that_is_copied_to_the_byte", 1500, CRNIC_NET_RX_COPY, 0 },
	{ "longer_frame_keeps_its_page", 1500, CRNIC_NET_RX_COPY + 1, 1 },
	{ "largest_frame_of_mtu_1500", 1500, 1514, 1 },
	{ "frame_of_two_pages", 9000, PAGE_SIZE + 1, 2 },
	{ "frame_of_two_full_pages", 9000, 2 * PAGE_SIZE, 2 },
	{ "largest_frame_of_mtu_9000", 9000, 9014, 3 },
};

KUNIT_ARRAY_PARAM_DESC(rx, rx_cases, name);

static unsigned int wrong_bytes(struct sk_buff *skb, u32 len)
{
	unsigned int wrong = 0;
	u32 i;
	u8 b;

	for (i = ETH_HLEN; i < len; i++) {
		if (skb_copy_bits(skb, i - ETH_HLEN, &b, 1) || b != traffic_byte(i))
			wrong++;
	}
	return wrong;
}

static void receives(struct kunit *test)
{
	const struct rx_case *c = test->param_value;
	struct net_fixture *f = traffic_create(test, c->mtu);
	struct sk_buff *skb;

	traffic_arrives(f, c->len);
	skb = traffic_received(f);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, skb->len, c->len - ETH_HLEN);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->nr_frags, c->frags);
	KUNIT_EXPECT_EQ(test, wrong_bytes(skb, c->len), 0);
	KUNIT_EXPECT_EQ(test, (u8)skb->ip_summed, CHECKSUM_NONE);
	KUNIT_EXPECT_FALSE(test, skb_vlan_tag_present(skb));
	kfree_skb(skb);
}

static void what_the_device_tells_is_passed_on(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);
	struct mlx5_cqe64 *cqe = traffic_arrives(f, 100);
	struct sk_buff *skb;

	cqe->hds_ip_ext = CQE_L3_OK | CQE_L4_OK;
	cqe->l4_l3_hdr_type = 1;
	cqe->vlan_info = cpu_to_be16(0x6123);
	cqe->rss_hash_type = CQE_RSS_HTYPE_L4;
	cqe->rss_hash_result = cpu_to_be32(0x12345678);
	skb = traffic_received(f);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, (u8)skb->ip_summed, CHECKSUM_UNNECESSARY);
	KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), 0x6123);
	KUNIT_EXPECT_EQ(test, skb->hash, 0x12345678);
	KUNIT_EXPECT_TRUE(test, skb->l4_hash);
	kfree_skb(skb);
}

static void half_a_checksum_is_none(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);
	struct sk_buff *skb;

	traffic_arrives(f, 100)->hds_ip_ext = CQE_L3_OK;
	skb = traffic_received(f);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, (u8)skb->ip_summed, CHECKSUM_NONE);
	kfree_skb(skb);
}

static void impossible_lengths_are_dropped(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);
	struct crnic_rxq *q = &f->net->channels[0]->rx;

	traffic_arrives(f, ETH_HLEN - 1);
	KUNIT_EXPECT_NULL(test, traffic_received(f));
	traffic_arrives(f, PAGE_SIZE + 1);
	KUNIT_EXPECT_NULL(test, traffic_received(f));
	KUNIT_EXPECT_EQ(test, u64_stats_read(&q->stats->errors), 2);
	KUNIT_EXPECT_EQ(test, q->cc, 2);
	KUNIT_EXPECT_EQ(test, f->recoveries, 0);
}

/* A page that the CPU has read is synced before the device writes to it again */
static void page_that_stays_is_given_back_to_the_device(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);
	struct traffic *t = f->priv;
	unsigned int i;

	/* filled in batches of 16 */
	for (i = 0; i < 16; i++) {
		traffic_arrives(f, 100);
		kfree_skb(traffic_received(f));
	}
	KUNIT_EXPECT_EQ(test, f->net->channels[0]->rx.pc, BIT(CRNIC_NET_RING_LOG_MIN) + 16);
	KUNIT_EXPECT_EQ(test, t->synced, 16);
}

/* --- sending --- */

static unsigned int traffic_freed;

static void traffic_free(struct sk_buff *skb)
{
	traffic_freed++;
}

static void traffic_send(struct kunit *test, struct net_fixture *f, u8 frags)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	struct page *page;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	memset(skb_put(skb, 100), 0, 100);
	for (i = 0; i < frags; i++) {
		page = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, page);
		skb_add_rx_frag(skb, i, page, 0, 100, PAGE_SIZE);
	}
	skb->dev = f->netdev;
	skb->destructor = traffic_free;
	local_bh_disable();
	f->netdev->netdev_ops->ndo_start_xmit(skb, f->netdev);
	local_bh_enable();
}

/* The device completes everything up to the WQE at block @last */
static void traffic_sent(struct net_fixture *f, u16 last)
{
	struct crnic_channel *ch = f->net->channels[0];

	net_fixture_cqe(&ch->tx.cq, 0, MLX5_CQE_REQ)->wqe_counter = cpu_to_be16(last);
	net_fixture_poll(ch);
}

static u8 opcode_at(const struct crnic_txq *q, u16 bb)
{
	const struct mlx5_wqe_ctrl_seg *ctrl = q->buf.addr +
		((bb & (BIT(q->log_size) - 1)) << CRNIC_WQE_BB_SHIFT);

	return be32_to_cpu(ctrl->opmod_idx_opcode) & 0xff;
}

static void send_ring_pads_to_its_end(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);
	struct crnic_txq *q = &f->net->channels[0]->tx;
	unsigned int i;

	for (i = 0; i < 63; i++) {
		traffic_send(test, f, 0);
		traffic_sent(f, i);
	}
	KUNIT_ASSERT_EQ(test, q->pc, 63);
	/* 2 units, 1 of inline headers, 1 for the linear part, 4 for the fragments: two blocks */
	traffic_send(test, f, 4);
	KUNIT_EXPECT_EQ(test, q->pc, 66);
	KUNIT_EXPECT_EQ(test, opcode_at(q, 63), MLX5_OPCODE_NOP);
	KUNIT_EXPECT_EQ(test, opcode_at(q, 64), MLX5_OPCODE_SEND);
	traffic_freed = 0;
	traffic_sent(f, 64);
	KUNIT_EXPECT_EQ(test, q->cc, 66);
	KUNIT_EXPECT_EQ(test, traffic_freed, 1);
	KUNIT_EXPECT_EQ(test, q->dma_cc, q->dma_pc);
}

static void one_cqe_finishes_all_before_it(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);
	struct crnic_txq *q = &f->net->channels[0]->tx;

	traffic_freed = 0;
	traffic_send(test, f, 0);
	traffic_send(test, f, 4);
	traffic_send(test, f, 0);
	traffic_send(test, f, 0);
	/* blocks 0, 1 and 2, 3, 4 */
	KUNIT_ASSERT_EQ(test, q->pc, 5);
	traffic_sent(f, 3);
	KUNIT_EXPECT_EQ(test, q->cc, 4);
	KUNIT_EXPECT_EQ(test, traffic_freed, 3);
	KUNIT_EXPECT_EQ(test, q->dma_pc - q->dma_cc, 1);
}

static void wrong_counter_finishes_nothing(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);
	struct crnic_txq *q = &f->net->channels[0]->tx;

	traffic_freed = 0;
	traffic_send(test, f, 0);
	traffic_sent(f, 1);
	traffic_sent(f, 0xffff);
	KUNIT_EXPECT_EQ(test, q->cc, 0);
	KUNIT_EXPECT_EQ(test, traffic_freed, 0);
	traffic_sent(f, 0);
	KUNIT_EXPECT_EQ(test, q->cc, 1);
	KUNIT_EXPECT_EQ(test, traffic_freed, 1);
}

static void full_ring_stops_and_wakes_its_queue(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);
	struct crnic_txq *q = &f->net->channels[0]->tx;
	unsigned int sent = 0;

	while (!netif_tx_queue_stopped(q->nq) && sent < 64) {
		traffic_send(test, f, 0);
		sent++;
	}
	KUNIT_EXPECT_EQ(test, sent, 64 - CRNIC_TX_STOP_ROOM + 1);
	/* one is enough for the room of a packet and its padding */
	traffic_sent(f, 0);
	KUNIT_EXPECT_FALSE(test, netif_tx_queue_stopped(q->nq));
}

static void ring_in_error_does_not_wake(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);
	struct crnic_txq *q = &f->net->channels[0]->tx;

	while (!netif_tx_queue_stopped(q->nq))
		traffic_send(test, f, 0);
	net_fixture_cqe(&q->cq, 0, MLX5_CQE_REQ_ERR);
	net_fixture_poll(f->net->channels[0]);
	traffic_sent(f, q->last);
	KUNIT_EXPECT_TRUE(test, netif_tx_queue_stopped(q->nq));
}

static void closing_frees_what_was_not_sent(struct kunit *test)
{
	struct net_fixture *f = traffic_create(test, 1500);

	traffic_freed = 0;
	traffic_send(test, f, 3);
	traffic_send(test, f, 0);
	net_fixture_close(f);
	KUNIT_EXPECT_EQ(test, traffic_freed, 2);
}

static struct kunit_case net_traffic_cases[] = {
	KUNIT_CASE_PARAM(receives, rx_gen_params),
	KUNIT_CASE(what_the_device_tells_is_passed_on),
	KUNIT_CASE(half_a_checksum_is_none),
	KUNIT_CASE(impossible_lengths_are_dropped),
	KUNIT_CASE(page_that_stays_is_given_back_to_the_device),
	KUNIT_CASE(send_ring_pads_to_its_end),
	KUNIT_CASE(one_cqe_finishes_all_before_it),
	KUNIT_CASE(wrong_counter_finishes_nothing),
	KUNIT_CASE(full_ring_stops_and_wakes_its_queue),
	KUNIT_CASE(ring_in_error_does_not_wake),
	KUNIT_CASE(closing_frees_what_was_not_sent),
	{}
};

static struct kunit_suite net_traffic_suite = {
	.name = "crnic_net_traffic",
	.test_cases = net_traffic_cases,
};

kunit_test_suite(net_traffic_suite);
