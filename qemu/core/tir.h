/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transport interface objects: where steering hands a packet over to receive
 * queues (TIR), the tables it spreads packets by (RQT), and what a send queue
 * hangs on (TIS).
 */
#ifndef MOCX_TIR_H
#define MOCX_TIR_H

#include "dev.h"
#include "eth_pkt.h"
#include "rq.h"
#include "toeplitz.h"

/* Each keeps its context as the driver gave it, for QUERY. */
typedef struct MocxTis {
    MocxObj obj;
    MocxObj *td;
    uint8_t ctx[DEVX_ST_SZ_BYTES(tisc)];
} MocxTis;

typedef struct MocxRqt {
    MocxObj obj;
    uint32_t max_size;
    uint32_t size;
    MocxRq *rqs[];          /* @max_size */
} MocxRqt;

typedef enum MocxHashFn {       /* tirc.rx_hash_fn */
    MOCX_HASH_NONE = 0, MOCX_HASH_XOR8 = 1, MOCX_HASH_TOEPLITZ = 2,
} MocxHashFn;

typedef struct MocxTir {
    MocxObj obj;
    MocxObj *td;
    MocxRq *rq;             /* direct */
    MocxRqt *rqt;           /* indirect */
    uint8_t hash_fn;        /* MocxHashFn */
    bool symmetric;
    bool loopback;          /* takes packets of its own domain, too */
    uint32_t tdn;
    uint32_t fields;        /* outer selected_fields */
    uint8_t key[MOCX_TOEPLITZ_KEY];
    uint8_t ctx[DEVX_ST_SZ_BYTES(tirc)];
} MocxTir;

/** mocx_tis_find(), mocx_tir_find(), mocx_rqt_find() - by number, or NULL */
MocxTis *mocx_tis_find(MocxDev *dev, uint32_t tisn);
MocxTir *mocx_tir_find(MocxDev *dev, uint32_t tirn);
MocxRqt *mocx_rqt_find(MocxDev *dev, uint32_t rqtn);

/**
 * mocx_tir_receive() - a packet that steering sent here
 * @dev: the device
 * @tir: the TIR
 * @pkt: the packet
 * @flow_tag: of the entry that forwarded it
 */
void mocx_tir_receive(MocxDev *dev, MocxTir *tir, const MocxEthPkt *pkt,
                      uint32_t flow_tag);

/* tis.c, rqt.c: kinds and handlers for the rows in tir.c */
extern const MocxObjKind mocx_tis_kind, mocx_rqt_kind;
MocxCmdFn mocx_tis_create, mocx_tis_modify, mocx_tis_destroy, mocx_tis_query;
MocxCmdFn mocx_rqt_create, mocx_rqt_modify, mocx_rqt_destroy, mocx_rqt_query;

#endif /* MOCX_TIR_H */
