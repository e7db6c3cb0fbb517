/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Layouts: the row that fits a unit's operand, and the two maps that its digits are. */
#include "lastbit/fragments.h"

#include <stdio.h>
#include <string.h>

#define LANE(...)                                                                                                                          \
    { __VA_ARGS__ }
#define ITEMS(...)                                                                                                                         \
    { __VA_ARGS__ }
#define ROW(s, t)                                                                                                                          \
    { s, LB_AXIS_ROW, t }
#define COL(s, t)                                                                                                                          \
    { s, LB_AXIS_COL, t }
#define MAT(s, t)                                                                                                                          \
    { s, LB_AXIS_MATRIX, t }
#define CHOSEN(s)                                                                                                                          \
    { s, LB_AXIS_CHOSEN, 0 }
#define FRAGMENT(instr, only, operand, m, n, k, in, own, lane, items, evidence, source, note)                                              \
    {#instr, only, LB_FRAGMENT_##operand, m, n, k, in, own, lane, items, LB_EVIDENCE_##evidence, source, note},
#define NOT_HELD(instr, only, operand, k, in, reason)
static const lb_fragment_row rows[] = {
#include "units/fragments.def"
};
#undef FRAGMENT
#undef NOT_HELD

/* Operands that lie in no register, or nobody knows where. */
typedef struct not_held {
    const char *instr, *only;
    lb_fragment_operand operand;
    int k, in_bits; /* 0: any */
    const char *reason;
} not_held;

#define FRAGMENT(instr, only, operand, m, n, k, in, own, lane, items, evidence, source, note)
#define NOT_HELD(instr, only, operand, k, in, reason) {#instr, only, LB_FRAGMENT_##operand, k, in, reason},
static const not_held exceptions[] = {
#include "units/fragments.def"
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0], EXCEPTION_COUNT = sizeof exceptions / sizeof exceptions[0] };

const lb_fragment_row *lb_fragment_row_at(size_t i) {
    return i < ROW_COUNT ? &rows[i] : NULL;
}

const char *lb_fragment_operand_name(lb_fragment_operand operand) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_FRAGMENT_OPERAND_LIST(X)
#undef X
    };
    return (unsigned)operand < LB_FRAGMENT_OPERAND_COUNT ? names[operand] : "?";
}

/* ---- what a unit's name says ------------------------------------------------------------------------------------------- */

/* Whether `word` stands in the name between '/' and '.': "sp" in "sm_80/mma.m16n8k32.f32.f16.f16.f32.sp". */
static bool has_word(const char *name, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = name; *at;) {
        const size_t span = strcspn(at, "/.");
        if (span == length && strncmp(at, word, length) == 0) return true;
        at += span + (at[span] != 0);
    }
    return false;
}

static bool is_instr(const char *name, const char *instr) {
    const char *slash = strchr(name, '/');
    const size_t length = strlen(instr);
    return slash && strncmp(slash + 1, instr, length) == 0 && (slash[1 + length] == '.' || slash[1 + length] == 0);
}

static bool is_sparse(const lb_unit *u) {
    return u->sparse_group != 0;
}

/* Scales along k of one instruction (PTX's scale_vec::NX), 0 if it takes none. */
static int scale_count(const lb_unit *u) {
    return u->scale_block ? u->k / u->scale_block : 0;
}

/* fp6 and fp4 have a byte each, except where an instruction takes fp4 alone; that has twice the k. */
static int container_bits(const lb_unit *u, const lb_format *f) {
    const int k_of_fp4_alone = is_sparse(u) ? 128 : 64;
    return f->bits >= 8 || f->special == LB_SPECIAL_INT || u->k >= k_of_fp4_alone ? f->bits : 8;
}

/* ---- the row of an operand --------------------------------------------------------------------------------------------- */

static lb_status check_operand(const lb_unit *u, lb_fragment_operand operand, lb_error *err) {
    if ((unsigned)operand >= LB_FRAGMENT_OPERAND_COUNT) return lb_fail(err, LB_E_ARG, u->name, "no operand %d", (int)operand);
    if (operand == LB_FRAGMENT_METADATA && !is_sparse(u)) return lb_fail(err, LB_E_ARG, u->name, "it takes no metadata: its A is dense");
    if ((operand == LB_FRAGMENT_SCALE_A || operand == LB_FRAGMENT_SCALE_B) && !scale_count(u))
        return lb_fail(err, LB_E_ARG, u->name, "it takes no scales");
    return LB_OK;
}

