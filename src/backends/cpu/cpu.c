/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cpu[:ORDER]: plain C in f32, in an order that it states: operators as their fixed-order replays, products in more orders. */
#include "backends/device.h"
#include "base/try.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "the order of operations is what this device promises"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "f32 operations are to round to f32");

/* ---- sums of k products onto c, each in its order -------------------------------------------------------------------------------- */

enum { LANES = 8, SPLITS = 4 };

typedef float dot(const float *a, const float *b, size_t k, float c);

static float dot_sequential(const float *a, const float *b, size_t k, float c) {
    for (size_t l = 0; l < k; l++) c += a[l] * b[l];
    return c;
}

static float dot_contracted(const float *a, const float *b, size_t k, float c) {
    for (size_t l = 0; l < k; l++) c = fmaf(a[l], b[l], c);
    return c;
}

static float halves(const float *a, const float *b, size_t k) {
    return k == 0 ? 0.0F : k == 1 ? a[0] * b[0] : halves(a, b, (k + 1) / 2) + halves(a + (k + 1) / 2, b + (k + 1) / 2, k / 2);
}

static float dot_pairwise(const float *a, const float *b, size_t k, float c) {
    return c + halves(a, b, k);
}

static float dot_descending(const float *a, const float *b, size_t k, float c) {
    for (size_t l = k; l-- > 0;) c = fmaf(a[l], b[l], c);
    return c;
}

/* Eight sums side by side, as a vector register holds them; then halved, as shuffles add. */
static float dot_lanes(const float *a, const float *b, size_t k, float c) {
    float sums[LANES] = {0};
    for (size_t l = 0; l < k; l++) sums[l % LANES] = fmaf(a[l], b[l], sums[l % LANES]);
    for (size_t width = LANES / 2; width > 0; width /= 2)
        for (size_t i = 0; i < width; i++) sums[i] += sums[i + width];
    return c + sums[0];
}

/* Four runs of K, each from zero, added in order. */
static float dot_split(const float *a, const float *b, size_t k, float c) {
    const size_t part = (k + SPLITS - 1) / SPLITS;
    for (size_t from = 0; from < k; from += part) c += dot_contracted(a + from, b + from, k - from < part ? k - from : part, 0.0F);
    return c;
}

/* ---- orders ----------------------------------------------------------------------------------------------------------------------- */

static const struct order {
    const char *name, *summary;
    dot *sum;
    bool operators; /* has a replay of operators, */
    lb_replay_order replay;
} orders[] = {
    {"sequential", "from the first term to the last, product and sum rounded", dot_sequential, true, LB_REPLAY_SEQUENTIAL},
    {"contracted", "from the first term to the last, each step one fma", dot_contracted, true, LB_REPLAY_CONTRACTED},
    {"pairwise", "by halves", dot_pairwise, true, LB_REPLAY_PAIRWISE},
    {"descending", "from the last term to the first, each step one fma", dot_descending, false, LB_REPLAY_SEQUENTIAL},
    {"lanes8", "eight side by side, each step one fma, then halved", dot_lanes, false, LB_REPLAY_SEQUENTIAL},
    {"split4", "over four parts of K, each step one fma, the parts added in order", dot_split, false, LB_REPLAY_SEQUENTIAL},
};

enum { ORDER_COUNT = sizeof orders / sizeof orders[0] };

typedef struct cpu {
    lb_device base;
    const struct order *order;
} cpu;

static lb_status cpu_open(lb_device **out, const char *which, lb_error *err) {
    const char *names[ORDER_COUNT];
    const struct order *order = *which ? NULL : orders;
    for (size_t i = 0; i < ORDER_COUNT; i++) {
        names[i] = orders[i].name;
        if (strcmp(which, orders[i].name) == 0) order = &orders[i];
    }
    if (!order) {
        const char *near = lb_nearest_name(which, names, ORDER_COUNT);
        return lb_fail(err, LB_E_NAME, which, "no such order%s%s; sequential, contracted, pairwise, descending, lanes8 and split4 are",
                       near ? "; did you mean " : "", near ? near : "");
    }
    cpu *c = calloc(1, sizeof *c);
    if (!c) return lb_fail(err, LB_E_MEMORY, "cpu", "no memory");
    c->order = order;
    snprintf(c->base.detail, sizeof c->base.detail, "plain C in f32: sums %s", order->summary);
    *out = &c->base;
    return LB_OK;
}

static void cpu_close(lb_device *d) {
    free(d);
}

static bool cpu_can_op(const lb_device *d, const lb_op_case *x, const char **why_not) {
    (void)x;
    *why_not = "operators run in the orders sequential, contracted and pairwise";
    return ((const cpu *)d)->order->operators;
}

static lb_status cpu_run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err) {
    (void)timeout_seconds; /* whoever runs us in a process of its own ends that process */
    return lb_op_replay(x, ((const cpu *)d)->order->replay, err);
}

/* ---- products --------------------------------------------------------------------------------------------------------------------- */

/* Whether every value of the format is an f32. */
static bool fits_f32(const lb_format *f) {
    return f->special == LB_SPECIAL_INT ? f->bits <= 24 : f->exp_bits <= 8 && f->man_bits <= 23;
}

static bool cpu_can(const lb_device *d, const lb_case *x, const char **why_not) {
    (void)d;
    *why_not = "the CPU's kernels sum in f32: formats within it (not f64, not i32)";
    return fits_f32(x->a.format) && fits_f32(x->b.format) && fits_f32(x->out) && (!x->c.codes || fits_f32(x->c.format));
}

static float value_at(const lb_mat *m, size_t r, size_t c) {
    return (float)lb_to_double(m->format, lb_load_code(lb_mat_at(m, r, c), m->format->bytes));
}

static lb_status cpu_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    const size_t m = lb_case_m(x), n = lb_case_n(x), k = lb_case_k(x), width = (size_t)x->out->bytes;
    const lb_mat b = lb_case_b(x);
    dot *const sum = ((const cpu *)d)->order->sum;
    static const lb_encoding ieee = {0};
    float *row = malloc((k + 1) * sizeof *row), *cols = malloc((n * k + 1) * sizeof *cols); /* a[k]; b [n][k] */
    (void)timeout_seconds;
    for (size_t j = 0; row && cols && j < n; j++)
        for (size_t l = 0; l < k; l++) cols[j * k + l] = value_at(&b, l, j);
    for (size_t i = 0; row && cols && i < m; i++) {
        for (size_t l = 0; l < k; l++) row[l] = value_at(&x->a, i, l);
        for (size_t j = 0; j < n; j++) {
            const float c = x->c.codes ? value_at(&x->c, i, j) : 0.0F, v = sum(row, cols + j * k, k, c);
            lb_store_code((char *)y + (i * n + j) * width, (int)width, lb_encode(x->out, lb_value_of((double)v), &ieee, NULL));
        }
    }
    const bool failed = !row || !cols;
    free(row);
    free(cols);
    return failed ? lb_fail(err, LB_E_MEMORY, d->name, "no memory for %zux%zu", n, k) : LB_OK;
}

const lb_backend lb_backend_cpu = {.name = "cpu",
                                   .summary = "cpu[:ORDER], plain C in f32 in a stated order (sequential, contracted, pairwise …)",
                                   .alone = true,
                                   .open = cpu_open,
                                   .can = cpu_can,
                                   .run = cpu_run,
                                   .can_op = cpu_can_op,
                                   .run_op = cpu_run_op,
                                   .close = cpu_close};
