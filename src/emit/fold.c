/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a program need not say: operations whose results are known, and statements whose results nobody takes. */
#include "emit/ir.h"

#include <stdlib.h>

/* ---- known results -------------------------------------------------------------------------------------------------------- */

static uint32_t shifted_right(ir_type type, uint32_t x, uint32_t by) {
    return type == IR_I && x >> 31 ? ~(~x >> by) : x >> by;
}

static bool is_less(ir_type type, uint32_t x, uint32_t y) {
    const uint32_t sign = type == IR_I ? UINT32_C(1) << 31 : 0;
    return (x ^ sign) < (y ^ sign);
}

/* Of constants; false where the operation is left to the device: floats, and shifts that no device defines. */
static bool compute(ir_op op, ir_type type, uint32_t x, uint32_t y, uint32_t *out) {
    switch (op) {
    case IR_ADD: *out = x + y; return true;
    case IR_SUB: *out = x - y; return true;
    case IR_MUL: *out = x * y; return true;
    case IR_MUL_HI: *out = (uint32_t)((uint64_t)x * y >> 32); return true;
    case IR_AND: *out = x & y; return true;
    case IR_OR: *out = x | y; return true;
    case IR_XOR: *out = x ^ y; return true;
    case IR_SHL: *out = y < 32 ? x << y : 0; return y < 32;
    case IR_SHR: *out = y < 32 ? shifted_right(type, x, y) : 0; return y < 32;
    case IR_EQ: *out = x == y; return true;
    case IR_LT: *out = is_less(type, x, y); return true;
    case IR_GE: *out = !is_less(type, x, y); return true;
    case IR_MIN: *out = is_less(type, x, y) ? x : y; return true;
    case IR_MAX: *out = is_less(type, x, y) ? y : x; return true;
    case IR_CLZ: *out = x ? (uint32_t)__builtin_clz(x) : 0; return x != 0;
    case IR_BOTH: *out = x && y; return true;
    case IR_EITHER: *out = x || y; return true;
    case IR_NOT: *out = !x; return true;
    case IR_AS_U:
    case IR_AS_I: *out = x; return true;
    default: return false;
    }
}

/* Where one operand of two is known: which of them settles the result, and with what. KEEP: the other operand is the result. */
enum { KEEP, ALWAYS_ZERO, ALWAYS_ONES };

static const struct {
    ir_op op;
    enum { ANY, LEFT, RIGHT } known_is; /* which of the operands has to be known */
    bool unsigned_only;
    uint32_t known;
    int result;
} identities[] = {
    {IR_ADD, ANY, false, 0, KEEP},
    {IR_SUB, RIGHT, false, 0, KEEP},
    {IR_OR, ANY, false, 0, KEEP},
    {IR_OR, ANY, false, UINT32_MAX, ALWAYS_ONES},
    {IR_XOR, ANY, false, 0, KEEP},
    {IR_AND, ANY, false, UINT32_MAX, KEEP},
    {IR_AND, ANY, false, 0, ALWAYS_ZERO},
    {IR_SHL, RIGHT, false, 0, KEEP},
    {IR_SHR, RIGHT, false, 0, KEEP},
    {IR_SHL, LEFT, false, 0, ALWAYS_ZERO},
    {IR_SHR, LEFT, false, 0, ALWAYS_ZERO},
    {IR_MUL, ANY, false, 1, KEEP},
    {IR_MUL, ANY, false, 0, ALWAYS_ZERO},
    {IR_MUL_HI, ANY, false, 0, ALWAYS_ZERO},
    {IR_MUL_HI, ANY, false, 1, ALWAYS_ZERO},
    {IR_MAX, ANY, true, 0, KEEP},
    {IR_MIN, ANY, true, 0, ALWAYS_ZERO},
    {IR_BOTH, ANY, false, 1, KEEP},
    {IR_BOTH, ANY, false, 0, ALWAYS_ZERO},
    {IR_EITHER, ANY, false, 0, KEEP},
    {IR_EITHER, ANY, false, 1, ALWAYS_ONES},
    {IR_LT, RIGHT, true, 0, ALWAYS_ZERO},
};

static bool is_constant(const ir_program *p, ir v, uint32_t bits) {
    return p->values[v].constant && p->values[v].bits == bits;
}

static bool same(const ir_program *p, ir a, ir b) {
    const ir_value *x = &p->values[a], *y = &p->values[b];
    return a == b || (x->constant && y->constant && x->type == y->type && x->bits == y->bits);
}

static ir constant(ir_program *p, ir_type type, uint32_t bits) {
    return type == IR_B ? lb_ir_b(p, bits != 0) : type == IR_I ? lb_ir_i(p, (int32_t)bits) : lb_ir_u(p, bits);
}

static bool is_test(ir_op op) {
    return op == IR_EQ || op == IR_LT || op == IR_GE || op == IR_BOTH || op == IR_EITHER || op == IR_NOT;
}

static ir_type type_of(const ir_program *p, ir_op op, ir a) {
    if (is_test(op)) return IR_B;
    if (op == IR_CLZ || op == IR_AS_I) return IR_I;
    return op == IR_AS_U || op == IR_MUL_HI ? IR_U : p->values[a].type;
}

