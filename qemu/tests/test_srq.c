/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared receive queues: the list, the limit, XRC, the end of a QP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/dev.h"
#include "core/srq.h"
#include "core/wire.h"
#include "pair.h"

#define LOG_SIZE    4
#define SIZE        (1u << LOG_SIZE)
#define STRIDE      64

/* An SRQ as libmlx5 runs it: a list of free WQEs from head to tail. */
typedef struct Srq {
    Drv *d;
    uint16_t op_destroy;
    uint32_t srqn;
    uint64_t buf, dbr;
    uint16_t head, tail, posted;
} Srq;

static uint8_t *wqe_at(Srq *srq, unsigned i)
{
    return gpa_ptr(srq->d->h, srq->buf + i * STRIDE);
}

static void srq_memory(Srq *srq, Drv *d)
{
    srq->d = d;
    srq->buf = gpa_alloc(d->h, SIZE * STRIDE, HOST_PAGE);
    srq->dbr = gpa_alloc(d->h, 8, 64);
    for (unsigned i = 0; i < SIZE; i++) {
        mocx_put_be16(wqe_at(srq, i) + 2, (i + 1) % SIZE);
    }
    srq->tail = SIZE - 1;
}

static Srq *rmp_new(Drv *d, uint16_t limit)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_rmp_in) + 8] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_rmp_out)];
    uint8_t *wq = DEVX_ADDR_OF(create_rmp_in, in, ctx.wq);
    Srq *srq = calloc(1, sizeof(*srq));

    srq_memory(srq, d);
    DEVX_SET(create_rmp_in, in, opcode, MLX5_CMD_OP_CREATE_RMP);
    DEVX_SET(create_rmp_in, in, ctx.state, 1);
    DEVX_SET(wq, wq, log_wq_sz, LOG_SIZE);
    DEVX_SET(wq, wq, log_wq_stride, 6);
    DEVX_SET(wq, wq, pd, d->pdn);
    DEVX_SET(wq, wq, lwm, limit);
    DEVX_SET64(wq, wq, dbr_addr, srq->dbr);
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_rmp_in), srq->buf);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    srq->srqn = DEVX_GET(create_rmp_out, out, rmpn);
    srq->op_destroy = MLX5_CMD_OP_DESTROY_RMP;
    return srq;
}

static Srq *xrc_new(Drv *d, uint32_t xrcdn, uint32_t cqn)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_xrc_srq_in) + 8] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_xrc_srq_out)];
    uint8_t *ctx = DEVX_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);
    Srq *srq = calloc(1, sizeof(*srq));

    srq_memory(srq, d);
    DEVX_SET(create_xrc_srq_in, in, opcode, MLX5_CMD_OP_CREATE_XRC_SRQ);
    DEVX_SET(xrc_srqc, ctx, log_xrc_srq_size, LOG_SIZE);
    DEVX_SET(xrc_srqc, ctx, log_rq_stride, 2);
    DEVX_SET(xrc_srqc, ctx, pd, d->pdn);
    DEVX_SET(xrc_srqc, ctx, xrcd, xrcdn);
    DEVX_SET(xrc_srqc, ctx, cqn, cqn);
    DEVX_SET(xrc_srqc, ctx, user_index, 0x4242);
    DEVX_SET(xrc_srqc, ctx, db_record_addr_h, srq->dbr >> 32);
    DEVX_SET(xrc_srqc, ctx, db_record_addr_l, (uint32_t)srq->dbr >> 2);
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_xrc_srq_in), srq->buf);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    srq->srqn = DEVX_GET(create_xrc_srq_out, out, xrc_srqn);
    srq->op_destroy = MLX5_CMD_OP_DESTROY_XRC_SRQ;
    return srq;
}

static uint8_t srq_destroy(Srq *srq)
{
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, srq->op_destroy);
    mocx_put_be32(in + 8, srq->srqn);
    return drv_cmd(srq->d, in, sizeof(in), out, sizeof(out));
}

static void srq_free(Srq *srq)
{
    assert_int_equal(srq_destroy(srq), 0);
    free(srq);
}

