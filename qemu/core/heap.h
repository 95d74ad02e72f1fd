/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model's memory, counted: what a process holds beside it (an emulator's
 * translated code, say) comes and goes by more than a leak does.
 */
#ifndef MOCX_HEAP_H
#define MOCX_HEAP_H

#include <stddef.h>

/* As malloc(3), calloc(3), strdup(3) and free(3), and only for one another. */
void *mocx_malloc(size_t size);
void *mocx_calloc(size_t n, size_t size);
void *mocx_realloc(void *p, size_t size);
char *mocx_strdup(const char *s);
void mocx_free(void *p);

/**
 * mocx_heap_bytes() - what the devices of this process hold
 *
 * Return: bytes that were asked for and not freed.
 */
size_t mocx_heap_bytes(void);

#endif
