// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command queue: entries, mailbox chains, dispatch, completion.
 *
 * Layouts: struct mlx5_cmd_layout and mlx5_cmd_prot_block of mlx5/device.h;
 * protocol: mlx5/core/cmd.c.  Signatures are accepted, not checked, since the
 * driver switches them off (cmdif_checksum).
 */
#include "cmdq.h"
#include "dev.h"
#include "heap.h"
#include "page.h"

#define CMDQ_SLOTS          (1u << MOCX_CMDQ_LOG_SIZE)
#define CMDQ_STRIDE         (1u << MOCX_CMDQ_LOG_STRIDE)

#define ENTRY_TYPE          0x07
#define ENTRY_INLINE        16      /* bytes of a message in the entry */

/* Offsets in an entry */
#define ENTRY_INLEN         0x04
#define ENTRY_IN_PTR        0x08
#define ENTRY_IN            0x10
#define ENTRY_OUT           0x20
#define ENTRY_OUT_PTR       0x30
#define ENTRY_OUTLEN        0x38
#define ENTRY_TOKEN         0x3c
#define ENTRY_STATUS        0x3f    /* [7:1] delivery status, [0] owner */

/* A mailbox block: 512 bytes of message, 64 bytes of header behind it. */
#define BLOCK_SIZE          576
#define BLOCK_DATA          512
#define BLOCK_ALIGN         1024
#define BLOCK_NEXT          0x230
#define BLOCK_NUM           0x238
#define BLOCK_TOKEN         0x23d

/* A message may be this long; the largest is CREATE_MKEY with its pages. */
#define MESSAGE_IN_MAX      (32u << 20)
#define MESSAGE_OUT_MAX     (1u << 20)

/*
 * Room behind a message, zero: a layout that grew with newer kernels is filled
 * or read as a whole, and an older driver's shorter message cuts it.
 */
#define MESSAGE_SLACK       512

/*
 * Blocks that a doorbell or a turn reads before others have theirs: all but
 * lists of many pages fit.
 */
#define BLOCKS_PER_TURN     1024
#define BLOCK_STEPS         16

#define OPCODES             0x1000

enum {
    DELIVERY_OK             = 0x0,
    DELIVERY_TOKEN          = 0x2,
    DELIVERY_BLOCK_NUM      = 0x3,
    DELIVERY_OUT_PTR        = 0x4,
    DELIVERY_IN_PTR         = 0x5,
    DELIVERY_INTERNAL       = 0x6,
    DELIVERY_IN_LEN         = 0x7,
    DELIVERY_OUT_LEN        = 0x8,
    DELIVERY_TYPE           = 0x10,
};

/* Syndromes of the command interface itself, ours to choose. */
#define SYND_UNKNOWN_OPCODE 0x0c0de000u
#define SYND_STATE          0x0c0d0001u
#define SYND_IN_LEN         0x0c0d0002u
#define SYND_OUT_LEN        0x0c0d0003u
#define SYND_MEMORY         0x0c0d0004u

typedef struct MocxSlot {
    MocxDev *dev;
    MocxTimer timer;            /* a completion that is held back */
    bool busy;                  /* taken and not completed */
    bool event;                 /* an EQ for commands existed when it came */
    uint8_t entry[CMDQ_STRIDE];
    uint8_t *in;
    uint8_t *out;
    uint32_t inlen, outlen;
    uint64_t next;              /* block of a chain to read next, */
    uint32_t num_in_blocks;     /* and how many were */
    uint64_t *out_blocks;       /* bus addresses */
    uint32_t num_out_blocks;
} MocxSlot;

struct MocxCmdq {
    MocxWork work;              /* slots that are not done with */
    uint32_t rung;              /* one bit for each of them */
    uint32_t completed;         /* slots whose event is due */
    uint64_t base;
    const MocxCmdRow *by_op[OPCODES];
    MocxSlot slots[CMDQ_SLOTS];
};

static const MocxCmdRows *const all_rows[] = {
    &mocx_rows_hca, &mocx_rows_page, &mocx_rows_cap, &mocx_rows_reg,
    &mocx_rows_alloc, &mocx_rows_eq, &mocx_rows_cq, &mocx_rows_mkey,
    &mocx_rows_vport, &mocx_rows_l2_table, &mocx_rows_gid, &mocx_rows_steer,
    &mocx_rows_tir,
    &mocx_rows_sq, &mocx_rows_rq, &mocx_rows_qp, &mocx_rows_srq,
    &mocx_rows_mcast,
};

