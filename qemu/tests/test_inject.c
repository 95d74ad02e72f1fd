/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The injector by itself: what it parses, whom it hits, what it lets pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/cmd.h"
#include "core/inject.h"
#include "harness.h"

#define CREATE_CQ   0x400
#define CREATE_QP   0x500

static int setup(void **state)
{
    *state = mocx_inject_new(NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    mocx_inject_free(*state);
    return 0;
}

static void arm(MocxInject *inj, const char *spec)
{
    const char *err;

    CHECK(mocx_inject_parse(inj, spec, &err), "%s: %s", spec, err);
}

static void refuses_what_it_does_not_know(void **state)
{
    static const char *const specs[] = {
        "drop", "tx-drop", "nosuch=1", "tx-drop=x", "tx-drop=101%",
        "tx-drop=1%%", "tx-drop=-1", "tx-drop=1.2.3%", "nth=1", "status=3",
        "cmd-fail=", "cmd-fail=0x", "cmd-fail=0x10000", "seed=12a",
        "seed=0x1g", "seed=18446744073709551616", "cmd-fail=1,status=0",
        "cmd-fail=1,status=256", "cmd-fail=1,nth=0", "cmd-fail=1,ms=x",
        "link=sideways", "clear=everything", "fatal=256", "seed=",
        "tx-only=256", "rx-only=some", "=", "=1",
    };
    MocxInject *inj = *state;
    const char *err;

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        err = NULL;
        CHECK(!mocx_inject_parse(inj, specs[i], &err), "%s was taken",
              specs[i]);
        assert_non_null(err);
    }
}

static void changes_nothing_when_it_refuses(void **state)
{
    MocxInject *inj = *state;
    const char *err;

    assert_false(mocx_inject_parse(inj, "tx-drop=100%,link=down,cmd-drop=any,"
                                   "fatal=1,x=1", &err));
    assert_false(mocx_inject_armed(inj, MOCX_INJECT_TX));
    assert_false(mocx_inject_link_down(inj));
    assert_int_equal(mocx_inject_fatal(inj), 0);
    assert_int_equal(mocx_inject_cmd(inj, CREATE_QP).action, MOCX_INJECT_NONE);
}

static void takes_no_more_rules_than_it_has_room_for(void **state)
{
    MocxInject *inj = *state;
    const char *err;
    int n = 0;

    while (n < 1000 && mocx_inject_parse(inj, "cmd-drop=1", &err)) {
        n++;
    }
    assert_in_range(n, 1, 999);
    arm(inj, "clear=cmd");
    arm(inj, "cmd-drop=1");
}

static void fails_the_nth_command_of_an_opcode(void **state)
{
    MocxInject *inj = *state;
    MocxInjectCmd v;

    arm(inj, "cmd-fail=0x500,nth=2,count=2,status=0x8,syndrome=0xabcd");
    assert_int_equal(mocx_inject_cmd(inj, CREATE_QP).action, MOCX_INJECT_NONE);
    assert_int_equal(mocx_inject_cmd(inj, CREATE_CQ).action, MOCX_INJECT_NONE);
    for (int i = 0; i < 2; i++) {
        v = mocx_inject_cmd(inj, CREATE_QP);
        assert_int_equal(v.action, MOCX_INJECT_FAIL);
        assert_int_equal(v.status, 8);
        assert_int_equal(v.syndrome, 0xabcd);
    }
    assert_int_equal(mocx_inject_cmd(inj, CREATE_QP).action, MOCX_INJECT_NONE);
    assert_int_equal(mocx_inject_stats(inj)->cmd_failed, 2);
}

static void delays_without_end_when_count_is_zero(void **state)
{
    MocxInject *inj = *state;

    arm(inj, "cmd-delay=any,ms=5,count=0");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(mocx_inject_cmd(inj, i).delay_ns, 5000000);
    }
    arm(inj, "clear=all");
    assert_int_equal(mocx_inject_cmd(inj, 1).action, MOCX_INJECT_NONE);
}

static void first_rule_that_hits_decides(void **state)
{
    MocxInject *inj = *state;

    arm(inj, "cmd-drop=0x400;cmd-fail=any,count=0");
    assert_int_equal(mocx_inject_cmd(inj, CREATE_CQ).action, MOCX_INJECT_DROP);
    assert_int_equal(mocx_inject_cmd(inj, CREATE_CQ).action, MOCX_INJECT_FAIL);
}

