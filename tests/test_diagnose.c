/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Planted faults are named with the right numbers; noise, and what passes, gets no name. */
#include "test.h"

#include "diagnose_plan.h"
#include "run/plant.h"

#include <time.h>

#define IN  LB_BF16
#define OUT LB_BF16

static void want(plan *p, int i, const char *format, ...) LB_PRINTF(3, 4);
static void want(plan *p, int i, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(p->want[i], sizeof p->want[i], format, args);
    va_end(args);
}

/* ---- faults of the depth and of the operands: before the product ------------------------------------------------------------ */

static void k_times(plan *p, size_t begin, size_t end, double factor) {
    for (size_t i = 0; i < p->m; i++)
        for (size_t q = begin; q < end && q < p->k; q++) p->a[i * p->k + q] *= factor;
}

static void tail_lost(plan *p) {
    const size_t t = pick(p, 1, 24);
    k_times(p, p->k - t, p->k, 0);
    if (t == 1)
        want(p, 0, "K %zu is missing", p->k - 1);
    else
        want(p, 0, "K %zu..%zu is missing, the tail of %zu", p->k - t, p->k - 1, p->k);
}

static void block_missing(plan *p) {
    const size_t size = (size_t)1 << pick(p, 0, 5), at = size * pick(p, 0, p->k / size - 2);
    k_times(p, at, at + size, 0);
    if (size == 1)
        want(p, 0, "K %zu is missing", at);
    else
        want(p, 0, "K %zu..%zu is missing", at, at + size - 1);
}

static void block_doubled(plan *p) {
    const size_t at = 16 * pick(p, 0, p->k / 16 - 2);
    k_times(p, at, at + 16, 2);
    want(p, 0, "K %zu..%zu is counted twice", at, at + 15);
}

static void block_replaced(plan *p) {
    const size_t at = 32 * pick(p, 0, p->k / 32 - 2);
    k_times(p, at, at + 16, 2);
    k_times(p, at + 16, at + 32, 0);
    want(p, 0, "K %zu..%zu is counted twice, K %zu..%zu missing", at, at + 15, at + 16, at + 31);
}

static void stride_missing(plan *p) {
    for (size_t at = 16; at < p->k; at += 32) k_times(p, at, at + 16, 0);
    want(p, 0, "K mod 32 in 16..31 is missing");
}

static void group_scaled(plan *p) {
    const size_t at = 32 * pick(p, 0, p->k / 32 - 1);
    k_times(p, at, at + 32, 0.375);
    want(p, 0, "K %zu..%zu is entered with factor 0.375", at, at + 31);
}

static void a_other_order(plan *p) {
    for (size_t i = 0; i < p->m; i++)
        for (size_t q = 0; q < p->k; q++) {
            const size_t at = q * p->m + i;
            p->a[i * p->k + q] = lb_to_double(p->am.format, lb_mat_code(&p->am, at / p->k, at % p->k));
        }
    want(p, 0, "A is read transposed");
}

static void b_other_order(plan *p) {
    for (size_t q = 0; q < p->k; q++)
        for (size_t j = 0; j < p->n; j++) {
            const size_t at = j * p->k + q;
            p->b[q * p->n + j] = lb_to_double(p->bm.format, lb_mat_code(&p->bm, at / p->n, at % p->n));
        }
    want(p, 0, "B is read transposed");
}

static void a_from(plan *p, size_t (*from)(const plan *p, size_t k, size_t parameter), size_t parameter) {
    for (size_t i = 0; i < p->m; i++)
        for (size_t q = 0; q < p->k; q++) {
            const size_t at = from(p, q, parameter);
            p->a[i * p->k + q] = at < p->k ? lb_to_double(p->am.format, lb_mat_code(&p->am, i, at)) : 0;
        }
}

static size_t xor_of(const plan *p, size_t k, size_t mask) {
    return (k ^ mask) < p->k ? k ^ mask : k;
}

static size_t plus(const plan *p, size_t k, size_t by) {
    (void)p;
    return k + by;
}

static size_t modulo(const plan *p, size_t k, size_t period) {
    (void)p;
    return k % period;
}

static void a_permuted(plan *p) {
    const size_t mask = (size_t)1 << pick(p, 0, 5);
    a_from(p, xor_of, mask);
    want(p, 0, "A against B is permuted along K: k meets k xor %zu:", mask);
}

