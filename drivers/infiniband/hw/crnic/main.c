// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The PCI driver.
 */
#include <linux/module.h>
#include <linux/numa.h>
#include <linux/slab.h>

#include <crnic/ids.h>

#include "core/core.h"
#include "recover.h"
#include "stages.h"

#define CRNIC_MAX_COMP_VECTORS		1024
#define CRNIC_MIN_CMD_TIMEOUT_MS	10
#define CRNIC_MAX_CMD_TIMEOUT_MS	600000

static unsigned int comp_vectors;
module_param(comp_vectors, uint, 0444);
MODULE_PARM_DESC(comp_vectors, "completion vectors per device, 0 (default) for one per online CPU");

static unsigned int cmd_timeout_ms = 60000;
module_param(cmd_timeout_ms, uint, 0444);
MODULE_PARM_DESC(cmd_timeout_ms, "how long a firmware command may take, in ms (default 60000)");

static char *fail_stage;
module_param(fail_stage, charp, 0444);
MODULE_PARM_DESC(fail_stage, "for tests: fail bring-up at the stage of this name");

static int crnic_params_check(void)
{
	if (comp_vectors > CRNIC_MAX_COMP_VECTORS) {
		pr_err("crnic: comp_vectors=%u is not in 0..%u\n", comp_vectors,
		       CRNIC_MAX_COMP_VECTORS);
		return -EINVAL;
	}
	if (cmd_timeout_ms < CRNIC_MIN_CMD_TIMEOUT_MS ||
	    cmd_timeout_ms > CRNIC_MAX_CMD_TIMEOUT_MS) {
		pr_err("crnic: cmd_timeout_ms=%u is not in %u..%u\n", cmd_timeout_ms,
		       CRNIC_MIN_CMD_TIMEOUT_MS, CRNIC_MAX_CMD_TIMEOUT_MS);
		return -EINVAL;
	}
	if (fail_stage && *fail_stage && !crnic_stage_known(fail_stage)) {
		pr_err("crnic: fail_stage=%s is no stage\n", fail_stage);
		return -EINVAL;
	}
	return 0;
}

/**
 * crnic_dev_alloc - allocate a device and what needs no hardware
 * @device: its struct device
 *
 * Return: the device, or NULL.
 */
struct crnic_dev *crnic_dev_alloc(struct device *device)
{
	int node = dev_to_node(device);
	struct crnic_dev *dev = kzalloc_node(sizeof(*dev), GFP_KERNEL, node);

	if (!dev)
		return NULL;

	dev->device = device;
	dev->numa_node = node;
	dev->cfg.comp_vectors = comp_vectors;
	dev->cfg.cmd_timeout_ms = cmd_timeout_ms;
	dev->cfg.fail_stage = fail_stage;
	dev->cfg.roce = true;
	xa_init(&dev->cqs);
	xa_init(&dev->rscs);
	ATOMIC_INIT_NOTIFIER_HEAD(&dev->notifiers);
	crnic_dbr_init(dev);
	crnic_recover_init(dev);
	return dev;
}

/**
 * crnic_dev_free - undo crnic_dev_alloc()
 * @dev: device
 */
void crnic_dev_free(struct crnic_dev *dev)
{
	mutex_destroy(&dev->dbr_lock);
	xa_destroy(&dev->rscs);
	xa_destroy(&dev->cqs);
	kfree(dev);
}

static int crnic_start(struct crnic_dev *dev)
{
	int err;

	err = crnic_load(dev);
	if (err)
		return err;
	err = crnic_devlink_create(dev);
	if (err) {
		crnic_unload(dev, false);
		return err;
	}
	crnic_info(dev, "firmware %u.%u.%04u with %u pages, board %s, %u completion vectors\n",
		   dev->fw_rev[0], dev->fw_rev[1], dev->fw_rev[2], crnic_fw_pages(dev),
		   dev->board_id, crnic_comp_vectors(dev));
	crnic_recover_on(dev);
	return 0;
}

static int crnic_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct crnic_dev *dev = crnic_dev_alloc(&pdev->dev);
	int err;

	if (!dev)
		return -ENOMEM;
	dev->pdev = pdev;
	pci_set_drvdata(pdev, dev);

	err = crnic_start(dev);
	if (err) {
		pci_set_drvdata(pdev, NULL);
		crnic_dev_free(dev);
	}
	return err;
}

