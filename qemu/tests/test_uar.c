/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Doorbell pages: what belongs to one is out of reach from another, and no page
 * or domain goes while something uses it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/cmd.h"
#include "core/dev.h"
#include "drveth.h"
#include "pair.h"

#define VA          0x7f0000001000ULL
#define VECTOR      5
#define TAG         0x42

typedef struct Fixture {
    World *w;
    Drv *d;
    uint32_t foreign;       /* another page, say of another process */
    uint32_t own;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->w = world_new(1, NULL);
    f->d = drv_new(f->w->host[0]);
    drv_bring_up(f->d);
    drv_net_up(f->d);
    f->own = f->d->uar;
    f->foreign = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_UAR);
    f->d->h->breaks = true;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;

    drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_UAR, f->foreign);
    drv_tear_down(f->d);
    drv_free(f->d);
    world_free(f->w);
    free(f);
    return 0;
}

static uint64_t page(uint32_t uar)
{
    return uar * (uint64_t)HOST_PAGE;
}

static uint8_t dealloc(Fixture *f, uint16_t opcode, uint32_t id)
{
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, opcode);
    mocx_put_be32(in + 8, id);
    return drv_cmd(f->d, in, sizeof(in), out, sizeof(out));
}

static void assert_named(Fixture *f)
{
    if (f->d->h->cfg.strict) {
        assert_true(host_breaches(f->d->h, "foreign-doorbell") > 0);
    }
}

static uint32_t eq_consumer(Fixture *f, const DrvEq *eq)
{
    return mocx_eq_find(f->d->h->dev, eq->eqn)->ci;
}

static void foreign_page_moves_no_event_queue(void **state)
{
    Fixture *f = *state;
    DrvEq *eq = drv_eq_new(f->d, 4, VECTOR, 1 << MOCX_EV_PORT);

    host_write32(f->d->h, page(f->foreign) + UAR_EQ_UPDATE, eq->eqn << 24 | 7);
    assert_int_equal(eq_consumer(f, eq), 0);
    host_write32(f->d->h, page(f->foreign) + UAR_EQ_ARM, eq->eqn << 24 | 7);
    assert_int_equal(eq_consumer(f, eq), 0);
    assert_int_equal(f->d->h->irqs[VECTOR], 0);
    assert_named(f);
    drv_eq_free(eq);
}

static void foreign_page_arms_no_completion_queue(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = drv_cq_new(f->d, 4);
    MocxCq *seen = mocx_cq_find(f->d->h->dev, cq->cqn);

    host_write64(f->d->h, page(f->foreign) + UAR_CQ_ARM, 5ull << 32 | cq->cqn);
    assert_int_equal(seen->ci, 0);
    assert_int_equal(seen->arm, MOCX_CQ_IDLE);
    host_write32(f->d->h, page(f->foreign) + UAR_CQ_ARM, 5);
    host_write32(f->d->h, page(f->foreign) + UAR_CQ_ARM + 4, cq->cqn);
    assert_int_equal(seen->ci, 0);
    assert_int_equal(seen->arm, MOCX_CQ_IDLE);
    assert_named(f);
    drv_cq_arm(cq, false);
    assert_int_equal(seen->arm, MOCX_CQ_ARM_NEXT);
    drv_cq_free(cq);
}

static void foreign_page_rings_no_queue_pair(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = drv_cq_new(f->d, 4);
    DrvQp *qp = drv_qp_new(f->d, &(DrvQpParams) { .scq = cq, .rcq = cq });
    struct mlx5_cqe64 cqe;

    drv_qp_connect(qp, qp, NULL);
    drv_post_raw(qp, MLX5_OPCODE_NOP, 8, 0, NULL, 0);
    f->d->uar = f->foreign;
    drv_ring(qp);
    host_write32(f->d->h, page(f->foreign) + UAR_BF, qp->last_ctrl >> 32);
    host_write32(f->d->h, page(f->foreign) + UAR_BF + 4, qp->last_ctrl);
    f->d->uar = f->own;
    world_settle(f->w);
    assert_false(drv_cq_poll(cq, &cqe));
    assert_named(f);
    drv_ring(qp);
    drv_cq_expect(cq, MLX5_CQE_REQ, 0, &cqe);
    drv_qp_free(qp);
    drv_cq_free(cq);
}

