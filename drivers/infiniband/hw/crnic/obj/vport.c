// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The function's port as the NIC's switch sees it.
 */
#include <linux/etherdevice.h>
#include <linux/mm.h>

#include <crnic/crnic.h>
#include <crnic/obj/vport.h>

#include "../compat/compat.h"

/* MAC addresses in the context are 8 bytes, two of padding first */
#define CRNIC_VPORT_MAC_PAD	2

/* VPORT_STATE: op_mod of the function's own port; state 1 is up */
#define CRNIC_VPORT_OWN		0
#define CRNIC_VPORT_UP		1

/* MODIFY_NIC_VPORT_CONTEXT: take a field, and what it becomes */
#define CRNIC_NIC_TAKE(field, val) \
	MLX5_SET(modify_nic_vport_context_in, in, field_select.field, val)
#define CRNIC_NIC_SET(field, val) \
	MLX5_SET(modify_nic_vport_context_in, in, nic_vport_context.field, val)

/**
 * crnic_vport_nic_query - read the NIC vport context
 * @dev: device
 * @nic: filled in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_vport_nic_query(struct crnic_dev *dev, struct crnic_vport_nic *nic)
{
	CRNIC_CMD(query_nic_vport_context);
	void *ctx = MLX5_ADDR_OF(query_nic_vport_context_out, out, nic_vport_context);
	int err;

	MLX5_SET(query_nic_vport_context_in, in, opcode, MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT);
	err = CRNIC_EXEC(dev, query_nic_vport_context);
	if (err)
		return err;

	ether_addr_copy(nic->mac, (u8 *)MLX5_ADDR_OF(nic_vport_context, ctx, permanent_address) +
				  CRNIC_VPORT_MAC_PAD);
	nic->mtu = MLX5_GET(nic_vport_context, ctx, mtu);
	nic->system_image_guid = MLX5_GET64(nic_vport_context, ctx, system_image_guid);
	nic->node_guid = MLX5_GET64(nic_vport_context, ctx, node_guid);
	nic->port_guid = MLX5_GET64(nic_vport_context, ctx, port_guid);
	nic->min_inline = MLX5_GET(nic_vport_context, ctx, min_wqe_inline_mode);
	nic->roce = MLX5_GET(nic_vport_context, ctx, roce_en);
	return 0;
}

/**
 * crnic_vport_mtu_set - change the MTU
 * @dev: device
 * @mtu: bytes, CRNIC_PORT_MTU_OVERHEAD included
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_vport_mtu_set(struct crnic_dev *dev, u16 mtu)
{
	CRNIC_CMD(modify_nic_vport_context);

	MLX5_SET(modify_nic_vport_context_in, in, opcode, MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT);
	CRNIC_NIC_TAKE(mtu, 1);
	CRNIC_NIC_SET(mtu, mtu);
	return CRNIC_EXEC(dev, modify_nic_vport_context);
}

/**
 * crnic_vport_roce_set - switch RoCE on or off
 * @dev: device
 * @on: on
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_vport_roce_set(struct crnic_dev *dev, bool on)
{
	CRNIC_CMD(modify_nic_vport_context);

	MLX5_SET(modify_nic_vport_context_in, in, opcode, MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT);
	CRNIC_NIC_TAKE(roce_en, 1);
	CRNIC_NIC_SET(roce_en, on);
	return CRNIC_EXEC(dev, modify_nic_vport_context);
}

/**
 * crnic_vport_promisc_set - which packets beyond the lists come to this function?
 * @dev: device
 * @promisc: mask of enum crnic_vport_promisc
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_vport_promisc_set(struct crnic_dev *dev, u32 promisc)
{
	CRNIC_CMD(modify_nic_vport_context);

	MLX5_SET(modify_nic_vport_context_in, in, opcode, MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT);
	CRNIC_NIC_TAKE(promisc, 1);
	CRNIC_NIC_SET(promisc_uc, !!(promisc & CRNIC_PROMISC_UC));
	CRNIC_NIC_SET(promisc_mc, !!(promisc & CRNIC_PROMISC_MC));
	CRNIC_NIC_SET(promisc_all, !!(promisc & CRNIC_PROMISC_ALL));
	return CRNIC_EXEC(dev, modify_nic_vport_context);
}

/* A message whose context is followed by a list; returns where that is in @list */
static u32 *crnic_vport_list_new(enum crnic_vport_list type, unsigned int num, size_t entry,
				 size_t *inlen, void **list)
{
	u32 *in;

	*inlen = MLX5_ST_SZ_BYTES(modify_nic_vport_context_in) + num * entry;
	in = kvzalloc(*inlen, GFP_KERNEL);
	if (!in)
		return NULL;

	MLX5_SET(modify_nic_vport_context_in, in, opcode, MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT);
	CRNIC_NIC_TAKE(addresses_list, 1);
	CRNIC_NIC_SET(allowed_list_type, type);
	CRNIC_NIC_SET(allowed_list_size, num);
	*list = MLX5_ADDR_OF(modify_nic_vport_context_in, in,
			     nic_vport_context.current_uc_mac_address);
	return in;
}

static int crnic_vport_list_exec(struct crnic_dev *dev, u32 *in, size_t inlen)
{
	u32 out[MLX5_ST_SZ_DW(modify_nic_vport_context_out)] = {};
	int err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));

	kvfree(in);
	return err;
}

