// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flow groups.  All entries of a group look at the same bits of a packet, so a
 * group is a hash table on those bits; a second one finds entries by index.
 */
#include "heap.h"
#include "steer.h"

#define SYND_FG_RANGE   0x0f60001u
#define SYND_FG_MATCH   0x0f60002u
#define SYND_FG_NUMBER  0x0f60003u
#define SYND_FG_LIMIT   0x0f60004u
#define SYND_FG_BUSY    0x0f60005u

#define LOG_BUCKETS_MIN 2
#define LOG_BUCKETS_MAX 16

/* Hash tables */

static MocxFlowEntry **match_bucket(const MocxFlowGroup *g, uint32_t hash)
{
    return &g->by_match[hash & ((1u << g->log_buckets) - 1)];
}

static MocxFlowEntry **index_bucket(const MocxFlowGroup *g, uint32_t index)
{
    return &g->by_index[index & ((1u << g->log_buckets) - 1)];
}

static void chain_entry(MocxFlowGroup *g, MocxFlowEntry *entry)
{
    MocxFlowEntry **match = match_bucket(g, entry->hash);
    MocxFlowEntry **index = index_bucket(g, entry->index);

    while (*match && (*match)->index < entry->index) {
        match = &(*match)->next_match;
    }
    entry->next_match = *match;
    *match = entry;
    entry->next_index = *index;
    *index = entry;
}

/*
 * A bucket's entries go to two of the table twice as large, in their order;
 * @bit tells to which.
 */
static void split(MocxFlowEntry *e, MocxFlowEntry **low, MocxFlowEntry **high,
                  uint32_t bit)
{
    for (MocxFlowEntry *next; e; e = next) {
        MocxFlowEntry ***tail = e->hash & bit ? &high : &low;

        next = e->next_match;
        e->next_match = NULL;
        **tail = e;
        *tail = &e->next_match;
    }
}

static void split_index(MocxFlowEntry *e, MocxFlowEntry **low,
                        MocxFlowEntry **high, uint32_t bit)
{
    for (MocxFlowEntry *next; e; e = next) {
        MocxFlowEntry **bucket = e->index & bit ? high : low;

        next = e->next_index;
        e->next_index = *bucket;
        *bucket = e;
    }
}

/* Both tables twice as large, or the first; on failure nothing has changed. */
static bool rehash(MocxFlowGroup *g)
{
    MocxHeap *heap = mocx_heap_of(g);
    uint32_t old = g->by_index ? 1u << g->log_buckets : 0;
    unsigned log_buckets = old ? g->log_buckets + 1 : LOG_BUCKETS_MIN;
    size_t n = (size_t)1 << log_buckets;
    MocxFlowEntry **match = mocx_calloc(heap, n, sizeof(*match));
    MocxFlowEntry **index = mocx_calloc(heap, n, sizeof(*index));

    if (!match || !index) {
        mocx_free(match);
        mocx_free(index);
        return false;
    }
    for (uint32_t i = 0; i < old; i++) {
        split(g->by_match[i], &match[i], &match[i + old], old);
        split_index(g->by_index[i], &index[i], &index[i + old], old);
    }
    mocx_free(g->by_match);
    mocx_free(g->by_index);
    g->by_match = match;
    g->by_index = index;
    g->log_buckets = log_buckets;
    return true;
}

/* Those that match alike are in the order of their index. */
MocxFlowEntry *mocx_flow_group_lookup(const MocxFlowGroup *g,
                                      const MocxMatchKey *key,
                                      uint32_t *steps)
{
    uint32_t picked[MOCX_MATCH_DWORDS];
    uint32_t hash = mocx_match_pick(&g->mask, key->dw, picked);
    size_t size = g->mask.n * sizeof(picked[0]);

    for (MocxFlowEntry *e = *match_bucket(g, hash); e && *steps;
         e = e->next_match) {
        --*steps;
        if (e->hash == hash && !memcmp(e->value, picked, size)) {
            return e;
        }
    }
    return NULL;
}

MocxFlowEntry *mocx_flow_group_entry(const MocxFlowGroup *g, uint32_t index)
{
    MocxFlowEntry *e = g->by_index ? *index_bucket(g, index) : NULL;

    while (e && e->index != index) {
        e = e->next_index;
    }
    return e;
}

bool mocx_flow_group_add(MocxDev *dev, MocxFlowGroup *g, MocxFlowEntry *entry)
{
    if (!g->by_index) {
        if (!rehash(g)) {
            return false;
        }
    } else if (g->num_entries >= 2u << g->log_buckets &&
               g->log_buckets < LOG_BUCKETS_MAX) {
        rehash(g);      /* else it is only slower */
    }
    chain_entry(g, entry);
    g->num_entries++;
    dev->steer->num_entries++;
    dev->live[MOCX_OBJ_FLOW_ENTRY]++;
    return true;
}

void mocx_flow_group_del(MocxDev *dev, MocxFlowGroup *g, MocxFlowEntry *entry)
{
    MocxFlowEntry **p = match_bucket(g, entry->hash);

    while (*p != entry) {
        p = &(*p)->next_match;
    }
    *p = entry->next_match;
    p = index_bucket(g, entry->index);
    while (*p != entry) {
        p = &(*p)->next_index;
    }
    *p = entry->next_index;
    g->num_entries--;
    dev->steer->num_entries--;
    dev->live[MOCX_OBJ_FLOW_ENTRY]--;
}

