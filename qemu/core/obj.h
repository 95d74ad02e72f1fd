/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbered objects.  One table per number space; an object embeds MocxObj as
 * its first member.  Numbers are handed out round robin, so that a number just
 * freed is the last to come back (a stale number is then more likely to miss).
 */
#ifndef MOCX_OBJ_H
#define MOCX_OBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap.h"

typedef struct MocxDev MocxDev;
typedef struct MocxObj MocxObj;

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

#define MOCX_OBJ_USES       6

/**
 * struct MocxObjKind - what objects of a kind use, and how they end
 * @type: the row of the status report
 * @uses: where in such an object the pointers to others are that it uses, by
 *     their offsets; 0 ends the list.  A pointer may be NULL.
 * @fini: stop its work and timers, free the memory behind it, or NULL.  What it
 *     uses may be gone.
 */
typedef struct MocxObjKind {
    MocxObjType type;
    uint16_t uses[MOCX_OBJ_USES + 1];
    void (*fini)(MocxDev *dev, MocxObj *obj);
} MocxObjKind;

struct MocxObj {
    uint32_t id;
    uint8_t type;           /* MocxObjType */
    uint32_t refs;          /* objects that use this one; block its DESTROY */
    const MocxObjKind *kind;
};

/* The structure that a member at @ptr lies in. */
#define MOCX_CONTAINER_OF(ptr, type, member) \
    ((type *)((char *)(ptr) - offsetof(type, member)))

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
 * @heap: pays for @slots
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
    MocxHeap *heap;
} MocxTable;

/**
 * mocx_table_init() - set the bounds of an empty table
 * @t: the table
 * @first: smallest number to hand out
 * @limit: most objects alive at once
 *
 * @t->live and @t->heap are left alone.  The tables of MocxDev are set up by
 * dev.c before any module is created; a module does this for its own tables
 * only.
 */
void mocx_table_init(MocxTable *t, uint32_t first, uint32_t limit);
/** mocx_table_fini() - free the slots; every object must be gone */
void mocx_table_fini(MocxTable *t);

/**
 * mocx_table_add() - number @obj, enter it, and hold what it uses
 * @t: the table
 * @obj: its pointers to what it uses are set; receives its number and kind
 * @kind: what it is
 *
 * Return: false when the table is at its limit; the caller still owns @obj.
 */
bool mocx_table_add(MocxTable *t, MocxObj *obj, const MocxObjKind *kind);
/** mocx_table_find() - the object with number @id, or NULL */
MocxObj *mocx_table_find(const MocxTable *t, uint32_t id);
/** mocx_table_was() - had an object this number, and has none now? */
bool mocx_table_was(const MocxTable *t, uint32_t id);
/**
 * mocx_table_drop() - the end of an object: out of its table, what it used is
 * let go of, its memory is freed
 * @dev: the device
 * @t: the table it is in
 * @obj: nobody uses it any more
 */
void mocx_table_drop(MocxDev *dev, MocxTable *t, MocxObj *obj);
/**
 * mocx_table_clear() - the end of all objects of a kind
 * @dev: the device
 * @t: the table
 * @kind: the kind
 *
 * They may use each other.  What else uses them is gone already.
 */
void mocx_table_clear(MocxDev *dev, MocxTable *t, const MocxObjKind *kind);

/**
 * mocx_obj_use() - a pointer that @obj's kind lists changes
 * @at: the pointer, in the object
 * @used: what it points to from now on, or NULL
 */
void mocx_obj_use(MocxObj **at, MocxObj *used);

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
