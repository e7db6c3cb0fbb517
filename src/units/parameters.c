/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Parameters of a unit as text: one row a key. */
#include "units/parameters.h"

#include "base/try.h"
#include "units/path.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { UINT16, INT, FLOOR, FORMAT, PATH, ROUND, CHOICE, NAN_CODE } kind;

enum { MAX_TEXT = 64, MAX_VALUES = 8 };

typedef struct parameter {
    const char *key, *alias;
    kind kind;
    size_t at; /* in lb_unit */
    int least, most;
    const char *choices; /* CHOICE: "first|second", in the order of its enum */
    unsigned paths;      /* that read it, a bit each */
    const char *edge, *note;
} parameter;

#define ON(path)   (1u << LB_PATH_##path)
#define BLOCKS     (ON(TRUNCATED) | ON(TWO_HALVES) | ON(SPARSE))
#define ENGINE     (BLOCKS | ON(BLOCK_SCALED))
#define LATE       (ON(LATE_C) | ON(LATE_C_SPLIT))
#define BITS_PATHS (ON(INTEGER) | ON(XOR_POPC) | ON(AND_POPC))
#define EVERY      ((1u << LB_PATH_COUNT) - 1)
#define FLOATS     (EVERY & ~BITS_PATHS)
#define AT(field)  offsetof(lb_unit, field)

static const parameter parameters[] = {
    {"m", NULL, UINT16, AT(m), 1, 4096, NULL, EVERY, "", "rows of D in one tile"},
    {"n", NULL, UINT16, AT(n), 1, 4096, NULL, EVERY, "", "columns of D in one tile"},
    {"k", NULL, UINT16, AT(k), 1, LB_MAX_K, NULL, EVERY, "", "products of one K step"},
    {"a", NULL, FORMAT, AT(a), 0, 0, NULL, EVERY, "", "format of A"},
    {"b", NULL, FORMAT, AT(b), 0, 0, NULL, EVERY, "", "format of B"},
    {"c", NULL, FORMAT, AT(c), 0, 0, NULL, EVERY, "", "format of C"},
    {"d", NULL, FORMAT, AT(d), 0, 0, NULL, EVERY, "", "format of D"},
    {"path", NULL, PATH, AT(path), 0, 0, NULL, EVERY, "D7 D15", "how it is computed"},
    {"terms", NULL, INT, AT(terms), 1, LB_MAX_K, NULL, ENGINE | LATE | ON(EXACT) | ON(PAIRWISE), "D13", "products a block"},
    {"frac_bits", NULL, INT, AT(frac_bits), 1, 48, NULL, ENGINE | LATE, "D18", "fraction bits kept below the largest exponent"},
    {"floor_exp", "e_lim", FLOOR, AT(floor_exp), -1000, 1000, NULL, ENGINE, "D1", "least exponent that a block is aligned to"},
    {"round", NULL, ROUND, AT(round), 0, 0, NULL, EVERY, "", "of each block"},
    {"scale", NULL, FORMAT, AT(scale), 0, 0, NULL, ON(BLOCK_SCALED), "", "format of the scales"},
    {"scale_block", NULL, INT, AT(scale_block), 0, LB_MAX_K, NULL, ON(BLOCK_SCALED), "", "consecutive k that share a scale"},
    {"group", NULL, INT, AT(group), 0, LB_MAX_K, NULL, ON(BLOCK_SCALED), "", "products that are summed before they are aligned"},
    {"sparse_group", NULL, INT, AT(sparse_group), 0, 4, NULL, ON(SPARSE) | ON(INTEGER), "",
     "consecutive k of which A holds half; 0: A is dense"},
    {"zero_products", NULL, CHOICE, AT(edges.zero_products), 0, 0, "skip|count", BLOCKS, "D2",
     "a zero operand has no exponent, or -126, which counts with its partner's"},
    {"c_subnormal", NULL, CHOICE, AT(edges.c_subnormal), 0, 0, "least|own", ENGINE, "D3",
     "exponent of a subnormal c: the least one, or that of its leading one"},
    {"overflow", NULL, CHOICE, AT(edges.overflow), 0, 0, "inf|max", ENGINE, "D4", "Inf, or the largest finite value"},
    {"tiny_sign", NULL, CHOICE, AT(edges.tiny_sign), 0, 0, "keep|plus", ENGINE, "D5", "of a sum that rounds to zero: its own, or plus"},
    {"nan", NULL, NAN_CODE, AT(edges.nan), 0, 0, NULL, FLOATS, "D6 D22", "every NaN that a step returns"},
    {"late_floor", NULL, CHOICE, AT(edges.late_floor), 0, 0, "once|twice", LATE, "D11",
     "of the sum with c: once, or once more behind normalising"},
    {"specials", NULL, CHOICE, AT(edges.specials), 0, 0, "block|step", BLOCKS, "D12",
     "NaN and Inf are looked for in each block, or in a K step before anything is added"},
    {"tf32", NULL, CHOICE, AT(edges.tf32), 0, 0, "truncate|keep_nan|round", FLOATS, "D16 D24",
     "low 13 bits of an operand: they drop; do, but NaN stays; or round to nearest even"},
    {"zero_group", NULL, CHOICE, AT(edges.zero_group), 0, 0, "products|sum|always", ON(BLOCK_SCALED), "D17",
     "a group counts if a product is not zero; if its sum is not; or always"},
    {"subnormals", NULL, CHOICE, AT(edges.subnormals), 0, 0, "path|keep|flush_in|flush_out|flush", BLOCKS | ON(PAIRWISE), "D7",
     "of operands and results: as the path has it; kept; or zeros"},
};

