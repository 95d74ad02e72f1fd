// SPDX-License-Identifier: GPL-2.0-or-later
/* The RoCE address table, which is the port's GID table. */
#include "dev.h"

/* Known from a report about a card: a multicast MAC is refused with this. */
#define SYND_GID_MULTICAST  0x63c66u
#define SYND_GID_INDEX      0x91d00001u
#define SYND_GID_VERSION    0x91d00002u

#define L3_TYPE_IPV4        0
#define L3_TYPE_IPV6        1

static bool is_zero(const uint8_t *p, size_t n)
{
    while (n && !*p) {
        p++;
        n--;
    }
    return !n;
}

static void gid_parse(MocxGid *gid, const uint8_t *addr)
{
    const uint8_t *l3 = DEVX_ADDR_OF(roce_addr_layout, addr, source_l3_address);

    *gid = (MocxGid) {
        .ipv4 = DEVX_GET(roce_addr_layout, addr, roce_l3_type) == L3_TYPE_IPV4,
        .vlan = DEVX_GET(roce_addr_layout, addr, vlan_valid),
        .version = DEVX_GET(roce_addr_layout, addr, roce_version),
        .vid = DEVX_GET(roce_addr_layout, addr, vlan_id),
    };
    memcpy(gid->addr, l3, sizeof(gid->addr));
    mocx_put_be16(gid->mac, DEVX_GET(roce_addr_layout, addr, source_mac_47_32));
    mocx_put_be32(gid->mac + 2,
                  DEVX_GET(roce_addr_layout, addr, source_mac_31_0));
    /* An entry is deleted by writing zeros (mlx5_core_roce_gid_set). */
    gid->valid = !is_zero(gid->addr, sizeof(gid->addr)) ||
                 !is_zero(gid->mac, sizeof(gid->mac));
}

static void note_foreign_macs(MocxPort *port)
{
    port->foreign_macs = false;
    for (uint32_t i = 0; i < port->num_gids; i++) {
        if (port->gids[i].valid &&
            memcmp(port->gids[i].mac, port->mac, MOCX_MAC_LEN)) {
            port->foreign_macs = true;
        }
    }
}

static MocxStatus gid_set(MocxDev *dev, MocxCmd *cmd)
{
    uint32_t index = DEVX_GET(set_roce_address_in, cmd->in, roce_address_index);
    MocxGid gid;

    gid_parse(&gid, DEVX_ADDR_OF(set_roce_address_in, cmd->in, roce_address));
    if (index >= dev->port.num_gids) {
        return mocx_bad(dev, cmd, MOCX_BAD_INDEX, SYND_GID_INDEX,
                        "RoCE address %u of %u", index, dev->port.num_gids);
    }
    if (gid.mac[0] & 1) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_GID_MULTICAST,
                        "RoCE address %u has a multicast MAC", index);
    }
    if (gid.valid && gid.version != MOCX_ROCE_V1 &&
        gid.version != MOCX_ROCE_V2) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_GID_VERSION,
                        "RoCE version %u", gid.version);
    }
    dev->port.gids[index] = gid;
    note_foreign_macs(&dev->port);
    return MOCX_OK;
}

static MocxStatus gid_query(MocxDev *dev, MocxCmd *cmd)
{
    uint32_t index = DEVX_GET(query_roce_address_in, cmd->in,
                              roce_address_index);
    uint8_t *addr = DEVX_ADDR_OF(query_roce_address_out, cmd->out,
                                 roce_address);
    const MocxGid *gid;

    if (index >= dev->port.num_gids) {
        return mocx_bad(dev, cmd, MOCX_BAD_INDEX, SYND_GID_INDEX,
                        "RoCE address %u of %u", index, dev->port.num_gids);
    }
    gid = &dev->port.gids[index];
    memcpy(DEVX_ADDR_OF(roce_addr_layout, addr, source_l3_address), gid->addr,
           sizeof(gid->addr));
    DEVX_SET(roce_addr_layout, addr, vlan_valid, gid->vlan);
    DEVX_SET(roce_addr_layout, addr, vlan_id, gid->vid);
    DEVX_SET(roce_addr_layout, addr, source_mac_47_32,
             mocx_get_be16(gid->mac));
    DEVX_SET(roce_addr_layout, addr, source_mac_31_0,
             mocx_get_be32(gid->mac + 2));
    DEVX_SET(roce_addr_layout, addr, roce_l3_type,
             gid->ipv4 || !gid->valid ? L3_TYPE_IPV4 : L3_TYPE_IPV6);
    DEVX_SET(roce_addr_layout, addr, roce_version, gid->version);
    return MOCX_OK;
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(SET_ROCE_ADDRESS, set_roce_address, MOCX_ST_INITIALIZED, gid_set),
    MOCX_ROW(QUERY_ROCE_ADDRESS, query_roce_address, MOCX_ST_INITIALIZED,
             gid_query),
};

const MocxCmdRows mocx_rows_gid = { rows, sizeof(rows) / sizeof(rows[0]) };
