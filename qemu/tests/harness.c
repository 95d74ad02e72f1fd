/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include <ctype.h>
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

#define RUN_BUDGET      64
#define STEPS_MAX       2000000     /* a world that never comes to rest */
#define GUARD_LEN       64
#define GUARD_BYTE      0xfd

uint64_t rng_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

/* Guest memory */

static bool mem_holds(uint64_t addr, size_t len)
{
    return addr >= HOST_MEM_BASE && len <= HOST_MEM_SIZE &&
           addr - HOST_MEM_BASE <= HOST_MEM_SIZE - len;
}

static void touched(Host *h, uint64_t gpa, size_t len)
{
    if (h->watch) {
        h->watch->touched(h, gpa, len);
    }
}

void *gpa_ptr(Host *h, uint64_t gpa)
{
    CHECK(mem_holds(gpa, 1), "no guest memory at 0x%llx",
          (unsigned long long)gpa);
    touched(h, gpa, HOST_PAGE);
    return h->mem + (gpa - HOST_MEM_BASE);
}

/* Every piece is followed by guard bytes. */
struct HostGuard {
    HostGuard *next;
    uint64_t gpa;
};

uint64_t gpa_alloc(Host *h, size_t size, size_t align)
{
    HostGuard *guard = malloc(sizeof(*guard));
    uint64_t off;

    align = align < 64 ? 64 : align;
    off = (h->mem_used + align - 1) & ~(uint64_t)(align - 1);
    CHECK(off + size + GUARD_LEN <= HOST_MEM_SIZE, "guest memory is used up");
    h->mem_used = off + size + GUARD_LEN;
    touched(h, HOST_MEM_BASE + off + size, GUARD_LEN);
    memset(h->mem + off + size, GUARD_BYTE, GUARD_LEN);
    guard->gpa = HOST_MEM_BASE + off + size;
    guard->next = h->guards;
    h->guards = guard;
    return HOST_MEM_BASE + off;
}

static bool guard_intact(Host *h, uint64_t gpa)
{
    const uint8_t *p = gpa_ptr(h, gpa);

    for (unsigned i = 0; i < GUARD_LEN; i++) {
        if (p[i] != GUARD_BYTE) {
            return false;
        }
    }
    return true;
}

static void host_check_guards(Host *h)
{
    uint64_t broken = 0;
    HostGuard *g, *next;

    for (g = h->guards; g; g = next) {
        next = g->next;
        if (!h->wild && !guard_intact(h, g->gpa)) {
            broken = g->gpa;
        }
        free(g);
    }
    h->guards = NULL;
    CHECK(!broken, "written past the end of a buffer, at 0x%llx",
          (unsigned long long)broken);
}

/* Host operations */

static void ops_called(Host *h)
{
    CHECK(h->busy, "host operation outside of an entry point");
    h->ops++;
}

static bool op_dma_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
    Host *h = opaque;

    ops_called(h);
    if (!mem_holds(addr, len)) {
        return false;
    }
    memcpy(buf, h->mem + (addr - HOST_MEM_BASE), len);
    h->reads++;
    return true;
}

static bool op_dma_write(void *opaque, uint64_t addr, const void *buf,
                         size_t len)
{
    Host *h = opaque;

    ops_called(h);
    if (!mem_holds(addr, len)) {
        return false;
    }
    touched(h, addr, len);
    memcpy(h->mem + (addr - HOST_MEM_BASE), buf, len);
    return true;
}

/* Cut at every page, as memory of a real guest may be. */
static void *op_map(void *opaque, uint64_t addr, size_t *len, bool write)
{
    Host *h = opaque;
    size_t room = HOST_PAGE - addr % HOST_PAGE;

    ops_called(h);
    if (!mem_holds(addr, 1)) {
        return NULL;
    }
    if (write) {
        touched(h, addr, room);
    }
    if (h->wild) {
        h->view = h->mem;       /* for speed */
    } else if (!h->view) {
        h->view = mmap(NULL, HOST_MEM_SIZE, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_NORESERVE, h->memfd, 0);
        CHECK(h->view != MAP_FAILED, "cannot map guest memory");
    }
    *len = *len < room ? *len : room;
    return h->view + (addr - HOST_MEM_BASE);
}

