/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Parameters as text: the alternative of each open edge by hand, what is refused, and that rows and pages name what is accepted. */
#include "units_help.h"

#include "lastbit/run.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- alternatives, worked out by hand ----------------------------------------------------------------------------------- */

#define A100_BF16 "sm_80/mma.m16n8k8.f32.bf16.bf16.f32"
#define A100_F16  "sm_80/mma.m16n8k8.f16.f16.f16.f16"
#define A100_16   "sm_80/mma.m16n8k16.f32.bf16.bf16.f32"
#define CDNA1     "gfx908/mfma.m16n16k16.f32.f16.f16.f32"
#define CDNA2_OLD "gfx90a/mfma.m16n16k8.f32.bf16.bf16.f32"
#define CDNA3     "gfx942/mfma.m16n16k16.f32.f16.f16.f32"

/* The row, then the row with its settings. */
static const unit_edge edges[] = {
    /* D1. -1.125*2^-143 - 1.125*2^-155 + 1.125*2^-142: the floor 2^-132 keeps all, 71 * 2^-149 truncated; with 2^-126 the last place is
     * 2^-150, the second term goes, and 1.125*2^-143 = 72 * 2^-149 */
    {__LINE__, A100_BF16, 0, 71, 3, {{-1.125 * 0x1p-100, 0x1p-43}, {-1.125 * 0x1p-100, 0x1p-55}, {1.125 * 0x1p-100, 0x1p-42}}},
    {__LINE__,
     A100_BF16 "+floor_exp=-126",
     0,
     72,
     3,
     {{-1.125 * 0x1p-100, 0x1p-43}, {-1.125 * 0x1p-100, 0x1p-55}, {1.125 * 0x1p-100, 0x1p-42}}},
    {__LINE__,
     A100_BF16 "+e_lim=-126",
     0,
     72,
     3,
     {{-1.125 * 0x1p-100, 0x1p-43}, {-1.125 * 0x1p-100, 0x1p-55}, {1.125 * 0x1p-100, 0x1p-42}}},
    {__LINE__,
     A100_BF16 "+floor_exp=none",
     0,
     71,
     3,
     {{-1.125 * 0x1p-100, 0x1p-43}, {-1.125 * 0x1p-100, 0x1p-55}, {1.125 * 0x1p-100, 0x1p-42}}},
    /* f16: 2^-44 above a tie, which a floor of 2^-14 (last place 2^-38) cuts: to even, 0 */
    {__LINE__, A100_F16, 0, 1, 3, {{0x1p-22, 0x1p-22}, {-0x1p-11, 0x1p-12}, {1.25 * 0x1p-11, 0x1p-12}}},
    {__LINE__, A100_F16 "+floor_exp=-14", 0, 0, 3, {{0x1p-22, 0x1p-22}, {-0x1p-11, 0x1p-12}, {1.25 * 0x1p-11, 0x1p-12}}},
    /* D2. 0 * 2^127 as 2^-126 * 2^127 has exponent 1: last place 2^-23, which cuts 2^-24 and 2^-25 */
    {__LINE__, A100_BF16, 0, 0x33c00000, 3, {{0, 0x1p127}, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-13}}},
    {__LINE__, A100_BF16 "+zero_products=count", 0, 0, 3, {{0, 0x1p127}, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-13}}},
    {__LINE__, A100_BF16 "+zero_products=count", 0, 0x33c00000, 3, {{0, 0x1p116}, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-13}}}, /* -10: 2^-34 */
    /* D3. c = -2^-20, -2^-39, -1.25*2^-23: -18.5 * 2^-24, and 2^-39 more where c's own exponent keeps it: 19 */
    {__LINE__, A100_F16, 0x8010, 0x8012, 2, {{-0x1p-19, 0x1p-20}, {-1.25 * 0x1p-11, 0x1p-12}}},
    {__LINE__, A100_F16 "+c_subnormal=own", 0x8010, 0x8013, 2, {{-0x1p-19, 0x1p-20}, {-1.25 * 0x1p-11, 0x1p-12}}},
    /* D4. 2^128 far beyond, -2^128, and 65504 + 16 by rounding */
    {__LINE__, A100_BF16 "+overflow=max", 0, 0x7f7fffff, 1, {{0x1p64, 0x1p64}}},
    {__LINE__, A100_BF16 "+overflow=max", 0, 0xff7fffff, 1, {{-0x1p64, 0x1p64}}},
    {__LINE__, A100_BF16 "+overflow=max,round=e8m13_rz", 0, 0x7f7ffc00, 1, {{0x1p64, 0x1p64}}},
    {__LINE__, A100_F16 "+overflow=max", 0x7bff, 0x7bff, 1, {{4, 4}}},
    {__LINE__, A100_BF16 "+overflow=max", 0x7f800000, 0x7f800000, 1, {{1, 1}}}, /* an Inf stays one */
    /* D5 */
    {__LINE__, A100_BF16, 0, 0x80000000, 1, {{-0x1p-80, 0x1p-72}}},
    {__LINE__, A100_BF16 "+tiny_sign=plus", 0, 0, 1, {{-0x1p-80, 0x1p-72}}},
    {__LINE__, A100_BF16 "+tiny_sign=plus", 0, 0x80000001, 1, {{-0x1p-80, 0x1p-69}}},
    /* D6, in a block and on a path that works on codes */
    {__LINE__, A100_BF16 "+nan=7fc00000", 0, 0x7fc00000, 1, {{NAN, 1}}},
    {__LINE__, A100_F16 "+nan=fe01", 0, 0xfe01, 1, {{INFINITY, 0}}},
    {__LINE__, CDNA3, 0, 0x7fc00000, 1, {{NAN, 1}}},
    {__LINE__, CDNA3 "+nan=ffc00001", 0, 0xffc00001, 1, {{NAN, 1}}},
    /* D7. 1 + 2^-24 + 2^-24: exactly, 1 + 2^-23; in pairs (1 + 2^-24) is a tie, 1, and 1 + 2^-24 another */
    {__LINE__, CDNA1, 0, 0x3f800001, 3, {{1, 1}, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12}}},
    {__LINE__, CDNA1 "+path=pairwise,subnormals=keep", 0, 0x3f800000, 3, {{1, 1}, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12}}},
    {__LINE__, CDNA1 "+path=pairwise,subnormals=keep", 1, 1, 0, {{0}}},
    {__LINE__, CDNA1 "+path=pairwise", 1, 0, 0, {{0}}},
    /* D11. 1 - 1.5*2^-24 + 2^-32: T floored at 2^-31 is -1.5*2^-24, the sum a tie, to even 1 - 2^-23; with 32 bits it is above the tie */
    {__LINE__, CDNA3, 0x3f800000, 0x3f7ffffe, 2, {{-1.5 * 0x1p-12, 0x1p-12}, {0x1p-16, 0x1p-16}}},
    {__LINE__, CDNA3 "+late_floor=twice", 0x3f800000, 0x3f7fffff, 2, {{-1.5 * 0x1p-12, 0x1p-12}, {0x1p-16, 0x1p-16}}},
    /* and behind normalising once more: c = 2, so 31 bits below the sum's 1 are 2^-30: 2 + 2^-23 + 2^-31 falls to the tie, to even */
    {__LINE__, CDNA3 "+late_floor=twice", 0x40000000, 0x40000000, 2, {{0x1p-11, 0x1p-12}, {0x1p-16, 0x1p-15}}},
    /* D12. the first block overflows to Inf, the second holds -Inf */
    {__LINE__, A100_16, 0, 0x7fffffff, 2, {{0x1p64, 0x1p64}, {0, 0}}},
    /* D13. c = 1, 2^-24 at k = 0 and at k = 2: in pairs each ties to 1; four make 2^-23 first */
    {__LINE__, CDNA2_OLD, 0x3f800000, 0x3f800000, 3, {{0x1p-12, 0x1p-12}, {0, 0}, {0x1p-12, 0x1p-12}}},
    {__LINE__, CDNA2_OLD "+k=4,terms=4", 0x3f800000, 0x3f800001, 3, {{0x1p-12, 0x1p-12}, {0, 0}, {0x1p-12, 0x1p-12}}},
    /* D15. c = 128 and 3 * 2^-18: an add to nearest rounds up to 128 + 2^-16; one block toward zero gives 128 */
    {__LINE__, "sm_100/mma.m16n8k32.f32.e4m3.e4m3.f32", 0x43000000, 0x43000001, 1, {{3 * 0x1p-9, 0x1p-9}}},
    {__LINE__, "sm_100/mma.m16n8k32.f32.e4m3.e4m3.f32+path=truncated,terms=32", 0x43000000, 0x43000000, 1, {{3 * 0x1p-9, 0x1p-9}}},
    /* subnormals: of an operand (2^-15 of f16 is one), of c, of a result */
    {__LINE__, A100_F16, 0, 0x0200, 1, {{0x1p-15, 1}}},
    {__LINE__, A100_F16 "+subnormals=flush_in", 0, 0, 1, {{0x1p-15, 1}}},
    {__LINE__, A100_F16 "+subnormals=flush_in", 0x8010, 0, 0, {{0}}},
    {__LINE__, A100_F16 "+subnormals=flush_in", 0, 0x8200, 1, {{-0x1p-8, 0x1p-7}}},
    {__LINE__, A100_F16 "+subnormals=flush_out", 0, 0x8000, 1, {{-0x1p-8, 0x1p-7}}},
    {__LINE__, A100_F16 "+subnormals=flush_out,tiny_sign=plus", 0, 0, 1, {{-0x1p-8, 0x1p-7}}},
    {__LINE__, A100_F16 "+subnormals=flush", 0x0010, 0x0400, 1, {{0x1p-7, 0x1p-7}}},
    /* plain parameters: a block of 4 chained, other bits, another rounding */
    {__LINE__, A100_F16 "+terms=4,frac_bits=10", 0x3c00, 0x3c00, 1, {{0x1p-5, 1.75 * 0x1p-6}}},
    {__LINE__, A100_BF16 "+round=f32_rz", 0x3f800000, 0x3f800000, 0, {{0}}},
};

