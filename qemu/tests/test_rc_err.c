/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC: what must go wrong, on both sides, with the syndrome and vendor byte of a
 * ConnectX.  A row per cause; after each the QPs are taken through RESET and
 * must work as before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/eq.h"
#include "pair.h"

#define NONE    0xff        /* no CQE or no event */

/**
 * struct Cause - one request that fails
 * @name: for the log
 * @opcode: of the request
 * @len: bytes of the request
 * @raddr_off: added to the address
 * @rkey_xor: spoils the rkey
 * @lkey_xor: spoils the requester's lkey
 * @rights: of the responder's QP
 * @mr_rights: of the responder's region; 0: all
 * @recv: bytes of a receive WQE posted before; 0: none
 * @recv_lkey_xor: spoils the responder's
 * @syndrome: CQE of the requester
 * @vendor: its vendor syndrome
 * @resp: syndrome of the responder's CQE, or NONE
 * @resp_vendor: vendor syndrome of the responder's CQE
 * @event: at the responder, or NONE
 * @b_survives: the responder's QP goes on
 */
typedef struct Cause {
    const char *name;
    uint8_t opcode;
    uint32_t len;
    int64_t raddr_off;
    uint32_t rkey_xor, lkey_xor;
    unsigned rights, mr_rights;
    uint32_t recv;
    uint32_t recv_lkey_xor;
    uint8_t syndrome, vendor;
    uint8_t resp, resp_vendor;
    uint8_t event;
    bool b_survives;
} Cause;

#define WRITE   MLX5_OPCODE_RDMA_WRITE
#define WR_IMM  MLX5_OPCODE_RDMA_WRITE_IMM
#define READ    MLX5_OPCODE_RDMA_READ
#define SEND    MLX5_OPCODE_SEND
#define CS      MLX5_OPCODE_ATOMIC_CS
#define FA      MLX5_OPCODE_ATOMIC_FA
#define ACCESS  MOCX_EV_QP_ACCESS_ERR
#define REQ     MOCX_EV_QP_REQ_ERR

