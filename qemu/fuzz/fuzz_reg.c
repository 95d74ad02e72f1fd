/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BAR0 at every offset and size, between all else. */
#include "target.h"

const FuzzTarget fuzz_target = {
    .worlds = target_world_all,
    .steps = {
        step_register, step_register, step_register, step_register,
        step_register, step_register, step_register, step_register,
        step_bus, step_bus, step_command, step_command,
        step_send, step_poll, step_packet, step_time,
    },
};
