/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets: made from fields, or the device's own, spoiled on their way back. */
#include "target.h"

const FuzzTarget fuzz_target = {
    .worlds = target_world_all,
    .steps = {
        step_packet, step_packet, step_packet, step_packet,
        step_packet, step_packet, step_packet, step_spoil,
        step_send, step_send, step_send, step_receive,
        step_frame, step_time, step_poll, step_command,
    },
};
