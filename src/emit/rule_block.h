/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what truncated blocks share, whatever their terms are: the accumulator, the special classes, the rounding. */
#ifndef LB_EMIT_RULE_BLOCK_H
#define LB_EMIT_RULE_BLOCK_H

#include "emit/idiom.h"
#include "emit/rule.h"

/* magnitude * 2^(e - fraction bits of the output), negative where sign is -1 and not 0. A NaN has the exponent
 * RULE_SPECIAL and the magnitude 0, an Inf any other; of one just decoded the code says which. */
typedef struct accumulator {
    ir magnitude /* U */, sign /* I */, e /* I */;
    ir coded; /* U: where it was just decoded, its code without the sign; 0 else */
} accumulator;

accumulator lb_block_decode_c(const rule *r, ir_program *p, ir code);

/* A block's sum, in units of 2^(top - F). */
typedef struct block_sum {
    ir magnitude /* U */, sign /* I, 0 or -1 */;
    ir room; /* I: places that the sum can move up before its last bit is below the output's least one */
} block_sum;

/* Rules 7 and 8: the code of a sum. `top` is the least exponent that the block's largest can be. */
ir lb_block_round(const rule *r, ir_program *p, block_sum s);

/* The class of a special accumulator, U: 1 NaN, 2 +Inf, 4 -Inf; 0 if it is finite. */
ir lb_block_class_of_c(const rule *r, ir_program *p, const accumulator *c);
/* The code that special classes make. */
ir lb_block_special(const rule *r, ir_program *p, ir classes);

#endif
