/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one step of an input may do. */
#ifndef MOCX_FUZZ_STEP_H
#define MOCX_FUZZ_STEP_H

#include "bed.h"

typedef void StepFn(Bed *bed, Bytes *b);

/* A command: see grammar.h. */
StepFn step_command;
/* A send WQE of a QP, spoiled in its ring; mostly with a doorbell. */
StepFn step_send;
/* Receive WQEs of a QP or an SRQ, spoiled; there is no doorbell. */
StepFn step_receive;
/* A UMR work request. */
StepFn step_umr;
/* CQEs and EQEs are taken, CQs and EQs armed. */
StepFn step_poll;
/* Time passes. */
StepFn step_time;
/* The next frames on the mirror's way are spoiled. */
StepFn step_spoil;
/* A RoCE packet to some QP, built from fields. */
StepFn step_packet;
/* An Ethernet frame, built from fields. */
StepFn step_frame;
/* A send WQE of an Ethernet queue. */
StepFn step_eth_send;
/* A flow table, group or entry whose mask or value is built from fields. */
StepFn step_flow;
/* A read or write of BAR0. */
StepFn step_register;
/* The bus, the cable, injected faults, a reset. */
StepFn step_bus;

/**
 * pick_object() - the number of something that is alive
 * @bed: the device
 * @type: MocxObjType
 * @pick: which one
 *
 * Return: 0 if there is none.
 */
uint32_t pick_object(Bed *bed, unsigned type, uint8_t pick);
/** pick_address() - a guest address: mostly memory that is nobody's */
uint64_t pick_address(Bed *bed, uint8_t pick);
/** pick_key() - lkey or rkey */
uint32_t pick_key(Bed *bed, uint8_t pick);
/** pick_va() - an address within that key, or just outside */
uint64_t pick_va(uint8_t pick);

#endif /* MOCX_FUZZ_STEP_H */
