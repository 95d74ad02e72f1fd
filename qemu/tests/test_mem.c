/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory keys, and the way from a key to guest memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/dev.h"
#include "driver.h"

#define VA      0x7f0000000123ULL
#define TAG     0x37

typedef struct Fixture {
    World *w;
    Drv *d;
    MocxDev *dev;
    MocxAccess acc;         /* of a queue that may do everything */
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof(*f));

    f->w = world_new(1, NULL);
    f->d = drv_new(f->w->host[0]);
    drv_bring_up(f->d);
    f->dev = f->d->h->dev;
    f->acc = (MocxAccess) { .pdn = f->d->pdn, .qpn = 77,
                            .need = MOCX_LOCAL_READ };
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;

    drv_tear_down(f->d);
    assert_int_equal(f->d->h->logs[MOCX_LOG_UNIMP], 0);
    drv_free(f->d);
    world_free(f->w);
    free(f);
    return 0;
}

/* The core is called as from inside an entry point. */

static MocxMemResult get(Fixture *f, uint32_t key, uint64_t va, void *buf,
                         size_t len)
{
    MocxMemResult r;

    host_enter(f->d->h);
    r = mocx_mem_read(f->dev, &f->acc, key, va, buf, len);
    host_leave(f->d->h);
    return r;
}

static MocxMemResult put(Fixture *f, uint32_t key, uint64_t va,
                         const void *buf, size_t len)
{
    MocxAccess acc = f->acc;
    MocxMemResult r;

    acc.need = MOCX_LOCAL_WRITE;
    host_enter(f->d->h);
    r = mocx_mem_write(f->dev, &acc, key, va, buf, len);
    host_leave(f->d->h);
    return r;
}

static MocxMemResult check(Fixture *f, uint32_t key, uint64_t va, uint64_t len)
{
    return mocx_mem_check(f->dev, &f->acc, key, va, len);
}

/* A key of keys over @n entries; 0 if refused. */
static uint32_t key_of_keys(Fixture *f, MocxMemMode mode, uint64_t va,
                            uint64_t len, const MocxKlm *klm, unsigned n)
{
    size_t inlen = DEVX_ST_SZ_BYTES(create_mkey_in) + n * 16;
    uint8_t *in = calloc(1, inlen), out[DEVX_ST_SZ_BYTES(create_mkey_out)];
    uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);
    uint8_t *entry = in + DEVX_ST_SZ_BYTES(create_mkey_in);
    uint8_t status;

    DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
    DEVX_SET(create_mkey_in, in, translations_octword_actual_size, n);
    DEVX_SET(mkc, mkc, access_mode_1_0, mode);
    DEVX_SET(mkc, mkc, lr, 1);
    DEVX_SET(mkc, mkc, lw, 1);
    DEVX_SET(mkc, mkc, rr, 1);
    DEVX_SET(mkc, mkc, rw, 1);
    DEVX_SET(mkc, mkc, qpn, 0xffffff);
    DEVX_SET(mkc, mkc, mkey_7_0, TAG);
    DEVX_SET(mkc, mkc, pd, f->d->pdn);
    DEVX_SET64(mkc, mkc, start_addr, va);
    DEVX_SET64(mkc, mkc, len, len);
    DEVX_SET(mkc, mkc, translations_octword_size, n);
    DEVX_SET(mkc, mkc, log_page_size, mode == MOCX_MEM_KSM ? 12 : 0);
    for (unsigned i = 0; i < n; i++, entry += 16) {
        mocx_put_be32(entry, klm[i].bytes);
        mocx_put_be32(entry + 4, klm[i].key);
        mocx_put_be64(entry + 8, klm[i].va);
    }
    status = drv_cmd(f->d, in, inlen, out, sizeof(out));
    free(in);
    return status ? 0 : DEVX_GET(create_mkey_out, out, mkey_index) << 8 | TAG;
}

