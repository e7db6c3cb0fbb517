/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tiles of AVX-512; this file is compiled for it (CMakeLists.txt), and run where it is. */
#include "kernels/tiles.h"

#if defined(__x86_64__)
#include "kernels/vec_avx512.h"

#include "kernels/fast_body.h"
#include "kernels/by_sign.h"
#include "kernels/floor_at.h"
#include "kernels/wide_body.h"
#include "kernels/dots_f16.h"

#include "kernels/pack_body.h"

static unsigned enter(lb_finish finish) {
    return mode_enter(is_halves(finish));
}

static void leave(unsigned saved) {
    mode_leave_inline(saved);
}

const lb_tiles lb_tiles_avx512 = {enter,     leave,     pack_a,   pack_b,      pack_wide_a, pack_wide_b,
                                  run_strip, run_pairs, run_wide, run_by_sign, run_dots16,  WIDE_X};
#endif
