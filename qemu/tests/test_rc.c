/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RC without faults: every operation, sizes around the MTU, PSN wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/mem.h"
#include "core/wire.h"
#include "pair.h"

static const uint8_t data_ops[] = {
    MLX5_OPCODE_SEND, MLX5_OPCODE_SEND_IMM, MLX5_OPCODE_RDMA_WRITE,
    MLX5_OPCODE_RDMA_WRITE_IMM, MLX5_OPCODE_RDMA_READ,
};

#define NUM_OPS (sizeof(data_ops) / sizeof(data_ops[0]))

/* Odd addresses, and PSNs that wrap within the run. */
static void every_operation_at_every_size(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) {
        .mtu = 1, .sq_psn = 0xfffff0, .rq_psn = 0xfffff8,
    });

    (void)state;
    for (uint32_t len = 0; len <= 2 * 256 + 1; len++) {
        for (size_t i = 0; i < NUM_OPS; i++) {
            pair_run(p, &(Msg) {
                .opcode = data_ops[i], .len = len, .off_a = 4093 + len,
                .off_b = 8191 - len, .seed = len * 8 + i,
            });
        }
    }
    pair_free(p);
}

/* Messages of up to four packets and a byte, and a long one. */
static void case_37_messages_around_every_path_mtu(void **state)
{
    static const int around[] = { -1, 0, 1 };

    (void)state;
    for (unsigned mtu = 1; mtu <= 5; mtu++) {
        Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .mtu = mtu });

        for (size_t i = 0; i < NUM_OPS; i++) {
            for (unsigned n = 1; n < 5; n++) {
                for (unsigned k = 0; k < 3; k++) {
                    pair_run(p, &(Msg) {
                        .opcode = data_ops[i], .off_a = 8190, .off_b = 4095,
                        .len = n * (128u << mtu) + around[k], .seed = n + k,
                    });
                }
            }
            pair_run(p, &(Msg) {
                .opcode = data_ops[i], .off_a = 8190, .off_b = 4095,
                .len = 65537, .seed = mtu,
            });
        }
        pair_free(p);
    }
}

static void every_address_family_and_version(void **state)
{
    (void)state;
    for (unsigned gid = DRV_GID_V1_V6; gid <= DRV_GID_V2_V4; gid++) {
        Pair *p = pair_new(DRV_QP_RC, &(DrvPath) {
            .set_gid = true, .gid = gid,
        });

        for (size_t i = 0; i < NUM_OPS; i++) {
            pair_run(p, &(Msg) {
                .opcode = data_ops[i], .len = 5001, .off_a = 64, .off_b = 64,
                .seed = gid,
            });
        }
        pair_free(p);
    }
}

static void megabyte_messages(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .mtu = 5 });

    (void)state;
    for (size_t i = 0; i < NUM_OPS; i++) {
        pair_run(p, &(Msg) {
            .opcode = data_ops[i], .len = PAIR_MR_LEN - 8192, .off_a = 100,
            .off_b = 4099, .seed = i,
        });
    }
    pair_free(p);
}

static uint64_t word_at(DrvMr *mr, uint64_t off)
{
    uint64_t v;

    drv_mr_read(mr, off, &v, sizeof(v));
    return v;
}

static void put_word(DrvMr *mr, uint64_t off, uint64_t v)
{
    drv_mr_write(mr, off, &v, sizeof(v));
}

