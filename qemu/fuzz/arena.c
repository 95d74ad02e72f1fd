/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arena.h"

#define ARENA_SIZE      (2ULL << 30)
#define BIG_SIZE        (64ULL << 20)
#define BIG             (64u << 10)     /* bytes, from which a piece is big */
#define BIG_POISON      (16u << 10)     /* of a big piece that was freed */
#define KEEP            (4u << 20)      /* more than this goes back */
#define POISON_STEP     (1u << 20)
#define EDGE            32              /* poisoned, on both sides of a piece */
#define ALIGN           16
#define SHADOW_SHIFT    3
#define SHADOW_OFF      0x7fff8000ULL   /* of ASan on x86-64 */
#define FILL            0xbe            /* of what malloc(3) leaves undefined */

enum { LIVE = 0x11fe, DEAD = 0xdead };

typedef struct Head {
    size_t size;
    uint32_t state;
    uint32_t core;
} Head;

/*
 * Two regions.  Big pieces are those buffers of frames that a device has from
 * its first to its last day; their bytes mean nothing between two inputs, and
 * are not copied.
 */
typedef struct Region {
    uint8_t *base;
    size_t size;
    size_t at;              /* bytes handed out */
    size_t poisoned;        /* what lies below is poisoned where not in use */
    size_t high;            /* most of @at since the last restore */
} Region;

struct ArenaCopy {
    size_t at, big_at;
    size_t core_bytes;
    uint8_t *bytes, *shadow, *big_shadow;
};

/* Pieces by size that may be used again, and were freed. */
#define REUSE_SIZES     4096

static Region small, big;
static void *reusable[REUSE_SIZES];
static bool reuse;
static bool big_open;
static size_t core_bytes, core_limit;
static int plain = -1;

bool arena_plain(void)
{
    if (plain < 0) {
        plain = getenv("FUZZ_PLAIN") != NULL;
    }
    return plain;
}

static void region_open(Region *r, size_t size)
{
    r->base = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    r->size = size;
    if (r->base == MAP_FAILED) {
        perror("arena");
        abort();
    }
}

static bool region_holds(const Region *r, const void *p)
{
    const uint8_t *b = p;

    return r->base && b >= r->base && b < r->base + r->size;
}

/* Poisoned memory and its shadow are no business of ASan's own memcpy(). */
static void copy_raw(void *dst, const void *src, size_t len)
{
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(len)
                     : : "memory");
}

static uint8_t *shadow_of(const void *p)
{
    return (uint8_t *)(((uintptr_t)p >> SHADOW_SHIFT) + SHADOW_OFF);
}

__attribute__((no_sanitize("address")))
static Head head_get(const void *p)
{
    return ((const Head *)p)[-1];
}

__attribute__((no_sanitize("address")))
static void head_put(void *p, size_t size, uint32_t state, bool core)
{
    Head *head = (Head *)p - 1;

    head->size = size;
    head->state = state;
    head->core = core;
}

static void *region_take(Region *r, size_t size)
{
    size_t start = r->at + EDGE;
    size_t end = start + (size + ALIGN - 1) / ALIGN * ALIGN;

    if (size > r->size || end + EDGE > r->size) {
        return NULL;
    }
    while (r->poisoned < end + EDGE) {
        ASAN_POISON_MEMORY_REGION(r->base + r->poisoned, POISON_STEP);
        r->poisoned += POISON_STEP;
    }
    r->at = end;
    r->high = r->at > r->high ? r->at : r->high;
    ASAN_UNPOISON_MEMORY_REGION(r->base + start, size);
    return r->base + start;
}

static size_t size_class(size_t size)
{
    return (size + ALIGN - 1) / ALIGN;
}

/* The list of those that were freed goes through themselves. */
__attribute__((no_sanitize("address")))
static void *reuse_pop(size_t size)
{
    size_t i = size_class(size);
    void *p = reuse && i < REUSE_SIZES ? reusable[i] : NULL;

    if (p) {
        reusable[i] = *(void **)p;
        ASAN_UNPOISON_MEMORY_REGION(p, size);
    }
    return p;
}

__attribute__((no_sanitize("address")))
static void reuse_push(void *p, size_t size)
{
    size_t i = size_class(size);

    if (reuse && size >= sizeof(p) && i < REUSE_SIZES) {
        *(void **)p = reusable[i];
        reusable[i] = p;
    }
}

void arena_reuse(bool on)
{
    reuse = on;
    memset(reusable, 0, sizeof(reusable));
}

