/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues. */
#ifndef MOCX_CQ_H
#define MOCX_CQ_H

#include "eq.h"
#include "ifc.h"
#include "sched.h"
#include "verify.h"

typedef enum MocxCqArm {
    MOCX_CQ_IDLE, MOCX_CQ_ARM_SOLICITED, MOCX_CQ_ARM_NEXT,
} MocxCqArm;

typedef struct MocxCq {
    MocxObj obj;
    MocxRing ring;
    MocxEq *eq;
    uint64_t dbr;           /* dword 0: consumer index, dword 1: arm word */
    uint8_t log_size;
    uint8_t log_cqe_sz;     /* 6 or 7 */
    uint8_t cqe_sz;         /* as in cqc: 0 64, 1 128, 2 128 with padding */
    uint16_t period;        /* moderation: microseconds between events, */
    uint16_t max_count;     /* or this many CQEs; 0 in either is none */
    uint64_t event_ns;      /* when the last event was raised */
    MocxTimer timer;        /* an event that is held back */
    MocxObj *uar;
    bool ignore_overrun;    /* oi */
    bool in_error;
    MocxCqArm arm;
    uint8_t arm_sn;
    uint32_t pi;            /* producer, never masked */
    uint32_t ci;            /* consumer as last seen, 24 bit */
    uint32_t event_pi;      /* pi when the last event was raised */
    MocxCqVerify check;     /* verifier mode */
    uint32_t solicited_pi;  /* pi after the newest solicited or error CQE */
} MocxCq;

/** mocx_cq_find() - by number, or NULL */
MocxCq *mocx_cq_find(MocxDev *dev, uint32_t cqn);
/**
 * mocx_cq_post() - add one CQE
 * @dev: the device
 * @cq: the CQ
 * @cqe: all but the owner bit and the timestamp, which are filled here; opcode
 *     in op_own[7:4], solicited in op_own[1]
 *
 * On overrun nothing is written: the CQ goes to error with its event, and the
 * caller sends its queue to error with QP_FATAL (IBTA; see design).
 *
 * Return: false on overrun or a CQ in error.
 */
bool mocx_cq_post(MocxDev *dev, MocxCq *cq, struct mlx5_cqe64 *cqe);
/** mocx_cq_arm() - offset 0x20 of page @uar */
void mocx_cq_arm(MocxDev *dev, const MocxObj *uar, uint32_t arm_word,
                 uint32_t cqn);

#endif /* MOCX_CQ_H */
