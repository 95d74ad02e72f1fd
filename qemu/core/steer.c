// SPDX-License-Identifier: GPL-2.0-or-later
/* Flow tables, the root, and the way of a packet through them. */
#include "heap.h"
#include "steer.h"

#define SYND_FT_TYPE    0x0f70001u
#define SYND_FT_SIZE    0x0f70002u
#define SYND_FT_LEVEL   0x0f70003u
#define SYND_FT_MISS    0x0f70004u
#define SYND_FT_NUMBER  0x0f70005u
#define SYND_FT_LIMIT   0x0f70006u
#define SYND_FT_BUSY    0x0f70007u
#define SYND_FT_ROOT    0x0f70008u

enum { TABLE_TYPE_NIC_RX = 0 };
enum { MISS_DEFAULT = 0, MISS_FORWARD = 1 };
enum { ROOT_SET = 0, ROOT_DISCONNECT = 1 };
enum { MODIFY_MISS_TABLE = 1 << 0 };    /* modify_field_select */

/* FCS, which frames here do not have and the port's MTU counts. */
#define FCS_LEN         4

/*
 * A path never gets longer than the levels there are, but entries with many
 * destinations could branch at each, a table can have thousands of groups, and
 * entries can be chosen to share a bucket.  What one frame may set off is
 * bounded: it costs a step for each table, group and entry that is looked at,
 * and some for each copy.  What is left to do then is dropped.
 */
#define FRAME_STEPS     8192
#define COPY_STEPS      16
/* So much is in the price of a frame. */
#define FREE_STEPS      64

/* The walk */

static bool pay(MocxSteer *st, uint32_t steps)
{
    steps = steps < st->steps ? steps : st->steps;
    st->steps -= steps;
    return st->steps;
}

static MocxFlowEntry *table_lookup(MocxSteer *st, const MocxFlowTable *table)
{
    for (MocxFlowGroup *g = table->groups; g && pay(st, 1); g = g->next) {
        MocxFlowEntry *entry = g->num_entries
            ? mocx_flow_group_lookup(g, &st->key, &st->steps) : NULL;

        if (entry) {
            return entry;
        }
    }
    return NULL;
}

static void steer_from(MocxDev *dev, MocxFlowTable *table,
                       const MocxEthPkt *pkt);

/*
 * Do what the entry says.
 *
 * Return: the last table it forwards to, so that the usual chain of tables is
 * a loop and not a recursion.
 */
static MocxFlowTable *entry_act(MocxDev *dev, const MocxFlowAction *action,
                                const MocxEthPkt *pkt)
{
    MocxFlowTable *next = NULL;

    if (action->counter) {
        action->counter->packets++;
        action->counter->bytes += pkt->len;
    }
    for (uint32_t i = 0; i < action->num_dests; i++) {
        const MocxFlowDest *dest = &action->dests[i];

        if (next) {
            steer_from(dev, next, pkt);
        }
        next = dest->table;
        if (dest->tir && pay(dev->steer, COPY_STEPS)) {
            mocx_tir_receive(dev, dest->tir, pkt, action->tag);
        }
    }
    return next;
}

static void steer_from(MocxDev *dev, MocxFlowTable *table,
                       const MocxEthPkt *pkt)
{
    MocxSteer *st = dev->steer;

    while (table && pay(st, 1)) {
        MocxFlowEntry *entry = table_lookup(st, table);

        table = entry ? entry_act(dev, &entry->action, pkt) : table->miss;
    }
}

/* @from: the domain that sent it, NULL for what the wire brought */
static void receive(MocxDev *dev, const uint8_t *frame, size_t len,
                    const uint32_t *from)
{
    MocxSteer *st = dev->steer;
    MocxEthPkt pkt;
    uint32_t used;

    if (!st->root) {
        return;
    }
    if (len + FCS_LEN > dev->port.admin_mtu ||
        !mocx_eth_parse(&pkt, frame, len)) {
        dev->port.counters.rx_dropped++;
        return;
    }
    pkt.looped = from;
    pkt.from = from ? *from : 0;
    mocx_match_key(&st->key, &pkt);
    st->steps = FRAME_STEPS;
    steer_from(dev, st->root, &pkt);
    used = FRAME_STEPS - st->steps;
    mocx_charge(dev, used > FREE_STEPS ? used - FREE_STEPS : 0);
    dev->port.counters.rx_dropped += !st->steps;
}

void mocx_eth_receive(MocxDev *dev, const uint8_t *frame, size_t len)
{
    receive(dev, frame, len, NULL);
}

void mocx_eth_loopback(MocxDev *dev, const uint8_t *frame, size_t len,
                       uint32_t from)
{
    receive(dev, frame, len, &from);
}

/* Commands */

MocxFlowTable *mocx_flow_table_find(MocxDev *dev, uint32_t id)
{
    return (MocxFlowTable *)mocx_table_find(&dev->steer->tables, id);
}

