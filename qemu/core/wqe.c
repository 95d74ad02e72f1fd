// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parser of work queue elements.  Layouts: struct mlx5_wqe_*_seg of
 * <infiniband/mlx5dv.h>; their order is that of rdma-core's providers/mlx5/qp.c
 * and of drivers/infiniband/hw/mlx5/wr.c.
 */
#include "wqe.h"

#include "qp.h"

#define UNIT            16          /* what the size in a WQE counts */
#define XRC_SEG_LEN     16
#define AV_LEN          sizeof(struct mlx5_wqe_av)
#define RADDR_LEN       sizeof(struct mlx5_wqe_raddr_seg)
#define ATOMIC_LEN      sizeof(struct mlx5_wqe_atomic_seg)
#define DATA_LEN        sizeof(struct mlx5_wqe_data_seg)
#define INLINE_MASK     0x3ffu
/* A byte count of zero means this much (drivers/infiniband/hw/mlx5/odp.c). */
#define SEG_LEN_ZERO    (1u << 31)

enum {
    T_RC = 1, T_UC = 2, T_UD = 4, T_XRC = 8, T_UMR = 16, T_ALL = 31,
};

typedef struct WqeRow {
    uint8_t types;
    bool raddr, atomic, umr;
} WqeRow;

/* What each opcode carries, and on which QPs it is legal. */
static const WqeRow wqe_rows[] = {
    [MLX5_OPCODE_NOP] = { T_ALL, 0, 0, 0 },
    [MLX5_OPCODE_SEND] = { T_RC | T_UC | T_UD | T_XRC, 0, 0, 0 },
    [MLX5_OPCODE_SEND_IMM] = { T_RC | T_UC | T_UD | T_XRC, 0, 0, 0 },
    [MLX5_OPCODE_SEND_INVAL] = { T_RC | T_XRC, 0, 0, 0 },
    [MLX5_OPCODE_RDMA_WRITE] = { T_RC | T_UC | T_XRC, 1, 0, 0 },
    [MLX5_OPCODE_RDMA_WRITE_IMM] = { T_RC | T_UC | T_XRC, 1, 0, 0 },
    [MLX5_OPCODE_RDMA_READ] = { T_RC | T_XRC, 1, 0, 0 },
    [MLX5_OPCODE_ATOMIC_CS] = { T_RC | T_XRC, 1, 1, 0 },
    [MLX5_OPCODE_ATOMIC_FA] = { T_RC | T_XRC, 1, 1, 0 },
    [MLX5_OPCODE_UMR] = { T_RC | T_UC | T_XRC | T_UMR, 0, 0, 1 },
};

#define NUM_WQE_ROWS (sizeof(wqe_rows) / sizeof(wqe_rows[0]))

static uint8_t type_bit(const MocxQp *qp)
{
    switch (qp->type) {
    case MOCX_QP_RC:
        return T_RC;
    case MOCX_QP_UC:
        return T_UC;
    case MOCX_QP_XRC:
        return T_XRC;
    case MOCX_QP_UMR:
        return T_UMR;
    default:
        return T_UD;
    }
}

/* A place in the raw bytes. */
typedef struct Cursor {
    MocxWqe *wqe;
    size_t pos;
} Cursor;

static const uint8_t *take(Cursor *c, size_t len)
{
    const uint8_t *p = c->wqe->raw + c->pos;

    if (c->wqe->size - c->pos < len) {
        return NULL;
    }
    c->pos += len;
    return p;
}

static bool parse_remote(Cursor *c, const WqeRow *row)
{
    MocxWqe *wqe = c->wqe;
    const uint8_t *p = take(c, RADDR_LEN);

    if (!p) {
        return false;
    }
    wqe->raddr = mocx_get_be64(p);
    wqe->rkey = mocx_get_be32(p + 8);
    if (row->atomic) {
        p = take(c, ATOMIC_LEN);
        if (!p) {
            return false;
        }
        wqe->swap_add = mocx_get_be64(p);
        wqe->compare = mocx_get_be64(p + 8);
    }
    return true;
}

