/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_DMA_H
#define CRNIC_DMA_H

#include <linux/bug.h>
#include <linux/types.h>

#include <crnic/hw.h>

struct crnic_dbr_page;
struct crnic_dev;
struct ib_umem;

/**
 * struct crnic_buf - coherent memory for one ring of the kernel
 * @addr: virtual address; the whole buffer is linear
 * @dma: bus address, aligned to an adapter page, of one that is linear there as well
 * @frags: otherwise, bus address of each of its pages; page lists know
 * @size: bytes that were asked for, rounded up to whole adapter pages
 */
struct crnic_buf {
	void *addr;
	dma_addr_t dma;
	dma_addr_t *frags;
	size_t size;
};

int crnic_buf_alloc(struct crnic_dev *dev, size_t size, struct crnic_buf *buf);
void crnic_buf_free(struct crnic_dev *dev, struct crnic_buf *buf);

/**
 * struct crnic_dbr - doorbell record of one kernel-owned object
 * @db: two zeroed big-endian words; what each means depends on the object:
 *      QP and RQ use word 0 for receive and word 1 for send counters, a CQ
 *      uses word 0 for the consumer index and word 1 for the arm word
 * @dma: bus address, for the object's context
 * @page: the page that it was carved from
 * @index: its slot in @page
 *
 * A record fills a cache line of its own; two objects never share one.
 */
struct crnic_dbr {
	__be32 *db;
	dma_addr_t dma;
	struct crnic_dbr_page *page;
	unsigned int index;
};

int crnic_dbr_alloc(struct crnic_dev *dev, struct crnic_dbr *dbr);
void crnic_dbr_free(struct crnic_dev *dev, struct crnic_dbr *dbr);

/**
 * struct crnic_pas - page list of a ring or of a region, not yet written out
 * @umem: user memory, or NULL
 * @frags: bus addresses of the pages of scattered kernel memory, or NULL
 * @frag_offset: where the list starts in it, in whole adapter pages' bytes
 * @dma: first bus address of linear kernel memory, if both are NULL
 * @page_shift: log2 of the page size used, at least CRNIC_ADAPTER_PAGE_SHIFT
 * @page_offset: where the data starts in the first page, in bytes
 * @npages: number of pages
 *
 * Object functions turn it into the page list, the page offset field and the
 * log_page_size field of their command.
 */
struct crnic_pas {
	struct ib_umem *umem;
	const dma_addr_t *frags;
	size_t frag_offset;
	dma_addr_t dma;
	u8 page_shift;
	u32 page_offset;
	u32 npages;
};

struct crnic_pas crnic_pas_of_buf(const struct crnic_buf *buf);
struct crnic_pas crnic_pas_of_subbuf(const struct crnic_buf *buf, size_t offset, size_t size);
int crnic_pas_of_ring(struct ib_umem *umem, u8 page_offset_bits, struct crnic_pas *pas);
int crnic_pas_of_region(struct crnic_dev *dev, struct ib_umem *umem, u64 iova,
			struct crnic_pas *pas);
void crnic_pas_fill(const struct crnic_pas *pas, __be64 *list, u64 flags);

/* page_offset fields count in 64ths of a page */
static inline u32 crnic_pas_offset_units(const struct crnic_pas *pas)
{
	return pas->page_offset >> (pas->page_shift - 6);
}

/*
 * The same, for a field of that many bits: MLX5_SET() cuts what it is given, and
 * a list that was made for a wider field would have the device read elsewhere.
 */
static inline u32 crnic_pas_offset_field(const struct crnic_pas *pas, u8 bits)
{
	u32 units = crnic_pas_offset_units(pas);

	WARN_ON_ONCE(units >> bits);
	return units;
}

/* bytes of the page list in a command */
static inline size_t crnic_pas_bytes(const struct crnic_pas *pas)
{
	return (size_t)pas->npages * sizeof(__be64);
}

#endif /* CRNIC_DMA_H */
