/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: idioms of the intermediate representation that every rule uses, under the short names that rules are written in. */
#ifndef LB_EMIT_IDIOM_H
#define LB_EMIT_IDIOM_H

#include "emit/ir.h"

/* A register of a type as the word that memory holds, and back. */
static inline ir to_word(ir_program *p, ir_type type, ir x) {
    return type == IR_F ? lb_ir_do(p, IR_BITS, x, 0, 0) : type == IR_I ? lb_ir_to_u(p, x) : x;
}

static inline ir from_word(ir_program *p, ir_type type, ir word) {
    return type == IR_F ? lb_ir_do(p, IR_FROM_BITS, word, 0, 0) : type == IR_I ? lb_ir_to_i(p, word) : word;
}

/* (x ^ s) - s for s of 0 or -1: x, or -x. */
static inline ir with_sign(ir_program *p, ir x, ir s) {
    return lb_ir_do(p, IR_SUB, lb_ir_do(p, IR_XOR, x, s, 0), s, 0);
}

/* 2^e of an I in the range of normal numbers, built from its bits: no constant that a compiler could fold, no conversion. */
static inline ir power_of_two(ir_program *p, ir biased) {
    return lb_ir_do(p, IR_FROM_BITS, lb_ir_with(p, IR_SHL, lb_ir_to_u(p, biased), 23), 0, 0);
}

#endif
