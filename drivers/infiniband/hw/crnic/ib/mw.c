// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows: keys without a meaning, which a user's bind work request
 * gives one that lies within a region of its own protection domain.
 */
#include "ib.h"

/* A window shows one region; a key's translations are read four at a time */
#define CRNIC_MW_OCTWORDS	4

/* The library's request is empty, or says that it wants one translation */
static int crnic_mw_check_udata(struct ib_udata *udata)
{
	struct mlx5_ib_alloc_mw req = {};
	int err;

	if (!udata || !udata->inlen)
		return 0;
	err = ib_copy_from_udata(&req, udata, min(udata->inlen, sizeof(req)));
	if (err)
		return err;
	if (req.comp_mask || req.reserved1 || req.reserved2 || req.num_klms > 1)
		return -EOPNOTSUPP;
	if (udata->inlen > sizeof(req) &&
	    !ib_is_udata_cleared(udata, sizeof(req), udata->inlen - sizeof(req)))
		return -EOPNOTSUPP;
	return 0;
}

/**
 * crnic_ib_alloc_mw - create a memory window
 * @ibmw: window; type and PD are set
 * @udata: mlx5_ib_alloc_mw, or nothing
 *
 * Return: 0, -EOPNOTSUPP for extras, or errno.
 */
int crnic_ib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct crnic_ib *ib = to_cib(ibmw->device);
	struct crnic_mkey_params p = {
		.pdn = to_cpd(ibmw->pd)->pdn,
		.mode = CRNIC_MKEY_KLM,
		.access = CRNIC_MKEY_LOCAL_READ,
		.free = true,
		.umr = true,
		/* only the second type may be taken away by a peer (IBTA: C10-77) */
		.remote_inval = ibmw->type == IB_MW_TYPE_2,
		.octwords = CRNIC_MW_OCTWORDS,
	};
	int err;

	err = crnic_mw_check_udata(udata);
	if (err)
		return err;

	p.variant = atomic_inc_return(&ib->key_variant);
	return crnic_mkey_create(ib->dev, &p, &ibmw->rkey);
}

/**
 * crnic_ib_dealloc_mw - destroy a memory window
 * @ibmw: window, bound or not
 *
 * Return: 0 or errno.
 */
int crnic_ib_dealloc_mw(struct ib_mw *ibmw)
{
	return crnic_mkey_destroy(to_cdev(ibmw->device), ibmw->rkey);
}
