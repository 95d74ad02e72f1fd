/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_COMPAT_NET_H
#define CRNIC_COMPAT_NET_H

#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/version.h>

/* split from <linux/skbuff.h> in 6.5 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif

/* 6.3; before, a message has no room for numbers */
#ifndef NL_SET_ERR_MSG_FMT
#define NL_SET_ERR_MSG_FMT(extack, fmt, args...)	NL_SET_ERR_MSG(extack, fmt)
#endif

/* 6.8 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
static inline void netif_napi_set_irq(struct napi_struct *napi, int irq)
{
}
#endif

#endif /* CRNIC_COMPAT_NET_H */
