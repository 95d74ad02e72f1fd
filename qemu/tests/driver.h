/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model as a driver sees it: real command queue and mailboxes, doorbells,
 * rings.  Functions that make something fail the test if the device refuses;
 * drv_cmd() is for tests of refusals.
 *
 *     World *w = world_new(2, NULL);
 *     Drv *a = drv_new(w->host[0]), *b = drv_new(w->host[1]);
 *
 *     drv_bring_up(a);             drv_bring_up(b);
 *     drv_net_up(a);               drv_net_up(b);
 *     DrvCq *cqa = drv_cq_new(a, 6), *cqb = drv_cq_new(b, 6);
 *     DrvQp *qa = drv_qp_new(a, &(DrvQpParams){ .scq = cqa, .rcq = cqa });
 *     DrvQp *qb = drv_qp_new(b, &(DrvQpParams){ .scq = cqb, .rcq = cqb });
 *     drv_qp_connect(qa, qb, NULL);
 *     drv_post(qa, &(DrvWr){ .opcode = MLX5_OPCODE_SEND, ... });
 *     drv_ring(qa);
 *     drv_cq_wait(cqa, &cqe, NSEC_PER_SEC);
 *     ...
 *     drv_qp_free(qa); ... drv_tear_down(a); drv_free(a); world_free(w);
 */
#ifndef MOCX_TESTS_DRIVER_H
#define MOCX_TESTS_DRIVER_H

#include "core/ifc.h"
#include "harness.h"

#define DRV_SLOTS       32
#define DRV_MSG_MAX     (512 * 1024)
#ifndef DRV_PAGES_MAX
#define DRV_PAGES_MAX   65536
#endif
#define DRV_CMD_TIMEOUT (60 * NSEC_PER_SEC)

/* Registers of BAR0 (mlx5/device.h: struct mlx5_init_seg; UAR pages). */
enum {
    ISEG_FW_REV = 0x00, ISEG_CMDIF_REV = 0x04, ISEG_CMDQ_HI = 0x10,
    ISEG_CMDQ_LO = 0x14, ISEG_CMD_DB = 0x18, ISEG_INITIALIZING = 0x1fc,
    ISEG_HEALTH = 0x200, ISEG_HEALTH_SYND = 0x23c, ISEG_TIMER_HI = 0x1000,
    ISEG_TIMER_LO = 0x1004, ISEG_HEALTH_COUNTER = 0x1010,
    UAR_CQ_ARM = 0x20, UAR_EQ_ARM = 0x40, UAR_EQ_UPDATE = 0x48,
    UAR_BF = 0x800,
};

/* Delivery status of a command that has not completed. */
#define DRV_PENDING     0xff

typedef struct DrvSlot {
    uint64_t *in_blocks;
    uint64_t *out_blocks;
    unsigned num_in, num_out;
    uint32_t outlen;
    uint8_t token;
} DrvSlot;

typedef struct DrvEq DrvEq;
typedef struct DrvCq DrvCq;

/** DrvRecord - sees every command before drv_cmd() issues it */
typedef void DrvRecord(void *arg, const void *in, size_t inlen, size_t outlen);

typedef struct Drv {
    Host *h;
    DrvRecord *record;
    void *record_arg;
    uint64_t cmdq;
    unsigned log_slots;
    unsigned log_stride;
    DrvSlot slot[DRV_SLOTS];

    uint8_t status;         /* of the last command */
    uint32_t syndrome;
    uint8_t delivery;

    uint64_t *pages;        /* given to the firmware */
    unsigned num_pages;

    uint32_t uar;
    uint32_t pdn;
    uint32_t tdn;
    uint32_t lkey;          /* PA mkey over all of memory, every right */
    DrvEq *async;           /* every asynchronous event; vector 0 */
    DrvEq *comp;            /* completions; vector 1 */
    DrvCq *cqs;
} Drv;

/* Commands */

Drv *drv_new(Host *h);
/** drv_free() - forget the driver's memory; the device is not touched */
void drv_free(Drv *d);

/**
 * drv_cmd() - one command through slot 0, waited for
 * @d: the driver
 * @in: the input
 * @inlen: bytes
 * @out: room for the output
 * @outlen: bytes
 *
 * Return: the status of its output header; also left in @d with the syndrome.
 */