static const Cause causes[] = {
    { .name = "write, unknown rkey", .opcode = WRITE, .len = 100,
      .rkey_xor = 0x12345600, .syndrome = 0x13, .vendor = 0x88, .resp = NONE,
      .event = ACCESS },
    { .name = "write, wrong tag", .opcode = WRITE, .len = 3000, .rkey_xor = 1,
      .syndrome = 0x13, .vendor = 0x88, .resp = NONE, .event = ACCESS },
    { .name = "write past the end", .opcode = WRITE, .len = 100,
      .raddr_off = PAIR_MR_LEN - 99, .syndrome = 0x13, .vendor = 0x88,
      .resp = NONE, .event = ACCESS },
    { .name = "write before the start", .opcode = WRITE, .len = 100,
      .raddr_off = -1, .syndrome = 0x13, .vendor = 0x88, .resp = NONE,
      .event = ACCESS },
    { .name = "write, region lacks the right", .opcode = WRITE, .len = 100,
      .mr_rights = DRV_LR | DRV_LW | DRV_RR, .syndrome = 0x13, .vendor = 0x88,
      .resp = NONE, .event = ACCESS },
    { .name = "read, region lacks the right", .opcode = READ, .len = 100,
      .mr_rights = DRV_LR | DRV_LW | DRV_RW, .syndrome = 0x13, .vendor = 0x88,
      .resp = NONE, .event = ACCESS },
    { .name = "read, unknown rkey", .opcode = READ, .len = 9000,
      .rkey_xor = 0x12345600, .syndrome = 0x13, .vendor = 0x88, .resp = NONE,
      .event = ACCESS },
    { .name = "atomic, region lacks the right", .opcode = FA, .len = 8,
      .mr_rights = DRV_LR | DRV_LW | DRV_RW | DRV_RR, .syndrome = 0x13,
      .vendor = 0x88, .resp = NONE, .event = ACCESS },
    { .name = "atomic, unknown rkey", .opcode = CS, .len = 8, .rkey_xor = 256,
      .syndrome = 0x13, .vendor = 0x88, .resp = NONE, .event = ACCESS },
    { .name = "write, QP lacks the right", .opcode = WRITE, .len = 10,
      .rights = DRV_RR, .syndrome = 0x12, .vendor = 0x8a, .resp = NONE,
      .event = REQ },
    { .name = "read, QP lacks the right", .opcode = READ, .len = 10,
      .rights = DRV_RW, .syndrome = 0x12, .vendor = 0x8a, .resp = NONE,
      .event = REQ },
    { .name = "atomic, QP lacks the right", .opcode = FA, .len = 8,
      .rights = DRV_RW | DRV_RR, .syndrome = 0x12, .vendor = 0x8a,
      .resp = NONE, .event = REQ },
    { .name = "atomic, misaligned", .opcode = FA, .len = 8, .raddr_off = 4,
      .syndrome = 0x12, .vendor = 0x8a, .resp = NONE, .event = REQ },
    { .name = "write with immediate, bad rkey", .opcode = WR_IMM, .len = 10,
      .recv = 64, .rkey_xor = 1, .syndrome = 0x13, .vendor = 0x88,
      .resp = 0x11, .event = NONE },
    { .name = "send longer than the receive", .opcode = SEND, .len = 3000,
      .recv = 2999, .syndrome = 0x12, .vendor = 0x8a, .resp = 0x01,
      .resp_vendor = 0x8e, .event = NONE },
    { .name = "send into a bad lkey", .opcode = SEND, .len = 100, .recv = 100,
      .recv_lkey_xor = 0x5500, .syndrome = 0x14, .vendor = 0x89, .resp = 0x04,
      .resp_vendor = 0x51, .event = NONE },
    { .name = "send from a bad lkey", .opcode = SEND, .len = 100, .recv = 100,
      .lkey_xor = 0x5500, .syndrome = 0x04, .vendor = 0x51, .resp = NONE,
      .event = NONE, .b_survives = true },
    { .name = "write from a bad lkey", .opcode = WRITE, .len = 100,
      .lkey_xor = 1, .syndrome = 0x04, .vendor = 0x51, .resp = NONE,
      .event = NONE, .b_survives = true },
    { .name = "read to a bad lkey", .opcode = READ, .len = 100,
      .lkey_xor = 1, .syndrome = 0x04, .vendor = 0x52, .resp = NONE,
      .event = NONE, .b_survives = true },
    /* Case 45 */
    { .name = "atomic to a bad lkey", .opcode = FA, .len = 8, .lkey_xor = 1,
      .syndrome = 0x04, .vendor = 0x52, .resp = NONE, .event = NONE,
      .b_survives = true },
    /* Case 31 */
    { .name = "unknown opcode", .opcode = 0x3e, .len = 8, .syndrome = 0x02,
      .vendor = 0x68, .resp = NONE, .event = NONE, .b_survives = true },
    { .name = "masked atomic", .opcode = 0x14, .len = 8, .syndrome = 0x02,
      .vendor = 0x68, .resp = NONE, .event = NONE, .b_survives = true },
};

static void post_cause(Pair *p, const Cause *c, DrvMr *target)
{
    DrvSge sge = sge_of(&p->a, 64, c->len);

    if (c->recv) {
        DrvSge recv = sge_of(&p->b, 64, c->recv);

        recv.lkey ^= c->recv_lkey_xor;
        drv_post_recv(p->b.qp, &recv, 1);
    }
    sge.lkey ^= c->lkey_xor;
    pair_post(&p->a, &(DrvWr) {
        .opcode = c->opcode, .raddr = target->va + c->raddr_off,
        .rkey = target->key ^ c->rkey_xor, .unsignaled = true, .num_sge = 1,
        .sge = { sge },
    });
}

