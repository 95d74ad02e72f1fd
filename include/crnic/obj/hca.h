/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_HCA_H
#define CRNIC_OBJ_HCA_H

#include <linux/types.h>

struct crnic_dev;

#define CRNIC_NODE_DESC_LEN	64

int crnic_node_desc_query(struct crnic_dev *dev, char desc[CRNIC_NODE_DESC_LEN]);
int crnic_node_desc_set(struct crnic_dev *dev, const char desc[CRNIC_NODE_DESC_LEN]);

#endif /* CRNIC_OBJ_HCA_H */
