/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: an arithmetic, and matrix products in it. */
#ifndef LB_NETS_ARITH_H
#define LB_NETS_ARITH_H

#include "lastbit/gemm.h"
#include "lastbit/nets.h"

typedef enum lb_arith_how { LB_ARITH_TRUTH, LB_ARITH_REPLAY, LB_ARITH_UNIT, LB_ARITH_DEVICE, LB_ARITH_TRACE } lb_arith_how;

struct lb_arith {
    char name[600];
    lb_arith_how how;
    const lb_format *format; /* of activations and weights, but for a unit's operands */
    lb_replay_order order;
    lb_unit unit;
    const lb_block_format *block_a, *block_b; /* of a unit with scales */
    lb_device *device;
    lb_file *trace;              /* what an engine wrote down: tensors called as values, [rows][cols] */
    lb_function_class functions; /* what its functions promise */
};

/** Rows of numbers: one of the two, the other NULL. */
typedef struct lb_rows {
    const double *d;
    const float *f;
    size_t rows, cols;
} lb_rows;

/** One operand of a unit: codes [rows][cols], scales of blocks, and a power of two a row. */
typedef struct lb_coded {
    const lb_format *format;
    void *codes;
    const lb_block_format *block; /* NULL: no block scales */
    uint8_t *scales;              /* [rows][ceil(cols / block)] */
    int *exponent;                /* [rows]: the row's values are those of its codes times 2^exponent */
    size_t rows, cols;
} lb_coded;

/** Round to nearest into the unit's format of A (or of B). errors LB_E_MEMORY. memory lb_coded_free */
lb_status lb_coded_make(lb_coded *out, const lb_arith *a, bool is_b, const lb_rows *x, lb_error *err);
void lb_coded_free(lb_coded *x);
/** Row r as numbers. */
void lb_coded_row(const lb_coded *x, size_t r, double *out);

/** out[i][j] = sum over l of a[i][l] b[j][l] as the unit gives it, scaled back, as f32 values. */
lb_status lb_unit_product(const lb_arith *arith, const lb_coded *a, const lb_coded *b, double *out, lb_error *err);

/** The same in f64, and the sum of magnitudes where gauge is not NULL. */
lb_status lb_plain_product(const lb_rows *a, const lb_rows *b, double *out, double *gauge, lb_error *err);

/** What accumulation over k products on the unit may lose, relative to the sum of magnitudes. */
double lb_unit_loss(const lb_unit *u, size_t k);

#endif
