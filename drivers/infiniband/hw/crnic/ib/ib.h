/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_IB_H
#define CRNIC_IB_H

/*
 * The verbs layer: objects of ib_core around objects of the device.  A file
 * here speaks ib_core and the mlx5 user ABI; it never fills a mailbox, it calls
 * <crnic/obj/> instead.
 */
#include <linux/notifier.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>

#include <crnic/crnic.h>
#include <crnic/obj/cq.h>
#include <crnic/obj/flow.h>
#include <crnic/obj/hca.h>
#include <crnic/obj/mkey.h>
#include <crnic/obj/vport.h>
#include <crnic/wqe.h>

#include "../compat/create_cq.h"

struct crnic_ib_clock;
struct crnic_ib_flows;
struct crnic_ib_umr;
struct crnic_raw;

/* Nothing below has more than one port */
#define CRNIC_PORT		1

/* Sizes of a CQ's entries; the CQE is in the last 64 bytes */
#define CRNIC_CQE_SIZE		64U
#define CRNIC_CQE_SIZE_128	128U

/* user_index of a context that has none */
#define CRNIC_NO_UIDX		0xffffffU

/* QP types as a mask, for tables */
#define CRNIC_T(type)		BIT(IB_QPT_##type)
#define CRNIC_T_XRC		(CRNIC_T(XRC_INI) | CRNIC_T(XRC_TGT))
#define CRNIC_T_ALL		(CRNIC_T(RC) | CRNIC_T(UC) | CRNIC_T(UD) | CRNIC_T(GSI) | \
				 CRNIC_T_XRC)
/* made of other objects, see raw.c */
#define CRNIC_T_RAW		CRNIC_T(RAW_PACKET)

/**
 * struct crnic_udbr - doorbell record of a user's object
 * @page: pinned page that holds it
 * @dma: bus address
 */
struct crnic_udbr {
	struct crnic_udbr_page *page;
	dma_addr_t dma;
};

/**
 * struct crnic_ring - memory of a queue, the user's or the kernel's
 * @umem: user's ring, or NULL
 * @udbr: user's doorbell record
 * @uar: user's doorbell page, held
 * @buf: kernel's ring
 * @dbr: kernel's doorbell record
 */
struct crnic_ring {
	struct ib_umem *umem;
	struct crnic_udbr udbr;
	struct crnic_ib_uar *uar;
	struct crnic_buf buf;
	struct crnic_dbr dbr;
};

/**
 * struct crnic_ib_idle - what XRC QPs name and do not use
 * @xrcdn: domain of initiators
 * @cq: CQ without CQEs
 * @cq_ring: its memory
 * @srqn: XRC SRQ without WQEs
 * @srq_ring: its memory
 */
struct crnic_ib_idle {
	u32 xrcdn;
	struct crnic_cq cq;
	struct crnic_ring cq_ring;
	u32 srqn;
	struct crnic_ring srq_ring;
};

/**
 * struct crnic_ib - the verbs device of one function
 * @ibdev: ib_core's part
 * @dev: the function
 * @nic: vport context at registration: GUIDs, minimal inline mode
 * @keys: special memory keys
 * @idle: what XRC QPs name
 * @umr: the kernel's own work requests on keys
 * @clock: the device's clock, or NULL
 * @flows: flow rules of users
 * @counter_set: queue counters of all QPs, if @has_counters
 * @has_counters: the device has queue counters
 * @qps: QPs of the kernel by device number, for polling; xa_lock is taken with
 *	 interrupts off
 * @key_variant: low byte of the next memory key; a stale key then never matches
 * @wq: for @kick; memory may be scarce when storage waits for it
 * @kick: calls the completion handlers of a dead device
 * @active: port state last told to ib_core; under RTNL
 * @dev_nb: events of the device
 * @netdev_nb: events of the port's netdev
 */
