/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where commands name objects, and where they hold guest addresses.  The
 * commands themselves need none of this; who looks at them from outside does
 * (verify_cmd.c, and the tests that replay recorded commands).
 */
#ifndef MOCX_NAMES_H
#define MOCX_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "obj.h"

typedef struct MocxDev MocxDev;

/* Kinds that are no object: 64-bit guest addresses, one or a list of pages. */
enum {
    MOCX_NAME_ADDR = MOCX_OBJ_TYPES,
    MOCX_NAME_PAGES,
};

/**
 * struct MocxName - one field of one command
 * @opcode: of the command
 * @output: the field is in the output: a number that is new
 * @kind: MocxObjType, or MOCX_NAME_*
 * @bits: width
 * @off: first bit
 * @stride: 0, or a list to the message's end, with an entry each so many bits
 * @tag: 0, or one more than the byte before the field must be
 */
typedef struct MocxName {
    uint16_t opcode;
    bool output;
    uint8_t kind;
    uint8_t bits;
    uint16_t off;
    uint16_t stride;
    uint8_t tag;
} MocxName;

/**
 * mocx_name_first() - the first row of a command
 * @opcode: of the command
 *
 * Return: rows of one opcode follow each other; NULL if it has none.
 */
const MocxName *mocx_name_first(uint16_t opcode);

/**
 * mocx_name_next() - the row after @name of the same command, or NULL
 * @name: a row
 */
const MocxName *mocx_name_next(const MocxName *name);

/**
 * mocx_name_get() - the value of entry @i of a field
 * @name: the row
 * @msg: the message
 * @len: its bytes
 * @i: 0, or for a list the entry
 * @value: set if there is one
 *
 * Return: false behind the end of the message or of the list.  An entry whose
 * tag does not fit has the value 0, which names nothing.
 */
bool mocx_name_get(const MocxName *name, const uint8_t *msg, uint32_t len,
                   uint32_t i, uint64_t *value);

/**
 * mocx_name_put() - change what mocx_name_get() gave
 * @name: the row
 * @msg: the message, which is long enough
 * @i: the entry
 * @value: the new value
 */
void mocx_name_put(const MocxName *name, uint8_t *msg, uint32_t i,
                   uint64_t value);

/**
 * mocx_table_of() - the number space of a type
 * @dev: the device
 * @type: QPs, SQs and RQs share one
 */
MocxTable *mocx_table_of(MocxDev *dev, MocxObjType type);

#endif /* MOCX_NAMES_H */
