/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_WQE_H
#define CRNIC_WQE_H

/*
 * WQE segments.  The one place that includes <linux/mlx5/qp.h>: it pulls in the
 * vendor driver's own <linux/mlx5/driver.h>, of which crnic uses nothing.
 */
#include <linux/mlx5/qp.h>

#include <crnic/hw.h>

#endif /* CRNIC_WQE_H */
