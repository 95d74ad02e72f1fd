// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command queue.
 *
 * Callers take a slot, put the message into the slot's entry and a chain of
 * mailboxes, ring the doorbell and sleep.  A command that the device does not
 * hand back in time keeps its slot and its memory until it does, or until the
 * queue goes away: the device may still write there.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "cmdq.h"
#include "core.h"
#include "trace.h"

#define CRNIC_CMD_POLL_MIN_US	20
#define CRNIC_CMD_POLL_MAX_US	100
#define CRNIC_CMD_BLOCK_ALIGN	1024

static_assert(sizeof(struct mlx5_cmd_layout) == 64);

static unsigned long crnic_slot_mask(const struct crnic_cmdq *q, enum crnic_slot_kind kind)
{
	unsigned long pages = BIT(q->num_slots - 1);

	return kind == CRNIC_SLOT_PAGES ? pages : pages - 1;
}

static bool crnic_slot_try(struct crnic_cmdq *q, struct crnic_cmd *cmd, enum crnic_slot_kind kind)
{
	unsigned long avail;

	spin_lock_irq(&q->lock);
	avail = q->free & crnic_slot_mask(q, kind);
	if (avail) {
		cmd->slot = __ffs(avail);
		q->free &= ~BIT(cmd->slot);
	}
	spin_unlock_irq(&q->lock);

	return avail;
}

/* A released slot wakes one of those who wait for its kind */
static void crnic_slot_wake(struct crnic_cmdq *q, unsigned int slot)
{
	wake_up(&q->wait[slot == q->num_slots - 1 ? CRNIC_SLOT_PAGES : CRNIC_SLOT_ANY]);
}

static int crnic_slot_get(struct crnic_cmdq *q, struct crnic_cmd *cmd, enum crnic_slot_kind kind)
{
	bool got = false;

	wait_event_idle_exclusive(q->wait[kind], (got = crnic_slot_try(q, cmd, kind)) ||
				  crnic_dead(q->dev));
	return got ? 0 : -EIO;
}

static u8 crnic_cmd_token(struct crnic_cmdq *q)
{
	u8 token;

	/* 0 is what fresh memory holds, hence no token */
	do {
		token = atomic_inc_return(&q->token);
	} while (!token);
	return token;
}

static void crnic_cmd_free(struct crnic_cmdq *q, struct crnic_cmd *cmd)
{
	crnic_mbox_free(q->pool, &cmd->out);
	crnic_mbox_free(q->pool, &cmd->in);
	kfree(cmd);
}

/*
 * A command that takes something away has to get to the device, since its callers
 * have no use for a failure.  It mostly fits its entry and needs this memory only.
 */
static gfp_t crnic_cmd_gfp(u16 opcode)
{
	return crnic_cmd_dead_errno(opcode) ? GFP_KERNEL : GFP_KERNEL | __GFP_NOFAIL;
}

static struct crnic_cmd *crnic_cmd_alloc(struct crnic_cmdq *q, u16 opcode, unsigned int inlen,
					 unsigned int outlen)
{
	struct crnic_cmd *cmd = kzalloc(sizeof(*cmd), crnic_cmd_gfp(opcode));

	if (!cmd)
		return NULL;

	init_completion(&cmd->done);
	cmd->inlen = inlen;
	cmd->outlen = outlen;
	cmd->token = crnic_cmd_token(q);
	if (crnic_mbox_alloc(q->pool, inlen, cmd->token, &cmd->in))
		goto free;
	if (crnic_mbox_alloc(q->pool, outlen, cmd->token, &cmd->out))
		goto free;
	return cmd;

free:
	crnic_cmd_free(q, cmd);
	return NULL;
}

/* Inverted XOR of the entry's other bytes, as mlx5_core's set_signature() has it */
static u8 crnic_entry_sig(const struct mlx5_cmd_layout *e)
{
	const u8 *p = (const u8 *)e;
	unsigned int i;
	u8 sum = 0;

	for (i = 0; i < sizeof(*e); i++)
		sum ^= p[i];
	return ~sum;
}