uint8_t drv_cmd(Drv *d, const void *in, size_t inlen, void *out, size_t outlen);
/** drv_cmd_ok() - the same, and the test fails unless the status is 0 */
void drv_cmd_ok(Drv *d, const void *in, size_t inlen, void *out, size_t outlen);

/** drv_cmd_start() - fill a slot and ring the doorbell */
void drv_cmd_start(Drv *d, unsigned slot, const void *in, size_t inlen,
                   size_t outlen);
/** drv_cmd_fill() - fill a slot; the caller rings with drv_cmd_ring() */
void drv_cmd_fill(Drv *d, unsigned slot, const void *in, size_t inlen,
                  size_t outlen);
void drv_cmd_ring(Drv *d, uint32_t slots);
/** drv_cmd_entry() - the 64-byte entry of a slot, to spoil it */
uint8_t *drv_cmd_entry(Drv *d, unsigned slot);
/** drv_cmd_poll() - Return: delivery status, or DRV_PENDING */
uint8_t drv_cmd_poll(Drv *d, unsigned slot);
/** drv_cmd_output() - gather the output of a completed slot */
void drv_cmd_output(Drv *d, unsigned slot, void *out, size_t outlen);

/* Life cycle */

/** drv_cmdq_setup() - what mlx5_cmd_enable() does */
void drv_cmdq_setup(Drv *d);
/**
 * drv_bring_up() - to INIT_HCA, then UAR, async and completion EQ, PD,
 * transport domain, and a mkey over all of memory
 * @d: the driver
 */
void drv_bring_up(Drv *d);
/** drv_hca_up() - only to INIT_HCA */
void drv_hca_up(Drv *d);
/** drv_tear_down() - the reverse; every page must come back */
void drv_tear_down(Drv *d);
void drv_hca_down(Drv *d);
/** drv_give_pages() - MANAGE_PAGES: @n pages for the device */
void drv_give_pages(Drv *d, unsigned n);
/** drv_take_pages() - ask for @n back; Return: how many came */
unsigned drv_take_pages(Drv *d, unsigned n);
/**
 * drv_service_pages() - answer page requests waiting in the async EQ
 * @d: the driver
 *
 * Other events found there are skipped.
 */
void drv_service_pages(Drv *d);
/** drv_net_up() - port up, RoCE enabled, the GIDs below */
void drv_net_up(Drv *d);

/* Order as a card's: v1 before v2 for each address. */
enum {
    DRV_GID_V1_V6, DRV_GID_V2_V6,       /* fd00::(1 + index of the host) */
    DRV_GID_V1_V4, DRV_GID_V2_V4,       /* 10.0.0.(1 + index of the host) */
};

/** drv_gid_address() - what drv_net_up() puts behind those */
void drv_gid_address(const Host *h, unsigned gid, uint8_t addr[16]);
/**
 * drv_gid_set() - SET_ROCE_ADDRESS
 * @d: the driver
 * @index: in the table
 * @addr: the address
 * @version: 0 v1, 2 v2
 * @vlan: VLAN ID, or -1
 */
void drv_gid_set(Drv *d, unsigned index, const uint8_t addr[16],
                 unsigned version, int vlan);

/* Plain objects: opcode in, number out. */
uint32_t drv_alloc(Drv *d, uint16_t opcode);
void drv_dealloc(Drv *d, uint16_t opcode, uint32_t id);

/* Event queues */

struct DrvEq {
    Drv *d;
    uint32_t eqn;
    unsigned log_size;
    unsigned vector;
    uint64_t buf;
    uint32_t ci;
};

DrvEq *drv_eq_new(Drv *d, unsigned log_size, unsigned vector, uint64_t mask);
void drv_eq_free(DrvEq *eq);
/** drv_eq_poll() - Return: false if there is none */
bool drv_eq_poll(DrvEq *eq, uint8_t eqe[64]);
void drv_eq_arm(DrvEq *eq);
/** drv_event_find() - drop events of the async EQ up to one of this type */
bool drv_event_find(Drv *d, uint8_t type, uint8_t eqe[64]);

/* Completion queues */

struct DrvCq {
    Drv *d;
    DrvCq *next;     /* of the driver's */
    uint32_t cqn;
    unsigned log_size;
    uint64_t buf;
    uint64_t dbr;
    uint32_t ci;
    uint32_t arm_sn;        /* events seen */
};

