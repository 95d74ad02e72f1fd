// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The port's net_device: registration, up and down, what the stack asks. */
#include <linux/etherdevice.h>

#include <crnic/obj/mkey.h>
#include <crnic/obj/port.h>
#include <crnic/obj/tis.h>

#include "net.h"

/** crnic_net_is_open - do the rings exist? RTNL held. */
bool crnic_net_is_open(const struct crnic_net *net)
{
	return net->channels;
}

/* --- up and down --- */

static int crnic_net_open(struct net_device *netdev)
{
	struct crnic_net *net = to_cnet(netdev);
	int err;

	err = crnic_channels_open(net);
	if (err)
		return err;
	err = crnic_rss_activate(net);
	if (err)
		goto close;
	netif_tx_start_all_queues(netdev);
	err = crnic_port_admin_set(net->dev, true);
	if (err)
		goto deactivate;
	queue_work(net->wq, &net->rx_mode_work);
	/* a port that was up already raises no event */
	crnic_link_update(net);
	return 0;

deactivate:
	netif_tx_disable(netdev);
	crnic_rss_deactivate(net);
close:
	crnic_channels_close(net);
	return err;
}

static int crnic_net_stop(struct net_device *netdev)
{
	struct crnic_net *net = to_cnet(netdev);

	/* a failed reopen left it closed */
	if (!crnic_net_is_open(net))
		return 0;
	netif_carrier_off(netdev);
	netif_tx_disable(netdev);
	crnic_port_admin_set(net->dev, false);
	crnic_rss_deactivate(net);
	crnic_channels_close(net);
	return 0;
}

/**
 * crnic_net_reopen - make new rings, if the netdev is up
 * @net: netdev, whose parameters may have changed
 *
 * Context: process, RTNL held.
 *
 * Return: 0 or a negative errno; the netdev has no rings then, and is closed.
 */
int crnic_net_reopen(struct crnic_net *net)
{
	int err;

	if (!netif_running(net->netdev))
		return 0;
	crnic_net_stop(net->netdev);
	err = crnic_net_open(net->netdev);
	if (err)
		netdev_err(net->netdev, "the rings could not be made anew: %d\n", err);
	return err;
}

/* Spread over that many channels from the next open on */
static int crnic_net_use_channels(struct crnic_net *net, unsigned int count)
{
	int err = netif_set_real_num_queues(net->netdev, count, count);

	if (err)
		return err;
	net->num_channels = count;
	crnic_rss_default_table(net);
	return 0;
}

/**
 * crnic_net_set_channels - use another number of channels
 * @net: netdev
 * @count: of them, 1 to CRNIC_NET_MAX_CHANNELS
 *
 * Context: process, RTNL held.
 *
 * Return: 0 or a negative errno, with as many channels as before.
 */
int crnic_net_set_channels(struct crnic_net *net, unsigned int count)
{
	bool running = netif_running(net->netdev);
	unsigned int old = net->num_channels;
	int err;

	if (running)
		crnic_net_stop(net->netdev);
	err = crnic_net_use_channels(net, count);
	if (!running)
		return err;
	if (!err)
		err = crnic_net_open(net->netdev);
	if (!err)
		return 0;
	crnic_net_use_channels(net, old);
	if (crnic_net_open(net->netdev))
		netdev_err(net->netdev, "the old channels could not be opened again\n");
	return err;
}

static void crnic_net_recover_work(struct work_struct *work)
{
	struct crnic_net *net = container_of(work, struct crnic_net, recover_work);

	rtnl_lock();
	if (crnic_net_is_open(net) && !crnic_dead(net->dev))
		crnic_net_reopen(net);
	rtnl_unlock();
}

static void crnic_net_rx_mode_work(struct work_struct *work)
{
	crnic_steer_sync(container_of(work, struct crnic_net, rx_mode_work));
}

/* --- what the stack asks --- */

static void crnic_net_set_rx_mode(struct net_device *netdev)
{
	struct crnic_net *net = to_cnet(netdev);

	queue_work(net->wq, &net->rx_mode_work);
}

static int crnic_net_set_mac(struct net_device *netdev, void *addr)
{
	struct sockaddr *sa = addr;

	if (!is_valid_ether_addr(sa->sa_data))
		return -EADDRNOTAVAIL;
	eth_hw_addr_set(netdev, sa->sa_data);
	crnic_net_set_rx_mode(netdev);
	return 0;
}

static int crnic_net_change_mtu(struct net_device *netdev, int mtu)
{
	struct crnic_net *net = to_cnet(netdev);
	int old = netdev->mtu, err;

	err = crnic_link_set_mtu(net, mtu);
	if (err)
		return err;
	WRITE_ONCE(netdev->mtu, mtu);
	err = crnic_net_reopen(net);
	if (err) {
		WRITE_ONCE(netdev->mtu, old);
		crnic_link_set_mtu(net, old);
		crnic_net_reopen(net);
	}
	return err;
}

