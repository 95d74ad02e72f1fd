// SPDX-License-Identifier: GPL-2.0-or-later
/* Batches of messages of all sizes on several QPs, checked byte by byte. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cq.h"
#include "flow.h"
#include "grh.h"
#include "lane.h"
#include "pattern.h"

#define LANES_MAX	16
#define DEPTH_MAX	64
#define BATCH_BYTES	(1u << 20)	/* on one QP, unless one message alone is longer */
#define ALONE_BYTES	(4u << 20)	/* longer messages use the first QP only */
#define SLACK		13		/* by which some receives are longer than what they get */
#define FIRST_PSN_WRAP	0xfffff0

#define WR_TX		(1ull << 63)	/* wr_id of a send; a receive has it clear */
#define WR_END		DEPTH_MAX	/* message number of the marker that ends a batch */

static const struct {
	enum ibv_wr_opcode wr;
	enum ibv_wc_opcode wc;
	bool takes_receive;
	bool imm;
	bool rdma;
} ops[FLOW_OPS] = {
	[FLOW_SEND]      = { IBV_WR_SEND, IBV_WC_SEND, .takes_receive = true },
	[FLOW_SEND_IMM]  = { IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, .takes_receive = true, .imm = true },
	[FLOW_WRITE]     = { IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, .rdma = true },
	[FLOW_WRITE_IMM] = { IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE, .takes_receive = true, .imm = true, .rdma = true },
	[FLOW_READ]      = { IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, .rdma = true },
};

/* The messages of a batch in one arena, and how far their completions have come. */
struct half {
	struct message msg[DEPTH_MAX];
	unsigned int next;
};

struct flow_lane {
	struct lane lane;
	struct half tx;
	struct half rx;
	struct half far;	/* where this side's requests end: the peer's rx, computed */
};

struct run {
	struct side *s;
	const struct flow *f;
	struct cqueue send_cq;
	struct cqueue recv_cq;		/* unused unless the flow splits them */
	struct flow_lane *lane;
	unsigned int lanes;
	unsigned int depth;
	uint32_t size[SIZES_MAX];
	unsigned int sizes;
	uint64_t salt;
	/* the current batch */
	unsigned int batch;
	unsigned int first;
	unsigned int count;
	unsigned int lanes_now;
};

static bool sends(const struct run *r)
{
	return r->s->active || r->f->both_ways;
}

static bool receives(const struct run *r)
{
	return !r->s->active || r->f->both_ways;
}

static enum flow_op op_of(const struct run *r, unsigned int i)
{
	if (!r->f->mixed)
		return r->f->op;
	return (r->first + i) % (r->f->type == IBV_QPT_RC ? FLOW_OPS : FLOW_READ);
}

/* UC says nothing about a WRITE that arrived, so an empty SEND behind the last one tells the receiver that the batch is over. */
static bool batch_has_end(const struct run *r)
{
	return r->f->type == IBV_QPT_UC && (r->f->mixed || r->f->op == FLOW_WRITE);
}

static bool signalled(const struct run *r, unsigned int i)
{
	return !r->f->sparse || i % 3 == 2 || i == r->count - 1;
}

/* The same on both sides; @from_active tells the two directions apart. */
static uint64_t message_salt(const struct run *r, unsigned int lane, unsigned int i, bool from_active)
{
	return pattern_mix(r->salt ^ (uint64_t)from_active << 63 ^ (uint64_t)lane << 48 ^ (r->first + i));
}

static uint32_t immediate(const struct run *r, unsigned int lane, unsigned int i, bool from_active)
{
	return pattern_mix(message_salt(r, lane, i, from_active) + 1) >> 32;
}

/* --- the plan: which messages make a batch --- */

static void next_batch(struct run *r)
{
	uint64_t sum = 0;

	r->first += r->count;
	r->batch++;
	for (r->count = 0; r->first + r->count < r->sizes && r->count < r->depth; r->count++) {
		sum += r->size[r->first + r->count];
		if (r->count && sum > BATCH_BYTES)
			break;
	}
	r->lanes_now = r->count && r->size[r->first] > ALONE_BYTES ? 1 : r->lanes;
}

