/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits that are no property of the device: they bound its tables (dev.c) and
 * show in its capabilities (cap.c).
 */
#ifndef MOCX_LIMITS_H
#define MOCX_LIMITS_H

#define MOCX_LOG_MAX_EQ             6
#define MOCX_LOG_MAX_TD             12
#define MOCX_LOG_MAX_XRCD           10
#define MOCX_LOG_MAX_SQ             12
#define MOCX_LOG_MAX_RQ             12
#define MOCX_LOG_MAX_TIS            10
#define MOCX_LOG_MAX_TIR            12
#define MOCX_LOG_MAX_RQT            12
#define MOCX_LOG_MAX_RQT_SIZE       11
#define MOCX_LOG_MAX_FLOW_COUNTER   10
#define MOCX_LOG_MAX_MAC_LIST       7       /* unicast, and multicast */
#define MOCX_LOG_MAX_L2_TABLE       7       /* of a card */
#define MOCX_LOG_MAX_MCG            8       /* multicast groups */
#define MOCX_MAX_QP_MCG             16      /* QPs in each */
#define MOCX_MAX_Q_COUNTERS         255     /* counter_set_id has 8 bits */

#define MOCX_LOG_MAX_MSG            31
#define MOCX_LOG_MAX_KLM_LIST       16      /* entries of a KLM key */
#define MOCX_LOG_MAX_RD_ATOMIC      4       /* in flight, each way */
#define MOCX_MAX_WQE_SZ_SQ          1024    /* bytes; mlx5e wants 16 blocks */
#define MOCX_MAX_WQE_SZ_RQ          512

#endif /* MOCX_LIMITS_H */
