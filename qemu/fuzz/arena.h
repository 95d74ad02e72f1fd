/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All memory of the model and of its host in one piece, which can be copied
 * and set back: a device with a hundred objects is there again for each input
 * at the price of a memcpy.
 *
 * Memory is never used twice within an input, and what was freed is poisoned,
 * so that ASan sees every use after free, not only an early one.  Pieces have
 * poisoned bytes on both sides.  With FUZZ_PLAIN in the environment everything
 * is passed on to malloc(3), whose reports say where memory came from; there is
 * no way back then, and only one input can be run, in the world that the
 * variable names.
 */
#ifndef MOCX_FUZZ_ARENA_H
#define MOCX_FUZZ_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As malloc(3) and so on; @core: the model asks. */
void *arena_malloc(size_t size, bool core);
void *arena_calloc(size_t n, size_t size, bool core);
void *arena_realloc(void *p, size_t size, bool core);
/* Memory that is none of the arena's, such as a stream's, goes to free(3). */
void arena_free(void *p);

/** arena_core_bytes() - what the model holds */
size_t arena_core_bytes(void);
/**
 * arena_limit() - the model may hold so much; more is a failure at once
 * @bytes: 0: no limit
 */
void arena_limit(size_t bytes);

/**
 * arena_big() - a device is being made
 * @open: until this is false again, large pieces that the model asks for are
 *     buffers of frames, whose bytes need no copy
 */
void arena_big(bool open);

/**
 * arena_reuse() - worlds are being made
 * @on: what is freed may be used again, so that the copies do not grow by it
 */
void arena_reuse(bool on);

/** arena_plain() - is everything passed on to malloc(3)? */
bool arena_plain(void);

typedef struct ArenaCopy ArenaCopy;

/** arena_copy() - what the arena is now; kept until the process ends */
ArenaCopy *arena_copy(void);
/** arena_restore() - the arena as it was, with everything at its old place */
void arena_restore(const ArenaCopy *copy);

#endif /* MOCX_FUZZ_ARENA_H */
