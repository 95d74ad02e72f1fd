// SPDX-License-Identifier: GPL-2.0-or-later
/* The life of the function: enable, interface revision, init, teardown. */
#include "dev.h"
#include "page.h"

#define ISSI_MAX            1       /* mlx5_core_set_issi() wants 1 */

#define TEARDOWN_GRACEFUL   0       /* mlx5_ifc.h: MLX5_TEARDOWN_HCA_IN_ */
#define TEARDOWN_FORCE      1
#define TEARDOWN_PREPARE    2

#define SYND_HCA_ISSI       0x0ca00001u
#define SYND_HCA_PAGES      0x0ca00002u
#define SYND_HCA_PROFILE    0x0ca00003u

/* Read by mlx5_cmd_query_adapter() and mlx5_query_board_id(). */
#define IEEE_VENDOR_ID      0x2c9
#define PSID                "MCX0000000001"     /* 13 of 16 bytes */

static MocxStatus hca_enable(MocxDev *dev, MocxCmd *cmd)
{
    (void)cmd;
    dev->state = MOCX_ST_ENABLED;
    dev->issi = 0;
    mocx_caps_reset(dev);
    return MOCX_OK;
}

/* Also from INITIALIZED: a driver that failed to tear down still leaves. */
static MocxStatus hca_disable(MocxDev *dev, MocxCmd *cmd)
{
    (void)cmd;
    if (dev->state == MOCX_ST_INITIALIZED) {
        if (dev->verify) {
            mocx_verify_teardown(dev);
        }
        mocx_objects_reset(dev);
    }
    mocx_pages_forget(dev);
    dev->state = MOCX_ST_POWER_ON;
    mocx_log(dev, MOCX_LOG_INFO, "disabled");
    return MOCX_OK;
}

static MocxStatus issi_query(MocxDev *dev, MocxCmd *cmd)
{
    DEVX_SET(query_issi_out, cmd->out, current_issi, dev->issi);
    DEVX_SET(query_issi_out, cmd->out, supported_issi_dw0,
             (1u << (ISSI_MAX + 1)) - 1);
    return MOCX_OK;
}

static MocxStatus issi_set(MocxDev *dev, MocxCmd *cmd)
{
    uint16_t issi = DEVX_GET(set_issi_in, cmd->in, current_issi);

    if (issi > ISSI_MAX) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_HCA_ISSI,
                        "ISSI %u is not supported", issi);
    }
    dev->issi = issi;
    return MOCX_OK;
}

static MocxStatus hca_init(MocxDev *dev, MocxCmd *cmd)
{
    if (!mocx_pages_ready(dev)) {
        return mocx_bad(dev, cmd, MOCX_NO_RES, SYND_HCA_PAGES,
                        "%u firmware pages of %u", mocx_pages_held(dev),
                        dev->cfg.boot_pages + dev->cfg.init_pages);
    }
    dev->state = MOCX_ST_INITIALIZED;
    mocx_log(dev, MOCX_LOG_INFO, "initialized with %u firmware pages",
             mocx_pages_held(dev));
    return MOCX_OK;
}

static MocxStatus hca_teardown(MocxDev *dev, MocxCmd *cmd)
{
    uint16_t profile = DEVX_GET(teardown_hca_in, cmd->in, profile);

    if (profile > TEARDOWN_PREPARE) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_HCA_PROFILE,
                        "teardown profile %u", profile);
    }
    if (profile == TEARDOWN_PREPARE) {
        return MOCX_OK;     /* the driver writes nic_interface next */
    }
    if (dev->verify && profile == TEARDOWN_GRACEFUL) {
        mocx_verify_teardown(dev);
    }
    mocx_objects_reset(dev);
    mocx_vport_reset(dev);
    mocx_pages_release(dev);
    dev->state = MOCX_ST_ENABLED;
    return MOCX_OK;
}

static MocxStatus adapter_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *block = DEVX_ADDR_OF(query_adapter_out, cmd->out,
                                  query_adapter_struct);

    (void)dev;
    DEVX_SET(query_adapter_param_block, block, ieee_vendor_id, IEEE_VENDOR_ID);
    DEVX_SET(query_adapter_param_block, block, vsd_vendor_id, 0x15b3);
    memcpy(DEVX_ADDR_OF(query_adapter_param_block, block, vsd_contd_psid),
           PSID, sizeof(PSID) - 1);
    return MOCX_OK;
}

static MocxStatus nop(MocxDev *dev, MocxCmd *cmd)
{
    (void)dev;
    (void)cmd;
    return MOCX_OK;
}

#define UP (MOCX_ST_ENABLED | MOCX_ST_INITIALIZED)

static const MocxCmdRow rows[] = {
    MOCX_ROW(ENABLE_HCA, enable_hca, MOCX_ST_POWER_ON, hca_enable),
    MOCX_ROW(DISABLE_HCA, disable_hca, UP, hca_disable),
    MOCX_ROW(QUERY_ISSI, query_issi, UP, issi_query),
    MOCX_ROW(SET_ISSI, set_issi, MOCX_ST_ENABLED, issi_set),
    /* Without the software owner ID, as before it was invented. */
    { MLX5_CMD_OP_INIT_HCA, "INIT_HCA", 16, 8, MOCX_ST_ENABLED, hca_init,
      "init_hca" },
    MOCX_ROW(TEARDOWN_HCA, teardown_hca, MOCX_ST_INITIALIZED, hca_teardown),
    MOCX_ROW(QUERY_ADAPTER, query_adapter, UP, adapter_query),
    MOCX_ROW(NOP, nop, MOCX_ST_ANY, nop),
};

const MocxCmdRows mocx_rows_hca = { rows, sizeof(rows) / sizeof(rows[0]) };