static bool add_inline(Cursor *c, uint32_t count)
{
    MocxWqe *wqe = c->wqe;
    size_t len = count & INLINE_MASK;
    size_t span = (sizeof(uint32_t) + len + UNIT - 1) & ~(size_t)(UNIT - 1);
    size_t at = c->pos;

    if (!take(c, span) || wqe->num_segs == MOCX_WQE_SEGS_MAX) {
        return false;
    }
    if (len) {
        wqe->inline_segs |= 1ULL << wqe->num_segs;
        wqe->segs[wqe->num_segs++] = (MocxSge) {
            .addr = at + sizeof(uint32_t), .len = (uint32_t)len,
        };
        wqe->len += len;
    }
    return true;
}

static bool add_pointer(Cursor *c, uint32_t count)
{
    MocxWqe *wqe = c->wqe;
    const uint8_t *p = take(c, DATA_LEN);

    if (!p || wqe->num_segs == MOCX_WQE_SEGS_MAX) {
        return false;
    }
    count = count ? count : SEG_LEN_ZERO;
    wqe->segs[wqe->num_segs++] = (MocxSge) {
        .len = count, .lkey = mocx_get_be32(p + 4),
        .addr = mocx_get_be64(p + 8),
    };
    wqe->len += count;
    return true;
}

static bool parse_data(Cursor *c)
{
    while (c->pos < c->wqe->size) {
        uint32_t count = mocx_get_be32(c->wqe->raw + c->pos);

        if (count & MLX5_INLINE_SEG ? !add_inline(c, count)
                                    : !add_pointer(c, count)) {
            return false;
        }
    }
    return true;
}

static bool parse_av(Cursor *c)
{
    size_t at = c->pos;

    if (!take(c, AV_LEN)) {
        return false;
    }
    c->wqe->av = (uint16_t)at;
    /* The short form without an address means nothing on Ethernet. */
    return mocx_get_be32(c->wqe->raw + at +
                         offsetof(struct mlx5_wqe_av, dqp_dct)) &
           MLX5_EXTENDED_UD_AV;
}

static bool parse_xrc(Cursor *c)
{
    const uint8_t *p = take(c, XRC_SEG_LEN);

    if (p) {
        c->wqe->srqn = mocx_get_be32(p) & 0xffffff;
    }
    return p;
}

static void parse_ctrl(MocxWqe *wqe)
{
    uint8_t fm_ce_se = wqe->raw[offsetof(struct mlx5_wqe_ctrl_seg, fm_ce_se)];

    wqe->fence = fm_ce_se >> 5;
    wqe->signalled = fm_ce_se & MLX5_WQE_CTRL_CQ_UPDATE;
    wqe->solicited = fm_ce_se & MLX5_WQE_CTRL_SOLICITED;
    wqe->imm = mocx_get_be32(wqe->raw +
                             offsetof(struct mlx5_wqe_ctrl_seg, imm));
}

static bool parse_segs(const MocxQp *qp, MocxWqe *wqe)
{
    Cursor c = { wqe, sizeof(struct mlx5_wqe_ctrl_seg) };
    const WqeRow *row = &wqe_rows[wqe->opcode];

    if (row->umr) {
        wqe->umr = (uint16_t)c.pos;
        return true;
    }
    if (wqe->opcode == MLX5_OPCODE_NOP) {
        return true;
    }
    if (mocx_qp_datagram(qp) && !parse_av(&c)) {
        return false;
    }
    if (qp->type == MOCX_QP_XRC && !parse_xrc(&c)) {
        return false;
    }
    if (row->raddr && !parse_remote(&c, row)) {
        return false;
    }
    return parse_data(&c) && (!row->atomic || wqe->len == 8) &&
           (wqe->opcode != MLX5_OPCODE_RDMA_READ || !wqe->inline_segs);
}

static bool opcode_legal(const MocxQp *qp, const MocxWqe *wqe)
{
    /* opmod is the top byte of the WQE; no verb uses it. */
    return wqe->opcode < NUM_WQE_ROWS &&
           wqe_rows[wqe->opcode].types & type_bit(qp) && !wqe->raw[0];
}

static void reset(MocxWqe *wqe, uint16_t counter)
{
    memset(wqe, 0, offsetof(MocxWqe, segs));
    wqe->counter = counter;
    wqe->blocks = 1;
}

