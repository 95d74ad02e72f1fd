/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QP commands: states, attributes, limits, and what a context may name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/cmd.h"
#include "pair.h"

enum { RST, INIT, RTR, RTS, SQER, SQD, ERR, STATES };

typedef struct Fixture {
    World *w;
    Drv *d;
    DrvCq *cq;
} Fixture;

static int setup_with(void **state, const MocxConfig *cfg)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->w = world_new(1, cfg);
    f->d = drv_new(f->w->host[0]);
    drv_bring_up(f->d);
    drv_net_up(f->d);
    f->cq = drv_cq_new(f->d, 6);
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, NULL);
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

static DrvQp *qp_of(Fixture *f, uint8_t type)
{
    return drv_qp_new(f->d, &(DrvQpParams) {
        .type = type, .scq = f->cq, .rcq = f->cq,
    });
}

/* Bring a fresh QP to one of the states that a driver can reach. */
static DrvQp *qp_in(Fixture *f, unsigned to)
{
    DrvQp *qp = qp_of(f, DRV_QP_RC);

    if (to == ERR) {
        assert_int_equal(drv_qp_cmd(qp, MLX5_CMD_OP_2ERR_QP), 0);
        return qp;
    }
    if (to >= INIT) {
        drv_qp_rst2init(qp, NULL);
    }
    if (to >= RTR) {
        drv_qp_init2rtr(qp, NULL, qp);
    }
    if (to >= RTS) {
        drv_qp_rtr2rts(qp, NULL);
    }
    return qp;
}

static uint8_t transition(DrvQp *qp, uint16_t opcode)
{
    uint8_t in[DEVX_ST_SZ_BYTES(init2rtr_qp_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(init2rtr_qp_out)];

    if (opcode == MLX5_CMD_OP_2ERR_QP || opcode == MLX5_CMD_OP_2RST_QP) {
        return drv_qp_cmd(qp, opcode);
    }
    DEVX_SET(init2rtr_qp_in, in, opcode, opcode);
    DEVX_SET(init2rtr_qp_in, in, qpn, qp->qpn);
    DEVX_SET(init2rtr_qp_in, in, qpc.mtu, 3);
    DEVX_SET(init2rtr_qp_in, in, qpc.pm_state, 3);
    return drv_cmd(qp->d, in, sizeof(in), out, sizeof(out));
}

static unsigned state_of(DrvQp *qp)
{
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)];

    return drv_qp_query(qp, qpc);
}

/*
 * Every command in every state: it leads where it should, or is refused with
 * "bad QP state" and changes nothing.
 */
static void each_transition_from_each_state(void **state)
{
    static const struct {
        uint16_t opcode;
        unsigned from, to;      /* STATES: from anywhere */
    } table[] = {
        { MLX5_CMD_OP_RST2INIT_QP, RST, INIT },
        { MLX5_CMD_OP_INIT2INIT_QP, INIT, INIT },
        { MLX5_CMD_OP_INIT2RTR_QP, INIT, RTR },
        { MLX5_CMD_OP_RTR2RTS_QP, RTR, RTS },
        { MLX5_CMD_OP_RTS2RTS_QP, RTS, RTS },
        { MLX5_CMD_OP_SQERR2RTS_QP, SQER, RTS },
        { MLX5_CMD_OP_SQD_RTS_QP, SQD, RTS },
        { MLX5_CMD_OP_2ERR_QP, STATES, ERR },
        { MLX5_CMD_OP_2RST_QP, STATES, RST },
    };
    static const unsigned reachable[] = { RST, INIT, RTR, RTS, ERR };
    Fixture *f = *state;

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        for (size_t k = 0; k < 5; k++) {
            unsigned from = reachable[k];
            bool legal = table[i].from == STATES || table[i].from == from;
            DrvQp *qp = qp_in(f, from);
            uint8_t status = transition(qp, table[i].opcode);

            assert_int_equal(status, legal ? MOCX_OK : MOCX_BAD_QP_STATE);
            assert_int_equal(state_of(qp), legal ? table[i].to : from);
            drv_qp_free(qp);
        }
    }
}

