/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_STAGES_H
#define CRNIC_STAGES_H

#include <linux/types.h>

struct crnic_dev;

/**
 * struct crnic_stage - one step of bring-up
 * @name: for messages and for the fault point
 * @up: brings it up; leaves nothing behind if it fails
 * @down: takes it down again; NULL if there is nothing to do
 */
struct crnic_stage {
	const char *name;
	int (*up)(struct crnic_dev *dev);
	void (*down)(struct crnic_dev *dev);
};

extern const struct crnic_stage crnic_stages[];
extern const unsigned int crnic_num_stages;

int crnic_stages_up(struct crnic_dev *dev, const struct crnic_stage *stages, unsigned int num);
void crnic_stages_down(struct crnic_dev *dev, const struct crnic_stage *stages);
bool crnic_stage_known(const char *name);
int crnic_function_reset(struct crnic_dev *dev);
bool crnic_stage_fault(struct crnic_dev *dev, const struct crnic_stage *stage);

#endif /* CRNIC_STAGES_H */
