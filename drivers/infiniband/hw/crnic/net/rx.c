// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive rings. */
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>

#include <crnic/obj/rq.h>
#include <crnic/wqe.h>

#include "../compat/compat.h"
#include "../compat/mm.h"
#include "../compat/page_pool.h"
#include "net.h"

/* WQEs are posted this many at a time, so that the doorbell record is not touched for each */
#define CRNIC_RX_BATCH	16

static u16 crnic_rxq_mask(const struct crnic_rxq *q)
{
	return BIT(q->log_size) - 1;
}

static struct page **crnic_rxq_pages(const struct crnic_rxq *q, u16 index)
{
	return &q->pages[(index & crnic_rxq_mask(q)) * q->frags];
}

/* --- filling --- */

/**
 * crnic_rx_sync_page - give a page that the CPU has read back to the device
 * @q: receive ring
 * @page: one of its pages; the page pool syncs those that come from it
 *
 * Context: NAPI.
 */
void crnic_rx_sync_page(struct crnic_rxq *q, struct page *page)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_rx_sync_page, q, page);

	dma_sync_single_for_device(q->pool->p.dev, page_pool_get_dma_addr(page), PAGE_SIZE,
				   q->pool->p.dma_dir);
}

static bool crnic_rx_fill_wqe(struct crnic_rxq *q, u16 index)
{
	struct mlx5_wqe_data_seg *seg = q->buf.addr +
		((index & crnic_rxq_mask(q)) << q->log_stride);
	struct page **pages = crnic_rxq_pages(q, index);
	unsigned int i;

	for (i = 0; i < q->frags; i++) {
		/* a packet that was copied or dropped left its pages behind */
		if (pages[i])
			crnic_rx_sync_page(q, pages[i]);
		else
			pages[i] = page_pool_dev_alloc_pages(q->pool);
		if (!pages[i])
			return false;
		seg[i].addr = cpu_to_be64(page_pool_get_dma_addr(pages[i]));
	}
	return true;
}

/**
 * crnic_rxq_fill - post pages until the ring is full
 * @ch: channel
 *
 * Context: NAPI.
 *
 * Return: false if pages ran out with less than half of the ring filled.
 */
bool crnic_rxq_fill(struct crnic_channel *ch)
{
	struct crnic_rxq *q = &ch->rx;
	u16 room = BIT(q->log_size) - (u16)(q->pc - q->cc);
	u16 done = 0;

	if (room < CRNIC_RX_BATCH)
		return true;
	while (done < room && crnic_rx_fill_wqe(q, q->pc + done))
		done++;
	if (done) {
		q->pc += done;
		crnic_rq_ring(&q->dbr.db[MLX5_RCV_DBR], q->pc);
	}
	return (u16)(q->pc - q->cc) >= BIT(q->log_size) / 2;
}

/* --- receiving --- */

static void crnic_rx_set_csum(const struct crnic_net *net, const struct mlx5_cqe64 *cqe,
			      struct sk_buff *skb)
{
	const u8 ok = CQE_L3_OK | CQE_L4_OK;

	if ((net->netdev->features & NETIF_F_RXCSUM) && (cqe->hds_ip_ext & ok) == ok)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
}

static void crnic_rx_set_hash(const struct crnic_net *net, const struct mlx5_cqe64 *cqe,
			      struct sk_buff *skb)
{
	u8 type = cqe->rss_hash_type;

	if (!(net->netdev->features & NETIF_F_RXHASH) || !type)
		return;
	skb_set_hash(skb, be32_to_cpu(cqe->rss_hash_result),
		     type & CQE_RSS_HTYPE_L4 ? PKT_HASH_TYPE_L4 : PKT_HASH_TYPE_L3);
}

static void crnic_rx_set_meta(struct crnic_channel *ch, struct mlx5_cqe64 *cqe,
			      struct sk_buff *skb)
{
	struct crnic_net *net = ch->net;

	crnic_rx_set_csum(net, cqe, skb);
	crnic_rx_set_hash(net, cqe, skb);
	if (cqe_has_vlan(cqe))
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), be16_to_cpu(cqe->vlan_info));
	skb_record_rx_queue(skb, ch->index);
	skb->protocol = eth_type_trans(skb, net->netdev);
}

/* Hand the pages that hold bytes behind the copied headers to the skb */
static void crnic_rx_add_pages(struct crnic_rxq *q, struct sk_buff *skb, struct page **pages,
			       u32 copied, u32 len)
{
	u32 off = copied, chunk;

	for (; len > copied && copied < len; pages++, off = 0) {
		chunk = min_t(u32, len - copied, PAGE_SIZE - off);
		if (off == 0)
			page_pool_dma_sync_for_cpu(q->pool, *pages, 0, chunk);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, *pages, off, chunk, PAGE_SIZE);
		*pages = NULL;
		copied += chunk;
	}
}

static struct sk_buff *crnic_rx_build(struct crnic_channel *ch, u16 index, u32 len)
{
	struct crnic_rxq *q = &ch->rx;
	struct page **pages = crnic_rxq_pages(q, index);
	u32 first = min_t(u32, len, PAGE_SIZE), copy = len;
	struct sk_buff *skb;
	void *data;

