// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of cases. */
#include <fnmatch.h>
#include <string.h>

#include "atomic.h"
#include "cases.h"
#include "fault.h"
#include "flow.h"
#include "limit.h"
#include "refusal.h"
#include "reply.h"
#include "state.h"

#define HUGE_BYTES	(4u << 20)	/* longer messages are cases of their own */

#define FLOW(n, t, o, ...)	\
	{ n, flow_run, &(const struct flow){ .type = IBV_QPT_##t, .op = FLOW_##o, .sges = 1, .most = HUGE_BYTES, ##__VA_ARGS__ }, flow_why_not }
#define HUGE(n, t, o)	\
	{ n, flow_run, &(const struct flow){ .type = IBV_QPT_##t, .op = FLOW_##o, .sges = 1, .qps = 1, .depth = 1, .least = HUGE_BYTES }, flow_why_not }
#define ATOMIC(n, o, sh)	\
	{ n, atomic_run, &(const struct atomic){ .op = IBV_WR_ATOMIC_##o, .shared = sh }, atomic_why_not }
#define FAULT(n, o, ...)	\
	{ n, fault_run, &(const struct fault){ .op = IBV_WR_##o, .len = 100, .event = -1, .responder = NO_CQE, ##__VA_ARGS__ }, fault_why_not }
#define LIMIT(n, k)	{ n, limit_objects, &(const enum limit_object){ LIMIT_##k }, NULL }
#define PLAIN(n, f)	{ n, f, NULL, NULL }

/* Pairs of status and vendor code as ConnectX cards were seen to report them. */
#define NO_CQE		{ .status = FAULT_NO_CQE }
#define SUCCESS		{ .status = IBV_WC_SUCCESS }
/* rxe may lose the status of a local failure, and calls one of a receive an operation error. */
#define LOC_PROT	{ .status = IBV_WC_LOC_PROT_ERR, .or_status = 1 << IBV_WC_WR_FLUSH_ERR | 1 << IBV_WC_LOC_QP_OP_ERR }
#define LOC_LEN		{ .status = IBV_WC_LOC_LEN_ERR, .or_status = 1 << IBV_WC_LOC_QP_OP_ERR, .vendor = 0x8e }
#define REM_INV		{ .status = IBV_WC_REM_INV_REQ_ERR, .vendor = 0x8a }
#define REM_ACCESS	{ .status = IBV_WC_REM_ACCESS_ERR, .vendor = 0x88 }
#define REM_OP		{ .status = IBV_WC_REM_OP_ERR, .vendor = 0x89 }
#define RETRY		{ .status = IBV_WC_RETRY_EXC_ERR, .vendor = 0x81 }
#define RNR_RETRY	{ .status = IBV_WC_RNR_RETRY_EXC_ERR }
/* rxe refuses a SEND that is too long as an operation that failed. */
#define TOO_LONG	{ .status = IBV_WC_REM_INV_REQ_ERR, .or_status = 1 << IBV_WC_REM_OP_ERR, .vendor = 0x8a }

#define ACCESS_EVENT	.event = IBV_EVENT_QP_ACCESS_ERR
#define REQUEST_EVENT	.event = IBV_EVENT_QP_REQ_ERR
#define RIGHT(x)	IBV_ACCESS_REMOTE_##x

const struct test_case test_cases[] = {
	FLOW("rc/send", RC, SEND),
	FLOW("rc/send/sge2", RC, SEND, .sges = 2),
	FLOW("rc/send/sge3", RC, SEND, .sges = 3),
	FLOW("rc/send/sge4", RC, SEND, .sges = 4),
	FLOW("rc/send/event", RC, SEND, .by_event = true, .split_cq = true),
	FLOW("rc/send/solicited", RC, SEND, .by_event = true, .split_cq = true, .solicited = true, .qps = 1),
	FLOW("rc/send/inline", RC, SEND, .inlined = true),
	FLOW("rc/send-imm", RC, SEND_IMM),
	FLOW("rc/send-imm/inline", RC, SEND_IMM, .inlined = true, .sges = 2),
	FLOW("rc/write", RC, WRITE),
	FLOW("rc/write/sge4", RC, WRITE, .sges = 4),
	FLOW("rc/write/inline", RC, WRITE, .inlined = true),
	FLOW("rc/write/sparse", RC, WRITE, .sparse = true),
	FLOW("rc/write-imm", RC, WRITE_IMM),
	FLOW("rc/write-imm/event", RC, WRITE_IMM, .by_event = true),
	FLOW("rc/read", RC, READ),
	FLOW("rc/read/sge4", RC, READ, .sges = 4),
	FLOW("rc/read/event", RC, READ, .by_event = true),
	FLOW("rc/mixed", RC, SEND, .mixed = true, .sges = 2),
	FLOW("rc/mixed/both-ways", RC, SEND, .mixed = true, .both_ways = true, .split_cq = true),
	FLOW("rc/mixed/psn-wrap", RC, SEND, .mixed = true, .both_ways = true, .wrap = true),
	FLOW("rc/mixed/8-qps", RC, SEND, .mixed = true, .qps = 8, .depth = 16, .sparse = true, .most = 65537),
	ATOMIC("rc/fetch-add", FETCH_AND_ADD, false),
	ATOMIC("rc/fetch-add/shared", FETCH_AND_ADD, true),
	ATOMIC("rc/cmp-swap", CMP_AND_SWP, false),
	HUGE("rc/send/huge", RC, SEND),
	HUGE("rc/write/huge", RC, WRITE),
	HUGE("rc/read/huge", RC, READ),
	FLOW("uc/send", UC, SEND),
	FLOW("uc/send/sge4", UC, SEND, .sges = 4),
	FLOW("uc/send/inline", UC, SEND, .inlined = true),
	FLOW("uc/send-imm/event", UC, SEND_IMM, .by_event = true),
	FLOW("uc/write", UC, WRITE),
	FLOW("uc/write-imm", UC, WRITE_IMM),
	FLOW("uc/mixed/psn-wrap", UC, SEND, .mixed = true, .both_ways = true, .wrap = true, .sges = 2),
	HUGE("uc/send/huge", UC, SEND),
	HUGE("uc/write/huge", UC, WRITE),
	FLOW("ud/send", UD, SEND),
	FLOW("ud/send/sge4", UD, SEND, .sges = 4),
	FLOW("ud/send/event", UD, SEND, .by_event = true),
	FLOW("ud/send/inline", UD, SEND, .inlined = true),
	FLOW("ud/send-imm", UD, SEND_IMM, .both_ways = true),
	PLAIN("ud/reply", reply_run),

	FAULT("err/write/bad-rkey", RDMA_WRITE, .key = KEY_UNKNOWN, .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/write/other-pd", RDMA_WRITE, .key = KEY_OTHER_PD, .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/write/deregistered", RDMA_WRITE, .key = KEY_DEREGISTERED, .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/write/past-end", RDMA_WRITE, .past = 1, .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/write/no-right", RDMA_WRITE, .no_mr_right = RIGHT(WRITE), .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/write/no-qp-right", RDMA_WRITE, .no_qp_right = RIGHT(WRITE),
	      .requester = { .status = IBV_WC_REM_INV_REQ_ERR, .or_status = 1 << IBV_WC_REM_ACCESS_ERR }),
	FAULT("err/write/empty-bad-rkey", RDMA_WRITE, .len = 0, .key = KEY_UNKNOWN, .requester = SUCCESS, .target_lives = true),
	FAULT("err/read/bad-rkey", RDMA_READ, .key = KEY_UNKNOWN, .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/read/past-end", RDMA_READ, .past = 100, .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/read/no-right", RDMA_READ, .no_mr_right = RIGHT(READ), .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/read/no-qp-right", RDMA_READ, .no_qp_right = RIGHT(READ),
	      .requester = { .status = IBV_WC_REM_INV_REQ_ERR, .or_status = 1 << IBV_WC_REM_ACCESS_ERR }),
	FAULT("err/read/empty-bad-rkey", RDMA_READ, .len = 0, .key = KEY_UNKNOWN, .requester = SUCCESS, .target_lives = true),
	FAULT("err/atomic/bad-rkey", ATOMIC_FETCH_AND_ADD, .len = 8, .key = KEY_UNKNOWN, .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/atomic/no-right", ATOMIC_CMP_AND_SWP, .len = 8, .no_mr_right = RIGHT(ATOMIC), .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/atomic/misaligned", ATOMIC_FETCH_AND_ADD, .len = 8, .shift = 4, .requester = REM_INV, REQUEST_EVENT),
	FAULT("err/atomic/past-end", ATOMIC_FETCH_AND_ADD, .len = 8, .past = 8, .requester = REM_ACCESS, ACCESS_EVENT),
	FAULT("err/send/bad-lkey", SEND, .local_key = true, .requester = LOC_PROT, .target_lives = true),
	FAULT("err/send/too-long", SEND, .receive = RECEIVE_SHORT, .requester = TOO_LONG, .responder = LOC_LEN),
	FAULT("err/send/receive-bad-lkey", SEND, .receive = RECEIVE_BAD_KEY, .requester = REM_OP, .responder = LOC_PROT),
	FAULT("err/send/no-receive", SEND, .receive = RECEIVE_NONE, .requester = RNR_RETRY, .target_lives = true),
	FAULT("err/send/peer-vanished", SEND, .vanish = true, .requester = RETRY),
	FAULT("err/write/peer-vanished", RDMA_WRITE, .vanish = true, .requester = RETRY),
	FAULT("err/read/peer-vanished", RDMA_READ, .vanish = true, .requester = RETRY),
	PLAIN("err/refused-attributes", refusal_run),
	PLAIN("err/flush", state_flush),
	PLAIN("err/reset", state_reset),
	PLAIN("err/late-receive", state_late_receive),
	PLAIN("err/query", state_query),

	LIMIT("lim/pd", PD),
	LIMIT("lim/cq", CQ),
	LIMIT("lim/qp", QP),
	LIMIT("lim/mr", MR),
	PLAIN("lim/sizes", limit_sizes),
	PLAIN("lim/posts", limit_posts),
};

const unsigned int test_case_count = sizeof(test_cases) / sizeof(*test_cases);

static bool matches(const char *name, const char *globs)
{
	char copy[512], *save, *tok;

	strncpy(copy, globs, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = 0;
	for (tok = strtok_r(copy, ",", &save); tok; tok = strtok_r(NULL, ",", &save))
		if (!fnmatch(tok, name, 0))
			return true;
	return false;
}

bool case_selected(const char *name, const char *only, const char *skip)
{
	return matches(name, only) && !matches(name, skip);
}
