/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_TIS_H
#define CRNIC_OBJ_TIS_H

#include <linux/types.h>

struct crnic_dev;

int crnic_tis_create(struct crnic_dev *dev, u8 prio, u32 tdn, u32 *tisn);
int crnic_tis_destroy(struct crnic_dev *dev, u32 tisn);

#endif /* CRNIC_OBJ_TIS_H */
