// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Completion queues.
 *
 * The consumer index is learnt from the arm doorbell, and read from the
 * doorbell record only when the ring looks full: a CQE costs one write.
 */
#include "dev.h"
#include "heap.h"

#define CQE_SIZE            64
#define CQ_LOG_SIZE_MAX     22
#define CQ_INDEX_MASK       0xffffff
#define CQ_DBR_ALIGN        8

#define CQE_SOLICITED       0x02
#define CQE_OWNER           0x01
#define CQE_OPCODE_RESIZE   5
#define CQE_OPCODE_REQ_ERR  13
#define CQE_OPCODE_RESP_ERR 14

/* The arm doorbell (mlx5/cq.h): sn[29:28], solicited only[24], ci[23:0] */
#define CQ_ARM_SOLICITED    (1u << 24)

/* Syndrome byte of a CQ error event (mlx5/device.h: mlx5_eqe_cq_err) */
#define CQ_ERR_DATA_SYNDROME    11
#define CQ_ERR_OVERRUN          1
#define CQ_ERR_ACCESS           2

/* MODIFY_CQ's op_mod that puts another ring in place, and what it may take */
#define CQ_OP_MOD_RESIZE        1
#define CQ_RESIZE_ALL           0x7     /* size, page offset, page size */

/* MODIFY_CQ's field select (mlx5/cq.h: MLX5_CQ_MODIFY_*) */
#define CQ_MODIFY_PERIOD        (1u << 0)
#define CQ_MODIFY_COUNT         (1u << 1)
#define CQ_MODIFY_OVERRUN       (1u << 2)
#define CQ_MODIFY_PERIOD_MODE   (1u << 4)

#define CQC_STATUS_OVERFLOW     0x9
#define CQC_ST_SOLICITED_ARMED  0x6
#define CQC_ST_ARMED            0x9
#define CQC_ST_FIRED            0xa

#define SYND_CQ_SIZE        0x0c90001u
#define SYND_CQ_EQ          0x0c90002u
#define SYND_CQ_UAR         0x0c90003u
#define SYND_CQ_PAGES       0x0c90004u
#define SYND_CQ_LIMIT       0x0c90005u
#define SYND_CQ_NUMBER      0x0c90006u
#define SYND_CQ_BUSY        0x0c90007u
#define SYND_CQ_DBR         0x0c90008u
#define SYND_CQ_CQE_SIZE    0x0c90009u
#define SYND_CQ_RESIZE      0x0c9000au
#define SYND_CQ_PERIOD      0x0c9000bu

MocxCq *mocx_cq_find(MocxDev *dev, uint32_t cqn)
{
    return (MocxCq *)mocx_table_find(&dev->cqs, cqn);
}

static uint32_t cq_used(const MocxCq *cq)
{
    return (cq->pi - cq->ci) & CQ_INDEX_MASK;
}

/* The consumer index as the doorbell record has it. */
static void cq_learn_ci(MocxDev *dev, MocxCq *cq)
{
    uint8_t dbr[4];
    uint32_t ci;

    if (!mocx_dma_read(dev, cq->dbr, dbr, sizeof(dbr))) {
        return;
    }
    ci = mocx_get_be32(dbr) & CQ_INDEX_MASK;
    if (dev->verify) {
        mocx_verify_cq_index(dev, cq, ci);
    }
    cq->ci = ci;
}

static bool cq_full(MocxDev *dev, MocxCq *cq)
{
    uint32_t size = 1u << cq->log_size;

    if (cq_used(cq) < size) {
        return false;
    }
    cq_learn_ci(dev, cq);
    return cq_used(cq) >= size;
}

static void cq_fail(MocxDev *dev, MocxCq *cq, uint8_t syndrome)
{
    uint8_t data[28] = { 0 };

    cq->in_error = true;
    mocx_put_be32(data, cq->obj.id);
    data[CQ_ERR_DATA_SYNDROME] = syndrome;
    mocx_event(dev, MOCX_EV_CQ_ERROR, 0, data);
}

static void cq_notify(MocxDev *dev, MocxCq *cq)
{
    mocx_timer_stop(dev, &cq->timer);
    cq->arm = MOCX_CQ_IDLE;
    cq->event_pi = cq->pi;
    cq->event_ns = mocx_now(dev);
    mocx_eq_comp(dev, cq->eq, cq->obj.id);
    if (dev->verify) {
        mocx_verify_cq_event(cq);
    }
}

static void cq_timer(MocxDev *dev, MocxTimer *timer)
{
    cq_notify(dev, MOCX_CONTAINER_OF(timer, MocxCq, timer));
}

