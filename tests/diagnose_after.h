/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Faults of the output: after a right product. Included by test_diagnose.c alone. */
#ifndef LB_TEST_DIAGNOSE_AFTER_H
#define LB_TEST_DIAGNOSE_AFTER_H

/* ---- regions -------------------------------------------------------------------------------------------------------------------- */

typedef lb_rectangle rectangle;

static rectangle some_tile(plan *p) {
    const size_t top = 16 * pick(p, 0, p->m / 16 - 2), left = 16 * pick(p, 0, p->n / 16 - 2);
    return (rectangle){top, top + 15, left, left + 15};
}

static void fill(plan *p, rectangle r, double v) {
    lb_plant_fill(&p->dm, r, v);
}

static void want_rectangle(plan *p, int i, rectangle r) {
    want(p, i, "rows %zu..%zu x columns %zu..%zu", r.top, r.bottom, r.left, r.right);
}

static void zero_row(plan *p) {
    const size_t row = pick(p, 0, p->m - 1);
    fill(p, (rectangle){row, row, 0, p->n - 1}, 0);
    want(p, 0, "zero instead of a result in row %zu (", row);
}

static void zero_tile(plan *p) {
    const rectangle r = some_tile(p);
    fill(p, r, 0);
    want(p, 0, "zero");
    want_rectangle(p, 1, r);
}

/* One head of 8 columns in each 16. */
static void zero_heads(plan *p) {
    for (size_t j = 0; j < p->n; j++)
        if (j % 16 >= 8) fill(p, (rectangle){0, p->m - 1, j, j}, 0);
    want(p, 0, "zero");
    want(p, 1, "columns mod 16 in 8..15");
}

static void one_code_column(plan *p) {
    const size_t col = pick(p, 0, p->n - 1);
    fill(p, (rectangle){0, p->m - 1, col, col}, 1.5);
    want(p, 0, "one code, 0x3fc0 (1.5),");
    want(p, 1, "column %zu", col);
}

static void garbage_tile(plan *p) {
    const rectangle r = some_tile(p);
    for (size_t i = r.top; i <= r.bottom; i++)
        for (size_t j = r.left; j <= r.right; j++) set_d(p, i, j, sqrt((double)p->k) * (double)pick(p, 2, 4000) / 1000);
    want(p, 0, "unexplained");
    want_rectangle(p, 1, r);
}

/* ---- factors and signs ------------------------------------------------------------------------------------------------------------ */

static void times(plan *p, rectangle r, double f) {
    lb_plant_times(&p->dm, r, f);
}

static rectangle whole(const plan *p) {
    return (rectangle){0, p->m - 1, 0, p->n - 1};
}

static void scaled(plan *p) {
    const int e = (int)pick(p, 2, 9) - (pick(p, 0, 1) ? 11 : 0);
    times(p, whole(p), ldexp(1, e == -1 ? 2 : e));
    want(p, 0, "scaled by 2^%d (", e == -1 ? 2 : e);
}

static void scaled_by_some_factor(plan *p) {
    const double f = (double)pick(p, 110, 190) / 100;
    for (size_t i = 0; i < p->m * p->k; i++) p->a[i] *= f;
    compute(p);
    want(p, 0, "scaled by %.2f", f);
}

static void scaled_tile(plan *p) {
    const rectangle r = some_tile(p);
    times(p, r, 0.25);
    want(p, 0, "scaled by 2^-2 (0.25)");
    want_rectangle(p, 1, r);
}

static void negated(plan *p) {
    times(p, whole(p), -1);
    want(p, 0, "the sign is wrong");
}

static void offset(plan *p) {
    const double x = (double)pick(p, 3, 60) / 16;
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) set_d(p, i, j, get_d(p, i, j) + x);
    want(p, 0, "%.5g is added", x);
}

static void relu(plan *p) {
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) set_d(p, i, j, fmax(get_d(p, i, j), 0));
    want(p, 0, "negative results are zero");
}

static void absolute(plan *p) {
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) set_d(p, i, j, fabs(get_d(p, i, j)));
    want(p, 0, "signs are lost");
}

