// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: create, destroy, transitions, query.
 */
#include <linux/etherdevice.h>
#include <linux/mm.h>

#include <crnic/crnic.h>
#include <crnic/obj/qp.h>

#include "../compat/compat.h"

#define CRNIC_QP_LOG_STRIDE_BASE	4	/* log_rq_stride counts from 16 bytes */
#define CRNIC_QP_PM_MIGRATED		3

static void crnic_qp_fill_queues(void *qpc, const struct crnic_qp_params *p)
{
	MLX5_SET(qpc, qpc, rq_type, p->rq_type);
	MLX5_SET(qpc, qpc, no_sq, p->no_sq);
	MLX5_SET(qpc, qpc, log_sq_size, p->log_sq_size);
	MLX5_SET(qpc, qpc, log_rq_size, p->log_rq_size);
	if (p->log_rq_stride)
		MLX5_SET(qpc, qpc, log_rq_stride, p->log_rq_stride - CRNIC_QP_LOG_STRIDE_BASE);
	if (p->pas.npages) {
		MLX5_SET(qpc, qpc, log_page_size, p->pas.page_shift - CRNIC_ADAPTER_PAGE_SHIFT);
		MLX5_SET(qpc, qpc, page_offset,
			 crnic_pas_offset_field(&p->pas, __mlx5_bit_sz(qpc, page_offset)));
	}
	MLX5_SET64(qpc, qpc, dbr_addr, p->dbr);
}

static void crnic_qp_fill(void *qpc, const struct crnic_qp_params *p)
{
	crnic_qp_fill_queues(qpc, p);
	MLX5_SET(qpc, qpc, st, p->st);
	MLX5_SET(qpc, qpc, pm_state, CRNIC_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, pd, p->pdn);
	MLX5_SET(qpc, qpc, uar_page, p->uar);
	MLX5_SET(qpc, qpc, user_index, p->user_index);
	MLX5_SET(qpc, qpc, cqn_snd, p->scqn);
	MLX5_SET(qpc, qpc, cqn_rcv, p->rcqn);
	MLX5_SET(qpc, qpc, srqn_rmpn_xrqn, p->srqn);
	MLX5_SET(qpc, qpc, xrcd, p->xrcdn);
	MLX5_SET(qpc, qpc, fre, p->fre);
	MLX5_SET(qpc, qpc, rlky, p->rlky);
	MLX5_SET(qpc, qpc, block_lb_mc, p->block_loopback);
	MLX5_SET(qpc, qpc, cs_req, p->cs_req);
	MLX5_SET(qpc, qpc, cs_res, p->cs_res);
	MLX5_SET(qpc, qpc, ts_format, p->ts_format);
}

