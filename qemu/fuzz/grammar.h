/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that a step may begin with: those of the bed's driver, those of the
 * recordings of real drivers, and of each opcode that none of them has used an
 * empty one.  Whatever they name is replaced by something that is alive.
 */
#ifndef MOCX_FUZZ_GRAMMAR_H
#define MOCX_FUZZ_GRAMMAR_H

#include "bed.h"

typedef struct Template {
    uint8_t *in;
    uint32_t inlen, outlen;
    uint32_t list;          /* where a list of pages begins, or 0 */
} Template;

/** grammar_note() - DrvRecord: a command that the bed's driver sends */
void grammar_note(void *arg, const void *in, size_t inlen, size_t outlen);
/** grammar_complete() - add the recordings, and what is missing then */
void grammar_complete(void);
/**
 * grammar_of_child() - take the grammar that a child process arrives at
 * @worlds: makes all worlds, which leaves the grammar whole
 *
 * An input that is run while the worlds are being made means the same then.
 */
void grammar_of_child(void (*worlds)(void));
/** grammar_pick() - one of them, by a number of any size */
const Template *grammar_pick(unsigned pick);
/** grammar_size() - how many there are */
unsigned grammar_size(void);

#endif /* MOCX_FUZZ_GRAMMAR_H */
