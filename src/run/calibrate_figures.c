/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Drift, floor and faults as figures, by row and by block of rows. source: seed-contract (floor, old floor, sign changes) */
#include "lastbit/contracts.h"
#include "run/calibrate.h"

#include <math.h>
#include <stdlib.h>

#ifdef __FAST_MATH__
#error "grading needs IEEE comparisons: do not build it with -ffast-math"
#endif

const char *lb_calibration_tail_name(lb_calibration_tail t) {
    static const char *const names[] = {
#define X(id, name, text) name,
        LB_CALIBRATION_TAIL_LIST(X)
#undef X
    };
    return t < LB_TAIL_COUNT ? names[t] : "";
}

/* ---- how much the margin must be -------------------------------------------------------------------------------------- */

/* t with P(|normal| > t) = p, by halving: erfc falls. */
static double normal_quantile(double p) {
    double low = 0, high = 40;
    for (int i = 0; i < 80; i++) {
        const double t = (low + high) / 2;
        if (erfc(t / sqrt(2)) > p)
            low = t;
        else
            high = t;
    }
    return high;
}

/* t with exp(-pi t / 2) = p: the tails of a walk times a walk (docs/contract-file.md). */
static double walk_quantile(double p) {
    const double pi = 3.14159265358979323846;
    return fmax(0.5, -2 / pi * log(p));
}

/* Lightest first. Truncation leaves the area under the walk of the partial sums: normal, where the walk is long. Rounding to nearest leaves
 * a walk times a walk. */
static const struct {
    lb_calibration_tail tail;
    bool truncates; /* for accumulators that do, alone */
    double (*quantile)(double p);
} tails[] = {{LB_TAIL_NORMAL, true, normal_quantile}, {LB_TAIL_WALK, false, walk_quantile}};

/* The lightest tail that the largest deviation seen does not refute (one such sample in a hundred would), and its quantile. */
static double tail_quantile(const lb_calibration *c, double p, lb_calibration_figures *f) {
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        if ((tails[i].truncates && !c->truncates) || !(f->largest <= tails[i].quantile(0.01 / (double)f->decided))) continue;
        f->tail = tails[i].tail;
        return tails[i].quantile(p);
    }
    f->tail = LB_TAIL_SEEN;
    return f->largest;
}

/* An element is refused if it is 3 steps off or more and beyond the floor. Two roundings to `out` can make at most 1.6 of an error that
 * comes to 3 steps (2 small steps and a large one: 4 small ones of which 1.5 are roundings), so 1.6 times the drift must not exceed the
 * floor, unless it is below the 3 steps: those of a value v are at least 3 |v| 2^-(man+1). */
static double margin_needed(const lb_calibration *c, lb_calibration_figures *f, size_t k) {
    const double p = c->false_alarm / c->elements, roundings = c->out->id == LB_F32 ? 1 : 1.6;
    const double random = roundings * f->spread * tail_quantile(c, p, f), slope = roundings * fabs(f->bias);
    const double least_steps = (LB_M16_MAX_ULP + 1) * ldexp(1, -(c->out->man_bits + 1)) - slope;
    double reach = normal_quantile(p) / (0x1p-24 * sqrt((double)k)); /* the largest values, in units of 2^-24 sqrt(k) row_rms */
    if (least_steps > 0 && random / least_steps < reach) reach = random / least_steps;
    return random + slope * reach;
}

/* ---- figures ----------------------------------------------------------------------------------------------------------- */

/* One row's unit of drift, 2^-24 sqrt(k) row_rms. */
static double unit_of(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i) {
    return LB_F32_UNIT_ROUNDOFF * sqrt((double)s->k) * r->row_rms[i];
}

/* Values that the floor decides about: beyond those the ordinal budget is the wider of the two. Nearly as small ones drift alike and make
 * the figures steadier. f32 outputs have no budget to speak of, so all of them are looked at. */
static double decided_below(const lb_calibration *c, const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i) {
    const double floor = c->margin * unit_of(s, r, i);
    return c->out->id == LB_F32 ? INFINITY : fmax(r->row_rms[i] / 16, ldexp(floor, c->out->man_bits) / LB_M16_MAX_ULP);
}

static void fill_bias(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, lb_calibration_figures *f) {
    double square = 0, xx = 0, xy = 0;
    for (size_t i = f->first_row; i < f->first_row + f->rows; i++) {
        const double unit = unit_of(s, r, i);
        for (size_t j = 0; j < s->n; j++) {
            const double v = (double)s->against[i * s->n + j], drift = (double)s->what[i * s->n + j] - v;
            square += drift * drift;
            f->drift_max = fmax(f->drift_max, fabs(drift));
            if (!(unit > 0)) continue;
            xx += v / unit * (v / unit);
            xy += v / unit * (drift / unit);
        }
    }
    f->bias = xx > 0 ? xy / xx : 0;
    f->drift_rms = sqrt(square / ((double)f->rows * (double)s->n));
}

