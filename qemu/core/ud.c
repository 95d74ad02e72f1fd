// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Datagrams: UD QPs and QP1.  No PSN is checked, nothing is acknowledged, and
 * what does not fit is dropped.
 */
#include "roce.h"

#define GRH_LEN             40      /* reserved in front of every payload */
#define QKEY_OF_QP          0x80000000u

/* The address vector of a send WQE (struct mlx5_wqe_av). */
typedef struct Av {
    uint32_t qkey;
    uint32_t dqpn;
    uint8_t prio;
    uint32_t gid_index;
    MocxPath path;
} Av;

static void parse_av(const uint8_t *p, Av *av)
{
    uint32_t grh = mocx_get_be32(p + offsetof(struct mlx5_wqe_av, grh_gid_fl));
    MocxPath *path = &av->path;

    av->qkey = mocx_get_be32(p);
    av->dqpn = mocx_get_be32(p + offsetof(struct mlx5_wqe_av, dqp_dct)) &
               0xffffff;
    /* The service level sits one bit up; it is the priority on Ethernet. */
    av->prio = p[offsetof(struct mlx5_wqe_av, stat_rate_sl)] >> 1 & 7;
    av->gid_index = grh >> 20 & 0xff;
    *path = (MocxPath) {
        .tclass = p[offsetof(struct mlx5_wqe_av, tclass)],
        .hop_limit = p[offsetof(struct mlx5_wqe_av, hop_limit)],
        .udp_sport = mocx_get_be16(p + offsetof(struct mlx5_wqe_av, rlid)),
        .flow_label = grh & 0xfffff,
    };
    memcpy(path->dmac, p + offsetof(struct mlx5_wqe_av, rmac), 6);
    memcpy(path->dgid, p + offsetof(struct mlx5_wqe_av, rgid), 16);
}

static uint32_t source_qpn(const MocxQp *qp)
{
    uint32_t other = DEVX_GET(qpc, qp->ctx, deth_sqpn);

    return qp->type == MOCX_QP_GSI ? MOCX_QPN_GSI
           : other ? other : mocx_qpn(qp);
}

static MocxBth bth_of(const MocxQp *qp, const MocxWqe *wqe, const Av *av)
{
    bool imm = wqe->opcode == MLX5_OPCODE_SEND_IMM;

    return (MocxBth) {
        .opcode = MOCX_SVC_UD | (imm ? 0x05 : 0x04), .migrated = true,
        .solicited = wqe->solicited, .pkey = MOCX_PKEY_DEFAULT,
        .qpn = av->dqpn, .psn = qp->req.nxt, .imm = wqe->imm,
        /* IBTA 10.2.5: the top bit asks for the QP's own key. */
        .qkey = av->qkey & QKEY_OF_QP ? qp->qkey : av->qkey,
        .src_qpn = source_qpn(qp),
    };
}

MocxErr mocx_ud_send(MocxDev *dev, MocxQp *qp, const MocxWqe *wqe)
{
    uint32_t len = (uint32_t)wqe->len;
    const MocxGid *gid;
    MocxTxPkt tx;
    MocxBth bth;
    Av av;

    parse_av(wqe->raw + wqe->av, &av);
    gid = mocx_roce_gid(dev, av.gid_index);
    if (!gid) {
        return (MocxErr) { 0 };     /* no address to send from: lost */
    }
    mocx_path_source(&av.path, gid, av.prio);
    bth = bth_of(qp, wqe, &av);
    mocx_pkt_begin(dev, &tx, &av.path, &bth, len);
    if (mocx_wqe_read(dev, qp, wqe, 0, tx.payload, len)) {
        return MOCX_ERR_PROT;
    }
    mocx_pkt_end(dev, &tx);
    return (MocxErr) { 0 };
}

/*
 * What stands in front of the payload: the GRH or IPv6 header, or 20 bytes that
 * say nothing and the IPv4 header.
 */
static MocxMemResult put_grh(MocxDev *dev, const MocxAccess *acc,
                             const MocxRecvWqe *wqe, const MocxPkt *pkt)
{
    uint8_t grh[GRH_LEN] = { 0 };

    memcpy(grh + GRH_LEN - pkt->l3_len, pkt->l3, pkt->l3_len);
    return mocx_sgl_write(dev, acc, wqe->sges, wqe->num_sges, 0, grh,
                          sizeof(grh));
}

static MocxMemResult put_datagram(MocxDev *dev, const MocxQp *qp,
                                  const MocxRecvWqe *wqe, const MocxPkt *pkt)
{
    MocxAccess acc = mocx_qp_access(qp, MOCX_LOCAL_WRITE);
    MocxMemResult r;

    acc.pdn = qp->srq ? qp->srq->pdn : acc.pdn;
    r = put_grh(dev, &acc, wqe, pkt);
    return r ? r : mocx_sgl_write(dev, &acc, wqe->sges, wqe->num_sges, GRH_LEN,
                                  pkt->payload, pkt->len);
}

static void take(MocxDev *dev, MocxQp *qp, MocxRecvWqe *wqe)
{
    mocx_recv_take(dev, qp, qp->srq, wqe);
    wqe->bound = false;             /* it completes before anything else */
}

static void refuse(MocxDev *dev, MocxQp *qp, MocxRecvWqe *wqe, MocxErr err)
{
    mocx_qp_error(dev, qp);
    mocx_comp_recv_err(dev, qp, qp->srq, wqe->counter, err);
}

/* Return: a WQE that holds the datagram is in @wqe. */
static bool find_wqe(MocxDev *dev, MocxQp *qp, MocxRecvWqe *wqe,
                     const MocxPkt *pkt)
{
    switch (mocx_recv_peek(dev, qp, qp->srq, wqe)) {
    case MOCX_WQE_OK:
        /* Too small a buffer: the datagram is dropped, the WQE stays. */
        return wqe->room >= GRH_LEN + (uint64_t)pkt->len;
    case MOCX_WQE_EMPTY:
        mocx_qp_count(dev, qp)->out_of_buffer++;
        return false;
    case MOCX_WQE_MALFORMED:
        take(dev, qp, wqe);
        refuse(dev, qp, wqe, MOCX_ERR_RECV_WQE);
        return false;
    case MOCX_WQE_NO_MEMORY:
        mocx_qp_fatal(dev, qp);
        return false;
    }
    return false;
}

void mocx_ud_receive(MocxDev *dev, MocxQp *qp, const MocxPkt *pkt)
{
    MocxRecvWqe *wqe = &qp->resp.wqe;
    MocxRecvComp comp = {
        .opcode = pkt->op.hdrs & MOCX_HDR_IMM ? MLX5_CQE_RESP_SEND_IMM
                                              : MLX5_CQE_RESP_SEND,
        .bytes = GRH_LEN + pkt->len, .srq = qp->srq, .pkt = pkt,
    };

    if (pkt->len > qp->mtu || !find_wqe(dev, qp, wqe, pkt)) {
        return;
    }
    take(dev, qp, wqe);
    if (put_datagram(dev, qp, wqe, pkt)) {
        refuse(dev, qp, wqe, MOCX_ERR_PROT);
        return;
    }
    comp.counter = wqe->counter;
    mocx_comp_recv(dev, qp, &comp);
}
