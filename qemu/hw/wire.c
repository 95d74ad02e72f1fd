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
#include "trace.h"
#include "state.h"

static void mocx_wire_sent(NetClientState *nc, ssize_t len)
{
    MocxState *s = qemu_get_nic_opaque(nc);

    s->tx_full = false;
    if (!mocx_hw_enter(s)) {
        s->tx_resume = true;
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

    for (i = 0; i < n && !s->tx_full; i++) {
        trace_mocx_tx(frames[i].len);
        /* Zero: queued, not refused; mocx_wire_sent() comes when it leaves. */
        s->tx_full = qemu_send_packet_async(nc, frames[i].data, frames[i].len,
                                            mocx_wire_sent) == 0;
    }
    return i;
}

static bool mocx_wire_can_receive(NetClientState *nc)
{
    MocxState *s = qemu_get_nic_opaque(nc);

    return !s->busy && !s->rx_held;
}

static ssize_t mocx_wire_receive(NetClientState *nc, const uint8_t *buf,
                                 size_t size)
{
    MocxState *s = qemu_get_nic_opaque(nc);
    MocxFrame frame = { .data = buf, .len = size };
    size_t taken;

    trace_mocx_rx(size);
    if (!mocx_hw_enter(s)) {
        s->rx_held = true;
        return 0;
    }
    taken = mocx_receive(s->core, &frame, 1);
    s->rx_held = taken == 0;
    if (s->kicked) {
        mocx_hw_slice(s, MOCX_INLINE_BUDGET);
    }
    mocx_hw_leave(s);
    return taken ? size : 0;
}

void mocx_hw_wire_poll(MocxState *s)
{
    if (s->tx_resume && mocx_hw_enter(s)) {
        s->tx_resume = false;
        mocx_tx_resume(s->core);
        mocx_hw_leave(s);
    }
    if (s->rx_held) {
        s->rx_held = false;
        qemu_flush_queued_packets(qemu_get_queue(s->nic));
    }
}

static void mocx_wire_link_changed(NetClientState *nc)
{
    MocxState *s = qemu_get_nic_opaque(nc);

    trace_mocx_link(!nc->link_down);
    if (mocx_hw_enter(s)) {
        mocx_set_link(s->core, !nc->link_down);
        mocx_hw_leave(s);
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
    qemu_del_nic(s->nic);
    s->nic = NULL;
}
