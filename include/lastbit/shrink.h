/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A failing check made small, and the capsule that carries it: one file that reruns anywhere. docs/howto/shrink.md, docs/capsule.md. */
#ifndef LASTBIT_SHRINK_H
#define LASTBIT_SHRINK_H

#include "lastbit/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kinds of failure ------------------------------------------------------------------------------------------------ */

#define LB_FAILURE_LIST(X)                                                                                                                 \
    X(NONE, "none", "the verdict is not FAIL")                                                                                             \
    X(VALUE, "value", "numbers are wrong")                                                                                                 \
    X(CLASS, "class", "NaN or Inf where the other side has a number")                                                                      \
    X(UNWRITTEN, "unwritten", "elements of the output were not written")                                                                   \
    X(GUARDS, "guards", "the device wrote outside the output")                                                                             \
    X(INPUTS, "inputs", "the device wrote to its inputs")                                                                                  \
    X(FAILED, "failed", "the device said that it failed")                                                                                  \
    X(CRASHED, "crashed", "the device crashed")                                                                                            \
    X(HUNG, "hung", "the device gave no answer in time")

typedef enum lb_failure {
#define X(id, name, text) LB_FAILURE_##id,
    LB_FAILURE_LIST(X)
#undef X
        LB_FAILURE_COUNT
} lb_failure;

const char *lb_failure_name(lb_failure f);

/** The kind of a record of lb_check. threads pure */
lb_failure lb_failure_of(const lb_record *r);

/* ---- shrinking ------------------------------------------------------------------------------------------------------- */

typedef struct lb_shrink_options {
    const lb_check_options *check;                                    /* what fails; of every element, so sample is 0 */
    double seconds;                                                   /* 0: 60 */
    uint64_t runs;                                                    /* 0: 2000 */
    void (*progress)(void *user, const char *stage, double fraction); /* may be NULL; fraction is of the budget */
    void *progress_user;
} lb_shrink_options;

/** The smallest case that was found to fail in the same way. */
typedef struct lb_shrunk {
    lb_check_options check; /* the check that was given, with its operands replaced; actual is `observed` where no device is run */
    lb_record *record;      /* of the small case, diagnosed */
    lb_failure failure;
    size_t from_m, from_n, from_k;
    uint64_t runs;
    double seconds;
    bool out_of_budget; /* it may become smaller still */
    char kept[160];     /* what was not tried, and why; "" if everything was */
    lb_mat observed;    /* codes NULL where the device did not end */
    void *memory[8];    /* what the operands lie in */
} lb_shrunk;

/** Make a failing check small: rows, columns and depth first, then strides and C, then values towards 0 and 1; each step must fail in the
 *  same way. A step under a contract must also leave a plain f32 product that passes where the whole case does, so that what is left is
 *  the kernel's fault and not one of the contract. With check->actual there is no device to run again: only rows and columns can be
 *  left out, and the first wrong element stays.
 *  errors   LB_E_ARG where the check passes or looks at a sample; LB_E_UNAVAILABLE where it proves nothing; LB_E_DEVICE where it fails at one time and passes at another; those
 *           of lb_check
 *  memory   *out is the caller's, lb_shrunk_close; its check borrows unit and contract
 *  threads  as lb_check */
lb_status lb_shrink(const lb_shrink_options *o, lb_shrunk **out, lb_error *err);
void lb_shrunk_close(lb_shrunk *s); /* NULL is fine */

/** As one line of JSON, lastbit.shrink/1, the caller's to free(). capsule may be NULL. errors LB_E_MEMORY */
lb_status lb_shrunk_to_json(const lb_shrunk *s, const char *capsule, char **out, lb_error *err);

/* ---- capsules -------------------------------------------------------------------------------------------------------- */

/** What a capsule says beside what the check does. NULL: nothing. */
typedef struct lb_capsule_notes {
    const char *contract; /* as lb_contract_open takes it; a file's text is put into the capsule. NULL: the name of check->contract */
    const char *command;  /* what made the capsule */
    const char *shrunk;   /* from what */
} lb_capsule_notes;

/** Write a check and what came of it as one safetensors file, lastbit.capsule/1. observed may be NULL; expected is computed.
 *  errors LB_E_FILE; LB_E_ARG for a unit that its name does not find again (one from a file) */
lb_status lb_capsule_write(const char *path, const lb_check_options *check, const lb_record *record, const lb_mat *observed,
                           const lb_capsule_notes *notes, lb_error *err);

typedef struct lb_capsule lb_capsule;

/** Read one; it is treated as hostile. errors LB_E_FILE with the key or the tensor, LB_E_MEMORY. memory lb_capsule_close */
lb_status lb_capsule_open(lb_capsule **out, const char *path, lb_error *err);
void lb_capsule_close(lb_capsule *c); /* NULL is fine */

/** The check inside: operands, unit, contract; actual is the observed output, or NULL. */
const lb_check_options *lb_capsule_check(const lb_capsule *c);
const char *lb_capsule_text(const lb_capsule *c, const char *key); /* NULL if the capsule does not say */

/** Judge it again: the observed output, or with on or argv what that device makes of the inputs. A capsule without an output and without
 *  a device is UNPROVEN; so is PASS where the capsule expects other bits than this library computes. Further fields of `how` (timeout_seconds,
 *  max_outliers, progress) are taken as they are.
 *  errors as lb_check. memory *out is the caller's, lb_record_close */
lb_status lb_capsule_judge(const lb_capsule *c, const lb_check_options *how, lb_record **out, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
