/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_WQ_H
#define CRNIC_WQ_H

#include <crnic/obj/sq.h>

/* Private to the object files that have a ring of work queue entries in their context */
enum crnic_wq_type {
	CRNIC_WQ_LINKED_LIST	= 0,
	CRNIC_WQ_CYCLIC		= 1,
};

/* CQEs get free-running timestamps, unless the device has none (mlx5_ifc.h: ts_format) */
static inline u8 crnic_wq_ts_format(u8 cap)
{
	return cap == MLX5_TIMESTAMP_FORMAT_CAP_REAL_TIME ? MLX5_TIMESTAMP_FORMAT_REAL_TIME :
							    MLX5_TIMESTAMP_FORMAT_FREE_RUNNING;
}

void crnic_wq_fill(void *wq, enum crnic_wq_type type, const struct crnic_wq_params *p);

#endif /* CRNIC_WQ_H */