struct crnic_ib {
	struct ib_device ibdev;
	struct crnic_dev *dev;
	struct crnic_vport_nic nic;
	struct crnic_special_keys keys;
	struct crnic_ib_idle idle;
	struct crnic_ib_umr *umr;
	struct crnic_ib_clock *clock;
	struct crnic_ib_flows *flows;
	u8 counter_set;
	bool has_counters;
	struct xarray qps;
	atomic_t key_variant;
	struct workqueue_struct *wq;
	struct work_struct kick;
	bool active;
	struct notifier_block dev_nb;
	struct notifier_block netdev_nb;
};

/**
 * struct crnic_ib_ctx - a user's context
 * @ibctx: ib_core's part
 * @cqe_version: 1 if CQEs carry the user's index
 * @dbr_lock: protects @dbr_pages; taken alone
 * @dbr_pages: pinned pages with doorbell records
 * @td_lock: protects what follows; taken alone
 * @has_td: there is a transport domain, made for the first raw packet QP
 * @tdn: its number
 */
struct crnic_ib_ctx {
	struct ib_ucontext ibctx;
	u8 cqe_version;
	struct mutex dbr_lock;	/* protects dbr_pages */
	struct list_head dbr_pages;
	struct mutex td_lock;	/* protects has_td, tdn */
	bool has_td;
	u32 tdn;
};

/**
 * struct crnic_ib_uar - a doorbell page of a user
 * @rdma: mapping; its reference counter is also held by each queue that names
 *	  the page, so that the device's page outlives them
 * @index: number of the page
 */
struct crnic_ib_uar {
	struct rdma_user_mmap_entry rdma;
	u32 index;
};

struct crnic_ib_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

struct crnic_ib_xrcd {
	struct ib_xrcd ibxrcd;
	u32 xrcdn;
};

struct crnic_ib_mw {
	struct ib_mw ibmw;
};

/**
 * struct crnic_ib_ah - address handle
 * @ibah: ib_core's part
 * @av: what goes with each datagram
 * @tclass: traffic class as the user gave it; @av has the ECN bits in it
 */
struct crnic_ib_ah {
	struct ib_ah ibah;
	struct mlx5_av av;
	u8 tclass;
};

/**
 * struct crnic_ib_cq - completion queue
 * @ibcq: ib_core's part
 * @core: the device's CQ
 * @ring: its memory
 * @resize_lock: one resize at a time: protects @ring's pages and ibcq.cqe
 * @cqe_size: bytes of an entry
 * @pad_128: 64-byte CQEs are padded to 128 bytes
 * @lock: protects the consumer side of a kernel CQ; inside of it only a queue's
 *	  own state is touched
 * @ci: consumer counter
 */
struct crnic_ib_cq {
	struct ib_cq ibcq;
	struct crnic_cq core;
	struct crnic_ring ring;
	struct mutex resize_lock;	/* ring's pages, ibcq.cqe */
	u16 cqe_size;
	bool pad_128;
	spinlock_t lock;	/* consumer side of a kernel CQ */
	u32 ci;
};

/**
 * struct crnic_sq_wr - what the kernel remembers of a posted send
 * @wr_id: the user's cookie
 * @next: producer counter behind its WQE
 * @opcode: ib_wc_opcode of its completion
 */
struct crnic_sq_wr {
	u64 wr_id;
	u16 next;
	u8 opcode;
};

/**
 * struct crnic_sq - send queue of a kernel QP
 * @lock: protects the producer side; @cc moves under the send CQ's lock
 * @buf: ring of 64-byte basic blocks
 * @wrs: one entry per basic block; valid at the first block of a WQE
 * @bbs: basic blocks, a power of two
 * @max_bbs: basic blocks of the longest WQE
 * @max_sge: limit
 * @max_inline: limit
 * @pc: producer counter in basic blocks
 * @cc: consumer counter in basic blocks
 * @fence: fence mode that the next WQE owes to an earlier one
 * @sig_all: each WQE gets a CQE
 */
