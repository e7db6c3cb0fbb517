/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Inputs from a seed, as the parity tests of seed-002 draw theirs: one xorshift state, input after input. */
#include "refs/op_rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct drawing drawing;
typedef double draw_function(drawing *d);

struct drawing {
    uint64_t state;
    const lb_op_case *x;
    const lb_array *array;
    size_t index, row, col; /* of the element; row counts whole rows of the innermost dimension */
    unsigned port;
    draw_function *dist; /* of the case */
};

static uint64_t step(drawing *d) {
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return d->state;
}

/* The top 24 bits as [-1, 1); exact in f32. */
static double unit(drawing *d) {
    return (double)(step(d) >> 40) / 8388608.0 - 1.0;
}

/* ---- distributions of data: one function a row of dists.def ------------------------------------------------------------------- */

static double draw_uniform(drawing *d) {
    return unit(d);
}

static double draw_gaussian(drawing *d) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += unit(d);
    return sum / 2;
}

static double draw_outliers(drawing *d) {
    return unit(d) * (d->row % 8 == 0 ? 1000.0 : 1.0);
}

static double draw_near_overflow(drawing *d) {
    const lb_format *f = d->array->format;
    return unit(d) * (f->exp_bits >= 8 ? 0x1p61 : lb_to_double(f, lb_max_code(f)) / 4);
}

static double draw_subnormal(drawing *d) {
    const lb_format *f = d->array->format;
    return unit(d) * 0.99 * ldexp(1, 1 - f->bias);
}

static double draw_constant(drawing *d) {
    (void)d;
    return 1;
}

static double draw_zero_rows(drawing *d) {
    const double u = unit(d);
    return d->row % 2 ? 0 : u;
}

static double draw_cancelling(drawing *d) {
    const double v = 1 + unit(d) / 256;
    return d->port % 2 == 0 && d->col % 2 ? -v : v;
}

static double draw_offset(drawing *d) {
    return 1000 + unit(d);
}

typedef struct dist_row {
    const char *name;
    draw_function *draw;
} dist_row;

static const dist_row dists[] = {
#define LB_OP_DIST(name, summary) {#name, draw_##name},
#include "refs/dists.def"
#undef LB_OP_DIST
};

/* ---- fills: one function a row of fills.def ------------------------------------------------------------------------------------ */

static double fill_data(drawing *d) {
    return d->dist(d) * d->x->magnitude;
}

static double fill_i8(drawing *d) {
    return (double)(step(d) % 255) - 127;
}

static double fill_bits(drawing *d) {
    return (double)(step(d) & 0xff);
}

static double fill_u4(drawing *d) {
    return (double)(step(d) % 16);
}

static double fill_scale(drawing *d) {
    return (double)((float)fabs(unit(d)) * 0.05f + 0.01f); /* in f32, as the tests of seed-002 have it */
}

static double fill_e8m0(drawing *d) {
    return ldexp(1, (int)(step(d) % 9) - 4);
}

static double fill_pos(drawing *d) {
    const double by = floor(d->x->magnitude);
    return (double)d->index * (by < 1 ? 1 : by > 65536 ? 65536 : by);
}

static double below(drawing *d, const char *bound) {
    return (double)(step(d) % (uint64_t)lb_op_case_param(d->x, bound));
}

static double fill_index(drawing *d) {
    return below(d, lb_fill_find("index")->bound);
}

static double fill_expert(drawing *d) {
    return below(d, lb_fill_find("expert")->bound);
}

static double fill_positive(drawing *d) {
    return 0.001 + 0.1 * fabs(unit(d));
}

static double fill_negative(drawing *d) {
    return -(0.1 + 4 * fabs(unit(d)));
}

typedef struct fill_function {
    const char *name;
    draw_function *draw;
} fill_function;

static const fill_function fills[] = {
#define LB_OP_FILL(name, bound, summary) {#name, fill_##name},
#include "refs/fills.def"
#undef LB_OP_FILL
};

static draw_function *find_dist(const char *name) {
    for (size_t i = 0; i < sizeof dists / sizeof dists[0]; i++)
        if (strcmp(dists[i].name, name) == 0) return dists[i].draw;
    return draw_uniform;
}

static draw_function *find_fill(const char *name) {
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++)
        if (strcmp(fills[i].name, name) == 0) return fills[i].draw;
    return fill_data;
}

/* Rounded once, saturating. */
static uint64_t code_of(const lb_format *f, double v) {
    static const lb_encoding saturating = {.overflow = LB_OVERFLOW_SATURATE};
    if (f->id != LB_F32 || !(fabs(v) <= (double)FLT_MAX)) return lb_encode(f, lb_value_of(v), &saturating, NULL);
    const float x = (float)v;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

void lb_op_draw(lb_op_case *x) {
    drawing d = {.state = x->seed | 1, .x = x, .dist = find_dist(x->dist)};
    for (d.port = 0; d.port < x->op->in_count; d.port++) {
        lb_array *a = &x->in[d.port];
        draw_function *draw = find_fill(lb_fill_find(x->op->in[d.port].fill)->name);
        const size_t count = lb_array_count(a), width = a->dims[a->rank - 1];
        d.array = a;
        d.row = d.col = 0;
        for (d.index = 0; d.index < count; d.index++) {
            lb_store_code((char *)a->codes + d.index * (size_t)a->format->bytes, a->format->bytes, code_of(a->format, draw(&d)));
            if (++d.col < width) continue;
            d.col = 0;
            d.row++;
        }
    }
}
