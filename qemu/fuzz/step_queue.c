/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work requests, completions, time. */
#include "core/obj.h"
#include "step.h"

#define WQEBB           64

uint32_t pick_key(Bed *bed, uint8_t pick)
{
    if (!bed->up) {
        return pick_object(bed, MOCX_OBJ_MKEY, pick) << 8;
    }
    switch (pick % 16) {
    case 0:
        return bed->klm;
    case 1:
        return bed->umr_key | pick >> 4;
    case 2:
        return bed->d->lkey;
    case 3:
        return 0x100;
    case 4:
        return bed->mr->key ^ (pick >> 4);
    case 5:
        return 0;
    default:
        return bed->mr->key;
    }
}

uint64_t pick_va(uint8_t pick)
{
    static const uint64_t odd[] = {
        BED_MR_VA - 1, BED_MR_VA + BED_MR_LEN - 1, BED_MR_VA + BED_MR_LEN,
        0, HOST_MEM_BASE, UINT64_MAX - 3, BED_MR_VA + HOST_PAGE - 4, 1,
    };

    return pick >= 248 ? odd[pick - 248]
           : BED_MR_VA + (pick & 7) + (pick >> 3) * 256;
}

static uint32_t pick_size(uint8_t pick)
{
    return pick < 128 ? pick * 8u : pick < 240 ? pick * 48u
           : 1u << (pick - 240) << 8;
}

/* What a step leaves in a ring, which wraps. */
static void spoil_last(DrvQp *qp, uint16_t index, Bytes *b)
{
    uint32_t mask = (1u << qp->p.log_sq) - 1;
    uint8_t *wqe = gpa_ptr(qp->d->h, qp->sq + (index & mask) * WQEBB);
    size_t len = (mask + 1 - (index & mask)) * WQEBB;

    len = len < 2 * WQEBB ? len : 2 * WQEBB;
    bytes_spoil(b, wqe, len);
    bytes_spoil(b, wqe, len);
    qp->last_ctrl = mocx_get_be64(wqe);
}

static void ring(DrvQp *qp, uint8_t how)
{
    uint8_t *dbr = gpa_ptr(qp->d->h, qp->dbr);

    switch (how % 16) {
    case 1:
        return;
    case 2:
        mocx_put_be32(dbr + 4, qp->sq_pi + (how >> 4));
        break;
    case 3:
        mocx_put_be32(dbr + 4, qp->sq_pi - (how >> 4));
        break;
    default:
        drv_ring(qp);
        return;
    }
    host_write64(qp->d->h, qp->d->uar * (uint64_t)HOST_PAGE + UAR_BF,
                 qp->last_ctrl);
}

static uint16_t post(Bed *bed, DrvQp *qp, Bytes *b)
{
    static const uint8_t opcodes[] = {
        MLX5_OPCODE_SEND, MLX5_OPCODE_SEND_IMM, MLX5_OPCODE_SEND_INVAL,
        MLX5_OPCODE_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE_IMM,
        MLX5_OPCODE_RDMA_READ, MLX5_OPCODE_ATOMIC_CS, MLX5_OPCODE_ATOMIC_FA,
        MLX5_OPCODE_LOCAL_INVAL, MLX5_OPCODE_NOP,
    };
    static const uint8_t data[64] = { 1, 2, 3 };
    bool datagram = qp->p.type == DRV_QP_UD || qp->p.type == DRV_QP_GSI;
    DrvAv av = { &bed->far, qp->qpn, BED_QKEY, DRV_GID_V2_V4 };
    uint8_t how = bytes_u8(b), flags = bytes_u8(b);
    DrvWr wr = {
        .opcode = opcodes[how % sizeof(opcodes)], .unsignaled = flags & 1,
        .solicited = flags & 2, .fence = flags >> 5, .imm = bed->umr_key,
        .num_sge = flags >> 2 & 3, .av = datagram ? &av : NULL,
    };
    uint8_t key = bytes_u8(b), va = bytes_u8(b), size = bytes_u8(b);

    av.qkey ^= flags >> 7;
    wr.raddr = pick_va(bytes_u8(b));
    wr.rkey = pick_key(bed, bytes_u8(b));
    for (unsigned i = 0; i < wr.num_sge; i++) {
        wr.sge[i] = (DrvSge) { pick_va(va + i), pick_key(bed, key + i),
                               pick_size(size) };
    }
    if (flags & 0x10) {
        wr.inl = data;
        wr.inl_len = size % sizeof(data);
    }
    return drv_post(qp, &wr);
}

static void xrc_header(Bed *bed, DrvQp *qp, Bytes *b)
{
    uint8_t segs[16 + 16 + 16] = { 0 };
    uint8_t how = bytes_u8(b);
    bool write = how & 1;

    mocx_put_be32(segs, bed->srq[BED_XRC_SRQ].srqn + (how & 2));
    mocx_put_be64(segs + 16, pick_va(bytes_u8(b)));
    mocx_put_be32(segs + 24, pick_key(bed, bytes_u8(b)));
    mocx_put_be32(segs + (write ? 32 : 16), pick_size(bytes_u8(b)));
    mocx_put_be32(segs + (write ? 36 : 20), bed->mr->key);
    mocx_put_be64(segs + (write ? 40 : 24), BED_MR_VA);
    drv_post_raw(qp, write ? MLX5_OPCODE_RDMA_WRITE_IMM : MLX5_OPCODE_SEND, 8,
                 how, segs, write ? 48 : 32);
}

