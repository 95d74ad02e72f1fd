/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mocx: the wire, a QEMU net client.
 *
 * Back-pressure goes both ways.  Towards the wire, a frame that the backend
 * cannot take is queued by the net layer, and the core is told that the wire
 * is full until that frame has left.  From the wire, a frame that the core
 * cannot take stays with the net layer until the core has run.
 */
#include "qemu/osdep.h"
#include "net/net.h"
#include "hw/qdev-properties.h"
#include "system/runstate.h"
#include "trace.h"
#include "state.h"

static void mocx_wire_sent(NetClientState *nc, ssize_t len)
{
    MocxState *s = qemu_get_nic_opaque(nc);

    s->tx_full = false;
    if (!runstate_is_running() || !mocx_hw_enter(s)) {
        s->due |= MOCX_DUE_TX;
        return;
    }
    mocx_tx_resume(s->core);
    mocx_hw_leave(s);
}

size_t mocx_hw_wire_send(void *opaque, const MocxFrame *frames, size_t n)
{
    MocxState *s = opaque;
    NetClientState *nc = qemu_get_queue(s->nic);
    size_t i;

    if (mocx_hw_quiet(s)) {
        return n;
    }
    for (i = 0; i < n && !s->tx_full; i++) {
        trace_mocx_tx(frames[i].len);
        /* Zero: queued, not refused; mocx_wire_sent() comes when it leaves. */
        s->tx_full = qemu_send_packet_async(nc, frames[i].data, frames[i].len,
                                            mocx_wire_sent) == 0;
    }
    return i;
}

/*
 * No is a promise: who asked waits until we flush.  A hub's other port does so
 * in the middle of our own send.
 */
static bool mocx_wire_can_receive(NetClientState *nc)
{
    MocxState *s = qemu_get_nic_opaque(nc);

    if (s->busy || !runstate_is_running()) {
        s->due |= MOCX_DUE_RX;
    }
    return s->gone || !(s->due & MOCX_DUE_RX);
}

static ssize_t mocx_wire_receive(NetClientState *nc, const uint8_t *buf,
                                 size_t size)
{
    MocxState *s = qemu_get_nic_opaque(nc);
    MocxFrame frame = { .data = buf, .len = size };
    size_t taken;

    trace_mocx_rx(size);
    if (s->gone) {
        return size;
    }
    if (!runstate_is_running() || !mocx_hw_enter(s)) {
        s->due |= MOCX_DUE_RX;
        return 0;
    }
    taken = mocx_receive(s->core, &frame, 1);
    if (!taken) {
        s->due |= MOCX_DUE_RX;
    }
    mocx_hw_slice(s, MOCX_INLINE_BUDGET);
    mocx_hw_leave(s);
    return taken ? size : 0;
}

void mocx_hw_wire_poll(MocxState *s)
{
    s->due &= ~MOCX_DUE_RX;
    qemu_flush_queued_packets(qemu_get_queue(s->nic));
}

void mocx_hw_wire_link(MocxState *s)
{
    bool up = !qemu_get_queue(s->nic)->link_down;

    trace_mocx_link(up);
    mocx_set_link(s->core, up);
}

static void mocx_wire_link_changed(NetClientState *nc)
{
    MocxState *s = qemu_get_nic_opaque(nc);

    mocx_hw_due(s, MOCX_DUE_LINK);
    if (nc->link_down) {
        /* Whatever held our frame may never ask for it: it is lost. */
        qemu_purge_queued_packets(nc);
    }
}

static NetClientInfo mocx_wire_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .can_receive = mocx_wire_can_receive,
    .receive = mocx_wire_receive,
    .link_status_changed = mocx_wire_link_changed,
};

void mocx_hw_wire_init(MocxState *s)
{
    DeviceState *dev = DEVICE(s);
    NetClientState *nc;

    s->nic = qemu_new_nic(&mocx_wire_info, &s->nic_conf, TYPE_MOCX, dev->id,
                          &dev->mem_reentrancy_guard, s);
    nc = qemu_get_queue(s->nic);
    qemu_format_nic_info_str(nc, s->nic_conf.macaddr.a);
}

void mocx_hw_wire_exit(MocxState *s)
{
    NetClientState *nc = qemu_get_queue(s->nic);

    /* The peer's queue may hold a frame that names us as its sender. */
    qemu_purge_queued_packets(nc);
    /* Whoever waits for us on a hub has waited long enough. */
    qemu_flush_queued_packets(nc);
    qemu_del_nic(s->nic);
    s->nic = NULL;
}