enum { PARAMETERS = sizeof parameters / sizeof parameters[0] };

/* ---- what a value may be ------------------------------------------------------------------------------------------ */

bool lb_unit_parameter(size_t i, lb_parameter *out) {
    static const char *const values[] = {[UINT16] = "a count",
                                         [INT] = "a count",
                                         [FLOOR] = "-1000 to 1000, or none",
                                         [FORMAT] = "a format",
                                         [PATH] = "a path",
                                         [ROUND] = "a rounding, as f32_rz",
                                         [NAN_CODE] = "a NaN of d, in hex"};
    if (i >= PARAMETERS) return false;
    const parameter *p = &parameters[i];
    *out = (lb_parameter){p->key, p->alias, p->kind == CHOICE ? p->choices : values[p->kind], p->edge, p->note, p->paths};
    return true;
}

static lb_status bad_value(const parameter *p, const char *value, const char *want, const char *near, lb_error *err) {
    return lb_fail(err, LB_E_ARG, p->key, "\"%s\" is no value; %s%s%s%s", value, want, near ? " (did you mean " : "", near ? near : "",
                   near ? "?)" : "");
}

static lb_status read_int(const parameter *p, const char *value, int *out, lb_error *err) {
    char want[64], *end;
    errno = 0;
    const long n = strtol(value, &end, 10);
    snprintf(want, sizeof want, "a whole number from %d to %d", p->least, p->most);
    const bool plain = (*value >= '0' && *value <= '9') || (*value == '-' && value[1] >= '0' && value[1] <= '9');
    if (!plain || *end || errno || n < p->least || n > p->most) return bad_value(p, value, want, NULL, err);
    *out = (int)n;
    return LB_OK;
}

/* The number of a name among `count`; '_' and ' ' are one. */
static lb_status read_name(const parameter *p, const char *value, const char *const *names, size_t count, const char *want, size_t *out,
                           lb_error *err) {
    for (*out = 0; *out < count; ++*out) {
        const char *x = names[*out], *y = value;
        while (*x && (*x == *y || (*x == ' ' && *y == '_'))) x++, y++;
        if (!*x && !*y) return LB_OK;
    }
    return bad_value(p, value, want, lb_nearest_name(value, names, count), err);
}

static lb_status read_choice(const parameter *p, const char *value, size_t *out, lb_error *err) {
    char names[MAX_TEXT], want[MAX_TEXT + 16];
    const char *each[MAX_VALUES];
    size_t count = 0;
    char *rest = NULL;
    snprintf(names, sizeof names, "%s", p->choices);
    snprintf(want, sizeof want, "one of %s", p->choices);
    for (char *s = strtok_r(names, "|", &rest); s && count < MAX_VALUES; s = strtok_r(NULL, "|", &rest)) each[count++] = s;
    return read_name(p, value, each, count, want, out, err);
}

