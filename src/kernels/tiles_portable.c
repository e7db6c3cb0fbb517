/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tiles of every machine. */
#include "kernels/tiles.h"

#include "kernels/vec_any.h"

#include "kernels/fast_body.h"
#include "kernels/floor_at.h"
#include "kernels/wide_body.h"

#include "kernels/pack_body.h"

static unsigned enter(lb_finish finish) {
    return mode_enter(is_halves(finish));
}

static void leave(unsigned saved) {
    mode_leave_inline(saved);
}

const lb_tiles lb_tiles_portable = {enter,     leave,     pack_a,   pack_b, pack_wide_a, pack_wide_b,
                                    run_strip, run_pairs, run_wide, NULL,   NULL,        WIDE_X};
