// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Flow rules of verbs, which describe a frame header by header */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/in.h>
#include <net/inet_ecn.h>

#include "ib.h"

/* Bits of a VLAN tag */
#define CRNIC_TAG_VID		GENMASK(11, 0)
#define CRNIC_TAG_CFI		BIT(12)
#define CRNIC_TAG_PRIO		GENMASK(15, 13)

/*
 * Each header is turned twice, once for the mask and once for the values.  What
 * there is no place for is seen by its mask.
 */

static void crnic_spec_fill_eth(const struct ib_flow_eth_filter *f, struct crnic_flow_match *m)
{
	u16 tag = be16_to_cpu(f->vlan_tag);

	ether_addr_copy(m->dmac, f->dst_mac);
	ether_addr_copy(m->smac, f->src_mac);
	m->ethertype |= be16_to_cpu(f->ether_type);
	m->vid = FIELD_GET(CRNIC_TAG_VID, tag);
	m->prio = FIELD_GET(CRNIC_TAG_PRIO, tag);
}

static int crnic_spec_eth(struct crnic_dev *dev, const union ib_flow_spec *spec,
			  struct crnic_flow_request *req)
{
	if (be16_to_cpu(spec->eth.mask.vlan_tag) & CRNIC_TAG_CFI)
		return -EOPNOTSUPP;
	crnic_spec_fill_eth(&spec->eth.mask, &req->mask);
	crnic_spec_fill_eth(&spec->eth.val, &req->value);
	if (spec->eth.mask.vlan_tag) {
		req->mask.cvlan_tag = 1;
		req->value.cvlan_tag = 1;
	}
	return 0;
}

/* Return: false if another header wants another protocol */
static bool crnic_spec_proto(struct crnic_flow_request *req, u8 mask, u8 proto)
{
	u8 *have = &req->mask.ip_protocol, *value = &req->value.ip_protocol;

	if ((*value ^ proto) & *have & mask)
		return false;
	*value = (*value & *have) | (proto & mask);
	*have |= mask;
	return true;
}

static void crnic_spec_fill_ipv4(const struct ib_flow_ipv4_filter *f, struct crnic_flow_match *m)
{
	/* in the last four bytes */
	memcpy(m->src_ip + sizeof(m->src_ip) - sizeof(f->src_ip), &f->src_ip, sizeof(f->src_ip));
	memcpy(m->dst_ip + sizeof(m->dst_ip) - sizeof(f->dst_ip), &f->dst_ip, sizeof(f->dst_ip));
	m->dscp = f->tos >> 2;
	m->ecn = f->tos & INET_ECN_MASK;
}

static int crnic_spec_ipv4(struct crnic_dev *dev, const union ib_flow_spec *spec,
			   struct crnic_flow_request *req)
{
	if (spec->ipv4.mask.ttl || spec->ipv4.mask.flags)
		return -EOPNOTSUPP;
	crnic_flow_match_ip(dev, 4, &req->mask, &req->value);
	crnic_spec_fill_ipv4(&spec->ipv4.mask, &req->mask);
	crnic_spec_fill_ipv4(&spec->ipv4.val, &req->value);
	return crnic_spec_proto(req, spec->ipv4.mask.proto, spec->ipv4.val.proto) ? 0 : -EINVAL;
}

static void crnic_spec_fill_ipv6(const struct ib_flow_ipv6_filter *f, struct crnic_flow_match *m)
{
	memcpy(m->src_ip, f->src_ip, sizeof(m->src_ip));
	memcpy(m->dst_ip, f->dst_ip, sizeof(m->dst_ip));
	m->dscp = f->traffic_class >> 2;
	m->ecn = f->traffic_class & INET_ECN_MASK;
}

static int crnic_spec_ipv6(struct crnic_dev *dev, const union ib_flow_spec *spec,
			   struct crnic_flow_request *req)
{
	if (spec->ipv6.mask.flow_label || spec->ipv6.mask.hop_limit)
		return -EOPNOTSUPP;
	crnic_flow_match_ip(dev, 6, &req->mask, &req->value);
	crnic_spec_fill_ipv6(&spec->ipv6.mask, &req->mask);
	crnic_spec_fill_ipv6(&spec->ipv6.val, &req->value);
	return crnic_spec_proto(req, spec->ipv6.mask.next_hdr, spec->ipv6.val.next_hdr) ?
		0 : -EINVAL;
}

static int crnic_spec_tcp(struct crnic_dev *dev, const union ib_flow_spec *spec,
			  struct crnic_flow_request *req)
{
	const struct ib_flow_spec_tcp_udp *s = &spec->tcp_udp;

	if (!crnic_spec_proto(req, 0xff, IPPROTO_TCP))
		return -EINVAL;
	req->mask.tcp_sport = be16_to_cpu(s->mask.src_port);
	req->mask.tcp_dport = be16_to_cpu(s->mask.dst_port);
	req->value.tcp_sport = be16_to_cpu(s->val.src_port);
	req->value.tcp_dport = be16_to_cpu(s->val.dst_port);
	return 0;
}