/* Mailbox chains */

static uint32_t chain_blocks(uint32_t len)
{
    return len <= ENTRY_INLINE ? 0
           : (len - ENTRY_INLINE + BLOCK_DATA - 1) / BLOCK_DATA;
}

/* Read block @num of a chain at @addr; a delivery status. */
static int block_read(MocxSlot *s, uint64_t addr, uint32_t num, int bad_ptr,
                      uint8_t block[BLOCK_SIZE])
{
    if (!addr || addr & (BLOCK_ALIGN - 1) ||
        !mocx_dma_read(s->dev, addr, block, BLOCK_SIZE)) {
        return bad_ptr;
    }
    if (s->dev->verify) {
        mocx_verify_block(s->dev, block);
    }
    if (block[BLOCK_TOKEN] != s->entry[ENTRY_TOKEN]) {
        return DELIVERY_TOKEN;
    }
    if (mocx_get_be32(block + BLOCK_NUM) != num) {
        return DELIVERY_BLOCK_NUM;
    }
    return DELIVERY_OK;
}

/* The blocks of a message are copied as wholes. */
static size_t message_room(uint32_t len)
{
    return ENTRY_INLINE + chain_blocks(len) * BLOCK_DATA + MESSAGE_SLACK;
}

/* What a message takes is known from its first bytes. */
static int fetch_begin(MocxSlot *s)
{
    MocxHeap *heap = &s->dev->heap;

    s->inlen = mocx_get_be32(s->entry + ENTRY_INLEN);
    s->outlen = mocx_get_be32(s->entry + ENTRY_OUTLEN);
    if (s->entry[0] != ENTRY_TYPE) {
        return DELIVERY_TYPE;
    }
    if (s->inlen < ENTRY_INLINE / 2 || s->inlen > MESSAGE_IN_MAX) {
        return DELIVERY_IN_LEN;
    }
    if (s->outlen < ENTRY_INLINE / 2 || s->outlen > MESSAGE_OUT_MAX) {
        return DELIVERY_OUT_LEN;
    }
    s->in = mocx_calloc(heap, 1, message_room(s->inlen));
    s->out = mocx_calloc(heap, 1, message_room(s->outlen));
    s->out_blocks = mocx_calloc(heap, chain_blocks(s->outlen) + 1,
                                sizeof(*s->out_blocks));
    if (!s->in || !s->out || !s->out_blocks) {
        return DELIVERY_INTERNAL;
    }
    memcpy(s->in, s->entry + ENTRY_IN, ENTRY_INLINE);
    s->next = mocx_get_be64(s->entry + ENTRY_IN_PTR);
    return DELIVERY_OK;
}

static int fetch_in_block(MocxSlot *s)
{
    uint8_t block[BLOCK_SIZE];
    int rc = block_read(s, s->next, s->num_in_blocks, DELIVERY_IN_PTR, block);

    if (!rc) {
        memcpy(s->in + ENTRY_INLINE + s->num_in_blocks++ * BLOCK_DATA, block,
               BLOCK_DATA);
        s->next = s->num_in_blocks < chain_blocks(s->inlen)
                  ? mocx_get_be64(block + BLOCK_NEXT)
                  : mocx_get_be64(s->entry + ENTRY_OUT_PTR);
    }
    return rc;
}

/*
 * Where the output goes is known before the command runs, so that one that
 * cannot answer has no effect.
 */
static int fetch_out_block(MocxSlot *s)
{
    uint8_t block[BLOCK_SIZE];
    int rc = block_read(s, s->next, s->num_out_blocks, DELIVERY_OUT_PTR, block);

    if (!rc) {
        s->out_blocks[s->num_out_blocks++] = s->next;
        s->next = mocx_get_be64(block + BLOCK_NEXT);
    }
    return rc;
}