static void key_destroy(Fixture *f, uint32_t key)
{
    uint8_t in[DEVX_ST_SZ_BYTES(destroy_mkey_in)] = { 0 }, out[16];

    DEVX_SET(destroy_mkey_in, in, opcode, MLX5_CMD_OP_DESTROY_MKEY);
    DEVX_SET(destroy_mkey_in, in, mkey_index, key >> 8);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
}

static void region_of(Fixture *f, uint64_t len, unsigned page_shift)
{
    DrvMr *mr = drv_mr_new_pd(f->d, f->d->pdn, VA, len, DRV_ALL, page_shift);
    uint8_t *buf = malloc(len), *back = malloc(len);
    static const struct { uint64_t off, cut; } parts[] = {
        { 0, 0 }, { 1, 1 }, { 4095 - 0x123, 5000 }, { 4096, 4096 },
    };

    for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        uint64_t off = parts[i].off, n = len - off - parts[i].cut;

        drv_mr_fill(mr, 0, len, i);
        assert_int_equal(get(f, mr->key, VA + off, buf, n), MOCX_MEM_OK);
        drv_mr_read(mr, off, back, n);
        assert_memory_equal(buf, back, n);
        for (uint64_t k = 0; k < n; k++) {
            buf[k] ^= 0x5a;
        }
        assert_int_equal(put(f, mr->key, VA + off, buf, n), MOCX_MEM_OK);
        drv_mr_read(mr, off, back, n);
        assert_memory_equal(buf, back, n);
    }
    free(buf);
    free(back);
    drv_mr_free(mr);
}

static void copies_follow_scattered_pages(void **state)
{
    region_of(*state, 40000, 12);
    region_of(*state, 3 << 20, 16);
    region_of(*state, 5 << 20, 21);
}

static void region_has_exact_ends(void **state)
{
    Fixture *f = *state;
    DrvMr *mr = drv_mr_new(f->d, VA, 10000, DRV_ALL);
    static const struct { int64_t off; uint64_t len; MocxMemResult r; } t[] = {
        { 0, 10000, MOCX_MEM_OK },
        { 0, 10001, MOCX_MEM_BAD_RANGE },
        { 9999, 1, MOCX_MEM_OK },
        { 10000, 1, MOCX_MEM_BAD_RANGE },
        { -1, 1, MOCX_MEM_BAD_RANGE },
        { -1, 10001, MOCX_MEM_BAD_RANGE },
        { 1, UINT64_MAX, MOCX_MEM_BAD_RANGE },
        { -1, UINT64_MAX - VA, MOCX_MEM_BAD_RANGE },
        { 20000, 0, MOCX_MEM_OK },      /* nothing is reached */
    };

    for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        assert_int_equal(check(f, mr->key, VA + t[i].off, t[i].len), t[i].r);
    }
    drv_mr_free(mr);
}

static void key_must_be_the_right_one(void **state)
{
    Fixture *f = *state;
    DrvMr *mr = drv_mr_new(f->d, VA, 4096, DRV_ALL);
    uint32_t old = mr->key;

    f->d->h->breaks = true;
    assert_int_equal(check(f, mr->key, VA, 1), MOCX_MEM_OK);
    assert_int_equal(check(f, mr->key ^ 1, VA, 1), MOCX_MEM_BAD_KEY);
    assert_int_equal(check(f, mr->key ^ 1, VA, 0), MOCX_MEM_OK);
    assert_int_equal(check(f, mr->key + 0x100, VA, 1), MOCX_MEM_BAD_KEY);
    assert_int_equal(check(f, 0xffffff00, VA, 1), MOCX_MEM_BAD_KEY);
    assert_int_equal(check(f, MOCX_KEY_TERMINATE, VA, 1), MOCX_MEM_BAD_KEY);
    f->acc.pdn++;
    assert_int_equal(check(f, mr->key, VA, 1), MOCX_MEM_BAD_KEY);
    f->acc.pdn--;
    mocx_mkey_find(f->dev, mr->key)->qpn = 78;
    assert_int_equal(check(f, mr->key, VA, 1), MOCX_MEM_BAD_KEY);
    mocx_mkey_find(f->dev, mr->key)->qpn = 77;
    assert_int_equal(check(f, mr->key, VA, 1), MOCX_MEM_OK);
    mocx_mkey_find(f->dev, mr->key)->free = true;
    assert_int_equal(check(f, mr->key, VA, 1), MOCX_MEM_BAD_KEY);
    drv_mr_free(mr);
    assert_int_equal(check(f, old, VA, 1), MOCX_MEM_BAD_KEY);
}