/**
 * crnic_qp_create - create a queue pair in RESET
 * @dev: device
 * @p: what it is to be
 * @qpn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_qp_create(struct crnic_dev *dev, const struct crnic_qp_params *p, u32 *qpn)
{
	u32 out[MLX5_ST_SZ_DW(create_qp_out)] = {};
	size_t inlen = MLX5_ST_SZ_BYTES(create_qp_in) + crnic_pas_bytes(&p->pas);
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
	crnic_qp_fill(MLX5_ADDR_OF(create_qp_in, in, qpc), p);
	crnic_pas_fill(&p->pas, MLX5_ADDR_OF(create_qp_in, in, pas), 0);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*qpn = MLX5_GET(create_qp_out, out, qpn);
	kvfree(in);
	return err;
}

/**
 * crnic_qp_destroy - destroy a queue pair
 * @dev: device
 * @qpn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_qp_destroy(struct crnic_dev *dev, u32 qpn)
{
	CRNIC_CMD(destroy_qp);

	MLX5_SET(destroy_qp_in, in, opcode, MLX5_CMD_OP_DESTROY_QP);
	MLX5_SET(destroy_qp_in, in, qpn, qpn);
	return CRNIC_EXEC(dev, destroy_qp);
}

static void crnic_qp_path_fill(void *ads, const struct crnic_qp_path *path)
{
	MLX5_SET(ads, ads, pkey_index, path->pkey_index);
	MLX5_SET(ads, ads, ack_timeout, path->ack_timeout);
	MLX5_SET(ads, ads, src_addr_index, path->sgid_index);
	MLX5_SET(ads, ads, stat_rate, path->stat_rate);
	MLX5_SET(ads, ads, hop_limit, path->hop_limit);
	MLX5_SET(ads, ads, tclass, path->tclass);
	MLX5_SET(ads, ads, flow_label, path->flow_label);
	MLX5_SET(ads, ads, dscp, path->dscp);
	MLX5_SET(ads, ads, udp_sport, path->udp_sport);
	MLX5_SET(ads, ads, eth_prio, path->eth_prio);
	MLX5_SET(ads, ads, vhca_port_num, path->port);
	MLX5_SET(ads, ads, rmac_47_32, get_unaligned_be16(path->dmac));
	MLX5_SET(ads, ads, rmac_31_0, get_unaligned_be32(path->dmac + 2));
	memcpy(MLX5_ADDR_OF(ads, ads, rgid_rip), path->dgid, sizeof(path->dgid));
}

static void crnic_qp_path_read(const void *ads, struct crnic_qp_path *path)
{
	path->pkey_index = MLX5_GET(ads, ads, pkey_index);
	path->ack_timeout = MLX5_GET(ads, ads, ack_timeout);
	path->sgid_index = MLX5_GET(ads, ads, src_addr_index);
	path->stat_rate = MLX5_GET(ads, ads, stat_rate);
	path->hop_limit = MLX5_GET(ads, ads, hop_limit);
	path->tclass = MLX5_GET(ads, ads, tclass);
	path->flow_label = MLX5_GET(ads, ads, flow_label);
	path->dscp = MLX5_GET(ads, ads, dscp);
	path->udp_sport = MLX5_GET(ads, ads, udp_sport);
	path->eth_prio = MLX5_GET(ads, ads, eth_prio);
	path->port = MLX5_GET(ads, ads, vhca_port_num);
	put_unaligned_be16(MLX5_GET(ads, ads, rmac_47_32), path->dmac);
	put_unaligned_be32(MLX5_GET(ads, ads, rmac_31_0), path->dmac + 2);
	memcpy(path->dgid, MLX5_ADDR_OF(ads, ads, rgid_rip), sizeof(path->dgid));
}

static void crnic_qp_requester_fill(void *qpc, const struct crnic_qp_attr *attr)
{
	MLX5_SET(qpc, qpc, remote_qpn, attr->remote_qpn);
	MLX5_SET(qpc, qpc, log_ack_req_freq, attr->log_ack_req_freq);
	MLX5_SET(qpc, qpc, log_sra_max, attr->log_sra_max);
	MLX5_SET(qpc, qpc, retry_count, attr->retry_count);
	MLX5_SET(qpc, qpc, rnr_retry, attr->rnr_retry);
	MLX5_SET(qpc, qpc, next_send_psn, attr->sq_psn);
	MLX5_SET(qpc, qpc, cqn_snd, attr->scqn);
}

static void crnic_qp_responder_fill(void *qpc, const struct crnic_qp_attr *attr)
{
	MLX5_SET(qpc, qpc, log_rra_max, attr->log_rra_max);
	MLX5_SET(qpc, qpc, atomic_mode, attr->atomic_mode);
	MLX5_SET(qpc, qpc, rre, attr->rre);
	MLX5_SET(qpc, qpc, rwe, attr->rwe);
	MLX5_SET(qpc, qpc, rae, attr->rae);
	MLX5_SET(qpc, qpc, min_rnr_nak, attr->min_rnr_nak);
	MLX5_SET(qpc, qpc, next_rcv_psn, attr->rq_psn);
	MLX5_SET(qpc, qpc, cqn_rcv, attr->rcqn);
	MLX5_SET(qpc, qpc, q_key, attr->qkey);
}

static void crnic_qp_attr_fill(void *qpc, const struct crnic_qp_attr *attr)
{
	MLX5_SET(qpc, qpc, st, attr->st);
	MLX5_SET(qpc, qpc, pm_state, attr->pm_state);
	MLX5_SET(qpc, qpc, rlky, attr->rlky);
	MLX5_SET(qpc, qpc, pd, attr->pdn);
	MLX5_SET(qpc, qpc, mtu, attr->mtu);
	MLX5_SET(qpc, qpc, log_msg_max, attr->log_msg_max);
	MLX5_SET(qpc, qpc, counter_set_id, attr->counter_set);
	crnic_qp_requester_fill(qpc, attr);
	crnic_qp_responder_fill(qpc, attr);
	crnic_qp_path_fill(MLX5_ADDR_OF(qpc, qpc, primary_address_path), &attr->path);
}

static void crnic_qp_requester_read(const void *qpc, struct crnic_qp_attr *attr)
{
	attr->remote_qpn = MLX5_GET(qpc, qpc, remote_qpn);
	attr->log_ack_req_freq = MLX5_GET(qpc, qpc, log_ack_req_freq);
	attr->log_sra_max = MLX5_GET(qpc, qpc, log_sra_max);
	attr->retry_count = MLX5_GET(qpc, qpc, retry_count);
	attr->rnr_retry = MLX5_GET(qpc, qpc, rnr_retry);
	attr->sq_psn = MLX5_GET(qpc, qpc, next_send_psn);
	attr->scqn = MLX5_GET(qpc, qpc, cqn_snd);
}

static void crnic_qp_responder_read(const void *qpc, struct crnic_qp_attr *attr)
{
	attr->log_rra_max = MLX5_GET(qpc, qpc, log_rra_max);
	attr->atomic_mode = MLX5_GET(qpc, qpc, atomic_mode);
	attr->rre = MLX5_GET(qpc, qpc, rre);
	attr->rwe = MLX5_GET(qpc, qpc, rwe);
	attr->rae = MLX5_GET(qpc, qpc, rae);
	attr->min_rnr_nak = MLX5_GET(qpc, qpc, min_rnr_nak);
	attr->rq_psn = MLX5_GET(qpc, qpc, next_rcv_psn);
	attr->rcqn = MLX5_GET(qpc, qpc, cqn_rcv);
	attr->qkey = MLX5_GET(qpc, qpc, q_key);
}

static void crnic_qp_attr_read(const void *qpc, struct crnic_qp_attr *attr)
{
	attr->state = MLX5_GET(qpc, qpc, state);
	attr->st = MLX5_GET(qpc, qpc, st);
	attr->pm_state = MLX5_GET(qpc, qpc, pm_state);
	attr->pdn = MLX5_GET(qpc, qpc, pd);
	attr->mtu = MLX5_GET(qpc, qpc, mtu);
	attr->log_msg_max = MLX5_GET(qpc, qpc, log_msg_max);
	attr->counter_set = MLX5_GET(qpc, qpc, counter_set_id);
	crnic_qp_requester_read(qpc, attr);
	crnic_qp_responder_read(qpc, attr);
	crnic_qp_path_read(MLX5_ADDR_OF(qpc, qpc, primary_address_path), &attr->path);
}

/* Transitions that carry a context; all of them have the layout of RST2INIT_QP */
static const u16 crnic_qp_context_ops[] = {
	MLX5_CMD_OP_RST2INIT_QP,
	MLX5_CMD_OP_INIT2INIT_QP,
	MLX5_CMD_OP_INIT2RTR_QP,
	MLX5_CMD_OP_RTR2RTS_QP,
	MLX5_CMD_OP_RTS2RTS_QP,
	MLX5_CMD_OP_SQERR2RTS_QP,
	MLX5_CMD_OP_SQD_RTS_QP,
};

