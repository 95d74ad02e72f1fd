// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device's clock for users.  Completions carry its ticks; two pages let the
 * library read it, and turn ticks into time, without a system call (mlx5 user
 * ABI: struct mlx5_ib_clock_info).
 */
#include <linux/clocksource.h>
#include <linux/timecounter.h>

#include "../compat/mm.h"
#include "ib.h"

/* The counter has 64 bits; fewer keep the products in the library's sums small */
#define CRNIC_CLOCK_BITS	41

/* A page newer than this turns any new timestamp into time without overflow */
#define CRNIC_CLOCK_SECONDS	60
#define CRNIC_CLOCK_REFRESH	(CRNIC_CLOCK_SECONDS / 4 * HZ)

/**
 * struct crnic_ib_clock - the clock
 * @dev: function
 * @cc: its counter
 * @tc: time of the counter; only the refresh work touches it once that runs
 * @refresh: brings @info up to date
 * @info: page that users map
 */
struct crnic_ib_clock {
	struct crnic_dev *dev;
	struct cyclecounter cc;
	struct timecounter tc;
	struct delayed_work refresh;
	struct mlx5_ib_clock_info *info;
};

static u64 crnic_clock_cycles(const struct cyclecounter *cc)
{
	const struct crnic_ib_clock *clock = container_of(cc, struct crnic_ib_clock, cc);

	return crnic_timer_read(clock->dev) & cc->mask;
}

/* odd while it is written: users read again until it is even and unchanged */
static void crnic_clock_publish(struct crnic_ib_clock *clock)
{
	struct mlx5_ib_clock_info *info = clock->info;
	const u32 sign = info->sign;

	/* orders the mark before what it protects; the library's reads pair with it */
	smp_store_mb(info->sign, sign | MLX5_IB_CLOCK_INFO_KERNEL_UPDATING);
	info->cycles = clock->tc.cycle_last;
	info->nsec = clock->tc.nsec;
	info->frac = clock->tc.frac;
	info->mult = clock->cc.mult;
	info->shift = clock->cc.shift;
	info->mask = clock->cc.mask;
	info->overflow_period = CRNIC_CLOCK_REFRESH;
	/* what was written comes before the mark's end */
	smp_store_release(&info->sign, sign + 2 * MLX5_IB_CLOCK_INFO_KERNEL_UPDATING);
}

static void crnic_clock_refresh(struct work_struct *work)
{
	struct crnic_ib_clock *clock =
		container_of(to_delayed_work(work), struct crnic_ib_clock, refresh);

	if (crnic_dead(clock->dev))
		return;
	timecounter_read(&clock->tc);
	crnic_clock_publish(clock);
	schedule_delayed_work(&clock->refresh, CRNIC_CLOCK_REFRESH);
}

static void crnic_clock_init(struct crnic_ib_clock *clock, u32 khz)
{
	clock->cc.read = crnic_clock_cycles;
	clock->cc.mask = CLOCKSOURCE_MASK(CRNIC_CLOCK_BITS);
	clocks_calc_mult_shift(&clock->cc.mult, &clock->cc.shift, khz, NSEC_PER_MSEC,
			       CRNIC_CLOCK_SECONDS);
	timecounter_init(&clock->tc, &clock->cc, ktime_get_real_ns());
	INIT_DELAYED_WORK(&clock->refresh, crnic_clock_refresh);
	crnic_clock_publish(clock);
	schedule_delayed_work(&clock->refresh, CRNIC_CLOCK_REFRESH);
}

/**
 * crnic_ib_clock_start - offer the device's clock
 * @ib: verbs device
 *
 * Return: 0, also for a device that does not tell its frequency, or -ENOMEM.
 */
int crnic_ib_clock_start(struct crnic_ib *ib)
{
	u32 khz = CRNIC_CAP_GEN(ib->dev, device_frequency_khz);
	struct crnic_ib_clock *clock;

	if (!khz)
		return 0;
	clock = kzalloc(sizeof(*clock), GFP_KERNEL);
	if (!clock)
		return -ENOMEM;
	clock->info = (void *)get_zeroed_page(GFP_KERNEL);
	if (!clock->info) {
		kfree(clock);
		return -ENOMEM;
	}

	clock->dev = ib->dev;
	crnic_clock_init(clock, khz);
	ib->clock = clock;
	return 0;
}

/**
 * crnic_ib_clock_stop - undo crnic_ib_clock_start()
 * @ib: verbs device; users that still map the page keep it
 */
void crnic_ib_clock_stop(struct crnic_ib *ib)
{
	struct crnic_ib_clock *clock = ib->clock;

	if (!clock)
		return;
	cancel_delayed_work_sync(&clock->refresh);
	free_page((unsigned long)clock->info);
	kfree(clock);
	ib->clock = NULL;
}

/**
 * crnic_ib_clock_describe - tell a user where the clock is
 * @ib: verbs device
 * @resp: answer to the opening of the device
 */
void crnic_ib_clock_describe(const struct crnic_ib *ib, struct mlx5_ib_alloc_ucontext_resp *resp)
{
	if (!ib->clock)
		return;
	resp->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
	resp->hca_core_clock_offset = offset_in_page(offsetof(struct mlx5_init_seg,
							      internal_timer_h));
	resp->clock_info_versions = BIT(MLX5_IB_CLOCK_INFO_V1);
}

static int crnic_clock_check_vma(const struct crnic_ib *ib, struct vm_area_struct *vma)
{
	/* a larger page would show more of the registers than the timer's */
	if (!ib->clock || PAGE_SIZE > SZ_4K)
		return -EOPNOTSUPP;
	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;

	crnic_vm_flags_clear(vma, VM_MAYWRITE);
	return 0;
}

/**
 * crnic_ib_clock_mmap_timer - map the device's timer, read only
 * @ibctx: the user
 * @vma: one page
 *
 * Return: 0, -EOPNOTSUPP, -EPERM for a writable mapping, or errno.
 */
int crnic_ib_clock_mmap_timer(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct crnic_ib *ib = to_cib(ibctx->device);
	phys_addr_t phys = ib->dev->bar_phys + offsetof(struct mlx5_init_seg, internal_timer_h);
	int err;

	err = crnic_clock_check_vma(ib, vma);
	if (err)
		return err;
	return rdma_user_mmap_io(ibctx, vma, PHYS_PFN(phys), PAGE_SIZE,
				 pgprot_noncached(vma->vm_page_prot), NULL);
}

/**
 * crnic_ib_clock_mmap_info - map what turns ticks into time, read only
 * @ibctx: the user
 * @vma: one page
 *
 * Return: 0, -EOPNOTSUPP, -EPERM for a writable mapping, or errno.
 */
int crnic_ib_clock_mmap_info(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct crnic_ib *ib = to_cib(ibctx->device);
	int err;

	err = crnic_clock_check_vma(ib, vma);
	if (err)
		return err;
	return vm_insert_page(vma, vma->vm_start, virt_to_page(ib->clock->info));
}
