/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receive: scatter, completions, checksums, RSS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/eq.h"
#include "core/toeplitz.h"
#include "drveth.h"
#include "ethframe.h"

#define RX_BUF          9600U
#define L3_OK           2
#define L4_OK           4

typedef struct Fixture {
    World *w;
    Drv *d;
    DrvCq *cq;
    DrvRq *rq;
    uint32_t tirn;
    uint64_t buf;               /* of the newest WQE */
} Fixture;

static void open_device(Fixture *f)
{
    f->w = world_new(1, NULL);
    f->d = drv_new(f->w->host[0]);
    drv_bring_up(f->d);
    drv_net_up(f->d);
    f->cq = drv_cq_new(f->d, 7);
    f->buf = gpa_alloc(f->d->h, RX_BUF, 4096);
}

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    open_device(f);
    f->rq = drv_rq_new(f->d, f->cq, NULL);
    f->tirn = drv_tir_direct(f->d, f->rq->rqn);
    drv_steer_all(f->d, f->tirn);
    *state = f;
    return 0;
}

/* Without a queue and without steering. */
static int setup_bare(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    open_device(f);
    *state = f;
    return 0;
}

/* What a test leaves goes with the device, as when a driver crashes. */
static int teardown(void **state)
{
    Fixture *f = *state;

    free(f->rq);
    drv_cq_forget(f->cq);
    drv_free(f->d);
    world_free(f->w);
    free(f);
    return 0;
}

static void arrive(Fixture *f, const void *data, size_t len)
{
    wire_inject_frame(f->w->wire, 0, f->w->now, data, len);
    world_settle(f->w);
}

static void post(Fixture *f, uint32_t len)
{
    drv_rq_post(f->rq, &(DrvSge){ f->buf, f->d->lkey, len }, 1);
}

static uint8_t *mem(Fixture *f)
{
    return gpa_ptr(f->d->h, f->buf);
}

/* One frame in, one success out. */
static struct mlx5_cqe64 receive(Fixture *f, const EthFrame *frame)
{
    struct mlx5_cqe64 cqe;

    memset(mem(f), 0xee, RX_BUF);
    post(f, RX_BUF);
    arrive(f, frame->b, frame->len);
    drv_cq_expect(f->cq, MLX5_CQE_RESP_SEND, 0, &cqe);
    return cqe;
}

static unsigned ok_bits(const struct mlx5_cqe64 *cqe)
{
    return cqe->hds_ip_ext & (L3_OK | L4_OK);
}

static uint16_t check_sum(const struct mlx5_cqe64 *cqe)
{
    return mocx_get_be16((const uint8_t *)cqe + 0x14);
}

static uint32_t rss_hash(const struct mlx5_cqe64 *cqe)
{
    return mocx_get_be32((const uint8_t *)cqe + 0x0c);
}

static uint8_t rss_type(const struct mlx5_cqe64 *cqe)
{
    return ((const uint8_t *)cqe)[0x10];
}

static void frame_lands_in_the_wqe_with_its_cqe(void **state)
{
    Fixture *f = *state;

    for (unsigned i = 0; i < 70; i++) {         /* the ring wraps */
        EthSpec spec = { .ipv6 = i & 1, .proto = i & 2 ? 17 : 6,
                         .payload = 10 + i * 20 };
        struct mlx5_cqe64 cqe;
        EthFrame frame;

        eth_build(&frame, &spec);
        cqe = receive(f, &frame);
        assert_memory_equal(mem(f), frame.b, frame.len);
        assert_int_equal(mem(f)[frame.len], 0xee);
        assert_int_equal(be32toh(cqe.byte_cnt), frame.len);
        assert_int_equal(be16toh(cqe.wqe_counter), i);
        assert_int_equal(be32toh(cqe.srqn_uidx) >> 24, 0);
        assert_int_equal(ok_bits(&cqe), L3_OK | L4_OK);
        assert_int_equal(check_sum(&cqe),
                         eth_sum(frame.b + frame.l3, frame.len - frame.l3, 0));
        assert_int_equal(cqe.l4_hdr_type_etc >> 2 & 3, spec.ipv6 ? 1 : 2);
        assert_int_equal(cqe.l4_hdr_type_etc >> 4 & 7,
                         spec.proto == 17 ? 2 : 4);
        assert_int_equal(cqe.l4_hdr_type_etc & 0x83, 0);
        assert_int_equal(rss_type(&cqe), 0);
    }
}

