// SPDX-License-Identifier: GPL-2.0-or-later
/* What is said about a case. */
#include <stdarg.h>
#include <stdio.h>

#include "verdict.h"

int verdict_fail(struct verdict *v, const char *fmt, ...)
{
	va_list ap;

	if (v->outcome != PASSED)
		return -1;
	v->outcome = FAILED;
	va_start(ap, fmt);
	vsnprintf(v->text, sizeof(v->text), fmt, ap);
	va_end(ap);
	return -1;
}

int verdict_skip(struct verdict *v, const char *why)
{
	if (v->outcome == PASSED) {
		v->outcome = SKIPPED;
		snprintf(v->text, sizeof(v->text), "%s", why);
	}
	return -1;
}
