/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mocx: when the core runs.
 *
 * It runs inside a doorbell write as long as that is short, which saves a
 * wake-up of the main loop per message, and from a bottom half otherwise.
 *
 * What comes while it cannot be told, since it runs or the guest is stopped, is
 * kept in "due" and made good when it leaves or the guest goes on.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "hw/pci/pci_device.h"
#include "system/runstate.h"
#include "trace.h"
#include "state.h"

/* Short: done before the core is left.  The rest is for the bottom half. */
#define DUE_AT_ONCE     (MOCX_DUE_RESET | MOCX_DUE_MASTER | MOCX_DUE_LINK)
/* These touch no memory of the guest, which may be stopped. */
#define DUE_STOPPED     (MOCX_DUE_RESET | MOCX_DUE_MASTER)

static unsigned due_now(const MocxState *s)
{
    return s->due & (runstate_is_running() ? ~0u : DUE_STOPPED);
}

bool mocx_hw_enter(MocxState *s)
{
    if (s->busy || s->gone || !s->core) {
        return false;
    }
    s->busy = true;
    return true;
}

static void catch_up(MocxState *s, unsigned due)
{
    s->due &= ~due;
    if (due & MOCX_DUE_RESET) {
        trace_mocx_reset();
        mocx_reset(s->core);
        mocx_set_bus_master(s->core, false);
    }
    if (due & MOCX_DUE_MASTER) {
        bool on = pci_get_word(PCI_DEVICE(s)->config + PCI_COMMAND) &
                  PCI_COMMAND_MASTER;

        trace_mocx_bus_master(on);
        mocx_set_bus_master(s->core, on);
    }
    if (due & MOCX_DUE_LINK) {
        mocx_hw_wire_link(s);
    }
}

void mocx_hw_leave(MocxState *s)
{
    unsigned due;

    /* Each may cause the next: an event's interrupt writes where it likes. */
    while (!s->gone && (due = due_now(s) & DUE_AT_ONCE)) {
        catch_up(s, due);
    }
    mocx_hw_dma_done(s);
    s->busy = false;
    if (due_now(s)) {
        qemu_bh_schedule(s->bh);
    }
}

void mocx_hw_due(MocxState *s, unsigned what)
{
    s->due |= what;
    if (mocx_hw_enter(s)) {
        mocx_hw_leave(s);
    }
}

void mocx_hw_slice(MocxState *s, unsigned budget)
{
    if (mocx_hw_quiet(s) || !(due_now(s) & MOCX_DUE_RUN)) {
        return;
    }
    s->due &= ~MOCX_DUE_RUN;
    if (mocx_run(s->core, budget)) {
        s->due |= MOCX_DUE_RUN;
    }
    trace_mocx_run(s->due & MOCX_DUE_RUN);
}

static void mocx_bh(void *opaque)
{
    MocxState *s = opaque;
    unsigned due = due_now(s);

    /* If the core runs now, it is about to be left, which comes back here. */
    if (!mocx_hw_enter(s)) {
        return;
    }
    s->due &= ~(due & (MOCX_DUE_TIMER | MOCX_DUE_TX));
    if (due & MOCX_DUE_TIMER) {
        mocx_timer(s->core);
    }
    if (due & MOCX_DUE_TX) {
        mocx_tx_resume(s->core);
    }
    mocx_hw_slice(s, MOCX_RUN_BUDGET);
    mocx_hw_leave(s);
    if (due & MOCX_DUE_RX) {
        mocx_hw_wire_poll(s);
    }
}

void mocx_hw_kick(void *opaque)
{
    MocxState *s = opaque;

    s->due |= MOCX_DUE_RUN;
    if (!s->busy) {
        qemu_bh_schedule(s->bh);
    }
}

/*
 * Retransmission timers are pushed back with every ACK.  Setting the host's
 * timer each time would wake the main loop for nothing, so it is only ever
 * moved forward, and looks again when it fires.
 */
void mocx_hw_timer_set(void *opaque, uint64_t deadline)
{
    MocxState *s = opaque;

    s->deadline = deadline;
    if (deadline < s->armed) {
        trace_mocx_timer_set(deadline);
        s->armed = deadline;
        timer_mod_ns(s->timer, MIN(deadline, INT64_MAX));
    }
}

static void mocx_timer_cb(void *opaque)
{
    MocxState *s = opaque;
    uint64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    trace_mocx_timer_fire(now);
    s->armed = MOCX_TIMER_OFF;
    if (s->deadline > now) {
        mocx_hw_timer_set(s, s->deadline);
        return;
    }
    s->deadline = MOCX_TIMER_OFF;
    if (!runstate_is_running() || !mocx_hw_enter(s)) {
        s->due |= MOCX_DUE_TIMER;
        return;
    }
    mocx_timer(s->core);
    mocx_hw_leave(s);
}

static void mocx_vm_changed(void *opaque, bool running, RunState state)
{
    if (running) {
        mocx_hw_due(opaque, 0);
    }
}

void mocx_hw_run_init(MocxState *s)
{
    s->bh = qemu_bh_new_guarded(mocx_bh, s, &DEVICE(s)->mem_reentrancy_guard);
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, mocx_timer_cb, s);
    s->deadline = s->armed = MOCX_TIMER_OFF;
    s->vm_changed = qdev_add_vm_change_state_handler(DEVICE(s),
                                                     mocx_vm_changed, s);
    s->due = 0;
}

void mocx_hw_run_exit(MocxState *s)
{
    qemu_del_vm_change_state_handler(s->vm_changed);
    qemu_bh_delete(s->bh);
    timer_free(s->timer);
    s->bh = NULL;
}
