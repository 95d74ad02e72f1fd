/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs, driver's side. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define WQEBB           64
#define ACK_FREQ        8
#define LKEY_END        0x100   /* terminates a list of receive SGEs */

static DrvQpParams params_default(const Drv *d, const DrvQpParams *p)
{
    DrvQpParams out = *p;

    out.log_sq = out.log_sq ? out.log_sq : 6;
    out.log_rq = out.log_rq ? out.log_rq : 6;
    out.log_rq_stride = out.log_rq_stride ? out.log_rq_stride : 6;
    out.pdn = out.pdn ? out.pdn : d->pdn;
    out.user_index = out.user_index ? out.user_index : 0xffffff;
    return out;
}

static void qpc_fill(uint8_t *qpc, const DrvQp *qp)
{
    const DrvQpParams *p = &qp->p;

    DEVX_SET(qpc, qpc, st, p->type);
    DEVX_SET(qpc, qpc, pm_state, 3);
    DEVX_SET(qpc, qpc, pd, p->pdn);
    DEVX_SET(qpc, qpc, log_sq_size, p->log_sq);
    DEVX_SET(qpc, qpc, uar_page, qp->d->uar);
    DEVX_SET(qpc, qpc, user_index, p->user_index);
    DEVX_SET(qpc, qpc, cqn_snd, p->scq->cqn);
    DEVX_SET(qpc, qpc, cqn_rcv, p->rcq->cqn);
    DEVX_SET64(qpc, qpc, dbr_addr, qp->dbr);
    if (p->srqn) {
        DEVX_SET(qpc, qpc, rq_type, 1);
        DEVX_SET(qpc, qpc, srqn_rmpn_xrqn, p->srqn);
    } else {
        DEVX_SET(qpc, qpc, log_rq_size, p->log_rq);
        DEVX_SET(qpc, qpc, log_rq_stride, p->log_rq_stride - 4);
    }
}

DrvQp *drv_qp_new(Drv *d, const DrvQpParams *params)
{
    DrvQp *qp = calloc(1, sizeof(*qp));
    uint8_t out[DEVX_ST_SZ_BYTES(create_qp_out)], *in;
    uint64_t rq_bytes, bytes, pages, inlen;

    qp->d = d;
    qp->p = params_default(d, params);
    rq_bytes = qp->p.srqn ? 0 : 1ULL << (qp->p.log_rq + qp->p.log_rq_stride);
    bytes = rq_bytes + ((uint64_t)WQEBB << qp->p.log_sq);
    pages = (bytes + HOST_PAGE - 1) / HOST_PAGE;
    qp->buf = gpa_alloc(d->h, pages * HOST_PAGE, HOST_PAGE);
    qp->sq = qp->buf + rq_bytes;
    qp->dbr = gpa_alloc(d->h, 8, 64);

    inlen = DEVX_ST_SZ_BYTES(create_qp_in) + pages * 8;
    in = calloc(1, inlen);
    DEVX_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
    qpc_fill(DEVX_ADDR_OF(create_qp_in, in, qpc), qp);
    for (unsigned i = 0; i < pages; i++) {
        mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_qp_in) + i * 8,
                      qp->buf + i * HOST_PAGE);
    }
    drv_cmd_ok(d, in, inlen, out, sizeof(out));
    qp->qpn = DEVX_GET(create_qp_out, out, qpn);
    free(in);
    return qp;
}

uint8_t drv_qp_cmd(DrvQp *qp, uint16_t opcode)
{
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, opcode);
    mocx_put_be32(in + 8, qp->qpn);
    return drv_cmd(qp->d, in, sizeof(in), out, sizeof(out));
}

void drv_qp_free(DrvQp *qp)
{
    CHECK(!drv_qp_cmd(qp, MLX5_CMD_OP_DESTROY_QP), "DESTROY_QP: status 0x%x",
          qp->d->status);
    free(qp);
}

void drv_qp_reset(DrvQp *qp)
{
    CHECK(!drv_qp_cmd(qp, MLX5_CMD_OP_2RST_QP), "2RST_QP: status 0x%x",
          qp->d->status);
    qp->sq_pi = qp->rq_pi = 0;
    memset(gpa_ptr(qp->d->h, qp->dbr), 0, 8);
}

