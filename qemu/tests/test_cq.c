/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues: arming, events, moderation, and what happens when full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/dev.h"
#include "driver.h"

#define OP_SEND_OK      2       /* responder, SEND */
#define OP_RESP_ERR     14
#define SOLICITED       2
#define LOG_SIZE        4

typedef struct Fixture {
    World *w;
    Drv *d;
    DrvCq *cq;
    MocxCq *model;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->w = world_new(1, NULL);
    f->d = drv_new(f->w->host[0]);
    drv_bring_up(f->d);
    f->cq = drv_cq_new(f->d, LOG_SIZE);
    f->model = mocx_cq_find(f->d->h->dev, f->cq->cqn);
    drv_eq_arm(f->d->comp);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;

    drv_cq_free(f->cq);
    drv_tear_down(f->d);
    drv_free(f->d);
    world_free(f->w);
    free(f);
    return 0;
}

static bool post_op(Fixture *f, uint8_t op_own)
{
    struct mlx5_cqe64 cqe = { .op_own = op_own };
    bool ok;

    cqe.wqe_counter = htobe16(f->model->pi);
    host_enter(f->d->h);
    ok = mocx_cq_post(f->d->h->dev, f->model, &cqe);
    host_leave(f->d->h);
    return ok;
}

static bool post(Fixture *f)
{
    return post_op(f, OP_SEND_OK << 4);
}

/* Events since the last call; each names this CQ. */
static unsigned events(Fixture *f)
{
    uint8_t eqe[64];
    unsigned n = 0;

    while (drv_eq_poll(f->d->comp, eqe)) {
        assert_int_equal(mocx_get_be32(eqe + 0x38), f->cq->cqn);
        n++;
    }
    drv_eq_arm(f->d->comp);
    return n;
}

static void poll_all(Fixture *f)
{
    struct mlx5_cqe64 cqe;

    while (drv_cq_poll(f->cq, &cqe)) {
        continue;
    }
}

static void queue_goes_round_in_order(void **state)
{
    Fixture *f = *state;
    struct mlx5_cqe64 cqe;

    for (unsigned i = 0; i < 5u << LOG_SIZE; i++) {
        assert_true(post(f));
        assert_true(drv_cq_poll(f->cq, &cqe));
        assert_int_equal(be16toh(cqe.wqe_counter), i);
        assert_false(drv_cq_poll(f->cq, &cqe));
    }
    assert_int_equal(events(f), 0);
}

static void one_event_for_each_arming(void **state)
{
    Fixture *f = *state;

    drv_cq_arm(f->cq, false);
    assert_int_equal(events(f), 0);
    post(f);
    post(f);
    assert_int_equal(events(f), 1);
    poll_all(f);
    drv_cq_arm(f->cq, false);
    assert_int_equal(events(f), 0);
    post(f);
    assert_int_equal(events(f), 1);
}

/* The race of every consumer: a CQE between its last poll and its arming. */
static void arming_tells_of_what_came_before(void **state)
{
    Fixture *f = *state;

    poll_all(f);
    post(f);
    drv_cq_arm(f->cq, false);
    assert_int_equal(events(f), 1);
}

/* Who arms before he polls, as ibv_rc_pingpong -e does, is woken once. */
static void arming_does_not_tell_twice(void **state)
{
    Fixture *f = *state;

    drv_cq_arm(f->cq, false);
    post(f);
    assert_int_equal(events(f), 1);
    drv_cq_arm(f->cq, false);
    assert_int_equal(events(f), 0);
    post(f);
    assert_int_equal(events(f), 1);
}

static void consumed_is_not_unseen(void **state)
{
    Fixture *f = *state;

    post(f);
    poll_all(f);
    drv_cq_arm(f->cq, false);
    assert_int_equal(events(f), 0);
}

static void solicited_arming_waits_for_solicited(void **state)
{
    Fixture *f = *state;

    drv_cq_arm(f->cq, true);
    post(f);
    assert_int_equal(events(f), 0);
    post_op(f, OP_SEND_OK << 4 | SOLICITED);
    assert_int_equal(events(f), 1);
    poll_all(f);
    drv_cq_arm(f->cq, true);
    post_op(f, OP_RESP_ERR << 4);
    assert_int_equal(events(f), 1);     /* an error is always solicited */
    poll_all(f);
    post(f);
    drv_cq_arm(f->cq, true);
    assert_int_equal(events(f), 0);
    drv_cq_arm(f->cq, false);           /* asking for more is heard */
    assert_int_equal(events(f), 1);
}

