/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command queue, mailboxes, bring-up and teardown. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define ENTRY_INLINE    16      /* bytes of a message inside the entry */
#define BLOCK_DATA      512
#define BLOCK_SIZE      576
#define PAGES_BATCH     512
#define EV_PAGE_REQUEST 0x0b

Drv *drv_new(Host *h)
{
    Drv *d = calloc(1, sizeof(*d));

    d->h = h;
    d->pages = calloc(DRV_PAGES_MAX, sizeof(*d->pages));
    return d;
}

void drv_free(Drv *d)
{
    for (unsigned i = 0; i < DRV_SLOTS; i++) {
        free(d->slot[i].in_blocks);
        free(d->slot[i].out_blocks);
    }
    free(d->async);
    free(d->comp);
    free(d->pages);
    free(d);
}

/* Mailboxes */

static unsigned blocks_for(size_t len)
{
    return len > ENTRY_INLINE ?
           (len - ENTRY_INLINE + BLOCK_DATA - 1) / BLOCK_DATA : 0;
}

static uint64_t *blocks_grow(Drv *d, uint64_t *blocks, unsigned *have,
                             unsigned want)
{
    if (want <= *have) {
        return blocks;
    }
    blocks = realloc(blocks, want * sizeof(*blocks));
    while (*have < want) {
        blocks[(*have)++] = gpa_alloc(d->h, BLOCK_SIZE, 1024);
    }
    return blocks;
}

static void chain_fill(Drv *d, const uint64_t *blocks, unsigned n,
                       const uint8_t *data, size_t len, uint8_t token)
{
    for (unsigned i = 0; i < n; i++) {
        uint8_t *b = gpa_ptr(d->h, blocks[i]);
        size_t part = len < BLOCK_DATA ? len : BLOCK_DATA;

        memset(b, 0, BLOCK_SIZE);
        if (data) {
            memcpy(b, data, part);
            data += part;
            len -= part;
        }
        mocx_put_be64(b + 0x230, i + 1 < n ? blocks[i + 1] : 0);
        mocx_put_be32(b + 0x238, i);
        b[0x23d] = token;
    }
}

uint8_t *drv_cmd_entry(Drv *d, unsigned slot)
{
    return gpa_ptr(d->h, d->cmdq + ((uint64_t)slot << d->log_stride));
}

void drv_cmd_fill(Drv *d, unsigned slot, const void *in, size_t inlen,
                  size_t outlen)
{
    DrvSlot *s = &d->slot[slot];
    uint8_t *e = drv_cmd_entry(d, slot);
    unsigned nin = blocks_for(inlen), nout = blocks_for(outlen);
    size_t inl = inlen < ENTRY_INLINE ? inlen : ENTRY_INLINE;

    s->in_blocks = blocks_grow(d, s->in_blocks, &s->num_in, nin);
    s->out_blocks = blocks_grow(d, s->out_blocks, &s->num_out, nout);
    s->outlen = outlen;
    s->token = s->token % 255 + 1;
    chain_fill(d, s->in_blocks, nin, (const uint8_t *)in + inl, inlen - inl,
               s->token);
    chain_fill(d, s->out_blocks, nout, NULL, 0, s->token);

    memset(e, 0, 64);
    e[0] = 7;
    mocx_put_be32(e + 0x04, inlen);
    mocx_put_be64(e + 0x08, nin ? s->in_blocks[0] : 0);
    memcpy(e + 0x10, in, inl);
    mocx_put_be64(e + 0x30, nout ? s->out_blocks[0] : 0);
    mocx_put_be32(e + 0x38, outlen);
    e[0x3c] = s->token;
    e[0x3f] = 1;
}

void drv_cmd_ring(Drv *d, uint32_t slots)
{
    host_write32(d->h, ISEG_CMD_DB, slots);
}

void drv_cmd_start(Drv *d, unsigned slot, const void *in, size_t inlen,
                   size_t outlen)
{
    drv_cmd_fill(d, slot, in, inlen, outlen);
    drv_cmd_ring(d, 1U << slot);
}

uint8_t drv_cmd_poll(Drv *d, unsigned slot)
{
    uint8_t own = drv_cmd_entry(d, slot)[0x3f];

    return own & 1 ? DRV_PENDING : own >> 1;
}

