// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets as fte_match_param, and criteria on them. */
#include "ifc.h"
#include "match.h"

#define SET_OUTER(p, f, v)  DEVX_SET(fte_match_set_lyr_2_4, p, f, v)
#define OUTER_ADDR(p, f)    DEVX_ADDR_OF(fte_match_set_lyr_2_4, p, f)
#define SET_MISC(p, f, v)   DEVX_SET(fte_match_set_misc, p, f, v)

enum {                          /* match_criteria_enable */
    ENABLE_OUTER = 1 << 0, ENABLE_MISC = 1 << 1,
};

enum { L4_TYPE_TCP = 1, L4_TYPE_UDP = 2 };

static uint8_t *outer_of(void *param)
{
    return DEVX_ADDR_OF(fte_match_param, param, outer_headers);
}

static uint8_t *misc_of(void *param)
{
    return DEVX_ADDR_OF(fte_match_param, param, misc_parameters);
}

static void key_tags(uint8_t *outer, uint8_t *misc, const MocxEthPkt *pkt)
{
    const uint8_t *tag = pkt->data + MOCX_ETH_HLEN - 2;
    uint16_t type, tci;

    if (!pkt->num_tags) {
        return;
    }
    type = mocx_get_be16(tag);
    tci = mocx_get_be16(tag + 2);
    SET_OUTER(outer, first_prio, tci >> 13);
    SET_OUTER(outer, first_cfi, tci >> 12);
    SET_OUTER(outer, first_vid, tci);
    SET_OUTER(outer, cvlan_tag, type == MOCX_ETH_P_8021Q);
    SET_OUTER(outer, svlan_tag, type == MOCX_ETH_P_8021AD);
    if (pkt->num_tags < 2) {
        return;
    }
    tag += MOCX_VLAN_HLEN;
    type = mocx_get_be16(tag);
    tci = mocx_get_be16(tag + 2);
    SET_MISC(misc, outer_second_prio, tci >> 13);
    SET_MISC(misc, outer_second_cfi, tci >> 12);
    SET_MISC(misc, outer_second_vid, tci);
    SET_MISC(misc, outer_second_cvlan_tag, type == MOCX_ETH_P_8021Q);
    SET_MISC(misc, outer_second_svlan_tag, type == MOCX_ETH_P_8021AD);
}

static void key_ipv4(uint8_t *outer, const MocxEthPkt *pkt)
{
    const uint8_t *ip = pkt->data + pkt->l3_off;

    SET_OUTER(outer, ip_version, 4);
    SET_OUTER(outer, ip_dscp, ip[1] >> 2);
    SET_OUTER(outer, ip_ecn, ip[1]);
    SET_OUTER(outer, ipv4_ihl, ip[0]);
    SET_OUTER(outer, ttl_hoplimit, ip[8]);
    memcpy(OUTER_ADDR(outer, src_ipv4_src_ipv6.ipv4_layout.ipv4), ip + 12, 4);
    memcpy(OUTER_ADDR(outer, dst_ipv4_dst_ipv6.ipv4_layout.ipv4), ip + 16, 4);
}

static void key_ipv6(uint8_t *outer, uint8_t *misc, const MocxEthPkt *pkt)
{
    const uint8_t *ip = pkt->data + pkt->l3_off;
    uint32_t first = mocx_get_be32(ip);

    SET_OUTER(outer, ip_version, 6);
    SET_OUTER(outer, ip_dscp, first >> 22);
    SET_OUTER(outer, ip_ecn, first >> 20);
    SET_OUTER(outer, ttl_hoplimit, ip[7]);
    SET_MISC(misc, outer_ipv6_flow_label, first);
    memcpy(OUTER_ADDR(outer, src_ipv4_src_ipv6), ip + 8, 16);
    memcpy(OUTER_ADDR(outer, dst_ipv4_dst_ipv6), ip + 24, 16);
}

