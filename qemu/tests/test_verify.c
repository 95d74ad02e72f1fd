/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verifier mode: each rule is broken once, on purpose, and named.  That none is
 * named where none is broken is shown by all other suites, which run in this
 * mode as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/dev.h"
#include "driver.h"
#include "pair.h"

#define NOWHERE     0x10000000ULL   /* below guest memory */
#define LOG_CQ      4

typedef struct Fixture {
    Pair *p;
    Drv *d;                 /* of side a, whose driver errs */
    Host *h;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->p = pair_new(DRV_QP_RC, NULL);
    f->d = f->p->a.d;
    f->h = f->d->h;
    f->h->breaks = true;
    assert_int_equal(host_breaches(f->h, "total"), 0);
    *state = f;
    return 0;
}

/* What a test did, it did to objects of its own. */
static int teardown(void **state)
{
    Fixture *f = *state;

    pair_free(f->p);
    free(f);
    return 0;
}

/* This rule was broken, no other was, and one line says so. */
static void assert_named(Fixture *f, const char *rule)
{
    char want[64];

    snprintf(want, sizeof(want), "mocx: strict: %s: ", rule);
    assert_int_not_equal(host_breaches(f->h, rule), 0);
    assert_int_equal(host_breaches(f->h, rule), host_breaches(f->h, "total"));
    assert_int_equal(f->h->logs[MOCX_LOG_BREACH], 1);
    assert_ptr_equal(strstr(f->h->last_breach, want), f->h->last_breach);
}

static uint8_t plain(Fixture *f, uint16_t opcode, uint32_t dword2, size_t len,
                     uint8_t out[16])
{
    uint8_t in[64] = { 0 };

    mocx_put_be16(in, opcode);
    mocx_put_be32(in + 8, dword2);
    in[len - 1] |= len > 16;    /* what is behind, if any, is not zero */
    return drv_cmd(f->d, in, len, out, 16);
}

/* Commands */

static void reserved_bit_of_a_command(void **state)
{
    Fixture *f = *state;
    uint8_t out[16];
    uint32_t pdn = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_PD);

    /* The number has 24 bits. */
    plain(f, MLX5_CMD_OP_DEALLOC_PD, 1u << 31 | pdn, 16, out);
    assert_named(f, "reserved-input");
    assert_non_null(strstr(f->h->last_breach, "DEALLOC_PD: bit 0x40"));
}

static void reserved_bit_of_a_context(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(create_mkey_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_mkey_out)];
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(mkc, mkc, length64, 1);
    DEVX_SET(mkc, mkc, pd, f->d->pdn);
    mkc[0] |= 0x80;
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    drv_dealloc(f->d, MLX5_CMD_OP_DESTROY_MKEY,
                DEVX_GET(create_mkey_out, out, mkey_index));
    assert_named(f, "reserved-input");
    assert_non_null(strstr(f->h->last_breach, "CREATE_MKEY"));
}

static void input_behind_the_layout(void **state)
{
    Fixture *f = *state;
    uint8_t out[16];

    plain(f, MLX5_CMD_OP_NOP, 0, 32, out);
    assert_named(f, "input-tail");
}

static void reserved_bytes_of_an_entry(void **state)
{
    Fixture *f = *state;
    uint8_t in[16] = { 0 };

    mocx_put_be16(in, MLX5_CMD_OP_NOP);
    drv_cmd_fill(f->d, 0, in, sizeof(in), 16);
    drv_cmd_entry(f->d, 0)[2] = 1;
    drv_cmd_ring(f->d, 1);
    assert_named(f, "entry-reserved");
}

static void reserved_bytes_of_a_mailbox(void **state)
{
    Fixture *f = *state;
    uint8_t in[64] = { 0 }, *block;

    mocx_put_be16(in, MLX5_CMD_OP_NOP);
    drv_cmd_fill(f->d, 0, in, sizeof(in), 16);
    block = gpa_ptr(f->h, f->d->slot[0].in_blocks[0]);
    block[0x210] = 1;
    drv_cmd_ring(f->d, 1);
    assert_named(f, "mailbox-reserved");
}

