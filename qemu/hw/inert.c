/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mocx: a card that does nothing, in place of the core until that is there.
 * It is seen by lspci, and its registers read as zero.
 */
#include "qemu/osdep.h"
#include "../core/mocx.h"

struct MocxDev {
    MocxConfig cfg;
};

void mocx_config_default(MocxConfig *cfg)
{
    *cfg = (MocxConfig){ .link_speed_mbps = 100000, .num_vectors = 64 };
}

MocxDev *mocx_create(const MocxConfig *cfg, const MocxHostOps *ops,
                     void *opaque, const char **err)
{
    MocxDev *dev = g_new0(MocxDev, 1);

    dev->cfg = *cfg;
    return dev;
}

void mocx_destroy(MocxDev *dev)
{
    g_free(dev);
}

uint64_t mocx_bar_size(const MocxDev *dev)
{
    return 32 * 1024 * 1024;
}

uint64_t mocx_mmio_read(MocxDev *dev, uint64_t addr, unsigned size)
{
    return 0;
}

size_t mocx_receive(MocxDev *dev, const MocxFrame *frames, size_t n)
{
    return n;
}

bool mocx_run(MocxDev *dev, unsigned budget)
{
    return false;
}

char *mocx_status_json(MocxDev *dev)
{
    return strdup("{}");
}

bool mocx_inject(MocxDev *dev, const char *spec, const char **err)
{
    *err = "there is nothing to break yet";
    return false;
}

void mocx_mmio_write(MocxDev *dev, uint64_t addr, uint64_t value, unsigned size)
{
}

void mocx_reset(MocxDev *dev)
{
}

void mocx_timer(MocxDev *dev)
{
}

void mocx_tx_resume(MocxDev *dev)
{
}

void mocx_set_bus_master(MocxDev *dev, bool on)
{
}

void mocx_set_link(MocxDev *dev, bool up)
{
}
