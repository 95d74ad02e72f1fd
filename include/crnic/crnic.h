/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_H
#define CRNIC_H

/*
 * The device, as every layer sees it.  Includes point one way: ib and net use obj
 * and core, obj uses core, and core uses nobody.
 */
#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <crnic/caps.h>
#include <crnic/cmd.h>
#include <crnic/dma.h>
#include <crnic/doorbell.h>
#include <crnic/event.h>
#include <crnic/hw.h>
#include <crnic/uar.h>

struct crnic_cmdq;
struct crnic_eqs;
struct crnic_health;
struct crnic_ib;
struct crnic_irqs;
struct crnic_net;
struct crnic_pages;
struct devlink;
struct net_device;

/**
 * struct crnic_config - module parameters, checked, and what devlink sets
 * @comp_vectors: completion vectors wanted; 0 for one per online CPU
 * @cmd_timeout_ms: how long a command may take
 * @fail_stage: for tests: name of the stage to fail at, or NULL
 * @roce: RoCE is wanted, from the next bring-up on
 */
struct crnic_config {
	unsigned int comp_vectors;
	unsigned int cmd_timeout_ms;
	const char *fail_stage;
	bool roce;
};

/**
 * struct crnic_recovery - starts a device anew that was given up
 * @work: does it, with the device lock held
 * @on: it may
 * @tries: how often it did since @since
 * @since: jiffies
 *
 * All but @work are written with the device lock held.
 */
struct crnic_recovery {
	struct delayed_work work;
	bool on;
	unsigned int tries;
	unsigned long since;
};

/**
 * struct crnic_refusal - the last command that the firmware refused, for messages
 * @opcode: command
 * @status: first byte of the answer
 * @syndrome: the firmware's reason
 */
struct crnic_refusal {
	u16 opcode;
	u8 status;
	u32 syndrome;
};

/**
 * struct crnic_dev - one PCI function
 * @pdev: the function
 * @device: its struct device, for DMA and messages
 * @numa_node: node near it
 * @cfg: module parameters
 * @bar_phys: bus address of BAR0
 * @bar_len: length of BAR0
 * @iseg: initialization segment, mapped
 * @up: number of stages that are up
 * @stay: the netdev outlives the next way down, which another way up follows
 * @broken: the device no longer answers, until it is started anew; commands fail with -EIO
 * @recovery: starts it anew
 * @last_refusal: written without a lock, good enough for a message
 * @caps: current capabilities
 * @has_roce: the device can do RoCE, whether or not it is wanted
 * @fw_rev: major, minor, subminor of the firmware
 * @vendor_id: IEEE vendor ID
 * @board_id: PSID, a string
 * @uar: doorbell page of all kernel objects
 * @tdn: transport domain of the function
 * @pdn: protection domain of the netdev's rings and of core objects
 * @terminate_lkey: key that ends a scatter list early, as a data segment wants it
 * @mac: permanent MAC address of the port
 * @cmdq: command queue
 * @pages: firmware pages
 * @irqs: interrupt vectors
 * @eqs: event queues
 * @health: health poll
 * @cqs: completion queues that want events, by number
 * @rscs: queues that want events, by number and type
 * @notifiers: see crnic_notifier_add()
 * @dbr_lock: protects @dbr_pages; a leaf lock
 * @dbr_pages: pages of doorbell records with room
 * @net: the net layer's own state, or NULL
 * @netdev: the port's net_device once the netdev stage is up, or NULL
 * @rx_table: flow table that received frames start at, set with @netdev; rules of
 *	      users come in front of it
 * @devlink: what operators see of the function, or NULL
 * @ib: the ib layer's own state, or NULL
 */
struct crnic_dev {
	struct pci_dev *pdev;
	struct device *device;
	int numa_node;
	struct crnic_config cfg;

	phys_addr_t bar_phys;
	resource_size_t bar_len;
	struct mlx5_init_seg __iomem *iseg;

	unsigned int up;
	bool stay;
	bool broken;
	struct crnic_recovery recovery;
	struct crnic_refusal last_refusal;

	struct crnic_caps *caps;
	bool has_roce;
	u16 fw_rev[3];
	u32 vendor_id;
	char board_id[CRNIC_BOARD_ID_LEN + 1];

	struct crnic_uar uar;
	u32 tdn;
	u32 pdn;
	__be32 terminate_lkey;
	u8 mac[6];

	struct crnic_cmdq *cmdq;
	struct crnic_pages *pages;
	struct crnic_irqs *irqs;
	struct crnic_eqs *eqs;
	struct crnic_health *health;

	struct xarray cqs;
	struct xarray rscs;
	struct atomic_notifier_head notifiers;
	struct mutex dbr_lock;	/* protects dbr_pages; a leaf lock */
	struct list_head dbr_pages;

	struct crnic_net *net;
	struct net_device *netdev;
	u32 rx_table;
	struct crnic_ib *ib;
	struct devlink *devlink;
};

/*
 * Hooks of the upper layers: the last two stages of bring-up, called in process
 * context; a failure leaves nothing behind.  Between suspend and resume the netdev
 * stays registered, with all that was set, but has no device: what must not be lost
 * in a sleep or when the device starts anew.  Remove may follow either of them.
 */
int crnic_net_add(struct crnic_dev *dev);
void crnic_net_suspend(struct crnic_dev *dev);
int crnic_net_resume(struct crnic_dev *dev);
void crnic_net_remove(struct crnic_dev *dev);
int crnic_ib_add(struct crnic_dev *dev);
void crnic_ib_remove(struct crnic_dev *dev);

/**
 * crnic_dead - does the device no longer answer?
 * @dev: device
 *
 * Return: true after the health poll found the device dead, it held all command slots
 * or was unplugged, until it is started anew.  Upper layers then skip waits for the hardware.
 */
static inline bool crnic_dead(const struct crnic_dev *dev)
{
	return READ_ONCE(dev->broken);
}

u64 crnic_timer_read(const struct crnic_dev *dev);

/* Firmware pages that the device holds right now */
unsigned int crnic_fw_pages(const struct crnic_dev *dev);

#define crnic_err(dev, fmt, ...)	dev_err((dev)->device, fmt, ##__VA_ARGS__)
#define crnic_warn(dev, fmt, ...)	dev_warn((dev)->device, fmt, ##__VA_ARGS__)
#define crnic_info(dev, fmt, ...)	dev_info((dev)->device, fmt, ##__VA_ARGS__)
#define crnic_dbg(dev, fmt, ...)	dev_dbg((dev)->device, fmt, ##__VA_ARGS__)
#define crnic_err_rl(dev, fmt, ...)	dev_err_ratelimited((dev)->device, fmt, ##__VA_ARGS__)

#endif /* CRNIC_H */
