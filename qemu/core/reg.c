// SPDX-License-Identifier: GPL-2.0-or-later
/* Device registers behind ACCESS_REG: a row each. */
#include "dev.h"
#include "reg.h"

/* mlx5/driver.h: MLX5_REG_* */
enum {
    REG_PMTU = 0x5003, REG_PTYS = 0x5004, REG_PAOS = 0x5006, REG_PFCC = 0x5007,
    REG_PPCNT = 0x5008, REG_NODE_DESC = 0x6001, REG_HOST_ENDIANNESS = 0x7004,
    REG_MCQS = 0x9060, REG_MCQI = 0x9061, REG_MCAM = 0x907f,
};

#define PTYS_PROTO_ETH      4
#define PAOS_UP             1
#define PAOS_DOWN           2
#define NODE_DESC_BYTES     64
#define CONNECTOR_DA        7       /* mlx5/port.h: direct attached copper */

#define SYND_REG_UNKNOWN    0x2e900001u
#define SYND_REG_READ_ONLY  0x2e900002u
#define SYND_REG_LEN        0x2e900003u
#define SYND_REG_VALUE      0x2e900004u
#define SYND_REG_PORT       0x2e900005u

/* Speeds and the bit that PTYS has for each (mlx5/port.h), copper. */
typedef struct Speed {
    uint32_t mbps;
    uint8_t bit;
} Speed;

static const Speed speeds[] = {
    { 10000, 12 }, { 25000, 27 }, { 40000, 6 }, { 50000, 30 }, { 100000, 20 },
};

static uint32_t speed_bit(uint32_t mbps)
{
    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
        if (speeds[i].mbps == mbps) {
            return 1u << speeds[i].bit;
        }
    }
    return 0;
}

bool mocx_speed_supported(uint32_t mbps)
{
    return speed_bit(mbps);
}

/* A handler reads from @in, its copy of the register, and fills @out. */

static MocxStatus pmtu_read(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    (void)in;
    DEVX_SET(pmtu_reg, out, local_port, 1);
    DEVX_SET(pmtu_reg, out, max_mtu, MOCX_PORT_MTU_MAX);
    DEVX_SET(pmtu_reg, out, admin_mtu, dev->port.admin_mtu);
    DEVX_SET(pmtu_reg, out, oper_mtu, dev->port.admin_mtu);
    return MOCX_OK;
}

static MocxStatus pmtu_write(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    uint16_t mtu = DEVX_GET(pmtu_reg, in, admin_mtu);

    if (!mtu || mtu > MOCX_PORT_MTU_MAX) {
        return MOCX_BAD_PARAM;
    }
    dev->port.admin_mtu = mtu;
    return pmtu_read(dev, in, out);
}

static MocxStatus ptys_read(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    uint32_t bit = speed_bit(dev->cfg.link_speed_mbps);

    if (!(DEVX_GET(ptys_reg, in, proto_mask) & PTYS_PROTO_ETH)) {
        return MOCX_BAD_PARAM;
    }
    DEVX_SET(ptys_reg, out, local_port, 1);
    DEVX_SET(ptys_reg, out, proto_mask, PTYS_PROTO_ETH);
    DEVX_SET(ptys_reg, out, eth_proto_capability, bit);
    DEVX_SET(ptys_reg, out, eth_proto_admin, bit);
    DEVX_SET(ptys_reg, out, eth_proto_oper,
             mocx_port_up(&dev->port) ? bit : 0);
    DEVX_SET(ptys_reg, out, connector_type, CONNECTOR_DA);
    return MOCX_OK;
}

/* There is one speed to choose from. */
static MocxStatus ptys_write(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    if (!(DEVX_GET(ptys_reg, in, eth_proto_admin) &
          speed_bit(dev->cfg.link_speed_mbps))) {
        return MOCX_BAD_PARAM;
    }
    return ptys_read(dev, in, out);
}

static MocxStatus paos_read(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    const MocxPort *port = &dev->port;

    (void)in;
    DEVX_SET(paos_reg, out, local_port, 1);
    DEVX_SET(paos_reg, out, admin_status, port->admin_up ? PAOS_UP : PAOS_DOWN);
    DEVX_SET(paos_reg, out, oper_status,
             mocx_port_up(port) ? PAOS_UP : PAOS_DOWN);
    return MOCX_OK;
}

static MocxStatus paos_write(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    bool was_up = mocx_port_up(&dev->port);
    uint8_t admin = DEVX_GET(paos_reg, in, admin_status);

    if (dev->cfg.foreign_port) {
        return MOCX_BAD_PARAM;
    }
    if (DEVX_GET(paos_reg, in, ase)) {
        if (admin != PAOS_UP && admin != PAOS_DOWN) {
            return MOCX_BAD_PARAM;
        }
        dev->port.admin_up = admin == PAOS_UP;
        mocx_port_changed(dev, was_up);
    }
    return paos_read(dev, in, out);
}

/*
 * Pause and PFC settings are kept and shown; a wire that never loses a frame
 * for lack of buffers has no use for them.
 */