/* Output that is not defined differs from one time to the next. */
static void undefined_output_is_noise(void **state)
{
    Fixture *f = *state;
    uint8_t in[16] = { 0 }, once[512], again[512];

    mocx_put_be16(in, MLX5_CMD_OP_ALLOC_PD);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *out = i ? again : once;

        drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(once));
        drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_PD,
                    DEVX_GET(alloc_pd_out, out, pd));
    }
    /* Defined: status, syndrome, the number's upper bytes. */
    assert_int_equal(once[0], 0);
    assert_memory_equal(once + 4, again + 4, 4);
    assert_int_equal(once[9], again[9]);
    assert_memory_not_equal(once + 12, again + 12, 4);
    assert_memory_not_equal(once + 16, again + 16, sizeof(once) - 16);
    /* After a failure even the number is not. */
    mocx_put_be16(in, MLX5_CMD_OP_DEALLOC_PD);
    mocx_put_be32(in + 8, 0xfffff);
    drv_cmd(f->d, in, sizeof(in), once, sizeof(once));
    drv_cmd(f->d, in, sizeof(in), again, sizeof(again));
    assert_int_equal(once[0], MOCX_BAD_RES);
    assert_memory_equal(once + 4, again + 4, 4);
    assert_memory_not_equal(once + 8, again + 8, 8);
    assert_int_equal(host_breaches(f->h, "total"), 0);
}

/* Nobody knows what tomorrow's driver reads there. */
static void contexts_and_capabilities_have_no_noise(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(query_hca_cap_in)] = { 0 };
    uint8_t out[2][DEVX_ST_SZ_BYTES(query_hca_cap_out)];
    uint8_t qpc[2][DEVX_ST_SZ_BYTES(qpc)];
    const size_t head = DEVX_BYTE_OFF(query_hca_cap_out, capability);

    DEVX_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
    for (unsigned i = 0; i < 2; i++) {
        drv_qp_query(f->p->a.qp, qpc[i]);
        drv_cmd_ok(f->d, in, sizeof(in), out[i], sizeof(out[i]));
    }
    assert_memory_equal(qpc[0], qpc[1], sizeof(qpc[0]));
    assert_memory_equal(out[0] + head, out[1] + head, sizeof(out[0]) - head);
    assert_memory_not_equal(out[0] + 8, out[1] + 8, head - 8);
}

/* What was destroyed */

static void command_names_a_destroyed_object(void **state)
{
    Fixture *f = *state;
    uint32_t pdn = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_PD);
    uint8_t out[16];

    drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_PD, pdn);
    assert_int_equal(plain(f, MLX5_CMD_OP_DEALLOC_PD, 0xffff, 16, out),
                     MOCX_BAD_RES);
    assert_int_equal(host_breaches(f->h, "total"), 0);
    assert_int_equal(plain(f, MLX5_CMD_OP_DEALLOC_PD, pdn, 16, out),
                     MOCX_BAD_RES);
    assert_named(f, "destroyed-object");
}

static DrvQp *spare_qp(Fixture *f)
{
    return drv_qp_new(f->d, &(DrvQpParams) {
        .scq = f->p->a.scq, .rcq = f->p->a.rcq });
}

static void doorbell_of_a_destroyed_queue(void **state)
{
    Fixture *f = *state;
    DrvQp *qp = spare_qp(f);
    uint32_t qpn = qp->qpn;

    drv_qp_free(qp);
    host_write64(f->h, f->d->uar * (uint64_t)HOST_PAGE + UAR_BF, qpn << 8);
    assert_named(f, "destroyed-doorbell");
}

static void arming_of_a_destroyed_cq(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = drv_cq_new(f->d, LOG_CQ);
    uint32_t cqn = cq->cqn;

    drv_cq_free(cq);
    host_write64(f->h, f->d->uar * (uint64_t)HOST_PAGE + UAR_CQ_ARM, cqn);
    assert_named(f, "destroyed-doorbell");
}

