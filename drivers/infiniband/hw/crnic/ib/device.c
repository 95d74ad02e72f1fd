// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The verbs device: operations, registration, attributes of its sysfs folder */
#include <linux/etherdevice.h>
#include <net/addrconf.h>

#include <crnic/obj/counter.h>

#include "ib.h"

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct crnic_ib *ib = rdma_device_to_drv_device(device, struct crnic_ib, ibdev);

	return sysfs_emit(buf, "%x\n", ib->dev->pdev->revision);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct crnic_ib *ib = rdma_device_to_drv_device(device, struct crnic_ib, ibdev);

	return sysfs_emit(buf, "MT%d\n", ib->dev->pdev->device);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct crnic_ib *ib = rdma_device_to_drv_device(device, struct crnic_ib, ibdev);

	return sysfs_emit(buf, "%s\n", ib->dev->board_id);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *crnic_ib_attrs[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	NULL
};

static const struct attribute_group crnic_ib_attr_group = {
	.attrs = crnic_ib_attrs,
};

static void crnic_ib_fw_str(struct ib_device *ibdev, char *str)
{
	const u16 *rev = to_cdev(ibdev)->fw_rev;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%04u", rev[0], rev[1], rev[2]);
}

static const struct cpumask *crnic_ib_vector_affinity(struct ib_device *ibdev, int vector)
{
	return crnic_comp_affinity(to_cdev(ibdev), vector);
}

static const struct ib_device_ops crnic_ib_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_MLX5,
	.uverbs_abi_ver = MLX5_IB_UVERBS_ABI_VERSION,
	.device_group = &crnic_ib_attr_group,

	.get_dev_fw_str = crnic_ib_fw_str,
	.get_vector_affinity = crnic_ib_vector_affinity,
	.query_device = crnic_ib_query_device,
	.modify_device = crnic_ib_modify_device,

	.query_port = crnic_ib_query_port,
	.get_port_immutable = crnic_ib_port_immutable,
	.get_link_layer = crnic_ib_link_layer,
	.query_pkey = crnic_ib_query_pkey,
	.add_gid = crnic_ib_add_gid,
	.del_gid = crnic_ib_del_gid,

	.alloc_ucontext = crnic_ib_alloc_ucontext,
	.query_ucontext = crnic_ib_query_ucontext,
	.dealloc_ucontext = crnic_ib_dealloc_ucontext,
	.mmap = crnic_ib_mmap,
	.mmap_free = crnic_ib_mmap_free,
	.disassociate_ucontext = crnic_ib_disassociate,

	.alloc_pd = crnic_ib_alloc_pd,
	.dealloc_pd = crnic_ib_dealloc_pd,
	.create_ah = crnic_ib_create_ah,
	.create_user_ah = crnic_ib_create_ah,
	.query_ah = crnic_ib_query_ah,
	.destroy_ah = crnic_ib_destroy_ah,

	.get_dma_mr = crnic_ib_get_dma_mr,
	.reg_user_mr = crnic_ib_reg_user_mr,
	.rereg_user_mr = crnic_ib_rereg_user_mr,
	.dereg_mr = crnic_ib_dereg_mr,

	.create_cq = crnic_ib_create_cq,
	.modify_cq = crnic_ib_modify_cq,
	.destroy_cq = crnic_ib_destroy_cq,
	.poll_cq = crnic_ib_poll_cq,
	.req_notify_cq = crnic_ib_req_notify_cq,

	.create_qp = crnic_ib_create_qp,
	.modify_qp = crnic_ib_modify_qp,
	.query_qp = crnic_ib_query_qp,
	.destroy_qp = crnic_ib_destroy_qp,
	.post_send = crnic_ib_post_send,
	.post_recv = crnic_ib_post_recv,

	.create_flow = crnic_ib_create_flow,
	.destroy_flow = crnic_ib_destroy_flow,

	INIT_RDMA_OBJ_SIZE(ib_ah, crnic_ib_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, crnic_ib_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, crnic_ib_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, crnic_ib_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, crnic_ib_ctx, ibctx),
};

static const struct ib_device_ops crnic_ib_srq_ops = {
	.create_srq = crnic_ib_create_srq,
	.modify_srq = crnic_ib_modify_srq,
	.query_srq = crnic_ib_query_srq,
	.destroy_srq = crnic_ib_destroy_srq,
	.post_srq_recv = crnic_ib_post_srq_recv,

	INIT_RDMA_OBJ_SIZE(ib_srq, crnic_ib_srq, ibsrq),
};

static const struct ib_device_ops crnic_ib_xrc_ops = {
	.alloc_xrcd = crnic_ib_alloc_xrcd,
	.dealloc_xrcd = crnic_ib_dealloc_xrcd,

	INIT_RDMA_OBJ_SIZE(ib_xrcd, crnic_ib_xrcd, ibxrcd),
};

