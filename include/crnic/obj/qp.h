/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_QP_H
#define CRNIC_OBJ_QP_H

#include <linux/if_ether.h>
#include <linux/types.h>

#include <crnic/dma.h>

struct crnic_dev;

/**
 * struct crnic_qp_params - a queue pair to be
 * @pas: ring: receive queue first, send queue after it; npages 0 for none
 * @dbr: bus address of its doorbell record
 * @st: service type, MLX5_QP_ST_*
 * @pdn: protection domain
 * @uar: doorbell page
 * @user_index: what its CQEs carry with CQE version 1; 0xffffff for none
 * @scqn: send CQ
 * @rcqn: receive CQ
 * @srqn: shared receive queue, if @rq_type says so
 * @xrcdn: XRC domain
 * @rq_type: MLX5_NON_ZERO_RQ, MLX5_SRQ_RQ, MLX5_ZERO_LEN_RQ
 * @log_rq_size: log2 of receive WQEs
 * @log_rq_stride: log2 of their size in bytes, at least 4
 * @log_sq_size: log2 of the send queue's basic blocks
 * @no_sq: it has no send queue
 * @fre: force completion on error (fast registration of kernel QPs)
 * @rlky: local DMA lkey allowed
 * @block_loopback: drop multicast that comes back
 * @cs_req: MLX5_REQ_SCAT_DATA32/64_CQE or 0
 * @cs_res: MLX5_RES_SCAT_DATA32/64_CQE or 0
 * @ts_format: timestamp format
 */
struct crnic_qp_params {
	struct crnic_pas pas;
	dma_addr_t dbr;
	u8 st;
	u32 pdn;
	u32 uar;
	u32 user_index;
	u32 scqn;
	u32 rcqn;
	u32 srqn;
	u32 xrcdn;
	u8 rq_type;
	u8 log_rq_size;
	u8 log_rq_stride;
	u8 log_sq_size;
	bool no_sq;
	bool fre;
	bool rlky;
	bool block_loopback;
	u8 cs_req;
	u8 cs_res;
	u8 ts_format;
};

int crnic_qp_create(struct crnic_dev *dev, const struct crnic_qp_params *p, u32 *qpn);
int crnic_qp_destroy(struct crnic_dev *dev, u32 qpn);

/**
 * struct crnic_qp_path - address vector of a connected QP
 * @pkey_index: P_Key
 * @ack_timeout: local ACK timeout
 * @sgid_index: source address in the device's table
 * @hop_limit: hop limit
 * @tclass: traffic class
 * @flow_label: flow label
 * @dgid: destination
 * @dscp: DSCP of RoCEv2
 * @udp_sport: UDP source port of RoCEv2
 * @eth_prio: 802.1p priority
 * @port: port number, from 1
 * @dmac: destination MAC
 * @stat_rate: static rate, as the device codes it
 */
struct crnic_qp_path {
	u16 pkey_index;
	u8 ack_timeout;
	u8 sgid_index;
	u8 hop_limit;
	u8 tclass;
	u32 flow_label;
	u8 dgid[16];
	u8 dscp;
	u16 udp_sport;
	u8 eth_prio;
	u8 port;
	u8 dmac[ETH_ALEN];
	u8 stat_rate;
};

/**
 * struct crnic_qp_attr - the context fields that transitions set and QUERY_QP returns
 * @st: service type, for transitions; the device keeps it, but looks at it
 * @state: MLX5_QP_STATE_*, query only
 * @mtu: enum ib_mtu
 * @log_msg_max: log2 of the largest message
 * @remote_qpn: peer
 * @sq_psn: next PSN to send
 * @rq_psn: next PSN expected
 * @retry_count: transport retries
 * @rnr_retry: RNR retries, 7 for ever
 * @min_rnr_nak: RNR NAK timer code
 * @log_sra_max: log2 of reads and atomics as initiator
 * @log_rra_max: log2 of reads and atomics as responder
 * @rre: remote read allowed
 * @rwe: remote write allowed
 * @rae: remote atomic allowed
 * @atomic_mode: MLX5_ATOMIC_MODE_*
 * @qkey: Q_Key
 * @pm_state: path migration state, 3 for migrated
 * @rlky: local DMA lkey allowed; RST2INIT decides, whatever the QP was created with
 * @pdn: protection domain; the device expects it again with RST2INIT
 * @scqn: send CQ, likewise
 * @rcqn: receive CQ, likewise
 * @counter_set: queue counter
 * @log_ack_req_freq: ask for an ACK every that many packets (log2)
 * @path: primary path
 */
struct crnic_qp_attr {
	u8 st;
	u8 state;
	u8 mtu;
	u8 log_msg_max;
	u32 remote_qpn;
	u32 sq_psn;
	u32 rq_psn;
	u8 retry_count;
	u8 rnr_retry;
	u8 min_rnr_nak;
	u8 log_sra_max;
	u8 log_rra_max;
	bool rre;
	bool rwe;
	bool rae;
	u8 atomic_mode;
	u32 qkey;
	u8 pm_state;
	bool rlky;
	u32 pdn;
	u32 scqn;
	u32 rcqn;
	u8 counter_set;
	u8 log_ack_req_freq;
	struct crnic_qp_path path;
};

/* The bits of @opt_mask are those of enum mlx5_qp_optpar in <linux/mlx5/qp.h> */
int crnic_qp_modify(struct crnic_dev *dev, u32 qpn, u16 opcode, u32 opt_mask,
		    const struct crnic_qp_attr *attr);
int crnic_qp_query(struct crnic_dev *dev, u32 qpn, struct crnic_qp_attr *attr);
int crnic_mcg_attach(struct crnic_dev *dev, u32 qpn, const u8 gid[16]);
int crnic_mcg_detach(struct crnic_dev *dev, u32 qpn, const u8 gid[16]);

#endif /* CRNIC_OBJ_QP_H */
