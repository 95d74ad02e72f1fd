/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BAR0, the bus and the cable. */
#include "core/dev.h"
#include "step.h"

static uint64_t pick_register(Bed *bed, uint8_t which, uint16_t off)
{
    static const uint16_t iseg[] = {
        ISEG_FW_REV, ISEG_CMDIF_REV, ISEG_CMDQ_HI, ISEG_CMDQ_LO, ISEG_CMD_DB,
        ISEG_INITIALIZING, ISEG_HEALTH, ISEG_HEALTH_SYND, ISEG_TIMER_HI,
        ISEG_TIMER_LO, ISEG_HEALTH_COUNTER, 0x230, 0x234, 0x238, 0xffc, 0x10,
    };
    static const uint16_t page[] = {
        UAR_CQ_ARM, UAR_CQ_ARM + 4, UAR_EQ_ARM, UAR_EQ_UPDATE, UAR_BF,
        UAR_BF + 4, UAR_BF + 0x100, UAR_BF + 0x104,
    };
    uint64_t uar = pick_object(bed, MOCX_OBJ_UAR, off) * (uint64_t)HOST_PAGE;

    if (which < 64) {
        return iseg[which % 16] + (which & 0x20 ? off % 8 : 0);
    }
    if (which < 224) {
        return uar + page[which % 8] + (which & 0x10 ? off % 8 : 0);
    }
    return which < 240 ? uar + off % HOST_PAGE
           : off * 16ULL % mocx_bar_size(bed->h->dev);
}

/* What a doorbell may say: the number of something, and an index. */
static uint64_t pick_value(Bed *bed, uint8_t which, uint32_t raw)
{
    static const uint8_t types[] = {
        MOCX_OBJ_CQ, MOCX_OBJ_EQ, MOCX_OBJ_QP, MOCX_OBJ_SQ,
    };
    uint32_t id = pick_object(bed, types[which % 4], raw >> 24);

    switch (which >> 2 & 7) {
    case 0:
        return (uint64_t)raw << 32 | id;
    case 1:
        return id << 24 | (raw & 0xffffff);
    case 2:
        return (uint64_t)raw << 32 | id << 8;
    case 3:
        return id << 8 | (raw & 0xff);
    case 4:
        return id;
    case 5:
        return 1u << raw % 32;
    case 6:
        return raw;
    default:
        return (uint64_t)raw << 32 | raw;
    }
}

void step_register(Bed *bed, Bytes *b)
{
    uint8_t size = 1 << bytes_u8(b) % 4, which = bytes_u8(b);
    uint8_t value = bytes_u8(b);
    uint64_t addr = pick_register(bed, which, bytes_u16(b));
    uint64_t v = pick_value(bed, value, bytes_u32(b));

    addr = addr + size <= mocx_bar_size(bed->h->dev) ? addr : 0;
    if (value >= 224) {
        host_enter(bed->h);
        mocx_mmio_read(bed->h->dev, addr, size);
        host_leave(bed->h);
        return;
    }
    /* Another queue, a closed interface: commands may stay without answer. */
    bed->deaf |= addr < ISEG_CMD_DB + 4;
    if (size == 8) {
        host_write64(bed->h, addr, v);
    } else if (size == 4) {
        host_write32(bed->h, addr, v);
    } else {
        host_enter(bed->h);
        mocx_mmio_write(bed->h->dev, addr, v, size);
        host_leave(bed->h);
    }
}

static void arm(Bed *bed, uint8_t which)
{
    static const char *const specs[] = {
        "cmd-fail=any,nth=2", "cmd-delay=any,ms=1,count=3", "tx-drop=50%",
        "rx-drop=20%", "tx-dup=30%", "rx-reorder=40%", "tx-reorder=40%",
        "rx-corrupt=50%", "link=down", "link=up", "fatal=7", "clear=all",
        "cmd-drop=any,nth=3", "rx-dup=50%", "clear=fatal", "tx-corrupt=2",
    };

    host_inject(bed->h, specs[which % 16]);
    bed->deaf = true;
}

void step_bus(Bed *bed, Bytes *b)
{
    uint8_t how = bytes_u8(b), which = bytes_u8(b);
    MocxDev *dev = bed->h->dev;

    if (how % 8 >= 4) {
        arm(bed, which);
        return;
    }
    host_enter(bed->h);
    switch (how % 8) {
    case 0:
        mocx_set_bus_master(dev, which & 1);
        bed->deaf = true;
        break;
    case 1:
        mocx_set_link(dev, which & 1);
        break;
    case 2:
        mocx_tx_resume(dev);
        break;
    default:
        if (which < 32) {
            mocx_reset(dev);
            bed->deaf = true;
        }
    }
    host_leave(bed->h);
}
