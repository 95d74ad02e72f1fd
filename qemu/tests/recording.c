/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a recording, written and read. */
#include <ctype.h>
#include <string.h>

#include "core/mem.h"
#include "recording.h"

#define ZERO_RUN_MIN    3

static void put_input(FILE *f, const uint8_t *p, uint32_t len)
{
    for (uint32_t i = 0; i < len;) {
        uint32_t run = 0;

        while (i + run < len && !p[i + run]) {
            run++;
        }
        if (run >= ZERO_RUN_MIN) {
            fprintf(f, "(%u)", run);
            i += run;
        } else {
            fprintf(f, "%02x", p[i++]);
        }
    }
}

void record_write(FILE *f, const Record *r)
{
    fprintf(f, "%x %x %u %u ", r->opcode, r->status, r->inlen, r->outlen);
    put_input(f, r->in, r->fixed);
    fprintf(f, " %u:%u", r->pages, r->step);
    for (unsigned i = 0; i < r->num_numbers; i++) {
        fprintf(f, " %x", r->numbers[i]);
    }
    fputc('\n', f);
}

/* One byte, or a run of zeros. */
static bool get_piece(FILE *f, Record *r)
{
    unsigned value;
    int c = fgetc(f);

    if (c == '(') {
        if (fscanf(f, "%u)", &value) != 1 ||
            value > sizeof(r->in) - r->fixed) {
            return false;
        }
        memset(r->in + r->fixed, 0, value);
        r->fixed += value;
        return true;
    }
    ungetc(c, f);
    if (!isxdigit(c) || r->fixed == sizeof(r->in) ||
        fscanf(f, "%2x", &value) != 1) {
        return false;
    }
    r->in[r->fixed++] = value;
    return true;
}

static void get_numbers(FILE *f, Record *r)
{
    int c = fgetc(f);

    r->num_numbers = 0;
    while (c == ' ' && r->num_numbers < RECORD_NUMBERS_MAX &&
           fscanf(f, "%x", &r->numbers[r->num_numbers]) == 1) {
        r->num_numbers++;
        c = fgetc(f);
    }
}

/* Lines that begin with # are for people. */
static void skip_comments(FILE *f)
{
    int c = fgetc(f);

    while (c == '#') {
        while (c != '\n' && c != EOF) {
            c = fgetc(f);
        }
        c = fgetc(f);
    }
    ungetc(c, f);
}

bool record_read(FILE *f, Record *r)
{
    unsigned opcode, status;
    bool more;

    skip_comments(f);
    if (fscanf(f, "%x %x %u %u ", &opcode, &status, &r->inlen,
               &r->outlen) != 4) {
        return false;
    }
    r->opcode = opcode;
    r->status = status;
    r->fixed = 0;
    do {
        more = get_piece(f, r);
    } while (more);
    if (fscanf(f, "%u:%u", &r->pages, &r->step) != 2) {
        return false;
    }
    get_numbers(f, r);
    return true;
}

uint32_t record_page_list(uint16_t opcode, const uint8_t *in, uint32_t inlen)
{
    const MocxName *name = mocx_name_first(opcode);

    if (opcode == MLX5_CMD_OP_CREATE_MKEY &&
        DEVX_GET(create_mkey_in, in, memory_key_mkey_entry.access_mode_1_0) !=
        MOCX_MEM_MTT) {
        return 0;
    }
    while (name && name->kind != MOCX_NAME_PAGES) {
        name = mocx_name_next(name);
    }
    return name && name->off / 8 < inlen ? name->off / 8 : 0;
}
