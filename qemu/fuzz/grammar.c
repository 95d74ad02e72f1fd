/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glob.h>
#include <stdio.h>

#include "core/cmd.h"
#include "core/names.h"
#include "grammar.h"
#include "recording.h"

#define TEMPLATES_MAX   256
#define VARIANTS        3           /* of one opcode and op_mod */
#define MESSAGE_MAX     8192
#define POOL            (1u << 20)

static Template templates[TEMPLATES_MAX];
static unsigned num_templates;
static uint8_t pool[POOL];          /* not the arena's: it never changes */
static size_t pool_used;

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

    for (unsigned i = 0; i < num_templates; i++) {
        const Template *t = &templates[i];

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

    if (num_templates == TEMPLATES_MAX || inlen > MESSAGE_MAX ||
        pool_used + room > POOL) {
        return;
    }
    templates[num_templates++] = (Template) {
        pool + pool_used, inlen, outlen, list };
    memcpy(pool + pool_used, in, inlen);
    pool_used += room;
}

void grammar_note(void *arg, const void *in, size_t inlen, size_t outlen)
{
    uint16_t opcode = mocx_get_be16(in);
    uint16_t op_mod = mocx_get_be16((const uint8_t *)in + 6);

    (void)arg;
    if (variants(opcode, op_mod, inlen) < VARIANTS) {
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

    for (unsigned i = 0; i < num_templates; i++) {
        if (mocx_get_be16(templates[i].in) == row->opcode) {
            return;
        }
    }
    mocx_put_be16(in, row->opcode);
    add(in, row->in_min + 16, row->out_min + 16, 0);
}

void grammar_complete(void)
{
    glob_t found;

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

const Template *grammar_pick(unsigned pick)
{
    return &templates[pick % num_templates];
}

unsigned grammar_size(void)
{
    return num_templates;
}
