/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands around a connection: the port it sends on, its address, and the
 * fields of its context that are offered in part or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/dev.h"
#include "core/qp.h"
#include "pair.h"

#define REG_PAOS        0x5006
#define INVALID_REQUEST 0x12

enum {                              /* opt_param_mask */
    OPT_ALT_PATH = 1 << 0, OPT_RAE = 1 << 2, OPT_PRI_PATH = 1 << 7,
    OPT_RRA = 1 << 9, OPT_PM_STATE = 1 << 10,
};

/* Of the port */

static void paos(Drv *d, bool up)
{
    uint8_t in[DEVX_ST_SZ_BYTES(access_register_in) +
               DEVX_ST_SZ_BYTES(paos_reg)] = { 0 };
    uint8_t out[sizeof(in)];
    uint8_t *reg = in + DEVX_ST_SZ_BYTES(access_register_in);

    DEVX_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
    DEVX_SET(access_register_in, in, register_id, REG_PAOS);
    DEVX_SET(paos_reg, reg, local_port, 1);
    DEVX_SET(paos_reg, reg, admin_status, up ? 1 : 2);
    DEVX_SET(paos_reg, reg, ase, 1);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

static void inject_link(Drv *d, bool up)
{
    host_inject(d->h, up ? "link=up" : "link=down");
}

static void cable(Drv *d, bool up)
{
    host_enter(d->h);
    mocx_set_link(d->h->dev, up);
    host_leave(d->h);
}

static void roce(Drv *d, bool on)
{
    uint8_t in[DEVX_ST_SZ_BYTES(modify_nic_vport_context_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(modify_nic_vport_context_out)];

    DEVX_SET(modify_nic_vport_context_in, in, opcode,
             MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT);
    DEVX_SET(modify_nic_vport_context_in, in, field_select.roce_en, 1);
    DEVX_SET(modify_nic_vport_context_in, in, nic_vport_context.roce_en, on);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

typedef void SwitchFn(Drv *d, bool on);

static void send_one(Pair *p)
{
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 100) },
    });
}

/* Nothing of side a is on the wire, or counted, while it is off. */
static void expect_silence(SwitchFn *fn)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    Host *h = p->a.d->h;
    struct mlx5_cqe64 cqe;
    uint64_t sent;
    int64_t counted;

    post_recv_at(&p->b, 0, 100);
    fn(p->a.d, false);
    sent = wire_count(p->w->wire, 0)->sent;
    counted = host_status(h, "port.tx_roce_packets");
    send_one(p);
    world_run(p->w, 100 * NSEC_PER_MSEC);
    assert_int_equal(wire_count(p->w->wire, 0)->sent, sent);
    assert_int_equal(host_status(h, "port.tx_roce_packets"), counted);
    assert_false(drv_cq_poll(p->b.rcq, &cqe));
    fn(p->a.d, true);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
    pair_free(p);
}

static void a_port_that_is_down_sends_nothing(void **state)
{
    (void)state;
    expect_silence(cable);
    expect_silence(inject_link);
    expect_silence(paos);
}

static void without_roce_nothing_is_sent(void **state)
{
    Pair *p;
    struct mlx5_cqe64 cqe;

    (void)state;
    expect_silence(roce);
    /* Nor to oneself, which is not by the wire. */
    p = pair_new_loopback(DRV_QP_RC, NULL);
    post_recv_at(&p->b, 0, 100);
    roce(p->a.d, false);
    send_one(p);
    world_run(p->w, 100 * NSEC_PER_MSEC);
    assert_false(drv_cq_poll(p->b.rcq, &cqe));
    roce(p->a.d, true);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
    pair_free(p);
}

