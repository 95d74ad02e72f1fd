/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glob.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cmd.h"
#include "core/names.h"
#include "grammar.h"
#include "recording.h"

#define TEMPLATES_MAX   256
#define VARIANTS        3           /* of one opcode and op_mod */
#define MESSAGE_MAX     8192
#define POOL            (1u << 20)

/* Not the arena's: it never changes once the worlds are there. */
typedef struct Grammar {
    Template templates[TEMPLATES_MAX];
    unsigned n;
    bool whole;
    size_t used;
    uint8_t pool[POOL];
} Grammar;

static Grammar own;
static Grammar *g = &own;

static const MocxCmdRows *const all_rows[] = {
    &mocx_rows_hca, &mocx_rows_page, &mocx_rows_cap, &mocx_rows_reg,
    &mocx_rows_alloc, &mocx_rows_eq, &mocx_rows_cq, &mocx_rows_mkey,
    &mocx_rows_vport, &mocx_rows_gid, &mocx_rows_steer, &mocx_rows_tir,
    &mocx_rows_sq, &mocx_rows_rq, &mocx_rows_qp, &mocx_rows_srq,
    &mocx_rows_mcast,
};

static unsigned variants(uint16_t opcode, uint16_t op_mod, size_t inlen)
{
    unsigned n = 0;

    for (unsigned i = 0; i < g->n; i++) {
        const Template *t = &g->templates[i];

        if (mocx_get_be16(t->in) == opcode &&
            mocx_get_be16(t->in + 6) == op_mod) {
            n += t->inlen == inlen ? VARIANTS : 1;
        }
    }
    return n;
}

static void add(const uint8_t *in, size_t inlen, size_t outlen, uint32_t list)
{
    size_t room = inlen < 16 ? 16 : inlen;

    if (g->n == TEMPLATES_MAX || inlen > MESSAGE_MAX ||
        g->used + room > POOL) {
        return;
    }
    g->templates[g->n++] = (Template) {
        g->pool + g->used, inlen, outlen, list };
    memcpy(g->pool + g->used, in, inlen);
    g->used += room;
}

void grammar_note(void *arg, const void *in, size_t inlen, size_t outlen)
{
    uint16_t opcode = mocx_get_be16(in);
    uint16_t op_mod = mocx_get_be16((const uint8_t *)in + 6);

    (void)arg;
    if (!g->whole && variants(opcode, op_mod, inlen) < VARIANTS) {
        add(in, inlen, outlen, record_page_list(opcode, in, inlen));
    }
}

static void add_recording(const char *path)
{
    FILE *f = fopen(path, "r");
    static Record record;       /* large */
    Record *r = &record;

    CHECK(f, "cannot read %s", path);
    while (record_read(f, r)) {
        if (r->opcode != MLX5_CMD_OP_MANAGE_PAGES && r->inlen <= MESSAGE_MAX &&
            variants(r->opcode, mocx_get_be16(r->in + 6), r->inlen) <
            VARIANTS) {
            memset(r->in + r->fixed, 0, MESSAGE_MAX - r->fixed);
            add(r->in, r->inlen, r->outlen, r->pages ? r->fixed : 0);
        }
    }
    fclose(f);
}

static void add_row(const MocxCmdRow *row)
{
    uint8_t in[MESSAGE_MAX] = { 0 };

    for (unsigned i = 0; i < g->n; i++) {
        if (mocx_get_be16(g->templates[i].in) == row->opcode) {
            return;
        }
    }
    mocx_put_be16(in, row->opcode);
    add(in, row->in_min + 16, row->out_min + 16, 0);
}

void grammar_complete(void)
{
    glob_t found;

    if (g->whole) {
        return;
    }
    g->whole = true;
    if (!glob(FUZZ_RECORDINGS "/" "*.txt", 0, NULL, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            add_recording(found.gl_pathv[i]);
        }
        globfree(&found);
    }
    for (size_t i = 0; i < sizeof(all_rows) / sizeof(all_rows[0]); i++) {
        for (unsigned n = 0; n < all_rows[i]->n; n++) {
            add_row(&all_rows[i]->rows[n]);
        }
    }
}

void grammar_of_child(void (*worlds)(void))
{
    g = mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(g != MAP_FAILED, "no memory for a grammar");
    if (!fork()) {
        worlds();
        _exit(0);
    }
    wait(NULL);
    CHECK(g->whole, "the worlds cannot be made");
}

const Template *grammar_pick(unsigned pick)
{
    return &g->templates[pick % g->n];
}

unsigned grammar_size(void)
{
    return g->n;
}
