/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An object of every kind, most of them ready to be used. */
#include "bed.h"

#define SRQ_LOG         4
#define SRQ_STRIDE      64
#define POSTED          8       /* receive WQEs everywhere */
#define RECV_LEN        2048
#define SEND_XRC        5       /* log2 of its blocks */

/* Any command by its fields: in is zeroed, out is thrown away. */
#define CMD(name, OP)                                                   \
    uint8_t in[DEVX_ST_SZ_BYTES(name##_in) + 64] = { 0 };               \
    uint8_t out[DEVX_ST_SZ_BYTES(name##_out)];                          \
    DEVX_SET(name##_in, in, opcode, MLX5_CMD_OP_##OP)

static DrvSge any_sge(Bed *bed)
{
    return (DrvSge) { BED_MR_VA, bed->mr->key, RECV_LEN };
}

/* Shared receive queues */

static void srq_memory(Bed *bed, BedSrq *srq)
{
    DrvSge sge = any_sge(bed);

    srq->buf = gpa_alloc(bed->h, SRQ_STRIDE << SRQ_LOG, HOST_PAGE);
    srq->dbr = gpa_alloc(bed->h, 8, 64);
    srq->posted = POSTED;
    for (unsigned i = 0; i < 1u << SRQ_LOG; i++) {
        uint8_t *p = gpa_ptr(bed->h, srq->buf + i * SRQ_STRIDE);

        mocx_put_be16(p + 2, (i + 1) % (1u << SRQ_LOG));
        mocx_put_be32(p + 16, sge.len);
        mocx_put_be32(p + 20, sge.lkey);
        mocx_put_be64(p + 24, sge.addr);
        mocx_put_be32(p + 36, 0x100);
    }
    mocx_put_be32(gpa_ptr(bed->h, srq->dbr), srq->posted);
}

static void rmp_new(Bed *bed, BedSrq *srq)
{
    CMD(create_rmp, CREATE_RMP);
    uint8_t *wq = DEVX_ADDR_OF(create_rmp_in, in, ctx.wq);

    srq_memory(bed, srq);
    DEVX_SET(create_rmp_in, in, ctx.state, 1);
    DEVX_SET(wq, wq, log_wq_sz, SRQ_LOG);
    DEVX_SET(wq, wq, log_wq_stride, 6);
    DEVX_SET(wq, wq, pd, bed->d->pdn);
    DEVX_SET(wq, wq, lwm, 2);
    DEVX_SET64(wq, wq, dbr_addr, srq->dbr);
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_rmp_in), srq->buf);
    drv_cmd_ok(bed->d, in, DEVX_ST_SZ_BYTES(create_rmp_in) + 8, out,
               sizeof(out));
    srq->srqn = DEVX_GET(create_rmp_out, out, rmpn);
}

static void xrc_srq_new(Bed *bed, BedSrq *srq)
{
    CMD(create_xrc_srq, CREATE_XRC_SRQ);
    uint8_t *ctx = DEVX_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);

    srq_memory(bed, srq);
    DEVX_SET(xrc_srqc, ctx, log_xrc_srq_size, SRQ_LOG);
    DEVX_SET(xrc_srqc, ctx, log_rq_stride, 2);
    DEVX_SET(xrc_srqc, ctx, pd, bed->d->pdn);
    DEVX_SET(xrc_srqc, ctx, xrcd, bed->xrcd);
    DEVX_SET(xrc_srqc, ctx, cqn, bed->cq[1]->cqn);
    DEVX_SET(xrc_srqc, ctx, db_record_addr_h, srq->dbr >> 32);
    DEVX_SET(xrc_srqc, ctx, db_record_addr_l, (uint32_t)srq->dbr >> 2);
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_xrc_srq_in), srq->buf);
    drv_cmd_ok(bed->d, in, DEVX_ST_SZ_BYTES(create_xrc_srq_in) + 8, out,
               sizeof(out));
    srq->srqn = DEVX_GET(create_xrc_srq_out, out, xrc_srqn);
}

