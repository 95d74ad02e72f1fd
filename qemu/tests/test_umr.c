/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory keys changed by work request: fast registration, windows, SEND with
 * invalidate, and who may do what.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pair.h"

#define PAGES       8
#define MTT         1
#define KLM         2

enum {
    INLINE = 0x80, MUST_BE_VALID = 0x40, MUST_BE_FREE = 0x20,
};

#define M_LEN       (1ull << 0)
#define M_PAGE      (1ull << 1)
#define M_START     (1ull << 6)
#define M_RINVAL    (1ull << 8)
#define M_KEY       (1ull << 13)
#define M_RIGHTS    (0x1full << 17)
#define M_FREE      (1ull << 29)

/* A free key that a UMR may fill. */
static uint32_t key_new(Drv *d, unsigned mode, unsigned octwords)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_mkey_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_mkey_out)];
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(mkc, mkc, free, 1);
    DEVX_SET(mkc, mkc, umr_en, 1);
    DEVX_SET(mkc, mkc, access_mode_1_0, mode);
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, pd, d->pdn);
    DEVX_SET(mkc, mkc, translations_octword_size, octwords);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(create_mkey_out, out, mkey_index) << 8;
}

static void key_free(Drv *d, uint32_t key)
{
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, MLX5_CMD_OP_DESTROY_MKEY);
    mocx_put_be32(in + 8, key >> 8);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

typedef struct Umr {
    uint8_t flags;
    uint16_t octwords;
    uint64_t mask;
    uint32_t key;           /* of the WQE */
    uint8_t tag;            /* of the new context */
    bool free;
    uint64_t start, len;
    const uint8_t *list;    /* inline translations, or a data segment */
    size_t list_len;
} Umr;

static uint16_t post_umr(DrvQp *qp, const Umr *u)
{
    uint8_t segs[48 + 64 + 256] = { 0 };
    uint8_t *mkc = segs + 48;
    uint16_t index;

    segs[0] = u->flags;
    mocx_put_be16(segs + 4, u->octwords);
    mocx_put_be64(segs + 8, u->mask);
    DEVX_SET(mkc, mkc, free, u->free);
    DEVX_SET(mkc, mkc, lr, 1);
    DEVX_SET(mkc, mkc, lw, 1);
    DEVX_SET(mkc, mkc, rr, 1);
    DEVX_SET(mkc, mkc, rw, 1);
    DEVX_SET(mkc, mkc, en_rinval, 1);
    DEVX_SET(mkc, mkc, mkey_7_0, u->tag);
    DEVX_SET(mkc, mkc, log_page_size, 12);
    DEVX_SET64(mkc, mkc, start_addr, u->start);
    DEVX_SET64(mkc, mkc, len, u->len);
    if (u->list) {
        memcpy(segs + 112, u->list, u->list_len);
    }
    index = drv_post_raw(qp, MLX5_OPCODE_UMR, 8, u->key, segs,
                         112 + u->list_len);
    drv_ring(qp);
    return index;
}

static DrvQp *umr_qp(Drv *d, DrvCq *cq)
{
    DrvQp *qp = drv_qp_new(d, &(DrvQpParams) {
        .type = DRV_QP_UMR, .scq = cq, .rcq = cq });

    drv_qp_ready(qp, NULL);
    return qp;
}

static void expect_ok(Side *s)
{
    struct mlx5_cqe64 cqe;

    drv_cq_expect(s->scq, MLX5_CQE_REQ, 0, &cqe);
}

static void write_by_key(Pair *p, uint32_t key, uint64_t va, uint32_t len)
{
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = va, .rkey = key,
        .num_sge = 1, .sge = { sge_of(&p->a, 0, len) },
    });
}

static void expect_refused(Pair *p)
{
    struct mlx5_cqe64 cqe;

    drv_cq_expect(p->a.scq, MLX5_CQE_REQ_ERR, 0x13, &cqe);
    pair_reconnect(p, NULL);
}

/* Fast registration: pages through a list in memory, a new tag each time. */
static void registration_by_work_request(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    Drv *d = p->b.d;
    DrvQp *qp = umr_qp(d, p->b.scq);
    uint32_t key = key_new(d, MTT, PAGES / 2);
    uint64_t list = gpa_alloc(d->h, PAGES * 8, 64), pages[PAGES];
    uint8_t dseg[16];

    (void)state;
    for (unsigned i = 0; i < PAGES; i++) {
        pages[i] = gpa_alloc(d->h, HOST_PAGE, HOST_PAGE);
        mocx_put_be64((uint8_t *)gpa_ptr(d->h, list) + i * 8, pages[i] | 3);
    }
    mocx_put_be32(dseg, PAGES * 8);
    mocx_put_be32(dseg + 4, d->lkey);
    mocx_put_be64(dseg + 8, list);
    for (uint8_t tag = 1; tag < 5; tag++) {
        uint64_t va = 0x10000 * tag + 0x123;

        post_umr(qp, &(Umr) {
            .flags = MUST_BE_FREE, .octwords = PAGES / 2, .key = key | tag,
            .tag = tag, .start = va, .len = 20000, .list = dseg,
            .list_len = 16,
            .mask = M_LEN | M_PAGE | M_START | M_KEY | M_RIGHTS | M_FREE,
        });
        expect_ok(&p->b);
        drv_mr_fill(p->a.mr, 0, 20000, tag);
        write_by_key(p, key | tag, va, 20000);
        expect_ok(&p->a);
        for (unsigned i = 0; i < 20000; i += 777) {
            uint64_t at = 0x123 + i;
            uint8_t want;

            drv_mr_read(p->a.mr, i, &want, 1);
            assert_int_equal(*((uint8_t *)gpa_ptr(d->h, pages[at / HOST_PAGE])
                               + at % HOST_PAGE), want);
        }
        write_by_key(p, key | tag, va + 1, 20000);
        expect_refused(p);
        post_umr(qp, &(Umr) {           /* local invalidate */
            .flags = INLINE, .key = key | tag, .free = true, .mask = M_FREE,
        });
        expect_ok(&p->b);
        write_by_key(p, key | tag, va, 10);
        expect_refused(p);
    }
    drv_qp_free(qp);
    key_free(d, key);
    pair_free(p);
}

