// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The port: its attributes, and events when its netdev changes */
#include <linux/netdevice.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>

#include <crnic/obj/port.h>

#include "ib.h"

struct crnic_ib_speed {
	u32 mbps;
	u8 width;
	u16 speed;
};

/* Ethernet speeds as the InfiniBand pair that makes the same rate */
static const struct crnic_ib_speed crnic_ib_speeds[] = {
	{ 10000, IB_WIDTH_1X, IB_SPEED_QDR },
	{ 25000, IB_WIDTH_1X, IB_SPEED_EDR },
	{ 40000, IB_WIDTH_4X, IB_SPEED_QDR },
	{ 50000, IB_WIDTH_2X, IB_SPEED_EDR },
	{ 56000, IB_WIDTH_4X, IB_SPEED_FDR },
	{ 100000, IB_WIDTH_4X, IB_SPEED_EDR },
	{ 200000, IB_WIDTH_4X, IB_SPEED_HDR },
	{ 400000, IB_WIDTH_4X, IB_SPEED_NDR },
};

/* the fastest pair that is not above @mbps; the slowest for an unknown or slow link */
static const struct crnic_ib_speed *crnic_ib_speed_of(u32 mbps)
{
	size_t i;

	for (i = ARRAY_SIZE(crnic_ib_speeds) - 1; i; i--)
		if (crnic_ib_speeds[i].mbps <= mbps)
			break;
	return &crnic_ib_speeds[i];
}

static bool crnic_ib_netdev_active(const struct net_device *netdev)
{
	return netdev && netif_running(netdev) && netif_carrier_ok(netdev);
}

static void crnic_ib_port_of_netdev(struct net_device *netdev, struct ib_port_attr *attr)
{
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = netdev ? iboe_get_mtu(netdev->mtu) : IB_MTU_1024;
	/* a netdev below the smallest RoCE packet still has a valid path MTU */
	if (!attr->active_mtu)
		attr->active_mtu = IB_MTU_256;
	if (crnic_ib_netdev_active(netdev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	} else {
		attr->state = IB_PORT_DOWN;
		attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	}
}

/**
 * crnic_ib_query_port - report the port's state and limits
 * @ibdev: device
 * @port: 1, checked by ib_core
 * @attr: answer, zeroed by ib_core
 *
 * Return: 0 or the errno of the register access.
 */
int crnic_ib_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct crnic_dev *dev = to_cdev(ibdev);
	const struct crnic_ib_speed *speed;
	struct crnic_port_type type;
	int err;

	err = crnic_port_type_query(dev, &type);
	if (err)
		return err;

	speed = crnic_ib_speed_of(type.speed);
	attr->active_width = speed->width;
	attr->active_speed = speed->speed;
	attr->gid_tbl_len = CRNIC_CAP_ROCE(dev, roce_address_table_size);
	attr->pkey_tbl_len = 1;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = 1U << CRNIC_CAP_GEN(dev, log_max_msg);
	attr->max_vl_num = 1;

	/* the netdev is there before this device and goes after it */
	crnic_ib_port_of_netdev(dev->netdev, attr);
	return 0;
}

static u32 crnic_ib_core_caps(const struct crnic_dev *dev)
{
	u32 caps = 0;

	if (CRNIC_CAP_ROCE(dev, roce_version) & MLX5_ROCE_VERSION_1_CAP)
		caps |= RDMA_CORE_PORT_IBA_ROCE;
	if (CRNIC_CAP_ROCE(dev, roce_version) & MLX5_ROCE_VERSION_2_CAP)
		caps |= RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	return caps;
}

/**
 * crnic_ib_port_immutable - what never changes on the port
 * @ibdev: device
 * @port: 1
 * @imm: answer
 *
 * Return: 0.
 */
int crnic_ib_port_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *imm)
{
	const struct crnic_dev *dev = to_cdev(ibdev);

	imm->core_cap_flags = crnic_ib_core_caps(dev);
	imm->gid_tbl_len = CRNIC_CAP_ROCE(dev, roce_address_table_size);
	imm->pkey_tbl_len = 1;
	imm->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

/**
 * crnic_ib_query_pkey - RoCE knows the default partition key only
 * @ibdev: device
 * @port: 1
 * @index: 0
 * @pkey: answer
 *
 * Return: 0, or -EINVAL for another index.
 */
int crnic_ib_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;

	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

enum rdma_link_layer crnic_ib_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static void crnic_ib_port_event(struct crnic_ib *ib, bool active)
{
	struct ib_event event = {
		.device = &ib->ibdev,
		.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
		.element.port_num = CRNIC_PORT,
	};

	if (ib->active == active)
		return;

	ib->active = active;
	ib_dispatch_event(&event);
}

/* Called under RTNL, which orders the changes of ib->active */
static int crnic_ib_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct crnic_ib *ib = container_of(nb, struct crnic_ib, netdev_nb);
	struct net_device *netdev = netdev_notifier_info_to_dev(ptr);

	if (netdev != ib->dev->netdev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		crnic_ib_port_event(ib, crnic_ib_netdev_active(netdev));
		return NOTIFY_OK;
	default:
		return NOTIFY_DONE;
	}
}

/**
 * crnic_ib_port_start - follow the netdev
 * @ib: registered verbs device
 *
 * Return: 0 or errno.
 */
int crnic_ib_port_start(struct crnic_ib *ib)
{
	ib->netdev_nb.notifier_call = crnic_ib_netdev_event;
	return register_netdevice_notifier(&ib->netdev_nb);
}

/**
 * crnic_ib_port_stop - undo crnic_ib_port_start()
 * @ib: verbs device
 */
void crnic_ib_port_stop(struct crnic_ib *ib)
{
	unregister_netdevice_notifier(&ib->netdev_nb);
}
