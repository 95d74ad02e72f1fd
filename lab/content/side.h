/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_SIDE_H
#define CONTENT_SIDE_H

#include "conn.h"
#include "device.h"
#include "options.h"

/**
 * struct side - one of the two ends
 * @opt: what the active side decided
 * @conn: the control channel to the other side
 * @dev: the RDMA device
 * @caps: what both sides can do
 * @verdict: how the current case goes
 * @active: this side decides and reports
 * @mtu: path MTU of the current case, enum ibv_mtu
 * @deadline: when the current case ends, in clock_now() time
 * @messages: checked in the current case
 * @bytes: checked in the current case
 */
struct side {
	struct shared_options opt;
	struct conn conn;
	struct device dev;
	struct caps caps;
	struct verdict verdict;
	bool active;
	enum ibv_mtu mtu;
	uint64_t deadline;
	unsigned long messages;
	uint64_t bytes;
};

/* Records a failure of the current case; evaluates to -1. */
#define side_fail(s, ...) verdict_fail(&(s)->verdict, __VA_ARGS__)

/**
 * side_swap - exchange the same amount of data with the other side
 * @s: this side
 * @mine: what to give
 * @theirs: filled in
 * @len: bytes of both
 *
 * Return: 0, -1 with the verdict filled in.
 */
static inline int side_swap(struct side *s, const void *mine, void *theirs, size_t len)
{
	return conn_swap(&s->conn, &s->verdict, mine, theirs, len);
}

/**
 * side_sync - wait until the other side has come as far
 * @s: this side
 *
 * Return: 0, -1 with the verdict filled in.
 */
static inline int side_sync(struct side *s)
{
	return conn_swap(&s->conn, &s->verdict, NULL, NULL, 0);
}

/**
 * side_extend - give the current case more time
 * @s: this side
 * @seconds: how much
 */
static inline void side_extend(struct side *s, unsigned int seconds)
{
	s->deadline += seconds * 1000000000ull;
	s->conn.deadline = s->deadline;
}

#endif