/* Up to *@blocks of what is missing; a delivery status. */
static int fetch_more(MocxSlot *s, uint32_t *blocks)
{
    uint32_t in = chain_blocks(s->inlen), out = chain_blocks(s->outlen);
    int rc = DELIVERY_OK;

    if (!in && !s->num_out_blocks) {
        s->next = mocx_get_be64(s->entry + ENTRY_OUT_PTR);
    }
    for (; !rc && *blocks && s->num_in_blocks < in; --*blocks) {
        rc = fetch_in_block(s);
    }
    for (; !rc && *blocks && s->num_out_blocks < out; --*blocks) {
        rc = fetch_out_block(s);
    }
    return rc;
}

static bool fetched(const MocxSlot *s)
{
    return s->num_in_blocks == chain_blocks(s->inlen) &&
           s->num_out_blocks == chain_blocks(s->outlen);
}

/* Completion */

static void slot_free(MocxSlot *s)
{
    mocx_timer_stop(s->dev, &s->timer);
    mocx_free(s->in);
    mocx_free(s->out);
    mocx_free(s->out_blocks);
    s->in = NULL;
    s->out = NULL;
    s->out_blocks = NULL;
    s->num_in_blocks = 0;
    s->num_out_blocks = 0;
    s->busy = false;
}

static void write_output(MocxSlot *s)
{
    /* In verifier mode the rest of the last block is noise. */
    uint32_t left = s->dev->verify ? s->num_out_blocks * BLOCK_DATA
                    : s->outlen - ENTRY_INLINE;

    if (!s->num_out_blocks) {
        return;
    }
    for (uint32_t i = 0; i < s->num_out_blocks; i++, left -= BLOCK_DATA) {
        mocx_dma_write(s->dev, s->out_blocks[i],
                       s->out + ENTRY_INLINE + i * BLOCK_DATA,
                       left < BLOCK_DATA ? left : BLOCK_DATA);
        if (left <= BLOCK_DATA) {
            break;
        }
    }
}

/*
 * Output, then delivery status with the owner bit clear: mlx5/core/cmd.c
 * polls that byte, or reads it when the event comes.
 */
static void slot_publish(MocxSlot *s, unsigned slot, int delivery)
{
    MocxCmdq *q = s->dev->cmdq;

    if (!delivery) {
        write_output(s);
        memcpy(s->entry + ENTRY_OUT, s->out, ENTRY_INLINE);
    }
    s->entry[ENTRY_STATUS] = delivery << 1;
    if (mocx_dma_on(s->dev)) {
        uint64_t entry = q->base + slot * CMDQ_STRIDE;

        s->dev->ops->publish(s->dev->opaque, entry + ENTRY_OUT,
                             s->entry + ENTRY_OUT, CMDQ_STRIDE - ENTRY_OUT);
    }
    q->completed |= s->event ? 1u << slot : 0;
    slot_free(s);
}

/* One event for all slots that were completed together. */
static void tell_completed(MocxDev *dev)
{
    uint8_t data[28] = { 0 };

    if (dev->cmdq->completed) {
        mocx_put_be32(data, dev->cmdq->completed);
        dev->cmdq->completed = 0;
        mocx_event(dev, MOCX_EV_CMD, 0, data);
    }
}

static void slot_delayed(MocxDev *dev, MocxTimer *timer)
{
    MocxSlot *s = MOCX_CONTAINER_OF(timer, MocxSlot, timer);

    slot_publish(s, s - dev->cmdq->slots, DELIVERY_OK);
    tell_completed(dev);
}

/* Execution */

static MocxStatus row_check(MocxDev *dev, MocxCmd *cmd, const MocxCmdRow *row)
{
    if (cmd->inlen < row->in_min) {
        return mocx_bad(dev, cmd, MOCX_BAD_INPUT_LEN, SYND_IN_LEN,
                        "%s: input of %u bytes, %u wanted", row->name,
                        cmd->inlen, row->in_min);
    }
    if (cmd->outlen < row->out_min) {
        return mocx_bad(dev, cmd, MOCX_BAD_OUTPUT_LEN, SYND_OUT_LEN,
                        "%s: output of %u bytes, %u wanted", row->name,
                        cmd->outlen, row->out_min);
    }
    if (!(row->states & dev->state)) {
        return mocx_bad(dev, cmd, MOCX_BAD_SYS_STATE, SYND_STATE,
                        "%s: not legal in state %u", row->name, dev->state);
    }
    return MOCX_OK;
}

