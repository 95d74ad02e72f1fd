/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two connected QPs, and single operations between them. */
#include <stdlib.h>
#include <string.h>

#include "pair.h"

#define CQ_LOG_SIZE     10
#define GUARD_LEN       16
#define GUARD_BYTE      0xa7
#define IMM             0x12345678u

static void side_objects(Side *s, uint8_t type, uint64_t va)
{
    s->scq = drv_cq_new(s->d, CQ_LOG_SIZE);
    s->rcq = drv_cq_new(s->d, CQ_LOG_SIZE);
    s->qp = drv_qp_new(s->d, &(DrvQpParams) {
        .type = type, .scq = s->scq, .rcq = s->rcq, .log_sq = 8, .log_rq = 8,
    });
    s->mr = drv_mr_new(s->d, va, PAIR_MR_LEN, DRV_ALL);
}

static Drv *bring_up(World *w, unsigned host)
{
    Drv *d = drv_new(w->host[host]);

    drv_bring_up(d);
    drv_net_up(d);
    return d;
}

static Pair *pair_make(uint8_t type, const DrvPath *path, bool loopback,
                       const MocxConfig *cfg)
{
    Pair *p = calloc(1, sizeof(*p));

    p->loopback = loopback;
    p->w = world_new(loopback ? 1 : 2, cfg);
    p->a.d = bring_up(p->w, 0);
    p->b.d = loopback ? p->a.d : bring_up(p->w, 1);
    side_objects(&p->a, type, PAIR_VA_A);
    side_objects(&p->b, type, PAIR_VA_B);
    drv_qp_connect(p->a.qp, p->b.qp, path);
    return p;
}

Pair *pair_new(uint8_t type, const DrvPath *path)
{
    return pair_make(type, path, false, NULL);
}

Pair *pair_new_of(uint8_t type, const DrvPath *path, const MocxConfig *cfg)
{
    return pair_make(type, path, false, cfg);
}

Pair *pair_new_loopback(uint8_t type, const DrvPath *path)
{
    return pair_make(type, path, true, NULL);
}

static void side_free(Side *s)
{
    drv_qp_free(s->qp);
    drv_mr_free(s->mr);
    drv_cq_free(s->scq);
    drv_cq_free(s->rcq);
}

void pair_free(Pair *p)
{
    side_free(&p->a);
    side_free(&p->b);
    drv_tear_down(p->a.d);
    drv_free(p->a.d);
    if (!p->loopback) {
        drv_tear_down(p->b.d);
        drv_free(p->b.d);
    }
    world_free(p->w);
    free(p);
}

/* What a driver does with the CQEs of a QP that goes to RESET: forget them. */
static void drain(DrvCq *cq)
{
    struct mlx5_cqe64 cqe;

    while (drv_cq_poll(cq, &cqe)) {
        continue;
    }
}

void pair_reconnect(Pair *p, const DrvPath *path)
{
    drv_qp_reset(p->a.qp);
    drv_qp_reset(p->b.qp);
    /*
     * Packets of the earlier life would be taken for those of the new one:
     * its PSNs are the same.
     */
    world_settle(p->w);
    drain(p->a.scq);
    drain(p->a.rcq);
    drain(p->b.scq);
    drain(p->b.rcq);
    drv_qp_connect(p->a.qp, p->b.qp, path);
}

DrvSge sge_of(const Side *s, uint64_t off, uint32_t len)
{
    return (DrvSge) { .addr = s->mr->va + off, .lkey = s->mr->key, .len = len };
}

uint16_t post_recv_at(Side *s, uint64_t off, uint32_t len)
{
    DrvSge sge = sge_of(s, off, len);

    return drv_post_recv(s->qp, &sge, len ? 1 : 0);
}

uint16_t pair_post(Side *s, const DrvWr *wr)
{
    uint16_t index = drv_post(s->qp, wr);

    drv_ring(s->qp);
    return index;
}

bool side_in_error(Side *s)
{
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)];

    return drv_qp_query(s->qp, qpc) == 6;
}

static bool takes_wqe(uint8_t opcode)
{
    return opcode == MLX5_OPCODE_SEND || opcode == MLX5_OPCODE_SEND_IMM ||
           opcode == MLX5_OPCODE_RDMA_WRITE_IMM;
}

