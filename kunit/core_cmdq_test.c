// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command queue against a device that reads the ring: layout, status,
 * waiting, time-outs.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#include "../drivers/infiniband/hw/crnic/core/cmdq.h"
#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "fake_fw.h"

#define LOG_SLOTS	2
#define SLOTS		BIT(LOG_SLOTS)
#define ORDINARY	(SLOTS - 1)
#define LOG_STRIDE	6
#define CALLERS		12
#define WAIT_MS		2000

/**
 * struct cmdq_test - a queue and the device at its other end
 * @dev: device
 * @hold: keep commands instead of finishing them
 * @delivery: delivery status of the next commands
 * @status: their firmware status
 * @held: bit per slot that is kept
 * @rung: doorbells
 * @bad_chain: mailboxes that were not as they must be
 */
struct cmdq_test {
	struct crnic_dev *dev;
	bool hold;
	u8 delivery;
	u8 status;
	unsigned long held;
	atomic_t rung;
	unsigned int bad_chain;
};

/* Follow the chain as the device does, by bus address, and compare with the driver's own list */
static unsigned int chain_errors(const struct crnic_mbox *mbox, __be64 first, u8 token)
{
	u64 next = be64_to_cpu(first);
	unsigned int i, errors = 0;

	for (i = 0; i < mbox->num; i++) {
		const struct mlx5_cmd_prot_block *b = mbox->blocks[i].va;

		errors += next != mbox->blocks[i].dma;
		errors += !IS_ALIGNED(mbox->blocks[i].dma, 1024);
		errors += be32_to_cpu(b->block_num) != i;
		errors += b->token != token || !token;
		next = be64_to_cpu(b->next);
	}
	return errors + (next != 0);
}

/* Answer with the input, status first */
static void device_finish(struct cmdq_test *t, unsigned int slot)
{
	struct mlx5_cmd_layout *e = crnic_cmdq_entry(t->dev->cmdq, slot);
	struct crnic_cmd *cmd = t->dev->cmdq->slots[slot];
	unsigned int i;

	t->bad_chain += chain_errors(&cmd->in, e->in_ptr, e->token);
	t->bad_chain += chain_errors(&cmd->out, e->out_ptr, e->token);
	memcpy(e->out, e->in, sizeof(e->out));
	MLX5_SET(enable_hca_out, e->out, status, t->status);
	for (i = 0; i < min(cmd->in.num, cmd->out.num); i++)
		memcpy(cmd->out.blocks[i].va->data, cmd->in.blocks[i].va->data,
		       MLX5_CMD_DATA_BLOCK_SIZE);
	WRITE_ONCE(e->status_own, t->delivery << 1);
}

static void device_ring(struct crnic_dev *dev, unsigned int slot)
{
	struct cmdq_test *t = kunit_get_current_test()->priv;

	if (t->hold)
		set_bit(slot, &t->held);
	else
		device_finish(t, slot);
	atomic_inc(&t->rung);
}

/* Let go of one command and say so, as the command EQ would */
static void device_release(struct cmdq_test *t, unsigned int slot)
{
	clear_bit(slot, &t->held);
	device_finish(t, slot);
	crnic_cmdq_completed(t->dev, BIT(slot));
}

static void cmdq_close(void *data)
{
	struct cmdq_test *t = data;

	crnic_cmdq_free(t->dev->cmdq);
}

static struct cmdq_test *cmdq_setup(struct kunit *test)
{
	struct cmdq_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->dev = fake_dev_create(test);
	t->dev->cfg.cmd_timeout_ms = WAIT_MS;
	t->dev->cmdq = crnic_cmdq_new(t->dev, LOG_SLOTS, LOG_STRIDE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t->dev->cmdq);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, cmdq_close, t), 0);
	test->priv = t;
	kunit_activate_static_stub(test, crnic_cmdq_ring, device_ring);
	return t;
}

static int send(struct crnic_dev *dev, u16 opcode)
{
	u32 in[4] = {}, out[4];

	MLX5_SET(enable_hca_in, in, opcode, opcode);
	return crnic_cmd_exec(dev, in, sizeof(in), out, sizeof(out));
}

/* Lengths around the entry and the blocks */
static const unsigned int lengths[] = { 16, 17, 20, 527, 528, 529, 1039, 1040, 1041, 4112, 65536 };

static void length_desc(const unsigned int *len, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u", *len);
}

KUNIT_ARRAY_PARAM(length, lengths, length_desc);

