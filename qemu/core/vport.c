// SPDX-License-Identifier: GPL-2.0-or-later
/* The NIC vport: its context, state and counters. */
#include "dev.h"

#define PKEY_TABLE          128     /* pkey_table_size 0 (mlx5_to_sw_pkey_sz) */
#define PKEY_ALL            0xffff
#define PKEY_DEFAULT        0xffff

#define LIST_UC             0       /* mlx5_ifc.h: allowed_list_type */
#define LIST_MC             1
#define LIST_VLAN           2
#define LIST_ENTRY          8       /* bytes; a MAC is in the last six */

#define VPORT_ADMIN_UP      1
#define VPORT_UP            1

#define SYND_VPORT_OTHER    0x79070001u
#define SYND_VPORT_LIST     0x79070002u
#define SYND_VPORT_PKEY     0x79070003u
#define SYND_VPORT_ROOM     0x79070004u
#define SYND_VPORT_MTU      0x79070005u
#define SYND_VPORT_INLINE   0x79070006u

/* There is one vport, and no manager of others. */
static MocxStatus own_vport(MocxDev *dev, MocxCmd *cmd)
{
    if (DEVX_GET(query_nic_vport_context_in, cmd->in, other_vport)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_VPORT_OTHER,
                        "there is no vport %u",
                        DEVX_GET(query_nic_vport_context_in, cmd->in,
                                 vport_number));
    }
    return MOCX_OK;
}

/* Context */

/* EUI-64 in the manner of the vendor: 03:00 between the halves of the MAC. */
static uint64_t guid_of(const uint8_t *mac)
{
    uint8_t guid[8] = {
        mac[0], mac[1], mac[2], 3, 0, mac[3], mac[4], mac[5]
    };

    return mocx_get_be64(guid);
}

void mocx_vport_reset(MocxDev *dev)
{
    MocxPort *port = &dev->port;
    uint64_t guid = guid_of(dev->cfg.mac);
    uint8_t *ctx = port->vport_context;

    port->roce_en = false;
    port->vport_mtu = MOCX_PORT_MTU_DEFAULT;
    port->num_uc = port->num_mc = 0;
    port->foreign_macs = false;
    memset(port->l2, 0, sizeof(port->l2));
    memcpy(port->mac, dev->cfg.mac, MOCX_MAC_LEN);
    memset(port->gids, 0, port->num_gids * sizeof(*port->gids));
    memset(ctx, 0, sizeof(port->vport_context));
    DEVX_SET64(nic_vport_context, ctx, system_image_guid, guid);
    DEVX_SET64(nic_vport_context, ctx, port_guid, guid);
    DEVX_SET64(nic_vport_context, ctx, node_guid, guid);
}

static MocxStatus list_get(MocxDev *dev, MocxCmd *cmd, uint8_t *ctx)
{
    uint8_t type = DEVX_GET(query_nic_vport_context_in, cmd->in,
                            allowed_list_type);
    uint8_t *to = DEVX_ADDR_OF(nic_vport_context, ctx, current_uc_mac_address);
    MocxPort *port = &dev->port;
    uint32_t n = type == LIST_UC ? port->num_uc
                 : type == LIST_MC ? port->num_mc : 0;
    uint8_t (*macs)[MOCX_MAC_LEN] = type == LIST_UC ? port->uc : port->mc;

    DEVX_SET(nic_vport_context, ctx, allowed_list_type, type);
    DEVX_SET(nic_vport_context, ctx, allowed_list_size, n);
    if (n > (cmd->outlen - DEVX_ST_SZ_BYTES(query_nic_vport_context_out)) /
            LIST_ENTRY) {
        return MOCX_OK;     /* the context was all that was asked for */
    }
    cmd->defined = to + n * LIST_ENTRY - cmd->out;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(to + i * LIST_ENTRY + 2, macs[i], MOCX_MAC_LEN);
    }
    return MOCX_OK;
}

static MocxStatus context_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *ctx = DEVX_ADDR_OF(query_nic_vport_context_out, cmd->out,
                                nic_vport_context);
    MocxStatus status = own_vport(dev, cmd);
    uint8_t *mac = DEVX_ADDR_OF(nic_vport_context, ctx, permanent_address);

    if (status) {
        return status;
    }
    memcpy(ctx, dev->port.vport_context, sizeof(dev->port.vport_context));
    DEVX_SET(nic_vport_context, ctx, roce_en, dev->port.roce_en);
    DEVX_SET(nic_vport_context, ctx, mtu, dev->port.vport_mtu);
    memcpy(mac + 2, dev->port.mac, MOCX_MAC_LEN);
    return list_get(dev, cmd, ctx);
}

