/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_DUO_H
#define CONTENT_DUO_H

#include "cq.h"
#include "lane.h"

#define DUO_BYTES	8192	/* of each region of a lane */
#define DUO_WCS		16
#define DUO_SEND	0x100	/* wr_id of sends starts here, of receives at 0 */

/**
 * struct duo - two QPs on one CQ: the one that suffers and the neighbour that must not notice
 * @s: this side
 * @cq: where everything completes
 * @victim: the one that suffers
 * @neighbour: the other
 * @wc: completions taken by duo_collect()
 * @wcs: number of them
 * @rounds: messages that the neighbour has carried
 */
struct duo {
	struct side *s;
	struct cqueue cq;
	struct lane victim;
	struct lane neighbour;
	struct ibv_wc wc[DUO_WCS];
	unsigned int wcs;
	unsigned int rounds;
};

/**
 * duo_create - make the queue, the QPs and their memory, connect the neighbour
 * @d: filled in
 * @s: this side
 * @rights: of the registration of the victim's rx region
 *
 * Return: 0, -1 with the verdict filled in. duo_destroy() is needed either way.
 */
int duo_create(struct duo *d, struct side *s, int rights);

/**
 * duo_destroy - undo duo_create()
 * @d: the duo
 */
void duo_destroy(struct duo *d);

/**
 * duo_receive - post a receive of part of a region
 * @d: the duo
 * @l: which lane
 * @id: wr_id
 * @off: offset in the rx region
 * @len: bytes, 0 for no element at all
 *
 * Return: 0, -1 with the verdict filled in.
 */
int duo_receive(struct duo *d, struct lane *l, uint64_t id, uint32_t off, uint32_t len);

/**
 * duo_send - post a signalled SEND of the start of the tx region
 * @d: the duo
 * @l: which lane
 * @id: wr_id
 * @len: bytes
 *
 * Return: 0, -1 with the verdict filled in.
 */
int duo_send(struct duo *d, struct lane *l, uint64_t id, uint32_t len);

/**
 * duo_collect - wait for a number of completions, good or bad, and keep them in @d->wc
 * @d: the duo
 * @n: how many
 *
 * Return: 0, -1 with the verdict filled in.
 */
int duo_collect(struct duo *d, unsigned int n);

/**
 * duo_expect - compare a collected completion
 * @d: the duo
 * @i: which one
 * @l: lane whose QP it must name
 * @id: wr_id it must have
 * @status: what it must say
 *
 * Return: 0, -1 with the verdict filled in.
 */
int duo_expect(struct duo *d, unsigned int i, const struct lane *l, uint64_t id, enum ibv_wc_status status);

/**
 * duo_traffic - send one checked message over a lane from the active side to the passive one
 * @d: the duo
 * @l: which lane; nothing else may be outstanding on the duo
 *
 * Return: 0, -1 with the verdict filled in.
 */
int duo_traffic(struct duo *d, struct lane *l);

#endif