static void crnic_entry_fill(struct mlx5_cmd_layout *e, const struct crnic_cmd *cmd, const void *in)
{
	memset(e, 0, sizeof(*e));
	e->type = MLX5_PCI_CMD_XPORT;
	e->inlen = cpu_to_be32(cmd->inlen);
	e->outlen = cpu_to_be32(cmd->outlen);
	e->token = cmd->token;
	if (cmd->in.num)
		e->in_ptr = cpu_to_be64(cmd->in.blocks[0].dma);
	if (cmd->out.num)
		e->out_ptr = cpu_to_be64(cmd->out.blocks[0].dma);
	memcpy(e->in, in, min_t(unsigned int, cmd->inlen, CRNIC_CMD_INLINE));
	e->status_own = CRNIC_CMD_OWNER_HW;
	e->sig = crnic_entry_sig(e);
}

/**
 * crnic_cmdq_ring - tell the device about a command
 * @dev: device
 * @slot: its entry
 */
void crnic_cmdq_ring(struct crnic_dev *dev, unsigned int slot)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_cmdq_ring, dev, slot);

	/* entry and mailboxes are in memory before the device is told to read them */
	wmb();
	iowrite32be(BIT(slot), &dev->iseg->cmd_dbell);
}

/*
 * The flush of a device in error wakes those whose slots it finds, so whoever comes
 * after it must see for himself that nobody will answer: the look at the device
 * comes after the slot is there to be found.
 */
static int crnic_cmd_post(struct crnic_cmdq *q, struct crnic_cmd *cmd, const void *in)
{
	bool dead;

	crnic_mbox_write(&cmd->in, in, cmd->inlen);
	crnic_entry_fill(crnic_cmdq_entry(q, cmd->slot), cmd, in);

	spin_lock_irq(&q->lock);
	dead = crnic_dead(q->dev);
	if (dead)
		q->free |= BIT(cmd->slot);
	else
		q->slots[cmd->slot] = cmd;
	spin_unlock_irq(&q->lock);
	if (dead)
		return -EIO;

	crnic_cmdq_ring(q->dev, cmd->slot);
	return 0;
}

/* Take one finished command out of its slot; returns it if nobody waits for it any more */
static struct crnic_cmd *crnic_slot_complete(struct crnic_cmdq *q, unsigned int slot)
{
	struct mlx5_cmd_layout *e = crnic_cmdq_entry(q, slot);
	struct crnic_cmd *cmd, *orphan = NULL;
	unsigned long flags;
	u8 own;

	spin_lock_irqsave(&q->lock, flags);
	cmd = q->slots[slot];
	own = READ_ONCE(e->status_own);
	if (!cmd || (own & CRNIC_CMD_OWNER_HW)) {
		spin_unlock_irqrestore(&q->lock, flags);
		return NULL;
	}

	/* the device wrote its output before it gave up ownership */
	dma_rmb();
	cmd->delivery = own >> 1;
	memcpy(cmd->first_out, e->out, sizeof(cmd->first_out));
	q->slots[slot] = NULL;
	q->free |= BIT(slot);
	if (q->overdue & BIT(slot))
		orphan = cmd;
	else
		complete(&cmd->done);
	q->overdue &= ~BIT(slot);
	spin_unlock_irqrestore(&q->lock, flags);

	crnic_slot_wake(q, slot);
	return orphan;
}

/**
 * crnic_cmdq_completed - look at commands that the device says it finished
 * @dev: device
 * @slots: bit per slot; a wrong bit does no harm
 *
 * Context: any.
 */
void crnic_cmdq_completed(struct crnic_dev *dev, unsigned long slots)
{
	struct crnic_cmdq *q = dev->cmdq;
	struct crnic_cmd *orphan;
	unsigned int slot;

	for_each_set_bit(slot, &slots, q->num_slots) {
		orphan = crnic_slot_complete(q, slot);
		if (orphan)
			crnic_cmd_free(q, orphan);
	}
}

/**
 * crnic_cmdq_flush - wake everybody who waits for the device
 * @dev: device, already marked as broken
 *
 * Context: any.
 */
