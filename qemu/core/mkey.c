// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory key objects. */
#include "dev.h"
#include "heap.h"

#define MKEY_SHIFT_MIN      12
#define MKEY_SHIFT_MAX      36
/* 64 GiB in 4 KiB pages */
#define MKEY_OCTWORDS_MAX   (1u << 23)
#define MKEY_KLMS_MAX       (1u << MOCX_LOG_MAX_KLM_LIST)
#define OCTWORD             16
/* Low bits of an MTT entry are flags (mlx5_ib: MLX5_IB_MTT_WRITE, _READ). */
#define MTT_FLAGS           0xfffull

#define SYND_MKEY_MODE      0x3e700001u
#define SYND_MKEY_PAGE      0x3e700002u
#define SYND_MKEY_SIZE      0x3e700003u
#define SYND_MKEY_INLINE    0x3e700004u
#define SYND_MKEY_PD        0x3e700005u
#define SYND_MKEY_LIMIT     0x3e700006u
#define SYND_MKEY_NUMBER    0x3e700007u
#define SYND_MKEY_LEN       0x3e700008u
#define SYND_MKEY_RELAXED   0x3e700009u

static uint8_t mkc_mode(const uint8_t *mkc)
{
    return DEVX_GET(mkc, mkc, access_mode_4_2) << 2 |
           DEVX_GET(mkc, mkc, access_mode_1_0);
}

static uint8_t mkc_rights(const uint8_t *mkc)
{
    return (DEVX_GET(mkc, mkc, lr) ? MOCX_LOCAL_READ : 0) |
           (DEVX_GET(mkc, mkc, lw) ? MOCX_LOCAL_WRITE : 0) |
           (DEVX_GET(mkc, mkc, rr) ? MOCX_REMOTE_READ : 0) |
           (DEVX_GET(mkc, mkc, rw) ? MOCX_REMOTE_WRITE : 0) |
           (DEVX_GET(mkc, mkc, a) ? MOCX_REMOTE_ATOMIC : 0);
}

static void mkey_fill(MocxMkey *mkey, const uint8_t *mkc)
{
    mkey->tag = DEVX_GET(mkc, mkc, mkey_7_0);
    mkey->mode = mkc_mode(mkc);
    mkey->rights = mkc_rights(mkc);
    mkey->page_shift = DEVX_GET(mkc, mkc, log_page_size);
    mkey->free = DEVX_GET(mkc, mkc, free);
    mkey->umr_en = DEVX_GET(mkc, mkc, umr_en);
    mkey->length64 = DEVX_GET(mkc, mkc, length64);
    mkey->remote_inval = DEVX_GET(mkc, mkc, en_rinval);
    mkey->relaxed_write = DEVX_GET(mkc, mkc, relaxed_ordering_write);
    mkey->relaxed_read = DEVX_GET(mkc, mkc, relaxed_ordering_read);
    mkey->pdn = DEVX_GET(mkc, mkc, pd);
    mkey->qpn = DEVX_GET(mkc, mkc, qpn);
    mkey->start = DEVX_GET64(mkc, mkc, start_addr);
    mkey->len = DEVX_GET64(mkc, mkc, len);
    mkey->octwords = mkey->mode == MOCX_MEM_PA ? 0
                     : DEVX_GET(mkc, mkc, translations_octword_size);
}

/* Entries of equal size need one; a free key gets it with its UMR. */
static bool needs_page_size(const MocxMkey *mkey)
{
    return !mkey->free &&
           (mkey->mode == MOCX_MEM_MTT || mkey->mode == MOCX_MEM_KSM);
}

static MocxStatus mkey_check(MocxDev *dev, MocxCmd *cmd, const MocxMkey *mkey)
{
    if (mkey->mode > MOCX_MEM_KSM) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_MKEY_MODE,
                        "access mode %u", mkey->mode);
    }
    if ((mkey->relaxed_write || mkey->relaxed_read) && !dev->cfg.card) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_MKEY_RELAXED,
                        "relaxed ordering is not offered");
    }
    if (needs_page_size(mkey) && (mkey->page_shift < MKEY_SHIFT_MIN ||
                                  mkey->page_shift > MKEY_SHIFT_MAX)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_MKEY_PAGE,
                        "log_page_size %u", mkey->page_shift);
    }
    if (mkey->octwords > MKEY_OCTWORDS_MAX ||
        (mkey->mode == MOCX_MEM_KLM && mkey->octwords > MKEY_KLMS_MAX)) {
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_MKEY_SIZE,
                        "%u octwords of translations", mkey->octwords);
    }
    if (!mkey->free && mkey->len + mkey->start < mkey->start &&
        mkey->len + mkey->start) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_MKEY_LEN,
                        "region wraps the address space");
    }
    if (!mkey->free && !mkey->pd) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_MKEY_PD,
                        "PD %u does not exist", mkey->pdn);
    }
    return MOCX_OK;
}

