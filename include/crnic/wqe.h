/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_WQE_H
#define CRNIC_WQE_H

/*
 * WQE segments and syndromes of CQEs.  The one place that includes
 * <linux/mlx5/qp.h> and its kin: they pull in the vendor driver's own
 * <linux/mlx5/driver.h>, of which crnic uses a few constants only.
 */
#include <linux/mlx5/cq.h>
#include <linux/mlx5/qp.h>

#include <crnic/hw.h>

#endif /* CRNIC_WQE_H */