static void a_shifted(plan *p) {
    const size_t by = pick(p, 1, 4);
    a_from(p, plus, by);
    want(p, 0, "A against B is shifted along K: A's k +%zu meets B's k:", by);
}

static void a_half_again(plan *p) {
    a_from(p, modulo, (p->k + 1) / 2);
    want(p, 0, "A repeats along K: k reads k mod %zu:", (p->k + 1) / 2);
}

static void round_values(double *x, size_t count, lb_format_id f) {
    lb_plant_round_values(x, count, lb_format_row(f));
}

static void both_rounded_to(plan *p, lb_format_id f) {
    round_values(p->a, p->m * p->k, f);
    round_values(p->b, p->k * p->n, f);
    want(p, 0, "A and B are rounded to %s first", lb_format_row(f)->name);
}

static void inputs_bf16(plan *p) {
    both_rounded_to(p, LB_BF16);
}

static void inputs_tf32(plan *p) {
    both_rounded_to(p, LB_TF32);
}

static void b_rounded(plan *p) {
    round_values(p->b, p->k * p->n, LB_E4M3);
    want(p, 0, "B is rounded to e4m3 first");
}

static void tf32_truncated(plan *p) {
    for (size_t i = 0; i < p->m * p->k; i++) p->a[i] = lb_to_double(lb_format_row(LB_TF32), lb_from_double(lb_format_row(LB_F32), p->a[i]));
    for (size_t i = 0; i < p->k * p->n; i++) p->b[i] = lb_to_double(lb_format_row(LB_TF32), lb_from_double(lb_format_row(LB_F32), p->b[i]));
    want(p, 0, "A and B are rounded to tf32 first (truncated)");
}

/* A is subnormal in every third place. */
static void subnormals_flushed(plan *p) {
    for (size_t i = 0; i < p->m; i++)
        for (size_t q = 0; q < p->k; q++) {
            const double small = lb_to_double(p->am.format, lb_mat_code(&p->am, i, q)) * ldexp(1, -11 - (q % 3 == 0 ? 8 : 0));
            lb_store_code(lb_mat_at(&p->am, i, q), 2, lb_from_double(p->am.format, small));
        }
    values_of(p->a, &p->am);
    for (size_t i = 0; i < p->m * p->k; i++)
        if (fabs(p->a[i]) < 0x1p-14) p->a[i] = 0;
    want(p, 0, "A has its subnormals taken as zero");
}

static void misread(plan *p) {
    for (size_t i = 0; i < p->m * p->k; i++) p->a[i] = lb_to_double(lb_format_row(LB_E5M2), lb_mat_code(&p->am, i / p->k, i % p->k));
    want(p, 0, "A is read as e5m2");
}

static void c_times(plan *p, double factor) {
    for (size_t i = 0; i < p->m * p->n; i++) p->c[i] *= factor;
}

static void c_missing(plan *p) {
    c_times(p, 0);
    want(p, 0, "C is missing");
}

static void c_twice(plan *p) {
    c_times(p, 2);
    want(p, 0, "C is added twice");
}

static void c_subtracted(plan *p) {
    c_times(p, -1);
    want(p, 0, "C is subtracted");
}

static void c_halved(plan *p) {
    c_times(p, 0.5);
    want(p, 0, "C enters with factor 0.5 (beta)");
}

static void alpha_three(plan *p) {
    k_times(p, 0, p->k, 3);
    want(p, 0, "A B enters with factor 3 (alpha), C with 1");
}

static void ab_missing(plan *p) {
    k_times(p, 0, p->k, 0);
    want(p, 0, "A B is missing: the output is C");
}

#include "diagnose_after.h"

/* ---- the table ------------------------------------------------------------------------------------------------------------------ */

typedef void fault(plan *p);

