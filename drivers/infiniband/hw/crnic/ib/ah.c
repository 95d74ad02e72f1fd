// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles.  The device has no such object: an address vector goes with
 * each datagram.  The library builds its own and asks only for the MAC that
 * ib_core resolved; the kernel's is kept ready here.
 */
#include <linux/etherdevice.h>
#include <net/inet_ecn.h>
#include <rdma/ib_cache.h>

#include "ib.h"

#define CRNIC_AV_GRH		BIT(30)
#define CRNIC_AV_SGID_SHIFT	20
#define CRNIC_AV_SL_SHIFT	1

static __be16 crnic_av_udp_sport(const struct crnic_dev *dev, const struct ib_global_route *grh)
{
	if (grh->sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return 0;
	if (grh->flow_label & IB_GRH_FLOWLABEL_MASK)
		return cpu_to_be16(rdma_flow_label_to_udp_sport(grh->flow_label));
	return cpu_to_be16(CRNIC_CAP_ROCE(dev, r_roce_min_src_udp_port));
}

static void crnic_av_fill(const struct crnic_dev *dev, const struct rdma_ah_attr *attr,
			  struct mlx5_av *av)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	memset(av, 0, sizeof(*av));
	memcpy(av->rgid, grh->dgid.raw, sizeof(av->rgid));
	av->grh_gid_fl = cpu_to_be32(CRNIC_AV_GRH | (u32)grh->sgid_index << CRNIC_AV_SGID_SHIFT |
				     (grh->flow_label & IB_GRH_FLOWLABEL_MASK));
	av->hop_limit = grh->hop_limit;
	av->tclass = grh->traffic_class;
	av->stat_rate_sl = (rdma_ah_get_sl(attr) & 7) << CRNIC_AV_SL_SHIFT;
	av->udp_sport = crnic_av_udp_sport(dev, grh);
	/* a card does so for datagrams; connected QPs have a field for it (mlx5_ib: ah.c) */
	if (grh->sgid_attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP)
		av->tclass |= INET_ECN_ECT_0;
	ether_addr_copy(av->rmac, attr->roce.dmac);
}

static int crnic_ah_respond(const struct rdma_ah_attr *attr, struct ib_udata *udata)
{
	struct mlx5_ib_create_ah_resp resp = {
		.response_length = offsetofend(struct mlx5_ib_create_ah_resp, dmac),
	};

	if (udata->outlen < resp.response_length)
		return -EINVAL;

	ether_addr_copy(resp.dmac, attr->roce.dmac);
	return ib_copy_to_udata(udata, &resp, resp.response_length);
}

/**
 * crnic_ib_create_ah - create an address handle
 * @ibah: handle
 * @init: address; ib_core has resolved the MAC and holds the source GID
 * @udata: NULL for the kernel; the library takes the MAC
 *
 * Context: the kernel's callers may not sleep, and nothing here does.
 * Return: 0, or -EINVAL for an address without a GRH or too little room.
 */
int crnic_ib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	const struct rdma_ah_attr *attr = init->ah_attr;

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return -EINVAL;

	crnic_av_fill(to_cdev(ibah->device), attr, &to_cah(ibah)->av);
	to_cah(ibah)->tclass = rdma_ah_read_grh(attr)->traffic_class;
	return udata ? crnic_ah_respond(attr, udata) : 0;
}

/**
 * crnic_ib_query_ah - tell an address handle's address
 * @ibah: handle
 * @attr: answer
 *
 * Return: 0.
 */
int crnic_ib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	const struct mlx5_av *av = &to_cah(ibah)->av;
	u32 grh = be32_to_cpu(av->grh_gid_fl);

	memset(attr, 0, sizeof(*attr));
	attr->type = ibah->type;
	rdma_ah_set_port_num(attr, CRNIC_PORT);
	rdma_ah_set_sl(attr, av->stat_rate_sl >> CRNIC_AV_SL_SHIFT & 7);
	rdma_ah_set_grh(attr, NULL, grh & IB_GRH_FLOWLABEL_MASK, grh >> CRNIC_AV_SGID_SHIFT & 0xff,
			av->hop_limit, to_cah(ibah)->tclass);
	rdma_ah_set_dgid_raw(attr, (void *)av->rgid);
	ether_addr_copy(attr->roce.dmac, av->rmac);
	return 0;
}

/**
 * crnic_ib_destroy_ah - nothing to undo
 * @ibah: handle
 * @flags: whether sleeping is allowed
 *
 * Return: 0.
 */
int crnic_ib_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
