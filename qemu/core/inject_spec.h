/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a fault-injection spec sets: between inject.c and inject_spec.c. */
#ifndef MOCX_INJECT_SPEC_H
#define MOCX_INJECT_SPEC_H

#include "inject.h"

#define MOCX_INJECT_RULES   16
#define MOCX_PPM_ALL        1000000u
#define MOCX_INJECT_ANY     0u      /* opcode */

typedef enum MocxWireFault {
    MOCX_FAULT_DROP,
    MOCX_FAULT_DUP,
    MOCX_FAULT_REORDER,
    MOCX_FAULT_CORRUPT,
    MOCX_WIRE_FAULTS,
} MocxWireFault;

/* What wire.only may be, beside a BTH opcode. */
enum { MOCX_ONLY_ALL = -1, MOCX_ONLY_ROCE = -2 };

typedef struct MocxCmdRule {
    uint16_t opcode;
    MocxInjectCmd verdict;
    uint32_t nth;           /* commands to go until the first hit, then 0 */
    uint32_t count;         /* hits to go; UINT32_MAX: no end */
} MocxCmdRule;

typedef struct MocxWireRule {
    uint32_t ppm;
    uint64_t nth;           /* matching frames to go until the hit; 0: off */
} MocxWireRule;

/* What a spec changes; the injector holds one, a parse works on a copy. */
typedef struct MocxInjectSet {
    MocxCmdRule rules[MOCX_INJECT_RULES];
    unsigned num_rules;
    MocxWireRule wire[MOCX_INJECT_DIRS][MOCX_WIRE_FAULTS];
    int only[MOCX_INJECT_DIRS];
    bool armed[MOCX_INJECT_DIRS];
    bool link_down;
    uint8_t fatal;
    uint64_t rng;
} MocxInjectSet;

/**
 * mocx_inject_spec() - change settings as a spec says
 * @set: the settings, which an error leaves half changed: pass a copy
 * @spec: key=value pairs, see inject_spec.c
 * @err: set to a sentence about the first pair that is wrong
 *
 * Return: the whole spec was understood.
 */
bool mocx_inject_spec(MocxInjectSet *set, const char *spec, const char **err);

#endif /* MOCX_INJECT_SPEC_H */