static bool crnic_qp_op_has_context(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(crnic_qp_context_ops); i++)
		if (crnic_qp_context_ops[i] == opcode)
			return true;
	return false;
}

/* To RESET or to ERROR: the number says it all */
static int crnic_qp_modify_plain(struct crnic_dev *dev, u32 qpn, u16 opcode)
{
	CRNIC_CMD(qp_2err);

	MLX5_SET(qp_2err_in, in, opcode, opcode);
	MLX5_SET(qp_2err_in, in, qpn, qpn);
	return CRNIC_EXEC(dev, qp_2err);
}

/**
 * crnic_qp_modify - move a queue pair to another state
 * @dev: device
 * @qpn: its number
 * @opcode: transition, MLX5_CMD_OP_*_QP
 * @opt_mask: which optional fields of @attr the device shall take
 * @attr: context; not looked at, and may be NULL, on the way to RESET or ERROR
 *
 * Context: process.
 * Return: 0 or a negative errno; -EINVAL if the opcode is no transition.
 */
int crnic_qp_modify(struct crnic_dev *dev, u32 qpn, u16 opcode, u32 opt_mask,
		    const struct crnic_qp_attr *attr)
{
	CRNIC_CMD(rst2init_qp);

	if (opcode == MLX5_CMD_OP_2ERR_QP || opcode == MLX5_CMD_OP_2RST_QP)
		return crnic_qp_modify_plain(dev, qpn, opcode);
	if (!crnic_qp_op_has_context(opcode) || !attr)
		return -EINVAL;

	MLX5_SET(rst2init_qp_in, in, opcode, opcode);
	MLX5_SET(rst2init_qp_in, in, qpn, qpn);
	MLX5_SET(rst2init_qp_in, in, opt_param_mask, opt_mask);
	crnic_qp_attr_fill(MLX5_ADDR_OF(rst2init_qp_in, in, qpc), attr);
	return CRNIC_EXEC(dev, rst2init_qp);
}

