/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* mma.sp: a compressed A and its metadata, against the dense units over what A keeps, and by hand. */
#include "units_help.h"

#define SP32    "sm_80/mma.m16n8k32.f32.f16.f16.f32.sp"
#define SP_TF32 "sm_80/mma.m16n8k16.f32.tf32.tf32.f32.sp"
#define SP_INT  "sm_80/mma.m16n8k64.i32.i8.i8.i32.sp"

/* Two ascending places of each four, or one of each two, from the seed. */
static void draw_places(const lb_unit *u, uint8_t *meta, size_t count, uint64_t seed) {
    static const uint8_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (size_t i = 0; i < count; i++) {
        if (u->sparse_group == 2)
            meta[i] = (uint8_t)(lb_random_u64(seed, 1, i) & 1);
        else
            meta[i] = pairs[lb_random_u64(seed, 1, i / 2) % 6][i % 2];
    }
}

static void full_spellings_find_their_sparse_rows(void **state) {
    (void)state;
    assert_string_equal(unit_named("sm_80/mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32").name, SP32);
    assert_string_equal(unit_named("sm_80/mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32").name, SP32);
    assert_string_equal(unit_named("sm_80/mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.s8.s32").name,
                        "sm_80/mma.m16n8k64.i32.i8.i8.i32.satfinite.sp");
}

static void expand_puts_each_element_where_its_metadata_says(void **state) {
    (void)state;
    const lb_unit u = unit_named(SP32), t = unit_named(SP_TF32);
    uint16_t a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, dense[16];
    const uint8_t meta[8] = {0, 1, 2, 3, 0, 3, 1, 2};
    const lb_format *f16 = lb_format_row(LB_F16), *u8 = lb_format_row(LB_U8), *tf32 = lb_format_row(LB_TF32);
    const lb_mat ma = lb_mat_of(f16, a, 2, 4), mm = lb_mat_of(u8, meta, 2, 4);
    lb_mat md = lb_mat_of(f16, dense, 2, 8);
    assert_int_equal(lb_unit_expand(&u, &ma, &mm, &md, NULL), LB_OK);
    static const uint16_t want[16] = {1, 2, 0, 0, 0, 0, 3, 4, 5, 0, 0, 6, 0, 7, 8, 0};
    assert_memory_equal(dense, want, sizeof want);
    uint32_t ta[4] = {1, 2, 3, 4}, td[8];
    const uint8_t tm[4] = {0, 1, 1, 0};
    const lb_mat mta = lb_mat_of(tf32, ta, 1, 4), mtm = lb_mat_of(u8, tm, 1, 4);
    lb_mat mtd = lb_mat_of(tf32, td, 1, 8);
    assert_int_equal(lb_unit_expand(&t, &mta, &mtm, &mtd, NULL), LB_OK);
    static const uint32_t twant[8] = {1, 0, 0, 2, 0, 3, 4, 0};
    assert_memory_equal(td, twant, sizeof twant);
}

