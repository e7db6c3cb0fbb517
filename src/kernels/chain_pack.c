/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Codes to the positions of a chain, and back. */
#include "kernels/chain_pack.h"
#include "kernels/scale.h"
#include "units/path.h"

#include <math.h>

/* ---- values --------------------------------------------------------------------------------------------------------------- */

static void read_format(lb_chain_format *f, lb_format_id id, double least, bool to_positive) {
    f->format = lb_format_row(id);
    f->least = least;
    f->to_positive = to_positive;
    if (f->format->bits > 8 || f->format->special == LB_SPECIAL_INT) return;
    for (uint32_t code = 0; code < 256; code++) f->table[code] = lb_to_double(f->format, code & ((1u << f->format->bits) - 1));
}

/* The least normal of a format. */
static double least_normal(lb_format_id id) {
    return ldexp(1, 1 - lb_format_row(id)->bias);
}

void lb_chain_formats(lb_chain_job *j) {
    const lb_unit *u = j->x->u;
    const bool pairwise = j->kind == LB_CHAIN_PAIRWISE;
    const bool flushes = j->kind == LB_CHAIN_FMA32_FTZ || j->kind == LB_CHAIN_TWO_CHAINS || j->kind == LB_CHAIN_PAIR_ODD;
    const double least = flushes ? 0x1p-126 : 0;
    read_format(&j->fa, u->a, pairwise ? least_normal(u->a) : least, pairwise);
    read_format(&j->fb, u->b, pairwise ? least_normal(u->b) : least, pairwise);
    read_format(&j->fc, u->c, pairwise ? 0x1p-126 : least, pairwise);
}

static double exact_value(const lb_chain_format *f, uint64_t code) {
    double wide;
    switch (f->format->id) {
    case LB_F64: memcpy(&wide, &code, sizeof wide); return wide;
    case LB_F32: return (double)float_of((uint32_t)code);
    case LB_TF32: return (double)float_of((uint32_t)code & ~UINT32_C(0x1fff));
    case LB_BF16: return (double)float_of((uint32_t)code << 16);
    case LB_F16: return (double)float_of(widen16((uint32_t)code));
    default: return f->format->bits <= 8 ? f->table[code & 0xff] : lb_to_double(f->format, code);
    }
}

static double value_of(const lb_chain_format *f, uint64_t code) {
    const double x = exact_value(f, code);
    if (x == 0 || !(fabs(x) < f->least)) return x; /* a zero keeps its sign */
    return f->to_positive ? 0 : copysign(0, x);
}

static uint32_t int16_of(const lb_chain_format *f, uint64_t code) {
    const lb_format *format = f->format;
    if (format->special != LB_SPECIAL_INT) return (uint16_t)(int16_t)(2 * f->table[code & 0xff]); /* fp4, in halves */
    const int32_t n = (int32_t)(code & ((UINT64_C(1) << format->bits) - 1));
    return (uint16_t)(format->sign_bits && n >> (format->bits - 1) ? n - (INT32_C(1) << format->bits) : n);
}

/* ---- lines ---------------------------------------------------------------------------------------------------------------- */

/* A line of A or B: element k is that of row `at` of `m`, 0 beyond. */
typedef struct line {
    const lb_mat *m;
    const lb_chain_format *f;
    size_t at;
    bool of_b;
} line;

static uint64_t code_at(const line *l, size_t k) {
    return k < l->m->cols ? lb_mat_code(l->m, l->at, k) : 0;
}

static uint32_t pair_at(const lb_chain_job *j, const line *l, size_t p) {
    if (j->kind != LB_CHAIN_XOR) return int16_of(l->f, code_at(l, 2 * p)) | int16_of(l->f, code_at(l, 2 * p + 1)) << 16;
    const uint32_t bit = (uint32_t)code_at(l, p) & 1;
    if (!l->of_b) return bit | 1u << 16;
    return (uint16_t)(1 - 2 * (int32_t)bit) | bit << 16;
}

