// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains and XRC domains */
#include <crnic/obj/pd.h>

#include "ib.h"

/**
 * crnic_ib_alloc_pd - create a protection domain
 * @ibpd: PD
 * @udata: NULL for the kernel; the library wants the number
 *
 * Return: 0 or errno.
 */
int crnic_ib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct crnic_dev *dev = to_cdev(ibpd->device);
	struct crnic_ib_pd *pd = to_cpd(ibpd);
	struct mlx5_ib_alloc_pd_resp resp = {};
	int err;

	err = crnic_pd_alloc(dev, &pd->pdn);
	if (err || !udata)
		return err;

	resp.pdn = pd->pdn;
	err = ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp)));
	if (err)
		crnic_pd_dealloc(dev, pd->pdn);
	return err;
}

/**
 * crnic_ib_dealloc_pd - destroy a protection domain
 * @ibpd: PD
 * @udata: NULL for the kernel
 *
 * Return: 0 or errno.
 */
int crnic_ib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return crnic_pd_dealloc(to_cdev(ibpd->device), to_cpd(ibpd)->pdn);
}

/**
 * crnic_ib_alloc_xrcd - create an XRC domain
 * @ibxrcd: domain
 * @udata: nothing is exchanged
 *
 * Return: 0 or errno.
 */
int crnic_ib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return crnic_xrcd_alloc(to_cdev(ibxrcd->device), &to_cxrcd(ibxrcd)->xrcdn);
}

/**
 * crnic_ib_dealloc_xrcd - destroy an XRC domain
 * @ibxrcd: domain
 * @udata: nothing is exchanged
 *
 * Return: 0 or errno.
 */
int crnic_ib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return crnic_xrcd_dealloc(to_cdev(ibxrcd->device), to_cxrcd(ibxrcd)->xrcdn);
}
