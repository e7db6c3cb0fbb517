/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tiles of AVX2; this file is compiled for it (CMakeLists.txt), and run where it is. */
#include "kernels/tiles.h"

#if defined(__x86_64__)
#include "kernels/vec_avx2.h"

#include "kernels/fast_body.h"
#include "kernels/by_sign.h"
#include "kernels/floor_at.h"
#include "kernels/wide_body.h"

#include "kernels/pack_body.h"

static unsigned enter(lb_finish finish) {
    return mode_enter(is_halves(finish));
}

static void leave(unsigned saved) {
    mode_leave_inline(saved);
}

const lb_tiles lb_tiles_avx2 = {enter,     leave,     pack_a,   pack_b,      pack_wide_a, pack_wide_b,
                                run_strip, run_pairs, run_wide, run_by_sign, NULL,        WIDE_X};
#endif
