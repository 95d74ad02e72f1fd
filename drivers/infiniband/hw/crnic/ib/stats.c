// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Hardware counters of the port, by the names that mlx5 users know */
#include <crnic/obj/counter.h>

#include "ib.h"

#define STAT_INDEX(field)	(offsetof(struct crnic_q_counters, field) / sizeof(u32))

/* in the order of the struct, so that an index serves both */
static const struct rdma_stat_desc crnic_ib_stats[] = {
	[STAT_INDEX(rx_write_requests)] = { .name = "rx_write_requests" },
	[STAT_INDEX(rx_read_requests)] = { .name = "rx_read_requests" },
	[STAT_INDEX(rx_atomic_requests)] = { .name = "rx_atomic_requests" },
	[STAT_INDEX(out_of_buffer)] = { .name = "out_of_buffer" },
	[STAT_INDEX(out_of_sequence)] = { .name = "out_of_sequence" },
	[STAT_INDEX(duplicate_request)] = { .name = "duplicate_request" },
	[STAT_INDEX(rnr_nak_retry_err)] = { .name = "rnr_nak_retry_err" },
	[STAT_INDEX(packet_seq_err)] = { .name = "packet_seq_err" },
	[STAT_INDEX(implied_nak_seq_err)] = { .name = "implied_nak_seq_err" },
	[STAT_INDEX(local_ack_timeout_err)] = { .name = "local_ack_timeout_err" },
	[STAT_INDEX(resp_local_length_error)] = { .name = "resp_local_length_error" },
	[STAT_INDEX(resp_cqe_error)] = { .name = "resp_cqe_error" },
	[STAT_INDEX(req_cqe_error)] = { .name = "req_cqe_error" },
	[STAT_INDEX(req_remote_invalid_request)] = { .name = "req_remote_invalid_request" },
	[STAT_INDEX(req_remote_access_errors)] = { .name = "req_remote_access_errors" },
	[STAT_INDEX(resp_remote_access_errors)] = { .name = "resp_remote_access_errors" },
	[STAT_INDEX(resp_cqe_flush_error)] = { .name = "resp_cqe_flush_error" },
	[STAT_INDEX(req_cqe_flush_error)] = { .name = "req_cqe_flush_error" },
};

static_assert(sizeof(struct crnic_q_counters) == ARRAY_SIZE(crnic_ib_stats) * sizeof(u32));

/**
 * crnic_ib_alloc_stats - describe the port's counters
 * @ibdev: device
 * @port: 1
 *
 * Return: description that ib_core frees, or NULL.
 */
struct rdma_hw_stats *crnic_ib_alloc_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(crnic_ib_stats, ARRAY_SIZE(crnic_ib_stats),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * crnic_ib_get_stats - read the port's counters
 * @ibdev: device
 * @stats: answer
 * @port: 1, or 0 for the device, which has none
 * @index: the counter that is wanted; all are read
 *
 * Return: number of counters, or errno.
 */
int crnic_ib_get_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	const struct crnic_ib *ib = to_cib(ibdev);
	struct crnic_q_counters counters;
	const u32 *values = (const u32 *)&counters;
	int err;
	int i;

	if (!port)
		return -EINVAL;
	err = crnic_q_counter_query(ib->dev, ib->counter_set, &counters);
	if (err)
		return err;

	for (i = 0; i < stats->num_counters; i++)
		stats->value[i] = values[i];
	return stats->num_counters;
}
