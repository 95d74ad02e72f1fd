// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of queues: pinned for users, allocated for the kernel */
#include "ib.h"

/**
 * crnic_ring_pin - take a user's ring, doorbell record and doorbell page
 * @ctx: the user
 * @u: what the user gave
 * @ring: what to give back to crnic_ring_free()
 * @pas: pages of the ring for the object's command
 *
 * Context: process.
 * Return: 0, -EINVAL for a foreign doorbell page or a bad address, or errno.
 */
int crnic_ring_pin(struct crnic_ib_ctx *ctx, const struct crnic_ring_user *u,
		   struct crnic_ring *ring, struct crnic_pas *pas)
{
	int err;

	if (u->has_uar) {
		ring->uar = crnic_ib_uar_get(ctx, u->uar);
		if (!ring->uar)
			return -EINVAL;
	}

	err = crnic_udbr_map(ctx, u->db_addr, &ring->udbr);
	if (err)
		goto err_uar;
	if (!u->bytes)
		return 0;

	ring->umem = ib_umem_get(ctx->ibctx.device, u->buf_addr, u->bytes, u->access);
	if (IS_ERR(ring->umem)) {
		err = PTR_ERR(ring->umem);
		goto err_dbr;
	}

	err = crnic_pas_of_ring(ring->umem, u->offset_bits, pas);
	if (err)
		goto err_umem;
	return 0;

err_umem:
	ib_umem_release(ring->umem);
err_dbr:
	ring->umem = NULL;
	crnic_udbr_unmap(ctx, &ring->udbr);
err_uar:
	crnic_ib_uar_put(ring->uar);
	ring->uar = NULL;
	return err;
}

/**
 * crnic_ring_alloc - memory for a queue of the kernel
 * @dev: device
 * @bytes: size, not 0
 * @ring: what to give back to crnic_ring_free()
 * @pas: pages of the ring for the object's command
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int crnic_ring_alloc(struct crnic_dev *dev, size_t bytes, struct crnic_ring *ring,
		     struct crnic_pas *pas)
{
	int err;

	err = crnic_dbr_alloc(dev, &ring->dbr);
	if (err)
		return err;

	err = crnic_buf_alloc(dev, bytes, &ring->buf);
	if (err) {
		crnic_dbr_free(dev, &ring->dbr);
		return err;
	}

	*pas = crnic_pas_of_buf(&ring->buf);
	return 0;
}

/**
 * crnic_ring_free - let a queue's memory go
 * @dev: device
 * @ctx: the user, or NULL for the kernel
 * @ring: memory that no device object uses any more
 */
void crnic_ring_free(struct crnic_dev *dev, struct crnic_ib_ctx *ctx, struct crnic_ring *ring)
{
	if (!ctx) {
		crnic_buf_free(dev, &ring->buf);
		crnic_dbr_free(dev, &ring->dbr);
		return;
	}

	ib_umem_release(ring->umem);
	crnic_udbr_unmap(ctx, &ring->udbr);
	crnic_ib_uar_put(ring->uar);
}

/**
 * crnic_ring_dbr - where a queue's doorbell record is
 * @ring: memory
 *
 * Return: its bus address.
 */
dma_addr_t crnic_ring_dbr(const struct crnic_ring *ring)
{
	return ring->udbr.page ? ring->udbr.dma : ring->dbr.dma;
}

/**
 * crnic_ring_uar - doorbell page of a queue
 * @dev: device
 * @ring: memory
 *
 * Return: the user's page, or the one that all kernel objects share.
 */
u32 crnic_ring_uar(const struct crnic_dev *dev, const struct crnic_ring *ring)
{
	return ring->uar ? ring->uar->index : dev->uar.index;
}