static void every_right_is_needed_for_itself(void **state)
{
    Fixture *f = *state;

    for (unsigned have = 0; have < 5; have++) {
        DrvMr *mr = drv_mr_new(f->d, VA, 4096, 1u << have);

        for (unsigned need = 0; need < 5; need++) {
            f->acc.need = 1u << need;
            assert_int_equal(check(f, mr->key, VA, 8),
                             have == need ? MOCX_MEM_OK : MOCX_MEM_BAD_RIGHT);
        }
        drv_mr_free(mr);
    }
}

static void physical_key_reaches_all_of_memory(void **state)
{
    Fixture *f = *state;
    uint64_t gpa = gpa_alloc(f->d->h, 8192, 4096), word = 0, bus;
    char text[] = "as it lies on the bus";

    f->d->h->breaks = true;
    assert_int_equal(put(f, f->d->lkey, gpa + 4090, text, sizeof(text)),
                     MOCX_MEM_OK);
    assert_string_equal(gpa_ptr(f->d->h, gpa + 4090), text);
    /* and no farther: 16 MiB into nowhere */
    assert_int_equal(get(f, f->d->lkey, 1 << 24, &word, 8), MOCX_MEM_BAD_DMA);
    assert_int_equal(mocx_mem_addr(f->dev, &f->acc, f->d->lkey, gpa + 8, &bus),
                     MOCX_MEM_OK);
    assert_int_equal(bus, gpa + 8);
}

static void special_keys_are_what_they_say(void **state)
{
    Fixture *f = *state;
    uint64_t gpa = gpa_alloc(f->d->h, 64, 64), word = 1, bus;

    assert_int_equal(get(f, MOCX_KEY_NULL, 5, &word, 8), MOCX_MEM_OK);
    assert_int_equal(word, 0);
    assert_int_equal(put(f, MOCX_KEY_NULL, 5, &word, 8), MOCX_MEM_OK);
    assert_int_equal(mocx_mem_addr(f->dev, &f->acc, MOCX_KEY_NULL, 8, &bus),
                     MOCX_MEM_BAD_DMA);
    assert_int_equal(get(f, MOCX_KEY_RESERVED, gpa, &word, 8),
                     MOCX_MEM_BAD_KEY);
    f->acc.reserved_lkey = true;
    *(uint64_t *)gpa_ptr(f->d->h, gpa) = 42;
    assert_int_equal(get(f, MOCX_KEY_RESERVED, gpa, &word, 8), MOCX_MEM_OK);
    assert_int_equal(word, 42);
}

