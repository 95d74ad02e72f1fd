// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include <crnic/crnic.h>
#include <crnic/obj/mkey.h>

#include "../compat/mlx5.h"

/* A key for all queue pairs of its PD */
#define CRNIC_MKEY_ANY_QPN	0xffffff

/* Low bits of a translation, looked at by devices that can page: readable, writable */
#define CRNIC_MTT_PRESENT	3

/* Translations come in octwords: two page addresses each */
static u32 crnic_mkey_octwords(const struct crnic_mkey_params *p)
{
	return p->pas ? DIV_ROUND_UP(p->pas->npages, 2) : p->octwords;
}

static size_t crnic_mkey_list_bytes(const struct crnic_mkey_params *p)
{
	/* the device fetches the list in pieces of 64 bytes */
	return p->pas ? ALIGN(crnic_pas_bytes(p->pas), 64) : 0;
}

static void crnic_mkey_fill_rights(void *mkc, u32 access)
{
	MLX5_SET(mkc, mkc, lr, !!(access & CRNIC_MKEY_LOCAL_READ));
	MLX5_SET(mkc, mkc, lw, !!(access & CRNIC_MKEY_LOCAL_WRITE));
	MLX5_SET(mkc, mkc, rr, !!(access & CRNIC_MKEY_REMOTE_READ));
	MLX5_SET(mkc, mkc, rw, !!(access & CRNIC_MKEY_REMOTE_WRITE));
	MLX5_SET(mkc, mkc, a, !!(access & CRNIC_MKEY_ATOMIC));
}

static void crnic_mkey_fill_access(struct crnic_dev *dev, void *mkc, u32 access)
{
	crnic_mkey_fill_rights(mkc, access);
	if (!(access & CRNIC_MKEY_RELAXED))
		return;
	if (CRNIC_CAP_GEN(dev, relaxed_ordering_write))
		MLX5_SET(mkc, mkc, relaxed_ordering_write, 1);
	if (CRNIC_CAP_GEN(dev, relaxed_ordering_read))
		MLX5_SET(mkc, mkc, relaxed_ordering_read, 1);
}

static void crnic_mkey_fill(struct crnic_dev *dev, void *mkc, const struct crnic_mkey_params *p)
{
	u8 shift = p->pas ? p->pas->page_shift : p->page_shift;

	crnic_mkey_fill_access(dev, mkc, p->access);
	MLX5_SET(mkc, mkc, free, p->free);
	MLX5_SET(mkc, mkc, umr_en, p->umr);
	MLX5_SET(mkc, mkc, en_rinval, p->remote_inval);
	MLX5_SET(mkc, mkc, access_mode_1_0, p->mode);
	MLX5_SET(mkc, mkc, qpn, CRNIC_MKEY_ANY_QPN);
	MLX5_SET(mkc, mkc, mkey_7_0, p->variant);
	MLX5_SET(mkc, mkc, length64, p->whole);
	MLX5_SET(mkc, mkc, pd, p->pdn);
	MLX5_SET(mkc, mkc, translations_octword_size, crnic_mkey_octwords(p));
	MLX5_SET(mkc, mkc, log_page_size, shift);
	if (!p->whole) {
		MLX5_SET64(mkc, mkc, start_addr, p->start);
		MLX5_SET64(mkc, mkc, len, p->len);
	}
}

/**
 * crnic_mkey_fill_change - what a work request changes of a key
 * @dev: device
 * @seg: key segment of the work request, zeroed
 * @pdn: protection domain
 * @access: mask of enum crnic_mkey_access
 */
void crnic_mkey_fill_change(struct crnic_dev *dev, struct mlx5_mkey_seg *seg, u32 pdn,
			    u32 access)
{
	/* the segment is laid out as the context is */
	void *mkc = seg;

	crnic_mkey_fill_access(dev, mkc, access);
	MLX5_SET(mkc, mkc, qpn, CRNIC_MKEY_ANY_QPN);
	MLX5_SET(mkc, mkc, pd, pdn);
}

