// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sizes of a QP's rings: checked for users, who bring their own memory, and
 * computed for the kernel.  Pure functions: nothing is pinned or allocated
 * before all numbers are known to be good.
 */
#include <linux/log2.h>

#include "ib.h"

/* A send WQE's length has six bits, in units of 16 bytes */
#define CRNIC_MAX_WQE_BYTES	(63U * MLX5_SEND_WQE_DS)
#define CRNIC_RQ_MIN_SHIFT	4

/* counters of the rings have 16 bits, and full must not look like empty */
#define CRNIC_MAX_LOG_RING	15U

/* What comes before the data in a WQE of a type, at most */
static const u8 crnic_sq_overhead[] = {
	[IB_QPT_RC] = sizeof(struct mlx5_wqe_ctrl_seg) + sizeof(struct mlx5_wqe_raddr_seg) +
		      sizeof(struct mlx5_wqe_atomic_seg),
	[IB_QPT_UC] = sizeof(struct mlx5_wqe_ctrl_seg) + sizeof(struct mlx5_wqe_raddr_seg),
	[IB_QPT_UD] = sizeof(struct mlx5_wqe_ctrl_seg) + sizeof(struct mlx5_wqe_datagram_seg),
	[IB_QPT_GSI] = sizeof(struct mlx5_wqe_ctrl_seg) + sizeof(struct mlx5_wqe_datagram_seg),
	[IB_QPT_XRC_INI] = sizeof(struct mlx5_wqe_ctrl_seg) + sizeof(struct mlx5_wqe_xrc_seg) +
			   sizeof(struct mlx5_wqe_raddr_seg) + sizeof(struct mlx5_wqe_atomic_seg),
	[IB_QPT_XRC_TGT] = 0,
};

/* A fast registration has a fixed length */
#define CRNIC_REG_WQE_BYTES						\
	(sizeof(struct mlx5_wqe_ctrl_seg) + sizeof(struct mlx5_wqe_umr_ctrl_seg) + \
	 sizeof(struct mlx5_mkey_seg) + sizeof(struct mlx5_wqe_data_seg))

/**
 * crnic_qp_limits - limits of the device for QP rings
 * @dev: device
 *
 * Return: the limits.
 */
struct crnic_qp_limits crnic_qp_limits(const struct crnic_dev *dev)
{
	const u32 ring = 1U << min(CRNIC_CAP_GEN(dev, log_max_qp_sz), CRNIC_MAX_LOG_RING);

	return (struct crnic_qp_limits) {
		.max_wr = crnic_ib_max_qp_wr(dev),
		.max_send_sge = crnic_ib_max_send_sge(dev),
		.max_recv_sge = crnic_ib_max_recv_sge(dev),
		.max_ring = ring,
		.max_sq_desc = min(CRNIC_CAP_GEN(dev, max_wqe_sz_sq), CRNIC_MAX_WQE_BYTES),
		.max_rq_desc = CRNIC_CAP_GEN(dev, max_wqe_sz_rq),
		.frwr = crnic_ib_frwr(dev),
	};
}

/**
 * crnic_qp_bytes - length of a QP's memory
 * @size: sizes, checked
 *
 * Return: bytes of both rings.
 */
size_t crnic_qp_bytes(const struct crnic_qp_size *size)
{
	return ((size_t)size->rq_size << size->rq_shift) +
	       ((size_t)size->sq_bbs << CRNIC_WQE_BB_SHIFT);
}

/**
 * crnic_qp_ring_shape - the ring that a user's buffer holds
 * @type: type of the QP
 * @size: its sizes
 * @u: where its length and the width of its page offset go
 *
 * A raw packet QP has its send ring apart; its buffer is the ring of an RQ,
 * whose context has fewer bits for the offset than a QP's.
 */
