/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Send queues: what goes out on the wire, and what completes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/eq.h"
#include "core/sq.h"
#include "drveth.h"
#include "ethframe.h"

#define SENT_MAX        2048
#define BUF_SIZE        (2U << 20)
#define CS_L3           0x40
#define CS_L4           0x80
#define FLUSHED         MLX5_CQE_SYNDROME_WR_FLUSH_ERR

typedef struct Fixture {
    World *w;
    Drv *d;
    DrvCq *cq;
    DrvSq *sq;
    uint64_t buf;               /* payload, in guest memory */
    unsigned num_sent;
    EthFrame *sent;
} Fixture;

/* The other end of the wire: keeps what comes, delivers nothing. */
static WireFate keep(void *arg, unsigned from, uint8_t *data, size_t len)
{
    Fixture *f = arg;

    CHECK(f->num_sent < SENT_MAX, "too many frames");
    memcpy(f->sent[f->num_sent].b, data, len);
    f->sent[f->num_sent].len = len;
    f->num_sent++;
    return WIRE_DROP;
}

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->w = world_new(1, NULL);
    f->sent = malloc(SENT_MAX * sizeof(*f->sent));
    wire_filter(f->w->wire, keep, f);
    f->d = drv_new(f->w->host[0]);
    drv_bring_up(f->d);
    drv_net_up(f->d);
    world_settle(f->w);
    f->num_sent = 0;
    f->cq = drv_cq_new(f->d, 7);
    f->sq = drv_sq_new(f->d, f->cq, 6);
    f->buf = gpa_alloc(f->d->h, BUF_SIZE, 4096);
    for (unsigned i = 0; i < BUF_SIZE; i++) {
        ((uint8_t *)gpa_ptr(f->d->h, f->buf))[i] = i * 13 + (i >> 8);
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;

    drv_sq_free(f->sq);
    drv_cq_free(f->cq);
    drv_tear_down(f->d);
    drv_free(f->d);
    world_free(f->w);
    free(f->sent);
    free(f);
    return 0;
}

static DrvSge at(Fixture *f, uint64_t off, uint32_t len)
{
    return (DrvSge){ .addr = f->buf + off, .lkey = f->d->lkey, .len = len };
}

static uint8_t *mem(Fixture *f, uint64_t off)
{
    return (uint8_t *)gpa_ptr(f->d->h, f->buf) + off;
}

/* Post, ring, and expect a success for it. */
static void send_ok(Fixture *f, const DrvEthWr *wr)
{
    struct mlx5_cqe64 cqe;
    uint16_t index = drv_sq_post(f->sq, wr);

    drv_sq_ring(f->sq);
    drv_cq_expect(f->cq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(be16toh(cqe.wqe_counter), index);
    assert_int_equal(be32toh(cqe.sop_drop_qpn),
                     (uint32_t)wr->opcode << 24 | f->sq->sqn);
    world_settle(f->w);
}

static void send_error(Fixture *f, unsigned syndrome)
{
    struct mlx5_cqe64 cqe;

    drv_sq_ring(f->sq);
    drv_cq_expect(f->cq, MLX5_CQE_REQ_ERR, syndrome, &cqe);
    assert_int_equal(drv_sq_state(f->sq), MLX5_SQC_STATE_ERR);
}

static void frame_goes_out_as_it_is_in_memory(void **state)
{
    static const unsigned lens[] = { 14, 59, 60, 61, 1514, 9014 };
    Fixture *f = *state;

    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        unsigned len = lens[i], out = len < 60 ? 60 : len;

        f->num_sent = 0;
        send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
                                .sge = { at(f, 3, len) } });
        assert_int_equal(f->num_sent, 1);
        assert_int_equal(f->sent[0].len, out);
        assert_memory_equal(f->sent[0].b, mem(f, 3), len);
        for (unsigned k = len; k < out; k++) {
            assert_int_equal(f->sent[0].b[k], 0);
        }
    }
}

