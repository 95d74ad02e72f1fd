// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Timers: a binary heap, earliest deadline at its root, over one timer of the
 * host.  The host is told only when the earliest deadline moves forward; a
 * timer that was put off makes one early call, which finds nothing due and
 * sets the right deadline.  A retransmission timer that is armed anew with
 * every packet thus costs the host nothing.
 */
#include "dev.h"
#include "heap.h"

uint64_t mocx_now(MocxDev *dev)
{
    return dev->ops->clock_ns(dev->opaque);
}

/* 156.25 MHz is 5 ticks in 32 ns. */
#define NSEC_PER_SEC    1000000000ull

uint64_t mocx_ticks(MocxDev *dev)
{
    uint64_t ns = mocx_now(dev);

    return ns / 32 * 5 + ns % 32 * 5 / 32;
}

uint64_t mocx_real_time(MocxDev *dev)
{
    uint64_t ns = mocx_now(dev);

    return ns / NSEC_PER_SEC << 32 | ns % NSEC_PER_SEC;
}

static void heap_put(MocxDev *dev, uint32_t i, MocxTimer *t)
{
    dev->timers[i] = t;
    t->pos = i + 1;
}

static void heap_up(MocxDev *dev, uint32_t i, MocxTimer *t)
{
    while (i) {
        uint32_t parent = (i - 1) / 2;

        if (dev->timers[parent]->deadline <= t->deadline) {
            break;
        }
        heap_put(dev, i, dev->timers[parent]);
        i = parent;
    }
    heap_put(dev, i, t);
}

static void heap_down(MocxDev *dev, uint32_t i, MocxTimer *t)
{
    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= dev->num_timers) {
            break;
        }
        if (child + 1 < dev->num_timers &&
            dev->timers[child + 1]->deadline < dev->timers[child]->deadline) {
            child++;
        }
        if (t->deadline <= dev->timers[child]->deadline) {
            break;
        }
        heap_put(dev, i, dev->timers[child]);
        i = child;
    }
    heap_put(dev, i, t);
}

static bool heap_room(MocxDev *dev)
{
    uint32_t cap = dev->cap_timers ? dev->cap_timers * 2 : 64;
    MocxTimer **timers;

    if (dev->num_timers < dev->cap_timers) {
        return true;
    }
    timers = mocx_realloc(&dev->heap, dev->timers, cap * sizeof(*timers));
    if (!timers) {
        return false;
    }
    dev->timers = timers;
    dev->cap_timers = cap;
    return true;
}

void mocx_timer_arm(MocxDev *dev, MocxTimer *timer, uint64_t deadline_ns)
{
    uint64_t old = timer->deadline;

    timer->deadline = deadline_ns;
    if (!timer->pos) {
        if (!heap_room(dev)) {
            return;
        }
        heap_up(dev, dev->num_timers++, timer);
    } else if (deadline_ns < old) {
        heap_up(dev, timer->pos - 1, timer);
    } else {
        heap_down(dev, timer->pos - 1, timer);
    }
}

void mocx_timer_stop(MocxDev *dev, MocxTimer *timer)
{
    uint32_t i = timer->pos - 1;
    MocxTimer *last;

    if (!timer->pos) {
        return;
    }
    timer->pos = 0;
    last = dev->timers[--dev->num_timers];
    if (last == timer) {
        return;
    }
    if (i && dev->timers[(i - 1) / 2]->deadline > last->deadline) {
        heap_up(dev, i, last);
    } else {
        heap_down(dev, i, last);
    }
}

/* Tell the host about an earlier deadline than the one it has. */
void mocx_timer_program(MocxDev *dev)
{
    if (!dev->num_timers ||
        dev->timers[0]->deadline >= dev->timer_programmed) {
        return;
    }
    dev->timer_programmed = dev->timers[0]->deadline;
    dev->ops->timer_set(dev->opaque, dev->timer_programmed);
}

void mocx_timer(MocxDev *dev)
{
    uint64_t now = mocx_now(dev);
    uint32_t turns = dev->num_timers;

    dev->timer_programmed = MOCX_TIMER_OFF;
    /* A timer that is armed anew in the past waits for the next call. */
    while (turns-- && dev->num_timers && dev->timers[0]->deadline <= now) {
        MocxTimer *t = dev->timers[0];

        mocx_timer_stop(dev, t);
        t->fn(dev, t);
    }
    mocx_leave(dev);
}
