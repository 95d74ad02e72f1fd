/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the engine's bytes to steps: the first byte is the world, and each STEP
 * bytes behind it are a step.
 */
#include <stdio.h>
#include <unistd.h>

#include "arena.h"
#include "engine.h"
#include "grammar.h"
#include "snap.h"
#include "target.h"

static struct {
    Bed *bed;
    Snap *snap;
} worlds[TARGET_WORLDS];
static unsigned num_worlds;
static const char *input_path, *plain_world;

/* Leaks of the model are found by bed_end(); copies of worlds are none. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static Bed *running;             /* what LSan begins its search with */

static void run(Bed *bed, const uint8_t *data, size_t size);

/* Without a way back an input is run in its world as soon as that is there. */
static void run_plain(Bed *bed)
{
    uint8_t data[1 + STEPS_MAX * STEP];
    FILE *f = fopen(input_path ? input_path : "", "rb");
    size_t size;

    CHECK(f, "FUZZ_PLAIN is for one input");
    size = fread(data, 1, sizeof(data), f);
    fclose(f);
    running = bed;
    run(running, data, size);
    exit(0);
}

void target_world(Bed *bed)
{
    if (arena_plain() && num_worlds == (unsigned)atoi(plain_world)) {
        run_plain(bed);
    }
    CHECK(num_worlds < TARGET_WORLDS, "more than %u worlds", TARGET_WORLDS);
    worlds[num_worlds].bed = bed;
    worlds[num_worlds++].snap = snap_take(bed->h);
}

void target_world_all(void)
{
    Bed *bed = bed_new();

    bed->d->record = grammar_note;
    bed_up(bed);
    bed->d->record = NULL;
    grammar_complete();
    target_world(bed);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    input_path = *argc > 1 ? (*argv)[1] : NULL;
    plain_world = getenv("FUZZ_PLAIN") ? strdup(getenv("FUZZ_PLAIN")) : NULL;
    if (plain_world) {
        unsetenv("FUZZ_PLAIN");
        grammar_of_child(fuzz_target.worlds);
        setenv("FUZZ_PLAIN", plain_world, 1);
    }
    arena_reuse(true);
    fuzz_target.worlds();
    arena_reuse(false);
    if (getenv("FUZZ_WORLDS")) {
        printf("%u\n", num_worlds);
        fflush(stdout);
        _exit(0);
    }
    return 0;
}

/* Steps that use the objects of bed_up(). */
static bool needs_all(StepFn *step)
{
    return step == step_send || step == step_receive || step == step_umr ||
           step == step_poll || step == step_eth_send;
}

static void run(Bed *bed, const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;

    data += size != 0;
    for (unsigned i = 0; i < STEPS_MAX && data < end; i++) {
        Bytes b = { data, end - data < STEP ? end : data + STEP };
        StepFn *step = fuzz_target.steps[bytes_u8(&b) % TARGET_STEPS];

        if (!bed->up && needs_all(step)) {
            step = step_command;
        }
        step(bed, &b);
        world_settle(bed->w);
        data = b.end;
    }
    bed_end(bed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned world = size ? data[0] % num_worlds : 0;

    snap_restore(worlds[world].snap);
    run(worlds[world].bed, data, size);
    return 0;
}

/* The engine */

static uint8_t *step_at(uint8_t *data, unsigned i)
{
    return data + 1 + i * STEP;
}

static void step_insert(uint8_t *data, unsigned steps, unsigned at,
                        const uint8_t *step)
{
    memmove(step_at(data, at + 1), step_at(data, at), (steps - at) * STEP);
    memcpy(step_at(data, at), step, STEP);
}

static void step_random(uint8_t *step, uint64_t *rng)
{
    for (unsigned i = 0; i < STEP; i++) {
        step[i] = rng_next(rng);
    }
    /* Mostly nothing is spoiled, or nothing would get anywhere. */
    memset(step + 12, 0, rng_next(rng) % 4 ? STEP - 12 : 0);
}

/* Some bytes of one step. */
static void step_change(uint8_t *step, uint64_t *rng)
{
    switch (rng_next(rng) % 4) {
    case 0:
        step[rng_next(rng) % STEP] = rng_next(rng);
        break;
    case 1:
        step[1 + rng_next(rng) % 11] = rng_next(rng);
        break;
    case 2:
        step[rng_next(rng) % STEP] ^= 1 << rng_next(rng) % 8;
        break;
    default:
        LLVMFuzzerMutate(step, STEP, STEP);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
                               unsigned int seed)
{
    uint64_t rng = seed;
    unsigned steps = size > 1 ? (size - 1) / STEP : 0;
    unsigned room = (max - 1) / STEP, at, from;
    uint8_t step[STEP];

    room = room < STEPS_MAX ? room : STEPS_MAX;
    if (!size || max < 1 + STEP) {
        return LLVMFuzzerMutate(data, size, max);
    }
    steps = steps < room ? steps : room;
    at = steps ? rng_next(&rng) % steps : 0;
    from = steps ? rng_next(&rng) % steps : 0;
    switch (steps ? rng_next(&rng) % 8 : 0) {
    case 0:
        step_random(step, &rng);
        break;
    case 1:
        memcpy(step, step_at(data, from), STEP);
        break;
    case 2:
        memmove(step_at(data, at), step_at(data, at + 1),
                (steps - at - 1) * STEP);
        return 1 + (steps - 1) * STEP;
    case 3:
        data[0] = rng_next(&rng);
        return 1 + steps * STEP;
    default:
        step_change(step_at(data, at), &rng);
        return 1 + steps * STEP;
    }
    if (steps == room) {
        memcpy(step_at(data, at), step, STEP);
    } else {
        step_insert(data, steps++, at, step);
    }
    return 1 + steps * STEP;
}

/* The beginning of one and the end of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t asize,
                                 const uint8_t *b, size_t bsize, uint8_t *out,
                                 size_t max, unsigned int seed)
{
    uint64_t rng = seed;
    size_t na = asize > 1 ? (asize - 1) / STEP : 0;
    size_t nb = bsize > 1 ? (bsize - 1) / STEP : 0;
    size_t head = na ? rng_next(&rng) % na + 1 : 0, tail;
    size_t skip = nb ? rng_next(&rng) % nb : 0;

    if (max < 1 + STEP || !asize) {
        return 0;
    }
    head = head < (max - 1) / STEP ? head : (max - 1) / STEP;
    tail = nb - skip;
    tail = tail < (max - 1) / STEP - head ? tail : (max - 1) / STEP - head;
    memcpy(out, a, 1 + head * STEP);
    memcpy(out + 1 + head * STEP, b + 1 + skip * STEP, tail * STEP);
    return 1 + (head + tail) * STEP;
}
