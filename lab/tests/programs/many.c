// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many connected queue pairs and many regions on one device, all of them used.
 *
 *	many DEVICE GID-INDEX QPS REGIONS
 *
 * Every second queue pair is connected to the one before it. Queue pair n
 * writes region n (64 KiB) into the region after it. Then the program prints
 * "ready", and holds everything until it is killed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define REGION	65536u
#define DEPTH	64u

struct many {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	union ibv_gid gid;
	unsigned int gid_index, qps, regions;
	struct ibv_qp **qp;
	struct ibv_mr **mr;
};

static void die(const char *what)
{
	fprintf(stderr, "many: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	unsigned int i;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static void set_up(struct many *m, const char *device)
{
	m->ctx = open_device(device);
	if (!m->ctx)
		die(device);
	m->pd = ibv_alloc_pd(m->ctx);
	m->cq = ibv_create_cq(m->ctx, 4096, NULL, NULL, 0);
	if (!m->pd || !m->cq || ibv_query_gid(m->ctx, 1, m->gid_index, &m->gid))
		die("PD, CQ or GID");
	m->qp = calloc(m->qps, sizeof(*m->qp));
	m->mr = calloc(m->regions, sizeof(*m->mr));
	if (!m->qp || !m->mr)
		die("memory");
}

static void create(struct many *m)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = m->cq, .recv_cq = m->cq,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 4, .max_recv_sge = 4 },
	};
	unsigned int i;
	char *area;

	area = aligned_alloc(4096, (size_t)m->regions * REGION);
	if (!area)
		die("memory");
	memset(area, 1, (size_t)m->regions * REGION);
	for (i = 0; i < m->regions; i++) {
		m->mr[i] = ibv_reg_mr(m->pd, area + (size_t)i * REGION, REGION,
				      IBV_ACCESS_LOCAL_WRITE |
				      IBV_ACCESS_REMOTE_WRITE);
		if (!m->mr[i])
			die("ibv_reg_mr");
	}
	for (i = 0; i < m->qps; i++) {
		m->qp[i] = ibv_create_qp(m->pd, &init);
		if (!m->qp[i])
			die("ibv_create_qp");
	}
}

static void connect_qp(struct many *m, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("to INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = m->gid, .hop_limit = 64,
				      .sgid_index = m->gid_index } },
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("to RTR");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1,
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("to RTS");
}

static void write_one(struct many *m, unsigned int n)
{
	struct ibv_mr *from = m->mr[n % m->regions];
	struct ibv_mr *to = m->mr[(n + 1) % m->regions];
	struct ibv_sge sge = { (uintptr_t)from->addr, REGION, from->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)to->addr, to->rkey },
	};
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

	if (ibv_post_send(m->qp[n], &wr, &bad))
		die("ibv_post_send");
	while (!ibv_poll_cq(m->cq, 1, &wc))
		;
	if (wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "many: write %u: %s\n", n,
			ibv_wc_status_str(wc.status));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct many m = { 0 };
	unsigned int i;

	if (argc != 5) {
		fprintf(stderr, "usage: many DEVICE GID-INDEX QPS REGIONS\n");
		return 2;
	}
	m.gid_index = strtoul(argv[2], NULL, 0);
	m.qps = strtoul(argv[3], NULL, 0) & ~1u;
	m.regions = strtoul(argv[4], NULL, 0);
	if (!m.qps || !m.regions) {
		fprintf(stderr, "many: two queue pairs and a region at least\n");
		return 2;
	}
	set_up(&m, argv[1]);
	create(&m);
	for (i = 0; i < m.qps; i++)
		connect_qp(&m, m.qp[i], m.qp[i ^ 1]->qp_num);
	for (i = 0; i < m.qps; i++)
		write_one(&m, i);
	printf("ready: %u queue pairs, %u regions\n", m.qps, m.regions);
	fflush(stdout);
	pause();
	return 0;
}
