/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fault injection: what strikes which command and which frame. */
#include <string.h>

#include "dev.h"
#include "heap.h"
#include "inject_spec.h"
#include "wire.h"

typedef struct Held {
    uint8_t data[MOCX_FRAME_MAX];
    size_t len;
} Held;

struct MocxInject {
    MocxHeap *heap;
    MocxInjectSet set;
    Held *held[MOCX_INJECT_DIRS];       /* waits for the next frame */
    Held *scratch[MOCX_INJECT_DIRS];    /* what the last call gave away */
    MocxInjectStats stats;
};

MocxInject *mocx_inject_new(MocxHeap *heap)
{
    MocxInject *inj = mocx_calloc(heap, 1, sizeof(*inj));

    if (inj) {
        inj->heap = heap;
        inj->set.rng = 1;
        inj->set.only[MOCX_INJECT_TX] = MOCX_ONLY_ALL;
        inj->set.only[MOCX_INJECT_RX] = MOCX_ONLY_ALL;
    }
    return inj;
}

void mocx_inject_free(MocxInject *inj)
{
    for (int dir = 0; inj && dir < MOCX_INJECT_DIRS; dir++) {
        mocx_free(inj->held[dir]);
        mocx_free(inj->scratch[dir]);
    }
    mocx_free(inj);
}

void mocx_inject_reset(MocxInject *inj)
{
    inj->set.fatal = 0;
}

bool mocx_inject_link_down(const MocxInject *inj)
{
    return inj->set.link_down;
}

uint8_t mocx_inject_fatal(const MocxInject *inj)
{
    return inj->set.fatal;
}

const MocxInjectStats *mocx_inject_stats(const MocxInject *inj)
{
    return &inj->stats;
}

/* Commands */

/* Return: the rule hits this command, and has counted it. */
static bool rule_hits(MocxCmdRule *rule, uint16_t opcode)
{
    if (!rule->count ||
        (rule->opcode != MOCX_INJECT_ANY && rule->opcode != opcode)) {
        return false;
    }
    if (rule->nth && --rule->nth) {
        return false;
    }
    if (rule->count != UINT32_MAX) {
        rule->count--;
    }
    return true;
}

static void count_cmd(MocxInjectStats *stats, MocxInjectAction action)
{
    stats->cmd_failed += action == MOCX_INJECT_FAIL;
    stats->cmd_delayed += action == MOCX_INJECT_DELAY;
    stats->cmd_dropped += action == MOCX_INJECT_DROP;
}

MocxInjectCmd mocx_inject_cmd(MocxInject *inj, uint16_t opcode)
{
    MocxInjectCmd verdict = { .action = MOCX_INJECT_NONE };

    /* Every rule counts every command; the first that hits decides. */
    for (unsigned i = 0; i < inj->set.num_rules; i++) {
        if (rule_hits(&inj->set.rules[i], opcode) &&
            verdict.action == MOCX_INJECT_NONE) {
            verdict = inj->set.rules[i].verdict;
        }
    }
    if (inj->set.fatal) {
        verdict.action = MOCX_INJECT_DROP;
    }
    count_cmd(&inj->stats, verdict.action);
    return verdict;
}

/* The wire */

bool mocx_inject_armed(const MocxInject *inj, MocxInjectDir dir)
{
    return inj->set.armed[dir];
}

/* Return: the BTH opcode of a frame, or -1 if it is not RoCE. */
static int bth_opcode(const MocxFrame *f)
{
    const uint8_t *p = f->data + 12;
    size_t room = f->len - 12, head;
    uint16_t type = f->len < 16 ? 0 : mocx_get_be16(p);

    if (type == MOCX_ETHERTYPE_VLAN && room > 6) {
        p += 4;
        room -= 4;
        type = mocx_get_be16(p);
    }
    p += 2;
    room -= 2;
    if (type == MOCX_ETHERTYPE_ROCE) {
        head = 40;
    } else if (type == MOCX_ETHERTYPE_IPV4) {
        head = 20;
    } else if (type == MOCX_ETHERTYPE_IPV6) {
        head = 40;
    } else {
        return -1;
    }
    if (type != MOCX_ETHERTYPE_ROCE) {
        head += 8;
        if (room < head || mocx_get_be16(p + head - 6) != MOCX_ROCE_UDP_PORT ||
            p[type == MOCX_ETHERTYPE_IPV4 ? 9 : 6] != 17) {
            return -1;
        }
    }
    return room > head ? p[head] : -1;
}

