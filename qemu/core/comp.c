// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CQEs of queue pairs, as drivers/infiniband/hw/mlx5/cq.c and rdma-core's
 * providers/mlx5/cq.c read them.
 */
#include "comp.h"

#define USER_INDEX_NONE 0xffffffu
#define SOLICITED       (1u << 1)
#define GRH_PRESENT     (1u << 28)
#define VLAN_STRIPPED   1u

_Static_assert(sizeof(struct mlx5_cqe64) == 64, "a CQE has 64 bytes");
_Static_assert(offsetof(struct mlx5_err_cqe, syndrome) == 0x37,
               "where drivers look for the syndrome");

/* A CQ that is full takes its queues with it; nothing was overwritten. */
static void post(MocxDev *dev, MocxQp *qp, MocxCq *cq, struct mlx5_cqe64 *cqe)
{
    if (!cq || mocx_cq_post(dev, cq, cqe)) {
        return;
    }
    if (qp->state != MOCX_QP_ERR) {
        mocx_qp_count(dev, qp)->cq_overflow++;
        mocx_qp_fatal(dev, qp);
    }
}

/*
 * CQE version 1 finds the queue by the index that user space gave it; a kernel
 * QP has none and keeps the number of its SRQ there (IB/cq.c:handle_responder).
 */
static uint32_t srqn_or_user_index(const MocxQp *qp, const MocxSrq *srq)
{
    if (srq && srq->kind == MOCX_SRQ_XRC) {
        return srq->user_index != USER_INDEX_NONE ? srq->user_index
                                                  : srq->obj.id;
    }
    if (qp->user_index != USER_INDEX_NONE) {
        return qp->user_index;
    }
    return srq ? srq->obj.id : 0;
}

static uint32_t result_bytes(const MocxSendRec *rec)
{
    return rec->read ? rec->len : 0;
}

void mocx_comp_send(MocxDev *dev, MocxQp *qp, const MocxSendRec *rec)
{
    struct mlx5_cqe64 cqe = {
        .srqn_uidx = htobe32(srqn_or_user_index(qp, NULL)),
        .byte_cnt = htobe32(result_bytes(rec)),
        .sop_drop_qpn = htobe32((uint32_t)rec->opcode << 24 | mocx_qpn(qp)),
        .wqe_counter = htobe16(rec->counter),
        .op_own = MLX5_CQE_REQ << 4,
    };

    if (rec->signalled) {
        post(dev, qp, qp->scq, &cqe);
    }
}

static void put_error(struct mlx5_cqe64 *cqe, MocxErr err)
{
    struct mlx5_err_cqe *e = (struct mlx5_err_cqe *)cqe;

    e->vendor_err_synd = err.vendor;
    e->syndrome = err.syndrome;
}

/* Which Q counter a syndrome raises, by side. */
#define COUNTER(field) offsetof(MocxQCounter, field)

static const uint16_t send_counters[] = {
    [MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR] = COUNTER(req_local_length_error),
    [MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR] = COUNTER(local_operation_error),
    [MLX5_CQE_SYNDROME_LOCAL_PROT_ERR] = COUNTER(req_local_protection),
    [MLX5_CQE_SYNDROME_WR_FLUSH_ERR] = COUNTER(req_cqe_flush_error),
    [MLX5_CQE_SYNDROME_MW_BIND_ERR] = COUNTER(req_mw_binding),
    [MLX5_CQE_SYNDROME_BAD_RESP_ERR] = COUNTER(req_bad_response),
    [MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR] =
        COUNTER(req_remote_invalid_request),
    [MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR] = COUNTER(req_remote_access_errors),
    [MLX5_CQE_SYNDROME_REMOTE_OP_ERR] = COUNTER(req_remote_operation_errors),
    [MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR] =
        COUNTER(req_transport_retries_exceeded),
    [MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR] = COUNTER(req_rnr_retries_exceeded),
};

static const uint16_t recv_counters[] = {
    [MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR] = COUNTER(resp_local_length_error),
    [MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR] = COUNTER(resp_local_qp_error),
    [MLX5_CQE_SYNDROME_LOCAL_PROT_ERR] = COUNTER(resp_local_protection),
    [MLX5_CQE_SYNDROME_WR_FLUSH_ERR] = COUNTER(resp_cqe_flush_error),
    [MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR] =
        COUNTER(resp_remote_invalid_request),
};

