/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verifier mode (strict=on): what a driver does that a card would let pass, or
 * would not even see, and that is wrong all the same.
 *
 * The rules stand beside the model, not in it: it calls them where something
 * happens that they judge, and goes on whatever they say.  dev->verify is NULL
 * when the mode is off, which is all that it costs then.
 */
#ifndef MOCX_VERIFY_H
#define MOCX_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MocxDev MocxDev;
typedef struct MocxCmd MocxCmd;
typedef struct MocxCmdRow MocxCmdRow;
typedef struct MocxCq MocxCq;
typedef struct MocxEq MocxEq;
typedef struct MocxObj MocxObj;
typedef struct MocxVerify MocxVerify;

/* The rules; their names are in verify.c, what they mean in properties.rst. */
typedef enum MocxRule {
    MOCX_RULE_RESERVED_INPUT,
    MOCX_RULE_INPUT_TAIL,
    MOCX_RULE_ENTRY_RESERVED,
    MOCX_RULE_MAILBOX_RESERVED,
    MOCX_RULE_DESTROYED_OBJECT,
    MOCX_RULE_DESTROYED_DOORBELL,
    MOCX_RULE_DESTROYED_KEY,
    MOCX_RULE_FOREIGN_DOORBELL,
    MOCX_RULE_DOORBELL_RECORD,
    MOCX_RULE_RECORD_BACKWARDS,
    MOCX_RULE_RING_OVERRUN,
    MOCX_RULE_WQE_INDEX,
    MOCX_RULE_WQE_QUEUE,
    MOCX_RULE_WQE_RESERVED,
    MOCX_RULE_LIST_END,
    MOCX_RULE_TRANSLATION_LIST,
    MOCX_RULE_CQ_OVERRUN,
    MOCX_RULE_CQ_INDEX_AHEAD,
    MOCX_RULE_CQ_INDEX_BACKWARDS,
    MOCX_RULE_CQ_INDEX_LAGS,
    MOCX_RULE_CQ_ARM_RECORD,
    MOCX_RULE_CQ_ARM_NUMBER,
    MOCX_RULE_EQ_OVERRUN,
    MOCX_RULE_EQ_INDEX_AHEAD,
    MOCX_RULE_EQ_INDEX_BACKWARDS,
    MOCX_RULE_PAGE_LIST,
    MOCX_RULE_DMA_NOWHERE,
    MOCX_RULE_FIRMWARE_PAGE,
    MOCX_RULE_OBJECT_LEFT,
    MOCX_RULE_PAGE_LEFT,
    MOCX_RULES
} MocxRule;

/** mocx_rule_name() - as in the log and the status: "wqe-index" */
const char *mocx_rule_name(MocxRule rule);

/**
 * mocx_breach_count() - how often a rule was broken since the device was made
 * @dev: the device
 * @rule: the rule
 *
 * Return: 0 when the mode is off.
 */
uint64_t mocx_breach_count(const MocxDev *dev, MocxRule rule);

/**
 * mocx_breach() - a rule is broken
 * @dev: the device, which is in verifier mode
 * @rule: the rule
 * @place: where; the same rule and place give one line only
 * @fmt: the sentence
 */
