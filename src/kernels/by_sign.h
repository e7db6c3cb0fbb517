/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the f32 path for units of few fraction bits, over fused multiply-adds that round toward zero.
 *
 * Positive and negative products are summed apart, by magnitude, each onto 2^23 units of 2^(E - F): as long as a sum is below another
 * 2^23 (plan.c, few_bits), the last place of the accumulator is that unit, and the rounding of a fused multiply-add is the cut. The
 * difference of the two sums is exact. A lane's product goes to one of them; the other adds a zero. */

/* c <- one block. */
INLINE void sign_block(const lb_strip *s, const fast_consts *q, int t0, int column, vf c[4], int vectors, lb_finish finish) {
    const float *a = s->a + t0, *b = s->b + (ptrdiff_t)t0 * 2 * LB_NR + column;
    const uint32_t *a_exp = s->a_exp + t0, *a_neg = s->a_neg + t0;
    const int8_t *b_exp = s->b_exp + (ptrdiff_t)t0 * LB_NR + column;
    const bool f16 = is_f16(finish);
    const vi lift = i_set((23 - s->frac_bits) << 23);
    vi top = q->start;
    for (int t = 0; t < s->terms; t++) top = b_max(top, b_add(i_load(b_exp + t * LB_NR), i_set((int32_t)a_exp[t])));
    vf plus[4], minus[4];
    for (int g = 0; g < vectors; g++) {
        const vf scaled = f16 ? f_mul(c[g], q->scale) : c[g];
        vi e = f_max_abs(spread(top, g), scaled);
        if (f16) e = i_max_if(f_bits(scaled), e, q->low);
        const vf base = i_float(i_add(i_and(e, q->exp_mask), lift)), positive = f_max(scaled, f_set(0));
        plus[g] = f_add_rz(base, positive);
        minus[g] = f_add_rz(base, f_sub(positive, scaled));
    }
    for (int t = 0; t < s->terms; t++) {
        const vf at = f_set(a[t]);
        const float *bt = b + t * 2 * LB_NR, *same = bt + a_neg[t], *other = bt + LB_NR - a_neg[t];
        for (int g = 0; g < vectors; g++) {
            plus[g] = f_fma_rz(at, f_load(same + g * LANES), plus[g]);
            minus[g] = f_fma_rz(at, f_load(other + g * LANES), minus[g]);
        }
    }
    for (int g = 0; g < vectors; g++) {
        vf r = f_sub(plus[g], minus[g]);
        if (finish == LB_FINISH_E8M13) r = i_float(i_and(f_bits(r), i_set(-1024)));
        c[g] = f16 ? f_unless_inf(c[g], f_to_f16(f_mul(r, q->unscale))) : r;
    }
}

INLINE void sign_columns(const lb_strip *s, const fast_consts *q, int column, int vectors, lb_finish finish) {
    vf c[4];
    for (int g = 0; g < vectors; g++) c[g] = f_load(s->c + column + g * LANES);
    for (int i = 0; i < s->blocks; i++) sign_block(s, q, i * s->terms, column, c, vectors, finish);
    for (int g = 0; g < vectors; g++) f_store(s->c + column + g * LANES, c[g]);
}

INLINE void sign_strip(const lb_strip *s, lb_finish finish) {
    fast_consts q = consts_of(s, finish);
    if (is_f16(finish)) q.unscale = f_set(power_of_two(s->x));
    for (int column = 0; column < s->columns; column += 4 * LANES) {
        if (s->columns - column <= LANES)
            sign_columns(s, &q, column, 1, finish);
        else
            sign_columns(s, &q, column, 4, finish);
    }
}

static void run_by_sign(const lb_strip *s, lb_finish finish) {
    switch (finish) {
    case LB_FINISH_E8M13: sign_strip(s, LB_FINISH_E8M13); break;
    case LB_FINISH_F16: sign_strip(s, LB_FINISH_F16); break;
    default: sign_strip(s, LB_FINISH_RZ); break;
    }
}
