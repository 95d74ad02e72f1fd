// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers memory of each kind with reading rights only and with writing ones.
 *
 *	kinds DEVICE FILE PCI-RESOURCE
 *
 * A line for each: "kind right: errno, leak in KiB". The file is made.
 */
#include "self.h"

#include <fcntl.h>
#include <sys/mman.h>

#define LENGTH	4096u

static const struct {
	const char *name;
	int access;
} rights[] = {
	{ "none", 0 },
	{ "remote-read", IBV_ACCESS_REMOTE_READ },
	{ "local-write", IBV_ACCESS_LOCAL_WRITE },
	{ "remote-write", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE },
	{ "atomic", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC },
	{ "window", IBV_ACCESS_MW_BIND },
};

enum { ANON, MEMFD, SEALED, DISK, PCI };

static const struct {
	const char *name;
	int source, prot, flags;
} kinds[] = {
	{ "anonymous", ANON, PROT_READ | PROT_WRITE, MAP_PRIVATE },
	{ "anonymous-shared", ANON, PROT_READ | PROT_WRITE, MAP_SHARED },
	{ "anonymous-read-only", ANON, PROT_READ, MAP_PRIVATE },
	{ "no-access", ANON, PROT_NONE, MAP_PRIVATE },
	{ "write-only", ANON, PROT_WRITE, MAP_PRIVATE },
	{ "memfd", MEMFD, PROT_READ | PROT_WRITE, MAP_SHARED },
	{ "memfd-read-only", MEMFD, PROT_READ, MAP_SHARED },
	{ "memfd-sealed", SEALED, PROT_READ, MAP_SHARED },
	{ "file-shared", DISK, PROT_READ | PROT_WRITE, MAP_SHARED },
	{ "file-shared-read-only", DISK, PROT_READ, MAP_SHARED },
	{ "file-private", DISK, PROT_READ | PROT_WRITE, MAP_PRIVATE },
	{ "file-private-read-only", DISK, PROT_READ, MAP_PRIVATE },
	{ "pci", PCI, PROT_READ | PROT_WRITE, MAP_SHARED },
	{ "pci-read-only", PCI, PROT_READ, MAP_SHARED },
};

static int memfd(unsigned int flags)
{
	int fd = memfd_create("kinds", flags);

	if (fd < 0 || ftruncate(fd, LENGTH))
		die("memfd_create");
	return fd;
}

static int source_open(int source, char **argv)
{
	int fd = -1;

	switch (source) {
	case ANON:
		return -1;
	case MEMFD:
		return memfd(0);
	case SEALED:
		fd = memfd(MFD_ALLOW_SEALING);
		if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE))
			die("F_ADD_SEALS");
		return fd;
	case DISK:
		fd = open(argv[2], O_RDWR | O_CREAT, 0600);
		if (fd < 0 || ftruncate(fd, LENGTH))
			die(argv[2]);
		return fd;
	default:
		fd = open(argv[3], O_RDWR);
		if (fd < 0)
			die(argv[3]);
		return fd;
	}
}

int main(int argc, char **argv)
{
	struct self s = { 0 };
	struct ibv_pd *pd;
	size_t i, j;

	if (argc != 4) {
		fprintf(stderr, "usage: kinds DEVICE FILE PCI-RESOURCE\n");
		return 2;
	}
	self_open(&s, argv[1], "0");
	pd = ibv_alloc_pd(s.ctx);
	if (!pd)
		die("ibv_alloc_pd");
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		for (j = 0; j < sizeof(rights) / sizeof(*rights); j++) {
			int fd = source_open(kinds[i].source, argv);
			int anon = fd < 0 ? MAP_ANONYMOUS : 0, err = 0;
			void *at = mmap(NULL, LENGTH, kinds[i].prot,
					kinds[i].flags | anon, fd, 0);
			long before = pinned();
			struct ibv_mr *mr;

			if (at == MAP_FAILED)
				die(kinds[i].name);
			mr = ibv_reg_mr(pd, at, LENGTH, rights[j].access);
			if (!mr)
				err = errno;
			else if (ibv_dereg_mr(mr))
				die("ibv_dereg_mr");
			printf("%s %s: %s, %ld\n", kinds[i].name,
			       rights[j].name, err ? strerrorname_np(err) : "0",
			       pinned() - before);
			munmap(at, LENGTH);
			if (fd >= 0)
				close(fd);
		}
	}
	return 0;
}
