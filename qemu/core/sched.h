/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs next, and when: a run queue of work items and a heap of timers,
 * both embedded in the objects they serve.
 */
#ifndef MOCX_SCHED_H
#define MOCX_SCHED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct MocxDev MocxDev;
typedef struct MocxWork MocxWork;
typedef struct MocxTimer MocxTimer;

/**
 * MocxWorkFn - do up to @budget units (packets or WQEs)
 * @dev: the device
 * @work: embedded in the object it serves
 * @budget: units it may use
 * @used: units done
 *
 * Return: true if the item wants to run again at once.  An item that waits
 * (for a packet, a timer, room on the wire) returns false and is queued again
 * by what it waits for.
 */
typedef bool MocxWorkFn(MocxDev *dev, MocxWork *work, unsigned budget,
                        unsigned *used);

struct MocxWork {
    MocxWorkFn *fn;
    MocxWork *next, *prev;  /* both NULL when idle */
};

/** mocx_work_queue() - put @work at the tail, once; kicks the host if needed */
void mocx_work_queue(MocxDev *dev, MocxWork *work);
/** mocx_work_wait_tx() - queue @work again when the wire has room */
void mocx_work_wait_tx(MocxDev *dev, MocxWork *work);
/** mocx_work_cancel() - from wherever it waits */
void mocx_work_cancel(MocxDev *dev, MocxWork *work);

/** mocx_work_wake_tx() - for port.c: all that waited for room may try again */
void mocx_work_wake_tx(MocxDev *dev);
/** mocx_sched_kick(), mocx_timer_program() - for mocx_leave() */
void mocx_sched_kick(MocxDev *dev);
void mocx_timer_program(MocxDev *dev);

/**
 * mocx_charge() - work beyond what a packet or a WQE is counted for
 * @dev: the device
 * @steps: entries of a list looked at, copies made, blocks of a mailbox read
 *
 * It is paid from the turn of the work item that runs, whose @used grows by it,
 * or, when a frame came from the wire, from what may be done before the host
 * has to offer the next (mocx_rx_spent()).
 */
void mocx_charge(MocxDev *dev, uint32_t steps);
/** mocx_steps() - all that was charged so far, to bound a part of it */
uint64_t mocx_steps(const MocxDev *dev);
/**
 * mocx_rx_spent() - is it time to let others run before the next frame?
 * @dev: the device
 *
 * If so a slice is asked for, and frames may be taken after it.
 */
bool mocx_rx_spent(MocxDev *dev);

struct MocxTimer {
    void (*fn)(MocxDev *dev, MocxTimer *timer);
    uint64_t deadline;      /* ns */
    int32_t pos;            /* place in the heap + 1; 0 when off */
};

/**
 * mocx_now() - the clock, ns; constant within one entry point is not promised
 * @dev: the device
 */
uint64_t mocx_now(MocxDev *dev);
void mocx_timer_arm(MocxDev *dev, MocxTimer *timer, uint64_t deadline_ns);
void mocx_timer_stop(MocxDev *dev, MocxTimer *timer);

#endif /* MOCX_SCHED_H */
