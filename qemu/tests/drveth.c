/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ethernet queues, RSS and flow tables, driver's side. */
#include <stdlib.h>
#include <string.h>

#include "drveth.h"

#define BB              64
#define CE_ALWAYS       0x08
#define LKEY_END        0x100
#define INLINE_SEG      0x80000000U

#define COUNT(bytes)    (((bytes) + HOST_PAGE - 1) / HOST_PAGE)

void drv_destroy(Drv *d, uint16_t opcode, uint32_t id)
{
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, opcode);
    mocx_put_be32(in + 8, id);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

/* Fill the wq part of a context, its page list included. */
static uint64_t wq_fill(Drv *d, uint8_t *wq, unsigned log_size,
                        unsigned log_stride, uint64_t dbr)
{
    size_t bytes = 1UL << (log_size + log_stride);
    uint64_t buf = gpa_alloc(d->h, COUNT(bytes) * HOST_PAGE, HOST_PAGE);
    uint8_t *pas = wq + DEVX_ST_SZ_BYTES(wq);

    DEVX_SET(wq, wq, wq_type, 1);
    DEVX_SET(wq, wq, pd, d->pdn);
    DEVX_SET(wq, wq, uar_page, d->uar);
    DEVX_SET(wq, wq, log_wq_stride, log_stride);
    DEVX_SET(wq, wq, log_wq_sz, log_size);
    DEVX_SET64(wq, wq, dbr_addr, dbr);
    for (size_t i = 0; i < COUNT(bytes); i++) {
        mocx_put_be64(pas + i * 8, buf + i * HOST_PAGE);
    }
    return buf;
}

/* Send queues */

static uint32_t tis_new(Drv *d)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_tis_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_tis_out)];

    DEVX_SET(create_tis_in, in, opcode, MLX5_CMD_OP_CREATE_TIS);
    DEVX_SET(create_tis_in, in, ctx.transport_domain, d->tdn);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(create_tis_out, out, tisn);
}

DrvSq *drv_sq_new(Drv *d, DrvCq *cq, unsigned log_size)
{
    size_t len = DEVX_ST_SZ_BYTES(create_sq_in) + COUNT(BB << log_size) * 8;
    uint8_t *in = calloc(1, len), out[DEVX_ST_SZ_BYTES(create_sq_out)];
    uint8_t *sqc = DEVX_ADDR_OF(create_sq_in, in, ctx);
    DrvSq *sq = calloc(1, sizeof(*sq));

    *sq = (DrvSq){ .d = d, .cq = cq, .log_size = log_size };
    sq->dbr = gpa_alloc(d->h, 8, 64);
    DEVX_SET(create_sq_in, in, opcode, MLX5_CMD_OP_CREATE_SQ);
    DEVX_SET(sqc, sqc, flush_in_error_en, 1);
    DEVX_SET(sqc, sqc, cqn, cq->cqn);
    DEVX_SET(sqc, sqc, tis_lst_sz, 1);
    DEVX_SET(sqc, sqc, tis_num_0, tis_new(d));
    sq->buf = wq_fill(d, DEVX_ADDR_OF(sqc, sqc, wq), log_size, 6, sq->dbr);
    drv_cmd_ok(d, in, len, out, sizeof(out));
    sq->sqn = DEVX_GET(create_sq_out, out, sqn);
    free(in);
    CHECK(!drv_sq_modify(sq, MLX5_SQC_STATE_RST, MLX5_SQC_STATE_RDY),
          "SQ does not get ready");
    return sq;
}

static void sq_query(DrvSq *sq, uint8_t out[DEVX_ST_SZ_BYTES(query_sq_out)])
{
    uint8_t in[DEVX_ST_SZ_BYTES(query_sq_in)] = { 0 };

    DEVX_SET(query_sq_in, in, opcode, MLX5_CMD_OP_QUERY_SQ);
    DEVX_SET(query_sq_in, in, sqn, sq->sqn);
    drv_cmd_ok(sq->d, in, sizeof(in), out, DEVX_ST_SZ_BYTES(query_sq_out));
}

