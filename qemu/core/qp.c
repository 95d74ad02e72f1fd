// SPDX-License-Identifier: GPL-2.0-or-later
/* QP objects: create, query, destroy, and how they end in error. */
#include "heap.h"
#include "qp.h"

#include "roce.h"

#define LOG_SIZE_MAX        15      /* entries; indices have 16 bits */
#define LOG_RQ_STRIDE_MAX   9       /* MOCX_RECV_STRIDE_MAX */

enum {                              /* qpc.rq_type */
    RQ_OWN = 0, RQ_SHARED = 1, RQ_NONE = 3,
};

#define SYND_QP_TYPE        0x05000001u
#define SYND_QP_PD          0x05000002u
#define SYND_QP_CQ          0x05000003u
#define SYND_QP_SRQ         0x05000004u
#define SYND_QP_XRCD        0x05000005u
#define SYND_QP_SIZE        0x05000006u
#define SYND_QP_RING        0x05000007u
#define SYND_QP_LIMIT       0x05000008u
#define SYND_QP_NUMBER      0x05000009u
#define SYND_QP_UAR         0x0500000au
#define SYND_QP_GSI         0x0500000bu
#define SYND_QP_UMEM        0x0500000cu
#define SYND_QP_BUSY        0x0500000du
#define SYND_QP_TIME        0x0500000eu

static const struct {
    bool known;
    uint8_t service;
} types[] = {
    [MOCX_QP_RC] = { true, MOCX_SVC_RC },
    [MOCX_QP_UC] = { true, MOCX_SVC_UC },
    [MOCX_QP_UD] = { true, MOCX_SVC_UD },
    [MOCX_QP_XRC] = { true, MOCX_SVC_XRC },
    [MOCX_QP_GSI] = { true, MOCX_SVC_UD },
    [MOCX_QP_UMR] = { true, MOCX_SVC_MASK },
};

#define NUM_TYPES (sizeof(types) / sizeof(types[0]))

MocxQp *mocx_qp_find(MocxDev *dev, uint32_t qpn)
{
    MocxObj *obj = mocx_table_find(&dev->queues, qpn);

    return obj && obj->type == MOCX_OBJ_QP ? (MocxQp *)obj : NULL;
}

static void decode_path(MocxQp *qp)
{
    const uint8_t *ads = DEVX_ADDR_OF(qpc, qp->ctx, primary_address_path);
    MocxPath *path = &qp->path;

    qp->gid_index = DEVX_GET(ads, ads, src_addr_index);
    qp->ack_timeout = DEVX_GET(ads, ads, ack_timeout);
    memcpy(path->dmac, DEVX_ADDR_OF(ads, ads, rmac_47_32), 6);
    memcpy(path->dgid, DEVX_ADDR_OF(ads, ads, rgid_rip), 16);
    path->hop_limit = DEVX_GET(ads, ads, hop_limit);
    path->flow_label = DEVX_GET(ads, ads, flow_label);
    path->udp_sport = DEVX_GET(ads, ads, udp_sport);
}

static uint8_t decode_rights(const uint8_t *ctx)
{
    return (DEVX_GET(qpc, ctx, rre) ? MOCX_REMOTE_READ : 0) |
           (DEVX_GET(qpc, ctx, rwe) ? MOCX_REMOTE_WRITE : 0) |
           (DEVX_GET(qpc, ctx, rae) && DEVX_GET(qpc, ctx, atomic_mode)
            ? MOCX_REMOTE_ATOMIC : 0);
}

void mocx_qp_decode(MocxQp *qp)
{
    const uint8_t *ctx = qp->ctx;
    unsigned mtu = DEVX_GET(qpc, ctx, mtu);

    qp->rights = decode_rights(ctx);
    qp->rnr_retry = DEVX_GET(qpc, ctx, rnr_retry);
    qp->retry_count = DEVX_GET(qpc, ctx, retry_count);
    qp->min_rnr = DEVX_GET(qpc, ctx, min_rnr_nak);
    qp->log_msg_max = DEVX_GET(qpc, ctx, log_msg_max);
    qp->sra_max = 1u << DEVX_GET(qpc, ctx, log_sra_max);
    qp->counter_set = DEVX_GET(qpc, ctx, counter_set_id);
    qp->remote_qpn = DEVX_GET(qpc, ctx, remote_qpn);
    qp->qkey = DEVX_GET(qpc, ctx, q_key);
    qp->reserved_lkey = DEVX_GET(qpc, ctx, rlky);
    qp->mtu = mtu >= 1 && mtu <= 5 ? 128u << mtu : 4096;
    if (mocx_qp_datagram(qp)) {
        /* mlx5_ib gives QP1 an MTU and message limit that MADs do not fit. */
        qp->mtu = 4096;
        qp->log_msg_max = 12;
    }
    decode_path(qp);
}

