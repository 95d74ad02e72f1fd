// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bring-up as a table.  Whatever fails, the stages that are up are taken down in
 * reverse, so unwinding is a loop that every failure and every unload uses.
 */
#include <linux/dma-mapping.h>
#include <linux/string.h>

#include <crnic/obj/mkey.h>
#include <crnic/obj/pd.h>
#include <crnic/obj/vport.h>

#include "compat/compat.h"
#include "core/core.h"
#include "stages.h"

#define CRNIC_ISSI	1

/* Atomics on the bus, for those that devices execute in memory: none is needed to start */
static void crnic_pci_atomics(struct crnic_dev *dev)
{
	static const u32 sizes[] = {
		PCI_EXP_DEVCAP2_ATOMIC_COMP32, PCI_EXP_DEVCAP2_ATOMIC_COMP64,
		PCI_EXP_DEVCAP2_ATOMIC_COMP128,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (pci_enable_atomic_ops_to_root(dev->pdev, sizes[i]))
			crnic_dbg(dev, "no PCI atomics of kind 0x%x\n", sizes[i]);
}

static int crnic_stage_pci_up(struct crnic_dev *dev)
{
	int err;

	err = pci_enable_device_mem(dev->pdev);
	if (err)
		return err;
	err = pci_request_mem_regions(dev->pdev, KBUILD_MODNAME);
	if (err)
		goto disable;
	err = dma_set_mask_and_coherent(dev->device, DMA_BIT_MASK(64));
	if (err)
		goto release;
	dma_set_max_seg_size(dev->device, SZ_2G);
	crnic_pci_atomics(dev);
	/* what a bus error recovery puts back after the slot was reset */
	pci_save_state(dev->pdev);
	return 0;

release:
	pci_release_mem_regions(dev->pdev);
disable:
	pci_disable_device(dev->pdev);
	return err;
}

static void crnic_stage_pci_down(struct crnic_dev *dev)
{
	pci_release_mem_regions(dev->pdev);
	pci_disable_device(dev->pdev);
}

/**
 * crnic_function_reset - bring a device into the state of power-on
 * @dev: device, whose device lock is held
 *
 * Context: process.
 * Return: 0, also for a device that is no longer there; or a negative errno.
 */
int crnic_function_reset(struct crnic_dev *dev)
{
	int err;

	KUNIT_STATIC_STUB_REDIRECT(crnic_function_reset, dev);

	if (!pci_device_is_present(dev->pdev))
		return 0;
	pci_save_state(dev->pdev);
	err = __pci_reset_function_locked(dev->pdev);
	pci_restore_state(dev->pdev);
	return err;
}

/**
 * crnic_quiesce - let a device do nothing any more, whoever uses it
 * @dev: device, its lock held; only a reset or a power cycle brings it back
 *
 * Context: process; at shutdown.  Nothing is freed.
 */
void crnic_quiesce(struct crnic_dev *dev)
{
	bool forced = false;

	crnic_health_pause(dev);
	if (!dev->up)
		return;
	if (!crnic_dead(dev) && dev->caps && CRNIC_CAP_GEN(dev, force_teardown))
		forced = !crnic_fw_teardown(dev, MLX5_TEARDOWN_HCA_IN_PROFILE_FORCE_CLOSE);
	crnic_dev_break(dev, NULL);
	if (!forced && crnic_function_reset(dev))
		crnic_warn(dev, "may be still at work\n");
	pci_disable_device(dev->pdev);
}

static int crnic_stage_reset_up(struct crnic_dev *dev)
{
	return 0;
}

/*
 * Firmware that was given up may remember the memory that it had, and reach for it
 * as soon as a driver lets it onto the bus again.  It forgets before that memory
 * has another owner, or keeps it.
 */
static void crnic_stage_reset_down(struct crnic_dev *dev)
{
	int err;

	if (!crnic_dead(dev))
		return;
	err = crnic_function_reset(dev);
	if (!err)
		return;
	crnic_err(dev, "device cannot be reset: %pe\n", ERR_PTR(err));
	crnic_pages_abandon(dev);
}

static int crnic_stage_enable_up(struct crnic_dev *dev)
{
	return crnic_fw_enable(dev);
}

static void crnic_stage_enable_down(struct crnic_dev *dev)
{
	int err = crnic_fw_disable(dev);

	if (err)
		crnic_err(dev, "DISABLE_HCA: %pe\n", ERR_PTR(err));
}

/* Revision 1 has the SRQ and XRC commands that the verbs need */
static int crnic_stage_issi_up(struct crnic_dev *dev)
{
	u32 supported;
	int err;

	err = crnic_fw_issi_query(dev, &supported);
	if (err)
		return err;
	if (!(supported & BIT(CRNIC_ISSI))) {
		crnic_err(dev, "firmware interface revision %u is missing (has 0x%x)\n",
			  CRNIC_ISSI, supported);
		return -EOPNOTSUPP;
	}
	return crnic_fw_issi_set(dev, CRNIC_ISSI);
}

static void crnic_stage_pages_down(struct crnic_dev *dev)
{
	if (crnic_pages_reclaim_all(dev))
		crnic_dev_break(dev, "the firmware keeps pages");
}

static int crnic_stage_boot_pages_up(struct crnic_dev *dev)
{
	int err = crnic_pages_satisfy(dev, CRNIC_PAGES_BOOT);

	if (err)
		crnic_stage_pages_down(dev);
	return err;
}

/* Taken back together with the boot pages, after TEARDOWN_HCA */
static int crnic_stage_init_pages_up(struct crnic_dev *dev)
{
	return crnic_pages_satisfy(dev, CRNIC_PAGES_INIT);
}

static void crnic_stage_init_down(struct crnic_dev *dev)
{
	int err = crnic_fw_teardown(dev, MLX5_TEARDOWN_HCA_IN_PROFILE_GRACEFUL_CLOSE);

	if (!err)
		return;
	crnic_err(dev, "TEARDOWN_HCA: %pe\n", ERR_PTR(err));
	crnic_dev_break(dev, "it cannot be torn down");
}

static int crnic_stage_uar_up(struct crnic_dev *dev)
{
	return crnic_uar_create(dev, &dev->uar);
}

static void crnic_stage_uar_down(struct crnic_dev *dev)
{
	crnic_uar_destroy(dev, &dev->uar);
}

static int crnic_stage_port_up(struct crnic_dev *dev)
{
	struct crnic_special_keys keys;
	struct crnic_vport_nic nic;
	int err;

	err = crnic_vport_nic_query(dev, &nic);
	if (err)
		return err;
	memcpy(dev->mac, nic.mac, sizeof(dev->mac));

	err = crnic_special_keys_query(dev, &keys);
	if (err)
		return err;
	dev->terminate_lkey = keys.terminate_lkey;

	err = crnic_pd_alloc(dev, &dev->pdn);
	if (err)
		return err;
	err = crnic_td_alloc(dev, &dev->tdn);
	if (err)
		crnic_pd_dealloc(dev, dev->pdn);
	return err;
}

static void crnic_stage_port_down(struct crnic_dev *dev)
{
	crnic_td_dealloc(dev, dev->tdn);
	crnic_pd_dealloc(dev, dev->pdn);
}

/* The netdev may have outlived the last bring-up: crnic_unload() */
static int crnic_stage_netdev_up(struct crnic_dev *dev)
{
	return dev->net ? crnic_net_resume(dev) : crnic_net_add(dev);
}

static void crnic_stage_netdev_down(struct crnic_dev *dev)
{
	if (dev->stay)
		crnic_net_suspend(dev);
	else
		crnic_net_remove(dev);
}

/* Users may not want RoCE, which some firmware cannot be told: devlink.c */
static int crnic_stage_ib_up(struct crnic_dev *dev)
{
	return dev->cfg.roce ? crnic_ib_add(dev) : 0;
}

/*
 * The order is that of mlx5_core (main.c).  Memory that the firmware holds outlives
 * the command queue, whose end cuts the device off from memory, and the reset of a
 * device that was given up.
 */
const struct crnic_stage crnic_stages[] = {
	{ "pci",	crnic_stage_pci_up,	crnic_stage_pci_down },
	{ "map",	crnic_iseg_map,		crnic_iseg_unmap },
	{ "firmware",	crnic_iseg_wait_ready,	NULL },
	{ "accounting",	crnic_pages_create,	crnic_pages_destroy },
	{ "reset",	crnic_stage_reset_up,	crnic_stage_reset_down },
	{ "cmdq",	crnic_cmdq_create,	crnic_cmdq_destroy },
	{ "enable",	crnic_stage_enable_up,	crnic_stage_enable_down },
	{ "issi",	crnic_stage_issi_up,	NULL },
	{ "health",	crnic_health_start,	crnic_health_stop },
	{ "boot_pages",	crnic_stage_boot_pages_up, crnic_stage_pages_down },
	{ "endianness",	crnic_fw_host_endianness_set, NULL },
	{ "caps",	crnic_caps_negotiate,	NULL },
	{ "init_pages",	crnic_stage_init_pages_up, NULL },
	{ "init",	crnic_fw_init,		crnic_stage_init_down },
	{ "limits",	crnic_caps_read,	crnic_caps_free },
	{ "irqs",	crnic_irqs_create,	crnic_irqs_destroy },
	{ "uar",	crnic_stage_uar_up,	crnic_stage_uar_down },
	{ "eqs",	crnic_eqs_create,	crnic_eqs_destroy },
	{ "port",	crnic_stage_port_up,	crnic_stage_port_down },
	{ "netdev",	crnic_stage_netdev_up,	crnic_stage_netdev_down },
	{ "ib_device",	crnic_stage_ib_up,	crnic_ib_remove },
};

const unsigned int crnic_num_stages = ARRAY_SIZE(crnic_stages);

/**
 * crnic_stage_known - is there a stage of that name?
 * @name: name
 *
 * Return: true if so.
 */
bool crnic_stage_known(const char *name)
{
	unsigned int i;

	for (i = 0; i < crnic_num_stages; i++)
		if (!strcmp(crnic_stages[i].name, name))
			return true;
	return false;
}

/**
 * crnic_stage_fault - fault point: shall this stage fail?
 * @dev: device
 * @stage: stage that is about to be brought up
 *
 * Return: true if the module parameter fail_stage, or a KUnit suite, says so.
 */
bool crnic_stage_fault(struct crnic_dev *dev, const struct crnic_stage *stage)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_stage_fault, dev, stage);

	return dev->cfg.fail_stage && !strcmp(dev->cfg.fail_stage, stage->name);
}

