// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verifier mode: consumers of completion and event queues.
 *
 * A consumer index has 24 bits: one is ahead of another if it is less than half
 * of them in front.
 */
#include "dev.h"
#include "verify_state.h"

#define INDEX_MASK      0xffffffu
#define INDEX_HALF      0x800000u
#define ARM_SN_SHIFT    28
#define ARM_SN_MASK     3u

static bool index_ahead(uint32_t a, uint32_t b)
{
    uint32_t d = (a - b) & INDEX_MASK;

    return d && d < INDEX_HALF;
}

static void cq_index(MocxDev *dev, const MocxCq *cq, uint32_t ci,
                     const char *where)
{
    if (index_ahead(ci, cq->pi & INDEX_MASK)) {
        mocx_breach(dev, MOCX_RULE_CQ_INDEX_AHEAD, cq->obj.id,
                    "consumer index %u %s CQ %u is ahead of its producer %u",
                    ci, where, cq->obj.id, cq->pi & INDEX_MASK);
    } else if (index_ahead(cq->ci, ci)) {
        mocx_breach(dev, MOCX_RULE_CQ_INDEX_BACKWARDS, cq->obj.id,
                    "consumer index %u %s CQ %u is behind %u, which it was",
                    ci, where, cq->obj.id, cq->ci);
    }
}

void mocx_verify_cq_index(MocxDev *dev, const MocxCq *cq, uint32_t ci)
{
    cq_index(dev, cq, ci, "in the record of");
}

/*
 * A driver tells with each arming how far it has polled.  Its record must know
 * as much by the next one; right at the time it may not, since another thread
 * can be polling.
 */
static void check_lag(MocxDev *dev, const MocxCq *cq, uint32_t record)
{
    const MocxCqVerify *v = &cq->check;

    if (v->armed_once && index_ahead(v->ci, record)) {
        mocx_breach(dev, MOCX_RULE_CQ_INDEX_LAGS, cq->obj.id,
                    "the record of CQ %u has consumer index %u, its last "
                    "arming had %u", cq->obj.id, record, v->ci);
    }
}

static bool event_consumed(const MocxCq *cq)
{
    return !index_ahead(cq->check.event_at, cq->eq->ci);
}

/*
 * The number of an arming is that of the events which its consumer has seen.
 * It cannot have seen more than there were.  Less is what a program does that
 * arms before it has fetched its events.  A kernel sees an event when it takes
 * it out of the EQ, so its own CQs, which have the EQ's UAR, count those.
 */
static void check_number(MocxDev *dev, MocxCq *cq, uint8_t sn)
{
    MocxCqVerify *v = &cq->check;
    uint8_t step = (sn - v->sn) & ARM_SN_MASK;

    if (step > v->events) {
        mocx_breach(dev, MOCX_RULE_CQ_ARM_NUMBER, cq->obj.id,
                    "CQ %u is armed with number %u after %u, and %u events "
                    "were between them", cq->obj.id, sn, v->sn, v->events);
    } else if (!step && v->events >= 2 && cq->uar == cq->eq->uar &&
               event_consumed(cq)) {
        mocx_breach(dev, MOCX_RULE_CQ_ARM_NUMBER, cq->obj.id,
                    "CQ %u is armed with number %u again, although %u events "
                    "were taken since", cq->obj.id, sn, v->events);
    }
    if (step) {
        v->events -= step < v->events ? step : v->events;
        v->sn = sn;
    }
}

void mocx_verify_cq_arm(MocxDev *dev, MocxCq *cq, uint32_t word)
{
    MocxCqVerify *v = &cq->check;
    uint32_t ci = word & INDEX_MASK;
    uint8_t sn = word >> ARM_SN_SHIFT & ARM_SN_MASK;
    uint8_t record[8];

    cq_index(dev, cq, ci, "in the arming of");
    if (mocx_dma_read(dev, cq->dbr, record, sizeof(record))) {
        check_lag(dev, cq, mocx_get_be32(record) & INDEX_MASK);
        if (mocx_get_be32(record + 4) != word) {
            mocx_breach(dev, MOCX_RULE_CQ_ARM_RECORD, cq->obj.id,
                        "CQ %u is armed by 0x%x, its record says 0x%x",
                        cq->obj.id, word, mocx_get_be32(record + 4));
        }
    }
    if (v->armed_once) {
        check_number(dev, cq, sn);
    } else {
        v->sn = sn;
        v->armed_once = true;
    }
    v->ci = ci;
}

void mocx_verify_cq_event(MocxCq *cq)
{
    MocxCqVerify *v = &cq->check;

    v->events++;
    v->event_at = cq->eq->pi & INDEX_MASK;
}

void mocx_verify_cq_full(MocxDev *dev, const MocxCq *cq)
{
    mocx_breach(dev, MOCX_RULE_CQ_OVERRUN, cq->obj.id,
                "CQ %u of %u entries is full: producer %u, consumer %u",
                cq->obj.id, 1u << cq->log_size, cq->pi & INDEX_MASK, cq->ci);
}

void mocx_verify_cq_unknown(MocxDev *dev, const MocxObj *uar, uint32_t cqn)
{
    if (mocx_uar_drivers(uar) && mocx_table_was(&dev->cqs, cqn)) {
        mocx_breach(dev, MOCX_RULE_DESTROYED_DOORBELL, cqn,
                    "CQ %u is armed, which was destroyed", cqn);
    }
}

/* Event queues */

void mocx_verify_eq_index(MocxDev *dev, const MocxEq *eq, uint32_t ci)
{
    if (index_ahead(ci, eq->pi & INDEX_MASK)) {
        mocx_breach(dev, MOCX_RULE_EQ_INDEX_AHEAD, eq->obj.id,
                    "consumer index %u of EQ %u is ahead of its producer %u",
                    ci, eq->obj.id, eq->pi & INDEX_MASK);
    } else if (index_ahead(eq->ci, ci)) {
        mocx_breach(dev, MOCX_RULE_EQ_INDEX_BACKWARDS, eq->obj.id,
                    "consumer index %u of EQ %u is behind %u, which it was",
                    ci, eq->obj.id, eq->ci);
    }
}

void mocx_verify_eq_full(MocxDev *dev, const MocxEq *eq)
{
    mocx_breach(dev, MOCX_RULE_EQ_OVERRUN, eq->obj.id,
                "EQ %u of %u entries is full", eq->obj.id, 1u << eq->log_size);
}

void mocx_verify_eq_unknown(MocxDev *dev, uint32_t eqn)
{
    if (mocx_table_was(&dev->eqs, eqn)) {
        mocx_breach(dev, MOCX_RULE_DESTROYED_DOORBELL, eqn,
                    "doorbell of EQ %u, which was destroyed", eqn);
    }
}
