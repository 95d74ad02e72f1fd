// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's own work requests on memory keys (UMR).  A region that gets
 * another protection domain or other rights keeps its key that way, which no
 * command could do; and a list of pages that is too long for a command goes into
 * its key in pieces.  Requests are rare: one QP, one request at a time, and its
 * queues are made when the first one comes.
 */
#include <linux/dma-mapping.h>

#include <crnic/obj/qp.h>

#include "../compat/compat.h"
#include "../compat/mlx5.h"
#include "wqe.h"

#define CRNIC_UMR_LOG_CQ	3
#define CRNIC_UMR_LOG_SQ	3
#define CRNIC_UMR_TIMEOUT_MS	10000
#define CRNIC_UMR_LOG_MSG_MAX	12

/**
 * struct crnic_umr_wqe - a request
 * @ctrl: opcode, key
 * @umr: which fields of the key change
 * @mkey: their values
 * @list: where translations are, if it brings any
 */
struct crnic_umr_wqe {
	struct mlx5_wqe_ctrl_seg ctrl;
	struct mlx5_wqe_umr_ctrl_seg umr;
	struct mlx5_mkey_seg mkey;
	struct mlx5_wqe_data_seg list;
};

/**
 * struct crnic_ib_umr - the QP, and who may use it
 * @lock: one request at a time; protects all below, is taken before commands
 * @event: a CQE came
 * @cq: its CQ
 * @cq_ring: the CQ's memory
 * @ring: the QP's memory
 * @qpn: its number
 * @lkey: key of all bus addresses, which lists are read by
 * @ci: consumer counter of the CQ
 * @pc: producer counter of the QP in basic blocks
 * @made: the queues exist
 * @ready: the QP takes requests
 */
struct crnic_ib_umr {
	struct mutex lock;	/* one request at a time, and the state below */
	struct completion event;
	struct crnic_cq cq;
	struct crnic_ring cq_ring;
	struct crnic_ring ring;
	u32 qpn;
	u32 lkey;
	u32 ci;
	u16 pc;
	bool made;
	bool ready;
};

static_assert(offsetof(struct crnic_umr_wqe, list) == 2 * CRNIC_WQE_BB);

static void crnic_umr_cq_comp(struct crnic_cq *cq)
{
	complete(&container_of(cq, struct crnic_ib_umr, cq)->event);
}

static void crnic_umr_cq_event(struct crnic_cq *cq, u8 type)
{
	complete(&container_of(cq, struct crnic_ib_umr, cq)->event);
}

static struct mlx5_cqe64 *crnic_umr_cqe(const struct crnic_ib_umr *umr, u32 ci)
{
	return (struct mlx5_cqe64 *)umr->cq_ring.buf.addr + (ci & (BIT(CRNIC_UMR_LOG_CQ) - 1));
}

static int crnic_umr_create_cq(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	struct crnic_cq_params p = { .log_size = CRNIC_UMR_LOG_CQ, .uar = dev->uar.index };
	u32 i;
	int err;

	err = crnic_ring_alloc(dev, CRNIC_CQE_SIZE << CRNIC_UMR_LOG_CQ, &umr->cq_ring, &p.pas);
	if (err)
		return err;
	for (i = 0; i < BIT(CRNIC_UMR_LOG_CQ); i++)
		crnic_umr_cqe(umr, i)->op_own = MLX5_CQE_INVALID << 4 | MLX5_CQE_OWNER_MASK;

	p.dbr = crnic_ring_dbr(&umr->cq_ring);
	umr->ci = 0;
	umr->cq.db = umr->cq_ring.dbr.db;
	umr->cq.comp = crnic_umr_cq_comp;
	umr->cq.event = crnic_umr_cq_event;
	err = crnic_cq_create(dev, &umr->cq, &p);
	if (err)
		crnic_ring_free(dev, NULL, &umr->cq_ring);
	return err;
}

static void crnic_umr_destroy_cq(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	if (!crnic_cq_destroy(dev, &umr->cq))
		crnic_ring_free(dev, NULL, &umr->cq_ring);
}

