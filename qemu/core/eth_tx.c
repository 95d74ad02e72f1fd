// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ethernet transmit: from WQEs to frames.  A turn of a queue is a frame, a
 * NOP, or a flushed WQE; a large send stays the queue's WQE until its last
 * frame has gone, so that other queues get their turns in between.
 */
#include "csum.h"
#include "sq.h"

enum {                          /* eth_seg.cs_flags (mlx5/qp.h) */
    CS_L3 = 1 << 6, CS_L4 = 1 << 7,
};

enum {                          /* byte 13 of a TCP header */
    TCP_FIN = 0x01, TCP_PSH = 0x08, TCP_CWR = 0x80,
};

#define MACS            12      /* bytes of both addresses */

/* Vendor bytes seen in the field beside these syndromes. */
#define VENDOR_QP_OP    0x68
#define VENDOR_PROT     0x51
#define VENDOR_FLUSH    0xf9

typedef enum Step {
    STEP_DONE,                  /* one unit of work */
    STEP_IDLE,                  /* nothing is posted */
    STEP_WAIT,                  /* for room on the wire */
} Step;

/* Checksums */

static uint32_t l4_csum_off(const MocxEthPkt *pkt)
{
    return pkt->l4_off + (pkt->l4 == MOCX_L4_TCP ? 16 : 6);
}

static void insert_l3_csum(uint8_t *ip)
{
    mocx_put_be16(ip + 10, 0);
    mocx_put_be16(ip + 10, ~mocx_csum(ip, (ip[0] & 0xf) * 4));
}

static void insert_l4_csum(uint8_t *frame, const MocxEthPkt *pkt)
{
    uint8_t *field = frame + l4_csum_off(pkt);
    uint32_t len = pkt->ip_end - pkt->l4_off;
    size_t addrs_len;
    const uint8_t *addrs = mocx_eth_addrs(pkt, &addrs_len);
    uint16_t sum;

    mocx_put_be16(field, 0);
    sum = mocx_csum_add(mocx_csum(frame + pkt->l4_off, len),
                        mocx_csum_pseudo(addrs, addrs_len, pkt->ip_proto, len));
    sum = ~sum;
    if (!sum && pkt->l4 == MOCX_L4_UDP) {
        sum = 0xffff;           /* 0 means none (RFC 768) */
    }
    mocx_put_be16(field, sum);
}

/* @pkt: @frame, parsed */
static void insert_csums(uint8_t *frame, const MocxEthPkt *pkt, uint8_t flags)
{
    if (flags & CS_L3 && pkt->l3 == MOCX_L3_IPV4 && pkt->l3_sane) {
        insert_l3_csum(frame + pkt->l3_off);
    }
    if (flags & CS_L4 && pkt->l4 != MOCX_L4_NONE) {
        insert_l4_csum(frame, pkt);
    }
}

/* Frames */

static void sq_commit(MocxDev *dev, const MocxSq *sq, size_t len)
{
    uint32_t tdn = sq->tis ? DEVX_GET(tisc, sq->tis->ctx, transport_domain) : 0;

    if (mocx_port_up(&dev->port)) {
        mocx_tx_commit(dev, len, tdn);
    }
}

static void insert_tag(uint8_t *frame, uint32_t tag)
{
    memmove(frame, frame + MOCX_VLAN_HLEN, MACS);
    mocx_put_be32(frame + MACS, tag);
}

static MocxMemResult send_frame(MocxDev *dev, MocxSq *sq)
{
    MocxEthWqe *wqe = &sq->wqe;
    size_t tag_len = wqe->tag ? MOCX_VLAN_HLEN : 0;
    size_t len = tag_len + wqe->hdr_len + wqe->len;
    uint8_t *frame = mocx_tx_buf(dev, len);
    uint8_t *p = frame + tag_len;
    MocxMemResult r;
    MocxEthPkt pkt;

    memcpy(p, wqe->raw + MOCX_ETH_WQE_HDR, wqe->hdr_len);
    r = mocx_eth_wqe_gather(dev, sq, wqe, p + wqe->hdr_len, wqe->len);
    if (r != MOCX_MEM_OK) {
        return r;
    }
    if (wqe->tag) {
        insert_tag(frame, wqe->tag);
    }
    if (wqe->cs_flags & (CS_L3 | CS_L4) && mocx_eth_parse(&pkt, frame, len)) {
        insert_csums(frame, &pkt, wqe->cs_flags);
    }
    sq_commit(dev, sq, len);
    return MOCX_MEM_OK;
}

