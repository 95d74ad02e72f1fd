// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From (key, address, length) to guest memory.
 *
 * One walk serves all: it finds the key, checks the access once, and hands
 * every run of contiguous bus addresses to a function.  A key of keys (KLM,
 * KSM) walks its entries and calls itself, to a bounded depth.
 */
#include "dev.h"

/* KSM over KLM over MTT is as deep as drivers go (indirect ODP keys). */
#define MEM_DEPTH_MAX   4
/*
 * Entries of keys of keys that one access may pass: each has a byte of it at
 * least, but an access may have 2^31 of them.
 */
#define MEM_STEPS_MAX   (1u << 18)
/* A UMR may have left anything in page_shift; no key spans more than this. */
#define MEM_SHIFT_MIN   12
#define MEM_SHIFT_MAX   36
#define ATOMIC_BYTES    8u

typedef struct Walk Walk;

/* One run; false if it leads to no memory. */
typedef bool RunFn(Walk *w, uint64_t bus, size_t len);

struct Walk {
    MocxDev *dev;
    RunFn *fn;              /* NULL: only check */
    RunFn *null_fn;         /* for the null key */
    uint8_t *buf;
    uint64_t bus;           /* of the first run, for mocx_mem_addr() */
    bool reserved_lkey;
    unsigned depth;
    uint32_t steps;
};

static bool step(Walk *w)
{
    return w->steps && w->steps--;
}

/*
 * What of an access remains when a key of keys is passed: remote rights are
 * those of the outer key, inner ones are keys of the same owner.
 */
typedef struct Want {
    uint32_t pdn, qpn;
    uint8_t need;
} Want;

static MocxMemResult run_one(Walk *w, RunFn *fn, uint64_t bus, size_t len)
{
    return !fn || fn(w, bus, len) ? MOCX_MEM_OK : MOCX_MEM_BAD_DMA;
}

MocxMkey *mocx_mkey_find(MocxDev *dev, uint32_t key)
{
    MocxMkey *mkey = (MocxMkey *)mocx_table_find(&dev->mkeys, key >> 8);

    return mkey && mkey->tag == (key & 0xff) ? mkey : NULL;
}

static MocxMemResult mkey_check(const MocxMkey *mkey, const Want *want,
                                uint64_t va, uint64_t len)
{
    if (!mkey || mkey->free || mkey->pdn != want->pdn ||
        (mkey->qpn != 0xffffff && mkey->qpn != want->qpn)) {
        return MOCX_MEM_BAD_KEY;
    }
    if (want->need & ~mkey->rights) {
        return MOCX_MEM_BAD_RIGHT;
    }
    if (!(mkey->length64 && mkey->mode == MOCX_MEM_PA) &&
        (va < mkey->start || len > mkey->len ||
         va - mkey->start > mkey->len - len)) {
        return MOCX_MEM_BAD_RANGE;
    }
    return MOCX_MEM_OK;
}

static MocxMemResult walk_key(Walk *w, const Want *want, uint32_t key,
                              uint64_t va, uint64_t len);

/*
 * Bytes from the start of the first page to @va.  The first page is entered
 * where the start address says.
 */
static uint64_t page_pos(const MocxMkey *mkey, uint64_t va)
{
    uint64_t mask = (1ULL << mkey->page_shift) - 1;

    return (mkey->start & mask) + (va - mkey->start);
}

static bool page_shift_ok(const MocxMkey *mkey)
{
    return mkey->page_shift >= MEM_SHIFT_MIN &&
           mkey->page_shift <= MEM_SHIFT_MAX;
}

static MocxMemResult walk_mtt(Walk *w, const MocxMkey *mkey, uint64_t va,
                              uint64_t len)
{
    uint64_t page = 1ULL << mkey->page_shift;
    uint64_t pos = page_pos(mkey, va), n;
    uint64_t room = (uint64_t)mkey->octwords * 2 << mkey->page_shift;

    if (!mkey->mtt || pos >= room || len > room - pos) {
        return MOCX_MEM_BAD_RANGE;
    }
    if (!w->fn) {
        return MOCX_MEM_OK;
    }
    for (; len; pos += n, len -= n) {
        uint64_t idx = pos >> mkey->page_shift, off = pos & (page - 1);
        uint64_t bus = mkey->mtt[idx] + off;
        MocxMemResult r;

        n = page - off;
        while (n < len && mkey->mtt[idx + 1] == mkey->mtt[idx] + page) {
            n += page;
            idx++;
        }
        n = n < len ? n : len;
        r = run_one(w, w->fn, bus, n);
        if (r) {
            return r;
        }
    }
    return MOCX_MEM_OK;
}

