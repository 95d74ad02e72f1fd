// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UARs: doorbell pages in BAR0.
 */
#include <linux/io.h>

#include "core.h"

/* The initialization segment fills the first pages; a UAR there is a lie */
#define CRNIC_UAR_FIRST	DIV_ROUND_UP(sizeof(struct mlx5_init_seg), CRNIC_ADAPTER_PAGE_SIZE)

/**
 * crnic_uar_phys - bus address of a doorbell page
 * @dev: device
 * @index: its number
 *
 * Return: its address; only valid if crnic_uar_fits().
 */
phys_addr_t crnic_uar_phys(struct crnic_dev *dev, u32 index)
{
	return dev->bar_phys + ((phys_addr_t)index << CRNIC_ADAPTER_PAGE_SHIFT);
}

/**
 * crnic_uar_fits - does a doorbell page lie in the BAR, behind the initialization segment?
 * @dev: device
 * @index: its number
 *
 * Return: true if so.
 */
bool crnic_uar_fits(struct crnic_dev *dev, u32 index)
{
	return index >= CRNIC_UAR_FIRST &&
	       ((resource_size_t)index + 1) << CRNIC_ADAPTER_PAGE_SHIFT <= dev->bar_len;
}

/**
 * crnic_uar_alloc - allocate a doorbell page
 * @dev: device
 * @index: its number
 *
 * Context: process.
 * Return: 0 or a negative errno; -EPROTO if the device gives one that cannot be.
 */
int crnic_uar_alloc(struct crnic_dev *dev, u32 *index)
{
	CRNIC_CMD(alloc_uar);
	int err;

	MLX5_SET(alloc_uar_in, in, opcode, MLX5_CMD_OP_ALLOC_UAR);
	err = CRNIC_EXEC(dev, alloc_uar);
	if (err)
		return err;

	*index = MLX5_GET(alloc_uar_out, out, uar);
	if (!crnic_uar_fits(dev, *index)) {
		crnic_err_rl(dev, "UAR %u is outside of the BAR\n", *index);
		crnic_uar_dealloc(dev, *index);
		return -EPROTO;
	}
	return 0;
}

/**
 * crnic_uar_dealloc - free a doorbell page
 * @dev: device
 * @index: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_uar_dealloc(struct crnic_dev *dev, u32 index)
{
	CRNIC_CMD(dealloc_uar);

	MLX5_SET(dealloc_uar_in, in, opcode, MLX5_CMD_OP_DEALLOC_UAR);
	MLX5_SET(dealloc_uar_in, in, uar, index);
	return CRNIC_EXEC(dev, dealloc_uar);
}

/**
 * crnic_uar_create - allocate a doorbell page and map it into the kernel
 * @dev: device
 * @uar: filled in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_uar_create(struct crnic_dev *dev, struct crnic_uar *uar)
{
	int err = crnic_uar_alloc(dev, &uar->index);

	if (err)
		return err;

	uar->map = ioremap(crnic_uar_phys(dev, uar->index), CRNIC_ADAPTER_PAGE_SIZE);
	if (!uar->map) {
		crnic_uar_dealloc(dev, uar->index);
		return -ENOMEM;
	}
	return 0;
}

/**
 * crnic_uar_destroy - undo crnic_uar_create()
 * @dev: device
 * @uar: doorbell page
 */
void crnic_uar_destroy(struct crnic_dev *dev, struct crnic_uar *uar)
{
	iounmap(uar->map);
	uar->map = NULL;
	crnic_uar_dealloc(dev, uar->index);
}
