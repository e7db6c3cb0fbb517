/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the f64 path, for operands and c of any finite value; c is a true value throughout. Values are scaled by 2^-WIDE_X.
 *
 * WIDE_BY_SIGN: positive and negative products are summed apart, by magnitude, each onto 2^52 units of 2^(E - F). As long as a sum is below
 * another 2^52, the last place of the accumulator is that unit, and the rounding toward zero of a fused multiply-add is the cut; the
 * difference of the two sums is exact. Exponent fields of products and of c lie in [733, 1313]: no scaling (WIDE_X is 0).
 *
 * Otherwise the steps are those of fast_body.h, with WIDE_X = 300: fields of products lie in [433, 1013], of c in [574, 850], so kadd > 0 and
 * nothing over- or underflows before it is rounded. */

/* The 16-bit numbers of column group g, in the exponent fields of its lanes. */
INLINE vi spread64(vi words, int g) {
    const vi up = g == 0 ? q_shl(words, 52) : g == 1 ? q_shl(words, 36) : g == 2 ? q_shl(words, 20) : q_shl(words, 4);
    return i_and(up, exponent_mask64());
}

/* Largest exponent fields of the products at positions from .. from + count, at least `start`, in place. */
INLINE void wide_top(const lb_wide_strip *s, int from, int count, int column, int vectors, vi e[]) {
    const int16_t *b_exp = s->b_exp + (ptrdiff_t)from * LB_NR + column;
    vi top[WIDE_VECTORS / 4];
    for (int h = 0; h < vectors / 4; h++) top[h] = i_set(s->start * 0x10001);
    for (int t = 0; t < count; t++)
        for (int h = 0; h < vectors / 4; h++)
            top[h] = w_max(top[h], w_add(i_load(b_exp + t * LB_NR + h * 4 * LANES64), i_set((int32_t)s->a_exp[from + t])));
    for (int g = 0; g < vectors; g++) e[g] = spread64(top[g / 4], g % 4);
}

/* sum[g] <- addend (if there is one) and the products at those positions, each cut toward zero in units of 2^(e[g] - F), as true values */
#if WIDE_BY_SIGN
INLINE void wide_sums(const lb_wide_strip *s, int from, int count, int column, int vectors, const vi e[], const vd *addend, vd sum[]) {
    const double *b = s->b + (ptrdiff_t)from * 2 * LB_NR + column;
    vd plus[WIDE_VECTORS], minus[WIDE_VECTORS];
    for (int g = 0; g < vectors; g++) {
        const vd base = q_double(q_add(e[g], q_set((int64_t)(52 - s->frac_bits) << 52)));
        plus[g] = minus[g] = base;
        if (!addend) continue;
        const vd positive = d_max_or_zero(addend[g]);
        plus[g] = d_add_rz(base, positive);
        minus[g] = d_add_rz(base, d_sub(positive, addend[g]));
    }
    for (int t = from; t < from + count; t++, b += 2 * LB_NR) {
        const vd at = d_set(s->a[t]);
        const double *same = b + s->a_neg[t], *other = b + LB_NR - s->a_neg[t];
        for (int g = 0; g < vectors; g++) {
            plus[g] = d_fma_rz(at, d_load(same + g * LANES64), plus[g]);
            minus[g] = d_fma_rz(at, d_load(other + g * LANES64), minus[g]);
        }
    }
    for (int g = 0; g < vectors; g++) sum[g] = d_sub(plus[g], minus[g]);
}
#else
INLINE void wide_sums(const lb_wide_strip *s, int from, int count, int column, int vectors, const vi e[], const vd *addend, vd sum[]) {
    const double *b = s->b + (ptrdiff_t)from * LB_NR + column;
    vi kadd[WIDE_VECTORS];
    vsum units[WIDE_VECTORS];
    for (int g = 0; g < vectors; g++) {
        kadd[g] = q_sub(q_set((int64_t)(s->frac_bits + 1023) << 52), e[g]);
        const vd scaled = addend ? d_mul(addend[g], d_set(power_of_two64(-WIDE_X))) : d_set(0);
        units[g] = sum_trunc(q_double(q_add(d_bits(scaled), kadd[g])));
    }
    for (int t = from; t < from + count; t++, b += LB_NR) {
        const vd at = d_set(s->a[t]);
        for (int g = 0; g < vectors; g++)
            units[g] = sum_add(units[g], q_double(q_add(d_bits(d_mul(at, d_load(b + g * LANES64))), kadd[g])));
    }
    for (int g = 0; g < vectors; g++) {
        const vi back = q_sub(q_set((int64_t)(1023 + WIDE_X) << 52), kadd[g]);
        sum[g] = d_mul(sum_double(units[g]), q_double(back));
    }
}
#endif

INLINE vd wide_round(vd exact, lb_finish finish) {
    return finish == LB_FINISH_F16 ? d_round_f16(exact) : finish == LB_FINISH_E8M13 ? d_round_e8m13(exact) : d_round_rz(exact);
}

