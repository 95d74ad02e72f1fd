// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the firmware's answers mean in the kernel's terms.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "cmdq.h"

struct crnic_status {
	int err;
	const char *str;
};

/* Values and meaning as in mlx5_core's cmd.c, cmd_status_to_err() and cmd_status_str() */
static const struct crnic_status crnic_statuses[] = {
	[MLX5_CMD_STAT_OK]			= { 0,		"ok" },
	[MLX5_CMD_STAT_INT_ERR]			= { -EIO,	"internal error" },
	[MLX5_CMD_STAT_BAD_OP_ERR]		= { -EINVAL,	"bad operation" },
	[MLX5_CMD_STAT_BAD_PARAM_ERR]		= { -EINVAL,	"bad parameter" },
	[MLX5_CMD_STAT_BAD_SYS_STATE_ERR]	= { -EIO,	"bad system state" },
	[MLX5_CMD_STAT_BAD_RES_ERR]		= { -EINVAL,	"bad resource" },
	[MLX5_CMD_STAT_RES_BUSY]		= { -EBUSY,	"resource busy" },
	[CRNIC_CMD_STAT_NOT_READY]		= { -EAGAIN,	"not ready" },
	[MLX5_CMD_STAT_LIM_ERR]			= { -ENOMEM,	"limits exceeded" },
	[MLX5_CMD_STAT_BAD_RES_STATE_ERR]	= { -EINVAL,	"bad resource state" },
	[MLX5_CMD_STAT_IX_ERR]			= { -EINVAL,	"bad index" },
	[MLX5_CMD_STAT_NO_RES_ERR]		= { -EAGAIN,	"no resources" },
	[MLX5_CMD_STAT_BAD_INP_LEN_ERR]		= { -EIO,	"bad input length" },
	[MLX5_CMD_STAT_BAD_OUTP_LEN_ERR]	= { -EIO,	"bad output length" },
	[MLX5_CMD_STAT_BAD_QP_STATE_ERR]	= { -EINVAL,	"bad QP state" },
	[MLX5_CMD_STAT_BAD_PKT_ERR]		= { -EINVAL,	"bad packet" },
	[MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR]	= { -EINVAL,	"too many outstanding CQEs" },
};

static const struct crnic_status *crnic_status(u8 status)
{
	static const struct crnic_status unknown = { -EIO, "unknown status" };

	if (status >= ARRAY_SIZE(crnic_statuses) || !crnic_statuses[status].str)
		return &unknown;
	return &crnic_statuses[status];
}

/**
 * crnic_cmd_status_errno - errno of a status that the firmware answered
 * @status: first byte of the output mailbox
 *
 * Return: 0 or a negative errno; -EIO for a status that nobody knows.
 */
int crnic_cmd_status_errno(u8 status)
{
	return crnic_status(status)->err;
}

/**
 * crnic_cmd_status_str - a status in words
 * @status: first byte of the output mailbox
 *
 * Return: a constant string.
 */
const char *crnic_cmd_status_str(u8 status)
{
	return crnic_status(status)->str;
}

/* Delivery: did the command reach the firmware whole? */
static const char * const crnic_deliveries[] = {
	[0x00] = "ok",
	[0x01] = "bad signature",
	[0x02] = "bad token",
	[0x03] = "bad block number",
	[0x04] = "bad output pointer",
	[0x05] = "bad input pointer",
	[0x06] = "internal error",
	[0x07] = "bad input length",
	[0x08] = "bad output length",
	[0x09] = "reserved field not zero",
	[0x10] = "bad command type",
};

/**
 * crnic_cmd_delivery_str - a delivery status in words
 * @delivery: bits [7:1] of the last byte of a command entry
 *
 * Return: a constant string.
 */
const char *crnic_cmd_delivery_str(u8 delivery)
{
	if (delivery >= ARRAY_SIZE(crnic_deliveries) || !crnic_deliveries[delivery])
		return "unknown";
	return crnic_deliveries[delivery];
}

/*
 * Commands that take something away.  On a dead device they have done their
 * work already, and whoever sends them must be able to free what he holds.
 */
static const u16 crnic_cmd_undoing[] = {
	MLX5_CMD_OP_TEARDOWN_HCA,
	MLX5_CMD_OP_DISABLE_HCA,
	MLX5_CMD_OP_DESTROY_MKEY,
	MLX5_CMD_OP_DESTROY_EQ,
	MLX5_CMD_OP_DESTROY_CQ,
	MLX5_CMD_OP_DESTROY_QP,
	MLX5_CMD_OP_2ERR_QP,
	MLX5_CMD_OP_2RST_QP,
	MLX5_CMD_OP_DESTROY_PSV,
	MLX5_CMD_OP_DESTROY_SRQ,
	MLX5_CMD_OP_DESTROY_XRC_SRQ,
	MLX5_CMD_OP_DESTROY_XRQ,
	MLX5_CMD_OP_DESTROY_DCT,
	MLX5_CMD_OP_DEALLOC_Q_COUNTER,
	MLX5_CMD_OP_DEALLOC_PD,
	MLX5_CMD_OP_DEALLOC_UAR,
	MLX5_CMD_OP_DETACH_FROM_MCG,
	MLX5_CMD_OP_DEALLOC_XRCD,
	MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN,
	MLX5_CMD_OP_DESTROY_TIR,
	MLX5_CMD_OP_DESTROY_SQ,
	MLX5_CMD_OP_DESTROY_RQ,
	MLX5_CMD_OP_DESTROY_RMP,
	MLX5_CMD_OP_DESTROY_TIS,
	MLX5_CMD_OP_DESTROY_RQT,
	MLX5_CMD_OP_DESTROY_FLOW_TABLE,
	MLX5_CMD_OP_DESTROY_FLOW_GROUP,
	MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY,
};

/**
 * crnic_cmd_dead_errno - what a command is worth on a dead device
 * @opcode: command
 *
 * Return: 0 for a command that takes something away, -EIO for the others.
 */
int crnic_cmd_dead_errno(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(crnic_cmd_undoing); i++)
		if (crnic_cmd_undoing[i] == opcode)
			return 0;
	return -EIO;
}