void crnic_qp_ring_shape(enum ib_qp_type type, const struct crnic_qp_size *size,
			 struct crnic_ring_user *u)
{
	if (type == IB_QPT_RAW_PACKET) {
		u->bytes = (size_t)size->rq_size << size->rq_shift;
		u->offset_bits = __mlx5_bit_sz(wq, page_offset);
	} else {
		u->bytes = crnic_qp_bytes(size);
		u->offset_bits = __mlx5_bit_sz(qpc, page_offset);
	}
}

/* QPs that take their receive WQEs from elsewhere, or take none */
static bool crnic_qp_without_rq(const struct ib_qp_init_attr *attr)
{
	return attr->srq || attr->qp_type == IB_QPT_XRC_INI || attr->qp_type == IB_QPT_XRC_TGT;
}

/* what was advertised holds also where the device could do more */
static int crnic_qp_check_cap(const struct crnic_qp_limits *lim,
			      const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;

	if (cap->max_send_wr > lim->max_wr || cap->max_send_sge > lim->max_send_sge ||
	    cap->max_inline_data > lim->max_sq_desc)
		return -EINVAL;
	if (crnic_qp_without_rq(attr))
		return 0;
	if (cap->max_recv_wr > lim->max_wr || cap->max_recv_sge > lim->max_recv_sge)
		return -EINVAL;
	return 0;
}

static int crnic_rq_size_user(const struct crnic_qp_limits *lim,
			      const struct ib_qp_init_attr *attr,
			      const struct mlx5_ib_create_qp *ucmd, struct crnic_qp_size *size)
{
	const u32 sges = max(attr->cap.max_recv_sge, 1U);

	if (crnic_qp_without_rq(attr) || !attr->cap.max_recv_wr) {
		if (ucmd->rq_wqe_count || ucmd->rq_wqe_shift)
			return -EINVAL;
		return 0;
	}

	if (!is_power_of_2(ucmd->rq_wqe_count) || ucmd->rq_wqe_count > lim->max_ring ||
	    ucmd->rq_wqe_count < attr->cap.max_recv_wr)
		return -EINVAL;
	if (ucmd->rq_wqe_shift < CRNIC_RQ_MIN_SHIFT ||
	    ucmd->rq_wqe_shift > ilog2(lim->max_rq_desc))
		return -EINVAL;
	if (sges > BIT(ucmd->rq_wqe_shift) / sizeof(struct mlx5_wqe_data_seg))
		return -EINVAL;

	size->rq_size = ucmd->rq_wqe_count;
	size->rq_shift = ucmd->rq_wqe_shift;
	return 0;
}

static int crnic_sq_size_user(const struct crnic_qp_limits *lim,
			      const struct ib_qp_init_attr *attr,
			      const struct mlx5_ib_create_qp *ucmd, struct crnic_qp_size *size)
{
	if (!ucmd->sq_wqe_count)
		return attr->cap.max_send_wr ? -EINVAL : 0;
	if (attr->qp_type == IB_QPT_XRC_TGT)
		return -EINVAL;
	/* each WQE has one block at least */
	if (!is_power_of_2(ucmd->sq_wqe_count) || ucmd->sq_wqe_count > lim->max_ring ||
	    ucmd->sq_wqe_count < attr->cap.max_send_wr)
		return -EINVAL;

	size->sq_bbs = ucmd->sq_wqe_count;
	return 0;
}

/* a raw packet QP has a place for each ring */
static bool crnic_qp_has_memory(const struct ib_qp_init_attr *attr,
				const struct mlx5_ib_create_qp *ucmd,
				const struct crnic_qp_size *size)
{
	if (attr->qp_type == IB_QPT_RAW_PACKET)
		return (!size->rq_size || ucmd->buf_addr) &&
		       (!size->sq_bbs || ucmd->sq_buf_addr) && crnic_qp_bytes(size);
	return !crnic_qp_bytes(size) || ucmd->buf_addr;
}

