/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every operator on real devices: a plan of cases, each run behind guards and judged against the truth; what breaks when a batch, a
 * split or a padding changes; the table of deviations. */
#ifndef LASTBIT_PARITY_H
#define LASTBIT_PARITY_H

#include "lastbit/operators.h"
#include "lastbit/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What to run. Zero means the default. */
typedef struct lb_parity_options {
    const char *const *on; /* [on_count] what lb_device_open takes; none: what this machine has of the default devices */
    size_t on_count;
    const char *const *ops; /* [op_count] names; none: every operator */
    size_t op_count;
    const char *pattern;      /* only cases whose text holds it; NULL: all */
    const char *const *cases; /* [case_count] texts of lb_op_case_open, instead of the plan */
    size_t case_count;
    bool quick;             /* the short plan: each operator at few shapes */
    uint64_t seed;          /* of the plan's draws, beside the pinned ones; 0: 1 */
    unsigned jobs;          /* processes a device; 0: 1 */
    unsigned repeats;       /* runs of each case, whose bits must be the same; 0: 1 */
    double timeout_seconds; /* of one case; 0: 20 */
    const char *known;      /* a file of known defects beside the shipped rows (docs/howto/parity.md); NULL: none */
    bool plan_only;         /* open no device: only the plan is asked for */
    bool no_shipped_known;  /* leave the shipped rows out */
    bool no_power;          /* do not measure what the limits catch */
    const char *functions;  /* class of functions (lb_function_class_name) for every device; NULL: the device's own */
} lb_parity_options;

typedef struct lb_parity lb_parity;

/** Plan, and start a process for each device. A device of the default ones that this machine lacks is left out; one that was named is
 *  an error.
 *  errors LB_E_NAME, LB_E_ARG, LB_E_FILE (the known rows), LB_E_UNAVAILABLE, LB_E_DEVICE, LB_E_MEMORY
 *  memory lb_parity_close. threads as lb_run_guarded */
lb_status lb_parity_open(lb_parity **out, const lb_parity_options *o, lb_error *err);
void lb_parity_close(lb_parity *p); /* NULL is fine */

size_t lb_parity_case_count(const lb_parity *p);                 /* of the plan */
const char *lb_parity_case_text(const lb_parity *p, size_t i);   /* NULL past the end */
size_t lb_parity_device_count(const lb_parity *p);               /* */
const char *lb_parity_device(const lb_parity *p, size_t i);      /* "opencl:0 (PoCL …)"; NULL past the end */
const char *lb_parity_device_name(const lb_parity *p, size_t i); /* "opencl:0" */
const char *lb_parity_left_out(const lb_parity *p,
                               size_t i); /* "vulkan: no driver …": default devices that are not here; NULL past the end */

/** The next record, case by case and within a case device by device; *out NULL: that was all. Whatever the device does is in the record.
 *  errors LB_E_ARG (a case's text), LB_E_MEMORY. memory *out is the caller's */
lb_status lb_parity_next(lb_parity *p, lb_record **out, lb_error *err);

/** How far it is: cases done. */
size_t lb_parity_done(const lb_parity *p);

/** What became of one operator on one device. */
typedef struct lb_parity_row {
    const char *op, *on;
    size_t cases, pass, fail, known, unproven, skip; /* fail: without the known ones */
    double worst_ratio;                              /* largest error / limit of what passed; NAN: none */
    char worst[LB_OP_TEXT];                          /* its case */
    size_t power_caught, power_due;
    unsigned restarts; /* of the device's process, while it ran this */
} lb_parity_row;

const lb_parity_row *lb_parity_row_at(const lb_parity *p, size_t i); /* NULL past the end */

/** How far two devices are apart over all cases that both answered: the largest distance of two numbers in ULP, INFINITY where classes
 *  differ; NAN if they share no case. odd: cases of three or more answers in which a is further from each of the others than they are
 *  from one another (asked with b == a). */
double lb_parity_distance(const lb_parity *p, size_t a, size_t b);
size_t lb_parity_odd(const lb_parity *p, size_t device, size_t *of);

/** Known rows that cases met, one line each with how many of them failed; NULL past the end. */
const char *lb_parity_known(const lb_parity *p, size_t i);

