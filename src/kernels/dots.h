/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: many dots of one K step on one set of tiles. */
#ifndef LB_KERNELS_DOTS_H
#define LB_KERNELS_DOTS_H

#include "kernels/tiles.h"

/* lb_dot_batch for a unit that lb_plan_can */
lb_status lb_dots(const lb_tiles *tiles, const lb_unit *u, const void *a, const void *b, const void *c, void *d, size_t count,
                  lb_error *err);

#endif
