// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The work queue that SQ, RQ and RMP contexts have in common.
 */
#include <crnic/crnic.h>

#include "wq.h"

/* end_padding_mode: to the cache line */
#define CRNIC_WQ_END_PAD	1

/**
 * crnic_wq_fill - describe a work queue
 * @wq: where in the mailbox; its page list follows
 * @type: ring or linked list
 * @p: what it is to be
 */
void crnic_wq_fill(void *wq, enum crnic_wq_type type, const struct crnic_wq_params *p)
{
	MLX5_SET(wq, wq, wq_type, type);
	if (p->end_pad)
		MLX5_SET(wq, wq, end_padding_mode, CRNIC_WQ_END_PAD);
	MLX5_SET(wq, wq, page_offset,
		 crnic_pas_offset_field(&p->pas, __mlx5_bit_sz(wq, page_offset)));
	MLX5_SET(wq, wq, pd, p->pdn);
	MLX5_SET(wq, wq, uar_page, p->uar);
	MLX5_SET64(wq, wq, dbr_addr, p->dbr);
	MLX5_SET(wq, wq, log_wq_stride, p->log_stride);
	MLX5_SET(wq, wq, log_wq_pg_sz, p->pas.page_shift - CRNIC_ADAPTER_PAGE_SHIFT);
	MLX5_SET(wq, wq, log_wq_sz, p->log_size);
	crnic_pas_fill(&p->pas, MLX5_ADDR_OF(wq, wq, pas), 0);
}
