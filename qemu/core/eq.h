/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event queues: EQEs, arming, and the interrupt that follows. */
#ifndef MOCX_EQ_H
#define MOCX_EQ_H

#include "obj.h"
#include "ring.h"

typedef struct MocxDev MocxDev;

typedef struct MocxEq {
    MocxObj obj;
    MocxRing ring;
    uint8_t log_size;
    uint16_t vector;        /* MSI-X */
    uint32_t pi;            /* producer, never masked */
    uint32_t ci;            /* consumer as last told by the driver, 24 bit */
    bool armed;
    bool overrun;           /* full, and said so */
    MocxObj *uar;
    uint64_t mask[4];       /* event types wanted */
} MocxEq;

/* Event types (mlx5/device.h: enum mlx5_event). */
enum {
    MOCX_EV_COMP = 0x00, MOCX_EV_COMM_EST = 0x02, MOCX_EV_SQ_DRAINED = 0x03,
    MOCX_EV_CQ_ERROR = 0x04, MOCX_EV_QP_FATAL = 0x05, MOCX_EV_PORT = 0x09,
    MOCX_EV_CMD = 0x0a, MOCX_EV_PAGE_REQ = 0x0b, MOCX_EV_QP_REQ_ERR = 0x10,
    MOCX_EV_QP_ACCESS_ERR = 0x11, MOCX_EV_SRQ_ERROR = 0x12,
    MOCX_EV_SRQ_LAST_WQE = 0x13, MOCX_EV_SRQ_LIMIT = 0x14,
};

/** mocx_eq_find() - by number, or NULL */
MocxEq *mocx_eq_find(MocxDev *dev, uint32_t eqn);
/** mocx_eq_comp() - a completion event for @cqn on @eq */
void mocx_eq_comp(MocxDev *dev, MocxEq *eq, uint32_t cqn);
/**
 * mocx_event() - an asynchronous event, to the EQ that wants its type
 * @dev: the device
 * @type: MOCX_EV_*
 * @sub_type: as in the EQE
 * @data: 28 bytes that go to EQE offset 0x20, or NULL
 */
void mocx_event(MocxDev *dev, uint8_t type, uint8_t sub_type,
                const uint8_t *data);
/** mocx_event_wanted() - is there an EQ for events of this type? */
bool mocx_event_wanted(MocxDev *dev, uint8_t type);
/**
 * mocx_event_queue() - the same about a QP, RQ, SQ (@kind 0, 1, 2) or SRQ
 * @dev: the device
 * @type: MOCX_EV_*
 * @kind: 0: QP or SRQ, 1: RQ, 2: SQ
 * @num: number of the queue
 */
void mocx_event_queue(MocxDev *dev, uint8_t type, uint8_t kind, uint32_t num);
/** mocx_eq_doorbell() - offset 0x40 (@arm) or 0x48 of page @uar */
void mocx_eq_doorbell(MocxDev *dev, const MocxObj *uar, uint32_t value,
                      bool arm);

#endif /* MOCX_EQ_H */
