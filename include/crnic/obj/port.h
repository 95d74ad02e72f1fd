/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_PORT_H
#define CRNIC_OBJ_PORT_H

#include <linux/types.h>

struct crnic_dev;

int crnic_port_admin_set(struct crnic_dev *dev, bool up);

/**
 * struct crnic_port_mtu - PMTU register; bytes, including CRNIC_PORT_MTU_OVERHEAD
 * @max: largest possible
 * @admin: wanted
 * @oper: in use
 */
struct crnic_port_mtu {
	u16 max;
	u16 admin;
	u16 oper;
};

int crnic_port_mtu_query(struct crnic_dev *dev, struct crnic_port_mtu *mtu);
int crnic_port_mtu_set(struct crnic_dev *dev, u16 mtu);

/**
 * struct crnic_port_type - PTYS register
 * @ext: the masks are of the extended kind
 * @cap: link modes the port can do, bits of enum mlx5e_link_mode in <linux/mlx5/port.h>
 * @admin: link modes enabled
 * @oper: link mode in use; 0 with the link down
 * @autoneg: auto-negotiation state
 * @connector: connector type
 * @speed: Mb/s of @oper, or of the fastest of @cap; 0 if unknown
 */
struct crnic_port_type {
	bool ext;
	u32 cap;
	u32 admin;
	u32 oper;
	u8 autoneg;
	u8 connector;
	u32 speed;
};

int crnic_port_type_query(struct crnic_dev *dev, struct crnic_port_type *type);

/* PFCC register */
int crnic_port_pause_query(struct crnic_dev *dev, bool *rx, bool *tx);
int crnic_port_pause_set(struct crnic_dev *dev, bool rx, bool tx);

/* PPCNT groups; each is a list of 64-bit counters in the order of mlx5_ifc.h */
#define CRNIC_PORT_COUNTERS_MAX	31

int crnic_port_counters_query(struct crnic_dev *dev, u8 group, u8 prio,
			      u64 counters[CRNIC_PORT_COUNTERS_MAX]);

#endif /* CRNIC_OBJ_PORT_H */
