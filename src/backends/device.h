/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The seam: what a backend is to the rest of the house. A backend embeds lb_device first and fills the table of functions;
 * bounds and verdicts are not its business. How to add one: a folder, and a row in backends.def. */
#ifndef LB_BACKENDS_DEVICE_H
#define LB_BACKENDS_DEVICE_H

#include "lastbit/backends.h"
#include "lastbit/operators.h"

typedef struct lb_backend {
    const char *name, *summary;
    lb_status (*open)(lb_device **out, const char *which, lb_error *err); /* NULL: not opened by name */
    bool (*can)(const lb_device *d, const lb_case *x, const char **why_not);
    lb_status (*run)(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err); /* y filled whole */
    void (*close)(lb_device *d);
    /* operators of ops.def; NULL: none. run_op reads x->in and fills x->out whole */
    bool (*can_op)(const lb_device *d, const lb_op_case *x, const char **why_not);
    lb_status (*run_op)(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err);
} lb_backend;

struct lb_device {
    const lb_backend *backend;
    char name[512], detail[256];
    uint64_t guard_damage; /* bytes outside y that the last run changed, where the backend can see them */
    bool inputs_changed;   /* the last run wrote to a, b or c */
};

extern const lb_backend lb_backend_model, lb_backend_kernel, lb_backend_command;

/** Where the last run of a device left its marks. */
void lb_device_marks(const lb_device *d, uint64_t *guard_damage, bool *inputs_changed);

/** Open a program behind the seam (backends/command). */
lb_status lb_command_open(lb_device **out, char *const *argv, lb_error *err);

/** Run a program of lb_command_open once, its last argument `folder`. errors LB_E_DEVICE, LB_E_TIMEOUT, LB_E_NAME */
lb_status lb_command_in_folder(lb_device *d, char *folder, double timeout_seconds, lb_error *err);
void lb_command_remove_folder(const char *folder);

/** A matrix copied row-major without gaps; *bytes of it. free() */
lb_status lb_pack_mat(const lb_mat *m, void **out, size_t *bytes, lb_error *err);

/* ---- devices that compile text ------------------------------------------------------------------------------------------ */

typedef enum lb_arg_kind {
    LB_ARG_A,
    LB_ARG_B,
    LB_ARG_C,
    LB_ARG_D,
    LB_ARG_INT,
    LB_ARG_UINT,
    LB_ARG_LONG,
    LB_ARG_ULONG,
    LB_ARG_FLOAT,
    LB_ARG_LOCAL
} lb_arg_kind;

typedef struct lb_kernel_arg {
    lb_arg_kind kind;
    int64_t integer; /* INT … ULONG: the value; LOCAL: bytes */
    float real;      /* FLOAT */
} lb_kernel_arg;

enum { LB_MAX_ARGS = 32 };

/** One launch of a kernel's source, everything worked out. */
typedef struct lb_source_job {
    const char *path, *source, *entry, *options, *device; /* device: index or part of a name; "" for the first */
    lb_kernel_arg args[LB_MAX_ARGS];
    size_t arg_count;
    size_t global[3], local[3]; /* local[0] 0: the driver's choice */
    unsigned dims;
    const lb_case *x;
    void *y;          /* [m][n] */
    lb_device *marks; /* takes guard_damage, inputs_changed, detail */
} lb_source_job;

typedef lb_status lb_run_source(const lb_source_job *job, lb_error *err);

lb_run_source lb_opencl_run_source;

#endif
