/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Firmware pages, capabilities, registers, vport and GIDs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/dev.h"
#include "fixture.h"

#define CAP_MAX         0
#define CAP_CUR         1
#define MANY            600     /* objects, enough to want pages for */

#define REG_PMTU        0x5003
#define REG_MCQS        0x9060
#define REG_MCQI        0x9061
#define REG_MCAM        0x907f
#define REG_PTYS        0x5004
#define REG_PAOS        0x5006

static uint8_t plain(Fixture *f, uint16_t opcode, uint16_t op_mod)
{
    uint8_t in[32] = { 0 }, out[32];

    mocx_put_be16(in, opcode);
    mocx_put_be16(in + 6, op_mod);
    return drv_cmd(f->d, in, sizeof(in), out, sizeof(out));
}

/* Life cycle */

static void commands_have_their_states(void **state)
{
    Fixture *f = *state;

    drv_cmdq_setup(f->d);
    assert_int_equal(plain(f, MLX5_CMD_OP_ALLOC_PD, 0), MOCX_BAD_SYS_STATE);
    assert_int_equal(plain(f, MLX5_CMD_OP_INIT_HCA, 0), MOCX_BAD_SYS_STATE);
    assert_int_equal(plain(f, MLX5_CMD_OP_ENABLE_HCA, 0), MOCX_OK);
    assert_int_equal(plain(f, MLX5_CMD_OP_ENABLE_HCA, 0), MOCX_BAD_SYS_STATE);
    assert_int_equal(plain(f, MLX5_CMD_OP_TEARDOWN_HCA, 0),
                     MOCX_BAD_SYS_STATE);
    /* not before every page was given */
    assert_int_equal(plain(f, MLX5_CMD_OP_INIT_HCA, 0), MOCX_NO_RES);
    assert_int_equal(plain(f, MLX5_CMD_OP_DISABLE_HCA, 0), MOCX_OK);
    assert_int_equal(plain(f, MLX5_CMD_OP_DISABLE_HCA, 0), MOCX_BAD_SYS_STATE);
}

static void leak_is_named_at_teardown(void **state)
{
    Fixture *f = *state;

    f->d->h->breaks = true;
    drv_bring_up(f->d);
    drv_alloc(f->d, MLX5_CMD_OP_ALLOC_XRCD);
    assert_int_equal(plain(f, MLX5_CMD_OP_TEARDOWN_HCA, 0), MOCX_OK);
    assert_true(f->d->h->logs[MOCX_LOG_GUEST_ERROR] >= 1);
    assert_int_equal(host_status(f->d->h, "objects.total"), 0);
    assert_int_equal(plain(f, MLX5_CMD_OP_DISABLE_HCA, 0), MOCX_OK);
    assert_non_null(strstr(f->d->h->last_log, "pages not taken back"));
    assert_int_equal(host_status(f->d->h, "pages.held"), 0);
}

/* As mlx5_error_sw_reset() and wait_vital() do it. */
static void software_reset_revives_dead_firmware(void **state)
{
    Fixture *f = *state;
    Host *h = f->d->h;
    uint32_t low, beat;

    drv_bring_up(f->d);
    assert_int_equal(host_read32(h, ISEG_INITIALIZING), 1u << 30);
    host_inject(h, "fatal=1");
    beat = host_read32(h, ISEG_HEALTH_COUNTER);
    world_run(f->w, NSEC_PER_SEC);
    assert_int_equal(host_read32(h, ISEG_HEALTH_COUNTER), beat);
    low = host_read32(h, ISEG_CMDQ_LO);
    host_write32(h, ISEG_CMDQ_LO, (low & ~0x700u) | 7 << 8);
    assert_int_equal(host_read32(h, ISEG_CMDQ_LO) >> 8 & 7, 1);
    assert_int_equal(host_read32(h, ISEG_HEALTH_SYND), 0);
    beat = host_read32(h, ISEG_HEALTH_COUNTER);
    world_run(f->w, 50 * NSEC_PER_MSEC);
    assert_int_not_equal(host_read32(h, ISEG_HEALTH_COUNTER), beat);
    assert_int_equal(host_status(h, "objects.total"), 0);
    assert_int_equal(host_status(h, "pages.held"), 0);
    drv_cmdq_setup(f->d);
    assert_int_equal(host_read32(h, ISEG_CMDQ_LO) >> 8 & 7, 0);
    assert_int_equal(plain(f, MLX5_CMD_OP_ENABLE_HCA, 0), MOCX_OK);
}