	page_pool_dma_sync_for_cpu(q->pool, pages[0], 0, first);
	data = page_address(pages[0]);
	skb = napi_alloc_skb(&ch->napi, CRNIC_NET_RX_COPY);
	if (unlikely(!skb))
		return NULL;
	if (len > CRNIC_NET_RX_COPY)
		copy = eth_get_headlen(ch->net->netdev, data, CRNIC_NET_RX_COPY);
	skb_put_data(skb, data, copy);
	skb_mark_for_recycle(skb);
	crnic_rx_add_pages(q, skb, pages, copy, len);
	return skb;
}

static void crnic_rx_drop(struct crnic_rxq *q, bool error)
{
	u64_stats_update_begin(&q->stats->sync);
	if (error)
		u64_stats_inc(&q->stats->errors);
	else
		u64_stats_inc(&q->stats->drops);
	u64_stats_update_end(&q->stats->sync);
}

/* With the error CQE the RQ is in error, and nothing more comes from it */
static void crnic_rx_error(struct crnic_channel *ch, const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;
	struct crnic_rxq *q = &ch->rx;

	crnic_rx_drop(q, true);
	if (q->failed)
		return;
	q->failed = true;
	netdev_err(ch->net->netdev, "receive queue %u failed, syndrome 0x%x vendor 0x%x\n",
		   q->rqn, err->syndrome, err->vendor_err_synd);
	crnic_net_recover(ch->net);
}

static void crnic_rx_one(struct crnic_channel *ch, struct mlx5_cqe64 *cqe)
{
	struct crnic_rxq *q = &ch->rx;
	u32 len = be32_to_cpu(cqe->byte_cnt);
	struct sk_buff *skb;

	/* cyclic RQ: WQEs complete in order, whatever the device's counter says */
	if (unlikely(get_cqe_opcode(cqe) != MLX5_CQE_RESP_SEND)) {
		crnic_rx_error(ch, cqe);
		return;
	}
	if (unlikely(len < ETH_HLEN || len > q->frags * PAGE_SIZE)) {
		crnic_rx_drop(q, true);
		return;
	}
	skb = crnic_rx_build(ch, q->cc, len);
	if (unlikely(!skb)) {
		crnic_rx_drop(q, false);
		return;
	}
	u64_stats_update_begin(&q->stats->sync);
	u64_stats_inc(&q->stats->packets);
	u64_stats_add(&q->stats->bytes, len);
	u64_stats_update_end(&q->stats->sync);
	crnic_rx_set_meta(ch, cqe, skb);
	napi_gro_receive(&ch->napi, skb);
}

/**
 * crnic_rxq_poll - take received packets off a ring
 * @ch: channel
 * @budget: most packets to take
 *
 * Context: NAPI.
 *
 * Return: packets taken.
 */
int crnic_rxq_poll(struct crnic_channel *ch, int budget)
{
	struct crnic_rxq *q = &ch->rx;
	struct mlx5_cqe64 *cqe;
	int work = 0;

	while (work < budget && q->cc != q->pc && (cqe = crnic_net_cq_next(&q->cq))) {
		crnic_rx_one(ch, cqe);
		q->cc++;
		work++;
	}
	if (work)
		crnic_net_cq_give_back(&q->cq);
	return work;
}

/* --- life --- */

/* Everything of a WQE that never changes: lengths, key, and the end of a short list */
static void crnic_rxq_preset(struct crnic_net *net, struct crnic_rxq *q)
{
	unsigned int slots = BIT(q->log_stride) / sizeof(struct mlx5_wqe_data_seg);
	struct mlx5_wqe_data_seg *seg = q->buf.addr;
	unsigned int i, j;

	for (i = 0; i < BIT(q->log_size); i++, seg += slots) {
		for (j = 0; j < q->frags; j++) {
			seg[j].byte_count = cpu_to_be32(PAGE_SIZE);
			seg[j].lkey = cpu_to_be32(net->lkey);
		}
		if (q->frags < slots)
			seg[q->frags].lkey = net->dev->terminate_lkey;
	}
}

static int crnic_rxq_pool_create(struct crnic_channel *ch)
{
	struct crnic_net *net = ch->net;
	struct page_pool_params p = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.pool_size = ch->rx.frags << ch->rx.log_size,
		.nid = net->dev->numa_node,
		.dev = net->dev->device,
		.dma_dir = DMA_FROM_DEVICE,
		.max_len = PAGE_SIZE,
	};

	crnic_pool_set_user(&p, &ch->napi, net->netdev);
	ch->rx.pool = page_pool_create(&p);
	return PTR_ERR_OR_ZERO(ch->rx.pool);
}

