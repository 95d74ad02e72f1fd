// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BAR0: the initialization segment (mlx5/device.h: struct mlx5_init_seg), and
 * one page of doorbells per UAR behind it.  Registers are big-endian.
 */
#include "cmdq.h"
#include "dev.h"

#define UAR_SHIFT           12
#define UAR_FIRST           8       /* pages below are the init segment's */

/* Init segment */
#define ISEG_FW_REV         0x00
#define ISEG_CMDIF_REV      0x04
#define ISEG_CMDQ_HIGH      0x10
#define ISEG_CMDQ_LOW       0x14
#define ISEG_CMD_DOORBELL   0x18
#define ISEG_INITIALIZING   0x1fc
#define ISEG_HEALTH_FW_VER  0x230
#define ISEG_HEALTH_HW_ID   0x234
#define ISEG_HEALTH_RFR     0x238
#define ISEG_HEALTH_SYND    0x23c
#define ISEG_TIMER_HIGH     0x1000
#define ISEG_TIMER_LOW      0x1004
#define ISEG_HEALTH         0x1010
#define ISEG_REAL_TIME_HIGH 0x1040
#define ISEG_REAL_TIME_LOW  0x1044

#define INITIALIZING_RESET  (1u << 30)      /* a driver may reset us */
#define CMDIF_REV           5       /* mlx5_cmd_enable() refuses others */
#define HW_ID_CONNECTX5     0x20d
#define HEALTH_TICK_NS      10000000ull

#define NIC_IFC_FULL        0
#define NIC_IFC_DISABLED    1
#define NIC_IFC_SW_RESET    7

/* UAR page (mlx5/core/uar.c: map_offset; lib/eq.h) */
#define UAR_CQ_ARM          0x20
#define UAR_EQ_ARM          0x40
#define UAR_EQ_UPDATE       0x48
#define UAR_SEND            0x800
#define UAR_SEND_STEP       0x100   /* halves of the 0x200 wide registers */

/* Reading */

static uint32_t cmdq_low(MocxDev *dev)
{
    return (mocx_cmdq_base(dev) & 0xfffff000) |
           (uint32_t)dev->nic_interface << 8 |
           MOCX_CMDQ_LOG_SIZE << 4 | MOCX_CMDQ_LOG_STRIDE;
}

/* Health: the counter moves with time while the firmware lives. */
static uint32_t health(MocxDev *dev)
{
    uint64_t beat = dev->health_rfr ? 0 : mocx_now(dev) / HEALTH_TICK_NS;

    return (uint32_t)dev->health_syndrome << 24 | ((beat + 1) & 0xffffff);
}

static uint32_t iseg_read(MocxDev *dev, uint32_t off, uint64_t ticks)
{
    switch (off) {
    case ISEG_FW_REV:
        return MOCX_FW_MINOR << 16 | MOCX_FW_MAJOR;
    case ISEG_CMDIF_REV:
        return CMDIF_REV << 16 | MOCX_FW_SUBMINOR;
    case ISEG_CMDQ_HIGH:
        return mocx_cmdq_base(dev) >> 32;
    case ISEG_CMDQ_LOW:
        return cmdq_low(dev);
    case ISEG_HEALTH_FW_VER:
        return MOCX_FW_MAJOR << 24 | MOCX_FW_MINOR << 16 | MOCX_FW_SUBMINOR;
    case ISEG_HEALTH_HW_ID:
        return HW_ID_CONNECTX5;
    case ISEG_HEALTH_RFR:
        return dev->health_rfr ? 1u << 31 : 0;
    case ISEG_HEALTH_SYND:
        return (uint32_t)dev->health_syndrome << 16;
    case ISEG_TIMER_HIGH:
        return ticks >> 32;
    case ISEG_TIMER_LOW:
        return ticks;
    case ISEG_HEALTH:
        return health(dev);
    case ISEG_REAL_TIME_HIGH:
        return dev->cfg.card ? mocx_real_time(dev) >> 32 : 0;
    case ISEG_REAL_TIME_LOW:
        return dev->cfg.card ? (uint32_t)mocx_real_time(dev) : 0;
    case ISEG_INITIALIZING:     /* bit 31: over before we exist */
        return INITIALIZING_RESET;
    default:
        return 0;
    }
}

uint64_t mocx_mmio_read(MocxDev *dev, uint64_t addr, unsigned size)
{
    uint64_t ticks = mocx_ticks(dev), value = 0;

    for (unsigned i = 0; i < size; i++) {
        uint64_t at = addr + i;
        uint32_t reg = at >> UAR_SHIFT < UAR_FIRST
                       ? iseg_read(dev, at & ~3ull, ticks) : 0;

        value |= (uint64_t)(reg >> (24 - 8 * (at & 3)) & 0xff) << (8 * i);
    }
    return value;
}

/* Writing */

/*
 * A driver that recovers from a dead device starts over with the queue's
 * address; nothing of the life before is left then.
 */