/* Two regions of odd sizes seen as one, and that one through another. */
static void keys_nest(void **state)
{
    Fixture *f = *state;
    DrvMr *x = drv_mr_new(f->d, VA, 5001, DRV_ALL);
    DrvMr *y = drv_mr_new(f->d, VA + (1 << 20), 7003, DRV_LR | DRV_LW);
    MocxKlm both[] = { { 5001, x->key, VA }, { 0, 0xdead00, 0 },
                       { 7000, y->key, VA + (1 << 20) + 3 } };
    uint32_t inner = key_of_keys(f, MOCX_MEM_KLM, 0, 12001, both, 3);
    MocxKlm one = { 12001, inner, 0 };
    uint32_t outer = key_of_keys(f, MOCX_MEM_KLM, 1000, 12001, &one, 1);
    uint8_t buf[12001], a[5001], b[7000];

    drv_mr_fill(x, 0, 5001, 1);
    drv_mr_fill(y, 0, 7003, 2);
    drv_mr_read(x, 0, a, sizeof(a));
    drv_mr_read(y, 3, b, sizeof(b));
    assert_int_equal(get(f, outer, 1000, buf, sizeof(buf)), MOCX_MEM_OK);
    assert_memory_equal(buf, a, 5001);
    assert_memory_equal(buf + 5001, b, 7000);
    assert_int_equal(get(f, outer, 6000, buf, 2), MOCX_MEM_OK);
    assert_int_equal(buf[0], a[5000]);
    assert_int_equal(buf[1], b[0]);
    /* The outer key grants remote access; the inner ones need local rights. */
    f->acc.need = MOCX_REMOTE_WRITE;
    assert_int_equal(check(f, outer, 1000, 12001), MOCX_MEM_OK);
    assert_int_equal(check(f, outer, 1000, 12002), MOCX_MEM_BAD_RANGE);
    key_destroy(f, outer);
    key_destroy(f, inner);
    drv_mr_free(x);
    drv_mr_free(y);
}

/* Nothing is written when a later entry cannot be. */
static void failing_entry_leaves_the_first_alone(void **state)
{
    Fixture *f = *state;
    DrvMr *x = drv_mr_new(f->d, VA, 4096, DRV_ALL);
    MocxKlm two[] = { { 4096, x->key, VA }, { 4096, x->key + 0x1000, VA } };
    uint32_t key = key_of_keys(f, MOCX_MEM_KLM, 0, 8192, two, 2);
    uint8_t buf[8192] = { 0 };

    drv_mr_fill(x, 0, 4096, 3);
    assert_int_equal(put(f, key, 0, buf, sizeof(buf)), MOCX_MEM_BAD_KEY);
    assert_int_equal(drv_mr_check(x, 0, 4096, 3), -1);
    key_destroy(f, key);
    drv_mr_free(x);
}

static void equal_entries_are_found_by_division(void **state)
{
    Fixture *f = *state;
    DrvMr *mr = drv_mr_new(f->d, 0x10000, 4 * 4096, DRV_ALL);
    MocxKlm back[] = { { 0, mr->key, 0x13000 }, { 0, mr->key, 0x12000 },
                       { 0, mr->key, 0x11000 }, { 0, mr->key, 0x10000 } };
    uint32_t key = key_of_keys(f, MOCX_MEM_KSM, 0x800, 0x3800, back, 4);
    uint8_t buf[0x3800], page[4096];

    drv_mr_fill(mr, 0, 4 * 4096, 4);
    assert_int_equal(get(f, key, 0x800, buf, sizeof(buf)), MOCX_MEM_OK);
    drv_mr_read(mr, 0x2000, page, 4096);
    assert_memory_equal(buf + 0x800, page, 4096);
    drv_mr_read(mr, 0x3800, page, 0x800);
    assert_memory_equal(buf, page, 0x800);
    assert_int_equal(check(f, key, 0x800, 0x3801), MOCX_MEM_BAD_RANGE);
    key_destroy(f, key);
    drv_mr_free(mr);
}

/*
 * A key that names itself, and one whose empty entries would multiply the work
 * a thousandfold at each of four levels: they are passed without being counted.
 */
