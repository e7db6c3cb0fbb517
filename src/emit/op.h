/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a scalar operation as statements: for each handler of its rule an emitter that says what the handler computes. */
#ifndef LB_EMIT_OP_H
#define LB_EMIT_OP_H

#include "emit/soft.h"

#include "scalar/scalar_value.h"

/* One value a word, as the handlers have them: in [ins], bits above a word are 0; out [outs], bits above a word are passed over. */
typedef void op_lane(ir_program *p, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out);

/* A lane's part, behind the barrier: the others' words are in local memory, `words` apart if there are two a lane. */
typedef struct op_group {
    ir_program *p;
    const char *memory;
    ir lane;
} op_group;

typedef void op_warp(const op_group *g, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out);

#define EMIT_LANE(name) op_lane lb_op_##name;
#define EMIT_WARP(name) op_warp lb_op_##name;
#include "emit/handlers.def"
#undef EMIT_LANE
#undef EMIT_WARP

/* A number of two's complement in `count` words. */
static inline wide op_number(ir_program *p, lb_word w, wide word, int count) {
    return lb_wide_extended(p, word, lb_word_bits(w), lb_word_is_signed(w), count);
}

/* Into the range of integers of so many bits; more words than they have. */
wide lb_op_clamp(ir_program *p, wide n, int bits, bool is_signed);

/* How a row's results come out in f. */
soft_rule lb_op_rule(const lb_format *f, int rounding, unsigned flags);
/* .sat, .relu: of a code that is no NaN, or the positive one. */
wide lb_op_clip(ir_program *p, const lb_format *f, wide code, unsigned flags);

#endif
