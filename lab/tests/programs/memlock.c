// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates objects under each limit of locked memory from nothing to plenty.
 *
 *	memlock DEVICE
 *
 * A line for each kind of object: "kind: errnos that were met, largest leak in
 * KiB, limits that were too small, limits that did". Objects that pin nothing
 * are never refused.
 */
#include "self.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define STEP	(4u << 10)
#define MOST	(256u << 10)

static struct self self;
static struct ibv_pd *pd;
static void *area;

static int try_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(self.ctx, 511, NULL, NULL, 0);

	return cq ? ibv_destroy_cq(cq) : errno;
}

static int try_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { 1000, 2, 0 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &init);

	return srq ? ibv_destroy_srq(srq) : errno;
}

static int try_qp(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = self.cq, .recv_cq = self.cq,
		.cap = { .max_send_wr = 200, .max_recv_wr = 200,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	return qp ? ibv_destroy_qp(qp) : errno;
}

/* Its send ring is pinned apart from its receive ring. */
static int try_raw_qp(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.send_cq = self.cq, .recv_cq = self.cq,
		.cap = { .max_send_wr = 200, .max_recv_wr = 200,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	return qp ? ibv_destroy_qp(qp) : errno;
}

static int try_mr(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, area, MOST / 2, ANY_RIGHTS);

	return mr ? ibv_dereg_mr(mr) : errno;
}

/* The CQ itself is there before the limit is. */
static int try_resize(void)
{
	struct rlimit none, now;
	struct ibv_cq *cq;
	int err;

	getrlimit(RLIMIT_MEMLOCK, &now);
	none = now;
	none.rlim_cur = none.rlim_max;
	setrlimit(RLIMIT_MEMLOCK, &none);
	cq = ibv_create_cq(self.ctx, 15, NULL, NULL, 0);
	if (!cq)
		die("ibv_create_cq");
	setrlimit(RLIMIT_MEMLOCK, &now);
	err = ibv_resize_cq(cq, 1000);
	if (ibv_destroy_cq(cq))
		die("ibv_destroy_cq");
	return err < 0 ? errno : err;
}

static const struct {
	const char *name;
	int (*try)(void);
} kinds[] = {
	{ "cq", try_cq }, { "srq", try_srq }, { "qp", try_qp },
	{ "raw-qp", try_raw_qp }, { "mr", try_mr }, { "resize", try_resize },
};

static void sweep(size_t kind)
{
	unsigned int refused = 0, done = 0, errnos[4] = { 0 }, met = 0, i;
	struct rlimit limit;
	long leak = 0;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	for (limit.rlim_cur = 0; limit.rlim_cur <= MOST;
	     limit.rlim_cur += STEP) {
		long before = pinned();
		unsigned int err;

		setrlimit(RLIMIT_MEMLOCK, &limit);
		err = kinds[kind].try();
		if (labs(pinned() - before) > labs(leak))
			leak = pinned() - before;
		refused += err != 0;
		done += err == 0;
		for (i = 0; err && i < met && errnos[i] != err; i++)
			;
		if (err && i == met && met < 4)
			errnos[met++] = err;
	}
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_MEMLOCK, &limit);
	printf("%s:", kinds[kind].name);
	for (i = 0; i < met; i++)
		printf(" %s", strerrorname_np(errnos[i]));
	printf(", %ld, %u %u\n", leak, refused, done);
}

int main(int argc, char **argv)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	size_t i;

	if (argc != 2) {
		fprintf(stderr, "usage: memlock DEVICE\n");
		return 2;
	}
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		die("setrlimit");
	self_open(&self, argv[1], "0");
	pd = ibv_alloc_pd(self.ctx);
	area = mmap(NULL, MOST, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!pd || area == MAP_FAILED)
		die("set-up");
	obey_memlock();
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		sweep(i);
	return 0;
}