void drv_sq_free(DrvSq *sq)
{
    uint8_t out[DEVX_ST_SZ_BYTES(query_sq_out)];

    sq_query(sq, out);
    drv_destroy(sq->d, MLX5_CMD_OP_DESTROY_SQ, sq->sqn);
    drv_destroy(sq->d, MLX5_CMD_OP_DESTROY_TIS,
                DEVX_GET(query_sq_out, out, sq_context.tis_num_0));
    free(sq);
}

unsigned drv_sq_state(DrvSq *sq)
{
    uint8_t out[DEVX_ST_SZ_BYTES(query_sq_out)];

    sq_query(sq, out);
    return DEVX_GET(query_sq_out, out, sq_context.state);
}

uint8_t drv_sq_modify(DrvSq *sq, unsigned from, unsigned to)
{
    uint8_t in[DEVX_ST_SZ_BYTES(modify_sq_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(modify_sq_out)];

    DEVX_SET(modify_sq_in, in, opcode, MLX5_CMD_OP_MODIFY_SQ);
    DEVX_SET(modify_sq_in, in, sqn, sq->sqn);
    DEVX_SET(modify_sq_in, in, sq_state, from);
    DEVX_SET(modify_sq_in, in, ctx.state, to);
    if (to == MLX5_SQC_STATE_RST) {
        sq->pi = 0;
        mocx_put_be32((uint8_t *)gpa_ptr(sq->d->h, sq->dbr) + 4, 0);
    }
    return drv_cmd(sq->d, in, sizeof(in), out, sizeof(out));
}

uint16_t drv_sq_post_raw(DrvSq *sq, const void *wqe, size_t len)
{
    uint16_t first = sq->pi;
    uint32_t size = BB << sq->log_size;
    uint8_t *ring = gpa_ptr(sq->d->h, sq->buf);
    uint8_t copy[1024];

    CHECK(len <= sizeof(copy), "WQE of %zu bytes", len);
    memcpy(copy, wqe, len);
    mocx_put_be32(copy, (mocx_get_be32(copy) & 0xff0000ff) | first << 8);
    mocx_put_be32(copy + 4, mocx_get_be32(copy + 4) | sq->sqn << 8);
    for (size_t i = 0; i < len; i++) {
        ring[(first * BB + i) % size] = copy[i];
    }
    sq->pi += (len + BB - 1) / BB;
    memcpy(&sq->last_ctrl, copy, sizeof(sq->last_ctrl));
    return first;
}

static size_t put_segs(uint8_t *wqe, size_t pos, const DrvEthWr *wr)
{
    if (wr->inl_len) {
        mocx_put_be32(wqe + pos, wr->inl_len | INLINE_SEG);
        memcpy(wqe + pos + 4, wr->inl, wr->inl_len);
        pos += (4 + wr->inl_len + 15) / 16 * 16;
    }
    for (unsigned i = 0; i < wr->num_sge; i++, pos += 16) {
        mocx_put_be32(wqe + pos, wr->sge[i].len);
        mocx_put_be32(wqe + pos + 4, wr->sge[i].lkey);
        mocx_put_be64(wqe + pos + 8, wr->sge[i].addr);
    }
    return pos;
}

uint16_t drv_sq_post(DrvSq *sq, const DrvEthWr *wr)
{
    uint8_t wqe[1024] = { 0 };
    size_t pos = 16;

    if (wr->opcode != MLX5_OPCODE_NOP) {
        wqe[16 + 4] = wr->cs_flags;
        mocx_put_be16(wqe + 16 + 6, wr->mss);
        if (wr->tag) {
            bool svlan = wr->tag >> 16 == 0x88a8;

            mocx_put_be16(wqe + 16 + 12, 0x8000 | svlan);
            mocx_put_be16(wqe + 16 + 14, wr->tag);
        } else {
            mocx_put_be16(wqe + 16 + 12, wr->hdr_len);
            memcpy(wqe + 16 + 14, wr->hdr ? wr->hdr : wqe, wr->hdr_len);
        }
        pos = wr->hdr_len > 2 ? 32 + (wr->hdr_len - 2 + 15) / 16 * 16 : 32;
        pos = put_segs(wqe, pos, wr);
    }
    mocx_put_be32(wqe, wr->opcode);
    mocx_put_be32(wqe + 4, pos / 16);
    wqe[11] = wr->unsignaled ? 0 : CE_ALWAYS;
    return drv_sq_post_raw(sq, wqe, pos);
}

void drv_sq_ring(DrvSq *sq)
{
    uint8_t *dbr = gpa_ptr(sq->d->h, sq->dbr);

    mocx_put_be32(dbr + 4, sq->pi);
    host_write64(sq->d->h, sq->d->uar * (uint64_t)HOST_PAGE + UAR_BF,
                 be64toh(sq->last_ctrl));
}

/* Receive queues */

DrvRq *drv_rq_new(Drv *d, DrvCq *cq, const DrvRqParams *p)
{
    DrvRq *rq = calloc(1, sizeof(*rq));
    uint8_t out[DEVX_ST_SZ_BYTES(create_rq_out)], *in, *rqc;
    size_t len;

    *rq = (DrvRq){ .d = d, .cq = cq, .log_size = 4, .log_stride = 4 };
    rq->log_size = p && p->log_size ? p->log_size : rq->log_size;
    rq->log_stride = p && p->log_stride ? p->log_stride : rq->log_stride;
    len = DEVX_ST_SZ_BYTES(create_rq_in) +
          COUNT(1UL << (rq->log_size + rq->log_stride)) * 8;
    in = calloc(1, len);
    rqc = DEVX_ADDR_OF(create_rq_in, in, ctx);
    rq->dbr = gpa_alloc(d->h, 8, 64);
    DEVX_SET(create_rq_in, in, opcode, MLX5_CMD_OP_CREATE_RQ);
    DEVX_SET(rqc, rqc, vsd, p && p->keep_vlan);
    DEVX_SET(rqc, rqc, flush_in_error_en, p && p->flush_in_error);
    DEVX_SET(rqc, rqc, counter_set_id, p ? p->counter_set : 0);
    DEVX_SET(rqc, rqc, cqn, cq->cqn);
    rq->buf = wq_fill(d, DEVX_ADDR_OF(rqc, rqc, wq), rq->log_size,
                      rq->log_stride, rq->dbr);
    drv_cmd_ok(d, in, len, out, sizeof(out));
    rq->rqn = DEVX_GET(create_rq_out, out, rqn);
    free(in);
    CHECK(!drv_rq_modify(rq, MLX5_RQC_STATE_RST, MLX5_RQC_STATE_RDY),
          "RQ does not get ready");
    return rq;
}

void drv_rq_free(DrvRq *rq)
{
    drv_destroy(rq->d, MLX5_CMD_OP_DESTROY_RQ, rq->rqn);
    free(rq);
}

uint8_t drv_rq_modify(DrvRq *rq, unsigned from, unsigned to)
{
    uint8_t in[DEVX_ST_SZ_BYTES(modify_rq_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(modify_rq_out)];

    DEVX_SET(modify_rq_in, in, opcode, MLX5_CMD_OP_MODIFY_RQ);
    DEVX_SET(modify_rq_in, in, rqn, rq->rqn);
    DEVX_SET(modify_rq_in, in, rq_state, from);
    DEVX_SET(modify_rq_in, in, ctx.state, to);
    if (to == MLX5_RQC_STATE_RST) {
        rq->pi = 0;
        mocx_put_be32(gpa_ptr(rq->d->h, rq->dbr), 0);
    }
    return drv_cmd(rq->d, in, sizeof(in), out, sizeof(out));
}

unsigned drv_rq_state(DrvRq *rq)
{
    uint8_t in[DEVX_ST_SZ_BYTES(query_rq_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_rq_out)];

    DEVX_SET(query_rq_in, in, opcode, MLX5_CMD_OP_QUERY_RQ);
    DEVX_SET(query_rq_in, in, rqn, rq->rqn);
    drv_cmd_ok(rq->d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(query_rq_out, out, rq_context.state);
}

void drv_rq_post(DrvRq *rq, const DrvSge *sge, unsigned n)
{
    unsigned room = 1U << (rq->log_stride - 4);
    uint32_t index = rq->pi & ((1U << rq->log_size) - 1);
    uint8_t *wqe = gpa_ptr(rq->d->h,
                           rq->buf + ((uint64_t)index << rq->log_stride));

    CHECK(n <= room, "%u segments in a stride of %u", n, room);
    memset(wqe, 0, 1UL << rq->log_stride);
    for (unsigned i = 0; i < n; i++, wqe += 16) {
        mocx_put_be32(wqe, sge[i].len);
        mocx_put_be32(wqe + 4, sge[i].lkey);
        mocx_put_be64(wqe + 8, sge[i].addr);
    }
    if (n < room) {
        mocx_put_be32(wqe + 4, LKEY_END);
    }
    rq->pi++;
    mocx_put_be32(gpa_ptr(rq->d->h, rq->dbr), rq->pi);
}

/* RQT, TIR */

uint32_t drv_rqt_new(Drv *d, const uint32_t *rqns, unsigned n)
{
    size_t len = DEVX_ST_SZ_BYTES(create_rqt_in) + n * 4;
    uint8_t *in = calloc(1, len), out[DEVX_ST_SZ_BYTES(create_rqt_out)];
    uint8_t *list = in + DEVX_ST_SZ_BYTES(create_rqt_in);
    uint32_t id;

    DEVX_SET(create_rqt_in, in, opcode, MLX5_CMD_OP_CREATE_RQT);
    DEVX_SET(create_rqt_in, in, rqt_context.rqt_max_size, n);
    DEVX_SET(create_rqt_in, in, rqt_context.rqt_actual_size, n);
    for (unsigned i = 0; i < n; i++) {
        mocx_put_be32(list + i * 4, rqns[i]);
    }
    drv_cmd_ok(d, in, len, out, sizeof(out));
    id = DEVX_GET(create_rqt_out, out, rqtn);
    free(in);
    return id;
}

static uint32_t tir_new(Drv *d, uint8_t *in)
{
    uint8_t out[DEVX_ST_SZ_BYTES(create_tir_out)];

    DEVX_SET(create_tir_in, in, opcode, MLX5_CMD_OP_CREATE_TIR);
    DEVX_SET(create_tir_in, in, ctx.transport_domain, d->tdn);
    drv_cmd_ok(d, in, DEVX_ST_SZ_BYTES(create_tir_in), out, sizeof(out));
    return DEVX_GET(create_tir_out, out, tirn);
}

uint32_t drv_tir_direct(Drv *d, uint32_t rqn)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_tir_in)] = { 0 };

    DEVX_SET(create_tir_in, in, ctx.inline_rqn, rqn);
    return tir_new(d, in);
}

