// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ethernet receive: from the port through steering (steer.c, tir.c) to here,
 * where a packet is scattered to a WQE and completed with what a ConnectX
 * tells about it.
 */
#include "csum.h"
#include "rq.h"

#define RQ_MAX_SEGS     32          /* of the largest stride, 512 bytes */
#define BYTE_COUNT_MASK 0x7fffffff  /* bit 31 is a padding hint */

/* mlx5_cqe64.hds_ip_ext (mlx5/device.h) */
#define CQE_L2_OK       (1 << 0)
#define CQE_L3_OK       (1 << 1)
#define CQE_L4_OK       (1 << 2)

/* mlx5_cqe64.l4_hdr_type_etc (mlx5/device.h, mlx5dv.h) */
#define CQE_VLAN_STRIPPED   (1 << 0)
#define CQE_IP_EXT_OPTS     (1 << 1)
#define CQE_L3_TYPE_SHIFT   2
#define CQE_L4_TYPE_SHIFT   4
#define CQE_IP_FRAG         (1 << 7)

enum {
    CQE_L4_TCP = 1, CQE_L4_UDP = 2, CQE_L4_TCP_ACK = 3, CQE_L4_TCP_ACK_DATA = 4,
};

/* Vendor bytes seen in the field beside these syndromes. */
#define VENDOR_LENGTH   0x8e
#define VENDOR_PROT     0x51
#define VENDOR_QP_OP    0xd6
#define VENDOR_FLUSH    0xf9

#define TCP_FLAG_ACK    0x10

/* rsvd4[8], at byte 0x0c, is the hash; [12] its type; check_sum is at 0x14. */
#define CQE_RSS_RESULT(cqe)     ((cqe)->rsvd4 + 8)
#define CQE_RSS_TYPE(cqe)       ((cqe)->rsvd4[12])
#define CQE_CHECK_SUM(cqe)      ((cqe)->rsvd20 + 2)

typedef struct RxWqe {
    MocxSge sgl[RQ_MAX_SEGS];
    unsigned n;
    uint64_t room;
} RxWqe;

/* Is the C-VLAN tag taken off? */
static bool rq_strips(const MocxRq *rq, const MocxEthPkt *pkt)
{
    return !rq->keep_vlan && pkt->num_tags &&
           mocx_get_be16(pkt->data + MOCX_ETH_HLEN - 2) == MOCX_ETH_P_8021Q;
}

static uint32_t rx_len(const MocxRq *rq, const MocxEthPkt *pkt)
{
    return pkt->len - (rq_strips(rq, pkt) ? MOCX_VLAN_HLEN : 0);
}

/* Checksums */

static uint8_t l4_ok(const MocxEthPkt *pkt, uint16_t sum)
{
    const uint8_t *l4 = pkt->data + pkt->l4_off;
    uint32_t len = pkt->ip_end - pkt->l4_off;
    size_t addrs_len;
    const uint8_t *addrs = mocx_eth_addrs(pkt, &addrs_len);

    if (pkt->l4 == MOCX_L4_UDP) {
        uint16_t udp_len = mocx_get_be16(l4 + 4);

        if (!mocx_get_be16(l4 + 6)) {
            /* No checksum: nothing is wrong with it, over IPv4. */
            return pkt->l3 == MOCX_L3_IPV4 ? CQE_L4_OK : 0;
        }
        if (udp_len < MOCX_UDP_HLEN || udp_len > len) {
            return 0;
        }
        if (udp_len < len) {
            len = udp_len;
            sum = mocx_csum(l4, len);
        }
    }
    sum = mocx_csum_add(sum, mocx_csum_pseudo(addrs, addrs_len, pkt->ip_proto,
                                              len));
    return sum == 0xffff ? CQE_L4_OK : 0;
}

/*
 * check_sum covers the IP packet from its header to the end by its length
 * field, and the driver takes it for IP frames whatever the ok bits say
 * (mlx5e_handle_csum).  The sum of the L4 part is what is left of it without
 * the header, so the payload is read once.
 */
static void rx_checksum(struct mlx5_cqe64 *cqe, const MocxEthPkt *pkt)
{
    const uint8_t *ip = pkt->data + pkt->l3_off;
    uint16_t sum, hdr;
    uint8_t ok = CQE_L2_OK;

    if (pkt->l3 == MOCX_L3_NONE) {
        cqe->hds_ip_ext = ok;
        return;
    }
    sum = mocx_csum(ip, pkt->ip_end - pkt->l3_off);
    mocx_put_be16(CQE_CHECK_SUM(cqe), sum);
    if (pkt->l3_sane) {
        if (pkt->l3 == MOCX_L3_IPV6 ||
            mocx_csum(ip, (ip[0] & 0xf) * 4) == 0xffff) {
            ok |= CQE_L3_OK;
        }
    }
    if (pkt->l4 != MOCX_L4_NONE) {
        hdr = mocx_csum(ip, pkt->l4_off - pkt->l3_off);
        ok |= l4_ok(pkt, mocx_csum_add(sum, (uint16_t)~hdr));
    }
    cqe->hds_ip_ext = ok;
}

