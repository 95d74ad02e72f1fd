// SPDX-License-Identifier: GPL-2.0-or-later
/* Batches of messages of all sizes on several QPs, checked byte by byte. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grh.h"
#include "pattern.h"
#include "run.h"

#define SLACK		13	/* by which some receives are longer than what they get */
#define FIRST_PSN_WRAP	0xfffff0

/* --- memory --- */

static void place_tx(const struct run *r, unsigned int lane, struct arena *a, struct half *h)
{
	unsigned int i;
	uint64_t salt;

	arena_reset(a, 0x5a + 37 * r->batch);
	for (i = 0; i < r->count; i++) {
		salt = run_salt(r, lane, i, r->s->active);
		h->msg[i] = (struct message){ .len = r->size[r->first + i], .seed = salt };
		arena_place(a, &h->msg[i], h->msg[i].len, r->f->sges, pattern_mix(salt + 2));
	}
	h->next = 0;
}

/* Where messages of one direction end; the sender computes it too, to know the addresses. */
static void place_rx(const struct run *r, unsigned int lane, bool from_active, struct arena *a, struct half *h)
{
	uint32_t room, head = r->f->type == IBV_QPT_UD ? GRH_BYTES : 0;
	unsigned int i, pieces;
	uint64_t salt;

	arena_reset(a, 0xa5 + 37 * r->batch);
	for (i = 0; i < r->count; i++) {
		salt = run_salt(r, lane, i, from_active);
		h->msg[i] = (struct message){ .head = head, .len = r->size[r->first + i], .seed = salt };
		room = head + h->msg[i].len;
		pieces = run_ops[run_op(r, i)].rdma ? 1 : r->f->sges;
		if (!run_ops[run_op(r, i)].rdma && salt % 3 == 1)
			room += SLACK;
		arena_place(a, &h->msg[i], room, pieces, pattern_mix(salt + 3));
	}
	h->next = 0;
}

static size_t arena_need(struct run *r, unsigned int lane)
{
	size_t most = 0, need;
	unsigned int i;

	for (run_start(r); r->count; run_next_batch(r)) {
		need = ARENA_GUARD;
		for (i = 0; i < r->count; i++)
			need += r->size[r->first + i] + GRH_BYTES + SLACK + ARENA_COST + ARENA_GUARD;
		if (lane < r->lanes_now && need > most)
			most = need;
	}
	return most;
}

static void prepare_half(const struct run *r, struct arena *a, const struct half *h, bool holds_reads)
{
	unsigned int i;

	arena_guard(a);
	for (i = 0; i < r->count; i++)
		if ((run_op(r, i) == FLOW_READ) == holds_reads)
			arena_fill(a, &h->msg[i]);
}

/* Sources are filled: the sender's for SEND and WRITE, the peer's for READ. All else is guard. */
static void prepare_memory(struct run *r)
{
	struct arena far = { 0 };
	struct flow_lane *l;
	unsigned int n;

	for (n = 0; n < r->lanes_now; n++) {
		l = r->lane + n;
		if (run_sends(r)) {
			place_tx(r, n, &l->lane.tx.arena, &l->tx);
			place_rx(r, n, r->s->active, &far, &l->far);
			prepare_half(r, &l->lane.tx.arena, &l->tx, false);
		}
		if (run_receives(r)) {
			place_rx(r, n, !r->s->active, &l->lane.rx.arena, &l->rx);
			prepare_half(r, &l->lane.rx.arena, &l->rx, true);
		}
	}
}

/* --- posting --- */

static int fill_sges(struct ibv_sge *sge, const struct region *g, const struct message *m)
{
	unsigned int i;

	for (i = 0; i < m->pieces; i++) {
		sge[i].addr = (uintptr_t)g->arena.base + m->piece[i].off;
		sge[i].length = m->piece[i].len;
		sge[i].lkey = g->mr->lkey;
	}
	/* An empty message is posted without any element, or with an empty one. */
	return m->pieces == 1 && !m->piece[0].len && m->seed % 2 ? 0 : m->pieces;
}

static int post_receive(struct run *r, struct flow_lane *l, unsigned int i)
{
	struct ibv_sge sge[ARENA_PIECES];
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = sge }, *bad;
	int err;

	if (i != WR_END && !run_ops[run_op(r, i)].rdma)
		wr.num_sge = fill_sges(sge, &l->lane.rx, &l->rx.msg[i]);
	err = ibv_post_recv(l->lane.qp, &wr, &bad);
	return err ? side_fail(r->s, "post_recv: %s", strerror(err)) : 0;
}

