/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Faults are really injected, hidden ones are named with what hides them, and a contract that lets one pass proves nothing. */
#include "test.h"

#include "lastbit/power.h"
#include "lastbit/run.h"

#include <math.h>
#include <stdlib.h>

static const uint64_t seed = 20261130;
static const size_t shapes[3][3] = {{64, 64, 128}, {77, 53, 300}, {24, 9, 40}};
static const char unit_name[] = "sm_80/mma.m16n8k16.f32.f16.f16.f32";

/* A product with C, its right output, and one to plant faults in. */
typedef struct product {
    lb_case x;
    lb_mat right, out;
} product;

static lb_mat new_mat(lb_format_id id, size_t rows, size_t cols) {
    const lb_format *f = lb_format_row(id);
    void *codes = calloc(rows * cols + 1, (size_t)f->bytes);
    assert_non_null(codes);
    return lb_mat_of(f, codes, rows, cols);
}

static void set(lb_mat *m, size_t i, size_t j, double v) {
    lb_store_code(lb_mat_at(m, i, j), m->format->bytes, lb_from_double(m->format, v));
}

static double get(const lb_mat *m, size_t i, size_t j) {
    return lb_to_double(m->format, lb_mat_code(m, i, j));
}

static void find_right(product *p) {
    assert_int_equal(lb_reference_matmul(&p->x, LB_REFERENCE_AUTO, NULL, 0, NULL, 0, &p->right, NULL, NULL, NULL), LB_OK);
}

/* Every fourth row of A is quiet; in f16 that makes subnormals. */
static product open_product(lb_format_id in, lb_format_id out, const size_t *shape, bool with_c) {
    product p = {
        .x = {.op = "matmul", .a = new_mat(in, shape[0], shape[2]), .b = new_mat(in, shape[2], shape[1]), .out = lb_format_row(out)}};
    lb_draw_mat(&p.x.a, LB_DIST_NORMAL, seed, 1);
    lb_draw_mat(&p.x.b, LB_DIST_NORMAL, seed, 2);
    for (size_t i = 0; i < shape[0]; i += 4)
        for (size_t q = 0; q < shape[2]; q++) set(&p.x.a, i, q, get(&p.x.a, i, q) * 0x1p-13);
    if (with_c) {
        p.x.c = new_mat(LB_F32, shape[0], shape[1]);
        lb_draw_mat(&p.x.c, LB_DIST_NORMAL, seed, 3);
    }
    p.right = new_mat(out, shape[0], shape[1]);
    p.out = new_mat(out, shape[0], shape[1]);
    find_right(&p);
    return p;
}

