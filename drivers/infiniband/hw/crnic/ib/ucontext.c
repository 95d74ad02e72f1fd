// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts, by the rules of the mlx5 user ABI.  crnic knows the dynamic
 * UAR mode only: doorbell pages are objects that the library asks for (uar.c).
 */
#include <crnic/obj/pd.h>

#include "ib.h"

#define UVERBS_MODULE_NAME crnic
#include <rdma/uverbs_named_ioctl.h>

/* wqe_inline_mode of the Ethernet capabilities (no public header names the values alone) */
enum crnic_inline_cap {
	CRNIC_INLINE_L2,
	CRNIC_INLINE_VPORT,
	CRNIC_INLINE_NONE,
};

/* The library sends 8 bytes (an ABI older than dynamic UARs), 24 or 32 */
static int crnic_ctx_request(struct ib_udata *udata, struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	int err;

	if (udata->inlen < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, lib_caps))
		return -EINVAL;
	if (udata->inlen > sizeof(*req) &&
	    !ib_is_udata_cleared(udata, sizeof(*req), udata->inlen - sizeof(*req)))
		return -EOPNOTSUPP;

	err = ib_copy_from_udata(req, udata, min(sizeof(*req), udata->inlen));
	if (err)
		return err;

	/* DEVX is a flag; the library asks again without it */
	if (req->flags || req->comp_mask || req->reserved0 || req->reserved1 || req->reserved2)
		return -EOPNOTSUPP;
	if (!(req->lib_caps & MLX5_LIB_CAP_DYN_UAR))
		return -EOPNOTSUPP;
	return 0;
}

/* The user's value is the firmware's plus one, so that zero can mean unknown */
static u8 crnic_ctx_min_inline(const struct crnic_ib *ib)
{
	switch (CRNIC_CAP_ETH(ib->dev, wqe_inline_mode)) {
	case CRNIC_INLINE_L2:
		return MLX5_USER_INLINE_MODE_L2;
	case CRNIC_INLINE_VPORT:
		return ib->nic.min_inline + 1;
	default:
		return MLX5_USER_INLINE_MODE_NONE;
	}
}

static void crnic_ctx_limits(const struct crnic_dev *dev, struct mlx5_ib_alloc_ucontext_resp *resp)
{
	resp->qp_tab_size = 1 << CRNIC_CAP_GEN(dev, log_max_qp);
	resp->max_sq_desc_sz = CRNIC_CAP_GEN(dev, max_wqe_sz_sq);
	resp->max_rq_desc_sz = CRNIC_CAP_GEN(dev, max_wqe_sz_rq);
	resp->max_send_wqebb = 1 << CRNIC_CAP_GEN(dev, log_max_qp_sz);
	resp->max_recv_wr = 1 << CRNIC_CAP_GEN(dev, log_max_qp_sz);
	resp->max_srq_recv_wr = 1 << CRNIC_CAP_GEN(dev, log_max_srq_sz);
}

static void crnic_ctx_describe(const struct crnic_ib *ib, const struct crnic_ib_ctx *ctx,
			       struct mlx5_ib_alloc_ucontext_resp *resp)
{
	*resp = (struct mlx5_ib_alloc_ucontext_resp) {
		/* spacing of doorbell records; the library divides by it */
		.cache_line_size = L1_CACHE_BYTES,
		.num_ports = 1,
		.cqe_version = ctx->cqe_version,
		.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE |
				 MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
		.eth_min_inline = crnic_ctx_min_inline(ib),
		.log_uar_size = CRNIC_CAP_GEN(ib->dev, uar_4k) ? CRNIC_ADAPTER_PAGE_SHIFT :
								 PAGE_SHIFT,
		.num_uars_per_page = CRNIC_CAP_GEN(ib->dev, uar_4k) ?
				     BIT(PAGE_SHIFT - CRNIC_ADAPTER_PAGE_SHIFT) : 1,
	};

	/*
	 * What stays zero says: no BlueFlame (bf_reg_size), dynamic UARs
	 * (tot_bfregs, num_dyn_bfregs).
	 */
	crnic_ctx_limits(ib->dev, resp);
	crnic_ib_clock_describe(ib, resp);
	if (!ib->keys.dump_fill_mkey)
		return;
	resp->dump_fill_mkey = ib->keys.dump_fill_mkey;
	resp->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY;
}

