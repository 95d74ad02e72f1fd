// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions of users, and the kernel's region of all memory */
#include "ib.h"

/* Rights and hints that a region can have; the rest is refused, not ignored */
#define CRNIC_MR_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |		\
	 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
	 IB_ACCESS_OPTIONAL)

static const struct {
	u32 ib;
	u32 mkey;
} crnic_mr_rights[] = {
	{ IB_ACCESS_LOCAL_WRITE,	CRNIC_MKEY_LOCAL_WRITE },
	{ IB_ACCESS_REMOTE_READ,	CRNIC_MKEY_REMOTE_READ },
	{ IB_ACCESS_REMOTE_WRITE,	CRNIC_MKEY_REMOTE_WRITE },
	{ IB_ACCESS_REMOTE_ATOMIC,	CRNIC_MKEY_ATOMIC },
	{ IB_ACCESS_RELAXED_ORDERING,	CRNIC_MKEY_RELAXED },
};

/**
 * crnic_mkey_access - rights and hints of a memory key
 * @access: mask of ib_access_flags
 *
 * Return: mask of enum crnic_mkey_access; local read is always there.
 */
u32 crnic_mkey_access(int access)
{
	u32 rights = CRNIC_MKEY_LOCAL_READ;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(crnic_mr_rights); i++)
		if (access & crnic_mr_rights[i].ib)
			rights |= crnic_mr_rights[i].mkey;
	return rights;
}

/* lkey and rkey of the device are one */
static int crnic_mr_create_key(struct crnic_ib_mr *mr, struct ib_pd *ibpd,
			       struct crnic_mkey_params *p)
{
	struct crnic_ib *ib = to_cib(ibpd->device);
	u32 key;
	int err;

	p->pdn = to_cpd(ibpd)->pdn;
	p->access = crnic_mkey_access(mr->access);
	p->variant = atomic_inc_return(&ib->key_variant);
	err = crnic_mkey_create(ib->dev, p, &key);
	if (err)
		return err;

	mr->ibmr.device = ibpd->device;
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	return 0;
}

/**
 * crnic_ib_get_dma_mr - a region of all bus addresses, for the kernel
 * @ibpd: protection domain
 * @access: mask of ib_access_flags
 *
 * Return: region or ERR_PTR().
 */
struct ib_mr *crnic_ib_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct crnic_mkey_params p = { .mode = CRNIC_MKEY_PA, .whole = true };
	struct crnic_ib_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->access = access;
	err = crnic_mr_create_key(mr, ibpd, &p);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

static int crnic_mr_check_access(int access)
{
	if (access & ~CRNIC_MR_ACCESS)
		return -EOPNOTSUPP;
	return 0;
}

/*
 * A list of that many pages goes into a key with the command that makes it.  A
 * longer one is brought by work requests where these can: a command has a
 * largest size, and needs memory for all of the list at once.
 */
#define CRNIC_MR_CMD_PAGES	8192U

static int crnic_mr_load_key(struct crnic_ib_mr *mr, struct ib_pd *ibpd,
			     struct crnic_mkey_params *p, const struct crnic_pas *pas)
{
	struct crnic_ib *ib = to_cib(ibpd->device);
	int err;

	p->free = true;
	p->page_shift = pas->page_shift;
	err = crnic_mr_create_key(mr, ibpd, p);
	if (err)
		return err;

	err = crnic_umr_load(ib, mr->ibmr.lkey, pas);
	if (!err)
		err = crnic_umr_revive(ib, mr->ibmr.lkey, p->pdn);
	if (err)
		crnic_mkey_destroy(ib->dev, mr->ibmr.lkey);
	return err;
}

/* a key for @mr->umem, which stays the caller's on failure */
static int crnic_mr_create_user_key(struct crnic_ib_mr *mr, struct ib_pd *ibpd, u64 iova)
{
	struct crnic_mkey_params p = {
		.mode = CRNIC_MKEY_MTT,
		.start = iova,
		.len = mr->umem->length,
		.umr = true,	/* rights and PD can change: umr.c */
	};
	struct crnic_dev *dev = to_cdev(ibpd->device);
	struct crnic_pas pas = {};
	int err;

	err = crnic_pas_of_region(dev, mr->umem, iova, &pas);
	if (err)
		return err;

	p.octwords = ALIGN(pas.npages, CRNIC_UMR_LIST_UNIT) / CRNIC_UMR_PER_OCTWORD;
	if (pas.npages > CRNIC_MR_CMD_PAGES && crnic_umr_can_load(dev, p.octwords)) {
		err = crnic_mr_load_key(mr, ibpd, &p, &pas);
	} else {
		p.pas = &pas;
		err = crnic_mr_create_key(mr, ibpd, &p);
	}
	if (err)
		return err;

	mr->ibmr.length = mr->umem->length;
	mr->ibmr.iova = iova;
	mr->ibmr.page_size = 1U << pas.page_shift;
	return 0;
}

