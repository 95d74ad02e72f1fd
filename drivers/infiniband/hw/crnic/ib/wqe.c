// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * WQE builders.  Each is a pure function of a ring and a work request: no lock,
 * no counter, no doorbell.  A WQE begins at a basic block and its 16-byte
 * segments go on at the start of the ring where the end is reached.
 */
#include "../compat/mlx5.h"
#include "wqe.h"

/* What comes between the control segment and the data */
enum crnic_send_segs {
	CRNIC_SEG_RADDR		= BIT(0),
	CRNIC_SEG_ATOMIC	= BIT(1),
	CRNIC_SEG_REG		= BIT(2),
	CRNIC_SEG_INV		= BIT(3),
};

/**
 * struct crnic_send_op - how a work request becomes a WQE
 * @opcode: the device's opcode
 * @wc: opcode of its completion
 * @segs: segments before the data
 * @types: QP types that have it
 */
struct crnic_send_op {
	u8 opcode;
	u8 wc;
	u8 segs;
	u16 types;
};

#define T_RC	(CRNIC_T(RC) | CRNIC_T(XRC_INI))
#define T_CONN	(T_RC | CRNIC_T(UC))
#define T_DGRAM	(CRNIC_T(UD) | CRNIC_T(GSI))

static const struct crnic_send_op crnic_send_ops[] = {
	[IB_WR_RDMA_WRITE] = {
		MLX5_OPCODE_RDMA_WRITE, IB_WC_RDMA_WRITE, CRNIC_SEG_RADDR, T_CONN },
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		MLX5_OPCODE_RDMA_WRITE_IMM, IB_WC_RDMA_WRITE, CRNIC_SEG_RADDR, T_CONN },
	[IB_WR_SEND] = {
		MLX5_OPCODE_SEND, IB_WC_SEND, 0, T_CONN | T_DGRAM },
	[IB_WR_SEND_WITH_IMM] = {
		MLX5_OPCODE_SEND_IMM, IB_WC_SEND, 0, T_CONN | T_DGRAM },
	[IB_WR_SEND_WITH_INV] = {
		MLX5_OPCODE_SEND_INVAL, IB_WC_SEND, 0, T_RC },
	[IB_WR_RDMA_READ] = {
		MLX5_OPCODE_RDMA_READ, IB_WC_RDMA_READ, CRNIC_SEG_RADDR, T_RC },
	[IB_WR_ATOMIC_CMP_AND_SWP] = {
		MLX5_OPCODE_ATOMIC_CS, IB_WC_COMP_SWAP,
		CRNIC_SEG_RADDR | CRNIC_SEG_ATOMIC, T_RC },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = {
		MLX5_OPCODE_ATOMIC_FA, IB_WC_FETCH_ADD,
		CRNIC_SEG_RADDR | CRNIC_SEG_ATOMIC, T_RC },
	[IB_WR_LOCAL_INV] = {
		MLX5_OPCODE_UMR, IB_WC_LOCAL_INV, CRNIC_SEG_INV, CRNIC_T(RC) },
	[IB_WR_REG_MR] = {
		MLX5_OPCODE_UMR, IB_WC_REG_MR, CRNIC_SEG_REG, CRNIC_T(RC) },
};

static const struct crnic_send_op *crnic_send_op_find(const struct ib_send_wr *wr,
						      enum ib_qp_type type)
{
	if (wr->opcode >= ARRAY_SIZE(crnic_send_ops) ||
	    !(crnic_send_ops[wr->opcode].types & BIT(type)))
		return NULL;
	return &crnic_send_ops[wr->opcode];
}

/**
 * crnic_wqe_completion - opcode of a work request's completion
 * @opcode: of a work request that was built
 *
 * Return: enum ib_wc_opcode.
 */
u8 crnic_wqe_completion(enum ib_wr_opcode opcode)
{
	return crnic_send_ops[opcode].wc;
}

/**
 * crnic_wqe_owes_fence - does the next WQE have to wait for this one's effect?
 * @opcode: of a work request that was built
 *
 * Return: true if it changes a key, which the ones behind it may use.
 */
bool crnic_wqe_owes_fence(enum ib_wr_opcode opcode)
{
	return crnic_send_ops[opcode].segs & (CRNIC_SEG_REG | CRNIC_SEG_INV);
}