/* The buffer holds the RQ, if the QP has its own, and the SQ behind it. */
static void decode_layout(MocxQp *qp)
{
    const uint8_t *ctx = qp->ctx;

    qp->log_rq_stride = DEVX_GET(qpc, ctx, log_rq_stride) + 4;
    if (DEVX_GET(qpc, ctx, rq_type) == RQ_OWN) {
        qp->rq_span = 1ULL << (DEVX_GET(qpc, ctx, log_rq_size) +
                               qp->log_rq_stride);
    }
    if (!DEVX_GET(qpc, ctx, no_sq)) {
        qp->sq_span = (uint64_t)MOCX_WQE_BB << DEVX_GET(qpc, ctx, log_sq_size);
    }
}

static void qp_fini(MocxDev *dev, MocxObj *obj)
{
    MocxQp *qp = (MocxQp *)obj;

    mocx_qp_stop(dev, qp);
    if (dev->roce->gsi == qp) {
        dev->roce->gsi = NULL;
    }
    mocx_ring_fini(&qp->ring);
}

static const MocxObjKind qp_kind = {
    .type = MOCX_OBJ_QP,
    .uses = { offsetof(MocxQp, queue.uar), offsetof(MocxQp, pd),
              offsetof(MocxQp, xrcd), offsetof(MocxQp, scq),
              offsetof(MocxQp, rcq), offsetof(MocxQp, srq) },
    .fini = qp_fini,
};

static MocxStatus find_cqs(MocxDev *dev, MocxCmd *cmd, MocxQp *qp)
{
    uint32_t snd = DEVX_GET(qpc, qp->ctx, cqn_snd);
    uint32_t rcv = DEVX_GET(qpc, qp->ctx, cqn_rcv);

    qp->scq = mocx_cq_find(dev, snd);
    qp->rcq = mocx_cq_find(dev, rcv);
    if ((!qp->scq && (qp->sq_span || snd)) ||
        (!qp->rcq && (qp->rq_span || rcv))) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_QP_CQ,
                        "send CQ %u or receive CQ %u does not exist", snd, rcv);
    }
    return MOCX_OK;
}

/*
 * Every XRC QP names some SRQ and has no use for it; packets say which one
 * they want.
 */
static MocxStatus find_srq(MocxDev *dev, MocxCmd *cmd, MocxQp *qp)
{
    uint32_t srqn = DEVX_GET(qpc, qp->ctx, srqn_rmpn_xrqn);

    if (DEVX_GET(qpc, qp->ctx, rq_type) != RQ_SHARED ||
        qp->type == MOCX_QP_XRC) {
        return MOCX_OK;
    }
    qp->srq = mocx_srq_find(dev, srqn);
    if (!qp->srq || qp->srq->kind == MOCX_SRQ_XRC || !qp->rcq) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_QP_SRQ,
                        "SRQ %u does not exist, or is an XRC SRQ", srqn);
    }
    return MOCX_OK;
}

