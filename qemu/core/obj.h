/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbered objects.  One table per number space; an object embeds MocxObj as
 * its first member.  Numbers are handed out round robin, so that a number just
 * freed is the last to come back (a stale number is then more likely to miss).
 */
#ifndef MOCX_OBJ_H
#define MOCX_OBJ_H

#include <stdbool.h>
#include <stdint.h>

/* What an object is; also the row of the status report. */
typedef enum MocxObjType {
    MOCX_OBJ_UAR,
    MOCX_OBJ_PD,
    MOCX_OBJ_TD,            /* transport domain */
    MOCX_OBJ_XRCD,
    MOCX_OBJ_MKEY,
    MOCX_OBJ_EQ,
    MOCX_OBJ_CQ,
    MOCX_OBJ_QP,
    MOCX_OBJ_SQ,            /* shares the number space of QPs */
    MOCX_OBJ_RQ,            /* likewise */
    MOCX_OBJ_SRQ,           /* RMP, XRC SRQ and basic SRQ: one space */
    MOCX_OBJ_TIS,
    MOCX_OBJ_TIR,
    MOCX_OBJ_RQT,
    MOCX_OBJ_FLOW_TABLE,
    MOCX_OBJ_FLOW_GROUP,
    MOCX_OBJ_FLOW_ENTRY,
    MOCX_OBJ_Q_COUNTER,
    MOCX_OBJ_FLOW_COUNTER,
    MOCX_OBJ_TYPES
} MocxObjType;

/** mocx_obj_type_name() - plural, as in the status report: "pds", "mkeys" */
const char *mocx_obj_type_name(MocxObjType type);

typedef struct MocxObj {
    uint32_t id;
    uint8_t type;           /* MocxObjType */
    uint32_t refs;          /* objects that name this one; block its DESTROY */
} MocxObj;

/**
 * struct MocxTable - one number space
 * @first: smallest number handed out
 * @limit: largest number of objects alive at once
 * @count: objects alive
 * @next: where the search for a free number begins
 * @high: slots that ever had an object
 * @cap: slots allocated
 * @slots: objects by number, less @first
 * @live: counters by MocxObjType to keep, or NULL
 */
typedef struct MocxTable {
    uint32_t first;
    uint32_t limit;
    uint32_t count;
    uint32_t next;
    uint32_t high;
    uint32_t cap;
    MocxObj **slots;
    uint32_t *live;
} MocxTable;

/**
 * mocx_table_init() - set the bounds of an empty table
 * @t: the table
 * @first: smallest number to hand out
 * @limit: most objects alive at once
 *
 * @t->live is left alone.  The tables of MocxDev are set up by dev.c before any
 * module is created; a module does this for its own tables only.
 */
void mocx_table_init(MocxTable *t, uint32_t first, uint32_t limit);
/** mocx_table_fini() - free the slots; every object must be gone */
void mocx_table_fini(MocxTable *t);

/**
 * mocx_table_add() - number @obj and enter it
 * @t: the table
 * @obj: receives its number and type; the caller owns it
 * @type: what it is
 *
 * Return: false when the table is at its limit.
 */
bool mocx_table_add(MocxTable *t, MocxObj *obj, MocxObjType type);
/** mocx_table_find() - the object with number @id, or NULL */
MocxObj *mocx_table_find(const MocxTable *t, uint32_t id);
/** mocx_table_was() - had an object this number, and has none now? */
bool mocx_table_was(const MocxTable *t, uint32_t id);
void mocx_table_del(MocxTable *t, MocxObj *obj);
/** mocx_table_each() - call @fn on every object; @fn may delete it */
void mocx_table_each(MocxTable *t, void (*fn)(void *arg, MocxObj *obj),
                     void *arg);

static inline void mocx_obj_hold(MocxObj *obj)
{
    if (obj) {
        obj->refs++;
    }
}

static inline void mocx_obj_drop(MocxObj *obj)
{
    if (obj) {
        obj->refs--;
    }
}

#endif /* MOCX_OBJ_H */