/**
 * crnic_mkey_fill_free - how a work request takes the meaning from a key, or gives it back
 * @seg: key segment of the work request, zeroed
 * @pdn: protection domain
 * @free: the key means nothing
 */
void crnic_mkey_fill_free(struct mlx5_mkey_seg *seg, u32 pdn, bool free)
{
	void *mkc = seg;

	MLX5_SET(mkc, mkc, free, free);
	MLX5_SET(mkc, mkc, qpn, CRNIC_MKEY_ANY_QPN);
	MLX5_SET(mkc, mkc, pd, pdn);
}

/**
 * crnic_mkey_create - create a memory key
 * @dev: device
 * @p: what it is to be
 * @key: the whole key, lkey and rkey alike
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_mkey_create(struct crnic_dev *dev, const struct crnic_mkey_params *p, u32 *key)
{
	size_t inlen = MLX5_ST_SZ_BYTES(create_mkey_in) + crnic_mkey_list_bytes(p);
	u32 out[MLX5_ST_SZ_DW(create_mkey_out)] = {};
	u64 flags = CRNIC_CAP_GEN(dev, pg) ? CRNIC_MTT_PRESENT : 0;
	u32 *in;
	int err;

	if (inlen > INT_MAX)
		return -EINVAL;
	in = kvzalloc(inlen, GFP_KERNEL);
	if (!in)
		return -ENOMEM;

	MLX5_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
	MLX5_SET(create_mkey_in, in, pg_access, p->pas && flags);
	crnic_mkey_fill(dev, MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry), p);
	if (p->pas) {
		MLX5_SET(create_mkey_in, in, translations_octword_actual_size,
			 crnic_mkey_octwords(p));
		crnic_pas_fill(p->pas, MLX5_ADDR_OF(create_mkey_in, in, klm_pas_mtt), flags);
	}

	err = crnic_cmd_exec(dev, in, inlen, out, sizeof(out));
	*key = MLX5_GET(create_mkey_out, out, mkey_index) << 8 | p->variant;
	kvfree(in);
	return err;
}

/**
 * crnic_mkey_destroy - destroy a memory key
 * @dev: device
 * @key: the whole key; its low 8 bits do not matter
 *
 * Context: process.
 * Return: 0 or a negative errno; -EBUSY while memory windows are bound to it.
 */
int crnic_mkey_destroy(struct crnic_dev *dev, u32 key)
{
	CRNIC_CMD(destroy_mkey);

	MLX5_SET(destroy_mkey_in, in, opcode, MLX5_CMD_OP_DESTROY_MKEY);
	MLX5_SET(destroy_mkey_in, in, mkey_index, key >> 8);
	return CRNIC_EXEC(dev, destroy_mkey);
}

/**
 * crnic_special_keys_query - keys that the device has from the start
 * @dev: device
 * @keys: filled in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_special_keys_query(struct crnic_dev *dev, struct crnic_special_keys *keys)
{
	CRNIC_CMD(query_special_contexts);
	bool terminate = crnic_has_terminate_lkey(dev);
	bool dump = CRNIC_CAP_GEN(dev, dump_fill_mkey);
	bool null = CRNIC_CAP_GEN(dev, null_mkey);
	int err;

	*keys = (struct crnic_special_keys) {
		.terminate_lkey = cpu_to_be32(CRNIC_INVALID_LKEY),
	};
	if (!terminate && !dump && !null)
		return 0;

	MLX5_SET(query_special_contexts_in, in, opcode, MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS);
	err = CRNIC_EXEC(dev, query_special_contexts);
	if (err)
		return err;

	if (null)
		keys->null_mkey = MLX5_GET(query_special_contexts_out, out, null_mkey);
	if (dump)
		keys->dump_fill_mkey = MLX5_GET(query_special_contexts_out, out, dump_fill_mkey);
	if (terminate)
		keys->terminate_lkey = cpu_to_be32(crnic_terminate_lkey(out));
	return 0;
}
