/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ethernet frames for tests, and a judge of received ones that shares no code
 * with the model.
 */
#ifndef MOCX_TESTS_ETHFRAME_H
#define MOCX_TESTS_ETHFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETH_FRAME_MAX   10240

/* Zero means the default in brackets. */
typedef struct EthSpec {
    bool ipv6;
    uint8_t proto;          /* 6 or 17 [6] */
    uint8_t tcp_flags;      /* [ACK] */
    uint16_t sport, dport;  /* [1000, 2000] */
    unsigned payload;       /* bytes, a pattern */
    unsigned num_tags;
    uint32_t tag[3];        /* type, TCI; outermost first */
    uint8_t dmac0;          /* first byte of the destination [0x52] */
    uint32_t last_ip;       /* last 32 bits of the source address [1] */
} EthSpec;

typedef struct EthFrame {
    uint8_t b[ETH_FRAME_MAX];
    size_t len;
    unsigned l3, l4, data;  /* offsets */
} EthFrame;

/** eth_build() - a whole frame with right checksums, no padding */
void eth_build(EthFrame *f, const EthSpec *spec);

/** eth_sum() - folded ones' complement sum, byte by byte */
uint16_t eth_sum(const uint8_t *p, size_t len, uint32_t sum);

/**
 * eth_find() - offsets of a frame that came back (IPv4 and IPv6, no options)
 * @f: the frame; its offsets are filled
 *
 * Return: false unless it is TCP or UDP.
 */
bool eth_find(EthFrame *f);
/** eth_csums_ok() - are the IP and the L4 checksum right? */
bool eth_csums_ok(const EthFrame *f);

#endif /* MOCX_TESTS_ETHFRAME_H */