static void nic_interface_set(MocxDev *dev, uint8_t ifc)
{
    if (ifc == NIC_IFC_FULL) {
        if (dev->nic_interface != NIC_IFC_FULL || dev->health_rfr) {
            mocx_reset(dev);
        }
    } else if (ifc == NIC_IFC_SW_RESET) {
        mocx_reset(dev);
        ifc = NIC_IFC_DISABLED;
    } else if (dev->nic_interface == NIC_IFC_FULL) {
        mocx_objects_reset(dev);    /* no DMA from here on */
    }
    dev->nic_interface = ifc;
}

static void iseg_write(MocxDev *dev, uint32_t off, uint32_t value)
{
    uint64_t base = mocx_cmdq_base(dev);

    switch (off) {
    case ISEG_CMDQ_HIGH:
        mocx_cmdq_set_base(dev, (uint64_t)value << 32 | (uint32_t)base);
        break;
    case ISEG_CMDQ_LOW:
        nic_interface_set(dev, value >> 8 & 7);
        mocx_cmdq_set_base(dev, (base & ~0xffffffffull) |
                                (value & 0xfffff000));
        break;
    case ISEG_CMD_DOORBELL:
        mocx_cmd_doorbell(dev, value);
        break;
    default:
        mocx_log(dev, MOCX_LOG_GUEST_ERROR,
                 "write of 0x%x to read-only register 0x%x", value, off);
    }
}

static void send_doorbell(MocxDev *dev, const MocxObj *uar, uint32_t first,
                          uint32_t second)
{
    MocxQueue *q = (MocxQueue *)mocx_table_find(&dev->queues, second >> 8);

    if (dev->verify) {
        mocx_verify_send_doorbell(dev, uar, second >> 8, q);
    }
    if (!q || !q->doorbell) {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR, "send doorbell of unknown queue %u",
                 second >> 8);
        return;
    }
    if (!mocx_uar_foreign(dev, uar, q->uar, "queue", q->obj.id)) {
        q->doorbell(dev, q, (uint64_t)first << 32 | second);
    }
}

static void uar_write64(MocxDev *dev, const MocxUar *uar, uint32_t off,
                        uint32_t first, uint32_t second)
{
    if (off == UAR_CQ_ARM) {
        mocx_cq_arm(dev, &uar->obj, first, second);
    } else if (off >= UAR_SEND && !(off & (UAR_SEND_STEP - 1))) {
        send_doorbell(dev, &uar->obj, first, second);
    }
    /*
     * What follows a send doorbell is a BlueFlame copy of the WQE, which is
     * read from memory instead.
     */
}

/* Two 4-byte writes make a 64-bit doorbell where the CPU has no other. */
static void uar_write32(MocxDev *dev, MocxUar *uar, uint32_t off,
                        uint32_t value)
{
    uint32_t in_send = off & (UAR_SEND_STEP - 1);

    if (off == UAR_EQ_ARM || off == UAR_EQ_UPDATE) {
        mocx_eq_doorbell(dev, &uar->obj, value, off == UAR_EQ_ARM);
    } else if (off == UAR_CQ_ARM) {
        uar->arm_latch = value;
    } else if (off == UAR_CQ_ARM + 4) {
        mocx_cq_arm(dev, &uar->obj, uar->arm_latch, value);
    } else if (off >= UAR_SEND && in_send == 0) {
        uar->send_latch = value;
    } else if (off >= UAR_SEND && in_send == 4) {
        send_doorbell(dev, &uar->obj, uar->send_latch, value);
    }
}

static MocxUar *uar_at(MocxDev *dev, uint64_t addr)
{
    return (MocxUar *)mocx_table_find(&dev->uars, addr >> UAR_SHIFT);
}

static void reg_write32(MocxDev *dev, uint64_t addr, uint32_t value)
{
    MocxUar *uar = uar_at(dev, addr);

    if (addr >> UAR_SHIFT < UAR_FIRST) {
        iseg_write(dev, addr, value);
    } else if (uar) {
        uar_write32(dev, uar, addr & 0xfff, value);
    }
}

static void reg_write64(MocxDev *dev, uint64_t addr, uint32_t first,
                        uint32_t second)
{
    const MocxUar *uar = uar_at(dev, addr);

    if (addr >> UAR_SHIFT < UAR_FIRST) {
        iseg_write(dev, addr, first);
        iseg_write(dev, addr + 4, second);
    } else if (uar) {
        uar_write64(dev, uar, addr & 0xfff, first, second);
    }
}

void mocx_mmio_write(MocxDev *dev, uint64_t addr, uint64_t value,
                     unsigned size)
{
    if (size == 8 && !(addr & 7)) {
        reg_write64(dev, addr, __builtin_bswap32(value),
                    __builtin_bswap32(value >> 32));
    } else if (size == 4 && !(addr & 3)) {
        reg_write32(dev, addr, __builtin_bswap32(value));
    } else {
        mocx_log(dev, MOCX_LOG_GUEST_ERROR,
                 "write of %u bytes at 0x%llx is no access", size,
                 (unsigned long long)addr);
    }
    mocx_leave(dev);
}

uint64_t mocx_bar_size(const MocxDev *dev)
{
    uint64_t size = 1u << 16;

    while (size < (uint64_t)dev->cfg.num_uars << UAR_SHIFT) {
        size <<= 1;
    }
    return size;
}
