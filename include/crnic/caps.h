/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_CAPS_H
#define CRNIC_CAPS_H

#include <crnic/hw.h>

struct crnic_dev;

/* The capability types that crnic reads; indices of struct crnic_caps */
enum crnic_cap_type {
	CRNIC_CAPS_GENERAL,
	CRNIC_CAPS_ETH,
	CRNIC_CAPS_ODP,
	CRNIC_CAPS_ATOMIC,
	CRNIC_CAPS_ROCE,
	CRNIC_CAPS_FLOW_TABLE,
	CRNIC_CAPS_GENERAL_2,
	CRNIC_CAPS_NUM
};

/**
 * struct crnic_caps - current capabilities, big endian as the device gave them
 * @cur: one page of raw capability bits per type; zero if the type is absent
 *
 * Filled by the caps stage, constant from then on: readers need no lock.
 */
struct crnic_caps {
	__be32 cur[CRNIC_CAPS_NUM][MLX5_UN_SZ_DW(hca_cap_union)];
};

#define CRNIC_CAP_GEN(dev, f) \
	MLX5_GET(cmd_hca_cap, (dev)->caps->cur[CRNIC_CAPS_GENERAL], f)
#define CRNIC_CAP_GEN_64(dev, f) \
	MLX5_GET64(cmd_hca_cap, (dev)->caps->cur[CRNIC_CAPS_GENERAL], f)
#define CRNIC_CAP_GEN2(dev, f) \
	MLX5_GET(cmd_hca_cap_2, (dev)->caps->cur[CRNIC_CAPS_GENERAL_2], f)
#define CRNIC_CAP_ETH(dev, f) \
	MLX5_GET(per_protocol_networking_offload_caps, \
		 (dev)->caps->cur[CRNIC_CAPS_ETH], f)
#define CRNIC_CAP_ODP(dev, f) \
	MLX5_GET(odp_cap, (dev)->caps->cur[CRNIC_CAPS_ODP], f)
#define CRNIC_CAP_ATOMIC(dev, f) \
	MLX5_GET(atomic_caps, (dev)->caps->cur[CRNIC_CAPS_ATOMIC], f)
#define CRNIC_CAP_ROCE(dev, f) \
	MLX5_GET(roce_cap, (dev)->caps->cur[CRNIC_CAPS_ROCE], f)
#define CRNIC_CAP_FT_NIC_RX(dev, f) \
	MLX5_GET(flow_table_nic_cap, (dev)->caps->cur[CRNIC_CAPS_FLOW_TABLE], \
		 flow_table_properties_nic_receive.f)

#endif /* CRNIC_CAPS_H */
