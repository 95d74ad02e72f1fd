// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Small questions that the mlx5 user ABI adds to those of verbs */
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "ib.h"

#define UVERBS_MODULE_NAME crnic
#include <rdma/uverbs_named_ioctl.h>

/* a process that imports another's PD asks for its number */
static int UVERBS_HANDLER(MLX5_IB_METHOD_PD_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_pd *ibpd = uverbs_attr_get_obj(attrs, MLX5_IB_ATTR_QUERY_PD_HANDLE);
	u32 pdn = to_cpd(ibpd)->pdn;

	return uverbs_copy_to(attrs, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pdn, sizeof(pdn));
}

/* all that there is to tell is of an e-switch, so nothing is flagged as known */
static int UVERBS_HANDLER(MLX5_IB_METHOD_QUERY_PORT)(struct uverbs_attr_bundle *attrs)
{
	struct mlx5_ib_uapi_query_port info = {};
	struct ib_ucontext *ibctx;
	u32 port;
	int err;

	err = uverbs_copy_from(&port, attrs, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM);
	if (err)
		return err;
	ibctx = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(ibctx))
		return PTR_ERR(ibctx);
	if (!rdma_is_port_valid(ibctx->device, port))
		return -EINVAL;
	return uverbs_copy_to_struct_or_zero(attrs, MLX5_IB_ATTR_QUERY_PORT, &info, sizeof(info));
}

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_IB_METHOD_PD_QUERY,
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_QUERY_PD_HANDLE, UVERBS_OBJECT_PD, UVERBS_ACCESS_READ,
			UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, UVERBS_ATTR_TYPE(u32),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_IB_METHOD_QUERY_PORT,
	UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, UVERBS_ATTR_TYPE(u32),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_PORT,
			    UVERBS_ATTR_STRUCT(struct mlx5_ib_uapi_query_port, reg_c0),
			    UA_MANDATORY));

ADD_UVERBS_METHODS(crnic_ib_pd_methods, UVERBS_OBJECT_PD,
		   &UVERBS_METHOD(MLX5_IB_METHOD_PD_QUERY));

ADD_UVERBS_METHODS(crnic_ib_port_methods, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(MLX5_IB_METHOD_QUERY_PORT));

const struct uapi_definition crnic_ib_dv_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &crnic_ib_pd_methods),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &crnic_ib_port_methods),
	{},
};