static const struct ib_device_ops crnic_ib_resize_ops = {
	.resize_cq = crnic_ib_resize_cq,
};

static const struct ib_device_ops crnic_ib_mw_ops = {
	.alloc_mw = crnic_ib_alloc_mw,
	.dealloc_mw = crnic_ib_dealloc_mw,

	INIT_RDMA_OBJ_SIZE(ib_mw, crnic_ib_mw, ibmw),
};

static const struct ib_device_ops crnic_ib_frwr_ops = {
	.alloc_mr = crnic_ib_alloc_mr,
	.map_mr_sg = crnic_ib_map_mr_sg,
};

static const struct ib_device_ops crnic_ib_mcast_ops = {
	.attach_mcast = crnic_ib_attach_mcast,
	.detach_mcast = crnic_ib_detach_mcast,
};

static const struct ib_device_ops crnic_ib_stats_ops = {
	.alloc_hw_port_stats = crnic_ib_alloc_stats,
	.get_hw_stats = crnic_ib_get_stats,
};

static const struct uapi_definition crnic_ib_defs[] = {
	UAPI_DEF_CHAIN(crnic_ib_uar_defs),
	UAPI_DEF_CHAIN(crnic_ib_cq_defs),
	UAPI_DEF_CHAIN(crnic_ib_ctx_defs),
	UAPI_DEF_CHAIN(crnic_ib_dv_defs),
	UAPI_DEF_CHAIN(crnic_ib_flow_defs),
	{},
};

/* An operation is offered only where the device can do it: users ask by trying */
static void crnic_ib_set_ops(struct crnic_ib *ib)
{
	struct crnic_dev *dev = ib->dev;

	ib_set_device_ops(&ib->ibdev, &crnic_ib_ops);
	if (CRNIC_CAP_GEN(dev, log_max_rmp))
		ib_set_device_ops(&ib->ibdev, &crnic_ib_srq_ops);
	if (CRNIC_CAP_GEN(dev, xrc))
		ib_set_device_ops(&ib->ibdev, &crnic_ib_xrc_ops);
	if (CRNIC_CAP_GEN(dev, cq_resize))
		ib_set_device_ops(&ib->ibdev, &crnic_ib_resize_ops);
	if (CRNIC_CAP_GEN(dev, imaicl))
		ib_set_device_ops(&ib->ibdev, &crnic_ib_mw_ops);
	if (crnic_ib_frwr(dev))
		ib_set_device_ops(&ib->ibdev, &crnic_ib_frwr_ops);
	if (CRNIC_CAP_GEN(dev, max_qp_mcg))
		ib_set_device_ops(&ib->ibdev, &crnic_ib_mcast_ops);
	if (ib->has_counters)
		ib_set_device_ops(&ib->ibdev, &crnic_ib_stats_ops);
	ib->ibdev.driver_def = crnic_ib_defs;
}

static void crnic_ib_set_guids(struct crnic_ib *ib)
{
	u64 node = ib->nic.node_guid;

	if (!node) {
		__be64 eui;

		addrconf_addr_eui48((u8 *)&eui, ib->dev->mac);
		node = be64_to_cpu(eui);
	}
	ib->ibdev.node_guid = cpu_to_be64(node);
	if (!ib->nic.system_image_guid)
		ib->nic.system_image_guid = node;
}

static void crnic_ib_describe(struct crnic_ib *ib)
{
	struct ib_device *ibdev = &ib->ibdev;

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = crnic_comp_vectors(ib->dev);
	ibdev->dev.parent = ib->dev->device;
	crnic_ib_set_guids(ib);
	crnic_ib_set_ops(ib);
}

static int crnic_ib_counters_get(struct crnic_ib *ib)
{
	int err;

	if (!CRNIC_CAP_GEN(ib->dev, max_qp_cnt))
		return 0;
	err = crnic_q_counter_alloc(ib->dev, &ib->counter_set);
	ib->has_counters = !err;
	return err;
}

static void crnic_ib_counters_put(struct crnic_ib *ib)
{
	if (ib->has_counters)
		crnic_q_counter_dealloc(ib->dev, ib->counter_set);
}

