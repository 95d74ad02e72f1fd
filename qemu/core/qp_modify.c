// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QP state transitions.
 *
 * A transition is a row: its opcode, the states it starts from, the one it
 * leads to.  A context field is a row: the transitions that must carry it, and
 * the bit of opt_param_mask by which others may.  The split into required and
 * optional is that of drivers/infiniband/hw/mlx5/qp.c:opt_mask.
 */
#include "qp.h"
#include "roce.h"

#define SYND_QP_STATE       0x05010001u
#define SYND_QP_MTU         0x05010002u
#define SYND_QP_GID         0x05010003u
#define SYND_QP_MODIFY      0x05010004u
#define SYND_QP_MSG         0x05010005u
#define SYND_QP_RATE        0x05010006u
#define SYND_QP_LOOPBACK    0x05010007u
#define SYND_QP_MIGRATION   0x05010008u
#define SYND_QP_ATOMIC      0x05010009u

#define PM_MIGRATED         3
/* Around the payload: Ethernet with its tag, and RoCE's own (iboe_get_mtu()) */
#define L2_OVERHEAD         22u
#define ROCE_OVERHEAD       96u
/* Larger ones are of more than the 8 bytes that are offered (mlx5_ib.h). */
#define ATOMIC_MODE_8B      3

enum {
    RST2INIT = 1 << 0, INIT2INIT = 1 << 1, INIT2RTR = 1 << 2, RTR2RTS = 1 << 3,
    RTS2RTS = 1 << 4, SQERR2RTS = 1 << 5, SQD2RTS = 1 << 6,
    SET_UP = RST2INIT | INIT2INIT | INIT2RTR | RTR2RTS,
};

typedef struct Transition {
    uint16_t opcode;
    uint8_t bit;
    uint8_t from, to;
} Transition;

static const Transition transitions[] = {
    { MLX5_CMD_OP_RST2INIT_QP, RST2INIT, MOCX_QP_RST, MOCX_QP_INIT },
    { MLX5_CMD_OP_INIT2INIT_QP, INIT2INIT, MOCX_QP_INIT, MOCX_QP_INIT },
    { MLX5_CMD_OP_INIT2RTR_QP, INIT2RTR, MOCX_QP_INIT, MOCX_QP_RTR },
    { MLX5_CMD_OP_RTR2RTS_QP, RTR2RTS, MOCX_QP_RTR, MOCX_QP_RTS },
    { MLX5_CMD_OP_RTS2RTS_QP, RTS2RTS, MOCX_QP_RTS, MOCX_QP_RTS },
    { MLX5_CMD_OP_SQERR2RTS_QP, SQERR2RTS, MOCX_QP_SQER, MOCX_QP_RTS },
    { MLX5_CMD_OP_SQD_RTS_QP, SQD2RTS, MOCX_QP_SQD, MOCX_QP_RTS },
};

/* opt_param_mask (mlx5/qp.h: MLX5_QP_OPTPAR_*) */
enum {
    OPT_ALT_PATH = 1 << 0, OPT_RRE = 1 << 1, OPT_RAE = 1 << 2, OPT_RWE = 1 << 3,
    OPT_PKEY = 1 << 4, OPT_QKEY = 1 << 5, OPT_RNR_TIMER = 1 << 6,
    OPT_PRI_PATH = 1 << 7, OPT_SRA = 1 << 8, OPT_RRA = 1 << 9,
    OPT_PM_STATE = 1 << 10, OPT_RETRY = 1 << 12, OPT_RNR_RETRY = 1 << 13,
    OPT_ACK_TIMEOUT = 1 << 14, OPT_PORT = 1 << 16, OPT_COUNTER = 1 << 25,
};

/**
 * struct Field - a part of the context
 * @off: first bit in the context
 * @bits: width
 * @required: transitions that always carry it
 * @opt: bit of opt_param_mask with which any other one may; 0: none may
 */
typedef struct Field {
    uint16_t off, bits;
    uint8_t required;
    uint32_t opt;
} Field;

#define FIELD(name, required, opt) \
    { __devx_bit_off(qpc, name), __devx_bit_sz(qpc, name), required, opt }
#define PATH(name, required, opt) \
    FIELD(primary_address_path.name, required, opt)

