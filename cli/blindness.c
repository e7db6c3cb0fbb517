/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which faults each rule catches, and how many correct kernels it refuses: a made case, the same on every machine. */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const rules[] = {"m16-tc", "m16-tc-original", "bitwise", "blas", "gamma-rz", "torch", "nmse", "benchdnn", "baseline-2x"};

/* Kernels that are right: units and orders of K, all with an accumulator in f32. */
static const struct order {
    const char *unit, *schedule; /* unit NULL: the plain kernel */
} orders[] = {
    {"sm_70/mma.m8n8k4.f32.f16.f16.f32", "out=bf16"},
    {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "out=bf16"},
    {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "out=bf16"},
    {NULL, "sequential f32, rounded to nearest"},
    {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "order=descending,out=bf16"},
    {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "split-k=4,out=bf16"},
    {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "split-k=8,reduce=tree,out=bf16"},
    {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "promote=128,out=bf16"},
};

enum {
    RULE_COUNT = sizeof rules / sizeof rules[0],
    ORDER_COUNT = sizeof orders / sizeof orders[0],
    SEED_COUNT = 20,
    M = 64,
    N = 60,
    K = 300
};

/* An output with its operands, and what it should be; every eighth row of A is quiet, down to subnormals of f16. */
typedef struct product {
    lb_case x;
    lb_mat d, reference, plain;
    double gauge[M * N];
    float b_values[K * N];
} product;

static lb_mat new_mat(lb_format_id id, size_t rows, size_t cols) {
    const lb_format *f = lb_format_row(id);
    return lb_mat_of(f, calloc(rows * cols, (size_t)f->bytes), rows, cols);
}

static void close_product(product *p) {
    free(p->x.a.codes);
    free(p->x.b.codes);
    free(p->x.c.codes);
    free(p->d.codes);
    free(p->reference.codes);
    free(p->plain.codes);
}

static lb_status open_product(product *p, lb_format_id b, bool with_c, uint64_t seed, lb_error *err) {
    *p = (product){.x = {.op = "matmul", .a = new_mat(LB_F16, M, K), .b = new_mat(b, K, N), .out = lb_format_row(LB_BF16)},
                   .d = new_mat(LB_BF16, M, N),
                   .reference = new_mat(LB_BF16, M, N),
                   .plain = new_mat(LB_BF16, M, N)};
    if (with_c) p->x.c = new_mat(LB_F32, M, N);
    if (!p->x.a.codes || !p->x.b.codes || !p->d.codes || !p->reference.codes || !p->plain.codes || (with_c && !p->x.c.codes))
        return lb_fail(err, LB_E_MEMORY, "blindness", "no memory for the case");
    lb_draw_mat(&p->x.a, LB_DIST_NORMAL, seed, 1);
    lb_draw_mat(&p->x.b, LB_DIST_NORMAL, seed, 2);
    if (with_c) lb_draw_mat(&p->x.c, LB_DIST_NORMAL, seed, 3);
    for (size_t i = 0; i < M; i += 8) {
        for (size_t q = 0; q < K; q++) {
            const double quiet = 0x1p-13 * lb_to_double(p->x.a.format, lb_mat_code(&p->x.a, i, q));
            lb_store_code(lb_mat_at(&p->x.a, i, q), p->x.a.format->bytes, lb_from_double(p->x.a.format, quiet));
        }
        for (size_t j = 0; with_c && j < N; j++) {
            const double quiet = 0x1p-13 * lb_to_double(p->x.c.format, lb_mat_code(&p->x.c, i, j));
            lb_store_code(lb_mat_at(&p->x.c, i, j), p->x.c.format->bytes, lb_from_double(p->x.c.format, quiet));
        }
    }
    for (size_t e = 0; e < K * N; e++) p->b_values[e] = (float)lb_to_double(p->x.b.format, lb_mat_code(&p->x.b, e / N, e % N));
    return lb_reference_matmul(&p->x, LB_REFERENCE_AUTO, NULL, 0, NULL, 0, &p->reference, NULL, p->gauge, err);
}

/* Sequential f32 sums, rounded to the output: the kernel that baseline-2x compares with. */
static void plain_kernel(product *p) {
    for (size_t i = 0; i < M; i++) {
        float sums[N] = {0};
        for (size_t q = 0; q < K; q++) {
            const float a = (float)lb_to_double(p->x.a.format, lb_mat_code(&p->x.a, i, q));
            for (size_t j = 0; j < N; j++) sums[j] += a * p->b_values[q * N + j];
        }
        for (size_t j = 0; j < N; j++)
            lb_store_code(lb_mat_at(&p->plain, i, j), p->plain.format->bytes, lb_from_double(p->plain.format, (double)sums[j]));
    }
}