static uint16_t srq_post(Srq *srq, const DrvSge *sge)
{
    uint16_t index = srq->head;
    uint8_t *p = wqe_at(srq, index);

    assert_int_not_equal(srq->head, srq->tail);
    mocx_put_be32(p + 16, sge->len);
    mocx_put_be32(p + 20, sge->lkey);
    mocx_put_be64(p + 24, sge->addr);
    mocx_put_be32(p + 32, 0);
    mocx_put_be32(p + 36, 0x100);
    mocx_put_be64(p + 40, 0);
    srq->head = mocx_get_be16(p + 2);
    srq->posted++;
    mocx_put_be32(gpa_ptr(srq->d->h, srq->dbr), srq->posted);
    return index;
}

/* A completed WQE goes behind the tail. */
static void srq_give_back(Srq *srq, uint16_t index)
{
    mocx_put_be16(wqe_at(srq, srq->tail) + 2, index);
    srq->tail = index;
}

typedef struct Fixture {
    Pair *p;                /* its own QPs stay as they are */
    Srq *srq;
    DrvCq *rcq;
    DrvQp *a, *b;           /* b receives from the SRQ */
} Fixture;

static Fixture *make(uint16_t limit)
{
    Fixture *f = calloc(1, sizeof(*f));
    Drv *a, *b;

    f->p = pair_new(DRV_QP_RC, NULL);
    a = f->p->a.d;
    b = f->p->b.d;
    f->srq = rmp_new(b, limit);
    f->rcq = drv_cq_new(b, 6);
    f->a = drv_qp_new(a, &(DrvQpParams) {
        .scq = f->p->a.scq, .rcq = f->p->a.rcq });
    f->b = drv_qp_new(b, &(DrvQpParams) {
        .scq = f->p->b.scq, .rcq = f->rcq, .srqn = f->srq->srqn,
        .user_index = 0x99 });
    drv_qp_connect(f->a, f->b, &(DrvPath) { .min_rnr = 1 });
    return f;
}

static void unmake(Fixture *f)
{
    drv_qp_free(f->a);
    drv_qp_free(f->b);
    drv_cq_free(f->rcq);
    srq_free(f->srq);
    pair_free(f->p);
    free(f);
}

static void send(Fixture *f, uint32_t len)
{
    drv_post(f->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(&f->p->a, 0, len) },
    });
    drv_ring(f->a);
}

static uint16_t post_one(Fixture *f)
{
    DrvSge sge = sge_of(&f->p->b, 1000, 4000);

    return srq_post(f->srq, &sge);
}

