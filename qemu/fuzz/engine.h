/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libFuzzer calls, and is called for; it has no header of its own. */
#ifndef MOCX_FUZZ_ENGINE_H
#define MOCX_FUZZ_ENGINE_H

#include <stddef.h>
#include <stdint.h>

const char *__asan_default_options(void);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
                               unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t asize,
                                 const uint8_t *b, size_t bsize, uint8_t *out,
                                 size_t max, unsigned int seed);

#endif /* MOCX_FUZZ_ENGINE_H */
