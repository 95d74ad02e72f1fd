/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile of a card (card=on): what a driver gets away with on the plain
 * model, and not here.  Each test shows both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/dev.h"
#include "pair.h"

#define LOC_LEN_ERR     0x01
#define LOC_PROT_ERR    0x04

static MocxConfig config(bool card)
{
    MocxConfig cfg;

    mocx_config_default(&cfg);
    cfg.card = card;
    return cfg;
}

/* What the port's switch hands over */

static uint8_t l2_cmd(Drv *d, uint16_t opcode, uint32_t index,
                      const uint8_t *mac)
{
    uint8_t in[DEVX_ST_SZ_BYTES(query_l2_table_entry_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_l2_table_entry_out)];
    size_t len = opcode == MLX5_CMD_OP_SET_L2_TABLE_ENTRY
                 ? DEVX_ST_SZ_BYTES(set_l2_table_entry_in) : sizeof(in);

    DEVX_SET(set_l2_table_entry_in, in, opcode, opcode);
    DEVX_SET(set_l2_table_entry_in, in, table_index, index);
    if (mac) {
        memcpy(DEVX_ADDR_OF(set_l2_table_entry_in, in, mac_address) + 2, mac,
               MOCX_MAC_LEN);
    }
    drv_cmd(d, in, len, out, opcode == MLX5_CMD_OP_QUERY_L2_TABLE_ENTRY
            ? sizeof(out) : 16);
    if (!d->status && opcode == MLX5_CMD_OP_QUERY_L2_TABLE_ENTRY) {
        assert_memory_equal(DEVX_ADDR_OF(query_l2_table_entry_out, out,
                                         mac_address) + 2, mac, MOCX_MAC_LEN);
    }
    return d->status;
}

static Pair *card_pair(bool card)
{
    MocxConfig cfg = config(card);
    Pair *p = pair_new_of(DRV_QP_RC, NULL, &cfg);
    Drv *drv[2] = { p->a.d, p->b.d };

    for (unsigned i = 0; i < 2; i++) {
        drv[i]->h->breaks = true;
        assert_int_equal(l2_cmd(drv[i], MLX5_CMD_OP_SET_L2_TABLE_ENTRY, 0,
                                drv[i]->h->cfg.mac),
                         card ? MOCX_OK : MOCX_BAD_INDEX);
    }
    return p;
}

/* Broken on @h if the model is in verifier mode, and so is no other rule. */
static void assert_named(Host *h, const char *rule, bool broken)
{
    if (h->cfg.strict) {
        assert_int_equal(host_breaches(h, rule) != 0, broken);
        assert_int_equal(host_breaches(h, "total"), host_breaches(h, rule));
    }
}

static uint32_t cap_general(Drv *d, unsigned off)
{
    static uint8_t out[DEVX_ST_SZ_BYTES(query_hca_cap_out)];
    uint8_t in[DEVX_ST_SZ_BYTES(query_hca_cap_in)] = { 0 };

    DEVX_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
    DEVX_SET(query_hca_cap_in, in, op_mod, 1);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return _devx_get(DEVX_ADDR_OF(query_hca_cap_out, out, capability), off,
                     1);
}

#define CAP(d, f) cap_general(d, __devx_bit_off(cmd_hca_cap, f))

/* The key that ends a receive list */

static uint32_t terminator(Drv *d)
{
    uint8_t in[DEVX_ST_SZ_BYTES(query_special_contexts_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_special_contexts_out)];

    DEVX_SET(query_special_contexts_in, in, opcode,
             MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(query_special_contexts_out, out,
                    terminate_scatter_list_mkey);
}

/* 100 bytes for a list of one entry with room for 64, that @end ends. */
static void expect_too_long(Pair *p, DrvSge sge, uint32_t end,
                            unsigned syndrome)
{
    struct mlx5_cqe64 cqe;

    sge.len = 64;
    drv_post_recv(p->b.qp, (DrvSge[]) { sge, { .lkey = end } }, 2);
    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_SEND, .num_sge = 1,
        .sge = { sge_of(&p->a, 0, 100) },
    });
    drv_cq_expect(p->b.rcq, MLX5_CQE_RESP_ERR, syndrome, &cqe);
    pair_reconnect(p, NULL);
}

static DrvSge physical(Side *s)
{
    return (DrvSge) { .addr = gpa_alloc(s->d->h, 64, 64), .lkey = s->d->lkey };
}

