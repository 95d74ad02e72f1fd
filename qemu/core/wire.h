/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCE packets on the wire: one parser and one builder, for v1 (ethertype
 * 0x8915 and a GRH) and v2 (UDP over IPv4 or IPv6), with or without a VLAN
 * tag.  Knows nothing of queue pairs.
 */
#ifndef MOCX_WIRE_H
#define MOCX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOCX_ROCE_UDP_PORT      4791
#define MOCX_ETHERTYPE_ROCE     0x8915
#define MOCX_ETHERTYPE_IPV4     0x0800
#define MOCX_ETHERTYPE_IPV6     0x86dd
#define MOCX_ETHERTYPE_VLAN     0x8100

#define MOCX_BTH_LEN            12
#define MOCX_ICRC_LEN           4
#define MOCX_QPN_MULTICAST      0xffffffu
#define MOCX_QPN_GSI            1u
#define MOCX_OPCODE_CNP         0x81

/* What a packet is, whatever the service. */
typedef enum MocxPktOp {
    MOCX_PKT_RESERVED, MOCX_PKT_SEND, MOCX_PKT_WRITE, MOCX_PKT_READ_REQ,
    MOCX_PKT_READ_RESP, MOCX_PKT_ACK, MOCX_PKT_ATOMIC_ACK, MOCX_PKT_CMP_SWAP,
    MOCX_PKT_FETCH_ADD,
} MocxPktOp;

/* Place in the message; a single packet is both. */
enum {
    MOCX_PKT_FIRST = 1 << 0,
    MOCX_PKT_LAST  = 1 << 1,
};

/* Headers that follow the BTH, in this order on the wire. */
enum {
    MOCX_HDR_XRCETH     = 1 << 0,
    MOCX_HDR_DETH       = 1 << 1,
    MOCX_HDR_RETH       = 1 << 2,
    MOCX_HDR_ATOMICETH  = 1 << 3,
    MOCX_HDR_AETH       = 1 << 4,
    MOCX_HDR_ATOMICACK  = 1 << 5,
    MOCX_HDR_IMM        = 1 << 6,
    MOCX_HDR_IETH       = 1 << 7,
};

/* Services: the top three bits of the opcode. */
enum {
    MOCX_SVC_RC = 0x00, MOCX_SVC_UC = 0x20, MOCX_SVC_UD = 0x60,
    MOCX_SVC_XRC = 0xa0, MOCX_SVC_MASK = 0xe0,
};

/* Low five bits of the opcode that the transport builds by name. */
enum {
    MOCX_LOW_SEND = 0x00,           /* first; the rest by position */
    MOCX_LOW_READ_REQ = 0x0c, MOCX_LOW_READ_FIRST = 0x0d,
    MOCX_LOW_READ_MIDDLE = 0x0e, MOCX_LOW_READ_LAST = 0x0f,
    MOCX_LOW_READ_ONLY = 0x10, MOCX_LOW_ACK = 0x11, MOCX_LOW_ATOMIC_ACK = 0x12,
    MOCX_LOW_CMP_SWAP = 0x13, MOCX_LOW_FETCH_ADD = 0x14,
};

/* Syndromes of an AETH; the ACK says nothing about credits. */
enum {
    MOCX_SYN_ACK = 0x1f, MOCX_SYN_RNR = 0x20, MOCX_SYN_SEQUENCE = 0x60,
    MOCX_SYN_INVALID = 0x61, MOCX_SYN_ACCESS = 0x62, MOCX_SYN_OPERATION = 0x63,
};

/**
 * struct MocxOpInfo - what an opcode means
 * @op: MOCX_PKT_RESERVED for an opcode that is not in use
 * @pos: MOCX_PKT_FIRST and MOCX_PKT_LAST
 * @hdrs: MOCX_HDR_*
 */
typedef struct MocxOpInfo {
    uint8_t op;
    uint8_t pos;
    uint8_t hdrs;
} MocxOpInfo;

/** mocx_opcode() - all 256 of them have an answer */
MocxOpInfo mocx_opcode(uint8_t opcode);

/**
 * struct MocxPath - the headers below the transport
 * @version: MocxRoceVersion
 * @ipv4: v2 over IPv4; the GIDs are ::ffff:a.b.c.d
 * @vlan: has a VLAN tag
 * @tci: priority and VLAN ID as in the tag
 * @dmac: destination MAC
 * @smac: source MAC
 * @sgid: source GID
 * @dgid: destination GID
 * @tclass: traffic class, or the IPv4 TOS
 * @hop_limit: hop limit, or the IPv4 TTL
 * @udp_sport: v2: source port
 * @flow_label: 20 bits
 */
