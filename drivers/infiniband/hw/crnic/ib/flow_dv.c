// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flow matchers and the rules made of them, as objects of the mlx5 user ABI.  A
 * matcher is a mask and a priority; it costs the device nothing until there is a
 * rule.  Masks and values come in the layout of the device, and are read field by
 * field: what is handed to the device is never the user's bytes.
 */
#include <linux/capability.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/uverbs_std_types.h>

#include "ib.h"

#define UVERBS_MODULE_NAME crnic
#include <rdma/uverbs_named_ioctl.h>

/* match_criteria_enable: outer headers, which is all that crnic looks at */
#define CRNIC_FLOW_OUTER	BIT(0)

/**
 * struct crnic_ib_matcher - a mask for rules to come
 * @users: rules that were made of it
 * @prio: their priority
 * @mask: what they compare
 */
struct crnic_ib_matcher {
	atomic_t users;
	u16 prio;
	struct crnic_flow_match mask;
};

/* The types of rules: of those that mlx5 defines, only this one is there */
static const struct uverbs_attr_spec crnic_flow_types[] = {
	[MLX5_IB_FLOW_TYPE_NORMAL] = {
		.type = UVERBS_ATTR_TYPE_PTR_IN,
		.u.ptr = { .len = sizeof(u16), .min_len = sizeof(u16) },
	},
};

/**
 * crnic_flow_mask_parse - read a user's mask
 * @param: the first bytes of a fte_match_param
 * @len: how many
 * @criteria: its parts that count
 * @mask: filled
 *
 * Return: 0, -EOPNOTSUPP for parts and fields that crnic has not, -EINVAL for a
 * mask in a part that does not count.
 */
int crnic_flow_mask_parse(const void *param, size_t len, u8 criteria,
			  struct crnic_flow_match *mask)
{
	int err;

	if (criteria & ~CRNIC_FLOW_OUTER)
		return -EOPNOTSUPP;
	err = crnic_flow_match_parse(param, len, mask);
	if (err)
		return err;
	if (!criteria && memchr_inv(mask, 0, sizeof(*mask)))
		return -EINVAL;
	return 0;
}

static int crnic_matcher_mask(struct uverbs_attr_bundle *attrs, struct crnic_flow_match *mask)
{
	int len = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK);
	const void *param;
	u8 criteria;
	int err;

	err = uverbs_copy_from(&criteria, attrs, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA);
	if (err)
		return err;
	param = uverbs_attr_get_alloced_ptr(attrs, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK);
	if (IS_ERR(param))
		return PTR_ERR(param);
	return crnic_flow_mask_parse(param, len, criteria, mask);
}

/* Received frames of the NIC: said by a type, by flags of older users, or by neither */
static int crnic_matcher_direction(struct uverbs_attr_bundle *attrs)
{
	enum mlx5_ib_uapi_flow_table_type type;
	u32 flags;
	int err;

	if (uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE)) {
		if (uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS))
			return -EINVAL;
		err = uverbs_get_const(&type, attrs, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE);
		if (err)
			return err;
		return type == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX ? 0 : -EOPNOTSUPP;
	}

	err = uverbs_get_flags32(&flags, attrs, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS,
				 IB_FLOW_ATTR_FLAGS_EGRESS);
	if (err)
		return err;
	return flags ? -EOPNOTSUPP : 0;
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_FLOW_MATCHER_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	struct crnic_ib_matcher *matcher;
	int err;

	err = crnic_matcher_direction(attrs);
	if (err)
		return err;
	matcher = kzalloc(sizeof(*matcher), GFP_KERNEL);
	if (!matcher)
		return -ENOMEM;

	err = uverbs_copy_from(&matcher->prio, attrs, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE);
	if (!err && matcher->prio >= CRNIC_FLOW_PRIOS)
		err = -EINVAL;
	if (!err)
		err = crnic_matcher_mask(attrs, &matcher->mask);
	if (err) {
		kfree(matcher);
		return err;
	}
	uobj->object = matcher;
	return 0;
}

/* A dying process's objects are tried until all are gone, so rules may go after it */
static int crnic_matcher_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why,
				 struct uverbs_attr_bundle *attrs)
{
	struct crnic_ib_matcher *matcher = uobj->object;

	if (atomic_read(&matcher->users))
		return -EBUSY;
	kfree(matcher);
	return 0;
}

static int crnic_flow_dest_qp(struct uverbs_attr_bundle *attrs, struct crnic_flow_dest *dest,
			      struct ib_qp **ibqp)
{
	*ibqp = uverbs_attr_get_obj(attrs, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP);
	dest->type = CRNIC_FLOW_TO_TIR;
	return crnic_raw_tirn(to_cqp(*ibqp), &dest->id);
}