static void a_list_ends_with_the_key_that_was_asked_for(void **state)
{
    (void)state;
    for (int card = 0; card < 2; card++) {
        Pair *p = card_pair(card);
        uint32_t end = terminator(p->b.d);

        assert_int_equal(CAP(p->b.d, terminate_scatter_list_mkey), card);
        assert_int_equal(end != MOCX_KEY_TERMINATE, card);
        expect_too_long(p, physical(&p->b), end, LOC_LEN_ERR);
        /* rdma-core's, which cannot ask */
        expect_too_long(p, sge_of(&p->b, 0, 64), MOCX_KEY_TERMINATE,
                        LOC_LEN_ERR);
        assert_named(p->b.d->h, "list-end", false);
        expect_too_long(p, physical(&p->b), MOCX_KEY_TERMINATE,
                        card ? LOC_PROT_ERR : LOC_LEN_ERR);
        assert_named(p->b.d->h, "list-end", card);
        pair_free(p);
    }
}

/* Transitions */

static uint8_t to_rtr(DrvQp *qp, unsigned mtu, unsigned log_msg_max)
{
    uint8_t in[DEVX_ST_SZ_BYTES(init2rtr_qp_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(init2rtr_qp_out)];
    uint8_t *qpc = DEVX_ADDR_OF(init2rtr_qp_in, in, qpc);

    DEVX_SET(init2rtr_qp_in, in, opcode, MLX5_CMD_OP_INIT2RTR_QP);
    DEVX_SET(init2rtr_qp_in, in, qpn, qp->qpn);
    DEVX_SET(qpc, qpc, st, qp->p.type);
    DEVX_SET(qpc, qpc, pm_state, 3);
    DEVX_SET(qpc, qpc, mtu, mtu);
    DEVX_SET(qpc, qpc, log_msg_max, log_msg_max);
    DEVX_SET(qpc, qpc, primary_address_path.vhca_port_num, 1);
    return drv_cmd(qp->d, in, sizeof(in), out, sizeof(out));
}

/* mlx5_ib gives QP1 256 bytes and 2^8, other datagrams and UMR 4096, 2^12. */
static void every_type_goes_to_rtr_with_its_sizes(void **state)
{
    static const uint8_t types[] = { DRV_QP_UMR, DRV_QP_UD, DRV_QP_GSI };

    (void)state;
    for (unsigned i = 0; i < 2 * sizeof(types); i++) {
        bool card = i & 1;
        Pair *p = card_pair(card);
        DrvQp *qp = drv_qp_new(p->a.d, &(DrvQpParams) {
            .type = types[i / 2], .scq = p->a.scq, .rcq = p->a.rcq });

        drv_qp_rst2init(qp, NULL);
        if (card) {
            assert_int_equal(to_rtr(qp, 0, 12), MOCX_BAD_PARAM);
            assert_int_equal(to_rtr(qp, 6, 12), MOCX_BAD_PARAM);
            assert_int_equal(to_rtr(qp, 5, 0), MOCX_BAD_PARAM);
            assert_int_equal(to_rtr(qp, 1, 8), MOCX_OK);
        } else {
            assert_int_equal(to_rtr(qp, 0, 0), MOCX_OK);
        }
        drv_qp_free(qp);
        pair_free(p);
    }
}

#define REG_PMTU    0x5003

static void pmtu(Drv *d, unsigned bytes)
{
    uint8_t in[DEVX_ST_SZ_BYTES(access_register_in) +
               DEVX_ST_SZ_BYTES(pmtu_reg)] = { 0 };
    uint8_t out[sizeof(in)];
    uint8_t *reg = in + DEVX_ST_SZ_BYTES(access_register_in);

    DEVX_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
    DEVX_SET(access_register_in, in, register_id, REG_PMTU);
    DEVX_SET(pmtu_reg, reg, local_port, 1);
    DEVX_SET(pmtu_reg, reg, admin_mtu, bytes);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

/* 2,048 bytes do not pass a port of 1,522. */
static void a_path_fits_the_port(void **state)
{
    (void)state;
    for (int card = 0; card < 2; card++) {
        Pair *p = card_pair(card);
        DrvQp *qp = drv_qp_new(p->a.d, &(DrvQpParams) {
            .scq = p->a.scq, .rcq = p->a.rcq });

        drv_qp_rst2init(qp, NULL);
        pmtu(p->a.d, 2165);
        assert_int_equal(to_rtr(qp, 4, 30), card ? MOCX_BAD_PARAM : MOCX_OK);
        if (card) {
            pmtu(p->a.d, 2166);
            assert_int_equal(to_rtr(qp, 4, 30), MOCX_OK);
        }
        drv_qp_free(qp);
        pair_free(p);
    }
}

/* Translation lists of UMRs */

#define KEY_PAGES   16

typedef struct List {
    uint64_t off;           /* into a page */
    uint16_t first;         /* octword */
    uint16_t octwords;
    uint32_t bytes;         /* of the data segment */
} List;

typedef struct UmrRig {
    Pair *p;
    DrvQp *qp;
    uint32_t key;
    uint64_t page[KEY_PAGES], other;
} UmrRig;

static uint32_t key_new(Drv *d)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_mkey_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_mkey_out)];
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(mkc, mkc, free, 1);
    DEVX_SET(mkc, mkc, umr_en, 1);
    DEVX_SET(mkc, mkc, lw, 1);
    DEVX_SET(mkc, mkc, lr, 1);
    DEVX_SET(mkc, mkc, access_mode_1_0, MOCX_MEM_MTT);
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, pd, d->pdn);
    DEVX_SET(mkc, mkc, log_page_size, 12);
    DEVX_SET(mkc, mkc, translations_octword_size, KEY_PAGES / 2);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(create_mkey_out, out, mkey_index) << 8;
}