static MocxStatus pfcc_read(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    (void)in;
    DEVX_SET(pfcc_reg, out, local_port, 1);
    DEVX_SET(pfcc_reg, out, pptx, dev->port.pause_tx);
    DEVX_SET(pfcc_reg, out, pprx, dev->port.pause_rx);
    DEVX_SET(pfcc_reg, out, pfctx, dev->port.pfc_tx);
    DEVX_SET(pfcc_reg, out, pfcrx, dev->port.pfc_rx);
    return MOCX_OK;
}

static MocxStatus pfcc_write(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    if (DEVX_GET(pfcc_reg, in, pptx_mask_n) == 0) {
        dev->port.pause_tx = DEVX_GET(pfcc_reg, in, pptx);
        dev->port.pause_rx = DEVX_GET(pfcc_reg, in, pprx);
    }
    dev->port.pfc_tx = DEVX_GET(pfcc_reg, in, pfctx);
    dev->port.pfc_rx = DEVX_GET(pfcc_reg, in, pfcrx);
    return pfcc_read(dev, in, out);
}

static MocxStatus node_desc_read(MocxDev *dev, const uint8_t *in, uint8_t *out)
{
    (void)in;
    memcpy(out, dev->port.node_desc, NODE_DESC_BYTES);
    return MOCX_OK;
}

static MocxStatus node_desc_write(MocxDev *dev, const uint8_t *in,
                                  uint8_t *out)
{
    memcpy(dev->port.node_desc, in, NODE_DESC_BYTES);
    return node_desc_read(dev, in, out);
}

/* Little-endian hosts write 0; nothing here depends on it. */
static MocxStatus host_endianness_write(MocxDev *dev, const uint8_t *in,
                                        uint8_t *out)
{
    (void)dev;
    memcpy(out, in, 16);
    return MOCX_OK;
}

typedef MocxStatus RegFn(MocxDev *dev, const uint8_t *in, uint8_t *out);

typedef struct RegRow {
    uint16_t id;
    uint16_t bytes;         /* the driver may send more, not less */
    const char *name;
    RegFn *read, *write;
    uint16_t more;          /* bytes of the answer behind those */
} RegRow;

static const RegRow regs[] = {
    { REG_PMTU, 16, "PMTU", pmtu_read, pmtu_write },
    { REG_PTYS, 64, "PTYS", ptys_read, ptys_write },
    { REG_PAOS, 16, "PAOS", paos_read, paos_write },
    { REG_PFCC, 32, "PFCC", pfcc_read, pfcc_write },
    { REG_PPCNT, 256, "PPCNT", mocx_ppcnt_read, NULL },
    { REG_NODE_DESC, NODE_DESC_BYTES, "NODE_DESC", node_desc_read,
      node_desc_write },
    { REG_HOST_ENDIANNESS, 16, "HOST_ENDIANNESS", NULL,
      host_endianness_write },
    { REG_MCQS, 16, "MCQS", mocx_mcqs_read, NULL },
    { REG_MCQI, 24, "MCQI", mocx_mcqi_read, NULL,
      .more = DEVX_ST_SZ_BYTES(mcqi_version) },
    { REG_MCAM, 72, "MCAM", mocx_mcam_read, NULL },
};

static const RegRow *reg_row(uint16_t id)
{
    for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
        if (regs[i].id == id) {
            return &regs[i];
        }
    }
    return NULL;
}

static MocxStatus access_run(MocxDev *dev, MocxCmd *cmd, const RegRow *row,
                             RegFn *fn)
{
    size_t head_in = DEVX_ST_SZ_BYTES(access_register_in);
    size_t head_out = DEVX_ST_SZ_BYTES(access_register_out);
    size_t answer = row->bytes + row->more;
    MocxStatus status;

    if (cmd->inlen < head_in + row->bytes ||
        cmd->outlen < head_out + answer) {
        return mocx_bad(dev, cmd, MOCX_BAD_INPUT_LEN, SYND_REG_LEN,
                        "%s of %u and %zu bytes in %u and %u", row->name,
                        row->bytes, answer, cmd->inlen, cmd->outlen);
    }
    cmd->defined = head_out + answer;
    status = fn(dev, cmd->in + head_in, cmd->out + head_out);
    return !status ? status
           : mocx_bad(dev, cmd, status, SYND_REG_VALUE,
                      "%s does not take this", row->name);
}

static MocxStatus reg_access(MocxDev *dev, MocxCmd *cmd)
{
    uint16_t id = DEVX_GET(access_register_in, cmd->in, register_id);
    const RegRow *row = reg_row(id);
    RegFn *fn;

    if (!row) {
        return mocx_unknown(dev, cmd, MOCX_BAD_PARAM, SYND_REG_UNKNOWN,
                            "register", id);
    }
    fn = cmd->op_mod & 1 ? row->read : row->write;
    if (!fn) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_REG_READ_ONLY,
                        "%s cannot be %s", row->name,
                        cmd->op_mod & 1 ? "read" : "written");
    }
    return access_run(dev, cmd, row, fn);
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(ACCESS_REG, access_register,
             MOCX_ST_ENABLED | MOCX_ST_INITIALIZED, reg_access),
};

const MocxCmdRows mocx_rows_reg = { rows, sizeof(rows) / sizeof(rows[0]) };
