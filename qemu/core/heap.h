/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device's memory, counted and bounded: what a process holds beside it (an
 * emulator's translated code, another device) comes and goes by more than a
 * leak does, and a guest shall not make its host take as much as it likes.
 */
#ifndef MOCX_HEAP_H
#define MOCX_HEAP_H

#include <stddef.h>

/**
 * struct MocxHeap - the account of one device
 * @used: bytes that were asked for and not freed
 * @limit: how many it may use; 0: as many as there are
 * @refused: how often it wanted more
 */
typedef struct MocxHeap {
    size_t used;
    size_t limit;
    size_t refused;
} MocxHeap;

/*
 * As malloc(3), calloc(3), strdup(3) and free(3), and only for one another.
 * @heap pays, and is paid back by mocx_free(); with NULL nobody does.
 */
void *mocx_malloc(MocxHeap *heap, size_t size);
void *mocx_calloc(MocxHeap *heap, size_t n, size_t size);
char *mocx_strdup(MocxHeap *heap, const char *s);
void mocx_free(void *p);

/**
 * mocx_realloc() - as realloc(3), for an index of things that are paid for
 * @heap: pays, if @p is NULL; else the account of @p does
 * @p: what there is, or NULL
 * @size: bytes
 *
 * The limit is not looked at: the index is small beside what it leads to, which
 * would otherwise be lost.
 */
void *mocx_realloc(MocxHeap *heap, void *p, size_t size);

/** mocx_heap_of() - the account that has paid for @p */
MocxHeap *mocx_heap_of(void *p);

#endif
