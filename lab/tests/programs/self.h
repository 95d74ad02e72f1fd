/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs of one guest share: a device, a queue pair that is its own
 * peer, the process's pinned memory, verbs that the library would not send.
 */
#ifndef SELF_H
#define SELF_H

#define _GNU_SOURCE		/* before the first header: include this one first */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <linux/capability.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define ANY_RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

struct self {
	struct ibv_context *ctx;
	struct ibv_cq *cq;
	unsigned int gid_index;
};

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline void self_open(struct self *s, const char *name,
			     const char *gid_index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned int i;

	for (i = 0; list && list[i] && !s->ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			s->ctx = ibv_open_device(list[i]);
	if (!s->ctx)
		die(name);
	ibv_free_device_list(list);
	s->gid_index = strtoul(gid_index, NULL, 0);
	s->cq = ibv_create_cq(s->ctx, 64, NULL, NULL, 0);
	if (!s->cq)
		die("ibv_create_cq");
}

/* Root without the right to pin more than its limit. */
static inline void obey_memlock(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[2];

	if (syscall(SYS_capget, &head, caps))
		die("capget");
	caps[0].effective &= ~(1u << CAP_IPC_LOCK);
	caps[0].permitted &= ~(1u << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &head, caps))
		die("capset");
}

/* KiB that the process has pinned */
static inline long pinned(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmPin: %ld", &kib) == 1)
			break;
	if (!file || kib < 0)
		die("/proc/self/status");
	fclose(file);
	return kib;
}

static inline struct ibv_qp *self_qp(struct self *s, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = s->cq, .recv_cq = s->cq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp)
		die("ibv_create_qp");
	return qp;
}

/* From any state to one in which it sends to itself. */
static inline void self_connect(struct self *s, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	union ibv_gid gid;

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE) ||
	    ibv_query_gid(s->ctx, 1, s->gid_index, &gid))
		die("to RESET");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = ANY_RIGHTS,
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("to INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = gid, .hop_limit = 64,
				      .sgid_index = s->gid_index } },
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

/* Post one request that the QP's peer, itself, answers: its status. */
static inline enum ibv_wc_status self_try(struct self *s, struct ibv_qp *qp,
					  struct ibv_send_wr *wr)
{
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(qp, wr, &bad))
		return IBV_WC_GENERAL_ERR;
	while (!ibv_poll_cq(s->cq, 1, &wc))
		;
	if (wc.status != IBV_WC_SUCCESS)
		self_connect(s, qp);
	return wc.status;
}

/* Whose ABI the kernel expects. */
static inline uint32_t raw_driver(struct ibv_context *ctx)
{
	return strncmp(ibv_get_device_name(ctx->device), "rxe", 3) ?
	       RDMA_DRIVER_MLX5 : RDMA_DRIVER_RXE;
}

/* A write command as the kernel takes it, whatever the library thinks of it. */
static inline int raw_verb(struct ibv_context *ctx, uint64_t command,
			   const void *in, uint16_t in_len, void *out,
			   uint16_t out_len)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[3];
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_INVOKE_WRITE,
			.num_attrs = out ? 3 : 2,
			.driver_id = raw_driver(ctx),
		},
		.attrs = {
			{ .attr_id = UVERBS_ATTR_WRITE_CMD, .len = 8,
			  .flags = UVERBS_ATTR_F_MANDATORY, .data = command },
			{ .attr_id = UVERBS_ATTR_CORE_IN, .len = in_len,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)in },
			{ .attr_id = UVERBS_ATTR_CORE_OUT, .len = out_len,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)out },
		},
	};

	if (!out)
		cmd.hdr.length -= sizeof(cmd.attrs[2]);
	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &cmd) ? errno : 0;
}

/* The keys of a region that was changed are taken over: 0 or an errno. */
static inline int raw_rereg(struct ibv_mr *mr, int flags, void *addr,
			    uint64_t len, int access, struct ibv_pd *pd)
{
	struct ib_uverbs_rereg_mr in = {
		.mr_handle = mr->handle, .flags = flags,
		.start = (uintptr_t)addr, .length = len,
		.hca_va = (uintptr_t)addr, .pd_handle = pd->handle,
		.access_flags = access,
	};
	struct ib_uverbs_rereg_mr_resp out = { 0 };
	int err = raw_verb(mr->context, IB_USER_VERBS_CMD_REREG_MR, &in,
			   sizeof(in), &out, sizeof(out));

	if (!err) {
		mr->lkey = out.lkey;
		mr->rkey = out.rkey;
	}
	return err;
}

static inline int raw_dereg(struct ibv_context *ctx, uint32_t handle)
{
	struct ib_uverbs_dereg_mr in = { .mr_handle = handle };

	return raw_verb(ctx, IB_USER_VERBS_CMD_DEREG_MR, &in, sizeof(in),
			NULL, 0);
}

#endif
