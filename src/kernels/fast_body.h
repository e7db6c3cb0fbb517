/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the f32 path, over the operations of a vec_*.h. Each step is exact or is the cut itself, so the bits do not depend on lanes.
 *
 * One block, in the scaled domain (plan.h): with e the largest exponent field (of products and c, at least `start`) and
 * kadd = (F + 127 - field) << 23, a float plus kadd in its bits is the float in units of 2^(E - F); trunc() of it is the cut toward zero.
 * A zero product becomes a float below one. The int32 sum is exact (plan.c, room_of); converting it toward zero is the rounding. */

/* Constants of a strip, one register each. */
typedef struct fast_consts {
    vi start, exp_mask, top; /* top: (F + 127) << 23 */
    vi back;                 /* minus kadd: bits of the power of two that leads back */
    vf scale;                /* F16: true value -> scaled */
    vf unscale;              /* HALVES_RZ: scaled -> true value */
    vi low;                  /* F16: a non-zero c counts at least as 2^-14 */
} fast_consts;

INLINE bool is_f16(lb_finish finish) {
    return finish == LB_FINISH_F16 || finish == LB_FINISH_HALVES_F16;
}

INLINE bool is_halves(lb_finish finish) {
    return finish == LB_FINISH_HALVES_RZ || finish == LB_FINISH_HALVES_F16;
}

INLINE float power_of_two(int e) { /* -126 <= e <= 127 */
    const union {
        uint32_t bits;
        float value;
    } u = {(uint32_t)(e + 127) << 23};
    return u.value;
}

INLINE fast_consts consts_of(const lb_strip *s, lb_finish finish) {
    return (fast_consts){
        .start = i_set(s->start * 0x01010101),
        .exp_mask = i_set(0x7f800000),
        .top = i_set((s->frac_bits + 127) << 23),
        .back = i_set((127 + (is_f16(finish) ? s->x : 0)) << 23),
        .scale = f_set(is_f16(finish) ? power_of_two(-s->x) : 0),
        .unscale = f_set(finish == LB_FINISH_HALVES_RZ ? power_of_two(s->x) : 0),
        .low = i_set(is_f16(finish) ? (-14 - s->x + 127) << 23 : 0),
    };
}

/* The bytes of column group g, in the exponent fields of its lanes; other bits are junk. */
INLINE vi spread(vi bytes, int g) {
    return g == 0 ? i_shl(bytes, 23) : g == 1 ? i_shl(bytes, 15) : g == 2 ? i_shl(bytes, 7) : i_shr(bytes, 1);
}

/* Sum rounded toward zero to an f32 and scaled back by `back`. `odd`: an inexact one gets an odd last bit. */
INLINE vf round_sum(vi sum, vi back, bool odd, bool nearest_mode) {
    vf f = i_convert_rz(sum, nearest_mode);
    if (odd) f = f_sticky(f, f_trunc(f), sum);
    return f_mul(f, i_float(back));
}

/* x + y may need 33 bits: where it does, half of it with what fell off or-ed in. That is beyond the bits which the rounding keeps,
 * and rounds toward zero to the same. */
INLINE vf round_two(vi x, vi y, vi back, bool odd, bool nearest_mode) {
    const vi sum = i_add(x, y), differ = i_xor(x, y);
    const vi over = i_and(i_xor(x, sum), i_xor(y, sum)); /* negative where it overflowed */
    const vi half = i_or(i_add(i_sar(differ, 1), i_and(x, y)), i_and(differ, i_set(1)));
    return round_sum(i_select_neg(over, half, sum), i_add(back, i_shl(i_shr(over, 31), 23)), odd, nearest_mode);
}

/* acc += the cut products at positions from .. to. `pairs`: a lies as b does, each lane has its own. */
INLINE void add_products(const float *a, const float *b, int from, int to, const vi kadd[4], vi acc[4], int vectors, bool pairs) {
    for (int t = from; t < to; t++)
        for (int g = 0; g < vectors; g++) {
            const vf at = pairs ? f_load(a + t * LB_NR + g * LANES) : f_set(a[t]), bt = f_load(b + t * LB_NR + g * LANES);
            acc[g] = i_add(acc[g], f_trunc(i_float(i_add(f_bits(f_mul(at, bt)), kadd[g]))));
        }
}