/**
 * crnic_qp_size_user - check the sizes of a user's rings
 * @lim: the device's limits
 * @attr: what the user asked of verbs
 * @ucmd: what the library made of it
 * @size: sizes to use
 *
 * Return: 0 or -EINVAL.
 */
int crnic_qp_size_user(const struct crnic_qp_limits *lim, const struct ib_qp_init_attr *attr,
		       const struct mlx5_ib_create_qp *ucmd, struct crnic_qp_size *size)
{
	int err;

	*size = (struct crnic_qp_size) {};
	err = crnic_qp_check_cap(lim, attr);
	if (err)
		return err;
	err = crnic_rq_size_user(lim, attr, ucmd, size);
	if (err)
		return err;
	err = crnic_sq_size_user(lim, attr, ucmd, size);
	if (err)
		return err;
	return crnic_qp_has_memory(attr, ucmd, size) ? 0 : -EINVAL;
}

static u32 crnic_sq_wqe_bytes(const struct crnic_qp_limits *lim,
			      const struct ib_qp_init_attr *attr)
{
	const u32 overhead = crnic_sq_overhead[attr->qp_type];
	u32 data = attr->cap.max_send_sge * sizeof(struct mlx5_wqe_data_seg);
	u32 bytes;

	if (attr->cap.max_inline_data) {
		u32 inl = sizeof(struct mlx5_wqe_inline_seg) + attr->cap.max_inline_data;

		data = max(data, ALIGN(inl, MLX5_SEND_WQE_DS));
	}
	bytes = overhead + data;
	if (attr->qp_type == IB_QPT_RC && lim->frwr)
		bytes = max_t(u32, bytes, CRNIC_REG_WQE_BYTES);
	return bytes;
}

static int crnic_sq_size_kernel(const struct crnic_qp_limits *lim,
				struct ib_qp_init_attr *attr, struct crnic_qp_size *size)
{
	u32 bytes;

	if (!attr->cap.max_send_wr)
		return 0;
	bytes = crnic_sq_wqe_bytes(lim, attr);
	if (bytes > lim->max_sq_desc)
		return -EINVAL;

	size->wqe_bbs = DIV_ROUND_UP(bytes, CRNIC_WQE_BB);
	size->sq_bbs = roundup_pow_of_two(attr->cap.max_send_wr * size->wqe_bbs);
	if (size->sq_bbs > lim->max_ring)
		return -ENOMEM;

	attr->cap.max_send_wr = size->sq_bbs / size->wqe_bbs;
	return 0;
}

static void crnic_rq_size_kernel(struct ib_qp_init_attr *attr, struct crnic_qp_size *size)
{
	u32 sges = max(attr->cap.max_recv_sge, 1U);

	if (crnic_qp_without_rq(attr) || !attr->cap.max_recv_wr)
		return;

	sges = roundup_pow_of_two(sges);
	size->rq_shift = ilog2(sges * sizeof(struct mlx5_wqe_data_seg));
	size->rq_size = roundup_pow_of_two(attr->cap.max_recv_wr);
	attr->cap.max_recv_wr = size->rq_size;
	attr->cap.max_recv_sge = sges;
}

/**
 * crnic_qp_size_kernel - choose the sizes of a kernel QP's rings
 * @lim: the device's limits
 * @attr: what is asked; its capabilities are raised to what is given
 * @size: sizes to use
 *
 * Return: 0, -EINVAL for what no QP can have, -ENOMEM for a send queue that
 * is too long for the device with such WQEs.
 */
int crnic_qp_size_kernel(const struct crnic_qp_limits *lim, struct ib_qp_init_attr *attr,
			 struct crnic_qp_size *size)
{
	int err;

	*size = (struct crnic_qp_size) {};
	err = crnic_qp_check_cap(lim, attr);
	if (err)
		return err;
	crnic_rq_size_kernel(attr, size);
	return crnic_sq_size_kernel(lim, attr, size);
}
