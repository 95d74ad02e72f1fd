/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the model takes from its host, and gives back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/dev.h"
#include "core/heap.h"
#include "drveth.h"
#include "fixture.h"

#define MANY            1000
#define REGION          (64u << 10)
#define LIMIT           (64ll << 20)
#define ROUNDS          4
#define VA              0x7f0000000000ULL

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

/* What a device takes is counted, and given back when it goes. */
static void heap_is_counted(void **state)
{
    size_t before = mocx_heap_bytes();
    World *w = world_new(1, NULL);
    Drv *d = drv_new(w->host[0]);
    size_t idle;
    DrvCq *cq;

    drv_bring_up(d);
    drv_cq_free(drv_cq_new(d, 6));      /* the table of CQs stays */
    idle = mocx_heap_bytes();
    assert_true(idle > before + sizeof(MocxDev));
    drv_cq_free(drv_cq_new(d, 6));
    drv_service_pages(d);
    assert_int_equal(mocx_heap_bytes(), idle);
    assert_int_equal(host_status(d->h, "heap"), idle);
    cq = drv_cq_new(d, 6);
    assert_true(mocx_heap_bytes() > idle);
    drv_cq_forget(cq);
    drv_free(d);
    world_free(w);
    assert_int_equal(mocx_heap_bytes(), before);
    (void)state;
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, fixture_new, fixture_free)
    const struct CMUnitTest tests[] = {
        T(thousand_queues_and_regions_are_cheap),
        T(lives_of_a_driver_cost_nothing),
        T(resets_cost_nothing),
        cmocka_unit_test(heap_is_counted),
    };

    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
