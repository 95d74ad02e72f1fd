/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mocx: a recording of the commands that a driver sends.
 *
 * One line for each: input and output in hexadecimal.  It is raw: it holds
 * guest addresses, and is for qemu/tests to make something of.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "state.h"

static void put_hex(FILE *f, const uint8_t *p, size_t len)
{
    while (len--) {
        fprintf(f, "%02x", *p++);
    }
}

void mocx_hw_record(void *opaque, const MocxCommand *cmd)
{
    MocxState *s = opaque;

    if (!s->record) {
        return;
    }
    put_hex(s->record, cmd->in, cmd->inlen);
    fputc(' ', s->record);
    put_hex(s->record, cmd->out, cmd->outlen);
    fputc('\n', s->record);
    /* Whoever reads it does so while the guest lives. */
    fflush(s->record);
}

void mocx_hw_record_to(MocxState *s, const char *path, Error **errp)
{
    FILE *f = NULL;

    if (*path) {
        f = fopen(path, "w");
        if (!f) {
            error_setg_errno(errp, errno, "record: cannot write %s", path);
            return;
        }
    }
    if (s->record) {
        fclose(s->record);
    }
    s->record = f;
    g_free(s->record_path);
    s->record_path = g_strdup(path);
}
