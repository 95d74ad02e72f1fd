/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_COMPAT_H
#define CRNIC_COMPAT_H

/*
 * The only place that knows kernel versions.
 */
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "crnic needs Linux 6.1 or newer"
#endif

/* <kunit/static_stub.h> came with 6.3 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <kunit/static_stub.h>
#else
#define KUNIT_STATIC_STUB_REDIRECT(real_fn_name, args...) do {} while (0)
#endif

/* Block iterators moved here after 6.18, and in updates of stable series: see probe.mk */
#ifdef CRNIC_HAVE_RDMA_ITER
#include <rdma/iter.h>
#else
#include <rdma/ib_verbs.h>
#include <rdma/ib_umem.h>
#endif

/* <asm/unaligned.h> moved in 6.12 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* __assign_str() lost its second argument in 6.10 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define crnic_assign_str(dst, src)	__assign_str(dst, src)
#else
#define crnic_assign_str(dst, src)	__assign_str(dst)
#endif

/* devlink tells the driver's name by itself from 6.2 on */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define crnic_devlink_driver_put(req)	0
#else
#define crnic_devlink_driver_put(req)	devlink_info_driver_name_put(req, KBUILD_MODNAME)
#endif

#endif /* CRNIC_COMPAT_H */
