/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Schedules as text, and the named ones. Every key is a row; reading and writing follow from it. */
#include "lastbit/schedule.h"

#include "base/try.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the named ones ------------------------------------------------------------------------------------------------------ */

static const lb_schedule_named named[] = {
#define LB_SCHEDULE(name, text, evidence, source, note) {name, text, LB_EVIDENCE_##evidence, source, note},
#include "kernels/schedules.def"
#undef LB_SCHEDULE
};

enum { NAMED = sizeof named / sizeof named[0] };

const lb_schedule_named *lb_schedule_row(size_t i) {
    return i < NAMED ? &named[i] : NULL;
}

/* ---- the keys -------------------------------------------------------------------------------------------------------------- */

#define X(id, name, text) name,
static const char *const order_words[] = {LB_K_ORDER_LIST(X)}, *const divide_words[] = {LB_K_DIVIDE_LIST(X)};
static const char *const reduce_words[] = {LB_K_REDUCE_LIST(X)}, *const type_words[] = {LB_K_TYPE_LIST(X)};
static const char *const ragged_words[] = {LB_K_RAGGED_LIST(X)}, *const raster_words[] = {LB_K_RASTER_LIST(X)};
static const char *const c_words[] = {LB_C_PLACE_LIST(X)}, *const blend_words[] = {LB_BLEND_LIST(X)};
static const char *const activation_words[] = {LB_ACTIVATION_LIST(X)}, *const scaling_words[] = {LB_SCALING_LIST(X)};
#undef X

typedef enum key_kind { KEY_WORD, KEY_COUNT, KEY_SHAPE, KEY_ARRIVAL, KEY_ALPHA, KEY_BETA, KEY_OUT, KEY_SATURATE } key_kind;

typedef struct key {
    const char *name;
    key_kind kind;
    size_t offset; /* of an unsigned, or of an enum, which is as wide; of the first of two that follow each other */
    const char *const *words;
    size_t word_count;
} key;

_Static_assert(sizeof(lb_k_order) == sizeof(unsigned), "choices are read and written as unsigned");
_Static_assert(offsetof(lb_schedule, tile_n) == offsetof(lb_schedule, tile_m) + sizeof(unsigned), "a shape is two that follow each other");
_Static_assert(offsetof(lb_schedule, scale_n) == offsetof(lb_schedule, scale_m) + sizeof(unsigned), "and so is this one");

#define WORDS(field, list) offsetof(lb_schedule, field), list, sizeof(list) / sizeof(list)[0]
#define NUMBER(field)      offsetof(lb_schedule, field), NULL, 0

static const key keys[] = {
    {"order", KEY_WORD, WORDS(order, order_words)},
    {"tile-k", KEY_COUNT, NUMBER(tile_k)},
    {"split-k", KEY_COUNT, NUMBER(split)},
    {"stream-k", KEY_COUNT, NUMBER(stream_k)},
    {"tile", KEY_SHAPE, NUMBER(tile_m)},
    {"raster", KEY_WORD, WORDS(raster, raster_words)},
    {"divide", KEY_WORD, WORDS(divide, divide_words)},
    {"ragged", KEY_WORD, WORDS(ragged, ragged_words)},
    {"promote", KEY_COUNT, NUMBER(promote)},
    {"reduce", KEY_WORD, WORDS(reduce, reduce_words)},
    {"arrival", KEY_ARRIVAL, NUMBER(arrival)},
    {"partial", KEY_WORD, WORDS(partial, type_words)},
    {"sum", KEY_WORD, WORDS(sum, type_words)},
    {"scale-block", KEY_SHAPE, NUMBER(scale_m)},
    {"scaling", KEY_WORD, WORDS(scaling, scaling_words)},
    {"c", KEY_WORD, WORDS(c_place, c_words)},
    {"alpha", KEY_ALPHA, NUMBER(alpha)},
    {"beta", KEY_BETA, NUMBER(beta)},
    {"blend", KEY_WORD, WORDS(blend, blend_words)},
    {"act", KEY_WORD, WORDS(activation, activation_words)},
    {"out", KEY_OUT, NUMBER(out)},
    {"saturate", KEY_SATURATE, NUMBER(saturate)},
};