/* Entry i of the list is page i of the key; behind it comes another page. */
static void update(UmrRig *r, const List *l)
{
    Host *h = r->p->a.d->h;
    uint64_t list = gpa_alloc(h, 4096, 4096) + l->off;
    uint8_t segs[48 + 64 + 16] = { 0 }, *mkc = segs + 48, *seg = segs + 112;
    struct mlx5_cqe64 cqe;

    for (unsigned i = 0; i < KEY_PAGES; i++) {
        mocx_put_be64(gpa_ptr(h, list + i * 8),
                      (i < l->octwords * 2u ? r->page[l->first * 2 + i]
                       : r->other) | 3);
    }
    segs[0] = 0x10;                     /* at an offset */
    mocx_put_be16(segs + 4, l->octwords);
    mocx_put_be16(segs + 6, l->first);
    mocx_put_be64(segs + 8, 1 | 1 << 6 | 1 << 29);
    DEVX_SET64(mkc, mkc, start_addr, 0);
    DEVX_SET64(mkc, mkc, len, KEY_PAGES * 4096);
    mocx_put_be32(seg, l->bytes);
    mocx_put_be32(seg + 4, r->p->a.d->lkey);
    mocx_put_be64(seg + 8, list);
    drv_post_raw(r->qp, MLX5_OPCODE_UMR, 8, r->key, segs, sizeof(segs));
    drv_ring(r->qp);
    drv_cq_expect(r->p->a.scq, MLX5_CQE_REQ, 0, &cqe);
}

/* First byte of page @i as the key sees it. */
static uint8_t seen(UmrRig *r, unsigned i)
{
    MocxDev *dev = r->p->a.d->h->dev;
    MocxAccess acc = { .pdn = r->p->a.d->pdn, .need = MOCX_LOCAL_READ };
    uint8_t byte = 0;

    host_enter(r->p->a.d->h);
    assert_int_equal(mocx_mem_read(dev, &acc, r->key, i * 4096ull, &byte, 1),
                     MOCX_MEM_OK);
    host_leave(r->p->a.d->h);
    return byte;
}

static void rig_open(UmrRig *r, bool card)
{
    Drv *d;

    *r = (UmrRig) { .p = card_pair(card) };
    d = r->p->a.d;
    r->qp = drv_qp_new(d, &(DrvQpParams) {
        .type = DRV_QP_UMR, .scq = r->p->a.scq, .rcq = r->p->a.rcq });
    drv_qp_ready(r->qp, NULL);
    r->key = key_new(d);
    r->other = gpa_alloc(d->h, 4096, 4096);
    *(uint8_t *)gpa_ptr(d->h, r->other) = 0xee;
    for (unsigned i = 0; i < KEY_PAGES; i++) {
        r->page[i] = gpa_alloc(d->h, 4096, 4096);
        *(uint8_t *)gpa_ptr(d->h, r->page[i]) = i;
    }
    update(r, &(List) { .octwords = 8, .bytes = 128 });
}