static void check_events(Pair *p, const Cause *c)
{
    uint8_t eqe[64];

    if (c->event == NONE) {
        return;
    }
    assert_true(drv_event_find(p->b.d, c->event, eqe));
    assert_int_equal(eqe[0x34], 0);
    assert_int_equal(mocx_get_be32(eqe + 0x38) & 0xffffff, p->b.qp->qpn);
}

static void check_responder(Pair *p, const Cause *c)
{
    struct mlx5_cqe64 cqe;

    world_settle(p->w);
    if (c->resp != NONE) {
        drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_ERR, c->resp, &cqe);
        if (c->resp_vendor) {
            assert_int_equal(cqe_vendor(&cqe), c->resp_vendor);
        }
    }
    assert_false(drv_cq_poll(p->b.rcq, &cqe));
    assert_int_equal(side_in_error(&p->b), !c->b_survives);
    check_events(p, c);
}

/* Later work, posted before or after the failure, is flushed in order. */
static void check_flush(Pair *p)
{
    struct mlx5_cqe64 cqe;
    uint16_t index = pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 1) },
    });

    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 0x05, &cqe);
    assert_int_equal(cqe_vendor(&cqe), 0xf9);
    assert_int_equal(be16toh(cqe.wqe_counter), index);
}

static void one_cause(Pair *p, const Cause *c)
{
    DrvPath path = { .rights = c->rights };
    DrvMr *target = p->b.mr;
    struct mlx5_cqe64 cqe;

    pair_reconnect(p, &path);
    if (c->mr_rights) {
        target = drv_mr_new(p->b.d, PAIR_VA_B, PAIR_MR_LEN, c->mr_rights);
    }
    post_cause(p, c, target);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, c->syndrome, &cqe);
    if (cqe_vendor(&cqe) != c->vendor) {
        fail_msg("%s: vendor 0x%x", c->name, cqe_vendor(&cqe));
    }
    assert_int_equal(be32toh(cqe.sop_drop_qpn),
                     (uint32_t)c->opcode << 24 | p->a.qp->qpn);
    assert_true(side_in_error(&p->a));
    check_responder(p, c);
    check_flush(p);
    if (c->mr_rights) {
        drv_mr_free(target);
    }
    pair_reconnect(p, NULL);
    pair_run(p, &(Msg) { .opcode = SEND, .len = 2000, .off_a = 64,
                         .off_b = 64, .seed = 1 });
}

static void each_cause_has_its_errors(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        print_message("# %s\n", causes[i].name);
        one_cause(p, &causes[i]);
    }
    pair_free(p);
}

/* What came before the failing request is complete, in order. */
static void earlier_work_completes_first(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;
    uint16_t index[6];

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        DrvSge sge = sge_of(&p->a, 0, 5000);

        sge.lkey ^= i == 3 ? 1 : 0;
        index[i] = drv_post(p->a.qp, &(DrvWr) {
            .opcode = WRITE, .raddr = p->b.mr->va, .rkey = p->b.mr->key,
            .num_sge = 1, .sge = { sge },
        });
    }
    drv_ring(p->a.qp);
    for (unsigned i = 0; i < 6; i++) {
        drv_cq_expect(p->a.scq, i < 3 ? MLX5_CQE_REQ : MLX5_CQE_REQ_ERR,
                      i < 3 ? 0 : i == 3 ? 4 : 5, &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), index[i]);
    }
    pair_free(p);
}

/* Case 14, and what ib_drain_qp() does: receives posted to a QP in error. */
static void receives_are_flushed_even_later(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        post_recv_at(&p->b, 0, 10);
    }
    assert_int_equal(drv_qp_cmd(p->b.qp, MLX5_CMD_OP_2ERR_QP), 0);
    for (unsigned i = 0; i < 5; i++) {
        drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_ERR, 5, &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), i);
    }
    world_run(p->w, NSEC_PER_SEC);
    post_recv_at(&p->b, 0, 0);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_ERR, 5, &cqe);
    assert_int_equal(be16toh(cqe.wqe_counter), 5);
    assert_int_equal(cqe_vendor(&cqe), 0xf9);
    pair_free(p);
}