void crnic_cmdq_flush(struct crnic_dev *dev)
{
	struct crnic_cmdq *q = dev->cmdq;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&q->lock, flags);
	for (i = 0; i < q->num_slots; i++)
		if (q->slots[i])
			complete(&q->slots[i]->done);
	spin_unlock_irqrestore(&q->lock, flags);

	for (i = 0; i < CRNIC_SLOT_KINDS; i++)
		wake_up_all(&q->wait[i]);
}

static void crnic_cmd_poll(struct crnic_cmdq *q, struct crnic_cmd *cmd, unsigned long timeout)
{
	unsigned long end = jiffies + timeout;

	do {
		crnic_cmdq_completed(q->dev, BIT(cmd->slot));
		if (try_wait_for_completion(&cmd->done))
			return;
		usleep_range(CRNIC_CMD_POLL_MIN_US, CRNIC_CMD_POLL_MAX_US);
	} while (time_before(jiffies, end));
}

/*
 * Nobody waits for a command any more, but the device may still write to its memory:
 * it keeps its slot until a late answer comes.  One that never answers costs a slot;
 * a device that holds all of a kind takes no more commands.  Returns false if the
 * answer came after all.
 */
static bool crnic_cmd_leave(struct crnic_cmdq *q, struct crnic_cmd *cmd, bool *none_left)
{
	enum crnic_slot_kind kind = cmd->slot == q->num_slots - 1 ? CRNIC_SLOT_PAGES :
								    CRNIC_SLOT_ANY;
	unsigned long all = crnic_slot_mask(q, kind);
	bool leave;

	spin_lock_irq(&q->lock);
	leave = q->slots[cmd->slot] == cmd;
	if (leave)
		q->overdue |= BIT(cmd->slot);
	*none_left = (q->overdue & all) == all;
	spin_unlock_irq(&q->lock);
	return leave;
}

/*
 * Wait for the device.  On failure the command is left to the device, and the
 * caller must not touch it again.
 */
static int crnic_cmd_wait(struct crnic_cmdq *q, struct crnic_cmd *cmd, u16 opcode)
{
	unsigned long timeout = msecs_to_jiffies(q->dev->cfg.cmd_timeout_ms);
	bool none_left;

	if (!q->events) {
		crnic_cmd_poll(q, cmd, timeout);
	} else if (!wait_for_completion_timeout(&cmd->done, timeout)) {
		/* the interrupt may have got lost: look for ourselves */
		crnic_eqs_poll_cmd(q->dev);
		crnic_cmdq_completed(q->dev, BIT(cmd->slot));
	}
	if (!crnic_cmd_leave(q, cmd, &none_left))
		return 0;
	if (crnic_dead(q->dev))
		return -EIO;

	crnic_err(q->dev, "command 0x%x timed out\n", opcode);
	if (none_left)
		crnic_dev_break(q->dev, "it holds all command slots");
	else
		crnic_health_look(q->dev);
	return -ETIMEDOUT;
}

static int crnic_cmd_delivery_check(struct crnic_dev *dev, u16 opcode, u8 delivery)
{
	if (!delivery)
		return 0;
	crnic_err_rl(dev, "command 0x%x was not delivered: %s (0x%x)\n", opcode,
		     crnic_cmd_delivery_str(delivery), delivery);
	return -EIO;
}

/* One trip to the device and back, whatever it answers */
static int crnic_cmd_trip(struct crnic_dev *dev, const void *in, unsigned int inlen,
			  void *out, unsigned int outlen, enum crnic_slot_kind kind)
{
	u16 opcode = CRNIC_MSG_OPCODE(in);
	struct crnic_cmdq *q = dev->cmdq;
	struct crnic_cmd *cmd;
	int err;

	cmd = crnic_cmd_alloc(q, opcode, inlen, outlen);
	if (!cmd)
		return -ENOMEM;

	err = crnic_slot_get(q, cmd, kind);
	if (err)
		goto free;

	err = crnic_cmd_post(q, cmd, in);
	if (err)
		goto free;
	err = crnic_cmd_wait(q, cmd, opcode);
	if (err)
		return err;

	err = crnic_cmd_delivery_check(dev, opcode, cmd->delivery);
	if (!err) {
		memcpy(out, cmd->first_out, min_t(unsigned int, outlen, CRNIC_CMD_INLINE));
		crnic_mbox_read(&cmd->out, out, outlen);
	}
free:
	crnic_cmd_free(q, cmd);
	return err;
}