static void rig_close(UmrRig *r)
{
    drv_qp_free(r->qp);
    drv_dealloc(r->p->a.d, MLX5_CMD_OP_DESTROY_MKEY, r->key >> 8);
    pair_free(r->p);
}

static void a_list_is_taken_in_whole_units(void **state)
{
    UmrRig r;

    (void)state;
    for (int card = 0; card < 2; card++) {
        rig_open(&r, card);
        update(&r, &(List) { .first = 4, .octwords = 4, .bytes = 64 });
        for (unsigned i = 0; i < KEY_PAGES; i++) {
            assert_int_equal(seen(&r, i), i);
        }
        assert_named(r.p->a.d->h, "translation-list", false);
        /* Five pages: three octwords, and one more in the unit. */
        update(&r, &(List) { .octwords = 3, .bytes = 48 });
        assert_int_equal(seen(&r, 5), 5);
        assert_int_equal(seen(&r, 6), card ? 0xee : 6);
        assert_int_equal(seen(&r, 7), card ? 0xee : 7);
        assert_int_equal(seen(&r, 8), 8);
        assert_named(r.p->a.d->h, "translation-list", card);
        rig_close(&r);
    }
}

static void a_list_is_aligned_as_mlx5_aligns_it(void **state)
{
    static const List bad[] = {
        { .off = 64, .octwords = 4, .bytes = 64 },
        { .off = 1024, .octwords = 4, .bytes = 64 },
        { .first = 2, .octwords = 4, .bytes = 64 },
        { .octwords = 4, .bytes = 56 },
        { .octwords = 4, .bytes = 128 },
    };
    UmrRig r;

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        rig_open(&r, true);
        update(&r, &(List) { .off = 2048, .octwords = 4, .bytes = 64 });
        assert_named(r.p->a.d->h, "translation-list", false);
        update(&r, &bad[i]);
        assert_named(r.p->a.d->h, "translation-list", true);
        rig_close(&r);
    }
}

/* Relaxed ordering of a key */

static void relaxed_ordering_is_kept_where_it_is_offered(void **state)
{
    (void)state;
    for (int card = 0; card < 2; card++) {
        Pair *p = card_pair(card);
        Drv *d = p->a.d;
        uint8_t in[DEVX_ST_SZ_BYTES(create_mkey_in)] = { 0 };
        uint8_t out[DEVX_ST_SZ_BYTES(query_mkey_out)];
        uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
        uint32_t index;

        assert_int_equal(CAP(d, relaxed_ordering_write), card);
        assert_int_equal(CAP(d, relaxed_ordering_read_umr), card);
        DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
        DEVX_SET(mkc, mkc, length64, 1);
        DEVX_SET(mkc, mkc, pd, d->pdn);
        DEVX_SET(mkc, mkc, relaxed_ordering_write, 1);
        assert_int_equal(drv_cmd(d, in, sizeof(in), out, 16),
                         card ? MOCX_OK : MOCX_BAD_PARAM);
        if (card) {
            index = DEVX_GET(create_mkey_out, out, mkey_index);
            memset(in, 0, sizeof(in));
            DEVX_SET(query_mkey_in, in, opcode, MLX5_CMD_OP_QUERY_MKEY);
            DEVX_SET(query_mkey_in, in, mkey_index, index);
            drv_cmd_ok(d, in, DEVX_ST_SZ_BYTES(query_mkey_in), out,
                       sizeof(out));
            mkc = DEVX_ADDR_OF(query_mkey_out, out, memory_key_mkey_entry);
            assert_int_equal(DEVX_GET(mkc, mkc, relaxed_ordering_write), 1);
            assert_int_equal(DEVX_GET(mkc, mkc, relaxed_ordering_read), 0);
            drv_dealloc(d, MLX5_CMD_OP_DESTROY_MKEY, index);
        }
        pair_free(p);
    }
}

static bool arrives(Pair *p)
{
    int64_t before = host_status(p->b.d->h, "port.rx_roce_packets");

    pair_post(&p->a, &(DrvWr) {
        .opcode = MLX5_OPCODE_RDMA_WRITE, .raddr = p->b.mr->va,
        .rkey = p->b.mr->key, .num_sge = 1, .sge = { sge_of(&p->a, 0, 10) },
    });
    world_settle(p->w);
    return host_status(p->b.d->h, "port.rx_roce_packets") != before;
}

