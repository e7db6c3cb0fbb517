/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What puts the layers together: run a device behind guards, judge an output, replay a recording, speak lines of hex. */
#ifndef LASTBIT_RUN_H
#define LASTBIT_RUN_H

#include "lastbit/backends.h"
#include "lastbit/contracts.h"
#include "lastbit/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a device behind guards ------------------------------------------------------------------------------------ */

typedef enum lb_run_end { LB_RUN_DONE, LB_RUN_FAILED, LB_RUN_CRASHED, LB_RUN_TIMED_OUT } lb_run_end;

typedef struct lb_run_report {
    lb_run_end end;
    char why[512];         /* "killed by signal 11 (Segmentation fault)", "no answer in 10 s", what the device said */
    uint64_t not_written;  /* elements of y that still hold the poison */
    uint64_t guard_damage; /* bytes outside y that changed */
    bool inputs_changed;   /* a, b or c were written to */
    double seconds;
    char detail[256]; /* lb_device_detail of the device that ran */
} lb_run_report;

/** Run one case in a process of its own (a crash or a hang ends the case, never the caller), between guard zones, the output poisoned.
 *  on is what lb_device_open takes, or NULL with argv for a program. y [m][n] of x->out; it holds the poison where nothing was written.
 *  LB_OK means that the report says what happened; the device's own failures are in it.
 *  errors LB_E_NAME, LB_E_FILE, LB_E_UNAVAILABLE, LB_E_FORMAT, LB_E_SHAPE: the run could not begin; LB_E_MEMORY
 *  threads not from a process that other threads share locks with (it forks) */
lb_status lb_run_guarded(const char *on, char *const *argv, const lb_case *x, double timeout_seconds, void *y, lb_run_report *report,
                         lb_error *err);

/** A device whose operators run in a process of its own that answers case after case: what lb_device_run_op says of a crash, a hang, a
 *  write outside the arrays, to an input or to less than the whole output is LB_E_DEVICE or LB_E_TIMEOUT with the reason, and the next case
 *  gets a new process. It runs no products (lb_run_guarded does). timeout_seconds: of each case, whatever the call says.
 *  errors those of lb_device_open; LB_E_DEVICE where opening it crashed or took too long; LB_E_MEMORY. memory lb_device_close
 *  threads as lb_run_guarded */
lb_status lb_device_open_guarded(lb_device **out, const char *on, double timeout_seconds, lb_error *err);

/** The code that outputs are poisoned with before a run: a NaN where the format has one. threads pure */
uint64_t lb_poison_code(const lb_format *f);

/* ---- the main job ------------------------------------------------------------------------------------------------ */

typedef struct lb_check_options {
    lb_case x;               /* operands; x.out is the output format */
    const lb_mat *actual;    /* the output to judge, or NULL with on or argv */
    const char *actual_name; /* what the record calls it: "file:D.npy"; NULL: "memory" */
    const char *on;
    char *const *argv;           /* NULL-terminated */
    const lb_unit *unit;         /* NULL: no exact model */
    const lb_contract *contract; /* NULL: only the model's bits count; at least one of the two */
    bool nan_by_class;           /* with unit: any NaN equals any NaN */
    lb_reference_mode reference;
    size_t sample;          /* 0: every element; else at most this many rows and this many columns, edges first */
    uint64_t seed;          /* of the sample */
    double timeout_seconds; /* 0: 60 */
    size_t max_outliers;    /* 0: 16 */
    void (*progress)(void *user, const char *stage, double fraction); /* may be NULL */
    void *progress_user;
    bool power;                     /* see what the contract catches too (power.h) */
    const char *const *allow_blind; /* faults that it may miss */
    size_t allow_blind_count;
    bool quick;   /* the verdict alone: a failure is not diagnosed */
    void *output; /* not NULL: [m][n] of x.out, gets what a device wrote where it ran to its end */
} lb_check_options;

/** Judge one output. D of the unit over the whole GEMM is rounded once to x.out where that is another format.
 *  errors as its parts; the verdict is in the record. memory *out is the caller's, lb_record_close */
lb_status lb_check(const lb_check_options *o, lb_record **out, lb_error *err);

/** What lb_check allows at one element of D, term by term. k 0: A's columns. *in gets what the limit was made of.
 *  errors LB_E_SHAPE, LB_E_ARG for a place outside the output, LB_E_MEMORY. threads pure */
