/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: dots of 16 products of f16 codes, sixteen dots at a time, a dot a lane; over AVX-512. The block is that of fast_body.h on
 * true values: f16 needs no scaled domain, since a product is 0 or 2^-48 and more, and the largest exponent is between p_min = -28 and 120.
 *
 * Order of the lanes: dots 0, 2, .. 14, then 1, 3, .. 15. Vectors of 32 codes hold, eight lanes each: even dots at position t, even dots at
 * t + 8, odd dots at t, odd dots at t + 8. */

enum { F16_K = 16, F16_HALF = 8, F16_LEAST = -28, F16_C_TOP = 120, F16_AHEAD = 6 };

typedef struct f16_consts {
    vi start, top; /* least exponent field; field of 2^F twice */
    vi drop;       /* F in an exponent field */
    vi c_low;      /* |c| below is not exact in units of 2^(p_min - F) */
} f16_consts;

/* Sixteen dots before their first block. */
typedef struct f16_dots {
    vf even[F16_HALF], odd[F16_HALF]; /* exact products at t and t + 8 of dots 0, 2, .. 14 and of 1, 3, .. 15 */
    vi top[2];        /* exponent fields of the largest products among positions 0 .. 7 and 8 .. 15; small if there are none */
    uint32_t special; /* lanes with NaN or Inf */
} f16_dots;

/* Rows 2i and 2i + 1 in in[i] -> position t (and t + 8) of all in out[t]. */
INLINE void f16_transpose(const uint16_t *rows, vi out[F16_HALF]) {
    vi x[F16_HALF], y[F16_HALF];
    for (int i = 0; i < F16_HALF; i++) x[i] = i_load(rows + (ptrdiff_t)i * 2 * F16_K);
    for (int i = 0; i < F16_HALF; i += 2) {
        y[i] = _mm512_unpacklo_epi16(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_epi16(x[i], x[i + 1]);
    }
    for (int i = 0; i < F16_HALF; i += 4)
        for (int j = 0; j < 2; j++) {
            x[i + 2 * j] = _mm512_unpacklo_epi32(y[i + j], y[i + j + 2]);
            x[i + 2 * j + 1] = _mm512_unpackhi_epi32(y[i + j], y[i + j + 2]);
        }
    for (int j = 0; j < 4; j++) {
        out[2 * j] = _mm512_unpacklo_epi64(x[j], x[j + 4]);
        out[2 * j + 1] = _mm512_unpackhi_epi64(x[j], x[j + 4]);
    }
}

/* Conversions from memory need no shuffle. */
INLINE vf f16_float(const uint16_t *codes) {
    return _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(const void *)codes));
}

INLINE vf halves_low(vf even, vf odd) {
    return _mm512_shuffle_f32x4(even, odd, 0x44);
}

INLINE vf halves_high(vf even, vf odd) {
    return _mm512_shuffle_f32x4(even, odd, 0xee);
}

/* Sums of two f16 exponent fields, in place -> f32 exponent fields of 2^(ea + eb). */
INLINE vf f16_fields(vi sums, int half) {
    const vi wide = _mm512_cvtepu16_epi32(half ? _mm512_extracti64x4_epi64(sums, 1) : _mm512_castsi512_si256(sums));
    return i_float(i_add(i_shl(wide, 13), i_set((127 - 30) << 23)));
}

/* Sums of the exponent fields of products that are not zero, the largest; subnormals count as 2^-14. */
static __attribute__((noinline)) vi f16_top_of_any(uint16_t (*a)[32], uint16_t (*b)[32]) {
    const vi exp_mask = _mm512_set1_epi16(0x7c00), one = _mm512_set1_epi16(0x400), mag_mask = _mm512_set1_epi16(0x7fff);
    vi top = i_set(0);
    for (int t = 0; t < F16_HALF; t++) {
        const vi x = _mm512_load_si512(a[t]), y = _mm512_load_si512(b[t]);
        const __mmask32 live = _mm512_mask_test_epi16_mask(_mm512_test_epi16_mask(x, mag_mask), y, mag_mask);
        const vi sum = w_add(_mm512_max_epu16(i_and(x, exp_mask), one), _mm512_max_epu16(i_and(y, exp_mask), one));
        top = _mm512_mask_max_epu16(top, live, top, sum);
    }
    return top;
}