static const struct {
    int line;
    fault *before, *after;
    lb_format_id in, out;
    bool with_c;
} faults[] = {
    {__LINE__, tail_lost, NULL, IN, OUT, false},
    {__LINE__, tail_lost, NULL, LB_F16, LB_F32, true},
    {__LINE__, block_missing, NULL, IN, OUT, false},
    {__LINE__, block_missing, NULL, LB_F16, LB_F32, false},
    {__LINE__, block_doubled, NULL, IN, OUT, false},
    {__LINE__, block_replaced, NULL, IN, OUT, false},
    {__LINE__, stride_missing, NULL, IN, OUT, false},
    {__LINE__, group_scaled, NULL, IN, OUT, false},
    {__LINE__, a_other_order, NULL, IN, OUT, false},
    {__LINE__, b_other_order, NULL, IN, OUT, false},
    {__LINE__, a_permuted, NULL, IN, OUT, false},
    {__LINE__, a_shifted, NULL, IN, OUT, false},
    {__LINE__, a_half_again, NULL, IN, OUT, false},
    {__LINE__, inputs_bf16, NULL, LB_F16, LB_F16, false},
    {__LINE__, inputs_tf32, NULL, LB_F32, LB_F32, false},
    {__LINE__, tf32_truncated, NULL, LB_F32, LB_F32, false},
    {__LINE__, b_rounded, NULL, LB_F16, LB_F16, false},
    {__LINE__, subnormals_flushed, NULL, LB_F16, LB_F32, false},
    {__LINE__, misread, NULL, LB_E4M3, OUT, false},
    {__LINE__, c_missing, NULL, IN, OUT, true},
    {__LINE__, c_twice, NULL, IN, OUT, true},
    {__LINE__, c_subtracted, NULL, IN, LB_F32, true},
    {__LINE__, c_halved, NULL, IN, OUT, true},
    {__LINE__, alpha_three, NULL, IN, OUT, true},
    {__LINE__, ab_missing, NULL, IN, OUT, true},
    {__LINE__, NULL, zero_row, IN, OUT, false},
    {__LINE__, NULL, zero_tile, IN, OUT, false},
    {__LINE__, NULL, zero_heads, IN, OUT, false},
    {__LINE__, NULL, one_code_column, IN, OUT, false},
    {__LINE__, NULL, scaled, IN, OUT, false},
    {__LINE__, NULL, scaled_by_some_factor, IN, OUT, false},
    {__LINE__, NULL, scaled_tile, IN, LB_F32, false},
    {__LINE__, NULL, negated, IN, OUT, false},
    {__LINE__, NULL, offset, IN, LB_F32, false},
    {__LINE__, NULL, relu, IN, OUT, false},
    {__LINE__, NULL, absolute, IN, OUT, false},
    {__LINE__, NULL, rows_in_groups_scaled, IN, OUT, false},
    {__LINE__, NULL, rows_swapped, IN, OUT, false},
    {__LINE__, NULL, row_copied, IN, OUT, false},
    {__LINE__, NULL, second_half_shifted, IN, OUT, false},
    {__LINE__, NULL, column_tail_shifted, IN, OUT, false},
    {__LINE__, NULL, columns_in_pairs, IN, OUT, false},
    {__LINE__, NULL, rows_reversed, IN, OUT, false},
    {__LINE__, NULL, transposed, IN, OUT, false},
    {__LINE__, NULL, tiles_transposed, IN, OUT, false},
    {__LINE__, NULL, tile_from_elsewhere, IN, LB_F32, false},
    {__LINE__, NULL, other_leading_dimension, IN, OUT, false},
    {__LINE__, NULL, nan_row, IN, OUT, false},
    {__LINE__, NULL, nan_single, IN, OUT, false},
    {__LINE__, NULL, saturated, IN, LB_F32, false},
    {__LINE__, NULL, overflow, IN, LB_F32, false},
    {__LINE__, NULL, bytes_swapped, IN, OUT, false},
    {__LINE__, NULL, bit_stuck, IN, OUT, false},
    {__LINE__, NULL, stale, IN, OUT, false},
    {__LINE__, NULL, unwritten, IN, OUT, false},
    {__LINE__, NULL, truncated, IN, OUT, false},
    {__LINE__, NULL, rounded_twice, IN, OUT, false},
    {__LINE__, NULL, rounded_short, IN, LB_F32, false},
    {__LINE__, NULL, partials, IN, LB_F32, false},
    {__LINE__, NULL, f16_chain, LB_F16, LB_F32, false},
    {__LINE__, NULL, bf16_chain, IN, OUT, false},
    {__LINE__, NULL, f32_chain, LB_F16, LB_F32, false},
    {__LINE__, NULL, other_unit, LB_F16, LB_F32, false},
    {__LINE__, NULL, narrow_unit, LB_F16, LB_F32, false},
    {__LINE__, NULL, garbage_tile, IN, OUT, false},
};

