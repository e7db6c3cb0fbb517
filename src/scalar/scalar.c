/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of scalar operations, and how one is found and computed. */
#include "lastbit/scalar.h"

#include "base/try.h"
#include "scalar/scalar_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of words, classes, grades ------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int bits, parts, format;
} words[] = {
#define X(id, name, bits, parts, format) {name, bits, parts, format},
    LB_WORD_LIST(X)
#undef X
};

const char *lb_word_name(lb_word w) {
    return (unsigned)w < LB_WORD_COUNT ? words[w].name : "?";
}

int lb_word_bits(lb_word w) {
    return (unsigned)w < LB_WORD_COUNT ? words[w].bits : 0;
}

int lb_word_parts(lb_word w) {
    return (unsigned)w < LB_WORD_COUNT ? words[w].parts : 0;
}

const lb_format *lb_word_format(lb_word w) {
    return (unsigned)w < LB_WORD_COUNT && words[w].format >= 0 ? lb_format_row((lb_format_id)words[w].format) : NULL;
}

static const struct {
    const char *name, *text;
} classes[] = {
#define X(id, name, text) {name, text},
    LB_SCALAR_CLASS_LIST(X)
#undef X
};

const char *lb_scalar_class_name(lb_scalar_class c) {
    return (unsigned)c < LB_SCALAR_CLASS_COUNT ? classes[c].name : "?";
}

const char *lb_scalar_class_text(lb_scalar_class c) {
    return (unsigned)c < LB_SCALAR_CLASS_COUNT ? classes[c].text : "?";
}

const char *lb_scalar_grade_name(lb_scalar_grade_of g) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_SCALAR_GRADE_LIST(X)
#undef X
    };
    return (unsigned)g < LB_SCALAR_GRADE_COUNT ? names[g] : "?";
}

/* ---- the rows -------------------------------------------------------------------------------------------------------------- */

#define W(x)                       LB_WORD_##x
#define I1(a)                      .ins = 1, .in = {W(a)}
#define I2(a, b)                   .ins = 2, .in = {W(a), W(b)}
#define I3(a, b, c)                .ins = 3, .in = {W(a), W(b), W(c)}
#define I4(a, b, c, d)             .ins = 4, .in = {W(a), W(b), W(c), W(d)}
#define I5(a, b, c, d, e)          .ins = 5, .in = {W(a), W(b), W(c), W(d), W(e)}
#define I8(a)                      .ins = 8, .in = {W(a), W(a), W(a), W(a), W(a), W(a), W(a), W(a)}
#define I3_4(a, c)                 .ins = 7, .in = {W(a), W(a), W(a), W(c), W(c), W(c), W(c)}
#define I6_4(a, c)                 .ins = 10, .in = {W(a), W(a), W(a), W(a), W(a), W(a), W(c), W(c), W(c), W(c)}
#define O1(a)                      .outs = 1, .out = {W(a)}
#define O2(a, b)                   .outs = 2, .out = {W(a), W(b)}
#define O4(a)                      .outs = 4, .out = {W(a), W(a), W(a), W(a)}
#define NO_BOUND                   .bound = ""
#define BOUND(text, ulp, rel, abs) .bound = text, .max_ulp = (ulp), .max_rel = (rel), .max_abs = (abs)
#define ABOUT(e, s, o)             .evidence = LB_EVIDENCE_##e, .source = s, .open = o

#include "scalar/scalar_about.h"

