/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_ROCE_H
#define CRNIC_OBJ_ROCE_H

#include <linux/if_ether.h>
#include <linux/types.h>

struct crnic_dev;

enum crnic_roce_version {
	CRNIC_ROCE_V1	= 0,
	CRNIC_ROCE_V2	= 2,
};

/**
 * struct crnic_roce_addr - one entry of the device's address table
 * @gid: address; IPv4 as ::ffff:a.b.c.d
 * @mac: source MAC
 * @version: RoCE version
 * @ipv4: the packets are IPv4
 * @vlan: they carry a tag
 * @vid: its VLAN
 */
struct crnic_roce_addr {
	u8 gid[16];
	u8 mac[ETH_ALEN];
	enum crnic_roce_version version;
	bool ipv4;
	bool vlan;
	u16 vid;
};

int crnic_roce_addr_set(struct crnic_dev *dev, u16 index, const struct crnic_roce_addr *addr);
int crnic_roce_addr_clear(struct crnic_dev *dev, u16 index);

#endif /* CRNIC_OBJ_ROCE_H */