static void metadata_that_is_no_place_is_one_line_and_nothing_is_written(void **state) {
    (void)state;
    const lb_unit u = unit_named(SP32), dense = unit_named("sm_80/mma.m16n8k16.f32.f16.f16.f32");
    uint16_t a[16] = {0}, b[32] = {0}, wide[32];
    uint32_t d = 77;
    const lb_format *f16 = lb_format_row(LB_F16), *u8 = lb_format_row(LB_U8);
    const lb_mat ma = lb_mat_of(f16, a, 1, 16), mb = lb_mat_of(f16, b, 32, 1), short_b = lb_mat_of(f16, b, 30, 1);
    lb_mat md = lb_mat_of(lb_format_row(LB_F32), &d, 1, 1), mw = lb_mat_of(f16, wide, 1, 32);
    static const struct {
        int line;
        uint8_t meta[16];
        const char *says;
    } rows[] = {
        {__LINE__, {0, 1, 0, 4}, "[0,3] is 4"},
        {__LINE__, {0, 0}, "[0,1] is 0: the places of a group ascend"},
        {__LINE__, {0, 1, 3, 2}, "ascend"},
        {__LINE__, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 255, 1}, "[0,14] is 255"},
    };
    lb_error err = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_mat mm = lb_mat_of(u8, rows[i].meta, 1, 16);
        memset(wide, 0x5a, sizeof wide);
        EXPECT_CODE(rows[i].line, lb_unit_gemm_with(&u, &ma, &mb, NULL, &(lb_unit_operands){.metadata = &mm}, &md, &err), LB_E_ARG);
        if (!strstr(err.message, rows[i].says)) fail_msg("row at %d: %s", rows[i].line, err.message);
        EXPECT_CODE(rows[i].line, lb_unit_expand(&u, &ma, &mm, &mw, &err), LB_E_ARG);
        assert_true(d == 77 && wide[0] == 0x5a5a);
    }
    uint8_t good[16];
    draw_places(&u, good, 16, 1);
    const lb_mat mm = lb_mat_of(u8, good, 1, 16), narrow = lb_mat_of(u8, good, 1, 8);
    const lb_unit_operands with = {.metadata = &mm}, wrong = {.metadata = &narrow};
    assert_int_equal(lb_unit_gemm_with(&u, &ma, &mb, NULL, &wrong, &md, &err), LB_E_SHAPE);
    assert_int_equal(lb_unit_gemm_with(&u, &ma, &short_b, NULL, &with, &md, &err), LB_E_SHAPE);
    assert_int_equal(lb_unit_gemm(&u, &ma, &mb, NULL, &md, &err), LB_E_ARG);
    assert_non_null(strstr(err.message, "metadata"));
    assert_int_equal(lb_unit_gemm_with(&dense, &ma, &mb, NULL, &with, &md, &err), LB_E_ARG);
    assert_int_equal(lb_unit_expand(&dense, &ma, &mm, &mw, &err), LB_E_ARG);
}

static void blocks_are_of_what_a_keeps(void **state) {
    (void)state;
    /* D23. Kept elements 0 … 7 make one block: beside 2^24 and -2^24 its last place is 2^0, and 2^-2 is cut, twice. Element 8 is in the
     * next block, where 2^-2 is kept */
    const lb_unit u = unit_named(SP32);
    double va[16] = {0}, vb[32] = {0};
    uint8_t meta[16];
    for (size_t i = 0; i < 16; i++) meta[i] = (uint8_t)(i % 2 ? 3 : 2); /* k = 4 i/2 + 2, + 3 */
    va[0] = 4096, vb[2] = 4096, va[1] = -4096, vb[3] = 4096;
    va[6] = 0.5, vb[14] = 0.5, va[7] = 0.5, vb[15] = 0.5;
    uint16_t a[16], b[32];
    uint32_t d = 0;
    for (size_t i = 0; i < 16; i++) a[i] = (uint16_t)code_of(LB_F16, va[i]);
    for (size_t i = 0; i < 32; i++) b[i] = (uint16_t)code_of(LB_F16, vb[i]);
    const lb_mat ma = lb_mat_of(lb_format_row(LB_F16), a, 1, 16), mb = lb_mat_of(lb_format_row(LB_F16), b, 32, 1);
    const lb_mat mm = lb_mat_of(lb_format_row(LB_U8), meta, 1, 16);
    lb_mat md = lb_mat_of(lb_format_row(LB_F32), &d, 1, 1);
    assert_int_equal(lb_unit_gemm_with(&u, &ma, &mb, NULL, &(lb_unit_operands){.metadata = &mm}, &md, NULL), LB_OK);
    assert_int_equal(d, 0);
    a[8] = a[6], a[6] = 0, b[18] = b[14];
    assert_int_equal(lb_unit_gemm_with(&u, &ma, &mb, NULL, &(lb_unit_operands){.metadata = &mm}, &md, NULL), LB_OK);
    assert_int_equal(d, 0x3e800000);
}

