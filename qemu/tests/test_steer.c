/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow tables: what the commands refuse, and where packets go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "drveth.h"
#include "ethframe.h"

#define NUM_TIRS        4
#define RX_BUF          512U
#define TO_TABLE        1
#define TO_TIR          2
#define OUTER(p, f, v)  DEVX_SET(fte_match_set_lyr_2_4, p, f, v)

typedef struct Fixture {
    World *w;
    Drv *d;
    DrvCq *cq[NUM_TIRS];        /* one per TIR, so that one knows who got it */
    DrvRq *rq[NUM_TIRS];
    uint32_t tirn[NUM_TIRS];
    uint64_t buf;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->w = world_new(1, NULL);
    f->d = drv_new(f->w->host[0]);
    drv_bring_up(f->d);
    drv_net_up(f->d);
    f->buf = gpa_alloc(f->d->h, RX_BUF, 64);
    for (unsigned i = 0; i < NUM_TIRS; i++) {
        f->cq[i] = drv_cq_new(f->d, 7);
        f->rq[i] = drv_rq_new(f->d, f->cq[i], &(DrvRqParams){ .log_size = 8 });
        f->tirn[i] = drv_tir_direct(f->d, f->rq[i]->rqn);
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;

    for (unsigned i = 0; i < NUM_TIRS; i++) {
        free(f->cq[i]);
        free(f->rq[i]);
    }
    drv_free(f->d);
    world_free(f->w);
    free(f);
    return 0;
}

/* How many copies each TIR got, as decimal digits: 1 is the first one's. */
static unsigned arrive(Fixture *f, const EthFrame *frame)
{
    unsigned got = 0, digit = 1;
    struct mlx5_cqe64 cqe;

    for (unsigned i = 0; i < NUM_TIRS; i++) {
        for (unsigned k = 0; k < 4; k++) {
            drv_rq_post(f->rq[i], &(DrvSge){ f->buf, f->d->lkey, RX_BUF }, 1);
        }
    }
    wire_inject_frame(f->w->wire, 0, f->w->now, frame->b, frame->len);
    world_settle(f->w);
    for (unsigned i = 0; i < NUM_TIRS; i++, digit *= 10) {
        while (drv_cq_poll(f->cq[i], &cqe)) {
            got += digit;
        }
        drv_rq_modify(f->rq[i], MLX5_RQC_STATE_RDY, MLX5_RQC_STATE_RST);
        drv_rq_modify(f->rq[i], MLX5_RQC_STATE_RST, MLX5_RQC_STATE_RDY);
    }
    return got;
}

static unsigned arrive_spec(Fixture *f, const EthSpec *spec)
{
    EthFrame frame;

    eth_build(&frame, spec);
    return arrive(f, &frame);
}

static uint32_t group(Fixture *f, DrvFg *fg)
{
    uint32_t id;

    assert_int_equal(drv_fg_cmd(f->d, fg, &id), 0);
    return id;
}

/* A group that matches all. */
static uint32_t group_all(Fixture *f, uint32_t ft, uint32_t start, uint32_t end)
{
    DrvFg fg;

    drv_fg_init(&fg, ft, start, end);
    return group(f, &fg);
}

static uint32_t table(Fixture *f, unsigned level, uint32_t miss)
{
    return drv_ft_new(f->d, &(DrvFt){ .level = level, .log_size = 16,
                                      .miss = miss });
}

static void entry(Fixture *f, DrvFte *fte)
{
    assert_int_equal(drv_fte_cmd(f->d, fte), 0);
}

/* An entry without criteria. */
static void entry_to(Fixture *f, uint32_t ft, uint32_t fg, uint32_t index,
                     unsigned type, uint32_t id)
{
    DrvFte fte;

    drv_fte_init(&fte, ft, fg, index);
    drv_fte_dest(&fte, type, id);
    entry(f, &fte);
}

/* Where packets go */

/* Every field: a frame that has it and one that has not. */
typedef struct Field {
    const char *name;
    EthSpec yes, no;
    unsigned offset, bits;      /* in fte_match_set_lyr_2_4 */
    uint32_t value;
} Field;

#define FIELD(f) #f, .offset = __devx_bit_off(fte_match_set_lyr_2_4, f), \
    .bits = __devx_bit_sz(fte_match_set_lyr_2_4, f)

static const Field fields[] = {
    { FIELD(dmac_47_16), .value = 0x52540001, .no = { .dmac0 = 0x50 } },
    { FIELD(smac_15_0), .value = 0x0506 },
    { FIELD(ethertype), .value = 0x86dd, .yes = { .ipv6 = true } },
    { FIELD(ip_version), .value = 6, .yes = { .ipv6 = true } },
    { FIELD(ip_protocol), .value = 17, .yes = { .proto = 17 } },
    { FIELD(ip_protocol), .value = 17, .yes = { .proto = 17, .ipv6 = true } },
    { FIELD(cvlan_tag), .value = 1,
      .yes = { .num_tags = 1, .tag = { 0x81000007 } },
      .no = { .num_tags = 1, .tag = { 0x88a80007 } } },
    { FIELD(svlan_tag), .value = 1,
      .yes = { .num_tags = 1, .tag = { 0x88a80007 } },
      .no = { .num_tags = 1, .tag = { 0x81000007 } } },
    { FIELD(first_vid), .value = 7,
      .yes = { .num_tags = 2, .tag = { 0x8100e007, 0x81000008 } },
      .no = { .num_tags = 2, .tag = { 0x81000008, 0x81000007 } } },
    { FIELD(first_prio), .value = 7,
      .yes = { .num_tags = 1, .tag = { 0x8100e007 } },
      .no = { .num_tags = 1, .tag = { 0x81006007 } } },
    { FIELD(ethertype), .value = 0x86dd,
      .yes = { .ipv6 = true, .num_tags = 1, .tag = { 0x81000007 } } },
    { FIELD(tcp_sport), .value = 4000, .yes = { .sport = 4000 } },
    { FIELD(tcp_dport), .value = 4000, .yes = { .dport = 4000, .ipv6 = true },
      .no = { .dport = 4000, .proto = 17, .ipv6 = true } },
    { FIELD(udp_sport), .value = 4000, .yes = { .sport = 4000, .proto = 17 },
      .no = { .sport = 4000 } },
    { FIELD(udp_dport), .value = 4000, .yes = { .dport = 4000, .proto = 17 } },
    { FIELD(tcp_flags), .value = 0x12, .yes = { .tcp_flags = 0x12 } },
    { FIELD(src_ipv4_src_ipv6.ipv4_layout.ipv4), .value = 0x0a010203,
      .yes = { .last_ip = 0x0a010203 } },
    { FIELD(ttl_hoplimit), .value = 64, .no = { .num_tags = 3,
      .tag = { 0x08060000 } } },
    { FIELD(l4_type), .value = 2, .yes = { .proto = 17 } },
};

static void field_put(uint8_t *p, const Field *field, uint32_t value)
{
    unsigned shift = 32 - field->bits - field->offset % 32;
    uint32_t mask = field->bits == 32 ? ~0U : (1U << field->bits) - 1;

    mocx_put_be32(p + field->offset / 32 * 4, (value & mask) << shift);
}

static void every_field_matches_what_it_should(void **state)
{
    Fixture *f = *state;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const Field *field = &fields[i];
        uint32_t ft = table(f, 3, 0), id, all;
        EthSpec no = field->no, yes = field->yes;
        DrvFg fg;
        DrvFte fte;

        print_message("# %s\n", field->name);
        yes.payload = no.payload = 30;
        drv_fg_init(&fg, ft, 0, 9);
        field_put(drv_fg_outer(&fg), field, ~0U);
        id = group(f, &fg);
        all = group_all(f, ft, 10, 10);
        drv_fte_init(&fte, ft, id, 3);
        field_put(drv_fte_outer(&fte), field, field->value);
        drv_fte_dest(&fte, TO_TIR, f->tirn[0]);
        entry(f, &fte);
        entry_to(f, ft, all, 10, TO_TIR, f->tirn[1]);
        drv_ft_root(f->d, ft);
        assert_int_equal(arrive_spec(f, &yes), 1);
        if (memcmp(&no, &yes, sizeof(no))) {
            assert_int_equal(arrive_spec(f, &no), 10);
        }
    }
}