static void pieces_are_put_together(void **state)
{
    Fixture *f = *state;
    uint8_t want[2000], hdr[18];
    size_t n = 0;

    for (unsigned i = 0; i < sizeof(hdr); i++) {
        hdr[i] = 0xa0 + i;
    }
    memcpy(want, hdr, 18);
    n = 18;
    memcpy(want + n, "inline data", 11);
    n += 11;
    memcpy(want + n, mem(f, 4090), 100);        /* over a page's edge */
    n += 100;
    memcpy(want + n, mem(f, 7), 1);
    n += 1;
    memcpy(want + n, mem(f, 9000), 1000);
    n += 1000;
    send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND,
                            .hdr = hdr, .hdr_len = 18,
                            .inl = "inline data", .inl_len = 11, .num_sge = 4,
                            .sge = { at(f, 4090, 100), at(f, 7, 1),
                                     at(f, 0, 0), at(f, 9000, 1000) } });
    assert_int_equal(f->sent[0].len, n);
    assert_memory_equal(f->sent[0].b, want, n);
}

static void checksums_are_filled_in_where_asked(void **state)
{
    Fixture *f = *state;

    for (unsigned i = 0; i < 64; i++) {
        EthSpec spec = { .ipv6 = i & 1, .proto = i & 2 ? 17 : 6,
                         .num_tags = i >> 2 & 1, .tag = { 0x81000005 },
                         .payload = 100 + (i >> 3) * 181 };
        EthFrame orig, *got = &f->sent[0];

        eth_build(&orig, &spec);
        memcpy(mem(f, 0), orig.b, orig.len);
        if (!spec.ipv6) {
            mocx_put_be16(mem(f, orig.l3 + 10), 0xdead);
        }
        mocx_put_be16(mem(f, orig.l4 + (spec.proto == 17 ? 6 : 16)), 0xbeef);
        f->num_sent = 0;
        send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
                                .cs_flags = CS_L3 | CS_L4,
                                .sge = { at(f, 0, orig.len) } });
        assert_true(eth_find(got));
        assert_true(eth_csums_ok(got));
        assert_memory_equal(got->b, orig.b, orig.len);

        f->num_sent = 0;
        send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
                                .sge = { at(f, 0, orig.len) } });
        assert_memory_equal(got->b, mem(f, 0), orig.len);
    }
}

static void udp_checksum_that_comes_to_zero_is_sent_as_ffff(void **state)
{
    Fixture *f = *state;
    EthFrame orig;
    uint16_t sum;

    eth_build(&orig, &(EthSpec){ .proto = 17, .payload = 10 });
    /* Put the complement of the sum into the payload. */
    sum = mocx_get_be16(orig.b + orig.l4 + 6);
    mocx_put_be16(orig.b + orig.data, 0);
    mocx_put_be16(orig.b + orig.l4 + 6, 0);
    for (sum = 0; ; sum++) {
        uint32_t s = 17 + 18;

        mocx_put_be16(orig.b + orig.data, sum);
        s = eth_sum(orig.b + orig.l3 + 12, 8, s);
        if (eth_sum(orig.b + orig.l4, 18, s) == 0xffff) {
            break;
        }
        assert_int_not_equal(sum, 0xffff);
    }
    memcpy(mem(f, 0), orig.b, orig.len);
    send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
                            .cs_flags = CS_L4, .sge = { at(f, 0, orig.len) } });
    assert_int_equal(mocx_get_be16(f->sent[0].b + orig.l4 + 6), 0xffff);
}

static void tag_is_inserted_behind_the_addresses(void **state)
{
    Fixture *f = *state;
    static const uint32_t tags[] = { 0x8100e123, 0x88a80456 };
    EthFrame orig;

    eth_build(&orig, &(EthSpec){ .payload = 300 });
    memcpy(mem(f, 0), orig.b, orig.len);
    mocx_put_be16(mem(f, orig.l4 + 16), 0);
    for (unsigned i = 0; i < 2; i++) {
        f->num_sent = 0;
        send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 2,
                                .tag = tags[i], .cs_flags = CS_L3 | CS_L4,
                                .sge = { at(f, 0, 5),
                                         at(f, 5, orig.len - 5) } });
        assert_int_equal(f->sent[0].len, orig.len + 4);
        assert_memory_equal(f->sent[0].b, orig.b, 12);
        assert_int_equal(mocx_get_be32(f->sent[0].b + 12), tags[i]);
        assert_memory_equal(f->sent[0].b + 16, orig.b + 12, orig.len - 12);
    }
}