static void message_arrives_whole(struct kunit *test)
{
	unsigned int len = *(const unsigned int *)test->param_value, i;
	struct cmdq_test *t = cmdq_setup(test);
	u8 *in = kunit_kzalloc(test, len, GFP_KERNEL);
	u8 *out = kunit_kzalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, in);
	KUNIT_ASSERT_NOT_NULL(test, out);
	for (i = 0; i < len; i++)
		in[i] = i * 7;
	KUNIT_EXPECT_EQ(test, crnic_cmd_exec(t->dev, in, len, out, len), 0);
	KUNIT_EXPECT_EQ(test, t->bad_chain, 0);
	KUNIT_EXPECT_MEMEQ(test, in + 1, out + 1, len - 1);
}

static void message_without_a_header_is_refused(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);
	u32 buf[4] = {};

	KUNIT_EXPECT_EQ(test, crnic_cmd_exec(t->dev, buf, 4, buf, 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, crnic_cmd_exec(t->dev, buf, 16, buf, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, crnic_cmd_exec(t->dev, buf, -1, buf, 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->rung), 0);
}

/* The entry's bytes, its own signature included, XOR to all ones */
static void entry_is_signed(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);
	struct mlx5_cmd_layout e;
	u8 *p = (u8 *)&e, sum = 0;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, send(t->dev, MLX5_CMD_OP_NOP), 0);
	e = *crnic_cmdq_entry(t->dev->cmdq, 0);
	/* as it was when the doorbell rang */
	memset(e.out, 0, sizeof(e.out));
	e.status_own = CRNIC_CMD_OWNER_HW;
	for (i = 0; i < sizeof(e); i++)
		sum ^= p[i];
	KUNIT_EXPECT_EQ(test, sum, 0xff);
	KUNIT_EXPECT_EQ(test, e.type, MLX5_PCI_CMD_XPORT);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(e.inlen), 16);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(e.outlen), 16);
}

/**
 * struct status_case - an answer of the firmware
 * @name: what is shown
 * @status: first byte of the output
 * @err: errno
 */
struct status_case {
	const char *name;
	u8 status;
	int err;
};

static const struct status_case status_cases[] = {
	{ "ok", 0x00, 0 },
	{ "internal_error_is_EIO", 0x01, -EIO },
	{ "bad_operation_is_EINVAL", 0x02, -EINVAL },
	{ "bad_parameter_is_EINVAL", 0x03, -EINVAL },
	{ "bad_system_state_is_EIO", 0x04, -EIO },
	{ "bad_resource_is_EINVAL", 0x05, -EINVAL },
	{ "busy_is_EBUSY", 0x06, -EBUSY },
	{ "not_ready_is_EAGAIN", 0x07, -EAGAIN },
	{ "limits_are_ENOMEM", 0x08, -ENOMEM },
	{ "bad_resource_state_is_EINVAL", 0x09, -EINVAL },
	{ "bad_index_is_EINVAL", 0x0a, -EINVAL },
	{ "no_resources_is_EAGAIN", 0x0f, -EAGAIN },
	{ "bad_qp_state_is_EINVAL", 0x10, -EINVAL },
	{ "bad_packet_is_EINVAL", 0x30, -EINVAL },
	{ "bad_size_is_EINVAL", 0x40, -EINVAL },
	{ "bad_input_length_is_EIO", 0x50, -EIO },
	{ "bad_output_length_is_EIO", 0x51, -EIO },
	{ "hole_in_the_table_is_EIO", 0x20, -EIO },
	{ "beyond_the_table_is_EIO", 0xff, -EIO },
};

KUNIT_ARRAY_PARAM_DESC(status, status_cases, name);

static void status_becomes_an_errno(struct kunit *test)
{
	const struct status_case *c = test->param_value;
	struct cmdq_test *t = cmdq_setup(test);

	/* what was refused before, and an answer must replace unless it is "ok" */
	t->dev->last_refusal = (struct crnic_refusal) { .opcode = 1, .status = 0xee };
	t->status = c->status;
	KUNIT_EXPECT_EQ(test, send(t->dev, MLX5_CMD_OP_NOP), c->err);
	KUNIT_EXPECT_EQ(test, t->dev->last_refusal.status, c->status ?: 0xee);
	KUNIT_EXPECT_EQ(test, t->dev->last_refusal.opcode, c->status ? MLX5_CMD_OP_NOP : 1);
	KUNIT_EXPECT_FALSE(test, crnic_dead(t->dev));
}

static void command_that_was_not_delivered_is_EIO(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);

	t->delivery = 0x5;
	KUNIT_EXPECT_EQ(test, send(t->dev, MLX5_CMD_OP_NOP), -EIO);
	t->delivery = 0;
	KUNIT_EXPECT_EQ(test, send(t->dev, MLX5_CMD_OP_NOP), 0);
}

