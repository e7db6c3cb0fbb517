/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An explanation for a person: operation by operation, within 80 columns. */
#include "base/text.h"
#include "lastbit/report.h"
#include "report/hexfloat.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, FIRST_STEPS = 2, NAMED = 4, CELL = LB_HEXFLOAT_SIZE };

/* ---- cells ---------------------------------------------------------------------------------------------------------- */

enum { LABEL, A, B, VALUE, EXPONENT, KEPT, CUT, COLUMNS };

typedef struct line {
    char cells[COLUMNS][CELL];
    bool zeros; /* a run of products that are zero: the label alone */
} line;

static void put_code(char *out, lb_format_id format, uint64_t code) {
    snprintf(out, CELL, "%0*llx", (lb_format_row(format)->bits + 3) / 4, (unsigned long long)code);
}

/* What a term is called: its k, c, or #N of the operation that it comes from. */
static void put_label(char *out, const lb_explain_term *t) {
    if (t->source == LB_EXPLAIN_FROM_PRODUCT)
        snprintf(out, CELL, "%zu", t->k);
    else if (t->source == LB_EXPLAIN_FROM_C)
        snprintf(out, CELL, "c");
    else
        snprintf(out, CELL, "#%zu", t->from);
}

/* Integers in decimal, whatever else exactly in hexadecimal. */
static const char *put_value(char *out, lb_value v, bool integers) {
    char hex[LB_HEXFLOAT_SIZE];
    const bool small = v.cls <= LB_FINITE && !v.sticky && v.hi == 0 && v.exp >= 0 && v.exp < 62 && v.lo >> (62 - v.exp) == 0;
    if (integers && (small || v.cls == LB_ZERO))
        snprintf(out, CELL, "%s%llu", v.negative && v.cls == LB_FINITE ? "-" : "",
                 v.cls == LB_ZERO ? 0ull : (unsigned long long)v.lo << v.exp);
    else
        snprintf(out, CELL, "%s", lb_hexfloat(v, hex));
    return out;
}

static void fill_line(line *l, const lb_explanation *e, const lb_explain_op *op, const lb_explain_term *t) {
    *l = (line){0};
    put_label(l->cells[LABEL], t);
    if (t->source == LB_EXPLAIN_FROM_PRODUCT) {
        put_code(l->cells[A], e->unit.a, t->a);
        put_code(l->cells[B], e->unit.b, t->b);
    } else if (t->source == LB_EXPLAIN_FROM_C || e->ops[t->from].rounded) {
        put_code(l->cells[A], t->source == LB_EXPLAIN_FROM_C ? e->unit.c : e->ops[t->from].format, t->a);
    }
    put_value(l->cells[VALUE], t->value, op->what == LB_EXPLAIN_INTEGER);
    if (t->flushed) snprintf(l->cells[VALUE] + strlen(l->cells[VALUE]), CELL - strlen(l->cells[VALUE]), "!");
    if (t->exponent != LB_NO_EXPONENT) snprintf(l->cells[EXPONENT], CELL, "%d%s", t->exponent, t->sets_max ? "*" : " ");
    if (!op->aligned) return;
    lb_hexfloat(t->kept, l->cells[KEPT]);
    lb_hexfloat(t->cut, l->cells[CUT]);
}

static bool is_plain_zero(const lb_explain_term *t) {
    return t->source == LB_EXPLAIN_FROM_PRODUCT && t->value.cls == LB_ZERO && !t->flushed && t->exponent == LB_NO_EXPONENT;
}

/* Terms from `at` on that are zero products, if they are more than two. */
static size_t zero_run(const lb_explanation *e, const lb_explain_op *op, size_t at) {
    size_t n = 0;
    while (at + n < op->first_term + op->term_count && is_plain_zero(&e->terms[at + n])) n++;
    return n > 2 ? n : 0;
}

