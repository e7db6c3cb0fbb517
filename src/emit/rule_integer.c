/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Integer products and bit counts: exact sums that wrap or saturate. In fragments registers travel as they are, several codes in each. */
#include "emit/idiom.h"
#include "emit/rule.h"

static lb_status open_integer(rule *r, const lb_emit_options *o, lb_error *err) {
    (void)err;
    r->packed = o->fragment && !r->u->sparse_group;
    r->of_ab = (rule_registers){1, {r->packed || r->a->bits == 1 ? IR_U : IR_I, IR_U}};
    r->each = r->packed ? 32 / r->a->bits : 1; /* of two formats of one width */
    return LB_OK;
}

/* Code j of a word, as a number. */
static ir number(ir_program *p, const lb_format *f, ir word, int j) {
    const int above = 32 - f->bits;
    const ir top = above - j * f->bits ? lb_ir_with(p, IR_SHL, word, above - j * f->bits) : word;
    if (f->sign_bits) return lb_ir_with(p, IR_SHR, lb_ir_to_i(p, top), above);
    return lb_ir_to_i(p, lb_ir_with(p, IR_SHR, top, above));
}

static rule_operand decode(const rule *r, ir_program *p, const lb_format *f, rule_code code) {
    return (rule_operand){r->packed ? code.low : f->bits == 1 ? lb_ir_with(p, IR_AND, code.low, 1) : number(p, f, code.low, 0), 0};
}

static ir added(ir_program *p, ir sum, ir term) {
    return sum < 0 ? term : lb_ir_do(p, IR_ADD, sum, term, 0);
}

static ir sum_of_products(const rule *r, ir_program *p, const rule_inputs *in) {
    ir sum = -1;
    for (int i = 0; i < r->products / r->each; i++)
        for (int j = 0; j < r->each; j++) {
            const ir x = r->packed ? number(p, r->a, in->a[i].value, j) : in->a[i].value;
            const ir y = r->packed ? number(p, r->b, in->b[i].value, j) : in->b[i].value;
            sum = added(p, sum, lb_ir_do(p, IR_MUL, x, y, 0));
        }
    return sum;
}

static ir count_of_bits(const rule *r, ir_program *p, const rule_inputs *in) {
    const ir_op op = r->u->path == LB_PATH_XOR_POPC ? IR_XOR : IR_AND;
    ir sum = -1;
    for (int i = 0; i < r->products / r->each; i++) {
        const ir both = lb_ir_do(p, op, in->a[i].value, in->b[i].value, 0);
        sum = added(p, sum, r->packed ? lb_ir_do(p, IR_POPC, both, 0, 0) : lb_ir_to_i(p, both));
    }
    return sum;
}

static rule_code step(const rule *r, ir_program *p, const rule_inputs *in) {
    const ir sum = lb_ir_to_u(p, r->u->path == LB_PATH_INTEGER ? sum_of_products(r, p, in) : count_of_bits(r, p, in));
    const ir c = in->c.low, wrapped = lb_ir_do(p, IR_ADD, c, sum, 0);
    if (r->u->round != LB_UNIT_SATURATE_I32) return (rule_code){wrapped, 0};
    /* It left the range if c and the sum have one sign, and the result the other. */
    const ir left = lb_ir_do(p, IR_AND, lb_ir_do(p, IR_XOR, c, wrapped, 0), lb_ir_do(p, IR_XOR, sum, wrapped, 0), 0);
    const ir end = lb_ir_with(p, IR_ADD, lb_ir_with(p, IR_SHR, c, 31), INT32_MAX);
    return (rule_code){lb_ir_select(p, lb_ir_with(p, IR_GE, left, INT32_MIN), end, wrapped), 0};
}

static void describe(const rule *r, lb_text *t) {
    const char *what = r->u->path == LB_PATH_INTEGER    ? "%d products"
                       : r->u->path == LB_PATH_XOR_POPC ? "%d places, 1 where the bits differ,"
                                                        : "%d places, 1 where both bits are,";
    lb_text_add(t, "// ");
    lb_text_add(t, what, r->products);
    lb_text_add(t, " and c, summed exactly, then %s.\n", r->u->round == LB_UNIT_SATURATE_I32 ? "clamped to i32" : "modulo 2^32");
    lb_text_add(t, "// Exact under any fast-math option: integers only. No signed sum overflows.\n");
}

const rule_path lb_rule_integer = {.open = open_integer, .decode = decode, .step = step, .describe = describe};
