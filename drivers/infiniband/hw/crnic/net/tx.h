/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_NET_TX_H
#define CRNIC_NET_TX_H

/* Send WQEs as pure functions of a packet; apart for the sake of their tests. */
#include <linux/types.h>

#include <crnic/wqe.h>

struct sk_buff;

/* Control and Ethernet segment: the fixed part of a send WQE */
struct crnic_tx_wqe {
	struct mlx5_wqe_ctrl_seg ctrl;
	struct mlx5_wqe_eth_seg eth;
};

static_assert(sizeof(struct crnic_tx_wqe) == 32);

/**
 * struct crnic_tx_plan - shape of one send WQE
 * @opcode: MLX5_OPCODE_SEND or MLX5_OPCODE_LSO
 * @inline_len: header bytes that go into the Ethernet segment, the VLAN tag
 *     that is inserted there not counted
 * @insert_vlan: the tag goes into the inline headers
 * @mss: segment size of an LSO
 * @cs_flags: checksums to fill in
 * @num_ds: 16-byte units of the whole WQE
 * @num_bb: basic blocks
 * @wire_bytes: bytes on the wire, headers of all segments included
 * @segs: packets on the wire
 */
struct crnic_tx_plan {
	u8 opcode;
	u16 inline_len;
	bool insert_vlan;
	u16 mss;
	u8 cs_flags;
	u8 num_ds;
	u8 num_bb;
	u32 wire_bytes;
	u16 segs;
};

int crnic_tx_plan(const struct sk_buff *skb, u8 min_inline, struct crnic_tx_plan *plan);
void crnic_tx_fill_eth(struct mlx5_wqe_eth_seg *eth, const struct sk_buff *skb,
		       const struct crnic_tx_plan *plan);

/* Longest WQE the ring ever holds: the 6-bit ds field's 63 units */
#define CRNIC_TX_MAX_DS		MLX5_WQE_CTRL_DS_MASK
#define CRNIC_TX_MAX_BB		DIV_ROUND_UP(CRNIC_TX_MAX_DS, 4)
/* Room a packet may need: its WQE and the NOPs before the ring's end */
#define CRNIC_TX_STOP_ROOM	(2 * CRNIC_TX_MAX_BB)

#endif /* CRNIC_NET_TX_H */
