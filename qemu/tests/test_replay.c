/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the vendor's driver sends, sent again: the commands of recordings/, from
 * probe to unload.  Each must end as it did when it was recorded, with the same
 * answer, so that a change which would break that driver fails here, without a
 * guest.
 *
 * Numbers of objects are the model's to choose; those of the recording become
 * those that this run has returned.  Pages are given as they are needed now.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/dev.h"
#include "driver.h"
#include "recording.h"

#define FILES_MAX   16
#define NEW_MAX     65536
#define RECORDINGS  "recordings/" "*.txt"
#define VENDOR      "recordings/mlx5.txt"
#define ROUNDS      3

enum { PAGES_GIVE = 1, PAGES_TAKE = 2 };

typedef struct Replay {
    World *w;
    Drv *d;
    uint32_t *renamed[MOCX_OBJ_TYPES];  /* recorded number to today's */
    unsigned done;
    unsigned unlike;                    /* ended otherwise than recorded */
    unsigned compared;                  /* outputs that were looked at */
    bool again;                         /* a driver was here before */
    char first[256];                    /* the first of those */
} Replay;

static Replay *replay_new(void)
{
    Replay *rp = calloc(1, sizeof(*rp));

    rp->w = world_new(1, NULL);
    rp->d = drv_new(rp->w->host[0]);
    /* Rings lie over each other: nobody looks into them. */
    rp->d->h->wild = true;
    for (unsigned i = 0; i < MOCX_OBJ_TYPES; i++) {
        rp->renamed[i] = calloc(NEW_MAX, sizeof(uint32_t));
    }
    drv_cmdq_setup(rp->d);
    return rp;
}

static void replay_free(Replay *rp)
{
    for (unsigned i = 0; i < MOCX_OBJ_TYPES; i++) {
        free(rp->renamed[i]);
    }
    drv_free(rp->d);
    world_free(rp->w);
    free(rp);
}

/* Numbers */

static uint32_t *today(Replay *rp, uint8_t kind, uint64_t recorded)
{
    /* Memory keys are the only numbers that grow large. */
    return &rp->renamed[kind][recorded % NEW_MAX];
}

static void rename_inputs(Replay *rp, const Record *r, uint8_t *in)
{
    const MocxName *name = mocx_name_first(r->opcode);
    uint64_t value;

    for (; name; name = mocx_name_next(name)) {
        if (name->output || name->kind >= MOCX_OBJ_TYPES) {
            continue;
        }
        for (uint32_t i = 0; mocx_name_get(name, in, r->fixed, i, &value);
             i++) {
            uint32_t now = value ? *today(rp, name->kind, value) : 0;

            if (now) {
                mocx_name_put(name, in, i, now);
            }
        }
    }
}

static void note_outputs(Replay *rp, const Record *r, const uint8_t *out)
{
    const MocxName *name = mocx_name_first(r->opcode);
    unsigned i = 0;
    uint64_t value;

    for (; name && i < r->num_numbers; name = mocx_name_next(name)) {
        if (name->output && mocx_name_get(name, out, r->outlen, 0, &value)) {
            *today(rp, name->kind, r->numbers[i++]) = value;
        }
    }
}

/* Commands */

/* As many as are missing now, or to come back now. */
static void replay_pages(Replay *rp, const Record *r)
{
    uint16_t op_mod = mocx_get_be16(r->in + 6);
    uint8_t in[DEVX_ST_SZ_BYTES(query_pages_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_pages_out)];
    int32_t n;

    if (op_mod == PAGES_TAKE) {
        drv_take_pages(rp->d, DEVX_GET(manage_pages_in, r->in,
                                       input_num_entries));
    }
    if (op_mod != PAGES_GIVE) {
        return;
    }
    DEVX_SET(query_pages_in, in, opcode, MLX5_CMD_OP_QUERY_PAGES);
    DEVX_SET(query_pages_in, in, op_mod, 3);
    drv_cmd_ok(rp->d, in, sizeof(in), out, sizeof(out));
    n = DEVX_GET(query_pages_out, out, num_pages);
    drv_give_pages(rp->d, n > 0 ? n : 0);
}

/*
 * What an answer does not define is zero; in verifier mode it is noise, and the
 * recording does not tell which part.  What a driver has written into registers
 * of the port outlives it.
 */
static void compare_output(Replay *rp, const Record *r, const uint8_t *in,
                           uint8_t *out)
{
    static const uint8_t nothing[RECORD_OUT_MAX];
    const uint8_t *want = r->answered ? r->out : nothing;
    uint32_t i = 0;

    if (rp->d->h->cfg.strict || rp->again) {
        return;
    }
    if (!record_keep_output(r->opcode, in, out, r->outlen) && !r->answered) {
        return;
    }
    rp->compared++;
    while (i < r->outlen && out[i] == want[i]) {
        i++;
    }
    if (i < r->outlen && !rp->unlike++) {
        snprintf(rp->first, sizeof(rp->first),
                 "command %u, 0x%x: byte 0x%x of the output is 0x%02x, recorded "
                 "0x%02x", rp->done, r->opcode, i, out[i], want[i]);
    }
}

