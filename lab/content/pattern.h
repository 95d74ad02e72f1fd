/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_PATTERN_H
#define CONTENT_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/*
 * A pattern is an endless stream of bytes that a 64-bit seed names. Any part of it can be written or checked alone, so that a
 * message can be scattered, and a byte that lands one place off is as visible as a wrong one.
 */

/**
 * pattern_mix - turn a number into another one whose bits all depend on all bits
 * @x: any number
 *
 * Return: a bijective image of @x; used for seeds, sizes and immediates.
 */
uint64_t pattern_mix(uint64_t x);

/**
 * pattern_byte - the byte of a stream at one offset
 * @seed: names the stream
 * @at: offset in the stream, bytes
 */
uint8_t pattern_byte(uint64_t seed, size_t at);

/**
 * pattern_fill - write a part of a stream to memory
 * @dst: where to
 * @len: number of bytes
 * @seed: names the stream
 * @at: offset in the stream of the first byte
 */
void pattern_fill(void *dst, size_t len, uint64_t seed, size_t at);

/**
 * pattern_check - compare memory with a part of a stream
 * @src: memory to look at
 * @len: number of bytes
 * @seed: names the stream
 * @at: offset in the stream of the first byte
 *
 * Return: index of the first byte that differs, @len if none does.
 */
size_t pattern_check(const void *src, size_t len, uint64_t seed, size_t at);

/**
 * pattern_check_byte - compare memory with one repeated byte
 * @src: memory to look at
 * @len: number of bytes
 * @byte: what each of them must be
 *
 * Return: index of the first byte that differs, @len if none does.
 */
size_t pattern_check_byte(const void *src, size_t len, uint8_t byte);

#endif