static void dead_firmware_completes_nothing_until_reset(void **state)
{
    MocxInject *inj = *state;

    arm(inj, "fatal=0x10");
    assert_int_equal(mocx_inject_fatal(inj), 0x10);
    assert_int_equal(mocx_inject_cmd(inj, 1).action, MOCX_INJECT_DROP);
    mocx_inject_reset(inj);
    assert_int_equal(mocx_inject_fatal(inj), 0);
    assert_int_equal(mocx_inject_cmd(inj, 1).action, MOCX_INJECT_NONE);
}

/* Frames are told apart by their number, behind the MACs. */

typedef struct Numbers {
    uint8_t seen[64];
    size_t n;
} Numbers;

static void pass(MocxInject *inj, uint8_t number, Numbers *got)
{
    MocxFrame out[MOCX_INJECT_FRAMES_MAX];
    uint8_t *data = calloc(1, 60);
    size_t n;

    data[20] = number;
    n = mocx_inject_frame(inj, MOCX_INJECT_RX, &(MocxFrame) { data, 60 }, out);
    assert_in_range(n, 0, MOCX_INJECT_FRAMES_MAX);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(out[i].len, 60);
        got->seen[got->n++ % sizeof(got->seen)] = out[i].data[20];
    }
    free(data);
}

static void check_sequence(MocxInject *inj, const char *spec,
                           const uint8_t *want, size_t n)
{
    Numbers got = { .n = 0 };

    arm(inj, "clear=all");
    arm(inj, spec);
    for (uint8_t i = 1; i <= 5; i++) {
        pass(inj, i, &got);
    }
    assert_int_equal(got.n, n);
    assert_memory_equal(got.seen, want, n);
}

static void nth_frame_is_hit_once(void **state)
{
    MocxInject *inj = *state;

    check_sequence(inj, "rx-drop=3", (uint8_t[]) { 1, 2, 4, 5 }, 4);
    assert_false(mocx_inject_armed(inj, MOCX_INJECT_RX));
    check_sequence(inj, "rx-dup=2", (uint8_t[]) { 1, 2, 2, 3, 4, 5 }, 6);
    check_sequence(inj, "rx-reorder=2", (uint8_t[]) { 1, 3, 2, 4, 5 }, 5);
    check_sequence(inj, "rx-reorder=100%", (uint8_t[]) { 2, 1, 4, 3 }, 4);
    pass(inj, 6, &(Numbers) { .n = 0 });
    check_sequence(inj, "rx-drop=100%", NULL, 0);
    check_sequence(inj, "rx-drop=0%", (uint8_t[]) { 1, 2, 3, 4, 5 }, 5);
    assert_false(mocx_inject_armed(inj, MOCX_INJECT_RX));
    assert_false(mocx_inject_armed(inj, MOCX_INJECT_TX));
}

static void held_frame_leaves_with_a_duplicate(void **state)
{
    check_sequence(*state, "rx-reorder=1,rx-dup=2",
                   (uint8_t[]) { 2, 2, 1, 3, 4, 5 }, 6);
}

static void corrupts_one_bit_behind_the_macs(void **state)
{
    MocxFrame out[MOCX_INJECT_FRAMES_MAX];
    uint8_t data[200] = { 0 };
    MocxInject *inj = *state;
    int bits;

    arm(inj, "tx-corrupt=100%");
    for (int round = 0; round < 200; round++) {
        assert_int_equal(mocx_inject_frame(inj, MOCX_INJECT_TX,
                         &(MocxFrame) { data, sizeof(data) }, out), 1);
        bits = 0;
        for (size_t i = 0; i < out[0].len; i++) {
            bits += __builtin_popcount(out[0].data[i]);
            assert_true(i >= 12 || !out[0].data[i]);
        }
        assert_int_equal(bits, 1);
    }
    assert_int_equal(mocx_inject_stats(inj)->wire[MOCX_INJECT_TX].corrupted,
                     200);
}

static unsigned dropped_of(MocxInject *inj, unsigned n)
{
    MocxFrame out[MOCX_INJECT_FRAMES_MAX];
    static const uint8_t data[60];
    unsigned dropped = 0;

    while (n--) {
        dropped += !mocx_inject_frame(inj, MOCX_INJECT_TX,
                                      &(MocxFrame) { data, 60 }, out);
    }
    return dropped;
}

