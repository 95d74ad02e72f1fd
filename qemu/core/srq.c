// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shared receive queues.
 *
 * The list starts at index 0.  A WQE's next index is right from the moment it
 * is posted (the driver moves its own head along it then), so it is read
 * together with the WQE, and never again: once the WQE has completed, the
 * driver may link something else behind it.
 */
#include "heap.h"
#include "srq.h"

#include "qp.h"

#define NEXT_SEG_LEN    sizeof(struct mlx5_wqe_srq_next_seg)
#define LOG_STRIDE_MIN  5           /* next segment and one entry */
#define LOG_STRIDE_MAX  9           /* MOCX_RECV_STRIDE_MAX */

#define SYND_SRQ_NUMBER 0x05400001u
#define SYND_SRQ_PD     0x05400002u
#define SYND_SRQ_CQ     0x05400003u
#define SYND_SRQ_XRCD   0x05400004u
#define SYND_SRQ_RING   0x05400005u
#define SYND_SRQ_LIMIT  0x05400006u
#define SYND_SRQ_BUSY   0x05400007u
#define SYND_SRQ_STRIDE 0x05400008u
#define SYND_SRQ_KIND   0x05400009u

MocxSrq *mocx_srq_find(MocxDev *dev, uint32_t srqn)
{
    return (MocxSrq *)mocx_table_find(&dev->srqs, srqn);
}

static bool read_record(MocxDev *dev, MocxSrq *srq)
{
    uint16_t posted;
    uint8_t be[4];

    if (!mocx_dma_read(dev, srq->dbr, be, sizeof(be))) {
        return false;
    }
    if (dev->verify) {
        MocxRecordCheck check = {
            .qpn = srq->obj.id, .kind = "SRQ", .was = srq->posted,
            .now = mocx_get_be32(be), .oldest = srq->taken,
            .size = 1u << srq->log_size,
        };

        mocx_verify_record(dev, &check);
    }
    posted = (uint16_t)mocx_get_be32(be);
    if ((uint16_t)(posted - srq->taken) > 1u << srq->log_size) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR,
                 "SRQ %u: producer %u is beyond the ring (next WQE %u)",
                 srq->obj.id, posted, srq->taken);
        return false;
    }
    srq->posted = posted;
    return true;
}

static uint16_t left(const MocxSrq *srq)
{
    return (uint16_t)(srq->posted - srq->taken);
}

/* The ring cannot be read any more; no CQE could say so. */
static MocxWqeResult fail(MocxDev *dev, MocxSrq *srq)
{
    srq->failed = true;
    mocx_event_queue(dev, MOCX_EV_SRQ_ERROR, 0, srq->obj.id);
    return MOCX_WQE_NO_MEMORY;
}

MocxWqeResult mocx_srq_peek(MocxDev *dev, MocxSrq *srq, MocxRecvWqe *wqe)
{
    uint8_t raw[MOCX_RECV_STRIDE_MAX];
    uint64_t stride = 1ULL << srq->log_stride;
    uint64_t span = stride << srq->log_size;

    if (srq->failed) {
        return MOCX_WQE_EMPTY;
    }
    if (!left(srq) && !read_record(dev, srq)) {
        return fail(dev, srq);
    }
    if (!left(srq)) {
        return MOCX_WQE_EMPTY;
    }
    if (!mocx_ring_read(dev, &srq->ring, 0, span, srq->next * stride, raw,
                        stride)) {
        return fail(dev, srq);
    }
    wqe->counter = srq->next;
    wqe->next = mocx_get_be16(raw + offsetof(struct mlx5_wqe_srq_next_seg,
                                             next_wqe_index));
    return mocx_recv_parse(dev, wqe, raw + NEXT_SEG_LEN,
                           stride - NEXT_SEG_LEN);
}

static void check_limit(MocxDev *dev, MocxSrq *srq)
{
    if (!srq->limit) {
        return;
    }
    read_record(dev, srq);
    if (left(srq) < srq->limit) {
        srq->limit = 0;
        mocx_event_queue(dev, MOCX_EV_SRQ_LIMIT, 0, srq->obj.id);
    }
}

void mocx_srq_take(MocxDev *dev, MocxSrq *srq, const MocxRecvWqe *wqe)
{
    srq->taken++;
    srq->next = wqe->next & ((1u << srq->log_size) - 1);
    check_limit(dev, srq);
}