static void rows_in_groups_scaled(plan *p) {
    for (size_t i = 0; i < p->m; i++) times(p, (rectangle){i, i, 0, p->n - 1}, ldexp(1, (int)(i / 16 % 3) + 1));
    want(p, 0, "rows in groups of 16 have a factor each: row 0 has 2");
}

/* ---- places ------------------------------------------------------------------------------------------------------------------------ */

/* d (i, j) = the right one at from (i, j), where it has one. */
static void move(plan *p, bool (*from)(const plan *p, size_t *i, size_t *j)) {
    lb_mat old = new_mat(p->dm.format, p->m, p->n);
    memcpy(old.codes, p->dm.codes, p->m * p->n * (size_t)p->dm.format->bytes);
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            size_t r = i, c = j;
            if (from(p, &r, &c)) lb_store_code(lb_mat_at(&p->dm, i, j), p->dm.format->bytes, lb_mat_code(&old, r, c));
        }
    free(old.codes);
}

static void rows_swapped(plan *p) {
    const size_t x = pick(p, 0, p->m / 2 - 1), y = pick(p, p->m / 2, p->m - 1);
    lb_plant_swap_rows(&p->dm, x, y);
    want(p, 0, "rows %zu and %zu are swapped", x, y);
}

static void row_copied(plan *p) {
    const size_t to = pick(p, 1, p->m - 1);
    lb_plant_copy_row(&p->dm, to, to - 1);
    want(p, 0, "row %zu holds a copy of row %zu", to, to - 1);
}

static void second_half_shifted(plan *p) {
    lb_plant_shift_rows(&p->dm, p->m / 2);
    want(p, 0, "rows %zu..%zu hold rows %zu..: shifted by -1", p->m / 2, p->m - 1, p->m / 2 - 1);
}

static void column_tail_shifted(plan *p) {
    const size_t tail = pick(p, 13, 16);
    lb_plant_shift_columns(&p->dm, p->n - tail);
    want(p, 0, "columns %zu..%zu hold columns %zu..: shifted by -1", p->n - tail, p->n - 1, p->n - tail - 1);
}

static bool pair_column(const plan *p, size_t *i, size_t *j) {
    (void)i;
    if ((*j ^ 1) < p->n) *j ^= 1;
    return true;
}

static void columns_in_pairs(plan *p) {
    move(p, pair_column);
    want(p, 0, "are swapped in pairs: column r holds r xor 1");
}

static bool mirror_row(const plan *p, size_t *i, size_t *j) {
    (void)j;
    *i = p->m - 1 - *i;
    return true;
}

static void rows_reversed(plan *p) {
    move(p, mirror_row);
    want(p, 0, "are reversed: row r holds %zu - r", p->m - 1);
}

static bool by_columns(const plan *p, size_t *i, size_t *j) {
    const size_t at = *i * p->n + *j;
    *i = at % p->m;
    *j = at / p->m;
    return true;
}

static void transposed(plan *p) {
    move(p, by_columns);
    want(p, 0, p->m == p->n ? "D is transposed" : "D is written column by column");
}

static void tiles_transposed(plan *p) {
    for (size_t i = 0; i < p->m; i += 8)
        for (size_t j = 0; j < p->n; j += 8) lb_plant_transpose_tile(&p->dm, i, j, 8);
    want(p, 0, "tiles of 8x8 are transposed");
}

static void tile_from_elsewhere(plan *p) {
    const rectangle r = some_tile(p);
    const int down = r.top ? -16 : 16, across = r.left ? -16 : 16;
    lb_plant_move(&p->dm, &p->dm, r, down, across); /* from outside the tile */
    want(p, 0, "values belong %+d rows, %+d columns", down, across);
    want_rectangle(p, 1, r);
}

static bool wider(const plan *p, size_t *i, size_t *j) {
    const size_t at = *i * p->n + *j, ld = p->n + 3;
    if (at % ld >= p->n || at / ld >= p->m) return false;
    *i = at / ld;
    *j = at % ld;
    return true;
}

static void other_leading_dimension(plan *p) {
    move(p, wider);
    want(p, 0, "leading dimension %zu instead of %zu", p->n + 3, p->n);
}

