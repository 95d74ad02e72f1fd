// SPDX-License-Identifier: GPL-2.0-or-later
/* Receive queues: their commands.  What arrives is eth_rx.c. */
#include "heap.h"
#include "rq.h"

#define SYND_RQ_NUMBER  0x0590001u
#define SYND_RQ_TYPE    0x0590002u
#define SYND_RQ_STATE   0x0590003u
#define SYND_RQ_CQ      0x0590004u
#define SYND_RQ_LIMIT   0x0590005u
#define SYND_RQ_BUSY    0x0590006u
#define SYND_RQ_TIME    0x0590007u

/* Which state may follow which (mlx5e: en_main.c, reporter_rx.c) */
static const uint8_t next_states[] = {
    [MOCX_WQ_RST] = 1 << MOCX_WQ_RST | 1 << MOCX_WQ_RDY,
    [MOCX_WQ_RDY] = 1 << MOCX_WQ_RST | 1 << MOCX_WQ_RDY | 1 << MOCX_WQ_ERR,
    [MOCX_WQ_ERR] = 1 << MOCX_WQ_RST | 1 << MOCX_WQ_ERR,
};

/* A data segment, to max_wqe_sz_rq. */
static const MocxWqLimits limits = { .log_stride_min = 4, .log_stride_max = 9 };

MocxRq *mocx_rq_find(MocxDev *dev, uint32_t rqn)
{
    MocxObj *obj = mocx_table_find(&dev->queues, rqn);

    return obj && obj->type == MOCX_OBJ_RQ ? (MocxRq *)obj : NULL;
}

void mocx_rq_error(MocxDev *dev, MocxRq *rq)
{
    rq->state = MOCX_WQ_ERR;
    if (rq->flush_in_error) {
        mocx_work_queue(dev, &rq->flush);
    }
}

static void rq_fini(MocxDev *dev, MocxObj *obj)
{
    MocxRq *rq = (MocxRq *)obj;

    mocx_work_cancel(dev, &rq->flush);
    mocx_wq_fini(&rq->wq);
}

static const MocxObjKind rq_kind = {
    .type = MOCX_OBJ_RQ,
    .uses = { offsetof(MocxRq, wq.pd), offsetof(MocxRq, cq) },
    .fini = rq_fini,
};

static MocxStatus check_rqc(MocxDev *dev, MocxCmd *cmd, const uint8_t *rqc)
{
    if (DEVX_GET(rqc, rqc, mem_rq_type) || DEVX_GET(rqc, rqc, hairpin) ||
        DEVX_GET(rqc, rqc, scatter_fcs) || DEVX_GET(rqc, rqc, delay_drop_en)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_RQ_TYPE,
                        "RQ asks for what is not advertised");
    }
    if (!mocx_ts_format_ok(mocx_cap(dev, MOCX_CAP_GENERAL,
                                    __devx_bit_off(cmd_hca_cap, rq_ts_format)),
                           DEVX_GET(rqc, rqc, ts_format))) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_RQ_TIME,
                        "timestamp format %u of an RQ",
                        DEVX_GET(rqc, rqc, ts_format));
    }
    if (!mocx_cq_find(dev, DEVX_GET(rqc, rqc, cqn))) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_RQ_CQ,
                        "CQ %u of an RQ does not exist",
                        DEVX_GET(rqc, rqc, cqn));
    }
    return MOCX_OK;
}

static void rq_set_up(MocxDev *dev, MocxRq *rq, const uint8_t *rqc)
{
    rq->cq = mocx_cq_find(dev, DEVX_GET(rqc, rqc, cqn));
    rq->flush.fn = mocx_rq_flush;
    rq->state = MOCX_WQ_RST;
    rq->keep_vlan = DEVX_GET(rqc, rqc, vsd);
    rq->rlky = DEVX_GET(rqc, rqc, rlky);
    rq->flush_in_error = DEVX_GET(rqc, rqc, flush_in_error_en);
    rq->user_index = DEVX_GET(rqc, rqc, user_index);
    rq->counter_set = DEVX_GET(rqc, rqc, counter_set_id);
    memcpy(rq->ctx, rqc, sizeof(rq->ctx));
}

