/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recordings of real drivers, spoiled: an input begins somewhere in one and
 * goes on with what that driver has sent next, changed, left out or sent twice,
 * with doorbells, frames and registers between.
 *
 * Rings are where the recording's page lists are replaced to, so that work
 * requests can be put into them.
 */
#include <glob.h>
#include <stdio.h>

#include "core/dev.h"
#include "core/names.h"
#include "core/qp.h"
#include "core/sq.h"
#include "grammar.h"
#include "recording.h"
#include "snap.h"
#include "target.h"

#define COMMANDS_MAX    4096        /* of all recordings */
#define EVERY           96          /* commands from world to world */
#define RENAMED         2048        /* objects of one recording */
#define RING_MAX        (1u << 20)  /* bytes; more of it lies elsewhere */
#define PAGES_BATCH     256
#define AT_ONCE         8           /* commands of a step */

enum { PAGES_GIVE = 1, PAGES_TAKE = 2 };

typedef struct Played {
    uint8_t *in;
    uint32_t fixed, inlen, outlen, pages, step, num_numbers;
    uint32_t numbers[RECORD_NUMBERS_MAX];
    bool last;                      /* of its recording */
} Played;

typedef struct Renamed {
    uint32_t kind, recorded, now;   /* @kind: one more than the type */
} Renamed;

/* In the arena, as all that belongs to a world. */
typedef struct Player {
    Bed *bed;
    unsigned at;
    Renamed renamed[RENAMED];
} Player;

static Played played[COMMANDS_MAX];
static unsigned num_played;
static Player *player;              /* at the same place in every world */

/* Reading; outside of the arena, since it does not change. */

static void keep(const Record *r)
{
    Played *p = &played[num_played++];

    CHECK(num_played < COMMANDS_MAX, "more than %u commands", COMMANDS_MAX);
    *p = (Played) {
        .in = (malloc)(r->fixed), .fixed = r->fixed, .inlen = r->inlen,
        .outlen = r->outlen, .pages = r->pages, .step = r->step,
        .num_numbers = r->num_numbers,
    };
    memcpy(p->in, r->in, r->fixed);
    memcpy(p->numbers, r->numbers, sizeof(p->numbers));
}

static void read_file(const char *path)
{
    static Record record;
    FILE *f = fopen(path, "r");

    CHECK(f, "cannot read %s", path);
    while (record_read(f, &record)) {
        keep(&record);
    }
    fclose(f);
    CHECK(num_played, "%s is empty", path);
    played[num_played - 1].last = true;
}

/* Numbers */

static Renamed *renamed(uint32_t kind, uint64_t recorded)
{
    uint32_t i = (recorded * 2654435761u >> 8) + kind * 77, n;

    for (n = 0; n < RENAMED; n++, i++) {
        Renamed *r = &player->renamed[i % RENAMED];

        if (!r->kind || (r->kind == kind + 1 && r->recorded == recorded)) {
            r->recorded = recorded;
            return r;
        }
    }
    harness_fail(__FILE__, __LINE__, "more than %u numbers", RENAMED);
}

static void rename_inputs(const Played *p, uint8_t *in)
{
    const MocxName *name = mocx_name_first(mocx_get_be16(in));
    uint64_t value;

    for (; name; name = mocx_name_next(name)) {
        if (name->output || name->kind >= MOCX_OBJ_TYPES) {
            continue;
        }
        for (uint32_t i = 0; mocx_name_get(name, in, p->fixed, i, &value);
             i++) {
            const Renamed *r = value ? renamed(name->kind, value) : NULL;

            if (r && r->kind) {
                mocx_name_put(name, in, i, r->now);
            }
        }
    }
}

static void note_outputs(const Played *p, const uint8_t *out)
{
    const MocxName *name = mocx_name_first(mocx_get_be16(p->in));
    unsigned i = 0;
    uint64_t value;

    for (; name && i < p->num_numbers; name = mocx_name_next(name)) {
        if (name->output && mocx_name_get(name, out, p->outlen, 0, &value)) {
            Renamed *r = renamed(name->kind, p->numbers[i++]);

            r->kind = name->kind + 1;
            r->now = value;
        }
    }
}

/* Commands */