static void frag_and_ipv6_addresses_match(void **state)
{
    Fixture *f = *state;
    uint32_t ft = table(f, 3, 0), id;
    EthFrame frame;
    DrvFg fg;
    DrvFte fte;
    uint8_t *p;

    drv_fg_init(&fg, ft, 0, 9);
    p = drv_fg_outer(&fg);
    OUTER(p, frag, 1);
    memset(DEVX_ADDR_OF(fte_match_set_lyr_2_4, p, dst_ipv4_dst_ipv6), 0xff, 16);
    id = group(f, &fg);
    eth_build(&frame, &(EthSpec){ .ipv6 = true, .payload = 40 });
    frame.b[frame.l3 + 6] = 44;
    drv_fte_init(&fte, ft, id, 0);
    p = drv_fte_outer(&fte);
    OUTER(p, frag, 1);
    memcpy(DEVX_ADDR_OF(fte_match_set_lyr_2_4, p, dst_ipv4_dst_ipv6),
           frame.b + frame.l3 + 24, 16);
    drv_fte_dest(&fte, TO_TIR, f->tirn[0]);
    entry(f, &fte);
    drv_ft_root(f->d, ft);
    assert_int_equal(arrive(f, &frame), 1);
    frame.b[frame.l3 + 39]++;
    assert_int_equal(arrive(f, &frame), 0);
    frame.b[frame.l3 + 39]--;
    frame.b[frame.l3 + 6] = 6;
    assert_int_equal(arrive(f, &frame), 0);
}

