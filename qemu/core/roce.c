// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Between the port and the queue pairs: which QP a packet is for, and whether
 * it may have it.  Whatever fails here is dropped without a word (IBTA 9.6).
 */
#include "heap.h"
#include "roce.h"

#include "mcast.h"

#define VID_MASK        0xfffu
#define UDP_SPORT_MIN   0xc000u
#define HOP_LIMIT_UNSET 64

const MocxGid *mocx_roce_gid(const MocxDev *dev, uint32_t index)
{
    const MocxPort *port = &dev->port;

    return port->roce_en && index < port->num_gids && port->gids[index].valid
           ? &port->gids[index] : NULL;
}

void mocx_path_source(MocxPath *path, const MocxGid *gid, uint8_t prio)
{
    path->version = gid->version;
    path->ipv4 = gid->version == MOCX_ROCE_V2 && gid->ipv4;
    path->vlan = gid->vlan;
    path->tci = (uint16_t)(prio << 13 | (gid->vid & VID_MASK));
    memcpy(path->sgid, gid->addr, sizeof(path->sgid));
    memcpy(path->smac, gid->mac, sizeof(path->smac));
    if (!path->hop_limit) {
        path->hop_limit = HOP_LIMIT_UNSET;
    }
    if (path->udp_sport < UDP_SPORT_MIN) {
        path->udp_sport |= UDP_SPORT_MIN;
    }
}

/* RoCE v2 has a field of its own for the DSCP, beside which ECN remains. */
static uint8_t tclass_of(const MocxQp *qp, uint8_t version)
{
    const uint8_t *ads = DEVX_ADDR_OF(qpc, qp->ctx, primary_address_path);
    uint8_t tclass = DEVX_GET(ads, ads, tclass);

    if (version == MOCX_ROCE_V2) {
        tclass = DEVX_GET(ads, ads, dscp) << 2 | (tclass & 3);
    }
    return tclass;
}

const MocxPath *mocx_roce_path(const MocxDev *dev, MocxQp *qp)
{
    const MocxGid *gid = mocx_roce_gid(dev, qp->gid_index);

    if (!gid) {
        return NULL;
    }
    mocx_path_source(&qp->path, gid,
                     DEVX_GET(qpc, qp->ctx, primary_address_path.eth_prio));
    qp->path.tclass = tclass_of(qp, gid->version);
    return &qp->path;
}

void mocx_pkt_begin(MocxDev *dev, MocxTxPkt *tx, const MocxPath *path,
                    const MocxBth *bth, uint32_t len)
{
    MocxRoce *roce = dev->roce;

    roce->ip_id = roce->ip_id == UINT16_MAX ? 1 : roce->ip_id + 1;
    tx->path = path;
    tx->size = mocx_wire_size(path, bth->opcode, len);
    tx->frame = mocx_tx_buf(dev, tx->size);
    tx->payload = mocx_wire_headers(tx->frame, path, bth, len, roce->ip_id);
}

void mocx_pkt_end(MocxDev *dev, const MocxTxPkt *tx)
{
    mocx_wire_seal(tx->frame, tx->path, tx->size);
    mocx_tx_commit(dev, tx->size, MOCX_TX_ROCE);
}

bool mocx_recv_record(MocxDev *dev, MocxQp *qp)
{
    uint8_t be[4];
    MocxRecordCheck check = {
        .qpn = mocx_qpn(qp), .kind = "receive", .was = qp->rq_posted,
        .oldest = qp->rq_taken - (!qp->srq && qp->resp.wqe.bound),
        .size = qp->rq_span >> qp->log_rq_stride,
    };

    if (!mocx_dma_read(dev, qp->dbr, be, sizeof(be))) {
        return false;
    }
    check.now = (uint16_t)mocx_get_be32(be);
    if (dev->verify) {
        mocx_verify_record(dev, &check);
    }
    if ((uint16_t)(check.now - qp->rq_taken) > check.size) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR,
                 "QP %u: receive producer %u is beyond the ring (next WQE %u)",
                 mocx_qpn(qp), check.now, qp->rq_taken);
        return false;
    }
    qp->rq_posted = check.now;
    return true;
}

MocxWqeResult mocx_recv_peek(MocxDev *dev, MocxQp *qp, MocxSrq *srq,
                             MocxRecvWqe *wqe)
{
    uint8_t raw[MOCX_RECV_STRIDE_MAX];
    size_t stride = (size_t)1 << qp->log_rq_stride;
    size_t skip = qp->wq_signature ? sizeof(struct mlx5_wqe_data_seg) : 0;

    if (srq) {
        return mocx_srq_peek(dev, srq, wqe);
    }
    if (!qp->rq_span) {
        return MOCX_WQE_EMPTY;
    }
    if (qp->rq_posted == qp->rq_taken && !mocx_recv_record(dev, qp)) {
        return MOCX_WQE_NO_MEMORY;
    }
    if (qp->rq_posted == qp->rq_taken) {
        return MOCX_WQE_EMPTY;
    }
    if (!mocx_ring_read(dev, &qp->ring, 0, qp->rq_span,
                        (uint64_t)qp->rq_taken * stride, raw, stride)) {
        return MOCX_WQE_NO_MEMORY;
    }
    wqe->counter = qp->rq_taken;
    return mocx_recv_parse(dev, wqe, raw + skip, stride - skip);
}

