/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands, on a device with objects of every kind, on one that was only just
 * brought up, and on one that is merely powered on.
 */
#include "target.h"

static void worlds(void)
{
    Bed *bed = bed_new();

    drv_cmdq_setup(bed->d);
    target_world(bed);
    target_world_all();
}

const FuzzTarget fuzz_target = {
    .worlds = worlds,
    .steps = {
        step_command, step_command, step_command, step_command,
        step_command, step_command, step_command, step_command,
        step_command, step_command, step_command, step_flow,
        step_send, step_eth_send, step_poll, step_time,
    },
};