/* How a row is computed: (handler, what, rounding, flags), or (handler, what) of a whole warp. */
#define RULE_LANE(f, what, rounding, flags)                                                                                                \
    { lb_scalar_##f, NULL, what, rounding, flags }
#define RULE_WARP(f, what)                                                                                                                 \
    { NULL, lb_scalar_##f, what, 0, 0 }
#define IS_LANE false
#define IS_WARP true

enum {
#define OP(id, ...) ROW_##id,
#include "scalar/scalar.def"
#undef OP
    ROWS
};

static const lb_scalar_op rows[] = {
#define OP(id, text, class, needs, ins_, outs_, bound_, about_, kind, rule)                                                                \
    {.name = #id,                                                                                                                          \
     .ptx = text,                                                                                                                          \
     .cls = LB_SCALAR_##class,                                                                                                             \
     .target = needs,                                                                                                                      \
     ins_,                                                                                                                                 \
     outs_,                                                                                                                                \
     bound_,                                                                                                                               \
     about_,                                                                                                                               \
     .warp = IS_##kind,                                                                                                                    \
     .index = ROW_##id},
#include "scalar/scalar.def"
#undef OP
};

static const lb_scalar_rule rules[] = {
#define OP(id, text, class, needs, ins_, outs_, bound_, about_, kind, rule) RULE_##kind rule,
#include "scalar/scalar.def"
#undef OP
};

const lb_scalar_op *lb_scalar_row(size_t i) {
    return i < ROWS ? &rows[i] : NULL;
}

const lb_scalar_rule *lb_scalar_rule_of(const lb_scalar_op *op) {
    return &rules[op->index];
}

/* ---- finding ----------------------------------------------------------------------------------------------------------------- */

/* Whether instruction number `which` of a PTX text is spelled like that. */
static bool is_spelled(const char *ptx, int which, const char *name) {
    while (which-- > 0) {
        ptx = strchr(ptx, ';');
        if (!ptx) return false;
        ptx += strspn(ptx, "; ");
    }
    const size_t n = strcspn(ptx, " ");
    return n && strlen(name) == n && strncmp(ptx, name, n) == 0;
}

lb_status lb_scalar_find(const char *name, const lb_scalar_op **out, lb_error *err) {
    const char *names[2 * ROWS];
    char spellings[ROWS][96];
    const char *asked = strncmp(name, "op:", 3) == 0 ? name + 3 : name;
    *out = NULL;
    for (int i = 0; i < ROWS; i++)
        if (strcmp(asked, rows[i].name) == 0 || strcmp(asked, rows[i].ptx) == 0) *out = &rows[i];
    for (int which = 0; which < 3 && !*out; which++) /* a row is named by its first instruction before any by its second */
        for (int i = 0; i < ROWS && !*out; i++)
            if (is_spelled(rows[i].ptx, which, asked)) *out = &rows[i];
    if (*out) return LB_OK;
    for (int i = 0; i < ROWS; i++) {
        snprintf(spellings[i], sizeof spellings[i], "%.*s", (int)strcspn(rows[i].ptx, " "), rows[i].ptx);
        names[2 * i] = rows[i].name;
        names[2 * i + 1] = spellings[i];
    }
    const char *near = lb_nearest_name(asked, names, 2 * ROWS);
    return lb_fail(err, LB_E_NAME, asked, "no such operation%s%s; `lastbit scalar` lists them", near ? "; did you mean " : "",
                   near ? near : "");
}

/* ---- computing ---------------------------------------------------------------------------------------------------------------- */

bool lb_scalar_is_packed(const lb_scalar_op *op) {
    bool packed = lb_word_parts(op->out[0]) == 2;
    for (int i = 0; i < op->ins; i++) packed = packed && lb_word_parts(op->in[i]) == 2;
    return packed;
}

static void eval_lane(const lb_scalar_op *op, const uint64_t *in, uint64_t *out) {
    const lb_scalar_rule *r = &rules[op->index];
    const int parts = lb_scalar_is_packed(op) ? 2 : 1;
    uint64_t whole = 0;
    for (int p = 0; p < parts; p++) {
        uint64_t x[LB_SCALAR_MAX_IN] = {0};
        for (int i = 0; i < op->ins; i++) x[i] = in[i] >> (16 * p) & lb_word_mask(lb_word_bits(op->in[i]) / parts);
        r->lane(op, r, x, out);
        whole |= (out[0] & lb_word_mask(lb_word_bits(op->out[0]) / parts)) << (16 * p);
    }
    out[0] = whole;
    for (int o = 1; o < op->outs; o++) out[o] &= lb_word_mask(lb_word_bits(op->out[o]));
}

lb_status lb_scalar_eval(const lb_scalar_op *op, const uint64_t *in, uint64_t *out, lb_error *err) {
    if (op->warp) return lb_fail(err, LB_E_ARG, op->name, "takes the 32 lanes of a warp, not one");
    eval_lane(op, in, out);
    return LB_OK;
}

lb_status lb_scalar_eval_warp(const lb_scalar_op *op, const uint64_t *in, uint64_t *out, lb_error *err) {
    return lb_scalar_eval_rows(op, LB_WARP_LANES, in, out, err);
}

static lb_status eval_warp(const lb_scalar_op *op, const uint64_t *in, uint64_t *out, lb_error *err) {
    uint64_t x[LB_WARP_LANES * LB_SCALAR_MAX_IN], y[LB_WARP_LANES * LB_SCALAR_MAX_OUT];
    for (int i = 0; i < LB_WARP_LANES * op->ins; i++) x[i] = in[i] & lb_word_mask(lb_word_bits(op->in[i % op->ins]));
    LB_TRY(rules[op->index].warp(op, &rules[op->index], x, y, err));
    for (int i = 0; i < LB_WARP_LANES * op->outs; i++) out[i] = y[i] & lb_word_mask(lb_word_bits(op->out[i % op->outs]));
    return LB_OK;
}

lb_status lb_scalar_eval_rows(const lb_scalar_op *op, size_t rows_, const uint64_t *in, uint64_t *out, lb_error *err) {
    const size_t ins = (size_t)op->ins, outs = (size_t)op->outs;
    if (op->warp && rows_ % LB_WARP_LANES) return lb_fail(err, LB_E_SHAPE, op->name, "%zu rows; a warp takes 32 at a time", rows_);
    for (size_t r = 0; r < rows_ && !op->warp; r++) eval_lane(op, in + r * ins, out + r * outs);
    for (size_t r = 0; r < rows_ && op->warp; r += LB_WARP_LANES) LB_TRY(eval_warp(op, in + r * ins, out + r * outs, err));
    return LB_OK;
}

/* ---- words as text --------------------------------------------------------------------------------------------------------------- */

void lb_scalar_text(lb_word w, uint64_t word, char *text, size_t size) {
    const int bits = lb_word_bits(w), parts = lb_word_parts(w);
    const lb_format *f = lb_word_format(w);
    int n = snprintf(text, size, "0x%0*llx", bits / 4, (unsigned long long)(word & lb_word_mask(bits)));
    if (n < 0 || (size_t)n >= size) return;
    if (f && parts == 2)
        snprintf(text + n, size - (size_t)n, " (high %a, low %a)", lb_to_double(f, word >> 16 & 0xffff), lb_to_double(f, word & 0xffff));
    else if (f)
        snprintf(text + n, size - (size_t)n, " (%a)", lb_to_double(f, word));
    else if (lb_word_is_signed(w))
        snprintf(text + n, size - (size_t)n, " (%lld)", (long long)lb_word_signed(word, bits));
}
