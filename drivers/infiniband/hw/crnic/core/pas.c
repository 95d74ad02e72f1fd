// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Page lists: how rings and regions are described to the device.
 */
#include <linux/mm.h>
#include <rdma/ib_umem.h>

#include "../compat/compat.h"
#include "core.h"

/* log_page_size is 5 bits wide in the contexts of rings */
#define CRNIC_PAS_MAX_SHIFT_RING	(CRNIC_ADAPTER_PAGE_SHIFT + 31)

/* 1 GiB: larger pages gain nothing */
#define CRNIC_PAS_MAX_SHIFT_REGION	30

#define CRNIC_PAS_OFFSET_UNITS		64

/**
 * crnic_pas_of_buf - page list of a kernel ring
 * @buf: its memory
 *
 * Return: the list.
 */
struct crnic_pas crnic_pas_of_buf(const struct crnic_buf *buf)
{
	return crnic_pas_of_subbuf(buf, 0, buf->size);
}

/**
 * crnic_pas_of_subbuf - page list of a part of a kernel ring
 * @buf: memory, which outlives the list
 * @offset: where the part starts, in whole adapter pages
 * @size: its bytes
 *
 * Return: the list.
 */
struct crnic_pas crnic_pas_of_subbuf(const struct crnic_buf *buf, size_t offset, size_t size)
{
	return (struct crnic_pas) {
		.frags = buf->frags,
		.frag_offset = offset,
		.dma = buf->dma + offset,
		.page_shift = CRNIC_ADAPTER_PAGE_SHIFT,
		.npages = DIV_ROUND_UP(size, CRNIC_ADAPTER_PAGE_SIZE),
	};
}

static void crnic_pas_set_umem(struct crnic_pas *pas, struct ib_umem *umem, unsigned long pgsz)
{
	*pas = (struct crnic_pas) {
		.umem = umem,
		.page_shift = __ffs(pgsz),
		.page_offset = ib_umem_dma_offset(umem, pgsz),
		.npages = ib_umem_num_dma_blocks(umem, pgsz),
	};
}

/**
 * crnic_pas_of_ring - page list of a ring in user memory
 * @umem: its memory
 * @page_offset_bits: width of the page_offset field: 6 for QPs and CQs, 5 for SQs, RQs and SRQs
 * @pas: filled in, with the largest pages that its context can express
 *
 * A ring may start anywhere in its first page, but only in steps of a 64th of
 * the page: where the start does not fit the steps, smaller pages do.
 *
 * Return: 0, or -EINVAL if it cannot be expressed.
 */
int crnic_pas_of_ring(struct ib_umem *umem, u8 page_offset_bits, struct crnic_pas *pas)
{
	unsigned long pgsz, offset, unit;

	pgsz = ib_umem_find_best_pgoff(umem, GENMASK_ULL(min(CRNIC_PAS_MAX_SHIFT_RING,
							     BITS_PER_LONG - 1),
							 CRNIC_ADAPTER_PAGE_SHIFT), U64_MAX);
	for (; pgsz >= CRNIC_ADAPTER_PAGE_SIZE; pgsz >>= 1) {
		offset = ib_umem_dma_offset(umem, pgsz);
		unit = pgsz / CRNIC_PAS_OFFSET_UNITS;
		if (offset % unit == 0 && offset / unit < BIT(page_offset_bits)) {
			crnic_pas_set_umem(pas, umem, pgsz);
			return 0;
		}
	}
	return -EINVAL;
}

/**
 * crnic_pas_of_region - page list of a memory region
 * @dev: device
 * @umem: its memory
 * @iova: address that the region has for the device
 * @pas: filled in, with the largest pages that fit
 *
 * Return: 0, or -EINVAL if no page size fits.
 */
int crnic_pas_of_region(struct crnic_dev *dev, struct ib_umem *umem, u64 iova,
			struct crnic_pas *pas)
{
	unsigned long pgsz;

	pgsz = ib_umem_find_best_pgsz(umem, GENMASK(CRNIC_PAS_MAX_SHIFT_REGION,
						    CRNIC_ADAPTER_PAGE_SHIFT), iova);
	if (!pgsz)
		return -EINVAL;
	crnic_pas_set_umem(pas, umem, pgsz);
	return 0;
}

static void crnic_pas_fill_umem(const struct crnic_pas *pas, __be64 *list, u64 flags)
{
	struct ib_block_iter it;
	u32 i = 0;

	rdma_umem_for_each_dma_block(pas->umem, &it, BIT(pas->page_shift)) {
		if (i == pas->npages)
			break;
		list[i++] = cpu_to_be64(rdma_block_iter_dma_address(&it) | flags);
	}
}

/* A page of the kernel may be many of the adapter's */
static dma_addr_t crnic_pas_frag(const struct crnic_pas *pas, u32 index)
{
	size_t pos = pas->frag_offset + ((size_t)index << pas->page_shift);

	return pas->frags[pos >> PAGE_SHIFT] + offset_in_page(pos);
}

/**
 * crnic_pas_fill - write the list of addresses
 * @pas: page list
 * @list: room for crnic_pas_bytes()
 * @flags: low bits of each entry
 */
void crnic_pas_fill(const struct crnic_pas *pas, __be64 *list, u64 flags)
{
	u32 i;

	if (pas->umem) {
		crnic_pas_fill_umem(pas, list, flags);
		return;
	}
	for (i = 0; i < pas->npages; i++) {
		dma_addr_t dma = pas->frags ? crnic_pas_frag(pas, i) :
					      pas->dma + ((u64)i << pas->page_shift);

		list[i] = cpu_to_be64(dma | flags);
	}
}
