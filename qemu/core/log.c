// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines for the host's log. */
#include <stdarg.h>
#include <stdio.h>

#include "dev.h"

__attribute__((format(printf, 4, 0)))
static void vlog(MocxDev *dev, MocxLog level, const char *prefix,
                 const char *fmt, va_list ap)
{
    char line[256];
    int n = snprintf(line, sizeof(line), "%s", prefix);

    vsnprintf(line + n, sizeof(line) - n, fmt, ap);
    dev->log_lines[level]++;
    dev->ops->log(dev->opaque, level, line);
}

void mocx_log(MocxDev *dev, MocxLog level, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vlog(dev, level, "", fmt, ap);
    va_end(ap);
}

MocxStatus mocx_bad(MocxDev *dev, MocxCmd *cmd, MocxStatus status,
                    uint32_t syndrome, const char *fmt, ...)
{
    char prefix[64];
    va_list ap;

    cmd->syndrome = syndrome;
    snprintf(prefix, sizeof(prefix), "command 0x%x op_mod 0x%x: ",
             cmd->opcode, cmd->op_mod);
    va_start(ap, fmt);
    vlog(dev, MOCX_LOG_GUEST_ERROR, prefix, fmt, ap);
    va_end(ap);
    return status;
}
