// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits that hold when they are reached. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duo.h"
#include "limit.h"

#define OBJECTS_MOST	4096	/* more are not created to see where it ends */

struct pool {
	struct side *s;
	struct ibv_cq *cq;
	void **obj;
	unsigned int count;
	char page[64];
};

static void *new_pd(struct pool *p)
{
	return ibv_alloc_pd(p->s->dev.ctx);
}

static void *new_cq(struct pool *p)
{
	return ibv_create_cq(p->s->dev.ctx, 1, NULL, NULL, 0);
}

static void *new_qp(struct pool *p)
{
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC, .send_cq = p->cq, .recv_cq = p->cq };

	a.cap = (struct ibv_qp_cap){ .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 };
	return ibv_create_qp(p->s->dev.pd, &a);
}

static void *new_mr(struct pool *p)
{
	return ibv_reg_mr(p->s->dev.pd, p->page, sizeof(p->page), IBV_ACCESS_LOCAL_WRITE);
}

static void free_pd(void *o) { ibv_dealloc_pd(o); }
static void free_cq(void *o) { ibv_destroy_cq(o); }
static void free_qp(void *o) { ibv_destroy_qp(o); }
static void free_mr(void *o) { ibv_dereg_mr(o); }

static const struct {
	const char *name;
	size_t offset;		/* of the limit in struct ibv_device_attr */
	void *(*create)(struct pool *p);
	void (*destroy)(void *o);
} objects[] = {
	[LIMIT_PD] = { "max_pd", offsetof(struct ibv_device_attr, max_pd), new_pd, free_pd },
	[LIMIT_CQ] = { "max_cq", offsetof(struct ibv_device_attr, max_cq), new_cq, free_cq },
	[LIMIT_QP] = { "max_qp", offsetof(struct ibv_device_attr, max_qp), new_qp, free_qp },
	[LIMIT_MR] = { "max_mr", offsetof(struct ibv_device_attr, max_mr), new_mr, free_mr },
};

static int fill_pool(struct pool *p, enum limit_object kind)
{
	int most = *(int *)((char *)&p->s->dev.attr + objects[kind].offset);
	void *o;

	if (most > OBJECTS_MOST)
		return verdict_skip(&p->s->verdict, "more of them than this test creates");
	p->obj = calloc(most + 1, sizeof(*p->obj));
	errno = 0;
	for (o = p; o && p->count <= (unsigned int)most; p->count += !!o) {
		o = objects[kind].create(p);
		p->obj[p->count < (unsigned int)most ? p->count : (unsigned int)most] = o;
	}
	/* What the kernel and this process hold already counts too, so a few less may be left. */
	if (p->count + 16 < (unsigned int)most)
		return side_fail(p->s, "%s is %d, but number %u gave: %s", objects[kind].name, most, p->count + 1, strerror(errno));
	if (p->count > (unsigned int)most)
		return side_fail(p->s, "%s is %d, but one more could be created", objects[kind].name, most);
	if (errno != ENOMEM && errno != ENOSPC)
		return side_fail(p->s, "%s reached: %s, expected %s", objects[kind].name, strerror(errno), strerror(ENOMEM));
	p->s->messages = p->count;
	return 0;
}

int limit_objects(struct side *s, const void *arg)
{
	enum limit_object kind = *(const enum limit_object *)arg;
	struct pool p = { .s = s };
	int err;

	if (!s->active)
		return side_sync(s);
	p.cq = ibv_create_cq(s->dev.ctx, 16, NULL, NULL, 0);
	err = p.cq ? fill_pool(&p, kind) : side_fail(s, "create_cq: %s", strerror(errno));
	while (p.obj && p.count)
		objects[kind].destroy(p.obj[--p.count]);
	free(p.obj);
	if (p.cq)
		ibv_destroy_cq(p.cq);
	return err ? err : side_sync(s);
}

/* --- sizes --- */

struct ring {
	const char *what;
	struct ibv_qp_cap cap;
	bool fits;
};

static int try_ring(struct side *s, struct ibv_cq *cq, const struct ring *g)
{
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = g->cap };
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp(s->dev.pd, &a);
	if (qp)
		ibv_destroy_qp(qp);
	if (g->fits && !qp)
		return side_fail(s, "QP with %s: %s", g->what, strerror(errno));
	if (!g->fits && qp)
		return side_fail(s, "QP with %s was created", g->what);
	if (!g->fits && errno != EINVAL && errno != ENOMEM)
		return side_fail(s, "QP with %s: %s, expected %s", g->what, strerror(errno), strerror(EINVAL));
	return 0;
}

