// SPDX-License-Identifier: GPL-2.0-or-later
/* From the first hello to the last line of the report. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "session.h"

#define HELLO_WAIT	(20 * SECOND)
#define IDLE_WAIT	(600 * SECOND)	/* for the next command of the active side */
#define WATCHDOG_SLACK	60		/* seconds after which a call that hangs ends the process */
#define CASE_NONE	UINT32_MAX	/* the session is over */

struct hello {
	struct verdict verdict;
	struct caps caps;
};

struct command {
	uint32_t index;
	uint32_t mtu;
};

struct tally {
	unsigned int passed;
	unsigned int failed;
	unsigned int skipped;
};

/* --- one case, the same on both sides --- */

static void start_case(struct side *s, uint32_t mtu)
{
	s->verdict = (struct verdict){ .outcome = PASSED };
	s->mtu = mtu;
	s->messages = 0;
	s->bytes = 0;
	s->deadline = clock_now() + s->opt.deadline_s * SECOND;
	s->conn.deadline = s->deadline;
	s->conn.peer_done = false;
}

/* "The other side gave up" only points at the other side's verdict. */
static bool says_itself(const struct verdict *v)
{
	return v->outcome != PASSED && strcmp(v->text, CONN_GAVE_UP);
}

/* Both verdicts make the one that counts: the first of two that fail for a reason of their own. */
static void merge_verdicts(struct side *s)
{
	if (says_itself(&s->conn.peer) && !says_itself(&s->verdict))
		s->verdict = s->conn.peer;
}

/* Return: 0, -1 when the channel is gone and the session with it. */
static int run_case(struct side *s, const struct test_case *c, uint32_t mtu)
{
	uint64_t sum = 0;
	unsigned int i;
	int err;

	for (i = 0; i < s->opt.size_count; i++)
		sum += s->opt.sizes[i];
	start_case(s, mtu);
	/* A verb that never returns is beyond all deadlines. */
	alarm(s->opt.deadline_s + (sum >> 19) + WATCHDOG_SLACK);
	if (!c->run(s, c->arg) && s->verdict.outcome != PASSED)
		s->verdict.outcome = FAILED;
	s->conn.deadline = clock_now() + HELLO_WAIT + s->opt.deadline_s * SECOND;
	err = conn_finish(&s->conn, &s->verdict);
	alarm(0);
	if (err)
		return verdict_fail(&s->verdict, "the control channel broke");
	merge_verdicts(s);
	return 0;
}

/* --- the report --- */

static const char *label(const struct side *s, const struct test_case *c, char *buf, size_t len)
{
	snprintf(buf, len, "%s mtu=%u gid=%s", c->name, device_mtu_bytes(s->mtu), s->opt.gid);
	return buf;
}

static void report(const struct side *s, const struct test_case *c, struct tally *t, uint64_t started)
{
	double seconds = (clock_now() - started) / 1e9;
	char name[96];

	label(s, c, name, sizeof(name));
	switch (s->verdict.outcome) {
	case PASSED:
		t->passed++;
		printf("ok   %s: %lu checked, %llu bytes, %.2f s\n", name, s->messages, (unsigned long long)s->bytes, seconds);
		break;
	case FAILED:
		t->failed++;
		printf("FAIL %s: %s (%.2f s)\n", name, s->verdict.text, seconds);
		break;
	case SKIPPED:
		t->skipped++;
		printf("skip %s: %s\n", name, s->verdict.text);
		break;
	}
	fflush(stdout);
}

/* --- hello --- */

static void lesser(struct caps *c, const struct caps *peer)
{
#define LESSER(f)	(c->f = c->f < peer->f ? c->f : peer->f)
	LESSER(max_sge);
	LESSER(max_inline);
	LESSER(rd_atomic);
	LESSER(mtu);
	LESSER(atomics);
#undef LESSER
}