/* Positions p0 .. p0 + length to out, `stride` elements apart. */
static void pack_line(const lb_chain_job *j, const line *l, size_t p0, size_t length, void *out, size_t stride) {
    double *wide = out;
    float *narrow = out;
    uint32_t *pairs = out;
    for (size_t i = 0; i < length; i++) {
        const size_t k = (p0 + i) ^ (size_t)j->odd_first; /* k is even where odd ones come first */
        if (j->held == LB_HELD_PAIR)
            pairs[i * stride] = pair_at(j, l, p0 + i);
        else if (j->held == LB_HELD_FLOAT)
            narrow[i * stride] = (float)value_of(l->f, code_at(l, k));
        else
            wide[i * stride] = value_of(l->f, code_at(l, k));
    }
}

/* The last pair of k below 2 (p0 + length) … with a NaN. */
static void look_for_nan(const lb_chain_job *j, const line *l, size_t p0, size_t length, ptrdiff_t *last) {
    if (!j->odd_first) return;
    for (size_t k = p0; k < p0 + length; k++)
        if (isnan(exact_value(l->f, code_at(l, k)))) *last = (ptrdiff_t)(k / 2);
}

/* ---- groups ------------------------------------------------------------------------------------------------------------------ */

/* Group g of a line, whose scales are column `at` of `scales`. */
static void pack_group(const lb_chain_job *j, const line *l, const lb_mat *scales, size_t g, uint32_t *live, double *scale, double *power) {
    const lb_unit *u = j->x->u;
    const size_t k0 = g * (size_t)u->group, block = k0 / (size_t)u->scale_block;
    const lb_format *f = lb_format_row(u->scale);
    const uint64_t code = block < scales->rows ? lb_mat_code(scales, block, l->at) : lb_from_double(f, 1);
    const lb_term term = lb_term_of(f, code);
    *live = 0;
    for (size_t i = 0; i < (size_t)u->group; i++) *live |= (uint32_t)(l->f->table[code_at(l, k0 + i) & 0xff] != 0) << i;
    *scale = term.e == LB_TERM_SPECIAL ? NAN : term.sig ? ldexp(term.sig, term.e - f->man_bits) : 0;
    *power = term.e == LB_TERM_SPECIAL ? 1 : term.sig ? ldexp(1, term.e) : 0;
}

/* ---- in and out ---------------------------------------------------------------------------------------------------------------- */

void lb_chain_pack_row(const lb_chain_job *j, size_t i) {
    const size_t m = j->x->d->rows;
    const line l = {j->x->a, &j->fa, i, false};
    const lb_mat scales = j->groups ? lb_mat_transposed(*j->x->with.scale_a) : (lb_mat){0};
    j->a_nan[i] = -1;
    for (size_t p0 = 0; p0 < j->length; p0 += j->part) {
        const size_t length = j->length - p0 < j->part ? j->length - p0 : j->part;
        pack_line(j, &l, p0, length, j->a + (p0 * m + i * length) * j->element, 1);
        look_for_nan(j, &l, p0, length, &j->a_nan[i]);
        const size_t groups = j->groups ? length / (size_t)j->terms : 0, group0 = j->groups ? p0 / (size_t)j->terms : 0;
        for (size_t g = 0; g < groups; g++) {
            const size_t at = group0 * m + i * groups + g;
            pack_group(j, &l, &scales, group0 + g, &j->a_live[at], &j->a_scale[at], &j->a_power[at]);
        }
    }
}