static void key_l4(uint8_t *outer, const MocxEthPkt *pkt)
{
    const uint8_t *l4 = pkt->data + pkt->l4_off;

    if (pkt->l4 == MOCX_L4_TCP) {
        SET_OUTER(outer, l4_type, L4_TYPE_TCP);
        SET_OUTER(outer, tcp_flags, mocx_get_be16(l4 + 12));
        memcpy(OUTER_ADDR(outer, tcp_sport), l4, 4);
    } else if (pkt->l4 == MOCX_L4_UDP) {
        SET_OUTER(outer, l4_type, L4_TYPE_UDP);
        memcpy(OUTER_ADDR(outer, udp_sport), l4, 4);
    }
}

void mocx_match_key(MocxMatchKey *key, const MocxEthPkt *pkt)
{
    uint8_t *outer = outer_of(key->dw), *misc = misc_of(key->dw);

    memset(key, 0, sizeof(*key));
    memcpy(OUTER_ADDR(outer, dmac_47_16), pkt->data, 6);
    memcpy(OUTER_ADDR(outer, smac_47_16), pkt->data + 6, 6);
    SET_OUTER(outer, ethertype, pkt->ethertype);
    key_tags(outer, misc, pkt);
    if (pkt->l3 == MOCX_L3_NONE) {
        return;
    }
    SET_OUTER(outer, ip_protocol, pkt->ip_proto);
    SET_OUTER(outer, frag, pkt->ip_frag);
    if (pkt->l3 == MOCX_L3_IPV4) {
        key_ipv4(outer, pkt);
    } else {
        key_ipv6(outer, misc, pkt);
    }
    key_l4(outer, pkt);
}

/* All that mocx_match_key() fills; a bit outside can never be matched. */
static void known_fields(MocxMatchKey *known)
{
    uint8_t *outer = outer_of(known->dw), *misc = misc_of(known->dw);

    memset(outer, 0xff, DEVX_ST_SZ_BYTES(fte_match_set_lyr_2_4));
    SET_OUTER(outer, reserved_at_c2, 0);
    memset(misc, 0, DEVX_ST_SZ_BYTES(fte_match_set_misc));
    SET_MISC(misc, outer_second_prio, ~0);
    SET_MISC(misc, outer_second_cfi, ~0);
    SET_MISC(misc, outer_second_vid, ~0);
    SET_MISC(misc, outer_second_cvlan_tag, ~0);
    SET_MISC(misc, outer_second_svlan_tag, ~0);
    SET_MISC(misc, outer_ipv6_flow_label, ~0);
}

static uint8_t enable_bit(unsigned dw)
{
    if (dw < DEVX_ST_SZ_DW(fte_match_set_lyr_2_4)) {
        return ENABLE_OUTER;
    }
    return ENABLE_MISC;
}

bool mocx_match_mask(MocxMatchMask *mask, uint8_t enable, const uint8_t *param)
{
    MocxMatchKey known;
    uint32_t v;

    if (enable & ~(ENABLE_OUTER | ENABLE_MISC)) {
        return false;
    }
    known_fields(&known);
    mask->n = 0;
    for (unsigned i = 0; i < MOCX_MATCH_DWORDS; i++) {
        memcpy(&v, param + i * sizeof(v), sizeof(v));
        if (!v || !(enable & enable_bit(i))) {
            continue;
        }
        if (v & ~known.dw[i]) {
            return false;
        }
        mask->dw[mask->n] = i;
        mask->mask[mask->n] = v;
        mask->n++;
    }
    return true;
}

uint32_t mocx_match_pick(const MocxMatchMask *mask, const void *param,
                         uint32_t *out)
{
    const uint8_t *p = param;
    uint64_t hash = 0;
    uint32_t v;

    for (unsigned i = 0; i < mask->n; i++) {
        memcpy(&v, p + mask->dw[i] * sizeof(v), sizeof(v));
        out[i] = v & mask->mask[i];
        /* Multiplicative hashing by 2^64 over the golden ratio. */
        hash = (hash ^ out[i]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
    }
    return hash;
}

void mocx_match_spread(const MocxMatchMask *mask, const uint32_t *picked,
                       uint8_t *param)
{
    for (unsigned i = 0; i < mask->n; i++) {
        memcpy(param + mask->dw[i] * sizeof(*picked), &picked[i],
               sizeof(*picked));
    }
}
