/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets against vectors computed outside of this tree with zlib alone (the
 * last one is the CNP of a ConnectX-4 Lx, captured on a wire), taken apart and
 * put together again byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/ifc.h"
#include "core/port.h"
#include "core/wire.h"
#include "harness.h"

typedef struct Vector {
    const char *name;
    const char *hex;
} Vector;

static const Vector vectors[] = {
    { "v4 RC SEND_ONLY", "0200000000020200000000010800"
      "4502003c123440004011a477c0000201c0000202c0de12b7002800000440ffff"
      "0000012380000456000102030405060708090a0b0c0d0e0f7d07faac" },
    { "the same with a VLAN tag", "0200000000020200000000018100606408004502003c"
      "123440004011a477c0000201c0000202c0de12b7002800000440ffff0000012380000456"
      "000102030405060708090a0b0c0d0e0f7d07faac" },
    { "v6 RC WRITE_ONLY, 5 bytes", "02000000000202000000000186dd60200000003011"
      "4020010db800000000000000000000000120010db8000000000000000000000002c0de12b7"
      "003000000a70ffff00000123800004571122334455667788deadbeef000000050102030405"
      "00000092e8892b" },
    { "v1 RC ACK", "0200000000020200000000018915602000"
      "0000141b40fe80000000000000020000fffe000001fe80000000000000020000fffe000002"
      "1140ffff00000123000004561f00000161c3a7c6" },
    { "v4 NAK", "02000000000202000000000108004502003012344000"
      "4011a483c0000201c0000202c0de12b7001c00001140ffff00000123000004566000000"
      "0cfcb46cb" },
    { "v4 CMP_SWAP", "020000000002020000000001080045020048123440004011a46bc000"
      "0201c0000202c0de12b7003400001340ffff000001238000045800000000000010000000"
      "180001020304050607081111111111111111153bc5a4" },
    { "v4 UD SEND_ONLY", "020000000002020000000001080045020038123440004011a47"
      "bc0000201c0000202c0de12b7002400006440ffff00000123000000011111111100000077"
      "aabbccddfb81d770" },
    { "v4 UC, empty", "02000000000202000000000108004502002c123440004011a487c000"
      "0201c0000202c0de12b7001800002440ffff0000012300000009457334b9" },
    { "SEND_ONLY of rxe", "02000000000202000000000108004500003c123440004011a479"
      "c0000201c0000202c0de12b7002800000400ffff0000012380000456000102030405060708"
      "090a0b0c0d0e0f68ac590e" },
    { "CNP", "020000000002020000000001080045c2003c123440004011a3b7c0000201c000"
      "0202000012b7002800008100ffff40000123000000000000000000000000000000000000"
      "00002a705397" },
    { "CNP of a ConnectX-4 Lx", "e41d2dab2bc27cfe90643b32080045c2003c718c400040"
      "1191610a0011010a001201000012b7002800008100ffff4000011800000000000000000000"
      "0000000000000000000082fd002a" },
};

#define NUM_VECTORS (sizeof(vectors) / sizeof(vectors[0]))
#define IP_ID_OF(frame, vlan) mocx_get_be16((frame) + 18 + ((vlan) ? 4 : 0))

static size_t unhex(const char *hex, uint8_t *out)
{
    size_t n = 0;

    for (; hex[0] && hex[1]; hex += 2) {
        unsigned byte;

        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        out[n++] = (uint8_t)byte;
    }
    return n;
}

static void takes_every_vector(void **state)
{
    uint8_t frame[256];
    MocxPkt pkt;

    (void)state;
    for (size_t i = 0; i < NUM_VECTORS; i++) {
        size_t len = unhex(vectors[i].hex, frame);

        if (mocx_wire_parse(&pkt, frame, len) != MOCX_PARSE_OK) {
            fail_msg("%s", vectors[i].name);
        }
    }
}

/* Ethernet pads to 60 bytes; the ICRC is not at the end of the frame then. */
static void ethernet_padding_is_no_payload(void **state)
{
    uint8_t frame[256] = { 0 };
    MocxPkt pkt;
    size_t len = unhex(vectors[7].hex, frame);

    (void)state;
    assert_int_equal(len, 58);
    memset(frame + len, 0xa5, 2);
    assert_int_equal(mocx_wire_parse(&pkt, frame, 60), MOCX_PARSE_OK);
    assert_int_equal(pkt.len, 0);
}

