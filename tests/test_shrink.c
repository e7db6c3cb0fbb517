/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Failing checks made small. This program is also the devices under test: with --device FAULT it is a
 * kernel behind `-- CMD`. */
#include "shrink_help.h"

#include <math.h>

#define SM_80 "sm_80/mma.m16n8k16.f32.bf16.bf16.f32"

/* ---- the devices ------------------------------------------------------------------------------------------------------- */

static double value_at(const lb_mat *m, size_t r, size_t c) {
    return lb_to_double(m->format, lb_mat_code(m, r, c));
}

/* Wrong as long as a counter in a file is below 8. */
static bool is_flaky_now(const char *path) {
    FILE *f = fopen(path, "a+");
    if (!f) exit(4);
    fputc('x', f);
    const long runs = ftell(f);
    fclose(f);
    return runs < 8;
}

static double f32_sum(const lb_mat *left, const lb_mat *right, size_t i, size_t j) {
    float sum = 0;
    for (size_t p = 0; p < left->cols; p++) sum += (float)value_at(left, i, p) * (float)value_at(right, p, j);
    return (double)sum;
}

static double faulty(const char *fault, const char *file, const lb_mat *left, const lb_mat *right, size_t i, size_t j) {
    double sum = 0;
    const size_t row = strcmp(fault, "copied-row") == 0 && i ? i - 1 : i;
    for (size_t p = 0; p < left->cols; p++) sum += value_at(left, row, p) * value_at(right, p, j);
    if (strcmp(fault, "pair") == 0 && left->cols > 1 && value_at(left, i, 0) * value_at(right, 0, j) != 0 &&
        value_at(left, i, 1) * value_at(right, 1, j) != 0)
        sum *= 2;
    if (strcmp(fault, "nan") == 0 && left->cols > 2) sum = NAN;
    if (strcmp(fault, "wide") == 0 && right->cols >= 3 && j == 2) sum += 100;
    if (strcmp(fault, "flaky") == 0 && i == 0 && j == 0 && is_flaky_now(file)) sum += 100;
    if (strcmp(fault, "dies") == 0 || (strcmp(fault, "slips") == 0 && left->cols == 1)) exit(7);
    if (strcmp(fault, "slips") == 0) sum += 100;
    if (strcmp(fault, "f32-wide") == 0) return f32_sum(left, right, i, j) + (right->cols >= 3 && j == 2 ? 100 : 0);
    return sum;
}

static bool case_says(const char *where, const char *words) {
    char path[1000], text[4096];
    snprintf(path, sizeof path, "%s/case.json", where);
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    return strstr(text, words) != NULL;
}

static int device(int argc, char **argv) {
    const char *where = getenv("LASTBIT_CASE");
    const lb_format *bf16 = lb_format_row(LB_BF16);
    char path[1000];
    lb_file *in;
    if (!where || argc < 4) return 3;
    snprintf(path, sizeof path, "%s/in.safetensors", where);
    if (lb_file_open(&in, path, NULL, NULL) != LB_OK) return 3;
    const lb_tensor *ta = lb_file_find(in, "a"), *tb = lb_file_find(in, "b");
    const lb_mat left = lb_mat_of(bf16, ta->data, ta->shape[0], ta->shape[1]);
    const lb_tensor *tc = lb_file_find(in, "c");
    lb_mat right = lb_mat_of(bf16, tb->data, tb->shape[0], tb->shape[1]);
    if (case_says(where, "\"tb\": true")) right = lb_mat_transposed(right);
    uint16_t *d = calloc(left.rows * right.cols + 1, sizeof *d);
    for (size_t i = 0; i < left.rows * right.cols; i++) {
        const double c = tc ? lb_to_double(bf16, ((const uint16_t *)tc->data)[i]) : 0;
        d[i] = (uint16_t)lb_from_double(bf16, faulty(argv[2], argv[3], &left, &right, i / right.cols, i % right.cols) + c);
    }
    const lb_tensor out = {"d", lb_dtype_of_codes(bf16), 2, {left.rows, right.cols}, d, left.rows * right.cols * 2};
    snprintf(path, sizeof path, "%s/out.safetensors", where);
    const lb_status s = lb_safetensors_write(path, &out, 1, NULL, 0, NULL);
    free(d);
    lb_file_close(in);
    return s == LB_OK ? 0 : 3;
}