void step_send(Bed *bed, Bytes *b)
{
    DrvQp *qp = &bed->qp[bytes_u8(b) % BED_QPS];
    uint8_t how = bytes_u8(b);
    uint16_t index = qp->sq_pi;

    if (qp->p.type == 3) {
        xrc_header(bed, qp, b);
    } else {
        index = post(bed, qp, b);
    }
    spoil_last(qp, index, b);
    ring(qp, how);
}

void step_umr(Bed *bed, Bytes *b)
{
    DrvQp *qp = &bed->qp[bytes_u8(b) % 4 ? BED_UMR : BED_RC_A];
    uint8_t how = bytes_u8(b), flags = bytes_u8(b), n = bytes_u8(b) % 8;
    uint8_t segs[48 + 64 + 128] = { 0 }, *mkc = segs + 48;
    uint32_t key = how & 1 ? bed->umr_key : pick_key(bed, bytes_u8(b));
    uint16_t index;

    segs[0] = flags & 0xe0;
    mocx_put_be16(segs + 4, flags & 1 ? n : n / 2);
    mocx_put_be64(segs + 8, flags & 2 ? 0x203e2143ULL : bytes_u32(b));
    DEVX_SET(mkc, mkc, free, flags >> 2 & 1);
    mkc[0] |= flags & 4 ? 0x40 : 0;
    DEVX_SET(mkc, mkc, lr, 1);
    DEVX_SET(mkc, mkc, lw, 1);
    DEVX_SET(mkc, mkc, rr, 1);
    DEVX_SET(mkc, mkc, rw, 1);
    DEVX_SET(mkc, mkc, mkey_7_0, how >> 4);
    DEVX_SET(mkc, mkc, log_page_size, 12);
    DEVX_SET64(mkc, mkc, start_addr, pick_va(bytes_u8(b)));
    DEVX_SET64(mkc, mkc, len, pick_size(bytes_u8(b)));
    for (unsigned i = 0; i < n; i++) {
        mocx_put_be32(segs + 112 + i * 16, HOST_PAGE >> (how & 2));
        mocx_put_be32(segs + 116 + i * 16, pick_key(bed, how + i));
        mocx_put_be64(segs + 120 + i * 16, how & 4 ? pick_va(how + i)
                      : pick_address(bed, i));
    }
    index = drv_post_raw(qp, MLX5_OPCODE_UMR, 8, key, segs, 112 + n * 16);
    spoil_last(qp, index, b);
    ring(qp, how);
}

static void srq_post(Bed *bed, BedSrq *srq, Bytes *b)
{
    uint8_t *ring = gpa_ptr(bed->h, srq->buf);

    bytes_spoil(b, ring, 1024);
    bytes_spoil(b, ring, 1024);
    srq->posted += bytes_u8(b) % 16;
    mocx_put_be32(gpa_ptr(bed->h, srq->dbr), srq->posted);
}

void step_receive(Bed *bed, Bytes *b)
{
    uint8_t which = bytes_u8(b) % (BED_QPS + BED_SRQS + 2);
    DrvSge sge = { pick_va(bytes_u8(b)), pick_key(bed, bytes_u8(b)),
                   pick_size(bytes_u8(b)) };
    uint8_t jump = bytes_u8(b);
    DrvQp *qp = &bed->qp[which % BED_QPS];
    DrvRq *rq = bed->rq[which & 1];

    if (which >= BED_QPS + BED_SRQS) {
        drv_rq_post(rq, &sge, 1);
        bytes_spoil(b, gpa_ptr(bed->h, rq->buf), 512);
    } else if (which >= BED_QPS) {
        srq_post(bed, &bed->srq[which - BED_QPS], b);
    } else if (qp->p.log_rq && !qp->p.srqn) {
        drv_post_recv(qp, &sge, 1);
        bytes_spoil(b, gpa_ptr(bed->h, qp->buf), 1024);
        if (jump > 248) {
            mocx_put_be32(gpa_ptr(bed->h, qp->dbr), bytes_interesting(b));
        }
    }
}

static void drain(DrvCq *cq, unsigned n)
{
    struct mlx5_cqe64 cqe;

    while (n-- && drv_cq_poll(cq, &cqe)) {
        continue;
    }
}

void step_poll(Bed *bed, Bytes *b)
{
    DrvCq *cq = bed->cq[bytes_u8(b) % 3];
    DrvEq *eq = bytes_u8(b) & 1 ? bed->d->async : bed->d->comp;
    uint8_t how = bytes_u8(b), eqe[64];

    drain(cq, how % 64);
    if (how & 0x40) {
        drv_cq_arm(cq, how & 1);
    }
    if (how & 0x80) {
        while (drv_eq_poll(eq, eqe)) {
            continue;
        }
        drv_eq_arm(eq);
    }
    bytes_spoil(b, gpa_ptr(bed->h, cq->dbr), 8);
}

void step_time(Bed *bed, Bytes *b)
{
    uint8_t how = bytes_u8(b);

    world_run(bed->w, how < 200 ? how * NSEC_PER_USEC
              : (how - 199) * 10 * NSEC_PER_MSEC);
}

void step_spoil(Bed *bed, Bytes *b)
{
    bed->spoil_frames = bytes_u8(b) % 4 + 1;
    bed->spoil = *b;
}
