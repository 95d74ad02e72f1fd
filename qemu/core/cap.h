/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities: what is offered, and what the driver chose. */
#ifndef MOCX_CAP_H
#define MOCX_CAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct MocxDev MocxDev;

/* mlx5/device.h: enum mlx5_cap_type */
typedef enum MocxCapType {
    MOCX_CAP_GENERAL = 0,
    MOCX_CAP_ETHERNET = 1,
    MOCX_CAP_ATOMIC = 3,
    MOCX_CAP_ROCE = 4,
    MOCX_CAP_FLOW_TABLE = 7,
    MOCX_CAP_ESWITCH_FLOW_TABLE = 8,
    MOCX_CAP_ESWITCH = 9,
} MocxCapType;

/**
 * mocx_cap() - current value of a field
 * @dev: the device
 * @type: the capability
 * @bit_off: as __devx_bit_off(struct, field) has it
 *
 * Return: 0 for a field that is not offered.
 */
uint32_t mocx_cap(const MocxDev *dev, MocxCapType type, unsigned bit_off);

/* ts_format of a context, and the capabilities that offer one (mlx5_ifc.h) */
enum {
    MOCX_TS_FREE_RUNNING = 0, MOCX_TS_DEFAULT = 1, MOCX_TS_REAL_TIME = 2,
};
enum {
    MOCX_TS_CAP_FREE_RUNNING = 0, MOCX_TS_CAP_REAL_TIME = 1,
    MOCX_TS_CAP_BOTH = 2,
};

/**
 * mocx_ts_format_ok() - may a context have this format of its timestamps?
 * @cap: MOCX_TS_CAP_*
 * @format: MOCX_TS_*
 */
bool mocx_ts_format_ok(uint32_t cap, uint32_t format);

/** mocx_caps_reset() - back to what is offered */
void mocx_caps_reset(MocxDev *dev);

#endif /* MOCX_CAP_H */