static void doorbell_of_a_destroyed_eq(void **state)
{
    Fixture *f = *state;
    DrvEq *eq = drv_eq_new(f->d, 4, 1, 0);
    DrvEq copy = *eq;

    drv_eq_free(eq);
    drv_eq_arm(&copy);
    assert_named(f, "destroyed-doorbell");
}

/*
 * The kernel destroys the objects of a program that still runs when its device
 * is removed, and takes its page away after.
 */
static void doorbells_of_a_program_are_not_judged(void **state)
{
    Fixture *f = *state;
    uint32_t drivers = f->d->uar, cqn, qpn;
    DrvCq *cq;
    DrvQp *qp;

    f->d->uar = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_UAR);
    cq = drv_cq_new(f->d, LOG_CQ);
    qp = drv_qp_new(f->d, &(DrvQpParams) { .scq = cq, .rcq = cq });
    qpn = qp->qpn;
    cqn = cq->cqn;
    drv_qp_free(qp);
    drv_cq_free(cq);
    host_write64(f->h, f->d->uar * (uint64_t)HOST_PAGE + UAR_BF, qpn << 8);
    host_write64(f->h, f->d->uar * (uint64_t)HOST_PAGE + UAR_CQ_ARM, cqn);
    drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_UAR, f->d->uar);
    f->d->uar = drivers;
    assert_int_equal(host_breaches(f->h, "total"), 0);
}

/* A driver's queues may have another page than its CQs and EQs. */
static void doorbell_of_a_destroyed_queue_on_a_second_page(void **state)
{
    Fixture *f = *state;
    uint32_t first = f->d->uar, second, qpn;
    DrvQp *qp;

    f->d->uar = second = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_UAR);
    qp = spare_qp(f);
    f->d->uar = first;
    qpn = qp->qpn;
    drv_qp_free(qp);
    host_write64(f->h, second * (uint64_t)HOST_PAGE + UAR_BF, qpn << 8);
    drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_UAR, second);
    assert_named(f, "destroyed-doorbell");
}

static void send_from_a_destroyed_region(void **state)
{
    Fixture *f = *state;
    DrvMr *mr = drv_mr_new(f->d, PAIR_VA_A, HOST_PAGE, DRV_ALL);
    DrvSge sge = { .addr = PAIR_VA_A, .lkey = mr->key, .len = 8 };
    struct mlx5_cqe64 cqe;

    drv_mr_free(mr);
    pair_post(&f->p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1, .sge = { sge } });
    drv_cq_expect(f->p->a.scq, MLX5_CQE_REQ_ERR, 4, &cqe);
    assert_named(f, "destroyed-key");
}

/* Send and receive queues */

static void post_nop(DrvQp *qp)
{
    drv_post_raw(qp, MLX5_OPCODE_NOP, 8, 0, NULL, 0);
}

static void doorbell_without_the_record(void **state)
{
    Fixture *f = *state;
    DrvQp *qp = f->p->a.qp;

    post_nop(qp);
    host_write64(f->h, f->d->uar * (uint64_t)HOST_PAGE + UAR_BF,
                 qp->last_ctrl);
    world_settle(f->p->w);
    assert_named(f, "doorbell-record");
}

static void record_goes_back(void **state)
{
    Fixture *f = *state;
    DrvQp *qp = f->p->a.qp;

    for (unsigned i = 0; i < 4; i++) {
        post_nop(qp);
    }
    drv_ring(qp);
    world_settle(f->p->w);
    /* a doorbell that is right in itself */
    qp->sq_pi = 1;
    post_nop(qp);
    drv_ring(qp);
    world_settle(f->p->w);
    assert_named(f, "record-backwards");
}

static void send_queue_is_overrun(void **state)
{
    Fixture *f = *state;
    DrvQp *qp = f->p->a.qp;
    DrvSge sge = sge_of(&f->p->a, 0, 8);

    /* The first waits for its receiver, and the ring is filled behind it. */
    pair_post(&f->p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1, .sge = { sge } });
    world_settle(f->p->w);
    for (unsigned i = 0; i < 1u << qp->p.log_sq; i++) {
        post_nop(qp);
    }
    drv_ring(qp);
    world_settle(f->p->w);
    assert_named(f, "ring-overrun");
}

