/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of verifier mode share. */
#ifndef MOCX_VERIFY_STATE_H
#define MOCX_VERIFY_STATE_H

#include "verify.h"

#define MOCX_LOG_PLACES     10
#define MOCX_MAP_FRAMES     32768   /* of one piece: 128 MiB of 4 KiB pages */

/* Firmware pages, as bits of the pieces of memory that have any. */
typedef struct MocxPageMap {
    uint64_t piece;             /* address / (4096 * MOCX_MAP_FRAMES) */
    uint8_t bits[MOCX_MAP_FRAMES / 8];
    struct MocxPageMap *next;
} MocxPageMap;

struct MocxVerify {
    uint64_t count[MOCX_RULES];
    uint64_t places[1u << MOCX_LOG_PLACES];
    uint64_t noise;             /* state of the generator */
    MocxPageMap *pages;
};

/** mocx_verify_forget_pages() - none is held any more */
void mocx_verify_forget_pages(MocxDev *dev);

#endif /* MOCX_VERIFY_STATE_H */
