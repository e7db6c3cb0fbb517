/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scalar operations: cases with their source, operations of a warp as CUDA defines them, the grade of a word, names. */
#include "test.h"

#include "lastbit/scalar.h"

#include <math.h>
#include <stdlib.h>

static const lb_scalar_op *op_of(const char *name) {
    const lb_scalar_op *op;
    lb_error err = {0};
    if (lb_scalar_find(name, &op, &err) != LB_OK) fail_msg("%s: %s", name, err.message);
    return op;
}

/* ---- single cases ------------------------------------------------------------------------------------------------------ */

/* Public bug reports that show what goes wrong here: the number behind each is theirs. */
static const struct {
    int line;
    const char *op;
    uint64_t in[3], want;
} cases[] = {
    {__LINE__, "fma.rz.f32", {0x3f80000b, 0x3f80000b, 0xbf800000}, 0x36300007},
    {__LINE__, "fma.rn.f32", {0x3f80000b, 0x3f80000b, 0xbf800000}, 0x36300008},
    {__LINE__, "fma.rn.f32", {0x3f800800, 0x3f800800, 0xbf801000}, 0x33800000}, /* fused: ROCm/rocm-systems#10330 */
    {__LINE__, "cvt.rn.f16.f32", {0x33000000}, 0x0000},                         /* half of the least subnormal: numpy#12721 */
    {__LINE__, "cvt.rn.f16.f32", {0x33000001}, 0x0001},
    {__LINE__, "cvt.rn.f16.f32", {0x34200000}, 0x0002}, /* ties: numpy#22704 */
    {__LINE__, "cvt.rn.f16.f32", {0x34600000}, 0x0004},
    {__LINE__, "cvt.rn.f16.f32", {0x3f801008}, 0x3c01}, /* 1+2^-11+2^-20: pocl#2211 */
    {__LINE__, "cvt.rn.f16.f32", {0x477fefff}, 0x7bff},
    {__LINE__, "cvt.rn.f16.f32", {0x477ff000}, 0x7c00},
    {__LINE__, "cvt.rn.bf16.f32", {0x3f808000}, 0x3f80}, /* 1bit-MONSTER#640 */
    {__LINE__, "cvt.rn.bf16.f32", {0x3f808001}, 0x3f81},
    {__LINE__, "cvt.rn.bf16.f32", {0x3f818000}, 0x3f82},
    {__LINE__, "cvt.rn.bf16.f32", {0x00400000}, 0x0040},                         /* a subnormal: llama.cpp#7843 */
    {__LINE__, "cvt.rn.satfinite.e4m3x2.f32", {0x43e00000, 0x447a0000}, 0x7e7e}, /* 448 and 1000: ml_dtypes#400 */
    {__LINE__, "cvt.rn.satfinite.e4m3x2.f32", {0x7f800000, 0x7fc00000}, 0x7e7f},
    {__LINE__, "cvt.rn.satfinite.e4m3x2.f32", {0x40880002, 0x00000000}, 0x4900}, /* 4.25+2^-20, not through f16: sycl-tla#832 */
    {__LINE__, "cvt.rn.satfinite.e5m2x2.f16x2", {0x48803c80}, 0x483c},           /* 9.0 to 8, 1.125 to 1: triton#5925 */
    {__LINE__, "cvt.rn.f16x2.e4m3x2", {0x0701}, 0x23001800},                     /* subnormals: AiDotNet.Tensors#801 */
    {__LINE__, "cvt.rna.tf32.f32", {0x3f801000}, 0x3f802000},                    /* a tie goes away from zero */
    {__LINE__, "setp.ne.f32", {0x7fc00000, 0x3f800000}, 0},                      /* ordered */
    {__LINE__, "setp.neu.f32", {0x7fc00000, 0x3f800000}, 1},
    {__LINE__, "min.f32", {0x00000000, 0x80000000}, 0x80000000},
    {__LINE__, "max.f32", {0x80000000, 0x00000000}, 0x00000000},
    {__LINE__, "min.f32", {0x7fc00001, 0x40000000}, 0x40000000},
    {__LINE__, "min.NaN.f32", {0x7fc00001, 0x40000000}, 0x7fffffff},
    {__LINE__, "max.xorsign.abs.f32", {0xc0000000, 0x3f800000}, 0xc0000000},
    {__LINE__, "add_rm_f32", {0x3f800000, 0xbf800000}, 0x80000000}, /* an exact zero is negative downward */
    {__LINE__, "add_rn_sat_f32", {0x7fc00000, 0x3f800000}, 0},
    {__LINE__, "fma_rn_relu_f16", {0xbc00, 0x3c00, 0x0000}, 0},
    {__LINE__, "cvt_rzi_s32_f32", {0x4f000000}, 0x7fffffff},
    {__LINE__, "cvt_rzi_u32_f32", {0xbf800000}, 0},
    {__LINE__, "cvt_rzi_s32_f32", {0x7fc00000}, 0},
    {__LINE__, "cvt_rzi_s64_f32", {0x7fc00000}, UINT64_C(0x8000000000000000)},
    {__LINE__, "bfind.u32", {0}, 0xffffffff},
    {__LINE__, "lop3.b32 %o0,%i0,%i1,%i2,0xca;", {0xffff0000, 0x12345678, 0x9abcdef0}, 0x1234def0},
};

