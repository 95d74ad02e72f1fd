// SPDX-License-Identifier: GPL-2.0-or-later
/* Seeded byte streams: written before a transfer, compared after it. */
#include <string.h>

#include "pattern.h"

#define WORD sizeof(uint64_t)

/* The finaliser of splitmix64: cheap, and no two neighbouring words look alike. */
uint64_t pattern_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t word_at(uint64_t seed, size_t index)
{
	return pattern_mix(seed + index);
}

uint8_t pattern_byte(uint64_t seed, size_t at)
{
	return word_at(seed, at / WORD) >> (8 * (at % WORD));
}

void pattern_fill(void *dst, size_t len, uint64_t seed, size_t at)
{
	uint8_t *p = dst;
	uint64_t word;

	for (; len && at % WORD; len--)
		*p++ = pattern_byte(seed, at++);
	for (; len >= WORD; len -= WORD, at += WORD, p += WORD) {
		word = word_at(seed, at / WORD);
		memcpy(p, &word, WORD);
	}
	for (; len; len--)
		*p++ = pattern_byte(seed, at++);
}

static size_t check_bytes(const uint8_t *p, size_t len, uint64_t seed, size_t at)
{
	size_t i;

	for (i = 0; i < len && p[i] == pattern_byte(seed, at + i); i++)
		;
	return i;
}

size_t pattern_check(const void *src, size_t len, uint64_t seed, size_t at)
{
	const uint8_t *p = src;
	size_t i = 0, head = (WORD - at % WORD) % WORD;
	uint64_t word;

	if (head > len)
		head = len;
	i = check_bytes(p, head, seed, at);
	if (i < head)
		return i;
	for (; len - i >= WORD; i += WORD) {
		memcpy(&word, p + i, WORD);
		if (word != word_at(seed, (at + i) / WORD))
			break;
	}
	return i + check_bytes(p + i, len - i, seed, at + i);
}

size_t pattern_check_byte(const void *src, size_t len, uint8_t byte)
{
	const uint64_t want = byte * 0x0101010101010101ull;
	const uint8_t *p = src;
	uint64_t word;
	size_t i;

	for (i = 0; len - i >= WORD; i += WORD) {
		memcpy(&word, p + i, WORD);
		if (word != want)
			break;
	}
	while (i < len && p[i] == byte)
		i++;
	return i;
}
