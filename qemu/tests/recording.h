/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded commands.  What QEMU writes (property record) is condensed once, by
 * condense.c, to what is kept in recordings/: a line for each command, without
 * a guest address, and short.
 *
 *     OPCODE STATUS INLEN OUTLEN INPUT PAGES NUMBER... [= OUTPUT]
 *
 * INPUT is hexadecimal with a run of N zero bytes as (N), and ends where the
 * page list begins; PAGES is the list's length and the logarithm of its step,
 * "0:0" if there is none; a NUMBER is that of a new object.  OUTPUT is what the
 * device answered, without what differs from run to run; it is left out where
 * nothing but zeros remains.
 */
#ifndef MOCX_TESTS_RECORDING_H
#define MOCX_TESTS_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/ifc.h"
#include "core/names.h"

#define RECORD_BYTES_MAX    (1u << 20)
#define RECORD_NUMBERS_MAX  4
#define RECORD_OUT_MAX      (64u << 10)

/* Where the pages and doorbell records of all commands are put. */
#define RECORD_PAGES_AT     0x110000000ULL
#define RECORD_ADDR_AT      0x108000000ULL

/**
 * struct Record - one command
 * @opcode: of the command
 * @status: it ended with
 * @in: input without its page list
 * @fixed: bytes of @in
 * @inlen: bytes of the whole input
 * @outlen: bytes of the output
 * @pages: entries of the page list
 * @step: logarithm of the distance between them
 * @num_numbers: entries of @numbers
 * @numbers: of the objects that it made
 * @answered: bytes of @out, 0 if the output is not kept
 * @out: output, from its status on
 */
typedef struct Record {
    uint16_t opcode;
    uint8_t status;
    uint32_t inlen, outlen;
    uint32_t fixed;
    uint8_t in[RECORD_BYTES_MAX];
    uint32_t pages;
    unsigned step;
    unsigned num_numbers;
    uint32_t numbers[RECORD_NUMBERS_MAX];
    uint32_t answered;
    uint8_t out[RECORD_OUT_MAX];
} Record;

/** record_write() - one line */
void record_write(FILE *f, const Record *r);
/** record_read() - the next line; false at the end, or if it is none */
bool record_read(FILE *f, Record *r);
/**
 * record_keep_output() - what of an output is the same in every run
 * @opcode: of the command
 * @in: its input
 * @out: its output; what differs from run to run becomes zero: numbers of
 *     objects, the MAC, and what is made of it
 * @outlen: bytes
 *
 * Return: false if nothing is.
 */
bool record_keep_output(uint16_t opcode, const uint8_t *in, uint8_t *out,
                        uint32_t outlen);
/** record_page_list() - where the page list of a command begins, or 0 */
uint32_t record_page_list(uint16_t opcode, const uint8_t *in, uint32_t inlen);

#endif /* MOCX_TESTS_RECORDING_H */