static MocxStatus find_names(MocxDev *dev, MocxCmd *cmd, MocxQp *qp)
{
    uint32_t pdn = DEVX_GET(qpc, qp->ctx, pd);
    uint32_t xrcdn = DEVX_GET(qpc, qp->ctx, xrcd);
    uint32_t uar = DEVX_GET(qpc, qp->ctx, uar_page);
    MocxStatus status;

    qp->pdn = pdn;
    qp->pd = mocx_table_find(&dev->pds, pdn);
    /* The kernel's UMR QP serves all PDs and names none. */
    if (!qp->pd && qp->type != MOCX_QP_UMR) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_QP_PD,
                        "PD %u does not exist", pdn);
    }
    qp->xrcd = mocx_table_find(&dev->xrcds, xrcdn);
    if (qp->type == MOCX_QP_XRC && !qp->xrcd) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_QP_XRCD,
                        "XRC domain %u does not exist", xrcdn);
    }
    qp->queue.uar = qp->sq_span ? mocx_table_find(&dev->uars, uar) : NULL;
    if (qp->sq_span && !qp->queue.uar) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_QP_UAR,
                        "UAR %u does not exist", uar);
    }
    status = find_cqs(dev, cmd, qp);
    if (!status && mocx_uar_drivers(qp->scq ? qp->scq->uar : NULL)) {
        mocx_uar_claim(qp->queue.uar);
    }
    return status ? status : find_srq(dev, cmd, qp);
}

static MocxStatus check_sizes(MocxDev *dev, MocxCmd *cmd, const MocxQp *qp)
{
    if (DEVX_GET(qpc, qp->ctx, log_sq_size) > LOG_SIZE_MAX ||
        DEVX_GET(qpc, qp->ctx, log_rq_size) > LOG_SIZE_MAX ||
        (qp->rq_span && qp->log_rq_stride > LOG_RQ_STRIDE_MAX)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_SIZE,
                        "2^%u receive WQEs of 2^%u bytes",
                        DEVX_GET(qpc, qp->ctx, log_rq_size),
                        qp->log_rq_stride);
    }
    if (DEVX_GET(create_qp_in, cmd->in, wq_umem_valid)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_UMEM,
                        "queues in a umem are not offered");
    }
    return MOCX_OK;
}

static MocxStatus make_ring(MocxDev *dev, MocxCmd *cmd, MocxQp *qp)
{
    size_t head = DEVX_ST_SZ_BYTES(create_qp_in);
    uint64_t size = qp->rq_span + qp->sq_span;
    MocxStatus status = MOCX_OK;

    qp->dbr = DEVX_GET64(qpc, qp->ctx, dbr_addr);
    if (qp->dbr & 3) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_RING,
                        "doorbell record is not aligned");
    }
    if (size) {
        status = mocx_ring_init(dev, &qp->ring, cmd->in + head,
                                (uint32_t)((cmd->inlen - head) / 8),
                                DEVX_GET(qpc, qp->ctx, log_page_size),
                                DEVX_GET(qpc, qp->ctx, page_offset), size);
    }
    return status != MOCX_BAD_PARAM ? status
           : mocx_bad(dev, cmd, status, SYND_QP_RING,
                      "%zu pages for %llu bytes", (cmd->inlen - head) / 8,
                      (unsigned long long)size);
}

static MocxStatus check_type(MocxDev *dev, MocxCmd *cmd, MocxQp *qp)
{
    uint8_t type = DEVX_GET(qpc, qp->ctx, st);

    if (type >= NUM_TYPES || !types[type].known) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_TYPE,
                        "service type 0x%x is not offered", type);
    }
    if (type == MOCX_QP_GSI && dev->roce->gsi) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_QP_GSI,
                        "the port has its QP1 already");
    }
    if (!mocx_ts_format_ok(mocx_cap(dev, MOCX_CAP_ROCE,
                                    __devx_bit_off(roce_cap, qp_ts_format)),
                           DEVX_GET(qpc, qp->ctx, ts_format))) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_TIME,
                        "timestamp format %u",
                        DEVX_GET(qpc, qp->ctx, ts_format));
    }
    qp->type = type;
    qp->service = types[type].service;
    return MOCX_OK;
}

/* The number space is shared with SQs and RQs, the limit is not. */
static bool enter(MocxDev *dev, MocxQp *qp)
{
    return dev->live[MOCX_OBJ_QP] < 1u << dev->cfg.log_max_qp &&
           mocx_table_add(&dev->queues, &qp->queue.obj, &qp_kind);
}