/*
 * The three contexts say the same in different places.  What is common is
 * gathered here before anything is checked.
 */
typedef struct SrqParams {
    MocxSrqKind kind;
    uint8_t log_size, log_stride;
    uint8_t log_page_size, page_offset;
    uint16_t limit;
    uint32_t pdn, cqn, xrcdn, user_index;
    uint64_t dbr;
    const uint8_t *pas;
    uint32_t npas;
} SrqParams;

static uint32_t pas_behind(const MocxCmd *cmd, const uint8_t *pas)
{
    return (uint32_t)((cmd->in + cmd->inlen - pas) / 8);
}

static SrqParams params_rmp(const MocxCmd *cmd)
{
    const uint8_t *wq = DEVX_ADDR_OF(create_rmp_in, cmd->in, ctx.wq);

    return (SrqParams) {
        .kind = MOCX_SRQ_RMP,
        .log_size = DEVX_GET(wq, wq, log_wq_sz),
        .log_stride = DEVX_GET(wq, wq, log_wq_stride),
        .log_page_size = DEVX_GET(wq, wq, log_wq_pg_sz),
        .page_offset = DEVX_GET(wq, wq, page_offset),
        .limit = DEVX_GET(wq, wq, lwm),
        .pdn = DEVX_GET(wq, wq, pd),
        .user_index = 0xffffff,
        .dbr = DEVX_GET64(wq, wq, dbr_addr),
        .pas = wq + DEVX_ST_SZ_BYTES(wq),
        .npas = pas_behind(cmd, wq + DEVX_ST_SZ_BYTES(wq)),
    };
}

static SrqParams params_xrc(const MocxCmd *cmd)
{
    const uint8_t *ctx = DEVX_ADDR_OF(create_xrc_srq_in, cmd->in,
                                      xrc_srq_context_entry);
    const uint8_t *pas = cmd->in + DEVX_ST_SZ_BYTES(create_xrc_srq_in);

    return (SrqParams) {
        .kind = MOCX_SRQ_XRC,
        .log_size = DEVX_GET(xrc_srqc, ctx, log_xrc_srq_size),
        .log_stride = DEVX_GET(xrc_srqc, ctx, log_rq_stride) + 4,
        .log_page_size = DEVX_GET(xrc_srqc, ctx, log_page_size),
        .page_offset = DEVX_GET(xrc_srqc, ctx, page_offset),
        .limit = DEVX_GET(xrc_srqc, ctx, lwm),
        .pdn = DEVX_GET(xrc_srqc, ctx, pd),
        .cqn = DEVX_GET(xrc_srqc, ctx, cqn),
        .xrcdn = DEVX_GET(xrc_srqc, ctx, xrcd),
        .user_index = DEVX_GET(xrc_srqc, ctx, user_index),
        .dbr = (uint64_t)DEVX_GET(xrc_srqc, ctx, db_record_addr_h) << 32 |
               DEVX_GET(xrc_srqc, ctx, db_record_addr_l) << 2,
        .pas = pas,
        .npas = pas_behind(cmd, pas),
    };
}

static SrqParams params_basic(const MocxCmd *cmd)
{
    const uint8_t *ctx = DEVX_ADDR_OF(create_srq_in, cmd->in,
                                      srq_context_entry);
    const uint8_t *pas = cmd->in + DEVX_ST_SZ_BYTES(create_srq_in);

    return (SrqParams) {
        .kind = MOCX_SRQ_BASIC,
        .log_size = DEVX_GET(srqc, ctx, log_srq_size),
        .log_stride = DEVX_GET(srqc, ctx, log_rq_stride) + 4,
        .log_page_size = DEVX_GET(srqc, ctx, log_page_size),
        .page_offset = DEVX_GET(srqc, ctx, page_offset),
        .limit = DEVX_GET(srqc, ctx, lwm),
        .pdn = DEVX_GET(srqc, ctx, pd),
        .xrcdn = DEVX_GET(srqc, ctx, xrcd),
        .user_index = 0xffffff,
        .dbr = DEVX_GET64(srqc, ctx, dbr_addr),
        .pas = pas,
        .npas = pas_behind(cmd, pas),
    };
}

