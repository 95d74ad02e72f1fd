/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command interface: delivery, status, pages, life cycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/cmd.h"
#include "core/eq.h"
#include "fixture.h"

/* Offsets in a command entry and a mailbox block (mlx5/device.h). */
enum {
    ENTRY_TYPE = 0x00, ENTRY_INLEN = 0x04, ENTRY_IN_PTR = 0x08,
    ENTRY_OUT_PTR = 0x30, ENTRY_OUTLEN = 0x38, ENTRY_TOKEN = 0x3c,
    BLOCK_NEXT = 0x230, BLOCK_NUM = 0x238, BLOCK_TOKEN = 0x23d,
};

/* Where a fault is put: block @n of a chain is IN + n or OUT + n. */
enum { ENTRY = -1, IN = 0, OUT = 16 };

/* Delivery status (mlx5/core/cmd.c). */
enum {
    DELIVERY_TOKEN = 2, DELIVERY_BLOCK_NUM = 3, DELIVERY_OUT_PTR = 4,
    DELIVERY_IN_PTR = 5, DELIVERY_IN_LEN = 7, DELIVERY_OUT_LEN = 8,
    DELIVERY_TYPE = 0x10,
};

static uint8_t plain(Drv *d, uint16_t opcode)
{
    uint8_t in[32] = { 0 }, out[16];

    mocx_put_be16(in, opcode);
    return drv_cmd(d, in, sizeof(in), out, sizeof(out));
}

static void nothing_is_left_after_every_round(void **state)
{
    Fixture *f = *state;
    Host *h = f->d->h;

    for (int round = 0; round < 3; round++) {
        drv_bring_up(f->d);
        assert_true(host_status(h, "objects.total") >= 6);
        assert_int_equal(host_status(h, "pages.held"), f->d->num_pages);
        assert_true(f->d->num_pages > 0);
        drv_tear_down(f->d);
        assert_int_equal(host_status(h, "objects.total"), 0);
        assert_int_equal(host_status(h, "pages.held"), 0);
    }
    assert_int_equal(h->logs[MOCX_LOG_GUEST_ERROR], 0);
    assert_int_equal(host_status(h, "commands.failed"), 0);
}

static void every_fault_of_delivery_has_its_status(void **state)
{
    static const struct {
        const char *name;
        unsigned at;            /* byte of the entry, or of a block */
        int block;              /* ENTRY, or of a chain: IN + n, OUT + n */
        uint8_t flip;
        uint8_t want;
    } faults[] = {
        { "type", ENTRY_TYPE, ENTRY, 0x01, DELIVERY_TYPE },
        { "input length", ENTRY_INLEN, ENTRY, 0x80, DELIVERY_IN_LEN },
        { "output length", ENTRY_OUTLEN, ENTRY, 0x80, DELIVERY_OUT_LEN },
        { "input address", ENTRY_IN_PTR, ENTRY, 0x80, DELIVERY_IN_PTR },
        { "input alignment", ENTRY_IN_PTR + 6, ENTRY, 0x01, DELIVERY_IN_PTR },
        { "output address", ENTRY_OUT_PTR, ENTRY, 0x80, DELIVERY_OUT_PTR },
        { "output align", ENTRY_OUT_PTR + 6, ENTRY, 0x01, DELIVERY_OUT_PTR },
        { "token", ENTRY_TOKEN, ENTRY, 0x10, DELIVERY_TOKEN },
        { "token of a block", BLOCK_TOKEN, IN + 1, 0x10, DELIVERY_TOKEN },
        { "block number", BLOCK_NUM + 3, IN + 1, 0x10, DELIVERY_BLOCK_NUM },
        { "link of a block", BLOCK_NEXT, IN, 0x80, DELIVERY_IN_PTR },
        { "output token", BLOCK_TOKEN, OUT, 0x10, DELIVERY_TOKEN },
        { "output link", BLOCK_NEXT, OUT, 0x80, DELIVERY_OUT_PTR },
    };
    Fixture *f = *state;
    uint8_t in[2048] = { 0 };

    f->d->h->breaks = true;
    drv_cmdq_setup(f->d);
    mocx_put_be16(in, MLX5_CMD_OP_QUERY_ISSI);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        uint8_t *p;

        drv_cmd_fill(f->d, 3, in, sizeof(in), 2048);
        p = faults[i].block == ENTRY ? drv_cmd_entry(f->d, 3) :
            gpa_ptr(f->d->h, faults[i].block < OUT ?
                    f->d->slot[3].in_blocks[faults[i].block] :
                    f->d->slot[3].out_blocks[faults[i].block - OUT]);
        p[faults[i].at] ^= faults[i].flip;
        drv_cmd_ring(f->d, 1 << 3);
        CHECK(drv_cmd_poll(f->d, 3) == faults[i].want,
              "bad %s: delivery 0x%x", faults[i].name,
              drv_cmd_poll(f->d, 3));
    }
    assert_int_equal(plain(f->d, MLX5_CMD_OP_ENABLE_HCA), 0);
}

