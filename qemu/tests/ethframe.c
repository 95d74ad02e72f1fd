/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "core/ifc.h"
#include "ethframe.h"

uint16_t eth_sum(const uint8_t *p, size_t len, uint32_t sum)
{
    for (size_t i = 0; i < len; i++) {
        sum += i & 1 ? p[i] : p[i] << 8;
    }
    while (sum >> 16) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return sum;
}

static bool is_v4(const EthFrame *f)
{
    return mocx_get_be16(f->b + f->l3 - 2) == 0x0800;
}

static uint8_t proto_of(const EthFrame *f)
{
    return f->b[f->l3 + (is_v4(f) ? 9 : 6)];
}

static size_t ip_len(const EthFrame *f)
{
    const uint8_t *ip = f->b + f->l3;

    return is_v4(f) ? mocx_get_be16(ip + 2) : 40 + mocx_get_be16(ip + 4);
}

static uint16_t l4_sum(const EthFrame *f)
{
    size_t len = ip_len(f) - (f->l4 - f->l3);
    uint32_t sum = proto_of(f) + len;

    sum = is_v4(f) ? eth_sum(f->b + f->l3 + 12, 8, sum)
                   : eth_sum(f->b + f->l3 + 8, 32, sum);
    return eth_sum(f->b + f->l4, len, sum);
}

static unsigned csum_off(const EthFrame *f)
{
    return f->l4 + (proto_of(f) == 6 ? 16 : 6);
}

static void put_ipv4(uint8_t *ip, const EthSpec *spec, size_t len)
{
    ip[0] = 0x45;
    mocx_put_be16(ip + 2, len);
    mocx_put_be16(ip + 4, 0x1234);
    mocx_put_be16(ip + 6, 0x4000);
    ip[8] = 64;
    ip[9] = spec->proto ? spec->proto : 6;
    mocx_put_be32(ip + 12, spec->last_ip ? spec->last_ip : 0x0a000001);
    mocx_put_be32(ip + 16, 0x0a000002);
    mocx_put_be16(ip + 10, ~eth_sum(ip, 20, 0));
}

static void put_ipv6(uint8_t *ip, const EthSpec *spec, size_t len)
{
    ip[0] = 0x60;
    mocx_put_be16(ip + 4, len - 40);
    ip[6] = spec->proto ? spec->proto : 6;
    ip[7] = 64;
    ip[8] = ip[24] = 0xfd;
    mocx_put_be32(ip + 20, spec->last_ip ? spec->last_ip : 1);
    ip[39] = 2;
}

static void put_l4(uint8_t *l4, const EthSpec *spec)
{
    mocx_put_be16(l4, spec->sport ? spec->sport : 1000);
    mocx_put_be16(l4 + 2, spec->dport ? spec->dport : 2000);
    if (spec->proto == 17) {
        mocx_put_be16(l4 + 4, 8 + spec->payload);
        return;
    }
    mocx_put_be32(l4 + 4, 0xfffffc00);      /* wraps within a large send */
    mocx_put_be32(l4 + 8, 0x01020304);
    l4[12] = 5 << 4;
    l4[13] = spec->tcp_flags ? spec->tcp_flags : 0x10;
    mocx_put_be16(l4 + 14, 0x1000);
}

static unsigned put_eth(uint8_t *b, const EthSpec *spec)
{
    static const uint8_t macs[] = { 0x52, 0x54, 0, 1, 2, 3,
                                    0x52, 0x54, 0, 4, 5, 6 };
    unsigned pos = 12;

    memcpy(b, macs, sizeof(macs));
    b[0] = spec->dmac0 ? spec->dmac0 : b[0];
    for (unsigned i = 0; i < spec->num_tags; i++, pos += 4) {
        mocx_put_be32(b + pos, spec->tag[i]);
    }
    mocx_put_be16(b + pos, spec->ipv6 ? 0x86dd : 0x0800);
    return pos + 2;
}

void eth_build(EthFrame *f, const EthSpec *spec)
{
    uint16_t sum;

    memset(f, 0, sizeof(*f));
    f->l3 = put_eth(f->b, spec);
    f->l4 = f->l3 + (spec->ipv6 ? 40 : 20);
    f->data = f->l4 + (spec->proto == 17 ? 8 : 20);
    f->len = f->data + spec->payload;
    for (unsigned i = 0; i < spec->payload; i++) {
        f->b[f->data + i] = i * 7 + 1;
    }
    if (spec->ipv6) {
        put_ipv6(f->b + f->l3, spec, f->len - f->l3);
    } else {
        put_ipv4(f->b + f->l3, spec, f->len - f->l3);
    }
    put_l4(f->b + f->l4, spec);
    sum = ~l4_sum(f);
    mocx_put_be16(f->b + csum_off(f), sum ? sum : 0xffff);
}

bool eth_find(EthFrame *f)
{
    unsigned pos = 12;

    while (mocx_get_be16(f->b + pos) == 0x8100 ||
           mocx_get_be16(f->b + pos) == 0x88a8) {
        pos += 4;
    }
    f->l3 = pos + 2;
    f->l4 = f->l3 + (is_v4(f) ? 20 : 40);
    f->data = f->l4 + (proto_of(f) == 17 ? 8 : f->b[f->l4 + 12] >> 4 << 2);
    return proto_of(f) == 6 || proto_of(f) == 17;
}

bool eth_csums_ok(const EthFrame *f)
{
    return f->l3 + ip_len(f) <= f->len && l4_sum(f) == 0xffff &&
           (!is_v4(f) || eth_sum(f->b + f->l3, 20, 0) == 0xffff);
}
