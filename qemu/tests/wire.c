/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define WIRE_ROOM       64
#define WIRE_DELAY      (1 * NSEC_PER_USEC)
#define WIRE_BITS_NS    100     /* bits per ns: 100 Gb/s */

typedef struct WireFrame {
    struct WireFrame *next;
    uint64_t at;
    size_t len;
    uint8_t data[];
} WireFrame;

typedef struct WireDir {
    WireFrame *head, **tail;
    WireFrame *held;        /* waits for the frame that overtakes it */
    unsigned under_way;
    uint64_t busy_until;
    WireFaults faults;
    WireCount count;
} WireDir;

struct Wire {
    WireDir dir[2];         /* by the end that frames leave */
    uint64_t rng;
    unsigned room;
    bool loop;
    WireFilter *filter;
    void *filter_arg;
    FILE *pcap;
};

Wire *wire_new(uint64_t seed)
{
    Wire *wire = calloc(1, sizeof(*wire));

    wire->rng = seed;
    wire->room = WIRE_ROOM;
    for (unsigned i = 0; i < 2; i++) {
        wire->dir[i].tail = &wire->dir[i].head;
    }
    return wire;
}

void wire_free(Wire *wire)
{
    for (unsigned i = 0; i < 2; i++) {
        WireFrame *f, *next;

        for (f = wire->dir[i].head; f; f = next) {
            next = f->next;
            free(f);
        }
        free(wire->dir[i].held);
    }
    if (wire->pcap) {
        fclose(wire->pcap);
    }
    free(wire);
}

void wire_faults(Wire *wire, unsigned from, const WireFaults *faults)
{
    static const WireFaults none;

    wire->dir[from].faults = faults ? *faults : none;
}

void wire_filter(Wire *wire, WireFilter *filter, void *arg)
{
    wire->filter = filter;
    wire->filter_arg = arg;
}

void wire_set_room(Wire *wire, unsigned frames)
{
    wire->room = frames;
}

void wire_loop(Wire *wire, bool on)
{
    wire->loop = on;
}

const WireCount *wire_count(const Wire *wire, unsigned from)
{
    return &wire->dir[from].count;
}

bool wire_has_room(const Wire *wire, unsigned from)
{
    return wire->dir[from].under_way < wire->room;
}

static WireDir *wire_towards(const Wire *wire, unsigned to)
{
    return (WireDir *)&wire->dir[wire->loop ? to : !to];
}

static WireFrame *frame_new(const uint8_t *data, size_t len)
{
    WireFrame *f = malloc(sizeof(*f) + len);

    f->next = NULL;
    f->len = len;
    memcpy(f->data, data, len);
    return f;
}

static void dir_append(WireDir *dir, WireFrame *f, uint64_t now)
{
    uint64_t start = dir->busy_until > now ? dir->busy_until : now;

    dir->busy_until = start + f->len * 8 / WIRE_BITS_NS;
    f->at = dir->busy_until + WIRE_DELAY;
    *dir->tail = f;
    dir->tail = &f->next;
    dir->under_way++;
}

static bool strikes(Wire *wire, unsigned per_mille)
{
    return per_mille && rng_next(&wire->rng) % 1000 < per_mille;
}

static void flip_bit(Wire *wire, WireFrame *f)
{
    uint64_t bit;

    if (f->len > 12) {
        bit = rng_next(&wire->rng) % ((f->len - 12) * 8);
        f->data[12 + bit / 8] ^= 1 << bit % 8;
    }
}

static void pcap_put(FILE *file, uint64_t now, const uint8_t *data, size_t len)
{
    uint32_t head[4] = { now / NSEC_PER_SEC,
                         now % NSEC_PER_SEC / NSEC_PER_USEC, len, len };

    fwrite(head, sizeof(head), 1, file);
    fwrite(data, len, 1, file);
}

bool wire_capture(Wire *wire, const char *path)
{
    static const uint32_t head[6] = { 0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1 };

    wire->pcap = fopen(path, "wb");
    return wire->pcap && fwrite(head, sizeof(head), 1, wire->pcap) == 1;
}

/* The frame has survived; what is held back follows it. */
static void dir_pass(Wire *wire, WireDir *dir, WireFrame *f, uint64_t now)
{
    WireFrame *held = dir->held;

    if (!held && strikes(wire, dir->faults.reorder)) {
        dir->held = f;
        dir->under_way++;
        return;
    }
    if (strikes(wire, dir->faults.corrupt)) {
        flip_bit(wire, f);
    }
    dir_append(dir, f, now);
    if (strikes(wire, dir->faults.duplicate)) {
        dir_append(dir, frame_new(f->data, f->len), now);
    }
    if (held) {
        dir->held = NULL;
        dir->under_way--;
        dir_append(dir, held, now);
    }
}

bool wire_send(Wire *wire, unsigned from, uint64_t now, const uint8_t *data,
               size_t len)
{
    WireDir *dir = &wire->dir[from];
    WireFate fate = WIRE_PASS;
    WireFrame *f;

    if (!wire_has_room(wire, from)) {
        return false;
    }
    f = frame_new(data, len);
    dir->count.sent++;
    dir->count.bytes += len;
    if (wire->pcap) {
        pcap_put(wire->pcap, now, data, len);
    }
    if (wire->filter) {
        fate = wire->filter(wire->filter_arg, from, f->data, len);
    }
    if (fate == WIRE_DROP || strikes(wire, dir->faults.loss)) {
        dir->count.lost++;
        free(f);
        return true;
    }
    if (fate == WIRE_TWICE) {
        dir_append(dir, frame_new(f->data, len), now);
    }
    dir_pass(wire, dir, f, now);
    return true;
}

void wire_inject_frame(Wire *wire, unsigned to, uint64_t now,
                       const uint8_t *data, size_t len)
{
    dir_append(wire_towards(wire, to), frame_new(data, len), now);
}

uint64_t wire_next(const Wire *wire)
{
    uint64_t at = UINT64_MAX;

    for (unsigned i = 0; i < 2; i++) {
        if (wire->dir[i].head && wire->dir[i].head->at < at) {
            at = wire->dir[i].head->at;
        }
    }
    return at;
}

const uint8_t *wire_peek(const Wire *wire, unsigned to, uint64_t now,
                         size_t *len)
{
    const WireFrame *f = wire_towards(wire, to)->head;

    if (!f || f->at > now) {
        return NULL;
    }
    *len = f->len;
    return f->data;
}

void wire_pop(Wire *wire, unsigned to)
{
    WireDir *dir = wire_towards(wire, to);
    WireFrame *f = dir->head;

    dir->head = f->next;
    if (!dir->head) {
        dir->tail = &dir->head;
    }
    dir->under_way--;
    dir->count.delivered++;
    free(f);
}
