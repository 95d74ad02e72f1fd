// SPDX-License-Identifier: GPL-2.0-or-later
/* A QP to be hurt, and a neighbour that must go on. */
#include <errno.h>
#include <string.h>

#include "duo.h"
#include "pattern.h"

#define DEPTH		8
#define MESSAGE		1500
#define GUARD_BYTE	0x3c

static int create_lane(struct duo *d, struct lane *l, int rights)
{
	struct qp_spec spec = { .type = IBV_QPT_RC, .send_cq = d->cq.cq, .recv_cq = d->cq.cq, .depth = DEPTH, .sges = 1 };

	if (region_create(d->s, &l->tx, DUO_BYTES, IBV_ACCESS_LOCAL_WRITE))
		return -1;
	if (region_create(d->s, &l->rx, DUO_BYTES, IBV_ACCESS_LOCAL_WRITE | rights))
		return -1;
	memset(l->tx.arena.base, GUARD_BYTE, DUO_BYTES);
	memset(l->rx.arena.base, GUARD_BYTE, DUO_BYTES);
	l->qp = qp_create(d->s, &spec);
	return l->qp ? 0 : -1;
}

int duo_create(struct duo *d, struct side *s, int rights)
{
	memset(d, 0, sizeof(*d));
	d->s = s;
	if (cqueue_create(s, &d->cq, 4 * DEPTH, false, 0))
		return -1;
	if (create_lane(d, &d->victim, rights) || create_lane(d, &d->neighbour, QP_RIGHTS))
		return -1;
	if (lane_connect(s, &d->neighbour, 0x1000, &qp_path_default))
		return -1;
	return side_sync(s);
}

void duo_destroy(struct duo *d)
{
	lane_destroy(&d->victim);
	lane_destroy(&d->neighbour);
	cqueue_destroy(&d->cq);
}

int duo_receive(struct duo *d, struct lane *l, uint64_t id, uint32_t off, uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)l->rx.arena.base + off, .length = len, .lkey = l->rx.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = !!len }, *bad;
	int err = ibv_post_recv(l->qp, &wr, &bad);

	return err ? side_fail(d->s, "post_recv: %s", strerror(err)) : 0;
}

int duo_send(struct duo *d, struct lane *l, uint64_t id, uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)l->tx.arena.base, .length = len, .lkey = l->tx.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;
	int err = ibv_post_send(l->qp, &wr, &bad);

	return err ? side_fail(d->s, "post_send: %s", strerror(err)) : 0;
}

static int keep(void *arg, const struct ibv_wc *wc)
{
	struct duo *d = arg;

	if (d->wcs == DUO_WCS)
		return side_fail(d->s, "more completions than work");
	d->wc[d->wcs++] = *wc;
	return 0;
}

int duo_collect(struct duo *d, unsigned int n)
{
	d->wcs = 0;
	return cqueue_wait(d->s, &d->cq, n, keep, d);
}

int duo_expect(struct duo *d, unsigned int i, const struct lane *l, uint64_t id, enum ibv_wc_status status)
{
	const struct ibv_wc *wc = d->wc + i;

	if (wc->qp_num != l->qp->qp_num || wc->wr_id != id)
		return side_fail(d->s, "completion %u is of QP 0x%x, wr_id 0x%lx; expected QP 0x%x, wr_id 0x%lx", i, wc->qp_num,
				 (unsigned long)wc->wr_id, l->qp->qp_num, (unsigned long)id);
	if (wc->status != status)
		return side_fail(d->s, "completion %u of wr_id 0x%lx: %s (vendor 0x%02x), expected %s", i, (unsigned long)id,
				 ibv_wc_status_str(wc->status), wc->vendor_err, ibv_wc_status_str(status));
	return 0;
}

static int check_message(struct duo *d, struct lane *l, uint64_t seed)
{
	size_t at = pattern_check(l->rx.arena.base, MESSAGE, seed, 0);

	if (at < MESSAGE)
		return side_fail(d->s, "offset %zu expected 0x%02x got 0x%02x", at, pattern_byte(seed, at), l->rx.arena.base[at]);
	at = pattern_check_byte(l->rx.arena.base + MESSAGE, DUO_BYTES - MESSAGE, GUARD_BYTE);
	if (at < DUO_BYTES - MESSAGE)
		return side_fail(d->s, "guard byte %zu behind the message is 0x%02x", at, l->rx.arena.base[MESSAGE + at]);
	return 0;
}

int duo_traffic(struct duo *d, struct lane *l)
{
	uint64_t seed = pattern_mix(d->s->opt.seed + ++d->rounds);

	if (d->s->active)
		pattern_fill(l->tx.arena.base, MESSAGE, seed, 0);
	else if (duo_receive(d, l, 0, 0, DUO_BYTES))
		return -1;
	if (side_sync(d->s) || (d->s->active && duo_send(d, l, DUO_SEND, MESSAGE)))
		return -1;
	if (duo_collect(d, 1) || duo_expect(d, 0, l, d->s->active ? DUO_SEND : 0, IBV_WC_SUCCESS))
		return -1;
	d->s->messages++;
	d->s->bytes += MESSAGE;
	return d->s->active ? 0 : check_message(d, l, seed);
}