static MocxStatus list_set(MocxDev *dev, MocxCmd *cmd, const uint8_t *ctx)
{
    uint8_t type = DEVX_GET(nic_vport_context, ctx, allowed_list_type);
    uint32_t n = DEVX_GET(nic_vport_context, ctx, allowed_list_size);
    uint32_t given = (cmd->inlen -
                      DEVX_ST_SZ_BYTES(modify_nic_vport_context_in)) /
                     LIST_ENTRY;
    const uint8_t *from = DEVX_ADDR_OF(nic_vport_context, ctx,
                                       current_uc_mac_address);
    MocxPort *port = &dev->port;

    if (type == LIST_VLAN) {
        return MOCX_OK;     /* the flow tables filter VLANs */
    }
    if (type > LIST_VLAN || n > given || n > MOCX_MAC_LIST) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_VPORT_LIST,
                        "list %u of %u entries, %u given", type, n, given);
    }
    for (uint32_t i = 0; i < n; i++) {
        memcpy(type == LIST_UC ? port->uc[i] : port->mc[i],
               from + i * LIST_ENTRY + 2, MOCX_MAC_LEN);
    }
    *(type == LIST_UC ? &port->num_uc : &port->num_mc) = n;
    return MOCX_OK;
}

static void promisc_set(uint8_t *to, const uint8_t *ctx)
{
    DEVX_SET(nic_vport_context, to, promisc_uc,
             DEVX_GET(nic_vport_context, ctx, promisc_uc));
    DEVX_SET(nic_vport_context, to, promisc_mc,
             DEVX_GET(nic_vport_context, ctx, promisc_mc));
    DEVX_SET(nic_vport_context, to, promisc_all,
             DEVX_GET(nic_vport_context, ctx, promisc_all));
}

static void context_apply(MocxPort *port, const uint8_t *select,
                          const uint8_t *ctx)
{
    uint8_t *own = port->vport_context;
    const uint8_t *mac = DEVX_ADDR_OF(nic_vport_context, ctx,
                                      permanent_address);

#define SELECTED(f) DEVX_GET(modify_nic_vport_field_select, select, f)
    if (SELECTED(roce_en)) {
        port->roce_en = DEVX_GET(nic_vport_context, ctx, roce_en);
    }
    if (SELECTED(mtu)) {
        port->vport_mtu = DEVX_GET(nic_vport_context, ctx, mtu);
    }
    if (SELECTED(permanent_address)) {
        memcpy(port->mac, mac + 2, MOCX_MAC_LEN);
    }
    if (SELECTED(promisc)) {
        promisc_set(own, ctx);
    }
    if (SELECTED(node_guid)) {
        DEVX_SET64(nic_vport_context, own, node_guid,
                   DEVX_GET64(nic_vport_context, ctx, node_guid));
    }
    if (SELECTED(port_guid)) {
        DEVX_SET64(nic_vport_context, own, port_guid,
                   DEVX_GET64(nic_vport_context, ctx, port_guid));
    }
#undef SELECTED
}

static MocxStatus mtu_check(MocxDev *dev, MocxCmd *cmd, uint32_t mtu)
{
    if (dev->cfg.foreign_port) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_VPORT_MTU,
                        "the function does not own its port");
    }
    return mtu <= MOCX_PORT_MTU_MAX ? MOCX_OK
           : mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_VPORT_MTU, "MTU %u", mtu);
}

static MocxStatus context_modify(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *select = DEVX_ADDR_OF(modify_nic_vport_context_in, cmd->in,
                                         field_select);
    const uint8_t *ctx = DEVX_ADDR_OF(modify_nic_vport_context_in, cmd->in,
                                      nic_vport_context);
    MocxStatus status = own_vport(dev, cmd);

    if (!status && DEVX_GET(modify_nic_vport_field_select, select, mtu)) {
        status = mtu_check(dev, cmd, DEVX_GET(nic_vport_context, ctx, mtu));
    }
    if (!status && dev->cfg.card &&
        DEVX_GET(modify_nic_vport_field_select, select, min_inline)) {
        status = mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_VPORT_INLINE,
                          "the vport has no inline mode (wqe_inline_mode)");
    }
    if (!status &&
        DEVX_GET(modify_nic_vport_field_select, select, addresses_list)) {
        status = list_set(dev, cmd, ctx);
    }
    if (!status) {
        context_apply(&dev->port, select, ctx);
    }
    return status;
}

/* State, counters, pkeys */

