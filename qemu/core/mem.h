/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory keys and what is reached through them.  The one place where an
 * (lkey or rkey, address, length) becomes bus addresses.
 */
#ifndef MOCX_MEM_H
#define MOCX_MEM_H

#include "obj.h"

typedef struct MocxDev MocxDev;

/* Rights, in the order of mkc; also the rights of an access. */
enum {
    MOCX_LOCAL_READ     = 1 << 0,
    MOCX_LOCAL_WRITE    = 1 << 1,
    MOCX_REMOTE_READ    = 1 << 2,
    MOCX_REMOTE_WRITE   = 1 << 3,
    MOCX_REMOTE_ATOMIC  = 1 << 4,
};

typedef enum MocxMemMode {
    MOCX_MEM_PA = 0, MOCX_MEM_MTT = 1, MOCX_MEM_KLM = 2, MOCX_MEM_KSM = 3,
} MocxMemMode;

typedef struct MocxKlm {
    uint32_t bytes;         /* KLM only; KSM entries span 1 << log_page_size */
    uint32_t key;
    uint64_t va;
} MocxKlm;

typedef struct MocxMkey {
    MocxObj obj;            /* id = index; key = index << 8 | tag */
    uint8_t tag;
    uint8_t mode;
    uint8_t rights;
    uint8_t page_shift;
    bool free;              /* not usable until a UMR makes it valid */
    bool umr_en;
    bool length64;          /* PA: the whole address space */
    bool remote_inval;      /* en_rinval */
    bool relaxed_write, relaxed_read;   /* shown; DMA is in order anyway */
    MocxObj *pd;            /* NULL: a free key that belongs to none yet */
    uint32_t pdn;
    uint32_t qpn;           /* 0xffffff: any */
    uint64_t start;
    uint64_t len;
    uint32_t octwords;      /* translation entries room, in 16-byte units */
    union {                 /* NULL until the first is loaded */
        uint64_t *mtt;      /* octwords * 2 bus addresses, flags cleared */
        MocxKlm *klm;       /* octwords entries */
    };
    uint64_t *ends;         /* KLM: where each entry ends, by adding up */
    bool ends_known;        /* since @klm was changed last */
} MocxMkey;

typedef enum MocxMemResult {
    MOCX_MEM_OK,
    MOCX_MEM_BAD_KEY,       /* index, tag, free, PD, QP */
    MOCX_MEM_BAD_RIGHT,
    MOCX_MEM_BAD_RANGE,
    MOCX_MEM_BAD_DMA,       /* the translation leads to no memory */
} MocxMemResult;

/**
 * struct MocxAccess - who reaches memory, and how
 * @pdn: PD of the queue
 * @qpn: its number
 * @need: MOCX_LOCAL_* or MOCX_REMOTE_*
 * @reserved_lkey: the queue may use the reserved lkey (rlky)
 */
typedef struct MocxAccess {
    uint32_t pdn;
    uint32_t qpn;
    uint8_t need;
    bool reserved_lkey;
} MocxAccess;

/*
 * Keys without an object (QUERY_SPECIAL_CONTEXTS).  Their indices lie below
 * the first that is handed out.
 */
#define MOCX_KEY_RESERVED       0x000   /* physical memory, for rlky queues */
#define MOCX_KEY_TERMINATE      0x100   /* end of a receive list; never valid */
#define MOCX_KEY_TERMINATE_CARD 0x400   /* the same, in the profile of a card */
#define MOCX_KEY_NULL           0x200   /* reads zeros, writes vanish */
#define MOCX_KEY_DUMP_FILL      0x300   /* the same, for the DUMP operation */
#define MOCX_MKEY_FIRST         0x100   /* first index of an object */

/* Octwords that a card moves at once (MLX5_UMR_FLEX_ALIGNMENT) */
#define MOCX_UMR_UNIT           4u

/** mocx_mem_check() - every check of an access, without touching memory */
MocxMemResult mocx_mem_check(MocxDev *dev, const MocxAccess *acc, uint32_t key,
                             uint64_t va, uint64_t len);
/** mocx_mem_read() - guest memory to @buf; checks first */
MocxMemResult mocx_mem_read(MocxDev *dev, const MocxAccess *acc, uint32_t key,
                            uint64_t va, void *buf, size_t len);
/** mocx_mem_write() - @buf to guest memory; checks first */
MocxMemResult mocx_mem_write(MocxDev *dev, const MocxAccess *acc, uint32_t key,
                             uint64_t va, const void *buf, size_t len);
/**
 * mocx_mem_addr() - bus address of one 8-byte word, for atomics
 * @dev: the device
 * @acc: who reaches memory, and how
 * @key: lkey or rkey
 * @va: address of the word by that key
 * @bus: out: where it lies, as aligned as the key's entries leave it
 *
 * Return: MOCX_MEM_BAD_DMA if it does not lie in one piece, as the word that
 * two entries of a key of keys share.
 */
MocxMemResult mocx_mem_addr(MocxDev *dev, const MocxAccess *acc, uint32_t key,
                            uint64_t va, uint64_t *bus);

/** mocx_key_terminate() - the key that ends receive lists, as told */
uint32_t mocx_key_terminate(const MocxDev *dev);

/** mocx_mkey_find() - by key; NULL unless index and tag match */
MocxMkey *mocx_mkey_find(MocxDev *dev, uint32_t key);

/**
 * mocx_mkey_load() - translation entries, as CREATE_MKEY or a UMR carries them
 * @mkey: the key
 * @first: octword in the key where they go (two MTTs or one KLM each)
 * @entries: big-endian MTTs or KLMs, as the command or WQE has them
 * @octwords: units of 16 bytes in @entries
 *
 * What lies beyond the key's room is ignored.  @mkey->mode decides how they are
 * read; a UMR that changes the mode does so before.
 *
 * Return: false without memory for them; nothing has changed then.
 */
bool mocx_mkey_load(MocxMkey *mkey, uint32_t first, const uint8_t *entries,
                    uint32_t octwords);

/*
 * One entry of a scatter/gather list, as a WQE's data segment has it.  How a
 * byte_count of 0 and the terminating lkey are read is the caller's business.
 */
typedef struct MocxSge {
    uint64_t addr;
    uint32_t lkey;
    uint32_t len;
} MocxSge;

/**
 * mocx_sgl_ends() - does an entry end a receive list?
 * @dev: the device
 * @sgl: entries before it
 * @n: how many
 * @key: its lkey; its byte count is zero
 *
 * rdma-core cannot ask which key does and always writes 0x100, so that ends the
 * list of a program whatever the answer.  Bus addresses are a kernel's list,
 * which has asked.
 */
bool mocx_sgl_ends(MocxDev *dev, const MocxSge *sgl, unsigned n, uint32_t key);

/**
 * mocx_sgl_read() - gather at byte @off of a list
 * @dev: the device
 * @acc: who reads, and how
 * @sgl: the list
 * @n: its entries
 * @off: byte of the list to begin at
 * @buf: room for @len bytes
 * @len: bytes to copy
 *
 * Return: as the first failing entry; MOCX_MEM_BAD_RANGE if the list is too
 * short.
 */
MocxMemResult mocx_sgl_read(MocxDev *dev, const MocxAccess *acc,
                            const MocxSge *sgl, unsigned n, uint64_t off,
                            void *buf, size_t len);
/** mocx_sgl_write() - the reverse: scatter @buf */
MocxMemResult mocx_sgl_write(MocxDev *dev, const MocxAccess *acc,
                             const MocxSge *sgl, unsigned n, uint64_t off,
                             const void *buf, size_t len);

#endif /* MOCX_MEM_H */
