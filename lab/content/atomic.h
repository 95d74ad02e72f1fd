/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_ATOMIC_H
#define CONTENT_ATOMIC_H

#include "side.h"

/**
 * struct atomic - a case of atomic operations
 * @op: FETCH_ADD or CMP_SWAP
 * @shared: all QPs work on one word; each works on its own if not
 */
struct atomic {
	enum ibv_wr_opcode op;
	bool shared;
};

/**
 * atomic_run - check results and memory of atomic operations by value
 * @s: this side
 * @arg: a struct atomic
 *
 * Return: 0, -1 with the verdict filled in.
 */
int atomic_run(struct side *s, const void *arg);

/**
 * atomic_why_not - say why the case cannot run
 * @s: this side
 * @arg: a struct atomic
 *
 * Return: a reason, NULL if it can.
 */
const char *atomic_why_not(const struct side *s, const void *arg);

#endif
