// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening a device, choosing its GID, asking for its limits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "device.h"

#define INLINE_MOST	512	/* more is not tried */

static struct ibv_context *open_named(const char *name)
{
	struct ibv_device **list, **d;
	struct ibv_context *ctx = NULL;

	list = ibv_get_device_list(NULL);
	if (!list)
		return NULL;
	for (d = list; *d && !ctx; d++)
		if (!name || !strcmp(name, ibv_get_device_name(*d)))
			ctx = ibv_open_device(*d);
	ibv_free_device_list(list);
	return ctx;
}

static bool gid_is_v4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

static bool gid_is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

static bool gid_matches(const struct ibv_gid_entry *e, const char *spec)
{
	bool v1 = strstr(spec, "/v1"), v4 = gid_is_v4(&e->gid), ll = gid_is_link_local(&e->gid);

	if (e->gid_type != (v1 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2))
		return false;
	if (!strncmp(spec, "v4", 2))
		return v4;
	return !v4 && ll == !strncmp(spec, "ll", 2);
}

static int find_gid(struct device *dev, const char *spec, struct verdict *v)
{
	struct ibv_gid_entry e;
	char *end;
	long index = strtol(spec, &end, 10);
	int i;

	for (i = 0; i < dev->port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(dev->ctx, DEVICE_PORT, i, &e, 0))
			continue;
		if (*end ? !gid_matches(&e, spec) : i != index)
			continue;
		dev->gid_index = i;
		dev->gid = e.gid;
		dev->gid_type = e.gid_type;
		return 0;
	}
	return verdict_fail(v, "%s has no GID %s", ibv_get_device_name(dev->ctx->device), spec);
}

static int query(struct device *dev, const char *gid, struct verdict *v)
{
	if (ibv_query_device(dev->ctx, &dev->attr))
		return verdict_fail(v, "query_device: %s", strerror(errno));
	if (ibv_query_port(dev->ctx, DEVICE_PORT, &dev->port))
		return verdict_fail(v, "query_port: %s", strerror(errno));
	if (dev->port.state != IBV_PORT_ACTIVE)
		return verdict_fail(v, "port is %s", ibv_port_state_str(dev->port.state));
	if (find_gid(dev, gid, v))
		return -1;
	dev->pd = ibv_alloc_pd(dev->ctx);
	return dev->pd ? 0 : verdict_fail(v, "alloc_pd: %s", strerror(errno));
}

int device_open(struct device *dev, const char *name, const char *gid, struct verdict *v)
{
	int fl;

	memset(dev, 0, sizeof(*dev));
	dev->ctx = open_named(name);
	if (!dev->ctx)
		return verdict_fail(v, "no RDMA device %s", name ? name : "at all");
	fl = fcntl(dev->ctx->async_fd, F_GETFL);
	fcntl(dev->ctx->async_fd, F_SETFL, fl | O_NONBLOCK);
	if (!query(dev, gid, v))
		return 0;
	device_close(dev);
	return -1;
}

void device_close(struct device *dev)
{
	if (dev->pd)
		ibv_dealloc_pd(dev->pd);
	if (dev->ctx)
		ibv_close_device(dev->ctx);
	dev->pd = NULL;
	dev->ctx = NULL;
}

/* No attribute tells how much inline data a device takes: it is asked for and granted, or not. */
static uint32_t probe_inline(const struct device *dev)
{
	struct ibv_qp_init_attr attr;
	struct ibv_qp *qp = NULL;
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 4, NULL, NULL, 0);
	uint32_t ask, got = 0;

	for (ask = INLINE_MOST; cq && !qp && ask >= 32; ask /= 2) {
		attr = (struct ibv_qp_init_attr){ .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC };
		attr.cap = (struct ibv_qp_cap){ .max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
						.max_inline_data = ask };
		qp = ibv_create_qp(dev->pd, &attr);
		got = ask;
	}
	if (qp)
		ibv_destroy_qp(qp);
	if (cq)
		ibv_destroy_cq(cq);
	return qp ? got : 0;
}

void device_caps(const struct device *dev, struct caps *caps)
{
	int depth = dev->attr.max_qp_rd_atom;

	if (dev->attr.max_qp_init_rd_atom < depth)
		depth = dev->attr.max_qp_init_rd_atom;
	caps->max_sge = dev->attr.max_sge;
	caps->max_inline = probe_inline(dev);
	caps->rd_atomic = depth > 16 ? 16 : depth;
	caps->mtu = dev->port.active_mtu;
	caps->atomics = dev->attr.atomic_cap != IBV_ATOMIC_NONE;
}

static bool event_names_qp(const struct ibv_async_event *e, enum ibv_event_type type, uint32_t qpn)
{
	return e->event_type == type && e->element.qp->qp_num == qpn;
}

bool device_event(const struct device *dev, enum ibv_event_type type, uint32_t qpn, uint64_t deadline)
{
	struct pollfd p = { .fd = dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event e;
	bool found = false;

	while (!found && poll(&p, 1, clock_left_ms(deadline)) == 1) {
		if (ibv_get_async_event(dev->ctx, &e))
			break;
		found = event_names_qp(&e, type, qpn);
		ibv_ack_async_event(&e);
	}
	return found;
}
