/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the checks of the responder (resp.c) and what follows them. */
#ifndef MOCX_RESP_H
#define MOCX_RESP_H

#include "psn.h"
#include "roce.h"

typedef enum MocxVerdict {
    MOCX_V_OK,
    MOCX_V_DROP,
    MOCX_V_RNR,
    MOCX_V_INVALID,        /* request makes no sense here */
    MOCX_V_TOO_LONG,       /* SEND longer than the receive WQE */
    MOCX_V_ACCESS,         /* remote key */
    MOCX_V_WRITE_FAULT,    /* the key is right, what it leads to is not */
    MOCX_V_RECV_PROT,      /* local key of the receive WQE */
    MOCX_V_RECV_WQE,       /* receive WQE makes no sense */
    MOCX_V_INVALIDATE,     /* SEND with invalidate of a key that refuses */
    MOCX_V_FATAL,          /* ring unreadable */
} MocxVerdict;

/* The packet being looked at, with what the checks found out. */
typedef struct MocxRequest {
    MocxDev *dev;
    MocxQp *qp;
    const MocxPkt *pkt;
    MocxSrq *srq;
    uint32_t pdn;           /* whose remote keys count */
} MocxRequest;

static inline MocxVerdict mocx_verdict_of(MocxMemResult r)
{
    return r == MOCX_MEM_OK ? MOCX_V_OK
           : r == MOCX_MEM_BAD_DMA ? MOCX_V_WRITE_FAULT : MOCX_V_ACCESS;
}

static inline MocxAccess mocx_remote_access(const MocxRequest *c, uint8_t need)
{
    return (MocxAccess) {
        .pdn = c->pdn, .qpn = mocx_qpn(c->qp), .need = need,
    };
}

/*
 * resp_exec.c: carry out what passed the checks.  Memory is touched, a replay
 * entry made, the CQE posted; PSNs are the caller's.
 */
MocxVerdict mocx_resp_send(MocxRequest *c);
MocxVerdict mocx_resp_write(MocxRequest *c);
MocxVerdict mocx_resp_read(MocxRequest *c);
MocxVerdict mocx_resp_atomic(MocxRequest *c);

#endif /* MOCX_RESP_H */