/*
 * There is something to tell.  Moderation spaces events: one that comes sooner
 * than a period after the last waits for its end, or for enough CQEs.  (A card
 * may also hold back the first of a burst; that would cost a lone message
 * its latency and spare nothing.)
 */
static void cq_event(MocxDev *dev, MocxCq *cq)
{
    uint64_t due;

    if (!cq->period || cq->max_count <= 1 ||
        cq->pi - cq->event_pi >= cq->max_count) {
        cq_notify(dev, cq);
        return;
    }
    due = cq->event_ns + cq->period * 1000ull;
    if (mocx_now(dev) >= due) {
        cq_notify(dev, cq);
    } else if (!cq->timer.pos) {
        mocx_timer_arm(dev, &cq->timer, due);
    }
}

static bool cqe_is_error(const struct mlx5_cqe64 *cqe)
{
    uint8_t opcode = cqe->op_own >> 4;

    return opcode == CQE_OPCODE_REQ_ERR || opcode == CQE_OPCODE_RESP_ERR;
}

static bool cqe_is_solicited(const struct mlx5_cqe64 *cqe)
{
    return cqe->op_own & CQE_SOLICITED || cqe_is_error(cqe);
}

/* A 128-byte entry holds the CQE in its second half (mlx5_ib: get_cqe). */
static uint64_t cqe_offset(const MocxCq *cq)
{
    uint32_t index = cq->pi & ((1u << cq->log_size) - 1);

    return ((uint64_t)(index + 1) << cq->log_cqe_sz) - CQE_SIZE;
}

/* The CQE, with its owner bit and the time, at the producer index. */
static bool cq_write(MocxDev *dev, MocxCq *cq, struct mlx5_cqe64 *cqe)
{
    cqe->op_own &= ~CQE_OWNER;
    cqe->op_own |= (cq->pi >> cq->log_size) & 1;
    /* An error has its syndrome in that place; a queue may have its own. */
    if (!cqe_is_error(cqe) && !cqe->timestamp) {
        cqe->timestamp = htobe64(mocx_ticks(dev));
    }
    if (!mocx_ring_publish(dev, &cq->ring, cqe_offset(cq), cqe, CQE_SIZE)) {
        cq_fail(dev, cq, CQ_ERR_ACCESS);
        return false;
    }
    cq->pi++;
    return true;
}

bool mocx_cq_post(MocxDev *dev, MocxCq *cq, struct mlx5_cqe64 *cqe)
{
    bool solicited = cqe_is_solicited(cqe);

    if (cq->in_error) {
        return false;
    }
    if (!cq->ignore_overrun && cq_full(dev, cq)) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR, "CQ %u of %u entries is full",
                 cq->obj.id, 1u << cq->log_size);
        if (dev->verify) {
            mocx_verify_cq_full(dev, cq);
        }
        cq_fail(dev, cq, CQ_ERR_OVERRUN);
        return false;
    }
    if (!cq_write(dev, cq, cqe)) {
        return false;
    }
    if (solicited) {
        cq->solicited_pi = cq->pi;
    }
    if (cq->arm == MOCX_CQ_ARM_NEXT ||
        (cq->arm == MOCX_CQ_ARM_SOLICITED && solicited)) {
        cq_event(dev, cq);
    }
    return true;
}

/*
 * Is there something that the consumer has not been told of?  A CQE that it
 * has not consumed, newer than the last event.  (An older one does not count:
 * whoever arms before he polls would be woken twice for each.)
 */
static bool cq_unseen(const MocxCq *cq, uint32_t newest)
{
    uint32_t consumed = cq->pi - cq_used(cq);

    return (int32_t)(newest - cq->event_pi) > 0 &&
           (int32_t)(newest - consumed) > 0;
}

void mocx_cq_arm(MocxDev *dev, const MocxObj *uar, uint32_t arm_word,
                 uint32_t cqn)
{
    MocxCq *cq = mocx_cq_find(dev, cqn & CQ_INDEX_MASK);
    bool solicited = arm_word & CQ_ARM_SOLICITED;

    if (!cq) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR, "arming of unknown CQ %u", cqn);
        if (dev->verify) {
            mocx_verify_cq_unknown(dev, uar, cqn & CQ_INDEX_MASK);
        }
        return;
    }
    if (mocx_uar_foreign(dev, uar, cq->uar, "CQ", cq->obj.id)) {
        return;
    }
    if (dev->verify) {
        mocx_verify_cq_arm(dev, cq, arm_word);
    }
    mocx_timer_stop(dev, &cq->timer);
    cq->ci = arm_word & CQ_INDEX_MASK;
    cq->arm_sn = arm_word >> 28 & 3;
    cq->arm = solicited && cq->arm != MOCX_CQ_ARM_NEXT ? MOCX_CQ_ARM_SOLICITED
              : MOCX_CQ_ARM_NEXT;
    if (cq_unseen(cq, cq->arm == MOCX_CQ_ARM_NEXT ? cq->pi
                  : cq->solicited_pi)) {
        cq_event(dev, cq);
    }
}

