/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects that are little more than a number, and the Q counter sets. */
#ifndef MOCX_ALLOC_H
#define MOCX_ALLOC_H

#include <stdbool.h>

#include "obj.h"

typedef struct MocxDev MocxDev;

/**
 * struct MocxUar - a page of doorbells
 * @obj: its number
 * @arm_latch: the first half of a 64-bit doorbell that came as two writes
 * @send_latch: the same, of send doorbells
 * @drivers: it is the driver's own, not a program's
 */
typedef struct MocxUar {
    MocxObj obj;
    uint32_t arm_latch;
    uint32_t send_latch;
    bool drivers;
} MocxUar;

/**
 * mocx_uar_drivers() - is this page the driver's own?
 * @uar: the page, or NULL
 *
 * Only a driver makes EQs.  So a page that an EQ names is its own, and so is
 * that of a queue whose CQ is on such a page.
 */
static inline bool mocx_uar_drivers(const MocxObj *uar)
{
    return uar && ((const MocxUar *)uar)->drivers;
}

/** mocx_uar_claim() - from now on it is */
static inline void mocx_uar_claim(MocxObj *uar)
{
    if (uar) {
        ((MocxUar *)uar)->drivers = true;
    }
}

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
