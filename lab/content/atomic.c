// SPDX-License-Identifier: GPL-2.0-or-later
/* FETCH_ADD and CMP_SWAP, each result and the final memory compared with what must come out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "cq.h"
#include "lane.h"
#include "pattern.h"

#define LANES		3
#define DEPTH		8	/* operations in flight on a QP */
#define BATCHES		16
#define WORD_SPACING	64	/* between words, filled with guard bytes */
#define GUARD_BYTE	0xc7
#define START		0xfffffffffffffff0ull	/* the sum wraps soon */

struct word_lane {
	struct lane lane;
	uint64_t value;			/* of its own word, after all that was posted */
	uint64_t want[DEPTH];		/* results of the batch */
	unsigned int next;
};

struct atomic_run {
	struct side *s;
	const struct atomic *a;
	struct cqueue cq;
	struct word_lane lane[LANES];
	bool seen[LANES * DEPTH * BATCHES];	/* results of the shared word */
	unsigned int batch;
};

static uint64_t *word_of(struct atomic_run *r, uint8_t *base, unsigned int lane)
{
	/* The regions start 24 bytes into a page, so these are aligned to 8. */
	return (uint64_t *)(base + WORD_SPACING * (1 + (r->a->shared ? 0 : lane)));
}

static uint64_t start_of(struct atomic_run *r, unsigned int lane)
{
	return r->a->shared ? START : START + lane;
}

/* --- the active side --- */

/* Every third compare does not match, so that the word must stay. */
static void choose_operands(struct word_lane *l, const struct atomic *a, uint64_t salt, struct ibv_send_wr *wr)
{
	bool match = salt % 3;

	if (a->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.compare_add = a->shared ? 1 : pattern_mix(salt);
		l->value += wr->wr.atomic.compare_add;
		return;
	}
	wr->wr.atomic.compare_add = match ? l->value : ~l->value;
	wr->wr.atomic.swap = pattern_mix(salt);
	if (match)
		l->value = wr->wr.atomic.swap;
}