static const size_t shapes[3][3] = {{64, 64, 128}, {96, 128, 256}, {77, 53, 300}};
static const lb_dist dists[2] = {LB_DIST_NORMAL, LB_DIST_UNIFORM};
static const uint64_t seed = 20261130;

/* Sanitizers are slow: the ragged shape alone, and a part of the noise. */
#if defined(__SANITIZE_ADDRESS__)
enum { FIRST_CASE = 4, NOISE_STEP = 5 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { FIRST_CASE = 4, NOISE_STEP = 5 };
#else
enum { FIRST_CASE = 0, NOISE_STEP = 1 };
#endif
#else
enum { FIRST_CASE = 0, NOISE_STEP = 1 };
#endif

static bool run_fault(size_t f, size_t shape, size_t dist, char *sentence, plan *p) {
    plan_open(p, faults[f].in, faults[f].out, faults[f].with_c, shapes[shape], dists[dist], seed + f * 16 + shape * 2 + dist);
    if (faults[f].before) faults[f].before(p);
    compute(p);
    if (faults[f].after) faults[f].after(p);
    const lb_verdict verdict = judge_plan(p, faults[f].with_c, sentence);
    return verdict == LB_FAIL && p->want[0][0] && strstr(sentence, p->want[0]) && strstr(sentence, p->want[1]);
}

static void every_planted_fault_is_named_with_its_numbers(void **state) {
    size_t missed = 0, tried = 0;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++)
        for (size_t c = FIRST_CASE; c < 6; c++) {
            char sentence[256] = "";
            plan p;
            tried++;
            const clock_t start = clock();
            const bool ok = run_fault(f, c / 2, c % 2, sentence, &p);
            const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
            if (!ok || seconds > 3) {
                missed += !ok;
                print_message("row at %s:%d, %zux%zux%zu, dist %d, %.2g s:\n  got  \"%s\"\n  want \"%s\", \"%s\"\n", __FILE__,
                              faults[f].line, p.m, p.n, p.k, (int)p.dist, seconds, sentence, p.want[0], p.want[1]);
            }
            plan_close(&p);
        }
    print_message("%zu of %zu named\n", tried - missed, tried);
    if (missed) fail_msg("%zu of %zu planted faults are not named", missed, tried);
}

/* ---- no false names ---------------------------------------------------------------------------------------------------------------- */

static double noise_of(const plan *p, size_t e) {
    return lb_to_double(lb_format_row(LB_F32), lb_draw(lb_format_row(LB_F32), LB_DIST_NORMAL, p->seed, 9, e));
}

/* Noise beyond the contract: on all elements, on some, in steps of ULP, or other values throughout. */
static void add_noise(plan *p, size_t kind) {
    static const double sizes[] = {0.03, 0.1, 0.5, 2};
    const double rms = sqrt((double)p->k), size = sizes[kind % 4];
    for (size_t e = 0; e < p->m * p->n; e++) {
        const size_t i = e / p->n, j = e % p->n;
        const uint64_t w = lb_random_u64(p->seed, 10, e);
        if (kind < 4) {
            set_d(p, i, j, get_d(p, i, j) * (1 + size * noise_of(p, e)));
        } else if (kind < 8) {
            set_d(p, i, j, get_d(p, i, j) + size * rms * noise_of(p, e));
        } else if (kind < 12) {
            if (w % (size_t[]){3, 50, 400, 1500}[kind - 8] == 0) set_d(p, i, j, rms * noise_of(p, e));
        } else if (kind < 16) {
            const uint64_t code = lb_mat_code(&p->dm, i, j), step = 1 + w % (kind == 12 ? 3 : 8);
            if (w >> 32 & 1 || kind < 14)
                lb_store_code(lb_mat_at(&p->dm, i, j), p->dm.format->bytes, w >> 40 & 1 ? code + step : code - step);
        } else {
            set_d(p, i, j, rms * noise_of(p, e));
        }
    }
}

