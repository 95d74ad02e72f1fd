/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_REPLY_H
#define CONTENT_REPLY_H

#include "side.h"

/**
 * reply_run - answer a datagram with the address that its completion and its 40 bytes give
 * @s: this side
 * @arg: not used
 *
 * Return: 0, -1 with the verdict filled in.
 */
int reply_run(struct side *s, const void *arg);

#endif