static lb_format_id format_of(const lb_unit *u, lb_fragment_operand operand) {
    switch (operand) {
    case LB_FRAGMENT_A: return u->a;
    case LB_FRAGMENT_B: return u->b;
    case LB_FRAGMENT_C: return u->c;
    case LB_FRAGMENT_D: return u->d;
    case LB_FRAGMENT_METADATA: return LB_U8;
    default: return u->scale;
    }
}

static bool fits(int of_row, int of_unit) {
    return of_row == 0 || of_row == of_unit;
}

static const lb_fragment_row *row_of(const lb_unit *u, lb_fragment_operand operand, lb_error *err) {
    const lb_fragment_operand held = operand == LB_FRAGMENT_C ? LB_FRAGMENT_D : operand;
    const lb_format *f = lb_format_row(held == LB_FRAGMENT_B ? u->b : u->a);
    const int in_bits = container_bits(u, f), k = operand == LB_FRAGMENT_A && is_sparse(u) ? u->k / 2 : u->k;
    const int own = held == LB_FRAGMENT_D ? lb_format_row(format_of(u, operand))->bits : scale_count(u);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const lb_fragment_row *r = &rows[i];
        if (r->operand == held && is_instr(u->name, r->instr) && (!*r->only || has_word(u->name, r->only)) && fits(r->m, u->m) &&
            fits(r->n, u->n) && fits(r->k, k) && fits(r->in_bits, in_bits) && fits(r->own_bits, own))
            return r;
    }
    for (size_t i = 0; i < EXCEPTION_COUNT; i++) {
        const not_held *x = &exceptions[i];
        if (x->operand == held && is_instr(u->name, x->instr) && (!*x->only || has_word(u->name, x->only)) && fits(x->k, u->k) &&
            fits(x->in_bits, in_bits)) {
            lb_fail(err, LB_E_UNAVAILABLE, u->name, "operand %s: %s", lb_fragment_operand_name(operand), x->reason);
            return NULL;
        }
    }
    lb_fail(err, LB_E_UNAVAILABLE, u->name, "operand %s: no layout is known; `lastbit fragment` lists those that are",
            lb_fragment_operand_name(operand));
    return NULL;
}

/* ---- from a row to an operand's layout ------------------------------------------------------------------------------- */

static int product(const lb_digit *digits) {
    int all = 1;
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) all *= digits[i].size;
    return all;
}

/* Digits of a row for n columns: the free one takes what n needs, those that are not used are 1. */
static void fill_digits(const lb_digit *from, int n, lb_digit *to) {
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
        to[i] = from[i];
        if (from[i].size == 0) to[i].size = from[i].step ? n / from[i].step : 1;
    }
}

static int matrices_of(const lb_fragment *f) {
    int all = 1;
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++)
        all *= (f->lane[i].axis == LB_AXIS_MATRIX ? f->lane[i].size : 1) * (f->item[i].axis == LB_AXIS_MATRIX ? f->item[i].size : 1);
    return all;
}

static void set_size(const lb_unit *u, lb_fragment *f) {
    const int compressed = is_sparse(u) ? u->k / 2 : u->k, scales = scale_count(u);
    const int sizes[][2] = {{u->m, compressed}, {u->k, u->n},   {u->m, u->n},  {u->m, u->n},
                            {u->m, compressed}, {u->m, scales}, {scales, u->n}};
    f->rows = sizes[f->operand][0];
    f->cols = sizes[f->operand][1];
}

static void set_bits(const lb_unit *u, const lb_fragment_row *r, lb_fragment *f) {
    f->bits = f->format->bits;
    if (f->operand == LB_FRAGMENT_A || f->operand == LB_FRAGMENT_B) f->bits = container_bits(u, f->format);
    if (f->operand == LB_FRAGMENT_METADATA) f->bits = r->in_bits == 32 ? 4 : 2;
    f->shift = f->bits == 8 && f->format->bits == 4 ? 2 : 0; /* fp4 in a byte: 00xxxx00 */
}

/* Give a digit that a selector sets its value; `unit` values of the selector are one of the digit. */
static lb_status choose(lb_digit *digits, int value, int unit, const char *what, const lb_unit *u, lb_error *err) {
    int size = 1;
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
        if (digits[i].axis != LB_AXIS_CHOSEN) continue;
        size = digits[i].size;
        digits[i].step = value / unit;
    }
    if (value < 0 || value % unit || value / unit >= size)
        return lb_fail(err, LB_E_ARG, u->name, "%s %d: it is %s%d here", what, value,
                       size == 1   ? ""
                       : unit == 1 ? "0 to "
                                   : "0 or ",
                       (size - 1) * unit);
    return LB_OK;
}

