/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The integer engine: against MPFR on every row, against a handful of recorded dots, and at the edges by hand. */
#include "test.h"

#include "lastbit/units.h"
#include "lastbit/refs.h"
#include "units/step.h"

#include <math.h>
#include <string.h>

#if LB_HAVE_MPFR
#include "oracle/unit_mpfr.h"
#endif

static lb_unit unit_named(const char *name) {
    lb_unit u = {0};
    lb_error err;
    if (lb_unit_find(name, &u, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return u;
}

/* ---- names --------------------------------------------------------------------------------------------------------- */

static void every_row_is_found_by_its_own_name_and_only_there(void **state) {
    (void)state;
    for (size_t i = 0; lb_unit_row(i); i++) {
        const lb_unit *row = lb_unit_row(i);
        const lb_unit u = unit_named(row->name);
        assert_string_equal(u.name, row->name);
        assert_int_equal(u.k, row->k);
        assert_int_equal(u.path, row->path);
        assert_true(*row->source && *row->note && *row->open);
        for (size_t j = i + 1; lb_unit_row(j); j++) assert_string_not_equal(row->name, lb_unit_row(j)->name);
    }
}

static void full_ptx_spellings_aliases_and_free_sizes_are_accepted(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *given, *found;
    } rows[] = {
        {__LINE__, "sm_80/mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80/mma.m16n8k16.f32.f16.f16.f32"},
        {__LINE__, "sm_86/mma.m16n8k16.f32.f16.f16.f32", "sm_80/mma.m16n8k16.f32.f16.f16.f32"},
        {__LINE__, "sm_90a/wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "sm_90/wgmma.m64n128k16.f32.f16.f16"},
        {__LINE__, "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3"},
        {__LINE__, "sm_120a/mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", "sm_120/mma.m16n8k32.f32.e2m1.e3m2.f32"},
        {__LINE__, "sm_100a/tcgen05.mma.cta_group::1.kind::i8.m64n16k32.s32.u8.s8", "sm_100/tcgen05.m64n16k32.i32.u8.i8"},
        {__LINE__, "sm_100a/tcgen05.mma.cta_group::1.kind::f8f6f4.m64n16k32.f32.e4m3.e5m2", "sm_100/tcgen05.m64n16k32.f32.e4m3.e5m2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) EXPECT_STRING(rows[i].line, unit_named(rows[i].given).name, rows[i].found);
}

static void a_wrong_name_answers_with_the_nearest(void **state) {
    (void)state;
    lb_unit u;
    lb_error err;
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.fp16.f16.f32", &u, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "sm_80/mma.m16n8k16.f32.f16.f16.f32"));
    static const char *const wrong[] = {"",
                                        "/",
                                        "sm_80",
                                        "sm_80/",
                                        "sm_80/mma",
                                        "sm_90/wgmma.m64n12k16.f32.f16.f16",
                                        "sm_80/mma.m0n0k0.f32.f16.f16.f32",
                                        "sm_80/mma.m16n16k16.f32.f16.f16.f32",
                                        "sm_90/wgmma.m64n264k16.f32.f16.f16"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_int_equal(lb_unit_find(wrong[i], &u, &err), LB_E_NAME);
    char longest[4096];
    memset(longest, '/', sizeof longest);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(lb_unit_find(longest, &u, &err), LB_E_NAME);
}

static void an_open_row_runs_nothing_and_says_why(void **state) {
    (void)state;
    const lb_unit u = unit_named("sm_80/mma.m8n8k4.f32.f16.f16.f32");
    const uint32_t zeros[4] = {0};
    uint32_t d = 77;
    lb_error err;
    assert_int_equal(lb_unit_dot(&u, zeros, zeros, 4, 0, &d, &err), LB_E_UNAVAILABLE);
    assert_int_equal(d, 77);
    assert_non_null(strstr(err.message, "FFMA"));
}

/* ---- edges, worked out by hand ----------------------------------------------------------------------------------------- */

/* Values instead of codes; what is not given is zero. */
static uint32_t dot(const char *name, size_t count, const double *a, const double *b, uint32_t c) {
    const lb_unit u = unit_named(name);
    uint32_t ca[64] = {0}, cb[64] = {0}, d = 0;
    lb_error err;
    for (size_t i = 0; i < count; i++) {
        ca[i] = (uint32_t)lb_from_double(lb_format_row(u.a), a[i]);
        cb[i] = (uint32_t)lb_from_double(lb_format_row(u.b), b[i]);
        assert_true(isnan(a[i]) || lb_to_double(lb_format_row(u.a), ca[i]) == a[i]); /* the test says what it means */
        assert_true(isnan(b[i]) || lb_to_double(lb_format_row(u.b), cb[i]) == b[i]);
    }
    if (lb_unit_dot(&u, ca, cb, count, c, &d, &err) != LB_OK) fail_msg("%s: %s", name, err.message);
    return d;
}

#define A100      "sm_80/mma.m16n8k8.f32.f16.f16.f32"
#define A100_BF16 "sm_80/mma.m16n8k8.f32.bf16.bf16.f32"
#define A100_F16  "sm_80/mma.m16n8k8.f16.f16.f16.f16"
#define H100      "sm_90/mma.m16n8k16.f32.f16.f16.f32"
#define H100_BF16 "sm_90/mma.m16n8k16.f32.bf16.bf16.f32"
#define V100      "sm_70/mma.m8n8k4.f32.f16.f16.f32"
#define ADA_FP8   "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32"

/* c and d as codes; up to four products as pairs of values. */
static const struct edge {
    int line;
    const char *unit;
    uint32_t c, d;
    size_t count;
    double products[4][2];
} edges[] = {
    /* one fraction bit more than f32: 1 - 2^-24 keeps the guard bit on an A100, and none on a V100 (1 - 0) */
    {__LINE__, A100, 0x3f800000, 0x3f7fffff, 1, {{-0x1p-12, 0x1p-12}}},
    {__LINE__, V100, 0x3f800000, 0x3f800000, 1, {{-0x1p-12, 0x1p-12}}},
    {__LINE__, A100, 0x3f800000, 0x3f800000, 1, {{-0x1p-12, 0x1p-13}}}, /* 2^-25 is cut before the sum */
    {__LINE__, H100, 0x3f800000, 0x3f7fffff, 1, {{-0x1p-12, 0x1p-13}}}, /* and kept with 25 bits: 1 - 2^-25, RZ */
    /* each term is cut on its own: four times 2^-25 is 2^-23, but none survives beside 1 */
    {__LINE__, A100, 0x3f800000, 0x3f800000, 4, {{0x1p-12, 0x1p-13}, {0x1p-12, 0x1p-13}, {0x1p-12, 0x1p-13}, {0x1p-12, 0x1p-13}}},
    {__LINE__, H100, 0x3f800000, 0x3f800001, 4, {{0x1p-12, 0x1p-13}, {0x1p-12, 0x1p-13}, {0x1p-12, 0x1p-13}, {0x1p-12, 0x1p-13}}},
    /* rounding toward zero, both signs: 2 + 2^-23 + 2^-24 */
    {__LINE__, A100, 0x40000000, 0x40000000, 2, {{0x1p-11, 0x1p-12}, {0x1p-12, 0x1p-12}}},
    {__LINE__, A100, 0xc0000000, 0xc0000000, 2, {{-0x1p-11, 0x1p-12}, {-0x1p-12, 0x1p-12}}},
    /* the f16 accumulator rounds to nearest even: 1 + 2^-11 is a tie, 1 + 2^-11 + 2^-20 is not */
    {__LINE__, A100_F16, 0x3c00, 0x3c00, 1, {{0x1p-5, 0x1p-6}}},
    {__LINE__, A100_F16, 0x3c00, 0x3c01, 2, {{0x1p-5, 0x1p-6}, {0x1p-10, 0x1p-10}}},
    {__LINE__, A100_F16, 0x3c01, 0x3c02, 1, {{0x1p-5, 0x1p-6}}},
    /* products are not normalised: 1.5 * 1.5 = 2.25 has exponent 0, so 2^-24 beside it is kept and makes the last bit: 2.25 - 2.25 + 2^-24 */
    {__LINE__, A100, 0, 0x33800000, 3, {{1.5, 1.5}, {-1.5, 1.5}, {0x1p-12, 0x1p-12}}},
    {__LINE__, A100, 0, 0, 3, {{2, 1}, {-2, 1}, {0x1p-12, 0x1p-12}}}, /* with exponent 1 it is cut; an exact zero is +0 */
    {__LINE__, A100, 0x80000000, 0, 1, {{-0.0, 1}}},                  /* -0 and -0 make +0 too */
    /* subnormal operands count: 2^-24 * 4 = 2^-22; as f32 result and as f16 result */
    {__LINE__, A100, 0, 0x34800000, 1, {{0x1p-24, 4}}},
    {__LINE__, A100_F16, 0, 0x0004, 1, {{0x1p-24, 4}}},
    {__LINE__, A100, 0x00000001, 0x00000001, 0, {{0}}}, /* the least f32 comes back */
    /* D1. H100, bf16, c = 0: 2^-146 + 2 * 1.125 * 2^-149 + 0.75 * 2^-149 = 11 * 2^-149. The floor 2^-133 keeps all (unit 2^-158);
     * a floor of 2^-126 (unit 2^-151) would leave 10.75, hence 10 */
    {__LINE__,
     H100_BF16,
     0,
     0x0000000b,
     4,
     {{0x1p-100, 0x1p-46}, {1.125 * 0x1p-100, 0x1p-49}, {1.125 * 0x1p-100, 0x1p-49}, {0.75 * 0x1p-100, 0x1p-49}}},
    /* D1, worked out in the facts: A100 bf16, c = 0, -1.125*2^-143 - 1.125*2^-155 + 1.125*2^-142 = 0x1.1cp-143 with the floor 2^-132,
     * which truncates to 2^-149 * 71 */
    {__LINE__, A100_BF16, 0, 0x00000047, 3, {{-1.125 * 0x1p-100, 0x1p-43}, {-1.125 * 0x1p-100, 0x1p-55}, {1.125 * 0x1p-100, 0x1p-42}}},
    /* D1, f16 accumulator: 2^-45 - 2^-23 + 1.25 * 2^-23, floor 2^-20 and 24 bits: unit 2^-44, so 2^-45 goes; 2^-25 ties to even, 0 */
    {__LINE__, A100_F16, 0, 0x0000, 3, {{0x1p-22, 0x1p-23}, {-0x1p-11, 0x1p-12}, {1.25 * 0x1p-11, 0x1p-12}}},
    /* and with 2^-44, which the floor 2^-20 keeps: just above the tie, 2^-24; a floor of 2^-14 would cut it */
    {__LINE__, A100_F16, 0, 0x0001, 3, {{0x1p-22, 0x1p-22}, {-0x1p-11, 0x1p-12}, {1.25 * 0x1p-11, 0x1p-12}}},
    /* D2. 0 * 2^127 does not raise the exponent: 2^-20 + 2^-21 stays whole */
    {__LINE__, A100_BF16, 0, 0x35c00000, 3, {{0, 0x1p127}, {0x1p-10, 0x1p-10}, {0x1p-10, 0x1p-11}}},
    /* D3. subnormal c = -2^-20, products -2^-39 and -1.25 * 2^-23: c counts as exponent -14 (unit 2^-38), so -2^-39 is cut.
     * -2^-20 - 1.25*2^-23 = -18.5 * 2^-24, a tie, to even: 18 */
    {__LINE__, A100_F16, 0x8010, 0x8012, 2, {{-0x1p-19, 0x1p-20}, {-1.25 * 0x1p-11, 0x1p-12}}},
    /* D4. overflow is Inf also under rounding toward zero; the largest finite sum is not */
    {__LINE__, A100_BF16, 0, 0x7f800000, 1, {{0x1p64, 0x1p64}}},
    {__LINE__, A100_BF16, 0, 0xff800000, 1, {{-0x1p64, 0x1p64}}},
    {__LINE__, A100_BF16, 0x7f7fffff, 0x7f7fffff, 1, {{0x1p10, 0x1p10}}},
    {__LINE__, A100_F16, 0x7bff, 0x7c00, 1, {{4, 4}}}, /* 65504 + 16 is the tie: away from the odd 65504 */
    {__LINE__, A100_F16, 0x7bff, 0x7bff, 1, {{4, 3.75}}},
    /* D5. a negative sum below half the least subnormal keeps its sign: -2^-160 in f32 by RZ, -2^-30 in f16 */
    {__LINE__, A100_BF16, 0, 0x80000000, 1, {{-0x1p-80, 0x1p-72}}},
    {__LINE__, A100_F16, 0, 0x8000, 1, {{-0x1p-15, 0x1p-15}}},
    /* NaN and Inf: canonical NaN 7fffffff, 7fff; Inf * 0, Inf - Inf; Inf wins over anything finite */
    {__LINE__, A100, 0, 0x7fffffff, 1, {{NAN, 1}}},
    {__LINE__, A100_F16, 0, 0x7fff, 1, {{NAN, 1}}},
    {__LINE__, A100, 0xffc00001, 0x7fffffff, 1, {{1, 1}}},
    {__LINE__, A100, 0, 0x7fffffff, 1, {{INFINITY, 0}}},
    {__LINE__, A100, 0, 0x7fffffff, 2, {{INFINITY, 1}, {-INFINITY, 1}}},
    {__LINE__, A100, 0xff800000, 0x7fffffff, 1, {{INFINITY, 1}}},
    {__LINE__, A100, 0x7f7fffff, 0xff800000, 1, {{INFINITY, -1}}},
    {__LINE__, A100, 0x7f800000, 0x7f800000, 1, {{-65504, 65504}}},
    /* fp8 on Ada keeps 13 fraction bits: 256 + 2^-5 and 256 + 2^-6 (of a published report), then the low ten bits of f32 are zero */
    {__LINE__, ADA_FP8, 0, 0x43800400, 2, {{256, 1}, {0x1p-3, 0x1p-2}}},
    {__LINE__, ADA_FP8, 0, 0x43800000, 2, {{256, 1}, {0x1p-3, 0x1p-3}}},
    {__LINE__, ADA_FP8, 0x3f8003ff, 0x3f800000, 0, {{0}}}, /* also of c */
    /* fp4 and fp6: 6 * 28; 7.5 * 7.5; 6 * 6 in f16 */
    {__LINE__, "sm_120/mma.m16n8k32.f32.e2m1.e3m2.f32", 0, 0x43280000, 1, {{6, 28}}},
    {__LINE__, "sm_100/tcgen05.m128n8k32.f32.e2m3.e2m3", 0, 0x42610000, 1, {{7.5, 7.5}}},
    {__LINE__, "sm_120/mma.m16n8k32.f16.e2m1.e2m1.f16", 0, 0x5080, 1, {{6, 6}}},
    /* their subnormals keep the least exponent: 0.5 * 2^-4 has 0 - 2, so beside two of them c = 2^-27 is kept and 2^-28 is cut */
    {__LINE__, "sm_120/mma.m16n8k32.f32.e2m1.e3m2.f32", 0x32000000, 0x32000000, 2, {{0.5, 0x1p-4}, {-0.5, 0x1p-4}}},
    {__LINE__, "sm_120/mma.m16n8k32.f32.e2m1.e3m2.f32", 0x31800000, 0x00000000, 2, {{0.5, 0x1p-4}, {-0.5, 0x1p-4}}},
};

static void edges_give_the_bits_worked_out_in_their_comments(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        const struct edge *e = &edges[i];
        double a[4], b[4];
        for (size_t p = 0; p < e->count; p++) {
            a[p] = e->products[p][0];
            b[p] = e->products[p][1];
        }
        EXPECT_CODE(e->line, dot(e->unit, e->count, a, b, e->c), e->d);
    }
}

static void an_overflow_between_blocks_reaches_the_next_as_inf(void **state) {
    (void)state;
    /* two blocks of 8 in one m16n8k16: the first overflows to +Inf; the second holds -2^127, and Inf stays; with -Inf it is NaN */
    double a[16] = {0}, b[16] = {0};
    a[0] = 0x1p64, b[0] = 0x1p64, a[8] = -0x1p127, b[8] = 1;
    assert_int_equal(dot("sm_80/mma.m16n8k16.f32.bf16.bf16.f32", 16, a, b, 0), 0x7f800000);
    a[8] = -INFINITY;
    assert_int_equal(dot("sm_80/mma.m16n8k16.f32.bf16.bf16.f32", 16, a, b, 0), 0x7fffffff);
}

static void the_emulated_fp8_path_adds_c_last_and_takes_k_in_two_halves(void **state) {
    (void)state;
    const char *h100 = "sm_90/mma.m16n8k32.f16.e4m3.e4m3.f16";
    /* c = 1, then 2^-11 twice, at k = 0 and k = 1: with c in the block each would tie away (1 + 2^-10); last, 2^-10 is added whole: the same.
     * 2^-11 alone: the half holds 2^-11, 1 + 2^-11 ties to even: 1 */
    double a[32] = {0}, b[32] = {0};
    a[0] = 0x1p-5, b[0] = 0x1p-6;
    assert_int_equal(dot(h100, 32, a, b, 0x3c00), 0x3c00);
    /* k = 0 and k = 2 are in different halves: 1024 + 0.5 rounds to 1024 in the first half (k 0, 1: tie to even), and again in the second (k 2);
     * in one half (k 0, 1, 4) the two 0.5 make 1 first: 1025 */
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    a[0] = 32, b[0] = 32, a[1] = 0.5, b[1] = 1, a[2] = 0.5, b[2] = 1;
    assert_int_equal(dot(h100, 32, a, b, 0), 0x6400);
    a[2] = 0, a[4] = 0.5, b[4] = 1;
    assert_int_equal(dot(h100, 32, a, b, 0), 0x6401);
}

/* ---- recorded dots ------------------------------------------------------------------------------------------------------ */
#include "recorded_dots.h"

static void recorded_dots_come_back_word_for_word(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof recorded_dots / sizeof recorded_dots[0]; i++) {
        const struct recorded_dot *r = &recorded_dots[i];
        const lb_unit u = unit_named(r->unit);
        uint32_t d;
        assert_int_equal(lb_unit_dot(&u, r->a, r->b, r->k, r->c, &d, NULL), LB_OK);
        EXPECT_CODE(r->line, d, r->d);
    }
}

/* ---- against MPFR -------------------------------------------------------------------------------------------------------- */

#if LB_HAVE_MPFR
static int emin_of(lb_format_id f) {
    switch (f) {
    case LB_F16:
    case LB_E5M2: return -14;
    case LB_E4M3: return -6;
    case LB_E3M2: return -2;
    case LB_E2M3:
    case LB_E2M1: return 0;
    default: return -126;
    }
}

/* One K step by the oracle, the blocks chained by hand. */
static uint32_t oracle_step(const lb_unit *u, const double *a, const double *b, uint32_t c) {
    const int halves = u->path == LB_PATH_TWO_HALVES;
    oracle_unit o = {.a_emin = halves ? -14 : emin_of(u->a),
                     .b_emin = halves ? -14 : emin_of(u->b),
                     .terms = u->terms,
                     .frac_bits = u->frac_bits,
                     .floor_exp = u->floor_exp,
                     .out_bits = u->round == LB_UNIT_RNE_F16  ? 11
                                 : u->round == LB_UNIT_RZ_F32 ? 24
                                                              : 14,
                     .f16 = u->round == LB_UNIT_RNE_F16};
    uint32_t acc = halves ? 0 : c;
    for (int first = 0; first < u->k; first += u->terms) {
        double x[64], y[64];
        for (int i = 0; i < u->terms; i++) {
            int k = first + i;
            if (halves) k = i / 2 * 4 + i % 2 + (first ? 2 : 0);
            x[i] = a[k];
            y[i] = b[k];
        }
        acc = oracle_block(&o, x, y, acc);
    }
    return halves ? oracle_add(o.f16, acc, c) : acc;
}

static bool is_finite_code(const lb_format *f, uint32_t code) {
    return lb_code_class(f, code) <= LB_FINITE;
}

static void every_truncated_row_agrees_with_mpfr_on_seeded_dots(void **state) {
    (void)state;
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_INTEGER};
    enum { ROUNDS = 60 };
    size_t compared = 0;
    for (size_t row = 0; lb_unit_row(row); row++) {
        const lb_unit *u = lb_unit_row(row);
        if (u->path != LB_PATH_TRUNCATED && u->path != LB_PATH_TWO_HALVES) continue; /* test_units_*.c have the others */
        const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fc = lb_format_row(u->c);
        for (uint64_t n = 0; n < ROUNDS * 4; n++) {
            uint32_t ca[64], cb[64], d;
            double a[64], b[64];
            for (size_t i = 0; i < u->k; i++) {
                ca[i] = (uint32_t)lb_draw(fa, dists[n % 4], 11, 1, (n << 16 | row << 8) + i);
                cb[i] = (uint32_t)lb_draw(fb, dists[n % 4], 11, 2, (n << 16 | row << 8) + i);
                a[i] = lb_to_double(fa, ca[i]);
                b[i] = lb_to_double(fb, cb[i]);
            }
            const uint32_t c = n % 3 ? (uint32_t)lb_draw(fc, dists[n / 4 % 4], 11, 3, n << 16 | row << 8) : 0;
            assert_int_equal(lb_unit_dot(u, ca, cb, u->k, c, &d, NULL), LB_OK);
            if (!is_finite_code(fc, d)) continue; /* overflow: by hand above */
            const uint32_t want = oracle_step(u, a, b, c);
            if (d != want) fail_msg("%s seed 11 round %llu: got %08x, MPFR says %08x", u->name, (unsigned long long)n, d, want);
            compared++;
        }
    }
    assert_true(compared > 20000);
}
#endif

/* ---- whole products -------------------------------------------------------------------------------------------------------- */

static void a_gemm_is_the_chain_of_dots_with_zeros_behind_a_ragged_k(void **state) {
    (void)state;
    enum { M = 5, N = 7, K = 43 };
    const char *names[] = {A100, "sm_90/mma.m16n8k32.f16.e5m2.e5m2.f16", "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32"};
    for (size_t t = 0; t < 3; t++) {
        const lb_unit u = unit_named(names[t]);
        uint32_t storage[4][M * K + N * K] = {{0}};
        lb_mat a = lb_mat_of(lb_format_row(u.a), storage[0], M, K), b = lb_mat_of(lb_format_row(u.b), storage[1], K, N);
        lb_mat c = lb_mat_of(lb_format_row(u.c), storage[2], M, N), d = lb_mat_of(lb_format_row(u.d), storage[3], M, N);
        lb_draw_mat(&a, LB_DIST_SPECIAL, t, 1);
        lb_draw_mat(&b, LB_DIST_WIDE, t, 2);
        lb_draw_mat(&c, LB_DIST_NORMAL, t, 3);
        assert_int_equal(lb_unit_gemm(&u, &a, &b, &c, &d, NULL), LB_OK);
        for (size_t i = 0; i < M; i++) {
            for (size_t j = 0; j < N; j++) {
                uint32_t acc = (uint32_t)lb_mat_code(&c, i, j), x[64], y[64];
                for (size_t k = 0; k < K; k += u.k) {
                    size_t count = 0;
                    for (; count < u.k && k + count < K; count++) {
                        x[count] = (uint32_t)lb_mat_code(&a, i, k + count);
                        y[count] = (uint32_t)lb_mat_code(&b, k + count, j);
                    }
                    assert_int_equal(lb_unit_dot(&u, x, y, count, acc, &acc, NULL), LB_OK);
                }
                EXPECT_CODE(__LINE__, (uint32_t)lb_mat_code(&d, i, j), acc);
            }
        }
    }
}

static void wrong_shapes_and_formats_are_refused_with_all_sizes_named(void **state) {
    (void)state;
    const lb_unit u = unit_named(A100);
    uint32_t s[64] = {0};
    lb_error err;
    lb_mat a = lb_mat_of(lb_format_row(LB_F16), s, 2, 8), b = lb_mat_of(lb_format_row(LB_F16), s, 8, 2);
    lb_mat d = lb_mat_of(lb_format_row(LB_F32), s, 2, 2), bad = lb_mat_of(lb_format_row(LB_F16), s, 7, 2);
    lb_mat bf16 = lb_mat_of(lb_format_row(LB_BF16), s, 2, 8);
    assert_int_equal(lb_unit_gemm(&u, &a, &bad, NULL, &d, &err), LB_E_SHAPE);
    assert_non_null(strstr(err.message, "2x8"));
    assert_non_null(strstr(err.message, "7x2"));
    assert_int_equal(lb_unit_gemm(&u, &bf16, &b, NULL, &d, &err), LB_E_FORMAT);
    assert_int_equal(lb_unit_gemm(&u, &a, &b, &bad, &d, &err), LB_E_FORMAT);
    assert_int_equal(lb_unit_mma(&u, &a, &b, NULL, &d, &err), LB_E_SHAPE);
    lb_unit custom = u;
    custom.terms = 3;
    assert_int_equal(lb_unit_gemm(&custom, &a, &b, NULL, &d, &err), LB_E_ARG);
    custom = u;
    custom.d = LB_F16;
    assert_int_equal(lb_unit_gemm(&custom, &a, &b, NULL, &d, &err), LB_E_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_by_its_own_name_and_only_there),
        cmocka_unit_test(full_ptx_spellings_aliases_and_free_sizes_are_accepted),
        cmocka_unit_test(a_wrong_name_answers_with_the_nearest),
        cmocka_unit_test(an_open_row_runs_nothing_and_says_why),
        cmocka_unit_test(edges_give_the_bits_worked_out_in_their_comments),
        cmocka_unit_test(an_overflow_between_blocks_reaches_the_next_as_inf),
        cmocka_unit_test(the_emulated_fp8_path_adds_c_last_and_takes_k_in_two_halves),
        cmocka_unit_test(recorded_dots_come_back_word_for_word),
#if LB_HAVE_MPFR
        cmocka_unit_test(every_truncated_row_agrees_with_mpfr_on_seeded_dots),
#endif
        cmocka_unit_test(a_gemm_is_the_chain_of_dots_with_zeros_behind_a_ragged_k),
        cmocka_unit_test(wrong_shapes_and_formats_are_refused_with_all_sizes_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