static void chain_that_loops_is_harmless(void **state)
{
    Fixture *f = *state;
    uint8_t in[4096] = { 0 };
    DrvSlot *s = &f->d->slot[0];

    drv_cmdq_setup(f->d);
    drv_cmd_fill(f->d, 0, in, sizeof(in), 16);
    mocx_put_be64((uint8_t *)gpa_ptr(f->d->h, s->in_blocks[0]) + BLOCK_NEXT,
                  s->in_blocks[0]);
    drv_cmd_ring(f->d, 1);
    assert_int_equal(drv_cmd_poll(f->d, 0), DELIVERY_BLOCK_NUM);
}

static void status_tells_what_is_wrong(void **state)
{
    Fixture *f = *state;
    uint8_t in[16] = { 0 }, out[16];

    drv_cmdq_setup(f->d);
    assert_int_equal(plain(f->d, 0xfff), MOCX_BAD_OP);
    assert_int_equal(plain(f->d, 0), MOCX_BAD_OP);
    assert_int_not_equal(f->d->syndrome, 0);
    assert_int_equal(plain(f->d, MLX5_CMD_OP_INIT_HCA), MOCX_BAD_SYS_STATE);
    assert_int_equal(plain(f->d, MLX5_CMD_OP_ALLOC_PD), MOCX_BAD_SYS_STATE);
    assert_int_equal(plain(f->d, MLX5_CMD_OP_ENABLE_HCA), 0);
    assert_int_equal(f->d->syndrome, 0);

    mocx_put_be16(in, MLX5_CMD_OP_QUERY_ISSI);
    assert_int_equal(drv_cmd(f->d, in, 8, out, 16), MOCX_BAD_INPUT_LEN);
    assert_int_equal(drv_cmd(f->d, in, 16, out, 16), MOCX_BAD_OUTPUT_LEN);
}

static void failed_command_has_no_output_but_the_header(void **state)
{
    Fixture *f = *state;
    uint8_t in[16] = { 0 }, out[1024];

    drv_bring_up(f->d);
    mocx_put_be16(in, MLX5_CMD_OP_QUERY_QP);
    mocx_put_be32(in + 8, 0x123456);
    assert_int_not_equal(drv_cmd(f->d, in, 16, out, sizeof(out)), 0);
    for (size_t i = 8; !f->d->h->cfg.strict && i < sizeof(out); i++) {
        assert_int_equal(out[i], 0);
    }
    drv_tear_down(f->d);
}

