/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the registers and the command queue. */
#ifndef MOCX_CMDQ_H
#define MOCX_CMDQ_H

#include <stdint.h>

typedef struct MocxDev MocxDev;

/* 32 entries of 64 bytes, as cards present them (init segment, 0x14). */
#define MOCX_CMDQ_LOG_SIZE      5
#define MOCX_CMDQ_LOG_STRIDE    6

/** mocx_cmdq_set_base() - the driver wrote the queue's address */
void mocx_cmdq_set_base(MocxDev *dev, uint64_t base);
uint64_t mocx_cmdq_base(MocxDev *dev);

#endif /* MOCX_CMDQ_H */