/* what the device has to be told or asked before the first verb */
static int crnic_ib_prepare(struct crnic_ib *ib)
{
	struct crnic_dev *dev = ib->dev;
	int err;

	err = crnic_vport_nic_query(dev, &ib->nic);
	if (err)
		return err;

	err = crnic_node_desc_query(dev, ib->ibdev.node_desc);
	if (err)
		return err;

	err = crnic_special_keys_query(dev, &ib->keys);
	if (err)
		return err;

	err = crnic_vport_roce_set(dev, true);
	if (err)
		return err;

	err = crnic_ib_counters_get(ib);
	if (err)
		goto err_roce;

	err = crnic_ib_idle_create(ib);
	if (err)
		goto err_counters;

	err = crnic_ib_umr_create(ib);
	if (err)
		goto err_idle;

	err = crnic_ib_clock_start(ib);
	if (err)
		goto err_umr;

	ib->flows = crnic_flows_create(dev);
	if (!ib->flows) {
		err = -ENOMEM;
		goto err_clock;
	}
	return 0;

err_clock:
	crnic_ib_clock_stop(ib);
err_umr:
	crnic_ib_umr_destroy(ib);
err_idle:
	crnic_ib_idle_destroy(ib);
err_counters:
	crnic_ib_counters_put(ib);
err_roce:
	crnic_vport_roce_set(dev, false);
	return err;
}

static void crnic_ib_unprepare(struct crnic_ib *ib)
{
	crnic_flows_destroy(ib->flows);
	crnic_ib_clock_stop(ib);
	crnic_ib_umr_destroy(ib);
	crnic_ib_idle_destroy(ib);
	crnic_ib_counters_put(ib);
	crnic_vport_roce_set(ib->dev, false);
}

static int crnic_ib_dev_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct crnic_ib *ib = container_of(nb, struct crnic_ib, dev_nb);
	struct ib_event ibevent = {
		.device = &ib->ibdev,
		.event = IB_EVENT_DEVICE_FATAL,
		.element.port_num = CRNIC_PORT,
	};

	if (event != CRNIC_EVENT_FATAL)
		return NOTIFY_DONE;

	crnic_ib_kick_all(ib);
	ib_dispatch_event(&ibevent);
	return NOTIFY_OK;
}

static int crnic_ib_register(struct crnic_ib *ib)
{
	struct crnic_dev *dev = ib->dev;
	int err;

	err = ib_device_set_netdev(&ib->ibdev, dev->netdev, CRNIC_PORT);
	if (err)
		return err;

	ib->dev_nb.notifier_call = crnic_ib_dev_event;
	err = crnic_notifier_add(dev, &ib->dev_nb);
	if (err)
		return err;

	err = ib_register_device(&ib->ibdev, "crnic_%d", dev->device);
	if (err)
		goto err_notifier;

	err = crnic_ib_port_start(ib);
	if (err)
		goto err_unregister;
	return 0;

err_unregister:
	ib_unregister_device(&ib->ibdev);
err_notifier:
	crnic_notifier_del(dev, &ib->dev_nb);
	cancel_work_sync(&ib->kick);
	return err;
}

/**
 * crnic_ib_add - register the verbs device
 * @dev: function, its netdev registered
 *
 * Context: process; last stage of bring-up.
 * Return: 0, also for a device without RoCE, which then has no verbs device; or
 * an errno, with nothing left behind.
 */
int crnic_ib_add(struct crnic_dev *dev)
{
	struct crnic_ib *ib;
	int err;

	if (!CRNIC_CAP_GEN(dev, roce))
		return 0;

	ib = ib_alloc_device(crnic_ib, ibdev);
	if (!ib)
		return -ENOMEM;

	ib->dev = dev;
	xa_init_flags(&ib->qps, XA_FLAGS_LOCK_IRQ);
	INIT_WORK(&ib->kick, crnic_ib_kick_work);
	ib->wq = alloc_workqueue("crnic_ib", WQ_MEM_RECLAIM, 0);
	if (!ib->wq) {
		err = -ENOMEM;
		goto err_dealloc;
	}

	err = crnic_ib_prepare(ib);
	if (err)
		goto err_wq;

	crnic_ib_describe(ib);
	err = crnic_ib_register(ib);
	if (err)
		goto err_unprepare;

	dev->ib = ib;
	return 0;

err_unprepare:
	crnic_ib_unprepare(ib);
err_wq:
	destroy_workqueue(ib->wq);
err_dealloc:
	xa_destroy(&ib->qps);
	ib_dealloc_device(&ib->ibdev);
	return err;
}

/**
 * crnic_ib_remove - unregister the verbs device
 * @dev: function
 *
 * Context: process; first step of removal.  Users of the device lose it.
 */
void crnic_ib_remove(struct crnic_dev *dev)
{
	struct crnic_ib *ib = dev->ib;

	if (!ib)
		return;

	dev->ib = NULL;
	crnic_ib_port_stop(ib);
	ib_unregister_device(&ib->ibdev);
	crnic_notifier_del(dev, &ib->dev_nb);
	cancel_work_sync(&ib->kick);
	crnic_ib_unprepare(ib);
	destroy_workqueue(ib->wq);
	xa_destroy(&ib->qps);
	ib_dealloc_device(&ib->ibdev);
}