static void list_of_segments_is_filled_in_order(void **state)
{
    Fixture *f = *state;
    DrvRq *rq = drv_rq_new(f->d, f->cq, &(DrvRqParams){ .log_stride = 6 });
    uint64_t other = gpa_alloc(f->d->h, 8192, 4096);
    DrvSge sge[] = {
        { f->buf, f->d->lkey, 100 }, { other, f->d->lkey, 0 },
        { other, f->d->lkey, 1000 | 0x80000000 },   /* with a padding hint */
    };
    struct mlx5_cqe64 cqe;
    EthFrame frame;

    drv_steer_all(f->d, drv_tir_direct(f->d, rq->rqn));
    eth_build(&frame, &(EthSpec){ .payload = 800 });
    drv_rq_post(rq, sge, 3);
    arrive(f, frame.b, frame.len);
    drv_cq_expect(f->cq, MLX5_CQE_RESP_SEND, 0, &cqe);
    assert_memory_equal(mem(f), frame.b, 100);
    assert_memory_equal(gpa_ptr(f->d->h, other), frame.b + 100,
                        frame.len - 100);
    free(rq);
}

/*
 * mlx5e hands check_sum to the stack for every IP frame above 60 bytes, right
 * or wrong, so it must be the sum of what came, padding excluded.
 */
static void check_sum_covers_the_ip_packet_whatever_is_in_it(void **state)
{
    Fixture *f = *state;
    uint64_t seed = 5;

    for (unsigned i = 0; i < 300; i++) {
        EthSpec spec = { .ipv6 = i & 1, .proto = i & 2 ? 17 : 6,
                         .payload = 20 + rng_next(&seed) % 1400 };
        struct mlx5_cqe64 cqe;
        EthFrame frame;
        size_t len;

        eth_build(&frame, &spec);
        len = frame.len - frame.l3;
        for (unsigned k = 0; k < i % 3; k++) {
            frame.b[frame.l3 + 6 + rng_next(&seed) % (len - 6)] ^= 0x55;
        }
        for (unsigned k = 0; k < i % 7; k++) {
            frame.b[frame.len++] = 0xa5;        /* padding */
        }
        cqe = receive(f, &frame);
        assert_int_equal(check_sum(&cqe), eth_sum(frame.b + frame.l3, len, 0));
        if (i % 3 == 0) {
            assert_int_equal(ok_bits(&cqe), L3_OK | L4_OK);
        }
    }
}

static void wrong_checksums_are_told(void **state)
{
    Fixture *f = *state;
    EthFrame frame;
    struct mlx5_cqe64 cqe;

    for (unsigned i = 0; i < 4; i++) {
        eth_build(&frame, &(EthSpec){ .ipv6 = i & 1, .proto = i & 2 ? 17 : 6,
                                      .payload = 333 });
        frame.b[frame.data + 100] ^= 1;
        cqe = receive(f, &frame);
        assert_int_equal(ok_bits(&cqe), L3_OK);
    }
    eth_build(&frame, &(EthSpec){ .payload = 100 });
    frame.b[frame.l3 + 8]--;                    /* as a router that forgot */
    cqe = receive(f, &frame);
    assert_int_equal(ok_bits(&cqe), L4_OK);

    /* No checksum over UDP is fine in IPv4 and forbidden in IPv6. */
    eth_build(&frame, &(EthSpec){ .proto = 17, .payload = 100 });
    mocx_put_be16(frame.b + frame.l4 + 6, 0);
    cqe = receive(f, &frame);
    assert_int_equal(ok_bits(&cqe), L3_OK | L4_OK);
    eth_build(&frame, &(EthSpec){ .ipv6 = true, .proto = 17, .payload = 100 });
    mocx_put_be16(frame.b + frame.l4 + 6, 0);
    cqe = receive(f, &frame);
    assert_int_equal(ok_bits(&cqe), L3_OK);
}

