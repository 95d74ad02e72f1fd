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
	if (err)
		goto del_napi;
	err = crnic_rxq_open(ch);
	if (err)
		goto close_tx;
	return ch;

close_tx:
	crnic_txq_close(ch);
del_napi:
	netif_napi_del(&ch->napi);
	kfree(ch);
	return ERR_PTR(err);
}

static void crnic_channel_close(struct crnic_channel *ch)
{
	crnic_rxq_close(ch);
	crnic_txq_close(ch);
	netif_napi_del(&ch->napi);
	kfree(ch);
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
		crnic_channel_close(net->channels[i]);
	kfree(net->channels);
	net->channels = NULL;
	return PTR_ERR(ch);
}

/**
 * crnic_channels_close - stop polling and destroy all rings
 * @net: netdev; its transmit queues are stopped and no TIR leads to its RQs
 *
 * Context: process, RTNL held.
 */
void crnic_channels_close(struct crnic_net *net)
{
	unsigned int i;

	for (i = 0; i < net->num_channels; i++)
		napi_disable(&net->channels[i]->napi);
	for (i = 0; i < net->num_channels; i++)
		crnic_channel_close(net->channels[i]);
	kfree(net->channels);
	net->channels = NULL;
}