static lb_status read_path_or_round(const parameter *p, const char *value, size_t *out, lb_error *err) {
    const char *names[LB_PATH_COUNT + LB_UNIT_ROUND_COUNT];
    const size_t count = p->kind == PATH ? LB_PATH_COUNT : LB_UNIT_ROUND_COUNT;
    for (size_t i = 0; i < count; i++)
        names[i] = p->kind == PATH ? lb_unit_path_name((lb_unit_path)i) : lb_unit_round_name((lb_unit_round)i);
    return read_name(p, value, names, count, p->kind == PATH ? "a path of docs/units.md" : "a rounding of docs/units.md, as f32_rz", out,
                     err);
}

static lb_status read_nan(const parameter *p, const char *value, uint64_t *out, lb_error *err) {
    char *end;
    errno = 0;
    *out = strtoull(value, &end, 16);
    const bool hex = strspn(value, "0123456789abcdefABCDEFx") == strlen(value) && *value;
    return hex && !*end && !errno ? LB_OK : bad_value(p, value, "a code in hex", NULL, err);
}

/* ---- one key --------------------------------------------------------------------------------------------------------- */

static lb_status store(const parameter *p, const char *value, lb_unit *u, lb_error *err) {
    void *to = (char *)u + p->at;
    size_t i = 0;
    int n = 0;
    const lb_format *f;
    switch (p->kind) {
    case UINT16:
        LB_TRY(read_int(p, value, &n, err));
        *(uint16_t *)to = (uint16_t)n;
        return LB_OK;
    case FLOOR:
        if (strcmp(value, "none") == 0)
            n = LB_NO_FLOOR;
        else
            LB_TRY(read_int(p, value, &n, err));
        *(int *)to = n;
        return LB_OK;
    case INT: return read_int(p, value, to, err);
    case FORMAT:
        LB_TRY(lb_format_get(value, &f, err));
        *(lb_format_id *)to = f->id;
        return LB_OK;
    case PATH:
        LB_TRY(read_path_or_round(p, value, &i, err));
        *(lb_unit_path *)to = (lb_unit_path)i;
        return LB_OK;
    case ROUND:
        LB_TRY(read_path_or_round(p, value, &i, err));
        *(lb_unit_round *)to = (lb_unit_round)i;
        return LB_OK;
    case CHOICE: /* every enum of lb_unit_edges is of unsigned int's size and begins at 0 */
        LB_TRY(read_choice(p, value, &i, err));
        memcpy(to, &(unsigned){(unsigned)i}, sizeof(unsigned));
        return LB_OK;
    case NAN_CODE: u->edges.nan_set = true; return read_nan(p, value, to, err);
    }
    return LB_OK;
}

_Static_assert(sizeof(lb_zero_products) == sizeof(unsigned) && sizeof(lb_unit_subnormals) == sizeof(unsigned), "store() writes unsigned");

static unsigned choice_of(const parameter *p, const lb_unit *u) {
    unsigned n;
    memcpy(&n, (const char *)u + p->at, sizeof n);
    return n;
}

static bool is_set(const parameter *p, const lb_unit *u) {
    return p->kind == NAN_CODE ? u->edges.nan_set : p->kind == CHOICE && choice_of(p, u) != 0;
}

static bool reads(const lb_unit *u, const parameter *p) {
    return (unsigned)u->path < LB_PATH_COUNT && p->paths >> u->path & 1;
}

bool lb_unit_is_plain(const lb_unit *u) {
    for (size_t i = 0; i < PARAMETERS; i++)
        if (is_set(&parameters[i], u)) return false;
    return true;
}

static lb_status not_read(const lb_unit *u, const parameter *p, lb_error *err) {
    char keys[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < PARAMETERS; i++)
        if (reads(u, &parameters[i]) && parameters[i].paths != EVERY && used < sizeof keys)
            used += (size_t)snprintf(keys + used, sizeof keys - used, " %s", parameters[i].key);
    return lb_fail(err, LB_E_ARG, p->key, "path %s does not read it; it reads%s", lb_unit_path_name(u->path), *keys ? keys : " nothing");
}

lb_status lb_check_edges(const lb_unit *u, lb_error *err) {
    for (size_t i = 0; i < PARAMETERS; i++) {
        const parameter *p = &parameters[i];
        if (!is_set(p, u)) continue;
        if (!reads(u, p)) return not_read(u, p, err);
        size_t values = 1;
        for (const char *s = p->kind == CHOICE ? p->choices : ""; *s; s++) values += *s == '|';
        if (p->kind == CHOICE && choice_of(p, u) >= values)
            return lb_fail(err, LB_E_ARG, p->key, "%u is none of %s", choice_of(p, u), p->choices);
    }
    if (u->edges.tf32 && u->a != LB_TF32 && u->b != LB_TF32) return lb_fail(err, LB_E_ARG, "tf32", "no operand of %s is tf32", u->name);
    const lb_format *d = lb_format_row(u->d);
    if (u->edges.nan_set && d && (lb_code_class(d, u->edges.nan) != LB_NAN || (d->bits < 64 && u->edges.nan >> d->bits)))
        return lb_fail(err, LB_E_ARG, "nan", "%llx is no NaN of %s", (unsigned long long)u->edges.nan, d->name);
    return LB_OK;
}

