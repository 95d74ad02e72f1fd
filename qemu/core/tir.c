// SPDX-License-Identifier: GPL-2.0-or-later
/* Transport interface receive objects, and RSS. */
#include "heap.h"
#include "tir.h"

#define SYND_TIR_NUMBER 0x0714001u
#define SYND_TIR_DOMAIN 0x0714002u
#define SYND_TIR_LIMIT  0x0714003u
#define SYND_TIR_BUSY   0x0714004u
#define SYND_TIR_TYPE   0x0714005u
#define SYND_TIR_RQ     0x0714006u
#define SYND_TIR_RQT    0x0714007u
#define SYND_TIR_HASH   0x0714008u

enum {                              /* selected_fields */
    FIELD_SRC_IP = 1 << 0, FIELD_DST_IP = 1 << 1,
    FIELD_SPORT = 1 << 2, FIELD_DPORT = 1 << 3,
};

enum { L3_PROT_IPV6 = 1, L4_PROT_UDP = 1 };

MocxTir *mocx_tir_find(MocxDev *dev, uint32_t tirn)
{
    return (MocxTir *)mocx_table_find(&dev->tirs, tirn);
}

/* RSS */

typedef struct HashInput {
    uint8_t bytes[MOCX_TOEPLITZ_INPUT];
    unsigned len;
} HashInput;

/*
 * A symmetric hash replaces a pair by (source or destination, source xor
 * destination): the kernel's RXH_XFRM_SYM_OR_XOR, which is what mlx5 reports.
 * It needs both halves.
 */
static void add_pair(HashInput *in, const uint8_t *pair, unsigned size,
                     bool src, bool dst, bool symmetric)
{
    uint8_t *out = in->bytes + in->len;

    if (src && dst && symmetric) {
        for (unsigned i = 0; i < size; i++) {
            out[i] = pair[i] | pair[size + i];
            out[size + i] = pair[i] ^ pair[size + i];
        }
        in->len += 2 * size;
        return;
    }
    if (src) {
        memcpy(out, pair, size);
        out += size;
        in->len += size;
    }
    if (dst) {
        memcpy(out, pair + size, size);
        in->len += size;
    }
}

/* The L3 type the TIR hashes, as MocxL3. */
static MocxL3 tir_l3(const MocxTir *tir)
{
    unsigned type = DEVX_GET(tirc, tir->ctx,
                             rx_hash_field_selector_outer.l3_prot_type);

    return type == L3_PROT_IPV6 ? MOCX_L3_IPV6 : MOCX_L3_IPV4;
}

static MocxL4 tir_l4(const MocxTir *tir)
{
    unsigned type = DEVX_GET(tirc, tir->ctx,
                             rx_hash_field_selector_outer.l4_prot_type);

    return type == L4_PROT_UDP ? MOCX_L4_UDP : MOCX_L4_TCP;
}

/*
 * Two bits of rss_hash_type per field, what kind of field it was: MocxL3 and
 * MocxL4 are numbered as the CQE has it (mlx5/device.h: CQE_RSS_*).
 */
static uint8_t hash_type(uint8_t kind, bool src, bool dst, unsigned shift)
{
    return (src ? kind << shift : 0) | (dst ? kind << (shift + 2) : 0);
}

