/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_RUN_H
#define CONTENT_RUN_H

#include "cq.h"
#include "flow.h"
#include "lane.h"

#define DEPTH_MAX	64
#define WR_TX		(1ull << 63)	/* wr_id of a send; a receive has it clear */
#define WR_END		DEPTH_MAX	/* message number of the marker that ends a batch */

/**
 * struct run_op - what an operation of a flow is to verbs
 * @wr: opcode of the request
 * @wc: opcode of its completion
 * @takes_receive: uses up a receive of the peer
 * @imm: carries an immediate value
 * @rdma: names memory of the peer
 */
struct run_op {
	enum ibv_wr_opcode wr;
	enum ibv_wc_opcode wc;
	bool takes_receive;
	bool imm;
	bool rdma;
};

extern const struct run_op run_ops[FLOW_OPS];

/**
 * struct half - the messages of a batch in one arena
 * @msg: the messages
 * @next: how far their completions have come
 */
struct half {
	struct message msg[DEPTH_MAX];
	unsigned int next;
};

/**
 * struct flow_lane - a lane and the messages on it
 * @lane: the QP and its memory
 * @tx: what this side's requests read or fill
 * @rx: what the peer's requests reach
 * @far: where this side's requests end: the peer's rx, computed
 */
struct flow_lane {
	struct lane lane;
	struct half tx;
	struct half rx;
	struct half far;
};

/**
 * struct run - a flow that is being run
 * @s: this side
 * @f: the flow
 * @send_cq: where sends complete
 * @recv_cq: where receives complete, unused unless the flow splits them
 * @lane: the lanes
 * @lanes: number of them
 * @depth: most messages of a batch
 * @size: all sizes
 * @sizes: number of them
 * @salt: makes this flow's messages differ from other flows'
 * @batch: number of the current batch
 * @first: index of its first message
 * @count: messages in it on each lane
 * @lanes_now: lanes that take part in it
 */
struct run {
	struct side *s;
	const struct flow *f;
	struct cqueue send_cq;
	struct cqueue recv_cq;
	struct flow_lane *lane;
	unsigned int lanes;
	unsigned int depth;
	uint32_t size[SIZES_MAX];
	unsigned int sizes;
	uint64_t salt;
	unsigned int batch;
	unsigned int first;
	unsigned int count;
	unsigned int lanes_now;
};

/* Whether this side posts sends. */
bool run_sends(const struct run *r);

/* Whether this side is the target of sends. */
bool run_receives(const struct run *r);

/* What message @i of the batch does. */
enum flow_op run_op(const struct run *r, unsigned int i);

/* Whether an empty SEND ends each batch. */
bool run_has_end(const struct run *r);

/* Whether message @i of the batch asks for a send completion. */
bool run_signalled(const struct run *r, unsigned int i);

/* A number for message @i of a lane, the same on both sides; @from_active tells the two directions apart. */
uint64_t run_salt(const struct run *r, unsigned int lane, unsigned int i, bool from_active);

/* The immediate value of that message. */
uint32_t run_immediate(const struct run *r, unsigned int lane, unsigned int i, bool from_active);

/* Makes the first batch the current one. */
void run_start(struct run *r);

/* Makes the next batch the current one; its count is 0 when there is none. */
void run_next_batch(struct run *r);

/* Fills in the sizes of a flow's messages. Return: their number. */
unsigned int run_sizes(const struct side *s, const struct flow *f, uint32_t *size);

/**
 * run_wait - take and check all completions of the current batch
 * @r: the run
 *
 * Return: 0, -1 with the verdict filled in.
 */
int run_wait(struct run *r);

#endif
