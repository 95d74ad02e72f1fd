// SPDX-License-Identifier: GPL-2.0-or-later
/* Work queues. */
#include "wq.h"

#define SYND_WQ_TYPE    0x57a0001u
#define SYND_WQ_SIZE    0x57a0002u
#define SYND_WQ_PD      0x57a0003u
#define SYND_WQ_DBR     0x57a0004u
#define SYND_WQ_PAGES   0x57a0005u

enum { WQ_TYPE_CYCLIC = 1 };

static MocxStatus check_wq(MocxDev *dev, MocxCmd *cmd, const uint8_t *wqc,
                           const MocxWqLimits *limits)
{
    unsigned log_stride = DEVX_GET(wq, wqc, log_wq_stride);

    if (DEVX_GET(wq, wqc, wq_type) != WQ_TYPE_CYCLIC ||
        DEVX_GET(wq, wqc, wq_umem_valid) || DEVX_GET(wq, wqc, dbr_umem_valid)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_WQ_TYPE,
                        "only cyclic work queues are supported");
    }
    if (DEVX_GET(wq, wqc, log_wq_sz) > MOCX_WQ_LOG_MAX_SIZE ||
        log_stride < limits->log_stride_min ||
        log_stride > limits->log_stride_max) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_WQ_SIZE,
                        "work queue size 2^%u, stride 2^%u",
                        DEVX_GET(wq, wqc, log_wq_sz), log_stride);
    }
    /* mlx5e's drop RQ, which gets no packet, has none (PD 0). */
    if (DEVX_GET(wq, wqc, pd) &&
        !mocx_table_find(&dev->pds, DEVX_GET(wq, wqc, pd))) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_WQ_PD, "no PD %u",
                        DEVX_GET(wq, wqc, pd));
    }
    if (DEVX_GET64(wq, wqc, dbr_addr) & 3) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_WQ_DBR,
                        "doorbell record is not aligned");
    }
    return MOCX_OK;
}

MocxStatus mocx_wq_init(MocxDev *dev, MocxCmd *cmd, MocxWq *wq,
                        const uint8_t *wqc, const MocxWqLimits *limits)
{
    const uint8_t *pas = wqc + DEVX_ST_SZ_BYTES(wq);
    MocxStatus status = check_wq(dev, cmd, wqc, limits);

    if (status != MOCX_OK) {
        return status;
    }
    wq->dbr = DEVX_GET64(wq, wqc, dbr_addr);
    wq->pd = mocx_table_find(&dev->pds, DEVX_GET(wq, wqc, pd));
    wq->log_size = DEVX_GET(wq, wqc, log_wq_sz);
    wq->log_stride = DEVX_GET(wq, wqc, log_wq_stride);
    status = mocx_ring_init(dev, &wq->ring, pas,
                            (cmd->in + cmd->inlen - pas) / 8,
                            DEVX_GET(wq, wqc, log_wq_pg_sz),
                            DEVX_GET(wq, wqc, page_offset),
                            1ULL << (wq->log_size + wq->log_stride));
    return status != MOCX_BAD_PARAM ? status
           : mocx_bad(dev, cmd, status, SYND_WQ_PAGES,
                      "page list does not hold the work queue");
}

void mocx_wq_fini(MocxWq *wq)
{
    mocx_ring_fini(&wq->ring);
}

bool mocx_wq_db(MocxDev *dev, const MocxWq *wq, unsigned which,
                uint32_t qpn, uint16_t *pi)
{
    uint32_t v;

    if (!mocx_dma_read(dev, wq->dbr + which * sizeof(v), &v, sizeof(v))) {
        return false;
    }
    if (dev->verify) {
        MocxRecordCheck check = {
            .qpn = qpn, .kind = which ? "send" : "receive", .was = *pi,
            .now = mocx_get_be32(&v), .oldest = *pi,
            .size = 1u << wq->log_size,
        };

        mocx_verify_record(dev, &check);
    }
    *pi = mocx_get_be32(&v);
    return true;
}
