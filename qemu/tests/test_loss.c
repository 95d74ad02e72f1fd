/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RC over a bad wire: loss, duplicates, overtaking, silence, RNR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/wire.h"
#include "pair.h"

#define MANY    60

static uint64_t now(Pair *p)
{
    return p->w->now;
}

/* A mix that keeps many packets of all kinds in flight, both ways. */
static void traffic(Pair *p, unsigned rounds)
{
    static const uint8_t ops[] = {
        MLX5_OPCODE_RDMA_WRITE, MLX5_OPCODE_SEND, MLX5_OPCODE_RDMA_READ,
        MLX5_OPCODE_RDMA_WRITE_IMM, MLX5_OPCODE_ATOMIC_FA,
    };
    struct mlx5_cqe64 cqe;
    uint64_t counter = 0;
    unsigned adds = 0;

    drv_mr_write(p->b.mr, PAIR_MR_LEN - 8, &counter, 8);
    for (unsigned r = 0; r < rounds; r++) {
        uint32_t len = 1 + r * 977 % 9000;

        drv_mr_fill(p->a.mr, 0, len, r);
        drv_mr_fill(p->b.mr, 0, len, r + 1000);
        post_recv_at(&p->b, 20000, 9000);
        post_recv_at(&p->b, 40000, 9000);
        for (unsigned i = 0; i < 5; i++) {
            bool atomic = ops[i] == MLX5_OPCODE_ATOMIC_FA;
            bool read = ops[i] == MLX5_OPCODE_RDMA_READ;

            drv_post(p->a.qp, &(DrvWr) {
                .opcode = ops[i], .rkey = p->b.mr->key, .swap_add = 1,
                .raddr = p->b.mr->va + (atomic ? PAIR_MR_LEN - 8
                                        : read ? 0 : 60000 + 10000 * i),
                .num_sge = 1,
                .sge = { sge_of(&p->a, atomic ? 90000 : read ? 10000 : 0,
                                atomic ? 8 : len) },
            });
        }
        drv_ring(p->a.qp);
        adds++;
        for (unsigned i = 0; i < 5; i++) {
            drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        }
        drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
        assert_int_equal(be32toh(cqe.byte_cnt), len);
        drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_WR_IMM, 0, &cqe);
        assert_int_equal(drv_mr_check(p->b.mr, 20000, len, r), -1);
        assert_int_equal(drv_mr_check(p->b.mr, 60000, len, r), -1);
        assert_int_equal(drv_mr_check(p->b.mr, 90000, len, r), -1);
        assert_int_equal(drv_mr_check(p->a.mr, 10000, len, r + 1000), -1);
        /* Case 23: done once each, whatever was repeated. */
        drv_mr_read(p->b.mr, PAIR_MR_LEN - 8, &counter, 8);
        assert_int_equal(counter, adds);
        drv_mr_read(p->a.mr, 90000, &counter, 8);
        assert_int_equal(counter, adds - 1);
    }
    world_settle(p->w);
    assert_false(drv_cq_poll(p->a.scq, &cqe));
    assert_false(drv_cq_poll(p->b.rcq, &cqe));
}

static void with_faults(const WireFaults *faults)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) {
        .mtu = 1, .sq_psn = 0xfffff0, .rq_psn = 0x123456, .log_rra = 2,
        .log_sra = 2,
    });

    wire_faults(p->w->wire, 0, faults);
    wire_faults(p->w->wire, 1, faults);
    traffic(p, MANY);
    wire_faults(p->w->wire, 0, NULL);
    wire_faults(p->w->wire, 1, NULL);
    pair_free(p);
}

static void survives_loss(void **state)
{
    (void)state;
    with_faults(&(WireFaults) { .loss = 30 });
}

static void survives_heavy_loss(void **state)
{
    (void)state;
    with_faults(&(WireFaults) { .loss = 100 });
}

static void survives_duplicates(void **state)
{
    (void)state;
    with_faults(&(WireFaults) { .duplicate = 200 });
}