static uint64_t do_atomic(Pair *p, uint8_t opcode, uint64_t add, uint64_t cmp)
{
    struct mlx5_cqe64 cqe;

    pair_post(&p->a, &(DrvWr) {
        .opcode = opcode, .raddr = p->b.mr->va + 64, .rkey = p->b.mr->key,
        .swap_add = add, .compare = cmp, .num_sge = 1,
        .sge = { sge_of(&p->a, 24, 8) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(be32toh(cqe.byte_cnt), 8);
    return word_at(p->a.mr, 24);
}

static void atomics_return_the_old_value(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);

    (void)state;
    put_word(p->b.mr, 64, 0xfffffffffffffffe);
    assert_int_equal(do_atomic(p, MLX5_OPCODE_ATOMIC_FA, 5, 0),
                     0xfffffffffffffffe);
    assert_int_equal(word_at(p->b.mr, 64), 3);
    assert_int_equal(do_atomic(p, MLX5_OPCODE_ATOMIC_CS, 0x1122, 4), 3);
    assert_int_equal(word_at(p->b.mr, 64), 3);
    assert_int_equal(do_atomic(p, MLX5_OPCODE_ATOMIC_CS, 0x1122, 3), 3);
    assert_int_equal(word_at(p->b.mr, 64), 0x1122);
    pair_free(p);
}

static void scatter_gather_lists(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .mtu = 1 });
    struct mlx5_cqe64 cqe;
    uint8_t got[1000], want[1000];
    DrvSge recv[3] = {
        sge_of(&p->b, 4000, 301), sge_of(&p->b, 9001, 1),
        sge_of(&p->b, 12000, 698),
    };

    (void)state;
    drv_mr_fill(p->a.mr, 0, 20000, 42);
    drv_post_recv(p->b.qp, recv, 3);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 4,
        .sge = { sge_of(&p->a, 4090, 13), sge_of(&p->a, 1, 487),
                 sge_of(&p->a, 8191, 2), sge_of(&p->a, 10000, 498) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
    assert_int_equal(be32toh(cqe.byte_cnt), 1000);
    drv_mr_read(p->a.mr, 4090, want, 13);
    drv_mr_read(p->a.mr, 1, want + 13, 487);
    drv_mr_read(p->a.mr, 8191, want + 500, 2);
    drv_mr_read(p->a.mr, 10000, want + 502, 498);
    drv_mr_read(p->b.mr, 4000, got, 301);
    drv_mr_read(p->b.mr, 9001, got + 301, 1);
    drv_mr_read(p->b.mr, 12000, got + 302, 698);
    assert_memory_equal(got, want, 1000);
    pair_free(p);
}

static void inline_data_needs_no_key(void **state)
{
    static const uint32_t sizes[] = { 0, 1, 11, 12, 13, 44, 60, 61, 200, 800 };
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .mtu = 1 });
    uint8_t data[800], got[800];

    (void)state;
    for (unsigned i = 0; i < sizeof(data); i++) {
        data[i] = (uint8_t)(i * 7 + 1);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct mlx5_cqe64 cqe;

        pair_post(&p->a, &(DrvWr) {
            .opcode = MLX5_OPCODE_RDMA_WRITE, .inl = data, .inl_len = sizes[i],
            .raddr = p->b.mr->va + 5, .rkey = p->b.mr->key,
        });
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        drv_mr_read(p->b.mr, 5, got, sizes[i]);
        assert_memory_equal(got, data, sizes[i]);
    }
    pair_free(p);
}

/* Nobody looks at a key of nothing. */
static void case_44_empty_rdma_needs_no_valid_key(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = 1, .rkey = 0xdeadbeef,
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_READ, .raddr = 1, .rkey = 0xdeadbeef,
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    pair_free(p);
}

/* A signalled CQE retires all before it; only it is reported. */
static void unsignalled_work_has_no_cqe(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;
    uint16_t last = 0;

    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        last = drv_post(p->a.qp, &(DrvWr) {
            .opcode = MLX5_OPCODE_RDMA_WRITE, .unsignaled = i != 19,
            .raddr = p->b.mr->va, .rkey = p->b.mr->key, .num_sge = 1,
            .sge = { sge_of(&p->a, 0, 3000) },
        });
    }
    drv_ring(p->a.qp);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(be16toh(cqe.wqe_counter), last);
    world_settle(p->w);
    assert_false(drv_cq_poll(p->a.scq, &cqe));
    pair_free(p);
}

