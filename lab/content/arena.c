// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages cut into pieces, each between guard bytes. */
#include <string.h>

#include "arena.h"
#include "pattern.h"

void arena_reset(struct arena *a, uint8_t guard)
{
	a->used = 0;
	a->guard = guard;
}

/* The last piece takes what is left; a piece is never empty unless the whole message is. */
static uint32_t cut(uint32_t left, unsigned int pieces_left, uint64_t salt)
{
	uint32_t most = left - (pieces_left - 1);

	if (pieces_left == 1)
		return left;
	most = most < 2 * left / pieces_left ? most : 2 * left / pieces_left;
	return 1 + salt % most;
}

void arena_place(struct arena *a, struct message *m, uint32_t room, unsigned int pieces, uint64_t salt)
{
	unsigned int i;

	if (pieces > room)
		pieces = room ? room : 1;
	m->pieces = pieces;
	for (i = 0; i < pieces; i++) {
		salt = pattern_mix(salt);
		m->piece[i].off = a->used + ARENA_GUARD + salt % ARENA_SKEW;
		m->piece[i].len = cut(room, pieces - i, salt >> 8);
		room -= m->piece[i].len;
		a->used = m->piece[i].off + m->piece[i].len;
	}
	/* The guard behind the last piece; the next piece adds its own in front. */
	a->used += ARENA_GUARD;
}

void arena_guard(struct arena *a)
{
	memset(a->base, a->guard, a->used);
}

void arena_fill(struct arena *a, const struct message *m)
{
	size_t at = 0, skip = m->head, left = m->len, len;
	const struct piece *p;

	for (p = m->piece; p < m->piece + m->pieces; p++) {
		if (skip >= p->len) {
			skip -= p->len;
			continue;
		}
		len = p->len - skip < left ? p->len - skip : left;
		pattern_fill(a->base + p->off + skip, len, m->seed, at);
		at += len;
		left -= len;
		skip = 0;
	}
}

uint8_t *arena_address(const struct arena *a, const struct message *m, size_t at)
{
	const struct piece *p;

	for (p = m->piece; p < m->piece + m->pieces; p++) {
		if (at < p->len)
			return a->base + p->off + at;
		at -= p->len;
	}
	return NULL;
}

void arena_gather(const struct arena *a, const struct message *m, void *dst, size_t len)
{
	uint8_t *out = dst, *from;
	size_t i;

	for (i = 0; i < len; i++) {
		from = arena_address(a, m, i);
		out[i] = from ? *from : 0;
	}
}

static bool check_guard(const struct arena *a, size_t from, size_t to, struct mismatch *bad)
{
	size_t i = pattern_check_byte(a->base + from, to - from, a->guard);

	if (i == to - from)
		return true;
	bad->guard = true;
	bad->offset = from + i;
	bad->want = a->guard;
	bad->got = a->base[from + i];
	return false;
}

static bool check_piece(const struct arena *a, const struct message *m, size_t off, size_t len, size_t at,
			struct mismatch *bad)
{
	size_t i = pattern_check(a->base + off, len, m->seed, at);

	if (i == len)
		return true;
	bad->guard = false;
	bad->offset = at + i;
	bad->want = pattern_byte(m->seed, at + i);
	bad->got = a->base[off + i];
	return false;
}

/* Checks everything from @*from to the end of the message's last piece: head skipped, stream compared, the rest untouched. */
static bool check_message(const struct arena *a, const struct message *m, size_t *from, struct mismatch *bad)
{
	size_t at = 0, skip = m->head, len, start;
	const struct piece *p;

	for (p = m->piece; p < m->piece + m->pieces; p++) {
		if (!check_guard(a, *from, p->off, bad))
			return false;
		start = skip < p->len ? skip : p->len;
		skip -= start;
		len = p->len - start < m->len - at ? p->len - start : m->len - at;
		if (!check_piece(a, m, p->off + start, len, at, bad))
			return false;
		at += len;
		*from = p->off + start + len;
	}
	return true;
}

int arena_check(const struct arena *a, const struct message *m, unsigned int n, struct mismatch *bad)
{
	size_t from = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!check_message(a, m + i, &from, bad))
			return i;
	return check_guard(a, from, a->used, bad) ? -1 : (int)n - 1;
}
