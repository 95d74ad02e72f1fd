/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host's log is told, and how much of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/dev.h"
#include "fixture.h"

#define UNKNOWN_OPCODE      0x7ff
#define UNKNOWN_REGISTER    0x9999
#define UNKNOWN_CAP         0x5a
#define FLOOD               5000
#define FLOOD_SHOWN_MAX     300     /* a burst, and what time refills */

static uint8_t plain(Fixture *f, uint16_t opcode, uint16_t op_mod,
                     uint32_t dword2)
{
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, opcode);
    mocx_put_be16(in + 6, op_mod);
    mocx_put_be32(in + 8, dword2);
    return drv_cmd(f->d, in, sizeof(in), out, sizeof(out));
}

/* One line, that has all of these. */
static void assert_told(Fixture *f, const char *what, const char *number)
{
    const Host *h = f->d->h;

    assert_int_equal(h->logs[MOCX_LOG_UNIMP], 1);
    assert_int_equal(h->logs[MOCX_LOG_GUEST_ERROR], 0);
    assert_non_null(strstr(h->last_log, what));
    assert_non_null(strstr(h->last_log, number));
    assert_non_null(strstr(h->last_log, "status"));
    assert_non_null(strstr(h->last_log, "syndrome"));
}

/* What is not known is refused by name, and the next command works. */

static void unknown_opcode_is_named(void **state)
{
    Fixture *f = *state;

    assert_int_equal(plain(f, UNKNOWN_OPCODE, 3, 0), MOCX_BAD_OP);
    assert_int_not_equal(f->d->syndrome, 0);
    assert_told(f, "unknown opcode", "0x7ff");
    assert_int_equal(plain(f, MLX5_CMD_OP_NOP, 0, 0), MOCX_OK);
}

static void unknown_register_is_named(void **state)
{
    Fixture *f = *state;

    assert_int_equal(plain(f, MLX5_CMD_OP_ACCESS_REG, 1, UNKNOWN_REGISTER),
                     MOCX_BAD_PARAM);
    assert_int_not_equal(f->d->syndrome, 0);
    assert_told(f, "unknown register", "0x9999");
    assert_int_equal(plain(f, MLX5_CMD_OP_NOP, 0, 0), MOCX_OK);
}

static void unknown_capability_type_is_named(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(query_hca_cap_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_hca_cap_out)];

    DEVX_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
    DEVX_SET(query_hca_cap_in, in, op_mod, UNKNOWN_CAP << 1);
    assert_int_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)),
                     MOCX_BAD_PARAM);
    assert_int_not_equal(f->d->syndrome, 0);
    assert_told(f, "unknown capability type", "0x5a");
    assert_int_equal(plain(f, MLX5_CMD_OP_NOP, 0, 0), MOCX_OK);
}

/* Floods */

static void same_line_is_not_repeated(void **state)
{
    Fixture *f = *state;

    for (unsigned i = 0; i < FLOOD; i++) {
        plain(f, UNKNOWN_OPCODE, 0, 0);
    }
    assert_int_equal(f->d->h->logs[MOCX_LOG_UNIMP], 1);
    assert_int_equal(host_status(f->d->h, "log.unimplemented"), FLOOD);
    /* much later it is news again, and says what was left out */
    world_run(f->w, 11 * NSEC_PER_SEC);
    plain(f, UNKNOWN_OPCODE, 0, 0);
    assert_int_equal(f->d->h->logs[MOCX_LOG_UNIMP], 2);
    assert_int_equal(f->d->h->logs[MOCX_LOG_GUEST_ERROR], 1);
    assert_non_null(strstr(f->d->h->last_log, "unknown opcode"));
}

static void unlike_lines_are_bounded(void **state)
{
    Fixture *f = *state;

    for (unsigned i = 0; i < FLOOD; i++) {
        plain(f, MLX5_CMD_OP_DEALLOC_PD, 0, 0x1000 + i);
    }
    assert_true(f->d->h->logs[MOCX_LOG_GUEST_ERROR] < FLOOD_SHOWN_MAX);
    assert_int_equal(host_status(f->d->h, "log.guest_errors"), FLOOD);
    world_run(f->w, NSEC_PER_SEC);
    plain(f, MLX5_CMD_OP_DEALLOC_PD, 0, 0x99999);
    assert_non_null(strstr(f->d->h->last_log, "629145"));   /* 0x99999 */
}

int main(void)
{
#define T(fn)                                                           \
    cmocka_unit_test_setup_teardown(fn, fixture_new_up, fixture_free_up)
    const struct CMUnitTest tests[] = {
        T(unknown_opcode_is_named),
        T(unknown_register_is_named),
        T(unknown_capability_type_is_named),
        T(same_line_is_not_repeated),
        T(unlike_lines_are_bounded),
    };

    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