/** drv_cq_new() - on the completion EQ */
DrvCq *drv_cq_new(Drv *d, unsigned log_size);
DrvCq *drv_cq_new_on(Drv *d, unsigned log_size, const DrvEq *eq);
void drv_cq_free(DrvCq *cq);
/** drv_cq_forget() - the same without a word to the device */
void drv_cq_forget(DrvCq *cq);
/**
 * drv_cq_resize() - another ring; what was not polled moves into it
 * @cq: the CQ
 * @log_size: log2 of the CQEs of the new ring
 *
 * Return: status of the command; the CQ is as it was unless it is MOCX_OK.
 */
uint8_t drv_cq_resize(DrvCq *cq, unsigned log_size);
/** drv_cq_poll() - Return: false if there is none */
bool drv_cq_poll(DrvCq *cq, struct mlx5_cqe64 *cqe);
/** drv_cq_wait() - let the world run until there is one */
bool drv_cq_wait(DrvCq *cq, struct mlx5_cqe64 *cqe, uint64_t limit_ns);
/**
 * drv_cq_expect() - wait at most 10 s; fail unless opcode and, for errors,
 * the syndrome are these
 * @cq: the CQ
 * @opcode: MLX5_CQE_*
 * @syndrome: of an error CQE, else 0
 * @cqe: receives the CQE, or NULL
 */
void drv_cq_expect(DrvCq *cq, unsigned opcode, unsigned syndrome,
                   struct mlx5_cqe64 *cqe);
void drv_cq_arm(DrvCq *cq, bool solicited_only);

static inline unsigned cqe_opcode(const struct mlx5_cqe64 *cqe)
{
    return cqe->op_own >> 4;
}

static inline unsigned cqe_syndrome(const struct mlx5_cqe64 *cqe)
{
    return ((const uint8_t *)cqe)[0x37];
}

static inline unsigned cqe_vendor(const struct mlx5_cqe64 *cqe)
{
    return ((const uint8_t *)cqe)[0x36];
}

static inline uint32_t cqe_qpn(const struct mlx5_cqe64 *cqe)
{
    return be32toh(cqe->sop_drop_qpn) & 0xffffff;
}

/* Memory regions */

enum {
    DRV_LR = 1, DRV_LW = 2, DRV_RR = 4, DRV_RW = 8, DRV_RA = 16,
    DRV_ALL = 31,
};

/*
 * Every page lies somewhere else in guest memory, with guard bytes behind it,
 * so that a translation that is off by one is seen.
 */
typedef struct DrvMr {
    Drv *d;
    uint32_t key;           /* lkey and rkey */
    uint64_t va;
    uint64_t len;
    unsigned page_shift;
    unsigned num_pages;
    uint64_t *pages;
} DrvMr;

/**
 * drv_mr_new() - MTT region of @len bytes at virtual address @va
 * @d: the driver
 * @va: address as its users see it
 * @len: bytes
 * @rights: DRV_LR | …
 */
DrvMr *drv_mr_new(Drv *d, uint64_t va, uint64_t len, unsigned rights);
DrvMr *drv_mr_new_pd(Drv *d, uint32_t pdn, uint64_t va, uint64_t len,
                     unsigned rights, unsigned page_shift);
void drv_mr_free(DrvMr *mr);
void drv_mr_write(DrvMr *mr, uint64_t off, const void *buf, size_t len);
void drv_mr_read(DrvMr *mr, uint64_t off, void *buf, size_t len);
/** drv_mr_fill() - the seeded pattern that drv_mr_check() expects */
void drv_mr_fill(DrvMr *mr, uint64_t off, size_t len, uint64_t seed);
/** drv_mr_check() - Return: offset of the first byte that differs, or -1 */
int64_t drv_mr_check(DrvMr *mr, uint64_t off, size_t len, uint64_t seed);

/* Queue pairs */

enum { DRV_QP_RC = 0, DRV_QP_UC = 1, DRV_QP_UD = 2, DRV_QP_GSI = 8,
       DRV_QP_UMR = 0xc };

/* Zero means the default in brackets. */
typedef struct DrvQpParams {
    uint8_t type;
    DrvCq *scq, *rcq;
    unsigned log_sq;        /* 64-byte blocks [6] */
    unsigned log_rq;        /* WQEs [6] */
    unsigned log_rq_stride; /* bytes [6] */
    uint32_t pdn;           /* [the driver's] */
    uint32_t srqn;          /* [none] */
    uint32_t user_index;    /* [0xffffff] */
} DrvQpParams;

