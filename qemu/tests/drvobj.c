/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event queues, completion queues and memory regions, driver's side. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define EV_COMP     0x00

static uint64_t ring_alloc(Drv *d, size_t bytes, uint8_t *pas)
{
    unsigned n = (bytes + HOST_PAGE - 1) / HOST_PAGE;
    uint64_t buf = gpa_alloc(d->h, n * (uint64_t)HOST_PAGE, HOST_PAGE);

    for (unsigned i = 0; i < n; i++) {
        mocx_put_be64(pas + i * 8, buf + i * (uint64_t)HOST_PAGE);
    }
    return buf;
}

static size_t ring_pas(size_t bytes)
{
    return (bytes + HOST_PAGE - 1) / HOST_PAGE * 8;
}

static void simple_destroy(Drv *d, uint16_t opcode, unsigned dword, uint32_t id)
{
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, opcode);
    mocx_put_be32(in + dword * 4, id);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

/* Event queues */

DrvEq *drv_eq_new(Drv *d, unsigned log_size, unsigned vector, uint64_t mask)
{
    size_t bytes = 64UL << log_size;
    size_t len = DEVX_ST_SZ_BYTES(create_eq_in) + ring_pas(bytes);
    uint8_t *in = calloc(1, len), out[DEVX_ST_SZ_BYTES(create_eq_out)];
    uint8_t *eqc = DEVX_ADDR_OF(create_eq_in, in, eq_context_entry);
    DrvEq *eq = calloc(1, sizeof(*eq));
    uint8_t *entries;

    *eq = (DrvEq){ .d = d, .log_size = log_size, .vector = vector };
    eq->buf = ring_alloc(d, bytes, in + DEVX_ST_SZ_BYTES(create_eq_in));
    entries = gpa_ptr(d->h, eq->buf);
    for (size_t i = 0; i < bytes; i += 64) {
        entries[i + 63] = 1;
    }
    DEVX_SET(create_eq_in, in, opcode, MLX5_CMD_OP_CREATE_EQ);
    DEVX_SET(eqc, eqc, log_eq_size, log_size);
    DEVX_SET(eqc, eqc, uar_page, d->uar);
    DEVX_SET(eqc, eqc, intr, vector);
    mocx_put_be64(DEVX_ADDR_OF(create_eq_in, in, event_bitmask), mask);
    drv_cmd_ok(d, in, len, out, sizeof(out));
    eq->eqn = DEVX_GET(create_eq_out, out, eq_number);
    free(in);
    return eq;
}

void drv_eq_free(DrvEq *eq)
{
    simple_destroy(eq->d, MLX5_CMD_OP_DESTROY_EQ, 2, eq->eqn);
    free(eq);
}

static void eq_doorbell(DrvEq *eq, unsigned reg)
{
    host_write32(eq->d->h, eq->d->uar * (uint64_t)HOST_PAGE + reg,
                 (eq->ci & 0xffffff) | eq->eqn << 24);
}

/* The next arming of the CQ says that this event was seen. */
static void count_event(Drv *d, uint32_t cqn)
{
    for (DrvCq *cq = d->cqs; cq; cq = cq->next) {
        cq->arm_sn += cq->cqn == cqn;
    }
}

bool drv_eq_poll(DrvEq *eq, uint8_t eqe[64])
{
    uint32_t index = eq->ci & ((1U << eq->log_size) - 1);
    const uint8_t *e = gpa_ptr(eq->d->h, eq->buf + index * 64UL);

    if ((e[63] & 1) != (eq->ci >> eq->log_size & 1)) {
        return false;
    }
    memcpy(eqe, e, 64);
    if (eqe[1] == EV_COMP) {
        count_event(eq->d, mocx_get_be32(eqe + 0x38));
    }
    eq->ci++;
    eq_doorbell(eq, UAR_EQ_UPDATE);
    return true;
}

void drv_eq_arm(DrvEq *eq)
{
    eq_doorbell(eq, UAR_EQ_ARM);
}

bool drv_event_find(Drv *d, uint8_t type, uint8_t eqe[64])
{
    while (drv_eq_poll(d->async, eqe)) {
        if (eqe[1] == type) {
            return true;
        }
    }
    return false;
}

/* Completion queues */

static void cqes_init(Drv *d, uint64_t buf, size_t bytes)
{
    uint8_t *entries = gpa_ptr(d->h, buf);

    for (size_t i = 0; i < bytes; i += 64) {
        entries[i + 63] = 0xf1;
    }
}