/* All commands on tables have the table type at the same place. */
static bool flow_type_ok(MocxDev *dev, MocxCmd *cmd)
{
    unsigned type = DEVX_GET(create_flow_table_in, cmd->in, table_type);

    if (type == TABLE_TYPE_NIC_RX &&
        !DEVX_GET(create_flow_table_in, cmd->in, other_vport)) {
        return true;
    }
    mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FT_TYPE,
             "flow table type %u is not supported", type);
    return false;
}

/* All but CREATE_FLOW_TABLE have its number at the same place, too. */
MocxFlowTable *mocx_flow_table_of(MocxDev *dev, MocxCmd *cmd,
                                  MocxStatus *status)
{
    uint32_t id = DEVX_GET(destroy_flow_table_in, cmd->in, table_id);
    MocxFlowTable *table = mocx_flow_table_find(dev, id);

    *status = MOCX_BAD_PARAM;
    if (!flow_type_ok(dev, cmd)) {
        return NULL;
    }
    *status = MOCX_OK;
    if (!table) {
        *status = mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_FT_NUMBER,
                           "flow table %u does not exist", id);
    }
    return table;
}

/* The miss table that a context names, which may be none. */
static MocxStatus read_miss(MocxDev *dev, MocxCmd *cmd, const uint8_t *ctx,
                            unsigned level, MocxFlowTable **miss)
{
    unsigned action = DEVX_GET(flow_table_context, ctx, table_miss_action);
    uint32_t id = DEVX_GET(flow_table_context, ctx, table_miss_id);

    *miss = NULL;
    if (action == MISS_DEFAULT) {
        return MOCX_OK;
    }
    *miss = mocx_flow_table_find(dev, id);
    if (action != MISS_FORWARD || !*miss || (*miss)->level <= level) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FT_MISS,
                        "flow table of level %u misses to %u (action %u)",
                        level, id, action);
    }
    return MOCX_OK;
}

static MocxStatus check_table(MocxDev *dev, MocxCmd *cmd, const uint8_t *ctx)
{
    unsigned level = DEVX_GET(flow_table_context, ctx, level);

    if (!flow_type_ok(dev, cmd)) {
        return MOCX_BAD_PARAM;
    }
    if (cmd->op_mod || DEVX_GET(flow_table_context, ctx, reformat_en) ||
        DEVX_GET(flow_table_context, ctx, decap_en) ||
        DEVX_GET(flow_table_context, ctx, sw_owner) ||
        DEVX_GET(flow_table_context, ctx, termination_table)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FT_TYPE,
                        "flow table asks for what is not advertised");
    }
    if (DEVX_GET(flow_table_context, ctx, log_size) > MOCX_FT_LOG_MAX_SIZE) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FT_SIZE,
                        "flow table of 2^%u entries",
                        DEVX_GET(flow_table_context, ctx, log_size));
    }
    if (level >= MOCX_FT_MAX_LEVEL) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FT_LEVEL,
                        "flow table level %u", level);
    }
    return MOCX_OK;
}

static const MocxObjKind table_kind = {
    .type = MOCX_OBJ_FLOW_TABLE, .uses = { offsetof(MocxFlowTable, miss) },
};

static MocxStatus table_create(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *ctx = DEVX_ADDR_OF(create_flow_table_in, cmd->in,
                                      flow_table_context);
    MocxStatus status = check_table(dev, cmd, ctx);
    unsigned level = DEVX_GET(flow_table_context, ctx, level);
    MocxFlowTable *table, *miss;

    if (status == MOCX_OK) {
        status = read_miss(dev, cmd, ctx, level, &miss);
    }
    if (status != MOCX_OK) {
        return status;
    }
    table = mocx_calloc(&dev->heap, 1, sizeof(*table));
    if (!table) {
        return MOCX_NO_RES;
    }
    table->level = level;
    table->log_size = DEVX_GET(flow_table_context, ctx, log_size);
    table->miss = miss;
    if (!mocx_table_add(&dev->steer->tables, &table->obj, &table_kind)) {
        mocx_free(table);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_FT_LIMIT,
                        "no flow table left");
    }
    DEVX_SET(create_flow_table_out, cmd->out, table_id, table->obj.id);
    return MOCX_OK;
}

static MocxStatus table_modify(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *ctx = DEVX_ADDR_OF(modify_flow_table_in, cmd->in,
                                      flow_table_context);
    MocxStatus status;
    MocxFlowTable *table = mocx_flow_table_of(dev, cmd, &status), *miss;

    if (!table) {
        return status;
    }
    if (!(DEVX_GET(modify_flow_table_in, cmd->in, modify_field_select) &
          MODIFY_MISS_TABLE)) {
        return MOCX_OK;
    }
    status = read_miss(dev, cmd, ctx, table->level, &miss);
    if (status != MOCX_OK) {
        return status;
    }
    mocx_obj_use((MocxObj **)&table->miss, (MocxObj *)miss);
    return MOCX_OK;
}