static void receive_queue_is_overrun(void **state)
{
    Fixture *f = *state;
    DrvQp *qp = f->p->a.qp;

    for (unsigned i = 0; i <= 1u << qp->p.log_rq; i++) {
        post_recv_at(&f->p->a, 0, 8);
    }
    pair_post(&f->p->b, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(&f->p->b, 0, 8) } });
    world_settle(f->p->w);
    assert_named(f, "ring-overrun");
}

/* Post a NOP, spoil its control segment, and ring. */
static void spoiled(Fixture *f, unsigned at, uint8_t flip)
{
    DrvQp *qp = f->p->a.qp;
    uint8_t *wqe = gpa_ptr(f->h, qp->sq +
                           (qp->sq_pi & ((1u << qp->p.log_sq) - 1)) * 64ULL);

    post_nop(qp);
    wqe[at] ^= flip;
    drv_ring(qp);
    world_settle(f->p->w);
}

static void wqe_with_another_index(void **state)
{
    spoiled(*state, 2, 0x40);
    assert_named(*state, "wqe-index");
}

static void wqe_with_another_queue(void **state)
{
    spoiled(*state, 5, 0x01);
    assert_named(*state, "wqe-queue");
}

static void wqe_with_reserved_bits(void **state)
{
    spoiled(*state, 9, 0x01);
    assert_named(*state, "wqe-reserved");
}

/* Completion queues */

/* Complete @n WQEs on side a. */
static void complete(Fixture *f, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        post_nop(f->p->a.qp);
    }
    drv_ring(f->p->a.qp);
    world_settle(f->p->w);
}

static void poll_cqes(DrvCq *cq, unsigned n)
{
    struct mlx5_cqe64 cqe;

    while (n--) {
        assert_true(drv_cq_poll(cq, &cqe));
    }
}

static void poll_events(Fixture *f)
{
    uint8_t eqe[64];
    bool more;

    do {
        more = drv_eq_poll(f->d->comp, eqe);
    } while (more);
    drv_eq_arm(f->d->comp);
}

static void cq_is_overrun(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = drv_cq_new(f->d, 1);
    DrvQp *qp = drv_qp_new(f->d, &(DrvQpParams) { .scq = cq, .rcq = cq });

    drv_qp_connect(qp, qp, NULL);
    for (unsigned i = 0; i < 3; i++) {
        post_nop(qp);
    }
    drv_ring(qp);
    world_settle(f->p->w);
    assert_named(f, "cq-overrun");
    drv_qp_free(qp);
    drv_cq_free(cq);
}

static void cq_is_armed_ahead_of_its_producer(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = f->p->a.scq;

    cq->ci += 5;
    drv_cq_arm(cq, false);
    cq->ci -= 5;
    assert_named(f, "cq-index-ahead");
}

static void cq_is_armed_behind_an_earlier_arming(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = f->p->a.scq;

    complete(f, 3);
    poll_cqes(cq, 3);
    drv_cq_arm(cq, false);
    cq->ci -= 2;
    drv_cq_arm(cq, false);
    cq->ci += 2;
    assert_named(f, "cq-index-backwards");
}

static void record_of_a_cq_lags(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = f->p->a.scq;

    complete(f, 3);
    poll_cqes(cq, 3);
    mocx_put_be32(gpa_ptr(f->h, cq->dbr), 0);
    drv_cq_arm(cq, false);
    assert_int_equal(host_breaches(f->h, "total"), 0);
    drv_cq_arm(cq, false);
    assert_named(f, "cq-index-lags");
}

static void arming_is_not_in_the_record(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = f->p->a.scq;

    host_write64(f->h, f->d->uar * (uint64_t)HOST_PAGE + UAR_CQ_ARM,
                 1ULL << 60 | cq->cqn);
    assert_named(f, "cq-arm-record");
}

