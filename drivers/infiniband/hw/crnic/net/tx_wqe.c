// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a send WQE looks like for a given packet. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>

#include "../compat/net.h"
#include "tx.h"

/* Bytes of headers that fit beside the Ethernet segment's own fields */
#define CRNIC_INLINE_START	sizeof_field(struct mlx5_wqe_eth_seg, inline_hdr.start)

static void crnic_tx_plan_gso(const struct sk_buff *skb, struct crnic_tx_plan *plan)
{
	const struct skb_shared_info *sh = skb_shinfo(skb);

	plan->opcode = MLX5_OPCODE_LSO;
	plan->inline_len = skb_tcp_all_headers(skb);
	plan->mss = sh->gso_size;
	plan->segs = sh->gso_segs;
	plan->wire_bytes = skb->len + (plan->segs - 1) * plan->inline_len;
}

/*
 * Headers up to the end of layer 4.  They can only be told in the linear part: a
 * packet that may have them elsewhere counts as one that consists of headers.
 */
static u32 crnic_tx_l4_end(const struct sk_buff *skb)
{
	if (skb_is_nonlinear(skb) && (!skb_transport_header_was_set(skb) ||
				      skb_transport_offset(skb) >= (int)skb_headlen(skb)))
		return skb->len;
	return eth_get_headlen(skb->dev, skb->data, skb_headlen(skb));
}

/* Nobody says where layer 4 of an ARP packet begins, and it has no layer 3 to inline */
static u32 crnic_tx_l3_end(const struct sk_buff *skb)
{
	return skb_transport_header_was_set(skb) ? skb_transport_offset(skb) : 0;
}

/* A tag may come between the addresses and the rest, so layer 2 has room for one */
static u32 crnic_tx_inline_len(const struct sk_buff *skb, u8 min_inline)
{
	u32 len = VLAN_ETH_HLEN;

	if (min_inline == MLX5_INLINE_MODE_NONE)
		return 0;
	if (min_inline == MLX5_INLINE_MODE_IP)
		len = max(len, crnic_tx_l3_end(skb));
	else if (min_inline == MLX5_INLINE_MODE_TCP_UDP)
		len = max(len, crnic_tx_l4_end(skb));
	return min(len, skb->len);
}

/**
 * crnic_tx_plan - decide on the shape of a packet's WQE
 * @skb: packet
 * @min_inline: MLX5_INLINE_MODE_* that the device asks for
 * @plan: result
 *
 * Context: any.
 *
 * Return: 0, or -EMSGSIZE if the packet does not fit into a WQE and has to be
 * linearized first.
 */
int crnic_tx_plan(const struct sk_buff *skb, u8 min_inline, struct crnic_tx_plan *plan)
{
	unsigned int ds, ihs;

	*plan = (struct crnic_tx_plan) {
		.opcode = MLX5_OPCODE_SEND,
		.inline_len = crnic_tx_inline_len(skb, min_inline),
		.segs = 1,
		.wire_bytes = max_t(u32, skb->len, ETH_ZLEN),
	};
	if (skb_is_gso(skb))
		crnic_tx_plan_gso(skb, plan);
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		plan->cs_flags = MLX5_ETH_WQE_L3_CSUM | MLX5_ETH_WQE_L4_CSUM;
	plan->insert_vlan = plan->inline_len && skb_vlan_tag_present(skb);

	ihs = plan->inline_len + (plan->insert_vlan ? VLAN_HLEN : 0);
	ds = sizeof(struct crnic_tx_wqe) / 16 + skb_shinfo(skb)->nr_frags;
	if (ihs > CRNIC_INLINE_START)
		ds += DIV_ROUND_UP(ihs - CRNIC_INLINE_START, 16);
	if (skb_headlen(skb) > plan->inline_len)
		ds++;
	if (ds > CRNIC_TX_MAX_DS || plan->inline_len > skb_headlen(skb))
		return -EMSGSIZE;
	plan->num_ds = ds;
	plan->num_bb = DIV_ROUND_UP(ds, 4);
	return 0;
}

/* Copy @len header bytes, with the VLAN tag pushed in behind the addresses */
static void crnic_tx_copy_vlan(u8 *to, const struct sk_buff *skb, u16 len)
{
	struct vlan_hdr *vlan = (struct vlan_hdr *)(to + 2 * ETH_ALEN + 2);

	memcpy(to, skb->data, 2 * ETH_ALEN);
	put_unaligned(skb->vlan_proto, (__be16 *)(to + 2 * ETH_ALEN));
	put_unaligned(cpu_to_be16(skb_vlan_tag_get(skb)), &vlan->h_vlan_TCI);
	memcpy(&vlan->h_vlan_encapsulated_proto, skb->data + 2 * ETH_ALEN, len - 2 * ETH_ALEN);
}

/**
 * crnic_tx_fill_eth - fill the Ethernet segment and the inline headers behind it
 * @eth: segment; zeroed, with room for the headers as planned
 * @skb: packet
 * @plan: from crnic_tx_plan()
 */
void crnic_tx_fill_eth(struct mlx5_wqe_eth_seg *eth, const struct sk_buff *skb,
		       const struct crnic_tx_plan *plan)
{
	eth->cs_flags = plan->cs_flags;
	eth->mss = cpu_to_be16(plan->mss);
	if (plan->insert_vlan) {
		eth->inline_hdr.sz = cpu_to_be16(plan->inline_len + VLAN_HLEN);
		crnic_tx_copy_vlan(eth->inline_hdr.data, skb, plan->inline_len);
	} else if (plan->inline_len) {
		eth->inline_hdr.sz = cpu_to_be16(plan->inline_len);
		memcpy(eth->inline_hdr.data, skb->data, plan->inline_len);
	} else if (skb_vlan_tag_present(skb)) {
		eth->insert.type = cpu_to_be16(MLX5_ETH_WQE_INSERT_VLAN);
		eth->insert.vlan_tci = cpu_to_be16(skb_vlan_tag_get(skb));
	}
}