/* RFC 768: what follows in the IP packet is none of UDP's business. */
static void udp_shorter_than_its_ip_packet_is_summed_by_its_own_length(
    void **state)
{
    Fixture *f = *state;
    struct mlx5_cqe64 cqe;
    EthFrame frame;
    uint32_t sum = 17 + 68;

    eth_build(&frame, &(EthSpec){ .proto = 17, .payload = 100 });
    mocx_put_be16(frame.b + frame.l4 + 4, 68);
    mocx_put_be16(frame.b + frame.l4 + 6, 0);
    sum = eth_sum(frame.b + frame.l3 + 12, 8, sum);
    mocx_put_be16(frame.b + frame.l4 + 6,
                  ~eth_sum(frame.b + frame.l4, 68, sum));
    cqe = receive(f, &frame);
    assert_int_equal(ok_bits(&cqe), L3_OK | L4_OK);
    mocx_put_be16(frame.b + frame.l4 + 4, 109);         /* and one too long */
    cqe = receive(f, &frame);
    assert_int_equal(ok_bits(&cqe), L3_OK);
}

static void what_has_no_l4_checksum_is_not_called_right(void **state)
{
    Fixture *f = *state;
    EthFrame frame;
    struct mlx5_cqe64 cqe;

    eth_build(&frame, &(EthSpec){ .payload = 100 });    /* a fragment */
    mocx_put_be16(frame.b + frame.l3 + 6, 0x2000);
    cqe = receive(f, &frame);
    assert_int_equal(ok_bits(&cqe) & L4_OK, 0);
    assert_int_equal(cqe.l4_hdr_type_etc & 0xf0, 0x80);

    eth_build(&frame, &(EthSpec){ .payload = 100 });    /* SCTP */
    frame.b[frame.l3 + 9] = 132;
    cqe = receive(f, &frame);
    assert_int_equal(ok_bits(&cqe) & L4_OK, 0);

    memset(&frame, 0, sizeof(frame));                   /* ARP */
    memset(frame.b, 0xff, 6);
    mocx_put_be16(frame.b + 12, 0x0806);
    frame.len = 60;
    cqe = receive(f, &frame);
    assert_int_equal(ok_bits(&cqe), 0);
    assert_int_equal(cqe.l4_hdr_type_etc, 0);
}

static void c_vlan_tag_is_taken_off_unless_told_otherwise(void **state)
{
    Fixture *f = *state;
    DrvRq *keeper = drv_rq_new(f->d, f->cq,
                               &(DrvRqParams){ .keep_vlan = true });
    struct mlx5_cqe64 cqe;
    EthFrame frame, plain;

    eth_build(&plain, &(EthSpec){ .payload = 200 });
    eth_build(&frame, &(EthSpec){ .payload = 200, .num_tags = 1,
                                  .tag = { 0x8100a123 } });
    cqe = receive(f, &frame);
    assert_int_equal(cqe.l4_hdr_type_etc & 1, 1);
    assert_int_equal(be16toh(cqe.vlan_info), 0xa123);
    assert_int_equal(be32toh(cqe.byte_cnt), plain.len);
    assert_memory_equal(mem(f), plain.b, plain.len);
    assert_int_equal(mem(f)[plain.len], 0xee);
    assert_int_equal(check_sum(&cqe),
                     eth_sum(plain.b + plain.l3, plain.len - plain.l3, 0));

    /* An S-VLAN tag stays. */
    eth_build(&frame, &(EthSpec){ .payload = 200, .num_tags = 2,
                                  .tag = { 0x88a80001, 0x81000002 } });
    cqe = receive(f, &frame);
    assert_int_equal(cqe.l4_hdr_type_etc & 1, 0);
    assert_memory_equal(mem(f), frame.b, frame.len);
    assert_int_equal(ok_bits(&cqe), L3_OK | L4_OK);

    eth_build(&frame, &(EthSpec){ .payload = 200, .num_tags = 1,
                                  .tag = { 0x8100a123 } });
    drv_steer_all(f->d, drv_tir_direct(f->d, keeper->rqn));
    free(f->rq);
    f->rq = keeper;
    cqe = receive(f, &frame);
    assert_int_equal(cqe.l4_hdr_type_etc & 1, 0);
    assert_memory_equal(mem(f), frame.b, frame.len);
}

static uint32_t out_of_buffer(Drv *d, uint32_t set)
{
    uint8_t in[DEVX_ST_SZ_BYTES(query_q_counter_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_q_counter_out)];

    DEVX_SET(query_q_counter_in, in, opcode, MLX5_CMD_OP_QUERY_Q_COUNTER);
    DEVX_SET(query_q_counter_in, in, counter_set_id, set);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(query_q_counter_out, out, out_of_buffer);
}