static void noise_gets_no_name(void **state) {
    size_t failed = 0, named = 0;
    static const lb_format_id outs[] = {LB_BF16, LB_F32, LB_F16};
    static lb_unit unit;
    (void)state;
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.bf16.bf16.f32", &unit, NULL), LB_OK);
    for (size_t c = 0; c < 306; c += NOISE_STEP) {
        char sentence[256] = "";
        plan p;
        plan_open(&p, LB_BF16, outs[c % 3], false, shapes[c / 3 % 3], dists[c / 9 % 2], seed + 5000 + c);
        compute(&p);
        add_noise(&p, c / 18);
        if (c % 3 == 1 && c % 2) p.unit = &unit, p.by_unit_alone = true;
        const bool fails = judge_plan(&p, false, sentence) == LB_FAIL;
        failed += fails;
        if (fails && sentence[0]) {
            named++;
            print_message("noise %zu, case %zu is named: %s\n", c / 18, c, sentence);
        }
        plan_close(&p);
    }
    print_message("%zu unexplained failures, %zu named\n", failed, named);
    assert_true(failed >= 200 / NOISE_STEP);
    assert_int_equal(named, 0);
}

static void what_passes_has_no_cause(void **state) {
    (void)state;
    for (size_t c = 0; c < 18; c++) {
        char sentence[256] = "";
        plan p;
        plan_open(&p, LB_BF16, c % 2 ? LB_F32 : LB_BF16, false, shapes[c % 3], dists[c / 9], seed + 9000 + c);
        compute(&p);
        assert_int_equal(judge_plan(&p, false, sentence), LB_PASS);
        assert_string_equal(sentence, "");
        plan_close(&p);
    }
}

/* Shapes from 1 on, every format, codes of every class, outputs that have nothing to do with the operands. */
static void whatever_the_operands_nothing_breaks_and_nothing_is_named(void **state) {
    size_t named = 0;
    (void)state;
    for (size_t c = 0; c < 240; c++) {
        plan p = {.seed = seed + c};
        const lb_format *in = lb_format_row((lb_format_id)pick(&p, LB_F64, LB_FORMAT_COUNT - 1)),
                        *out = lb_format_row((lb_format_id)pick(&p, LB_F64, LB_E2M1));
        const size_t m = pick(&p, 1, 40), n = pick(&p, 1, 40), k = pick(&p, 0, 60);
        lb_mat a = new_mat(in, m, k), b = new_mat(in, k, n), d = new_mat(out, m, n), r = new_mat(out, m, n);
        const lb_dist dist = (lb_dist)pick(&p, 0, LB_DIST_COUNT - 1);
        lb_draw_mat(&a, dist, p.seed, 1);
        lb_draw_mat(&b, dist, p.seed, 2);
        lb_draw_mat(&d, LB_DIST_BITS, p.seed, 3);
        lb_diagnose_options o = {.x = {.op = "matmul", .a = a, .b = b, .out = out}, .actual = d, .reference = r};
        lb_diagnosis found;
        lb_error err = {0};
        assert_int_equal(lb_reference_matmul(&o.x, LB_REFERENCE_AUTO, NULL, 0, NULL, 0, &r, NULL, NULL, NULL), LB_OK);
        if (lb_diagnose(&o, &found, &err) != LB_OK) fail_msg("case %zu: %s: %s", c, err.place, err.message);
        assert_true((found.cause == LB_CAUSE_NONE) == !found.sentence[0]);
        assert_true(found.explained <= found.looked && found.looked <= found.wrong);
        if (found.cause && found.cause != LB_CAUSE_NAN_LOST && out->bits >= 16) { /* a lost NaN is a fact here */
            named++;
            print_message("case %zu, %s to %s, %zux%zux%zu, %s: %s\n", c, in->name, out->name, m, n, k, lb_cause_name(found.cause),
                          found.sentence);
        }
        void *all[] = {a.codes, b.codes, d.codes, r.codes};
        for (size_t i = 0; i < 4; i++) free(all[i]);
    }
    print_message("%zu named\n", named);
    assert_int_equal(named, 0);
}

static void every_cause_has_a_name_and_a_line(void **state) {
    (void)state;
    assert_string_equal(lb_cause_name(LB_CAUSE_NONE), "");
    for (int i = 1; i < LB_CAUSE_COUNT; i++) assert_true(lb_cause_name((lb_cause)i)[0] && lb_cause_what((lb_cause)i)[0]);
    assert_null(lb_cause_name(LB_CAUSE_COUNT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cause_has_a_name_and_a_line),
        cmocka_unit_test(every_planted_fault_is_named_with_its_numbers),
        cmocka_unit_test(noise_gets_no_name),
        cmocka_unit_test(what_passes_has_no_cause),
        cmocka_unit_test(whatever_the_operands_nothing_breaks_and_nothing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
