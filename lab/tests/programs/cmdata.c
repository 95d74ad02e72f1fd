// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Private data of a connection: 56 bytes in the request, 196 in the reply, each compared.
 *
 * cmdata serve|ask ADDRESS
 */
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT		"7472"
#define ASK_BYTES	56	/* what rdma_cm leaves of the 92 of a request */
#define ANSWER_BYTES	196	/* all of a reply */
#define WAIT_MS		5000

static int die(const char *what)
{
	fprintf(stderr, "cmdata: %s: %s\n", what, errno ? strerror(errno) : "wrong");
	exit(1);
}

static void fill(uint8_t *data, unsigned int len, uint8_t seed)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		data[i] = seed + 7 * i;
}

/* The CM's message is longer than the data: only the first @len bytes are ours, and they are never fewer. */
static void check(const struct rdma_conn_param *p, unsigned int len, uint8_t seed)
{
	const uint8_t *got = p->private_data;
	unsigned int i;

	errno = 0;
	if (!got || p->private_data_len < len) {
		fprintf(stderr, "cmdata: %u bytes came, expected %u\n", p->private_data_len, len);
		exit(1);
	}
	for (i = 0; i < len; i++)
		if (got[i] != (uint8_t)(seed + 7 * i)) {
			fprintf(stderr, "cmdata: byte %u is 0x%02x, expected 0x%02x\n", i, got[i], (uint8_t)(seed + 7 * i));
			exit(1);
		}
}

static struct rdma_cm_event *expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;

	if (rdma_get_cm_event(ch, &e))
		die("get_cm_event");
	if (e->event != type) {
		fprintf(stderr, "cmdata: %s (status %d), expected %s\n", rdma_event_str(e->event), e->status, rdma_event_str(type));
		exit(1);
	}
	return e;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC };

	a.cap = (struct ibv_qp_cap){ .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 };
	if (rdma_create_qp(id, NULL, &a))
		die("create_qp");
}

static void serve(struct rdma_event_channel *ch, struct rdma_addrinfo *ai)
{
	uint8_t data[ANSWER_BYTES];
	struct rdma_conn_param p = { .private_data = data, .private_data_len = sizeof(data), .responder_resources = 1,
				     .initiator_depth = 1 };
	struct rdma_cm_id *listener, *id;
	struct rdma_cm_event *e;

	if (rdma_create_id(ch, &listener, NULL, RDMA_PS_TCP) || rdma_bind_addr(listener, ai->ai_src_addr) || rdma_listen(listener, 1))
		die("listen");
	e = expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST);
	check(&e->param.conn, ASK_BYTES, 1);
	id = e->id;
	rdma_ack_cm_event(e);
	make_qp(id);
	fill(data, sizeof(data), 2);
	if (rdma_accept(id, &p))
		die("accept");
	rdma_ack_cm_event(expect(ch, RDMA_CM_EVENT_ESTABLISHED));
	rdma_ack_cm_event(expect(ch, RDMA_CM_EVENT_DISCONNECTED));
	rdma_disconnect(id);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
}

static void resolve(struct rdma_event_channel *ch, struct rdma_cm_id *id, struct rdma_addrinfo *ai)
{
	if (rdma_resolve_addr(id, NULL, ai->ai_dst_addr, WAIT_MS))
		die("resolve_addr");
	rdma_ack_cm_event(expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	if (rdma_resolve_route(id, WAIT_MS))
		die("resolve_route");
	rdma_ack_cm_event(expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
}

static void ask(struct rdma_event_channel *ch, struct rdma_addrinfo *ai)
{
	uint8_t data[ASK_BYTES + 1];
	struct rdma_conn_param p = { .private_data = data, .private_data_len = sizeof(data), .responder_resources = 1,
				     .initiator_depth = 1, .retry_count = 7 };
	struct rdma_cm_event *e;
	struct rdma_cm_id *id;

	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		die("create_id");
	resolve(ch, id, ai);
	make_qp(id);
	fill(data, sizeof(data), 1);
	if (!rdma_connect(id, &p) || errno != EINVAL)
		die("a byte too many is not refused");
	p.private_data_len = ASK_BYTES;
	if (rdma_connect(id, &p))
		die("connect");
	e = expect(ch, RDMA_CM_EVENT_ESTABLISHED);
	check(&e->param.conn, ANSWER_BYTES, 2);
	rdma_ack_cm_event(e);
	rdma_disconnect(id);
	rdma_ack_cm_event(expect(ch, RDMA_CM_EVENT_DISCONNECTED));
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	puts("all of it came");
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hint = { .ai_port_space = RDMA_PS_TCP }, *ai;
	struct rdma_event_channel *ch;
	bool server = argc == 3 && !strcmp(argv[1], "serve");

	if (argc != 3 || (!server && strcmp(argv[1], "ask"))) {
		fprintf(stderr, "usage: cmdata serve|ask ADDRESS\n");
		return 2;
	}
	alarm(30);
	hint.ai_flags = server ? RAI_PASSIVE | RAI_NUMERICHOST : RAI_NUMERICHOST;
	if (rdma_getaddrinfo(argv[2], PORT, &hint, &ai))
		die("getaddrinfo");
	ch = rdma_create_event_channel();
	if (!ch)
		die("create_event_channel");
	if (server)
		serve(ch, ai);
	else
		ask(ch, ai);
	rdma_freeaddrinfo(ai);
	rdma_destroy_event_channel(ch);
	return 0;
}