static bool op_publish(void *opaque, uint64_t addr, const void *buf, size_t len)
{
    CHECK(len && len % 4 == 0 && addr % 4 == 0,
          "publish of %zu bytes at 0x%llx", len, (unsigned long long)addr);
    return op_dma_write(opaque, addr, buf, len);
}

static bool op_cmpxchg64(void *opaque, uint64_t addr, uint64_t cmp,
                         uint64_t swap, uint64_t *old)
{
    CHECK(addr % 8 == 0, "atomic on 0x%llx", (unsigned long long)addr);
    if (!op_dma_read(opaque, addr, old, sizeof(*old))) {
        return false;
    }
    return *old != cmp || op_dma_write(opaque, addr, &swap, sizeof(swap));
}

static size_t op_send(void *opaque, const MocxFrame *frames, size_t n)
{
    Host *h = opaque;
    size_t i;

    ops_called(h);
    for (i = 0; i < n; i++) {
        CHECK(frames[i].len >= 60 && frames[i].len <= MOCX_FRAME_MAX,
              "a frame of %zu bytes was sent", frames[i].len);
        if (!wire_send(h->world->wire, h->index, h->world->now, frames[i].data,
                       frames[i].len)) {
            h->tx_stalled = true;
            break;
        }
    }
    return i;
}

static void op_raise_msix(void *opaque, unsigned vector)
{
    Host *h = opaque;

    ops_called(h);
    CHECK(vector < h->cfg.num_vectors, "MSI-X vector %u of %u", vector,
          h->cfg.num_vectors);
    h->irqs[vector]++;
}

static uint64_t op_clock_ns(void *opaque)
{
    Host *h = opaque;

    return h->world->now;
}

static void op_timer_set(void *opaque, uint64_t deadline_ns)
{
    Host *h = opaque;

    h->deadline = deadline_ns;
}

static void op_kick(void *opaque)
{
    Host *h = opaque;

    h->kicked = true;
}

static void op_log(void *opaque, MocxLog level, const char *line)
{
    static const char *const names[] = { "info", "guest", "unimp", "breach" };
    Host *h = opaque;

    h->logs[level]++;
    if (level != MOCX_LOG_INFO) {
        snprintf(h->last_log, sizeof(h->last_log), "%s", line);
    }
    if (level == MOCX_LOG_BREACH) {
        snprintf(h->last_breach, sizeof(h->last_breach), "%s", line);
    }
    if (getenv("MOCX_LOG")) {
        fprintf(stderr, "[%llu host%u %s] %s\n",
                (unsigned long long)h->world->now, h->index, names[level],
                line);
    }
}

static const MocxHostOps host_ops = {
    .dma_read = op_dma_read,
    .dma_write = op_dma_write,
    .map = op_map,
    .publish = op_publish,
    .cmpxchg64 = op_cmpxchg64,
    .send = op_send,
    .raise_msix = op_raise_msix,
    .clock_ns = op_clock_ns,
    .timer_set = op_timer_set,
    .kick = op_kick,
    .log = op_log,
};

/* Entry points */

/* Of the sanitizer's allocator, if that is the one there is. */
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

static int64_t heap_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes ?
           (int64_t)__sanitizer_get_current_allocated_bytes() : 0;
}

int64_t host_heap(Host *h)
{
    return __sanitizer_get_current_allocated_bytes ? h->heap : -1;
}

void host_enter(Host *h)
{
    CHECK(!h->busy, "the core was entered twice");
    h->busy = true;
    h->ops = 0;
    h->heap_before = heap_bytes();
    if (h->watch) {
        h->watch->entered(h);
    }
}

void host_leave(Host *h)
{
    h->heap += heap_bytes() - h->heap_before;
    h->busy = false;
    if (h->view && h->view != h->mem) {
        munmap(h->view, HOST_MEM_SIZE);
    }
    h->view = NULL;
    if (h->watch) {
        h->watch->left(h);
    }
}

uint32_t host_read32(Host *h, uint64_t addr)
{
    uint32_t v;

    host_enter(h);
    v = mocx_mmio_read(h->dev, addr, 4);
    host_leave(h);
    return be32toh(htole32(v));
}