static void basic_srq_new(Bed *bed, BedSrq *srq)
{
    CMD(create_srq, CREATE_SRQ);
    uint8_t *ctx = DEVX_ADDR_OF(create_srq_in, in, srq_context_entry);

    srq_memory(bed, srq);
    DEVX_SET(srqc, ctx, log_srq_size, SRQ_LOG);
    DEVX_SET(srqc, ctx, log_rq_stride, 2);
    DEVX_SET(srqc, ctx, pd, bed->d->pdn);
    DEVX_SET64(srqc, ctx, dbr_addr, srq->dbr);
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_srq_in), srq->buf);
    drv_cmd_ok(bed->d, in, DEVX_ST_SZ_BYTES(create_srq_in) + 8, out,
               sizeof(out));
    srq->srqn = DEVX_GET(create_srq_out, out, srqn);
}

/* Memory keys */

static uint32_t key_new(Bed *bed, unsigned mode, unsigned octwords, bool free_)
{
    CMD(create_mkey, CREATE_MKEY);
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
    size_t len = DEVX_ST_SZ_BYTES(create_mkey_in);

    DEVX_SET(mkc, mkc, free, free_);
    DEVX_SET(mkc, mkc, umr_en, 1);
    DEVX_SET(mkc, mkc, lr, 1);
    DEVX_SET(mkc, mkc, lw, 1);
    DEVX_SET(mkc, mkc, rr, 1);
    DEVX_SET(mkc, mkc, rw, 1);
    DEVX_SET(mkc, mkc, a, 1);
    DEVX_SET(mkc, mkc, access_mode_1_0, mode);
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, pd, bed->d->pdn);
    DEVX_SET(mkc, mkc, translations_octword_size, octwords);
    if (!free_) {
        DEVX_SET64(mkc, mkc, len, 2 * HOST_PAGE);
        DEVX_SET(create_mkey_in, in, translations_octword_actual_size,
                 octwords);
        for (unsigned i = 0; i < octwords; i++, len += 16) {
            mocx_put_be32(in + len, HOST_PAGE);
            mocx_put_be32(in + len + 4, bed->mr->key);
            mocx_put_be64(in + len + 8, BED_MR_VA + i * 2 * HOST_PAGE);
        }
    }
    drv_cmd_ok(bed->d, in, len, out, sizeof(out));
    return DEVX_GET(create_mkey_out, out, mkey_index) << 8;
}

/* Queue pairs */

static const DrvPath path = {
    .log_rra = 2, .log_sra = 2, .timeout = 10, .retry = 2, .rnr_retry = 2,
    .set_retry = true,
};

static void qp_new(Bed *bed, unsigned i, uint8_t type, uint32_t srqn)
{
    DrvQp *qp = drv_qp_new(bed->d, &(DrvQpParams) {
        .type = type, .scq = bed->cq[0], .rcq = bed->cq[1], .log_sq = 5,
        .log_rq = 4, .srqn = srqn });

    bed->qp[i] = *qp;
    free(qp);
}

static void connect_one(Bed *bed, DrvQp *qp, const DrvQp *peer, unsigned gid)
{
    DrvQp far = *peer;
    DrvPath p = path;

    far.d = &bed->far_drv;
    p.gid = gid;
    p.set_gid = true;
    drv_qp_rst2init(qp, &p);
    drv_qp_init2rtr(qp, &p, &far);
    drv_qp_rtr2rts(qp, &p);
}

static void pair(Bed *bed, unsigned a, unsigned b, unsigned gid)
{
    connect_one(bed, &bed->qp[a], &bed->qp[b], gid);
    connect_one(bed, &bed->qp[b], &bed->qp[a], gid);
}

static void xrc_qp(Bed *bed, DrvQp *qp, bool ini)
{
    CMD(create_qp, CREATE_QP);
    uint8_t *qpc = DEVX_ADDR_OF(create_qp_in, in, qpc);

    *qp = (DrvQp) { .d = bed->d,
                    .p = { .type = 3, .scq = bed->cq[0], .rcq = bed->cq[1],
                           .log_sq = SEND_XRC } };
    qp->buf = qp->sq = gpa_alloc(bed->h, HOST_PAGE, HOST_PAGE);
    qp->dbr = gpa_alloc(bed->h, 8, 64);
    DEVX_SET(qpc, qpc, st, 3);
    DEVX_SET(qpc, qpc, pd, bed->d->pdn);
    DEVX_SET(qpc, qpc, xrcd, bed->xrcd);
    DEVX_SET(qpc, qpc, rq_type, 1);
    DEVX_SET(qpc, qpc, uar_page, bed->d->uar);
    DEVX_SET(qpc, qpc, cqn_snd, ini ? bed->cq[0]->cqn : 0);
    DEVX_SET(qpc, qpc, no_sq, !ini);
    DEVX_SET(qpc, qpc, log_sq_size, SEND_XRC);
    DEVX_SET64(qpc, qpc, dbr_addr, qp->dbr);
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_qp_in), qp->buf);
    drv_cmd_ok(bed->d, in, DEVX_ST_SZ_BYTES(create_qp_in) + 8, out,
               sizeof(out));
    qp->qpn = DEVX_GET(create_qp_out, out, qpn);
}

