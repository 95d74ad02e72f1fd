// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines for the host's log.
 *
 * A guest decides how often it errs, so what it can cause is limited twice: a
 * line that was just shown is not repeated, and lines of any kind are shown
 * only as fast as somebody could read them.  All are counted.
 */
#include <stdarg.h>
#include <stdio.h>

#include "dev.h"

#define REPEAT_NS       10000000000ull  /* between two that are alike */
#define BURST           256             /* lines at once, */
#define REFILL_NS       50000000ull     /* and one more each so often */

/* FNV-1a */
static uint64_t line_hash(MocxLog level, const char *line)
{
    uint64_t h = 0xcbf29ce484222325ull ^ level;

    for (; *line; line++) {
        h = (h ^ (uint8_t)*line) * 0x100000001b3ull;
    }
    return h;
}

/* Was the same line shown a moment ago?  If not, it is now. */
static bool line_repeated(MocxLogLimit *limit, uint64_t hash, uint64_t now)
{
    unsigned slot = hash % MOCX_LOG_RECENT;
    bool same = limit->hash[slot] == hash &&
                now - limit->shown_ns[slot] < REPEAT_NS;

    if (!same) {
        limit->hash[slot] = hash;
        limit->shown_ns[slot] = now;
    }
    return same;
}

static bool line_affordable(MocxLogLimit *limit, uint64_t now)
{
    uint64_t refill = (now - limit->refill_ns) / REFILL_NS;

    if (refill) {
        limit->spent -= refill < limit->spent ? refill : limit->spent;
        limit->refill_ns += refill * REFILL_NS;
    }
    if (limit->spent == BURST) {
        return false;
    }
    limit->spent++;
    return true;
}

static void show(MocxDev *dev, MocxLog level, const char *line)
{
    MocxLogLimit *limit = &dev->log_limit;
    uint64_t now = mocx_now(dev);
    char left_out[64];

    if (line_repeated(limit, line_hash(level, line), now) ||
        !line_affordable(limit, now)) {
        limit->left_out++;
        return;
    }
    if (limit->left_out) {
        snprintf(left_out, sizeof(left_out), "(%llu lines left out)",
                 (unsigned long long)limit->left_out);
        limit->left_out = 0;
        dev->ops->log(dev->opaque, MOCX_LOG_GUEST_ERROR, left_out);
    }
    dev->ops->log(dev->opaque, level, line);
}

__attribute__((format(printf, 4, 0)))
static void vlog(MocxDev *dev, MocxLog level, const char *prefix,
                 const char *fmt, va_list ap)
{
    char line[256];
    int n = snprintf(line, sizeof(line), "%s", prefix);

    vsnprintf(line + n, sizeof(line) - n, fmt, ap);
    dev->log_lines[level]++;
    show(dev, level, line);
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

MocxStatus mocx_unknown(MocxDev *dev, MocxCmd *cmd, MocxStatus status,
                        uint32_t syndrome, const char *what, uint32_t number)
{
    cmd->syndrome = syndrome;
    mocx_log(dev, MOCX_LOG_UNIMP,
             "command 0x%x op_mod 0x%x: unknown %s 0x%x: status 0x%x, "
             "syndrome 0x%x", cmd->opcode, cmd->op_mod, what, number, status,
             syndrome);
    return status;
}
