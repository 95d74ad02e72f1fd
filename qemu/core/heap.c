// SPDX-License-Identifier: GPL-2.0-or-later
/* The model's memory, counted. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

/* In front of each piece; as large as any alignment asks. */
typedef union Head {
    size_t size;
    max_align_t align;
} Head;

static size_t heap_bytes;

static void *counted(Head *head, size_t size)
{
    if (!head) {
        return NULL;
    }
    head->size = size;
    heap_bytes += size;
    return head + 1;
}

static Head *head_of(void *p)
{
    return p ? (Head *)p - 1 : NULL;
}

void *mocx_malloc(size_t size)
{
    return size > SIZE_MAX - sizeof(Head)
         ? NULL : counted(malloc(sizeof(Head) + size), size);
}

void *mocx_calloc(size_t n, size_t size)
{
    if (size && n > (SIZE_MAX - sizeof(Head)) / size) {
        return NULL;
    }
    return counted(calloc(1, sizeof(Head) + n * size), n * size);
}

void *mocx_realloc(void *p, size_t size)
{
    size_t was = p ? head_of(p)->size : 0;
    Head *head;

    if (size > SIZE_MAX - sizeof(Head)) {
        return NULL;
    }
    head = realloc(head_of(p), sizeof(Head) + size);
    if (head) {
        heap_bytes -= was;
    }
    return counted(head, size);
}

char *mocx_strdup(const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = mocx_malloc(size);

    return copy ? memcpy(copy, s, size) : NULL;
}

void mocx_free(void *p)
{
    if (p) {
        heap_bytes -= head_of(p)->size;
        free(head_of(p));
    }
}

size_t mocx_heap_bytes(void)
{
    return heap_bytes;
}
