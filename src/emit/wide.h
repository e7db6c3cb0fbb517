/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: unsigned integers of several words of 32 bits, as statements. Operands of two-operand functions have as many words as each
 * other, and so has the result. Counts of shifts are I. */
#ifndef LB_EMIT_WIDE_H
#define LB_EMIT_WIDE_H

#include "emit/ir.h"

enum { LB_WIDE_WORDS = 4 };

typedef struct wide {
    int count;
    ir word[LB_WIDE_WORDS]; /* U, the lowest first */
} wide;

wide lb_wide_of(ir word);
wide lb_wide_pair(ir low, ir high);
wide lb_wide_u(ir_program *p, uint64_t bits, int count);
int lb_wide_words(int bits); /* that hold so many bits */

/* Words above are zeros, or copies of bit `bits - 1`; words that do not fit drop. */
wide lb_wide_resized(ir_program *p, wide x, int count);
wide lb_wide_extended(ir_program *p, wide x, int bits, bool is_signed, int count);
/* The low `bits` alone. */
wide lb_wide_masked(ir_program *p, wide x, int bits);

wide lb_wide_each(ir_program *p, ir_op op, wide x, wide y);
wide lb_wide_select(ir_program *p, ir condition, wide yes, wide no);
wide lb_wide_add(ir_program *p, wide x, wide y);
wide lb_wide_sub(ir_program *p, wide x, wide y, ir *borrow); /* *borrow, if asked for: U, 1 where x < y */
wide lb_wide_negated(ir_program *p, wide x, ir flag);        /* -x where flag (U) is 1, x where it is 0 */
wide lb_wide_mul(ir_program *p, wide x, wide y, int count);  /* the low `count` words of the product */

ir lb_wide_is_zero(ir_program *p, wide x);
ir lb_wide_equal(ir_program *p, wide x, wide y);
ir lb_wide_less(ir_program *p, wide x, wide y, bool is_signed);

/* Shifts by a constant below the width. */
wide lb_wide_up(ir_program *p, wide x, int by);
wide lb_wide_down(ir_program *p, wide x, int by);
/* Shifts by a register that is below the width; lb_wide_clamp makes it so. */
ir lb_wide_clamp(ir_program *p, ir by, int most); /* into [0, most] */
wide lb_wide_shl(ir_program *p, wide x, ir by);
wide lb_wide_shr(ir_program *p, wide x, ir by);
wide lb_wide_sar(ir_program *p, wide x, ir by);        /* copies of the top bit come in */
wide lb_wide_shr_sticky(ir_program *p, wide x, ir by); /* the last bit is set if a bit was lost */
/* The upper `count` words; the last bit is set if what is below them is not 0. */
wide lb_wide_top(ir_program *p, wide x, int count);

/* Leading zeros, an I; one too few for 0. */
ir lb_wide_clz(ir_program *p, wide x);

/* Registers that are set more than once. */
wide lb_wide_var(ir_program *p, wide first);
void lb_wide_set(ir_program *p, wide var, wide value);

/* The first `steps` bits of the quotient of high (followed by the bits of low) and d, high < d; low and d as wide as each other.
 * *rest: what remains. A loop of that many steps. */
wide lb_wide_divide(ir_program *p, wide high, wide low, wide d, int steps, wide *rest);

#endif