static void survives_overtaking(void **state)
{
    (void)state;
    with_faults(&(WireFaults) { .reorder = 100 });
}

static void survives_corruption(void **state)
{
    (void)state;
    with_faults(&(WireFaults) { .corrupt = 50 });
}

static void survives_all_of_it(void **state)
{
    (void)state;
    with_faults(&(WireFaults) {
        .loss = 20, .duplicate = 20, .reorder = 20, .corrupt = 20,
    });
}

/* Drops what a predicate picks, @times times. */
typedef struct Picker {
    unsigned from;
    uint8_t opcode;
    unsigned times, seen, dropped;
    WireFate fate;
} Picker;

static WireFate pick(void *arg, unsigned from, uint8_t *data, size_t len)
{
    Picker *k = arg;
    MocxPkt pkt;

    if (from != k->from ||
        mocx_wire_parse(&pkt, data, len) != MOCX_PARSE_OK ||
        pkt.bth.opcode != k->opcode) {
        return WIRE_PASS;
    }
    k->seen++;
    if (k->dropped == k->times) {
        return WIRE_PASS;
    }
    k->dropped++;
    return k->fate;
}

/* The answer to an atomic is lost. */
static void case_23_lost_atomic_answer_is_replayed(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    Picker k = { .from = 1, .opcode = 0x12, .times = 1, .fate = WIRE_DROP };

    (void)state;
    wire_filter(p->w->wire, pick, &k);
    traffic(p, 3);
    assert_int_equal(k.dropped, 1);
    wire_filter(p->w->wire, NULL, NULL);
    pair_free(p);
}

/*
 * A READ that is asked for twice is answered twice, and only the first answer
 * counts.
 */
static void case_26_duplicate_read_is_answered_again(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .mtu = 1 });
    Picker k = { .from = 0, .opcode = 0x0c, .times = 1, .fate = WIRE_TWICE };
    struct mlx5_cqe64 cqe;

    (void)state;
    drv_mr_fill(p->b.mr, 0, 1000, 4);
    wire_filter(p->w->wire, pick, &k);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_READ, .raddr = p->b.mr->va, .num_sge = 1,
        .rkey = p->b.mr->key, .sge = { sge_of(&p->a, 0, 1000) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    world_settle(p->w);
    assert_int_equal(drv_mr_check(p->a.mr, 0, 1000, 4), -1);
    assert_false(drv_cq_poll(p->a.scq, &cqe));
    /* 4 packets, perhaps again as many, and never one more. */
    assert_true(wire_count(p->w->wire, 1)->sent <= 8);
    wire_filter(p->w->wire, NULL, NULL);
    pair_free(p);
}

/* A READ and its answers, as they passed. */
typedef struct ReadTrace {
    uint8_t request[256];
    size_t len;
    uint32_t psn;           /* of the request */
    unsigned answers[4];    /* by PSN */
} ReadTrace;

static WireFate trace_read(void *arg, unsigned from, uint8_t *data, size_t len)
{
    ReadTrace *t = arg;
    MocxPkt pkt;

    if (mocx_wire_parse(&pkt, data, len) != MOCX_PARSE_OK) {
        return WIRE_PASS;
    }
    if (pkt.op.op == MOCX_PKT_READ_REQ && !from) {
        assert_true(len <= sizeof(t->request));
        memcpy(t->request, data, len);
        t->len = len;
        t->psn = pkt.bth.psn;
    } else if (pkt.op.op == MOCX_PKT_READ_RESP) {
        uint32_t nth = (pkt.bth.psn - t->psn) & 0xffffff;

        assert_true(nth < 4);
        t->answers[nth]++;
    }
    return WIRE_PASS;
}

