// SPDX-License-Identifier: GPL-2.0-or-later
/* The port: link state, counters, and where a frame from the wire goes. */
#include "dev.h"
#include "heap.h"

#define PORT_EVENT_DOWN     1       /* mlx5/device.h: port event sub types */
#define PORT_EVENT_ACTIVE   4
#define PORT_EVENT_NUM      8       /* data byte: port number in [7:4] */

#define ETH_HEADER          14
#define ETHERTYPE_VLAN      0x8100
#define ETHERTYPE_QINQ      0x88a8
#define ETHERTYPE_IPV4      0x0800
#define ETHERTYPE_IPV6      0x86dd
#define ETHERTYPE_ROCE      0x8915
#define IP_PROTO_UDP        17
#define ROCE_V2_PORT        4791
#define IPV6_HEADER         40

bool mocx_port_up(const MocxPort *port)
{
    return port->cable && !port->pulled && port->admin_up;
}

/* Link */

void mocx_port_changed(MocxDev *dev, bool was_up)
{
    bool up = mocx_port_up(&dev->port);
    uint8_t data[28] = { 0 };

    if (up == was_up) {
        return;
    }
    data[PORT_EVENT_NUM] = 1 << 4;
    mocx_event(dev, MOCX_EV_PORT, up ? PORT_EVENT_ACTIVE : PORT_EVENT_DOWN,
               data);
}

void mocx_set_link(MocxDev *dev, bool up)
{
    bool was_up = mocx_port_up(&dev->port);

    dev->port.cable = up;
    mocx_port_changed(dev, was_up);
    mocx_leave(dev);
}

/* Counters */

typedef struct Class {
    uint64_t *packets, *bytes;
} Class;

static Class class_of(MocxPortCounters *c, const uint8_t *mac, bool tx)
{
    static const uint8_t all[MOCX_MAC_LEN] = {
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff
    };

    if (!(mac[0] & 1)) {
        return tx ? (Class) { &c->tx_ucast_packets, &c->tx_ucast_bytes }
               : (Class) { &c->rx_ucast_packets, &c->rx_ucast_bytes };
    }
    if (!memcmp(mac, all, sizeof(all))) {
        return tx ? (Class) { &c->tx_bcast_packets, &c->tx_bcast_bytes }
               : (Class) { &c->rx_bcast_packets, &c->rx_bcast_bytes };
    }
    return tx ? (Class) { &c->tx_mcast_packets, &c->tx_mcast_bytes }
           : (Class) { &c->rx_mcast_packets, &c->rx_mcast_bytes };
}

void mocx_port_count(MocxDev *dev, const uint8_t *frame, size_t len,
                     MocxPortPath path)
{
    MocxPortCounters *c = &dev->port.counters;
    Class class;

    if (path == MOCX_PORT_RX_ROCE) {
        c->rx_roce_packets++;
        c->rx_roce_bytes += len;
        return;
    }
    if (path == MOCX_PORT_TX_ROCE) {
        c->tx_roce_packets++;
        c->tx_roce_bytes += len;
        return;
    }
    class = class_of(c, frame, path == MOCX_PORT_TX);
    ++*class.packets;
    *class.bytes += len;
}

/* The way in */

static bool udp_is_roce(const uint8_t *udp, const uint8_t *end)
{
    return end - udp >= 4 && mocx_get_be16(udp + 2) == ROCE_V2_PORT;
}

/*
 * UDP to 4791 that the transport should look at.  A fragment is none: it
 * carries no port, and the transport takes whole packets only.
 */
static bool ip_is_roce(uint16_t type, const uint8_t *ip, const uint8_t *end)
{
    if (type == ETHERTYPE_IPV4 && end - ip >= 20) {
        return ip[9] == IP_PROTO_UDP && !(mocx_get_be16(ip + 6) & 0x3fff) &&
               udp_is_roce(ip + (ip[0] & 15) * 4, end);
    }
    if (type == ETHERTYPE_IPV6 && end - ip >= IPV6_HEADER) {
        return ip[6] == IP_PROTO_UDP && udp_is_roce(ip + IPV6_HEADER, end);
    }
    return false;
}

static bool frame_is_roce(const uint8_t *frame, size_t len)
{
    const uint8_t *end = frame + len, *p = frame + 12;
    uint16_t type = mocx_get_be16(p);

    p += 2;
    if ((type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ) && end - p >= 4) {
        type = mocx_get_be16(p + 2);
        p += 4;
    }
    return type == ETHERTYPE_ROCE || ip_is_roce(type, p, end);
}

static bool roce_wants(MocxDev *dev, const uint8_t *frame, size_t len)
{
    return dev->port.roce_en && frame_is_roce(frame, len) &&
           (frame[0] & 1 || mocx_port_own_mac(&dev->port, frame));
}

static void receive_one(MocxDev *dev, const MocxFrame *f)
{
    if (f->len < ETH_HEADER || f->len > MOCX_FRAME_MAX) {
        dev->port.counters.rx_dropped++;
        return;
    }
    if (!mocx_l2_wants(dev, f->data)) {
        dev->port.counters.rx_not_in_l2_table++;
        return;
    }
    if (roce_wants(dev, f->data, f->len) &&
        mocx_roce_receive(dev, f->data, f->len)) {
        mocx_port_count(dev, f->data, f->len, MOCX_PORT_RX_ROCE);
        return;
    }
    mocx_port_count(dev, f->data, f->len, MOCX_PORT_RX);
    mocx_eth_receive(dev, f->data, f->len);
}

static void receive_injected(MocxDev *dev, const MocxFrame *f)
{
    MocxFrame out[MOCX_INJECT_FRAMES_MAX];
    size_t n = mocx_inject_frame(dev->inject, MOCX_INJECT_RX, f, out);

    for (size_t i = 0; i < n; i++) {
        receive_one(dev, &out[i]);
    }
}

size_t mocx_receive(MocxDev *dev, const MocxFrame *frames, size_t n)
{
    bool inject = mocx_inject_armed(dev->inject, MOCX_INJECT_RX);
    size_t i;

    for (i = 0; i < n && !mocx_rx_spent(dev); i++) {
        if (!mocx_port_up(&dev->port)) {
            continue;       /* taken, and lost */
        }
        if (inject) {
            receive_injected(dev, &frames[i]);
        } else {
            receive_one(dev, &frames[i]);
        }
    }
    mocx_leave(dev);
    return i;
}

/* Life cycle */

static bool port_create(MocxDev *dev)
{
    MocxPort *port = &dev->port;

    port->num_gids = dev->cfg.roce_addresses;
    port->gids = mocx_calloc(&dev->heap, port->num_gids, sizeof(*port->gids));
    port->cable = true;
    return port->gids;
}

/* Power-on: everything but the cable. */
static void port_reset(MocxDev *dev)
{
    MocxPort *port = &dev->port;
    MocxPort clean = { .cable = port->cable, .gids = port->gids,
                       .num_gids = port->num_gids };

    *port = clean;
    mocx_vport_reset(dev);
    port->admin_up = true;
    port->admin_mtu = MOCX_PORT_MTU_DEFAULT;
    strcpy((char *)port->node_desc, "mocx");
}

static void port_destroy(MocxDev *dev)
{
    mocx_free(dev->port.gids);
}

const MocxModule mocx_mod_port = {
    .name = "port",
    .create = port_create,
    .reset = port_reset,
    .destroy = port_destroy,
};
