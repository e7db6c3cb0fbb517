/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Numerics contracts: which bits are allowed beside the exact ones. Rows in src/contracts/contracts.def. */
#ifndef LASTBIT_CONTRACTS_H
#define LASTBIT_CONTRACTS_H

#include "lastbit/refs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a contract says ---------------------------------------------------------------------------------------- */

/* Which formula makes an element's tolerance; c its lb_contract, r the reference there. */
#define LB_BOUND_LIST(X)                                                                                                                   \
    X(ULP_OR_FLOOR, "ulp-or-floor", "max_ulp ordinals, or margin * unit_roundoff * sqrt(k) * row_rms")                                     \
    X(GAUGE, "gauge", "margin * eps(out) * sum|a||b|")                                                                                     \
    X(GAMMA, "gamma", "gamma_n(u) * sum|a||b| + underflow, between the reals that round to actual and to reference")                       \
    X(STATISTICAL, "statistical", "sqrt(n) * u * scale sized from the false-alarm rate + bias of truncation, between the same reals")      \
    X(RELATIVE, "relative", "atol + rtol * |r|")                                                                                           \
    X(SWITCHED, "switched", "rtol * |r|; where |r| <= small: max(atol, rtol)")                                                             \
    X(NORM, "norm", "of the block alone: sum error^2 <= margin * sum r^2")                                                                 \
    X(BASELINE, "baseline", "of the block alone: max error <= margin * (a plain kernel's max error + max |(r + 0.3 - 0.3) - r|)")

typedef enum lb_bound {
#define X(id, name, text) LB_BOUND_##id,
    LB_BOUND_LIST(X)
#undef X
        LB_BOUND_COUNT
} lb_bound;

const char *lb_bound_name(lb_bound b);

/* What is graded apart from the metric: NaN against another NaN, zeros of both signs, zero where the reference is subnormal, the
 * largest finite value where it overflowed. Each is legal, wrong, or left to the bound. NaN beside a number is wrong everywhere. */
#define LB_SPECIALS_LIST(X)                                                                                                                \
    X(IEEE, "ieee", LEGAL, LEGAL, BOUND, BOUND, WRONG, "any NaN for NaN, Inf for the same Inf")                                            \
    X(STRICT, "strict", LEGAL, WRONG, WRONG, WRONG, WRONG, "the bits of NaN, and the sign of zero")                                        \
    X(FLUSH, "flush", LEGAL, LEGAL, LEGAL, LEGAL, WRONG, "as ieee, and zero for a subnormal result")                                       \
    X(SATURATE, "saturate", LEGAL, LEGAL, BOUND, BOUND, LEGAL, "as ieee, and the largest finite value for an overflow")                    \
    X(FLUSH_SATURATE, "flush-saturate", LEGAL, LEGAL, LEGAL, LEGAL, LEGAL, "flush and saturate")                                           \
    X(NO_NAN, "no-nan", WRONG, WRONG, BOUND, BOUND, WRONG, "no NaN equals anything, itself included")

typedef enum lb_specials {
#define X(id, name, nan_same, nan_other, zero_sign, flushed, saturated, text) LB_SPECIALS_##id,
    LB_SPECIALS_LIST(X)
#undef X
        LB_SPECIALS_COUNT
} lb_specials;

const char *lb_specials_name(lb_specials s);

typedef enum lb_order { LB_ORDER_SEQUENTIAL, LB_ORDER_PAIRWISE } lb_order;

/** One level of a reduction tree: groups of `width` partial sums, each added in this order. width 0: all that are left. */
typedef struct lb_level {
    lb_order order;
    double width;
} lb_level;

