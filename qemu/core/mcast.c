// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Multicast groups.  Few are alive at once, so a list serves; a group is as
 * many entries of it as QPs are attached.
 */
#include "heap.h"
#include "mcast.h"

#define MCAST_MAX       4096        /* entries in all */

#define SYND_MCAST_QP       0x08060001u
#define SYND_MCAST_FULL     0x08060002u
#define SYND_MCAST_MISSING  0x08060003u

struct MocxMcast {
    MocxMcast *next;
    MocxQp *qp;
    uint8_t gid[16];
};

static MocxMcast **find(MocxDev *dev, const uint8_t *gid, const MocxQp *qp)
{
    MocxMcast **m = &dev->roce->mcasts;

    while (*m && ((*m)->qp != qp || memcmp((*m)->gid, gid, 16))) {
        m = &(*m)->next;
    }
    return m;
}

static unsigned count(const MocxDev *dev)
{
    unsigned n = 0;

    for (const MocxMcast *m = dev->roce->mcasts; m; m = m->next) {
        n++;
    }
    return n;
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
    MocxMcast **end, *m;
    MocxQp *qp;
    MocxStatus status = lookup(dev, cmd, &qp);

    if (status) {
        return status;
    }
    end = find(dev, gid, qp);
    if (*end) {
        return MOCX_OK;
    }
    m = count(dev) < MCAST_MAX ? mocx_calloc(1, sizeof(*m)) : NULL;
    if (!m) {
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_MCAST_FULL,
                        "no multicast entry left");
    }
    m->qp = qp;
    memcpy(m->gid, gid, sizeof(m->gid));
    *end = m;
    mocx_obj_hold(&qp->queue.obj);
    return MOCX_OK;
}

static void drop(MocxMcast **m)
{
    MocxMcast *old = *m;

    *m = old->next;
    mocx_obj_drop(&old->qp->queue.obj);
    mocx_free(old);
}

static MocxStatus detach(MocxDev *dev, MocxCmd *cmd)
{
    MocxMcast **m;
    MocxQp *qp;
    MocxStatus status = lookup(dev, cmd, &qp);

    if (status) {
        return status;
    }
    m = find(dev, DEVX_ADDR_OF(attach_to_mcg_in, cmd->in, multicast_gid), qp);
    if (!*m) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_MCAST_MISSING,
                        "QP %u is not in the group", mocx_qpn(qp));
    }
    drop(m);
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
    MocxMcast *next;

    for (MocxMcast *m = dev->roce->mcasts; m; m = next) {
        next = m->next;
        if (!memcmp(m->gid, pkt->path.dgid, sizeof(m->gid)) &&
            !deaf_to_itself(dev, m->qp, pkt)) {
            mocx_roce_deliver(dev, m->qp, pkt);
        }
    }
}

void mocx_mcast_reset(MocxDev *dev)
{
    while (dev->roce->mcasts) {
        drop(&dev->roce->mcasts);
    }
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(ATTACH_TO_MCG, attach_to_mcg, MOCX_ST_INITIALIZED, attach),
    MOCX_ROW(DETACH_FROM_MCG, detach_from_mcg, MOCX_ST_INITIALIZED, detach),
};

const MocxCmdRows mocx_rows_mcast = { rows, sizeof(rows) / sizeof(rows[0]) };