/* WQEs come back in another order than posted; the list says what is next. */
static void the_list_decides_the_order(void **state)
{
    Fixture *f = make(0);
    struct mlx5_cqe64 cqe;
    uint16_t held[4], got[4];
    uint64_t seed = 1;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        held[i] = post_one(f);
    }
    for (unsigned round = 0; round < 400; round++) {
        for (unsigned i = 0; i < 4; i++) {
            drv_mr_fill(f->p->a.mr, 0, 3000, round * 4 + i);
            send(f, 3000);
            drv_cq_expect(f->rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
            got[i] = be16toh(cqe.wqe_counter);
            assert_int_equal(got[i], held[i]);
            assert_int_equal(be32toh(cqe.srqn_uidx), 0x99);
            assert_int_equal(drv_mr_check(f->p->b.mr, 1000, 3000,
                                          round * 4 + i), -1);
            drv_cq_expect(f->p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        }
        for (unsigned i = 0; i < 4; i++) {
            unsigned k = i + rng_next(&seed) % (4 - i);
            uint16_t t = got[i];

            got[i] = got[k];
            got[k] = t;
            srq_give_back(f->srq, got[i]);
        }
        for (unsigned i = 0; i < 4; i++) {
            held[i] = post_one(f);
        }
    }
    unmake(f);
}

static void empty_means_rnr(void **state)
{
    Fixture *f = make(0);
    struct mlx5_cqe64 cqe;

    (void)state;
    send(f, 100);
    world_run(f->p->w, NSEC_PER_MSEC);
    assert_false(drv_cq_poll(f->rcq, &cqe));
    post_one(f);
    drv_cq_expect(f->rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
    unmake(f);
}

static void arm(Fixture *f, uint16_t limit)
{
    uint8_t in[DEVX_ST_SZ_BYTES(modify_rmp_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(modify_rmp_out)];

    DEVX_SET(modify_rmp_in, in, opcode, MLX5_CMD_OP_MODIFY_RMP);
    DEVX_SET(modify_rmp_in, in, rmp_state, 1);
    DEVX_SET(modify_rmp_in, in, rmpn, f->srq->srqn);
    DEVX_SET(modify_rmp_in, in, bitmask.lwm, 1);
    DEVX_SET(modify_rmp_in, in, ctx.wq.lwm, limit);
    drv_cmd_ok(f->srq->d, in, sizeof(in), out, sizeof(out));
}

static uint16_t limit_of(Fixture *f)
{
    uint8_t in[DEVX_ST_SZ_BYTES(query_rmp_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_rmp_out)];

    DEVX_SET(query_rmp_in, in, opcode, MLX5_CMD_OP_QUERY_RMP);
    DEVX_SET(query_rmp_in, in, rmpn, f->srq->srqn);
    drv_cmd_ok(f->srq->d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(query_rmp_out, out, rmp_context.wq.lwm);
}

/* Case 51: once, and armed again by command only. */
static void case_51_limit_fires_once(void **state)
{
    Fixture *f = make(0);
    struct mlx5_cqe64 cqe;
    uint8_t eqe[64];

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        post_one(f);
    }
    arm(f, 6);
    assert_int_equal(limit_of(f), 6);
    for (unsigned i = 0; i < 6; i++) {
        send(f, 10);
        drv_cq_expect(f->rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
        /* The third leaves five. */
        assert_int_equal(drv_event_find(f->srq->d, MOCX_EV_SRQ_LIMIT, eqe),
                         i == 2);
        if (i == 2) {
            assert_int_equal(mocx_get_be32(eqe + 0x38), f->srq->srqn);
            assert_int_equal(limit_of(f), 0);
        }
    }
    unmake(f);
}

/* Case 51: a limit that is passed when it is set fires at once. */
static void limit_that_is_passed_fires_at_once(void **state)
{
    Fixture *f = make(0);
    uint8_t eqe[64];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        post_one(f);
    }
    arm(f, 4);
    assert_false(drv_event_find(f->srq->d, MOCX_EV_SRQ_LIMIT, eqe));
    arm(f, 5);
    assert_true(drv_event_find(f->srq->d, MOCX_EV_SRQ_LIMIT, eqe));
    assert_int_equal(limit_of(f), 0);
    unmake(f);
}

/* An SRQ whose record cannot be read says so once, and gives no more WQEs. */
static void srq_in_nowhere_fails_once(void **state)
{
    Fixture *f = make(0);
    MocxSrq *model = mocx_srq_find(f->srq->d->h->dev, f->srq->srqn);
    uint64_t dbr = model->dbr;
    uint8_t eqe[64];

    (void)state;
    f->srq->d->h->breaks = true;
    model->dbr = 0x1000;
    send(f, 10);
    world_run(f->p->w, NSEC_PER_MSEC);
    assert_true(drv_event_find(f->srq->d, MOCX_EV_SRQ_ERROR, eqe));
    assert_int_equal(mocx_get_be32(eqe + 0x38), f->srq->srqn);
    model->dbr = dbr;
    post_one(f);
    world_run(f->p->w, NSEC_PER_SEC);
    assert_false(drv_event_find(f->srq->d, MOCX_EV_SRQ_ERROR, eqe));
    assert_int_equal(model->taken, 0);
    unmake(f);
}

static uint8_t number_in(Drv *d, uint16_t opcode, uint32_t id, size_t outlen)
{
    uint8_t in[16] = { 0 }, out[1024];

    mocx_put_be16(in, opcode);
    mocx_put_be32(in + 8, id);
    return drv_cmd(d, in, sizeof(in), out, outlen);
}

/* The kinds share their numbers, and are not taken for each other. */
static void kinds_are_told_apart(void **state)
{
    Fixture *f = make(0);
    Drv *d = f->srq->d;
    uint32_t srqn = f->srq->srqn;

    (void)state;
    assert_int_equal(number_in(d, MLX5_CMD_OP_QUERY_RMP, srqn,
                               DEVX_ST_SZ_BYTES(query_rmp_out)), MOCX_OK);
    assert_int_equal(number_in(d, MLX5_CMD_OP_QUERY_XRC_SRQ, srqn,
                               DEVX_ST_SZ_BYTES(query_xrc_srq_out)),
                     MOCX_BAD_RES);
    assert_int_equal(number_in(d, MLX5_CMD_OP_QUERY_SRQ, srqn,
                               DEVX_ST_SZ_BYTES(query_srq_out)), MOCX_BAD_RES);
    assert_int_equal(number_in(d, MLX5_CMD_OP_DESTROY_XRC_SRQ, srqn, 16),
                     MOCX_BAD_RES);
    unmake(f);
}

/* What an SRQ names must be there. */
static void names_must_exist(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    Drv *d = p->a.d;
    uint8_t in[DEVX_ST_SZ_BYTES(create_xrc_srq_in) + 8] = { 0 }, out[16];
    uint8_t *ctx = DEVX_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);
    uint32_t xrcdn = drv_alloc(d, MLX5_CMD_OP_ALLOC_XRCD);

    (void)state;
    DEVX_SET(create_xrc_srq_in, in, opcode, MLX5_CMD_OP_CREATE_XRC_SRQ);
    DEVX_SET(xrc_srqc, ctx, log_xrc_srq_size, LOG_SIZE);
    DEVX_SET(xrc_srqc, ctx, log_rq_stride, 2);
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_xrc_srq_in),
                  gpa_alloc(d->h, HOST_PAGE, HOST_PAGE));
    for (unsigned missing = 0; missing < 4; missing++) {
        DEVX_SET(xrc_srqc, ctx, pd, missing == 0 ? 0xfff : d->pdn);
        DEVX_SET(xrc_srqc, ctx, cqn, missing == 1 ? 0xfff : p->a.rcq->cqn);
        DEVX_SET(xrc_srqc, ctx, xrcd, missing == 2 ? 0xfff : xrcdn);
        assert_int_equal(drv_cmd(d, in, sizeof(in), out, sizeof(out)),
                         missing < 3 ? MOCX_BAD_RES : MOCX_OK);
    }
    assert_int_equal(number_in(d, MLX5_CMD_OP_DESTROY_XRC_SRQ,
                               DEVX_GET(create_xrc_srq_out, out, xrc_srqn),
                               16), MOCX_OK);
    drv_dealloc(d, MLX5_CMD_OP_DEALLOC_XRCD, xrcdn);
    pair_free(p);
}