/* Every line of the operation to `each`, in order. */
static void each_line(const lb_explanation *e, const lb_explain_op *op, void (*each)(void *user, const line *l), void *user) {
    for (size_t i = op->first_term; i < op->first_term + op->term_count;) {
        const size_t zeros = zero_run(e, op, i);
        line l;
        fill_line(&l, e, op, &e->terms[i]);
        if (zeros) {
            l.zeros = true;
            snprintf(l.cells[LABEL], CELL, "%zu..%zu", e->terms[i].k, e->terms[i + zeros - 1].k);
        }
        each(user, &l);
        i += zeros ? zeros : 1;
    }
}

/* ---- a table of terms ------------------------------------------------------------------------------------------------ */

typedef struct table {
    lb_text *t;
    size_t width[COLUMNS]; /* 0: the column is empty */
    bool breaks[COLUMNS];  /* where the whole is wider than a terminal: a row goes on in another line before this column */
} table;

static const char *const titles[COLUMNS] = {"k", "a", "b", "value", "exp ", "kept", "cut"};

static void widen(void *user, const line *l) {
    table *w = user;
    for (int c = 0; c < COLUMNS; c++)
        if (!(l->zeros && c > LABEL) && strlen(l->cells[c]) > w->width[c]) w->width[c] = strlen(l->cells[c]);
}

static void drop_blanks(lb_text *t) {
    while (!t->failed && t->length && t->s[t->length - 1] == ' ') t->s[--t->length] = 0;
}

static void trim_line(lb_text *t) {
    drop_blanks(t);
    lb_text_add(t, "\n");
}

static void add_row(table *w, const char *const *cells) {
    lb_text_add(w->t, " ");
    for (int c = 0; c < COLUMNS; c++) {
        if (w->breaks[c]) {
            trim_line(w->t);
            lb_text_add(w->t, "   ");
        }
        if (w->width[c]) lb_text_add(w->t, " %*s", (int)w->width[c], cells[c]);
    }
    trim_line(w->t);
}

static void add_line_row(void *user, const line *l) {
    table *w = user;
    if (l->zeros) {
        lb_text_add(w->t, "  %*s  products are zero\n", (int)w->width[LABEL], l->cells[LABEL]);
        return;
    }
    const char *cells[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) cells[c] = l->cells[c];
    add_row(w, cells);
}

static void add_table(lb_text *t, const lb_explanation *e, const lb_explain_op *op) {
    table w = {.t = t};
    each_line(e, op, widen, &w);
    size_t codes = 1, values = 0, cut = 0; /* columns of each part */
    for (int c = 0; c < COLUMNS; c++) {
        if (w.width[c] && strlen(titles[c]) > w.width[c]) w.width[c] = strlen(titles[c]);
        const size_t width = w.width[c] ? w.width[c] + 1 : 0;
        *(c < VALUE ? &codes : c < CUT ? &values : &cut) += width;
    }
    w.breaks[VALUE] = codes + values + cut > WIDTH;
    w.breaks[CUT] = w.breaks[VALUE] && 3 + values + cut > WIDTH;
    add_row(&w, titles);
    each_line(e, op, add_line_row, &w);
}

/* ---- one operation ----------------------------------------------------------------------------------------------------- */

static void add_value_line(lb_text *t, const lb_explain_op *op, const char *label, lb_value v, const char *behind) {
    char value[CELL];
    lb_text_add(t, "  %-9s %s%s\n", label, put_value(value, v, op->what == LB_EXPLAIN_INTEGER), behind);
}

/* "largest exponent 3 (k 0, c): …" */
static void add_maximum(lb_text *t, const lb_explanation *e, const lb_explain_op *op) {
    char label[CELL];
    size_t named = 0;
    if (!op->aligned) return;
    lb_text_add(t, "  largest exponent %d (", op->max_exp);
    if (op->floor_sets_max) lb_text_add(t, "the unit's floor");
    for (size_t i = op->first_term; i < op->first_term + op->term_count; i++) {
        if (!e->terms[i].sets_max) continue;
        put_label(label, &e->terms[i]);
        if (named < NAMED) lb_text_add(t, "%s%s%s", named ? ", " : "", e->terms[i].source == LB_EXPLAIN_FROM_PRODUCT ? "k " : "", label);
        if (named++ == NAMED) lb_text_add(t, " …");
    }
    lb_text_add(t, "); last place kept 2^%d", op->unit_exp);
    if (op->c_unit_exp != op->unit_exp) lb_text_add(t, ", of c 2^%d", op->c_unit_exp);
    lb_text_add(t, "\n");
}

