/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Directed dots are families; each counts its members and makes one by number. Where a format cannot hold what a family asks for, the
 * nearest code stands in, so a few members of narrow formats repeat. */
#include "run/capture_inputs.h"

#include <math.h>

typedef struct dot {
    const lb_unit *u;
    size_t k;
    uint64_t *a, *b, *c;
} dot;

/* ---- codes ------------------------------------------------------------------------------------------------------------------ */

static uint64_t negated(const lb_format *f, uint64_t code) {
    return f->sign_bits ? code ^ UINT64_C(1) << (f->bits - 1) : code;
}

/* Exponents of the least and the largest power of two of a format. */
static int least_exponent(const lb_format *f) {
    return (int)floor(log2(lb_to_double(f, lb_min_code(f))));
}

static int largest_exponent(const lb_format *f) {
    return (int)floor(log2(lb_to_double(f, lb_max_code(f))));
}

static int clamp(int x, int low, int high) {
    return x < low ? low : x > high ? high : x;
}

/* Product p becomes x * 2^e: the significand in a, the exponent shared out. */
static void set_product(const dot *d, size_t p, double x, int e) {
    const lb_format *fa = lb_format_row(d->u->a), *fb = lb_format_row(d->u->b);
    const int eb = clamp(e / 2, least_exponent(fb), largest_exponent(fb)), ea = e - eb;
    d->a[p % d->k] = lb_from_double(fa, ldexp(x, ea));
    d->b[p % d->k] = lb_from_double(fb, ldexp(1, eb + (ea < least_exponent(fa) ? ea - least_exponent(fa) : 0)));
    if (ea < least_exponent(fa)) d->a[p % d->k] = lb_from_double(fa, ldexp(x, least_exponent(fa)));
}

static void set_c(const dot *d, double x) {
    *d->c = lb_from_double(lb_format_row(d->u->c), x);
}

static int largest_product(const dot *d) {
    return largest_exponent(lb_format_row(d->u->a)) + largest_exponent(lb_format_row(d->u->b));
}

static int least_product(const dot *d) {
    return least_exponent(lb_format_row(d->u->a)) + least_exponent(lb_format_row(d->u->b));
}

enum { SPECIALS = 13 };

/* Every class and both ends of each; what a format has not (Inf of e4m3) is its largest value. */
static uint64_t special(const lb_format *f, size_t i) {
    uint64_t inf = lb_max_code(f), nan = inf;
    lb_inf_code(f, &inf);
    lb_nan_code(f, &nan);
    const uint64_t codes[SPECIALS] = {
        0, lb_min_code(f), lb_from_double(f, 1), lb_max_code(f), inf, nan, inf | 1, /* a signalling NaN; of tf32 only in the low bits */
    };
    return i < 7 ? codes[i] : negated(f, codes[i - 7]);
}

/* ---- families: how many, and member i; a, b, c come as zeros ----------------------------------------------------------------- */

static void zeros(const dot *d, size_t i) {
    const lb_format *fa = lb_format_row(d->u->a), *fb = lb_format_row(d->u->b), *fc = lb_format_row(d->u->c);
    for (size_t p = 0; p < d->k; p++) {
        const bool one = (i & 8) && p == 0; /* a zero that has a partner */
        if ((i & 1) && (!(i & 16) || p % 2)) d->a[p] = negated(fa, 0);
        d->b[p] = one ? lb_max_code(fb) : 0;
        if (i & 2) d->b[p] = negated(fb, d->b[p]);
    }
    if (i & 4) *d->c = negated(fc, 0);
}

static void special_pairs(const dot *d, size_t i) {
    const size_t x = i % SPECIALS, y = i / SPECIALS % SPECIALS, place = i / (SPECIALS * SPECIALS) % 3;
    const size_t p = place == 0 ? 0 : place == 1 ? d->k / 2 : d->k - 1;
    if (i / (SPECIALS * SPECIALS * 3))
        for (size_t q = 0; q < d->k; q++) set_product(d, q, q % 2 ? -1 : 1, 0);
    d->a[p] = special(lb_format_row(d->u->a), x);
    d->b[p] = special(lb_format_row(d->u->b), y);
}

static void special_c(const dot *d, size_t i) {
    const lb_format *fa = lb_format_row(d->u->a), *fb = lb_format_row(d->u->b);
    *d->c = special(lb_format_row(d->u->c), i % SPECIALS);
    const size_t x = i / SPECIALS; /* zeros, then one product of each special */
    if (x) {
        d->a[d->k / 2] = special(fa, x - 1);
        d->b[d->k / 2] = lb_from_double(fb, 1);
    }
}

/* c or a sum at the end of the result's range, and a product that is some quarters of its last place. */
static void overflow(const dot *d, size_t i) {
    const lb_format *fc = lb_format_row(d->u->c);
    const int top = largest_exponent(fc), sign = i & 1 ? -1 : 1, r = (int)(i / 2 % 8), kind = (int)(i / 16);
    const int ulp = top - fc->man_bits;
    if (kind == 0) {
        set_c(d, sign * lb_to_double(fc, lb_max_code(fc)));
        set_product(d, 0, sign * r, ulp - 2);
    } else if (kind == 1) {
        set_c(d, sign * ldexp(1, top));
        set_product(d, 1, sign, top - r);
    } else if (kind == 2) {
        for (size_t p = 0; p < d->k; p++) set_product(d, p, sign * 1.5, clamp(top - r, least_product(d), largest_product(d)));
    } else {
        for (size_t p = 0; p < d->k; p++) set_product(d, p, p % 2 ? -sign : sign, clamp(top + 4 - r, least_product(d), largest_product(d)));
        set_c(d, r);
    }
}