static const Field fields[] = {
    FIELD(pm_state, RST2INIT, OPT_PM_STATE),
    FIELD(counter_set_id, RST2INIT, OPT_COUNTER),
    FIELD(rlky, RST2INIT, 0),
    FIELD(deth_sqpn, SET_UP, 0),
    FIELD(q_key, RST2INIT, OPT_QKEY),
    FIELD(rre, RST2INIT, OPT_RRE),
    FIELD(rwe, RST2INIT, OPT_RWE),
    FIELD(rae, RST2INIT, OPT_RAE),
    FIELD(atomic_mode, RST2INIT, OPT_RAE),
    PATH(pkey_index, RST2INIT, OPT_PKEY),
    PATH(vhca_port_num, RST2INIT, OPT_PORT),

    FIELD(mtu, INIT2RTR, 0),
    FIELD(log_msg_max, INIT2RTR, 0),
    FIELD(remote_qpn, INIT2RTR, 0),
    FIELD(next_rcv_psn, INIT2RTR, 0),
    FIELD(log_rra_max, INIT2RTR, OPT_RRA),
    FIELD(min_rnr_nak, INIT2RTR, OPT_RNR_TIMER),
    PATH(fl, INIT2RTR, OPT_PRI_PATH),
    PATH(grh, INIT2RTR, OPT_PRI_PATH),
    PATH(mlid, INIT2RTR, OPT_PRI_PATH),
    PATH(rlid, INIT2RTR, OPT_PRI_PATH),
    PATH(src_addr_index, INIT2RTR, OPT_PRI_PATH),
    PATH(stat_rate, INIT2RTR, OPT_PRI_PATH),
    PATH(hop_limit, INIT2RTR, OPT_PRI_PATH),
    PATH(tclass, INIT2RTR, OPT_PRI_PATH),
    PATH(flow_label, INIT2RTR, OPT_PRI_PATH),
    PATH(rgid_rip, INIT2RTR, OPT_PRI_PATH),
    PATH(dscp, INIT2RTR, OPT_PRI_PATH),
    PATH(udp_sport, INIT2RTR, OPT_PRI_PATH),
    PATH(eth_prio, INIT2RTR, OPT_PRI_PATH),
    PATH(sl, INIT2RTR, OPT_PRI_PATH),
    PATH(rmac_47_32, INIT2RTR, OPT_PRI_PATH),
    PATH(rmac_31_0, INIT2RTR, OPT_PRI_PATH),

    FIELD(log_ack_req_freq, RTR2RTS, 0),
    FIELD(log_sra_max, RTR2RTS, OPT_SRA),
    FIELD(retry_count, RTR2RTS, OPT_RETRY),
    FIELD(rnr_retry, RTR2RTS, OPT_RNR_RETRY),
    FIELD(next_send_psn, RTR2RTS, 0),
    PATH(ack_timeout, RTR2RTS, OPT_ACK_TIMEOUT),
};

#define NUM(a) (sizeof(a) / sizeof((a)[0]))

/* Fields are narrower than a dword, or whole bytes. */
static void copy_field(uint8_t *to, const uint8_t *from, const Field *f)
{
    if (f->bits <= 32) {
        _devx_set(to, _devx_get(from, f->off, f->bits), f->off, f->bits);
    } else {
        memcpy(to + f->off / 8, from + f->off / 8, f->bits / 8);
    }
}

static void merge(uint8_t *ctx, const uint8_t *qpc, uint8_t transition,
                  uint32_t opt)
{
    for (size_t i = 0; i < NUM(fields); i++) {
        if (fields[i].required & transition || fields[i].opt & opt) {
            copy_field(ctx, qpc, &fields[i]);
        }
    }
}

static const Transition *transition_of(uint16_t opcode)
{
    const Transition *t = transitions;

    while (t->opcode != opcode) {
        t++;                /* the command rows name no other opcode */
    }
    return t;
}

static bool connected(const MocxQp *qp)
{
    return mocx_qp_reliable(qp) || qp->type == MOCX_QP_UC;
}

/* What a QP cannot go to RTR with. */
static MocxStatus check_path(MocxDev *dev, MocxCmd *cmd, const MocxQp *qp,
                             const uint8_t *ctx)
{
    unsigned mtu = DEVX_GET(qpc, ctx, mtu);
    unsigned msg = DEVX_GET(qpc, ctx, log_msg_max);
    unsigned gid = DEVX_GET(qpc, ctx, primary_address_path.src_addr_index);

    /* mlx5_ib gives both to every type, even if its packets need no limit. */
    if (!connected(qp) && !dev->cfg.card) {
        return MOCX_OK;
    }
    if (mtu < 1 || mtu > 5) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_MTU,
                        "path MTU code %u", mtu);
    }
    if (dev->cfg.card && (msg < 8 || msg > MOCX_LOG_MAX_MSG)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_MSG,
                        "messages of 2^%u bytes", msg);
    }
    if (!connected(qp)) {
        return MOCX_OK;
    }
    if (dev->cfg.card &&
        (128u << mtu) + ROCE_OVERHEAD + L2_OVERHEAD > dev->port.admin_mtu) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_MTU,
                        "path MTU %u on a port of %u", 128u << mtu,
                        dev->port.admin_mtu);
    }
    if (!mocx_roce_gid(dev, gid)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_GID,
                        "there is no RoCE address %u to send from", gid);
    }
    return MOCX_OK;
}

