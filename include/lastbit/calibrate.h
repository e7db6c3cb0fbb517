/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a tolerance has to be: the drift of a unit or of a reduction order against another, measured on seeded operands, beside the floor
 * that a contract allows and the weakest fault that it has to catch. docs/howto/calibrate.md. */
#ifndef LASTBIT_CALIBRATE_H
#define LASTBIT_CALIBRATE_H

#include "lastbit/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reduction orders ----------------------------------------------------------------------------------------------- */

/** An order in which a kernel adds k products of f32 operands; products and sums are rounded to f32, nearest even.
 *  Rows in src/run/orders.def. */
typedef struct lb_sum_order {
    const char *name;
    unsigned lanes; /* partial sums that elements are dealt to, chunk by chunk; warps of 32 add theirs in halves, then warps in order */
    unsigned chunk; /* elements of one lane in a row */
    unsigned step;  /* products that are added among themselves before they join the sum; 0: all of them */
    bool tree;      /* a step's products: neighbours first, else one after another */
    unsigned fold;  /* a new sum every so many elements, which a block scale multiplies and an outer sum takes; 0: none */
    unsigned split; /* parts of K, added in order; 1: none */
    bool wide;      /* sums in f64: what stands for the true value (within k 2^-53) */
    const char *source, *note;
} lb_sum_order;

/** Row i in table order, NULL past the end. threads pure */
const lb_sum_order *lb_sum_order_row(size_t i);

/** errors LB_E_NAME, naming the nearest. threads pure */
lb_status lb_sum_order_find(const char *name, const lb_sum_order **out, lb_error *err);

/** sum a[i] w[i] in that order.
 *  shapes   a, w [k]; scale [ceil(k / scale_block)] or NULL: with `fold` it multiplies a group's sum, else each w before its product
 *  accuracy bit-exact by definition
 *  errors   LB_E_ARG for scales that are not one a group; LB_E_MEMORY. threads pure */
lb_status lb_order_sum(const lb_sum_order *order, const float *a, const float *w, size_t k, const float *scale, size_t scale_block,
                       double *out, lb_error *err);

/* ---- named cases ---------------------------------------------------------------------------------------------------- */

/** Shapes and draws of a case whose figures somebody recorded; rows in src/run/calibrate_cases.def. */
typedef struct lb_calibration_case {
    const char *name;
    size_t m, n;
    size_t k[4];        /* zeros behind the last */
    size_t prefixes[4]; /* rows that figures are wanted of, beside all of them; zeros behind the last */
    uint64_t seed;
    bool activations_first; /* of each depth; else the weights are drawn first */
    bool fp8_weights;       /* e4m3 with a scale for each block of 128 x 128 */
    const char *against;    /* the order that stands for the reference */
    const char *recorded;   /* what was recorded, in words */
    const char *source;
} lb_calibration_case;

const lb_calibration_case *lb_calibration_case_row(size_t i); /* NULL past the end. threads pure */

/* ---- faults --------------------------------------------------------------------------------------------------------- */

/** A fault that a tolerance should see; rows in src/run/calibrate_faults.def. NULL past the end. threads pure */
const char *lb_calibration_fault_name(size_t i);
const char *lb_calibration_fault_what(size_t i);

enum { LB_CALIBRATION_FAULTS_MAX = 16 };

/* ---- calibration ---------------------------------------------------------------------------------------------------- */

typedef struct lb_calibrate_options {
    const lb_unit *unit;         /* what is calibrated: a unit, … */
    const lb_schedule *schedule; /* … by this schedule, or NULL; out, scales, C and epilogue are left alone */
    const char *order;           /* … or an order's name */
    const char *against;         /* an order; NULL: the case's, else "f64" */
    const char *case_name;       /* NULL: none */
    const size_t *k;             /* [k_count] depths; 0 of them: the case's */
    size_t k_count;
    size_t m, n; /* 0: the case's, else 16 and 1024 */
    uint64_t seed;
    bool has_seed;        /* else the case's, or the seed contract's */
    const lb_format *out; /* NULL: bf16, or the unit's d where that is f16 */
    double margin;        /* of the floor; 0: 8 */
    double false_alarm;   /* P(a correct kernel fails a run) that margin_needed is sized for; 0: 1e-6 */
    double elements;      /* of a run; 0: those that were measured */
    void (*progress)(void *user, const char *stage, double fraction); /* may be NULL */
    void *progress_user;
} lb_calibrate_options;