static void frame_without_a_wqe_is_dropped_and_counted(void **state)
{
    Fixture *f = *state;
    uint32_t set = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_Q_COUNTER);
    EthFrame frame;
    struct mlx5_cqe64 cqe;

    f->d->h->breaks = true;
    f->rq = drv_rq_new(f->d, f->cq, &(DrvRqParams){ .counter_set = set });
    drv_steer_all(f->d, drv_tir_direct(f->d, f->rq->rqn));
    eth_build(&frame, &(EthSpec){ .payload = 100 });
    for (unsigned i = 0; i < 3; i++) {
        arrive(f, frame.b, frame.len);
    }
    assert_false(drv_cq_poll(f->cq, &cqe));
    assert_int_equal(out_of_buffer(f->d, set), 3);
    receive(f, &frame);
    assert_int_equal(out_of_buffer(f->d, set), 3);

    /* A record that is more than a ring ahead posts nothing. */
    mocx_put_be32(gpa_ptr(f->d->h, f->rq->dbr), f->rq->pi + 1000);
    arrive(f, frame.b, frame.len);
    assert_false(drv_cq_poll(f->cq, &cqe));
    assert_int_equal(out_of_buffer(f->d, set), 4);
}

static void frame_that_does_not_fit_costs_only_itself(void **state)
{
    Fixture *f = *state;
    EthFrame frame;
    struct mlx5_cqe64 cqe;

    eth_build(&frame, &(EthSpec){ .payload = 500 });
    memset(mem(f), 0xee, RX_BUF);
    post(f, frame.len - 1);
    arrive(f, frame.b, frame.len);
    drv_cq_expect(f->cq, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
                  &cqe);
    assert_int_equal(mem(f)[0], 0xee);
    assert_int_equal(drv_rq_state(f->rq), MLX5_RQC_STATE_RDY);
    post(f, frame.len);
    arrive(f, frame.b, frame.len);
    drv_cq_expect(f->cq, MLX5_CQE_RESP_SEND, 0, &cqe);
    assert_int_equal(be16toh(cqe.wqe_counter), 1);
}

static void bad_lkey_is_an_error_and_the_queue_flushes(void **state)
{
    Fixture *f = *state;
    EthFrame frame;
    struct mlx5_cqe64 cqe;

    f->rq = drv_rq_new(f->d, f->cq, &(DrvRqParams){ .flush_in_error = true });
    drv_steer_all(f->d, drv_tir_direct(f->d, f->rq->rqn));
    eth_build(&frame, &(EthSpec){ .payload = 100 });
    drv_rq_post(f->rq, &(DrvSge){ f->buf, f->d->lkey ^ 0x100, RX_BUF }, 1);
    post(f, RX_BUF);
    post(f, RX_BUF);
    arrive(f, frame.b, frame.len);
    drv_cq_expect(f->cq, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
                  &cqe);
    for (unsigned i = 1; i < 3; i++) {
        drv_cq_expect(f->cq, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
                      &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), i);
    }
    assert_int_equal(drv_rq_state(f->rq), MLX5_RQC_STATE_ERR);
    arrive(f, frame.b, frame.len);
    assert_false(drv_cq_poll(f->cq, &cqe));

    assert_int_equal(drv_rq_modify(f->rq, MLX5_RQC_STATE_ERR,
                                   MLX5_RQC_STATE_RST), 0);
    assert_int_equal(drv_rq_modify(f->rq, MLX5_RQC_STATE_RST,
                                   MLX5_RQC_STATE_RDY), 0);
    cqe = receive(f, &frame);
    assert_int_equal(be16toh(cqe.wqe_counter), 0);
}

static void frame_above_the_ports_mtu_is_dropped(void **state)
{
    Fixture *f = *state;
    int64_t dropped = host_status(f->d->h, "port.rx_dropped");
    EthFrame frame;
    struct mlx5_cqe64 cqe;

    eth_build(&frame, &(EthSpec){ .payload = 10100 });
    post(f, 0x10000);
    arrive(f, frame.b, frame.len);
    assert_false(drv_cq_poll(f->cq, &cqe));
    assert_true(host_status(f->d->h, "port.rx_dropped") > dropped);
}

