// SPDX-License-Identifier: GPL-2.0-or-later
/* Flow table entries: what is done with the packets that match. */
#include "heap.h"
#include "steer.h"

#define SYND_FTE_INDEX  0x0f50001u
#define SYND_FTE_ACTION 0x0f50002u
#define SYND_FTE_DEST   0x0f50003u
#define SYND_FTE_COUNT  0x0f50004u
#define SYND_FTE_LEVEL  0x0f50005u
#define SYND_FTE_LIMIT  0x0f50006u
#define SYND_FTE_STATE  0x0f50007u

#define ACTIONS (MOCX_FLOW_ALLOW | MOCX_FLOW_DROP | MOCX_FLOW_FWD | \
                 MOCX_FLOW_COUNT)

enum { OP_CREATE = 0, OP_MODIFY = 1 };

#define MODIFY(what)    (1 << MLX5_SET_FTE_MODIFY_ENABLE_MASK_##what)

/* Actions */

static void action_hold(MocxFlowAction *a)
{
    for (uint32_t i = 0; i < a->num_dests; i++) {
        mocx_obj_hold(a->dests[i].table ? &a->dests[i].table->obj : NULL);
        mocx_obj_hold(a->dests[i].tir ? &a->dests[i].tir->obj : NULL);
    }
    mocx_obj_hold(a->counter ? &a->counter->obj : NULL);
}

static void action_release(MocxFlowAction *a)
{
    for (uint32_t i = 0; i < a->num_dests; i++) {
        mocx_obj_drop(a->dests[i].table ? &a->dests[i].table->obj : NULL);
        mocx_obj_drop(a->dests[i].tir ? &a->dests[i].tir->obj : NULL);
    }
    mocx_obj_drop(a->counter ? &a->counter->obj : NULL);
    mocx_free(a->dests);
}

void mocx_flow_entry_free(MocxDev *dev, MocxFlowEntry *entry)
{
    action_release(&entry->action);
    mocx_free(entry);
}

static MocxStatus read_dest(MocxDev *dev, MocxCmd *cmd, const uint8_t *d,
                            const MocxFlowTable *from, MocxFlowDest *dest)
{
    unsigned type = DEVX_GET(dest_format_struct, d, destination_type);
    uint32_t id = DEVX_GET(dest_format_struct, d, destination_id);

    if (type == MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE) {
        dest->table = mocx_flow_table_find(dev, id);
        if (dest->table && dest->table->level <= from->level) {
            return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FTE_LEVEL,
                            "table %u, level %u, forwards to %u, level %u",
                            from->obj.id, from->level, id, dest->table->level);
        }
    } else if (type == MLX5_IFC_FLOW_DESTINATION_TYPE_TIR) {
        dest->tir = mocx_tir_find(dev, id);
    }
    if (!dest->table && !dest->tir) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_FTE_DEST,
                        "no flow destination %u of type %u", id, type);
    }
    return MOCX_OK;
}

static MocxStatus read_dests(MocxDev *dev, MocxCmd *cmd, const uint8_t *list,
                             const MocxFlowTable *from, MocxFlowAction *a)
{
    const size_t size = DEVX_ST_SZ_BYTES(dest_format_struct);
    MocxStatus status = MOCX_OK;

    a->dests = mocx_calloc(&dev->heap, a->num_dests, sizeof(a->dests[0]));
    if (!a->dests) {
        return MOCX_NO_RES;
    }
    for (uint32_t i = 0; i < a->num_dests && status == MOCX_OK; i++) {
        status = read_dest(dev, cmd, list + i * size, from, &a->dests[i]);
    }
    if (status != MOCX_OK) {
        mocx_free(a->dests);
        a->dests = NULL;
    }
    return status;
}

/* The numbers of an action, before anything is looked up or allocated. */
static MocxStatus check_action(MocxDev *dev, MocxCmd *cmd, const uint8_t *fc)
{
    unsigned flags = DEVX_GET(flow_context, fc, action);
    uint32_t dests = DEVX_GET(flow_context, fc, destination_list_size);
    uint32_t counters = DEVX_GET(flow_context, fc, flow_counter_list_size);
    size_t list = DEVX_ADDR_OF(flow_context, fc, destination) - cmd->in;

    if (flags & ~ACTIONS || DEVX_GET(flow_context, fc, extended_destination) ||
        (flags & MOCX_FLOW_FWD && flags & MOCX_FLOW_DROP)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FTE_ACTION,
                        "flow action 0x%x", flags);
    }
    if (dests > 1 << MOCX_FT_LOG_MAX_DEST ||
        !dests != !(flags & MOCX_FLOW_FWD)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FTE_DEST,
                        "flow action 0x%x with %u destinations", flags, dests);
    }
    if (counters != !!(flags & MOCX_FLOW_COUNT)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FTE_COUNT,
                        "flow action 0x%x with %u counters", flags, counters);
    }
    if (list + (dests + counters) * DEVX_ST_SZ_BYTES(dest_format_struct) >
        cmd->inlen) {
        return mocx_bad(dev, cmd, MOCX_BAD_INPUT_LEN, SYND_FTE_DEST,
                        "flow context is cut");
    }
    return MOCX_OK;
}

