// SPDX-License-Identifier: GPL-2.0-or-later
/* A device's memory, counted and bounded. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

/* In front of each piece; as large as any alignment asks. */
typedef union Head {
    struct {
        size_t size;
        MocxHeap *heap;
    };
    max_align_t align;
} Head;

static bool affordable(MocxHeap *heap, size_t size)
{
    if (size > SIZE_MAX - sizeof(Head)) {
        return false;
    }
    if (!heap || !heap->limit ||
        (heap->used <= heap->limit && size <= heap->limit - heap->used)) {
        return true;
    }
    heap->refused++;
    return false;
}

static void *counted(MocxHeap *heap, Head *head, size_t size)
{
    if (!head) {
        return NULL;
    }
    head->size = size;
    head->heap = heap;
    if (heap) {
        heap->used += size;
    }
    return head + 1;
}

static Head *head_of(void *p)
{
    return p ? (Head *)p - 1 : NULL;
}

void *mocx_malloc(MocxHeap *heap, size_t size)
{
    return affordable(heap, size)
         ? counted(heap, malloc(sizeof(Head) + size), size) : NULL;
}

void *mocx_calloc(MocxHeap *heap, size_t n, size_t size)
{
    if ((size && n > (SIZE_MAX - sizeof(Head)) / size) ||
        !affordable(heap, n * size)) {
        return NULL;
    }
    return counted(heap, calloc(1, sizeof(Head) + n * size), n * size);
}

void *mocx_realloc(MocxHeap *heap, void *p, size_t size)
{
    size_t was = p ? head_of(p)->size : 0;
    Head *head;

    if (size > SIZE_MAX - sizeof(Head)) {
        return NULL;
    }
    heap = p ? head_of(p)->heap : heap;
    head = realloc(head_of(p), sizeof(Head) + size);
    if (head && heap) {
        heap->used -= was;
    }
    return counted(heap, head, size);
}

char *mocx_strdup(MocxHeap *heap, const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = mocx_malloc(heap, size);

    return copy ? memcpy(copy, s, size) : NULL;
}

void mocx_free(void *p)
{
    Head *head = head_of(p);

    if (head && head->heap) {
        head->heap->used -= head->size;
    }
    free(head);
}

MocxHeap *mocx_heap_of(void *p)
{
    return head_of(p)->heap;
}