/* ---- cases ------------------------------------------------------------------------------------------------------------- */

static char self[1000];

static int find_self(void **state) {
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return -1;
    self[n] = 0;
    return set_up(state);
}

static void expect_shape(const lb_shrunk *s, size_t m, size_t n, size_t k) {
    const lb_case *x = &s->check.x;
    if (lb_case_m(x) != m || lb_case_n(x) != n || lb_case_k(x) != k)
        fail_msg("%zux%zux%zu, want %zux%zux%zu", lb_case_m(x), lb_case_n(x), lb_case_k(x), m, n, k);
}

static size_t count_values(const lb_mat *m, double value) {
    size_t count = 0;
    for (size_t i = 0; i < m->rows * m->cols; i++) count += value_at(m, i / m->cols, i % m->cols) == value;
    return count;
}

/* ---- shrinking --------------------------------------------------------------------------------------------------------- */

static void a_lost_tail_comes_down_to_one_product(void **state) {
    (void)state;
    char lose[] = "--lose-tail", *bad[] = {kernel, lose, NULL}, *good[] = {kernel, NULL};
    lb_check_options o = check_by_contract();
    o.argv = bad;
    lb_shrunk *s = shrunk(&o);
    expect_shape(s, 1, 1, 1);
    assert_int_equal(s->failure, LB_FAILURE_VALUE);
    assert_true(s->from_m == M && s->from_n == N && s->from_k == K && !s->out_of_budget && s->runs < 100);
    assert_true(count_values(&s->check.x.a, 1) == 1 && count_values(&s->check.x.b, 1) == 1);
    assert_true(value_at(&s->observed, 0, 0) == 0);
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    assert_int_equal(judged(&(lb_check_options){0}, "1 of 1 elements are wrong"), LB_FAIL);
    assert_int_equal(judged(&(lb_check_options){.argv = bad}, "1 of 1 elements are wrong"), LB_FAIL);
    assert_int_equal(judged(&(lb_check_options){.argv = good}, "exact"), LB_PASS);
}

/* The least case that has each fault: k and the number of ones are what the fault needs, and no less would fail. */
static void what_is_left_is_what_the_fault_needs(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *fault;
        size_t m, n, k;
        lb_failure failure;
    } rows[] = {{__LINE__, "copied-row", 2, 1, 1, LB_FAILURE_VALUE}, {__LINE__, "pair", 1, 1, 2, LB_FAILURE_VALUE},
                {__LINE__, "wide", 1, 3, 1, LB_FAILURE_VALUE},       {__LINE__, "nan", 1, 1, 3, LB_FAILURE_CLASS},
                {__LINE__, "dies", 1, 1, 1, LB_FAILURE_FAILED},      {__LINE__, "slips", 1, 1, 2, LB_FAILURE_VALUE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char mode[] = "--device", fault[20], *argv[] = {self, mode, fault, mode, NULL};
        lb_check_options o = check_by_contract();
        snprintf(fault, sizeof fault, "%s", rows[i].fault);
        o.argv = argv;
        lb_shrunk *s = shrunk(&o);
        const lb_case *x = &s->check.x;
        if (lb_case_m(x) != rows[i].m || lb_case_n(x) != rows[i].n || lb_case_k(x) != rows[i].k)
            fail_msg("row at %s:%d: %zux%zux%zu", __FILE__, rows[i].line, lb_case_m(x), lb_case_n(x), lb_case_k(x));
        assert_int_equal(s->failure, rows[i].failure);
        const size_t elements = (rows[i].m + rows[i].n) * rows[i].k;
        assert_int_equal(count_values(&x->a, 0) + count_values(&x->a, 1) + count_values(&x->b, 0) + count_values(&x->b, 1), elements);
        assert_true((s->observed.codes != NULL) == (rows[i].failure != LB_FAILURE_FAILED));
        lb_shrunk_close(s);
    }
}