/* A caller in a thread of its own */
struct caller {
	struct kunit *test;
	struct crnic_dev *dev;
	struct completion done;
	u16 opcode;
	bool pages;
	int err;
};

static int caller_main(void *data)
{
	struct caller *c = data;
	u32 in[4] = {}, out[4];

	current->kunit_test = c->test;
	MLX5_SET(enable_hca_in, in, opcode, c->opcode);
	c->err = c->pages ? crnic_cmd_exec_pages(c->dev, in, sizeof(in), out, sizeof(out)) :
			    crnic_cmd_exec(c->dev, in, sizeof(in), out, sizeof(out));
	current->kunit_test = NULL;
	complete(&c->done);
	return 0;
}

static void caller_start(struct kunit *test, struct caller *c, u16 opcode, bool pages)
{
	struct cmdq_test *t = test->priv;
	struct task_struct *task;

	*c = (struct caller) { .test = test, .dev = t->dev, .opcode = opcode, .pages = pages };
	init_completion(&c->done);
	task = kthread_run(caller_main, c, "crnic_caller");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
}

static bool rung_within(struct cmdq_test *t, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < WAIT_MS && atomic_read(&t->rung) < num; i++)
		usleep_range(1000, 2000);
	return atomic_read(&t->rung) >= num;
}

static void expect_done(struct kunit *test, struct caller *c, int err)
{
	KUNIT_EXPECT_GT(test, wait_for_completion_timeout(&c->done, msecs_to_jiffies(WAIT_MS)), 0);
	KUNIT_EXPECT_EQ(test, c->err, err);
}

static void case_5_callers_beyond_the_slots_wait(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);
	struct caller *c = kunit_kcalloc(test, CALLERS, sizeof(*c), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, c);
	t->hold = true;
	crnic_cmdq_use_events(t->dev, true);
	for (i = 0; i < CALLERS; i++)
		caller_start(test, &c[i], MLX5_CMD_OP_NOP, false);
	KUNIT_ASSERT_TRUE(test, rung_within(t, ORDINARY));
	msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->rung), ORDINARY);
	/* each that goes lets one in */
	for (i = 0; i < CALLERS; i++) {
		KUNIT_ASSERT_TRUE(test, rung_within(t, min(ORDINARY + i, CALLERS)));
		device_release(t, __ffs(t->held));
	}
	for (i = 0; i < CALLERS; i++)
		expect_done(test, &c[i], 0);
	KUNIT_EXPECT_EQ(test, t->dev->cmdq->free, GENMASK(SLOTS - 1, 0));
}

static void page_command_passes_those_who_wait(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);
	struct caller c[ORDINARY + 2];
	unsigned int i;

	t->hold = true;
	crnic_cmdq_use_events(t->dev, true);
	for (i = 0; i < ORDINARY + 1; i++)
		caller_start(test, &c[i], MLX5_CMD_OP_NOP, false);
	KUNIT_ASSERT_TRUE(test, rung_within(t, ORDINARY));
	caller_start(test, &c[i], MLX5_CMD_OP_MANAGE_PAGES, true);
	KUNIT_ASSERT_TRUE(test, rung_within(t, ORDINARY + 1));
	KUNIT_EXPECT_TRUE(test, test_bit(SLOTS - 1, &t->held));
	device_release(t, SLOTS - 1);
	expect_done(test, &c[ORDINARY + 1], 0);

	for (i = 0; i < ORDINARY + 1; i++) {
		KUNIT_ASSERT_TRUE(test, rung_within(t, min(ORDINARY + 1 + i, ORDINARY + 2)));
		device_release(t, __ffs(t->held));
	}
	for (i = 0; i < ORDINARY + 1; i++)
		expect_done(test, &c[i], 0);
}

static void case_4_late_completion_is_harmless(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);

	t->dev->cfg.cmd_timeout_ms = 20;
	t->hold = true;
	KUNIT_EXPECT_EQ(test, send(t->dev, MLX5_CMD_OP_NOP), -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, crnic_dead(t->dev));
	/* the slot is the device's until it answers, and others take the next one */
	KUNIT_EXPECT_EQ(test, t->dev->cmdq->free, GENMASK(SLOTS - 1, 1));
	t->hold = false;
	KUNIT_EXPECT_EQ(test, send(t->dev, MLX5_CMD_OP_NOP), 0);
	device_release(t, 0);
	KUNIT_EXPECT_EQ(test, t->dev->cmdq->free, GENMASK(SLOTS - 1, 0));
	/* said twice, and about slots that nobody uses */
	crnic_cmdq_completed(t->dev, ~0UL);
}