static int crnic_net_set_features(struct net_device *netdev, netdev_features_t features)
{
	netdev_features_t changed = netdev->features ^ features, old = netdev->features;
	int err;

	/* VLAN stripping is an attribute of the RQs; the rest is looked at per packet */
	if (!(changed & NETIF_F_HW_VLAN_CTAG_RX))
		return 0;
	netdev->features = features;
	err = crnic_net_reopen(to_cnet(netdev));
	if (err) {
		netdev->features = old;
		crnic_net_reopen(to_cnet(netdev));
	}
	return err;
}

static void crnic_net_tx_timeout(struct net_device *netdev, unsigned int txqueue)
{
	struct crnic_net *net = to_cnet(netdev);

	netdev_err(netdev, "send queue %u timed out\n", txqueue);
	queue_work(net->wq, &net->recover_work);
}

static void crnic_net_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *s)
{
	struct crnic_net *net = to_cnet(netdev);
	unsigned int i, start;

	/* also what channels have counted that are no longer used */
	for (i = 0; i < CRNIC_NET_MAX_CHANNELS; i++) {
		const struct crnic_ring_stats *rx = &net->rx_stats[i];
		const struct crnic_ring_stats *tx = &net->tx_stats[i];

		do {
			start = u64_stats_fetch_begin(&rx->sync);
			s->rx_packets += u64_stats_read(&rx->packets);
			s->rx_bytes += u64_stats_read(&rx->bytes);
			s->rx_dropped += u64_stats_read(&rx->drops);
			s->rx_errors += u64_stats_read(&rx->errors);
		} while (u64_stats_fetch_retry(&rx->sync, start));
		do {
			start = u64_stats_fetch_begin(&tx->sync);
			s->tx_packets += u64_stats_read(&tx->packets);
			s->tx_bytes += u64_stats_read(&tx->bytes);
			s->tx_dropped += u64_stats_read(&tx->drops);
			s->tx_errors += u64_stats_read(&tx->errors);
		} while (u64_stats_fetch_retry(&tx->sync, start));
	}
}

static const struct net_device_ops crnic_netdev_ops = {
	.ndo_open = crnic_net_open,
	.ndo_stop = crnic_net_stop,
	.ndo_start_xmit = crnic_net_xmit,
	.ndo_set_rx_mode = crnic_net_set_rx_mode,
	.ndo_set_mac_address = crnic_net_set_mac,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_change_mtu = crnic_net_change_mtu,
	.ndo_set_features = crnic_net_set_features,
	.ndo_tx_timeout = crnic_net_tx_timeout,
	.ndo_get_stats64 = crnic_net_get_stats64,
};

/* --- registration --- */

/* Values of the wqe_inline_mode capability, as mlx5_core's vport.h has them */
enum {
	CRNIC_CAP_INLINE_L2,
	CRNIC_CAP_INLINE_VPORT,
	CRNIC_CAP_INLINE_NONE,
};

static u8 crnic_net_min_inline(struct crnic_net *net)
{
	switch (CRNIC_CAP_ETH(net->dev, wqe_inline_mode)) {
	case CRNIC_CAP_INLINE_L2:
		return MLX5_INLINE_MODE_L2;
	case CRNIC_CAP_INLINE_VPORT:
		return net->vport.min_inline;
	default:
		return MLX5_INLINE_MODE_NONE;
	}
}

static int crnic_net_read_vport(struct crnic_net *net)
{
	int err = crnic_vport_nic_query(net->dev, &net->vport);

	if (err)
		return err;
	net->vport.min_inline = crnic_net_min_inline(net);
	if (is_valid_ether_addr(net->vport.mac)) {
		eth_hw_addr_set(net->netdev, net->vport.mac);
	} else {
		eth_hw_addr_random(net->netdev);
		netdev_warn(net->netdev, "the device has no valid MAC address, using %pM\n",
			    net->netdev->dev_addr);
	}
	return 0;
}

static void crnic_net_set_netdev(struct crnic_net *net)
{
	struct net_device *netdev = net->netdev;

	netdev->netdev_ops = &crnic_netdev_ops;
	netdev->ethtool_ops = &crnic_ethtool_ops;
	netdev->watchdog_timeo = 15 * HZ;
	netdev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | NETIF_F_RXHASH |
			      NETIF_F_HW_VLAN_CTAG_RX;
	if (CRNIC_CAP_ETH(net->dev, max_lso_cap))
		netdev->hw_features |= NETIF_F_TSO | NETIF_F_TSO6;
	/* without insertion by the device, a tag can only ride in inline headers */
	if (CRNIC_CAP_ETH(net->dev, wqe_vlan_insert) ||
	    net->vport.min_inline != MLX5_INLINE_MODE_NONE)
		netdev->hw_features |= NETIF_F_HW_VLAN_CTAG_TX;
	netdev->features = netdev->hw_features | NETIF_F_HIGHDMA;
	netdev->vlan_features = netdev->hw_features &
		~(NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_CTAG_RX);
	netdev->priv_flags |= IFF_UNICAST_FLT;
	netdev->dev_port = 0;
	netif_set_real_num_tx_queues(netdev, net->num_channels);
	netif_set_real_num_rx_queues(netdev, net->num_channels);
}

