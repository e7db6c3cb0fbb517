/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Suites of scalar operations: recordings op/1 (a GPU's answers to the same 1,024 rows), and anyone's answers judged against a recording, or
 * against the models where there is none. docs/howto/judge-a-translator.md */
#ifndef LASTBIT_OPERATIONS_H
#define LASTBIT_OPERATIONS_H

#include "lastbit/capture.h"
#include "lastbit/scalar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* {0}: every operation, its models against themselves. */
typedef struct lb_operations_options {
    const char *recording;      /* op/1: its inputs, and its outputs as what is right; NULL: the standard rows, and the models */
    const char *part;           /* only operations with this in their names; NULL: all */
    const char *actual;         /* file with the outputs NAME.o0 … of whoever is judged */
    char *const *command;       /* or a program: called with a folder that holds case.json and in.safetensors, writes out.safetensors */
    const char *on;             /* or a device: "model", "cuda", "cuda:1" */
    const char *known, *approx; /* JSON files of the subject under test; NULL: none */
    double timeout_seconds;     /* of the program; 0: 600 */
    uint64_t seed;              /* of the standard rows; 0: 1 */
    void (*progress)(void *user, const char *stage, double fraction); /* or NULL */
    void *user;
} lb_operations_options;

/* Of one operation, in the first rows that differ. */
typedef struct lb_operations_row {
    size_t row;
    int output; /* number of the word */
    uint64_t in[LB_SCALAR_MAX_IN], got, want;
} lb_operations_row;

enum { LB_OPERATIONS_ROWS = 3 };

typedef struct lb_operations_result {
    const lb_scalar_op *op; /* NULL: the recording has an operation that is not modelled, by `name` */
    char name[80];
    lb_verdict verdict; /* SKIP with a reason: nobody answered, not modelled, or known to differ */
    bool known;         /* differs, and known.json says so */
    bool recorded;      /* right is the recording's words, not the models' */
    char reason[256];
    uint64_t total, compared, exact, allowed, differ; /* words; total - compared: the document says nothing of them */
    lb_operations_row rows[LB_OPERATIONS_ROWS];
    size_t row_count;
} lb_operations_result;

/** Judge. Without actual, command and on, the models answer.
 *  known.json and approx.json are arrays of {"op": NAME, "words": COUNT, "reason": TEXT}. An operation of known.json may differ in up to as
 *  many words, and then is a SKIP marked known; one that matches, or differs in more, is a FAIL. One of approx.json may differ in up to as
 *  many words. An answer of class A is judged by its bound where the models are what is right.
 *  errors LB_E_FILE (a recording or list that is malformed, with place), LB_E_NAME (an operation in a list that does not exist), LB_E_ARG,
 *         LB_E_UNAVAILABLE (no GPU), LB_E_DEVICE (the program or the GPU failed), LB_E_TIMEOUT, LB_E_MEMORY
 *  memory *out [*count] is the caller's to free() */
lb_status lb_operations_replay(const lb_operations_options *o, lb_operations_result **out, size_t *count, lb_error *err);

/** A result as a record, for reports. errors LB_E_MEMORY. memory lb_record_close */
lb_status lb_operations_record(const lb_operations_options *o, const lb_operations_result *r, lb_record **out, lb_error *err);

/** Whether a file is a recording op/1 (answered or not). errors those of lb_file_open */
lb_status lb_operations_is_recording(const char *path, bool *is, lb_error *err);

/** Write the standard rows as a request: inputs and PTX of each operation, no outputs. errors LB_E_NAME if no name has `part`; LB_E_FILE */
lb_status lb_operations_request(const char *path, const char *part, uint64_t seed, lb_error *err);

/** Record operations with `part` in their names (NULL: all that this GPU's driver takes) into FOLDER/operations.safetensors: inputs, outputs, PTX
 *  and machine code. out->outputs are words; *refused counts operations that the driver does not take.
 *  errors as lb_capture_unit */
lb_status lb_capture_operations(lb_capture *c, const char *part, uint64_t seed, lb_capture_result *out, size_t *refused, lb_error *err);

/** The PTX that an operation is recorded with; *out is the caller's to free(). errors LB_E_MEMORY. threads pure */
lb_status lb_operation_ptx(const lb_scalar_op *op, char **out, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
