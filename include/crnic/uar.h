/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_UAR_H
#define CRNIC_UAR_H

#include <linux/types.h>

struct crnic_dev;

/**
 * struct crnic_uar - a doorbell page mapped into the kernel
 * @index: the number that contexts name it by
 * @map: its registers: CRNIC_UAR_CQ_ARM and so on
 */
struct crnic_uar {
	u32 index;
	void __iomem *map;
};

/* Register offsets in a UAR page: as in mlx5_core's uar.c and lib/eq.h */
#define CRNIC_UAR_CQ_ARM	0x20
#define CRNIC_UAR_EQ_ARM	0x40
#define CRNIC_UAR_EQ_CI		0x48
#define CRNIC_UAR_SQ		0x800

int crnic_uar_alloc(struct crnic_dev *dev, u32 *index);
int crnic_uar_dealloc(struct crnic_dev *dev, u32 index);
int crnic_uar_create(struct crnic_dev *dev, struct crnic_uar *uar);
void crnic_uar_destroy(struct crnic_dev *dev, struct crnic_uar *uar);
phys_addr_t crnic_uar_phys(struct crnic_dev *dev, u32 index);

/**
 * struct crnic_uar_place - what says where doorbell pages are
 * @page_shift: log2 of a system page
 * @uar_4k: numbers count pages of 4 KiB whatever a system page is
 * @bar_len: length of BAR0
 */
struct crnic_uar_place {
	u8 page_shift;
	bool uar_4k;
	u64 bar_len;
};

int crnic_uar_place(const struct crnic_uar_place *at, u32 index, u64 *offset);

#endif /* CRNIC_UAR_H */
