/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const lb_backend *const backends[] = {
#define LB_BACKEND(name) &lb_backend_##name,
#include "backends/backends.def"
#undef LB_BACKEND
};

enum { BACKEND_COUNT = sizeof backends / sizeof backends[0] };

const char *lb_backend_name(size_t i) {
    return i < BACKEND_COUNT ? backends[i]->name : NULL;
}

const char *lb_backend_summary(size_t i) {
    return i < BACKEND_COUNT ? backends[i]->summary : NULL;
}

static const struct {
    const char *begins;
    lb_function_class functions;
    bool by_default;
} promises[] = {
#define LB_DEVICE_ROW(begins, functions, by_default) {begins, LB_FUNCTIONS_##functions, by_default},
#include "backends/devices.def"
#undef LB_DEVICE_ROW
};

lb_function_class lb_device_functions(const char *on) {
    size_t i = 0;
    while (strncmp(on, promises[i].begins, strlen(promises[i].begins)) != 0) i++; /* the last row fits all */
    return promises[i].functions;
}

const char *lb_device_by_default(size_t i) {
    for (size_t row = 0; row < sizeof promises / sizeof promises[0]; row++)
        if (promises[row].by_default && i-- == 0) return promises[row].begins;
    return NULL;
}

lb_status lb_device_open(lb_device **out, const char *on, lb_error *err) {
    const char *colon = strchr(on, ':');
    const size_t length = colon ? (size_t)(colon - on) : strlen(on);
    const char *names[BACKEND_COUNT];
    size_t count = 0;
    *out = NULL;
    for (size_t i = 0; i < BACKEND_COUNT; i++) {
        const lb_backend *b = backends[i];
        if (!b->open) continue;
        names[count++] = b->name;
        if (strlen(b->name) != length || memcmp(b->name, on, length) != 0) continue;
        if (!b->alone && (!colon || !colon[1])) return lb_fail(err, LB_E_NAME, on, "say which: %s", b->summary);
        const lb_status s = b->open(out, colon ? colon + 1 : "", err);
        if (s == LB_OK) {
            (*out)->backend = b;
            snprintf((*out)->name, sizeof(*out)->name, "%s", on);
        }
        return s;
    }
    char kind[32];
    snprintf(kind, sizeof kind, "%.*s", (int)(length < sizeof kind ? length : sizeof kind - 1), on);
    const char *near = lb_nearest_name(kind, names, count);
    return lb_fail(err, LB_E_NAME, on, "no such device; %s%s%s`lastbit backends` lists what there is", near ? "did you mean " : "",
                   near ? near : "", near ? ":…? " : "");
}

lb_status lb_device_open_command(lb_device **out, char *const *argv, lb_error *err) {
    *out = NULL;
    if (!argv || !argv[0] || !argv[0][0]) return lb_fail(err, LB_E_ARG, "--", "no program given");
    const lb_status s = lb_command_open(out, argv, err);
    if (s == LB_OK) {
        (*out)->backend = &lb_backend_command;
        snprintf((*out)->name, sizeof(*out)->name, "command:%s", argv[0]);
    }
    return s;
}

bool lb_device_can(const lb_device *d, const lb_case *x, const char **why_not) {
    *why_not = "";
    return d->backend->can(d, x, why_not);
}

lb_status lb_device_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    const char *why_not;
    lb_status s = lb_case_check(x, err);
    if (s != LB_OK) return s;
    if (!lb_device_can(d, x, &why_not)) return lb_fail(err, LB_E_FORMAT, d->name, "%s", why_not);
    d->guard_damage = 0;
    d->inputs_changed = false;
    return d->backend->run(d, x, y, timeout_seconds, err);
}

bool lb_device_can_op(const lb_device *d, const lb_op_case *x, const char **why_not) {
    *why_not = "this device runs no operators";
    return d->backend->can_op && d->backend->run_op && d->backend->can_op(d, x, why_not);
}

lb_status lb_device_run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err) {
    const char *why_not;
    if (!lb_device_can_op(d, x, &why_not)) return lb_fail(err, LB_E_FORMAT, d->name, "%s", why_not);
    d->guard_damage = 0;
    d->inputs_changed = false;
    return d->backend->run_op(d, x, timeout_seconds, err);
}

void lb_device_marks(const lb_device *d, uint64_t *guard_damage, bool *inputs_changed) {
    *guard_damage = d->guard_damage;
    *inputs_changed = d->inputs_changed;
}

const char *lb_device_name(const lb_device *d) {
    return d->name;
}

const char *lb_device_detail(const lb_device *d) {
    return d->detail;
}

void lb_device_close(lb_device *d) {
    if (d) d->backend->close(d);
}

lb_status lb_pack_mat(const lb_mat *m, void **out, size_t *bytes, lb_error *err) {
    const size_t width = (size_t)m->format->bytes;
    *bytes = m->rows * m->cols * width;
    char *to = malloc(*bytes + 1);
    *out = to;
    if (!to) return lb_fail(err, LB_E_MEMORY, "device", "no memory for %zu bytes", *bytes);
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++) memcpy(to + (r * m->cols + c) * width, lb_mat_at(m, r, c), width);
    return LB_OK;
}
