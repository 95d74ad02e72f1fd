// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * NIC receive flow steering: tables, groups that share a mask, rules.
 */
#include <linux/mm.h>
#include <linux/string.h>

#include <crnic/crnic.h>
#include <crnic/obj/flow.h>

#include "../compat/compat.h"

/* Bit of match_criteria_enable: outer headers */
#define CRNIC_FLOW_CRITERIA_OUTER	BIT(0)

#define CRNIC_FLOW_MISS_DEFAULT		0
#define CRNIC_FLOW_MISS_TABLE		1

/* op_mod and mask of SET_FLOW_TABLE_ENTRY on an entry that is there */
#define CRNIC_FLOW_RULE_UPDATE		1
#define CRNIC_FLOW_UPDATE_DESTS		BIT(2)

/* All tables of this driver are of this type: 0, NIC receive */
#define CRNIC_FLOW_NIC_RX		0

static void crnic_flow_fill_miss(void *ctx, u32 miss)
{
	if (miss == CRNIC_FLOW_NO_MISS) {
		MLX5_SET(flow_table_context, ctx, table_miss_action, CRNIC_FLOW_MISS_DEFAULT);
	} else {
		MLX5_SET(flow_table_context, ctx, table_miss_action, CRNIC_FLOW_MISS_TABLE);
		MLX5_SET(flow_table_context, ctx, table_miss_id, miss);
	}
}

/**
 * crnic_flow_table_create - create a flow table
 * @dev: device
 * @p: what it is to be
 * @table: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_flow_table_create(struct crnic_dev *dev, const struct crnic_flow_table_params *p,
			    u32 *table)
{
	CRNIC_CMD(create_flow_table);
	void *ctx = MLX5_ADDR_OF(create_flow_table_in, in, flow_table_context);
	int err;

	MLX5_SET(create_flow_table_in, in, opcode, MLX5_CMD_OP_CREATE_FLOW_TABLE);
	MLX5_SET(create_flow_table_in, in, table_type, CRNIC_FLOW_NIC_RX);
	MLX5_SET(flow_table_context, ctx, level, p->level);
	MLX5_SET(flow_table_context, ctx, log_size, p->log_size);
	crnic_flow_fill_miss(ctx, p->miss);
	err = CRNIC_EXEC(dev, create_flow_table);
	*table = MLX5_GET(create_flow_table_out, out, table_id);
	return err;
}

/**
 * crnic_flow_table_destroy - destroy an empty flow table
 * @dev: device
 * @table: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_flow_table_destroy(struct crnic_dev *dev, u32 table)
{
	CRNIC_CMD(destroy_flow_table);

	MLX5_SET(destroy_flow_table_in, in, opcode, MLX5_CMD_OP_DESTROY_FLOW_TABLE);
	MLX5_SET(destroy_flow_table_in, in, table_id, table);
	return CRNIC_EXEC(dev, destroy_flow_table);
}

/**
 * crnic_flow_root_set - let received packets start at a table
 * @dev: device
 * @table: table; packets start nowhere again when it is destroyed as the root
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_flow_root_set(struct crnic_dev *dev, u32 table)
{
	CRNIC_CMD(set_flow_table_root);

	/* a device without this capability starts at the lowest level by itself */
	if (!CRNIC_CAP_FT_NIC_RX(dev, modify_root))
		return 0;

	MLX5_SET(set_flow_table_root_in, in, opcode, MLX5_CMD_OP_SET_FLOW_TABLE_ROOT);
	MLX5_SET(set_flow_table_root_in, in, table_type, CRNIC_FLOW_NIC_RX);
	MLX5_SET(set_flow_table_root_in, in, table_id, table);
	return CRNIC_EXEC(dev, set_flow_table_root);
}

#define CRNIC_LYR_SET(lyr, field, val)	MLX5_SET(fte_match_set_lyr_2_4, lyr, field, val)
#define CRNIC_LYR_GET(lyr, field)	MLX5_GET(fte_match_set_lyr_2_4, lyr, field)
#define CRNIC_LYR_ADDR(lyr, field)	MLX5_ADDR_OF(fte_match_set_lyr_2_4, lyr, field)

