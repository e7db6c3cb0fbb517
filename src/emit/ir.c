/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "emit/ir.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct operation {
    int operands;
    int type; /* of ir_type, or one of these */
    bool counted;
    const char *text;
} operation;

enum { TYPE_U = IR_U, TYPE_I = IR_I, TYPE_F = IR_F, TYPE_B = IR_B, TYPE_SAME, TYPE_SECOND };

static const operation operations[] = {
#define EMIT_OP(id, operands, type, counted, text) [IR_##id] = {operands, TYPE_##type, counted, text},
#include "emit/ops.def"
#undef EMIT_OP
};

/* Each row ends in what its language has of its own; the rest is the table of operations. */
#define EMIT_LANGUAGE(id, name, u, i, f, b, function, in, out, global, argument, barrier, min, max, mul_hi, clz, popc, to_float, trunc,    \
                      as_u, as_i, bits, from_bits, prelude)                                                                                \
    [LB_EMIT_##id] = {name,                                                                                                                \
                      {u, i, f, b},                                                                                                        \
                      function,                                                                                                            \
                      in,                                                                                                                  \
                      out,                                                                                                                 \
                      global,                                                                                                              \
                      argument,                                                                                                            \
                      barrier,                                                                                                             \
                      {[IR_MIN] = min,                                                                                                     \
                       [IR_MAX] = max,                                                                                                     \
                       [IR_MUL_HI] = mul_hi,                                                                                               \
                       [IR_CLZ] = clz,                                                                                                     \
                       [IR_POPC] = popc,                                                                                                   \
                       [IR_FLOAT] = to_float,                                                                                              \
                       [IR_TRUNC] = trunc,                                                                                                 \
                       [IR_AS_U] = as_u,                                                                                                   \
                       [IR_AS_I] = as_i,                                                                                                   \
                       [IR_BITS] = bits,                                                                                                   \
                       [IR_FROM_BITS] = from_bits},                                                                                        \
                      prelude},
/* Where a language has no expression for the upper word of a product: by halves. */
#define MUL_HI_OF_HALVES                                                                                                                   \
    "#ifndef LB_EMITTED\n#define LB_EMITTED\nuint lb_mul_hi(uint a, uint b) {\n"                                                           \
    "    uint low = (a & 0xffffu) * (b & 0xffffu), x = (a >> 16) * (b & 0xffffu) + (low >> 16);\n"                                         \
    "    uint y = (a & 0xffffu) * (b >> 16) + (x & 0xffffu);\n    return (a >> 16) * (b >> 16) + (x >> 16) + (y >> 16);\n}\n#endif\n"
static const ir_language languages[] = {
#include "emit/languages.def"
};
#undef EMIT_LANGUAGE

const ir_language *lb_ir_language_of(lb_emit_language language) {
    return &languages[language];
}

