/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Datagrams: UD and QP1, the 40 bytes in front, keys, VLANs, multicast. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/dev.h"
#include "core/roce.h"
#include "core/wire.h"
#include "pair.h"

#define QKEY    0x11111111u
#define GRH     40

typedef struct Fixture {
    World *w;
    Side a, b;
    uint8_t type;
} Fixture;

static void side_up(Fixture *f, Side *s, unsigned host, uint64_t va)
{
    if (!s->d) {
        s->d = drv_new(f->w->host[host]);
        drv_bring_up(s->d);
        drv_net_up(s->d);
    }
    s->scq = drv_cq_new(s->d, 7);
    s->rcq = drv_cq_new(s->d, 7);
    s->qp = drv_qp_new(s->d, &(DrvQpParams) {
        .type = f->type, .scq = s->scq, .rcq = s->rcq, .user_index = 0x77,
    });
    s->mr = drv_mr_new(s->d, va, 65536, DRV_LR | DRV_LW);
    drv_qp_ready(s->qp, &(DrvPath) {
        .qkey = f->type == DRV_QP_GSI ? 0x80010000 : QKEY,
    });
}

static Fixture *make(uint8_t type, bool loopback)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->type = type;
    f->w = world_new(loopback ? 1 : 2, NULL);
    side_up(f, &f->a, 0, PAIR_VA_A);
    if (loopback) {
        f->b.d = f->a.d;
    }
    side_up(f, &f->b, 1, PAIR_VA_B);
    return f;
}

static void side_down(Side *s)
{
    drv_qp_free(s->qp);
    drv_mr_free(s->mr);
    drv_cq_free(s->scq);
    drv_cq_free(s->rcq);
}

static void unmake(Fixture *f)
{
    side_down(&f->a);
    side_down(&f->b);
    drv_tear_down(f->a.d);
    if (f->b.d != f->a.d) {
        drv_tear_down(f->b.d);
        drv_free(f->b.d);
    }
    drv_free(f->a.d);
    world_free(f->w);
    free(f);
}

static DrvAv av_of(const Fixture *f, unsigned gid)
{
    return (DrvAv) {
        .peer = f->b.d->h, .gid = gid,
        .qpn = f->type == DRV_QP_GSI ? 1 : f->b.qp->qpn,
        .qkey = f->type == DRV_QP_GSI ? 0x80010000 : QKEY,
    };
}

static void post(Fixture *f, const DrvAv *av, uint32_t len)
{
    pair_post(&f->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND_IMM, .imm = 0xcafe0000 + len, .av = av,
        .num_sge = len ? 1 : 0, .sge = { sge_of(&f->a, 100, len) },
    });
}

static void expect_no_recv(Fixture *f)
{
    struct mlx5_cqe64 cqe;

    drv_cq_expect(f->a.scq, MLX5_CQE_REQ, 0, &cqe);
    world_settle(f->w);
    assert_false(drv_cq_poll(f->b.rcq, &cqe));
}

/* The bytes in front are the GRH, or 20 of nothing and the IPv4 header. */
static void check_grh(Fixture *f, unsigned gid)
{
    uint8_t grh[GRH], want[16];

    drv_mr_read(f->b.mr, 0, grh, GRH);
    drv_gid_address(f->a.d->h, gid, want);
    if (gid == DRV_GID_V2_V4) {
        assert_int_equal(grh[20], 0x45);
        assert_memory_equal(grh + 32, want + 12, 4);
    } else {
        assert_int_equal(grh[0] >> 4, 6);
        assert_int_equal(grh[6], gid & 1 ? 17 : 0x1b);
        assert_memory_equal(grh + 8, want, 16);
    }
}

static void check_cqe(Fixture *f, const struct mlx5_cqe64 *cqe, unsigned gid,
                      uint32_t len)
{
    static const unsigned l3[] = {
        [DRV_GID_V1_V6] = 0, [DRV_GID_V2_V6] = 1, [DRV_GID_V1_V4] = 0,
        [DRV_GID_V2_V4] = 2,
    };
    uint32_t flags = be32toh(cqe->flags_rqpn);

    assert_int_equal(be32toh(cqe->byte_cnt), GRH + len);
    assert_int_equal(flags & 0xffffff,
                     f->type == DRV_QP_GSI ? 1 : f->a.qp->qpn);
    assert_int_equal(flags >> 24 & 3, l3[gid]);
    assert_int_equal(flags >> 28 & 3, 1);
    assert_int_equal(cqe_qpn(cqe), f->b.qp->qpn);
    assert_int_equal(be32toh(cqe->srqn_uidx), 0x77);
    assert_int_equal(be32toh(cqe->imm_inval_pkey),
                     f->type == DRV_QP_GSI ? 0xffff : 0xcafe0000 + len);
}

