/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The seam: what a backend is to the rest of the house. A backend embeds lb_device first and fills the table of functions;
 * bounds and verdicts are not its business. How to add one: a folder, and a row in backends.def. */
#ifndef LB_BACKENDS_DEVICE_H
#define LB_BACKENDS_DEVICE_H

#include "lastbit/backends.h"
#include "lastbit/operators.h"

typedef struct lb_backend {
    const char *name, *summary;
    bool alone;                                                           /* NAME opens it too, as NAME: with nothing behind */
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

extern const lb_backend lb_backend_model, lb_backend_cpu, lb_backend_opencl, lb_backend_plugin, lb_backend_kernel, lb_backend_command,
    lb_backend_vulkan, lb_backend_cuda;

/** What a device promises of its functions, by its name (devices.def). threads pure */
lb_function_class lb_device_functions(const char *on);

/** The beginnings of names that `lastbit parity` takes by itself, in order; NULL past the end. threads pure */
const char *lb_device_by_default(size_t i);

/** Where the last run of a device left its marks. */
void lb_device_marks(const lb_device *d, uint64_t *guard_damage, bool *inputs_changed);

/** Open a program behind the seam (backends/command). */
lb_status lb_command_open(lb_device **out, char *const *argv, lb_error *err);

/** Run a program of lb_command_open once, its last argument `folder`. errors LB_E_DEVICE, LB_E_TIMEOUT, LB_E_NAME */
lb_status lb_command_in_folder(lb_device *d, char *folder, double timeout_seconds, lb_error *err);

/** A matrix copied row-major without gaps; *bytes of it. free() */
lb_status lb_pack_mat(const lb_mat *m, void **out, size_t *bytes, lb_error *err);

/* ---- devices that compile text ------------------------------------------------------------------------------------------ */

typedef enum lb_arg_kind { LB_ARG_BUFFER, LB_ARG_INT, LB_ARG_UINT, LB_ARG_LONG, LB_ARG_ULONG, LB_ARG_FLOAT, LB_ARG_LOCAL } lb_arg_kind;

typedef struct lb_kernel_arg {
    lb_arg_kind kind;
    int64_t integer; /* BUFFER: which of the job's; INT … ULONG: the value; LOCAL: bytes */
    float real;      /* FLOAT */
} lb_kernel_arg;

enum { LB_MAX_ARGS = 32, LB_MAX_BUFFERS = LB_OP_INPUTS + LB_OP_OUTPUTS };

/* A dense buffer of a job. The device sees a copy between guard zones; an output starts as data holds it (poison) and comes back there. */
typedef struct lb_job_buffer {
    const char *name;
    void *data;
    size_t bytes;
    bool output;
} lb_job_buffer;

/** One launch of a kernel's source, everything worked out. */
typedef struct lb_source_job {
    const char *path, *source, *entry, *options;
    lb_kernel_arg args[LB_MAX_ARGS];
    size_t arg_count;
    lb_job_buffer buffers[LB_MAX_BUFFERS];
    size_t buffer_count;
    size_t global[3], local[3]; /* local[0] 0: the driver's choice; a global 0: nothing is launched */
    unsigned dims;
    double timeout_seconds; /* 0: none; where the language can end a launch */
    lb_device *marks;       /* takes guard_damage, inputs_changed */
} lb_source_job;

/** A language: what compiles and runs text. A session keeps its device and compiled programs until it is closed.
 *  open: device is an index or a part of its name, "" for the first; place is for errors; detail[256] gets the device and its driver. */
typedef struct lb_source_language {
    const char *name, *suffix;
    bool compiled; /* T and the local sizes are in the text already: options mean nothing */
    lb_status (*open)(void **session, const char *place, const char *device, char *detail, lb_error *err);
    lb_status (*run)(void *session, const lb_source_job *job, lb_error *err);
    void (*close)(void *session); /* NULL is fine */
} lb_source_language;

extern const lb_source_language lb_opencl_language, lb_glsl_language, lb_hlsl_language, lb_cuda_language, lb_ptx_language;

#endif
