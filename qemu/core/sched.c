// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The run queue: items take turns, each with a quantum, until the slice's
 * budget is spent.  Lists are circular with a head in the device, so that an
 * item leaves whichever list it is on without knowing which.
 */
#include "dev.h"
#include "heap.h"

/*
 * Units per turn: long enough to fill a batch of frames, short enough that a
 * bulk transfer does not delay its neighbours' small ones.
 */
#define SCHED_QUANTUM   32
/* Steps that take about as long as a packet does. */
#define STEPS_PER_UNIT  64
/* Units that frames from the wire may take beside themselves, in a row. */
#define RX_UNITS        512

static void list_init(MocxWork *head)
{
    head->next = head->prev = head;
}

static bool list_empty(const MocxWork *head)
{
    return head->next == head;
}

static void list_add_tail(MocxWork *head, MocxWork *work)
{
    work->next = head;
    work->prev = head->prev;
    head->prev->next = work;
    head->prev = work;
}

static void list_del(MocxWork *work)
{
    work->prev->next = work->next;
    work->next->prev = work->prev;
    work->next = work->prev = NULL;
}

void mocx_work_queue(MocxDev *dev, MocxWork *work)
{
    if (!work->next) {
        list_add_tail(&dev->run_head, work);
    }
}

void mocx_work_wait_tx(MocxDev *dev, MocxWork *work)
{
    if (work->next) {
        list_del(work);
    }
    list_add_tail(&dev->tx_wait_head, work);
}

void mocx_work_cancel(MocxDev *dev, MocxWork *work)
{
    (void)dev;
    if (work->next) {
        list_del(work);
    }
}

/* The wire, or the loopback queue, has room: all that waited may try again. */
void mocx_work_wake_tx(MocxDev *dev)
{
    while (!list_empty(&dev->tx_wait_head)) {
        MocxWork *work = dev->tx_wait_head.next;

        list_del(work);
        list_add_tail(&dev->run_head, work);
    }
}

void mocx_charge(MocxDev *dev, uint32_t steps)
{
    uint64_t units = dev->steps / STEPS_PER_UNIT;

    dev->steps += steps;
    *dev->turn += dev->steps / STEPS_PER_UNIT - units;
}

uint64_t mocx_steps(const MocxDev *dev)
{
    return dev->steps;
}

bool mocx_rx_spent(MocxDev *dev)
{
    if (dev->rx_used < RX_UNITS) {
        return false;
    }
    mocx_work_queue(dev, &dev->rx_work);
    return true;
}

static bool rx_again(MocxDev *dev, MocxWork *work, unsigned budget,
                     unsigned *used)
{
    dev->rx_used = 0;
    return false;
}

bool mocx_run(MocxDev *dev, unsigned budget)
{
    dev->kicked = true;
    while (budget && !list_empty(&dev->run_head)) {
        MocxWork *work = dev->run_head.next;
        unsigned share = budget < SCHED_QUANTUM ? budget : SCHED_QUANTUM;
        unsigned used = 0;

        list_del(work);
        dev->turn = &used;
        if (work->fn(dev, work, share, &used)) {
            mocx_work_queue(dev, work);
        }
        dev->turn = &dev->rx_used;
        /* A turn costs something even if it found nothing to do. */
        used = used ? used : 1;
        budget -= used < budget ? used : budget;
    }
    mocx_leave(dev);
    dev->kicked = !list_empty(&dev->run_head);
    return dev->kicked;
}

/* End of an entry point: ask for a slice if there is work and none is due. */
void mocx_sched_kick(MocxDev *dev)
{
    if (!dev->kicked && !list_empty(&dev->run_head)) {
        dev->kicked = true;
        dev->ops->kick(dev->opaque);
    }
}

static bool sched_create(MocxDev *dev)
{
    list_init(&dev->run_head);
    list_init(&dev->tx_wait_head);
    dev->rx_work.fn = rx_again;
    dev->turn = &dev->rx_used;
    dev->timer_programmed = MOCX_TIMER_OFF;
    return true;
}

/*
 * Objects cancelled their own work and timers; nothing is left but the host's
 * deadline, which may come and finds nothing.
 */
static void sched_reset(MocxDev *dev)
{
    dev->kicked = false;
    dev->rx_used = 0;
    mocx_work_cancel(dev, &dev->rx_work);
}

static void sched_destroy(MocxDev *dev)
{
    mocx_free(dev->timers);
}

const MocxModule mocx_mod_sched = {
    .name = "sched",
    .create = sched_create,
    .reset = sched_reset,
    .destroy = sched_destroy,
};
