// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Between probe and remove: a device goes down and comes up again, because it was
 * given up, its bus failed, its host sleeps or its owner says so.  All of it happens
 * with the device lock held, which serializes it.
 */
#include <linux/jiffies.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "core/core.h"
#include "recover.h"
#include "stages.h"

/* A device that dies more often than this is left alone: it needs somebody to look at it */
#define CRNIC_RECOVER_TRIES		3
#define CRNIC_RECOVER_WINDOW_S		600

#define CRNIC_RECOVER_RETRY_MS		5000
#define CRNIC_RECOVER_BUS_MS		1000
#define CRNIC_RECOVER_LOCK_MS		50

/**
 * crnic_load - bring a device up
 * @dev: device, its lock held, of which nothing is up
 *
 * Context: process; may take minutes if the firmware is slow.
 * Return: 0, or a negative errno with nothing up.
 */
int crnic_load(struct crnic_dev *dev)
{
	WRITE_ONCE(dev->broken, false);
	memset(&dev->last_refusal, 0, sizeof(dev->last_refusal));
	return crnic_stages_up(dev, crnic_stages, crnic_num_stages);
}

/**
 * crnic_unload - take a device down
 * @dev: device, its lock held
 * @stay: the netdev stays registered for the next crnic_load()
 *
 * Context: process.
 */
void crnic_unload(struct crnic_dev *dev, bool stay)
{
	dev->stay = stay;
	crnic_stages_down(dev, crnic_stages);
	/* the device of one that stayed did not come up again */
	if (!stay && dev->net)
		crnic_net_remove(dev);
}

/**
 * crnic_recover_try - may a device be started anew once more?
 * @r: what was tried so far; counted
 * @now: jiffies
 *
 * Return: true if so.
 */
bool crnic_recover_try(struct crnic_recovery *r, unsigned long now)
{
	if (!r->tries || time_after(now, r->since + CRNIC_RECOVER_WINDOW_S * HZ)) {
		r->tries = 0;
		r->since = now;
	}
	if (r->tries == CRNIC_RECOVER_TRIES)
		return false;
	r->tries++;
	return true;
}

static void crnic_recover_queue(struct crnic_dev *dev, unsigned int ms)
{
	if (READ_ONCE(dev->recovery.on))
		queue_delayed_work(system_long_wq, &dev->recovery.work, msecs_to_jiffies(ms));
}

static void crnic_recover(struct crnic_dev *dev)
{
	int err;

	/* the bus recovers first; its handlers below then do the rest */
	if (pci_channel_offline(dev->pdev)) {
		if (dev->pdev->error_state != pci_channel_io_perm_failure)
			crnic_recover_queue(dev, CRNIC_RECOVER_BUS_MS);
		return;
	}
	if (!crnic_recover_try(&dev->recovery, jiffies)) {
		crnic_err(dev, "died again after %u recoveries, left as it is: see devlink dev reload\n",
			  CRNIC_RECOVER_TRIES);
		return;
	}

	crnic_unload(dev, true);
	err = crnic_load(dev);
	if (err) {
		crnic_err(dev, "recovery failed: %pe\n", ERR_PTR(err));
		crnic_recover_queue(dev, CRNIC_RECOVER_RETRY_MS);
		return;
	}
	crnic_info(dev, "recovered\n");
	/* it may have died on the last steps */
	if (crnic_dead(dev))
		crnic_recover_kick(dev);
}

static void crnic_recover_work(struct work_struct *work)
{
	struct crnic_dev *dev = container_of(work, struct crnic_dev, recovery.work.work);

	/* whoever holds the lock may be about to wait for this work's end */
	if (!device_trylock(dev->device)) {
		crnic_recover_queue(dev, CRNIC_RECOVER_LOCK_MS);
		return;
	}
	if (READ_ONCE(dev->recovery.on) && (crnic_dead(dev) || dev->up < crnic_num_stages))
		crnic_recover(dev);
	device_unlock(dev->device);
}

/**
 * crnic_recover_init - prepare a device that nobody starts anew yet
 * @dev: device
 */
void crnic_recover_init(struct crnic_dev *dev)
{
	INIT_DELAYED_WORK(&dev->recovery.work, crnic_recover_work);
}

/**
 * crnic_recover_kick - start a device anew, if that is on
 * @dev: device, which was given up
 *
 * Context: any.
 */
void crnic_recover_kick(struct crnic_dev *dev)
{
	crnic_recover_queue(dev, 0);
}

/**
 * crnic_recover_on - from here on a device that dies is started anew
 * @dev: device, its lock held; perhaps it is dead or down already
 *
 * Context: process.
 */
void crnic_recover_on(struct crnic_dev *dev)
{
	WRITE_ONCE(dev->recovery.on, true);
	if (crnic_dead(dev) || dev->up < crnic_num_stages)
		crnic_recover_queue(dev, CRNIC_RECOVER_RETRY_MS);
}

/**
 * crnic_recover_off - from here on nobody starts a device anew
 * @dev: device, its lock held
 *
 * Context: process.
 */
void crnic_recover_off(struct crnic_dev *dev)
{
	WRITE_ONCE(dev->recovery.on, false);
	cancel_delayed_work_sync(&dev->recovery.work);
}

/* --- the bus --- */

static pci_ers_result_t crnic_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct crnic_dev *dev = pci_get_drvdata(pdev);

	if (!dev)
		return PCI_ERS_RESULT_NONE;
	crnic_recover_off(dev);
	if (dev->up)
		crnic_dev_break(dev, "its bus is in error");
	crnic_unload(dev, true);
	return state == pci_channel_io_perm_failure ? PCI_ERS_RESULT_DISCONNECT :
						      PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t crnic_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	/* for the next time: restoring uses it up */
	pci_save_state(pdev);
	return pci_device_is_present(pdev) ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_DISCONNECT;
}

static void crnic_bus_resume(struct pci_dev *pdev)
{
	struct crnic_dev *dev = pci_get_drvdata(pdev);

	if (dev)
		crnic_wake(dev);
}

/* Somebody resets the function on purpose, through sysfs say */
static void crnic_reset_prepare(struct pci_dev *pdev)
{
	struct crnic_dev *dev = pci_get_drvdata(pdev);

	if (dev)
		crnic_sleep(dev);
}

/**
 * crnic_sleep - take a device down for a while
 * @dev: device, its lock held
 *
 * Context: process.
 */
void crnic_sleep(struct crnic_dev *dev)
{
	crnic_recover_off(dev);
	crnic_unload(dev, true);
}

/**
 * crnic_wake - bring a device up again
 * @dev: device, its lock held
 *
 * Context: process.
 * Return: 0, or a negative errno; recovery tries again then.
 */
int crnic_wake(struct crnic_dev *dev)
{
	int err = crnic_load(dev);

	if (err)
		crnic_err(dev, "does not come up again: %pe\n", ERR_PTR(err));
	crnic_recover_on(dev);
	return err;
}

const struct pci_error_handlers crnic_error_handlers = {
	.error_detected = crnic_error_detected,
	.slot_reset = crnic_slot_reset,
	.resume = crnic_bus_resume,
	.reset_prepare = crnic_reset_prepare,
	.reset_done = crnic_bus_resume,
};
