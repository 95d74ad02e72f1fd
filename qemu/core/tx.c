// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The way out: a batch of frames built in place, sent as one array at the end
 * of an entry point or when it is full; and the loopback queue, whose frames
 * go to the transport or the receive queues of this device instead.
 */
#include "dev.h"
#include "heap.h"

#define TX_BATCH        64
#define TX_ARENA        (TX_BATCH * MOCX_FRAME_MAX)
#define TX_FRAME_MIN    60      /* without FCS (IEEE 802.3, 64 with) */

#define LOOP_SLOTS      128
#define LOOP_ARENA      ((size_t)LOOP_SLOTS * MOCX_FRAME_MAX)

typedef struct Loop {
    MocxWork work;
    uint8_t *arena;             /* LOOP_SLOTS frames */
    uint16_t len[LOOP_SLOTS];
    uint32_t from[LOOP_SLOTS];  /* as mocx_tx_commit() has it */
    uint32_t head, tail;        /* never masked; equal when empty */
} Loop;

struct MocxTx {
    uint8_t *arena;
    size_t used;
    MocxFrame frames[TX_BATCH];
    unsigned n;
    bool full;                  /* the host took less than it was given */
    Loop loop;
};

/* The batch */

static void batch_keep(MocxTx *tx, unsigned sent)
{
    memmove(tx->frames, tx->frames + sent,
            (tx->n - sent) * sizeof(tx->frames[0]));
    tx->n -= sent;
    /* The arena is used anew when all of it has gone. */
    if (!tx->n) {
        tx->used = 0;
    }
}

void mocx_tx_flush(MocxDev *dev)
{
    MocxTx *tx = dev->tx;
    size_t sent;

    if (!tx->n || tx->full) {
        return;
    }
    if (!mocx_port_up(&dev->port)) {
        batch_keep(tx, tx->n);      /* light goes nowhere */
        return;
    }
    sent = dev->ops->send(dev->opaque, tx->frames, tx->n);
    tx->full = sent < tx->n;
    batch_keep(tx, sent);
}

static bool batch_room(const MocxTx *tx, unsigned n)
{
    return tx->n + n <= TX_BATCH &&
           tx->used + (size_t)n * MOCX_FRAME_MAX <= TX_ARENA;
}

static bool loop_room(const MocxTx *tx, unsigned n)
{
    return tx->loop.head - tx->loop.tail + n <= LOOP_SLOTS;
}

bool mocx_tx_room(MocxDev *dev, unsigned n)
{
    if (!batch_room(dev->tx, n)) {
        mocx_tx_flush(dev);
    }
    return batch_room(dev->tx, n) && loop_room(dev->tx, n);
}

uint8_t *mocx_tx_buf(MocxDev *dev, size_t len)
{
    (void)len;
    return dev->tx->arena + dev->tx->used;
}

void mocx_tx_resume(MocxDev *dev)
{
    dev->tx->full = false;
    mocx_tx_flush(dev);
    if (!dev->tx->full) {
        mocx_work_wake_tx(dev);
    }
    mocx_leave(dev);
}

/* Loopback */

static bool own_mac(const MocxPort *port, const uint8_t *mac)
{
    if (!memcmp(mac, port->mac, MOCX_MAC_LEN)) {
        return true;
    }
    /* Stacked interfaces have addresses of their own in the GID table. */
    for (uint32_t i = 0; port->foreign_macs && i < port->num_gids; i++) {
        if (port->gids[i].valid &&
            !memcmp(mac, port->gids[i].mac, MOCX_MAC_LEN)) {
            return true;
        }
    }
    return false;
}

bool mocx_port_own_mac(const MocxPort *port, const uint8_t *mac)
{
    return own_mac(port, mac);
}

static void loop_put(MocxDev *dev, const uint8_t *frame, size_t len,
                     uint32_t from)
{
    Loop *loop = &dev->tx->loop;
    uint32_t slot = loop->head % LOOP_SLOTS;

    if (!loop_room(dev->tx, 1)) {
        dev->port.counters.rx_dropped++;
        return;
    }
    memcpy(loop->arena + (size_t)slot * MOCX_FRAME_MAX, frame, len);
    loop->len[slot] = len;
    loop->from[slot] = from;
    loop->head++;
    mocx_work_queue(dev, &loop->work);
}

static void loop_deliver(MocxDev *dev, const uint8_t *frame, size_t len,
                         uint32_t from)
{
    if (from != MOCX_TX_ROCE) {
        mocx_port_count(dev, frame, len, MOCX_PORT_RX);
        mocx_eth_loopback(dev, frame, len, from);
    } else if (dev->port.roce_en) {
        mocx_port_count(dev, frame, len, MOCX_PORT_RX_ROCE);
        mocx_roce_receive(dev, frame, len);
    }
}