static void one(Fixture *f, unsigned gid, uint32_t len)
{
    DrvAv av = av_of(f, gid);
    struct mlx5_cqe64 cqe;

    drv_mr_fill(f->a.mr, 100, len, len);
    post_recv_at(&f->b, 0, GRH + len);
    post(f, &av, len);
    drv_cq_expect(f->a.scq, MLX5_CQE_REQ, 0, &cqe);
    drv_cq_expect(f->b.rcq, MLX5_CQE_RESP_SEND_IMM, 0, &cqe);
    check_cqe(f, &cqe, gid, len);
    assert_int_equal(drv_mr_check(f->b.mr, GRH, len, len), -1);
    check_grh(f, gid);
}

static void datagrams_of_every_family(void **state)
{
    static const uint32_t sizes[] = { 0, 1, 2, 3, 64, 255, 1024, 4095, 4096 };
    Fixture *f = make(DRV_QP_UD, false);

    (void)state;
    for (unsigned gid = 0; gid < 4; gid++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            one(f, gid, sizes[i]);
        }
    }
    unmake(f);
}

static void own_device_without_the_wire(void **state)
{
    Fixture *f = make(DRV_QP_UD, true);

    (void)state;
    for (unsigned gid = 0; gid < 4; gid++) {
        one(f, gid, 1000);
    }
    assert_int_equal(wire_count(f->w->wire, 0)->sent, 0);
    unmake(f);
}

/* Case 52: QP 1 on the wire, the device's own number in the CQE. */
static void management_qp(void **state)
{
    Fixture *f = make(DRV_QP_GSI, false);

    (void)state;
    for (unsigned gid = 0; gid < 4; gid++) {
        one(f, gid, 256);
    }
    unmake(f);
}

static void one_management_qp_per_port(void **state)
{
    Fixture *f = make(DRV_QP_GSI, false);
    uint8_t in[DEVX_ST_SZ_BYTES(create_qp_in) + 64] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_qp_out)];

    (void)state;
    DEVX_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
    DEVX_SET(create_qp_in, in, qpc.st, DRV_QP_GSI);
    assert_int_not_equal(drv_cmd(f->a.d, in, sizeof(in), out, sizeof(out)), 0);
    unmake(f);
}

static void wrong_qkey_is_dropped(void **state)
{
    Fixture *f = make(DRV_QP_UD, false);
    DrvAv av = av_of(f, DRV_GID_V2_V4);

    (void)state;
    av.qkey = QKEY + 1;
    post_recv_at(&f->b, 0, 1000);
    post(f, &av, 10);
    expect_no_recv(f);
    /* The receive is still there. */
    av.qkey = QKEY;
    one(f, DRV_GID_V2_V4, 20);
    /* The top bit asks for the QP's own key. */
    av.qkey = 0x80000000;
    post_recv_at(&f->b, 0, 1000);
    post(f, &av, 10);
    {
        struct mlx5_cqe64 cqe;

        drv_cq_expect(f->b.rcq, MLX5_CQE_RESP_SEND_IMM, 0, &cqe);
    }
    unmake(f);
}

static void no_receive_or_too_small_a_one(void **state)
{
    Fixture *f = make(DRV_QP_UD, false);
    DrvAv av = av_of(f, DRV_GID_V2_V4);
    struct mlx5_cqe64 cqe;

    (void)state;
    post(f, &av, 10);
    expect_no_recv(f);
    post_recv_at(&f->b, 0, GRH + 99);
    post(f, &av, 100);
    expect_no_recv(f);
    post(f, &av, 99);
    drv_cq_expect(f->b.rcq, MLX5_CQE_RESP_SEND_IMM, 0, &cqe);
    assert_int_equal(be16toh(cqe.wqe_counter), 0);
    unmake(f);
}

static void longer_than_a_packet_is_an_error(void **state)
{
    Fixture *f = make(DRV_QP_UD, false);
    DrvAv av = av_of(f, DRV_GID_V2_V4);
    struct mlx5_cqe64 cqe;

    (void)state;
    post(f, &av, 4097);
    drv_cq_expect(f->a.scq, MLX5_CQE_REQ_ERR, 1, &cqe);
    unmake(f);
}