static void nop_completes_in_its_place(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;
    uint16_t index[3];

    (void)state;
    index[0] = drv_post(p->a.qp, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->b.mr->va,
        .rkey = p->b.mr->key, .num_sge = 1, .sge = { sge_of(&p->a, 0, 9000) },
    });
    index[1] = drv_post_raw(p->a.qp, MLX5_OPCODE_NOP, 8, 0, NULL, 0);
    index[2] = drv_post(p->a.qp, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->b.mr->va,
        .rkey = p->b.mr->key, .num_sge = 1, .sge = { sge_of(&p->a, 0, 10) },
    });
    drv_ring(p->a.qp);
    for (unsigned i = 0; i < 3; i++) {
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), index[i]);
    }
    pair_free(p);
}

/* The send ring is passed many times; WQEs of several blocks wrap its end. */
static void rings_wrap(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    uint8_t data[150];

    (void)state;
    memset(data, 0x5a, sizeof(data));
    for (unsigned i = 0; i < 3000; i++) {
        struct mlx5_cqe64 cqe;

        post_recv_at(&p->b, 0, 200);
        pair_post(&p->a, &(DrvWr) {
            .opcode = MLX5_OPCODE_SEND, .inl = data, .inl_len = 100 + i % 50,
        });
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), i);
    }
    pair_free(p);
}

static void solicited_is_told(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        post_recv_at(&p->b, 0, 4000);
        pair_post(&p->a, &(DrvWr) {
            .opcode = MLX5_OPCODE_SEND, .solicited = i & 1, .num_sge = 1,
            .sge = { sge_of(&p->a, 0, 3000) },
        });
        drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
        assert_int_equal(cqe.op_own >> 1 & 1, i & 1);
    }
    pair_free(p);
}

/* More READs than may be outstanding wait for their turn, in order. */
static void reads_keep_to_the_limit(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .log_rra = 1, .log_sra = 1 });
    struct mlx5_cqe64 cqe;
    uint16_t index[40];

    (void)state;
    drv_mr_fill(p->b.mr, 0, 400000, 1);
    for (unsigned i = 0; i < 40; i++) {
        index[i] = drv_post(p->a.qp, &(DrvWr) {
            .opcode = MLX5_OPCODE_RDMA_READ, .raddr = p->b.mr->va + i * 10000,
            .rkey = p->b.mr->key, .num_sge = 1,
            .sge = { sge_of(&p->a, i * 10000, 10000) },
        });
    }
    drv_ring(p->a.qp);
    for (unsigned i = 0; i < 40; i++) {
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), index[i]);
        assert_int_equal(be32toh(cqe.byte_cnt), 10000);
    }
    assert_int_equal(drv_mr_check(p->a.mr, 0, 400000, 1), -1);
    pair_free(p);
}

/* A fenced WRITE of what a READ brings sends what came. */
static void fence_waits_for_reads(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    drv_mr_fill(p->b.mr, 0, 50000, 77);
    drv_post(p->a.qp, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_READ, .raddr = p->b.mr->va, .unsignaled = 1,
        .rkey = p->b.mr->key, .num_sge = 1, .sge = { sge_of(&p->a, 0, 50000) },
    });
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->b.mr->va + 100000,
        .fence = 4, .rkey = p->b.mr->key, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 50000) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    world_settle(p->w);
    assert_int_equal(drv_mr_check(p->b.mr, 100000, 50000, 77), -1);
    pair_free(p);
}