/* Pages */

static void pages_follow_the_objects(void **state)
{
    Fixture *f = *state;
    uint32_t *pds = calloc(MANY, sizeof(*pds));
    unsigned before = f->d->num_pages, most;

    for (unsigned i = 0; i < MANY; i++) {
        pds[i] = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_PD);
        drv_service_pages(f->d);
    }
    most = f->d->num_pages;
    assert_true(most > before);
    assert_int_equal(host_status(f->d->h, "pages.held"), most);
    for (unsigned i = 0; i < MANY; i++) {
        drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_PD, pds[i]);
        drv_service_pages(f->d);
    }
    assert_true(f->d->num_pages < most);
    assert_int_equal(host_status(f->d->h, "pages.held"), f->d->num_pages);
    assert_int_equal(f->d->h->logs[MOCX_LOG_GUEST_ERROR], 0);
    free(pds);
}

static uint8_t give(Fixture *f, uint32_t n, uint32_t claimed, uint64_t pa)
{
    size_t len = 16 + n * 8;
    uint8_t *in = calloc(1, len), out[16], status;

    DEVX_SET(manage_pages_in, in, opcode, MLX5_CMD_OP_MANAGE_PAGES);
    DEVX_SET(manage_pages_in, in, op_mod, 1);
    DEVX_SET(manage_pages_in, in, input_num_entries, claimed);
    for (uint32_t i = 0; i < n; i++) {
        mocx_put_be64(in + 16 + i * 8, pa);
    }
    status = drv_cmd(f->d, in, len, out, sizeof(out));
    free(in);
    return status;
}

static void pages_are_counted_and_checked(void **state)
{
    Fixture *f = *state;

    drv_cmdq_setup(f->d);
    assert_int_equal(plain(f, MLX5_CMD_OP_ENABLE_HCA, 0), MOCX_OK);
    assert_int_equal(give(f, 1, 1, 0x1000), MOCX_LIM_ERR);  /* unasked */
    assert_int_equal(plain(f, MLX5_CMD_OP_QUERY_PAGES, 1), MOCX_OK);
    assert_int_equal(give(f, 1, 1, 0x1001), MOCX_BAD_PARAM);
    assert_int_equal(give(f, 1, 1, 0), MOCX_BAD_PARAM);
    assert_int_equal(give(f, 1, 2, 0x1000), MOCX_BAD_INPUT_LEN);
    assert_int_equal(give(f, 1, 0xffffffff, 0x1000), MOCX_BAD_INPUT_LEN);
    assert_int_equal(host_status(f->d->h, "pages.held"), 0);
    assert_int_equal(give(f, 1, 1, 0x1000), MOCX_OK);
    assert_int_equal(host_status(f->d->h, "pages.held"), 1);
}

/* Capabilities */

static void cap_query(Fixture *f, MocxCapType type, unsigned mode,
                      uint8_t cap[4096])
{
    uint8_t in[DEVX_ST_SZ_BYTES(query_hca_cap_in)] = { 0 };
    uint8_t *out = calloc(1, DEVX_ST_SZ_BYTES(query_hca_cap_out));

    DEVX_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
    DEVX_SET(query_hca_cap_in, in, op_mod, type << 1 | mode);
    drv_cmd_ok(f->d, in, sizeof(in), out, DEVX_ST_SZ_BYTES(query_hca_cap_out));
    memcpy(cap, DEVX_ADDR_OF(query_hca_cap_out, out, capability), 4096);
    free(out);
}

static uint8_t cap_set(Fixture *f, MocxCapType type, const uint8_t cap[4096])
{
    uint8_t *in = calloc(1, DEVX_ST_SZ_BYTES(set_hca_cap_in)), out[16], status;

    DEVX_SET(set_hca_cap_in, in, opcode, MLX5_CMD_OP_SET_HCA_CAP);
    DEVX_SET(set_hca_cap_in, in, op_mod, type << 1);
    memcpy(DEVX_ADDR_OF(set_hca_cap_in, in, capability), cap, 4096);
    status = drv_cmd(f->d, in, DEVX_ST_SZ_BYTES(set_hca_cap_in), out, 16);
    free(in);
    return status;
}