/* takes over @umem if it succeeds */
static struct ib_mr *crnic_mr_of_umem(struct ib_pd *ibpd, struct ib_umem *umem, u64 iova,
				      int access)
{
	struct crnic_ib_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->umem = umem;
	mr->access = access;
	err = crnic_mr_create_user_key(mr, ibpd, iova);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/**
 * crnic_ib_reg_user_mr - register memory of a user
 * @ibpd: protection domain
 * @start: the user's address
 * @len: bytes
 * @iova: address that work requests use for @start
 * @access: mask of ib_access_flags, their combination checked by ib_core
 * @udata: nothing is exchanged
 *
 * Return: region or ERR_PTR().
 */
struct ib_mr *crnic_ib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 len, u64 iova, int access,
				   struct ib_udata *udata)
{
	struct ib_umem *umem;
	struct ib_mr *ibmr;
	int err;

	err = crnic_mr_check_access(access);
	if (err)
		return ERR_PTR(err);

	umem = ib_umem_get(ibpd->device, start, len, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);

	ibmr = crnic_mr_of_umem(ibpd, umem, iova, access);
	if (IS_ERR(ibmr))
		ib_umem_release(umem);
	return ibmr;
}

/*
 * The same key, another protection domain or other rights.  Work requests that
 * are under way see either the old or the new ones.
 */
static int crnic_mr_change(struct crnic_ib_mr *mr, struct ib_pd *ibpd, int access)
{
	struct crnic_ib *ib = to_cib(ibpd->device);
	u32 rights = crnic_mkey_access(access);
	int err;

	err = crnic_umr_change(ib, mr->ibmr.lkey, to_cpd(ibpd)->pdn, rights);
	if (!err)
		mr->access = access;
	return err;
}

/*
 * Another key for the same pages.  One region at a time holds them: a key that
 * led to them beyond that would lead to freed memory, and a key whose
 * destruction fails (-EBUSY for one with windows) stays for long.
 */
static struct ib_mr *crnic_mr_replace(struct crnic_ib_mr *old, struct ib_pd *ibpd, int access)
{
	struct crnic_ib *ib = to_cib(ibpd->device);
	struct ib_mr *new;
	int err;

	err = crnic_umr_revoke(ib, old->ibmr.lkey);
	if (err)
		return ERR_PTR(err);

	new = crnic_mr_of_umem(ibpd, old->umem, old->ibmr.iova, access);
	if (!IS_ERR(new))
		old->umem = NULL;
	else if (crnic_umr_revive(ib, old->ibmr.lkey, to_cpd(old->ibmr.pd)->pdn))
		crnic_err_rl(ib->dev, "key 0x%x stays revoked\n", old->ibmr.lkey);
	return new;
}

/* the pages of @mr serve under new rights, unless they were pinned for reading only */
static bool crnic_mr_can_reuse(const struct crnic_ib_mr *mr, int access)
{
	return mr->umem->writable || !ib_access_writable(access);
}

/**
 * crnic_ib_rereg_user_mr - change a region
 * @ibmr: region
 * @flags: what changes: translation, PD, access
 * @start: new memory
 * @len: its bytes
 * @iova: its address in work requests
 * @access: new rights
 * @ibpd: PD it shall have, never NULL
 * @udata: nothing is exchanged
 *
 * The key stays where only the PD and the rights change, if a work request can
 * change those rights.  Otherwise there is a new key, and ib_core then destroys
 * the old region; should the new one fail, the old one serves as before.
 *
 * Return: new region, NULL for the old one changed, or ERR_PTR().
 */
struct ib_mr *crnic_ib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 len, u64 iova,
				     int access, struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct crnic_ib_mr *old = to_cmr(ibmr);
	int err;

	if (!old->umem || flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->access;
	err = crnic_mr_check_access(access);
	if (err)
		return ERR_PTR(err);

	if (flags & IB_MR_REREG_TRANS)
		return crnic_ib_reg_user_mr(ibpd, start, len, iova, access, udata);
	if (!crnic_mr_can_reuse(old, access))
		return crnic_ib_reg_user_mr(ibpd, old->umem->address, old->umem->length,
					    old->ibmr.iova, access, udata);
	if (!crnic_umr_can_change(to_cdev(ibmr->device), crnic_mkey_access(old->access),
				  crnic_mkey_access(access)))
		return crnic_mr_replace(old, ibpd, access);

	err = crnic_mr_change(old, ibpd, access);
	return err ? ERR_PTR(err) : NULL;
}

/**
 * crnic_ib_dereg_mr - destroy a region
 * @ibmr: region
 * @udata: nothing is exchanged
 *
 * Return: 0, or errno with the region still there.
 */
int crnic_ib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct crnic_dev *dev = to_cdev(ibmr->device);
	struct crnic_ib_mr *mr = to_cmr(ibmr);
	int err;

	err = crnic_mkey_destroy(dev, ibmr->lkey);
	if (err)
		return err;

	crnic_frwr_free(dev, mr);
	ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
