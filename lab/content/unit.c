// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit test of the checker: every wrong byte must be found, wherever it is. Needs no RDMA device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "grh.h"
#include "pattern.h"

static unsigned int passed, failed;

static void expect(bool good, const char *name)
{
	printf("%s %s\n", good ? "ok  " : "FAIL", name);
	if (good)
		passed++;
	else
		failed++;
}

static void stream_is_the_same_from_any_offset(void)
{
	uint8_t whole[300], part[300];
	bool good = true;
	size_t at, len;

	pattern_fill(whole, sizeof(whole), 42, 0);
	for (at = 0; at < 40; at++)
		for (len = 0; len < 200; len++) {
			pattern_fill(part, len, 42, at);
			good &= !memcmp(part, whole + at, len) && pattern_check(part, len, 42, at) == len;
		}
	expect(good, "stream_is_the_same_from_any_offset");
}

static void check_finds_each_flipped_bit(void)
{
	uint8_t buf[67];
	bool good = true;
	size_t at, bit;

	for (at = 0; at < 9; at++) {
		pattern_fill(buf, sizeof(buf), 7, at);
		for (bit = 0; bit < 8 * sizeof(buf); bit++) {
			buf[bit / 8] ^= 1 << bit % 8;
			good &= pattern_check(buf, sizeof(buf), 7, at) == bit / 8;
			buf[bit / 8] ^= 1 << bit % 8;
		}
	}
	expect(good, "check_finds_each_flipped_bit");
}

static void streams_differ_by_seed_and_offset(void)
{
	uint8_t buf[64];

	pattern_fill(buf, sizeof(buf), 1, 0);
	expect(pattern_check(buf, sizeof(buf), 2, 0) < 4 && pattern_check(buf, sizeof(buf), 1, 1) < 4 &&
	       pattern_check(buf, sizeof(buf), 1, 8) < 4, "streams_differ_by_seed_and_offset");
}

#define MESSAGES 5

static void build(struct arena *a, struct message *m, unsigned int pieces, uint32_t head, uint32_t slack)
{
	static const uint32_t len[MESSAGES] = { 0, 1, 3, 64, 257 };
	unsigned int i;

	arena_reset(a, 0x5a);
	for (i = 0; i < MESSAGES; i++) {
		m[i] = (struct message){ .head = head, .len = len[i], .seed = i + 1 };
		arena_place(a, m + i, head + len[i] + slack, pieces, 99 * i);
	}
	arena_guard(a);
	for (i = 0; i < MESSAGES; i++)
		arena_fill(a, m + i);
}

static bool in_head(const struct arena *a, const struct message *m, const uint8_t *p)
{
	unsigned int i, k;

	for (i = 0; i < MESSAGES; i++)
		for (k = 0; k < m[i].head; k++)
			if (arena_address(a, m + i, k) == p)
				return true;
	return false;
}

/* Flips every byte of the arena in turn; only the heads, which hold what the network put there, may change unseen. */
static bool every_flip_is_seen(unsigned int pieces, uint32_t head, uint32_t slack)
{
	struct arena a = { .base = malloc(8192), .size = 8192 };
	struct message m[MESSAGES];
	struct mismatch bad;
	bool good;
	size_t i;

	build(&a, m, pieces, head, slack);
	good = a.used < a.size && arena_check(&a, m, MESSAGES, &bad) < 0;
	for (i = 0; i < a.used; i++) {
		a.base[i] ^= 0x80;
		if (!in_head(&a, m, a.base + i))
			good &= arena_check(&a, m, MESSAGES, &bad) >= 0 && bad.got == a.base[i] && bad.want == (a.base[i] ^ 0x80);
		a.base[i] ^= 0x80;
	}
	free(a.base);
	return good;
}

static void every_byte_of_an_arena_is_checked(void)
{
	unsigned int pieces;
	bool good = true;

	for (pieces = 1; pieces <= ARENA_PIECES; pieces++)
		good &= every_flip_is_seen(pieces, 0, 0) && every_flip_is_seen(pieces, 0, 13) && every_flip_is_seen(pieces, 40, 13);
	expect(good, "every_byte_of_an_arena_is_checked");
}

static void pieces_cover_the_room_and_never_touch(void)
{
	struct arena a = { 0 };
	struct message m = { 0 };
	uint32_t room, sum;
	bool good = true;
	unsigned int i;

	for (room = 0; room < 3000; room++) {
		arena_reset(&a, 0);
		arena_place(&a, &m, room, 1 + room % ARENA_PIECES, room * 31);
		for (sum = 0, i = 0; i < m.pieces; i++) {
			sum += m.piece[i].len;
			good &= m.piece[i].len || !room;
			good &= m.piece[i].off >= (i ? m.piece[i - 1].off + m.piece[i - 1].len : 0) + ARENA_GUARD;
		}
		good &= sum == room && a.used == m.piece[m.pieces - 1].off + m.piece[m.pieces - 1].len + ARENA_GUARD;
		good &= a.used <= room + ARENA_COST + ARENA_GUARD;
	}
	expect(good, "pieces_cover_the_room_and_never_touch");
}

static void grh_is_checked(void)
{
	struct side s = { .dev.gid_type = IBV_GID_TYPE_ROCE_V2 };
	union ibv_gid from = { .raw = { [10] = 0xff, 0xff, 10, 0, 0, 2 } };
	uint8_t area[GRH_BYTES] = { [20] = 0x45, [22] = 0, [23] = 20 + 8 + 12 + 8 + 4 + 4, [29] = 17, [32] = 10, 0, 0, 2, 10, 0, 0, 1 };
	unsigned int i;
	bool good;

	s.dev.gid = (union ibv_gid){ .raw = { [10] = 0xff, 0xff, 10, 0, 0, 1 } };
	good = !grh_check(&s, area, &from, 1, false);
	for (i = 0; i < 2; i++) {
		s.verdict.outcome = PASSED;
		area[i ? 35 : 23] ^= 1;
		good &= grh_check(&s, area, &from, 1, false) < 0;
		area[i ? 35 : 23] ^= 1;
	}
	expect(good, "grh_is_checked");
}

int main(void)
{
	stream_is_the_same_from_any_offset();
	check_finds_each_flipped_bit();
	streams_differ_by_seed_and_offset();
	every_byte_of_an_arena_is_checked();
	pieces_cover_the_room_and_never_touch();
	grh_is_checked();
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
