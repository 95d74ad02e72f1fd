/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_FAULT_H
#define CONTENT_FAULT_H

#include "side.h"

/* What is wrong with the remote key of a request. */
enum fault_key { KEY_GOOD, KEY_UNKNOWN, KEY_OTHER_PD, KEY_DEREGISTERED };

/* What the target has done about receives. */
enum fault_receive { RECEIVE_GOOD, RECEIVE_NONE, RECEIVE_SHORT, RECEIVE_BAD_KEY };

/* Status that nothing is expected to have. */
#define FAULT_NO_CQE	0xff

/**
 * struct fault_end - what one side must see
 * @status: the wc status a ConnectX gives, FAULT_NO_CQE for no completion
 * @or_status: bits (1 << status) of what else is accepted unless the profile is connectx
 * @vendor: the vendor code a ConnectX gives, 0 when it is not known
 */
struct fault_end {
	uint8_t status;
	uint32_t or_status;
	uint8_t vendor;
};

/**
 * struct fault - a request that must fail, and how
 * @op: what is posted
 * @len: bytes
 * @past: bytes by which it goes past the end of the target's region
 * @shift: added to the remote address
 * @no_mr_right: remote right that the target's region lacks
 * @no_qp_right: remote right that the target's QP lacks
 * @key: what is wrong with the remote key
 * @local_key: the local key is wrong
 * @receive: what the target has posted
 * @vanish: the target's QP is gone
 * @requester: what the requester sees
 * @responder: what the first receive of the target gets
 * @target_lives: the target's QP stays in RTS
 * @event: asynchronous event on the target with the connectx profile, -1 for none
 */
struct fault {
	enum ibv_wr_opcode op;
	uint32_t len;
	uint32_t past;
	uint32_t shift;
	unsigned int no_mr_right;
	unsigned int no_qp_right;
	enum fault_key key;
	bool local_key;
	enum fault_receive receive;
	bool vanish;
	struct fault_end requester;
	struct fault_end responder;
	bool target_lives;
	int event;
};

/**
 * fault_run - post the request of a fault and look at all that follows
 * @s: this side
 * @arg: a struct fault
 *
 * Return: 0, -1 with the verdict filled in.
 */
int fault_run(struct side *s, const void *arg);

/**
 * fault_why_not - say why a fault cannot be provoked
 * @s: this side
 * @arg: a struct fault
 *
 * Return: a reason, NULL if it can.
 */
const char *fault_why_not(const struct side *s, const void *arg);

#endif