/*
 * On an SRQ only the WQE already taken is flushed; an event says it was the
 * last.
 */
static void last_wqe_reached(void **state)
{
    Fixture *f = make(0);
    struct mlx5_cqe64 cqe;
    uint8_t eqe[64];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        post_one(f);
    }
    DrvQp *qp = f->b;

    assert_int_equal(drv_qp_cmd(qp, MLX5_CMD_OP_2ERR_QP), 0);
    world_settle(f->p->w);
    assert_true(drv_event_find(f->srq->d, MOCX_EV_SRQ_LAST_WQE, eqe));
    assert_int_equal(mocx_get_be32(eqe + 0x38) & 0xffffff, qp->qpn);
    assert_false(drv_cq_poll(f->rcq, &cqe));
    /* Once, however often its queues are looked at. */
    for (unsigned i = 0; i < 3; i++) {
        send(f, 10);
        world_run(f->p->w, NSEC_PER_SEC);
    }
    assert_false(drv_event_find(f->srq->d, MOCX_EV_SRQ_LAST_WQE, eqe));
    unmake(f);
}

static void in_use_cannot_be_destroyed(void **state)
{
    Fixture *f = make(0);

    (void)state;
    assert_int_equal(srq_destroy(f->srq), MOCX_BAD_RES_STATE);
    unmake(f);
}