/* Header types */

static uint8_t l4_type(const MocxEthPkt *pkt)
{
    const uint8_t *l4 = pkt->data + pkt->l4_off;

    if (pkt->l4 == MOCX_L4_UDP) {
        return CQE_L4_UDP;
    }
    if (pkt->l4 == MOCX_L4_NONE) {
        return 0;
    }
    if (!(l4[13] & TCP_FLAG_ACK)) {
        return CQE_L4_TCP;
    }
    return pkt->l4_off + (l4[12] >> 4) * 4u < pkt->ip_end ? CQE_L4_TCP_ACK_DATA
                                                          : CQE_L4_TCP_ACK;
}

static uint8_t hdr_types(const MocxEthPkt *pkt)
{
    static const uint8_t l3_types[] = {
        [MOCX_L3_NONE] = MLX5_CQE_L3_HDR_TYPE_NONE,
        [MOCX_L3_IPV4] = MLX5_CQE_L3_HDR_TYPE_IPV4,
        [MOCX_L3_IPV6] = MLX5_CQE_L3_HDR_TYPE_IPV6,
    };

    return l3_types[pkt->l3] << CQE_L3_TYPE_SHIFT |
           l4_type(pkt) << CQE_L4_TYPE_SHIFT |
           (pkt->ip_opts ? CQE_IP_EXT_OPTS : 0) |
           (pkt->ip_frag ? CQE_IP_FRAG : 0);
}

/* Completions */

static void rq_post(MocxDev *dev, MocxRq *rq, struct mlx5_cqe64 *cqe)
{
    cqe->srqn_uidx = htobe32(rq->user_index);
    cqe->wqe_counter = htobe16(rq->ci);
    rq->ci++;
    if (!mocx_cq_post(dev, rq->cq, cqe)) {
        mocx_q_counter(dev, rq->counter_set)->cq_overflow++;
        /* Nothing can be completed any more, so nothing is flushed. */
        rq->state = MOCX_WQ_ERR;
        mocx_event_queue(dev, MOCX_EV_QP_FATAL, 1, rq->queue.obj.id);
    }
}

static void rq_post_error(MocxDev *dev, MocxRq *rq, uint8_t syndrome,
                          uint8_t vendor)
{
    union {
        struct mlx5_cqe64 cqe;
        struct mlx5_err_cqe err;
    } u = { 0 };

    u.err.syndrome = syndrome;
    u.err.vendor_err_synd = vendor;
    u.err.s_wqe_opcode_qpn = htobe32(rq->queue.obj.id);
    u.err.op_own = MLX5_CQE_RESP_ERR << 4;
    mocx_q_counter(dev, rq->counter_set)->resp_cqe_error++;
    rq_post(dev, rq, &u.cqe);
}

static void rq_complete(MocxDev *dev, MocxRq *rq, const MocxEthPkt *pkt,
                        const MocxRxHash *hash, uint32_t flow_tag)
{
    struct mlx5_cqe64 cqe = { 0 };

    rx_checksum(&cqe, pkt);
    cqe.l4_hdr_type_etc = hdr_types(pkt);
    mocx_put_be32(CQE_RSS_RESULT(&cqe), hash->value);
    CQE_RSS_TYPE(&cqe) = hash->type;
    cqe.sop_drop_qpn = htobe32(flow_tag);
    cqe.byte_cnt = htobe32(rx_len(rq, pkt));
    if (DEVX_GET(rqc, rq->ctx, ts_format) != MOCX_TS_FREE_RUNNING) {
        cqe.timestamp = htobe64(mocx_real_time(dev));
    }
    if (rq_strips(rq, pkt)) {
        cqe.l4_hdr_type_etc |= CQE_VLAN_STRIPPED;
        memcpy(&cqe.vlan_info, pkt->data + MOCX_ETH_HLEN, 2);
    }
    cqe.op_own = MLX5_CQE_RESP_SEND << 4;
    rq_post(dev, rq, &cqe);
}

/* WQEs */

