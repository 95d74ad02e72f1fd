/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a send doorbell can name: a QP or an Ethernet SQ.  Both share one
 * number space, because both ring the same register by number alone.
 */
#ifndef MOCX_QUEUE_H
#define MOCX_QUEUE_H

#include "obj.h"

typedef struct MocxDev MocxDev;
typedef struct MocxQueue MocxQueue;

struct MocxQueue {
    MocxObj obj;            /* MOCX_OBJ_QP, MOCX_OBJ_SQ or MOCX_OBJ_RQ */
    MocxObj *uar;           /* where it is rung; NULL: nowhere */
    /**
     * @doorbell: the 64-bit doorbell came; its first dword holds the opcode and
     * index of the last WQE (@value[63:32]; [31:8] is the queue's number).  The
     * producer index itself is in the doorbell record.  Only queues the work;
     * NULL for an RQ.
     */
    void (*doorbell)(MocxDev *dev, MocxQueue *q, uint64_t value);
};

#endif /* MOCX_QUEUE_H */