static void choice_is_stored_within_what_is_offered(void **state)
{
    Fixture *f = *state;
    uint8_t cap[4096];
    unsigned max;

    drv_cmdq_setup(f->d);
    assert_int_equal(plain(f, MLX5_CMD_OP_ENABLE_HCA, 0), MOCX_OK);
    cap_query(f, MOCX_CAP_GENERAL, CAP_MAX, cap);
    max = DEVX_GET(cmd_hca_cap, cap, log_max_qp);
    assert_int_equal(max, 14);
    DEVX_SET(cmd_hca_cap, cap, log_max_qp, max + 1);
    assert_int_equal(cap_set(f, MOCX_CAP_GENERAL, cap), MOCX_BAD_PARAM);
    DEVX_SET(cmd_hca_cap, cap, log_max_qp, max - 1);
    assert_int_equal(cap_set(f, MOCX_CAP_GENERAL, cap), MOCX_OK);
    cap_query(f, MOCX_CAP_GENERAL, CAP_CUR, cap);
    assert_int_equal(DEVX_GET(cmd_hca_cap, cap, log_max_qp), max - 1);
    cap_query(f, MOCX_CAP_GENERAL, CAP_MAX, cap);
    assert_int_equal(DEVX_GET(cmd_hca_cap, cap, log_max_qp), max);
    /* and forgotten with the driver */
    assert_int_equal(plain(f, MLX5_CMD_OP_DISABLE_HCA, 0), MOCX_OK);
    assert_int_equal(plain(f, MLX5_CMD_OP_ENABLE_HCA, 0), MOCX_OK);
    cap_query(f, MOCX_CAP_GENERAL, CAP_CUR, cap);
    assert_int_equal(DEVX_GET(cmd_hca_cap, cap, log_max_qp), max);
}

/* mlx5_core sends the atomic type with nothing but the mode in it. */
static void atomics_survive_the_choice_of_their_order(void **state)
{
    Fixture *f = *state;
    uint8_t cap[4096] = { 0 };

    drv_cmdq_setup(f->d);
    assert_int_equal(plain(f, MLX5_CMD_OP_ENABLE_HCA, 0), MOCX_OK);
    cap_query(f, MOCX_CAP_ATOMIC, CAP_CUR, cap);
    assert_int_equal(DEVX_GET(atomic_caps, cap, atomic_req_8B_endianness_mode),
                     0);
    memset(cap, 0, sizeof(cap));
    DEVX_SET(atomic_caps, cap, atomic_req_8B_endianness_mode, 1);
    assert_int_equal(cap_set(f, MOCX_CAP_ATOMIC, cap), MOCX_OK);
    cap_query(f, MOCX_CAP_ATOMIC, CAP_CUR, cap);
    assert_int_equal(DEVX_GET(atomic_caps, cap, atomic_req_8B_endianness_mode),
                     1);
    assert_int_equal(DEVX_GET(atomic_caps, cap, atomic_operations), 3);
    assert_int_equal(plain(f, MLX5_CMD_OP_QUERY_HCA_CAP, 0x55 << 1 | 1),
                     MOCX_BAD_OUTPUT_LEN);
}

/* Registers */

static uint8_t reg_access(Fixture *f, uint16_t id, bool read, void *reg,
                          size_t len)
{
    uint8_t in[16 + 256] = { 0 }, out[16 + 256];

    DEVX_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
    DEVX_SET(access_register_in, in, op_mod, read);
    DEVX_SET(access_register_in, in, register_id, id);
    memcpy(in + 16, reg, len);
    drv_cmd(f->d, in, 16 + len, out, 16 + len);
    memcpy(reg, out + 16, len);
    return f->d->status;
}

static void registers_answer(void **state)
{
    Fixture *f = *state;
    uint8_t pmtu[16] = { 0 }, ptys[64] = { 0 }, none[64] = { 0 };

    assert_int_equal(reg_access(f, REG_PMTU, true, pmtu, 16), MOCX_OK);
    assert_true(DEVX_GET(pmtu_reg, pmtu, max_mtu) >= 9022);
    DEVX_SET(pmtu_reg, pmtu, admin_mtu, 9022);
    assert_int_equal(reg_access(f, REG_PMTU, false, pmtu, 16), MOCX_OK);
    memset(pmtu, 0, sizeof(pmtu));
    assert_int_equal(reg_access(f, REG_PMTU, true, pmtu, 16), MOCX_OK);
    assert_int_equal(DEVX_GET(pmtu_reg, pmtu, oper_mtu), 9022);
    DEVX_SET(pmtu_reg, pmtu, admin_mtu, 0xffff);
    assert_int_equal(reg_access(f, REG_PMTU, false, pmtu, 16), MOCX_BAD_PARAM);
    DEVX_SET(ptys_reg, ptys, proto_mask, 4);
    assert_int_equal(reg_access(f, REG_PTYS, true, ptys, 64), MOCX_OK);
    assert_int_equal(DEVX_GET(ptys_reg, ptys, eth_proto_oper), 1u << 20);
    assert_int_equal(reg_access(f, REG_PTYS, true, ptys, 32),
                     MOCX_BAD_INPUT_LEN);
    assert_int_equal(reg_access(f, 0x9014, true, none, 64), MOCX_BAD_PARAM);
    assert_int_equal(f->d->h->logs[MOCX_LOG_UNIMP], 1);
}