/** How a kernel adds k products. {0} is a chain of k additions in f32, rounded to nearest. */
typedef struct lb_reduction {
    bool truncates;     /* additions drop bits; unit_roundoff is then 2^-23 for an f32 */
    double step;        /* products that hardware adds at once to the accumulator, with one rounding; 0: 1 */
    double frac_bits;   /* fraction bits that addends keep, below the largest of a step; 0: each counts as an addition of its own */
    lb_level levels[8]; /* from the products outward */
    size_t level_count; /* 0: one chain */
    double split_k;     /* partial sums over parts of k, added in f32; 0: 1 */
    double promote;     /* products after which the accumulator is added to an f32; 0: never */
    double fold_group;  /* scales are applied to the sums of so many products; 0: not */
    bool fold_element;  /* scales are applied to each element: a rounding of each operand */
    bool rounds_products;
    double least_normal;               /* of the accumulator; 0: 2^-126, an f32's */
    bool flushes_inputs, flushes_sums; /* subnormal operands, subnormal results of additions, are taken as zero */
} lb_reduction;

/** A contract. `bound` says which of the numbers count. Open one with lb_contract_open; rows are src/contracts/contracts.def. */
typedef struct lb_contract {
    const char *name;
    double max_ulp, margin, unit_roundoff;
    double sign_flip_band; /* a sign change below this |reference| is counted … */
    bool flips_graded;     /* … and graded like any other element (the original skips it) */
    bool classes_first;    /* NaN and Inf are classes, not ordinals (the original takes them as numbers) */
    double rel_rms_gate;   /* of the whole block; INFINITY: none */
    const char *formats;   /* output formats it is made for, space-separated; "any" */
    lb_evidence evidence;
    const char *source, *note;
    lb_bound bound;
    lb_specials specials;
    double atol, rtol, small;
    const char *dtypes;     /* rows of src/contracts/tolerances.def that give atol and rtol by output format; NULL: as above */
    const char *parameters; /* what NAME:x,y sets: "rtol atol"; NULL: nothing */
    double false_alarm;     /* statistical: P(a correct kernel fails) of a run; 0: 1e-6 */
    double cases;           /* … of so many cases; 0: 1 */
    lb_reduction reduction;
} lb_contract;

const lb_contract *lb_contract_row(size_t i);                                         /* NULL past the end */
lb_status lb_contract_find(const char *name, const lb_contract **out, lb_error *err); /* a row; errors LB_E_NAME, naming the nearest */

/** A contract by name ("m16-tc"), by name and parameters ("ulp:4", "allclose:1e-3,1e-5"), or from a file ("x.json", docs/contract-file.md).
 *  errors LB_E_NAME, LB_E_ARG for a parameter, LB_E_FILE with the key, LB_E_MEMORY. memory the caller's, lb_contract_close */
lb_status lb_contract_open(const char *what, lb_contract **out, lb_error *err);
void lb_contract_close(lb_contract *c); /* NULL is fine */

/** The same from JSON in memory; place is what errors call it. */
lb_status lb_contract_from_json(const char *text, size_t size, const char *place, lb_contract **out, lb_error *err);

/** What a grade under this contract must be given beside reference and k. threads pure */
bool lb_contract_needs_gauge(const lb_contract *c);
bool lb_contract_needs_baseline(const lb_contract *c);

/** What it allows, in words with numbers, for outputs of rows x cols and depth k: "2 ulp or the floor at k = 300; rel_rms <= 0.001".
 *  The text is the caller's to free(). errors LB_E_MEMORY */
lb_status lb_contract_rule(const lb_contract *c, const lb_format *out_format, double k, double elements, char **out, lb_error *err);

/** margin * unit_roundoff * sqrt(k) * row_rms: below it an ordinal budget says nothing. 0 of other bounds. threads pure */
double lb_contract_floor(const lb_contract *c, double k, double row_rms);

/** n * u summed over the longest way of a product through the reduction, as gamma: x / (1 - x); INFINITY where that says nothing.
 *  threads pure. source higham-2002 */
double lb_reduction_gamma(const lb_contract *c, double k);

/** P(a correct kernel fails) for one element and for a run of `elements`, as the contract states it; NAN where it states none. */
double lb_contract_false_alarm(const lb_contract *c, double elements, double *per_element);

/* ---- one element's limit, term by term ----------------------------------------------------------------------------- */

typedef struct lb_limit_input {
    const lb_format *format; /* of the output */
    uint64_t reference;      /* code */
    double k, row_rms;
    double elements;      /* of the output; 0: 1 */
    double gauge;         /* sum |a||b| + |c|; NAN: not known */
    double flushed_gauge; /* the part of it that flushed inputs lose */
} lb_limit_input;

