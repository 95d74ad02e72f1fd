// SPDX-License-Identifier: GPL-2.0-or-later
/* Flow counters: packets and bytes of the entries that name them. */
#include "heap.h"
#include "steer.h"

#define SYND_FC_NUMBER  0x0fc0001u
#define SYND_FC_LIMIT   0x0fc0002u
#define SYND_FC_BUSY    0x0fc0003u
#define SYND_FC_BULK    0x0fc0004u

const MocxObjKind mocx_flow_counter_kind = { .type = MOCX_OBJ_FLOW_COUNTER };

static MocxFlowCounter *counter_of(MocxDev *dev, MocxCmd *cmd, uint32_t id)
{
    MocxObj *obj = mocx_table_find(&dev->flow_counters, id);

    if (!obj) {
        mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_FC_NUMBER,
                 "flow counter %u does not exist", id);
    }
    return (MocxFlowCounter *)obj;
}

MocxStatus mocx_flow_counter_alloc(MocxDev *dev, MocxCmd *cmd)
{
    MocxFlowCounter *fc;

    if (DEVX_GET(alloc_flow_counter_in, cmd->in, flow_counter_bulk) ||
        DEVX_GET(alloc_flow_counter_in, cmd->in, flow_counter_bulk_log_size)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FC_BULK,
                        "flow counters in bulk are not supported");
    }
    fc = mocx_calloc(&dev->heap, 1, sizeof(*fc));
    if (!fc) {
        return MOCX_NO_RES;
    }
    if (!mocx_table_add(&dev->flow_counters, &fc->obj,
                        &mocx_flow_counter_kind)) {
        mocx_free(fc);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_FC_LIMIT,
                        "no flow counter left");
    }
    DEVX_SET(alloc_flow_counter_out, cmd->out, flow_counter_id, fc->obj.id);
    return MOCX_OK;
}

MocxStatus mocx_flow_counter_dealloc(MocxDev *dev, MocxCmd *cmd)
{
    uint32_t id = DEVX_GET(dealloc_flow_counter_in, cmd->in, flow_counter_id);
    MocxFlowCounter *fc = counter_of(dev, cmd, id);

    if (!fc) {
        return MOCX_BAD_RES;
    }
    if (fc->obj.refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_FC_BUSY,
                        "flow counter %u is named by %u entries", id,
                        fc->obj.refs);
    }
    mocx_table_drop(dev, &dev->flow_counters, &fc->obj);
    return MOCX_OK;
}

MocxStatus mocx_flow_counter_query(MocxDev *dev, MocxCmd *cmd)
{
    uint32_t id = DEVX_GET(query_flow_counter_in, cmd->in, flow_counter_id);
    uint8_t *stats = cmd->out + DEVX_ST_SZ_BYTES(query_flow_counter_out);
    MocxFlowCounter *fc;

    if (DEVX_GET(query_flow_counter_in, cmd->in, num_of_counters) > 1 ||
        stats + DEVX_ST_SZ_BYTES(traffic_counter) > cmd->out + cmd->outlen) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_FC_BULK,
                        "flow counters are queried one by one");
    }
    fc = counter_of(dev, cmd, id);
    if (!fc) {
        return MOCX_BAD_RES;
    }
    cmd->defined = stats + DEVX_ST_SZ_BYTES(traffic_counter) - cmd->out;
    DEVX_SET64(traffic_counter, stats, packets, fc->packets);
    DEVX_SET64(traffic_counter, stats, octets, fc->bytes);
    if (DEVX_GET(query_flow_counter_in, cmd->in, clear)) {
        fc->packets = 0;
        fc->bytes = 0;
    }
    return MOCX_OK;
}
