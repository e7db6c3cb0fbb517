/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the cheap approximation of a truncated unit, `--tier fast`: each block's products and c added in f32, in order, and rounded once.
 * It is not the unit; how often it gives the unit's bits is measured (tools/gen_fast_rates). */
#ifndef LB_EMIT_TIER_FAST_H
#define LB_EMIT_TIER_FAST_H

#include "emit/rule.h"

/* errors LB_E_UNAVAILABLE where it is not written */
lb_status lb_fast_of(const lb_unit *u, const lb_emit_options *o, rule *out, lb_error *err);

/* .value an F: the operand itself, NaN and Inf included; .e nothing. */
rule_operand lb_fast_decode(const rule *r, ir_program *p, const lb_format *f, ir code);
ir lb_fast_step(const rule *r, ir_program *p, const rule_operand *a, const rule_operand *b, ir c);

/* Lines of comment: that it is not exact, how often it is, and where it differs. */
void lb_fast_describe(const rule *r, lb_text *t);

#endif