/* The action of a flow context; nothing is held yet. */
static MocxStatus read_action(MocxDev *dev, MocxCmd *cmd, const uint8_t *fc,
                              const MocxFlowTable *from, MocxFlowAction *a)
{
    const uint8_t *list = DEVX_ADDR_OF(flow_context, fc, destination);
    MocxStatus status = check_action(dev, cmd, fc);

    if (status != MOCX_OK) {
        return status;
    }
    a->flags = DEVX_GET(flow_context, fc, action);
    a->tag = DEVX_GET(flow_context, fc, flow_tag);
    a->num_dests = DEVX_GET(flow_context, fc, destination_list_size);
    if (a->flags & MOCX_FLOW_COUNT) {
        const uint8_t *d = list + a->num_dests *
                           DEVX_ST_SZ_BYTES(dest_format_struct);
        uint32_t id = DEVX_GET(flow_counter_list, d, flow_counter_id);

        a->counter = (MocxFlowCounter *)mocx_table_find(&dev->flow_counters,
                                                        id);
        if (!a->counter) {
            return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_FTE_COUNT,
                            "flow counter %u does not exist", id);
        }
    }
    return a->num_dests ? read_dests(dev, cmd, list, from, a) : MOCX_OK;
}

/* Commands */

/* The group that holds the index a command names. */
static MocxFlowGroup *group_at(MocxDev *dev, MocxCmd *cmd, MocxStatus *status)
{
    uint32_t index = DEVX_GET(delete_fte_in, cmd->in, flow_index);
    MocxFlowTable *table = mocx_flow_table_of(dev, cmd, status);
    MocxFlowGroup *g;

    if (!table) {
        return NULL;
    }
    g = mocx_flow_group_find(table, index);
    if (!g) {
        *status = mocx_bad(dev, cmd, MOCX_BAD_INDEX, SYND_FTE_INDEX,
                           "no group in table %u has flow index %u",
                           table->obj.id, index);
    }
    return g;
}

static MocxFlowEntry *entry_of(MocxDev *dev, MocxCmd *cmd, MocxFlowGroup *g)
{
    uint32_t index = DEVX_GET(delete_fte_in, cmd->in, flow_index);
    MocxFlowEntry *entry = mocx_flow_group_entry(g, index);

    if (!entry) {
        mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_FTE_INDEX,
                 "table %u has no entry %u", g->table->obj.id, index);
    }
    return entry;
}

static MocxStatus entry_add(MocxDev *dev, MocxCmd *cmd, MocxFlowGroup *g,
                            const MocxFlowAction *action)
{
    const uint8_t *fc = DEVX_ADDR_OF(set_fte_in, cmd->in, flow_context);
    MocxFlowEntry *entry;

    if (dev->steer->num_entries >= 1u << MOCX_FT_LOG_MAX_FLOW) {
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_FTE_LIMIT,
                        "no flow table entry left");
    }
    entry = mocx_calloc(&dev->heap, 1, sizeof(*entry) +
                           g->mask.n * sizeof(entry->value[0]));
    if (!entry) {
        return MOCX_NO_RES;
    }
    entry->index = DEVX_GET(set_fte_in, cmd->in, flow_index);
    entry->hash = mocx_match_pick(&g->mask,
                                  DEVX_ADDR_OF(flow_context, fc, match_value),
                                  entry->value);
    entry->action = *action;
    if (!mocx_flow_group_add(dev, g, entry)) {
        mocx_free(entry);
        return MOCX_NO_RES;
    }
    action_hold(&entry->action);
    return MOCX_OK;
}

static MocxStatus entry_create(MocxDev *dev, MocxCmd *cmd, MocxFlowGroup *g)
{
    const uint8_t *fc = DEVX_ADDR_OF(set_fte_in, cmd->in, flow_context);
    uint32_t index = DEVX_GET(set_fte_in, cmd->in, flow_index);
    MocxFlowAction action = { 0 };
    MocxStatus status;

    if (mocx_flow_group_entry(g, index) ||
        DEVX_GET(flow_context, fc, group_id) != g->obj.id) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_FTE_STATE,
                        "table %u has an entry %u, or it is not of group %u",
                        g->table->obj.id, index,
                        DEVX_GET(flow_context, fc, group_id));
    }
    status = read_action(dev, cmd, fc, g->table, &action);
    if (status != MOCX_OK) {
        return status;
    }
    status = entry_add(dev, cmd, g, &action);
    if (status != MOCX_OK) {
        mocx_free(action.dests);
    }
    return status;
}

