// SPDX-License-Identifier: GPL-2.0-or-later
/* What both sides compute alike: which messages make a batch, and what each of them is. */
#include "pattern.h"
#include "run.h"

#define BATCH_BYTES	(1u << 20)	/* on one QP, unless one message alone is longer */
#define ALONE_BYTES	(4u << 20)	/* longer messages use the first QP only */

const struct run_op run_ops[FLOW_OPS] = {
	[FLOW_SEND]      = { IBV_WR_SEND, IBV_WC_SEND, .takes_receive = true },
	[FLOW_SEND_IMM]  = { IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, .takes_receive = true, .imm = true },
	[FLOW_WRITE]     = { IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, .rdma = true },
	[FLOW_WRITE_IMM] = { IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE, .takes_receive = true, .imm = true, .rdma = true },
	[FLOW_READ]      = { IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, .rdma = true },
};

bool run_sends(const struct run *r)
{
	return r->s->active || r->f->both_ways;
}

bool run_receives(const struct run *r)
{
	return !r->s->active || r->f->both_ways;
}

enum flow_op run_op(const struct run *r, unsigned int i)
{
	if (!r->f->mixed)
		return r->f->op;
	return (r->first + i) % (r->f->type == IBV_QPT_RC ? FLOW_OPS : FLOW_READ);
}

/* UC says nothing about a WRITE that arrived, so an empty SEND behind the last one tells the receiver that the batch is over. */
bool run_has_end(const struct run *r)
{
	return r->f->type == IBV_QPT_UC && (r->f->mixed || r->f->op == FLOW_WRITE);
}

bool run_signalled(const struct run *r, unsigned int i)
{
	return !r->f->sparse || i % 3 == 2 || i == r->count - 1;
}

/* The same on both sides; @from_active tells the two directions apart. */
uint64_t run_salt(const struct run *r, unsigned int lane, unsigned int i, bool from_active)
{
	return pattern_mix(r->salt ^ (uint64_t)from_active << 63 ^ (uint64_t)lane << 48 ^ (r->first + i));
}

uint32_t run_immediate(const struct run *r, unsigned int lane, unsigned int i, bool from_active)
{
	return pattern_mix(run_salt(r, lane, i, from_active) + 1) >> 32;
}

void run_next_batch(struct run *r)
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

void run_start(struct run *r)
{
	r->batch = 0;
	r->first = r->count = 0;
	run_next_batch(r);
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

unsigned int run_sizes(const struct side *s, const struct flow *f, uint32_t *size)
{
	uint32_t most = size_limit(s, f);
	unsigned int i, n = 0;

	for (i = 0; i < s->opt.size_count; i++)
		if (s->opt.sizes[i] >= f->least && s->opt.sizes[i] <= most)
			size[n++] = s->opt.sizes[i];
	/* The largest that fits is always among them. */
	if (most < BATCH_BYTES && n < SIZES_MAX && (!n || size[n - 1] < most))
		size[n++] = most;
	return n;
}
