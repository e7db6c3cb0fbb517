/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: IEEE arithmetic as integer statements. */
#ifndef LB_EMIT_SOFT_H
#define LB_EMIT_SOFT_H

#include "emit/ir.h"

#include "lastbit/formats.h"

/* x + y of two codes of an IEEE format of at most 32 bits, to nearest even; any NaN is `nan`. */
ir lb_soft_add(ir_program *p, const lb_format *f, uint32_t nan, ir x, ir y);

#endif