lb_status lb_contract_explain(const lb_case *x, const lb_contract *c, double k, size_t row, size_t col, lb_limit_input *in, lb_limit *out,
                              lb_error *err);

/** Rows (or columns) of a sample of about `count` of `n`: both ends, both sides of multiples of the tile sizes 8 … 256 near the
 *  ends, then seeded draws; ascending, distinct, at most count. *out is the caller's to free(). errors LB_E_MEMORY */
lb_status lb_sample_indices(size_t n, size_t count, uint64_t seed, uint32_t stream, size_t **out, size_t *out_count, lb_error *err);

/* ---- a strided block against a reference -------------------------------------------------------------------------- */

typedef struct lb_block_options {
    lb_mat reference;   /* [m][n] */
    const void *actual; /* bytes: guard, then m rows of ld elements, then guard */
    size_t actual_bytes;
    size_t ld;          /* 0: n */
    size_t guard_bytes; /* on each side */
    bool has_sentinel;
    uint64_t sentinel; /* element code in gaps and guards (guards: its bytes, repeated) */
    const lb_contract *contract;
    double k;
    size_t max_outliers;
    bool power;                     /* see what the contract catches too (power.h) */
    const char *const *allow_blind; /* faults that it may miss */
    size_t allow_blind_count;
} lb_block_options;

/** lb_grade over a strided block, with its guards and gaps audited: damage is FAIL. errors LB_E_SHAPE if the bytes do not fit. */
lb_status lb_grade_block(const lb_block_options *o, lb_record **out, lb_error *err);

/* ---- two files of any size ------------------------------------------------------------------------------------------ */

typedef struct lb_grade_files_options {
    const char *actual, *reference; /* FILE or FILE:tensor */
    const lb_format *format;        /* of both; NULL: the one that the files name */
    lb_file_options files;          /* raw_dtype, raw_shape: both are raw, and the reference has this shape */
    const lb_contract *contract;
    double k;
    bool has_sentinel;
    uint64_t sentinel; /* an element that still holds it was not written */
    size_t max_outliers;
    size_t band_bytes; /* of each file in memory at a time; 0: 4 MiB */
} lb_grade_files_options;

/** lb_grade of two tensors that are read in bands of rows (of parts of rows, where one is longer than a band): the same record, but for its
 *  timing. errors as lb_reader_open, with LB_E_UNAVAILABLE where a file can only be read whole; LB_E_SHAPE; as lb_grade; LB_E_FILE where a file
 *  is changed while it is read. memory two bands and a table of 512 KiB; *out is the caller's, lb_record_close */
lb_status lb_grade_files(const lb_grade_files_options *o, lb_record **out, lb_error *err);

/* ---- a unit of the caller's own ------------------------------------------------------------------------------------ */

/** A unit from a JSON file: parameters of lb_unit_set, a "name", and maybe a unit that it is "like" (docs/custom-unit.md).
 *  errors LB_E_FILE, one line, naming the nearest of an unknown key; LB_E_NAME for an unknown "like"; then *out is as it was */
lb_status lb_unit_read(const char *path, lb_unit *out, lb_error *err);

/* ---- recordings --------------------------------------------------------------------------------------------------- */

/** Replay a recording (dot/1, gemm/1) against the model of its unit, word for word. An unknown unit is SKIP.
 *  errors LB_E_FILE if it is not a recording, saying why */
lb_status lb_replay(const char *path, lb_record **out, lb_error *err);

/* ---- lines of hex: gen | any program | judge ------------------------------------------------------------------------ */

/** Line number `index` of suite "dot:UNIT" (a[0..k) b[0..k) c, space-separated hex) or "op:NAME" (input words of a scalar operation) into text[size]; the same for the same seed.
 *  errors LB_E_NAME, LB_E_ARG if size is too small (4096 always does) */
lb_status lb_gen_line(const char *suite, uint64_t seed, uint64_t index, char *text, size_t size, lb_error *err);

typedef struct lb_judge lb_judge;
/** Judge `count` answers of the suite, one line each in order: the output word last; words before it must repeat the inputs. */
lb_status lb_judge_open(lb_judge **out, const char *suite, uint64_t seed, uint64_t count, lb_error *err);
/** errors LB_E_FILE for a malformed line, with its number */
lb_status lb_judge_line(lb_judge *j, const char *line, size_t length, lb_error *err);
/** The verdict; fewer lines than count is FAIL, none is UNPROVEN. *out is the caller's. */
lb_status lb_judge_close(lb_judge *j, lb_record **out, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
