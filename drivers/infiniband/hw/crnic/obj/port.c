// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registers of the physical port.
 */
#include <linux/bits.h>

#include <crnic/crnic.h>
#include <crnic/obj/port.h>

#define CRNIC_PORT		1

#define CRNIC_PAOS_UP		1
#define CRNIC_PAOS_DOWN		2

#define CRNIC_PTYS_ETH		4

/**
 * crnic_port_admin_set - switch the port on or off
 * @dev: device
 * @up: on
 *
 * Context: process.  An event follows when the link has changed.
 * Return: 0 or a negative errno.
 */
int crnic_port_admin_set(struct crnic_dev *dev, bool up)
{
	u32 reg[MLX5_ST_SZ_DW(paos_reg)] = {};

	MLX5_SET(paos_reg, reg, local_port, CRNIC_PORT);
	MLX5_SET(paos_reg, reg, admin_status, up ? CRNIC_PAOS_UP : CRNIC_PAOS_DOWN);
	MLX5_SET(paos_reg, reg, ase, 1);
	return crnic_reg_write(dev, CRNIC_REG_PAOS, reg, sizeof(reg));
}

/**
 * crnic_port_mtu_query - read the MTU register
 * @dev: device
 * @mtu: filled in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_port_mtu_query(struct crnic_dev *dev, struct crnic_port_mtu *mtu)
{
	u32 reg[MLX5_ST_SZ_DW(pmtu_reg)] = {};
	int err;

	MLX5_SET(pmtu_reg, reg, local_port, CRNIC_PORT);
	err = crnic_reg_read(dev, CRNIC_REG_PMTU, reg, sizeof(reg));
	mtu->max = MLX5_GET(pmtu_reg, reg, max_mtu);
	mtu->admin = MLX5_GET(pmtu_reg, reg, admin_mtu);
	mtu->oper = MLX5_GET(pmtu_reg, reg, oper_mtu);
	return err;
}

/**
 * crnic_port_mtu_set - change the port's MTU
 * @dev: device
 * @mtu: bytes, CRNIC_PORT_MTU_OVERHEAD included
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_port_mtu_set(struct crnic_dev *dev, u16 mtu)
{
	u32 reg[MLX5_ST_SZ_DW(pmtu_reg)] = {};

	MLX5_SET(pmtu_reg, reg, local_port, CRNIC_PORT);
	MLX5_SET(pmtu_reg, reg, admin_mtu, mtu);
	return crnic_reg_write(dev, CRNIC_REG_PMTU, reg, sizeof(reg));
}

/**
 * struct crnic_port_speed - speed of some link modes
 * @mbps: Mb/s
 * @modes: bits of PTYS
 */
struct crnic_port_speed {
	u32 mbps;
	u32 modes;
};

/* Fastest first; bits as in enum mlx5e_link_mode and mlx5e_ext_link_mode of <linux/mlx5/port.h> */
static const struct crnic_port_speed crnic_port_speeds[] = {
	{ 100000,	GENMASK(23, 20) },
	{ 56000,	BIT(8) },
	{ 50000,	GENMASK(31, 30) | BIT(18) },
	{ 40000,	GENMASK(16, 15) | GENMASK(7, 6) },
	{ 25000,	GENMASK(29, 27) },
	{ 20000,	BIT(5) },
	{ 10000,	BIT(26) | GENMASK(14, 12) | GENMASK(4, 2) },
	{ 1000,		BIT(25) | GENMASK(1, 0) },
	{ 100,		BIT(24) },
	{}
};

static const struct crnic_port_speed crnic_port_ext_speeds[] = {
	{ 800000,	BIT(19) },
	{ 400000,	GENMASK(16, 15) },
	{ 200000,	GENMASK(13, 12) },
	{ 100000,	GENMASK(11, 9) },
	{ 50000,	GENMASK(8, 7) },
	{ 25000,	BIT(6) },
	{ 40000,	BIT(5) },
	{ 10000,	BIT(4) },
	{ 5000,		BIT(3) },
	{ 1000,		BIT(1) },
	{ 100,		BIT(0) },
	{}
};

