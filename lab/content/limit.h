/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_LIMIT_H
#define CONTENT_LIMIT_H

#include "side.h"

/*
 * Cases about the limits that query_device() tells: what is offered can be had, one more is refused with an errno and changes
 * nothing. The active side does the work. Each returns 0, or -1 with the verdict filled in.
 */

/**
 * limit_objects - as many PDs, CQs, QPs or MRs as offered can be created at once, one more gives ENOMEM
 * @s: this side
 * @arg: an enum limit_object
 */
int limit_objects(struct side *s, const void *arg);

enum limit_object { LIMIT_PD, LIMIT_CQ, LIMIT_QP, LIMIT_MR };

/**
 * limit_sizes - the longest rings and element lists can be had, longer ones are refused
 * @s: this side
 * @arg: not used
 */
int limit_sizes(struct side *s, const void *arg);

/**
 * limit_posts - a work request too many, an element too many and a byte of inline data too many are refused
 * @s: this side
 * @arg: not used
 */
int limit_posts(struct side *s, const void *arg);

#endif
