/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_RQT_H
#define CRNIC_OBJ_RQT_H

#include <linux/types.h>

struct crnic_dev;

int crnic_rqt_create(struct crnic_dev *dev, const u32 *rqns, u16 num, u32 *rqtn);
int crnic_rqt_modify(struct crnic_dev *dev, u32 rqtn, const u32 *rqns, u16 num);
int crnic_rqt_destroy(struct crnic_dev *dev, u32 rqtn);

#endif /* CRNIC_OBJ_RQT_H */
