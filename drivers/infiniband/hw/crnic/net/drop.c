// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The drop RQ: a receive queue that never has a buffer.  The RQ table points to
 * it while the netdev is down, so that TIRs and flow rules outlive the rings.
 */
#include <crnic/obj/cq.h>
#include <crnic/wqe.h>
#include <crnic/obj/rq.h>

#include "net.h"

/* One page holds the ring of one CQE and, behind it, the ring of one WQE */
#define CRNIC_DROP_RQ_OFFSET	CRNIC_ADAPTER_PAGE_SIZE
#define CRNIC_DROP_BUF_SIZE	(2 * CRNIC_ADAPTER_PAGE_SIZE)

static void crnic_drop_cq_comp(struct crnic_cq *cq)
{
}

static int crnic_drop_cq_create(struct crnic_net *net)
{
	struct crnic_dev *dev = net->dev;
	struct crnic_cq_params p = {
		.pas = crnic_pas_of_subbuf(&net->drop_buf, 0, sizeof(struct mlx5_cqe64)),
		.dbr = net->drop_dbr.dma,
		.uar = dev->uar.index,
	};

	net->drop_cq.comp = crnic_drop_cq_comp;
	net->drop_cq.uar = &dev->uar;
	return crnic_cq_create(dev, &net->drop_cq, &p);
}

static int crnic_drop_rq_start(struct crnic_net *net)
{
	struct crnic_dev *dev = net->dev;
	struct crnic_rq_params p = {
		.wq = {
			.pas = crnic_pas_of_subbuf(&net->drop_buf, CRNIC_DROP_RQ_OFFSET,
						   sizeof(struct mlx5_wqe_data_seg)),
			.dbr = net->drop_dbr.dma,
			.pdn = dev->pdn,
			.uar = dev->uar.index,
			.log_stride = ilog2(sizeof(struct mlx5_wqe_data_seg)),
		},
		.cqn = net->drop_cq.cqn,
	};
	int err;

	err = crnic_rq_create(dev, &p, &net->drop_rqn);
	if (err)
		return err;
	err = crnic_rq_modify(dev, net->drop_rqn, MLX5_RQC_STATE_RST, MLX5_RQC_STATE_RDY);
	if (err)
		crnic_rq_destroy(dev, net->drop_rqn);
	return err;
}

/**
 * crnic_drop_rq_create - make the drop RQ
 * @net: netdev
 *
 * Context: process.
 *
 * Return: 0 or a negative errno, with nothing left behind.
 */
int crnic_drop_rq_create(struct crnic_net *net)
{
	struct crnic_dev *dev = net->dev;
	int err;

	err = crnic_buf_alloc(dev, CRNIC_DROP_BUF_SIZE, &net->drop_buf);
	if (err)
		return err;
	err = crnic_dbr_alloc(dev, &net->drop_dbr);
	if (err)
		goto free_buf;
	err = crnic_drop_cq_create(net);
	if (err)
		goto free_dbr;
	err = crnic_drop_rq_start(net);
	if (err)
		goto destroy_cq;
	return 0;

destroy_cq:
	/* memory that the device may still reach is lost rather than free */
	if (crnic_cq_destroy(dev, &net->drop_cq))
		return err;
free_dbr:
	crnic_dbr_free(dev, &net->drop_dbr);
free_buf:
	crnic_buf_free(dev, &net->drop_buf);
	return err;
}

/** crnic_drop_rq_destroy - undo crnic_drop_rq_create() */
void crnic_drop_rq_destroy(struct crnic_net *net)
{
	if (crnic_rq_destroy(net->dev, net->drop_rqn) ||
	    crnic_cq_destroy(net->dev, &net->drop_cq)) {
		crnic_err(net->dev, "netdev: memory of the drop RQ is lost\n");
		return;
	}
	crnic_dbr_free(net->dev, &net->drop_dbr);
	crnic_buf_free(net->dev, &net->drop_buf);
}
