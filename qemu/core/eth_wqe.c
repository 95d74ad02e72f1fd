// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parsing of Ethernet send WQEs: control segment, Ethernet segment with
 * inlined headers, data segments (mlx5/qp.h, mlx5e: en_tx.c).
 */
#include "sq.h"

#define UNIT                16      /* what qpn_ds counts */
#define DS_MASK             0x3f
#define SEG_INLINE          0x80000000u
#define SEG_LEN_MASK        0x7fffffffu

#define CE_SHIFT            2       /* of fm_ce_se */
#define CE_MASK             3
#define CE_ALWAYS           2
#define SE_SOLICITED        0x02

/* eth_seg.inline_hdr_sz, which is a union (mlx5/qp.h: MLX5_ETH_WQE_*) */
#define INLINE_SZ_MASK      0x3ff
#define INSERT_VLAN         0x8000
#define INSERT_SVLAN        0x0001

static uint32_t round_up(uint32_t v, uint32_t unit)
{
    return (v + unit - 1) / unit * unit;
}

/* Segments */

static bool add_seg(MocxEthWqe *wqe, const MocxSge *sge, bool is_inline)
{
    if (!sge->len) {
        return true;
    }
    if (wqe->num_segs == MOCX_ETH_WQE_SEGS) {
        return false;
    }
    wqe->inline_segs |= (uint64_t)is_inline << wqe->num_segs;
    wqe->segs[wqe->num_segs++] = *sge;
    wqe->len += sge->len;
    return true;
}

/* Inline segments and pointers may be mixed. */
static bool parse_segs(MocxEthWqe *wqe, uint32_t pos, uint32_t size)
{
    while (pos + UNIT <= size) {
        const uint8_t *seg = wqe->raw + pos;
        uint32_t count = mocx_get_be32(seg);
        MocxSge sge = {
            .len = count & SEG_LEN_MASK,
            .lkey = mocx_get_be32(seg + 4),
            .addr = mocx_get_be64(seg + 8),
        };

        if (count & SEG_INLINE) {
            sge.addr = pos + sizeof(count);
            if (sge.len > size - sge.addr || !add_seg(wqe, &sge, true)) {
                return false;
            }
            pos += round_up(sizeof(count) + sge.len, UNIT);
        } else {
            if (!add_seg(wqe, &sge, false)) {
                return false;
            }
            pos += UNIT;
        }
    }
    return true;
}

static bool parse_eth_seg(MocxEthWqe *wqe, uint32_t size)
{
    const struct mlx5_wqe_eth_seg *eth = (const void *)(wqe->raw + UNIT);
    uint16_t inl = be16toh(eth->inline_hdr_sz);
    uint32_t pos = 2 * UNIT;

    if (size < pos) {
        return false;
    }
    wqe->cs_flags = eth->cs_flags;
    wqe->mss = be16toh(eth->mss);
    if (inl & INSERT_VLAN) {
        uint32_t type = inl & INSERT_SVLAN ? MOCX_ETH_P_8021AD
                                           : MOCX_ETH_P_8021Q;

        wqe->tag = type << 16 | mocx_get_be16(eth->inline_hdr_start);
    } else {
        wqe->hdr_len = inl & INLINE_SZ_MASK;
        if (wqe->hdr_len > size - MOCX_ETH_WQE_HDR) {
            return false;
        }
        pos = round_up(MOCX_ETH_WQE_HDR + wqe->hdr_len, UNIT);
    }
    return parse_segs(wqe, pos, size);
}

/* Lengths */

static MocxEthWqeResult check_send(const MocxEthWqe *wqe)
{
    uint64_t len = wqe->hdr_len + wqe->len;

    if (wqe->mss) {
        return MOCX_ETH_WQE_BAD;
    }
    return len < MOCX_ETH_HLEN || len > MOCX_FRAME_MAX - MOCX_VLAN_HLEN
         ? MOCX_ETH_WQE_BAD_LEN : MOCX_ETH_WQE_OK;
}

/*
 * The length fields of the headers are those of the whole send, or 0 if it is
 * too large for them; without payload they are right for the parser.
 */
static bool parse_template(MocxEthWqe *wqe)
{
    uint8_t *hdr = wqe->raw + MOCX_ETH_WQE_HDR;
    MocxEthPkt *t = &wqe->template;
    uint32_t l3_len;

    if (!mocx_eth_parse(t, hdr, wqe->hdr_len) || t->l3 == MOCX_L3_NONE) {
        return false;
    }
    l3_len = wqe->hdr_len - t->l3_off;
    if (t->l3 == MOCX_L3_IPV4) {
        mocx_put_be16(hdr + t->l3_off + 2, l3_len);
    } else {
        mocx_put_be16(hdr + t->l3_off + 4, l3_len - MOCX_IPV6_HLEN);
    }
    return mocx_eth_parse(t, hdr, wqe->hdr_len) && t->l4 != MOCX_L4_NONE;
}

