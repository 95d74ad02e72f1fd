# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What a kernel has, where its version does not tell.

ifneq ($(wildcard $(srctree)/include/rdma/iter.h),)
ccflags-y += -DCRNIC_HAVE_RDMA_ITER
endif

ifneq ($(shell grep -sl terminate_scatter_list_mkey $(srctree)/include/linux/mlx5/mlx5_ifc.h),)
ccflags-y += -DCRNIC_HAVE_TERMINATE_LKEY
endif