static bool read_blocks(MocxDev *dev, const MocxQp *qp, MocxWqe *wqe,
                        unsigned first, unsigned n)
{
    return mocx_ring_read(dev, &qp->ring, qp->rq_span, qp->sq_span,
                          ((uint64_t)wqe->counter + first) * MOCX_WQE_BB,
                          wqe->raw + first * MOCX_WQE_BB, n * MOCX_WQE_BB);
}

MocxWqeResult mocx_wqe_fetch(MocxDev *dev, MocxQp *qp, uint16_t counter,
                             uint16_t avail, MocxWqe *wqe)
{
    unsigned units;

    reset(wqe, counter);
    if (!read_blocks(dev, qp, wqe, 0, 1)) {
        return MOCX_WQE_NO_MEMORY;
    }
    wqe->opcode = wqe->raw[3];
    units = wqe->raw[7] & 0x3f;
    wqe->size = (uint16_t)(units * UNIT);
    wqe->blocks = (uint8_t)((units + 3) / 4);
    if (!units || wqe->blocks > avail) {
        wqe->blocks = 1;
        return MOCX_WQE_MALFORMED;
    }
    if (wqe->blocks > 1 && !read_blocks(dev, qp, wqe, 1, wqe->blocks - 1)) {
        return MOCX_WQE_NO_MEMORY;
    }
    parse_ctrl(wqe);
    if (!opcode_legal(qp, wqe) || !parse_segs(qp, wqe)) {
        return MOCX_WQE_MALFORMED;
    }
    wqe->valid = true;
    return MOCX_WQE_OK;
}


MocxMemResult mocx_wqe_read(MocxDev *dev, const MocxQp *qp, const MocxWqe *wqe,
                            uint64_t off, uint8_t *buf, size_t len)
{
    MocxAccess acc = mocx_qp_access(qp, MOCX_LOCAL_READ);

    for (uint32_t i = 0; len && i < wqe->num_segs; i++) {
        MocxSge part = wqe->segs[i];
        MocxMemResult r = MOCX_MEM_OK;

        if (off >= part.len) {
            off -= part.len;
            continue;
        }
        part.addr += off;
        part.len -= (uint32_t)off;
        part.len = part.len < len ? part.len : (uint32_t)len;
        if (wqe->inline_segs >> i & 1) {
            memcpy(buf, wqe->raw + part.addr, part.len);
        } else {
            r = mocx_mem_read(dev, &acc, part.lkey, part.addr, buf,
                              part.len);
        }
        if (r) {
            return r;
        }
        buf += part.len;
        len -= part.len;
        off = 0;
    }
    return len ? MOCX_MEM_BAD_RANGE : MOCX_MEM_OK;
}

MocxMemResult mocx_wqe_write(MocxDev *dev, const MocxQp *qp, const MocxWqe *wqe,
                             uint64_t off, const uint8_t *buf, size_t len)
{
    MocxAccess acc = mocx_qp_access(qp, MOCX_LOCAL_WRITE);

    return wqe->inline_segs ? MOCX_MEM_BAD_RIGHT
           : mocx_sgl_write(dev, &acc, wqe->segs, wqe->num_segs, off, buf, len);
}

MocxWqeResult mocx_recv_parse(MocxDev *dev, MocxRecvWqe *wqe,
                              const uint8_t *raw, size_t len)
{
    wqe->num_sges = 0;
    wqe->room = 0;
    for (; len >= DATA_LEN && wqe->num_sges < MOCX_RECV_SGES_MAX;
         raw += DATA_LEN, len -= DATA_LEN) {
        uint32_t count = mocx_get_be32(raw);
        uint32_t lkey = mocx_get_be32(raw + 4);

        if (!count && mocx_sgl_ends(dev, wqe->sges, wqe->num_sges, lkey)) {
            break;
        }
        if (count & MLX5_INLINE_SEG) {
            return MOCX_WQE_MALFORMED;
        }
        count = count ? count : SEG_LEN_ZERO;
        wqe->sges[wqe->num_sges++] = (MocxSge) {
            .len = count, .lkey = lkey, .addr = mocx_get_be64(raw + 8),
        };
        wqe->room += count;
    }
    return MOCX_WQE_OK;
}
