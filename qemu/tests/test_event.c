/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event queues: masks, arming, interrupts, wrap, overrun. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/cmd.h"
#include "core/eq.h"
#include "driver.h"

#define VECTOR      3
#define LINK_DOWN   1       /* sub types of the port event */
#define LINK_UP     4

typedef struct Fixture {
    World *w;
    Drv *d;
    DrvEq *eq;              /* takes port events, on VECTOR */
} Fixture;

static void eq_make(Fixture *f, unsigned log_size)
{
    f->eq = drv_eq_new(f->d, log_size, VECTOR, 1 << MOCX_EV_PORT);
}

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->w = world_new(1, NULL);
    f->d = drv_new(f->w->host[0]);
    drv_hca_up(f->d);
    f->d->uar = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_UAR);
    drv_net_up(f->d);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;

    if (f->eq) {
        drv_eq_free(f->eq);
    }
    drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_UAR, f->d->uar);
    drv_hca_down(f->d);
    drv_free(f->d);
    world_free(f->w);
    free(f);
    return 0;
}

static void set_link(Fixture *f, bool up)
{
    host_enter(f->d->h);
    mocx_set_link(f->d->h->dev, up);
    host_leave(f->d->h);
    world_settle(f->w);
}

static uint64_t irqs(Fixture *f)
{
    return f->d->h->irqs[VECTOR];
}

static void link_change_is_an_event(void **state)
{
    Fixture *f = *state;
    uint8_t eqe[64];

    eq_make(f, 4);
    drv_eq_arm(f->eq);
    set_link(f, false);
    assert_int_equal(irqs(f), 1);
    assert_true(drv_eq_poll(f->eq, eqe));
    assert_int_equal(eqe[1], MOCX_EV_PORT);
    assert_int_equal(eqe[3], LINK_DOWN);
    assert_int_equal(eqe[0x28] >> 4, 1);
    set_link(f, true);
    assert_true(drv_eq_poll(f->eq, eqe));
    assert_int_equal(eqe[3], LINK_UP);
    assert_false(drv_eq_poll(f->eq, eqe));
}

static void no_event_without_a_change(void **state)
{
    Fixture *f = *state;
    uint8_t eqe[64];

    eq_make(f, 4);
    set_link(f, true);
    assert_false(drv_eq_poll(f->eq, eqe));
    set_link(f, false);
    host_inject(f->d->h, "link=down");
    assert_true(drv_eq_poll(f->eq, eqe));
    assert_false(drv_eq_poll(f->eq, eqe));
    host_inject(f->d->h, "link=up");
    set_link(f, true);
    assert_true(drv_eq_poll(f->eq, eqe));
    assert_false(drv_eq_poll(f->eq, eqe));
}

static void injected_link_down_is_a_pulled_cable(void **state)
{
    Fixture *f = *state;
    uint8_t eqe[64];

    eq_make(f, 4);
    host_inject(f->d->h, "link=down");
    assert_true(drv_eq_poll(f->eq, eqe));
    assert_int_equal(eqe[3], LINK_DOWN);
    host_inject(f->d->h, "clear=all");
    assert_true(drv_eq_poll(f->eq, eqe));
    assert_int_equal(eqe[3], LINK_UP);
}

static void one_interrupt_for_each_arming(void **state)
{
    Fixture *f = *state;

    eq_make(f, 6);
    set_link(f, false);
    assert_int_equal(irqs(f), 0);
    drv_eq_arm(f->eq);
    assert_int_equal(irqs(f), 1);       /* pending: at once */
    for (int i = 0; i < 8; i++) {
        set_link(f, i % 2 == 0);
    }
    assert_int_equal(irqs(f), 1);
    drv_eq_arm(f->eq);
    assert_int_equal(irqs(f), 2);
}

static void arming_an_empty_queue_waits(void **state)
{
    Fixture *f = *state;
    uint8_t eqe[64];

    eq_make(f, 4);
    drv_eq_arm(f->eq);
    drv_eq_arm(f->eq);
    assert_int_equal(irqs(f), 0);
    set_link(f, false);
    assert_int_equal(irqs(f), 1);
    assert_true(drv_eq_poll(f->eq, eqe));   /* updates, does not arm */
    set_link(f, true);
    assert_int_equal(irqs(f), 1);
}

static void queue_goes_round_many_times(void **state)
{
    Fixture *f = *state;
    uint8_t eqe[64];

    eq_make(f, 3);
    for (int i = 0; i < 100; i++) {
        set_link(f, i % 2);
        assert_true(drv_eq_poll(f->eq, eqe));
        assert_int_equal(eqe[3], i % 2 ? LINK_UP : LINK_DOWN);
        assert_false(drv_eq_poll(f->eq, eqe));
    }
}