/*
 * Drivers keep thousands of keys for work requests to come, each with room for
 * many pages: the room is made with the first translation.  There is one
 * octword more than the key has, since whoever looks for runs of pages looks
 * one ahead.
 */
static bool make_room(MocxMkey *mkey)
{
    bool adds_up = mkey->mode == MOCX_MEM_KLM;
    MocxHeap *heap = mocx_heap_of(mkey);

    if (!mkey->mtt) {
        mkey->mtt = mocx_calloc(heap, mkey->octwords + 1, sizeof(MocxKlm));
    }
    if (adds_up && !mkey->ends) {
        mkey->ends = mocx_calloc(heap, mkey->octwords + 1, sizeof(*mkey->ends));
    }
    return mkey->mtt && (!adds_up || mkey->ends);
}

bool mocx_mkey_load(MocxMkey *mkey, uint32_t first, const uint8_t *entries,
                    uint32_t octwords)
{
    if (!make_room(mkey)) {
        return false;
    }
    mkey->ends_known = false;
    for (uint32_t i = 0; i < octwords; i++, entries += OCTWORD) {
        uint32_t to = first + i;

        if (to >= mkey->octwords) {
            break;
        }
        if (mkey->mode == MOCX_MEM_MTT) {
            mkey->mtt[to * 2] = mocx_get_be64(entries) & ~MTT_FLAGS;
            mkey->mtt[to * 2 + 1] = mocx_get_be64(entries + 8) & ~MTT_FLAGS;
        } else {
            mkey->klm[to] = (MocxKlm) {
                .bytes = mocx_get_be32(entries),
                .key = mocx_get_be32(entries + 4),
                .va = mocx_get_be64(entries + 8),
            };
        }
    }
    return true;
}

/* The translations that came with the command. */
static MocxStatus mkey_load_inline(MocxDev *dev, MocxCmd *cmd, MocxMkey *mkey)
{
    uint32_t n = DEVX_GET(create_mkey_in, cmd->in,
                          translations_octword_actual_size);
    size_t head = DEVX_ST_SZ_BYTES(create_mkey_in);

    if (n > mkey->octwords || n > (cmd->inlen - head) / OCTWORD) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_MKEY_INLINE,
                        "%u octwords given, %u in the key, %zu bytes behind",
                        n, mkey->octwords, cmd->inlen - head);
    }
    return !n || mocx_mkey_load(mkey, 0, cmd->in + head, n) ? MOCX_OK
                                                            : MOCX_NO_RES;
}

static void mkey_fini(MocxDev *dev, MocxObj *obj)
{
    MocxMkey *mkey = (MocxMkey *)obj;

    dev->mkey_octwords -= mkey->octwords;
    mocx_free(mkey->mtt);
    mocx_free(mkey->ends);
}

static const MocxObjKind mkey_kind = {
    .type = MOCX_OBJ_MKEY, .uses = { offsetof(MocxMkey, pd) },
    .fini = mkey_fini,
};

static MocxStatus mkey_alloc(MocxDev *dev, MocxCmd *cmd, MocxMkey **res)
{
    const uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, cmd->in,
                                      memory_key_mkey_entry);
    MocxMkey *mkey = mocx_calloc(&dev->heap, 1, sizeof(*mkey));
    MocxStatus status;

    if (!mkey) {
        return MOCX_NO_RES;
    }
    mkey_fill(mkey, mkc);
    mkey->pd = mocx_table_find(&dev->pds, mkey->pdn);
    status = mkey_check(dev, cmd, mkey);
    if (status) {
        mocx_free(mkey);
        return status;
    }
    dev->mkey_octwords += mkey->octwords;
    if (!mkey->free && !make_room(mkey)) {
        mkey_fini(dev, &mkey->obj);
        mocx_free(mkey);
        return MOCX_NO_RES;
    }
    *res = mkey;
    return MOCX_OK;
}

static MocxStatus mkey_create(MocxDev *dev, MocxCmd *cmd)
{
    MocxMkey *mkey;
    MocxStatus status = mkey_alloc(dev, cmd, &mkey);

    if (status) {
        return status;
    }
    status = mkey_load_inline(dev, cmd, mkey);
    if (!status && !mocx_table_add(&dev->mkeys, &mkey->obj, &mkey_kind)) {
        status = mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_MKEY_LIMIT,
                          "no memory key left");
    }
    if (status) {
        mkey_fini(dev, &mkey->obj);
        mocx_free(mkey);
        return status;
    }
    DEVX_SET(create_mkey_out, cmd->out, mkey_index, mkey->obj.id);
    return MOCX_OK;
}

static MocxStatus mkey_lookup(MocxDev *dev, MocxCmd *cmd, uint32_t index,
                              MocxMkey **mkey)
{
    *mkey = (MocxMkey *)mocx_table_find(&dev->mkeys, index);
    return *mkey ? MOCX_OK
           : mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_MKEY_NUMBER,
                      "memory key 0x%x does not exist", index);
}

