// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What devlink tells of a function: whose it is, its board and its firmware, and
 * that RoCE is on.  A reload starts the function anew, with RoCE or without.
 */
#include <net/devlink.h>

#include "../compat/compat.h"
#include "../compat/devlink.h"
#include "core.h"

static struct crnic_dev *crnic_of_devlink(struct devlink *devlink)
{
	return *(struct crnic_dev **)devlink_priv(devlink);
}

static int crnic_devlink_info(struct devlink *devlink, struct devlink_info_req *req,
			      struct netlink_ext_ack *extack)
{
	const struct crnic_dev *dev = crnic_of_devlink(devlink);
	char fw[32];
	int err;

	err = crnic_devlink_driver_put(req);
	if (err)
		return err;
	err = devlink_info_version_fixed_put(req, DEVLINK_INFO_VERSION_GENERIC_FW_PSID,
					     dev->board_id);
	if (err)
		return err;
	snprintf(fw, sizeof(fw), "%u.%u.%04u", dev->fw_rev[0], dev->fw_rev[1], dev->fw_rev[2]);
	err = devlink_info_version_running_put(req, "fw.version", fw);
	if (err)
		return err;
	return devlink_info_version_running_put(req, DEVLINK_INFO_VERSION_GENERIC_FW, fw);
}

static int crnic_devlink_reload_down(struct devlink *devlink, bool netns_change,
				     enum devlink_reload_action action,
				     enum devlink_reload_limit limit,
				     struct netlink_ext_ack *extack)
{
	struct crnic_dev *dev = crnic_of_devlink(devlink);

	if (netns_change) {
		NL_SET_ERR_MSG(extack, "the function cannot move to another network namespace");
		return -EOPNOTSUPP;
	}
	if (!crnic_devlink_dev_lock(dev->device)) {
		NL_SET_ERR_MSG(extack, "the function is just being started or stopped");
		return -EBUSY;
	}
	crnic_recover_off(dev);
	crnic_unload(dev, true);
	return 0;
}

static int crnic_devlink_reload_up(struct devlink *devlink, enum devlink_reload_action action,
				   enum devlink_reload_limit limit, u32 *actions_performed,
				   struct netlink_ext_ack *extack)
{
	struct crnic_dev *dev = crnic_of_devlink(devlink);
	union devlink_param_value roce;
	int err;

	if (!crnic_devlink_param_get(devlink, DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE, &roce))
		dev->cfg.roce = roce.vbool;
	*actions_performed = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	err = crnic_load(dev);
	if (err) {
		NL_SET_ERR_MSG(extack, "the function does not come up again, see the kernel's log");
	} else {
		/* somebody looked at it: it may die as often as a new one */
		dev->recovery.tries = 0;
		crnic_recover_on(dev);
	}
	crnic_devlink_dev_unlock(dev->device);
	return err;
}

static const struct devlink_ops crnic_devlink_ops = {
	.info_get = crnic_devlink_info,
	.reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down = crnic_devlink_reload_down,
	.reload_up = crnic_devlink_reload_up,
};

static int crnic_devlink_roce_check(struct devlink *devlink, u32 id,
				    union devlink_param_value val,
				    struct netlink_ext_ack *extack)
{
	if (!val.vbool || crnic_of_devlink(devlink)->has_roce)
		return 0;
	NL_SET_ERR_MSG(extack, "the device has no RoCE");
	return -EOPNOTSUPP;
}

/* users look here before they expect RoCE (rdma-core's tests do) */
static const struct devlink_param crnic_devlink_params[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_DRIVERINIT),
			      NULL, NULL, crnic_devlink_roce_check),
};

/**
 * crnic_devlink_create - show a function to devlink
 * @dev: device, which is up
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_devlink_create(struct crnic_dev *dev)
{
	union devlink_param_value roce = { .vbool = dev->has_roce };
	struct devlink *devlink;
	int err;

	devlink = devlink_alloc(&crnic_devlink_ops, sizeof(dev), dev->device);
	if (!devlink)
		return -ENOMEM;
	*(struct crnic_dev **)devlink_priv(devlink) = dev;

	err = devlink_params_register(devlink, crnic_devlink_params,
				      ARRAY_SIZE(crnic_devlink_params));
	if (err) {
		devlink_free(devlink);
		return err;
	}
	crnic_devlink_param_set(devlink, DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE, roce);
	devlink_register(devlink);
	dev->devlink = devlink;
	return 0;
}

/**
 * crnic_devlink_destroy - undo crnic_devlink_create()
 * @dev: device
 *
 * Context: process.
 */
void crnic_devlink_destroy(struct crnic_dev *dev)
{
	struct devlink *devlink = dev->devlink;

	dev->devlink = NULL;
	devlink_unregister(devlink);
	devlink_params_unregister(devlink, crnic_devlink_params,
				  ARRAY_SIZE(crnic_devlink_params));
	devlink_free(devlink);
}
