/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_PD_H
#define CRNIC_OBJ_PD_H

#include <linux/types.h>

struct crnic_dev;

int crnic_pd_alloc(struct crnic_dev *dev, u32 *pdn);
int crnic_pd_dealloc(struct crnic_dev *dev, u32 pdn);
int crnic_td_alloc(struct crnic_dev *dev, u32 *tdn);
int crnic_td_dealloc(struct crnic_dev *dev, u32 tdn);
int crnic_xrcd_alloc(struct crnic_dev *dev, u32 *xrcdn);
int crnic_xrcd_dealloc(struct crnic_dev *dev, u32 xrcdn);

#endif /* CRNIC_OBJ_PD_H */
