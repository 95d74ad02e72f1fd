// SPDX-License-Identifier: GPL-2.0-or-later
/* The packet parser.  A byte is read after it was found to be in the frame. */
#include "ifc.h"
#include "eth_pkt.h"

/* The kernel looks no deeper either (VLAN_MAX_DEPTH). */
#define MAX_TAGS        8
#define MAX_EXT_HEADERS 8

enum {                          /* IPv6 next header values (RFC 8200) */
    NH_HOP = 0, NH_ROUTING = 43, NH_FRAGMENT = 44, NH_DEST = 60,
};

static bool within(const MocxEthPkt *pkt, uint32_t off, uint32_t len)
{
    return off + len <= pkt->ip_end;
}

static void parse_l4(MocxEthPkt *pkt, uint32_t off)
{
    if (pkt->ip_frag || off > UINT16_MAX) {
        return;
    }
    pkt->l4_off = off;
    if (pkt->ip_proto == MOCX_IPPROTO_UDP && within(pkt, off, MOCX_UDP_HLEN)) {
        pkt->l4 = MOCX_L4_UDP;
    } else if (pkt->ip_proto == MOCX_IPPROTO_TCP &&
               within(pkt, off, MOCX_TCP_HLEN)) {
        uint32_t hlen = pkt->data[off + 12] >> 4 << 2;

        if (hlen >= MOCX_TCP_HLEN && within(pkt, off, hlen)) {
            pkt->l4 = MOCX_L4_TCP;
        }
    }
}

static void set_ip_end(MocxEthPkt *pkt, uint32_t ip_len)
{
    pkt->ip_end = pkt->l3_off + ip_len;
    if (pkt->ip_end > pkt->len) {
        pkt->ip_end = pkt->len;
    }
}

static void parse_ipv4(MocxEthPkt *pkt)
{
    const uint8_t *ip = pkt->data + pkt->l3_off;
    uint32_t hlen;

    if (pkt->len < pkt->l3_off + MOCX_IPV4_HLEN) {
        return;
    }
    hlen = (ip[0] & 0xf) * 4;
    pkt->l3 = MOCX_L3_IPV4;
    set_ip_end(pkt, mocx_get_be16(ip + 2));
    pkt->ip_proto = ip[9];
    pkt->ip_opts = hlen > MOCX_IPV4_HLEN;
    pkt->ip_frag = mocx_get_be16(ip + 6) & 0x3fff;  /* offset and MF */
    pkt->l3_sane = ip[0] >> 4 == 4 && hlen >= MOCX_IPV4_HLEN &&
                   within(pkt, pkt->l3_off, hlen);
    if (pkt->l3_sane) {
        parse_l4(pkt, pkt->l3_off + hlen);
    }
}

/*
 * Step over one extension header.  False at the first that is none, at a
 * truncated one, and behind a fragment header, for what follows that is not
 * necessarily a header.
 */
static bool skip_ext_header(MocxEthPkt *pkt, uint32_t *off)
{
    const uint8_t *h = pkt->data + *off;

    switch (pkt->ip_proto) {
    case NH_HOP:
    case NH_ROUTING:
    case NH_DEST:
        if (!within(pkt, *off, 8)) {
            return false;
        }
        pkt->ip_proto = h[0];
        *off += (h[1] + 1) * 8;
        break;
    case NH_FRAGMENT:
        if (!within(pkt, *off, 8)) {
            return false;
        }
        pkt->ip_proto = h[0];
        pkt->ip_frag = true;
        return false;
    default:
        return false;
    }
    pkt->ip_opts = true;
    return true;
}

static void parse_ipv6(MocxEthPkt *pkt)
{
    const uint8_t *ip = pkt->data + pkt->l3_off;
    uint32_t off = pkt->l3_off + MOCX_IPV6_HLEN;

    if (pkt->len < off) {
        return;
    }
    pkt->l3 = MOCX_L3_IPV6;
    set_ip_end(pkt, MOCX_IPV6_HLEN + mocx_get_be16(ip + 4));
    pkt->ip_proto = ip[6];
    pkt->l3_sane = ip[0] >> 4 == 6;
    if (!pkt->l3_sane) {
        return;
    }
    for (unsigned i = 0; i < MAX_EXT_HEADERS; i++) {
        if (!skip_ext_header(pkt, &off)) {
            break;
        }
    }
    parse_l4(pkt, off);
}

static bool is_tag(uint16_t ethertype)
{
    return ethertype == MOCX_ETH_P_8021Q || ethertype == MOCX_ETH_P_8021AD;
}

bool mocx_eth_parse(MocxEthPkt *pkt, const uint8_t *data, size_t len)
{
    uint32_t off = MOCX_ETH_HLEN;

    if (len < MOCX_ETH_HLEN) {
        return false;
    }
    *pkt = (MocxEthPkt){ .data = data, .len = len };
    pkt->ethertype = mocx_get_be16(data + 12);
    while (is_tag(pkt->ethertype) && pkt->num_tags < MAX_TAGS &&
           off + MOCX_VLAN_HLEN <= len) {
        pkt->ethertype = mocx_get_be16(data + off + 2);
        pkt->num_tags++;
        off += MOCX_VLAN_HLEN;
    }
    pkt->l3_off = off;
    pkt->ip_end = off;
    if (pkt->ethertype == MOCX_ETH_P_IP) {
        parse_ipv4(pkt);
    } else if (pkt->ethertype == MOCX_ETH_P_IPV6) {
        parse_ipv6(pkt);
    }
    return true;
}
