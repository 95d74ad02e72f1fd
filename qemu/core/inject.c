/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault injection.
 *
 * A spec is a list of key=value, separated by commas or semicolons; numbers
 * may be decimal or 0x hexadecimal.
 *
 * Commands: each of the first three begins a rule, the others refine it.
 *   cmd-fail=OPCODE    complete with status (default 0x01) and syndrome
 *   cmd-delay=OPCODE   run at once, complete ms (default 100) later
 *   cmd-drop=OPCODE    never complete
 *                      OPCODE may be "any"
 *   nth=N              the Nth such command from now is the first hit (1)
 *   count=N            so many in a row are hit (1; 0: all)
 *   status=N, syndrome=N, ms=N
 *
 * The wire, with tx- (leaving) or rx- (arriving) before each:
 *   drop= dup= reorder= corrupt=   "P%" of the frames, up to four decimals;
 *                      or "N": the Nth matching frame from now, once;
 *                      or 0: none
 *   only=WHAT          count and hit only frames that match: all (default),
 *                      roce, or a BTH opcode
 * Reorder holds a frame until the next one has passed.  Corrupt flips one bit
 * behind the MACs.  Faults are drawn in the order above, one per frame.
 *
 * The rest:
 *   seed=N             of the generator (default 1); same seed, same faults
 *   link=down|up       the cable is pulled, or back
 *   fatal=N            the firmware died with this health syndrome; 0: it did
 *                      not
 *   clear=cmd|wire|link|fatal|all
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dev.h"
#include "wire.h"

#define RULES_MAX       16
#define PPM_ALL         1000000u
#define OPCODE_ANY      0u
#define DELAY_MS        100u
#define NS_PER_MS       1000000ull

typedef enum WireFault {
    FAULT_DROP, FAULT_DUP, FAULT_REORDER, FAULT_CORRUPT, WIRE_FAULTS,
} WireFault;

/* What wire.only may be, beside a BTH opcode. */
enum { ONLY_ALL = -1, ONLY_ROCE = -2 };

typedef struct CmdRule {
    uint16_t opcode;
    MocxInjectCmd verdict;
    uint32_t nth;           /* commands to go until the first hit, then 0 */
    uint32_t count;         /* hits to go; UINT32_MAX: no end */
} CmdRule;

typedef struct WireRule {
    uint32_t ppm;
    uint64_t nth;           /* matching frames to go until the hit; 0: off */
} WireRule;

/* What a spec changes; the injector holds one, a parse works on a copy. */
typedef struct Settings {
    CmdRule rules[RULES_MAX];
    unsigned num_rules;
    WireRule wire[MOCX_INJECT_DIRS][WIRE_FAULTS];
    int only[MOCX_INJECT_DIRS];
    bool armed[MOCX_INJECT_DIRS];
    bool link_down;
    uint8_t fatal;
    uint64_t rng;
} Settings;

typedef struct Held {
    uint8_t data[MOCX_FRAME_MAX];
    size_t len;
} Held;

struct MocxInject {
    Settings set;
    Held *held[MOCX_INJECT_DIRS];       /* waits for the next frame */
    Held *scratch[MOCX_INJECT_DIRS];    /* what the last call gave away */
    MocxInjectStats stats;
};

MocxInject *mocx_inject_new(void)
{
    MocxInject *inj = calloc(1, sizeof(*inj));

    if (inj) {
        inj->set.rng = 1;
        inj->set.only[MOCX_INJECT_TX] = ONLY_ALL;
        inj->set.only[MOCX_INJECT_RX] = ONLY_ALL;
    }
    return inj;
}

