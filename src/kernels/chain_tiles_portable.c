/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The chains of every machine. */
#include "kernels/chains.h"

#include "kernels/vec_any.h"

#include "kernels/vec_any_chain.h"
#include "kernels/floor_at.h"

#include "kernels/chain_ints.h"

#include "kernels/chain_body.h"

static unsigned enter(lb_chain_kind kind) {
    (void)kind;
    return mode_enter(true);
}

static void leave(unsigned saved) {
    mode_leave_inline(saved);
}

const lb_chain_tiles lb_chain_tiles_portable = {enter, leave, run_chain, CHAIN_HAS_FMA};
