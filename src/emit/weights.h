/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: truncated blocks whose exponents travel as weights. Beside its value an operand has the weight 16 to the power of its exponent,
 * as an f32. The weight of a product is the product of weights, the sum of a block's weights says the largest exponent (eight products at
 * most, sixteen to a step), and both are what every device multiplies and adds at once. */
#ifndef LB_EMIT_WEIGHTS_H
#define LB_EMIT_WEIGHTS_H

#include "emit/rule.h"

/* A bit of the weight of an operand that is NaN or Inf, which is 0 of others; and the sign of such a weight, and of any in the line of one. */
enum { WEIGHT_SPECIAL = 2, WEIGHT_MARK = INT32_MIN };

/* Whether lb_rule_weights may take the place of lb_rule_truncated: the unit's operands have weights, and its sums an end that needs no integer rounding: f32 that no finite sum overflows. */
bool lb_weights_fit(const rule *r);

/* D of one K step, a U, where no operand is NaN or Inf; c may be (then anything comes out). */
ir lb_weights_finite(const rule *r, ir_program *p, const rule_operand *a, const rule_operand *b, ir c);

/* A word whose sign is that of a mark where c is NaN or Inf; whether words one over the other have a mark, a B. */
ir lb_weights_mark_of_c(const rule *r, ir_program *p, ir c);
ir lb_weights_marked(ir_program *p, ir any);

/* Classes (1 NaN, 2 +Inf, 4 -Inf) of one product and of a code of c, 0 where it is finite; what they all make, if any is not. */
ir lb_weights_class(ir_program *p, rule_operand a, rule_operand b);
ir lb_weights_class_of_c(const rule *r, ir_program *p, ir c);
ir lb_weights_special(const rule *r, ir_program *p, ir classes);

#endif