static void cases_with_their_source(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t out[LB_SCALAR_MAX_OUT] = {0};
        assert_int_equal(lb_scalar_eval(op_of(cases[i].op), cases[i].in, out, NULL), LB_OK);
        EXPECT_CODE(cases[i].line, out[0], cases[i].want);
    }
}

static void a_nan_of_the_narrow_formats_is_the_canonical_one(void **state) {
    static const struct {
        const char *op;
        uint64_t in[3], want;
    } rows[] = {{"add.rn.f32", {0x7f800000, 0xff800000}, 0x7fffffff},
                {"add.rn.f16", {0x7c00, 0xfc00}, 0x7fff},
                {"fma.rn.bf16", {0x7f80, 0, 0x3f80}, 0x7fff},
                {"mul.rn.f64", {UINT64_C(0x7ff0000000000001), 0}, UINT64_C(0x7ff8000000000001)},
                {"sub.rn.f64", {UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff0000000000000)}, UINT64_C(0x7ff8000000000000)}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t out;
        assert_int_equal(lb_scalar_eval(op_of(rows[i].op), rows[i].in, &out, NULL), LB_OK);
        if (out != rows[i].want) fail_msg("%s: 0x%llx", rows[i].op, (unsigned long long)out);
    }
}

/* ---- a warp -------------------------------------------------------------------------------------------------------------- */

enum { LANES = LB_WARP_LANES };

/* As the functions of CUDA say it: a warp in segments of `width` lanes; no lane reads outside its own, but xor may read an earlier one. */
static int cuda_source(const char *name, int lane, int delta, int width, bool *inside) {
    const int base = lane / width * width, at = lane % width;
    int from = at;
    if (strcmp(name, "shfl_up") == 0) from = at - delta;
    if (strcmp(name, "shfl_down") == 0) from = at + delta;
    if (strcmp(name, "shfl_idx") == 0) from = delta % width;
    *inside = from >= 0 && from < width;
    if (strcmp(name, "shfl_bfly") == 0) {
        *inside = (lane ^ delta) < base + width;
        return *inside ? lane ^ delta : lane;
    }
    return *inside ? base + from : lane;
}

