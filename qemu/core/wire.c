// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packet formats: InfiniBand Architecture Specification volume 1 chapter 9
 * with annexes A16 (RoCE) and A17 (RoCEv2); the XRC header from annex A14.
 */
#include "wire.h"

#include <string.h>

#include "icrc.h"
#include "ifc.h"
#include "port.h"

#define ETH_LEN         14
#define VLAN_LEN        4
#define IPV4_LEN        20
#define IPV6_LEN        40
#define UDP_LEN         8
#define IPPROTO_BTH     0x1b    /* next header of a GRH */
#define IPPROTO_UDP_    17

#define POS_ONLY        (MOCX_PKT_FIRST | MOCX_PKT_LAST)

enum {
    RC = 1, UC = 2, UD = 4, XRC = 8,
};

typedef struct OpRow {
    MocxOpInfo info;
    uint8_t services;
} OpRow;

#define OP(op, pos, hdrs, services) { { MOCX_PKT_##op, pos, hdrs }, services }

/* By the low five bits of the opcode. */
static const OpRow op_rows[32] = {
    [0x00] = OP(SEND, MOCX_PKT_FIRST, 0, RC | UC | XRC),
    [0x01] = OP(SEND, 0, 0, RC | UC | XRC),
    [0x02] = OP(SEND, MOCX_PKT_LAST, 0, RC | UC | XRC),
    [0x03] = OP(SEND, MOCX_PKT_LAST, MOCX_HDR_IMM, RC | UC | XRC),
    [0x04] = OP(SEND, POS_ONLY, 0, RC | UC | UD | XRC),
    [0x05] = OP(SEND, POS_ONLY, MOCX_HDR_IMM, RC | UC | UD | XRC),
    [0x06] = OP(WRITE, MOCX_PKT_FIRST, MOCX_HDR_RETH, RC | UC | XRC),
    [0x07] = OP(WRITE, 0, 0, RC | UC | XRC),
    [0x08] = OP(WRITE, MOCX_PKT_LAST, 0, RC | UC | XRC),
    [0x09] = OP(WRITE, MOCX_PKT_LAST, MOCX_HDR_IMM, RC | UC | XRC),
    [0x0a] = OP(WRITE, POS_ONLY, MOCX_HDR_RETH, RC | UC | XRC),
    [0x0b] = OP(WRITE, POS_ONLY, MOCX_HDR_RETH | MOCX_HDR_IMM, RC | UC | XRC),
    [0x0c] = OP(READ_REQ, POS_ONLY, MOCX_HDR_RETH, RC | XRC),
    [0x0d] = OP(READ_RESP, MOCX_PKT_FIRST, MOCX_HDR_AETH, RC | XRC),
    [0x0e] = OP(READ_RESP, 0, 0, RC | XRC),
    [0x0f] = OP(READ_RESP, MOCX_PKT_LAST, MOCX_HDR_AETH, RC | XRC),
    [0x10] = OP(READ_RESP, POS_ONLY, MOCX_HDR_AETH, RC | XRC),
    [0x11] = OP(ACK, POS_ONLY, MOCX_HDR_AETH, RC | XRC),
    [0x12] = OP(ATOMIC_ACK, POS_ONLY, MOCX_HDR_AETH | MOCX_HDR_ATOMICACK,
                RC | XRC),
    [0x13] = OP(CMP_SWAP, POS_ONLY, MOCX_HDR_ATOMICETH, RC | XRC),
    [0x14] = OP(FETCH_ADD, POS_ONLY, MOCX_HDR_ATOMICETH, RC | XRC),
    [0x16] = OP(SEND, MOCX_PKT_LAST, MOCX_HDR_IETH, RC | XRC),
    [0x17] = OP(SEND, POS_ONLY, MOCX_HDR_IETH, RC | XRC),
};

/* By the top three bits of the opcode. */
static const uint8_t service_bit[8] = {
    [MOCX_SVC_RC >> 5] = RC, [MOCX_SVC_UC >> 5] = UC,
    [MOCX_SVC_UD >> 5] = UD, [MOCX_SVC_XRC >> 5] = XRC,
};

