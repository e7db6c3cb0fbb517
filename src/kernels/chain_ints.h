/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: products of small integers, two a lane and instruction; and groups of fp4, which are that and two scales. */

/* sum[g] + the products of positions from .. to, exact in int32: 256 pairs of at most 2 * 255 * 255. */
INLINE vi pair_products(const lb_chain_strip *s, int from, int to, int column, vi sum) {
    const uint32_t *a = s->a, *b = s->b;
    for (int t = from; t < to; t++) sum = i_add(sum, i_pairs(i_set((int32_t)a[t]), i_load(b + (ptrdiff_t)t * LB_NR + column)));
    return sum;
}

/* c + sum, clamped to the ends of int32 */
INLINE vi saturated(vi c, vi sum) {
    const vi all = i_add(c, sum), over = i_and(i_xor(c, all), i_xor(sum, all)); /* negative where it overflowed */
    return i_select_neg(over, i_xor(i_sar(c, 31), i_set(INT32_MAX)), all);
}

static void integer_strip(const lb_chain_strip *s, bool saturate) {
    for (int column = 0; column < s->columns; column += LANES) {
        int32_t *at = (int32_t *)s->c + column;
        vi c = i_load(at);
        if (!saturate) c = pair_products(s, 0, s->length, column, c);
        for (int t = 0; saturate && t < s->length; t += s->step) c = saturated(c, pair_products(s, t, t + s->step, column, i_set(0)));
        i_store(at, c);
    }
}

/* ---- groups of fp4 ---------------------------------------------------------------------------------------------------- */

/* |x| cut to multiples of 2^(e - frac), with the sign of x */
INLINE vd cut_at(vd x, vi e, int frac) {
    return d_copysign(floor_at(d_abs(x), e, frac), x);
}

enum { MAX_GROUPS = 32 };

/* c <- one K step: sums of groups, each with the powers of two of its scales alone as its exponent, and c, as a truncated block.
 * lanes column .. column + LANES64 - 1 */
INLINE vd groups_block(const lb_chain_strip *s, int first, int groups, const int32_t (*sums)[LB_NR], int column, vd c) {
    const int zero = 0;
    vd top = d_set(power_of_two64(s->floor_exp)), value[MAX_GROUPS], all = d_set(zero), sum;
    for (int i = 0; i < groups; i++) {
        const ptrdiff_t at = (ptrdiff_t)(first + i) * LB_NR + column;
        const vd scale = d_mul(d_set(s->ga.scale[first + i]), d_load(s->gb.scale + at));
        const vd power = d_mul(d_set(s->ga.power[first + i]), d_load(s->gb.power + at));
        value[i] = d_mul(d_mul(d_from_i32(sums[i] + column), d_set(0.25)), scale);
        all = d_add(all, value[i]);
        top = q_double(d_max(d_bits(top), d_bits(d_where_any(s->ga.live[first + i], s->gb.live + at, power))));
    }
    const vi c_field = i_and(d_abs_at_least(d_unless_finite_zero(c), d_set(0x1p-126)), exponent_mask64());
    const vi e = d_max(i_and(d_bits(top), exponent_mask64()), c_field);
    sum = cut_at(d_unless_finite_zero(c), e, s->frac_bits);
    for (int i = 0; i < groups; i++) sum = d_add(sum, cut_at(value[i], e, s->frac_bits));
    return d_unless_finite(d_add(c, all), d_round_rz(d_add(sum, d_set(0)))); /* NaN of a scale, NaN and Inf of c as they add */
}

static void groups_strip(const lb_chain_strip *s) {
    const int per = s->terms, groups = s->step / per; /* positions of a group, groups of a K step */
    int32_t sums[MAX_GROUPS][LB_NR];
    for (int t0 = 0, first = 0; t0 < s->length; t0 += s->step, first += groups) {
        for (int i = 0; i < groups; i++)
            for (int column = 0; column < s->columns; column += LANES)
                i_store(sums[i] + column, pair_products(s, t0 + i * per, t0 + (i + 1) * per, column, i_set(0)));
        for (int column = 0; column < s->columns; column += LANES64) {
            double *at = (double *)s->c + column;
            d_store(at, groups_block(s, first, groups, (const int32_t(*)[LB_NR])sums, column, d_load(at)));
        }
    }
}