static void foreign_page_rings_no_send_queue(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = drv_cq_new(f->d, 4);
    DrvSq *sq = drv_sq_new(f->d, cq, 4);
    struct mlx5_cqe64 cqe;

    drv_sq_post(sq, &(DrvEthWr) { .opcode = MLX5_OPCODE_NOP });
    f->d->uar = f->foreign;
    drv_sq_ring(sq);
    f->d->uar = f->own;
    world_settle(f->w);
    assert_false(drv_cq_poll(cq, &cqe));
    assert_named(f);
    drv_sq_ring(sq);
    drv_cq_expect(cq, MLX5_CQE_REQ, 0, &cqe);
    drv_sq_free(sq);
    drv_cq_free(cq);
}

static void page_stays_while_it_is_used(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = drv_cq_new(f->d, 4);

    f->d->uar = f->foreign;
    DrvCq *other = drv_cq_new(f->d, 4);
    f->d->uar = f->own;
    assert_int_equal(dealloc(f, MLX5_CMD_OP_DEALLOC_UAR, f->foreign),
                     MOCX_BAD_RES_STATE);
    drv_cq_free(other);
    drv_cq_free(cq);
}

static void domain_stays_while_it_has_keys(void **state)
{
    Fixture *f = *state;
    uint32_t pdn = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_PD);
    DrvMr *mr = drv_mr_new_pd(f->d, pdn, VA, 4096, DRV_ALL, 12);

    assert_int_equal(dealloc(f, MLX5_CMD_OP_DEALLOC_PD, pdn),
                     MOCX_BAD_RES_STATE);
    drv_mr_free(mr);
    assert_int_equal(dealloc(f, MLX5_CMD_OP_DEALLOC_PD, pdn), MOCX_OK);
}

/* A key moves to another domain by work request, as mlx5_ib's cache does it. */

#define M_PD            (1ull << 7)
#define M_FREE          (1ull << 29)

static uint32_t free_key(Fixture *f)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_mkey_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_mkey_out)];
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(mkc, mkc, free, 1);
    DEVX_SET(mkc, mkc, umr_en, 1);
    DEVX_SET(mkc, mkc, access_mode_1_0, MOCX_MEM_MTT);
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, mkey_7_0, TAG);
    DEVX_SET(mkc, mkc, pd, f->d->pdn);
    DEVX_SET(mkc, mkc, translations_octword_size, 1);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(create_mkey_out, out, mkey_index) << 8 | TAG;
}

static void move_key(DrvQp *qp, uint32_t key, uint32_t pdn)
{
    uint8_t segs[48 + 64] = { 0 };

    mocx_put_be64(segs + 8, M_PD | M_FREE);
    DEVX_SET(mkc, segs + 48, pd, pdn);
    drv_post_raw(qp, MLX5_OPCODE_UMR, 8, key, segs, sizeof(segs));
    drv_ring(qp);
}

static void moved_key_holds_its_new_domain(void **state)
{
    Fixture *f = *state;
    uint32_t pdn = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_PD), key = free_key(f);
    DrvCq *cq = drv_cq_new(f->d, 4);
    DrvQp *qp = drv_qp_new(f->d, &(DrvQpParams) {
        .type = DRV_QP_UMR, .scq = cq, .rcq = cq });
    struct mlx5_cqe64 cqe;

    drv_qp_ready(qp, NULL);
    move_key(qp, key, pdn);
    drv_cq_expect(cq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(dealloc(f, MLX5_CMD_OP_DEALLOC_PD, pdn),
                     MOCX_BAD_RES_STATE);
    move_key(qp, key, f->d->pdn);
    drv_cq_expect(cq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(dealloc(f, MLX5_CMD_OP_DEALLOC_PD, pdn), MOCX_OK);
    /* Whoever gets the number next shall not find a key in his domain. */
    move_key(qp, key, pdn);
    drv_cq_expect(cq, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_MW_BIND_ERR, &cqe);
    drv_qp_free(qp);
    drv_cq_free(cq);
    dealloc(f, MLX5_CMD_OP_DESTROY_MKEY, key >> 8);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(foreign_page_moves_no_event_queue),
        T(foreign_page_arms_no_completion_queue),
        T(foreign_page_rings_no_queue_pair),
        T(foreign_page_rings_no_send_queue),
        T(page_stays_while_it_is_used),
        T(domain_stays_while_it_has_keys),
        T(moved_key_holds_its_new_domain),
    };

    return cmocka_run_group_tests_name("uar", tests, NULL, NULL);
}
