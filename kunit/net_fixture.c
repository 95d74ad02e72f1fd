// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The netdev that the suites of the net layer look at. */
#include <kunit/static_stub.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/logic_iomem.h>
#include <linux/rtnetlink.h>
#include <linux/sizes.h>

#include <crnic/event.h>
#include <crnic/wqe.h>

#include "net_fixture.h"

/* Works know nothing of tests; one test runs at a time */
static struct net_fixture *net_fixture_running;

/* --- a doorbell page that nobody reads, in a UML kernel's made-up I/O memory --- */

#define NET_UAR_PHYS	0xd0000000UL

static unsigned long net_uar_read(void *priv, unsigned int offset, int size)
{
	return 0;
}

static void net_uar_write(void *priv, unsigned int offset, int size, unsigned long val)
{
}

static const struct logic_iomem_ops net_uar_ops = {
	.read = net_uar_read,
	.write = net_uar_write,
};

static long net_uar_map(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
			void **priv)
{
	*ops = &net_uar_ops;
	return 0;
}

static const struct logic_iomem_region_ops net_uar_region_ops = { .map = net_uar_map };

static struct resource net_uar_region = {
	.name = "crnic_fake_uar",
	.start = NET_UAR_PHYS,
	.end = NET_UAR_PHYS + SZ_4K - 1,
	.flags = IORESOURCE_MEM,
};

static void net_uar_unmap(void *map)
{
	iounmap((void __iomem __force *)map);
}

static void net_uar_create(struct kunit *test, struct crnic_uar *uar)
{
	/* a region stays for the kernel's life */
	if (!net_uar_region.parent)
		KUNIT_ASSERT_EQ(test, logic_iomem_add_region(&net_uar_region, &net_uar_region_ops),
				0);
	uar->map = ioremap(NET_UAR_PHYS, SZ_4K);
	KUNIT_ASSERT_TRUE(test, uar->map);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, net_uar_unmap,
							(void __force *)uar->map), 0);
}

/* --- the netdev --- */

static int net_fixture_hook(struct fake_fw *fw, u16 opcode, const void *in, void *out)
{
	struct net_fixture *f = fw->hook_priv;
	int status = f->hook ? f->hook(f, opcode, in, out) : FAKE_NOT_MINE;

	if (status != FAKE_NOT_MINE || opcode != MLX5_CMD_OP_QUERY_VPORT_STATE)
		return status;
	MLX5_SET(query_vport_state_out, out, state, f->link);
	return 0;
}

static int net_fixture_eqn(struct crnic_dev *dev, unsigned int vector, u8 *eqn)
{
	*eqn = vector;
	return 0;
}

static unsigned int net_fixture_vectors(const struct crnic_dev *dev)
{
	return NET_FIXTURE_CHANNELS;
}

static int net_fixture_irqn(const struct crnic_dev *dev, unsigned int vector)
{
	return vector;
}

static void net_fixture_recover(struct work_struct *work)
{
	net_fixture_running->recoveries++;
}

static void net_fixture_remove(void *data)
{
	struct net_fixture *f = data;

	crnic_net_remove(f->dev);
	net_fixture_running = NULL;
}

/**
 * net_fixture_add - register the netdev
 * @test: test; the netdev goes at its end
 * @f: from net_fixture_prepare()
 */
void net_fixture_add(struct kunit *test, struct net_fixture *f)
{
	struct crnic_net *net;

	KUNIT_ASSERT_EQ(test, crnic_net_add(f->dev), 0);
	net_fixture_running = f;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, net_fixture_remove, f), 0);
	net = f->dev->net;
	/* these would talk to a firmware that knows its test by the thread */
	disable_work(&net->rx_mode_work);
	INIT_WORK(&net->recover_work, net_fixture_recover);
	f->net = net;
	f->netdev = net->netdev;
}

/**
 * net_fixture_prepare - a device that may get a netdev
 * @test: test
 *
 * Return: the fixture; the port has a link.
 */
struct net_fixture *net_fixture_prepare(struct kunit *test)
{
	struct net_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->fw = fake_fw_with_caps(test);
	f->fw->hook = net_fixture_hook;
	f->fw->hook_priv = f;
	f->dev = f->fw->dev;
	net_uar_create(test, &f->dev->uar);
	f->link = true;
	kunit_activate_static_stub(test, crnic_comp_eqn, net_fixture_eqn);
	kunit_activate_static_stub(test, crnic_comp_vectors, net_fixture_vectors);
	kunit_activate_static_stub(test, crnic_comp_irqn, net_fixture_irqn);
	return f;
}

/**
 * net_fixture_create - a device with a netdev
 * @test: test; the netdev goes at its end
 *
 * Return: the fixture; the port has a link, and the netdev is closed.
 */
struct net_fixture *net_fixture_create(struct kunit *test)
{
	struct net_fixture *f = net_fixture_prepare(test);

	net_fixture_add(test, f);
	return f;
}

/**
 * net_fixture_open - as an administrator does
 * @f: fixture
 *
 * Return: 0 or a negative errno.
 */
int net_fixture_open(struct net_fixture *f)
{
	int err;

	rtnl_lock();
	err = dev_open(f->netdev, NULL);
	rtnl_unlock();
	return err;
}

/**
 * net_fixture_close - as an administrator does
 * @f: fixture
 */
void net_fixture_close(struct net_fixture *f)
{
	rtnl_lock();
	dev_close(f->netdev);
	rtnl_unlock();
}

/**
 * net_fixture_settle - wait for all works of the netdev
 * @f: fixture
 */
void net_fixture_settle(struct net_fixture *f)
{
	flush_workqueue(f->net->wq);
}

/**
 * net_fixture_poll - let a channel look at its rings, as after an event
 * @ch: channel of an open netdev
 */
void net_fixture_poll(struct crnic_channel *ch)
{
	local_bh_disable();
	napi_schedule(&ch->napi);
	local_bh_enable();
}

/**
 * net_fixture_cqe - write a CQE as the device does
 * @cq: CQ
 * @nth: CQEs that were written since the driver last looked
 * @opcode: of the CQE
 *
 * Return: the CQE; what else it says is the caller's to fill in.
 */
struct mlx5_cqe64 *net_fixture_cqe(struct crnic_net_cq *cq, unsigned int nth, u8 opcode)
{
	u32 ci = cq->ci + nth;
	struct mlx5_cqe64 *cqe = cq->buf.addr;

	cqe += ci & (BIT(cq->log_size) - 1);
	memset(cqe, 0, sizeof(*cqe));
	cqe->op_own = opcode << 4 | ((ci >> cq->log_size) & MLX5_CQE_OWNER_MASK);
	return cqe;
}