/* What a device reaches in itself needs no link. */
static void loopback_needs_no_link(void **state)
{
    Pair *p = pair_new_loopback(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    post_recv_at(&p->b, 0, 100);
    inject_link(p->a.d, false);
    send_one(p);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
    pair_free(p);
}

/* Of the context */

typedef struct Modify {
    uint8_t in[DEVX_ST_SZ_BYTES(init2rtr_qp_in)];
    uint8_t *qpc;
} Modify;

static void modify_init(Modify *m, const DrvQp *qp, uint16_t opcode,
                        uint32_t opt)
{
    memset(m, 0, sizeof(*m));
    m->qpc = DEVX_ADDR_OF(init2rtr_qp_in, m->in, qpc);
    DEVX_SET(init2rtr_qp_in, m->in, opcode, opcode);
    DEVX_SET(init2rtr_qp_in, m->in, qpn, qp->qpn);
    DEVX_SET(init2rtr_qp_in, m->in, opt_param_mask, opt);
    DEVX_SET(qpc, m->qpc, pm_state, 3);
}

static uint8_t modify(Modify *m, DrvQp *qp)
{
    uint8_t out[DEVX_ST_SZ_BYTES(init2rtr_qp_out)];

    return drv_cmd(qp->d, m->in, sizeof(m->in), out, sizeof(out));
}

static MocxQp *model_of(Side *s)
{
    return mocx_qp_find(s->d->h->dev, s->qp->qpn);
}

typedef struct Bits {
    unsigned off, count;
} Bits;

#define QPC(f) { __devx_bit_off(qpc, f), __devx_bit_sz(qpc, f) }
#define ADS(f) QPC(primary_address_path.f)

/* Refused with this, and as before without; nothing has changed between. */
static void what_is_not_offered_is_refused(void **state)
{
    static const struct {
        uint16_t opcode;
        uint32_t opt;
        Bits bits;
        unsigned value;
    } table[] = {
        { MLX5_CMD_OP_RST2INIT_QP, 0, QPC(pm_state), 0 },
        { MLX5_CMD_OP_RST2INIT_QP, 0, QPC(atomic_mode), 4 },
        { MLX5_CMD_OP_INIT2RTR_QP, 0, ADS(fl), 1 },
        { MLX5_CMD_OP_INIT2RTR_QP, 0, ADS(stat_rate), 7 },
        { MLX5_CMD_OP_INIT2RTR_QP, 0, ADS(src_addr_index), 77 },
        { MLX5_CMD_OP_INIT2RTR_QP, OPT_ALT_PATH, QPC(mtu), 3 },
        { MLX5_CMD_OP_RTR2RTS_QP, OPT_ALT_PATH, QPC(log_sra_max), 0 },
        { MLX5_CMD_OP_RTR2RTS_QP, OPT_PM_STATE, QPC(pm_state), 1 },
        { MLX5_CMD_OP_RTS2RTS_QP, OPT_PM_STATE, QPC(pm_state), 0 },
        { MLX5_CMD_OP_RTS2RTS_QP, OPT_RAE, QPC(atomic_mode), 5 },
    };
    Pair *p = pair_new(DRV_QP_RC, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        DrvQp *qp = p->a.qp;
        Modify m;

        drv_qp_reset(qp);
        if (table[i].opcode != MLX5_CMD_OP_RST2INIT_QP) {
            drv_qp_rst2init(qp, NULL);
        }
        if (table[i].opcode == MLX5_CMD_OP_RTR2RTS_QP ||
            table[i].opcode == MLX5_CMD_OP_RTS2RTS_QP) {
            drv_qp_init2rtr(qp, NULL, p->b.qp);
        }
        if (table[i].opcode == MLX5_CMD_OP_RTS2RTS_QP) {
            drv_qp_rtr2rts(qp, NULL);
        }
        modify_init(&m, qp, table[i].opcode, table[i].opt);
        DEVX_SET(qpc, m.qpc, mtu, 3);
        DEVX_SET(qpc, m.qpc, rae, 1);
        DEVX_SET(qpc, m.qpc, atomic_mode, 1);
        _devx_set(m.qpc, table[i].value, table[i].bits.off,
                  table[i].bits.count);
        if (modify(&m, qp) != MOCX_BAD_PARAM) {
            fail_msg("row %zu: status 0x%x", i, qp->d->status);
        }
        _devx_set(m.qpc, 0, table[i].bits.off, table[i].bits.count);
        DEVX_SET(qpc, m.qpc, mtu, 3);
        DEVX_SET(qpc, m.qpc, pm_state, 3);
        DEVX_SET(init2rtr_qp_in, m.in, opt_param_mask,
                 table[i].opt & ~OPT_ALT_PATH);
        if (modify(&m, qp)) {
            fail_msg("row %zu, legal: status 0x%x", i, qp->d->status);
        }
    }
    pair_free(p);
}

/* mlx5_ib's change of a counter set says nothing else in its context. */
static void a_counter_set_changes_alone(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)];
    Modify m;

    (void)state;
    modify_init(&m, p->a.qp, MLX5_CMD_OP_RTS2RTS_QP, 1 << 25);
    memset(m.qpc, 0, DEVX_ST_SZ_BYTES(qpc));
    assert_int_equal(modify(&m, p->a.qp), MOCX_OK);
    drv_qp_query(p->a.qp, qpc);
    assert_int_equal(DEVX_GET(qpc, qpc, pm_state), 3);
    pair_free(p);
}

