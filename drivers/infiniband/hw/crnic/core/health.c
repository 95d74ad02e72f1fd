// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Health: does the device still breathe?
 */
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core.h"

#define CRNIC_HEALTH_POLL_MS	2000

/* Polls without a change of the counter (mlx5_core: MAX_MISSES) until somebody is told */
#define CRNIC_HEALTH_WARN	3
/* and until the firmware is taken for dead: it counts many times a second */
#define CRNIC_HEALTH_MISSES	6

#define CRNIC_HEALTH_RFR	BIT(7)

/* nic_interface in [10:8] of cmdq_addr_l_sz: the firmware switches itself off there */
#define CRNIC_NIC_IFC_DISABLED	1
#define CRNIC_NIC_IFC_SW_RESET	7

/**
 * struct crnic_health - health poll
 * @dev: device
 * @work: the poll
 * @counter: last value of the device's health counter
 * @misses: polls since it last changed
 * @synd: last syndrome that was reported
 */
struct crnic_health {
	struct crnic_dev *dev;
	struct delayed_work work;
	u32 counter;
	unsigned int misses;
	u8 synd;
};

/**
 * crnic_dev_break - give up on a device that no longer answers
 * @dev: device
 * @why: in words; NULL if that is no news
 *
 * Commands fail from now on, waiting ones included, and the device reaches no
 * memory any more, until crnic_load() starts it anew.
 *
 * Context: process.
 */
void crnic_dev_break(struct crnic_dev *dev, const char *why)
{
	if (cmpxchg(&dev->broken, false, true))
		return;

	if (why)
		crnic_err(dev, "device given up: %s\n", why);
	if (dev->pdev)
		pci_clear_master(dev->pdev);
	if (dev->cmdq)
		crnic_cmdq_flush(dev);
	atomic_notifier_call_chain(&dev->notifiers, CRNIC_EVENT_FATAL, NULL);
	crnic_recover_kick(dev);
}

static const char *crnic_health_fatal(struct crnic_dev *dev)
{
	u32 ifc = (ioread32be(&dev->iseg->cmdq_addr_l_sz) >> MLX5_NIC_IFC_OFFSET) & 7;

	if (crnic_iseg_gone(dev) || pci_channel_offline(dev->pdev))
		return "it left the bus";
	if (ifc == CRNIC_NIC_IFC_DISABLED || ifc == CRNIC_NIC_IFC_SW_RESET)
		return "the firmware switched its interface off";
	if ((ioread8(&dev->iseg->health.rfr_severity) & CRNIC_HEALTH_RFR) &&
	    ioread8(&dev->iseg->health.synd))
		return "the firmware asks for a reset";
	return NULL;
}

/* True if it stood still for too long */
static bool crnic_health_counter(struct crnic_health *h)
{
	u32 counter = ioread32be(&h->dev->iseg->health_counter);

	if (counter != h->counter) {
		h->counter = counter;
		h->misses = 0;
	} else if (++h->misses == CRNIC_HEALTH_WARN) {
		crnic_warn(h->dev, "firmware health counter stands still\n");
	}
	return h->misses >= CRNIC_HEALTH_MISSES;
}

static void crnic_health_syndrome(struct crnic_health *h)
{
	struct health_buffer __iomem *hb = &h->dev->iseg->health;
	u8 synd = ioread8(&hb->synd);

	if (synd && synd != h->synd)
		crnic_err(h->dev, "firmware health syndrome 0x%x, ext 0x%x, assert 0x%08x at 0x%08x\n",
			  synd, ioread16be(&hb->ext_synd), ioread32be(&hb->assert_var[0]),
			  ioread32be(&hb->assert_exit_ptr));
	h->synd = synd;
}

static void crnic_health_poll(struct work_struct *work)
{
	struct crnic_health *h = container_of(work, struct crnic_health, work.work);
	const char *why = crnic_health_fatal(h->dev);

	if (!why && crnic_health_counter(h))
		why = "its health counter stands still";
	if (why) {
		crnic_health_syndrome(h);
		crnic_dev_break(h->dev, why);
		return;
	}
	crnic_health_syndrome(h);
	schedule_delayed_work(&h->work, msecs_to_jiffies(CRNIC_HEALTH_POLL_MS));
}

/**
 * crnic_health_start - start watching
 * @dev: device
 *
 * Return: 0 or -ENOMEM.
 */
int crnic_health_start(struct crnic_dev *dev)
{
	struct crnic_health *h = kzalloc(sizeof(*h), GFP_KERNEL);

	if (!h)
		return -ENOMEM;
	h->dev = dev;
	INIT_DELAYED_WORK(&h->work, crnic_health_poll);
	dev->health = h;
	schedule_delayed_work(&h->work, msecs_to_jiffies(CRNIC_HEALTH_POLL_MS));
	return 0;
}

/**
 * crnic_health_look - look now rather than with the next poll
 * @dev: device, of which somebody waits in vain
 *
 * Context: any.
 */
void crnic_health_look(struct crnic_dev *dev)
{
	if (dev->health)
		mod_delayed_work(system_wq, &dev->health->work, 0);
}

/**
 * crnic_health_pause - look no more; crnic_health_stop() still has to follow
 * @dev: device
 *
 * Context: process.
 */
void crnic_health_pause(struct crnic_dev *dev)
{
	if (dev->health)
		cancel_delayed_work_sync(&dev->health->work);
}

/**
 * crnic_health_stop - stop watching
 * @dev: device
 *
 * Context: process.
 */
void crnic_health_stop(struct crnic_dev *dev)
{
	cancel_delayed_work_sync(&dev->health->work);
	kfree(dev->health);
	dev->health = NULL;
}