static void replay_command(Replay *rp, const Record *r)
{
    uint8_t *in = calloc(1, r->inlen), *out = calloc(1, r->outlen + 16);
    uint8_t status;

    memcpy(in, r->in, r->fixed);
    for (uint32_t i = 0; i < r->pages && r->fixed + i * 8 + 8 <= r->inlen;
         i++) {
        mocx_put_be64(in + r->fixed + i * 8,
                      RECORD_PAGES_AT + ((uint64_t)i << r->step));
    }
    rename_inputs(rp, r, in);
    status = drv_cmd(rp->d, in, r->inlen, out, r->outlen);
    if (status != r->status && !rp->unlike++) {
        snprintf(rp->first, sizeof(rp->first),
                 "command %u, 0x%x: status 0x%x, recorded 0x%x (%.120s)",
                 rp->done, r->opcode, status, r->status, rp->d->h->last_log);
    }
    if (!status) {
        note_outputs(rp, r, out);
        compare_output(rp, r, in, out);
    }
    free(in);
    free(out);
}

static void replay_file(Replay *rp, const char *path)
{
    FILE *f = fopen(path, "r");
    Record *r = malloc(sizeof(*r));

    assert_non_null(f);
    while (record_read(f, r)) {
        if (r->opcode == MLX5_CMD_OP_MANAGE_PAGES) {
            replay_pages(rp, r);
        } else {
            replay_command(rp, r);
        }
        rp->done++;
    }
    assert_true(feof(f));
    fclose(f);
    free(r);
}

/* Tests */

static void ends_as_recorded(void **state)
{
    Replay *rp = replay_new();

    replay_file(rp, *state);
    CHECK(!rp->unlike, "%s: %u of %u commands end otherwise: %s",
          (char *)*state, rp->unlike, rp->done, rp->first);
    assert_true(rp->done > 100);
    assert_true(rp->compared > 20 || rp->d->h->cfg.strict);
    /* The driver has unloaded, and has left nothing. */
    assert_int_equal(host_status(rp->d->h, "objects.total"), 0);
    assert_int_equal(host_status(rp->d->h, "pages.held"), 0);
    replay_free(rp);
}

/* Each of these would stop the driver; the replay must see it. */
static void refused_command_is_seen(void **state)
{
    static const uint16_t needed[] = {
        MLX5_CMD_OP_SET_ISSI, MLX5_CMD_OP_QUERY_HCA_CAP,
        MLX5_CMD_OP_CREATE_EQ, MLX5_CMD_OP_CREATE_XRC_SRQ,
        MLX5_CMD_OP_CREATE_RQT, MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY,
        MLX5_CMD_OP_RTR2RTS_QP, MLX5_CMD_OP_ACCESS_REG,
    };

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        Replay *rp = replay_new();
        char spec[64];

        snprintf(spec, sizeof(spec), "cmd-fail=0x%x,count=0,status=0x03",
                 needed[i]);
        host_inject(rp->d->h, spec);
        replay_file(rp, *state);
        CHECK(rp->unlike, "nobody misses command 0x%x", needed[i]);
        replay_free(rp);
    }
}

/* Loaded and unloaded again and again, it leaves nothing in the model. */
static void rounds_cost_nothing(void **state)
{
    Replay *rp = replay_new();
    int64_t after[ROUNDS];

    if (host_heap(rp->d->h) < 0) {
        replay_free(rp);
        skip();
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        drv_cmdq_setup(rp->d);
        replay_file(rp, *state);
        CHECK(!rp->unlike, "round %u: %s", i, rp->first);
        world_settle(rp->w);
        rp->again = true;
        after[i] = host_heap(rp->d->h);
        assert_int_equal(after[i], after[0]);
    }
    replay_free(rp);
}

int main(void)
{
    struct CMUnitTest tests[2 * FILES_MAX + 1];
    unsigned n = 0;
    glob_t found;

    if (glob(RECORDINGS, 0, NULL, &found)) {
        fprintf(stderr, "there are no recordings\n");
        return 1;
    }
    for (; n < found.gl_pathc && n < FILES_MAX; n++) {
        tests[n] = (struct CMUnitTest) {
            .name = found.gl_pathv[n], .test_func = ends_as_recorded,
            .initial_state = found.gl_pathv[n],
        };
    }
    for (size_t i = 0; i < found.gl_pathc && i < FILES_MAX; i++) {
        tests[n++] = (struct CMUnitTest) {
            .name = "rounds_cost_nothing", .test_func = rounds_cost_nothing,
            .initial_state = found.gl_pathv[i],
        };
    }
    tests[n++] = (struct CMUnitTest) {
        .name = "refused_command_is_seen",
        .test_func = refused_command_is_seen,
        .initial_state = VENDOR,
    };
    n = _cmocka_run_group_tests("replay", tests, n, NULL, NULL);
    globfree(&found);
    return n;
}
