/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_FAKE_FW_H
#define CRNIC_FAKE_FW_H

/*
 * A device without hardware, and a firmware behind the one function that
 * executes a command.
 */
#include <kunit/test.h>

#include <crnic/crnic.h>

#define FAKE_MAX_PAGES	4096
#define FAKE_BOOT_PAGES	5
#define FAKE_INIT_PAGES	600	/* more than one command carries */
#define FAKE_TERMINATE_LKEY	0x4242	/* not the key of devices that are not asked */

/* What a hook returns for a command that it leaves to others */
#define FAKE_NOT_MINE	-1

/**
 * struct fake_fw - firmware
 * @test: test that it serves
 * @dev: device that it pretends to be
 * @enabled: between ENABLE_HCA and DISABLE_HCA
 * @inited: between INIT_HCA and TEARDOWN_HCA
 * @issi: interface revision in force
 * @num_cmds: commands seen
 * @last_opcode: the last one
 * @last_in: its first bytes
 * @last_inlen: its length
 * @fail_nth: the command to refuse, counted from 1; 0 for none
 * @fail_status: status to refuse it with
 * @objects: objects that were created and not destroyed
 * @next_id: number of the next object
 * @num_pages: pages that it holds
 * @pages: their addresses
 * @refuse: opcode to refuse, 0 for none
 * @refusals: how many more times
 * @hook: asked before the firmware's own handlers, or NULL; returns a status, or
 *     FAKE_NOT_MINE
 * @hook_priv: for the hook's owner
 * @lie_addr: if not 0, an address that it returns though it never got it
 * @next_dma: number of the next page, where the suite hands out addresses
 * @log_max_qp: capability; 0 for 14
 * @roce_is_fixed: RoCE cannot be switched off
 * @set_cap: the last SET_HCA_CAP of GENERAL
 * @miser: it gives no page back
 * @lie_count: returns that many more than it was asked for
 */
struct fake_fw {
	struct kunit *test;
	struct crnic_dev *dev;
	bool enabled;
	bool inited;
	u16 issi;
	unsigned int num_cmds;
	u16 last_opcode;
	u8 last_in[512];
	int last_inlen;
	unsigned int fail_nth;
	u8 fail_status;
	int objects;
	u32 next_id;
	unsigned int num_pages;
	u64 pages[FAKE_MAX_PAGES];
	u16 refuse;
	unsigned int refusals;
	int (*hook)(struct fake_fw *fw, u16 opcode, const void *in, void *out);
	void *hook_priv;
	u64 lie_addr;
	unsigned int lie_count;
	bool miser;
	u64 next_dma;
	u8 log_max_qp;
	bool roce_is_fixed;
	__be32 set_cap[MLX5_UN_SZ_DW(hca_cap_union)];
};

struct fake_fw *fake_fw_create(struct kunit *test);
struct fake_fw *fake_fw_with_caps(struct kunit *test);
struct crnic_dev *fake_dev_create(struct kunit *test);

#endif /* CRNIC_FAKE_FW_H */