static int crnic_umr_create_qp(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	struct crnic_qp_params p = {
		.st = MLX5_QP_ST_REG_UMR,
		.pdn = dev->pdn,
		.uar = dev->uar.index,
		.user_index = CRNIC_NO_UIDX,
		.scqn = umr->cq.cqn,
		.rcqn = umr->cq.cqn,
		.rq_type = MLX5_ZERO_LEN_RQ,
		.log_sq_size = CRNIC_UMR_LOG_SQ,
		.rlky = true,
	};
	int err;

	err = crnic_ring_alloc(dev, CRNIC_WQE_BB << CRNIC_UMR_LOG_SQ, &umr->ring, &p.pas);
	if (err)
		return err;

	p.dbr = crnic_ring_dbr(&umr->ring);
	err = crnic_qp_create(dev, &p, &umr->qpn);
	if (err)
		crnic_ring_free(dev, NULL, &umr->ring);
	return err;
}

/* it has no peer, so a few numbers make it ready */
static int crnic_umr_start_qp(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	static const u16 opcodes[] = {
		MLX5_CMD_OP_RST2INIT_QP, MLX5_CMD_OP_INIT2RTR_QP, MLX5_CMD_OP_RTR2RTS_QP,
	};
	const struct crnic_qp_attr a = {
		.st = MLX5_QP_ST_REG_UMR,
		.pm_state = MLX5_QP_PM_MIGRATED,
		/* it sends no packet, but INIT2RTR wants a path all the same */
		.mtu = IB_MTU_4096,
		.log_msg_max = CRNIC_UMR_LOG_MSG_MAX,
		.rlky = true,
		.pdn = dev->pdn,
		.scqn = umr->cq.cqn,
		.rcqn = umr->cq.cqn,
		.path.port = CRNIC_PORT,
	};
	size_t i;
	int err;

	umr->pc = 0;
	umr->ring.dbr.db[MLX5_SND_DBR] = 0;
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		err = crnic_qp_modify(dev, umr->qpn, opcodes[i], 0, &a);
		if (err)
			return err;
	}
	umr->ready = true;
	return 0;
}

static int crnic_umr_create_lkey(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	const struct crnic_mkey_params p = {
		.pdn = dev->pdn,
		.mode = CRNIC_MKEY_PA,
		.access = CRNIC_MKEY_LOCAL_READ,
		.whole = true,
	};

	return crnic_mkey_create(dev, &p, &umr->lkey);
}

static void crnic_umr_unmake(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	crnic_mkey_destroy(dev, umr->lkey);
	if (!crnic_qp_destroy(dev, umr->qpn))
		crnic_ring_free(dev, NULL, &umr->ring);
	crnic_umr_destroy_cq(dev, umr);
}

static int crnic_umr_make(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	int err;

	lockdep_assert_held(&umr->lock);
	err = crnic_umr_create_lkey(dev, umr);
	if (err)
		return err;
	err = crnic_umr_create_cq(dev, umr);
	if (err)
		goto err_lkey;
	err = crnic_umr_create_qp(dev, umr);
	if (err)
		goto err_cq;
	umr->made = true;
	return 0;

err_cq:
	crnic_umr_destroy_cq(dev, umr);
err_lkey:
	crnic_mkey_destroy(dev, umr->lkey);
	return err;
}

/* the opcode of the next CQE, or MLX5_CQE_INVALID */
static u8 crnic_umr_poll(struct crnic_ib_umr *umr)
{
	u8 op_own = READ_ONCE(crnic_umr_cqe(umr, umr->ci)->op_own);
	bool round = umr->ci & BIT(CRNIC_UMR_LOG_CQ);

	if (op_own >> 4 == MLX5_CQE_INVALID || (op_own & MLX5_CQE_OWNER_MASK) != round)
		return MLX5_CQE_INVALID;

	umr->ci++;
	crnic_cq_ci_update(umr->cq.db, umr->ci);
	return op_own >> 4;
}

/*
 * A request that failed has left the QP in error; a reset makes it as new.  One
 * that nobody waited for any longer may have completed since, and its CQE would
 * be taken for the next one's.
 */
static int crnic_umr_recover(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	const struct crnic_qp_attr a = { .st = MLX5_QP_ST_REG_UMR };
	int err;

	err = crnic_qp_modify(dev, umr->qpn, MLX5_CMD_OP_2RST_QP, 0, &a);
	if (err)
		return err;
	while (crnic_umr_poll(umr) != MLX5_CQE_INVALID)
		;
	return crnic_umr_start_qp(dev, umr);
}

