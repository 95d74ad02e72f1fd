/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ethernet: frames in, frames out, and what decides where they go. */
#include "core/dev.h"
#include "ethframe.h"
#include "step.h"

#define INLINE_MAX      128

static void build(EthFrame *f, Bed *bed, Bytes *b)
{
    static const uint8_t protos[] = { 6, 17, 6, 1 };
    uint8_t how = bytes_u8(b), more = bytes_u8(b);
    EthSpec spec = {
        .ipv6 = how & 1, .proto = protos[how >> 1 & 3],
        .num_tags = how >> 3 & 3, .tcp_flags = more,
        .tag = { 0x81000001, 0x88a80002, 0x81000003 },
        .sport = bytes_u8(b), .dport = bytes_u8(b),
        .payload = bytes_u8(b) * (how & 0x20 ? 32 : 1),
        .last_ip = more & 1 ? 0x0a000000 + more : 0,
    };

    eth_build(f, &spec);
    if (how & 0x80) {
        memset(f->b, 0xff, 6);
    } else if (how & 0x40) {
        f->b[0] |= 1;
    } else {
        memcpy(f->b, bed->h->cfg.mac, MOCX_MAC_LEN);
    }
}

void step_frame(Bed *bed, Bytes *b)
{
    uint8_t cut = bytes_u8(b);
    EthFrame f;
    size_t len;

    build(&f, bed, b);
    len = cut > 200 ? f.len - f.len * (cut - 200) / 64 : f.len;
    bytes_spoil(b, f.b, f.len);
    bytes_spoil(b, f.b, f.len);
    bytes_spoil(b, f.b, f.len < 64 ? f.len : 64);
    bed_in(bed, f.b, len < 60 ? 60 : len);
}

/* What a WQE leaves in the ring of an SQ. */
static void spoil_wqe(DrvSq *sq, uint16_t index, Bytes *b)
{
    uint32_t mask = (1u << sq->log_size) - 1;
    uint8_t *wqe = gpa_ptr(sq->d->h, sq->buf + (index & mask) * 64);
    size_t len = (mask + 1 - (index & mask)) * 64;

    len = len < 128 ? len : 128;
    bytes_spoil(b, wqe, len);
    bytes_spoil(b, wqe, len);
    memcpy(&sq->last_ctrl, wqe, sizeof(sq->last_ctrl));
}

void step_eth_send(Bed *bed, Bytes *b)
{
    static const uint8_t opcodes[] = {
        MLX5_OPCODE_SEND, MLX5_OPCODE_TSO, MLX5_OPCODE_SEND, MLX5_OPCODE_NOP,
    };
    uint8_t how = bytes_u8(b), flags = bytes_u8(b);
    DrvSq *sq = bed->sq[how & 1];
    DrvEthWr wr = {
        .opcode = opcodes[how >> 1 & 3], .unsignaled = how & 8,
        .cs_flags = flags, .mss = bytes_u8(b) * 16,
        .num_sge = how >> 4 & 3, .tag = how & 0x80 ? 0x81000005 : 0,
    };
    uint8_t key = bytes_u8(b), va = bytes_u8(b), size = bytes_u8(b);
    uint16_t index;
    EthFrame f;

    build(&f, bed, b);
    f.len = f.data;
    bytes_spoil(b, f.b, f.len);
    wr.hdr = f.b;
    wr.hdr_len = wr.tag ? 0 : how & 0x40 ? 18 : f.len;
    for (unsigned i = 0; i < wr.num_sge; i++) {
        wr.sge[i] = (DrvSge) { pick_va(va + i * 16), pick_key(bed, key),
                               (size + i) * (flags & 1 ? 64 : 1) };
    }
    index = drv_sq_post(sq, &wr);
    spoil_wqe(sq, index, b);
    drv_sq_ring(sq);
}

/* Fields of a mask and of a value, by bits of the input. */
static void put_match(uint8_t *m, uint16_t which, uint8_t value)
{
    uint32_t v = value;

    if (which & 0x001) {
        DEVX_SET(fte_match_set_lyr_2_4, m, dmac_47_16, v << 24 | v);
    }
    if (which & 0x002) {
        DEVX_SET(fte_match_set_lyr_2_4, m, ethertype, value == 0xff ? 0xffff
                 : value & 1 ? 0x86dd : 0x0800);
    }
    if (which & 0x004) {
        DEVX_SET(fte_match_set_lyr_2_4, m, ip_protocol, value);
    }
    if (which & 0x008) {
        DEVX_SET(fte_match_set_lyr_2_4, m, ip_version, value);
    }
    if (which & 0x010) {
        DEVX_SET(fte_match_set_lyr_2_4, m, tcp_dport, v << 8 | v);
    }
    if (which & 0x020) {
        DEVX_SET(fte_match_set_lyr_2_4, m, udp_dport, v << 8 | v);
    }
    if (which & 0x040) {
        DEVX_SET(fte_match_set_lyr_2_4, m, cvlan_tag, value & 1);
        DEVX_SET(fte_match_set_lyr_2_4, m, first_vid, value);
    }
    if (which & 0x080) {
        DEVX_SET(fte_match_set_lyr_2_4, m, tcp_flags, value);
    }
}