void drv_cmd_output(Drv *d, unsigned slot, void *out, size_t outlen)
{
    const DrvSlot *s = &d->slot[slot];
    size_t part = outlen < ENTRY_INLINE ? outlen : ENTRY_INLINE;
    uint8_t *dst = out;

    memcpy(dst, drv_cmd_entry(d, slot) + 0x20, part);
    for (unsigned i = 0; (outlen -= part) > 0; i++) {
        const uint8_t *b = gpa_ptr(d->h, s->out_blocks[i]);

        dst += part;
        part = outlen < BLOCK_DATA ? outlen : BLOCK_DATA;
        CHECK(b[0x23d] == s->token, "output block %u has token %u, not %u", i,
              b[0x23d], s->token);
        memcpy(dst, b, part);
    }
}

static bool slot0_done(void *arg)
{
    return drv_cmd_poll(arg, 0) != DRV_PENDING;
}

uint8_t drv_cmd(Drv *d, const void *in, size_t inlen, void *out, size_t outlen)
{
    unsigned opcode = mocx_get_be16(in);
    uint8_t head[8];

    if (d->record) {
        d->record(d->record_arg, in, inlen, outlen);
    }
    drv_cmd_start(d, 0, in, inlen, outlen);
    CHECK(world_until(d->h->world, slot0_done, d, DRV_CMD_TIMEOUT),
          "command 0x%x was never completed", opcode);
    d->delivery = drv_cmd_poll(d, 0);
    CHECK(!d->delivery, "command 0x%x: delivery status 0x%x", opcode,
          d->delivery);
    drv_cmd_output(d, 0, out, outlen);
    drv_cmd_output(d, 0, head, sizeof(head));
    d->status = head[0];
    d->syndrome = mocx_get_be32(head + 4);
    return d->status;
}

void drv_cmd_ok(Drv *d, const void *in, size_t inlen, void *out, size_t outlen)
{
    uint8_t status = drv_cmd(d, in, inlen, out, outlen);

    CHECK(!status, "command 0x%x: status 0x%x, syndrome 0x%x (%s)",
          mocx_get_be16(in), status, d->syndrome, d->h->last_log);
}

/* A command with no field but the number at 0x48, which most have. */

static uint32_t simple(Drv *d, uint16_t opcode, uint16_t op_mod, uint32_t dw2)
{
    uint8_t in[16] = { 0 }, out[16];

    mocx_put_be16(in, opcode);
    mocx_put_be16(in + 6, op_mod);
    mocx_put_be32(in + 8, dw2);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return mocx_get_be32(out + 8) & 0xffffff;
}

uint32_t drv_alloc(Drv *d, uint16_t opcode)
{
    return simple(d, opcode, 0, 0);
}

void drv_dealloc(Drv *d, uint16_t opcode, uint32_t id)
{
    simple(d, opcode, 0, id);
}

/* Firmware pages */

void drv_give_pages(Drv *d, unsigned n)
{
    uint8_t out[DEVX_ST_SZ_BYTES(manage_pages_out)];

    while (n) {
        unsigned part = n < PAGES_BATCH ? n : PAGES_BATCH;
        size_t len = DEVX_ST_SZ_BYTES(manage_pages_in) + part * 8;
        uint8_t *in = calloc(1, len);

        DEVX_SET(manage_pages_in, in, opcode, MLX5_CMD_OP_MANAGE_PAGES);
        DEVX_SET(manage_pages_in, in, op_mod, 1);
        DEVX_SET(manage_pages_in, in, input_num_entries, part);
        for (unsigned i = 0; i < part; i++) {
            CHECK(d->num_pages < DRV_PAGES_MAX, "the device eats pages");
            d->pages[d->num_pages] = gpa_alloc(d->h, HOST_PAGE, HOST_PAGE);
            mocx_put_be64(in + 16 + i * 8, d->pages[d->num_pages++]);
        }
        drv_cmd_ok(d, in, len, out, sizeof(out));
        free(in);
        n -= part;
    }
}

static void page_forget(Drv *d, uint64_t page)
{
    unsigned i = 0;

    while (i < d->num_pages && d->pages[i] != page) {
        i++;
    }
    CHECK(i < d->num_pages, "page 0x%llx was never given",
          (unsigned long long)page);
    d->pages[i] = d->pages[--d->num_pages];
}

