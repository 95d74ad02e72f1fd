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
    if (r->answered) {
        fprintf(f, " = ");
        put_input(f, r->out, r->answered);
    }
    fputc('\n', f);
}

typedef struct Bytes {
    uint8_t *at;
    uint32_t room, used;
} Bytes;

/* One byte, or a run of zeros. */
static bool get_piece(FILE *f, Bytes *b)
{
    unsigned value;
    int c = fgetc(f);

    if (c == '(') {
        if (fscanf(f, "%u)", &value) != 1 || value > b->room - b->used) {
            return false;
        }
        memset(b->at + b->used, 0, value);
        b->used += value;
        return true;
    }
    ungetc(c, f);
    if (!isxdigit(c) || b->used == b->room || fscanf(f, "%2x", &value) != 1) {
        return false;
    }
    b->at[b->used++] = value;
    return true;
}

static uint32_t get_bytes(FILE *f, uint8_t *to, uint32_t room)
{
    Bytes b = { .at = to, .room = room };

    while (get_piece(f, &b)) {
        continue;
    }
    return b.used;
}

static void get_numbers(FILE *f, Record *r)
{
    int c = fgetc(f);

    r->num_numbers = r->answered = 0;
    while (c == ' ' && r->num_numbers < RECORD_NUMBERS_MAX &&
           fscanf(f, "%x", &r->numbers[r->num_numbers]) == 1) {
        r->num_numbers++;
        c = fgetc(f);
    }
    /* The first character that is no number has been looked at. */
    if (c == ' ' && fgetc(f) == '=' && fgetc(f) == ' ') {
        r->answered = get_bytes(f, r->out, sizeof(r->out));
        fgetc(f);
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

    skip_comments(f);
    if (fscanf(f, "%x %x %u %u ", &opcode, &status, &r->inlen,
               &r->outlen) != 4) {
        return false;
    }
    r->opcode = opcode;
    r->status = status;
    r->fixed = get_bytes(f, r->in, sizeof(r->in));
    if (fscanf(f, "%u:%u", &r->pages, &r->step) != 2) {
        return false;
    }
    get_numbers(f, r);
    return true;
}

#define REG_PPCNT   0x5008

/* Answers that tell what has happened, or where the driver put something. */
static bool is_live(uint16_t opcode, const uint8_t *in)
{
    switch (opcode) {
    case MLX5_CMD_OP_QUERY_PAGES:
    case MLX5_CMD_OP_MANAGE_PAGES:
    case MLX5_CMD_OP_QUERY_MKEY:
    case MLX5_CMD_OP_QUERY_EQ:
    case MLX5_CMD_OP_QUERY_CQ:
    case MLX5_CMD_OP_QUERY_QP:
    case MLX5_CMD_OP_QUERY_RMP:
    case MLX5_CMD_OP_QUERY_XRC_SRQ:
    case MLX5_CMD_OP_QUERY_SQ:
    case MLX5_CMD_OP_QUERY_RQ:
    case MLX5_CMD_OP_QUERY_VPORT_COUNTER:
    case MLX5_CMD_OP_QUERY_Q_COUNTER:
    case MLX5_CMD_OP_QUERY_FLOW_COUNTER:
        return true;
    case MLX5_CMD_OP_ACCESS_REG:
        return DEVX_GET(access_register_in, in, register_id) == REG_PPCNT;
    default:
        return false;
    }
}

/* A guest has another MAC than a test. */
static void hide_vport(uint8_t *out, uint32_t outlen)
{
    uint8_t *ctx = DEVX_ADDR_OF(query_nic_vport_context_out, out,
                                nic_vport_context);
    uint8_t *list = DEVX_ADDR_OF(nic_vport_context, ctx,
                                 current_uc_mac_address);

    DEVX_SET64(nic_vport_context, ctx, system_image_guid, 0);
    DEVX_SET64(nic_vport_context, ctx, port_guid, 0);
    DEVX_SET64(nic_vport_context, ctx, node_guid, 0);
    memset(DEVX_ADDR_OF(nic_vport_context, ctx, permanent_address), 0, 8);
    if (list < out + outlen) {
        memset(list, 0, out + outlen - list);
    }
}

bool record_keep_output(uint16_t opcode, const uint8_t *in, uint8_t *out,
                        uint32_t outlen)
{
    const MocxName *name = mocx_name_first(opcode);
    uint64_t value;

    if (is_live(opcode, in) || outlen > RECORD_OUT_MAX) {
        return false;
    }
    for (; name; name = mocx_name_next(name)) {
        if (name->output && mocx_name_get(name, out, outlen, 0, &value)) {
            mocx_name_put(name, out, 0, 0);
        }
    }
    if (opcode == MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT &&
        outlen >= DEVX_ST_SZ_BYTES(query_nic_vport_context_out)) {
        hide_vport(out, outlen);
    }
    memset(out, 0, outlen < 8 ? outlen : 8);    /* status and syndrome */
    for (uint32_t i = 0; i < outlen; i++) {
        if (out[i]) {
            return true;
        }
    }
    return false;
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