static void pages(Bed *bed, const Played *p)
{
    uint8_t in[DEVX_ST_SZ_BYTES(manage_pages_in) + PAGES_BATCH * 8] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(manage_pages_out) + PAGES_BATCH * 8];
    uint16_t op_mod = mocx_get_be16(p->in + 6);
    uint32_t n = DEVX_GET(manage_pages_in, p->in, input_num_entries);

    if (op_mod == PAGES_GIVE) {
        DEVX_SET(query_pages_in, in, opcode, MLX5_CMD_OP_QUERY_PAGES);
        DEVX_SET(query_pages_in, in, op_mod, 3);
        drv_cmd(bed->d, in, DEVX_ST_SZ_BYTES(query_pages_in), out,
                DEVX_ST_SZ_BYTES(query_pages_out));
        n = DEVX_GET(query_pages_out, out, num_pages);
        n = (int32_t)n > 0 ? n : 0;
    }
    n = n < PAGES_BATCH ? n : PAGES_BATCH;
    memset(in, 0, sizeof(in));
    DEVX_SET(manage_pages_in, in, opcode, MLX5_CMD_OP_MANAGE_PAGES);
    DEVX_SET(manage_pages_in, in, op_mod, op_mod);
    DEVX_SET(manage_pages_in, in, input_num_entries, n);
    for (uint32_t i = 0; op_mod == PAGES_GIVE && i < n; i++) {
        mocx_put_be64(in + DEVX_ST_SZ_BYTES(manage_pages_in) + i * 8,
                      gpa_alloc(bed->h, HOST_PAGE, HOST_PAGE));
    }
    drv_cmd(bed->d, in, DEVX_ST_SZ_BYTES(manage_pages_in) +
            (op_mod == PAGES_GIVE ? n * 8 : 0), out,
            DEVX_ST_SZ_BYTES(manage_pages_out) +
            (op_mod == PAGES_TAKE ? n * 8 : 0));
}

static uint64_t ring_memory(Bed *bed, const Played *p)
{
    uint64_t bytes = (uint64_t)p->pages << p->step;

    return !bytes || bytes > RING_MAX ? RECORD_PAGES_AT
           : gpa_alloc(bed->h, bytes, 1u << p->step);
}

/* @b: what to spoil it with, or NULL. */
static void play(Bed *bed, const Played *p, Bytes *b)
{
    uint8_t *in = calloc(1, p->inlen + 16), *out = calloc(1, p->outlen + 16);
    uint64_t at = ring_memory(bed, p);

    memcpy(in, p->in, p->fixed);
    for (uint32_t i = 0; i < p->pages && p->fixed + i * 8 + 8 <= p->inlen;
         i++) {
        mocx_put_be64(in + p->fixed + i * 8, at + ((uint64_t)i << p->step));
    }
    rename_inputs(p, in);
    for (unsigned i = 0; b && i < 3 && p->inlen > 4; i++) {
        bytes_spoil(b, in + 4, p->inlen - 4);
    }
    if (!drv_cmd(bed->d, in, p->inlen, out, p->outlen)) {
        note_outputs(p, out);
    }
    free(in);
    free(out);
}

static void play_next(Bed *bed, Bytes *b)
{
    const Played *p = &played[player->at];

    if (mocx_get_be16(p->in) == MLX5_CMD_OP_MANAGE_PAGES) {
        pages(bed, p);
    } else {
        play(bed, p, b);
    }
    player->at += !p->last;
}

/* Some commands as they were, then perhaps one that is not. */
static void step_replay(Bed *bed, Bytes *b)
{
    uint8_t n = bytes_u8(b), how = bytes_u8(b);

    if (bed->deaf) {
        return;
    }
    for (n %= AT_ONCE; n; n--) {
        play_next(bed, NULL);
    }
    switch (how % 4) {
    case 0:
        player->at += !played[player->at].last;
        break;
    case 1:
        player->at -= player->at && how & 0x10;
        play_next(bed, NULL);
        break;
    default:
        play_next(bed, b);
    }
}

/* Work requests */