static int crnic_spec_udp(struct crnic_dev *dev, const union ib_flow_spec *spec,
			  struct crnic_flow_request *req)
{
	const struct ib_flow_spec_tcp_udp *s = &spec->tcp_udp;

	if (!crnic_spec_proto(req, 0xff, IPPROTO_UDP))
		return -EINVAL;
	req->mask.udp_sport = be16_to_cpu(s->mask.src_port);
	req->mask.udp_dport = be16_to_cpu(s->mask.dst_port);
	req->value.udp_sport = be16_to_cpu(s->val.src_port);
	req->value.udp_dport = be16_to_cpu(s->val.dst_port);
	return 0;
}

static int crnic_spec_tag(struct crnic_dev *dev, const union ib_flow_spec *spec,
			  struct crnic_flow_request *req)
{
	req->tag = spec->flow_tag.tag_id;
	return 0;
}

static int crnic_spec_drop(struct crnic_dev *dev, const union ib_flow_spec *spec,
			   struct crnic_flow_request *req)
{
	req->drop = true;
	return 0;
}

/* Headers in the order of a frame; each kind once, and one of those that share a layer */
static const struct crnic_spec_kind {
	u32 type;
	u8 layer;
	int (*parse)(struct crnic_dev *dev, const union ib_flow_spec *spec,
		     struct crnic_flow_request *req);
} crnic_spec_kinds[] = {
	{ IB_FLOW_SPEC_ETH,		BIT(0),	crnic_spec_eth },
	{ IB_FLOW_SPEC_IPV4,		BIT(1),	crnic_spec_ipv4 },
	{ IB_FLOW_SPEC_IPV6,		BIT(1),	crnic_spec_ipv6 },
	{ IB_FLOW_SPEC_TCP,		BIT(2),	crnic_spec_tcp },
	{ IB_FLOW_SPEC_UDP,		BIT(2),	crnic_spec_udp },
	{ IB_FLOW_SPEC_ACTION_TAG,	BIT(3),	crnic_spec_tag },
	{ IB_FLOW_SPEC_ACTION_DROP,	BIT(4),	crnic_spec_drop },
};

static const struct crnic_spec_kind *crnic_spec_find(u32 type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(crnic_spec_kinds); i++)
		if (crnic_spec_kinds[i].type == type)
			return &crnic_spec_kinds[i];
	return NULL;
}

/* Verbs compare under the mask, so what lies outside of it in a value has no meaning */
static void crnic_spec_trim(const struct crnic_flow_match *mask, struct crnic_flow_match *value)
{
	const u8 *m = (const u8 *)mask;
	u8 *v = (u8 *)value;
	size_t i;

	for (i = 0; i < sizeof(*mask); i++)
		v[i] &= m[i];
}

/**
 * crnic_flow_spec_parse - read a rule of verbs
 * @dev: device
 * @attr: rule; ib_core has checked the sizes of its headers
 * @req: zeros, filled except for where the frame goes
 *
 * Return: 0, -EOPNOTSUPP for what crnic has not, -EINVAL for what makes no sense.
 */
int crnic_flow_spec_parse(struct crnic_dev *dev, const struct ib_flow_attr *attr,
			  struct crnic_flow_request *req)
{
	const union ib_flow_spec *spec = attr->flows;
	unsigned int i, layers = 0;
	int err;

	if (attr->type != IB_FLOW_ATTR_NORMAL || attr->flags)
		return -EOPNOTSUPP;
	req->prio = attr->priority;
	for (i = 0; i < attr->num_of_specs; i++) {
		const struct crnic_spec_kind *kind = crnic_spec_find(spec->type);

		if (!kind)
			return -EOPNOTSUPP;
		if (layers & kind->layer)
			return -EINVAL;
		layers |= kind->layer;
		err = kind->parse(dev, spec, req);
		if (err)
			return err;
		spec = (const void *)spec + spec->size;
	}
	crnic_spec_trim(&req->mask, &req->value);
	return crnic_flow_check(req);
}

/**
 * crnic_ib_create_flow - lead frames to a raw packet QP, or nowhere
 * @ibqp: QP
 * @attr: which frames
 * @udata: the library's description of counters, which there are none of
 *
 * Context: process; ib_core has checked the right to do it.
 * Return: the rule or an errno.
 */
struct ib_flow *crnic_ib_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				     struct ib_udata *udata)
{
	struct crnic_ib *ib = to_cib(ibqp->device);
	struct crnic_flow_request req = { .dest.type = CRNIC_FLOW_TO_TIR };
	struct crnic_ib_flow *flow;
	int err;

	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return ERR_PTR(-EOPNOTSUPP);
	err = crnic_raw_tirn(to_cqp(ibqp), &req.dest.id);
	if (err)
		return ERR_PTR(err);
	err = crnic_flow_spec_parse(ib->dev, attr, &req);
	if (err)
		return ERR_PTR(err);

	flow = crnic_flow_add(ib->flows, &req);
	return IS_ERR(flow) ? ERR_CAST(flow) : &flow->ibflow;
}
