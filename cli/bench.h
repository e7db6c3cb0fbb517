/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What bench compares with: OpenBLAS, if it can be loaded, and other models of matrix units, if Python has them. */
#ifndef LB_CLI_BENCH_H
#define LB_CLI_BENCH_H

#include "cli.h"

#define BENCH_ROW_SECONDS 2.0

/* What one call took. */
typedef struct bench_time {
    double wall, cpu;
} bench_time;

typedef void bench_sgemm_function(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
                                  const int *, const float *, const int *, const float *, float *, const int *);

typedef struct bench_blas {
    void *library;
    bench_sgemm_function *gemm; /* NULL: why_not says */
    char core[64], config[256], why_not[256];
    char taken_for[64]; /* the core that OpenBLAS took this processor for, where a better one was named instead */
    float *a, *b, *c;   /* [size][size] */
    void (*set_threads)(int);
} bench_blas;

double bench_seconds(void);

/* Processor time of this process: what others on the machine take does not count. */
double bench_cpu_seconds(void);

/* Load OpenBLAS, with OPENBLAS_* out of the environment, which would choose slower kernels, and operands for products up to `size`. */
void bench_open_blas(bench_blas *b, int threads, size_t size);
void bench_close_blas(bench_blas *b);

/* Seconds of one product of n x n x n, on the clock and of the processor. */
bench_time bench_sgemm(bench_blas *b, size_t n, int threads);

typedef struct bench_rival {
    const char *name;
    char what[128]; /* what ran */
    double gmac_s;  /* NAN: why_not says */
    char why_not[256];
} bench_rival;

/* errors LB_E_NAME */
lb_status bench_against(const char *name, bench_rival *out, lb_error *err);

#endif
