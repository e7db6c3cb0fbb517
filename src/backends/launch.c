/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/launch.h"
#include "base/expr.h"
#include "base/try.h"

#include <stdio.h>
#include <string.h>

static const lb_launch launches[] = {
#define LB_LAUNCH(op, file, entry, global, local, fits) {#op, file, entry, global, local, fits},
#include "backends/launches.def"
#undef LB_LAUNCH
};

enum { LAUNCH_COUNT = sizeof launches / sizeof launches[0] };

const lb_launch *lb_launch_row(size_t i) {
    return i < LAUNCH_COUNT ? &launches[i] : NULL;
}

const lb_launch *lb_launch_find(const char *op) {
    for (size_t i = 0; i < LAUNCH_COUNT; i++)
        if (strcmp(launches[i].op, op) == 0) return &launches[i];
    return NULL;
}

const lb_embedded *lb_embedded_find(const lb_embedded *table, const char *name) {
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

/* Bytes of an array's codes. threads pure */
static size_t array_bytes(const lb_array *a) {
    return lb_array_count(a) * (size_t)a->format->bytes;
}

/* ---- expressions ----------------------------------------------------------------------------------------------------------- */

lb_status lb_launch_eval(const char *text, const lb_op_case *x, const char *place, int64_t *out, lb_error *err) {
    lb_expr_var vars[LB_OP_PARAMS];
    size_t count = 0;
    for (unsigned i = 0; i < x->op->param_count; i++)
        if (x->op->params[i].whole) vars[count++] = (lb_expr_var){x->op->params[i].name, (int64_t)x->params[i]};
    return lb_expr_eval(text, vars, count, place, out, err);
}

/* "a, b": the pieces between the commas outside parentheses; NULL at the end. */
static const char *piece(const char *p, char out[100]) {
    size_t used = 0;
    int depth = 0;
    for (; *p && (*p != ',' || depth) && used < 99; p++) {
        depth += (*p == '(') - (*p == ')');
        out[used++] = *p;
    }
    out[used] = 0;
    return *p == ',' ? p + 1 : p;
}

static lb_status sizes_of(const char *text, const lb_op_case *x, const char *place, size_t out[3], unsigned *dims, lb_error *err) {
    char one[100];
    for (*dims = 0; *text && *dims < 3; ++*dims) {
        int64_t n;
        text = piece(text, one);
        LB_TRY(lb_launch_eval(one, x, place, &n, err));
        if (n < 0 || n > INT32_MAX)
            return lb_fail(err, LB_E_SHAPE, place, "size %u, \"%s\", is %lld: a launch takes 0 to 2147483647", *dims, one, (long long)n);
        out[*dims] = (size_t)n;
    }
    return LB_OK;
}

lb_status lb_launch_grid(const lb_launch *l, const lb_op_case *x, size_t global[3], size_t local[3], unsigned *dims, lb_error *err) {
    unsigned local_dims;
    LB_TRY(sizes_of(l->global, x, l->op, global, dims, err));
    LB_TRY(sizes_of(l->local, x, l->op, local, &local_dims, err));
    for (unsigned i = 0; i < *dims; i++)
        if (local_dims != *dims || !local[i] || global[i] % local[i])
            return lb_fail(err, LB_E_FILE, l->op, "launches.def: \"%s\" is no multiple of \"%s\"", l->global, l->local);
    return LB_OK;
}

bool lb_launch_fits(const lb_launch *l, const lb_op_case *x, const char **why_not) {
    int64_t room = 0;
    size_t global[3], local[3];
    unsigned dims;
    *why_not = "our kernel is made for smaller sizes (see src/backends/launches.def)";
    for (unsigned i = 0; i < x->op->param_count; i++)
        if (x->op->params[i].whole && !(x->params[i] >= INT32_MIN && x->params[i] <= INT32_MAX)) return false;
    if (*l->fits && lb_launch_eval(l->fits, x, l->op, &room, NULL) != LB_OK) return false;
    return room >= 0 && lb_launch_grid(l, x, global, local, &dims, NULL) == LB_OK;
}

/* ---- the calling convention ------------------------------------------------------------------------------------------------- */

static void add_buffer(lb_source_job *job, const lb_array *a, const char *name, bool output) {
    const size_t at = job->buffer_count++;
    job->buffers[at] = (lb_job_buffer){.name = name, .data = a->codes, .bytes = array_bytes(a), .output = output};
    job->args[job->arg_count++] = (lb_kernel_arg){.kind = LB_ARG_BUFFER, .integer = (int64_t)at};
}

lb_status lb_launch_args(const lb_op_case *x, lb_source_job *job, lb_error *err) {
    const lb_op *op = x->op;
    for (unsigned i = 0; i < op->in_count; i++) add_buffer(job, &x->in[i], op->in[i].name, false);
    for (unsigned i = 0; i < op->out_count; i++) add_buffer(job, &x->out[i], op->out[i].name, true);
    for (unsigned i = 0; i < op->param_count; i++) {
        const double value = x->params[i];
        lb_kernel_arg *arg = &job->args[job->arg_count++];
        if (op->params[i].whole && !(value >= INT32_MIN && value <= INT32_MAX))
            return lb_fail(err, LB_E_SHAPE, op->name, "%s=%.0f does not fit in 32 bits", op->params[i].name, value);
        *arg = op->params[i].whole ? (lb_kernel_arg){.kind = LB_ARG_INT, .integer = (int64_t)value}
                                   : (lb_kernel_arg){.kind = LB_ARG_FLOAT, .real = (float)value};
    }
    return LB_OK;
}

lb_status lb_launch_flags(const lb_op_case *x, const lb_source_job *job, char *out, size_t size, lb_error *err) {
    static const struct {
        lb_format_id id;
        const char *macro;
    } formats[] = {{LB_F32, "LB_T_F32"}, {LB_F16, "LB_T_F16"}, {LB_BF16, "LB_T_BF16"}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (x->format->id == formats[i].id) used += (size_t)snprintf(out, size, "-D%s=1", formats[i].macro);
    if (!used) return lb_fail(err, LB_E_FORMAT, x->op->name, "kernels take f32, f16 and bf16, not %s", x->format->name);
    for (unsigned i = 0; i < 3 && job->local[0]; i++)
        used += (size_t)snprintf(out + used, size - used, " -DLB_%c=%zu", "XYZ"[i], i < job -> dims ? job -> local[i] : 1);
    return LB_OK;
}
