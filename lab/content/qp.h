/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_QP_H
#define CONTENT_QP_H

#include "side.h"

#define QP_QKEY		0x11223344
#define QP_RIGHTS	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/**
 * struct qp_spec - what a QP is made of
 * @type: RC, UC or UD
 * @send_cq: where sends complete
 * @recv_cq: where receives complete
 * @depth: work requests on either queue
 * @sges: elements of each
 * @inline_bytes: inline data
 */
struct qp_spec {
	enum ibv_qp_type type;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	uint32_t depth;
	uint32_t sges;
	uint32_t inline_bytes;
};

/**
 * struct qp_path - how a QP is connected
 * @rights: remote access that this side's QP grants
 * @timeout: local ACK timeout code
 * @retry: transport retries
 * @rnr_retry: RNR retries, 7 for ever
 * @rnr_timer: RNR timer code that this side asks for
 */
struct qp_path {
	unsigned int rights;
	uint8_t timeout;
	uint8_t retry;
	uint8_t rnr_retry;
	uint8_t rnr_timer;
};

extern const struct qp_path qp_path_default;

/**
 * struct endpoint - what the other side must know of a QP
 * @gid: source GID
 * @qpn: number
 * @psn: first PSN that this QP sends
 */
struct endpoint {
	union ibv_gid gid;
	uint32_t qpn;
	uint32_t psn;
};

/**
 * qp_create - make a QP, in state RESET
 * @s: this side
 * @spec: what it is made of
 *
 * Return: the QP, NULL with the verdict filled in.
 */
struct ibv_qp *qp_create(struct side *s, const struct qp_spec *spec);

/**
 * qp_address - fill an address vector towards the other side
 * @s: this side
 * @gid: destination
 * @ah: filled in
 */
void qp_address(const struct side *s, const union ibv_gid *gid, struct ibv_ah_attr *ah);

/**
 * qp_init_attr - attributes of RESET to INIT
 * @qp: the QP
 * @path: rights
 * @a: filled in
 *
 * Return: the attribute mask.
 */
int qp_init_attr(const struct ibv_qp *qp, const struct qp_path *path, struct ibv_qp_attr *a);

/**
 * qp_rtr_attr - attributes of INIT to RTR
 * @s: this side
 * @qp: the QP
 * @peer: the other QP
 * @path: RNR timer
 * @a: filled in
 *
 * Return: the attribute mask.
 */
int qp_rtr_attr(const struct side *s, const struct ibv_qp *qp, const struct endpoint *peer, const struct qp_path *path,
		struct ibv_qp_attr *a);

/**
 * qp_rts_attr - attributes of RTR to RTS
 * @s: this side
 * @qp: the QP
 * @psn: first PSN that is sent
 * @path: timers and retries
 * @a: filled in
 *
 * Return: the attribute mask.
 */
int qp_rts_attr(const struct side *s, const struct ibv_qp *qp, uint32_t psn, const struct qp_path *path, struct ibv_qp_attr *a);

/**
 * qp_connect - take a QP from RESET to RTS
 * @s: this side
 * @qp: the QP
 * @mine: its endpoint
 * @peer: the other side's
 * @path: how
 *
 * Return: 0, -1 with the verdict filled in.
 */
int qp_connect(struct side *s, struct ibv_qp *qp, const struct endpoint *mine, const struct endpoint *peer,
	       const struct qp_path *path);

/**
 * qp_state - ask for the state of a QP
 * @qp: the QP
 *
 * Return: its state, IBV_QPS_UNKNOWN if the query fails.
 */
enum ibv_qp_state qp_state(struct ibv_qp *qp);

/**
 * qp_move - change a QP's state and nothing else
 * @s: this side
 * @qp: the QP
 * @state: RESET or ERR
 *
 * Return: 0, -1 with the verdict filled in.
 */
int qp_move(struct side *s, struct ibv_qp *qp, enum ibv_qp_state state);

#endif
