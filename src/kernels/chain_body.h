/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: chains of floats in f64 lanes; values of f32 are held as doubles. The mode is to nearest.
 *
 * What an f32 result needs of an exact sum is its rounding to odd in f64: to it or toward zero, whatever is inexact getting an odd last bit.
 * 53 bits are more than 24 + 2, so rounding that to f32 is rounding the exact sum once (Boldo and Melquiond 2008). An f64 sum is
 * exact but for what two_sum finds. */

/* s = x + y rounded; s + *err is exact, NaN where s is not finite. */
INLINE vd two_sum(vd x, vd y, vd *err) {
    const vd s = d_add(x, y), part = d_sub(s, x);
    *err = d_add(d_sub(x, d_sub(s, part)), d_sub(y, part));
    return s;
}

INLINE vd odd_sum(vd x, vd y) {
    vd err;
    const vd s = two_sum(x, y, &err);
    return d_to_odd(s, err);
}

/* To f32, an odd last bit where inexact; subnormals are zeros of their sign, 2^128 and more is Inf. */
INLINE vd f32_odd(vd x) {
    const vi low = q_set((INT64_C(1) << 29) - 1), bits = d_bits(x);
    const vi sticky = i_and(q_add(i_and(bits, low), low), q_set(INT64_C(1) << 29));
    const vd cut = q_double(i_or(i_and(bits, q_set(~((INT64_C(1) << 29) - 1))), sticky));
    return d_flush(d_inf_from_2_128(cut, x), d_set(0x1p-126));
}

/* The same of what has no more than 24 bits. */
INLINE vd f32_ends(vd x) {
    return d_flush(d_inf_from_2_128(x, x), d_set(0x1p-126));
}

/* To f32 after an f64 sum rounded to odd: results that are tiny after rounding as if exponents had no end are zeros of their sign. From
 * 2^-126 - 2^-151 on they are not. */
INLINE vd f32_ftz(vd x) {
    return d_near(d_flush(x, d_set(0x1p-126 - 0x1p-151)));
}

enum { CHAIN_VECTORS = 4, CHAIN_TERMS = 4 };

INLINE vd chain_product(const lb_chain_strip *s, int t, int column, int g) {
    const double *a = s->a, *b = s->b;
    return d_mul(d_set(a[t]), d_load(b + (ptrdiff_t)t * LB_NR + column + g * LANES64));
}

/* Sum of c and `terms` products, rounded once. An expansion grows term by term (Shewchuk 1997, theorem 10: with ties to even its parts do not
 * even touch); added from the least up, each to odd, it rounds as the exact sum. */
INLINE vd exact_block(const lb_chain_strip *s, int t0, int column, int g, int terms, vd c) {
    vd part[CHAIN_TERMS + 1], plain = c;
    part[0] = c;
    for (int i = 0; i < terms; i++) {
        vd q = chain_product(s, t0 + i, column, g);
        plain = d_add(plain, q);
        for (int j = 0; j <= i; j++) q = two_sum(q, part[j], &part[j]);
        part[i + 1] = q;
    }
    vd sum = part[0];
    for (int i = 1; i <= terms; i++) sum = odd_sum(part[i], sum);
    return d_near(d_unless_finite(plain, sum)); /* a zero sum is +0: what two_sum leaves of zeros is, and sum starts with that */
}

INLINE vd pairwise_block(const lb_chain_strip *s, int t0, int column, int g, int terms, vd c) {
    const vd least = d_set(0x1p-126);
    vd tree[CHAIN_TERMS];
    for (int i = 0; i < terms; i++) tree[i] = d_flush(d_near(chain_product(s, t0 + i, column, g)), least);
    for (int n = terms; n > 1; n /= 2)
        for (int i = 0; i < n / 2; i++) tree[i] = d_flush(d_near(d_add(tree[2 * i], tree[2 * i + 1])), least);
    return d_flush(d_near(d_add(c, tree[0])), least);
}

INLINE vd chain_block(const lb_chain_strip *s, int t, int column, int g, int terms, vd c, lb_chain_kind kind) {
    const double *a = s->a, *b = s->b;
    switch (kind) {
    case LB_CHAIN_FMA64: return d_fma(d_set(a[t]), d_load(b + (ptrdiff_t)t * LB_NR + column + g * LANES64), c);
    case LB_CHAIN_FMA32: return d_near(odd_sum(chain_product(s, t, column, g), c));
    case LB_CHAIN_FMA32_FTZ: return f32_ftz(odd_sum(chain_product(s, t, column, g), c));
    case LB_CHAIN_EXACT: return exact_block(s, t, column, g, terms, c);
    case LB_CHAIN_PAIRWISE: return pairwise_block(s, t, column, g, terms, c);
    case LB_CHAIN_PAIR_ODD: {
        const vd pair = odd_sum(f32_ends(chain_product(s, t, column, g)), f32_ends(chain_product(s, t + 1, column, g)));
        return f32_odd(odd_sum(c, f32_odd(pair)));
    }
    case LB_CHAIN_PAIR_FUSED: return d_near(d_add(c, d_near(odd_sum(chain_product(s, t, column, g), chain_product(s, t + 1, column, g)))));
    default: return c;
    }
}

