// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What describes the function as a whole to the fabric.
 */
#include <crnic/crnic.h>
#include <crnic/obj/hca.h>

/**
 * crnic_node_desc_query - node description
 * @dev: device
 * @desc: filled in; not terminated if it is full
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_node_desc_query(struct crnic_dev *dev, char desc[CRNIC_NODE_DESC_LEN])
{
	memset(desc, 0, CRNIC_NODE_DESC_LEN);
	return crnic_reg_read(dev, CRNIC_REG_NODE_DESC, desc, CRNIC_NODE_DESC_LEN);
}

/**
 * crnic_node_desc_set - change the node description
 * @dev: device
 * @desc: zero padded
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_node_desc_set(struct crnic_dev *dev, const char desc[CRNIC_NODE_DESC_LEN])
{
	char reg[CRNIC_NODE_DESC_LEN];

	memcpy(reg, desc, sizeof(reg));
	return crnic_reg_write(dev, CRNIC_REG_NODE_DESC, reg, sizeof(reg));
}
