/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matching of packets against fte_match_param.  A packet becomes a key with the
 * layout of fte_match_param; a group's criteria become the short list of key
 * dwords they look at; an entry's value is those dwords alone.
 */
#ifndef MOCX_MATCH_H
#define MOCX_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "eth_pkt.h"

/* Outer headers and misc parameters: the part of fte_match_param we match. */
#define MOCX_MATCH_DWORDS   32

/* A packet, in memory order of fte_match_param (big-endian). */
typedef struct MocxMatchKey {
    uint32_t dw[MOCX_MATCH_DWORDS];
} MocxMatchKey;

typedef struct MocxMatchMask {
    uint8_t n;                          /* dwords looked at */
    uint8_t dw[MOCX_MATCH_DWORDS];      /* which */
    uint32_t mask[MOCX_MATCH_DWORDS];   /* big-endian */
} MocxMatchMask;

/** mocx_match_key() - the key of a packet */
void mocx_match_key(MocxMatchKey *key, const MocxEthPkt *pkt);

/**
 * mocx_match_mask() - take match criteria
 * @mask: filled
 * @enable: match_criteria_enable; a part that is not enabled is not looked at
 * @param: fte_match_param
 *
 * Return: false if the criteria ask for what mocx_match_key() does not know.
 */
bool mocx_match_mask(MocxMatchMask *mask, uint8_t enable, const uint8_t *param);

/**
 * mocx_match_pick() - the dwords of @param that @mask looks at, masked
 * @mask: which dwords
 * @param: a key, or the match_value of an entry
 * @out: room for @mask->n dwords
 *
 * Return: a hash of them.
 */
uint32_t mocx_match_pick(const MocxMatchMask *mask, const void *param,
                         uint32_t *out);

/** mocx_match_spread() - the reverse: back to fte_match_param, @param zeroed */
void mocx_match_spread(const MocxMatchMask *mask, const uint32_t *picked,
                       uint8_t *param);

#endif /* MOCX_MATCH_H */
