/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* References: row by row. */
#include "refs/op_ref.h"

#include <math.h>
#include <stdlib.h>

static lb_status no_memory(const lb_ref *r) {
    return lb_fail(r->err, LB_E_MEMORY, r->x->op->name, "out of memory");
}

static size_t whole(const lb_ref *r, const char *name) {
    return (size_t)lb_ref_whole(r, name);
}

static void put_all(const lb_ref *r, size_t start, size_t n, double v) {
    for (size_t i = 0; i < n; i++) lb_ref_put_exact(r, 0, start + i, v);
}

/* ---- softmax ---------------------------------------------------------------------------------------------------------------- */

static int descending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The different scores of a row, largest first, where every kernel sees these very scores and exp(0) is 1; else NULL. free() */
static double *different(const lb_num *s, size_t n, lb_function_class c, size_t *count) {
    for (size_t j = 0; j < n; j++)
        if (s[j].l > 0 || c == LB_FUNCTIONS_VULKAN) return NULL;
    double *x = malloc(n * sizeof *x);
    if (!x) return NULL;
    for (size_t j = 0; j < n; j++) x[j] = s[j].v;
    qsort(x, n, sizeof *x, descending);
    *count = 0;
    for (size_t j = 0; j < n; j++)
        if (*count == 0 || x[j] != x[*count - 1]) x[(*count)++] = x[j];
    return x;
}

/* How often the maximum can still rise after a key of score v: once for each different score above it. */
static size_t rises(const double *x, size_t count, double v) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (x[mid] > v)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Rescaling, relative: each rise of the maximum multiplies what is there by exp(old max - new max); those arguments add up to at most what
 * the key's score lies below the maximum. */
static double rescaling(const lb_ref *r, size_t times, double below) {
    const lb_function_row *e = lb_function_row_at(LB_FN_exp);
    const double ulp = e->at[r->c].ulp, per_x = e->at[r->c].ulp_per_x;
    return (double)times * (2 * ulp + 1) * LB_U + below * (2 * per_x + 1) * LB_U;
}

bool lb_ref_weights(const lb_ref *r, const lb_num *s, size_t n, lb_num *w, double *top) {
    double most = -INFINITY;
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        if (isnan(s[j].v) || s[j].v == INFINITY) return false;
        if (s[j].v > most) most = s[j].v;
    }
    if (most == -INFINITY) return false;
    double *scores = different(s, n, r->c, &count);
    for (size_t j = 0; j < n; j++) {
        if (s[j].v == -INFINITY) {
            w[j] = (lb_num){0, 0, 0};
            continue;
        }
        const lb_num far = lb_num_sub(s[j], (lb_num){most, 0, 0}, r->c); /* a kernel's own max is a common factor */
        w[j] = lb_num_call(LB_FN_exp, far, r->c);
        if (scores && far.v == 0) w[j].l = 0; /* exp(0) */
        if (w[j].v > 0) w[j].l += rescaling(r, scores ? rises(scores, count, s[j].v) : n, most - s[j].v) * w[j].v;
    }
    free(scores);
    if (top) *top = most;
    return true;
}

static lb_num sum_of(const lb_num *w, size_t n, lb_function_class c) {
    lb_sum s;
    lb_sum_start(&s);
    for (size_t j = 0; j < n; j++) lb_sum_add(&s, w[j]);
    return lb_sum_value(&s, c);
}

static void softmax_row(const lb_ref *r, size_t start, size_t d, lb_num *s, lb_num *w) {
    for (size_t j = 0; j < d; j++) s[j] = lb_ref_in(r, 0, start + j);
    if (!lb_ref_weights(r, s, d, w, NULL)) {
        put_all(r, start, d, NAN);
        return;
    }
    const lb_num sum = sum_of(w, d, r->c);
    for (size_t j = 0; j < d; j++) lb_ref_put(r, 0, start + j, lb_num_div(w[j], sum, r->c));
}