static void *take(size_t size, bool core)
{
    Region *r = core && size >= BIG && big_open ? &big : &small;
    void *p;

    if (!small.base) {
        region_open(&small, ARENA_SIZE);
        region_open(&big, BIG_SIZE);
    }
    p = reuse_pop(size);
    p = p ? p : region_take(r, size ? size : 1);
    if (!p) {
        return NULL;
    }
    head_put(p, size, LIVE, core);
    core_bytes += core ? size : 0;
    if (core_limit && core_bytes > core_limit) {
        fprintf(stderr, "the model holds %zu bytes, %zu are the limit\n",
                core_bytes, core_limit);
        abort();
    }
    return p;
}

void *arena_malloc(size_t size, bool core)
{
    void *p = arena_plain() ? malloc(size) : take(size, core);

    return p && !arena_plain() && size < BIG ? memset(p, FILL, size) : p;
}

void *arena_calloc(size_t n, size_t size, bool core)
{
    void *p;

    if (arena_plain()) {
        return calloc(n, size);
    }
    if (size && n > ARENA_SIZE / size) {
        return NULL;
    }
    p = take(n * size, core);
    return p ? memset(p, 0, n * size) : NULL;
}

void arena_free(void *p)
{
    Head head;

    if (!region_holds(&small, p) && !region_holds(&big, p)) {
        free(p);
        return;
    }
    head = head_get(p);
    if (head.state != LIVE) {
        fprintf(stderr, "%s at %p\n",
                head.state == DEAD ? "freed twice" : "freed what is no piece",
                p);
        abort();
    }
    core_bytes -= head.core ? head.size : 0;
    head_put(p, head.size, DEAD, head.core);
    ASAN_POISON_MEMORY_REGION(p, region_holds(&big, p) &&
                              head.size > BIG_POISON ? BIG_POISON : head.size);
    if (region_holds(&small, p)) {
        reuse_push(p, head.size);
    }
}

void *arena_realloc(void *p, size_t size, bool core)
{
    size_t was;
    void *q;

    if (arena_plain()) {
        return realloc(p, size);
    }
    was = p ? head_get(p).size : 0;
    q = arena_malloc(size, core);
    if (q && p) {
        memcpy(q, p, was < size ? was : size);
        arena_free(p);
    }
    return q;
}

size_t arena_core_bytes(void)
{
    return core_bytes;
}

void arena_big(bool open)
{
    big_open = open;
}

void arena_limit(size_t bytes)
{
    core_limit = bytes;
}

/* A copy and its way back */

static uint8_t *shadow_copy(const Region *r)
{
    size_t len = (r->at >> SHADOW_SHIFT) + 1;
    uint8_t *copy = malloc(len);

    copy_raw(copy, shadow_of(r->base), len);
    return copy;
}

ArenaCopy *arena_copy(void)
{
    ArenaCopy *c = calloc(1, sizeof(*c));

    if (arena_plain()) {
        return c;
    }
    c->at = small.at;
    c->big_at = big.at;
    c->core_bytes = core_bytes;
    c->bytes = malloc(small.at);
    copy_raw(c->bytes, small.base, small.at);
    c->shadow = shadow_copy(&small);
    c->big_shadow = shadow_copy(&big);
    return c;
}

/* What lies behind the end is nobody's again. */
static void region_cut(Region *r, size_t at)
{
    if (r->high > at) {
        ASAN_POISON_MEMORY_REGION(r->base + at, r->high + EDGE - at);
    }
    if (r->high > at + KEEP) {
        size_t from = (at + KEEP) & ~4095ULL;

        madvise(r->base + from, r->high - from, MADV_DONTNEED);
    }
    r->at = r->high = at;
}

static void big_restore(const ArenaCopy *c)
{
    /* Only the first bytes of a piece were poisoned, if at all. */
    for (size_t at = EDGE; at < c->big_at;) {
        uint8_t *p = big.base + at;
        size_t size = head_get(p).size;

        head_put(p, size, LIVE, head_get(p).core);
        copy_raw(shadow_of(p), c->big_shadow + (at >> SHADOW_SHIFT),
                 BIG_POISON >> SHADOW_SHIFT);
        at += (size + ALIGN - 1) / ALIGN * ALIGN + EDGE;
    }
}

void arena_restore(const ArenaCopy *c)
{
    if (arena_plain()) {
        return;
    }
    memset(reusable, 0, sizeof(reusable));
    region_cut(&small, c->at);
    copy_raw(small.base, c->bytes, c->at);
    copy_raw(shadow_of(small.base), c->shadow, (c->at >> SHADOW_SHIFT) + 1);
    big_restore(c);
    core_bytes = c->core_bytes;
}