static void lowest_index_wins(void **state)
{
    Fixture *f = *state;
    uint32_t ft = table(f, 3, 0);
    uint32_t high = group_all(f, ft, 20, 29), low = group_all(f, ft, 5, 9);

    drv_ft_root(f->d, ft);
    entry_to(f, ft, high, 25, TO_TIR, f->tirn[0]);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 1);
    entry_to(f, ft, high, 29, TO_TIR, f->tirn[3]);
    entry_to(f, ft, high, 20, TO_TIR, f->tirn[1]);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 10);
    entry_to(f, ft, low, 9, TO_TIR, f->tirn[2]);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 100);
    assert_int_equal(drv_fte_delete(f->d, ft, 9), 0);
    assert_int_equal(drv_fte_delete(f->d, ft, 20), 0);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 1);
}

static void miss_goes_on_or_drops(void **state)
{
    Fixture *f = *state;
    uint32_t last = table(f, 9, 0), first = table(f, 3, last);

    entry_to(f, last, group_all(f, last, 0, 0), 0, TO_TIR, f->tirn[0]);
    drv_ft_root(f->d, first);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 1);
    assert_int_equal(drv_ft_set_miss(f->d, first, 0), 0);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 0);
    assert_int_equal(drv_ft_set_miss(f->d, first, last), 0);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 1);
}

static void packet_goes_to_every_destination(void **state)
{
    Fixture *f = *state;
    uint32_t ft = table(f, 3, 0), next = table(f, 4, 0);
    uint32_t all = group_all(f, ft, 0, 0);
    DrvFte fte;

    entry_to(f, next, group_all(f, next, 0, 0), 0, TO_TIR, f->tirn[3]);
    drv_fte_init(&fte, ft, all, 0);
    drv_fte_dest(&fte, TO_TIR, f->tirn[0]);
    drv_fte_dest(&fte, TO_TABLE, next);
    drv_fte_dest(&fte, TO_TIR, f->tirn[1]);
    drv_fte_dest(&fte, TO_TABLE, next);
    entry(f, &fte);
    drv_ft_root(f->d, ft);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 2011);
}