static void percent_is_that_and_repeats_with_the_seed(void **state)
{
    MocxInject *inj = *state;
    unsigned first;

    arm(inj, "seed=7,tx-drop=3%");
    first = dropped_of(inj, 100000);
    assert_in_range(first, 2700, 3300);
    arm(inj, "seed=7");
    assert_int_equal(dropped_of(inj, 100000), first);
    arm(inj, "tx-drop=0.05%");
    assert_in_range(dropped_of(inj, 100000), 20, 100);
}

/* No buffer holds such a frame: it goes on as it is, and nothing else does. */
static void too_long_frame_is_left_alone(void **state)
{
    static const uint8_t data[MOCX_FRAME_MAX + 1];
    MocxFrame out[MOCX_INJECT_FRAMES_MAX], in = { data, sizeof(data) };
    MocxInject *inj = *state;

    arm(inj, "rx-reorder=1,rx-corrupt=2");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mocx_inject_frame(inj, MOCX_INJECT_RX, &in, out), 1);
        assert_ptr_equal(out[0].data, data);
        assert_int_equal(out[0].len, sizeof(data));
    }
    in.len = 60;
    assert_int_equal(mocx_inject_frame(inj, MOCX_INJECT_RX, &in, out), 1);
    assert_ptr_equal(out[0].data, data);
}

/* Up to the BTH opcode, which is the last byte. */
static size_t build(uint8_t *f, unsigned ethertype, bool vlan, uint8_t opcode)
{
    uint8_t *p = f + 12;
    size_t head = ethertype == 0x800 ? 28 : ethertype == 0x86dd ? 48 : 40;

    memset(f, 0, 100);
    if (vlan) {
        p[0] = 0x81;
        p += 4;
    }
    *p++ = ethertype >> 8;
    *p++ = ethertype;
    p[ethertype == 0x800 ? 9 : 6] = 17;
    p[head - 6] = 4791 >> 8;
    p[head - 5] = 4791 & 0xff;
    p[head] = opcode;
    return p + head + 1 - f;
}

static void only_hits_what_it_names(void **state)
{
    static const unsigned types[] = { 0x800, 0x86dd, 0x8915 };
    MocxFrame out[MOCX_INJECT_FRAMES_MAX];
    MocxInject *inj = *state;
    uint8_t f[100];
    MocxFrame in = { f, 0 };

    arm(inj, "tx-drop=100%,tx-only=0x12");
    for (int i = 0; i < 6; i++) {
        in.len = build(f, types[i / 2], i % 2, 0x12);
        assert_int_equal(mocx_inject_frame(inj, MOCX_INJECT_TX, &in, out), 0);
        in.len = build(f, types[i / 2], i % 2, 0x11);
        assert_int_equal(mocx_inject_frame(inj, MOCX_INJECT_TX, &in, out), 1);
    }
    arm(inj, "tx-only=roce");
    assert_int_equal(mocx_inject_frame(inj, MOCX_INJECT_TX, &in, out), 0);
    build(f, 0x0806, false, 0);
    assert_int_equal(mocx_inject_frame(inj, MOCX_INJECT_TX, &in, out), 1);
}

static void short_frames_are_no_roce(void **state)
{
    MocxFrame out[MOCX_INJECT_FRAMES_MAX];
    MocxInject *inj = *state;
    uint8_t f[100];
    size_t full = build(f, 0x86dd, true, 0x12);

    arm(inj, "tx-drop=100%,tx-only=roce");
    for (size_t len = 0; len < full; len++) {
        /* Of its own length, so that a read beyond it is caught. */
        uint8_t *copy = malloc(len ? len : 1);

        memcpy(copy, f, len);
        assert_int_equal(mocx_inject_frame(inj, MOCX_INJECT_TX,
                         &(MocxFrame) { copy, len }, out), 1);
        free(copy);
    }
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(refuses_what_it_does_not_know),
        T(changes_nothing_when_it_refuses),
        T(takes_no_more_rules_than_it_has_room_for),
        T(fails_the_nth_command_of_an_opcode),
        T(delays_without_end_when_count_is_zero),
        T(first_rule_that_hits_decides),
        T(dead_firmware_completes_nothing_until_reset),
        T(nth_frame_is_hit_once),
        T(held_frame_leaves_with_a_duplicate),
        T(corrupts_one_bit_behind_the_macs),
        T(percent_is_that_and_repeats_with_the_seed),
        T(too_long_frame_is_left_alone),
        T(only_hits_what_it_names),
        T(short_frames_are_no_roce),
    };

    return cmocka_run_group_tests_name("inject", tests, NULL, NULL);
}
