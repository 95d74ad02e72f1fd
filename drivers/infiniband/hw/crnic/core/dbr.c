// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbell records, carved from pages.
 */
#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "core.h"

/* A cache line each, so that no two queues bounce one */
#define CRNIC_DBR_SIZE		64
#define CRNIC_DBR_PER_PAGE	(PAGE_SIZE / CRNIC_DBR_SIZE)

/**
 * struct crnic_dbr_page - a page of records
 * @node: in dev->dbr_pages while it has room
 * @va: memory
 * @dma: its bus address
 * @used: bit per record
 */
struct crnic_dbr_page {
	struct list_head node;
	void *va;
	dma_addr_t dma;
	DECLARE_BITMAP(used, CRNIC_DBR_PER_PAGE);
};

/**
 * crnic_dbr_init - prepare a device for crnic_dbr_alloc()
 * @dev: device
 */
void crnic_dbr_init(struct crnic_dev *dev)
{
	mutex_init(&dev->dbr_lock);
	INIT_LIST_HEAD(&dev->dbr_pages);
}

static struct crnic_dbr_page *crnic_dbr_page_new(struct crnic_dev *dev)
{
	struct crnic_dbr_page *page = kzalloc(sizeof(*page), GFP_KERNEL);

	if (!page)
		return NULL;
	page->va = dma_alloc_coherent(dev->device, PAGE_SIZE, &page->dma, GFP_KERNEL);
	if (!page->va) {
		kfree(page);
		return NULL;
	}
	list_add(&page->node, &dev->dbr_pages);
	return page;
}

static void crnic_dbr_page_put(struct crnic_dev *dev, struct crnic_dbr_page *page)
{
	lockdep_assert_held(&dev->dbr_lock);

	if (!bitmap_empty(page->used, CRNIC_DBR_PER_PAGE))
		return;
	list_del(&page->node);
	dma_free_coherent(dev->device, PAGE_SIZE, page->va, page->dma);
	kfree(page);
}

static int crnic_dbr_alloc_locked(struct crnic_dev *dev, struct crnic_dbr *dbr)
{
	struct crnic_dbr_page *page;

	lockdep_assert_held(&dev->dbr_lock);

	page = list_first_entry_or_null(&dev->dbr_pages, struct crnic_dbr_page, node);
	if (!page)
		page = crnic_dbr_page_new(dev);
	if (!page)
		return -ENOMEM;

	dbr->page = page;
	dbr->index = find_first_zero_bit(page->used, CRNIC_DBR_PER_PAGE);
	__set_bit(dbr->index, page->used);
	if (bitmap_full(page->used, CRNIC_DBR_PER_PAGE))
		list_del_init(&page->node);

	dbr->db = page->va + dbr->index * CRNIC_DBR_SIZE;
	dbr->dma = page->dma + dbr->index * CRNIC_DBR_SIZE;
	memset(dbr->db, 0, CRNIC_DBR_SIZE);
	return 0;
}

/**
 * crnic_dbr_alloc - allocate a doorbell record
 * @dev: device
 * @dbr: filled in; both words are 0
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int crnic_dbr_alloc(struct crnic_dev *dev, struct crnic_dbr *dbr)
{
	int err;

	mutex_lock(&dev->dbr_lock);
	err = crnic_dbr_alloc_locked(dev, dbr);
	mutex_unlock(&dev->dbr_lock);
	return err;
}

/**
 * crnic_dbr_free - free a doorbell record
 * @dev: device
 * @dbr: record; its object is gone
 *
 * Context: process.
 */
void crnic_dbr_free(struct crnic_dev *dev, struct crnic_dbr *dbr)
{
	struct crnic_dbr_page *page = dbr->page;

	mutex_lock(&dev->dbr_lock);
	if (bitmap_full(page->used, CRNIC_DBR_PER_PAGE))
		list_add(&page->node, &dev->dbr_pages);
	__clear_bit(dbr->index, page->used);
	crnic_dbr_page_put(dev, page);
	mutex_unlock(&dev->dbr_lock);

	dbr->db = NULL;
	dbr->page = NULL;
}