/* ---- specials, bytes, bits ------------------------------------------------------------------------------------------------------------ */

static void nan_row(plan *p) {
    const size_t row = pick(p, 0, p->m - 1);
    fill(p, (rectangle){row, row, 0, p->n - 1}, NAN);
    want(p, 0, "NaN where the reference has none (as from one NaN in that row of A) in row %zu (", row);
}

static void nan_single(plan *p) {
    const size_t row = pick(p, 0, p->m - 1), col = pick(p, 0, p->n - 1);
    set_d(p, row, col, NAN);
    want(p, 0, "NaN where the reference has none in row %zu x column %zu (", row, col);
}

static void beyond_f16(plan *p, bool saturates) {
    const double up = 40000 / sqrt((double)p->k); /* about one in twenty is beyond */
    for (size_t i = 0; i < p->m * p->k; i++) {
        p->a[i] = lb_to_double(p->am.format, lb_from_double(p->am.format, p->a[i] * (p->dist == LB_DIST_UNIFORM ? 3 : 1) * up));
        lb_store_code(lb_mat_at(&p->am, i / p->k, i % p->k), 2, lb_from_double(p->am.format, p->a[i]));
    }
    compute(p);
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++)
            if (fabs(get_d(p, i, j)) > 65504) set_d(p, i, j, copysign(saturates ? 65504 : INFINITY, get_d(p, i, j)));
}

static void saturated(plan *p) {
    beyond_f16(p, true);
    want(p, 0, "saturated at 65504, the largest f16");
}

static void overflow(plan *p) {
    beyond_f16(p, false);
    want(p, 0, "overflow: Inf from magnitude 6");
    want(p, 1, "as f16 (65504) would");
}

static void bytes_swapped(plan *p) {
    for (size_t e = 0; e < p->m * p->n; e++) {
        uint16_t *d = (uint16_t *)p->dm.codes + e;
        *d = (uint16_t)(*d << 8 | *d >> 8);
    }
    want(p, 0, "byte order");
}

static void bit_stuck(plan *p) {
    const int bit = (int)pick(p, 4, 6);
    for (size_t e = 0; e < p->m * p->n; e++) ((uint16_t *)p->dm.codes)[e] |= (uint16_t)(1 << bit);
    want(p, 0, "bit %d is always set", bit);
}

static void stale(plan *p) {
    const rectangle r = some_tile(p);
    lb_draw_mat(&p->prev, LB_DIST_NORMAL, p->seed, 5);
    lb_plant_move(&p->dm, &p->prev, r, 0, 0);
    p->has_previous = true;
    want(p, 0, "stale");
    want_rectangle(p, 1, r);
}

static void unwritten(plan *p) {
    const rectangle r = {p->m - pick(p, 1, 9), p->m - 1, 0, p->n - 1};
    lb_plant_fill_code(&p->dm, r, lb_poison_code(p->dm.format));
    p->poisoned = true;
    want(p, 0, "not written");
    if (r.top == r.bottom)
        want(p, 1, "row %zu", r.top);
    else
        want(p, 1, "rows %zu..%zu", r.top, r.bottom);
}

/* ---- roundings and accumulators -------------------------------------------------------------------------------------------------------- */

/* What the unit gives, as f32 values, into p->c. */
static void run_unit(plan *p, const char *name) {
    lb_unit u;
    assert_int_equal(lb_unit_find(name, &u, NULL), LB_OK);
    lb_mat d = new_mat(lb_format_row(u.d), p->m, p->n);
    assert_int_equal(lb_gemm(&u, &p->am, &p->bm, NULL, &d, NULL, NULL), LB_OK);
    values_of(p->c, &d);
    free(d.codes);
}

static void judged_by(plan *p, const char *name) {
    static lb_unit u;
    assert_int_equal(lb_unit_find(name, &u, NULL), LB_OK);
    p->unit = &u;
    p->by_unit_alone = true;
}

