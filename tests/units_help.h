/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of units share: units by name, dots of values, whole rows of code. */
#ifndef LB_TEST_UNITS_HELP_H
#define LB_TEST_UNITS_HELP_H

#include "test.h"

#include "lastbit/refs.h"
#include "lastbit/units.h"

#include <math.h>

static inline lb_unit unit_named(const char *name) {
    lb_unit u = {0};
    lb_error err;
    if (lb_unit_find(name, &u, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return u;
}

/* The code of a value that the format holds: a test says what it means. */
static inline uint64_t code_of(lb_format_id format, double x) {
    const lb_format *f = lb_format_row(format);
    const uint64_t code = lb_from_double(f, x);
    if (!(isnan(x) || lb_to_double(f, code) == x)) fail_msg("%s does not hold %a", f->name, x);
    return code;
}

/* A dot of values, what is not given being zero; c and d are codes. */
static inline uint32_t dot_of(const char *name, size_t count, const double (*products)[2], uint32_t c) {
    const lb_unit u = unit_named(name);
    uint32_t a[256] = {0}, b[256] = {0}, d = 0;
    lb_error err;
    for (size_t i = 0; i < count; i++) {
        a[i] = (uint32_t)code_of(u.a, products[i][0]);
        b[i] = (uint32_t)code_of(u.b, products[i][1]);
    }
    if (lb_unit_dot(&u, a, b, count, c, &d, &err) != LB_OK) fail_msg("%s: %s", name, err.message);
    return d;
}

/* One row of a table of dots: up to eight products. */
typedef struct unit_edge {
    int line;
    const char *unit;
    uint32_t c, d;
    size_t count;
    double products[8][2];
} unit_edge;

#define expect_edges(edges) expect_edges_in(__FILE__, edges, sizeof(edges) / sizeof(edges)[0])

static inline void expect_edges_in(const char *file, const unit_edge *edges, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t d = dot_of(edges[i].unit, edges[i].count, (const double(*)[2])edges[i].products, edges[i].c);
        if (d != edges[i].d) fail_msg("row at %s:%d: %s: got %08x, want %08x", file, edges[i].line, edges[i].unit, d, edges[i].d);
    }
}

/* Whether two f32 codes are one, or both NaN. */
static inline bool same_f32(uint32_t x, uint32_t y) {
    return x == y || ((x & 0x7fffffff) > 0x7f800000 && (y & 0x7fffffff) > 0x7f800000);
}

#endif