static int try_rings(struct side *s, struct ibv_cq *cq)
{
	uint32_t wr = s->dev.attr.max_qp_wr, sge = s->dev.attr.max_sge;
	const struct ring rings[] = {
		{ "max_qp_wr receives", { .max_send_wr = 1, .max_recv_wr = wr, .max_send_sge = 1, .max_recv_sge = 1 }, true },
		{ "max_sge elements", { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = sge, .max_recv_sge = sge }, true },
		/*
		 * Other limits are promises, not borders: of small WQEs, more receives than max_qp_wr
		 * and more elements than max_sge may fit, and a ConnectX takes them.
		 */
		{ "max_qp_wr + 1 sends", { .max_send_wr = wr + 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 }, false },
		{ "256 send elements", { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 256, .max_recv_sge = 1 }, false },
		{ "256 receive elements", { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 256 }, false },
		{ "2^31 sends", { .max_send_wr = 1u << 31, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 }, false },
		{ "2^31 receives", { .max_send_wr = 1, .max_recv_wr = 1u << 31, .max_send_sge = 1, .max_recv_sge = 1 }, false },
	};
	unsigned int i;

	for (i = 0; i < sizeof(rings) / sizeof(*rings); i++)
		if (try_ring(s, cq, rings + i))
			return -1;
	return 0;
}

static int try_cq(struct side *s, int entries, bool fits)
{
	struct ibv_cq *cq;

	errno = 0;
	cq = ibv_create_cq(s->dev.ctx, entries, NULL, NULL, 0);
	if (cq)
		ibv_destroy_cq(cq);
	if (fits)
		return cq ? 0 : side_fail(s, "CQ of %d: %s", entries, strerror(errno));
	if (cq)
		return side_fail(s, "CQ of %d was created", entries);
	return errno == EINVAL || errno == ENOMEM ? 0 : side_fail(s, "CQ of %d: %s", entries, strerror(errno));
}

int limit_sizes(struct side *s, const void *arg)
{
	struct ibv_cq *cq;
	int err;

	(void)arg;
	if (!s->active)
		return side_sync(s);
	if (try_cq(s, s->dev.attr.max_cqe, true) || try_cq(s, s->dev.attr.max_cqe + 1, false) || try_cq(s, 0, false))
		return -1;
	cq = ibv_create_cq(s->dev.ctx, 16, NULL, NULL, 0);
	if (!cq)
		return side_fail(s, "create_cq: %s", strerror(errno));
	err = try_rings(s, cq);
	ibv_destroy_cq(cq);
	return err ? err : side_sync(s);
}

/* --- posts --- */

static int post(struct duo *d, struct ibv_qp *qp, unsigned int sges, uint32_t len, int flags)
{
	struct ibv_sge sge[64];
	struct ibv_send_wr wr = { .wr_id = DUO_SEND, .sg_list = sge, .num_sge = sges, .opcode = IBV_WR_SEND, .send_flags = flags };
	struct ibv_send_wr *bad;
	unsigned int i;

	for (i = 0; i < sges; i++)
		sge[i] = (struct ibv_sge){ .addr = (uintptr_t)d->victim.tx.arena.base, .length = len, .lkey = d->victim.tx.mr->lkey };
	return ibv_post_send(qp, &wr, &bad);
}

static int expect_refused(struct duo *d, int err, const char *what)
{
	if (err == EINVAL || err == ENOMEM)
		return 0;
	return side_fail(d->s, "post_send with %s: %s", what, err ? strerror(err) : "accepted");
}

/* The peer has posted no receive, so nothing completes and the queue fills. */
static int fill_queue(struct duo *d, uint32_t granted)
{
	uint32_t n;
	int err = 0;

	for (n = 0; !err && n <= granted; n++)
		err = post(d, d->victim.qp, 1, 1, IBV_SEND_SIGNALED);
	if (!err)
		return side_fail(d->s, "%u sends fit in a queue of %u", n, granted);
	if (n - 1 < granted)
		return side_fail(d->s, "send %u of %u: %s", n, granted, strerror(err));
	return expect_refused(d, err, "a request too many");
}

static int posts(struct duo *d)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	struct ibv_qp *qp = d->victim.qp;

	if (lane_connect(d->s, &d->victim, 0x2000, &qp_path_default) || duo_traffic(d, &d->victim))
		return -1;
	if (!d->s->active)
		return side_sync(d->s) || duo_traffic(d, &d->neighbour) ? -1 : 0;
	if (ibv_query_qp(qp, &a, IBV_QP_CAP, &init))
		return side_fail(d->s, "query_qp: %s", strerror(errno));
	if (init.cap.max_send_sge < 63 && expect_refused(d, post(d, qp, init.cap.max_send_sge + 1, 1, IBV_SEND_SIGNALED),
							 "an element too many"))
		return -1;
	if (init.cap.max_inline_data < DUO_BYTES &&
	    expect_refused(d, post(d, qp, 1, init.cap.max_inline_data + 1, IBV_SEND_INLINE | IBV_SEND_SIGNALED),
			   "a byte of inline data too many"))
		return -1;
	if (fill_queue(d, init.cap.max_send_wr) || qp_move(d->s, qp, IBV_QPS_RESET))
		return -1;
	return side_sync(d->s) || duo_traffic(d, &d->neighbour) ? -1 : 0;
}

int limit_posts(struct side *s, const void *arg)
{
	struct duo d;
	int err;

	(void)arg;
	err = duo_create(&d, s, QP_RIGHTS) || posts(&d) ? -1 : 0;
	duo_destroy(&d);
	return err;
}
