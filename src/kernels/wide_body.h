/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the f64 path, for operands and c of any finite value. The steps are those of fast_body.h with X = 300: exponent fields of
 * products lie in [471, 977], of c in [574, 850], so kadd > 0 and nothing over- or underflows before it is rounded. c is a true value. */

INLINE double power_of_two64(int e) {
    const union {
        uint64_t bits;
        double value;
    } u = {(uint64_t)(e + 1023) << 52};
    return u.value;
}

/* The 16-bit numbers of column group g, in the exponent fields of its lanes. */
INLINE vi spread64(vi words, int g) {
    const vi up = g == 0 ? q_shl(words, 52) : g == 1 ? q_shl(words, 36) : g == 2 ? q_shl(words, 20) : q_shl(words, 4);
    return i_and(up, q_set(INT64_C(0x7ff) << 52));
}

INLINE vd wide_round(vd exact, lb_finish finish) {
    return finish == LB_FINISH_F16 ? d_round_f16(exact) : finish == LB_FINISH_E8M13 ? d_round_e8m13(exact) : d_round_rz(exact);
}

INLINE void wide_block(const lb_wide_strip *s, int t0, int column, vd c[4], lb_finish finish) {
    const double *a = s->a + t0, *b = s->b + (ptrdiff_t)t0 * LB_NR + column;
    const int16_t *b_exp = s->b_exp + (ptrdiff_t)t0 * LB_NR + column;
    const vd scale = d_set(power_of_two64(-LB_X_WIDE)), c_least = d_set(power_of_two64(finish == LB_FINISH_F16 ? -14 : -126));
    const vi exp_mask = q_set(INT64_C(0x7ff) << 52);
    vi top = i_set(s->start * 0x10001);
    for (int t = 0; t < s->terms; t++) top = w_max(top, w_add(i_load(b_exp + t * LB_NR), i_set((int32_t)s->a_exp[t0 + t])));
    vi kadd[4];
    vsum sum[4];
    for (int g = 0; g < 4; g++) {
        const vi c_field = d_bits(d_mul(q_double(d_abs_at_least(c[g], c_least)), scale));
        const vi e = i_and(d_max(spread64(top, g), c_field), exp_mask);
        kadd[g] = q_sub(q_set((int64_t)(s->frac_bits + 1023) << 52), e);
        sum[g] = sum_trunc(q_double(q_add(d_bits(d_mul(c[g], scale)), kadd[g])));
    }
    for (int t = 0; t < s->terms; t++) {
        const vd at = d_set(a[t]);
        for (int g = 0; g < 4; g++)
            sum[g] = sum_add(sum[g], q_double(q_add(d_bits(d_mul(at, d_load(b + t * LB_NR + g * LANES64))), kadd[g])));
    }
    for (int g = 0; g < 4; g++) {
        const vi back = q_sub(q_set((int64_t)(1023 + LB_X_WIDE) << 52), kadd[g]);
        c[g] = d_unless_inf(c[g], wide_round(d_mul(sum_double(sum[g]), q_double(back)), finish));
    }
}

INLINE void wide_strip(const lb_wide_strip *s, lb_finish finish) {
    for (int column = 0; column < s->columns; column += 4 * LANES64) {
        vd c[4];
        for (int g = 0; g < 4; g++) c[g] = d_from_f(s->c + column + g * LANES64);
        for (int i = 0; i < s->blocks; i++) wide_block(s, i * s->terms, column, c, finish);
        for (int g = 0; g < 4; g++) d_store_f(s->c + column + g * LANES64, c[g]);
    }
}

static void run_wide(const lb_wide_strip *s, lb_finish finish) {
    switch (finish) {
    case LB_FINISH_E8M13: wide_strip(s, LB_FINISH_E8M13); break;
    case LB_FINISH_F16: wide_strip(s, LB_FINISH_F16); break;
    default: wide_strip(s, LB_FINISH_RZ); break;
    }
}