/* Case 17: what was set comes back. */
static void case_17_query_returns_what_was_set(void **state)
{
    Fixture *f = *state;
    DrvQp *qp = qp_of(f, DRV_QP_RC);
    DrvPath path = {
        .set_gid = true, .gid = DRV_GID_V2_V6, .mtu = 4, .sq_psn = 0xabcdef,
        .rq_psn = 0x123456, .timeout = 17, .set_retry = true, .retry = 5,
        .rnr_retry = 3, .min_rnr = 21, .log_rra = 3, .log_sra = 2,
        .rights = DRV_RR | DRV_RA,
    };
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)], want[16];

    drv_qp_rst2init(qp, &path);
    drv_qp_init2rtr(qp, &path, qp);
    drv_qp_rtr2rts(qp, &path);
    assert_int_equal(drv_qp_query(qp, qpc), RTS);
    drv_gid_address(f->d->h, DRV_GID_V2_V6, want);
    assert_memory_equal(DEVX_ADDR_OF(qpc, qpc, primary_address_path.rgid_rip),
                        want, 16);
    assert_int_equal(DEVX_GET(qpc, qpc, mtu), 4);
    assert_int_equal(DEVX_GET(qpc, qpc, next_send_psn), 0xabcdef);
    assert_int_equal(DEVX_GET(qpc, qpc, next_rcv_psn), 0x123456);
    assert_int_equal(DEVX_GET(qpc, qpc, primary_address_path.ack_timeout), 17);
    assert_int_equal(DEVX_GET(qpc, qpc, primary_address_path.src_addr_index),
                     DRV_GID_V2_V6);
    assert_int_equal(DEVX_GET(qpc, qpc, retry_count), 5);
    assert_int_equal(DEVX_GET(qpc, qpc, rnr_retry), 3);
    assert_int_equal(DEVX_GET(qpc, qpc, min_rnr_nak), 21);
    assert_int_equal(DEVX_GET(qpc, qpc, log_rra_max), 3);
    assert_int_equal(DEVX_GET(qpc, qpc, log_sra_max), 2);
    assert_int_equal(DEVX_GET(qpc, qpc, rre), 1);
    assert_int_equal(DEVX_GET(qpc, qpc, rwe), 0);
    assert_int_equal(DEVX_GET(qpc, qpc, rae), 1);
    assert_int_equal(DEVX_GET(qpc, qpc, remote_qpn), qp->qpn);
    assert_int_equal(DEVX_GET(qpc, qpc, pd), f->d->pdn);
    assert_int_equal(DEVX_GET(qpc, qpc, pm_state), 3);
    drv_qp_free(qp);
}

/* Case 15: RTS to RTS changes only what its mask names. */
static void optional_fields_need_their_bit(void **state)
{
    Fixture *f = *state;
    DrvQp *qp = qp_in(f, RTS);
    uint8_t in[DEVX_ST_SZ_BYTES(rts2rts_qp_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(rts2rts_qp_out)];
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)];

    DEVX_SET(rts2rts_qp_in, in, opcode, MLX5_CMD_OP_RTS2RTS_QP);
    DEVX_SET(rts2rts_qp_in, in, qpn, qp->qpn);
    DEVX_SET(rts2rts_qp_in, in, qpc.pm_state, 3);
    DEVX_SET(rts2rts_qp_in, in, qpc.min_rnr_nak, 30);
    DEVX_SET(rts2rts_qp_in, in, qpc.retry_count, 1);
    DEVX_SET(rts2rts_qp_in, in, qpc.mtu, 1);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    drv_qp_query(qp, qpc);
    assert_int_equal(DEVX_GET(qpc, qpc, min_rnr_nak), 12);
    DEVX_SET(rts2rts_qp_in, in, opt_param_mask, 1 << 6);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    drv_qp_query(qp, qpc);
    assert_int_equal(DEVX_GET(qpc, qpc, min_rnr_nak), 30);
    assert_int_equal(DEVX_GET(qpc, qpc, retry_count), 7);
    assert_int_equal(DEVX_GET(qpc, qpc, mtu), 3);
    assert_int_equal(DEVX_GET(qpc, qpc, rwe), 1);
    drv_qp_free(qp);
}

static void rtr_needs_a_path(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(init2rtr_qp_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(init2rtr_qp_out)];
    DrvQp *qp = qp_in(f, INIT);

    DEVX_SET(init2rtr_qp_in, in, opcode, MLX5_CMD_OP_INIT2RTR_QP);
    DEVX_SET(init2rtr_qp_in, in, qpn, qp->qpn);
    assert_int_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)),
                     MOCX_BAD_PARAM);
    DEVX_SET(init2rtr_qp_in, in, qpc.mtu, 6);
    assert_int_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)),
                     MOCX_BAD_PARAM);
    DEVX_SET(init2rtr_qp_in, in, qpc.mtu, 1);
    DEVX_SET(init2rtr_qp_in, in, qpc.primary_address_path.src_addr_index, 255);
    assert_int_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)),
                     MOCX_BAD_PARAM);
    assert_int_equal(state_of(qp), INIT);
    drv_qp_free(qp);
}

/* A context that creates, to be spoilt one field at a time. */
typedef struct Create {
    uint8_t in[DEVX_ST_SZ_BYTES(create_qp_in) + 8];
    uint8_t out[DEVX_ST_SZ_BYTES(create_qp_out)];
} Create;

static uint8_t *good_create(Fixture *f, Create *c)
{
    uint8_t *qpc = DEVX_ADDR_OF(create_qp_in, c->in, qpc);

    memset(c, 0, sizeof(*c));
    DEVX_SET(create_qp_in, c->in, opcode, MLX5_CMD_OP_CREATE_QP);
    DEVX_SET(qpc, qpc, pd, f->d->pdn);
    DEVX_SET(qpc, qpc, uar_page, f->d->uar);
    DEVX_SET(qpc, qpc, cqn_snd, f->cq->cqn);
    DEVX_SET(qpc, qpc, cqn_rcv, f->cq->cqn);
    DEVX_SET(qpc, qpc, log_sq_size, 4);
    DEVX_SET(qpc, qpc, log_rq_size, 4);
    DEVX_SET(qpc, qpc, log_rq_stride, 2);
    DEVX_SET64(qpc, qpc, dbr_addr, gpa_alloc(f->d->h, 64, 64));
    mocx_put_be64(c->in + DEVX_ST_SZ_BYTES(create_qp_in),
                  gpa_alloc(f->d->h, HOST_PAGE, HOST_PAGE));
    return qpc;
}

