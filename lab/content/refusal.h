/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_REFUSAL_H
#define CONTENT_REFUSAL_H

#include "side.h"

/**
 * refusal_run - a table of modify_qp() calls that must be refused, or must not be
 * @s: this side; only the active one does anything
 * @arg: not used
 *
 * A refused QP must be in the state in which it was, and the right call must still work. Return: 0, -1 with the verdict filled in.
 */
int refusal_run(struct side *s, const void *arg);

#endif