/* XRC: the packet names the SRQ. */
static uint32_t xrc_qp(Drv *d, uint32_t xrcdn, uint32_t scqn, DrvQp *model)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_qp_in) + 8] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_qp_out)];
    uint8_t *qpc = DEVX_ADDR_OF(create_qp_in, in, qpc);

    *model = (DrvQp) { .d = d, .p = { .type = 3, .log_sq = 5, .log_rq = 0 } };
    model->buf = model->sq = gpa_alloc(d->h, HOST_PAGE, HOST_PAGE);
    model->dbr = gpa_alloc(d->h, 64, 64);
    DEVX_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
    DEVX_SET(qpc, qpc, st, 3);
    DEVX_SET(qpc, qpc, pd, d->pdn);
    DEVX_SET(qpc, qpc, xrcd, xrcdn);
    DEVX_SET(qpc, qpc, rq_type, 1);
    DEVX_SET(qpc, qpc, uar_page, d->uar);
    DEVX_SET(qpc, qpc, cqn_snd, scqn);
    DEVX_SET(qpc, qpc, no_sq, !scqn);
    DEVX_SET(qpc, qpc, log_sq_size, 5);
    DEVX_SET64(qpc, qpc, dbr_addr, model->dbr);
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_qp_in), model->buf);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    model->qpn = DEVX_GET(create_qp_out, out, qpn);
    return model->qpn;
}

static void xrc_send(DrvQp *qp, uint32_t srqn, const DrvSge *sge)
{
    uint8_t segs[16 + 16] = { 0 };

    mocx_put_be32(segs, srqn);
    mocx_put_be32(segs + 16, sge->len);
    mocx_put_be32(segs + 20, sge->lkey);
    mocx_put_be64(segs + 24, sge->addr);
    drv_post_raw(qp, MLX5_OPCODE_SEND, 8, 0, segs, sizeof(segs));
    drv_ring(qp);
}

/* Two SRQs of b, with a CQ each. */
typedef struct Xrc {
    Pair *p;
    uint32_t da, db;
    Srq *srq[2];
    DrvQp ini, tgt;
} Xrc;

static void xrc_open(Xrc *x)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);

    x->p = p;
    x->da = drv_alloc(p->a.d, MLX5_CMD_OP_ALLOC_XRCD);
    x->db = drv_alloc(p->b.d, MLX5_CMD_OP_ALLOC_XRCD);
    x->srq[0] = xrc_new(p->b.d, x->db, p->b.rcq->cqn);
    x->srq[1] = xrc_new(p->b.d, x->db, p->b.scq->cqn);
    xrc_qp(p->a.d, x->da, p->a.scq->cqn, &x->ini);
    xrc_qp(p->b.d, x->db, 0, &x->tgt);
    drv_qp_connect(&x->ini, &x->tgt, &(DrvPath) { .sq_psn = 0xfffffe });
}

static void xrc_close(Xrc *x)
{
    assert_int_equal(drv_qp_cmd(&x->ini, MLX5_CMD_OP_DESTROY_QP), 0);
    assert_int_equal(drv_qp_cmd(&x->tgt, MLX5_CMD_OP_DESTROY_QP), 0);
    srq_free(x->srq[0]);
    srq_free(x->srq[1]);
    drv_dealloc(x->p->a.d, MLX5_CMD_OP_DEALLOC_XRCD, x->da);
    drv_dealloc(x->p->b.d, MLX5_CMD_OP_DEALLOC_XRCD, x->db);
    pair_free(x->p);
}

static void xrc_names_the_srq(void **state)
{
    Xrc x;
    Drv *b;
    uint32_t other;
    Srq *foreign;
    DrvSge from, to;
    struct mlx5_cqe64 cqe;

    (void)state;
    xrc_open(&x);
    b = x.p->b.d;
    other = drv_alloc(b, MLX5_CMD_OP_ALLOC_XRCD);
    foreign = xrc_new(b, other, x.p->b.rcq->cqn);
    from = sge_of(&x.p->a, 0, 3000);
    to = sge_of(&x.p->b, 0, 3000);
    for (unsigned i = 0; i < 10; i++) {
        uint16_t index = srq_post(x.srq[i & 1], &to);

        drv_mr_fill(x.p->a.mr, 0, 3000, i);
        xrc_send(&x.ini, x.srq[i & 1]->srqn, &from);
        drv_cq_expect(x.p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        drv_cq_expect(i & 1 ? x.p->b.scq : x.p->b.rcq, MLX5_CQE_RESP_SEND, 0,
                      &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), index);
        assert_int_equal(be32toh(cqe.srqn_uidx), 0x4242);
        assert_int_equal(drv_mr_check(x.p->b.mr, 0, 3000, i), -1);
    }
    /* Of another domain: an invalid request. */
    srq_post(foreign, &to);
    xrc_send(&x.ini, foreign->srqn, &from);
    drv_cq_expect(x.p->a.scq, MLX5_CQE_REQ_ERR, 0x12, &cqe);
    srq_free(foreign);
    drv_dealloc(b, MLX5_CMD_OP_DEALLOC_XRCD, other);
    xrc_close(&x);
}