static int post_receives(struct run *r)
{
	unsigned int n, i;

	for (n = 0; n < r->lanes_now; n++) {
		for (i = 0; i < r->count; i++)
			if (run_ops[run_op(r, i)].takes_receive && post_receive(r, r->lane + n, i))
				return -1;
		if (run_has_end(r) && post_receive(r, r->lane + n, WR_END))
			return -1;
	}
	return 0;
}

static unsigned int send_flags(const struct run *r, unsigned int i)
{
	unsigned int flags = 0;

	if (i == WR_END || run_signalled(r, i))
		flags |= IBV_SEND_SIGNALED;
	if (r->f->inlined && run_op(r, i) != FLOW_READ)
		flags |= IBV_SEND_INLINE;
	if (r->f->solicited && i == r->count - 1)
		flags |= IBV_SEND_SOLICITED;
	return flags;
}

static void describe(struct run *r, unsigned int n, unsigned int i, struct ibv_send_wr *wr)
{
	struct flow_lane *l = r->lane + n;
	enum flow_op op = i == WR_END ? FLOW_SEND : run_op(r, i);

	wr->wr_id = WR_TX | i;
	wr->opcode = run_ops[op].wr;
	wr->send_flags = send_flags(r, i);
	if (run_ops[op].imm)
		wr->imm_data = htobe32(run_immediate(r, n, i, r->s->active));
	if (run_ops[op].rdma) {
		wr->wr.rdma.remote_addr = l->lane.peer_addr + l->far.msg[i].piece[0].off;
		wr->wr.rdma.rkey = l->lane.peer_rkey;
	} else if (r->f->type == IBV_QPT_UD) {
		wr->wr.ud.ah = l->lane.ah;
		wr->wr.ud.remote_qpn = l->lane.peer.qpn;
		wr->wr.ud.remote_qkey = QP_QKEY;
	}
}

static int post_send(struct run *r, unsigned int n, unsigned int i)
{
	struct flow_lane *l = r->lane + n;
	struct ibv_sge sge[ARENA_PIECES];
	struct ibv_send_wr wr = { .sg_list = sge }, *bad;
	int err, k;

	describe(r, n, i, &wr);
	if (i != WR_END)
		wr.num_sge = fill_sges(sge, &l->lane.tx, &l->tx.msg[i]);
	if (wr.send_flags & IBV_SEND_INLINE)
		for (k = 0; k < wr.num_sge; k++)
			sge[k].lkey = 0xdeadbeef;
	err = ibv_post_send(l->lane.qp, &wr, &bad);
	if (err)
		return side_fail(r->s, "post_send: %s", strerror(err));
	if (wr.send_flags & IBV_SEND_INLINE)
		for (k = 0; k < wr.num_sge; k++)
			memset((void *)(uintptr_t)sge[k].addr, ~l->lane.tx.arena.guard, sge[k].length);
	return 0;
}

/* Message by message over all QPs, so that they compete. */
static int post_sends(struct run *r)
{
	unsigned int n, i;

	for (i = 0; i < r->count; i++)
		for (n = 0; n < r->lanes_now; n++)
			if (post_send(r, n, i))
				return -1;
	for (n = 0; run_has_end(r) && n < r->lanes_now; n++)
		if (post_send(r, n, WR_END))
			return -1;
	return 0;
}

/* --- checking --- */

/* --corrupt: the receiver spoils what it got, so that the check must complain. */
static void spoil(struct run *r)
{
	struct arena *a = &r->lane[0].lane.rx.arena;
	const struct message *m = r->lane[0].rx.msg;
	unsigned int i;

	if (r->s->opt.corrupt == CORRUPT_GUARD)
		a->base[a->used - 1] ^= 0x10;
	for (i = 0; r->s->opt.corrupt == CORRUPT_DATA && i < r->count; i++)
		if (m[i].len) {
			*arena_address(a, m + i, m[i].head + m[i].len / 2) ^= 0x01;
			return;
		}
}

static int check_half(struct run *r, const struct arena *a, const struct half *h, unsigned int n, const char *what)
{
	struct mismatch bad;
	int i = arena_check(a, h->msg, r->count, &bad);

	if (i < 0)
		return 0;
	return side_fail(r->s, "%s memory of QP %u, message %u of %u bytes: %s %zu expected 0x%02x got 0x%02x", what, n,
			 r->first + i, h->msg[i].len, bad.guard ? "guard byte at" : "offset", bad.offset, bad.want, bad.got);
}