/* The oldest entries stand; what does not fit is lost, with a word about it. */
static void full_queue_overwrites_nothing(void **state)
{
    Fixture *f = *state;
    uint8_t eqe[64];
    int n = 0;

    f->d->h->breaks = true;
    eq_make(f, 3);
    for (int i = 0; i < 20; i++) {
        set_link(f, i % 2);
    }
    while (drv_eq_poll(f->eq, eqe)) {
        assert_int_equal(eqe[3], n % 2 ? LINK_UP : LINK_DOWN);
        n++;
    }
    assert_in_range(n, 7, 8);
    set_link(f, false);
    assert_true(drv_eq_poll(f->eq, eqe));
    assert_false(drv_eq_poll(f->eq, eqe));
}

static void event_goes_only_where_it_is_wanted(void **state)
{
    Fixture *f = *state;
    uint64_t others = ~(1ULL << MOCX_EV_PORT | 1ULL << MOCX_EV_CMD);
    DrvEq *other = drv_eq_new(f->d, 4, 4, others);
    uint8_t eqe[64];

    eq_make(f, 4);
    set_link(f, false);
    assert_false(drv_eq_poll(other, eqe));
    assert_true(drv_eq_poll(f->eq, eqe));
    drv_eq_free(other);
}

static void doorbell_of_an_unknown_queue_is_harmless(void **state)
{
    Fixture *f = *state;
    uint64_t uar = f->d->uar * (uint64_t)HOST_PAGE;

    for (unsigned eqn = 0; eqn < 256; eqn++) {
        host_write32(f->d->h, uar + UAR_EQ_ARM, eqn << 24 | 0xffffff);
    }
    host_write64(f->d->h, uar + UAR_CQ_ARM, 0x0fffffff00ffffffULL);
    host_write64(f->d->h, uar + UAR_BF, 0xffffffffffffffffULL);
    for (unsigned i = 0; i < HOST_VECTORS; i++) {
        assert_int_equal(f->d->h->irqs[i], 0);
    }
}

static void bad_queues_are_refused(void **state)
{
    static const struct {
        const char *name;
        unsigned at;        /* byte of the command, big-endian dword */
        uint32_t value;
    } faults[] = {
        { "vector out of range", 0x24, 2000 },
        { "UAR that is not there", 0x1c, 0x4000007 },
        { "size beyond the limit", 0x1c, 0x1f000000 },
        { "page that is not aligned", 0x114, 0x123 },
        { "page size of 2^43", 0x28, 0x1f000000 },
    };
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(create_eq_in) + 8], out[16];
    uint64_t page = gpa_alloc(f->d->h, HOST_PAGE, HOST_PAGE);

    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        memset(in, 0, sizeof(in));
        mocx_put_be16(in, MLX5_CMD_OP_CREATE_EQ);
        mocx_put_be32(in + 0x1c, 4 << 24 | f->d->uar);
        mocx_put_be64(in + 0x110, page);
        if (faults[i].value == 0x4000007) {
            assert_int_equal(drv_cmd(f->d, in, sizeof(in), out, 16), 0);
            drv_dealloc(f->d, MLX5_CMD_OP_DESTROY_EQ,
                        mocx_get_be32(out + 8) & 0xff);
        }
        mocx_put_be32(in + faults[i].at, faults[i].value);
        CHECK(drv_cmd(f->d, in, sizeof(in), out, 16), "%s was taken",
              faults[i].name);
        CHECK(f->d->syndrome, "%s has no syndrome", faults[i].name);
    }
    assert_int_equal(host_status(f->d->h, "objects.eqs"), 0);
}

static void no_more_queues_than_advertised(void **state)
{
    Fixture *f = *state;
    DrvEq *eqs[256];
    unsigned n = 0;
    uint8_t in[DEVX_ST_SZ_BYTES(create_eq_in) + 8] = { 0 }, out[16];

    mocx_put_be16(in, MLX5_CMD_OP_CREATE_EQ);
    mocx_put_be32(in + 0x1c, f->d->uar);
    mocx_put_be64(in + 0x110, gpa_alloc(f->d->h, HOST_PAGE, HOST_PAGE));
    while (n < 256 && !drv_cmd(f->d, in, sizeof(in), out, 16)) {
        eqs[n] = calloc(1, sizeof(DrvEq));
        *eqs[n] = (DrvEq) { .d = f->d, .eqn = out[11] };
        n++;
    }
    assert_in_range(n, 5, 64);
    assert_int_equal(f->d->status, MOCX_LIM_ERR);
    while (n) {
        drv_eq_free(eqs[--n]);
    }
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(link_change_is_an_event),
        T(no_event_without_a_change),
        T(injected_link_down_is_a_pulled_cable),
        T(one_interrupt_for_each_arming),
        T(arming_an_empty_queue_waits),
        T(queue_goes_round_many_times),
        T(full_queue_overwrites_nothing),
        T(event_goes_only_where_it_is_wanted),
        T(doorbell_of_an_unknown_queue_is_harmless),
        T(bad_queues_are_refused),
        T(no_more_queues_than_advertised),
    };

    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
