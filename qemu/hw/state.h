/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mocx: state of the QEMU device around the model, shared by the files here.
 *
 * Everything below is protected by the BQL.  The core asks that no entry point
 * is entered while another runs, which the BQL alone does not give (a frame
 * handed to the net layer may come back within the call, an interrupt's message
 * may go to our own BAR): mocx_hw_enter() and mocx_hw_leave() bracket every
 * call into the core.
 */
#ifndef HW_MOCX_STATE_H
#define HW_MOCX_STATE_H

#include "hw/pci/pci_device.h"
#include "net/net.h"
#include "qom/object.h"
#include "qemu/timer.h"
#include "../core/mocx.h"

#define TYPE_MOCX "mocx"
OBJECT_DECLARE_SIMPLE_TYPE(MocxState, MOCX)

/* Packets and WQEs handled before vCPUs and other devices get the BQL. */
#define MOCX_RUN_BUDGET         128
/* The same for work done at once, by a doorbell or a frame that causes it. */
#define MOCX_INLINE_BUDGET      32

/* Slots that find an existing mapping of a page without a search. */
#define MOCX_MAP_SLOTS          64

/**
 * struct MocxMap - guest memory mapped for the running entry point
 * @addr: bus address of the first byte
 * @len: bytes
 * @host: where they are
 * @write: mapped for writing (and reading)
 */
typedef struct MocxMap {
    dma_addr_t addr;
    dma_addr_t len;
    uint8_t *host;
    bool write;
} MocxMap;

/* What the core is to be told, or to do, as soon as it can be (run.c) */
enum {
    MOCX_DUE_RESET = 1 << 0,    /* a reset of the function or the machine */
    MOCX_DUE_MASTER = 1 << 1,   /* bus mastering has changed */
    MOCX_DUE_LINK = 1 << 2,     /* the cable has changed */
    MOCX_DUE_TIMER = 1 << 3,    /* its deadline has come */
    MOCX_DUE_TX = 1 << 4,       /* the net layer has sent what it held */
    MOCX_DUE_RX = 1 << 5,       /* the net layer holds frames for us */
    MOCX_DUE_RUN = 1 << 6,      /* it has work */
};

struct MocxState {
    PCIDevice parent_obj;

    MemoryRegion bar0;
    MocxDev *core;
    MocxConfig cfg;
    char *model;
    char *inject;           /* given before realize, armed at realize */
    char *record_path;
    FILE *record;           /* commands go here, or NULL */

    bool busy;              /* inside the core */
    bool gone;              /* unplugged, and not yet cleared away */
    unsigned due;           /* MOCX_DUE_* */
    QEMUBH *bh;
    VMChangeStateEntry *vm_changed;

    QEMUTimer *timer;
    uint64_t deadline;      /* what the core wants */
    uint64_t armed;         /* what the timer is set to, never later */

    NICState *nic;
    NICConf nic_conf;
    bool tx_full;           /* the net layer holds a frame of ours */

    GArray *maps;           /* of MocxMap, dropped by mocx_hw_leave() */
    unsigned map_slot[2][MOCX_MAP_SLOTS]; /* [write]: index in maps + 1 */
};

/*
 * When the core runs (run.c)
 */

/** mocx_hw_run_init() - make bottom half, timer, what else starts the core */
void mocx_hw_run_init(MocxState *s);

/** mocx_hw_run_exit() - free them */
void mocx_hw_run_exit(MocxState *s);

/**
 * mocx_hw_enter() - begin a call into the core
 * @s: the QEMU device
 *
 * Return: false if the core runs already, or is no more; then it must not be
 * called.
 */
bool mocx_hw_enter(MocxState *s);

/** mocx_hw_leave() - end it: make good what is due, drop mappings */
void mocx_hw_leave(MocxState *s);

/**
 * mocx_hw_due() - tell the core of something, now or as soon as it can be told
 * @s: the QEMU device
 * @what: MOCX_DUE_*
 */
void mocx_hw_due(MocxState *s, unsigned what);

/** mocx_hw_slice() - let the core do work it has, between enter and leave */
void mocx_hw_slice(MocxState *s, unsigned budget);

/**
 * mocx_hw_quiet() - is what the core still does to have no effect?
 * @s: the QEMU device
 *
 * Return: true from an unplug or a reset that came while the core ran until the
 * core has left.
 */
static inline bool mocx_hw_quiet(const MocxState *s)
{
    return s->gone || s->due & MOCX_DUE_RESET;
}

/** mocx_hw_dma_init() - prepare the table of mappings */
void mocx_hw_dma_init(MocxState *s);

/** mocx_hw_dma_done() - drop all mappings, marking what was written dirty */
void mocx_hw_dma_done(MocxState *s);

/** mocx_hw_dma_exit() - free the table */
void mocx_hw_dma_exit(MocxState *s);

/** mocx_hw_wire_init() - make the net client; the core must exist */
void mocx_hw_wire_init(MocxState *s);

/** mocx_hw_wire_exit() - delete the net client */
void mocx_hw_wire_exit(MocxState *s);

/** mocx_hw_wire_poll() - offer held frames again; outside of the core */
void mocx_hw_wire_poll(MocxState *s);

/** mocx_hw_wire_link() - tell the core of its cable; inside of it */
void mocx_hw_wire_link(MocxState *s);

/* The host operations, by file; mocx.h has their contract. */
bool mocx_hw_dma_read(void *opaque, uint64_t addr, void *buf, size_t len);
bool mocx_hw_dma_write(void *opaque, uint64_t addr, const void *buf,
                       size_t len);
void *mocx_hw_dma_map(void *opaque, uint64_t addr, size_t *len, bool write);
bool mocx_hw_dma_publish(void *opaque, uint64_t addr, const void *buf,
                         size_t len);
bool mocx_hw_dma_cmpxchg64(void *opaque, uint64_t addr, uint64_t cmp,
                           uint64_t swap, uint64_t *old);
size_t mocx_hw_wire_send(void *opaque, const MocxFrame *frames, size_t n);
void mocx_hw_timer_set(void *opaque, uint64_t deadline);
void mocx_hw_kick(void *opaque);

/*
 * Recording of commands (record.c)
 */

/**
 * mocx_hw_record_to() - begin a new recording, or end the one there is
 * @s: the device
 * @path: file to write, or an empty string
 * @errp: set if it cannot be opened
 */
void mocx_hw_record_to(MocxState *s, const char *path, Error **errp);

/** mocx_hw_record() - host operation: a command was executed */
void mocx_hw_record(void *opaque, const MocxCommand *cmd);

#endif /* HW_MOCX_STATE_H */