/* addresses are bytes in the order of the wire; the two fields of a MAC are adjacent */
static void crnic_flow_fill_layer(void *lyr, const struct crnic_flow_match *m)
{
	memcpy(CRNIC_LYR_ADDR(lyr, smac_47_16), m->smac, sizeof(m->smac));
	memcpy(CRNIC_LYR_ADDR(lyr, dmac_47_16), m->dmac, sizeof(m->dmac));
	CRNIC_LYR_SET(lyr, ethertype, m->ethertype);
	CRNIC_LYR_SET(lyr, cvlan_tag, m->cvlan_tag);
	CRNIC_LYR_SET(lyr, svlan_tag, m->svlan_tag);
	CRNIC_LYR_SET(lyr, first_vid, m->vid);
	CRNIC_LYR_SET(lyr, first_prio, m->prio);
	CRNIC_LYR_SET(lyr, ip_version, m->ip_version);
	CRNIC_LYR_SET(lyr, ip_protocol, m->ip_protocol);
	CRNIC_LYR_SET(lyr, ip_dscp, m->dscp);
	CRNIC_LYR_SET(lyr, ip_ecn, m->ecn);
	CRNIC_LYR_SET(lyr, frag, m->frag);
	memcpy(CRNIC_LYR_ADDR(lyr, src_ipv4_src_ipv6), m->src_ip, sizeof(m->src_ip));
	memcpy(CRNIC_LYR_ADDR(lyr, dst_ipv4_dst_ipv6), m->dst_ip, sizeof(m->dst_ip));
	CRNIC_LYR_SET(lyr, tcp_flags, m->tcp_flags);
	CRNIC_LYR_SET(lyr, tcp_sport, m->tcp_sport);
	CRNIC_LYR_SET(lyr, tcp_dport, m->tcp_dport);
	CRNIC_LYR_SET(lyr, udp_sport, m->udp_sport);
	CRNIC_LYR_SET(lyr, udp_dport, m->udp_dport);
}

static void crnic_flow_read_layer(const void *lyr, struct crnic_flow_match *m)
{
	memcpy(m->smac, CRNIC_LYR_ADDR(lyr, smac_47_16), sizeof(m->smac));
	memcpy(m->dmac, CRNIC_LYR_ADDR(lyr, dmac_47_16), sizeof(m->dmac));
	m->ethertype = CRNIC_LYR_GET(lyr, ethertype);
	m->cvlan_tag = CRNIC_LYR_GET(lyr, cvlan_tag);
	m->svlan_tag = CRNIC_LYR_GET(lyr, svlan_tag);
	m->vid = CRNIC_LYR_GET(lyr, first_vid);
	m->prio = CRNIC_LYR_GET(lyr, first_prio);
	m->ip_version = CRNIC_LYR_GET(lyr, ip_version);
	m->ip_protocol = CRNIC_LYR_GET(lyr, ip_protocol);
	m->dscp = CRNIC_LYR_GET(lyr, ip_dscp);
	m->ecn = CRNIC_LYR_GET(lyr, ip_ecn);
	m->frag = CRNIC_LYR_GET(lyr, frag);
	memcpy(m->src_ip, CRNIC_LYR_ADDR(lyr, src_ipv4_src_ipv6), sizeof(m->src_ip));
	memcpy(m->dst_ip, CRNIC_LYR_ADDR(lyr, dst_ipv4_dst_ipv6), sizeof(m->dst_ip));
	m->tcp_flags = CRNIC_LYR_GET(lyr, tcp_flags);
	m->tcp_sport = CRNIC_LYR_GET(lyr, tcp_sport);
	m->tcp_dport = CRNIC_LYR_GET(lyr, tcp_dport);
	m->udp_sport = CRNIC_LYR_GET(lyr, udp_sport);
	m->udp_dport = CRNIC_LYR_GET(lyr, udp_dport);
}