static Want inner_want(const Want *want)
{
    Want inner = *want;

    inner.need = want->need & (MOCX_LOCAL_READ | MOCX_LOCAL_WRITE);
    if (want->need & MOCX_REMOTE_READ) {
        inner.need |= MOCX_LOCAL_READ;
    }
    if (want->need & (MOCX_REMOTE_WRITE | MOCX_REMOTE_ATOMIC)) {
        inner.need |= MOCX_LOCAL_WRITE;
    }
    return inner;
}

/* Entries of equal size, found by division. */
static MocxMemResult walk_ksm(Walk *w, const MocxMkey *mkey, const Want *want,
                              uint64_t va, uint64_t len)
{
    uint64_t page = 1ULL << mkey->page_shift;
    uint64_t pos = page_pos(mkey, va), n;

    for (; len; pos += n, len -= n) {
        uint64_t idx = pos >> mkey->page_shift, off = pos & (page - 1);
        MocxMemResult r;

        if (idx >= mkey->octwords || !step(w)) {
            return MOCX_MEM_BAD_RANGE;
        }
        n = page - off < len ? page - off : len;
        r = walk_key(w, want, mkey->klm[idx].key, mkey->klm[idx].va + off, n);
        if (r) {
            return r;
        }
    }
    return MOCX_MEM_OK;
}

/* Done once after a change, so that an access need not add up. */
static void add_up(Walk *w, MocxMkey *mkey)
{
    uint64_t end = 0;

    if (mkey->ends_known) {
        return;
    }
    for (uint32_t i = 0; i < mkey->octwords; i++) {
        end += mkey->klm[i].bytes;
        mkey->ends[i] = end;
    }
    mkey->ends_known = true;
    mocx_charge(w->dev, mkey->octwords);
}

/* The first entry from @i on that ends behind byte @off, by halves. */
static uint32_t entry_at(const MocxMkey *mkey, uint32_t i, uint64_t off)
{
    uint32_t end = mkey->octwords;

    while (i < end) {
        uint32_t mid = i + (end - i) / 2;

        if (mkey->ends[mid] > off) {
            end = mid;
        } else {
            i = mid + 1;
        }
    }
    return i;
}

/* Entries with a size each, which may be none. */
static MocxMemResult walk_klm(Walk *w, MocxMkey *mkey, const Want *want,
                              uint64_t va, uint64_t len)
{
    uint64_t off = va - mkey->start, n;

    add_up(w, mkey);
    for (uint32_t i = entry_at(mkey, 0, off); len; off += n, len -= n) {
        const MocxKlm *klm = &mkey->klm[i];
        uint64_t in_entry;
        MocxMemResult r;

        if (i == mkey->octwords || !step(w)) {
            return MOCX_MEM_BAD_RANGE;
        }
        in_entry = off - (mkey->ends[i] - klm->bytes);
        n = klm->bytes - in_entry < len ? klm->bytes - in_entry : len;
        r = walk_key(w, want, klm->key, klm->va + in_entry, n);
        if (r) {
            return r;
        }
        i = n < len ? entry_at(mkey, i + 1, off + n) : i;
    }
    return MOCX_MEM_OK;
}

static MocxMemResult walk_indirect(Walk *w, MocxMkey *mkey, const Want *want,
                                   uint64_t va, uint64_t len)
{
    Want inner = inner_want(want);
    MocxMemResult r;

    if (w->depth >= MEM_DEPTH_MAX) {
        return MOCX_MEM_BAD_KEY;
    }
    if (!mkey->klm) {
        return MOCX_MEM_BAD_RANGE;
    }
    w->depth++;
    r = mkey->mode == MOCX_MEM_KSM ? walk_ksm(w, mkey, &inner, va, len)
        : walk_klm(w, mkey, &inner, va, len);
    w->depth--;
    return r;
}