static bool is_request(uint8_t op)
{
    return op != MOCX_PKT_READ_RESP && op != MOCX_PKT_ACK &&
           op != MOCX_PKT_ATOMIC_ACK;
}

MocxOpInfo mocx_opcode(uint8_t opcode)
{
    const OpRow *row = &op_rows[opcode & 0x1f];
    MocxOpInfo info = row->info;
    uint8_t service = opcode & MOCX_SVC_MASK;

    if (!(row->services & service_bit[opcode >> 5])) {
        return (MocxOpInfo) { .op = MOCX_PKT_RESERVED };
    }
    if (service == MOCX_SVC_UD) {
        info.hdrs |= MOCX_HDR_DETH;
    }
    if (service == MOCX_SVC_XRC && is_request(info.op)) {
        info.hdrs |= MOCX_HDR_XRCETH;
    }
    return info;
}

/*
 * Extension headers, in wire order.  Each row copies one header out of or
 * into its bytes.
 */
typedef struct ExtHdr {
    uint8_t bit;
    uint8_t len;
    void (*get)(MocxBth *bth, const uint8_t *p);
    void (*put)(const MocxBth *bth, uint8_t *p);
} ExtHdr;

static uint32_t get_be24(const uint8_t *p)
{
    return mocx_get_be32(p) & 0xffffff;
}

static void xrceth_get(MocxBth *bth, const uint8_t *p)
{
    bth->srqn = get_be24(p);
}

static void xrceth_put(const MocxBth *bth, uint8_t *p)
{
    mocx_put_be32(p, bth->srqn & 0xffffff);
}

static void deth_get(MocxBth *bth, const uint8_t *p)
{
    bth->qkey = mocx_get_be32(p);
    bth->src_qpn = get_be24(p + 4);
}

static void deth_put(const MocxBth *bth, uint8_t *p)
{
    mocx_put_be32(p, bth->qkey);
    mocx_put_be32(p + 4, bth->src_qpn & 0xffffff);
}

static void reth_get(MocxBth *bth, const uint8_t *p)
{
    bth->va = mocx_get_be64(p);
    bth->rkey = mocx_get_be32(p + 8);
    bth->dma_len = mocx_get_be32(p + 12);
}

static void reth_put(const MocxBth *bth, uint8_t *p)
{
    mocx_put_be64(p, bth->va);
    mocx_put_be32(p + 8, bth->rkey);
    mocx_put_be32(p + 12, bth->dma_len);
}

static void atomiceth_get(MocxBth *bth, const uint8_t *p)
{
    bth->va = mocx_get_be64(p);
    bth->rkey = mocx_get_be32(p + 8);
    bth->swap_add = mocx_get_be64(p + 12);
    bth->compare = mocx_get_be64(p + 20);
}

static void atomiceth_put(const MocxBth *bth, uint8_t *p)
{
    mocx_put_be64(p, bth->va);
    mocx_put_be32(p + 8, bth->rkey);
    mocx_put_be64(p + 12, bth->swap_add);
    mocx_put_be64(p + 20, bth->compare);
}

static void aeth_get(MocxBth *bth, const uint8_t *p)
{
    bth->syndrome = p[0];
    bth->msn = get_be24(p);
}

static void aeth_put(const MocxBth *bth, uint8_t *p)
{
    mocx_put_be32(p, (uint32_t)bth->syndrome << 24 | (bth->msn & 0xffffff));
}

static void atomicack_get(MocxBth *bth, const uint8_t *p)
{
    bth->orig = mocx_get_be64(p);
}

static void atomicack_put(const MocxBth *bth, uint8_t *p)
{
    mocx_put_be64(p, bth->orig);
}

static void imm_get(MocxBth *bth, const uint8_t *p)
{
    bth->imm = mocx_get_be32(p);
}

static void imm_put(const MocxBth *bth, uint8_t *p)
{
    mocx_put_be32(p, bth->imm);
}

