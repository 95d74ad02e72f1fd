/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the Ethernet side that need no device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/csum.h"
#include "core/eth_pkt.h"
#include "core/ifc.h"
#include "core/toeplitz.h"
#include "ethframe.h"
#include "harness.h"

/* "Verifying the RSS Hash Calculation", Microsoft */
static const uint8_t rss_key[MOCX_TOEPLITZ_KEY] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
    0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
    0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
    0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

typedef struct Vector4 {
    uint8_t src[4], dst[4];
    uint16_t sport, dport;
    uint32_t ip, tcp;
} Vector4;

static void toeplitz_gives_the_published_ipv4_hashes(void **state)
{
    static const Vector4 v[] = {
        { { 66, 9, 149, 187 }, { 161, 142, 100, 80 }, 2794, 1766,
          0x323e8fc2, 0x51ccc178 },
        { { 199, 92, 111, 2 }, { 65, 69, 140, 83 }, 14230, 4739,
          0xd718262a, 0xc626b0ea },
        { { 24, 19, 198, 95 }, { 12, 22, 207, 184 }, 12898, 38024,
          0xd2d0a5de, 0x5c2b394a },
        { { 38, 27, 205, 30 }, { 209, 142, 163, 6 }, 48228, 2217,
          0x82989176, 0xafc7327f },
        { { 153, 39, 163, 191 }, { 202, 188, 127, 2 }, 44251, 1303,
          0x5d1809c5, 0x10e828a2 },
    };

    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
        uint8_t in[12];

        memcpy(in, v[i].src, 4);
        memcpy(in + 4, v[i].dst, 4);
        mocx_put_be16(in + 8, v[i].sport);
        mocx_put_be16(in + 10, v[i].dport);
        assert_int_equal(mocx_toeplitz(rss_key, in, 8), v[i].ip);
        assert_int_equal(mocx_toeplitz(rss_key, in, 12), v[i].tcp);
    }
}

static void toeplitz_gives_the_published_ipv6_hash(void **state)
{
    /* 3ffe:2501:200:1fff::7, 3ffe:2501:200:3::1, 2794, 1766 */
    static const uint8_t in[36] = {
        0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7,
        0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1,
        0x0a, 0xea, 0x06, 0xe6,
    };

    assert_int_equal(mocx_toeplitz(rss_key, in, 32), 0x2cc18cd5);
    assert_int_equal(mocx_toeplitz(rss_key, in, 36), 0x40207d3d);
}

static void xor8_is_inverted(void **state)
{
    assert_int_equal(mocx_hash_xor8((const uint8_t *)"\x01\x02\x04", 3), 0xf8);
    assert_int_equal(mocx_hash_xor8(NULL, 0), 0xff);
}

static void sum_is_the_same_at_every_length_and_place(void **state)
{
    uint64_t seed = 1;
    uint8_t buf[700];

    for (unsigned round = 0; round < 20000; round++) {
        size_t off = rng_next(&seed) % 8, len = rng_next(&seed) % 600;

        for (size_t i = 0; i < len; i++) {
            uint64_t r = rng_next(&seed);

            buf[off + i] = r & 0x300 ? r : 0xff;    /* many carries */
        }
        assert_int_equal(mocx_csum(buf + off, len), eth_sum(buf + off, len, 0));
    }
}

static void pseudo_header_of_a_jumbo_ipv6_payload_carries(void **state)
{
    uint8_t addrs[32];

    memset(addrs, 0xff, sizeof(addrs));
    assert_int_equal(mocx_csum_pseudo(addrs, 32, 6, 0x12345),
                     eth_sum(addrs, 32, 6 + 0x12345));
}

/* Each byte that lies outside is the end of the test (ASan). */
static MocxEthPkt parse_tight(const uint8_t *data, size_t len)
{
    uint8_t *copy = malloc(len);
    MocxEthPkt pkt = { 0 };

    memcpy(copy, data, len);
    if (mocx_eth_parse(&pkt, copy, len)) {
        assert_true(pkt.ip_end <= len);
        assert_true(pkt.l3_off <= len);
        assert_true(pkt.l4 == MOCX_L4_NONE || pkt.l4_off + 8u <= pkt.ip_end);
    }
    free(copy);
    return pkt;
}

static void parser_finds_the_headers_behind_any_tags(void **state)
{
    static const uint32_t tags[3] = { 0x88a80064, 0x81000065, 0x81000066 };

    for (unsigned i = 0; i < 16; i++) {
        EthSpec spec = { .ipv6 = i & 1, .proto = i & 2 ? 17 : 6,
                         .num_tags = i >> 2, .payload = 100 };
        EthFrame f;
        MocxEthPkt pkt;

        memcpy(spec.tag, tags, sizeof(tags));
        eth_build(&f, &spec);
        memset(f.b + f.len, 0, 10);     /* padding is no part of the packet */
        pkt = parse_tight(f.b, f.len + 10);
        assert_int_equal(pkt.num_tags, spec.num_tags);
        assert_int_equal(pkt.l3, spec.ipv6 ? MOCX_L3_IPV6 : MOCX_L3_IPV4);
        assert_int_equal(pkt.l4, spec.proto == 17 ? MOCX_L4_UDP : MOCX_L4_TCP);
        assert_int_equal(pkt.l3_off, f.l3);
        assert_int_equal(pkt.l4_off, f.l4);
        assert_int_equal(pkt.ip_end, f.len);
        assert_true(pkt.l3_sane);
        assert_false(pkt.ip_frag);
    }
}

