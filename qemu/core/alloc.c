// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PDs, transport domains, XRC domains, UARs and Q counters: what is allocated
 * by number and freed by it.  One kind is a row of a table.
 */
#include "dev.h"
#include "heap.h"

#define SYND_ALLOC_LIMIT    0x0a110001u
#define SYND_ALLOC_NUMBER   0x0a110002u
#define SYND_ALLOC_BUSY     0x0a110003u

/*
 * Bits of the number: in the reply and in the command that frees it, all but
 * the counter set's have it in the low 24 bits of byte 8.
 */
typedef struct AllocKind {
    uint16_t alloc_op, free_op;
    MocxObjKind obj;
    size_t table;           /* offset of the MocxTable in MocxDev */
    size_t size;
    uint32_t mask;
    const char *name;
} AllocKind;

static const AllocKind kinds[] = {
    { MLX5_CMD_OP_ALLOC_PD, MLX5_CMD_OP_DEALLOC_PD, { MOCX_OBJ_PD },
      offsetof(MocxDev, pds), sizeof(MocxObj), 0xffffff, "PD" },
    { MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN,
      { MOCX_OBJ_TD }, offsetof(MocxDev, tds), sizeof(MocxObj), 0xffffff,
      "transport domain" },
    { MLX5_CMD_OP_ALLOC_XRCD, MLX5_CMD_OP_DEALLOC_XRCD, { MOCX_OBJ_XRCD },
      offsetof(MocxDev, xrcds), sizeof(MocxObj), 0xffffff, "XRC domain" },
    { MLX5_CMD_OP_ALLOC_UAR, MLX5_CMD_OP_DEALLOC_UAR, { MOCX_OBJ_UAR },
      offsetof(MocxDev, uars), sizeof(MocxUar), 0xffffff, "UAR" },
    { MLX5_CMD_OP_ALLOC_Q_COUNTER, MLX5_CMD_OP_DEALLOC_Q_COUNTER,
      { MOCX_OBJ_Q_COUNTER }, offsetof(MocxDev, q_counters),
      sizeof(MocxQCounter), 0xff, "Q counter" },
};

#define NUM_KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define ALLOC_NUMBER 0x8    /* offset in both messages */

static MocxTable *kind_table(MocxDev *dev, const AllocKind *kind)
{
    return (MocxTable *)((char *)dev + kind->table);
}

static const AllocKind *kind_of(uint16_t opcode)
{
    unsigned i = 0;

    while (kinds[i].alloc_op != opcode && kinds[i].free_op != opcode) {
        i++;
    }
    return &kinds[i];       /* the command rows name no other opcode */
}

static MocxStatus obj_alloc(MocxDev *dev, MocxCmd *cmd)
{
    const AllocKind *kind = kind_of(cmd->opcode);
    MocxObj *obj = mocx_calloc(&dev->heap, 1, kind->size);

    if (!obj) {
        return MOCX_NO_RES;
    }
    if (!mocx_table_add(kind_table(dev, kind), obj, &kind->obj)) {
        mocx_free(obj);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_ALLOC_LIMIT,
                        "no %s left", kind->name);
    }
    mocx_put_be32(cmd->out + ALLOC_NUMBER, obj->id);
    return MOCX_OK;
}

static MocxStatus obj_dealloc(MocxDev *dev, MocxCmd *cmd)
{
    const AllocKind *kind = kind_of(cmd->opcode);
    uint32_t id = mocx_get_be32(cmd->in + ALLOC_NUMBER) & kind->mask;
    MocxObj *obj = mocx_table_find(kind_table(dev, kind), id);

    if (!obj) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_ALLOC_NUMBER,
                        "%s %u does not exist", kind->name, id);
    }
    if (obj->refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_ALLOC_BUSY,
                        "%s %u is named by %u objects", kind->name, id,
                        obj->refs);
    }
    mocx_table_drop(dev, kind_table(dev, kind), obj);
    return MOCX_OK;
}

bool mocx_uar_foreign(MocxDev *dev, const MocxObj *uar, const MocxObj *own,
                      const char *what, uint32_t id)
{
    if (uar == own) {
        return false;
    }
    mocx_log(dev, MOCX_LOG_GUEST_ERROR, "doorbell of %s %u on UAR %u ignored",
             what, id, uar->id);
    if (dev->verify) {
        mocx_verify_foreign(dev, what, id, uar->id);
    }
    return true;
}