/* The same request again, long after it was answered. */
static void case_26_replayed_read_has_the_same_psns(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .mtu = 1, .sq_psn = 0xfffffe });
    ReadTrace t = { .len = 0 };
    struct mlx5_cqe64 cqe;

    (void)state;
    wire_filter(p->w->wire, trace_read, &t);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_READ, .raddr = p->b.mr->va, .num_sge = 1,
        .rkey = p->b.mr->key, .sge = { sge_of(&p->a, 0, 1000) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    world_settle(p->w);
    wire_inject_frame(p->w->wire, 1, p->w->now, t.request, t.len);
    world_settle(p->w);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(t.answers[i], 2);
    }
    assert_false(drv_cq_poll(p->a.scq, &cqe));
    wire_filter(p->w->wire, NULL, NULL);
    pair_free(p);
}

/* The middle of a READ is lost: only the rest is asked for again. */
static void lost_read_response_restarts_there(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .mtu = 1 });
    Picker k = { .from = 1, .opcode = 0x0e, .times = 1, .fate = WIRE_DROP };
    uint64_t begin = now(p);
    struct mlx5_cqe64 cqe;

    (void)state;
    drv_mr_fill(p->b.mr, 0, 10000, 5);
    wire_filter(p->w->wire, pick, &k);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_READ, .raddr = p->b.mr->va, .num_sge = 1,
        .rkey = p->b.mr->key, .sge = { sge_of(&p->a, 0, 10000) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(drv_mr_check(p->a.mr, 0, 10000, 5), -1);
    /* By the answer that came after it, not by the timer. */
    assert_true(now(p) - begin < 10 * NSEC_PER_MSEC);
    wire_filter(p->w->wire, NULL, NULL);
    pair_free(p);
}

static void lost_packet_is_told_by_nak(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .mtu = 1 });
    Picker k = { .from = 0, .opcode = 0x07, .times = 1, .fate = WIRE_DROP };
    uint64_t begin = now(p);

    (void)state;
    wire_filter(p->w->wire, pick, &k);
    pair_run(p, &(Msg) { .opcode = MLX5_OPCODE_RDMA_WRITE, .len = 5000,
                         .off_a = 64, .off_b = 64, .seed = 1 });
    assert_int_equal(k.dropped, 1);
    assert_true(now(p) - begin < 10 * NSEC_PER_MSEC);
    wire_filter(p->w->wire, NULL, NULL);
    pair_free(p);
}

static WireFate drop_all(void *arg, unsigned from, uint8_t *data, size_t len)
{
    unsigned *count = arg;

    (void)data;
    (void)len;
    *count += from == 0;
    return WIRE_DROP;
}

/* A peer that vanished: as many tries as were asked for, then 15/81. */
static void silence_ends_after_the_retries(void **state)
{
    (void)state;
    for (unsigned retry = 0; retry <= 7; retry++) {
        Pair *p = pair_new(DRV_QP_RC, &(DrvPath) {
            .set_retry = true, .retry = retry, .rnr_retry = 7, .timeout = 14,
        });
        struct mlx5_cqe64 cqe;
        unsigned count = 0;

        wire_filter(p->w->wire, drop_all, &count);
        pair_post(&p->a, &(DrvWr) {
            .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->b.mr->va,
            .rkey = p->b.mr->key, .num_sge = 1, .unsignaled = true,
            .sge = { sge_of(&p->a, 0, 100) },
        });
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 0x15, &cqe);
        assert_int_equal(cqe_vendor(&cqe), 0x81);
        assert_int_equal(count, retry + 1);
        assert_true(side_in_error(&p->a));
        assert_false(side_in_error(&p->b));
        wire_filter(p->w->wire, NULL, NULL);
        pair_free(p);
    }
}

