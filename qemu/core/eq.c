// SPDX-License-Identifier: GPL-2.0-or-later
/* Event queues. */
#include "dev.h"
#include "heap.h"

#define EQE_SIZE            64
#define EQE_TYPE            0x01
#define EQE_SUB_TYPE        0x03
#define EQE_DATA            0x20
#define EQE_DATA_SIZE       28
#define EQE_OWNER           0x3f
#define EQE_CQN             0x38    /* completion: data dword 6 */
#define EQE_QUEUE_TYPE      0x34    /* queue events: data byte 0x14 */
#define EQE_QUEUE_NUM       0x38

#define EQ_LOG_SIZE_MAX     20
#define EQ_INDEX_MASK       0xffffff

#define SYND_EQ_SIZE        0x0e0d0001u
#define SYND_EQ_VECTOR      0x0e0d0002u
#define SYND_EQ_UAR         0x0e0d0003u
#define SYND_EQ_PAGES       0x0e0d0004u
#define SYND_EQ_LIMIT       0x0e0d0005u
#define SYND_EQ_NUMBER      0x0e0d0006u
#define SYND_EQ_BUSY        0x0e0d0007u

MocxEq *mocx_eq_find(MocxDev *dev, uint32_t eqn)
{
    return (MocxEq *)mocx_table_find(&dev->eqs, eqn);
}

static bool eq_pending(const MocxEq *eq)
{
    return (eq->pi - eq->ci) & EQ_INDEX_MASK;
}

/*
 * Events raised before the first arm fire on it, as do those that came since
 * the driver last looked.
 */
static void eq_fire(MocxDev *dev, MocxEq *eq)
{
    if (eq->armed && eq_pending(eq)) {
        eq->armed = false;
        dev->ops->raise_msix(dev->opaque, eq->vector);
    }
}

static void eq_post(MocxDev *dev, MocxEq *eq, uint8_t eqe[EQE_SIZE])
{
    uint32_t size = 1u << eq->log_size;

    if (((eq->pi - eq->ci) & EQ_INDEX_MASK) >= size) {
        if (!eq->overrun) {
            mocx_log(dev, MOCX_LOG_GUEST_ERROR,
                     "EQ %u of %u entries is full, events are lost",
                     eq->obj.id, size);
            if (dev->verify) {
                mocx_verify_eq_full(dev, eq);
            }
        }
        eq->overrun = true;
        return;
    }
    eqe[EQE_OWNER] = (eq->pi >> eq->log_size) & 1;
    if (!mocx_ring_publish(dev, &eq->ring,
                           (uint64_t)(eq->pi & (size - 1)) * EQE_SIZE,
                           eqe, EQE_SIZE)) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR, "EQ %u leads to no memory",
                 eq->obj.id);
        return;
    }
    eq->pi++;
    eq_fire(dev, eq);
}

void mocx_eq_comp(MocxDev *dev, MocxEq *eq, uint32_t cqn)
{
    uint8_t eqe[EQE_SIZE] = { 0 };

    mocx_put_be32(eqe + EQE_CQN, cqn);
    eq_post(dev, eq, eqe);
}

static MocxEq *eq_for_type(MocxDev *dev, uint8_t type)
{
    for (uint32_t i = 0; i < dev->eqs.cap; i++) {
        MocxEq *eq = (MocxEq *)dev->eqs.slots[i];

        if (eq && eq->mask[type / 64] >> (type % 64) & 1) {
            return eq;
        }
    }
    return NULL;
}

bool mocx_event_wanted(MocxDev *dev, uint8_t type)
{
    return eq_for_type(dev, type) != NULL;
}

void mocx_event(MocxDev *dev, uint8_t type, uint8_t sub_type,
                const uint8_t *data)
{
    MocxEq *eq = eq_for_type(dev, type);
    uint8_t eqe[EQE_SIZE] = { 0 };

    if (!eq) {
        return;
    }
    eqe[EQE_TYPE] = type;
    eqe[EQE_SUB_TYPE] = sub_type;
    if (data) {
        memcpy(eqe + EQE_DATA, data, EQE_DATA_SIZE);
    }
    eq_post(dev, eq, eqe);
}