static MocxRxHash tir_hash(const MocxTir *tir, const MocxEthPkt *pkt)
{
    bool src = tir->fields & FIELD_SRC_IP, dst = tir->fields & FIELD_DST_IP;
    bool sport = tir->fields & FIELD_SPORT, dport = tir->fields & FIELD_DPORT;
    HashInput in = { .len = 0 };
    MocxRxHash hash = { 0 };
    const uint8_t *addrs;
    size_t addrs_len;

    if (tir->hash_fn == MOCX_HASH_NONE || pkt->l3 == MOCX_L3_NONE ||
        pkt->l3 != tir_l3(tir)) {
        return hash;
    }
    addrs = mocx_eth_addrs(pkt, &addrs_len);
    add_pair(&in, addrs, addrs_len / 2, src, dst, tir->symmetric);
    hash.type = hash_type(pkt->l3, src, dst, 0);
    if ((sport || dport) && pkt->l4 == tir_l4(tir)) {
        add_pair(&in, pkt->data + pkt->l4_off, 2, sport, dport,
                 tir->symmetric);
        hash.type |= hash_type(pkt->l4, sport, dport, 4);
    }
    if (!in.len) {
        return hash;
    }
    hash.value = tir->hash_fn == MOCX_HASH_TOEPLITZ
               ? mocx_toeplitz(tir->key, in.bytes, in.len)
               : mocx_hash_xor8(in.bytes, in.len);
    return hash;
}

void mocx_tir_receive(MocxDev *dev, MocxTir *tir, const MocxEthPkt *pkt,
                      uint32_t flow_tag)
{
    MocxRxHash hash;
    MocxRq *rq = tir->rq;

    if (pkt->looped && pkt->from == tir->tdn && !tir->loopback) {
        return;
    }
    hash = tir_hash(tir, pkt);
    if (tir->rqt) {
        rq = tir->rqt->rqs[hash.value % tir->rqt->size];
    }
    mocx_rq_receive(dev, rq, pkt, &hash, flow_tag);
}

/* Commands */

static MocxTir *tir_of(MocxDev *dev, MocxCmd *cmd, uint32_t tirn)
{
    MocxTir *tir = mocx_tir_find(dev, tirn);

    if (!tir) {
        mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_TIR_NUMBER,
                 "TIR %u does not exist", tirn);
    }
    return tir;
}

static MocxStatus check_tirc(MocxDev *dev, MocxCmd *cmd, const uint8_t *tirc)
{
    uint32_t tdn = DEVX_GET(tirc, tirc, transport_domain);

    if (DEVX_GET(tirc, tirc, disp_type) > MLX5_TIRC_DISP_TYPE_INDIRECT ||
        DEVX_GET(tirc, tirc, tls_en) ||
        DEVX_GET(tirc, tirc, packet_merge_mask) ||
        DEVX_GET(tirc, tirc, tunneled_offload_en)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_TIR_TYPE,
                        "TIR asks for what is not advertised");
    }
    if (DEVX_GET(tirc, tirc, rx_hash_fn) > MOCX_HASH_TOEPLITZ) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_TIR_HASH,
                        "hash function %u", DEVX_GET(tirc, tirc, rx_hash_fn));
    }
    if (!mocx_table_find(&dev->tds, tdn)) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_TIR_DOMAIN,
                        "no transport domain %u", tdn);
    }
    return MOCX_OK;
}

/* Find where the TIR leads to. */
static MocxStatus tir_target(MocxDev *dev, MocxCmd *cmd, MocxTir *tir,
                             const uint8_t *tirc)
{
    uint32_t rqtn = DEVX_GET(tirc, tirc, indirect_table);
    uint32_t rqn = DEVX_GET(tirc, tirc, inline_rqn);

    if (DEVX_GET(tirc, tirc, disp_type) == MLX5_TIRC_DISP_TYPE_INDIRECT) {
        tir->rqt = mocx_rqt_find(dev, rqtn);
        return tir->rqt ? MOCX_OK
                        : mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_TIR_RQT,
                                   "RQT %u of a TIR does not exist", rqtn);
    }
    tir->rq = mocx_rq_find(dev, rqn);
    return tir->rq ? MOCX_OK
                   : mocx_bad(dev, cmd, MOCX_BAD_RES, SYND_TIR_RQ,
                              "RQ %u of a TIR does not exist", rqn);
}

static void tir_set_hash(MocxTir *tir, const uint8_t *tirc)
{
    tir->hash_fn = DEVX_GET(tirc, tirc, rx_hash_fn);
    tir->symmetric = DEVX_GET(tirc, tirc, rx_hash_symmetric);
    tir->fields = DEVX_GET(tirc, tirc,
                           rx_hash_field_selector_outer.selected_fields);
    memcpy(tir->key, DEVX_ADDR_OF(tirc, tirc, rx_hash_toeplitz_key),
           sizeof(tir->key));
}