/** Known rows that should have failed and did not, one line each; NULL past the end. To be asked at the end. */
const char *lb_parity_stale(const lb_parity *p, size_t i);

/** Exit code of the run so far: a FAIL that is not known, or a stale known row, 1; else UNPROVEN 3; else 0; nothing compared is 3. */
int lb_parity_exit(const lb_parity *p);

/* ---- what must not change the bits ------------------------------------------------------------------------------------------ */

/** One axis of one operator on one device. */
typedef struct lb_invariance {
    const char *op, *axis, *what; /* "row", "a row alone against the same row in the batch" */
    const char *on;
    lb_verdict verdict;      /* PASS: the same bits; FAIL: others; SKIP: with the reason */
    char reason[256];        /* */
    double ulp;              /* the largest distance; INFINITY where classes differ */
    size_t differ, compared; /* elements */
    char text[LB_OP_TEXT];   /* the case */
} lb_invariance;

/** Names of the axes in the order in which they are tried, and what each changes; NULL past the end. threads pure */
const char *lb_axis_name(size_t i);
const char *lb_axis_summary(size_t i);

typedef struct lb_invariance_run lb_invariance_run;
lb_status lb_invariance_open(lb_invariance_run **out, const lb_parity_options *o, lb_error *err);
/** The next one; *more false: that was all. */
lb_status lb_invariance_next(lb_invariance_run *r, lb_invariance *out, bool *more, lb_error *err);
void lb_invariance_close(lb_invariance_run *r);

/* ---- how large the inputs may be --------------------------------------------------------------------------------------------- */

/** The first magnitude of one operator's data inputs at which a device leaves the limit, by powers of four. */
typedef struct lb_sweep_row {
    const char *op, *on;
    double last_good, first_bad; /* NAN: none */
    double largest;              /* the largest that could be judged */
    char reason[256];            /* of the first bad one */
    char text[LB_OP_TEXT];       /* its case, or that of the largest one tried */
} lb_sweep_row;

typedef struct lb_sweep lb_sweep;
lb_status lb_sweep_open(lb_sweep **out, const lb_parity_options *o, lb_error *err);
lb_status lb_sweep_next(lb_sweep *s, lb_sweep_row *out, bool *more, lb_error *err);
void lb_sweep_close(lb_sweep *s);

/* ---- the table of deviations -------------------------------------------------------------------------------------------------- */

/** One row of a document's table, on one device (on "replay:device": no device, the fixed-order replay). */
typedef struct lb_deviation {
    const char *name, *text, *on; /* "MatMul (32×64×48)", the case */
    char device[512];             /* what is under it: "OpenCL …, driver …"; "" of a replay */
    double tolerance, stated;     /* the document's; stated NAN: it states no number */
    double limit;                 /* the largest limit that is derived for the case: f32 sums in any order, functions within an ULP */
    const char *made_of;          /* what that limit is made of */
    double max_abs, ulp;          /* against the sequential replay: what the document measures */
    size_t row, col;              /* where */
    double margin;                /* tolerance / max_abs; INFINITY where the bits are the same */
    char cause[160];
    lb_verdict verdict; /* max_abs <= tolerance; SKIP where there is nothing to run yet, with the reason in cause */
} lb_deviation;

typedef struct lb_deviations lb_deviations;
/** document "seed-002". Devices as in lb_parity_options.on, and "replay:device"; where none is named, that and the default ones. errors LB_E_NAME for an unknown document; as lb_parity_open */
lb_status lb_deviations_open(lb_deviations **out, const char *document, const lb_parity_options *o, lb_error *err);
lb_status lb_deviations_next(lb_deviations *d, lb_deviation *out, bool *more, lb_error *err);
void lb_deviations_close(lb_deviations *d);

/** What neither the plan nor the table runs, and why; false past the end. The strings are static. threads pure */
typedef struct lb_not_covered {
    const char *what, *which, *why; /* "attention", "dist=offset", "scores of 1e6 …" */
} lb_not_covered;

bool lb_parity_not_covered(size_t i, lb_not_covered *out);

#ifdef __cplusplus
}
#endif
#endif