static int crnic_umr_get_ready(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	int err;

	lockdep_assert_held(&umr->lock);
	if (umr->ready)
		return 0;
	if (umr->made)
		return crnic_umr_recover(dev, umr);
	err = crnic_umr_make(dev, umr);
	return err ? err : crnic_umr_start_qp(dev, umr);
}

static void crnic_umr_post(struct crnic_dev *dev, struct crnic_ib_umr *umr,
			   struct crnic_umr_wqe *wqe)
{
	const size_t bytes = wqe->list.byte_count ? sizeof(*wqe) :
						    offsetof(struct crnic_umr_wqe, list);
	struct crnic_sq_wqe at = {
		.ring = umr->ring.buf.addr,
		.mask = (CRNIC_WQE_BB << CRNIC_UMR_LOG_SQ) - 1,
		.pos = (u32)umr->pc << CRNIC_WQE_BB_SHIFT,
	};

	wqe->ctrl.opmod_idx_opcode = cpu_to_be32((u32)umr->pc << MLX5_WQE_CTRL_WQE_INDEX_SHIFT |
						 MLX5_OPCODE_UMR);
	wqe->ctrl.qpn_ds = cpu_to_be32(umr->qpn << MLX5_WQE_CTRL_QPN_SHIFT |
				       bytes / MLX5_SEND_WQE_DS);
	wqe->ctrl.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE | MLX5_FENCE_MODE_INITIATOR_SMALL;
	crnic_wqe_put(&at, wqe, bytes);
	umr->pc += DIV_ROUND_UP(bytes, CRNIC_WQE_BB);
	crnic_sq_ring(&dev->uar, &umr->ring.dbr.db[MLX5_SND_DBR], umr->pc, &wqe->ctrl);
}

static int crnic_umr_wait(struct crnic_dev *dev, struct crnic_ib_umr *umr)
{
	unsigned long left = msecs_to_jiffies(CRNIC_UMR_TIMEOUT_MS);
	u8 opcode;

	for (;;) {
		opcode = crnic_umr_poll(umr);
		if (opcode == MLX5_CQE_REQ)
			return 0;
		if (opcode != MLX5_CQE_INVALID)
			return -EIO;
		if (crnic_dead(dev))
			return -EIO;
		if (!left)
			return -ETIMEDOUT;
		crnic_cq_arm(&umr->cq, CRNIC_CQ_ARM_ANY, umr->ci);
		left = wait_for_completion_timeout(&umr->event, left);
	}
}

static int crnic_umr_execute(struct crnic_ib *ib, struct crnic_umr_wqe *wqe)
{
	struct crnic_ib_umr *umr = ib->umr;
	int err;

	mutex_lock(&umr->lock);
	err = crnic_umr_get_ready(ib->dev, umr);
	if (!err) {
		if (wqe->list.byte_count)
			wqe->list.lkey = cpu_to_be32(umr->lkey);
		crnic_umr_post(ib->dev, umr, wqe);
		err = crnic_umr_wait(ib->dev, umr);
		umr->ready = !err;
	}
	mutex_unlock(&umr->lock);
	return err;
}

/**
 * crnic_umr_can_change - can a key get these rights without a new key?
 * @dev: device
 * @from: mask of enum crnic_mkey_access that it has
 * @to: mask that it shall have
 *
 * Return: true if a work request can do it.
 */
bool crnic_umr_can_change(const struct crnic_dev *dev, u32 from, u32 to)
{
	const u32 changed = from ^ to;

	if (changed & CRNIC_MKEY_ATOMIC && CRNIC_CAP_GEN(dev, umr_modify_atomic_disabled))
		return false;
	if (!(changed & CRNIC_MKEY_RELAXED))
		return true;

	/* a hint that the device does not take makes no difference */
	return (!CRNIC_CAP_GEN(dev, relaxed_ordering_write) ||
		CRNIC_CAP_GEN(dev, relaxed_ordering_write_umr)) &&
	       (!CRNIC_CAP_GEN(dev, relaxed_ordering_read) ||
		CRNIC_CAP_GEN(dev, relaxed_ordering_read_umr));
}

/**
 * crnic_umr_change - give a key another protection domain and other rights
 * @ib: verbs device
 * @key: key that was made for it (umr)
 * @pdn: protection domain
 * @access: mask of enum crnic_mkey_access
 *
 * Context: process; waits for the device.
 * Return: 0; or errno, and the key may be as before.
 */