static void read_four(Pair *p, unsigned syndrome)
{
    struct mlx5_cqe64 cqe;

    for (unsigned i = 0; i < 4; i++) {
        drv_post(p->a.qp, &(DrvWr) {
            .opcode = MLX5_OPCODE_RDMA_READ, .raddr = p->b.mr->va,
            .rkey = p->b.mr->key, .num_sge = 1,
            .sge = { sge_of(&p->a, 0, 200000) },
        });
    }
    drv_ring(p->a.qp);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(drv_cq_wait(p->a.scq, &cqe, 10 * NSEC_PER_SEC));
        if (cqe_opcode(&cqe) == MLX5_CQE_REQ_ERR) {
            assert_int_equal(cqe_syndrome(&cqe), syndrome);
            return;
        }
    }
    assert_int_equal(syndrome, 0);
}

static void set_rra(Side *s, unsigned log_rra)
{
    Modify m;

    modify_init(&m, s->qp, MLX5_CMD_OP_RTS2RTS_QP, OPT_RRA);
    DEVX_SET(qpc, m.qpc, log_rra_max, log_rra);
    assert_int_equal(modify(&m, s->qp), MOCX_OK);
}

/* log_rra_max is a logarithm: 0 is one; it is the rights that allow none. */
static void a_later_transition_sets_the_depth(void **state)
{
    DrvPath path = { .log_sra = 2, .log_rra = 0 };
    Pair *p = pair_new(DRV_QP_RC, &path);

    (void)state;
    read_four(p, INVALID_REQUEST);
    pair_reconnect(p, &path);
    set_rra(&p->b, 2);
    read_four(p, 0);
    assert_int_equal(model_of(&p->b)->resp.depth, 4);
    read_four(p, 0);
    set_rra(&p->b, 0);
    assert_int_equal(model_of(&p->b)->resp.depth, 1);
    read_four(p, INVALID_REQUEST);
    pair_free(p);
}

/* What was answered is remembered over the change. */
static void a_change_of_depth_forgets_no_answer(void **state)
{
    DrvPath path = { .log_sra = 1, .log_rra = 1 };
    Pair *p = pair_new(DRV_QP_RC, &path);
    MocxQp *qp;

    (void)state;
    pair_run(p, &(Msg) { .opcode = MLX5_OPCODE_RDMA_READ, .len = 3000,
                         .off_a = 100, .off_b = 100, .seed = 1 });
    pair_run(p, &(Msg) { .opcode = MLX5_OPCODE_RDMA_READ, .len = 10,
                         .off_a = 100, .off_b = 100, .seed = 2 });
    qp = model_of(&p->b);
    for (unsigned log = 4; log <= 4; log--) {
        set_rra(&p->b, log);
        assert_int_equal(qp->resp.depth, 1 << log);
        assert_true(qp->resp.replay[qp->resp.newest].used);
        assert_int_equal(qp->resp.replay[qp->resp.newest].len, 10);
        if (log) {
            unsigned before = (qp->resp.newest + qp->resp.depth - 1) %
                              qp->resp.depth;

            assert_int_equal(qp->resp.replay[before].len, 3000);
        }
    }
    pair_free(p);
}

static void atomic_mode_zero_allows_none(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;
    Modify m;

    (void)state;
    modify_init(&m, p->b.qp, MLX5_CMD_OP_RTS2RTS_QP, OPT_RAE);
    DEVX_SET(qpc, m.qpc, rae, 1);
    assert_int_equal(modify(&m, p->b.qp), MOCX_OK);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_ATOMIC_FA, .raddr = p->b.mr->va,
        .rkey = p->b.mr->key, .num_sge = 1, .sge = { sge_of(&p->a, 0, 8) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, INVALID_REQUEST, &cqe);
    pair_free(p);
}

