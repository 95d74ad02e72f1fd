/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_VPORT_H
#define CRNIC_OBJ_VPORT_H

#include <linux/bits.h>
#include <linux/if_ether.h>
#include <linux/types.h>

struct crnic_dev;

/* Who says which headers a send WQE has to carry: capability wqe_inline_mode */
enum crnic_cap_inline {
	CRNIC_CAP_INLINE_L2,	/* layer 2, always */
	CRNIC_CAP_INLINE_VPORT,	/* the vport context */
	CRNIC_CAP_INLINE_NONE,	/* none are needed */
};

/**
 * struct crnic_vport_nic - the NIC vport context, as far as crnic looks at it
 * @mac: permanent address
 * @mtu: MTU including CRNIC_PORT_MTU_OVERHEAD
 * @system_image_guid: GUID of the card
 * @node_guid: GUID of the function
 * @port_guid: GUID of the port
 * @min_inline: minimal inline mode
 * @roce: RoCE is on
 */
struct crnic_vport_nic {
	u8 mac[ETH_ALEN];
	u16 mtu;
	u64 system_image_guid;
	u64 node_guid;
	u64 port_guid;
	u8 min_inline;
	bool roce;
};

int crnic_vport_nic_query(struct crnic_dev *dev, struct crnic_vport_nic *nic);
int crnic_vport_mtu_set(struct crnic_dev *dev, u16 mtu);
int crnic_vport_roce_set(struct crnic_dev *dev, bool on);

enum crnic_vport_promisc {
	CRNIC_PROMISC_UC	= BIT(0),
	CRNIC_PROMISC_MC	= BIT(1),
	CRNIC_PROMISC_ALL	= BIT(2),
};

int crnic_vport_promisc_set(struct crnic_dev *dev, u32 promisc);

enum crnic_vport_list {
	CRNIC_LIST_UC	= 0,
	CRNIC_LIST_MC	= 1,
	CRNIC_LIST_VLAN	= 2,
};

int crnic_vport_macs_set(struct crnic_dev *dev, enum crnic_vport_list type,
			 const u8 *macs, unsigned int num);
int crnic_vport_vlans_set(struct crnic_dev *dev, const u16 *vids, unsigned int num);

/* The table of MAC addresses that a NIC with several hosts leads to this one */
int crnic_l2_table_set(struct crnic_dev *dev, u32 index, const u8 mac[ETH_ALEN]);
int crnic_l2_table_delete(struct crnic_dev *dev, u32 index);

int crnic_vport_state_query(struct crnic_dev *dev, bool *up);

/* Order of the pairs in QUERY_VPORT_COUNTER's reply; the first two are errors and discards */
enum crnic_vport_counter {
	CRNIC_VPORT_RX_ERRORS,
	CRNIC_VPORT_TX_ERRORS,
	CRNIC_VPORT_RX_IB_UC,
	CRNIC_VPORT_TX_IB_UC,
	CRNIC_VPORT_RX_IB_MC,
	CRNIC_VPORT_TX_IB_MC,
	CRNIC_VPORT_RX_ETH_BC,
	CRNIC_VPORT_TX_ETH_BC,
	CRNIC_VPORT_RX_ETH_UC,
	CRNIC_VPORT_TX_ETH_UC,
	CRNIC_VPORT_RX_ETH_MC,
	CRNIC_VPORT_TX_ETH_MC,
	CRNIC_VPORT_COUNTERS
};

struct crnic_traffic {
	u64 packets;
	u64 octets;
};

int crnic_vport_counters_query(struct crnic_dev *dev,
			       struct crnic_traffic counters[CRNIC_VPORT_COUNTERS]);

#endif /* CRNIC_OBJ_VPORT_H */
