// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue counters: transport events of the queues that name them.
 */
#include <crnic/crnic.h>
#include <crnic/obj/counter.h>

/**
 * crnic_q_counter_alloc - allocate a set of counters
 * @dev: device
 * @id: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_q_counter_alloc(struct crnic_dev *dev, u8 *id)
{
	CRNIC_CMD(alloc_q_counter);
	int err;

	MLX5_SET(alloc_q_counter_in, in, opcode, MLX5_CMD_OP_ALLOC_Q_COUNTER);
	err = CRNIC_EXEC(dev, alloc_q_counter);
	*id = MLX5_GET(alloc_q_counter_out, out, counter_set_id);
	return err;
}

/**
 * crnic_q_counter_dealloc - free a set of counters
 * @dev: device
 * @id: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_q_counter_dealloc(struct crnic_dev *dev, u8 id)
{
	CRNIC_CMD(dealloc_q_counter);

	MLX5_SET(dealloc_q_counter_in, in, opcode, MLX5_CMD_OP_DEALLOC_Q_COUNTER);
	MLX5_SET(dealloc_q_counter_in, in, counter_set_id, id);
	return CRNIC_EXEC(dev, dealloc_q_counter);
}

struct crnic_q_counter {
	u16 hw;		/* byte offset in the answer */
	u16 sw;		/* byte offset in struct crnic_q_counters */
};

#define CRNIC_Q_HW(name)	MLX5_BYTE_OFF(query_q_counter_out, name)
#define CRNIC_Q_SW(name)	offsetof(struct crnic_q_counters, name)

static const struct crnic_q_counter crnic_q_counter_fields[] = {
	{ CRNIC_Q_HW(rx_write_requests), CRNIC_Q_SW(rx_write_requests) },
	{ CRNIC_Q_HW(rx_read_requests), CRNIC_Q_SW(rx_read_requests) },
	{ CRNIC_Q_HW(rx_atomic_requests), CRNIC_Q_SW(rx_atomic_requests) },
	{ CRNIC_Q_HW(out_of_buffer), CRNIC_Q_SW(out_of_buffer) },
	{ CRNIC_Q_HW(out_of_sequence), CRNIC_Q_SW(out_of_sequence) },
	{ CRNIC_Q_HW(duplicate_request), CRNIC_Q_SW(duplicate_request) },
	{ CRNIC_Q_HW(rnr_nak_retry_err), CRNIC_Q_SW(rnr_nak_retry_err) },
	{ CRNIC_Q_HW(packet_seq_err), CRNIC_Q_SW(packet_seq_err) },
	{ CRNIC_Q_HW(implied_nak_seq_err), CRNIC_Q_SW(implied_nak_seq_err) },
	{ CRNIC_Q_HW(local_ack_timeout_err), CRNIC_Q_SW(local_ack_timeout_err) },
	{ CRNIC_Q_HW(resp_local_length_error), CRNIC_Q_SW(resp_local_length_error) },
	{ CRNIC_Q_HW(resp_cqe_error), CRNIC_Q_SW(resp_cqe_error) },
	{ CRNIC_Q_HW(req_cqe_error), CRNIC_Q_SW(req_cqe_error) },
	{ CRNIC_Q_HW(req_remote_invalid_request), CRNIC_Q_SW(req_remote_invalid_request) },
	{ CRNIC_Q_HW(req_remote_access_errors), CRNIC_Q_SW(req_remote_access_errors) },
	{ CRNIC_Q_HW(resp_remote_access_errors), CRNIC_Q_SW(resp_remote_access_errors) },
	{ CRNIC_Q_HW(resp_cqe_flush_error), CRNIC_Q_SW(resp_cqe_flush_error) },
	{ CRNIC_Q_HW(req_cqe_flush_error), CRNIC_Q_SW(req_cqe_flush_error) },
};

/**
 * crnic_q_counter_query - read a set of counters
 * @dev: device
 * @id: its number
 * @c: filled in
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_q_counter_query(struct crnic_dev *dev, u8 id, struct crnic_q_counters *c)
{
	CRNIC_CMD(query_q_counter);
	const struct crnic_q_counter *f;
	unsigned int i;
	int err;

	MLX5_SET(query_q_counter_in, in, opcode, MLX5_CMD_OP_QUERY_Q_COUNTER);
	MLX5_SET(query_q_counter_in, in, counter_set_id, id);
	err = CRNIC_EXEC(dev, query_q_counter);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(crnic_q_counter_fields); i++) {
		f = &crnic_q_counter_fields[i];
		*(u32 *)((void *)c + f->sw) = be32_to_cpup((void *)out + f->hw);
	}
	return 0;
}