void lb_chain_pack_b(const lb_chain_job *j, size_t p0, size_t length, size_t column0, int columns, lb_chain_scratch *w) {
    const lb_mat turned = lb_mat_transposed(*j->x->b);
    const size_t groups = j->groups ? length / (size_t)j->terms : 0, group0 = j->groups ? p0 / (size_t)j->terms : 0;
    if (columns < LB_NR) {
        memset(w->b, 0, length * LB_NR * j->element);
        memset(w->b_live, 0, groups * LB_NR * sizeof *w->b_live);
        memset(w->b_scale, 0, groups * LB_NR * sizeof *w->b_scale);
        memset(w->b_power, 0, groups * LB_NR * sizeof *w->b_power);
    }
    for (size_t i = 0; i < (size_t)columns; i++) {
        const line l = {&turned, &j->fb, column0 + i, true};
        pack_line(j, &l, p0, length, w->b + i * j->element, LB_NR);
        look_for_nan(j, &l, p0, length, &w->b_nan[i]);
        for (size_t g = 0; g < groups; g++)
            pack_group(j, &l, j->x->with.scale_b, group0 + g, &w->b_live[g * LB_NR + i], &w->b_scale[g * LB_NR + i],
                       &w->b_power[g * LB_NR + i]);
    }
}

void lb_chain_read_c(const lb_chain_job *j, size_t i, size_t column0, int columns, void *c) {
    double *wide = c;
    float *narrow = c;
    int32_t *ints = c;
    const bool is_int = j->fc.format->special == LB_SPECIAL_INT;
    memset(c, 0, LB_NR * sizeof(double));
    for (size_t n = 0; j->x->c && n < (size_t)columns; n++) {
        const uint64_t code = lb_mat_code(j->x->c, i, column0 + n);
        if (is_int)
            ints[n] = (int32_t)(uint32_t)code;
        else if (j->held == LB_HELD_FLOAT)
            narrow[n] = (float)value_of(&j->fc, code);
        else
            wide[n] = value_of(&j->fc, code);
    }
}

/* VDPBF16PS hands on the first NaN among a0, b0, a1, b1 of the last pair that has one, else that of c, quieted. */
static uint64_t handed_on(const lb_chain_job *j, size_t i, size_t column, ptrdiff_t b_nan) {
    const ptrdiff_t pair = j->a_nan[i] > b_nan ? j->a_nan[i] : b_nan;
    for (size_t n = 0; pair >= 0 && n < 4; n++) {
        const size_t k = (size_t)pair * 2 + n / 2;
        if (k >= j->x->b->rows) continue;
        const uint64_t code = n % 2 ? lb_mat_code(j->x->b, k, column) : lb_mat_code(j->x->a, i, k);
        if (lb_code_class(j->fa.format, code) == LB_NAN) return (code & 0xffff) << 16 | 0x00400000;
    }
    if (j->x->c && lb_code_class(j->fc.format, lb_mat_code(j->x->c, i, column)) == LB_NAN)
        return lb_mat_code(j->x->c, i, column) | 0x00400000;
    return UINT32_C(0xffc00000);
}

static uint64_t nan_of(const lb_chain_job *j, size_t i, size_t column, ptrdiff_t b_nan) {
    uint64_t code = 0;
    if (j->odd_first) return handed_on(j, i, column, b_nan);
    if (j->kind == LB_CHAIN_TWO_CHAINS) return UINT32_C(0xffc00000);
    if (j->kind == LB_CHAIN_GROUPS) return UINT32_C(0x7fffffff);
    lb_nan_code(j->x->d->format, &code);
    return code;
}

void lb_chain_write_d(const lb_chain_job *j, size_t i, size_t column0, int columns, const void *c, const ptrdiff_t *b_nan) {
    const double *wide = c;
    const float *narrow = c;
    const uint32_t *ints = c;
    const lb_mat *d = j->x->d;
    for (size_t n = 0; n < (size_t)columns; n++) {
        uint64_t code;
        if (j->fc.format->special == LB_SPECIAL_INT) {
            code = ints[n];
        } else {
            const double x = j->held == LB_HELD_FLOAT ? (double)narrow[n] : wide[n];
            if (isnan(x))
                code = nan_of(j, i, column0 + n, b_nan[n]);
            else if (j->kind == LB_CHAIN_FMA64)
                memcpy(&code, &wide[n], sizeof code);
            else
                code = bits_of((float)x);
        }
        lb_store_code(lb_mat_at(d, i, column0 + n), d->format->bytes, code);
    }
}