int crnic_umr_change(struct crnic_ib *ib, u32 key, u32 pdn, u32 access)
{
	u64 mask = MLX5_MKEY_MASK_PD | MLX5_MKEY_MASK_LR | MLX5_MKEY_MASK_LW |
		   MLX5_MKEY_MASK_RR | MLX5_MKEY_MASK_RW;
	struct crnic_umr_wqe wqe = {
		.ctrl.imm = cpu_to_be32(key),
		.umr.flags = MLX5_UMR_INLINE,
	};

	if (!CRNIC_CAP_GEN(ib->dev, umr_modify_atomic_disabled))
		mask |= MLX5_MKEY_MASK_A;
	if (CRNIC_CAP_GEN(ib->dev, relaxed_ordering_write_umr))
		mask |= MLX5_MKEY_MASK_RELAXED_ORDERING_WRITE;
	if (CRNIC_CAP_GEN(ib->dev, relaxed_ordering_read_umr))
		mask |= MLX5_MKEY_MASK_RELAXED_ORDERING_READ;
	wqe.umr.mkey_mask = cpu_to_be64(mask);
	crnic_mkey_fill_change(ib->dev, &wqe.mkey, pdn, access);
	return crnic_umr_execute(ib, &wqe);
}

/* a key that is free serves nobody, and the PD has no QP of a user */
static int crnic_umr_set_free(struct crnic_ib *ib, u32 key, u32 pdn, bool free)
{
	struct crnic_umr_wqe wqe = {
		.ctrl.imm = cpu_to_be32(key),
		.umr.flags = MLX5_UMR_INLINE,
		.umr.mkey_mask = cpu_to_be64(MLX5_MKEY_MASK_PD | MLX5_MKEY_MASK_FREE),
	};

	crnic_mkey_fill_free(&wqe.mkey, pdn, free);
	return crnic_umr_execute(ib, &wqe);
}

/**
 * crnic_umr_revoke - take the meaning from a key
 * @ib: verbs device
 * @key: key that was made for it (umr)
 *
 * No access by that key is under way on return, and none begins.
 *
 * Context: process; waits for the device.
 * Return: 0 or errno.
 */
int crnic_umr_revoke(struct crnic_ib *ib, u32 key)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_umr_revoke, ib, key);
	return crnic_umr_set_free(ib, key, ib->dev->pdn, true);
}

/**
 * crnic_umr_revive - undo crnic_umr_revoke()
 * @ib: verbs device
 * @key: revoked key
 * @pdn: protection domain that it had
 *
 * Context: process; waits for the device.
 * Return: 0; or errno with the key as it was.
 */
int crnic_umr_revive(struct crnic_ib *ib, u32 key, u32 pdn)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_umr_revive, ib, key, pdn);
	return crnic_umr_set_free(ib, key, pdn, false);
}

/**
 * crnic_umr_can_load - can work requests bring a key's translations?
 * @dev: device
 * @octwords: units of 16 bytes that the key has
 *
 * The place in the key is told in 16 bits, unless the device has more.
 *
 * Return: true if they can.
 */
bool crnic_umr_can_load(const struct crnic_dev *dev, u32 octwords)
{
	return !CRNIC_CAP_GEN(dev, umr_modify_entity_size_disabled) &&
	       (octwords <= BIT(16) || CRNIC_CAP_GEN(dev, umr_extended_translation_offset));
}

/**
 * crnic_umr_write_list - bring a piece of a key's translations
 * @ib: verbs device
 * @key: free key that was made for it (umr)
 * @list: the piece
 *
 * Context: process; waits for the device.
 * Return: 0 or errno.
 */
int crnic_umr_write_list(struct crnic_ib *ib, u32 key, const struct crnic_umr_list *list)
{
	const u32 octwords = ALIGN(list->num, CRNIC_UMR_LIST_UNIT) / CRNIC_UMR_PER_OCTWORD;
	const u32 at = list->first / CRNIC_UMR_PER_OCTWORD;
	struct crnic_umr_wqe wqe = {
		.ctrl.imm = cpu_to_be32(key),
		.umr.flags = MLX5_UMR_TRANSLATION_OFFSET_EN | MLX5_UMR_CHECK_NOT_FREE,
		.umr.xlt_octowords = cpu_to_be16(octwords),
		.umr.xlt_offset = cpu_to_be16(at & 0xffff),
		.umr.xlt_offset_47_16 = cpu_to_be32(at >> 16),
		.list.byte_count = cpu_to_be32(octwords * MLX5_SEND_WQE_DS),
		.list.addr = cpu_to_be64(list->dma),
	};

	KUNIT_STATIC_STUB_REDIRECT(crnic_umr_write_list, ib, key, list);
	return crnic_umr_execute(ib, &wqe);
}