/**
 * crnic_wqe_put - append bytes to a WQE
 * @wqe: WQE
 * @data: bytes
 * @len: their number, at most the ring's
 */
void crnic_wqe_put(struct crnic_sq_wqe *wqe, const void *data, u32 len)
{
	const u32 at = wqe->pos & wqe->mask;
	const u32 first = min(len, wqe->mask + 1 - at);

	memcpy(wqe->ring + at, data, first);
	memcpy(wqe->ring, data + first, len - first);
	wqe->pos += len;
}

static void crnic_put_raddr(struct crnic_sq_wqe *wqe, u64 addr, u32 rkey)
{
	struct mlx5_wqe_raddr_seg seg = {
		.raddr = cpu_to_be64(addr),
		.rkey = cpu_to_be32(rkey),
	};

	crnic_wqe_put(wqe, &seg, sizeof(seg));
}

static void crnic_put_atomic(struct crnic_sq_wqe *wqe, const struct ib_atomic_wr *wr)
{
	struct mlx5_wqe_atomic_seg seg = {
		.swap_add = cpu_to_be64(wr->compare_add),
	};

	if (wr->wr.opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		seg.swap_add = cpu_to_be64(wr->swap);
		seg.compare = cpu_to_be64(wr->compare_add);
	}
	crnic_wqe_put(wqe, &seg, sizeof(seg));
}

static void crnic_put_datagram(struct crnic_sq_wqe *wqe, const struct ib_ud_wr *wr)
{
	struct mlx5_wqe_datagram_seg seg = { .av = to_cah(wr->ah)->av };

	seg.av.dqp_dct = cpu_to_be32(wr->remote_qpn | MLX5_EXTENDED_UD_AV);
	seg.av.key.qkey.qkey = cpu_to_be32(wr->remote_qkey);
	crnic_wqe_put(wqe, &seg, sizeof(seg));
}

/* translations are counted in 16 bytes, in multiples of 64 */
static u16 crnic_reg_octwords(const struct crnic_ib_mr *mr)
{
	return ALIGN(mr->ndescs * sizeof(*mr->descs), MLX5_UMR_FLEX_ALIGNMENT) /
	       MLX5_SEND_WQE_DS;
}

#define CRNIC_REG_MASK							\
	(MLX5_MKEY_MASK_LEN | MLX5_MKEY_MASK_PAGE_SIZE | MLX5_MKEY_MASK_START_ADDR | \
	 MLX5_MKEY_MASK_EN_RINVAL | MLX5_MKEY_MASK_KEY | MLX5_MKEY_MASK_LR | \
	 MLX5_MKEY_MASK_LW | MLX5_MKEY_MASK_RR | MLX5_MKEY_MASK_RW | MLX5_MKEY_MASK_A | \
	 MLX5_MKEY_MASK_SMALL_FENCE | MLX5_MKEY_MASK_FREE)

static u8 crnic_reg_rights(int access)
{
	return MLX5_PERM_LOCAL_READ | MLX5_PERM_UMR_EN |
	       (access & IB_ACCESS_LOCAL_WRITE ? MLX5_PERM_LOCAL_WRITE : 0) |
	       (access & IB_ACCESS_REMOTE_READ ? MLX5_PERM_REMOTE_READ : 0) |
	       (access & IB_ACCESS_REMOTE_WRITE ? MLX5_PERM_REMOTE_WRITE : 0) |
	       (access & IB_ACCESS_REMOTE_ATOMIC ? MLX5_PERM_ATOMIC : 0);
}

/* any QP in the upper 24 bits, the key's variable byte below */
static __be32 crnic_reg_qpn_key(u32 key)
{
	return cpu_to_be32(0xffffff00 | (key & 0xff));
}

