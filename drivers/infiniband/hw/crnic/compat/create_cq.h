/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_COMPAT_CREATE_CQ_H
#define CRNIC_COMPAT_CREATE_CQ_H

/*
 * ib_core hands over the whole request since 6.11; before, the driver's part of it,
 * which lies within.  The attribute for large page numbers came with that.
 */
#include <linux/version.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define crnic_cq_request	uverbs_attr_bundle

static inline struct uverbs_attr_bundle *crnic_cq_attrs(struct crnic_cq_request *req)
{
	return req;
}
#else
#define crnic_cq_request	ib_udata

#define MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX	(UVERBS_ATTR_UHW_OUT + 1)

static inline struct uverbs_attr_bundle *crnic_cq_attrs(struct crnic_cq_request *req)
{
	return req ? container_of(req, struct uverbs_attr_bundle, driver_udata) : NULL;
}
#endif

#endif /* CRNIC_COMPAT_CREATE_CQ_H */