void mocx_recv_take(MocxDev *dev, MocxQp *qp, MocxSrq *srq, MocxRecvWqe *wqe)
{
    wqe->bound = true;
    if (srq) {
        mocx_srq_take(dev, srq, wqe);
    } else {
        qp->rq_taken++;
    }
}

static bool same_gid(const MocxGid *gid, const MocxPath *path,
                     const uint8_t addr[16])
{
    return gid->valid && gid->version == path->version &&
           (path->version == MOCX_ROCE_V1 || gid->ipv4 == path->ipv4) &&
           !memcmp(gid->addr, addr, sizeof(gid->addr));
}

static bool is_ours(const MocxDev *dev, const MocxPath *path)
{
    for (uint32_t i = 0; i < dev->port.num_gids; i++) {
        if (same_gid(&dev->port.gids[i], path, path->dgid)) {
            return true;
        }
    }
    return false;
}

/* A tag that carries only a priority is none. */
static uint16_t vid_of(const MocxPath *path)
{
    return path->vlan ? path->tci & VID_MASK : 0;
}

/* A connected QP listens to its peer alone, on its own VLAN. */
static bool from_peer(const MocxDev *dev, const MocxQp *qp,
                      const MocxPath *path)
{
    const MocxGid *gid = mocx_roce_gid(dev, qp->gid_index);

    return gid && same_gid(gid, path, path->dgid) &&
           !memcmp(qp->path.dgid, path->sgid, sizeof(path->sgid)) &&
           vid_of(path) == (gid->vlan ? gid->vid : 0);
}

static bool is_response(const MocxPkt *pkt)
{
    return pkt->op.op == MOCX_PKT_READ_RESP || pkt->op.op == MOCX_PKT_ACK ||
           pkt->op.op == MOCX_PKT_ATOMIC_ACK;
}

static bool pkey_ok(MocxDev *dev, const MocxPkt *pkt)
{
    if ((pkt->bth.pkey & 0x7fff) == (MOCX_PKEY_DEFAULT & 0x7fff)) {
        return true;
    }
    dev->port.counters.rx_pkey_violations++;
    return false;
}

static bool can_receive(const MocxQp *qp)
{
    return qp->state >= MOCX_QP_RTR && qp->state <= MOCX_QP_SQER;
}

/* Datagrams come from anywhere, to any address of ours or of a group. */
static void datagram(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt)
{
    uint32_t qkey = qp->type == MOCX_QP_GSI ? MOCX_GSI_QKEY : qp->qkey;

    if (pkt->bth.qpn != MOCX_QPN_MULTICAST && !is_ours(dev, &pkt->path)) {
        dev->port.counters.rx_roce_no_qp++;
        return;
    }
    if (pkt->bth.qkey != qkey) {
        dev->port.counters.rx_qkey_violations++;
        return;
    }
    mocx_ud_receive(dev, qp, pkt);
}

void mocx_roce_deliver(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt)
{
    if ((pkt->bth.opcode & MOCX_SVC_MASK) != qp->service || !can_receive(qp)) {
        return;
    }
    if (mocx_qp_datagram(qp)) {
        datagram(dev, qp, pkt);
    } else if (!from_peer(dev, qp, &pkt->path)) {
        dev->port.counters.rx_roce_no_qp++;
    } else if (is_response(pkt)) {
        mocx_req_packet(dev, qp, pkt);
    } else {
        mocx_resp_packet(dev, qp, pkt);
    }
}

static MocxQp *target(MocxDev *dev, uint32_t qpn)
{
    return qpn == MOCX_QPN_GSI ? dev->roce->gsi : mocx_qp_find(dev, qpn);
}

static void demux(MocxDev *dev, const MocxPkt *pkt)
{
    MocxQp *qp;

    if (pkt->bth.opcode == MOCX_OPCODE_CNP || !pkey_ok(dev, pkt)) {
        return;             /* no reaction point: nothing to slow down */
    }
    if (pkt->bth.qpn == MOCX_QPN_MULTICAST) {
        mocx_mcast_receive(dev, pkt);
        return;
    }
    qp = target(dev, pkt->bth.qpn);
    if (!qp) {
        dev->port.counters.rx_roce_no_qp++;
        return;
    }
    mocx_roce_deliver(dev, qp, pkt);
}

bool mocx_roce_receive(MocxDev *dev, const uint8_t *frame, size_t len)
{
    MocxPortCounters *c = &dev->port.counters;
    MocxPkt pkt;

    switch (mocx_wire_parse(&pkt, frame, len)) {
    case MOCX_PARSE_NOT_ROCE:
        return false;
    case MOCX_PARSE_MALFORMED:
        c->rx_roce_malformed++;
        return true;
    case MOCX_PARSE_BAD_ICRC:
        c->rx_icrc_errors++;
        return true;
    case MOCX_PARSE_OK:
        break;
    }
    demux(dev, &pkt);
    return true;
}

static bool roce_create(MocxDev *dev)
{
    dev->roce = mocx_calloc(&dev->heap, 1, sizeof(*dev->roce));
    return dev->roce;
}

static void roce_reset(MocxDev *dev)
{
    while (dev->roce->num_spare) {
        mocx_free(dev->roce->spare[--dev->roce->num_spare]);
    }
    mocx_mcast_reset(dev);
}

/* What it leads to went with the reset. */
static void roce_destroy(MocxDev *dev)
{
    mocx_free(dev->roce);
    dev->roce = NULL;
}

const MocxModule mocx_mod_roce = {
    .name = "roce",
    .create = roce_create,
    .reset = roce_reset,
    .destroy = roce_destroy,
};
