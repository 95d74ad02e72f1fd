// SPDX-License-Identifier: GPL-2.0-or-later
/* Send queues: their commands.  What is sent is eth_tx.c. */
#include "heap.h"
#include "sq.h"

#define SYND_SQ_NUMBER  0x0590101u
#define SYND_SQ_TYPE    0x0590102u
#define SYND_SQ_STATE   0x0590103u
#define SYND_SQ_CQ      0x0590104u
#define SYND_SQ_LIMIT   0x0590105u
#define SYND_SQ_TIS     0x0590106u
#define SYND_SQ_UAR     0x0590107u
#define SYND_SQ_TIME    0x0590108u
#define SYND_SQ_INLINE  0x0590109u

#define LOG_BB  6

/* Which state may follow which (mlx5e: en_main.c, en/health.c) */
static const uint8_t next_states[] = {
    [MOCX_WQ_RST] = 1 << MOCX_WQ_RST | 1 << MOCX_WQ_RDY,
    [MOCX_WQ_RDY] = 1 << MOCX_WQ_RST | 1 << MOCX_WQ_RDY | 1 << MOCX_WQ_ERR,
    [MOCX_WQ_ERR] = 1 << MOCX_WQ_RST | 1 << MOCX_WQ_ERR,
};

static const MocxWqLimits limits = {
    .log_stride_min = LOG_BB, .log_stride_max = LOG_BB,
};

MocxSq *mocx_sq_find(MocxDev *dev, uint32_t sqn)
{
    MocxObj *obj = mocx_table_find(&dev->queues, sqn);

    return obj && obj->type == MOCX_OBJ_SQ ? (MocxSq *)obj : NULL;
}

void mocx_sq_error(MocxDev *dev, MocxSq *sq)
{
    sq->state = MOCX_WQ_ERR;
    if (sq->flush_in_error) {
        mocx_work_queue(dev, &sq->work);
    }
}

static void sq_doorbell(MocxDev *dev, MocxQueue *queue, uint64_t value)
{
    MocxSq *sq = (MocxSq *)queue;
    uint32_t v;

    /* The record has the producer index. */
    if (dev->verify && mocx_dma_read(dev, sq->wq.dbr + MLX5_SND_DBR * sizeof(v),
                                     &v, sizeof(v))) {
        mocx_verify_covered(dev, queue->obj.id, value >> 32, mocx_get_be32(&v),
                            1u << sq->wq.log_size);
    }
    if (sq->state == MOCX_WQ_RDY ||
        (sq->state == MOCX_WQ_ERR && sq->flush_in_error)) {
        mocx_work_queue(dev, &sq->work);
    }
}

static void sq_fini(MocxDev *dev, MocxObj *obj)
{
    MocxSq *sq = (MocxSq *)obj;

    mocx_work_cancel(dev, &sq->work);
    mocx_wq_fini(&sq->wq);
}

static const MocxObjKind sq_kind = {
    .type = MOCX_OBJ_SQ,
    .uses = { offsetof(MocxSq, queue.uar), offsetof(MocxSq, wq.pd),
              offsetof(MocxSq, cq), offsetof(MocxSq, tis) },
    .fini = sq_fini,
};

static MocxStatus check_type(MocxDev *dev, MocxCmd *cmd, const uint8_t *sqc)
{
    if (DEVX_GET(sqc, sqc, hairpin) || DEVX_GET(sqc, sqc, reg_umr) ||
        DEVX_GET(sqc, sqc, non_wire) || DEVX_GET(sqc, sqc, allow_swp) ||
        DEVX_GET(sqc, sqc, allow_multi_pkt_send_wqe) ||
        DEVX_GET(sqc, sqc, tis_lst_sz) > 1) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_SQ_TYPE,
                        "SQ asks for what is not advertised");
    }
    if (!mocx_ts_format_ok(mocx_cap(dev, MOCX_CAP_GENERAL,
                                    __devx_bit_off(cmd_hca_cap, sq_ts_format)),
                           DEVX_GET(sqc, sqc, ts_format))) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_SQ_TIME,
                        "timestamp format %u of an SQ",
                        DEVX_GET(sqc, sqc, ts_format));
    }
    /* wqe_inline_mode leaves it neither to the vport nor to the queue. */
    if (dev->cfg.card && DEVX_GET(sqc, sqc, min_wqe_inline_mode)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_SQ_INLINE,
                        "inline mode %u of an SQ",
                        DEVX_GET(sqc, sqc, min_wqe_inline_mode));
    }
    return MOCX_OK;
}

static MocxStatus check_sqc(MocxDev *dev, MocxCmd *cmd, const uint8_t *sqc)
{
    uint32_t uar = DEVX_GET(sqc, sqc, wq.uar_page);

    if (!mocx_cq_find(dev, DEVX_GET(sqc, sqc, cqn))) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_SQ_CQ,
                        "CQ %u of an SQ does not exist",
                        DEVX_GET(sqc, sqc, cqn));
    }
    if (DEVX_GET(sqc, sqc, tis_lst_sz) &&
        !mocx_tis_find(dev, DEVX_GET(sqc, sqc, tis_num_0))) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_SQ_TIS,
                        "TIS %u of an SQ does not exist",
                        DEVX_GET(sqc, sqc, tis_num_0));
    }
    if (!mocx_table_find(&dev->uars, uar)) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_SQ_UAR,
                        "UAR %u of an SQ does not exist", uar);
    }
    return check_type(dev, cmd, sqc);
}