static void crnic_flow_fill_match(void *param, const struct crnic_flow_match *m)
{
	crnic_flow_fill_layer(MLX5_ADDR_OF(fte_match_param, param, outer_headers), m);
}

/**
 * crnic_flow_match_parse - read a mask or values in the device's layout
 * @param: the first bytes of a fte_match_param; what is missing is zero
 * @len: how many
 * @m: filled
 *
 * Return: 0, or -EOPNOTSUPP if a bit is set that struct crnic_flow_match has no
 * place for.
 */
int crnic_flow_match_parse(const void *param, size_t len, struct crnic_flow_match *m)
{
	u32 lyr[MLX5_ST_SZ_DW(fte_match_set_lyr_2_4)] = {};
	u32 again[MLX5_ST_SZ_DW(fte_match_set_lyr_2_4)] = {};
	size_t head = min(len, sizeof(lyr));

	/* the outer headers come first, all else lies behind */
	BUILD_BUG_ON(MLX5_BYTE_OFF(fte_match_param, outer_headers));
	memcpy(lyr, param, head);
	memset(m, 0, sizeof(*m));
	crnic_flow_read_layer(lyr, m);
	crnic_flow_fill_layer(again, m);
	if (memcmp(lyr, again, sizeof(lyr)) || memchr_inv(param + head, 0, len - head))
		return -EOPNOTSUPP;
	return 0;
}

/**
 * crnic_flow_match_covers - does a mask have all bits of a value?
 * @mask: mask
 * @value: value
 *
 * Return: true if so.
 */
bool crnic_flow_match_covers(const struct crnic_flow_match *mask,
			     const struct crnic_flow_match *value)
{
	const u8 *m = (const u8 *)mask, *v = (const u8 *)value;
	size_t i;

	/* members lie without gaps, so the structure is its bytes */
	static_assert(sizeof(*mask) == offsetofend(struct crnic_flow_match, dst_ip));
	for (i = 0; i < sizeof(*mask); i++)
		if (v[i] & ~m[i])
			return false;
	return true;
}

/**
 * crnic_flow_match_ip - match an IP version by the field that the device can look at
 * @dev: device
 * @version: 4 or 6
 * @mask: gets the field
 * @value: gets the version
 */
void crnic_flow_match_ip(struct crnic_dev *dev, u8 version, struct crnic_flow_match *mask,
			 struct crnic_flow_match *value)
{
	if (CRNIC_CAP_FT_NIC_RX(dev, ft_field_support.outer_ip_version)) {
		mask->ip_version = 0xf;
		value->ip_version = version;
	} else {
		mask->ethertype = 0xffff;
		value->ethertype = version == 4 ? ETH_P_IP : ETH_P_IPV6;
	}
}