static MocxEthWqeResult check_lso(MocxEthWqe *wqe)
{
    if (!wqe->mss || !parse_template(wqe)) {
        return MOCX_ETH_WQE_BAD;
    }
    return wqe->hdr_len + wqe->mss > MOCX_FRAME_MAX || wqe->len > MOCX_LSO_MAX
         ? MOCX_ETH_WQE_BAD_LEN : MOCX_ETH_WQE_OK;
}

/* Fetch */

static MocxEthWqeResult parse(MocxEthWqe *wqe, uint32_t size)
{
    switch (wqe->opcode) {
    case MLX5_OPCODE_NOP:
        return MOCX_ETH_WQE_OK;
    case MLX5_OPCODE_SEND:
        return parse_eth_seg(wqe, size) ? check_send(wqe) : MOCX_ETH_WQE_BAD;
    case MLX5_OPCODE_TSO:
        return parse_eth_seg(wqe, size) ? check_lso(wqe) : MOCX_ETH_WQE_BAD;
    default:
        return MOCX_ETH_WQE_BAD;
    }
}

/* All but the bytes of the WQE, which need no clearing. */
static void clear(MocxEthWqe *wqe)
{
    memset(wqe, 0, offsetof(MocxEthWqe, segs));
    wqe->off = 0;
    wqe->seg = 0;
    wqe->seg_off = 0;
    wqe->frames = 0;
}

MocxEthWqeResult mocx_eth_wqe_fetch(MocxDev *dev, const MocxSq *sq,
                                    uint16_t avail, MocxEthWqe *wqe)
{
    const struct mlx5_wqe_ctrl_seg *ctrl = (const void *)wqe->raw;
    const MocxRing *ring = &sq->wq.ring;
    uint64_t pos = (uint64_t)sq->ci * MOCX_ETH_WQE_BB % ring->size;
    uint32_t units, size;

    clear(wqe);
    wqe->counter = sq->ci;
    wqe->blocks = 1;
    if (!mocx_ring_read(dev, ring, 0, ring->size, pos, wqe->raw,
                        MOCX_ETH_WQE_BB)) {
        return MOCX_ETH_WQE_NO_MEMORY;
    }
    wqe->opcode = be32toh(ctrl->opmod_idx_opcode);
    wqe->signalled = (ctrl->fm_ce_se >> CE_SHIFT & CE_MASK) >= CE_ALWAYS;
    wqe->solicited = ctrl->fm_ce_se & SE_SOLICITED;
    units = be32toh(ctrl->qpn_ds) & DS_MASK;
    size = units * UNIT;
    if (!units || round_up(size, MOCX_ETH_WQE_BB) > avail * MOCX_ETH_WQE_BB) {
        return MOCX_ETH_WQE_BAD;
    }
    wqe->blocks = round_up(size, MOCX_ETH_WQE_BB) / MOCX_ETH_WQE_BB;
    if (size > MOCX_ETH_WQE_BB &&
        !mocx_ring_read(dev, ring, 0, ring->size,
                        (pos + MOCX_ETH_WQE_BB) % ring->size,
                        wqe->raw + MOCX_ETH_WQE_BB, size - MOCX_ETH_WQE_BB)) {
        return MOCX_ETH_WQE_NO_MEMORY;
    }
    return parse(wqe, size);
}

/* Gather */

MocxMemResult mocx_eth_wqe_gather(MocxDev *dev, const MocxSq *sq,
                                  MocxEthWqe *wqe, uint8_t *buf, size_t len)
{
    const MocxAccess acc = {
        .pdn = sq->wq.pd ? sq->wq.pd->id : 0,
        .qpn = sq->queue.obj.id,
        .need = MOCX_LOCAL_READ,
        .reserved_lkey = sq->rlky,
    };

    while (len && wqe->seg < wqe->num_segs) {
        const MocxSge *sge = &wqe->segs[wqe->seg];
        size_t left = sge->len - wqe->seg_off;
        size_t n = left < len ? left : len;
        uint64_t addr = sge->addr + wqe->seg_off;

        if (wqe->inline_segs >> wqe->seg & 1) {
            memcpy(buf, wqe->raw + addr, n);
        } else {
            MocxMemResult r = mocx_mem_read(dev, &acc, sge->lkey, addr, buf, n);

            if (r != MOCX_MEM_OK) {
                return r;
            }
        }
        buf += n;
        len -= n;
        wqe->off += n;
        wqe->seg_off += n;
        if (n == left) {
            wqe->seg++;
            wqe->seg_off = 0;
        }
    }
    return len ? MOCX_MEM_BAD_RANGE : MOCX_MEM_OK;
}