static void entry_can_be_changed_and_drops(void **state)
{
    Fixture *f = *state;
    uint32_t ft = table(f, 3, 0), all = group_all(f, ft, 0, 9);
    DrvFte fte;

    entry_to(f, ft, all, 2, TO_TIR, f->tirn[0]);
    drv_ft_root(f->d, ft);
    drv_fte_init(&fte, ft, all, 2);
    drv_fte_dest(&fte, TO_TIR, f->tirn[1]);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);   /* is there already */
    DEVX_SET(set_fte_in, fte.in, op_mod, 1);
    DEVX_SET(set_fte_in, fte.in, modify_enable_mask, 1 << 2);
    entry(f, &fte);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 10);
    drv_fte_init(&fte, ft, all, 2);
    DEVX_SET(set_fte_in, fte.in, op_mod, 1);
    DEVX_SET(set_fte_in, fte.in, modify_enable_mask, 1);
    DEVX_SET(set_fte_in, fte.in, flow_context.action, 2);
    entry(f, &fte);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 0);
    /* An entry that is not there cannot be changed. */
    DEVX_SET(set_fte_in, fte.in, flow_index, 3);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
}

static void flow_tag_is_in_the_cqe(void **state)
{
    Fixture *f = *state;
    uint32_t ft = table(f, 3, 0), all = group_all(f, ft, 0, 0);
    struct mlx5_cqe64 cqe;
    EthFrame frame;
    DrvFte fte;

    drv_fte_init(&fte, ft, all, 0);
    DEVX_SET(set_fte_in, fte.in, flow_context.flow_tag, 0xabcdef);
    drv_fte_dest(&fte, TO_TIR, f->tirn[0]);
    entry(f, &fte);
    drv_ft_root(f->d, ft);
    eth_build(&frame, &(EthSpec){ .payload = 30 });
    drv_rq_post(f->rq[0], &(DrvSge){ f->buf, f->d->lkey, RX_BUF }, 1);
    wire_inject_frame(f->w->wire, 0, f->w->now, frame.b, frame.len);
    drv_cq_expect(f->cq[0], MLX5_CQE_RESP_SEND, 0, &cqe);
    assert_int_equal(be32toh(cqe.sop_drop_qpn), 0xabcdef);
}

static void counters_count(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(query_flow_counter_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_flow_counter_out) + 16];
    uint8_t *stats = out + DEVX_ST_SZ_BYTES(query_flow_counter_out);
    uint32_t ft = table(f, 3, 0), all = group_all(f, ft, 0, 0), fc;
    DrvFte fte;

    fc = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_FLOW_COUNTER);
    drv_fte_init(&fte, ft, all, 0);
    drv_fte_dest(&fte, TO_TIR, f->tirn[0]);
    drv_fte_count(&fte, fc);
    entry(f, &fte);
    drv_ft_root(f->d, ft);
    for (unsigned i = 0; i < 3; i++) {
        arrive_spec(f, &(EthSpec){ .payload = 46 });
    }
    DEVX_SET(query_flow_counter_in, in, opcode, MLX5_CMD_OP_QUERY_FLOW_COUNTER);
    DEVX_SET(query_flow_counter_in, in, flow_counter_id, fc);
    DEVX_SET(query_flow_counter_in, in, clear, 1);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    assert_int_equal(mocx_get_be64(stats), 3);
    assert_int_equal(mocx_get_be64(stats + 8), 300);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    assert_int_equal(mocx_get_be64(stats), 0);
}

