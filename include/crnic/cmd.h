/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_CMD_H
#define CRNIC_CMD_H

#include <crnic/hw.h>

struct crnic_dev;

int crnic_cmd_exec(struct crnic_dev *dev, const void *in, int inlen,
		   void *out, int outlen);
int crnic_cmd_exec_pages(struct crnic_dev *dev, const void *in, int inlen,
			 void *out, int outlen);
int crnic_reg_read(struct crnic_dev *dev, u16 id, void *data, size_t len);
int crnic_reg_write(struct crnic_dev *dev, u16 id, void *data, size_t len);
int crnic_cmd_status_errno(u8 status);
const char *crnic_cmd_status_str(u8 status);

/*
 * CRNIC_CMD - declare zeroed input and output mailboxes of one command
 *
 * Both carry the command's own name, and CRNIC_SET, CRNIC_GET and
 * CRNIC_EXEC take that name again, so that a field of another command cannot
 * be set by mistake.
 */
#define CRNIC_CMD(cmd)							\
	u32 in[MLX5_ST_SZ_DW(cmd##_in)] = {};				\
	u32 out[MLX5_ST_SZ_DW(cmd##_out)] = {}

/* CRNIC_EXEC - execute the command that CRNIC_CMD declared */
#define CRNIC_EXEC(dev, cmd)						\
	crnic_cmd_exec(dev, in, MLX5_ST_SZ_BYTES(cmd##_in),		\
		       out, MLX5_ST_SZ_BYTES(cmd##_out))

#endif /* CRNIC_CMD_H */