static MocxStatus state_query(MocxDev *dev, MocxCmd *cmd)
{
    MocxStatus status = own_vport(dev, cmd);

    if (!status) {
        DEVX_SET(query_vport_state_out, cmd->out, admin_state, VPORT_ADMIN_UP);
        DEVX_SET(query_vport_state_out, cmd->out, state,
                 mocx_port_up(&dev->port) ? VPORT_UP : 0);
    }
    return status;
}

/* The vport's own admin state is for a manager to set; the port has PAOS. */
static MocxStatus state_modify(MocxDev *dev, MocxCmd *cmd)
{
    return own_vport(dev, cmd);
}

static void counter_put(uint8_t *counter, uint64_t packets, uint64_t bytes)
{
    DEVX_SET64(traffic_counter, counter, packets, packets);
    DEVX_SET64(traffic_counter, counter, octets, bytes);
}

static MocxStatus counter_query(MocxDev *dev, MocxCmd *cmd)
{
    const MocxPortCounters *c = &dev->port.counters;
    MocxStatus status = own_vport(dev, cmd);

    if (status) {
        return status;
    }
#define PUT(field, packets, bytes) \
    counter_put(DEVX_ADDR_OF(query_vport_counter_out, cmd->out, field), \
                packets, bytes)
    PUT(received_errors, c->rx_dropped + c->rx_icrc_errors, 0);
    PUT(received_ib_unicast, c->rx_roce_packets, c->rx_roce_bytes);
    PUT(transmitted_ib_unicast, c->tx_roce_packets, c->tx_roce_bytes);
    PUT(received_eth_broadcast, c->rx_bcast_packets, c->rx_bcast_bytes);
    PUT(transmitted_eth_broadcast, c->tx_bcast_packets, c->tx_bcast_bytes);
    PUT(received_eth_unicast, c->rx_ucast_packets, c->rx_ucast_bytes);
    PUT(transmitted_eth_unicast, c->tx_ucast_packets, c->tx_ucast_bytes);
    PUT(received_eth_multicast, c->rx_mcast_packets, c->rx_mcast_bytes);
    PUT(transmitted_eth_multicast, c->tx_mcast_packets, c->tx_mcast_bytes);
#undef PUT
    return MOCX_OK;
}

static MocxStatus pkey_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *pkeys = DEVX_ADDR_OF(query_hca_vport_pkey_out, cmd->out, pkey);
    uint32_t room = (cmd->outlen - DEVX_ST_SZ_BYTES(query_hca_vport_pkey_out)) /
                    4;
    uint32_t index = DEVX_GET(query_hca_vport_pkey_in, cmd->in, pkey_index);
    uint32_t n = index == PKEY_ALL ? PKEY_TABLE : 1;
    MocxStatus status = own_vport(dev, cmd);

    if (status) {
        return status;
    }
    if (index != PKEY_ALL && index >= PKEY_TABLE) {
        return mocx_bad(dev, cmd, MOCX_BAD_INDEX, SYND_VPORT_PKEY,
                        "pkey %u of %u", index, PKEY_TABLE);
    }
    if (n > room) {
        return mocx_bad(dev, cmd, MOCX_BAD_OUTPUT_LEN, SYND_VPORT_ROOM,
                        "room for %u pkeys of %u", room, n);
    }
    cmd->defined = DEVX_ST_SZ_BYTES(query_hca_vport_pkey_out) + n * 4;
    /* RoCE has the default partition, in entry 0. */
    if (index == 0 || index == PKEY_ALL) {
        mocx_put_be32(pkeys, PKEY_DEFAULT);
    }
    return MOCX_OK;
}

#define ST MOCX_ST_INITIALIZED

static const MocxCmdRow rows[] = {
    MOCX_ROW(QUERY_NIC_VPORT_CONTEXT, query_nic_vport_context, ST,
             context_query),
    MOCX_ROW(MODIFY_NIC_VPORT_CONTEXT, modify_nic_vport_context, ST,
             context_modify),
    MOCX_ROW(QUERY_VPORT_STATE, query_vport_state, ST, state_query),
    MOCX_ROW(MODIFY_VPORT_STATE, modify_vport_state, ST, state_modify),
    MOCX_ROW(QUERY_VPORT_COUNTER, query_vport_counter, ST, counter_query),
    MOCX_ROW(QUERY_HCA_VPORT_PKEY, query_hca_vport_pkey, ST, pkey_query),
};

const MocxCmdRows mocx_rows_vport = { rows, sizeof(rows) / sizeof(rows[0]) };
