/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what the parts of a calibration share. */
#ifndef LB_RUN_CALIBRATE_H
#define LB_RUN_CALIBRATE_H

#include "lastbit/calibrate.h"

enum { LB_CALIBRATE_TAIL = 16, LB_CALIBRATE_MAX_ULP = 2 }; /* products at the end of K that faults look at; the ordinal budget */

/* Both sides of one depth, before the rounding to the output format. */
typedef struct lb_calibrate_sides {
    size_t m, n, k;
    float *what, *against; /* [m][n] */
    float *a_tail;         /* [m][LB_CALIBRATE_TAIL] the last operands of each row, zeros where K is shorter */
    float *w_tail;         /* [n][LB_CALIBRATE_TAIL] and of each column, scales applied */
} lb_calibrate_sides;

/* Figures of rows first … first + rows; the rounded codes' values are [m][n]. */
typedef struct lb_calibrate_rounded {
    const lb_format *f;
    float *what, *against; /* [m][n] values of the rounded codes */
    double *row_rms;       /* [m] */
} lb_calibrate_rounded;
lb_status lb_calibrate_measure(const lb_calibrate_sides *s, const lb_calibration *c, lb_calibration_depth *d, lb_error *err);

/* Largest injected error of each fault over those rows, relative to what is allowed there. */
void lb_calibrate_faults(const lb_calibrate_sides *s, const lb_calibrate_rounded *r, double margin, lb_calibration_figures *f);

#endif
