/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Send queues of the Ethernet side. */
#ifndef MOCX_SQ_H
#define MOCX_SQ_H

#include "dev.h"
#include "eth_wqe.h"
#include "tir.h"
#include "wq.h"

/**
 * struct MocxSq - a send queue
 * @queue: number, type and owner of its CQEs
 * @work: runs while there is something to send
 * @wq: ring and doorbell record
 * @cq: where completions go
 * @tis: its TIS; NULL for the driver's internal queues
 * @state: MOCX_WQ_*
 * @rlky: may use the reserved lkey
 * @flush_in_error: what is posted completes in error, rather than not at all
 * @busy: @wqe is being sent; a large send takes many turns
 * @user_index: for the CQE
 * @ci: first basic block that is not done
 * @pi: as last read from the doorbell record
 * @ctx: context as the driver wrote it
 * @wqe: the WQE being sent
 */
typedef struct MocxSq {
    MocxQueue queue;
    MocxWork work;
    MocxWq wq;
    MocxCq *cq;
    MocxTis *tis;
    uint8_t state;              /* MOCX_WQ_* */
    bool rlky;
    bool flush_in_error;
    bool busy;
    uint32_t user_index;
    uint16_t ci;
    uint16_t pi;
    uint8_t ctx[DEVX_ST_SZ_BYTES(sqc)];
    MocxEthWqe wqe;
} MocxSq;

/** mocx_sq_find() - by number, or NULL */
MocxSq *mocx_sq_find(MocxDev *dev, uint32_t sqn);
/** mocx_sq_error() - to the error state; flushes what is posted if asked to */
void mocx_sq_error(MocxDev *dev, MocxSq *sq);

/** mocx_sq_run() - work function: send, or flush */
MocxWorkFn mocx_sq_run;

#endif /* MOCX_SQ_H */
