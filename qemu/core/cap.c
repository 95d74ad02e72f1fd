// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Capabilities.  What a row does not name is zero, and what is not implemented
 * has no row: a driver uses what it finds here and nothing else.  (What the
 * vendor's driver uses without asking is named where it is implemented.)
 */
#include "cap.h"
#include "dev.h"
#include "heap.h"

#define SYND_CAP_TYPE       0xca900001u
#define SYND_CAP_VALUE      0xca900002u
#define SYND_CAP_MODE       0xca900003u

/**
 * struct CapRow - one field
 * @type: MocxCapType
 * @off: first bit in the capability
 * @bits: width
 * @value: what is offered, unless @cfg_size says otherwise
 * @card: what is offered instead when the profile of a card is on
 * @cfg_off: offset in MocxConfig of the field that is offered instead
 * @cfg_size: its bytes; 0: @value is offered
 * @off_at_first: current value is 0 until the driver sets it
 * @name: of the field, for the log
 */
typedef struct CapRow {
    uint8_t type;
    uint16_t off;
    uint8_t bits;
    uint32_t value, card;
    uint8_t cfg_off, cfg_size;
    bool off_at_first;
    const char *name;
} CapRow;

#define ROW2(t, s, f, v, c) \
    { .type = (t), .off = __devx_bit_off(s, f), .bits = __devx_bit_sz(s, f), \
      .value = (v), .card = (c), .name = #f }
#define ROW(t, s, f, v) ROW2(t, s, f, v, v)
#define ROW_CFG(t, s, f, c) \
    { .type = (t), .off = __devx_bit_off(s, f), .bits = __devx_bit_sz(s, f), \
      .cfg_off = offsetof(MocxConfig, c), \
      .cfg_size = sizeof(((MocxConfig *)0)->c), .name = #f }

#define GEN(f, v)       ROW(MOCX_CAP_GENERAL, cmd_hca_cap, f, v)
#define GEN_CARD(f, c)  ROW2(MOCX_CAP_GENERAL, cmd_hca_cap, f, 0, c)
#define GEN_CFG(f, c)   ROW_CFG(MOCX_CAP_GENERAL, cmd_hca_cap, f, c)
#define ETH(f, v) \
    ROW(MOCX_CAP_ETHERNET, per_protocol_networking_offload_caps, f, v)
#define ATOMIC(f, v)    ROW(MOCX_CAP_ATOMIC, atomic_caps, f, v)
#define ROCE(f, v)      ROW(MOCX_CAP_ROCE, roce_cap, f, v)

#define NIC_RX(s, f) \
    (__devx_bit_off(flow_table_nic_cap, flow_table_properties_nic_receive) + \
     (s) + (f))
#define FT(f, v) \
    { .type = MOCX_CAP_FLOW_TABLE, \
      .off = NIC_RX(0, __devx_bit_off(flow_table_prop_layout, f)), \
      .bits = __devx_bit_sz(flow_table_prop_layout, f), \
      .value = (v), .card = (v), .name = #f }
#define FT_MATCH(f) \
    { .type = MOCX_CAP_FLOW_TABLE, \
      .off = NIC_RX(__devx_bit_off(flow_table_prop_layout, ft_field_support), \
                    __devx_bit_off(flow_table_fields_supported, f)), \
      .bits = 1, .value = 1, .card = 1, .name = #f }

static const CapRow caps[] = {
    /* What kind of device */
    GEN(port_type, 1),                      /* Ethernet */
    GEN(num_ports, 1),
    GEN(eth_net_offloads, 1),
    GEN(nic_flow_table, 1),
    GEN(roce, 1),
    GEN(rc, 1),
    GEN(uc, 1),
    GEN(ud, 1),
    GEN(xrc, 1),            /* mlx5_ib does not load without */
    GEN(atomic, 1),
    GEN(vport_counters, 1), /* mlx5_ib sends MAD_IFC without */
    GEN(mcam_reg, 1),       /* the firmware's version, for devlink */
    GEN(cqe_version, 1),
    GEN(cq_oi, 1),
    GEN(cq_resize, 1),
    GEN(cq_moderation, 1),
    GEN(cq_period_mode_modify, 1),
    GEN(imaicl, 1),         /* memory windows */
    GEN(umr_fence, 2),      /* none is needed: WQEs run in order */
    GEN(force_teardown, 1), /* at shutdown */
    GEN(device_frequency_khz, MOCX_TIMER_KHZ),
    GEN(log_pg_sz, 12),
    GEN(log_bf_reg_size, 9),
    GEN(local_ca_ack_delay, 16),

    /* Limits */
    GEN_CFG(log_max_qp, log_max_qp),
    GEN_CFG(log_max_qp_sz, log_max_qp_sz),
    GEN_CFG(log_max_cq, log_max_cq),
    GEN_CFG(log_max_cq_sz, log_max_cq_sz),
    GEN_CFG(log_max_srq, log_max_srq),
    GEN_CFG(log_max_srq_sz, log_max_qp_sz),
    GEN_CFG(log_max_rmp, log_max_srq),
    GEN_CFG(log_max_mkey, log_max_mkey),
    GEN_CFG(log_max_pd, log_max_pd),
    GEN(log_max_xrcd, MOCX_LOG_MAX_XRCD),
    GEN(log_max_eq, MOCX_LOG_MAX_EQ),
    GEN(max_num_eqs, 1u << MOCX_LOG_MAX_EQ),
    GEN(log_max_eq_sz, 20),
    GEN(log_max_klm_list_size, MOCX_LOG_MAX_KLM_LIST),
    GEN(log_max_msg, MOCX_LOG_MAX_MSG),
    GEN(log_max_ra_req_qp, MOCX_LOG_MAX_RD_ATOMIC),
    GEN(log_max_ra_res_qp, MOCX_LOG_MAX_RD_ATOMIC),
    GEN(log_max_transport_domain, MOCX_LOG_MAX_TD),
    GEN(log_max_rq, MOCX_LOG_MAX_RQ),
    GEN(log_max_sq, MOCX_LOG_MAX_SQ),
    GEN(log_max_tir, MOCX_LOG_MAX_TIR),
    GEN(log_max_tis, MOCX_LOG_MAX_TIS),
    GEN(log_max_rqt, MOCX_LOG_MAX_RQT),
    GEN(log_max_rqt_size, MOCX_LOG_MAX_RQT_SIZE),
    GEN(log_max_wq_sz, 15),
    GEN(max_wqe_sz_sq, MOCX_MAX_WQE_SZ_SQ),
    GEN(max_wqe_sz_rq, MOCX_MAX_WQE_SZ_RQ),
    GEN(log_max_current_uc_list, MOCX_LOG_MAX_MAC_LIST),
    GEN(log_max_current_mc_list, MOCX_LOG_MAX_MAC_LIST),
    GEN(log_max_vlan_list, 12),
    GEN(block_lb_mc, 1),
    GEN(log_max_mcg, MOCX_LOG_MAX_MCG),
    GEN(max_qp_mcg, MOCX_MAX_QP_MCG),

    /* Q counters, as far as the transport fills them */
    GEN(max_qp_cnt, MOCX_MAX_Q_COUNTERS),
    GEN(out_of_seq_cnt, 1),
    GEN(retransmission_q_counters, 1),
    GEN(enhanced_error_q_counters, 1),

    /* The profile of a card */
    GEN_CARD(terminate_scatter_list_mkey, 1),
    GEN_CARD(relaxed_ordering_write, 1),
    GEN_CARD(relaxed_ordering_read, 1),
    GEN_CARD(relaxed_ordering_write_umr, 1),
    GEN_CARD(relaxed_ordering_read_umr, 1),
    GEN_CARD(eswitch_manager, 1),           /* mlx5_core's MPFS asks for it */
    GEN_CARD(log_max_l2_table, MOCX_LOG_MAX_L2_TABLE),
    GEN_CARD(sq_ts_format, MOCX_TS_CAP_REAL_TIME),
    GEN_CARD(rq_ts_format, MOCX_TS_CAP_REAL_TIME),

    ETH(csum_cap, 1),
    ETH(vlan_cap, 1),
    ETH(self_lb_en_modifiable, 1),
    ETH(max_lso_cap, 16),
    ETH(wqe_inline_mode, 2),                /* none is needed */
    ETH(rss_ind_tbl_cap, 8),

    /* 8 bytes, answered in the order of the host (mlx5_ib: get_atomic_caps) */
    ATOMIC(atomic_operations, 3),           /* compare-swap, fetch-add */
    ATOMIC(atomic_size_qp, 1 << 3),
    ATOMIC(supported_atomic_req_8B_endianness_mode_1, 1),
    { .type = MOCX_CAP_ATOMIC,
      .off = __devx_bit_off(atomic_caps, atomic_req_8B_endianness_mode),
      .bits = __devx_bit_sz(atomic_caps, atomic_req_8B_endianness_mode),
      .value = 1, .card = 1, .off_at_first = true,
      .name = "atomic_req_8B_endianness_mode" },

    ROW2(MOCX_CAP_ROCE, roce_cap, qp_ts_format, 0, MOCX_TS_CAP_BOTH),
    ROCE(l3_type, 6),                       /* IPv4 and IPv6 */
    ROCE(roce_version, 5),                  /* v1 and v2 */
    ROCE(r_roce_dest_udp_port, 4791),
    ROCE(r_roce_max_src_udp_port, 0xffff),
    ROCE(r_roce_min_src_udp_port, 0xc000),
    ROW_CFG(MOCX_CAP_ROCE, roce_cap, roce_address_table_size, roce_addresses),

    FT(ft_support, 1),
    FT(modify_root, 1),
    FT(log_max_ft_size, 16),
    FT(max_ft_level, 64),
    FT(log_max_ft_num, 8),
    FT(log_max_destination, 8),
    FT(log_max_flow, 20),
    FT_MATCH(outer_dmac),
    FT_MATCH(outer_ether_type),
    FT_MATCH(outer_ip_version),
    FT_MATCH(outer_first_vid),
    FT_MATCH(outer_sip),
    FT_MATCH(outer_dip),
    FT_MATCH(outer_ip_protocol),
    FT_MATCH(outer_udp_sport),
    FT_MATCH(outer_udp_dport),
    FT_MATCH(outer_tcp_sport),
    FT_MATCH(outer_tcp_dport),
};

#define NUM_CAPS (sizeof(caps) / sizeof(caps[0]))

struct MocxCaps {
    uint32_t max[NUM_CAPS];
    uint32_t cur[NUM_CAPS];
};

/* Fields do not cross a dword. */

static uint32_t bits_get(const uint8_t *p, const CapRow *row)
{
    uint32_t dword = mocx_get_be32(p + row->off / 32 * 4);
    unsigned shift = 32 - row->bits - row->off % 32;

    return dword >> shift & __devx_mask(row->bits);
}

static void bits_set(uint8_t *p, const CapRow *row, uint32_t value)
{
    uint8_t *at = p + row->off / 32 * 4;
    unsigned shift = 32 - row->bits - row->off % 32;
    uint32_t mask = __devx_mask(row->bits) << shift;

    mocx_put_be32(at, (mocx_get_be32(at) & ~mask) | (value << shift & mask));
}

static uint32_t offered(const MocxConfig *cfg, const CapRow *row)
{
    const char *p = (const char *)cfg + row->cfg_off;

    if (!row->cfg_size) {
        return cfg->card ? row->card : row->value;
    }
    return row->cfg_size == 1 ? *(const uint8_t *)p : *(const uint16_t *)p;
}

/* A manager of the e-switch asks what it can do: nothing. */
static bool type_known(const MocxDev *dev, uint8_t type)
{
    if (type == MOCX_CAP_ESWITCH_FLOW_TABLE || type == MOCX_CAP_ESWITCH) {
        return dev->cfg.card;
    }
    for (size_t i = 0; i < NUM_CAPS; i++) {
        if (caps[i].type == type) {
            return true;
        }
    }
    return false;
}

uint32_t mocx_cap(const MocxDev *dev, MocxCapType type, unsigned bit_off)
{
    for (size_t i = 0; i < NUM_CAPS; i++) {
        if (caps[i].type == type && caps[i].off == bit_off) {
            return dev->caps->cur[i];
        }
    }
    return 0;
}

bool mocx_ts_format_ok(uint32_t cap, uint32_t format)
{
    switch (cap) {
    case MOCX_TS_CAP_REAL_TIME:
        return format == MOCX_TS_DEFAULT || format == MOCX_TS_REAL_TIME;
    case MOCX_TS_CAP_BOTH:
        return format <= MOCX_TS_REAL_TIME;
    default:
        return format == MOCX_TS_FREE_RUNNING;
    }
}

/* Commands: op_mod is type << 1, with bit 0 set for the current values. */

static MocxStatus type_check(MocxDev *dev, MocxCmd *cmd)
{
    if (!type_known(dev, cmd->op_mod >> 1)) {
        return mocx_unknown(dev, cmd, MOCX_BAD_PARAM, SYND_CAP_TYPE,
                            "capability type", cmd->op_mod >> 1);
    }
    return MOCX_OK;
}

static MocxStatus cap_query(MocxDev *dev, MocxCmd *cmd)
{
    uint8_t *out = DEVX_ADDR_OF(query_hca_cap_out, cmd->out, capability);
    const uint32_t *values = cmd->op_mod & 1 ? dev->caps->cur
                             : dev->caps->max;
    MocxStatus status = type_check(dev, cmd);

    for (size_t i = 0; !status && i < NUM_CAPS; i++) {
        if (caps[i].type == cmd->op_mod >> 1) {
            bits_set(out, &caps[i], values[i]);
        }
    }
    return status;
}

/*
 * What a driver may choose: all of the general type, of the others only what
 * is off until it does (mlx5_core sends the atomic type with nothing else
 * filled in).
 */
static bool row_is_set(const CapRow *row, const MocxCmd *cmd)
{
    return row->type == cmd->op_mod >> 1 &&
           (row->type == MOCX_CAP_GENERAL || row->off_at_first);
}

/* All is checked before any is stored. */
static MocxStatus cap_set(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *in = DEVX_ADDR_OF(set_hca_cap_in, cmd->in, capability);
    MocxStatus status = type_check(dev, cmd);

    if (!status && cmd->op_mod & 1) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_CAP_MODE,
                        "only maximal values can be set");
    }
    for (size_t i = 0; !status && i < NUM_CAPS; i++) {
        if (row_is_set(&caps[i], cmd) &&
            bits_get(in, &caps[i]) > dev->caps->max[i]) {
            status = mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_CAP_VALUE,
                              "%s: %u is above %u", caps[i].name,
                              bits_get(in, &caps[i]), dev->caps->max[i]);
        }
    }
    for (size_t i = 0; !status && i < NUM_CAPS; i++) {
        if (row_is_set(&caps[i], cmd)) {
            dev->caps->cur[i] = bits_get(in, &caps[i]);
        }
    }
    return status;
}

#define UP (MOCX_ST_ENABLED | MOCX_ST_INITIALIZED)

static const MocxCmdRow rows[] = {
    MOCX_ROW(QUERY_HCA_CAP, query_hca_cap, UP, cap_query),
    MOCX_ROW(SET_HCA_CAP, set_hca_cap, MOCX_ST_ENABLED, cap_set),
};

const MocxCmdRows mocx_rows_cap = { rows, sizeof(rows) / sizeof(rows[0]) };

/* Life cycle */

void mocx_caps_reset(MocxDev *dev)
{
    for (size_t i = 0; i < NUM_CAPS; i++) {
        dev->caps->max[i] = offered(&dev->cfg, &caps[i]);
        dev->caps->cur[i] = caps[i].off_at_first ? 0 : dev->caps->max[i];
    }
}

static bool cap_create(MocxDev *dev)
{
    dev->caps = mocx_calloc(&dev->heap, 1, sizeof(*dev->caps));
    return dev->caps;
}

static void cap_destroy(MocxDev *dev)
{
    mocx_free(dev->caps);
    dev->caps = NULL;
}

const MocxModule mocx_mod_cap = {
    .name = "cap",
    .create = cap_create,
    .reset = mocx_caps_reset,
    .destroy = cap_destroy,
};
