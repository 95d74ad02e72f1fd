/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_OBJ_COUNTER_H
#define CRNIC_OBJ_COUNTER_H

#include <linux/types.h>

struct crnic_dev;

/**
 * struct crnic_q_counters - QUERY_Q_COUNTER
 * @rx_write_requests: WRITE requests received
 * @rx_read_requests: READ requests received
 * @rx_atomic_requests: atomic requests received
 * @out_of_buffer: packets dropped for want of a receive WQE
 * @out_of_sequence: packets out of order
 * @duplicate_request: requests seen before
 * @rnr_nak_retry_err: RNR NAKs received
 * @packet_seq_err: NAKs for sequence errors received
 * @implied_nak_seq_err: ACKs that implied a lost READ or atomic response
 * @local_ack_timeout_err: timeouts
 * @resp_local_length_error: as responder, length errors
 * @resp_cqe_error: as responder, CQEs in error
 * @req_cqe_error: as requester, CQEs in error
 * @req_remote_invalid_request: as requester, remote invalid request
 * @req_remote_access_errors: as requester, remote access errors
 * @resp_remote_access_errors: as responder, remote access errors
 * @resp_cqe_flush_error: as responder, flushed
 * @req_cqe_flush_error: as requester, flushed
 */
struct crnic_q_counters {
	u32 rx_write_requests;
	u32 rx_read_requests;
	u32 rx_atomic_requests;
	u32 out_of_buffer;
	u32 out_of_sequence;
	u32 duplicate_request;
	u32 rnr_nak_retry_err;
	u32 packet_seq_err;
	u32 implied_nak_seq_err;
	u32 local_ack_timeout_err;
	u32 resp_local_length_error;
	u32 resp_cqe_error;
	u32 req_cqe_error;
	u32 req_remote_invalid_request;
	u32 req_remote_access_errors;
	u32 resp_remote_access_errors;
	u32 resp_cqe_flush_error;
	u32 req_cqe_flush_error;
};

int crnic_q_counter_alloc(struct crnic_dev *dev, u8 *id);
int crnic_q_counter_dealloc(struct crnic_dev *dev, u8 id);
int crnic_q_counter_query(struct crnic_dev *dev, u8 id, struct crnic_q_counters *c);

#endif /* CRNIC_OBJ_COUNTER_H */