void mocx_breach(MocxDev *dev, MocxRule rule, uint64_t place,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Commands (verify_cmd.c)
 */

/**
 * mocx_verify_entry() - an entry of the command queue, before it runs
 * @dev: the device
 * @entry: its 64 bytes
 */
void mocx_verify_entry(MocxDev *dev, const uint8_t *entry);
/**
 * mocx_verify_block() - the header of one block of a mailbox
 * @dev: the device
 * @block: its 576 bytes
 */
void mocx_verify_block(MocxDev *dev, const uint8_t *block);
/**
 * mocx_verify_input() - a command that is about to be executed
 * @dev: the device
 * @cmd: its input
 * @row: what the model knows of it
 */
void mocx_verify_input(MocxDev *dev, const MocxCmd *cmd, const MocxCmdRow *row);
/**
 * mocx_verify_output() - fill what the command does not define with noise
 * @dev: the device
 * @cmd: its output; the header is filled in afterwards
 * @row: what the model knows of it, or NULL
 * @status: what it ended with
 * @room: bytes of output that reach guest memory, from @cmd->outlen up
 */
void mocx_verify_output(MocxDev *dev, MocxCmd *cmd, const MocxCmdRow *row,
                        uint8_t status, uint32_t room);

/*
 * Objects and memory (verify_mem.c)
 */

/** mocx_verify_teardown() - every object should be gone */
void mocx_verify_teardown(MocxDev *dev);
/** mocx_verify_pages() - every firmware page should be back */
void mocx_verify_pages(MocxDev *dev);
/** mocx_verify_reset() - a reset of the function */
void mocx_verify_reset(MocxDev *dev);
/**
 * mocx_verify_page() - a firmware page comes or goes
 * @dev: the device
 * @addr: of the page
 * @given: by the driver, or given back to it
 */
void mocx_verify_page(MocxDev *dev, uint64_t addr, bool given);
/**
 * mocx_verify_addr() - a command tells where something of the driver's is
 * @dev: the device
 * @addr: its bus address
 * @what: whose, for the sentence
 */
void mocx_verify_addr(MocxDev *dev, uint64_t addr, const char *what);
/**
 * mocx_verify_page_list() - a command tells where the pages of a ring are
 * @dev: the device
 * @given: pages that it lists
 * @needed: pages that the ring spans, from its offset to its end
 */
void mocx_verify_page_list(MocxDev *dev, uint32_t given, uint32_t needed);
/**
 * mocx_verify_no_dma() - memory was not there
 * @dev: the device
 * @addr: bus address
 * @len: bytes
 * @verb: "read" or "written"
 */
void mocx_verify_no_dma(MocxDev *dev, uint64_t addr, size_t len,
                        const char *verb);
/**
 * mocx_verify_key() - a local access by a key that does not exist
 * @dev: the device
 * @key: lkey
 * @qpn: whose access
 */
void mocx_verify_key(MocxDev *dev, uint32_t key, uint32_t qpn);

/**
 * mocx_verify_foreign() - a doorbell came by another page than its object's
 * @dev: the device
 * @what: kind of object
 * @id: its number
 * @uar: the page
 */
void mocx_verify_foreign(MocxDev *dev, const char *what, uint32_t id,
                         uint32_t uar);

/*
 * Send and receive queues (verify_queue.c)
 */

/**
 * mocx_verify_send_doorbell() - a send doorbell came
 * @dev: the device
 * @uar: by this page
 * @qpn: the queue it names
 * @known: there is such a queue
 *
 * A program's doorbells are not judged: when its device is removed, the kernel
 * destroys its objects while it runs, and takes its page away after.
 */
void mocx_verify_send_doorbell(MocxDev *dev, const MocxObj *uar, uint32_t qpn,
                               bool known);
/**
 * struct MocxRecordCheck - a producer record that was just read
 * @qpn: number of the queue
 * @kind: "send", "receive" or "SRQ"
 * @was: what it said before
 * @now: what it says
 * @oldest: first entry that is not complete: what comes before may be reused
 * @size: entries in the ring
 */
typedef struct MocxRecordCheck {
    uint32_t qpn;
    const char *kind;
    uint16_t was, now, oldest;
    uint32_t size;
} MocxRecordCheck;

/**
 * mocx_verify_record() - it moves forward, and not over what is in use
 * @dev: the device
 * @r: the record
 */
void mocx_verify_record(MocxDev *dev, const MocxRecordCheck *r);
/**
 * mocx_verify_covered() - does the record hold the WQE that a doorbell names?
 * @dev: the device
 * @qpn: the queue
 * @doorbell: first dword of the doorbell
 * @pi: the record
 * @size: entries in the ring
 */
void mocx_verify_covered(MocxDev *dev, uint32_t qpn, uint32_t doorbell,
                         uint16_t pi, uint32_t size);
/**
 * mocx_verify_wqe() - the control segment of a WQE
 * @dev: the device
 * @qpn: queue it was found in
 * @counter: where it was found
 * @ctrl: its first 16 bytes
 */
void mocx_verify_wqe(MocxDev *dev, uint32_t qpn, uint16_t counter,
                     const uint8_t *ctrl);

/**
 * mocx_verify_list_end() - a kernel ends a receive list with the wrong key
 * @dev: the device
 * @key: lkey
 */
void mocx_verify_list_end(MocxDev *dev, uint32_t key);
/**
 * struct MocxListCheck - the translations that a UMR brings
 * @qpn: number of the queue
 * @pointed: they lie in memory, at @addr, and not in the WQE
 * @addr: address in the data segment
 * @bytes: its length
 * @first: octword in the key where they go
 * @octwords: how many there are
 */
typedef struct MocxListCheck {
    uint32_t qpn;
    bool pointed;
    uint64_t addr;
    uint32_t bytes;
    uint32_t first;
    uint16_t octwords;
} MocxListCheck;

/**
 * mocx_verify_translations() - a device takes a list in whole units
 * @dev: the device
 * @l: the list
 */
void mocx_verify_translations(MocxDev *dev, const MocxListCheck *l);

/*
 * Completion and event queues (verify_cq.c)
 */

/* What the rules remember of a CQ. */
typedef struct MocxCqVerify {
    bool armed_once;
    uint8_t sn;             /* of the last arming */
    uint32_t ci;            /* of the last arming */
    uint32_t events;        /* raised since @sn changed */
    uint32_t event_at;      /* producer of the EQ after the last */
} MocxCqVerify;

/**
 * mocx_verify_cq_arm() - the arm doorbell, before it has an effect
 * @dev: the device
 * @cq: the CQ
 * @word: first dword of the doorbell
 */
void mocx_verify_cq_arm(MocxDev *dev, MocxCq *cq, uint32_t word);
/** mocx_verify_cq_event() - an event of this CQ was raised */
void mocx_verify_cq_event(MocxCq *cq);
/**
 * mocx_verify_cq_index() - the consumer index was read from the record
 * @dev: the device
 * @cq: the CQ, with what was known before
 * @ci: the record
 */
void mocx_verify_cq_index(MocxDev *dev, const MocxCq *cq, uint32_t ci);
/** mocx_verify_cq_full() - there is no room for a CQE */
void mocx_verify_cq_full(MocxDev *dev, const MocxCq *cq);
/** mocx_verify_cq_unknown() - the arm doorbell, by page @uar, names no CQ */
void mocx_verify_cq_unknown(MocxDev *dev, const MocxObj *uar, uint32_t cqn);
/**
 * mocx_verify_eq_index() - the driver tells how far it has come
 * @dev: the device
 * @eq: the EQ, with what was known before
 * @ci: new consumer index
 */
void mocx_verify_eq_index(MocxDev *dev, const MocxEq *eq, uint32_t ci);
/** mocx_verify_eq_full() - there is no room for an EQE */
void mocx_verify_eq_full(MocxDev *dev, const MocxEq *eq);
/** mocx_verify_eq_unknown() - the doorbell names no EQ */
void mocx_verify_eq_unknown(MocxDev *dev, uint32_t eqn);

#endif /* MOCX_VERIFY_H */
