/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completions of queue pairs. */
#ifndef MOCX_COMP_H
#define MOCX_COMP_H

#include "qp.h"

/*
 * Syndromes with the vendor byte that a ConnectX puts beside them, as seen in
 * public reports; zero where none was found.
 */
typedef struct MocxErr {
    uint8_t syndrome;
    uint8_t vendor;
} MocxErr;

#define MOCX_ERR_SEND_LEN       ((MocxErr) { 0x01, 0x00 })
#define MOCX_ERR_RECV_LEN       ((MocxErr) { 0x01, 0x8e })
#define MOCX_ERR_QP_OP          ((MocxErr) { 0x02, 0x68 })
#define MOCX_ERR_RECV_WQE       ((MocxErr) { 0x02, 0xd6 })
#define MOCX_ERR_PROT           ((MocxErr) { 0x04, 0x51 })
#define MOCX_ERR_PROT_RESULT    ((MocxErr) { 0x04, 0x52 })
#define MOCX_ERR_FLUSH          ((MocxErr) { 0x05, 0xf9 })
#define MOCX_ERR_BIND           ((MocxErr) { 0x06, 0x00 })
#define MOCX_ERR_BAD_RESP       ((MocxErr) { 0x10, 0x00 })
#define MOCX_ERR_LOCAL_ACCESS   ((MocxErr) { 0x11, 0x00 })
#define MOCX_ERR_REM_INV_REQ    ((MocxErr) { 0x12, 0x8a })
#define MOCX_ERR_REM_ACCESS     ((MocxErr) { 0x13, 0x88 })
#define MOCX_ERR_REM_OP         ((MocxErr) { 0x14, 0x89 })
#define MOCX_ERR_RETRY          ((MocxErr) { 0x15, 0x81 })
#define MOCX_ERR_RNR_RETRY      ((MocxErr) { 0x16, 0x87 })

/** mocx_comp_send() - a send WQE is done; a CQE only if it was asked for */
void mocx_comp_send(MocxDev *dev, MocxQp *qp, const MocxSendRec *rec);
/** mocx_comp_send_err() - always a CQE */
void mocx_comp_send_err(MocxDev *dev, MocxQp *qp, uint16_t counter,
                        uint8_t opcode, MocxErr err);

/**
 * struct MocxRecvComp - a message that arrived
 * @opcode: MLX5_CQE_RESP_*
 * @counter: index of the WQE
 * @bytes: of the message
 * @srq: where the WQE was from, or NULL
 * @pkt: last packet of the message; immediate data, key, addresses
 */
typedef struct MocxRecvComp {
    uint8_t opcode;
    uint16_t counter;
    uint32_t bytes;
    MocxSrq *srq;
    const MocxPkt *pkt;
} MocxRecvComp;

void mocx_comp_recv(MocxDev *dev, MocxQp *qp, const MocxRecvComp *c);
void mocx_comp_recv_err(MocxDev *dev, MocxQp *qp, MocxSrq *srq,
                        uint16_t counter, MocxErr err);

#endif /* MOCX_COMP_H */
