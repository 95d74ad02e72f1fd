/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_UAR_H
#define CRNIC_OBJ_UAR_H

#include <linux/types.h>

struct crnic_dev;

int crnic_uar_alloc(struct crnic_dev *dev, u32 *index);
int crnic_uar_dealloc(struct crnic_dev *dev, u32 index);

#endif /* CRNIC_OBJ_UAR_H */
