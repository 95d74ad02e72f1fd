/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Firmware pages: what the device asked for, holds, and gives back. */
#ifndef MOCX_PAGE_H
#define MOCX_PAGE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct MocxDev MocxDev;

/** mocx_pages_held() - pages given and not taken back */
uint32_t mocx_pages_held(const MocxDev *dev);
/** mocx_pages_ready() - were boot and init pages all given? */
bool mocx_pages_ready(const MocxDev *dev);
/** mocx_pages_release() - TEARDOWN_HCA: every page may go home */
void mocx_pages_release(MocxDev *dev);
/** mocx_pages_forget() - DISABLE_HCA: name a leak, and drop it */
void mocx_pages_forget(MocxDev *dev);
/**
 * mocx_pages_balance() - after commands: ask for, or offer, run-time pages
 * @dev: the device
 *
 * The need follows the number of objects.  Nothing waits for the answer.
 */
void mocx_pages_balance(MocxDev *dev);

#endif /* MOCX_PAGE_H */
