// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Another ring for a user's completion queue.  The device ends the old ring
 * with a CQE of its own kind; the library, which alone reads the ring, moves
 * what it had not polled when it meets that one.  The kernel's CQs keep their
 * size: none of its users asks for another.
 */
#include "ib.h"

/* a power of two of entries that holds @cqe, as at creation */
static int crnic_cq_resize_log(const struct crnic_dev *dev, int cqe, u8 *log_size)
{
	if (cqe < 1 || cqe >= 1 << CRNIC_CAP_GEN(dev, log_max_cq_sz))
		return -EINVAL;

	*log_size = order_base_2(cqe + 1);
	return 0;
}

static int crnic_cq_resize_ucmd(struct ib_udata *udata, const struct crnic_ib_cq *cq,
				struct mlx5_ib_resize_cq *ucmd)
{
	int err;

	if (udata->inlen < sizeof(*ucmd))
		return -EINVAL;
	err = ib_copy_from_udata(ucmd, udata, sizeof(*ucmd));
	if (err)
		return err;
	/* the library cannot move CQEs into entries of another size */
	if (ucmd->reserved0 || ucmd->reserved1 || ucmd->cqe_size != cq->cqe_size)
		return -EINVAL;
	return 0;
}

/* the old memory is let go only when the device has left it */
static int crnic_cq_swap_ring(struct crnic_ib_cq *cq, u64 addr, u8 log_size)
{
	struct crnic_dev *dev = to_cdev(cq->ibcq.device);
	struct crnic_cq_params p = {
		.log_size = log_size,
		.cqe_128 = cq->cqe_size == CRNIC_CQE_SIZE_128,
		.pad_128 = cq->pad_128,
	};
	struct ib_umem *umem;
	int err;

	lockdep_assert_held(&cq->resize_lock);
	umem = ib_umem_get(cq->ibcq.device, addr, (size_t)cq->cqe_size << log_size,
			   IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(umem))
		return PTR_ERR(umem);

	err = crnic_pas_of_ring(umem, __mlx5_bit_sz(cqc, page_offset), &p.pas);
	if (!err)
		err = crnic_cq_resize(dev, &cq->core, &p);
	if (!err) {
		swap(umem, cq->ring.umem);
		cq->ibcq.cqe = (1 << log_size) - 1;
	}
	ib_umem_release(umem);
	return err;
}

/**
 * crnic_ib_resize_cq - change the size of a user's completion queue
 * @ibcq: CQ
 * @cqe: entries that it has to hold
 * @udata: mlx5_ib_resize_cq, or NULL for the kernel
 *
 * Return: 0, -EOPNOTSUPP for a kernel CQ, -EINVAL also when there are more CQEs
 * than the new ring would hold, or errno; the CQ is then as it was.
 */
int crnic_ib_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct crnic_ib_cq *cq = to_ccq(ibcq);
	struct mlx5_ib_resize_cq ucmd = {};
	u8 log_size;
	int err;

	if (!udata)
		return -EOPNOTSUPP;
	err = crnic_cq_resize_log(to_cdev(ibcq->device), cqe, &log_size);
	if (err)
		return err;
	err = crnic_cq_resize_ucmd(udata, cq, &ucmd);
	if (err)
		return err;

	mutex_lock(&cq->resize_lock);
	if (ibcq->cqe != (1 << log_size) - 1)
		err = crnic_cq_swap_ring(cq, ucmd.buf_addr, log_size);
	mutex_unlock(&cq->resize_lock);
	return err;
}