/* The headers of one frame of a large send. @l3_len: from the IP header on */
static void lso_headers(uint8_t *frame, const MocxEthWqe *wqe, uint32_t off,
                        uint32_t chunk)
{
    const MocxEthPkt *t = &wqe->template;
    uint8_t *ip = frame + t->l3_off, *l4 = frame + t->l4_off;
    uint32_t l3_len = wqe->hdr_len - t->l3_off + chunk;

    if (t->l3 == MOCX_L3_IPV4) {
        mocx_put_be16(ip + 2, l3_len);
        mocx_put_be16(ip + 4, mocx_get_be16(ip + 4) + wqe->frames);
    } else {
        mocx_put_be16(ip + 4, l3_len - MOCX_IPV6_HLEN);
    }
    if (t->l4 == MOCX_L4_UDP) {
        mocx_put_be16(l4 + 4, wqe->hdr_len - t->l4_off + chunk);
        return;
    }
    mocx_put_be32(l4 + 4, mocx_get_be32(l4 + 4) + off);
    if (off) {
        l4[13] &= ~TCP_CWR;     /* of the first alone (RFC 3168) */
    }
    if (off + chunk < wqe->len) {
        l4[13] &= ~(TCP_FIN | TCP_PSH);
    }
}

/* One frame of a large send. */
static MocxMemResult send_lso_frame(MocxDev *dev, MocxSq *sq)
{
    MocxEthWqe *wqe = &sq->wqe;
    uint32_t off = wqe->off, left = wqe->len - off;
    uint32_t chunk = left < wqe->mss ? left : wqe->mss;
    size_t len = wqe->hdr_len + chunk;
    uint8_t *frame = mocx_tx_buf(dev, len);
    MocxEthPkt pkt = wqe->template;
    MocxMemResult r;

    memcpy(frame, wqe->raw + MOCX_ETH_WQE_HDR, wqe->hdr_len);
    r = mocx_eth_wqe_gather(dev, sq, wqe, frame + wqe->hdr_len, chunk);
    if (r != MOCX_MEM_OK) {
        return r;
    }
    lso_headers(frame, wqe, off, chunk);
    pkt.data = frame;
    pkt.len = len;
    pkt.ip_end = len;
    insert_csums(frame, &pkt, wqe->cs_flags);
    wqe->frames++;
    sq_commit(dev, sq, len);
    return MOCX_MEM_OK;
}

/* Completions */

static void sq_post(MocxDev *dev, MocxSq *sq, struct mlx5_cqe64 *cqe)
{
    cqe->srqn_uidx = htobe32(sq->user_index);
    cqe->sop_drop_qpn = htobe32((uint32_t)sq->wqe.opcode << 24 |
                                sq->queue.obj.id);
    cqe->wqe_counter = htobe16(sq->wqe.counter);
    if (!mocx_cq_post(dev, sq->cq, cqe)) {
        /* Nothing can be completed any more, so nothing is flushed. */
        sq->state = MOCX_WQ_ERR;
        mocx_event_queue(dev, MOCX_EV_QP_FATAL, 2, sq->queue.obj.id);
    }
}

static void sq_next(MocxSq *sq)
{
    sq->ci += sq->wqe.blocks;
    sq->busy = false;
}

static void sq_complete(MocxDev *dev, MocxSq *sq)
{
    struct mlx5_cqe64 cqe = { 0 };

    if (sq->wqe.signalled) {
        if (DEVX_GET(sqc, sq->ctx, ts_format) != MOCX_TS_FREE_RUNNING) {
            cqe.timestamp = htobe64(mocx_real_time(dev));
        }
        cqe.op_own = MLX5_CQE_REQ << 4 | (sq->wqe.solicited ? 2 : 0);
        sq_post(dev, sq, &cqe);
    }
    sq_next(sq);
}

static void sq_complete_error(MocxDev *dev, MocxSq *sq, uint8_t syndrome,
                              uint8_t vendor)
{
    union {
        struct mlx5_cqe64 cqe;
        struct mlx5_err_cqe err;
    } u = { 0 };

    u.err.syndrome = syndrome;
    u.err.vendor_err_synd = vendor;
    u.err.op_own = MLX5_CQE_REQ_ERR << 4;
    sq_post(dev, sq, &u.cqe);
    sq_next(sq);
}