/* WQEs of many sizes, posted to a QP in error: one CQE each, at its place. */
static void sends_of_any_size_are_flushed(void **state)
{
    static const uint8_t data[400];
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;
    uint16_t index[9];

    (void)state;
    assert_int_equal(drv_qp_cmd(p->a.qp, MLX5_CMD_OP_2ERR_QP), 0);
    for (unsigned i = 0; i < 9; i++) {
        index[i] = drv_post(p->a.qp, &(DrvWr) {
            .opcode = SEND, .inl = data, .inl_len = 1 + 49 * i });
    }
    drv_ring(p->a.qp);
    for (unsigned i = 0; i < 9; i++) {
        drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 5, &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), index[i]);
    }
    world_settle(p->w);
    assert_false(drv_cq_poll(p->a.scq, &cqe));
    pair_free(p);
}

/* A WQE that claims to go on behind what is posted ends with that. */
static void flush_ends_with_what_is_posted(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;
    uint8_t *wqe = gpa_ptr(p->a.d->h, p->a.qp->sq);

    (void)state;
    assert_int_equal(drv_qp_cmd(p->a.qp, MLX5_CMD_OP_2ERR_QP), 0);
    drv_post_raw(p->a.qp, MLX5_OPCODE_NOP, 8, 0, NULL, 0);
    wqe[7] = 40;        /* sixteen-byte units: ten blocks */
    drv_ring(p->a.qp);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 5, &cqe);
    assert_int_equal(be16toh(cqe.wqe_counter), 0);
    drv_post_raw(p->a.qp, MLX5_OPCODE_NOP, 8, 0, NULL, 0);
    drv_ring(p->a.qp);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 5, &cqe);
    assert_int_equal(be16toh(cqe.wqe_counter), 1);
    pair_free(p);
}

/* How long a receive waits that is posted to a QP in error. */
static void looks_for_receives_less_and_less(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;
    uint64_t early, late;

    (void)state;
    assert_int_equal(drv_qp_cmd(p->b.qp, MLX5_CMD_OP_2ERR_QP), 0);
    world_run(p->w, NSEC_PER_MSEC / 2);
    early = p->w->now;
    post_recv_at(&p->b, 0, 0);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_ERR, 5, &cqe);
    early = p->w->now - early;
    assert_true(early <= 2 * NSEC_PER_MSEC);
    world_run(p->w, 10 * NSEC_PER_SEC + NSEC_PER_MSEC);
    late = p->w->now;
    post_recv_at(&p->b, 0, 0);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_ERR, 5, &cqe);
    late = p->w->now - late;
    assert_true(late > early);
    assert_true(late <= 64 * NSEC_PER_MSEC);
    pair_free(p);
}

#define MANY    200

/* However many there are, and however long they are left: and yet none is. */
static void many_in_error_cost_little(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    Host *h = p->b.d->h;
    struct mlx5_cqe64 cqe;
    DrvQp *many[MANY];
    uint64_t reads;

    (void)state;
    assert_int_equal(drv_qp_cmd(p->b.qp, MLX5_CMD_OP_2ERR_QP), 0);
    world_run(p->w, 200 * NSEC_PER_SEC);
    reads = h->reads;
    world_run(p->w, 100 * NSEC_PER_SEC);
    assert_in_range(h->reads - reads, 50, 200);
    for (unsigned i = 0; i < MANY; i++) {
        many[i] = drv_qp_new(p->b.d, &(DrvQpParams) {
            .scq = p->b.scq, .rcq = p->b.rcq });
        assert_int_equal(drv_qp_cmd(many[i], MLX5_CMD_OP_2ERR_QP), 0);
    }
    world_run(p->w, NSEC_PER_SEC);
    reads = h->reads;
    world_run(p->w, NSEC_PER_SEC);
    assert_in_range(h->reads - reads, 100, 1100);
    /* Who drains says so first. */
    assert_int_equal(drv_qp_cmd(p->b.qp, MLX5_CMD_OP_2ERR_QP), 0);
    post_recv_at(&p->b, 0, 0);
    assert_true(drv_cq_wait(p->b.rcq, &cqe, 3 * NSEC_PER_MSEC));
    for (unsigned i = 0; i < MANY; i++) {
        drv_qp_free(many[i]);
    }
    pair_free(p);
}

