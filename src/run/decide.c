/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The inputs that would show that a row is otherwise. Random inputs near the edges, few products first; then what is found is made
 * smaller while the two still differ. */
#include "base/try.h"
#include "run/candidate.h"

#include "lastbit/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 5 };

/* ---- alternatives ---------------------------------------------------------------------------------------------------- */

typedef struct alternative {
    size_t parameter;
    int value;
} alternative;

/* Neighbours of the row, one parameter each. Those that are no candidates for this unit are left out by the caller. */
static size_t list_alternatives(const lb_candidate *row, bool f16, alternative *out) {
    const alternative all[] = {
        {LB_CANDIDATE_terms, row->terms / 2},
        {LB_CANDIDATE_terms, row->terms * 2},
        {LB_CANDIDATE_frac_bits, row->frac_bits - 1},
        {LB_CANDIDATE_frac_bits, row->frac_bits + 1},
        {LB_CANDIDATE_align, 1},
        {LB_CANDIDATE_align, 2},
        {LB_CANDIDATE_c_joins, 0},
        {LB_CANDIDATE_c_joins, 1},
        {LB_CANDIDATE_product, 1},
        {LB_CANDIDATE_round, 0},
        {LB_CANDIDATE_round, 1},
        {LB_CANDIDATE_order, 0},
        {LB_CANDIDATE_floor_exp, LB_NO_FLOOR},
        {LB_CANDIDATE_floor_exp, f16 ? -14 : -126},
        {LB_CANDIDATE_floor_exp, f16 ? -19 : -132},
        {LB_CANDIDATE_floor_exp, f16 ? -20 : -133},
        {LB_CANDIDATE_floor_exp, f16 ? -21 : -134},
        {LB_CANDIDATE_zero_products, 1},
        {LB_CANDIDATE_c_subnormal, 1},
        {LB_CANDIDATE_overflow, 1},
        {LB_CANDIDATE_tiny_sign, 1},
        {LB_CANDIDATE_nan, 1},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (lb_candidate_get(row, all[i].parameter) != all[i].value) out[n++] = all[i];
    return n;
}
enum { MOST_ALTERNATIVES = 24 };

/* ---- search ---------------------------------------------------------------------------------------------------------- */

typedef struct input {
    uint32_t a[LB_CANDIDATE_MAX_K], b[LB_CANDIDATE_MAX_K], c;
} input;

typedef struct search {
    const lb_unit *u;
    const lb_candidate *row, *other;
    bool zero_signs; /* whether the sign of a zero is what is asked; elsewhere it is an edge of its own, and settles nothing */
    const lb_format *fa, *fb, *fc;
    uint64_t seed, next; /* random words */
} search;

static uint64_t draw(search *s) {
    return lb_random_u64(s->seed, 0, s->next++);
}

static bool differ(const search *s, const input *x, uint32_t *row, uint32_t *other) {
    lb_error err;
    if (lb_candidate_dot(s->row, s->u, x->a, x->b, s->u->k, x->c, row, &err) != LB_OK ||
        lb_candidate_dot(s->other, s->u, x->a, x->b, s->u->k, x->c, other, &err) != LB_OK)
        return false;
    const bool zeros = lb_code_class(s->fc, *row) == LB_ZERO && lb_code_class(s->fc, *other) == LB_ZERO;
    return *row != *other && (s->zero_signs || !zeros);
}

/* A code with few significand bits; its exponent anywhere, at an end, or near `around`. */
static uint32_t draw_code(search *s, const lb_format *f, int around) {
    const uint64_t r = draw(s);
    const int top = (1 << f->exp_bits) - 1;
    int exp = (int)(r >> 8 & 0xffff) % (top + 1);
    if (r & 1)
        exp = around + (int)(r >> 24 & 0x3f) - 32;
    else if ((r & 6) == 0)
        exp = r & 8 ? 0 : top - 1;
    exp = exp < 0 ? 0 : exp > top ? top : exp;
    uint32_t man = (uint32_t)(r >> 32) & ((UINT32_C(1) << f->man_bits) - 1);
    switch (r >> 4 & 3) {
    case 0: man = exp ? 0 : UINT32_C(1) << man % (unsigned)f->man_bits; break; /* a power of two */
    case 1: man &= UINT32_C(1) << (r >> 56) % (unsigned)f->man_bits; break;
    case 2: man &= (uint32_t)draw(s); break;
    default: break;
    }
    const uint32_t sign = (uint32_t)(r >> 63) << (f->bits - 1 - f->pad_bits);
    return (sign | (uint32_t)exp << f->man_bits | man) << f->pad_bits;
}

/* A product that is one power of two, 2^e: at half of the least result, or at the last bit that a floor keeps. */
static void draw_edge(search *s, uint32_t *a, uint32_t *b) {
    const int floors[] = {s->row->floor_exp, s->other->floor_exp};
    const int floor = floors[draw(s) & 1], half_least = -s->fc->bias - s->fc->man_bits;
    const int e = draw(s) & 1 || floor == LB_NO_FLOOR ? half_least : floor - s->row->frac_bits + (int)(draw(s) % 4) - 2;
    const int least = 1 - s->fa->bias - s->fa->man_bits, ea = least + (int)(draw(s) % (unsigned)(s->fa->bias - least));
    *a = (uint32_t)lb_encode(s->fa, (lb_value){.cls = LB_FINITE, .exp = ea, .lo = 1}, NULL, NULL);
    *b = (uint32_t)lb_encode(s->fb, (lb_value){.cls = LB_FINITE, .exp = e - ea, .lo = 1, .negative = draw(s) & 1}, NULL, NULL);
}

static void draw_input(search *s, size_t terms, input *x) {
    const size_t k = s->u->k;
    const bool zero_c = draw(s) & 1, edges = draw(s) % 4 == 0;
    const int around_a = (int)(draw(s) % (1u << s->fa->exp_bits)), around_b = (int)(draw(s) % (1u << s->fb->exp_bits));
    memset(x, 0, sizeof *x);
    for (size_t i = 0; i < terms; i++) {
        const size_t at = draw(s) % 3 ? i : draw(s) % k; /* side by side, or anywhere */
        if (edges) {
            draw_edge(s, &x->a[at], &x->b[at]);
            continue;
        }
        x->a[at] = draw_code(s, s->fa, around_a);
        x->b[at] = draw_code(s, s->fb, around_b);
    }
    /* near the products: an accumulator that is one of their size, or of any */
    const int around_c = around_a - s->fa->bias + around_b - s->fb->bias + s->fc->bias;
    x->c = zero_c ? 0 : draw_code(s, s->fc, around_c);
}

/* ---- smaller --------------------------------------------------------------------------------------------------------- */

static bool still(const search *s, const input *x) {
    uint32_t row, other;
    return differ(s, x, &row, &other);
}

/* Put `to` into *code for good if the candidates still differ. */
static bool try_code(const search *s, input *x, uint32_t *code, uint32_t to) {
    const uint32_t was = *code;
    if (was == to) return false;
    *code = to;
    if (still(s, x)) return true;
    *code = was;
    return false;
}

static uint32_t one_of(const lb_format *f) {
    return (uint32_t)lb_from_double(f, 1.0);
}

/* Drop products and c, make operands 1, clear signs and significand bits, until nothing more can go. */
static void shrink(const search *s, input *x) {
    for (bool smaller = true; smaller;) {
        smaller = try_code(s, x, &x->c, 0);
        for (size_t i = 0; i < s->u->k; i++) {
            const input before = *x;
            if (!x->a[i] && !x->b[i]) continue;
            x->a[i] = x->b[i] = 0;
            if (still(s, x)) {
                smaller = true;
                continue;
            }
            *x = before;
            if (x->b[i] != one_of(s->fb)) smaller |= x->a[i] != one_of(s->fa) && try_code(s, x, &x->b[i], one_of(s->fb));
            for (int bit = 0; bit < s->fa->bits; bit++)
                if ((bit < s->fa->man_bits + s->fa->pad_bits || bit == s->fa->bits - 1) && x->a[i] >> bit & 1)
                    smaller |= try_code(s, x, &x->a[i], x->a[i] & ~(UINT32_C(1) << bit));
            for (int bit = 0; bit < s->fb->bits; bit++)
                if ((bit < s->fb->man_bits + s->fb->pad_bits || bit == s->fb->bits - 1) && x->b[i] >> bit & 1)
                    smaller |= try_code(s, x, &x->b[i], x->b[i] & ~(UINT32_C(1) << bit));
        }
        for (int bit = 0; bit < s->fc->bits; bit++)
            if ((bit < s->fc->man_bits || bit == s->fc->bits - 1) && x->c >> bit & 1)
                smaller |= try_code(s, x, &x->c, x->c & ~(UINT32_C(1) << bit));
    }
}

static size_t terms_of(const search *s, const input *x) {
    size_t terms = 0;
    for (size_t i = 0; i < s->u->k; i++) terms += x->a[i] || x->b[i];
    return terms;
}

/* Products first, then c, then bits. */
static uint64_t size_of(const search *s, const input *x) {
    uint64_t bits = 0;
    for (size_t i = 0; i < s->u->k; i++) bits += (uint64_t)(__builtin_popcount(x->a[i]) + __builtin_popcount(x->b[i]));
    return (uint64_t)terms_of(s, x) << 32 | (uint64_t)(x->c != 0) << 31 | (bits + (uint64_t)__builtin_popcount(x->c));
}

/* The smallest of a few finds, each made small. */
static bool find(search *s, uint64_t tries, input *best) {
    enum { FINDS = 12 };
    uint64_t least = UINT64_MAX;
    int finds = 0;
    for (uint64_t t = 0; t < tries && finds < FINDS; t++) {
        input x;
        draw_input(s, 1 + (size_t)(t * MOST_TERMS / tries), &x);
        if (!still(s, &x)) continue;
        shrink(s, &x);
        finds++;
        if (size_of(s, &x) >= least) continue;
        least = size_of(s, &x);
        *best = x;
    }
    return finds > 0;
}

/* ---- the decision ---------------------------------------------------------------------------------------------------- */

static lb_status ask(lb_decision *d, size_t parameter, int value, uint64_t seed, uint64_t tries, lb_error *err) {
    lb_candidate other = d->row;
    *lb_candidate_field(&other, parameter) = value;
    if (lb_candidate_check(&other, &d->unit, NULL) != LB_OK) return LB_OK; /* this unit has no such alternative */
    lb_question *q = &d->questions[d->count];
    const size_t k = d->unit.k;
    input x = {0};
    search s = {&d->unit,
                &d->row,
                &other,
                parameter == LB_CANDIDATE_tiny_sign,
                lb_format_row(d->unit.a),
                lb_format_row(d->unit.b),
                lb_format_row(d->unit.c),
                seed,
                0};
    *q = (lb_question){.other = other, .parameter = parameter, .found = find(&s, tries, &x)};
    q->a = calloc(k, sizeof *q->a);
    q->b = calloc(k, sizeof *q->b);
    d->count++;
    if (!q->a || !q->b) return lb_fail(err, LB_E_MEMORY, d->unit.name, "no memory");
    if (!q->found) return LB_OK;
    memcpy(q->a, x.a, k * sizeof *q->a);
    memcpy(q->b, x.b, k * sizeof *q->b);
    q->c = x.c;
    q->terms = terms_of(&s, &x);
    differ(&s, &x, &q->row_code, &q->other_code);
    return LB_OK;
}

lb_status lb_decide(const lb_unit *u, uint64_t seed, uint64_t tries, lb_decision **out, lb_error *err) {
    lb_candidate row;
    alternative list[MOST_ALTERNATIVES];
    *out = NULL;
    LB_TRY(lb_candidate_of(u, &row, err));
    LB_TRY(lb_candidate_check(&row, u, err));
    lb_decision *d = calloc(1, sizeof *d);
    if (d) d->questions = calloc(MOST_ALTERNATIVES, sizeof *d->questions);
    lb_status s = d && d->questions ? LB_OK : lb_fail(err, LB_E_MEMORY, u->name, "no memory");
    if (s == LB_OK) {
        d->unit = *u;
        d->row = row;
        const size_t n = list_alternatives(&row, u->d == LB_F16, list);
        for (size_t i = 0; s == LB_OK && i < n; i++) s = ask(d, list[i].parameter, list[i].value, seed + i, tries ? tries : 400000, err);
    }
    if (s == LB_OK)
        *out = d;
    else
        lb_decision_close(d);
    return s;
}

void lb_decision_close(lb_decision *d) {
    if (!d) return;
    for (size_t i = 0; d->questions && i < d->count; i++) {
        free(d->questions[i].a);
        free(d->questions[i].b);
    }
    free(d->questions);
    free(d);
}
