// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbell pages of users: an object of the mlx5 user ABI.  The page's number
 * fixes its offset in the device file, so that looking up an entry by offset is
 * also the check that a number given by a user belongs to that user.
 */
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "ib.h"

#define UVERBS_MODULE_NAME crnic
#include <rdma/uverbs_named_ioctl.h>

/*
 * The ABI packs a command and an index into an mmap offset; commands up to 8
 * have fixed meanings (of which crnic has the clock's two), those from 9 on are
 * the kernel's to choose.
 */
#define CRNIC_MMAP_UAR		16
#define CRNIC_MMAP_CMD_SHIFT	8
#define CRNIC_MMAP_CMD_MASK	0xff
#define CRNIC_MMAP_INDEX_MASK	0xff
#define CRNIC_MMAP_EXT_SHIFT	16

/* bits of an index that an offset has room for */
#define CRNIC_MMAP_INDEX_BITS	24

static u32 crnic_uar_pgoff(u32 index)
{
	return (index >> CRNIC_MMAP_CMD_SHIFT) << CRNIC_MMAP_EXT_SHIFT |
	       CRNIC_MMAP_UAR << CRNIC_MMAP_CMD_SHIFT | (index & CRNIC_MMAP_INDEX_MASK);
}

static struct crnic_ib_uar *crnic_uar_of_entry(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct crnic_ib_uar, rdma);
}

/**
 * crnic_ib_uar_get - find a user's doorbell page and hold it
 * @ctx: the user
 * @index: number that the user gave
 *
 * Return: the page, or NULL if it is not this user's; give it back with
 * crnic_ib_uar_put().
 */
struct crnic_ib_uar *crnic_ib_uar_get(struct crnic_ib_ctx *ctx, u32 index)
{
	struct rdma_user_mmap_entry *entry;

	if (index >> CRNIC_MMAP_INDEX_BITS)
		return NULL;

	entry = rdma_user_mmap_entry_get_pgoff(&ctx->ibctx, crnic_uar_pgoff(index));
	return entry ? crnic_uar_of_entry(entry) : NULL;
}

/**
 * crnic_ib_uar_put - undo crnic_ib_uar_get()
 * @uar: page, or NULL
 */
void crnic_ib_uar_put(struct crnic_ib_uar *uar)
{
	if (uar)
		rdma_user_mmap_entry_put(&uar->rdma);
}

/**
 * crnic_ib_mmap_free - the last mapping and the last queue have let a page go
 * @entry: its entry
 */
void crnic_ib_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct crnic_ib_uar *uar = crnic_uar_of_entry(entry);

	crnic_uar_dealloc(to_cdev(entry->ucontext->device), uar->index);
	kfree(uar);
}

static int crnic_uar_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct crnic_dev *dev = to_cdev(ibctx->device);
	struct rdma_user_mmap_entry *entry;
	phys_addr_t phys;
	int err;

	entry = rdma_user_mmap_entry_get(ibctx, vma);
	if (!entry)
		return -EINVAL;

	phys = crnic_uar_phys(dev, crnic_uar_of_entry(entry)->index);
	err = rdma_user_mmap_io(ibctx, vma, PHYS_PFN(phys), PAGE_SIZE,
				pgprot_noncached(vma->vm_page_prot), entry);
	rdma_user_mmap_entry_put(entry);
	return err;
}

/**
 * crnic_ib_mmap - map a doorbell page, or one of the clock's
 * @ibctx: the user
 * @vma: one page, at an offset that the UAR object told or that the ABI fixes
 *
 * Return: 0 or errno.
 */
int crnic_ib_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	switch (vma->vm_pgoff >> CRNIC_MMAP_CMD_SHIFT & CRNIC_MMAP_CMD_MASK) {
	case MLX5_IB_MMAP_CORE_CLOCK:
		return crnic_ib_clock_mmap_timer(ibctx, vma);
	case MLX5_IB_MMAP_CLOCK_INFO:
		return crnic_ib_clock_mmap_info(ibctx, vma);
	default:
		return crnic_uar_mmap(ibctx, vma);
	}
}

/*
 * All mappings are made by rdma_user_mmap_io(), so ib_core takes them away
 * itself; the operation must exist for it to do so.
 */
void crnic_ib_disassociate(struct ib_ucontext *ibctx)
{
}

static struct crnic_ib_uar *crnic_ib_uar_create(struct crnic_ib_ctx *ctx)
{
	struct crnic_dev *dev = to_cdev(ctx->ibctx.device);
	struct crnic_ib_uar *uar;
	int err;

	uar = kzalloc(sizeof(*uar), GFP_KERNEL);
	if (!uar)
		return ERR_PTR(-ENOMEM);

	err = crnic_uar_alloc(dev, &uar->index);
	if (err)
		goto err_free;

	/* an index from the device becomes an offset */
	err = -EIO;
	if (uar->index >> CRNIC_MMAP_INDEX_BITS)
		goto err_dealloc;

	err = rdma_user_mmap_entry_insert_exact(&ctx->ibctx, &uar->rdma, PAGE_SIZE,
						crnic_uar_pgoff(uar->index));
	if (err)
		goto err_dealloc;
	return uar;

err_dealloc:
	crnic_uar_dealloc(dev, uar->index);
err_free:
	kfree(uar);
	return ERR_PTR(err);
}

static int crnic_uar_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why,
			     struct uverbs_attr_bundle *attrs)
{
	struct crnic_ib_uar *uar = uobj->object;

	rdma_user_mmap_entry_remove(&uar->rdma);
	return 0;
}

static int crnic_uar_respond(struct uverbs_attr_bundle *attrs, const struct crnic_ib_uar *uar)
{
	u64 offset = (u64)crnic_uar_pgoff(uar->index) << PAGE_SHIFT;
	u32 length = PAGE_SIZE;
	int err;

	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset,
			     sizeof(offset));
	if (err)
		return err;

	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length,
			     sizeof(length));
	if (err)
		return err;

	return uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &uar->index,
			      sizeof(uar->index));
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_UAR_OBJ_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	enum mlx5_ib_uapi_uar_alloc_type type;
	struct ib_ucontext *ibctx;
	struct crnic_ib_uar *uar;
	int err;

	ibctx = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(ibctx))
		return PTR_ERR(ibctx);

	err = uverbs_get_const(&type, attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
	if (err)
		return err;

	/* no BlueFlame, hence no write-combining mapping */
	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return -EOPNOTSUPP;

	uar = crnic_ib_uar_create(to_cctx(ibctx));
	if (IS_ERR(uar))
		return PTR_ERR(uar);

	uobj->object = uar;
	uverbs_finalize_uobj_create(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	return crnic_uar_respond(attrs, uar);
}

DECLARE_UVERBS_NAMED_METHOD(
	MLX5_IB_METHOD_UAR_OBJ_ALLOC,
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_UAR,
			UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_CONST_IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE,
			     enum mlx5_ib_uapi_uar_alloc_type, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID,
			    UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH,
			    UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
			    UVERBS_ATTR_TYPE(u64), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	MLX5_IB_METHOD_UAR_OBJ_DESTROY,
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_UAR,
			UVERBS_ACCESS_DESTROY, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(MLX5_IB_OBJECT_UAR,
			    UVERBS_TYPE_ALLOC_IDR(crnic_uar_cleanup),
			    &UVERBS_METHOD(MLX5_IB_METHOD_UAR_OBJ_ALLOC),
			    &UVERBS_METHOD(MLX5_IB_METHOD_UAR_OBJ_DESTROY));

const struct uapi_definition crnic_ib_uar_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_UAR),
	{},
};
