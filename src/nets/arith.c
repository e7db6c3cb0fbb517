/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "nets/arith.h"
#include "backends/device.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
    const char *name;
    lb_arith_how how;
    lb_format_id format;
    lb_replay_order order;
    const char *summary;
} rows[] = {
#define LB_ARITH(name, how, format, order, summary) {name, LB_ARITH_##how, LB_##format, LB_REPLAY_##order, summary},
#include "nets/ariths.def"
#undef LB_ARITH
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const char *lb_arith_name(size_t i) {
    return i < ROW_COUNT ? rows[i].name : NULL;
}

const char *lb_arith_summary(size_t i) {
    return i < ROW_COUNT ? rows[i].summary : NULL;
}

static const lb_block_format *block_of(const lb_unit *u, lb_format_id element) {
    const lb_block_format *f;
    for (size_t i = 0; (f = lb_block_format_row(i)); i++)
        if (f->element == element && f->scale == u->scale && f->size == u->scale_block) return f;
    return NULL;
}

static bool holds_reals(lb_format_id id) {
    const lb_format *f = lb_format_row(id);
    return f->special != LB_SPECIAL_INT && f->special != LB_SPECIAL_E8M0 && f->sign_bits;
}

static lb_status take_unit(lb_arith *a, lb_error *err) {
    const lb_unit *u = &a->unit;
    a->how = LB_ARITH_UNIT;
    a->format = lb_format_row(LB_F32);
    if (u->sparse_group) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "a sparse unit runs no dense network");
    if (!holds_reals(u->a) || !holds_reals(u->b) || !holds_reals(u->d))
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "a network needs a unit whose operands are floats");
    if (!u->scale_block) return LB_OK;
    a->block_a = block_of(u, u->a);
    a->block_b = block_of(u, u->b);
    return a->block_a && a->block_b ? LB_OK
                                    : lb_fail(err, LB_E_UNAVAILABLE, u->name,
                                              "no block format has its elements, scales and %d of them (lastbit formats)", u->scale_block);
}

static void take_device(lb_arith *a) {
    a->how = LB_ARITH_DEVICE;
    a->format = lb_format_row(LB_F32);
    a->functions = lb_device_functions(lb_device_name(a->device));
}

static lb_status open_named(lb_arith *a, const char *name, lb_error *err) {
    const char *names[ROW_COUNT];
    for (size_t i = 0; i < ROW_COUNT; i++) {
        names[i] = rows[i].name;
        if (strcmp(name, rows[i].name) != 0) continue;
        a->how = rows[i].how;
        a->format = lb_format_row(rows[i].format);
        a->order = rows[i].order;
        return LB_OK;
    }
    if (strncmp(name, "on:", 3) == 0) {
        LB_TRY(lb_device_open(&a->device, name + 3, err));
        take_device(a);
        return LB_OK;
    }
    if (strncmp(name, "trace:", 6) == 0) {
        a->how = LB_ARITH_TRACE;
        a->format = lb_format_row(LB_F32);
        return lb_file_open(&a->trace, name + 6, NULL, err);
    }
    if (strchr(name, '/')) {
        LB_TRY(lb_unit_find(name, &a->unit, err));
        return take_unit(a, err);
    }
    const char *near = lb_nearest_name(name, names, ROW_COUNT);
    return lb_fail(err, LB_E_NAME, name,
                   "no such arithmetic%s%s%s; it is f64 f32 contracted pairwise bf16 f16, a unit (lastbit units), on:DEVICE or trace:FILE",
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

lb_status lb_arith_open(lb_arith **out, const char *name, lb_error *err) {
    lb_arith *a = calloc(1, sizeof *a);
    *out = NULL;
    if (!a) return lb_fail(err, LB_E_MEMORY, name, "out of memory");
    lb_status s = LB_OK;
    if (snprintf(a->name, sizeof a->name, "%s", name) >= (int)sizeof a->name)
        s = lb_fail(err, LB_E_NAME, "arithmetic", "the name is too long");
    if (s == LB_OK) s = open_named(a, name, err);
    if (s == LB_OK && a->how == LB_ARITH_UNIT) snprintf(a->name, sizeof a->name, "%s", a->unit.name);
    if (s != LB_OK) {
        lb_arith_close(a);
        return s;
    }
    *out = a;
    return LB_OK;
}

lb_status lb_arith_of_device(lb_arith **out, lb_device *d, lb_error *err) {
    lb_arith *a = *out = calloc(1, sizeof *a);
    if (!a) {
        lb_device_close(d);
        return lb_fail(err, LB_E_MEMORY, "arithmetic", "out of memory");
    }
    a->device = d;
    snprintf(a->name, sizeof a->name, "on:%s", lb_device_name(d));
    take_device(a);
    return LB_OK;
}

void lb_arith_close(lb_arith *a) {
    if (!a) return;
    lb_device_close(a->device);
    lb_file_close(a->trace);
    free(a);
}

const char *lb_arith_text(const lb_arith *a) {
    return a->name;
}