static void device_that_holds_all_slots_is_given_up(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);
	unsigned int i;

	t->dev->cfg.cmd_timeout_ms = 20;
	t->hold = true;
	for (i = 0; i < ORDINARY; i++) {
		KUNIT_EXPECT_FALSE(test, crnic_dead(t->dev));
		KUNIT_EXPECT_EQ(test, send(t->dev, MLX5_CMD_OP_NOP), -ETIMEDOUT);
	}
	KUNIT_EXPECT_TRUE(test, crnic_dead(t->dev));
}

static void device_that_holds_the_slot_for_pages_is_given_up(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);
	u32 in[4] = {}, out[4];

	t->dev->cfg.cmd_timeout_ms = 20;
	t->hold = true;
	KUNIT_EXPECT_EQ(test, crnic_cmd_exec_pages(t->dev, in, sizeof(in), out, sizeof(out)),
			-ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, crnic_dead(t->dev));
}

static void dead_device_lets_callers_clean_up(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);

	crnic_dev_break(t->dev, "the test says so");
	KUNIT_EXPECT_EQ(test, send(t->dev, MLX5_CMD_OP_CREATE_QP), -EIO);
	KUNIT_EXPECT_EQ(test, send(t->dev, MLX5_CMD_OP_DESTROY_QP), 0);
	KUNIT_EXPECT_EQ(test, send(t->dev, MLX5_CMD_OP_TEARDOWN_HCA), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->rung), 0);
}

static void death_wakes_those_who_wait(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);
	struct caller c[ORDINARY + 2];
	unsigned int i;

	t->hold = true;
	crnic_cmdq_use_events(t->dev, true);
	/* some wait for the device, the last two for a slot */
	for (i = 0; i < ORDINARY + 2; i++)
		caller_start(test, &c[i], MLX5_CMD_OP_NOP, false);
	KUNIT_ASSERT_TRUE(test, rung_within(t, ORDINARY));
	crnic_dev_break(t->dev, "the test says so");
	for (i = 0; i < ORDINARY + 2; i++)
		expect_done(test, &c[i], -EIO);
}

/* A slot comes free and the device dies before its next owner has run */
static void command_of_a_device_that_just_died_does_not_wait(struct kunit *test)
{
	struct cmdq_test *t = cmdq_setup(test);
	struct caller c[ORDINARY + 1];
	unsigned int i;

	t->dev->cfg.cmd_timeout_ms = 10 * WAIT_MS;
	t->hold = true;
	crnic_cmdq_use_events(t->dev, true);
	for (i = 0; i < ORDINARY + 1; i++)
		caller_start(test, &c[i], MLX5_CMD_OP_NOP, false);
	KUNIT_ASSERT_TRUE(test, rung_within(t, ORDINARY));
	/* the last one waits for a slot */
	msleep(20);
	preempt_disable();
	device_release(t, 0);
	crnic_dev_break(t->dev, "the test says so");
	preempt_enable();
	for (i = 0; i < ORDINARY + 1; i++)
		if (wait_for_completion_timeout(&c[i].done, msecs_to_jiffies(WAIT_MS)))
			KUNIT_EXPECT_TRUE(test, c[i].err == -EIO || !c[i].err);
		else
			KUNIT_FAIL(test, "caller %u still waits", i);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->rung), ORDINARY);
}

static struct kunit_case cmdq_cases[] = {
	KUNIT_CASE_PARAM(message_arrives_whole, length_gen_params),
	KUNIT_CASE(message_without_a_header_is_refused),
	KUNIT_CASE(entry_is_signed),
	KUNIT_CASE_PARAM(status_becomes_an_errno, status_gen_params),
	KUNIT_CASE(command_that_was_not_delivered_is_EIO),
	KUNIT_CASE(case_5_callers_beyond_the_slots_wait),
	KUNIT_CASE(page_command_passes_those_who_wait),
	KUNIT_CASE(case_4_late_completion_is_harmless),
	KUNIT_CASE(device_that_holds_all_slots_is_given_up),
	KUNIT_CASE(device_that_holds_the_slot_for_pages_is_given_up),
	KUNIT_CASE(dead_device_lets_callers_clean_up),
	KUNIT_CASE(death_wakes_those_who_wait),
	KUNIT_CASE(command_of_a_device_that_just_died_does_not_wait),
	{}
};

static struct kunit_suite cmdq_suite = {
	.name = "crnic_core_cmdq",
	.test_cases = cmdq_cases,
};

kunit_test_suite(cmdq_suite);