static int crnic_cmd_answer(struct crnic_dev *dev, const void *in, const void *out, int err,
			    ktime_t start)
{
	u16 opcode = CRNIC_MSG_OPCODE(in);
	u16 op_mod = CRNIC_MSG_OP_MOD(in);
	u8 status = CRNIC_MSG_STATUS(out);
	u32 syndrome = CRNIC_MSG_SYNDROME(out);

	if (!err && status) {
		err = crnic_cmd_status_errno(status);
		crnic_dbg(dev, "command 0x%x (%u): %s (0x%x), syndrome 0x%x\n", opcode, op_mod,
			  crnic_cmd_status_str(status), status, syndrome);
		WRITE_ONCE(dev->last_refusal.opcode, opcode);
		WRITE_ONCE(dev->last_refusal.status, status);
		WRITE_ONCE(dev->last_refusal.syndrome, syndrome);
	}
	trace_crnic_cmd(dev->device, opcode, op_mod, err, status, syndrome,
			ktime_us_delta(ktime_get(), start));
	return err;
}

static int crnic_cmd_run(struct crnic_dev *dev, const void *in, int inlen, void *out, int outlen,
			 enum crnic_slot_kind kind)
{
	ktime_t start = ktime_get();
	int err;

	if (inlen < CRNIC_CMD_MIN_LEN || inlen > CRNIC_CMD_MAX_LEN ||
	    outlen < CRNIC_CMD_MIN_LEN || outlen > CRNIC_CMD_MAX_LEN)
		return -EINVAL;

	memset(out, 0, outlen);
	if (!crnic_dead(dev))
		err = crnic_cmd_trip(dev, in, inlen, out, outlen, kind);
	else
		err = -EIO;
	if (err && crnic_dead(dev) && !crnic_cmd_dead_errno(CRNIC_MSG_OPCODE(in)))
		err = 0;

	return crnic_cmd_answer(dev, in, out, err, start);
}

/**
 * crnic_cmd_exec - execute a firmware command
 * @dev: device
 * @in: input mailbox, with its opcode
 * @inlen: its length in bytes
 * @out: output mailbox; the answer, also if the firmware refused
 * @outlen: its length in bytes
 *
 * On a device that no longer answers, commands that destroy something succeed,
 * so that their callers can free what they hold; the others fail.
 *
 * Context: process, may sleep.
 * Return: 0; -EIO if the device is dead or did not get the command; -ETIMEDOUT, after
 * which nobody knows whether the device executes it; -ENOMEM; or what
 * crnic_cmd_status_errno() makes of the firmware's answer.
 */
int crnic_cmd_exec(struct crnic_dev *dev, const void *in, int inlen, void *out, int outlen)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_cmd_exec, dev, in, inlen, out, outlen);

	return crnic_cmd_run(dev, in, inlen, out, outlen, CRNIC_SLOT_ANY);
}

/**
 * crnic_cmd_exec_pages - as crnic_cmd_exec(), in the slot kept for page commands
 * @dev: device
 * @in: input mailbox, with its opcode
 * @inlen: its length in bytes
 * @out: output mailbox
 * @outlen: its length in bytes
 *
 * The firmware may hold all other commands until it got the pages it asked for.
 *
 * Context: process, may sleep.
 * Return: as crnic_cmd_exec().
 */
int crnic_cmd_exec_pages(struct crnic_dev *dev, const void *in, int inlen, void *out, int outlen)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_cmd_exec_pages, dev, in, inlen, out, outlen);

	return crnic_cmd_run(dev, in, inlen, out, outlen, CRNIC_SLOT_PAGES);
}

/**
 * crnic_cmdq_use_events - choose how completions are noticed
 * @dev: device
 * @on: by the command EQ, or by polling
 *
 * Context: bring-up and teardown only, when no command is on its way.
 */
void crnic_cmdq_use_events(struct crnic_dev *dev, bool on)
{
	dev->cmdq->events = on;
}