/**
 * crnic_qp_query - what the device thinks of a queue pair
 * @dev: device
 * @qpn: its number
 * @attr: filled in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_qp_query(struct crnic_dev *dev, u32 qpn, struct crnic_qp_attr *attr)
{
	CRNIC_CMD(query_qp);
	int err;

	MLX5_SET(query_qp_in, in, opcode, MLX5_CMD_OP_QUERY_QP);
	MLX5_SET(query_qp_in, in, qpn, qpn);
	err = CRNIC_EXEC(dev, query_qp);
	if (!err)
		crnic_qp_attr_read(MLX5_ADDR_OF(query_qp_out, out, qpc), attr);
	return err;
}

/**
 * crnic_mcg_attach - let a UD queue pair receive a multicast group
 * @dev: device
 * @qpn: its number
 * @gid: group
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_mcg_attach(struct crnic_dev *dev, u32 qpn, const u8 gid[16])
{
	CRNIC_CMD(attach_to_mcg);

	MLX5_SET(attach_to_mcg_in, in, opcode, MLX5_CMD_OP_ATTACH_TO_MCG);
	MLX5_SET(attach_to_mcg_in, in, qpn, qpn);
	memcpy(MLX5_ADDR_OF(attach_to_mcg_in, in, multicast_gid), gid, 16);
	return CRNIC_EXEC(dev, attach_to_mcg);
}

/**
 * crnic_mcg_detach - undo crnic_mcg_attach()
 * @dev: device
 * @qpn: its number
 * @gid: group
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_mcg_detach(struct crnic_dev *dev, u32 qpn, const u8 gid[16])
{
	CRNIC_CMD(detach_from_mcg);

	MLX5_SET(detach_from_mcg_in, in, opcode, MLX5_CMD_OP_DETACH_FROM_MCG);
	MLX5_SET(detach_from_mcg_in, in, qpn, qpn);
	memcpy(MLX5_ADDR_OF(detach_from_mcg_in, in, multicast_gid), gid, 16);
	return CRNIC_EXEC(dev, detach_from_mcg);
}