unsigned drv_qp_query(DrvQp *qp, uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)])
{
    uint8_t in[DEVX_ST_SZ_BYTES(query_qp_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_qp_out)];

    DEVX_SET(query_qp_in, in, opcode, MLX5_CMD_OP_QUERY_QP);
    DEVX_SET(query_qp_in, in, qpn, qp->qpn);
    drv_cmd_ok(qp->d, in, sizeof(in), out, sizeof(out));
    memcpy(qpc, DEVX_ADDR_OF(query_qp_out, out, qpc), DEVX_ST_SZ_BYTES(qpc));
    return DEVX_GET(qpc, qpc, state);
}

/* Transitions.  The inputs of all of them are laid out alike. */

static DrvPath path_default(const DrvPath *path)
{
    DrvPath p = path ? *path : (DrvPath){ 0 };

    p.gid = p.set_gid ? p.gid : DRV_GID_V2_V4;
    p.mtu = p.mtu ? p.mtu : 3;
    p.log_msg_max = p.log_msg_max ? p.log_msg_max : 30;
    p.timeout = p.timeout ? p.timeout : 14;
    p.retry = p.set_retry ? p.retry : 7;
    p.rnr_retry = p.set_retry ? p.rnr_retry : 7;
    p.min_rnr = p.min_rnr ? p.min_rnr : 12;
    p.qkey = p.qkey ? p.qkey : 0x11111111;
    if (!p.rights && !p.no_rights) {
        p.rights = DRV_RR | DRV_RW | DRV_RA;
    }
    return p;
}

static void modify(DrvQp *qp, uint16_t opcode, const uint8_t *qpc,
                   uint32_t opt_mask)
{
    uint8_t in[DEVX_ST_SZ_BYTES(init2rtr_qp_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(init2rtr_qp_out)];

    DEVX_SET(init2rtr_qp_in, in, opcode, opcode);
    DEVX_SET(init2rtr_qp_in, in, qpn, qp->qpn);
    DEVX_SET(init2rtr_qp_in, in, opt_param_mask, opt_mask);
    memcpy(DEVX_ADDR_OF(init2rtr_qp_in, in, qpc), qpc, DEVX_ST_SZ_BYTES(qpc));
    drv_cmd_ok(qp->d, in, sizeof(in), out, sizeof(out));
}

static void qpc_common(uint8_t *qpc, const DrvQp *qp, const DrvPath *p)
{
    DEVX_SET(qpc, qpc, st, qp->p.type);
    DEVX_SET(qpc, qpc, pm_state, 3);
    DEVX_SET(qpc, qpc, rre, !!(p->rights & DRV_RR));
    DEVX_SET(qpc, qpc, rwe, !!(p->rights & DRV_RW));
    DEVX_SET(qpc, qpc, rae, !!(p->rights & DRV_RA));
    DEVX_SET(qpc, qpc, atomic_mode, 1);
    DEVX_SET(qpc, qpc, log_ack_req_freq, ACK_FREQ);
    DEVX_SET(qpc, qpc, q_key, p->qkey);
    DEVX_SET(qpc, qpc, mtu, qp->p.type == DRV_QP_GSI ? 1 : p->mtu);
    DEVX_SET(qpc, qpc, log_msg_max, p->log_msg_max);
    DEVX_SET(qpc, qpc, primary_address_path.vhca_port_num, 1);
}

void drv_qp_rst2init(DrvQp *qp, const DrvPath *path)
{
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)] = { 0 };
    DrvPath p = path_default(path);

    qpc_common(qpc, qp, &p);
    modify(qp, MLX5_CMD_OP_RST2INIT_QP, qpc, 0);
}

static void ads_fill(uint8_t *ads, const Host *from, const Host *to,
                     const DrvPath *p)
{
    uint16_t sport = 0xc000 | (from->index << 4);

    DEVX_SET(ads, ads, src_addr_index, p->gid);
    DEVX_SET(ads, ads, hop_limit, 64);
    drv_gid_address(to, p->gid, DEVX_ADDR_OF(ads, ads, rgid_rip));
    DEVX_SET(ads, ads, udp_sport, sport);
    DEVX_SET(ads, ads, rmac_47_32, mocx_get_be16(to->cfg.mac));
    DEVX_SET(ads, ads, rmac_31_0, mocx_get_be32(to->cfg.mac + 2));
    DEVX_SET(ads, ads, ack_timeout, p->timeout);
}

