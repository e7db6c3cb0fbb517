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

static uint64_t exact_block(const lb_unit *u, const uint64_t *a, const uint64_t *b, uint64_t c_code) {
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b);
    const lb_value c = lb_decode(lb_format_row(LB_F32), c_code);
    lb_value products[LB_MAX_K], special;
    lb_exact_sum sum;
    lb_exact_sum_clear(&sum);
    lb_exact_sum_add(&sum, c, NULL);
    for (int i = 0; i < u->terms; i++) {
        const lb_value x = lb_decode(fa, a[i]), y = lb_decode(fb, b[i]);
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

/* What happens to subnormals of a, b and c, and to results that are some. */
typedef struct flushes {
    lb_flush in, out;
} flushes;

static flushes flushes_of(const lb_unit *u) {
    const lb_unit_subnormals s = u->edges.subnormals;
    return (flushes){s == LB_SUBNORMALS_KEEP || s == LB_SUBNORMALS_FLUSH_OUT ? LB_FLUSH_NONE : LB_FLUSH_TO_POSITIVE,
                     s == LB_SUBNORMALS_KEEP || s == LB_SUBNORMALS_FLUSH_IN ? LB_FLUSH_NONE : LB_FLUSH_KEEP_SIGN};
}

/* f32, to nearest even, subnormals to a zero of their sign. */
static uint64_t rounded_flushed(lb_value v, flushes how) {
    return lb_encode(lb_format_row(LB_F32), v, &(lb_encoding){.flush = how.out}, NULL);
}

static lb_value flushed_input(lb_format_id format, uint64_t code, flushes how) {
    const lb_format *f = lb_format_row(format);
    return lb_decode(f, lb_flush_code(f, code, how.in));
}

static uint64_t add_flushed(uint64_t x, uint64_t y, flushes how) {
    const lb_format *f32 = lb_format_row(LB_F32);
    return rounded_flushed(lb_value_add(lb_decode(f32, x), lb_decode(f32, y)), how);
}

static uint64_t pairwise_block(const lb_unit *u, const uint64_t *a, const uint64_t *b, uint64_t c) {
    const flushes how = flushes_of(u);
    uint64_t tree[LB_MAX_K];
    for (int i = 0; i < u->terms; i++)
        tree[i] = rounded_flushed(lb_value_mul(flushed_input(u->a, a[i], how), flushed_input(u->b, b[i], how)), how);
    for (int n = u->terms; n > 1; n /= 2)
        for (int i = 0; i < n / 2; i++) tree[i] = add_flushed(tree[2 * i], tree[2 * i + 1], how);
    return add_flushed(lb_flush_code(lb_format_row(LB_F32), c, how.in), tree[0], how);
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
static partial sum_products(const lb_unit *u, const lb_term *a, const lb_term *b, int first, int stride) {
    const int frac = lb_format_row(u->a)->man_bits + lb_format_row(u->b)->man_bits;
    partial p = {0, LB_TERM_ZERO};
    for (int i = first; i < u->terms; i += stride)
        if (a[i].sig && b[i].sig && a[i].e + b[i].e > p.e) p.e = a[i].e + b[i].e;
    for (int i = first; i < u->terms; i += stride) {
        const int32_t sig = a[i].sig * b[i].sig;
        if (sig)
            p.sum += lb_align(sig, p.e - (a[i].e + b[i].e), u->frac_bits > frac ? u->frac_bits - frac : 0,
                              frac > u->frac_bits ? frac - u->frac_bits : 0);
    }
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
    const bool twice = u->edges.late_floor == LB_LATE_FLOOR_TWICE;
    const int bits = SUM_BITS + twice;
    int64_t sum = p.sum ? floor_shift(p.sum, e - p.e + u->frac_bits - bits) : 0;
    if (!(drops_small_c && e_c < e - KEPT_BITS)) sum += floor_shift(c.sig, e - e_c + f32->man_bits - C_BITS) * (1 << (bits - C_BITS));
    if (sum == 0) return 0;
    const int length = lb_bit_length64(sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum);
    const int over = twice && length > SUM_BITS + 1 ? length - (SUM_BITS + 1) : 0; /* D11: normalised, then floored to 31 bits */
    sum = floor_shift(sum, over);
    const lb_value v = {LB_FINITE, sum < 0, false, e - bits + over, 0, sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum};
    return f32_of(v);
}

/* A product of 2^128 or more counts as Inf. */
static lb_value ranged_product(lb_value a, lb_value b) {
    lb_value p = lb_value_mul(a, b);
    if (p.cls == LB_FINITE && p.exp + lb_bit_length64(p.lo) - 1 >= 128) p.cls = LB_INF;
    return p;
}

static uint64_t late_c_block(const lb_unit *u, const uint64_t *a, const uint64_t *b, uint64_t c, bool split) {
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b);
    lb_value products[LB_MAX_K], special;
    lb_term ta[LB_MAX_K], tb[LB_MAX_K];
    for (int i = 0; i < u->terms; i++) {
        products[i] = ranged_product(lb_decode(fa, a[i]), lb_decode(fb, b[i]));
        ta[i] = lb_term_of(fa, a[i]);
        tb[i] = lb_term_of(fb, b[i]);
    }
    if (special_sum(products, u->terms, lb_decode(lb_format_row(LB_F32), c), &special)) return f32_of(special);
    if (!split) return add_late(u, sum_products(u, ta, tb, 0, 1), c, false);
    return add_late(u, join(sum_products(u, ta, tb, 0, 2), sum_products(u, ta, tb, 1, 2)), c, true);
}

uint64_t lb_step_late_c(const lb_step *s, uint64_t c) {
    for (int k = 0; k < s->count; k += s->u->terms) c = late_c_block(s->u, s->a + k, s->b + k, c, false);
    return c;
}

uint64_t lb_step_late_c_split(const lb_step *s, uint64_t c) {
    for (int k = 0; k < s->count; k += s->u->terms) c = late_c_block(s->u, s->a + k, s->b + k, c, true);
    return c;
}
