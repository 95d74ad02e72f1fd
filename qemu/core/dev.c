// SPDX-License-Identifier: GPL-2.0-or-later
/* The device as a whole: configuration, its modules, life and reset. */
#include "dev.h"
#include "heap.h"

/*
 * Numbers are handed out from these on.  UARs: the init segment covers the
 * first pages (0..0x200f), and rdma-core takes page 0 for none.  Queues: QPN 0
 * and 1 are the management QPs on the wire.
 */
#define FIRST_UAR           8
#define FIRST_QUEUE         0x40
#define FIRST_OBJECT        1

/* In this order at create; in reverse at reset and destroy. */
static const MocxModule *const base_modules[] = {
    &mocx_mod_verify, &mocx_mod_inject, &mocx_mod_sched, &mocx_mod_cmd,
    &mocx_mod_page, &mocx_mod_cap, &mocx_mod_port, &mocx_mod_tx,
};

/* Each after those whose objects its own use. */
static const MocxModule *const object_modules[] = {
    &mocx_mod_alloc, &mocx_mod_mkey, &mocx_mod_eq, &mocx_mod_cq,
    &mocx_mod_rq, &mocx_mod_srq, &mocx_mod_tir, &mocx_mod_sq,
    &mocx_mod_steer, &mocx_mod_qp, &mocx_mod_roce,
};

#define NUM_BASE    (sizeof(base_modules) / sizeof(base_modules[0]))
#define NUM_OBJECTS (sizeof(object_modules) / sizeof(object_modules[0]))

/* Configuration */

void mocx_config_default(MocxConfig *cfg)
{
    static const uint8_t mac[MOCX_MAC_LEN] = {
        0x52, 0x54, 0x00, 0x12, 0x34, 0x56
    };

    *cfg = (MocxConfig) {
        .link_speed_mbps = 100000,
        .num_vectors = 32,
        .log_max_qp = 14,
        .log_max_cq = 14,
        .log_max_mkey = 18,
        .log_max_pd = 12,
        .log_max_srq = 12,
        .log_max_qp_sz = 15,
        .log_max_cq_sz = 17,
        .num_uars = 2048,
        .roce_addresses = 128,
        .memory = 1024,
        .boot_pages = 64,
        .init_pages = 256,
    };
    memcpy(cfg->mac, mac, sizeof(mac));
}

/* One limit: 0 means the default. */
typedef struct Limit {
    size_t off;
    uint8_t size;
    uint32_t min, max;
    const char *err;
} Limit;

#define LIMIT(field, min, max) \
    { offsetof(MocxConfig, field), sizeof(((MocxConfig *)0)->field), \
      (min), (max), #field " is out of range (" #min " to " #max ")" }

static const Limit limits[] = {
    LIMIT(num_vectors, 2, 2048),
    LIMIT(log_max_qp, 4, 18),
    LIMIT(log_max_cq, 4, 20),
    LIMIT(log_max_mkey, 4, 20),
    LIMIT(log_max_pd, 2, 16),
    LIMIT(log_max_srq, 2, 16),
    LIMIT(log_max_qp_sz, 8, 15),
    LIMIT(log_max_cq_sz, 8, 22),
    LIMIT(num_uars, 16, 32768),
    LIMIT(roce_addresses, 1, 256),
    LIMIT(memory, 1, 65536),
    LIMIT(boot_pages, 1, 65536),
    LIMIT(init_pages, 1, 65536),
};

static uint32_t field_get(const MocxConfig *cfg, const Limit *l)
{
    const char *p = (const char *)cfg + l->off;

    return l->size == 1 ? *(const uint8_t *)p
           : l->size == 2 ? *(const uint16_t *)p : *(const uint32_t *)p;
}

static const char *config_check(MocxConfig *cfg)
{
    MocxConfig def;

    mocx_config_default(&def);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const Limit *l = &limits[i];
        uint32_t v = field_get(cfg, l);

        if (!v) {
            memcpy((char *)cfg + l->off, (char *)&def + l->off, l->size);
        } else if (v < l->min || v > l->max) {
            return l->err;
        }
    }
    if (!cfg->link_speed_mbps) {
        cfg->link_speed_mbps = def.link_speed_mbps;
    }
    if (!mocx_speed_supported(cfg->link_speed_mbps)) {
        return "link speed is none of 10000, 25000, 40000, 50000, 100000";
    }
    return NULL;
}

/* Number spaces */

static void table_setup(MocxDev *dev, MocxTable *t, uint32_t first,
                        uint32_t limit)
{
    mocx_table_init(t, first, limit);
    t->live = dev->live;
    t->heap = &dev->heap;
}

