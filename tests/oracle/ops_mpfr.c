/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ops_mpfr.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

enum { BITS = 400 };

#define N MPFR_RNDN

static double take(mpfr_t x) {
    const double v = mpfr_get_d(x, N);
    mpfr_clear(x);
    return v;
}

double oracle_gelu_tanh(double x) {
    mpfr_t y, c;
    mpfr_inits2(2 * BITS, y, c, (mpfr_ptr)0); /* 1 + tanh cancels */
    mpfr_set_d(y, x, N);
    mpfr_pow_ui(y, y, 3, N);
    mpfr_mul_ui(y, y, 44715, N);
    mpfr_div_ui(y, y, 1000000, N);
    mpfr_add_d(y, y, x, N);
    mpfr_const_pi(c, N);
    mpfr_ui_div(c, 2, c, N);
    mpfr_sqrt(c, c, N);
    mpfr_mul(y, y, c, N);
    mpfr_tanh(y, y, N);
    mpfr_add_ui(y, y, 1, N);
    mpfr_mul_d(y, y, x, N);
    mpfr_div_ui(y, y, 2, N);
    mpfr_clear(c);
    return take(y);
}

double oracle_gelu_erf(double x) {
    mpfr_t y, root;
    mpfr_inits2(BITS, y, root, (mpfr_ptr)0);
    mpfr_sqrt_ui(root, 2, N);
    mpfr_set_d(y, -x, N);
    mpfr_div(y, y, root, N);
    mpfr_erfc(y, y, N);
    mpfr_mul_d(y, y, x, N);
    mpfr_div_ui(y, y, 2, N);
    mpfr_clear(root);
    return take(y);
}

double oracle_sigmoid(double x) {
    mpfr_t y;
    mpfr_init2(y, BITS);
    mpfr_set_d(y, -x, N);
    mpfr_exp(y, y, N);
    mpfr_add_ui(y, y, 1, N);
    mpfr_ui_div(y, 1, y, N);
    return take(y);
}

double oracle_silu(double x) {
    mpfr_t y;
    mpfr_init2(y, BITS);
    mpfr_set_d(y, -x, N);
    mpfr_exp(y, y, N);
    mpfr_add_ui(y, y, 1, N);
    mpfr_d_div(y, x, y, N);
    return take(y);
}