void drv_qp_init2rtr(DrvQp *qp, const DrvPath *path, const DrvQp *peer)
{
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)] = { 0 };
    DrvPath p = path_default(path);

    qpc_common(qpc, qp, &p);
    if (peer) {
        DEVX_SET(qpc, qpc, remote_qpn, peer->qpn);
        DEVX_SET(qpc, qpc, next_rcv_psn, p.rq_psn);
        DEVX_SET(qpc, qpc, min_rnr_nak, p.min_rnr);
        DEVX_SET(qpc, qpc, log_rra_max, p.log_rra);
        ads_fill(DEVX_ADDR_OF(qpc, qpc, primary_address_path), qp->d->h,
                 peer->d->h, &p);
    }
    modify(qp, MLX5_CMD_OP_INIT2RTR_QP, qpc, 0);
}

void drv_qp_rtr2rts(DrvQp *qp, const DrvPath *path)
{
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)] = { 0 };
    DrvPath p = path_default(path);

    qpc_common(qpc, qp, &p);
    DEVX_SET(qpc, qpc, next_send_psn, p.sq_psn);
    DEVX_SET(qpc, qpc, retry_count, p.retry);
    DEVX_SET(qpc, qpc, rnr_retry, p.rnr_retry);
    DEVX_SET(qpc, qpc, log_sra_max, p.log_sra);
    DEVX_SET(qpc, qpc, primary_address_path.ack_timeout, p.timeout);
    modify(qp, MLX5_CMD_OP_RTR2RTS_QP, qpc, 0);
}

static void to_rts(DrvQp *qp, const DrvPath *path, const DrvQp *peer)
{
    drv_qp_rst2init(qp, path);
    drv_qp_init2rtr(qp, path, peer);
    drv_qp_rtr2rts(qp, path);
}

void drv_qp_connect(DrvQp *a, DrvQp *b, const DrvPath *path)
{
    DrvPath crossed = path_default(path);
    uint32_t psn = crossed.sq_psn;

    to_rts(a, path, b);
    if (a != b) {
        crossed.set_gid = crossed.set_retry = true;
        crossed.sq_psn = crossed.rq_psn;
        crossed.rq_psn = psn;
        to_rts(b, &crossed, a);
    }
}

void drv_qp_ready(DrvQp *qp, const DrvPath *path)
{
    to_rts(qp, path, NULL);
}

/* Posting */

static uint8_t *sq_block(DrvQp *qp, unsigned index)
{
    uint64_t off = (index & ((1U << qp->p.log_sq) - 1)) * (uint64_t)WQEBB;

    return gpa_ptr(qp->d->h, qp->sq + off);
}

/* A WQE may wrap around the ring between two blocks. */
static void sq_copy(DrvQp *qp, const uint8_t *wqe, size_t len)
{
    for (unsigned i = 0; i * WQEBB < len; i++) {
        size_t part = len - i * WQEBB;

        memcpy(sq_block(qp, qp->sq_pi + i), wqe + i * WQEBB,
               part < WQEBB ? part : WQEBB);
    }
}

uint16_t drv_post_raw(DrvQp *qp, uint8_t opcode, uint8_t fm_ce_se, uint32_t imm,
                      const void *segs, size_t len)
{
    uint8_t wqe[1024] = { 0 };
    uint16_t index = qp->sq_pi;

    CHECK(len <= sizeof(wqe) - 16, "a WQE of %zu bytes", len + 16);
    mocx_put_be32(wqe, (uint32_t)index << 8 | opcode);
    mocx_put_be32(wqe + 4, qp->qpn << 8 | (len + 16 + 15) / 16);
    wqe[11] = fm_ce_se;
    mocx_put_be32(wqe + 12, imm);
    if (len) {
        memcpy(wqe + 16, segs, len);
    }
    sq_copy(qp, wqe, len + 16);
    qp->last_ctrl = mocx_get_be64(wqe);
    qp->sq_pi += (len + 16 + WQEBB - 1) / WQEBB;
    return index;
}