void mocx_event_queue(MocxDev *dev, uint8_t type, uint8_t kind, uint32_t num)
{
    uint8_t data[EQE_DATA_SIZE] = { 0 };

    data[EQE_QUEUE_TYPE - EQE_DATA] = kind;
    mocx_put_be32(data + (EQE_QUEUE_NUM - EQE_DATA), num);
    mocx_event(dev, type, 0, data);
}

void mocx_eq_doorbell(MocxDev *dev, const MocxObj *uar, uint32_t value,
                      bool arm)
{
    MocxEq *eq = mocx_eq_find(dev, value >> 24);

    if (!eq) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR, "doorbell of unknown EQ %u",
                 value >> 24);
        if (dev->verify) {
            mocx_verify_eq_unknown(dev, value >> 24);
        }
        return;
    }
    if (mocx_uar_foreign(dev, uar, eq->uar, "EQ", eq->obj.id)) {
        return;
    }
    if (dev->verify) {
        mocx_verify_eq_index(dev, eq, value & EQ_INDEX_MASK);
    }
    eq->ci = value & EQ_INDEX_MASK;
    eq->overrun = false;
    if (arm) {
        eq->armed = true;
        eq_fire(dev, eq);
    }
}

/* Commands */

static MocxStatus eq_check(MocxDev *dev, MocxCmd *cmd, const uint8_t *eqc)
{
    if (DEVX_GET(eqc, eqc, log_eq_size) > EQ_LOG_SIZE_MAX) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_EQ_SIZE,
                        "log_eq_size %u above %u",
                        DEVX_GET(eqc, eqc, log_eq_size), EQ_LOG_SIZE_MAX);
    }
    if (DEVX_GET(eqc, eqc, intr) >= dev->cfg.num_vectors) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_EQ_VECTOR,
                        "vector %u of %u", DEVX_GET(eqc, eqc, intr),
                        dev->cfg.num_vectors);
    }
    if (!mocx_table_find(&dev->uars, DEVX_GET(eqc, eqc, uar_page))) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_EQ_UAR,
                        "UAR %u is not allocated",
                        DEVX_GET(eqc, eqc, uar_page));
    }
    return MOCX_OK;
}

static MocxStatus eq_ring_init(MocxDev *dev, MocxEq *eq, const MocxCmd *cmd,
                               const uint8_t *eqc)
{
    size_t head = DEVX_ST_SZ_BYTES(create_eq_in);

    return mocx_ring_init(dev, &eq->ring, cmd->in + head,
                          (cmd->inlen - head) / 8,
                          DEVX_GET(eqc, eqc, log_page_size),
                          DEVX_GET(eqc, eqc, page_offset),
                          (uint64_t)EQE_SIZE << eq->log_size);
}

/* The mask is four 64-bit words, the first for types 0 to 63. */
static void eq_mask_get(MocxEq *eq, const MocxCmd *cmd)
{
    const uint8_t *mask = DEVX_ADDR_OF(create_eq_in, cmd->in, event_bitmask);

    for (unsigned i = 0; i < 4; i++) {
        eq->mask[i] = mocx_get_be64(mask + i * 8);
    }
    eq->mask[0] &= ~1ULL;       /* completions are not asked for by mask */
}

static void eq_fini(MocxDev *dev, MocxObj *obj)
{
    mocx_ring_fini(&((MocxEq *)obj)->ring);
}

static const MocxObjKind eq_kind = {
    .type = MOCX_OBJ_EQ, .uses = { offsetof(MocxEq, uar) }, .fini = eq_fini,
};

