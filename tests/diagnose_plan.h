/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A small matrix product with a fault planted in it, and what a diagnosis should say. */
#ifndef LB_TEST_DIAGNOSE_PLAN_H
#define LB_TEST_DIAGNOSE_PLAN_H

#include "lastbit/diagnose.h"
#include "lastbit/gemm.h"
#include "lastbit/run.h"

#include <math.h>
#include <stdlib.h>

typedef struct plan {
    size_t m, n, k;
    uint64_t seed;
    unsigned draws;
    lb_dist dist;
    lb_mat am, bm, cm, dm, prev; /* codes */
    double *a, *b, *c;           /* [m][k], [k][n], [m][n]: as the kernel takes them */
    const lb_unit *unit;         /* what it is judged by beside or instead of the contract */
    bool by_unit_alone;
    bool poisoned, has_previous; /* judged by lb_diagnose itself */
    char want[2][96];
} plan;

static void *room_for(size_t count, size_t bytes) {
    void *p = calloc(count + 1, bytes);
    assert_non_null(p);
    return p;
}

static lb_mat new_mat(const lb_format *f, size_t rows, size_t cols) {
    return lb_mat_of(f, room_for(rows * cols, (size_t)f->bytes), rows, cols);
}

static void values_of(double *out, const lb_mat *m) {
    for (size_t i = 0; i < m->rows * m->cols; i++) out[i] = lb_to_double(m->format, lb_mat_code(m, i / m->cols, i % m->cols));
}

static void plan_close(plan *p) {
    void *all[] = {p->am.codes, p->bm.codes, p->cm.codes, p->dm.codes, p->prev.codes, p->a, p->b, p->c};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* A number of the plan's own, low … high. */
static size_t pick(plan *p, size_t low, size_t high) {
    return low + (size_t)(lb_random_u64(p->seed, 77, p->draws++) % (high - low + 1));
}

static void set_d(plan *p, size_t i, size_t j, double v) {
    lb_store_code(lb_mat_at(&p->dm, i, j), p->dm.format->bytes, lb_from_double(p->dm.format, v));
}

static double get_d(const plan *p, size_t i, size_t j) {
    return lb_to_double(p->dm.format, lb_mat_code(&p->dm, i, j));
}

/* A right kernel: 16 products at a time, added in f32. */
static void compute(plan *p) {
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            float sum = (float)p->c[i * p->n + j];
            for (size_t q = 0; q < p->k; q += 16) {
                double part = 0;
                for (size_t t = q; t < q + 16 && t < p->k; t++) part += p->a[i * p->k + t] * p->b[t * p->n + j];
                sum += (float)part;
            }
            set_d(p, i, j, (double)sum);
        }
}

static void plan_open(plan *p, lb_format_id in, lb_format_id out, bool with_c, const size_t *shape, lb_dist dist, uint64_t seed) {
    *p = (plan){.m = shape[0], .n = shape[1], .k = shape[2], .seed = seed, .dist = dist};
    p->am = new_mat(lb_format_row(in), p->m, p->k);
    p->bm = new_mat(lb_format_row(in), p->k, p->n);
    p->cm = new_mat(lb_format_row(LB_F32), p->m, p->n);
    p->dm = new_mat(lb_format_row(out), p->m, p->n);
    p->prev = new_mat(lb_format_row(out), p->m, p->n);
    lb_draw_mat(&p->am, dist, seed, 1);
    lb_draw_mat(&p->bm, dist, seed, 2);
    for (int side = 0; side < 2 && in != LB_BF16 && lb_format_row(in)->bits > 8; side++) { /* every bit of the operands counts */
        lb_mat *x = side ? &p->bm : &p->am;
        for (size_t e = 0; e < x->rows * x->cols; e++) {
            void *at = lb_mat_at(x, e / x->cols, e % x->cols);
            lb_store_code(at, x->format->bytes,
                          lb_from_double(x->format, lb_to_double(x->format, lb_load_code(at, x->format->bytes)) / 1.7));
        }
    }
    if (with_c)
        for (size_t i = 0; i < p->m * p->n; i++) /* as large as the product */
            lb_store_code(
                lb_mat_at(&p->cm, i / p->n, i % p->n), 4,
                lb_from_double(p->cm.format, sqrt((double)p->k) / 2 * lb_to_double(p->cm.format, lb_draw(p->cm.format, dist, seed, 3, i))));
    p->a = room_for(p->m * p->k, sizeof(double));
    p->b = room_for(p->k * p->n, sizeof(double));
    p->c = room_for(p->m * p->n, sizeof(double));
    values_of(p->a, &p->am);
    values_of(p->b, &p->bm);
    values_of(p->c, &p->cm);
}

static lb_case plan_case(const plan *p, bool with_c) {
    lb_case x = {.op = "matmul", .a = p->am, .b = p->bm, .out = p->dm.format};
    if (with_c) x.c = p->cm;
    return x;
}

/* The sentence, and the verdict, into text [256]. */
static lb_verdict judge_plan(const plan *p, bool with_c, char *text) {
    const lb_contract *contract;
    lb_error err = {0};
    assert_int_equal(lb_contract_find("m16-tc", &contract, NULL), LB_OK);
    if (p->poisoned || p->has_previous) {
        lb_mat reference = new_mat(p->dm.format, p->m, p->n);
        lb_diagnosis found;
        const lb_case x = plan_case(p, with_c);
        assert_int_equal(lb_reference_matmul(&x, LB_REFERENCE_AUTO, NULL, 0, NULL, 0, &reference, NULL, NULL, NULL), LB_OK);
        const lb_diagnose_options o = {.x = x,
                                       .actual = p->dm,
                                       .reference = reference,
                                       .contract = contract,
                                       .has_poison = p->poisoned,
                                       .poison = lb_poison_code(p->dm.format),
                                       .previous = p->has_previous ? &p->prev : NULL};
        if (lb_diagnose(&o, &found, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        snprintf(text, 256, "%s", found.sentence);
        free(reference.codes);
        return LB_FAIL;
    }
    lb_record *r;
    const lb_check_options o = {
        .x = plan_case(p, with_c), .actual = &p->dm, .unit = p->unit, .contract = p->by_unit_alone ? NULL : contract, .seed = 1};
    if (lb_check(&o, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    const lb_verdict verdict = r->verdict;
    snprintf(text, 256, "%s", r->cause);
    lb_record_close(r);
    return verdict;
}

#endif