/* A key of 2^31 bytes with nothing behind them: the null key, in one entry. */
static uint32_t key_of_nothing(Drv *d)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_mkey_in) + 16] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_mkey_out)];
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
    uint8_t *klm = in + DEVX_ST_SZ_BYTES(create_mkey_in);

    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(create_mkey_in, in, translations_octword_actual_size, 1);
    DEVX_SET(mkc, mkc, access_mode_1_0, 2);
    DEVX_SET(mkc, mkc, lr, 1);
    DEVX_SET(mkc, mkc, lw, 1);
    DEVX_SET(mkc, mkc, rr, 1);
    DEVX_SET(mkc, mkc, rw, 1);
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, pd, d->pdn);
    DEVX_SET64(mkc, mkc, len, 1ULL << 31);
    DEVX_SET(mkc, mkc, translations_octword_size, 1);
    mocx_put_be32(klm, 1u << 31);
    mocx_put_be32(klm + 4, MOCX_KEY_NULL);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(create_mkey_out, out, mkey_index) << 8;
}

static void key_gone(Drv *d, uint32_t key)
{
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, MLX5_CMD_OP_DESTROY_MKEY);
    mocx_put_be32(in + 8, key >> 8);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

static void limit_is_exact(unsigned log_msg_max, uint32_t len)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) {
        .mtu = 5, .log_msg_max = log_msg_max, .sq_psn = 0xfffff0,
    });
    uint32_t from = key_of_nothing(p->a.d), to = key_of_nothing(p->b.d);
    DrvWr wr = {
        .rkey = to, .num_sge = 1, .sge = { { .lkey = from, .len = len } },
    };
    struct mlx5_cqe64 cqe;

    for (unsigned i = 0; i < 2; i++) {
        wr.opcode = i ? MLX5_OPCODE_RDMA_READ : MLX5_OPCODE_RDMA_WRITE;
        pair_post(&p->a, &wr);
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        assert_int_equal(be32toh(cqe.byte_cnt), i ? 1u << log_msg_max : 0);
    }
    wr.num_sge = 2;
    wr.sge[1] = (DrvSge) { .lkey = from, .len = 1 };
    pair_post(&p->a, &wr);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 1, &cqe);
    key_gone(p->a.d, from);
    key_gone(p->b.d, to);
    pair_free(p);
}

/*
 * Case 10: 2^31 bytes, which a count of zero means, and not one more; the same
 * limit a thousand times smaller unless there is time.
 */
static void the_longest_message(void **state)
{
    const char *depth = getenv("DEPTH");

    (void)state;
    limit_is_exact(20, 1u << 20);
    if (depth && !strcmp(depth, "full")) {
        limit_is_exact(31, 0);
    }
}

/* Zero means 2^31, so it is too long for this QP. */
static void count_of_zero_is_the_longest(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->b.mr->va,
        .rkey = p->b.mr->key, .num_sge = 1,
        .sge = { { .addr = p->a.mr->va, .lkey = p->a.mr->key, .len = 0 } },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 1, &cqe);
    pair_free(p);
}

static void own_device_without_the_wire(void **state)
{
    Pair *p = pair_new_loopback(DRV_QP_RC, NULL);

    (void)state;
    for (size_t i = 0; i < NUM_OPS; i++) {
        pair_run(p, &(Msg) {
            .opcode = data_ops[i], .len = 500001, .off_a = 64, .off_b = 65,
            .seed = i,
        });
    }
    assert_int_equal(wire_count(p->w->wire, 0)->sent, 0);
    pair_free(p);
}

static void two_ways_at_once(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) { .sq_psn = 0xfffff0,
                                               .rq_psn = 0xfffff0 });
    struct mlx5_cqe64 cqe;

    (void)state;
    drv_mr_fill(p->a.mr, 0, 65536, 1);
    drv_mr_fill(p->b.mr, 0, 65536, 2);
    for (unsigned i = 0; i < 16; i++) {
        drv_post(p->a.qp, &(DrvWr) {
            .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->b.mr->va + 100000,
            .rkey = p->b.mr->key, .num_sge = 1,
            .sge = { sge_of(&p->a, 0, 65536) },
        });
        drv_post(p->b.qp, &(DrvWr) {
            .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->a.mr->va + 100000,
            .rkey = p->a.mr->key, .num_sge = 1,
            .sge = { sge_of(&p->b, 0, 65536) },
        });
    }
    drv_ring(p->a.qp);
    drv_ring(p->b.qp);
    for (unsigned i = 0; i < 16; i++) {
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
        drv_cq_expect(p->b.scq, MLX5_CQE_REQ, 0, &cqe);
    }
    world_settle(p->w);
    assert_int_equal(drv_mr_check(p->b.mr, 100000, 65536, 1), -1);
    assert_int_equal(drv_mr_check(p->a.mr, 100000, 65536, 2), -1);
    pair_free(p);
}