INLINE void f16_multiply(const uint16_t *a, const uint16_t *b, f16_dots *out) {
    const vi exp_mask = _mm512_set1_epi16(0x7c00);
    _Alignas(64) uint16_t codes[2][F16_HALF][32];
    vi at[F16_HALF], top = i_set(0), least = exp_mask;
    vf look = f_set(0);
    f16_transpose(a, at);
    for (int t = 0; t < F16_HALF; t++) _mm512_store_si512(codes[0][t], at[t]);
    f16_transpose(b, at);
    for (int t = 0; t < F16_HALF; t++) _mm512_store_si512(codes[1][t], at[t]);
    __asm__ volatile("" ::: "memory");
    for (int t = 0; t < F16_HALF; t++) {
        const vi x = _mm512_load_si512(codes[0][t]), y = _mm512_load_si512(codes[1][t]);
        const vi x_exp = i_and(x, exp_mask), y_exp = i_and(y, exp_mask);
        least = _mm512_min_epu16(least, _mm512_min_epu16(x_exp, y_exp));
        top = _mm512_max_epu16(top, w_add(x_exp, y_exp));
        const vf even = f_mul(f16_float(codes[0][t]), f16_float(codes[1][t]));
        const vf odd = f_mul(f16_float(codes[0][t] + 16), f16_float(codes[1][t] + 16));
        look = _mm512_fmadd_ps(even, odd, look); /* stays finite unless a product is not */
        out->even[t] = even;
        out->odd[t] = odd;
    }
    /* a field of zero, of zeros and subnormals, is rare */
    if (__builtin_expect(_mm512_test_epi16_mask(least, least) != UINT32_MAX, 0)) top = f16_top_of_any(codes[0], codes[1]);
    const vf even = f16_fields(top, 0), odd = f16_fields(top, 1);
    out->top[0] = f_bits(halves_low(even, odd));
    out->top[1] = f_bits(halves_high(even, odd));
    const uint32_t bad = _mm512_fpclass_ps_mask(look, 0x99); /* NaN or Inf in either of a pair of dots: both are for the engine */
    out->special = ((bad | bad >> 8) & 0xff) * 0x101;
}

/* 2^(F - E) of a block with c, and what leads back. */
INLINE vf f16_unit(const f16_consts *q, vi top, vf c, vi *back) {
    const vi e = _mm512_max_epi32(_mm512_max_epi32(top, q->start), i_and(f_bits(c), i_set(0x7f800000)));
    *back = i_sub(e, q->drop);
    return i_float(i_sub(q->top, e));
}

/* c and the one block of 16: each lane of even and odd sums its half of a dot, and the halves meet at the end. */
INLINE vf f16_whole(const f16_consts *q, const f16_dots *dots, vf c, bool split) {
    vi back, even = i_set(0), odd = i_set(0);
    const vf unit = f16_unit(q, _mm512_max_epi32(dots->top[0], dots->top[1]), c, &back);
    const vf of_even = halves_low(unit, unit), of_odd = halves_high(unit, unit);
    for (int t = 0; t < F16_HALF; t++) {
        even = i_add(even, f_trunc(f_mul(dots->even[t], of_even)));
        odd = i_add(odd, f_trunc(f_mul(dots->odd[t], of_odd)));
    }
    const vi low = i_add(f_bits(halves_low(i_float(even), i_float(odd))), f_trunc(f_mul(c, unit)));
    const vi high = f_bits(halves_high(i_float(even), i_float(odd)));
    return split ? round_two(low, high, back, false, false) : round_sum(i_add(low, high), back, false, false);
}