static MocxMemResult walk_special(Walk *w, uint32_t key, uint64_t va,
                                  uint64_t len)
{
    if (key == MOCX_KEY_RESERVED && w->reserved_lkey) {
        return run_one(w, w->fn, va, len);
    }
    if (key == MOCX_KEY_NULL || key == MOCX_KEY_DUMP_FILL) {
        return run_one(w, w->null_fn, va, len);
    }
    return MOCX_MEM_BAD_KEY;
}

static MocxMemResult walk_key(Walk *w, const Want *want, uint32_t key,
                              uint64_t va, uint64_t len)
{
    MocxMkey *mkey;
    MocxMemResult r;

    if (!len) {
        return MOCX_MEM_OK;     /* the key of nothing is not looked at */
    }
    if (key >> 8 < MOCX_MKEY_FIRST) {
        return walk_special(w, key, va, len);
    }
    mkey = mocx_mkey_find(w->dev, key);
    if (!mkey && w->dev->verify &&
        want->need & (MOCX_LOCAL_READ | MOCX_LOCAL_WRITE)) {
        mocx_verify_key(w->dev, key, want->qpn);
    }
    r = mkey_check(mkey, want, va, len);
    if (r) {
        return r;
    }
    if (mkey->mode == MOCX_MEM_PA) {
        return run_one(w, w->fn, va, len);
    }
    if (mkey->mode == MOCX_MEM_KLM) {
        return walk_indirect(w, mkey, want, va, len);
    }
    if (!page_shift_ok(mkey)) {
        return MOCX_MEM_BAD_KEY;
    }
    return mkey->mode == MOCX_MEM_MTT ? walk_mtt(w, mkey, va, len)
           : walk_indirect(w, mkey, want, va, len);
}

static MocxMemResult walk(Walk *w, const MocxAccess *acc, uint32_t key,
                          uint64_t va, uint64_t len)
{
    Want want = { .pdn = acc->pdn, .qpn = acc->qpn, .need = acc->need };

    MocxMemResult r;

    w->reserved_lkey = acc->reserved_lkey;
    w->depth = 0;
    w->steps = MEM_STEPS_MAX;
    r = walk_key(w, &want, key, va, len);
    mocx_charge(w->dev, MEM_STEPS_MAX - w->steps);
    return r;
}

/* Copies: through a host pointer where there is one. */

static bool read_run(Walk *w, uint64_t bus, size_t len)
{
    while (len) {
        size_t n = len;
        void *p = mocx_dma_on(w->dev)
                  ? w->dev->ops->map(w->dev->opaque, bus, &n, false) : NULL;

        if (p) {
            memcpy(w->buf, p, n);
        } else {
            n = len;
            if (!mocx_dma_read(w->dev, bus, w->buf, n)) {
                return false;
            }
        }
        w->buf += n;
        bus += n;
        len -= n;
    }
    return true;
}

static bool write_run(Walk *w, uint64_t bus, size_t len)
{
    while (len) {
        size_t n = len;
        void *p = mocx_dma_on(w->dev)
                  ? w->dev->ops->map(w->dev->opaque, bus, &n, true) : NULL;

        if (p) {
            memcpy(p, w->buf, n);
        } else {
            n = len;
            if (!mocx_dma_write(w->dev, bus, w->buf, n)) {
                return false;
            }
        }
        w->buf += n;
        bus += n;
        len -= n;
    }
    return true;
}

static bool read_null(Walk *w, uint64_t bus, size_t len)
{
    (void)bus;
    memset(w->buf, 0, len);
    w->buf += len;
    return true;
}

static bool write_null(Walk *w, uint64_t bus, size_t len)
{
    (void)bus;
    w->buf += len;
    return true;
}

/* One access of the bus: a word that two entries share has no address. */
static bool keep_addr(Walk *w, uint64_t bus, size_t len)
{
    w->bus = bus;
    return len == ATOMIC_BYTES;
}

static bool refuse(Walk *w, uint64_t bus, size_t len)
{
    (void)w;
    (void)bus;
    (void)len;
    return false;
}