static void a_mac_is_received_that_is_in_the_table(void **state)
{
    static const uint8_t group[MOCX_MAC_LEN] = { 0x33, 0x33, 0, 0, 0, 1 };
    static const uint8_t none[MOCX_MAC_LEN];
    Pair *p = card_pair(true);
    Drv *b = p->b.d;
    const uint8_t *mac = b->h->cfg.mac;
    struct mlx5_cqe64 cqe;

    (void)state;
    assert_int_equal(CAP(b, eswitch_manager), 1);
    l2_cmd(p->a.d, MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY, 0, NULL);
    l2_cmd(b, MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY, 0, NULL);
    assert_false(arrives(p));
    assert_int_equal(host_status(b->h, "port.rx_not_in_l2_table"), 1);
    assert_int_equal(l2_cmd(b, MLX5_CMD_OP_SET_L2_TABLE_ENTRY, 128, mac),
                     MOCX_BAD_INDEX);
    assert_int_equal(l2_cmd(b, MLX5_CMD_OP_SET_L2_TABLE_ENTRY, 3, group),
                     MOCX_BAD_PARAM);
    assert_int_equal(l2_cmd(b, MLX5_CMD_OP_SET_L2_TABLE_ENTRY, 127, mac),
                     MOCX_OK);
    assert_int_equal(l2_cmd(b, MLX5_CMD_OP_QUERY_L2_TABLE_ENTRY, 127, mac),
                     MOCX_OK);
    /* Side a has none, and gets no ACK. */
    assert_true(arrives(p));
    assert_int_equal(host_status(p->a.d->h, "port.rx_roce_packets"), 0);
    assert_int_equal(l2_cmd(p->a.d, MLX5_CMD_OP_SET_L2_TABLE_ENTRY, 0,
                            p->a.d->h->cfg.mac), MOCX_OK);
    pair_reconnect(p, NULL);
    assert_true(arrives(p));
    drv_cq_expect(p->a.scq, MLX5_CQE_REQ, 0, &cqe);
    assert_int_equal(l2_cmd(b, MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY, 127, NULL),
                     MOCX_OK);
    assert_int_equal(l2_cmd(b, MLX5_CMD_OP_QUERY_L2_TABLE_ENTRY, 127, none),
                     MOCX_OK);
    assert_false(arrives(p));
    pair_free(p);
    p = card_pair(false);
    assert_int_equal(CAP(p->b.d, eswitch_manager), 0);
    assert_true(arrives(p));
    pair_free(p);
}

