/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the paths beside the truncated blocks of step.c, one K step at a time. Each function below is the specification of its path; docs/units.md has
 * the rule in words. */
#ifndef LB_UNITS_PATH_H
#define LB_UNITS_PATH_H

#include "units/step.h"

enum { LB_MAX_K = 256 }; /* products of one K step */

/* An operand as a path wants it: its code, or decoded once where the path aligns terms. */
typedef union lb_cell {
    uint64_t code;
    lb_term term;
} lb_cell;

/* One K step of one element of D. */
typedef struct lb_step {
    const lb_unit *u;
    const lb_engine *g;               /* of a truncated block: BLOCK_SCALED, SPARSE */
    int count;                        /* products: u->k, half of it where A is sparse */
    const lb_cell *a, *b;             /* [count]; b gathered where A is sparse */
    const lb_cell *scale_a, *scale_b; /* [u->k / u->scale_block] */
} lb_step;

/* The accumulator after the step. */
typedef uint64_t lb_step_function(const lb_step *s, uint64_t c);

lb_step_function lb_step_fma_chain, lb_step_odd_first, lb_step_two_chains;              /* fma_chain.c */
lb_step_function lb_step_exact, lb_step_pairwise, lb_step_late_c, lb_step_late_c_split; /* mfma.c */
lb_step_function lb_step_pair_odd, lb_step_pair_fused;                                  /* pairs.c */
lb_step_function lb_step_integer, lb_step_xor_popc, lb_step_and_popc;                   /* integer.c */
lb_step_function lb_step_block_scaled;                                                  /* block_scaled.c */
lb_step_function lb_step_sparse;                                                        /* sparse.c */

/* A row made ready. */
typedef struct lb_code_path {
    lb_step_function *step;
    bool terms;  /* the path takes terms, not codes */
    lb_engine g; /* BLOCK_SCALED, SPARSE */
} lb_code_path;

/* Whether this path is one of those above; the others are lb_engine's. */
bool lb_is_code_path(lb_unit_path path);

/* errors LB_E_FORMAT, LB_E_ARG for parameters that the path cannot hold */
lb_status lb_code_path_of(const lb_unit *u, lb_code_path *out, lb_error *err);

lb_cell lb_cell_of(const lb_unit *u, const lb_code_path *path, lb_format_id format, uint64_t code);

/* Formats and shapes of A, B, C and D. */
lb_status lb_check_operands(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_mat *d, lb_error *err);

/* Scales and metadata of a code path, for these A and B. */
lb_status lb_check_with(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_unit_operands *with, lb_error *err);

lb_status lb_code_gemm(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, lb_mat *d,
                       lb_error *err);

/* Where the compressed elements first … first + count - 1 of a row go along k. errors LB_E_ARG, naming the element of the metadata */
lb_status lb_sparse_index(const lb_unit *u, const lb_mat *metadata, size_t row, size_t first, size_t count, size_t *index, lb_error *err);

#endif
