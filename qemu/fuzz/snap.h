/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole world, kept and set back: the arena, and of guest memory the pages
 * that were touched since.
 */
#ifndef MOCX_FUZZ_SNAP_H
#define MOCX_FUZZ_SNAP_H

#include "harness.h"

typedef struct Snap Snap;

/** snap_take() - the world of @h as it is; kept until the process ends */
Snap *snap_take(Host *h);
/** snap_restore() - the world as it was when @snap was taken */
void snap_restore(const Snap *snap);
/** snap_touched() - for HostWatch: @len bytes at @gpa may be written */
void snap_touched(Host *h, uint64_t gpa, size_t len);

#endif /* MOCX_FUZZ_SNAP_H */