enum { KEYS = sizeof keys / sizeof keys[0], MAX_ITEM = 96, MAX_COUNT = 1 << 20 };

static unsigned get(const lb_schedule *s, const key *k) {
    unsigned n;
    memcpy(&n, (const char *)s + k->offset, sizeof n);
    return n;
}

static void set(lb_schedule *s, const key *k, unsigned n) {
    memcpy((char *)s + k->offset, &n, sizeof n);
}

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

static lb_status unknown(const char *what, const char *text, const char *const *names, size_t count, lb_error *err) {
    const char *near = lb_nearest_name(text, names, count);
    if (near) return lb_fail(err, LB_E_NAME, text, "no such %s; did you mean %s?", what, near);
    return lb_fail(err, LB_E_NAME, text, "no such %s; `lastbit schedules` lists names, docs/schedules.md the keys", what);
}

static lb_status read_word(const key *k, const char *text, lb_schedule *s, lb_error *err) {
    for (unsigned i = 0; i < k->word_count; i++) {
        if (strcmp(text, k->words[i]) != 0) continue;
        set(s, k, i);
        return LB_OK;
    }
    if (k->words == activation_words && strcmp(text, "gelu") == 0)
        return lb_fail(err, LB_E_ARG, "act", "gelu is three: gelu-erf, gelu-tanh and gelu-taylor (docs/schedules.md has their steps)");
    const char *near = lb_nearest_name(text, k->words, k->word_count);
    return lb_fail(err, LB_E_ARG, k->name, "\"%s\" is not known; did you mean %s?", text, near ? near : k->words[0]);
}

/* Decimal digits alone, 1 to MAX_COUNT; *end behind them. */
static bool read_digits(const char *text, const char **end, unsigned *out) {
    unsigned long n = 0;
    for (*end = text; **end >= '0' && **end <= '9' && n <= MAX_COUNT; ++*end) n = 10 * n + (unsigned long)(**end - '0');
    *out = (unsigned)n;
    return *end != text && n >= 1 && n <= MAX_COUNT;
}

static lb_status read_count(const key *k, const char *text, lb_schedule *s, lb_error *err) {
    const char *end;
    unsigned n, columns = 0;
    bool ok = read_digits(text, &end, &n);
    if (k->kind == KEY_SHAPE) ok = ok && *end == 'x' && read_digits(end + 1, &end, &columns);
    if (!ok || *end)
        return lb_fail(err, LB_E_ARG, k->name, "\"%s\" is no %s from 1 to %d", text,
                       k->kind == KEY_SHAPE ? "shape as 128x128, each" : "whole number", MAX_COUNT);
    set(s, k, n);
    if (k->kind == KEY_SHAPE) memcpy((char *)s + k->offset + sizeof columns, &columns, sizeof columns);
    return LB_OK;
}

/* "2.0.1": numbers of parts with dots between. */
static lb_status read_arrival(const char *text, lb_schedule *s, lb_error *err) {
    uint32_t seen = 0;
    unsigned count = 0;
    bool ok = true;
    for (const char *p = text; ok;) {
        unsigned n = 0;
        const char *digits = p;
        for (; *p >= '0' && *p <= '9' && n < LB_MAX_ARRIVAL; p++) n = 10 * n + (unsigned)(*p - '0');
        ok = p != digits && n < LB_MAX_ARRIVAL && !(seen >> n & 1) && (*p == '.' || !*p);
        if (!ok) break;
        seen |= UINT32_C(1) << n;
        s->arrival[count++] = (uint8_t)n;
        if (!*p++) break;
    }
    if (!ok || seen != (UINT32_C(1) << count) - 1)
        return lb_fail(err, LB_E_ARG, "arrival", "\"%s\" is no order of parts as 2.0.1, each once, at most %d", text, LB_MAX_ARRIVAL);
    s->arrival_count = count;
    return LB_OK;
}

