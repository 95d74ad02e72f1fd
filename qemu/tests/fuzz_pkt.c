/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets as a peer sends them, spoiled on the way and, mostly, with an ICRC
 * that is right again.  Nothing but what the regions and queues allow may be
 * written: the guard bytes behind every buffer stand.
 */
#include "core/icrc.h"
#include "core/wire.h"
#include "fuzz.h"
#include "pair.h"

#define ROUNDS_MAX      24

typedef struct Mangler {
    Bytes *b;
    bool on;
} Mangler;

/* What the ICRC takes for ones, by its place in the L3 header. */
static void mask_l3(uint8_t *l3, uint16_t type)
{
    if (type == MOCX_ETHERTYPE_IPV4) {
        l3[1] = l3[8] = l3[10] = l3[11] = 0xff;
        l3[26] = l3[27] = 0xff;         /* UDP checksum */
    } else {
        l3[0] |= 0x0f;
        memset(l3 + 1, 0xff, 3);
        l3[7] = 0xff;
        if (type == MOCX_ETHERTYPE_IPV6) {
            l3[46] = l3[47] = 0xff;
        }
    }
}

/* Written apart from the model's own, whose mistakes it would share. */
static void fix_icrc(uint8_t *frame, size_t len)
{
    size_t l3 = mocx_get_be16(frame + 12) == MOCX_ETHERTYPE_VLAN ? 18 : 14;
    uint16_t type = mocx_get_be16(frame + l3 - 2);
    size_t bth = type == MOCX_ETHERTYPE_IPV4 ? 28 :
                 type == MOCX_ETHERTYPE_IPV6 ? 48 : 40;
    size_t end = type == MOCX_ETHERTYPE_IPV4 ? mocx_get_be16(frame + l3 + 2) :
                 mocx_get_be16(frame + l3 + 4) + 40;
    uint8_t copy[MOCX_FRAME_MAX];
    uint32_t crc;

    if (end < bth + 16 || l3 + end > len) {
        return;
    }
    memcpy(copy, frame + l3, end);
    mask_l3(copy, type);
    copy[bth + 4] = 0xff;
    crc = ~mocx_crc32(MOCX_ICRC_SEED, copy, end - 4);
    for (int i = 0; i < 4; i++) {
        frame[l3 + end - 4 + i] = crc >> (8 * i);
    }
}

static WireFate mangle(void *arg, unsigned from, uint8_t *data, size_t len)
{
    Mangler *m = arg;
    Bytes *b = m->b;

    if (!m->on || b->p >= b->end) {
        return WIRE_PASS;
    }
    bytes_mutate(b, data + 12, len - 12);
    if (bytes_u8(b) < 240) {
        fix_icrc(data, len);
    }
    switch (bytes_u8(b)) {
    case 0:
    case 1:
        return WIRE_DROP;
    case 2:
    case 3:
        return WIRE_TWICE;
    default:
        return WIRE_PASS;
    }
}

/* Traffic of every kind, to be spoiled. */
static void round_of_traffic(Pair *p, DrvQp *ud, DrvQp *peer_ud, Bytes *b)
{
    static const uint8_t opcodes[] = {
        MLX5_OPCODE_SEND, MLX5_OPCODE_SEND_IMM, MLX5_OPCODE_RDMA_WRITE,
        MLX5_OPCODE_RDMA_WRITE_IMM, MLX5_OPCODE_RDMA_READ,
        MLX5_OPCODE_ATOMIC_CS, MLX5_OPCODE_ATOMIC_FA,
    };
    DrvAv av = { p->b.d->h, peer_ud->qpn, 0x11111111, bytes_u8(b) % 4 };
    uint8_t opcode = opcodes[bytes_u8(b) % sizeof(opcodes)];
    bool atomic = opcode == MLX5_OPCODE_ATOMIC_CS ||
                  opcode == MLX5_OPCODE_ATOMIC_FA;
    uint32_t len = atomic ? 8 : bytes_u8(b) * 24;
    DrvSge small = sge_of(&p->a, 0, bytes_u8(b) * 2);

    post_recv_at(&p->b, 0, 8192);
    drv_post_recv(peer_ud, &(DrvSge) { p->b.mr->va, p->b.mr->key, 4096 }, 1);
    pair_post(&p->a, &(DrvWr) {
        .opcode = opcode, .raddr = p->b.mr->va + 4096, .rkey = p->b.mr->key,
        .swap_add = 1, .num_sge = 1, .sge = { sge_of(&p->a, 4096, len) } });
    drv_post(ud, &(DrvWr) { .opcode = MLX5_OPCODE_SEND, .av = &av,
                            .num_sge = 1, .sge = { small } });
    drv_ring(ud);
    world_run(p->w, NSEC_PER_MSEC);
}

static void drain(DrvCq *cq)
{
    struct mlx5_cqe64 cqe;
    bool more;

    do {
        more = drv_cq_poll(cq, &cqe);
    } while (more);
}

static void revive(Pair *p, const DrvPath *path)
{
    world_run(p->w, NSEC_PER_SEC);
    drain(p->a.scq);
    drain(p->a.rcq);
    drain(p->b.scq);
    drain(p->b.rcq);
    if (side_in_error(&p->a) || side_in_error(&p->b)) {
        pair_reconnect(p, path);
    }
}

static DrvQp *ud_new(Side *s)
{
    DrvQp *qp = drv_qp_new(s->d, &(DrvQpParams) {
        .type = DRV_QP_UD, .scq = s->scq, .rcq = s->rcq });

    drv_qp_ready(qp, NULL);
    return qp;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes b = { data, data + size };
    Mangler m = { .b = &b };
    DrvPath path = { .log_rra = 2, .log_sra = 2, .timeout = 8, .retry = 3,
                     .rnr_retry = 3, .set_retry = true, .set_gid = true };
    DrvQp *ud_a, *ud_b;
    Pair *p;

    path.gid = bytes_u8(&b) % 4;
    p = pair_new(bytes_u8(&b) & 1 ? DRV_QP_UC : DRV_QP_RC, &path);
    ud_a = ud_new(&p->a);
    ud_b = ud_new(&p->b);
    wire_filter(p->w->wire, mangle, &m);
    for (unsigned i = 0; i < ROUNDS_MAX && b.p < b.end; i++) {
        m.on = true;
        round_of_traffic(p, ud_a, ud_b, &b);
        m.on = false;
        revive(p, &path);
    }
    drv_qp_free(ud_a);
    drv_qp_free(ud_b);
    pair_free(p);
    return 0;
}