uint32_t drv_tir_rss(Drv *d, const DrvRss *rss)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_tir_in)] = { 0 };
    uint8_t *tirc = DEVX_ADDR_OF(create_tir_in, in, ctx);
    uint8_t *sel = DEVX_ADDR_OF(tirc, tirc, rx_hash_field_selector_outer);

    DEVX_SET(tirc, tirc, disp_type, MLX5_TIRC_DISP_TYPE_INDIRECT);
    DEVX_SET(tirc, tirc, indirect_table, rss->rqtn);
    DEVX_SET(tirc, tirc, rx_hash_fn, rss->fn);
    DEVX_SET(tirc, tirc, rx_hash_symmetric, rss->symmetric);
    DEVX_SET(rx_hash_field_select, sel, l3_prot_type, rss->ipv6);
    DEVX_SET(rx_hash_field_select, sel, l4_prot_type, rss->udp);
    DEVX_SET(rx_hash_field_select, sel, selected_fields, rss->fields);
    if (rss->key) {
        memcpy(DEVX_ADDR_OF(tirc, tirc, rx_hash_toeplitz_key), rss->key, 40);
    }
    return tir_new(d, in);
}

/* Flow tables */

static void put_miss(uint8_t *ctx, uint32_t miss)
{
    DEVX_SET(flow_table_context, ctx, table_miss_action, miss != 0);
    DEVX_SET(flow_table_context, ctx, table_miss_id, miss);
}