static bool fold_identity(ir_program *p, ir_op op, ir a, ir b, ir *out) {
    const ir_type type = p->values[a].type;
    if (type == IR_F) return false;
    for (size_t i = 0; i < sizeof identities / sizeof identities[0]; i++) {
        if (identities[i].op != op || (identities[i].unsigned_only && type != IR_U)) continue;
        const bool right = identities[i].known_is != LEFT && is_constant(p, b, identities[i].known);
        if (!right && (identities[i].known_is == RIGHT || !is_constant(p, a, identities[i].known))) continue;
        *out = identities[i].result == KEEP ? (right ? a : b)
                                            : constant(p, type_of(p, op, a), identities[i].result == ALWAYS_ONES ? UINT32_MAX : 0);
        return true;
    }
    return false;
}

/* Of a value and itself. */
static bool fold_twins(ir_program *p, ir_op op, ir x, ir *out) {
    switch (op) {
    case IR_EQ:
    case IR_GE: *out = lb_ir_b(p, true); return true;
    case IR_LT: *out = lb_ir_b(p, false); return true;
    case IR_SUB:
    case IR_XOR: *out = constant(p, p->values[x].type, 0); return true;
    case IR_AND:
    case IR_OR:
    case IR_MIN:
    case IR_MAX:
    case IR_BOTH:
    case IR_EITHER: *out = x; return true;
    default: return false;
    }
}

/* A choice: of a known condition, of two alike, of two truths. */
static bool fold_select(ir_program *p, ir condition, ir yes, ir no, ir *out) {
    if (p->values[condition].constant) {
        *out = p->values[condition].bits ? yes : no;
    } else if (same(p, yes, no)) {
        *out = yes;
    } else if (p->values[yes].type == IR_B && is_constant(p, yes, 1)) {
        *out = lb_ir_do(p, IR_EITHER, condition, no, 0);
    } else if (p->values[yes].type == IR_B && is_constant(p, no, 0)) {
        *out = lb_ir_do(p, IR_BOTH, condition, yes, 0);
    } else if (p->values[yes].type == IR_B && is_constant(p, yes, 0)) {
        *out = lb_ir_do(p, IR_BOTH, lb_ir_do(p, IR_NOT, condition, 0, 0), no, 0);
    } else if (p->values[yes].type == IR_B && is_constant(p, no, 1)) {
        *out = lb_ir_do(p, IR_EITHER, lb_ir_do(p, IR_NOT, condition, 0, 0), yes, 0);
    } else {
        return false;
    }
    return true;
}

bool lb_ir_fold(ir_program *p, ir_op op, ir a, ir b, ir c, ir *out) {
    if (op == IR_SEL) return fold_select(p, a, b, c, out);
    const bool one = lb_ir_operands(op) == 1;
    const ir_value x = p->values[a], y = p->values[one ? a : b];
    uint32_t bits;
    if (x.type == IR_F) return false;
    if (x.constant && y.constant && compute(op, x.type, x.bits, y.bits, &bits)) {
        *out = constant(p, type_of(p, op, a), bits);
        return true;
    }
    if ((op == IR_AS_U && x.type == IR_U) || (op == IR_AS_I && x.type == IR_I)) {
        *out = a;
        return true;
    }
    if (one) return false;
    return (a == b && fold_twins(p, op, a, out)) || fold_identity(p, op, a, b, out);
}

/* ---- results that nobody takes -------------------------------------------------------------------------------------------- */

/* Whether a statement only defines its result. */
static bool only_defines(const ir_statement *s) {
    return s->op < IR_OPERATIONS || s->op == IR_TAKE || s->op == IR_LOAD || s->op == IR_VAR || s->op == IR_SET;
}

static int operands_of(const ir_statement *s, ir *out) {
    out[0] = s->a;
    out[1] = s->b;
    out[2] = s->c;
    switch (s->op) {
    case IR_LOAD:
    case IR_VAR:
    case IR_SET:
    case IR_IF:
    case IR_RETURN:
    case IR_CALL: return 1;
    case IR_STORE: return 2;
    default: return s->op < IR_OPERATIONS ? lb_ir_operands(s->op) : 0;
    }
}

/* Mark what living statements take; true if a mark is new. */
static bool mark(const ir_program *p, bool *taken) {
    bool changed = false;
    for (size_t i = p->count; i-- > 0;) {
        const ir_statement *s = &p->list[i];
        ir of[3];
        if (only_defines(s) && !taken[s->dst]) continue;
        for (int j = operands_of(s, of); j-- > 0;) {
            changed = changed || !taken[of[j]];
            taken[of[j]] = true;
        }
    }
    return changed;
}

void lb_ir_prune(ir_program *p) {
    bool *taken = p->failed ? NULL : calloc(p->value_count + 1, sizeof *taken);
    if (!taken) {
        p->failed = true;
        return;
    }
    while (mark(p, taken)) { /* more than once only where a loop sets what it took before */
    }
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        const ir_statement *s = &p->list[i];
        if (!only_defines(s) || taken[s->dst])
            p->list[kept++] = *s;
        else if (lb_ir_is_counted(s->op))
            p->counted[s->part] -= s->times;
    }
    p->count = kept;
    free(taken);
}