static void add_result(lb_text *t, const lb_explain_op *op) {
    char code[CELL], exponent[32] = "", hex[LB_HEXFLOAT_SIZE];
    if (op->alone) {
        lb_text_add(t, "  NaN or Inf decides alone: %s\n", lb_hexfloat(op->sum, hex));
    } else {
        if (op->sum_exponent != LB_NO_EXPONENT && op->what != LB_EXPLAIN_INTEGER)
            snprintf(exponent, sizeof exponent, "  (exponent %d)", op->sum_exponent);
        add_value_line(t, op, op->what == LB_EXPLAIN_GROUP ? "scaled" : "sum", op->sum, exponent);
    }
    if (!op->rounded) return;
    const lb_format *f = lb_format_row(op->format);
    put_code(code, op->format, op->result);
    put_value(hex, lb_decode(f, op->result), op->what == LB_EXPLAIN_INTEGER);
    lb_text_add(t, "  %-9s %s = %s%s%s\n", lb_unit_round_name(op->round), code, hex, op->overflow ? ", overflow" : "",
                op->result_flushed ? ", a subnormal flushed" : "");
    if (op->lost.cls != LB_ZERO) add_value_line(t, op, "lost", op->lost, "");
}

static void add_op(lb_text *t, const lb_explanation *e, size_t number) {
    const lb_explain_op *op = &e->ops[number];
    char codes[2][CELL];
    lb_text_add(t, "\n#%zu %s, k %zu", number, lb_explain_what_name(op->what), op->first_k);
    if (op->last_k != op->first_k) lb_text_add(t, "..%zu", op->last_k);
    if (op->what == LB_EXPLAIN_GROUP) {
        put_code(codes[0], e->unit.scale, op->scale_a);
        put_code(codes[1], e->unit.scale, op->scale_b);
        char hex[2][LB_HEXFLOAT_SIZE];
        const lb_format *f = lb_format_row(e->unit.scale);
        lb_text_add(t, ": scales %s = %s, %s = %s", codes[0], lb_hexfloat(lb_decode(f, op->scale_a), hex[0]), codes[1],
                    lb_hexfloat(lb_decode(f, op->scale_b), hex[1]));
    }
    lb_text_add(t, "\n");
    add_table(t, e, op);
    add_maximum(t, e, op);
    add_result(t, op);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

/* Words of `text` (split at `split`), broken before column 80; lines but the first begin with `indent` blanks. */
static void add_wrapped(lb_text *t, const char *text, char split, int indent) {
    int column = indent;
    for (const char *s = text; *s;) {
        const char *end = strchr(s, split);
        const int length = end ? (int)(end - s) + 1 : (int)strlen(s);
        if (column + length > WIDTH + (s[length - 1] == ' ') && column > indent) {
            drop_blanks(t);
            lb_text_add(t, "\n%*s", indent, "");
            column = indent;
        }
        lb_text_add(t, "%.*s", length, s);
        column += length;
        s += length;
    }
    lb_text_add(t, "\n");
}

static void add_number(lb_text *t, const char *label, const lb_format *f, uint64_t code) {
    char hex[LB_HEXFLOAT_SIZE], bits[CELL];
    put_code(bits, f->id, code);
    const int digits = f->special == LB_SPECIAL_INT ? 10 : f->bits > 32 ? 17 : 9;
    lb_text_add(t, "%-5s %s = %.*g", label, bits, digits, lb_to_double(f, code));
    if (f->special != LB_SPECIAL_INT) lb_text_add(t, " = %s", lb_hexfloat(lb_decode(f, code), hex));
    lb_text_add(t, "\n");
}

/* What each kind of operation does that is among these. */
static void add_kinds(lb_text *t, const lb_explanation *e) {
    bool said[LB_EXPLAIN_WHAT_COUNT] = {false};
    for (size_t i = 0; i < e->op_count; i++) {
        const lb_explain_what what = e->ops[i].what;
        if (said[what]) continue;
        said[what] = true;
        char text[160];
        snprintf(text, sizeof text, "%s: %s", lb_explain_what_name(what), lb_explain_what_text(what));
        lb_text_add(t, "  ");
        add_wrapped(t, text, ' ', 4);
    }
}

static void add_head(lb_text *t, const lb_explanation *e) {
    const lb_unit *u = &e->unit;
    const char *settings = strchr(u->name, '+');
    lb_text_add(t, "%.*s\n", settings ? (int)(settings - u->name) : (int)strlen(u->name), u->name);
    if (settings) {
        lb_text_add(t, "  set ");
        add_wrapped(t, settings + 1, ',', 6);
    }
    char about[512];
    int used = snprintf(about, sizeof about, "path %s", lb_unit_path_name(u->path));
    if (u->terms > 1) used += snprintf(about + used, sizeof about - (size_t)used, ", %d products a block", u->terms);
    if (u->frac_bits) used += snprintf(about + used, sizeof about - (size_t)used, ", %d fraction bits kept", u->frac_bits);
    snprintf(about + used, sizeof about - (size_t)used, ", %s; evidence: %s", lb_unit_round_name(u->round), lb_evidence_name(u->evidence));
    lb_text_add(t, "  ");
    add_wrapped(t, about, ' ', 2);
    add_kinds(t, e);
    lb_text_add(t, "D[%zu,%zu]: %zu products in %zu step%s of %u\n", e->row, e->col, e->k, e->steps, e->steps == 1 ? "" : "s", u->k);
    add_number(t, "c", lb_format_row(u->c), e->c);
}

static void add_tail(lb_text *t, const lb_explanation *e) {
    char value[CELL];
    const lb_format *d = lb_format_row(e->unit.d);
    const bool integers = d->special == LB_SPECIAL_INT;
    lb_text_add(t, "\n");
    add_number(t, "D", d, e->d);
    add_number(t, "exact", d, e->exact);
    lb_text_add(t, "      from %s, %s\n", put_value(value, e->exact_value, integers), integers ? "clamped" : "rounded once to nearest");
    if (e->ulp == UINT64_MAX)
        lb_text_add(t, "one of them is NaN\n");
    else
        lb_text_add(t, "%llu ULP apart\n", (unsigned long long)e->ulp);
}

/* What the signs behind a value mean, where one stands. */
static void add_legend(lb_text *t, const lb_explanation *e) {
    bool flushed = false, more = e->exact_value.sticky;
    for (size_t i = 0; i < e->term_count; i++) flushed = flushed || e->terms[i].flushed;
    for (size_t i = 0; i < e->op_count; i++) more = more || e->ops[i].sum.sticky || e->ops[i].lost.sticky;
    if (more) lb_text_add(t, "(+ behind an exponent: there are more bits than are shown)\n");
    if (flushed) lb_text_add(t, "(!: a subnormal operand counts as zero, or a product out of range as Inf)\n");
}

lb_status lb_report_explanation(const lb_explanation *e, const lb_explain_steps *steps, char **out, lb_error *err) {
    lb_text t = {0};
    size_t step = SIZE_MAX;
    bool skipped = false;
    const size_t first = steps ? steps->first : 0, last = steps ? steps->last : e->steps;
    add_head(&t, e);
    for (size_t i = 0; i < e->op_count; i++) {
        const size_t at = e->ops[i].step;
        const bool shown = steps ? at >= first && at <= last : at < FIRST_STEPS || at + 1 == e->steps;
        if (!shown && !skipped && !steps && e->steps > FIRST_STEPS + 1) lb_text_add(&t, "\n… %zu steps\n", e->steps - FIRST_STEPS - 1);
        skipped = skipped || !shown;
        if (!shown) continue;
        if (at != step && e->steps > 1) lb_text_add(&t, "\n---- step %zu (of 0..%zu)\n", at, e->steps - 1);
        step = at;
        add_op(&t, e, i);
    }
    add_tail(&t, e);
    add_legend(&t, e);
    return lb_text_take(&t, out, err);
}