static uint8_t vport_modify(Drv *d, bool promisc, unsigned mtu)
{
    uint8_t in[DEVX_ST_SZ_BYTES(modify_nic_vport_context_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(modify_nic_vport_context_out)];

    DEVX_SET(modify_nic_vport_context_in, in, opcode,
             MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT);
    DEVX_SET(modify_nic_vport_context_in, in, field_select.promisc, 1);
    DEVX_SET(modify_nic_vport_context_in, in, nic_vport_context.promisc_uc,
             promisc);
    DEVX_SET(modify_nic_vport_context_in, in, field_select.mtu, !!mtu);
    DEVX_SET(modify_nic_vport_context_in, in, nic_vport_context.mtu, mtu);
    return drv_cmd(d, in, sizeof(in), out, sizeof(out));
}

static void all_macs_are_received_if_asked_for(void **state)
{
    Pair *p = card_pair(true);

    (void)state;
    l2_cmd(p->b.d, MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY, 0, NULL);
    assert_false(arrives(p));
    vport_modify(p->b.d, true, 0);
    assert_true(arrives(p));
    vport_modify(p->b.d, false, 0);
    assert_false(arrives(p));
    pair_free(p);
}

/* A function that is not the only one of its port */

static uint8_t paos(Drv *d, unsigned admin)
{
    uint8_t in[DEVX_ST_SZ_BYTES(access_register_in) +
               DEVX_ST_SZ_BYTES(paos_reg)] = { 0 };
    uint8_t out[sizeof(in)];
    uint8_t *reg = in + DEVX_ST_SZ_BYTES(access_register_in);

    DEVX_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
    DEVX_SET(access_register_in, in, register_id, 0x5006);
    DEVX_SET(paos_reg, reg, local_port, 1);
    DEVX_SET(paos_reg, reg, admin_status, admin);
    DEVX_SET(paos_reg, reg, ase, 1);
    return drv_cmd(d, in, sizeof(in), out, sizeof(out));
}

static void a_foreign_port_is_left_as_it_is(void **state)
{
    (void)state;
    for (int foreign = 0; foreign < 2; foreign++) {
        MocxConfig cfg = config(false);
        World *w;
        Drv *d;

        cfg.foreign_port = foreign;
        w = world_new(1, &cfg);
        d = drv_new(w->host[0]);
        drv_bring_up(d);
        assert_int_equal(paos(d, 2), foreign ? MOCX_BAD_PARAM : MOCX_OK);
        assert_int_equal(d->h->dev->port.admin_up, foreign);
        assert_int_equal(vport_modify(d, false, 9000),
                         foreign ? MOCX_BAD_PARAM : MOCX_OK);
        assert_int_equal(vport_modify(d, true, 0), MOCX_OK);
        drv_tear_down(d);
        drv_free(d);
        world_free(w);
    }
}

/* Queues and tables of the network device */

static uint8_t sq_create(Pair *p, unsigned ts_format, unsigned inline_mode)
{
    Drv *d = p->a.d;
    uint8_t in[DEVX_ST_SZ_BYTES(create_sq_in) + 8] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_sq_out)];
    uint8_t *sqc = DEVX_ADDR_OF(create_sq_in, in, ctx);

    DEVX_SET(create_sq_in, in, opcode, MLX5_CMD_OP_CREATE_SQ);
    DEVX_SET(sqc, sqc, cqn, p->a.scq->cqn);
    DEVX_SET(sqc, sqc, ts_format, ts_format);
    DEVX_SET(sqc, sqc, min_wqe_inline_mode, inline_mode);
    DEVX_SET(sqc, sqc, wq.wq_type, 1);
    DEVX_SET(sqc, sqc, wq.pd, d->pdn);
    DEVX_SET(sqc, sqc, wq.uar_page, d->uar);
    DEVX_SET(sqc, sqc, wq.log_wq_stride, 6);
    DEVX_SET(sqc, sqc, wq.log_wq_sz, 4);
    DEVX_SET64(sqc, sqc, wq.dbr_addr, gpa_alloc(d->h, 64, 64));
    mocx_put_be64(DEVX_ADDR_OF(sqc, sqc, wq) + DEVX_ST_SZ_BYTES(wq),
                  gpa_alloc(d->h, HOST_PAGE, HOST_PAGE));
    if (!drv_cmd(d, in, sizeof(in), out, sizeof(out))) {
        drv_dealloc(d, MLX5_CMD_OP_DESTROY_SQ,
                    DEVX_GET(create_sq_out, out, sqn));
        return MOCX_OK;
    }
    return d->status;
}

static uint8_t rq_create(Pair *p, unsigned ts_format)
{
    Drv *d = p->a.d;
    uint8_t in[DEVX_ST_SZ_BYTES(create_rq_in) + 8] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_rq_out)];
    uint8_t *rqc = DEVX_ADDR_OF(create_rq_in, in, ctx);

    DEVX_SET(create_rq_in, in, opcode, MLX5_CMD_OP_CREATE_RQ);
    DEVX_SET(rqc, rqc, cqn, p->a.rcq->cqn);
    DEVX_SET(rqc, rqc, ts_format, ts_format);
    DEVX_SET(rqc, rqc, wq.wq_type, 1);
    DEVX_SET(rqc, rqc, wq.pd, d->pdn);
    DEVX_SET(rqc, rqc, wq.log_wq_stride, 6);
    DEVX_SET(rqc, rqc, wq.log_wq_sz, 4);
    DEVX_SET64(rqc, rqc, wq.dbr_addr, gpa_alloc(d->h, 64, 64));
    mocx_put_be64(DEVX_ADDR_OF(rqc, rqc, wq) + DEVX_ST_SZ_BYTES(wq),
                  gpa_alloc(d->h, HOST_PAGE, HOST_PAGE));
    if (!drv_cmd(d, in, sizeof(in), out, sizeof(out))) {
        drv_dealloc(d, MLX5_CMD_OP_DESTROY_RQ,
                    DEVX_GET(create_rq_out, out, rqn));
        return MOCX_OK;
    }
    return d->status;
}

