// SPDX-License-Identifier: GPL-2.0-or-later
/* The control channel between the two sides. */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "conn.h"

/* The peer's own deadline may pass a little later than ours. */
#define GRACE	(5 * SECOND)

enum frame_type { FRAME_COMMAND = 1, FRAME_STEP, FRAME_VERDICT };

struct frame {
	uint32_t type;
	uint32_t len;
};

int conn_listen(unsigned int port, unsigned int timeout_s)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct pollfd p = { .events = POLLIN };
	int one = 1, fd = -1;

	p.fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p.fd < 0)
		return -1;
	setsockopt(p.fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(p.fd, (struct sockaddr *)&any, sizeof(any)) || listen(p.fd, 1))
		goto out;
	if (poll(&p, 1, timeout_s * 1000) == 1)
		fd = accept(p.fd, NULL, NULL);
	else
		errno = ETIMEDOUT;
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
out:
	close(p.fd);
	return fd;
}

static int connect_once(const struct addrinfo *ai)
{
	int one = 1, fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (connect(fd, ai->ai_addr, ai->ai_addrlen)) {
		close(fd);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

int conn_connect(const char *host, unsigned int port, unsigned int timeout_s)
{
	struct addrinfo hint = { .ai_socktype = SOCK_STREAM }, *ai;
	uint64_t deadline = clock_now() + timeout_s * SECOND;
	char service[8];
	int fd;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(host, service, &hint, &ai)) {
		errno = EADDRNOTAVAIL;
		return -1;
	}
	while ((fd = connect_once(ai)) < 0 && clock_now() < deadline)
		usleep(100000);
	freeaddrinfo(ai);
	return fd;
}

static int send_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	for (; len; p += n, len -= n) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n <= 0)
			return -1;
	}
	return 0;
}

static int recv_all(int fd, void *buf, size_t len, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char *at = buf;
	ssize_t n;

	for (; len; at += n, len -= n) {
		if (poll(&p, 1, clock_left_ms(deadline)) != 1) {
			errno = ETIMEDOUT;
			return -1;
		}
		n = recv(fd, at, len, 0);
		if (n <= 0) {
			errno = n ? errno : ECONNRESET;
			return -1;
		}
	}
	return 0;
}

static int send_frame(struct conn *c, enum frame_type type, const void *buf, size_t len)
{
	struct frame f = { .type = type, .len = len };

	return send_all(c->fd, &f, sizeof(f)) || send_all(c->fd, buf, len) ? -1 : 0;
}

/* A verdict is kept here; the caller sees its type only. */
static int recv_frame(struct conn *c, void *buf, size_t len)
{
	char skipped[CONN_MAX];
	struct frame f;

	if (recv_all(c->fd, &f, sizeof(f), c->deadline + GRACE))
		return -1;
	if (f.type == FRAME_VERDICT && f.len == sizeof(c->peer)) {
		c->peer_done = true;
		return recv_all(c->fd, &c->peer, f.len, c->deadline + GRACE) ? -1 : FRAME_VERDICT;
	}
	if (f.len > sizeof(skipped) || (buf && f.len != len)) {
		errno = EPROTO;
		return -1;
	}
	if (recv_all(c->fd, buf ? buf : skipped, f.len, c->deadline + GRACE))
		return -1;
	return f.type;
}

int conn_command(struct conn *c, const void *buf, size_t len)
{
	c->peer_done = false;
	return send_frame(c, FRAME_COMMAND, buf, len);
}

int conn_next(struct conn *c, void *buf, size_t len)
{
	c->peer_done = false;
	return recv_frame(c, buf, len) == FRAME_COMMAND ? 0 : -1;
}

int conn_swap(struct conn *c, struct verdict *v, const void *mine, void *theirs, size_t len)
{
	char none[1];
	int type;

	if (c->peer_done)
		return verdict_fail(v, CONN_GAVE_UP);
	if (send_frame(c, FRAME_STEP, mine, len))
		return verdict_fail(v, "control channel: %s", strerror(errno));
	type = recv_frame(c, theirs ? theirs : none, len);
	if (type == FRAME_VERDICT)
		return verdict_fail(v, CONN_GAVE_UP);
	if (type != FRAME_STEP)
		return verdict_fail(v, "control channel: %s", type < 0 ? strerror(errno) : "out of step");
	return 0;
}

bool conn_lost(const struct conn *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };
	struct {
		struct frame frame;
		struct verdict verdict;
	} m;

	if (poll(&p, 1, 0) == 1)
		return true;
	/* A peer that has passed may be done before we have seen our last completion. */
	return recv(c->fd, &m, sizeof(m), MSG_PEEK | MSG_DONTWAIT) == sizeof(m) && m.frame.type == FRAME_VERDICT &&
	       m.verdict.outcome != PASSED;
}

int conn_finish(struct conn *c, const struct verdict *mine)
{
	int type = FRAME_STEP;

	if (send_frame(c, FRAME_VERDICT, mine, sizeof(*mine)))
		return -1;
	while (!c->peer_done && type > 0)
		type = recv_frame(c, NULL, 0);
	return c->peer_done ? 0 : -1;
}
