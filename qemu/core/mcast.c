// SPDX-License-Identifier: GPL-2.0-or-later
/* Multicast groups: at most as many, and as large, as is advertised. */
#include "heap.h"
#include "mcast.h"

#define MCAST_GROUPS    (1u << MOCX_LOG_MAX_MCG)
#define COPY_STEPS      32      /* beside the packet's own cost */

#define SYND_MCAST_QP       0x08060001u
#define SYND_MCAST_FULL     0x08060002u
#define SYND_MCAST_MISSING  0x08060003u

struct MocxMcast {
    MocxMcast *next;
    uint8_t gid[16];
    unsigned num_qps;           /* a group without one is freed */
    MocxQp *qps[MOCX_MAX_QP_MCG];
};

/* Where the group is, or where the list ends. */
static MocxMcast **find(MocxDev *dev, const uint8_t *gid)
{
    MocxMcast **m = &dev->roce->mcasts;

    while (*m && memcmp((*m)->gid, gid, sizeof((*m)->gid))) {
        m = &(*m)->next;
    }
    return m;
}

/* The place of a QP in a group, or @num_qps. */
static unsigned place(const MocxMcast *m, const MocxQp *qp)
{
    unsigned i = 0;

    while (i < m->num_qps && m->qps[i] != qp) {
        i++;
    }
    return i;
}

static unsigned count(const MocxDev *dev)
{
    unsigned n = 0;

    for (const MocxMcast *m = dev->roce->mcasts; m; m = m->next) {
        n++;
    }
    return n;
}

static MocxMcast *group_new(MocxDev *dev, const uint8_t *gid)
{
    MocxMcast *m = NULL;

    if (count(dev) < MCAST_GROUPS) {
        m = mocx_calloc(&dev->heap, 1, sizeof(*m));
    }
    if (m) {
        memcpy(m->gid, gid, sizeof(m->gid));
    }
    return m;
}

static MocxStatus lookup(MocxDev *dev, MocxCmd *cmd, MocxQp **qp)
{
    uint32_t qpn = DEVX_GET(attach_to_mcg_in, cmd->in, qpn);

    *qp = mocx_qp_find(dev, qpn);
    if (!*qp || (*qp)->type != MOCX_QP_UD) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_MCAST_QP,
                        "QP %u is no UD QP", qpn);
    }
    return MOCX_OK;
}

static MocxStatus attach(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *gid = DEVX_ADDR_OF(attach_to_mcg_in, cmd->in,
                                      multicast_gid);
    MocxMcast **m;
    MocxQp *qp;
    MocxStatus status = lookup(dev, cmd, &qp);

    if (status) {
        return status;
    }
    m = find(dev, gid);
    if (!*m) {
        *m = group_new(dev, gid);
    } else if (place(*m, qp) < (*m)->num_qps) {
        return MOCX_OK;
    }
    if (!*m || (*m)->num_qps == MOCX_MAX_QP_MCG) {
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_MCAST_FULL,
                        "no multicast group left, or no room in it");
    }
    (*m)->qps[(*m)->num_qps++] = qp;
    mocx_obj_hold(&qp->queue.obj);
    return MOCX_OK;
}

/* The others keep their order, in which copies are made. */
static void leave(MocxMcast **m, unsigned i)
{
    MocxMcast *group = *m;

    mocx_obj_drop(&group->qps[i]->queue.obj);
    group->num_qps--;
    memmove(&group->qps[i], &group->qps[i + 1],
            (group->num_qps - i) * sizeof(group->qps[0]));
    if (!group->num_qps) {
        *m = group->next;
        mocx_free(group);
    }
}

static MocxStatus detach(MocxDev *dev, MocxCmd *cmd)
{
    MocxMcast **m;
    MocxQp *qp;
    MocxStatus status = lookup(dev, cmd, &qp);

    if (status) {
        return status;
    }
    m = find(dev, DEVX_ADDR_OF(attach_to_mcg_in, cmd->in, multicast_gid));
    if (!*m || place(*m, qp) == (*m)->num_qps) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_MCAST_MISSING,
                        "QP %u is not in the group", mocx_qpn(qp));
    }
    leave(m, place(*m, qp));
    return MOCX_OK;
}

/* A QP may ask not to hear itself. */
static bool deaf_to_itself(const MocxDev *dev, const MocxQp *qp,
                           const MocxPkt *pkt)
{
    return DEVX_GET(qpc, qp->ctx, block_lb_mc) &&
           pkt->bth.src_qpn == mocx_qpn(qp) &&
           mocx_port_own_mac(&dev->port, pkt->path.smac);
}

void mocx_mcast_receive(MocxDev *dev, const MocxPkt *pkt)
{
    const MocxMcast *m = *find(dev, pkt->path.dgid);

    for (unsigned i = 0; m && i < m->num_qps; i++) {
        if (!deaf_to_itself(dev, m->qps[i], pkt)) {
            mocx_charge(dev, COPY_STEPS);
            mocx_roce_deliver(dev, m->qps[i], pkt);
        }
    }
}

void mocx_mcast_reset(MocxDev *dev)
{
    while (dev->roce->mcasts) {
        leave(&dev->roce->mcasts, 0);
    }
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(ATTACH_TO_MCG, attach_to_mcg, MOCX_ST_INITIALIZED, attach),
    MOCX_ROW(DETACH_FROM_MCG, detach_from_mcg, MOCX_ST_INITIALIZED, detach),
};

const MocxCmdRows mocx_rows_mcast = { rows, sizeof(rows) / sizeof(rows[0]) };