static void the_alternatives_of_open_edges_give_the_bits_worked_out_in_their_comments(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        if (strcmp(edges[i].unit, A100_16) == 0) continue; /* below: it wants places along k */
        expect_edges_in(__FILE__, &edges[i], 1);
    }
    const lb_unit row = unit_named(A100_16), step = unit_named(A100_16 "+specials=step");
    uint32_t a[16] = {0}, b[16] = {0}, d;
    a[0] = b[0] = (uint32_t)code_of(LB_BF16, 0x1p64);
    a[8] = (uint32_t)code_of(LB_BF16, -INFINITY), b[8] = (uint32_t)code_of(LB_BF16, 1);
    assert_int_equal(lb_unit_dot(&row, a, b, 16, 0, &d, NULL), LB_OK);
    EXPECT_CODE(__LINE__, d, 0x7fffffff);
    assert_int_equal(lb_unit_dot(&step, a, b, 16, 0, &d, NULL), LB_OK);
    EXPECT_CODE(__LINE__, d, 0xff800000);
}

/* D16, D24: what becomes of an f32 as an operand. */
static void tf32_operands_drop_their_low_bits_or_keep_nan_or_round(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *unit;
        uint32_t a, d; /* times 1 */
    } rows[] = {
        {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32", 0x7f800001, 0x7f800000},
        {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32+tf32=keep_nan", 0x7f800001, 0x7fffffff},
        {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32+tf32=keep_nan", 0x3f801fff, 0x3f800000},
        {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32+tf32=round", 0x3f801fff, 0x3f802000},
        {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32+tf32=round", 0x3f801000, 0x3f800000}, /* a tie, to even */
        {__LINE__, "sm_80/mma.m16n8k8.f32.tf32.tf32.f32+tf32=round", 0x7f800001, 0x7fffffff},
        {__LINE__, "gfx942/mfma.m16n16k8.f32.tf32.tf32.f32", 0x3f801fff, 0x3f800000},
        {__LINE__, "gfx942/mfma.m16n16k8.f32.tf32.tf32.f32+tf32=round", 0x3f801fff, 0x3f802000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_unit u = unit_named(rows[i].unit);
        const uint32_t one = 0x3f800000;
        uint32_t d = 0, product = 0;
        assert_int_equal(lb_unit_dot(&u, &rows[i].a, &one, 1, 0, &d, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, d, rows[i].d);
        const lb_mat ma = lb_mat_of(lb_format_row(LB_TF32), &rows[i].a, 1, 1), mb = lb_mat_of(lb_format_row(LB_TF32), &one, 1, 1);
        lb_mat md = lb_mat_of(lb_format_row(LB_F32), &product, 1, 1);
        assert_int_equal(lb_unit_gemm(&u, &ma, &mb, NULL, &md, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, product, d);
    }
}

/* D17, D18: groups of sixteen under scales of 1; the first product and its negative are in one group or in two. */
static void groups_count_as_they_are_told_to(void **state) {
    (void)state;
#define NV4 "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3"
    static const struct {
        int line;
        const char *unit;
        uint32_t c, d;
        double a;
        int other; /* place of -a */
        uint8_t scale;
    } rows[] = {
        {__LINE__, NV4, 0x2d800000, 0, 6, 1, 0x38}, /* c = 2^-36 beside a group that cancels: last place 2^-35 */
        {__LINE__, NV4 "+zero_group=sum", 0x2d800000, 0x2d800000, 6, 1, 0x38},
        {__LINE__, NV4 "+zero_group=always", 0x2d800000, 0, 6, 1, 0x38},
        {__LINE__, NV4, 0x2d800000, 0x2d800000, 0, 1, 0x38}, /* nothing but zeros */
        {__LINE__, NV4 "+zero_group=always", 0x2d800000, 0, 0, 1, 0x38},
        {__LINE__, NV4 "+zero_group=always", 0x2d800000, 0, 6, 1,
         0},                                                  /* a zero scale has exponent -6, its partner 0: the other groups count too */
        {__LINE__, NV4, 0x30800000, 0x30800000, 6, 16, 0x38}, /* D18: c = 2^-30 */
        {__LINE__, NV4 "+frac_bits=25", 0x30800000, 0, 6, 16, 0x38},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_unit u = unit_named(rows[i].unit);
        uint8_t a[64] = {0}, b[64] = {0}, x[4] = {0x38, 0x38, 0x38, 0x38}, y[4] = {0x38, 0x38, 0x38, 0x38};
        uint32_t d = 0;
        a[0] = (uint8_t)code_of(u.a, rows[i].a), b[0] = b[rows[i].other] = (uint8_t)code_of(u.b, 6);
        a[rows[i].other] = (uint8_t)code_of(u.a, -rows[i].a);
        x[0] = rows[i].scale;
        const lb_mat ma = lb_mat_of(lb_format_row(u.a), a, 1, 64), mb = lb_mat_of(lb_format_row(u.b), b, 64, 1);
        const lb_mat mx = lb_mat_of(lb_format_row(u.scale), x, 1, 4), my = lb_mat_of(lb_format_row(u.scale), y, 4, 1);
        const lb_mat mc = lb_mat_of(lb_format_row(LB_F32), &rows[i].c, 1, 1);
        lb_mat md = lb_mat_of(lb_format_row(LB_F32), &d, 1, 1);
        assert_int_equal(lb_unit_gemm_with(&u, &ma, &mb, &mc, &(lb_unit_operands){.scale_a = &mx, .scale_b = &my}, &md, NULL), LB_OK);
        EXPECT_CODE(rows[i].line, d, rows[i].d);
    }
}

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static void what_is_wrong_is_one_line_and_changes_nothing(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *unit, *text;
        lb_status status;
        const char *says;
    } rows[] = {
        {__LINE__, A100_BF16, "floor_exponent=-126", LB_E_ARG, "did you mean floor_exp"},
        {__LINE__, A100_BF16, "e_lin=-126", LB_E_ARG, "did you mean e_lim"},
        {__LINE__, A100_BF16, "xyzzyxyzzy=1", LB_E_ARG, "`lastbit parameters` lists them"},
        {__LINE__, A100_BF16, "", LB_E_ARG, "is no KEY=VALUE"},
        {__LINE__, A100_BF16, "terms", LB_E_ARG, "\"terms\" is no KEY=VALUE"},
        {__LINE__, A100_BF16, "terms=4,", LB_E_ARG, "is no KEY=VALUE"},
        {__LINE__, A100_BF16, "terms=", LB_E_ARG, "a whole number from 1"},
        {__LINE__, A100_BF16, "terms=4x", LB_E_ARG, "a whole number from 1"},
        {__LINE__, A100_BF16, "terms= 4", LB_E_ARG, "a whole number from 1"},
        {__LINE__, A100_BF16, "terms=0", LB_E_ARG, "a whole number from 1"},
        {__LINE__, A100_BF16, "terms=99999999999999999999", LB_E_ARG, "a whole number from 1"},
        {__LINE__, A100_BF16, "terms=3", LB_E_ARG, "dividing k"},
        {__LINE__, A100_BF16, "frac_bits=49", LB_E_ARG, "from 1 to 48"},
        {__LINE__, A100_BF16, "floor_exp=-2000", LB_E_ARG, "from -1000 to 1000"},
        {__LINE__, A100_BF16, "overflow=saturate", LB_E_ARG, "one of inf|max"},
        {__LINE__, A100_BF16, "zero_products=counts", LB_E_ARG, "did you mean count?"},
        {__LINE__, A100_BF16, "round=f16_rne", LB_E_FORMAT, "c and d must be f16"},
        {__LINE__, A100_BF16, "round=f32_rnd", LB_E_ARG, "did you mean f32 r"},
        {__LINE__, A100_BF16, "path=truncate", LB_E_ARG, "did you mean truncated"},
        {__LINE__, A100_BF16, "path=integer", LB_E_FORMAT, "does not take these formats"},
        {__LINE__, A100_BF16, "a=bf61", LB_E_NAME, "no such number format"},
        {__LINE__, A100_BF16, "nan=7f800000", LB_E_ARG, "is no NaN of f32"},
        {__LINE__, A100_BF16, "nan=17fc00000", LB_E_ARG, "is no NaN of f32"},
        {__LINE__, A100_BF16, "nan=quiet", LB_E_ARG, "a code in hex"},
        {__LINE__, A100_BF16, "tf32=round", LB_E_ARG, "no operand"},
        {__LINE__, A100_BF16, "late_floor=twice", LB_E_ARG, "path truncated does not read it; it reads terms frac_bits floor_exp"},
        {__LINE__, "sm_80/mma.m8n8k4.f64.f64.f64.f64", "frac_bits=10", LB_E_ARG, "path fma_chain does not read it"},
        {__LINE__, "sm_80/mma.m16n8k32.i32.i8.i8.i32", "nan=7fc00000", LB_E_ARG, "path integer does not read it"},
        {__LINE__, CDNA3, "floor_exp=-126", LB_E_ARG, "path late_c does not read it"},
        {__LINE__, "sm_80/mma.m8n8k4.f32.f16.f16.f32", "frac_bits=10", LB_E_UNAVAILABLE, "open"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_unit before = unit_named(rows[i].unit);
        lb_unit u = before;
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_unit_set(&u, rows[i].text, &err), rows[i].status);
        if (!strstr(err.message, rows[i].says)) fail_msg("row at %d: %s: %s", rows[i].line, err.place, err.message);
        assert_memory_equal(&u, &before, sizeof u);
        assert_null(strchr(err.message, '\n'));
    }
    lb_unit u = unit_named(A100_BF16);
    char longest[4096];
    memset(longest, 'k', sizeof longest);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(lb_unit_set(&u, longest, NULL), LB_E_ARG);
    longest[20] = '=';
    assert_int_equal(lb_unit_set(&u, longest, NULL), LB_E_ARG);
}

static void the_name_says_what_was_set_and_is_a_name(void **state) {
    (void)state;
    lb_unit u = unit_named(A100_BF16);
    assert_true(lb_unit_is_plain(&u));
    assert_int_equal(u.evidence, LB_EVIDENCE_RECORDED);
    assert_int_equal(lb_unit_set(&u, "e_lim=-126,terms=4", NULL), LB_OK);
    assert_string_equal(u.name, A100_BF16 "+floor_exp=-126,terms=4");
    assert_true(lb_unit_is_plain(&u)); /* other numbers, no other answers */
    assert_int_equal(u.evidence, LB_EVIDENCE_OPEN);
    assert_int_equal(lb_unit_set(&u, "floor_exp=-130", NULL), LB_OK);
    assert_int_equal(lb_unit_set(&u, "overflow=max", NULL), LB_OK);
    assert_string_equal(u.name, A100_BF16 "+terms=4,floor_exp=-130,overflow=max");
    assert_false(lb_unit_is_plain(&u));
    const lb_unit again = unit_named(u.name);
    assert_string_equal(again.name, u.name);
    assert_true(again.terms == 4 && again.floor_exp == -130 && again.edges.overflow == LB_UNIT_OVERFLOW_MAX);
    assert_string_equal(unit_named("sm_90a/wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16+frac_bits=24").name,
                        "sm_90/wgmma.m64n128k16.f32.f16.f16+frac_bits=24");
    lb_unit unused;
    lb_error err;
    assert_int_equal(lb_unit_find(A100_BF16 "+", &unused, &err), LB_E_ARG);
    assert_int_equal(lb_unit_find("sm_80/mma+terms=4", &unused, &err), LB_E_NAME);
    /* a unit whose answers its path does not read is refused where it runs */
    lb_unit wrong = unit_named("sm_80/mma.m8n8k4.f64.f64.f64.f64");
    wrong.edges.overflow = LB_UNIT_OVERFLOW_MAX;
    double x = 1;
    const lb_mat m = lb_mat_of(lb_format_row(LB_F64), &x, 1, 1);
    lb_mat d = m;
    assert_int_equal(lb_unit_gemm(&wrong, &m, &m, NULL, &d, &err), LB_E_ARG);
    wrong = unit_named(A100_BF16);
    wrong.edges.overflow = 2;
    uint32_t code = 0;
    assert_int_equal(lb_unit_dot(&wrong, &code, &code, 1, 0, &code, &err), LB_E_ARG);
    assert_int_equal(lb_unit_find("sm_80/mma.m8n8k32.i32.u4.i4.i32+a=mxi8", &wrong, &err), LB_E_FORMAT); /* 64ths are no integers */
}

/* ---- what rows and pages promise ------------------------------------------------------------------------------------------ */

/* Each "--set X" in the text, up to a blank, ';', ',' before a blank, '`' or '|'. */
static size_t expect_settings_accepted(const char *text, const lb_unit *u, const char *where) {
    size_t count = 0;
    for (const char *s = text; (s = strstr(s, "--set ")) != NULL;) {
        char setting[128];
        lb_error err;
        lb_unit copy = *u;
        s += strlen("--set ");
        size_t length = strcspn(s, " ;`|\n");
        if (length && s[length - 1] == ',') length--;
        snprintf(setting, sizeof setting, "%.*s", (int)length, s);
        if (lb_unit_set(&copy, setting, &err) != LB_OK) fail_msg("%s: --set %s: %s: %s", where, setting, err.place, err.message);
        count++;
    }
    return count;
}

static void every_setting_that_a_row_names_is_one_that_it_takes(void **state) {
    (void)state;
    size_t count = 0;
    for (size_t i = 0; lb_unit_row(i); i++) {
        const lb_unit *u = lb_unit_row(i);
        if (u->path != LB_PATH_NONE) count += expect_settings_accepted(u->open, u, u->name);
    }
    assert_true(count > 1000);
}

/* docs/open-edges.md: D1 … D18 each on a line; what it sets, a row that names the edge takes; and each row's settings are there. */
static void the_page_of_open_edges_has_all_of_them_and_its_settings_are_accepted(void **state) {
    (void)state;
    char line[4096];
    bool seen[64] = {false};
    size_t settings = 0;
    FILE *f = fopen(LB_SOURCE_DIR "/docs/open-edges.md", "rb");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        int edge = 0, end = 0;
        if (sscanf(line, "| D%2d |%n", &edge, &end) != 1 || !end) continue;
        assert_true(edge > 0 && edge < 64 && !seen[edge]);
        seen[edge] = true;
        char key[16];
        snprintf(key, sizeof key, "D%d:", edge);
        for (const char *s = line; (s = strstr(s, "--set ")) != NULL; s++) {
            bool taken = false;
            char one[160];
            snprintf(one, sizeof one, "%.*s", (int)strcspn(s, "`|\n"), s);
            for (size_t i = 0; !taken && lb_unit_row(i); i++) {
                lb_unit u = *lb_unit_row(i);
                taken = u.path != LB_PATH_NONE && strstr(u.open, key) && lb_unit_set(&u, one + strlen("--set "), NULL) == LB_OK;
            }
            if (!taken) fail_msg("D%d: no row that names it takes \"%s\"", edge, one);
            settings++;
        }
    }
    fclose(f);
    for (int i = 1; i <= 18; i++)
        if (!seen[i]) fail_msg("docs/open-edges.md has no D%d", i);
    assert_true(settings >= 14);
}

static void docs_list_every_parameter(void **state) {
    (void)state;
    static char page[65536];
    FILE *f = fopen(LB_SOURCE_DIR "/docs/units.md", "rb");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = 0;
    fclose(f);
    lb_parameter p;
    for (size_t i = 0; lb_unit_parameter(i, &p); i++) {
        char cell[64];
        snprintf(cell, sizeof cell, "| %s |", p.key);
        if (!strstr(page, cell)) fail_msg("docs/units.md has no %s", cell);
        assert_true(*p.values && p.edge);
    }
}

/* ---- units from files ------------------------------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text, size_t length) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, length, f), length);
    fclose(f);
}

static void a_unit_from_json_is_the_one_with_these_parameters(void **state) {
    (void)state;
    const char *path = "test_unit_set.tmp.json";
    static const char text[] =
        "{\"name\": \"lab/probe.1\", \"path\": \"truncated\", \"m\": 8, \"n\": 4, \"k\": 8, \"a\": \"f16\", \"b\": \"f16\","
        " \"d\": \"f32\", \"terms\": 8, \"frac_bits\": 24, \"floor_exp\": -132, \"round\": \"f32 rz\"}";
    write_file(path, text, sizeof text - 1);
    lb_unit u;
    lb_error err;
    if (lb_unit_read(path, &u, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    assert_string_equal(u.name, "lab/probe.1");
    assert_true(u.m == 8 && u.n == 4 && u.k == 8 && u.c == LB_F32 && u.evidence == LB_EVIDENCE_OPEN && *u.note && *u.open);
    const lb_unit row = unit_named("sm_80/mma.m16n8k8.f32.f16.f16.f32");
    for (uint64_t n = 0; n < 500; n++) {
        uint32_t a[8], b[8], x = 1, y = 2;
        for (size_t i = 0; i < 8; i++) {
            a[i] = (uint32_t)lb_draw(lb_format_row(LB_F16), LB_DIST_SPECIAL, 5, 1, 8 * n + i);
            b[i] = (uint32_t)lb_draw(lb_format_row(LB_F16), LB_DIST_WIDE, 5, 2, 8 * n + i);
        }
        assert_int_equal(lb_unit_dot(&u, a, b, 8, 0, &x, NULL), LB_OK);
        assert_int_equal(lb_unit_dot(&row, a, b, 8, 0, &y, NULL), LB_OK);
        assert_int_equal(x, y);
    }
    static const char like[] = "{\"like\": \"sm_80/mma.m16n8k8.f32.f16.f16.f32\", \"frac_bits\": 25, \"overflow\": \"max\"}";
    write_file(path, like, sizeof like - 1);
    assert_int_equal(lb_unit_read(path, &u, &err), LB_OK);
    assert_string_equal(u.name, "sm_80/mma.m16n8k8.f32.f16.f16.f32+frac_bits=25,overflow=max");
    remove(path);
}

static void a_bad_file_is_one_line(void **state) {
    (void)state;
#define WHOLE                                                                                                                              \
    "\"path\": \"truncated\", \"k\": 8, \"a\": \"f16\", \"b\": \"f16\", \"d\": \"f32\", \"round\": \"f32 rz\", \"terms\": 8, "             \
    "\"frac_bits\": 24"
    static const struct {
        int line;
        const char *text, *says;
    } rows[] = {
        {__LINE__, "", "line 1: "},
        {__LINE__, "[]", "a unit is a JSON object"},
        {__LINE__, "{", "line 1: "},
        {__LINE__, "{\"k\": 8, \"k\": 8}", "duplicate"},
        {__LINE__, "\xff\xfe{}", "line 1: "},
        {__LINE__, "{}", "no \"name\": a unit that is like no other needs it"},
        {__LINE__, "{\"name\": \"x\", " WHOLE ", \"frac_bit\": 3}", "unknown key \"frac_bit\"; did you mean \"frac_bits\"?"},
        {__LINE__, "{\"name\": \"x\", " WHOLE ", \"\\n\\u001b[2J\": 3}", "unknown key"},
        {__LINE__, "{\"name\": 3, " WHOLE "}", "\"name\" should be text"},
        {__LINE__, "{\"name\": \"\", " WHOLE "}", "printable"},
        {__LINE__, "{\"name\": \"two words\", " WHOLE "}", "printable"},
        {__LINE__, "{\"name\": \"a+b\", " WHOLE "}", "printable"},
        {__LINE__, "{\"name\": \"x\", " WHOLE ", \"floor_exp\": 1.5}", "\"floor_exp\" should be a whole number or a word"},
        {__LINE__, "{\"name\": \"x\", " WHOLE ", \"floor_exp\": {}}", "\"floor_exp\" should be a whole number or a word"},
        {__LINE__, "{\"name\": \"x\", " WHOLE ", \"overflow\": \"max,terms=4\"}", "\"overflow\" should be"},
        {__LINE__, "{\"name\": \"x\", " WHOLE ", \"floor_exp\": 99999999}", "floor_exp: \"99999999\" is no value"},
        {__LINE__, "{\"name\": \"x\", " WHOLE ", \"scale_block\": 16}", "scale_block: path truncated does not read it"},
        {__LINE__, "{\"like\": \"sm_80/mma.m16n8k8.f32.f16.f16.f32\"}", "sets nothing"},
        {__LINE__, "{\"like\": \"sm_80/mma.m16n8k8.f32.f16.f61.f32\", \"terms\": 4}", "the nearest is sm_80/mma.m16n8k8.f32.f16.f16.f32"},
        {__LINE__, "{\"like\": \"sm_80/mma.m8n8k4.f32.f16.f16.f32\", \"terms\": 4}", "open"},
    };
    const char *path = "test_unit_set.tmp.json";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_unit u;
        lb_error err = {0};
        write_file(path, rows[i].text, strlen(rows[i].text));
        if (lb_unit_read(path, &u, &err) == LB_OK) fail_msg("row at %d is accepted", rows[i].line);
        if (!strstr(err.message, rows[i].says)) fail_msg("row at %d: %s", rows[i].line, err.message);
        assert_null(strchr(err.message, '\n'));
        assert_null(strchr(err.message, 27));
    }
    lb_unit u;
    lb_error err;
    assert_int_equal(truncate(path, 17 << 20), 0);
    assert_int_equal(lb_unit_read(path, &u, &err), LB_E_FILE);
    assert_non_null(strstr(err.message, "larger than 16 MiB"));
    remove(path);
    assert_int_equal(lb_unit_read("absent.json", &u, &err), LB_E_FILE);
    assert_int_equal(lb_unit_read(".", &u, &err), LB_E_FILE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_alternatives_of_open_edges_give_the_bits_worked_out_in_their_comments),
        cmocka_unit_test(tf32_operands_drop_their_low_bits_or_keep_nan_or_round),
        cmocka_unit_test(groups_count_as_they_are_told_to),
        cmocka_unit_test(what_is_wrong_is_one_line_and_changes_nothing),
        cmocka_unit_test(the_name_says_what_was_set_and_is_a_name),
        cmocka_unit_test(every_setting_that_a_row_names_is_one_that_it_takes),
        cmocka_unit_test(the_page_of_open_edges_has_all_of_them_and_its_settings_are_accepted),
        cmocka_unit_test(docs_list_every_parameter),
        cmocka_unit_test(a_unit_from_json_is_the_one_with_these_parameters),
        cmocka_unit_test(a_bad_file_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
