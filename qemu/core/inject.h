/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault injection: what breaks, when, and how.
 *
 * The injector knows nothing of commands or ports; cmd.c and port.c ask it at
 * one place each and do what it says.  It is inert, and costs one test of a
 * bool, until mocx_inject() arms something.  inject_spec.c documents the keys.
 */
#ifndef MOCX_INJECT_H
#define MOCX_INJECT_H

#include "heap.h"
#include "mocx.h"

typedef struct MocxInject MocxInject;

typedef enum MocxInjectAction {
    MOCX_INJECT_NONE,       /* go on as if nothing were armed */
    MOCX_INJECT_FAIL,       /* do not run the handler; complete with status */
    MOCX_INJECT_DELAY,      /* run it now, complete it delay_ns later */
    MOCX_INJECT_DROP,       /* do not run it, never complete it */
} MocxInjectAction;

/**
 * struct MocxInjectCmd - verdict on one command
 * @action: what to do
 * @status: MOCX_INJECT_FAIL: status of the output header
 * @syndrome: MOCX_INJECT_FAIL: syndrome of the output header
 * @delay_ns: MOCX_INJECT_DELAY: time until the entry's owner bit is cleared
 */
typedef struct MocxInjectCmd {
    MocxInjectAction action;
    uint8_t status;
    uint32_t syndrome;
    uint64_t delay_ns;
} MocxInjectCmd;

typedef enum MocxInjectDir {
    MOCX_INJECT_TX,         /* towards the wire */
    MOCX_INJECT_RX,         /* from the wire */
    MOCX_INJECT_DIRS,
} MocxInjectDir;

/* One frame may leave as itself, its duplicate and the one held before it. */
#define MOCX_INJECT_FRAMES_MAX  3

/** mocx_inject_new() - an injector with nothing armed; @heap pays for it */
MocxInject *mocx_inject_new(MocxHeap *heap);

/** mocx_inject_free() - free it, and a frame it may hold back */
void mocx_inject_free(MocxInject *inj);

/**
 * mocx_inject_cmd() - ask before a command's handler runs
 * @inj: the injector
 * @opcode: of the input header
 *
 * Counts the command, so it is to be called once for each.
 */
MocxInjectCmd mocx_inject_cmd(MocxInject *inj, uint16_t opcode);

/**
 * mocx_inject_armed() - is anything armed on this direction of the wire?
 * @inj: the injector
 * @dir: direction of the wire
 *
 * False allows to skip mocx_inject_frame().
 */
bool mocx_inject_armed(const MocxInject *inj, MocxInjectDir dir);

/**
 * mocx_inject_frame() - pass one frame through the injector
 * @inj: the injector
 * @dir: direction of the wire
 * @in: the frame
 * @out: receives the frames to go on with instead, in this order
 *
 * Return: how many are in @out, 0 (dropped or held back) to
 * MOCX_INJECT_FRAMES_MAX.  Their data is that of @in or belongs to the
 * injector; it is valid until the next call for the same direction.
 */
size_t mocx_inject_frame(MocxInject *inj, MocxInjectDir dir,
                         const MocxFrame *in,
                         MocxFrame out[MOCX_INJECT_FRAMES_MAX]);

/** mocx_inject_link_down() - is the cable to be seen as pulled? */
bool mocx_inject_link_down(const MocxInject *inj);

/**
 * mocx_inject_fatal() - health syndrome of the firmware, 0 if it is well
 * @inj: the injector
 *
 * Non-zero: the health buffer shows it and asks for a reset, and no command is
 * completed any more until there is one.
 */
uint8_t mocx_inject_fatal(const MocxInject *inj);

/**
 * mocx_inject_reset() - a reset of the device cures a firmware fatal
 * @inj: the injector
 *
 * Everything else stays armed, so that a test can break the next bring-up.
 */
void mocx_inject_reset(MocxInject *inj);

/**
 * mocx_inject_parse() - arm what @spec says
 * @inj: the injector
 * @spec: one "key=value[,key=value…]" line
 * @err: on failure, a static sentence
 *
 * Return: true if understood; otherwise nothing has changed.
 */
bool mocx_inject_parse(MocxInject *inj, const char *spec, const char **err);

/**
 * struct MocxInjectStats - how often each kind has struck
 * @cmd_failed: commands completed with a status
 * @cmd_delayed: commands completed late
 * @cmd_dropped: commands never completed
 * @wire: frames by direction and fault
 */
typedef struct MocxInjectStats {
    uint64_t cmd_failed;
    uint64_t cmd_delayed;
    uint64_t cmd_dropped;
    struct {
        uint64_t dropped;
        uint64_t duplicated;
        uint64_t reordered;
        uint64_t corrupted;
    } wire[MOCX_INJECT_DIRS];
} MocxInjectStats;

/** mocx_inject_stats() - counts since creation */
const MocxInjectStats *mocx_inject_stats(const MocxInject *inj);

#endif /* MOCX_INJECT_H */
