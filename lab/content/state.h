/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_STATE_H
#define CONTENT_STATE_H

#include "side.h"

/* Cases about what a change of state does to work that is outstanding. Each returns 0, or -1 with the verdict filled in. */

/**
 * state_flush - all work of a QP that goes to ERR is flushed in order, and so is what is posted then
 * @s: this side
 * @arg: not used
 */
int state_flush(struct side *s, const void *arg);

/**
 * state_reset - RESET takes a QP's completions off a shared CQ, no other QP's, and the QP works again after it
 * @s: this side
 * @arg: not used
 */
int state_reset(struct side *s, const void *arg);

/**
 * state_late_receive - with seven RNR retries a receive may come late
 * @s: this side
 * @arg: not used
 */
int state_late_receive(struct side *s, const void *arg);

/**
 * state_query - query_qp() tells what modify_qp() was given
 * @s: this side
 * @arg: not used
 */
int state_query(struct side *s, const void *arg);

#endif