static const MocxCmdRow *row_of(const MocxDev *dev, uint16_t opcode)
{
    return opcode < OPCODES ? dev->cmdq->by_op[opcode] : NULL;
}

static MocxStatus dispatch(MocxDev *dev, MocxCmd *cmd)
{
    const MocxCmdRow *row = row_of(dev, cmd->opcode);
    MocxStatus status;

    if (!row) {
        return mocx_unknown(dev, cmd, MOCX_BAD_OP,
                            SYND_UNKNOWN_OPCODE | cmd->opcode, "opcode",
                            cmd->opcode);
    }
    if (dev->verify) {
        mocx_verify_input(dev, cmd, row);
    }
    status = row_check(dev, cmd, row);
    if (!status) {
        status = row->fn(dev, cmd);
    }
    if (status == MOCX_NO_RES && !cmd->syndrome) {
        mocx_bad(dev, cmd, status, SYND_MEMORY,
                 "%s: no memory, %zu of %zu bytes are in use", row->name,
                 dev->heap.used, dev->heap.limit);
    }
    return status;
}

/* Run one fetched command; the injector's verdict tells what comes after. */
static MocxInjectCmd execute(MocxDev *dev, MocxSlot *s)
{
    MocxCmd cmd = {
        .in = s->in, .inlen = s->inlen, .out = s->out, .outlen = s->outlen,
        .opcode = mocx_get_be16(s->in), .uid = mocx_get_be16(s->in + 2),
        .op_mod = mocx_get_be16(s->in + 6),
    };
    MocxInjectCmd verdict = mocx_inject_cmd(dev->inject, cmd.opcode);
    uint32_t room = ENTRY_INLINE + chain_blocks(s->outlen) * BLOCK_DATA;
    uint8_t status;

    if (verdict.action == MOCX_INJECT_DROP) {
        return verdict;
    }
    if (verdict.action == MOCX_INJECT_FAIL) {
        status = verdict.status;
        cmd.syndrome = verdict.syndrome;
    } else {
        status = dispatch(dev, &cmd);
    }
    if (status) {
        /* A failed command defines nothing of its output but the header. */
        memset(s->out, 0, room);
    }
    if (dev->verify) {
        mocx_verify_output(dev, &cmd, row_of(dev, cmd.opcode), status, room);
    }
    dev->cmds_executed++;
    dev->cmds_failed += status != MOCX_OK;
    s->out[0] = status;
    mocx_put_be32(s->out + 4, status ? cmd.syndrome : 0);
    if (dev->ops->command) {
        MocxCommand told = { s->in, s->inlen, s->out, s->outlen };

        dev->ops->command(dev->opaque, &told);
    }
    return verdict;
}

static void slot_not_ours(MocxDev *dev, unsigned slot)
{
    mocx_log(dev, MOCX_LOG_GUEST_ERROR,
             "command doorbell for slot %u that is not ours", slot);
}

static void slot_undelivered(MocxSlot *s, unsigned slot, int delivery)
{
    mocx_log(s->dev, MOCX_LOG_GUEST_ERROR,
             "command slot %u: delivery status 0x%x", slot, delivery);
    s->dev->cmds_undelivered++;
    slot_publish(s, slot, delivery);
}

/*
 * The entry is taken, once.  The CREATE_EQ that makes the command EQ is still
 * polled: only an EQ that was there before the command gets its event.
 */
static bool slot_take(MocxDev *dev, unsigned slot)
{
    MocxSlot *s = &dev->cmdq->slots[slot];
    uint64_t addr = dev->cmdq->base + slot * CMDQ_STRIDE;
    int delivery;

    if (!mocx_dma_read(dev, addr, s->entry, CMDQ_STRIDE) ||
        !(s->entry[ENTRY_STATUS] & 1)) {
        slot_not_ours(dev, slot);
        return false;
    }
    s->busy = true;
    s->event = mocx_event_wanted(dev, MOCX_EV_CMD);
    if (dev->verify) {
        mocx_verify_entry(dev, s->entry);
    }
    delivery = fetch_begin(s);
    if (delivery) {
        slot_undelivered(s, slot, delivery);
    }
    return !delivery;
}

