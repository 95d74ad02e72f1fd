// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ethtool. */
#include <linux/ethtool.h>

#include <crnic/obj/counter.h>
#include <crnic/obj/port.h>

#include "../compat/net.h"
#include "net.h"

static void crnic_get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct crnic_dev *dev = to_cnet(netdev)->dev;

	strscpy(info->driver, KBUILD_MODNAME, sizeof(info->driver));
	strscpy(info->bus_info, pci_name(dev->pdev), sizeof(info->bus_info));
	snprintf(info->fw_version, sizeof(info->fw_version), "%u.%u.%04u",
		 dev->fw_rev[0], dev->fw_rev[1], dev->fw_rev[2]);
}

static int crnic_get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *ks)
{
	struct crnic_port_type type;
	int err;

	err = crnic_port_type_query(to_cnet(netdev)->dev, &type);
	if (err)
		return err;
	ethtool_link_ksettings_zero_link_mode(ks, supported);
	ethtool_link_ksettings_zero_link_mode(ks, advertising);
	ethtool_link_ksettings_add_link_mode(ks, supported, FIBRE);
	ks->base.port = PORT_FIBRE;
	ks->base.autoneg = AUTONEG_DISABLE;
	ks->base.speed = SPEED_UNKNOWN;
	ks->base.duplex = DUPLEX_UNKNOWN;
	if (netif_carrier_ok(netdev) && type.speed) {
		ks->base.speed = type.speed;
		ks->base.duplex = DUPLEX_FULL;
	}
	return 0;
}

static void crnic_get_ringparam(struct net_device *netdev, struct ethtool_ringparam *p,
				struct kernel_ethtool_ringparam *kp,
				struct netlink_ext_ack *extack)
{
	struct crnic_net *net = to_cnet(netdev);

	p->rx_max_pending = BIT(CRNIC_NET_RING_LOG_MAX);
	p->tx_max_pending = BIT(CRNIC_NET_RING_LOG_MAX);
	p->rx_pending = BIT(net->log_rx);
	p->tx_pending = BIT(net->log_tx);
}

static int crnic_set_ringparam(struct net_device *netdev, struct ethtool_ringparam *p,
			       struct kernel_ethtool_ringparam *kp,
			       struct netlink_ext_ack *extack)
{
	struct crnic_net *net = to_cnet(netdev);
	struct crnic_net_settings to = crnic_net_settings(net);

	if (p->rx_mini_pending || p->rx_jumbo_pending)
		return -EINVAL;
	if (min(p->rx_pending, p->tx_pending) < BIT(CRNIC_NET_RING_LOG_MIN)) {
		NL_SET_ERR_MSG_FMT(extack, "a ring has at least %lu entries",
				   BIT(CRNIC_NET_RING_LOG_MIN));
		return -EINVAL;
	}
	to.log_rx = order_base_2(p->rx_pending);
	to.log_tx = order_base_2(p->tx_pending);
	return crnic_net_change(net, &to);
}

static void crnic_get_channels(struct net_device *netdev, struct ethtool_channels *c)
{
	struct crnic_net *net = to_cnet(netdev);

	c->max_combined = min_t(u32, crnic_comp_vectors(net->dev), CRNIC_NET_MAX_CHANNELS);
	c->combined_count = net->num_channels;
}

/* The core has compared them with the maxima */
static int crnic_set_channels(struct net_device *netdev, struct ethtool_channels *c)
{
	struct crnic_net *net = to_cnet(netdev);
	struct crnic_net_settings to = crnic_net_settings(net);

	to.num_channels = c->combined_count;
	return crnic_net_change(net, &to);
}

/* --- pause frames --- */

static void crnic_get_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *p)
{
	bool rx = false, tx = false;

	crnic_port_pause_query(to_cnet(netdev)->dev, &rx, &tx);
	p->autoneg = AUTONEG_DISABLE;
	p->rx_pause = rx;
	p->tx_pause = tx;
}

static int crnic_set_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *p)
{
	struct crnic_dev *dev = to_cnet(netdev)->dev;

	/* the port is not ours alone: its manager decides */
	if (!CRNIC_CAP_GEN(dev, vport_group_manager))
		return -EOPNOTSUPP;
	if (p->autoneg)
		return -EINVAL;
	return crnic_port_pause_set(dev, p->rx_pause, p->tx_pause);
}

/* --- statistics --- */

