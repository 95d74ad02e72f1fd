// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Firmware pages: memory of the host that the firmware works in.  It asks for
 * pages at boot, at init and at run time, and gives them back on unload.  What
 * it holds is always known.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../compat/compat.h"
#include "core.h"

/* Pages per command; bounds the message, not what the firmware can have */
#define CRNIC_PAGES_BATCH	512

/* More than this in one request is no honest wish */
#define CRNIC_PAGES_MAX_REQUEST	BIT(20)

/* No page came back for so long: the firmware keeps them (mlx5_core: reclaim pages timeout) */
#define CRNIC_PAGES_RECLAIM_MS	5000
#define CRNIC_PAGES_RETRY_MS	10

/**
 * struct crnic_pages - what the firmware holds
 * @lock: serializes giving and taking; sleeps, outside of all other locks of core
 * @held: struct crnic_fw_page by bus address in units of the kernel's pages
 * @room: those of @held that have a free part
 * @count: adapter pages that the firmware holds; read without the lock for reports
 * @wq: serves run-time requests, one by one
 * @abandoned: nothing can stop the device from using them
 */
struct crnic_pages {
	struct mutex lock;	/* see above */
	struct xarray held;
	struct list_head room;
	unsigned int count;
	struct workqueue_struct *wq;
	bool abandoned;
};

/* Adapter pages in a page of the kernel: 16 where that has 64 KiB */
#define CRNIC_FW_PER_PAGE	(PAGE_SIZE / CRNIC_ADAPTER_PAGE_SIZE)

/**
 * struct crnic_fw_page - page of the kernel that the firmware holds parts of
 * @node: in crnic_pages.room while a part is free
 * @page: memory
 * @dma: its bus address
 * @used: bit per adapter page that the firmware holds
 * @func: function that it is for
 */
struct crnic_fw_page {
	struct list_head node;
	struct page *page;
	dma_addr_t dma;
	DECLARE_BITMAP(used, CRNIC_FW_PER_PAGE);
	u16 func;
};

/* A request at run time, on its way from the interrupt to the workqueue */
struct crnic_pages_req {
	struct work_struct work;
	struct crnic_dev *dev;
	u16 func;
	s32 num;
};

/**
 * crnic_page_dma_map - bus address of a page for the firmware
 * @dev: device
 * @page: page
 *
 * Return: address, to be looked at by dma_mapping_error().
 */
