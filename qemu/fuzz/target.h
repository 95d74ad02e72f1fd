/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one fuzzer is: which steps, how often, from where. */
#ifndef MOCX_FUZZ_TARGET_H
#define MOCX_FUZZ_TARGET_H

#include "step.h"

#define TARGET_STEPS    16
#define TARGET_WORLDS   64

typedef struct Snap Snap;

/**
 * struct FuzzTarget - defined once by each fuzzer
 * @worlds: make the worlds that an input may begin in, with target_world()
 * @steps: what the first byte of a step chooses from, modulo 16
 */
typedef struct FuzzTarget {
    void (*worlds)(void);
    StepFn *steps[TARGET_STEPS];
} FuzzTarget;

extern const FuzzTarget fuzz_target;

/** target_world() - @bed as it is now is where an input may begin */
void target_world(Bed *bed);
/** target_world_all() - one device with all of Bed, which most begin with */
void target_world_all(void);

#endif /* MOCX_FUZZ_TARGET_H */
