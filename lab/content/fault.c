// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests that must fail: the right status on both sides, memory untouched, the neighbour unharmed. */
#include <errno.h>
#include <string.h>

#include "clock.h"
#include "duo.h"
#include "fault.h"
#include "pattern.h"

#define BAD_KEY		0x00badb00
#define SHORT_BYTES	10	/* of a receive that is too short */
#define TARGET_OFF	4096	/* of requests that stay inside the region */
#define GUARD_BYTE	0x3c	/* what the region holds before, see duo.c */
#define EVENT_WAIT	(2 * SECOND)

/*
 * Few RNR retries, so that giving up is quick. Transport retries are few only where the peer is gone: a slow one would be taken
 * for a dead one.
 */
static const struct qp_path patient_path = { .rights = QP_RIGHTS, .timeout = 16, .retry = 7, .rnr_retry = 2, .rnr_timer = 12 };
static const struct qp_path quick_path = { .rights = QP_RIGHTS, .timeout = 14, .retry = 2, .rnr_retry = 2, .rnr_timer = 12 };

/* The key that the requester uses, from the passive side's point of view. */
struct fault_target {
	uint64_t addr;
	uint32_t rkey;
	uint32_t reserved;
};

struct fault_run {
	struct duo d;
	const struct fault *f;
	struct ibv_pd *other_pd;
	struct ibv_mr *other_mr;
	struct fault_target target;
};