struct crnic_sq {
	spinlock_t lock;	/* producer side */
	void *buf;
	struct crnic_sq_wr *wrs;
	u32 bbs;
	u32 max_bbs;
	u32 max_sge;
	u32 max_inline;
	u16 pc;
	u16 cc;
	u8 fence;
	bool sig_all;
};

/**
 * struct crnic_rq - receive queue of a kernel QP
 * @lock: protects the producer side; @cc moves under the receive CQ's lock
 * @buf: ring of WQEs
 * @wr_ids: the user's cookies
 * @size: WQEs, a power of two, or 0
 * @shift: log2 of a WQE's bytes
 * @max_sge: limit
 * @pc: producer counter in WQEs
 * @cc: consumer counter in WQEs
 */
struct crnic_rq {
	spinlock_t lock;	/* producer side */
	void *buf;
	u64 *wr_ids;
	u32 size;
	u8 shift;
	u32 max_sge;
	u16 pc;
	u16 cc;
};

/**
 * struct crnic_ib_qp - queue pair
 * @ibqp: ib_core's part; qp_num is the verbs number, 1 for QP1
 * @qpn: the device's number, which CQEs and events carry
 * @ring: memory, receive queue first
 * @rsc: for events
 * @raw: what it is made of, for a raw packet QP
 * @lock: protects @state, @access and @resp_depth; held over the command
 * @state: state last reached by a command
 * @access: access flags last set
 * @resp_depth: reads and atomics taken as responder
 * @sq: send queue
 * @rq: receive queue
 */
struct crnic_ib_qp {
	struct ib_qp ibqp;
	u32 qpn;
	struct crnic_ring ring;
	struct crnic_rsc rsc;
	struct crnic_raw *raw;
	struct mutex lock;	/* state, access, resp_depth */
	enum ib_qp_state state;
	u32 access;
	u8 resp_depth;
	struct crnic_sq sq;
	struct crnic_rq rq;
};

/**
 * struct crnic_ib_srq - shared receive queue
 * @ibsrq: ib_core's part
 * @srqn: number
 * @ring: memory
 * @rsc: for events
 * @lock: protects all below
 * @wr_ids: the user's cookies
 * @posted: bit for each WQE that is outstanding
 * @size: WQEs, a power of two; one of them is never given out
 * @shift: log2 of a WQE's bytes
 * @max_sge: limit
 * @head: first free WQE of the linked list
 * @tail: last free WQE
 * @pc: producer counter
 */
struct crnic_ib_srq {
	struct ib_srq ibsrq;
	u32 srqn;
	struct crnic_ring ring;
	struct crnic_rsc rsc;
	spinlock_t lock;	/* free list, producer side */
	u64 *wr_ids;
	unsigned long *posted;
	u32 size;
	u8 shift;
	u32 max_sge;
	u16 head;
	u16 tail;
	u16 pc;
};

/**
 * struct crnic_ib_mr - memory region
 * @ibmr: ib_core's part
 * @umem: user memory, or NULL
 * @access: ib_access_flags
 * @descs: page list of a fast registration region
 * @descs_dma: its bus address
 * @max_descs: its room
 * @ndescs: entries in use
 */
struct crnic_ib_mr {
	struct ib_mr ibmr;
	struct ib_umem *umem;
	int access;
	__be64 *descs;
	dma_addr_t descs_dma;
	u32 max_descs;
	u32 ndescs;
};

static inline struct crnic_ib *to_cib(struct ib_device *ibdev)
{
	return container_of(ibdev, struct crnic_ib, ibdev);
}

static inline struct crnic_dev *to_cdev(struct ib_device *ibdev)
{
	return to_cib(ibdev)->dev;
}

static inline struct crnic_ib_ctx *to_cctx(struct ib_ucontext *ibctx)
{
	return container_of(ibctx, struct crnic_ib_ctx, ibctx);
}

