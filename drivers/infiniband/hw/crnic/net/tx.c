// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Send rings. */
#include <crnic/obj/sq.h>
#include <crnic/wqe.h>

#include "../compat/mm.h"
#include "net.h"
#include "tx.h"

static void *crnic_txq_bb(const struct crnic_txq *q, u16 pc)
{
	return q->buf.addr + ((pc & (BIT(q->log_size) - 1)) << CRNIC_WQE_BB_SHIFT);
}

static struct crnic_tx_info *crnic_txq_info(struct crnic_txq *q, u16 pc)
{
	return &q->info[pc & (BIT(q->log_size) - 1)];
}

static bool crnic_txq_has_room(const struct crnic_txq *q, u16 num_bb)
{
	return (u16)(q->pc - READ_ONCE(q->cc)) + num_bb <= BIT(q->log_size);
}

/* --- DMA mappings: a FIFO beside the ring --- */

static void crnic_tx_dma_push(struct crnic_txq *q, dma_addr_t addr, u32 len, bool page)
{
	q->dma[q->dma_pc++ & q->dma_mask] = (struct crnic_tx_dma) { addr, len, page };
}

static void crnic_tx_dma_unmap(struct device *dev, const struct crnic_tx_dma *d)
{
	if (d->page)
		dma_unmap_page(dev, d->addr, d->len, DMA_TO_DEVICE);
	else
		dma_unmap_single(dev, d->addr, d->len, DMA_TO_DEVICE);
}

/* Undo the newest @num mappings */
static void crnic_tx_dma_unwind(struct crnic_txq *q, struct device *dev, u8 num)
{
	while (num--)
		crnic_tx_dma_unmap(dev, &q->dma[--q->dma_pc & q->dma_mask]);
}

static void crnic_tx_set_data(struct mlx5_wqe_data_seg *seg, dma_addr_t addr, u32 len, u32 lkey)
{
	seg->byte_count = cpu_to_be32(len);
	seg->lkey = cpu_to_be32(lkey);
	seg->addr = cpu_to_be64(addr);
}

/*
 * Map the packet behind its first @skip bytes into data segments.
 * Return: mappings made, or -ENOMEM with none left.
 */
static int crnic_tx_map(struct crnic_channel *ch, const struct sk_buff *skb, u16 skip,
			struct mlx5_wqe_data_seg *seg)
{
	struct device *dev = ch->net->dev->device;
	struct crnic_txq *q = &ch->tx;
	u32 len = skb_headlen(skb) - skip;
	dma_addr_t addr;
	int i, num = 0;

	if (len) {
		addr = dma_map_single(dev, skb->data + skip, len, DMA_TO_DEVICE);
		if (dma_mapping_error(dev, addr))
			return -ENOMEM;
		crnic_tx_dma_push(q, addr, len, false);
		crnic_tx_set_data(seg++, addr, len, ch->net->lkey);
		num++;
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		len = skb_frag_size(frag);
		addr = skb_frag_dma_map(dev, frag, 0, len, DMA_TO_DEVICE);
		if (dma_mapping_error(dev, addr)) {
			crnic_tx_dma_unwind(q, dev, num);
			return -ENOMEM;
		}
		crnic_tx_dma_push(q, addr, len, true);
		crnic_tx_set_data(seg++, addr, len, ch->net->lkey);
		num++;
	}
	return num;
}

/* --- posting --- */

static void crnic_tx_set_ctrl(struct crnic_txq *q, struct mlx5_wqe_ctrl_seg *ctrl, u8 opcode, u8 ds)
{
	ctrl->opmod_idx_opcode = cpu_to_be32((u32)q->pc << MLX5_WQE_CTRL_WQE_INDEX_SHIFT | opcode);
	ctrl->qpn_ds = cpu_to_be32(q->sqn << MLX5_WQE_CTRL_QPN_SHIFT | ds);
}

/* A WQE is linear in the ring: fill up to the ring's end when it would not be */
static void crnic_tx_pad(struct crnic_txq *q, u8 num_bb)
{
	u16 left = BIT(q->log_size) - (q->pc & (BIT(q->log_size) - 1));
	struct mlx5_wqe_ctrl_seg *ctrl;

	if (left >= num_bb)
		return;
	while (left--) {
		ctrl = crnic_txq_bb(q, q->pc);
		memset(ctrl, 0, CRNIC_WQE_BB);
		crnic_tx_set_ctrl(q, ctrl, MLX5_OPCODE_NOP, sizeof(*ctrl) / 16);
		*crnic_txq_info(q, q->pc) = (struct crnic_tx_info) { .num_bb = 1 };
		q->last = q->pc++;
	}
}