static lb_status read_factor(const key *k, const char *text, lb_schedule *s, lb_error *err) {
    char *end;
    const double x = strtod(text, &end);
    if (*end || end == text || !isfinite((float)x)) return lb_fail(err, LB_E_ARG, k->name, "\"%s\" is no finite number of f32", text);
    if (!s->scaled) s->alpha = s->beta = 1;
    s->scaled = true;
    *(k->kind == KEY_ALPHA ? &s->alpha : &s->beta) = (double)(float)x;
    return LB_OK;
}

static lb_status read_value(const key *k, const char *text, lb_schedule *s, lb_error *err) {
    switch (k->kind) {
    case KEY_WORD: return read_word(k, text, s, err);
    case KEY_COUNT:
    case KEY_SHAPE: return read_count(k, text, s, err);
    case KEY_ARRIVAL: return read_arrival(text, s, err);
    case KEY_ALPHA:
    case KEY_BETA: return read_factor(k, text, s, err);
    case KEY_OUT: return lb_format_get(text, &s->out, err);
    case KEY_SATURATE:
        if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) return lb_fail(err, LB_E_ARG, k->name, "\"%s\"; it is 0 or 1", text);
        s->saturate = text[0] == '1';
        return LB_OK;
    }
    return LB_OK;
}

static lb_status read_list(const char *text, bool named_first, lb_schedule *s, lb_error *err);

static lb_status read_name(const char *name, lb_schedule *s, lb_error *err) {
    const char *names[NAMED];
    for (size_t i = 0; i < NAMED; i++) {
        if (strcmp(name, named[i].name) == 0) return read_list(named[i].text, false, s, err);
        names[i] = named[i].name;
    }
    return unknown("schedule", name, names, NAMED, err);
}

static lb_status read_item(char *item, lb_schedule *s, uint32_t *seen, lb_error *err) {
    const char *names[KEYS];
    char *value = strchr(item, '=');
    if (!value) return lb_fail(err, LB_E_ARG, item, "write key=value; a name comes first");
    *value++ = 0;
    for (size_t i = 0; i < KEYS; i++) {
        names[i] = keys[i].name;
        if (strcmp(item, keys[i].name) != 0) continue;
        if (*seen & UINT32_C(1) << i) return lb_fail(err, LB_E_ARG, item, "given twice");
        *seen |= UINT32_C(1) << i;
        return read_value(&keys[i], value, s, err);
    }
    return unknown("key of a schedule", item, names, KEYS, err);
}

static bool was_given(uint32_t seen, const char *name) {
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i].name, name) == 0) return seen >> i & 1;
    return false;
}

static lb_status read_list(const char *text, bool named_first, lb_schedule *s, lb_error *err) {
    uint32_t seen = 0;
    for (const char *p = text; *p;) {
        char item[MAX_ITEM];
        const size_t length = strcspn(p, ",");
        if (length == 0) return lb_fail(err, LB_E_ARG, "schedule", "an empty item at character %zu", (size_t)(p - text) + 1);
        if (length >= sizeof item) return lb_fail(err, LB_E_ARG, "schedule", "an item of %zu characters", length);
        memcpy(item, p, length);
        item[length] = 0;
        if (p == text && named_first && !strchr(item, '='))
            LB_TRY(read_name(item, s, err));
        else
            LB_TRY(read_item(item, s, &seen, err));
        p += length;
        if (*p == ',' && !*++p) return lb_fail(err, LB_E_ARG, "schedule", "nothing behind the last comma");
    }
    if ((was_given(seen, "alpha") || was_given(seen, "beta")) && !was_given(seen, "c")) s->c_place = LB_C_LAST;
    return LB_OK;
}

