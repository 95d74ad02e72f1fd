// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bring-up: whatever fails, everything that was up comes down again, last first. */
#include <kunit/static_stub.h>
#include <kunit/test.h>

#include "../drivers/infiniband/hw/crnic/core/core.h"
#include "../drivers/infiniband/hw/crnic/stages.h"
#include "fake_fw.h"

#define ROWS	4

/* What the rows of the made-up table did, as letters */
struct trail {
	char text[32];
	unsigned int len;
	int fail_row;
};

static void trail_add(char c)
{
	struct trail *t = kunit_get_current_test()->priv;

	t->text[t->len++] = c;
}

static int row_up(unsigned int row)
{
	struct trail *t = kunit_get_current_test()->priv;

	if (t->fail_row == row)
		return -ENOSPC;
	trail_add('A' + row);
	return 0;
}

static int up0(struct crnic_dev *dev) { return row_up(0); }
static int up1(struct crnic_dev *dev) { return row_up(1); }
static int up2(struct crnic_dev *dev) { return row_up(2); }
static int up3(struct crnic_dev *dev) { return row_up(3); }
static void down0(struct crnic_dev *dev) { trail_add('a'); }
static void down2(struct crnic_dev *dev) { trail_add('c'); }
static void down3(struct crnic_dev *dev) { trail_add('d'); }

static const struct crnic_stage rows[ROWS] = {
	{ "zero",	up0,	down0 },
	{ "one",	up1,	NULL },
	{ "two",	up2,	down2 },
	{ "three",	up3,	down3 },
};

/**
 * struct trail_case - where a bring-up fails, and what is then seen
 * @name: what is shown
 * @fail_row: row that fails, ROWS for none
 * @trail: letters, capital for up
 */
struct trail_case {
	const char *name;
	int fail_row;
	const char *trail;
};

static const struct trail_case trail_cases[] = {
	{ "first_row_fails_and_nothing_is_undone", 0, "" },
	{ "second_row_fails_and_the_first_is_undone", 1, "Aa" },
	{ "row_without_down_is_passed_over", 2, "ABa" },
	{ "last_row_fails_and_all_others_are_undone", 3, "ABCca" },
	{ "nothing_fails", ROWS, "ABCD" },
};

KUNIT_ARRAY_PARAM_DESC(trail, trail_cases, name);

static void unwinds_in_reverse(struct kunit *test)
{
	const struct trail_case *c = test->param_value;
	struct crnic_dev *dev = fake_dev_create(test);
	struct trail t = { .fail_row = c->fail_row };
	int want = c->fail_row < ROWS ? -ENOSPC : 0;

	test->priv = &t;
	KUNIT_EXPECT_EQ(test, crnic_stages_up(dev, rows, ROWS), want);
	KUNIT_EXPECT_STREQ(test, t.text, c->trail);
	KUNIT_EXPECT_EQ(test, dev->up, want ? 0 : ROWS);
}

static void goes_down_in_reverse(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	struct trail t = { .fail_row = ROWS };

	test->priv = &t;
	KUNIT_ASSERT_EQ(test, crnic_stages_up(dev, rows, ROWS), 0);
	crnic_stages_down(dev, rows);
	KUNIT_EXPECT_STREQ(test, t.text, "ABCDdca");
	crnic_stages_down(dev, rows);
	KUNIT_EXPECT_STREQ(test, t.text, "ABCDdca");
}

static void parameter_names_the_stage_that_fails(struct kunit *test)
{
	struct crnic_dev *dev = fake_dev_create(test);
	struct trail t = { .fail_row = ROWS };

	test->priv = &t;
	dev->cfg.fail_stage = "two";
	KUNIT_EXPECT_EQ(test, crnic_stages_up(dev, rows, ROWS), -EIO);
	KUNIT_EXPECT_STREQ(test, t.text, "ABa");
	KUNIT_EXPECT_TRUE(test, crnic_stage_known("boot_pages"));
	KUNIT_EXPECT_FALSE(test, crnic_stage_known("boot"));
}

/* The rows of the real table that talk to nothing but the firmware */
static const char * const fw_rows[] = {
	"accounting", "reset", "enable", "issi", "boot_pages", "endianness", "caps", "init_pages",
	"init", "limits", "port",
};

#define FW_ROWS	ARRAY_SIZE(fw_rows)

static void fw_table(struct kunit *test, struct crnic_stage table[FW_ROWS])
{
	unsigned int i, n = 0;

	for (i = 0; i < crnic_num_stages && n < FW_ROWS; i++)
		if (!strcmp(crnic_stages[i].name, fw_rows[n]))
			table[n++] = crnic_stages[i];
	KUNIT_ASSERT_EQ(test, n, FW_ROWS);
}

static void expect_nothing_left(struct kunit *test, struct fake_fw *fw)
{
	KUNIT_EXPECT_FALSE(test, fw->enabled);
	KUNIT_EXPECT_FALSE(test, fw->inited);
	KUNIT_EXPECT_EQ(test, fw->num_pages, 0);
	KUNIT_EXPECT_EQ(test, fw->objects, 0);
	KUNIT_EXPECT_PTR_EQ(test, fw->dev->pages, NULL);
	KUNIT_EXPECT_PTR_EQ(test, fw->dev->caps, NULL);
}