#define EMIT_LANGUAGE_MORE(id, float_rz, abs, rolled, prelude, shuffle, shuffle_prelude)                                                   \
    [LB_EMIT_##id] = {{[IR_FLOAT_RZ] = float_rz, [IR_ABS] = abs, [IR_SHUFFLE] = shuffle}, rolled, prelude, shuffle_prelude},
static const ir_more additions[] = {
#include "emit/languages_more.def"
};
#undef EMIT_LANGUAGE_MORE

const ir_more *lb_ir_more_of(const ir_language *l) {
    return &additions[l - languages];
}

/* ---- building ----------------------------------------------------------------------------------------------------------- */

void lb_ir_free(ir_program *p) {
    free(p->values);
    free(p->list);
    *p = (ir_program){0};
}

void lb_ir_clear(ir_program *p) {
    p->count = p->value_count = 0;
    p->times = 1;
    p->part = IR_MAIN;
}

static bool grow(void **list, size_t *room, size_t count, size_t size) {
    if (count < *room) return true;
    const size_t more = *room ? 2 * *room : 256;
    void *grown = realloc(*list, more * size);
    if (!grown) return false;
    *list = grown;
    *room = more;
    return true;
}

static ir add_value(ir_program *p, ir_value v) {
    if (!grow((void **)&p->values, &p->value_room, p->value_count, sizeof *p->values)) {
        p->failed = true;
        return 0;
    }
    p->values[p->value_count] = v;
    return (ir)p->value_count++;
}

static ir_statement *add_statement(ir_program *p, ir_op op) {
    if (!grow((void **)&p->list, &p->room, p->count, sizeof *p->list)) {
        p->failed = true;
        return NULL;
    }
    p->list[p->count] = (ir_statement){.op = op, .part = p->part, .times = p->times};
    return &p->list[p->count++];
}

ir lb_ir_u(ir_program *p, uint32_t bits) {
    return add_value(p, (ir_value){IR_U, true, bits});
}

ir lb_ir_i(ir_program *p, int32_t value) {
    return add_value(p, (ir_value){IR_I, true, (uint32_t)value});
}

ir lb_ir_b(ir_program *p, bool value) {
    return add_value(p, (ir_value){IR_B, true, value});
}

bool lb_ir_is_counted(ir_op op) {
    return op < IR_OPERATIONS && operations[op].counted;
}

int lb_ir_operands(ir_op op) {
    return operations[op].operands;
}

ir lb_ir_input(ir_program *p, ir_type type) {
    return add_value(p, (ir_value){.type = type});
}

ir lb_ir_do(ir_program *p, ir_op op, ir a, ir b, ir c) {
    ir folded;
    if (!p->failed && lb_ir_fold(p, op, a, b, c, &folded)) return folded;
    ir_statement *s = p->failed ? NULL : add_statement(p, op);
    if (!s) return 0;
    const int type = operations[op].type;
    s->a = a;
    s->b = b;
    s->c = c;
    s->dst = add_value(p, (ir_value){type == TYPE_SAME     ? p->values[a].type
                                     : type == TYPE_SECOND ? p->values[b].type
                                                           : (ir_type)type,
                                     false, 0});
    if (operations[op].counted) p->counted[p->part] += p->times;
    return p->failed ? 0 : p->list[p->count - 1].dst;
}

ir lb_ir_with(ir_program *p, ir_op op, ir a, int32_t b) {
    if (p->failed) return 0;
    const bool is_signed = p->values[a].type == IR_I || op == IR_SHL || op == IR_SHR;
    return lb_ir_do(p, op, a, is_signed ? lb_ir_i(p, b) : lb_ir_u(p, (uint32_t)b), 0);
}

ir lb_ir_select(ir_program *p, ir condition, ir yes, ir no) {
    return lb_ir_do(p, IR_SEL, condition, yes, no);
}

ir lb_ir_both(ir_program *p, ir x, ir y) {
    return lb_ir_do(p, IR_BOTH, x, y, 0);
}

ir lb_ir_either(ir_program *p, ir x, ir y) {
    return lb_ir_do(p, IR_EITHER, x, y, 0);
}

ir lb_ir_not(ir_program *p, ir condition) {
    return lb_ir_do(p, IR_NOT, condition, 0, 0);
}

ir lb_ir_bit(ir_program *p, ir condition) {
    return lb_ir_select(p, condition, lb_ir_u(p, 1), lb_ir_u(p, 0));
}

ir lb_ir_to_u(ir_program *p, ir i) {
    return lb_ir_do(p, IR_AS_U, i, 0, 0);
}

ir lb_ir_to_i(ir_program *p, ir u) {
    return lb_ir_do(p, IR_AS_I, u, 0, 0);
}

ir lb_ir_take(ir_program *p, const char *parameter) {
    ir_statement *s = add_statement(p, IR_TAKE);
    if (!s) return 0;
    snprintf(s->text, sizeof s->text, "%s", parameter);
    return s->dst = add_value(p, (ir_value){.type = IR_U});
}

ir lb_ir_load(ir_program *p, const char *array, ir index) {
    ir_statement *s = add_statement(p, IR_LOAD);
    if (!s) return 0;
    s->a = index;
    snprintf(s->text, sizeof s->text, "%s", array);
    return s->dst = add_value(p, (ir_value){.type = IR_U});
}

void lb_ir_store(ir_program *p, const char *array, ir index, ir value) {
    ir_statement *s = add_statement(p, IR_STORE);
    if (!s) return;
    s->a = index;
    s->b = value;
    snprintf(s->text, sizeof s->text, "%s", array);
}

ir lb_ir_var(ir_program *p, ir first) {
    ir_statement *s = p->failed ? NULL : add_statement(p, IR_VAR);
    if (!s) return 0;
    s->a = first;
    return s->dst = add_value(p, (ir_value){.type = p->values[first].type});
}

static void add_plain(ir_program *p, ir_op op, ir dst, ir a) {
    ir_statement *s = add_statement(p, op);
    if (!s) return;
    s->dst = dst;
    s->a = a;
}

void lb_ir_set(ir_program *p, ir var, ir value) {
    add_plain(p, IR_SET, var, value);
}

void lb_ir_if(ir_program *p, ir condition) {
    add_plain(p, IR_IF, 0, condition);
}

void lb_ir_else(ir_program *p) {
    add_plain(p, IR_ELSE, 0, 0);
}

void lb_ir_end(ir_program *p) {
    add_plain(p, IR_END, 0, 0);
}

void lb_ir_return(ir_program *p, ir value) {
    add_plain(p, IR_RETURN, 0, value);
}

static void add_text(ir_program *p, ir_op op, const char *format, va_list args) {
    ir_statement *s = add_statement(p, op);
    if (s) vsnprintf(s->text, sizeof s->text, format, args);
}

void lb_ir_comment(ir_program *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_text(p, IR_COMMENT, format, args);
    va_end(args);
}

void lb_ir_line(ir_program *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_text(p, IR_LINE, format, args);
    va_end(args);
}

ir lb_ir_for(ir_program *p, uint32_t times) {
    ir_statement *s = add_statement(p, IR_FOR);
    if (!s) return 0;
    s->imm = times;
    return s->dst = add_value(p, (ir_value){.type = IR_U});
}

ir lb_ir_rolled(ir_program *p, uint32_t times) {
    const ir counter = lb_ir_for(p, times);
    if (p->count) p->list[p->count - 1].b = 1;
    return counter;
}

ir lb_ir_call(ir_program *p, const char *function, const char *arrays, ir last, const char *more) {
    ir_statement *s = add_statement(p, IR_CALL);
    if (!s) return 0;
    s->a = last;
    snprintf(s->text, sizeof s->text, "%s(%s\n%s", function, arrays, more);
    return s->dst = add_value(p, (ir_value){.type = IR_U});
}

void lb_ir_array(ir_program *p, const char *name, uint32_t size) {
    ir_statement *s = add_statement(p, IR_ARRAY);
    if (!s) return;
    s->imm = size;
    snprintf(s->text, sizeof s->text, "%s", name);
}

/* ---- printing ----------------------------------------------------------------------------------------------------------- */

void lb_ir_print_named(lb_text *t, const char *text, const char *name, int size) {
    for (; *text; text++) {
        if (text[0] != '$')
            lb_text_add_bytes(t, text, 1);
        else if (*++text == 'n')
            lb_text_add(t, "%s", name);
        else
            lb_text_add(t, "%d", size);
    }
}

void lb_ir_print_name(lb_text *t, const ir_program *p, ir v) {
    const ir_value *x = &p->values[v];
    if (!x->constant)
        lb_text_add(t, "%c%d", "uifb"[x->type], v);
    else if (x->type == IR_I)
        lb_text_add(t, (int32_t)x->bits < 0 ? "(%d)" : "%d", (int32_t)x->bits);
    else
        lb_text_add(t, x->bits < 10 ? "%xu" : "0x%xu", x->bits);
}

static void print_operation(lb_text *t, const ir_language *l, const ir_program *p, const ir_statement *s) {
    const char *own = l->op[s->op] ? l->op[s->op] : lb_ir_more_of(l)->op[s->op];
    const char *text = operations[s->op].text ? operations[s->op].text : own;
    for (; *text; text++) {
        if (text[0] != '$') {
            lb_text_add_bytes(t, text, 1);
            continue;
        }
        text++;
        lb_ir_print_name(t, p, *text == 'a' ? s->a : *text == 'b' ? s->b : s->c);
    }
}

static void print_defined(lb_text *t, const ir_language *l, const ir_program *p, const ir_statement *s) {
    lb_text_add(t, "%s ", l->type[p->values[s->dst].type]);
    lb_ir_print_name(t, p, s->dst);
    lb_text_add(t, " = ");
    if (s->op < IR_OPERATIONS) {
        print_operation(t, l, p, s);
    } else if (s->op == IR_TAKE) {
        lb_text_add(t, "%s", s->text);
    } else if (s->op == IR_LOAD) {
        lb_text_add(t, "%s[", s->text);
        lb_ir_print_name(t, p, s->a);
        lb_text_add(t, "]");
    } else {
        const size_t before = s->op == IR_CALL ? strcspn(s->text, "\n") : 0;
        if (s->op == IR_CALL) lb_text_add(t, "%.*s, ", (int)before, s->text);
        lb_ir_print_name(t, p, s->a);
        if (s->op == IR_CALL) lb_text_add(t, "%s)", s->text + before + 1);
    }
    lb_text_add(t, ";\n");
}

static void print_for(lb_text *t, const ir_language *l, const ir_program *p, const ir_statement *s) {
    lb_text_add(t, "%sfor (%s ", s->b ? lb_ir_more_of(l)->rolled : "", l->type[IR_U]);
    lb_ir_print_name(t, p, s->dst);
    lb_text_add(t, " = 0u; ");
    lb_ir_print_name(t, p, s->dst);
    lb_text_add(t, " < %uu; ", s->imm);
    lb_ir_print_name(t, p, s->dst);
    lb_text_add(t, "++) {\n");
}

static void print_other(lb_text *t, const ir_language *l, const ir_program *p, const ir_statement *s) {
    switch (s->op) {
    case IR_STORE:
        lb_text_add(t, "%s[", s->text);
        lb_ir_print_name(t, p, s->a);
        lb_text_add(t, "] = ");
        lb_ir_print_name(t, p, s->b);
        lb_text_add(t, ";\n");
        return;
    case IR_SET:
        lb_ir_print_name(t, p, s->dst);
        lb_text_add(t, " = ");
        lb_ir_print_name(t, p, s->a);
        lb_text_add(t, ";\n");
        return;
    case IR_IF:
        lb_text_add(t, "if (");
        lb_ir_print_name(t, p, s->a);
        lb_text_add(t, ") {\n");
        return;
    case IR_RETURN:
        lb_text_add(t, "return ");
        lb_ir_print_name(t, p, s->a);
        lb_text_add(t, ";\n");
        return;
    case IR_ELSE: lb_text_add(t, "} else {\n"); return;
    case IR_END: lb_text_add(t, "}\n"); return;
    case IR_COMMENT: lb_text_add(t, "// %s\n", s->text); return;
    case IR_ARRAY: lb_text_add(t, "%s %s[%u];\n", l->type[IR_U], s->text, s->imm); return;
    case IR_FOR: print_for(t, l, p, s); return;
    default: lb_text_add(t, "%s\n", s->text); return;
    }
}

void lb_ir_print_body(lb_text *t, const ir_language *l, const ir_program *p) {
    int depth = 1;
    for (size_t i = 0; i < p->count; i++) {
        const ir_statement *s = &p->list[i];
        if (s->op == IR_END || s->op == IR_ELSE) depth--;
        lb_text_add(t, "%*s", 4 * depth, "");
        if (s->op == IR_IF || s->op == IR_ELSE || s->op == IR_FOR) depth++;
        if (s->op < IR_OPERATIONS || s->op == IR_TAKE || s->op == IR_LOAD || s->op == IR_VAR || s->op == IR_CALL)
            print_defined(t, l, p, s);
        else
            print_other(t, l, p, s);
    }
}