static MocxStatus rq_create(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *rqc = DEVX_ADDR_OF(create_rq_in, cmd->in, ctx);
    MocxStatus status = check_rqc(dev, cmd, rqc);
    MocxRq *rq;

    if (status != MOCX_OK) {
        return status;
    }
    rq = mocx_calloc(&dev->heap, 1, sizeof(*rq));
    if (!rq) {
        return MOCX_NO_RES;
    }
    status = mocx_wq_init(dev, cmd, &rq->wq, DEVX_ADDR_OF(rqc, rqc, wq),
                          &limits);
    if (status != MOCX_OK) {
        mocx_free(rq);
        return status;
    }
    rq_set_up(dev, rq, rqc);
    if (!mocx_table_add(&dev->queues, &rq->queue.obj, &rq_kind)) {
        mocx_wq_fini(&rq->wq);
        mocx_free(rq);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_RQ_LIMIT, "no RQ left");
    }
    DEVX_SET(create_rq_out, cmd->out, rqn, rq->queue.obj.id);
    return MOCX_OK;
}

static MocxRq *rq_of(MocxDev *dev, MocxCmd *cmd, uint32_t rqn)
{
    MocxRq *rq = mocx_rq_find(dev, rqn);

    if (!rq) {
        mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_RQ_NUMBER,
                 "RQ %u does not exist", rqn);
    }
    return rq;
}

static void rq_modify_fields(MocxRq *rq, uint64_t bits, const uint8_t *rqc)
{
    if (bits & MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_VSD) {
        rq->keep_vlan = DEVX_GET(rqc, rqc, vsd);
        DEVX_SET(rqc, rq->ctx, vsd, rq->keep_vlan);
    }
    if (bits & MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_RQ_COUNTER_SET_ID) {
        rq->counter_set = DEVX_GET(rqc, rqc, counter_set_id);
        DEVX_SET(rqc, rq->ctx, counter_set_id, rq->counter_set);
    }
}

static MocxStatus rq_modify(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *rqc = DEVX_ADDR_OF(modify_rq_in, cmd->in, ctx);
    MocxRq *rq = rq_of(dev, cmd, DEVX_GET(modify_rq_in, cmd->in, rqn));
    unsigned state = DEVX_GET(rqc, rqc, state);

    if (!rq) {
        return MOCX_BAD_RES;
    }
    if (DEVX_GET(modify_rq_in, cmd->in, rq_state) != rq->state ||
        !(next_states[rq->state] >> state & 1)) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_RQ_STATE,
                        "RQ %u is in state %u, not %u to go to %u",
                        rq->queue.obj.id, rq->state,
                        DEVX_GET(modify_rq_in, cmd->in, rq_state), state);
    }
    rq_modify_fields(rq, DEVX_GET64(modify_rq_in, cmd->in, modify_bitmask),
                     rqc);
    rq->state = state;
    if (state == MOCX_WQ_RST) {
        mocx_work_cancel(dev, &rq->flush);
        rq->ci = 0;
        rq->pi = 0;
    } else if (state == MOCX_WQ_ERR) {
        mocx_rq_error(dev, rq);
    }
    return MOCX_OK;
}

static MocxStatus rq_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxRq *rq = rq_of(dev, cmd, DEVX_GET(destroy_rq_in, cmd->in, rqn));

    if (!rq) {
        return MOCX_BAD_RES;
    }
    if (rq->queue.obj.refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_RQ_BUSY,
                        "RQ %u is named by %u TIRs or RQTs",
                        rq->queue.obj.id, rq->queue.obj.refs);
    }
    mocx_table_drop(dev, &dev->queues, &rq->queue.obj);
    return MOCX_OK;
}

static MocxStatus rq_query(MocxDev *dev, MocxCmd *cmd)
{
    MocxRq *rq = rq_of(dev, cmd, DEVX_GET(query_rq_in, cmd->in, rqn));
    uint8_t *rqc = DEVX_ADDR_OF(query_rq_out, cmd->out, rq_context);

    if (!rq) {
        return MOCX_BAD_RES;
    }
    memcpy(rqc, rq->ctx, sizeof(rq->ctx));
    DEVX_SET(rqc, rqc, state, rq->state);
    DEVX_SET(rqc, rqc, wq.hw_counter, rq->ci);
    DEVX_SET(rqc, rqc, wq.sw_counter, rq->pi);
    return MOCX_OK;
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(CREATE_RQ, create_rq, MOCX_ST_INITIALIZED, rq_create),
    MOCX_ROW(MODIFY_RQ, modify_rq, MOCX_ST_INITIALIZED, rq_modify),
    MOCX_ROW(DESTROY_RQ, destroy_rq, MOCX_ST_INITIALIZED, rq_destroy),
    MOCX_ROW(QUERY_RQ, query_rq, MOCX_ST_INITIALIZED, rq_query),
};

const MocxCmdRows mocx_rows_rq = { rows, sizeof(rows) / sizeof(rows[0]) };

static void rq_reset(MocxDev *dev)
{
    mocx_table_clear(dev, &dev->queues, &rq_kind);
}

const MocxModule mocx_mod_rq = { .name = "rq", .reset = rq_reset };
