/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_NET_H
#define CRNIC_NET_H

/* The port's net_device: what its files share. */
#include <linux/if_vlan.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>

#include <crnic/crnic.h>
#include <crnic/cq.h>
#include <crnic/event.h>
#include <crnic/obj/flow.h>
#include <crnic/obj/tir.h>
#include <crnic/obj/vport.h>

#define CRNIC_NET_MAX_CHANNELS		16
#define CRNIC_NET_RING_LOG_DEFAULT	10
#define CRNIC_NET_RING_LOG_MIN		6
#define CRNIC_NET_RING_LOG_MAX		13
#define CRNIC_NET_RSS_ENTRIES		128

/* A frame of MTU 9000 in pages of 4 KiB */
#define CRNIC_NET_RX_FRAGS_MAX		3
#define CRNIC_NET_MTU_MAX		9000

/* Bytes that are copied into the skb's linear part */
#define CRNIC_NET_RX_COPY		256

struct crnic_channel;
struct crnic_net;
struct page_pool;

/**
 * struct crnic_net_cq - a completion queue that a NAPI context polls
 * @core: number, event and doorbell
 * @buf: ring of 64-byte CQEs
 * @dbr: doorbell record
 * @ci: consumer counter
 * @log_size: log2 of its entries
 * @channel: whose NAPI polls it
 */
struct crnic_net_cq {
	struct crnic_cq core;
	struct crnic_buf buf;
	struct crnic_dbr dbr;
	u32 ci;
	u8 log_size;
	struct crnic_channel *channel;
};

/**
 * struct crnic_ring_stats - counters of one ring, written by one context
 * @sync: guards the 64-bit counters on 32-bit CPUs
 * @packets: packets handled
 * @bytes: their bytes
 * @drops: packets dropped by the driver
 * @errors: error CQEs
 */
struct crnic_ring_stats {
	struct u64_stats_sync sync;
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t drops;
	u64_stats_t errors;
};

/* What of a ring there is; the device may have refused to give up a part of it */
enum crnic_ring_state {
	CRNIC_RING_NONE,
	CRNIC_RING_CQ_LEFT,	/* its queue is destroyed, its completion queue is not */
	CRNIC_RING_ALL,
};

/* One DMA mapping of a send WQE */
struct crnic_tx_dma {
	dma_addr_t addr;
	u32 len;
	bool page;
};

/* What one send WQE holds until it completes; indexed by its first basic block */
struct crnic_tx_info {
	struct sk_buff *skb;
	u8 num_bb;
	u8 num_dma;
	u32 bytes;
};

/**
 * struct crnic_txq - a send ring
 * @cq: its completion queue
 * @buf: ring of basic blocks
 * @dbr: doorbell record, word 1
 * @info: per basic block
 * @dma: FIFO of mappings, in the order of WQEs
 * @dma_mask: its size less one
 * @dma_pc: mappings made
 * @dma_cc: mappings undone
 * @pc: basic blocks produced, never masked
 * @rung: @pc when the doorbell was last rung
 * @last: first basic block of the newest WQE
 * @cc: basic blocks consumed
 * @log_size: log2 of basic blocks
 * @sqn: number
 * @rsc: hears its events
 * @state: what of the ring there is
 * @failed: an error CQE came; a recovery is on its way
 * @nq: the stack's queue
 * @stats: counters, which outlive the ring
 *
 * xmit runs under the stack's queue lock and owns @pc, @rung, @last and @dma_pc; the NAPI
 * poll owns @cc and @dma_cc.
 */
struct crnic_txq {
	struct crnic_net_cq cq;
	struct crnic_buf buf;
	struct crnic_dbr dbr;
	struct crnic_tx_info *info;
	struct crnic_tx_dma *dma;
	u32 dma_mask;
	u32 dma_pc;
	u32 dma_cc;
	u16 pc;
	u16 rung;
	u16 last;
	u16 cc;
	u8 log_size;
	u32 sqn;
	struct crnic_rsc rsc;
	enum crnic_ring_state state;
	bool failed;
	struct netdev_queue *nq;
	struct crnic_ring_stats *stats;
};

/**
 * struct crnic_rxq - a receive ring
 * @cq: its completion queue
 * @buf: ring of WQEs
 * @dbr: doorbell record, word 0
 * @pool: pages
 * @pages: @frags pages per WQE
 * @frags: data segments of a WQE
 * @log_stride: log2 of a WQE's bytes
 * @pc: WQEs posted, never masked
 * @cc: WQEs consumed
 * @log_size: log2 of WQEs
 * @rqn: number
 * @rsc: hears its events
 * @state: what of the ring there is
 * @failed: an error CQE came; a recovery is on its way
 * @stats: counters, which outlive the ring
 */
struct crnic_rxq {
	struct crnic_net_cq cq;
	struct crnic_buf buf;
	struct crnic_dbr dbr;
	struct page_pool *pool;
	struct page **pages;
	u8 frags;
	u8 log_stride;
	u16 pc;
	u16 cc;
	u8 log_size;
	u32 rqn;
	struct crnic_rsc rsc;
	enum crnic_ring_state state;
	bool failed;
	struct crnic_ring_stats *stats;
};