static int post(struct atomic_run *r, unsigned int n, unsigned int i)
{
	struct word_lane *l = r->lane + n;
	struct ibv_sge sge = { .addr = (uintptr_t)l->lane.tx.arena.base + WORD_SPACING * (i + 1), .length = 8,
			       .lkey = l->lane.tx.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = r->a->op,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;
	uint64_t remote = r->lane[0].lane.peer_addr;
	int err;

	wr.wr.atomic.rkey = r->lane[0].lane.peer_rkey;
	wr.wr.atomic.remote_addr = remote + WORD_SPACING * (1 + (r->a->shared ? 0 : n));
	l->want[i] = l->value;
	choose_operands(l, r->a, r->s->opt.seed + (r->batch * LANES + n) * DEPTH + i, &wr);
	err = ibv_post_send(l->lane.qp, &wr, &bad);
	return err ? side_fail(r->s, "post_send: %s", strerror(err)) : 0;
}

static int on_completion(void *arg, const struct ibv_wc *wc)
{
	struct atomic_run *r = arg;
	enum ibv_wc_opcode want = r->a->op == IBV_WR_ATOMIC_FETCH_AND_ADD ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP;
	unsigned int n;

	for (n = 0; n < LANES && r->lane[n].lane.qp->qp_num != wc->qp_num; n++)
		;
	if (n == LANES)
		return side_fail(r->s, "completion of an unknown QP 0x%x", wc->qp_num);
	if (wc->status)
		return side_fail(r->s, "%s, vendor 0x%02x", ibv_wc_status_str(wc->status), wc->vendor_err);
	if (wc->opcode != want)
		return side_fail(r->s, "completion with opcode %u, expected %u", wc->opcode, want);
	if (wc->wr_id != r->lane[n].next++)
		return side_fail(r->s, "completion of operation %lu out of order", (unsigned long)wc->wr_id);
	return 0;
}

/* On the shared word each count is seen by exactly one operation, whatever their order. */
static int check_count(struct atomic_run *r, uint64_t got)
{
	uint64_t index = got - START;

	if (index >= LANES * DEPTH * BATCHES || r->seen[index])
		return side_fail(r->s, "result 0x%lx of the shared word is %s", (unsigned long)got,
				 index < LANES * DEPTH * BATCHES ? "there twice" : "out of range");
	r->seen[index] = true;
	return 0;
}

static int check_result(struct atomic_run *r, struct word_lane *l, unsigned int i)
{
	const uint8_t *base = l->lane.tx.arena.base + WORD_SPACING * (i + 1);
	uint64_t got;

	memcpy(&got, base, 8);
	if (pattern_check_byte(base + 8, WORD_SPACING - 8, GUARD_BYTE) != WORD_SPACING - 8)
		return side_fail(r->s, "guard bytes behind result %u changed", i);
	r->s->messages++;
	r->s->bytes += 8;
	if (r->a->shared)
		return check_count(r, got);
	return got == l->want[i] ? 0 : side_fail(r->s, "result %u expected 0x%lx got 0x%lx", i, (unsigned long)l->want[i],
						   (unsigned long)got);
}

static int run_batch(struct atomic_run *r)
{
	unsigned int n, i;

	for (n = 0; n < LANES; n++) {
		memset(r->lane[n].lane.tx.arena.base, GUARD_BYTE, r->lane[n].lane.tx.arena.size);
		r->lane[n].next = 0;
	}
	for (i = 0; i < DEPTH; i++)
		for (n = 0; n < LANES; n++)
			if (post(r, n, i))
				return -1;
	if (cqueue_wait(r->s, &r->cq, LANES * DEPTH, on_completion, r))
		return -1;
	for (n = 0; n < LANES; n++)
		for (i = 0; i < DEPTH; i++)
			if (check_result(r, r->lane + n, i))
				return -1;
	return 0;
}

static int run_active(struct atomic_run *r)
{
	int err = 0;

	for (r->batch = 0; !err && r->batch < BATCHES; r->batch++)
		err = run_batch(r);
	return err;
}

/* --- memory at the end --- */

static int check_words(struct atomic_run *r, const uint64_t *want)
{
	uint8_t *base = r->lane[0].lane.rx.arena.base;
	unsigned int n, words = r->a->shared ? 1 : LANES;
	uint64_t got;

	if (r->s->opt.corrupt == CORRUPT_ATOMIC)
		*word_of(r, base, 0) ^= 1ull << 40;
	for (n = 0; n < words; n++) {
		got = *word_of(r, base, n);
		if (got != want[n])
			return side_fail(r->s, "memory of word %u expected 0x%lx got 0x%lx", n, (unsigned long)want[n], (unsigned long)got);
		memset(word_of(r, base, n), GUARD_BYTE, 8);
	}
	if (pattern_check_byte(base, r->lane[0].lane.rx.arena.size, GUARD_BYTE) != r->lane[0].lane.rx.arena.size)
		return side_fail(r->s, "guard bytes around the words changed");
	return 0;
}

static int compare_memory(struct atomic_run *r)
{
	uint64_t mine[LANES], theirs[LANES];
	unsigned int n;

	for (n = 0; n < LANES; n++)
		mine[n] = r->a->shared ? START + LANES * DEPTH * BATCHES : r->lane[n].value;
	if (side_swap(r->s, mine, theirs, sizeof(mine)))
		return -1;
	return r->s->active ? 0 : check_words(r, theirs);
}

static int create(struct atomic_run *r)
{
	struct qp_spec spec = { .type = IBV_QPT_RC, .depth = DEPTH, .sges = 1 };
	unsigned int n;

	if (cqueue_create(r->s, &r->cq, LANES * DEPTH, false, 0))
		return -1;
	spec.send_cq = spec.recv_cq = r->cq.cq;
	for (n = 0; n < LANES; n++) {
		struct lane *l = &r->lane[n].lane;

		r->lane[n].value = start_of(r, n);
		if (region_create(r->s, &l->tx, WORD_SPACING * (DEPTH + 2), IBV_ACCESS_LOCAL_WRITE) ||
		    region_create(r->s, &l->rx, WORD_SPACING * (LANES + 2), IBV_ACCESS_LOCAL_WRITE | QP_RIGHTS))
			return -1;
		memset(l->rx.arena.base, GUARD_BYTE, l->rx.arena.size);
		l->qp = qp_create(r->s, &spec);
		if (!l->qp || lane_connect(r->s, l, 0xfffffa + n, &qp_path_default))
			return -1;
	}
	for (n = 0; n < LANES; n++)
		*word_of(r, r->lane[0].lane.rx.arena.base, n) = start_of(r, n);
	return side_sync(r->s);
}

int atomic_run(struct side *s, const void *arg)
{
	struct atomic_run *r = calloc(1, sizeof(*r));
	unsigned int n;
	int err;

	r->s = s;
	r->a = arg;
	err = create(r);
	if (!err && s->active)
		err = run_active(r);
	if (!err)
		err = compare_memory(r);
	for (n = 0; n < LANES; n++)
		lane_destroy(&r->lane[n].lane);
	cqueue_destroy(&r->cq);
	free(r);
	return err;
}

const char *atomic_why_not(const struct side *s, const void *arg)
{
	(void)arg;
	return s->caps.atomics && s->caps.rd_atomic ? NULL : "no atomics";
}
