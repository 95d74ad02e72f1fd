/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_COMPAT_PAGE_POOL_H
#define CRNIC_COMPAT_PAGE_POOL_H

#include <linux/version.h>

/* split in 6.6 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

/* came with 6.10 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
static inline void page_pool_dma_sync_for_cpu(const struct page_pool *pool, struct page *page,
					      u32 offset, u32 len)
{
	dma_sync_single_range_for_cpu(pool->p.dev, page_pool_get_dma_addr(page), offset, len,
				      pool->p.dma_dir);
}
#endif

/* for whom pages are kept: it pays since 6.4, and is shown since 6.8 */
static inline void crnic_pool_set_user(struct page_pool_params *p, struct napi_struct *napi,
				       struct net_device *netdev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	p->napi = napi;
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	p->netdev = netdev;
#endif
}

#endif /* CRNIC_COMPAT_PAGE_POOL_H */