static inline struct crnic_ib_ctx *crnic_udata_ctx(struct ib_udata *udata)
{
	return rdma_udata_to_drv_context(udata, struct crnic_ib_ctx, ibctx);
}

static inline struct crnic_ib_pd *to_cpd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct crnic_ib_pd, ibpd);
}

static inline struct crnic_ib_xrcd *to_cxrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct crnic_ib_xrcd, ibxrcd);
}

static inline struct crnic_ib_ah *to_cah(struct ib_ah *ibah)
{
	return container_of(ibah, struct crnic_ib_ah, ibah);
}

static inline struct crnic_ib_cq *to_ccq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct crnic_ib_cq, ibcq);
}

static inline struct crnic_ib_qp *to_cqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct crnic_ib_qp, ibqp);
}

static inline struct crnic_ib_srq *to_csrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct crnic_ib_srq, ibsrq);
}

static inline struct crnic_ib_mr *to_cmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct crnic_ib_mr, ibmr);
}

/* port.c */
int crnic_ib_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr);
int crnic_ib_port_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *imm);
int crnic_ib_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);
enum rdma_link_layer crnic_ib_link_layer(struct ib_device *ibdev, u32 port);
int crnic_ib_port_start(struct crnic_ib *ib);
void crnic_ib_port_stop(struct crnic_ib *ib);

/* gid.c */
int crnic_ib_add_gid(const struct ib_gid_attr *attr, void **context);
int crnic_ib_del_gid(const struct ib_gid_attr *attr, void **context);

/* attr.c */
int crnic_ib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			  struct ib_udata *udata);
int crnic_ib_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *props);
u32 crnic_ib_max_send_sge(const struct crnic_dev *dev);
u32 crnic_ib_max_recv_sge(const struct crnic_dev *dev);
u32 crnic_ib_max_srq_sge(const struct crnic_dev *dev);
u32 crnic_ib_max_qp_wr(const struct crnic_dev *dev);
bool crnic_ib_atomics(const struct crnic_dev *dev);
bool crnic_ib_frwr(const struct crnic_dev *dev);

/* ucontext.c */
extern const struct uapi_definition crnic_ib_ctx_defs[];
int crnic_ib_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
int crnic_ib_query_ucontext(struct ib_ucontext *ibctx, struct uverbs_attr_bundle *attrs);
void crnic_ib_dealloc_ucontext(struct ib_ucontext *ibctx);
int crnic_ib_ctx_tdn(struct crnic_ib_ctx *ctx, u32 *tdn);

/* uar.c */
extern const struct uapi_definition crnic_ib_uar_defs[];
struct crnic_ib_uar *crnic_ib_uar_get(struct crnic_ib_ctx *ctx, u32 index);
void crnic_ib_uar_put(struct crnic_ib_uar *uar);
int crnic_ib_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma);
void crnic_ib_mmap_free(struct rdma_user_mmap_entry *entry);
void crnic_ib_disassociate(struct ib_ucontext *ibctx);

/* udbr.c */
int crnic_udbr_map(struct crnic_ib_ctx *ctx, u64 addr, struct crnic_udbr *udbr);
void crnic_udbr_unmap(struct crnic_ib_ctx *ctx, struct crnic_udbr *udbr);

/* ring.c */
/**
 * struct crnic_ring_user - what a user gives for a queue
 * @buf_addr: its ring
 * @db_addr: its doorbell record
 * @bytes: length of the ring, checked; 0 for none
 * @offset_bits: width of the context's page offset
 * @access: IB_ACCESS_LOCAL_WRITE if the device writes the ring
 * @has_uar: the queue has a doorbell page
 * @uar: the page's number
 */
struct crnic_ring_user {
	u64 buf_addr;
	u64 db_addr;
	size_t bytes;
	u8 offset_bits;
	int access;
	bool has_uar;
	u32 uar;
};

int crnic_ring_pin(struct crnic_ib_ctx *ctx, const struct crnic_ring_user *u,
		   struct crnic_ring *ring, struct crnic_pas *pas);