static const ExtHdr ext_hdrs[] = {
    { MOCX_HDR_XRCETH, 4, xrceth_get, xrceth_put },
    { MOCX_HDR_DETH, 8, deth_get, deth_put },
    { MOCX_HDR_RETH, 16, reth_get, reth_put },
    { MOCX_HDR_ATOMICETH, 28, atomiceth_get, atomiceth_put },
    { MOCX_HDR_AETH, 4, aeth_get, aeth_put },
    { MOCX_HDR_ATOMICACK, 8, atomicack_get, atomicack_put },
    { MOCX_HDR_IMM, 4, imm_get, imm_put },
    { MOCX_HDR_IETH, 4, imm_get, imm_put },
};

#define NUM_EXT_HDRS (sizeof(ext_hdrs) / sizeof(ext_hdrs[0]))

static size_t ext_len(uint8_t hdrs)
{
    size_t len = 0;

    for (size_t i = 0; hdrs && i < NUM_EXT_HDRS; i++) {
        if (hdrs & ext_hdrs[i].bit) {
            len += ext_hdrs[i].len;
            hdrs &= (uint8_t)~ext_hdrs[i].bit;
        }
    }
    return len;
}

/* Ones' complement sum of an IPv4 header; 0xffff if its checksum is right. */
static uint16_t ipv4_sum(const uint8_t *ip)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < IPV4_LEN; i += 2) {
        sum += mocx_get_be16(ip + i);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

static size_t l3_len(const MocxPath *path)
{
    return path->version == MOCX_ROCE_V2 && path->ipv4 ? IPV4_LEN : IPV6_LEN;
}

static size_t l4_len(const MocxPath *path)
{
    return path->version == MOCX_ROCE_V2 ? UDP_LEN : 0;
}

static size_t l2_len(const MocxPath *path)
{
    return ETH_LEN + (path->vlan ? VLAN_LEN : 0);
}

/*
 * The invariant CRC of what lies between @l3 and @end.  Fields that a router
 * or the network card may change count as ones.
 */
static uint32_t icrc(const MocxPath *path, const uint8_t *l3,
                     const uint8_t *end)
{
    uint8_t masked[IPV6_LEN + UDP_LEN + MOCX_BTH_LEN];
    size_t ip = l3_len(path), udp = l4_len(path);
    size_t len = ip + udp + MOCX_BTH_LEN;
    uint32_t crc;

    memcpy(masked, l3, len);
    if (ip == IPV4_LEN) {
        masked[1] = 0xff;                       /* TOS */
        masked[8] = 0xff;                       /* TTL */
        masked[10] = masked[11] = 0xff;         /* header checksum */
    } else {
        masked[0] |= 0x0f;                      /* traffic class, flow label */
        masked[1] = masked[2] = masked[3] = 0xff;
        masked[7] = 0xff;                       /* hop limit */
    }
    if (udp) {
        masked[ip + 6] = masked[ip + 7] = 0xff; /* checksum */
    }
    masked[ip + udp + 4] = 0xff;                /* FECN, BECN, resv6 */

    crc = mocx_crc32_tables(MOCX_ICRC_SEED, masked, len);
    return ~mocx_crc32(crc, l3 + len, (size_t)(end - (l3 + len)));
}

/* On the wire the ICRC is little-endian, alone among all fields. */
static uint32_t get_le32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static void put_le32(uint8_t *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

static void ipv4_to_gid(uint8_t gid[16], const uint8_t *ip)
{
    memset(gid, 0, 10);
    gid[10] = gid[11] = 0xff;
    memcpy(gid + 12, ip, 4);
}

/* What a layer parser found: bytes from the BTH to the ICRC, or why not. */
typedef struct L3Parse {
    MocxParse verdict;
    size_t transport;       /* UDP header (v2) or BTH (v1) to ICRC */
} L3Parse;

static L3Parse parse_ipv4(MocxPath *path, const uint8_t *ip, size_t len)
{
    L3Parse not_roce = { MOCX_PARSE_NOT_ROCE, 0 };
    L3Parse bad = { MOCX_PARSE_MALFORMED, 0 };
    uint16_t total;

    if (len < IPV4_LEN + UDP_LEN || ip[9] != IPPROTO_UDP_ ||
        (ip[0] & 0x0f) != IPV4_LEN / 4 || ip[0] >> 4 != 4 ||
        (mocx_get_be16(ip + 6) & 0x3fff) ||     /* a fragment */
        mocx_get_be16(ip + IPV4_LEN + 2) != MOCX_ROCE_UDP_PORT) {
        return not_roce;
    }
    total = mocx_get_be16(ip + 2);
    if (total > len || total < IPV4_LEN || ipv4_sum(ip) != 0xffff) {
        return bad;
    }
    path->ipv4 = true;
    path->tclass = ip[1];
    path->hop_limit = ip[8];
    ipv4_to_gid(path->sgid, ip + 12);
    ipv4_to_gid(path->dgid, ip + 16);
    return (L3Parse) { MOCX_PARSE_OK, total - IPV4_LEN };
}

static L3Parse parse_ipv6(MocxPath *path, const uint8_t *ip, size_t len,
                          uint8_t next_header)
{
    uint32_t first;
    uint16_t payload;

    if (len < IPV6_LEN + UDP_LEN || ip[0] >> 4 != 6 || ip[6] != next_header) {
        return (L3Parse) { MOCX_PARSE_NOT_ROCE, 0 };
    }
    payload = mocx_get_be16(ip + 4);
    if (next_header == IPPROTO_UDP_ &&
        mocx_get_be16(ip + IPV6_LEN + 2) != MOCX_ROCE_UDP_PORT) {
        return (L3Parse) { MOCX_PARSE_NOT_ROCE, 0 };
    }
    if (payload > len - IPV6_LEN) {
        return (L3Parse) { MOCX_PARSE_MALFORMED, 0 };
    }
    first = mocx_get_be32(ip);
    path->tclass = first >> 20 & 0xff;
    path->flow_label = first & 0xfffff;
    path->hop_limit = ip[7];
    memcpy(path->sgid, ip + 8, 16);
    memcpy(path->dgid, ip + 24, 16);
    return (L3Parse) { MOCX_PARSE_OK, payload };
}

static L3Parse parse_l3(MocxPath *path, uint16_t ethertype, const uint8_t *l3,
                        size_t len)
{
    path->version = MOCX_ROCE_V2;
    path->ipv4 = false;
    path->flow_label = 0;
    path->udp_sport = 0;
    switch (ethertype) {
    case MOCX_ETHERTYPE_IPV4:
        return parse_ipv4(path, l3, len);
    case MOCX_ETHERTYPE_IPV6:
        return parse_ipv6(path, l3, len, IPPROTO_UDP_);
    case MOCX_ETHERTYPE_ROCE:
        path->version = MOCX_ROCE_V1;
        return parse_ipv6(path, l3, len, IPPROTO_BTH);
    default:
        return (L3Parse) { MOCX_PARSE_NOT_ROCE, 0 };
    }
}

static void parse_bth(MocxBth *bth, const uint8_t *p)
{
    bth->opcode = p[0];
    bth->solicited = p[1] & 0x80;
    bth->migrated = p[1] & 0x40;
    bth->pad = p[1] >> 4 & 3;
    bth->pkey = mocx_get_be16(p + 2);
    bth->qpn = get_be24(p + 4);
    bth->ack_req = p[8] & 0x80;
    bth->psn = get_be24(p + 8);
}

/* From the BTH on; @len ends before the ICRC. */
static MocxParse parse_transport(MocxPkt *pkt, const uint8_t *p, size_t len)
{
    uint8_t hdrs;
    size_t ext;

    parse_bth(&pkt->bth, p);
    if (p[1] & 0x0f) {                          /* TVer */
        return MOCX_PARSE_MALFORMED;
    }
    pkt->op = mocx_opcode(pkt->bth.opcode);
    if (pkt->op.op == MOCX_PKT_RESERVED &&
        pkt->bth.opcode != MOCX_OPCODE_CNP) {
        return MOCX_PARSE_MALFORMED;
    }
    p += MOCX_BTH_LEN;
    len -= MOCX_BTH_LEN;
    hdrs = pkt->op.hdrs;
    ext = ext_len(hdrs);
    if (len < ext + pkt->bth.pad) {
        return MOCX_PARSE_MALFORMED;
    }
    pkt->payload = p + ext;
    pkt->len = (uint32_t)(len - ext - pkt->bth.pad);
    for (size_t i = 0; hdrs && i < NUM_EXT_HDRS; i++) {
        if (hdrs & ext_hdrs[i].bit) {
            ext_hdrs[i].get(&pkt->bth, p);
            p += ext_hdrs[i].len;
            hdrs &= (uint8_t)~ext_hdrs[i].bit;
        }
    }
    return MOCX_PARSE_OK;
}

/* Ethernet and VLAN; the offset of what follows, 0 if it is too short. */
static size_t parse_l2(MocxPath *path, const uint8_t *frame, size_t len,
                       uint16_t *ethertype)
{
    size_t off = ETH_LEN;

    if (len < ETH_LEN + VLAN_LEN) {
        return 0;
    }
    memcpy(path->dmac, frame, 6);
    memcpy(path->smac, frame + 6, 6);
    *ethertype = mocx_get_be16(frame + 12);
    path->vlan = *ethertype == MOCX_ETHERTYPE_VLAN;
    path->tci = 0;
    if (path->vlan) {
        path->tci = mocx_get_be16(frame + 14);
        *ethertype = mocx_get_be16(frame + 16);
        off += VLAN_LEN;
    }
    return off;
}

MocxParse mocx_wire_parse(MocxPkt *pkt, const uint8_t *frame, size_t len)
{
    uint16_t ethertype;
    const uint8_t *l3, *l4, *end;
    size_t off, udp;
    L3Parse found;

    off = parse_l2(&pkt->path, frame, len, &ethertype);
    if (!off) {
        return MOCX_PARSE_NOT_ROCE;
    }
    l3 = frame + off;
    found = parse_l3(&pkt->path, ethertype, l3, len - off);
    if (found.verdict != MOCX_PARSE_OK) {
        return found.verdict;
    }
    pkt->l3 = l3;
    pkt->l3_len = (uint8_t)l3_len(&pkt->path);
    l4 = l3 + pkt->l3_len;
    udp = l4_len(&pkt->path);
    if (found.transport < udp + MOCX_BTH_LEN + MOCX_ICRC_LEN) {
        return MOCX_PARSE_MALFORMED;
    }
    if (udp) {
        pkt->path.udp_sport = mocx_get_be16(l4);
        if (mocx_get_be16(l4 + 4) != found.transport) {
            return MOCX_PARSE_MALFORMED;
        }
    }
    end = l4 + found.transport - MOCX_ICRC_LEN;
    if (icrc(&pkt->path, l3, end) != get_le32(end)) {
        return MOCX_PARSE_BAD_ICRC;
    }
    return parse_transport(pkt, l4 + udp, (size_t)(end - (l4 + udp)));
}

static uint32_t padding(uint32_t payload)
{
    return -payload & 3;
}

/* BTH to ICRC. */
static size_t transport_size(uint8_t opcode, uint32_t payload)
{
    return MOCX_BTH_LEN + ext_len(mocx_opcode(opcode).hdrs) + payload +
           padding(payload) + MOCX_ICRC_LEN;
}

size_t mocx_wire_size(const MocxPath *path, uint8_t opcode, uint32_t payload)
{
    return l2_len(path) + l3_len(path) + l4_len(path) +
           transport_size(opcode, payload);
}

static uint8_t *put_l2(uint8_t *p, const MocxPath *path)
{
    uint16_t ethertype = path->version == MOCX_ROCE_V1 ? MOCX_ETHERTYPE_ROCE :
                         path->ipv4 ? MOCX_ETHERTYPE_IPV4 : MOCX_ETHERTYPE_IPV6;

    memcpy(p, path->dmac, 6);
    memcpy(p + 6, path->smac, 6);
    p += 12;
    if (path->vlan) {
        mocx_put_be16(p, MOCX_ETHERTYPE_VLAN);
        mocx_put_be16(p + 2, path->tci);
        p += VLAN_LEN;
    }
    mocx_put_be16(p, ethertype);
    return p + 2;
}

static void put_ipv4(uint8_t *ip, const MocxPath *path, size_t len, uint16_t id)
{
    ip[0] = 0x45;
    ip[1] = path->tclass;
    mocx_put_be16(ip + 2, (uint16_t)(IPV4_LEN + len));
    mocx_put_be16(ip + 4, id);
    mocx_put_be16(ip + 6, 0x4000);      /* do not fragment */
    ip[8] = path->hop_limit;
    ip[9] = IPPROTO_UDP_;
    mocx_put_be16(ip + 10, 0);
    memcpy(ip + 12, path->sgid + 12, 4);
    memcpy(ip + 16, path->dgid + 12, 4);
    mocx_put_be16(ip + 10, (uint16_t)~ipv4_sum(ip));
}

static void put_ipv6(uint8_t *ip, const MocxPath *path, size_t len)
{
    mocx_put_be32(ip, 6u << 28 | (uint32_t)path->tclass << 20 |
                      (path->flow_label & 0xfffff));
    mocx_put_be16(ip + 4, (uint16_t)len);
    ip[6] = path->version == MOCX_ROCE_V1 ? IPPROTO_BTH : IPPROTO_UDP_;
    ip[7] = path->hop_limit;
    memcpy(ip + 8, path->sgid, 16);
    memcpy(ip + 24, path->dgid, 16);
}

static uint8_t *put_bth(uint8_t *p, const MocxBth *bth, uint32_t pad)
{
    p[0] = bth->opcode;
    p[1] = (uint8_t)(bth->solicited << 7 | bth->migrated << 6 | pad << 4);
    mocx_put_be16(p + 2, bth->pkey);
    mocx_put_be32(p + 4, bth->qpn & 0xffffff);
    mocx_put_be32(p + 8, (uint32_t)bth->ack_req << 31 | (bth->psn & 0xffffff));
    return p + MOCX_BTH_LEN;
}

static uint8_t *put_ext(uint8_t *p, const MocxBth *bth)
{
    uint8_t hdrs = mocx_opcode(bth->opcode).hdrs;

    for (size_t i = 0; hdrs && i < NUM_EXT_HDRS; i++) {
        if (hdrs & ext_hdrs[i].bit) {
            ext_hdrs[i].put(bth, p);
            p += ext_hdrs[i].len;
            hdrs &= (uint8_t)~ext_hdrs[i].bit;
        }
    }
    return p;
}

uint8_t *mocx_wire_headers(uint8_t *frame, const MocxPath *path,
                           const MocxBth *bth, uint32_t payload, uint16_t ip_id)
{
    size_t len = l4_len(path) + transport_size(bth->opcode, payload);
    uint32_t pad = padding(payload);
    uint8_t *p = put_l2(frame, path);

    if (l3_len(path) == IPV4_LEN) {
        put_ipv4(p, path, len, ip_id);
    } else {
        put_ipv6(p, path, len);
    }
    p += l3_len(path);
    if (l4_len(path)) {
        mocx_put_be16(p, path->udp_sport);
        mocx_put_be16(p + 2, MOCX_ROCE_UDP_PORT);
        mocx_put_be16(p + 4, (uint16_t)len);
        mocx_put_be16(p + 6, 0);        /* no checksum: the ICRC is better */
        p += UDP_LEN;
    }
    p = put_bth(p, bth, pad);
    p = put_ext(p, bth);
    memset(p + payload, 0, pad);
    return p;
}

void mocx_wire_seal(uint8_t *frame, const MocxPath *path, size_t size)
{
    uint8_t *end = frame + size - MOCX_ICRC_LEN;

    put_le32(end, icrc(path, frame + l2_len(path), end));
}
