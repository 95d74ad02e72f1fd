// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues of the netdev's rings. */
#include <crnic/obj/cq.h>
#include <crnic/wqe.h>

#include "net.h"

/* Presets of a CQE that was never written: invalid opcode, owner of pass 1 */
#define CRNIC_CQE_UNWRITTEN	(MLX5_CQE_INVALID << 4 | 1)

static void crnic_net_cq_comp(struct crnic_cq *core)
{
	struct crnic_net_cq *cq = container_of(core, struct crnic_net_cq, core);

	napi_schedule_irqoff(&cq->channel->napi);
}

static void crnic_net_cq_event(struct crnic_cq *core, u8 event)
{
	struct crnic_net_cq *cq = container_of(core, struct crnic_net_cq, core);
	struct crnic_net *net = cq->channel->net;

	netdev_err(net->netdev, "completion queue %u failed, event 0x%x\n", core->cqn, event);
	crnic_net_recover(net);
}

static void crnic_net_cq_preset(struct crnic_net_cq *cq)
{
	struct mlx5_cqe64 *cqe = cq->buf.addr;
	unsigned int i;

	for (i = 0; i < BIT(cq->log_size); i++)
		cqe[i].op_own = CRNIC_CQE_UNWRITTEN;
}

/**
 * crnic_net_cq_open - create the CQ of one ring
 * @ch: channel whose NAPI will poll it
 * @cq: zeroed
 * @log_size: log2 of its entries
 *
 * Context: process. The CQ is not armed yet.
 *
 * Return: 0 or a negative errno, with nothing left behind.
 */
int crnic_net_cq_open(struct crnic_channel *ch, struct crnic_net_cq *cq, u8 log_size)
{
	struct crnic_dev *dev = ch->net->dev;
	struct crnic_cq_params p = {
		.uar = dev->uar.index,
		.vector = ch->index,
		.log_size = log_size,
	};
	int err;

	cq->channel = ch;
	cq->log_size = log_size;
	err = crnic_buf_alloc(dev, sizeof(struct mlx5_cqe64) << log_size, &cq->buf);
	if (err)
		return err;
	err = crnic_dbr_alloc(dev, &cq->dbr);
	if (err)
		goto free_buf;
	crnic_net_cq_preset(cq);
	p.pas = crnic_pas_of_buf(&cq->buf);
	p.dbr = cq->dbr.dma;
	cq->core.comp = crnic_net_cq_comp;
	cq->core.event = crnic_net_cq_event;
	cq->core.uar = &dev->uar;
	cq->core.db = cq->dbr.db;
	err = crnic_cq_create(dev, &cq->core, &p);
	if (err)
		goto free_dbr;
	return 0;

free_dbr:
	crnic_dbr_free(dev, &cq->dbr);
free_buf:
	crnic_buf_free(dev, &cq->buf);
	return err;
}

/**
 * crnic_net_cq_close - destroy the CQ of one ring
 * @net: netdev
 * @cq: CQ; its ring was destroyed before
 *
 * Context: process, NAPI disabled.
 *
 * Return: 0, or a negative errno with all of it still there, but no events.
 */
int crnic_net_cq_close(struct crnic_net *net, struct crnic_net_cq *cq)
{
	int err = crnic_cq_destroy(net->dev, &cq->core);

	if (err)
		return err;
	crnic_dbr_free(net->dev, &cq->dbr);
	crnic_buf_free(net->dev, &cq->buf);
	return 0;
}

/**
 * crnic_net_cq_next - take the next CQE
 * @cq: CQ
 *
 * Context: NAPI poll.
 *
 * Return: the CQE, valid until crnic_net_cq_give_back(), or NULL.
 */
struct mlx5_cqe64 *crnic_net_cq_next(struct crnic_net_cq *cq)
{
	struct mlx5_cqe64 *cqe = cq->buf.addr;
	u8 own = (cq->ci >> cq->log_size) & 1;

	cqe += cq->ci & (BIT(cq->log_size) - 1);
	if ((READ_ONCE(cqe->op_own) & MLX5_CQE_OWNER_MASK) != own)
		return NULL;
	/* the owner bit is read before the rest of the CQE */
	dma_rmb();
	cq->ci++;
	return cqe;
}

/** crnic_net_cq_give_back - let the device write over the CQEs taken so far */
void crnic_net_cq_give_back(struct crnic_net_cq *cq)
{
	crnic_cq_ci_update(cq->dbr.db, cq->ci);
}
