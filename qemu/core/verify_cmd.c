// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verifier mode: commands.  Reserved input is zero, what is named lives, and
 * what the answer does not define is noise, so that a driver that looks there
 * finds out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dev.h"
#include "names.h"
#include "reserved.h"
#include "verify_state.h"

#define OUT_HEADER          8       /* status and syndrome */
#define LAYOUT_NAME_MAX     96
#define PLACE(opcode, bit)  ((uint64_t)(opcode) << 32 | (bit))

/* Places of what is reserved in an entry and in a mailbox block (cmd.c). */
#define ENTRY_RSVD0         0x01
#define ENTRY_RSVD0_LEN     3
#define ENTRY_RSVD1         0x3e
#define BLOCK_RSVD0         0x200
#define BLOCK_RSVD0_LEN     48
#define BLOCK_RSVD1         0x23c

static bool all_zero(const uint8_t *p, size_t len)
{
    while (len && !*p) {
        p++;
        len--;
    }
    return !len;
}

void mocx_verify_entry(MocxDev *dev, const uint8_t *entry)
{
    if (!all_zero(entry + ENTRY_RSVD0, ENTRY_RSVD0_LEN) ||
        entry[ENTRY_RSVD1]) {
        mocx_breach(dev, MOCX_RULE_ENTRY_RESERVED, 0,
                    "reserved bytes of a command queue entry are not zero");
    }
    mocx_verify_addr(dev, mocx_get_be64(entry + 0x08), "an input mailbox");
    mocx_verify_addr(dev, mocx_get_be64(entry + 0x30), "an output mailbox");
}

void mocx_verify_block(MocxDev *dev, const uint8_t *block)
{
    if (!all_zero(block + BLOCK_RSVD0, BLOCK_RSVD0_LEN) ||
        block[BLOCK_RSVD1]) {
        mocx_breach(dev, MOCX_RULE_MAILBOX_RESERVED, 0,
                    "reserved bytes of a mailbox block are not zero");
    }
}

/* Layouts */

static int layout_compare(const void *name, const void *layout)
{
    return strcmp(name, ((const MocxLayout *)layout)->name);
}

/* There are hundreds, and each command asks for two. */
static const MocxLayout *layout_of(const char *ifc, const char *suffix)
{
    char name[LAYOUT_NAME_MAX];

    snprintf(name, sizeof(name), "%s%s", ifc, suffix);
    return bsearch(name, mocx_layouts, mocx_num_layouts,
                   sizeof(mocx_layouts[0]), layout_compare);
}

static bool bit_get(const uint8_t *msg, uint32_t bit)
{
    return msg[bit / 8] >> (7 - bit % 8) & 1;
}

/* The first bit of a gap that is set, or its end. */
static uint32_t gap_first_set(const MocxGap *gap, const uint8_t *msg,
                              uint32_t bits)
{
    uint32_t end = gap->off + gap->bits, bit = gap->off;

    end = end < bits ? end : bits;
    while (bit < end && !bit_get(msg, bit)) {
        bit += bit % 8 == 0 && !msg[bit / 8] ? 8 : 1;
    }
    return bit < end ? bit : gap->off + gap->bits;
}

static void check_reserved(MocxDev *dev, const MocxCmd *cmd,
                           const MocxCmdRow *row, const MocxLayout *layout)
{
    for (unsigned i = 0; i < layout->num_gaps; i++) {
        const MocxGap *gap = &layout->gaps[i];
        uint32_t bit = gap_first_set(gap, cmd->in, cmd->inlen * 8);

        if (bit < gap->off + gap->bits) {
            mocx_breach(dev, MOCX_RULE_RESERVED_INPUT,
                        PLACE(cmd->opcode, gap->off),
                        "%s: bit 0x%x of %s is reserved and set (0x%x to "
                        "0x%x are)", row->name, bit, layout->name, gap->off,
                        gap->off + gap->bits - 1);
        }
    }
    if (!layout->open && cmd->inlen > layout->bytes &&
        !all_zero(cmd->in + layout->bytes, cmd->inlen - layout->bytes)) {
        mocx_breach(dev, MOCX_RULE_INPUT_TAIL, cmd->opcode,
                    "%s: input behind the %u bytes of %s is not zero",
                    row->name, layout->bytes, layout->name);
    }
}

/* Names */