lb_status lb_schedule_parse(const char *text, lb_schedule *out, lb_error *err) {
    lb_schedule s = {0};
    if (!*text) return lb_fail(err, LB_E_ARG, "schedule", "empty; the schedule without surprises is \"plain\"");
    LB_TRY(read_list(text, true, &s, err));
    if (s.alpha == 1 && s.beta == 1) {
        s.scaled = false;
        s.alpha = s.beta = 0;
    }
    if (s.split == 1) s.split = 0;
    *out = s;
    return LB_OK;
}

/* ---- writing --------------------------------------------------------------------------------------------------------------- */

typedef struct writer {
    char *text;
    size_t size, used;
} writer;

static void write_item(writer *w, const char *key_name, const char *value) {
    if (w->used + 1 >= w->size) return;
    const int n = snprintf(w->text + w->used, w->size - w->used, "%s%s=%s", w->used ? "," : "", key_name, value);
    w->used += n > 0 ? (size_t)n : 0;
}

/* The shortest decimal that reads back as this f32. */
static void factor_text(double x, char *out, size_t size) {
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out, size, "%.*g", digits, (double)(float)x);
        if ((float)strtod(out, NULL) == (float)x) break;
    }
}

static void arrival_text(const lb_schedule *s, char *out, size_t size) {
    size_t used = 0;
    for (unsigned i = 0; i < s->arrival_count && i < LB_MAX_ARRIVAL && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%u", i ? "." : "", s->arrival[i]);
}

/* What stands behind a key; false where it is the default and not said. */
static bool value_text(const lb_schedule *s, const key *k, char *value, size_t size) {
    static const unsigned tile[] = {128, 128}, scale[] = {1, 128};
    const unsigned n = k->kind == KEY_WORD || k->kind == KEY_COUNT || k->kind == KEY_SHAPE ? get(s, k) : 0;
    const unsigned *usual = k->offset == offsetof(lb_schedule, tile_m) ? tile : scale;
    unsigned columns = 0;
    bool said = false;
    switch (k->kind) {
    case KEY_WORD:
        said = n > 0 && n < k->word_count;
        snprintf(value, size, "%s", k->words[said ? n : 0]);
        return said || (s->scaled && s->c_place == LB_C_FIRST && k->words == c_words);
    case KEY_COUNT: snprintf(value, size, "%u", n); return n > (k->offset == offsetof(lb_schedule, split) ? 1 : 0);
    case KEY_SHAPE:
        memcpy(&columns, (const char *)s + k->offset + sizeof columns, sizeof columns);
        snprintf(value, size, "%ux%u", n ? n : usual[0], columns ? columns : usual[1]);
        return n || columns;
    case KEY_ARRIVAL: arrival_text(s, value, size); return s->arrival_count > 0;
    case KEY_ALPHA:
    case KEY_BETA:
        factor_text(k->kind == KEY_ALPHA ? s->alpha : s->beta, value, size);
        return s->scaled && (k->kind == KEY_ALPHA ? s->alpha : s->beta) != 1;
    case KEY_OUT: snprintf(value, size, "%s", s->out ? s->out->name : ""); return s->out != NULL;
    case KEY_SATURATE: snprintf(value, size, "1"); return s->saturate;
    }
    return said;
}

void lb_schedule_text(const lb_schedule *s, char *text, size_t size) {
    writer w = {text, size, 0};
    if (!size) return;
    text[0] = 0;
    for (size_t i = 0; i < KEYS; i++) {
        char value[64];
        if (value_text(s, &keys[i], value, sizeof value)) write_item(&w, keys[i].name, value);
    }
    if (!w.used) snprintf(text, size, "plain");
}

bool lb_schedule_equal(const lb_schedule *a, const lb_schedule *b) {
    char x[LB_SCHEDULE_TEXT_SIZE], y[LB_SCHEDULE_TEXT_SIZE];
    lb_schedule_text(a, x, sizeof x);
    lb_schedule_text(b, y, sizeof y);
    return strcmp(x, y) == 0;
}
