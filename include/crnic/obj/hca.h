/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_HCA_H
#define CRNIC_OBJ_HCA_H

#include <linux/types.h>

#include <crnic/caps.h>

struct crnic_dev;

enum crnic_pages_when {
	CRNIC_PAGES_BOOT	= 1,
	CRNIC_PAGES_INIT	= 2,
	CRNIC_PAGES_REGULAR	= 3,
};

int crnic_hca_enable(struct crnic_dev *dev);
int crnic_hca_disable(struct crnic_dev *dev);
int crnic_hca_init(struct crnic_dev *dev);
int crnic_hca_teardown(struct crnic_dev *dev);
int crnic_hca_issi_query(struct crnic_dev *dev, u32 *supported);
int crnic_hca_issi_set(struct crnic_dev *dev, u16 issi);
int crnic_hca_cap_query(struct crnic_dev *dev, u16 type, bool max, __be32 *cap);
int crnic_hca_cap_set(struct crnic_dev *dev, u16 type, const __be32 *cap);
int crnic_hca_board_id_query(struct crnic_dev *dev, char *board_id, u32 *vendor_id);
int crnic_hca_host_endianness_set(struct crnic_dev *dev);
int crnic_hca_node_desc_query(struct crnic_dev *dev, char desc[64]);

int crnic_pages_query(struct crnic_dev *dev, enum crnic_pages_when when, u16 *func, s32 *num);
int crnic_pages_give_cmd(struct crnic_dev *dev, u16 func, const u64 *addrs, unsigned int num);
int crnic_pages_refuse_cmd(struct crnic_dev *dev, u16 func);
int crnic_pages_take_cmd(struct crnic_dev *dev, u16 func, u64 *addrs, unsigned int num);

#endif /* CRNIC_OBJ_HCA_H */