static bool matches(int only, const MocxFrame *f)
{
    int opcode;

    if (only == MOCX_ONLY_ALL) {
        return true;
    }
    opcode = bth_opcode(f);
    return only == MOCX_ONLY_ROCE ? opcode >= 0 : opcode == only;
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Return: the fault that strikes this frame, or MOCX_WIRE_FAULTS for none. */
static MocxWireFault pick_fault(MocxInjectSet *set, MocxInjectDir dir)
{
    MocxWireFault hit = MOCX_WIRE_FAULTS;

    for (int i = MOCX_WIRE_FAULTS - 1; i >= 0; i--) {
        MocxWireRule *rule = &set->wire[dir][i];

        if (rule->nth && !--rule->nth) {
            hit = i;
        } else if (rule->ppm && draw(&set->rng) % MOCX_PPM_ALL < rule->ppm) {
            hit = i;
        }
    }
    return hit;
}

static bool is_armed(const MocxInjectSet *set, MocxInjectDir dir)
{
    for (int i = 0; i < MOCX_WIRE_FAULTS; i++) {
        if (set->wire[dir][i].ppm || set->wire[dir][i].nth) {
            return true;
        }
    }
    return false;
}

/* A buffer that is there holds a frame, so none is made for a long one. */
static bool keep_copy(MocxInject *inj, Held **slot, const MocxFrame *f)
{
    if (f->len > MOCX_FRAME_MAX) {
        return false;
    }
    if (!*slot) {
        *slot = mocx_malloc(inj->heap, sizeof(**slot));
    }
    if (!*slot) {
        return false;
    }
    memcpy((*slot)->data, f->data, f->len);
    (*slot)->len = f->len;
    return true;
}

/* The frame with one bit flipped, in the scratch buffer. */
static MocxFrame corrupted(MocxInject *inj, MocxInjectDir dir,
                           const MocxFrame *in)
{
    Held **slot = &inj->scratch[dir];
    uint64_t bit;

    if (in->len <= 12 || !keep_copy(inj, slot, in)) {
        return *in;
    }
    bit = draw(&inj->set.rng) % ((in->len - 12) * 8);
    (*slot)->data[12 + bit / 8] ^= 1 << bit % 8;
    inj->stats.wire[dir].corrupted++;
    return (MocxFrame) { (*slot)->data, in->len };
}

/* The frame held back follows the one that has just passed. */
static size_t release(MocxInject *inj, MocxInjectDir dir, MocxFrame *out)
{
    Held *held = inj->held[dir];

    if (!held) {
        return 0;
    }
    mocx_free(inj->scratch[dir]);
    inj->scratch[dir] = held;
    inj->held[dir] = NULL;
    *out = (MocxFrame) { held->data, held->len };
    return 1;
}

size_t mocx_inject_frame(MocxInject *inj, MocxInjectDir dir,
                         const MocxFrame *in,
                         MocxFrame out[MOCX_INJECT_FRAMES_MAX])
{
    MocxWireFault fault = MOCX_WIRE_FAULTS;
    size_t n = 0;

    if (matches(inj->set.only[dir], in)) {
        fault = pick_fault(&inj->set, dir);
    }
    /* One frame is held at a time; the one that lets it go is left whole. */
    if (inj->held[dir] && fault != MOCX_FAULT_DROP && fault != MOCX_FAULT_DUP) {
        fault = MOCX_WIRE_FAULTS;
    }
    out[n++] = *in;
    switch (fault) {
    case MOCX_FAULT_DROP:
        inj->stats.wire[dir].dropped++;
        n = 0;
        break;
    case MOCX_FAULT_DUP:
        inj->stats.wire[dir].duplicated++;
        out[n++] = *in;
        break;
    case MOCX_FAULT_REORDER:
        if (keep_copy(inj, &inj->held[dir], in)) {
            inj->stats.wire[dir].reordered++;
            n = 0;
        }
        break;
    case MOCX_FAULT_CORRUPT:
        out[0] = corrupted(inj, dir, in);
        break;
    case MOCX_WIRE_FAULTS:
        break;
    }
    if (n) {
        n += release(inj, dir, &out[n]);
    }
    inj->set.armed[dir] = is_armed(&inj->set, dir) || inj->held[dir];
    return n;
}

bool mocx_inject_parse(MocxInject *inj, const char *spec, const char **err)
{
    MocxInjectSet set = inj->set;

    if (!mocx_inject_spec(&set, spec, err)) {
        return false;
    }
    for (int dir = 0; dir < MOCX_INJECT_DIRS; dir++) {
        set.armed[dir] = is_armed(&set, dir) || inj->held[dir];
    }
    inj->set = set;
    return true;
}

/* What the device has to do about it. */

bool mocx_inject(MocxDev *dev, const char *spec, const char **err)
{
    bool was_up = mocx_port_up(&dev->port);

    if (!mocx_inject_parse(dev->inject, spec, err)) {
        return false;
    }
    dev->health_syndrome = mocx_inject_fatal(dev->inject);
    dev->health_rfr = dev->health_syndrome != 0;
    dev->port.pulled = mocx_inject_link_down(dev->inject);
    mocx_port_changed(dev, was_up);
    mocx_leave(dev);
    return true;
}

static bool inject_create(MocxDev *dev)
{
    dev->inject = mocx_inject_new(&dev->heap);
    return dev->inject != NULL;
}

static void inject_reset(MocxDev *dev)
{
    mocx_inject_reset(dev->inject);
    dev->health_syndrome = 0;
    dev->health_rfr = false;
}

static void inject_destroy(MocxDev *dev)
{
    mocx_inject_free(dev->inject);
}

const MocxModule mocx_mod_inject = {
    .name = "inject",
    .create = inject_create,
    .reset = inject_reset,
    .destroy = inject_destroy,
};
