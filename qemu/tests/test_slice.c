/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one entry into the model may cost its host, whatever a driver has set up
 * and a peer sends: a doorbell, a slice, a frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "core/cmd.h"
#include "core/dev.h"
#include "core/limits.h"
#include "drveth.h"
#include "ethframe.h"
#include "driver.h"

#define VA          0x7f0000001000ULL
#define TAG         0x37
#define ENTRIES     16384u
#define SGES        62u
#define SGE_LEN     60u
#define SLOTS       32u
#define MESSAGE     (4u << 20)
#define TO_TABLE    1
#define TO_TIR      2
#define MAX_DESTS   255u

typedef struct Fixture {
    World *w;
    Drv *d;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->w = world_new(1, NULL);
    f->d = drv_new(f->w->host[0]);
    drv_bring_up(f->d);
    drv_net_up(f->d);
    f->d->h->breaks = true;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;

    drv_free(f->d);
    world_free(f->w);
    free(f);
    return 0;
}

static uint64_t cpu_ms(void)
{
    return clock() * 1000ull / CLOCKS_PER_SEC;
}

/* Keys of keys */

/* @n entries: one of @bytes bytes each, or only the last if @last. */
static uint32_t klm_key(Fixture *f, uint32_t inner, uint64_t va, unsigned n,
                        uint32_t bytes, bool last)
{
    size_t head = DEVX_ST_SZ_BYTES(create_mkey_in), inlen = head + n * 16;
    uint8_t *in = calloc(1, inlen), out[16], *entry = in + head;
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(create_mkey_in, in, translations_octword_actual_size, n);
    DEVX_SET(mkc, mkc, access_mode_1_0, MOCX_MEM_KLM);
    DEVX_SET(mkc, mkc, lr, 1);
    DEVX_SET(mkc, mkc, lw, 1);
    DEVX_SET(mkc, mkc, rr, 1);
    DEVX_SET(mkc, mkc, rw, 1);
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, mkey_7_0, TAG);
    DEVX_SET(mkc, mkc, pd, f->d->pdn);
    DEVX_SET64(mkc, mkc, len, (uint64_t)n * bytes);
    DEVX_SET(mkc, mkc, translations_octword_size, n);
    for (unsigned i = 0; i < n; i++, entry += 16) {
        mocx_put_be32(entry, last && i + 1 < n ? 0 : bytes);
        mocx_put_be32(entry + 4, inner);
        mocx_put_be64(entry + 8, va);
    }
    drv_cmd_ok(f->d, in, inlen, out, sizeof(out));
    free(in);
    return DEVX_GET(create_mkey_out, out, mkey_index) << 8 | TAG;
}

/* Each entry of a WQE leads through a million empty ones. */
static void empty_entries_are_passed_at_once(void **state)
{
    Fixture *f = *state;
    DrvMr *mr = drv_mr_new(f->d, VA, 4096, DRV_ALL);
    uint32_t sparse = klm_key(f, mr->key, VA, ENTRIES, 64, true);
    uint32_t outer = klm_key(f, sparse, 0, SGE_LEN, 1, false);
    MocxAccess acc = { .pdn = f->d->pdn, .qpn = 77, .need = MOCX_LOCAL_READ };
    MocxSge sgl[SGES];
    uint8_t buf[SGES * SGE_LEN];
    MocxMemResult r;
    uint64_t ms;

    drv_mr_fill(mr, 0, 4096, 1);
    for (unsigned i = 0; i < SGES; i++) {
        sgl[i] = (MocxSge) { .addr = 0, .lkey = outer, .len = SGE_LEN };
    }
    host_enter(f->d->h);
    ms = cpu_ms();
    r = mocx_sgl_read(f->d->h->dev, &acc, sgl, SGES, 0, buf, sizeof(buf));
    ms = cpu_ms() - ms;
    host_leave(f->d->h);
    assert_int_equal(r, MOCX_MEM_OK);
    assert_in_range(ms, 0, 50);
    drv_mr_free(mr);
}

/* Commands */

static unsigned completed(Fixture *f)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SLOTS; i++) {
        n += drv_cmd_poll(f->d, i) == 0;
    }
    return n;
}

static void long_messages_are_read_in_parts(void **state)
{
    Fixture *f = *state;
    uint8_t *in = calloc(1, MESSAGE);
    uint64_t reads;

    mocx_put_be16(in, MLX5_CMD_OP_NOP);
    drv_cmd_fill(f->d, 0, in, MESSAGE, 16);
    for (unsigned i = 1; i < SLOTS; i++) {
        memcpy(drv_cmd_entry(f->d, i), drv_cmd_entry(f->d, 0), 64);
    }
    reads = f->d->h->reads;
    drv_cmd_ring(f->d, ~0u);
    assert_in_range(f->d->h->reads - reads, SLOTS, 4096);
    assert_in_range(completed(f), 0, 1);
    for (unsigned i = 0; i < SLOTS * MESSAGE / 512 / 1024 &&
         completed(f) < SLOTS; i++) {
        reads = f->d->h->reads;
        host_enter(f->d->h);
        mocx_run(f->d->h->dev, 128);
        host_leave(f->d->h);
        assert_in_range(f->d->h->reads - reads, 1, 4096);
    }
    assert_int_equal(completed(f), SLOTS);
    free(in);
}

