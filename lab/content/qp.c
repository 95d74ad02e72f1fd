// SPDX-License-Identifier: GPL-2.0-or-later
/* Queue pairs and their way to RTS. */
#include <errno.h>
#include <string.h>

#include "qp.h"

/* ACK timeout 16 is 0.27 s, RNR timer 12 is 0.64 ms: rare enough on a busy emulator, quick enough with lost packets. */
const struct qp_path qp_path_default = {
	.rights = QP_RIGHTS, .timeout = 16, .retry = 7, .rnr_retry = 7, .rnr_timer = 12,
};

struct ibv_qp *qp_create(struct side *s, const struct qp_spec *spec)
{
	struct ibv_qp_init_attr a = { .qp_type = spec->type, .send_cq = spec->send_cq, .recv_cq = spec->recv_cq };
	struct ibv_qp *qp;

	a.cap.max_send_wr = a.cap.max_recv_wr = spec->depth;
	a.cap.max_send_sge = a.cap.max_recv_sge = spec->sges;
	a.cap.max_inline_data = spec->inline_bytes;
	qp = ibv_create_qp(s->dev.pd, &a);
	if (!qp) {
		side_fail(s, "create_qp: %s", strerror(errno));
		return NULL;
	}
	if (a.cap.max_send_wr < spec->depth || a.cap.max_recv_wr < spec->depth || a.cap.max_send_sge < spec->sges ||
	    a.cap.max_recv_sge < spec->sges || a.cap.max_inline_data < spec->inline_bytes) {
		side_fail(s, "create_qp gave less than was asked for");
		ibv_destroy_qp(qp);
		return NULL;
	}
	return qp;
}

void qp_address(const struct side *s, const union ibv_gid *gid, struct ibv_ah_attr *ah)
{
	memset(ah, 0, sizeof(*ah));
	ah->is_global = 1;
	ah->port_num = DEVICE_PORT;
	ah->grh.dgid = *gid;
	ah->grh.sgid_index = s->dev.gid_index;
	ah->grh.hop_limit = 64;
}

int qp_init_attr(const struct ibv_qp *qp, const struct qp_path *path, struct ibv_qp_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->qp_state = IBV_QPS_INIT;
	a->port_num = DEVICE_PORT;
	a->qkey = QP_QKEY;
	a->qp_access_flags = path->rights;
	if (qp->qp_type == IBV_QPT_UC)
		a->qp_access_flags &= IBV_ACCESS_REMOTE_WRITE;
	return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	       (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
}

int qp_rtr_attr(const struct side *s, const struct ibv_qp *qp, const struct endpoint *peer, const struct qp_path *path,
		struct ibv_qp_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->qp_state = IBV_QPS_RTR;
	if (qp->qp_type == IBV_QPT_UD)
		return IBV_QP_STATE;
	a->path_mtu = s->mtu;
	a->dest_qp_num = peer->qpn;
	a->rq_psn = peer->psn;
	a->max_dest_rd_atomic = s->caps.rd_atomic;
	a->min_rnr_timer = path->rnr_timer;
	qp_address(s, &peer->gid, &a->ah_attr);
	return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       (qp->qp_type == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
}

int qp_rts_attr(const struct side *s, const struct ibv_qp *qp, uint32_t psn, const struct qp_path *path, struct ibv_qp_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->qp_state = IBV_QPS_RTS;
	a->sq_psn = psn;
	if (qp->qp_type != IBV_QPT_RC)
		return IBV_QP_STATE | IBV_QP_SQ_PSN;
	a->timeout = path->timeout;
	a->retry_cnt = path->retry;
	a->rnr_retry = path->rnr_retry;
	a->max_rd_atomic = s->caps.rd_atomic;
	return IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
}

static int modify(struct side *s, struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	static const char *const names[] = {
		[IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT", [IBV_QPS_RTR] = "RTR", [IBV_QPS_RTS] = "RTS",
		[IBV_QPS_SQD] = "SQD", [IBV_QPS_SQE] = "SQE", [IBV_QPS_ERR] = "ERR",
	};
	int err = ibv_modify_qp(qp, a, mask);

	return err ? side_fail(s, "modify_qp to %s: %s", names[a->qp_state], strerror(err)) : 0;
}

int qp_connect(struct side *s, struct ibv_qp *qp, const struct endpoint *mine, const struct endpoint *peer,
	       const struct qp_path *path)
{
	struct ibv_qp_attr a;
	int mask;

	mask = qp_init_attr(qp, path, &a);
	if (modify(s, qp, &a, mask))
		return -1;
	mask = qp_rtr_attr(s, qp, peer, path, &a);
	if (modify(s, qp, &a, mask))
		return -1;
	mask = qp_rts_attr(s, qp, mine->psn, path, &a);
	return modify(s, qp, &a, mask);
}

enum ibv_qp_state qp_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	return ibv_query_qp(qp, &a, IBV_QP_STATE, &init) ? IBV_QPS_UNKNOWN : a.qp_state;
}

int qp_move(struct side *s, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr a = { .qp_state = state };

	return modify(s, qp, &a, IBV_QP_STATE);
}
