// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define QUICK	"0-5,7-9,15-17,31-33,63-64,1023-1025,4095-4097,65537,1M"
#define FULL	"0-64,1023-1025,4095-4097,65537,1M,64M"
#define TCP_PORT	18515

static const char usage[] =
"content - move patterns over RDMA and check every byte\n"
"\n"
"  content [OPTIONS] --listen      passive side, ends after one peer\n"
"  content [OPTIONS] HOST          active side, decides what is run\n"
"  content [OPTIONS] --loopback    both sides in one process\n"
"\n"
"  -d, --dev NAME         RDMA device (the first one)\n"
"      --peer-dev NAME    device of the other side, with --loopback\n"
"  -g, --gid SPEC         source GID: an index, or v4, v6, ll, with /v1 for RoCE v1 (v4)\n"
"      --peer-gid SPEC    the same for the other side (as --gid)\n"
"  -m, --mtu LIST         path MTUs in bytes (the port's)\n"
"  -s, --sizes LIST       quick, full, or sizes and ranges as in 0-64,4097,64M (quick)\n"
"  -o, --only GLOBS       cases to run, comma-separated (rc/*,uc/*,ud/*)\n"
"  -x, --skip GLOBS       cases to leave out\n"
"  -n, --depth N          messages in flight on a QP, 1 to 64 (8)\n"
"  -q, --qps N            QPs of a case, 1 to 16 (2)\n"
"      --psn N            first PSN (from the seed)\n"
"      --vector N         completion vector of the first CQ (0)\n"
"      --seed N           of all patterns (1)\n"
"      --deadline S       seconds that a case may take beside its bytes (30)\n"
"      --profile NAME     any, or connectx: its status and vendor codes in err/* (any)\n"
"      --corrupt WHAT     data, guard, imm or atomic: spoil it before the check, so cases must fail\n"
"  -p, --port N           TCP port of the control channel (18515)\n"
"  -l, --list             print the cases\n";

enum long_only { OPT_PEER_DEV = 256, OPT_PEER_GID, OPT_PSN, OPT_SEED, OPT_VECTOR, OPT_DEADLINE, OPT_PROFILE, OPT_CORRUPT, OPT_LISTEN,
		 OPT_LOOPBACK };

static const struct option longs[] = {
	{ "dev", required_argument, NULL, 'd' },
	{ "peer-dev", required_argument, NULL, OPT_PEER_DEV },
	{ "gid", required_argument, NULL, 'g' },
	{ "peer-gid", required_argument, NULL, OPT_PEER_GID },
	{ "mtu", required_argument, NULL, 'm' },
	{ "sizes", required_argument, NULL, 's' },
	{ "only", required_argument, NULL, 'o' },
	{ "skip", required_argument, NULL, 'x' },
	{ "depth", required_argument, NULL, 'n' },
	{ "qps", required_argument, NULL, 'q' },
	{ "psn", required_argument, NULL, OPT_PSN },
	{ "vector", required_argument, NULL, OPT_VECTOR },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "deadline", required_argument, NULL, OPT_DEADLINE },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "corrupt", required_argument, NULL, OPT_CORRUPT },
	{ "port", required_argument, NULL, 'p' },
	{ "list", no_argument, NULL, 'l' },
	{ "listen", no_argument, NULL, OPT_LISTEN },
	{ "loopback", no_argument, NULL, OPT_LOOPBACK },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

static void __attribute__((noreturn)) wrong(const char *what, const char *arg)
{
	fprintf(stderr, "content: wrong %s: %s (--help lists the options)\n", what, arg);
	exit(2);
}

static uint64_t number(const char *what, const char *arg, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t n = strtoull(arg, &end, 0);

	if (end == arg || *end || n < least || n > most)
		wrong(what, arg);
	return n;
}

static unsigned int word(const char *what, const char *arg, const char *const *words)
{
	unsigned int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], arg))
			return i;
	wrong(what, arg);
}

static uint32_t size(const char **p)
{
	char *end;
	uint64_t n = strtoull(*p, &end, 0);

	if (end == *p)
		wrong("size", *p);
	if (*end == 'K' || *end == 'M')
		n <<= *end++ == 'K' ? 10 : 20;
	if (n > 1u << 30)
		wrong("size", *p);
	*p = end;
	return n;
}