MocxMemResult mocx_mem_check(MocxDev *dev, const MocxAccess *acc, uint32_t key,
                             uint64_t va, uint64_t len)
{
    Walk w = { .dev = dev };

    return walk(&w, acc, key, va, len);
}

/*
 * A flat key is wholly checked before its first byte is touched.  A key of
 * keys may fail at a later entry, so it is walked once without touching.
 */
static MocxMemResult copy(Walk *w, const MocxAccess *acc, uint32_t key,
                          uint64_t va, size_t len)
{
    MocxMkey *mkey = mocx_mkey_find(w->dev, key);

    if (mkey && (mkey->mode == MOCX_MEM_KLM || mkey->mode == MOCX_MEM_KSM)) {
        MocxMemResult r = mocx_mem_check(w->dev, acc, key, va, len);

        if (r) {
            return r;
        }
    }
    return walk(w, acc, key, va, len);
}

MocxMemResult mocx_mem_read(MocxDev *dev, const MocxAccess *acc, uint32_t key,
                            uint64_t va, void *buf, size_t len)
{
    Walk w = { .dev = dev, .fn = read_run, .null_fn = read_null, .buf = buf };

    return copy(&w, acc, key, va, len);
}

MocxMemResult mocx_mem_write(MocxDev *dev, const MocxAccess *acc, uint32_t key,
                             uint64_t va, const void *buf, size_t len)
{
    Walk w = { .dev = dev, .fn = write_run, .null_fn = write_null,
               .buf = (uint8_t *)buf };

    return copy(&w, acc, key, va, len);
}

MocxMemResult mocx_mem_addr(MocxDev *dev, const MocxAccess *acc, uint32_t key,
                            uint64_t va, uint64_t *bus)
{
    Walk w = { .dev = dev, .fn = keep_addr, .null_fn = refuse };
    MocxMemResult r = walk(&w, acc, key, va, ATOMIC_BYTES);

    *bus = w.bus;
    return r;
}

/* Lists */

typedef MocxMemResult SgeFn(MocxDev *dev, const MocxAccess *acc, uint32_t key,
                            uint64_t va, uint8_t *buf, size_t len);

static MocxMemResult sge_read(MocxDev *dev, const MocxAccess *acc,
                              uint32_t key, uint64_t va, uint8_t *buf,
                              size_t len)
{
    return mocx_mem_read(dev, acc, key, va, buf, len);
}

static MocxMemResult sge_write(MocxDev *dev, const MocxAccess *acc,
                               uint32_t key, uint64_t va, uint8_t *buf,
                               size_t len)
{
    return mocx_mem_write(dev, acc, key, va, buf, len);
}

typedef struct SglCopy {
    MocxDev *dev;
    const MocxAccess *acc;
    const MocxSge *sgl;
    unsigned n;
    SgeFn *fn;
} SglCopy;

static MocxMemResult sgl_copy(const SglCopy *c, uint64_t off, uint8_t *buf,
                              size_t len)
{
    for (unsigned i = 0; len && i < c->n; i++) {
        const MocxSge *sge = &c->sgl[i];
        size_t n;
        MocxMemResult r;

        if (off >= sge->len) {
            off -= sge->len;
            continue;
        }
        n = sge->len - off < len ? sge->len - off : len;
        r = c->fn(c->dev, c->acc, sge->lkey, sge->addr + off, buf, n);
        if (r) {
            return r;
        }
        buf += n;
        len -= n;
        off = 0;
    }
    return len ? MOCX_MEM_BAD_RANGE : MOCX_MEM_OK;
}

MocxMemResult mocx_sgl_read(MocxDev *dev, const MocxAccess *acc,
                            const MocxSge *sgl, unsigned n, uint64_t off,
                            void *buf, size_t len)
{
    SglCopy c = { dev, acc, sgl, n, sge_read };

    return sgl_copy(&c, off, buf, len);
}

MocxMemResult mocx_sgl_write(MocxDev *dev, const MocxAccess *acc,
                             const MocxSge *sgl, unsigned n, uint64_t off,
                             const void *buf, size_t len)
{
    SglCopy c = { dev, acc, sgl, n, sge_write };

    return sgl_copy(&c, off, (uint8_t *)buf, len);
}