static void encode_all(plan *p, lb_rounding way) {
    const lb_encoding how = {.rounding = way};
    for (size_t e = 0; e < p->m * p->n; e++)
        lb_store_code(lb_mat_at(&p->dm, e / p->n, e % p->n), p->dm.format->bytes,
                      lb_encode(p->dm.format, lb_value_of(p->c[e]), &how, NULL));
}

static void truncated(plan *p) {
    run_unit(p, "sm_80/mma.m16n8k16.f32.bf16.bf16.f32");
    judged_by(p, "sm_80/mma.m16n8k16.f32.bf16.bf16.f32");
    encode_all(p, LB_RZ);
    want(p, 0, "output rounded toward zero (truncated)");
}

static void rounded_twice(plan *p) {
    run_unit(p, "sm_80/mma.m16n8k16.f32.bf16.bf16.f32");
    judged_by(p, "sm_80/mma.m16n8k16.f32.bf16.bf16.f32");
    round_values(p->c, p->m * p->n, LB_F16);
    encode_all(p, LB_RNE);
    want(p, 0, "results rounded to f16 before bf16");
}

static void rounded_short(plan *p) {
    for (size_t e = 0; e < p->m * p->n; e++) p->c[e] = get_d(p, e / p->n, e % p->n);
    round_values(p->c, p->m * p->n, LB_BF16);
    encode_all(p, LB_RNE);
    want(p, 0, "results rounded to bf16 before f32");
}

static void partials(plan *p) {
    const size_t slice = (p->k + 3) / 4;
    for (size_t e = 0; e < p->m * p->n; e++) {
        float sum = 0;
        for (size_t q = 0; q < p->k; q += slice) {
            double part = 0;
            for (size_t t = q; t < q + slice && t < p->k; t++) part += p->a[e / p->n * p->k + t] * p->b[t * p->n + e % p->n];
            sum += (float)lb_to_double(lb_format_row(LB_BF16), lb_from_double(lb_format_row(LB_BF16), part));
        }
        set_d(p, e / p->n, e % p->n, (double)sum);
    }
    want(p, 0, "partial sums over slices of %zu of K are rounded to bf16", slice);
}

static void chain_in(plan *p, lb_format_id f, bool fused) {
    const lb_format *format = lb_format_row(f);
    for (size_t e = 0; e < p->m * p->n; e++) {
        double sum = 0;
        for (size_t q = 0; q < p->k; q++) {
            const double x = p->a[e / p->n * p->k + q], y = p->b[q * p->n + e % p->n];
            if (fused && f == LB_F32)
                sum = (double)fmaf((float)x, (float)y, (float)sum);
            else
                sum = lb_to_double(format,
                                   lb_from_double(format, sum + (fused ? x * y : lb_to_double(format, lb_from_double(format, x * y)))));
        }
        set_d(p, e / p->n, e % p->n, sum);
    }
}

static void f16_chain(plan *p) {
    chain_in(p, LB_F16, true);
    want(p, 0, "f16 accumulation: a chain of fused multiply-adds");
}

static void bf16_chain(plan *p) {
    chain_in(p, LB_BF16, false);
    want(p, 0, "bf16 accumulation: a chain of multiplications and additions");
}

static void f32_chain(plan *p) {
    judged_by(p, "sm_80/mma.m16n8k16.f32.f16.f16.f32");
    chain_in(p, LB_F32, true);
    want(p, 0, "f32 accumulation: a chain of fused multiply-adds");
}

static void other_unit(plan *p) {
    run_unit(p, "sm_90/mma.m16n8k16.f32.f16.f16.f32");
    judged_by(p, "sm_80/mma.m16n8k16.f32.f16.f16.f32");
    encode_all(p, LB_RNE);
    want(p, 0, "equals sm_90/mma.m16n8k16.f32.f16.f16.f32 on %zu/%zu elements", p->m * p->n, p->m * p->n);
}

static void narrow_unit(plan *p) {
    run_unit(p, "sm_80/mma.m16n8k16.f16.f16.f16.f16");
    encode_all(p, LB_RNE);
    want(p, 0, "(f16 accumulation) on %zu/%zu elements", p->m * p->n, p->m * p->n);
    want(p, 1, "f16.f16.f16.f16");
}

#endif