/* What no capability offers. */
static MocxStatus check_offered(MocxDev *dev, MocxCmd *cmd, const uint8_t *ctx,
                                uint32_t opt)
{
    if (opt & OPT_ALT_PATH || DEVX_GET(qpc, ctx, pm_state) != PM_MIGRATED) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_MIGRATION,
                        "path migration is not offered");
    }
    if (DEVX_GET(qpc, ctx, primary_address_path.fl)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_LOOPBACK,
                        "forced loopback is not offered");
    }
    if (DEVX_GET(qpc, ctx, primary_address_path.stat_rate)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_RATE,
                        "static rate %u is not offered",
                        DEVX_GET(qpc, ctx, primary_address_path.stat_rate));
    }
    if (DEVX_GET(qpc, ctx, atomic_mode) > ATOMIC_MODE_8B) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_QP_ATOMIC,
                        "atomic mode %u", DEVX_GET(qpc, ctx, atomic_mode));
    }
    return MOCX_OK;
}

static MocxStatus enter(MocxDev *dev, MocxQp *qp, const Transition *t)
{
    qp->state = t->to;
    if (t->bit == INIT2RTR && !mocx_resp_start(qp)) {
        qp->state = t->from;
        return MOCX_NO_RES;
    }
    if (t->bit == RTR2RTS) {
        mocx_req_start(dev, qp);
    }
    if (t->to == MOCX_QP_RTS) {
        mocx_work_queue(dev, &qp->req_work);
    }
    return MOCX_OK;
}

static MocxStatus lookup(MocxDev *dev, MocxCmd *cmd, MocxQp **qp)
{
    uint32_t qpn = DEVX_GET(rst2init_qp_in, cmd->in, qpn);

    *qp = mocx_qp_find(dev, qpn);
    return *qp ? MOCX_OK
           : mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_QP_MODIFY,
                      "QP %u does not exist", qpn);
}

MocxStatus mocx_qp_modify(MocxDev *dev, MocxCmd *cmd)
{
    const Transition *t = transition_of(cmd->opcode);
    const uint8_t *qpc = DEVX_ADDR_OF(rst2init_qp_in, cmd->in, qpc);
    uint32_t opt = DEVX_GET(rst2init_qp_in, cmd->in, opt_param_mask);
    uint8_t ctx[DEVX_ST_SZ_BYTES(qpc)];
    MocxQp *qp;
    MocxStatus status = lookup(dev, cmd, &qp);

    if (status) {
        return status;
    }
    if (qp->state != t->from) {
        return mocx_bad(dev, cmd, MOCX_BAD_QP_STATE, SYND_QP_STATE,
                        "QP %u is in state %u, not %u", mocx_qpn(qp),
                        qp->state, t->from);
    }
    memcpy(ctx, qp->ctx, sizeof(ctx));
    merge(ctx, qpc, t->bit, opt);
    status = check_offered(dev, cmd, ctx, opt);
    if (!status && t->bit == INIT2RTR) {
        status = check_path(dev, cmd, qp, ctx);
    }
    if (!status && t->from >= MOCX_QP_RTR && mocx_qp_reliable(qp) &&
        !mocx_resp_resize(qp, 1u << DEVX_GET(qpc, ctx, log_rra_max))) {
        status = MOCX_NO_RES;
    }
    if (status) {
        return status;
    }
    memcpy(qp->ctx, ctx, sizeof(ctx));
    mocx_qp_decode(qp);
    return enter(dev, qp, t);
}

MocxStatus mocx_qp_2err(MocxDev *dev, MocxCmd *cmd)
{
    MocxQp *qp;
    MocxStatus status = lookup(dev, cmd, &qp);

    if (!status) {
        mocx_resp_mute(qp);
        mocx_qp_error(dev, qp);
    }
    return status;
}

MocxStatus mocx_qp_2rst(MocxDev *dev, MocxCmd *cmd)
{
    MocxQp *qp;
    MocxStatus status = lookup(dev, cmd, &qp);

    if (!status) {
        mocx_qp_stop(dev, qp);
        qp->state = MOCX_QP_RST;
    }
    return status;
}
