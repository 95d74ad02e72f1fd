/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects that are little more than a number, and the Q counter sets. */
#ifndef MOCX_ALLOC_H
#define MOCX_ALLOC_H

#include "obj.h"

typedef struct MocxDev MocxDev;

/* The first half of a 64-bit doorbell that came as two writes. */
typedef struct MocxUar {
    MocxObj obj;
    uint32_t arm_latch;
    uint32_t send_latch;
} MocxUar;

/* One set per ALLOC_Q_COUNTER; the names are those of query_q_counter_out. */
typedef struct MocxQCounter {
    MocxObj obj;
    uint32_t rx_write_requests, rx_read_requests, rx_atomic_requests;
    uint32_t out_of_buffer, out_of_sequence, duplicate_request;
    uint32_t rnr_nak_retry_err, packet_seq_err, implied_nak_seq_err;
    uint32_t local_ack_timeout_err, req_rnr_retries_exceeded;
    uint32_t resp_local_length_error, req_local_length_error;
    uint32_t resp_local_qp_error, local_operation_error;
    uint32_t resp_local_protection, req_local_protection;
    uint32_t resp_cqe_error, req_cqe_error;
    uint32_t req_mw_binding, req_bad_response;
    uint32_t req_remote_invalid_request, resp_remote_invalid_request;
    uint32_t req_remote_access_errors, resp_remote_access_errors;
    uint32_t req_remote_operation_errors, req_transport_retries_exceeded;
    uint32_t cq_overflow, resp_cqe_flush_error, req_cqe_flush_error;
} MocxQCounter;

/**
 * mocx_q_counter() - the counter set with this number
 * @dev: the device
 * @id: counter_set_id of a queue's context
 *
 * Return: never NULL; a set that nobody reads stands in for a number that is
 * not allocated (0 means "none"), so that counting needs no test.
 */
MocxQCounter *mocx_q_counter(MocxDev *dev, uint32_t id);

#endif /* MOCX_ALLOC_H */
