/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer in guest memory that is given as a list of pages: EQ, CQ, SQ, RQ,
 * QP and SRQ all live in one.  Offsets are bytes from the start of the buffer
 * (the page_offset of the context is added here and nowhere else).
 */
#ifndef MOCX_RING_H
#define MOCX_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd.h"

typedef struct MocxDev MocxDev;

typedef struct MocxRing {
    uint64_t *pages;        /* bus addresses */
    uint32_t npages;
    uint8_t page_shift;
    uint32_t page_offset;   /* bytes */
    uint64_t size;          /* bytes */
} MocxRing;

/**
 * mocx_ring_init() - take the page list of a command
 * @dev: the device
 * @r: filled; mocx_ring_fini() frees what it holds
 * @pas: big-endian 64-bit addresses, as in the command
 * @npas: how many the command has room for
 * @log_page_size: as in the context (0 means 4 KiB)
 * @page_offset: as in the context, in units of page size / 64
 * @size: bytes the ring spans
 *
 * Return: MOCX_BAD_PARAM if the list is too short, an address is not aligned to
 * the page, or the numbers make no sense; MOCX_NO_RES without memory.  Nothing
 * is allocated then.
 */
MocxStatus mocx_ring_init(MocxDev *dev, MocxRing *r, const uint8_t *pas,
                          uint32_t npas, unsigned log_page_size,
                          unsigned page_offset, uint64_t size);
void mocx_ring_fini(MocxRing *r);

/** mocx_ring_addr() - bus address of byte @off, and how many follow in line */
uint64_t mocx_ring_addr(const MocxRing *r, uint64_t off, size_t *contiguous);

/**
 * mocx_ring_read() - copy out of a window of the ring
 * @dev: the device
 * @r: the ring
 * @base: offset of the window in the ring (a QP's SQ lies behind its RQ)
 * @span: bytes of the window
 * @off: byte in the window; the copy wraps at @span
 * @buf: room for @len bytes
 * @len: bytes to copy
 */
bool mocx_ring_read(MocxDev *dev, const MocxRing *r, uint64_t base,
                    uint64_t span, uint64_t off, void *buf, size_t len);

/** mocx_ring_publish() - one entry that does not cross a page; see publish */
bool mocx_ring_publish(MocxDev *dev, const MocxRing *r, uint64_t off,
                       const void *entry, size_t len);

#endif /* MOCX_RING_H */
