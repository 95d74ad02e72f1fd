/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host for the model that is no emulator: guest memory, a clock that only
 * moves when told to, interrupt counters, and a wire to a second model.
 *
 * A World holds one or two Hosts and the Wire between them.  Nothing happens
 * by itself: a test calls world_settle(), world_run() or world_until().
 */
#ifndef MOCX_TESTS_HARNESS_H
#define MOCX_TESTS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mocx.h"
#include "wire.h"

#define NSEC_PER_USEC   1000ULL
#define NSEC_PER_MSEC   1000000ULL
#define NSEC_PER_SEC    1000000000ULL

/* Guest memory is one range that starts high, so that address 0 is a hole. */
#define HOST_MEM_BASE   0x100000000ULL
#define HOST_MEM_SIZE   (512ULL << 20)
#define HOST_PAGE       4096U
#define HOST_VECTORS    256
#define HOST_LOG_LEVELS 4

typedef struct World World;
typedef struct Host Host;
typedef struct HostGuard HostGuard;

/**
 * struct HostWatch - who wants to know what happens to a host
 * @entered: an entry point is called
 * @left: and has returned; @h->ops says how often it asked the host
 * @touched: guest memory was written, or may be from now on
 */
typedef struct HostWatch {
    void (*entered)(Host *h);
    void (*left)(Host *h);
    void (*touched)(Host *h, uint64_t gpa, size_t len);
} HostWatch;

/**
 * struct Host - one machine with one model in it
 * @world: the world it is in
 * @index: its end of the wire
 * @dev: the model
 * @cfg: what the model was made from
 * @memfd: behind @mem and @view
 * @mem: guest memory, for the test; gpa_ptr() finds a place in it
 * @view: the same memory as lent to the running entry point; it vanishes when
 *     that returns, so that a pointer kept too long is a crash
 * @mem_used: bytes handed out by gpa_alloc()
 * @guards: bytes that nobody may write
 * @watch: told of what happens, or NULL
 * @ops: host operations of the running entry point
 * @wild: the driver gives nonsense addresses: no guards
 * @breaks: the driver breaks rules of the verifier
 * @busy: inside an entry point
 * @kicked: the model has work
 * @rx_stalled: the model has refused a frame
 * @tx_stalled: the wire has refused a frame
 * @deadline: of the model's timer, in ns
 * @heap: bytes that the model has allocated; see host_heap()
 * @heap_before: of the process, when the model was entered
 * @reads: how often it has read guest memory by copy
 * @irqs: MSI-X messages by vector
 * @logs: lines logged, by MocxLog
 * @last_log: the newest line that was not MOCX_LOG_INFO
 * @last_breach: the newest of verifier mode
 */
struct Host {
    World *world;
    unsigned index;
    MocxDev *dev;
    MocxConfig cfg;

    int memfd;
    uint8_t *mem;
    uint8_t *view;
    uint64_t mem_used;
    HostGuard *guards;
    const HostWatch *watch;
    uint64_t ops;
    bool wild;
    bool breaks;

    bool busy;
    bool kicked;
    bool rx_stalled;
    bool tx_stalled;
    uint64_t deadline;

    int64_t heap;           /* bytes that the model has allocated */
    int64_t heap_before;    /* of the process, when it was entered */

    uint64_t reads;
    uint64_t irqs[HOST_VECTORS];
    unsigned logs[HOST_LOG_LEVELS];
    char last_log[256];
    char last_breach[256];
};

struct World {
    uint64_t now;           /* ns */
    unsigned num_hosts;
    Host *host[2];
    Wire *wire;
};

/**
 * world_new() - @n hosts (1 or 2), each with a model made from @cfg
 * @n: hosts, 1 or 2
 * @cfg: NULL for the defaults; the last byte of the MAC is 1 for the first
 *     host and 2 for the second
 */
World *world_new(unsigned n, const MocxConfig *cfg);
void world_free(World *w);

/**
 * world_settle() - until nothing is left to do at this instant and no frame
 * is on the wire; timers that lie ahead are left alone.  The clock moves only
 * by what the frames take.
 * @w: the world
 */
void world_settle(World *w);

/** world_run() - everything that happens in the next @ns, timers included */
void world_run(World *w, uint64_t ns);

/**
 * world_until() - until @cond(@arg) holds, at most @limit_ns
 * @w: the world
 * @cond: asked after each thing that happens
 * @arg: its argument
 * @limit_ns: how long to wait
 *
 * Return: whether it does.
 */
bool world_until(World *w, bool (*cond)(void *arg), void *arg,
                 uint64_t limit_ns);

/**
 * gpa_alloc() - zeroed guest memory that no one else has
 * @h: the host
 * @size: bytes
 * @align: a power of two, at least 64 is used
 *
 * Return: its bus address.
 */
uint64_t gpa_alloc(Host *h, size_t size, size_t align);

/** gpa_ptr() - the host pointer to guest memory at @gpa */
void *gpa_ptr(Host *h, uint64_t gpa);

/* Registers, in host byte order (the device's are big-endian). */
uint32_t host_read32(Host *h, uint64_t addr);
void host_write32(Host *h, uint64_t addr, uint32_t value);
void host_write64(Host *h, uint64_t addr, uint64_t value);

/**
 * host_breaches() - how often a rule was broken so far
 * @h: whose model is in verifier mode
 * @rule: its name, or "total"
 */
int64_t host_breaches(Host *h, const char *rule);

/** host_inject() - mocx_inject() that fails the test if refused */
void host_inject(Host *h, const char *spec);

/**
 * host_status() - one number of the status report
 * @h: the host
 * @path: names joined by dots, "objects.qp"; every name must exist
 */
int64_t host_status(Host *h, const char *path);

/**
 * host_heap() - bytes of heap that the model holds
 * @h: the host
 *
 * What it has allocated and not freed in its entry points.  Frames on the wire
 * are counted too: the world should be at rest.
 *
 * Return: -1 where the allocator does not tell (it is that of ASan).
 */
int64_t host_heap(Host *h);

/* Bracket direct calls of entry points that have no wrapper here. */
void host_enter(Host *h);
void host_leave(Host *h);

/** rng_next() - 64 pseudo-random bits (splitmix64); same seed, same bits */
uint64_t rng_next(uint64_t *state);

/**
 * harness_fail() - a helper found what must not be
 * @file: of the caller
 * @line: of the caller
 * @fmt: as for printf
 *
 * Ends the running test (suite.c), or the process where there is none.
 */
_Noreturn void harness_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define CHECK(cond, ...)                                                \
    do {                                                                \
        if (!(cond)) {                                                  \
            harness_fail(__FILE__, __LINE__, __VA_ARGS__);              \
        }                                                               \
    } while (0)

#endif /* MOCX_TESTS_HARNESS_H */
