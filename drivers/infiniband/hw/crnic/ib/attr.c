// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Limits and abilities of the device, as query_device reports them */
#include "ib.h"

/* Longest send WQE that crnic builds, whatever more the device would take */
#define CRNIC_MAX_SEND_WQE	512U

/* A count of WQE segments has six bits */
#define CRNIC_MAX_WQE_DS	63U

/**
 * crnic_ib_max_send_sge - gather entries that each QP type can have
 * @dev: device
 *
 * Return: a limit that holds for the library as well, whose RC WQEs have room
 * for a memory window bind.
 */
u32 crnic_ib_max_send_sge(const struct crnic_dev *dev)
{
	u32 bytes = min(CRNIC_CAP_GEN(dev, max_wqe_sz_sq), CRNIC_MAX_SEND_WQE);

	return (bytes - sizeof(struct mlx5_wqe_ctrl_seg) - sizeof(struct mlx5_wqe_raddr_seg)) /
	       sizeof(struct mlx5_wqe_data_seg);
}

/**
 * crnic_ib_max_recv_sge - scatter entries of a receive WQE
 * @dev: device
 *
 * Return: a limit that is not above the one for sends, as users are told one only.
 */
u32 crnic_ib_max_recv_sge(const struct crnic_dev *dev)
{
	u32 sges = CRNIC_CAP_GEN(dev, max_wqe_sz_rq) / sizeof(struct mlx5_wqe_data_seg);

	return min(sges, crnic_ib_max_send_sge(dev));
}

/**
 * crnic_ib_max_srq_sge - scatter entries of an SRQ's WQE
 * @dev: device
 *
 * Return: their limit; the link to the next WQE takes the place of one.
 */
u32 crnic_ib_max_srq_sge(const struct crnic_dev *dev)
{
	return CRNIC_CAP_GEN(dev, max_wqe_sz_rq) / sizeof(struct mlx5_wqe_data_seg) - 1;
}

/**
 * crnic_ib_max_qp_wr - work requests of a queue
 * @dev: device
 *
 * The device counts basic blocks, users count work requests.  A quarter holds
 * for all QP types: the library rounds an RC work request of one SGE up to three
 * blocks, and the ring up to a power of two.
 *
 * Return: their limit.
 */
u32 crnic_ib_max_qp_wr(const struct crnic_dev *dev)
{
	return 1U << (CRNIC_CAP_GEN(dev, log_max_qp_sz) - 2);
}

/**
 * crnic_ib_atomics - may peers use fetch-and-add and compare-and-swap?
 * @dev: device
 *
 * Return: true if both work on 8 bytes.
 */
bool crnic_ib_atomics(const struct crnic_dev *dev)
{
	const u32 both = MLX5_ATOMIC_OPS_CMP_SWAP | MLX5_ATOMIC_OPS_FETCH_ADD;

	return CRNIC_CAP_GEN(dev, atomic) &&
	       (CRNIC_CAP_ATOMIC(dev, atomic_operations) & both) == both;
}

/* ib_core's promise to users also covers the byte order in which results land */
static enum ib_atomic_cap crnic_ib_atomic_cap(const struct crnic_dev *dev)
{
	if (crnic_ib_atomics(dev) &&
	    CRNIC_CAP_ATOMIC(dev, atomic_size_qp) & MLX5_ATOMIC_CAPS_ATOMIC_SIZE_QP_8_BYTES &&
	    CRNIC_CAP_ATOMIC(dev, atomic_req_8B_endianness_mode))
		return IB_ATOMIC_HCA;
	return IB_ATOMIC_NONE;
}

/**
 * crnic_ib_frwr - can work requests register memory?
 * @dev: device
 *
 * Return: true if UMR work requests can give a key another size.
 */
bool crnic_ib_frwr(const struct crnic_dev *dev)
{
	return !CRNIC_CAP_GEN(dev, umr_modify_entity_size_disabled) &&
	       CRNIC_CAP_GEN(dev, log_max_klm_list_size);
}

static void crnic_ib_identity(struct crnic_ib *ib, struct ib_device_attr *attr)
{
	struct crnic_dev *dev = ib->dev;

	attr->fw_ver = (u64)dev->fw_rev[0] << 32 | (u32)dev->fw_rev[1] << 16 | dev->fw_rev[2];
	attr->sys_image_guid = cpu_to_be64(ib->nic.system_image_guid);
	attr->vendor_id = dev->vendor_id;
	attr->vendor_part_id = dev->pdev->device;
	attr->hw_ver = dev->pdev->revision;
}

static void crnic_ib_flags(const struct crnic_dev *dev, struct ib_device_attr *attr)
{
	attr->device_cap_flags = IB_DEVICE_CHANGE_PHY_PORT | IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN;
	if (CRNIC_CAP_GEN(dev, xrc))
		attr->device_cap_flags |= IB_DEVICE_XRC;
	if (crnic_ib_frwr(dev))
		attr->device_cap_flags |= IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (CRNIC_CAP_GEN(dev, imaicl))
		attr->device_cap_flags |= IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B;
	attr->atomic_cap = crnic_ib_atomic_cap(dev);
	attr->masked_atomic_cap = IB_ATOMIC_NONE;
}

