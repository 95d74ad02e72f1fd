/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_FLOW_H
#define CRNIC_OBJ_FLOW_H

#include <linux/bits.h>
#include <linux/if_ether.h>
#include <linux/types.h>

struct crnic_dev;

#define CRNIC_FLOW_NO_MISS	U32_MAX

/* Levels of the tables, which leave room for more in front: see net/steer.c, ib/flow.c */
#define CRNIC_FLOW_LEVEL_USER	4
#define CRNIC_FLOW_LEVEL_VLAN	5
#define CRNIC_FLOW_LEVEL_L2	6
#define CRNIC_FLOW_LEVEL_TTC	7

/**
 * struct crnic_flow_table_params - a NIC receive flow table to be
 * @level: a rule may only lead to a higher level
 * @log_size: log2 of its entries
 * @miss: table that a packet without a match goes to, or CRNIC_FLOW_NO_MISS
 */
struct crnic_flow_table_params {
	u8 level;
	u8 log_size;
	u32 miss;
};

int crnic_flow_table_create(struct crnic_dev *dev, const struct crnic_flow_table_params *p,
			    u32 *table);
int crnic_flow_table_destroy(struct crnic_dev *dev, u32 table);
int crnic_flow_root_set(struct crnic_dev *dev, u32 table);

/**
 * struct crnic_flow_match - outer headers, as a mask or as values; host endian
 * @smac: source MAC
 * @dmac: destination MAC
 * @ethertype: inner-most Ethernet type
 * @cvlan_tag: it has a C-VLAN tag
 * @svlan_tag: it has an S-VLAN tag
 * @vid: outer-most VLAN
 * @prio: outer-most VLAN priority
 * @ip_version: 4 or 6
 * @ip_protocol: protocol or last next header
 * @dscp: DSCP
 * @ecn: ECN
 * @frag: it is a fragment
 * @tcp_flags: TCP flags
 * @tcp_sport: TCP source port
 * @tcp_dport: TCP destination port
 * @udp_sport: UDP source port
 * @udp_dport: UDP destination port
 * @src_ip: source address, IPv4 in the last four bytes
 * @dst_ip: destination address, likewise
 */
struct crnic_flow_match {
	u8 smac[ETH_ALEN];
	u8 dmac[ETH_ALEN];
	u16 ethertype;
	u8 cvlan_tag;
	u8 svlan_tag;
	u16 vid;
	u8 prio;
	u8 ip_version;
	u8 ip_protocol;
	u8 dscp;
	u8 ecn;
	u8 frag;
	u16 tcp_flags;
	u16 tcp_sport;
	u16 tcp_dport;
	u16 udp_sport;
	u16 udp_dport;
	u8 src_ip[16];
	u8 dst_ip[16];
};

int crnic_flow_match_parse(const void *param, size_t len, struct crnic_flow_match *m);
bool crnic_flow_match_covers(const struct crnic_flow_match *mask,
			     const struct crnic_flow_match *value);
void crnic_flow_match_ip(struct crnic_dev *dev, u8 version, struct crnic_flow_match *mask,
			 struct crnic_flow_match *value);

/**
 * struct crnic_flow_group_params - entries of one table that share a mask
 * @table: table
 * @first: first flow index
 * @last: last flow index
 * @mask: what their rules compare; NULL to match everything
 */
struct crnic_flow_group_params {
	u32 table;
	u32 first;
	u32 last;
	const struct crnic_flow_match *mask;
};

int crnic_flow_group_create(struct crnic_dev *dev, const struct crnic_flow_group_params *p,
			    u32 *group);
int crnic_flow_group_destroy(struct crnic_dev *dev, u32 table, u32 group);

enum crnic_flow_dest_type {
	CRNIC_FLOW_TO_TABLE	= 1,
	CRNIC_FLOW_TO_TIR	= 2,
};

struct crnic_flow_dest {
	enum crnic_flow_dest_type type;
	u32 id;
};

/**
 * struct crnic_flow_rule - one entry
 * @table: table
 * @group: its group
 * @index: flow index within the group's range
 * @tag: reported in the CQE, 24 bits
 * @drop: drop; no destinations then
 * @update: change the destinations of an existing entry
 * @value: values under the group's mask; NULL for zeros
 * @dests: where matching packets go; each gets one
 * @num_dests: how many
 */
struct crnic_flow_rule {
	u32 table;
	u32 group;
	u32 index;
	u32 tag;
	bool drop;
	bool update;
	const struct crnic_flow_match *value;
	const struct crnic_flow_dest *dests;
	unsigned int num_dests;
};

int crnic_flow_rule_set(struct crnic_dev *dev, const struct crnic_flow_rule *r);
int crnic_flow_rule_delete(struct crnic_dev *dev, u32 table, u32 index);

#endif /* CRNIC_OBJ_FLOW_H */