static void firmware_is_left_as_it_was(struct kunit *test)
{
	struct crnic_stage table[FW_ROWS];
	struct fake_fw *fw = fake_fw_create(test);

	fw_table(test, table);
	KUNIT_ASSERT_EQ(test, crnic_stages_up(fw->dev, table, FW_ROWS), 0);
	KUNIT_EXPECT_TRUE(test, fw->inited);
	KUNIT_EXPECT_EQ(test, fw->issi, 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(fw->dev->terminate_lkey), FAKE_TERMINATE_LKEY);
	KUNIT_EXPECT_EQ(test, fw->num_pages, FAKE_BOOT_PAGES + FAKE_INIT_PAGES);
	KUNIT_EXPECT_EQ(test, crnic_fw_pages(fw->dev), FAKE_BOOT_PAGES + FAKE_INIT_PAGES);
	crnic_stages_down(fw->dev, table);
	expect_nothing_left(test, fw);
}

static void every_stage_may_fail(struct kunit *test)
{
	struct crnic_stage table[FW_ROWS];
	struct fake_fw *fw = fake_fw_create(test);
	unsigned int i;

	fw_table(test, table);
	for (i = 0; i < FW_ROWS; i++) {
		fw->dev->cfg.fail_stage = fw_rows[i];
		KUNIT_EXPECT_EQ_MSG(test, crnic_stages_up(fw->dev, table, FW_ROWS), -EIO, "%s",
				    fw_rows[i]);
		expect_nothing_left(test, fw);
	}
}

static void every_command_of_bring_up_may_be_refused(struct kunit *test)
{
	struct crnic_stage table[FW_ROWS];
	struct fake_fw *fw = fake_fw_create(test);
	unsigned int n, total;

	fw_table(test, table);
	KUNIT_ASSERT_EQ(test, crnic_stages_up(fw->dev, table, FW_ROWS), 0);
	total = fw->num_cmds;
	crnic_stages_down(fw->dev, table);

	fw->fail_status = MLX5_CMD_STAT_LIM_ERR;
	for (n = 1; n <= total; n++) {
		fw->num_cmds = 0;
		fw->fail_nth = n;
		KUNIT_EXPECT_EQ_MSG(test, crnic_stages_up(fw->dev, table, FW_ROWS), -ENOMEM,
				    "command %u of %u, 0x%x", n, total, fw->last_opcode);
		expect_nothing_left(test, fw);
	}
}

/* Resets of the function: how many, and how many pages the driver still counted then */
static int resets;
static unsigned int pages_at_reset;
static int reset_err;

static int count_reset(struct crnic_dev *dev)
{
	resets++;
	pages_at_reset = crnic_fw_pages(dev);
	return reset_err;
}

static struct fake_fw *miser_setup(struct kunit *test, struct crnic_stage table[FW_ROWS])
{
	struct fake_fw *fw = fake_fw_create(test);

	resets = 0;
	pages_at_reset = 0;
	reset_err = 0;
	kunit_activate_static_stub(test, crnic_function_reset, count_reset);
	fw_table(test, table);
	KUNIT_ASSERT_EQ(test, crnic_stages_up(fw->dev, table, FW_ROWS), 0);
	return fw;
}

static void device_that_gives_all_back_is_not_reset(struct kunit *test)
{
	struct crnic_stage table[FW_ROWS];
	struct fake_fw *fw = miser_setup(test, table);

	crnic_stages_down(fw->dev, table);
	KUNIT_EXPECT_EQ(test, resets, 0);
}

static void device_that_keeps_pages_is_reset_before_they_are_freed(struct kunit *test)
{
	struct crnic_stage table[FW_ROWS];
	struct fake_fw *fw = miser_setup(test, table);

	fw->miser = true;
	crnic_stages_down(fw->dev, table);
	KUNIT_EXPECT_EQ(test, resets, 1);
	KUNIT_EXPECT_EQ(test, pages_at_reset, FAKE_BOOT_PAGES + FAKE_INIT_PAGES);
	KUNIT_EXPECT_PTR_EQ(test, fw->dev->pages, NULL);
}

static struct kunit_case stages_cases[] = {
	KUNIT_CASE_PARAM(unwinds_in_reverse, trail_gen_params),
	KUNIT_CASE(goes_down_in_reverse),
	KUNIT_CASE(parameter_names_the_stage_that_fails),
	KUNIT_CASE(firmware_is_left_as_it_was),
	KUNIT_CASE(every_stage_may_fail),
	KUNIT_CASE(every_command_of_bring_up_may_be_refused),
	KUNIT_CASE(device_that_gives_all_back_is_not_reset),
	KUNIT_CASE_SLOW(device_that_keeps_pages_is_reset_before_they_are_freed),
	{}
};

static struct kunit_suite stages_suite = {
	.name = "crnic_core_stages",
	.test_cases = stages_cases,
};

kunit_test_suite(stages_suite);
