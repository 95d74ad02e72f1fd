/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_LANE_H
#define CONTENT_LANE_H

#include "arena.h"
#include "qp.h"

/**
 * struct region - an arena and its registration
 * @arena: the memory
 * @mr: the registration of all of it
 * @alloc: what to free
 */
struct region {
	struct arena arena;
	struct ibv_mr *mr;
	void *alloc;
};

/**
 * struct lane - this side's half of a connected QP pair
 * @qp: the QP
 * @ah: address of the peer, UD only
 * @mine: this end
 * @peer: the other end
 * @tx: memory that this side's requests name
 * @rx: memory that the peer's requests reach
 * @peer_addr: the same on the other side
 * @peer_len: bytes of it
 * @peer_rkey: its key
 */
struct lane {
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct endpoint mine;
	struct endpoint peer;
	struct region tx;
	struct region rx;
	uint64_t peer_addr;
	uint64_t peer_len;
	uint32_t peer_rkey;
};

/**
 * region_create - allocate and register memory
 * @s: this side
 * @r: filled in
 * @bytes: how much
 * @access: rights of the registration
 *
 * The memory does not start on a page boundary. Return: 0, -1 with the verdict filled in.
 */
int region_create(struct side *s, struct region *r, size_t bytes, int access);

/**
 * region_destroy - undo region_create(), also when that never ran
 * @r: the region
 */
void region_destroy(struct region *r);

/**
 * lane_connect - exchange endpoints with the other side and go to RTS
 * @s: this side
 * @l: its QP and rx region exist
 * @psn: first PSN
 * @path: how to connect
 *
 * Return: 0, -1 with the verdict filled in.
 */
int lane_connect(struct side *s, struct lane *l, uint32_t psn, const struct qp_path *path);

/**
 * lane_exchange - the first half of lane_connect(): learn of the peer, change no state
 * @s: this side
 * @l: its QP and rx region exist
 * @psn: first PSN
 *
 * Return: 0, -1 with the verdict filled in.
 */
int lane_exchange(struct side *s, struct lane *l, uint32_t psn);

/**
 * lane_destroy - release all that a lane holds
 * @l: the lane
 */
void lane_destroy(struct lane *l);

#endif