static void timeout_zero_waits_for_ever(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)];
    unsigned count = 0;

    (void)state;
    drv_qp_reset(p->a.qp);
    drv_qp_rst2init(p->a.qp, NULL);
    drv_qp_init2rtr(p->a.qp, NULL, p->b.qp);
    memset(qpc, 0, sizeof(qpc));
    {
        uint8_t in[DEVX_ST_SZ_BYTES(rtr2rts_qp_in)] = { 0 };
        uint8_t out[DEVX_ST_SZ_BYTES(rtr2rts_qp_out)];

        DEVX_SET(rtr2rts_qp_in, in, opcode, MLX5_CMD_OP_RTR2RTS_QP);
        DEVX_SET(rtr2rts_qp_in, in, qpn, p->a.qp->qpn);
        DEVX_SET(rtr2rts_qp_in, in, qpc.retry_count, 1);
        drv_cmd_ok(p->a.d, in, sizeof(in), out, sizeof(out));
    }
    wire_filter(p->w->wire, drop_all, &count);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->b.mr->va,
        .rkey = p->b.mr->key, .num_sge = 1, .sge = { sge_of(&p->a, 0, 100) },
    });
    world_run(p->w, 100 * NSEC_PER_SEC);
    assert_int_equal(count, 1);
    assert_false(side_in_error(&p->a));
    wire_filter(p->w->wire, NULL, NULL);
    pair_free(p);
}

static WireFate count_rnr(void *arg, unsigned from, uint8_t *data, size_t len)
{
    unsigned *count = arg;
    MocxPkt pkt;

    if (from == 1 && mocx_wire_parse(&pkt, data, len) == MOCX_PARSE_OK &&
        pkt.op.op == MOCX_PKT_ACK && pkt.bth.syndrome >> 5 == 1) {
        ++*count;
    }
    return WIRE_PASS;
}

static void post_one_send(Pair *p)
{
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 3000) },
    });
}

/* 0 to 6 are exact. */
static void case_22_rnr_retries_are_counted(void **state)
{
    (void)state;
    for (unsigned retry = 0; retry <= 6; retry++) {
        Pair *p = pair_new(DRV_QP_RC, &(DrvPath) {
            .set_retry = true, .retry = 7, .rnr_retry = retry, .min_rnr = 14,
        });
        struct mlx5_cqe64 cqe;
        uint64_t begin = now(p);
        unsigned count = 0;

        wire_filter(p->w->wire, count_rnr, &count);
        post_one_send(p);
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 0x16, &cqe);
        assert_int_equal(count, retry + 1);
        /* Code 14 is 1.28 ms a turn. */
        assert_true(now(p) - begin >= retry * 1280 * NSEC_PER_USEC);
        assert_true(now(p) - begin < (retry + 1) * 1400 * NSEC_PER_USEC);
        wire_filter(p->w->wire, NULL, NULL);
        pair_free(p);
    }
}

static void case_22_rnr_retry_seven_is_for_ever(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .min_rnr = 1 });
    struct mlx5_cqe64 cqe;
    unsigned count = 0;

    (void)state;
    wire_filter(p->w->wire, count_rnr, &count);
    drv_mr_fill(p->a.mr, 0, 3000, 3);
    post_one_send(p);
    world_run(p->w, 20 * NSEC_PER_MSEC);
    assert_true(count > 50);
    assert_false(drv_cq_poll(p->a.scq, &cqe));
    post_recv_at(&p->b, 0, 3000);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
    assert_int_equal(drv_mr_check(p->b.mr, 0, 3000, 3), -1);
    wire_filter(p->w->wire, NULL, NULL);
    pair_free(p);
}

/* Late receives under load: every message arrives once, in order. */
static void rnr_in_the_middle_of_a_stream(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .min_rnr = 1, .mtu = 1 });
    struct mlx5_cqe64 cqe;

    (void)state;
    for (uint32_t i = 0; i < 30; i++) {
        drv_mr_write(p->a.mr, i * 1000, &i, 4);
        drv_post(p->a.qp, &(DrvWr) {
            .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
            .sge = { sge_of(&p->a, i * 1000, 1000) },
        });
    }
    drv_ring(p->a.qp);
    for (uint32_t i = 0; i < 30; i++) {
        uint32_t got;

        world_run(p->w, 100 * NSEC_PER_USEC);
        post_recv_at(&p->b, 0, 1000);
        drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
        drv_mr_read(p->b.mr, 0, &got, 4);
        assert_int_equal(got, i);
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    }
    pair_free(p);
}

