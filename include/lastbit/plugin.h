/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a shared object exports to be a device: `--on plugin:FILE.so`. This header stands alone: a plugin includes it and links nothing of
 * lastbit. docs/howto/write-a-plugin.md; examples/plugin_gelu.c.
 * Versions: fields are only ever added at the ends of these structs. Each side says by struct_size how much of a struct it knows, and
 * looks at no field past it; what a missing function would have done is not done. */
#ifndef LASTBIT_PLUGIN_H
#define LASTBIT_PLUGIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LB_PLUGIN_VERSION = 1 };

/** A dense row-major array in host memory. format is a name of `lastbit formats`; below eight bits a byte holds one code, unless the
 *  operator packs them itself (its row says u8). */
typedef struct lb_plugin_array {
    const char *name;   /* "x", as in `lastbit ops` */
    const char *format; /* "f32" */
    unsigned rank;
    size_t dims[4]; /* dims[0] outermost */
    void *data;     /* inputs are only to be read; outputs begin as poison, every element is to be written */
    size_t bytes;
} lb_plugin_array;

typedef struct lb_plugin_param {
    const char *name; /* "eps" */
    double value;     /* whole parameters are exact; reals are to be rounded to f32 */
    int whole;        /* not 0: a size or a flag */
} lb_plugin_param;

/** One case. op is an operator of `lastbit ops` with inputs, outputs and parameters in its row's order; or "product", D = A B + C, with
 *  inputs a [m][k], b [k][n] (stored [n][k] where tb is 1) and maybe c [m][n], output d [m][n], parameters m, n, k, tb. */
typedef struct lb_plugin_call {
    size_t struct_size;
    const char *op, *format; /* format: T of the operator; of a product the format of d */
    const lb_plugin_array *in, *out;
    const lb_plugin_param *params;
    size_t in_count, out_count, param_count;
    size_t array_size, param_size; /* bytes from one element of in or out (of params) to the next */
    char *message;                 /* run: where to say in one line why it failed */
    size_t message_size;
} lb_plugin_call;

/** A device. All of a state's calls come from one thread. */
typedef struct lb_plugin {
    size_t struct_size;
    unsigned version;   /* LB_PLUGIN_VERSION that it was compiled with */
    const char *detail; /* "my kernels 1.2 on my device", for reports */
    /** 0 on success; else *why (may be left alone) says what is missing. NULL: there is no state. */
    int (*open)(void **state, const char **why);
    /** Not 0 if run takes the case; else *why_not says what it takes. data may be NULL here. NULL: it takes everything. */
    int (*can)(void *state, const lb_plugin_call *call, const char **why_not);
    /** Fill every element of call->out; 0 on success. Required. */
    int (*run)(void *state, const lb_plugin_call *call);
    void (*close)(void *state); /* NULL: nothing is to be done */
} lb_plugin;

/** The one symbol that FILE.so exports: `const lb_plugin *lastbit_plugin(void)`. */
typedef const lb_plugin *lb_plugin_entry(void);

#ifdef __cplusplus
}
#endif
#endif