static void shuffles_are_those_of_cuda_for_every_width_and_distance(void **state) {
    static const char *const names[] = {"shfl_up", "shfl_down", "shfl_bfly", "shfl_idx"};
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int width = 2; width <= 32; width *= 2)
            for (int delta = 0; delta < 32; delta++) {
                uint64_t in[LANES * 3], out[LANES * 2];
                /* what CUDA's headers pass: the segments' mask, and the last lane of one, or the first for up */
                const uint64_t c = (uint64_t)(32 - width) << 8 | (k == 0 ? 0 : 0x1f);
                for (int lane = 0; lane < LANES; lane++) {
                    in[3 * lane] = 0x1000u + (unsigned)lane;
                    in[3 * lane + 1] = (unsigned)delta;
                    in[3 * lane + 2] = c;
                }
                assert_int_equal(lb_scalar_eval_warp(op_of(names[k]), in, out, NULL), LB_OK);
                for (int lane = 0; lane < LANES; lane++) {
                    bool inside;
                    const int from = cuda_source(names[k], lane, delta, width, &inside);
                    if (out[2 * lane] != 0x1000u + (unsigned)from || out[2 * lane + 1] != inside)
                        fail_msg("%s width %d delta %d lane %d: word of lane %d, predicate %d; want lane %d, %d", names[k], width, delta,
                                 lane, (int)out[2 * lane] - 0x1000, (int)out[2 * lane + 1], from, inside);
                }
            }
}

static void run_warp(const char *name, const uint32_t *words, uint64_t *out) {
    uint64_t in[LANES];
    for (int lane = 0; lane < LANES; lane++) in[lane] = words[lane];
    assert_int_equal(lb_scalar_eval_warp(op_of(name), in, out, NULL), LB_OK);
}