static void receives(Bed *bed)
{
    DrvSge sge = any_sge(bed);

    for (unsigned i = 0; i < BED_QPS; i++) {
        for (unsigned n = 0; bed->qp[i].p.log_rq && n < POSTED; n++) {
            if (!bed->qp[i].p.srqn && bed->qp[i].p.type != DRV_QP_UMR) {
                drv_post_recv(&bed->qp[i], &sge, 1);
            }
        }
    }
}

static void queue_pairs(Bed *bed)
{
    static const struct {
        uint8_t i, type;
    } plain[] = {
        { BED_RC_A, DRV_QP_RC }, { BED_RC_B, DRV_QP_RC },
        { BED_UC_A, DRV_QP_UC }, { BED_UC_B, DRV_QP_UC },
        { BED_UD, DRV_QP_UD }, { BED_GSI, DRV_QP_GSI },
        { BED_UMR, DRV_QP_UMR }, { BED_SELF, DRV_QP_RC },
        { BED_RC_TO_SRQ, DRV_QP_RC }, { BED_RC_V6, DRV_QP_RC },
        { BED_RC_V6_B, DRV_QP_RC }, { BED_RC_RTR, DRV_QP_RC },
        { BED_RC_ERR, DRV_QP_RC },
    };

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        qp_new(bed, plain[i].i, plain[i].type, 0);
    }
    qp_new(bed, BED_RC_SRQ, DRV_QP_RC, bed->srq[BED_RMP].srqn);
    xrc_qp(bed, &bed->qp[BED_XRC_INI], true);
    xrc_qp(bed, &bed->qp[BED_XRC_TGT], false);
    receives(bed);
    pair(bed, BED_RC_A, BED_RC_B, DRV_GID_V2_V4);
    pair(bed, BED_UC_A, BED_UC_B, DRV_GID_V2_V4);
    pair(bed, BED_RC_V6, BED_RC_V6_B, DRV_GID_V2_V6);
    pair(bed, BED_RC_SRQ, BED_RC_TO_SRQ, DRV_GID_V1_V6);
    pair(bed, BED_XRC_INI, BED_XRC_TGT, DRV_GID_V2_V4);
    drv_qp_connect(&bed->qp[BED_SELF], &bed->qp[BED_SELF], &path);
    drv_qp_ready(&bed->qp[BED_UD], NULL);
    drv_qp_ready(&bed->qp[BED_GSI], NULL);
    drv_qp_ready(&bed->qp[BED_UMR], NULL);
    drv_qp_rst2init(&bed->qp[BED_RC_RTR], &path);
    drv_qp_init2rtr(&bed->qp[BED_RC_RTR], &path, &bed->qp[BED_RC_ERR]);
    drv_qp_rst2init(&bed->qp[BED_RC_ERR], &path);
    drv_qp_cmd(&bed->qp[BED_RC_ERR], MLX5_CMD_OP_2ERR_QP);
}

static void join_group(Bed *bed)
{
    static const uint8_t gid[16] = { 0xff, 0x0e, [15] = 7 };
    CMD(attach_to_mcg, ATTACH_TO_MCG);

    DEVX_SET(attach_to_mcg_in, in, qpn, bed->qp[BED_UD].qpn);
    memcpy(DEVX_ADDR_OF(attach_to_mcg_in, in, multicast_gid), gid, 16);
    drv_cmd_ok(bed->d, in, DEVX_ST_SZ_BYTES(attach_to_mcg_in), out,
               sizeof(out));
}

