// SPDX-License-Identifier: GPL-2.0-or-later
/* Attributes and transitions that modify_qp() must refuse. */
#include <errno.h>
#include <string.h>

#include "cq.h"
#include "qp.h"
#include "refusal.h"

/**
 * struct refusal - one modify_qp() call
 * @name: what is wrong with it
 * @type: of the QP
 * @from: state that the QP is in
 * @to: state that is asked for; the attributes are those that lead there from the state before
 * @drop: attributes left out of the mask
 * @add: attributes added to it
 * @spoil: makes a value wrong
 * @accepted: it is right and must succeed
 * @other: an error that is as good as EINVAL
 * @strict: only asked of a ConnectX
 */
struct refusal {
	const char *name;
	enum ibv_qp_type type;
	enum ibv_qp_state from;
	enum ibv_qp_state to;
	int drop;
	int add;
	void (*spoil)(const struct side *s, struct ibv_qp_attr *a);
	bool accepted;
	int other;
	bool strict;
};

static void port_0(const struct side *s, struct ibv_qp_attr *a)
{
	(void)s;
	a->port_num = 0;
}

static void port_past_end(const struct side *s, struct ibv_qp_attr *a)
{
	a->port_num = s->dev.attr.phys_port_cnt + 1;
}

static void pkey_past_end(const struct side *s, struct ibv_qp_attr *a)
{
	/* A ConnectX takes what its table could hold, not the one entry that RoCE uses. */
	a->pkey_index = s->dev.attr.max_pkeys > s->dev.port.pkey_tbl_len ? s->dev.attr.max_pkeys : s->dev.port.pkey_tbl_len;
}

static void mtu_above_port(const struct side *s, struct ibv_qp_attr *a)
{
	(void)s;
	a->path_mtu = IBV_MTU_4096 + 1;
}

static void gid_past_end(const struct side *s, struct ibv_qp_attr *a)
{
	/* The field has eight bits; the last entry of a longer table is empty, which ib_core says in another way. */
	a->ah_attr.grh.sgid_index = s->dev.port.gid_tbl_len > 255 ? 255 : s->dev.port.gid_tbl_len;
}

static void no_grh(const struct side *s, struct ibv_qp_attr *a)
{
	(void)s;
	a->ah_attr.is_global = 0;
}

static void responder_depth(const struct side *s, struct ibv_qp_attr *a)
{
	a->max_dest_rd_atomic = s->dev.attr.max_qp_rd_atom < 255 ? s->dev.attr.max_qp_rd_atom + 1 : 255;
}

static void requester_depth(const struct side *s, struct ibv_qp_attr *a)
{
	a->max_rd_atomic = s->dev.attr.max_qp_init_rd_atom < 255 ? s->dev.attr.max_qp_init_rd_atom + 1 : 255;
}

#define RC(from, to)	IBV_QPT_RC, IBV_QPS_##from, IBV_QPS_##to

static const struct refusal refusals[] = {
	{ "INIT without port", RC(RESET, INIT), .drop = IBV_QP_PORT },
	{ "INIT without P_Key index", RC(RESET, INIT), .drop = IBV_QP_PKEY_INDEX },
	{ "INIT without access flags", RC(RESET, INIT), .drop = IBV_QP_ACCESS_FLAGS },
	{ "INIT with port 0", RC(RESET, INIT), .spoil = port_0 },
	{ "INIT with a port past the last", RC(RESET, INIT), .spoil = port_past_end },
	{ "INIT with a P_Key index past the table", RC(RESET, INIT), .spoil = pkey_past_end, .strict = true },
	{ "INIT with a timeout", RC(RESET, INIT), .add = IBV_QP_TIMEOUT },
	{ "UD INIT without Q_Key", IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, .drop = IBV_QP_QKEY },
	{ "RESET to RTR", RC(RESET, RTR) },
	{ "RESET to RTS", RC(RESET, RTS) },
	{ "INIT to RTS", RC(INIT, RTS) },
	{ "RTR without address", RC(INIT, RTR), .drop = IBV_QP_AV },
	{ "RTR without path MTU", RC(INIT, RTR), .drop = IBV_QP_PATH_MTU },
	{ "RTR without destination QP", RC(INIT, RTR), .drop = IBV_QP_DEST_QPN },
	{ "RTR without receive PSN", RC(INIT, RTR), .drop = IBV_QP_RQ_PSN },
	{ "RTR without responder depth", RC(INIT, RTR), .drop = IBV_QP_MAX_DEST_RD_ATOMIC },
	{ "RTR without RNR timer", RC(INIT, RTR), .drop = IBV_QP_MIN_RNR_TIMER },
	{ "RTR with send PSN", RC(INIT, RTR), .add = IBV_QP_SQ_PSN },
	{ "RTR with a path MTU past 4096", RC(INIT, RTR), .spoil = mtu_above_port },
	{ "RTR with a GID index that is empty", RC(INIT, RTR), .spoil = gid_past_end, .other = ENODATA },
	{ "RTR without GRH", RC(INIT, RTR), .spoil = no_grh },
	{ "RTR with too great a responder depth", RC(INIT, RTR), .spoil = responder_depth, .strict = true },
	{ "UC RTR with RNR timer", IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR, .add = IBV_QP_MIN_RNR_TIMER },
	{ "RTS without send PSN", RC(RTR, RTS), .drop = IBV_QP_SQ_PSN },
	{ "RTS without timeout", RC(RTR, RTS), .drop = IBV_QP_TIMEOUT },
	{ "RTS without retry count", RC(RTR, RTS), .drop = IBV_QP_RETRY_CNT },
	{ "RTS without RNR retry", RC(RTR, RTS), .drop = IBV_QP_RNR_RETRY },
	{ "RTS without requester depth", RC(RTR, RTS), .drop = IBV_QP_MAX_QP_RD_ATOMIC },
	{ "RTS with too great a requester depth", RC(RTR, RTS), .spoil = requester_depth },
	{ "UC RTS with timeout", IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, .add = IBV_QP_TIMEOUT },
	{ "RTS to RTS with timeout", RC(RTS, RTS), .drop = -1, .add = IBV_QP_TIMEOUT },
	{ "RTS to RTS with address", RC(RTS, RTS), .drop = -1, .add = IBV_QP_AV },
	{ "RTS to RTS with path MTU", RC(RTS, RTS), .drop = -1, .add = IBV_QP_PATH_MTU },
	{ "RTS to RTS with RNR timer", RC(RTS, RTS), .drop = -1, .add = IBV_QP_MIN_RNR_TIMER, .accepted = true },
	{ "RTS to RTS with access flags", RC(RTS, RTS), .drop = -1, .add = IBV_QP_ACCESS_FLAGS, .accepted = true },
	{ "RTS to INIT", RC(RTS, INIT) },
	{ "RTS to RTR", RC(RTS, RTR) },
	{ "ERR to RTS", RC(ERR, RTS) },
	{ "ERR to INIT", RC(ERR, INIT) },
};