static WireFate count_naks(void *arg, unsigned from, uint8_t *data, size_t len)
{
    unsigned *count = arg;
    MocxPkt pkt;

    (void)from;
    if (mocx_wire_parse(&pkt, data, len) == MOCX_PARSE_OK &&
        pkt.op.op == MOCX_PKT_ACK && pkt.bth.syndrome >> 5) {
        ++*count;
    }
    return WIRE_PASS;
}

/* 4 KiB by WRITE and by SEND from one side to the other. */
static void post_both(Side *from, Side *to, unsigned n)
{
    post_recv_at(to, 300000 + n * 4096, 4096);
    drv_post(from->qp, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = to->mr->va + 200000,
        .rkey = to->mr->key, .num_sge = 1, .sge = { sge_of(from, 0, 4096) },
    });
    drv_post(from->qp, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(from, n * 4096, 4096) },
    });
}

/* What comes in order is never refused, though the PSNs wrap meanwhile. */
static void case_27_no_nak_at_the_psn_wrap(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, &(DrvPath) {
        .mtu = 3, .sq_psn = 0xfffff0, .rq_psn = 0xfffff0,
    });
    Side *sides[] = { &p->a, &p->b };
    struct mlx5_cqe64 cqe;
    unsigned naks = 0;

    (void)state;
    wire_filter(p->w->wire, count_naks, &naks);
    for (unsigned s = 0; s < 2; s++) {
        drv_mr_fill(sides[s]->mr, 0, 16 * 4096, s);
        for (unsigned n = 0; n < 16; n++) {
            post_both(sides[s], sides[!s], n);
        }
    }
    drv_ring(p->a.qp);
    drv_ring(p->b.qp);
    for (unsigned s = 0; s < 2; s++) {
        for (unsigned n = 0; n < 16; n++) {
            drv_cq_expect(sides[s]->scq, MLX5_CQE_REQ, 0, &cqe);
            drv_cq_expect(sides[s]->scq, MLX5_CQE_REQ, 0, &cqe);
            drv_cq_expect(sides[s]->rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
        }
        assert_int_equal(drv_mr_check(sides[s]->mr, 300000, 16 * 4096, !s),
                         -1);
    }
    assert_int_equal(naks, 0);
    wire_filter(p->w->wire, NULL, NULL);
    pair_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_at_every_size),
        cmocka_unit_test(case_37_messages_around_every_path_mtu),
        cmocka_unit_test(every_address_family_and_version),
        cmocka_unit_test(megabyte_messages),
        cmocka_unit_test(atomics_return_the_old_value),
        cmocka_unit_test(scatter_gather_lists),
        cmocka_unit_test(inline_data_needs_no_key),
        cmocka_unit_test(case_44_empty_rdma_needs_no_valid_key),
        cmocka_unit_test(unsignalled_work_has_no_cqe),
        cmocka_unit_test(nop_completes_in_its_place),
        cmocka_unit_test(rings_wrap),
        cmocka_unit_test(solicited_is_told),
        cmocka_unit_test(reads_keep_to_the_limit),
        cmocka_unit_test(fence_waits_for_reads),
        cmocka_unit_test(the_longest_message),
        cmocka_unit_test(count_of_zero_is_the_longest),
        cmocka_unit_test(own_device_without_the_wire),
        cmocka_unit_test(two_ways_at_once),
        cmocka_unit_test(case_27_no_nak_at_the_psn_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
