/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Failing checks made small, and the capsules that carry them. This program is also the devices under test: with --device FAULT it is a
 * kernel behind `-- CMD`. */
#include "test.h"

#include "lastbit/shrink.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { M = 12, N = 10, K = 40 };

#define SM_90 "sm_90/mma.m16n8k16.f32.bf16.bf16.f32"
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

static double f32_sum(const lb_mat *a, const lb_mat *b, size_t i, size_t j) {
    float sum = 0;
    for (size_t p = 0; p < a->cols; p++) sum += (float)value_at(a, i, p) * (float)value_at(b, p, j);
    return (double)sum;
}

static double faulty(const char *fault, const char *file, const lb_mat *a, const lb_mat *b, size_t i, size_t j) {
    double sum = 0;
    const size_t row = strcmp(fault, "copied-row") == 0 && i ? i - 1 : i;
    for (size_t p = 0; p < a->cols; p++) sum += value_at(a, row, p) * value_at(b, p, j);
    if (strcmp(fault, "pair") == 0 && a->cols > 1 && value_at(a, i, 0) * value_at(b, 0, j) != 0 &&
        value_at(a, i, 1) * value_at(b, 1, j) != 0)
        sum *= 2;
    if (strcmp(fault, "nan") == 0 && a->cols > 2) sum = NAN;
    if (strcmp(fault, "wide") == 0 && b->cols >= 3 && j == 2) sum += 100;
    if (strcmp(fault, "flaky") == 0 && i == 0 && j == 0 && is_flaky_now(file)) sum += 100;
    if (strcmp(fault, "dies") == 0 || (strcmp(fault, "slips") == 0 && a->cols == 1)) exit(7);
    if (strcmp(fault, "slips") == 0) sum += 100;
    if (strcmp(fault, "f32-wide") == 0) return f32_sum(a, b, i, j) + (b->cols >= 3 && j == 2 ? 100 : 0);
    return sum;
}

static bool case_says(const char *folder, const char *words) {
    char path[1000], text[4096];
    snprintf(path, sizeof path, "%s/case.json", folder);
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    return strstr(text, words) != NULL;
}

static int device(int argc, char **argv) {
    const char *folder = getenv("LASTBIT_CASE");
    const lb_format *bf16 = lb_format_row(LB_BF16);
    char path[1000];
    lb_file *in;
    if (!folder || argc < 4) return 3;
    snprintf(path, sizeof path, "%s/in.safetensors", folder);
    if (lb_file_open(&in, path, NULL, NULL) != LB_OK) return 3;
    const lb_tensor *ta = lb_file_find(in, "a"), *tb = lb_file_find(in, "b");
    const lb_mat a = lb_mat_of(bf16, ta->data, ta->shape[0], ta->shape[1]);
    const lb_tensor *tc = lb_file_find(in, "c");
    lb_mat b = lb_mat_of(bf16, tb->data, tb->shape[0], tb->shape[1]);
    if (case_says(folder, "\"tb\": true")) b = lb_mat_transposed(b);
    uint16_t *d = calloc(a.rows * b.cols + 1, sizeof *d);
    for (size_t i = 0; i < a.rows * b.cols; i++) {
        const double c = tc ? lb_to_double(bf16, ((const uint16_t *)tc->data)[i]) : 0;
        d[i] = (uint16_t)lb_from_double(bf16, faulty(argv[2], argv[3], &a, &b, i / b.cols, i % b.cols) + c);
    }
    const lb_tensor out = {"d", lb_dtype_of_codes(bf16), 2, {a.rows, b.cols}, d, a.rows * b.cols * 2};
    snprintf(path, sizeof path, "%s/out.safetensors", folder);
    const lb_status s = lb_safetensors_write(path, &out, 1, NULL, 0, NULL);
    free(d);
    lb_file_close(in);
    return s == LB_OK ? 0 : 3;
}

/* ---- cases ------------------------------------------------------------------------------------------------------------- */