/* c = 0 and two products around the least exponents that a block is aligned to. */
static void exponent_floor(const dot *d, size_t i) {
    static const int bases[] = {-150, -149, -140, -133, -132, -126, -25, -24, -21, -20, -19, -14};
    const int base = bases[i / 64 % 12], t = (int)(i / 2 % 32), sign = i & 1 ? -1 : 1;
    set_product(d, 0, 1, base);
    set_product(d, 1, sign, base - t);
    if (i / 768) { /* a zero product with a large partner beside them */
        d->a[d->k - 1] = 0;
        d->b[d->k - 1] = lb_max_code(lb_format_row(d->u->b));
    }
}

/* Two terms cancel; a third is all that is left: how far below them is it kept, and how is it cut? The third is a product or c. */
static void cancellation(const dot *d, size_t i) {
    const int s = (int)(i % 40) + 1, sign = i / 40 & 1 ? -1 : 1, kind = (int)(i / 160 % 4);
    const double x = i / 80 & 1 ? 1.5 : 1;
    const int e = clamp(8, least_product(d), largest_product(d));
    const size_t far = d->k - 1;
    if (kind == 0 || kind == 1) {
        set_product(d, 0, 1, e);
        set_product(d, kind ? far : 1, -1, e);
        set_product(d, kind ? far / 2 : 2, sign * x, e - s);
    } else if (kind == 2) {
        set_product(d, 0, 1, e);
        set_product(d, far, -1, e);
        set_c(d, ldexp(sign * x, e - s));
    } else {
        set_c(d, ldexp(1, e));
        set_product(d, far, -1, e);
        set_product(d, 0, sign * x, e - s);
    }
}

/* No product, or one that is far below: how much of c comes through. */
static void c_through(const dot *d, size_t i) {
    const int q = (int)(i % 26) + 1, sign = i / 26 & 1 ? -1 : 1;
    set_c(d, sign * (1 + ldexp(1, -q)));
    if (i / 52) set_product(d, 0, 1, least_product(d));
}

/* A large pair at two places among ones: which products are summed before which. */
static void swallowed(const dot *d, size_t i) {
    const size_t kind = i / d->k, at = i % d->k, first = kind ? at : 0;
    const size_t second = kind == 0 ? at : kind == 1 ? at + 1 : at + d->k / 2;
    const int e = clamp(30, least_product(d), largest_product(d)), unit = clamp(e - 30, least_product(d), largest_product(d));
    for (size_t p = 0; p < d->k; p++) set_product(d, p, 1, unit);
    set_product(d, first, 1, e);
    set_product(d, second, -1, e);
}

/* A one and some quarters of the last place of f32, of f16 and of 13 fraction bits: how the end is rounded. */
static void rounding(const dot *d, size_t i) {
    static const int places[] = {23, 10, 13};
    const int r = (int)(i % 8), sign = i / 8 & 1 ? -1 : 1, place = places[i / 16 % 3];
    if (i / 48)
        set_c(d, sign);
    else
        set_product(d, d->k - 1, sign, 0);
    set_product(d, 0, sign * r, -place - 2);
    set_product(d, 1, sign, -place); /* makes the last place odd */
}

/* All products large and alike: the carries of their sum, with c on top. */
static void carries(const dot *d, size_t i) {
    const lb_format *fa = lb_format_row(d->u->a);
    const double x = 2 - ldexp(1, -fa->man_bits);
    for (size_t p = 0; p < d->k && p <= i / 2 % 64; p++) set_product(d, p, i & 1 ? -x : x, 4);
    set_c(d, i / 128 ? (i & 1 ? -1 : 1) * (1 + ldexp(1, -22)) : 0);
}

static const struct {
    size_t count, count_k; /* members: count + k * count_k */
    void (*make)(const dot *d, size_t i);
} families[] = {
    {32, 0, zeros},
    {SPECIALS * SPECIALS * 6, 0, special_pairs},
    {SPECIALS * (SPECIALS + 1), 0, special_c},
    {64, 0, overflow},
    {1536, 0, exponent_floor},
    {640, 0, cancellation},
    {104, 0, c_through},
    {0, 3, swallowed},
    {96, 0, rounding},
    {256, 0, carries},
};

enum { FAMILIES = sizeof families / sizeof families[0] };

size_t lb_capture_directed_count(const lb_unit *u) {
    size_t n = 0;
    for (size_t f = 0; f < FAMILIES; f++) n += families[f].count + u->k * families[f].count_k;
    return n;
}

void lb_capture_directed(const lb_unit *u, size_t k, size_t index, uint64_t *a, uint64_t *b, uint64_t *c) {
    const dot d = {u, k, a, b, c};
    for (size_t p = 0; p < k; p++) a[p] = b[p] = 0;
    *c = 0;
    for (size_t f = 0; f < FAMILIES; f++) {
        const size_t n = families[f].count + u->k * families[f].count_k;
        if (index < n) {
            families[f].make(&d, index);
            return;
        }
        index -= n;
    }
}

void lb_capture_seeded(const lb_unit *u, uint64_t seed, size_t k, uint64_t index, uint64_t *a, uint64_t *b, uint64_t *c) {
    static const lb_dist mix[8] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_NORMAL,  LB_DIST_BITS,
                                   LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_UNIFORM, LB_DIST_SPECIAL};
    const lb_dist dist = mix[index % 8];
    for (size_t p = 0; p < k; p++) {
        a[p] = lb_draw(lb_format_row(u->a), dist, seed, 1, index * k + p);
        b[p] = lb_draw(lb_format_row(u->b), dist, seed, 2, index * k + p);
    }
    *c = index % 8 == 4 ? 0 : lb_draw(lb_format_row(u->c), dist, seed, 3, index);
}
