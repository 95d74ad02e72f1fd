// SPDX-License-Identifier: GPL-2.0-or-later
/* Verifier mode: producer records, send doorbells, and control segments. */
#include "dev.h"
#include "verify_state.h"

/* Control segment (mlx5dv.h: struct mlx5_wqe_ctrl_seg) */
#define CTRL_QPN_DS         4
#define CTRL_RSVD           9
#define CTRL_FM_CE_SE       11
#define FM_CE_SE_RESERVED   0x11

/* Of a list in memory (drivers/infiniband/hw/mlx5/mr.c: MLX5_UMR_ALIGN) */
#define LIST_ALIGN          2048
#define OCTWORD             16

void mocx_verify_send_doorbell(MocxDev *dev, const MocxObj *uar, uint32_t qpn,
                               bool known)
{
    if (!known && mocx_uar_drivers(uar) &&
        mocx_table_was(&dev->queues, qpn)) {
        mocx_breach(dev, MOCX_RULE_DESTROYED_DOORBELL, qpn,
                    "send doorbell of queue %u, which was destroyed", qpn);
    }
}

/*
 * In a ring of @size entries, @oldest <= @was <= @oldest + @size; the next
 * value lies from @was up to there.
 */
void mocx_verify_record(MocxDev *dev, const MocxRecordCheck *r)
{
    uint16_t used = r->now - r->oldest, before = r->was - r->oldest;

    if (used < before ||
        (used > r->size && (uint16_t)(r->was - r->now) <= r->size)) {
        mocx_breach(dev, MOCX_RULE_RECORD_BACKWARDS, r->qpn,
                    "%s record of queue %u went from %u back to %u", r->kind,
                    r->qpn, r->was, r->now);
    } else if (used > r->size) {
        mocx_breach(dev, MOCX_RULE_RING_OVERRUN, r->qpn,
                    "%s record of queue %u is %u, but entry %u of a ring of "
                    "%u is not complete", r->kind, r->qpn, r->now, r->oldest,
                    r->size);
    }
}

/* The doorbell names the last WQE posted, the record what comes after it. */
void mocx_verify_covered(MocxDev *dev, uint32_t qpn, uint32_t doorbell,
                         uint16_t pi, uint32_t size)
{
    uint16_t index = doorbell >> 8, ahead = pi - index;

    if (!ahead || ahead > size) {
        mocx_breach(dev, MOCX_RULE_DOORBELL_RECORD, qpn,
                    "doorbell of queue %u names WQE %u, which its record %u "
                    "does not cover", qpn, index, pi);
    }
}

void mocx_verify_wqe(MocxDev *dev, uint32_t qpn, uint16_t counter,
                     const uint8_t *ctrl)
{
    uint16_t index = mocx_get_be32(ctrl) >> 8;
    uint32_t queue = mocx_get_be32(ctrl + CTRL_QPN_DS) >> 8;

    if (index != counter) {
        mocx_breach(dev, MOCX_RULE_WQE_INDEX, qpn,
                    "WQE %u of queue %u says that it is %u", counter, qpn,
                    index);
    }
    if (queue != qpn) {
        mocx_breach(dev, MOCX_RULE_WQE_QUEUE, qpn,
                    "WQE %u of queue %u says that it is of queue %u", counter,
                    qpn, queue);
    }
    if (ctrl[CTRL_RSVD] || ctrl[CTRL_RSVD + 1] ||
        ctrl[CTRL_FM_CE_SE] & FM_CE_SE_RESERVED) {
        mocx_breach(dev, MOCX_RULE_WQE_RESERVED, qpn,
                    "WQE %u of queue %u: reserved bits of the control segment "
                    "are set", counter, qpn);
    }
}

void mocx_verify_list_end(MocxDev *dev, uint32_t key)
{
    mocx_breach(dev, MOCX_RULE_LIST_END, key,
                "a receive list ends with lkey 0x%x, but the key that ends it "
                "is 0x%x", key, mocx_key_terminate(dev));
}

static void translations_breach(MocxDev *dev, const MocxListCheck *l,
                                const char *what, uint64_t value)
{
    mocx_breach(dev, MOCX_RULE_TRANSLATION_LIST, l->qpn,
                "a UMR of queue %u: %s, not 0x%llx", l->qpn, what,
                (unsigned long long)value);
}

void mocx_verify_translations(MocxDev *dev, const MocxListCheck *l)
{
    if (l->octwords % MOCX_UMR_UNIT) {
        translations_breach(dev, l, "octwords are counted in fours",
                            l->octwords);
    }
    if (l->first % MOCX_UMR_UNIT) {
        translations_breach(dev, l, "a list begins at a fourth octword",
                            l->first);
    }
    if (l->pointed && l->addr % LIST_ALIGN) {
        translations_breach(dev, l, "a list is aligned to 2048 bytes", l->addr);
    }
    if (l->pointed && l->bytes != l->octwords * OCTWORD) {
        translations_breach(dev, l, "the data segment holds the octwords",
                            l->bytes);
    }
}