int crnic_ring_alloc(struct crnic_dev *dev, size_t bytes, struct crnic_ring *ring,
		     struct crnic_pas *pas);
void crnic_ring_free(struct crnic_dev *dev, struct crnic_ib_ctx *ctx, struct crnic_ring *ring);
dma_addr_t crnic_ring_dbr(const struct crnic_ring *ring);
u32 crnic_ring_uar(const struct crnic_dev *dev, const struct crnic_ring *ring);

/* pd.c */
int crnic_ib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int crnic_ib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int crnic_ib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int crnic_ib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* ah.c */
int crnic_ib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int crnic_ib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int crnic_ib_destroy_ah(struct ib_ah *ibah, u32 flags);

/* mr.c */
struct ib_mr *crnic_ib_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *crnic_ib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 len, u64 iova, int access,
				   struct ib_udata *udata);
struct ib_mr *crnic_ib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 len, u64 iova,
				     int access, struct ib_pd *ibpd, struct ib_udata *udata);
int crnic_ib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
u32 crnic_mkey_access(int access);

/* umr.c */
/* Translations: of a unit in which lists are read, of 16 bytes, and of a piece of a list */
#define CRNIC_UMR_LIST_UNIT	8U
#define CRNIC_UMR_PER_OCTWORD	2U
#define CRNIC_UMR_LIST_BYTES	SZ_16K
#define CRNIC_UMR_LIST_LEN	(CRNIC_UMR_LIST_BYTES / sizeof(__be64))

/**
 * struct crnic_umr_list - a piece of a key's translations
 * @mtts: the translations
 * @dma: their bus address
 * @first: the first one's place in the key
 * @num: their number
 */
struct crnic_umr_list {
	__be64 *mtts;
	dma_addr_t dma;
	u32 first;
	u32 num;
};

bool crnic_umr_can_load(const struct crnic_dev *dev, u32 octwords);
int crnic_umr_write_list(struct crnic_ib *ib, u32 key, const struct crnic_umr_list *list);
int crnic_umr_load(struct crnic_ib *ib, u32 key, const struct crnic_pas *pas);
bool crnic_umr_can_change(const struct crnic_dev *dev, u32 from, u32 to);
int crnic_umr_change(struct crnic_ib *ib, u32 key, u32 pdn, u32 access);
int crnic_umr_revoke(struct crnic_ib *ib, u32 key);
int crnic_umr_revive(struct crnic_ib *ib, u32 key, u32 pdn);
void crnic_ib_umr_wake(struct crnic_ib *ib);
int crnic_ib_umr_create(struct crnic_ib *ib);
void crnic_ib_umr_destroy(struct crnic_ib *ib);

/* mw.c */
int crnic_ib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int crnic_ib_dealloc_mw(struct ib_mw *ibmw);

/* frwr.c */
struct ib_mr *crnic_ib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_sg);
int crnic_ib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);
void crnic_frwr_free(struct crnic_dev *dev, struct crnic_ib_mr *mr);

/* cq.c */
extern const struct uapi_definition crnic_ib_cq_defs[];
int crnic_ib_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		       struct crnic_cq_request *request);
int crnic_ib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int crnic_ib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int crnic_ib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/* cq_resize.c */
int crnic_ib_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);

/* poll.c */
int crnic_ib_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc);
bool crnic_ib_cq_pending(struct crnic_ib_cq *cq);
void crnic_ib_cq_clean(struct crnic_ib_cq *cq, u32 qpn, struct crnic_ib_srq *srq);
void crnic_ib_qp_clean(struct crnic_ib_qp *qp);
void crnic_cqe_parse(const struct mlx5_cqe64 *cqe, struct ib_wc *wc);
bool crnic_sq_retire(struct crnic_sq *sq, u16 counter, struct crnic_sq_wr *wr);

