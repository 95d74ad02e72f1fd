/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PSN arithmetic at its edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/psn.h"

static void adds_modulo_two_to_the_24(void **state)
{
    (void)state;
    assert_int_equal(mocx_psn_add(0xffffff, 1), 0);
    assert_int_equal(mocx_psn_add(0xfffff0, 0x20), 0x10);
    assert_int_equal(mocx_psn_add(5, 0x800000), 0x800005);
}

static void difference_is_signed_across_the_wrap(void **state)
{
    (void)state;
    assert_int_equal(mocx_psn_diff(0, 0xffffff), 1);
    assert_int_equal(mocx_psn_diff(0xffffff, 0), -1);
    assert_int_equal(mocx_psn_diff(0x10, 0xfffff0), 0x20);
    assert_int_equal(mocx_psn_diff(7, 7), 0);
}

static void half_the_space_counts_as_behind(void **state)
{
    (void)state;
    assert_int_equal(mocx_psn_diff(0x7fffff, 0), 0x7fffff);
    assert_int_equal(mocx_psn_diff(0x800000, 0), -0x800000);
    assert_int_equal(mocx_psn_diff(0x800001, 0), -0x7fffff);
}

static void distance_only_goes_forward(void **state)
{
    (void)state;
    assert_int_equal(mocx_psn_dist(2, 0xfffffe), 4);
    assert_int_equal(mocx_psn_dist(0xfffffe, 2), 0xfffffc);
}

static void counts_packets(void **state)
{
    (void)state;
    assert_int_equal(mocx_psn_count(0, 1024), 1);
    assert_int_equal(mocx_psn_count(1024, 1024), 1);
    assert_int_equal(mocx_psn_count(1025, 1024), 2);
    assert_int_equal(mocx_psn_count(1ull << 31, 256), 0x800000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_modulo_two_to_the_24),
        cmocka_unit_test(difference_is_signed_across_the_wrap),
        cmocka_unit_test(half_the_space_counts_as_behind),
        cmocka_unit_test(distance_only_goes_forward),
        cmocka_unit_test(counts_packets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