static MocxStatus mkey_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxMkey *mkey;
    MocxStatus status = mkey_lookup(dev, cmd, DEVX_GET(destroy_mkey_in,
                                    cmd->in, mkey_index), &mkey);

    if (!status) {
        mocx_table_drop(dev, &dev->mkeys, &mkey->obj);
    }
    return status;
}

static MocxStatus mkey_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *mkc = DEVX_ADDR_OF(query_mkey_out, cmd->out,
                                memory_key_mkey_entry);
    MocxMkey *mkey;
    MocxStatus status = mkey_lookup(dev, cmd, DEVX_GET(query_mkey_in, cmd->in,
                                    mkey_index), &mkey);

    if (status) {
        return status;
    }
    DEVX_SET(mkc, mkc, free, mkey->free);
    DEVX_SET(mkc, mkc, umr_en, mkey->umr_en);
    DEVX_SET(mkc, mkc, a, !!(mkey->rights & MOCX_REMOTE_ATOMIC));
    DEVX_SET(mkc, mkc, rw, !!(mkey->rights & MOCX_REMOTE_WRITE));
    DEVX_SET(mkc, mkc, rr, !!(mkey->rights & MOCX_REMOTE_READ));
    DEVX_SET(mkc, mkc, lw, !!(mkey->rights & MOCX_LOCAL_WRITE));
    DEVX_SET(mkc, mkc, lr, !!(mkey->rights & MOCX_LOCAL_READ));
    DEVX_SET(mkc, mkc, access_mode_1_0, mkey->mode & 3);
    DEVX_SET(mkc, mkc, access_mode_4_2, mkey->mode >> 2);
    DEVX_SET(mkc, mkc, qpn, mkey->qpn);
    DEVX_SET(mkc, mkc, mkey_7_0, mkey->tag);
    DEVX_SET(mkc, mkc, length64, mkey->length64);
    DEVX_SET(mkc, mkc, en_rinval, mkey->remote_inval);
    DEVX_SET(mkc, mkc, relaxed_ordering_write, mkey->relaxed_write);
    DEVX_SET(mkc, mkc, relaxed_ordering_read, mkey->relaxed_read);
    DEVX_SET(mkc, mkc, pd, mkey->pdn);
    DEVX_SET64(mkc, mkc, start_addr, mkey->start);
    DEVX_SET64(mkc, mkc, len, mkey->len);
    DEVX_SET(mkc, mkc, translations_octword_size, mkey->octwords);
    DEVX_SET(mkc, mkc, log_page_size, mkey->page_shift);
    return MOCX_OK;
}

uint32_t mocx_key_terminate(const MocxDev *dev)
{
    return dev->cfg.card ? MOCX_KEY_TERMINATE_CARD : MOCX_KEY_TERMINATE;
}

static bool is_physical(MocxDev *dev, uint32_t key)
{
    const MocxMkey *mkey = mocx_mkey_find(dev, key);

    return key == MOCX_KEY_RESERVED || (mkey && mkey->mode == MOCX_MEM_PA);
}

bool mocx_sgl_ends(MocxDev *dev, const MocxSge *sgl, unsigned n, uint32_t key)
{
    if (key == mocx_key_terminate(dev)) {
        return true;
    }
    if (key != MOCX_KEY_TERMINATE) {
        return false;
    }
    if (!n || !is_physical(dev, sgl[0].lkey)) {
        return true;
    }
    if (dev->verify) {
        mocx_verify_list_end(dev, key);
    }
    return false;
}

static MocxStatus special_query(MocxDev *dev, MocxCmd *cmd)
{
    DEVX_SET(query_special_contexts_out, cmd->out, dump_fill_mkey,
             MOCX_KEY_DUMP_FILL);
    DEVX_SET(query_special_contexts_out, cmd->out, resd_lkey,
             MOCX_KEY_RESERVED);
    DEVX_SET(query_special_contexts_out, cmd->out, null_mkey, MOCX_KEY_NULL);
    DEVX_SET(query_special_contexts_out, cmd->out, terminate_scatter_list_mkey,
             mocx_key_terminate(dev));
    return MOCX_OK;
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(CREATE_MKEY, create_mkey, MOCX_ST_INITIALIZED, mkey_create),
    MOCX_ROW(DESTROY_MKEY, destroy_mkey, MOCX_ST_INITIALIZED, mkey_destroy),
    MOCX_ROW(QUERY_MKEY, query_mkey, MOCX_ST_INITIALIZED, mkey_query),
    /* Older kernels know fewer keys. */
    { MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS, "QUERY_SPECIAL_CONTEXTS", 16, 16,
      MOCX_ST_INITIALIZED, special_query, "query_special_contexts" },
};

const MocxCmdRows mocx_rows_mkey = { rows, sizeof(rows) / sizeof(rows[0]) };

static void mkey_reset(MocxDev *dev)
{
    mocx_table_clear(dev, &dev->mkeys, &mkey_kind);
}

const MocxModule mocx_mod_mkey = { .name = "mkey", .reset = mkey_reset };