/* c <- one block; c is scaled, for F16 it is a true value. */
INLINE void fast_block(const lb_strip *s, const fast_consts *q, int t0, int column, vf c[4], int vectors, lb_finish finish, bool split,
                       bool pairs) {
    const float *a = pairs ? s->a + (ptrdiff_t)t0 * LB_NR + column : s->a + t0, *b = s->b + (ptrdiff_t)t0 * LB_NR + column;
    const int8_t *b_exp = s->b_exp + (ptrdiff_t)t0 * LB_NR + column;
    const bool nearest_mode = is_halves(finish), f16 = is_f16(finish);
    vi top = q->start;
    for (int t = 0; t < s->terms; t++) {
        const vi a_exp = pairs ? i_load(s->a_pairs_exp + (ptrdiff_t)(t0 + t) * LB_NR + column) : i_set((int32_t)s->a_exp[t0 + t]);
        top = b_max(top, b_add(i_load(b_exp + t * LB_NR), a_exp));
    }
    vi kadd[4], acc[4], upper[4];
    for (int g = 0; g < vectors; g++) {
        const vf scaled = f16 ? f_mul(c[g], q->scale) : c[g];
        vi e = f_max_abs(spread(top, g), scaled);
        if (f16) e = i_max_if(f_bits(scaled), e, q->low);
        kadd[g] = i_sub(q->top, i_and(e, q->exp_mask));
        acc[g] = f_trunc(i_float(i_add(f_bits(scaled), kadd[g])));
    }
    if (split) {
        for (int g = 0; g < vectors; g++) upper[g] = i_set(0);
        add_products(a, b, s->terms / 2, s->terms, kadd, upper, vectors, pairs);
    }
    add_products(a, b, 0, split ? s->terms / 2 : s->terms, kadd, acc, vectors, pairs);
    for (int g = 0; g < vectors; g++) {
        const vi back = i_sub(q->back, kadd[g]);
        vf r = split ? round_two(acc[g], upper[g], back, f16, nearest_mode) : round_sum(acc[g], back, f16, nearest_mode);
        if (finish == LB_FINISH_E8M13) r = i_float(i_and(f_bits(r), i_set(-1024)));
        c[g] = f16 ? f_unless_inf(c[g], f_to_f16(r)) : r;
    }
}

/* c <- one K step of two halves. */
INLINE void halves_step(const lb_strip *s, const fast_consts *q, int t0, int column, vf c[4], int vectors, lb_finish finish, bool split,
                        bool pairs) {
    vf acc[4];
    for (int g = 0; g < vectors; g++) acc[g] = f_set(0);
    for (int i = 0; i < s->blocks_a_step; i++) fast_block(s, q, t0 + i * s->terms, column, acc, vectors, finish, split, pairs);
    for (int g = 0; g < vectors; g++) { /* an f16 sum by way of f32 rounds as once: 24 >= 2*11 + 2 */
        const vf sum = f_add(c[g], is_f16(finish) ? acc[g] : f_mul(acc[g], q->unscale));
        c[g] = is_f16(finish) ? f_to_f16(sum) : sum;
    }
}

INLINE void fast_columns(const lb_strip *s, const fast_consts *q, int column, int vectors, lb_finish finish, bool split, bool pairs) {
    const int blocks = is_halves(finish) ? s->blocks_a_step : 1, length = blocks * s->terms;
    vf c[4];
    for (int g = 0; g < vectors; g++) c[g] = f_load(s->c + column + g * LANES);
    for (int t0 = 0; t0 < s->blocks * s->terms; t0 += length) {
        if (is_halves(finish))
            halves_step(s, q, t0, column, c, vectors, finish, split, pairs);
        else
            fast_block(s, q, t0, column, c, vectors, finish, split, pairs);
    }
    for (int g = 0; g < vectors; g++) f_store(s->c + column + g * LANES, c[g]);
}

INLINE void fast_strip(const lb_strip *s, lb_finish finish, bool split, bool pairs) {
    const fast_consts q = consts_of(s, finish);
    for (int column = 0; column < s->columns; column += 4 * LANES) {
        if (s->columns - column <= LANES)
            fast_columns(s, &q, column, 1, finish, split, pairs);
        else
            fast_columns(s, &q, column, 4, finish, split, pairs);
    }
}

INLINE void strip_of(const lb_strip *s, lb_finish finish, bool pairs) {
    if (s->split)
        fast_strip(s, finish, true, pairs);
    else
        fast_strip(s, finish, false, pairs);
}

static void run_strip(const lb_strip *s, lb_finish finish) {
    switch (finish) {
    case LB_FINISH_RZ: strip_of(s, LB_FINISH_RZ, false); break;
    case LB_FINISH_E8M13: strip_of(s, LB_FINISH_E8M13, false); break;
    case LB_FINISH_F16: strip_of(s, LB_FINISH_F16, false); break;
    case LB_FINISH_HALVES_RZ: strip_of(s, LB_FINISH_HALVES_RZ, false); break;
    case LB_FINISH_HALVES_F16: strip_of(s, LB_FINISH_HALVES_F16, false); break;
    default: break;
    }
}

static void run_pairs(const lb_strip *s, lb_finish finish) {
    switch (finish) {
    case LB_FINISH_RZ: strip_of(s, LB_FINISH_RZ, true); break;
    case LB_FINISH_E8M13: strip_of(s, LB_FINISH_E8M13, true); break;
    case LB_FINISH_F16: strip_of(s, LB_FINISH_F16, true); break;
    case LB_FINISH_HALVES_RZ: strip_of(s, LB_FINISH_HALVES_RZ, true); break;
    case LB_FINISH_HALVES_F16: strip_of(s, LB_FINISH_HALVES_F16, true); break;
    default: break;
    }
}