static int crnic_rxq_alloc(struct crnic_channel *ch)
{
	struct crnic_dev *dev = ch->net->dev;
	struct crnic_rxq *q = &ch->rx;
	int err;

	q->pages = kvcalloc_node((size_t)q->frags << q->log_size, sizeof(*q->pages), GFP_KERNEL,
				 dev->numa_node);
	if (!q->pages)
		return -ENOMEM;
	err = crnic_rxq_pool_create(ch);
	if (err)
		goto free_pages;
	err = crnic_buf_alloc(dev, BIT(q->log_size + q->log_stride), &q->buf);
	if (err)
		goto destroy_pool;
	err = crnic_dbr_alloc(dev, &q->dbr);
	if (err)
		goto free_buf;
	crnic_rxq_preset(ch->net, q);
	return 0;

free_buf:
	crnic_buf_free(dev, &q->buf);
destroy_pool:
	page_pool_destroy(q->pool);
free_pages:
	kvfree(q->pages);
	return err;
}

static void crnic_rxq_free(struct crnic_channel *ch)
{
	struct crnic_dev *dev = ch->net->dev;
	struct crnic_rxq *q = &ch->rx;
	unsigned int i;

	for (i = 0; i < q->frags << q->log_size; i++) {
		if (q->pages[i])
			page_pool_put_full_page(q->pool, q->pages[i], false);
	}
	crnic_dbr_free(dev, &q->dbr);
	crnic_buf_free(dev, &q->buf);
	page_pool_destroy(q->pool);
	kvfree(q->pages);
}

static int crnic_rxq_create_rq(struct crnic_net *net, struct crnic_rxq *q)
{
	struct crnic_dev *dev = net->dev;
	struct crnic_rq_params p = {
		.wq = {
			.pas = crnic_pas_of_buf(&q->buf),
			.dbr = q->dbr.dma,
			.pdn = dev->pdn,
			.uar = dev->uar.index,
			.log_size = q->log_size,
			.log_stride = q->log_stride,
		},
		.cqn = q->cq.core.cqn,
		.counter_set = net->q_counter,
		.keep_vlan = !(net->netdev->features & NETIF_F_HW_VLAN_CTAG_RX),
	};
	int err;

	err = crnic_rq_create(dev, &p, &q->rqn);
	if (err)
		return err;
	q->state = CRNIC_RING_ALL;
	return crnic_rq_modify(dev, q->rqn, MLX5_RQC_STATE_RST, MLX5_RQC_STATE_RDY);
}

static void crnic_rxq_event(struct crnic_rsc *rsc, u8 event)
{
	struct crnic_channel *ch = container_of(rsc, struct crnic_channel, rx.rsc);

	netdev_err(ch->net->netdev, "receive queue %u failed, event 0x%x\n", rsc->num, event);
	crnic_net_recover(ch->net);
}

static int crnic_rxq_listen(struct crnic_channel *ch)
{
	struct crnic_rxq *q = &ch->rx;

	q->rsc = (struct crnic_rsc) {
		.event = crnic_rxq_event,
		.type = CRNIC_RSC_RQ,
		.num = q->rqn,
	};
	return crnic_rsc_add(ch->net->dev, &q->rsc);
}

/**
 * crnic_rxq_open - create a channel's receive ring; the first poll fills it
 * @ch: channel
 *
 * Context: process.
 *
 * Return: 0 or a negative errno; crnic_rxq_close() is due in both cases.
 */
int crnic_rxq_open(struct crnic_channel *ch)
{
	struct crnic_net *net = ch->net;
	struct crnic_rxq *q = &ch->rx;
	int err;

	q->stats = &net->rx_stats[ch->index];
	q->log_size = net->log_rx;
	q->frags = DIV_ROUND_UP(net->netdev->mtu + VLAN_ETH_HLEN, PAGE_SIZE);
	q->log_stride = ilog2(sizeof(struct mlx5_wqe_data_seg)) + order_base_2(q->frags);
	err = crnic_rxq_alloc(ch);
	if (err)
		return err;
	err = crnic_net_cq_open(ch, &q->cq, q->log_size);
	if (err)
		goto free;
	q->state = CRNIC_RING_CQ_LEFT;
	err = crnic_rxq_create_rq(net, q);
	if (err)
		return err;
	return crnic_rxq_listen(ch);

free:
	crnic_rxq_free(ch);
	return err;
}

/**
 * crnic_rxq_close - destroy a channel's receive ring
 * @ch: channel, NAPI disabled; no TIR leads to its RQ
 *
 * Context: process.
 *
 * Return: 0, or a negative errno; what the device may still reach is left, and the
 * next call goes on from there.
 */
int crnic_rxq_close(struct crnic_channel *ch)
{
	struct crnic_net *net = ch->net;
	struct crnic_rxq *q = &ch->rx;
	int err;

	if (q->state == CRNIC_RING_ALL) {
		crnic_rsc_del(net->dev, &q->rsc);
		err = crnic_rq_destroy(net->dev, q->rqn);
		if (err)
			return err;
		q->state = CRNIC_RING_CQ_LEFT;
	}
	if (q->state == CRNIC_RING_CQ_LEFT) {
		err = crnic_net_cq_close(net, &q->cq);
		if (err)
			return err;
		crnic_rxq_free(ch);
		q->state = CRNIC_RING_NONE;
	}
	return 0;
}
