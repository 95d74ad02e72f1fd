/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_CQ_H
#define CONTENT_CQ_H

#include "side.h"

/**
 * struct cqueue - a completion queue, read by poll or by event
 * @cq: the verbs object
 * @chan: its channel, NULL when it is polled
 * @solicited: arm for solicited completions only
 * @events: events taken and not acknowledged yet
 */
struct cqueue {
	struct ibv_cq *cq;
	struct ibv_comp_channel *chan;
	bool solicited;
	unsigned int events;
};

/* Called for each completion; returns 0, or -1 with the verdict filled in. */
typedef int (*cqueue_fn)(void *arg, const struct ibv_wc *wc);

/**
 * cqueue_create - make a completion queue
 * @s: this side
 * @q: filled in
 * @entries: room
 * @by_event: wait for events instead of polling
 * @vector: completion vector, counted from the option's and taken modulo their number
 *
 * Return: 0, -1 with the verdict filled in.
 */
int cqueue_create(struct side *s, struct cqueue *q, int entries, bool by_event, int vector);

/**
 * cqueue_destroy - undo cqueue_create(), also when that never ran
 * @q: the queue
 */
void cqueue_destroy(struct cqueue *q);

/**
 * cqueue_arm - ask for an event; does nothing for a polled queue
 * @s: this side
 * @q: the queue
 *
 * Return: 0, -1 with the verdict filled in.
 */
int cqueue_arm(struct side *s, struct cqueue *q);

/**
 * cqueue_wait - take completions until there were enough
 * @s: this side
 * @q: the queue; one that waits for events must have been armed before the work was posted
 * @want: number of completions
 * @fn: called for each
 * @arg: passed to @fn
 *
 * Without polling, each look at the queue is caused by an event. Return: 0, -1 with the verdict filled in.
 */
int cqueue_wait(struct side *s, struct cqueue *q, unsigned int want, cqueue_fn fn, void *arg);

/**
 * cqueue_idle - see that no completion is there
 * @s: this side
 * @q: the queue
 *
 * Return: 0, -1 with the verdict filled in.
 */
int cqueue_idle(struct side *s, struct cqueue *q);

#endif