struct trial {
	struct side *s;
	struct cqueue cq;
	struct ibv_qp *qp;
	struct endpoint self;	/* the QP is connected to itself: nothing is sent */
};

static int attributes(struct trial *t, enum ibv_qp_state to, struct ibv_qp_attr *a)
{
	switch (to) {
	case IBV_QPS_INIT: return qp_init_attr(t->qp, &qp_path_default, a);
	case IBV_QPS_RTR: return qp_rtr_attr(t->s, t->qp, &t->self, &qp_path_default, a);
	case IBV_QPS_RTS: return qp_rts_attr(t->s, t->qp, t->self.psn, &qp_path_default, a);
	default:
		memset(a, 0, sizeof(*a));
		a->qp_state = to;
		return IBV_QP_STATE;
	}
}

/* Takes the QP from RESET to a state by the right calls. */
static int walk(struct trial *t, enum ibv_qp_state to)
{
	struct ibv_qp_attr a;
	int step, mask, err = 0;

	if (to == IBV_QPS_ERR)
		return walk(t, IBV_QPS_INIT) || qp_move(t->s, t->qp, IBV_QPS_ERR) ? -1 : 0;
	for (step = IBV_QPS_INIT; step <= (int)to && !err; step++) {
		mask = attributes(t, step, &a);
		err = ibv_modify_qp(t->qp, &a, mask);
	}
	return err ? side_fail(t->s, "modify_qp towards state %d: %s", to, strerror(err)) : 0;
}

/* The right call for the same step must work after the wrong one. */
static int still_usable(struct trial *t, const struct refusal *f)
{
	struct ibv_qp_attr a;
	int mask, err;

	if (qp_state(t->qp) != f->from)
		return side_fail(t->s, "%s: refused, but the state changed", f->name);
	if (f->to != f->from + 1u)
		return 0;
	mask = attributes(t, f->to, &a);
	err = ibv_modify_qp(t->qp, &a, mask);
	return err ? side_fail(t->s, "%s: the right call is refused after it: %s", f->name, strerror(err)) : 0;
}

static int attempt(struct trial *t, const struct refusal *f)
{
	struct ibv_qp_attr a;
	int mask, err;

	if (walk(t, f->from))
		return -1;
	if (f->add == IBV_QP_AV || f->add == IBV_QP_PATH_MTU || f->add == IBV_QP_MIN_RNR_TIMER)
		attributes(t, IBV_QPS_RTR, &a);
	else
		memset(&a, 0, sizeof(a));
	mask = f->drop == -1 ? IBV_QP_STATE : attributes(t, f->to, &a) & ~f->drop;
	a.qp_state = f->to;
	if (f->spoil)
		f->spoil(t->s, &a);
	err = ibv_modify_qp(t->qp, &a, mask | f->add);
	if (f->accepted)
		return err ? side_fail(t->s, "%s: %s, expected success", f->name, strerror(err)) : 0;
	if (err != EINVAL && (!f->other || err != f->other))
		return side_fail(t->s, "%s: %s, expected %s", f->name, err ? strerror(err) : "accepted", strerror(EINVAL));
	return still_usable(t, f);
}

static int attempt_fresh(struct trial *t, const struct refusal *f)
{
	struct qp_spec spec = { .type = f->type, .send_cq = t->cq.cq, .recv_cq = t->cq.cq, .depth = 4, .sges = 1 };
	int err;

	t->qp = qp_create(t->s, &spec);
	if (!t->qp)
		return -1;
	t->self = (struct endpoint){ .gid = t->s->dev.gid, .qpn = t->qp->qp_num, .psn = 1 };
	err = attempt(t, f);
	ibv_destroy_qp(t->qp);
	return err;
}

int refusal_run(struct side *s, const void *arg)
{
	struct trial t = { .s = s };
	unsigned int i;
	int err = 0;

	(void)arg;
	if (!s->active)
		return side_sync(s);
	if (cqueue_create(s, &t.cq, 16, false, 0))
		err = -1;
	for (i = 0; !err && i < sizeof(refusals) / sizeof(*refusals); i++)
		if (!refusals[i].strict || s->opt.profile == PROFILE_CONNECTX)
			err = attempt_fresh(&t, refusals + i);
	cqueue_destroy(&t.cq);
	return err ? err : side_sync(s);
}