static void crnic_remove(struct pci_dev *pdev)
{
	struct crnic_dev *dev = pci_get_drvdata(pdev);

	crnic_recover_off(dev);
	crnic_devlink_destroy(dev);
	crnic_unload(dev, false);
	pci_set_drvdata(pdev, NULL);
	crnic_dev_free(dev);
}

/*
 * The machine goes down, or another kernel takes over.  The file systems on top of
 * the device may not let go of it any more, so nobody is asked: the device alone
 * is made quiet.
 */
static void crnic_shutdown(struct pci_dev *pdev)
{
	struct crnic_dev *dev = pci_get_drvdata(pdev);

	crnic_recover_off(dev);
	crnic_quiesce(dev);
}

/* The device may lose all it knows; its netdev keeps what was set */
static int crnic_suspend(struct device *device)
{
	crnic_sleep(dev_get_drvdata(device));
	return 0;
}

static int crnic_resume(struct device *device)
{
	return crnic_wake(dev_get_drvdata(device));
}

static DEFINE_SIMPLE_DEV_PM_OPS(crnic_pm_ops, crnic_suspend, crnic_resume);

/* A card that was sold: only for those who name crnic in driver_override */
#define CRNIC_CARD(id) { PCI_DEVICE_DRIVER_OVERRIDE(CRNIC_PCI_VENDOR_ID, id, true) }

static const struct pci_device_id crnic_pci_ids[] = {
	{ PCI_DEVICE_SUB(CRNIC_PCI_VENDOR_ID, CRNIC_PCI_DEVICE_ID_MODEL,
			 CRNIC_PCI_SUBVENDOR_ID_MODEL, CRNIC_PCI_SUBDEVICE_ID_MODEL) },
	CRNIC_CARD(0x1013),	/* ConnectX-4 */
	CRNIC_CARD(0x1015),	/* ConnectX-4 Lx */
	CRNIC_CARD(0x1017),	/* ConnectX-5 */
	CRNIC_CARD(0x1019),	/* ConnectX-5 Ex */
	CRNIC_CARD(0x101b),	/* ConnectX-6 */
	CRNIC_CARD(0x101d),	/* ConnectX-6 Dx */
	CRNIC_CARD(0x101f),	/* ConnectX-6 Lx */
	CRNIC_CARD(0x1021),	/* ConnectX-7 */
	CRNIC_CARD(0x1023),	/* ConnectX-8 */
	CRNIC_CARD(0xa2d2),	/* BlueField */
	CRNIC_CARD(0xa2d6),	/* BlueField-2 */
	CRNIC_CARD(0xa2dc),	/* BlueField-3 */
	{}
};

/*
 * Aliases make udev load the module.  Entries with driver_override would become
 * aliases of a VFIO driver (scripts/mod/file2alias.c), which crnic is not, so
 * only the model's entry is exported.
 */
static const struct pci_device_id crnic_pci_aliases[] __maybe_unused = {
	{ PCI_DEVICE_SUB(CRNIC_PCI_VENDOR_ID, CRNIC_PCI_DEVICE_ID_MODEL,
			 CRNIC_PCI_SUBVENDOR_ID_MODEL, CRNIC_PCI_SUBDEVICE_ID_MODEL) },
	{}
};
MODULE_DEVICE_TABLE(pci, crnic_pci_aliases);

static struct pci_driver crnic_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = crnic_pci_ids,
	.probe = crnic_probe,
	.remove = crnic_remove,
	.shutdown = crnic_shutdown,
	.err_handler = &crnic_error_handlers,
	.driver.pm = pm_sleep_ptr(&crnic_pm_ops),
};

static int __init crnic_init(void)
{
	int err = crnic_params_check();

	return err ?: pci_register_driver(&crnic_pci_driver);
}

static void __exit crnic_exit(void)
{
	pci_unregister_driver(&crnic_pci_driver);
}

module_init(crnic_init);
module_exit(crnic_exit);

MODULE_DESCRIPTION("RDMA driver for ConnectX-class NICs");
MODULE_AUTHOR("The crnic authors");
MODULE_LICENSE("Dual BSD/GPL");
