/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the intermediate representation. A program is a list of three-address statements over named registers, written once by the
 * rule of a unit and printed by a row of languages.def. Nothing in it knows a unit, nothing in a rule knows a language. */
#ifndef LB_EMIT_IR_H
#define LB_EMIT_IR_H

#include "lastbit/emit.h"

#include "base/text.h"

typedef enum ir_type { IR_U, IR_I, IR_F, IR_B } ir_type; /* 32 bits without and with a sign, f32, a truth value */

typedef enum ir_op {
#define EMIT_OP(id, operands, type, counted, text) IR_##id,
#include "emit/ops.def"
#undef EMIT_OP
    IR_OPERATIONS,
    IR_LOAD = IR_OPERATIONS, /* dst = array[a] */
    IR_TAKE,                 /* dst = text, a parameter's name */
    IR_STORE,                /* array[a] = b */
    IR_VAR,                  /* a register that is set more than once, first to a */
    IR_SET,                  /* dst = a */
    IR_IF,
    IR_ELSE,
    IR_END,
    IR_COMMENT,
    IR_RETURN,
    IR_FOR,   /* dst counts 0 … imm - 1; b says that it is to stay a loop */
    IR_CALL,  /* dst = function(arrays, a) */
    IR_ARRAY, /* a local array of imm words */
    IR_LINE   /* text as it stands */
} ir_op;

typedef int ir; /* a register or a constant */

typedef struct ir_value {
    ir_type type;
    bool constant;
    uint32_t bits;
} ir_value;

/* Where a statement counts. */
typedef enum ir_part { IR_DECODE, IR_MAIN, IR_RARE, IR_ADDRESS, IR_PARTS } ir_part;

typedef struct ir_statement {
    ir_op op;
    ir dst, a, b, c;
    uint32_t imm;
    ir_part part;
    uint64_t times;
    char text[256]; /* name of an array or function, a comment; of a call also its arrays, those behind the last register past a newline */
} ir_statement;

typedef struct ir_program {
    ir_value *values;
    ir_statement *list;
    size_t value_count, value_room, count, room;
    uint64_t counted[IR_PARTS];
    ir_part part;
    uint64_t times; /* how often the statements that follow run: loops, calls */
    bool failed;    /* no memory */
} ir_program;

void lb_ir_free(ir_program *p);
void lb_ir_clear(ir_program *p); /* no statements; counts stay */

ir lb_ir_u(ir_program *p, uint32_t bits);
ir lb_ir_i(ir_program *p, int32_t value);
ir lb_ir_b(ir_program *p, bool value);
ir lb_ir_input(ir_program *p, ir_type type); /* a register that a parameter defines */

/* One operation; operands that it lacks are 0. What is known now is no statement: an operation on constants, x + 0, a choice of two
 * alike. */
ir lb_ir_do(ir_program *p, ir_op op, ir a, ir b, ir c);
/* The same with a constant of a's type as its second operand. */
ir lb_ir_with(ir_program *p, ir_op op, ir a, int32_t b);
/* Of conditions, a choice, and changes of type. lb_ir_bit: U, 1 where the condition holds and 0 where not. */
ir lb_ir_select(ir_program *p, ir condition, ir yes, ir no);
ir lb_ir_both(ir_program *p, ir x, ir y);
ir lb_ir_either(ir_program *p, ir x, ir y);
ir lb_ir_not(ir_program *p, ir condition);
ir lb_ir_bit(ir_program *p, ir condition);
ir lb_ir_to_u(ir_program *p, ir i);
ir lb_ir_to_i(ir_program *p, ir u);
ir lb_ir_take(ir_program *p, const char *parameter);
ir lb_ir_load(ir_program *p, const char *array, ir index);
void lb_ir_store(ir_program *p, const char *array, ir index, ir value);
ir lb_ir_var(ir_program *p, ir first);
void lb_ir_set(ir_program *p, ir var, ir value);
void lb_ir_if(ir_program *p, ir condition);
void lb_ir_else(ir_program *p);
void lb_ir_end(ir_program *p);
void lb_ir_return(ir_program *p, ir value);
void lb_ir_comment(ir_program *p, const char *format, ...) LB_PRINTF(2, 3);
ir lb_ir_for(ir_program *p, uint32_t count);
ir lb_ir_rolled(ir_program *p, uint32_t count); /* a loop that is to stay one */
/* dst = function(arrays, last more). */
ir lb_ir_call(ir_program *p, const char *function, const char *arrays, ir last, const char *more);
void lb_ir_line(ir_program *p, const char *format, ...) LB_PRINTF(2, 3);
void lb_ir_array(ir_program *p, const char *name, uint32_t size);

/* ---- what need not be said (fold.c) --------------------------------------------------------------------------------------- */

/* Whether a program knows what an operation gives: then it is *out. */
bool lb_ir_fold(ir_program *p, ir_op op, ir a, ir b, ir c, ir *out);
/* Take out the statements whose results nobody takes, and their counts. */
void lb_ir_prune(ir_program *p);
/* Of an operation of ops.def. */
bool lb_ir_is_counted(ir_op op);
int lb_ir_operands(ir_op op);

/* ---- printing ----------------------------------------------------------------------------------------------------------- */

typedef struct ir_language {
    const char *name, *type[4], *function, *array_in, *array_out, *shared_global, *shared_argument, *barrier, *op[IR_OPERATIONS], *prelude;
} ir_language;

const ir_language *lb_ir_language_of(lb_emit_language language);

/* What languages_more.def has of a language. */
typedef struct ir_more {
    const char *op[IR_OPERATIONS], *rolled, *prelude, *shuffle_prelude; /* op[IR_SHUFFLE] is NULL where it has no sub-groups */
} ir_more;

const ir_more *lb_ir_more_of(const ir_language *l);

/* A template with $n and $k replaced. */
void lb_ir_print_named(lb_text *t, const char *text, const char *name, int size);
void lb_ir_print_name(lb_text *t, const ir_program *p, ir v);
void lb_ir_print_body(lb_text *t, const ir_language *l, const ir_program *p);

#endif