typedef struct DrvQp {
    Drv *d;
    DrvQpParams p;
    uint32_t qpn;
    uint64_t buf;
    uint64_t sq;            /* within buf */
    uint64_t dbr;
    uint16_t sq_pi;         /* blocks */
    uint16_t rq_pi;
    uint64_t last_ctrl;     /* first 8 bytes of the newest WQE */
} DrvQp;

/* Zero means the default in brackets. */
typedef struct DrvPath {
    unsigned gid;           /* [DRV_GID_V2_V4] if set_gid is false */
    bool set_gid;
    unsigned mtu;           /* 1..5 [3: 1024] */
    uint32_t sq_psn;
    uint32_t rq_psn;
    unsigned timeout;       /* 4.096 us << n [14] */
    unsigned retry;         /* if set_retry is false [7] */
    unsigned rnr_retry;     /* if set_retry is false [7] */
    bool set_retry;
    unsigned min_rnr;       /* [12] */
    unsigned log_rra, log_sra;
    unsigned log_msg_max;   /* [30] */
    unsigned rights;        /* DRV_RR | DRV_RW | DRV_RA [all] */
    bool no_rights;
    uint32_t qkey;          /* UD [0x11111111] */
} DrvPath;

DrvQp *drv_qp_new(Drv *d, const DrvQpParams *p);
void drv_qp_free(DrvQp *qp);
/** drv_qp_cmd() - 2ERR, 2RST, DESTROY: opcode and number, nothing else */
uint8_t drv_qp_cmd(DrvQp *qp, uint16_t opcode);
/** drv_qp_query() - into @qpc; Return: the state */
unsigned drv_qp_query(DrvQp *qp, uint8_t qpc[DEVX_ST_SZ_BYTES(qpc)]);
/** drv_qp_reset() - to RESET, and the driver's side of it */
void drv_qp_reset(DrvQp *qp);
/**
 * drv_qp_connect() - both to RTS, each other's peer; @path NULL: defaults
 * @a: one QP
 * @b: its peer
 * @path: the path; NULL: defaults
 *
 * sq_psn and rq_psn are those of @a; @b gets them crossed.  Both may be one QP.
 */
void drv_qp_connect(DrvQp *a, DrvQp *b, const DrvPath *path);
/** drv_qp_ready() - a UD or GSI or UMR QP to RTS */
void drv_qp_ready(DrvQp *qp, const DrvPath *path);
/* The single steps. */
void drv_qp_rst2init(DrvQp *qp, const DrvPath *path);
void drv_qp_init2rtr(DrvQp *qp, const DrvPath *path, const DrvQp *peer);
void drv_qp_rtr2rts(DrvQp *qp, const DrvPath *path);

typedef struct DrvSge {
    uint64_t addr;
    uint32_t lkey;
    uint32_t len;
} DrvSge;

/** struct DrvAv - where a UD WQE goes */
typedef struct DrvAv {
    const Host *peer;
    uint32_t qpn;
    uint32_t qkey;
    unsigned gid;           /* of both sides: DRV_GID_… */
} DrvAv;

#define DRV_SGE_MAX     4

typedef struct DrvWr {
    uint8_t opcode;         /* MLX5_OPCODE_… */
    bool unsignaled;
    bool solicited;
    uint8_t fence;          /* fm field, 0..4 */
    uint32_t imm;           /* or the rkey to invalidate */
    uint64_t raddr;
    uint32_t rkey;
    uint64_t swap_add;      /* atomics */
    uint64_t compare;
    const DrvAv *av;        /* UD */
    const void *inl;        /* inline data instead of SGEs */
    uint32_t inl_len;
    unsigned num_sge;
    DrvSge sge[DRV_SGE_MAX];
} DrvWr;

/**
 * drv_post() - build one send WQE; drv_ring() tells the device
 * @qp: the QP
 * @wr: what to send
 *
 * Return: its index, as the CQE's wqe_counter has it.
 */
uint16_t drv_post(DrvQp *qp, const DrvWr *wr);
/** drv_post_raw() - the same from whole segments behind the control segment */
uint16_t drv_post_raw(DrvQp *qp, uint8_t opcode, uint8_t fm_ce_se, uint32_t imm,
                      const void *segs, size_t len);
void drv_ring(DrvQp *qp);
/** drv_post_recv() - one receive WQE, visible at once */
uint16_t drv_post_recv(DrvQp *qp, const DrvSge *sge, unsigned n);

#endif /* MOCX_TESTS_DRIVER_H */
