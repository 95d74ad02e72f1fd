/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status report: what is alive, what the firmware holds, what was counted.
 *
 * One JSON object.  A name, once there, keeps its meaning; numbers are plain
 * integers.  Documentation/mocx/status.rst lists them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dev.h"
#include "heap.h"
#include "page.h"

typedef struct Counter {
    const char *name;
    size_t off;
} Counter;

#define PORT_COUNTER(field) { #field, offsetof(MocxPortCounters, field) }

static const Counter port_counters[] = {
    PORT_COUNTER(rx_ucast_packets), PORT_COUNTER(rx_ucast_bytes),
    PORT_COUNTER(rx_mcast_packets), PORT_COUNTER(rx_mcast_bytes),
    PORT_COUNTER(rx_bcast_packets), PORT_COUNTER(rx_bcast_bytes),
    PORT_COUNTER(rx_dropped),
    PORT_COUNTER(tx_ucast_packets), PORT_COUNTER(tx_ucast_bytes),
    PORT_COUNTER(tx_mcast_packets), PORT_COUNTER(tx_mcast_bytes),
    PORT_COUNTER(tx_bcast_packets), PORT_COUNTER(tx_bcast_bytes),
    PORT_COUNTER(rx_roce_packets), PORT_COUNTER(rx_roce_bytes),
    PORT_COUNTER(tx_roce_packets), PORT_COUNTER(tx_roce_bytes),
    PORT_COUNTER(rx_icrc_errors), PORT_COUNTER(rx_roce_malformed),
    PORT_COUNTER(rx_roce_no_qp),
    PORT_COUNTER(rx_pkey_violations), PORT_COUNTER(rx_qkey_violations),
    PORT_COUNTER(rx_not_in_l2_table),
};

static void put_u64(FILE *f, const char *sep, const char *name, uint64_t value)
{
    fprintf(f, "%s\"%s\": %llu", sep, name, (unsigned long long)value);
}

static void put_bool(FILE *f, const char *sep, const char *name, bool value)
{
    fprintf(f, "%s\"%s\": %s", sep, name, value ? "true" : "false");
}

static const char *state_name(const MocxDev *dev)
{
    return dev->state == MOCX_ST_INITIALIZED ? "initialized" :
           dev->state == MOCX_ST_ENABLED ? "enabled" : "power-on";
}

static void put_device(FILE *f, const MocxDev *dev)
{
    fprintf(f, "\"state\": \"%s\"", state_name(dev));
    put_bool(f, ", ", "bus_master", dev->bus_master);
    put_bool(f, ", ", "strict", dev->cfg.strict);
    put_bool(f, ", ", "card", dev->cfg.card);
    put_bool(f, ", ", "port_owner", !dev->cfg.foreign_port);
    put_u64(f, ", ", "health", dev->health_syndrome);
}

static void put_objects(FILE *f, const MocxDev *dev)
{
    uint64_t total = 0;

    fputs("\"objects\": {", f);
    for (int i = 0; i < MOCX_OBJ_TYPES; i++) {
        put_u64(f, i ? ", " : "", mocx_obj_type_name(i), dev->live[i]);
        total += dev->live[i];
    }
    put_u64(f, ", ", "total", total);
    put_u64(f, ", ", "translation_bytes", dev->mkey_octwords * 16);
    fputc('}', f);
}

static void put_pages(FILE *f, const MocxDev *dev)
{
    fputs("\"pages\": {", f);
    put_u64(f, "", "held", mocx_pages_held(dev));
    put_u64(f, ", ", "boot", dev->cfg.boot_pages);
    put_u64(f, ", ", "init", dev->cfg.init_pages);
    fputc('}', f);
}

static void put_commands(FILE *f, const MocxDev *dev)
{
    fputs("\"commands\": {", f);
    put_u64(f, "", "executed", dev->cmds_executed);
    put_u64(f, ", ", "failed", dev->cmds_failed);
    put_u64(f, ", ", "undelivered", dev->cmds_undelivered);
    fputc('}', f);
}

