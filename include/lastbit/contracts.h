/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Numerics contracts: which bits are allowed beside the exact ones. Rows in src/contracts/contracts.def. */
#ifndef LASTBIT_CONTRACTS_H
#define LASTBIT_CONTRACTS_H

#include "lastbit/refs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A contract of the ordinal-budget-plus-floor kind. An element is legal if it is within max_ulp ordinals of the reference, or
 *  within margin * unit_roundoff * sqrt(k) * row_rms of it. */
typedef struct lb_contract {
    const char *name;
    double max_ulp, margin, unit_roundoff;
    double sign_flip_band; /* a sign change below this |reference| is counted … */
    bool flips_graded;     /* … and graded like any other element (the original skips it) */
    bool classes_first;    /* NaN and Inf are classes, not ordinals (the original takes them as numbers) */
    double rel_rms_gate;   /* of the whole block */
    const char *formats;   /* output formats it is made for, space-separated */
    lb_evidence evidence;
    const char *source, *note;
} lb_contract;

const lb_contract *lb_contract_row(size_t i);                                         /* NULL past the end */
lb_status lb_contract_find(const char *name, const lb_contract **out, lb_error *err); /* errors LB_E_NAME, naming the nearest */

/** margin * unit_roundoff * sqrt(k) * row_rms: below it an ordinal budget says nothing. threads pure */
double lb_contract_floor(const lb_contract *c, double k, double row_rms);

/** What is compared. Rows of the matrices are rows of the output (or of the sample of it). */
typedef struct lb_grade_input {
    lb_mat actual, reference;            /* same format and shape */
    const lb_mat *exact;                 /* the unit model's output, or NULL */
    bool nan_by_class;                   /* with exact: any NaN equals any NaN */
    const lb_contract *contract;         /* NULL: only exact counts */
    double k;                            /* reduction depth */
    const double *reference_error;       /* [rows][cols], before the rounding to the output format; NULL: unknown, not gated */
    const double *row_rms;               /* [rows]: RMS of whole reference rows where reference is a sample; NULL: computed here */
    const size_t *row_index, *col_index; /* places in the whole output to report; NULL: as they are */
    bool has_sentinel;
    uint64_t sentinel;   /* an element that still holds it, where the reference does not, was not written */
    size_t max_outliers; /* how many wrong elements to list; 0: 16 */
} lb_grade_input;

/** Judge every element and put counts, metrics, first, worst, outliers, verdict and reason into the record.
 *  FAIL: an element is wrong, or the block's rel_rms is not <= the gate. UNPROVEN: nothing compared, an all-zero reference,
 *  or (where nothing is wrong) a reference whose error exceeds an eighth of an element's tolerance. NaN never slips through.
 *  errors LB_E_SHAPE, LB_E_FORMAT, LB_E_ARG (neither exact nor contract; a k below 1 or infinite; a row_rms negative or not finite),
 *         LB_E_MEMORY; the record is then unchanged
 *  memory 512 KiB for the duration where 65536 elements or more of a format of at most 16 bits are judged
 *  threads pure
 *  source seed-contract */
lb_status lb_grade(const lb_grade_input *in, lb_record *r, lb_error *err);

/* ---- the tensor-core contract, as its users know it (source: seed-contract) ------------------------------------ */

#define LB_M16_MAX_ULP        2
#define LB_F32_UNIT_ROUNDOFF  0x1p-24
#define LB_M16_FLOOR_MARGIN   8.0
#define LB_M16_SIGN_FLIP_BAND 0.05
#define LB_M16_REL_RMS_GATE   1e-3
#define LB_M16_OLD_FLOOR      0x1p-20 /* the fixed floor that it replaced: times the block RMS */

/** bf16 bits to a monotone integer: |ord(a) - ord(b)| is the ULP distance, +0 and -0 are one point. threads pure */
int32_t lb_bf16_ord(uint16_t bits);

/** 8 * 2^-24 * sqrt(k) * row_rms, k the reduction depth. threads pure */
double lb_m16_floor(size_t k, double row_rms);

/** The predicate of the original: within 2 ordinals, or within the floor. NaN and Inf count as numbers here. threads pure */
bool lb_m16_within(uint16_t actual, uint16_t reference, size_t k, double row_rms);

typedef struct lb_m16_outlier {
    size_t row, col;
    float reference, actual; /* values, exact for bf16 */
    int32_t ulp;
    double row_rms, floor;
} lb_m16_outlier;

typedef struct lb_m16_diff {
    int32_t max_ulp;             /* without sign flips */
    lb_m16_outlier *over_budget; /* [over_count] */
    size_t over_count;
    size_t over_ulp_only; /* beyond the ordinal budget, whether or not the floor admitted them */
    size_t sign_flips;
    double max_abs, rel_rms, rms;
    double *row_rms; /* [row_count] */
    size_t row_count;
} lb_m16_diff;

/** The block comparison of the original, to the letter: little-endian bf16 blocks zipped to the shorter, a trailing odd byte
 *  ignored, n columns (0: one row under the block RMS), a sign change below 0.05 counted and not graded, NaN and Inf as numbers.
 *  errors LB_E_MEMORY. memory free with lb_m16_diff_free. threads pure */
lb_status lb_m16_compare_block(const void *actual, size_t actual_bytes, const void *reference, size_t reference_bytes, size_t n, size_t k,
                               lb_m16_diff *out, lb_error *err);
void lb_m16_diff_free(lb_m16_diff *d);

#ifdef __cplusplus
}
#endif
#endif