unsigned drv_take_pages(Drv *d, unsigned n)
{
    uint8_t in[DEVX_ST_SZ_BYTES(manage_pages_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(manage_pages_out) + PAGES_BATCH * 8];
    unsigned got;

    n = n < PAGES_BATCH ? n : PAGES_BATCH;
    DEVX_SET(manage_pages_in, in, opcode, MLX5_CMD_OP_MANAGE_PAGES);
    DEVX_SET(manage_pages_in, in, op_mod, 2);
    DEVX_SET(manage_pages_in, in, input_num_entries, n);
    drv_cmd_ok(d, in, sizeof(in), out, 16 + n * 8);
    got = DEVX_GET(manage_pages_out, out, output_num_entries);
    CHECK(got <= n, "%u pages asked back, %u came", n, got);
    for (unsigned i = 0; i < got; i++) {
        page_forget(d, mocx_get_be64(out + 16 + i * 8));
    }
    return got;
}

void drv_service_pages(Drv *d)
{
    uint8_t eqe[64];

    while (drv_eq_poll(d->async, eqe)) {
        int32_t n = (int32_t)mocx_get_be32(eqe + 0x24);

        if (eqe[1] == EV_PAGE_REQUEST && n > 0) {
            drv_give_pages(d, n);
        } else if (eqe[1] == EV_PAGE_REQUEST && n < 0) {
            drv_take_pages(d, -n);
        }
    }
    drv_eq_arm(d->async);
}

static void satisfy_pages(Drv *d, uint16_t which)
{
    uint8_t in[DEVX_ST_SZ_BYTES(query_pages_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(query_pages_out)];

    DEVX_SET(query_pages_in, in, opcode, MLX5_CMD_OP_QUERY_PAGES);
    DEVX_SET(query_pages_in, in, op_mod, which);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    drv_give_pages(d, DEVX_GET(query_pages_out, out, num_pages));
}

/* Life cycle */

void drv_cmdq_setup(Drv *d)
{
    uint32_t low;

    CHECK(!(host_read32(d->h, ISEG_INITIALIZING) >> 31), "still initializing");
    CHECK(host_read32(d->h, ISEG_CMDIF_REV) >> 16 == 5, "cmdif revision");
    low = host_read32(d->h, ISEG_CMDQ_LO);
    d->log_slots = low >> 4 & 0xf;
    d->log_stride = low & 0xf;
    CHECK(d->log_slots >= 1 && d->log_slots + d->log_stride <= 12,
          "queue of 2^%u slots of 2^%u bytes", d->log_slots, d->log_stride);
    if (!d->cmdq) {
        d->cmdq = gpa_alloc(d->h, HOST_PAGE, HOST_PAGE);
    }
    host_write32(d->h, ISEG_CMDQ_HI, d->cmdq >> 32);
    host_write32(d->h, ISEG_CMDQ_LO, d->cmdq);
}

static void init_hca(Drv *d)
{
    uint8_t in[DEVX_ST_SZ_BYTES(init_hca_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(init_hca_out)];

    DEVX_SET(init_hca_in, in, opcode, MLX5_CMD_OP_INIT_HCA);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

void drv_hca_up(Drv *d)
{
    drv_cmdq_setup(d);
    simple(d, MLX5_CMD_OP_ENABLE_HCA, 0, 0);
    simple(d, MLX5_CMD_OP_SET_ISSI, 0, 1);
    satisfy_pages(d, 1);
    satisfy_pages(d, 2);
    init_hca(d);
}

static uint32_t pa_mkey(Drv *d)
{
    uint8_t in[DEVX_ST_SZ_BYTES(create_mkey_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(create_mkey_out)];
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(mkc, mkc, length64, 1);
    DEVX_SET(mkc, mkc, lr, 1);
    DEVX_SET(mkc, mkc, lw, 1);
    DEVX_SET(mkc, mkc, rr, 1);
    DEVX_SET(mkc, mkc, rw, 1);
    DEVX_SET(mkc, mkc, a, 1);
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, mkey_7_0, 0x42);
    DEVX_SET(mkc, mkc, pd, d->pdn);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(create_mkey_out, out, mkey_index) << 8 | 0x42;
}

void drv_bring_up(Drv *d)
{
    drv_hca_up(d);
    d->uar = drv_alloc(d, MLX5_CMD_OP_ALLOC_UAR);
    d->async = drv_eq_new(d, 8, 0, 0x1ffffe & ~(1ULL << 0xa));
    d->comp = drv_eq_new(d, 8, 1, 0);
    drv_eq_arm(d->async);
    drv_eq_arm(d->comp);
    d->pdn = drv_alloc(d, MLX5_CMD_OP_ALLOC_PD);
    d->tdn = drv_alloc(d, MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
    d->lkey = pa_mkey(d);
}

void drv_hca_down(Drv *d)
{
    simple(d, MLX5_CMD_OP_TEARDOWN_HCA, 0, 0);
    while (d->num_pages) {
        CHECK(drv_take_pages(d, PAGES_BATCH), "%u pages never came back",
              d->num_pages);
    }
    simple(d, MLX5_CMD_OP_DISABLE_HCA, 0, 0);
}

void drv_tear_down(Drv *d)
{
    drv_dealloc(d, MLX5_CMD_OP_DESTROY_MKEY, d->lkey >> 8);
    drv_dealloc(d, MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, d->tdn);
    drv_dealloc(d, MLX5_CMD_OP_DEALLOC_PD, d->pdn);
    drv_eq_free(d->comp);
    drv_eq_free(d->async);
    d->comp = d->async = NULL;
    drv_dealloc(d, MLX5_CMD_OP_DEALLOC_UAR, d->uar);
    drv_hca_down(d);
}

/* The port */

static void roce_enable(Drv *d)
{
    uint8_t in[DEVX_ST_SZ_BYTES(modify_nic_vport_context_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(modify_nic_vport_context_out)];

    DEVX_SET(modify_nic_vport_context_in, in, opcode,
             MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT);
    DEVX_SET(modify_nic_vport_context_in, in, field_select.roce_en, 1);
    DEVX_SET(modify_nic_vport_context_in, in, nic_vport_context.roce_en, 1);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

static void port_up(Drv *d)
{
    uint8_t in[DEVX_ST_SZ_BYTES(access_register_in) +
               DEVX_ST_SZ_BYTES(paos_reg)] = { 0 };
    uint8_t out[sizeof(in)];
    uint8_t *paos = in + DEVX_ST_SZ_BYTES(access_register_in);

    DEVX_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
    DEVX_SET(access_register_in, in, op_mod, 0);
    DEVX_SET(access_register_in, in, register_id, 0x5006);
    DEVX_SET(paos_reg, paos, local_port, 1);
    DEVX_SET(paos_reg, paos, admin_status, 1);
    DEVX_SET(paos_reg, paos, ase, 1);
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

void drv_gid_address(const Host *h, unsigned gid, uint8_t addr[16])
{
    memset(addr, 0, 16);
    if (gid == DRV_GID_V1_V4 || gid == DRV_GID_V2_V4) {
        memcpy(addr + 10, (uint8_t[]){ 0xff, 0xff, 10, 0, 0 }, 5);
    } else {
        addr[0] = 0xfd;
    }
    addr[15] = h->index + 1;
}

void drv_gid_set(Drv *d, unsigned index, const uint8_t addr[16],
                 unsigned version, int vlan)
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    uint8_t in[DEVX_ST_SZ_BYTES(set_roce_address_in)] = { 0 };
    uint8_t out[DEVX_ST_SZ_BYTES(set_roce_address_out)];
    uint8_t *ra = DEVX_ADDR_OF(set_roce_address_in, in, roce_address);
    const uint8_t *mac = d->h->cfg.mac;

    DEVX_SET(set_roce_address_in, in, opcode, MLX5_CMD_OP_SET_ROCE_ADDRESS);
    DEVX_SET(set_roce_address_in, in, roce_address_index, index);
    memcpy(DEVX_ADDR_OF(roce_addr_layout, ra, source_l3_address), addr, 16);
    DEVX_SET(roce_addr_layout, ra, source_mac_47_32, mocx_get_be16(mac));
    DEVX_SET(roce_addr_layout, ra, source_mac_31_0, mocx_get_be32(mac + 2));
    DEVX_SET(roce_addr_layout, ra, roce_l3_type, !!memcmp(addr, mapped, 12));
    DEVX_SET(roce_addr_layout, ra, roce_version, version);
    if (vlan >= 0) {
        DEVX_SET(roce_addr_layout, ra, vlan_valid, 1);
        DEVX_SET(roce_addr_layout, ra, vlan_id, vlan);
    }
    drv_cmd_ok(d, in, sizeof(in), out, sizeof(out));
}

void drv_net_up(Drv *d)
{
    uint8_t addr[16];

    port_up(d);
    roce_enable(d);
    for (unsigned gid = DRV_GID_V1_V6; gid <= DRV_GID_V2_V4; gid++) {
        drv_gid_address(d->h, gid, addr);
        drv_gid_set(d, gid, addr, gid % 2 * 2, -1);
    }
}
