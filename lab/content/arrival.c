// SPDX-License-Identifier: GPL-2.0-or-later
/* The completions of a batch, each compared with the one that must come next. */
#include "grh.h"
#include "run.h"

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
	while (h->next < r->count && !run_signalled(r, h->next))
		h->next++;
	return h->next < r->count ? h->next++ : WR_END;
}

static unsigned int next_received(const struct run *r, struct half *h)
{
	while (h->next < r->count && !run_ops[run_op(r, h->next)].takes_receive)
		h->next++;
	return h->next < r->count ? h->next++ : WR_END;
}

static int on_sent(struct run *r, struct flow_lane *l, const struct ibv_wc *wc)
{
	unsigned int i = next_sent(r, &l->tx);
	enum flow_op op = i == WR_END ? FLOW_SEND : run_op(r, i);

	if (wc->wr_id != (WR_TX | i))
		return side_fail(r->s, "send completion of message %u, expected %u", (unsigned int)wc->wr_id, i);
	if (wc->opcode != run_ops[op].wc)
		return side_fail(r->s, "send completion with opcode %u, expected %u", wc->opcode, run_ops[op].wc);
	if (op == FLOW_READ && wc->byte_len != l->tx.msg[i].len)
		return side_fail(r->s, "READ completion of %u bytes, expected %u", wc->byte_len, l->tx.msg[i].len);
	return 0;
}

static int check_immediate(struct run *r, unsigned int n, unsigned int i, const struct ibv_wc *wc)
{
	bool with = run_ops[run_op(r, i)].imm;
	uint32_t want = run_immediate(r, n, i, !r->s->active);

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
	return grh_check(r->s, area, &l->lane.peer.gid, l->rx.msg[i].len, run_ops[run_op(r, i)].imm);
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
	opcode = run_ops[run_op(r, i)].rdma ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
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
	unsigned int i, n = run_has_end(r);

	for (i = 0; i < r->count; i++)
		n += run_signalled(r, i);
	return run_sends(r) ? n * r->lanes_now : 0;
}

static unsigned int count_received(const struct run *r)
{
	unsigned int i, n = run_has_end(r);

	for (i = 0; i < r->count; i++)
		n += run_ops[run_op(r, i)].takes_receive;
	return run_receives(r) ? n * r->lanes_now : 0;
}

int run_wait(struct run *r)
{
	unsigned int tx = count_sent(r), rx = count_received(r);

	if (!r->f->split_cq)
		return cqueue_wait(r->s, &r->send_cq, tx + rx, on_completion, r);
	if (cqueue_wait(r->s, &r->send_cq, tx, on_completion, r))
		return -1;
	return cqueue_wait(r->s, &r->recv_cq, rx, on_completion, r);
}
