/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_COMPAT_MM_H
#define CRNIC_COMPAT_MM_H

#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/version.h>

/* flags of an area are not written directly since 6.3 */
static inline void crnic_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(vma, flags);
#else
	vma->vm_flags &= ~flags;
#endif
}

/* 6.10 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
static inline void *kvcalloc_node(size_t n, size_t size, gfp_t gfp, int node)
{
	return kvzalloc_node(size_mul(n, size), gfp, node);
}
#endif

#endif /* CRNIC_COMPAT_MM_H */