static void close_product(product *p) {
    void *all[] = {p->x.a.codes, p->x.b.codes, p->x.c.codes, p->right.codes, p->out.codes};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* Whether a fault is hidden; why [192]. */
static bool planted(const char *fault, product *p, char *why) {
    bool hidden;
    lb_error err = {0};
    if (lb_fault_plant(fault, &p->x, NULL, &p->right, &p->out, &hidden, why, &err) != LB_OK)
        fail_msg("%s: %s: %s", fault, err.place, err.message);
    return !hidden;
}

static size_t changed(const product *p) {
    size_t n = 0;
    for (size_t e = 0; e < p->right.rows * p->right.cols; e++)
        n += lb_mat_code(&p->right, e / p->right.cols, e % p->right.cols) != lb_mat_code(&p->out, e / p->right.cols, e % p->right.cols);
    return n;
}

/* ---- every row of the table -------------------------------------------------------------------------------------------------- */

/* What hides a fault from all operands of a format. */
static const char *hidden_in(lb_format_id in, const char *fault) {
    if (in == LB_F16 && strcmp(fault, "tf32-inputs") == 0) return "every element of A and B is a tf32";
    if (in == LB_F32 && strcmp(fault, "flushed-subnormals") == 0) return "A, B and the output hold no subnormals";
    return NULL;
}

static void every_fault_changes_the_output_on_three_shapes_or_says_what_hides_it(void **state) {
    (void)state;
    static const lb_format_id ins[] = {LB_F16, LB_F32};
    size_t tried = 0;
    for (size_t c = 0; c < 6; c++) {
        product p = open_product(ins[c % 2], LB_F32, shapes[c / 2], true);
        for (size_t i = 0; lb_fault_row(i); i++) {
            char why[192];
            const lb_fault *f = lb_fault_row(i);
            const char *hides = hidden_in(ins[c % 2], f->name);
            const bool shows = planted(f->name, &p, why);
            if (shows != !hides || (changed(&p) != 0) != shows || (hides && strcmp(why, hides) != 0) || !why[0])
                fail_msg("%s, shape %zu, %s: %s, %zu changed, \"%s\"", f->name, c / 2, p.x.a.format->name, shows ? "planted" : "hidden",
                         changed(&p), why);
            tried++;
        }
        close_product(&p);
    }
    assert_true(tried >= 6 * 20);
}

static void the_words_only_contract_catches_whatever_is_planted(void **state) {
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        product p = open_product(LB_F16, LB_F32, shapes[c], true);
        lb_contract *bitwise;
        lb_record *r;
        assert_int_equal(lb_contract_open("bitwise", &bitwise, NULL), LB_OK);
        const lb_check_options o = {.x = p.x, .actual = &p.right, .contract = bitwise, .power = true};
        assert_int_equal(lb_check(&o, &r, NULL), LB_OK);
        assert_int_equal(r->verdict, LB_PASS);
        assert_true(r->power.present && r->power.score == 1 && r->power.caught == r->power.due);
        for (size_t i = 0; i < r->power.row_count; i++) {
            const lb_power_row *f = &r->power.rows[i];
            const bool hidden = hidden_in(LB_F16, f->fault) != NULL;
            if (f->end != (hidden ? LB_POWER_HIDDEN : LB_POWER_CAUGHT)) fail_msg("%s: %s", f->fault, lb_power_end_name(f->end));
            assert_true(hidden ? f->changed == 0 && isnan(f->error) : f->changed > 0 && f->error > 0);
        }
        lb_record_close(r);
        lb_contract_close(bitwise);
        close_product(&p);
    }
}

/* ---- faults are what they say -------------------------------------------------------------------------------------------------- */

static void single_elements_are_off_by_what_the_name_says(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *fault;
        uint64_t ulp;
    } rows[] = {{__LINE__, "ulp-3", 3}, {__LINE__, "ulp-16", 16}, {__LINE__, "nan", UINT64_MAX}};
    static const lb_format_id outs[] = {LB_BF16, LB_F16, LB_F32, LB_E5M2};
    for (size_t c = 0; c < 12; c++) {
        product p = open_product(LB_F16, outs[c % 4], shapes[1], false);
        char why[192];
        assert_true(planted(rows[c / 4].fault, &p, why));
        EXPECT_CODE(rows[c / 4].line, changed(&p), 1);
        size_t e = 0;
        while (lb_mat_code(&p.right, e / 53, e % 53) == lb_mat_code(&p.out, e / 53, e % 53)) e++;
        EXPECT_CODE(rows[c / 4].line,
                    lb_ulp_distance(p.out.format, lb_mat_code(&p.right, e / 53, e % 53), lb_mat_code(&p.out, e / 53, e % 53)),
                    rows[c / 4].ulp);
        close_product(&p);
    }
}

static void rows_and_columns_hold_what_the_name_says(void **state) {
    (void)state;
    product p = open_product(LB_F16, LB_F32, shapes[1], false);
    const size_t m = 77, n = 53;
    char why[192];
    size_t row, zeros = 0;
    assert_true(planted("zeroed-row", &p, why) && sscanf(why, "row %zu", &row) == 1);
    for (size_t j = 0; j < n; j++) zeros += get(&p.out, row, j) == 0;
    assert_true(zeros == n && changed(&p) == n && row % 4 == 0); /* a quiet one */
    assert_true(planted("half-offset", &p, why));
    for (size_t i = 0; i < m; i++) assert_true(lb_mat_code(&p.out, i, 5) == lb_mat_code(&p.right, i >= 39 ? i - 1 : i, 5));
    assert_true(planted("tail-13", &p, why));
    for (size_t j = 0; j < n; j++) assert_true(lb_mat_code(&p.out, 3, j) == lb_mat_code(&p.right, 3, j >= n - 13 ? j - 1 : j));
    assert_true(planted("stale", &p, why));
    for (size_t j = 0; j < n; j++) assert_true(lb_mat_code(&p.out, 3, j) == lb_mat_code(&p.right, 3, j >= n - 16 ? j - 16 : j));
    assert_true(planted("wrapped-store", &p, why)); /* 53 mod 16 = 5 */
    for (size_t j = 0; j < n; j++) assert_true(lb_mat_code(&p.out, 9, j) == lb_mat_code(&p.right, j < 5 ? 8 : 9, j < 5 ? n - 5 + j : j));
    assert_true(planted("scale-2", &p, why));
    for (size_t i = 0; i < m; i++) assert_true(get(&p.out, i, 7) == 2 * get(&p.right, i, 7));
    close_product(&p);
}

