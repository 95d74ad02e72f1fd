// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Capabilities: choose what is put in force, then keep what is.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "core.h"

/* SET_HCA_CAP: what the driver asks for at most (mlx5_core: main.c, LOG_MAX_SUPPORTED_QPS) */
#define CRNIC_CAPS_LOG_MAX_QP	18

/* Capability bits that are taken as far as the device has them */
static void crnic_caps_take_max(const struct crnic_dev *dev, __be32 *cap, const __be32 *max)
{
	if (MLX5_GET(cmd_hca_cap, max, roce_rw_supported))
		MLX5_SET(cmd_hca_cap, cap, roce,
			 MLX5_GET(cmd_hca_cap, max, roce) && dev->cfg.roce);
	if (MLX5_GET(cmd_hca_cap, max, cache_line_128byte))
		MLX5_SET(cmd_hca_cap, cap, cache_line_128byte, cache_line_size() >= 128);
	MLX5_SET(cmd_hca_cap, cap, log_max_qp,
		 min_t(u8, CRNIC_CAPS_LOG_MAX_QP, MLX5_GET(cmd_hca_cap, max, log_max_qp)));
	/* a UAR is one adapter page, also where system pages are larger */
	if (MLX5_GET(cmd_hca_cap, max, uar_4k) && PAGE_SHIFT > CRNIC_ADAPTER_PAGE_SHIFT)
		MLX5_SET(cmd_hca_cap, cap, uar_4k, 1);
}

static void crnic_caps_choose(const struct crnic_dev *dev, __be32 *cap, const __be32 *max)
{
	crnic_caps_take_max(dev, cap, max);
	/* 0 stands for the 128 entries that are not looked at on Ethernet */
	MLX5_SET(cmd_hca_cap, cap, pkey_table_size, 0);
	/* command signatures are of no use on a bus with checksums */
	MLX5_SET(cmd_hca_cap, cap, cmdif_checksum, 0);
	/* the doorbell pages of a process fill whole system pages: nobody else's lie beside them */
	MLX5_SET(cmd_hca_cap, cap, log_uar_page_sz, PAGE_SHIFT - CRNIC_ADAPTER_PAGE_SHIFT);
}

/* The answer to an atomic lands in the byte order of the host only if that was asked for */
static int crnic_caps_set_atomic(struct crnic_dev *dev, __be32 *cap)
{
	int err;

	err = crnic_fw_cap_query(dev, MLX5_CAP_ATOMIC, true, cap);
	if (err || !MLX5_GET(atomic_caps, cap, supported_atomic_req_8B_endianness_mode_1))
		return err;

	memset(cap, 0, MLX5_UN_SZ_BYTES(hca_cap_union));
	MLX5_SET(atomic_caps, cap, atomic_req_8B_endianness_mode, 1);
	return crnic_fw_cap_set(dev, MLX5_CAP_ATOMIC, cap);
}

/**
 * crnic_caps_negotiate - put in force what the driver wants of the device
 * @dev: device, before INIT_HCA
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_caps_negotiate(struct crnic_dev *dev)
{
	size_t size = MLX5_UN_SZ_BYTES(hca_cap_union);
	__be32 *cur, *max;
	int err = -ENOMEM;

	cur = kzalloc(size, GFP_KERNEL);
	max = kzalloc(size, GFP_KERNEL);
	if (!cur || !max)
		goto free;

	err = crnic_fw_cap_query(dev, MLX5_CAP_GENERAL, true, max);
	if (err)
		goto free;
	err = crnic_fw_cap_query(dev, MLX5_CAP_GENERAL, false, cur);
	if (err)
		goto free;
	dev->has_roce = MLX5_GET(cmd_hca_cap, max, roce);
	crnic_caps_choose(dev, cur, max);
	err = crnic_fw_cap_set(dev, MLX5_CAP_GENERAL, cur);
	if (!err && MLX5_GET(cmd_hca_cap, max, atomic))
		err = crnic_caps_set_atomic(dev, cur);
free:
	kfree(max);
	kfree(cur);
	return err;
}

/* Each type is there only if GENERAL says so; reading another one is an error */
#define CRNIC_CAPS_GATE(name, field)					\
	static bool crnic_caps_has_##name(const struct crnic_dev *dev)	\
	{								\
		return CRNIC_CAP_GEN(dev, field);			\
	}