/* Large sends */

typedef struct Lso {
    EthSpec spec;
    unsigned mss;
    unsigned len;
} Lso;

static void check_tcp(const EthFrame *got, const EthFrame *orig, unsigned off,
                      bool last)
{
    uint8_t flags = orig->b[orig->l4 + 13];

    if (off) {
        flags &= ~0x80;
    }
    if (!last) {
        flags &= ~0x09;
    }
    assert_int_equal(mocx_get_be32(got->b + got->l4 + 4),
                     (uint32_t)(mocx_get_be32(orig->b + orig->l4 + 4) + off));
    assert_int_equal(got->b[got->l4 + 13], flags);
}

/* Every frame is whole, right, and where it belongs; together they are all. */
static void check_lso(Fixture *f, const EthFrame *orig, const Lso *lso)
{
    unsigned off = 0, i;

    for (i = 0; i < f->num_sent; i++) {
        EthFrame *got = &f->sent[i];
        unsigned left = lso->len - off;
        unsigned want = left < lso->mss ? left : lso->mss;

        assert_true(eth_find(got));
        assert_int_equal(got->l4, orig->l4);
        assert_int_equal(got->data, orig->data);
        assert_true(eth_csums_ok(got));
        assert_int_equal(got->len < 61 ? want : got->len - got->data, want);
        assert_memory_equal(got->b + got->data, mem(f, off), want);
        assert_memory_equal(got->b, orig->b, orig->l3);
        if (lso->spec.proto == 17) {
            assert_int_equal(mocx_get_be16(got->b + got->l4 + 4), want + 8);
        } else {
            check_tcp(got, orig, off, off + want == lso->len);
        }
        if (!lso->spec.ipv6) {
            assert_int_equal(mocx_get_be16(got->b + got->l3 + 4), 0x1234 + i);
        }
        off += want;
    }
    assert_int_equal(off, lso->len);
}

static void run_lso(Fixture *f, const Lso *lso)
{
    EthFrame orig;
    DrvEthWr wr = { .opcode = MLX5_OPCODE_TSO, .mss = lso->mss,
                    .cs_flags = CS_L3 | CS_L4, .num_sge = 3 };

    eth_build(&orig, &lso->spec);
    /* As the kernel leaves it when the whole is too large for the field. */
    mocx_put_be16(orig.b + orig.l3 + (lso->spec.ipv6 ? 4 : 2), 0);
    wr.hdr = orig.b;
    wr.hdr_len = orig.data;
    wr.sge[0] = at(f, 0, lso->len / 3);
    wr.sge[1] = at(f, lso->len / 3, lso->len / 5);
    wr.sge[2] = at(f, lso->len / 3 + lso->len / 5,
                   lso->len - lso->len / 3 - lso->len / 5);
    f->num_sent = 0;
    send_ok(f, &wr);
    check_lso(f, &orig, lso);
}

static void large_send_is_cut_into_right_frames(void **state)
{
    static const unsigned mss[] = { 536, 1448, 8948 };
    static const unsigned len[] = { 1, 535, 536, 537, 1448, 14480, 65000 };
    Fixture *f = *state;

    for (unsigned i = 0; i < 12; i++) {
        for (unsigned k = 0; k < 7; k++) {
            Lso lso = { .spec = { .ipv6 = i & 1, .proto = i & 2 ? 17 : 6,
                                  .tcp_flags = 0x99, .num_tags = k & 1,
                                  .tag = { 0x81000007 } },
                        .mss = mss[i / 4], .len = len[k] };

            run_lso(f, &lso);
        }
    }
}

static void larger_than_64_kib_is_no_matter(void **state)
{
    run_lso(*state, &(Lso){ .spec = { .ipv6 = true }, .mss = 1428,
                            .len = 500000 });
}