/* As mlx5_core's fw.c goes about it: MCAM, then MCQS, then MCQI. */
static void firmware_tells_its_version(void **state)
{
    Fixture *f = *state;
    uint8_t mcam[72] = { 0 }, mcqs[16] = { 0 };
    uint8_t mcqi[24 + DEVX_ST_SZ_BYTES(mcqi_version)] = { 0 };

    assert_int_equal(reg_access(f, REG_MCAM, true, mcam, 72), MOCX_OK);
    assert_int_equal(mocx_get_be32(mcam + 8), 3);       /* MCQI and MCQS */
    DEVX_SET(mcam_reg, mcam, access_reg_group, 2);
    assert_int_equal(reg_access(f, REG_MCAM, true, mcam, 72), MOCX_OK);
    assert_int_equal(mocx_get_be32(mcam + 8), 0);

    assert_int_equal(reg_access(f, REG_MCQS, true, mcqs, 16), MOCX_OK);
    assert_true(DEVX_GET(mcqs_reg, mcqs, last_index_flag));
    assert_int_equal(DEVX_GET(mcqs_reg, mcqs, identifier), 1);
    assert_int_equal(DEVX_GET(mcqs_reg, mcqs, component_update_state), 0);
    DEVX_SET(mcqs_reg, mcqs, component_index, 1);
    assert_int_equal(reg_access(f, REG_MCQS, true, mcqs, 16), MOCX_BAD_PARAM);

    DEVX_SET(mcqi_reg, mcqi, info_type, 1);
    assert_int_equal(reg_access(f, REG_MCQI, true, mcqi, sizeof(mcqi)),
                     MOCX_OK);
    assert_int_equal(DEVX_GET(mcqi_version, mcqi + 24, version),
                     16 << 24 | 35 << 16 | 1012);
    assert_int_equal(DEVX_GET(mcqi_version, mcqi + 24, version_string_length),
                     10);
    assert_memory_equal(mcqi + 24 + 32, "16.35.1012", 10);
    DEVX_SET(mcqi_reg, mcqi, info_type, 0);
    assert_int_equal(reg_access(f, REG_MCQI, true, mcqi, sizeof(mcqi)),
                     MOCX_BAD_PARAM);
    assert_int_equal(reg_access(f, REG_MCQI, false, mcqi, sizeof(mcqi)),
                     MOCX_BAD_PARAM);
}

static bool vport_up(Fixture *f)
{
    uint8_t in[16] = { 0 }, out[16];

    DEVX_SET(query_vport_state_in, in, opcode, MLX5_CMD_OP_QUERY_VPORT_STATE);
    drv_cmd_ok(f->d, in, sizeof(in), out, sizeof(out));
    return DEVX_GET(query_vport_state_out, out, state);
}

/* mlx5e asks for the state before it writes PAOS, and not again. */
static void admin_state_moves_the_vport_and_raises_events(void **state)
{
    Fixture *f = *state;
    uint8_t paos[16] = { 0 }, eqe[64];

    DEVX_SET(paos_reg, paos, ase, 1);
    DEVX_SET(paos_reg, paos, admin_status, 2);
    assert_int_equal(reg_access(f, REG_PAOS, false, paos, 16), MOCX_OK);
    assert_false(vport_up(f));
    assert_true(drv_event_find(f->d, MOCX_EV_PORT, eqe));
    assert_int_equal(eqe[3], 1);
    DEVX_SET(paos_reg, paos, ase, 1);
    DEVX_SET(paos_reg, paos, admin_status, 1);
    assert_int_equal(reg_access(f, REG_PAOS, false, paos, 16), MOCX_OK);
    assert_true(vport_up(f));
    assert_true(drv_event_find(f->d, MOCX_EV_PORT, eqe));
    assert_int_equal(eqe[3], 4);
    DEVX_SET(paos_reg, paos, ase, 1);
    DEVX_SET(paos_reg, paos, admin_status, 7);
    assert_int_equal(reg_access(f, REG_PAOS, false, paos, 16), MOCX_BAD_PARAM);
}

