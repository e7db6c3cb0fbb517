/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The chains of AVX-512. */
#include "kernels/chains.h"

#if defined(__x86_64__)
#include "kernels/vec_avx512.h"

#include "kernels/vec_avx512_chain.h"
#include "kernels/floor_at.h"

#include "kernels/chain_ints.h"

#include "kernels/chain_body.h"

/* Flushing chains: subnormals are zeros (DAZ) and tiny results flushed (FTZ, which looks after rounding). */
static unsigned enter(lb_chain_kind kind) {
    const unsigned saved = mode_enter(kind != LB_CHAIN_GROUPS);
    if (kind == LB_CHAIN_FMA32_FTZ || kind == LB_CHAIN_TWO_CHAINS) _mm_setcsr(_mm_getcsr() | 0x8040);
    return saved;
}

static void leave(unsigned saved) {
    mode_leave_inline(saved);
}

const lb_chain_tiles lb_chain_tiles_avx512 = {enter, leave, run_chain, CHAIN_HAS_FMA};
#endif