/* Q counters */

MocxQCounter *mocx_q_counter(MocxDev *dev, uint32_t id)
{
    MocxObj *obj = id ? mocx_table_find(&dev->q_counters, id) : NULL;

    return obj ? (MocxQCounter *)obj : &dev->no_counter;
}

typedef struct CounterField {
    uint16_t in_set;        /* offset in MocxQCounter */
    uint16_t in_reply;      /* byte in query_q_counter_out */
} CounterField;

#define COUNTER(name) \
    { offsetof(MocxQCounter, name), \
      __devx_bit_off(query_q_counter_out, name) / 8 }

static const CounterField counter_fields[] = {
    COUNTER(rx_write_requests), COUNTER(rx_read_requests),
    COUNTER(rx_atomic_requests), COUNTER(out_of_buffer),
    COUNTER(out_of_sequence), COUNTER(duplicate_request),
    COUNTER(rnr_nak_retry_err), COUNTER(packet_seq_err),
    COUNTER(implied_nak_seq_err), COUNTER(local_ack_timeout_err),
    COUNTER(req_rnr_retries_exceeded), COUNTER(resp_local_length_error),
    COUNTER(req_local_length_error), COUNTER(resp_local_qp_error),
    COUNTER(local_operation_error), COUNTER(resp_local_protection),
    COUNTER(req_local_protection), COUNTER(resp_cqe_error),
    COUNTER(req_cqe_error), COUNTER(req_mw_binding), COUNTER(req_bad_response),
    COUNTER(req_remote_invalid_request), COUNTER(resp_remote_invalid_request),
    COUNTER(req_remote_access_errors), COUNTER(resp_remote_access_errors),
    COUNTER(req_remote_operation_errors),
    COUNTER(req_transport_retries_exceeded), COUNTER(cq_overflow),
    COUNTER(resp_cqe_flush_error), COUNTER(req_cqe_flush_error),
};

static MocxStatus q_counter_query(MocxDev *dev, MocxCmd *cmd)
{
    uint32_t id = DEVX_GET(query_q_counter_in, cmd->in, counter_set_id);
    MocxQCounter *set = mocx_q_counter(dev, id);

    if (set == &dev->no_counter) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_ALLOC_NUMBER,
                        "Q counter %u does not exist", id);
    }
    for (size_t i = 0; i < sizeof(counter_fields) / sizeof(CounterField); i++) {
        uint32_t *value = (uint32_t *)((char *)set + counter_fields[i].in_set);

        mocx_put_be32(cmd->out + counter_fields[i].in_reply, *value);
        if (DEVX_GET(query_q_counter_in, cmd->in, clear)) {
            *value = 0;
        }
    }
    return MOCX_OK;
}

#define ST MOCX_ST_INITIALIZED

static const MocxCmdRow rows[] = {
    MOCX_ROW(ALLOC_PD, alloc_pd, ST, obj_alloc),
    MOCX_ROW(DEALLOC_PD, dealloc_pd, ST, obj_dealloc),
    MOCX_ROW(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain, ST, obj_alloc),
    MOCX_ROW(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain, ST,
             obj_dealloc),
    MOCX_ROW(ALLOC_XRCD, alloc_xrcd, ST, obj_alloc),
    MOCX_ROW(DEALLOC_XRCD, dealloc_xrcd, ST, obj_dealloc),
    MOCX_ROW(ALLOC_UAR, alloc_uar, ST, obj_alloc),
    MOCX_ROW(DEALLOC_UAR, dealloc_uar, ST, obj_dealloc),
    MOCX_ROW(ALLOC_Q_COUNTER, alloc_q_counter, ST, obj_alloc),
    MOCX_ROW(DEALLOC_Q_COUNTER, dealloc_q_counter, ST, obj_dealloc),
    MOCX_ROW(QUERY_Q_COUNTER, query_q_counter, ST, q_counter_query),
};

const MocxCmdRows mocx_rows_alloc = { rows, sizeof(rows) / sizeof(rows[0]) };

static void alloc_reset(MocxDev *dev)
{
    for (unsigned i = 0; i < NUM_KINDS; i++) {
        mocx_table_clear(dev, kind_table(dev, &kinds[i]), &kinds[i].obj);
    }
}

const MocxModule mocx_mod_alloc = { .name = "alloc", .reset = alloc_reset };
