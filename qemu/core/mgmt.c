// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers of the device's management: which of them there are (MCAM), and
 * what firmware it runs (MCQS, MCQI).  There is one component, and no update.
 */
#include <stdio.h>

#include "dev.h"
#include "reg.h"

#define COMPONENT           0       /* the only index */
#define BOOT_IMAGE          1       /* fw.c: MCQS_IDENTIFIER_BOOT_IMG */
#define INFO_VERSION        1       /* fw.c: MCQI_INFO_TYPE_VERSION */
#define FIRST_128_REGS      0       /* mlx5/device.h: MLX5_MCAM_REGS_* */

MocxStatus mocx_mcam_read(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    uint8_t group = DEVX_GET(mcam_reg, in, access_reg_group);

    (void)dev;
    DEVX_SET(mcam_reg, out, feature_group,
             DEVX_GET(mcam_reg, in, feature_group));
    DEVX_SET(mcam_reg, out, access_reg_group, group);
    if (group == FIRST_128_REGS) {
        DEVX_SET(mcam_reg, out, mng_access_reg_cap_mask.access_regs.mcqi, 1);
        DEVX_SET(mcam_reg, out, mng_access_reg_cap_mask.access_regs.mcqs, 1);
    }
    return MOCX_OK;
}

MocxStatus mocx_mcqs_read(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    (void)dev;
    if (DEVX_GET(mcqs_reg, in, component_index) != COMPONENT) {
        return MOCX_BAD_PARAM;
    }
    DEVX_SET(mcqs_reg, out, last_index_flag, 1);
    DEVX_SET(mcqs_reg, out, identifier, BOOT_IMAGE);
    return MOCX_OK;
}

/* What is stored is what runs, so the pending bit makes no difference. */
MocxStatus mocx_mcqi_read(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    uint8_t *version = DEVX_ADDR_OF(mcqi_reg, out, data);
    char text[DEVX_FLD_SZ_BYTES(mcqi_version, version_string)];
    int len;

    (void)dev;
    if (DEVX_GET(mcqi_reg, in, component_index) != COMPONENT ||
        DEVX_GET(mcqi_reg, in, info_type) != INFO_VERSION) {
        return MOCX_BAD_PARAM;
    }
    DEVX_SET(mcqi_reg, out, read_pending_component,
             DEVX_GET(mcqi_reg, in, read_pending_component));
    DEVX_SET(mcqi_reg, out, info_type, INFO_VERSION);
    DEVX_SET(mcqi_reg, out, info_size, DEVX_ST_SZ_BYTES(mcqi_version));
    DEVX_SET(mcqi_reg, out, data_size, DEVX_ST_SZ_BYTES(mcqi_version));
    DEVX_SET(mcqi_version, version, version,
             MOCX_FW_MAJOR << 24 | MOCX_FW_MINOR << 16 | MOCX_FW_SUBMINOR);
    len = snprintf(text, sizeof(text), "%d.%d.%04d", MOCX_FW_MAJOR,
                   MOCX_FW_MINOR, MOCX_FW_SUBMINOR);
    DEVX_SET(mcqi_version, version, version_string_length, len);
    memcpy(DEVX_ADDR_OF(mcqi_version, version, version_string), text, len);
    return MOCX_OK;
}