static MocxStatus table_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxStatus status;
    MocxFlowTable *table = mocx_flow_table_of(dev, cmd, &status);

    if (!table) {
        return status;
    }
    if (table->obj.refs || table->groups) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_FT_BUSY,
                        "flow table %u %s", table->obj.id,
                        table->groups ? "has groups" : "is a destination");
    }
    /* The driver destroys the last root without a word (fs_core.c). */
    if (dev->steer->root == table) {
        dev->steer->root = NULL;
    }
    mocx_table_drop(dev, &dev->steer->tables, &table->obj);
    return MOCX_OK;
}

static MocxStatus table_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *ctx = DEVX_ADDR_OF(query_flow_table_out, cmd->out,
                                flow_table_context);
    MocxStatus status;
    MocxFlowTable *table = mocx_flow_table_of(dev, cmd, &status);

    if (!table) {
        return status;
    }
    DEVX_SET(flow_table_context, ctx, level, table->level);
    DEVX_SET(flow_table_context, ctx, log_size, table->log_size);
    if (table->miss) {
        DEVX_SET(flow_table_context, ctx, table_miss_action, MISS_FORWARD);
        DEVX_SET(flow_table_context, ctx, table_miss_id, table->miss->obj.id);
    }
    return MOCX_OK;
}

static MocxStatus root_set(MocxDev *dev, MocxCmd *cmd)
{
    MocxStatus status;
    MocxFlowTable *table;

    /* mlx5_core: of an underlay QP (IPoIB) only, which no Ethernet port has. */
    if (cmd->op_mod == ROOT_DISCONNECT && !dev->cfg.card) {
        if (!flow_type_ok(dev, cmd)) {
            return MOCX_BAD_PARAM;
        }
        dev->steer->root = NULL;
        return MOCX_OK;
    }
    if (cmd->op_mod != ROOT_SET ||
        DEVX_GET(set_flow_table_root_in, cmd->in, underlay_qpn)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FT_ROOT,
                        "flow table root, op_mod %u", cmd->op_mod);
    }
    table = mocx_flow_table_of(dev, cmd, &status);
    if (!table) {
        return status;
    }
    dev->steer->root = table;
    return MOCX_OK;
}

#define ROW(OP, ifc, handler) MOCX_ROW(OP, ifc, MOCX_ST_INITIALIZED, handler)

static const MocxCmdRow rows[] = {
    ROW(CREATE_FLOW_TABLE, create_flow_table, table_create),
    ROW(MODIFY_FLOW_TABLE, modify_flow_table, table_modify),
    ROW(DESTROY_FLOW_TABLE, destroy_flow_table, table_destroy),
    ROW(QUERY_FLOW_TABLE, query_flow_table, table_query),
    ROW(SET_FLOW_TABLE_ROOT, set_flow_table_root, root_set),
    ROW(CREATE_FLOW_GROUP, create_flow_group, mocx_flow_group_create),
    ROW(DESTROY_FLOW_GROUP, destroy_flow_group, mocx_flow_group_destroy),
    ROW(QUERY_FLOW_GROUP, query_flow_group, mocx_flow_group_query),
    ROW(SET_FLOW_TABLE_ENTRY, set_fte, mocx_flow_entry_set),
    ROW(DELETE_FLOW_TABLE_ENTRY, delete_fte, mocx_flow_entry_delete),
    ROW(QUERY_FLOW_TABLE_ENTRY, query_fte, mocx_flow_entry_query),
    ROW(ALLOC_FLOW_COUNTER, alloc_flow_counter, mocx_flow_counter_alloc),
    ROW(DEALLOC_FLOW_COUNTER, dealloc_flow_counter, mocx_flow_counter_dealloc),
    ROW(QUERY_FLOW_COUNTER, query_flow_counter, mocx_flow_counter_query),
};

const MocxCmdRows mocx_rows_steer = { rows, sizeof(rows) / sizeof(rows[0]) };

/* Life cycle */

static bool steer_create(MocxDev *dev)
{
    MocxSteer *st = mocx_calloc(&dev->heap, 1, sizeof(*st));

    if (!st) {
        return false;
    }
    st->tables.live = dev->live;
    st->groups.live = dev->live;
    st->tables.heap = st->groups.heap = &dev->heap;
    mocx_table_init(&st->tables, 1, 1 << MOCX_FT_LOG_MAX_NUM);
    mocx_table_init(&st->groups, 1, MOCX_FT_MAX_GROUPS);
    dev->steer = st;
    return true;
}

static void steer_reset(MocxDev *dev)
{
    MocxSteer *st = dev->steer;

    st->root = NULL;
    mocx_table_clear(dev, &st->groups, &mocx_flow_group_kind);
    mocx_table_clear(dev, &st->tables, &table_kind);
    mocx_table_clear(dev, &dev->flow_counters, &mocx_flow_counter_kind);
}

static void steer_destroy(MocxDev *dev)
{
    if (dev->steer) {
        mocx_table_fini(&dev->steer->tables);
        mocx_table_fini(&dev->steer->groups);
        mocx_free(dev->steer);
        dev->steer = NULL;
    }
}

const MocxModule mocx_mod_steer = {
    .name = "steer",
    .create = steer_create,
    .reset = steer_reset,
    .destroy = steer_destroy,
};