/* Ethernet */

static void steering(Bed *bed)
{
    Drv *d = bed->d;
    DrvFg fg;
    DrvFte fte;

    bed->counter = drv_alloc(d, MLX5_CMD_OP_ALLOC_FLOW_COUNTER);
    bed->second = drv_ft_new(d, &(DrvFt) { .level = 4, .log_size = 3 });
    bed->root = drv_ft_new(d, &(DrvFt) { .level = 3, .log_size = 4,
                                         .miss = bed->second });
    drv_fg_init(&fg, bed->root, 0, 7);
    DEVX_SET(fte_match_set_lyr_2_4, drv_fg_outer(&fg), ip_protocol, 0xff);
    DEVX_SET(fte_match_set_lyr_2_4, drv_fg_outer(&fg), ip_version, 0xf);
    drv_fg_cmd(d, &fg, &bed->group);
    drv_fte_init(&fte, bed->root, bed->group, 0);
    DEVX_SET(fte_match_set_lyr_2_4, drv_fte_outer(&fte), ip_protocol, 6);
    DEVX_SET(fte_match_set_lyr_2_4, drv_fte_outer(&fte), ip_version, 4);
    drv_fte_dest(&fte, 2, bed->tirs[1]);
    drv_fte_dest(&fte, 2, bed->tirs[0]);
    drv_fte_count(&fte, bed->counter);
    drv_fte_cmd(d, &fte);
    drv_fg_init(&fg, bed->second, 0, 0);
    drv_fg_cmd(d, &fg, &bed->any_group);
    drv_fte_init(&fte, bed->second, bed->any_group, 0);
    drv_fte_dest(&fte, 2, bed->tirs[0]);
    drv_fte_cmd(d, &fte);
    drv_ft_root(d, bed->root);
}

static void ethernet(Bed *bed)
{
    static const DrvRqParams rq = { .log_size = 4, .log_stride = 5,
                                    .flush_in_error = true };
    DrvSge sge = { BED_MR_VA, bed->mr->key, RECV_LEN };
    uint32_t rqns[2];

    for (unsigned i = 0; i < 2; i++) {
        bed->sq[i] = drv_sq_new(bed->d, bed->cq[2], 6);
        bed->rq[i] = drv_rq_new(bed->d, bed->cq[2], &rq);
        rqns[i] = bed->rq[i]->rqn;
        for (unsigned n = 0; n < POSTED; n++) {
            drv_rq_post(bed->rq[i], &sge, 1);
        }
    }
    bed->rqt = drv_rqt_new(bed->d, rqns, 2);
    bed->tirs[0] = drv_tir_direct(bed->d, rqns[0]);
    bed->tirs[1] = drv_tir_rss(bed->d, &(DrvRss) {
        .rqtn = bed->rqt, .fn = MLX5_RX_HASH_FN_TOEPLITZ, .symmetric = true,
        .fields = 0xf });
    steering(bed);
}

void bed_up(Bed *bed)
{
    drv_bring_up(bed->d);
    drv_net_up(bed->d);
    bed->cq[0] = drv_cq_new(bed->d, 7);
    bed->cq[1] = drv_cq_new(bed->d, 7);
    bed->cq[2] = drv_cq_new(bed->d, 5);
    bed->mr = drv_mr_new(bed->d, BED_MR_VA, BED_MR_LEN, DRV_ALL);
    bed->klm = key_new(bed, 2, 2, false);
    bed->umr_key = key_new(bed, 1, 4, true);
    bed->xrcd = drv_alloc(bed->d, MLX5_CMD_OP_ALLOC_XRCD);
    drv_alloc(bed->d, MLX5_CMD_OP_ALLOC_Q_COUNTER);
    rmp_new(bed, &bed->srq[BED_RMP]);
    xrc_srq_new(bed, &bed->srq[BED_XRC_SRQ]);
    basic_srq_new(bed, &bed->srq[BED_SRQ]);
    queue_pairs(bed);
    join_group(bed);
    ethernet(bed);
    bed->scratch = gpa_alloc(bed->h, BED_SCRATCH * HOST_PAGE, HOST_PAGE);
    drv_service_pages(bed->d);
    world_settle(bed->w);
    bed->up = true;
}
