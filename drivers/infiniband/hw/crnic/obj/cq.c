// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 */
#include <linux/mm.h>

#include <crnic/crnic.h>
#include <crnic/obj/cq.h>

enum crnic_cqe_sz {
	CRNIC_CQE_64		= 0,
	CRNIC_CQE_128		= 1,
	CRNIC_CQE_64_PAD_128	= 2,
};

/* Fields that MODIFY_CQ changes (mlx5_core: <linux/mlx5/cq.h>) */
#define CRNIC_CQ_MODIFY_PERIOD	BIT(0)
#define CRNIC_CQ_MODIFY_COUNT	BIT(1)

/* op_mod of MODIFY_CQ that puts another ring in place, and what it takes from the context */
#define CRNIC_CQ_OP_MOD_RESIZE	1
#define CRNIC_CQ_RESIZE_SIZE	BIT(0)
#define CRNIC_CQ_RESIZE_OFFSET	BIT(1)
#define CRNIC_CQ_RESIZE_PAGE	BIT(2)

/* First arm word: a sequence number that no event has had (mlx5_core: cq.c) */
#define CRNIC_CQ_SN_INIT	(2U << 28)

static void crnic_cq_fill_ring(void *cqc, const struct crnic_pas *pas, u8 log_size, u8 cqe_sz)
{
	MLX5_SET(cqc, cqc, cqe_sz, cqe_sz);
	MLX5_SET(cqc, cqc, log_cq_size, log_size);
	MLX5_SET(cqc, cqc, page_offset,
		 crnic_pas_offset_field(pas, __mlx5_bit_sz(cqc, page_offset)));
	MLX5_SET(cqc, cqc, log_page_size, pas->page_shift - CRNIC_ADAPTER_PAGE_SHIFT);
}

static u8 crnic_cq_cqe_sz(const struct crnic_cq_params *p)
{
	if (p->pad_128)
		return CRNIC_CQE_64_PAD_128;
	return p->cqe_128 ? CRNIC_CQE_128 : CRNIC_CQE_64;
}

static void crnic_cq_fill(void *cqc, const struct crnic_cq_params *p, u8 eqn)
{
	crnic_cq_fill_ring(cqc, &p->pas, p->log_size, crnic_cq_cqe_sz(p));
	MLX5_SET(cqc, cqc, oi, p->overrun_ignore);
	MLX5_SET(cqc, cqc, uar_page, p->uar);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, eqn);
	MLX5_SET(cqc, cqc, cq_period, p->period_us);
	MLX5_SET(cqc, cqc, cq_max_count, p->count);
	MLX5_SET64(cqc, cqc, dbr_addr, p->dbr);
}

static int crnic_cq_create_cmd(struct crnic_dev *dev, const struct crnic_cq_params *p, u32 *cqn)
{
	u32 out[MLX5_ST_SZ_DW(create_cq_out)] = {};
	size_t inlen = MLX5_ST_SZ_BYTES(create_cq_in) + crnic_pas_bytes(&p->pas);
	u32 *in;
	u8 eqn;
	int err;

	err = crnic_comp_eqn(dev, p->vector, &eqn);
	if (err)
		return err;
	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_cq_in, in, opcode, MLX5_CMD_OP_CREATE_CQ);
	crnic_cq_fill(MLX5_ADDR_OF(create_cq_in, in, cq_context), p, eqn);
	crnic_pas_fill(&p->pas, MLX5_ADDR_OF(create_cq_in, in, pas), 0);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*cqn = MLX5_GET(create_cq_out, out, cqn);
	kvfree(in);
	return err;
}

static int crnic_cq_destroy_cmd(struct crnic_dev *dev, u32 cqn)
{
	CRNIC_CMD(destroy_cq);

	MLX5_SET(destroy_cq_in, in, opcode, MLX5_CMD_OP_DESTROY_CQ);
	MLX5_SET(destroy_cq_in, in, cqn, cqn);
	return CRNIC_EXEC(dev, destroy_cq);
}

