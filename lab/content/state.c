// SPDX-License-Identifier: GPL-2.0-or-later
/* What a change of state does to outstanding work. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "duo.h"
#include "pattern.h"
#include "state.h"

#define RECEIVES	4
#define LATE_US		300000

static int post_receives(struct duo *d, struct lane *l)
{
	uint64_t i;

	for (i = 0; i < RECEIVES; i++)
		if (duo_receive(d, l, i, 0, 100))
			return -1;
	return 0;
}

static int expect_flushed(struct duo *d, struct lane *l, uint64_t first, unsigned int n)
{
	unsigned int i;

	if (duo_collect(d, n))
		return -1;
	for (i = 0; i < n; i++)
		if (duo_expect(d, i, l, first + i, IBV_WC_WR_FLUSH_ERR))
			return -1;
	return 0;
}

static int flush(struct duo *d)
{
	struct lane *l = &d->victim;

	if (lane_connect(d->s, l, 0x2000, &qp_path_default) || post_receives(d, l))
		return -1;
	if (qp_move(d->s, l->qp, IBV_QPS_ERR) || expect_flushed(d, l, 0, RECEIVES))
		return -1;
	if (duo_send(d, l, DUO_SEND, 100) || duo_send(d, l, DUO_SEND + 1, 100) || expect_flushed(d, l, DUO_SEND, 2))
		return -1;
	/* rxe does not hear of a receive that user space adds to the queue in ERR. */
	if (d->s->opt.profile == PROFILE_CONNECTX &&
	    (duo_receive(d, l, RECEIVES, 0, 100) || expect_flushed(d, l, RECEIVES, 1)))
		return -1;
	return duo_traffic(d, &d->neighbour) || cqueue_idle(d->s, &d->cq) ? -1 : 0;
}

/* The receives of the victim are flushed into the CQ and stay there; RESET must take them away again. */
static int reset(struct duo *d)
{
	struct lane *l = &d->victim;

	if (d->s->opt.profile != PROFILE_CONNECTX)
		return verdict_skip(&d->s->verdict, "asked of a ConnectX only: others leave the CQ as it is");
	if (lane_connect(d->s, l, 0x2000, &qp_path_default) || post_receives(d, l))
		return -1;
	/* The neighbour's receive completes behind, and must stay. */
	if (!d->s->active && duo_receive(d, &d->neighbour, 0, 0, DUO_BYTES))
		return -1;
	if (side_sync(d->s) || qp_move(d->s, l->qp, IBV_QPS_ERR))
		return -1;
	if (d->s->active && (duo_send(d, &d->neighbour, DUO_SEND, 100) || duo_collect(d, RECEIVES + 1)))
		return -1;
	if (side_sync(d->s) || qp_move(d->s, l->qp, IBV_QPS_RESET))
		return -1;
	if (!d->s->active && (duo_collect(d, 1) || duo_expect(d, 0, &d->neighbour, 0, IBV_WC_SUCCESS)))
		return -1;
	if (cqueue_idle(d->s, &d->cq) || lane_connect(d->s, l, 0x3000, &qp_path_default) || side_sync(d->s))
		return -1;
	return duo_traffic(d, l) || duo_traffic(d, &d->neighbour) ? -1 : 0;
}

static int late_receive(struct duo *d)
{
	struct lane *l = &d->victim;

	if (lane_connect(d->s, l, 0x2000, &qp_path_default) || side_sync(d->s))
		return -1;
	if (d->s->active) {
		if (duo_send(d, l, DUO_SEND, 1500))
			return -1;
	} else {
		usleep(LATE_US);
		if (duo_receive(d, l, 0, 0, DUO_BYTES))
			return -1;
	}
	if (duo_collect(d, 1) || duo_expect(d, 0, l, d->s->active ? DUO_SEND : 0, IBV_WC_SUCCESS))
		return -1;
	if (!d->s->active && d->wc[0].byte_len != 1500)
		return side_fail(d->s, "%u bytes received, expected 1500", d->wc[0].byte_len);
	return duo_traffic(d, l) || duo_traffic(d, &d->neighbour) ? -1 : 0;
}

static int check_queried(struct duo *d, const struct ibv_qp_attr *a)
{
	const struct lane *l = &d->victim;
	const struct qp_path *p = &qp_path_default;
	const struct {
		const char *name;
		uint64_t got, want;
	} rows[] = {
		{ "state", a->qp_state, IBV_QPS_RTS },
		{ "path MTU", a->path_mtu, d->s->mtu },
		{ "dest_qp_num", a->dest_qp_num, l->peer.qpn },
		{ "rq_psn", a->rq_psn, l->peer.psn },
		{ "sq_psn", a->sq_psn, l->mine.psn },
		{ "timeout", a->timeout, p->timeout },
		{ "retry_cnt", a->retry_cnt, p->retry },
		{ "rnr_retry", a->rnr_retry, p->rnr_retry },
		{ "min_rnr_timer", a->min_rnr_timer, p->rnr_timer },
		{ "max_rd_atomic", a->max_rd_atomic, d->s->caps.rd_atomic },
		{ "max_dest_rd_atomic", a->max_dest_rd_atomic, d->s->caps.rd_atomic },
		{ "access flags", a->qp_access_flags & QP_RIGHTS, p->rights },
		{ "port", a->port_num, DEVICE_PORT },
		{ "sgid_index", a->ah_attr.grh.sgid_index, d->s->dev.gid_index },
		{ "is_global", a->ah_attr.is_global, 1 },
		{ "dgid", memcmp(&a->ah_attr.grh.dgid, &l->peer.gid, sizeof(l->peer.gid)), 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].got != rows[i].want)
			return side_fail(d->s, "query_qp: %s is %lu, was set to %lu", rows[i].name, (unsigned long)rows[i].got,
					 (unsigned long)rows[i].want);
	return 0;
}

static int query(struct duo *d)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	int all = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN |
		  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_ACCESS_FLAGS;

	if (lane_connect(d->s, &d->victim, 0x2000, &qp_path_default))
		return -1;
	if (ibv_query_qp(d->victim.qp, &a, all, &init))
		return side_fail(d->s, "query_qp: %s", strerror(errno));
	if (check_queried(d, &a))
		return -1;
	if (init.cap.max_send_sge < 1 || init.cap.max_send_wr < 1 || init.cap.max_recv_wr < 1)
		return side_fail(d->s, "query_qp: capabilities %u %u %u", init.cap.max_send_sge, init.cap.max_send_wr,
				 init.cap.max_recv_wr);
	return side_sync(d->s);
}

static int with_duo(struct side *s, int (*run)(struct duo *d))
{
	struct duo d;
	int err;

	err = duo_create(&d, s, QP_RIGHTS) || run(&d) ? -1 : 0;
	duo_destroy(&d);
	return err;
}

int state_flush(struct side *s, const void *arg)
{
	(void)arg;
	return with_duo(s, flush);
}

int state_reset(struct side *s, const void *arg)
{
	(void)arg;
	return with_duo(s, reset);
}

int state_late_receive(struct side *s, const void *arg)
{
	(void)arg;
	return with_duo(s, late_receive);
}

int state_query(struct side *s, const void *arg)
{
	(void)arg;
	return with_duo(s, query);
}
