/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device, the mirror, and the oracles. */
#include <stdio.h>
#include <time.h>

#include "arena.h"
#include "bed.h"
#include "core/dev.h"
#include "core/names.h"
#include "core/page.h"
#include "core/steer.h"
#include "core/wire.h"
#include "snap.h"

#define MIRROR_MAX      400         /* frames of an input */
#define HEAP_MAX        (160u << 20)
#define OPS_MAX         400000      /* host operations of an entry point */
#define SLICE_NS        (4 * NSEC_PER_SEC)  /* of the wall, under ASan */
#define REST_NS         (30 * NSEC_PER_MSEC)

/* Time of an entry point; the clock is coarse because it is cheap. */

static uint64_t entered_ns;

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static void watch_entered(Host *h)
{
    (void)h;
    entered_ns = clock_ns();
}

static void watch_left(Host *h)
{
    CHECK(h->ops <= OPS_MAX, "an entry point asked the host %llu times",
          (unsigned long long)h->ops);
    CHECK(clock_ns() - entered_ns <= SLICE_NS,
          "an entry point took more than %llu ms", SLICE_NS / NSEC_PER_MSEC);
}

static const HostWatch watch = {
    .entered = watch_entered,
    .left = watch_left,
    .touched = snap_touched,
};

/* The mirror */

static void swap(uint8_t *a, uint8_t *b, size_t len)
{
    while (len--) {
        uint8_t was = *a;

        *a++ = *b;
        *b++ = was;
    }
}

static void reflect(uint8_t *frame, size_t len)
{
    size_t at = 12;
    uint16_t type;

    swap(frame, frame + 6, 6);
    while (at + 6 < len && mocx_get_be16(frame + at) == MOCX_ETHERTYPE_VLAN) {
        at += 4;
    }
    type = mocx_get_be16(frame + at);
    if (type == MOCX_ETHERTYPE_IPV4 && len >= at + 2 + 20) {
        swap(frame + at + 2 + 12, frame + at + 2 + 16, 4);
    } else if (type != MOCX_ETHERTYPE_IPV4 && len >= at + 2 + 40) {
        swap(frame + at + 2 + 8, frame + at + 2 + 24, 16);
    }
    frame_fix(frame, len);
}

static WireFate spoil(Bed *bed, uint8_t *frame, size_t len)
{
    Bytes b = bed->spoil;
    uint8_t fate = bytes_u8(&b);

    bed->spoil_frames--;
    bytes_spoil(&b, frame + 12, len - 12);
    bytes_spoil(&b, frame + 12, len - 12);
    if (!(fate & 0x80)) {
        frame_fix(frame, len);
    }
    return fate % 8 == 1 ? WIRE_DROP : fate % 8 == 2 ? WIRE_TWICE : WIRE_PASS;
}

static WireFate mirror(void *arg, unsigned from, uint8_t *data, size_t len)
{
    Bed *bed = arg;
    WireFate fate = WIRE_PASS;
    uint8_t copy[MOCX_FRAME_MAX];

    if (from || ++bed->mirrored > MIRROR_MAX) {
        return WIRE_DROP;
    }
    memcpy(copy, data, len);
    reflect(copy, len);
    if (bed->spoil_frames) {
        fate = spoil(bed, copy, len);
    }
    for (int n = fate == WIRE_DROP ? 0 : fate == WIRE_TWICE ? 2 : 1; n; n--) {
        wire_inject_frame(bed->w->wire, 0, bed->w->now, copy, len);
    }
    return WIRE_DROP;
}

void bed_in(Bed *bed, const uint8_t *frame, size_t len)
{
    wire_inject_frame(bed->w->wire, 0, bed->w->now, frame, len);
}

/* Life */

MocxConfig bed_config(void)
{
    MocxConfig cfg;

    mocx_config_default(&cfg);
    cfg.boot_pages = cfg.init_pages = 2;
    cfg.log_max_qp = 6;
    cfg.log_max_cq = 5;
    cfg.log_max_mkey = 6;
    cfg.log_max_pd = 3;
    cfg.log_max_srq = 4;
    cfg.num_uars = 16;
    cfg.roce_addresses = 8;
    cfg.num_vectors = 8;
    cfg.strict = true;
    return cfg;
}

Bed *bed_new(void)
{
    Bed *bed = calloc(1, sizeof(*bed));
    MocxConfig cfg = bed_config();

    bed->others = arena_core_bytes();
    arena_big(true);
    bed->w = world_new(1, &cfg);
    arena_big(false);
    arena_limit(HEAP_MAX);
    bed->h = bed->w->host[0];
    bed->h->watch = &watch;
    bed->h->wild = true;
    bed->far.index = 1;
    bed->far.world = bed->w;
    memcpy(bed->far.cfg.mac, bed->h->cfg.mac, MOCX_MAC_LEN);
    bed->far.cfg.mac[MOCX_MAC_LEN - 1] = 2;
    bed->far_drv.h = &bed->far;
    bed->d = drv_new(bed->h);
    wire_filter(bed->w->wire, mirror, bed);
    return bed;
}

/* Invariants */

static void check_objects(MocxDev *dev)
{
    uint32_t objects = 0, live = 0;

    for (unsigned type = 0; type < MOCX_OBJ_TYPES; type++) {
        bool counted = type == MOCX_OBJ_FLOW_ENTRY || type == MOCX_OBJ_SQ ||
                       type == MOCX_OBJ_RQ;
        const MocxTable *t = counted ? NULL : mocx_table_of(dev, type);

        live += type == MOCX_OBJ_FLOW_ENTRY ? 0 : dev->live[type];
        for (uint32_t i = 0; t && i < t->cap; i++) {
            const MocxObj *obj = t->slots[i];

            objects += obj != NULL;
            CHECK(!obj || obj->id == t->first + i, "object %u at place %u",
                  obj->id, i);
        }
    }
    CHECK(objects == live, "%u objects, %u are counted", objects, live);
}

static void check_gone(MocxDev *dev)
{
    for (unsigned type = 0; type < MOCX_OBJ_TYPES; type++) {
        CHECK(!dev->live[type], "%u %s outlive a reset", dev->live[type],
              mocx_obj_type_name(type));
    }
    CHECK(!mocx_pages_held(dev), "pages outlive a reset");
    CHECK(!dev->mkey_octwords, "translations outlive a reset");
}

void bed_end(Bed *bed)
{
    Host *h = bed->h;

    world_run(bed->w, REST_NS);
    check_objects(h->dev);
    host_enter(h);
    mocx_reset(h->dev);
    host_leave(h);
    check_gone(h->dev);
    host_enter(h);
    mocx_destroy(h->dev);
    host_leave(h);
    CHECK(arena_core_bytes() == bed->others, "%zd bytes outlive the device",
          arena_core_bytes() - bed->others);
}
