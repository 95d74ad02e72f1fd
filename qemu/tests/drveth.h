/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ethernet queues and flow tables, driver's side. */
#ifndef MOCX_TESTS_DRVETH_H
#define MOCX_TESTS_DRVETH_H

#include "driver.h"

/* Destroy or free anything whose command has its number in one place. */
void drv_destroy(Drv *d, uint16_t opcode, uint32_t id);

/* Send queues */

typedef struct DrvSq {
    Drv *d;
    DrvCq *cq;
    uint32_t sqn;
    unsigned log_size;      /* basic blocks */
    uint64_t buf;
    uint64_t dbr;
    uint16_t pi;
    uint64_t last_ctrl;
} DrvSq;

/** drv_sq_new() - ready, with flush_in_error_en and a TIS of its own */
DrvSq *drv_sq_new(Drv *d, DrvCq *cq, unsigned log_size);
void drv_sq_free(DrvSq *sq);
uint8_t drv_sq_modify(DrvSq *sq, unsigned from, unsigned to);
unsigned drv_sq_state(DrvSq *sq);

/* Zero means nothing of it. */
typedef struct DrvEthWr {
    uint8_t opcode;         /* MLX5_OPCODE_… */
    bool unsignaled;
    uint8_t cs_flags;
    uint16_t mss;
    const void *hdr;        /* inlined header */
    uint16_t hdr_len;
    uint32_t tag;           /* VLAN to insert: type, TCI */
    const void *inl;        /* inline data segment, before the SGEs */
    uint32_t inl_len;
    unsigned num_sge;
    DrvSge sge[8];
} DrvEthWr;

/** drv_sq_post() - Return: the WQE's index */
uint16_t drv_sq_post(DrvSq *sq, const DrvEthWr *wr);
/** drv_sq_post_raw() - @len bytes from the control segment on, sqn filled in */
uint16_t drv_sq_post_raw(DrvSq *sq, const void *wqe, size_t len);
void drv_sq_ring(DrvSq *sq);

/* Receive queues */

typedef struct DrvRq {
    Drv *d;
    DrvCq *cq;
    uint32_t rqn;
    unsigned log_size;
    unsigned log_stride;
    uint64_t buf;
    uint64_t dbr;
    uint16_t pi;
} DrvRq;

/* Zero means the default in brackets. */
typedef struct DrvRqParams {
    unsigned log_size;      /* [4] */
    unsigned log_stride;    /* [4] */
    bool keep_vlan;
    bool flush_in_error;
    uint8_t counter_set;
} DrvRqParams;

/** drv_rq_new() - ready */
DrvRq *drv_rq_new(Drv *d, DrvCq *cq, const DrvRqParams *p);
void drv_rq_free(DrvRq *rq);
uint8_t drv_rq_modify(DrvRq *rq, unsigned from, unsigned to);
unsigned drv_rq_state(DrvRq *rq);
/** drv_rq_post() - ended by lkey 0x100 if the stride has room */
void drv_rq_post(DrvRq *rq, const DrvSge *sge, unsigned n);

/* RQT, TIR */

uint32_t drv_rqt_new(Drv *d, const uint32_t *rqns, unsigned n);
/** drv_tir_direct() - to one RQ */
uint32_t drv_tir_direct(Drv *d, uint32_t rqn);

typedef struct DrvRss {
    uint32_t rqtn;
    uint8_t fn;             /* MLX5_RX_HASH_FN_… */
    bool symmetric;
    bool ipv6;
    bool udp;
    uint32_t fields;
    const uint8_t *key;     /* 40 bytes */
} DrvRss;

uint32_t drv_tir_rss(Drv *d, const DrvRss *rss);

/* Flow tables */

typedef struct DrvFt {
    unsigned level;
    unsigned log_size;
    uint32_t miss;          /* 0: drop */
} DrvFt;

uint32_t drv_ft_new(Drv *d, const DrvFt *ft);
uint8_t drv_ft_destroy(Drv *d, uint32_t id);
uint8_t drv_ft_set_miss(Drv *d, uint32_t id, uint32_t miss);
/** drv_ft_root() - @id 0: disconnect */
void drv_ft_root(Drv *d, uint32_t id);

/* One command each for what a test wants refused: fill, change, issue. */

typedef struct DrvFg {
    uint8_t in[DEVX_ST_SZ_BYTES(create_flow_group_in)];
} DrvFg;

/** drv_fg_init() - indices; the mask, at drv_fg_outer(), is empty */
void drv_fg_init(DrvFg *fg, uint32_t ft, uint32_t start, uint32_t end);
uint8_t *drv_fg_outer(DrvFg *fg);
/** drv_fg_cmd() - Return: status; @id receives the number */
uint8_t drv_fg_cmd(Drv *d, DrvFg *fg, uint32_t *id);
uint8_t drv_fg_destroy(Drv *d, uint32_t ft, uint32_t fg);

#define DRV_FTE_DESTS   300

typedef struct DrvFte {
    uint8_t in[DEVX_ST_SZ_BYTES(set_fte_in) + 8 * DRV_FTE_DESTS];
    unsigned num_dests;
    bool counter;
} DrvFte;

void drv_fte_init(DrvFte *fte, uint32_t ft, uint32_t fg, uint32_t index);
uint8_t *drv_fte_outer(DrvFte *fte);
/** drv_fte_dest() - @type 1: table, 2: TIR */
void drv_fte_dest(DrvFte *fte, unsigned type, uint32_t id);
/** drv_fte_count() - after the last destination */
void drv_fte_count(DrvFte *fte, uint32_t counter);
uint8_t drv_fte_cmd(Drv *d, DrvFte *fte);
uint8_t drv_fte_delete(Drv *d, uint32_t ft, uint32_t index);

/** drv_steer_all() - a root table that sends everything to @tirn */
uint32_t drv_steer_all(Drv *d, uint32_t tirn);

#endif /* MOCX_TESTS_DRVETH_H */
