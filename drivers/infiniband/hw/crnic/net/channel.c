// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Channels: a vector, its NAPI context, and the two rings that it polls. */
#include <crnic/event.h>

#include "../compat/net.h"
#include "net.h"

static int crnic_channel_poll(struct napi_struct *napi, int budget)
{
	struct crnic_channel *ch = container_of(napi, struct crnic_channel, napi);
	bool busy = crnic_txq_poll(ch, budget);
	int work;

	/* netpoll, with who knows which lock held: packets come and pages go another time */
	if (!budget)
		return 0;
	work = crnic_rxq_poll(ch, budget);
	/* no page: try again from the next poll rather than starve the ring */
	busy |= !crnic_rxq_fill(ch);
	if (busy || work == budget)
		return budget;
	if (napi_complete_done(napi, work)) {
		crnic_cq_arm(&ch->tx.cq.core, CRNIC_CQ_ARM_ANY, ch->tx.cq.ci);
		crnic_cq_arm(&ch->rx.cq.core, CRNIC_CQ_ARM_ANY, ch->rx.cq.ci);
	}
	return work;
}

/*
 * What the device refuses to give up it may still write to.  That stays, and so
 * does the channel, whose NAPI context the page pool knows.
 */
static void crnic_channel_close(struct crnic_channel *ch, bool led_to)
{
	int rx = led_to ? -EBUSY : crnic_rxq_close(ch);
	int tx = crnic_txq_close(ch);

	netif_napi_del(&ch->napi);
	if (!rx && !tx) {
		kfree(ch);
		return;
	}
	netdev_err(ch->net->netdev, "rings of channel %u stay with the device: %d, %d\n",
		   ch->index, rx, tx);
	if (tx)
		crnic_txq_orphan(ch);
	list_add_tail(&ch->kept, &ch->net->kept);
}

static struct crnic_channel *crnic_channel_open(struct crnic_net *net, unsigned int index)
{
	struct crnic_channel *ch;
	int err;

	ch = kzalloc_node(sizeof(*ch), GFP_KERNEL, net->dev->numa_node);
	if (!ch)
		return ERR_PTR(-ENOMEM);
	ch->net = net;
	ch->index = index;
	netif_napi_add(net->netdev, &ch->napi, crnic_channel_poll);
	netif_napi_set_irq(&ch->napi, crnic_comp_irqn(net->dev, index));
	err = crnic_txq_open(ch);
	if (!err)
		err = crnic_rxq_open(ch);
	if (err) {
		crnic_channel_close(ch, false);
		return ERR_PTR(err);
	}
	return ch;
}

static void crnic_channel_start(struct crnic_channel *ch)
{
	napi_enable(&ch->napi);
	/* the first poll fills the receive ring and arms both CQs */
	local_bh_disable();
	napi_schedule(&ch->napi);
	local_bh_enable();
}

/**
 * crnic_channels_open - create all rings and start to poll them
 * @net: netdev, with num_channels and ring sizes set
 *
 * Context: process, RTNL held.
 *
 * Return: 0 or a negative errno, with nothing left behind.
 */
int crnic_channels_open(struct crnic_net *net)
{
	struct crnic_channel *ch;
	unsigned int i;

	net->channels = kcalloc(net->num_channels, sizeof(*net->channels), GFP_KERNEL);
	if (!net->channels)
		return -ENOMEM;
	for (i = 0; i < net->num_channels; i++) {
		ch = crnic_channel_open(net, i);
		if (IS_ERR(ch))
			goto close;
		net->channels[i] = ch;
	}
	for (i = 0; i < net->num_channels; i++)
		crnic_channel_start(net->channels[i]);
	return 0;

close:
	while (i--)
		crnic_channel_close(net->channels[i], false);
	kfree(net->channels);
	net->channels = NULL;
	return PTR_ERR(ch);
}

/**
 * crnic_channels_close - stop polling and destroy all rings
 * @net: netdev; its transmit queues are stopped
 * @led_to: TIRs still lead to its RQs, since the device would not have it otherwise
 *
 * Context: process, RTNL held.  What cannot be destroyed is kept.
 */
void crnic_channels_close(struct crnic_net *net, bool led_to)
{
	unsigned int i;

	for (i = 0; i < net->num_channels; i++)
		napi_disable(&net->channels[i]->napi);
	for (i = 0; i < net->num_channels; i++)
		crnic_channel_close(net->channels[i], led_to);
	kfree(net->channels);
	net->channels = NULL;
}

/** crnic_kept_init - nothing is kept so far */
int crnic_kept_init(struct crnic_net *net)
{
	INIT_LIST_HEAD(&net->kept);
	return 0;
}

/**
 * crnic_kept_close - try once more to destroy what was kept
 * @net: netdev, unregistered; it has no TIRs any more
 *
 * Context: process.  What the device still refuses is lost.
 */
void crnic_kept_close(struct crnic_net *net)
{
	struct crnic_channel *ch, *next;

	list_for_each_entry_safe(ch, next, &net->kept, kept) {
		list_del(&ch->kept);
		if (crnic_rxq_close(ch) || crnic_txq_close(ch))
			crnic_err(net->dev, "netdev: memory of channel %u is lost\n", ch->index);
		else
			kfree(ch);
	}
}