static void crnic_stage_report(struct crnic_dev *dev, const struct crnic_stage *stage, int err)
{
	struct crnic_refusal *r = &dev->last_refusal;

	crnic_err(dev, "stage %s failed: %pe\n", stage->name, ERR_PTR(err));
	if (r->status)
		crnic_err(dev, "last refused command: 0x%x, %s, syndrome 0x%x\n", r->opcode,
			  crnic_cmd_status_str(r->status), r->syndrome);
}

/**
 * crnic_stages_up - bring up all stages
 * @dev: device
 * @stages: table
 * @num: its rows
 *
 * Context: process.
 * Return: 0, or the error of the stage that failed; nothing is up then.
 */
int crnic_stages_up(struct crnic_dev *dev, const struct crnic_stage *stages, unsigned int num)
{
	int err;

	while (dev->up < num) {
		const struct crnic_stage *stage = &stages[dev->up];

		if (crnic_stage_fault(dev, stage))
			err = -EIO;
		else
			err = stage->up(dev);
		if (err) {
			crnic_stage_report(dev, stage, err);
			/* what the device still works at, nobody will undo by commands */
			if (err == -ETIMEDOUT)
				crnic_dev_break(dev, "it was too slow at bring-up");
			crnic_stages_down(dev, stages);
			return err;
		}
		dev->up++;
	}
	return 0;
}

/**
 * crnic_stages_down - take down what is up, last first
 * @dev: device
 * @stages: table
 *
 * Context: process.
 */
void crnic_stages_down(struct crnic_dev *dev, const struct crnic_stage *stages)
{
	while (dev->up) {
		const struct crnic_stage *stage = &stages[--dev->up];

		if (stage->down)
			stage->down(dev);
	}
}