static u32 crnic_port_fastest(u32 modes, bool ext)
{
	const struct crnic_port_speed *s = ext ? crnic_port_ext_speeds : crnic_port_speeds;

	while (s->mbps && !(s->modes & modes))
		s++;
	return s->mbps;
}

/**
 * crnic_port_type_query - link modes and speed
 * @dev: device
 * @type: filled in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_port_type_query(struct crnic_dev *dev, struct crnic_port_type *type)
{
	u32 reg[MLX5_ST_SZ_DW(ptys_reg)] = {};
	int err;

	MLX5_SET(ptys_reg, reg, local_port, CRNIC_PORT);
	MLX5_SET(ptys_reg, reg, proto_mask, CRNIC_PTYS_ETH);
	err = crnic_reg_read(dev, CRNIC_REG_PTYS, reg, sizeof(reg));
	if (err)
		return err;

	type->ext = MLX5_GET(ptys_reg, reg, ext_eth_proto_capability);
	if (type->ext) {
		type->cap = MLX5_GET(ptys_reg, reg, ext_eth_proto_capability);
		type->admin = MLX5_GET(ptys_reg, reg, ext_eth_proto_admin);
		type->oper = MLX5_GET(ptys_reg, reg, ext_eth_proto_oper);
	} else {
		type->cap = MLX5_GET(ptys_reg, reg, eth_proto_capability);
		type->admin = MLX5_GET(ptys_reg, reg, eth_proto_admin);
		type->oper = MLX5_GET(ptys_reg, reg, eth_proto_oper);
	}
	type->autoneg = MLX5_GET(ptys_reg, reg, an_status);
	type->connector = MLX5_GET(ptys_reg, reg, connector_type);
	type->speed = crnic_port_fastest(type->oper ?: type->cap, type->ext);
	return 0;
}

/**
 * crnic_port_pause_query - is global pause on?
 * @dev: device
 * @rx: pause frames that arrive are honoured
 * @tx: pause frames are sent
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_port_pause_query(struct crnic_dev *dev, bool *rx, bool *tx)
{
	u32 reg[MLX5_ST_SZ_DW(pfcc_reg)] = {};
	int err;

	MLX5_SET(pfcc_reg, reg, local_port, CRNIC_PORT);
	err = crnic_reg_read(dev, CRNIC_REG_PFCC, reg, sizeof(reg));
	*rx = MLX5_GET(pfcc_reg, reg, pprx);
	*tx = MLX5_GET(pfcc_reg, reg, pptx);
	return err;
}

/**
 * crnic_port_pause_set - switch global pause on or off
 * @dev: device
 * @rx: honour pause frames
 * @tx: send pause frames
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_port_pause_set(struct crnic_dev *dev, bool rx, bool tx)
{
	u32 reg[MLX5_ST_SZ_DW(pfcc_reg)] = {};

	MLX5_SET(pfcc_reg, reg, local_port, CRNIC_PORT);
	MLX5_SET(pfcc_reg, reg, pprx, rx);
	MLX5_SET(pfcc_reg, reg, pptx, tx);
	return crnic_reg_write(dev, CRNIC_REG_PFCC, reg, sizeof(reg));
}

/**
 * crnic_port_counters_query - read a group of port counters
 * @dev: device
 * @group: MLX5_*_COUNTERS_GROUP
 * @prio: priority, for groups that have one each
 * @counters: filled in, in the order of the group's layout in mlx5_ifc.h
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_port_counters_query(struct crnic_dev *dev, u8 group, u8 prio,
			      u64 counters[CRNIC_PORT_COUNTERS_MAX])
{
	u32 reg[MLX5_ST_SZ_DW(ppcnt_reg)] = {};
	__be64 *set = MLX5_ADDR_OF(ppcnt_reg, reg, counter_set);
	unsigned int i;
	int err;

	MLX5_SET(ppcnt_reg, reg, local_port, CRNIC_PORT);
	MLX5_SET(ppcnt_reg, reg, grp, group);
	MLX5_SET(ppcnt_reg, reg, prio_tc, prio);
	err = crnic_reg_read(dev, CRNIC_REG_PPCNT, reg, sizeof(reg));
	for (i = 0; i < CRNIC_PORT_COUNTERS_MAX; i++)
		counters[i] = be64_to_cpu(set[i]);
	return err;
}