static void moderate(Fixture *f, unsigned usec, unsigned count)
{
    uint8_t in[DEVX_ST_SZ_BYTES(modify_cq_in)] = { 0 }, out[16];
    uint8_t *cqc = DEVX_ADDR_OF(modify_cq_in, in, cq_context);

    DEVX_SET(modify_cq_in, in, opcode, MLX5_CMD_OP_MODIFY_CQ);
    DEVX_SET(modify_cq_in, in, cqn, f->cq->cqn);
    mocx_put_be32(in + 12, 3);
    DEVX_SET(cqc, cqc, cq_period, usec);
    DEVX_SET(cqc, cqc, cq_max_count, count);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
}

/* Periods that begin with a CQE are not among the capabilities. */
static void other_period_modes_are_refused(void **state)
{
    Fixture *f = *state;

    for (unsigned mode = 0; mode < 4; mode++) {
        uint8_t in[DEVX_ST_SZ_BYTES(create_cq_in) + 8] = { 0 }, out[16];
        uint8_t *cqc = DEVX_ADDR_OF(create_cq_in, in, cq_context);

        DEVX_SET(create_cq_in, in, opcode, MLX5_CMD_OP_CREATE_CQ);
        DEVX_SET(cqc, cqc, cq_period_mode, mode);
        DEVX_SET(cqc, cqc, log_cq_size, 4);
        DEVX_SET(cqc, cqc, uar_page, f->d->uar);
        DEVX_SET(cqc, cqc, c_eqn_or_apu_element, f->d->comp->eqn);
        DEVX_SET64(cqc, cqc, dbr_addr, gpa_alloc(f->d->h, 64, 64));
        mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_cq_in),
                      gpa_alloc(f->d->h, HOST_PAGE, HOST_PAGE));
        assert_int_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)),
                         mode ? MOCX_BAD_PARAM : MOCX_OK);
        if (!mode) {
            drv_dealloc(f->d, MLX5_CMD_OP_DESTROY_CQ,
                        DEVX_GET(create_cq_out, out, cqn));
        }
    }
    for (unsigned mode = 0; mode < 2; mode++) {
        uint8_t in[DEVX_ST_SZ_BYTES(modify_cq_in)] = { 0 }, out[16];
        uint8_t *cqc = DEVX_ADDR_OF(modify_cq_in, in, cq_context);

        DEVX_SET(modify_cq_in, in, opcode, MLX5_CMD_OP_MODIFY_CQ);
        DEVX_SET(modify_cq_in, in, cqn, f->cq->cqn);
        mocx_put_be32(in + 12, 1 << 4);
        DEVX_SET(cqc, cqc, cq_period_mode, mode);
        assert_int_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)),
                         mode ? MOCX_BAD_PARAM : MOCX_OK);
    }
}

static void moderation_spaces_events(void **state)
{
    Fixture *f = *state;

    moderate(f, 100, 8);
    world_run(f->w, NSEC_PER_MSEC);
    drv_cq_arm(f->cq, false);
    post(f);
    assert_int_equal(events(f), 1);     /* the first waits for nothing */
    poll_all(f);
    drv_cq_arm(f->cq, false);
    post(f);
    assert_int_equal(events(f), 0);
    world_run(f->w, 90 * NSEC_PER_USEC);
    assert_int_equal(events(f), 0);
    world_run(f->w, 20 * NSEC_PER_USEC);
    assert_int_equal(events(f), 1);
    poll_all(f);
    drv_cq_arm(f->cq, false);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(events(f), 0);
        post(f);
    }
    assert_int_equal(events(f), 1);     /* enough of them */
    world_run(f->w, NSEC_PER_MSEC);
    assert_int_equal(events(f), 0);
}

/* What was held back and then consumed is no event any more. */
static void consumed_ends_the_wait(void **state)
{
    Fixture *f = *state;

    moderate(f, 100, 8);
    world_run(f->w, NSEC_PER_MSEC);
    drv_cq_arm(f->cq, false);
    post(f);
    assert_int_equal(events(f), 1);
    poll_all(f);
    drv_cq_arm(f->cq, false);
    post(f);
    poll_all(f);
    drv_cq_arm(f->cq, false);
    world_run(f->w, NSEC_PER_MSEC);
    assert_int_equal(events(f), 0);
}

