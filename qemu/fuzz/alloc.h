/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Put in front of every source of the model and of the test host by the
 * fuzzers' makefile: what they allocate comes from the arena, which can be set
 * back as a whole.
 */
#ifndef MOCX_FUZZ_ALLOC_H
#define MOCX_FUZZ_ALLOC_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

/* Who allocates: what the model holds is counted apart. */
#ifdef MOCX_FUZZ_CORE
#define FUZZ_OWNER  true
#else
#define FUZZ_OWNER  false
#endif

#define malloc(size)        arena_malloc(size, FUZZ_OWNER)
#define calloc(n, size)     arena_calloc(n, size, FUZZ_OWNER)
#define realloc(p, size)    arena_realloc(p, size, FUZZ_OWNER)
#define free(p)             arena_free(p)

#endif /* MOCX_FUZZ_ALLOC_H */
