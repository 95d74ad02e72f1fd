// SPDX-License-Identifier: GPL-2.0-or-later
/* UD: the receiver knows the sender from what arrived only. */
#include <errno.h>
#include <string.h>

#include "cq.h"
#include "grh.h"
#include "lane.h"
#include "pattern.h"
#include "reply.h"

#define BYTES	777

struct dialogue {
	struct side *s;
	struct cqueue cq;
	struct lane lane;
	struct ibv_wc got;	/* the completion of the receive */
	bool sent;
};

static int on_completion(void *arg, const struct ibv_wc *wc)
{
	struct dialogue *g = arg;

	if (wc->status)
		return side_fail(g->s, "%s, vendor 0x%02x", ibv_wc_status_str(wc->status), wc->vendor_err);
	if (wc->opcode == IBV_WC_RECV)
		g->got = *wc;
	else
		g->sent = true;
	return 0;
}

static int post_receive(struct dialogue *g)
{
	struct region *r = &g->lane.rx;
	struct ibv_sge sge = { .addr = (uintptr_t)r->arena.base, .length = r->arena.size, .lkey = r->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int err = ibv_post_recv(g->lane.qp, &wr, &bad);

	return err ? side_fail(g->s, "post_recv: %s", strerror(err)) : 0;
}

static int send(struct dialogue *g, struct ibv_ah *ah, uint32_t qpn, uint64_t seed)
{
	struct region *r = &g->lane.tx;
	struct ibv_sge sge = { .addr = (uintptr_t)r->arena.base, .length = BYTES, .lkey = r->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;
	int err;

	pattern_fill(r->arena.base, BYTES, seed, 0);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = QP_QKEY;
	err = ibv_post_send(g->lane.qp, &wr, &bad);
	return err ? side_fail(g->s, "post_send: %s", strerror(err)) : 0;
}

static int check(struct dialogue *g, uint64_t seed)
{
	const uint8_t *base = g->lane.rx.arena.base;
	size_t at = pattern_check(base + GRH_BYTES, BYTES, seed, 0);

	if (at < BYTES)
		return side_fail(g->s, "offset %zu expected 0x%02x got 0x%02x", at, pattern_byte(seed, at), base[GRH_BYTES + at]);
	g->s->messages++;
	g->s->bytes += BYTES;
	return grh_check(g->s, base, &g->lane.peer.gid, BYTES, false);
}

static int ask(struct dialogue *g, uint64_t seed)
{
	if (send(g, g->lane.ah, g->lane.peer.qpn, seed) || cqueue_wait(g->s, &g->cq, 2, on_completion, g))
		return -1;
	return check(g, ~seed);
}

static int answer(struct dialogue *g, uint64_t seed)
{
	struct ibv_ah *ah;
	int err;

	if (cqueue_wait(g->s, &g->cq, 1, on_completion, g) || check(g, seed))
		return -1;
	ah = ibv_create_ah_from_wc(g->s->dev.pd, &g->got, (struct ibv_grh *)g->lane.rx.arena.base, DEVICE_PORT);
	if (!ah)
		return side_fail(g->s, "create_ah_from_wc: %s", strerror(errno));
	err = send(g, ah, g->got.src_qp, ~seed) || cqueue_wait(g->s, &g->cq, 1, on_completion, g) ? -1 : 0;
	ibv_destroy_ah(ah);
	return err;
}

static int create(struct dialogue *g)
{
	struct qp_spec spec = { .type = IBV_QPT_UD, .depth = 4, .sges = 1 };

	if (cqueue_create(g->s, &g->cq, 8, false, 0))
		return -1;
	spec.send_cq = spec.recv_cq = g->cq.cq;
	if (region_create(g->s, &g->lane.tx, BYTES, IBV_ACCESS_LOCAL_WRITE) ||
	    region_create(g->s, &g->lane.rx, BYTES + GRH_BYTES, IBV_ACCESS_LOCAL_WRITE))
		return -1;
	g->lane.qp = qp_create(g->s, &spec);
	if (!g->lane.qp || lane_connect(g->s, &g->lane, 7, &qp_path_default) || post_receive(g))
		return -1;
	return side_sync(g->s);
}

int reply_run(struct side *s, const void *arg)
{
	struct dialogue g = { .s = s };
	uint64_t seed = pattern_mix(s->opt.seed);
	int err;

	(void)arg;
	err = create(&g);
	if (!err)
		err = s->active ? ask(&g, seed) : answer(&g, seed);
	lane_destroy(&g.lane);
	cqueue_destroy(&g.cq);
	return err;
}
