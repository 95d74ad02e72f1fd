// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Re-registers a region with each subset of what can change, with good memory
 * and with bad, and looks at what the region is afterwards.
 *
 *	subsets DEVICE GID-INDEX
 *
 * A line for each: "flags memory: errno, pd access memory, leak, dereg". The
 * three words say "old", "new", "both" or "none": which of the two the region
 * serves. The leak is in KiB. Two errnos tell of two deregistrations.
 */
#include "self.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define LENGTH	16384u
#define LIMIT	(256u << 10)
#define LARGE	(4u << 20)

struct subsets {
	struct self self;
	struct ibv_pd *pd[2];
	struct ibv_qp *qp[2];
	struct ibv_mr *own[2];		/* one for each PD */
	char *mem[2], *large, *hole;
};

/* old and new rights; remote READ and WRITE tell them from each other */
static const int access_of[2] = {
	IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
};

static const char *const memories[] = { "good", "unmapped", "zero", "large" };

static void *map(size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

static bool works(struct subsets *s, int pd, int access, int mem, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)s->own[pd]->addr, 8,
			       s->own[pd]->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = access ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
		/* the end of it: a region cut short does not serve */
		.wr.rdma = { (uintptr_t)s->mem[mem] + LENGTH - 8, rkey },
	};

	return self_try(&s->self, s->qp[pd], &wr) == IBV_WC_SUCCESS;
}

/* Bit 4 * pd + 2 * access + memory: the region serves that combination. */
static unsigned int served(struct subsets *s, uint32_t rkey)
{
	unsigned int bits = 0, n;

	for (n = 0; n < 8; n++)
		if (works(s, n >> 2, n >> 1 & 1, n & 1, rkey))
			bits |= 1u << n;
	return bits;
}

static const char *which(unsigned int bits, unsigned int step)
{
	bool old = false, new = false;
	unsigned int n;

	for (n = 0; n < 8; n++)
		if (bits & 1u << n)
			*(n & step ? &new : &old) = true;
	return old ? new ? "both" : "old" : new ? "new" : "none";
}

static void one(struct subsets *s, int flags, unsigned int memory)
{
	void *addr[] = { s->mem[1], s->hole, s->mem[1], s->large };
	size_t len[] = { LENGTH, LENGTH, 0, LARGE };
	long before = pinned();
	struct ibv_mr *mr = ibv_reg_mr(s->pd[0], s->mem[0], LENGTH,
				       access_of[0]);
	uint32_t handle;
	unsigned int bits;
	int err, first, second;

	if (!mr)
		die("ibv_reg_mr");
	handle = mr->handle;
	err = raw_rereg(mr, flags, addr[memory], len[memory],
			flags & IBV_REREG_MR_CHANGE_ACCESS ? access_of[1] : 0,
			s->pd[1]);
	bits = served(s, mr->rkey);
	first = ibv_dereg_mr(mr);
	second = raw_dereg(s->self.ctx, handle);
	printf("%d %s: %s, %s %s %s, %ld, %s %s\n", flags, memories[memory],
	       err ? strerrorname_np(err) : "0", which(bits, 4),
	       which(bits, 2), which(bits, 1), pinned() - before,
	       first ? strerrorname_np(first) : "0",
	       second ? strerrorname_np(second) : "0");
}

static void set_up(struct subsets *s, char **argv)
{
	struct rlimit limit = { LIMIT, LIMIT };
	int n;

	self_open(&s->self, argv[1], argv[2]);
	for (n = 0; n < 2; n++) {
		s->mem[n] = map(LENGTH);
		s->pd[n] = ibv_alloc_pd(s->self.ctx);
		if (!s->pd[n])
			die("ibv_alloc_pd");
		s->own[n] = ibv_reg_mr(s->pd[n], map(4096), 4096, ANY_RIGHTS);
		if (!s->own[n])
			die("ibv_reg_mr");
		s->qp[n] = self_qp(&s->self, s->pd[n]);
		self_connect(&s->self, s->qp[n]);
	}
	s->large = map(LARGE);
	s->hole = map(LENGTH);
	munmap(s->hole, LENGTH);
	obey_memlock();
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		die("setrlimit");
}

int main(int argc, char **argv)
{
	struct subsets s = { 0 };
	unsigned int memory;
	int flags;

	if (argc != 3) {
		fprintf(stderr, "usage: subsets DEVICE GID-INDEX\n");
		return 2;
	}
	set_up(&s, argv);
	for (flags = 1; flags < 8; flags++)
		for (memory = 0; memory < 4; memory++)
			one(&s, flags, memory);
	return 0;
}