/* Not while its command is still under way. */
static void slot_that_is_rung_again_runs_once(void **state)
{
    Fixture *f = *state;
    int64_t executed = host_status(f->d->h, "commands.executed");
    uint8_t in[16] = { 0 };

    mocx_put_be16(in, MLX5_CMD_OP_NOP);
    host_inject(f->d->h, "cmd-delay=any,ms=250");
    drv_cmd_start(f->d, 0, in, sizeof(in), 16);
    drv_cmd_ring(f->d, 1);
    drv_cmd_ring(f->d, 1);
    assert_int_equal(drv_cmd_poll(f->d, 0), DRV_PENDING);
    world_run(f->w, 300 * NSEC_PER_MSEC);
    assert_int_equal(drv_cmd_poll(f->d, 0), 0);
    assert_int_equal(host_status(f->d->h, "commands.executed"), executed + 1);
}

/* Steering */

static uint32_t fan(Fixture *f, unsigned level, unsigned type, uint32_t id)
{
    uint32_t ft = drv_ft_new(f->d, &(DrvFt) { .level = level, .log_size = 4 });
    uint32_t fg;
    DrvFg group;
    DrvFte fte;

    drv_fg_init(&group, ft, 0, 0);
    assert_int_equal(drv_fg_cmd(f->d, &group, &fg), 0);
    drv_fte_init(&fte, ft, fg, 0);
    for (unsigned i = 0; i < MAX_DESTS; i++) {
        drv_fte_dest(&fte, type, id);
    }
    assert_int_equal(drv_fte_cmd(f->d, &fte), 0);
    return ft;
}

static void frame_makes_so_many_copies_and_no_more(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = drv_cq_new(f->d, 4);
    DrvRq *rq = drv_rq_new(f->d, cq, &(DrvRqParams) { .counter_set = 1 });
    uint32_t tirn = drv_tir_direct(f->d, rq->rqn);
    EthFrame frame;
    uint32_t missed;

    drv_alloc(f->d, MLX5_CMD_OP_ALLOC_Q_COUNTER);
    drv_ft_root(f->d, fan(f, 1, TO_TABLE, fan(f, 2, TO_TIR, tirn)));
    eth_build(&frame, &(EthSpec) { .payload = 30 });
    wire_inject_frame(f->w->wire, 0, f->w->now, frame.b, frame.len);
    world_settle(f->w);
    missed = mocx_q_counter(f->d->h->dev, 1)->out_of_buffer;
    assert_in_range(missed, MAX_DESTS, 1024);
    free(rq);
    free(cq);
}

/* Multicast */

static uint8_t attach(Fixture *f, uint32_t qpn, uint16_t group)
{
    uint8_t in[DEVX_ST_SZ_BYTES(attach_to_mcg_in)] = { 0 }, out[16];
    uint8_t *gid = DEVX_ADDR_OF(attach_to_mcg_in, in, multicast_gid);

    DEVX_SET(attach_to_mcg_in, in, opcode, MLX5_CMD_OP_ATTACH_TO_MCG);
    DEVX_SET(attach_to_mcg_in, in, qpn, qpn);
    gid[0] = 0xff;
    mocx_put_be16(gid + 14, group);
    return drv_cmd(f->d, in, sizeof(in), out, sizeof(out));
}

static void groups_are_as_large_as_advertised(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = drv_cq_new(f->d, 4);
    DrvQp *qp[MOCX_MAX_QP_MCG + 1];

    for (unsigned i = 0; i <= MOCX_MAX_QP_MCG; i++) {
        qp[i] = drv_qp_new(f->d, &(DrvQpParams) {
            .type = DRV_QP_UD, .scq = cq, .rcq = cq });
        assert_int_equal(attach(f, qp[i]->qpn, 0),
                         i < MOCX_MAX_QP_MCG ? MOCX_OK : MOCX_LIM_ERR);
    }
    assert_int_equal(attach(f, qp[3]->qpn, 0), MOCX_OK);    /* is in it */
    for (unsigned i = 1; i < 1u << MOCX_LOG_MAX_MCG; i++) {
        assert_int_equal(attach(f, qp[0]->qpn, i), MOCX_OK);
    }
    assert_int_equal(attach(f, qp[0]->qpn, 1u << MOCX_LOG_MAX_MCG),
                     MOCX_LIM_ERR);
    for (unsigned i = 0; i <= MOCX_MAX_QP_MCG; i++) {
        free(qp[i]);
    }
    free(cq);
}

/* A peer's frames */

#define BURST   64u

static void costly_frames_are_not_all_taken(void **state)
{
    Fixture *f = *state;
    DrvCq *cq = drv_cq_new(f->d, 4);
    DrvRq *rq = drv_rq_new(f->d, cq, &(DrvRqParams) { .log_size = 4 });
    MocxFrame frames[BURST];
    size_t taken = 0, all = 0;
    EthFrame eth;

    drv_ft_root(f->d, fan(f, 1, TO_TIR, drv_tir_direct(f->d, rq->rqn)));
    eth_build(&eth, &(EthSpec) { .payload = 30 });
    for (unsigned i = 0; i < BURST; i++) {
        frames[i] = (MocxFrame) { eth.b, eth.len };
    }
    for (unsigned tries = 0; all < BURST && tries < BURST; tries++) {
        host_enter(f->d->h);
        taken = mocx_receive(f->d->h->dev, frames, BURST - all);
        host_leave(f->d->h);
        assert_in_range(taken, 1, BURST / 2);
        all += taken;
        host_enter(f->d->h);
        mocx_run(f->d->h->dev, 128);
        host_leave(f->d->h);
    }
    assert_int_equal(all, BURST);
    free(rq);
    free(cq);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(empty_entries_are_passed_at_once),
        T(long_messages_are_read_in_parts),
        T(slot_that_is_rung_again_runs_once),
        T(frame_makes_so_many_copies_and_no_more),
        T(groups_are_as_large_as_advertised),
        T(costly_frames_are_not_all_taken),
    };

    return cmocka_run_group_tests_name("slice", tests, NULL, NULL);
}