static int greet(struct side *s, const char *dev)
{
	const char *gid = s->active ? s->opt.gid : s->opt.peer_gid;
	struct hello mine = { 0 }, theirs;
	struct verdict v = { 0 };

	s->conn.deadline = clock_now() + HELLO_WAIT;
	if (!device_open(&s->dev, dev, gid, &mine.verdict))
		device_caps(&s->dev, &mine.caps);
	if (conn_swap(&s->conn, &v, &mine, &theirs, sizeof(mine))) {
		fprintf(stderr, "content: %s\n", v.text);
		return -1;
	}
	if (mine.verdict.outcome || theirs.verdict.outcome) {
		fprintf(stderr, "content: %s: %s\n", mine.verdict.outcome ? "this side" : "other side",
			mine.verdict.outcome ? mine.verdict.text : theirs.verdict.text);
		return -1;
	}
	s->caps = mine.caps;
	lesser(&s->caps, &theirs.caps);
	return 0;
}

/* --- the active side --- */

static int lead_case(struct side *s, unsigned int index, uint32_t mtu, struct tally *t)
{
	const struct test_case *c = test_cases + index;
	struct command cmd = { .index = index, .mtu = mtu };
	uint64_t started = clock_now();
	const char *why = c->why_not ? c->why_not(s, c->arg) : NULL;
	int err = 0;

	s->mtu = mtu;
	if (why) {
		s->verdict.outcome = PASSED;
		verdict_skip(&s->verdict, why);
	} else if (conn_command(&s->conn, &cmd, sizeof(cmd))) {
		s->verdict.outcome = PASSED;
		err = verdict_fail(&s->verdict, "the control channel broke");
	} else {
		err = run_case(s, c, mtu);
	}
	report(s, c, t, started);
	return err;
}

static uint32_t mtu_code(uint32_t bytes, const struct side *s)
{
	uint32_t code = IBV_MTU_256;

	if (!bytes)
		return s->caps.mtu;
	while (device_mtu_bytes(code) < bytes)
		code++;
	return code;
}

static int lead_all(struct side *s, const struct options *o, struct tally *t)
{
	unsigned int m, i;
	uint32_t mtu;

	for (m = 0; m < o->mtu_count; m++) {
		mtu = mtu_code(o->mtus[m], s);
		if (mtu > s->caps.mtu) {
			t->skipped++;
			printf("skip all mtu=%u: the ports have %u\n", o->mtus[m], device_mtu_bytes(s->caps.mtu));
			continue;
		}
		for (i = 0; i < test_case_count; i++)
			if (case_selected(test_cases[i].name, o->only, o->skip) && lead_case(s, i, mtu, t))
				return -1;
	}
	return 0;
}

int session_active(const struct options *o, int fd)
{
	struct side s = { .opt = o->shared, .active = true, .conn.fd = fd };
	struct command over = { .index = CASE_NONE };
	struct tally t = { 0 };
	int broken;

	s.conn.deadline = clock_now() + HELLO_WAIT;
	if (conn_command(&s.conn, &s.opt, sizeof(s.opt)) || greet(&s, o->dev))
		return 2;
	broken = lead_all(&s, o, &t);
	conn_command(&s.conn, &over, sizeof(over));
	device_close(&s.dev);
	printf("%u passed, %u failed, %u skipped\n", t.passed, t.failed, t.skipped);
	return broken || t.failed || !(t.passed + t.skipped);
}

/* --- the passive side --- */

static int follow(struct side *s)
{
	struct command cmd;
	int failed = 0;

	for (;;) {
		s->conn.deadline = clock_now() + IDLE_WAIT;
		if (conn_next(&s->conn, &cmd, sizeof(cmd)))
			return 2;
		if (cmd.index == CASE_NONE)
			return failed;
		if (cmd.index >= test_case_count || run_case(s, test_cases + cmd.index, cmd.mtu))
			return 2;
		failed |= s->verdict.outcome == FAILED;
	}
}

int session_passive(const char *dev, int fd)
{
	struct side s = { .conn.fd = fd };
	int code;

	s.conn.deadline = clock_now() + HELLO_WAIT;
	if (conn_next(&s.conn, &s.opt, sizeof(s.opt))) {
		fprintf(stderr, "content: the other side is of another build or said nothing\n");
		return 2;
	}
	if (greet(&s, dev))
		return 2;
	code = follow(&s);
	device_close(&s.dev);
	return code;
}