/* Column 0 of row 0 cancels to 2^-30, of which f32 keeps nothing. Beside its row that is legal, alone it would be refused. */
static void a_cut_that_a_correct_kernel_fails_is_no_step(void **state) {
    (void)state;
    enum { DEPTH = 4, WIDTH = 3 };
    char mode[] = "--device", fault[] = "f32-wide", *argv[] = {self, mode, fault, mode, NULL};
    const double left[DEPTH] = {1, 0x1p-15, -1, 1}, right[DEPTH] = {1, 0x1p-15, 1, 0};
    uint16_t x[DEPTH], y[DEPTH * WIDTH];
    lb_check_options o = check_by_contract();
    for (size_t p = 0; p < DEPTH; p++) {
        x[p] = (uint16_t)lb_from_double(o.x.out, left[p]);
        for (size_t j = 0; j < WIDTH; j++) y[p * WIDTH + j] = (uint16_t)lb_from_double(o.x.out, j ? (double)(p * 3 + j) : right[p]);
    }
    o.x.a = lb_mat_of(o.x.out, x, 1, DEPTH);
    o.x.b = lb_mat_of(o.x.out, y, DEPTH, WIDTH);
    o.argv = argv;
    lb_shrunk *s = shrunk(&o);
    assert_int_equal(lb_case_n(&s->check.x), 3);
    assert_true(s->record->first.col == 2 && value_at(&s->observed, 0, 2) >= 100);
    lb_shrunk_close(s);
}

static void strides_and_c_go_where_they_have_no_part(void **state) {
    (void)state;
    static uint16_t bt[N * K], c[M * N];
    char mode[] = "--device", fault[] = "pair", *bad[] = {self, mode, fault, mode, NULL};
    lb_check_options o = check_by_contract();
    for (size_t i = 0; i < K * N; i++) bt[i % N * K + i / N] = b[i];
    for (size_t i = 0; i < M * N; i++) c[i] = 0x3f80;
    o.x.b = lb_mat_of(o.x.out, bt, N, K);
    o.x.b_transposed = true;
    o.x.c = lb_mat_of(o.x.out, c, M, N);
    o.argv = bad;
    lb_shrunk *s = shrunk(&o);
    expect_shape(s, 1, 1, 2);
    assert_true(!s->check.x.b_transposed && !s->check.x.c.codes);
    lb_shrunk_close(s);
}

static void another_unit_is_told_by_few_products(void **state) {
    (void)state;
    lb_check_options o = check_by_contract();
    o.contract = NULL;
    o.unit = &sm_90;
    o.x.out = lb_format_row(LB_F32);
    o.on = "model:" SM_80;
    lb_shrunk *s = shrunk(&o);
    expect_shape(s, 1, 1, lb_case_k(&s->check.x));
    assert_true(lb_case_k(&s->check.x) <= 16);
    assert_true(count_values(&s->check.x.a, 0) + count_values(&s->check.x.a, 1) > 0);
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    assert_int_equal(judged(&(lb_check_options){.on = "model:" SM_80}, "wrong"), LB_FAIL);
    assert_int_equal(judged(&(lb_check_options){.on = "model:" SM_90}, "exact"), LB_PASS);
}

/* Element (7, 3) is off by a step of the row's scale; every other element is right, and some of them have cancelled. */
static void a_given_output_loses_rows_and_columns_alone(void **state) {
    (void)state;
    static uint16_t d[M * N];
    lb_check_options o = check_by_contract();
    lb_mat out = lb_mat_of(o.x.out, d, M, N);
    assert_int_equal(lb_reference_matmul(&o.x, LB_REFERENCE_EXACT, NULL, 0, NULL, 0, &out, NULL, NULL, NULL), LB_OK);
    d[7 * N + 3] = (uint16_t)lb_from_double(o.x.out, value_at(&out, 7, 3) + 2);
    o.actual = &out;
    lb_shrunk *s = shrunk(&o);
    expect_shape(s, 1, 1, K);
    assert_memory_equal(s->check.x.a.codes, a + 7 * K, K * sizeof *a);
    for (size_t p = 0; p < K; p++) assert_int_equal(lb_mat_code(&s->check.x.b, p, 0), b[p * N + 3]);
    assert_int_equal(lb_mat_code(&s->observed, 0, 0), d[7 * N + 3]);
    assert_non_null(strstr(s->kept, "no device to run again"));
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    assert_int_equal(judged(&(lb_check_options){0}, "wrong"), LB_FAIL);
}