static char self[1000], folder[] = "/tmp/lastbit-shrink.XXXXXX", capsule_path[200], other_path[200];
static char kernel[] = LB_BINARY_DIR "/examples/my_kernel";
static uint16_t a[M * K], b[K * N];
static lb_contract *m16;
static lb_unit sm_90;

static int set_up(void **state) {
    (void)state;
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0 || !mkdtemp(folder)) return -1;
    self[n] = 0;
    snprintf(capsule_path, sizeof capsule_path, "%s/c.safetensors", folder);
    snprintf(other_path, sizeof other_path, "%s/other", folder);
    lb_mat ma = lb_mat_of(lb_format_row(LB_BF16), a, M, K), mb = lb_mat_of(lb_format_row(LB_BF16), b, K, N);
    lb_draw_mat(&ma, LB_DIST_NORMAL, 9, 1);
    lb_draw_mat(&mb, LB_DIST_NORMAL, 9, 2);
    return lb_contract_open("m16-tc", &m16, NULL) == LB_OK && lb_unit_find(SM_90, &sm_90, NULL) == LB_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    lb_contract_close(m16);
    unlink(capsule_path);
    unlink(other_path);
    return rmdir(folder);
}

static lb_check_options check_by_contract(void) {
    const lb_format *bf16 = lb_format_row(LB_BF16);
    return (lb_check_options){.x = {.op = "matmul", .a = lb_mat_of(bf16, a, M, K), .b = lb_mat_of(bf16, b, K, N), .out = bf16},
                              .contract = m16,
                              .timeout_seconds = 20};
}

