/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what a unit gives on the grid of a scene. */
#ifndef LB_RUN_ACCUMULATE_H
#define LB_RUN_ACCUMULATE_H

#include "run/scene.h"

/* Values of the unit's D, in its own format, at the first rows x cols of the grid, into out [rows][cols]; K in `slices` parts, each from
 * zero (the first from C), added in f32. False if the unit does not take these operands. */
bool lb_unit_values(const lb_scene *s, const lb_unit *u, size_t slices, size_t rows, size_t cols, double *out);

#endif
