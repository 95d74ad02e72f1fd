/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the model takes from its host, and gives back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/dev.h"
#include "drveth.h"
#include "fixture.h"

#define MANY            1000
#define REGION          (64u << 10)
#define LIMIT           (64ll << 20)
#define ROUNDS          4
#define VA              0x7f0000000000ULL
#define QPS             200
#define BUDGET          (16 << 20)

/* A QP that talks to itself, and has said all of a region. */
typedef struct User {
    DrvQp *qp;
    DrvMr *mr;
} User;

static User user_new(Fixture *f, DrvCq *cq, uint32_t len)
{
    User u = {
        .qp = drv_qp_new(f->d, &(DrvQpParams) { .scq = cq, .rcq = cq }),
        .mr = drv_mr_new(f->d, VA, len, DRV_ALL),
    };
    DrvSge sge = { .addr = VA, .lkey = u.mr->key, .len = len };
    struct mlx5_cqe64 cqe;

    drv_qp_connect(u.qp, u.qp, &(DrvPath) { .log_rra = 4, .log_sra = 4 });
    drv_post_recv(u.qp, &sge, 1);
    drv_post(u.qp, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1, .sge = { sge } });
    drv_ring(u.qp);
    world_settle(f->w);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(drv_cq_poll(cq, &cqe) && cqe_opcode(&cqe) != MLX5_CQE_REQ_ERR &&
              cqe_opcode(&cqe) != MLX5_CQE_RESP_ERR, "the message failed");
    }
    drv_service_pages(f->d);
    return u;
}

static void user_free(Fixture *f, User *u)
{
    drv_qp_free(u->qp);
    drv_mr_free(u->mr);
    drv_service_pages(f->d);
}

static void thousand_queues_and_regions_are_cheap(void **state)
{
    Fixture *f = *state;
    User *users = calloc(MANY, sizeof(*users));
    int64_t before, now;
    DrvCq *cq;

    if (host_heap(f->d->h) < 0) {
        free(users);
        skip();
    }
    drv_bring_up(f->d);
    drv_net_up(f->d);
    cq = drv_cq_new(f->d, 6);
    before = host_heap(f->d->h);
    for (unsigned i = 0; i < MANY; i++) {
        users[i] = user_new(f, cq, REGION);
    }
    now = host_heap(f->d->h);
    print_message("%u queues and regions: %lld KiB\n", MANY,
                  (long long)(now - before) >> 10);
    /* They are there, and are not told of for nothing. */
    assert_true(now - before > (int64_t)(MANY * sizeof(User)));
    assert_true(now - before < LIMIT);
    for (unsigned i = 0; i < MANY; i++) {
        user_free(f, &users[i]);
    }
    drv_cq_free(cq);
    drv_tear_down(f->d);
    free(users);
}

/* One life of a driver that uses a bit of everything. */
static void live(Fixture *f)
{
    Drv *d = f->d;
    DrvCq *cq;
    DrvSq *sq;
    DrvRq *rq;
    User u[3];

    drv_bring_up(d);
    drv_net_up(d);
    cq = drv_cq_new(d, 6);
    for (unsigned i = 0; i < 3; i++) {
        u[i] = user_new(f, cq, 10000);
    }
    sq = drv_sq_new(d, cq, 6);
    rq = drv_rq_new(d, cq, NULL);
    drv_sq_post(sq, &(DrvEthWr) { .opcode = MLX5_OPCODE_NOP });
    drv_sq_ring(sq);
    world_settle(f->w);
    drv_rq_free(rq);
    drv_sq_free(sq);
    for (unsigned i = 0; i < 3; i++) {
        user_free(f, &u[i]);
    }
    drv_cq_free(cq);
    drv_tear_down(d);
    world_settle(f->w);
}