static void sq_set_up(MocxDev *dev, MocxSq *sq, const uint8_t *sqc)
{
    sq->queue.doorbell = sq_doorbell;
    sq->queue.uar = mocx_table_find(&dev->uars,
                                    DEVX_GET(sqc, sqc, wq.uar_page));
    sq->work.fn = mocx_sq_run;
    sq->cq = mocx_cq_find(dev, DEVX_GET(sqc, sqc, cqn));
    if (mocx_uar_drivers(sq->cq->uar)) {
        mocx_uar_claim(sq->queue.uar);
    }
    if (DEVX_GET(sqc, sqc, tis_lst_sz)) {
        sq->tis = mocx_tis_find(dev, DEVX_GET(sqc, sqc, tis_num_0));
    }
    sq->state = MOCX_WQ_RST;
    sq->rlky = DEVX_GET(sqc, sqc, rlky);
    sq->flush_in_error = DEVX_GET(sqc, sqc, flush_in_error_en);
    sq->user_index = DEVX_GET(sqc, sqc, user_index);
    memcpy(sq->ctx, sqc, sizeof(sq->ctx));
}

static MocxStatus sq_create(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *sqc = DEVX_ADDR_OF(create_sq_in, cmd->in, ctx);
    MocxStatus status = check_sqc(dev, cmd, sqc);
    MocxSq *sq;

    if (status != MOCX_OK) {
        return status;
    }
    sq = mocx_calloc(&dev->heap, 1, sizeof(*sq));
    if (!sq) {
        return MOCX_NO_RES;
    }
    status = mocx_wq_init(dev, cmd, &sq->wq, DEVX_ADDR_OF(sqc, sqc, wq),
                          &limits);
    if (status != MOCX_OK) {
        mocx_free(sq);
        return status;
    }
    sq_set_up(dev, sq, sqc);
    if (!mocx_table_add(&dev->queues, &sq->queue.obj, &sq_kind)) {
        mocx_wq_fini(&sq->wq);
        mocx_free(sq);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_SQ_LIMIT, "no SQ left");
    }
    DEVX_SET(create_sq_out, cmd->out, sqn, sq->queue.obj.id);
    return MOCX_OK;
}

static MocxSq *sq_of(MocxDev *dev, MocxCmd *cmd, uint32_t sqn)
{
    MocxSq *sq = mocx_sq_find(dev, sqn);

    if (!sq) {
        mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_SQ_NUMBER,
                 "SQ %u does not exist", sqn);
    }
    return sq;
}

static void sq_enter(MocxDev *dev, MocxSq *sq, unsigned state)
{
    sq->state = state;
    if (state == MOCX_WQ_RST) {
        mocx_work_cancel(dev, &sq->work);
        sq->busy = false;
        sq->ci = 0;
        sq->pi = 0;
    } else if (state == MOCX_WQ_ERR) {
        mocx_sq_error(dev, sq);
    }
}

static MocxStatus sq_modify(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *sqc = DEVX_ADDR_OF(modify_sq_in, cmd->in, ctx);
    MocxSq *sq = sq_of(dev, cmd, DEVX_GET(modify_sq_in, cmd->in, sqn));
    unsigned state = DEVX_GET(sqc, sqc, state);

    if (!sq) {
        return MOCX_BAD_RES;
    }
    if (DEVX_GET(modify_sq_in, cmd->in, sq_state) != sq->state ||
        !(next_states[sq->state] >> state & 1)) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_SQ_STATE,
                        "SQ %u is in state %u, not %u to go to %u",
                        sq->queue.obj.id, sq->state,
                        DEVX_GET(modify_sq_in, cmd->in, sq_state), state);
    }
    sq_enter(dev, sq, state);
    return MOCX_OK;
}

static MocxStatus sq_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxSq *sq = sq_of(dev, cmd, DEVX_GET(destroy_sq_in, cmd->in, sqn));

    if (!sq) {
        return MOCX_BAD_RES;
    }
    mocx_table_drop(dev, &dev->queues, &sq->queue.obj);
    return MOCX_OK;
}

static MocxStatus sq_query(MocxDev *dev, MocxCmd *cmd)
{
    MocxSq *sq = sq_of(dev, cmd, DEVX_GET(query_sq_in, cmd->in, sqn));
    uint8_t *sqc = DEVX_ADDR_OF(query_sq_out, cmd->out, sq_context);

    if (!sq) {
        return MOCX_BAD_RES;
    }
    memcpy(sqc, sq->ctx, sizeof(sq->ctx));
    DEVX_SET(sqc, sqc, state, sq->state);
    DEVX_SET(sqc, sqc, wq.hw_counter, sq->ci);
    DEVX_SET(sqc, sqc, wq.sw_counter, sq->pi);
    return MOCX_OK;
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(CREATE_SQ, create_sq, MOCX_ST_INITIALIZED, sq_create),
    MOCX_ROW(MODIFY_SQ, modify_sq, MOCX_ST_INITIALIZED, sq_modify),
    MOCX_ROW(DESTROY_SQ, destroy_sq, MOCX_ST_INITIALIZED, sq_destroy),
    MOCX_ROW(QUERY_SQ, query_sq, MOCX_ST_INITIALIZED, sq_query),
};

const MocxCmdRows mocx_rows_sq = { rows, sizeof(rows) / sizeof(rows[0]) };

static void sq_reset(MocxDev *dev)
{
    mocx_table_clear(dev, &dev->queues, &sq_kind);
}

const MocxModule mocx_mod_sq = { .name = "sq", .reset = sq_reset };
