/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32 against its check value, and the two ways against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/icrc.h"
#include "harness.h"

static void check_value_of_the_polynomial(void **state)
{
    (void)state;
    assert_int_equal(~mocx_crc32(~0u, "123456789", 9), 0xcbf43926);
    assert_int_equal(~mocx_crc32_tables(~0u, "123456789", 9), 0xcbf43926);
}

static void seed_is_eight_ones(void **state)
{
    uint8_t ones[8];

    (void)state;
    memset(ones, 0xff, sizeof(ones));
    assert_int_equal(mocx_crc32(~0u, ones, sizeof(ones)), MOCX_ICRC_SEED);
}

static void both_ways_agree_at_every_length_and_alignment(void **state)
{
    static uint8_t buf[4500];
    uint64_t seed = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(buf); i++) {
        buf[i] = (uint8_t)rng_next(&seed);
    }
    for (size_t len = 0; len < 4400; len++) {
        size_t off = len % 19;

        assert_int_equal(mocx_crc32((uint32_t)len, buf + off, len),
                         mocx_crc32_tables((uint32_t)len, buf + off, len));
    }
}

static void runs_can_be_split_anywhere(void **state)
{
    static uint8_t buf[300];
    uint64_t seed = 9;
    uint32_t whole;

    (void)state;
    for (size_t i = 0; i < sizeof(buf); i++) {
        buf[i] = (uint8_t)rng_next(&seed);
    }
    whole = mocx_crc32(1, buf, sizeof(buf));
    for (size_t cut = 0; cut <= sizeof(buf); cut++) {
        uint32_t crc = mocx_crc32(1, buf, cut);

        assert_int_equal(mocx_crc32(crc, buf + cut, sizeof(buf) - cut), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_value_of_the_polynomial),
        cmocka_unit_test(seed_is_eight_ones),
        cmocka_unit_test(both_ways_agree_at_every_length_and_alignment),
        cmocka_unit_test(runs_can_be_split_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
