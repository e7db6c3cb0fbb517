/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/fleet.h"
#include "backends/device.h"
#include "base/try.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lb_status functions_named(const char *name, lb_function_class *out, lb_error *err) {
    const char *names[LB_FUNCTION_CLASS_COUNT];
    for (size_t i = 0; i < LB_FUNCTION_CLASS_COUNT; i++) {
        names[i] = lb_function_class_name((lb_function_class)i);
        *out = (lb_function_class)i;
        if (strcmp(name, names[i]) == 0) return LB_OK;
    }
    const char *near = lb_nearest_name(name, names, LB_FUNCTION_CLASS_COUNT);
    return lb_fail(err, LB_E_NAME, "functions", "no class of functions \"%s\"; did you mean %s?", name, near ? near : names[0]);
}

static lb_status open_by_name(lb_device **out, const void *on, lb_error *err) {
    return lb_device_open(out, on, err);
}

static lb_status add_device(lb_fleet *f, lb_device_opener *open, const void *what, const char *name, lb_error *err) {
    if (f->count == LB_FLEET_DEVICES) return lb_fail(err, LB_E_ARG, name, "%d devices at most", LB_FLEET_DEVICES);
    lb_fleet_device *d = &f->devices[f->count++];
    snprintf(d->name, sizeof d->name, "%s", name);
    for (unsigned j = 0; j < f->jobs; j++) {
        const lb_status s = lb_worker_open(&d->workers[j], open, what ? what : d->name, f->timeout, err);
        if (s == LB_OK) continue;
        while (j-- > 0) lb_worker_close(d->workers[j]);
        f->count--;
        if (err && !err->place[0]) snprintf(err->place, sizeof err->place, "%s", name);
        return s;
    }
    return LB_OK;
}

/* Those of the default devices that are here; why the others are not. */
static lb_status add_default_devices(lb_fleet *f, lb_error *err) {
    const char *on;
    for (size_t i = 0; (on = lb_device_by_default(i)); i++) {
        lb_error why = {0};
        const lb_status s = add_device(f, open_by_name, NULL, on, &why);
        if (s == LB_OK)
            f->devices[f->count - 1].functions = lb_device_functions(on);
        else
            snprintf(f->left_out[f->left_out_count++], sizeof f->left_out[0], "%s: %.200s", on, why.message);
    }
    if (f->count) return LB_OK;
    return lb_fail(err, LB_E_UNAVAILABLE, "parity",
                   "no device is here; install pocl-opencl-icd or mesa-vulkan-drivers, or name one with --on");
}

static lb_status add_devices(lb_fleet *f, const lb_parity_options *o, lb_error *err) {
    if (!o->on_count) LB_TRY(add_default_devices(f, err));
    for (size_t i = 0; i < o->on_count; i++) {
        LB_TRY(add_device(f, open_by_name, NULL, o->on[i], err));
        f->devices[f->count - 1].functions = lb_device_functions(o->on[i]);
    }
    for (size_t i = 0; o->functions && i < f->count; i++) LB_TRY(functions_named(o->functions, &f->devices[i].functions, err));
    return LB_OK;
}

static lb_status make(lb_fleet **out, unsigned jobs, double timeout, lb_error *err) {
    *out = calloc(1, sizeof **out);
    if (!*out) return lb_fail(err, LB_E_MEMORY, "parity", "no memory");
    (*out)->jobs = jobs ? jobs : 1;
    (*out)->timeout = timeout > 0 ? timeout : 20;
    return LB_OK;
}

lb_status lb_fleet_open(lb_fleet **out, const lb_parity_options *o, lb_error *err) {
    *out = NULL;
    if (o->jobs > LB_FLEET_JOBS) return lb_fail(err, LB_E_ARG, "jobs", "%u; %d at most", o->jobs, LB_FLEET_JOBS);
    lb_fleet *f;
    LB_TRY(make(&f, o->jobs, o->timeout_seconds, err));
    const lb_status s = add_devices(f, o, err);
    if (s == LB_OK)
        *out = f;
    else
        lb_fleet_close(f);
    return s;
}

void lb_fleet_close(lb_fleet *f) {
    if (!f) return;
    for (size_t i = 0; i < f->count; i++)
        for (unsigned j = 0; j < f->jobs; j++) lb_worker_close(f->devices[i].workers[j]);
    free(f);
}

void lb_fleet_describe(const lb_fleet *f, size_t device, char *text, size_t size) {
    const lb_fleet_device *d = &f->devices[device];
    const char *detail = lb_worker_detail(d->workers[0]);
    snprintf(text, size, detail[0] ? "%s (%s)" : "%s", d->name, detail);
}

/* ---- answers ------------------------------------------------------------------------------------------------------------------ */

void lb_answer_close(lb_op_case *x) {
    for (size_t i = 0; i < LB_OP_OUTPUTS; i++) free(x->out[i].codes);
    *x = (lb_op_case){0};
}

lb_status lb_answer_open(lb_op_case *out, const lb_op_case *x, lb_error *err) {
    *out = *x;
    for (size_t i = 0; i < LB_OP_OUTPUTS; i++) out->out[i].codes = NULL;
    for (size_t i = 0; i < x->op->out_count; i++) {
        out->out[i].codes = calloc(lb_array_count(&x->out[i]) + 1, (size_t)x->out[i].format->bytes);
        if (out->out[i].codes) continue;
        lb_answer_close(out);
        return lb_fail(err, LB_E_MEMORY, "parity", "no memory");
    }
    return LB_OK;
}

lb_status lb_fleet_run(lb_fleet *f, size_t device, lb_op_case *x, lb_worker_answer *out, lb_error *err) {
    lb_worker *w = f->devices[device].workers[0];
    LB_TRY(lb_worker_ask(w, x, err));
    return lb_worker_answer_of(w, x, out, err);
}

double lb_code_distance(const lb_format *f, uint64_t a, uint64_t b) {
    if (a == b) return 0;
    if (f->special == LB_SPECIAL_INT) return fabs(lb_to_double(f, a) - lb_to_double(f, b));
    const bool nan_a = lb_code_class(f, a) == LB_NAN, nan_b = lb_code_class(f, b) == LB_NAN;
    if (nan_a && nan_b) return 0;
    if (nan_a || nan_b || isinf(lb_to_double(f, a)) || isinf(lb_to_double(f, b))) return INFINITY;
    return (double)lb_ulp_distance(f, a, b);
}

double lb_answer_distance(const lb_op_case *a, const lb_op_case *b, size_t *differ, size_t *compared) {
    double most = 0;
    for (size_t p = 0; p < a->op->out_count; p++) {
        const lb_format *f = a->out[p].format;
        const unsigned char *x = a->out[p].codes, *y = b->out[p].codes;
        const size_t n = lb_array_count(&a->out[p]), width = (size_t)f->bytes;
        for (size_t i = 0; i < n; i++) {
            const uint64_t u = lb_load_code(x + i * width, f->bytes), v = lb_load_code(y + i * width, f->bytes);
            const double d = lb_code_distance(f, u, v);
            const bool nan = lb_code_class(f, u) == LB_NAN && lb_code_class(f, v) == LB_NAN;
            if (compared) ++*compared;
            if (differ) *differ += u != v && !nan;
            if (d > most) most = d;
        }
    }
    return most;
}