static void put_port(FILE *f, const MocxDev *dev)
{
    const MocxPort *p = &dev->port;
    uint32_t gids = 0;

    for (uint32_t i = 0; i < p->num_gids; i++) {
        gids += p->gids[i].valid;
    }
    fputs("\"port\": {", f);
    fprintf(f, "\"mac\": \"%02x:%02x:%02x:%02x:%02x:%02x\"", p->mac[0],
            p->mac[1], p->mac[2], p->mac[3], p->mac[4], p->mac[5]);
    put_bool(f, ", ", "up", mocx_port_up(p));
    put_bool(f, ", ", "cable", p->cable && !p->pulled);
    put_bool(f, ", ", "admin_up", p->admin_up);
    put_bool(f, ", ", "roce", p->roce_en);
    put_u64(f, ", ", "mtu", p->admin_mtu);
    put_u64(f, ", ", "gids", gids);
    for (size_t i = 0; i < sizeof(port_counters) / sizeof(Counter); i++) {
        const char *base = (const char *)&p->counters;

        put_u64(f, ", ", port_counters[i].name,
                *(const uint64_t *)(base + port_counters[i].off));
    }
    fputc('}', f);
}

static void put_inject(FILE *f, const MocxDev *dev)
{
    static const char *const dirs[MOCX_INJECT_DIRS] = { "tx", "rx" };
    const MocxInjectStats *s = mocx_inject_stats(dev->inject);

    fputs("\"inject\": {", f);
    put_u64(f, "", "cmd_failed", s->cmd_failed);
    put_u64(f, ", ", "cmd_delayed", s->cmd_delayed);
    put_u64(f, ", ", "cmd_dropped", s->cmd_dropped);
    for (int i = 0; i < MOCX_INJECT_DIRS; i++) {
        fprintf(f, ", \"%s\": {", dirs[i]);
        put_u64(f, "", "dropped", s->wire[i].dropped);
        put_u64(f, ", ", "duplicated", s->wire[i].duplicated);
        put_u64(f, ", ", "reordered", s->wire[i].reordered);
        put_u64(f, ", ", "corrupted", s->wire[i].corrupted);
        fputc('}', f);
    }
    fputc('}', f);
}

static void put_log(FILE *f, const MocxDev *dev)
{
    fputs("\"log\": {", f);
    put_u64(f, "", "guest_errors", dev->log_lines[MOCX_LOG_GUEST_ERROR]);
    put_u64(f, ", ", "unimplemented", dev->log_lines[MOCX_LOG_UNIMP]);
    put_u64(f, ", ", "breaches", dev->log_lines[MOCX_LOG_BREACH]);
    fputc('}', f);
}

static void put_breaches(FILE *f, const MocxDev *dev)
{
    uint64_t total = 0;

    fputs("\"breaches\": {", f);
    for (int i = 0; i < MOCX_RULES; i++) {
        uint64_t n = mocx_breach_count(dev, i);

        put_u64(f, i ? ", " : "", mocx_rule_name(i), n);
        total += n;
    }
    put_u64(f, ", ", "total", total);
    fputc('}', f);
}

char *mocx_status_json(MocxDev *dev)
{
    char *json = NULL;
    size_t len;
    FILE *f = open_memstream(&json, &len);

    if (!f) {
        return NULL;
    }
    fputc('{', f);
    put_device(f, dev);
    fputs(", ", f);
    put_objects(f, dev);
    fputs(", ", f);
    put_pages(f, dev);
    put_u64(f, ", ", "heap", dev->heap.used);
    put_u64(f, ", ", "heap_limit", dev->heap.limit);
    put_u64(f, ", ", "heap_refused", dev->heap.refused);
    fputs(", ", f);
    put_commands(f, dev);
    fputs(", ", f);
    put_port(f, dev);
    fputs(", ", f);
    put_inject(f, dev);
    fputs(", ", f);
    put_log(f, dev);
    fputs(", ", f);
    put_breaches(f, dev);
    fputc('}', f);
    return fclose(f) ? NULL : json;
}