static void lives_of_a_driver_cost_nothing(void **state)
{
    Fixture *f = *state;
    int64_t after[ROUNDS];

    if (host_heap(f->d->h) < 0) {
        skip();
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        live(f);
        after[i] = host_heap(f->d->h);
    }
    /* The first has made the tables as large as it needed them. */
    for (unsigned i = 1; i < ROUNDS; i++) {
        assert_int_equal(after[i], after[0]);
    }
}

/* A reset gives back what the driver did not. */
static void resets_cost_nothing(void **state)
{
    Fixture *f = *state;
    int64_t after[ROUNDS];

    f->d->h->breaks = true;
    if (host_heap(f->d->h) < 0) {
        skip();
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        DrvCq *cq;
        User u;

        drv_bring_up(f->d);
        drv_net_up(f->d);
        cq = drv_cq_new(f->d, 6);
        u = user_new(f, cq, 10000);
        host_enter(f->d->h);
        mocx_reset(f->d->h->dev);
        host_leave(f->d->h);
        world_settle(f->w);
        after[i] = host_heap(f->d->h);
        free(u.qp);
        free(u.mr->pages);
        free(u.mr);
        drv_cq_forget(cq);
        free(f->d->async);
        free(f->d->comp);
        f->d->async = f->d->comp = NULL;
        f->d->num_pages = 0;
    }
    for (unsigned i = 1; i < ROUNDS; i++) {
        assert_int_equal(after[i], after[0]);
    }
}

/* What a device takes is counted, by itself, and given back when it goes. */
static void heap_is_counted(void **state)
{
    World *w = world_new(2, NULL);
    Drv *d = drv_new(w->host[0]);
    int64_t idle, other = host_status(w->host[1], "heap");
    DrvCq *cq;

    (void)state;
    drv_bring_up(d);
    drv_cq_free(drv_cq_new(d, 6));      /* the table of CQs stays */
    idle = host_status(d->h, "heap");
    drv_cq_free(drv_cq_new(d, 6));
    drv_service_pages(d);
    assert_int_equal(host_status(d->h, "heap"), idle);
    cq = drv_cq_new(d, 6);
    assert_true(host_status(d->h, "heap") > idle);
    assert_int_equal(host_status(w->host[1], "heap"), other);
    drv_cq_free(cq);
    assert_int_equal(host_status(d->h, "heap"), idle);
    drv_tear_down(d);
    drv_free(d);
    world_free(w);
}

/* Requesters that have nothing to send hold no buffer. */
static void idle_queue_pairs_keep_little(void **state)
{
    Fixture *f = *state;
    User users[QPS];
    int64_t before;
    DrvCq *cq;

    drv_bring_up(f->d);
    drv_net_up(f->d);
    cq = drv_cq_new(f->d, 6);
    before = host_status(f->d->h, "heap");
    for (unsigned i = 0; i < QPS; i++) {
        users[i] = user_new(f, cq, 100);
    }
    world_settle(f->w);
    assert_in_range((host_status(f->d->h, "heap") - before) / QPS, 500, 5000);
    for (unsigned i = 0; i < QPS; i++) {
        user_free(f, &users[i]);
    }
    drv_cq_free(cq);
    drv_tear_down(f->d);
}

/* Whatever its memory ends with when it is made, nothing is left. */
static void device_without_memory_is_cleared_away(void **state)
{
    const MocxHostOps none = { 0 };
    const char *err = NULL;
    MocxConfig cfg;

    (void)state;
    mocx_config_default(&cfg);
    cfg.memory = 1;     /* half of what frames alone need */
    assert_null(mocx_create(&cfg, &none, NULL, &err));
    assert_non_null(err);
    cfg.memory = 1 << 20;
    assert_null(mocx_create(&cfg, &none, NULL, &err));
    assert_non_null(strstr(err, "memory"));
}

/* The budget */

typedef struct Small {
    World *w;
    Drv *d;
} Small;