static void endless_keys_end(void **state)
{
    Fixture *f = *state;
    MocxKlm klm = { 4096, 0, 0 }, many[1024];
    uint32_t self = key_of_keys(f, MOCX_MEM_KLM, 0, 4096, &klm, 1);
    DrvMr *mr = drv_mr_new(f->d, VA, 1024, DRV_ALL);
    uint32_t deep = mr->key, made[4];
    uint8_t buf[1024], want[1024];
    uint64_t va = VA;

    f->d->h->breaks = true;
    mocx_mkey_find(f->dev, self)->klm[0].key = self;
    assert_int_equal(check(f, self, 0, 4096), MOCX_MEM_BAD_KEY);
    for (unsigned level = 0; level < 3; level++) {
        for (unsigned i = 0; i < 1024; i++) {
            many[i] = (MocxKlm) { i == 1023 ? 1024 : 0, deep, va };
        }
        va = 0;
        deep = key_of_keys(f, MOCX_MEM_KLM, 0, 1024, many, 1024);
        made[level] = deep;
    }
    for (unsigned i = 0; i < 1024; i++) {
        many[i] = (MocxKlm) { 1, deep, i };
    }
    made[3] = key_of_keys(f, MOCX_MEM_KLM, 0, 1024, many, 1024);
    drv_mr_fill(mr, 0, 1024, 6);
    drv_mr_read(mr, 0, want, 1024);
    assert_int_equal(get(f, made[3], 0, buf, 1024), MOCX_MEM_OK);
    assert_memory_equal(buf, want, 1024);
    for (unsigned i = 0; i < 4; i++) {
        key_destroy(f, made[i]);
    }
    key_destroy(f, self);
    drv_mr_free(mr);
}

/* An atomic is one access of the bus, which two entries cannot share. */
static void atomic_word_lies_in_one_piece(void **state)
{
    Fixture *f = *state;
    DrvMr *x = drv_mr_new(f->d, VA + 5, 4100, DRV_ALL);
    DrvMr *y = drv_mr_new(f->d, VA + 5, 4096, DRV_ALL);
    MocxKlm two[] = { { 4100, x->key, VA + 5 }, { 4096, y->key, VA + 5 } };
    uint32_t key = key_of_keys(f, MOCX_MEM_KLM, 0, 8196, two, 2);
    uint64_t bus;

    assert_int_equal(mocx_mem_addr(f->dev, &f->acc, key, 8, &bus),
                     MOCX_MEM_OK);
    assert_int_equal(bus, x->pages[0] + ((VA + 5) & 0xfff) + 8);
    assert_int_equal(mocx_mem_addr(f->dev, &f->acc, key, 4096, &bus),
                     MOCX_MEM_BAD_DMA);
    assert_int_equal(mocx_mem_addr(f->dev, &f->acc, key, 4104, &bus),
                     MOCX_MEM_OK);
    key_destroy(f, key);
    drv_mr_free(x);
    drv_mr_free(y);
}

static void list_is_copied_through(void **state)
{
    Fixture *f = *state;
    DrvMr *mr = drv_mr_new(f->d, VA, 20000, DRV_ALL);
    MocxSge sgl[] = { { VA + 7, mr->key, 100 }, { VA, mr->key ^ 1, 0 },
                      { VA + 9000, mr->key, 5000 }, { VA, mr->key ^ 1, 1 } };
    uint8_t buf[5100], back[5000];
    MocxMemResult r;

    drv_mr_fill(mr, 0, 20000, 5);
    host_enter(f->d->h);
    r = mocx_sgl_read(f->dev, &f->acc, sgl, 4, 50, buf, 5050);
    assert_int_equal(r, MOCX_MEM_OK);
    r = mocx_sgl_read(f->dev, &f->acc, sgl, 4, 51, buf + 1, 5050);
    assert_int_equal(r, MOCX_MEM_BAD_KEY);
    r = mocx_sgl_read(f->dev, &f->acc, sgl, 3, 51, buf + 1, 5050);
    assert_int_equal(r, MOCX_MEM_BAD_RANGE);
    host_leave(f->d->h);
    drv_mr_read(mr, 9000, back, 5000);
    assert_memory_equal(buf + 50, back, 5000);
    drv_mr_free(mr);
}