static void full_queue_overwrites_nothing(void **state)
{
    Fixture *f = *state;
    struct mlx5_cqe64 cqe;
    uint8_t eqe[64];

    f->d->h->breaks = true;
    for (unsigned i = 0; i < 1u << LOG_SIZE; i++) {
        assert_true(post(f));
    }
    assert_false(post(f));
    assert_true(drv_event_find(f->d, MOCX_EV_CQ_ERROR, eqe));
    assert_int_equal(mocx_get_be32(eqe + 0x20), f->cq->cqn);
    assert_int_equal(eqe[0x2b], 1);     /* overrun */
    for (unsigned i = 0; i < 1u << LOG_SIZE; i++) {
        assert_true(drv_cq_poll(f->cq, &cqe));
        assert_int_equal(be16toh(cqe.wqe_counter), i);
    }
    assert_false(post(f));              /* an error is for ever */
    assert_false(drv_event_find(f->d, MOCX_EV_CQ_ERROR, eqe));
}

/* Room is learnt from the record, where the driver writes it. */
static void room_is_read_from_the_record(void **state)
{
    Fixture *f = *state;
    struct mlx5_cqe64 cqe;

    f->d->h->breaks = true;
    for (unsigned i = 0; i < 1u << LOG_SIZE; i++) {
        assert_true(post(f));
    }
    assert_true(drv_cq_poll(f->cq, &cqe));
    assert_true(post(f));
    assert_false(post(f));
}

static void numbers_pass_24_bits(void **state)
{
    Fixture *f = *state;

    f->model->pi = f->model->ci = f->model->event_pi = 0xfffffe;
    f->cq->ci = 0xfffffe;
    mocx_put_be32(gpa_ptr(f->d->h, f->cq->dbr), 0xfffffe);
    drv_cq_arm(f->cq, false);
    for (unsigned i = 0; i < 4; i++) {
        struct mlx5_cqe64 cqe;

        assert_true(post(f));
        assert_int_equal(events(f), 1);
        assert_true(drv_cq_poll(f->cq, &cqe));
        drv_cq_arm(f->cq, false);
        assert_int_equal(events(f), 0);
    }
}

static void bad_queues_are_refused(void **state)
{
    Fixture *f = *state;
    static const struct { const char *name; int32_t eqn, uar; unsigned log,
                          cqe_sz, dbr, pas; uint8_t status; } t[] = {
        { "EQ", 63, 0, 4, 0, 64, 1, MOCX_BAD_RES },
        { "UAR", 0, 99, 4, 0, 64, 1, MOCX_BAD_PARAM },
        { "size", 0, 0, 31, 0, 64, 1, MOCX_BAD_PARAM },
        { "CQE size", 0, 0, 4, 3, 64, 1, MOCX_BAD_PARAM },
        { "record", 0, 0, 4, 0, 4, 1, MOCX_BAD_PARAM },
        { "pages", 0, 0, 7, 0, 64, 1, MOCX_BAD_PARAM },
        { "no page", 0, 0, 4, 0, 64, 0, MOCX_BAD_PARAM },
    };

    for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        uint8_t in[DEVX_ST_SZ_BYTES(create_cq_in) + 8] = { 0 }, out[16];
        uint8_t *cqc = DEVX_ADDR_OF(create_cq_in, in, cq_context);

        DEVX_SET(create_cq_in, in, opcode, MLX5_CMD_OP_CREATE_CQ);
        DEVX_SET(cqc, cqc, log_cq_size, t[i].log);
        DEVX_SET(cqc, cqc, cqe_sz, t[i].cqe_sz);
        DEVX_SET(cqc, cqc, uar_page, t[i].uar ? t[i].uar : (int)f->d->uar);
        DEVX_SET(cqc, cqc, c_eqn_or_apu_element,
                 t[i].eqn ? t[i].eqn : (int)f->d->comp->eqn);
        DEVX_SET64(cqc, cqc, dbr_addr, HOST_MEM_BASE + t[i].dbr);
        mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_cq_in), HOST_MEM_BASE);
        if (drv_cmd(f->d, in, sizeof(in) - 8 + t[i].pas * 8, out,
                    sizeof(out)) != t[i].status) {
            fail_msg("%s: status 0x%x", t[i].name, f->d->status);
        }
    }
}

static void expect_counters(Fixture *f, unsigned from, unsigned to)
{
    struct mlx5_cqe64 cqe;

    for (unsigned i = from; i < to; i++) {
        assert_true(drv_cq_poll(f->cq, &cqe));
        assert_int_equal(be16toh(cqe.wqe_counter), i);
    }
    assert_false(drv_cq_poll(f->cq, &cqe));
}