lb_status lb_ref_softmax(lb_ref *r) {
    const size_t d = whole(r, "d");
    lb_num *s = malloc(2 * d * sizeof *s);
    if (!s) return no_memory(r);
    for (size_t start = 0; start < r->t->count[0]; start += d) softmax_row(r, start, d, s, s + d);
    free(s);
    return LB_OK;
}

lb_status lb_ref_cross_entropy(lb_ref *r) {
    const size_t d = whole(r, "vocab");
    lb_num *s = malloc(2 * d * sizeof *s);
    double top;
    if (!s) return no_memory(r);
    for (size_t row = 0; row < whole(r, "rows"); row++) {
        for (size_t j = 0; j < d; j++) s[j] = lb_ref_in(r, 0, row * d + j);
        if (!lb_ref_weights(r, s, d, s + d, &top)) {
            lb_ref_put_exact(r, 0, row, NAN);
            continue;
        }
        const lb_num log_sum = lb_num_call(LB_FN_log, sum_of(s + d, d, r->c), r->c);
        const lb_num all = lb_num_add(log_sum, (lb_num){top, 0, 0}, r->c);
        lb_ref_put(r, 0, row, lb_num_sub(all, s[(size_t)r->in[1][row]], r->c));
    }
    free(s);
    return LB_OK;
}

/* ---- norms ------------------------------------------------------------------------------------------------------------------ */

static lb_num divided_by(lb_num a, size_t n, lb_function_class c) {
    lb_num m = lb_num_div(a, (lb_num){(double)n, 0, 0}, c);
    m.l += 2 * LB_U * fabs(m.v); /* or times 1 / n, which is rounded too */
    return m;
}

static lb_num one_over_root(const lb_ref *r, lb_num square) {
    return lb_num_call(LB_FN_rsqrt, lb_num_add(square, lb_num_of(lb_ref_real(r, "eps"), r->c), r->c), r->c);
}

/* Variance about a mean that is off by mean.l in a kernel: sum (x - m)^2 = sum (x - mean)^2 + n (m - mean)^2, the cross term being 0. */
static lb_num variance(const lb_ref *r, const lb_num *x, size_t d, lb_num mean, lb_num *away) {
    lb_sum squares;
    double own = 0;
    lb_sum_start(&squares);
    for (size_t i = 0; i < d; i++) {
        const lb_num apart = {x[i].v - mean.v, mean.e + 0x1p-53 * fabs(x[i].v - mean.v), 0};
        lb_sum_product(&squares, apart, apart);
        own += 2 * fabs(apart.v) * (LB_U * (fabs(apart.v) + mean.l) + x[i].l);
        away[i] = lb_num_sub(x[i], mean, r->c);
    }
    lb_num sum = lb_sum_value(&squares, r->c);
    if (sum.v == 0 && mean.l == 0) return (lb_num){0, sum.e, 0};
    sum.l = own + (double)d * (mean.l * mean.l + (LB_U * (sum.v + own + (double)d * mean.l * mean.l)));
    if (!(sum.v + sum.l < 0x1p128)) sum.l = INFINITY;
    return divided_by(sum, d, r->c);
}

static void layernorm_row(const lb_ref *r, size_t start, size_t d, lb_num *x, lb_num *away) {
    bool finite = true;
    for (size_t i = 0; i < d; i++) {
        x[i] = lb_ref_in(r, 0, start + i);
        finite = finite && isfinite(x[i].v);
    }
    if (!finite) {
        put_all(r, start, d, NAN);
        return;
    }
    const lb_num scale = one_over_root(r, variance(r, x, d, divided_by(sum_of(x, d, r->c), d, r->c), away));
    for (size_t i = 0; i < d; i++) {
        const lb_num y = lb_num_mul(lb_num_mul(away[i], scale, r->c), lb_ref_in(r, 1, i), r->c);
        lb_ref_put(r, 0, start + i, lb_num_add(y, lb_ref_in(r, 2, i), r->c));
    }
}