/* There is one end for a frame: a QP, the netdev as if there were no rule, or none */
static int crnic_flow_end(struct uverbs_attr_bundle *attrs, struct crnic_dev *dev,
			  struct crnic_flow_request *req, struct ib_qp **ibqp)
{
	bool qp = uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP);
	u32 flags;
	int err;

	err = uverbs_get_flags32(&flags, attrs, MLX5_IB_ATTR_CREATE_FLOW_FLAGS,
				 MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS |
				 MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP);
	if (err)
		return err;
	if (hweight32(flags) + qp != 1)
		return -EINVAL;
	if (qp)
		return crnic_flow_dest_qp(attrs, &req->dest, ibqp);

	req->drop = flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP;
	req->dest.type = CRNIC_FLOW_TO_TABLE;
	req->dest.id = dev->rx_table;
	return 0;
}

static int crnic_flow_value(struct uverbs_attr_bundle *attrs, struct crnic_flow_request *req)
{
	const void *param = uverbs_attr_get_alloced_ptr(attrs,
							MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE);
	int len = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE);
	int err;

	if (IS_ERR(param))
		return PTR_ERR(param);
	err = crnic_flow_match_parse(param, len, &req->value);
	if (err)
		return err;
	if (uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_CREATE_FLOW_TAG))
		err = uverbs_copy_from(&req->tag, attrs, MLX5_IB_ATTR_CREATE_FLOW_TAG);
	return err ? err : crnic_flow_check(req);
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_CREATE_FLOW)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_CREATE_FLOW_HANDLE);
	struct crnic_ib_matcher *matcher =
		uverbs_attr_get_obj(attrs, MLX5_IB_ATTR_CREATE_FLOW_MATCHER);
	struct crnic_ib *ib = to_cib(uobj->context->device);
	struct crnic_flow_request req = { .prio = matcher->prio, .mask = matcher->mask };
	struct crnic_ib_flow *flow;
	struct ib_qp *ibqp = NULL;
	int err;

	/* as for the verb: rules take frames away from all others on the host */
	if (!capable(CAP_NET_RAW))
		return -EPERM;

	err = crnic_flow_end(attrs, ib->dev, &req, &ibqp);
	if (err)
		return err;
	err = crnic_flow_value(attrs, &req);
	if (err)
		return err;

	flow = crnic_flow_add(ib->flows, &req);
	if (IS_ERR(flow))
		return PTR_ERR(flow);
	flow->matcher_users = &matcher->users;
	atomic_inc(&matcher->users);
	ib_set_flow(uobj, &flow->ibflow, ibqp, &ib->ibdev, NULL);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_IB_METHOD_FLOW_MATCHER_CREATE,
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, MLX5_IB_OBJECT_FLOW_MATCHER,
			UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK,
			   UVERBS_ATTR_SIZE(1, sizeof(struct mlx5_ib_match_params)),
			   UA_MANDATORY, UA_ALLOC_AND_COPY),
	UVERBS_ATTR_ENUM_IN(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, crnic_flow_types,
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, UVERBS_ATTR_TYPE(u8),
			   UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, enum ib_flow_flags,
			     UA_OPTIONAL),
	UVERBS_ATTR_CONST_IN(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE,
			     enum mlx5_ib_uapi_flow_table_type, UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, MLX5_IB_OBJECT_FLOW_MATCHER,
			UVERBS_ACCESS_DESTROY, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(MLX5_IB_OBJECT_FLOW_MATCHER,
			    UVERBS_TYPE_ALLOC_IDR(crnic_matcher_cleanup),
			    &UVERBS_METHOD(MLX5_IB_METHOD_FLOW_MATCHER_CREATE),
			    &UVERBS_METHOD(MLX5_IB_METHOD_FLOW_MATCHER_DESTROY));

/* What is left out here (DEVX objects, actions, counters) a user cannot name */
DECLARE_UVERBS_NAMED_METHOD(
	MLX5_IB_METHOD_CREATE_FLOW,
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, UVERBS_OBJECT_FLOW,
			UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE,
			   UVERBS_ATTR_SIZE(1, sizeof(struct mlx5_ib_match_params)),
			   UA_MANDATORY, UA_ALLOC_AND_COPY),
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_CREATE_FLOW_MATCHER, MLX5_IB_OBJECT_FLOW_MATCHER,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, UVERBS_OBJECT_QP,
			UVERBS_ACCESS_READ, UA_OPTIONAL),
	UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_CREATE_FLOW_TAG, UVERBS_ATTR_TYPE(u32), UA_OPTIONAL),
	UVERBS_ATTR_FLAGS_IN(MLX5_IB_ATTR_CREATE_FLOW_FLAGS, enum mlx5_ib_create_flow_flags,
			     UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	MLX5_IB_METHOD_DESTROY_FLOW,
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_DESTROY_FLOW_HANDLE, UVERBS_OBJECT_FLOW,
			UVERBS_ACCESS_DESTROY, UA_MANDATORY));

ADD_UVERBS_METHODS(crnic_ib_flow_methods, UVERBS_OBJECT_FLOW,
		   &UVERBS_METHOD(MLX5_IB_METHOD_CREATE_FLOW),
		   &UVERBS_METHOD(MLX5_IB_METHOD_DESTROY_FLOW));

const struct uapi_definition crnic_ib_flow_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_FLOW_MATCHER),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_FLOW, &crnic_ib_flow_methods),
	{},
};