static uint8_t qp_create(Pair *p, unsigned ts_format)
{
    Drv *d = p->a.d;
    uint8_t in[DEVX_ST_SZ_BYTES(create_qp_in) + 8] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_qp_out)];
    uint8_t *qpc = DEVX_ADDR_OF(create_qp_in, in, qpc);

    DEVX_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
    DEVX_SET(qpc, qpc, pm_state, 3);
    DEVX_SET(qpc, qpc, pd, d->pdn);
    DEVX_SET(qpc, qpc, ts_format, ts_format);
    DEVX_SET(qpc, qpc, uar_page, d->uar);
    DEVX_SET(qpc, qpc, rq_type, 3);
    DEVX_SET(qpc, qpc, cqn_snd, p->a.scq->cqn);
    DEVX_SET(qpc, qpc, cqn_rcv, p->a.rcq->cqn);
    DEVX_SET(qpc, qpc, log_sq_size, 4);
    DEVX_SET64(qpc, qpc, dbr_addr, gpa_alloc(d->h, 64, 64));
    mocx_put_be64(in + DEVX_ST_SZ_BYTES(create_qp_in),
                  gpa_alloc(d->h, HOST_PAGE, HOST_PAGE));
    if (!drv_cmd(d, in, sizeof(in), out, sizeof(out))) {
        drv_dealloc(d, MLX5_CMD_OP_DESTROY_QP,
                    DEVX_GET(create_qp_out, out, qpn));
        return MOCX_OK;
    }
    return d->status;
}

/* Of a card with real time alone on its Ethernet queues, and both on QPs. */
static void timestamps_have_a_format_that_is_offered(void **state)
{
    static const bool eth[2][4] = { { 1, 0, 0, 0 }, { 0, 1, 1, 0 } };
    static const bool qp[2][4] = { { 1, 0, 0, 0 }, { 1, 1, 1, 0 } };

    (void)state;
    for (int card = 0; card < 2; card++) {
        Pair *p = card_pair(card);

        for (unsigned ts = 0; ts < 4; ts++) {
            assert_int_equal(sq_create(p, ts, 0),
                             eth[card][ts] ? MOCX_OK : MOCX_BAD_PARAM);
            assert_int_equal(rq_create(p, ts),
                             eth[card][ts] ? MOCX_OK : MOCX_BAD_PARAM);
            assert_int_equal(qp_create(p, ts),
                             qp[card][ts] ? MOCX_OK : MOCX_BAD_PARAM);
        }
        pair_free(p);
    }
}

/* wqe_inline_mode is 2: none is required, and none can be set. */
static void an_sq_has_no_inline_mode_of_its_own(void **state)
{
    (void)state;
    for (int card = 0; card < 2; card++) {
        Pair *p = card_pair(card);

        assert_int_equal(sq_create(p, card ? 2 : 0, 1),
                         card ? MOCX_BAD_PARAM : MOCX_OK);
        pair_free(p);
    }
}

static void the_root_of_a_port_is_not_disconnected(void **state)
{
    (void)state;
    for (int card = 0; card < 2; card++) {
        Pair *p = card_pair(card);
        uint8_t in[DEVX_ST_SZ_BYTES(set_flow_table_root_in)] = { 0 };
        uint8_t out[DEVX_ST_SZ_BYTES(set_flow_table_root_out)];

        DEVX_SET(set_flow_table_root_in, in, opcode,
                 MLX5_CMD_OP_SET_FLOW_TABLE_ROOT);
        DEVX_SET(set_flow_table_root_in, in, op_mod, 1);
        assert_int_equal(drv_cmd(p->a.d, in, sizeof(in), out, sizeof(out)),
                         card ? MOCX_BAD_PARAM : MOCX_OK);
        pair_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_ends_with_the_key_that_was_asked_for),
        cmocka_unit_test(every_type_goes_to_rtr_with_its_sizes),
        cmocka_unit_test(a_path_fits_the_port),
        cmocka_unit_test(a_list_is_taken_in_whole_units),
        cmocka_unit_test(a_list_is_aligned_as_mlx5_aligns_it),
        cmocka_unit_test(relaxed_ordering_is_kept_where_it_is_offered),
        cmocka_unit_test(a_mac_is_received_that_is_in_the_table),
        cmocka_unit_test(all_macs_are_received_if_asked_for),
        cmocka_unit_test(a_foreign_port_is_left_as_it_is),
        cmocka_unit_test(timestamps_have_a_format_that_is_offered),
        cmocka_unit_test(an_sq_has_no_inline_mode_of_its_own),
        cmocka_unit_test(the_root_of_a_port_is_not_disconnected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