/* What a context names must exist. */
static MocxStatus find_names(MocxDev *dev, MocxCmd *cmd, MocxSrq *srq,
                             const SrqParams *p)
{
    srq->pd = mocx_table_find(&dev->pds, p->pdn);
    if (!srq->pd) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_SRQ_PD,
                        "PD %u does not exist", p->pdn);
    }
    if (p->kind != MOCX_SRQ_XRC) {
        return MOCX_OK;
    }
    srq->cq = mocx_cq_find(dev, p->cqn);
    if (!srq->cq) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_SRQ_CQ,
                        "CQ %u does not exist", p->cqn);
    }
    srq->xrcd = mocx_table_find(&dev->xrcds, p->xrcdn);
    if (!srq->xrcd) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_SRQ_XRCD,
                        "XRC domain %u does not exist", p->xrcdn);
    }
    return MOCX_OK;
}

static MocxStatus make_ring(MocxDev *dev, MocxCmd *cmd, MocxSrq *srq,
                            const SrqParams *p)
{
    MocxStatus status;
    uint64_t size;

    if (p->log_stride < LOG_STRIDE_MIN || p->log_stride > LOG_STRIDE_MAX ||
        p->log_size > 15) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_SRQ_STRIDE,
                        "2^%u WQEs of 2^%u bytes", p->log_size, p->log_stride);
    }
    if (p->dbr & 3) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_SRQ_RING,
                        "doorbell record is not aligned");
    }
    size = 1ULL << (p->log_size + p->log_stride);
    status = mocx_ring_init(dev, &srq->ring, p->pas, p->npas, p->log_page_size,
                            p->page_offset, size);
    return status != MOCX_BAD_PARAM ? status
           : mocx_bad(dev, cmd, status, SYND_SRQ_RING,
                      "%u pages for %llu bytes", p->npas,
                      (unsigned long long)size);
}

static void srq_fini(MocxDev *dev, MocxObj *obj)
{
    mocx_ring_fini(&((MocxSrq *)obj)->ring);
}

static const MocxObjKind srq_kind = {
    .type = MOCX_OBJ_SRQ,
    .uses = { offsetof(MocxSrq, pd), offsetof(MocxSrq, xrcd),
              offsetof(MocxSrq, cq) },
    .fini = srq_fini,
};

static void fill(MocxSrq *srq, const SrqParams *p)
{
    srq->kind = p->kind;
    srq->dbr = p->dbr;
    srq->log_size = p->log_size;
    srq->log_stride = p->log_stride;
    srq->limit = p->limit;
    srq->user_index = p->user_index;
    srq->pdn = p->pdn;
}

static MocxStatus create(MocxDev *dev, MocxCmd *cmd, const SrqParams *p)
{
    MocxSrq *srq = mocx_calloc(&dev->heap, 1, sizeof(*srq));
    MocxStatus status;

    if (!srq) {
        return MOCX_NO_RES;
    }
    fill(srq, p);
    status = find_names(dev, cmd, srq, p);
    if (!status) {
        status = make_ring(dev, cmd, srq, p);
    }
    if (!status && !mocx_table_add(&dev->srqs, &srq->obj, &srq_kind)) {
        status = mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_SRQ_LIMIT,
                          "no SRQ left");
    }
    if (status) {
        mocx_ring_fini(&srq->ring);
        mocx_free(srq);
        return status;
    }
    /* The number is in the same place in all three replies. */
    DEVX_SET(create_srq_out, cmd->out, srqn, srq->obj.id);
    return MOCX_OK;
}

static MocxStatus create_rmp(MocxDev *dev, MocxCmd *cmd)
{
    SrqParams p = params_rmp(cmd);

    return create(dev, cmd, &p);
}

static MocxStatus create_xrc(MocxDev *dev, MocxCmd *cmd)
{
    SrqParams p = params_xrc(cmd);

    return create(dev, cmd, &p);
}

static MocxStatus create_basic(MocxDev *dev, MocxCmd *cmd)
{
    SrqParams p = params_basic(cmd);

    return create(dev, cmd, &p);
}

/* The number is in the same place in all commands that name an SRQ. */
static MocxStatus lookup(MocxDev *dev, MocxCmd *cmd, MocxSrqKind kind,
                         MocxSrq **srq)
{
    uint32_t srqn = DEVX_GET(query_srq_in, cmd->in, srqn);

    *srq = mocx_srq_find(dev, srqn);
    if (!*srq || (*srq)->kind != kind) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_SRQ_NUMBER,
                        "SRQ %u does not exist", srqn);
    }
    return MOCX_OK;
}

