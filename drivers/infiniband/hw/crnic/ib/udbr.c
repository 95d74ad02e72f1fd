// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbell records of users.  The library carves many of them from one page,
 * so a page is pinned once for each context and counted.
 */
#include <linux/sched/mm.h>

#include "ib.h"

/* two 32-bit words */
#define CRNIC_DBR_BYTES		8

/**
 * struct crnic_udbr_page - a pinned page of doorbell records
 * @list: in the context's list
 * @umem: the page; it also knows whose memory it is
 * @addr: the user's address
 * @users: records in use
 */
struct crnic_udbr_page {
	struct list_head list;
	struct ib_umem *umem;
	u64 addr;
	unsigned int users;
};

/* The same address is another page in a child that inherited the context */
static struct crnic_udbr_page *crnic_udbr_find_locked(struct crnic_ib_ctx *ctx, u64 addr)
{
	struct crnic_udbr_page *page;

	lockdep_assert_held(&ctx->dbr_lock);
	list_for_each_entry(page, &ctx->dbr_pages, list)
		if (page->addr == addr && page->umem->owning_mm == current->mm)
			return page;
	return NULL;
}

static struct crnic_udbr_page *crnic_udbr_pin_locked(struct crnic_ib_ctx *ctx, u64 addr)
{
	struct crnic_udbr_page *page;
	int err;

	lockdep_assert_held(&ctx->dbr_lock);
	page = kzalloc(sizeof(*page), GFP_KERNEL);
	if (!page)
		return ERR_PTR(-ENOMEM);

	page->addr = addr;
	page->umem = ib_umem_get(ctx->ibctx.device, addr, PAGE_SIZE, 0);
	if (IS_ERR(page->umem)) {
		err = PTR_ERR(page->umem);
		kfree(page);
		return ERR_PTR(err);
	}

	list_add(&page->list, &ctx->dbr_pages);
	return page;
}

/**
 * crnic_udbr_map - make a user's doorbell record known to the device
 * @ctx: the user
 * @addr: its address, aligned to its size
 * @udbr: what to give back to crnic_udbr_unmap()
 *
 * Context: process.
 * Return: 0, -EINVAL for a bad address, or the errno of pinning.
 */
int crnic_udbr_map(struct crnic_ib_ctx *ctx, u64 addr, struct crnic_udbr *udbr)
{
	struct crnic_udbr_page *page;

	if (!addr || !IS_ALIGNED(addr, CRNIC_DBR_BYTES))
		return -EINVAL;

	mutex_lock(&ctx->dbr_lock);
	page = crnic_udbr_find_locked(ctx, addr & PAGE_MASK);
	if (!page)
		page = crnic_udbr_pin_locked(ctx, addr & PAGE_MASK);
	if (!IS_ERR(page))
		page->users++;
	mutex_unlock(&ctx->dbr_lock);
	if (IS_ERR(page))
		return PTR_ERR(page);

	udbr->page = page;
	udbr->dma = sg_dma_address(page->umem->sgt_append.sgt.sgl) + (addr & ~PAGE_MASK);
	return 0;
}

/**
 * crnic_udbr_unmap - undo crnic_udbr_map()
 * @ctx: the user
 * @udbr: record
 */
void crnic_udbr_unmap(struct crnic_ib_ctx *ctx, struct crnic_udbr *udbr)
{
	struct crnic_udbr_page *page = udbr->page;

	mutex_lock(&ctx->dbr_lock);
	if (!--page->users) {
		list_del(&page->list);
		ib_umem_release(page->umem);
		kfree(page);
	}
	mutex_unlock(&ctx->dbr_lock);
}