static int check_memory(struct run *r)
{
	unsigned int n, i;

	if (run_receives(r) && r->s->opt.corrupt)
		spoil(r);
	for (n = 0; n < r->lanes_now; n++) {
		if (run_receives(r) && check_half(r, &r->lane[n].lane.rx.arena, &r->lane[n].rx, n, "target"))
			return -1;
		if (run_sends(r) && !r->f->inlined && check_half(r, &r->lane[n].lane.tx.arena, &r->lane[n].tx, n, "requester"))
			return -1;
		for (i = 0; i < r->count; i++)
			r->s->bytes += r->size[r->first + i];
		r->s->messages += r->count;
	}
	return 0;
}

/* --- the whole --- */

static int run_batch(struct run *r)
{
	prepare_memory(r);
	if (run_receives(r) && post_receives(r))
		return -1;
	if (cqueue_arm(r->s, &r->send_cq) || (r->f->split_cq && cqueue_arm(r->s, &r->recv_cq)))
		return -1;
	if (side_sync(r->s))
		return -1;
	if ((run_sends(r) && post_sends(r)) || run_wait(r) || side_sync(r->s))
		return -1;
	return check_memory(r);
}

static int create_lane(struct run *r, unsigned int n)
{
	const struct flow *f = r->f;
	struct lane *l = &r->lane[n].lane;
	struct qp_spec spec = { .type = f->type, .send_cq = r->send_cq.cq, .depth = r->depth + 1, .sges = f->sges };
	size_t bytes = arena_need(r, n);
	uint32_t psn;

	spec.recv_cq = f->split_cq ? r->recv_cq.cq : r->send_cq.cq;
	spec.inline_bytes = f->inlined ? r->s->caps.max_inline : 0;
	psn = r->s->opt.psn >= 0 ? (uint64_t)r->s->opt.psn : pattern_mix(r->salt + 16 * n + r->s->active);
	if (f->wrap)
		psn = FIRST_PSN_WRAP;
	if (run_sends(r) && region_create(r->s, &l->tx, bytes, IBV_ACCESS_LOCAL_WRITE))
		return -1;
	if (run_receives(r) && region_create(r->s, &l->rx, bytes, IBV_ACCESS_LOCAL_WRITE | QP_RIGHTS))
		return -1;
	l->qp = qp_create(r->s, &spec);
	return l->qp ? lane_connect(r->s, l, psn, &qp_path_default) : -1;
}

static int create(struct run *r)
{
	unsigned int n, entries = r->lanes * 2 * (r->depth + 1);

	if (cqueue_create(r->s, &r->send_cq, entries, r->f->by_event, 0))
		return -1;
	if (r->f->split_cq && cqueue_create(r->s, &r->recv_cq, entries, r->f->by_event, 1))
		return -1;
	r->recv_cq.solicited = r->f->solicited;
	for (n = 0; n < r->lanes; n++)
		if (create_lane(r, n))
			return -1;
	/* Nothing is sent before the last QP of the other side can take it. */
	return side_sync(r->s);
}

static void extend_for_bytes(struct run *r)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < r->sizes; i++)
		sum += r->size[i];
	side_extend(r->s, sum * (r->f->both_ways + 1) >> 20);
}

static void setup(struct run *r)
{
	const struct shared_options *o = &r->s->opt;

	r->lanes = r->f->qps ? r->f->qps : o->qps;
	r->depth = r->f->depth ? r->f->depth : o->depth;
	r->salt = pattern_mix(o->seed ^ (uint64_t)r->f->type << 40 ^ (uint64_t)r->f->op << 32 ^ (uint64_t)r->f->sges << 24 ^ r->s->mtu);
	r->sizes = run_sizes(r->s, r->f, r->size);
	extend_for_bytes(r);
}

int flow_run(struct side *s, const void *arg)
{
	struct run *r = calloc(1, sizeof(*r));
	unsigned int n;
	int err = -1;

	r->s = s;
	r->f = arg;
	setup(r);
	r->lane = calloc(r->lanes, sizeof(*r->lane));
	if (!create(r))
		for (err = 0, run_start(r); !err && r->count; run_next_batch(r))
			err = run_batch(r);
	for (n = 0; n < r->lanes; n++)
		lane_destroy(&r->lane[n].lane);
	cqueue_destroy(&r->send_cq);
	cqueue_destroy(&r->recv_cq);
	free(r->lane);
	free(r);
	return err;
}

const char *flow_why_not(const struct side *s, const void *arg)
{
	const struct flow *f = arg;
	uint32_t size[SIZES_MAX];

	if (!run_sizes(s, f, size))
		return "no such size in the list";
	if (f->sges > s->caps.max_sge)
		return "fewer elements than that in a work request";
	if (f->inlined && !s->caps.max_inline)
		return "no inline data";
	if ((f->mixed || f->op == FLOW_READ) && f->type == IBV_QPT_RC && !s->caps.rd_atomic)
		return "no READ";
	return NULL;
}