static void parse_sizes(struct shared_options *o, const char *arg)
{
	const char *p = !strcmp(arg, "quick") ? QUICK : !strcmp(arg, "full") ? FULL : arg;
	uint32_t from, to;

	for (o->size_count = 0; *p; p += *p == ',') {
		from = to = size(&p);
		if (*p == '-') {
			p++;
			to = size(&p);
		}
		if (*p && *p != ',')
			wrong("size list", arg);
		for (; from <= to; from++) {
			if (o->size_count == SIZES_MAX)
				wrong("size list (too long)", arg);
			o->sizes[o->size_count++] = from;
		}
	}
}

static void parse_mtus(struct options *o, const char *arg)
{
	char *copy = strdup(arg), *tok;

	o->mtu_count = 0;
	for (tok = strtok(copy, ","); tok; tok = strtok(NULL, ",")) {
		uint64_t n = number("MTU", tok, 256, 4096);

		if ((n & (n - 1)) || o->mtu_count == MTUS_MAX)
			wrong("MTU", arg);
		o->mtus[o->mtu_count++] = n;
	}
	free(copy);
}

static void parse_gid(char *to, const char *arg)
{
	if (strlen(arg) >= sizeof(((struct shared_options *)0)->gid))
		wrong("GID", arg);
	strcpy(to, arg);
}

static void parse_shared(struct shared_options *o, int c, const char *arg)
{
	static const char *const profiles[] = { "any", "connectx", NULL };
	static const char *const corrupts[] = { "nothing", "data", "guard", "imm", "atomic", NULL };

	switch (c) {
	case 'g': parse_gid(o->gid, arg); break;
	case OPT_PEER_GID: parse_gid(o->peer_gid, arg); break;
	case 's': parse_sizes(o, arg); break;
	case 'n': o->depth = number("depth", arg, 1, 64); break;
	case 'q': o->qps = number("number of QPs", arg, 1, 16); break;
	case OPT_PSN: o->psn = number("PSN", arg, 0, 0xffffff); break;
	case OPT_SEED: o->seed = number("seed", arg, 0, UINT64_MAX); break;
	case OPT_VECTOR: o->vector = number("vector", arg, 0, 4095); break;
	case OPT_DEADLINE: o->deadline_s = number("deadline", arg, 1, 3600); break;
	case OPT_PROFILE: o->profile = word("profile", arg, profiles); break;
	case OPT_CORRUPT: o->corrupt = word("thing to corrupt", arg, corrupts); break;
	default: exit(2);
	}
}

static void parse_one(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'h': fputs(usage, stdout); exit(0);
	case 'd': o->dev = arg; break;
	case OPT_PEER_DEV: o->peer_dev = arg; break;
	case 'm': parse_mtus(o, arg); break;
	case 'o': o->only = arg; break;
	case 'x': o->skip = arg; break;
	case 'p': o->port = number("port", arg, 1, 65535); break;
	case 'l': o->list = true; break;
	case OPT_LISTEN: o->listen = true; break;
	case OPT_LOOPBACK: o->loopback = true; break;
	default: parse_shared(&o->shared, c, arg);
	}
}

void options_parse(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options){ .only = "rc/*,uc/*,ud/*", .skip = "", .port = TCP_PORT, .mtu_count = 1 };
	o->shared = (struct shared_options){ .gid = "v4", .depth = 8, .qps = 2, .psn = -1, .seed = 1, .deadline_s = 30 };
	parse_sizes(&o->shared, "quick");
	while ((c = getopt_long(argc, argv, "d:g:m:s:o:x:n:q:p:lh", longs, NULL)) != -1)
		parse_one(o, c, optarg);
	if (optind < argc)
		o->host = argv[optind++];
	if (optind < argc)
		wrong("argument", argv[optind]);
	if (!o->shared.peer_gid[0])
		strcpy(o->shared.peer_gid, o->shared.gid);
	if (!o->peer_dev)
		o->peer_dev = o->dev;
	if (o->list + o->listen + o->loopback + !!o->host != 1)
		wrong("mode", "one of HOST, --listen, --loopback, --list is needed");
}
