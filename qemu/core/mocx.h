/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mocx: a model of a ConnectX-class NIC, as a library.
 *
 * This header is the whole contract between the model and whatever hosts it
 * (a QEMU device, a native test, a fuzzer).  The core knows no type of its
 * host; the host knows no type of the core but the ones below.
 *
 * Threading: every entry point runs under one lock owned by the host.  The
 * core never locks, never sleeps, and never re-enters itself: a host operation
 * must not call back into an entry point.
 */
#ifndef MOCX_H
#define MOCX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MocxDev MocxDev;

#define MOCX_MAC_LEN            6
#define MOCX_TIMER_OFF          UINT64_MAX
/* Largest Ethernet frame that leaves or enters, VLAN tag included, no FCS. */
#define MOCX_FRAME_MAX          10240

typedef enum MocxLog {
    MOCX_LOG_INFO,          /* life cycle, once per driver load */
    MOCX_LOG_GUEST_ERROR,   /* a driver broke a rule */
    MOCX_LOG_UNIMP,         /* a driver asked for what the model lacks */
    MOCX_LOG_BREACH,        /* verifier mode: a rule by name */
} MocxLog;

/**
 * struct MocxFrame - one Ethernet frame, without FCS
 * @data: first byte of the destination MAC
 * @len: bytes
 */
typedef struct MocxFrame {
    const uint8_t *data;
    size_t len;
} MocxFrame;

/**
 * struct MocxCommand - a command that was executed, as its driver sees it
 * @in: input message
 * @inlen: its bytes
 * @out: output message
 * @outlen: its bytes
 */
typedef struct MocxCommand {
    const uint8_t *in;
    size_t inlen;
    const uint8_t *out;
    size_t outlen;
} MocxCommand;

/**
 * struct MocxHostOps - all that the core asks of its host
 *
 * @dma_read: copy from guest memory to @buf; false if the address is not
 *     memory (the transfer may be partial)
 * @dma_write: the reverse
 * @map: a host pointer to guest memory at @addr; @len is in: wanted, out:
 *     contiguous bytes there (never more than wanted).  NULL if there is none.
 *     Valid until the running entry point returns; never unmapped by the core.
 * @publish: write @len bytes (a multiple of 4, @addr 4-byte aligned) so that
 *     the last dword becomes visible after all before it, and whole.  For CQE
 *     and EQE ownership and command status.
 * @cmpxchg64: atomically, on the 8-byte aligned guest word at @addr: load it,
 *     and if it equals @cmp store @swap.  Values are in guest memory order (no
 *     byte swap).  @old receives the word as loaded.
 * @send: hand over @n frames; returns how many went.  Fewer than @n means the
 *     wire is full: the host calls mocx_tx_resume() when there is room.
 * @raise_msix: one message on @vector.
 * @clock_ns: the guest's monotonic clock.
 * @timer_set: call mocx_timer() at @deadline_ns of that clock, once;
 *     MOCX_TIMER_OFF cancels.
 * @kick: the core has work and wants mocx_run() soon.
 * @log: one line, no newline.
 * @command: told of each command that was executed; NULL if nobody wants to
 *     know.
 */
typedef struct MocxHostOps {
    bool (*dma_read)(void *opaque, uint64_t addr, void *buf, size_t len);
    bool (*dma_write)(void *opaque, uint64_t addr, const void *buf, size_t len);
    void *(*map)(void *opaque, uint64_t addr, size_t *len, bool write);
    bool (*publish)(void *opaque, uint64_t addr, const void *buf, size_t len);
    bool (*cmpxchg64)(void *opaque, uint64_t addr, uint64_t cmp, uint64_t swap,
                      uint64_t *old);
    size_t (*send)(void *opaque, const MocxFrame *frames, size_t n);
    void (*raise_msix)(void *opaque, unsigned vector);
    uint64_t (*clock_ns)(void *opaque);
    void (*timer_set)(void *opaque, uint64_t deadline_ns);
    void (*kick)(void *opaque);
    void (*log)(void *opaque, MocxLog level, const char *line);
    void (*command)(void *opaque, const MocxCommand *cmd);
} MocxHostOps;