static uint8_t do_create(Fixture *f, Create *c)
{
    return drv_cmd(f->d, c->in, sizeof(c->in), c->out, sizeof(c->out));
}

#define SPOIL(field, value, status)                                     \
    do {                                                                \
        uint8_t *qpc = good_create(f, &c);                              \
                                                                        \
        DEVX_SET(qpc, qpc, field, value);                               \
        assert_int_equal(do_create(f, &c), status);                     \
    } while (0)

/* Case 19, and every name that does not exist. */
static void create_refuses_what_makes_no_sense(void **state)
{
    Fixture *f = *state;
    Create c;

    SPOIL(st, 5, MOCX_BAD_PARAM);
    SPOIL(st, 0xff, MOCX_BAD_PARAM);
    SPOIL(pd, 0xfff, MOCX_BAD_RES);
    SPOIL(uar_page, 0xffffff, MOCX_BAD_RES);
    SPOIL(cqn_snd, 0x1234, MOCX_BAD_RES);
    SPOIL(cqn_rcv, 0, MOCX_BAD_RES);
    SPOIL(st, 3, MOCX_BAD_RES);             /* no XRC domain */
    SPOIL(rq_type, 1, MOCX_BAD_RES);        /* no such SRQ */
    SPOIL(log_rq_stride, 7, MOCX_BAD_PARAM);
    SPOIL(log_rq_size, 15, MOCX_BAD_PARAM); /* not that many pages */
    SPOIL(log_sq_size, 15, MOCX_BAD_PARAM);
    SPOIL(log_page_size, 18, MOCX_BAD_PARAM);   /* pages not aligned so */
    assert_int_equal(host_status(f->d->h, "objects.qps"), 0);
}

/* Case 2: as many as the capability says, then a clean end. */
static int setup_small(void **state)
{
    MocxConfig cfg;

    mocx_config_default(&cfg);
    cfg.log_max_qp = 5;
    return setup_with(state, &cfg);
}

static void case_2_limit_is_exact(void **state)
{
    Fixture *f = *state;
    DrvQp *qps[32];
    Create c;

    for (unsigned i = 0; i < 32; i++) {
        qps[i] = qp_of(f, DRV_QP_RC);
    }
    good_create(f, &c);
    assert_int_equal(do_create(f, &c), MOCX_LIM_ERR);
    for (unsigned i = 0; i < 32; i++) {
        drv_qp_free(qps[i]);
    }
    assert_int_equal(do_create(f, &c), MOCX_OK);
    {
        DrvQp qp = { .d = f->d, .qpn = DEVX_GET(create_qp_out, c.out, qpn) };

        assert_int_equal(drv_qp_cmd(&qp, MLX5_CMD_OP_DESTROY_QP), 0);
    }
}

static void a_named_object_cannot_go(void **state)
{
    Fixture *f = *state;
    DrvQp *qp = qp_of(f, DRV_QP_RC);
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, MLX5_CMD_OP_DESTROY_CQ);
    mocx_put_be32(in + 8, f->cq->cqn);
    assert_int_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)),
                     MOCX_BAD_RES_STATE);
    drv_qp_free(qp);
}

static void unknown_numbers(void **state)
{
    Fixture *f = *state;
    DrvQp qp = { .d = f->d, .qpn = 0x4321 };

    assert_int_equal(drv_qp_cmd(&qp, MLX5_CMD_OP_DESTROY_QP), MOCX_BAD_RES);
    assert_int_equal(drv_qp_cmd(&qp, MLX5_CMD_OP_2ERR_QP), MOCX_BAD_RES);
    assert_int_equal(transition(&qp, MLX5_CMD_OP_RST2INIT_QP), MOCX_BAD_RES);
}

/* A doorbell is no reason to work in a state that does not send. */
static void doorbell_before_rts_waits(void **state)
{
    Fixture *f = *state;
    DrvQp *qp = qp_in(f, RTR);
    struct mlx5_cqe64 cqe;

    drv_post_raw(qp, MLX5_OPCODE_NOP, 8, 0, NULL, 0);
    drv_ring(qp);
    world_settle(f->w);
    assert_false(drv_cq_poll(f->cq, &cqe));
    drv_qp_rtr2rts(qp, NULL);
    drv_cq_expect(f->cq, MLX5_CQE_REQ, 0, &cqe);
    drv_qp_free(qp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_transition_from_each_state,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(case_17_query_returns_what_was_set,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(optional_fields_need_their_bit,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(rtr_needs_a_path, setup, teardown),
        cmocka_unit_test_setup_teardown(create_refuses_what_makes_no_sense,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(case_2_limit_is_exact, setup_small,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_named_object_cannot_go,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(doorbell_before_rts_waits,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