static MocxStatus eq_create(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *eqc = DEVX_ADDR_OF(create_eq_in, cmd->in, eq_context_entry);
    MocxStatus status = eq_check(dev, cmd, eqc);
    MocxEq *eq;

    if (status) {
        return status;
    }
    eq = mocx_calloc(&dev->heap, 1, sizeof(*eq));
    if (!eq) {
        return MOCX_NO_RES;
    }
    eq->log_size = DEVX_GET(eqc, eqc, log_eq_size);
    eq->vector = DEVX_GET(eqc, eqc, intr);
    eq->uar = mocx_table_find(&dev->uars, DEVX_GET(eqc, eqc, uar_page));
    mocx_uar_claim(eq->uar);
    eq_mask_get(eq, cmd);
    status = eq_ring_init(dev, eq, cmd, eqc);
    if (status) {
        mocx_free(eq);
        return status != MOCX_BAD_PARAM ? status
               : mocx_bad(dev, cmd, status, SYND_EQ_PAGES,
                          "page list does not hold the EQ");
    }
    if (!mocx_table_add(&dev->eqs, &eq->obj, &eq_kind)) {
        mocx_ring_fini(&eq->ring);
        mocx_free(eq);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_EQ_LIMIT, "no EQ left");
    }
    DEVX_SET(create_eq_out, cmd->out, eq_number, eq->obj.id);
    return MOCX_OK;
}

static MocxStatus eq_lookup(MocxDev *dev, MocxCmd *cmd, uint32_t eqn,
                            MocxEq **eq)
{
    *eq = mocx_eq_find(dev, eqn);
    return *eq ? MOCX_OK
           : mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_EQ_NUMBER,
                      "EQ %u does not exist", eqn);
}

static MocxStatus eq_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxEq *eq;
    MocxStatus status = eq_lookup(dev, cmd, DEVX_GET(destroy_eq_in, cmd->in,
                                                     eq_number), &eq);

    if (status) {
        return status;
    }
    if (eq->obj.refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_EQ_BUSY,
                        "EQ %u still serves %u CQs", eq->obj.id, eq->obj.refs);
    }
    mocx_table_drop(dev, &dev->eqs, &eq->obj);
    return MOCX_OK;
}

static MocxStatus eq_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *eqc = DEVX_ADDR_OF(query_eq_out, cmd->out, eq_context_entry);
    MocxEq *eq;
    MocxStatus status = eq_lookup(dev, cmd, DEVX_GET(query_eq_in, cmd->in,
                                                     eq_number), &eq);

    if (status) {
        return status;
    }
    DEVX_SET(eqc, eqc, st, eq->armed ? 0x9 : 0xa);     /* armed, fired */
    DEVX_SET(eqc, eqc, log_eq_size, eq->log_size);
    DEVX_SET(eqc, eqc, uar_page, eq->uar->id);
    DEVX_SET(eqc, eqc, intr, eq->vector);
    DEVX_SET(eqc, eqc, log_page_size, eq->ring.page_shift - 12);
    DEVX_SET(eqc, eqc, consumer_counter, eq->ci);
    DEVX_SET(eqc, eqc, producer_counter, eq->pi & EQ_INDEX_MASK);
    DEVX_SET64(query_eq_out, cmd->out, event_bitmask, eq->mask[0]);
    return MOCX_OK;
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(CREATE_EQ, create_eq, MOCX_ST_INITIALIZED, eq_create),
    MOCX_ROW(DESTROY_EQ, destroy_eq, MOCX_ST_INITIALIZED, eq_destroy),
    MOCX_ROW(QUERY_EQ, query_eq, MOCX_ST_INITIALIZED, eq_query),
};

const MocxCmdRows mocx_rows_eq = { rows, sizeof(rows) / sizeof(rows[0]) };

static void eq_reset(MocxDev *dev)
{
    mocx_table_clear(dev, &dev->eqs, &eq_kind);
}

const MocxModule mocx_mod_eq = { .name = "eq", .reset = eq_reset };
