// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The L2 table: which unicast MACs the port's switch hands to this function
 * (mlx5_core: lib/mpfs.c).  Without one, which is how the plain model is, the
 * function has the port to itself.
 */
#include "dev.h"

#define SYND_L2_INDEX       0x82900001u
#define SYND_L2_MAC         0x82900002u
#define SYND_L2_VLAN        0x82900003u

static uint32_t table_size(const MocxDev *dev)
{
    return dev->cfg.card ? 1u << MOCX_LOG_MAX_L2_TABLE : 0;
}

bool mocx_l2_wants(const MocxDev *dev, const uint8_t *mac)
{
    const MocxPort *port = &dev->port;
    uint32_t size = table_size(dev);

    if (!size || mac[0] & 1 ||
        DEVX_GET(nic_vport_context, port->vport_context, promisc_uc) ||
        DEVX_GET(nic_vport_context, port->vport_context, promisc_all)) {
        return true;
    }
    for (uint32_t i = 0; i < size; i++) {
        if (port->l2[i].valid && !memcmp(port->l2[i].mac, mac, MOCX_MAC_LEN)) {
            return true;
        }
    }
    return false;
}

/* The index is in the same place in all three commands. */
static MocxL2Entry *entry_of(MocxDev *dev, MocxCmd *cmd)
{
    uint32_t index = DEVX_GET(set_l2_table_entry_in, cmd->in, table_index);

    if (index >= table_size(dev)) {
        mocx_bad(dev, cmd, MOCX_BAD_INDEX, SYND_L2_INDEX,
                 "entry %u of an L2 table of %u", index, table_size(dev));
        return NULL;
    }
    return &dev->port.l2[index];
}

static MocxStatus entry_set(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *mac = DEVX_ADDR_OF(set_l2_table_entry_in, cmd->in,
                                      mac_address);
    MocxL2Entry *entry = entry_of(dev, cmd);

    if (!entry) {
        return MOCX_BAD_INDEX;
    }
    if (DEVX_GET(set_l2_table_entry_in, cmd->in, vlan_valid) ||
        DEVX_GET(set_l2_table_entry_in, cmd->in, silent_mode_valid)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_L2_VLAN,
                        "L2 table: VLANs and silent mode are not offered");
    }
    mac += 2;
    if (mac[0] & 1) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_L2_MAC,
                        "L2 table: a multicast MAC");
    }
    entry->valid = true;
    memcpy(entry->mac, mac, MOCX_MAC_LEN);
    return MOCX_OK;
}

static MocxStatus entry_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *mac = DEVX_ADDR_OF(query_l2_table_entry_out, cmd->out,
                                mac_address);
    const MocxL2Entry *entry = entry_of(dev, cmd);

    if (!entry) {
        return MOCX_BAD_INDEX;
    }
    memcpy(mac + 2, entry->mac, MOCX_MAC_LEN);
    return MOCX_OK;
}

static MocxStatus entry_delete(MocxDev *dev, MocxCmd *cmd)
{
    MocxL2Entry *entry = entry_of(dev, cmd);

    if (!entry) {
        return MOCX_BAD_INDEX;
    }
    memset(entry, 0, sizeof(*entry));
    return MOCX_OK;
}

#define ST MOCX_ST_INITIALIZED

static const MocxCmdRow rows[] = {
    MOCX_ROW(SET_L2_TABLE_ENTRY, set_l2_table_entry, ST, entry_set),
    MOCX_ROW(QUERY_L2_TABLE_ENTRY, query_l2_table_entry, ST, entry_query),
    MOCX_ROW(DELETE_L2_TABLE_ENTRY, delete_l2_table_entry, ST, entry_delete),
};

const MocxCmdRows mocx_rows_l2_table = { rows, sizeof(rows) / sizeof(rows[0]) };