/**
 * struct crnic_channel - one vector's worth of rings
 * @net: owner
 * @napi: polls both CQs
 * @index: number, also the completion vector
 * @tx: send ring
 * @rx: receive ring
 * @kept: in crnic_net.kept
 */
struct crnic_channel {
	struct crnic_net *net;
	struct napi_struct napi;
	unsigned int index;
	struct crnic_txq tx;
	struct crnic_rxq rx;
	struct list_head kept;
};

/*
 * An address that the L2 table lets in; @mpfs is one more than its entry in the
 * table of a NIC that several hosts share, 0 for none
 */
struct crnic_l2_addr {
	u8 mac[ETH_ALEN];
	bool used;
	bool wanted;
	u16 mpfs;
};

#define CRNIC_L2_ADDRS	256

/* Kinds of traffic that are told apart for hashing */
enum crnic_traffic_type {
	CRNIC_TT_IPV4_TCP,
	CRNIC_TT_IPV6_TCP,
	CRNIC_TT_IPV4_UDP,
	CRNIC_TT_IPV6_UDP,
	CRNIC_TT_IPV4,
	CRNIC_TT_IPV6,
	CRNIC_TT_ANY,
	CRNIC_TT_NUM
};

/**
 * struct crnic_steer - receive steering: VLAN filter, MAC filter, traffic type, TIR
 * @vlan: table of VLANs, the root
 * @l2: table of MAC addresses
 * @ttc: table of traffic types
 * @vlan_groups: VLAN, no tag, everything
 * @l2_groups: exact address, multicast bit, everything
 * @ttc_groups: type and protocol, type, everything
 * @addrs: rules of the first L2 group; the index is the flow index
 * @mpfs: entries taken of the table that several hosts share
 * @vids: VLANs whose rules are set
 * @vlan_lock: protects the three below
 * @vlan_filter: VLANs are filtered
 * @vlan_promisc: but all are let in, since the netdev is promiscuous
 * @any_vlan: the rule is set that lets all VLANs in
 * @allmulti: the multicast rule is set
 * @promisc: the catch-all rule is set
 */
struct crnic_steer {
	u32 vlan;
	u32 l2;
	u32 ttc;
	u32 vlan_groups[3];
	u32 l2_groups[3];
	u32 ttc_groups[3];
	struct crnic_l2_addr addrs[CRNIC_L2_ADDRS];
	DECLARE_BITMAP(mpfs, CRNIC_L2_ADDRS);
	DECLARE_BITMAP(vids, VLAN_N_VID);
	struct mutex vlan_lock;	/* protects the three below; a leaf lock but for commands */
	bool vlan_filter;
	bool vlan_promisc;
	bool any_vlan;
	bool allmulti;
	bool promisc;
};

/**
 * struct crnic_net - the port's netdev; netdev_priv()
 * @dev: the function
 * @netdev: back pointer
 * @lkey: reaches all of memory by bus address
 * @tisn: transport interface of all SQs
 * @q_counter: counts what RQs drop for want of a WQE; 0 for none
 * @drop_rqn: RQ without buffers that TIRs lead to while the netdev is down
 * @drop_cq: its completion queue
 * @drop_buf: its ring
 * @drop_dbr: its doorbell record
 * @vport: NIC vport context as it was at probe
 * @channels: rings, while the netdev is up
 * @num_channels: how many
 * @kept: channels that were closed, whose rings the device may still reach
 * @log_tx: log2 of a send ring's basic blocks
 * @log_rx: log2 of a receive ring's WQEs
 * @rx_stats: per channel, over the netdev's life
 * @tx_stats: likewise
 * @rqtn: RQ table of all TIRs
 * @tirn: a TIR per traffic type
 * @rss_key: Toeplitz key
 * @rss_table: channel of each entry of the RQ table
 * @steer: flow tables
 * @wq: ordered; the works below
 * @rx_mode_work: brings @steer in line with the address lists
 * @link_work: reads the port's state
 * @recover_work: reopens the rings after an error CQE or a time-out
 * @nb: port events
 * @suspended: registered, but without a device
 *
 * Ring pointers change under RTNL only, with the netdev down.
 */
struct crnic_net {
	struct crnic_dev *dev;
	struct net_device *netdev;
	u32 lkey;
	u32 tisn;
	u8 q_counter;
	u32 drop_rqn;
	struct crnic_cq drop_cq;
	struct crnic_buf drop_buf;
	struct crnic_dbr drop_dbr;
	struct crnic_vport_nic vport;

	struct crnic_channel **channels;
	unsigned int num_channels;
	struct list_head kept;
	u8 log_tx;
	u8 log_rx;
	struct crnic_ring_stats rx_stats[CRNIC_NET_MAX_CHANNELS];
	struct crnic_ring_stats tx_stats[CRNIC_NET_MAX_CHANNELS];

