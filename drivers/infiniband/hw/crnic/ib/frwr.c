// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Regions that a work request gives its pages to (fast registration) */
#include <linux/dma-mapping.h>
#include <linux/log2.h>

#include "../compat/mlx5.h"
#include "ib.h"

/* Translations are counted in units of 16 bytes and read in units of 64 */
#define CRNIC_MTTS_PER_OCTWORD	2
#define CRNIC_MTTS_PER_LINE	(MLX5_UMR_FLEX_ALIGNMENT / sizeof(__be64))

/*
 * A list begins at a multiple of this, and the device may read it to the end of
 * such a piece (mlx5_ib: MLX5_UMR_ALIGN)
 */
#define CRNIC_FRWR_ALIGN	2048

/* kmalloc() aligns a power of two to itself */
static size_t crnic_frwr_bytes(const struct crnic_ib_mr *mr)
{
	return max_t(size_t, CRNIC_FRWR_ALIGN,
		     roundup_pow_of_two(mr->max_descs * sizeof(*mr->descs)));
}

static int crnic_frwr_alloc_list(struct crnic_dev *dev, struct crnic_ib_mr *mr)
{
	mr->descs = kzalloc(crnic_frwr_bytes(mr), GFP_KERNEL);
	if (!mr->descs)
		return -ENOMEM;

	mr->descs_dma = dma_map_single(dev->device, mr->descs, crnic_frwr_bytes(mr),
				       DMA_TO_DEVICE);
	if (dma_mapping_error(dev->device, mr->descs_dma)) {
		kfree(mr->descs);
		mr->descs = NULL;
		return -ENOMEM;
	}
	return 0;
}

/**
 * crnic_frwr_free - free the page list of a region, if it has one
 * @dev: device
 * @mr: region
 */
void crnic_frwr_free(struct crnic_dev *dev, struct crnic_ib_mr *mr)
{
	if (!mr->descs)
		return;

	dma_unmap_single(dev->device, mr->descs_dma, crnic_frwr_bytes(mr), DMA_TO_DEVICE);
	kfree(mr->descs);
}

static int crnic_frwr_create_key(struct crnic_ib_mr *mr, struct ib_pd *ibpd)
{
	struct crnic_mkey_params p = {
		.pdn = to_cpd(ibpd)->pdn,
		.mode = CRNIC_MKEY_MTT,
		.free = true,
		.umr = true,
		.octwords = mr->max_descs / CRNIC_MTTS_PER_OCTWORD,
		.page_shift = PAGE_SHIFT,
	};
	u32 key;
	int err;

	err = crnic_mkey_create(to_cdev(ibpd->device), &p, &key);
	if (err)
		return err;

	mr->ibmr.device = ibpd->device;
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	return 0;
}

/**
 * crnic_ib_alloc_mr - create a region for fast registration
 * @ibpd: protection domain
 * @type: only IB_MR_TYPE_MEM_REG
 * @max_sg: pages it shall hold
 *
 * Return: region or ERR_PTR().
 */
struct ib_mr *crnic_ib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg)
{
	struct crnic_dev *dev = to_cdev(ibpd->device);
	struct crnic_ib_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sg || max_sg > 1U << CRNIC_CAP_GEN(dev, log_max_klm_list_size))
		return ERR_PTR(-EINVAL);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->max_descs = ALIGN(max_sg, CRNIC_MTTS_PER_LINE);
	err = crnic_frwr_alloc_list(dev, mr);
	if (err)
		goto err_free;

	err = crnic_frwr_create_key(mr, ibpd);
	if (err)
		goto err_list;
	return &mr->ibmr;

err_list:
	crnic_frwr_free(dev, mr);
err_free:
	kfree(mr);
	return ERR_PTR(err);
}

static int crnic_frwr_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct crnic_ib_mr *mr = to_cmr(ibmr);

	if (mr->ndescs == mr->max_descs)
		return -ENOMEM;

	mr->descs[mr->ndescs++] = cpu_to_be64(addr | MLX5_EN_RD | MLX5_EN_WR);
	return 0;
}

/**
 * crnic_ib_map_mr_sg - fill the page list of a region
 * @ibmr: region
 * @sg: mapped memory
 * @nents: its entries
 * @offset: where in the first entry to begin, or NULL
 *
 * Return: entries taken, or errno.
 */
int crnic_ib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct crnic_dev *dev = to_cdev(ibmr->device);
	struct crnic_ib_mr *mr = to_cmr(ibmr);
	int n;

	mr->ndescs = 0;
	dma_sync_single_for_cpu(dev->device, mr->descs_dma, crnic_frwr_bytes(mr), DMA_TO_DEVICE);
	n = ib_sg_to_pages(ibmr, sg, nents, offset, crnic_frwr_set_page);
	/* the last unit goes into the key as a whole: nothing of an earlier list with it */
	memset(mr->descs + mr->ndescs, 0,
	       (-mr->ndescs & (CRNIC_MTTS_PER_LINE - 1)) * sizeof(*mr->descs));
	dma_sync_single_for_device(dev->device, mr->descs_dma, crnic_frwr_bytes(mr),
				   DMA_TO_DEVICE);
	return n;
}
