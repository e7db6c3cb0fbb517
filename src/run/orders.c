/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums of products in the orders of kernels. */
#include "run/orders.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "orders of summation need IEEE arithmetic: do not build them with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "floats must be evaluated as floats");

enum { WARP = 32, STEP_MAX = 64 };

static const lb_sum_order orders[] = {
#define LB_SUM_ORDER(name, lanes, chunk, step, tree, fold, split, wide, source, note)                                                      \
    {name, lanes, chunk, step, tree, fold, split, wide, source, note},
#include "run/orders.def"
#undef LB_SUM_ORDER
};

/* A step is summed on the stack; lanes come in warps. */
#define LB_SUM_ORDER(name, lanes, chunk, step, tree, fold, split, wide, source, note)                                                      \
    _Static_assert((lanes) == 1 || ((lanes) % WARP == 0 && (step) == 1 && (fold) == 0 && (split) == 1), name);                             \
    _Static_assert((step) <= STEP_MAX && (chunk) >= 1 && (split) >= 1, name);
#include "run/orders.def"
#undef LB_SUM_ORDER

enum { ORDER_COUNT = sizeof orders / sizeof orders[0] };

const lb_sum_order *lb_sum_order_row(size_t i) {
    return i < ORDER_COUNT ? &orders[i] : NULL;
}

lb_status lb_sum_order_find(const char *name, const lb_sum_order **out, lb_error *err) {
    const char *names[ORDER_COUNT];
    for (size_t i = 0; i < ORDER_COUNT; i++) {
        *out = &orders[i];
        if (strcmp(name, orders[i].name) == 0) return LB_OK;
        names[i] = orders[i].name;
    }
    *out = NULL;
    const char *near = lb_nearest_name(name, names, ORDER_COUNT);
    return lb_fail(err, LB_E_NAME, name, "no such order%s%s; `lastbit calibrate --list` names them", near ? ", did you mean " : "",
                   near ? near : "");
}

/* ---- layout ---------------------------------------------------------------------------------------------------------- */

size_t lb_order_laid(const lb_sum_order *o, size_t k) {
    const size_t round = (size_t)o->lanes * o->chunk;
    return o->lanes == 1 ? k : (k + round - 1) / round * round;
}

/* Step s of lane l is element (s / chunk * lanes + l) * chunk + s % chunk. What the padding adds is +0, which changes no sum. */
void lb_order_lay(const lb_sum_order *o, const float *x, size_t k, float *out) {
    if (o->lanes == 1) {
        memcpy(out, x, k * sizeof *out);
        return;
    }
    const size_t steps = lb_order_laid(o, k) / o->lanes;
    for (size_t s = 0; s < steps; s++)
        for (size_t l = 0; l < o->lanes; l++) {
            const size_t i = (s / o->chunk * o->lanes + l) * o->chunk + s % o->chunk;
            out[s * o->lanes + l] = i < k ? x[i] : 0;
        }
}

void lb_order_scale(float *w, size_t k, const float *scale, size_t block) {
    for (size_t i = 0; i < k; i++) w[i] *= scale[i / block];
}

size_t lb_order_scratch(const lb_sum_order *o, size_t k) {
    return o->step ? 1 : k + 1;
}

/* ---- sums ------------------------------------------------------------------------------------------------------------ */

/* One warp of `lanes`: its lanes' sums, then offsets 16, 8, 4, 2, 1. */
static float sum_warp(const float *restrict a, const float *restrict w, size_t steps, size_t lanes) {
    float lane[WARP] = {0};
    for (size_t s = 0; s < steps; s++)
        for (size_t l = 0; l < WARP; l++) lane[l] += a[s * lanes + l] * w[s * lanes + l];
    for (size_t offset = WARP / 2; offset; offset /= 2)
        for (size_t l = 0; l < offset; l++) lane[l] += lane[l + offset];
    return lane[0];
}