static void fill_spread(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, const lb_calibration *c, lb_calibration_figures *f) {
    double left = 0, most = 0, count = 0;
    for (size_t i = f->first_row; i < f->first_row + f->rows; i++) {
        const double unit = unit_of(s, r, i), below = decided_below(c, s, r, i);
        for (size_t j = 0; j < s->n && unit > 0; j++) {
            const double v = (double)s->against[i * s->n + j], x = ((double)s->what[i * s->n + j] - v - f->bias * v) / unit;
            if (!(fabs(v) <= below)) continue;
            left += x * x;
            most = fmax(most, fabs(x));
            count++;
        }
    }
    f->decided = (uint64_t)count;
    f->spread = count > 0 ? sqrt(left / count) : NAN;
    f->largest = f->spread > 0 ? most / f->spread : 0;
    f->margin_needed = margin_needed(c, f, s->k);
}

static void grade_element(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, double margin, size_t i, size_t j,
                          lb_calibration_figures *f) {
    const double a = (double)r->what[i * s->n + j], v = (double)r->against[i * s->n + j], gap = fabs(a - v);
    const double floor = margin * unit_of(s, r, i);
    const double ulp = (double)lb_ulp_distance(r->f, lb_from_double(r->f, a), lb_from_double(r->f, v));
    const bool flip = signbit(a) != signbit(v) && fabs(v) < LB_M16_SIGN_FLIP_BAND, over = !(ulp <= LB_M16_MAX_ULP);
    f->sign_flips += flip;
    if (!flip) f->max_ulp = fmax(f->max_ulp, ulp);
    f->over_ulp += over;
    f->over_floor += over && !(gap <= floor);
    f->over_old += over && !flip && !(gap <= f->old_floor);
    f->max_abs = fmax(f->max_abs, gap);
    if (!over || !(gap > f->worst_ratio * floor)) return;
    f->worst_ratio = gap / floor;
    f->worst_row = i;
    f->worst_col = j;
}

static void fill(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, const lb_calibration *c, size_t first, size_t rows,
                 lb_calibration_figures *f) {
    *f = (lb_calibration_figures){.first_row = first, .rows = rows, .cols = s->n};
    double square = 0, error = 0;
    for (size_t i = first; i < first + rows; i++) {
        square += r->row_rms[i] * r->row_rms[i] * (double)s->n;
        for (size_t j = 0; j < s->n; j++) {
            const double gap = (double)r->what[i * s->n + j] - (double)r->against[i * s->n + j];
            error += gap * gap;
        }
    }
    f->row_rms = sqrt(square / ((double)rows * (double)s->n));
    f->rel_rms = square > 0 ? sqrt(error / square) : sqrt(error);
    f->floor = c->margin * LB_F32_UNIT_ROUNDOFF * sqrt((double)s->k) * f->row_rms;
    f->old_floor = LB_M16_OLD_FLOOR * f->row_rms;
    fill_bias(s, r, f);
    fill_spread(s, r, c, f);
    for (size_t i = first; i < first + rows; i++)
        for (size_t j = 0; j < s->n; j++) grade_element(s, r, c->margin, i, j, f);
    lb_calibrate_faults(s, r, c->margin, f);
}

static void round_all(const lb_calibrate_sides *s, lb_calibrate_rounded *r) {
    for (size_t i = 0; i < s->m; i++) {
        double sum = 0;
        for (size_t j = i * s->n; j < (i + 1) * s->n; j++) {
            r->what[j] = (float)lb_to_double(r->f, lb_from_double(r->f, (double)s->what[j]));
            r->against[j] = (float)lb_to_double(r->f, lb_from_double(r->f, (double)s->against[j]));
            sum += (double)r->against[j] * (double)r->against[j];
        }
        r->row_rms[i] = sqrt(sum / (double)s->n);
    }
}

lb_status lb_calibrate_measure(const lb_calibrate_sides *s, const lb_calibration *c, lb_calibration_depth *d, lb_error *err) {
    lb_calibrate_rounded r = {c->out, calloc(s->m * s->n + 1, sizeof(float)), calloc(s->m * s->n + 1, sizeof(float)),
                              calloc(s->m + 1, sizeof(double))};
    d->blocks = calloc(5, sizeof *d->blocks);
    d->rows = calloc(s->m + 1, sizeof *d->rows);
    const bool room = r.what && r.against && r.row_rms && d->blocks && d->rows;
    if (room) {
        round_all(s, &r);
        for (size_t i = 0; i < s->m; i++) fill(s, &r, c, i, 1, &d->rows[i]);
        for (int i = 0; c->named && i < 4 && c->named->prefixes[i] && c->named->prefixes[i] < s->m; i++)
            fill(s, &r, c, 0, c->named->prefixes[i], &d->blocks[d->block_count++]);
        fill(s, &r, c, 0, s->m, &d->blocks[d->block_count++]);
    }
    free(r.what);
    free(r.against);
    free(r.row_rms);
    return room ? LB_OK : lb_fail(err, LB_E_MEMORY, "calibrate", "no memory for %zux%zu outputs", s->m, s->n);
}
