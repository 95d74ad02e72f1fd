// SPDX-License-Identifier: GPL-2.0-or-later
/* Fields of commands that name objects or hold guest addresses: a table. */
#include "names.h"

#include "dev.h"
#include "steer.h"

#define FIELD(op, out, ifc, field, k)                                   \
    { MLX5_CMD_OP_##op, (out), (k), __devx_bit_sz(ifc, field),          \
      __devx_bit_off(ifc, field), 0, 0 }
#define IN(op, ifc, field, type)                                        \
    FIELD(op, false, ifc##_in, field, MOCX_OBJ_##type)
#define OUT(op, ifc, field, type)                                       \
    FIELD(op, true, ifc##_out, field, MOCX_OBJ_##type)
#define ADDR(op, ifc, field)                                            \
    FIELD(op, false, ifc##_in, field, MOCX_NAME_ADDR)
/* Page addresses behind the fixed part. */
#define PAGES(op, ifc)                                                  \
    { MLX5_CMD_OP_##op, false, MOCX_NAME_PAGES, 64,                     \
      (DEVX_ST_SZ_BYTES(ifc##_in) * 8), 64, 0 }
/* The number at 0x48, where most commands have theirs. */
#define NUMBER(op, type)                                                \
    { MLX5_CMD_OP_##op, false, MOCX_OBJ_##type, 24, 0x48, 0, 0 }
#define DEST(op, ifc, type, t)                                          \
    { MLX5_CMD_OP_##op, false, MOCX_OBJ_##type, 24,                     \
      (DEVX_ST_SZ_BYTES(ifc##_in) * 8) + 8, 64, (t) + 1 }

enum { DEST_FLOW_TABLE = 1, DEST_TIR = 2 };     /* mlx5_ifc.h */

/* By opcode, so that the rows of one are together; the order is free. */
static const MocxName names[] = {
    OUT(ALLOC_PD, alloc_pd, pd, PD),
    IN(DEALLOC_PD, dealloc_pd, pd, PD),
    OUT(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain, transport_domain, TD),
    IN(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain, transport_domain,
       TD),
    OUT(ALLOC_XRCD, alloc_xrcd, xrcd, XRCD),
    IN(DEALLOC_XRCD, dealloc_xrcd, xrcd, XRCD),
    OUT(ALLOC_UAR, alloc_uar, uar, UAR),
    IN(DEALLOC_UAR, dealloc_uar, uar, UAR),
    OUT(ALLOC_Q_COUNTER, alloc_q_counter, counter_set_id, Q_COUNTER),
    IN(DEALLOC_Q_COUNTER, dealloc_q_counter, counter_set_id, Q_COUNTER),
    IN(QUERY_Q_COUNTER, query_q_counter, counter_set_id, Q_COUNTER),
    OUT(ALLOC_FLOW_COUNTER, alloc_flow_counter, flow_counter_id, FLOW_COUNTER),
    IN(DEALLOC_FLOW_COUNTER, dealloc_flow_counter, flow_counter_id,
       FLOW_COUNTER),
    IN(QUERY_FLOW_COUNTER, query_flow_counter, flow_counter_id, FLOW_COUNTER),

    OUT(CREATE_MKEY, create_mkey, mkey_index, MKEY),
    IN(CREATE_MKEY, create_mkey, memory_key_mkey_entry.pd, PD),
    PAGES(CREATE_MKEY, create_mkey),
    NUMBER(DESTROY_MKEY, MKEY),
    NUMBER(QUERY_MKEY, MKEY),

    OUT(CREATE_EQ, create_eq, eq_number, EQ),
    IN(CREATE_EQ, create_eq, eq_context_entry.uar_page, UAR),
    PAGES(CREATE_EQ, create_eq),
    IN(DESTROY_EQ, destroy_eq, eq_number, EQ),
    IN(QUERY_EQ, query_eq, eq_number, EQ),

    OUT(CREATE_CQ, create_cq, cqn, CQ),
    IN(CREATE_CQ, create_cq, cq_context.c_eqn_or_apu_element, EQ),
    IN(CREATE_CQ, create_cq, cq_context.uar_page, UAR),
    ADDR(CREATE_CQ, create_cq, cq_context.dbr_addr),
    PAGES(CREATE_CQ, create_cq),
    NUMBER(DESTROY_CQ, CQ),
    NUMBER(QUERY_CQ, CQ),
    NUMBER(MODIFY_CQ, CQ),

    OUT(CREATE_TIS, create_tis, tisn, TIS),
    IN(CREATE_TIS, create_tis, ctx.transport_domain, TD),
    NUMBER(MODIFY_TIS, TIS),
    NUMBER(DESTROY_TIS, TIS),
    NUMBER(QUERY_TIS, TIS),

    OUT(CREATE_SQ, create_sq, sqn, SQ),
    IN(CREATE_SQ, create_sq, ctx.cqn, CQ),
    IN(CREATE_SQ, create_sq, ctx.tis_num_0, TIS),
    IN(CREATE_SQ, create_sq, ctx.wq.pd, PD),
    IN(CREATE_SQ, create_sq, ctx.wq.uar_page, UAR),
    ADDR(CREATE_SQ, create_sq, ctx.wq.dbr_addr),
    PAGES(CREATE_SQ, create_sq),
    NUMBER(MODIFY_SQ, SQ),
    NUMBER(DESTROY_SQ, SQ),
    NUMBER(QUERY_SQ, SQ),

    OUT(CREATE_RQ, create_rq, rqn, RQ),
    IN(CREATE_RQ, create_rq, ctx.cqn, CQ),
    IN(CREATE_RQ, create_rq, ctx.wq.pd, PD),
    IN(CREATE_RQ, create_rq, ctx.counter_set_id, Q_COUNTER),
    ADDR(CREATE_RQ, create_rq, ctx.wq.dbr_addr),
    PAGES(CREATE_RQ, create_rq),
    NUMBER(MODIFY_RQ, RQ),
    NUMBER(DESTROY_RQ, RQ),
    NUMBER(QUERY_RQ, RQ),

    OUT(CREATE_RQT, create_rqt, rqtn, RQT),
    { MLX5_CMD_OP_CREATE_RQT, false, MOCX_OBJ_RQ, 24,
      DEVX_ST_SZ_BYTES(create_rqt_in) * 8 + 8, 32, 0 },
    NUMBER(MODIFY_RQT, RQT),
    { MLX5_CMD_OP_MODIFY_RQT, false, MOCX_OBJ_RQ, 24,
      DEVX_ST_SZ_BYTES(modify_rqt_in) * 8 + 8, 32, 0 },
    NUMBER(DESTROY_RQT, RQT),
    NUMBER(QUERY_RQT, RQT),

    OUT(CREATE_TIR, create_tir, tirn, TIR),
    IN(CREATE_TIR, create_tir, ctx.inline_rqn, RQ),
    IN(CREATE_TIR, create_tir, ctx.indirect_table, RQT),
    IN(CREATE_TIR, create_tir, ctx.transport_domain, TD),
    NUMBER(MODIFY_TIR, TIR),
    NUMBER(DESTROY_TIR, TIR),
    NUMBER(QUERY_TIR, TIR),

    OUT(CREATE_RMP, create_rmp, rmpn, SRQ),
    IN(CREATE_RMP, create_rmp, ctx.wq.pd, PD),
    ADDR(CREATE_RMP, create_rmp, ctx.wq.dbr_addr),
    PAGES(CREATE_RMP, create_rmp),
    NUMBER(MODIFY_RMP, SRQ),
    NUMBER(QUERY_RMP, SRQ),
    NUMBER(DESTROY_RMP, SRQ),
    OUT(CREATE_XRC_SRQ, create_xrc_srq, xrc_srqn, SRQ),
    IN(CREATE_XRC_SRQ, create_xrc_srq, xrc_srq_context_entry.pd, PD),
    IN(CREATE_XRC_SRQ, create_xrc_srq, xrc_srq_context_entry.xrcd, XRCD),
    IN(CREATE_XRC_SRQ, create_xrc_srq, xrc_srq_context_entry.cqn, CQ),
    PAGES(CREATE_XRC_SRQ, create_xrc_srq),
    NUMBER(ARM_XRC_SRQ, SRQ),
    NUMBER(QUERY_XRC_SRQ, SRQ),
    NUMBER(DESTROY_XRC_SRQ, SRQ),
    OUT(CREATE_SRQ, create_srq, srqn, SRQ),
    IN(CREATE_SRQ, create_srq, srq_context_entry.pd, PD),
    ADDR(CREATE_SRQ, create_srq, srq_context_entry.dbr_addr),
    PAGES(CREATE_SRQ, create_srq),
    NUMBER(ARM_RQ, SRQ),
    NUMBER(QUERY_SRQ, SRQ),
    NUMBER(DESTROY_SRQ, SRQ),

    OUT(CREATE_QP, create_qp, qpn, QP),
    IN(CREATE_QP, create_qp, qpc.pd, PD),
    IN(CREATE_QP, create_qp, qpc.xrcd, XRCD),
    IN(CREATE_QP, create_qp, qpc.uar_page, UAR),
    IN(CREATE_QP, create_qp, qpc.cqn_snd, CQ),
    IN(CREATE_QP, create_qp, qpc.cqn_rcv, CQ),
    IN(CREATE_QP, create_qp, qpc.srqn_rmpn_xrqn, SRQ),
    ADDR(CREATE_QP, create_qp, qpc.dbr_addr),
    PAGES(CREATE_QP, create_qp),
    NUMBER(DESTROY_QP, QP),
    NUMBER(QUERY_QP, QP),
    NUMBER(RST2INIT_QP, QP),
    NUMBER(INIT2INIT_QP, QP),
    NUMBER(INIT2RTR_QP, QP),
    NUMBER(RTR2RTS_QP, QP),
    NUMBER(RTS2RTS_QP, QP),
    NUMBER(SQERR2RTS_QP, QP),
    NUMBER(SQD_RTS_QP, QP),
    NUMBER(2ERR_QP, QP),
    NUMBER(2RST_QP, QP),
    NUMBER(ATTACH_TO_MCG, QP),
    NUMBER(DETACH_FROM_MCG, QP),

    OUT(CREATE_FLOW_TABLE, create_flow_table, table_id, FLOW_TABLE),
    IN(CREATE_FLOW_TABLE, create_flow_table,
       flow_table_context.table_miss_id, FLOW_TABLE),
    IN(MODIFY_FLOW_TABLE, modify_flow_table, table_id, FLOW_TABLE),
    IN(MODIFY_FLOW_TABLE, modify_flow_table,
       flow_table_context.table_miss_id, FLOW_TABLE),
    IN(DESTROY_FLOW_TABLE, destroy_flow_table, table_id, FLOW_TABLE),
    IN(QUERY_FLOW_TABLE, query_flow_table, table_id, FLOW_TABLE),
    IN(SET_FLOW_TABLE_ROOT, set_flow_table_root, table_id, FLOW_TABLE),
    OUT(CREATE_FLOW_GROUP, create_flow_group, group_id, FLOW_GROUP),
    IN(CREATE_FLOW_GROUP, create_flow_group, table_id, FLOW_TABLE),
    IN(DESTROY_FLOW_GROUP, destroy_flow_group, table_id, FLOW_TABLE),
    IN(DESTROY_FLOW_GROUP, destroy_flow_group, group_id, FLOW_GROUP),
    IN(QUERY_FLOW_GROUP, query_flow_group, table_id, FLOW_TABLE),
    IN(QUERY_FLOW_GROUP, query_flow_group, group_id, FLOW_GROUP),
    IN(SET_FLOW_TABLE_ENTRY, set_fte, table_id, FLOW_TABLE),
    IN(SET_FLOW_TABLE_ENTRY, set_fte, flow_context.group_id, FLOW_GROUP),
    DEST(SET_FLOW_TABLE_ENTRY, set_fte, FLOW_TABLE, DEST_FLOW_TABLE),
    DEST(SET_FLOW_TABLE_ENTRY, set_fte, TIR, DEST_TIR),
    IN(DELETE_FLOW_TABLE_ENTRY, delete_fte, table_id, FLOW_TABLE),
    IN(QUERY_FLOW_TABLE_ENTRY, query_fte, table_id, FLOW_TABLE),

    PAGES(MANAGE_PAGES, manage_pages),
};

#define NUM_NAMES (sizeof(names) / sizeof(names[0]))

const MocxName *mocx_name_first(uint16_t opcode)
{
    for (size_t i = 0; i < NUM_NAMES; i++) {
        if (names[i].opcode == opcode) {
            return &names[i];
        }
    }
    return NULL;
}

const MocxName *mocx_name_next(const MocxName *name)
{
    const MocxName *next = name + 1;

    return next < names + NUM_NAMES && next->opcode == name->opcode ? next
                                                                    : NULL;
}

/* Fields of 64 bits are aligned to bytes, others lie within a dword. */
static bool name_at(const MocxName *name, uint32_t i, uint64_t *bit)
{
    *bit = name->off + (uint64_t)i * name->stride;
    return name->stride || !i;
}

bool mocx_name_get(const MocxName *name, const uint8_t *msg, uint32_t len,
                   uint32_t i, uint64_t *value)
{
    uint64_t bit;
    unsigned shift;

    if (!name_at(name, i, &bit) || bit + name->bits > len * 8ull) {
        return false;
    }
    if (name->bits == 64) {
        *value = mocx_get_be64(msg + bit / 8);
        return true;
    }
    shift = 32 - name->bits - bit % 32;
    *value = mocx_get_be32(msg + bit / 32 * 4) >> shift &
             (uint32_t)__devx_mask(name->bits);
    if (name->tag && msg[bit / 8 - 1] != name->tag - 1) {
        *value = 0;
    }
    return true;
}

void mocx_name_put(const MocxName *name, uint8_t *msg, uint32_t i,
                   uint64_t value)
{
    uint32_t mask, old;
    unsigned shift;
    uint64_t bit;

    name_at(name, i, &bit);
    if (name->bits == 64) {
        mocx_put_be64(msg + bit / 8, value);
        return;
    }
    shift = 32 - name->bits - bit % 32;
    mask = (uint32_t)__devx_mask(name->bits) << shift;
    old = mocx_get_be32(msg + bit / 32 * 4);
    mocx_put_be32(msg + bit / 32 * 4,
                  (old & ~mask) | ((uint32_t)value << shift & mask));
}

MocxTable *mocx_table_of(MocxDev *dev, MocxObjType type)
{
    MocxTable *const tables[MOCX_OBJ_TYPES] = {
        [MOCX_OBJ_UAR] = &dev->uars, [MOCX_OBJ_PD] = &dev->pds,
        [MOCX_OBJ_TD] = &dev->tds, [MOCX_OBJ_XRCD] = &dev->xrcds,
        [MOCX_OBJ_MKEY] = &dev->mkeys, [MOCX_OBJ_EQ] = &dev->eqs,
        [MOCX_OBJ_CQ] = &dev->cqs, [MOCX_OBJ_QP] = &dev->queues,
        [MOCX_OBJ_SQ] = &dev->queues, [MOCX_OBJ_RQ] = &dev->queues,
        [MOCX_OBJ_SRQ] = &dev->srqs, [MOCX_OBJ_TIS] = &dev->tises,
        [MOCX_OBJ_TIR] = &dev->tirs, [MOCX_OBJ_RQT] = &dev->rqts,
        [MOCX_OBJ_FLOW_TABLE] = &dev->steer->tables,
        [MOCX_OBJ_FLOW_GROUP] = &dev->steer->groups,
        [MOCX_OBJ_Q_COUNTER] = &dev->q_counters,
        [MOCX_OBJ_FLOW_COUNTER] = &dev->flow_counters,
    };

    return tables[type];
}
