// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of the kernel's rings.
 */
#include <linux/dma-mapping.h>

#include "core.h"

/**
 * crnic_buf_alloc - allocate memory for a ring
 * @dev: device
 * @size: bytes
 * @buf: filled in; zeroed memory
 *
 * Kernel rings are small, so they are one piece: consumers index them without
 * any arithmetic on pages.
 *
 * Context: process.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int crnic_buf_alloc(struct crnic_dev *dev, size_t size, struct crnic_buf *buf)
{
	if (!size || size > INT_MAX)
		return -EINVAL;

	buf->size = ALIGN(size, CRNIC_ADAPTER_PAGE_SIZE);
	buf->addr = dma_alloc_coherent(dev->device, buf->size, &buf->dma,
				       GFP_KERNEL | __GFP_NOWARN);
	return buf->addr ? 0 : -ENOMEM;
}

/**
 * crnic_buf_free - free the memory of a ring
 * @dev: device
 * @buf: memory
 */
void crnic_buf_free(struct crnic_dev *dev, struct crnic_buf *buf)
{
	dma_free_coherent(dev->device, buf->size, buf->addr, buf->dma);
	buf->addr = NULL;
}