static void crnic_put_reg(struct crnic_sq_wqe *wqe, const struct ib_reg_wr *wr)
{
	const struct crnic_ib_mr *mr = to_cmr(wr->mr);
	const u16 octwords = crnic_reg_octwords(mr);
	struct mlx5_wqe_umr_ctrl_seg umr = {
		.flags = MLX5_UMR_CHECK_NOT_FREE,
		.xlt_octowords = cpu_to_be16(octwords),
		.mkey_mask = cpu_to_be64(CRNIC_REG_MASK),
	};
	struct mlx5_mkey_seg mkey = {
		.flags = crnic_reg_rights(wr->access) | CRNIC_MKEY_MTT,
		.qpn_mkey7_0 = crnic_reg_qpn_key(wr->key),
		.flags_pd = cpu_to_be32(MLX5_MKEY_REMOTE_INVAL),
		.start_addr = cpu_to_be64(mr->ibmr.iova),
		.len = cpu_to_be64(mr->ibmr.length),
		.xlt_oct_size = cpu_to_be32(octwords),
		.log2_page_size = ilog2(mr->ibmr.page_size),
	};
	struct mlx5_wqe_data_seg list = {
		.byte_count = cpu_to_be32(octwords * MLX5_SEND_WQE_DS),
		.lkey = cpu_to_be32(mr->ibmr.pd->local_dma_lkey),
		.addr = cpu_to_be64(mr->descs_dma),
	};

	crnic_wqe_put(wqe, &umr, sizeof(umr));
	crnic_wqe_put(wqe, &mkey, sizeof(mkey));
	crnic_wqe_put(wqe, &list, sizeof(list));
}

static void crnic_put_inv(struct crnic_sq_wqe *wqe)
{
	struct mlx5_wqe_umr_ctrl_seg umr = {
		.flags = MLX5_UMR_INLINE,
		.mkey_mask = cpu_to_be64(MLX5_MKEY_MASK_FREE),
	};
	struct mlx5_mkey_seg mkey = { .status = MLX5_MKEY_STATUS_FREE };

	crnic_wqe_put(wqe, &umr, sizeof(umr));
	crnic_wqe_put(wqe, &mkey, sizeof(mkey));
}

/* A count of zero would mean 2^31 bytes: such entries are left out */
static void crnic_put_sges(struct crnic_sq_wqe *wqe, const struct ib_send_wr *wr)
{
	struct mlx5_wqe_data_seg seg;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (!sge->length)
			continue;
		seg.byte_count = cpu_to_be32(sge->length);
		seg.lkey = cpu_to_be32(sge->lkey);
		seg.addr = cpu_to_be64(sge->addr);
		crnic_wqe_put(wqe, &seg, sizeof(seg));
	}
}

/* bytes of all entries, or more than @max where they are more */
static u32 crnic_inline_bytes(const struct ib_send_wr *wr, u32 max)
{
	u32 sum = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length > max - sum)
			return max + 1;
		sum += wr->sg_list[i].length;
	}
	return sum;
}

static int crnic_put_inline(struct crnic_sq_wqe *wqe, const struct ib_send_wr *wr, u32 max)
{
	static const u8 pad[MLX5_SEND_WQE_DS];
	const u32 bytes = crnic_inline_bytes(wr, max);
	struct mlx5_wqe_inline_seg seg = { .byte_count = cpu_to_be32(bytes | MLX5_INLINE_SEG) };
	int i;

	if (bytes > max)
		return -EINVAL;
	if (!bytes)
		return 0;

	crnic_wqe_put(wqe, &seg, sizeof(seg));
	for (i = 0; i < wr->num_sge; i++)
		crnic_wqe_put(wqe, (void *)(uintptr_t)wr->sg_list[i].addr,
			      wr->sg_list[i].length);
	crnic_wqe_put(wqe, pad, -wqe->pos & (MLX5_SEND_WQE_DS - 1));
	return 0;
}

static void crnic_put_head(struct crnic_sq_wqe *wqe, const struct crnic_send_op *op,
			   const struct crnic_sq_ctx *c, const struct ib_send_wr *wr)
{
	if (c->type == IB_QPT_XRC_INI) {
		/* the kernel has no verb that names a remote SRQ */
		static const struct mlx5_wqe_xrc_seg none;

		crnic_wqe_put(wqe, &none, sizeof(none));
	}
	if (BIT(c->type) & T_DGRAM)
		crnic_put_datagram(wqe, ud_wr(wr));
	if (op->segs & CRNIC_SEG_ATOMIC) {
		crnic_put_raddr(wqe, atomic_wr(wr)->remote_addr, atomic_wr(wr)->rkey);
		crnic_put_atomic(wqe, atomic_wr(wr));
	} else if (op->segs & CRNIC_SEG_RADDR) {
		crnic_put_raddr(wqe, rdma_wr(wr)->remote_addr, rdma_wr(wr)->rkey);
	}
	if (op->segs & CRNIC_SEG_REG)
		crnic_put_reg(wqe, reg_wr(wr));
	if (op->segs & CRNIC_SEG_INV)
		crnic_put_inv(wqe);
}