/*
 * A domain does not hear itself, but others: mlx5_ib turns loopback of the
 * vport on once a second user has a domain (mlx5_ib_enable_lb).  Against its
 * name the field allows: mlx5e sets BLOCK_UNICAST for its loopback test,
 * mlx5_ib for a QP created with TIR_ALLOW_SELF_LB_UC.
 */
static void tir_set_loopback(MocxTir *tir)
{
    tir->loopback = DEVX_GET(tirc, tir->ctx, self_lb_block) &
                    MLX5_TIRC_SELF_LB_BLOCK_BLOCK_UNICAST;
}

static const MocxObjKind tir_kind = {
    .type = MOCX_OBJ_TIR,
    .uses = { offsetof(MocxTir, td), offsetof(MocxTir, rq),
              offsetof(MocxTir, rqt) },
};

static MocxStatus tir_create(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *tirc = DEVX_ADDR_OF(create_tir_in, cmd->in, ctx);
    MocxStatus status = check_tirc(dev, cmd, tirc);
    MocxTir *tir;

    if (status != MOCX_OK) {
        return status;
    }
    tir = mocx_calloc(&dev->heap, 1, sizeof(*tir));
    if (!tir) {
        return MOCX_NO_RES;
    }
    status = tir_target(dev, cmd, tir, tirc);
    if (status != MOCX_OK) {
        mocx_free(tir);
        return status;
    }
    tir->tdn = DEVX_GET(tirc, tirc, transport_domain);
    tir->td = mocx_table_find(&dev->tds, tir->tdn);
    if (!mocx_table_add(&dev->tirs, &tir->obj, &tir_kind)) {
        mocx_free(tir);
        return mocx_bad(dev, cmd, MOCX_LIM_ERR, SYND_TIR_LIMIT, "no TIR left");
    }
    tir_set_hash(tir, tirc);
    memcpy(tir->ctx, tirc, sizeof(tir->ctx));
    tir_set_loopback(tir);
    DEVX_SET(create_tir_out, cmd->out, tirn, tir->obj.id);
    return MOCX_OK;
}

/* The hash part of a context: from rx_hash_symmetric to the inner selector. */
static void copy_hash(uint8_t *to, const uint8_t *from)
{
    DEVX_SET(tirc, to, rx_hash_symmetric,
             DEVX_GET(tirc, from, rx_hash_symmetric));
    DEVX_SET(tirc, to, rx_hash_fn, DEVX_GET(tirc, from, rx_hash_fn));
    memcpy(DEVX_ADDR_OF(tirc, to, rx_hash_toeplitz_key),
           DEVX_ADDR_OF(tirc, from, rx_hash_toeplitz_key),
           MOCX_TOEPLITZ_KEY);
    memcpy(DEVX_ADDR_OF(tirc, to, rx_hash_field_selector_outer),
           DEVX_ADDR_OF(tirc, from, rx_hash_field_selector_outer),
           DEVX_ST_SZ_BYTES(rx_hash_field_select));
}