static void sixteen_pairs_at_once(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    DrvQp *qa[16], *qb[16];
    struct mlx5_cqe64 cqe;

    (void)state;
    wire_faults(p->w->wire, 0, &(WireFaults) { .loss = 30 });
    wire_faults(p->w->wire, 1, &(WireFaults) { .loss = 30 });
    for (unsigned i = 0; i < 16; i++) {
        qa[i] = drv_qp_new(p->a.d, &(DrvQpParams) {
            .scq = p->a.scq, .rcq = p->a.rcq });
        qb[i] = drv_qp_new(p->b.d, &(DrvQpParams) {
            .scq = p->b.scq, .rcq = p->b.rcq });
        drv_qp_connect(qa[i], qb[i], &(DrvPath) { .sq_psn = i * 0x100000 });
        drv_mr_fill(p->a.mr, i * 20000, 20000, i);
    }
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned n = 0; n < 4; n++) {
            drv_post(qa[i], &(DrvWr) {
                .opcode = MLX5_OPCODE_RDMA_WRITE, .num_sge = 1,
                .raddr = p->b.mr->va + i * 20000 + n * 5000,
                .rkey = p->b.mr->key,
                .sge = { sge_of(&p->a, i * 20000 + n * 5000, 5000) },
            });
        }
        drv_ring(qa[i]);
    }
    for (unsigned i = 0; i < 64; i++) {
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    }
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(drv_mr_check(p->b.mr, i * 20000, 20000, i), -1);
        drv_qp_free(qa[i]);
        drv_qp_free(qb[i]);
    }
    pair_free(p);
}

/* The receive WQE of a message that never ended comes back once, and first. */
static void half_a_message_is_flushed(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    Picker k = { .from = 0, .opcode = 0x02, .times = 1000, .fate = WIRE_DROP };
    struct mlx5_cqe64 cqe;

    (void)state;
    wire_filter(p->w->wire, pick, &k);
    for (unsigned i = 0; i < 3; i++) {
        post_recv_at(&p->b, 0, 5000);
    }
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 3000) } });
    world_run(p->w, NSEC_PER_MSEC);
    assert_true(k.dropped > 0);
    assert_int_equal(drv_qp_cmd(p->b.qp, MLX5_CMD_OP_2ERR_QP), 0);
    for (unsigned i = 0; i < 3; i++) {
        drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_ERR, 5, &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), i);
    }
    world_run(p->w, NSEC_PER_SEC);
    assert_false(drv_cq_poll(p->b.rcq, &cqe));
    wire_filter(p->w->wire, NULL, NULL);
    pair_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_a_message_is_flushed),
        cmocka_unit_test(survives_loss),
        cmocka_unit_test(survives_heavy_loss),
        cmocka_unit_test(survives_duplicates),
        cmocka_unit_test(survives_overtaking),
        cmocka_unit_test(survives_corruption),
        cmocka_unit_test(survives_all_of_it),
        cmocka_unit_test(case_23_lost_atomic_answer_is_replayed),
        cmocka_unit_test(case_26_duplicate_read_is_answered_again),
        cmocka_unit_test(case_26_replayed_read_has_the_same_psns),
        cmocka_unit_test(lost_read_response_restarts_there),
        cmocka_unit_test(lost_packet_is_told_by_nak),
        cmocka_unit_test(silence_ends_after_the_retries),
        cmocka_unit_test(timeout_zero_waits_for_ever),
        cmocka_unit_test(case_22_rnr_retries_are_counted),
        cmocka_unit_test(case_22_rnr_retry_seven_is_for_ever),
        cmocka_unit_test(rnr_in_the_middle_of_a_stream),
        cmocka_unit_test(sixteen_pairs_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