#define NUM(a) (sizeof(a) / sizeof((a)[0]))

static void count(MocxQCounter *set, const uint16_t *offsets, size_t n,
                  uint8_t syndrome)
{
    if (syndrome < n && offsets[syndrome]) {
        ++*(uint32_t *)((char *)set + offsets[syndrome]);
    }
}

void mocx_comp_send_err(MocxDev *dev, MocxQp *qp, uint16_t counter,
                        uint8_t opcode, MocxErr err)
{
    struct mlx5_cqe64 cqe = {
        .srqn_uidx = htobe32(srqn_or_user_index(qp, NULL)),
        .sop_drop_qpn = htobe32((uint32_t)opcode << 24 | mocx_qpn(qp)),
        .wqe_counter = htobe16(counter),
        .op_own = MLX5_CQE_REQ_ERR << 4 | SOLICITED,
    };
    MocxQCounter *set = mocx_qp_count(dev, qp);

    put_error(&cqe, err);
    set->req_cqe_error++;
    count(set, send_counters, NUM(send_counters), err.syndrome);
    post(dev, qp, qp->scq, &cqe);
}

/* What only datagrams and QP1 say about where a packet came from. */
static void put_origin(const MocxQp *qp, struct mlx5_cqe64 *cqe,
                       const MocxPkt *pkt)
{
    const MocxPath *path = &pkt->path;
    uint32_t l3 = path->version == MOCX_ROCE_V1 ? MLX5_CQE_L3_HDR_TYPE_NONE
                  : path->ipv4 ? MLX5_CQE_L3_HDR_TYPE_IPV4
                  : MLX5_CQE_L3_HDR_TYPE_IPV6;

    cqe->flags_rqpn = htobe32(GRH_PRESENT | l3 << 24 | pkt->bth.src_qpn);
    cqe->slid = 0;
    if (path->vlan) {
        cqe->l4_hdr_type_etc = VLAN_STRIPPED;
        cqe->vlan_info = htobe16(path->tci);
    }
    if (qp->type == MOCX_QP_GSI) {
        cqe->imm_inval_pkey = htobe32(pkt->bth.pkey);
    }
}

static MocxCq *recv_cq(const MocxQp *qp, const MocxSrq *srq)
{
    return srq && srq->kind == MOCX_SRQ_XRC ? srq->cq : qp->rcq;
}

void mocx_comp_recv(MocxDev *dev, MocxQp *qp, const MocxRecvComp *c)
{
    struct mlx5_cqe64 cqe = {
        .flags_rqpn = htobe32(qp->remote_qpn),
        .hds_ip_ext = MLX5_CQE_L2_OK | MLX5_CQE_L3_OK | MLX5_CQE_L4_OK,
        .srqn_uidx = htobe32(srqn_or_user_index(qp, c->srq)),
        .imm_inval_pkey = htobe32(c->pkt->bth.imm),
        .byte_cnt = htobe32(c->bytes),
        .sop_drop_qpn = htobe32(mocx_qpn(qp)),
        .wqe_counter = htobe16(c->counter),
        .op_own = (uint8_t)(c->opcode << 4 |
                            (c->pkt->bth.solicited ? SOLICITED : 0)),
    };

    if (mocx_qp_datagram(qp)) {
        put_origin(qp, &cqe, c->pkt);
    }
    post(dev, qp, recv_cq(qp, c->srq), &cqe);
}

void mocx_comp_recv_err(MocxDev *dev, MocxQp *qp, MocxSrq *srq,
                        uint16_t counter, MocxErr err)
{
    struct mlx5_cqe64 cqe = {
        .srqn_uidx = htobe32(srqn_or_user_index(qp, srq)),
        .sop_drop_qpn = htobe32(mocx_qpn(qp)),
        .wqe_counter = htobe16(counter),
        .op_own = MLX5_CQE_RESP_ERR << 4 | SOLICITED,
    };
    MocxQCounter *set = mocx_qp_count(dev, qp);

    put_error(&cqe, err);
    set->resp_cqe_error++;
    count(set, recv_counters, NUM(recv_counters), err.syndrome);
    post(dev, qp, recv_cq(qp, srq), &cqe);
}