static int crnic_net_mkey_create(struct crnic_net *net)
{
	struct crnic_mkey_params p = {
		.pdn = net->dev->pdn,
		.mode = CRNIC_MKEY_PA,
		.access = CRNIC_MKEY_LOCAL_READ | CRNIC_MKEY_LOCAL_WRITE,
		.whole = true,
	};

	return crnic_mkey_create(net->dev, &p, &net->lkey);
}

static int crnic_net_tis_create(struct crnic_net *net)
{
	return crnic_tis_create(net->dev, 0, net->dev->tdn, &net->tisn);
}

static void crnic_net_mkey_destroy(struct crnic_net *net)
{
	crnic_mkey_destroy(net->dev, net->lkey);
}

static void crnic_net_tis_destroy(struct crnic_net *net)
{
	crnic_tis_destroy(net->dev, net->tisn);
}

static int crnic_net_register(struct crnic_net *net)
{
	/* the port says when there is a carrier */
	netif_carrier_off(net->netdev);
	return register_netdev(net->netdev);
}

static void crnic_net_unregister(struct crnic_net *net)
{
	unregister_netdev(net->netdev);
	cancel_work_sync(&net->rx_mode_work);
	cancel_work_sync(&net->recover_work);
}

/* What the netdev is made of, in order */
static const struct crnic_net_part {
	const char *name;
	int (*up)(struct crnic_net *net);
	void (*down)(struct crnic_net *net);
} crnic_net_parts[] = {
	{ "memory key",		crnic_net_mkey_create,	crnic_net_mkey_destroy },
	{ "TIS",		crnic_net_tis_create,	crnic_net_tis_destroy },
	{ "drop RQ",		crnic_drop_rq_create,	crnic_drop_rq_destroy },
	{ "RSS",		crnic_rss_create,	crnic_rss_destroy },
	{ "steering",		crnic_steer_create,	crnic_steer_destroy },
	{ "link",		crnic_link_init,	crnic_link_exit },
	{ "net_device",		crnic_net_register,	crnic_net_unregister },
};

static int crnic_net_parts_up(struct crnic_net *net)
{
	int err, i;

	for (i = 0; i < ARRAY_SIZE(crnic_net_parts); i++) {
		err = crnic_net_parts[i].up(net);
		if (err) {
			crnic_err(net->dev, "netdev: %s failed: %d\n", crnic_net_parts[i].name,
				  err);
			goto down;
		}
	}
	return 0;

down:
	while (i--)
		crnic_net_parts[i].down(net);
	return err;
}

static void crnic_net_parts_down(struct crnic_net *net)
{
	int i;

	for (i = ARRAY_SIZE(crnic_net_parts) - 1; i >= 0; i--)
		crnic_net_parts[i].down(net);
}

static int crnic_net_init(struct crnic_net *net, struct crnic_dev *dev)
{
	int i;

	net->dev = dev;
	net->num_channels = min3(crnic_comp_vectors(dev), num_online_cpus(),
				 (unsigned int)CRNIC_NET_MAX_CHANNELS);
	net->log_tx = CRNIC_NET_RING_LOG_DEFAULT;
	net->log_rx = CRNIC_NET_RING_LOG_DEFAULT;
	for (i = 0; i < CRNIC_NET_MAX_CHANNELS; i++) {
		u64_stats_init(&net->rx_stats[i].sync);
		u64_stats_init(&net->tx_stats[i].sync);
	}
	INIT_WORK(&net->rx_mode_work, crnic_net_rx_mode_work);
	INIT_WORK(&net->recover_work, crnic_net_recover_work);
	net->wq = alloc_ordered_workqueue("crnic_net", 0);
	return net->wq ? 0 : -ENOMEM;
}

/**
 * crnic_net_add - netdev stage of bring-up
 * @dev: function
 *
 * Context: process.
 *
 * Return: 0 or a negative errno, with nothing left behind.
 */
int crnic_net_add(struct crnic_dev *dev)
{
	struct net_device *netdev;
	struct crnic_net *net;
	int err;

	netdev = alloc_etherdev_mqs(sizeof(*net), CRNIC_NET_MAX_CHANNELS, CRNIC_NET_MAX_CHANNELS);
	if (!netdev)
		return -ENOMEM;
	SET_NETDEV_DEV(netdev, dev->device);
	net = to_cnet(netdev);
	net->netdev = netdev;
	err = crnic_net_init(net, dev);
	if (err)
		goto free;
	err = crnic_net_read_vport(net);
	if (err)
		goto destroy_wq;
	crnic_net_set_netdev(net);
	err = crnic_net_parts_up(net);
	if (err)
		goto destroy_wq;
	dev->net = net;
	dev->netdev = netdev;
	return 0;

destroy_wq:
	destroy_workqueue(net->wq);
free:
	free_netdev(netdev);
	return err;
}

/**
 * crnic_net_remove - undo crnic_net_add()
 * @dev: function
 *
 * Context: process.
 */
void crnic_net_remove(struct crnic_dev *dev)
{
	struct crnic_net *net = dev->net;

	dev->netdev = NULL;
	dev->net = NULL;
	crnic_net_parts_down(net);
	destroy_workqueue(net->wq);
	free_netdev(net->netdev);
}