/* qp.c */
int crnic_ib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int crnic_ib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int crnic_qp_st(enum ib_qp_type type);
void crnic_ib_qp_tell(struct ib_qp *ibqp, u8 type);

/* raw.c */
/**
 * struct crnic_raw_request - what a user gave for a raw packet QP
 * @sq_addr: send ring
 * @sq_bbs: its basic blocks, or 0
 * @rq_pas: receive ring, if there is one
 * @uidx: what CQEs carry
 * @tdn: transport domain of the user
 */
struct crnic_raw_request {
	u64 sq_addr;
	u32 sq_bbs;
	const struct crnic_pas *rq_pas;
	u32 uidx;
	u32 tdn;
};

int crnic_raw_create(struct crnic_ib_qp *qp, const struct crnic_raw_request *req);
int crnic_raw_destroy(struct crnic_ib_qp *qp);
int crnic_raw_tirn(const struct crnic_ib_qp *qp, u32 *tirn);
int crnic_raw_step(struct crnic_ib_qp *qp, enum ib_qp_state next);
int crnic_raw_state(struct crnic_ib_qp *qp, enum ib_qp_state *state);

/* qp_size.c */
/**
 * struct crnic_qp_limits - what bounds a QP's rings
 * @max_wr: work requests of a queue, as advertised
 * @max_send_sge: entries of a send, as advertised
 * @max_recv_sge: entries of a receive, as advertised
 * @max_ring: the device's basic blocks of a send queue, or WQEs of a receive queue
 * @max_sq_desc: bytes of a send WQE
 * @max_rq_desc: bytes of a receive WQE
 * @frwr: there is fast registration
 */
struct crnic_qp_limits {
	u32 max_wr;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_ring;
	u32 max_sq_desc;
	u32 max_rq_desc;
	bool frwr;
};

/**
 * struct crnic_qp_size - sizes of a QP's rings
 * @sq_bbs: basic blocks of the send queue, a power of two, or 0
 * @wqe_bbs: basic blocks of its longest WQE; kernel only
 * @rq_size: WQEs of the receive queue, a power of two, or 0
 * @rq_shift: log2 of their bytes
 * @sq_addr: the user's send ring, if that lies apart
 */
struct crnic_qp_size {
	u32 sq_bbs;
	u32 wqe_bbs;
	u32 rq_size;
	u8 rq_shift;
	u64 sq_addr;
};

struct crnic_qp_limits crnic_qp_limits(const struct crnic_dev *dev);
int crnic_qp_size_user(const struct crnic_qp_limits *lim, const struct ib_qp_init_attr *attr,
		       const struct mlx5_ib_create_qp *ucmd, struct crnic_qp_size *size);
int crnic_qp_size_kernel(const struct crnic_qp_limits *lim, struct ib_qp_init_attr *attr,
			 struct crnic_qp_size *size);
size_t crnic_qp_bytes(const struct crnic_qp_size *size);
void crnic_qp_ring_shape(enum ib_qp_type type, const struct crnic_qp_size *size,
			 struct crnic_ring_user *u);

/* qp_modify.c */
/**
 * struct crnic_qp_step - a transition
 * @cur: state
 * @next: state that it leads to
 * @types: QP types that have it
 * @opcode: the device's command
 * @required: attributes that it needs
 * @optional: attributes that it may have
 */
struct crnic_qp_step {
	u8 cur;
	u8 next;
	u16 types;
	u16 opcode;
	u32 required;
	u32 optional;
};

const struct crnic_qp_step *crnic_qp_step_find(enum ib_qp_state cur, enum ib_qp_state next,
					       enum ib_qp_type type, int mask);
int crnic_ib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		       struct ib_udata *udata);
int crnic_qp_to_reset(struct crnic_dev *dev, struct crnic_ib_qp *qp);

/* qp_query.c */
int crnic_ib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		      struct ib_qp_init_attr *init);

/* post.c */
int crnic_ib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr);
int crnic_ib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

