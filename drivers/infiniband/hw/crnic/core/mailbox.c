// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mailbox chains: the part of a message that does not fit into the command
 * entry, in blocks of 512 bytes.
 */
#include <linux/dmapool.h>
#include <linux/mm.h>

#include "cmdq.h"

static_assert(sizeof(struct mlx5_cmd_prot_block) == 576);

static unsigned int crnic_mbox_blocks(unsigned int len)
{
	if (len <= CRNIC_CMD_INLINE)
		return 0;
	return DIV_ROUND_UP(len - CRNIC_CMD_INLINE, MLX5_CMD_DATA_BLOCK_SIZE);
}

static int crnic_mbox_block_add(struct dma_pool *pool, u8 token, struct crnic_mbox *mbox)
{
	struct crnic_mbox_block *b = &mbox->blocks[mbox->num];

	b->va = dma_pool_zalloc(pool, GFP_KERNEL, &b->dma);
	if (!b->va)
		return -ENOMEM;

	b->va->block_num = cpu_to_be32(mbox->num);
	b->va->token = token;
	if (mbox->num)
		b[-1].va->next = cpu_to_be64(b->dma);
	mbox->num++;
	return 0;
}

/**
 * crnic_mbox_alloc - allocate and link the blocks for a message
 * @pool: blocks
 * @len: length of the whole message
 * @token: token of its command
 * @mbox: filled in; empty if the message fits into the entry
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int crnic_mbox_alloc(struct dma_pool *pool, unsigned int len, u8 token, struct crnic_mbox *mbox)
{
	unsigned int num = crnic_mbox_blocks(len);
	int err;

	*mbox = (struct crnic_mbox){};
	if (!num)
		return 0;

	mbox->blocks = kvcalloc(num, sizeof(*mbox->blocks), GFP_KERNEL);
	if (!mbox->blocks)
		return -ENOMEM;

	while (mbox->num < num) {
		err = crnic_mbox_block_add(pool, token, mbox);
		if (err) {
			crnic_mbox_free(pool, mbox);
			return err;
		}
	}
	return 0;
}

/**
 * crnic_mbox_free - free the blocks of a message
 * @pool: blocks
 * @mbox: chain
 *
 * Context: any without a spinlock held.
 */
void crnic_mbox_free(struct dma_pool *pool, struct crnic_mbox *mbox)
{
	while (mbox->num--)
		dma_pool_free(pool, mbox->blocks[mbox->num].va, mbox->blocks[mbox->num].dma);
	kvfree(mbox->blocks);
	*mbox = (struct crnic_mbox){};
}

/**
 * crnic_mbox_write - copy the rest of a message into its blocks
 * @mbox: chain
 * @msg: the whole message
 * @len: its length
 */
void crnic_mbox_write(const struct crnic_mbox *mbox, const void *msg, unsigned int len)
{
	unsigned int i, pos = CRNIC_CMD_INLINE, n;

	for (i = 0; i < mbox->num; i++, pos += n) {
		n = min_t(unsigned int, len - pos, MLX5_CMD_DATA_BLOCK_SIZE);
		memcpy(mbox->blocks[i].va->data, msg + pos, n);
	}
}

/**
 * crnic_mbox_read - copy the rest of a message out of its blocks
 * @mbox: chain
 * @msg: the whole message
 * @len: its length
 */
void crnic_mbox_read(const struct crnic_mbox *mbox, void *msg, unsigned int len)
{
	unsigned int i, pos = CRNIC_CMD_INLINE, n;

	for (i = 0; i < mbox->num; i++, pos += n) {
		n = min_t(unsigned int, len - pos, MLX5_CMD_DATA_BLOCK_SIZE);
		memcpy(msg + pos, mbox->blocks[i].va->data, n);
	}
}
