/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mocx: a ConnectX-class NIC as a QEMU PCIe device.
 *
 * A thin shell: everything the card does is in ../core, which knows no type of
 * QEMU.  Here are the PCI function, its life, and the properties.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/range.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_device.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_aer.h"
#include "hw/qdev-properties.h"
#include "hw/resettable.h"
#include "migration/vmstate.h"
#include "system/system.h"
#include "net/net.h"
#include "trace.h"
#include "state.h"

#define MOCX_PCI_VENDOR         0x15b3
#define MOCX_PCI_DEVICE_CX5     0x1017
/* No card has this one, so that a driver can tell the model from a card. */
#define MOCX_PCI_SUBVENDOR      PCI_VENDOR_ID_REDHAT_QUMRANET
#define MOCX_PCI_SUBDEVICE      0x1101

#define MOCX_BAR                0   /* 64 bit: takes BAR 1 as well */
#define MOCX_MSIX_BAR           2
#define MOCX_CAP_PM             0x40
#define MOCX_CAP_PCIE           0x60
#define MOCX_ECAP_AER           0x100
#define MOCX_ECAP_ARI           0x150
#define MOCX_ECAP_SERIAL        0x160

/* BAR0 */

static uint64_t mocx_bar_read(void *opaque, hwaddr addr, unsigned size)
{
    MocxState *s = opaque;
    uint64_t value;

    if (!mocx_hw_enter(s)) {
        trace_mocx_mmio_reentrant(addr);
        return UINT64_MAX;
    }
    value = mocx_mmio_read(s->core, addr, size);
    mocx_hw_leave(s);
    trace_mocx_mmio_read(addr, size, value);
    return value;
}

static void mocx_bar_write(void *opaque, hwaddr addr, uint64_t value,
                           unsigned size)
{
    MocxState *s = opaque;

    trace_mocx_mmio_write(addr, size, value);
    if (!mocx_hw_enter(s)) {
        trace_mocx_mmio_reentrant(addr);
        return;
    }
    mocx_mmio_write(s->core, addr, value, size);
    mocx_hw_slice(s, MOCX_INLINE_BUDGET);
    mocx_hw_leave(s);
}