/* Places in the group of IEEE 802.3 counters */
#define CRNIC_MAC_STAT(field) \
	(MLX5_BYTE_OFF(eth_802_3_cntrs_grp_data_layout, field##_high) / sizeof(u64))

static void crnic_get_pause_stats(struct net_device *netdev, struct ethtool_pause_stats *s)
{
	u64 c[CRNIC_PORT_COUNTERS_MAX];

	if (crnic_port_counters_query(to_cnet(netdev)->dev, MLX5_IEEE_802_3_COUNTERS_GROUP, 0, c))
		return;
	s->rx_pause_frames = c[CRNIC_MAC_STAT(a_pause_mac_ctrl_frames_received)];
	s->tx_pause_frames = c[CRNIC_MAC_STAT(a_pause_mac_ctrl_frames_transmitted)];
}

struct crnic_stat {
	char name[ETH_GSTRING_LEN];
	size_t offset;
};

#define CRNIC_RING_STAT(field) { #field, offsetof(struct crnic_ring_stats, field) }

static const struct crnic_stat crnic_ring_stats[] = {
	CRNIC_RING_STAT(packets),
	CRNIC_RING_STAT(bytes),
	CRNIC_RING_STAT(drops),
	CRNIC_RING_STAT(errors),
};

static const char crnic_vport_stats[CRNIC_VPORT_COUNTERS][ETH_GSTRING_LEN - 8] = {
	[CRNIC_VPORT_RX_ERRORS]	= "rx_vport_errors",
	[CRNIC_VPORT_TX_ERRORS]	= "tx_vport_errors",
	[CRNIC_VPORT_RX_IB_UC]	= "rx_vport_rdma_unicast",
	[CRNIC_VPORT_TX_IB_UC]	= "tx_vport_rdma_unicast",
	[CRNIC_VPORT_RX_IB_MC]	= "rx_vport_rdma_multicast",
	[CRNIC_VPORT_TX_IB_MC]	= "tx_vport_rdma_multicast",
	[CRNIC_VPORT_RX_ETH_BC]	= "rx_vport_broadcast",
	[CRNIC_VPORT_TX_ETH_BC]	= "tx_vport_broadcast",
	[CRNIC_VPORT_RX_ETH_UC]	= "rx_vport_unicast",
	[CRNIC_VPORT_TX_ETH_UC]	= "tx_vport_unicast",
	[CRNIC_VPORT_RX_ETH_MC]	= "rx_vport_multicast",
	[CRNIC_VPORT_TX_ETH_MC]	= "tx_vport_multicast",
};

static int crnic_get_sset_count(struct net_device *netdev, int sset)
{
	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return 1 + 2 * CRNIC_VPORT_COUNTERS +
	       2 * ARRAY_SIZE(crnic_ring_stats) * to_cnet(netdev)->num_channels;
}

static void crnic_get_strings(struct net_device *netdev, u32 sset, u8 *data)
{
	unsigned int ch, i;

	if (sset != ETH_SS_STATS)
		return;
	ethtool_sprintf(&data, "%s", "rx_out_of_buffer");
	for (i = 0; i < CRNIC_VPORT_COUNTERS; i++) {
		ethtool_sprintf(&data, "%s_packets", crnic_vport_stats[i]);
		ethtool_sprintf(&data, "%s_bytes", crnic_vport_stats[i]);
	}
	for (ch = 0; ch < to_cnet(netdev)->num_channels; ch++) {
		for (i = 0; i < ARRAY_SIZE(crnic_ring_stats); i++)
			ethtool_sprintf(&data, "rx%u_%s", ch, crnic_ring_stats[i].name);
		for (i = 0; i < ARRAY_SIZE(crnic_ring_stats); i++)
			ethtool_sprintf(&data, "tx%u_%s", ch, crnic_ring_stats[i].name);
	}
}

static u64 *crnic_put_ring_stats(u64 *data, const struct crnic_ring_stats *stats)
{
	unsigned int start, i;

	do {
		start = u64_stats_fetch_begin(&stats->sync);
		for (i = 0; i < ARRAY_SIZE(crnic_ring_stats); i++)
			data[i] = u64_stats_read((const void *)stats + crnic_ring_stats[i].offset);
	} while (u64_stats_fetch_retry(&stats->sync, start));
	return data + i;
}

static void crnic_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *es, u64 *data)
{
	struct crnic_traffic vport[CRNIC_VPORT_COUNTERS] = {};
	struct crnic_net *net = to_cnet(netdev);
	struct crnic_q_counters q = {};
	unsigned int i;

	if (net->q_counter)
		crnic_q_counter_query(net->dev, net->q_counter, &q);
	*data++ = q.out_of_buffer;
	crnic_vport_counters_query(net->dev, vport);
	for (i = 0; i < CRNIC_VPORT_COUNTERS; i++) {
		*data++ = vport[i].packets;
		*data++ = vport[i].octets;
	}
	for (i = 0; i < net->num_channels; i++) {
		data = crnic_put_ring_stats(data, &net->rx_stats[i]);
		data = crnic_put_ring_stats(data, &net->tx_stats[i]);
	}
}

const struct ethtool_ops crnic_ethtool_ops = {
	.get_drvinfo = crnic_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = crnic_get_link_ksettings,
	.get_ringparam = crnic_get_ringparam,
	.set_ringparam = crnic_set_ringparam,
	.get_channels = crnic_get_channels,
	.set_channels = crnic_set_channels,
	.get_pauseparam = crnic_get_pauseparam,
	.set_pauseparam = crnic_set_pauseparam,
	.get_pause_stats = crnic_get_pause_stats,
	.get_sset_count = crnic_get_sset_count,
	.get_strings = crnic_get_strings,
	.get_ethtool_stats = crnic_get_ethtool_stats,
	.get_ts_info = ethtool_op_get_ts_info,
};