/* As many as a full L2 table, and still the right one is found. */
static void thousands_of_entries_in_one_group(void **state)
{
    enum { N = 5000 };
    Fixture *f = *state;
    uint32_t ft = table(f, 5, 0), id;
    DrvFg fg;
    DrvFte fte;

    drv_fg_init(&fg, ft, 0, 32767);
    OUTER(drv_fg_outer(&fg), tcp_sport, 0xffff);
    id = group(f, &fg);
    drv_ft_root(f->d, ft);
    for (unsigned i = 1; i <= N; i++) {
        drv_fte_init(&fte, ft, id, 32768 - i);
        OUTER(drv_fte_outer(&fte), tcp_sport, i);
        drv_fte_dest(&fte, TO_TIR, f->tirn[i & 1]);
        entry(f, &fte);
    }
    assert_int_equal(host_status(f->d->h, "objects.flow_entries"), N);
    for (unsigned i = 1; i <= N; i += 333) {
        assert_int_equal(arrive_spec(f, &(EthSpec){ .sport = i,
                                                    .payload = 30 }),
                         i & 1 ? 10 : 1);
    }
    assert_int_equal(arrive_spec(f, &(EthSpec){ .sport = N + 1,
                                                .payload = 30 }), 0);
    for (unsigned i = 1; i <= N; i++) {
        assert_int_equal(drv_fte_delete(f->d, ft, 32768 - i), 0);
    }
    assert_int_equal(host_status(f->d->h, "objects.flow_entries"), 0);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .sport = 1, .payload = 30 }),
                     0);
}

/* A tree that doubles at each of 60 levels would never end. */
static void fan_out_is_bounded(void **state)
{
    Fixture *f = *state;
    uint32_t next = table(f, 63, 0);
    DrvFte fte;

    entry_to(f, next, group_all(f, next, 0, 0), 0, TO_TIR, f->tirn[0]);
    for (unsigned level = 62; level > 2; level--) {
        uint32_t ft = table(f, level, 0);

        drv_fte_init(&fte, ft, group_all(f, ft, 0, 0), 0);
        drv_fte_dest(&fte, TO_TABLE, next);
        drv_fte_dest(&fte, TO_TABLE, next);
        entry(f, &fte);
        next = ft;
    }
    drv_ft_root(f->d, next);
    arrive_spec(f, &(EthSpec){ .payload = 30 });
}

/* What is refused */

static void tables_only_lead_to_higher_levels(void **state)
{
    Fixture *f = *state;
    uint32_t low = table(f, 3, 0), same = table(f, 3, 0), high = table(f, 4, 0);
    uint32_t fg_high = group_all(f, high, 0, 9);
    uint32_t fg_low = group_all(f, low, 0, 9);
    DrvFte fte;

    assert_int_not_equal(drv_ft_set_miss(f->d, high, low), 0);
    assert_int_not_equal(drv_ft_set_miss(f->d, low, low), 0);
    assert_int_not_equal(drv_ft_set_miss(f->d, low, same), 0);
    assert_int_equal(drv_ft_set_miss(f->d, low, high), 0);
    drv_fte_init(&fte, high, fg_high, 0);
    drv_fte_dest(&fte, TO_TABLE, low);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    drv_fte_init(&fte, low, fg_low, 0);
    drv_fte_dest(&fte, TO_TABLE, low);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
}

static void bad_groups_are_refused(void **state)
{
    Fixture *f = *state;
    static const uint32_t ranges[][2] = {
        { 0, 4 }, { 7, 9 }, { 5, 6 }, { 0, 15 }, { 10, 16 }, { 9, 8 },
        { 0xffffffff, 0xffffffff }, { 8, 0xffffffff },
    };
    uint32_t ft = drv_ft_new(f->d, &(DrvFt){ .level = 3, .log_size = 4 }), id;
    DrvFg fg;

    group_all(f, ft, 4, 7);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        drv_fg_init(&fg, ft, ranges[i][0], ranges[i][1]);
        assert_int_not_equal(drv_fg_cmd(f->d, &fg, &id), 0);
    }
    drv_fg_init(&fg, ft, 0, 0);         /* inner headers */
    DEVX_SET(create_flow_group_in, fg.in, match_criteria_enable, 4);
    assert_int_not_equal(drv_fg_cmd(f->d, &fg, &id), 0);
    drv_fg_init(&fg, ft, 0, 0);         /* a VXLAN number */
    DEVX_SET(create_flow_group_in, fg.in, match_criteria_enable, 2);
    DEVX_SET(create_flow_group_in, fg.in,
             match_criteria.misc_parameters.vxlan_vni, 1);
    assert_int_not_equal(drv_fg_cmd(f->d, &fg, &id), 0);
    drv_fg_init(&fg, ft + 100, 0, 0);
    assert_int_not_equal(drv_fg_cmd(f->d, &fg, &id), 0);
    drv_fg_init(&fg, ft, 0, 3);
    assert_int_equal(drv_fg_cmd(f->d, &fg, &id), 0);
    drv_fg_init(&fg, ft, 8, 15);
    assert_int_equal(drv_fg_cmd(f->d, &fg, &id), 0);
}