/**
 * crnic_cmdq_new - allocate a command queue
 * @dev: device
 * @log_slots: log2 of the entries
 * @log_stride: log2 of their distance
 *
 * Return: the queue, or an ERR_PTR().
 */
struct crnic_cmdq *crnic_cmdq_new(struct crnic_dev *dev, u8 log_slots, u8 log_stride)
{
	struct crnic_cmdq *q;
	unsigned int i;

	q = kzalloc_node(sizeof(*q), GFP_KERNEL, dev->numa_node);
	if (!q)
		return ERR_PTR(-ENOMEM);

	q->dev = dev;
	q->log_stride = log_stride;
	q->num_slots = BIT(log_slots);
	q->free = GENMASK(q->num_slots - 1, 0);
	spin_lock_init(&q->lock);
	for (i = 0; i < CRNIC_SLOT_KINDS; i++)
		init_waitqueue_head(&q->wait[i]);

	q->pool = dma_pool_create("crnic_cmd", dev->device, sizeof(struct mlx5_cmd_prot_block),
				  CRNIC_CMD_BLOCK_ALIGN, 0);
	if (!q->pool)
		goto free_queue;
	q->ring = dma_alloc_coherent(dev->device, CRNIC_ADAPTER_PAGE_SIZE, &q->ring_dma,
				     GFP_KERNEL);
	if (!q->ring)
		goto destroy_pool;
	return q;

destroy_pool:
	dma_pool_destroy(q->pool);
free_queue:
	kfree(q);
	return ERR_PTR(-ENOMEM);
}

/**
 * crnic_cmdq_free - free a command queue and what the device never gave back
 * @q: queue; the device can no longer reach it
 */
void crnic_cmdq_free(struct crnic_cmdq *q)
{
	unsigned int i;

	for (i = 0; i < q->num_slots; i++)
		if (q->slots[i])
			crnic_cmd_free(q, q->slots[i]);
	dma_free_coherent(q->dev->device, CRNIC_ADAPTER_PAGE_SIZE, q->ring, q->ring_dma);
	dma_pool_destroy(q->pool);
	kfree(q);
}

/**
 * crnic_cmdq_destroy - undo crnic_cmdq_create()
 * @dev: device
 */
void crnic_cmdq_destroy(struct crnic_dev *dev)
{
	/* from here on the device reaches no memory, whatever it still has to say */
	pci_clear_master(dev->pdev);
	crnic_cmdq_free(dev->cmdq);
	dev->cmdq = NULL;
}

/**
 * crnic_cmdq_create - set up the command queue
 * @dev: device; its firmware is ready
 *
 * Return: 0 or a negative errno.
 */
int crnic_cmdq_create(struct crnic_dev *dev)
{
	u32 shape = ioread32be(&dev->iseg->cmdq_addr_l_sz);
	u8 log_slots = (shape >> 4) & 0xf, log_stride = shape & 0xf;
	int err;

	/* at least one ordinary slot and one for pages, all in one adapter page */
	if (log_slots < 1 || BIT(log_slots) > CRNIC_CMD_MAX_SLOTS ||
	    BIT(log_stride) < sizeof(struct mlx5_cmd_layout) ||
	    log_slots + log_stride > CRNIC_ADAPTER_PAGE_SHIFT) {
		crnic_err(dev, "impossible command queue: log_size %u, log_stride %u\n",
			  log_slots, log_stride);
		return -EINVAL;
	}

	dev->cmdq = crnic_cmdq_new(dev, log_slots, log_stride);
	if (IS_ERR(dev->cmdq))
		return PTR_ERR(dev->cmdq);

	pci_set_master(dev->pdev);
	iowrite32be(upper_32_bits(dev->cmdq->ring_dma), &dev->iseg->cmdq_addr_h);
	/* the low half also enables the interface, so it comes second; nic_interface 0 is "full" */
	iowrite32be(lower_32_bits(dev->cmdq->ring_dma), &dev->iseg->cmdq_addr_l_sz);
	err = crnic_iseg_wait_ready(dev);
	if (err)
		crnic_cmdq_destroy(dev);
	return err;
}
