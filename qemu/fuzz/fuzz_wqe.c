/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work requests of every kind, spoiled in the rings. */
#include "target.h"

const FuzzTarget fuzz_target = {
    .worlds = target_world_all,
    .steps = {
        step_send, step_send, step_send, step_send,
        step_send, step_umr, step_umr, step_umr,
        step_receive, step_receive, step_eth_send, step_eth_send,
        step_poll, step_time, step_packet, step_command,
    },
};