static lb_status set_selectors(const lb_unit *u, const lb_fragment_selectors *s, lb_fragment *f, lb_error *err) {
    const int pair = scale_count(u) == 2 ? 2 : 1;
    lb_status status = LB_OK;
    switch (f->operand) {
    case LB_FRAGMENT_METADATA: return choose(f->lane, s->sparsity, 1, "the sparsity selector", u, err);
    case LB_FRAGMENT_SCALE_A:
        status = choose(f->lane, s->thread_id_a, 1, "thread-id-a", u, err);
        return status == LB_OK ? choose(f->item, s->byte_id_a, pair, "byte-id-a", u, err) : status;
    case LB_FRAGMENT_SCALE_B:
        status = choose(f->lane, s->thread_id_b, 1, "thread-id-b", u, err);
        return status == LB_OK ? choose(f->item, s->byte_id_b, pair, "byte-id-b", u, err) : status;
    default: return LB_OK;
    }
}

lb_status lb_fragment_of(const lb_unit *u, lb_fragment_operand operand, const lb_fragment_selectors *selectors, lb_fragment *out,
                         lb_error *err) {
    static const lb_fragment_selectors first = {0};
    lb_status s = check_operand(u, operand, err);
    const lb_fragment_row *r = s == LB_OK ? row_of(u, operand, err) : NULL;
    if (!r) return s == LB_OK ? LB_E_UNAVAILABLE : s;
    lb_fragment f = {
        .operand = operand, .format = lb_format_row(format_of(u, operand)), .evidence = r->evidence, .source = r->source, .note = r->note};
    fill_digits(r->lane, u->n, f.lane);
    fill_digits(r->item, u->n, f.item);
    set_size(u, &f);
    set_bits(u, r, &f);
    s = set_selectors(u, selectors ? selectors : &first, &f, err);
    if (s != LB_OK) return s;
    f.matrices = matrices_of(&f);
    f.lanes = product(f.lane);
    f.items = product(f.item);
    f.registers = (f.items * f.bits + 31) / 32;
    *out = f;
    return LB_OK;
}

/* ---- the two maps ------------------------------------------------------------------------------------------------------ */

/* Add what a number's digits say to axes[]; false if a chosen digit has another value. */
static bool read_digits(const lb_digit *digits, int number, int *axes) {
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
        const int value = number % digits[i].size;
        number /= digits[i].size;
        if (digits[i].axis != LB_AXIS_CHOSEN)
            axes[digits[i].axis] += value * digits[i].step;
        else if (value != digits[i].step)
            return false;
    }
    return true;
}

/* The number whose digits say axes[]. Each axis is itself a number in mixed radix, of the digits that step along it. */
static int write_digits(const lb_digit *digits, const int *axes) {
    int number = 0;
    for (int i = LB_FRAGMENT_DIGITS - 1; i >= 0; i--) {
        const lb_digit *d = &digits[i];
        const int value = d->axis == LB_AXIS_CHOSEN ? d->step : d->step ? axes[d->axis] / d->step % d->size : 0;
        number = number * d->size + value;
    }
    return number;
}

bool lb_fragment_place(const lb_fragment *f, lb_slot slot, lb_place *out) {
    const int each = f->bits < 32 ? 32 / f->bits : 1,
              span = f->bits > 32 ? f->bits / 32 : 1; /* elements a register, registers an element */
    if (slot.lane < 0 || slot.lane >= f->lanes || slot.reg < 0 || slot.reg >= f->registers || slot.element < 0 || slot.element >= each)
        return false;
    const int item = slot.reg / span * each + slot.element;
    int axes[] = {0, 0, 0};
    if (slot.reg % span || item >= f->items || !read_digits(f->lane, slot.lane, axes) || !read_digits(f->item, item, axes)) return false;
    *out = (lb_place){axes[LB_AXIS_MATRIX], axes[LB_AXIS_ROW], axes[LB_AXIS_COL]};
    return true;
}

bool lb_fragment_slot(const lb_fragment *f, lb_place place, lb_slot *out) {
    if (place.matrix < 0 || place.matrix >= f->matrices || place.row < 0 || place.row >= f->rows || place.col < 0 || place.col >= f->cols)
        return false;
    const int axes[] = {[LB_AXIS_ROW] = place.row, [LB_AXIS_COL] = place.col, [LB_AXIS_MATRIX] = place.matrix};
    const int each = f->bits < 32 ? 32 / f->bits : 1, span = f->bits > 32 ? f->bits / 32 : 1;
    const int item = write_digits(f->item, axes);
    *out = (lb_slot){write_digits(f->lane, axes), item / each * span, item % each};
    return true;
}