/* c and the block of the first or the second 8. */
INLINE vf f16_half(const f16_consts *q, const f16_dots *dots, int half, vf c) {
    vi back;
    const vf unit = f16_unit(q, dots->top[half], c, &back);
    vi sum = f_trunc(f_mul(c, unit));
    for (int t = 0; t < F16_HALF; t++) {
        const vf product = half ? halves_high(dots->even[t], dots->odd[t]) : halves_low(dots->even[t], dots->odd[t]);
        sum = i_add(sum, f_trunc(f_mul(product, unit)));
    }
    return round_sum(sum, back, false, false);
}

INLINE vf f16_chain(const f16_consts *q, const f16_dots *dots, vf c, int terms, bool split) {
    if (terms == F16_K) return f16_whole(q, dots, c, split);
    return f16_half(q, dots, 1, f16_half(q, dots, 0, c));
}

/* d of sixteen dots but those in the result: NaN and Inf, or a c that is too large or below the last place. */
INLINE uint32_t f16_group(const f16_consts *q, const uint16_t *a, const uint16_t *b, const float *c, float *d, int terms, bool split) {
    const vi to_lanes = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    const vi from_lanes = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    f16_dots dots;
    f16_multiply(a, b, &dots);
    const vi bits = c ? i_load(c) : i_set(0), mag = i_and(bits, i_set(0x7fffffff));
    const __mmask16 tiny = _mm512_mask_cmplt_epi32_mask(_mm512_test_epi32_mask(mag, mag), mag, q->c_low);
    const __mmask16 bad = tiny | _mm512_cmpge_epi32_mask(mag, i_set((F16_C_TOP + 127) << 23));
    const vf addend = _mm512_permutexvar_ps(to_lanes, i_float(_mm512_maskz_mov_epi32((__mmask16)~bad, bits)));
    const vf sums = f16_chain(q, &dots, addend, terms, split);
    /* lane l of the dots is number to_lanes[l]: spread the two bytes over even and odd bits */
    const vi special = _mm512_permutexvar_epi32(from_lanes, _mm512_movm_epi32((__mmask16)dots.special));
    const __mmask16 slow = bad | _mm512_movepi32_mask(special);
    _mm512_mask_storeu_ps(d, (__mmask16)~slow, _mm512_permutexvar_ps(from_lanes, sums));
    return slow;
}

INLINE void f16_groups(const f16_consts *q, const lb_dots16 *s, int terms, bool split) {
    for (int i = 0; i < s->groups; i++) {
        const ptrdiff_t at = (ptrdiff_t)i * LANES;
        const ptrdiff_t ahead = s->ahead - i > F16_AHEAD ? F16_AHEAD : 0; /* pages end where the machine's own prefetch does */
        for (int line = 0; line < F16_HALF; line++) {
            _mm_prefetch((const char *)(s->a + (at + ahead * LANES) * F16_K) + line * 64, _MM_HINT_T0);
            _mm_prefetch((const char *)(s->b + (at + ahead * LANES) * F16_K) + line * 64, _MM_HINT_T0);
        }
        s->slow[i] = f16_group(q, s->a + at * F16_K, s->b + at * F16_K, s->c ? s->c + at : NULL, s->d + at, terms, split);
    }
}

static void run_dots16(const lb_plan *p, const lb_dots16 *s) {
    const int F = p->frac_bits, start = p->floor_exp > F16_LEAST ? p->floor_exp : F16_LEAST;
    const f16_consts q = {.start = i_set((start + 127) << 23),
                          .top = i_set((int32_t)((uint32_t)(F + 254) << 23)),
                          .drop = i_set(F << 23),
                          .c_low = i_set((F16_LEAST - F + 23 + 127) << 23)};
    if (p->terms == F16_HALF)
        f16_groups(&q, s, F16_HALF, false);
    else if (p->may_split)
        f16_groups(&q, s, F16_K, true);
    else
        f16_groups(&q, s, F16_K, false);
}