static float sum_lanes(const lb_sum_order *o, const float *a, const float *w, size_t k) {
    const size_t steps = lb_order_laid(o, k) / o->lanes;
    float sum = sum_warp(a, w, steps, o->lanes);
    for (size_t l = WARP; l < o->lanes; l += WARP) sum += sum_warp(a + l, w + l, steps, o->lanes);
    return sum;
}

/* v[n] becomes neighbours' sums, level by level; an odd one out waits. */
static float sum_tree(float *v, size_t n) {
    if (!n) return 0;
    for (; n > 1; n = (n + 1) / 2) {
        for (size_t i = 0; i < n / 2; i++) v[i] = v[2 * i] + v[2 * i + 1];
        if (n % 2) v[n / 2] = v[n - 1];
    }
    return v[0];
}

static float sum_steps(const lb_sum_order *o, const float *a, const float *w, size_t k, float *scratch) {
    const size_t step = o->step ? o->step : k;
    float *v = o->step ? (float[STEP_MAX]){0} : scratch, sum = 0;
    for (size_t first = 0; first < k; first += step) {
        const size_t n = k - first < step ? k - first : step;
        float part = 0;
        if (o->tree) {
            for (size_t i = 0; i < n; i++) v[i] = a[first + i] * w[first + i];
            part = sum_tree(v, n);
        } else {
            part = a[first] * w[first];
            for (size_t i = 1; i < n; i++) part += a[first + i] * w[first + i];
        }
        sum += part;
    }
    return sum;
}

static float sum_folds(const lb_sum_order *o, const float *a, const float *w, size_t k, const float *scale, float *scratch) {
    if (!o->fold) return sum_steps(o, a, w, k, scratch);
    float outer = 0;
    for (size_t first = 0; first < k; first += o->fold) {
        const float inner = sum_steps(o, a + first, w + first, k - first < o->fold ? k - first : o->fold, scratch);
        outer += scale ? inner * scale[first / o->fold] : inner;
    }
    return outer;
}

static double sum_wide(const float *restrict a, const float *restrict w, size_t k) {
    double lane[8] = {0};
    for (size_t i = 0; i + 8 <= k; i += 8)
        for (size_t l = 0; l < 8; l++) lane[l] += (double)a[i + l] * (double)w[i + l];
    for (size_t i = k - k % 8; i < k; i++) lane[0] += (double)a[i] * (double)w[i];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

double lb_order_run(const lb_sum_order *o, const float *a, const float *w, size_t k, const float *scale, float *scratch) {
    if (o->wide) return sum_wide(a, w, k);
    if (o->lanes > 1) return (double)sum_lanes(o, a, w, k);
    const size_t part = (k + o->split - 1) / o->split;
    float sum = 0;
    for (unsigned p = 0; p < o->split; p++) {
        const size_t first = p * part < k ? p * part : k, n = k - first < part ? k - first : part;
        const float s = sum_folds(o, a + first, w + first, n, scale, scratch);
        sum = p ? sum + s : s;
    }
    return (double)sum;
}

lb_status lb_order_sum(const lb_sum_order *o, const float *a, const float *w, size_t k, const float *scale, size_t scale_block, double *out,
                       lb_error *err) {
    if (scale && (scale_block == 0 || (o->fold && o->fold != scale_block)))
        return lb_fail(err, LB_E_ARG, o->name, "scales of %zu elements; this order folds %u", scale_block, o->fold);
    const size_t laid = lb_order_laid(o, k);
    float *buffer = malloc((2 * laid + k + lb_order_scratch(o, k) + 1) * sizeof *buffer);
    if (!buffer) return lb_fail(err, LB_E_MEMORY, o->name, "no memory for %zu elements", k);
    float *la = buffer, *lw = la + laid, *flat = lw + laid, *scratch = flat + k;
    memcpy(flat, w, k * sizeof *flat);
    if (scale && !o->fold) lb_order_scale(flat, k, scale, scale_block);
    lb_order_lay(o, a, k, la);
    lb_order_lay(o, flat, k, lw);
    *out = lb_order_run(o, la, lw, k, o->fold ? scale : NULL, scratch);
    free(buffer);
    return LB_OK;
}
