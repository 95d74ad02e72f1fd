/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast groups: which QPs want the datagrams sent to a GID. */
#ifndef MOCX_MCAST_H
#define MOCX_MCAST_H

#include "roce.h"

/** mocx_mcast_receive() - a datagram for QPN 0xffffff, to all who want it */
void mocx_mcast_receive(MocxDev *dev, const MocxPkt *pkt);
/** mocx_mcast_reset() - forget every group */
void mocx_mcast_reset(MocxDev *dev);

#endif /* MOCX_MCAST_H */