static void put_wqe(Bed *bed, const MocxRing *ring, uint64_t base,
                    uint64_t span, uint32_t qpn, Bytes *b)
{
    static const uint8_t opcodes[] = {
        MLX5_OPCODE_SEND, MLX5_OPCODE_TSO, MLX5_OPCODE_RDMA_WRITE,
        MLX5_OPCODE_NOP, MLX5_OPCODE_RDMA_READ, MLX5_OPCODE_UMR,
        MLX5_OPCODE_SEND_IMM, MLX5_OPCODE_ATOMIC_FA,
    };
    uint64_t off = base + bytes_u8(b) * 64ULL % (span ? span : 1);
    size_t len = 0;
    uint64_t addr = mocx_ring_addr(ring, off, &len);
    uint8_t wqe[64] = { 0 };

    if (len < sizeof(wqe) || addr < HOST_MEM_BASE ||
        addr + sizeof(wqe) > HOST_MEM_BASE + HOST_MEM_SIZE) {
        return;
    }
    mocx_put_be32(wqe, (uint32_t)(off - base) / 64 << 8 |
                  opcodes[bytes_u8(b) % sizeof(opcodes)]);
    mocx_put_be32(wqe + 4, qpn << 8 | 4);
    wqe[11] = 8;
    mocx_put_be32(wqe + 48, bytes_u8(b) * 8);
    mocx_put_be32(wqe + 52, pick_key(bed, bytes_u8(b)));
    mocx_put_be64(wqe + 56, bed->scratch);
    bytes_spoil(b, wqe, sizeof(wqe));
    bytes_spoil(b, wqe, sizeof(wqe));
    memcpy(gpa_ptr(bed->h, addr), wqe, sizeof(wqe));
}

/* Something in the ring of a queue, its record, and its doorbell. */
static void step_post(Bed *bed, Bytes *b)
{
    bool eth = bytes_u8(b) & 1;
    uint32_t n = pick_object(bed, eth ? MOCX_OBJ_SQ : MOCX_OBJ_QP,
                             bytes_u8(b));
    uint8_t posted = bytes_u8(b);
    uint64_t dbr;

    if (!n) {
        return;
    }
    if (eth) {
        const MocxSq *sq = mocx_sq_find(bed->h->dev, n);

        dbr = sq->wq.dbr;
        put_wqe(bed, &sq->wq.ring, 0, sq->wq.ring.size, n, b);
    } else {
        const MocxQp *qp = mocx_qp_find(bed->h->dev, n);

        dbr = qp->dbr;
        put_wqe(bed, &qp->ring, qp->rq_span, qp->sq_span, n, b);
    }
    if (dbr >= HOST_MEM_BASE && dbr + 8 <= HOST_MEM_BASE + HOST_MEM_SIZE) {
        mocx_put_be32(gpa_ptr(bed->h, dbr), posted);
        mocx_put_be32((uint8_t *)gpa_ptr(bed->h, dbr) + 4, posted);
    }
    host_write64(bed->h, pick_object(bed, MOCX_OBJ_UAR, bytes_u8(b)) *
                 (uint64_t)HOST_PAGE + UAR_BF, n << 8);
}

/* The worlds */

static void play_file(Bed *bed, const char *path)
{
    player->at = num_played;
    read_file(path);
    for (unsigned i = 1; !played[player->at].last; i++) {
        play_next(bed, NULL);
        if (i % EVERY == 0) {
            target_world(bed);
        }
    }
}

static void worlds(void)
{
    Bed *bed = bed_new();
    glob_t found;
    Snap *start;

    player = calloc(1, sizeof(*player));
    bed->scratch = gpa_alloc(bed->h, BED_SCRATCH * HOST_PAGE, HOST_PAGE);
    drv_cmdq_setup(bed->d);
    start = snap_take(bed->h);
    CHECK(!glob(FUZZ_RECORDINGS "/" "*.txt", 0, NULL, &found),
          "no recording in %s", FUZZ_RECORDINGS);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        snap_restore(start);
        play_file(bed, found.gl_pathv[i]);
    }
    globfree(&found);
    grammar_complete();
}

const FuzzTarget fuzz_target = {
    .worlds = worlds,
    .steps = {
        step_replay, step_replay, step_replay, step_replay,
        step_replay, step_replay, step_replay, step_command,
        step_post, step_post, step_post, step_register,
        step_packet, step_frame, step_time, step_bus,
    },
};
