/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow tables, frames in, and what Ethernet queues send. */
#include "target.h"

const FuzzTarget fuzz_target = {
    .worlds = target_world_all,
    .steps = {
        step_flow, step_flow, step_flow, step_flow,
        step_frame, step_frame, step_frame, step_frame,
        step_eth_send, step_eth_send, step_eth_send, step_eth_send,
        step_receive, step_poll, step_command, step_spoil,
    },
};