/* Is a WQE posted?  The record is read again only when none is known of. */
static bool rq_ready(MocxDev *dev, MocxRq *rq)
{
    if (rq->ci != rq->pi) {
        return true;
    }
    if (!mocx_wq_db(dev, &rq->wq, MLX5_RCV_DBR, rq->queue.obj.id, &rq->pi)) {
        return false;
    }
    if ((uint16_t)(rq->pi - rq->ci) > 1u << rq->wq.log_size) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR,
                 "RQ %u: producer index %u is more than a ring ahead of %u",
                 rq->queue.obj.id, rq->pi, rq->ci);
        rq->pi = rq->ci;
    }
    return rq->ci != rq->pi;
}

static bool rq_read_wqe(MocxDev *dev, const MocxRq *rq, RxWqe *wqe)
{
    struct mlx5_wqe_data_seg segs[RQ_MAX_SEGS];
    uint32_t index = rq->ci & ((1u << rq->wq.log_size) - 1);
    size_t stride = (size_t)1 << rq->wq.log_stride;

    if (!mocx_ring_read(dev, &rq->wq.ring, 0, rq->wq.ring.size,
                        (uint64_t)index << rq->wq.log_stride, segs, stride)) {
        return false;
    }
    wqe->n = 0;
    wqe->room = 0;
    for (unsigned i = 0; i < stride / sizeof(segs[0]); i++) {
        MocxSge *sge = &wqe->sgl[wqe->n];

        sge->lkey = be32toh(segs[i].lkey);
        if (mocx_sgl_ends(dev, wqe->sgl, wqe->n, sge->lkey)) {
            break;
        }
        sge->len = be32toh(segs[i].byte_count) & BYTE_COUNT_MASK;
        sge->addr = be64toh(segs[i].addr);
        wqe->room += sge->len;
        wqe->n += sge->len != 0;
    }
    return true;
}

static MocxMemResult rq_scatter(MocxDev *dev, const MocxRq *rq,
                                const RxWqe *wqe, const MocxEthPkt *pkt)
{
    const unsigned macs = 12;
    MocxAccess acc = {
        .pdn = rq->wq.pd ? rq->wq.pd->id : 0,
        .qpn = rq->queue.obj.id,
        .need = MOCX_LOCAL_WRITE,
        .reserved_lkey = rq->rlky,
    };
    MocxMemResult res;

    if (!rq_strips(rq, pkt)) {
        return mocx_sgl_write(dev, &acc, wqe->sgl, wqe->n, 0, pkt->data,
                              pkt->len);
    }
    res = mocx_sgl_write(dev, &acc, wqe->sgl, wqe->n, 0, pkt->data, macs);
    if (res != MOCX_MEM_OK) {
        return res;
    }
    return mocx_sgl_write(dev, &acc, wqe->sgl, wqe->n, macs,
                          pkt->data + macs + MOCX_VLAN_HLEN,
                          pkt->len - macs - MOCX_VLAN_HLEN);
}

void mocx_rq_receive(MocxDev *dev, MocxRq *rq, const MocxEthPkt *pkt,
                     const MocxRxHash *hash, uint32_t flow_tag)
{
    RxWqe wqe;

    if (rq->state != MOCX_WQ_RDY) {
        return;
    }
    if (!rq_ready(dev, rq)) {
        mocx_q_counter(dev, rq->counter_set)->out_of_buffer++;
        return;
    }
    if (!rq_read_wqe(dev, rq, &wqe)) {
        rq_post_error(dev, rq, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, VENDOR_QP_OP);
        mocx_rq_error(dev, rq);
        return;
    }
    if (wqe.room < rx_len(rq, pkt)) {
        /*
         * This one only: mlx5e counts it and goes on, for the length error is
         * none that cqe_syndrome_needs_recover() knows.
         */
        rq_post_error(dev, rq, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
                      VENDOR_LENGTH);
        return;
    }
    if (rq_scatter(dev, rq, &wqe, pkt) != MOCX_MEM_OK) {
        rq_post_error(dev, rq, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, VENDOR_PROT);
        mocx_rq_error(dev, rq);
        return;
    }
    rq_complete(dev, rq, pkt, hash, flow_tag);
}

bool mocx_rq_flush(MocxDev *dev, MocxWork *work, unsigned budget,
                   unsigned *used)
{
    MocxRq *rq = MOCX_CONTAINER_OF(work, MocxRq, flush);

    while (*used < budget) {
        if (!rq_ready(dev, rq) || rq->cq->in_error) {
            return false;
        }
        rq_post_error(dev, rq, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, VENDOR_FLUSH);
        ++*used;
    }
    return true;
}