/* A datagram of any VLAN is taken; what it came in is told. */
static void case_39_any_vlan_is_taken(void **state)
{
    Fixture *f = make(DRV_QP_UD, false);
    DrvAv av = av_of(f, DRV_GID_V2_V4);
    struct mlx5_cqe64 cqe;
    uint8_t addr[16];

    (void)state;
    drv_gid_address(f->a.d->h, DRV_GID_V2_V4, addr);
    drv_gid_set(f->a.d, DRV_GID_V2_V4, addr, 2, 100);
    post_recv_at(&f->b, 0, 1000);
    post(f, &av, 10);
    drv_cq_expect(f->b.rcq, MLX5_CQE_RESP_SEND_IMM, 0, &cqe);
    assert_int_equal(cqe.l4_hdr_type_etc & 1, 1);
    assert_int_equal(be16toh(cqe.vlan_info) & 0xfff, 100);
    unmake(f);
}

typedef struct Copy {
    uint8_t data[256];
    size_t len;
} Copy;

static WireFate keep_copy(void *arg, unsigned from, uint8_t *data, size_t len)
{
    Copy *copy = arg;

    if (!from && len <= sizeof(copy->data)) {
        memcpy(copy->data, data, len);
        copy->len = len;
    }
    return WIRE_PASS;
}