static bool takes_receive(const struct fault *f)
{
	return f->op == IBV_WR_SEND || f->op == IBV_WR_SEND_WITH_IMM || f->op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_atomic(const struct fault *f)
{
	return f->op == IBV_WR_ATOMIC_FETCH_AND_ADD || f->op == IBV_WR_ATOMIC_CMP_AND_SWP;
}

/* A second registration of the same memory, in a way that makes its key useless. */
static int spoil_key(struct fault_run *r, struct fault_target *t)
{
	struct region *g = &r->d.victim.rx;
	bool foreign = r->f->key == KEY_OTHER_PD;

	t->rkey = g->mr->rkey;
	if (r->f->key == KEY_UNKNOWN)
		t->rkey ^= BAD_KEY;
	if (r->f->key != KEY_OTHER_PD && r->f->key != KEY_DEREGISTERED)
		return 0;
	if (foreign)
		r->other_pd = ibv_alloc_pd(r->d.s->dev.ctx);
	if (foreign && !r->other_pd)
		return side_fail(r->d.s, "alloc_pd: %s", strerror(errno));
	r->other_mr = ibv_reg_mr(foreign ? r->other_pd : r->d.s->dev.pd, g->arena.base, g->arena.size,
				 IBV_ACCESS_LOCAL_WRITE | QP_RIGHTS);
	if (!r->other_mr)
		return side_fail(r->d.s, "reg_mr: %s", strerror(errno));
	t->rkey = r->other_mr->rkey;
	if (!foreign) {
		ibv_dereg_mr(r->other_mr);
		r->other_mr = NULL;
	}
	return 0;
}

static int exchange_target(struct fault_run *r)
{
	const struct fault *f = r->f;
	struct fault_target mine = { 0 };

	if (!r->d.s->active && spoil_key(r, &mine))
		return -1;
	mine.addr = (uintptr_t)r->d.victim.rx.arena.base;
	/* The region starts 24 bytes into a page, so this is a multiple of 8, as atomics want it. */
	mine.addr += f->past ? DUO_BYTES - f->len + f->past : TARGET_OFF;
	mine.addr += f->shift;
	return side_swap(r->d.s, &mine, &r->target, sizeof(mine));
}

static int connect_victim(struct fault_run *r)
{
	struct qp_path path = r->f->vanish ? quick_path : patient_path;

	path.rights &= ~r->f->no_qp_right;
	return lane_connect(r->d.s, &r->d.victim, 0x2000, &path);
}

static int create(struct fault_run *r, struct side *s)
{
	if (duo_create(&r->d, s, QP_RIGHTS & ~r->f->no_mr_right))
		return -1;
	return connect_victim(r) || exchange_target(r) || duo_traffic(&r->d, &r->d.neighbour) ? -1 : 0;
}

/* --- the passive side --- */

static int post_bad_receive(struct fault_run *r)
{
	struct lane *l = &r->d.victim;
	struct ibv_sge sge = { .addr = (uintptr_t)l->rx.arena.base, .length = DUO_BYTES, .lkey = l->rx.mr->lkey ^ BAD_KEY };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int err = ibv_post_recv(l->qp, &wr, &bad);

	return err ? side_fail(r->d.s, "post_recv: %s", strerror(err)) : 0;
}

/* The first receive is the one that the request may take; the second must be flushed if the QP fails. */
static int post_receives(struct fault_run *r)
{
	struct lane *l = &r->d.victim;

	switch (r->f->receive) {
	case RECEIVE_NONE:
		return 0;
	case RECEIVE_BAD_KEY:
		if (post_bad_receive(r))
			return -1;
		break;
	case RECEIVE_SHORT:
		if (duo_receive(&r->d, l, 0, 0, SHORT_BYTES))
			return -1;
		break;
	default:
		if (duo_receive(&r->d, l, 0, 0, DUO_BYTES))
			return -1;
	}
	return duo_receive(&r->d, l, 1, 0, DUO_BYTES);
}

static int check_end(struct fault_run *r, unsigned int i, uint64_t id, const struct fault_end *want)
{
	const struct ibv_wc *wc = r->d.wc + i;
	bool exact = r->d.s->opt.profile == PROFILE_CONNECTX;

	if (exact || !(want->or_status & 1u << wc->status))
		if (duo_expect(&r->d, i, &r->d.victim, id, want->status))
			return -1;
	if (exact && want->vendor && wc->vendor_err != want->vendor)
		return side_fail(r->d.s, "%s with vendor 0x%02x, expected 0x%02x", ibv_wc_status_str(wc->status), wc->vendor_err,
				 want->vendor);
	return 0;
}

static int check_flushed(struct fault_run *r, unsigned int i, uint64_t id)
{
	static const struct fault_end flushed = { .status = IBV_WC_WR_FLUSH_ERR, .vendor = 0xf9 };

	return check_end(r, i, id, &flushed);
}

static int check_receives(struct fault_run *r)
{
	const struct fault_end *want = &r->f->responder;
	unsigned int i;

	if (r->f->vanish || r->f->target_lives || r->f->receive == RECEIVE_NONE)
		return 0;
	if (duo_collect(&r->d, 2))
		return -1;
	if (want->status != FAULT_NO_CQE && check_end(r, 0, 0, want))
		return -1;
	for (i = want->status != FAULT_NO_CQE; i < 2; i++)
		if (check_flushed(r, i, i))
			return -1;
	return 0;
}

/* Nothing of a refused request may have reached the memory. A receive that was taken is allowed to hold a part. */
static int check_untouched(struct fault_run *r)
{
	const uint8_t *base = r->d.victim.rx.arena.base;
	size_t at;

	if (takes_receive(r->f) || !r->f->requester.status)
		return 0;
	at = pattern_check_byte(base, DUO_BYTES, GUARD_BYTE);
	return at < DUO_BYTES ? side_fail(r->d.s, "refused, but byte %zu of the target is now 0x%02x", at, base[at]) : 0;
}

static int check_target_state(struct fault_run *r)
{
	enum ibv_qp_state want = r->f->target_lives ? IBV_QPS_RTS : IBV_QPS_ERR, got;

	if (r->f->vanish)
		return 0;
	got = qp_state(r->d.victim.qp);
	if (got != want)
		return side_fail(r->d.s, "the target's QP is in state %d, expected %d", got, want);
	if (r->d.s->opt.profile != PROFILE_CONNECTX || r->f->event < 0)
		return 0;
	if (!device_event(&r->d.s->dev, r->f->event, r->d.victim.qp->qp_num, clock_now() + EVENT_WAIT))
		return side_fail(r->d.s, "no event: %s", ibv_event_type_str(r->f->event));
	return 0;
}

static int vanish(struct fault_run *r)
{
	if (!r->f->vanish)
		return 0;
	if (ibv_destroy_qp(r->d.victim.qp))
		return side_fail(r->d.s, "destroy_qp: %s", strerror(errno));
	r->d.victim.qp = NULL;
	return 0;
}

static int run_passive(struct fault_run *r)
{
	if (vanish(r) || (!r->f->vanish && post_receives(r)) || side_sync(r->d.s))
		return -1;
	if (side_sync(r->d.s))
		return -1;
	return check_receives(r) || check_target_state(r) || check_untouched(r) ? -1 : 0;
}

/* --- the active side --- */

static void describe(struct fault_run *r, struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	struct lane *l = &r->d.victim;

	sge->addr = (uintptr_t)l->tx.arena.base;
	sge->length = r->f->len;
	sge->lkey = l->tx.mr->lkey ^ (r->f->local_key ? BAD_KEY : 0);
	wr->wr_id = DUO_SEND;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = r->f->op;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (is_atomic(r->f)) {
		wr->wr.atomic.remote_addr = r->target.addr;
		wr->wr.atomic.rkey = r->target.rkey;
		wr->wr.atomic.compare_add = 1;
	} else if (r->f->op != IBV_WR_SEND) {
		wr->wr.rdma.remote_addr = r->target.addr;
		wr->wr.rdma.rkey = r->target.rkey;
	}
}

static int check_requester(struct fault_run *r)
{
	enum ibv_qp_state got;

	if (check_end(r, 0, DUO_SEND, &r->f->requester))
		return -1;
	if (!r->f->requester.status)
		return 0;
	if (check_flushed(r, 1, DUO_SEND + 1))
		return -1;
	got = qp_state(r->d.victim.qp);
	return got == IBV_QPS_ERR ? 0 : side_fail(r->d.s, "the requester's QP is in state %d, expected ERR", got);
}

/* A good request follows the bad one and must be flushed. */
static int run_active(struct fault_run *r)
{
	struct ibv_send_wr wr = { 0 }, *bad;
	struct ibv_sge sge;
	bool fails = r->f->requester.status;
	int err;

	if (side_sync(r->d.s))
		return -1;
	describe(r, &wr, &sge);
	err = ibv_post_send(r->d.victim.qp, &wr, &bad);
	if (err == EINVAL && r->f->shift && r->d.s->opt.profile != PROFILE_CONNECTX)
		return verdict_skip(&r->d.s->verdict, "refused when posted");
	if (err)
		return side_fail(r->d.s, "post_send: %s", strerror(err));
	if (fails && duo_send(&r->d, &r->d.victim, DUO_SEND + 1, 100))
		return -1;
	if (duo_collect(&r->d, 1 + fails) || check_requester(r))
		return -1;
	return side_sync(r->d.s);
}

int fault_run(struct side *s, const void *arg)
{
	struct fault_run r = { .f = arg };
	int err;

	err = create(&r, s);
	if (!err)
		err = s->active ? run_active(&r) : run_passive(&r);
	if (!err)
		err = side_sync(s) || duo_traffic(&r.d, &r.d.neighbour) || cqueue_idle(s, &r.d.cq) ? -1 : 0;
	if (r.other_mr)
		ibv_dereg_mr(r.other_mr);
	if (r.other_pd)
		ibv_dealloc_pd(r.other_pd);
	duo_destroy(&r.d);
	return err;
}

const char *fault_why_not(const struct side *s, const void *arg)
{
	const struct fault *f = arg;

	if (is_atomic(f) && !s->caps.atomics)
		return "no atomics";
	return f->op == IBV_WR_RDMA_READ && !s->caps.rd_atomic ? "no READ" : NULL;
}
