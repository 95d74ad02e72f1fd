/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device as a whole.  Private to the core. */
#ifndef MOCX_DEV_H
#define MOCX_DEV_H

#include "alloc.h"
#include "cap.h"
#include "cmd.h"
#include "cq.h"
#include "eq.h"
#include "heap.h"
#include "ifc.h"
#include "inject.h"
#include "limits.h"
#include "mem.h"
#include "mocx.h"
#include "obj.h"
#include "port.h"
#include "queue.h"
#include "ring.h"
#include "sched.h"
#include "verify.h"

typedef struct MocxCmdq MocxCmdq;       /* cmd.c */
typedef struct MocxPages MocxPages;     /* page.c */
typedef struct MocxCaps MocxCaps;       /* cap.c */
typedef struct MocxTx MocxTx;           /* port.c */
typedef struct MocxSteer MocxSteer;     /* steer.c */
typedef struct MocxRoce MocxRoce;       /* roce.c */

#define MOCX_LOG_RECENT     64

/**
 * struct MocxLogLimit - what keeps a guest from flooding the host's log
 * @hash: hashes of the lines shown last
 * @shown_ns: when each of them was
 * @spent: lines shown of those that may be shown at once
 * @refill_ns: until when @spent was made good
 * @left_out: lines since the last that was shown
 */
typedef struct MocxLogLimit {
    uint64_t hash[MOCX_LOG_RECENT];
    uint64_t shown_ns[MOCX_LOG_RECENT];
    uint32_t spent;
    uint64_t refill_ns;
    uint64_t left_out;
} MocxLogLimit;

struct MocxDev {
    const MocxHostOps *ops;
    void *opaque;
    MocxConfig cfg;
    MocxHeap heap;                      /* all but this structure */
    uint8_t state;                      /* one MOCX_ST_* bit */
    uint8_t issi;
    bool bus_master;
    bool made;                          /* every module is there */

    MocxCmdq *cmdq;
    MocxPages *pages;
    MocxCaps *caps;
    MocxTx *tx;
    MocxSteer *steer;
    MocxRoce *roce;
    MocxPort port;
    MocxInject *inject;
    MocxVerify *verify;                 /* NULL unless strict */

    /* Number spaces.  MOCX_OBJ_QP, _SQ and _RQ share @queues. */
    MocxTable uars, pds, tds, xrcds, mkeys, eqs, cqs, queues, srqs;
    MocxTable tises, tirs, rqts, q_counters, flow_counters;
    uint32_t live[MOCX_OBJ_TYPES];      /* counted by obj.c for the status */

    /* Scheduler (sched.c) */
    MocxWork run_head, tx_wait_head;    /* list heads */
    MocxTimer **timers;
    uint32_t num_timers, cap_timers;
    uint64_t timer_programmed;          /* what the host was last told */
    bool kicked;
    uint64_t steps;                     /* charged since it was made */
    unsigned *turn;                     /* what pays for them: units used */
    unsigned rx_used;                   /* units, while no work item runs */
    MocxWork rx_work;                   /* frames wait for it */

    MocxQCounter no_counter;            /* written, never read (alloc.c) */
    uint64_t mkey_octwords;             /* room for translations (mkey.c) */

    /* For the status report */
    uint64_t log_lines[MOCX_LOG_BREACH + 1];
    MocxLogLimit log_limit;
    uint64_t cmds_executed, cmds_failed, cmds_undelivered;

    /* Health (regs.c) */
    uint8_t health_syndrome;
    bool health_rfr;                    /* fatal: the driver has to recover */
    uint8_t nic_interface;
};

/* The firmware that we claim to be. */
#define MOCX_FW_MAJOR       16
#define MOCX_FW_MINOR       35
#define MOCX_FW_SUBMINOR    1012

/* Life cycle of each module: in this order at create, in reverse at destroy. */
typedef struct MocxModule {
    const char *name;
    bool (*create)(MocxDev *dev);
    void (*reset)(MocxDev *dev);        /* drop every object; power-on state */
    void (*destroy)(MocxDev *dev);
} MocxModule;

