/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernels that `lastbit bench emit` times: chains of an emitted fragment, of a plain f32 loop of the same tile, and of nothing. */
#ifndef LB_CLI_BENCH_EMIT_H
#define LB_CLI_BENCH_EMIT_H

#include "bench.h"

enum { EMIT_SETS = 4 }; /* different A and B of a chain, taken in turn */

/* One unit, laid out, and how much of it a launch does. */
typedef struct emit_shape {
    const lb_unit *u;
    lb_fragment f[4]; /* A, B, C, D */
    int groups, steps;
    int items; /* elements of D of a lane of the plain loop */
} emit_shape;

typedef enum emit_form { EMIT_EXACT, EMIT_FINITE, EMIT_FAST, EMIT_PLAIN, EMIT_EMPTY, EMIT_FORMS } emit_form;

const char *bench_emit_form_name(emit_form form);
bool bench_emit_is_emitted(emit_form form);

/* A device's dialect: what the JSON of kernel:FILE calls it, and how its kernels are said. */
typedef struct emit_dialect emit_dialect;
const emit_dialect *bench_emit_dialect(size_t i); /* NULL past the end */
const char *bench_emit_dialect_name(const emit_dialect *l);

/* Write FOLDER/FORM.src and FOLDER/FORM.json. errors LB_E_FILE; those of lb_emit_unit */
lb_status bench_emit_write(const emit_dialect *l, const emit_shape *s, emit_form form, const char *folder, lb_error *err);

#endif