/**
 * crnic_cq_create - create a completion queue
 * @dev: device
 * @cq: callbacks set by the caller; the rest is filled in
 * @p: what it is to be
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_cq_create(struct crnic_dev *dev, struct crnic_cq *cq, const struct crnic_cq_params *p)
{
	int err;

	cq->uar = &dev->uar;
	cq->vector = p->vector;
	cq->arm_sn = 0;
	if (cq->db)
		cq->db[1] = cpu_to_be32(CRNIC_CQ_SN_INIT);

	err = crnic_cq_create_cmd(dev, p, &cq->cqn);
	if (err)
		return err;
	err = crnic_cq_attach(dev, cq);
	if (err)
		crnic_cq_destroy_cmd(dev, cq->cqn);
	return err;
}

/**
 * crnic_cq_destroy - destroy a completion queue
 * @dev: device
 * @cq: CQ
 *
 * Context: process.  If it fails, the CQ is as it was, but hears no events.
 * Return: 0 or a negative errno.
 */
int crnic_cq_destroy(struct crnic_dev *dev, struct crnic_cq *cq)
{
	crnic_cq_detach(dev, cq);
	return crnic_cq_destroy_cmd(dev, cq->cqn);
}

/* MODIFY_CQ: which fields of the context to take; op_mod decides what the bits mean */
static void crnic_cq_select(void *in, u32 fields)
{
	void *select = MLX5_ADDR_OF(modify_cq_in, in, modify_field_select_resize_field_select);

	MLX5_SET(modify_field_select, select, modify_field_select, fields);
}

/**
 * crnic_cq_moderate - let events wait for more CQEs
 * @dev: device
 * @cq: CQ
 * @period_us: event no later than this after the first CQE; 0 for at once
 * @count: event after that many CQEs; 0 for at once
 *
 * Context: process.
 * Return: 0 or a negative errno; -EOPNOTSUPP if the device cannot.
 */
int crnic_cq_moderate(struct crnic_dev *dev, const struct crnic_cq *cq, u16 period_us, u16 count)
{
	CRNIC_CMD(modify_cq);
	void *cqc;

	if (!CRNIC_CAP_GEN(dev, cq_moderation))
		return -EOPNOTSUPP;

	MLX5_SET(modify_cq_in, in, opcode, MLX5_CMD_OP_MODIFY_CQ);
	MLX5_SET(modify_cq_in, in, cqn, cq->cqn);
	crnic_cq_select(in, CRNIC_CQ_MODIFY_PERIOD | CRNIC_CQ_MODIFY_COUNT);
	cqc = MLX5_ADDR_OF(modify_cq_in, in, cq_context);
	MLX5_SET(cqc, cqc, cq_period, period_us);
	MLX5_SET(cqc, cqc, cq_max_count, count);
	return CRNIC_EXEC(dev, modify_cq);
}

/**
 * crnic_cq_resize - put another ring in place
 * @dev: device
 * @cq: CQ
 * @p: new ring, log2 of its entries, and the size of CQEs, which has to be as
 *     it was; the rest is not looked at
 *
 * The device writes a RESIZE CQE as the last one into the old ring.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_cq_resize(struct crnic_dev *dev, const struct crnic_cq *cq,
		    const struct crnic_cq_params *p)
{
	u32 out[MLX5_ST_SZ_DW(modify_cq_out)] = {};
	size_t inlen = MLX5_ST_SZ_BYTES(modify_cq_in) + crnic_pas_bytes(&p->pas);
	u32 *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(modify_cq_in, in, opcode, MLX5_CMD_OP_MODIFY_CQ);
	MLX5_SET(modify_cq_in, in, op_mod, CRNIC_CQ_OP_MOD_RESIZE);
	MLX5_SET(modify_cq_in, in, cqn, cq->cqn);
	crnic_cq_select(in, CRNIC_CQ_RESIZE_SIZE | CRNIC_CQ_RESIZE_OFFSET | CRNIC_CQ_RESIZE_PAGE);
	crnic_cq_fill_ring(MLX5_ADDR_OF(modify_cq_in, in, cq_context), &p->pas, p->log_size,
			   crnic_cq_cqe_sz(p));
	crnic_pas_fill(&p->pas, MLX5_ADDR_OF(modify_cq_in, in, pas), 0);
	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	kvfree(in);
	return err;
}