typedef struct MocxPath {
    uint8_t version;
    bool ipv4;
    bool vlan;
    uint16_t tci;
    uint8_t dmac[6];
    uint8_t smac[6];
    uint8_t sgid[16];
    uint8_t dgid[16];
    uint8_t tclass;
    uint8_t hop_limit;
    uint16_t udp_sport;
    uint32_t flow_label;
} MocxPath;

/**
 * struct MocxBth - the transport headers; which ones count is the opcode's say
 * @opcode: service and operation, 8 bits
 * @pad: bytes behind the payload, 0 to 3; parser only
 * @solicited: solicited event
 * @migrated: migration request
 * @ack_req: an ACK is asked for
 * @syndrome: AETH: MOCX_SYN_* with its value
 * @pkey: partition key
 * @qpn: destination QP
 * @psn: packet sequence number
 * @msn: AETH: message sequence number
 * @va: RETH, AtomicETH: address
 * @rkey: RETH, AtomicETH: key
 * @dma_len: RETH: bytes of the whole message
 * @swap_add: AtomicETH: what to store or to add
 * @compare: AtomicETH: what to compare with
 * @orig: AtomicAckETH: what was in memory
 * @qkey: DETH: queue key
 * @src_qpn: DETH: source QP
 * @srqn: XRCETH: the SRQ at the destination
 * @imm: immediate data, or the key to invalidate
 */
typedef struct MocxBth {
    uint8_t opcode;
    uint8_t pad;
    bool solicited;
    bool migrated;
    bool ack_req;
    uint8_t syndrome;
    uint16_t pkey;
    uint32_t qpn;
    uint32_t psn;
    uint32_t msn;
    uint64_t va;
    uint32_t rkey;
    uint32_t dma_len;
    uint64_t swap_add;
    uint64_t compare;
    uint64_t orig;
    uint32_t qkey;
    uint32_t src_qpn;
    uint32_t srqn;
    uint32_t imm;
} MocxBth;

/**
 * struct MocxPkt - a packet taken apart
 * @path: headers below the transport
 * @bth: transport headers
 * @op: what the opcode means
 * @l3: IP header or GRH, @l3_len bytes, 20 or 40
 * @l3_len: bytes of @l3: 20 or 40
 * @payload: @len bytes, pad left off
 * @len: bytes of @payload
 *
 * Points into the frame.
 */
typedef struct MocxPkt {
    MocxPath path;
    MocxBth bth;
    MocxOpInfo op;
    const uint8_t *l3;
    uint8_t l3_len;
    const uint8_t *payload;
    uint32_t len;
} MocxPkt;

typedef enum MocxParse {
    MOCX_PARSE_OK,
    MOCX_PARSE_NOT_ROCE,
    MOCX_PARSE_MALFORMED,
    MOCX_PARSE_BAD_ICRC,
} MocxParse;

/**
 * mocx_wire_parse() - take a frame apart
 * @pkt: filled as far as the frame was understood
 * @frame: from the destination MAC on
 * @len: bytes of the frame, Ethernet padding included
 *
 * The ICRC is found by the length in the headers, never by that of the frame.
 * A reserved opcode is malformed.  CNPs parse (opcode 0x81, op ACK-less:
 * MOCX_PKT_RESERVED) so that the caller can tell them.
 */
MocxParse mocx_wire_parse(MocxPkt *pkt, const uint8_t *frame, size_t len);

/**
 * mocx_wire_size() - bytes of the frame, ICRC included, Ethernet padding not
 * @path: decides on tag, IP version and GRH
 * @opcode: decides on the transport headers
 * @payload: bytes without pad
 */
size_t mocx_wire_size(const MocxPath *path, uint8_t opcode, uint32_t payload);

/**
 * mocx_wire_headers() - write all up to the payload, and the pad after it
 * @frame: room for mocx_wire_size() bytes
 * @path: headers below the transport
 * @bth: transport headers; @pad of it is not looked at
 * @payload: bytes without pad
 * @ip_id: identification of the IPv4 header
 *
 * Return: where the payload goes.  Once it is there, mocx_wire_seal().
 */
uint8_t *mocx_wire_headers(uint8_t *frame, const MocxPath *path,
                           const MocxBth *bth, uint32_t payload,
                           uint16_t ip_id);

/** mocx_wire_seal() - write the ICRC; @size is that of mocx_wire_size() */
void mocx_wire_seal(uint8_t *frame, const MocxPath *path, size_t size);

#endif /* MOCX_WIRE_H */