/* The tail of K by another way: fewer columns of A. */
static void a_lost_tail_is_the_product_without_it(void **state) {
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        product p = open_product(LB_F16, LB_F32, shapes[c], true);
        const size_t k = shapes[c][2], kept = k - (k % 16 ? k % 16 : 16);
        char why[192];
        assert_true(planted("lost-k-tail", &p, why));
        p.x.a.cols = p.x.b.rows = kept;
        find_right(&p);
        assert_int_equal(changed(&p), 0);
        close_product(&p);
    }
}

static void a_narrow_sum_is_a_chain_in_f16(void **state) {
    (void)state;
    product p = open_product(LB_F16, LB_F32, shapes[2], false);
    char why[192];
    assert_true(planted("f16-accumulation", &p, why));
    for (size_t i = 0; i < 24; i++)
        for (size_t j = 0; j < 9; j++) {
            lb_value sum = lb_value_of(0);
            for (size_t q = 0; q < 40; q++) { /* exact in 128 bits, rounded behind each 16 */
                const lb_value x = lb_decode(p.x.a.format, lb_mat_code(&p.x.a, i, q)),
                               y = lb_decode(p.x.b.format, lb_mat_code(&p.x.b, q, j));
                sum = lb_value_add(sum, lb_value_mul(x, y));
                if (q % 16 == 15 || q == 39) sum = lb_decode(lb_format_row(LB_F16), lb_encode(lb_format_row(LB_F16), sum, NULL, NULL));
            }
            assert_true(lb_mat_code(&p.out, i, j) == lb_encode(p.out.format, sum, NULL, NULL));
        }
    close_product(&p);
}

/* ---- what hides a fault -------------------------------------------------------------------------------------------------------- */

static void expect_hidden(int line, const char *fault, product *p, const char *want) {
    char why[192];
    find_right(p);
    if (planted(fault, p, why)) fail_msg("row at %s:%d: %s is planted, %zu changed", __FILE__, line, fault, changed(p));
    EXPECT_STRING(line, why, want);
    assert_int_equal(changed(p), 0);
}

static void inputs_that_hide_a_fault_are_named(void **state) {
    (void)state;
    product p = open_product(LB_F16, LB_F32, shapes[1], false);
    for (size_t q = 0; q < 300; q++)
        for (size_t j = 1; j < 53; j++) set(&p.x.b, q, j, get(&p.x.b, q, 0));
    expect_hidden(__LINE__, "stale", &p, "B's columns 21..52 repeat every 16");
    expect_hidden(__LINE__, "tail-13", &p, "B's columns 39..52 are equal");
    for (size_t i = 1; i < 77; i++)
        for (size_t q = 0; q < 300; q++) set(&p.x.a, i, q, get(&p.x.a, 0, q));
    expect_hidden(__LINE__, "swapped-rows", &p, "A's rows are all equal");
    expect_hidden(__LINE__, "copied-row", &p, "A's rows are all equal");
    expect_hidden(__LINE__, "half-offset", &p, "A's rows 38..76 are equal");
    expect_hidden(__LINE__, "transposed-tile", &p, "the output is symmetric in rows 34..41, columns 22..29");
    expect_hidden(__LINE__, "shifted-tile", &p, "columns 15..31 are equal in rows 32..47");
    for (size_t i = 0; i < 77; i++)
        for (size_t q = 288; q < 300; q++) set(&p.x.a, i, q, 0);
    expect_hidden(__LINE__, "lost-k-tail", &p, "A is zero in K 288..299");
    for (size_t i = 0; i < 77; i++)
        for (size_t q = 0; q < 300; q++) set(&p.x.a, i, q, q % 150 == 3);
    expect_hidden(__LINE__, "half-k", &p, "A repeats along K every 150");
    expect_hidden(__LINE__, "lost-c", &p, "there is no C");
    for (size_t q = 0; q < 300; q++)
        for (size_t j = 0; j < 53; j++) set(&p.x.b, q, j, 2);
    expect_hidden(__LINE__, "f16-accumulation", &p, "every partial sum is a f16");
    expect_hidden(__LINE__, "bf16-inputs", &p, "every element of A and B is a bf16");
    for (size_t q = 0; q < 300; q++)
        for (size_t j = 0; j < 53; j++) set(&p.x.b, q, j, 0);
    expect_hidden(__LINE__, "zeroed-row", &p, "every row of the output is zero or holds no number");
    expect_hidden(__LINE__, "scale-2", &p, "the output holds no number but zero");
    close_product(&p);
}

