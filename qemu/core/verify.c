// SPDX-License-Identifier: GPL-2.0-or-later
/* Verifier mode: the rules' names, and what becomes of a breach. */
#include "heap.h"
#include "verify.h"

#include <stdarg.h>
#include <stdio.h>

#include "dev.h"
#include "verify_state.h"

static const char *const rule_names[MOCX_RULES] = {
    [MOCX_RULE_RESERVED_INPUT] = "reserved-input",
    [MOCX_RULE_INPUT_TAIL] = "input-tail",
    [MOCX_RULE_ENTRY_RESERVED] = "entry-reserved",
    [MOCX_RULE_MAILBOX_RESERVED] = "mailbox-reserved",
    [MOCX_RULE_DESTROYED_OBJECT] = "destroyed-object",
    [MOCX_RULE_DESTROYED_DOORBELL] = "destroyed-doorbell",
    [MOCX_RULE_DESTROYED_KEY] = "destroyed-key",
    [MOCX_RULE_FOREIGN_DOORBELL] = "foreign-doorbell",
    [MOCX_RULE_DOORBELL_RECORD] = "doorbell-record",
    [MOCX_RULE_RECORD_BACKWARDS] = "record-backwards",
    [MOCX_RULE_RING_OVERRUN] = "ring-overrun",
    [MOCX_RULE_WQE_INDEX] = "wqe-index",
    [MOCX_RULE_WQE_QUEUE] = "wqe-queue",
    [MOCX_RULE_WQE_RESERVED] = "wqe-reserved",
    [MOCX_RULE_LIST_END] = "list-end",
    [MOCX_RULE_TRANSLATION_LIST] = "translation-list",
    [MOCX_RULE_CQ_OVERRUN] = "cq-overrun",
    [MOCX_RULE_CQ_INDEX_AHEAD] = "cq-index-ahead",
    [MOCX_RULE_CQ_INDEX_BACKWARDS] = "cq-index-backwards",
    [MOCX_RULE_CQ_INDEX_LAGS] = "cq-index-lags",
    [MOCX_RULE_CQ_ARM_RECORD] = "cq-arm-record",
    [MOCX_RULE_CQ_ARM_NUMBER] = "cq-arm-number",
    [MOCX_RULE_EQ_OVERRUN] = "eq-overrun",
    [MOCX_RULE_EQ_INDEX_AHEAD] = "eq-index-ahead",
    [MOCX_RULE_EQ_INDEX_BACKWARDS] = "eq-index-backwards",
    [MOCX_RULE_PAGE_LIST] = "page-list",
    [MOCX_RULE_DMA_NOWHERE] = "dma-nowhere",
    [MOCX_RULE_FIRMWARE_PAGE] = "firmware-page",
    [MOCX_RULE_OBJECT_LEFT] = "object-left",
    [MOCX_RULE_PAGE_LEFT] = "page-left",
};

const char *mocx_rule_name(MocxRule rule)
{
    return rule_names[rule];
}

uint64_t mocx_breach_count(const MocxDev *dev, MocxRule rule)
{
    return dev->verify ? dev->verify->count[rule] : 0;
}

/* The first time at this place?  Places are forgotten when there are many. */
static bool place_is_new(MocxVerify *v, MocxRule rule, uint64_t place)
{
    uint64_t key = (place * MOCX_RULES + rule + 1) * 0x9e3779b97f4a7c15ull;
    uint64_t *slot = &v->places[key >> (64 - MOCX_LOG_PLACES)];

    if (*slot == key) {
        return false;
    }
    *slot = key;
    return true;
}

void mocx_breach(MocxDev *dev, MocxRule rule, uint64_t place,
                 const char *fmt, ...)
{
    char line[256];
    va_list ap;
    int n;

    dev->verify->count[rule]++;
    if (!place_is_new(dev->verify, rule, place)) {
        return;
    }
    n = snprintf(line, sizeof(line), "mocx: strict: %s: ", rule_names[rule]);
    va_start(ap, fmt);
    vsnprintf(line + n, sizeof(line) - n, fmt, ap);
    va_end(ap);
    mocx_log(dev, MOCX_LOG_BREACH, "%s", line);
}

/* Life cycle */

static bool verify_create(MocxDev *dev)
{
    if (!dev->cfg.strict) {
        return true;
    }
    dev->verify = mocx_calloc(&dev->heap, 1, sizeof(*dev->verify));
    return dev->verify;
}

static void verify_reset(MocxDev *dev)
{
    if (dev->verify) {
        mocx_verify_forget_pages(dev);
    }
}

static void verify_destroy(MocxDev *dev)
{
    if (dev->verify) {
        mocx_verify_forget_pages(dev);
        mocx_free(dev->verify);
        dev->verify = NULL;
    }
}

const MocxModule mocx_mod_verify = {
    .name = "verify",
    .create = verify_create,
    .reset = verify_reset,
    .destroy = verify_destroy,
};
