/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared receive queues: basic SRQ, XRC SRQ and RMP (what an SRQ is called
 * since ISSI 1).  Three commands families over one object: a linked list of
 * WQEs in guest memory.
 */
#ifndef MOCX_SRQ_H
#define MOCX_SRQ_H

#include "cq.h"
#include "wqe.h"

typedef enum MocxSrqKind {
    MOCX_SRQ_BASIC, MOCX_SRQ_XRC, MOCX_SRQ_RMP,
} MocxSrqKind;

struct MocxSrq {
    MocxObj obj;
    MocxSrqKind kind;
    MocxRing ring;
    uint64_t dbr;           /* dword 0: WQEs posted, modulo 2^16 */
    uint8_t log_size;
    uint8_t log_stride;     /* bytes */
    bool failed;
    uint16_t posted;        /* as last read from the record */
    uint16_t taken;
    uint16_t next;          /* index of the WQE to take next */
    uint16_t limit;         /* event when fewer are left; 0: off */
    uint32_t user_index;    /* XRC */
    uint32_t pdn;
    MocxObj *pd;
    MocxObj *xrcd;          /* XRC; for a basic one only if named */
    MocxCq *cq;             /* XRC */
};

/** mocx_srq_find() - by number, or NULL */
MocxSrq *mocx_srq_find(MocxDev *dev, uint32_t srqn);

/**
 * mocx_srq_peek() - read the WQE that would be taken next
 * @dev: the device
 * @srq: the SRQ
 * @wqe: filled unless none is posted
 *
 * Return: MOCX_WQE_EMPTY if none is posted.
 */
MocxWqeResult mocx_srq_peek(MocxDev *dev, MocxSrq *srq, MocxRecvWqe *wqe);
/**
 * mocx_srq_take() - what was peeked belongs to a QP now; may raise the
 * limit event
 * @dev: the device
 * @srq: the SRQ
 * @wqe: what mocx_srq_peek() filled
 */
void mocx_srq_take(MocxDev *dev, MocxSrq *srq, const MocxRecvWqe *wqe);

#endif /* MOCX_SRQ_H */