/* Commands */

/* Size and stride, which decide how much is read and where CQEs go. */
static MocxStatus cq_check_shape(MocxDev *dev, MocxCmd *cmd, const uint8_t *cqc)
{
    unsigned max = dev->cfg.log_max_cq_sz;

    max = max < CQ_LOG_SIZE_MAX ? max : CQ_LOG_SIZE_MAX;
    if (DEVX_GET(cqc, cqc, log_cq_size) > max) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_CQ_SIZE,
                        "log_cq_size %u above %u",
                        DEVX_GET(cqc, cqc, log_cq_size), max);
    }
    if (DEVX_GET(cqc, cqc, cqe_sz) > 2) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_CQ_CQE_SIZE,
                        "cqe_sz %u", DEVX_GET(cqc, cqc, cqe_sz));
    }
    return MOCX_OK;
}

/* cq_period_start_from_cqe is not offered. */
static MocxStatus check_period_mode(MocxDev *dev, MocxCmd *cmd,
                                    const uint8_t *cqc)
{
    unsigned mode = DEVX_GET(cqc, cqc, cq_period_mode);

    return mode ? mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_CQ_PERIOD,
                           "cq_period_mode %u", mode) : MOCX_OK;
}

static MocxStatus cq_check(MocxDev *dev, MocxCmd *cmd, const uint8_t *cqc)
{
    MocxStatus status = check_period_mode(dev, cmd, cqc);

    if (status) {
        return status;
    }
    if (!mocx_eq_find(dev, DEVX_GET(cqc, cqc, c_eqn_or_apu_element))) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_CQ_EQ,
                        "EQ %u does not exist",
                        DEVX_GET(cqc, cqc, c_eqn_or_apu_element));
    }
    if (!mocx_table_find(&dev->uars, DEVX_GET(cqc, cqc, uar_page))) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_CQ_UAR,
                        "UAR %u is not allocated",
                        DEVX_GET(cqc, cqc, uar_page));
    }
    if (DEVX_GET64(cqc, cqc, dbr_addr) & (CQ_DBR_ALIGN - 1)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_CQ_DBR,
                        "doorbell record is not aligned");
    }
    return cq_check_shape(dev, cmd, cqc);
}

/* The page list follows the @head bytes that the command starts with. */
static MocxStatus cq_ring_init(MocxDev *dev, MocxRing *ring,
                               const MocxCmd *cmd, const uint8_t *cqc,
                               size_t head)
{
    unsigned log_cqe = DEVX_GET(cqc, cqc, cqe_sz) ? 7 : 6;

    return mocx_ring_init(dev, ring, cmd->in + head, (cmd->inlen - head) / 8,
                          DEVX_GET(cqc, cqc, log_page_size),
                          DEVX_GET(cqc, cqc, page_offset),
                          1ULL << (DEVX_GET(cqc, cqc, log_cq_size) + log_cqe));
}

static MocxStatus cq_bad_ring(MocxDev *dev, MocxCmd *cmd, MocxStatus status)
{
    return status != MOCX_BAD_PARAM ? status
           : mocx_bad(dev, cmd, status, SYND_CQ_PAGES,
                      "page list does not hold the CQ");
}

static void cq_fill(MocxDev *dev, MocxCq *cq, const uint8_t *cqc)
{
    cq->log_size = DEVX_GET(cqc, cqc, log_cq_size);
    cq->cqe_sz = DEVX_GET(cqc, cqc, cqe_sz);
    cq->log_cqe_sz = cq->cqe_sz ? 7 : 6;
    cq->ignore_overrun = DEVX_GET(cqc, cqc, oi);
    cq->dbr = DEVX_GET64(cqc, cqc, dbr_addr);
    cq->uar = mocx_table_find(&dev->uars, DEVX_GET(cqc, cqc, uar_page));
    cq->period = DEVX_GET(cqc, cqc, cq_period);
    cq->max_count = DEVX_GET(cqc, cqc, cq_max_count);
    cq->eq = mocx_eq_find(dev, DEVX_GET(cqc, cqc, c_eqn_or_apu_element));
    cq->timer.fn = cq_timer;
}

