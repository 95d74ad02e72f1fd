/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzzer without libFuzzer: seeded noise, the same every time.
 *
 *     fuzz_NAME [SEED [COUNT]]
 *
 * Prints one TAP line for each batch, so that the runner counts it.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

#define BATCHES         8
#define COUNT_SHORT     12
#define COUNT_FULL      1000
#define SIZE_MAX_       768

int main(int argc, char **argv)
{
    const char *depth = getenv("DEPTH");
    unsigned long count = depth && !strcmp(depth, "full") ? COUNT_FULL :
                          COUNT_SHORT;
    unsigned long seed = argc > 1 ? atol(argv[1]) : 1;
    uint8_t data[SIZE_MAX_];

    count = argc > 2 ? (unsigned long)atol(argv[2]) : count;
    for (unsigned long batch = 0; batch < BATCHES; batch++) {
        for (unsigned long i = 0; i < count; i++, seed++) {
            uint64_t rng = seed;
            size_t size = rng_next(&rng) % sizeof(data);

            for (size_t at = 0; at < size; at++) {
                data[at] = rng_next(&rng);
            }
            fprintf(stderr, "# seed %lu\n", seed);
            LLVMFuzzerTestOneInput(data, size);
        }
        printf("ok %lu - %s up to seed %lu\n", batch + 1, argv[0], seed - 1);
        fflush(stdout);
    }
    return 0;
}