static lb_shrunk *shrunk(const lb_check_options *o) {
    lb_shrunk *s;
    lb_error err = {0};
    if (lb_shrink(&(lb_shrink_options){.check = o}, &s, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    assert_int_equal(s->record->verdict, LB_FAIL);
    assert_int_equal(lb_failure_of(s->record), s->failure);
    return s;
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

static lb_verdict judged(const lb_check_options *how, const char *words) {
    lb_capsule *c;
    lb_record *r;
    lb_error err = {0};
    if (lb_capsule_open(&c, capsule_path, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    if (lb_capsule_judge(c, how, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    const lb_verdict v = r->verdict;
    if (!strstr(r->reason, words)) fail_msg("%s: no \"%s\"", r->reason, words);
    lb_record_close(r);
    lb_capsule_close(c);
    return v;
}

static void write_capsule(const lb_shrunk *s, const lb_capsule_notes *notes) {
    lb_error err = {0};
    if (lb_capsule_write(capsule_path, &s->check, s->record, &s->observed, notes, &err) != LB_OK)
        fail_msg("%s: %s", err.place, err.message);
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

/* ---- capsules ---------------------------------------------------------------------------------------------------------- */

static lb_shrunk *lost_tail(void) {
    static char lose[] = "--lose-tail", *bad[] = {kernel, lose, NULL};
    static lb_check_options o;
    o = check_by_contract();
    o.argv = bad;
    return shrunk(&o);
}

static void a_capsule_brings_its_contract_along(void **state) {
    (void)state;
    char path[220];
    lb_contract *own;
    lb_shrunk *s = lost_tail();
    snprintf(path, sizeof path, "%s/rule.json", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"name\": \"mine\", \"rule\": \"ulp\", \"bound\": {\"max_ulp\": 1}}", f);
    fclose(f);
    lb_error err = {0};
    if (lb_contract_open(path, &own, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    s->check.contract = own;
    write_capsule(s, &(lb_capsule_notes){.contract = path, .command = "lastbit shrink …"});
    unlink(path);
    assert_int_equal(judged(&(lb_check_options){0}, "wrong"), LB_FAIL);
    lb_capsule *c;
    assert_int_equal(lb_capsule_open(&c, capsule_path, NULL), LB_OK);
    EXPECT_STRING(__LINE__, lb_capsule_text(c, "command"), "lastbit shrink …");
    EXPECT_STRING(__LINE__, lb_capsule_check(c)->contract->name, own->name);
    assert_non_null(lb_capsule_text(c, "environment"));
    lb_capsule_close(c);
    lb_contract_close(own);
    lb_shrunk_close(s);
}

static void a_capsule_without_an_output_proves_nothing_by_itself(void **state) {
    (void)state;
    char *good[] = {kernel, NULL};
    lb_shrunk *s = lost_tail();
    s->observed = (lb_mat){0};
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    assert_int_equal(judged(&(lb_check_options){0}, "holds no output"), LB_UNPROVEN);
    assert_int_equal(judged(&(lb_check_options){.argv = good}, "exact"), LB_PASS);
}

/* The file again with one key or one tensor changed. */
static void rewrite(const char *key, const char *value, const char *tensor, lb_tensor with) {
    lb_file *f;
    const char *keys[64];
    lb_tensor tensors[8];
    size_t key_count = 0, count = 0;
    bool found = false;
    assert_int_equal(lb_file_open(&f, capsule_path, NULL, NULL), LB_OK);
    for (size_t i = 0; lb_file_metadata_key(f, i); i++) {
        const char *k = lb_file_metadata_key(f, i);
        const bool is_it = key && strcmp(k, key) == 0;
        found = found || is_it;
        if (is_it && !value) continue;
        keys[key_count++] = k;
        keys[key_count++] = is_it ? value : lb_file_metadata(f, k);
    }
    if (key && !found && value) {
        keys[key_count++] = key;
        keys[key_count++] = value;
    }
    for (size_t i = 0; i < lb_file_count(f); i++) {
        const lb_tensor *t = lb_file_tensor(f, i);
        const bool is_it = tensor && strcmp(t->name, tensor) == 0;
        if (is_it && !with.name) continue;
        tensors[count++] = is_it ? with : *t;
    }
    assert_int_equal(lb_safetensors_write(other_path, tensors, count, keys, key_count / 2, NULL), LB_OK);
    lb_file_close(f);
}

static void hostile_capsules_are_refused_in_one_line(void **state) {
    (void)state;
    static const uint32_t wide[4];
    const lb_tensor none = {0}, flat = {"a", lb_dtype_find("u16"), 1, {1}, wide, 2},
                    empty = {"a", lb_dtype_find("u16"), 2, {0, 1}, wide, 0}, typed = {"a", lb_dtype_find("f32"), 2, {1, 1}, wide, 4},
                    tall = {"b", lb_dtype_find("u16"), 2, {2, 1}, wide, 4}, large = {"observed", lb_dtype_find("u16"), 2, {1, 2}, wide, 4},
                    larger = {"expected", lb_dtype_find("u16"), 2, {2, 1}, wide, 4};
    const struct {
        int line;
        const char *key, *value, *tensor;
        lb_tensor with;
        const char *words;
    } rows[] = {{__LINE__, "schema", NULL, NULL, none, "no capsule"},
                {__LINE__, "schema", "lastbit.capsule/2", NULL, none, "lastbit.capsule/2"},
                {__LINE__, "op", "conv", NULL, none, "conv"},
                {__LINE__, "op", NULL, NULL, none, "\"op\""},
                {__LINE__, "a_format", "bf17", NULL, none, "a_format"},
                {__LINE__, "out_format", NULL, NULL, none, "out_format"},
                {__LINE__, "tb", "yes", NULL, none, "tb"},
                {__LINE__, "reference", "guess", NULL, none, "reference"},
                {__LINE__, "contract", "m17", NULL, none, "m17"},
                {__LINE__, "contract", "/etc/passwd.json", NULL, none, "contract_json"},
                {__LINE__, "contract", "x.json:1", NULL, none, "contract"},
                {__LINE__, "contract_json", "{", NULL, none, "contract_json"},
                {__LINE__, "contract", NULL, NULL, none, "neither a unit nor a contract"},
                {__LINE__, "unit", "sm_900/none", NULL, none, "sm_900"},
                {__LINE__, NULL, NULL, "a", none, "\"a\""},
                {__LINE__, NULL, NULL, "expected", none, "\"expected\""},
                {__LINE__, NULL, NULL, "a", flat, "matrices"},
                {__LINE__, NULL, NULL, "a", empty, "not empty"},
                {__LINE__, NULL, NULL, "a", typed, "no codes of bf16"},
                {__LINE__, NULL, NULL, "b", tall, "k"},
                {__LINE__, NULL, NULL, "observed", large, "observed"},
                {__LINE__, NULL, NULL, "expected", larger, "expected"}};
    lb_shrunk *s = lost_tail();
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_capsule *c;
        lb_error err = {0};
        rewrite(rows[i].key, rows[i].value, rows[i].tensor, rows[i].with);
        EXPECT_CODE(rows[i].line, lb_capsule_open(&c, other_path, &err), LB_E_FILE);
        if (!strstr(err.message, rows[i].words) || strchr(err.message, '\n'))
            fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        assert_null(c);
    }
}

/* Cut short anywhere, or with any byte of it changed, a capsule is refused or read: never more than that. */
static void damaged_capsules_do_no_harm(void **state) {
    (void)state;
    static char bytes[1 << 16];
    lb_shrunk *s = lost_tail();
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    FILE *f = fopen(capsule_path, "rb");
    assert_non_null(f);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    size_t refused = 0;
    fclose(f);
    for (size_t i = 0; i < 2 * size; i++) {
        lb_capsule *c;
        lb_error err = {0};
        f = fopen(other_path, "wb");
        assert_non_null(f);
        if (i >= size) bytes[i - size] ^= 0x15;
        fwrite(bytes, 1, i < size ? i : size, f);
        if (i >= size) bytes[i - size] ^= 0x15;
        fclose(f);
        const lb_status status = lb_capsule_open(&c, other_path, &err);
        assert_true(status == LB_OK || (status == LB_E_FILE && err.message[0]));
        assert_true(i >= size || status != LB_OK);
        refused += status != LB_OK;
        lb_capsule_close(c);
    }
    assert_true(refused > size);
}

static void other_expectations_are_not_passed_over(void **state) {
    (void)state;
    static const uint16_t two = 0x4000;
    char *good[] = {kernel, NULL};
    lb_shrunk *s = lost_tail();
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    rewrite(NULL, NULL, "expected", (lb_tensor){"expected", lb_dtype_find("u16"), 2, {1, 1}, &two, 2});
    assert_int_equal(rename(other_path, capsule_path), 0);
    assert_int_equal(judged(&(lb_check_options){.argv = good}, "expects 0x4000 at 0, 0, where this lastbit computes 0x3f80"), LB_UNPROVEN);
    assert_int_equal(judged(&(lb_check_options){0}, "expects 0x4000"), LB_FAIL);
}

static void a_unit_of_ones_own_cannot_go_along(void **state) {
    (void)state;
    lb_shrunk *s = lost_tail();
    lb_unit own = sm_90;
    lb_error err;
    own.frac_bits = 22;
    s->check.unit = &own;
    assert_int_equal(lb_capsule_write(capsule_path, &s->check, s->record, &s->observed, NULL, &err), LB_E_ARG);
    assert_int_equal(lb_unit_set(&own, "frac_bits=23", NULL), LB_OK);
    assert_int_equal(lb_capsule_write(capsule_path, &s->check, s->record, &s->observed, NULL, &err), LB_OK); /* its name says it */
    s->check.unit = NULL;
    lb_shrunk_close(s);
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
        cmocka_unit_test(a_capsule_brings_its_contract_along),
        cmocka_unit_test(a_capsule_without_an_output_proves_nothing_by_itself),
        cmocka_unit_test(hostile_capsules_are_refused_in_one_line),
        cmocka_unit_test(damaged_capsules_do_no_harm),
        cmocka_unit_test(other_expectations_are_not_passed_over),
        cmocka_unit_test(a_unit_of_ones_own_cannot_go_along),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