/*
 * A QP in error takes nothing any more: what a peer sends on and on is neither
 * executed nor completed, and each receive has one CQE.
 */
static void case_14_one_success_for_each_packet(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        post_recv_at(&p->b, 0, 100);
    }
    for (unsigned i = 0; i < 3; i++) {
        pair_post(&p->a, &(DrvWr) { .opcode = SEND, .num_sge = 1,
                                    .sge = { sge_of(&p->a, 0, 100) } });
        if (!i) {
            drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND, 0, &cqe);
            assert_int_equal(drv_qp_cmd(p->b.qp, MLX5_CMD_OP_2ERR_QP), 0);
        }
    }
    world_run(p->w, NSEC_PER_SEC);
    for (unsigned i = 1; i < 4; i++) {
        drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_ERR, 5, &cqe);
        assert_int_equal(be16toh(cqe.wqe_counter), i);
    }
    assert_false(drv_cq_poll(p->b.rcq, &cqe));
    pair_free(p);
}

/* The NAK does not depend on a posted receive. */
static void case_28_nak_without_a_receive(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    pair_post(&p->a, &(DrvWr) {
        .opcode = WRITE, .raddr = 0, .rkey = 0x999900, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 64) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 0x13, &cqe);
    pair_free(p);
}

/* A connection of no VLAN does not listen to VLAN 100. */
static void case_39_connection_keeps_to_its_vlan(void **state)
{
    DrvPath path = {
        .set_retry = true, .retry = 1, .rnr_retry = 7, .timeout = 14,
    };
    Pair *p = pair_new(DRV_QP_RC, &path);
    struct mlx5_cqe64 cqe;
    uint8_t addr[16];

    (void)state;
    drv_gid_address(p->a.d->h, DRV_GID_V2_V4, addr);
    drv_gid_set(p->a.d, DRV_GID_V2_V4, addr, 2, 100);
    pair_reconnect(p, &path);
    pair_post(&p->a, &(DrvWr) {
        .opcode = WRITE, .raddr = p->b.mr->va, .rkey = p->b.mr->key,
        .num_sge = 1, .sge = { sge_of(&p->a, 0, 64) },
    });
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 0x15, &cqe);
    assert_false(side_in_error(&p->b));
    pair_free(p);
}

/* Case 12: RESET forgets the QP's own CQEs only, and the ring starts anew. */
static void reset_starts_anew(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;

    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 10; i++) {
            pair_run(p, &(Msg) { .opcode = SEND, .len = 100, .off_a = 64,
                                 .off_b = 64, .seed = i });
        }
        pair_reconnect(p, &(DrvPath) { .sq_psn = round * 77 });
        world_settle(p->w);
        assert_false(drv_cq_poll(p->a.scq, &cqe));
    }
    pair_free(p);
}

