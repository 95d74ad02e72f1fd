// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PPCNT: the port's counters in the groups that standards and drivers know.
 * The port counts what passes the wire, Ethernet and RDMA together.
 */
#include "dev.h"
#include "reg.h"

/* mlx5/device.h: MLX5_*_COUNTERS_GROUP */
enum {
    GROUP_802_3 = 0x0, GROUP_RFC_2863 = 0x1, GROUP_RFC_2819 = 0x2,
    GROUP_RFC_3635 = 0x3, GROUP_EXTENDED = 0x5, GROUP_PER_PRIO = 0x10,
    GROUP_PER_TC = 0x11, GROUP_PHYSICAL = 0x12, GROUP_PER_TC_CONGESTION = 0x13,
    GROUP_PHYSICAL_STATS = 0x16, GROUP_IB_PORT = 0x20,
};

/* What a counter is made of: classes of frames, one way, counted or weighed. */
enum {
    UCAST = 1 << 0, MCAST = 1 << 1, BCAST = 1 << 2, ROCE = 1 << 3,
    ALL = UCAST | MCAST | BCAST | ROCE,
    DROPPED = 1 << 4,       /* received, and not in the others */
};

typedef enum Unit {
    RX_PACKETS, RX_BYTES, TX_PACKETS, TX_BYTES, UNITS,
} Unit;

typedef struct CounterRow {
    uint8_t group;
    uint16_t off;           /* bytes in the group; 64 bit, high dword first */
    uint8_t unit;
    uint8_t classes;
} CounterRow;

#define ETH_802_3(f)    (__devx_bit_off(eth_802_3_cntrs_grp_data_layout, f) / 8)
#define RFC_2863(f)     (__devx_bit_off(eth_2863_cntrs_grp_data_layout, f) / 8)
#define RFC_2819(f)     (__devx_bit_off(eth_2819_cntrs_grp_data_layout, f) / 8)
#define PER_PRIO(f)     (__devx_bit_off(eth_per_prio_grp_data_layout, f) / 8)

static const CounterRow counters[] = {
    { GROUP_802_3, ETH_802_3(a_frames_transmitted_ok_high), TX_PACKETS, ALL },
    { GROUP_802_3, ETH_802_3(a_frames_received_ok_high), RX_PACKETS, ALL },
    { GROUP_802_3, ETH_802_3(a_octets_transmitted_ok_high), TX_BYTES, ALL },
    { GROUP_802_3, ETH_802_3(a_octets_received_ok_high), RX_BYTES, ALL },
    { GROUP_802_3, ETH_802_3(a_multicast_frames_xmitted_ok_high), TX_PACKETS,
      MCAST },
    { GROUP_802_3, ETH_802_3(a_broadcast_frames_xmitted_ok_high), TX_PACKETS,
      BCAST },
    { GROUP_802_3, ETH_802_3(a_multicast_frames_received_ok_high), RX_PACKETS,
      MCAST },
    { GROUP_802_3, ETH_802_3(a_broadcast_frames_received_ok_high), RX_PACKETS,
      BCAST },

    { GROUP_RFC_2863, RFC_2863(if_in_octets_high), RX_BYTES, ALL },
    { GROUP_RFC_2863, RFC_2863(if_in_ucast_pkts_high), RX_PACKETS,
      UCAST | ROCE },
    { GROUP_RFC_2863, RFC_2863(if_in_discards_high), RX_PACKETS, DROPPED },
    { GROUP_RFC_2863, RFC_2863(if_in_multicast_pkts_high), RX_PACKETS, MCAST },
    { GROUP_RFC_2863, RFC_2863(if_in_broadcast_pkts_high), RX_PACKETS, BCAST },
    { GROUP_RFC_2863, RFC_2863(if_out_octets_high), TX_BYTES, ALL },
    { GROUP_RFC_2863, RFC_2863(if_out_ucast_pkts_high), TX_PACKETS,
      UCAST | ROCE },
    { GROUP_RFC_2863, RFC_2863(if_out_multicast_pkts_high), TX_PACKETS, MCAST },
    { GROUP_RFC_2863, RFC_2863(if_out_broadcast_pkts_high), TX_PACKETS, BCAST },

    { GROUP_RFC_2819, RFC_2819(ether_stats_drop_events_high), RX_PACKETS,
      DROPPED },
    { GROUP_RFC_2819, RFC_2819(ether_stats_octets_high), RX_BYTES, ALL },
    { GROUP_RFC_2819, RFC_2819(ether_stats_pkts_high), RX_PACKETS, ALL },
    { GROUP_RFC_2819, RFC_2819(ether_stats_broadcast_pkts_high), RX_PACKETS,
      BCAST },
    { GROUP_RFC_2819, RFC_2819(ether_stats_multicast_pkts_high), RX_PACKETS,
      MCAST },

    /* Priority 0 carries all. */
    { GROUP_PER_PRIO, PER_PRIO(rx_octets_high), RX_BYTES, ALL },
    { GROUP_PER_PRIO, PER_PRIO(rx_frames_high), RX_PACKETS, ALL },
    { GROUP_PER_PRIO, PER_PRIO(tx_octets_high), TX_BYTES, ALL },
    { GROUP_PER_PRIO, PER_PRIO(tx_frames_high), TX_PACKETS, ALL },
};

/* Groups that are answered with zeros where no row fills them. */
static bool group_known(uint8_t group)
{
    switch (group) {
    case GROUP_802_3 ... GROUP_RFC_3635:
    case GROUP_EXTENDED:
    case GROUP_PER_PRIO ... GROUP_PER_TC_CONGESTION:
    case GROUP_PHYSICAL_STATS:
    case GROUP_IB_PORT:
        return true;
    default:
        return false;
    }
}

static uint64_t row_value(const MocxPortCounters *c, const CounterRow *row)
{
    const uint64_t by_class[UNITS][5] = {
        [RX_PACKETS] = { c->rx_ucast_packets, c->rx_mcast_packets,
                         c->rx_bcast_packets, c->rx_roce_packets,
                         c->rx_dropped },
        [RX_BYTES] = { c->rx_ucast_bytes, c->rx_mcast_bytes,
                       c->rx_bcast_bytes, c->rx_roce_bytes },
        [TX_PACKETS] = { c->tx_ucast_packets, c->tx_mcast_packets,
                         c->tx_bcast_packets, c->tx_roce_packets },
        [TX_BYTES] = { c->tx_ucast_bytes, c->tx_mcast_bytes,
                       c->tx_bcast_bytes, c->tx_roce_bytes },
    };
    uint64_t sum = 0;

    for (unsigned i = 0; i < 5; i++) {
        sum += row->classes & 1 << i ? by_class[row->unit][i] : 0;
    }
    return sum;
}

MocxStatus mocx_ppcnt_read(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    uint8_t group = DEVX_GET(ppcnt_reg, in, grp);
    uint8_t prio = DEVX_GET(ppcnt_reg, in, prio_tc);
    uint8_t *set = DEVX_ADDR_OF(ppcnt_reg, out, counter_set);

    if (!group_known(group)) {
        return MOCX_BAD_PARAM;
    }
    DEVX_SET(ppcnt_reg, out, local_port, 1);
    DEVX_SET(ppcnt_reg, out, grp, group);
    DEVX_SET(ppcnt_reg, out, prio_tc, prio);
    if (group == GROUP_PER_PRIO && prio) {
        return MOCX_OK;
    }
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        if (counters[i].group == group) {
            mocx_put_be64(set + counters[i].off,
                          row_value(&dev->port.counters, &counters[i]));
        }
    }
    return MOCX_OK;
}