static void outputs_of_one_row_or_column_and_of_integers_hide_what_they_cannot_show(void **state) {
    (void)state;
    static const size_t row[] = {1, 20, 40}, column[] = {20, 1, 40};
    product p = open_product(LB_F16, LB_F32, row, false);
    expect_hidden(__LINE__, "swapped-rows", &p, "the output has one row");
    expect_hidden(__LINE__, "wrapped-store", &p, "the output has one row");
    expect_hidden(__LINE__, "transposed-tile", &p, "the output has one row");
    close_product(&p);
    p = open_product(LB_F16, LB_F32, column, false);
    expect_hidden(__LINE__, "tail-16", &p, "the output has one column");
    expect_hidden(__LINE__, "shifted-tile", &p, "the output has one column");
    close_product(&p);
    p = open_product(LB_I8, LB_I32, shapes[1], false);
    lb_draw_mat(&p.x.a, LB_DIST_INTEGER, seed, 1);
    expect_hidden(__LINE__, "nan", &p, "i32 has no NaN");
    expect_hidden(__LINE__, "inf", &p, "i32 has no Inf");
    char why[192];
    assert_true(planted("ulp-3", &p, why));
    assert_int_equal(changed(&p), 1);
    close_product(&p);
}

/* ---- what is concluded ------------------------------------------------------------------------------------------------------------ */