static void start_plan(struct run *r)
{
	r->batch = 0;
	r->first = r->count = 0;
	next_batch(r);
}

static uint32_t size_limit(const struct side *s, const struct flow *f)
{
	uint32_t most = f->most ? f->most : UINT32_MAX;

	if (f->type == IBV_QPT_UD && device_mtu_bytes(s->mtu) < most)
		most = device_mtu_bytes(s->mtu);
	if (f->inlined && s->caps.max_inline < most)
		most = s->caps.max_inline;
	return most;
}

static void choose_sizes(struct run *r)
{
	const struct shared_options *o = &r->s->opt;
	uint32_t most = size_limit(r->s, r->f);
	unsigned int i;

	for (i = 0; i < o->size_count; i++)
		if (o->sizes[i] >= r->f->least && o->sizes[i] <= most)
			r->size[r->sizes++] = o->sizes[i];
	/* The largest that fits is always among them. */
	if (most < BATCH_BYTES && r->sizes < SIZES_MAX && (!r->sizes || r->size[r->sizes - 1] < most))
		r->size[r->sizes++] = most;
}

/* --- memory --- */

static void place_tx(const struct run *r, unsigned int lane, struct arena *a, struct half *h)
{
	unsigned int i;
	uint64_t salt;

	arena_reset(a, 0x5a + 37 * r->batch);
	for (i = 0; i < r->count; i++) {
		salt = message_salt(r, lane, i, r->s->active);
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
		salt = message_salt(r, lane, i, from_active);
		h->msg[i] = (struct message){ .head = head, .len = r->size[r->first + i], .seed = salt };
		room = head + h->msg[i].len;
		pieces = ops[op_of(r, i)].rdma ? 1 : r->f->sges;
		if (!ops[op_of(r, i)].rdma && salt % 3 == 1)
			room += SLACK;
		arena_place(a, &h->msg[i], room, pieces, pattern_mix(salt + 3));
	}
	h->next = 0;
}

