// SPDX-License-Identifier: GPL-2.0-or-later
/* Number spaces. */
#include "obj.h"

#define TABLE_MIN_SLOTS 64

const char *mocx_obj_type_name(MocxObjType type)
{
    static const char *const names[MOCX_OBJ_TYPES] = {
        [MOCX_OBJ_UAR] = "uars",
        [MOCX_OBJ_PD] = "pds",
        [MOCX_OBJ_TD] = "transport_domains",
        [MOCX_OBJ_XRCD] = "xrcds",
        [MOCX_OBJ_MKEY] = "mkeys",
        [MOCX_OBJ_EQ] = "eqs",
        [MOCX_OBJ_CQ] = "cqs",
        [MOCX_OBJ_QP] = "qps",
        [MOCX_OBJ_SQ] = "sqs",
        [MOCX_OBJ_RQ] = "rqs",
        [MOCX_OBJ_SRQ] = "srqs",
        [MOCX_OBJ_TIS] = "tises",
        [MOCX_OBJ_TIR] = "tirs",
        [MOCX_OBJ_RQT] = "rqts",
        [MOCX_OBJ_FLOW_TABLE] = "flow_tables",
        [MOCX_OBJ_FLOW_GROUP] = "flow_groups",
        [MOCX_OBJ_FLOW_ENTRY] = "flow_entries",
        [MOCX_OBJ_Q_COUNTER] = "q_counters",
        [MOCX_OBJ_FLOW_COUNTER] = "flow_counters",
    };

    return names[type];
}

void mocx_table_init(MocxTable *t, uint32_t first, uint32_t limit)
{
    t->first = first;
    t->limit = limit;
    t->count = 0;
    t->next = 0;
    t->high = 0;
    t->cap = 0;
    t->slots = NULL;
}

void mocx_table_fini(MocxTable *t)
{
    mocx_free(t->slots);
    t->slots = NULL;
    t->cap = 0;
    t->count = 0;
    t->next = 0;
}

/*
 * At least half of the slots stay free until the limit is near: a number just
 * freed then comes back late, a free one is found in a step or two, and the
 * memory follows what is alive rather than what ever lived.
 */
static void table_grow(MocxTable *t)
{
    uint32_t cap = t->cap ? t->cap * 2 : TABLE_MIN_SLOTS;
    MocxObj **slots;

    if (cap > t->limit) {
        cap = t->limit;
    }
    if (cap <= t->cap) {
        return;
    }
    slots = mocx_realloc(t->heap, t->slots, cap * sizeof(*slots));
    if (!slots) {
        return;
    }
    for (uint32_t i = t->cap; i < cap; i++) {
        slots[i] = NULL;
    }
    t->slots = slots;
    t->next = t->cap;
    t->cap = cap;
}

/* Pointers to objects are all alike, whatever kind of object they point to. */
static MocxObj **use_at(MocxObj *obj, unsigned i)
{
    return (MocxObj **)((char *)obj + obj->kind->uses[i]);
}

static void hold_uses(MocxObj *obj)
{
    for (unsigned i = 0; obj->kind->uses[i]; i++) {
        mocx_obj_hold(*use_at(obj, i));
    }
}

static void drop_uses(MocxObj *obj)
{
    for (unsigned i = 0; obj->kind->uses[i]; i++) {
        mocx_obj_use(use_at(obj, i), NULL);
    }
}

void mocx_obj_use(MocxObj **at, MocxObj *used)
{
    mocx_obj_hold(used);
    mocx_obj_drop(*at);
    *at = used;
}

bool mocx_table_add(MocxTable *t, MocxObj *obj, const MocxObjKind *kind)
{
    uint32_t i;

    if (t->count >= t->limit) {
        return false;
    }
    if (t->count * 2 >= t->cap) {
        table_grow(t);
    }
    if (t->count >= t->cap) {
        return false;
    }
    i = t->next;
    while (t->slots[i]) {
        i = i + 1 < t->cap ? i + 1 : 0;
    }
    t->slots[i] = obj;
    t->next = i + 1 < t->cap ? i + 1 : 0;
    t->count++;
    t->high = t->high > i ? t->high : i + 1;
    obj->id = t->first + i;
    obj->type = kind->type;
    obj->kind = kind;
    obj->refs = 0;
    hold_uses(obj);
    if (t->live) {
        t->live[kind->type]++;
    }
    return true;
}

MocxObj *mocx_table_find(const MocxTable *t, uint32_t id)
{
    uint32_t i = id - t->first;     /* wraps to a large number if too small */

    return i < t->cap ? t->slots[i] : NULL;
}

bool mocx_table_was(const MocxTable *t, uint32_t id)
{
    uint32_t i = id - t->first;

    return i < t->high && !t->slots[i];
}

void mocx_table_drop(MocxDev *dev, MocxTable *t, MocxObj *obj)
{
    if (obj->kind->fini) {
        obj->kind->fini(dev, obj);
    }
    drop_uses(obj);
    t->slots[obj->id - t->first] = NULL;
    t->count--;
    if (t->live) {
        t->live[obj->type]--;
    }
    mocx_free(obj);
}

/* All let go of each other before the first is freed. */
void mocx_table_clear(MocxDev *dev, MocxTable *t, const MocxObjKind *kind)
{
    for (uint32_t i = 0; i < t->cap; i++) {
        if (t->slots[i] && t->slots[i]->kind == kind) {
            drop_uses(t->slots[i]);
        }
    }
    for (uint32_t i = 0; i < t->cap; i++) {
        if (t->slots[i] && t->slots[i]->kind == kind) {
            mocx_table_drop(dev, t, t->slots[i]);
        }
    }
}