static lb_status refuses(const product *p, const lb_contract *c, bool *out, lb_error *err) {
    const lb_grade_input in = {.actual = p->d, .reference = p->reference, .contract = c, .k = K, .gauge = p->gauge, .baseline = &p->plain};
    lb_record *r = NULL;
    lb_status s = lb_record_open(&r, err);
    if (s == LB_OK) s = lb_grade(&in, r, err);
    *out = s == LB_OK && r->verdict != LB_PASS;
    lb_record_close(r);
    return s;
}

/* ---- faults ------------------------------------------------------------------------------------------------------------ */

/* A correct output of a product with operands that hide nothing, under each rule; a row of `rows` a fault, in the table's order. */
static lb_status add_faults(json_t *rows, lb_contract *const *contracts, lb_error *err) {
    product p;
    char score[RULE_COUNT][32] = {{0}};
    lb_status s = open_product(&p, LB_F32, true, 1, err);
    for (size_t i = 0; lb_fault_row(i); i++)
        json_array_append_new(rows, json_pack("{s:s, s:s}", "name", lb_fault_row(i)->name, "what", lb_fault_row(i)->what));
    for (size_t rule = 0; s == LB_OK && rule < RULE_COUNT; rule++) {
        lb_record *r = NULL;
        const lb_check_options o = {.x = p.x, .actual = &p.reference, .contract = contracts[rule], .power = true, .seed = 1};
        s = lb_check(&o, &r, err);
        for (size_t i = 0; s == LB_OK && i < r->power.row_count; i++) {
            const lb_power_row *f = &r->power.rows[i];
            json_t *row;
            size_t at;
            json_array_foreach(rows, at, row) if (strcmp(json_string_value(json_object_get(row, "name")), f->fault) == 0)
                json_object_set_new(row, rules[rule], json_string(lb_power_end_name(f->end)));
        }
        if (s == LB_OK) snprintf(score[rule], sizeof score[rule], "%zu of %zu", r->power.caught, r->power.due);
        lb_record_close(r);
    }
    json_t *row = json_pack("{s:s, s:s}", "name", "caught", "what", "faults caught, of those that are due");
    for (size_t rule = 0; rule < RULE_COUNT; rule++) json_object_set_new(row, rules[rule], json_string(score[rule]));
    json_array_append_new(rows, row);
    close_product(&p);
    return s;
}

/* ---- correct kernels ---------------------------------------------------------------------------------------------------- */

static lb_status run_order(const struct order *o, product *p, lb_error *err) {
    const lb_gemm_options one = {.threads = 1}; /* small products: waking others takes longer */
    lb_unit unit;
    lb_schedule schedule;
    if (!o->unit) {
        memcpy(p->d.codes, p->plain.codes, (size_t)M * N * 2);
        return LB_OK;
    }
    lb_status s = lb_unit_find(o->unit, &unit, err);
    if (s == LB_OK) s = lb_schedule_parse(o->schedule, &schedule, err);
    return s == LB_OK ? lb_gemm_scheduled(&unit, &schedule, &p->x.a, &p->x.b, NULL, &p->d, &one, err) : s;
}

static lb_status add_correct_kernels(json_t *rows, lb_contract *const *contracts, lb_error *err) {
    size_t refused[RULE_COUNT] = {0}, kernels = 0;
    lb_status s = LB_OK;
    for (uint64_t seed = 1; s == LB_OK && seed <= SEED_COUNT; seed++) {
        product p;
        s = open_product(&p, LB_F16, false, seed, err);
        if (s == LB_OK) plain_kernel(&p);
        for (size_t i = 0; s == LB_OK && i < ORDER_COUNT; i++) {
            s = run_order(&orders[i], &p, err);
            kernels++;
            for (size_t rule = 0; s == LB_OK && rule < RULE_COUNT; rule++) {
                bool refused_it;
                s = refuses(&p, contracts[rule], &refused_it, err);
                refused[rule] += refused_it;
            }
        }
        close_product(&p);
    }
    json_t *row =
        json_pack("{s:s, s:s}", "name", "false alarms", "what", "correct kernels refused: eight units and orders of K, twenty seeds");
    for (size_t rule = 0; rule < RULE_COUNT; rule++) {
        char text[64];
        snprintf(text, sizeof text, "%zu of %zu", refused[rule], kernels);
        json_object_set_new(row, rules[rule], json_string(text));
    }
    json_array_append_new(rows, row);
    return s;
}

struct json_t *cli_blindness_rows(void) {
    json_t *rows = json_array();
    lb_error err = {0};
    lb_contract *contracts[RULE_COUNT] = {0};
    lb_status s = LB_OK;
    for (size_t i = 0; s == LB_OK && i < RULE_COUNT; i++) s = lb_contract_open(rules[i], &contracts[i], &err);
    if (s == LB_OK) s = add_faults(rows, contracts, &err);
    if (s == LB_OK) s = add_correct_kernels(rows, contracts, &err);
    for (size_t i = 0; i < RULE_COUNT; i++) lb_contract_close(contracts[i]);
    if (s == LB_OK) return rows;
    json_decref(rows);
    cli_error(&err);
    return NULL;
}