static void one_doorbell_runs_every_slot_it_names(void **state)
{
    Fixture *f = *state;
    uint8_t in[16] = { 0 }, out[16];
    uint32_t seen[8];

    drv_bring_up(f->d);
    mocx_put_be16(in, MLX5_CMD_OP_ALLOC_PD);
    for (unsigned slot = 0; slot < 8; slot++) {
        drv_cmd_fill(f->d, slot, in, 16, 16);
    }
    drv_cmd_ring(f->d, 0xff);
    for (unsigned slot = 0; slot < 8; slot++) {
        assert_int_equal(drv_cmd_poll(f->d, slot), 0);
        drv_cmd_output(f->d, slot, out, 16);
        assert_int_equal(out[0], 0);
        seen[slot] = mocx_get_be32(out + 8) & 0xffffff;
        for (unsigned other = 0; other < slot; other++) {
            assert_int_not_equal(seen[other], seen[slot]);
        }
    }
    for (unsigned slot = 0; slot < 8; slot++) {
        drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_PD, seen[slot]);
    }
    drv_tear_down(f->d);
}

static void doorbell_of_a_slot_that_is_not_owned_does_nothing(void **state)
{
    Fixture *f = *state;

    drv_cmdq_setup(f->d);
    plain(f->d, MLX5_CMD_OP_ENABLE_HCA);
    drv_cmd_ring(f->d, 0xffffffff);
    assert_int_equal(host_status(f->d->h, "commands.executed"), 1);
    assert_int_equal(f->d->h->logs[MOCX_LOG_GUEST_ERROR], 32);
}

static void completions_come_as_events_once_there_is_an_eq(void **state)
{
    Fixture *f = *state;
    uint8_t in[16] = { 0 }, eqe[64];
    DrvEq *eq;

    drv_bring_up(f->d);
    eq = drv_eq_new(f->d, 4, 2, 1 << MOCX_EV_CMD);
    drv_eq_arm(eq);
    assert_int_equal(f->d->h->irqs[2], 0);
    assert_false(drv_eq_poll(eq, eqe));

    mocx_put_be16(in, MLX5_CMD_OP_QUERY_ADAPTER);
    drv_cmd_fill(f->d, 4, in, 16, 272);
    drv_cmd_fill(f->d, 6, in, 16, 272);
    drv_cmd_ring(f->d, 1 << 4 | 1 << 6);
    assert_int_equal(f->d->h->irqs[2], 1);
    assert_true(drv_eq_poll(eq, eqe));
    assert_int_equal(eqe[1], MOCX_EV_CMD);
    assert_int_equal(mocx_get_be32(eqe + 0x20), 1 << 4 | 1 << 6);
    assert_false(drv_eq_poll(eq, eqe));
    drv_eq_free(eq);
    drv_tear_down(f->d);
}

static void injected_faults_reach_the_driver(void **state)
{
    Fixture *f = *state;
    uint8_t in[16] = { 0 };

    drv_cmdq_setup(f->d);
    host_inject(f->d->h, "cmd-fail=0x104,status=4,syndrome=0x1234");
    assert_int_equal(plain(f->d, MLX5_CMD_OP_ENABLE_HCA), 4);
    assert_int_equal(f->d->syndrome, 0x1234);
    assert_int_equal(plain(f->d, MLX5_CMD_OP_ENABLE_HCA), 0);

    mocx_put_be16(in, MLX5_CMD_OP_SET_ISSI);
    in[11] = 1;
    host_inject(f->d->h, "cmd-delay=0x10b,ms=250");
    drv_cmd_start(f->d, 0, in, 16, 16);
    world_run(f->w, 249 * NSEC_PER_MSEC);
    assert_int_equal(drv_cmd_poll(f->d, 0), DRV_PENDING);
    world_run(f->w, 2 * NSEC_PER_MSEC);
    assert_int_equal(drv_cmd_poll(f->d, 0), 0);

    host_inject(f->d->h, "cmd-drop=0x10b");
    drv_cmd_start(f->d, 0, in, 16, 16);
    world_run(f->w, 100 * NSEC_PER_SEC);
    assert_int_equal(drv_cmd_poll(f->d, 0), DRV_PENDING);
    assert_int_equal(plain(f->d, MLX5_CMD_OP_DISABLE_HCA), 0);
}

