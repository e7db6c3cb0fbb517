/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operators by MPFR at 400 bits, from their definitions in the literature: nothing of ours is included. Values are doubles in and out. */
#ifndef ORACLE_OPS_MPFR_H
#define ORACLE_OPS_MPFR_H

#include <stddef.h>

double oracle_gelu_tanh(double x);
double oracle_gelu_erf(double x);
double oracle_silu(double x);
double oracle_sigmoid(double x);

/** start + sum of a[i] b[i]. */
double oracle_dot(double start, const double *a, const double *b, size_t n);

void oracle_softmax(const double *x, size_t n, double *y);
double oracle_cross_entropy(const double *x, size_t n, size_t id);
void oracle_layernorm(const double *x, const double *gamma, const double *beta, size_t n, double eps, double *y);
void oracle_rmsnorm(const double *x, const double *gamma, size_t n, double eps, double *y);

/** The pair (a, b) turned by pos / scale * theta^(-2 i / rotary), into y[2]. */
void oracle_turn(double a, double b, double pos, double scale, double theta, size_t i, size_t rotary, double y[2]);

/** One query over keys [from, to) of seq rows of d: scores times scale (0: 1/sqrt d), softcap (0: none), + alibi (j - p). */
void oracle_attention(const double *q, const double *k, const double *v, size_t d, size_t from, size_t to, double scale, double softcap,
                      double alibi, double p, const double *sink, double *o);

/** One channel of a selective scan: b and c [seq][state]; y[seq]. */
void oracle_scan(const double *u, const double *delta, const double *a, const double *b, const double *c, size_t seq, size_t state,
                 double *y);

#endif