	u32 rqtn;
	u32 tirn[CRNIC_TT_NUM];
	u8 rss_key[CRNIC_TIR_KEY_LEN];
	u8 rss_table[CRNIC_NET_RSS_ENTRIES];
	struct crnic_steer steer;

	struct workqueue_struct *wq;
	struct work_struct rx_mode_work;
	struct work_struct link_work;
	struct work_struct recover_work;
	struct notifier_block nb;
	bool suspended;
};

static inline struct crnic_net *to_cnet(struct net_device *netdev)
{
	return netdev_priv(netdev);
}

/* cq.c */
int crnic_net_cq_open(struct crnic_channel *ch, struct crnic_net_cq *cq, u8 log_size);
int crnic_net_cq_close(struct crnic_net *net, struct crnic_net_cq *cq);
struct mlx5_cqe64 *crnic_net_cq_next(struct crnic_net_cq *cq);
void crnic_net_cq_give_back(struct crnic_net_cq *cq);

/* channel.c */
int crnic_channels_open(struct crnic_net *net);
void crnic_channels_close(struct crnic_net *net, bool led_to);
int crnic_kept_init(struct crnic_net *net);
void crnic_kept_close(struct crnic_net *net);

/* tx.c */
int crnic_txq_open(struct crnic_channel *ch);
int crnic_txq_close(struct crnic_channel *ch);
void crnic_txq_orphan(struct crnic_channel *ch);
netdev_tx_t crnic_net_xmit(struct sk_buff *skb, struct net_device *netdev);
bool crnic_txq_poll(struct crnic_channel *ch, int budget);

/* rx.c */
int crnic_rxq_open(struct crnic_channel *ch);
int crnic_rxq_close(struct crnic_channel *ch);
int crnic_rxq_poll(struct crnic_channel *ch, int budget);
bool crnic_rxq_fill(struct crnic_channel *ch);
void crnic_rx_sync_page(struct crnic_rxq *q, struct page *page);

/* drop.c */
int crnic_drop_rq_create(struct crnic_net *net);
void crnic_drop_rq_destroy(struct crnic_net *net);

/* rss.c */
void crnic_rss_init(struct crnic_net *net);
int crnic_rss_create(struct crnic_net *net);
void crnic_rss_destroy(struct crnic_net *net);
int crnic_rss_activate(struct crnic_net *net);
int crnic_rss_deactivate(struct crnic_net *net);
void crnic_rss_default_table(struct crnic_net *net);

/* steer.c */
struct crnic_group_range {
	u32 first;
	u32 last;
};

int crnic_steer_table_create(struct crnic_net *net, u8 level, u8 log_size, u32 *table);
int crnic_groups_create(struct crnic_net *net, u32 table, const struct crnic_group_range *r,
			const struct crnic_flow_match masks[2], u32 groups[3]);
void crnic_groups_destroy(struct crnic_net *net, u32 table, const u32 groups[3]);
int crnic_steer_create(struct crnic_net *net);
void crnic_steer_destroy(struct crnic_net *net);
void crnic_steer_sync(struct crnic_net *net);

/* vlan.c */
int crnic_vlan_create(struct crnic_net *net);
void crnic_vlan_destroy(struct crnic_net *net);
void crnic_vlan_promisc_set(struct crnic_net *net, bool promisc);
int crnic_vlan_filter_set(struct crnic_net *net, bool on);
int crnic_vlan_restore(struct crnic_net *net);
int crnic_vlan_add(struct crnic_net *net, u16 vid);
void crnic_vlan_del(struct crnic_net *net, u16 vid);

/* link.c */
int crnic_link_init(struct crnic_net *net);
void crnic_link_exit(struct crnic_net *net);
void crnic_link_update(struct crnic_net *net);
void crnic_link_admin(struct crnic_net *net, bool up);
int crnic_link_set_mtu(struct crnic_net *net, unsigned int mtu);

/* ethtool.c */
extern const struct ethtool_ops crnic_ethtool_ops;

/* netdev.c */

/**
 * struct crnic_net_settings - what can only be changed with new rings
 * @mtu: bytes of IP packet
 * @features: of which NETIF_F_HW_VLAN_CTAG_RX matters
 * @num_channels: 1 to CRNIC_NET_MAX_CHANNELS
 * @log_tx: log2 of a send ring's basic blocks
 * @log_rx: log2 of a receive ring's WQEs
 */
struct crnic_net_settings {
	unsigned int mtu;
	netdev_features_t features;
	unsigned int num_channels;
	u8 log_tx;
	u8 log_rx;
};

struct crnic_net_settings crnic_net_settings(const struct crnic_net *net);
int crnic_net_change(struct crnic_net *net, const struct crnic_net_settings *to);
void crnic_net_recover(struct crnic_net *net);
bool crnic_net_is_open(const struct crnic_net *net);

#endif /* CRNIC_NET_H */
