/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work requests as a driver writes them, spoiled in the ring, and doorbells
 * that say too much.  The device must come to rest, its neighbour must not
 * suffer, and the objects must go when asked.
 */
#include "fuzz.h"

#define STEPS_MAX       32
#define MR_LEN          (4 * HOST_PAGE)
#define MR_VA           0x7000000000ULL

enum { END_RC, END_UC, END_UD, ENDS };

typedef struct Side {
    Drv *d;
    DrvCq *cq;
    DrvMr *mr;
    DrvQp *qp[ENDS];
} Side;

typedef struct Pair {
    World *w;
    Side a, b;
} Pair;

static void side_up(Side *s, Host *h)
{
    static const uint8_t types[ENDS] = { DRV_QP_RC, DRV_QP_UC, DRV_QP_UD };

    h->wild = true;
    s->d = drv_new(h);
    drv_bring_up(s->d);
    drv_net_up(s->d);
    s->cq = drv_cq_new(s->d, 8);
    s->mr = drv_mr_new(s->d, MR_VA, MR_LEN, DRV_ALL);
    for (int i = 0; i < ENDS; i++) {
        s->qp[i] = drv_qp_new(s->d, &(DrvQpParams) {
            .type = types[i], .scq = s->cq, .rcq = s->cq });
    }
}

static void pair_up(Pair *p)
{
    DrvPath path = { .log_rra = 2, .log_sra = 2, .timeout = 10, .retry = 2,
                     .rnr_retry = 2, .set_retry = true };
    MocxConfig cfg = fuzz_config();

    p->w = world_new(2, &cfg);
    side_up(&p->a, p->w->host[0]);
    side_up(&p->b, p->w->host[1]);
    drv_qp_connect(p->a.qp[END_RC], p->b.qp[END_RC], &path);
    drv_qp_connect(p->a.qp[END_UC], p->b.qp[END_UC], &path);
    drv_qp_ready(p->a.qp[END_UD], NULL);
    drv_qp_ready(p->b.qp[END_UD], NULL);
}

static void side_down(Side *s)
{
    for (int i = 0; i < ENDS; i++) {
        drv_qp_free(s->qp[i]);
    }
    drv_mr_free(s->mr);
    drv_cq_free(s->cq);
    CHECK(!host_status(s->d->h, "objects.qps"), "QPs outlive their end");
    drv_free(s->d);
}

static DrvSge some_sge(Side *s, Bytes *b)
{
    uint32_t off = bytes_u32(b) % MR_LEN;

    return (DrvSge) { MR_VA + off, s->mr->key,
                      bytes_u8(b) < 200 ? bytes_u8(b) * 8U : MR_LEN - off };
}

static void post_send(Side *from, Side *to, int end, Bytes *b)
{
    static const uint8_t opcodes[] = {
        MLX5_OPCODE_NOP, MLX5_OPCODE_SEND, MLX5_OPCODE_SEND_IMM,
        MLX5_OPCODE_SEND_INVAL, MLX5_OPCODE_RDMA_WRITE,
        MLX5_OPCODE_RDMA_WRITE_IMM, MLX5_OPCODE_RDMA_READ,
        MLX5_OPCODE_ATOMIC_CS, MLX5_OPCODE_ATOMIC_FA, MLX5_OPCODE_UMR,
    };
    DrvAv av = { to->d->h, to->qp[END_UD]->qpn, 0x11111111, DRV_GID_V2_V4 };
    DrvWr wr = {
        .opcode = opcodes[bytes_u8(b) % sizeof(opcodes)],
        .unsignaled = bytes_u8(b) < 64, .solicited = bytes_u8(b) & 1,
        .fence = bytes_u8(b) % 5, .imm = bytes_u32(b),
        .raddr = MR_VA + bytes_u8(b) * 8, .rkey = to->mr->key,
        .av = end == END_UD ? &av : NULL,
        .num_sge = bytes_u8(b) % (DRV_SGE_MAX + 1),
    };

    for (unsigned i = 0; i < wr.num_sge; i++) {
        wr.sge[i] = some_sge(from, b);
    }
    drv_post(from->qp[end], &wr);
}

static void spoil_ring(DrvQp *qp, Bytes *b)
{
    uint8_t *sq = gpa_ptr(qp->d->h, qp->sq);

    bytes_mutate(b, sq, (size_t)64 << qp->p.log_sq);
    if (bytes_u8(b) < 8) {
        qp->last_ctrl ^= (uint64_t)bytes_u32(b) << 32;
    }
    if (bytes_u8(b) < 8) {
        qp->sq_pi += bytes_u8(b);
    }
}

static void spoil_receive(Side *s, int end, Bytes *b)
{
    DrvQp *qp = s->qp[end];
    uint8_t *rq = gpa_ptr(s->d->h, qp->buf);

    bytes_mutate(b, rq, (size_t)1 << (qp->p.log_rq + qp->p.log_rq_stride));
    if (bytes_u8(b) < 4) {
        mocx_put_be32(gpa_ptr(s->d->h, qp->dbr), bytes_u32(b));
    }
}

static void step(Pair *p, Bytes *b)
{
    Side *from = bytes_u8(b) & 1 ? &p->a : &p->b;
    Side *to = from == &p->a ? &p->b : &p->a;
    int end = bytes_u8(b) % ENDS;
    struct mlx5_cqe64 cqe;

    for (unsigned n = bytes_u8(b) % 4; n; n--) {
        drv_post_recv(to->qp[end], &(DrvSge) { MR_VA, to->mr->key, 2048 }, 1);
    }
    spoil_receive(to, end, b);
    for (unsigned n = bytes_u8(b) % 6; n; n--) {
        post_send(from, to, end, b);
    }
    spoil_ring(from->qp[end], b);
    drv_ring(from->qp[end]);
    world_run(p->w, bytes_u8(b) * NSEC_PER_USEC);
    do {
        if (!(bytes_u8(b) & 1)) {
            break;
        }
    } while (drv_cq_poll(from->cq, &cqe));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes b = { data, data + size };
    Pair p;

    pair_up(&p);
    for (unsigned i = 0; i < STEPS_MAX && b.p < b.end; i++) {
        step(&p, &b);
    }
    world_run(p.w, NSEC_PER_SEC);
    side_down(&p.a);
    side_down(&p.b);
    world_free(p.w);
    return 0;
}
