/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_TIR_H
#define CRNIC_OBJ_TIR_H

#include <linux/types.h>

struct crnic_dev;

#define CRNIC_TIR_KEY_LEN	40

/* Fields of the packet that the hash takes */
enum crnic_tir_hash_field {
	CRNIC_TIR_HASH_SRC_IP	= 0x1,
	CRNIC_TIR_HASH_DST_IP	= 0x2,
	CRNIC_TIR_HASH_L4_SPORT	= 0x4,
	CRNIC_TIR_HASH_L4_DPORT	= 0x8,
};

/**
 * struct crnic_tir_params - a receive endpoint to be
 * @tdn: transport domain
 * @rqn: the one RQ, of a direct TIR
 * @rqtn: table of RQs, of an indirect TIR
 * @indirect: which of the two
 * @hash_fields: mask of enum crnic_tir_hash_field
 * @ipv6: the hash is over IPv6, not IPv4
 * @udp: the hash is over UDP ports, not TCP's
 * @key: Toeplitz key
 * @self_lb_block: mask of loopback to block: 1 unicast, 2 multicast
 */
struct crnic_tir_params {
	u32 tdn;
	u32 rqn;
	u32 rqtn;
	bool indirect;
	u32 hash_fields;
	bool ipv6;
	bool udp;
	u8 key[CRNIC_TIR_KEY_LEN];
	u8 self_lb_block;
};

int crnic_tir_create(struct crnic_dev *dev, const struct crnic_tir_params *p, u32 *tirn);
int crnic_tir_destroy(struct crnic_dev *dev, u32 tirn);

#endif /* CRNIC_OBJ_TIR_H */