static void full_cq_stops_the_queue_with_an_event(void **state)
{
    Fixture *f = *state;
    uint8_t eqe[64];
    EthFrame frame;

    f->d->h->breaks = true;
    drv_cq_forget(f->cq);
    f->cq = drv_cq_new(f->d, 1);
    f->rq = drv_rq_new(f->d, f->cq, NULL);
    drv_steer_all(f->d, drv_tir_direct(f->d, f->rq->rqn));
    eth_build(&frame, &(EthSpec){ .payload = 100 });
    for (unsigned i = 0; i < 3; i++) {
        post(f, RX_BUF);
        arrive(f, frame.b, frame.len);
    }
    assert_int_equal(drv_rq_state(f->rq), MLX5_RQC_STATE_ERR);
    assert_true(drv_event_find(f->d, MOCX_EV_QP_FATAL, eqe));
    assert_int_equal(eqe[0x20 + 0x14], 1);
}

static void without_a_root_or_a_link_nothing_comes(void **state)
{
    Fixture *f = *state;
    EthFrame frame;
    struct mlx5_cqe64 cqe;

    eth_build(&frame, &(EthSpec){ .payload = 100 });
    post(f, RX_BUF);
    drv_ft_root(f->d, 0);
    arrive(f, frame.b, frame.len);
    assert_false(drv_cq_poll(f->cq, &cqe));
}

/* RSS */

static const uint8_t key[40] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
    0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
    0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
    0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

#define NUM_RQS 4

typedef struct Spread {
    DrvRq *rq[NUM_RQS];
    uint32_t rqtn;
} Spread;

static void spread_new(Fixture *f, Spread *s)
{
    uint32_t rqns[NUM_RQS];

    for (unsigned i = 0; i < NUM_RQS; i++) {
        s->rq[i] = drv_rq_new(f->d, f->cq, &(DrvRqParams){ .log_size = 8 });
        rqns[i] = s->rq[i]->rqn;
    }
    s->rqtn = drv_rqt_new(f->d, rqns, NUM_RQS);
}

/* Which queue got it? Found by who took a WQE. */
static unsigned spread_receive(Fixture *f, Spread *s, const EthFrame *frame,
                               struct mlx5_cqe64 *cqe)
{
    unsigned got = NUM_RQS;

    for (unsigned i = 0; i < NUM_RQS; i++) {
        uint64_t buf = gpa_alloc(f->d->h, 256, 64);

        drv_rq_post(s->rq[i], &(DrvSge){ buf, f->d->lkey, 256 }, 1);
    }
    arrive(f, frame->b, frame->len);
    drv_cq_expect(f->cq, MLX5_CQE_RESP_SEND, 0, cqe);
    /* The CQE names the WQE; the queue whose buffer was written is the one. */
    for (unsigned i = 0; i < NUM_RQS; i++) {
        uint32_t index = be16toh(cqe->wqe_counter) & 255;
        const uint8_t *wqe = gpa_ptr(f->d->h, s->rq[i]->buf + index * 16);
        uint8_t *data = gpa_ptr(f->d->h, mocx_get_be64(wqe + 8));

        if (!memcmp(data, frame->b, frame->len)) {
            assert_int_equal(got, NUM_RQS);
            got = i;
            memset(data, 0, 256);
        }
    }
    assert_int_not_equal(got, NUM_RQS);
    return got;
}

static void spread_free(Spread *s)
{
    for (unsigned i = 0; i < NUM_RQS; i++) {
        free(s->rq[i]);
    }
}

static void rss_spreads_by_the_hash_in_the_cqe(void **state)
{
    Fixture *f = *state;
    Spread s;
    unsigned seen = 0;

    spread_new(f, &s);
    drv_steer_all(f->d, drv_tir_rss(f->d, &(DrvRss){
        .rqtn = s.rqtn, .fn = MLX5_RX_HASH_FN_TOEPLITZ, .fields = 0xf,
        .key = key }));
    for (unsigned i = 0; i < 40; i++) {
        struct mlx5_cqe64 cqe;
        EthFrame frame;
        unsigned got;

        eth_build(&frame, &(EthSpec){ .payload = 20, .sport = 1000 + i });
        got = spread_receive(f, &s, &frame, &cqe);
        /* Addresses and ports lie side by side in a header without options. */
        assert_int_equal(rss_hash(&cqe),
                         mocx_toeplitz(key, frame.b + frame.l3 + 12, 12));
        assert_int_equal(rss_type(&cqe), 0x55);         /* IPv4, TCP, all */
        assert_int_equal(got, rss_hash(&cqe) % NUM_RQS);
        seen |= 1 << got;
    }
    assert_int_equal(seen, (1 << NUM_RQS) - 1);
    spread_free(&s);
}

