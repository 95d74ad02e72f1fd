/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UC: data, and messages that are dropped whole when a packet is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/wire.h"
#include "pair.h"

static const uint8_t data_ops[] = {
    MLX5_OPCODE_SEND, MLX5_OPCODE_SEND_IMM, MLX5_OPCODE_RDMA_WRITE,
    MLX5_OPCODE_RDMA_WRITE_IMM,
};

#define NUM_OPS (sizeof(data_ops) / sizeof(data_ops[0]))

static void every_operation_at_every_size(void **state)
{
    Pair *p = pair_new(DRV_QP_UC, &(DrvPath) {
        .mtu = 1, .sq_psn = 0xfffff0, .rq_psn = 0,
    });

    (void)state;
    for (uint32_t len = 0; len <= 2 * 256 + 1; len += 3) {
        for (size_t i = 0; i < NUM_OPS; i++) {
            pair_run(p, &(Msg) {
                .opcode = data_ops[i], .len = len, .off_a = 4093 + len,
                .off_b = 8191 - len, .seed = len * 8 + i,
            });
        }
    }
    pair_free(p);
}

static void own_device_without_the_wire(void **state)
{
    Pair *p = pair_new_loopback(DRV_QP_UC, NULL);

    (void)state;
    for (size_t i = 0; i < NUM_OPS; i++) {
        pair_run(p, &(Msg) { .opcode = data_ops[i], .len = 100001,
                             .off_a = 64, .off_b = 65, .seed = i });
    }
    assert_int_equal(wire_count(p->w->wire, 0)->sent, 0);
    pair_free(p);
}

/* Drops the packets whose turn it is, of those that leave end 0. */
typedef struct Turn {
    unsigned n, drop;
    bool ack_seen;
} Turn;

static WireFate drop_turn(void *arg, unsigned from, uint8_t *data, size_t len)
{
    Turn *t = arg;
    MocxPkt pkt;

    if (mocx_wire_parse(&pkt, data, len) != MOCX_PARSE_OK) {
        return WIRE_PASS;
    }
    t->ack_seen |= from == 1 || pkt.bth.ack_req;
    return from == 0 && t->n++ == t->drop ? WIRE_DROP : WIRE_PASS;
}

static void post_three_sends(Pair *p)
{
    for (unsigned i = 0; i < 3; i++) {
        drv_mr_fill(p->a.mr, i * 1000, 1000, i);
        drv_post(p->a.qp, &(DrvWr) {
            .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
            .sge = { sge_of(&p->a, i * 1000, 1000) },
        });
        post_recv_at(&p->b, 10000 + i * 1000, 1000);
    }
    drv_ring(p->a.qp);
}

/*
 * Whichever packet of the second message is lost, that message is gone, its
 * receive serves the third, and the sender is none the wiser.
 */
static void a_lost_packet_costs_its_message(void **state)
{
    (void)state;
    for (unsigned drop = 4; drop < 8; drop++) {
        Pair *p = pair_new(DRV_QP_UC, &(DrvPath) { .mtu = 1 });
        Turn t = { .drop = drop };
        struct mlx5_cqe64 cqe;

        wire_filter(p->w->wire, drop_turn, &t);
        post_three_sends(p);
        for (unsigned i = 0; i < 3; i++) {
            drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        }
        world_settle(p->w);
        for (unsigned i = 0; i < 2; i++) {
            assert_true(drv_cq_poll(p->b.rcq, &cqe));
            assert_int_equal(cqe_opcode(&cqe), MLX5_CQE_RESP_SEND);
            assert_int_equal(be16toh(cqe.wqe_counter), i);
        }
        assert_false(drv_cq_poll(p->b.rcq, &cqe));
        assert_int_equal(drv_mr_check(p->b.mr, 10000, 1000, 0), -1);
        assert_int_equal(drv_mr_check(p->b.mr, 11000, 1000, 2), -1);
        /* Case 35 */
        assert_false(t.ack_seen);
        wire_filter(p->w->wire, NULL, NULL);
        pair_free(p);
    }
}

static void no_receive_no_message(void **state)
{
    Pair *p = pair_new(DRV_QP_UC, &(DrvPath) { .mtu = 1 });
    struct mlx5_cqe64 cqe;

    (void)state;
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 1000) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    world_settle(p->w);
    assert_false(drv_cq_poll(p->b.rcq, &cqe));
    assert_false(side_in_error(&p->b));
    pair_run(p, &(Msg) { .opcode = MLX5_OPCODE_SEND, .len = 700, .off_a = 64,
                         .off_b = 64, .seed = 9 });
    pair_free(p);
}

/* A bad key costs the message and nothing else. */
static void bad_rkey_is_dropped(void **state)
{
    Pair *p = pair_new(DRV_QP_UC, &(DrvPath) { .mtu = 1 });
    struct mlx5_cqe64 cqe;

    (void)state;
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->b.mr->va,
        .rkey = p->b.mr->key ^ 1, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 1000) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    world_settle(p->w);
    assert_false(side_in_error(&p->b));
    pair_run(p, &(Msg) { .opcode = MLX5_OPCODE_RDMA_WRITE, .len = 700,
                         .off_a = 64, .off_b = 64, .seed = 9 });
    pair_free(p);
}

/* The send side alone stops; SQERR2RTS is left to the driver. */
static void local_error_stops_the_send_side(void **state)
{
    Pair *p = pair_new(DRV_QP_UC, NULL);
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)];
    DrvSge sge = sge_of(&p->a, 0, 100);
    struct mlx5_cqe64 cqe;

    (void)state;
    sge.lkey ^= 1;
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1, .sge = { sge },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 4, &cqe);
    assert_int_equal(drv_qp_query(p->a.qp, qpc), 4);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 1) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 5, &cqe);
    pair_free(p);
}

static void rdma_read_is_refused(void **state)
{
    Pair *p = pair_new(DRV_QP_UC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_READ, .raddr = p->b.mr->va,
        .rkey = p->b.mr->key, .num_sge = 1, .sge = { sge_of(&p->a, 0, 10) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 2, &cqe);
    assert_int_equal(cqe_vendor(&cqe), 0x68);
    pair_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_at_every_size),
        cmocka_unit_test(own_device_without_the_wire),
        cmocka_unit_test(a_lost_packet_costs_its_message),
        cmocka_unit_test(no_receive_no_message),
        cmocka_unit_test(bad_rkey_is_dropped),
        cmocka_unit_test(local_error_stops_the_send_side),
        cmocka_unit_test(rdma_read_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
