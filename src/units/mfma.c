/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The narrow matrix instructions of CDNA1 (exact), CDNA2 (pairwise) and CDNA3 (late_c, late_c_split). */
#include "units/path.h"

#include "base/u128.h"
#include "formats/exact_sum.h"

/* ---- what decides alone ------------------------------------------------------------------------------------------- */

/* NaN and Inf among the products and c, as IEEE 754 adds them. False if all are finite. */
static bool special_sum(const lb_value *products, int count, lb_value c, lb_value *out) {
    lb_value sum = c.cls >= LB_INF ? c : (lb_value){.cls = LB_ZERO};
    for (int i = 0; i < count; i++)
        if (products[i].cls >= LB_INF) sum = lb_value_add(sum, products[i]);
    *out = sum;
    return sum.cls >= LB_INF;
}

static uint64_t f32_of(lb_value v) {
    return lb_encode(lb_format_row(LB_F32), v, NULL, NULL);
}

/* ---- exact ---------------------------------------------------------------------------------------------------------- */

static uint64_t exact_block(const lb_unit *u, const lb_cell *a, const lb_cell *b, uint64_t c_code) {
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b);
    const lb_value c = lb_decode(lb_format_row(LB_F32), c_code);
    lb_value products[LB_MAX_K], special;
    lb_exact_sum sum;
    lb_exact_sum_clear(&sum);
    lb_exact_sum_add(&sum, c, NULL);
    for (int i = 0; i < u->terms; i++) {
        const lb_value x = lb_decode(fa, a[i].code), y = lb_decode(fb, b[i].code);
        products[i] = lb_value_mul(x, y);
        lb_exact_sum_add(&sum, x, &y);
    }
    return f32_of(special_sum(products, u->terms, c, &special) ? special : lb_exact_sum_value(&sum));
}

uint64_t lb_step_exact(const lb_step *s, uint64_t c) {
    for (int k = 0; k < s->count; k += s->u->terms) c = exact_block(s->u, s->a + k, s->b + k, c);
    return c;
}

/* ---- pairwise ------------------------------------------------------------------------------------------------------- */

/* f32, to nearest even, subnormals to a zero of their sign. */
static uint64_t rounded_flushed(lb_value v) {
    static const lb_encoding how = {.flush = LB_FLUSH_KEEP_SIGN};
    return lb_encode(lb_format_row(LB_F32), v, &how, NULL);
}

static lb_value flushed_input(lb_format_id format, uint64_t code) {
    const lb_format *f = lb_format_row(format);
    return lb_decode(f, lb_flush_code(f, code, LB_FLUSH_TO_POSITIVE));
}

static uint64_t add_flushed(uint64_t x, uint64_t y) {
    const lb_format *f32 = lb_format_row(LB_F32);
    return rounded_flushed(lb_value_add(lb_decode(f32, x), lb_decode(f32, y)));
}

static uint64_t pairwise_block(const lb_unit *u, const lb_cell *a, const lb_cell *b, uint64_t c) {
    uint64_t tree[LB_MAX_K];
    for (int i = 0; i < u->terms; i++)
        tree[i] = rounded_flushed(lb_value_mul(flushed_input(u->a, a[i].code), flushed_input(u->b, b[i].code)));
    for (int n = u->terms; n > 1; n /= 2)
        for (int i = 0; i < n / 2; i++) tree[i] = add_flushed(tree[2 * i], tree[2 * i + 1]);
    return add_flushed(lb_flush_code(lb_format_row(LB_F32), c, LB_FLUSH_TO_POSITIVE), tree[0]);
}

uint64_t lb_step_pairwise(const lb_step *s, uint64_t c) {
    for (int k = 0; k < s->count; k += s->u->terms) c = pairwise_block(s->u, s->a + k, s->b + k, c);
    return c;
}

/* ---- late_c --------------------------------------------------------------------------------------------------------- */

enum { SUM_BITS = 31, C_BITS = 24, KEPT_BITS = 25 }; /* fraction bits under the common exponent; c further below than KEPT_BITS goes */

/* floor(x / 2^down), or x * 2^-down. */
static int64_t floor_shift(int64_t x, int32_t down) {
    if (down <= 0) return x * (INT64_C(1) << -down);
    return down < 63 ? x >> down : x < 0 ? -1 : 0;
}

/* A sum of products in units of 2^(e - frac_bits); e is LB_TERM_ZERO if all of them are zero. */
typedef struct partial {
    int64_t sum;
    int32_t e;
} partial;

