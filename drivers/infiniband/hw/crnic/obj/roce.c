// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RoCE address table: source addresses of RoCE packets, by GID index.
 */
#include <crnic/crnic.h>
#include <crnic/obj/roce.h>

#include "../compat/compat.h"

static void crnic_roce_addr_fill(void *addr, const struct crnic_roce_addr *a)
{
	memcpy(MLX5_ADDR_OF(roce_addr_layout, addr, source_l3_address), a->gid, sizeof(a->gid));
	MLX5_SET(roce_addr_layout, addr, source_mac_47_32, get_unaligned_be16(a->mac));
	MLX5_SET(roce_addr_layout, addr, source_mac_31_0, get_unaligned_be32(a->mac + 2));
	MLX5_SET(roce_addr_layout, addr, roce_version, a->version);
	MLX5_SET(roce_addr_layout, addr, roce_l3_type,
		 a->ipv4 ? MLX5_ROCE_L3_TYPE_IPV4 : MLX5_ROCE_L3_TYPE_IPV6);
	if (a->vlan) {
		MLX5_SET(roce_addr_layout, addr, vlan_valid, 1);
		MLX5_SET(roce_addr_layout, addr, vlan_id, a->vid);
	}
}

/**
 * crnic_roce_addr_set - write an entry
 * @dev: device
 * @index: GID index
 * @addr: what it is to be
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_roce_addr_set(struct crnic_dev *dev, u16 index, const struct crnic_roce_addr *addr)
{
	CRNIC_CMD(set_roce_address);

	MLX5_SET(set_roce_address_in, in, opcode, MLX5_CMD_OP_SET_ROCE_ADDRESS);
	MLX5_SET(set_roce_address_in, in, roce_address_index, index);
	crnic_roce_addr_fill(MLX5_ADDR_OF(set_roce_address_in, in, roce_address), addr);
	return CRNIC_EXEC(dev, set_roce_address);
}

/**
 * crnic_roce_addr_clear - empty an entry
 * @dev: device
 * @index: GID index
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_roce_addr_clear(struct crnic_dev *dev, u16 index)
{
	CRNIC_CMD(set_roce_address);

	MLX5_SET(set_roce_address_in, in, opcode, MLX5_CMD_OP_SET_ROCE_ADDRESS);
	MLX5_SET(set_roce_address_in, in, roce_address_index, index);
	return CRNIC_EXEC(dev, set_roce_address);
}