static unsigned recv_opcode(uint8_t opcode)
{
    return opcode == MLX5_OPCODE_SEND ? MLX5_CQE_RESP_SEND
           : opcode == MLX5_OPCODE_SEND_IMM ? MLX5_CQE_RESP_SEND_IMM
           : MLX5_CQE_RESP_WR_IMM;
}

static void put_guard(DrvMr *mr, uint64_t off)
{
    uint8_t guard[GUARD_LEN];

    memset(guard, GUARD_BYTE, sizeof(guard));
    drv_mr_write(mr, off, guard, sizeof(guard));
}

static void check_guard(DrvMr *mr, uint64_t off)
{
    uint8_t guard[GUARD_LEN];

    drv_mr_read(mr, off, guard, sizeof(guard));
    for (unsigned i = 0; i < GUARD_LEN; i++) {
        CHECK(guard[i] == GUARD_BYTE, "guard byte at %llu is 0x%x",
              (unsigned long long)off + i, guard[i]);
    }
}

static void check_recv(Pair *p, const Msg *m, uint16_t index)
{
    struct mlx5_cqe64 cqe;

    drv_cq_expect(p->b.rcq, recv_opcode(m->opcode), 0, &cqe);
    CHECK(be32toh(cqe.byte_cnt) == m->len, "byte_cnt %u, sent %u",
          be32toh(cqe.byte_cnt), m->len);
    CHECK(be16toh(cqe.wqe_counter) == index, "wqe_counter %u, posted %u",
          be16toh(cqe.wqe_counter), index);
    CHECK(cqe_qpn(&cqe) == p->b.qp->qpn, "QPN %u", cqe_qpn(&cqe));
    if (m->opcode != MLX5_OPCODE_SEND) {
        CHECK(be32toh(cqe.imm_inval_pkey) == IMM, "imm 0x%x",
              be32toh(cqe.imm_inval_pkey));
    }
}

static void check_send(Pair *p, const Msg *m, uint16_t index)
{
    struct mlx5_cqe64 cqe;

    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    CHECK(be16toh(cqe.wqe_counter) == index, "wqe_counter %u, posted %u",
          be16toh(cqe.wqe_counter), index);
    CHECK(be32toh(cqe.sop_drop_qpn) >> 24 == m->opcode, "opcode 0x%x",
          be32toh(cqe.sop_drop_qpn) >> 24);
    CHECK(cqe_qpn(&cqe) == p->a.qp->qpn, "QPN %u", cqe_qpn(&cqe));
}

void pair_run(Pair *p, const Msg *m)
{
    bool read = m->opcode == MLX5_OPCODE_RDMA_READ;
    DrvMr *from = read ? p->b.mr : p->a.mr, *to = read ? p->a.mr : p->b.mr;
    uint64_t off_from = read ? m->off_b : m->off_a;
    uint64_t off_to = read ? m->off_a : m->off_b;
    uint16_t recv = 0, send;
    int64_t bad;

    drv_mr_fill(from, off_from, m->len, m->seed);
    drv_mr_fill(to, off_to, m->len, ~m->seed);
    put_guard(to, off_to - GUARD_LEN);
    put_guard(to, off_to + m->len);
    if (takes_wqe(m->opcode)) {
        recv = post_recv_at(&p->b, m->off_b, m->len);
    }
    send = pair_post(&p->a, &(DrvWr) {
        .opcode = m->opcode, .imm = IMM, .raddr = p->b.mr->va + m->off_b,
        .rkey = p->b.mr->key, .num_sge = m->len ? 1 : 0,
        .sge = { sge_of(&p->a, m->off_a, m->len) },
    });
    check_send(p, m, send);
    if (takes_wqe(m->opcode)) {
        check_recv(p, m, recv);
    }
    world_settle(p->w);
    bad = drv_mr_check(to, off_to, m->len, m->seed);
    CHECK(bad < 0, "opcode 0x%x, %u bytes: byte %lld differs", m->opcode,
          m->len, (long long)bad);
    check_guard(to, off_to - GUARD_LEN);
    check_guard(to, off_to + m->len);
}