static const MemoryRegionOps mocx_bar_ops = {
    .read = mocx_bar_read,
    .write = mocx_bar_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* Host operations that are no DMA and no frame */

static void mocx_host_msix(void *opaque, unsigned vector)
{
    trace_mocx_msix(vector);
    if (!mocx_hw_quiet(opaque)) {
        msix_notify(PCI_DEVICE(opaque), vector);
    }
}

static uint64_t mocx_host_clock(void *opaque)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void mocx_host_log(void *opaque, MocxLog level, const char *line)
{
    const char *id = DEVICE(opaque)->id ?: TYPE_MOCX;

    switch (level) {
    case MOCX_LOG_INFO:
        trace_mocx_info(line);
        break;
    case MOCX_LOG_GUEST_ERROR:
        qemu_log_mask(LOG_GUEST_ERROR, "%s: %s\n", id, line);
        break;
    case MOCX_LOG_UNIMP:
        qemu_log_mask(LOG_UNIMP, "%s: %s\n", id, line);
        break;
    case MOCX_LOG_BREACH:
        /* Someone asked for strict=on to see these. */
        warn_report("%s: %s", id, line);
        break;
    }
}

static const MocxHostOps mocx_host_ops = {
    .dma_read = mocx_hw_dma_read,
    .dma_write = mocx_hw_dma_write,
    .map = mocx_hw_dma_map,
    .publish = mocx_hw_dma_publish,
    .cmpxchg64 = mocx_hw_dma_cmpxchg64,
    .send = mocx_hw_wire_send,
    .raise_msix = mocx_host_msix,
    .clock_ns = mocx_host_clock,
    .timer_set = mocx_hw_timer_set,
    .kick = mocx_hw_kick,
    .log = mocx_host_log,
    .command = mocx_hw_record,
};

/* PCI */

static void mocx_write_config(PCIDevice *pci_dev, uint32_t addr, uint32_t val,
                              int len)
{
    pci_default_write_config(pci_dev, addr, val, len);
    pcie_cap_flr_write_config(pci_dev, addr, val, len);

    if (range_covers_byte(addr, len, PCI_COMMAND)) {
        mocx_hw_due(MOCX(pci_dev), MOCX_DUE_MASTER);
    }
}

/* D0 and D3hot, and no reset between them. */
static bool mocx_pci_pm(PCIDevice *pci_dev, Error **errp)
{
    uint8_t *cap = pci_dev->config + MOCX_CAP_PM;

    if (pci_pm_init(pci_dev, MOCX_CAP_PM, errp) < 0) {
        return false;
    }
    pci_set_word(cap + PCI_PM_PMC, 3);
    pci_set_word(cap + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
    pci_set_word(pci_dev->wmask + MOCX_CAP_PM + PCI_PM_CTRL,
                 PCI_PM_CTRL_STATE_MASK);
    return true;
}

static bool mocx_pci_caps(PCIDevice *pci_dev, MocxState *s, Error **errp)
{
    const uint8_t *mac = s->nic_conf.macaddr.a;

    if (!mocx_pci_pm(pci_dev, errp)) {
        return false;
    }
    if (pcie_endpoint_cap_init(pci_dev, MOCX_CAP_PCIE) < 0) {
        error_setg(errp, "no room for the PCI Express capability");
        return false;
    }
    pcie_cap_fill_link_ep_usp(pci_dev, QEMU_PCI_EXP_LNK_X16,
                              QEMU_PCI_EXP_LNK_8GT);
    pcie_cap_deverr_init(pci_dev);
    pcie_cap_flr_init(pci_dev);
    if (pcie_aer_init(pci_dev, PCI_ERR_VER, MOCX_ECAP_AER, PCI_ERR_SIZEOF,
                      errp) < 0) {
        return false;
    }
    pcie_ari_init(pci_dev, MOCX_ECAP_ARI);
    /* An EUI-64 made from the MAC, as cards have it. */
    pcie_dev_ser_num_init(pci_dev, MOCX_ECAP_SERIAL,
                          (uint64_t)mac[0] << 56 | (uint64_t)mac[1] << 48 |
                          (uint64_t)mac[2] << 40 | 0xfffeULL << 24 |
                          (uint64_t)mac[3] << 16 | mac[4] << 8 | mac[5]);
    return true;
}

static bool mocx_pci_msix(PCIDevice *pci_dev, unsigned vectors, Error **errp)
{
    if (msix_init_exclusive_bar(pci_dev, vectors, MOCX_MSIX_BAR, errp) < 0) {
        return false;
    }
    for (unsigned i = 0; i < vectors; i++) {
        msix_vector_use(pci_dev, i);
    }
    return true;
}

/* A limit that was not given is the core's default. */
static void mocx_fill_config(MocxState *s)
{
    MocxConfig def;

    mocx_config_default(&def);
    memcpy(s->cfg.mac, s->nic_conf.macaddr.a, MOCX_MAC_LEN);
#define MOCX_DEFAULT(field) (s->cfg.field = s->cfg.field ?: def.field)
    MOCX_DEFAULT(link_speed_mbps);
    MOCX_DEFAULT(num_vectors);
    MOCX_DEFAULT(log_max_qp);
    MOCX_DEFAULT(log_max_cq);
    MOCX_DEFAULT(log_max_mkey);
    MOCX_DEFAULT(log_max_pd);
    MOCX_DEFAULT(log_max_srq);
    MOCX_DEFAULT(log_max_qp_sz);
    MOCX_DEFAULT(log_max_cq_sz);
    MOCX_DEFAULT(num_uars);
    MOCX_DEFAULT(roce_addresses);
    MOCX_DEFAULT(memory);
    MOCX_DEFAULT(boot_pages);
    MOCX_DEFAULT(init_pages);
#undef MOCX_DEFAULT
}

static bool mocx_arm_inject(MocxState *s, const char *spec, Error **errp)
{
    const char *why;
    bool ok;

    if (!mocx_hw_enter(s)) {
        error_setg(errp, "the device is busy");
        return false;
    }
    ok = mocx_inject(s->core, spec, &why);
    mocx_hw_leave(s);
    if (!ok) {
        error_setg(errp, "inject: %s", why);
    }
    return ok;
}

static bool mocx_make_core(MocxState *s, Error **errp)
{
    const char *why = NULL;

    mocx_hw_run_init(s);
    mocx_hw_dma_init(s);

    mocx_fill_config(s);
    s->core = mocx_create(&s->cfg, &mocx_host_ops, s, &why);
    if (!s->core) {
        error_setg(errp, "%s", why);
        return false;
    }
    return !s->inject || mocx_arm_inject(s, s->inject, errp);
}

static void mocx_pci_undo(PCIDevice *pci_dev)
{
    if (msix_present(pci_dev)) {
        msix_uninit_exclusive_bar(pci_dev);
    }
    if (pci_dev->exp.aer_cap) {
        pcie_aer_exit(pci_dev);
    }
    if (pci_dev->exp.exp_cap) {
        pcie_cap_exit(pci_dev);
    }
}

/* Everything but the PCI function; nothing of it is on the stack. */
static void mocx_shut(MocxState *s)
{
    if (s->nic) {
        mocx_hw_wire_exit(s);
    }
    if (s->core) {
        mocx_destroy(s->core);
        s->core = NULL;
    }
    if (s->bh) {
        mocx_hw_run_exit(s);
        mocx_hw_dma_exit(s);
    }
}

static void mocx_shut_bh(void *opaque)
{
    MocxState *s = opaque;

    if (s->busy) {      /* someone below us waits in a nested loop */
        aio_bh_schedule_oneshot(qemu_get_aio_context(), mocx_shut_bh, s);
        return;
    }
    mocx_shut(s);
    s->gone = false;
    object_unref(OBJECT(s));
}

/*
 * A guest may unplug a device from within that device: an interrupt is a write
 * to any address, and a frame may end in a neighbour's interrupt.  The PCI
 * function goes at once; the core, and the net client whose queues are being
 * walked, go when the main loop has unwound.
 */
static void mocx_exit(PCIDevice *pci_dev)
{
    MocxState *s = MOCX(pci_dev);

    s->gone = true;
    object_ref(OBJECT(s));
    aio_bh_schedule_oneshot(qemu_get_aio_context(), mocx_shut_bh, s);
    mocx_pci_undo(pci_dev);
}

static void mocx_realize(PCIDevice *pci_dev, Error **errp)
{
    MocxState *s = MOCX(pci_dev);

    if (s->gone) {
        error_setg(errp, "the device is still being removed");
        return;
    }
    if (s->model && strcmp(s->model, "cx5")) {
        error_setg(errp, "model '%s' is unknown; there is: cx5", s->model);
        return;
    }
    qemu_macaddr_default_if_unset(&s->nic_conf.macaddr);
    if (!mocx_make_core(s, errp) ||
        !mocx_pci_caps(pci_dev, s, errp) ||
        !mocx_pci_msix(pci_dev, s->cfg.num_vectors, errp)) {
        mocx_shut(s);
        mocx_pci_undo(pci_dev);
        return;
    }
    memory_region_init_io(&s->bar0, OBJECT(s), &mocx_bar_ops, s, "mocx-bar0",
                          mocx_bar_size(s->core));
    pci_register_bar(pci_dev, MOCX_BAR, PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64 |
                     PCI_BASE_ADDRESS_MEM_PREFETCH, &s->bar0);
    mocx_hw_wire_init(s);
}

static void mocx_reset_hold(Object *obj, ResetType type)
{
    mocx_hw_due(MOCX(obj), MOCX_DUE_RESET);
}

/* Properties */

static char *mocx_get_status(Object *obj, Error **errp)
{
    MocxState *s = MOCX(obj);
    char *json = NULL, *copy;

    if (mocx_hw_enter(s)) {
        json = mocx_status_json(s->core);
        mocx_hw_leave(s);
    }
    /* The core's strings come from malloc(), QOM's from g_malloc(). */
    copy = g_strdup(json ?: "{}");
    free(json);
    return copy;
}

static char *mocx_get_inject(Object *obj, Error **errp)
{
    return g_strdup(MOCX(obj)->inject ?: "");
}

static void mocx_set_inject(Object *obj, const char *value, Error **errp)
{
    MocxState *s = MOCX(obj);

    if (s->core && !mocx_arm_inject(s, value, errp)) {
        return;
    }
    g_free(s->inject);
    s->inject = g_strdup(value);
}

static char *mocx_get_record(Object *obj, Error **errp)
{
    return g_strdup(MOCX(obj)->record_path ?: "");
}

static void mocx_set_record(Object *obj, const char *value, Error **errp)
{
    mocx_hw_record_to(MOCX(obj), value, errp);
}

static const Property mocx_properties[] = {
    DEFINE_NIC_PROPERTIES(MocxState, nic_conf),
    DEFINE_PROP_STRING("model", MocxState, model),
    DEFINE_PROP_UINT32("speed", MocxState, cfg.link_speed_mbps, 0),
    DEFINE_PROP_UINT16("vectors", MocxState, cfg.num_vectors, 0),
    DEFINE_PROP_UINT8("log-max-qp", MocxState, cfg.log_max_qp, 0),
    DEFINE_PROP_UINT8("log-max-cq", MocxState, cfg.log_max_cq, 0),
    DEFINE_PROP_UINT8("log-max-mkey", MocxState, cfg.log_max_mkey, 0),
    DEFINE_PROP_UINT8("log-max-pd", MocxState, cfg.log_max_pd, 0),
    DEFINE_PROP_UINT8("log-max-srq", MocxState, cfg.log_max_srq, 0),
    DEFINE_PROP_UINT8("log-max-qp-sz", MocxState, cfg.log_max_qp_sz, 0),
    DEFINE_PROP_UINT8("log-max-cq-sz", MocxState, cfg.log_max_cq_sz, 0),
    DEFINE_PROP_UINT16("uars", MocxState, cfg.num_uars, 0),
    DEFINE_PROP_UINT16("gids", MocxState, cfg.roce_addresses, 0),
    DEFINE_PROP_UINT32("memory", MocxState, cfg.memory, 0),
    DEFINE_PROP_UINT32("boot-pages", MocxState, cfg.boot_pages, 0),
    DEFINE_PROP_UINT32("init-pages", MocxState, cfg.init_pages, 0),
    DEFINE_PROP_BOOL("strict", MocxState, cfg.strict, false),
    DEFINE_PROP_BOOL("card", MocxState, cfg.card, false),
    DEFINE_PROP_BOOL("foreign-port", MocxState, cfg.foreign_port, false),
};

static void mocx_instance_init(Object *obj)
{
    PCIDevice *pci_dev = PCI_DEVICE(obj);

    /* DMA to what is not RAM is never bounced; see dma.c. */
    pci_dev->max_bounce_buffer_size = 0;
    device_add_bootindex_property(obj, &MOCX(obj)->nic_conf.bootindex,
                                  "bootindex", "/ethernet-phy@0", DEVICE(obj));
}

static void mocx_finalize(Object *obj)
{
    mocx_hw_record_to(MOCX(obj), "", &error_abort);
    g_free(MOCX(obj)->record_path);
    g_free(MOCX(obj)->inject);
}

static const VMStateDescription mocx_vmstate = {
    .name = TYPE_MOCX,
    .unmigratable = 1,
};

static void mocx_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    pc->realize = mocx_realize;
    pc->exit = mocx_exit;
    pc->config_write = mocx_write_config;
    pc->vendor_id = MOCX_PCI_VENDOR;
    pc->device_id = MOCX_PCI_DEVICE_CX5;
    pc->subsystem_vendor_id = MOCX_PCI_SUBVENDOR;
    pc->subsystem_id = MOCX_PCI_SUBDEVICE;
    pc->class_id = PCI_CLASS_NETWORK_ETHERNET;

    dc->desc = "ConnectX-class RDMA NIC";
    dc->vmsd = &mocx_vmstate;
    rc->phases.hold = mocx_reset_hold;
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
    device_class_set_props(dc, mocx_properties);

    object_class_property_add_str(klass, "status", mocx_get_status, NULL);
    object_class_property_set_description(klass, "status",
        "live objects, firmware pages and counters, as a JSON object");
    object_class_property_add_str(klass, "inject", mocx_get_inject,
                                  mocx_set_inject);
    object_class_property_set_description(klass, "inject",
        "fault injection, key=value[,key=value...]");
    object_class_property_add_str(klass, "record", mocx_get_record,
                                  mocx_set_record);
    object_class_property_set_description(klass, "record",
        "file that every command is written to; empty: none");
}

static const TypeInfo mocx_types[] = {
    {
        .name = TYPE_MOCX,
        .parent = TYPE_PCI_DEVICE,
        .instance_size = sizeof(MocxState),
        .instance_init = mocx_instance_init,
        .instance_finalize = mocx_finalize,
        .class_init = mocx_class_init,
        .interfaces = (InterfaceInfo[]) {
            { INTERFACE_PCIE_DEVICE },
            { }
        },
    },
};

DEFINE_TYPES(mocx_types)