typedef struct lb_limit_term {
    const char *name, *what; /* "k", "reduction depth" */
    double value;
    bool part; /* of the sum that is the tolerance; else a number that parts are made of */
} lb_limit_term;

typedef struct lb_limit {
    double tolerance; /* absolute, without the ordinal budget and the roundings to the output format */
    double ulp_reach; /* the ordinal budget (or those roundings) as a distance */
    double bound;     /* what an element may be off: the wider of the two, or their sum where both count; NAN: no limit of elements */
    lb_limit_term terms[24]; /* [term_count] */
    size_t term_count;
    const char *decided; /* the part that decides */
} lb_limit;

/** errors LB_E_ARG where the contract needs a gauge and has none, k below 1; LB_E_FORMAT. threads pure */
lb_status lb_contract_limit(const lb_contract *c, const lb_limit_input *in, lb_limit *out, lb_error *err);

/* ---- grading ------------------------------------------------------------------------------------------------------- */

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
    uint64_t sentinel;           /* an element that still holds it, where the reference does not, was not written */
    size_t max_outliers;         /* how many wrong elements to list; 0: 16 */
    const double *gauge;         /* [rows][cols] sum |a||b| + |c|, as lb_reference_matmul gives it; NULL: not known */
    const double *flushed_gauge; /* [rows][cols] the part of it that flushed inputs lose; NULL: 0 */
    const lb_mat *baseline;      /* a plain kernel's output, or NULL */
    double elements;             /* of the whole output, which a false-alarm rate is of; 0: rows * cols */
} lb_grade_input;

/** Judge every element and put counts, metrics, first, worst, outliers, verdict and reason into the record.
 *  FAIL: an element is wrong, or the block's rel_rms is not <= the gate. UNPROVEN: nothing compared, an all-zero reference,
 *  a limit that is infinite, or (where nothing is wrong) a reference whose error exceeds an eighth of an element's tolerance.
 *  NaN never slips through.
 *  errors LB_E_SHAPE, LB_E_FORMAT, LB_E_ARG (neither exact nor contract; a k below 1 or infinite; a row_rms negative or not finite;
 *         no gauge or baseline where the contract needs one), LB_E_MEMORY; the record is then unchanged
 *  memory 512 KiB for the duration where 65536 elements or more of a format of at most 16 bits are judged
 *  threads pure
 *  source seed-contract */
lb_status lb_grade(const lb_grade_input *in, lb_record *r, lb_error *err);

/** lb_grade under the rule that lb_contract_open takes: quick to try one output under many rules. in->contract is not looked at. */
lb_status lb_grade_by(const char *rule, const lb_grade_input *in, lb_record *r, lb_error *err);

/** lb_grade in pieces, for outputs that are not in memory as a whole. */
typedef struct lb_grading lb_grading;

/** whole: what lb_grade takes, of all pieces; no code or number in it is looked at. The shape is the whole output's; a gauge that is not
 *  NULL says that each piece has one.
 *  errors as lb_grade; LB_E_ARG for a contract that judges by a baseline. memory *out is the caller's, lb_grading_close */
lb_status lb_grading_open(lb_grading **out, const lb_grade_input *whole, lb_error *err);

/** The RMS of a reference row of which only parts are at hand: of this part [1][cols] and those since the first. */
double lb_grading_scan(lb_grading *g, const lb_mat *part, bool first);

/** RMS of whole reference rows, rms [rows->rows], so that one thread can find those of the next piece while another judges this one. */
void lb_grading_rms(const lb_grading *g, const lb_mat *rows, double *rms);

/** Judge whole rows from `row` on; or a part of them from column `col` on, then with the row_rms that
 *  lb_grading_scan gives. In row-major order the verdict and
 *  every number are lb_grade's own. errors as lb_grade */
lb_status lb_grading_add(lb_grading *g, const lb_grade_input *piece, size_t row, size_t col, lb_error *err);

/** The verdict on all that was added into the record, as lb_grade gives it; r NULL: none. g NULL is fine. */
void lb_grading_close(lb_grading *g, lb_record *r);

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
