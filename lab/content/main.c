// SPDX-License-Identifier: GPL-2.0-or-later
/* The content test: see --help. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cases.h"
#include "conn.h"
#include "session.h"

#define LISTEN_S	60
#define CONNECT_S	20

struct passive {
	pthread_t thread;
	const char *dev;
	int fd;
	int code;
};

static void on_alarm(int sig)
{
	static const char text[] = "FAIL a verb did not return: gave up\n0 passed, 1 failed, 0 skipped\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(4);
	_exit(3);
}

static void *run_passive(void *arg)
{
	struct passive *p = arg;

	p->code = session_passive(p->dev, p->fd);
	shutdown(p->fd, SHUT_RDWR);
	return NULL;
}

static int loopback(const struct options *o)
{
	struct passive p = { .dev = o->peer_dev };
	int fd[2], code;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		return 2;
	p.fd = fd[1];
	if (pthread_create(&p.thread, NULL, run_passive, &p))
		return 2;
	code = session_active(o, fd[0]);
	shutdown(fd[0], SHUT_RDWR);
	pthread_join(p.thread, NULL);
	return code ? code : p.code;
}

static int list(const struct options *o)
{
	unsigned int i;

	for (i = 0; i < test_case_count; i++)
		if (case_selected(test_cases[i].name, o->only, o->skip))
			puts(test_cases[i].name);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o;
	int fd;

	options_parse(&o, argc, argv);
	signal(SIGALRM, on_alarm);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (o.list)
		return list(&o);
	if (o.loopback)
		return loopback(&o);
	fd = o.listen ? conn_listen(o.port, LISTEN_S) : conn_connect(o.host, o.port, CONNECT_S);
	if (fd < 0) {
		fprintf(stderr, "content: %s: %s\n", o.listen ? "nobody came" : o.host, strerror(errno));
		return 2;
	}
	return o.listen ? session_passive(o.dev, fd) : session_active(&o, fd);
}
