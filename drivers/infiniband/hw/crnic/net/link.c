// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Link state and MTU of the port. */
#include <crnic/event.h>
#include <crnic/obj/port.h>
#include <crnic/obj/vport.h>

#include "net.h"

/**
 * crnic_link_update - make the carrier follow the port
 * @net: netdev
 *
 * Context: process.
 */
void crnic_link_update(struct crnic_net *net)
{
	bool up = false;

	if (crnic_vport_state_query(net->dev, &up))
		return;
	if (up == netif_carrier_ok(net->netdev))
		return;
	netdev_info(net->netdev, "link %s\n", up ? "up" : "down");
	if (up)
		netif_carrier_on(net->netdev);
	else
		netif_carrier_off(net->netdev);
}

/*
 * The device is in error, and nobody will hear from its port again.  Whoever is
 * above the netdev, such as a bond, has to turn to another one; the netdev itself
 * takes neither packets nor settings.
 */
static void crnic_link_lose(struct crnic_net *net)
{
	if (netif_carrier_ok(net->netdev))
		netdev_info(net->netdev, "link down, the device is in error\n");
	netif_carrier_off(net->netdev);
	netif_device_detach(net->netdev);
}

static void crnic_link_work(struct work_struct *work)
{
	struct crnic_net *net = container_of(work, struct crnic_net, link_work);

	/* while the netdev is down, ndo_open will look */
	rtnl_lock();
	if (crnic_dead(net->dev))
		crnic_link_lose(net);
	else if (crnic_net_is_open(net))
		crnic_link_update(net);
	rtnl_unlock();
}

static int crnic_link_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct crnic_net *net = container_of(nb, struct crnic_net, nb);

	if (event == CRNIC_EVENT_PORT_UP || event == CRNIC_EVENT_PORT_DOWN ||
	    event == CRNIC_EVENT_FATAL)
		queue_work(net->wq, &net->link_work);
	return NOTIFY_DONE;
}

/**
 * crnic_link_admin - switch the port on or off, if it is ours
 * @net: netdev
 * @up: on
 *
 * A function that shares its port with others may not; the port is on then, and
 * the function hears of its link all the same.
 *
 * Context: process.
 */
void crnic_link_admin(struct crnic_net *net, bool up)
{
	int err = crnic_port_admin_set(net->dev, up);

	if (err && !crnic_dead(net->dev))
		netdev_dbg(net->netdev, "the port was not switched %s: %d\n", up ? "on" : "off",
			   err);
}

/**
 * crnic_link_set_mtu - tell the port and the vport of an MTU
 * @net: netdev
 * @mtu: bytes of IP packet
 *
 * The port decides what passes.  The vport's own MTU is for an e-switch, and a
 * function may not be allowed to set it.
 *
 * Context: process.
 *
 * Return: 0 or a negative errno.
 */
int crnic_link_set_mtu(struct crnic_net *net, unsigned int mtu)
{
	u16 hw = mtu + CRNIC_PORT_MTU_OVERHEAD;
	int err;

	err = crnic_port_mtu_set(net->dev, hw);
	if (err)
		return err;
	err = crnic_vport_mtu_set(net->dev, hw);
	if (err)
		netdev_dbg(net->netdev, "the vport's MTU was not set: %d\n", err);
	return 0;
}

/* What the port can do, or what the vport is set to where the port is not ours to ask */
static void crnic_link_limits(struct crnic_net *net)
{
	struct crnic_port_mtu mtu;

	if (crnic_port_mtu_query(net->dev, &mtu))
		mtu.max = net->vport.mtu;
	net->netdev->min_mtu = ETH_MIN_MTU;
	net->netdev->max_mtu = min_t(unsigned int, CRNIC_NET_MTU_MAX,
				     max_t(int, mtu.max - CRNIC_PORT_MTU_OVERHEAD, ETH_DATA_LEN));
}

/**
 * crnic_link_init - learn the port's limits, set the MTU, follow its events
 * @net: netdev, not yet registered
 *
 * Context: process.
 *
 * Return: 0 or a negative errno, with nothing left behind.
 */
int crnic_link_init(struct crnic_net *net)
{
	int err;

	crnic_link_limits(net);
	err = crnic_link_set_mtu(net, net->netdev->mtu);
	if (err)
		netdev_dbg(net->netdev, "the port's MTU was not set: %d\n", err);
	/* the port carries nothing until the netdev is opened */
	crnic_link_admin(net, false);
	INIT_WORK(&net->link_work, crnic_link_work);
	net->nb.notifier_call = crnic_link_event;
	return crnic_notifier_add(net->dev, &net->nb);
}

/** crnic_link_exit - undo crnic_link_init() */
void crnic_link_exit(struct crnic_net *net)
{
	crnic_notifier_del(net->dev, &net->nb);
	cancel_work_sync(&net->link_work);
}