static int crnic_ctx_respond(const struct crnic_ib *ib, const struct crnic_ib_ctx *ctx,
			     struct ib_udata *udata)
{
	struct mlx5_ib_alloc_ucontext_resp resp;

	crnic_ctx_describe(ib, ctx, &resp);
	resp.response_length = min(udata->outlen, sizeof(resp));
	return ib_copy_to_udata(udata, &resp, resp.response_length);
}

/**
 * crnic_ib_alloc_ucontext - open the device for a process
 * @ibctx: context
 * @udata: mlx5_ib_alloc_ucontext_req_v2 and its answer
 *
 * The library tries up to six forms of the request, so a refusal leaves nothing.
 *
 * Return: 0, -EINVAL for the oldest request, -EOPNOTSUPP for what crnic has not.
 */
int crnic_ib_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {};
	struct crnic_ib_ctx *ctx = to_cctx(ibctx);
	struct crnic_ib *ib = to_cib(ibctx->device);
	int err;

	err = crnic_ctx_request(udata, &req);
	if (err)
		return err;

	ctx->cqe_version = min(CRNIC_CAP_GEN(ib->dev, cqe_version), req.max_cqe_version);
	mutex_init(&ctx->dbr_lock);
	mutex_init(&ctx->td_lock);
	INIT_LIST_HEAD(&ctx->dbr_pages);
	err = crnic_ctx_respond(ib, ctx, udata);
	if (err)
		crnic_ib_dealloc_ucontext(ibctx);
	return err;
}

/**
 * crnic_ib_ctx_tdn - the transport domain of a process
 * @ctx: the process
 * @tdn: answer
 *
 * The device does not give a frame back to the domain that sent it, but to
 * others: so a process's own queues do not hear each other, as with mlx5_ib.
 *
 * Return: 0 or errno.
 */
int crnic_ib_ctx_tdn(struct crnic_ib_ctx *ctx, u32 *tdn)
{
	int err = 0;

	mutex_lock(&ctx->td_lock);
	if (!ctx->has_td)
		err = crnic_td_alloc(to_cdev(ctx->ibctx.device), &ctx->tdn);
	if (!err)
		ctx->has_td = true;
	*tdn = ctx->tdn;
	mutex_unlock(&ctx->td_lock);
	return err;
}

/**
 * crnic_ib_query_ucontext - tell a process that imports a context about it
 * @ibctx: context
 * @attrs: where the answer goes, as for the opening
 *
 * Return: 0 or errno.
 */
int crnic_ib_query_ucontext(struct ib_ucontext *ibctx, struct uverbs_attr_bundle *attrs)
{
	const int len = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);
	struct mlx5_ib_alloc_ucontext_resp resp;

	if (len < 0)
		return len;
	crnic_ctx_describe(to_cib(ibctx->device), to_cctx(ibctx), &resp);
	resp.response_length = min_t(size_t, len, sizeof(resp));
	return uverbs_copy_to_struct_or_zero(attrs, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, &resp,
					     sizeof(resp));
}

/**
 * crnic_ib_dealloc_ucontext - close the device for a process
 * @ibctx: context; its objects are gone
 */
void crnic_ib_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct crnic_ib_ctx *ctx = to_cctx(ibctx);

	if (ctx->has_td)
		crnic_td_dealloc(to_cdev(ibctx->device), ctx->tdn);
	mutex_destroy(&ctx->td_lock);
	mutex_destroy(&ctx->dbr_lock);
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(
	crnic_ib_ctx_query_attrs,
	UVERBS_OBJECT_DEVICE,
	UVERBS_METHOD_QUERY_CONTEXT,
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX,
			    UVERBS_ATTR_STRUCT(struct mlx5_ib_alloc_ucontext_resp,
					       dump_fill_mkey),
			    UA_MANDATORY));

const struct uapi_definition crnic_ib_ctx_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &crnic_ib_ctx_query_attrs),
	{},
};
