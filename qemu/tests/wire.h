/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A full-duplex wire between two hosts, with faults.  Ends are 0 and 1; a
 * direction is named by the end it leaves.
 */
#ifndef MOCX_TESTS_WIRE_H
#define MOCX_TESTS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything in parts per thousand. */
typedef struct WireFaults {
    unsigned loss;
    unsigned duplicate;
    unsigned reorder;       /* arrives after the frame that follows it */
    unsigned corrupt;       /* one bit flipped, behind the MACs */
} WireFaults;

typedef enum WireFate { WIRE_PASS, WIRE_DROP, WIRE_TWICE } WireFate;

/**
 * WireFilter - a test's own eye on the wire
 * @arg: as given to wire_filter()
 * @from: the end it leaves
 * @data: may be changed in place
 * @len: bytes
 */
typedef WireFate WireFilter(void *arg, unsigned from, uint8_t *data,
                            size_t len);

typedef struct WireCount {
    uint64_t sent;          /* taken from the end */
    uint64_t delivered;
    uint64_t lost;
    uint64_t bytes;
} WireCount;

typedef struct Wire Wire;

/** wire_new() - @seed decides every fault */
Wire *wire_new(uint64_t seed);
void wire_free(Wire *wire);

/** wire_faults() - for frames that leave end @from; NULL: none */
void wire_faults(Wire *wire, unsigned from, const WireFaults *faults);
/** wire_filter() - see every frame before the faults do; NULL: none */
void wire_filter(Wire *wire, WireFilter *filter, void *arg);
/** wire_set_room() - frames that may be under way per direction (default 64) */
void wire_set_room(Wire *wire, unsigned frames);
/** wire_loop() - a single host's frames come back to itself */
void wire_loop(Wire *wire, bool on);

/** wire_send() - Return: false if there is no room */
bool wire_send(Wire *wire, unsigned from, uint64_t now, const uint8_t *data,
               size_t len);
/** wire_next() - when the next frame arrives anywhere; UINT64_MAX for never */
uint64_t wire_next(const Wire *wire);
/** wire_peek() - the frame that has arrived at end @to by @now, or NULL */
const uint8_t *wire_peek(const Wire *wire, unsigned to, uint64_t now,
                         size_t *len);
/** wire_pop() - take away what wire_peek() showed */
void wire_pop(Wire *wire, unsigned to);
/** wire_has_room() - for another frame that leaves @from */
bool wire_has_room(const Wire *wire, unsigned from);

const WireCount *wire_count(const Wire *wire, unsigned from);

/** wire_inject_frame() - put a frame of the test's own in front of end @to */
void wire_inject_frame(Wire *wire, unsigned to, uint64_t now,
                       const uint8_t *data, size_t len);

/** wire_capture() - write what is sent from now on to a pcap file */
bool wire_capture(Wire *wire, const char *path);

#endif /* MOCX_TESTS_WIRE_H */