static size_t arena_need(struct run *r, unsigned int lane)
{
	size_t most = 0, need;
	unsigned int i;

	for (start_plan(r); r->count; next_batch(r)) {
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
		if ((op_of(r, i) == FLOW_READ) == holds_reads)
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
		if (sends(r)) {
			place_tx(r, n, &l->lane.tx.arena, &l->tx);
			place_rx(r, n, r->s->active, &far, &l->far);
			prepare_half(r, &l->lane.tx.arena, &l->tx, false);
		}
		if (receives(r)) {
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

	if (i != WR_END && !ops[op_of(r, i)].rdma)
		wr.num_sge = fill_sges(sge, &l->lane.rx, &l->rx.msg[i]);
	err = ibv_post_recv(l->lane.qp, &wr, &bad);
	return err ? side_fail(r->s, "post_recv: %s", strerror(err)) : 0;
}

static int post_receives(struct run *r)
{
	unsigned int n, i;

	for (n = 0; n < r->lanes_now; n++) {
		for (i = 0; i < r->count; i++)
			if (ops[op_of(r, i)].takes_receive && post_receive(r, r->lane + n, i))
				return -1;
		if (batch_has_end(r) && post_receive(r, r->lane + n, WR_END))
			return -1;
	}
	return 0;
}

static unsigned int send_flags(const struct run *r, unsigned int i)
{
	unsigned int flags = 0;

	if (i == WR_END || signalled(r, i))
		flags |= IBV_SEND_SIGNALED;
	if (r->f->inlined && op_of(r, i) != FLOW_READ)
		flags |= IBV_SEND_INLINE;
	if (r->f->solicited && i == r->count - 1)
		flags |= IBV_SEND_SOLICITED;
	return flags;
}

static void describe(struct run *r, unsigned int n, unsigned int i, struct ibv_send_wr *wr)
{
	struct flow_lane *l = r->lane + n;
	enum flow_op op = i == WR_END ? FLOW_SEND : op_of(r, i);

	wr->wr_id = WR_TX | i;
	wr->opcode = ops[op].wr;
	wr->send_flags = send_flags(r, i);
	if (ops[op].imm)
		wr->imm_data = htobe32(immediate(r, n, i, r->s->active));
	if (ops[op].rdma) {
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
	for (n = 0; batch_has_end(r) && n < r->lanes_now; n++)
		if (post_send(r, n, WR_END))
			return -1;
	return 0;
}

/* --- completions --- */

static struct flow_lane *lane_of(struct run *r, uint32_t qpn)
{
	unsigned int n;

	for (n = 0; n < r->lanes; n++)
		if (r->lane[n].lane.qp->qp_num == qpn)
			return r->lane + n;
	return NULL;
}

/* Completions of a QP come in the order of posting: the next one is known. */
static unsigned int next_sent(const struct run *r, struct half *h)
{
	while (h->next < r->count && !signalled(r, h->next))
		h->next++;
	return h->next < r->count ? h->next++ : WR_END;
}

static unsigned int next_received(const struct run *r, struct half *h)
{
	while (h->next < r->count && !ops[op_of(r, h->next)].takes_receive)
		h->next++;
	return h->next < r->count ? h->next++ : WR_END;
}

static int on_sent(struct run *r, struct flow_lane *l, const struct ibv_wc *wc)
{
	unsigned int i = next_sent(r, &l->tx);
	enum flow_op op = i == WR_END ? FLOW_SEND : op_of(r, i);

	if (wc->wr_id != (WR_TX | i))
		return side_fail(r->s, "send completion of message %u, expected %u", (unsigned int)wc->wr_id, i);
	if (wc->opcode != ops[op].wc)
		return side_fail(r->s, "send completion with opcode %u, expected %u", wc->opcode, ops[op].wc);
	if (op == FLOW_READ && wc->byte_len != l->tx.msg[i].len)
		return side_fail(r->s, "READ completion of %u bytes, expected %u", wc->byte_len, l->tx.msg[i].len);
	return 0;
}

static int check_immediate(struct run *r, unsigned int n, unsigned int i, const struct ibv_wc *wc)
{
	bool with = ops[op_of(r, i)].imm;
	uint32_t want = immediate(r, n, i, !r->s->active);

	if (r->s->opt.corrupt == CORRUPT_IMM)
		want ^= 1;
	if (with != !!(wc->wc_flags & IBV_WC_WITH_IMM))
		return side_fail(r->s, "message %u arrived with%s immediate value", i, with ? "out its" : " an");
	if (with && be32toh(wc->imm_data) != want)
		return side_fail(r->s, "message %u: immediate expected 0x%08x got 0x%08x", i, want, be32toh(wc->imm_data));
	return 0;
}

static int check_datagram(struct run *r, struct flow_lane *l, unsigned int i, const struct ibv_wc *wc)
{
	uint8_t area[GRH_BYTES];

	if (!(wc->wc_flags & IBV_WC_GRH))
		return side_fail(r->s, "UD completion without the GRH flag");
	if (wc->src_qp != l->lane.peer.qpn)
		return side_fail(r->s, "UD completion from QP 0x%x, expected 0x%x", wc->src_qp, l->lane.peer.qpn);
	arena_gather(&l->lane.rx.arena, &l->rx.msg[i], area, sizeof(area));
	return grh_check(r->s, area, &l->lane.peer.gid, l->rx.msg[i].len, ops[op_of(r, i)].imm);
}

static int on_received(struct run *r, struct flow_lane *l, const struct ibv_wc *wc)
{
	unsigned int i = next_received(r, &l->rx);
	enum ibv_wc_opcode opcode;
	uint32_t bytes;

	if (wc->wr_id != i)
		return side_fail(r->s, "receive completion of message %u, expected %u", (unsigned int)wc->wr_id, i);
	if (i == WR_END)
		return 0;
	opcode = ops[op_of(r, i)].rdma ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
	if (wc->opcode != opcode)
		return side_fail(r->s, "receive completion with opcode %u, expected %u", wc->opcode, opcode);
	bytes = l->rx.msg[i].head + l->rx.msg[i].len;
	if (wc->byte_len != bytes)
		return side_fail(r->s, "message %u: %u bytes received, expected %u", i, wc->byte_len, bytes);
	if (check_immediate(r, l - r->lane, i, wc))
		return -1;
	return r->f->type == IBV_QPT_UD ? check_datagram(r, l, i, wc) : 0;
}

static int on_completion(void *arg, const struct ibv_wc *wc)
{
	struct run *r = arg;
	struct flow_lane *l = lane_of(r, wc->qp_num);
	bool tx = wc->wr_id & WR_TX;

	if (!l)
		return side_fail(r->s, "completion of an unknown QP 0x%x", wc->qp_num);
	if (wc->status)
		return side_fail(r->s, "%s of message %u on QP %zu: %s, vendor 0x%02x", tx ? "send" : "receive",
				 (unsigned int)wc->wr_id, l - r->lane, ibv_wc_status_str(wc->status), wc->vendor_err);
	return tx ? on_sent(r, l, wc) : on_received(r, l, wc);
}

static unsigned int count_sent(const struct run *r)
{
	unsigned int i, n = batch_has_end(r);

	for (i = 0; i < r->count; i++)
		n += signalled(r, i);
	return sends(r) ? n * r->lanes_now : 0;
}

static unsigned int count_received(const struct run *r)
{
	unsigned int i, n = batch_has_end(r);

	for (i = 0; i < r->count; i++)
		n += ops[op_of(r, i)].takes_receive;
	return receives(r) ? n * r->lanes_now : 0;
}

static int wait_all(struct run *r)
{
	unsigned int tx = count_sent(r), rx = count_received(r);

	if (!r->f->split_cq)
		return cqueue_wait(r->s, &r->send_cq, tx + rx, on_completion, r);
	if (cqueue_wait(r->s, &r->send_cq, tx, on_completion, r))
		return -1;
	return cqueue_wait(r->s, &r->recv_cq, rx, on_completion, r);
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

	if (receives(r) && r->s->opt.corrupt)
		spoil(r);
	for (n = 0; n < r->lanes_now; n++) {
		if (receives(r) && check_half(r, &r->lane[n].lane.rx.arena, &r->lane[n].rx, n, "target"))
			return -1;
		if (sends(r) && !r->f->inlined && check_half(r, &r->lane[n].lane.tx.arena, &r->lane[n].tx, n, "requester"))
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
	if (receives(r) && post_receives(r))
		return -1;
	if (cqueue_arm(r->s, &r->send_cq) || (r->f->split_cq && cqueue_arm(r->s, &r->recv_cq)))
		return -1;
	if (side_sync(r->s))
		return -1;
	if ((sends(r) && post_sends(r)) || wait_all(r) || side_sync(r->s))
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
	if (sends(r) && region_create(r->s, &l->tx, bytes, IBV_ACCESS_LOCAL_WRITE))
		return -1;
	if (receives(r) && region_create(r->s, &l->rx, bytes, IBV_ACCESS_LOCAL_WRITE | QP_RIGHTS))
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
	choose_sizes(r);
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
		for (err = 0, start_plan(r); !err && r->count; next_batch(r))
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

	if (f->sges > s->caps.max_sge)
		return "fewer elements than that in a work request";
	if (f->inlined && !s->caps.max_inline)
		return "no inline data";
	if ((f->mixed || f->op == FLOW_READ) && f->type == IBV_QPT_RC && !s->caps.rd_atomic)
		return "no READ";
	return NULL;
}
