/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_COMPAT_DEVLINK_H
#define CRNIC_COMPAT_DEVLINK_H

#include <linux/device.h>
#include <linux/version.h>
#include <net/devlink.h>

/* a reload holds the device lock since 6.8; before, whoever does may wait for devlink's */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
static inline bool crnic_devlink_dev_lock(struct device *device)
{
	device_lock_assert(device);
	return true;
}

static inline void crnic_devlink_dev_unlock(struct device *device)
{
}
#else
static inline bool crnic_devlink_dev_lock(struct device *device)
{
	return device_trylock(device);
}

static inline void crnic_devlink_dev_unlock(struct device *device)
{
	device_unlock(device);
}
#endif

/* values for the next start of a driver: renamed, with the instance lock held, in 6.3 */
static inline int crnic_devlink_param_get(struct devlink *devlink, u32 id,
					  union devlink_param_value *val)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return devl_param_driverinit_value_get(devlink, id, val);
#else
	return devlink_param_driverinit_value_get(devlink, id, val);
#endif
}

static inline void crnic_devlink_param_set(struct devlink *devlink, u32 id,
					   union devlink_param_value val)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	devl_lock(devlink);
	devl_param_driverinit_value_set(devlink, id, val);
	devl_unlock(devlink);
#else
	devlink_param_driverinit_value_set(devlink, id, val);
#endif
}

#endif /* CRNIC_COMPAT_DEVLINK_H */