static void resizing_loses_no_cqe(void **state)
{
    Fixture *f = *state;
    static const unsigned logs[] = { 5, 3, 6, 2, LOG_SIZE };

    for (unsigned i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        unsigned first = f->model->pi;

        post(f);
        post(f);
        assert_int_equal(drv_cq_resize(f->cq, logs[i]), MOCX_OK);
        expect_counters(f, first, first + 2);
        /* The CQE that ended the old ring has used up one index. */
        for (unsigned j = 3; j < 9; j++) {
            assert_true(post(f));
            expect_counters(f, first + j, first + j + 1);
        }
    }
}

static void resizing_keeps_the_limit(void **state)
{
    Fixture *f = *state;

    f->d->h->breaks = true;
    assert_int_equal(drv_cq_resize(f->cq, 2), MOCX_OK);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(post(f));
    }
    /* No room for the CQE that would end the ring. */
    assert_int_equal(drv_cq_resize(f->cq, 6), MOCX_BAD_SIZE_OUTS_CQES);
    assert_false(post(f));
}

static void resizing_below_what_is_held_is_refused(void **state)
{
    Fixture *f = *state;

    for (unsigned i = 0; i < 6; i++) {
        post(f);
    }
    assert_int_equal(drv_cq_resize(f->cq, 2), MOCX_BAD_SIZE_OUTS_CQES);
    expect_counters(f, 0, 6);
    assert_int_equal(drv_cq_resize(f->cq, 2), MOCX_OK);
}

static void resizing_is_no_event(void **state)
{
    Fixture *f = *state;

    drv_cq_arm(f->cq, false);
    assert_int_equal(drv_cq_resize(f->cq, 5), MOCX_OK);
    assert_int_equal(events(f), 0);
    drv_cq_arm(f->cq, false);
    assert_int_equal(events(f), 0);
    post(f);
    assert_int_equal(events(f), 1);
}

static void large_entries_have_the_cqe_behind(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(create_cq_in) + 8] = { 0 }, out[16];
    uint8_t *cqc = DEVX_ADDR_OF(create_cq_in, in, cq_context), *ring;
    uint64_t page = gpa_alloc(f->d->h, 4096, 4096);
    struct mlx5_cqe64 cqe = { .op_own = OP_SEND_OK << 4 };
    uint32_t cqn;

    DEVX_SET(create_cq_in, in, opcode, MLX5_CMD_OP_CREATE_CQ);
    DEVX_SET(cqc, cqc, log_cq_size, 3);
    DEVX_SET(cqc, cqc, cqe_sz, 1);
    DEVX_SET(cqc, cqc, page_offset, 16);        /* in 64ths: 1 KiB */
    DEVX_SET(cqc, cqc, uar_page, f->d->uar);
    DEVX_SET(cqc, cqc, c_eqn_or_apu_element, f->d->comp->eqn);
    DEVX_SET64(cqc, cqc, dbr_addr, gpa_alloc(f->d->h, 8, 64));
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_cq_in), page);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    cqn = DEVX_GET(create_cq_out, out, cqn);
    ring = gpa_ptr(f->d->h, page + 1024);
    ring[128 + 64 + 63] = 0xf1;
    for (unsigned i = 0; i < 2; i++) {
        host_enter(f->d->h);
        assert_true(mocx_cq_post(f->d->h->dev,
                                 mocx_cq_find(f->d->h->dev, cqn), &cqe));
        host_leave(f->d->h);
    }
    assert_int_equal(ring[128 + 64 + 63], OP_SEND_OK << 4);
    drv_dealloc(f->d, MLX5_CMD_OP_DESTROY_CQ, cqn);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(queue_goes_round_in_order),
        T(one_event_for_each_arming),
        T(arming_tells_of_what_came_before),
        T(arming_does_not_tell_twice),
        T(consumed_is_not_unseen),
        T(solicited_arming_waits_for_solicited),
        T(other_period_modes_are_refused),
        T(moderation_spaces_events),
        T(consumed_ends_the_wait),
        T(full_queue_overwrites_nothing),
        T(room_is_read_from_the_record),
        T(numbers_pass_24_bits),
        T(bad_queues_are_refused),
        T(resizing_loses_no_cqe),
        T(resizing_keeps_the_limit),
        T(resizing_below_what_is_held_is_refused),
        T(resizing_is_no_event),
        T(large_entries_have_the_cqe_behind),
    };

    return cmocka_run_group_tests_name("cq", tests, NULL, NULL);
}
