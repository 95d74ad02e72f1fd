// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What devlink tells of a function: whose it is, its board and its firmware, and
 * that RoCE is on.  Nothing can be changed or reloaded by it.
 */
#include <net/devlink.h>

#include "../compat/compat.h"
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

static const struct devlink_ops crnic_devlink_ops = {
	.info_get = crnic_devlink_info,
};

/* users look here before they expect RoCE (rdma-core's tests do) */
static int crnic_devlink_roce_get(struct devlink *devlink, u32 id,
				  struct devlink_param_gset_ctx *ctx)
{
	ctx->val.vbool = CRNIC_CAP_GEN(crnic_of_devlink(devlink), roce);
	return 0;
}

static CRNIC_DEVLINK_SET(crnic_devlink_roce_set)
{
	return -EOPNOTSUPP;
}

static const struct devlink_param crnic_devlink_params[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_RUNTIME),
			      crnic_devlink_roce_get, crnic_devlink_roce_set, NULL),
};

/**
 * crnic_devlink_create - show a function to devlink
 * @dev: device; board and capabilities are known
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_devlink_create(struct crnic_dev *dev)
{
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
