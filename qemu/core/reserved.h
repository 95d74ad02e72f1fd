/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which bits of a command's messages are reserved.  The table is made from
 * mlx5_ifc.h by reserved.py when the model is built.
 */
#ifndef MOCX_RESERVED_H
#define MOCX_RESERVED_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct MocxGap - a run of reserved bits
 * @off: first bit, counted from the first of the message
 * @bits: how many
 */
typedef struct MocxGap {
    uint16_t off;
    uint16_t bits;
} MocxGap;

/**
 * struct MocxLayout - one message
 * @name: without mlx5_ifc_ and _bits: "create_cq_in"
 * @bytes: size of what is fixed
 * @open: data of any length may follow
 * @num_gaps: entries of @gaps
 * @gaps: of an input, in it and in the contexts in it; of an output, outside of
 *     contexts
 */
typedef struct MocxLayout {
    const char *name;
    uint16_t bytes;
    bool open;
    uint16_t num_gaps;
    const MocxGap *gaps;
} MocxLayout;

/* In the order of strcmp(3) on their names. */
extern const MocxLayout mocx_layouts[];
extern const unsigned mocx_num_layouts;

#endif /* MOCX_RESERVED_H */