static void a_budget_ends_the_search_with_what_there_is(void **state) {
    (void)state;
    char lose[] = "--lose-tail", *bad[] = {kernel, lose, NULL};
    lb_check_options o = check_by_contract();
    lb_shrunk *s;
    o.argv = bad;
    assert_int_equal(lb_shrink(&(lb_shrink_options){.check = &o, .runs = 3}, &s, NULL), LB_OK);
    assert_true(s->out_of_budget && s->runs == 3 && lb_case_k(&s->check.x) > 1 && s->record->verdict == LB_FAIL);
    lb_shrunk_close(s);
}

static void what_does_not_fail_is_refused(void **state) {
    (void)state;
    char mode[] = "--device", flaky[] = "flaky", *good[] = {kernel, NULL}, *unsure[] = {self, mode, flaky, other_path, NULL};
    lb_shrunk *s;
    lb_error err;
    lb_check_options o = check_by_contract();
    o.argv = good;
    assert_int_equal(lb_shrink(&(lb_shrink_options){.check = &o}, &s, &err), LB_E_ARG);
    assert_non_null(strstr(err.message, "does not fail: PASS"));
    o.sample = 2;
    assert_int_equal(lb_shrink(&(lb_shrink_options){.check = &o}, &s, &err), LB_E_ARG);
    o.sample = 0;
    o.argv = unsure;
    assert_int_equal(lb_shrink(&(lb_shrink_options){.check = &o, .runs = 8}, &s, &err), LB_E_DEVICE);
    assert_non_null(strstr(err.message, "not deterministic"));
    assert_null(s);
}

static void each_kind_of_failure_has_a_name(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *cause;
        lb_counts counts;
        lb_failure failure;
    } rows[] = {{__LINE__, "the device crashed", {0}, LB_FAILURE_CRASHED},
                {__LINE__, "the device hung", {0}, LB_FAILURE_HUNG},
                {__LINE__, "writes to its inputs", {0}, LB_FAILURE_INPUTS},
                {__LINE__, "writes outside the output", {.guard_damage = 3}, LB_FAILURE_GUARDS},
                {__LINE__, "", {.compared = 9, .wrong = 4, .not_written = 4}, LB_FAILURE_UNWRITTEN},
                {__LINE__, "", {.compared = 9, .wrong = 4, .class_mismatch = 1}, LB_FAILURE_CLASS},
                {__LINE__, "", {.compared = 9, .wrong = 4}, LB_FAILURE_VALUE}};
    lb_record *r;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    assert_int_equal(lb_failure_of(r), LB_FAILURE_NONE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        r->verdict = LB_FAIL;
        r->counts = rows[i].counts;
        lb_record_text(&r->cause, "%s", rows[i].cause);
        EXPECT_CODE(rows[i].line, lb_failure_of(r), rows[i].failure);
        assert_true(lb_failure_name(rows[i].failure)[0] != 0);
    }
    lb_record_close(r);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--device") == 0) return device(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_tail_comes_down_to_one_product),
        cmocka_unit_test(what_is_left_is_what_the_fault_needs),
        cmocka_unit_test(a_cut_that_a_correct_kernel_fails_is_no_step),
        cmocka_unit_test(strides_and_c_go_where_they_have_no_part),
        cmocka_unit_test(another_unit_is_told_by_few_products),
        cmocka_unit_test(a_given_output_loses_rows_and_columns_alone),
        cmocka_unit_test(a_budget_ends_the_search_with_what_there_is),
        cmocka_unit_test(what_does_not_fail_is_refused),
        cmocka_unit_test(each_kind_of_failure_has_a_name),
    };
    return cmocka_run_group_tests(tests, find_self, tear_down);
}