uint32_t drv_ft_new(Drv *d, const DrvFt *ft)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_flow_table_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_flow_table_out)];
    uint8_t *ctx = DEVX_ADDR_OF(create_flow_table_in, in, flow_table_context);

    DEVX_SET(create_flow_table_in, in, opcode, MLX5_CMD_OP_CREATE_FLOW_TABLE);
    DEVX_SET(flow_table_context, ctx, level, ft->level);
    DEVX_SET(flow_table_context, ctx, log_size, ft->log_size);
    put_miss(ctx, ft->miss);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(create_flow_table_out, out, table_id);
}

uint8_t drv_ft_destroy(Drv *d, uint32_t id)
{
    uint8_t in[DEVX_ST_SZ_BYTES(destroy_flow_table_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(destroy_flow_table_out)];

    DEVX_SET(destroy_flow_table_in, in, opcode,
             MLX5_CMD_OP_DESTROY_FLOW_TABLE);
    DEVX_SET(destroy_flow_table_in, in, table_id, id);
    return drv_cmd(d, in, sizeof(in), out, sizeof(out));
}

uint8_t drv_ft_set_miss(Drv *d, uint32_t id, uint32_t miss)
{
    uint8_t in[DEVX_ST_SZ_BYTES(modify_flow_table_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(modify_flow_table_out)];

    DEVX_SET(modify_flow_table_in, in, opcode, MLX5_CMD_OP_MODIFY_FLOW_TABLE);
    DEVX_SET(modify_flow_table_in, in, table_id, id);
    DEVX_SET(modify_flow_table_in, in, modify_field_select, 1);
    put_miss(DEVX_ADDR_OF(modify_flow_table_in, in, flow_table_context), miss);
    return drv_cmd(d, in, sizeof(in), out, sizeof(out));
}

void drv_ft_root(Drv *d, uint32_t id)
{
    uint8_t in[DEVX_ST_SZ_BYTES(set_flow_table_root_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(set_flow_table_root_out)];

    DEVX_SET(set_flow_table_root_in, in, opcode,
             MLX5_CMD_OP_SET_FLOW_TABLE_ROOT);
    DEVX_SET(set_flow_table_root_in, in, op_mod, !id);
    DEVX_SET(set_flow_table_root_in, in, table_id, id);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

void drv_fg_init(DrvFg *fg, uint32_t ft, uint32_t start, uint32_t end)
{
    memset(fg, 0, sizeof(*fg));
    DEVX_SET(create_flow_group_in, fg->in, opcode,
             MLX5_CMD_OP_CREATE_FLOW_GROUP);
    DEVX_SET(create_flow_group_in, fg->in, table_id, ft);
    DEVX_SET(create_flow_group_in, fg->in, start_flow_index, start);
    DEVX_SET(create_flow_group_in, fg->in, end_flow_index, end);
}

uint8_t *drv_fg_outer(DrvFg *fg)
{
    DEVX_SET(create_flow_group_in, fg->in, match_criteria_enable, 1);
    return DEVX_ADDR_OF(create_flow_group_in, fg->in,
                        match_criteria.outer_headers);
}

uint8_t drv_fg_cmd(Drv *d, DrvFg *fg, uint32_t *id)
{
    uint8_t out[DEVX_ST_SZ_BYTES(create_flow_group_out)];
    uint8_t status = drv_cmd(d, fg->in, sizeof(fg->in), out, sizeof(out));

    *id = DEVX_GET(create_flow_group_out, out, group_id);
    return status;
}

uint8_t drv_fg_destroy(Drv *d, uint32_t ft, uint32_t fg)
{
    uint8_t in[DEVX_ST_SZ_BYTES(destroy_flow_group_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(destroy_flow_group_out)];

    DEVX_SET(destroy_flow_group_in, in, opcode,
             MLX5_CMD_OP_DESTROY_FLOW_GROUP);
    DEVX_SET(destroy_flow_group_in, in, table_id, ft);
    DEVX_SET(destroy_flow_group_in, in, group_id, fg);
    return drv_cmd(d, in, sizeof(in), out, sizeof(out));
}

void drv_fte_init(DrvFte *fte, uint32_t ft, uint32_t fg, uint32_t index)
{
    memset(fte, 0, sizeof(*fte));
    DEVX_SET(set_fte_in, fte->in, opcode, MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY);
    DEVX_SET(set_fte_in, fte->in, table_id, ft);
    DEVX_SET(set_fte_in, fte->in, flow_index, index);
    DEVX_SET(set_fte_in, fte->in, flow_context.group_id, fg);
}

uint8_t *drv_fte_outer(DrvFte *fte)
{
    return DEVX_ADDR_OF(set_fte_in, fte->in,
                        flow_context.match_value.outer_headers);
}

static uint8_t *next_dest(DrvFte *fte)
{
    return fte->in + DEVX_ST_SZ_BYTES(set_fte_in) + 8 * fte->num_dests;
}

static void add_action(DrvFte *fte, unsigned flag)
{
    DEVX_SET(set_fte_in, fte->in, flow_context.action,
             DEVX_GET(set_fte_in, fte->in, flow_context.action) | flag);
}

void drv_fte_dest(DrvFte *fte, unsigned type, uint32_t id)
{
    mocx_put_be32(next_dest(fte), type << 24 | id);
    fte->num_dests++;
    DEVX_SET(set_fte_in, fte->in, flow_context.destination_list_size,
             fte->num_dests);
    add_action(fte, 4);
}

void drv_fte_count(DrvFte *fte, uint32_t counter)
{
    mocx_put_be32(next_dest(fte), counter);
    fte->counter = true;
    DEVX_SET(set_fte_in, fte->in, flow_context.flow_counter_list_size, 1);
    add_action(fte, 8);
}

uint8_t drv_fte_cmd(Drv *d, DrvFte *fte)
{
    uint8_t out[DEVX_ST_SZ_BYTES(set_fte_out)];
    size_t len = DEVX_ST_SZ_BYTES(set_fte_in) +
                 8 * (fte->num_dests + fte->counter);

    return drv_cmd(d, fte->in, len, out, sizeof(out));
}

uint8_t drv_fte_delete(Drv *d, uint32_t ft, uint32_t index)
{
    uint8_t in[DEVX_ST_SZ_BYTES(delete_fte_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(delete_fte_out)];

    DEVX_SET(delete_fte_in, in, opcode, MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY);
    DEVX_SET(delete_fte_in, in, table_id, ft);
    DEVX_SET(delete_fte_in, in, flow_index, index);
    return drv_cmd(d, in, sizeof(in), out, sizeof(out));
}

uint32_t drv_steer_all(Drv *d, uint32_t tirn)
{
    uint32_t ft = drv_ft_new(d, &(DrvFt){ .level = 3 }), id;
    DrvFg fg;
    DrvFte fte;

    drv_fg_init(&fg, ft, 0, 0);
    CHECK(!drv_fg_cmd(d, &fg, &id), "no group that matches all");
    drv_fte_init(&fte, ft, id, 0);
    drv_fte_dest(&fte, 2, tirn);
    CHECK(!drv_fte_cmd(d, &fte), "no entry that matches all");
    drv_ft_root(d, ft);
    return ft;
}