static MocxStatus destroy(MocxDev *dev, MocxCmd *cmd, MocxSrqKind kind)
{
    MocxSrq *srq;
    MocxStatus status = lookup(dev, cmd, kind, &srq);

    if (status) {
        return status;
    }
    if (srq->obj.refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_SRQ_BUSY,
                        "SRQ %u is in use by %u QPs", srq->obj.id,
                        srq->obj.refs);
    }
    mocx_table_drop(dev, &dev->srqs, &srq->obj);
    return MOCX_OK;
}

static MocxStatus destroy_rmp(MocxDev *dev, MocxCmd *cmd)
{
    return destroy(dev, cmd, MOCX_SRQ_RMP);
}

static MocxStatus destroy_xrc(MocxDev *dev, MocxCmd *cmd)
{
    return destroy(dev, cmd, MOCX_SRQ_XRC);
}

static MocxStatus destroy_basic(MocxDev *dev, MocxCmd *cmd)
{
    return destroy(dev, cmd, MOCX_SRQ_BASIC);
}

/* A limit that is already passed fires at once. */
static void arm(MocxDev *dev, MocxSrq *srq, uint16_t limit)
{
    srq->limit = limit;
    check_limit(dev, srq);
}

static MocxStatus modify_rmp(MocxDev *dev, MocxCmd *cmd)
{
    MocxSrq *srq;
    MocxStatus status = lookup(dev, cmd, MOCX_SRQ_RMP, &srq);

    if (!status && DEVX_GET(modify_rmp_in, cmd->in, bitmask.lwm)) {
        arm(dev, srq, DEVX_GET(modify_rmp_in, cmd->in, ctx.wq.lwm));
    }
    return status;
}

static MocxStatus arm_xrc(MocxDev *dev, MocxCmd *cmd)
{
    MocxSrq *srq;
    MocxStatus status = lookup(dev, cmd, MOCX_SRQ_XRC, &srq);

    if (!status) {
        arm(dev, srq, DEVX_GET(arm_xrc_srq_in, cmd->in, lwm));
    }
    return status;
}

static MocxStatus arm_basic(MocxDev *dev, MocxCmd *cmd)
{
    MocxSrq *srq;
    MocxStatus status;

    if (cmd->op_mod != MLX5_ARM_RQ_IN_OP_MOD_SRQ) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_SRQ_KIND,
                        "ARM_RQ of kind %u", cmd->op_mod);
    }
    status = lookup(dev, cmd, MOCX_SRQ_BASIC, &srq);
    if (!status) {
        arm(dev, srq, DEVX_GET(arm_rq_in, cmd->in, lwm));
    }
    return status;
}

static MocxStatus query_rmp(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *rmpc = DEVX_ADDR_OF(query_rmp_out, cmd->out, rmp_context);
    uint8_t *wq = DEVX_ADDR_OF(rmpc, rmpc, wq);
    MocxSrq *srq;
    MocxStatus status = lookup(dev, cmd, MOCX_SRQ_RMP, &srq);

    if (status) {
        return status;
    }
    DEVX_SET(rmpc, rmpc, state, srq->failed ? MLX5_RMPC_STATE_ERR
                                            : MLX5_RMPC_STATE_RDY);
    DEVX_SET(wq, wq, log_wq_sz, srq->log_size);
    DEVX_SET(wq, wq, log_wq_stride, srq->log_stride);
    DEVX_SET(wq, wq, log_wq_pg_sz, srq->ring.page_shift - 12);
    DEVX_SET(wq, wq, page_offset,
             srq->ring.page_offset >> (srq->ring.page_shift - 6));
    DEVX_SET(wq, wq, lwm, srq->limit);
    DEVX_SET(wq, wq, pd, srq->pdn);
    DEVX_SET64(wq, wq, dbr_addr, srq->dbr);
    return MOCX_OK;
}