/* ---- text ------------------------------------------------------------------------------------------------------------ */

static const parameter *parameter_named(const char *key, lb_error *err) {
    const char *names[2 * PARAMETERS];
    size_t count = 0;
    for (size_t i = 0; i < PARAMETERS; i++) {
        const parameter *p = &parameters[i];
        if (strcmp(p->key, key) == 0 || (p->alias && strcmp(p->alias, key) == 0)) return p;
        names[count++] = p->key;
        if (p->alias) names[count++] = p->alias;
    }
    const char *near = lb_nearest_name(key, names, count);
    lb_fail(err, LB_E_ARG, "set", "no parameter \"%s\"; %s%s", key, near ? "did you mean " : "`lastbit parameters` lists them",
            near ? near : "");
    return NULL;
}

/* The name with key=value behind its +, in place of an earlier value of the key. */
static lb_status rename_unit(lb_unit *u, const char *key, const char *value, lb_error *err) {
    char name[sizeof u->name + MAX_TEXT * 2], old[sizeof u->name], *rest = NULL;
    memcpy(old, u->name, sizeof old);
    char *settings = strchr(old, '+');
    if (settings) *settings++ = 0;
    size_t used = (size_t)snprintf(name, sizeof name, "%s+", old);
    const size_t key_length = strlen(key);
    for (char *s = settings ? strtok_r(settings, ",", &rest) : NULL; s; s = strtok_r(NULL, ",", &rest))
        if (strncmp(s, key, key_length) != 0 || s[key_length] != '=') used += (size_t)snprintf(name + used, sizeof name - used, "%s,", s);
    used += (size_t)snprintf(name + used, sizeof name - used, "%s=%s", key, value);
    if (used >= sizeof u->name)
        return lb_fail(err, LB_E_ARG, "set", "more settings than a name of %zu characters holds", sizeof u->name - 1);
    memcpy(u->name, name, used + 1);
    return LB_OK;
}

static lb_status set_pair(lb_unit *u, char *pair, bool changed[PARAMETERS], lb_error *err) {
    char *value = strchr(pair, '=');
    if (!value) return lb_fail(err, LB_E_ARG, "set", "\"%s\" is no KEY=VALUE", pair);
    *value++ = 0;
    const parameter *p = parameter_named(pair, err);
    if (!p) return LB_E_ARG;
    LB_TRY(store(p, value, u, err));
    changed[p - parameters] = true;
    return rename_unit(u, p->key, value, err);
}

/* What the path itself says of its parameters. */
static lb_status check_path(const lb_unit *u, lb_error *err) {
    lb_code_path code;
    lb_engine engine;
    return lb_is_code_path(u->path) ? lb_code_path_of(u, &code, err) : lb_engine_of(u, &engine, err);
}

lb_status lb_unit_set(lb_unit *u, const char *text, lb_error *err) {
    lb_unit changed_unit = *u;
    bool changed[PARAMETERS] = {false};
    const char *pair = text;
    do {
        char one[MAX_TEXT];
        const size_t length = strcspn(pair, ",");
        if (length >= sizeof one) return lb_fail(err, LB_E_ARG, "set", "\"%.40s…\" is too long", pair);
        memcpy(one, pair, length);
        one[length] = 0;
        LB_TRY(set_pair(&changed_unit, one, changed, err));
        pair += length;
    } while (*pair++);
    if (changed_unit.path != LB_PATH_NONE)
        for (size_t i = 0; i < PARAMETERS; i++)
            if (changed[i] && !reads(&changed_unit, &parameters[i])) return not_read(&changed_unit, &parameters[i], err);
    changed_unit.evidence = LB_EVIDENCE_OPEN;
    changed_unit.note = "parameters set by the caller: an alternative, or a unit of the caller's own";
    LB_TRY(check_path(&changed_unit, err));
    *u = changed_unit;
    return LB_OK;
}