static void new_group(Bed *bed, Bytes *b)
{
    uint32_t id, start = bytes_u8(b) % 20;
    DrvFg fg;

    drv_fg_init(&fg, pick_object(bed, MOCX_OBJ_FLOW_TABLE, bytes_u8(b)), start,
                start + bytes_u8(b) % 8);
    put_match(drv_fg_outer(&fg), bytes_u16(b), 0xff);
    bytes_spoil(b, fg.in + 4, sizeof(fg.in) - 4);
    drv_fg_cmd(bed->d, &fg, &id);
}

static void new_entry(Bed *bed, Bytes *b)
{
    uint8_t table = bytes_u8(b), group = bytes_u8(b), n;
    DrvFte fte;

    drv_fte_init(&fte, pick_object(bed, MOCX_OBJ_FLOW_TABLE, table),
                 pick_object(bed, MOCX_OBJ_FLOW_GROUP, group),
                 bytes_u8(b) % 20);
    n = bytes_u8(b);
    put_match(drv_fte_outer(&fte), bytes_u16(b), bytes_u8(b));
    for (unsigned i = 0; i < n % 4u; i++) {
        unsigned type = n >> (4 + i) & 1 ? MOCX_OBJ_FLOW_TABLE : MOCX_OBJ_TIR;

        drv_fte_dest(&fte, type == MOCX_OBJ_TIR ? 2 : 1,
                     pick_object(bed, type, n + i));
    }
    if (n & 8) {
        drv_fte_count(&fte, pick_object(bed, MOCX_OBJ_FLOW_COUNTER, n));
    }
    n = bytes_u8(b);
    DEVX_SET(set_fte_in, fte.in, op_mod, n % 4 == 1);
    DEVX_SET(set_fte_in, fte.in, modify_enable_mask, n >> 2);
    bytes_spoil(b, fte.in + 4, sizeof(fte.in) / 4);
    drv_fte_cmd(bed->d, &fte);
}

static void new_table(Bed *bed, Bytes *b)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_flow_table_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_flow_table_out)];
    uint8_t *ctx = DEVX_ADDR_OF(create_flow_table_in, in, flow_table_context);

    DEVX_SET(create_flow_table_in, in, opcode, MLX5_CMD_OP_CREATE_FLOW_TABLE);
    DEVX_SET(flow_table_context, ctx, level, bytes_u8(b));
    DEVX_SET(flow_table_context, ctx, log_size, bytes_u8(b) % 8);
    DEVX_SET(flow_table_context, ctx, table_miss_action, bytes_u8(b) % 2);
    DEVX_SET(flow_table_context, ctx, table_miss_id,
             pick_object(bed, MOCX_OBJ_FLOW_TABLE, bytes_u8(b)));
    drv_cmd(bed->d, in, sizeof(in), out, sizeof(out));
}

void step_flow(Bed *bed, Bytes *b)
{
    uint32_t id;

    if (bed->deaf) {
        return;
    }
    switch (bytes_u8(b) % 8) {
    case 0:
        new_table(bed, b);
        break;
    case 1:
        id = pick_object(bed, MOCX_OBJ_FLOW_TABLE, bytes_u8(b));
        drv_ft_set_miss(bed->d, id, pick_object(bed, MOCX_OBJ_FLOW_TABLE,
                                                bytes_u8(b)));
        break;
    case 2:
        drv_ft_destroy(bed->d, pick_object(bed, MOCX_OBJ_FLOW_TABLE,
                                           bytes_u8(b)));
        break;
    case 3:
        id = pick_object(bed, MOCX_OBJ_FLOW_TABLE, bytes_u8(b));
        drv_fte_delete(bed->d, id, bytes_u8(b) % 20);
        break;
    case 4:
    case 5:
        new_group(bed, b);
        break;
    default:
        new_entry(bed, b);
    }
}
