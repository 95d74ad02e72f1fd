/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_COMPAT_MLX5_H
#define CRNIC_COMPAT_MLX5_H

/* What the mlx5 headers of older kernels lack */
#include <crnic/crnic.h>

/* 6.3; its value is older */
#ifndef MLX5_UMR_FLEX_ALIGNMENT
#define MLX5_UMR_FLEX_ALIGNMENT	MLX5_UMR_MTT_ALIGNMENT
#endif

/* The key that ends a scatter list: see probe.mk.  Without it there is an old one */
static inline bool crnic_has_terminate_lkey(const struct crnic_dev *dev)
{
#ifdef CRNIC_HAVE_TERMINATE_LKEY
	return CRNIC_CAP_GEN(dev, terminate_scatter_list_mkey);
#else
	return false;
#endif
}

static inline u32 crnic_terminate_lkey(const void *query_special_contexts_out)
{
#ifdef CRNIC_HAVE_TERMINATE_LKEY
	return MLX5_GET(query_special_contexts_out, query_special_contexts_out,
			terminate_scatter_list_mkey);
#else
	return CRNIC_INVALID_LKEY;
#endif
}

#endif /* CRNIC_COMPAT_MLX5_H */