/* Listed in dev.c; a module without a member leaves it NULL. */
extern const MocxModule mocx_mod_cmd, mocx_mod_page, mocx_mod_cap;
extern const MocxModule mocx_mod_port, mocx_mod_tx;
extern const MocxModule mocx_mod_sched, mocx_mod_mkey, mocx_mod_eq, mocx_mod_cq;
extern const MocxModule mocx_mod_alloc, mocx_mod_inject;
extern const MocxModule mocx_mod_steer, mocx_mod_tir, mocx_mod_sq, mocx_mod_rq;
extern const MocxModule mocx_mod_verify;
extern const MocxModule mocx_mod_qp, mocx_mod_srq, mocx_mod_roce;

/**
 * mocx_leave() - the end of every entry point but mocx_run()
 * @dev: the device
 *
 * What was gathered while it ran goes to the host: frames, the next deadline,
 * a wish to run.
 */
void mocx_leave(MocxDev *dev);

/** mocx_tx_flush() - for mocx_leave(): hand the batch to the host */
void mocx_tx_flush(MocxDev *dev);
/**
 * mocx_port_changed() - after PAOS or the cable: tell the driver if it shows
 * @dev: the device
 * @was_up: its state before the change
 */
void mocx_port_changed(MocxDev *dev, bool was_up);

/** mocx_vport_reset() - what a driver set in the NIC vport is forgotten */
void mocx_vport_reset(MocxDev *dev);

/** mocx_objects_reset() - TEARDOWN_HCA: drop every object, log what was left */
void mocx_objects_reset(MocxDev *dev);

/** mocx_speed_supported() - is this a speed that PTYS can show? (reg.c) */
bool mocx_speed_supported(uint32_t mbps);

/** mocx_ticks() - the internal timer: MOCX_TIMER_KHZ, free running */
uint64_t mocx_ticks(MocxDev *dev);
#define MOCX_TIMER_KHZ  156250
/**
 * mocx_real_time() - the clock of MOCX_TS_REAL_TIME
 * @dev: the device
 *
 * It counts from when the guest's clock does, since nobody can set it.
 *
 * Return: seconds in the upper half, nanoseconds in the lower.
 */
uint64_t mocx_real_time(MocxDev *dev);

/**
 * mocx_uar_foreign() - did a doorbell come by another page than its object's?
 * @dev: the device
 * @uar: the page that was written to
 * @own: the page that the object named when it was made, or NULL
 * @what: kind of object, for the log
 * @id: its number
 *
 * That is what keeps processes apart: one can write to the pages that are
 * mapped to it, and a card ignores what comes by another page than the object's
 * without a word (mlx5_ib's devx.c).
 */
bool mocx_uar_foreign(MocxDev *dev, const MocxObj *uar, const MocxObj *own,
                      const char *what, uint32_t id);

void mocx_log(MocxDev *dev, MocxLog level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * mocx_dma_on() - may the device reach guest memory?
 * @dev: the device
 *
 * Dead firmware reaches none: the driver frees its rings without a word to it.
 */
static inline bool mocx_dma_on(const MocxDev *dev)
{
    return dev->bus_master && !dev->health_rfr;
}

static inline bool mocx_dma_read(MocxDev *dev, uint64_t addr, void *buf,
                                 size_t len)
{
    bool ok = mocx_dma_on(dev) &&
              dev->ops->dma_read(dev->opaque, addr, buf, len);

    if (!ok && dev->verify) {
        mocx_verify_no_dma(dev, addr, len, "read");
    }
    return ok;
}

static inline bool mocx_dma_write(MocxDev *dev, uint64_t addr,
                                  const void *buf, size_t len)
{
    bool ok = mocx_dma_on(dev) &&
              dev->ops->dma_write(dev->opaque, addr, buf, len);

    if (!ok && dev->verify) {
        mocx_verify_no_dma(dev, addr, len, "written");
    }
    return ok;
}

#endif /* MOCX_DEV_H */