static void put_klm(uint8_t *klm, const Side *s, uint64_t off, uint32_t len)
{
    memset(klm, 0, 64);
    mocx_put_be32(klm, len);
    mocx_put_be32(klm + 4, s->mr->key);
    mocx_put_be64(klm + 8, s->mr->va + off);
}

static void bind(Pair *p, uint32_t key, uint8_t tag, uint64_t off,
                 uint32_t len)
{
    uint8_t klm[64];

    put_klm(klm, &p->b, off, len);
    post_umr(p->b.qp, &(Umr) {
        .flags = INLINE, .octwords = 4, .key = key, .tag = tag,
        .start = p->b.mr->va + off, .len = len, .list = klm, .list_len = 64,
        .mask = M_LEN | M_START | M_KEY | M_RIGHTS | M_FREE | M_RINVAL,
    });
}

/* A window shows a part of a region and nothing beside it. */
static void memory_window(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    uint32_t key = key_new(p->b.d, KLM, 4);
    uint64_t va = p->b.mr->va;

    (void)state;
    write_by_key(p, key, va + 5000, 10);        /* not bound yet */
    expect_refused(p);
    bind(p, key, 1, 5000, 3000);
    expect_ok(&p->b);
    drv_mr_fill(p->a.mr, 0, 3000, 9);
    write_by_key(p, key | 1, va + 5000, 3000);
    expect_ok(&p->a);
    assert_int_equal(drv_mr_check(p->b.mr, 5000, 3000, 9), -1);
    write_by_key(p, key, va + 5000, 1);         /* the tag moved on */
    expect_refused(p);
    write_by_key(p, key | 1, va + 4999, 2);
    expect_refused(p);
    write_by_key(p, key | 1, va + 7999, 2);
    expect_refused(p);
    bind(p, key | 1, 2, 100, 50);
    expect_ok(&p->b);
    write_by_key(p, key | 2, va + 100, 50);
    expect_ok(&p->a);
    key_free(p->b.d, key);
    pair_free(p);
}

static void expect_bind_error(Pair *p)
{
    struct mlx5_cqe64 cqe;

    drv_cq_expect(p->b.scq, MLX5_CQE_REQ_ERR, 0x06, &cqe);
    pair_reconnect(p, NULL);
}

/* Bus addresses are the kernel's to give, and a window needs memory behind. */
static void what_a_user_may_not(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    uint32_t mtt = key_new(p->b.d, MTT, 4), klm = key_new(p->b.d, KLM, 4);
    uint8_t list[64] = { 0 };

    (void)state;
    post_umr(p->b.qp, &(Umr) {
        .flags = INLINE, .octwords = 4, .key = mtt, .list = list,
        .list_len = 64, .mask = M_FREE,
    });
    expect_bind_error(p);
    bind(p, klm, 1, PAIR_MR_LEN - 10, 20);      /* past the region */
    expect_bind_error(p);
    post_umr(p->b.qp, &(Umr) {                  /* a region that was no UMR's */
        .flags = INLINE, .key = p->b.mr->key, .free = true, .mask = M_FREE,
    });
    expect_bind_error(p);
    post_umr(p->b.qp, &(Umr) {                  /* free, and must not be */
        .flags = INLINE | MUST_BE_VALID, .key = klm, .mask = M_FREE,
    });
    expect_bind_error(p);
    post_umr(p->b.qp, &(Umr) { .flags = INLINE, .key = 0xfffff00 });
    expect_bind_error(p);
    key_free(p->b.d, mtt);
    key_free(p->b.d, klm);
    pair_free(p);
}

static void send_inval(Pair *p, uint32_t key)
{
    post_recv_at(&p->b, 0, 100);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND_INVAL, .imm = key, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 10) },
    });
}

static void send_with_invalidate(void **state)
{
    Pair *p = pair_new(DRV_QP_RC, NULL);
    uint32_t key = key_new(p->b.d, KLM, 4);
    struct mlx5_cqe64 cqe;

    (void)state;
    bind(p, key, 1, 0, 100);
    expect_ok(&p->b);
    send_inval(p, key | 1);
    expect_ok(&p->a);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_SEND_INV, 0, &cqe);
    assert_int_equal(be32toh(cqe.imm_inval_pkey), key | 1);
    write_by_key(p, key | 1, p->b.mr->va, 1);
    expect_refused(p);
    /* A key that refuses: the sender has success, the receiver an error. */
    send_inval(p, p->b.mr->key);
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_ERR, 0x12, &cqe);
    expect_ok(&p->a);
    key_free(p->b.d, key);
    pair_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registration_by_work_request),
        cmocka_unit_test(memory_window),
        cmocka_unit_test(what_a_user_may_not),
        cmocka_unit_test(send_with_invalidate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
