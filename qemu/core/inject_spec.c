/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The language of fault injection.
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
#include <string.h>

#include "dev.h"
#include "heap.h"
#include "inject_spec.h"

#define DELAY_MS        100u
#define NS_PER_MS       1000000ull

typedef bool KeyFn(MocxInjectSet *set, const char *key, const char *value);

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

static bool key_cmd(MocxInjectSet *set, const char *key, const char *value)
{
    uint64_t opcode = MOCX_INJECT_ANY;
    MocxCmdRule *rule;

    if (set->num_rules == MOCX_INJECT_RULES ||
        (strcmp(value, "any") && !parse_num(value, UINT16_MAX, &opcode))) {
        return false;
    }
    rule = &set->rules[set->num_rules++];
    *rule = (MocxCmdRule) { .opcode = opcode, .nth = 1, .count = 1 };
    rule->verdict.status = MOCX_INT_ERR;
    rule->verdict.delay_ns = DELAY_MS * NS_PER_MS;
    rule->verdict.action = !strcmp(key, "cmd-fail") ? MOCX_INJECT_FAIL :
                           !strcmp(key, "cmd-delay") ? MOCX_INJECT_DELAY :
                           MOCX_INJECT_DROP;
    return true;
}

static bool key_refine(MocxInjectSet *set, const char *key, const char *value)
{
    MocxCmdRule *rule = set->num_rules ? &set->rules[set->num_rules - 1] : NULL;
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
    uint32_t scale = MOCX_PPM_ALL / 100;
    bool point = false;
    uint64_t sum = 0;

    for (; *value && *value != '%'; value++) {
        if (*value == '.' && !point) {
            point = true;
        } else if (isdigit((unsigned char)*value) && scale &&
                   sum < MOCX_PPM_ALL) {
            sum = point ? sum + (scale /= 10) * (*value - '0') :
                  sum * 10 + scale * (*value - '0');
        } else {
            return false;
        }
    }
    *ppm = sum;
    return value[0] == '%' && !value[1] && sum <= MOCX_PPM_ALL;
}

static MocxInjectDir key_dir(const char *key)
{
    return key[0] == 't' ? MOCX_INJECT_TX : MOCX_INJECT_RX;
}

static bool key_wire(MocxInjectSet *set, const char *key, const char *value)
{
    static const char *const names[MOCX_WIRE_FAULTS] = {
        "drop", "dup", "reorder", "corrupt",
    };
    MocxInjectDir dir = key_dir(key);
    MocxWireRule rule = { 0 };
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

static bool key_only(MocxInjectSet *set, const char *key, const char *value)
{
    int *only = &set->only[key_dir(key)];
    uint64_t opcode;

    if (!strcmp(value, "all")) {
        *only = MOCX_ONLY_ALL;
    } else if (!strcmp(value, "roce")) {
        *only = MOCX_ONLY_ROCE;
    } else if (parse_num(value, UINT8_MAX, &opcode)) {
        *only = opcode;
    } else {
        return false;
    }
    return true;
}

static bool key_seed(MocxInjectSet *set, const char *key, const char *value)
{
    return parse_num(value, UINT64_MAX, &set->rng);
}

static bool key_link(MocxInjectSet *set, const char *key, const char *value)
{
    set->link_down = !strcmp(value, "down");
    return set->link_down || !strcmp(value, "up");
}

static bool key_fatal(MocxInjectSet *set, const char *key, const char *value)
{
    uint64_t syndrome;

    if (!parse_num(value, UINT8_MAX, &syndrome)) {
        return false;
    }
    set->fatal = syndrome;
    return true;
}

static bool key_clear(MocxInjectSet *set, const char *key, const char *value)
{
    bool all = !strcmp(value, "all"), known = all;

    if (all || !strcmp(value, "cmd")) {
        set->num_rules = 0;
        known = true;
    }
    if (all || !strcmp(value, "wire")) {
        memset(set->wire, 0, sizeof(set->wire));
        set->only[MOCX_INJECT_TX] = set->only[MOCX_INJECT_RX] = MOCX_ONLY_ALL;
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

static bool parse_pair(MocxInjectSet *set, char *pair, const char **err)
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

bool mocx_inject_spec(MocxInjectSet *set, const char *spec, const char **err)
{
    char *copy = mocx_strdup(NULL, spec), *next = copy, *pair;
    bool ok = copy != NULL;

    *err = "out of memory";
    while (ok && (pair = strsep(&next, ",;"))) {
        ok = !*pair || parse_pair(set, pair, err);
    }
    mocx_free(copy);
    return ok;
}
