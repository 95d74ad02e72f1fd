/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_FLOW_H
#define CONTENT_FLOW_H

#include "side.h"

enum flow_op { FLOW_SEND, FLOW_SEND_IMM, FLOW_WRITE, FLOW_WRITE_IMM, FLOW_READ, FLOW_OPS };

/**
 * struct flow - a case that moves messages of all sizes and checks them
 * @type: RC, UC or UD
 * @op: what is posted
 * @mixed: every operation of the transport in turn, @op is not used
 * @sges: elements of a work request
 * @qps: number of QPs, 0 for the option's
 * @depth: messages in flight on a QP, 0 for the option's
 * @inlined: data is inline and overwritten as soon as it is posted
 * @by_event: completions are awaited, not polled
 * @both_ways: both sides send at the same time on the same QPs
 * @split_cq: receives complete on a CQ of their own
 * @sparse: only some sends are signalled
 * @solicited: the receiver is armed for the last message of a batch only
 * @wrap: the first PSN is 0xfffff0, so that PSNs wrap early
 * @least: smallest size, bytes
 * @most: largest size, bytes, 0 for no limit
 */
struct flow {
	enum ibv_qp_type type;
	enum flow_op op;
	bool mixed;
	unsigned int sges;
	unsigned int qps;
	unsigned int depth;
	bool inlined;
	bool by_event;
	bool both_ways;
	bool split_cq;
	bool sparse;
	bool solicited;
	bool wrap;
	uint32_t least;
	uint32_t most;
};

/**
 * flow_run - run one flow
 * @s: this side
 * @arg: a struct flow
 *
 * Return: 0, -1 with the verdict filled in.
 */
int flow_run(struct side *s, const void *arg);

/**
 * flow_why_not - say why a flow cannot run
 * @s: this side
 * @arg: a struct flow
 *
 * Return: a reason, NULL if it can.
 */
const char *flow_why_not(const struct side *s, const void *arg);

#endif