/**
 * crnic_flow_group_create - create a group of entries that share a mask
 * @dev: device
 * @p: what it is to be
 * @group: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_flow_group_create(struct crnic_dev *dev, const struct crnic_flow_group_params *p,
			    u32 *group)
{
	u32 out[MLX5_ST_SZ_DW(create_flow_group_out)] = {};
	int inlen = MLX5_ST_SZ_BYTES(create_flow_group_in);
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_flow_group_in, in, opcode, MLX5_CMD_OP_CREATE_FLOW_GROUP);
	MLX5_SET(create_flow_group_in, in, table_type, CRNIC_FLOW_NIC_RX);
	MLX5_SET(create_flow_group_in, in, table_id, p->table);
	MLX5_SET(create_flow_group_in, in, start_flow_index, p->first);
	MLX5_SET(create_flow_group_in, in, end_flow_index, p->last);
	if (p->mask) {
		MLX5_SET(create_flow_group_in, in, match_criteria_enable,
			 CRNIC_FLOW_CRITERIA_OUTER);
		crnic_flow_fill_match(MLX5_ADDR_OF(create_flow_group_in, in, match_criteria),
				      p->mask);
	}
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*group = MLX5_GET(create_flow_group_out, out, group_id);
	kvfree(in);
	return err;
}

/**
 * crnic_flow_group_destroy - destroy an empty group
 * @dev: device
 * @table: its table
 * @group: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_flow_group_destroy(struct crnic_dev *dev, u32 table, u32 group)
{
	CRNIC_CMD(destroy_flow_group);

	MLX5_SET(destroy_flow_group_in, in, opcode, MLX5_CMD_OP_DESTROY_FLOW_GROUP);
	MLX5_SET(destroy_flow_group_in, in, table_type, CRNIC_FLOW_NIC_RX);
	MLX5_SET(destroy_flow_group_in, in, table_id, table);
	MLX5_SET(destroy_flow_group_in, in, group_id, group);
	return CRNIC_EXEC(dev, destroy_flow_group);
}

static void crnic_flow_fill_dests(void *ctx, const struct crnic_flow_rule *r)
{
	void *dest = MLX5_ADDR_OF(flow_context, ctx, destination);
	unsigned int i;

	MLX5_SET(flow_context, ctx, destination_list_size, r->num_dests);
	for (i = 0; i < r->num_dests; i++, dest += MLX5_ST_SZ_BYTES(dest_format_struct)) {
		MLX5_SET(dest_format_struct, dest, destination_type, r->dests[i].type);
		MLX5_SET(dest_format_struct, dest, destination_id, r->dests[i].id);
	}
}

static void crnic_flow_fill_rule(void *ctx, const struct crnic_flow_rule *r)
{
	MLX5_SET(flow_context, ctx, group_id, r->group);
	MLX5_SET(flow_context, ctx, flow_tag, r->tag);
	MLX5_SET(flow_context, ctx, action, r->drop ? MLX5_FLOW_CONTEXT_ACTION_DROP :
		 MLX5_FLOW_CONTEXT_ACTION_FWD_DEST);
	if (r->value)
		crnic_flow_fill_match(MLX5_ADDR_OF(flow_context, ctx, match_value), r->value);
	crnic_flow_fill_dests(ctx, r);
}

/**
 * crnic_flow_rule_set - write an entry
 * @dev: device
 * @r: what it is to be
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_flow_rule_set(struct crnic_dev *dev, const struct crnic_flow_rule *r)
{
	int inlen = MLX5_ST_SZ_BYTES(set_fte_in) +
		    r->num_dests * MLX5_ST_SZ_BYTES(dest_format_struct);
	u32 out[MLX5_ST_SZ_DW(set_fte_out)] = {};
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(set_fte_in, in, opcode, MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY);
	MLX5_SET(set_fte_in, in, table_type, CRNIC_FLOW_NIC_RX);
	MLX5_SET(set_fte_in, in, table_id, r->table);
	MLX5_SET(set_fte_in, in, flow_index, r->index);
	if (r->update) {
		MLX5_SET(set_fte_in, in, op_mod, CRNIC_FLOW_RULE_UPDATE);
		MLX5_SET(set_fte_in, in, modify_enable_mask, CRNIC_FLOW_UPDATE_DESTS);
	}
	crnic_flow_fill_rule(MLX5_ADDR_OF(set_fte_in, in, flow_context), r);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	kvfree(in);
	return err;
}

/**
 * crnic_flow_rule_delete - delete an entry
 * @dev: device
 * @table: its table
 * @index: its flow index
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_flow_rule_delete(struct crnic_dev *dev, u32 table, u32 index)
{
	CRNIC_CMD(delete_fte);

	MLX5_SET(delete_fte_in, in, opcode, MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY);
	MLX5_SET(delete_fte_in, in, table_type, CRNIC_FLOW_NIC_RX);
	MLX5_SET(delete_fte_in, in, table_id, table);
	MLX5_SET(delete_fte_in, in, flow_index, index);
	return CRNIC_EXEC(dev, delete_fte);
}
