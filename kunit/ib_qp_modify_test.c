// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Transitions of QPs: the table against ib_core's, attribute by attribute. */
#include <kunit/test.h>

#include <linux/mlx5/mlx5_ifc.h>

#include "../drivers/infiniband/hw/crnic/ib/ib.h"

/* What ib_core allows in some transitions and crnic in none */
#define REFUSED		(IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE | IB_QP_RATE_LIMIT)

#define CONNECT		(IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)
#define RETRY		(IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC)
#define SETUP		(IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS)

static const enum ib_qp_type ib_qp_types[] = {
	IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_RAW_PACKET, IB_QPT_XRC_INI,
	IB_QPT_XRC_TGT,
};

/* Masks that reach every row: what some type requires for some transition */
static const int ib_qp_masks[] = {
	0,
	SETUP,
	IB_QP_PORT,
	IB_QP_PKEY_INDEX | IB_QP_QKEY,
	IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY,
	CONNECT,
	CONNECT | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
	IB_QP_SQ_PSN,
	IB_QP_SQ_PSN | IB_QP_TIMEOUT,
	IB_QP_SQ_PSN | RETRY,
};

/**
 * struct ib_qp_move - a transition of one type
 * @cur: state
 * @next: state wanted
 * @type: QP type
 */
struct ib_qp_move {
	enum ib_qp_state cur;
	enum ib_qp_state next;
	enum ib_qp_type type;
};

static bool ib_core_allows(const struct ib_qp_move *m, int mask)
{
	return ib_modify_qp_is_ok(m->cur, m->next, m->type, mask | IB_QP_STATE);
}

static bool crnic_allows(const struct ib_qp_move *m, int mask)
{
	return crnic_qp_step_find(m->cur, m->next, m->type, mask | IB_QP_STATE);
}

/*
 * States that crnic does not enter, or does not leave that way: SQD, and SQE for
 * raw packets and for reliable types.  The IBTA has no SQE for the latter either;
 * ib_core lets it pass because it asks for nothing there.
 */
static bool leaves_out(const struct ib_qp_move *m)
{
	if (m->cur == IB_QPS_SQD || m->next == IB_QPS_SQD)
		return true;
	return m->cur == IB_QPS_SQE && m->next == IB_QPS_RTS &&
	       BIT(m->type) & (CRNIC_T(RC) | CRNIC_T_XRC | CRNIC_T_RAW);
}

static void expect_same(struct kunit *test, const struct ib_qp_move *m, int mask)
{
	bool want = ib_core_allows(m, mask) && !(mask & REFUSED) && !leaves_out(m);

	KUNIT_EXPECT_EQ_MSG(test, crnic_allows(m, mask), want, "%d -> %d, type %d, mask 0x%x",
			    m->cur, m->next, m->type, mask);
}

/* each base mask, and each with one attribute more or less */
static void expect_same_around(struct kunit *test, const struct ib_qp_move *m)
{
	int i, bit;

	for (i = 0; i < ARRAY_SIZE(ib_qp_masks); i++) {
		expect_same(test, m, ib_qp_masks[i]);
		for (bit = IB_QP_CUR_STATE; bit <= IB_QP_RATE_LIMIT; bit <<= 1)
			expect_same(test, m, ib_qp_masks[i] ^ bit);
	}
}

static void agrees_with_ib_core_on_every_attribute(struct kunit *test)
{
	struct ib_qp_move m;
	int i;

	for (m.cur = IB_QPS_RESET; m.cur <= IB_QPS_ERR; m.cur++) {
		for (m.next = IB_QPS_RESET; m.next <= IB_QPS_ERR; m.next++) {
			for (i = 0; i < ARRAY_SIZE(ib_qp_types); i++) {
				m.type = ib_qp_types[i];
				expect_same_around(test, &m);
			}
		}
	}
}

struct ib_qp_step_case {
	const char *name;
	struct ib_qp_move move;
	int mask;
	u16 opcode;
};