static void tables_init(MocxDev *dev)
{
    const MocxConfig *cfg = &dev->cfg;

    table_setup(dev, &dev->uars, FIRST_UAR, cfg->num_uars - FIRST_UAR);
    table_setup(dev, &dev->pds, FIRST_OBJECT, 1u << cfg->log_max_pd);
    table_setup(dev, &dev->tds, FIRST_OBJECT, 1u << MOCX_LOG_MAX_TD);
    table_setup(dev, &dev->xrcds, FIRST_OBJECT, 1u << MOCX_LOG_MAX_XRCD);
    table_setup(dev, &dev->mkeys, MOCX_MKEY_FIRST, 1u << cfg->log_max_mkey);
    table_setup(dev, &dev->eqs, FIRST_OBJECT, 1u << MOCX_LOG_MAX_EQ);
    table_setup(dev, &dev->cqs, FIRST_OBJECT, 1u << cfg->log_max_cq);
    table_setup(dev, &dev->queues, FIRST_QUEUE, (1u << cfg->log_max_qp) +
                (1u << MOCX_LOG_MAX_SQ) + (1u << MOCX_LOG_MAX_RQ));
    table_setup(dev, &dev->srqs, FIRST_OBJECT, 1u << cfg->log_max_srq);
    table_setup(dev, &dev->tises, FIRST_OBJECT, 1u << MOCX_LOG_MAX_TIS);
    table_setup(dev, &dev->tirs, FIRST_OBJECT, 1u << MOCX_LOG_MAX_TIR);
    table_setup(dev, &dev->rqts, FIRST_OBJECT, 1u << MOCX_LOG_MAX_RQT);
    table_setup(dev, &dev->q_counters, FIRST_OBJECT, MOCX_MAX_Q_COUNTERS);
    table_setup(dev, &dev->flow_counters, FIRST_OBJECT,
                1u << MOCX_LOG_MAX_FLOW_COUNTER);
}

static void tables_fini(MocxDev *dev)
{
    MocxTable *all[] = {
        &dev->uars, &dev->pds, &dev->tds, &dev->xrcds, &dev->mkeys, &dev->eqs,
        &dev->cqs, &dev->queues, &dev->srqs, &dev->tises, &dev->tirs,
        &dev->rqts, &dev->q_counters, &dev->flow_counters,
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        mocx_table_fini(all[i]);
    }
}

/* Modules */

static bool modules_create(MocxDev *dev, const MocxModule *const *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (m[i]->create && !m[i]->create(dev)) {
            return false;
        }
    }
    return true;
}

static void modules_reset(MocxDev *dev, const MocxModule *const *m, size_t n)
{
    while (n--) {
        if (m[n]->reset) {
            m[n]->reset(dev);
        }
    }
}

static void modules_destroy(MocxDev *dev, const MocxModule *const *m, size_t n)
{
    while (n--) {
        if (m[n]->destroy) {
            m[n]->destroy(dev);
        }
    }
}

void mocx_objects_reset(MocxDev *dev)
{
    for (unsigned i = 0; i < MOCX_OBJ_TYPES; i++) {
        if (dev->live[i]) {
            mocx_log(dev, MOCX_LOG_GUEST_ERROR, "teardown with %u %s alive",
                     dev->live[i], mocx_obj_type_name(i));
        }
    }
    modules_reset(dev, object_modules, NUM_OBJECTS);
}

/* Life */

/*
 * A host without memory to make a device cannot run one; the halves made so
 * far are freed by the same functions as a whole one, but there is nothing in
 * them that could be reset.
 */
MocxDev *mocx_create(const MocxConfig *cfg, const MocxHostOps *ops,
                     void *opaque, const char **err)
{
    MocxDev *dev = mocx_calloc(NULL, 1, sizeof(*dev));

    if (!dev) {
        *err = "out of memory";
        return NULL;
    }
    dev->cfg = *cfg;
    dev->ops = ops;
    dev->opaque = opaque;
    *err = config_check(&dev->cfg);
    if (*err) {
        mocx_free(dev);
        return NULL;
    }
    dev->heap.limit = (size_t)dev->cfg.memory << 20;
    tables_init(dev);
    if (!modules_create(dev, base_modules, NUM_BASE) ||
        !modules_create(dev, object_modules, NUM_OBJECTS)) {
        *err = "out of memory, the host's or what memory allows";
        mocx_destroy(dev);
        return NULL;
    }
    dev->made = true;
    mocx_reset(dev);
    return dev;
}

void mocx_destroy(MocxDev *dev)
{
    if (dev->made) {
        modules_reset(dev, object_modules, NUM_OBJECTS);
    }
    modules_destroy(dev, object_modules, NUM_OBJECTS);
    modules_destroy(dev, base_modules, NUM_BASE);
    tables_fini(dev);
    mocx_free(dev);
}

void mocx_reset(MocxDev *dev)
{
    if (dev->verify) {
        mocx_verify_reset(dev);
    }
    modules_reset(dev, object_modules, NUM_OBJECTS);
    modules_reset(dev, base_modules, NUM_BASE);
    dev->state = MOCX_ST_POWER_ON;
    dev->health_syndrome = 0;
    dev->health_rfr = false;
    dev->nic_interface = 0;
}

void mocx_leave(MocxDev *dev)
{
    mocx_tx_flush(dev);
    mocx_timer_program(dev);
    mocx_sched_kick(dev);
}

void mocx_set_bus_master(MocxDev *dev, bool on)
{
    dev->bus_master = on;
}