/* Exponent fields of |c|, at least `least`, as scaled; a zero c counts only if it is to. */
INLINE vi field_of_c(vd c, vd least, bool zero_counts) {
    const vi at_least = zero_counts ? d_max(d_bits(d_abs(c)), d_bits(least)) : d_abs_at_least(c, least);
    if (WIDE_X == 0) return i_and(at_least, exponent_mask64());
    return i_and(d_bits(d_mul(q_double(at_least), d_set(power_of_two64(-WIDE_X)))), exponent_mask64());
}

/* c <- one truncated block. */
INLINE void wide_block(const lb_wide_strip *s, int t0, int column, vd c[], int vectors, lb_finish finish) {
    const vd c_least = d_set(power_of_two64(finish == LB_FINISH_F16 ? -14 : -126));
    vi e[WIDE_VECTORS];
    vd sum[WIDE_VECTORS];
    wide_top(s, t0, s->terms, column, vectors, e);
    for (int g = 0; g < vectors; g++) e[g] = d_max(e[g], field_of_c(c[g], c_least, false));
    wide_sums(s, t0, s->terms, column, vectors, e, c, sum);
    for (int g = 0; g < vectors; g++) c[g] = d_unless_inf(c[g], wide_round(sum[g], finish));
}

enum { LATE_SUM = 31, LATE_C = 24, LATE_KEPT = 25 }; /* docs/units.md, late_c */

/* The sum of the products at those positions, and its exponent fields. */
INLINE void late_sum(const lb_wide_strip *s, int from, int count, int column, int vectors, vi e[], vd sum[]) {
    wide_top(s, from, count, column, vectors, e);
    wide_sums(s, from, count, column, vectors, e, NULL, sum);
}

/* c <- one block where c joins late. Fields are scaled ones; true ones lie WIDE_X above. */
INLINE void late_block(const lb_wide_strip *s, int t0, int column, vd c[], int vectors, bool split) {
    const vi up = q_set((int64_t)WIDE_X << 52);
    const vd c_least = d_set(power_of_two64(-126));
    vi e[WIDE_VECTORS], other_e[WIDE_VECTORS];
    vd sum[WIDE_VECTORS], other[WIDE_VECTORS];
    late_sum(s, t0, split ? s->terms / 2 : s->terms, column, vectors, e, sum);
    if (split) late_sum(s, t0 + s->terms / 2, s->terms / 2, column, vectors, other_e, other);
    vd exact[WIDE_VECTORS];
    for (int g = 0; g < vectors; g++) {
        if (split) {
            e[g] = d_max(e[g], other_e[g]);
            const vi at = q_add(e[g], up);
            sum[g] = d_add(floor_at(sum[g], at, s->frac_bits), floor_at(other[g], at, s->frac_bits));
        }
        const vi c_field = field_of_c(c[g], c_least, true), field = d_max(e[g], c_field), at = q_add(field, up);
        vd addend = floor_at(c[g], at, LATE_C);
        if (split) addend = d_zero_if_less(q_double(q_add(c_field, q_set((int64_t)LATE_KEPT << 52))), q_double(field), addend);
        exact[g] = d_add(floor_at(sum[g], at, LATE_SUM), addend);
    }
    d_round_all(c, exact, vectors);
}

INLINE void wide_columns(const lb_wide_strip *s, int column, int vectors, lb_finish finish) {
    vd c[WIDE_VECTORS];
    for (int g = 0; g < vectors; g++) c[g] = d_from_f(s->c + column + g * LANES64);
    for (int i = 0; i < s->blocks; i++) {
        if (finish == LB_FINISH_LATE || finish == LB_FINISH_LATE_SPLIT)
            late_block(s, i * s->terms, column, c, vectors, finish == LB_FINISH_LATE_SPLIT);
        else
            wide_block(s, i * s->terms, column, c, vectors, finish);
    }
    for (int g = 0; g < vectors; g++) d_store_f(s->c + column + g * LANES64, c[g]);
}

INLINE void wide_strip(const lb_wide_strip *s, lb_finish finish) {
    for (int column = 0; column < s->columns; column += WIDE_VECTORS * LANES64) {
        if (s->columns - column <= 4 * LANES64)
            wide_columns(s, column, 4, finish);
        else
            wide_columns(s, column, WIDE_VECTORS, finish);
    }
}

static void run_wide(const lb_wide_strip *s, lb_finish finish) {
    switch (finish) {
    case LB_FINISH_E8M13: wide_strip(s, LB_FINISH_E8M13); break;
    case LB_FINISH_F16: wide_strip(s, LB_FINISH_F16); break;
    case LB_FINISH_LATE: wide_strip(s, LB_FINISH_LATE); break;
    case LB_FINISH_LATE_SPLIT: wide_strip(s, LB_FINISH_LATE_SPLIT); break;
    default: wide_strip(s, LB_FINISH_RZ); break;
    }
}
