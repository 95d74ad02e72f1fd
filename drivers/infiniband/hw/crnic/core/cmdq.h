/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_CMDQ_H
#define CRNIC_CMDQ_H

/* Private to the files of the command queue: cmdq.c, mailbox.c, status.c */
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <crnic/crnic.h>

#include "../compat/compat.h"

struct dma_pool;

/* Headers before 6.12 have no name for it */
#define CRNIC_CMD_STAT_NOT_READY	0x7

#define CRNIC_CMD_MAX_SLOTS		32
#define CRNIC_CMD_INLINE		16	/* bytes of a message that travel in the entry */
#define CRNIC_CMD_OWNER_HW		BIT(0)	/* of status_own */
#define CRNIC_CMD_MIN_LEN	8	/* opcode and op_mod, status and syndrome */
#define CRNIC_CMD_MAX_LEN		(64 << 20)	/* far beyond any real message */

/* All messages begin alike; mlx5_ifc.h has no name for that beginning */
#define CRNIC_MSG_OPCODE(in)	MLX5_GET(enable_hca_in, in, opcode)
#define CRNIC_MSG_OP_MOD(in)	MLX5_GET(enable_hca_in, in, op_mod)
#define CRNIC_MSG_STATUS(out)	MLX5_GET(enable_hca_out, out, status)
#define CRNIC_MSG_SYNDROME(out)	MLX5_GET(enable_hca_out, out, syndrome)

/* A message beyond its first bytes */
struct crnic_mbox_block {
	struct mlx5_cmd_prot_block *va;
	dma_addr_t dma;
};

/**
 * struct crnic_mbox - chain of mailbox blocks
 * @num: blocks
 * @blocks: where they are
 */
struct crnic_mbox {
	unsigned int num;
	struct crnic_mbox_block *blocks;
};

int crnic_mbox_alloc(struct dma_pool *pool, unsigned int len, u8 token, struct crnic_mbox *mbox);
void crnic_mbox_free(struct dma_pool *pool, struct crnic_mbox *mbox);
void crnic_mbox_write(const struct crnic_mbox *mbox, const void *msg, unsigned int len);
void crnic_mbox_read(const struct crnic_mbox *mbox, void *msg, unsigned int len);

/**
 * struct crnic_cmd - one command on its way
 * @in: input beyond the entry
 * @out: output beyond the entry
 * @inlen: length of the input message
 * @outlen: length of the output message
 * @token: ties entry and blocks together
 * @slot: entry in the ring
 * @delivery: delivery status
 * @first_out: the part of the output that travelled in the entry
 * @done: the device handed it back, or the queue was flushed
 */
struct crnic_cmd {
	struct crnic_mbox in;
	struct crnic_mbox out;
	unsigned int inlen;
	unsigned int outlen;
	u8 token;
	unsigned int slot;
	u8 delivery;
	__be32 first_out[4];
	struct completion done;
};

/* Page commands have a slot of their own, so that others cannot starve them */
enum crnic_slot_kind {
	CRNIC_SLOT_ANY,
	CRNIC_SLOT_PAGES,
	CRNIC_SLOT_KINDS
};

/**
 * struct crnic_cmdq - command queue
 * @dev: device
 * @ring: entries
 * @ring_dma: their bus address
 * @log_stride: log2 of the distance of two entries
 * @num_slots: entries
 * @pool: mailbox blocks
 * @lock: protects @free, @overdue and @slots; a leaf lock, taken in interrupts
 * @free: bit per free slot
 * @overdue: bit per slot for whose command nobody waits any more; whoever sees it
 *	complete frees it
 * @slots: commands that the device owns
 * @wait: callers that wait for a slot, per kind
 * @events: completions come through the command EQ
 * @token: last token given
 */
struct crnic_cmdq {
	struct crnic_dev *dev;
	void *ring;
	dma_addr_t ring_dma;
	u8 log_stride;
	u8 num_slots;
	struct dma_pool *pool;
	spinlock_t lock;	/* see above */
	unsigned long free;
	unsigned long overdue;
	struct crnic_cmd *slots[CRNIC_CMD_MAX_SLOTS];
	wait_queue_head_t wait[CRNIC_SLOT_KINDS];
	bool events;
	atomic_t token;
};

static inline struct mlx5_cmd_layout *crnic_cmdq_entry(const struct crnic_cmdq *q,
						       unsigned int slot)
{
	return q->ring + ((size_t)slot << q->log_stride);
}

struct crnic_cmdq *crnic_cmdq_new(struct crnic_dev *dev, u8 log_slots, u8 log_stride);
void crnic_cmdq_free(struct crnic_cmdq *q);
void crnic_cmdq_ring(struct crnic_dev *dev, unsigned int slot);

const char *crnic_cmd_delivery_str(u8 delivery);
int crnic_cmd_dead_errno(u16 opcode);

#endif /* CRNIC_CMDQ_H */