static void arming_counts_events_that_were_none(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = f->p->a.scq;

    drv_cq_arm(cq, false);
    cq->arm_sn++;
    drv_cq_arm(cq, false);
    assert_named(f, "cq-arm-number");
}

static void arming_does_not_count_events(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = f->p->a.scq;

    for (unsigned i = 0; i < 3; i++) {
        drv_cq_arm(cq, false);
        complete(f, 1);
        poll_cqes(cq, 1);
        poll_events(f);
        cq->arm_sn = 0;
    }
    assert_named(f, "cq-arm-number");
}

/* Event queues */

static void eq_is_overrun(void **state)
{
    Fixture *f = *state;
    DrvCq *cq;
    DrvEq *eq = drv_eq_new(f->d, 1, 1, 0);
    DrvQp *qp;

    cq = drv_cq_new_on(f->d, LOG_CQ, eq);
    qp = drv_qp_new(f->d, &(DrvQpParams) { .scq = cq, .rcq = cq });
    drv_qp_connect(qp, qp, NULL);
    for (unsigned i = 0; i < 3; i++) {
        struct mlx5_cqe64 cqe;

        drv_cq_arm(cq, false);
        post_nop(qp);
        drv_ring(qp);
        world_settle(f->p->w);
        drv_cq_poll(cq, &cqe);
        cq->arm_sn++;
    }
    assert_named(f, "eq-overrun");
    drv_qp_free(qp);
    drv_cq_free(cq);
    drv_eq_free(eq);
}

static void eq_index_is_ahead(void **state)
{
    Fixture *f = *state;

    f->d->comp->ci += 7;
    drv_eq_arm(f->d->comp);
    assert_named(f, "eq-index-ahead");
}

static void eq_index_goes_back(void **state)
{
    Fixture *f = *state;

    drv_cq_arm(f->p->a.scq, false);
    complete(f, 1);
    poll_events(f);
    f->d->comp->ci--;
    drv_eq_arm(f->d->comp);
    f->d->comp->ci++;
    assert_named(f, "eq-index-backwards");
}

/* Memory */

static void region_leads_nowhere(void **state)
{
    Fixture *f = *state;
    DrvSge sge = { .addr = NOWHERE, .lkey = f->d->lkey, .len = 8 };

    pair_post(&f->p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1, .sge = { sge } });
    world_settle(f->p->w);
    assert_named(f, "dma-nowhere");
}

static void queue_in_a_page_of_the_firmware(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(create_eq_in) + 8] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_eq_out)];
    uint8_t *eqc = DEVX_ADDR_OF(create_eq_in, in, eq_context_entry);

    DEVX_SET(create_eq_in, in, opcode, MLX5_CMD_OP_CREATE_EQ);
    DEVX_SET(eqc, eqc, uar_page, f->d->uar);
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_eq_in), f->d->pages[17]);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    drv_dealloc(f->d, MLX5_CMD_OP_DESTROY_EQ,
                DEVX_GET(create_eq_out, out, eq_number));
    assert_named(f, "firmware-page");
}

static void list_has_a_page_too_many(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(create_eq_in) + 16] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_eq_out)];
    uint8_t *eqc = DEVX_ADDR_OF(create_eq_in, in, eq_context_entry);
    uint8_t *pas = in + DEVX_ST_SZ_BYTES(create_eq_in);

    DEVX_SET(create_eq_in, in, opcode, MLX5_CMD_OP_CREATE_EQ);
    DEVX_SET(eqc, eqc, uar_page, f->d->uar);
    mocx_put_be64(pas, gpa_alloc(f->h, 4096, 4096));
    mocx_put_be64(pas + 8, gpa_alloc(f->h, 4096, 4096));
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    drv_dealloc(f->d, MLX5_CMD_OP_DESTROY_EQ,
                DEVX_GET(create_eq_out, out, eq_number));
    assert_named(f, "page-list");
}