/* c <- one K step of two chains from zero, over even and over odd positions. */
INLINE void two_chains_step(const lb_chain_strip *s, int t0, int column, vd c[CHAIN_VECTORS]) {
    for (int g = 0; g < CHAIN_VECTORS; g++) {
        vd chain[2] = {d_set(0), d_set(0)};
        for (int t = t0; t < t0 + s->step; t += 2)
            for (int i = 0; i < 2; i++) chain[i] = f32_ftz(odd_sum(chain_product(s, t + i, column, g), chain[i]));
        c[g] = f32_ftz(odd_sum(c[g], f32_ftz(odd_sum(chain[0], chain[1]))));
    }
}

INLINE void chain_strip(const lb_chain_strip *s, int terms, lb_chain_kind kind) {
    for (int column = 0; column < s->columns; column += CHAIN_VECTORS * LANES64) {
        double *at = (double *)s->c + column;
        vd c[CHAIN_VECTORS];
        for (int g = 0; g < CHAIN_VECTORS; g++) c[g] = d_load(at + g * LANES64);
        if (kind == LB_CHAIN_TWO_CHAINS) {
            for (int t = 0; t < s->length; t += s->step) two_chains_step(s, t, column, c);
        } else {
            for (int t = 0; t < s->length; t += terms)
                for (int g = 0; g < CHAIN_VECTORS; g++) c[g] = chain_block(s, t, column, g, terms, c[g], kind);
        }
        for (int g = 0; g < CHAIN_VECTORS; g++) d_store(at + g * LANES64, c[g]);
    }
}

/* terms is 1, 2 or 4 (CHAIN_TERMS). */
INLINE void chain_terms(const lb_chain_strip *s, lb_chain_kind kind) {
    if (s->terms == 4)
        chain_strip(s, 4, kind);
    else if (s->terms == 2)
        chain_strip(s, 2, kind);
    else
        chain_strip(s, 1, kind);
}

#if CHAIN_HAS_FMA
/* Chains of f32 in f32 lanes: the machine's own fused multiply-add, in a mode that flushes where the chain does. */
INLINE void float_strip(const lb_chain_strip *s, bool two) {
    const float *a = s->a, *b = s->b;
    for (int column = 0; column < s->columns; column += 4 * LANES) {
        float *at = (float *)s->c + column;
        vf c[4];
        for (int g = 0; g < 4; g++) c[g] = f_load(at + g * LANES);
        for (int t0 = 0; two && t0 < s->length; t0 += s->step)
            for (int g = 0; g < 4; g++) {
                vf chain[2] = {f_set(0), f_set(0)};
                for (int t = t0; t < t0 + s->step; t += 2)
                    for (int i = 0; i < 2; i++)
                        chain[i] = f_fma(f_set(a[t + i]), f_load(b + (ptrdiff_t)(t + i) * LB_NR + column + g * LANES), chain[i]);
                c[g] = f_add(c[g], f_add(chain[0], chain[1]));
            }
        for (int t = 0; !two && t < s->length; t++)
            for (int g = 0; g < 4; g++) c[g] = f_fma(f_set(a[t]), f_load(b + (ptrdiff_t)t * LB_NR + column + g * LANES), c[g]);
        for (int g = 0; g < 4; g++) f_store(at + g * LANES, c[g]);
    }
}
#endif

static void run_chain(const lb_chain_strip *s, lb_chain_kind kind) {
    switch (kind) {
    case LB_CHAIN_FMA64: chain_strip(s, 1, LB_CHAIN_FMA64); break;
#if CHAIN_HAS_FMA
    case LB_CHAIN_FMA32:
    case LB_CHAIN_FMA32_FTZ: float_strip(s, false); break;
    case LB_CHAIN_TWO_CHAINS: float_strip(s, true); break;
#else
    case LB_CHAIN_FMA32: chain_strip(s, 1, LB_CHAIN_FMA32); break;
    case LB_CHAIN_FMA32_FTZ: chain_strip(s, 1, LB_CHAIN_FMA32_FTZ); break;
    case LB_CHAIN_TWO_CHAINS: chain_strip(s, 1, LB_CHAIN_TWO_CHAINS); break;
#endif
    case LB_CHAIN_EXACT: chain_terms(s, LB_CHAIN_EXACT); break;
    case LB_CHAIN_PAIRWISE: chain_terms(s, LB_CHAIN_PAIRWISE); break;
    case LB_CHAIN_PAIR_ODD: chain_strip(s, 2, LB_CHAIN_PAIR_ODD); break;
    case LB_CHAIN_PAIR_FUSED: chain_strip(s, 2, LB_CHAIN_PAIR_FUSED); break;
    case LB_CHAIN_WRAP:
    case LB_CHAIN_XOR: integer_strip(s, false); break;
    case LB_CHAIN_SATURATE: integer_strip(s, true); break;
    case LB_CHAIN_GROUPS: groups_strip(s); break;
    case LB_CHAIN_COUNT: break;
    }
}