static void dead_firmware_shows_in_the_health_buffer(void **state)
{
    Fixture *f = *state;
    Host *h = f->d->h;
    uint8_t in[16] = { 0 };

    drv_hca_up(f->d);
    assert_int_equal(host_read32(h, ISEG_HEALTH_SYND) >> 16 & 0xff, 0);
    host_inject(h, "fatal=0x10");
    assert_int_equal(host_read32(h, ISEG_HEALTH_SYND) >> 16 & 0xff, 0x10);
    mocx_put_be16(in, MLX5_CMD_OP_ALLOC_PD);
    drv_cmd_start(f->d, 0, in, 16, 16);
    world_run(f->w, NSEC_PER_SEC);
    assert_int_equal(drv_cmd_poll(f->d, 0), DRV_PENDING);

    host_enter(h);
    mocx_reset(h->dev);
    mocx_set_bus_master(h->dev, true);
    host_leave(h);
    assert_int_equal(host_read32(h, ISEG_HEALTH_SYND) >> 16 & 0xff, 0);
    f->d->num_pages = 0;
    drv_bring_up(f->d);
    drv_tear_down(f->d);
}

static void reset_in_the_middle_leaves_nothing(void **state)
{
    Fixture *f = *state;
    Host *h = f->d->h;
    uint8_t in[16] = { 0 };

    f->d->h->breaks = true;
    drv_bring_up(f->d);
    drv_cq_forget(drv_cq_new(f->d, 4));
    host_inject(h, "cmd-delay=any,ms=1000");
    mocx_put_be16(in, MLX5_CMD_OP_ALLOC_PD);
    drv_cmd_start(f->d, 0, in, 16, 16);
    host_enter(h);
    mocx_reset(h->dev);
    host_leave(h);
    assert_int_equal(host_status(h, "objects.total"), 0);
    assert_int_equal(host_status(h, "pages.held"), 0);
    world_run(f->w, 5 * NSEC_PER_SEC);
    assert_int_equal(drv_cmd_poll(f->d, 0), DRV_PENDING);
    assert_int_equal(host_read32(h, ISEG_CMDQ_HI), 0);
}

static void without_bus_mastering_nothing_is_written(void **state)
{
    Fixture *f = *state;
    Host *h = f->d->h;
    uint8_t in[16] = { 0 };

    drv_cmdq_setup(f->d);
    host_enter(h);
    mocx_set_bus_master(h->dev, false);
    host_leave(h);
    mocx_put_be16(in, MLX5_CMD_OP_ENABLE_HCA);
    drv_cmd_start(f->d, 0, in, 16, 16);
    assert_int_equal(drv_cmd_poll(f->d, 0), DRV_PENDING);
}

static void queue_in_a_hole_of_memory_is_harmless(void **state)
{
    Fixture *f = *state;

    f->d->h->breaks = true;
    host_write32(f->d->h, ISEG_CMDQ_HI, 0xffffffff);
    host_write32(f->d->h, ISEG_CMDQ_LO, 0xfffff000);
    drv_cmd_ring(f->d, 0xffffffff);
    assert_int_equal(host_status(f->d->h, "commands.executed"), 0);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, fixture_new, fixture_free)
    const struct CMUnitTest tests[] = {
        T(nothing_is_left_after_every_round),
        T(every_fault_of_delivery_has_its_status),
        T(chain_that_loops_is_harmless),
        T(status_tells_what_is_wrong),
        T(failed_command_has_no_output_but_the_header),
        T(one_doorbell_runs_every_slot_it_names),
        T(doorbell_of_a_slot_that_is_not_owned_does_nothing),
        T(completions_come_as_events_once_there_is_an_eq),
        T(injected_faults_reach_the_driver),
        T(dead_firmware_shows_in_the_health_buffer),
        T(reset_in_the_middle_leaves_nothing),
        T(without_bus_mastering_nothing_is_written),
        T(queue_in_a_hole_of_memory_is_harmless),
    };

    return cmocka_run_group_tests_name("cmd", tests, NULL, NULL);
}
