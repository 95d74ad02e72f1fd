// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The initialization segment: what can be known and done before there is a
 * command queue.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/jiffies.h>

#include "core.h"

/* cmd_interface_rev that the layouts in mlx5_ifc.h belong to (mlx5_core: cmd.c) */
#define CRNIC_CMD_REV		5

/* The firmware may be in a reset that takes minutes (mlx5_core: lib/tout.c) */
#define CRNIC_ISEG_READY_MS	120000
#define CRNIC_ISEG_STEP_MS	2
#define CRNIC_ISEG_WARN_MS	20000

#define CRNIC_ISEG_INITIALIZING	BIT(31)

/**
 * crnic_iseg_map - map the initialization segment
 * @dev: device
 *
 * Doorbell pages are mapped one by one later, since they may want other
 * caching.
 *
 * Return: 0 or a negative errno.
 */
int crnic_iseg_map(struct crnic_dev *dev)
{
	if (!(pci_resource_flags(dev->pdev, 0) & IORESOURCE_MEM)) {
		crnic_err(dev, "BAR 0 is no memory\n");
		return -ENODEV;
	}

	dev->bar_phys = pci_resource_start(dev->pdev, 0);
	dev->bar_len = pci_resource_len(dev->pdev, 0);
	if (dev->bar_len < sizeof(struct mlx5_init_seg)) {
		crnic_err(dev, "BAR 0 has only %pa bytes\n", &dev->bar_len);
		return -ENODEV;
	}

	dev->iseg = ioremap(dev->bar_phys, sizeof(struct mlx5_init_seg));
	return dev->iseg ? 0 : -ENOMEM;
}

/**
 * crnic_iseg_unmap - undo crnic_iseg_map()
 * @dev: device
 */
void crnic_iseg_unmap(struct crnic_dev *dev)
{
	iounmap(dev->iseg);
	dev->iseg = NULL;
}

/**
 * crnic_iseg_gone - does the device no longer answer reads?
 * @dev: device
 *
 * Return: true if it was unplugged or its bus is in error.
 */
bool crnic_iseg_gone(struct crnic_dev *dev)
{
	return ioread32be(&dev->iseg->health.fw_ver) == U32_MAX;
}

/**
 * crnic_timer_read - the device's free-running timer
 * @dev: device
 *
 * Context: any.
 * Return: ticks of device_frequency_khz.
 */
u64 crnic_timer_read(const struct crnic_dev *dev)
{
	u32 high = ioread32be(&dev->iseg->internal_timer_h);
	u32 low = ioread32be(&dev->iseg->internal_timer_l);
	u32 again = ioread32be(&dev->iseg->internal_timer_h);

	/* the low half went round in between; it has just begun anew */
	if (high != again)
		low = ioread32be(&dev->iseg->internal_timer_l);
	return (u64)again << 32 | low;
}

static int crnic_iseg_check(struct crnic_dev *dev)
{
	u32 rev = ioread32be(&dev->iseg->fw_rev);
	u32 cmdif = ioread32be(&dev->iseg->cmdif_rev_fw_sub);

	dev->fw_rev[0] = rev & 0xffff;
	dev->fw_rev[1] = rev >> 16;
	dev->fw_rev[2] = cmdif & 0xffff;

	if (cmdif >> 16 != CRNIC_CMD_REV) {
		crnic_err(dev, "command interface revision %u, but only %u is known\n",
			  cmdif >> 16, CRNIC_CMD_REV);
		return -EINVAL;
	}
	return 0;
}

/**
 * crnic_iseg_wait_ready - wait until the firmware can take commands
 * @dev: device
 *
 * Context: process; may sleep for two minutes.
 * Return: 0, -ENODEV if the device is gone, -ETIMEDOUT or -EINVAL.
 */
int crnic_iseg_wait_ready(struct crnic_dev *dev)
{
	unsigned long end = jiffies + msecs_to_jiffies(CRNIC_ISEG_READY_MS);
	unsigned long warn = jiffies + msecs_to_jiffies(CRNIC_ISEG_WARN_MS);
	u32 val;

	for (;;) {
		val = ioread32be(&dev->iseg->initializing);
		if (val == U32_MAX && crnic_iseg_gone(dev)) {
			crnic_err(dev, "device does not answer\n");
			return -ENODEV;
		}
		if (!(val & CRNIC_ISEG_INITIALIZING))
			return crnic_iseg_check(dev);
		if (time_after(jiffies, end))
			break;
		if (time_after(jiffies, warn)) {
			crnic_warn(dev, "still waiting for the firmware\n");
			warn += msecs_to_jiffies(CRNIC_ISEG_WARN_MS);
		}
		msleep(CRNIC_ISEG_STEP_MS);
	}

	crnic_err(dev, "firmware not ready after %u s\n", CRNIC_ISEG_READY_MS / 1000);
	return -ETIMEDOUT;
}