static Small small_new(void)
{
    MocxConfig cfg;
    Small s;

    mocx_config_default(&cfg);
    cfg.memory = BUDGET >> 20;
    s.w = world_new(1, &cfg);
    s.d = drv_new(s.w->host[0]);
    drv_bring_up(s.d);
    drv_net_up(s.d);
    assert_int_equal(host_status(s.d->h, "heap_limit"), BUDGET);
    return s;
}

static void small_free(Small *s)
{
    assert_true(host_status(s->d->h, "heap_refused") > 0);
    drv_tear_down(s->d);
    drv_free(s->d);
    world_free(s->w);
}

static void flow_entries_end_with_the_budget(void **state)
{
    Small s = small_new();
    DrvCq *cq = drv_cq_new(s.d, 4);
    DrvRq *rq = drv_rq_new(s.d, cq, NULL);
    uint32_t tirn = drv_tir_direct(s.d, rq->rqn), fg, n = 0;
    uint32_t ft = drv_ft_new(s.d, &(DrvFt) { .level = 1, .log_size = 16 });
    uint8_t status;
    DrvFte fte;
    DrvFg group;

    (void)state;
    drv_fg_init(&group, ft, 0, 0xffff);
    assert_int_equal(drv_fg_cmd(s.d, &group, &fg), 0);
    do {
        drv_fte_init(&fte, ft, fg, n);
        for (unsigned i = 0; i < 256; i++) {
            drv_fte_dest(&fte, 2, tirn);
        }
        status = drv_fte_cmd(s.d, &fte);
        drv_service_pages(s.d);
    } while (!status && ++n <= 0xffff);
    assert_int_equal(status, MOCX_NO_RES);
    assert_in_range(host_status(s.d->h, "heap"), BUDGET / 2, BUDGET);
    /* What goes makes room for another. */
    assert_int_equal(drv_fte_delete(s.d, ft, 0), 0);
    drv_fte_init(&fte, ft, fg, 0);
    drv_fte_dest(&fte, 2, tirn);
    assert_int_equal(drv_fte_cmd(s.d, &fte), 0);
    while (n--) {
        assert_int_equal(drv_fte_delete(s.d, ft, n), 0);
        drv_service_pages(s.d);
    }
    drv_fg_destroy(s.d, ft, fg);
    drv_ft_destroy(s.d, ft);
    drv_dealloc(s.d, MLX5_CMD_OP_DESTROY_TIR, tirn);
    drv_rq_free(rq);
    drv_cq_free(cq);
    small_free(&s);
}

/* Room for translations is made with the first, which is a UMR's. */
static void keys_end_with_the_budget(void **state)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_mkey_in)] = { 0 }, out[16];
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
    uint32_t index[64];
    Small s = small_new();
    unsigned n = 0;

    (void)state;
    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(mkc, mkc, access_mode_1_0, MOCX_MEM_MTT);
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, pd, s.d->pdn);
    DEVX_SET(mkc, mkc, log_page_size, 12);
    DEVX_SET(mkc, mkc, translations_octword_size, 1 << 16);
    while (n < 64 && !drv_cmd(s.d, in, sizeof(in), out, sizeof(out))) {
        index[n++] = DEVX_GET(create_mkey_out, out, mkey_index);
    }
    assert_int_equal(s.d->status, MOCX_NO_RES);
    assert_in_range(n, 8, 16);
    while (n--) {
        drv_dealloc(s.d, MLX5_CMD_OP_DESTROY_MKEY, index[n]);
    }
    small_free(&s);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, fixture_new, fixture_free)
    const struct CMUnitTest tests[] = {
        T(thousand_queues_and_regions_are_cheap),
        T(lives_of_a_driver_cost_nothing),
        T(resets_cost_nothing),
        cmocka_unit_test(heap_is_counted),
        T(idle_queue_pairs_keep_little),
        cmocka_unit_test(device_without_memory_is_cleared_away),
        cmocka_unit_test(flow_entries_end_with_the_budget),
        cmocka_unit_test(keys_end_with_the_budget),
    };

    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
