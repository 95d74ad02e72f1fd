/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the headers of an Ethernet frame are.  Parsed once per frame; steering,
 * RSS and the checksum engines of both directions read the result.
 */
#ifndef MOCX_ETH_PKT_H
#define MOCX_ETH_PKT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOCX_ETH_HLEN   14U
#define MOCX_VLAN_HLEN  4U
#define MOCX_IPV4_HLEN  20U     /* without options */
#define MOCX_IPV6_HLEN  40U
#define MOCX_TCP_HLEN   20U     /* without options */
#define MOCX_UDP_HLEN   8U

enum {
    MOCX_ETH_P_IP   = 0x0800,
    MOCX_ETH_P_8021Q = 0x8100,
    MOCX_ETH_P_IPV6 = 0x86dd,
    MOCX_ETH_P_8021AD = 0x88a8,
};

enum {
    MOCX_IPPROTO_TCP = 6,
    MOCX_IPPROTO_UDP = 17,
};

typedef enum MocxL3 { MOCX_L3_NONE, MOCX_L3_IPV4, MOCX_L3_IPV6 } MocxL3;
typedef enum MocxL4 { MOCX_L4_NONE, MOCX_L4_TCP, MOCX_L4_UDP } MocxL4;

/**
 * struct MocxEthPkt - a parsed frame
 * @data: the frame
 * @len: bytes of it
 * @ip_end: offset behind the IP packet by its length field, at most @len
 * @l3_off: offset of the IP header
 * @l4_off: offset behind the IP headers
 * @ethertype: what follows the tags
 * @num_tags: VLAN tags in a row
 * @l3: by ethertype; the fixed IP header lies within the frame
 * @l4: the protocol's whole header lies within the IP packet, no fragment
 * @ip_proto: behind the extension headers of IPv6
 * @l3_sane: version and header length hold what they must
 * @ip_frag: a fragment, first or later
 * @ip_opts: IPv4 options or IPv6 extension headers are present
 * @looped: was sent by this device; set by steering
 * @from: transport domain that sent it, if @looped
 */
typedef struct MocxEthPkt {
    const uint8_t *data;
    uint32_t len;
    uint32_t ip_end;
    uint16_t l3_off;
    uint16_t l4_off;
    uint16_t ethertype;
    uint8_t num_tags;
    uint8_t l3;
    uint8_t l4;
    uint8_t ip_proto;
    bool l3_sane;
    bool ip_frag;
    bool ip_opts;
    bool looped;
    uint32_t from;
} MocxEthPkt;

/**
 * mocx_eth_parse() - find the headers of @data
 * @pkt: filled; points into @data
 * @data: from the destination MAC on
 * @len: bytes
 *
 * Return: false if it is too short for an Ethernet header.
 */
bool mocx_eth_parse(MocxEthPkt *pkt, const uint8_t *data, size_t len);

/** mocx_eth_addrs() - source and destination IP address, adjacent */
static inline const uint8_t *mocx_eth_addrs(const MocxEthPkt *pkt, size_t *len)
{
    bool v4 = pkt->l3 == MOCX_L3_IPV4;

    *len = v4 ? 8 : 32;
    return pkt->data + pkt->l3_off + (v4 ? 12 : 8);
}

#endif /* MOCX_ETH_PKT_H */