/*
 * The driver sends the whole context and says what of it is new; what it does
 * not name keeps its old value.
 */
static MocxStatus entry_modify(MocxDev *dev, MocxCmd *cmd, MocxFlowGroup *g)
{
    const uint8_t *fc = DEVX_ADDR_OF(set_fte_in, cmd->in, flow_context);
    unsigned mask = DEVX_GET(set_fte_in, cmd->in, modify_enable_mask);
    MocxFlowEntry *entry = entry_of(dev, cmd, g);
    MocxFlowAction action = { 0 };
    MocxStatus status;

    if (!entry) {
        return MOCX_BAD_RES;
    }
    if (!(mask & (MODIFY(ACTION) | MODIFY(DESTINATION_LIST) |
                  MODIFY(FLOW_COUNTERS)))) {
        if (mask & MODIFY(FLOW_TAG)) {
            entry->action.tag = DEVX_GET(flow_context, fc, flow_tag);
        }
        return MOCX_OK;
    }
    status = read_action(dev, cmd, fc, g->table, &action);
    if (status != MOCX_OK) {
        return status;
    }
    if (!(mask & MODIFY(FLOW_TAG))) {
        action.tag = entry->action.tag;
    }
    action_hold(&action);
    action_release(&entry->action);
    entry->action = action;
    return MOCX_OK;
}

MocxStatus mocx_flow_entry_set(MocxDev *dev, MocxCmd *cmd)
{
    MocxStatus status;
    MocxFlowGroup *g = group_at(dev, cmd, &status);

    if (!g) {
        return status;
    }
    if (cmd->op_mod == OP_MODIFY) {
        return entry_modify(dev, cmd, g);
    }
    if (cmd->op_mod != OP_CREATE ||
        DEVX_GET(set_fte_in, cmd->in, ignore_flow_level)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FTE_STATE,
                        "SET_FLOW_TABLE_ENTRY, op_mod %u", cmd->op_mod);
    }
    return entry_create(dev, cmd, g);
}

MocxStatus mocx_flow_entry_delete(MocxDev *dev, MocxCmd *cmd)
{
    MocxStatus status;
    MocxFlowGroup *g = group_at(dev, cmd, &status);
    MocxFlowEntry *entry;

    if (!g) {
        return status;
    }
    entry = entry_of(dev, cmd, g);
    if (!entry) {
        return MOCX_BAD_RES;
    }
    mocx_flow_group_del(dev, g, entry);
    mocx_flow_entry_free(dev, entry);
    return MOCX_OK;
}

/* @room: bytes of output behind the fixed part */
static void write_dests(const MocxFlowAction *a, uint8_t *list, size_t room)
{
    const size_t size = DEVX_ST_SZ_BYTES(dest_format_struct);
    uint32_t i;

    for (i = 0; i < a->num_dests && (i + 1) * size <= room; i++) {
        const MocxFlowDest *dest = &a->dests[i];
        uint8_t *d = list + i * size;

        DEVX_SET(dest_format_struct, d, destination_type,
                 dest->tir ? MLX5_IFC_FLOW_DESTINATION_TYPE_TIR
                           : MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE);
        DEVX_SET(dest_format_struct, d, destination_id,
                 dest->tir ? dest->tir->obj.id : dest->table->obj.id);
    }
    if (a->counter && (i + 1) * size <= room) {
        DEVX_SET(flow_counter_list, list + i * size, flow_counter_id,
                 a->counter->obj.id);
    }
}

MocxStatus mocx_flow_entry_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *fc = DEVX_ADDR_OF(query_fte_out, cmd->out, flow_context);
    uint8_t *list = DEVX_ADDR_OF(flow_context, fc, destination);
    MocxStatus status;
    MocxFlowGroup *g = group_at(dev, cmd, &status);
    MocxFlowEntry *entry;

    if (!g) {
        return status;
    }
    entry = entry_of(dev, cmd, g);
    if (!entry) {
        return MOCX_BAD_RES;
    }
    DEVX_SET(flow_context, fc, group_id, g->obj.id);
    DEVX_SET(flow_context, fc, flow_tag, entry->action.tag);
    DEVX_SET(flow_context, fc, action, entry->action.flags);
    DEVX_SET(flow_context, fc, destination_list_size, entry->action.num_dests);
    DEVX_SET(flow_context, fc, flow_counter_list_size, !!entry->action.counter);
    mocx_match_spread(&g->mask, entry->value,
                      DEVX_ADDR_OF(flow_context, fc, match_value));
    cmd->defined = cmd->outlen;
    write_dests(&entry->action, list, cmd->out + cmd->outlen - list);
    return MOCX_OK;
}
