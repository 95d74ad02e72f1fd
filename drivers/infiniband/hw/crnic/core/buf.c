// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of the kernel's rings.  Consumers index a ring without any arithmetic on
 * pages, so the CPU sees one piece; the device gets a list of pages anyway, so it
 * need not be one piece for it.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../compat/compat.h"
#include "core.h"

/**
 * crnic_buf_alloc_linear - memory in one piece, for the device too
 * @dev: device
 * @buf: its size is known; filled in
 *
 * Context: process.
 * Return: 0 or -ENOMEM, which a larger ring gets where memory is in pieces.
 */
int crnic_buf_alloc_linear(struct crnic_dev *dev, struct crnic_buf *buf)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN;

	KUNIT_STATIC_STUB_REDIRECT(crnic_buf_alloc_linear, dev, buf);

	/* there is another way: nobody need move memory about for this one */
	if (buf->size > PAGE_SIZE)
		gfp |= __GFP_NORETRY;
	buf->addr = dma_alloc_coherent(dev->device, buf->size, &buf->dma, gfp);
	return buf->addr ? 0 : -ENOMEM;
}

/**
 * crnic_buf_page_get - one page of a ring in pieces
 * @dev: device
 * @dma: its bus address
 *
 * Ring memory is written and read by both sides at any time, without a call that
 * syncs it.  Where the mapping wants one, it is not good enough.
 *
 * Context: process.
 * Return: the page, or NULL.
 */
struct page *crnic_buf_page_get(struct crnic_dev *dev, dma_addr_t *dma)
{
	struct page *page;

	KUNIT_STATIC_STUB_REDIRECT(crnic_buf_page_get, dev, dma);

	page = alloc_pages_node(dev->numa_node, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, 0);
	if (!page)
		return NULL;
	*dma = dma_map_page(dev->device, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev->device, *dma))
		goto free;
	if (!dma_need_sync(dev->device, *dma))
		return page;
	dma_unmap_page(dev->device, *dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
free:
	__free_page(page);
	return NULL;
}

/**
 * crnic_buf_page_put - undo crnic_buf_page_get()
 * @dev: device
 * @page: page
 * @dma: its bus address
 */
void crnic_buf_page_put(struct crnic_dev *dev, struct page *page, dma_addr_t dma)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_buf_page_put, dev, page, dma);

	dma_unmap_page(dev->device, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	__free_page(page);
}

static int crnic_buf_map_pages(struct crnic_dev *dev, struct crnic_buf *buf, struct page **pages)
{
	unsigned int num = PAGE_ALIGN(buf->size) >> PAGE_SHIFT, i;

	for (i = 0; i < num; i++) {
		pages[i] = crnic_buf_page_get(dev, &buf->frags[i]);
		if (!pages[i])
			goto put;
	}
	buf->addr = vmap(pages, num, VM_MAP, PAGE_KERNEL);
	if (buf->addr)
		return 0;
put:
	while (i--)
		crnic_buf_page_put(dev, pages[i], buf->frags[i]);
	return -ENOMEM;
}

/* A page at a time, and a mapping that makes them one for the CPU */
static int crnic_buf_alloc_pages(struct crnic_dev *dev, struct crnic_buf *buf)
{
	unsigned int num = PAGE_ALIGN(buf->size) >> PAGE_SHIFT;
	struct page **pages;
	int err = -ENOMEM;

	pages = kvcalloc(num, sizeof(*pages), GFP_KERNEL);
	buf->frags = kvcalloc(num, sizeof(*buf->frags), GFP_KERNEL);
	if (pages && buf->frags)
		err = crnic_buf_map_pages(dev, buf, pages);
	if (err) {
		kvfree(buf->frags);
		buf->frags = NULL;
	}
	kvfree(pages);
	return err;
}

/**
 * crnic_buf_alloc - allocate memory for a ring
 * @dev: device
 * @size: bytes
 * @buf: filled in; zeroed memory
 *
 * Context: process.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int crnic_buf_alloc(struct crnic_dev *dev, size_t size, struct crnic_buf *buf)
{
	int err;

	if (!size || size > INT_MAX)
		return -EINVAL;

	*buf = (struct crnic_buf) { .size = ALIGN(size, CRNIC_ADAPTER_PAGE_SIZE) };
	err = crnic_buf_alloc_linear(dev, buf);
	if (err && buf->size > PAGE_SIZE)
		err = crnic_buf_alloc_pages(dev, buf);
	return err;
}

static void crnic_buf_free_pages(struct crnic_dev *dev, struct crnic_buf *buf)
{
	unsigned int num = PAGE_ALIGN(buf->size) >> PAGE_SHIFT, i;

	for (i = 0; i < num; i++)
		crnic_buf_page_put(dev, vmalloc_to_page(buf->addr + i * PAGE_SIZE),
				   buf->frags[i]);
	vunmap(buf->addr);
	kvfree(buf->frags);
	buf->frags = NULL;
}

/**
 * crnic_buf_free - free the memory of a ring
 * @dev: device
 * @buf: memory
 *
 * Context: process.
 */
void crnic_buf_free(struct crnic_dev *dev, struct crnic_buf *buf)
{
	if (buf->frags)
		crnic_buf_free_pages(dev, buf);
	else
		dma_free_coherent(dev->device, buf->size, buf->addr, buf->dma);
	buf->addr = NULL;
}