static void fragments_have_no_ports(void **state)
{
    EthFrame f;
    MocxEthPkt pkt;

    eth_build(&f, &(EthSpec){ .payload = 64 });
    mocx_put_be16(f.b + f.l3 + 6, 0x2000);      /* first, more follow */
    pkt = parse_tight(f.b, f.len);
    assert_true(pkt.ip_frag);
    assert_int_equal(pkt.l4, MOCX_L4_NONE);
    mocx_put_be16(f.b + f.l3 + 6, 0x0010);      /* last */
    pkt = parse_tight(f.b, f.len);
    assert_true(pkt.ip_frag);
    assert_int_equal(pkt.l4, MOCX_L4_NONE);
    assert_int_equal(pkt.ip_proto, 6);

    eth_build(&f, &(EthSpec){ .ipv6 = true, .payload = 64 });
    f.b[f.l3 + 6] = 44;
    f.b[f.l4] = 17;
    pkt = parse_tight(f.b, f.len);
    assert_true(pkt.ip_frag);
    assert_int_equal(pkt.l4, MOCX_L4_NONE);
    assert_int_equal(pkt.ip_proto, 17);
}

static void extension_headers_are_stepped_over(void **state)
{
    EthFrame f;
    MocxEthPkt pkt;

    eth_build(&f, &(EthSpec){ .ipv6 = true, .proto = 17, .payload = 64 });
    memmove(f.b + f.l4 + 24, f.b + f.l4, f.len - f.l4);
    memset(f.b + f.l4, 0, 24);
    f.b[f.l3 + 6] = 0;              /* hop by hop, 8 bytes, */
    f.b[f.l4] = 60;                 /* destination options, 16 bytes, */
    f.b[f.l4 + 8] = 17;             /* UDP */
    f.b[f.l4 + 9] = 1;
    mocx_put_be16(f.b + f.l3 + 4, f.len + 24 - f.l4);
    pkt = parse_tight(f.b, f.len + 24);
    assert_int_equal(pkt.l4, MOCX_L4_UDP);
    assert_int_equal(pkt.l4_off, f.l4 + 24);
    assert_true(pkt.ip_opts);
}

/* Whatever the bytes, what was found lies in the frame, and in this order. */
static void assert_within(const MocxEthPkt *pkt, size_t len)
{
    static const unsigned l3_min[] = { 0, 20, 40 }, l4_min[] = { 0, 20, 8 };

    assert_true(pkt->len == len && pkt->ip_end <= len);
    if (pkt->l3 == MOCX_L3_NONE) {
        assert_int_equal(pkt->l4, MOCX_L4_NONE);
        return;
    }
    assert_true(pkt->l3_off == 14 + 4 * pkt->num_tags);
    assert_true(pkt->l3_off + l3_min[pkt->l3] <= len);
    if (pkt->l4 != MOCX_L4_NONE) {
        assert_true(pkt->l3_sane && !pkt->ip_frag);
        assert_true(pkt->l4_off >= pkt->l3_off + l3_min[pkt->l3]);
        assert_true(pkt->l4_off + l4_min[pkt->l4] <= pkt->ip_end);
        assert_int_equal(pkt->ip_proto, pkt->l4 == MOCX_L4_TCP ? 6 : 17);
    }
}

static void parser_survives_every_cut_and_any_bytes(void **state)
{
    uint64_t seed = 7;

    for (unsigned round = 0; round < 300; round++) {
        EthSpec spec = { .ipv6 = round & 1, .proto = round & 2 ? 17 : 6,
                         .num_tags = round % 4, .payload = 30,
                         .tag = { 0x81000001, 0x81000002, 0x81000003 } };
        EthFrame f;

        eth_build(&f, &spec);
        for (unsigned i = 0; i < round / 30; i++) {
            f.b[12 + rng_next(&seed) % (f.len - 12)] = rng_next(&seed);
        }
        for (size_t len = 1; len <= f.len; len++) {
            MocxEthPkt pkt = parse_tight(f.b, len);

            if (len >= MOCX_ETH_HLEN) {
                assert_within(&pkt, len);
            }
            if (round < 30 && len == f.len) {   /* whole, and as it was built */
                assert_int_equal(pkt.l4_off, f.l4);
                assert_int_equal(pkt.l4, spec.proto == 6 ? MOCX_L4_TCP
                                                         : MOCX_L4_UDP);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toeplitz_gives_the_published_ipv4_hashes),
        cmocka_unit_test(toeplitz_gives_the_published_ipv6_hash),
        cmocka_unit_test(xor8_is_inverted),
        cmocka_unit_test(sum_is_the_same_at_every_length_and_place),
        cmocka_unit_test(pseudo_header_of_a_jumbo_ipv6_payload_carries),
        cmocka_unit_test(parser_finds_the_headers_behind_any_tags),
        cmocka_unit_test(fragments_have_no_ports),
        cmocka_unit_test(extension_headers_are_stepped_over),
        cmocka_unit_test(parser_survives_every_cut_and_any_bytes),
    };

    return cmocka_run_group_tests_name("eth_pkt", tests, NULL, NULL);
}