static MocxStatus set_up(MocxDev *dev, MocxCmd *cmd, MocxQp *qp)
{
    MocxStatus status = check_type(dev, cmd, qp);

    if (!status) {
        decode_layout(qp);
        status = check_sizes(dev, cmd, qp);
    }
    if (!status) {
        status = find_names(dev, cmd, qp);
    }
    if (!status) {
        status = make_ring(dev, cmd, qp);
    }
    if (!status && !enter(dev, qp)) {
        status = mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_QP_LIMIT, "no QP left");
    }
    return status;
}

static void doorbell(MocxDev *dev, MocxQueue *q, uint64_t value)
{
    MocxQp *qp = (MocxQp *)q;
    uint8_t be[4];

    if (dev->verify && qp->sq_span &&
        mocx_dma_read(dev, qp->dbr + 4, be, sizeof(be))) {
        mocx_verify_covered(dev, mocx_qpn(qp), value >> 32, mocx_get_be32(be),
                            qp->sq_span / MOCX_WQE_BB);
    }
    mocx_work_queue(dev, &qp->req_work);
    if (qp->state == MOCX_QP_ERR) {
        mocx_flush_anew(dev, qp);
    }
}

static MocxStatus qp_create(MocxDev *dev, MocxCmd *cmd)
{
    MocxQp *qp = mocx_calloc(&dev->heap, 1, sizeof(*qp));
    MocxStatus status;

    if (!qp) {
        return MOCX_NO_RES;
    }
    memcpy(qp->ctx, DEVX_ADDR_OF(create_qp_in, cmd->in, qpc), sizeof(qp->ctx));
    status = set_up(dev, cmd, qp);
    if (status) {
        mocx_ring_fini(&qp->ring);
        mocx_free(qp);
        return status;
    }
    qp->queue.doorbell = doorbell;
    qp->req_work.fn = mocx_req_work;
    qp->resp_work.fn = mocx_resp_work;
    qp->timer.fn = mocx_qp_timer;
    qp->state = MOCX_QP_RST;
    qp->user_index = DEVX_GET(qpc, qp->ctx, user_index);
    qp->wq_signature = DEVX_GET(qpc, qp->ctx, wq_signature);
    mocx_qp_decode(qp);
    if (qp->type == MOCX_QP_GSI) {
        dev->roce->gsi = qp;
    }
    DEVX_SET(create_qp_out, cmd->out, qpn, mocx_qpn(qp));
    return MOCX_OK;
}

static MocxStatus lookup(MocxDev *dev, MocxCmd *cmd, MocxQp **qp)
{
    uint32_t qpn = DEVX_GET(destroy_qp_in, cmd->in, qpn);

    *qp = mocx_qp_find(dev, qpn);
    return *qp ? MOCX_OK
           : mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_QP_NUMBER,
                      "QP %u does not exist", qpn);
}

static MocxStatus qp_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxQp *qp;
    MocxStatus status = lookup(dev, cmd, &qp);

    if (!status && qp->queue.obj.refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_QP_BUSY,
                        "QP %u is attached to a multicast group",
                        mocx_qpn(qp));
    }
    if (!status) {
        mocx_table_drop(dev, &dev->queues, &qp->queue.obj);
    }
    return status;
}

/* Fields that the device moves on by itself. */
static void put_live_fields(const MocxQp *qp, uint8_t *qpc)
{
    DEVX_SET(qpc, qpc, state, qp->state);
    DEVX_SET(qpc, qpc, hw_sq_wqebb_counter, qp->req.fetch);
    DEVX_SET(qpc, qpc, sw_sq_wqebb_counter, qp->req.pi);
    DEVX_SET(qpc, qpc, hw_rq_counter, qp->rq_taken);
    DEVX_SET(qpc, qpc, sw_rq_counter, qp->rq_posted);
    if (qp->state >= MOCX_QP_RTR) {
        DEVX_SET(qpc, qpc, next_rcv_psn, qp->resp.epsn);
        DEVX_SET(qpc, qpc, rmsn, qp->resp.msn);
    }
    if (qp->state >= MOCX_QP_RTS) {
        DEVX_SET(qpc, qpc, next_send_psn, qp->req.max);
        DEVX_SET(qpc, qpc, last_acked_psn, (qp->req.una - 1) & 0xffffff);
        DEVX_SET(qpc, qpc, cur_retry_count, qp->req.retries);
        DEVX_SET(qpc, qpc, cur_rnr_retry, qp->req.rnr_retries);
    }
}