lb_status lb_ref_layernorm(lb_ref *r) {
    const size_t d = whole(r, "d");
    lb_num *x = malloc(2 * d * sizeof *x);
    if (!x) return no_memory(r);
    for (size_t start = 0; start < r->t->count[0]; start += d) layernorm_row(r, start, d, x, x + d);
    free(x);
    return LB_OK;
}

lb_status lb_ref_rmsnorm(lb_ref *r) {
    const size_t d = whole(r, "d");
    for (size_t start = 0; start < r->t->count[0]; start += d) {
        lb_sum s;
        lb_sum_start(&s);
        for (size_t i = 0; i < d; i++) lb_sum_product(&s, lb_ref_in(r, 0, start + i), lb_ref_in(r, 0, start + i));
        lb_num scale = one_over_root(r, divided_by(lb_sum_value(&s, r->c), d, r->c));
        if (s.has_special && s.special == INFINITY) scale = (lb_num){0, 0, 0};
        for (size_t i = 0; i < d; i++)
            lb_ref_put(r, 0, start + i, lb_num_mul(lb_num_mul(lb_ref_in(r, 0, start + i), scale, r->c), lb_ref_in(r, 1, i), r->c));
    }
    return LB_OK;
}

/* ---- along a row or a sequence ------------------------------------------------------------------------------------------------ */

lb_status lb_ref_cumsum(lb_ref *r) {
    const size_t d = whole(r, "d");
    lb_sum s;
    for (size_t i = 0; i < r->t->count[0]; i++) {
        if (i % d == 0) lb_sum_start(&s);
        lb_sum_add(&s, lb_ref_in(r, 0, i));
        lb_ref_put(r, 0, i, lb_sum_value(&s, r->c));
    }
    return LB_OK;
}

lb_status lb_ref_conv1d(lb_ref *r) {
    const size_t seq = whole(r, "seq"), d = whole(r, "d"), width = whole(r, "width");
    for (size_t i = 0; i < seq; i++)
        for (size_t c = 0; c < d; c++) {
            lb_sum s;
            lb_sum_start(&s);
            lb_sum_add(&s, lb_ref_in(r, 2, c));
            for (size_t t = 0; t < width; t++)
                if (i + t + 1 >= width) lb_sum_product(&s, lb_ref_in(r, 1, c * width + t), lb_ref_in(r, 0, (i + t + 1 - width) * d + c));
            lb_ref_put(r, 0, i * d + c, lb_sum_value(&s, r->c));
        }
    return LB_OK;
}

/* One step of a channel: h [state] moves on, y comes out. */
static lb_num scan_step(const lb_ref *r, lb_num *h, size_t i, size_t c, size_t d, size_t state) {
    const lb_num u = lb_ref_in(r, 0, i * d + c), delta = lb_ref_in(r, 1, i * d + c), step = lb_num_mul(delta, u, r->c);
    lb_sum y;
    lb_sum_start(&y);
    for (size_t n = 0; n < state; n++) {
        const lb_num decay = lb_num_call(LB_FN_exp, lb_num_mul(delta, lb_ref_in(r, 2, c * state + n), r->c), r->c);
        const lb_num in = lb_num_mul(step, lb_ref_in(r, 3, i * state + n), r->c);
        h[n] = lb_num_add(lb_num_mul(decay, h[n], r->c), in, r->c);
        lb_sum_product(&y, lb_ref_in(r, 4, i * state + n), h[n]);
    }
    return lb_sum_value(&y, r->c);
}

lb_status lb_ref_selective_scan(lb_ref *r) {
    const size_t seq = whole(r, "seq"), d = whole(r, "d"), state = whole(r, "state");
    lb_num *h = malloc(state * sizeof *h);
    if (!h) return no_memory(r);
    for (size_t c = 0; c < d; c++) {
        for (size_t n = 0; n < state; n++) h[n] = (lb_num){0, 0, 0};
        for (size_t i = 0; i < seq; i++) lb_ref_put(r, 0, i * d + c, scan_step(r, h, i, c, d, state));
    }
    free(h);
    return LB_OK;
}
