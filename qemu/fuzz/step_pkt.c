/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets as a peer sends them, whose fields the input chooses. */
#include "core/dev.h"
#include "core/qp.h"
#include "core/roce.h"
#include "core/wire.h"
#include "step.h"

enum {                          /* of a step's flags */
    BAD_SUM = 0x01,             /* with 0x02: spoiled without a new ICRC */
    ANY_OPCODE = 0x04,          /* of another service, too */
    TAGGED = 0x08,
    OTHER_GID = 0x10,
    ACK_REQ = 0x20,
    SOLICITED = 0x40,
    CUT = 0x80,
};

static void path_to(Bed *bed, MocxPath *path, const MocxQp *qp, uint8_t flags)
{
    const MocxPort *port = &bed->h->dev->port;
    unsigned index = flags & OTHER_GID ? (flags & 3) : qp ? qp->gid_index : 3;
    const MocxGid *gid = &port->gids[index % port->num_gids];

    *path = (MocxPath) {
        .version = gid->version, .hop_limit = 64, .udp_sport = 0xc123,
        .ipv4 = gid->version == MOCX_ROCE_V2 && gid->ipv4,
        .vlan = flags & TAGGED, .tci = flags & OTHER_GID ? 5 : 0,
    };
    memcpy(path->dmac, port->mac, MOCX_MAC_LEN);
    memcpy(path->smac, bed->far.cfg.mac, MOCX_MAC_LEN);
    memcpy(path->dgid, gid->addr, sizeof(path->dgid));
    memcpy(path->sgid, gid->addr, sizeof(path->sgid));
    path->sgid[15] = 2;
    if (qp && !mocx_qp_datagram(qp)) {
        memcpy(path->sgid, qp->path.dgid, sizeof(path->sgid));
    }
}

static bool answers(uint8_t opcode)
{
    uint8_t op = mocx_opcode(opcode).op;

    return op == MOCX_PKT_READ_RESP || op == MOCX_PKT_ACK ||
           op == MOCX_PKT_ATOMIC_ACK;
}

static void transport(Bed *bed, MocxBth *bth, const MocxQp *qp, uint8_t flags,
                      Bytes *b)
{
    uint8_t opcode = bytes_u8(b);
    int8_t psn = bytes_u8(b);

    *bth = (MocxBth) {
        .opcode = qp && !(flags & ANY_OPCODE)
                  ? (opcode & 0x1f) | qp->service : opcode,
        .pkey = 0xffff, .qpn = qp ? mocx_qpn(qp) : MOCX_QPN_MULTICAST,
        .ack_req = flags & ACK_REQ, .solicited = flags & SOLICITED,
        .qkey = BED_QKEY, .src_qpn = 0x40, .swap_add = 1,
        .srqn = bed->srq[BED_XRC_SRQ].srqn, .imm = bed->umr_key,
    };
    if (qp) {
        bth->psn = answers(bth->opcode) ? qp->req.una : qp->resp.epsn;
    }
    bth->psn = (bth->psn + psn) & 0xffffff;
    bth->syndrome = bytes_u8(b);
    bth->va = pick_va(bytes_u8(b));
    bth->rkey = pick_key(bed, bytes_u8(b));
    bth->dma_len = bytes_u16(b);
    bth->msn = bytes_u8(b);
}

void step_packet(Bed *bed, Bytes *b)
{
    uint32_t qpn = pick_object(bed, MOCX_OBJ_QP, bytes_u8(b));
    const MocxQp *qp = qpn ? mocx_qp_find(bed->h->dev, qpn) : NULL;
    uint8_t flags = bytes_u8(b), frame[MOCX_FRAME_MAX] = { 0 };
    uint32_t len = bytes_u8(b);
    MocxPath path;
    MocxBth bth;
    size_t size;

    /* Whole packets of the path MTU, and what is next to one. */
    len = len < 192 ? len : 1024 + len - 224;
    path_to(bed, &path, qp, flags);
    transport(bed, &bth, qp, flags, b);
    size = mocx_wire_size(&path, bth.opcode, len);
    mocx_wire_headers(frame, &path, &bth, len, 7);
    mocx_wire_seal(frame, &path, size);
    bytes_spoil(b, frame + 12, size - 12);
    bytes_spoil(b, frame + 12, size - 12);
    if ((flags & (BAD_SUM | 2)) != (BAD_SUM | 2)) {
        frame_fix(frame, size);
    }
    if (flags & CUT) {
        size -= bytes_u8(b) % 64;
    }
    bed_in(bed, frame, size < 60 ? 60 : size);
}