/* Ring for all WQEs not yet rung for; the newest one asks for the CQE of all */
static void crnic_tx_ring(struct crnic_channel *ch)
{
	struct crnic_txq *q = &ch->tx;
	struct mlx5_wqe_ctrl_seg *ctrl = crnic_txq_bb(q, q->last);

	if (q->rung == q->pc)
		return;
	ctrl->fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE;
	crnic_sq_ring(&ch->net->dev->uar, &q->dbr.db[MLX5_SND_DBR], q->pc, ctrl);
	q->rung = q->pc;
}

static void crnic_tx_drop(struct crnic_txq *q, struct sk_buff *skb)
{
	u64_stats_update_begin(&q->stats->sync);
	u64_stats_inc(&q->stats->drops);
	u64_stats_update_end(&q->stats->sync);
	dev_kfree_skb_any(skb);
}

static int crnic_tx_post(struct crnic_channel *ch, struct sk_buff *skb,
			 const struct crnic_tx_plan *plan)
{
	u16 ihs = plan->inline_len + (plan->insert_vlan ? VLAN_HLEN : 0);
	struct crnic_txq *q = &ch->tx;
	struct crnic_tx_wqe *wqe;
	void *seg;
	int num;

	crnic_tx_pad(q, plan->num_bb);
	wqe = crnic_txq_bb(q, q->pc);
	memset(wqe, 0, sizeof(*wqe));
	crnic_tx_fill_eth(&wqe->eth, skb, plan);
	seg = wqe + 1;
	if (ihs > sizeof(wqe->eth.inline_hdr.start))
		seg += ALIGN(ihs - sizeof(wqe->eth.inline_hdr.start), 16);
	num = crnic_tx_map(ch, skb, plan->inline_len, seg);
	if (num < 0)
		return num;
	crnic_tx_set_ctrl(q, &wqe->ctrl, plan->opcode, plan->num_ds);
	*crnic_txq_info(q, q->pc) = (struct crnic_tx_info) {
		.skb = skb,
		.num_bb = plan->num_bb,
		.num_dma = num,
		.bytes = plan->wire_bytes,
	};
	q->last = q->pc;
	q->pc += plan->num_bb;
	return 0;
}

static void crnic_tx_count(struct crnic_txq *q, const struct crnic_tx_plan *plan)
{
	u64_stats_update_begin(&q->stats->sync);
	u64_stats_add(&q->stats->packets, plan->segs);
	u64_stats_add(&q->stats->bytes, plan->wire_bytes);
	u64_stats_update_end(&q->stats->sync);
}

static void crnic_tx_stop_if_full(struct crnic_txq *q)
{
	if (crnic_txq_has_room(q, CRNIC_TX_STOP_ROOM))
		return;
	netif_tx_stop_queue(q->nq);
	/* the stop is visible before cc is read again; pairs with crnic_tx_wake() */
	smp_mb();
	if (crnic_txq_has_room(q, CRNIC_TX_STOP_ROOM))
		netif_tx_start_queue(q->nq);
}

/**
 * crnic_net_xmit - ndo_start_xmit
 * @skb: packet
 * @netdev: netdev
 *
 * Context: BH, under the queue's transmit lock.
 *
 * Return: NETDEV_TX_OK; a packet that cannot be sent is dropped and counted.
 */
netdev_tx_t crnic_net_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct crnic_net *net = to_cnet(netdev);
	struct crnic_channel *ch = net->channels[skb_get_queue_mapping(skb)];
	struct crnic_txq *q = &ch->tx;
	struct crnic_tx_plan plan;

	if (crnic_tx_plan(skb, net->vport.min_inline, &plan)) {
		if (skb_linearize(skb) || crnic_tx_plan(skb, net->vport.min_inline, &plan))
			goto drop;
	}
	if (crnic_tx_post(ch, skb, &plan))
		goto drop;
	crnic_tx_count(q, &plan);
	skb_tx_timestamp(skb);
	crnic_tx_stop_if_full(q);
	if (__netdev_tx_sent_queue(q->nq, plan.wire_bytes, netdev_xmit_more()))
		crnic_tx_ring(ch);
	return NETDEV_TX_OK;

drop:
	crnic_tx_drop(q, skb);
	/* earlier packets may have counted on this one's doorbell */
	if (!netdev_xmit_more())
		crnic_tx_ring(ch);
	return NETDEV_TX_OK;
}

/* --- completion --- */