static MocxStatus tir_modify(MocxDev *dev, MocxCmd *cmd)
{
    const uint8_t *tirc = DEVX_ADDR_OF(modify_tir_in, cmd->in, ctx);
    MocxTir *tir = tir_of(dev, cmd, DEVX_GET(modify_tir_in, cmd->in, tirn));

    if (!tir) {
        return MOCX_BAD_RES;
    }
    if (DEVX_GET(modify_tir_in, cmd->in, bitmask.packet_merge) &&
        DEVX_GET(tirc, tirc, packet_merge_mask)) {
        return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_TIR_TYPE,
                        "TIR asks for what is not advertised");
    }
    if (DEVX_GET(modify_tir_in, cmd->in, bitmask.hash)) {
        if (DEVX_GET(tirc, tirc, rx_hash_fn) > MOCX_HASH_TOEPLITZ) {
            return mocx_bad(dev, cmd, MOCX_BAD_PARAM, SYND_TIR_HASH,
                            "hash function %u",
                            DEVX_GET(tirc, tirc, rx_hash_fn));
        }
        copy_hash(tir->ctx, tirc);
        tir_set_hash(tir, tir->ctx);
    }
    if (DEVX_GET(modify_tir_in, cmd->in, bitmask.self_lb_en)) {
        DEVX_SET(tirc, tir->ctx, self_lb_block,
                 DEVX_GET(tirc, tirc, self_lb_block));
        tir_set_loopback(tir);
    }
    return MOCX_OK;
}

static MocxStatus tir_destroy(MocxDev *dev, MocxCmd *cmd)
{
    MocxTir *tir = tir_of(dev, cmd, DEVX_GET(destroy_tir_in, cmd->in, tirn));

    if (!tir) {
        return MOCX_BAD_RES;
    }
    if (tir->obj.refs) {
        return mocx_bad(dev, cmd, MOCX_BAD_RES_STATE, SYND_TIR_BUSY,
                        "TIR %u is named by %u flows", tir->obj.id,
                        tir->obj.refs);
    }
    mocx_table_drop(dev, &dev->tirs, &tir->obj);
    return MOCX_OK;
}

static MocxStatus tir_query(MocxDev *dev, MocxCmd *cmd)
{
    MocxTir *tir = tir_of(dev, cmd, DEVX_GET(query_tir_in, cmd->in, tirn));

    if (!tir) {
        return MOCX_BAD_RES;
    }
    memcpy(DEVX_ADDR_OF(query_tir_out, cmd->out, tir_context), tir->ctx,
           sizeof(tir->ctx));
    return MOCX_OK;
}

static const MocxCmdRow rows[] = {
    MOCX_ROW(CREATE_TIR, create_tir, MOCX_ST_INITIALIZED, tir_create),
    MOCX_ROW(MODIFY_TIR, modify_tir, MOCX_ST_INITIALIZED, tir_modify),
    MOCX_ROW(DESTROY_TIR, destroy_tir, MOCX_ST_INITIALIZED, tir_destroy),
    MOCX_ROW(QUERY_TIR, query_tir, MOCX_ST_INITIALIZED, tir_query),
    MOCX_ROW(CREATE_TIS, create_tis, MOCX_ST_INITIALIZED, mocx_tis_create),
    MOCX_ROW(MODIFY_TIS, modify_tis, MOCX_ST_INITIALIZED, mocx_tis_modify),
    MOCX_ROW(DESTROY_TIS, destroy_tis, MOCX_ST_INITIALIZED, mocx_tis_destroy),
    MOCX_ROW(QUERY_TIS, query_tis, MOCX_ST_INITIALIZED, mocx_tis_query),
    MOCX_ROW(CREATE_RQT, create_rqt, MOCX_ST_INITIALIZED, mocx_rqt_create),
    MOCX_ROW(MODIFY_RQT, modify_rqt, MOCX_ST_INITIALIZED, mocx_rqt_modify),
    MOCX_ROW(DESTROY_RQT, destroy_rqt, MOCX_ST_INITIALIZED, mocx_rqt_destroy),
    MOCX_ROW(QUERY_RQT, query_rqt, MOCX_ST_INITIALIZED, mocx_rqt_query),
};

const MocxCmdRows mocx_rows_tir = { rows, sizeof(rows) / sizeof(rows[0]) };

static void tir_reset(MocxDev *dev)
{
    mocx_table_clear(dev, &dev->tirs, &tir_kind);
    mocx_table_clear(dev, &dev->rqts, &mocx_rqt_kind);
    mocx_table_clear(dev, &dev->tises, &mocx_tis_kind);
}

const MocxModule mocx_mod_tir = { .name = "tir", .reset = tir_reset };
