// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UARs: doorbell pages in BAR0.
 */
#include <linux/io.h>

#include "core.h"

/**
 * crnic_uar_place - where a doorbell page is in the BAR
 * @at: what is known of it
 * @index: its number, as ALLOC_UAR gave it
 * @offset: answer: offset in the BAR
 *
 * ALLOC_UAR gives a whole system page at a time (log_uar_page_sz), and numbers
 * count system pages, or with uar_4k pages of 4 KiB (mlx5_core: uar.c:uar2pfn).
 * A system page that holds more than the caller's own must not be mapped.
 *
 * Return: 0; or -EPROTO for one that lies in the initialization segment, beyond
 * the BAR, or in the middle of a system page.
 */
int crnic_uar_place(const struct crnic_uar_place *at, u32 index, u64 *offset)
{
	const u8 unit_shift = at->uar_4k ? CRNIC_ADAPTER_PAGE_SHIFT : at->page_shift;

	*offset = (u64)index << unit_shift;
	if (!IS_ALIGNED(*offset, BIT_ULL(at->page_shift)) ||
	    *offset < sizeof(struct mlx5_init_seg) ||
	    *offset + BIT_ULL(at->page_shift) > at->bar_len)
		return -EPROTO;
	return 0;
}

static int crnic_uar_offset(const struct crnic_dev *dev, u32 index, u64 *offset)
{
	const struct crnic_uar_place at = {
		.page_shift = PAGE_SHIFT,
		.uar_4k = CRNIC_CAP_GEN(dev, uar_4k),
		.bar_len = dev->bar_len,
	};

	return crnic_uar_place(&at, index, offset);
}

/**
 * crnic_uar_phys - bus address of a doorbell page
 * @dev: device
 * @index: number that crnic_uar_alloc() gave
 *
 * Return: its address, that of a system page which holds nothing else.
 */
phys_addr_t crnic_uar_phys(struct crnic_dev *dev, u32 index)
{
	u64 offset;

	crnic_uar_offset(dev, index, &offset);
	return dev->bar_phys + offset;
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
	u64 offset;
	int err;

	MLX5_SET(alloc_uar_in, in, opcode, MLX5_CMD_OP_ALLOC_UAR);
	err = CRNIC_EXEC(dev, alloc_uar);
	if (err)
		return err;

	*index = MLX5_GET(alloc_uar_out, out, uar);
	err = crnic_uar_offset(dev, *index, &offset);
	if (err) {
		crnic_err_rl(dev, "UAR %u is no page of the BAR\n", *index);
		crnic_uar_dealloc(dev, *index);
	}
	return err;
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