dma_addr_t crnic_page_dma_map(struct crnic_dev *dev, struct page *page)
{
	KUNIT_STATIC_STUB_REDIRECT(crnic_page_dma_map, dev, page);

	return dma_map_page(dev->device, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
}

static unsigned long crnic_page_key(u64 dma)
{
	return dma >> PAGE_SHIFT;
}

/* To the firmware an address of 0 is none: such a page is mapped elsewhere */
static int crnic_page_map(struct crnic_dev *dev, struct crnic_fw_page *fp)
{
	dma_addr_t zero;

	fp->dma = crnic_page_dma_map(dev, fp->page);
	if (dma_mapping_error(dev->device, fp->dma))
		return -ENOMEM;
	if (fp->dma)
		return 0;

	zero = fp->dma;
	fp->dma = crnic_page_dma_map(dev, fp->page);
	dma_unmap_page(dev->device, zero, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev->device, fp->dma))
		return -ENOMEM;
	if (fp->dma)
		return 0;
	dma_unmap_page(dev->device, fp->dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	return -ENOMEM;
}

static struct crnic_fw_page *crnic_page_new(struct crnic_dev *dev, u16 func)
{
	struct crnic_fw_page *fp;

	fp = kzalloc(sizeof(*fp), GFP_KERNEL);
	if (!fp)
		return NULL;

	fp->func = func;
	fp->page = alloc_pages_node(dev->numa_node, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, 0);
	if (!fp->page)
		goto free_fp;
	if (crnic_page_map(dev, fp))
		goto free_page;
	if (xa_insert(&dev->pages->held, crnic_page_key(fp->dma), fp, GFP_KERNEL))
		goto unmap;
	list_add(&fp->node, &dev->pages->room);
	return fp;

unmap:
	dma_unmap_page(dev->device, fp->dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
free_page:
	__free_page(fp->page);
free_fp:
	kfree(fp);
	return NULL;
}

static void crnic_page_destroy(struct crnic_dev *dev, struct crnic_fw_page *fp)
{
	xa_erase(&dev->pages->held, crnic_page_key(fp->dma));
	list_del(&fp->node);
	dma_unmap_page(dev->device, fp->dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	__free_page(fp->page);
	kfree(fp);
}

static struct crnic_fw_page *crnic_page_with_room(struct crnic_dev *dev, u16 func)
{
	struct crnic_fw_page *fp;

	list_for_each_entry(fp, &dev->pages->room, node)
		if (fp->func == func)
			return fp;
	return crnic_page_new(dev, func);
}

/* One adapter page */
static int crnic_page_alloc(struct crnic_dev *dev, u16 func, u64 *addr)
{
	struct crnic_fw_page *fp = crnic_page_with_room(dev, func);
	unsigned int i;

	if (!fp)
		return -ENOMEM;

	i = find_first_zero_bit(fp->used, CRNIC_FW_PER_PAGE);
	__set_bit(i, fp->used);
	if (bitmap_full(fp->used, CRNIC_FW_PER_PAGE))
		list_del_init(&fp->node);
	WRITE_ONCE(dev->pages->count, dev->pages->count + 1);
	*addr = fp->dma + i * CRNIC_ADAPTER_PAGE_SIZE;
	return 0;
}

/* Free a page that the firmware gave back; it may name only what it holds */
static bool crnic_page_free(struct crnic_dev *dev, u16 func, u64 addr)
{
	struct crnic_fw_page *fp = xa_load(&dev->pages->held, crnic_page_key(addr));
	unsigned int i = offset_in_page(addr) >> CRNIC_ADAPTER_PAGE_SHIFT;

	if (!fp || fp->func != func || !IS_ALIGNED(addr, CRNIC_ADAPTER_PAGE_SIZE) ||
	    !test_bit(i, fp->used))
		return false;

	if (bitmap_full(fp->used, CRNIC_FW_PER_PAGE))
		list_add(&fp->node, &dev->pages->room);
	__clear_bit(i, fp->used);
	WRITE_ONCE(dev->pages->count, dev->pages->count - 1);
	if (bitmap_empty(fp->used, CRNIC_FW_PER_PAGE))
		crnic_page_destroy(dev, fp);
	return true;
}

static int crnic_pages_give_batch(struct crnic_dev *dev, u16 func, u64 *addrs, unsigned int num)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < num && !err; i++)
		err = crnic_page_alloc(dev, func, &addrs[i]);
	if (err)
		num = i - 1;
	else
		err = crnic_fw_pages_give(dev, func, addrs, num);

	/* on a dead device nobody can tell whether it took them: keep them until the end */
	if (err && !crnic_dead(dev))
		for (i = 0; i < num; i++)
			crnic_page_free(dev, func, addrs[i]);
	return err;
}

static int crnic_pages_give(struct crnic_dev *dev, u16 func, unsigned int num)
{
	unsigned int n;
	u64 *addrs;
	int err = 0;

	if (num > CRNIC_PAGES_MAX_REQUEST) {
		crnic_err(dev, "firmware asks for %u pages\n", num);
		return -EPROTO;
	}

	addrs = kcalloc(CRNIC_PAGES_BATCH, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return -ENOMEM;

	for (; num && !err; num -= n) {
		n = min_t(unsigned int, num, CRNIC_PAGES_BATCH);
		err = crnic_pages_give_batch(dev, func, addrs, n);
	}
	kfree(addrs);
	return err;
}

/* Ask for up to @num pages; returns how many came back, or a negative errno */
static int crnic_pages_take_batch(struct crnic_dev *dev, u16 func, u64 *addrs, unsigned int num)
{
	unsigned int i, freed = 0;
	int err;

	err = crnic_fw_pages_take(dev, func, addrs, &num);
	if (err)
		return err;

	for (i = 0; i < num; i++) {
		if (crnic_page_free(dev, func, addrs[i]))
			freed++;
		else
			crnic_err_rl(dev, "firmware returned page 0x%llx that it never got\n",
				     addrs[i]);
	}
	return freed;
}

static int crnic_pages_take(struct crnic_dev *dev, u16 func, unsigned int num)
{
	u64 *addrs;
	int ret = 0;

	addrs = kcalloc(CRNIC_PAGES_BATCH, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return -ENOMEM;

	do {
		ret = crnic_pages_take_batch(dev, func, addrs,
					     min_t(unsigned int, num, CRNIC_PAGES_BATCH));
		if (ret > 0)
			num -= min_t(unsigned int, ret, num);
	} while (ret > 0 && num);
	kfree(addrs);
	return ret < 0 ? ret : 0;
}

static void crnic_pages_serve(struct work_struct *work)
{
	struct crnic_pages_req *req = container_of(work, struct crnic_pages_req, work);
	struct crnic_dev *dev = req->dev;
	int err;

	mutex_lock(&dev->pages->lock);
	if (req->num >= 0)
		err = crnic_pages_give(dev, req->func, req->num);
	else
		err = crnic_pages_take(dev, req->func, -(s64)req->num);
	/* it waits for an answer, even for a bad one */
	if (err && req->num >= 0)
		crnic_fw_pages_refuse(dev, req->func);
	mutex_unlock(&dev->pages->lock);

	if (err)
		crnic_err_rl(dev, "firmware wanted %d pages: %pe\n", req->num, ERR_PTR(err));
	kfree(req);
}

/**
 * crnic_pages_request - queue a request that the firmware made by an event
 * @dev: device
 * @func: function
 * @num: pages to give, or, if negative, to take back
 *
 * Context: any.
 */
void crnic_pages_request(struct crnic_dev *dev, u16 func, s32 num)
{
	struct crnic_pages_req *req = kzalloc(sizeof(*req), GFP_ATOMIC);

	if (!req) {
		crnic_err_rl(dev, "no memory to serve a page request\n");
		return;
	}
	INIT_WORK(&req->work, crnic_pages_serve);
	req->dev = dev;
	req->func = func;
	req->num = num;
	queue_work(dev->pages->wq, &req->work);
}

/**
 * crnic_pages_drain - wait until all queued requests are served
 * @dev: device; no new ones can come
 *
 * Context: process.
 */
void crnic_pages_drain(struct crnic_dev *dev)
{
	flush_workqueue(dev->pages->wq);
}

/**
 * crnic_pages_satisfy - give what the firmware wants for a step of bring-up
 * @dev: device
 * @when: which step
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_pages_satisfy(struct crnic_dev *dev, enum crnic_pages_when when)
{
	u16 func;
	s32 num;
	int err;

	err = crnic_fw_pages_query(dev, when, &func, &num);
	if (err || num <= 0)
		return err;

	mutex_lock(&dev->pages->lock);
	err = crnic_pages_give(dev, func, num);
	mutex_unlock(&dev->pages->lock);
	return err;
}

/* Any function that still holds a page */
static bool crnic_pages_any_func(struct crnic_dev *dev, u16 *func)
{
	unsigned long key = 0;
	struct crnic_fw_page *fp;

	fp = xa_find(&dev->pages->held, &key, ULONG_MAX, XA_PRESENT);
	if (fp)
		*func = fp->func;
	return fp;
}

/* The device was reset, or is no longer there: it has forgotten them */
static void crnic_pages_free_all(struct crnic_dev *dev)
{
	struct crnic_fw_page *fp;
	unsigned long key;

	if (dev->pages->abandoned && dev->pages->count) {
		crnic_err(dev, "%u pages are lost to the device\n", dev->pages->count);
		return;
	}
	xa_for_each(&dev->pages->held, key, fp)
		crnic_page_destroy(dev, fp);
}

/**
 * crnic_pages_reclaim_all - take everything back
 * @dev: device, torn down or never initialized
 *
 * Context: process; may take seconds if the firmware is slow.
 * Return: 0; -ETIMEDOUT or another negative errno if the firmware keeps pages.
 */
int crnic_pages_reclaim_all(struct crnic_dev *dev)
{
	unsigned long end = jiffies + msecs_to_jiffies(CRNIC_PAGES_RECLAIM_MS);
	unsigned int before;
	int err = 0;
	u16 func;

	mutex_lock(&dev->pages->lock);
	while (!crnic_dead(dev) && crnic_pages_any_func(dev, &func)) {
		before = dev->pages->count;
		err = crnic_pages_take(dev, func, before);
		if (err)
			break;
		if (dev->pages->count < before) {
			end = jiffies + msecs_to_jiffies(CRNIC_PAGES_RECLAIM_MS);
			continue;
		}
		if (time_after(jiffies, end)) {
			err = -ETIMEDOUT;
			break;
		}
		msleep(CRNIC_PAGES_RETRY_MS);
	}
	mutex_unlock(&dev->pages->lock);

	if (err)
		crnic_err(dev, "firmware keeps %u pages: %pe\n", dev->pages->count, ERR_PTR(err));
	return err;
}

/**
 * crnic_fw_pages - how many pages does the firmware hold?
 * @dev: device
 *
 * Context: any.
 * Return: number of adapter pages.
 */
unsigned int crnic_fw_pages(const struct crnic_dev *dev)
{
	return READ_ONCE(dev->pages->count);
}

/**
 * crnic_pages_abandon - leave to the device what it holds, for good
 * @dev: device, which could be neither persuaded nor reset
 *
 * Context: process, at the end of teardown.
 */
void crnic_pages_abandon(struct crnic_dev *dev)
{
	dev->pages->abandoned = true;
}

/**
 * crnic_pages_create - prepare the accounting
 * @dev: device
 *
 * Return: 0 or -ENOMEM.
 */
int crnic_pages_create(struct crnic_dev *dev)
{
	struct crnic_pages *pages = kzalloc(sizeof(*pages), GFP_KERNEL);

	if (!pages)
		return -ENOMEM;

	mutex_init(&pages->lock);
	xa_init(&pages->held);
	INIT_LIST_HEAD(&pages->room);
	pages->wq = alloc_ordered_workqueue("crnic_pages", WQ_MEM_RECLAIM);
	if (!pages->wq) {
		kfree(pages);
		return -ENOMEM;
	}
	dev->pages = pages;
	return 0;
}

/**
 * crnic_pages_destroy - undo crnic_pages_create()
 * @dev: device; it holds no pages, was reset, or keeps them: crnic_pages_abandon()
 */
void crnic_pages_destroy(struct crnic_dev *dev)
{
	destroy_workqueue(dev->pages->wq);
	crnic_pages_free_all(dev);
	xa_destroy(&dev->pages->held);
	mutex_destroy(&dev->pages->lock);
	kfree(dev->pages);
	dev->pages = NULL;
}
