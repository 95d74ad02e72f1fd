/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_ARENA_H
#define CONTENT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_GUARD	64	/* untouchable bytes before and after each piece */
#define ARENA_SKEW	64	/* pieces start at any of so many alignments */
#define ARENA_PIECES	4
#define ARENA_COST	(ARENA_PIECES * (ARENA_GUARD + ARENA_SKEW))

/**
 * struct piece - a run of bytes of a message
 * @off: offset in the arena
 * @len: bytes
 */
struct piece {
	size_t off;
	uint32_t len;
};

/**
 * struct message - where a message lies in an arena and what it must hold
 * @piece: one for each scatter/gather element
 * @pieces: number of them
 * @head: bytes in front that are not part of the stream (the 40 bytes of UD)
 * @len: bytes of the stream
 * @seed: names the stream
 *
 * The room of the pieces may exceed @head + @len: what is behind must stay as it was.
 */
struct message {
	struct piece piece[ARENA_PIECES];
	unsigned int pieces;
	uint32_t head;
	uint32_t len;
	uint64_t seed;
};

/**
 * struct arena - memory in which messages lie between guard bytes
 * @base: first byte
 * @size: bytes
 * @used: bytes that the messages placed so far take, guards included
 * @guard: value of each byte that belongs to no message
 */
struct arena {
	uint8_t *base;
	size_t size;
	size_t used;
	uint8_t guard;
};

/**
 * struct mismatch - the first wrong byte
 * @guard: it is a guard byte; @offset then counts from the start of the arena
 * @offset: offset in the message
 * @want: what it should be
 * @got: what it is
 */
struct mismatch {
	bool guard;
	size_t offset;
	uint8_t want;
	uint8_t got;
};

/**
 * arena_reset - forget all messages and choose the guard byte
 * @a: the arena
 * @guard: value of the bytes between messages
 */
void arena_reset(struct arena *a, uint8_t guard);

/**
 * arena_place - find room for a message behind those placed before
 * @a: the arena
 * @m: filled in: pieces; its head, len and seed are set by the caller before
 * @room: bytes of the pieces together, at least head + len
 * @pieces: how many pieces to cut it into
 * @salt: decides alignments and where the cuts are
 *
 * The same arguments give the same places on both ends, so no address needs to be exchanged.
 */
void arena_place(struct arena *a, struct message *m, uint32_t room, unsigned int pieces, uint64_t salt);

/**
 * arena_guard - set all used bytes of the arena to the guard value
 * @a: the arena
 */
void arena_guard(struct arena *a);

/**
 * arena_fill - write a message's stream to its pieces
 * @a: the arena
 * @m: the message
 */
void arena_fill(struct arena *a, const struct message *m);

/**
 * arena_gather - copy the first bytes of a message, head included
 * @a: the arena
 * @m: the message
 * @dst: where to
 * @len: how many bytes
 */
void arena_gather(const struct arena *a, const struct message *m, void *dst, size_t len);

/**
 * arena_address - where a byte of a message lies
 * @a: the arena
 * @m: the message
 * @at: offset counted from the start of the head
 *
 * Return: the address, NULL if the message is shorter.
 */
uint8_t *arena_address(const struct arena *a, const struct message *m, size_t at);

/**
 * arena_check - compare all used bytes with what they must be
 * @a: the arena
 * @m: messages in the order in which they were placed
 * @n: number of them
 * @bad: filled in when something is wrong
 *
 * Return: index of the message with the first wrong byte (guards count for the message behind them), -1 if all is right.
 */
int arena_check(const struct arena *a, const struct message *m, unsigned int n, struct mismatch *bad);

#endif