static void votes_matches_and_reductions_see_every_lane(void **state) {
    uint32_t x[LANES], sum = 0, all_and = UINT32_MAX, all_or = 0, all_xor = 0, ballot = 0;
    int32_t least = INT32_MAX, most = INT32_MIN;
    uint64_t out[LANES * 2];
    (void)state;
    for (int lane = 0; lane < LANES; lane++) {
        x[lane] = (uint32_t)lb_random_u64(3, 1, (uint64_t)lane / 2); /* pairs of equal words */
        sum += x[lane], all_and &= x[lane], all_or |= x[lane], all_xor ^= x[lane];
        ballot |= (uint32_t)((int32_t)x[lane] < 0) << lane;
        least = (int32_t)x[lane] < least ? (int32_t)x[lane] : least;
        most = (int32_t)x[lane] > most ? (int32_t)x[lane] : most;
    }
    const struct {
        const char *op;
        uint32_t want;
    } rows[] = {{"redux_add_u32", sum},
                {"redux_and_b32", all_and},
                {"redux_or_b32", all_or},
                {"redux_xor_b32", all_xor},
                {"redux_min_s32", (uint32_t)least},
                {"redux_max_s32", (uint32_t)most},
                {"vote_ballot", ballot},
                {"vote_any", ballot != 0},
                {"vote_all", ballot == UINT32_MAX},
                {"vote_uni", ballot == 0 || ballot == UINT32_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run_warp(rows[i].op, x, out);
        for (int lane = 0; lane < LANES; lane++)
            if (out[lane] != rows[i].want) fail_msg("%s: lane %d has 0x%llx", rows[i].op, lane, (unsigned long long)out[lane]);
    }
    run_warp("match_any_b32", x, out);
    for (int lane = 0; lane < LANES; lane++) assert_int_equal(out[lane], 3u << (lane / 2 * 2));
    uint64_t in[LANES];
    for (int lane = 0; lane < LANES; lane++) in[lane] = UINT64_C(0x123456789abcdef0);
    for (int last = 0; last < 2; last++) { /* all the same, then all but the last */
        assert_int_equal(lb_scalar_eval_warp(op_of("match_all_b64"), in, out, NULL), LB_OK);
        assert_int_equal(out[0], last ? 0 : UINT32_MAX);
        assert_int_equal(out[1], !last);
        in[LANES - 1]++;
    }
    static const uint32_t no[LANES] = {0};
    run_warp("vote_uni", no, out);
    assert_int_equal(out[0], 1);
    run_warp("vote_any", no, out);
    assert_int_equal(out[0], 0);
}

/* The element in row r, column c of 8 x 8 halves lies in lane 4r + c/2, half c%2. */
static void movmatrix_transposes(void **state) {
    uint32_t x[LANES];
    uint64_t out[LANES];
    (void)state;
    for (uint32_t lane = 0; lane < LANES; lane++) x[lane] = (lane / 4 * 8 + lane % 4 * 2) | (lane / 4 * 8 + lane % 4 * 2 + 1) << 16;
    run_warp("movmatrix_trans", x, out);
    for (uint32_t r = 0; r < 8; r++)
        for (uint32_t c = 0; c < 8; c++) assert_int_equal(out[4 * r + c / 2] >> (16 * (c % 2)) & 0xffff, c * 8 + r);
}

/* Small whole numbers, whose sums are exact in any order; places as the PTX document's figures have them: group = lane / 4, t = lane % 4. */
static void a_product_of_matrices_is_the_product(void **state) {
    uint64_t in[LANES * 10], out[LANES * 4];
    int a[16][16], b[16][8];
    (void)state;
    for (int i = 0; i < 16 * 16; i++) a[i / 16][i % 16] = (int)(lb_random_u64(5, 1, (uint64_t)i) % 9) - 4;
    for (int i = 0; i < 16 * 8; i++) b[i / 8][i % 8] = (int)(lb_random_u64(5, 2, (uint64_t)i) % 9) - 4;
    const lb_format *f16 = lb_format_row(LB_F16);
    for (int lane = 0; lane < LANES; lane++) {
        const int g = lane / 4, t = lane % 4;
        uint64_t *x = in + 10 * lane;
        for (int reg = 0; reg < 4; reg++) {
            const int row = g + 8 * (reg % 2), col = 2 * t + 8 * (reg / 2);
            x[reg] = lb_from_double(f16, a[row][col]) | lb_from_double(f16, a[row][col + 1]) << 16;
        }
        for (int reg = 0; reg < 2; reg++)
            x[4 + reg] = lb_from_double(f16, b[2 * t + 8 * reg][g]) | lb_from_double(f16, b[2 * t + 8 * reg + 1][g]) << 16;
        for (int reg = 0; reg < 4; reg++) x[6 + reg] = lb_from_double(lb_format_row(LB_F32), 100 * lane + reg);
    }
    assert_int_equal(lb_scalar_eval_warp(op_of("hmma_16816_f32"), in, out, NULL), LB_OK);
    for (int lane = 0; lane < LANES; lane++)
        for (int reg = 0; reg < 4; reg++) {
            int sum = 100 * lane + reg;
            for (int k = 0; k < 16; k++) sum += a[lane / 4 + 8 * (reg / 2)][k] * b[k][2 * (lane % 4) + reg % 2];
            assert_int_equal(out[4 * lane + reg], lb_from_double(lb_format_row(LB_F32), sum));
        }
}

/* ---- the grade -------------------------------------------------------------------------------------------------------------- */

static lb_scalar_grade_of grade_of(const char *name, uint64_t a, uint64_t b, uint64_t got) {
    const lb_scalar_op *op = op_of(name);
    const uint64_t in[LB_SCALAR_MAX_IN] = {a, b};
    uint64_t model;
    assert_int_equal(lb_scalar_eval(op, in, &model, NULL), LB_OK);
    return lb_scalar_grade(op, in, 0, model, got);
}

static void a_word_is_graded_by_bits_bound_or_what_is_open(void **state) {
    static const struct {
        int line;
        const char *op;
        uint64_t a, b, got;
        lb_scalar_grade_of want;
    } rows[] = {
        {__LINE__, "add.rn.f32", 0x3f800000, 0x3f800000, 0x40000000, LB_SCALAR_GRADE_SAME},
        {__LINE__, "add.rn.f32", 0x3f800000, 0x3f800000, 0x40000001, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "add.rn.f32", 0x7f800000, 0xff800000, 0x7fc00000, LB_SCALAR_GRADE_ALLOWED}, /* which NaN is open */
        {__LINE__, "add.rn.f32", 0x7f800000, 0xff800000, 0x7f800000, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "add.rn.f16", 0x7c00, 0xfc00, 0x7e00, LB_SCALAR_GRADE_WRONG}, /* documented */
        {__LINE__, "add.rn.f32", 0x00000000, 0x00000000, 0x80000000, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "ex2.approx.f32", 0x40000000, 0, 0x40800002, LB_SCALAR_GRADE_ALLOWED}, /* 4: two ULP above */
        {__LINE__, "ex2.approx.f32", 0x40000000, 0, 0x40800004, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "ex2.approx.f32", 0x00000000, 0, 0x3f800001, LB_SCALAR_GRADE_WRONG},  /* a special value: 1 */
        {__LINE__, "tanh.approx.f32", 0x7f800000, 0, 0x3f7fffff, LB_SCALAR_GRADE_WRONG}, /* 1 */
        {__LINE__, "ex2.approx.f16", 0xcc20, 0, 0x00b6, LB_SCALAR_GRADE_ALLOWED},        /* a subnormal: one step */
        {__LINE__, "ex2.approx.f16", 0xcc20, 0, 0x00b7, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "rcp.approx.f32", 0x00000000, 0, 0x7f7fffff, LB_SCALAR_GRADE_WRONG}, /* Inf */
        {__LINE__, "rcp.approx.f32", 0x40400000, 0, 0x3eaaaaac, LB_SCALAR_GRADE_ALLOWED},
        {__LINE__, "rcp.approx.f32", 0x40400000, 0, 0x3eaaaaad, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "sin.approx.f32", 0x3f800000, 0, 0x3f576aa0, LB_SCALAR_GRADE_ALLOWED}, /* 4 ULP of 2^-24 */
        {__LINE__, "sin.approx.f32", 0x3f800000, 0, 0x3f576ab0, LB_SCALAR_GRADE_WRONG},   /* 2^-20 away */
        {__LINE__, "sin.approx.f32", 0x4b000000, 0, 0x3f000000, LB_SCALAR_GRADE_UNJUDGED},
        {__LINE__, "lg2.approx.f32", 0x3f800001, 0, 0x00000000, LB_SCALAR_GRADE_ALLOWED}, /* absolute near 1 */
        {__LINE__, "lg2.approx.f32", 0x41000001, 0, 0x40400010, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "div.approx.f32", 0x3f800000, 0x7f000000, 0x00000000, LB_SCALAR_GRADE_SAME}, /* above 2^126: zero */
        {__LINE__, "div.approx.f32", 0x3f800000, 0x7f000000, 0x00200000, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "div.approx.f32", 0x3f800000, 0x00000001, 0x7f800000, LB_SCALAR_GRADE_SAME},
        {__LINE__, "div.approx.f32", 0x00000001, 0x00000001, 0x3f000000, LB_SCALAR_GRADE_UNJUDGED},
        {__LINE__, "div.u32", 7, 0, 0x12345678, LB_SCALAR_GRADE_UNJUDGED},
        {__LINE__, "div.u32", 7, 2, 4, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "div.s32", 0x80000000, 0xffffffff, 0, LB_SCALAR_GRADE_UNJUDGED},
        {__LINE__, "cvt.rzi.s64.f32", 0x7fc00000, 0, 0, LB_SCALAR_GRADE_ALLOWED},
        {__LINE__, "cvt.rzi.s64.f32", 0x7fc00000, 0, 1, LB_SCALAR_GRADE_WRONG},
        {__LINE__, "cvt.rzi.u8.f32", 0x40000000, 0, 0x102, LB_SCALAR_GRADE_WRONG}, /* more bits than the word has */
        {__LINE__, "tanh.approx.f16x2", 0x3c003c00, 0, 0x3a193a18, LB_SCALAR_GRADE_ALLOWED},
        {__LINE__, "tanh.approx.f16x2", 0x3c003c00, 0, 0x3a183b00, LB_SCALAR_GRADE_WRONG}, /* one half of the two */
        {__LINE__, "rcp.approx.ftz.f64", UINT64_C(0x4008000000000000), 0, UINT64_C(0x3fd5555500000000), LB_SCALAR_GRADE_SAME},
        {__LINE__, "rcp.approx.ftz.f64", UINT64_C(0x4008000000000000), 0, UINT64_C(0x3fd5555500000001), LB_SCALAR_GRADE_WRONG},
        {__LINE__, "rcp.approx.ftz.f64", UINT64_C(0x4008000000000000), 0, UINT64_C(0x3fd5555600000000), LB_SCALAR_GRADE_UNJUDGED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_STRING(rows[i].line, lb_scalar_grade_name(grade_of(rows[i].op, rows[i].a, rows[i].b, rows[i].got)),
                      lb_scalar_grade_name(rows[i].want));
}

/* ---- names and calls ---------------------------------------------------------------------------------------------------------- */

static void every_row_is_found_by_its_name_and_its_text(void **state) {
    const lb_scalar_op *op, *found;
    (void)state;
    for (size_t i = 0; (op = lb_scalar_row(i)); i++) {
        assert_int_equal(lb_scalar_find(op->name, &found, NULL), LB_OK);
        assert_ptr_equal(found, op);
        assert_int_equal(lb_scalar_find(op->ptx, &found, NULL), LB_OK);
        assert_ptr_equal(found, op);
        assert_int_equal(op->index, i);
        assert_true(*op->source && op->ins > 0 && op->outs > 0);
        assert_true((op->cls == LB_SCALAR_APPROXIMATE) == (*op->bound != 0));
    }
    assert_int_equal(lb_scalar_find("op:shfl.sync.down.b32", &found, NULL), LB_OK);
    assert_string_equal(found->name, "shfl_down");
    assert_int_equal(lb_scalar_find("vote.sync.any.pred", &found, NULL), LB_OK);
    assert_string_equal(found->name, "vote_any");
    lb_error err = {0};
    assert_int_equal(lb_scalar_find("fma.rx.f32", &found, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "did you mean fma.r"));
}

static void calls_that_are_wrong_are_refused(void **state) {
    uint64_t in[LANES * 3] = {0}, out[LANES * 2];
    lb_error err = {0};
    (void)state;
    assert_int_equal(lb_scalar_eval(op_of("shfl_up"), in, out, &err), LB_E_ARG);
    assert_int_equal(lb_scalar_eval_rows(op_of("shfl_up"), 31, in, out, &err), LB_E_SHAPE);
    assert_int_equal(lb_scalar_eval_rows(op_of("add_s32"), 31, in, out, &err), LB_OK);
    assert_null(lb_scalar_row(100000));
    assert_string_equal(lb_word_name((lb_word)99), "?");
    assert_int_equal(lb_word_bits((lb_word)99), 0);
}

static void the_rows_cross_every_pair_of_boundary_values(void **state) {
    static bool seen[24][24];
    uint64_t edges[24];
    size_t pairs = 0;
    (void)state;
    for (int i = 0; i < 24; i++) edges[i] = lb_scalar_input(LB_WORD_F32, 1, 1, (uint64_t)i);
    for (uint64_t row = 0; row < 576; row++) {
        const uint64_t a = lb_scalar_input(LB_WORD_F32, 0, 1, row), b = lb_scalar_input(LB_WORD_F32, 1, 1, row);
        int x = 0, y = 0;
        while (x < 24 && edges[x] != a) x++;
        while (y < 24 && edges[y] != b) y++;
        if (x < 24 && y < 24 && !seen[x][y]) seen[x][y] = true, pairs++;
    }
    assert_int_equal(pairs, 576);
    assert_true(lb_scalar_input(LB_WORD_F32, 0, 1, 600) != lb_scalar_input(LB_WORD_F32, 0, 2, 600)); /* drawn from the seed */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_with_their_source),
        cmocka_unit_test(a_nan_of_the_narrow_formats_is_the_canonical_one),
        cmocka_unit_test(shuffles_are_those_of_cuda_for_every_width_and_distance),
        cmocka_unit_test(votes_matches_and_reductions_see_every_lane),
        cmocka_unit_test(movmatrix_transposes),
        cmocka_unit_test(a_product_of_matrices_is_the_product),
        cmocka_unit_test(a_word_is_graded_by_bits_bound_or_what_is_open),
        cmocka_unit_test(every_row_is_found_by_its_name_and_its_text),
        cmocka_unit_test(calls_that_are_wrong_are_refused),
        cmocka_unit_test(the_rows_cross_every_pair_of_boundary_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
