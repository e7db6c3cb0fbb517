/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the faults that power injects, as functions; rows are faults.def. */
#ifndef LB_RUN_FAULTS_H
#define LB_RUN_FAULTS_H

#include "lastbit/power.h"

enum { LB_FAULT_WHY = 192 };

typedef struct lb_plant {
    const lb_case *x; /* NULL: an output alone */
    const lb_unit *unit;
    const lb_mat *right; /* [m][n] */
    lb_mat out;          /* [m][n] row-major, another memory: begins as right */
    bool hidden;         /* something in the inputs hides the fault, and `why` says what; only ever said after looking at them */
    char why[LB_FAULT_WHY];
} lb_plant;

typedef lb_status lb_planter(lb_plant *p, lb_error *err);

void lb_plant_say(lb_plant *p, const char *format, ...) LB_PRINTF(2, 3);    /* where */
void lb_plant_hidden(lb_plant *p, const char *format, ...) LB_PRINTF(2, 3); /* hidden, and by what */

#define LB_FAULT(name, of, planter, what) lb_planter planter;
#include "run/faults.def"
#undef LB_FAULT

#endif
