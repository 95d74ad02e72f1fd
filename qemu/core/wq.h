/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work queue part that the contexts of SQs and RQs have in common. */
#ifndef MOCX_WQ_H
#define MOCX_WQ_H

#include "dev.h"

enum {                          /* sqc.state, rqc.state */
    MOCX_WQ_RST = 0, MOCX_WQ_RDY = 1, MOCX_WQ_ERR = 3,
};

#define MOCX_WQ_LOG_MAX_SIZE    15      /* entries; indices have 16 bits */

typedef struct MocxWq {
    MocxRing ring;
    MocxObj *pd;                /* used by the queue that it is part of */
    uint64_t dbr;               /* doorbell record */
    uint8_t log_size;           /* entries */
    uint8_t log_stride;         /* bytes of one */
} MocxWq;

/**
 * struct MocxWqLimits - what a kind of queue allows
 * @log_stride_min: log2 of the least bytes of an entry
 * @log_stride_max: log2 of the most
 */
typedef struct MocxWqLimits {
    uint8_t log_stride_min, log_stride_max;
} MocxWqLimits;

/**
 * mocx_wq_init() - take a cyclic work queue from a command
 * @dev: the device
 * @cmd: the command
 * @wq: filled
 * @wqc: the wq context, in @cmd's input, followed by its page list
 * @limits: what this kind of queue allows
 *
 * Return: MOCX_OK, or a status already logged; there is no memory then.
 */
MocxStatus mocx_wq_init(MocxDev *dev, MocxCmd *cmd, MocxWq *wq,
                        const uint8_t *wqc, const MocxWqLimits *limits);
/** mocx_wq_fini() - free the memory; objects are not touched */
void mocx_wq_fini(MocxWq *wq);

/**
 * mocx_wq_db() - the 16-bit producer index in dword @which of the record
 * @dev: the device
 * @wq: the queue, of which all that was known to be posted is consumed
 * @which: MLX5_SND_DBR or MLX5_RCV_DBR
 * @qpn: number of the queue
 * @pi: in: the index known before; out: the record
 *
 * Return: false if the record is not in memory.
 */
bool mocx_wq_db(MocxDev *dev, const MocxWq *wq, unsigned which, uint32_t qpn,
                uint16_t *pi);

#endif /* MOCX_WQ_H */