static void crnic_tx_free(struct crnic_channel *ch, struct crnic_tx_info *info, int budget)
{
	struct device *dev = ch->net->dev->device;
	struct crnic_txq *q = &ch->tx;
	unsigned int i;

	for (i = 0; i < info->num_dma; i++)
		crnic_tx_dma_unmap(dev, &q->dma[q->dma_cc++ & q->dma_mask]);
	if (info->skb)
		napi_consume_skb(info->skb, budget);
	info->skb = NULL;
}

/* Finish every WQE up to the one that starts at block @last */
static void crnic_tx_finish(struct crnic_channel *ch, u16 last, int budget,
			    unsigned int *packets, unsigned int *bytes)
{
	struct crnic_txq *q = &ch->tx;
	struct crnic_tx_info *info;
	u16 cc = q->cc;
	bool end;

	do {
		info = crnic_txq_info(q, cc);
		end = cc == last;
		if (info->skb) {
			(*packets)++;
			*bytes += info->bytes;
		}
		crnic_tx_free(ch, info, budget);
		cc += info->num_bb;
	} while (!end && cc != q->pc);
	WRITE_ONCE(q->cc, cc);
}

static void crnic_tx_error(struct crnic_channel *ch, const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;
	struct crnic_net *net = ch->net;

	u64_stats_update_begin(&ch->tx.stats->sync);
	u64_stats_inc(&ch->tx.stats->errors);
	u64_stats_update_end(&ch->tx.stats->sync);
	if (ch->tx.failed)
		return;
	ch->tx.failed = true;
	netdev_err(net->netdev, "send queue %u failed, syndrome 0x%x vendor 0x%x\n",
		   ch->tx.sqn, err->syndrome, err->vendor_err_synd);
	crnic_net_recover(net);
}

static void crnic_tx_wake(struct crnic_txq *q)
{
	/* cc is visible before the stop is looked at; pairs with crnic_tx_stop_if_full() */
	smp_mb();
	if (netif_tx_queue_stopped(q->nq) && crnic_txq_has_room(q, CRNIC_TX_STOP_ROOM) &&
	    !q->failed)
		netif_tx_wake_queue(q->nq);
}

/**
 * crnic_txq_poll - take completed packets off a send ring
 * @ch: channel
 * @budget: NAPI budget, 0 from netpoll
 *
 * Context: NAPI.
 *
 * Return: true if there may be more.
 */
bool crnic_txq_poll(struct crnic_channel *ch, int budget)
{
	unsigned int packets = 0, bytes = 0, limit = 256;
	struct crnic_txq *q = &ch->tx;
	struct mlx5_cqe64 *cqe;

	while (limit && (cqe = crnic_net_cq_next(&q->cq))) {
		limit--;
		if (unlikely(get_cqe_opcode(cqe) != MLX5_CQE_REQ)) {
			crnic_tx_error(ch, cqe);
			continue;
		}
		/* a wrong counter from the device must not walk past what was posted */
		if ((u16)(be16_to_cpu(cqe->wqe_counter) - q->cc) < (u16)(q->pc - q->cc))
			crnic_tx_finish(ch, be16_to_cpu(cqe->wqe_counter), budget, &packets,
					&bytes);
	}
	if (limit == 256)
		return false;
	crnic_net_cq_give_back(&q->cq);
	netdev_tx_completed_queue(q->nq, packets, bytes);
	crnic_tx_wake(q);
	return !limit;
}

/* --- life --- */

static int crnic_txq_alloc(struct crnic_net *net, struct crnic_txq *q)
{
	int node = net->dev->numa_node;
	u32 num_dma;
	int err;

	/* a basic block holds at most four data segments */
	num_dma = BIT(q->log_size + 2);
	q->dma_mask = num_dma - 1;
	q->info = kvcalloc_node(BIT(q->log_size), sizeof(*q->info), GFP_KERNEL, node);
	q->dma = kvcalloc_node(num_dma, sizeof(*q->dma), GFP_KERNEL, node);
	err = -ENOMEM;
	if (!q->info || !q->dma)
		goto free;
	err = crnic_buf_alloc(net->dev, (size_t)CRNIC_WQE_BB << q->log_size, &q->buf);
	if (err)
		goto free;
	err = crnic_dbr_alloc(net->dev, &q->dbr);
	if (err)
		goto free_buf;
	return 0;

free_buf:
	crnic_buf_free(net->dev, &q->buf);
free:
	kvfree(q->dma);
	kvfree(q->info);
	return err;
}

static void crnic_txq_free(struct crnic_net *net, struct crnic_txq *q)
{
	crnic_dbr_free(net->dev, &q->dbr);
	crnic_buf_free(net->dev, &q->buf);
	kvfree(q->dma);
	kvfree(q->info);
}

