/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_CASES_H
#define CONTENT_CASES_H

#include "side.h"

/**
 * struct test_case - one line of the report
 * @name: transport and what is done
 * @run: returns 0, or -1 with the verdict filled in
 * @arg: passed to both functions
 * @why_not: says why it cannot run here, NULL if it can; may be absent
 */
struct test_case {
	const char *name;
	int (*run)(struct side *s, const void *arg);
	const void *arg;
	const char *(*why_not)(const struct side *s, const void *arg);
};

extern const struct test_case test_cases[];
extern const unsigned int test_case_count;

/**
 * case_selected - see whether a name is wanted
 * @name: of a case
 * @only: comma-separated globs, one of which must match
 * @skip: comma-separated globs, none of which may match
 */
bool case_selected(const char *name, const char *only, const char *skip);

#endif