static void bad_entries_are_refused(void **state)
{
    Fixture *f = *state;
    uint32_t ft = table(f, 3, 0), all = group_all(f, ft, 5, 9);
    DrvFte fte;

    drv_fte_init(&fte, ft, all, 4);             /* outside of the group */
    drv_fte_dest(&fte, TO_TIR, f->tirn[0]);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    drv_fte_init(&fte, ft, all + 1, 5);         /* another group */
    drv_fte_dest(&fte, TO_TIR, f->tirn[0]);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    drv_fte_init(&fte, ft, all, 5);             /* no such TIR */
    drv_fte_dest(&fte, TO_TIR, 0xffffff);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    drv_fte_init(&fte, ft, all, 5);             /* a vport */
    drv_fte_dest(&fte, 0, 0);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    drv_fte_init(&fte, ft, all, 5);             /* too many */
    for (unsigned i = 0; i < 257; i++) {
        drv_fte_dest(&fte, TO_TIR, f->tirn[0]);
    }
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    fte.num_dests = 200;                        /* the message is cut */
    DEVX_SET(set_fte_in, fte.in, flow_context.destination_list_size, 250);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    DEVX_SET(set_fte_in, fte.in, flow_context.destination_list_size, 0xffffff);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    drv_fte_init(&fte, ft, all, 5);             /* forward to nowhere */
    DEVX_SET(set_fte_in, fte.in, flow_context.action, 4);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    drv_fte_init(&fte, ft, all, 5);             /* header rewrite */
    drv_fte_dest(&fte, TO_TIR, f->tirn[0]);
    DEVX_SET(set_fte_in, fte.in, flow_context.action, 0x44);
    assert_int_not_equal(drv_fte_cmd(f->d, &fte), 0);
    assert_int_not_equal(drv_fte_delete(f->d, ft, 5), 0);
    assert_int_equal(host_status(f->d->h, "objects.flow_entries"), 0);
    for (unsigned i = 0; i < NUM_TIRS; i++) {   /* nothing holds on to them */
        drv_destroy(f->d, MLX5_CMD_OP_DESTROY_TIR, f->tirn[i]);
    }
}

static void nothing_in_use_is_destroyed(void **state)
{
    Fixture *f = *state;
    uint32_t last = table(f, 9, 0), ft = table(f, 3, last);
    uint32_t all = group_all(f, ft, 0, 9);

    entry_to(f, ft, all, 0, TO_TIR, f->tirn[0]);
    assert_int_not_equal(drv_ft_destroy(f->d, last), 0);
    assert_int_not_equal(drv_ft_destroy(f->d, ft), 0);
    assert_int_not_equal(drv_fg_destroy(f->d, ft, all), 0);
    assert_int_equal(drv_fte_delete(f->d, ft, 0), 0);
    assert_int_not_equal(drv_ft_destroy(f->d, ft), 0);
    assert_int_equal(drv_fg_destroy(f->d, ft, all), 0);
    drv_ft_root(f->d, ft);
    assert_int_equal(drv_ft_destroy(f->d, ft), 0);      /* even as the root */
    assert_int_equal(drv_ft_destroy(f->d, last), 0);
    assert_int_equal(arrive_spec(f, &(EthSpec){ .payload = 30 }), 0);
    assert_int_equal(host_status(f->d->h, "objects.flow_tables"), 0);
    assert_int_equal(host_status(f->d->h, "objects.flow_groups"), 0);
}

