/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Faults that a tolerance should see, as the change that each makes to one element of the reference. */
#include "run/calibrate.h"

#include <math.h>

/* |change| at (i, j); NAN where the fault has no place. */
typedef double fault_at(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i, size_t j);

enum { LAST = LB_CALIBRATE_TAIL - 1, SHIFTED = 13 };

static double product(const lb_calibrate_sides *s, size_t i, size_t j, size_t a, size_t w) {
    return (double)s->a_tail[i * LB_CALIBRATE_TAIL + a] * (double)s->w_tail[j * LB_CALIBRATE_TAIL + w];
}

static double lost_last(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i, size_t j) {
    (void)r;
    return fabs(product(s, i, j, LAST, LAST));
}

static double lost_step(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i, size_t j) {
    double sum = 0;
    (void)r;
    for (size_t p = 0; p < LB_CALIBRATE_TAIL; p++) sum += product(s, i, j, p, p);
    return fabs(sum);
}

static double swapped_pair(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i, size_t j) {
    (void)r;
    if (s->k < 2) return NAN;
    return fabs(product(s, i, j, LAST, LAST - 1) + product(s, i, j, LAST - 1, LAST) - product(s, i, j, LAST, LAST) -
                product(s, i, j, LAST - 1, LAST - 1));
}

static double value(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i, size_t j) {
    return (double)r->against[i * s->n + j];
}

static double copied_row(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i, size_t j) {
    return i ? fabs(value(s, r, i - 1, j) - value(s, r, i, j)) : NAN;
}

static double shifted_tail(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i, size_t j) {
    return j && j + SHIFTED >= s->n ? fabs(value(s, r, i, j - 1) - value(s, r, i, j)) : NAN;
}

static double doubled(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i, size_t j) {
    return fabs(value(s, r, i, j));
}

/* Distance of neighbours at a value, that of the binade above it. */
static double step_at(const lb_format *f, double value) {
    int e;
    const int least = 2 - f->bias; /* frexp's exponent of the least normal number */
    frexp(value, &e);
    return ldexp(1, (e < least || value == 0 ? least : e) - 1 - f->man_bits);
}

static double three_ulp(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, size_t i, size_t j) {
    return 3 * step_at(r->f, value(s, r, i, j));
}

static const struct {
    fault_at *at;
    const char *name, *what;
} faults[] = {
#define LB_CALIBRATION_FAULT(function, name, what) {function, name, what},
#include "run/calibrate_faults.def"
#undef LB_CALIBRATION_FAULT
};

enum { FAULT_COUNT = sizeof faults / sizeof faults[0] };
_Static_assert((int)FAULT_COUNT <= (int)LB_CALIBRATION_FAULTS_MAX, "figures have room for so many faults");

const char *lb_calibration_fault_name(size_t i) {
    return i < FAULT_COUNT ? faults[i].name : NULL;
}

const char *lb_calibration_fault_what(size_t i) {
    return i < FAULT_COUNT ? faults[i].what : NULL;
}

/* max(2 steps of the output format, floor) at a value. */
static double allowed_at(const lb_format *f, double value, double floor) {
    return fmax(LB_CALIBRATE_MAX_ULP * step_at(f, value), floor);
}

void lb_calibrate_faults(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, double margin, lb_calibration_figures *f) {
    for (size_t k = 0; k < LB_CALIBRATION_FAULTS_MAX; k++) f->fault_ratio[k] = NAN;
    for (size_t i = f->first_row; i < f->first_row + f->rows; i++) {
        const double floor = margin * 0x1p-24 * sqrt((double)s->k) * r->row_rms[i];
        for (size_t j = 0; j < s->n; j++) {
            const double allowed = allowed_at(r->f, value(s, r, i, j), floor);
            for (size_t k = 0; k < FAULT_COUNT; k++) {
                const double change = faults[k].at(s, r, i, j);
                if (!isnan(change)) f->fault_ratio[k] = fmax(f->fault_ratio[k], change / allowed);
            }
        }
    }
    for (size_t k = 1; k < FAULT_COUNT; k++)
        if (isnan(f->fault_ratio[f->weakest]) || f->fault_ratio[k] < f->fault_ratio[f->weakest]) f->weakest = k;
}
