// SPDX-License-Identifier: GPL-2.0-or-later
/* Transport interface send objects: a priority and a transport domain. */
#include "heap.h"
#include "tir.h"

#define SYND_TIS_NUMBER 0x0715001u
#define SYND_TIS_DOMAIN 0x0715002u
#define SYND_TIS_LIMIT  0x0715003u
#define SYND_TIS_BUSY   0x0715004u
#define SYND_TIS_TLS    0x0715005u

const MocxObjKind mocx_tis_kind = {
    .type = MOCX_OBJ_TIS, .uses = { offsetof(MocxTis, td) },
};

MocxTis *mocx_tis_find(MocxDev *dev, uint32_t tisn)
{
    return (MocxTis *)mocx_table_find(&dev->tises, tisn);
}

static MocxTis *tis_of(MocxDev *dev, MocxCmd *cmd, uint32_t tisn)
{
    MocxTis *tis = mocx_tis_find(dev, tisn);

    if (!tis) {
        mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_TIS_NUMBER,
                 "TIS %u does not exist", tisn);
    }
    return tis;
}

MocxStatus mocx_tis_create(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *tisc = DEVX_ADDR_OF(create_tis_in, cmd->in, ctx);
    uint32_t tdn = DEVX_GET(tisc, tisc, transport_domain);
    MocxObj *td = mocx_table_find(&dev->tds, tdn);
    MocxTis *tis;

    if (!td) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_TIS_DOMAIN,
                        "no transport domain %u", tdn);
    }
    if (DEVX_GET(tisc, tisc, tls_en) || DEVX_GET(tisc, tisc, underlay_qpn)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_TIS_TLS,
                        "TIS asks for what is not advertised");
    }
    tis = mocx_calloc(&dev->heap, 1, sizeof(*tis));
    if (!tis) {
        return MOCX_NO_RES;
    }
    tis->td = td;
    if (!mocx_table_add(&dev->tises, &tis->obj, &mocx_tis_kind)) {
        mocx_free(tis);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_TIS_LIMIT, "no TIS left");
    }
    memcpy(tis->ctx, tisc, sizeof(tis->ctx));
    DEVX_SET(create_tis_out, cmd->out, tisn, tis->obj.id);
    return MOCX_OK;
}

MocxStatus mocx_tis_modify(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *tisc = DEVX_ADDR_OF(modify_tis_in, cmd->in, ctx);
    MocxTis *tis = tis_of(dev, cmd, DEVX_GET(modify_tis_in, cmd->in, tisn));

    if (!tis) {
        return MOCX_BAD_RES;
    }
    if (DEVX_GET(modify_tis_in, cmd->in, bitmask.prio)) {
        DEVX_SET(tisc, tis->ctx, prio, DEVX_GET(tisc, tisc, prio));
    }
    return MOCX_OK;
}

MocxStatus mocx_tis_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxTis *tis = tis_of(dev, cmd, DEVX_GET(destroy_tis_in, cmd->in, tisn));

    if (!tis) {
        return MOCX_BAD_RES;
    }
    if (tis->obj.refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_TIS_BUSY,
                        "TIS %u is named by %u SQs", tis->obj.id,
                        tis->obj.refs);
    }
    mocx_table_drop(dev, &dev->tises, &tis->obj);
    return MOCX_OK;
}

MocxStatus mocx_tis_query(MocxDev *dev, MocxCmd *cmd)
{
    MocxTis *tis = tis_of(dev, cmd, DEVX_GET(query_tis_in, cmd->in, tisn));

    if (!tis) {
        return MOCX_BAD_RES;
    }
    memcpy(DEVX_ADDR_OF(query_tis_out, cmd->out, tis_context), tis->ctx,
           sizeof(tis->ctx));
    return MOCX_OK;
}
