/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_NET_FIXTURE_H
#define CRNIC_NET_FIXTURE_H

/*
 * A netdev on a device without hardware.  It is registered, opened and closed as
 * any other; what the device would do to its rings is up to the test.
 */
#include "../drivers/infiniband/hw/crnic/net/net.h"
#include "fake_fw.h"

/* Most channels that it can have */
#define NET_FIXTURE_CHANNELS	2

/**
 * struct net_fixture - a netdev and what is around it
 * @fw: firmware; its hook is the fixture's
 * @dev: device
 * @net: the netdev's own state
 * @netdev: the netdev
 * @link: what the port says of its link
 * @recoveries: times that a recovery was asked for; none is made
 * @hook: as in struct fake_fw, asked before the fixture's own; or NULL
 * @priv: for the test
 */
struct net_fixture {
	struct fake_fw *fw;
	struct crnic_dev *dev;
	struct crnic_net *net;
	struct net_device *netdev;
	bool link;
	unsigned int recoveries;
	int (*hook)(struct net_fixture *f, u16 opcode, const void *in, void *out);
	void *priv;
};

struct net_fixture *net_fixture_prepare(struct kunit *test);
void net_fixture_add(struct kunit *test, struct net_fixture *f);
struct net_fixture *net_fixture_create(struct kunit *test);
int net_fixture_open(struct net_fixture *f);
void net_fixture_close(struct net_fixture *f);
void net_fixture_settle(struct net_fixture *f);
void net_fixture_poll(struct crnic_channel *ch);
struct mlx5_cqe64 *net_fixture_cqe(struct crnic_net_cq *cq, unsigned int nth, u8 opcode);

#endif /* CRNIC_NET_FIXTURE_H */