/* GIDs */

static uint8_t gid_set(Fixture *f, unsigned index, uint8_t first_of_mac)
{
    uint8_t in[DEVX_ST_SZ_BYTES(set_roce_address_in)] = { 0 }, out[16];
    uint8_t *addr = DEVX_ADDR_OF(set_roce_address_in, in, roce_address);

    DEVX_SET(set_roce_address_in, in, opcode, MLX5_CMD_OP_SET_ROCE_ADDRESS);
    DEVX_SET(set_roce_address_in, in, roce_address_index, index);
    addr[15] = 1;
    DEVX_SET(roce_addr_layout, addr, source_mac_47_32, first_of_mac << 8);
    DEVX_SET(roce_addr_layout, addr, roce_version, 2);
    return drv_cmd(f->d, in, sizeof(in), out, sizeof(out));
}

static void case_1_gid_with_a_multicast_mac_is_refused(void **state)
{
    Fixture *f = *state;

    assert_int_equal(gid_set(f, 0, 0x52), MOCX_OK);
    assert_int_equal(gid_set(f, 0, 0x53), MOCX_BAD_PARAM);
    assert_int_equal(f->d->syndrome, 0x63c66);
    assert_int_equal(gid_set(f, 127, 0x52), MOCX_OK);
    assert_int_equal(gid_set(f, 128, 0x52), MOCX_BAD_INDEX);
    assert_true(mocx_port_own_mac(&f->d->h->dev->port,
                                  (const uint8_t[]) { 0x52, 0, 0, 0, 0, 0 }));
}

/* Limits */

static void numbers_return_late(void **state)
{
    Fixture *f = *state;
    uint32_t first = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_PD);

    drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_PD, first);
    for (unsigned i = 0; i < 20; i++) {
        uint32_t pd = drv_alloc(f->d, MLX5_CMD_OP_ALLOC_PD);

        assert_int_not_equal(pd, first);
        drv_dealloc(f->d, MLX5_CMD_OP_DEALLOC_PD, pd);
    }
}

static void as_many_as_advertised(void **state)
{
    MocxConfig cfg;
    World *w;
    Drv *d;
    unsigned n = 1;     /* bring-up made one */

    mocx_config_default(&cfg);
    cfg.log_max_pd = 5;
    w = world_new(1, &cfg);
    d = drv_new(w->host[0]);
    drv_bring_up(d);
    for (;; n++) {
        uint8_t in[16] = { 0 }, out[16];

        mocx_put_be16(in, MLX5_CMD_OP_ALLOC_PD);
        if (drv_cmd(d, in, sizeof(in), out, sizeof(out))) {
            break;
        }
    }
    assert_int_equal(d->status, MOCX_LIM_ERR);
    assert_int_equal(n, 32);
    drv_free(d);
    world_free(w);
    (void)state;
}

static void nonsense_configurations_are_refused(void **state)
{
    static const MocxHostOps ops;
    MocxConfig cfg;
    const char *err = NULL;

    mocx_config_default(&cfg);
    cfg.log_max_qp = 30;
    assert_null(mocx_create(&cfg, &ops, NULL, &err));
    assert_non_null(strstr(err, "log_max_qp"));
    mocx_config_default(&cfg);
    cfg.link_speed_mbps = 12345;
    assert_null(mocx_create(&cfg, &ops, NULL, &err));
    assert_non_null(strstr(err, "speed"));
    (void)state;
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, fixture_new, fixture_free)
#define T_UP(fn)                                                        \
    cmocka_unit_test_setup_teardown(fn, fixture_new_up, fixture_free_up)
    const struct CMUnitTest tests[] = {
        T(commands_have_their_states),
        T(leak_is_named_at_teardown),
        T(software_reset_revives_dead_firmware),
        T_UP(pages_follow_the_objects),
        T(pages_are_counted_and_checked),
        T(choice_is_stored_within_what_is_offered),
        T(atomics_survive_the_choice_of_their_order),
        T_UP(registers_answer),
        T_UP(firmware_tells_its_version),
        T_UP(admin_state_moves_the_vport_and_raises_events),
        T_UP(case_1_gid_with_a_multicast_mac_is_refused),
        T_UP(numbers_return_late),
        cmocka_unit_test(as_many_as_advertised),
        cmocka_unit_test(nonsense_configurations_are_refused),
    };

    return cmocka_run_group_tests_name("hca", tests, NULL, NULL);
}