static void cq_fini(MocxDev *dev, MocxObj *obj)
{
    MocxCq *cq = (MocxCq *)obj;

    mocx_timer_stop(dev, &cq->timer);
    mocx_ring_fini(&cq->ring);
}

static const MocxObjKind cq_kind = {
    .type = MOCX_OBJ_CQ,
    .uses = { offsetof(MocxCq, eq), offsetof(MocxCq, uar) },
    .fini = cq_fini,
};

static MocxStatus cq_create(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *cqc = DEVX_ADDR_OF(create_cq_in, cmd->in, cq_context);
    MocxStatus status = cq_check(dev, cmd, cqc);
    MocxCq *cq;

    if (status) {
        return status;
    }
    cq = mocx_calloc(&dev->heap, 1, sizeof(*cq));
    if (!cq) {
        return MOCX_NO_RES;
    }
    status = cq_ring_init(dev, &cq->ring, cmd, cqc,
                          DEVX_ST_SZ_BYTES(create_cq_in));
    if (status) {
        mocx_free(cq);
        return cq_bad_ring(dev, cmd, status);
    }
    cq_fill(dev, cq, cqc);
    if (!mocx_table_add(&dev->cqs, &cq->obj, &cq_kind)) {
        mocx_ring_fini(&cq->ring);
        mocx_free(cq);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_CQ_LIMIT, "no CQ left");
    }
    DEVX_SET(create_cq_out, cmd->out, cqn, cq->obj.id);
    return MOCX_OK;
}

static MocxStatus cq_lookup(MocxDev *dev, MocxCmd *cmd, uint32_t cqn,
                            MocxCq **cq)
{
    *cq = mocx_cq_find(dev, cqn);
    return *cq ? MOCX_OK
           : mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_CQ_NUMBER,
                      "CQ %u does not exist", cqn);
}

static MocxStatus cq_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxCq *cq;
    MocxStatus status = cq_lookup(dev, cmd, DEVX_GET(destroy_cq_in, cmd->in,
                                                     cqn), &cq);

    if (status) {
        return status;
    }
    if (cq->obj.refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_CQ_BUSY,
                        "CQ %u still serves %u queues", cq->obj.id,
                        cq->obj.refs);
    }
    mocx_table_drop(dev, &dev->cqs, &cq->obj);
    return MOCX_OK;
}

/* What MODIFY_CQ is to change: the union that mlx5_ifc.h gives two names. */
static uint32_t modify_select(const MocxCmd *cmd)
{
    return DEVX_GET(modify_cq_in, cmd->in,
                    modify_field_select_resize_field_select);
}

/*
 * Does the other ring hold what was not consumed, and the old one the CQE that
 * ends it?
 */
static MocxStatus cq_check_resize(MocxDev *dev, MocxCmd *cmd, MocxCq *cq,
                                  const uint8_t *cqc)
{
    MocxStatus status = cq_check_shape(dev, cmd, cqc);

    if (status) {
        return status;
    }
    if (modify_select(cmd) != CQ_RESIZE_ALL ||
        DEVX_GET(cqc, cqc, cqe_sz) != cq->cqe_sz) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_CQ_RESIZE,
                        "only the ring can change, not its CQEs");
    }
    cq_learn_ci(dev, cq);
    if (cq_used(cq) >= 1u << cq->log_size ||
        cq_used(cq) >= 1u << DEVX_GET(cqc, cqc, log_cq_size)) {
        return mocx_bad(dev, cmd, MOCX_BAD_SIZE_OUTS_CQES, SYND_CQ_RESIZE,
                        "CQ %u holds %u CQEs", cq->obj.id, cq_used(cq));
    }
    return MOCX_OK;
}

/*
 * The last CQE of the old ring says so, and takes an index of its own; software
 * copies those before it one place up in the new ring (mlx5_ib:
 * copy_resize_cqes).
 */
static MocxStatus cq_resize(MocxDev *dev, MocxCmd *cmd, MocxCq *cq,
                            const uint8_t *cqc)
{
    struct mlx5_cqe64 cqe = { .op_own = CQE_OPCODE_RESIZE << 4 };
    MocxStatus status = cq_check_resize(dev, cmd, cq, cqc);
    MocxRing ring;

    if (status) {
        return status;
    }
    status = cq_ring_init(dev, &ring, cmd, cqc, DEVX_ST_SZ_BYTES(modify_cq_in));
    if (status) {
        return cq_bad_ring(dev, cmd, status);
    }
    if (cq->in_error || !cq_write(dev, cq, &cqe)) {
        mocx_ring_fini(&ring);
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_CQ_RESIZE,
                        "CQ %u cannot be written", cq->obj.id);
    }
    if (cq->event_pi == cq->pi - 1) {
        cq->event_pi = cq->pi;      /* nothing that an event would tell */
    }
    mocx_ring_fini(&cq->ring);
    cq->ring = ring;
    cq->log_size = DEVX_GET(cqc, cqc, log_cq_size);
    return MOCX_OK;
}

