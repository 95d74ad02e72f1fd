/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_VERDICT_H
#define CONTENT_VERDICT_H

enum outcome { PASSED, FAILED, SKIPPED };

/**
 * struct verdict - how a case ended on one side
 * @outcome: PASSED until something else is said
 * @text: why
 */
struct verdict {
	enum outcome outcome;
	char text[320];
};

/**
 * verdict_fail - record a failure; the first one is kept
 * @v: the verdict
 * @fmt: printf format
 *
 * Return: -1, so that callers can return it.
 */
int verdict_fail(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * verdict_skip - record that a case cannot be run here
 * @v: the verdict
 * @why: the reason
 *
 * Return: -1, so that callers can return it.
 */
int verdict_skip(struct verdict *v, const char *why);

#endif