static unsigned int crnic_vport_list_max(struct crnic_dev *dev, enum crnic_vport_list type)
{
	if (type == CRNIC_LIST_UC)
		return 1U << CRNIC_CAP_GEN(dev, log_max_current_uc_list);
	if (type == CRNIC_LIST_MC)
		return 1U << CRNIC_CAP_GEN(dev, log_max_current_mc_list);
	return 1U << CRNIC_CAP_GEN(dev, log_max_vlan_list);
}

/**
 * crnic_vport_macs_set - replace a list of MAC addresses that the function wants
 * @dev: device
 * @type: CRNIC_LIST_UC or CRNIC_LIST_MC
 * @macs: addresses, one behind the other
 * @num: how many
 *
 * Context: process.
 * Return: 0 or a negative errno; -ENOSPC if the device has no room for so many.
 */
int crnic_vport_macs_set(struct crnic_dev *dev, enum crnic_vport_list type,
			 const u8 *macs, unsigned int num)
{
	size_t entry = MLX5_ST_SZ_BYTES(mac_address_layout), inlen;
	unsigned int i;
	void *list;
	u32 *in;

	if (num > crnic_vport_list_max(dev, type))
		return -ENOSPC;
	in = crnic_vport_list_new(type, num, entry, &inlen, &list);
	if (!in)
		return -ENOMEM;

	for (i = 0; i < num; i++)
		ether_addr_copy(list + i * entry + CRNIC_VPORT_MAC_PAD, macs + i * ETH_ALEN);
	return crnic_vport_list_exec(dev, in, inlen);
}

/**
 * crnic_vport_vlans_set - replace the list of VLANs that the function wants
 * @dev: device
 * @vids: VLANs
 * @num: how many
 *
 * Context: process.
 * Return: 0 or a negative errno; -ENOSPC if the device has no room for so many.
 */
int crnic_vport_vlans_set(struct crnic_dev *dev, const u16 *vids, unsigned int num)
{
	size_t entry = MLX5_ST_SZ_BYTES(vlan_layout), inlen;
	unsigned int i;
	void *list;
	u32 *in;

	if (num > crnic_vport_list_max(dev, CRNIC_LIST_VLAN))
		return -ENOSPC;
	in = crnic_vport_list_new(CRNIC_LIST_VLAN, num, entry, &inlen, &list);
	if (!in)
		return -ENOMEM;

	for (i = 0; i < num; i++)
		MLX5_SET(vlan_layout, list + i * entry, vlan, vids[i]);
	return crnic_vport_list_exec(dev, in, inlen);
}

/**
 * crnic_l2_table_set - let packets for an address come to this function's host
 * @dev: device
 * @index: entry, below 2^log_max_l2_table
 * @mac: unicast address
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_l2_table_set(struct crnic_dev *dev, u32 index, const u8 mac[ETH_ALEN])
{
	CRNIC_CMD(set_l2_table_entry);
	u8 *addr = MLX5_ADDR_OF(set_l2_table_entry_in, in, mac_address);

	MLX5_SET(set_l2_table_entry_in, in, opcode, MLX5_CMD_OP_SET_L2_TABLE_ENTRY);
	MLX5_SET(set_l2_table_entry_in, in, table_index, index);
	ether_addr_copy(addr + CRNIC_VPORT_MAC_PAD, mac);
	return CRNIC_EXEC(dev, set_l2_table_entry);
}

/**
 * crnic_l2_table_delete - let them come no more
 * @dev: device
 * @index: entry
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_l2_table_delete(struct crnic_dev *dev, u32 index)
{
	CRNIC_CMD(delete_l2_table_entry);

	MLX5_SET(delete_l2_table_entry_in, in, opcode, MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY);
	MLX5_SET(delete_l2_table_entry_in, in, table_index, index);
	return CRNIC_EXEC(dev, delete_l2_table_entry);
}

/**
 * crnic_vport_state_query - does the function have a link?
 * @dev: device
 * @up: it has
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_vport_state_query(struct crnic_dev *dev, bool *up)
{
	CRNIC_CMD(query_vport_state);
	int err;

	MLX5_SET(query_vport_state_in, in, opcode, MLX5_CMD_OP_QUERY_VPORT_STATE);
	MLX5_SET(query_vport_state_in, in, op_mod, CRNIC_VPORT_OWN);
	err = CRNIC_EXEC(dev, query_vport_state);
	*up = MLX5_GET(query_vport_state_out, out, state) == CRNIC_VPORT_UP;
	return err;
}

/**
 * crnic_vport_counters_query - what went in and out
 * @dev: device
 * @counters: filled in, by enum crnic_vport_counter
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_vport_counters_query(struct crnic_dev *dev,
			       struct crnic_traffic counters[CRNIC_VPORT_COUNTERS])
{
	CRNIC_CMD(query_vport_counter);
	void *pair = MLX5_ADDR_OF(query_vport_counter_out, out, received_errors);
	unsigned int i;
	int err;

	MLX5_SET(query_vport_counter_in, in, opcode, MLX5_CMD_OP_QUERY_VPORT_COUNTER);
	err = CRNIC_EXEC(dev, query_vport_counter);
	if (err)
		return err;

	for (i = 0; i < CRNIC_VPORT_COUNTERS; i++, pair += MLX5_ST_SZ_BYTES(traffic_counter)) {
		counters[i].packets = MLX5_GET64(traffic_counter, pair, packets);
		counters[i].octets = MLX5_GET64(traffic_counter, pair, octets);
	}
	return 0;
}