/*
 * IPv4, RoCE v2: the XRC header of the second packet of a message becomes
 * another, as no requester sends it; or its opcode does.
 */
#define AT_OPCODE   42
#define AT_SRQN     54
#define XRC_FIRST   0xa0
#define XRC_MIDDLE  0xa1

typedef struct Spoil {
    uint32_t srqn;          /* 0: the packet becomes a first one */
} Spoil;

static WireFate spoil(void *arg, unsigned from, uint8_t *data, size_t len)
{
    Spoil *s = arg;
    MocxPkt pkt;

    if (from || data[AT_OPCODE] != XRC_MIDDLE) {
        return WIRE_PASS;
    }
    if (s->srqn) {
        mocx_put_be32(data + AT_SRQN, s->srqn);
    } else {
        data[AT_OPCODE] = XRC_FIRST;
    }
    mocx_wire_parse(&pkt, data, len);
    mocx_wire_seal(data, &pkt.path, len);
    return WIRE_PASS;
}

/* The message ends in error where it began, on whichever ground. */
static void xrc_message_stays_with_its_srq(void **state)
{
    (void)state;
    for (unsigned other = 0; other < 2; other++) {
        struct mlx5_cqe64 cqe;
        DrvSge from, to;
        uint16_t index;
        Spoil s;
        Xrc x;

        xrc_open(&x);
        s.srqn = other ? x.srq[1]->srqn : 0;
        from = sge_of(&x.p->a, 0, 3000);
        to = sge_of(&x.p->b, 0, 3000);
        index = srq_post(x.srq[0], &to);
        srq_post(x.srq[1], &to);
        wire_filter(x.p->w->wire, spoil, &s);
        xrc_send(&x.ini, x.srq[0]->srqn, &from);
        drv_cq_expect(x.p->a.scq, MLX5_CQE_REQ_ERR, 0x12, &cqe);
        assert_false(drv_cq_poll(x.p->b.scq, &cqe));
        assert_true(drv_cq_poll(x.p->b.rcq, &cqe));
        assert_int_equal(cqe_opcode(&cqe), MLX5_CQE_RESP_ERR);
        assert_int_equal(cqe_syndrome(&cqe), 0x12);
        assert_int_equal(be16toh(cqe.wqe_counter), index);
        assert_int_equal(be32toh(cqe.srqn_uidx), 0x4242);
        xrc_close(&x);
    }
}

/* As of a QP's own ring: one WQE too many, and the SRQ ends. */
static void a_producer_beyond_the_ring_ends_the_srq(void **state)
{
    Fixture *f = make(0);
    uint8_t eqe[64];

    (void)state;
    f->srq->d->h->breaks = true;
    mocx_put_be32(gpa_ptr(f->srq->d->h, f->srq->dbr), SIZE + 1);
    send(f, 10);
    world_run(f->p->w, NSEC_PER_MSEC);
    assert_true(drv_event_find(f->srq->d, MOCX_EV_SRQ_ERROR, eqe));
    assert_int_equal(mocx_get_be32(eqe + 0x38), f->srq->srqn);
    unmake(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_decides_the_order),
        cmocka_unit_test(empty_means_rnr),
        cmocka_unit_test(case_51_limit_fires_once),
        cmocka_unit_test(limit_that_is_passed_fires_at_once),
        cmocka_unit_test(srq_in_nowhere_fails_once),
        cmocka_unit_test(kinds_are_told_apart),
        cmocka_unit_test(names_must_exist),
        cmocka_unit_test(last_wqe_reached),
        cmocka_unit_test(in_use_cannot_be_destroyed),
        cmocka_unit_test(xrc_names_the_srq),
        cmocka_unit_test(xrc_message_stays_with_its_srq),
        cmocka_unit_test(a_producer_beyond_the_ring_ends_the_srq),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