static void other_table_types_are_refused(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(create_flow_table_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_flow_table_out)];

    DEVX_SET(create_flow_table_in, in, opcode, MLX5_CMD_OP_CREATE_FLOW_TABLE);
    for (unsigned type = 1; type < 12; type++) {
        DEVX_SET(create_flow_table_in, in, table_type, type);
        assert_int_not_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)),
                             0);
    }
    DEVX_SET(create_flow_table_in, in, table_type, 0);
    DEVX_SET(create_flow_table_in, in, flow_table_context.log_size, 17);
    assert_int_not_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)), 0);
    DEVX_SET(create_flow_table_in, in, flow_table_context.log_size, 0);
    DEVX_SET(create_flow_table_in, in, flow_table_context.level, 64);
    assert_int_not_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)), 0);
}

static void tables_end_at_their_limit(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(create_flow_table_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_flow_table_out)];

    for (unsigned i = 0; i < 256; i++) {
        table(f, 3, 0);
    }
    DEVX_SET(create_flow_table_in, in, opcode, MLX5_CMD_OP_CREATE_FLOW_TABLE);
    assert_int_equal(drv_cmd(f->d, in, sizeof(in), out, sizeof(out)),
                     0x08);
}

static void queries_tell_what_was_made(void **state)
{
    Fixture *f = *state;
    uint8_t in[DEVX_ST_SZ_BYTES(query_fte_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_fte_out) + 8];
    uint8_t *dest = out + DEVX_ST_SZ_BYTES(query_fte_out);
    uint32_t last = table(f, 9, 0), ft = table(f, 3, last), id;
    DrvFg fg;
    DrvFte fte;

    drv_fg_init(&fg, ft, 3, 9);
    OUTER(drv_fg_outer(&fg), tcp_dport, 0xfff0);
    id = group(f, &fg);
    drv_fte_init(&fte, ft, id, 7);
    OUTER(drv_fte_outer(&fte), tcp_dport, 0x1234);
    drv_fte_dest(&fte, TO_TIR, f->tirn[2]);
    entry(f, &fte);

    DEVX_SET(query_fte_in, in, opcode, MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY);
    DEVX_SET(query_fte_in, in, table_id, ft);
    DEVX_SET(query_fte_in, in, flow_index, 7);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    assert_int_equal(DEVX_GET(query_fte_out, out, flow_context.group_id), id);
    assert_int_equal(DEVX_GET(query_fte_out, out, flow_context.match_value.
                              outer_headers.tcp_dport), 0x1230);
    assert_int_equal(mocx_get_be32(dest), TO_TIR << 24 | f->tirn[2]);

    DEVX_SET(query_fte_in, in, opcode, MLX5_CMD_OP_QUERY_FLOW_TABLE);
    DEVX_SET(query_fte_in, in, flow_index, 0);
    drv_cmd_ok(f->d, in, DEVX_ST_SZ_BYTES(query_flow_table_in), out,
               DEVX_ST_SZ_BYTES(query_flow_table_out));
    assert_int_equal(DEVX_GET(query_flow_table_out, out,
                              flow_table_context.level), 3);
    assert_int_equal(DEVX_GET(query_flow_table_out, out,
                              flow_table_context.table_miss_id), last);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(every_field_matches_what_it_should),
        T(frag_and_ipv6_addresses_match),
        T(lowest_index_wins),
        T(miss_goes_on_or_drops),
        T(packet_goes_to_every_destination),
        T(entry_can_be_changed_and_drops),
        T(flow_tag_is_in_the_cqe),
        T(counters_count),
        T(thousands_of_entries_in_one_group),
        T(fan_out_is_bounded),
        T(tables_only_lead_to_higher_levels),
        T(bad_groups_are_refused),
        T(bad_entries_are_refused),
        T(nothing_in_use_is_destroyed),
        T(other_table_types_are_refused),
        T(tables_end_at_their_limit),
        T(queries_tell_what_was_made),
    };

    return cmocka_run_group_tests_name("steer", tests, NULL, NULL);
}