static void check_object(MocxDev *dev, const MocxCmd *cmd,
                         const MocxCmdRow *row, MocxObjType type, uint32_t id)
{
    if (mocx_table_was(mocx_table_of(dev, type), id)) {
        mocx_breach(dev, MOCX_RULE_DESTROYED_OBJECT,
                    PLACE(cmd->opcode, type),
                    "%s names number %u of %s, which was destroyed", row->name,
                    id, mocx_obj_type_name(type));
    }
}

/* Only MTTs are pages; the others are keys, or nothing. */
static bool has_pages(const MocxCmd *cmd)
{
    if (cmd->opcode == MLX5_CMD_OP_MANAGE_PAGES) {
        return false;       /* when they were taken, in verify_output() */
    }
    return cmd->opcode != MLX5_CMD_OP_CREATE_MKEY ||
           DEVX_GET(create_mkey_in, cmd->in,
                    memory_key_mkey_entry.access_mode_1_0) == MOCX_MEM_MTT;
}

static void check_name(MocxDev *dev, const MocxCmd *cmd, const MocxCmdRow *row,
                       const MocxName *name)
{
    uint64_t value;

    for (uint32_t i = 0; mocx_name_get(name, cmd->in, cmd->inlen, i, &value);
         i++) {
        if (name->kind < MOCX_OBJ_TYPES) {
            check_object(dev, cmd, row, name->kind, value);
        } else if (name->kind == MOCX_NAME_ADDR || has_pages(cmd)) {
            mocx_verify_addr(dev, value, row->name);
        }
    }
}

void mocx_verify_input(MocxDev *dev, const MocxCmd *cmd, const MocxCmdRow *row)
{
    const MocxLayout *layout = layout_of(row->ifc, "_in");
    const MocxName *name = mocx_name_first(cmd->opcode);

    if (layout) {
        check_reserved(dev, cmd, row, layout);
    }
    for (; name; name = mocx_name_next(name)) {
        if (!name->output) {
            check_name(dev, cmd, row, name);
        }
    }
}

/* Noise */

static uint8_t noise(MocxVerify *v)
{
    v->noise = v->noise * 6364136223846793005ull + 1442695040888963407ull;
    return v->noise >> 56;
}

static void noise_bytes(MocxVerify *v, uint8_t *out, uint32_t from, uint32_t to)
{
    for (; from < to; from++) {
        out[from] = noise(v);
    }
}

static void noise_gap(MocxVerify *v, const MocxGap *gap, uint8_t *out,
                      uint32_t bits)
{
    for (uint32_t i = 0; i < gap->bits; i++) {
        uint32_t bit = gap->off + i;

        if (bit < bits) {
            out[bit / 8] &= ~(0x80u >> bit % 8);
            out[bit / 8] |= (noise(v) & 1) << (7 - bit % 8);
        }
    }
}

/* Firmware pages change hands when the command has succeeded. */
static void track_pages(MocxDev *dev, const MocxCmd *cmd)
{
    bool given = cmd->op_mod == 1, taken = cmd->op_mod == 2;
    const uint8_t *pas = given ? cmd->in + DEVX_ST_SZ_BYTES(manage_pages_in)
                         : cmd->out + DEVX_ST_SZ_BYTES(manage_pages_out);
    uint32_t n = given ? DEVX_GET(manage_pages_in, cmd->in, input_num_entries)
                 : taken ? DEVX_GET(manage_pages_out, cmd->out,
                                    output_num_entries) : 0;

    for (uint32_t i = 0; i < n; i++) {
        mocx_verify_page(dev, mocx_get_be64(pas + i * 8), given);
    }
}

void mocx_verify_output(MocxDev *dev, MocxCmd *cmd, const MocxCmdRow *row,
                        uint8_t status, uint32_t room)
{
    const MocxLayout *layout = row ? layout_of(row->ifc, "_out") : NULL;
    MocxVerify *v = dev->verify;
    uint32_t defined;

    if (status || !layout) {
        noise_bytes(v, cmd->out, OUT_HEADER, room);
        return;
    }
    if (cmd->opcode == MLX5_CMD_OP_MANAGE_PAGES) {
        track_pages(dev, cmd);
    }
    defined = cmd->defined ? cmd->defined : layout->bytes;
    for (unsigned i = 0; i < layout->num_gaps; i++) {
        noise_gap(v, &layout->gaps[i], cmd->out, room * 8);
    }
    if (defined < room) {
        noise_bytes(v, cmd->out, defined, room);
    }
}