/**
 * struct MocxConfig - what is fixed when the device is made
 * @mac: permanent MAC of the port
 * @link_speed_mbps: 25000, 40000, 50000 or 100000
 * @num_vectors: MSI-X table size, the vector for asynchronous events included
 * @log_max_qp: log2 of the most QPs, SQs and RQs
 * @log_max_cq: log2 of the most CQs
 * @log_max_mkey: log2 of the most memory keys
 * @log_max_pd: log2 of the most PDs
 * @log_max_srq: log2 of the most SRQs
 * @log_max_qp_sz: log2 of the most WQEs of a queue
 * @log_max_cq_sz: log2 of the most CQEs of a CQ
 * @num_uars: 4 KiB pages of BAR0, the initialization segment included
 * @roce_addresses: entries of the GID table
 * @memory: MiB that the model may take from its host
 * @boot_pages: firmware pages of 4 KiB asked for at boot
 * @init_pages: and at init
 * @strict: verifier mode
 * @card: refuse what a card refuses, and offer what a card offers beyond what
 *     the model's drivers need; see properties.rst
 * @foreign_port: the function does not own its port: what would change the port
 *     for others is refused
 *
 * Zero in a limit means the default.  See cap.c for how each shows up in the
 * capabilities.
 */
typedef struct MocxConfig {
    uint8_t mac[MOCX_MAC_LEN];
    uint32_t link_speed_mbps;
    uint16_t num_vectors;
    uint8_t log_max_qp;
    uint8_t log_max_cq;
    uint8_t log_max_mkey;
    uint8_t log_max_pd;
    uint8_t log_max_srq;
    uint8_t log_max_qp_sz;
    uint8_t log_max_cq_sz;
    uint16_t num_uars;
    uint16_t roce_addresses;
    uint32_t memory;
    uint32_t boot_pages;
    uint32_t init_pages;
    bool strict;
    bool card;
    bool foreign_port;
} MocxConfig;

/**
 * mocx_config_default() - fill @cfg with the defaults of a ConnectX-5
 * @cfg: filled; what it held is lost
 */
void mocx_config_default(MocxConfig *cfg);

/**
 * mocx_create() - make a device in its power-on state
 * @cfg: copied
 * @ops: must outlive the device
 * @opaque: first argument of every operation
 * @err: on failure, a static sentence that says what is wrong with @cfg
 *
 * Return: the device, or NULL.
 */
MocxDev *mocx_create(const MocxConfig *cfg, const MocxHostOps *ops,
                     void *opaque, const char **err);

/** mocx_destroy() - free the device; no host operation is called any more */
void mocx_destroy(MocxDev *dev);

/** mocx_reset() - back to the power-on state (PCI reset, FLR, reboot) */
void mocx_reset(MocxDev *dev);

/** mocx_bar_size() - bytes of BAR0, a power of two */
uint64_t mocx_bar_size(const MocxDev *dev);

/**
 * mocx_mmio_read() - a read of BAR0
 * @dev: the device, powered on
 * @addr: byte offset in BAR0
 * @size: 1, 2, 4 or 8
 *
 * Return: the bytes as a little-endian integer, as a bus master sees them (the
 * device's registers are big-endian in memory).
 */
uint64_t mocx_mmio_read(MocxDev *dev, uint64_t addr, unsigned size);

/** mocx_mmio_write() - a write to BAR0; see mocx_mmio_read() for @value */
void mocx_mmio_write(MocxDev *dev, uint64_t addr, uint64_t value,
                     unsigned size);

/**
 * mocx_receive() - frames from the wire
 * @dev: the device
 * @frames: the frames, which may be gone when this returns
 * @n: how many there are
 *
 * Return: how many were taken.  Fewer than @n means the device is busy; it has
 * asked for mocx_run(), after which the host offers the rest again.
 */
size_t mocx_receive(MocxDev *dev, const MocxFrame *frames, size_t n);

/**
 * mocx_run() - do one slice of work
 * @dev: the device
 * @budget: packets and WQEs that may be handled before returning, or what
 *     takes as long
 *
 * Return: true if work is left.
 */
bool mocx_run(MocxDev *dev, unsigned budget);

/** mocx_timer() - the deadline given to timer_set() has come */
void mocx_timer(MocxDev *dev);

/** mocx_tx_resume() - the wire has room again */
void mocx_tx_resume(MocxDev *dev);

/** mocx_set_bus_master() - PCI bus mastering; without it all DMA fails */
void mocx_set_bus_master(MocxDev *dev, bool on);

/** mocx_set_link() - cable plugged or pulled */
void mocx_set_link(MocxDev *dev, bool up);

/**
 * mocx_status_json() - live objects, firmware pages, counters
 * @dev: the device
 *
 * Return: a malloc'ed JSON object; the caller frees it.
 */
char *mocx_status_json(MocxDev *dev);

/**
 * mocx_inject() - arm or clear fault injection
 * @dev: the device
 * @spec: one "key=value[,key=value…]" line; see inject_spec.c for the keys
 * @err: on failure, a static sentence
 *
 * Return: true if @spec was understood (nothing is changed otherwise).
 */
bool mocx_inject(MocxDev *dev, const char *spec, const char **err);

#endif /* MOCX_H */