static MocxStatus qp_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *qpc = DEVX_ADDR_OF(query_qp_out, cmd->out, qpc);
    MocxQp *qp;
    MocxStatus status = lookup(dev, cmd, &qp);

    if (qp) {
        memcpy(qpc, qp->ctx, sizeof(qp->ctx));
        put_live_fields(qp, qpc);
    }
    return status;
}

void mocx_qp_stop(MocxDev *dev, MocxQp *qp)
{
    mocx_work_cancel(dev, &qp->req_work);
    mocx_work_cancel(dev, &qp->resp_work);
    mocx_timer_stop(dev, &qp->timer);
    mocx_flush_stop(dev, qp);
    mocx_req_stop(qp);
    mocx_resp_stop(qp);
    qp->rq_posted = qp->rq_taken = 0;
}

void mocx_qp_error(MocxDev *dev, MocxQp *qp)
{
    if (qp->state == MOCX_QP_ERR) {
        mocx_flush_anew(dev, qp);
        return;
    }
    qp->state = MOCX_QP_ERR;
    qp->resp.msg = MOCX_RESP_IDLE;
    qp->resp.last_wqe_due = qp->srq;
    mocx_timer_stop(dev, &qp->timer);
    mocx_work_queue(dev, &qp->req_work);
    mocx_work_queue(dev, &qp->resp_work);
}

void mocx_qp_fatal(MocxDev *dev, MocxQp *qp)
{
    if (qp->state == MOCX_QP_ERR) {
        return;
    }
    mocx_log(dev, MOCX_LOG_GUEST_ERROR, "QP %u: fatal error", mocx_qpn(qp));
    mocx_event_queue(dev, MOCX_EV_QP_FATAL, 0, mocx_qpn(qp));
    mocx_qp_error(dev, qp);
}

void mocx_qp_timer(MocxDev *dev, MocxTimer *timer)
{
    MocxQp *qp = MOCX_CONTAINER_OF(timer, MocxQp, timer);

    if (qp->state == MOCX_QP_ERR) {
        mocx_work_queue(dev, &qp->resp_work);
    } else {
        mocx_req_timeout(dev, qp);
    }
}

static void qp_reset(MocxDev *dev)
{
    mocx_table_clear(dev, &dev->queues, &qp_kind);
}

#define QP_ROW(op, ifc, fn) MOCX_ROW(op, ifc, MOCX_ST_INITIALIZED, fn)

static const MocxCmdRow rows[] = {
    QP_ROW(CREATE_QP, create_qp, qp_create),
    QP_ROW(DESTROY_QP, destroy_qp, qp_destroy),
    /* The context extension at its end is younger than some drivers. */
    { MLX5_CMD_OP_QUERY_QP, "QUERY_QP", DEVX_ST_SZ_BYTES(query_qp_in),
      DEVX_BYTE_OFF(query_qp_out, qpc) + DEVX_ST_SZ_BYTES(qpc),
      MOCX_ST_INITIALIZED, qp_query, "query_qp" },
    QP_ROW(RST2INIT_QP, rst2init_qp, mocx_qp_modify),
    QP_ROW(INIT2INIT_QP, init2init_qp, mocx_qp_modify),
    QP_ROW(INIT2RTR_QP, init2rtr_qp, mocx_qp_modify),
    QP_ROW(RTR2RTS_QP, rtr2rts_qp, mocx_qp_modify),
    QP_ROW(RTS2RTS_QP, rts2rts_qp, mocx_qp_modify),
    QP_ROW(SQERR2RTS_QP, sqerr2rts_qp, mocx_qp_modify),
    QP_ROW(SQD_RTS_QP, sqd2rts_qp, mocx_qp_modify),
    QP_ROW(2ERR_QP, qp_2err, mocx_qp_2err),
    QP_ROW(2RST_QP, qp_2rst, mocx_qp_2rst),
};

const MocxCmdRows mocx_rows_qp = { rows, sizeof(rows) / sizeof(rows[0]) };

const MocxModule mocx_mod_qp = {
    .name = "qp",
    .reset = qp_reset,
};