static void rss_takes_only_the_fields_it_is_told_to(void **state)
{
    Fixture *f = *state;
    struct mlx5_cqe64 cqe;
    EthFrame frame;
    Spread s;

    spread_new(f, &s);
    drv_steer_all(f->d, drv_tir_rss(f->d, &(DrvRss){
        .rqtn = s.rqtn, .fn = MLX5_RX_HASH_FN_TOEPLITZ, .fields = 0x9,
        .ipv6 = true, .udp = true, .key = key }));
    eth_build(&frame, &(EthSpec){ .ipv6 = true, .proto = 17, .payload = 20 });
    spread_receive(f, &s, &frame, &cqe);
    {
        uint8_t in[18];

        memcpy(in, frame.b + frame.l3 + 8, 16);         /* source address */
        memcpy(in + 16, frame.b + frame.l4 + 2, 2);     /* destination port */
        assert_int_equal(rss_hash(&cqe), mocx_toeplitz(key, in, 18));
        assert_int_equal(rss_type(&cqe), 0x82);
    }
    /* Another L4 protocol has no ports to take, another L3 nothing. */
    eth_build(&frame, &(EthSpec){ .ipv6 = true, .payload = 20 });
    spread_receive(f, &s, &frame, &cqe);
    assert_int_equal(rss_hash(&cqe),
                     mocx_toeplitz(key, frame.b + frame.l3 + 8, 16));
    assert_int_equal(rss_type(&cqe), 0x02);
    eth_build(&frame, &(EthSpec){ .proto = 17, .payload = 20 });
    assert_int_equal(spread_receive(f, &s, &frame, &cqe), 0);
    assert_int_equal(rss_type(&cqe), 0);
    spread_free(&s);
}

static void symmetric_hash_is_the_same_both_ways(void **state)
{
    Fixture *f = *state;
    struct mlx5_cqe64 there, back;
    EthFrame frame;
    uint8_t swap[8];
    Spread s;

    spread_new(f, &s);
    drv_steer_all(f->d, drv_tir_rss(f->d, &(DrvRss){
        .rqtn = s.rqtn, .fn = MLX5_RX_HASH_FN_TOEPLITZ, .fields = 0xf,
        .symmetric = true, .key = key }));
    eth_build(&frame, &(EthSpec){ .payload = 20 });
    spread_receive(f, &s, &frame, &there);
    memcpy(swap, frame.b + frame.l3 + 12, 8);
    memcpy(frame.b + frame.l3 + 12, swap + 4, 4);
    memcpy(frame.b + frame.l3 + 16, swap, 4);
    memcpy(swap, frame.b + frame.l4, 4);
    memcpy(frame.b + frame.l4, swap + 2, 2);
    memcpy(frame.b + frame.l4 + 2, swap, 2);
    spread_receive(f, &s, &frame, &back);
    assert_int_equal(rss_hash(&there), rss_hash(&back));
    assert_int_not_equal(rss_hash(&there), 0);
    spread_free(&s);
}

static void xor8_hash_spreads_too(void **state)
{
    Fixture *f = *state;
    struct mlx5_cqe64 cqe;
    EthFrame frame;
    uint8_t x = 0xff;
    Spread s;

    spread_new(f, &s);
    drv_steer_all(f->d, drv_tir_rss(f->d, &(DrvRss){
        .rqtn = s.rqtn, .fn = MLX5_RX_HASH_FN_INVERTED_XOR8, .fields = 0xf }));
    eth_build(&frame, &(EthSpec){ .payload = 20, .sport = 4711 });
    for (unsigned i = 0; i < 12; i++) {
        x ^= frame.b[frame.l3 + 12 + i];
    }
    assert_int_equal(spread_receive(f, &s, &frame, &cqe), x % NUM_RQS);
    assert_int_equal(rss_hash(&cqe), x);
    spread_free(&s);
}