static void free_entries(MocxDev *dev, MocxFlowGroup *g)
{
    for (uint32_t i = 0; g->by_index && i < 1u << g->log_buckets; i++) {
        while (g->by_index[i]) {
            MocxFlowEntry *entry = g->by_index[i];

            mocx_flow_group_del(dev, g, entry);
            mocx_flow_entry_free(dev, entry);
        }
    }
}

static void group_fini(MocxDev *dev, MocxObj *obj)
{
    MocxFlowGroup *g = (MocxFlowGroup *)obj, **p = &g->table->groups;

    free_entries(dev, g);
    while (*p != g) {
        p = &(*p)->next;
    }
    *p = g->next;
    mocx_free(g->by_match);
    mocx_free(g->by_index);
}

/* It goes before its table, which cannot be destroyed with groups in it. */
const MocxObjKind mocx_flow_group_kind = {
    .type = MOCX_OBJ_FLOW_GROUP, .fini = group_fini,
};

/* Commands */

MocxFlowGroup *mocx_flow_group_find(MocxFlowTable *table, uint32_t index)
{
    MocxFlowGroup *g = table->groups;

    while (g && index > g->end) {
        g = g->next;
    }
    return g && index >= g->start ? g : NULL;
}

/* Where in the table's list a range belongs; NULL if it overlaps another */
static MocxFlowGroup **range_place(MocxFlowTable *table, uint32_t start,
                                   uint32_t end)
{
    MocxFlowGroup **p = &table->groups;

    while (*p && (*p)->end < start) {
        p = &(*p)->next;
    }
    return *p && (*p)->start <= end ? NULL : p;
}

static MocxStatus group_new(MocxDev *dev, MocxCmd *cmd, MocxFlowGroup **res)
{
    const uint8_t *criteria = DEVX_ADDR_OF(create_flow_group_in, cmd->in,
                                           match_criteria);
    MocxFlowGroup *g = mocx_calloc(&dev->heap, 1, sizeof(*g));

    if (!g) {
        return MOCX_NO_RES;
    }
    g->enable = DEVX_GET(create_flow_group_in, cmd->in, match_criteria_enable);
    g->start = DEVX_GET(create_flow_group_in, cmd->in, start_flow_index);
    g->end = DEVX_GET(create_flow_group_in, cmd->in, end_flow_index);
    if (!mocx_match_mask(&g->mask, g->enable, criteria)) {
        mocx_free(g);
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FG_MATCH,
                        "flow group matches on what is not advertised");
    }
    *res = g;
    return MOCX_OK;
}

MocxStatus mocx_flow_group_create(MocxDev *dev, MocxCmd *cmd)
{
    uint32_t start = DEVX_GET(create_flow_group_in, cmd->in, start_flow_index);
    uint32_t end = DEVX_GET(create_flow_group_in, cmd->in, end_flow_index);
    MocxStatus status;
    MocxFlowTable *table = mocx_flow_table_of(dev, cmd, &status);
    MocxFlowGroup **place, *g;

    if (!table) {
        return status;
    }
    place = range_place(table, start, end);
    if (!place || start > end || end >= 1u << table->log_size) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FG_RANGE,
                        "flow group %u to %u in table %u of 2^%u entries",
                        start, end, table->obj.id, table->log_size);
    }
    status = group_new(dev, cmd, &g);
    if (status) {
        return status;
    }
    if (!mocx_table_add(&dev->steer->groups, &g->obj, &mocx_flow_group_kind)) {
        mocx_free(g);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_FG_LIMIT,
                        "no flow group left");
    }
    g->table = table;
    g->next = *place;
    *place = g;
    DEVX_SET(create_flow_group_out, cmd->out, group_id, g->obj.id);
    return MOCX_OK;
}

static MocxFlowGroup *group_of(MocxDev *dev, MocxCmd *cmd, MocxStatus *status)
{
    uint32_t id = DEVX_GET(destroy_flow_group_in, cmd->in, group_id);
    MocxFlowTable *table = mocx_flow_table_of(dev, cmd, status);
    MocxFlowGroup *g;

    if (!table) {
        return NULL;
    }
    g = (MocxFlowGroup *)mocx_table_find(&dev->steer->groups, id);
    if (!g || g->table != table) {
        *status = mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_FG_NUMBER,
                           "table %u has no flow group %u", table->obj.id, id);
        return NULL;
    }
    return g;
}

MocxStatus mocx_flow_group_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxStatus status;
    MocxFlowGroup *g = group_of(dev, cmd, &status);

    if (!g) {
        return status;
    }
    if (g->num_entries) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_FG_BUSY,
                        "flow group %u has %u entries", g->obj.id,
                        g->num_entries);
    }
    mocx_table_drop(dev, &dev->steer->groups, &g->obj);
    return MOCX_OK;
}

MocxStatus mocx_flow_group_query(MocxDev *dev, MocxCmd *cmd)
{
    MocxStatus status;
    MocxFlowGroup *g = group_of(dev, cmd, &status);

    if (!g) {
        return status;
    }
    DEVX_SET(query_flow_group_out, cmd->out, start_flow_index, g->start);
    DEVX_SET(query_flow_group_out, cmd->out, end_flow_index, g->end);
    DEVX_SET(query_flow_group_out, cmd->out, match_criteria_enable, g->enable);
    mocx_match_spread(&g->mask, g->mask.mask,
                      DEVX_ADDR_OF(query_flow_group_out, cmd->out,
                                   match_criteria));
    return MOCX_OK;
}