static void large_send_waits_for_room_and_lets_others_through(void **state)
{
    Fixture *f = *state;
    DrvSq *other = drv_sq_new(f->d, f->cq, 6);
    EthFrame hdr;
    struct mlx5_cqe64 cqe;

    eth_build(&hdr, &(EthSpec){ .payload = 0 });
    drv_sq_post(f->sq, &(DrvEthWr){ .opcode = MLX5_OPCODE_TSO, .mss = 500,
                                    .hdr = hdr.b, .hdr_len = hdr.data,
                                    .num_sge = 1,
                                    .sge = { at(f, 0, 250000) } });
    drv_sq_post(other, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
                                    .sge = { at(f, 0, 100) } });
    wire_set_room(f->w->wire, 3);
    drv_sq_ring(f->sq);
    drv_sq_ring(other);
    drv_cq_expect(f->cq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(cqe_qpn(&cqe), other->sqn);
    drv_cq_expect(f->cq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(cqe_qpn(&cqe), f->sq->sqn);
    world_settle(f->w);
    assert_int_equal(f->num_sent, 501);
    drv_sq_free(other);
}

/* Completions */

static void only_signalled_wqes_complete_and_nops_do_too(void **state)
{
    Fixture *f = *state;
    DrvEthWr quiet = { .opcode = MLX5_OPCODE_SEND, .unsignaled = true,
                       .num_sge = 1, .sge = { at(f, 0, 100) } };
    struct mlx5_cqe64 cqe;
    uint16_t index;

    for (unsigned i = 0; i < 5; i++) {
        drv_sq_post(f->sq, &quiet);
    }
    index = drv_sq_post(f->sq, &(DrvEthWr){ .opcode = MLX5_OPCODE_NOP });
    drv_sq_ring(f->sq);
    drv_cq_expect(f->cq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(be16toh(cqe.wqe_counter), index);
    world_settle(f->w);
    assert_int_equal(f->num_sent, 5);
    assert_false(drv_cq_poll(f->cq, &cqe));
}

static void ring_and_index_wrap(void **state)
{
    Fixture *f = *state;

    /* 3 blocks each in a ring of 64: every WQE place, and the 16-bit index. */
    for (unsigned i = 0; i < 23000; i++) {
        f->num_sent = 0;
        send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 8,
                                .sge = { at(f, i % 1000, 60), at(f, 1, 1),
                                         at(f, 2, 1), at(f, 3, 1), at(f, 4, 1),
                                         at(f, 5, 1), at(f, 6, 1),
                                         at(f, 7, 1) } });
        assert_int_equal(f->num_sent, 1);
        assert_memory_equal(f->sent[0].b, mem(f, i % 1000), 60);
        assert_memory_equal(f->sent[0].b + 60, mem(f, 1), 7);
    }
}

/* Errors */

static void bad_lkey_is_a_protection_error_and_the_rest_is_flushed(void **state)
{
    Fixture *f = *state;
    DrvSge bad = at(f, 0, 100);
    struct mlx5_cqe64 cqe;
    uint16_t index[4];

    bad.lkey ^= 0x100;
    drv_sq_post(f->sq, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
                                    .unsignaled = true, .sge = { bad } });
    for (unsigned i = 0; i < 4; i++) {
        index[i] = drv_sq_post(f->sq, &(DrvEthWr){
            .opcode = MLX5_OPCODE_SEND, .unsignaled = i & 1, .num_sge = 4,
            .sge = { at(f, 0, 60), at(f, 0, 60), at(f, 0, 60), at(f, 0, 60) },
        });
    }
    send_error(f, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
    for (unsigned i = 0; i < 4; i++) {
        drv_cq_expect(f->cq, MLX5_CQE_REQ_ERR, FLUSHED, &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), index[i]);
    }
    world_settle(f->w);
    assert_int_equal(f->num_sent, 0);

    /* What is posted later is flushed as well. */
    drv_sq_post(f->sq, &(DrvEthWr){ .opcode = MLX5_OPCODE_NOP });
    drv_sq_ring(f->sq);
    drv_cq_expect(f->cq, MLX5_CQE_REQ_ERR, FLUSHED, &cqe);

    /* And the way back is the driver's: ERR, RST, RDY. */
    assert_int_equal(drv_sq_modify(f->sq, MLX5_SQC_STATE_ERR,
                                   MLX5_SQC_STATE_RST), 0);
    assert_int_equal(drv_sq_modify(f->sq, MLX5_SQC_STATE_RST,
                                   MLX5_SQC_STATE_RDY), 0);
    send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
                            .sge = { at(f, 0, 100) } });
    assert_int_equal(f->num_sent, 1);
}

