/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device as a whole.  Private to the core. */
#ifndef MOCX_DEV_H
#define MOCX_DEV_H

#include "cmd.h"
#include "cq.h"
#include "eq.h"
#include "ifc.h"
#include "inject.h"
#include "mem.h"
#include "mocx.h"
#include "obj.h"
#include "port.h"
#include "queue.h"
#include "ring.h"
#include "sched.h"

typedef struct MocxCmdq MocxCmdq;       /* cmd.c */
typedef struct MocxPages MocxPages;     /* page.c */
typedef struct MocxCaps MocxCaps;       /* cap.c */
typedef struct MocxTx MocxTx;           /* port.c */
typedef struct MocxSteer MocxSteer;     /* steer.c */
typedef struct MocxRoce MocxRoce;       /* roce.c: what the transport keeps per device */

struct MocxDev {
    const MocxHostOps *ops;
    void *opaque;
    MocxConfig cfg;
    uint8_t state;                      /* one MOCX_ST_* bit */
    bool bus_master;

    MocxCmdq *cmdq;
    MocxPages *pages;
    MocxCaps *caps;
    MocxTx *tx;
    MocxSteer *steer;
    MocxRoce *roce;
    MocxPort port;
    MocxInject *inject;

    /* Number spaces.  MOCX_OBJ_QP, _SQ and _RQ share @queues. */
    MocxTable uars, pds, tds, xrcds, mkeys, eqs, cqs, queues, srqs;
    MocxTable tises, tirs, rqts, q_counters, flow_counters;
    uint32_t live[MOCX_OBJ_TYPES];      /* counted by obj.c for the status */

    /* Scheduler (sched.c) */
    MocxWork run_head, tx_wait_head;    /* list heads */
    MocxTimer **timers;
    uint32_t num_timers, cap_timers;
    bool kicked;

    /* Health (regs.c) */
    uint8_t health_syndrome;
    uint8_t nic_interface;
};

/* Life cycle of each module: in this order at create, in reverse at destroy. */
typedef struct MocxModule {
    const char *name;
    bool (*create)(MocxDev *dev);
    void (*reset)(MocxDev *dev);        /* drop every object; power-on state */
    void (*destroy)(MocxDev *dev);
} MocxModule;

/* Listed in dev.c; a module without a member leaves it NULL. */
extern const MocxModule mocx_mod_cmd, mocx_mod_page, mocx_mod_cap, mocx_mod_port;
extern const MocxModule mocx_mod_sched, mocx_mod_mkey, mocx_mod_eq, mocx_mod_cq;
extern const MocxModule mocx_mod_alloc, mocx_mod_inject;
extern const MocxModule mocx_mod_steer, mocx_mod_tir, mocx_mod_sq, mocx_mod_rq;
extern const MocxModule mocx_mod_qp, mocx_mod_srq, mocx_mod_roce;

void mocx_log(MocxDev *dev, MocxLog level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool mocx_dma_read(MocxDev *dev, uint64_t addr, void *buf,
                                 size_t len)
{
    return dev->bus_master && dev->ops->dma_read(dev->opaque, addr, buf, len);
}

static inline bool mocx_dma_write(MocxDev *dev, uint64_t addr,
                                  const void *buf, size_t len)
{
    return dev->bus_master && dev->ops->dma_write(dev->opaque, addr, buf, len);
}

#endif /* MOCX_DEV_H */