/* On overrun the QP that cannot push goes to error; nothing is overwritten. */
static void cq_overrun_is_fatal(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    DrvCq *cq = drv_cq_new(p->a.d, 2);
    DrvQp *qp = drv_qp_new(p->a.d, &(DrvQpParams) { .scq = cq, .rcq = cq });
    struct mlx5_cqe64 cqe;
    uint8_t eqe[64], qpc[DEVX_ST_SZ_BYTES(qpc)];

    p->w->host[0]->breaks = true;
    (void)state;
    drv_qp_reset(p->b.qp);
    drv_qp_connect(qp, p->b.qp, NULL);
    for (unsigned i = 0; i < 10; i++) {
        drv_post(qp, &(DrvWr) {
            .opcode = WRITE, .raddr = p->b.mr->va, .rkey = p->b.mr->key,
            .num_sge = 1, .sge = { sge_of(&p->a, 0, 8) },
        });
    }
    drv_ring(qp);
    world_settle(p->w);
    assert_true(drv_event_find(p->a.d, MOCX_EV_CQ_ERROR, eqe));
    assert_true(drv_event_find(p->a.d, MOCX_EV_QP_FATAL, eqe));
    assert_int_equal(drv_qp_query(qp, qpc), 6);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(drv_cq_poll(cq, &cqe));
        assert_int_equal(be16toh(cqe.wqe_counter), i);
    }
    drv_qp_free(qp);
    drv_cq_free(cq);
    pair_free(p);
}

/* The first packet of the peer is an event, once. */
static void communication_established(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    uint8_t eqe[64];

    (void)state;
    drv_qp_reset(p->b.qp);
    drv_qp_rst2init(p->b.qp, NULL);
    drv_qp_init2rtr(p->b.qp, NULL, p->a.qp);
    for (unsigned i = 0; i < 2; i++) {
        pair_run(p, &(Msg) { .opcode = WRITE, .len = 10, .off_a = 64,
                             .off_b = 64, .seed = 1 });
        assert_int_equal(drv_event_find(p->b.d, MOCX_EV_COMM_EST, eqe), !i);
    }
    pair_free(p);
}

/* The producer may lie; then the QP ends, and the device goes on. */
static void send_producer_beyond_the_ring(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    uint8_t eqe[64];

    p->w->host[0]->breaks = true;
    (void)state;
    drv_post_raw(p->a.qp, MLX5_OPCODE_NOP, 8, 0, NULL, 0);
    p->a.qp->sq_pi = 300;
    drv_ring(p->a.qp);
    world_settle(p->w);
    assert_true(drv_event_find(p->a.d, MOCX_EV_QP_FATAL, eqe));
    assert_true(side_in_error(&p->a));
    pair_free(p);
}

/* Messages of more than 2^log_msg_max bytes (case 10, by a smaller limit). */
static void case_10_too_long_is_a_local_error(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    struct mlx5_cqe64 cqe;
    uint8_t segs[16 + 2 * 16] = { 0 };

    (void)state;
    mocx_put_be64(segs, p->b.mr->va);
    mocx_put_be32(segs + 8, p->b.mr->key);
    mocx_put_be32(segs + 16, 1u << 30);
    mocx_put_be32(segs + 20, p->a.mr->key);
    mocx_put_be32(segs + 32, 1);
    mocx_put_be32(segs + 36, p->a.mr->key);
    drv_post_raw(p->a.qp, WRITE, 8, 0, segs, sizeof(segs));
    drv_ring(p->a.qp);
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 0x01, &cqe);
    pair_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_has_its_errors),
        cmocka_unit_test(earlier_work_completes_first),
        cmocka_unit_test(receives_are_flushed_even_later),
        cmocka_unit_test(sends_of_any_size_are_flushed),
        cmocka_unit_test(flush_ends_with_what_is_posted),
        cmocka_unit_test(looks_for_receives_less_and_less),
        cmocka_unit_test(many_in_error_cost_little),
        cmocka_unit_test(case_14_one_success_for_each_packet),
        cmocka_unit_test(case_28_nak_without_a_receive),
        cmocka_unit_test(case_39_connection_keeps_to_its_vlan),
        cmocka_unit_test(reset_starts_anew),
        cmocka_unit_test(cq_overrun_is_fatal),
        cmocka_unit_test(communication_established),
        cmocka_unit_test(send_producer_beyond_the_ring),
        cmocka_unit_test(case_10_too_long_is_a_local_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
