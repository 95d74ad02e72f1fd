/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_CLOCK_H
#define CONTENT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SECOND	1000000000ull

/* Monotonic time in nanoseconds. */
static inline uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* Milliseconds that are left until @deadline, as poll() wants them. */
static inline int clock_left_ms(uint64_t deadline)
{
	uint64_t now = clock_now();

	return now >= deadline ? 0 : (int)((deadline - now) / 1000000) + 1;
}

#endif