void mocx_inject_free(MocxInject *inj)
{
    for (int dir = 0; inj && dir < MOCX_INJECT_DIRS; dir++) {
        free(inj->held[dir]);
        free(inj->scratch[dir]);
    }
    free(inj);
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
static bool rule_hits(CmdRule *rule, uint16_t opcode)
{
    if (!rule->count ||
        (rule->opcode != OPCODE_ANY && rule->opcode != opcode)) {
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

    if (only == ONLY_ALL) {
        return true;
    }
    opcode = bth_opcode(f);
    return only == ONLY_ROCE ? opcode >= 0 : opcode == only;
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Return: the fault that strikes this frame, or WIRE_FAULTS for none. */
static WireFault pick_fault(Settings *set, MocxInjectDir dir)
{
    WireFault hit = WIRE_FAULTS;

    for (int i = WIRE_FAULTS - 1; i >= 0; i--) {
        WireRule *rule = &set->wire[dir][i];

        if (rule->nth && !--rule->nth) {
            hit = i;
        } else if (rule->ppm && draw(&set->rng) % PPM_ALL < rule->ppm) {
            hit = i;
        }
    }
    return hit;
}

static bool is_armed(const Settings *set, MocxInjectDir dir)
{
    for (int i = 0; i < WIRE_FAULTS; i++) {
        if (set->wire[dir][i].ppm || set->wire[dir][i].nth) {
            return true;
        }
    }
    return false;
}

static bool keep_copy(Held **slot, const MocxFrame *f)
{
    if (!*slot) {
        *slot = malloc(sizeof(**slot));
    }
    if (!*slot || f->len > MOCX_FRAME_MAX) {
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

    if (in->len <= 12 || !keep_copy(slot, in)) {
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
    free(inj->scratch[dir]);
    inj->scratch[dir] = held;
    inj->held[dir] = NULL;
    *out = (MocxFrame) { held->data, held->len };
    return 1;
}

size_t mocx_inject_frame(MocxInject *inj, MocxInjectDir dir,
                         const MocxFrame *in,
                         MocxFrame out[MOCX_INJECT_FRAMES_MAX])
{
    WireFault fault = WIRE_FAULTS;
    size_t n = 0;

    if (matches(inj->set.only[dir], in)) {
        fault = pick_fault(&inj->set, dir);
    }
    /* One frame is held at a time; the one that lets it go is left whole. */
    if (inj->held[dir] && fault != FAULT_DROP && fault != FAULT_DUP) {
        fault = WIRE_FAULTS;
    }
    out[n++] = *in;
    switch (fault) {
    case FAULT_DROP:
        inj->stats.wire[dir].dropped++;
        n = 0;
        break;
    case FAULT_DUP:
        inj->stats.wire[dir].duplicated++;
        out[n++] = *in;
        break;
    case FAULT_REORDER:
        if (keep_copy(&inj->held[dir], in)) {
            inj->stats.wire[dir].reordered++;
            n = 0;
        }
        break;
    case FAULT_CORRUPT:
        out[0] = corrupted(inj, dir, in);
        break;
    case WIRE_FAULTS:
        break;
    }
    if (n) {
        n += release(inj, dir, &out[n]);
    }
    inj->set.armed[dir] = is_armed(&inj->set, dir) || inj->held[dir];
    return n;
}

/* Parsing */

typedef bool KeyFn(Settings *set, const char *key, const char *value);

static unsigned digit_of(char c)
{
    if (isdigit((unsigned char)c)) {
        return c - '0';
    }
    return isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : UINT8_MAX;
}

/* Decimal, or hexadecimal behind 0x. */
static bool parse_num(const char *s, uint64_t max, uint64_t *out)
{
    unsigned base = s[0] == '0' && s[1] == 'x' ? 16 : 10, digit;

    s += base == 16 ? 2 : 0;
    *out = 0;
    do {
        digit = digit_of(*s);
        if (digit >= base || *out > (max - digit) / base) {
            return false;
        }
        *out = *out * base + digit;
    } while (*++s);
    return true;
}

static bool key_cmd(Settings *set, const char *key, const char *value)
{
    uint64_t opcode = OPCODE_ANY;
    CmdRule *rule;

    if (set->num_rules == RULES_MAX ||
        (strcmp(value, "any") && !parse_num(value, UINT16_MAX, &opcode))) {
        return false;
    }
    rule = &set->rules[set->num_rules++];
    *rule = (CmdRule) { .opcode = opcode, .nth = 1, .count = 1 };
    rule->verdict.status = MOCX_INT_ERR;
    rule->verdict.delay_ns = DELAY_MS * NS_PER_MS;
    rule->verdict.action = !strcmp(key, "cmd-fail") ? MOCX_INJECT_FAIL :
                           !strcmp(key, "cmd-delay") ? MOCX_INJECT_DELAY :
                           MOCX_INJECT_DROP;
    return true;
}

static bool key_refine(Settings *set, const char *key, const char *value)
{
    CmdRule *rule = set->num_rules ? &set->rules[set->num_rules - 1] : NULL;
    uint64_t num;

    if (!rule || !parse_num(value, UINT32_MAX - 1, &num)) {
        return false;
    }
    if (!strcmp(key, "nth")) {
        rule->nth = num;
        return num > 0;
    }
    if (!strcmp(key, "count")) {
        rule->count = num ? num : UINT32_MAX;
    } else if (!strcmp(key, "syndrome")) {
        rule->verdict.syndrome = num;
    } else if (!strcmp(key, "ms")) {
        rule->verdict.delay_ns = num * NS_PER_MS;
    } else {
        rule->verdict.status = num;
        return num > 0 && num <= UINT8_MAX;
    }
    return true;
}

/* "3%", "0.5%" */
static bool parse_percent(const char *value, uint32_t *ppm)
{
    uint32_t scale = PPM_ALL / 100;
    bool point = false;
    uint64_t sum = 0;

    for (; *value && *value != '%'; value++) {
        if (*value == '.' && !point) {
            point = true;
        } else if (isdigit((unsigned char)*value) && scale && sum < PPM_ALL) {
            sum = point ? sum + (scale /= 10) * (*value - '0') :
                  sum * 10 + scale * (*value - '0');
        } else {
            return false;
        }
    }
    *ppm = sum;
    return value[0] == '%' && !value[1] && sum <= PPM_ALL;
}

static MocxInjectDir key_dir(const char *key)
{
    return key[0] == 't' ? MOCX_INJECT_TX : MOCX_INJECT_RX;
}

static bool key_wire(Settings *set, const char *key, const char *value)
{
    static const char *const names[WIRE_FAULTS] = {
        "drop", "dup", "reorder", "corrupt",
    };
    MocxInjectDir dir = key_dir(key);
    WireRule rule = { 0 };
    int i = 0;

    while (strcmp(names[i], key + 3)) {
        i++;
    }
    if (strchr(value, '%') ? !parse_percent(value, &rule.ppm) :
        !parse_num(value, UINT64_MAX, &rule.nth)) {
        return false;
    }
    set->wire[dir][i] = rule;
    return true;
}

static bool key_only(Settings *set, const char *key, const char *value)
{
    int *only = &set->only[key_dir(key)];
    uint64_t opcode;

    if (!strcmp(value, "all")) {
        *only = ONLY_ALL;
    } else if (!strcmp(value, "roce")) {
        *only = ONLY_ROCE;
    } else if (parse_num(value, UINT8_MAX, &opcode)) {
        *only = opcode;
    } else {
        return false;
    }
    return true;
}

static bool key_seed(Settings *set, const char *key, const char *value)
{
    return parse_num(value, UINT64_MAX, &set->rng);
}

static bool key_link(Settings *set, const char *key, const char *value)
{
    set->link_down = !strcmp(value, "down");
    return set->link_down || !strcmp(value, "up");
}

static bool key_fatal(Settings *set, const char *key, const char *value)
{
    uint64_t syndrome;

    if (!parse_num(value, UINT8_MAX, &syndrome)) {
        return false;
    }
    set->fatal = syndrome;
    return true;
}

static bool key_clear(Settings *set, const char *key, const char *value)
{
    bool all = !strcmp(value, "all"), known = all;

    if (all || !strcmp(value, "cmd")) {
        set->num_rules = 0;
        known = true;
    }
    if (all || !strcmp(value, "wire")) {
        memset(set->wire, 0, sizeof(set->wire));
        set->only[MOCX_INJECT_TX] = set->only[MOCX_INJECT_RX] = ONLY_ALL;
        known = true;
    }
    if (all || !strcmp(value, "link")) {
        set->link_down = false;
        known = true;
    }
    if (all || !strcmp(value, "fatal")) {
        set->fatal = 0;
        known = true;
    }
    return known;
}

static const struct {
    const char *key;
    KeyFn *fn;
    const char *err;
} keys[] = {
    { "cmd-fail",   key_cmd,    "cmd-fail wants an opcode or any" },
    { "cmd-delay",  key_cmd,    "cmd-delay wants an opcode or any" },
    { "cmd-drop",   key_cmd,    "cmd-drop wants an opcode or any" },
    { "nth",        key_refine, "nth follows a cmd- key and is 1 or more" },
    { "count",      key_refine, "count follows a cmd- key and is a number" },
    { "status",     key_refine, "status follows a cmd- key, 1 to 0xff" },
    { "syndrome",   key_refine, "syndrome follows a cmd- key and is a number" },
    { "ms",         key_refine, "ms follows a cmd- key and is a number" },
    { "tx-drop",    key_wire,   "tx-drop wants N or P%" },
    { "tx-dup",     key_wire,   "tx-dup wants N or P%" },
    { "tx-reorder", key_wire,   "tx-reorder wants N or P%" },
    { "tx-corrupt", key_wire,   "tx-corrupt wants N or P%" },
    { "rx-drop",    key_wire,   "rx-drop wants N or P%" },
    { "rx-dup",     key_wire,   "rx-dup wants N or P%" },
    { "rx-reorder", key_wire,   "rx-reorder wants N or P%" },
    { "rx-corrupt", key_wire,   "rx-corrupt wants N or P%" },
    { "tx-only",    key_only,   "tx-only wants all, roce or a BTH opcode" },
    { "rx-only",    key_only,   "rx-only wants all, roce or a BTH opcode" },
    { "seed",       key_seed,   "seed wants a number" },
    { "link",       key_link,   "link wants down or up" },
    { "fatal",      key_fatal,  "fatal wants a health syndrome, 0 to 0xff" },
    { "clear",      key_clear,  "clear wants cmd, wire, link, fatal or all" },
};

static bool parse_pair(Settings *set, char *pair, const char **err)
{
    char *value = strchr(pair, '=');

    if (!value) {
        *err = "a key=value is expected";
        return false;
    }
    *value++ = 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (!strcmp(keys[i].key, pair)) {
            *err = keys[i].err;
            return keys[i].fn(set, pair, value);
        }
    }
    *err = "there is no such key";
    return false;
}

bool mocx_inject_parse(MocxInject *inj, const char *spec, const char **err)
{
    char *copy = strdup(spec), *next = copy, *pair;
    Settings set = inj->set;
    bool ok = copy != NULL;

    *err = "out of memory";
    while (ok && (pair = strsep(&next, ",;"))) {
        ok = !*pair || parse_pair(&set, pair, err);
    }
    free(copy);
    if (ok) {
        for (int dir = 0; dir < MOCX_INJECT_DIRS; dir++) {
            set.armed[dir] = is_armed(&set, dir) || inj->held[dir];
        }
        inj->set = set;
    }
    return ok;
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
    dev->inject = mocx_inject_new();
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