static MocxStatus query_xrc(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *ctx = DEVX_ADDR_OF(query_xrc_srq_out, cmd->out,
                                xrc_srq_context_entry);
    MocxSrq *srq;
    MocxStatus status = lookup(dev, cmd, MOCX_SRQ_XRC, &srq);

    if (status) {
        return status;
    }
    DEVX_SET(xrc_srqc, ctx, state, srq->failed ? MLX5_XRC_SRQC_STATE_ERROR
                                               : MLX5_XRC_SRQC_STATE_GOOD);
    DEVX_SET(xrc_srqc, ctx, log_xrc_srq_size, srq->log_size);
    DEVX_SET(xrc_srqc, ctx, log_rq_stride, srq->log_stride - 4);
    DEVX_SET(xrc_srqc, ctx, log_page_size, srq->ring.page_shift - 12);
    DEVX_SET(xrc_srqc, ctx, page_offset,
             srq->ring.page_offset >> (srq->ring.page_shift - 6));
    DEVX_SET(xrc_srqc, ctx, xrcd, srq->xrcd->id);
    DEVX_SET(xrc_srqc, ctx, cqn, srq->cq->obj.id);
    DEVX_SET(xrc_srqc, ctx, user_index, srq->user_index);
    DEVX_SET(xrc_srqc, ctx, lwm, srq->limit);
    DEVX_SET(xrc_srqc, ctx, wqe_cnt, left(srq));
    DEVX_SET(xrc_srqc, ctx, pd, srq->pdn);
    DEVX_SET(xrc_srqc, ctx, db_record_addr_h, srq->dbr >> 32);
    DEVX_SET(xrc_srqc, ctx, db_record_addr_l, (uint32_t)srq->dbr >> 2);
    return MOCX_OK;
}

static MocxStatus query_basic(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *ctx = DEVX_ADDR_OF(query_srq_out, cmd->out, srq_context_entry);
    MocxSrq *srq;
    MocxStatus status = lookup(dev, cmd, MOCX_SRQ_BASIC, &srq);

    if (status) {
        return status;
    }
    DEVX_SET(srqc, ctx, state, srq->failed ? MLX5_SRQC_STATE_ERROR
                                           : MLX5_SRQC_STATE_GOOD);
    DEVX_SET(srqc, ctx, log_srq_size, srq->log_size);
    DEVX_SET(srqc, ctx, log_rq_stride, srq->log_stride - 4);
    DEVX_SET(srqc, ctx, log_page_size, srq->ring.page_shift - 12);
    DEVX_SET(srqc, ctx, page_offset,
             srq->ring.page_offset >> (srq->ring.page_shift - 6));
    DEVX_SET(srqc, ctx, lwm, srq->limit);
    DEVX_SET(srqc, ctx, wqe_cnt, left(srq));
    DEVX_SET(srqc, ctx, pd, srq->pdn);
    DEVX_SET64(srqc, ctx, dbr_addr, srq->dbr);
    return MOCX_OK;
}

static void srq_reset(MocxDev *dev)
{
    mocx_table_clear(dev, &dev->srqs, &srq_kind);
}

#define SRQ_ROW(op, ifc, fn) MOCX_ROW(op, ifc, MOCX_ST_INITIALIZED, fn)

static const MocxCmdRow rows[] = {
    SRQ_ROW(CREATE_RMP, create_rmp, create_rmp),
    SRQ_ROW(MODIFY_RMP, modify_rmp, modify_rmp),
    SRQ_ROW(QUERY_RMP, query_rmp, query_rmp),
    SRQ_ROW(DESTROY_RMP, destroy_rmp, destroy_rmp),
    SRQ_ROW(CREATE_XRC_SRQ, create_xrc_srq, create_xrc),
    SRQ_ROW(ARM_XRC_SRQ, arm_xrc_srq, arm_xrc),
    SRQ_ROW(QUERY_XRC_SRQ, query_xrc_srq, query_xrc),
    SRQ_ROW(DESTROY_XRC_SRQ, destroy_xrc_srq, destroy_xrc),
    SRQ_ROW(CREATE_SRQ, create_srq, create_basic),
    SRQ_ROW(ARM_RQ, arm_rq, arm_basic),
    SRQ_ROW(QUERY_SRQ, query_srq, query_basic),
    SRQ_ROW(DESTROY_SRQ, destroy_srq, destroy_basic),
};

const MocxCmdRows mocx_rows_srq = { rows, sizeof(rows) / sizeof(rows[0]) };

const MocxModule mocx_mod_srq = {
    .name = "srq",
    .reset = srq_reset,
};