/* What is left: on a device of its own, which is gone afterwards. */

typedef struct Alone {
    World *w;
    Drv *d;
    Fixture f;
} Alone;

static Alone alone(void)
{
    Alone a = { .w = world_new(1, NULL) };

    a.d = drv_new(a.w->host[0]);
    a.f = (Fixture) { .d = a.d, .h = a.d->h };
    a.f.h->breaks = true;
    return a;
}

static void alone_free(Alone *a)
{
    drv_free(a->d);
    world_free(a->w);
}

static void object_is_left_at_teardown(void **state)
{
    Alone a = alone();

    drv_hca_up(a.d);
    drv_alloc(a.d, MLX5_CMD_OP_ALLOC_PD);
    drv_hca_down(a.d);
    assert_named(&a.f, "object-left");
    assert_non_null(strstr(a.f.h->last_breach, "1 pds"));
    alone_free(&a);
    (void)state;
}

static void object_is_left_at_reset(void **state)
{
    Alone a = alone();

    drv_hca_up(a.d);
    drv_alloc(a.d, MLX5_CMD_OP_ALLOC_XRCD);
    host_enter(a.f.h);
    mocx_reset(a.f.h->dev);
    host_leave(a.f.h);
    assert_named(&a.f, "object-left");
    alone_free(&a);
    (void)state;
}

static void page_is_left_with_the_device(void **state)
{
    Alone a = alone();
    uint8_t out[16];

    drv_hca_up(a.d);
    plain(&a.f, MLX5_CMD_OP_TEARDOWN_HCA, 0, 16, out);
    plain(&a.f, MLX5_CMD_OP_DISABLE_HCA, 0, 16, out);
    assert_named(&a.f, "page-left");
    alone_free(&a);
    (void)state;
}

/* One line for each rule and place, however often. */
static void breach_is_told_once_and_counted(void **state)
{
    Fixture *f = *state;
    uint8_t out[16];

    for (unsigned i = 0; i < 100; i++) {
        plain(f, MLX5_CMD_OP_NOP, 0, 32, out);
    }
    assert_named(f, "input-tail");
    assert_int_equal(host_breaches(f->h, "input-tail"), 100);
    assert_int_equal(host_status(f->h, "log.breaches"), 1);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(reserved_bit_of_a_command),
        T(reserved_bit_of_a_context),
        T(input_behind_the_layout),
        T(reserved_bytes_of_an_entry),
        T(reserved_bytes_of_a_mailbox),
        T(undefined_output_is_noise),
        T(contexts_and_capabilities_have_no_noise),
        T(command_names_a_destroyed_object),
        T(doorbell_of_a_destroyed_queue),
        T(arming_of_a_destroyed_cq),
        T(doorbell_of_a_destroyed_eq),
        T(doorbells_of_a_program_are_not_judged),
        T(doorbell_of_a_destroyed_queue_on_a_second_page),
        T(send_from_a_destroyed_region),
        T(doorbell_without_the_record),
        T(record_goes_back),
        T(send_queue_is_overrun),
        T(receive_queue_is_overrun),
        T(wqe_with_another_index),
        T(wqe_with_another_queue),
        T(wqe_with_reserved_bits),
        T(cq_is_overrun),
        T(cq_is_armed_ahead_of_its_producer),
        T(cq_is_armed_behind_an_earlier_arming),
        T(record_of_a_cq_lags),
        T(arming_is_not_in_the_record),
        T(arming_counts_events_that_were_none),
        T(arming_does_not_count_events),
        T(eq_is_overrun),
        T(eq_index_is_ahead),
        T(eq_index_goes_back),
        T(region_leads_nowhere),
        T(queue_in_a_page_of_the_firmware),
        T(list_has_a_page_too_many),
        cmocka_unit_test(object_is_left_at_teardown),
        cmocka_unit_test(object_is_left_at_reset),
        cmocka_unit_test(page_is_left_with_the_device),
        T(breach_is_told_once_and_counted),
    };

    setenv("MOCX_STRICT", "1", 1);
    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
