/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MOCX_REG_H
#define MOCX_REG_H

#include "cmd.h"

/** mocx_ppcnt_read() - the register of port counters; @in names the group */
MocxStatus mocx_ppcnt_read(MocxDev *dev, const uint8_t *in, uint8_t *out);

#endif /* MOCX_REG_H */