/* The byte after version and length of an IPv4 header; of IPv6 its 8 bits. */
static WireFate keep_tos(void *arg, unsigned from, uint8_t *data, size_t len)
{
    uint8_t *tos = arg;

    (void)len;
    if (from == 0) {
        *tos = data[14] >> 4 == 4 ? data[15]
               : (uint8_t)(mocx_get_be16(data + 14) >> 4);
    }
    return WIRE_PASS;
}

/* RoCE v2 has the DSCP of the path; v1 has the traffic class of the GRH. */
static void the_dscp_of_the_path_is_sent(void **state)
{
    static const struct {
        unsigned gid;
        uint8_t tos;
    } table[] = {
        { DRV_GID_V2_V4, 46 << 2 | 2 }, { DRV_GID_V2_V6, 46 << 2 | 2 },
        { DRV_GID_V1_V6, 0x12 },
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        DrvPath path = { .set_gid = true, .gid = table[i].gid,
                         .set_retry = true, .retry = 7, .rnr_retry = 7 };
        Pair *p = pair_new(DRV_QP_RC, &path);
        uint8_t addr[16], tos = 0;
        Modify m;

        modify_init(&m, p->a.qp, MLX5_CMD_OP_RTS2RTS_QP, OPT_PRI_PATH);
        memcpy(DEVX_ADDR_OF(qpc, m.qpc, primary_address_path),
               DEVX_ADDR_OF(qpc, model_of(&p->a)->ctx, primary_address_path),
               DEVX_ST_SZ_BYTES(ads));
        DEVX_SET(qpc, m.qpc, primary_address_path.dscp, 46);
        DEVX_SET(qpc, m.qpc, primary_address_path.tclass, 0x12);
        assert_int_equal(modify(&m, p->a.qp), MOCX_OK);
        drv_gid_address(p->b.d->h, table[i].gid, addr);
        wire_filter(p->w->wire, keep_tos, &tos);
        pair_run(p, &(Msg) { .opcode = MLX5_OPCODE_RDMA_WRITE, .len = 10,
                             .off_a = 100, .off_b = 100, .seed = i });
        assert_int_equal(tos, table[i].tos);
        pair_free(p);
    }
}

/* Of the receive queue */

static void a_receive_producer_beyond_the_ring_is_fatal(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    Host *h = p->b.d->h;
    struct mlx5_cqe64 cqe;
    uint8_t eqe[64];

    (void)state;
    h->breaks = true;
    post_recv_at(&p->b, 0, 100);
    mocx_put_be32(gpa_ptr(h, p->b.qp->dbr), 257);   /* of a ring of 256 */
    send_one(p);
    world_run(p->w, 100 * NSEC_PER_MSEC);
    assert_true(drv_event_find(p->b.d, MOCX_EV_QP_FATAL, eqe));
    assert_int_equal(mocx_get_be32(eqe + 0x38) & 0xffffff, p->b.qp->qpn);
    assert_true(side_in_error(&p->b));
    /* Nor is what was never posted flushed. */
    assert_false(drv_cq_poll(p->b.rcq, &cqe));
    pair_free(p);
}

static void a_whole_ring_of_receives_is_none(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    for (unsigned i = 0; i < 256; i++) {
        post_recv_at(&p->b, 0, 100);
    }
    send_one(p);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    pair_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_that_is_down_sends_nothing),
        cmocka_unit_test(without_roce_nothing_is_sent),
        cmocka_unit_test(loopback_needs_no_link),
        cmocka_unit_test(what_is_not_offered_is_refused),
        cmocka_unit_test(a_counter_set_changes_alone),
        cmocka_unit_test(a_later_transition_sets_the_depth),
        cmocka_unit_test(a_change_of_depth_forgets_no_answer),
        cmocka_unit_test(atomic_mode_zero_allows_none),
        cmocka_unit_test(the_dscp_of_the_path_is_sent),
        cmocka_unit_test(a_receive_producer_beyond_the_ring_is_fatal),
        cmocka_unit_test(a_whole_ring_of_receives_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
