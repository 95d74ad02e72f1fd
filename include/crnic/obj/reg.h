/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_REG_H
#define CRNIC_OBJ_REG_H

#include <linux/types.h>

struct crnic_dev;

int crnic_reg_read(struct crnic_dev *dev, u16 id, void *data, size_t len);
int crnic_reg_write(struct crnic_dev *dev, u16 id, void *data, size_t len);

#endif /* CRNIC_OBJ_REG_H */
