/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * condense <RAW >RECORDING - what QEMU has recorded, without guest addresses.
 *
 * See recording.h.
 */
#include <stdlib.h>
#include <string.h>

#include "recording.h"

#define USER_VA         0x7f0000000000ULL
#define PAGE_OFFSET     0xfffULL
#define STEP_MAX        30

static uint8_t out[RECORD_BYTES_MAX], whole[RECORD_BYTES_MAX];
static Record record;

/* Hexadecimal up to a character that is none. */
static uint32_t get_hex(uint8_t *to)
{
    uint32_t n = 0;
    unsigned value;

    while (n < RECORD_BYTES_MAX && scanf("%2x", &value) == 1) {
        int c = getchar();

        to[n++] = value;
        ungetc(c, stdin);
        if (c == ' ' || c == '\n' || c == EOF) {
            getchar();
            break;
        }
    }
    return n;
}

/* Addresses keep what is below the page. */
static void hide_addresses(Record *r)
{
    const MocxName *name = mocx_name_first(r->opcode);
    uint64_t value;

    for (; name; name = mocx_name_next(name)) {
        if (name->kind == MOCX_NAME_ADDR &&
            mocx_name_get(name, r->in, r->fixed, 0, &value) && value) {
            mocx_name_put(name, r->in, 0,
                          RECORD_ADDR_AT + (value & PAGE_OFFSET));
        }
    }
    if (r->opcode == MLX5_CMD_OP_CREATE_XRC_SRQ) {
        DEVX_SET(create_xrc_srq_in, r->in,
                 xrc_srq_context_entry.db_record_addr_h, RECORD_ADDR_AT >> 32);
    }
    if (r->opcode == MLX5_CMD_OP_CREATE_MKEY) {
        value = DEVX_GET64(create_mkey_in, r->in,
                           memory_key_mkey_entry.start_addr);
        if (value) {
            DEVX_SET64(create_mkey_in, r->in, memory_key_mkey_entry.start_addr,
                       USER_VA + (value & PAGE_OFFSET));
        }
    }
}

/* Only how many pages there were, and to what they are aligned. */
static void hide_pages(Record *r, uint32_t list)
{
    r->pages = (r->inlen - list) / 8;
    r->step = r->pages ? STEP_MAX : 0;
    for (uint32_t i = 0; i < r->pages; i++) {
        uint64_t addr = mocx_get_be64(whole + list + i * 8) & ~PAGE_OFFSET;
        unsigned align = addr ? __builtin_ctzll(addr) : STEP_MAX;

        r->step = align < r->step ? align : r->step;
    }
}

static void keep_numbers(Record *r)
{
    const MocxName *name = mocx_name_first(r->opcode);
    uint64_t value;

    r->num_numbers = 0;
    for (; name && !r->status; name = mocx_name_next(name)) {
        if (name->output && r->num_numbers < RECORD_NUMBERS_MAX &&
            mocx_name_get(name, out, r->outlen, 0, &value)) {
            r->numbers[r->num_numbers++] = value;
        }
    }
}

static void keep_output(Record *r)
{
    r->answered = !r->status &&
                  record_keep_output(r->opcode, whole, out, r->outlen)
                  ? r->outlen : 0;
    memcpy(r->out, out, r->answered);
}

int main(void)
{
    Record *r = &record;

    for (;;) {
        uint32_t list;

        r->inlen = get_hex(whole);
        r->outlen = get_hex(out);
        if (!r->inlen || !r->outlen) {
            return 0;
        }
        r->opcode = mocx_get_be16(whole);
        r->status = out[0];
        list = record_page_list(r->opcode, whole, r->inlen);
        r->fixed = list ? list : r->inlen;
        memcpy(r->in, whole, r->fixed);
        r->pages = r->step = 0;
        hide_addresses(r);
        if (list) {
            hide_pages(r, list);
        }
        keep_numbers(r);
        keep_output(r);
        record_write(stdout, r);
    }
}