double oracle_dot(double start, const double *a, const double *b, size_t n) {
    mpfr_t sum, p;
    mpfr_inits2(BITS, sum, p, (mpfr_ptr)0);
    mpfr_set_d(sum, start, N);
    for (size_t i = 0; i < n; i++) {
        mpfr_set_d(p, a[i], N);
        mpfr_mul_d(p, p, b[i], N);
        mpfr_add(sum, sum, p, N);
    }
    mpfr_clear(p);
    return take(sum);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------- */

static mpfr_t *make(size_t n) {
    mpfr_t *x = malloc((n + 1) * sizeof *x);
    for (size_t i = 0; i <= n; i++) mpfr_init2(x[i], BITS);
    return x;
}

static void drop(mpfr_t *x, size_t n) {
    for (size_t i = 0; i <= n; i++) mpfr_clear(x[i]);
    free(x);
}

/* x[0..n) become exponentials (no maximum is taken out: MPFR does not overflow here), x[n] their sum. */
static void exponentials(mpfr_t *x, size_t n) {
    mpfr_set_zero(x[n], 1);
    for (size_t i = 0; i < n; i++) {
        mpfr_exp(x[i], x[i], N);
        mpfr_add(x[n], x[n], x[i], N);
    }
}

void oracle_softmax(const double *x, size_t n, double *y) {
    mpfr_t *w = make(n);
    for (size_t i = 0; i < n; i++) mpfr_set_d(w[i], x[i], N);
    exponentials(w, n);
    for (size_t i = 0; i < n; i++) {
        mpfr_div(w[i], w[i], w[n], N);
        y[i] = mpfr_get_d(w[i], N);
    }
    drop(w, n);
}

double oracle_cross_entropy(const double *x, size_t n, size_t id) {
    mpfr_t *w = make(n);
    for (size_t i = 0; i < n; i++) mpfr_set_d(w[i], x[i], N);
    exponentials(w, n);
    mpfr_log(w[n], w[n], N);
    mpfr_sub_d(w[n], w[n], x[id], N);
    const double y = mpfr_get_d(w[n], N);
    drop(w, n);
    return y;
}

/* r = 1 / sqrt(mean of (x - m)^2 + eps) */
static void one_over_root(mpfr_t r, const double *x, size_t n, mpfr_t m, double eps) {
    mpfr_t t;
    mpfr_init2(t, BITS);
    mpfr_set_zero(r, 1);
    for (size_t i = 0; i < n; i++) {
        mpfr_d_sub(t, x[i], m, N);
        mpfr_sqr(t, t, N);
        mpfr_add(r, r, t, N);
    }
    mpfr_div_ui(r, r, (unsigned long)n, N);
    mpfr_add_d(r, r, eps, N);
    mpfr_rec_sqrt(r, r, N);
    mpfr_clear(t);
}

static void normalise(const double *x, const double *gamma, const double *beta, size_t n, double eps, mpfr_t mean, double *y) {
    mpfr_t r, t;
    mpfr_inits2(BITS, r, t, (mpfr_ptr)0);
    one_over_root(r, x, n, mean, eps);
    for (size_t i = 0; i < n; i++) {
        mpfr_d_sub(t, x[i], mean, N);
        mpfr_mul(t, t, r, N);
        mpfr_mul_d(t, t, gamma[i], N);
        if (beta) mpfr_add_d(t, t, beta[i], N);
        y[i] = mpfr_get_d(t, N);
    }
    mpfr_clears(r, t, (mpfr_ptr)0);
}

void oracle_layernorm(const double *x, const double *gamma, const double *beta, size_t n, double eps, double *y) {
    mpfr_t mean;
    mpfr_init2(mean, BITS);
    mpfr_set_zero(mean, 1);
    for (size_t i = 0; i < n; i++) mpfr_add_d(mean, mean, x[i], N);
    mpfr_div_ui(mean, mean, (unsigned long)n, N);
    normalise(x, gamma, beta, n, eps, mean, y);
    mpfr_clear(mean);
}

void oracle_rmsnorm(const double *x, const double *gamma, size_t n, double eps, double *y) {
    mpfr_t zero;
    mpfr_init2(zero, BITS);
    mpfr_set_zero(zero, 1);
    normalise(x, gamma, NULL, n, eps, zero, y);
    mpfr_clear(zero);
}

void oracle_turn(double a, double b, double pos, double scale, double theta, size_t i, size_t rotary, double y[2]) {
    mpfr_t angle, power, c, s, t;
    mpfr_inits2(BITS, angle, power, c, s, t, (mpfr_ptr)0);
    mpfr_set_d(power, -2.0 * (double)i, N);
    mpfr_div_ui(power, power, (unsigned long)rotary, N);
    mpfr_set_d(angle, theta, N);
    mpfr_pow(angle, angle, power, N);
    mpfr_mul_d(angle, angle, pos, N);
    mpfr_div_d(angle, angle, scale, N);
    mpfr_sin_cos(s, c, angle, N);
    mpfr_mul_d(power, c, a, N);
    mpfr_mul_d(t, s, b, N);
    mpfr_sub(power, power, t, N);
    y[0] = mpfr_get_d(power, N);
    mpfr_mul_d(power, c, b, N);
    mpfr_mul_d(t, s, a, N);
    mpfr_add(power, power, t, N);
    y[1] = mpfr_get_d(power, N);
    mpfr_clears(angle, power, c, s, t, (mpfr_ptr)0);
}

static void score(mpfr_t s, const double *q, const double *k, size_t d, double scale, double softcap) {
    mpfr_t t;
    mpfr_init2(t, BITS);
    mpfr_set_zero(s, 1);
    for (size_t i = 0; i < d; i++) {
        mpfr_set_d(t, q[i], N);
        mpfr_mul_d(t, t, k[i], N);
        mpfr_add(s, s, t, N);
    }
    mpfr_sqrt_ui(t, (unsigned long)d, N);
    if (scale != 0)
        mpfr_mul_d(s, s, scale, N);
    else
        mpfr_div(s, s, t, N);
    if (softcap != 0) {
        mpfr_div_d(s, s, softcap, N);
        mpfr_tanh(s, s, N);
        mpfr_mul_d(s, s, softcap, N);
    }
    mpfr_clear(t);
}

void oracle_attention(const double *q, const double *k, const double *v, size_t d, size_t from, size_t to, double scale, double softcap,
                      double alibi, double p, const double *sink, double *o) {
    const size_t keys = to - from, n = keys + (sink != NULL);
    mpfr_t *w = make(n), t, sum;
    mpfr_inits2(BITS, t, sum, (mpfr_ptr)0);
    for (size_t j = 0; j < keys; j++) {
        score(w[j], q, k + (from + j) * d, d, scale, softcap);
        mpfr_set_d(t, alibi, N);
        mpfr_mul_d(t, t, (double)(from + j) - p, N);
        mpfr_add(w[j], w[j], t, N);
    }
    if (sink) mpfr_set_d(w[keys], *sink, N);
    exponentials(w, n);
    for (size_t c = 0; c < d; c++) {
        mpfr_set_zero(sum, 1);
        for (size_t j = 0; j < keys; j++) {
            mpfr_mul_d(t, w[j], v[(from + j) * d + c], N);
            mpfr_add(sum, sum, t, N);
        }
        mpfr_div(sum, sum, w[n], N);
        o[c] = mpfr_get_d(sum, N);
    }
    mpfr_clears(t, sum, (mpfr_ptr)0);
    drop(w, n);
}

void oracle_scan(const double *u, const double *delta, const double *a, const double *b, const double *c, size_t seq, size_t state,
                 double *y) {
    mpfr_t *h = make(state), t, sum;
    mpfr_inits2(BITS, t, sum, (mpfr_ptr)0);
    for (size_t n = 0; n < state; n++) mpfr_set_zero(h[n], 1);
    for (size_t i = 0; i < seq; i++) {
        mpfr_set_zero(sum, 1);
        for (size_t n = 0; n < state; n++) {
            mpfr_set_d(t, delta[i], N);
            mpfr_mul_d(t, t, a[n], N);
            mpfr_exp(t, t, N);
            mpfr_mul(h[n], h[n], t, N);
            mpfr_set_d(t, delta[i], N);
            mpfr_mul_d(t, t, u[i], N);
            mpfr_mul_d(t, t, b[i * state + n], N);
            mpfr_add(h[n], h[n], t, N);
            mpfr_mul_d(t, h[n], c[i * state + n], N);
            mpfr_add(sum, sum, t, N);
        }
        y[i] = mpfr_get_d(sum, N);
    }
    mpfr_clears(t, sum, (mpfr_ptr)0);
    drop(h, state);
}