static void slot_execute(MocxDev *dev, MocxSlot *s, unsigned slot)
{
    MocxInjectCmd verdict = execute(dev, s);

    if (verdict.action == MOCX_INJECT_DROP) {
        slot_free(s);
    } else if (verdict.action == MOCX_INJECT_DELAY) {
        mocx_timer_arm(dev, &s->timer, mocx_now(dev) + verdict.delay_ns);
    } else {
        slot_publish(s, slot, DELIVERY_OK);
    }
}

/* Return: nothing is left to do for this slot. */
static bool slot_run(MocxDev *dev, unsigned slot, uint32_t *blocks)
{
    MocxSlot *s = &dev->cmdq->slots[slot];
    uint32_t before = *blocks;
    int delivery;

    if (!s->in && !slot_take(dev, slot)) {
        return true;
    }
    delivery = fetch_more(s, blocks);
    mocx_charge(dev, (before - *blocks) * BLOCK_STEPS);
    if (delivery) {
        slot_undelivered(s, slot, delivery);
    } else if (fetched(s)) {
        slot_execute(dev, s, slot);
    } else {
        return false;
    }
    return true;
}

/*
 * Slots in their order, until as many blocks have been read as a turn has.  One
 * that is not complete then goes on with the next.
 */
static bool slots_run(MocxDev *dev)
{
    MocxCmdq *q = dev->cmdq;
    uint32_t blocks = BLOCKS_PER_TURN;

    for (unsigned i = 0; i < CMDQ_SLOTS && blocks; i++) {
        if (q->rung & 1u << i && slot_run(dev, i, &blocks)) {
            q->rung &= ~(1u << i);
        }
    }
    tell_completed(dev);
    mocx_pages_balance(dev);
    return q->rung;
}

static bool cmdq_work(MocxDev *dev, MocxWork *work, unsigned budget,
                      unsigned *used)
{
    return slots_run(dev);
}

void mocx_cmd_doorbell(MocxDev *dev, uint32_t slots)
{
    MocxCmdq *q = dev->cmdq;

    for (unsigned i = 0; i < CMDQ_SLOTS; i++) {
        if (slots & 1u << i && q->slots[i].busy) {
            slot_not_ours(dev, i);
        } else {
            q->rung |= slots & 1u << i;
        }
    }
    if (slots_run(dev)) {
        mocx_work_queue(dev, &q->work);
    }
}

void mocx_cmdq_set_base(MocxDev *dev, uint64_t base)
{
    dev->cmdq->base = base;
}

uint64_t mocx_cmdq_base(MocxDev *dev)
{
    return dev->cmdq->base;
}

/* Life cycle */

static void index_rows(MocxCmdq *q, const MocxCmdRows *rows)
{
    for (unsigned i = 0; i < rows->n; i++) {
        q->by_op[rows->rows[i].opcode] = &rows->rows[i];
    }
}

static bool cmd_create(MocxDev *dev)
{
    dev->cmdq = mocx_calloc(&dev->heap, 1, sizeof(*dev->cmdq));
    if (!dev->cmdq) {
        return false;
    }
    for (unsigned i = 0; i < sizeof(all_rows) / sizeof(all_rows[0]); i++) {
        index_rows(dev->cmdq, all_rows[i]);
    }
    dev->cmdq->work.fn = cmdq_work;
    for (unsigned i = 0; i < CMDQ_SLOTS; i++) {
        dev->cmdq->slots[i].dev = dev;
        dev->cmdq->slots[i].timer.fn = slot_delayed;
    }
    return true;
}

static void cmd_reset(MocxDev *dev)
{
    for (unsigned i = 0; i < CMDQ_SLOTS; i++) {
        slot_free(&dev->cmdq->slots[i]);
    }
    mocx_work_cancel(dev, &dev->cmdq->work);
    dev->cmdq->rung = 0;
    dev->cmdq->completed = 0;
    dev->cmdq->base = 0;
}

static void cmd_destroy(MocxDev *dev)
{
    if (dev->cmdq) {
        cmd_reset(dev);
        mocx_free(dev->cmdq);
        dev->cmdq = NULL;
    }
}

const MocxModule mocx_mod_cmd = {
    .name = "cmd",
    .create = cmd_create,
    .reset = cmd_reset,
    .destroy = cmd_destroy,
};
