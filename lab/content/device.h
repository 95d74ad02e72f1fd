/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONTENT_DEVICE_H
#define CONTENT_DEVICE_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "verdict.h"

/**
 * struct caps - what a side can do; the hello exchange leaves the lesser of both in it
 * @max_sge: scatter/gather elements of a work request
 * @max_inline: bytes of inline data
 * @rd_atomic: outstanding reads and atomics, as requester and as responder
 * @mtu: enum ibv_mtu that the port has now
 * @atomics: FETCH_ADD and CMP_SWAP exist
 */
struct caps {
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t rd_atomic;
	uint32_t mtu;
	uint32_t atomics;
};

/**
 * struct device - one opened RDMA device
 * @ctx: its context
 * @pd: one protection domain for all cases
 * @attr: limits
 * @port: attributes of port 1
 * @gid_index: source GID of all QPs
 * @gid: its value
 * @gid_type: and its type
 */
struct device {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	int gid_index;
	union ibv_gid gid;
	enum ibv_gid_type gid_type;
};

#define DEVICE_PORT	1

/**
 * device_open - open a device and choose its source GID
 * @dev: filled in
 * @name: device name, NULL for the first one
 * @gid: an index, or v4, v6 or ll (link-local) with /v1 behind it for RoCE v1
 * @v: filled in on failure
 *
 * Return: 0, -1 with @v filled in.
 */
int device_open(struct device *dev, const char *name, const char *gid, struct verdict *v);

/**
 * device_caps - find out what the device can do
 * @dev: the device
 * @caps: filled in
 */
void device_caps(const struct device *dev, struct caps *caps);

/**
 * device_close - undo device_open()
 * @dev: the device
 */
void device_close(struct device *dev);

/**
 * device_event - wait for an asynchronous event and acknowledge it
 * @dev: the device
 * @type: the event that is awaited; others are acknowledged and passed over
 * @qpn: QP number that it must name
 * @deadline: clock_now() time at which waiting ends
 *
 * Return: true if it came.
 */
bool device_event(const struct device *dev, enum ibv_event_type type, uint32_t qpn, uint64_t deadline);

/**
 * device_mtu_bytes - bytes of a path MTU
 * @mtu: enum ibv_mtu
 */
static inline uint32_t device_mtu_bytes(uint32_t mtu)
{
	return 128u << mtu;
}

#endif
