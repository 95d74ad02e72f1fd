/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_MKEY_H
#define CRNIC_OBJ_MKEY_H

#include <linux/bits.h>
#include <linux/types.h>

struct crnic_dev;
struct crnic_pas;
struct mlx5_mkey_seg;

enum crnic_mkey_mode {
	CRNIC_MKEY_PA	= 0,	/* bus addresses, no translation */
	CRNIC_MKEY_MTT	= 1,	/* list of equal pages */
	CRNIC_MKEY_KLM	= 2,	/* list of {length, key, address} */
	CRNIC_MKEY_KSM	= 3,
};

enum crnic_mkey_access {
	CRNIC_MKEY_LOCAL_READ		= BIT(0),
	CRNIC_MKEY_LOCAL_WRITE		= BIT(1),
	CRNIC_MKEY_REMOTE_READ		= BIT(2),
	CRNIC_MKEY_REMOTE_WRITE		= BIT(3),
	CRNIC_MKEY_ATOMIC		= BIT(4),
	CRNIC_MKEY_RELAXED		= BIT(5),
};

/**
 * struct crnic_mkey_params - a memory key to be
 * @pdn: protection domain
 * @mode: how addresses are translated
 * @access: mask of enum crnic_mkey_access
 * @variant: low 8 bits of the key, freely chosen
 * @free: create it without a meaning, to be given one by a UMR work request
 * @umr: it may be changed by UMR work requests
 * @remote_inval: a peer may invalidate it
 * @whole: all of the address space (PA mode); @start and @len are ignored
 * @start: first virtual address
 * @len: bytes
 * @pas: pages (MTT mode), or NULL
 * @octwords: room for translations in units of 16 bytes; computed from @pas if that is given
 * @page_shift: page size of later translations, when @pas is NULL
 */
struct crnic_mkey_params {
	u32 pdn;
	enum crnic_mkey_mode mode;
	u32 access;
	u8 variant;
	bool free;
	bool umr;
	bool remote_inval;
	bool whole;
	u64 start;
	u64 len;
	const struct crnic_pas *pas;
	u32 octwords;
	u8 page_shift;
};

int crnic_mkey_create(struct crnic_dev *dev, const struct crnic_mkey_params *p, u32 *key);
void crnic_mkey_fill_change(struct crnic_dev *dev, struct mlx5_mkey_seg *seg, u32 pdn,
			    u32 access);
void crnic_mkey_fill_free(struct mlx5_mkey_seg *seg, u32 pdn, bool free);
int crnic_mkey_destroy(struct crnic_dev *dev, u32 key);

/**
 * struct crnic_special_keys - keys that the device has from the start
 * @null_mkey: reads as zero, swallows writes; 0 if there is none
 * @dump_fill_mkey: as above for scatter
 * @terminate_lkey: ends a scatter list early, big endian ready for a data segment
 */
struct crnic_special_keys {
	u32 null_mkey;
	u32 dump_fill_mkey;
	__be32 terminate_lkey;
};

int crnic_special_keys_query(struct crnic_dev *dev, struct crnic_special_keys *keys);

#endif /* CRNIC_OBJ_MKEY_H */