static void sq_fail(MocxDev *dev, MocxSq *sq, uint8_t syndrome, uint8_t vendor)
{
    mocx_log(dev, MOCX_LOG_GUEST_ERROR,
             "SQ %u: WQE %u with opcode 0x%x fails, syndrome 0x%x",
             sq->queue.obj.id, sq->wqe.counter, sq->wqe.opcode, syndrome);
    sq->state = MOCX_WQ_ERR;
    sq_complete_error(dev, sq, syndrome, vendor);
    mocx_sq_error(dev, sq);
}

/* Turns */

/* Basic blocks posted; the record is read only when none is known of. */
static uint16_t sq_avail(MocxDev *dev, MocxSq *sq)
{
    if (sq->ci == sq->pi &&
        mocx_wq_db(dev, &sq->wq, MLX5_SND_DBR, sq->queue.obj.id, &sq->pi) &&
        (uint16_t)(sq->pi - sq->ci) > 1u << sq->wq.log_size) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR,
                 "SQ %u: producer index %u is more than a ring ahead of %u",
                 sq->queue.obj.id, sq->pi, sq->ci);
        sq->pi = sq->ci;
    }
    return sq->pi - sq->ci;
}

static bool sq_fetch(MocxDev *dev, MocxSq *sq, uint16_t avail)
{
    MocxEthWqeResult result = mocx_eth_wqe_fetch(dev, sq, avail, &sq->wqe);

    if (dev->verify && result != MOCX_ETH_WQE_NO_MEMORY) {
        mocx_verify_wqe(dev, sq->queue.obj.id, sq->ci, sq->wqe.raw);
    }
    switch (result) {
    case MOCX_ETH_WQE_OK:
        sq->busy = true;
        return true;
    case MOCX_ETH_WQE_BAD_LEN:
        sq_fail(dev, sq, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
        return false;
    case MOCX_ETH_WQE_BAD:
    case MOCX_ETH_WQE_NO_MEMORY:
        break;
    }
    sq_fail(dev, sq, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, VENDOR_QP_OP);
    return false;
}

static Step sq_send(MocxDev *dev, MocxSq *sq)
{
    bool lso = sq->wqe.opcode == MLX5_OPCODE_TSO;

    if (sq->wqe.opcode == MLX5_OPCODE_NOP) {
        sq_complete(dev, sq);
        return STEP_DONE;
    }
    if (!mocx_tx_room(dev, 1)) {
        return STEP_WAIT;
    }
    if ((lso ? send_lso_frame(dev, sq) : send_frame(dev, sq)) != MOCX_MEM_OK) {
        sq_fail(dev, sq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, VENDOR_PROT);
    } else if (sq->wqe.off == sq->wqe.len) {
        sq_complete(dev, sq);
    }
    return STEP_DONE;
}

static Step sq_turn(MocxDev *dev, MocxSq *sq)
{
    if (!sq->busy) {
        uint16_t avail = sq_avail(dev, sq);

        if (!avail) {
            return STEP_IDLE;
        }
        if (!sq_fetch(dev, sq, avail)) {
            return STEP_DONE;
        }
    }
    return sq_send(dev, sq);
}

/* Each WQE gets its CQE, whether it asked for one or not. */
static Step sq_flush_turn(MocxDev *dev, MocxSq *sq)
{
    uint16_t avail = sq_avail(dev, sq);

    if (!avail || sq->cq->in_error) {
        return STEP_IDLE;
    }
    if (!sq->busy) {
        mocx_eth_wqe_fetch(dev, sq, avail, &sq->wqe);
    }
    sq_complete_error(dev, sq, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, VENDOR_FLUSH);
    return STEP_DONE;
}

bool mocx_sq_run(MocxDev *dev, MocxWork *work, unsigned budget,
                 unsigned *used)
{
    MocxSq *sq = MOCX_CONTAINER_OF(work, MocxSq, work);
    Step step = STEP_IDLE;

    while (*used < budget) {
        if (sq->state == MOCX_WQ_RDY) {
            step = sq_turn(dev, sq);
        } else if (sq->state == MOCX_WQ_ERR && sq->flush_in_error) {
            step = sq_flush_turn(dev, sq);
        } else {
            return false;
        }
        if (step == STEP_WAIT) {
            mocx_work_wait_tx(dev, work);
            return false;
        }
        if (step == STEP_IDLE) {
            return false;
        }
        ++*used;
    }
    return true;
}