static lb_record *powered(const product *p, const lb_mat *actual, const char *rule, const char *const *allow, size_t allow_count) {
    lb_contract *c;
    lb_record *r;
    lb_error err = {0};
    assert_int_equal(lb_contract_open(rule, &c, NULL), LB_OK);
    const lb_check_options o = {
        .x = p->x, .actual = actual, .contract = c, .power = true, .allow_blind = allow, .allow_blind_count = allow_count};
    if (lb_check(&o, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    lb_contract_close(c);
    return r;
}

static const lb_power_row *row_of(const lb_record *r, const char *fault) {
    for (size_t i = 0; i < r->power.row_count; i++)
        if (strcmp(r->power.rows[i].fault, fault) == 0) return &r->power.rows[i];
    fail_msg("no row of %s", fault);
    return NULL;
}

static void the_tensor_core_contract_misses_nothing_on_three_shapes(void **state) {
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        product p = open_product(LB_F16, LB_BF16, shapes[c], true);
        lb_record *r = powered(&p, &p.right, "m16-tc", NULL, 0);
        if (r->verdict != LB_PASS || r->power.score != 1) fail_msg("shape %zu: %s", c, r->reason);
        lb_record_close(r);
        close_product(&p);
    }
}

static void a_blind_contract_is_unproven_unless_each_blindness_is_allowed(void **state) {
    (void)state;
    static const char *const all[] = {
        "zeroed-row",  "swapped-rows",     "copied-row",         "ulp-3",       "ulp-16",          "near-zero",        "bf16-inputs",
        "lost-k-tail", "f16-accumulation", "flushed-subnormals", "zeroed-tile", "transposed-tile", "bf16-accumulation"};
    product p = open_product(LB_F16, LB_BF16, shapes[1], false);
    lb_record *r = powered(&p, &p.right, "nmse", NULL, 0);
    assert_int_equal(r->verdict, LB_UNPROVEN);
    assert_true(strncmp(r->reason, "blind: nmse would pass ", 23) == 0 && r->power.score < 0.8);
    assert_int_equal(row_of(r, "zeroed-row")->end, LB_POWER_MISSED);
    assert_int_equal(row_of(r, "flushed-subnormals")->end, LB_POWER_MISSED);
    assert_int_equal(row_of(r, "scale-2")->end, LB_POWER_CAUGHT);
    const size_t missed = r->power.due - r->power.caught;
    lb_record_close(r);
    r = powered(&p, &p.right, "nmse", all, 1);
    assert_int_equal(r->verdict, LB_UNPROVEN);
    assert_true(row_of(r, "zeroed-row")->allowed && r->power.due - r->power.caught == missed);
    lb_record_close(r);
    r = powered(&p, &p.right, "nmse", all, sizeof all / sizeof all[0]);
    if (r->verdict != LB_PASS) fail_msg("%s", r->reason);
    assert_true(r->power.score < 0.8); /* allowed, but as blind as before */
    lb_record_close(r);
    r = powered(&p, &p.right, "allclose:1e9,1e9", NULL, 0);
    assert_int_equal(r->verdict, LB_UNPROVEN);
    lb_record_close(r);
    close_product(&p);
}

static void a_wrong_output_stays_wrong_and_an_unfit_rule_says_so(void **state) {
    (void)state;
    product p = open_product(LB_F16, LB_BF16, shapes[1], false);
    char why[192];
    assert_true(planted("tail-16", &p, why));
    lb_record *r = powered(&p, &p.out, "nmse", NULL, 0);
    assert_true(r->verdict == LB_FAIL && r->power.present);
    lb_record_close(r);
    set(&p.x.a, 3, 3, NAN);
    find_right(&p);
    r = powered(&p, &p.right, "m16-tc", NULL, 0);
    assert_int_equal(r->verdict, LB_PASS);
    lb_record_close(r);
    r = powered(&p, &p.right, "torch", NULL, 0); /* takes no NaN, right or not */
    assert_true(r->verdict == LB_FAIL && r->power.present && r->power.row_count == 0 && isnan(r->power.score));
    lb_record_close(r);
    for (size_t q = 0; q < 300; q++)
        for (size_t j = 0; j < 53; j++) set(&p.x.b, q, j, 0);
    set(&p.x.a, 3, 3, 0);
    find_right(&p);
    r = powered(&p, &p.right, "m16-tc", NULL, 0);
    assert_true(r->verdict == LB_UNPROVEN && strstr(r->reason, "vacuous"));
    lb_record_close(r);
    close_product(&p);
}

static void names_that_are_none_are_refused(void **state) {
    (void)state;
    product p = open_product(LB_F16, LB_BF16, shapes[2], false);
    static const char *const wrong[] = {"zeroed-rwo"};
    const lb_contract *c;
    lb_record *r = NULL;
    lb_error err = {0};
    bool hidden;
    assert_int_equal(lb_contract_find("m16-tc", &c, NULL), LB_OK);
    const lb_check_options o = {.x = p.x, .actual = &p.right, .contract = c, .power = true, .allow_blind = wrong, .allow_blind_count = 1};
    assert_int_equal(lb_check(&o, &r, &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "did you mean zeroed-row"));
    assert_null(r);
    assert_int_equal(lb_fault_plant("nan", NULL, NULL, &p.right, &p.x.a, &hidden, NULL, &err), LB_E_SHAPE);
    assert_int_equal(lb_fault_plant("half-k", NULL, NULL, &p.right, &p.out, &hidden, NULL, &err), LB_E_ARG);
    close_product(&p);
}

static void a_unit_without_a_contract_catches_all(void **state) {
    (void)state;
    product p = open_product(LB_F16, LB_F32, shapes[1], false);
    lb_unit u;
    lb_record *r;
    assert_int_equal(lb_unit_find(unit_name, &u, NULL), LB_OK);
    char on[96];
    snprintf(on, sizeof on, "model:%s", unit_name);
    const lb_check_options o = {.x = p.x, .on = on, .unit = &u, .power = true};
    assert_int_equal(lb_check(&o, &r, NULL), LB_OK);
    if (r->verdict != LB_PASS || r->power.score != 1 || r->power.due < 20) fail_msg("%s", r->reason);
    lb_record_close(r);
    close_product(&p);
}

/* An output of any operator: only its values are known. */
static void outputs_alone_take_the_faults_of_outputs(void **state) {
    (void)state;
    product p = open_product(LB_F16, LB_F32, shapes[1], false);
    const lb_contract *c;
    lb_record *r;
    assert_int_equal(lb_contract_find("m16-tc", &c, NULL), LB_OK);
    const lb_block_options o = {
        .reference = p.right, .actual = p.right.codes, .actual_bytes = 77 * 53 * 4, .contract = c, .k = 300, .power = true};
    assert_int_equal(lb_grade_block(&o, &r, NULL), LB_OK);
    if (r->verdict != LB_PASS || r->power.score != 1) fail_msg("%s", r->reason);
    size_t outputs = 0;
    for (size_t i = 0; lb_fault_row(i); i++) outputs += !lb_fault_row(i)->of_operands;
    assert_true(r->power.row_count == outputs && outputs >= 16);
    lb_record_close(r);
    close_product(&p);
}

static void sums_of_a_large_product_are_sampled_and_quick(void **state) {
    (void)state;
    static const size_t large[] = {700, 600, 400};
    product p = open_product(LB_F16, LB_BF16, large, false);
    lb_record *r = powered(&p, &p.right, "m16-tc", NULL, 0);
    if (r->verdict != LB_PASS || r->power.score != 1) fail_msg("%s", r->reason);
    const lb_power_row *tail = row_of(r, "lost-k-tail");
    assert_true(tail->end == LB_POWER_CAUGHT && tail->changed > 10000 && tail->changed <= 125000);
    assert_true(row_of(r, "scale-2")->changed > 400000); /* faults of outputs are of all */
    lb_record_close(r);
    close_product(&p);
}

/* The original passes over an element near zero whose sign differs; only the block's own number sees it, if the block is small. */
static void the_original_contract_is_blind_near_zero(void **state) {
    (void)state;
    enum { N = 1200 };
    lb_mat m = new_mat(LB_BF16, N, N);
    lb_draw_mat(&m, LB_DIST_NORMAL, seed, 5);
    const lb_contract *c;
    assert_int_equal(lb_contract_find("m16-tc-original", &c, NULL), LB_OK);
    static const char *const faults[] = {"near-zero"};
    const lb_grade_input g = {.reference = m, .actual = m, .contract = c, .k = 300};
    const lb_power_input in = {.grade = &g, .faults = faults, .fault_count = 1};
    lb_record *r;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    assert_int_equal(lb_grade(&g, r, NULL), LB_OK);
    assert_int_equal(r->verdict, LB_PASS);
    assert_int_equal(lb_power(&in, r, NULL), LB_OK);
    assert_int_equal(r->power.row_count, 1);
    assert_true(r->power.rows[0].end == LB_POWER_MISSED && r->verdict == LB_UNPROVEN && r->power.score == 0);
    lb_record_close(r);
    free(m.codes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_changes_the_output_on_three_shapes_or_says_what_hides_it),
        cmocka_unit_test(the_words_only_contract_catches_whatever_is_planted),
        cmocka_unit_test(single_elements_are_off_by_what_the_name_says),
        cmocka_unit_test(rows_and_columns_hold_what_the_name_says),
        cmocka_unit_test(a_lost_tail_is_the_product_without_it),
        cmocka_unit_test(a_narrow_sum_is_a_chain_in_f16),
        cmocka_unit_test(inputs_that_hide_a_fault_are_named),
        cmocka_unit_test(outputs_of_one_row_or_column_and_of_integers_hide_what_they_cannot_show),
        cmocka_unit_test(the_tensor_core_contract_misses_nothing_on_three_shapes),
        cmocka_unit_test(a_blind_contract_is_unproven_unless_each_blindness_is_allowed),
        cmocka_unit_test(a_wrong_output_stays_wrong_and_an_unfit_rule_says_so),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(a_unit_without_a_contract_catches_all),
        cmocka_unit_test(outputs_alone_take_the_faults_of_outputs),
        cmocka_unit_test(sums_of_a_large_product_are_sampled_and_quick),
        cmocka_unit_test(the_original_contract_is_blind_near_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
