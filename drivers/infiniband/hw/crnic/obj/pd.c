// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains, transport domains, XRC domains.
 */
#include <crnic/crnic.h>
#include <crnic/obj/pd.h>

/**
 * crnic_pd_alloc - allocate a protection domain
 * @dev: device
 * @pdn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_pd_alloc(struct crnic_dev *dev, u32 *pdn)
{
	CRNIC_CMD(alloc_pd);
	int err;

	MLX5_SET(alloc_pd_in, in, opcode, MLX5_CMD_OP_ALLOC_PD);
	err = CRNIC_EXEC(dev, alloc_pd);
	*pdn = MLX5_GET(alloc_pd_out, out, pd);
	return err;
}

/**
 * crnic_pd_dealloc - free a protection domain
 * @dev: device
 * @pdn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_pd_dealloc(struct crnic_dev *dev, u32 pdn)
{
	CRNIC_CMD(dealloc_pd);

	MLX5_SET(dealloc_pd_in, in, opcode, MLX5_CMD_OP_DEALLOC_PD);
	MLX5_SET(dealloc_pd_in, in, pd, pdn);
	return CRNIC_EXEC(dev, dealloc_pd);
}

/**
 * crnic_td_alloc - allocate a transport domain
 * @dev: device
 * @tdn: its number; 0 on a device that has none
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_td_alloc(struct crnic_dev *dev, u32 *tdn)
{
	CRNIC_CMD(alloc_transport_domain);
	int err;

	*tdn = 0;
	if (!CRNIC_CAP_GEN(dev, log_max_transport_domain))
		return 0;

	MLX5_SET(alloc_transport_domain_in, in, opcode, MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
	err = CRNIC_EXEC(dev, alloc_transport_domain);
	*tdn = MLX5_GET(alloc_transport_domain_out, out, transport_domain);
	return err;
}

/**
 * crnic_td_dealloc - free a transport domain
 * @dev: device
 * @tdn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_td_dealloc(struct crnic_dev *dev, u32 tdn)
{
	CRNIC_CMD(dealloc_transport_domain);

	if (!CRNIC_CAP_GEN(dev, log_max_transport_domain))
		return 0;

	MLX5_SET(dealloc_transport_domain_in, in, opcode, MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN);
	MLX5_SET(dealloc_transport_domain_in, in, transport_domain, tdn);
	return CRNIC_EXEC(dev, dealloc_transport_domain);
}

/**
 * crnic_xrcd_alloc - allocate an XRC domain
 * @dev: device
 * @xrcdn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_xrcd_alloc(struct crnic_dev *dev, u32 *xrcdn)
{
	CRNIC_CMD(alloc_xrcd);
	int err;

	MLX5_SET(alloc_xrcd_in, in, opcode, MLX5_CMD_OP_ALLOC_XRCD);
	err = CRNIC_EXEC(dev, alloc_xrcd);
	*xrcdn = MLX5_GET(alloc_xrcd_out, out, xrcd);
	return err;
}

/**
 * crnic_xrcd_dealloc - free an XRC domain
 * @dev: device
 * @xrcdn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_xrcd_dealloc(struct crnic_dev *dev, u32 xrcdn)
{
	CRNIC_CMD(dealloc_xrcd);

	MLX5_SET(dealloc_xrcd_in, in, opcode, MLX5_CMD_OP_DEALLOC_XRCD);
	MLX5_SET(dealloc_xrcd_in, in, xrcd, xrcdn);
	return CRNIC_EXEC(dev, dealloc_xrcd);
}