static const struct ib_qp_step_case ib_qp_step_cases[] = {
	{ "takes_rc_from_reset_to_init", { IB_QPS_RESET, IB_QPS_INIT, IB_QPT_RC }, SETUP,
	  MLX5_CMD_OP_RST2INIT_QP },
	{ "rejects_init_without_port", { IB_QPS_RESET, IB_QPS_INIT, IB_QPT_RC },
	  IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS, 0 },
	{ "rejects_rtr_without_dest_qpn", { IB_QPS_INIT, IB_QPS_RTR, IB_QPT_UC },
	  CONNECT & ~IB_QP_DEST_QPN, 0 },
	{ "case_15_rejects_timeout_in_rts", { IB_QPS_RTS, IB_QPS_RTS, IB_QPT_RC },
	  IB_QP_TIMEOUT, 0 },
	{ "case_15_rejects_address_in_rts", { IB_QPS_RTS, IB_QPS_RTS, IB_QPT_RC }, IB_QP_AV, 0 },
	{ "case_15_takes_rnr_timer_in_rts", { IB_QPS_RTS, IB_QPS_RTS, IB_QPT_RC },
	  IB_QP_MIN_RNR_TIMER, MLX5_CMD_OP_RTS2RTS_QP },
	{ "rejects_rnr_timer_of_uc", { IB_QPS_RTS, IB_QPS_RTS, IB_QPT_UC },
	  IB_QP_MIN_RNR_TIMER, 0 },
	{ "rejects_alternate_path", { IB_QPS_INIT, IB_QPS_RTR, IB_QPT_UC },
	  CONNECT | IB_QP_ALT_PATH, 0 },
	{ "case_11_rejects_sqd", { IB_QPS_RTS, IB_QPS_SQD, IB_QPT_RC }, 0, 0 },
	{ "case_11_rejects_rts_from_sqd", { IB_QPS_SQD, IB_QPS_RTS, IB_QPT_RC }, 0, 0 },
	{ "revives_ud_from_sqe", { IB_QPS_SQE, IB_QPS_RTS, IB_QPT_UD }, 0,
	  MLX5_CMD_OP_SQERR2RTS_QP },
	{ "does_not_revive_rc_from_sqe", { IB_QPS_SQE, IB_QPS_RTS, IB_QPT_RC }, 0, 0 },
	{ "resets_from_error", { IB_QPS_ERR, IB_QPS_RESET, IB_QPT_RC }, 0, MLX5_CMD_OP_2RST_QP },
	{ "rejects_error_from_reset", { IB_QPS_RESET, IB_QPS_ERR, IB_QPT_RC }, 0, 0 },
	{ "rejects_skipping_init", { IB_QPS_RESET, IB_QPS_RTR, IB_QPT_RC }, CONNECT, 0 },
};

KUNIT_ARRAY_PARAM_DESC(ib_qp_step, ib_qp_step_cases, name);

static void finds_the_command_of_a_transition(struct kunit *test)
{
	const struct ib_qp_step_case *c = test->param_value;
	const struct crnic_qp_step *step;

	step = crnic_qp_step_find(c->move.cur, c->move.next, c->move.type, c->mask | IB_QP_STATE);
	KUNIT_EXPECT_EQ(test, step ? step->opcode : 0, c->opcode);
}

static struct kunit_case ib_qp_modify_cases[] = {
	KUNIT_CASE(agrees_with_ib_core_on_every_attribute),
	KUNIT_CASE_PARAM(finds_the_command_of_a_transition, ib_qp_step_gen_params),
	{}
};

static struct kunit_suite ib_qp_modify_suite = {
	.name = "crnic_ib_qp_modify",
	.test_cases = ib_qp_modify_cases,
};

kunit_test_suite(ib_qp_modify_suite);

MODULE_LICENSE("Dual BSD/GPL");
