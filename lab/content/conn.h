/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_CONN_H
#define CONTENT_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verdict.h"

/*
 * The control channel: a stream socket on which the two sides agree on each step. A side that gives up a case sends its verdict
 * in place of the next step, so the other never waits for what will not come.
 */

#define CONN_MAX	4096	/* bytes of one control message */
#define CONN_GAVE_UP	"the other side gave up"

/**
 * struct conn - a control channel
 * @fd: the socket
 * @deadline: when waiting for the peer ends, in clock_now() time
 * @peer_done: the peer has sent its verdict on the current case
 * @peer: that verdict
 */
struct conn {
	int fd;
	uint64_t deadline;
	bool peer_done;
	struct verdict peer;
};

/**
 * conn_listen - wait for one peer
 * @port: TCP port on every local address
 * @timeout_s: seconds to wait
 *
 * Return: a connected socket, -1 with errno set.
 */
int conn_listen(unsigned int port, unsigned int timeout_s);

/**
 * conn_connect - reach a listening peer
 * @host: its name or address
 * @port: TCP port
 * @timeout_s: how long to try again when it is not there yet
 *
 * Return: a connected socket, -1 with errno set.
 */
int conn_connect(const char *host, unsigned int port, unsigned int timeout_s);

/**
 * conn_command - tell the passive side what is next
 * @c: the channel
 * @buf: command
 * @len: its size
 *
 * Return: 0, -1 when the channel is broken.
 */
int conn_command(struct conn *c, const void *buf, size_t len);

/**
 * conn_next - receive what conn_command() sent
 * @c: the channel
 * @buf: filled in
 * @len: its size
 *
 * Return: 0, -1 when the channel is broken, silent or out of step.
 */
int conn_next(struct conn *c, void *buf, size_t len);

/**
 * conn_swap - give the peer something and take the same amount from it
 * @c: the channel
 * @v: filled in on failure
 * @mine: what to give; NULL with @len 0 only waits for the peer
 * @theirs: filled in
 * @len: bytes of both
 *
 * Return: 0, -1 with @v filled in when the peer gave up or is silent past the deadline.
 */
int conn_swap(struct conn *c, struct verdict *v, const void *mine, void *theirs, size_t len);

/**
 * conn_lost - look whether the peer has given up the current case, or is gone
 * @c: the channel
 *
 * Takes nothing off the channel and does not wait.
 */
bool conn_lost(const struct conn *c);

/**
 * conn_finish - exchange the verdicts that end a case
 * @c: the channel; its peer field is valid afterwards
 * @mine: this side's verdict
 *
 * Return: 0, -1 when the channel is broken.
 */
int conn_finish(struct conn *c, const struct verdict *mine);

#endif
