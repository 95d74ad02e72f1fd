// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The port's net_device: registration, up and down, what the stack asks. */
#include <linux/etherdevice.h>

#include <crnic/obj/counter.h>
#include <crnic/obj/mkey.h>
#include <crnic/obj/tis.h>

#include "net.h"

/** crnic_net_is_open - do the rings exist? RTNL held. */
bool crnic_net_is_open(const struct crnic_net *net)
{
	return net->channels;
}

/* --- up and down --- */

/*
 * Destroy the rings, once no TIR leads to them.  A device in error takes no command,
 * and reaches no memory either.
 */
static void crnic_net_close_channels(struct crnic_net *net)
{
	int err = crnic_rss_deactivate(net);

	crnic_channels_close(net, err && !crnic_dead(net->dev));
}

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
	crnic_link_admin(net, true);
	queue_work(net->wq, &net->rx_mode_work);
	/* a port that was up already raises no event */
	crnic_link_update(net);
	return 0;

close:
	/* also a table that was not taken over may be half in force */
	crnic_net_close_channels(net);
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
	crnic_link_admin(net, false);
	crnic_net_close_channels(net);
	return 0;
}

/* Make new rings, as a queue that failed needs them */
static int crnic_net_reopen(struct crnic_net *net)
{
	crnic_net_stop(net->netdev);
	return crnic_net_open(net->netdev);
}

/* --- settings that need other rings --- */