static int crnic_txq_create_sq(struct crnic_net *net, struct crnic_txq *q)
{
	struct crnic_dev *dev = net->dev;
	struct crnic_sq_params p = {
		.wq = {
			.pas = crnic_pas_of_buf(&q->buf),
			.dbr = q->dbr.dma,
			.pdn = dev->pdn,
			.uar = dev->uar.index,
			.log_size = q->log_size,
			.log_stride = CRNIC_WQE_BB_SHIFT,
		},
		.cqn = q->cq.core.cqn,
		.tisn = net->tisn,
		.inline_mode = net->vport.min_inline,
		.flush_in_error = true,
	};
	int err;

	err = crnic_sq_create(dev, &p, &q->sqn);
	if (err)
		return err;
	q->state = CRNIC_RING_ALL;
	return crnic_sq_modify(dev, q->sqn, MLX5_SQC_STATE_RST, MLX5_SQC_STATE_RDY);
}

static void crnic_txq_event(struct crnic_rsc *rsc, u8 event)
{
	struct crnic_channel *ch = container_of(rsc, struct crnic_channel, tx.rsc);

	netdev_err(ch->net->netdev, "send queue %u failed, event 0x%x\n", rsc->num, event);
	crnic_net_recover(ch->net);
}

static int crnic_txq_listen(struct crnic_channel *ch)
{
	struct crnic_txq *q = &ch->tx;

	q->rsc = (struct crnic_rsc) {
		.event = crnic_txq_event,
		.type = CRNIC_RSC_SQ,
		.num = q->sqn,
	};
	return crnic_rsc_add(ch->net->dev, &q->rsc);
}

/**
 * crnic_txq_open - create a channel's send ring
 * @ch: channel
 *
 * Context: process.
 *
 * Return: 0 or a negative errno; crnic_txq_close() is due in both cases.
 */
int crnic_txq_open(struct crnic_channel *ch)
{
	struct crnic_net *net = ch->net;
	struct crnic_txq *q = &ch->tx;
	int err;

	q->stats = &net->tx_stats[ch->index];
	q->log_size = net->log_tx;
	q->nq = netdev_get_tx_queue(net->netdev, ch->index);
	err = crnic_txq_alloc(net, q);
	if (err)
		return err;
	err = crnic_net_cq_open(ch, &q->cq, q->log_size);
	if (err)
		goto free;
	q->state = CRNIC_RING_CQ_LEFT;
	err = crnic_txq_create_sq(net, q);
	if (err)
		return err;
	netdev_tx_reset_queue(q->nq);
	return crnic_txq_listen(ch);

free:
	crnic_txq_free(net, q);
	return err;
}

/* The device reads neither the ring nor a packet any more */
static void crnic_txq_free_packets(struct crnic_channel *ch)
{
	struct crnic_txq *q = &ch->tx;
	struct crnic_tx_info *info;

	while (q->cc != q->pc) {
		info = crnic_txq_info(q, q->cc);
		crnic_tx_free(ch, info, 0);
		q->cc += info->num_bb;
	}
}

/**
 * crnic_txq_close - destroy a channel's send ring, with the packets it holds
 * @ch: channel, NAPI disabled, its queue stopped
 *
 * Context: process.
 *
 * Return: 0, or a negative errno; what the device may still reach is left, and the
 * next call goes on from there.
 */
int crnic_txq_close(struct crnic_channel *ch)
{
	struct crnic_net *net = ch->net;
	struct crnic_txq *q = &ch->tx;
	int err;

	if (q->state == CRNIC_RING_ALL) {
		crnic_rsc_del(net->dev, &q->rsc);
		err = crnic_sq_destroy(net->dev, q->sqn);
		if (err)
			return err;
		crnic_txq_free_packets(ch);
		q->state = CRNIC_RING_CQ_LEFT;
	}
	if (q->state == CRNIC_RING_CQ_LEFT) {
		err = crnic_net_cq_close(net, &q->cq);
		if (err)
			return err;
		crnic_txq_free(net, q);
		q->state = CRNIC_RING_NONE;
	}
	return 0;
}

/**
 * crnic_txq_orphan - let nobody wait for the packets of a ring that is kept
 * @ch: channel whose send ring could not be destroyed
 *
 * The device may still read their bytes, but sockets and routes need not stay.
 *
 * Context: process.
 */
void crnic_txq_orphan(struct crnic_channel *ch)
{
	struct crnic_txq *q = &ch->tx;
	struct crnic_tx_info *info;
	u16 cc;

	for (cc = q->cc; cc != q->pc; cc += info->num_bb) {
		info = crnic_txq_info(q, cc);
		if (!info->skb)
			continue;
		skb_orphan(info->skb);
		skb_dst_drop(info->skb);
		nf_reset_ct(info->skb);
	}
}
