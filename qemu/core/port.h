/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The port: its registers' state, the NIC vport, the RoCE address table, and
 * the way in and out for frames.
 */
#ifndef MOCX_PORT_H
#define MOCX_PORT_H

#include "limits.h"
#include "mocx.h"

typedef enum MocxRoceVersion {
    MOCX_ROCE_V1 = 0, MOCX_ROCE_V2 = 2,     /* as in the RoCE address layout */
} MocxRoceVersion;

/* One entry of the RoCE address table (SET_ROCE_ADDRESS). */
typedef struct MocxGid {
    bool valid;
    bool ipv4;              /* l3_type 0; address as ::ffff:a.b.c.d */
    bool vlan;
    uint8_t version;        /* MocxRoceVersion */
    uint16_t vid;
    uint8_t addr[16];
    uint8_t mac[MOCX_MAC_LEN];
} MocxGid;

typedef struct MocxPortCounters {
    uint64_t rx_ucast_packets, rx_ucast_bytes, rx_mcast_packets, rx_mcast_bytes;
    uint64_t rx_bcast_packets, rx_bcast_bytes, rx_dropped;
    uint64_t tx_ucast_packets, tx_ucast_bytes, tx_mcast_packets, tx_mcast_bytes;
    uint64_t tx_bcast_packets, tx_bcast_bytes;
    uint64_t rx_roce_packets, rx_roce_bytes, tx_roce_packets, tx_roce_bytes;
    uint64_t rx_icrc_errors, rx_roce_malformed, rx_roce_no_qp;
    uint64_t rx_pkey_violations, rx_qkey_violations;
    uint64_t rx_not_in_l2_table;
} MocxPortCounters;

#define MOCX_MAC_LIST   (1u << MOCX_LOG_MAX_MAC_LIST)

/* One entry of the L2 table (SET_L2_TABLE_ENTRY). */
typedef struct MocxL2Entry {
    bool valid;
    uint8_t mac[MOCX_MAC_LEN];
} MocxL2Entry;

typedef struct MocxPort {
    uint8_t mac[MOCX_MAC_LEN];          /* of the vport; a driver may set it */
    bool cable;                         /* the host's link */
    bool pulled;                        /* by fault injection */
    bool admin_up;                      /* PAOS */
    bool roce_en;                       /* NIC vport context */
    uint16_t admin_mtu;                 /* PMTU, bytes of L2 frame */
    uint16_t vport_mtu;
    /* What else MODIFY_NIC_VPORT set; DEVX_SET64 wants the alignment. */
    uint8_t vport_context[0x100] __attribute__((aligned(8)));
    uint32_t num_uc, num_mc;
    uint8_t uc[MOCX_MAC_LIST][MOCX_MAC_LEN];
    uint8_t mc[MOCX_MAC_LIST][MOCX_MAC_LEN];
    MocxL2Entry l2[1u << MOCX_LOG_MAX_L2_TABLE];
    bool pause_tx, pause_rx;            /* PFCC */
    uint8_t pfc_tx, pfc_rx;
    uint8_t node_desc[64];
    MocxGid *gids;
    uint32_t num_gids;
    bool foreign_macs;                  /* a GID's MAC is not the vport's */
    MocxPortCounters counters;
} MocxPort;

/**
 * mocx_tx_room() - may @n more frames be put on the wire in this slice?
 * @dev: the device
 * @n: frames
 *
 * A queue that gets false calls mocx_work_wait_tx() and stops.
 */
bool mocx_tx_room(MocxDev *dev, unsigned n);
/**
 * mocx_tx_buf() - room to build one frame in
 * @dev: the device
 * @len: bytes, at most MOCX_FRAME_MAX
 *
 * Return: never NULL after mocx_tx_room() said yes.
 */
uint8_t *mocx_tx_buf(MocxDev *dev, size_t len);
#define MOCX_TX_ROCE    UINT32_MAX

/**
 * mocx_tx_commit() - send the frame last built
 * @dev: the device
 * @len: bytes, at most those mocx_tx_buf() was asked for
 * @from: transport domain of the send queue, MOCX_TX_ROCE of the RDMA transport
 *
 * A frame to a MAC of our own is not sent: it comes back, to the transport or
 * to mocx_eth_loopback().  A multicast one is sent and comes back as well.
 * What would go on the wire is lost, and not counted, while the port is down.
 *
 * Frames are padded to 60 bytes, batched, and handed to the host at the end of
 * the slice, or when the batch is full.
 */
void mocx_tx_commit(MocxDev *dev, size_t len, uint32_t from);

/**
 * mocx_roce_receive() - transport: a frame that may be RoCE
 * @dev: the device
 * @frame: from the destination MAC on
 * @len: bytes
 *
 * Called before Ethernet steering while roce_en is set, for UDP port 4791 and
 * ethertype 0x8915, VLAN tagged or not.  Frames that loop back come this way
 * too.
 *
 * Return: true if it was RoCE (handled or dropped), false to steer it as
 * Ethernet.
 */
bool mocx_roce_receive(MocxDev *dev, const uint8_t *frame, size_t len);

/** mocx_eth_receive() - steering: a frame for the netdev's receive queues */
void mocx_eth_receive(MocxDev *dev, const uint8_t *frame, size_t len);
/** mocx_eth_loopback() - the same for one that a domain of this device sent */
void mocx_eth_loopback(MocxDev *dev, const uint8_t *frame, size_t len,
                       uint32_t from);

/* Default and limit of the L2 frame: MTU 1500 and 10218, 22 bytes of header. */
#define MOCX_PORT_MTU_DEFAULT   1522
#define MOCX_PORT_MTU_MAX       MOCX_FRAME_MAX

typedef enum MocxPortPath {
    MOCX_PORT_RX, MOCX_PORT_TX, MOCX_PORT_RX_ROCE, MOCX_PORT_TX_ROCE,
} MocxPortPath;

/** mocx_port_count() - add a frame to the port's counters */
void mocx_port_count(MocxDev *dev, const uint8_t *frame, size_t len,
                     MocxPortPath path);

/** mocx_port_own_mac() - of the vport, or of an entry of the GID table */
bool mocx_port_own_mac(const MocxPort *port, const uint8_t *mac);

/**
 * mocx_l2_wants() - does the port's switch hand us what is sent to a MAC?
 * @dev: the device
 * @mac: destination of a frame from the wire
 */
bool mocx_l2_wants(const MocxDev *dev, const uint8_t *mac);

/** mocx_port_up() - the port's operational state */
bool mocx_port_up(const MocxPort *port);

#endif /* MOCX_PORT_H */