typedef struct BadWqe {
    const char *what;
    unsigned syndrome;
    uint32_t opcode;
    uint32_t ds;
    uint32_t eth[4];        /* Ethernet segment */
    uint32_t seg[4];        /* a data segment */
} BadWqe;

static void malformed_wqes_complete_in_error(void **state)
{
    enum { OP = MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR,
           LEN = MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR };
    static const BadWqe bad[] = {
        { "unknown opcode", OP, 0x77, 4 },
        { "RDMA write", OP, MLX5_OPCODE_RDMA_WRITE, 4 },
        { "UMR", OP, MLX5_OPCODE_UMR, 4 },
        { "size 0", OP, MLX5_OPCODE_SEND, 0 },
        { "more than is posted", OP, MLX5_OPCODE_SEND, 5 },
        { "no Ethernet segment", OP, MLX5_OPCODE_SEND, 1 },
        { "no data", LEN, MLX5_OPCODE_SEND, 2 },
        { "inline header too long", OP, MLX5_OPCODE_SEND, 4,
          { 0, 0, 0, 0x03ff0000 } },
        { "inline data too long", OP, MLX5_OPCODE_SEND, 4,
          { 0 }, { 0x80000000 | 29 } },
        { "inline data far too long", OP, MLX5_OPCODE_SEND, 4,
          { 0 }, { 0xffffffff } },
        { "13 bytes", LEN, MLX5_OPCODE_SEND, 3, { 0 }, { 13, 0, 1, 0 } },
        { "longer than a frame", LEN, MLX5_OPCODE_SEND, 3,
          { 0 }, { 10237, 0, 1, 0 } },
        { "2 GiB", LEN, MLX5_OPCODE_SEND, 3, { 0 }, { 0x7fffffff, 0, 1, 0 } },
        { "send with an mss", OP, MLX5_OPCODE_SEND, 3,
          { 0, 1000 }, { 100, 0, 1, 0 } },
        { "large send without an mss", OP, MLX5_OPCODE_TSO, 3,
          { 0 }, { 100, 0, 1, 0 } },
        { "large send without headers", OP, MLX5_OPCODE_TSO, 3,
          { 0, 1000 }, { 100, 0, 1, 0 } },
        { "large send of no IP", OP, MLX5_OPCODE_TSO, 4,
          { 0, 1000, 0, 0x00100000 }, { 0 } },
    };
    Fixture *f = *state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint8_t wqe[64] = { 0 };

        mocx_put_be32(wqe, bad[i].opcode);
        mocx_put_be32(wqe + 4, bad[i].ds);
        for (unsigned k = 0; k < 4; k++) {
            mocx_put_be32(wqe + 16 + k * 4, bad[i].eth[k]);
            mocx_put_be32(wqe + 32 + k * 4, bad[i].seg[k]);
        }
        print_message("# %s\n", bad[i].what);
        drv_sq_post_raw(f->sq, wqe, sizeof(wqe));
        send_error(f, bad[i].syndrome);
        drv_sq_modify(f->sq, MLX5_SQC_STATE_ERR, MLX5_SQC_STATE_RST);
        drv_sq_modify(f->sq, MLX5_SQC_STATE_RST, MLX5_SQC_STATE_RDY);
    }
    world_settle(f->w);
    assert_int_equal(f->num_sent, 0);
}