static void builds_every_vector_again(void **state)
{
    uint8_t frame[256], again[256];
    MocxPkt pkt;

    (void)state;
    for (size_t i = 0; i < NUM_VECTORS; i++) {
        size_t len = unhex(vectors[i].hex, frame), size;
        uint8_t *payload;

        assert_int_equal(mocx_wire_parse(&pkt, frame, len), MOCX_PARSE_OK);
        if (pkt.bth.opcode == MOCX_OPCODE_CNP) {
            continue;               /* never sent */
        }
        size = mocx_wire_size(&pkt.path, pkt.bth.opcode, pkt.len);
        assert_int_equal(size, len);
        memset(again, 0xee, sizeof(again));
        payload = mocx_wire_headers(again, &pkt.path, &pkt.bth, pkt.len,
                                    IP_ID_OF(frame, pkt.path.vlan));
        memcpy(payload, pkt.payload, pkt.len);
        mocx_wire_seal(again, &pkt.path, size);
        assert_memory_equal(again, frame, len);
        assert_int_equal(again[len], 0xee);
    }
}

static void fields_are_found(void **state)
{
    uint8_t frame[256];
    MocxPkt pkt;
    size_t len = unhex(vectors[2].hex, frame);

    (void)state;
    assert_int_equal(mocx_wire_parse(&pkt, frame, len), MOCX_PARSE_OK);
    assert_int_equal(pkt.op.op, MOCX_PKT_WRITE);
    assert_int_equal(pkt.bth.psn, 0x457);
    assert_int_equal(pkt.bth.va, 0x1122334455667788);
    assert_int_equal(pkt.bth.rkey, 0xdeadbeef);
    assert_int_equal(pkt.bth.dma_len, 5);
    assert_int_equal(pkt.bth.pad, 3);
    assert_int_equal(pkt.len, 5);
    assert_int_equal(pkt.payload[4], 5);
    assert_int_equal(pkt.path.tclass, 2);

    len = unhex(vectors[1].hex, frame);
    assert_int_equal(mocx_wire_parse(&pkt, frame, len), MOCX_PARSE_OK);
    assert_true(pkt.path.vlan);
    assert_int_equal(pkt.path.tci, 0x6064);
    assert_true(pkt.bth.ack_req);
    assert_true(pkt.bth.migrated);
}

/* What routers and cards may change is masked; nothing else is. */
static void icrc_masks_what_it_must(void **state)
{
    static const struct {
        unsigned at;
        uint8_t flip;
        bool masked;
    } bytes[] = {
        { 15, 0x03, true }, { 22, 0x07, true },         /* TOS, TTL */
        { 40, 0x55, true }, { 46, 0xc0, true },         /* UDP sum, FECN+BECN */
        { 18, 0x01, false }, { 20, 0x40, false },       /* ID, DF */
        { 34, 0x01, false }, { 43, 0x40, false },       /* sport, MigReq */
        { 50, 0x01, false }, { 54, 0x80, false },       /* resv7, payload */
    };
    uint8_t frame[256];
    MocxPkt pkt;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        size_t len = unhex(vectors[0].hex, frame);
        uint32_t sum = 0;

        frame[bytes[i].at] ^= bytes[i].flip;
        mocx_put_be16(frame + 24, 0);       /* keep the IPv4 header valid */
        for (unsigned w = 14; w < 34; w += 2) {
            sum += mocx_get_be16(frame + w);
        }
        sum = (sum & 0xffff) + (sum >> 16);
        mocx_put_be16(frame + 24, (uint16_t)~((sum & 0xffff) + (sum >> 16)));
        assert_int_equal(mocx_wire_parse(&pkt, frame, len),
                         bytes[i].masked ? MOCX_PARSE_OK : MOCX_PARSE_BAD_ICRC);
    }
}

/* Case 40: whatever is cut off, nothing is read beyond the end. */
static void runts_are_refused(void **state)
{
    uint8_t frame[256];
    MocxPkt pkt;

    (void)state;
    for (size_t i = 0; i < NUM_VECTORS; i++) {
        size_t len = unhex(vectors[i].hex, frame);

        for (size_t cut = 0; cut < len; cut++) {
            uint8_t *exact = test_malloc(cut + 1);

            memcpy(exact, frame, cut);
            assert_int_not_equal(mocx_wire_parse(&pkt, exact, cut),
                                 MOCX_PARSE_OK);
            test_free(exact);
        }
    }
}