static void crnic_ib_queue_limits(const struct crnic_dev *dev, struct ib_device_attr *attr)
{
	/* one is the kernel's QP1 */
	attr->max_qp = (1 << CRNIC_CAP_GEN(dev, log_max_qp)) - 1;
	attr->max_qp_wr = crnic_ib_max_qp_wr(dev);
	attr->max_send_sge = crnic_ib_max_send_sge(dev);
	attr->max_recv_sge = crnic_ib_max_recv_sge(dev);
	attr->max_sge_rd = attr->max_send_sge;
	attr->max_qp_rd_atom = 1 << CRNIC_CAP_GEN(dev, log_max_ra_req_qp);
	attr->max_qp_init_rd_atom = 1 << CRNIC_CAP_GEN(dev, log_max_ra_res_qp);
	attr->max_res_rd_atom = attr->max_qp_rd_atom * attr->max_qp;
	attr->max_cq = 1 << CRNIC_CAP_GEN(dev, log_max_cq);
	/* one less than a power of two, since users round cqe + 1 up */
	attr->max_cqe = (1 << CRNIC_CAP_GEN(dev, log_max_cq_sz)) - 1;
	attr->cq_caps.max_cq_moderation_count = CRNIC_CAP_GEN(dev, cq_moderation) ? U16_MAX : 0;
	attr->cq_caps.max_cq_moderation_period =
		CRNIC_CAP_GEN(dev, cq_moderation) ? MLX5_MAX_CQ_PERIOD : 0;

	if (!CRNIC_CAP_GEN(dev, log_max_rmp))
		return;
	attr->max_srq = 1 << CRNIC_CAP_GEN(dev, log_max_rmp);
	attr->max_srq_wr = (1 << CRNIC_CAP_GEN(dev, log_max_srq_sz)) - 1;
	attr->max_srq_sge = crnic_ib_max_srq_sge(dev);
}

static void crnic_ib_memory_limits(const struct crnic_dev *dev, struct ib_device_attr *attr)
{
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = GENMASK_ULL(30, CRNIC_ADAPTER_PAGE_SHIFT);
	attr->max_mr = 1 << CRNIC_CAP_GEN(dev, log_max_mkey);
	if (CRNIC_CAP_GEN(dev, imaicl))
		attr->max_mw = attr->max_mr;
	attr->max_pd = 1 << CRNIC_CAP_GEN(dev, log_max_pd);
	if (crnic_ib_frwr(dev))
		attr->max_fast_reg_page_list_len = 1 << CRNIC_CAP_GEN(dev, log_max_klm_list_size);
}

static void crnic_ib_clock_limits(const struct crnic_ib *ib, struct ib_device_attr *attr)
{
	if (!ib->clock)
		return;
	attr->hca_core_clock = CRNIC_CAP_GEN(ib->dev, device_frequency_khz);
	/* the top bit tells real time from ticks on newer devices */
	attr->timestamp_mask = GENMASK_ULL(62, 0);
}

static void crnic_ib_port_limits(const struct crnic_dev *dev, struct ib_device_attr *attr)
{
	attr->local_ca_ack_delay = CRNIC_CAP_GEN(dev, local_ca_ack_delay);
	attr->max_pkeys = 1;
	attr->max_ah = INT_MAX;
	if (!CRNIC_CAP_GEN(dev, max_qp_mcg))
		return;
	attr->max_mcast_grp = 1 << CRNIC_CAP_GEN(dev, log_max_mcg);
	attr->max_mcast_qp_attach = CRNIC_CAP_GEN(dev, max_qp_mcg);
	attr->max_total_mcast_qp_attach = attr->max_mcast_qp_attach * attr->max_mcast_grp;
}

/* None of the extras of the vendor's answer exists here: zero means absent */
static int crnic_ib_query_device_resp(struct ib_udata *udata)
{
	struct mlx5_ib_query_device_resp resp = {};

	resp.response_length = min(udata->outlen, sizeof(resp));
	return ib_copy_to_udata(udata, &resp, resp.response_length);
}

/**
 * crnic_ib_query_device - report limits and abilities
 * @ibdev: device
 * @attr: answer
 * @udata: the library's part; it sends nothing and takes what it knows of the answer
 *
 * Return: 0, -EINVAL for input or for too little room.
 */
int crnic_ib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			  struct ib_udata *udata)
{
	struct crnic_ib *ib = to_cib(ibdev);

	if (udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;
	if (udata->outlen && udata->outlen < offsetofend(struct mlx5_ib_query_device_resp,
							 response_length))
		return -EINVAL;

	memset(attr, 0, sizeof(*attr));
	crnic_ib_identity(ib, attr);
	crnic_ib_flags(ib->dev, attr);
	crnic_ib_queue_limits(ib->dev, attr);
	crnic_ib_memory_limits(ib->dev, attr);
	crnic_ib_port_limits(ib->dev, attr);
	crnic_ib_clock_limits(ib, attr);
	return udata->outlen ? crnic_ib_query_device_resp(udata) : 0;
}

/**
 * crnic_ib_modify_device - change the node description
 * @ibdev: device
 * @mask: what to change; nothing else can be
 * @props: its new value
 *
 * The device keeps it, for whoever loads a driver next.
 *
 * Context: process.
 * Return: 0, -EOPNOTSUPP for another attribute, or errno with the old one left.
 */
int crnic_ib_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *props)
{
	int err;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (!mask)
		return 0;

	err = crnic_node_desc_set(to_cdev(ibdev), props->node_desc);
	if (!err)
		memcpy(ibdev->node_desc, props->node_desc, sizeof(ibdev->node_desc));
	return err;
}
