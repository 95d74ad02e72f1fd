// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Multicast groups of UD QPs */
#include <crnic/obj/qp.h>

#include "ib.h"

/**
 * crnic_ib_attach_mcast - let a QP receive from a multicast group
 * @ibqp: UD QP
 * @gid: group
 * @lid: unused with RoCE
 *
 * Return: 0 or errno.
 */
int crnic_ib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	if (ibqp->qp_type != IB_QPT_UD)
		return -EINVAL;
	return crnic_mcg_attach(to_cdev(ibqp->device), to_cqp(ibqp)->qpn, gid->raw);
}

/**
 * crnic_ib_detach_mcast - undo crnic_ib_attach_mcast()
 * @ibqp: UD QP
 * @gid: group
 * @lid: unused with RoCE
 *
 * Return: 0 or errno.
 */
int crnic_ib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return crnic_mcg_detach(to_cdev(ibqp->device), to_cqp(ibqp)->qpn, gid->raw);
}