static void other_traffic_is_left_alone(void **state)
{
    uint8_t frame[256];
    MocxPkt pkt;
    size_t len = unhex(vectors[0].hex, frame);

    (void)state;
    frame[36] = 0x12, frame[37] = 0xb8;     /* UDP port 4792 */
    assert_int_equal(mocx_wire_parse(&pkt, frame, len), MOCX_PARSE_NOT_ROCE);
    len = unhex(vectors[0].hex, frame);
    frame[23] = 6;                          /* TCP */
    assert_int_equal(mocx_wire_parse(&pkt, frame, len), MOCX_PARSE_NOT_ROCE);
    len = unhex(vectors[0].hex, frame);
    frame[20] = 0x20;                       /* a fragment */
    assert_int_equal(mocx_wire_parse(&pkt, frame, len), MOCX_PARSE_NOT_ROCE);
    len = unhex(vectors[0].hex, frame);
    frame[12] = 0x08, frame[13] = 0x06;     /* ARP */
    assert_int_equal(mocx_wire_parse(&pkt, frame, len), MOCX_PARSE_NOT_ROCE);
}

/* What was taken lies in the frame, and its ICRC is the one that it has. */
static void assert_whole(const MocxPkt *pkt, const uint8_t *frame, size_t len)
{
    size_t head = pkt->payload - frame;
    size_t size = head + pkt->len + pkt->bth.pad + MOCX_ICRC_LEN;
    uint8_t *copy;

    assert_true(pkt->payload >= frame && size <= len);
    assert_true(pkt->l3 > frame && pkt->l3 + pkt->l3_len <= pkt->payload);
    assert_int_equal((pkt->len + pkt->bth.pad) % 4, 0);
    copy = test_malloc(size);
    memcpy(copy, frame, size);
    memset(copy + size - MOCX_ICRC_LEN, 0, MOCX_ICRC_LEN);
    mocx_wire_seal(copy, &pkt->path, size);
    assert_memory_equal(copy, frame, size);
    test_free(copy);
}

/*
 * Random damage never reads or writes out of bounds (run under ASan), and what
 * passes has the right ICRC.
 */
static void noise_is_survived(void **state)
{
    unsigned taken = 0, refused = 0;
    uint64_t seed = 3;
    MocxPkt pkt;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        const Vector *v = &vectors[rng_next(&seed) % NUM_VECTORS];
        uint8_t frame[256];
        size_t len = unhex(v->hex, frame);
        uint8_t *exact;

        for (unsigned n = rng_next(&seed) % 4; n; n--) {
            frame[rng_next(&seed) % len] = (uint8_t)rng_next(&seed);
        }
        len = rng_next(&seed) % 8 ? len : rng_next(&seed) % (len + 1);
        exact = test_malloc(len + 1);
        memcpy(exact, frame, len);
        if (mocx_wire_parse(&pkt, exact, len) == MOCX_PARSE_OK) {
            assert_whole(&pkt, exact, len);
            taken++;
        } else {
            refused++;
        }
        test_free(exact);
    }
    /* A quarter is not damaged, and an eighth of that is cut. */
    assert_true(taken > 3000 && refused > 8000);
}

static void every_opcode_has_an_answer(void **state)
{
    unsigned known = 0;

    (void)state;
    for (unsigned op = 0; op < 256; op++) {
        known += mocx_opcode((uint8_t)op).op != MOCX_PKT_RESERVED;
    }
    /* RC 23 of them, UC 12, UD 2, XRC like RC. */
    assert_int_equal(known, 23 + 12 + 2 + 23);
    assert_int_equal(mocx_opcode(0x65).hdrs, MOCX_HDR_DETH | MOCX_HDR_IMM);
    assert_int_equal(mocx_opcode(0xa1).hdrs, MOCX_HDR_XRCETH);
    assert_int_equal(mocx_opcode(0xb1).hdrs, MOCX_HDR_AETH);
    assert_int_equal(mocx_opcode(0x2c).op, MOCX_PKT_RESERVED);
    assert_int_equal(mocx_opcode(0x15).op, MOCX_PKT_RESERVED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_vector),
        cmocka_unit_test(ethernet_padding_is_no_payload),
        cmocka_unit_test(builds_every_vector_again),
        cmocka_unit_test(fields_are_found),
        cmocka_unit_test(icrc_masks_what_it_must),
        cmocka_unit_test(runts_are_refused),
        cmocka_unit_test(other_traffic_is_left_alone),
        cmocka_unit_test(noise_is_survived),
        cmocka_unit_test(every_opcode_has_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
