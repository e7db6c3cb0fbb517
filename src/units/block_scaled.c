/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Truncated blocks whose products (mxf8f6f4), or exact sums of 16 products (mxf4, mxf4nvf4), carry the scales of A and B. */
#include "units/path.h"

/* What is aligned: sig * 2^(e - frac), one fraction length for all terms of a unit; e is LB_TERM_ZERO where it is not to count for the
 * largest exponent. */
typedef struct scaled_term {
    int64_t sig;
    int32_t e;
} scaled_term;

typedef struct block {
    scaled_term terms[LB_MAX_K];
    int count, frac;
} block;

/* The scale of product k; ue4m3 ignores its top bit, which lb_decode does. */
static lb_term scale_of(const lb_step *s, const lb_cell *scales, int k) {
    return scales[k / s->u->scale_block].term;
}

/* Each product with its own exponent and those of its scales. */
static void scale_products(const lb_step *s, block *out) {
    const lb_format *fa = lb_format_row(s->u->a), *fb = lb_format_row(s->u->b);
    out->count = s->count;
    out->frac = fa->man_bits + fb->man_bits + 2 * lb_format_row(s->u->scale)->man_bits;
    for (int k = 0; k < s->count; k++) {
        const lb_term a = s->a[k].term, b = s->b[k].term;
        const lb_term x = scale_of(s, s->scale_a, k), y = scale_of(s, s->scale_b, k);
        const int64_t sig = (int64_t)a.sig * b.sig * x.sig * y.sig;
        out->terms[k] = (scaled_term){sig, sig ? a.e + b.e + x.e + y.e : LB_TERM_ZERO};
    }
}

/* The exact sum of each group of products, times the scales' significands, with the scales' exponents alone: not normalised. A group
 * counts unless all of its products are zero or a scale is; one that cancels to zero counts. */
static void scale_groups(const lb_step *s, block *out) {
    const lb_format *fa = lb_format_row(s->u->a), *fb = lb_format_row(s->u->b);
    const int32_t least = 2 - fa->bias - fb->bias; /* exponent of the least normal product: sums are counted in its last places */
    out->count = s->count / s->u->group;
    out->frac = fa->man_bits + fb->man_bits - least + 2 * lb_format_row(s->u->scale)->man_bits;
    for (int i = 0; i < out->count; i++) {
        const int first = i * s->u->group;
        const lb_term x = scale_of(s, s->scale_a, first), y = scale_of(s, s->scale_b, first);
        int64_t sum = 0;
        bool any = false;
        for (int k = first; k < first + s->u->group; k++) {
            const lb_term a = s->a[k].term, b = s->b[k].term;
            if (!a.sig || !b.sig) continue;
            any = true;
            sum += (int64_t)a.sig * b.sig * (INT64_C(1) << (a.e + b.e - least));
        }
        out->terms[i] =
            (scaled_term){sum * x.sig * y.sig, any ? x.e + y.e : LB_TERM_ZERO}; /* the exponent of a zero scale is that already */
    }
}

/* NaN and Inf of elements, scales and c decide alone; a NaN scale makes NaN of whatever it scales, zeros too. */
static bool special(const lb_step *s, lb_term c, uint64_t *out) {
    bool nan = c.e == LB_TERM_SPECIAL && c.sig == 0, plus = false, minus = false;
    if (c.e == LB_TERM_SPECIAL) plus = c.sig > 0, minus = c.sig < 0;
    for (int k = 0; k < s->count; k++) {
        const lb_term a = s->a[k].term, b = s->b[k].term;
        const lb_term x = scale_of(s, s->scale_a, k), y = scale_of(s, s->scale_b, k);
        nan = nan || x.e == LB_TERM_SPECIAL || y.e == LB_TERM_SPECIAL;
        if (a.e != LB_TERM_SPECIAL && b.e != LB_TERM_SPECIAL) continue;
        /* sig is 0 for NaN and for zero, 1 or -1 for Inf: the product is 0 for NaN, Inf * 0, and Inf times a zero scale */
        const int64_t sig = (int64_t)a.sig * b.sig * x.sig * y.sig;
        nan = nan || sig == 0;
        plus = plus || sig > 0;
        minus = minus || sig < 0;
    }
    if (!nan && !plus && !minus) return false;
    *out = nan || (plus && minus) ? s->g->nan_code : plus ? s->g->inf_code : s->g->sign_bit | s->g->inf_code;
    return true;
}

uint64_t lb_step_block_scaled(const lb_step *s, uint64_t c_code) {
    const lb_engine *g = s->g;
    const lb_term c = lb_term_of_output(g, (uint32_t)c_code);
    uint64_t out;
    if (special(s, c, &out)) return out;
    block terms;
    if (s->u->group)
        scale_groups(s, &terms);
    else
        scale_products(s, &terms);
    int32_t top = g->floor_exp > c.e ? g->floor_exp : c.e;
    for (int i = 0; i < terms.count; i++)
        if (terms.terms[i].e > top) top = terms.terms[i].e;
    const int up = g->frac_bits > terms.frac ? g->frac_bits - terms.frac : 0,
              down = g->frac_bits > terms.frac ? 0 : terms.frac - g->frac_bits;
    int64_t sum = lb_align(c.sig, top - c.e, g->c_up, g->c_down);
    for (int i = 0; i < terms.count; i++) sum += lb_align(terms.terms[i].sig, top - terms.terms[i].e, up, down);
    return lb_round_sum(g, sum, top - g->frac_bits);
}
