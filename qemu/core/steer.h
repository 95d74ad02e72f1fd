/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NIC RX flow steering: tables of groups of entries, as the driver builds them.
 *
 * A packet enters at the root table.  In a table the groups are tried in the
 * order of their flow indices; the first entry that matches acts.  A table that
 * nothing matches in passes the packet to its miss table, or drops it.
 *
 * Tables are only ever left towards a higher level, which is checked when the
 * link is made, so that no path has a loop.
 */
#ifndef MOCX_STEER_H
#define MOCX_STEER_H

#include "dev.h"
#include "match.h"
#include "tir.h"

/* Bounds; the first three are advertised by cap.c as log2. */
#define MOCX_FT_LOG_MAX_NUM     8
#define MOCX_FT_LOG_MAX_SIZE    16
#define MOCX_FT_LOG_MAX_DEST    8
#define MOCX_FT_LOG_MAX_FLOW    20
#define MOCX_FT_MAX_LEVEL       64
#define MOCX_FT_MAX_GROUPS      4096

enum {                          /* flow_context.action */
    MOCX_FLOW_ALLOW = 1 << 0,
    MOCX_FLOW_DROP  = 1 << 1,
    MOCX_FLOW_FWD   = 1 << 2,
    MOCX_FLOW_COUNT = 1 << 3,
};

typedef struct MocxFlowTable MocxFlowTable;
typedef struct MocxFlowGroup MocxFlowGroup;
typedef struct MocxFlowEntry MocxFlowEntry;

typedef struct MocxFlowCounter {
    MocxObj obj;
    uint64_t packets;
    uint64_t bytes;
} MocxFlowCounter;

/* Where a packet goes: exactly one is set. */
typedef struct MocxFlowDest {
    MocxFlowTable *table;
    MocxTir *tir;
} MocxFlowDest;

/**
 * struct MocxFlowAction - what an entry does; replaced as a whole
 * @flags: MOCX_FLOW_*
 * @tag: flow tag for the CQE
 * @num_dests: entries of @dests
 * @dests: @num_dests destinations; a packet goes to each
 * @counter: counts what matched, or NULL
 */
typedef struct MocxFlowAction {
    uint16_t flags;
    uint32_t tag;
    uint32_t num_dests;
    MocxFlowDest *dests;
    MocxFlowCounter *counter;
} MocxFlowAction;

/**
 * struct MocxFlowEntry - one rule
 * @next_match: next in the chain of the group's hash table by match value
 * @next_index: next in that by index
 * @index: in the table
 * @hash: of @value
 * @action: what becomes of a packet
 * @value: what mocx_match_pick() made of the match value
 */
struct MocxFlowEntry {
    MocxFlowEntry *next_match;
    MocxFlowEntry *next_index;
    uint32_t index;
    uint32_t hash;
    MocxFlowAction action;
    uint32_t value[];
};

/**
 * struct MocxFlowGroup - entries with one mask
 * @obj: number and type
 * @table: the table it is in
 * @next: the next group of the table, by @start
 * @start: first flow index
 * @end: last flow index
 * @enable: match_criteria_enable
 * @mask: the parts of a packet that its entries look at
 * @num_entries: entries in it
 * @log_buckets: log2 of the size of both hash tables
 * @by_match: chained hash table of the entries by match value
 * @by_index: the same by index
 */
struct MocxFlowGroup {
    MocxObj obj;
    MocxFlowTable *table;
    MocxFlowGroup *next;
    uint32_t start, end;
    uint8_t enable;
    MocxMatchMask mask;
    uint32_t num_entries;
    uint8_t log_buckets;
    MocxFlowEntry **by_match;
    MocxFlowEntry **by_index;
};

struct MocxFlowTable {
    MocxObj obj;
    uint8_t level;
    uint8_t log_size;
    MocxFlowTable *miss;        /* NULL: drop */
    MocxFlowGroup *groups;
};

/**
 * struct MocxSteer - steering of one device
 * @tables: number space of the tables
 * @groups: number space of the groups
 * @root: where packets enter, or NULL: all are dropped
 * @num_entries: entries of all tables
 * @key: scratch, the packet being steered
 * @steps: what the packet may still cost, see steer.c
 */
struct MocxSteer {
    MocxTable tables;
    MocxTable groups;
    MocxFlowTable *root;
    uint32_t num_entries;
    MocxMatchKey key;
    uint32_t steps;
};

/** mocx_flow_table_find() - by number, or NULL */
MocxFlowTable *mocx_flow_table_find(MocxDev *dev, uint32_t id);
/**
 * mocx_flow_table_of() - the table that a command names
 * @dev: the device
 * @cmd: the command
 * @status: why, if there is none
 */
MocxFlowTable *mocx_flow_table_of(MocxDev *dev, MocxCmd *cmd,
                                  MocxStatus *status);

/* flow_group.c */
extern const MocxObjKind mocx_flow_group_kind;
MocxCmdFn mocx_flow_group_create, mocx_flow_group_destroy;
MocxCmdFn mocx_flow_group_query;
/** mocx_flow_group_find() - the group of @table that holds @index, or NULL */
MocxFlowGroup *mocx_flow_group_find(MocxFlowTable *table, uint32_t index);
/**
 * mocx_flow_group_lookup() - the entry that matches a packet, or NULL
 * @group: the group
 * @key: the packet
 * @steps: what the search may cost; less by what it did, and 0 if it was cut
 */
MocxFlowEntry *mocx_flow_group_lookup(const MocxFlowGroup *group,
                                      const MocxMatchKey *key,
                                      uint32_t *steps);
MocxFlowEntry *mocx_flow_group_entry(const MocxFlowGroup *group,
                                     uint32_t index);
/** mocx_flow_group_add() - false if there is no memory */
bool mocx_flow_group_add(MocxDev *dev, MocxFlowGroup *group,
                         MocxFlowEntry *entry);
void mocx_flow_group_del(MocxDev *dev, MocxFlowGroup *group,
                         MocxFlowEntry *entry);

/* flow_entry.c */
/** mocx_flow_entry_free() - an entry that is in no group any more */
void mocx_flow_entry_free(MocxDev *dev, MocxFlowEntry *entry);
MocxCmdFn mocx_flow_entry_set, mocx_flow_entry_delete, mocx_flow_entry_query;

/* flow_counter.c */
extern const MocxObjKind mocx_flow_counter_kind;
MocxCmdFn mocx_flow_counter_alloc, mocx_flow_counter_dealloc;
MocxCmdFn mocx_flow_counter_query;

#endif /* MOCX_STEER_H */
