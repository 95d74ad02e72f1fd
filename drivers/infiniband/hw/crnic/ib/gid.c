// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * GIDs.  ib_core keeps the table and derives it from the addresses of the netdev
 * and of its VLANs and uppers; here each entry is written to the device.
 */
#include <linux/if_vlan.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include <crnic/obj/roce.h>

#include "ib.h"

/**
 * crnic_ib_add_gid - write an entry of the device's address table
 * @attr: entry; its index is below the table's length
 * @context: unused
 *
 * Return: 0 or errno.  A MAC with the multicast bit is refused by the device
 * (syndrome 0x63c66); ib_core then leaves this one GID out.
 */
int crnic_ib_add_gid(const struct ib_gid_attr *attr, void **context)
{
	const bool v2 = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
	struct crnic_dev *dev = to_cdev(attr->device);
	struct crnic_roce_addr addr = {
		.version = v2 ? CRNIC_ROCE_V2 : CRNIC_ROCE_V1,
		.ipv4 = ipv6_addr_v4mapped((const struct in6_addr *)&attr->gid),
	};
	u16 vid = 0xffff;
	int err;

	err = rdma_read_gid_l2_fields(attr, &vid, addr.mac);
	if (err)
		return err;

	memcpy(addr.gid, attr->gid.raw, sizeof(addr.gid));
	addr.vlan = vid < VLAN_N_VID;
	addr.vid = addr.vlan ? vid : 0;
	err = crnic_roce_addr_set(dev, attr->index, &addr);
	if (err)
		crnic_err_rl(dev, "device refuses GID %u (%pI6, MAC %pM): %pe\n", attr->index,
			     attr->gid.raw, addr.mac, ERR_PTR(err));
	return err;
}

/**
 * crnic_ib_del_gid - clear an entry of the device's address table
 * @attr: entry
 * @context: unused
 *
 * Return: 0 or errno.
 */
int crnic_ib_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return crnic_roce_addr_clear(to_cdev(attr->device), attr->index);
}