/* srq.c */
int crnic_ib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
			struct ib_udata *udata);
int crnic_ib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
			struct ib_udata *udata);
int crnic_ib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int crnic_ib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int crnic_ib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			   const struct ib_recv_wr **bad_wr);
bool crnic_srq_retire(struct crnic_ib_srq *srq, u16 index, u64 *wr_id);

/* idle.c */
int crnic_ib_idle_create(struct crnic_ib *ib);
void crnic_ib_idle_destroy(struct crnic_ib *ib);

/* clock.c */
int crnic_ib_clock_start(struct crnic_ib *ib);
void crnic_ib_clock_stop(struct crnic_ib *ib);
void crnic_ib_clock_describe(const struct crnic_ib *ib, struct mlx5_ib_alloc_ucontext_resp *resp);
int crnic_ib_clock_mmap_timer(struct ib_ucontext *ibctx, struct vm_area_struct *vma);
int crnic_ib_clock_mmap_info(struct ib_ucontext *ibctx, struct vm_area_struct *vma);

/* flow.c */
/* Priorities that users may name, masks within one, rules of a mask before it counts twice */
#define CRNIC_FLOW_PRIOS	16U
#define CRNIC_FLOW_MASKS	4U
#define CRNIC_FLOW_RULES	32U

/* Width of a flow tag in a CQE */
#define CRNIC_FLOW_TAG_BITS	24

/**
 * struct crnic_flow_request - a rule that a user wants
 * @mask: what is compared
 * @value: with what
 * @prio: lower ones are looked at first
 * @tag: what CQEs carry
 * @drop: the frame goes nowhere
 * @dest: where it goes otherwise
 */
struct crnic_flow_request {
	struct crnic_flow_match mask;
	struct crnic_flow_match value;
	u16 prio;
	u32 tag;
	bool drop;
	struct crnic_flow_dest dest;
};

/**
 * struct crnic_ib_flow - a rule that is in force
 * @ibflow: ib_core's part
 * @value: what it compares with
 * @group: its group
 * @slot: its place in the group
 * @matcher_users: user count of the matcher that it was made of, or NULL
 */
struct crnic_ib_flow {
	struct ib_flow ibflow;
	struct crnic_flow_match value;
	unsigned int group;
	unsigned int slot;
	atomic_t *matcher_users;
};

int crnic_flow_check(const struct crnic_flow_request *req);
struct crnic_ib_flow *crnic_flow_add(struct crnic_ib_flows *flows,
				     const struct crnic_flow_request *req);
int crnic_flow_del(struct crnic_ib_flows *flows, struct crnic_ib_flow *flow);
int crnic_ib_destroy_flow(struct ib_flow *ibflow);
struct crnic_ib_flows *crnic_flows_create(struct crnic_dev *dev);
void crnic_flows_destroy(struct crnic_ib_flows *flows);

/* flow_spec.c */
int crnic_flow_spec_parse(struct crnic_dev *dev, const struct ib_flow_attr *attr,
			  struct crnic_flow_request *req);
struct ib_flow *crnic_ib_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				     struct ib_udata *udata);

/* flow_dv.c */
extern const struct uapi_definition crnic_ib_flow_defs[];
int crnic_flow_mask_parse(const void *param, size_t len, u8 criteria,
			  struct crnic_flow_match *mask);

/* dv.c */
extern const struct uapi_definition crnic_ib_dv_defs[];

/* mcast.c */
int crnic_ib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int crnic_ib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* stats.c */
struct rdma_hw_stats *crnic_ib_alloc_stats(struct ib_device *ibdev, u32 port);
int crnic_ib_get_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

/* dead.c */
void crnic_ib_kick_work(struct work_struct *work);
void crnic_ib_kick_all(struct crnic_ib *ib);
int crnic_ib_flush_cq(struct crnic_ib_cq *cq, int num, struct ib_wc *wc);

#endif /* CRNIC_IB_H */