/* Products first, first + stride …, each cut toward zero under the largest exponent of those that are not zero. */
static partial sum_products(const lb_unit *u, const lb_cell *a, const lb_cell *b, int first, int stride) {
    const int frac = lb_format_row(u->a)->man_bits + lb_format_row(u->b)->man_bits;
    const int up = u->frac_bits > frac ? u->frac_bits - frac : 0, down = frac > u->frac_bits ? frac - u->frac_bits : 0;
    partial p = {0, LB_TERM_ZERO};
    for (int i = first; i < u->terms; i += stride) {
        const int32_t e = a[i].term.e + b[i].term.e; /* of a zero product: below every other */
        p.e = e > p.e ? e : p.e;
    }
    for (int i = first; i < u->terms; i += stride)
        p.sum += lb_align(a[i].term.sig * b[i].term.sig, p.e - (a[i].term.e + b[i].term.e), up, down);
    return p;
}

static partial join(partial x, partial y) {
    const int32_t e = x.e > y.e ? x.e : y.e;
    return (partial){floor_shift(x.sum, e - x.e) + floor_shift(y.sum, e - y.e), e};
}

/* c joins by floors; then one rounding. */
static uint64_t add_late(const lb_unit *u, partial p, uint64_t c_code, bool drops_small_c) {
    const lb_format *f32 = lb_format_row(LB_F32);
    const lb_term c = lb_term_of(f32, c_code);
    const int32_t e_c = c.sig ? c.e : -126;
    const int32_t e = p.e > e_c ? p.e : e_c;
    int64_t sum = p.sum ? floor_shift(p.sum, e - p.e + u->frac_bits - SUM_BITS) : 0;
    if (!(drops_small_c && e_c < e - KEPT_BITS)) sum += floor_shift(c.sig, e - e_c + f32->man_bits - C_BITS) * (1 << (SUM_BITS - C_BITS));
    if (sum == 0) return 0;
    const lb_value v = {LB_FINITE, sum < 0, false, e - SUM_BITS, 0, sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum};
    return f32_of(v);
}

static lb_value value_of(lb_term t, int man_bits) {
    if (t.e == LB_TERM_SPECIAL) return (lb_value){.cls = t.sig ? LB_INF : LB_NAN, .negative = t.sig < 0};
    if (!t.sig) return (lb_value){.cls = LB_ZERO};
    return (lb_value){LB_FINITE, t.sig < 0, false, t.e - man_bits, 0, (uint64_t)(t.sig < 0 ? -t.sig : t.sig)};
}

/* NaN and Inf among the operands, the products and c. A product of 2^128 or more counts as Inf. */
static bool late_special(const lb_unit *u, const lb_cell *a, const lb_cell *b, uint64_t c, uint64_t *out) {
    const lb_format *f32 = lb_format_row(LB_F32);
    lb_value products[LB_MAX_K], sum;
    bool may_be = lb_code_class(f32, c) >= LB_INF;
    for (int i = 0; i < u->terms; i++) {
        const int32_t x = a[i].term.e, y = b[i].term.e;
        may_be = may_be || x == LB_TERM_SPECIAL || y == LB_TERM_SPECIAL || x + y >= 127; /* a product is below 2^(x+y+2) */
    }
    if (!may_be) return false;
    for (int i = 0; i < u->terms; i++) {
        products[i] = lb_value_mul(value_of(a[i].term, lb_format_row(u->a)->man_bits), value_of(b[i].term, lb_format_row(u->b)->man_bits));
        if (products[i].cls == LB_FINITE && products[i].exp + lb_bit_length64(products[i].lo) - 1 >= 128) products[i].cls = LB_INF;
    }
    if (!special_sum(products, u->terms, lb_decode(f32, c), &sum)) return false;
    *out = f32_of(sum);
    return true;
}

static uint64_t late_c_block(const lb_unit *u, const lb_cell *a, const lb_cell *b, uint64_t c, bool split) {
    uint64_t special;
    if (late_special(u, a, b, c, &special)) return special;
    if (!split) return add_late(u, sum_products(u, a, b, 0, 1), c, false);
    return add_late(u, join(sum_products(u, a, b, 0, 2), sum_products(u, a, b, 1, 2)), c, true);
}

uint64_t lb_step_late_c(const lb_step *s, uint64_t c) {
    for (int k = 0; k < s->count; k += s->u->terms) c = late_c_block(s->u, s->a + k, s->b + k, c, false);
    return c;
}

uint64_t lb_step_late_c_split(const lb_step *s, uint64_t c) {
    for (int k = 0; k < s->count; k += s->u->terms) c = late_c_block(s->u, s->a + k, s->b + k, c, true);
    return c;
}
