/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: IEEE arithmetic of any format up to f64 as integer statements, correctly rounded. A code of up to 32 bits is one word, one of
 * 64 bits two, the lower first; bits above a code are 0. */
#ifndef LB_EMIT_SOFT_H
#define LB_EMIT_SOFT_H

#include "emit/wide.h"

#include "lastbit/formats.h"

/* How results come out. Zero is IEEE 754 to nearest even, with `nan` to be said. */
typedef struct soft_rule {
    const lb_format *f;
    lb_rounding rounding; /* LB_RNE, LB_RNA, LB_RZ, LB_RU, LB_RD, or LB_ODD with overflow to Inf */
    bool saturate;        /* an overflow or Inf becomes the largest finite value */
    bool flush;           /* a result that is subnormal after rounding becomes a zero of its sign */
    bool unbounded;       /* with flush, to nearest even: what is subnormal is told as if exponents had no end, as x86 does */
    bool keeps_nan;       /* the first NaN among the operands comes out, quieted */
    uint64_t nan;         /* the NaN where there is none, or none is kept */
} soft_rule;

wide lb_soft_fma(ir_program *p, const soft_rule *s, wide x, wide y, wide z);
/* a b + x y, rounded once. */
wide lb_soft_dot2(ir_program *p, const soft_rule *s, wide a, wide b, wide x, wide y);
wide lb_soft_add(ir_program *p, const soft_rule *s, wide x, wide y);
wide lb_soft_sub(ir_program *p, const soft_rule *s, wide x, wide y);
wide lb_soft_mul(ir_program *p, const soft_rule *s, wide x, wide y);
wide lb_soft_div(ir_program *p, const soft_rule *s, wide x, wide y);
wide lb_soft_sqrt(ir_program *p, const soft_rule *s, wide x);

/* ---- what they are made of ------------------------------------------------------------------------------------------------- */

/* sig * 2^(steps - man_bits) in units of the least normal number: an operand taken apart. A subnormal has 0 steps and no leading one. */
typedef struct soft_number {
    wide code, magnitude; /* as it came; without its sign and padding */
    ir sign;              /* U: 0 or 1 */
    ir steps;             /* I */
    wide sig;             /* man_bits + 1 bits */
    ir is_nan, is_inf, is_zero;
} soft_number;

soft_number lb_soft_unpack(ir_program *p, const lb_format *f, wide code);
/* With a leading one, and steps below 0 where it takes them; a zero stays one. */
soft_number lb_soft_normalised(ir_program *p, const lb_format *f, soft_number x);

/* Any magnitude on its way to a code. */
typedef struct soft_value {
    ir sign; /* U: 0 or 1 */
    ir top;  /* I: steps of a leading one in the top bit of sig */
    wide sig;
} soft_value;

/* The code of a value, rounded once. Bits below the top man_bits + 3 may be folded into the last one. */
wide lb_soft_round(ir_program *p, const soft_rule *s, soft_value v);
/* What rounding adds to a magnitude whose last bit is `odd` and whose rest is `rest` of one << low: U, 0 or 1. */
ir lb_soft_increment(ir_program *p, lb_rounding rounding, ir sign, ir odd, ir rest, int low);
/* Subnormal codes as zeros of their sign. */
wide lb_soft_flush(ir_program *p, const lb_format *f, wide code);
/* A code with a sign: Inf, or the largest finite value where the rule saturates. */
wide lb_soft_inf(ir_program *p, const soft_rule *s, ir sign);

#endif