static bool loop_run(MocxDev *dev, MocxWork *work, unsigned budget,
                     unsigned *used)
{
    Loop *loop = MOCX_CONTAINER_OF(work, Loop, work);

    while (loop->tail != loop->head && *used < budget) {
        uint32_t slot = loop->tail % LOOP_SLOTS;
        const uint8_t *frame = loop->arena + (size_t)slot * MOCX_FRAME_MAX;

        /* The slot is given back after the read: its answer takes another. */
        loop_deliver(dev, frame, loop->len[slot], loop->from[slot]);
        loop->tail++;
        ++*used;
    }
    if (!dev->tx->full) {
        mocx_work_wake_tx(dev);
    }
    return loop->tail != loop->head;
}

/* The end of a frame */

static size_t pad(uint8_t *frame, size_t len)
{
    if (len < TX_FRAME_MIN) {
        memset(frame + len, 0, TX_FRAME_MIN - len);
        len = TX_FRAME_MIN;
    }
    return len;
}

static void batch_add(MocxTx *tx, const MocxFrame *frame)
{
    if (tx->n == TX_BATCH || tx->used + frame->len > TX_ARENA) {
        return;     /* nobody asked for room: the wire drops it */
    }
    if (frame->data != tx->arena + tx->used) {
        memmove(tx->arena + tx->used, frame->data, frame->len);
    }
    tx->frames[tx->n++] = (MocxFrame) { tx->arena + tx->used, frame->len };
    /* Cache lines of two frames are not shared. */
    tx->used += (frame->len + 63) & ~(size_t)63;
}

/* A frame held before may go first, over the place this one was built in. */
static void batch_inject(MocxDev *dev, const MocxFrame *frame)
{
    MocxFrame out[MOCX_INJECT_FRAMES_MAX];
    uint8_t copy[MOCX_FRAME_MAX];
    MocxFrame in = { copy, frame->len };
    size_t n;

    memcpy(copy, frame->data, frame->len);
    n = mocx_inject_frame(dev->inject, MOCX_INJECT_TX, &in, out);
    for (size_t i = 0; i < n; i++) {
        batch_add(dev->tx, &out[i]);
    }
}

/* Members of a group may be here, too; so may queues of another domain. */
static bool comes_back(const MocxDev *dev, const MocxFrame *frame, bool roce)
{
    return frame->data[0] & 1 && (roce || dev->live[MOCX_OBJ_TD] > 1);
}

void mocx_tx_commit(MocxDev *dev, size_t len, uint32_t from)
{
    bool roce = from == MOCX_TX_ROCE, loops;
    MocxTx *tx = dev->tx;
    MocxFrame frame = { .data = tx->arena + tx->used };

    if (len > MOCX_FRAME_MAX) {
        return;
    }
    frame.len = pad(tx->arena + tx->used, len);
    loops = own_mac(&dev->port, frame.data);
    if (!loops && !mocx_port_up(&dev->port)) {
        return;
    }
    mocx_port_count(dev, frame.data, frame.len,
                    roce ? MOCX_PORT_TX_ROCE : MOCX_PORT_TX);
    if (loops) {
        loop_put(dev, frame.data, frame.len, from);
        return;
    }
    if (comes_back(dev, &frame, roce)) {
        loop_put(dev, frame.data, frame.len, from);
    }
    if (mocx_inject_armed(dev->inject, MOCX_INJECT_TX)) {
        batch_inject(dev, &frame);
    } else {
        batch_add(tx, &frame);
    }
}

/* Life cycle */

static bool tx_create(MocxDev *dev)
{
    dev->tx = mocx_calloc(&dev->heap, 1, sizeof(*dev->tx));
    if (!dev->tx) {
        return false;
    }
    dev->tx->loop.work.fn = loop_run;
    dev->tx->loop.arena = mocx_malloc(&dev->heap, LOOP_ARENA);
    dev->tx->arena = mocx_malloc(&dev->heap, TX_ARENA);
    return dev->tx->loop.arena && dev->tx->arena;
}

static void tx_reset(MocxDev *dev)
{
    MocxTx *tx = dev->tx;

    mocx_work_cancel(dev, &tx->loop.work);
    tx->loop.head = tx->loop.tail = 0;
    tx->n = 0;
    tx->used = 0;
    tx->full = false;
}

static void tx_destroy(MocxDev *dev)
{
    if (dev->tx) {
        mocx_free(dev->tx->loop.arena);
        mocx_free(dev->tx->arena);
        mocx_free(dev->tx);
        dev->tx = NULL;
    }
}

const MocxModule mocx_mod_tx = {
    .name = "tx",
    .create = tx_create,
    .reset = tx_reset,
    .destroy = tx_destroy,
};