static __be32 crnic_wqe_imm(const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return wr->ex.imm_data;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		return cpu_to_be32(wr->ex.invalidate_rkey);
	case IB_WR_REG_MR:
		return cpu_to_be32(reg_wr(wr)->key);
	default:
		return 0;
	}
}

static u8 crnic_wqe_flags(const struct crnic_sq_ctx *c, const struct ib_send_wr *wr)
{
	u8 flags = c->fence;

	if (wr->send_flags & IB_SEND_FENCE)
		flags = c->fence ? MLX5_FENCE_MODE_SMALL_AND_FENCE : MLX5_FENCE_MODE_FENCE;
	if (c->signal || wr->send_flags & IB_SEND_SIGNALED)
		flags |= MLX5_WQE_CTRL_CQ_UPDATE;
	if (wr->send_flags & IB_SEND_SOLICITED)
		flags |= MLX5_WQE_CTRL_SOLICITED;
	return flags;
}

/**
 * crnic_wqe_build - write the WQE of a send work request
 * @sq: the ring, with room for the longest WQE
 * @c: what it depends on beside the work request
 * @wr: work request
 *
 * Nothing of the ring but the WQE's own blocks is touched.
 *
 * Return: length in 16-byte segments; -EINVAL for too many entries or too much
 * inline data; -EOPNOTSUPP for an opcode that the QP type has not.
 */
int crnic_wqe_build(const struct crnic_sq *sq, const struct crnic_sq_ctx *c,
		    const struct ib_send_wr *wr)
{
	const struct crnic_send_op *op = crnic_send_op_find(wr, c->type);
	const u32 start = (u32)c->pc << CRNIC_WQE_BB_SHIFT;
	struct crnic_sq_wqe wqe = {
		.ring = sq->buf,
		.mask = (sq->bbs << CRNIC_WQE_BB_SHIFT) - 1,
		.pos = start + sizeof(struct mlx5_wqe_ctrl_seg),
	};
	struct mlx5_wqe_ctrl_seg ctrl = {};
	int err = 0;
	u32 ds;

	if (!op)
		return -EOPNOTSUPP;
	if (wr->num_sge < 0 || wr->num_sge > c->max_sge)
		return -EINVAL;

	crnic_put_head(&wqe, op, c, wr);
	if (op->segs & (CRNIC_SEG_REG | CRNIC_SEG_INV))
		;	/* their data is not the user's */
	else if (wr->send_flags & IB_SEND_INLINE)
		err = crnic_put_inline(&wqe, wr, c->max_inline);
	else
		crnic_put_sges(&wqe, wr);
	if (err)
		return err;

	ds = (wqe.pos - start) / MLX5_SEND_WQE_DS;
	ctrl.opmod_idx_opcode = cpu_to_be32((u32)c->pc << MLX5_WQE_CTRL_WQE_INDEX_SHIFT |
					    op->opcode);
	ctrl.qpn_ds = cpu_to_be32(c->qpn << MLX5_WQE_CTRL_QPN_SHIFT | ds);
	ctrl.fm_ce_se = crnic_wqe_flags(c, wr);
	ctrl.imm = crnic_wqe_imm(wr);
	wqe.pos = start;
	crnic_wqe_put(&wqe, &ctrl, sizeof(ctrl));
	return ds;
}

/**
 * crnic_rwqe_build - write the scatter list of a receive work request
 * @wqe: where
 * @max_sge: entries that there is room for
 * @wr: work request with at most that many
 * @end: key that ends a list which does not fill the WQE, as the device told
 */
void crnic_rwqe_build(void *wqe, u32 max_sge, const struct ib_recv_wr *wr, __be32 end)
{
	struct mlx5_wqe_data_seg *seg = wqe;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (!sge->length)
			continue;
		seg->byte_count = cpu_to_be32(sge->length);
		seg->lkey = cpu_to_be32(sge->lkey);
		seg->addr = cpu_to_be64(sge->addr);
		seg++;
	}
	if (seg == (struct mlx5_wqe_data_seg *)wqe + max_sge)
		return;

	seg->byte_count = 0;
	seg->lkey = end;
	seg->addr = 0;
}
