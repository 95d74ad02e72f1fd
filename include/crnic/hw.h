/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_HW_H
#define CRNIC_HW_H

/*
 * The hardware interface.  All of its layouts come from the kernel's own
 * headers: mlx5_ifc.h for commands, contexts and registers, device.h for EQEs,
 * CQEs and the command entry.  The WQE segments are in <linux/mlx5/qp.h>, which
 * drags in the vendor driver's private header and is therefore included by
 * <crnic/wqe.h> alone.
 */
#include <linux/bits.h>
#include <linux/mlx5/device.h>
#include <linux/types.h>

/* Adapter pages are 4 KiB, whatever PAGE_SIZE is */
#define CRNIC_ADAPTER_PAGE_SHIFT	12
#define CRNIC_ADAPTER_PAGE_SIZE		BIT(CRNIC_ADAPTER_PAGE_SHIFT)

/* SQ basic block and CQE, EQE sizes */
#define CRNIC_WQE_BB_SHIFT		6
#define CRNIC_WQE_BB			BIT(CRNIC_WQE_BB_SHIFT)

/* PSID of the board, query_adapter_struct */
#define CRNIC_BOARD_ID_LEN		16

/* An lkey that ends a scatter list early (mlx5_ifc.h has no name for it) */
#define CRNIC_INVALID_LKEY		0x100

/* Layer 2 overhead that PMTU counts and an IP MTU does not: Ethernet header, VLAN tag, FCS */
#define CRNIC_PORT_MTU_OVERHEAD		22

/* Numbers of access registers: <linux/mlx5/driver.h> is the vendor driver's own */
#define CRNIC_REG_PMTU			0x5003
#define CRNIC_REG_PTYS			0x5004
#define CRNIC_REG_PAOS			0x5006
#define CRNIC_REG_PFCC			0x5007
#define CRNIC_REG_PPCNT			0x5008
#define CRNIC_REG_NODE_DESC		0x6001
#define CRNIC_REG_HOST_ENDIANNESS	0x7004

#endif /* CRNIC_HW_H */