CRNIC_CAPS_GATE(eth, eth_net_offloads)
CRNIC_CAPS_GATE(odp, pg)
CRNIC_CAPS_GATE(atomic, atomic)
CRNIC_CAPS_GATE(roce, roce)
CRNIC_CAPS_GATE(flow_table, nic_flow_table)
CRNIC_CAPS_GATE(general_2, hca_cap_2)

static const struct {
	u16 type;
	bool (*has)(const struct crnic_dev *dev);
} crnic_caps_types[CRNIC_CAPS_NUM] = {
	[CRNIC_CAPS_GENERAL]	= { MLX5_CAP_GENERAL },
	[CRNIC_CAPS_ETH]	= { MLX5_CAP_ETHERNET_OFFLOADS, crnic_caps_has_eth },
	[CRNIC_CAPS_ODP]	= { MLX5_CAP_ODP, crnic_caps_has_odp },
	[CRNIC_CAPS_ATOMIC]	= { MLX5_CAP_ATOMIC, crnic_caps_has_atomic },
	[CRNIC_CAPS_ROCE]	= { MLX5_CAP_ROCE, crnic_caps_has_roce },
	[CRNIC_CAPS_FLOW_TABLE]	= { MLX5_CAP_FLOW_TABLE, crnic_caps_has_flow_table },
	[CRNIC_CAPS_GENERAL_2]	= { MLX5_CAP_GENERAL_2, crnic_caps_has_general_2 },
};

/* What everything after this leans on; a device without it is refused here, in words */
static int crnic_caps_check(struct crnic_dev *dev)
{
	const char *missing = NULL;

	if (CRNIC_CAP_GEN(dev, port_type) != MLX5_CAP_PORT_TYPE_ETH)
		missing = "an Ethernet port";
	else if (CRNIC_CAP_GEN(dev, num_ports) != 1)
		missing = "exactly one port per function";
	else if (!CRNIC_CAP_GEN(dev, eth_net_offloads) || !CRNIC_CAP_GEN(dev, nic_flow_table))
		missing = "Ethernet offloads and flow tables";
	else if (!CRNIC_CAP_GEN(dev, log_max_qp) || !CRNIC_CAP_GEN(dev, log_max_cq))
		missing = "queue pairs and completion queues";
	if (!missing)
		return 0;

	crnic_err(dev, "device lacks %s\n", missing);
	return -EOPNOTSUPP;
}

/**
 * crnic_caps_read - keep the capabilities in force
 * @dev: device, after INIT_HCA; @dev->caps is filled in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_caps_read(struct crnic_dev *dev)
{
	unsigned int i;
	int err;

	dev->caps = kvzalloc(sizeof(*dev->caps), GFP_KERNEL);
	if (!dev->caps)
		return -ENOMEM;

	for (i = 0; i < CRNIC_CAPS_NUM; i++) {
		if (crnic_caps_types[i].has && !crnic_caps_types[i].has(dev))
			continue;
		err = crnic_fw_cap_query(dev, crnic_caps_types[i].type, false, dev->caps->cur[i]);
		if (err)
			goto free;
	}
	err = crnic_caps_check(dev);
	if (err)
		goto free;
	err = crnic_fw_adapter_query(dev);
	if (err)
		goto free;
	return 0;

free:
	crnic_caps_free(dev);
	return err;
}

/**
 * crnic_caps_free - undo crnic_caps_read()
 * @dev: device
 */
void crnic_caps_free(struct crnic_dev *dev)
{
	kvfree(dev->caps);
	dev->caps = NULL;
}