static void large_send_longer_than_any_is_refused_at_once(void **state)
{
    Fixture *f = *state;
    EthFrame hdr;
    DrvEthWr wr = { .opcode = MLX5_OPCODE_TSO, .mss = 1, .num_sge = 1 };

    eth_build(&hdr, &(EthSpec){ .payload = 0 });
    wr.hdr = hdr.b;
    wr.hdr_len = hdr.data;
    wr.sge[0] = at(f, 0, 0x7fffffff);
    drv_sq_post(f->sq, &wr);
    send_error(f, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
    world_settle(f->w);
    assert_int_equal(f->num_sent, 0);
}

static void random_wqes_never_hang_or_crash(void **state)
{
    static const uint8_t ops[] = { 0, MLX5_OPCODE_SEND, MLX5_OPCODE_TSO,
                                   MLX5_OPCODE_SEND };
    Fixture *f = *state;
    const MocxSq *model = mocx_sq_find(f->d->h->dev, f->sq->sqn);
    unsigned errors = 0, frames = 0;
    struct mlx5_cqe64 cqe;
    uint64_t seed = 99;
    bool failed;

    f->d->h->breaks = true;
    for (unsigned round = 0; round < 3000; round++) {
        uint8_t wqe[256];
        EthFrame hdr;

        eth_build(&hdr, &(EthSpec){ .ipv6 = round & 1, .payload = 40 });
        for (unsigned i = 0; i < sizeof(wqe); i++) {
            wqe[i] = rng_next(&seed) % 4 ? 0 : rng_next(&seed);
        }
        mocx_put_be32(wqe, ops[rng_next(&seed) % 4]);
        mocx_put_be32(wqe + 4, rng_next(&seed) % 17);
        mocx_put_be16(wqe + 16 + 12, rng_next(&seed) % 120);
        memcpy(wqe + 30, hdr.b, rng_next(&seed) % 100);
        if (round & 2) {        /* a header, then a segment: may be right */
            memset(wqe + 16, 0, 12);
            mocx_put_be32(wqe + 4, 7);
            mocx_put_be16(wqe + 22, wqe[3] == MLX5_OPCODE_TSO ? 100 : 0);
            mocx_put_be16(wqe + 16 + 12, 51 + rng_next(&seed) % 16);
            memcpy(wqe + 30, hdr.b, 66);
            memcpy(wqe + 96, &(uint32_t){ htobe32(rng_next(&seed) % 3000) }, 4);
            memcpy(wqe + 100, &(uint32_t){ htobe32(f->d->lkey) }, 4);
            memcpy(wqe + 104, &(uint64_t){ htobe64(f->buf) }, 8);
        }
        drv_sq_post_raw(f->sq, wqe, sizeof(wqe));
        drv_sq_ring(f->sq);
        f->num_sent = 0;
        world_settle(f->w);
        for (unsigned i = 0; i < f->num_sent; i++) {
            assert_in_range(f->sent[i].len, 60, MOCX_FRAME_MAX);
        }
        failed = false;
        while (drv_cq_poll(f->cq, &cqe)) {
            failed |= cqe_opcode(&cqe) == MLX5_CQE_REQ_ERR;
        }
        /* Nothing is left behind, and an error alone ends the queue. */
        assert_int_equal(drv_sq_state(f->sq), failed ? MLX5_SQC_STATE_ERR
                                                     : MLX5_SQC_STATE_RDY);
        assert_int_equal(model->ci, f->sq->pi);
        errors += failed;
        frames += f->num_sent;
        if (failed) {
            drv_sq_modify(f->sq, MLX5_SQC_STATE_ERR, MLX5_SQC_STATE_RST);
            drv_sq_modify(f->sq, MLX5_SQC_STATE_RST, MLX5_SQC_STATE_RDY);
        }
    }
    CHECK(errors > 500 && frames > 1000, "%u errors, %u frames", errors,
          frames);
    send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
                            .sge = { at(f, 0, 100) } });
    assert_int_equal(f->num_sent, 1);
    assert_memory_equal(f->sent[0].b, mem(f, 0), 100);
}