DrvCq *drv_cq_new_on(Drv *d, unsigned log_size, const DrvEq *eq)
{
    size_t bytes = 64UL << log_size;
    size_t len = DEVX_ST_SZ_BYTES(create_cq_in) + ring_pas(bytes);
    uint8_t *in = calloc(1, len), out[DEVX_ST_SZ_BYTES(create_cq_out)];
    uint8_t *cqc = DEVX_ADDR_OF(create_cq_in, in, cq_context);
    DrvCq *cq = calloc(1, sizeof(*cq));

    *cq = (DrvCq){ .d = d, .log_size = log_size, .arm_sn = 2 };
    cq->buf = ring_alloc(d, bytes, in + DEVX_ST_SZ_BYTES(create_cq_in));
    cq->dbr = gpa_alloc(d->h, 8, 64);
    cqes_init(d, cq->buf, bytes);
    DEVX_SET(create_cq_in, in, opcode, MLX5_CMD_OP_CREATE_CQ);
    DEVX_SET(cqc, cqc, log_cq_size, log_size);
    DEVX_SET(cqc, cqc, uar_page, d->uar);
    DEVX_SET(cqc, cqc, c_eqn_or_apu_element, eq->eqn);
    DEVX_SET64(cqc, cqc, dbr_addr, cq->dbr);
    drv_cmd_ok(d, in, len, out, sizeof(out));
    cq->cqn = DEVX_GET(create_cq_out, out, cqn);
    cq->next = d->cqs;
    d->cqs = cq;
    free(in);
    return cq;
}

DrvCq *drv_cq_new(Drv *d, unsigned log_size)
{
    return drv_cq_new_on(d, log_size, d->comp);
}

void drv_cq_free(DrvCq *cq)
{
    simple_destroy(cq->d, MLX5_CMD_OP_DESTROY_CQ, 2, cq->cqn);
    drv_cq_forget(cq);
}

void drv_cq_forget(DrvCq *cq)
{
    DrvCq **at = &cq->d->cqs;

    while (*at && *at != cq) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = cq->next;
    }
    free(cq);
}

static bool cq_has_cqe(void *arg)
{
    const DrvCq *cq = arg;
    uint32_t index = cq->ci & ((1U << cq->log_size) - 1);
    const uint8_t *e = gpa_ptr(cq->d->h, cq->buf + index * 64UL);

    return (e[63] & 1) == (cq->ci >> cq->log_size & 1) && e[63] >> 4 != 0xf;
}

bool drv_cq_poll(DrvCq *cq, struct mlx5_cqe64 *cqe)
{
    uint32_t index = cq->ci & ((1U << cq->log_size) - 1);

    if (!cq_has_cqe(cq)) {
        return false;
    }
    memcpy(cqe, gpa_ptr(cq->d->h, cq->buf + index * 64UL), sizeof(*cqe));
    cq->ci++;
    mocx_put_be32(gpa_ptr(cq->d->h, cq->dbr), cq->ci & 0xffffff);
    return true;
}

/* As mlx5_ib: copy_resize_cqes. The CQE that ends the old ring has an index. */
static void cq_move(DrvCq *cq, uint64_t buf, unsigned log_size)
{
    struct mlx5_cqe64 cqe;
    uint32_t ci = cq->ci;

    while (drv_cq_poll(cq, &cqe) && cqe.op_own >> 4 != MLX5_CQE_RESIZE_CQ) {
        uint32_t index = cq->ci & ((1U << log_size) - 1);

        cqe.op_own &= ~1;
        cqe.op_own |= cq->ci >> log_size & 1;
        memcpy(gpa_ptr(cq->d->h, buf + index * 64UL), &cqe, sizeof(cqe));
    }
    cq->ci = ci + 1;
    mocx_put_be32(gpa_ptr(cq->d->h, cq->dbr), cq->ci & 0xffffff);
    cq->buf = buf;
    cq->log_size = log_size;
}

uint8_t drv_cq_resize(DrvCq *cq, unsigned log_size)
{
    size_t bytes = 64UL << log_size;
    size_t len = DEVX_ST_SZ_BYTES(modify_cq_in) + ring_pas(bytes);
    uint8_t *in = calloc(1, len), out[DEVX_ST_SZ_BYTES(modify_cq_out)];
    uint8_t *cqc = DEVX_ADDR_OF(modify_cq_in, in, cq_context), status;
    uint64_t buf = ring_alloc(cq->d, bytes,
                              in + DEVX_ST_SZ_BYTES(modify_cq_in));

    cqes_init(cq->d, buf, bytes);
    DEVX_SET(modify_cq_in, in, opcode, MLX5_CMD_OP_MODIFY_CQ);
    DEVX_SET(modify_cq_in, in, op_mod, 1);
    DEVX_SET(modify_cq_in, in, cqn, cq->cqn);
    mocx_put_be32(in + 12, 7);
    DEVX_SET(cqc, cqc, log_cq_size, log_size);
    status = drv_cmd(cq->d, in, len, out, sizeof(out));
    free(in);
    if (!status) {
        cq_move(cq, buf, log_size);
    }
    return status;
}

bool drv_cq_wait(DrvCq *cq, struct mlx5_cqe64 *cqe, uint64_t limit_ns)
{
    world_until(cq->d->h->world, cq_has_cqe, cq, limit_ns);
    return drv_cq_poll(cq, cqe);
}

void drv_cq_expect(DrvCq *cq, unsigned opcode, unsigned syndrome,
                   struct mlx5_cqe64 *cqe)
{
    bool error = opcode == MLX5_CQE_REQ_ERR || opcode == MLX5_CQE_RESP_ERR;