void host_write32(Host *h, uint64_t addr, uint32_t value)
{
    host_enter(h);
    mocx_mmio_write(h->dev, addr, le32toh(htobe32(value)), 4);
    host_leave(h);
}

void host_write64(Host *h, uint64_t addr, uint64_t value)
{
    host_enter(h);
    mocx_mmio_write(h->dev, addr, le64toh(htobe64(value)), 8);
    host_leave(h);
}

void host_inject(Host *h, const char *spec)
{
    const char *err = "no reason given";
    bool ok;

    host_enter(h);
    ok = mocx_inject(h->dev, spec, &err);
    host_leave(h);
    CHECK(ok, "inject \"%s\": %s", spec, err);
}

/* Just enough JSON for what the model writes: find a name in this object. */
static const char *json_member(const char *p, const char *name, size_t len)
{
    int depth = 0;

    for (; *p; p++) {
        if (*p == '{') {
            depth++;
        } else if (*p == '}') {
            if (--depth == 0) {
                return NULL;
            }
        } else if (*p == '"') {
            if (depth == 1 && !strncmp(p + 1, name, len) &&
                p[1 + len] == '"' && p[2 + len] == ':') {
                p += 3 + len;
                return p + strspn(p, " ");
            }
            p = strchr(p + 1, '"');
        }
    }
    return NULL;
}

int64_t host_status(Host *h, const char *path)
{
    const char *p, *name = path;
    int64_t value;
    char *json;

    host_enter(h);
    json = mocx_status_json(h->dev);
    host_leave(h);
    for (p = json; p && *name; ) {
        size_t len = strcspn(name, ".");

        p = json_member(p, name, len);
        name += len + (name[len] == '.');
    }
    value = p ? atoll(p) : 0;
    CHECK(p && (isdigit((unsigned char)*p) || *p == '-'),
          "no number %s in the status: %s", path, json);
    free(json);
    return value;
}

int64_t host_breaches(Host *h, const char *rule)
{
    char path[64];

    snprintf(path, sizeof(path), "breaches.%s", rule);
    return host_status(h, path);
}

/* The world */

/* MOCX_STRICT=1: every model is in verifier mode. */
static bool strict_wanted(void)
{
    const char *env = getenv("MOCX_STRICT");

    return env && *env == '1';
}

static Host *host_new(World *w, unsigned index, const MocxConfig *cfg)
{
    Host *h = calloc(1, sizeof(*h));
    const char *err = "no reason given";

    h->world = w;
    h->index = index;
    h->deadline = MOCX_TIMER_OFF;
    h->memfd = memfd_create("guest", MFD_CLOEXEC);
    CHECK(h->memfd >= 0 && !ftruncate(h->memfd, HOST_MEM_SIZE),
          "no memory for a guest");
    h->mem = mmap(NULL, HOST_MEM_SIZE, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE, h->memfd, 0);
    CHECK(h->mem != MAP_FAILED, "cannot map guest memory");

    if (cfg) {
        h->cfg = *cfg;
    } else {
        mocx_config_default(&h->cfg);
    }
    h->cfg.strict |= strict_wanted();
    memcpy(h->cfg.mac, (uint8_t[]){ 0x02, 0, 0, 0xc5, 0, index + 1 },
           MOCX_MAC_LEN);
    host_enter(h);
    h->dev = mocx_create(&h->cfg, &host_ops, h, &err);
    CHECK(h->dev, "mocx_create: %s", err);
    mocx_set_bus_master(h->dev, true);
    mocx_set_link(h->dev, true);
    host_leave(h);
    return h;
}

static void host_free(Host *h)
{
    char last[sizeof(h->last_breach)];
    bool clean = h->breaks || h->wild || !host_breaches(h, "total");

    host_enter(h);
    mocx_destroy(h->dev);
    host_leave(h);
    munmap(h->mem, HOST_MEM_SIZE);
    close(h->memfd);
    memcpy(last, h->last_breach, sizeof(last));
    free(h);
    CHECK(clean, "the driver broke a rule of the verifier: %s", last);
}

