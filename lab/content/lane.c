// SPDX-License-Identifier: GPL-2.0-or-later
/* A QP, its memory and its peer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lane.h"

#define PAGE	4096
#define OFFSET	24	/* of the memory in its first page */

/* What each side tells the other about a lane. */
struct card {
	struct endpoint end;
	uint64_t addr;
	uint64_t len;
	uint32_t rkey;
	uint32_t reserved;
};

int region_create(struct side *s, struct region *r, size_t bytes, int access)
{
	if (posix_memalign(&r->alloc, PAGE, bytes + OFFSET)) {
		r->alloc = NULL;
		return side_fail(s, "no memory for %zu bytes", bytes);
	}
	r->arena = (struct arena){ .base = (uint8_t *)r->alloc + OFFSET, .size = bytes };
	r->mr = ibv_reg_mr(s->dev.pd, r->arena.base, bytes, access);
	return r->mr ? 0 : side_fail(s, "reg_mr of %zu bytes: %s", bytes, strerror(errno));
}

void region_destroy(struct region *r)
{
	if (r->mr)
		ibv_dereg_mr(r->mr);
	free(r->alloc);
	memset(r, 0, sizeof(*r));
}

int lane_exchange(struct side *s, struct lane *l, uint32_t psn)
{
	struct card mine = { .addr = (uintptr_t)l->rx.arena.base, .len = l->rx.arena.size }, theirs;

	l->mine = (struct endpoint){ .gid = s->dev.gid, .qpn = l->qp->qp_num, .psn = psn & 0xffffff };
	mine.end = l->mine;
	mine.rkey = l->rx.mr ? l->rx.mr->rkey : 0;
	if (side_swap(s, &mine, &theirs, sizeof(mine)))
		return -1;
	l->peer = theirs.end;
	l->peer_addr = theirs.addr;
	l->peer_len = theirs.len;
	l->peer_rkey = theirs.rkey;
	return 0;
}

int lane_connect(struct side *s, struct lane *l, uint32_t psn, const struct qp_path *path)
{
	struct ibv_ah_attr ah;

	if (lane_exchange(s, l, psn) || qp_connect(s, l->qp, &l->mine, &l->peer, path))
		return -1;
	if (l->qp->qp_type != IBV_QPT_UD)
		return 0;
	qp_address(s, &l->peer.gid, &ah);
	l->ah = ibv_create_ah(s->dev.pd, &ah);
	return l->ah ? 0 : side_fail(s, "create_ah: %s", strerror(errno));
}

void lane_destroy(struct lane *l)
{
	if (l->ah)
		ibv_destroy_ah(l->ah);
	if (l->qp)
		ibv_destroy_qp(l->qp);
	region_destroy(&l->tx);
	region_destroy(&l->rx);
	memset(l, 0, sizeof(*l));
}