/* Address vector, 48 bytes (mlx5/qp.h: struct mlx5_av). */
static size_t put_av(uint8_t *p, const DrvAv *av)
{
    mocx_put_be32(p, av->qkey);
    mocx_put_be32(p + 8, av->qpn | MLX5_EXTENDED_UD_AV);
    mocx_put_be16(p + 14, 0xc123);
    memcpy(p + 0x14, av->peer->cfg.mac, MOCX_MAC_LEN);
    p[0x1b] = 64;
    mocx_put_be32(p + 0x1c, 1U << 30 | av->gid << 20);
    drv_gid_address(av->peer, av->gid, p + 0x20);
    return 48;
}

static size_t put_inline(uint8_t *p, const void *data, uint32_t len)
{
    mocx_put_be32(p, len | 0x80000000U);
    memcpy(p + 4, data, len);
    return (4 + len + 15) / 16 * 16;
}

static size_t put_sge(uint8_t *p, const DrvSge *sge)
{
    mocx_put_be32(p, sge->len);
    mocx_put_be32(p + 4, sge->lkey);
    mocx_put_be64(p + 8, sge->addr);
    return 16;
}

static bool wr_has_raddr(const DrvWr *wr)
{
    switch (wr->opcode) {
    case MLX5_OPCODE_RDMA_WRITE:
    case MLX5_OPCODE_RDMA_WRITE_IMM:
    case MLX5_OPCODE_RDMA_READ:
    case MLX5_OPCODE_ATOMIC_CS:
    case MLX5_OPCODE_ATOMIC_FA:
        return true;
    default:
        return false;
    }
}

uint16_t drv_post(DrvQp *qp, const DrvWr *wr)
{
    uint8_t segs[1024] = { 0 }, *p = segs;
    uint8_t fm_ce_se = wr->fence << 5 | (wr->unsignaled ? 0 : 8) |
                       (wr->solicited ? 2 : 0);

    if (wr->av) {
        p += put_av(p, wr->av);
    }
    if (wr_has_raddr(wr)) {
        mocx_put_be64(p, wr->raddr);
        mocx_put_be32(p + 8, wr->rkey);
        p += 16;
    }
    if (wr->opcode == MLX5_OPCODE_ATOMIC_CS ||
        wr->opcode == MLX5_OPCODE_ATOMIC_FA) {
        mocx_put_be64(p, wr->swap_add);
        mocx_put_be64(p + 8, wr->compare);
        p += 16;
    }
    if (wr->inl) {
        CHECK(wr->inl_len < 900, "%u inline bytes", wr->inl_len);
        p += put_inline(p, wr->inl, wr->inl_len);
    }
    for (unsigned i = 0; i < wr->num_sge; i++) {
        p += put_sge(p, &wr->sge[i]);
    }
    return drv_post_raw(qp, wr->opcode, fm_ce_se, wr->imm, segs, p - segs);
}

void drv_ring(DrvQp *qp)
{
    uint8_t *dbr = gpa_ptr(qp->d->h, qp->dbr);

    mocx_put_be32(dbr + 4, qp->sq_pi);
    host_write64(qp->d->h, qp->d->uar * (uint64_t)HOST_PAGE + UAR_BF,
                 qp->last_ctrl);
}

uint16_t drv_post_recv(DrvQp *qp, const DrvSge *sge, unsigned n)
{
    unsigned index = qp->rq_pi & ((1U << qp->p.log_rq) - 1);
    unsigned room = (1U << qp->p.log_rq_stride) / 16;
    uint8_t *p = gpa_ptr(qp->d->h, qp->buf +
                         ((uint64_t)index << qp->p.log_rq_stride));

    CHECK(n <= room, "%u SGEs in a receive WQE of %u", n, room);
    for (unsigned i = 0; i < n; i++) {
        p += put_sge(p, &sge[i]);
    }
    if (n < room) {
        put_sge(p, &(DrvSge){ .lkey = LKEY_END });
    }
    qp->rq_pi++;
    mocx_put_be32(gpa_ptr(qp->d->h, qp->dbr), qp->rq_pi);
    return qp->rq_pi - 1;
}