static MocxStatus cq_modify(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *cqc = DEVX_ADDR_OF(modify_cq_in, cmd->in, cq_context);
    uint32_t select = modify_select(cmd);
    MocxCq *cq;
    MocxStatus status = cq_lookup(dev, cmd, DEVX_GET(modify_cq_in, cmd->in,
                                                     cqn), &cq);

    if (status) {
        return status;
    }
    if (cmd->op_mod == CQ_OP_MOD_RESIZE) {
        return cq_resize(dev, cmd, cq, cqc);
    }
    if (cmd->op_mod) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_CQ_RESIZE,
                        "op_mod %u", cmd->op_mod);
    }
    if (select & CQ_MODIFY_PERIOD_MODE) {
        status = check_period_mode(dev, cmd, cqc);
    }
    if (status) {
        return status;
    }
    if (select & CQ_MODIFY_PERIOD) {
        cq->period = DEVX_GET(cqc, cqc, cq_period);
    }
    if (select & CQ_MODIFY_COUNT) {
        cq->max_count = DEVX_GET(cqc, cqc, cq_max_count);
    }
    if (select & CQ_MODIFY_OVERRUN) {
        cq->ignore_overrun = DEVX_GET(cqc, cqc, oi);
    }
    return MOCX_OK;
}

static uint8_t cqc_state(const MocxCq *cq)
{
    static const uint8_t states[] = {
        [MOCX_CQ_IDLE] = CQC_ST_FIRED,
        [MOCX_CQ_ARM_SOLICITED] = CQC_ST_SOLICITED_ARMED,
        [MOCX_CQ_ARM_NEXT] = CQC_ST_ARMED,
    };

    return states[cq->arm];
}

static MocxStatus cq_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *cqc = DEVX_ADDR_OF(query_cq_out, cmd->out, cq_context);
    MocxCq *cq;
    MocxStatus status = cq_lookup(dev, cmd, DEVX_GET(query_cq_in, cmd->in,
                                                     cqn), &cq);

    if (status) {
        return status;
    }
    DEVX_SET(cqc, cqc, status, cq->in_error ? CQC_STATUS_OVERFLOW : 0);
    DEVX_SET(cqc, cqc, st, cqc_state(cq));
    DEVX_SET(cqc, cqc, cqe_sz, cq->cqe_sz);
    DEVX_SET(cqc, cqc, oi, cq->ignore_overrun);
    DEVX_SET(cqc, cqc, log_cq_size, cq->log_size);
    DEVX_SET(cqc, cqc, uar_page, cq->uar->id);
    DEVX_SET(cqc, cqc, cq_period, cq->period);
    DEVX_SET(cqc, cqc, cq_max_count, cq->max_count);
    DEVX_SET(cqc, cqc, c_eqn_or_apu_element, cq->eq->obj.id);
    DEVX_SET(cqc, cqc, log_page_size, cq->ring.page_shift - 12);
    DEVX_SET(cqc, cqc, page_offset,
             cq->ring.page_offset >> (cq->ring.page_shift - 6));
    DEVX_SET(cqc, cqc, last_notified_index, cq->event_pi & CQ_INDEX_MASK);
    DEVX_SET(cqc, cqc, last_solicit_index, cq->solicited_pi & CQ_INDEX_MASK);
    DEVX_SET(cqc, cqc, consumer_counter, cq->ci);
    DEVX_SET(cqc, cqc, producer_counter, cq->pi & CQ_INDEX_MASK);
    DEVX_SET64(cqc, cqc, dbr_addr, cq->dbr);
    return MOCX_OK;
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(CREATE_CQ, create_cq, MOCX_ST_INITIALIZED, cq_create),
    MOCX_ROW(DESTROY_CQ, destroy_cq, MOCX_ST_INITIALIZED, cq_destroy),
    MOCX_ROW(QUERY_CQ, query_cq, MOCX_ST_INITIALIZED, cq_query),
    MOCX_ROW(MODIFY_CQ, modify_cq, MOCX_ST_INITIALIZED, cq_modify),
};

const MocxCmdRows mocx_rows_cq = { rows, sizeof(rows) / sizeof(rows[0]) };

static void cq_reset(MocxDev *dev)
{
    mocx_table_clear(dev, &dev->cqs, &cq_kind);
}

const MocxModule mocx_mod_cq = { .name = "cq", .reset = cq_reset };