/** crnic_net_settings - what is in force. RTNL held. */
struct crnic_net_settings crnic_net_settings(const struct crnic_net *net)
{
	return (struct crnic_net_settings) {
		.mtu = net->netdev->mtu,
		.features = net->netdev->features,
		.num_channels = net->num_channels,
		.log_tx = net->log_tx,
		.log_rx = net->log_rx,
	};
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

/* With the netdev closed, or without its rings */
static int crnic_net_apply(struct crnic_net *net, const struct crnic_net_settings *to)
{
	int err = 0;

	if (to->num_channels != net->num_channels)
		err = crnic_net_use_channels(net, to->num_channels);
	if (!err && to->mtu != net->netdev->mtu)
		err = crnic_link_set_mtu(net, to->mtu);
	if (err)
		return err;
	WRITE_ONCE(net->netdev->mtu, to->mtu);
	net->netdev->features = to->features;
	net->log_tx = to->log_tx;
	net->log_rx = to->log_rx;
	return 0;
}

static int crnic_net_apply_and_open(struct crnic_net *net, const struct crnic_net_settings *to,
				    bool open)
{
	int err = crnic_net_apply(net, to);

	if (!err && open)
		err = crnic_net_open(net->netdev);
	return err;
}

/**
 * crnic_net_change - put other settings in force
 * @net: netdev, open or closed
 * @to: from crnic_net_settings(), with what is to be changed
 *
 * Context: process, RTNL held.
 *
 * Return: 0, or a negative errno with the old settings in force.  Should the
 * device not even let the old rings be made again, then the netdev has none, and
 * that is logged.
 */
int crnic_net_change(struct crnic_net *net, const struct crnic_net_settings *to)
{
	struct crnic_net_settings old = crnic_net_settings(net);
	bool open = netif_running(net->netdev);
	int err, back;

	if (!netif_device_present(net->netdev))
		return -ENODEV;
	if (open)
		crnic_net_stop(net->netdev);
	err = crnic_net_apply_and_open(net, to, open);
	if (!err)
		return 0;
	netdev_err(net->netdev, "the rings could not be made anew: %d\n", err);
	back = crnic_net_apply_and_open(net, &old, open);
	if (back)
		netdev_err(net->netdev, "the old rings could not be opened again: %d\n", back);
	return err;
}

/**
 * crnic_net_recover - a queue failed: make new rings, soon
 * @net: netdev
 *
 * Context: any, hard interrupt included.
 */
void crnic_net_recover(struct crnic_net *net)
{
	queue_work(net->wq, &net->recover_work);
}

static void crnic_net_recover_work(struct work_struct *work)
{
	struct crnic_net *net = container_of(work, struct crnic_net, recover_work);
	int err = 0;

	rtnl_lock();
	if (crnic_net_is_open(net) && !crnic_dead(net->dev))
		err = crnic_net_reopen(net);
	rtnl_unlock();
	if (err)
		netdev_err(net->netdev, "no new rings after a failure, the port is down: %d\n",
			   err);
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
	struct crnic_net_settings to = crnic_net_settings(net);

	to.mtu = mtu;
	return crnic_net_change(net, &to);
}

static int crnic_net_set_features(struct net_device *netdev, netdev_features_t features)
{
	netdev_features_t changed = netdev->features ^ features;
	struct crnic_net *net = to_cnet(netdev);
	struct crnic_net_settings to = crnic_net_settings(net);
	int err;

	err = crnic_vlan_filter_set(net, features & NETIF_F_HW_VLAN_CTAG_FILTER);
	if (err)
		return err;
	/* VLAN stripping is an attribute of the RQs; the rest is looked at per packet */
	if (!(changed & NETIF_F_HW_VLAN_CTAG_RX))
		return 0;
	to.features ^= NETIF_F_HW_VLAN_CTAG_RX;
	err = crnic_net_change(net, &to);
	if (err)
		crnic_vlan_filter_set(net, netdev->features & NETIF_F_HW_VLAN_CTAG_FILTER);
	return err;
}

/* S-tags are not filtered, and so not announced here */
static int crnic_net_vlan_add(struct net_device *netdev, __be16 proto, u16 vid)
{
	return crnic_vlan_add(to_cnet(netdev), vid);
}

static int crnic_net_vlan_kill(struct net_device *netdev, __be16 proto, u16 vid)
{
	crnic_vlan_del(to_cnet(netdev), vid);
	return 0;
}

static void crnic_net_tx_timeout(struct net_device *netdev, unsigned int txqueue)
{
	struct crnic_net *net = to_cnet(netdev);

	netdev_err(netdev, "send queue %u timed out\n", txqueue);
	crnic_net_recover(net);
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
	.ndo_vlan_rx_add_vid = crnic_net_vlan_add,
	.ndo_vlan_rx_kill_vid = crnic_net_vlan_kill,
	.ndo_tx_timeout = crnic_net_tx_timeout,
	.ndo_get_stats64 = crnic_net_get_stats64,
};

/* --- registration --- */

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
			      NETIF_F_HW_VLAN_CTAG_RX | NETIF_F_HW_VLAN_CTAG_FILTER;
	if (CRNIC_CAP_ETH(net->dev, max_lso_cap))
		netdev->hw_features |= NETIF_F_TSO | NETIF_F_TSO6;
	/* without insertion by the device, a tag can only ride in inline headers */
	if (CRNIC_CAP_ETH(net->dev, wqe_vlan_insert) ||
	    net->vport.min_inline != MLX5_INLINE_MODE_NONE)
		netdev->hw_features |= NETIF_F_HW_VLAN_CTAG_TX;
	netdev->features = netdev->hw_features | NETIF_F_HIGHDMA;
	netdev->vlan_features = netdev->hw_features &
		~(NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_CTAG_RX |
		  NETIF_F_HW_VLAN_CTAG_FILTER);
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

/* Nothing but a statistic is lost without it */
static int crnic_net_counter_create(struct crnic_net *net)
{
	if (crnic_q_counter_alloc(net->dev, &net->q_counter))
		net->q_counter = 0;
	return 0;
}

static void crnic_net_counter_destroy(struct crnic_net *net)
{
	if (net->q_counter)
		crnic_q_counter_dealloc(net->dev, net->q_counter);
}

static int crnic_net_register(struct crnic_net *net)
{
	/* the port says when there is a carrier */
	netif_carrier_off(net->netdev);
	return register_netdev(net->netdev);
}

/* What the netdev has of the device, in order */
static const struct crnic_net_part {
	const char *name;
	int (*up)(struct crnic_net *net);
	void (*down)(struct crnic_net *net);
} crnic_net_parts[] = {
	{ "memory key",		crnic_net_mkey_create,	crnic_net_mkey_destroy },
	{ "TIS",		crnic_net_tis_create,	crnic_net_tis_destroy },
	{ "queue counter",	crnic_net_counter_create, crnic_net_counter_destroy },
	{ "drop RQ",		crnic_drop_rq_create,	crnic_drop_rq_destroy },
	{ "kept rings",		crnic_kept_init,	crnic_kept_close },
	{ "RSS",		crnic_rss_create,	crnic_rss_destroy },
	{ "steering",		crnic_steer_create,	crnic_steer_destroy },
	{ "link",		crnic_link_init,	crnic_link_exit },
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

	cancel_work_sync(&net->rx_mode_work);
	cancel_work_sync(&net->recover_work);
	for (i = ARRAY_SIZE(crnic_net_parts) - 1; i >= 0; i--)
		crnic_net_parts[i].down(net);
}

static int crnic_net_init(struct crnic_net *net, struct crnic_dev *dev)
{
	int i;

	net->dev = dev;
	net->num_channels = min3(crnic_comp_vectors(dev), num_online_cpus(),
				 (unsigned int)CRNIC_NET_MAX_CHANNELS);
	crnic_rss_init(net);
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
	err = crnic_net_register(net);
	if (err)
		goto parts_down;
	dev->net = net;
	dev->netdev = netdev;
	return 0;

parts_down:
	crnic_net_parts_down(net);
destroy_wq:
	destroy_workqueue(net->wq);
free:
	free_netdev(netdev);
	return err;
}

/**
 * crnic_net_suspend - take the device from the netdev, which stays registered
 * @dev: function; its netdev has addresses, and perhaps a bond above it
 *
 * Context: process.  The stack finds the netdev absent from here on.
 */
void crnic_net_suspend(struct crnic_dev *dev)
{
	struct crnic_net *net = dev->net;

	rtnl_lock();
	netif_device_detach(net->netdev);
	crnic_net_stop(net->netdev);
	rtnl_unlock();
	crnic_net_parts_down(net);
	net->suspended = true;
}

static int crnic_net_reattach(struct crnic_net *net)
{
	unsigned int vectors = crnic_comp_vectors(net->dev);
	int err = 0;

	rtnl_lock();
	/* the host may have given fewer this time */
	if (net->num_channels > vectors)
		err = crnic_net_use_channels(net, vectors);
	if (!err)
		err = crnic_vlan_restore(net);
	if (!err && netif_running(net->netdev))
		err = crnic_net_open(net->netdev);
	if (!err)
		netif_device_attach(net->netdev);
	rtnl_unlock();
	return err;
}

/**
 * crnic_net_resume - give the netdev its device back
 * @dev: function, after crnic_net_suspend()
 *
 * Context: process.
 *
 * Return: 0 or a negative errno, with the netdev as it was.
 */
int crnic_net_resume(struct crnic_dev *dev)
{
	struct crnic_net *net = dev->net;
	int err;

	/* the device has forgotten all rules */
	memset(&net->steer, 0, sizeof(net->steer));
	err = crnic_net_parts_up(net);
	if (err)
		return err;
	err = crnic_net_reattach(net);
	if (err) {
		crnic_net_parts_down(net);
		return err;
	}
	net->suspended = false;
	return 0;
}

/**
 * crnic_net_remove - undo crnic_net_add()
 * @dev: function, perhaps after crnic_net_suspend()
 *
 * Context: process.
 */
void crnic_net_remove(struct crnic_dev *dev)
{
	struct crnic_net *net = dev->net;

	dev->netdev = NULL;
	dev->net = NULL;
	unregister_netdev(net->netdev);
	if (!net->suspended)
		crnic_net_parts_down(net);
	destroy_workqueue(net->wq);
	free_netdev(net->netdev);
}
