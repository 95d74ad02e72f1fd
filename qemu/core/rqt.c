// SPDX-License-Identifier: GPL-2.0-or-later
/* Receive queue tables: what RSS spreads packets over. */
#include "heap.h"
#include "tir.h"

#define SYND_RQT_NUMBER 0x0597001u
#define SYND_RQT_SIZE   0x0597002u
#define SYND_RQT_RQ     0x0597003u
#define SYND_RQT_LIMIT  0x0597004u
#define SYND_RQT_BUSY   0x0597005u
#define SYND_RQT_TYPE   0x0597006u

#define MAX_SIZE        (1u << MOCX_LOG_MAX_RQT_SIZE)

MocxRqt *mocx_rqt_find(MocxDev *dev, uint32_t rqtn)
{
    return (MocxRqt *)mocx_table_find(&dev->rqts, rqtn);
}

static MocxRqt *rqt_of(MocxDev *dev, MocxCmd *cmd, uint32_t rqtn)
{
    MocxRqt *rqt = mocx_rqt_find(dev, rqtn);

    if (!rqt) {
        mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_RQT_NUMBER,
                 "RQT %u does not exist", rqtn);
    }
    return rqt;
}

static uint8_t *list_of(uint8_t *rqtc)
{
    return rqtc + DEVX_ST_SZ_BYTES(rqtc);
}

/*
 * Look up the RQs of a context before anything is changed.
 * @rqs: room for MAX_SIZE
 */
static MocxStatus rqt_read(MocxDev *dev, MocxCmd *cmd, const uint8_t *rqtc,
                           MocxRq **rqs)
{
    uint32_t size = DEVX_GET(rqtc, rqtc, rqt_actual_size);
    const uint8_t *list = list_of((uint8_t *)rqtc);

    if (DEVX_GET(rqtc, rqtc, list_q_type) ||
        DEVX_GET(rqtc, rqtc, rq_vhca_id_format)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_RQT_TYPE,
                        "RQT asks for what is not advertised");
    }
    if (!size || size > MAX_SIZE ||
        list + size * 4 > cmd->in + cmd->inlen) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_RQT_SIZE,
                        "RQT of %u entries", size);
    }
    for (uint32_t i = 0; i < size; i++) {
        uint32_t rqn = DEVX_GET(rq_num, list + i * 4, rq_num);

        rqs[i] = mocx_rq_find(dev, rqn);
        if (!rqs[i]) {
            return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_RQT_RQ,
                            "RQ %u of an RQT does not exist", rqn);
        }
    }
    return MOCX_OK;
}

static void rqt_fill(MocxRqt *rqt, MocxRq **rqs, uint32_t size)
{
    rqt->size = size;
    for (uint32_t i = 0; i < size; i++) {
        rqt->rqs[i] = rqs[i];
        mocx_obj_hold(&rqs[i]->queue.obj);
    }
}

static void rqt_release(MocxRqt *rqt)
{
    for (uint32_t i = 0; i < rqt->size; i++) {
        mocx_obj_drop(&rqt->rqs[i]->queue.obj);
    }
}

static void rqt_fini(MocxDev *dev, MocxObj *obj)
{
    rqt_release((MocxRqt *)obj);
}

/* Its list is no set of pointers that a row could name. */
const MocxObjKind mocx_rqt_kind = { .type = MOCX_OBJ_RQT, .fini = rqt_fini };

MocxStatus mocx_rqt_create(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *rqtc = DEVX_ADDR_OF(create_rqt_in, cmd->in, rqt_context);
    uint32_t max_size = DEVX_GET(rqtc, rqtc, rqt_max_size);
    uint32_t size = DEVX_GET(rqtc, rqtc, rqt_actual_size);
    MocxRq *rqs[MAX_SIZE];
    MocxStatus status = rqt_read(dev, cmd, rqtc, rqs);
    MocxRqt *rqt;

    if (status != MOCX_OK) {
        return status;
    }
    if (max_size < size || max_size > MAX_SIZE) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_RQT_SIZE,
                        "RQT of %u, at most %u entries", size, max_size);
    }
    rqt = mocx_calloc(&dev->heap, 1,
                      sizeof(*rqt) + max_size * sizeof(rqt->rqs[0]));
    if (!rqt) {
        return MOCX_NO_RES;
    }
    if (!mocx_table_add(&dev->rqts, &rqt->obj, &mocx_rqt_kind)) {
        mocx_free(rqt);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_RQT_LIMIT, "no RQT left");
    }
    rqt->max_size = max_size;
    rqt_fill(rqt, rqs, size);
    DEVX_SET(create_rqt_out, cmd->out, rqtn, rqt->obj.id);
    return MOCX_OK;
}

MocxStatus mocx_rqt_modify(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *rqtc = DEVX_ADDR_OF(modify_rqt_in, cmd->in, ctx);
    MocxRqt *rqt = rqt_of(dev, cmd, DEVX_GET(modify_rqt_in, cmd->in, rqtn));
    MocxRq *rqs[MAX_SIZE];
    MocxStatus status;
    uint32_t size;

    if (!rqt) {
        return MOCX_BAD_RES;
    }
    if (!DEVX_GET(modify_rqt_in, cmd->in, bitmask.rqn_list)) {
        return MOCX_OK;
    }
    status = rqt_read(dev, cmd, rqtc, rqs);
    if (status != MOCX_OK) {
        return status;
    }
    size = DEVX_GET(rqtc, rqtc, rqt_actual_size);
    if (size > rqt->max_size) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_RQT_SIZE,
                        "RQT of %u, at most %u entries", size, rqt->max_size);
    }
    rqt_release(rqt);
    rqt_fill(rqt, rqs, size);
    return MOCX_OK;
}

MocxStatus mocx_rqt_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxRqt *rqt = rqt_of(dev, cmd, DEVX_GET(destroy_rqt_in, cmd->in, rqtn));

    if (!rqt) {
        return MOCX_BAD_RES;
    }
    if (rqt->obj.refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_RQT_BUSY,
                        "RQT %u is named by %u TIRs", rqt->obj.id,
                        rqt->obj.refs);
    }
    mocx_table_drop(dev, &dev->rqts, &rqt->obj);
    return MOCX_OK;
}

MocxStatus mocx_rqt_query(MocxDev *dev, MocxCmd *cmd)
{
    MocxRqt *rqt = rqt_of(dev, cmd, DEVX_GET(query_rqt_in, cmd->in, rqtn));
    uint8_t *rqtc = DEVX_ADDR_OF(query_rqt_out, cmd->out, rqt_context);
    uint8_t *list = list_of(rqtc);

    if (!rqt) {
        return MOCX_BAD_RES;
    }
    DEVX_SET(rqtc, rqtc, rqt_max_size, rqt->max_size);
    DEVX_SET(rqtc, rqtc, rqt_actual_size, rqt->size);
    cmd->defined = cmd->outlen;
    for (uint32_t i = 0; i < rqt->size; i++) {
        if (list + (i + 1) * 4 > cmd->out + cmd->outlen) {
            break;
        }
        DEVX_SET(rq_num, list + i * 4, rq_num, rqt->rqs[i]->queue.obj.id);
    }
    return MOCX_OK;
}
