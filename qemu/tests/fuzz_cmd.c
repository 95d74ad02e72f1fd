/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands as a driver sends them, spoiled.  Whatever happens, every command
 * is answered, and a reset finds nothing left.
 */
#include "fuzz.h"

#define GOLDEN_MAX      64
#define STEPS_MAX       40
#define OUT_MAX         8192

typedef struct Golden {
    uint8_t *in;
    size_t inlen, outlen;
} Golden;

typedef struct Corpus {
    Golden cmd[GOLDEN_MAX];
    unsigned n;
} Corpus;

static void remember(void *arg, const void *in, size_t inlen, size_t outlen)
{
    Corpus *c = arg;

    if (c->n < GOLDEN_MAX) {
        c->cmd[c->n].in = malloc(inlen);
        memcpy(c->cmd[c->n].in, in, inlen);
        c->cmd[c->n].inlen = inlen;
        c->cmd[c->n++].outlen = outlen;
    }
}

static void corpus_free(Corpus *c)
{
    while (c->n) {
        free(c->cmd[--c->n].in);
    }
}

/* One of each object, so that numbers in spoiled commands name something. */
static void make_objects(Drv *d)
{
    DrvCq *cq = drv_cq_new(d, 5);
    DrvQp *qp = drv_qp_new(d, &(DrvQpParams) { .scq = cq, .rcq = cq });
    DrvQp *ud = drv_qp_new(d, &(DrvQpParams) { .type = DRV_QP_UD, .scq = cq,
                                               .rcq = cq });
    DrvMr *mr = drv_mr_new(d, 0x10000, 3 * HOST_PAGE, DRV_ALL);
    uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)];

    drv_net_up(d);
    drv_qp_connect(qp, qp, NULL);
    drv_qp_ready(ud, NULL);
    drv_qp_query(qp, qpc);
    drv_qp_cmd(ud, MLX5_CMD_OP_2ERR_QP);
    drv_qp_cmd(ud, MLX5_CMD_OP_2RST_QP);
    drv_alloc(d, MLX5_CMD_OP_ALLOC_XRCD);
    drv_alloc(d, MLX5_CMD_OP_ALLOC_Q_COUNTER);
    drv_cq_forget(cq);
    free(qp);
    free(ud);
    free(mr->pages);
    free(mr);
}

static size_t pick_len(Bytes *b, size_t len, size_t max)
{
    switch (bytes_u8(b)) {
    case 0:
        return bytes_u8(b);
    case 1:
        return len + bytes_u8(b) * 8;
    case 2:
        return len > 8 ? len - bytes_u8(b) % 9 : len;
    case 3:
        return (bytes_u8(b) << 8 | bytes_u8(b)) % max;
    default:
        return len;
    }
}

static void step(Drv *d, const Corpus *c, Bytes *b)
{
    const Golden *g = &c->cmd[bytes_u8(b) % c->n];
    size_t inlen = pick_len(b, g->inlen, OUT_MAX);
    size_t outlen = pick_len(b, g->outlen, OUT_MAX);
    uint8_t *in = calloc(1, inlen < 16 ? 16 : inlen);
    uint8_t delivery, *out = calloc(1, outlen < 16 ? 16 : outlen);

    memcpy(in, g->in, inlen < g->inlen ? inlen : g->inlen);
    bytes_mutate(b, in + 4, inlen < 16 ? 12 : inlen - 4);
    if (bytes_u8(b) < 16) {
        mocx_put_be16(in, bytes_u32(b) % 0xc00);
    }
    drv_cmd_start(d, 0, in, inlen, outlen);
    delivery = drv_cmd_poll(d, 0);
    CHECK(delivery != DRV_PENDING, "command 0x%x was not answered",
          mocx_get_be16(in));
    if (!delivery) {
        drv_cmd_output(d, 0, out, outlen);
    }
    free(in);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes b = { data, data + size };
    MocxConfig cfg = fuzz_config();
    World *w = world_new(1, &cfg);
    Host *h = w->host[0];
    Drv *d = drv_new(h);
    Corpus c = { .n = 0 };

    h->wild = true;
    d->record = remember;
    d->record_arg = &c;
    drv_bring_up(d);
    make_objects(d);
    d->record = NULL;
    for (unsigned i = 0; i < STEPS_MAX && b.p < b.end; i++) {
        step(d, &c, &b);
    }
    world_run(w, NSEC_PER_MSEC);
    host_enter(h);
    mocx_reset(h->dev);
    host_leave(h);
    CHECK(!host_status(h, "objects.total"), "objects outlive a reset");
    CHECK(!host_status(h, "pages.held"), "pages outlive a reset");
    corpus_free(&c);
    drv_free(d);
    world_free(w);
    return 0;
}
