/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MOCX_REG_H
#define MOCX_REG_H

#include "cmd.h"

/** mocx_ppcnt_read() - the register of port counters; @in names the group */
MocxStatus mocx_ppcnt_read(MocxDev *dev, const uint8_t *in, uint8_t *out);

/** mocx_mcam_read() - which management registers there are */
MocxStatus mocx_mcam_read(MocxDev *dev, const uint8_t *in, uint8_t *out);

/** mocx_mcqs_read() - a component of the firmware and its state */
MocxStatus mocx_mcqs_read(MocxDev *dev, const uint8_t *in, uint8_t *out);

/** mocx_mcqi_read() - a component's version, an mcqi_version behind the rest */
MocxStatus mocx_mcqi_read(MocxDev *dev, const uint8_t *in, uint8_t *out);

#endif /* MOCX_REG_H */