/* Cut an IPv4 datagram off, and make its lengths say so. */
static void cut_to(Copy *frame, size_t len)
{
    uint32_t sum = 0;

    frame->len = len;
    mocx_put_be16(frame->data + 16, (uint16_t)(len - 14));
    mocx_put_be16(frame->data + 38, (uint16_t)(len - 34));
    mocx_put_be16(frame->data + 24, 0);
    for (unsigned at = 14; at < 34; at += 2) {
        sum += mocx_get_be16(frame->data + at);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    mocx_put_be16(frame->data + 24, (uint16_t)~sum);
}

static uint64_t runts(const Fixture *f)
{
    const MocxPortCounters *c = &f->b.d->h->dev->port.counters;

    return c->rx_roce_malformed + c->rx_icrc_errors;
}

/* A short packet is dropped and counted, whatever its lengths say. */
static void case_40_runts_are_dropped_and_counted(void **state)
{
    Fixture *f = make(DRV_QP_UD, false);
    DrvAv av = av_of(f, DRV_GID_V2_V4);
    struct mlx5_cqe64 cqe;
    Copy whole = { .len = 0 }, part;

    (void)state;
    wire_filter(f->w->wire, keep_copy, &whole);
    post_recv_at(&f->b, 0, 1000);
    post_recv_at(&f->b, 0, 1000);
    post(f, &av, 10);
    drv_cq_expect(f->b.rcq, MLX5_CQE_RESP_SEND_IMM, 0, &cqe);
    wire_filter(f->w->wire, NULL, NULL);
    for (size_t len = 42; len < whole.len; len++) {
        uint64_t before = runts(f);

        part = whole;
        wire_inject_frame(f->w->wire, 1, f->w->now, part.data, len);
        cut_to(&part, len);
        wire_inject_frame(f->w->wire, 1, f->w->now, part.data, len);
        world_settle(f->w);
        assert_int_equal(runts(f), before + 2);
    }
    assert_false(drv_cq_poll(f->b.rcq, &cqe));
    wire_inject_frame(f->w->wire, 1, f->w->now, whole.data, whole.len);
    drv_cq_expect(f->b.rcq, MLX5_CQE_RESP_SEND_IMM, 0, &cqe);
    unmake(f);
}

static void mcg(Drv *d, uint16_t opcode, uint32_t qpn, const uint8_t *gid)
{
    uint8_t in[DEVX_ST_SZ_BYTES(attach_to_mcg_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(attach_to_mcg_out)];

    DEVX_SET(attach_to_mcg_in, in, opcode, opcode);
    DEVX_SET(attach_to_mcg_in, in, qpn, qpn);
    memcpy(DEVX_ADDR_OF(attach_to_mcg_in, in, multicast_gid), gid, 16);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

/* To a group: the WQE's address vector is made by hand. */
static void post_to_group(Fixture *f, const uint8_t *gid)
{
    static const uint8_t mac[6] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };
    uint8_t segs[48 + 16] = { 0 };

    mocx_put_be32(segs, QKEY);
    mocx_put_be32(segs + 8, 0xffffff | MLX5_EXTENDED_UD_AV);
    memcpy(segs + 0x14, mac, 6);
    segs[0x1b] = 1;
    mocx_put_be32(segs + 0x1c, 1U << 30 | DRV_GID_V2_V4 << 20);
    memcpy(segs + 0x20, gid, 16);
    mocx_put_be32(segs + 48, 10);
    mocx_put_be32(segs + 52, f->a.mr->key);
    mocx_put_be64(segs + 56, f->a.mr->va);
    drv_post_raw(f->a.qp, MLX5_OPCODE_SEND, 8, 0, segs, sizeof(segs));
    drv_ring(f->a.qp);
}

static void multicast_reaches_the_group(void **state)
{
    static const uint8_t group[16] = {
        [10] = 0xff, [11] = 0xff, [12] = 224, [13] = 1, [14] = 2, [15] = 3,
    };
    Fixture *f = make(DRV_QP_UD, false);
    struct mlx5_cqe64 cqe;

    (void)state;
    post_recv_at(&f->b, 0, 1000);
    post_to_group(f, group);
    expect_no_recv(f);
    mcg(f->b.d, MLX5_CMD_OP_ATTACH_TO_MCG, f->b.qp->qpn, group);
    post_to_group(f, group);
    drv_cq_expect(f->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
    assert_int_equal(be32toh(cqe.byte_cnt), GRH + 10);
    /* A member cannot be destroyed. */
    assert_int_equal(drv_qp_cmd(f->b.qp, MLX5_CMD_OP_DESTROY_QP), 9);
    mcg(f->b.d, MLX5_CMD_OP_DETACH_FROM_MCG, f->b.qp->qpn, group);
    drv_cq_expect(f->a.scq, MLX5_CQE_REQ, 0, &cqe);
    post_recv_at(&f->b, 0, 1000);
    post_to_group(f, group);
    expect_no_recv(f);
    unmake(f);
}

static void member_may_be_deaf_to_itself(void **state)
{
    static const uint8_t group[16] = {
        [10] = 0xff, [11] = 0xff, [12] = 224, [13] = 1, [14] = 2, [15] = 3,
    };
    Fixture *f = make(DRV_QP_UD, true);
    MocxQp *model = mocx_qp_find(f->a.d->h->dev, f->a.qp->qpn);
    struct mlx5_cqe64 cqe;

    (void)state;
    mcg(f->a.d, MLX5_CMD_OP_ATTACH_TO_MCG, f->a.qp->qpn, group);
    mcg(f->b.d, MLX5_CMD_OP_ATTACH_TO_MCG, f->b.qp->qpn, group);
    for (unsigned deaf = 0; deaf < 2; deaf++) {
        DEVX_SET(qpc, model->ctx, block_lb_mc, deaf);
        post_recv_at(&f->a, 0, 1000);
        post_recv_at(&f->b, 0, 1000);
        post_to_group(f, group);
        drv_cq_expect(f->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
        drv_cq_expect(f->a.scq, MLX5_CQE_REQ, 0, &cqe);
        world_settle(f->w);
        assert_int_equal(drv_cq_poll(f->a.rcq, &cqe), !deaf);
        /* One of each, however many ways lead back. */
        assert_false(drv_cq_poll(f->a.rcq, &cqe));
        assert_false(drv_cq_poll(f->b.rcq, &cqe));
    }
    mcg(f->a.d, MLX5_CMD_OP_DETACH_FROM_MCG, f->a.qp->qpn, group);
    mcg(f->b.d, MLX5_CMD_OP_DETACH_FROM_MCG, f->b.qp->qpn, group);
    unmake(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_of_every_family),
        cmocka_unit_test(own_device_without_the_wire),
        cmocka_unit_test(management_qp),
        cmocka_unit_test(one_management_qp_per_port),
        cmocka_unit_test(wrong_qkey_is_dropped),
        cmocka_unit_test(no_receive_or_too_small_a_one),
        cmocka_unit_test(longer_than_a_packet_is_an_error),
        cmocka_unit_test(case_39_any_vlan_is_taken),
        cmocka_unit_test(case_40_runts_are_dropped_and_counted),
        cmocka_unit_test(multicast_reaches_the_group),
        cmocka_unit_test(member_may_be_deaf_to_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
