// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Transport interface send: what an SQ's packets belong to.
 */
#include <crnic/crnic.h>
#include <crnic/obj/tis.h>

/**
 * crnic_tis_create - create a TIS
 * @dev: device
 * @prio: priority, twice the traffic class
 * @tdn: transport domain
 * @tisn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_tis_create(struct crnic_dev *dev, u8 prio, u32 tdn, u32 *tisn)
{
	CRNIC_CMD(create_tis);
	int err;

	MLX5_SET(create_tis_in, in, opcode, MLX5_CMD_OP_CREATE_TIS);
	MLX5_SET(create_tis_in, in, ctx.prio, prio);
	MLX5_SET(create_tis_in, in, ctx.transport_domain, tdn);
	err = CRNIC_EXEC(dev, create_tis);
	*tisn = MLX5_GET(create_tis_out, out, tisn);
	return err;
}

/**
 * crnic_tis_destroy - destroy a TIS
 * @dev: device
 * @tisn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_tis_destroy(struct crnic_dev *dev, u32 tisn)
{
	CRNIC_CMD(destroy_tis);

	MLX5_SET(destroy_tis_in, in, opcode, MLX5_CMD_OP_DESTROY_TIS);
	MLX5_SET(destroy_tis_in, in, tisn, tisn);
	return CRNIC_EXEC(dev, destroy_tis);
}
