// SPDX-License-Identifier: GPL-2.0-or-later
/* Completions, by poll and by event, never past the deadline. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "cq.h"

#define BATCH	8
#define SLICE	(SECOND / 5)	/* between looks at the other side */

int cqueue_create(struct side *s, struct cqueue *q, int entries, bool by_event, int vector)
{
	struct ibv_context *ctx = s->dev.ctx;

	memset(q, 0, sizeof(*q));
	if (by_event) {
		q->chan = ibv_create_comp_channel(ctx);
		if (!q->chan)
			return side_fail(s, "create_comp_channel: %s", strerror(errno));
	}
	q->cq = ibv_create_cq(ctx, entries, NULL, q->chan, (s->opt.vector + vector) % ctx->num_comp_vectors);
	if (!q->cq)
		return side_fail(s, "create_cq of %d: %s", entries, strerror(errno));
	return 0;
}

void cqueue_destroy(struct cqueue *q)
{
	if (q->cq) {
		if (q->events)
			ibv_ack_cq_events(q->cq, q->events);
		ibv_destroy_cq(q->cq);
	}
	if (q->chan)
		ibv_destroy_comp_channel(q->chan);
	memset(q, 0, sizeof(*q));
}

int cqueue_arm(struct side *s, struct cqueue *q)
{
	int err = q->chan ? ibv_req_notify_cq(q->cq, q->solicited) : 0;

	return err ? side_fail(s, "req_notify_cq: %s", strerror(err)) : 0;
}

/* Empties the queue. Return: number of completions, negative on failure. */
static int drain(struct side *s, struct cqueue *q, cqueue_fn fn, void *arg)
{
	struct ibv_wc wc[BATCH];
	int i, n, sum = 0;

	do {
		n = ibv_poll_cq(q->cq, BATCH, wc);
		if (n < 0)
			return side_fail(s, "poll_cq: %s", strerror(errno));
		for (i = 0; i < n; i++)
			if (fn(arg, wc + i))
				return -1;
		sum += n;
	} while (n == BATCH);
	return sum;
}

/* A peer that gave up or died will complete nothing any more. */
static int still_worth_it(struct side *s, const char *what)
{
	if (conn_lost(&s->conn))
		return side_fail(s, CONN_GAVE_UP);
	return clock_now() > s->deadline ? side_fail(s, "timed out: %s", what) : 0;
}

static int take_event(struct side *s, struct cqueue *q)
{
	struct pollfd p = { .fd = q->chan->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *ctx;

	while (poll(&p, 1, SLICE / 1000000) != 1)
		if (still_worth_it(s, "no completion event"))
			return -1;
	if (ibv_get_cq_event(q->chan, &cq, &ctx))
		return side_fail(s, "get_cq_event: %s", strerror(errno));
	if (cq != q->cq)
		return side_fail(s, "event of another CQ");
	q->events++;
	return cqueue_arm(s, q);
}

int cqueue_wait(struct side *s, struct cqueue *q, unsigned int want, cqueue_fn fn, void *arg)
{
	uint64_t look = clock_now() + SLICE;
	unsigned int got = 0;
	char what[48];
	int n;

	while (got < want) {
		if (q->chan && take_event(s, q))
			return -1;
		n = drain(s, q, fn, arg);
		if (n < 0)
			return -1;
		got += n;
		if (n)
			continue;
		sched_yield();
		if (clock_now() < look)
			continue;
		look = clock_now() + SLICE;
		snprintf(what, sizeof(what), "%u of %u completions", got, want);
		if (still_worth_it(s, what))
			return -1;
	}
	return got > want ? side_fail(s, "%u completions, %u expected", got, want) : 0;
}

int cqueue_idle(struct side *s, struct cqueue *q)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(q->cq, 1, &wc))
		return side_fail(s, "a completion too many: wr_id 0x%lx, %s", (unsigned long)wc.wr_id, ibv_wc_status_str(wc.status));
	return 0;
}
