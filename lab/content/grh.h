/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_GRH_H
#define CONTENT_GRH_H

#include "side.h"

#define GRH_BYTES	40	/* in front of every UD receive */

/**
 * grh_check - check the 40 bytes in front of a UD message
 * @s: this side
 * @area: the 40 bytes
 * @from: GID of the sender
 * @payload: bytes of the message
 * @imm: it carried an immediate value
 *
 * Return: 0, -1 with the verdict filled in.
 */
int grh_check(struct side *s, const uint8_t *area, const union ibv_gid *from, uint32_t payload, bool imm);

#endif