static void bad_keys_are_refused(void **state)
{
    Fixture *f = *state;
    static const struct { const char *name; unsigned mode, shift, oct, actual;
                          bool pd; uint64_t len; uint8_t status; } t[] = {
        { "good", 1, 12, 1, 1, true, 8192, MOCX_OK },
        { "mode", 4, 12, 1, 1, true, 8192, MOCX_BAD_PARAM },
        { "small page", 1, 11, 1, 1, true, 8192, MOCX_BAD_PARAM },
        { "large page", 1, 63, 1, 1, true, 8192, MOCX_BAD_PARAM },
        { "room", 1, 12, 0xffffffff, 1, true, 8192, MOCX_LIM_ERR },
        { "more than room", 1, 12, 1, 2, true, 8192, MOCX_BAD_PARAM },
        { "more than given", 1, 12, 4, 4, true, 8192, MOCX_BAD_PARAM },
        { "PD", 1, 12, 1, 1, false, 8192, MOCX_BAD_RES },
        { "wraps", 1, 12, 1, 1, true, ~0ULL, MOCX_BAD_PARAM },
    };

    f->d->h->breaks = true;
    for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        uint8_t in[DEVX_ST_SZ_BYTES(create_mkey_in) + 32] = { 0 }, out[16];
        uint8_t *mkc = DEVX_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

        DEVX_SET(create_mkey_in, in, opcode, MLX5_CMD_OP_CREATE_MKEY);
        DEVX_SET(create_mkey_in, in, translations_octword_actual_size,
                 t[i].actual);
        DEVX_SET(mkc, mkc, access_mode_1_0, t[i].mode & 3);
        DEVX_SET(mkc, mkc, access_mode_4_2, t[i].mode >> 2);
        DEVX_SET(mkc, mkc, log_page_size, t[i].shift);
        DEVX_SET(mkc, mkc, translations_octword_size, t[i].oct);
        DEVX_SET(mkc, mkc, pd, t[i].pd ? f->d->pdn : 0xfff);
        DEVX_SET64(mkc, mkc, start_addr, VA);
        DEVX_SET64(mkc, mkc, len, t[i].len);
        if (drv_cmd(f->d, in, sizeof(in), out, sizeof(out)) != t[i].status) {
            fail_msg("%s: status 0x%x", t[i].name, f->d->status);
        }
        if (!t[i].status) {
            key_destroy(f, DEVX_GET(create_mkey_out, out, mkey_index) << 8);
        }
    }
}

static void key_is_shown_as_it_was_made(void **state)
{
    Fixture *f = *state;
    DrvMr *mr = drv_mr_new(f->d, VA, 9000, DRV_LR | DRV_RW);
    uint8_t in[16] = { 0 }, out[DEVX_ST_SZ_BYTES(query_mkey_out)];
    uint8_t *mkc = DEVX_ADDR_OF(query_mkey_out, out, memory_key_mkey_entry);

    DEVX_SET(query_mkey_in, in, opcode, MLX5_CMD_OP_QUERY_MKEY);
    DEVX_SET(query_mkey_in, in, mkey_index, mr->key >> 8);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    assert_int_equal(DEVX_GET64(mkc, mkc, start_addr), VA);
    assert_int_equal(DEVX_GET64(mkc, mkc, len), 9000);
    assert_int_equal(DEVX_GET(mkc, mkc, pd), f->d->pdn);
    assert_int_equal(DEVX_GET(mkc, mkc, mkey_7_0), TAG);
    assert_int_equal(DEVX_GET(mkc, mkc, lr), 1);
    assert_int_equal(DEVX_GET(mkc, mkc, lw), 0);
    assert_int_equal(DEVX_GET(mkc, mkc, rw), 1);
    assert_int_equal(DEVX_GET(mkc, mkc, log_page_size), 12);
    drv_mr_free(mr);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(copies_follow_scattered_pages),
        T(region_has_exact_ends),
        T(key_must_be_the_right_one),
        T(every_right_is_needed_for_itself),
        T(physical_key_reaches_all_of_memory),
        T(special_keys_are_what_they_say),
        T(keys_nest),
        T(failing_entry_leaves_the_first_alone),
        T(equal_entries_are_found_by_division),
        T(endless_keys_end),
        T(atomic_word_lies_in_one_piece),
        T(list_is_copied_through),
        T(bad_keys_are_refused),
        T(key_is_shown_as_it_was_made),
    };

    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