static void set_loopback(Drv *d, uint32_t tirn, unsigned bits)
{
    uint8_t in[DEVX_ST_SZ_BYTES(modify_tir_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(modify_tir_out)];

    DEVX_SET(modify_tir_in, in, opcode, MLX5_CMD_OP_MODIFY_TIR);
    DEVX_SET(modify_tir_in, in, tirn, tirn);
    DEVX_SET(modify_tir_in, in, bitmask.self_lb_en, 1);
    DEVX_SET(modify_tir_in, in, ctx.self_lb_block, bits);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

/* As the loopback part of ethtool -t has it. */
static void own_mac_loops_back_if_the_tir_allows(void **state)
{
    Fixture *f = *state;
    DrvCq *scq = drv_cq_new(f->d, 4);
    DrvSq *sq = drv_sq_new(f->d, scq, 4);
    uint64_t src = gpa_alloc(f->d->h, 4096, 4096);
    DrvEthWr wr = { .opcode = MLX5_OPCODE_SEND, .num_sge = 1 };
    struct mlx5_cqe64 cqe;
    EthFrame frame;

    eth_build(&frame, &(EthSpec){ .payload = 100 });
    memcpy(frame.b, f->d->h->cfg.mac, 6);
    memcpy(gpa_ptr(f->d->h, src), frame.b, frame.len);
    wr.sge[0] = (DrvSge){ src, f->d->lkey, frame.len };
    post(f, RX_BUF);
    for (unsigned bits = 0; bits < 4; bits++) {
        set_loopback(f->d, f->tirn, bits);
        drv_sq_post(sq, &wr);
        drv_sq_ring(sq);
        drv_cq_expect(scq, MLX5_CQE_REQ, 0, &cqe);
        world_settle(f->w);
        assert_int_equal(drv_cq_poll(f->cq, &cqe), bits & 1);
        post(f, RX_BUF);
    }
    assert_memory_equal(mem(f), frame.b, frame.len);
    assert_int_equal(wire_count(f->w->wire, 0)->sent, 0);
    drv_sq_free(sq);
    drv_cq_free(scq);
}

/* As two processes with raw packet QPs have it. */
static void multicast_is_heard_in_other_domains(void **state)
{
    Fixture *f = *state;
    DrvCq *scq = drv_cq_new(f->d, 4);
    uint32_t tdn = f->d->tdn;
    DrvSq *own = drv_sq_new(f->d, scq, 4), *other;
    uint64_t src = gpa_alloc(f->d->h, 4096, 4096);
    DrvEthWr wr = { .opcode = MLX5_OPCODE_SEND, .num_sge = 1 };
    struct mlx5_cqe64 cqe;
    EthFrame frame;

    f->d->tdn = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
    other = drv_sq_new(f->d, scq, 4);
    f->d->tdn = tdn;
    eth_build(&frame, &(EthSpec){ .payload = 100 });
    frame.b[0] |= 1;
    memcpy(gpa_ptr(f->d->h, src), frame.b, frame.len);
    wr.sge[0] = (DrvSge){ src, f->d->lkey, frame.len };
    post(f, RX_BUF);
    for (unsigned i = 0; i < 2; i++) {
        drv_sq_post(i ? other : own, &wr);
        drv_sq_ring(i ? other : own);
        drv_cq_expect(scq, MLX5_CQE_REQ, 0, &cqe);
        world_settle(f->w);
        assert_int_equal(drv_cq_poll(f->cq, &cqe), i);
        /* it leaves in any case */
        assert_int_equal(wire_count(f->w->wire, 0)->sent, i + 1);
    }
    assert_memory_equal(mem(f), frame.b, frame.len);
    drv_sq_free(own);
    drv_sq_free(other);
    drv_cq_free(scq);
}

/* What names an object keeps it: DESTROY is refused in the wrong order. */
static void objects_in_use_cannot_be_destroyed(void **state)
{
    Fixture *f = *state;
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, MLX5_CMD_OP_DESTROY_RQ);
    mocx_put_be32(in + 8, f->rq->rqn);
    assert_int_not_equal(drv_cmd(f->d, in, 16, out, 16), 0);
    mocx_put_be16(in, MLX5_CMD_OP_DESTROY_TIR);
    mocx_put_be32(in + 8, f->tirn);
    assert_int_not_equal(drv_cmd(f->d, in, 16, out, 16), 0);
    mocx_put_be16(in, MLX5_CMD_OP_DESTROY_CQ);
    mocx_put_be32(in + 8, f->cq->cqn);
    assert_int_not_equal(drv_cmd(f->d, in, 16, out, 16), 0);
}

/* A frame that was taken is in memory as it came, but for its first tag. */
static void assert_taken(Fixture *f, const struct mlx5_cqe64 *cqe,
                         const uint8_t *frame, size_t len)
{
    size_t skip = cqe->l4_hdr_type_etc & 1 ? 4 : 0;     /* stripped */

    assert_int_equal(be32toh(cqe->byte_cnt), len - skip);
    assert_memory_equal(mem(f), frame, 12);
    assert_memory_equal(mem(f) + 12, frame + 12 + skip, len - skip - 12);
    assert_int_equal(mem(f)[len - skip], 0xee);
}

static void random_frames_never_hang_or_crash(void **state)
{
    Fixture *f = *state;
    uint64_t seed = 11;
    struct mlx5_cqe64 cqe;

    for (unsigned round = 0; round < 4000; round++) {
        EthSpec spec = { .ipv6 = round & 1, .proto = round & 2 ? 17 : 6,
                         .num_tags = round >> 2 & 1, .tag = { 0x81000001 },
                         .payload = rng_next(&seed) % 60 };
        EthFrame frame;
        size_t len;
        bool came;

        eth_build(&frame, &spec);
        for (unsigned i = 0; i < 8; i++) {
            frame.b[12 + rng_next(&seed) % (frame.len - 12)] = rng_next(&seed);
        }
        len = 1 + rng_next(&seed) % frame.len;
        memset(mem(f), 0xee, RX_BUF);
        post(f, RX_BUF);
        arrive(f, frame.b, len);
        came = drv_cq_poll(f->cq, &cqe);
        /* All that has an Ethernet header is steered; none of it is RoCE. */
        assert_true(came == (len >= 14));
        if (came) {
            assert_int_equal(cqe_opcode(&cqe), MLX5_CQE_RESP_SEND);
            assert_taken(f, &cqe, frame.b, len);
        }
        assert_false(drv_cq_poll(f->cq, &cqe));
        if (drv_rq_state(f->rq) != MLX5_RQC_STATE_RDY || round % 16 == 15) {
            drv_rq_modify(f->rq, MLX5_RQC_STATE_RDY, MLX5_RQC_STATE_RST);
            drv_rq_modify(f->rq, MLX5_RQC_STATE_RST, MLX5_RQC_STATE_RDY);
        }
    }
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define BARE(fn) cmocka_unit_test_setup_teardown(fn, setup_bare, teardown)
    const struct CMUnitTest tests[] = {
        T(frame_lands_in_the_wqe_with_its_cqe),
        T(list_of_segments_is_filled_in_order),
        T(check_sum_covers_the_ip_packet_whatever_is_in_it),
        T(wrong_checksums_are_told),
        T(udp_shorter_than_its_ip_packet_is_summed_by_its_own_length),
        T(what_has_no_l4_checksum_is_not_called_right),
        T(c_vlan_tag_is_taken_off_unless_told_otherwise),
        BARE(frame_without_a_wqe_is_dropped_and_counted),
        T(frame_that_does_not_fit_costs_only_itself),
        BARE(bad_lkey_is_an_error_and_the_queue_flushes),
        T(frame_above_the_ports_mtu_is_dropped),
        BARE(full_cq_stops_the_queue_with_an_event),
        T(without_a_root_or_a_link_nothing_comes),
        BARE(rss_spreads_by_the_hash_in_the_cqe),
        BARE(rss_takes_only_the_fields_it_is_told_to),
        BARE(symmetric_hash_is_the_same_both_ways),
        BARE(xor8_hash_spreads_too),
        T(own_mac_loops_back_if_the_tir_allows),
        T(multicast_is_heard_in_other_domains),
        T(objects_in_use_cannot_be_destroyed),
        T(random_frames_never_hang_or_crash),
    };

    return cmocka_run_group_tests_name("eth_rx", tests, NULL, NULL);
}