World *world_new(unsigned n, const MocxConfig *cfg)
{
    World *w = calloc(1, sizeof(*w));

    w->now = NSEC_PER_SEC;
    w->num_hosts = n;
    w->wire = wire_new(1);
    for (unsigned i = 0; i < n; i++) {
        w->host[i] = host_new(w, i, cfg);
    }
    return w;
}

void world_free(World *w)
{
    for (unsigned i = 0; i < w->num_hosts; i++) {
        host_check_guards(w->host[i]);
        host_free(w->host[i]);
    }
    wire_free(w->wire);
    free(w);
}

static bool host_step_run(Host *h)
{
    bool more;

    if (!h->kicked) {
        return false;
    }
    h->kicked = false;
    host_enter(h);
    more = mocx_run(h->dev, RUN_BUDGET);
    host_leave(h);
    h->kicked |= more;
    h->rx_stalled = false;
    return true;
}

static bool host_step_rx(Host *h)
{
    World *w = h->world;
    MocxFrame frame;
    size_t taken;

    if (h->rx_stalled) {
        return false;
    }
    frame.data = wire_peek(w->wire, h->index, w->now, &frame.len);
    if (!frame.data) {
        return false;
    }
    host_enter(h);
    taken = mocx_receive(h->dev, &frame, 1);
    host_leave(h);
    if (taken) {
        wire_pop(w->wire, h->index);
    } else {
        h->rx_stalled = true;
    }
    return true;
}

static bool host_step_tx(Host *h)
{
    if (!h->tx_stalled || !wire_has_room(h->world->wire, h->index)) {
        return false;
    }
    h->tx_stalled = false;
    host_enter(h);
    mocx_tx_resume(h->dev);
    host_leave(h);
    return true;
}

static bool host_step_timer(Host *h)
{
    if (h->deadline > h->world->now) {
        return false;
    }
    h->deadline = MOCX_TIMER_OFF;
    h->rx_stalled = false;
    host_enter(h);
    mocx_timer(h->dev);
    host_leave(h);
    return true;
}

/* Everything that can happen without the clock moving. */
static void world_now(World *w)
{
    unsigned steps = 0;
    bool again = true;

    while (again) {
        again = false;
        for (unsigned i = 0; i < w->num_hosts; i++) {
            Host *h = w->host[i];

            again |= host_step_timer(h);
            again |= host_step_run(h);
            again |= host_step_rx(h);
            again |= host_step_tx(h);
        }
        CHECK(++steps < STEPS_MAX, "the model never comes to rest");
    }
}

static uint64_t world_next_timer(const World *w)
{
    uint64_t at = MOCX_TIMER_OFF;

    for (unsigned i = 0; i < w->num_hosts; i++) {
        at = w->host[i]->deadline < at ? w->host[i]->deadline : at;
    }
    return at;
}

/* A lone host's frames go nowhere. */
static void world_drain_unplugged(World *w)
{
    size_t len;

    if (w->num_hosts == 1) {
        while (wire_peek(w->wire, 1, w->now, &len)) {
            wire_pop(w->wire, 1);
        }
    }
}

static void world_advance(World *w, uint64_t to)
{
    w->now = to > w->now ? to : w->now;
    world_drain_unplugged(w);
    world_now(w);
}

void world_settle(World *w)
{
    uint64_t frame, timer;

    world_now(w);
    while ((frame = wire_next(w->wire)) != UINT64_MAX) {
        timer = world_next_timer(w);
        world_advance(w, timer < frame ? timer : frame);
    }
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

bool world_until(World *w, bool (*cond)(void *arg), void *arg,
                 uint64_t limit_ns)
{
    uint64_t end = w->now + limit_ns;
    uint64_t frame, next;

    world_now(w);
    while (!cond(arg)) {
        frame = wire_next(w->wire);
        next = world_next_timer(w);
        next = frame < next ? frame : next;
        if (next > end) {
            world_advance(w, end);
            return cond(arg);
        }
        world_advance(w, next);
    }
    return true;
}

void world_run(World *w, uint64_t ns)
{
    world_until(w, never, NULL, ns);
}

__attribute__((weak))
_Noreturn void harness_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "%s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}