    CHECK(drv_cq_wait(cq, cqe, 10 * NSEC_PER_SEC),
          "no CQE came; %u/%02x was expected", opcode, syndrome);
    CHECK(cqe_opcode(cqe) == opcode &&
          (!error || cqe_syndrome(cqe) == syndrome),
          "CQE %u/%02x/%02x came, %u/%02x was expected", cqe_opcode(cqe),
          cqe_syndrome(cqe), cqe_vendor(cqe), opcode, syndrome);
}

void drv_cq_arm(DrvCq *cq, bool solicited_only)
{
    uint32_t word = (cq->arm_sn & 3) << 28 | (solicited_only ? 1U << 24 : 0) |
                    (cq->ci & 0xffffff);

    mocx_put_be32((uint8_t *)gpa_ptr(cq->d->h, cq->dbr) + 4, word);
    host_write64(cq->d->h, cq->d->uar * (uint64_t)HOST_PAGE + UAR_CQ_ARM,
                 (uint64_t)word << 32 | cq->cqn);
}

/* Memory regions */

static void mkc_fill(uint8_t *mkc, const DrvMr *mr, uint32_t pdn,
                     unsigned rights)
{
    DEVX_SET(mkc, mkc, access_mode_1_0, 1);
    DEVX_SET(mkc, mkc, lr, !!(rights & DRV_LR));
    DEVX_SET(mkc, mkc, lw, !!(rights & DRV_LW));
    DEVX_SET(mkc, mkc, rr, !!(rights & DRV_RR));
    DEVX_SET(mkc, mkc, rw, !!(rights & DRV_RW));
    DEVX_SET(mkc, mkc, a, !!(rights & DRV_RA));
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, mkey_7_0, 0x37);
    DEVX_SET(mkc, mkc, pd, pdn);
    DEVX_SET64(mkc, mkc, start_addr, mr->va);
    DEVX_SET64(mkc, mkc, len, mr->len);
    DEVX_SET(mkc, mkc, translations_octword_size, (mr->num_pages + 1) / 2);
    DEVX_SET(mkc, mkc, log_page_size, mr->page_shift);
}

DrvMr *drv_mr_new_pd(Drv *d, uint32_t pdn, uint64_t va, uint64_t len,
                     unsigned rights, unsigned page_shift)
{
    uint64_t page = 1ULL << page_shift;
    DrvMr *mr = calloc(1, sizeof(*mr));
    uint8_t out[DEVX_ST_SZ_BYTES(create_mkey_out)], *in, *pas;
    size_t inlen;

    *mr = (DrvMr){ .d = d, .va = va, .len = len, .page_shift = page_shift,
                   .num_pages = (va % page + len + page - 1) / page };
    mr->pages = calloc(mr->num_pages, sizeof(*mr->pages));
    inlen = DEVX_ST_SZ_BYTES(create_mkey_in) + (mr->num_pages + 1) / 2 * 16;
    in = calloc(1, inlen);
    pas = in + DEVX_ST_SZ_BYTES(create_mkey_in);
    for (unsigned i = 0; i < mr->num_pages; i++) {
        mr->pages[i] = gpa_alloc(d->h, page, page);
        mocx_put_be64(pas + i * 8, mr->pages[i]);
    }
    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(create_mkey_in, in, translations_octword_actual_size,
             (mr->num_pages + 1) / 2);
    mkc_fill(DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry), mr, pdn,
             rights);
    drv_cmd_ok(d, in, inlen, out, sizeof(out));
    mr->key = DEVX_GET(create_mkey_out, out, mkey_index) << 8 | 0x37;
    free(in);
    return mr;
}

DrvMr *drv_mr_new(Drv *d, uint64_t va, uint64_t len, unsigned rights)
{
    return drv_mr_new_pd(d, d->pdn, va, len, rights, 12);
}

void drv_mr_free(DrvMr *mr)
{
    simple_destroy(mr->d, MLX5_CMD_OP_DESTROY_MKEY, 2, mr->key >> 8);
    free(mr->pages);
    free(mr);
}

static uint8_t *mr_byte(const DrvMr *mr, uint64_t off)
{
    uint64_t page = 1ULL << mr->page_shift;
    uint64_t at = mr->va % page + off;

    CHECK(off < mr->len, "byte %llu of a region of %llu",
          (unsigned long long)off, (unsigned long long)mr->len);
    return gpa_ptr(mr->d->h, mr->pages[at >> mr->page_shift] + at % page);
}

void drv_mr_write(DrvMr *mr, uint64_t off, const void *buf, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        *mr_byte(mr, off + i) = ((const uint8_t *)buf)[i];
    }
}

void drv_mr_read(DrvMr *mr, uint64_t off, void *buf, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        ((uint8_t *)buf)[i] = *mr_byte(mr, off + i);
    }
}

void drv_mr_fill(DrvMr *mr, uint64_t off, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i++) {
        *mr_byte(mr, off + i) = rng_next(&seed);
    }
}

int64_t drv_mr_check(DrvMr *mr, uint64_t off, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i++) {
        if (*mr_byte(mr, off + i) != (uint8_t)rng_next(&seed)) {
            return i;
        }
    }
    return -1;
}
