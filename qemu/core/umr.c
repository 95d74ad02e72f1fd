// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UMR: memory keys changed by a work request, in the order of the send queue.
 * Fast registration, local invalidation, memory windows and the kernel's own
 * mkey cache all come as this one WQE (drivers/infiniband/hw/mlx5/wr.c, umr.c;
 * rdma-core's providers/mlx5/qp.c:set_bind_wr).
 */
#include "roce.h"

#define CTRL_LEN        sizeof(struct mlx5_wqe_umr_ctrl_seg)
#define MKEY_LEN        sizeof(struct mlx5_wqe_mkey_context_seg)
#define OCTWORD         16u
#define CHUNK           4096u       /* of a translation list read at once */
/*
 * What one work request may be charged: its list, or the keys that it names,
 * can be keys of keys.
 */
#define STEPS_MAX       (1u << 18)

enum {                              /* umr_ctrl_seg.flags */
    UMR_INLINE = 0x80, UMR_MUST_BE_VALID = 0x40, UMR_MUST_BE_FREE = 0x20,
    UMR_OFFSET = 0x10, UMR_CHECK_QPN = 0x08,
};

/* mkey_mask (mlx5/device.h: MLX5_MKEY_MASK_*) */
#define MASK_LEN        (1ull << 0)
#define MASK_PAGE_SIZE  (1ull << 1)
#define MASK_START      (1ull << 6)
#define MASK_PD         (1ull << 7)
#define MASK_RINVAL     (1ull << 8)
#define MASK_KEY        (1ull << 13)
#define MASK_QPN        (1ull << 14)
#define MASK_LR         (1ull << 17)
#define MASK_LW         (1ull << 18)
#define MASK_RR         (1ull << 19)
#define MASK_RW         (1ull << 20)
#define MASK_A          (1ull << 21)
#define MASK_RO_WRITE   (1ull << 25)
#define MASK_FREE       (1ull << 29)
#define MASK_RO_READ    (1ull << 47)

typedef struct Umr {
    MocxDev *dev;
    MocxQp *qp;
    const MocxWqe *wqe;
    MocxMkey *mkey;
    uint8_t flags;
    uint32_t octwords;
    uint32_t first;
    uint64_t mask;
    const uint8_t *mkc;
    const uint8_t *list;        /* translations, or the pointer to them */
    size_t list_len;
    uint64_t begun;             /* mocx_steps() then */
} Umr;

static const MocxErr ok = { 0 };

/*
 * Bus addresses may be given only by the kernel: its QPs have the reserved
 * lkey.  Any user may change the windows of his own PD.
 */
static bool privileged(const MocxQp *qp)
{
    return qp->type == MOCX_QP_UMR || qp->reserved_lkey;
}

static void verify_list(const Umr *u)
{
    MocxListCheck check = {
        .qpn = mocx_qpn(u->qp), .pointed = !(u->flags & UMR_INLINE),
        .first = u->first, .octwords = u->octwords,
    };

    if (check.pointed && u->list_len >= sizeof(struct mlx5_wqe_data_seg)) {
        check.bytes = mocx_get_be32(u->list);
        check.addr = mocx_get_be64(u->list + 8);
    }
    mocx_verify_translations(u->dev, &check);
}

/*
 * A card moves whole units: what lies behind a list that does not fill its last
 * one becomes translations, too.
 */
static void fill_unit(Umr *u)
{
    if (u->dev->verify) {
        verify_list(u);
    }
    u->octwords = (u->octwords + MOCX_UMR_UNIT - 1) & ~(MOCX_UMR_UNIT - 1);
}

static bool parse(Umr *u)
{
    const uint8_t *ctrl = u->wqe->raw + u->wqe->umr;

    if (u->wqe->size < u->wqe->umr + CTRL_LEN + MKEY_LEN) {
        return false;
    }
    u->flags = ctrl[0];
    u->octwords = mocx_get_be16(ctrl + 4);
    u->mask = mocx_get_be64(ctrl + 8);
    if (u->flags & UMR_OFFSET) {
        /* Bits 47:16 follow the mask; no key has that many. */
        u->first = mocx_get_be32(ctrl + 16) > UINT16_MAX ? UINT32_MAX
                   : mocx_get_be32(ctrl + 16) << 16 | mocx_get_be16(ctrl + 6);
    }
    u->mkc = ctrl + CTRL_LEN;
    u->list = u->mkc + MKEY_LEN;
    u->list_len = u->wqe->size - u->wqe->umr - CTRL_LEN - MKEY_LEN;
    if (u->dev->cfg.card && u->octwords) {
        fill_unit(u);
    }
    return true;
}

static bool allowed(const Umr *u)
{
    const MocxMkey *mkey = u->mkey;
    const MocxQp *qp = u->qp;

    if (!mkey || !mkey->umr_en ||
        (!(u->mask & MASK_KEY) && mkey->tag != (u->wqe->imm & 0xff))) {
        return false;
    }
    if (u->mask & (MASK_RO_WRITE | MASK_RO_READ) && !u->dev->cfg.card) {
        return false;
    }
    if ((u->flags & UMR_MUST_BE_FREE && !mkey->free) ||
        (u->flags & UMR_MUST_BE_VALID && mkey->free) ||
        (u->flags & UMR_CHECK_QPN && mkey->qpn != mocx_qpn(qp))) {
        return false;
    }
    if (qp->type != MOCX_QP_UMR &&
        (mkey->pdn != qp->pdn || u->mask & MASK_PD)) {
        return false;
    }
    return privileged(qp) || mkey->mode == MOCX_MEM_KLM ||
           mkey->mode == MOCX_MEM_KSM;
}

static bool too_much(const Umr *u)
{
    return mocx_steps(u->dev) - u->begun > STEPS_MAX;
}

/* A window is opened only onto memory that its owner can reach. */
static bool window_legal(const Umr *u)
{
    MocxAccess acc = mocx_qp_access(u->qp, 0);
    size_t len = u->octwords * OCTWORD;

    if (privileged(u->qp) || u->mkey->mode != MOCX_MEM_KLM ||
        !(u->flags & UMR_INLINE)) {
        return true;
    }
    len = len < u->list_len ? len : u->list_len;
    for (const uint8_t *klm = u->list; len >= OCTWORD;
         klm += OCTWORD, len -= OCTWORD) {
        uint32_t bytes = mocx_get_be32(klm), key = mocx_get_be32(klm + 4);

        if (bytes && (mocx_mem_check(u->dev, &acc, key,
                                     mocx_get_be64(klm + 8), bytes) ||
                      too_much(u))) {
            return false;
        }
    }
    return true;
}

/*
 * A key that can be used belongs to a PD: one that does not exist may be given
 * out later, to somebody else.
 */
static bool owner_known(const Umr *u)
{
    bool free = u->mask & MASK_FREE ? DEVX_GET(mkc, u->mkc, free)
                : u->mkey->free;

    return free || (u->mask & MASK_PD
                    ? mocx_table_find(&u->dev->pds, DEVX_GET(mkc, u->mkc, pd))
                    : u->mkey->pd);
}

static void set_right(Umr *u, uint64_t mask, bool value, uint8_t right)
{
    if (u->mask & mask) {
        u->mkey->rights = (uint8_t)(value ? u->mkey->rights | right
                                          : u->mkey->rights & ~right);
    }
}

static void set_rights(Umr *u)
{
    const uint8_t *mkc = u->mkc;

    set_right(u, MASK_LR, DEVX_GET(mkc, mkc, lr), MOCX_LOCAL_READ);
    set_right(u, MASK_LW, DEVX_GET(mkc, mkc, lw), MOCX_LOCAL_WRITE);
    set_right(u, MASK_RR, DEVX_GET(mkc, mkc, rr), MOCX_REMOTE_READ);
    set_right(u, MASK_RW, DEVX_GET(mkc, mkc, rw), MOCX_REMOTE_WRITE);
    set_right(u, MASK_A, DEVX_GET(mkc, mkc, a), MOCX_REMOTE_ATOMIC);
}

static void set_fields(Umr *u)
{
    const uint8_t *mkc = u->mkc;
    MocxMkey *mkey = u->mkey;

    if (u->mask & MASK_LEN) {
        mkey->len = DEVX_GET64(mkc, mkc, len);
    }
    if (u->mask & MASK_PAGE_SIZE) {
        mkey->page_shift = DEVX_GET(mkc, mkc, log_page_size);
    }
    if (u->mask & MASK_START) {
        mkey->start = DEVX_GET64(mkc, mkc, start_addr);
    }
    if (u->mask & MASK_PD) {
        mkey->pdn = DEVX_GET(mkc, mkc, pd);
        mocx_obj_use(&mkey->pd, mocx_table_find(&u->dev->pds, mkey->pdn));
    }
    if (u->mask & MASK_RINVAL) {
        mkey->remote_inval = DEVX_GET(mkc, mkc, en_rinval);
    }
    if (u->mask & MASK_KEY) {
        mkey->tag = DEVX_GET(mkc, mkc, mkey_7_0);
    }
    if (u->mask & MASK_QPN) {
        mkey->qpn = DEVX_GET(mkc, mkc, qpn);
    }
    if (u->mask & MASK_FREE) {
        mkey->free = DEVX_GET(mkc, mkc, free);
    }
    if (u->mask & MASK_RO_WRITE) {
        mkey->relaxed_write = DEVX_GET(mkc, mkc, relaxed_ordering_write);
    }
    if (u->mask & MASK_RO_READ) {
        mkey->relaxed_read = DEVX_GET(mkc, mkc, relaxed_ordering_read);
    }
    set_rights(u);
}

static bool load_inline(Umr *u)
{
    uint32_t room = (uint32_t)(u->list_len / OCTWORD);

    return mocx_mkey_load(u->mkey, u->first, u->list,
                   u->octwords < room ? u->octwords : room);
}

/* The UMR QP has no PD; what it reads is of the PD of the key it names. */
static MocxAccess list_access(const Umr *u, uint32_t lkey)
{
    MocxAccess acc = mocx_qp_access(u->qp, MOCX_LOCAL_READ);
    const MocxMkey *mkey = mocx_mkey_find(u->dev, lkey);

    if (u->qp->type == MOCX_QP_UMR && mkey) {
        acc.pdn = mkey->pdn;
    }
    return acc;
}

static bool load_pointed(Umr *u)
{
    uint32_t lkey = mocx_get_be32(u->list + 4), left = u->octwords;
    uint64_t addr = mocx_get_be64(u->list + 8);
    MocxAccess acc = list_access(u, lkey);
    uint32_t to = u->first;
    uint8_t buf[CHUNK];

    while (left) {
        uint32_t n = left < CHUNK / OCTWORD ? left : CHUNK / OCTWORD;

        if (mocx_mem_read(u->dev, &acc, lkey, addr, buf, n * OCTWORD) ||
            too_much(u) || !mocx_mkey_load(u->mkey, to, buf, n)) {
            return false;
        }
        mocx_charge(u->dev, n);
        to += n;
        addr += n * OCTWORD;
        left -= n;
    }
    return true;
}

static bool load_translations(Umr *u)
{
    if (!u->octwords || u->mkey->mode == MOCX_MEM_PA ||
        u->first >= u->mkey->octwords) {
        return true;
    }
    if (u->flags & UMR_INLINE) {
        return load_inline(u);
    }
    return u->list_len >= sizeof(struct mlx5_wqe_data_seg) && load_pointed(u);
}

MocxErr mocx_umr_execute(MocxDev *dev, MocxQp *qp, const MocxWqe *wqe)
{
    Umr u = {
        .dev = dev, .qp = qp, .wqe = wqe, .begun = mocx_steps(dev),
        .mkey = (MocxMkey *)mocx_table_find(&dev->mkeys, wqe->imm >> 8),
    };

    if (!parse(&u)) {
        return MOCX_ERR_QP_OP;
    }
    if (!allowed(&u) || !window_legal(&u) || !owner_known(&u)) {
        return MOCX_ERR_BIND;
    }
    if (!load_translations(&u)) {
        return MOCX_ERR_PROT;
    }
    set_fields(&u);
    return ok;
}

bool mocx_umr_invalidate(MocxDev *dev, const MocxQp *qp, uint32_t pdn,
                         uint32_t rkey)
{
    MocxMkey *mkey = mocx_mkey_find(dev, rkey);

    if (!mkey || mkey->free || !mkey->remote_inval || mkey->pdn != pdn ||
        (mkey->qpn != 0xffffff && mkey->qpn != mocx_qpn(qp))) {
        return false;
    }
    mkey->free = true;
    return true;
}