/* How the drift that is left beside bias * value is taken to be distributed: the lightest that the sample does not refute. */
#define LB_CALIBRATION_TAIL_LIST(X)                                                                                                        \
    X(NORMAL, "normal", "normal: the area under a long walk of partial sums, which truncation leaves")                                     \
    X(WALK, "walk", "beyond t deviations exp(-pi t / 2): a walk times a walk, which rounding to nearest leaves")                           \
    X(SEEN, "seen", "heavier than both: the margin covers what was seen, and is sized for no rate")

typedef enum lb_calibration_tail {
#define X(id, name, text) LB_TAIL_##id,
    LB_CALIBRATION_TAIL_LIST(X)
#undef X
        LB_TAIL_COUNT
} lb_calibration_tail;

const char *lb_calibration_tail_name(lb_calibration_tail t);

/** Figures of some rows. Drift is what - against. */
typedef struct lb_calibration_figures {
    size_t first_row, rows, cols;
    double row_rms;   /* of all these rows, rounded reference */
    double floor;     /* margin 2^-24 sqrt(k) row_rms */
    double old_floor; /* 2^-20 row_rms */
    /* before the rounding to `out` */
    double drift_rms, drift_max;
    double bias;      /* drift = bias * value + what is left … */
    uint64_t decided; /* … of the values that are small enough for the floor to decide about (f32: all) … */
    double spread;    /* … whose standard deviation is so many 2^-24 sqrt(k) row_rms, each row's own; NAN where there are none */
    double largest;   /* the largest of them, in standard deviations */
    lb_calibration_tail tail;
    double margin_needed; /* in place of 8, for the false-alarm rate; NAN where it cannot be said */
    /* after it */
    double max_ulp; /* without sign changes below 0.05, as the seed contract counts them apart */
    uint64_t sign_flips;
    uint64_t over_ulp;   /* beyond 2 ULP */
    uint64_t over_floor; /* … and beyond the row's floor: what the contract refuses */
    uint64_t over_old;   /* beyond 2 ULP and beyond 2^-20 of the block's RMS, sign changes below 0.05 left out */
    double max_abs, rel_rms;
    double worst_ratio; /* largest error / floor of those beyond 2 ULP; 0 if there are none */
    size_t worst_row, worst_col;
    double fault_ratio[LB_CALIBRATION_FAULTS_MAX]; /* largest injected error / what is allowed there; NAN where it has no place */
    size_t weakest;                                /* fault with the least of them */
} lb_calibration_figures;

typedef struct lb_calibration_depth {
    size_t k;
    lb_calibration_figures *blocks; /* [block_count] rows 0 … of each prefix; the last one is all rows */
    size_t block_count;
    lb_calibration_figures *rows; /* [m] */
    double seconds;
} lb_calibration_depth;

typedef struct lb_calibration {
    char what[700], against[64];
    const lb_calibration_case *named; /* NULL: none */
    const lb_format *in, *out;
    size_t m, n;
    uint64_t seed;
    double margin, false_alarm, elements;
    bool truncates;               /* the accumulator does */
    lb_calibration_depth *depths; /* [depth_count] */
    size_t depth_count;
} lb_calibration;

/** Measure. Each depth draws operands anew from the seed (cases with activations_first go on with one generator).
 *  errors   LB_E_NAME (order, case), LB_E_ARG, LB_E_FORMAT for a unit that has no drift (integers, f64) or takes scales; LB_E_UNAVAILABLE
 *           for an open row; LB_E_MEMORY
 *  memory   about 12 m n + 8 m k bytes, and 64 MiB; *out is the caller's, lb_calibration_close
 *  threads  pure; its own are OpenMP's */
lb_status lb_calibrate(const lb_calibrate_options *o, lb_calibration **out, lb_error *err);
void lb_calibration_close(lb_calibration *c); /* NULL is fine */

/** As one line of JSON, lastbit.calibration/1, the caller's to free(). errors LB_E_MEMORY */
lb_status lb_calibration_to_json(const lb_calibration *c, char **out, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
