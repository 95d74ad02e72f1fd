/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checksums of frames, written apart from the model's own. */
#include "bed.h"
#include "core/icrc.h"
#include "core/wire.h"
#include "ethframe.h"

#define BTH_FECN        4       /* byte that the ICRC takes for ones */
#define ICRC            4

/* What the ICRC takes for ones, by its place in the L3 header. */
static void mask_l3(uint8_t *l3, uint16_t type)
{
    if (type == MOCX_ETHERTYPE_IPV4) {
        l3[1] = l3[8] = l3[10] = l3[11] = 0xff;
        l3[26] = l3[27] = 0xff;         /* UDP checksum */
    } else {
        l3[0] |= 0x0f;
        memset(l3 + 1, 0xff, 3);
        l3[7] = 0xff;
        if (type == MOCX_ETHERTYPE_IPV6) {
            l3[46] = l3[47] = 0xff;
        }
    }
}

static void fix_icrc(uint8_t *l3, size_t len, uint16_t type)
{
    size_t bth = type == MOCX_ETHERTYPE_IPV4 ? 28 :
                 type == MOCX_ETHERTYPE_IPV6 ? 48 : 40;
    size_t end = type == MOCX_ETHERTYPE_IPV4 ? mocx_get_be16(l3 + 2) :
                 mocx_get_be16(l3 + 4) + 40;
    uint8_t copy[MOCX_FRAME_MAX];
    uint32_t crc;

    if (end < bth + MOCX_BTH_LEN + ICRC || end > len) {
        return;
    }
    memcpy(copy, l3, end);
    mask_l3(copy, type);
    copy[bth + BTH_FECN] = 0xff;
    crc = ~mocx_crc32(MOCX_ICRC_SEED, copy, end - ICRC);
    for (int i = 0; i < ICRC; i++) {
        l3[end - ICRC + i] = crc >> (8 * i);
    }
}

static bool is_roce(const uint8_t *l3, uint16_t type)
{
    return type == MOCX_ETHERTYPE_ROCE ||
           (type == MOCX_ETHERTYPE_IPV4 &&
            mocx_get_be16(l3 + 22) == MOCX_ROCE_UDP_PORT) ||
           (type == MOCX_ETHERTYPE_IPV6 &&
            mocx_get_be16(l3 + 42) == MOCX_ROCE_UDP_PORT);
}

void frame_fix(uint8_t *frame, size_t len)
{
    size_t at = 12;
    uint16_t type;

    while (at + 6 < len && mocx_get_be16(frame + at) == MOCX_ETHERTYPE_VLAN) {
        at += 4;
    }
    type = mocx_get_be16(frame + at);
    at += 2;
    if (len < at + 48) {
        return;
    }
    if (type == MOCX_ETHERTYPE_IPV4) {
        mocx_put_be16(frame + at + 10, 0);
        mocx_put_be16(frame + at + 10, ~eth_sum(frame + at, 20, 0));
    }
    if (is_roce(frame + at, type)) {
        fix_icrc(frame + at, len - at, type);
    }
}
