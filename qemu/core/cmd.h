/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command interface.  A command is a row; a module lists its rows in one
 * array, and cmd.c finds them by opcode.
 */
#ifndef MOCX_CMD_H
#define MOCX_CMD_H

#include <stdbool.h>
#include <stdint.h>

typedef struct MocxDev MocxDev;

/* Command status, as in the first byte of every output (mlx5/device.h). */
typedef enum MocxStatus {
    MOCX_OK                 = 0x00,
    MOCX_INT_ERR            = 0x01,
    MOCX_BAD_OP             = 0x02,
    MOCX_BAD_PARAM          = 0x03,
    MOCX_BAD_SYS_STATE      = 0x04,
    MOCX_BAD_RES            = 0x05,
    MOCX_RES_BUSY           = 0x06,
    MOCX_LIM_ERR            = 0x08,
    MOCX_BAD_RES_STATE      = 0x09,
    MOCX_BAD_INDEX          = 0x0a,
    MOCX_NO_RES             = 0x0f,
    MOCX_BAD_QP_STATE       = 0x10,
    MOCX_BAD_SIZE_OUTS_CQES = 0x40, /* more CQEs than the new size */
    MOCX_BAD_INPUT_LEN      = 0x50,
    MOCX_BAD_OUTPUT_LEN     = 0x51,
} MocxStatus;

/* Device states in which a command is legal. */
enum {
    MOCX_ST_POWER_ON    = 1 << 0,   /* before ENABLE_HCA */
    MOCX_ST_ENABLED     = 1 << 1,   /* until INIT_HCA, and after TEARDOWN */
    MOCX_ST_INITIALIZED = 1 << 2,   /* INIT_HCA to TEARDOWN_HCA */
    MOCX_ST_ANY         = 7,
};

/**
 * struct MocxCmd - one command being executed
 * @in: whole input message, copied from the guest once
 * @inlen: bytes; at least the row's @in_min
 * @out: whole output message, zeroed; status and syndrome are filled by cmd.c
 * @outlen: bytes the driver gave room for; at least the row's @out_min
 * @defined: bytes of @out that mean something, if the command answers with
 *     more than its layout has; 0 otherwise
 * @opcode: of the input header
 * @op_mod: of the input header
 * @uid: user context of the input header, 0 for the kernel's
 * @syndrome: set by the handler beside a status other than MOCX_OK
 */
typedef struct MocxCmd {
    const uint8_t *in;
    uint32_t inlen;
    uint8_t *out;
    uint32_t outlen;
    uint32_t defined;
    uint16_t opcode;
    uint16_t op_mod;
    uint16_t uid;
    uint32_t syndrome;
} MocxCmd;

typedef MocxStatus MocxCmdFn(MocxDev *dev, MocxCmd *cmd);

/**
 * struct MocxCmdRow - one opcode
 * @opcode: MLX5_CMD_OP_*
 * @name: of the opcode, for the log
 * @in_min: bytes without which the command has no meaning; a shorter message
 *     is MOCX_BAD_INPUT_LEN
 * @out_min: the same of the output; MOCX_BAD_OUTPUT_LEN
 * @states: MOCX_ST_* in which it is legal; otherwise MOCX_BAD_SYS_STATE
 * @fn: the handler
 * @ifc: name of its layouts in mlx5_ifc.h, without _in and _out
 */
typedef struct MocxCmdRow {
    uint16_t opcode;
    const char *name;
    uint16_t in_min;
    uint16_t out_min;
    uint8_t states;
    MocxCmdFn *fn;
    const char *ifc;
} MocxCmdRow;

/* For rows: MOCX_ROW(CREATE_CQ, create_cq, MOCX_ST_INITIALIZED, cq_create) */
#define MOCX_ROW(OP, ifc, st, handler)                                  \
    { MLX5_CMD_OP_##OP, #OP, DEVX_ST_SZ_BYTES(ifc##_in),                \
      DEVX_ST_SZ_BYTES(ifc##_out), (st), (handler), #ifc }

typedef struct MocxCmdRows {
    const MocxCmdRow *rows;
    unsigned n;
} MocxCmdRows;

/* Each module defines one of these; cmd.c lists them. */
extern const MocxCmdRows mocx_rows_hca;     /* hca.c: life cycle */
extern const MocxCmdRows mocx_rows_page;    /* page.c */
extern const MocxCmdRows mocx_rows_cap;     /* cap.c */
extern const MocxCmdRows mocx_rows_reg;     /* reg.c: ACCESS_REG */
extern const MocxCmdRows mocx_rows_alloc;   /* alloc.c: PD, UAR, … */
extern const MocxCmdRows mocx_rows_eq;
extern const MocxCmdRows mocx_rows_cq;
extern const MocxCmdRows mocx_rows_mkey;
extern const MocxCmdRows mocx_rows_vport;   /* vport.c */
extern const MocxCmdRows mocx_rows_l2_table;
extern const MocxCmdRows mocx_rows_gid;     /* gid.c: ROCE_ADDRESS */
extern const MocxCmdRows mocx_rows_steer;   /* flow tables */
extern const MocxCmdRows mocx_rows_tir;     /* TIS, TIR, RQT */
extern const MocxCmdRows mocx_rows_sq;
extern const MocxCmdRows mocx_rows_rq;
extern const MocxCmdRows mocx_rows_qp;
extern const MocxCmdRows mocx_rows_srq;     /* SRQ, XRC SRQ, RMP */
extern const MocxCmdRows mocx_rows_mcast;   /* multicast groups */

/** mocx_bad() - a status with its syndrome and one guest-error log line */
MocxStatus mocx_bad(MocxDev *dev, MocxCmd *cmd, MocxStatus status,
                    uint32_t syndrome, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/**
 * mocx_unknown() - a status with its syndrome, for what the model lacks
 * @dev: the device
 * @cmd: the command
 * @status: for the output
 * @syndrome: for the output
 * @what: kind of thing asked for
 * @number: which one
 *
 * One line in the host's log, as unimplemented and not as the guest's error.
 *
 * Return: @status.
 */
MocxStatus mocx_unknown(MocxDev *dev, MocxCmd *cmd, MocxStatus status,
                        uint32_t syndrome, const char *what, uint32_t number);

/**
 * mocx_cmd_doorbell() - the command doorbell was written
 * @dev: the device
 * @slots: one bit per slot
 *
 * Commands are executed here and now; one that fault injection delays
 * completes from the timer.
 */
void mocx_cmd_doorbell(MocxDev *dev, uint32_t slots);

#endif /* MOCX_CMD_H */
