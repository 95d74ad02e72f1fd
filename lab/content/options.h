/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_OPTIONS_H
#define CONTENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define SIZES_MAX	128
#define MTUS_MAX	5

/* What --corrupt breaks on purpose on the receiving side, to see that the checker notices. */
enum corrupt { CORRUPT_NOTHING, CORRUPT_DATA, CORRUPT_GUARD, CORRUPT_IMM, CORRUPT_ATOMIC };

/* Whose status and vendor codes the error cases expect. */
enum profile { PROFILE_ANY, PROFILE_CONNECTX };

/**
 * struct shared_options - what the active side decides for both
 *
 * Sent over the control channel as it is: both sides run the same build.
 */
struct shared_options {
	char gid[16];
	char peer_gid[16];
	uint32_t sizes[SIZES_MAX];
	uint32_t size_count;
	uint32_t depth;
	uint32_t qps;
	int64_t psn;		/* -1: from the seed */
	uint64_t seed;
	uint32_t deadline_s;
	uint32_t profile;
	uint32_t corrupt;
	uint32_t vector;
};

/**
 * struct options - the command line
 * @host: the peer, NULL for the passive side
 * @listen: be the passive side
 * @loopback: both sides in this process
 * @list: print the names of the cases and leave
 * @dev: device name, NULL for the first one
 * @peer_dev: the other side's device with @loopback
 * @only: globs of the cases to run
 * @skip: globs of the cases to leave out
 * @mtus: path MTUs in bytes, 0 for the port's
 */
struct options {
	const char *host;
	bool listen;
	bool loopback;
	bool list;
	const char *dev;
	const char *peer_dev;
	const char *only;
	const char *skip;
	uint32_t mtus[MTUS_MAX];
	unsigned int mtu_count;
	unsigned int port;
	struct shared_options shared;
};

/**
 * options_parse - read the command line
 * @o: filled in
 * @argc: of main()
 * @argv: of main()
 *
 * Leaves the process with a message when something is wrong.
 */
void options_parse(struct options *o, int argc, char **argv);

#endif