static void an_integer_sparse_product_is_that_of_the_expanded_a(void **state) {
    (void)state;
    enum { M = 4, N = 3, K = 200 }; /* four K steps of 64, the last ragged */
    const lb_unit u = unit_named(SP_INT), dense = unit_named("sm_80/mma.m16n8k32.i32.i8.i8.i32");
    uint8_t a[M * K / 2], meta[M * K / 2], wide[M * K], b[K * N];
    uint32_t c[M * N], d[M * N], want[M * N];
    const lb_format *i8 = lb_format_row(LB_I8), *i32 = lb_format_row(LB_I32);
    lb_mat ma = lb_mat_of(i8, a, M, K / 2), mm = lb_mat_of(lb_format_row(LB_U8), meta, M, K / 2), mw = lb_mat_of(i8, wide, M, K);
    lb_mat mb = lb_mat_of(i8, b, K, N), mc = lb_mat_of(i32, c, M, N), md = lb_mat_of(i32, d, M, N), mx = lb_mat_of(i32, want, M, N);
    lb_draw_mat(&ma, LB_DIST_BITS, 3, 1);
    lb_draw_mat(&mb, LB_DIST_BITS, 3, 2);
    lb_draw_mat(&mc, LB_DIST_BITS, 3, 3);
    draw_places(&u, meta, M * K / 2, 4);
    assert_int_equal(lb_unit_gemm_with(&u, &ma, &mb, &mc, &(lb_unit_operands){.metadata = &mm}, &md, NULL), LB_OK);
    assert_int_equal(lb_unit_expand(&u, &ma, &mm, &mw, NULL), LB_OK);
    assert_int_equal(lb_unit_gemm(&dense, &mw, &mb, &mc, &mx, NULL), LB_OK);
    assert_memory_equal(d, want, sizeof want);
}

/* Every sparse row on float operands equals the dense block rule over the products that A keeps, which lb_unit_dot gives (and MPFR has
 * confirmed) for a dense unit with the same parameters and half of k. */
static void every_sparse_float_row_is_the_dense_rule_over_kept_products(void **state) {
    (void)state;
    enum { M = 2, N = 3 };
    size_t rows = 0;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        if (u->path != LB_PATH_SPARSE) continue;
        rows++;
        lb_unit dense = *u;
        dense.path = LB_PATH_TRUNCATED;
        dense.sparse_group = 0;
        dense.k = u->k / 2;
        const size_t k = 2 * u->k - 4; /* two steps, the last ragged */
        uint32_t a[M * 64], b[128 * N], c[M * N], d[M * N];
        uint8_t meta[M * 64];
        const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fc = lb_format_row(u->c);
        lb_mat ma = lb_mat_of(fa, a, M, k / 2), mb = lb_mat_of(fb, b, k, N), mm = lb_mat_of(lb_format_row(LB_U8), meta, M, k / 2);
        lb_mat mc = lb_mat_of(fc, c, M, N), md = lb_mat_of(fc, d, M, N);
        for (uint64_t seed = 0; seed < 40; seed++) {
            lb_draw_mat(&ma, seed % 4 ? LB_DIST_WIDE : LB_DIST_SPECIAL, seed, 1);
            lb_draw_mat(&mb, LB_DIST_NORMAL, seed, 2);
            lb_draw_mat(&mc, LB_DIST_WIDE, seed, 3);
            draw_places(u, meta, M * k / 2, seed);
            assert_int_equal(lb_unit_gemm_with(u, &ma, &mb, &mc, &(lb_unit_operands){.metadata = &mm}, &md, NULL), LB_OK);
            for (size_t i = 0; i < M; i++) {
                for (size_t j = 0; j < N; j++) {
                    uint32_t acc = (uint32_t)lb_mat_code(&mc, i, j), x[64], y[64];
                    for (size_t first = 0; first < k / 2; first += dense.k) {
                        size_t n = 0;
                        for (; n < dense.k && first + n < k / 2; n++) {
                            const size_t at = first + n, group = u->sparse_group == 2 ? at * 2 : at / 2 * 4;
                            x[n] = (uint32_t)lb_mat_code(&ma, i, at);
                            y[n] = (uint32_t)lb_mat_code(&mb, group + lb_mat_code(&mm, i, at), j);
                        }
                        assert_int_equal(lb_unit_dot(&dense, x, y, n, acc, &acc, NULL), LB_OK);
                    }
                    if (acc != lb_mat_code(&md, i, j)) fail_msg("%s seed %llu at %zu,%zu", u->name, (unsigned long long)seed, i, j);
                }
            }
        }
    }
    assert_true(rows >= 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_spellings_find_their_sparse_rows),
        cmocka_unit_test(expand_puts_each_element_where_its_metadata_says),
        cmocka_unit_test(metadata_that_is_no_place_is_one_line_and_nothing_is_written),
        cmocka_unit_test(blocks_are_of_what_a_keeps),
        cmocka_unit_test(an_integer_sparse_product_is_that_of_the_expanded_a),
        cmocka_unit_test(every_sparse_float_row_is_the_dense_rule_over_kept_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