/* the list is read in whole units: nothing of an earlier piece goes with the last one */
static int crnic_umr_flush_list(struct crnic_ib *ib, u32 key, struct crnic_umr_list *list)
{
	struct device *device = ib->dev->device;
	int err;

	memset(list->mtts + list->num, 0,
	       (-list->num & (CRNIC_UMR_LIST_UNIT - 1)) * sizeof(*list->mtts));
	dma_sync_single_for_device(device, list->dma, CRNIC_UMR_LIST_BYTES, DMA_TO_DEVICE);
	err = crnic_umr_write_list(ib, key, list);
	dma_sync_single_for_cpu(device, list->dma, CRNIC_UMR_LIST_BYTES, DMA_TO_DEVICE);
	list->first += list->num;
	list->num = 0;
	return err;
}

static int crnic_umr_load_list(struct crnic_ib *ib, u32 key, const struct crnic_pas *pas,
			       struct crnic_umr_list *list)
{
	struct ib_block_iter it;
	int err;

	rdma_umem_for_each_dma_block(pas->umem, &it, BIT(pas->page_shift)) {
		list->mtts[list->num++] = cpu_to_be64(rdma_block_iter_dma_address(&it) |
						      MLX5_EN_RD | MLX5_EN_WR);
		if (list->num < CRNIC_UMR_LIST_LEN)
			continue;
		err = crnic_umr_flush_list(ib, key, list);
		if (err)
			return err;
	}
	return list->num ? crnic_umr_flush_list(ib, key, list) : 0;
}

/**
 * crnic_umr_load - bring a key's translations, piece by piece
 * @ib: verbs device
 * @key: free key with room for them, made for it (umr)
 * @pas: pages of user memory
 *
 * Context: process; waits for the device.
 * Return: 0; or errno, and what the key leads to is undefined.
 */
int crnic_umr_load(struct crnic_ib *ib, u32 key, const struct crnic_pas *pas)
{
	struct device *device = ib->dev->device;
	struct crnic_umr_list list = {};
	int err = -ENOMEM;

	/* kmalloc() aligns a power of two to itself, which is more than a list needs */
	list.mtts = kmalloc(CRNIC_UMR_LIST_BYTES, GFP_KERNEL);
	if (!list.mtts)
		return -ENOMEM;
	list.dma = dma_map_single(device, list.mtts, CRNIC_UMR_LIST_BYTES, DMA_TO_DEVICE);
	if (dma_mapping_error(device, list.dma))
		goto free;

	err = crnic_umr_load_list(ib, key, pas, &list);
	dma_unmap_single(device, list.dma, CRNIC_UMR_LIST_BYTES, DMA_TO_DEVICE);
free:
	kfree(list.mtts);
	return err;
}

/**
 * crnic_ib_umr_wake - the device is in error: who waits for it, waits no longer
 * @ib: verbs device
 *
 * Context: any, hard interrupt included.
 */
void crnic_ib_umr_wake(struct crnic_ib *ib)
{
	complete(&ib->umr->event);
}

/**
 * crnic_ib_umr_create - prepare for requests; the device is not asked yet
 * @ib: verbs device
 *
 * Return: 0 or -ENOMEM.
 */
int crnic_ib_umr_create(struct crnic_ib *ib)
{
	ib->umr = kzalloc(sizeof(*ib->umr), GFP_KERNEL);
	if (!ib->umr)
		return -ENOMEM;
	mutex_init(&ib->umr->lock);
	init_completion(&ib->umr->event);
	return 0;
}

/**
 * crnic_ib_umr_destroy - undo crnic_ib_umr_create()
 * @ib: verbs device; no region is left
 */
void crnic_ib_umr_destroy(struct crnic_ib *ib)
{
	if (ib->umr->made)
		crnic_umr_unmake(ib->dev, ib->umr);
	mutex_destroy(&ib->umr->lock);
	kfree(ib->umr);
	ib->umr = NULL;
}