static void doorbell_record_gone_mad_is_ignored(void **state)
{
    Fixture *f = *state;
    uint16_t pi = f->sq->pi;

    f->d->h->breaks = true;
    drv_sq_post(f->sq, &(DrvEthWr){ .opcode = MLX5_OPCODE_NOP });
    f->sq->pi += 1000;
    drv_sq_ring(f->sq);
    world_settle(f->w);
    assert_int_equal(drv_sq_state(f->sq), MLX5_SQC_STATE_RDY);
    assert_int_equal(f->num_sent, 0);
    f->sq->pi = pi;
    send_ok(f, &(DrvEthWr){ .opcode = MLX5_OPCODE_NOP });
}

static void full_cq_stops_the_queue_with_an_event(void **state)
{
    Fixture *f = *state;
    DrvCq *small = drv_cq_new(f->d, 1);
    DrvSq *sq = drv_sq_new(f->d, small, 6);
    uint8_t eqe[64];

    f->d->h->breaks = true;
    for (unsigned i = 0; i < 5; i++) {
        drv_sq_post(sq, &(DrvEthWr){ .opcode = MLX5_OPCODE_NOP });
    }
    drv_sq_ring(sq);
    world_settle(f->w);
    assert_int_equal(drv_sq_state(sq), MLX5_SQC_STATE_ERR);
    assert_true(drv_event_find(f->d, MOCX_EV_QP_FATAL, eqe));
    assert_int_equal(eqe[0x20 + 0x14], 2);
    assert_int_equal(mocx_get_be32(eqe + 0x20 + 0x18) & 0xffffff, sq->sqn);
    drv_sq_free(sq);
    drv_cq_free(small);
}

static void queue_in_reset_sends_nothing(void **state)
{
    Fixture *f = *state;
    struct mlx5_cqe64 cqe;

    drv_sq_modify(f->sq, MLX5_SQC_STATE_RDY, MLX5_SQC_STATE_RST);
    drv_sq_post(f->sq, &(DrvEthWr){ .opcode = MLX5_OPCODE_NOP });
    drv_sq_ring(f->sq);
    world_settle(f->w);
    assert_false(drv_cq_poll(f->cq, &cqe));
    /* A transition from a state it is not in is refused. */
    assert_int_not_equal(drv_sq_modify(f->sq, MLX5_SQC_STATE_RDY,
                                       MLX5_SQC_STATE_RDY), 0);
    assert_int_not_equal(drv_sq_modify(f->sq, MLX5_SQC_STATE_RST,
                                       MLX5_SQC_STATE_ERR), 0);
}

static void queue_destroyed_in_a_large_send_leaves_nothing(void **state)
{
    Fixture *f = *state;
    DrvSq *sq = drv_sq_new(f->d, f->cq, 6);
    EthFrame hdr;

    eth_build(&hdr, &(EthSpec){ .payload = 0 });
    drv_sq_post(sq, &(DrvEthWr){ .opcode = MLX5_OPCODE_TSO, .mss = 100,
                                 .hdr = hdr.b, .hdr_len = hdr.data,
                                 .num_sge = 1, .sge = { at(f, 0, 100000) } });
    wire_set_room(f->w->wire, 1);
    drv_sq_ring(sq);
    drv_sq_free(sq);
    world_settle(f->w);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(frame_goes_out_as_it_is_in_memory),
        T(pieces_are_put_together),
        T(checksums_are_filled_in_where_asked),
        T(udp_checksum_that_comes_to_zero_is_sent_as_ffff),
        T(tag_is_inserted_behind_the_addresses),
        T(large_send_is_cut_into_right_frames),
        T(larger_than_64_kib_is_no_matter),
        T(large_send_waits_for_room_and_lets_others_through),
        T(only_signalled_wqes_complete_and_nops_do_too),
        T(ring_and_index_wrap),
        T(bad_lkey_is_a_protection_error_and_the_rest_is_flushed),
        T(malformed_wqes_complete_in_error),
        T(large_send_longer_than_any_is_refused_at_once),
        T(random_wqes_never_hang_or_crash),
        T(doorbell_record_gone_mad_is_ignored),
        T(full_cq_stops_the_queue_with_an_event),
        T(queue_in_reset_sends_nothing),
        T(queue_destroyed_in_a_large_send_leaves_nothing),
    };

    return cmocka_run_group_tests_name("eth_tx", tests, NULL, NULL);
}
