/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rows, and contracts opened by name, by name and parameters, or from a file. */
#include "base/try.h"
#include "contracts/contract_file.h"
#include "lastbit/contracts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const lb_contract contracts[] = {
#define LB_CONTRACT(id, out_formats, how_known, from, text, kind, ...)                                                                     \
    {.name = id,                                                                                                                           \
     .formats = out_formats,                                                                                                               \
     .evidence = LB_EVIDENCE_##how_known,                                                                                                  \
     .source = from,                                                                                                                       \
     .note = text,                                                                                                                         \
     .bound = LB_BOUND_##kind,                                                                                                             \
     __VA_ARGS__},
#include "contracts/contracts.def"
#undef LB_CONTRACT
};

enum { CONTRACT_COUNT = sizeof contracts / sizeof contracts[0] };

const lb_contract *lb_contract_row(size_t i) {
    return i < CONTRACT_COUNT ? &contracts[i] : NULL;
}

lb_status lb_contract_find(const char *name, const lb_contract **out, lb_error *err) {
    const char *names[CONTRACT_COUNT];
    for (size_t i = 0; i < CONTRACT_COUNT; i++) {
        *out = &contracts[i];
        if (strcmp(contracts[i].name, name) == 0) return LB_OK;
        names[i] = contracts[i].name;
    }
    *out = NULL;
    const char *near = lb_nearest_name(name, names, CONTRACT_COUNT);
    return lb_fail(err, LB_E_NAME, name, "no such contract; did you mean %s?", near ? near : contracts[0].name);
}

const char *lb_bound_name(lb_bound b) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_BOUND_LIST(X)
#undef X
    };
    return (unsigned)b < LB_BOUND_COUNT ? names[b] : "?";
}

const char *lb_specials_name(lb_specials s) {
    static const char *const names[] = {
#define X(id, name, nan_same, nan_other, zero_sign, flushed, saturated, text) name,
        LB_SPECIALS_LIST(X)
#undef X
    };
    return (unsigned)s < LB_SPECIALS_COUNT ? names[s] : "?";
}

bool lb_contract_needs_gauge(const lb_contract *c) {
    return c->bound == LB_BOUND_GAUGE || c->bound == LB_BOUND_GAMMA;
}

bool lb_contract_needs_baseline(const lb_contract *c) {
    return c->bound == LB_BOUND_BASELINE;
}

/* ---- a contract of one's own ------------------------------------------------------------------------------------------ */

lb_status lb_contract_copy(const lb_contract *from, const char *name, const char *formats, const char *source, const char *note,
                           lb_contract **out, lb_error *err) {
    const char *const texts[] = {name, formats, source, note};
    size_t size = 0;
    for (size_t i = 0; i < 4; i++) size += strlen(texts[i]) + 1;
    *out = malloc(sizeof **out + size);
    if (!*out) return lb_fail(err, LB_E_MEMORY, name, "no memory for a contract");
    **out = *from;
    char *room = (char *)(*out + 1);
    const char **const fields[] = {&(*out)->name, &(*out)->formats, &(*out)->source, &(*out)->note};
    for (size_t i = 0; i < 4; i++) {
        *fields[i] = room;
        room = stpcpy(room, texts[i]) + 1;
    }
    return LB_OK;
}

void lb_contract_close(lb_contract *c) {
    free(c);
}

static const struct parameter {
    const char *name;
    size_t offset;
    bool whole; /* a whole number */
    double most;
} parameters[] = {
    {"max_ulp", offsetof(lb_contract, max_ulp), true, 0x1p53},
    {"margin", offsetof(lb_contract, margin), false, 1e300},
    {"atol", offsetof(lb_contract, atol), false, 1e300},
    {"rtol", offsetof(lb_contract, rtol), false, 1e300},
    {"false_alarm", offsetof(lb_contract, false_alarm), false, 0.5},
};

/* One value for the parameter whose name is the first `length` bytes of `name`. */
static lb_status set_parameter(lb_contract *c, const char *what, const char *name, size_t length, const char *text, char **end,
                               lb_error *err) {
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        const struct parameter *p = &parameters[i];
        if (strncmp(p->name, name, length) != 0 || p->name[length]) continue;
        const double x = strtod(text, end);
        const bool number = (*text >= '0' && *text <= '9') || *text == '.';
        if (!number || *end == text || (**end && **end != ',') || !(x >= 0 && x <= p->most) || (p->whole && x != floor(x)))
            return lb_fail(err, LB_E_ARG, what, "%s should be a %snumber from 0 to %g", p->name, p->whole ? "whole " : "", p->most);
        if (strcmp(p->name, "false_alarm") == 0 && !(x > 0))
            return lb_fail(err, LB_E_ARG, what, "no limit keeps every correct kernel: the rate should be above 0");
        *(double *)((char *)c + p->offset) = x;
        return LB_OK;
    }
    return lb_fail(err, LB_E_ARG, what, "the row names a parameter that nobody knows"); /* our own bug */
}

/* "ulp:4": the row's parameters in its order; those that are not said keep the row's values. */
static lb_status set_parameters(lb_contract *c, const char *what, const char *text, lb_error *err) {
    const char *name = c->parameters ? c->parameters : "";
    if (!*name) return lb_fail(err, LB_E_ARG, what, "this contract has no parameters");
    for (;;) {
        const size_t length = strcspn(name, " ");
        char *end;
        if (!length) return lb_fail(err, LB_E_ARG, what, "too many parameters; it takes %s", c->parameters);
        LB_TRY(set_parameter(c, what, name, length, text, &end, err));
        c->dtypes = NULL; /* what was said holds for every format */
        if (!*end) return LB_OK;
        text = end + 1;
        name += length;
        name += *name == ' ';
    }
}

static bool is_file(const char *what) {
    const size_t n = strlen(what);
    return strchr(what, '/') != NULL || (n > 5 && strcmp(what + n - 5, ".json") == 0);
}

lb_status lb_contract_open(const char *what, lb_contract **out, lb_error *err) {
    const lb_contract *row;
    char name[64];
    const char *colon = strchr(what, ':');
    const size_t length = colon ? (size_t)(colon - what) : strlen(what);
    *out = NULL;
    if (is_file(what)) return lb_contract_load(what, out, err);
    if (length >= sizeof name) return lb_fail(err, LB_E_NAME, what, "no such contract; a file's name ends with .json");
    memcpy(name, what, length);
    name[length] = 0;
    LB_TRY(lb_contract_find(name, &row, err));
    LB_TRY(lb_contract_copy(row, what, row->formats, row->source, row->note, out, err));
    const lb_status s = colon ? set_parameters(*out, what, colon + 1, err) : LB_OK;
    if (s != LB_OK) {
        lb_contract_close(*out);
        *out = NULL;
    }
    return s;
}
