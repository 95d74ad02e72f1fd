/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CRNIC_CORE_H
#define CRNIC_CORE_H

/* What the files of core offer each other and the stage table */
#include <crnic/crnic.h>

/* iseg.c: the initialization segment at the start of BAR0 */
int crnic_iseg_map(struct crnic_dev *dev);
void crnic_iseg_unmap(struct crnic_dev *dev);
int crnic_iseg_wait_ready(struct crnic_dev *dev);
bool crnic_iseg_gone(struct crnic_dev *dev);

/* cmdq.c: the command queue */
int crnic_cmdq_create(struct crnic_dev *dev);
void crnic_cmdq_destroy(struct crnic_dev *dev);
void crnic_cmdq_use_events(struct crnic_dev *dev, bool on);
void crnic_cmdq_completed(struct crnic_dev *dev, unsigned long slots);
void crnic_cmdq_flush(struct crnic_dev *dev);

/* fw.c: commands of bring-up and of core's own objects */
enum crnic_pages_when {
	CRNIC_PAGES_BOOT	= 1,
	CRNIC_PAGES_INIT	= 2,
};

struct crnic_eq_params {
	struct crnic_pas pas;
	u8 log_size;
	u16 vector;
	u64 mask;
};

int crnic_fw_enable(struct crnic_dev *dev);
int crnic_fw_disable(struct crnic_dev *dev);
int crnic_fw_init(struct crnic_dev *dev);
int crnic_fw_teardown(struct crnic_dev *dev, u16 profile);
int crnic_fw_issi_query(struct crnic_dev *dev, u32 *supported);
int crnic_fw_issi_set(struct crnic_dev *dev, u16 issi);
int crnic_fw_cap_query(struct crnic_dev *dev, u16 type, bool max, __be32 *cap);
int crnic_fw_cap_set(struct crnic_dev *dev, u16 type, const __be32 *cap);
int crnic_fw_adapter_query(struct crnic_dev *dev);
int crnic_fw_host_endianness_set(struct crnic_dev *dev);
int crnic_fw_pages_query(struct crnic_dev *dev, enum crnic_pages_when when, u16 *func, s32 *num);
int crnic_fw_pages_give(struct crnic_dev *dev, u16 func, const u64 *addrs, unsigned int num);
int crnic_fw_pages_refuse(struct crnic_dev *dev, u16 func);
int crnic_fw_pages_take(struct crnic_dev *dev, u16 func, u64 *addrs, unsigned int *num);
int crnic_fw_eq_create(struct crnic_dev *dev, const struct crnic_eq_params *p, u8 *eqn);
int crnic_fw_eq_destroy(struct crnic_dev *dev, u8 eqn);

/* pages.c: memory that the firmware works in */
int crnic_pages_create(struct crnic_dev *dev);
void crnic_pages_destroy(struct crnic_dev *dev);
int crnic_pages_satisfy(struct crnic_dev *dev, enum crnic_pages_when when);
void crnic_pages_request(struct crnic_dev *dev, u16 func, s32 num);
void crnic_pages_drain(struct crnic_dev *dev);
int crnic_pages_reclaim_all(struct crnic_dev *dev);
void crnic_pages_abandon(struct crnic_dev *dev);
dma_addr_t crnic_page_dma_map(struct crnic_dev *dev, struct page *page);

/* caps.c: capabilities */
int crnic_caps_negotiate(struct crnic_dev *dev);
int crnic_caps_read(struct crnic_dev *dev);
void crnic_caps_free(struct crnic_dev *dev);

/* irq.c: MSI-X vectors; 0 is for asynchronous events and commands, the rest for completions */
#define CRNIC_IRQ_ASYNC		0
#define CRNIC_IRQ_COMP_BASE	1

int crnic_irqs_create(struct crnic_dev *dev);
void crnic_irqs_destroy(struct crnic_dev *dev);
int crnic_irq_number(const struct crnic_dev *dev, unsigned int vector);
void crnic_irq_sync(const struct crnic_dev *dev, unsigned int vector);

/* eqs.c: the set of event queues */
int crnic_eqs_create(struct crnic_dev *dev);
void crnic_eqs_destroy(struct crnic_dev *dev);
void crnic_eqs_poll_cmd(struct crnic_dev *dev);

/* async.c: what becomes of an asynchronous event */
void crnic_async_dispatch(struct crnic_dev *dev, const struct mlx5_eqe *eqe);
u64 crnic_async_mask(void);

/* health.c: is the device still alive? */
int crnic_health_start(struct crnic_dev *dev);
void crnic_health_stop(struct crnic_dev *dev);
void crnic_health_look(struct crnic_dev *dev);
void crnic_health_pause(struct crnic_dev *dev);
void crnic_dev_break(struct crnic_dev *dev, const char *why);

/* devlink.c */
int crnic_devlink_create(struct crnic_dev *dev);
void crnic_devlink_destroy(struct crnic_dev *dev);

/* main.c: a device and what needs no hardware */
struct crnic_dev *crnic_dev_alloc(struct device *device);
void crnic_dev_free(struct crnic_dev *dev);

/* recover.c: what becomes of a device between probe and remove */
int crnic_load(struct crnic_dev *dev);
void crnic_unload(struct crnic_dev *dev, bool stay);
void crnic_recover_init(struct crnic_dev *dev);
void crnic_recover_on(struct crnic_dev *dev);
void crnic_recover_off(struct crnic_dev *dev);
void crnic_recover_kick(struct crnic_dev *dev);
bool crnic_recover_try(struct crnic_recovery *r, unsigned long now);

/* stages.c */
void crnic_quiesce(struct crnic_dev *dev);

/* buf.c: seams of the tests */
int crnic_buf_alloc_linear(struct crnic_dev *dev, struct crnic_buf *buf);
struct page *crnic_buf_page_get(struct crnic_dev *dev, dma_addr_t *dma);
void crnic_buf_page_put(struct crnic_dev *dev, struct page *page, dma_addr_t dma);

/* dbr.c */
void crnic_dbr_init(struct crnic_dev *dev);

#endif /* CRNIC_CORE_H */
